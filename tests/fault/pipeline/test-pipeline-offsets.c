/* Committed offsets that cannot be trusted: not in the log, or not reported by the brokers; what a halt leaves behind
 * for whoever comes next. */
#include "fault/pipeline/pipeline_fixture.h"
#include "kafka/commit_note.h"
#include "kafka/kafka_watch.h"
#include "unit/load_text.h"
#include "util/clock.h"

#include <glib/gstdio.h>

#define BASE_MS G_GINT64_CONSTANT(1763700000000)
#define COOPERATIVE ", assignment: cooperative"

static void
produce(PipelineFixture *fixture, guint n)
{
  for (guint i = 0; i < n; i++)
    pipeline_fixture_produce(fixture, 0, "host0", BASE_MS + fixture->produced[0], "v");
  pipeline_fixture_flush(fixture);
}

static RunningPipeline *
start(PipelineFixture *fixture, const char *kafka)
{
  return running_pipeline_start_with(fixture, &(RunningPipelineOptions){.gateways = 1, .kafka = kafka});
}

static TideHaltNote
noted_halt(PipelineFixture *fixture)
{
  g_autofree char *text =
      mock_kafka_committed_note(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, pipeline_fixture_deadline_us());
  TideCommitNote note;
  g_assert_true(tide_commit_note_parse(tide_bytes_of_string(text), &note));
  return note.halt;
}

/* ---- halts ---- */

/* K1: the topic is shorter than the offset, the daemon is restarted, and the topic grows beyond the offset: not one of
 * its messages may be passed over before somebody decides. */
static void
test_halt_outlasts_the_process_and_the_growing_topic(PipelineFixture *fixture, gconstpointer kafka)
{
  produce(fixture, 1);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 50);
  RunningPipeline *running = start(fixture, kafka);
  running_pipeline_wait_halted(running);
  running_pipeline_wait_not_ready(running, "the next offset is 50, but the partition ends at 1");
  /* At once, for the next owner of a process that is killed. */
  while (pipeline_fixture_committed(fixture, 0) != 0)
    pipeline_fixture_wait_a_little(pipeline_fixture_deadline_us(), "the log's beginning is committed");
  running_pipeline_end(running);
  for (guint turn = 0; turn < 2; turn++) {
    g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 0);
    g_assert_cmpint(noted_halt(fixture).cause, ==, TIDE_HALT_BEYOND_END);
    g_assert_cmpint(noted_halt(fixture).offset, ==, 50);
    produce(fixture, 60);
    running = start(fixture, kafka);
    running_pipeline_wait_halted(running);
    running_pipeline_wait_not_ready(running, "the next offset was 50");
    running_pipeline_wait_not_ready(running, "tidemark offsets move --to past-halt metrics:0");
    running_pipeline_end(running);
  }
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
}

static gboolean
knows_lag(const TidePipelineState *state, gpointer data)
{
  return tide_metrics_sum(data, "tidemark_kafka_consumer_lag", NULL) > 0;
}

/* K2: that nothing is committed yet is no sign of a topic that was created again. */
static void
test_group_that_begins_is_not_halted(PipelineFixture *fixture, gconstpointer kafka)
{
  produce(fixture, 10);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, 1000);
  RunningPipeline *running = start(fixture, kafka);
  running_pipeline_wait(running, knows_lag, running->metrics);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_COMMIT);
  for (guint turn = 0; turn < 2; turn++) {
    pipeline_fixture_wait_all_committed(fixture);
    running_pipeline_wait_metric(running, "tidemark_kafka_committed_offset", 10 * (turn + 1));
    g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_halted_partitions"), ==, 0);
    produce(fixture, 10);
  }
  pipeline_fixture_finish(fixture, running);
}

/* C7: a leader that lags finds no offset for a moment. */
static void
test_offset_that_is_not_found_for_a_moment(PipelineFixture *fixture, gconstpointer kafka)
{
  produce(fixture, 10);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, 2);
  RunningPipeline *running = start(fixture, kafka);
  pipeline_fixture_wait_all_committed(fixture);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, 1);
  produce(fixture, 10);
  pipeline_fixture_wait_all_committed(fixture);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_halted_partitions"), ==, 0);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_never_read_total"), ==, 0);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 20);
  running_pipeline_end(running);
}

/* A watch of partition 0 whose brokers have answered. */
typedef struct AnsweredWatch {
  TideConfig *config;
  TideMetrics *metrics;
  TideKafkaWatch *watch;
  TideWatchedPartition *watched;
} AnsweredWatch;

static AnsweredWatch
answered_watch_new(PipelineFixture *fixture)
{
  g_autofree char *yaml = pipeline_fixture_yaml(fixture, &(RunningPipelineOptions){.gateways = 1});
  g_autoptr(GError) error = NULL;
  AnsweredWatch it = {.config = load_text(yaml), .metrics = tide_metrics_new()};
  it.watch = tide_kafka_watch_new(&it.config->kafka, 1, it.metrics);
  gboolean started = tide_kafka_watch_start(it.watch, &error);
  g_assert_no_error(error);
  g_assert_true(started);
  it.watched = tide_kafka_watch_add(it.watch, FIXTURE_TOPIC, 0, NULL);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  while (!tide_kafka_watch_lag(it.watch).is_known)
    pipeline_fixture_wait_a_little(deadline_us, "the watch was answered");
  return it;
}

static void
answered_watch_free(AnsweredWatch *it)
{
  tide_kafka_watch_remove(it->watch, it->watched);
  tide_kafka_watch_stop(it->watch);
  tide_kafka_watch_free(it->watch);
  tide_metrics_free(it->metrics);
  tide_config_free(it->config);
}

/* K2: of a partition that is not located yet nobody knows what is committed; that nothing is tells of no other log. */
static void
test_new_partition_is_no_replaced_one(PipelineFixture *fixture, gconstpointer data)
{
  AnsweredWatch it = answered_watch_new(fixture);
  TideConsumerPosition begun = {.next_offset = -1, .mark = -1, .finished_ms = -1, .oldest_ms = -1, .newest_ms = -1};
  g_assert_false(tide_kafka_watch_note(it.watch, it.watched, &begun, &(TideConsumerNote){0}));
  answered_watch_free(&it);
}

/* C8: a note of an older build does not say which tables it delivers. */
static void
test_note_without_tables_is_of_no_others(PipelineFixture *fixture, gconstpointer data)
{
  mock_kafka_commit_note(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 0, "tidemark 1 closed span=7");
  AnsweredWatch it = answered_watch_new(fixture);
  g_auto(TideKafkaSeen) seen = tide_kafka_watch_seen(it.watch);
  g_assert_cmpuint(seen.other_tables, ==, 0);
  answered_watch_free(&it);
}

/* ---- questions without an answer ---- */

typedef struct Question {
  TideKafkaRequest request;
  rd_kafka_resp_err_t code;
  const char *kafka;
} Question;

/* C1: whatever the brokers answer, the partitions are asked about again, and read from where the group is. */
static void
test_partitions_are_asked_about_until_the_brokers_answer(PipelineFixture *fixture, gconstpointer data)
{
  const Question *question = data;
  produce(fixture, 10);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 4);
  mock_kafka_push_errors(fixture->kafka, question->request, question->code, 1000);
  RunningPipeline *running = start(fixture, question->kafka);
  running_pipeline_wait_not_ready(running, "is unknown: ");
  mock_kafka_clear_errors(fixture->kafka, question->request);
  pipeline_fixture_wait_all_committed(fixture);
  running_pipeline_wait_ready(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 6);
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_kafka_partitions_without_position"), ==, 0);
  running_pipeline_end(running);
}

/* C1: a stop does not wait for an answer, and leaves what is committed as it is. */
static void
test_stop_before_an_answer(PipelineFixture *fixture, gconstpointer data)
{
  produce(fixture, 10);
  mock_kafka_commit(fixture->kafka, FIXTURE_GROUP, FIXTURE_TOPIC, 0, 4);
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 1000);
  RunningPipeline *running = start(fixture, data);
  running_pipeline_wait_not_ready(running, "is unknown: ");
  running_pipeline_end(running);
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_OFFSET_FETCH);
  g_assert_cmpint(pipeline_fixture_committed(fixture, 0), ==, 4);
}

/* ---- groups that have started before ---- */

static RunningPipeline *
start_at_latest(PipelineFixture *fixture, const char *group)
{
  return running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1, .group = group, .kafka = ", start: latest"});
}

/* K4: the state directory knows that the group has started; that its offsets are gone makes no new group of it. */
static void
test_expired_offsets_do_not_begin_a_group(PipelineFixture *fixture, gconstpointer data)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-offsets-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(directory, "started-groups", NULL);
  g_setenv("STATE_DIRECTORY", directory, TRUE);
  produce(fixture, 7);
  RunningPipeline *running = start_at_latest(fixture, "first");
  running_pipeline_wait_metric(running, "tidemark_messages_never_read_total", 7);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0);
  /* Nothing is committed of the group "second", as of one whose offsets have expired. */
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
  GString *other = g_string_new(text);
  g_assert_cmpuint(g_string_replace(other, " first\n", " second\n", 0), ==, 1);
  g_assert_true(g_file_set_contents(file, other->str, -1, NULL));
  g_string_free(other, TRUE);
  running = start_at_latest(fixture, "second");
  g_assert_true(
      mock_kafka_wait_committed(fixture->kafka, "second", FIXTURE_TOPIC, 0, 7, pipeline_fixture_deadline_us()));
  g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_never_read_total"), ==, 0);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 7);
  g_unsetenv("STATE_DIRECTORY");
  g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
  for (const char *name; (name = g_dir_read_name(files)) != NULL;) {
    g_autofree char *path = g_build_filename(directory, name, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
  }
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

/* A member of @group has committed where it began, @ago_ms ago, in a partition without messages. */
static void
commit_beginning(PipelineFixture *fixture, const char *group, gint64 ago_ms)
{
  TideCommitNote note = {.span_messages = 1, .start_ms = tide_wall_clock_epoch_ms() - ago_ms};
  g_autofree char *text = tide_commit_note_format(&note);
  mock_kafka_commit_note(fixture->kafka, group, FIXTURE_TOPIC, 1, 0, text);
}

/* K4: what other members of a group that begins have committed just now makes no old group of it, whose offsets were
 * lost; what they committed an hour ago does. */
static void
test_first_notes_make_no_old_group(PipelineFixture *fixture, gconstpointer data)
{
  produce(fixture, 7);
  commit_beginning(fixture, "begins", 1000);
  commit_beginning(fixture, "began", 3600 * 1000);
  const char *const groups[] = {"begins", "began"};
  for (gsize i = 0; i < G_N_ELEMENTS(groups); i++) {
    RunningPipeline *running = start_at_latest(fixture, groups[i]);
    g_assert_true(
        mock_kafka_wait_committed(fixture->kafka, groups[i], FIXTURE_TOPIC, 0, 7, pipeline_fixture_deadline_us()));
    g_assert_cmpuint(running_pipeline_sum(running, "tidemark_messages_never_read_total"), ==, i == 0 ? 7 : 0);
    running_pipeline_end(running);
    g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, i == 0 ? 0 : 7);
  }
}

/* ---- members with other tables ---- */

static RunningPipeline *
start_with_history_alone(PipelineFixture *fixture)
{
  return running_pipeline_start_with(
      fixture, &(RunningPipelineOptions){.gateways = 1,
                                         .options = "tables:\n"
                                                    "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], "
                                                    "columns: { family: M, from: \"*\" } }\n"});
}

/* C8: what a member wrote whose configuration lacks a table is not written to that one, and whoever comes next says so
 * for the range; it says nothing of what it wrote itself. */
static void
test_partition_of_other_tables_is_told(PipelineFixture *fixture, gconstpointer kafka)
{
  produce(fixture, 10);
  RunningPipeline *running = start_with_history_alone(fixture);
  pipeline_fixture_finish(fixture, running);
  for (guint turn = 0; turn < 2; turn++) {
    LogCapture *capture = log_capture_start();
    running = start(fixture, kafka);
    produce(fixture, 10);
    pipeline_fixture_wait_all_committed(fixture);
    g_autofree char *lines = log_capture_end(capture);
    guint64 n = running_pipeline_sum(running, "tidemark_kafka_table_mismatch_takeovers_total");
    g_assert_cmpuint(n, ==, turn == 0 ? 2 : 0);
    g_assert_cmpint(strstr(lines, "'metrics' partition 0 at 10 (0 to 9)") != NULL, ==, turn == 0);
    running_pipeline_end(running);
  }
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 30);
}

/* Two at a time: each has a partition, and none is taken over. */
static void
test_members_with_other_tables_are_counted(PipelineFixture *fixture, gconstpointer kafka)
{
  RunningPipeline *lacking = start_with_history_alone(fixture), *whole = start(fixture, kafka);
  running_pipeline_wait_metric(lacking, "tidemark_kafka_table_mismatch_partitions", 1);
  running_pipeline_wait_metric(whole, "tidemark_kafka_table_mismatch_partitions", 1);
  running_pipeline_end(lacking);
  running_pipeline_end(whole);
}

int
main(int argc, char **argv)
{
  static const Question questions[] = {
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, NULL},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, COOPERATIVE},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, NULL},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, COOPERATIVE},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_UNKNOWN, NULL},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, NULL},
      {TIDE_KAFKA_OFFSET_FETCH, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, COOPERATIVE},
      {TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, NULL},
      {TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_UNKNOWN, COOPERATIVE},
  };
  pipeline_fixture_init(&argc, &argv);
#define ADD(path, data, func) pipeline_fixture_add_with("/pipeline-offsets/" path, data, func)
  ADD("halt/K1-outlasts-the-process-and-the-growing-topic", ", on_lost_offsets: continue",
      test_halt_outlasts_the_process_and_the_growing_topic);
  ADD("halt/K1-outlasts-a-cooperative-process", COOPERATIVE, test_halt_outlasts_the_process_and_the_growing_topic);
  ADD("halt/K2-not-of-a-group-that-begins", NULL, test_group_that_begins_is_not_halted);
  ADD("halt/K2-not-of-a-cooperative-group-that-begins", COOPERATIVE, test_group_that_begins_is_not_halted);
  ADD("halt/C7-not-at-an-offset-that-is-not-found-for-a-moment", NULL, test_offset_that_is_not_found_for_a_moment);
  ADD("halt/C7-not-of-a-cooperative-member", COOPERATIVE, test_offset_that_is_not_found_for_a_moment);
  ADD("halt/K2-not-of-a-partition-that-is-new", NULL, test_new_partition_is_no_replaced_one);
  for (guint i = 0; i < G_N_ELEMENTS(questions); i++) {
    g_autofree char *path =
        g_strdup_printf("/pipeline-offsets/questions/C1-%d-%s%s", questions[i].request,
                        rd_kafka_err2name(questions[i].code), questions[i].kafka != NULL ? "-cooperative" : "");
    pipeline_fixture_add_with(path, &questions[i], test_partitions_are_asked_about_until_the_brokers_answer);
  }
  ADD("questions/C1-stop-before-an-answer", NULL, test_stop_before_an_answer);
  ADD("questions/C1-stop-of-a-cooperative-member", COOPERATIVE, test_stop_before_an_answer);
  ADD("begin/K4-first-notes-make-no-old-group", NULL, test_first_notes_make_no_old_group);
  ADD("tables/C8-partition-of-other-tables-is-told", NULL, test_partition_of_other_tables_is_told);
  ADD("tables/C8-note-without-tables-is-of-no-others", NULL, test_note_without_tables_is_of_no_others);
  ADD("tables/C8-members-with-other-tables-are-counted", NULL, test_members_with_other_tables_are_counted);
  ADD("begin/K4-expired-offsets-do-not-begin-a-group", NULL, test_expired_offsets_do_not_begin_a_group);
#undef ADD
  return g_test_run();
}
