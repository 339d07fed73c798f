#include "write/lane.h"

static TideBytes
copy_bytes(TideBytes bytes)
{
  return tide_bytes(bytes.len > 0 ? g_memdup2(bytes.data, bytes.len) : NULL, bytes.len);
}

void
tide_lane_init(TideLane *lane, const TideTable *table, TideBytes start_key, TideBytes end_key,
               void (*free)(TideLane *lane))
{
  atomic_init(&lane->references, 1);
  lane->table = table;
  lane->start_key = copy_bytes(start_key);
  lane->end_key = copy_bytes(end_key);
  lane->free = free;
}

TideLane *
tide_lane_ref(TideLane *lane)
{
  atomic_fetch_add_explicit(&lane->references, 1, memory_order_relaxed);
  return lane;
}

void
tide_lane_unref(TideLane *lane)
{
  if (lane == NULL || atomic_fetch_sub_explicit(&lane->references, 1, memory_order_acq_rel) > 1)
    return;
  g_free((void *)lane->start_key.data);
  g_free((void *)lane->end_key.data);
  lane->free(lane);
}
