/* The regions of the tables: for each table a map from row keys to lanes (region_map.h).
 *
 * A thread of its own fetches the maps through a gateway, regularly (a split causes no error at the gateway) and after
 * a failed call. A map is a hint: the gateway writes a row in a wrong lane correctly, only batching suffers. Without a
 * map, rows are assigned to lanes by a declared key prefix, or to one lane. A list of regions with a gap or an overlap
 * is rejected: the map stays, and the list is requested again.
 *
 * Instances of dated tables (dated_tables.h) are looked up while a consumer has rows for them. The thread first
 * prepares them, which creates those that do not exist (table_maker.h). Until then their lanes are blocked.
 *
 * Consumers check the generation once per poll and take a new map. */
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
  gboolean accept_scheme_change; /* for instances of dated tables */
  guint32 n_slots;               /* tide_dated_tables_slots() */
} TideRegionsOptions;

TideRegions *tide_regions_new(const TideRegionsOptions *options);
void tide_regions_start(TideRegions *regions); /* the thread "tide-regions" */
void tide_regions_stop(TideRegions *regions);
void tide_regions_free(TideRegions *regions);

/* Changes with any table's map. Threads: any; no lock. */
guint64 tide_regions_generation_racy(const TideRegions *regions);

/* A consumer has rows for @table, an instance of a dated table. Its map is kept and refreshed from the first open to
 * the last close. */
void tide_regions_open(TideRegions *regions, const TideTable *table);
void tide_regions_close(TideRegions *regions, const TideTable *table);

/* The map of a declared table, or of an instance that the caller has open. (transfer full) */
TideRegionMap *tide_regions_get(TideRegions *regions, const TideTable *table);

/* Requests a refresh after a call to @table failed in a way that suggests a moved region; at most once a second per
 * table. */
void tide_regions_suspect(TideRegions *regions, const TideTable *table);

/* Fetches all maps in the calling thread, before anything is consumed. Tables whose regions are unavailable keep the
 * fallback. */
void tide_regions_refresh_all(TideRegions *regions, gint64 deadline_us);

G_END_DECLS
