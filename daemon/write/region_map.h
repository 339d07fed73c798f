/* Maps the row keys of a table to lanes, one per region. Immutable once prepared, and shared by reference. */
#pragma once

#include "write/lane.h"

G_BEGIN_DECLS

typedef struct TideRegionMap {
  _Atomic guint32 references;
  guint64 generation;   /* increases with each map of the table */
  guint32 prefix_bytes; /* > 0: regions are unknown, and lane = hash of this many leading bytes modulo n_lanes */
  guint32 n_lanes;
  TideLane **lanes; /* owned references; sorted by start key unless prefix_bytes > 0 */
  guint64 *heads;   /* owned: the first eight bytes of each lane's start key, as a number; NULL until prepared */
} TideRegionMap;

/* Creates a map with room for the lanes. (transfer full) */
TideRegionMap *tide_region_map_new(guint32 n_lanes, guint32 prefix_bytes, guint64 generation);
void tide_region_map_unref(TideRegionMap *map); /* NULL ok */

/* Prepares @map, which has all its lanes, for searching. */
void tide_region_map_prepare(TideRegionMap *map);
/* The index of the lane for @key. */
guint32 tide_region_map_find(const TideRegionMap *map, TideBytes key);

G_END_DECLS
