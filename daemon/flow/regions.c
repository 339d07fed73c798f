#include "flow/regions.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Lanes that a declared prefix is spread over while regions are unknown: about as many regions as a table of a middling
 * cluster has, and few enough to fill batches. */
#define PREFIX_LANES 64u

#define MIN_REFRESH_INTERVAL_US TIDE_US_PER_S

/* Looking up regions of one table: a scan of hbase:meta; as patient as a call. */
#define LOOKUP_TIMEOUT_US (10 * TIDE_US_PER_S)

typedef struct TableRegions {
  const TideTable *table; /* read-only */
  /* under lock */
  TideRegionMap *map; /* a reference */
  gint64 refresh_at_us;
  gint64 refreshed_us;
  /* whoever refreshes: one thread at a time */
  gboolean complained;
} TableRegions;

struct TideRegions {
  /* set before start, then read-only */
  const TideConfig *config;
  TideLanes *lanes;
  TideGateways *gateways;
  TideThread *thread;
  guint32 n_tables;
  TideGauge **region_gauges; /* owned array */
  TideCounter *refreshes;
  TideCounter *refresh_failures;
  /* any thread */
  _Atomic guint64 generation;
  /* under lock */
  TideMutex lock;
  TideCond changed;
  TableRegions *tables;    /* owned array */
  TideHBaseClient *active; /* borrowed: of the look-up that runs, so that a stop can end it */
  gboolean stopped;
};

/* ---- maps ---- */

TideRegionMap *
tide_region_map_ref(TideRegionMap *map)
{
  atomic_fetch_add_explicit(&map->references, 1, memory_order_relaxed);
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
  g_free(map);
}

static TideRegionMap *
map_new(guint32 n_lanes, guint32 prefix_bytes, guint64 generation)
{
  TideRegionMap *map = g_new0(TideRegionMap, 1);
  atomic_init(&map->references, 1);
  map->n_lanes = n_lanes;
  map->prefix_bytes = prefix_bytes;
  map->generation = generation;
  map->lanes = g_new0(TideLane *, n_lanes);
  return map;
}

guint32
tide_region_map_find(const TideRegionMap *map, TideBytes key)
{
  if (map->n_lanes == 1)
    return 0;
  if (map->prefix_bytes > 0)
    return (guint32)(XXH3_64bits(key.data, MIN(key.len, map->prefix_bytes)) % map->n_lanes);
  /* The last lane whose start is not after the key; the first lane's start is empty. */
  guint32 low = 0, high = map->n_lanes;
  while (high - low > 1) {
    guint32 middle = low + (high - low) / 2;
    if (tide_bytes_compare(tide_lane_start_key(map->lanes[middle]), key) <= 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static TideRegionMap *
fallback_map(TideRegions *regions, const TideTable *table)
{
  guint32 n_lanes = table->lane_prefix_bytes > 0 ? PREFIX_LANES : 1;
  TideRegionMap *map = map_new(n_lanes, table->lane_prefix_bytes, 0);
  for (guint32 i = 0; i < n_lanes; i++)
    map->lanes[i] = tide_lane_new(regions->lanes, table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
  return map;
}

static gboolean
lane_covers(const TideLane *lane, const TideRegion *region)
{
  return tide_bytes_equal(tide_lane_start_key(lane), region->start_key) &&
         tide_bytes_equal(tide_lane_end_key(lane), region->end_key);
}

static gboolean
map_matches(const TideRegionMap *map, const GPtrArray *found)
{
  if (map->generation == 0 || map->n_lanes != found->len)
    return FALSE;
  for (guint32 i = 0; i < map->n_lanes; i++)
    if (!lane_covers(map->lanes[i], g_ptr_array_index(found, i)))
      return FALSE;
  return TRUE;
}

/* A map of @found; regions that were there before keep their lane, and so what waits in it. */
static TideRegionMap *
map_of_regions(TideRegions *regions, const TideTable *table, const TideRegionMap *before, const GPtrArray *found)
{
  TideRegionMap *map = map_new(found->len, 0, before->generation + 1);
  for (guint32 i = 0; i < found->len; i++) {
    const TideRegion *region = g_ptr_array_index(found, i);
    guint32 old = tide_region_map_find(before, region->start_key);
    map->lanes[i] = before->generation > 0 && lane_covers(before->lanes[old], region)
                        ? tide_lane_ref(before->lanes[old])
                        : tide_lane_new(regions->lanes, table, region->start_key, region->end_key);
  }
  return map;
}

/* ---- refreshing ---- */

static void
adopt(TideRegions *regions, TableRegions *table, const GPtrArray *found)
{
  TideRegionMap *replaced = NULL;
  tide_mutex_lock(&regions->lock);
  {
    if (!map_matches(table->map, found)) {
      replaced = table->map;
      table->map = map_of_regions(regions, table->table, replaced, found);
      tide_gauge_set(regions->region_gauges[table->table->index], found->len);
      atomic_fetch_add_explicit(&regions->generation, 1, memory_order_release);
    }
  }
  tide_mutex_unlock(&regions->lock);
  if (replaced != NULL)
    tide_log(TIDE_LOG_INFO, "table '%s' has %u region%s", table->table->name, found->len, found->len == 1 ? "" : "s");
  tide_region_map_unref(replaced);
}

static void
set_active(TideRegions *regions, TideHBaseClient *client)
{
  tide_mutex_lock(&regions->lock);
  regions->active = client;
  if (client != NULL && regions->stopped)
    tide_hbase_client_cancel(client);
  tide_mutex_unlock(&regions->lock);
}

/* One table's look-up over @client; FALSE when the connection is of no use any more. */
static gboolean
refresh_table(TideRegions *regions, TableRegions *table, TideHBaseClient *client)
{
  g_autoptr(GError) error = NULL;
  tide_counter_inc(regions->refreshes);
  set_active(regions, client);
  g_autoptr(GPtrArray) found = tide_hbase_client_regions(client, tide_bytes_of_string(table->table->name),
                                                         tide_now_us() + LOOKUP_TIMEOUT_US, &error);
  set_active(regions, NULL);
  if (found != NULL && found->len > 0) {
    adopt(regions, table, found);
    table->complained = FALSE;
    return TRUE;
  }
  tide_counter_inc(regions->refresh_failures);
  if (!table->complained && !tide_error_is_cancelled(error))
    tide_log(TIDE_LOG_WARNING, "cannot learn the regions of table '%s': %s; rows are batched %s until this works",
             table->table->name, error != NULL ? error->message : "the gateway knows no such table",
             table->table->lane_prefix_bytes > 0 ? "by the declared lane_prefix" : "by the last map known");
  table->complained = TRUE;
  return tide_hbase_client_is_open(client);
}

static gint64
next_refresh_us(const TideRegions *regions, gint64 now_us)
{
  /* Drawn from 80..120 % so that several daemons do not ask in step. */
  double jitter = 0.8 + 0.4 * g_random_double();
  return now_us + (gint64)((double)(regions->config->hbase.region_refresh_ms * TIDE_US_PER_MS) * jitter);
}

/* The next table that is due, or NULL; @ret_wait_us: when to look again. */
static TableRegions *
due_table_locked(TideRegions *regions, gint64 now_us, gint64 *ret_wait_us)
{
  *ret_wait_us = G_MAXINT64;
  for (guint32 i = 0; i < regions->n_tables; i++) {
    TableRegions *table = &regions->tables[i];
    if (table->refresh_at_us <= now_us)
      return table;
    *ret_wait_us = MIN(*ret_wait_us, table->refresh_at_us);
  }
  return NULL;
}

static void
mark_refreshed(TideRegions *regions, TableRegions *table)
{
  tide_mutex_lock(&regions->lock);
  table->refreshed_us = tide_now_us();
  table->refresh_at_us = next_refresh_us(regions, table->refreshed_us);
  tide_mutex_unlock(&regions->lock);
}

void
tide_regions_refresh_all(TideRegions *regions, gint64 deadline_us)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(regions->gateways, deadline_us, &client);
  if (gateway == NULL)
    return;
  gboolean usable = TRUE;
  for (guint32 i = 0; i < regions->n_tables && usable; i++) {
    usable = refresh_table(regions, &regions->tables[i], client);
    mark_refreshed(regions, &regions->tables[i]);
  }
  tide_gateways_release(regions->gateways, gateway, client, !usable);
}

static void
run_refresher(gpointer data)
{
  TideRegions *regions = data;
  for (;;) {
    TableRegions *due = NULL;
    tide_mutex_lock(&regions->lock);
    while (!regions->stopped) {
      gint64 wait_us;
      due = due_table_locked(regions, tide_now_us(), &wait_us);
      if (due != NULL)
        break;
      tide_cond_wait_until(&regions->changed, &regions->lock, wait_us);
    }
    gboolean stopped = regions->stopped;
    tide_mutex_unlock(&regions->lock);
    if (stopped)
      return;

    /* A connection for each round: they are a minute apart, and the gateway cuts idle ones at that age. */
    TideHBaseClient *client = NULL;
    TideGateway *gateway = tide_gateways_connect(regions->gateways, tide_now_us() + LOOKUP_TIMEOUT_US, &client);
    if (gateway != NULL) {
      gboolean usable = refresh_table(regions, due, client);
      tide_gateways_release(regions->gateways, gateway, client, !usable);
    }
    mark_refreshed(regions, due);
  }
}

/* ---- life ---- */

TideRegions *
tide_regions_new(const TideConfig *config, TideLanes *lanes, TideGateways *gateways, TideMetrics *metrics)
{
  TideRegions *regions = g_new0(TideRegions, 1);
  regions->config = config;
  regions->lanes = lanes;
  regions->gateways = gateways;
  tide_mutex_init(&regions->lock);
  tide_cond_init(&regions->changed);
  atomic_init(&regions->generation, 1);
  regions->n_tables = config->tables->len;
  regions->tables = g_new0(TableRegions, regions->n_tables);
  regions->region_gauges = g_new0(TideGauge *, regions->n_tables);
  gint64 now_us = tide_now_us();
  for (guint32 i = 0; i < regions->n_tables; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    g_autofree char *label = tide_metrics_label("table", table->name);
    regions->region_gauges[i] =
        tide_metrics_gauge(metrics, "tidemark_table_regions", "Regions known, 0 while unknown", label);
    regions->tables[i].table = table;
    regions->tables[i].map = fallback_map(regions, table);
    regions->tables[i].refresh_at_us = next_refresh_us(regions, now_us);
  }
  regions->refreshes =
      tide_metrics_counter(metrics, "tidemark_region_refreshes_total", "Look-ups of a table's regions", NULL);
  regions->refresh_failures = tide_metrics_counter(metrics, "tidemark_region_refresh_failures_total",
                                                   "Look-ups of a table's regions that failed", NULL);
  return regions;
}

void
tide_regions_start(TideRegions *regions)
{
  regions->thread = tide_thread_start("tide-regions", run_refresher, regions);
}

void
tide_regions_stop(TideRegions *regions)
{
  tide_mutex_lock(&regions->lock);
  regions->stopped = TRUE;
  if (regions->active != NULL)
    tide_hbase_client_cancel(regions->active);
  tide_cond_broadcast(&regions->changed);
  tide_mutex_unlock(&regions->lock);
  tide_thread_join(g_steal_pointer(&regions->thread));
}

void
tide_regions_free(TideRegions *regions)
{
  if (regions == NULL)
    return;
  for (guint32 i = 0; i < regions->n_tables; i++)
    tide_region_map_unref(regions->tables[i].map);
  g_free(regions->tables);
  g_free(regions->region_gauges);
  tide_cond_clear(&regions->changed);
  tide_mutex_clear(&regions->lock);
  g_free(regions);
}

guint64
tide_regions_generation_racy(const TideRegions *regions)
{
  return atomic_load_explicit(&regions->generation, memory_order_acquire);
}

TideRegionMap *
tide_regions_get(TideRegions *regions, const TideTable *table)
{
  tide_mutex_lock(&regions->lock);
  TideRegionMap *map = tide_region_map_ref(regions->tables[table->index].map);
  tide_mutex_unlock(&regions->lock);
  return map;
}

void
tide_regions_suspect(TideRegions *regions, const TideTable *table)
{
  tide_mutex_lock(&regions->lock);
  {
    TableRegions *suspect = &regions->tables[table->index];
    gint64 soon_us = MAX(tide_now_us(), suspect->refreshed_us + MIN_REFRESH_INTERVAL_US);
    if (soon_us < suspect->refresh_at_us) {
      suspect->refresh_at_us = soon_us;
      tide_cond_signal(&regions->changed);
    }
  }
  tide_mutex_unlock(&regions->lock);
}
