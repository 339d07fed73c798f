/* The whole pipeline: readings become rows in any order, unusable messages harm no other, and tables and regions appear
 * and disappear. The content is compared as text, cell by cell. */
#include "fault/pipeline/pipeline_fixture.h"
#include "util/clock.h"

static void
assert_text(GBytes *found, const char *wanted)
{
  g_assert_nonnull(found);
  g_autofree char *text = g_strndup(g_bytes_get_data(found, NULL), g_bytes_get_size(found));
  g_assert_cmpstr(text, ==, wanted);
}

/* ---- order ---- */

PIPELINE_TEST("/pipeline/order/readings-become-rows-and-offsets-are-committed")
{
  pipeline_produce_mixture(fixture, 80);
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, NULL);
  running_pipeline_wait_ready(running);
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_assert_tables(fixture, 80);
  running_pipeline_assert_accounting_balances(running);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_readings_written_total"), ==, 640);
  running_pipeline_end(running);
}

/* Every rule of order, with the same readings forwards, backwards, twice, and again from offset 0. */
PIPELINE_TEST("/pipeline/order/A28-A30-order-and-replay-leave-the-same-tables")
{
  for (guint step = 60; step-- > 0;)
    for (guint host = 0; host < 8; host++) {
      guint late = step % 7 == 3 ? step - 3 : step;
      g_autofree char *name = g_strdup_printf("host%u", host);
      g_autofree char *value = g_strdup_printf("%u.%u", late, host);
      for (guint twice = 0; twice < 2; twice++)
        pipeline_fixture_produce(fixture, (gint32)(host % FIXTURE_PARTITIONS), name, PIPELINE_BASE_MS + late * 1000,
                                 value);
    }
  RunningPipeline *running = running_pipeline_start(fixture, FIXTURE_GATEWAYS, NULL);
  pipeline_fixture_finish(fixture, running);
  pipeline_assert_tables(fixture, 60);
  /* Another group reads everything again, into the same tables. */
  RunningPipeline *again = running_pipeline_start_group(fixture, "another", FIXTURE_GATEWAYS,
                                                        "batch: { max_rows: 7, latest_window: 1ms }\n");
  running_pipeline_wait_metric(again, "tidemark_messages_written_total", 60 * 8 * 2);
  running_pipeline_end(again);
  pipeline_assert_tables(fixture, 60);
}

/* ---- equal times ---- */

/* The call with the first value is abandoned, goes on in the gateway, and lands two seconds later. The second value has
 * the same time: were it written meanwhile, the first would win. */
PIPELINE_TEST("/pipeline/order/A29-D17-abandoned-call-does-not-win-over-a-later-value")
{
  TideScriptedFault abandoned = {.call = TIDE_CALL_PUT_MULTIPLE, .delay_apply_ms = 2500, .max_hits = 2};
  guint id = scripted_gateway_add_fault(fixture->gateways[0], &abandoned);
  fake_hbase_log_writes(fixture->hbase, 1000);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "first");
  RunningPipeline *running = running_pipeline_start(fixture, 1, NULL);
  pipeline_fixture_wait_hits(fixture, id, 2);
  pipeline_fixture_produce(fixture, 0, "host1", PIPELINE_BASE_MS, "second");
  pipeline_fixture_produce(fixture, 0, "host2", PIPELINE_BASE_MS, "accepted");
  pipeline_fixture_flush(fixture);
  /* A row that contradicts nothing is not kept waiting by the one that does. */
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host2", "v", "accepted");
  pipeline_fixture_wait_all_committed(fixture);
  gint64 committed_us = tide_now_us();

  g_autoptr(GPtrArray) writes = fake_hbase_writes(fixture->hbase);
  gint64 last_first_us = 0;
  for (guint i = 0; i < writes->len; i++) {
    const TideFakeWrite *write = g_ptr_array_index(writes, i);
    if (tide_bytes_equal(write->value, TIDE_BYTES_LITERAL("first")))
      last_first_us = MAX(last_first_us, write->applied_us);
    else if (tide_bytes_equal(write->value, TIDE_BYTES_LITERAL("second")))
      g_assert_cmpint(write->applied_us, >, last_first_us);
  }
  g_assert_cmpint(last_first_us, <, committed_us);
  g_autoptr(GBytes) latest = fake_hbase_value(fixture->hbase, "CURRENT_METRIC", "host1", "M", "v", NULL);
  assert_text(latest, "second");
  g_autofree char *row = g_strdup_printf("host1#%" G_GINT64_FORMAT, PIPELINE_BASE_MS);
  g_autoptr(GBytes) history = fake_hbase_value(fixture->hbase, "METRIC", row, "M", "v", NULL);
  assert_text(history, "second");
  /* Each row that had to wait; one of a table whose call was answered need not. Both are read again when the first
   * doubt is over, and may contradict the second's once more. */
  guint64 n_conflicting = running_pipeline_sum(running, "tidemark_cells_conflicting_total");
  g_assert_cmpuint(n_conflicting, >=, 1);
  g_assert_cmpuint(n_conflicting, <=, 3);
  running_pipeline_end(running);
}

/* ---- messages that cannot be used ---- */

PIPELINE_TEST("/pipeline/messages/A3-bad-message-holds-its-partition-and-no-other")
{
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS, "before");
  pipeline_fixture_produce_raw(fixture, 0, "this is not JSON");
  pipeline_fixture_produce(fixture, 0, "host0", PIPELINE_BASE_MS + 1000, "after");
  pipeline_fixture_produce(fixture, 1, "host1", PIPELINE_BASE_MS, "other");
  RunningPipeline *running = running_pipeline_start(
      fixture, 1, "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_message: stop }\n");
  running_pipeline_wait_halted(running);
  pipeline_fixture_wait_committed(fixture, 0, 1);
  pipeline_fixture_wait_committed(fixture, 1, 1);
  running_pipeline_assert_not_ready(running);
  running_pipeline_assert_reason(running, "partition 0 is halted at offset 1");
  running_pipeline_end(running);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 1);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 2);
}

/* Nothing completes for them, and nothing else happens meanwhile: their offsets are committed all the same. */
PIPELINE_TEST("/pipeline/messages/A2-offsets-of-messages-without-rows-are-committed")
{
  pipeline_fixture_produce_raw(fixture, 0, "{\"host\":\"h\",\"ts\":1763700000000,\"w\":1}"); /* no table takes it */
  pipeline_fixture_produce_raw(fixture, 0, "");
  pipeline_fixture_produce_raw(fixture, 1, NULL);
  RunningPipeline *running = running_pipeline_start(
      fixture, 1,
      "readings: { format: json, time: { field: ts, format: epoch_ms }, on_bad_message: skip }\n"
      "tables: { METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" },"
      " when: { field: v, present: true } } }\n");
  pipeline_fixture_finish(fixture, running);
}

/* ---- tables and regions ---- */

PIPELINE_TEST("/pipeline/tables/D11-missing-table-fails-the-start-when-asked-to")
{
  pipeline_fixture_drop_table(fixture, "METRIC");
  RunningPipeline *failing = running_pipeline_start(fixture, 1, "service: { http: \"off\", startup: fail }\n");
  running_pipeline_wait_failed(failing);
  g_assert_nonnull(strstr(tide_pipeline_failure(failing->pipeline)->message, "METRIC"));
  running_pipeline_stop(failing, 1000);
}
