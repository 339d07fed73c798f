/* Dated tables between a consumer, the regions' thread and a scripted gateway: created when opened, looked up while
 * open, and released when no rows remain for them. */
#include "fault/gateway/scripted_gateway.h"
#include "rows/accumulator.h"
#include "thrift/wire/put_encoder.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* only a failure waits so long */
#define LOOK_AGAIN_US TIDE_US_PER_MS
#define HOUR_US (3600 * TIDE_US_PER_S)
#define GAUGE "tidemark_table_regions"
#define FAILURES "tidemark_region_refresh_failures_total"

typedef struct Fixture {
  TideScriptedGateway *gateway;
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget, *table_budgets;
  TideFingerprintStore fingerprints;
  TideLanes *lanes;
  TideGateways *gateways;
  TideDatedTables *dated;
  TideRegions *regions;
  TideCompletionQueue completions;
} Fixture;

static void
set_up_config(Fixture *fixture)
{
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
                                          "hbase: { gateways: [\"%s\"], call_timeout: 10s, region_refresh: 1h }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables:\n"
                                          "  \"S_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ], "
                                          "columns: { family: M, from: \"*\" },\n"
                                          "    splits: [ \"host3\", \"host6\" ] }\n",
                                          scripted_gateway_endpoint(fixture->gateway));
  fixture->config = load_text(text);
}

static void
make_lanes(Fixture *fixture)
{
  TideLanesOptions lanes = {.n_tables = tide_dated_tables_slots(fixture->config),
                            .max_rows = 100,
                            .max_bytes = 100000,
                            .max_in_flight_per_region = 2,
                            .retry_min_us = TIDE_US_PER_MS,
                            .retry_max_us = TIDE_US_PER_MS};
  fixture->lanes = tide_lanes_new(&lanes);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->gateway = scripted_gateway_new(NULL);
  set_up_config(fixture);
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 64u * 1024 * 1024);
  tide_fingerprint_store_init(&fixture->fingerprints, fixture->config);
  make_lanes(fixture);
  fixture->gateways = tide_gateways_new(&fixture->config->hbase, fixture->metrics);
  fixture->table_budgets = g_new0(TideBudget, tide_dated_tables_slots(fixture->config));
  TideDatedTablesContext dated = {.config = fixture->config,
                                  .budget = &fixture->budget,
                                  .table_budgets = fixture->table_budgets,
                                  .metrics = fixture->metrics};
  fixture->dated = tide_dated_tables_new(&dated);
  TideRegionsOptions options = {.config = fixture->config,
                                .lanes = fixture->lanes,
                                .gateways = fixture->gateways,
                                .metrics = fixture->metrics,
                                .fingerprints = &fixture->fingerprints,
                                .n_slots = tide_dated_tables_slots(fixture->config)};
  fixture->regions = tide_regions_new(&options);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
  tide_gateways_start(fixture->gateways);
  tide_regions_start(fixture->regions);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_lanes_stop(fixture->lanes);
  tide_regions_stop(fixture->regions);
  tide_gateways_stop(fixture->gateways);
  tide_completion_queue_clear(&fixture->completions);
  tide_regions_free(fixture->regions);
  tide_lanes_free(fixture->lanes);
  tide_gateways_free(fixture->gateways);
  tide_dated_tables_free(fixture->dated);
  g_free(fixture->table_budgets);
  tide_fingerprint_store_clear(&fixture->fingerprints);
  tide_metrics_free(fixture->metrics);
  tide_config_free(fixture->config);
  scripted_gateway_free(fixture->gateway);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static const TideTable *
get_instance(Fixture *fixture, const char *name)
{
  return tide_dated_tables_take(fixture->dated, g_ptr_array_index(fixture->config->tables, 0),
                                tide_bytes_of_string(name), tide_now_us());
}

/* Counts the look-ups of @table's regions from now on. */
static guint
watch_lookups(Fixture *fixture, const char *table)
{
  return scripted_gateway_add_fault(fixture->gateway,
                                    &(TideScriptedFault){.call = TIDE_CALL_GET_ALL_REGION_LOCATIONS, .table = table});
}

/* Until so many look-ups have been answered. */
static void
wait_lookups(Fixture *fixture, guint watch, guint64 n)
{
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateway, watch, n, tide_now_us() + TIMEOUT_US));
}

/* @exactly: else at least @wanted */
static void
wait_for(Fixture *fixture, const char *metric, guint64 wanted, gboolean exactly)
{
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  TideMutex lock;
  TideCond never;
  tide_mutex_init(&lock);
  tide_cond_init(&never);
  tide_mutex_lock(&lock);
  guint64 value;
  while (((value = tide_metrics_sum(fixture->metrics, metric, NULL)) < wanted || (exactly && value > wanted)) &&
         tide_now_us() < deadline_us)
    tide_cond_wait_until(&never, &lock, tide_now_us() + LOOK_AGAIN_US);
  tide_mutex_unlock(&lock);
  tide_cond_clear(&never);
  tide_mutex_clear(&lock);
  g_assert_cmpuint(value, >=, wanted);
  g_assert_true(value == wanted || !exactly);
}

static void
wait_gauge(Fixture *fixture, guint64 wanted)
{
  wait_for(fixture, GAUGE, wanted, TRUE);
}

FIXTURE_TEST("/regions/table-accumulator-is-computed-and-looked-up")
{
  const TideTable *table = get_instance(fixture, "S_20251120");
  guint watch = watch_lookups(fixture, "S_20251120");
  tide_regions_open(fixture->regions, table);
  wait_gauge(fixture, 3);
  g_assert_true(fake_hbase_table_exists(scripted_gateway_hbase(fixture->gateway), "S_20251120"));
  TideRegionMap *map = tide_regions_get(fixture->regions, table);
  g_assert_cmpuint(map->n_lanes, ==, 3);
  tide_region_map_unref(map);
  tide_regions_suspect(fixture->regions, table);
  wait_lookups(fixture, watch, 2);
  tide_regions_close(fixture->regions, table);
  /* The thread goes on with the next only when the look-up has ended, so none is cut off by the end of the test. */
  const TideTable *next = get_instance(fixture, "S_20251121");
  tide_regions_open(fixture->regions, next);
  wait_gauge(fixture, 3);
  tide_regions_close(fixture->regions, next);
}

/* A look-up of @table is under way, which is answered a moment later. */
static void
hold_lookup(Fixture *fixture, const TideTable *table)
{
  TideScriptedFault slow = {
      .call = TIDE_CALL_GET_ALL_REGION_LOCATIONS, .table = table->name, .delay_reply_ms = 500, .max_hits = 1};
  guint id = scripted_gateway_add_fault(fixture->gateway, &slow);
  tide_regions_suspect(fixture->regions, table);
  wait_lookups(fixture, id, 1);
}

/* A call fails while its region moves, and again while the regions are looked up, which may have come too early: they
 * are looked up once more, though not before the shortest interval has passed. */
FIXTURE_TEST("/regions/question-during-a-lookup-is-answered")
{
  const TideTable *table = get_instance(fixture, "S_20251120");
  tide_regions_open(fixture->regions, table);
  wait_gauge(fixture, 3);
  hold_lookup(fixture, table);
  guint watch = watch_lookups(fixture, "S_20251120");
  tide_regions_suspect(fixture->regions, table);
  wait_lookups(fixture, watch, 1);
  tide_regions_close(fixture->regions, table);
}

/* While a region moves each call to it fails, and asks. */
FIXTURE_TEST("/regions/lookups-keep-their-distance")
{
  const TideTable *table = get_instance(fixture, "S_20251120"), *next = get_instance(fixture, "S_20251121");
  gint64 begin_us = tide_now_us();
  tide_regions_open(fixture->regions, table);
  wait_gauge(fixture, 3);
  tide_regions_open(fixture->regions, next);
  wait_gauge(fixture, 6); /* so the first look-up has ended, too */
  guint watch = watch_lookups(fixture, "S_20251120");
  tide_regions_suspect(fixture->regions, table);
  wait_lookups(fixture, watch, 1);
  g_assert_cmpint(tide_now_us() - begin_us, >=, TIDE_US_PER_S);
  tide_regions_close(fixture->regions, table);
  tide_regions_close(fixture->regions, next);
}

/* Each lane ends where the next begins: one that kept the range of the whole region would have no rows of the other
 * half, and the new lane of these would not wait for those that it has. */
FIXTURE_TEST("/regions/halves-of-a-region-have-lanes-of-their-own")
{
  const TideTable *table = get_instance(fixture, "S_20251120");
  tide_regions_open(fixture->regions, table);
  wait_gauge(fixture, 3);
  TideRegionMap *before = tide_regions_get(fixture->regions, table);
  guint64 generation = tide_regions_generation_racy(fixture->regions);
  fake_hbase_split_region(scripted_gateway_hbase(fixture->gateway), "S_20251120", TIDE_BYTES_LITERAL("host4"), FALSE);
  tide_regions_suspect(fixture->regions, table);
  wait_gauge(fixture, 4);
  TideRegionMap *map = tide_regions_get(fixture->regions, table);
  g_assert_cmpuint(tide_regions_generation_racy(fixture->regions), >, generation); /* by which consumers know */
  g_assert_cmpuint(map->n_lanes, ==, 4);
  for (guint32 i = 0; i < 3; i++)
    g_assert_true(tide_bytes_equal(map->lanes[i]->end_key, map->lanes[i + 1]->start_key));
  g_assert_true(map->lanes[0] == before->lanes[0]); /* the others go on as they are */
  g_assert_true(map->lanes[3] == before->lanes[2]);
  tide_region_map_unref(map);
  tide_region_map_unref(before);
  tide_regions_close(fixture->regions, table);
}

/* Two consumers have it open: only the second to close it ends the looking up. */
FIXTURE_TEST("/regions/closed-table-is-not-looked-up-any-more")
{
  const TideTable *old = get_instance(fixture, "S_20251120"), *present = get_instance(fixture, "S_20251121");
  tide_regions_open(fixture->regions, old);
  tide_regions_open(fixture->regions, old);
  wait_gauge(fixture, 3);
  tide_regions_close(fixture->regions, old);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, GAUGE, NULL), ==, 3);
  tide_regions_close(fixture->regions, old);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, GAUGE, NULL), ==, 0);

  guint watch_old = watch_lookups(fixture, "S_20251120"), watch_present = watch_lookups(fixture, "S_20251121");
  tide_regions_suspect(fixture->regions, old);
  tide_regions_open(fixture->regions, present);
  wait_lookups(fixture, watch_present, 1);
  tide_regions_suspect(fixture->regions, present); /* at least a second later: the other would have been due before */
  wait_lookups(fixture, watch_present, 2);
  g_assert_cmpuint(scripted_gateway_fault_hits(fixture->gateway, watch_old), ==, 0);
  /* Rows come again, and it is looked up at once. */
  tide_regions_open(fixture->regions, old);
  wait_lookups(fixture, watch_old, 1);
  wait_gauge(fixture, 6);
  tide_regions_close(fixture->regions, old);
  tide_regions_close(fixture->regions, present);
}

/* Many tables cannot be made ready, and each is tried again at once: one that can be has its turn when those that were
 * due before it have had theirs. */
FIXTURE_TEST("/regions/C4-failing-tables-starve-none")
{
  enum { N_FAILING = 8 };
  guint watches[N_FAILING];
  for (guint i = 0; i < N_FAILING; i++) {
    g_autofree char *name = g_strdup_printf("S_2025110%u", i);
    TideScriptedFault refused = {.kind = TIDE_FAULT_IO_ERROR, .table = name};
    watches[i] = scripted_gateway_add_fault(fixture->gateway, &refused);
    tide_regions_open(fixture->regions, get_instance(fixture, name));
  }
  /* Its first call gets no answer, so that the one thread that looks up stands still there while this test counts. */
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .table = "S_20251120"};
  guint watch = scripted_gateway_add_fault(fixture->gateway, &silent);
  const TideTable *good = get_instance(fixture, "S_20251120");
  tide_regions_open(fixture->regions, good);
  guint64 n_before = 0, n_tries = 0;
  for (guint i = 0; i < N_FAILING; i++)
    n_before += scripted_gateway_fault_hits(fixture->gateway, watches[i]);
  wait_lookups(fixture, watch, 1);
  for (guint i = 0; i < N_FAILING; i++)
    n_tries += scripted_gateway_fault_hits(fixture->gateway, watches[i]);
  g_assert_cmpuint(n_tries, <=, n_before + N_FAILING + 1); /* the one more was under way */
}

/* HBase leaves a region out of its list for a moment: its rows would go to the lane of the region before it, and to a
 * lane of its own when it is back. */
FIXTURE_TEST("/regions/C8-list-with-a-gap-is-refused")
{
  const TideTable *table = get_instance(fixture, "S_20251120");
  TideFakeHBase *hbase = scripted_gateway_hbase(fixture->gateway);
  tide_regions_open(fixture->regions, table);
  wait_gauge(fixture, 3);
  TideRegionMap *before = tide_regions_get(fixture->regions, table);
  static const char *const left_out[] = {"host1", "host4", "host7"}; /* the first, in the middle, the last */
  for (guint i = 0; i < G_N_ELEMENTS(left_out); i++) {
    fake_hbase_set_offline(hbase, "S_20251120", tide_bytes_of_string(left_out[i]), TRUE);
    guint64 n_failures = tide_metrics_sum(fixture->metrics, FAILURES, NULL);
    tide_regions_suspect(fixture->regions, table);
    wait_for(fixture, FAILURES, n_failures + 2, FALSE); /* it is asked for again though nobody asks */
    TideRegionMap *map = tide_regions_get(fixture->regions, table);
    g_assert_true(map == before);
    tide_region_map_unref(map);
    fake_hbase_set_offline(hbase, "S_20251120", tide_bytes_of_string(left_out[i]), FALSE);
  }
  fake_hbase_split_region(hbase, "S_20251120", TIDE_BYTES_LITERAL("host4"), FALSE);
  wait_gauge(fixture, 4);
  tide_region_map_unref(before);
  tide_regions_close(fixture->regions, table);
}

static void
append_row(TideAccumulator *accumulator, const TideTable *table, gint64 now_us)
{
  g_auto(TideBuffer) prefix = {0};
  tide_column_prefix_append(TIDE_WIRE_BINARY, &prefix, TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("v"));
  TideColumn column = {.family = TIDE_BYTES_LITERAL("M"),
                       .qualifier = TIDE_BYTES_LITERAL("v"),
                       .prefix = tide_buffer_bytes(&prefix),
                       .hash = 1};
  TideCell cell = {.column = &column, .value = TIDE_BYTES_LITERAL("1"), .timestamp_ms = 1000};
  TideRow row = {.table_index = table->index, .key = TIDE_BYTES_LITERAL("host1#1"), .cells = &cell, .n_cells = 1};
  tide_accumulator_append_message(accumulator, &row, 1, (TideSourceRef){0}, now_us);
}

/* As a writer and the consumer would. */
static void
acknowledge_all(Fixture *fixture, TideAccumulator *accumulator, gint64 now_us)
{
  TideCall call;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + TIMEOUT_US, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpstr(call.table->name, ==, "S_20251120");
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, now_us);
  for (TideBatch *batch = tide_completion_queue_take(&fixture->completions, 0), *next; batch != NULL; batch = next) {
    next = batch->next;
    tide_accumulator_complete(accumulator, batch, now_us);
  }
}

/* Rows wait for the table to be made; an hour after the last the consumer gives it up, and opens it again for the next.
 */
FIXTURE_TEST("/regions/table-without-rows-for-an-hour-is-given-up")
{
  TideBudget doubt_budget;
  tide_budget_init_doubt_share(&doubt_budget, &fixture->budget);
  TideAccumulatorContext context = {.config = fixture->config,
                                    .protocol = TIDE_WIRE_BINARY,
                                    .budget = &fixture->budget,
                                    .table_budgets = fixture->table_budgets,
                                    .doubt_budget = &doubt_budget,
                                    .lanes = fixture->lanes,
                                    .regions = fixture->regions,
                                    .dated = fixture->dated,
                                    .completions = &fixture->completions,
                                    .metrics = fixture->metrics};
  TideAccumulator *accumulator = tide_accumulator_new(&context);
  const TideTable *table = get_instance(fixture, "S_20251120");
  gint64 now_us = tide_now_us();
  for (guint round = 0; round < 2; round++) {
    append_row(accumulator, table, now_us);
    tide_accumulator_tick(accumulator, TIDE_PRESSURE_FLUSH, 0, now_us);
    wait_gauge(fixture, 3);
    /* On its way, it is not given up, however long that takes. */
    tide_accumulator_tick(accumulator, TIDE_PRESSURE_IDLE, 0, now_us + 2 * HOUR_US);
    g_assert_cmpuint(tide_metrics_sum(fixture->metrics, GAUGE, NULL), ==, 3);
    acknowledge_all(fixture, accumulator, now_us);
    g_assert_true(tide_accumulator_is_empty(accumulator));
    now_us += 2 * HOUR_US + TIDE_US_PER_S;
    tide_accumulator_tick(accumulator, TIDE_PRESSURE_IDLE, 0, now_us); /* lanes of before the map are dropped first */
    now_us += 2 * TIDE_US_PER_S;
    tide_accumulator_tick(accumulator, TIDE_PRESSURE_IDLE, 0, now_us);
    g_assert_cmpuint(tide_metrics_sum(fixture->metrics, GAUGE, NULL), ==, 0);
    g_autoptr(GArray) told = tide_lanes_tables(fixture->lanes, now_us);
    g_assert_cmpuint(told->len, ==, 0);
  }
  tide_accumulator_free(accumulator);
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_tables_created_total", NULL), ==, 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, g_getenv("TIDE_TEST_VERBOSE") != NULL ? TIDE_LOG_DEBUG : TIDE_LOG_CRIT);
  tide_hbase_client_init_types();
  g_unsetenv("STATE_DIRECTORY");
  test_cases_add();
  return g_test_run();
}
