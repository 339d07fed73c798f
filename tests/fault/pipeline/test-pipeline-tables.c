/* The pipeline's tables: dated ones, created when their first row arrives, and keys that were changed over existing
 * rows. */
#include "fault/pipeline/pipeline_fixture.h"
#include "tables/dated_tables.h"
#include "tables/fingerprint_store.h"
#include "util/error.h"

#define DAY_MS (24 * G_GINT64_CONSTANT(3600000))
#define FIRST_DAY_MS G_GINT64_CONSTANT(1763596800000) /* 2025-11-20 00:00 UTC */
#define N_DAYS 3u
#define N_HOSTS 8u

#define PLAIN_KEY "[ { field: host }, \"#\", { time: epoch_ms } ]"
#define SALTED_KEY "[ { salt: 4, of: [ { field: host } ] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]"

#define DATED_TABLES(key)                                                                                              \
  "tables:\n"                                                                                                          \
  "  \"SENSOR_{yyyyMMdd}\":\n"                                                                                         \
  "    key: " key "\n"                                                                                                 \
  "    columns: { family: M, from: \"*\" }\n"                                                                          \
  "    families: { M: { versions: 3, compression: gz } }\n"                                                            \
  "    splits: [ \"host3\", \"host6\" ]\n"

static const char *const day_tables[N_DAYS] = {"SENSOR_20251120", "SENSOR_20251121", "SENSOR_20251122"};

/* ---- dated tables ---- */

/* @n_steps readings a day of each host, the days in turn; each host in one partition. */
static void
produce_days(PipelineFixture *fixture, guint first_step, guint n_steps)
{
  for (guint step = first_step; step < first_step + n_steps; step++)
    for (guint day = 0; day < N_DAYS; day++)
      for (guint host = 0; host < N_HOSTS; host++) {
        g_autofree char *name = g_strdup_printf("host%u", host);
        g_autofree char *value = g_strdup_printf("%u", step);
        pipeline_fixture_produce(fixture, (gint32)(host % FIXTURE_PARTITIONS), name,
                                 FIRST_DAY_MS + day * DAY_MS + step * 1000, value);
      }
  pipeline_fixture_flush(fixture);
}

/* What produce_days() leaves in the table of @day, by an own small calculation. */
static void
assert_day(PipelineFixture *fixture, guint day, guint first_step, guint end_step)
{
  g_autoptr(GString) expected = g_string_new(NULL);
  for (guint host = 0; host < N_HOSTS; host++)
    for (guint step = first_step; step < end_step; step++) {
      gint64 time_ms = FIRST_DAY_MS + day * DAY_MS + step * 1000;
      g_string_append_printf(expected, "host%u#%" G_GINT64_FORMAT "\tM:v\t%" G_GINT64_FORMAT "\t%u\n", host, time_ms,
                             time_ms, step);
    }
  g_autofree char *found = fake_hbase_dump(fixture->hbase, day_tables[day], FALSE);
  g_assert_cmpstr(found, ==, expected->str);
}

static void
assert_days(PipelineFixture *fixture, guint end_step)
{
  for (guint day = 0; day < N_DAYS; day++)
    assert_day(fixture, day, 0, end_step);
}

static void
assert_declared_settings(PipelineFixture *fixture, const char *table)
{
  g_autoptr(GPtrArray) regions = fake_hbase_regions(fixture->hbase, table);
  g_assert_cmpuint(regions->len, ==, 3);
  const TideFakeRegion *second = g_ptr_array_index(regions, 1);
  g_assert_true(tide_bytes_equal(second->start_key, TIDE_BYTES_LITERAL("host3")));
  g_assert_true(tide_bytes_equal(second->end_key, TIDE_BYTES_LITERAL("host6")));
  g_auto(TideFakeError) error = {0};
  g_autoptr(TideFakeTableSpec) spec = fake_hbase_describe(fixture->hbase, table, &error);
  g_assert_cmpuint(spec->families->len, ==, 1);
  const TideFakeFamily *family = g_ptr_array_index(spec->families, 0);
  g_assert_cmpstr(family->name, ==, "M");
  g_assert_cmpint(family->max_versions, ==, 3);
  g_assert_cmpint(family->compression, ==, TIDE_COMPRESSION_GZ);
  g_assert_cmpuint(spec->attributes->len, ==, 1);
  const TideFakeAttribute *attribute = &g_array_index(spec->attributes, TideFakeAttribute, 0);
  g_assert_true(tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_ATTRIBUTE)));
}

static RunningPipeline *
start_dated(PipelineFixture *fixture, guint gateways)
{
  return running_pipeline_start(fixture, gateways, DATED_TABLES(PLAIN_KEY));
}

PIPELINE_TEST("/pipeline-tables/dated/three-days-make-three-tables")
{
  produce_days(fixture, 0, 20);
  RunningPipeline *running = start_dated(fixture, FIXTURE_GATEWAYS);
  running_pipeline_wait_ready(running);
  pipeline_fixture_wait_all_committed(fixture);
  assert_days(fixture, 20);
  for (guint day = 0; day < N_DAYS; day++)
    assert_declared_settings(fixture, day_tables[day]);
  g_assert_false(fake_hbase_table_exists(fixture->hbase, "SENSOR_{yyyyMMdd}"));
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_tables_created_total"), ==, N_DAYS);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_rows_mapped_total", "SENSOR_{yyyyMMdd}"), ==,
                   20 * N_DAYS * N_HOSTS);
  /* Nothing is created a second time, and what is there is written to. */
  produce_days(fixture, 20, 10);
  pipeline_fixture_wait_all_committed(fixture);
  assert_days(fixture, 30);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_tables_created_total"), ==, N_DAYS);
  running_pipeline_end(running);
  /* Nor after a restart. */
  RunningPipeline *again = start_dated(fixture, FIXTURE_GATEWAYS);
  produce_days(fixture, 30, 10);
  pipeline_fixture_wait_all_committed(fixture);
  assert_days(fixture, 40);
  g_assert_cmpuint(running_pipeline_sum(again, "tidemark_tables_created_total"), ==, 0);
  running_pipeline_end(again);
}

/* Both have rows for each day before any of the tables is there: one makes it, the other finds it. */
PIPELINE_TEST("/pipeline-tables/dated/two-daemons-make-each-table-once")
{
  RunningPipeline *first = start_dated(fixture, 1);
  running_pipeline_wait_ready(first);
  RunningPipeline *second = start_dated(fixture, 1);
  running_pipeline_wait_ready(second);
  TideScriptedFault slow = {.call = TIDE_CALL_CREATE_TABLE, .delay_apply_ms = 300};
  scripted_gateway_add_fault(fixture->gateways[0], &slow);
  produce_days(fixture, 0, 20);
  pipeline_fixture_wait_all_committed(fixture);
  assert_days(fixture, 20);
  g_assert_cmpuint(running_pipeline_sum(first, "tidemark_tables_created_total") +
                       running_pipeline_sum(second, "tidemark_tables_created_total"),
                   ==, N_DAYS);
  running_pipeline_end(first);
  running_pipeline_end(second);
}

PIPELINE_TEST("/pipeline-tables/dated/D11-table-dropped-while-running-is-made-again")
{
  RunningPipeline *running = start_dated(fixture, 1);
  produce_days(fixture, 0, 10);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_fixture_drop_table(fixture, day_tables[1]);
  produce_days(fixture, 10, 10);
  pipeline_fixture_wait_all_committed(fixture);
  assert_day(fixture, 0, 0, 20);
  assert_day(fixture, 1, 10, 20);
  assert_day(fixture, 2, 0, 20);
  assert_declared_settings(fixture, day_tables[1]);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_tables_created_total"), ==, N_DAYS + 1);
  running_pipeline_end(running);
}

typedef struct CreationCase {
  const char *name;
  TideScriptedFault fault;
} CreationCase;

static const CreationCase creation_cases[] = {
    {"D3-creation-is-never-answered", {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_CREATE_TABLE, .max_hits = 2}},
    {"D5-connection-is-lost-in-a-creation",
     {.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .call = TIDE_CALL_CREATE_TABLE, .cut_bytes = 10, .max_hits = 2}},
    {"D5-connection-is-lost-behind-a-creation",
     {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_CREATE_TABLE, .max_hits = 2}},
    {"D9-creation-fails-at-first", {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_CREATE_TABLE, .max_hits = 3}},
    {"D13-creation-is-answered-by-garbage",
     {.kind = TIDE_FAULT_GARBAGE, .call = TIDE_CALL_CREATE_TABLE, .max_hits = 2}},
    {"D9-look-for-the-table-fails",
     {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_TABLE_EXISTS, .table = "SENSOR_20251121", .max_hits = 3}},
    {"D9-look-at-the-families-fails",
     {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_GET_TABLE_DESCRIPTOR, .max_hits = 3}},
    {"D17-abandoned-creation-lands-later",
     {.call = TIDE_CALL_CREATE_TABLE, .delay_apply_ms = 1500, .lands_after_kill = TRUE, .max_hits = 2}},
};

static void
test_fault_during_creation_loses_nothing(PipelineFixture *fixture, gconstpointer data)
{
  const CreationCase *at = data;
  guint ids[FIXTURE_GATEWAYS];
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    ids[i] = scripted_gateway_add_fault(fixture->gateways[i], &at->fault);
  produce_days(fixture, 0, 20);
  RunningPipeline *running = start_dated(fixture, FIXTURE_GATEWAYS);
  pipeline_fixture_wait_all_committed(fixture);
  guint64 hits = 0;
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    hits += scripted_gateway_fault_hits(fixture->gateways[i], ids[i]);
  g_assert_cmpuint(hits, >, 0);
  assert_days(fixture, 20);
  for (guint day = 0; day < N_DAYS; day++)
    assert_declared_settings(fixture, day_tables[day]);
  running_pipeline_end(running);
}

static gboolean
is_troubled(const TidePipelineState *state, gpointer data)
{
  RunningPipeline *running = data;
  return running_pipeline_sum(running, "tidemark_regions_failing") > 0;
}

/* Made by others, without our family: its rows wait, those of the other days are written. */
PIPELINE_TEST("/pipeline-tables/dated/D11-family-that-is-missing-delays-its-table-only")
{
  scripted_gateway_create_table(fixture->gateways[0], day_tables[1], "OTHER", NULL);
  produce_days(fixture, 0, 10);
  RunningPipeline *running = start_dated(fixture, 1);
  running_pipeline_wait(running, is_troubled, running);
  pipeline_fixture_wait_rows(fixture, day_tables[0], 10 * N_HOSTS);
  pipeline_fixture_wait_rows(fixture, day_tables[2], 10 * N_HOSTS);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, day_tables[1]), ==, 0);
  pipeline_fixture_drop_table(fixture, day_tables[1]); /* the operator repairs it */
  pipeline_fixture_wait_all_committed(fixture);
  assert_days(fixture, 10);
  running_pipeline_end(running);
}

/* ---- too many dated tables ---- */

static const char hourly[] =
    "tables:\n"
    "  \"H_{yyyyMMddHH}\": { key: " PLAIN_KEY ", columns: { family: M, from: \"*\" } }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_message: skip }\n";

#define N_TABLES 1000u

/* F22: a table an hour, of six weeks of late readings at once: those that are done with are given up soon, and one of
 * them takes rows again. */
PIPELINE_TEST("/pipeline-tables/F22/many-tables-are-all-written")
{
  for (guint hour = 0; hour < N_TABLES; hour++)
    pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS - hour * G_GINT64_CONSTANT(3600000), "v");
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS + 1, "again");
  RunningPipeline *running = running_pipeline_start(fixture, 1, hourly);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_halted_total"), ==, 0);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_tables_created_total"), ==, N_TABLES);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_dated_tables"), ==, N_TABLES);
  running_pipeline_end(running);
}

static const char hourly_and_by_host[] =
    "tables:\n"
    "  \"H_{yyyyMMddHH}\": { key: " PLAIN_KEY ", columns: { family: M, from: \"*\" } }\n"
    "  \"BY_HOST_{yyyyMMddHH}\": { key: " PLAIN_KEY ", columns: { family: M, from: \"*\" } }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_message: skip }\n";

/* More tables than there are places, here of one message: it halts its partition, nothing of it is written, nothing
 * skipped. */
PIPELINE_TEST("/pipeline-tables/F22/message-of-too-many-tables-holds-the-partition")
{
  g_autoptr(GString) message = g_string_new("[");
  for (guint hour = 0; hour <= TIDE_DATED_TABLES_MAX / 2; hour++)
    g_string_append_printf(message, "%s{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}", hour > 0 ? "," : "",
                           FIRST_DAY_MS - hour * G_GINT64_CONSTANT(3600000));
  g_string_append_c(message, ']');
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS, "before");
  pipeline_fixture_produce_raw(fixture, 0, message->str);
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS + 1, "after");
  RunningPipeline *running = running_pipeline_start(fixture, 1, hourly_and_by_host);
  running_pipeline_wait_halted(running);
  pipeline_fixture_wait_committed(fixture, 0, 1);
  running_pipeline_assert_not_ready(running);
  running_pipeline_assert_reason(running, "is halted at offset 1");
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_halted_total"), ==, 1);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_skipped_total"), ==, 0);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_tables_created_total"), ==, 2);
  /* The tables that there are take rows as ever. */
  pipeline_fixture_produce(fixture, 1, "host1", FIRST_DAY_MS + 2, "of another partition");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed(fixture, 1, 1);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_halted_total"), ==, 1);
  running_pipeline_end(running);
}

/* ---- keys that were changed ---- */

#define SALTED_TABLES                                                                                                  \
  "tables:\n"                                                                                                          \
  "  METRIC: { key: " SALTED_KEY ", columns: { family: M, from: \"*\" } }\n"

static void
write_with_the_plain_key(PipelineFixture *fixture)
{
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS, "old");
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_finish(fixture, running);
}

PIPELINE_TEST("/pipeline-tables/schemes/B12-changed-key-over-rows-fails-the-start")
{
  scripted_gateway_create_table(fixture->gateways[0], TIDE_FINGERPRINT_TABLE, TIDE_FINGERPRINT_FAMILY, NULL);
  write_with_the_plain_key(fixture);
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS + 1, "new");
  RunningPipeline *refused = running_pipeline_start(fixture, 1, SALTED_TABLES);
  running_pipeline_wait_failed(refused);
  const GError *failure = tide_pipeline_failure(refused->pipeline);
  g_assert_cmpint(tide_error_exit_code(failure), ==, TIDE_EXIT_CONFIG);
  g_assert_nonnull(strstr(failure->message, "[tidemark scheme 1: field(host) \"#\" time(ms)]"));
  g_assert_nonnull(strstr(failure->message, "[tidemark scheme 1: salt(4"));
  g_assert_nonnull(strstr(failure->message, "--accept-scheme-change"));
  running_pipeline_stop(refused, 1000);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);

  RunningPipeline *accepted = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .options = SALTED_TABLES, .accept_scheme_change = TRUE});
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
  running_pipeline_end(accepted);
  RunningPipeline *remembered = running_pipeline_start(fixture, 1, SALTED_TABLES);
  running_pipeline_wait_ready(remembered);
  running_pipeline_end(remembered);
}

/* Nothing is written before the key fingerprints are known to be the same. */
PIPELINE_TEST("/pipeline-tables/schemes/schemes-that-cannot-be-read-are-waited-for")
{
  scripted_gateway_create_table(fixture->gateways[0], TIDE_FINGERPRINT_TABLE, TIDE_FINGERPRINT_FAMILY, NULL);
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_GET, .table = TIDE_FINGERPRINT_TABLE};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &failing);
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS, "v");
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  running_pipeline_wait_not_ready(running, "cannot compare the key fingerprints");
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 1);
  running_pipeline_end(running);
}

/* The day's table was begun with another key: its rows wait until that is accepted, the next day's table is made with
 * the new key. */
PIPELINE_TEST("/pipeline-tables/schemes/B12-changed-key-of-a-dated-table-delays-its-rows")
{
  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS, "old");
  RunningPipeline *before = start_dated(fixture, 1);
  pipeline_fixture_finish(fixture, before);

  pipeline_fixture_produce(fixture, 0, "host1", FIRST_DAY_MS + 1, "new");
  pipeline_fixture_produce(fixture, 1, "host2", FIRST_DAY_MS + DAY_MS, "new");
  RunningPipeline *running = running_pipeline_start(fixture, 1, DATED_TABLES(SALTED_KEY));
  running_pipeline_wait(running, is_troubled, running);
  pipeline_fixture_wait_rows(fixture, day_tables[1], 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, day_tables[0]), ==, 1);
  g_assert_cmpint(running_pipeline_stop(running, 500), ==, TIDE_EXIT_TEMPFAIL);

  RunningPipeline *accepted = running_pipeline_start_with(
      fixture,
      &(RunningPipelineOptions){.gateways = 1, .options = DATED_TABLES(SALTED_KEY), .accept_scheme_change = TRUE});
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, day_tables[0]), ==, 2);
  running_pipeline_end(accepted);
}

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  test_cases_add();
  for (guint i = 0; i < G_N_ELEMENTS(creation_cases); i++) {
    g_autofree char *path = g_strdup_printf("/pipeline-tables/creation-%u/%s", i % 3 + 1, creation_cases[i].name);
    pipeline_fixture_add_with(path, &creation_cases[i], test_fault_during_creation_loses_nothing);
  }
  return g_test_run();
}
