/* The whole pipeline with every kind of latest table, and with an index under faults: the final content of HBase is
 * correct for any order of arrival, and an index never names a missing row. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

#define N_HOSTS 8

#define LATEST "key: [ { field: host } ], tombstone: delete, columns: { family: M, from: \"*\" } }\n"
#define TABLES                                                                                                         \
  "  MERGED: { latest: merge, " LATEST "  REPLACED: { latest: replace, " LATEST "  PACKED: { latest: packed, " LATEST  \
  "  INDEX: { latest: merge, index_of: METRIC, key: [ { field: host } ],"                                              \
  " columns: { family: M, from: [ { value: { time: epoch_ms }, as: ts } ] } }\n"

static const char *const latest_tables[] = {"MERGED", "REPLACED", "PACKED"};

typedef struct LatestFixture {
  PipelineFixture base;
  gint64 base_ms; /* of event times: recent, as HBase counts the age of deletes from their own time */
} LatestFixture;

/* Markers outlive compactions, as `tables create` asks HBase for. */
static void
create_latest_table(TideFakeHBase *hbase, const char *name)
{
  g_auto(TideFakeError) error = {0};
  TideFakeTableSpec *spec = fake_table_spec_new(name);
  fake_table_spec_add_family(spec, "M");
  fake_table_spec_add_attribute(spec, TIDE_BYTES_LITERAL("hbase.hstore.time.to.purge.deletes"),
                                TIDE_BYTES_LITERAL("604800000"));
  g_assert_true(fake_hbase_create_table(hbase, spec, NULL, 0, &error));
}

static void
set_up(LatestFixture *fixture, gconstpointer data)
{
  pipeline_fixture_set_up(&fixture->base, data);
  fixture->base_ms = tide_wall_clock_epoch_ms() - 3600 * 1000;
  for (guint i = 0; i < G_N_ELEMENTS(latest_tables); i++)
    create_latest_table(fixture->base.hbase, latest_tables[i]);
  create_latest_table(fixture->base.hbase, "INDEX");
}

static void
tear_down(LatestFixture *fixture, gconstpointer data)
{
  pipeline_fixture_tear_down(&fixture->base, data);
}

#define FIXTURE_TEST(path) TEST_WITH(LatestFixture, set_up, tear_down, path)

/* A reading of @host @second seconds after the base with @fields, JSON. */
static void
produce_reading(LatestFixture *fixture, gint32 partition, const char *host, guint second, const char *fields)
{
  g_autofree char *payload = g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",%s}", host,
                                             fixture->base_ms + second * 1000, fields);
  pipeline_fixture_produce_raw(&fixture->base, partition, payload);
}

/* A message without value, with @host for its key. */
static void
produce_tombstone(LatestFixture *fixture, gint32 partition, const char *host, guint second)
{
  TideMockMessage message = {.topic = FIXTURE_TOPIC,
                             .partition = partition,
                             .key = tide_bytes_of_string(host),
                             .payload = TIDE_BYTES_EMPTY,
                             .timestamp_ms = fixture->base_ms + second * 1000};
  mock_kafka_produce(fixture->base.kafka, &message);
  fixture->base.produced[partition]++;
}

/* The tables' lines with times as seconds after the base: "TABLE host column second value". */
static char *
dump(const LatestFixture *fixture, const char *table)
{
  g_autofree char *raw = fake_hbase_dump(fixture->base.hbase, table, FALSE);
  g_auto(GStrv) lines = g_strsplit(raw, "\n", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  for (char **line = lines; *line != NULL && **line != '\0'; line++) {
    g_auto(GStrv) parts = g_strsplit(*line, "\t", 4);
    g_string_append_printf(text, "%s %s %s %" G_GINT64_FORMAT " %s\n", table, parts[0], parts[1],
                           (g_ascii_strtoll(parts[2], NULL, 10) - fixture->base_ms) / 1000, parts[3]);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
assert_table(const LatestFixture *fixture, const char *table, const char *expected)
{
  g_autofree char *found = dump(fixture, table);
  g_assert_cmpstr(found, ==, expected);
}

static void
compact_all(LatestFixture *fixture)
{
  for (guint i = 0; i < G_N_ELEMENTS(latest_tables); i++)
    fake_hbase_major_compact(fixture->base.hbase, latest_tables[i]);
}

/* ---- all orders of three messages ---- */

static const guint orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* One of three messages of a host; no fields: a tombstone. */
typedef struct Event {
  guint second;
  const char *fields;
} Event;

static void
produce_event(LatestFixture *fixture, const char *host, const Event *event)
{
  if (event->fields != NULL)
    produce_reading(fixture, 0, host, event->second, event->fields);
  else
    produce_tombstone(fixture, 0, host, event->second);
}

/* For each order a host whose messages come each after the one before is in HBase ("apart"), and one whose messages
 * come together and meet in memory ("close"). */
static void
produce_in_all_orders(LatestFixture *fixture, const Event events[3])
{
  for (guint step = 0; step < 3; step++) {
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
      g_autofree char *host = g_strdup_printf("apart%u", i);
      produce_event(fixture, host, &events[orders[i][step]]);
    }
    pipeline_fixture_wait_all_committed(&fixture->base);
  }
  for (guint step = 0; step < 3; step++)
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
      g_autofree char *host = g_strdup_printf("close%u", i);
      produce_event(fixture, host, &events[orders[i][step]]);
    }
  pipeline_fixture_wait_all_committed(&fixture->base);
}

static void
produce_to_all_hosts(LatestFixture *fixture, const Event *event)
{
  static const char *const kinds[] = {"apart", "close"};
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
      g_autofree char *host = g_strdup_printf("%s%u", kinds[kind], i);
      produce_event(fixture, host, event);
    }
  pipeline_fixture_wait_all_committed(&fixture->base);
}

/* @cells: what each host must hold, as lines of "column second value". */
static void
assert_all_hosts(const LatestFixture *fixture, const char *table, const char *const *cells)
{
  static const char *const kinds[] = {"apart", "close"};
  g_autoptr(GString) expected = g_string_new(NULL);
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++)
      for (const char *const *cell = cells; *cell != NULL; cell++)
        g_string_append_printf(expected, "%s %s%u %s\n", table, kinds[kind], i, *cell);
  assert_table(fixture, table, expected->str);
}

static const char *const nothing[] = {NULL};

FIXTURE_TEST("/pipeline-latest/order/A28-metric-that-disappears-in-all-orders")
{
  static const Event events[] = {{1, "\"a\":1,\"b\":1"}, {2, "\"b\":2"}, {3, "\"a\":3"}};
  static const char *const merged[] = {"M:a 3 3", "M:b 2 2", NULL};
  static const char *const replaced[] = {"M:a 3 3", NULL};
  static const char *const packed[] = {"M:r 3 {\"a\":3}", NULL};
  RunningPipeline *running = running_pipeline_start(&fixture->base, FIXTURE_GATEWAYS, TABLES);
  produce_in_all_orders(fixture, events);
  for (guint compacted = 0; compacted < 2; compacted++) {
    assert_all_hosts(fixture, "MERGED", merged);
    assert_all_hosts(fixture, "REPLACED", replaced);
    assert_all_hosts(fixture, "PACKED", packed);
    compact_all(fixture);
  }
  /* Older than all that came, and after the compaction: the deletes are still there. */
  static const char *const merged_late[] = {"M:a 3 3", "M:b 2 2", "M:c 0 0", NULL};
  produce_to_all_hosts(fixture, &(Event){0, "\"a\":0,\"c\":0"});
  assert_all_hosts(fixture, "MERGED", merged_late);
  assert_all_hosts(fixture, "REPLACED", replaced);
  assert_all_hosts(fixture, "PACKED", packed);
  g_assert_cmpuint(tide_metrics_sum(running->metrics, "tidemark_hbase_rows_written_total", "method=\"mutateRow\""), >,
                   0);
  running_pipeline_end(running);
}

FIXTURE_TEST("/pipeline-latest/order/A28-tombstone-then-a-later-reading-revives-in-all-orders")
{
  static const Event events[] = {{1, "\"a\":1,\"b\":1"}, {2, NULL}, {3, "\"a\":3"}};
  static const char *const cells[] = {"M:a 3 3", NULL};
  static const char *const packed[] = {"M:r 3 {\"a\":3}", NULL};
  RunningPipeline *running = running_pipeline_start(&fixture->base, FIXTURE_GATEWAYS, TABLES);
  produce_in_all_orders(fixture, events);
  for (guint compacted = 0; compacted < 2; compacted++) {
    assert_all_hosts(fixture, "MERGED", cells);
    assert_all_hosts(fixture, "REPLACED", cells);
    assert_all_hosts(fixture, "PACKED", packed);
    compact_all(fixture);
  }
  running_pipeline_end(running);
}

FIXTURE_TEST("/pipeline-latest/order/A28-tombstone-hides-older-readings-in-all-orders")
{
  static const Event events[] = {{1, "\"a\":1"}, {2, "\"b\":2"}, {2, NULL}}; /* as old as the tombstone is older */
  RunningPipeline *running = running_pipeline_start(&fixture->base, FIXTURE_GATEWAYS, TABLES);
  produce_in_all_orders(fixture, events);
  for (guint compacted = 0; compacted < 2; compacted++) {
    for (guint i = 0; i < G_N_ELEMENTS(latest_tables); i++)
      assert_all_hosts(fixture, latest_tables[i], nothing);
    compact_all(fixture);
  }
  produce_to_all_hosts(fixture, &(Event){0, "\"a\":0"});
  for (guint i = 0; i < G_N_ELEMENTS(latest_tables); i++)
    assert_all_hosts(fixture, latest_tables[i], nothing);
  running_pipeline_end(running);
}

/* ---- the index ---- */

static guint
step_sent(guint step)
{
  return step % 7 == 3 ? step - 3 : step; /* the reading of three steps ago comes again */
}

/* Readings of all hosts from step @from to before step @to, each with one metric of three in turn. */
static void
produce_mixture(LatestFixture *fixture, guint from, guint to)
{
  for (guint step = from; step < to; step++)
    for (guint host = 0; host < N_HOSTS; host++) {
      g_autofree char *name = g_strdup_printf("host%u", host);
      guint sent = step_sent(step);
      g_autofree char *fields = g_strdup_printf("\"m%u\":\"%u.%u\"", sent % 3, sent, host);
      produce_reading(fixture, (gint32)(host % FIXTURE_PARTITIONS), name, sent, fields);
    }
  pipeline_fixture_flush(&fixture->base);
}

static guint
newest_step(guint n_steps)
{
  return (n_steps - 1) % 7 == 3 ? n_steps - 2 : n_steps - 1;
}

static void
assert_replaced(LatestFixture *fixture, guint n_steps)
{
  guint newest = newest_step(n_steps);
  g_autoptr(GString) expected = g_string_new(NULL);
  for (guint host = 0; host < N_HOSTS; host++)
    g_string_append_printf(expected, "REPLACED host%u M:m%u %u %u.%u\n", host, newest % 3, newest, newest, host);
  assert_table(fixture, "REPLACED", expected->str);
}

/* Every write of the index comes after a write of the data row that it names. */
static void
assert_index_never_ahead(LatestFixture *fixture)
{
  g_autoptr(GPtrArray) writes = fake_hbase_writes(fixture->base.hbase);
  g_autoptr(GHashTable) data_rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  guint n_index_writes = 0;
  for (guint i = 0; i < writes->len; i++) {
    const TideFakeWrite *write = g_ptr_array_index(writes, i);
    if (strcmp(write->table, "METRIC") == 0)
      g_hash_table_add(data_rows, g_strndup((const char *)write->row.data, write->row.len));
    if (strcmp(write->table, "INDEX") != 0)
      continue;
    g_autofree char *named = g_strdup_printf("%.*s#%" G_GINT64_FORMAT, (int)write->row.len,
                                             (const char *)write->row.data, write->timestamp_ms);
    g_assert_true(g_hash_table_contains(data_rows, named));
    n_index_writes++;
  }
  g_assert_cmpuint(n_index_writes, >=, N_HOSTS);
}

static void
assert_index(LatestFixture *fixture, guint n_steps)
{
  guint newest = newest_step(n_steps);
  g_autoptr(GString) expected = g_string_new(NULL);
  for (guint host = 0; host < N_HOSTS; host++)
    g_string_append_printf(expected, "INDEX host%u M:ts %u %" G_GINT64_FORMAT "\n", host, newest,
                           fixture->base_ms + newest * 1000);
  assert_table(fixture, "INDEX", expected->str);
}

FIXTURE_TEST("/pipeline-latest/index/D9-index-waits-for-a-failing-region-alone")
{
  TideScriptedFault failing = {.kind = TIDE_FAULT_IO_ERROR,
                               .call = TIDE_CALL_PUT_MULTIPLE,
                               .table = "METRIC",
                               .row_prefix = TIDE_BYTES_LITERAL("host6")};
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    scripted_gateway_add_fault(fixture->base.gateways[i], &failing);
  fake_hbase_log_writes(fixture->base.hbase, 100000);
  RunningPipeline *running =
      running_pipeline_start(&fixture->base, FIXTURE_GATEWAYS, TABLES "batch: { latest_window: 1ms }\n");
  produce_mixture(fixture, 0, 40);
  g_autofree char *newest = g_strdup_printf("%" G_GINT64_FORMAT, fixture->base_ms + newest_step(40) * 1000);
  for (guint host = 0; host < 5; host++) { /* the other region's, which is not in trouble */
    g_autofree char *name = g_strdup_printf("host%u", host);
    pipeline_fixture_wait_value(&fixture->base, "INDEX", name, "ts", newest);
  }
  g_assert_null(fake_hbase_value(fixture->base.hbase, "INDEX", "host6", "M", "ts", NULL));
  for (guint i = 0; i < FIXTURE_GATEWAYS; i++)
    scripted_gateway_clear_faults(fixture->base.gateways[i]);
  pipeline_fixture_wait_all_committed(&fixture->base);
  assert_index(fixture, 40);
  assert_index_never_ahead(fixture);
  running_pipeline_end(running);
}

/* The data row is written, but nobody says so until the fourth call: only that one lets the index go. */
FIXTURE_TEST("/pipeline-latest/index/D5-index-waits-for-the-acknowledgement")
{
  TideScriptedFault unanswered = {
      .kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .table = "METRIC", .max_hits = 3};
  scripted_gateway_add_fault(fixture->base.gateways[0], &unanswered);
  fake_hbase_log_writes(fixture->base.hbase, 1000);
  produce_reading(fixture, 0, "host1", 5, "\"v\":1");
  RunningPipeline *running = running_pipeline_start(&fixture->base, 1, TABLES);
  pipeline_fixture_wait_all_committed(&fixture->base);
  g_autoptr(GPtrArray) writes = fake_hbase_writes(fixture->base.hbase);
  guint n_data = 0, n_index = 0;
  for (guint i = 0; i < writes->len; i++) {
    const TideFakeWrite *write = g_ptr_array_index(writes, i);
    n_data += strcmp(write->table, "METRIC") == 0 ? 1 : 0;
    if (strcmp(write->table, "INDEX") != 0)
      continue;
    g_assert_cmpuint(n_data, ==, 4);
    n_index++;
  }
  g_assert_cmpuint(n_index, ==, 1);
  running_pipeline_end(running);
}

/* The message is not finished before its index row is, and nothing of either is lost by a stop in between. */
FIXTURE_TEST("/pipeline-latest/index/E2-offset-waits-for-the-index")
{
  guint id = pipeline_fixture_fail_puts(&fixture->base, "INDEX", NULL);
  fake_hbase_log_writes(fixture->base.hbase, 100000);
  produce_mixture(fixture, 0, 20);
  RunningPipeline *running = running_pipeline_start(&fixture->base, 1, TABLES);
  pipeline_fixture_wait_hits(&fixture->base, id, 3);
  pipeline_fixture_wait_rows(&fixture->base, "METRIC", 17 * N_HOSTS);
  g_assert_cmpint(running_pipeline_stop(running, 500), !=, 0);
  for (gint32 partition = 0; partition < FIXTURE_PARTITIONS; partition++)
    g_assert_cmpint(pipeline_fixture_committed(&fixture->base, partition), <=, 0);
  scripted_gateway_clear_faults(fixture->base.gateways[0]);
  RunningPipeline *again = running_pipeline_start(&fixture->base, 1, TABLES);
  pipeline_fixture_wait_all_committed(&fixture->base);
  assert_index(fixture, 20);
  assert_index_never_ahead(fixture);
  running_pipeline_end(again);
}

/* Stopped while the data rows are on their way: the index rows that only come into being then are drained, too. */
FIXTURE_TEST("/pipeline-latest/index/E2-stop-drains-dependent-rows")
{
  TideScriptedFault slow = {.call = TIDE_CALL_PUT_MULTIPLE, .table = "METRIC", .delay_apply_ms = 300};
  scripted_gateway_add_fault(fixture->base.gateways[0], &slow);
  fake_hbase_log_writes(fixture->base.hbase, 100000);
  RunningPipeline *running = running_pipeline_start(&fixture->base, 1, TABLES);
  running_pipeline_wait_ready(running);
  produce_mixture(fixture, 0, 20);
  running_pipeline_wait_metric(running, "tidemark_messages_received_total", 20 * N_HOSTS);
  running_pipeline_end(running);
  pipeline_fixture_wait_all_committed(&fixture->base); /* without a daemon: the stop did it */
  assert_index(fixture, 20);
  assert_index_never_ahead(fixture);
}

/* Data rows whose partition is taken away while they wait: they and their index rows are sent by both daemons in the
 * end, and say the same. */
FIXTURE_TEST("/pipeline-latest/index/C7-dependent-rows-of-a-revoked-partition-do-no-harm")
{
  guint id = pipeline_fixture_fail_puts(&fixture->base, "METRIC", NULL);
  fake_hbase_log_writes(fixture->base.hbase, 100000);
  RunningPipeline *first = running_pipeline_start(&fixture->base, 1, TABLES);
  produce_mixture(fixture, 0, 40);
  pipeline_fixture_wait_hits(&fixture->base, id, 2);
  RunningPipeline *second = running_pipeline_start(&fixture->base, FIXTURE_GATEWAYS, TABLES);
  running_pipeline_wait_metric(first, "tidemark_messages_handed_back_total", 1);
  scripted_gateway_clear_faults(fixture->base.gateways[0]);
  pipeline_fixture_wait_all_committed(&fixture->base);
  produce_mixture(fixture, 0, 40); /* the older steps again, after all */
  pipeline_fixture_finish(&fixture->base, second);
  running_pipeline_end(first);
  assert_index(fixture, 40);
  assert_replaced(fixture, 40);
  assert_index_never_ahead(fixture);
}
