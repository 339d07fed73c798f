#include "write/regions.h"

#include "model/table/dated_table.h"
#include "tables/table_maker.h"
#include "thrift/client/access_denied.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

/* Lanes for a declared prefix while regions are unknown: about as many as the regions of a medium-sized table, and few
 * enough to fill batches. */
#define PREFIX_LANES 64u

#define MIN_REFRESH_INTERVAL_US TIDE_US_PER_S

/* One lookup of a table's regions, a scan of hbase:meta; as long as a call. */
#define LOOKUP_TIMEOUT_US (10 * TIDE_US_PER_S)

/* Pause after a failed preparation of a dated table, or a rejected list of regions. The first retry is immediate, then
 * the pause doubles from minimum to maximum. */
#define MIN_FAILURE_PAUSE_US TIDE_US_PER_S
#define MAX_FAILURE_PAUSE_US (30 * TIDE_US_PER_S)

typedef struct TableRegions {
  /* under lock */
  const TideTable *table; /* NULL: a template, or a slot without an open instance */
  TideRegionMap *map;     /* a reference; NULL: not open */
  guint32 n_users;        /* consumers that have an instance open; 1 for a declared table */
  gint64 refresh_at_us;   /* while it is open */
  gint64 refreshed_us;
  /* Used by the refreshing thread only. */
  gboolean is_prepared; /* ready for writing; always for declared tables */
  gboolean is_torn;     /* the last list of its regions was rejected and is requested again soon */
  guint32 failures;     /* in a row */
} TableRegions;

struct TideRegions {
  /* set before start, then read-only */
  TideRegionsOptions options;
  TideTableMaker maker;
  TideThread *thread;
  TideGauge **region_gauges; /* owned array, for declared tables: a template counts all its instances */
  TideCounter *refreshes;
  TideCounter *refresh_failures;
  /* any thread */
  _Atomic guint64 generation;
  /* under lock */
  TideMutex lock;
  TideCond changed;
  TableRegions *tables;    /* owned array of options.n_slots */
  guint32 n_used;          /* slots below this are in use */
  TideHBaseClient *active; /* borrowed: of the running lookup, so that a stop can cancel it */
  gboolean stopped;
};

/* ---- maps ---- */

static TideRegionMap *
fallback_map(TideRegions *regions, const TideTable *table)
{
  guint32 n_lanes = table->lane_prefix_bytes > 0 ? PREFIX_LANES : 1;
  TideRegionMap *map = tide_region_map_new(n_lanes, table->lane_prefix_bytes, 0);
  for (guint32 i = 0; i < n_lanes; i++)
    map->lanes[i] = tide_lanes_make_lane(regions->options.lanes, table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
  return map;
}

static gboolean
lane_covers(const TideLane *lane, const TideRegion *region)
{
  return tide_bytes_equal(lane->start_key, region->start_key) && tide_bytes_equal(lane->end_key, region->end_key);
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

/* A map of @found; regions that existed before keep their lanes, with waiting rows. */
static TideRegionMap *
map_of_regions(TideRegions *regions, const TideTable *table, const TideRegionMap *before, const GPtrArray *found)
{
  TideRegionMap *map = tide_region_map_new(found->len, 0, before->generation + 1);
  for (guint32 i = 0; i < found->len; i++) {
    const TideRegion *region = g_ptr_array_index(found, i);
    guint32 old = tide_region_map_find(before, region->start_key);
    map->lanes[i] = before->generation > 0 && lane_covers(before->lanes[old], region)
                        ? tide_lane_ref(before->lanes[old])
                        : tide_lanes_make_lane(regions->options.lanes, table, region->start_key, region->end_key);
  }
  tide_region_map_prepare(map);
  return map;
}

/* ---- refreshing ---- */

static TideGauge *
region_gauge(const TideRegions *regions, const TideTable *table)
{
  return regions->region_gauges[table->declared != NULL ? table->declared->index : table->index];
}

static gint64
known_regions(const TideRegionMap *map)
{
  return map->generation > 0 ? map->n_lanes : 0;
}

/* Returns the previous map, to be released without the lock. */
static TideRegionMap *
replace_map_locked(TideRegions *regions, TableRegions *table, TideRegionMap *map)
{
  TideRegionMap *replaced = table->map;
  tide_gauge_add(region_gauge(regions, table->table), known_regions(map) - known_regions(replaced));
  table->map = map;
  atomic_fetch_add_explicit(&regions->generation, 1, memory_order_release);
  return replaced;
}

static void
adopt(TideRegions *regions, TableRegions *table, const GPtrArray *found)
{
  TideRegionMap *replaced = NULL;
  tide_mutex_lock(&regions->lock);
  {
    if (table->n_users > 0 && !map_matches(table->map, found))
      replaced = replace_map_locked(regions, table, map_of_regions(regions, table->table, table->map, found));
  }
  tide_mutex_unlock(&regions->lock);
  if (replaced != NULL) {
    g_autofree char *n_regions = tide_count_of(found->len, "region", NULL);
    tide_log_fields(TIDE_LOG_INFO, "table-regions", TIDE_LOG_FIELDS({"TABLE", table->table->name}), "table '%s' has %s",
                    table->table->name, n_regions);
  }
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

/* @error: (nullable): NULL if the gateway does not know the table. Failures that often pass are not logged the first
 * time: a broken connection, since its gateway may have restarted, and a list with a gap, as during a split. */
static void
note_lookup_failure(TideRegions *regions, TableRegions *table, const GError *error)
{
  tide_counter_inc(regions->refresh_failures);
  table->failures++;
  gboolean may_pass =
      tide_error_outcome_unknown(error) || g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT) || table->is_torn;
  if (table->failures == (may_pass ? 2 : 1) && !tide_error_is_cancelled(error))
    tide_log_fields(TIDE_LOG_WARNING, "regions-unknown", TIDE_LOG_FIELDS({"TABLE", table->table->name}),
                    "cannot look up the regions of table '%s': %s; batching rows %s until this succeeds",
                    table->table->name, error != NULL ? error->message : "the gateway does not know the table",
                    table->table->lane_prefix_bytes > 0 ? "by the declared batch_prefix" : "by the last known map");
  if (error != NULL || table->table->declared == NULL)
    return;
  /* The table was dropped while in use. */
  table->is_prepared = FALSE;
  tide_lanes_block(regions->options.lanes, table->table, "it no longer exists", tide_now_us());
}

/* Prepares an instance of a dated table; nothing can be written to it before this succeeds. */
static gboolean
prepare(TideRegions *regions, TableRegions *table, TideHBaseClient *client)
{
  g_autoptr(GError) error = NULL;
  if (tide_table_maker_prepare(&regions->maker, client, table->table, &error)) {
    table->is_prepared = TRUE;
    tide_lanes_unblock(regions->options.lanes, table->table);
    return TRUE;
  }
  if (tide_error_is_cancelled(error))
    return FALSE;
  g_autofree char *reason = tide_access_denied_explain(error);
  tide_lanes_block(regions->options.lanes, table->table, reason, tide_now_us());
  if (table->failures++ == 0)
    tide_log_fields(TIDE_LOG_ERROR, "table-unwritable",
                    TIDE_LOG_FIELDS({"TABLE", table->table->name}, {"REASON", reason}),
                    "cannot write to table '%s': %s; its rows wait and are retried", table->table->name, reason);
  return FALSE;
}

static void
look_up(TideRegions *regions, TableRegions *table, TideHBaseClient *client)
{
  g_autoptr(GError) error = NULL;
  tide_counter_inc(regions->refreshes);
  TideBytes name = tide_bytes_of_string(table->table->name);
  g_autoptr(GPtrArray) found = tide_hbase_client_regions(client, name, tide_now_us() + LOOKUP_TIMEOUT_US, &error);
  table->is_torn = found != NULL && found->len > 0 && !tide_hbase_client_check_whole(client, name, found, &error);
  if (found == NULL || found->len == 0 || table->is_torn) {
    note_lookup_failure(regions, table, error);
    return;
  }
  table->failures = 0;
  adopt(regions, table, found);
}

/* Refreshes one table over @client. Returns FALSE if the connection is no longer usable. */
static gboolean
refresh_table(TideRegions *regions, TableRegions *table, TideHBaseClient *client)
{
  set_active(regions, client);
  if (table->is_prepared || prepare(regions, table, client))
    look_up(regions, table, client);
  set_active(regions, NULL);
  return tide_hbase_client_is_open(client);
}

static gint64
next_refresh_us(const TideRegions *regions, gint64 now_us)
{
  /* A random 80 to 120 % of the interval, so that several daemons do not ask at the same time. */
  double jitter = 0.8 + 0.4 * g_random_double();
  return now_us + (gint64)((double)(regions->options.config->hbase.region_refresh_ms * TIDE_US_PER_MS) * jitter);
}

static gint64
failure_pause_us(const TableRegions *table)
{
  return table->failures > 1 ? tide_backoff_us(table->failures - 1, MIN_FAILURE_PAUSE_US, MAX_FAILURE_PAUSE_US) : 0;
}

/* The table that has been due for the longest time, so that none waits behind failing ones; NULL: none is due.
 * @ret_wait_us: when to check again */
static TableRegions *
due_table_locked(TideRegions *regions, gint64 now_us, gint64 *ret_wait_us)
{
  TableRegions *first = NULL;
  for (guint32 i = 0; i < regions->n_used; i++)
    if (regions->tables[i].n_users > 0 && (first == NULL || regions->tables[i].refresh_at_us < first->refresh_at_us))
      first = &regions->tables[i];
  *ret_wait_us = first != NULL ? first->refresh_at_us : G_MAXINT64;
  return *ret_wait_us <= now_us ? first : NULL;
}

/* A refresh requested while this one ran follows after the minimum interval. */
static void
mark_refreshed(TideRegions *regions, TableRegions *table)
{
  tide_mutex_lock(&regions->lock);
  {
    gint64 now_us = tide_now_us();
    gint64 asked_us = MAX(table->refresh_at_us, now_us + MIN_REFRESH_INTERVAL_US);
    gboolean is_settled = table->is_prepared && !table->is_torn;
    gint64 next_us = is_settled ? next_refresh_us(regions, now_us) : now_us + failure_pause_us(table);
    table->refreshed_us = now_us;
    table->refresh_at_us = MIN(asked_us, next_us);
  }
  tide_mutex_unlock(&regions->lock);
}

void
tide_regions_refresh_all(TideRegions *regions, gint64 deadline_us)
{
  TideHBaseClient *client = NULL;
  TideGateway *gateway = tide_gateways_connect(regions->options.gateways, deadline_us, &client);
  if (gateway == NULL)
    return;
  gboolean usable = TRUE;
  for (guint32 i = 0; i < regions->n_used && usable; i++) {
    if (regions->tables[i].table == NULL)
      continue;
    usable = refresh_table(regions, &regions->tables[i], client);
    mark_refreshed(regions, &regions->tables[i]);
  }
  tide_gateways_release(regions->options.gateways, gateway, client, !usable);
}

/* Waits for the next due table; NULL: stopped. */
static TableRegions *
wait_for_due_table(TideRegions *regions)
{
  TableRegions *due = NULL;
  tide_mutex_lock(&regions->lock);
  while (!regions->stopped) {
    gint64 wait_us;
    due = due_table_locked(regions, tide_now_us(), &wait_us);
    if (due != NULL) {
      due->refresh_at_us = G_MAXINT64; /* until the next request, or the end of this refresh */
      break;
    }
    tide_cond_wait_until(&regions->changed, &regions->lock, wait_us);
  }
  tide_mutex_unlock(&regions->lock);
  return due;
}

static void
run_refresher(gpointer data)
{
  TideRegions *regions = data;
  TableRegions *due;
  while ((due = wait_for_due_table(regions)) != NULL) {
    /* One connection per round: rounds are a minute apart, when the gateway closes idle connections. */
    TideHBaseClient *client = NULL;
    TideGateway *gateway = tide_gateways_connect(regions->options.gateways, tide_now_us() + LOOKUP_TIMEOUT_US, &client);
    if (gateway != NULL) {
      gboolean usable = refresh_table(regions, due, client);
      tide_gateways_release(regions->options.gateways, gateway, client, !usable);
    }
    mark_refreshed(regions, due);
  }
}

/* ---- life ---- */

static void
add_declared_table(TideRegions *regions, const TideTable *table)
{
  g_autofree char *label = tide_metrics_label("table", table->name);
  regions->region_gauges[table->index] = tide_metrics_gauge(regions->options.metrics, "tidemark_table_regions",
                                                            "Regions of the table; 0 while unknown", label);
  TableRegions *slot = &regions->tables[table->index];
  if (tide_table_is_template(table))
    return;
  slot->table = table;
  slot->map = fallback_map(regions, table);
  slot->n_users = 1;
  slot->is_prepared = TRUE;
  slot->refresh_at_us = next_refresh_us(regions, tide_now_us());
}

TideRegions *
tide_regions_new(const TideRegionsOptions *options)
{
  TideRegions *regions = g_new0(TideRegions, 1);
  regions->options = *options;
  tide_mutex_init(&regions->lock);
  tide_cond_init(&regions->changed);
  atomic_init(&regions->generation, 1);
  regions->n_used = options->config->tables->len;
  regions->tables = g_new0(TableRegions, options->n_slots);
  regions->region_gauges = g_new0(TideGauge *, regions->n_used);
  for (guint32 i = 0; i < regions->n_used; i++)
    add_declared_table(regions, g_ptr_array_index(options->config->tables, i));
  regions->refreshes =
      tide_metrics_counter(options->metrics, "tidemark_region_refreshes_total", "Look-ups of a table's regions", NULL);
  regions->refresh_failures = tide_metrics_counter(options->metrics, "tidemark_region_refresh_failures_total",
                                                   "Failed look-ups of a table's regions", NULL);
  regions->maker = (TideTableMaker){
      .config = options->config,
      .fingerprints = options->fingerprints,
      .accept_scheme_change = options->accept_scheme_change,
      .created = tide_metrics_counter(options->metrics, "tidemark_tables_created_total", "Dated tables created", NULL)};
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
  for (guint32 i = 0; i < regions->n_used; i++)
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

void
tide_regions_open(TideRegions *regions, const TideTable *table)
{
  tide_mutex_lock(&regions->lock);
  {
    TableRegions *slot = &regions->tables[table->index];
    if (slot->table == NULL) { /* not prepared yet */
      slot->table = table;
      regions->n_used = MAX(regions->n_used, table->index + 1);
      tide_lanes_block(regions->options.lanes, table, NULL, tide_now_us());
    }
    if (slot->n_users++ == 0) {
      slot->map = fallback_map(regions, table);
      slot->refresh_at_us = tide_now_us();
      tide_cond_signal(&regions->changed);
    }
  }
  tide_mutex_unlock(&regions->lock);
}

void
tide_regions_close(TideRegions *regions, const TideTable *table)
{
  TideRegionMap *closed = NULL;
  tide_mutex_lock(&regions->lock);
  {
    TableRegions *slot = &regions->tables[table->index];
    if (--slot->n_users == 0) {
      closed = g_steal_pointer(&slot->map);
      tide_gauge_add(region_gauge(regions, table), -known_regions(closed));
      tide_lanes_close(regions->options.lanes, table);
    }
  }
  tide_mutex_unlock(&regions->lock);
  tide_region_map_unref(closed);
}

TideRegionMap *
tide_regions_get(TideRegions *regions, const TideTable *table)
{
  tide_mutex_lock(&regions->lock);
  TideRegionMap *map = regions->tables[table->index].map;
  atomic_fetch_add_explicit(&map->references, 1, memory_order_relaxed);
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
    if (suspect->n_users > 0 && soon_us < suspect->refresh_at_us) {
      suspect->refresh_at_us = soon_us;
      tide_cond_signal(&regions->changed);
    }
  }
  tide_mutex_unlock(&regions->lock);
}
