#include "write/region_map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

TideRegionMap *
tide_region_map_new(guint32 n_lanes, guint32 prefix_bytes, guint64 generation)
{
  TideRegionMap *map = g_new0(TideRegionMap, 1);
  atomic_init(&map->references, 1);
  map->n_lanes = n_lanes;
  map->prefix_bytes = prefix_bytes;
  map->generation = generation;
  map->lanes = g_new0(TideLane *, n_lanes);
  return map;
}

void
tide_region_map_unref(TideRegionMap *map)
{
  if (map == NULL || atomic_fetch_sub_explicit(&map->references, 1, memory_order_acq_rel) > 1)
    return;
  for (guint32 i = 0; i < map->n_lanes; i++)
    tide_lane_unref(map->lanes[i]);
  g_free(map->lanes);
  g_free(map->heads);
  g_free(map);
}

/* The key's first bytes as a number that sorts in key order: different heads order their keys. */
static guint64
head_of(TideBytes key)
{
  guint64 head = 0;
  if (G_LIKELY(key.len >= sizeof head))
    return GUINT64_FROM_BE(tide_load_u64(key.data));
  for (gsize i = 0; i < key.len; i++)
    head |= (guint64)key.data[i] << (56 - 8 * i);
  return head;
}

void
tide_region_map_prepare(TideRegionMap *map)
{
  map->heads = g_new(guint64, map->n_lanes);
  for (guint32 i = 0; i < map->n_lanes; i++)
    map->heads[i] = head_of(map->lanes[i]->start_key);
}

/* Searches the first @n_lanes; @head: that of @key. Heads are adjacent, while keys are scattered and would not fit the
 * cache. */
static guint32
find_by_key(const TideRegionMap *map, guint32 n_lanes, guint64 head, TideBytes key)
{
  guint32 low = 0, high = n_lanes;
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    gboolean is_after = map->heads[middle] == head && tide_bytes_compare(map->lanes[middle]->start_key, key) > 0;
    if (is_after)
      high = middle;
    else
      low = middle;
  }
  return low;
}

guint32
tide_region_map_find(const TideRegionMap *map, TideBytes key)
{
  if (map->n_lanes == 1)
    return 0;
  if (map->prefix_bytes > 0)
    return (guint32)(XXH3_64bits(key.data, MIN(key.len, map->prefix_bytes)) % map->n_lanes);
  /* Finds the last lane that does not start after the key; the first lane's start is empty. Usually the heads alone
   * decide, without unpredictable branches. */
  guint32 low = 0;
  guint64 head = head_of(key);
  for (guint32 n = map->n_lanes, half; n > 1; n -= half) {
    half = n / 2;
    low += map->heads[low + half] <= head ? half : 0;
  }
  return map->heads[low] == head ? find_by_key(map, low + 1, head, key) : low;
}
