/* Which lane a row goes to: a map from the row keys of a table to lanes, one lane for each region. Immutable once it is
 * prepared, and shared by reference. */
#pragma once

#include "write/lane.h"

G_BEGIN_DECLS

typedef struct TideRegionMap {
  _Atomic guint32 references;
  guint64 generation;   /* of this table's map; grows */
  guint32 prefix_bytes; /* > 0: lane = hash of that many leading bytes, modulo n_lanes; regions unknown */
  guint32 n_lanes;
  TideLane **lanes; /* owned references; in order of start keys unless prefix_bytes */
  guint64 *heads;   /* owned: of each lane's start key the first eight bytes, as a number; NULL until prepared */
} TideRegionMap;

/* Without lanes yet. (transfer full) */
TideRegionMap *tide_region_map_new(guint32 n_lanes, guint32 prefix_bytes, guint64 generation);
void tide_region_map_unref(TideRegionMap *map); /* NULL ok */

/* Makes @map, whose lanes are all in, ready to be searched. */
void tide_region_map_prepare(TideRegionMap *map);
/* The lane's index for @key. */
guint32 tide_region_map_find(const TideRegionMap *map, TideBytes key);

G_END_DECLS
