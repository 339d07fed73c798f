/* Which regions the tables have: a map from row keys to lanes (region_map.h) for each of them.
 *
 * It comes from the gateway and is refreshed by a thread of its own: every so often (a split gives no error
 * through the gateway, so nothing else would tell), and when a call fails. It is a hint: a row in a wrong lane is
 * written right by the gateway, only batched less well. While no map can be had, rows are laned by a declared key
 * prefix, or in one lane. A list of regions with a gap or an overlap is refused: the map stays, and the list is asked
 * for again.
 *
 * The instances of dated tables (dated_tables.h) are looked up while a consumer has rows for them. The same thread
 * makes them ready first: creates them when they are not there, or no more (table_maker.h). Until then their lanes are
 * blocked.
 *
 * Consumers look at the generation once in a poll and take the new map. */
#pragma once

#include "gateway/gateways.h"
#include "tables/fingerprint_store.h"
#include "write/lanes.h"
#include "write/region_map.h"

G_BEGIN_DECLS

typedef struct TideRegions TideRegions;

typedef struct TideRegionsOptions {
  const TideConfig *config; /* borrowed, all */
  TideLanes *lanes;
  TideGateways *gateways;
  TideMetrics *metrics;
  const TideFingerprintStore *fingerprints;
  gboolean accept_scheme_change; /* of instances of dated tables */
  guint32 n_slots;               /* tide_dated_tables_slots() */
} TideRegionsOptions;

TideRegions *tide_regions_new(const TideRegionsOptions *options);
void tide_regions_start(TideRegions *regions); /* the thread "tide-regions" */
void tide_regions_stop(TideRegions *regions);
void tide_regions_free(TideRegions *regions);

/* Changes whenever any table's map did. Threads: any; no lock. */
guint64 tide_regions_generation_racy(const TideRegions *regions);

/* A consumer has rows for @table, an instance of a dated table: from the first to open it until the last has closed it,
 * its map is kept and refreshed. */
void tide_regions_open(TideRegions *regions, const TideTable *table);
void tide_regions_close(TideRegions *regions, const TideTable *table);

/* Of a declared table, or of an instance that the caller has open. (transfer full) */
TideRegionMap *tide_regions_get(TideRegions *regions, const TideTable *table);

/* A call to @table failed as one does when a region has moved: refresh soon (at most once a second for each table). */
void tide_regions_suspect(TideRegions *regions, const TideTable *table);

/* Fetch all maps now, from the calling thread, before anything is consumed. Tables whose regions cannot be had keep the
 * fallback. */
void tide_regions_refresh_all(TideRegions *regions, gint64 deadline_us);

G_END_DECLS
