/* Replaces lanes.c and regions.c in tests that drive the accumulator: submitted batches wait in a list, and the test
 * sets the regions. */
#pragma once

#include "write/regions.h"

struct TideRegions {
  TideRegionMap *map;
  guint64 generation;
  guint n_open; /* instances of dated tables */
};

struct TideLanes {
  GPtrArray *waiting; /* owned (element-type TideBatch): submitted, not acknowledged */
};

void
tide_lanes_submit(TideLanes *lanes, TideBatch *first)
{
  for (TideBatch *next; first != NULL; first = next) {
    next = g_steal_pointer(&first->next);
    g_ptr_array_add(lanes->waiting, first);
  }
}

TideRegionMap *
tide_regions_get(TideRegions *regions, const TideTable *table)
{
  atomic_fetch_add(&regions->map->references, 1);
  return regions->map;
}

guint64
tide_regions_generation_racy(const TideRegions *regions)
{
  return regions->generation;
}

void
tide_regions_open(TideRegions *regions, const TideTable *table)
{
  regions->n_open++;
}

void
tide_regions_close(TideRegions *regions, const TideTable *table)
{
  regions->n_open--;
}

static void
free_lane(TideLane *lane)
{
  g_free(lane);
}

static inline TideLane *
make_lane(TideBytes start, TideBytes end)
{
  TideLane *lane = g_new0(TideLane, 1);
  tide_lane_init(lane, NULL, start, end, free_lane);
  return lane;
}
