/* Two values of one cell at the same time, while calls with the first are abandoned and take effect later: the value of
 * the last offset remains, and nothing else waits for it (docs/internals.md: equal times). */
#include "fault/gateway/raw_client.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "kafka/commit_note.h"
#include "util/clock.h"

#define BASE_MS G_GINT64_CONSTANT(1763700000000)

/* Such a call is given up by the client after a second, and lands after two and a half. */
#define ABANDONED_MS 2500

/* One that outlives its sender lands when the next owner of the partition has long written. */
#define OUTLIVES_MS 14000
#define OUTLIVES ", uncertain_timeout: 16s"

/* The test would fail, long before this has passed. */
#define FOR_EVER ", uncertain_timeout: 1h"
#define SOON ", uncertain_timeout: 8s"

#define LATEST_ONLY                                                                                                    \
  "tables:\n"                                                                                                          \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"

static RunningPipeline *
start(PipelineFixture *fixture, const char *hbase, const char *options)
{
  return running_pipeline_start_with(fixture,
                                     &(RunningPipelineOptions){.gateways = 1, .hbase = hbase, .options = options});
}

static void
produce(PipelineFixture *fixture, gint64 time_ms, const char *value)
{
  pipeline_fixture_produce(fixture, 0, "host1", time_ms, value);
  pipeline_fixture_flush(fixture);
}

/* Waits until so many calls of @table were given up and are under way in the gateway all the same. */
static guint
abandon_calls_for(PipelineFixture *fixture, const char *table, guint n, gint64 lands_ms)
{
  TideScriptedFault abandoned = {.call = TIDE_CALL_PUT_MULTIPLE,
                                 .table = table,
                                 .delay_apply_ms = lands_ms,
                                 .lands_after_kill = TRUE,
                                 .max_hits = n};
  return scripted_gateway_add_fault(fixture->gateways[0], &abandoned);
}

static guint
abandon_calls(PipelineFixture *fixture, const char *table, guint n)
{
  return abandon_calls_for(fixture, table, n, ABANDONED_MS);
}

/* F3: a newer time does not wait for an older cell's doubt, and nor do the offsets: the older cell is void. */
static void
test_F3_newer_time_does_not_wait(PipelineFixture *fixture, gconstpointer data)
{
  guint id = abandon_calls(fixture, NULL, 1);
  RunningPipeline *running = start(fixture, FOR_EVER, LATEST_ONLY);
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_hits(fixture, id, 1);
  produce(fixture, BASE_MS, "second");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  produce(fixture, BASE_MS + 1000, "newer");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "newer");
  pipeline_fixture_finish(fixture, running);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host1", "v", "newer");
}

/* F3: a stop does not wait for the doubt either. What it concerns is handed back. */
static void
test_F3_stop_does_not_wait(PipelineFixture *fixture, gconstpointer data)
{
  guint id = abandon_calls(fixture, NULL, 2);
  RunningPipeline *running = start(fixture, FOR_EVER, NULL);
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_hits(fixture, id, 2);
  produce(fixture, BASE_MS, "second");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  running_pipeline_end(running);
}

/* Another region's call fails as it does when regions have moved, so that the borders are read at once. */
static void
read_regions_again(PipelineFixture *fixture, RunningPipeline *running, guint n_regions)
{
  TideScriptedFault moved = {.kind = TIDE_FAULT_IO_ERROR,
                             .call = TIDE_CALL_PUT_MULTIPLE,
                             .row_prefix = TIDE_BYTES_LITERAL("moved"),
                             .message = "org.apache.hadoop.hbase.NotServingRegionException: moved is not online",
                             .max_hits = 1};
  scripted_gateway_add_fault(fixture->gateways[0], &moved);
  pipeline_fixture_produce(fixture, 1, "moved", BASE_MS, "moved");
  pipeline_fixture_flush(fixture);
  running_pipeline_wait_metric(running, "tidemark_table_regions", n_regions);
  /* What is written after that went by the new borders. */
  pipeline_fixture_produce(fixture, 1, "moved", BASE_MS + 1, "written");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "moved", "v", "written");
}

/* F4: the rows of a region's old lane and of its new one are held against each other: "first" is the last offset, and
 * equal to what is in doubt. */
static void
test_F4_split_keeps_the_last_offset(PipelineFixture *fixture, gconstpointer data)
{
  guint id = abandon_calls(fixture, "CURRENT_METRIC", 1);
  RunningPipeline *running = start(fixture, SOON, LATEST_ONLY "batch: { latest_window: 1ms }\n");
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_hits(fixture, id, 1);
  produce(fixture, BASE_MS, "second");
  running_pipeline_wait_metric(running, "tidemark_cells_conflicting_total", 1);
  fake_hbase_split_region(fixture->hbase, "CURRENT_METRIC", TIDE_BYTES_LITERAL("host0"), FALSE);
  read_regions_again(fixture, running, 2);
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host1", "v", "first");
  running_pipeline_end(running);
}

/* ---- the next owner ---- */

/* F7: the first owner stops with a call abandoned that lands later. @waits: the other value comes to the first owner,
 * which cannot wait for it; else to the second. */
static void
check_next_owner(PipelineFixture *fixture, gboolean waits)
{
  guint id = abandon_calls_for(fixture, "CURRENT_METRIC", 1, OUTLIVES_MS);
  RunningPipeline *running = start(fixture, OUTLIVES, LATEST_ONLY);
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_hits(fixture, id, 1);
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "first");
  if (waits) {
    produce(fixture, BASE_MS, "second");
    pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  }
  pipeline_fixture_wait_committed(fixture, 0, 1);
  running_pipeline_end(running);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 1);
  running = start(fixture, OUTLIVES, LATEST_ONLY);
  if (!waits)
    produce(fixture, BASE_MS, "second");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "first"); /* the abandoned call has landed */
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  running_pipeline_end(running);
}

static void
test_F7_value_that_waited_is_read_again(PipelineFixture *fixture, gconstpointer data)
{
  check_next_owner(fixture, TRUE);
}

static void
test_F7_next_owner_knows_what_was_in_doubt(PipelineFixture *fixture, gconstpointer data)
{
  check_next_owner(fixture, FALSE);
}

/* The first owner has closed, and the second one cannot commit that it has the partition: it reads nothing before it
 * can, or a third one would believe that nothing is in doubt. */
static void
test_A9_nothing_is_read_before_a_take_over_is_committed(PipelineFixture *fixture, gconstpointer data)
{
  RunningPipeline *running = start(fixture, OUTLIVES, LATEST_ONLY);
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE, 10000);
  produce(fixture, BASE_MS + 1, "second");
  running = start(fixture, OUTLIVES, LATEST_ONLY);
  running_pipeline_wait_metric(running, "tidemark_kafka_commit_failures_total", 3); /* it is tried again, and again */
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_received_total"), ==, 0);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
}

/* F7: an owner was killed: its call with the first value lands when the next owner has written both. It left a commit
 * without a note, as one of an older version does. */
static void
test_F7_killed_owner_may_have_sent_what_is_read_again(PipelineFixture *fixture, gconstpointer data)
{
  guint id = abandon_calls_for(fixture, "CURRENT_METRIC", 1, OUTLIVES_MS);
  produce(fixture, BASE_MS, "first");
  produce(fixture, BASE_MS, "second");
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 0);
  TideRawClient *killed = raw_client_connect(scripted_gateway_port(fixture->gateways[0]), FALSE, FALSE);
  raw_client_send_puts(killed, "CURRENT_METRIC", &(TideRawCell){"host1", "v", "first", BASE_MS}, 1);
  pipeline_fixture_wait_hits(fixture, id, 1);
  raw_client_free(killed);
  RunningPipeline *running = start(fixture, OUTLIVES, LATEST_ONLY);
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", "host1", "v", "first"); /* the killed one's call has landed */
  pipeline_fixture_wait_all_committed(fixture);
  pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "host1", "v", "second");
  running_pipeline_end(running);
}

/* ---- a partition that is taken away ---- */

/* Member @gateway of the group, which writes by that gateway alone. */
static RunningPipeline *
start_member(PipelineFixture *fixture, guint gateway)
{
  g_autofree char *list = g_strdup_printf("\"%s\"", scripted_gateway_endpoint(fixture->gateways[gateway]));
  return running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateway_list = list, .options = "limits: { drain_timeout: 1s }\n"});
}

/* A reading of host @partition, and one of a host that both partitions have, with a column of its own. */
static void
produce_to_both(PipelineFixture *fixture, const char *value)
{
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++) {
    g_autofree char *host = g_strdup_printf("host%d", i);
    g_autofree char *shared =
        g_strdup_printf("{\"host\":\"both\",\"ts\":%" G_GINT64_FORMAT ",\"v%d\":\"%s\"}", BASE_MS, i, value);
    pipeline_fixture_produce(fixture, i, host, BASE_MS, value);
    pipeline_fixture_produce_raw(fixture, i, shared);
  }
  pipeline_fixture_flush(fixture);
}

static void
assert_both(PipelineFixture *fixture, const char *wanted)
{
  for (gint32 i = 0; i < FIXTURE_PARTITIONS; i++) {
    g_autofree char *host = g_strdup_printf("host%d", i);
    g_autofree char *column = g_strdup_printf("v%d", i);
    pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", host, "v", wanted);
    pipeline_fixture_assert_value(fixture, "CURRENT_METRIC", "both", column, wanted);
  }
}

/* The group is joined by another member while the first owner's gateway takes nothing, and the time to drain it passes.
 * The next owner of one of its partitions writes newer values of the same times, and settle passes, before that gateway
 * takes rows again: what waited behind it is not sent any more. */
static void
test_taken_partition_is_not_written_by_its_last_owner(PipelineFixture *fixture, gconstpointer data)
{
  guint id = pipeline_fixture_fail_puts(fixture, NULL, NULL);
  produce_to_both(fixture, "first");
  RunningPipeline *last = start_member(fixture, 0);
  pipeline_fixture_wait_hits(fixture, id, 2);
  produce_to_both(fixture, "second"); /* open, behind the first */
  running_pipeline_wait_metric(last, "tidemark_messages_received_total", 4 * FIXTURE_PARTITIONS);
  RunningPipeline *next = start_member(fixture, 1);
  running_pipeline_wait_metric(next, "tidemark_messages_received_total", 4);
  gint32 taken = tide_metrics_sum(next->metrics, "tidemark_messages_received_total", "partition=\"0\"") > 0 ? 0 : 1;
  produce_to_both(fixture, "third");
  pipeline_fixture_wait_committed(fixture, taken, fixture->produced[taken]);
  scripted_gateway_clear_fault(fixture->gateways[0], id);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_metric(last, "tidemark_rows_cancelled_total", 4);
  assert_both(fixture, "third");
  g_assert_cmpuint(running_pipeline_sum(last, "tidemark_messages_handed_back_total"), >, 0);
  running_pipeline_end(next);
  running_pipeline_end(last);
}

/* ---- memory ---- */

#define N_MANY 60000u

/* F14: an owner before us may have sent more than can be remembered in the memory there is. It is all written at once,
 * and read again when settle has passed; only then it is committed. All has to be written before settle has passed,
 * also by a busy machine. */
static void
test_F14_what_cannot_be_remembered_is_read_again(PipelineFixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N_MANY; i++) {
    g_autofree char *reading = g_strdup_printf(
        "{\"host\":\"host%u\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"v\",\"w\":1,\"x\":2,\"y\":3,\"z\":4}", i, BASE_MS);
    pipeline_fixture_produce_raw(fixture, 0, reading);
  }
  pipeline_fixture_flush(fixture);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 0);
  RunningPipeline *running = running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1,
                                         .kafka = ", max_span_messages: 1000000",
                                         .hbase = ", uncertain_timeout: 45s",
                                         .options = LATEST_ONLY "limits: { memory: 16MiB, drain_timeout: 3s }\n"});
  for (guint i = 0; i < N_MANY; i += N_MANY - 1) {
    g_autofree char *host = g_strdup_printf("host%u", i);
    pipeline_fixture_wait_value(fixture, "CURRENT_METRIC", host, "v", "v");
  }
  running_pipeline_wait_metric(running, "tidemark_kafka_rewinds_total", 1);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_received_total"), >, N_MANY);
  running_pipeline_end(running);
}

/* Whoever takes the partitions knows by this that cells of them are in doubt for an hour. (transfer full) */
static char *
note_of_doubt(void)
{
  return tide_commit_note_format(&(TideCommitNote){
      .is_closed = TRUE, .until_ms = g_get_real_time() / 1000 + 3600000, .time_ms = G_MAXINT64, .span_messages = 1000});
}

#define MANY_TOPIC "many"
#define MANY_PARTITIONS 100

static gboolean
is_healthy_until_all_are_rewound(const TidePipelineState *state, gpointer data)
{
  g_assert_true(state->healthy);
  return running_pipeline_sum(data, "tidemark_kafka_rewinds_total") >= MANY_PARTITIONS;
}

/* The last owner left cells in doubt and was stopped, as when it is restarted after a gateway's failure: each partition
 * is held, all until the same moment, and then all are rewound at once. For a group without cooperation that is one
 * assignment: one for each partition took the consumer's thread for half a minute. */
static void
test_R1_many_partitions_are_rewound_at_once(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *note = note_of_doubt();
  mock_kafka_create_topic(fixture->kafka, MANY_TOPIC, MANY_PARTITIONS);
  for (gint32 i = 0; i < MANY_PARTITIONS; i++) {
    for (guint m = 0; m < 3; m++) {
      g_autofree char *payload =
          g_strdup_printf("{\"host\":\"host%d\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%u\"}", i, BASE_MS + m, m);
      mock_kafka_produce_text(fixture->kafka, MANY_TOPIC, i, payload);
    }
    mock_kafka_commit_note(fixture->kafka, FIXTURE_GROUP, MANY_TOPIC, i, 1, note);
  }
  pipeline_fixture_flush(fixture);
  RunningPipelineOptions options = {
      .gateways = 1, .topics = MANY_TOPIC, .kafka = data, .hbase = SOON, .options = LATEST_ONLY};
  RunningPipeline *running = running_pipeline_start_with(fixture, &options);
  running_pipeline_wait_metric(running, "tidemark_messages_received_total", 2 * MANY_PARTITIONS);
  running_pipeline_wait_metric(running, "tidemark_kafka_rewinds_total", 1);
  gint64 since_us = tide_now_us();
  running_pipeline_wait(running, is_healthy_until_all_are_rewound, running);
  gint64 took_us = tide_now_us() - since_us;
  for (gint32 i = 0; i < MANY_PARTITIONS; i++)
    g_assert_true(
        mock_kafka_wait_committed(fixture->kafka, FIXTURE_GROUP, MANY_TOPIC, i, 3, pipeline_fixture_deadline_us()));
  running_pipeline_end(running);
  g_assert_cmpint(took_us, <, 3 * TIDE_US_PER_S);
}

/* What is held leaves the log before it is read again, as the mock keeps 5 MiB of a partition: all of it was written,
 * and so it is not lost. */
static void
test_held_message_leaves_the_log(PipelineFixture *fixture, gconstpointer data)
{
  guint id = abandon_calls(fixture, "CURRENT_METRIC", 1);
  RunningPipeline *running = start(fixture, SOON, LATEST_ONLY "batch: { latest_window: 1ms }\n");
  produce(fixture, BASE_MS, "first");
  pipeline_fixture_wait_hits(fixture, id, 1);
  produce(fixture, BASE_MS, "second");
  running_pipeline_wait_metric(running, "tidemark_cells_conflicting_total", 1);
  g_autofree char *large = g_strnfill(10000, 'x');
  for (guint i = 0; i < 1000; i++) {
    pipeline_fixture_produce(fixture, 0, "other", BASE_MS + i, large);
    pipeline_fixture_flush(fixture); /* a batch of its own: the log is shortened by whole ones */
  }
  running_pipeline_wait_metric(running, "tidemark_kafka_rewinds_total", 1);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_lost_total"), ==, 0);
  running_pipeline_end(running);
}

#define N_GOOD 1500u
#define N_BAD 600u

/* Dead letters that cannot be kept are given up for a rewind, and come again: they are no larger a share of the
 * messages than before. */
static void
test_R2_dead_letters_that_come_again_are_not_too_many(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *note = note_of_doubt();
  mock_kafka_create_topic(fixture->kafka, DEAD_LETTERS, 1);
  produce(fixture, BASE_MS, "committed");
  mock_kafka_commit_note(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 1, note);
  mock_kafka_set_leader(fixture->kafka, DEAD_LETTERS, 0, -1); /* none is kept */
  RunningPipeline *running = start(fixture, SOON, LATEST_ONLY "dead_letters: { topic: letters, max_ratio: 0.35 }\n");
  for (guint i = 0; i < N_GOOD; i++)
    pipeline_fixture_produce(fixture, 1, "host2", BASE_MS + i, "good");
  pipeline_fixture_flush(fixture);
  running_pipeline_wait_metric(running, "tidemark_messages_received_total",
                               N_GOOD); /* of which the others are judged */
  produce(fixture, BASE_MS, "contested");
  for (guint i = 0; i < N_BAD; i++)
    pipeline_fixture_produce_raw(fixture, 0, "bad");
  pipeline_fixture_flush(fixture);
  running_pipeline_wait_metric(running, "tidemark_kafka_rewinds_total", 1);
  running_pipeline_wait_metric(running, "tidemark_messages_received_total", N_GOOD + 2 * (1 + N_BAD));
  mock_kafka_set_leader(fixture->kafka, DEAD_LETTERS, 0, 1);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_end(running);
}

#define ADD(path, func) pipeline_fixture_add("/pipeline-equal-times/" path, func)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("waits/F3-newer-time-does-not-wait", test_F3_newer_time_does_not_wait);
  ADD("waits/F3-stop-does-not-wait", test_F3_stop_does_not_wait);
  ADD("regions/F4-split-keeps-the-last-offset", test_F4_split_keeps_the_last_offset);
  ADD("stop/F7-value-that-waited-is-read-again", test_F7_value_that_waited_is_read_again);
  ADD("stop-2/F7-next-owner-knows-what-was-in-doubt", test_F7_next_owner_knows_what_was_in_doubt);
  ADD("stop-3/A9-nothing-is-read-before-a-take-over-is-committed",
      test_A9_nothing_is_read_before_a_take_over_is_committed);
  ADD("kill/F7-killed-owner-may-have-sent-what-is-read-again", test_F7_killed_owner_may_have_sent_what_is_read_again);
  ADD("taken/C8-taken-partition-is-not-written-by-its-last-owner",
      test_taken_partition_is_not_written_by_its_last_owner);
  ADD("memory/F14-what-cannot-be-remembered-is-read-again", test_F14_what_cannot_be_remembered_is_read_again);
  pipeline_fixture_add_with("/pipeline-equal-times/many/R1-eager", ", assignment: eager",
                            test_R1_many_partitions_are_rewound_at_once);
  pipeline_fixture_add_with("/pipeline-equal-times/many/R1-cooperative", ", assignment: cooperative",
                            test_R1_many_partitions_are_rewound_at_once);
  ADD("gone/held-message-leaves-the-log", test_held_message_leaves_the_log);
  ADD("letters/R2-that-come-again-are-not-too-many", test_R2_dead_letters_that_come_again_are_not_too_many);
  return g_test_run();
}
