/* What `tidemark bench` measures: that messages are what they should be, and the figures fit together; not how fast. */
#include "commands/bench/bench.h"
#include "mapping/mapping.h"
#include "rows/row_buffer.h"
#include "unit/allocation_counter.h"
#include "unit/assert_bytes.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/error.h"

#define N_READINGS 3000u
#define ALL_STAGES ((1u << TIDE_BENCH_N_STAGES) - 1)

/* Calls of 100 rows, so that sets are sealed within a pass too. */
static const char yaml[] = "kafka: { brokers: b, group: g, topics: [t] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "hbase: { gateways: [g] }\n"
                           "batch: { max_rows: 100 }\n"
                           "tables:\n"
                           "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }],"
                           " columns: { family: M, from: \"*\" } }\n"
                           "  CURRENT: { latest: merge, key: [{ field: host }],"
                           " columns: { family: M, from: \"*\" } }\n";

static const TideSimulationParameters simulated = {.readings = N_READINGS,
                                                   .machines = 70,
                                                   .metrics = 4,
                                                   .seed = 1,
                                                   .start_epoch_ms = G_GINT64_CONSTANT(1426535612045),
                                                   .step_ms = 1000};

typedef struct Fixture {
  TideConfig *config;  /* owned */
  TideBenchLoad *load; /* owned */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->config = load_text(yaml);
  fixture->load = tide_bench_load_new(fixture->config);
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  tide_bench_load_free(fixture->load);
  tide_config_free(fixture->config);
}

static void
add_text(Fixture *fixture, const char *text)
{
  tide_bench_load_add(fixture->load, TIDE_BYTES_EMPTY, tide_bytes_of_string(text));
}

static void
settle(Fixture *fixture, guint64 n_messages)
{
  g_autoptr(GError) error = NULL;
  gboolean ok = tide_bench_load_settle(fixture->load, fixture->config, n_messages, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
}

static void
run(const Fixture *fixture, guint stages, guint64 (*count_allocations)(void), TideBenchFigure *ret_figures)
{
  TideBenchRequest request = {.config = fixture->config,
                              .load = fixture->load,
                              .protocol = TIDE_WIRE_BINARY,
                              .runs = 3,
                              .stages = stages,
                              .count_allocations = count_allocations};
  tide_bench_stages_run(&request, ret_figures);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

FIXTURE_TEST("/bench-stages/load-is-counted")
{
  tide_bench_load_simulate(fixture->load, &simulated);
  settle(fixture, N_READINGS);
  g_assert_cmpuint(fixture->load->messages->len, ==, N_READINGS);
  g_assert_cmpuint(fixture->load->n_given, ==, N_READINGS);
  g_assert_cmpuint(fixture->load->n_readings, ==, N_READINGS);
  g_assert_cmpuint(fixture->load->n_rows, ==, 2 * N_READINGS);
  g_assert_cmpuint(fixture->load->n_cells, ==, 8 * N_READINGS);
  g_assert_cmpuint(fixture->load->history.rows, ==, N_READINGS);
  g_assert_cmpuint(fixture->load->history.cells, ==, 4 * N_READINGS);
  g_assert_cmpuint(fixture->load->latest.rows, ==, N_READINGS);
  g_assert_cmpuint(fixture->load->latest.cells, ==, 4 * N_READINGS);
  /* Each cell of METRIC has "#" and a time of 13 digits more in its key than one of CURRENT. */
  g_assert_cmpuint(fixture->load->history.stored_bytes - fixture->load->latest.stored_bytes, ==, 14u * 4 * N_READINGS);
  TideMessage message = tide_bench_load_message(fixture->load, 71);
  TideBytes begins = TIDE_BYTES_LITERAL("{\"host\":\"server0002.bbb.com\",\"ts\":1426535613045,");
  assert_bytes_equal(message.key, TIDE_BYTES_LITERAL("server0002.bbb.com"));
  assert_bytes_equal(tide_bytes(message.value.data, begins.len), begins);
}

FIXTURE_TEST("/bench-stages/rejected-are-left-out-and-others-repeated")
{
  add_text(fixture, "{\"host\":\"h1\",\"ts\":1426535612045,\"cpu\":1}");
  add_text(fixture, "no JSON");
  add_text(fixture,
           "[{\"host\":\"h2\",\"ts\":1426535612045,\"cpu\":1},{\"host\":\"h3\",\"ts\":1426535612045,\"cpu\":1}]");
  settle(fixture, 5);
  g_assert_cmpuint(fixture->load->n_rejected, ==, 1);
  g_assert_nonnull(fixture->load->first_reject);
  g_assert_cmpuint(fixture->load->n_given, ==, 2);
  g_assert_cmpuint(fixture->load->given_bytes, ==, 40 + 83); /* not those of what is no JSON */
  g_assert_cmpuint(fixture->load->messages->len, ==, 5);
  g_assert_cmpuint(fixture->load->n_readings, ==, 7); /* 1 2 1 2 1 */
  /* Behind 20 bytes of its own a cell has M, cpu, 1 and the key: h1, and in METRIC "#1426535612045" more. */
  g_assert_cmpuint(fixture->load->latest.stored_bytes, ==, 7 * (20 + 1 + 3 + 1 + 2));
  g_assert_cmpuint(fixture->load->history.stored_bytes, ==, 7 * (20 + 1 + 3 + 1 + 2 + 14));
}

FIXTURE_TEST("/bench-stages/load-without-rows-is-refused")
{
  g_autoptr(GError) nothing = NULL;
  g_assert_false(tide_bench_load_settle(fixture->load, fixture->config, 5, &nothing));
  g_assert_error(nothing, TIDE_ERROR, TIDE_ERROR_DATA);
  add_text(fixture, "{\"host\":\"h1\"}");
  g_autoptr(GError) rejected = NULL;
  g_assert_false(tide_bench_load_settle(fixture->load, fixture->config, 5, &rejected));
  g_assert_error(rejected, TIDE_ERROR, TIDE_ERROR_DATA);
  g_assert_nonnull(strstr(rejected->message, "the first one: "));
}

/* METRIC keeps a week, and of it the family S a day; of the others nothing is said, or it is a table of latest values.
 */
static const char ttl_yaml[] =
    "kafka: { brokers: b, group: g, topics: [t] }\n"
    "readings: { time: { field: ts, format: epoch_ms, max_past: 36500d } }\n"
    "hbase: { gateways: [g] }\n"
    "tables:\n"
    "  METRIC: { ttl: 7d, families: { S: { ttl: 1d } }, key: [{ field: host }, { time: epoch_ms }],"
    " columns: [ { family: M, from: [a] }, { family: S, from: [b] } ] }\n"
    "  OTHER: { key: [{ field: host }, { time: epoch_ms }], columns: { family: M, from: [a] } }\n"
    "  CURRENT: { latest: merge, families: { M: { ttl: 365d } }, key: [{ field: host }],"
    " columns: { family: M, from: [a] } }\n";

/* Of each cell of 20 bytes, key, family, qualifier and value. */
FIXTURE_TEST("/bench-stages/times-to-live-are-counted")
{
  tear_down(fixture, data);
  fixture->config = load_text(ttl_yaml);
  fixture->load = tide_bench_load_new(fixture->config);
  g_autofree char *text =
      g_strdup_printf("{\"host\":\"h\",\"ts\":%" G_GINT64_FORMAT ",\"a\":1,\"b\":2}", fixture->load->timestamp_ms);
  add_text(fixture, text);
  settle(fixture, 1);
  const TideBenchRows *rows = &fixture->load->history;
  g_assert_cmpuint(rows->stored_bytes, ==, 3 * (20 + 14 + 3));
  g_assert_cmpuint(rows->ttl_bytes, ==, 2 * (20 + 14 + 3));
  g_assert_cmpint(rows->min_ttl_ms, ==, 86400000);
  g_assert_cmpint(rows->max_ttl_ms, ==, 7 * 86400000);
  g_assert_cmpfloat(rows->ttl_byte_ms, ==, (20 + 14 + 3) * (1.0 + 7) * 86400000);
}

/* What the budget is charged for rows that wait is what a plan makes room for, on average over how full buffers are. */
FIXTURE_TEST("/bench-stages/plan-knows-what-waiting-rows-are-charged")
{
  static const guint metrics[] = {1, 10, 100};
  double ratios = 0;
  guint n_ratios = 0;
  for (gsize m = 0; m < G_N_ELEMENTS(metrics); m++) {
    for (guint n_machines = 1000; n_machines < 2000; n_machines += 200, n_ratios++) {
      tear_down(fixture, data);
      set_up(fixture, data);
      TideSimulationParameters waiting = simulated;
      waiting.readings = waiting.machines = n_machines;
      waiting.metrics = metrics[m];
      tide_bench_load_simulate(fixture->load, &waiting);
      settle(fixture, n_machines);
      TideBudget budget;
      tide_budget_init(&budget, G_MAXINT64);
      TideRowBuffer buffer;
      tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
      g_autoptr(TideMapping) mapping = tide_mapping_new(fixture->config, TIDE_WIRE_BINARY);
      for (guint i = 0; i < n_machines; i++) {
        TideMessage message = tide_bench_load_message(fixture->load, i);
        TideMapped mapped;
        TideReject reject = {0};
        g_assert_true(tide_mapping_apply(mapping, &message, &mapped, &reject));
        tide_row_buffer_append(&buffer, &mapped.rows[1], (TideSourceRef){0}, 1, NULL);
      }
      g_assert_cmpuint(buffer.n_rows, ==, n_machines);
      double planned = tide_plan_waiting_bytes(n_machines, (double)fixture->load->latest.stored_bytes);
      double ratio = (double)tide_budget_used_racy(&budget) / planned;
      g_assert_cmpfloat(ratio, >, 0.5);
      g_assert_cmpfloat(ratio, <, 2);
      ratios += ratio;
      tide_row_buffer_clear(&buffer);
    }
  }
  g_assert_cmpfloat_with_epsilon(ratios / n_ratios, 1, 0.2);
}

/* What is the difference of two passes may be less than nothing, where others had the machine in the lesser one. */
FIXTURE_TEST("/bench-stages/no-stage-takes-less-than-nothing")
{
  add_text(fixture, "{\"host\":\"h\",\"ts\":1426535612045,\"a\":1}");
  settle(fixture, 1);
  TideBenchRequest request = {.config = fixture->config, .load = fixture->load, .runs = 3, .stages = ALL_STAGES};
  TideBenchFigure figures[TIDE_BENCH_N_STAGES] = {{0}};
  figures[TIDE_BENCH_ALL] = (TideBenchFigure){.ns = 1000, .min_ns = 900, .max_ns = 1100};
  figures[TIDE_BENCH_MAP] = (TideBenchFigure){.ns = 200, .min_ns = -399, .max_ns = 300};
  figures[TIDE_BENCH_APPEND] = (TideBenchFigure){.ns = -50, .min_ns = -60, .max_ns = -40};
  TideBenchReport report = {.name = "t", .request = &request, .figures = figures};
  static void (*const prints[])(FILE *, const TideBenchReport *) = {tide_bench_report_print,
                                                                    tide_bench_report_print_json};
  static const char *const told[][2] = {{" 0-300 ", " 0-0 "},
                                        {"\"ns_per_reading\":200.0,\"min_ns\":0.0,\"max_ns\":300.0,",
                                         "\"ns_per_reading\":0.0,\"min_ns\":0.0,\"max_ns\":0.0,"}};
  for (gsize i = 0; i < G_N_ELEMENTS(prints); i++) {
    char *text = NULL;
    size_t len;
    FILE *stream = open_memstream(&text, &len);
    prints[i](stream, &report);
    fclose(stream);
    g_assert_nonnull(strstr(text, told[i][0]));
    g_assert_nonnull(strstr(text, told[i][1]));
    g_assert_null(strstr(strstr(text, i == 0 ? "SHARE" : "stages"), i == 0 ? " -" : ":-"));
    free(text);
  }
}

/* The median of sums is not the sum of medians, but in one run it is. */
FIXTURE_TEST("/bench-stages/stages-add-up")
{
  tide_bench_load_simulate(fixture->load, &simulated);
  settle(fixture, N_READINGS);
  TideBenchRequest request = {
      .config = fixture->config, .load = fixture->load, .protocol = TIDE_WIRE_COMPACT, .runs = 1, .stages = ALL_STAGES};
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  tide_bench_stages_run(&request, figures);
  double sum_ns = figures[TIDE_BENCH_DECODE].ns + figures[TIDE_BENCH_MAP].ns + figures[TIDE_BENCH_APPEND].ns +
                  figures[TIDE_BENCH_SEAL].ns + figures[TIDE_BENCH_ACK].ns;
  g_assert_cmpfloat_with_epsilon(sum_ns, figures[TIDE_BENCH_ALL].ns, 0.01);
  g_assert_cmpfloat(figures[TIDE_BENCH_SEAL].ns, >, 0);
  g_assert_cmpfloat(figures[TIDE_BENCH_ACK].ns, >, 0);
  g_assert_cmpfloat(figures[TIDE_BENCH_ALL].min_ns, ==, figures[TIDE_BENCH_ALL].max_ns);
}

FIXTURE_TEST("/bench-stages/only-what-is-asked-is-measured")
{
  tide_bench_load_simulate(fixture->load, &simulated);
  settle(fixture, N_READINGS);
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  run(fixture, 1u << TIDE_BENCH_DECODE, NULL, figures);
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++) {
    if (stage == TIDE_BENCH_DECODE)
      g_assert_cmpfloat(figures[stage].ns, >, 0);
    else
      g_assert_cmpfloat(figures[stage].ns, ==, 0);
  }
}

static guint64
count_allocations(void)
{
  return allocation_count;
}

FIXTURE_TEST("/bench-stages/path-allocates-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer's allocator is not counted");
    return;
  }
  tide_bench_load_simulate(fixture->load, &simulated);
  settle(fixture, N_READINGS);
  TideBenchFigure figures[TIDE_BENCH_N_STAGES];
  run(fixture, ALL_STAGES, count_allocations, figures);
  for (int stage = 0; stage < TIDE_BENCH_N_STAGES; stage++)
    g_assert_cmpfloat(figures[stage].allocations, ==, 0);
}
