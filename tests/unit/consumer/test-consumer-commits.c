/* What is committed of a consumer's partitions, and when: with an input that only notes what it is asked. */
#include "consumer/consumer_commits.h"

#include "unit/bare_consumer.h"
#include "unit/fake_input.h"

static const char config_text[] =
    "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"
    "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
    "tables:\n"
    "  DATA: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n";

#define N_PARTITIONS 2

typedef struct Fixture {
  BareConsumer bare;
  TideInput *input;
  TideConsumerCommits commits;
} Fixture;

static void
on_committed(guint32 slot, gint64 offset, gboolean good, gpointer data)
{
  Fixture *fixture = data;
  tide_consumer_commits_answered(&fixture->commits, bare_consumer_partition(&fixture->bare, slot), offset, good);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  BareConsumer *bare = &fixture->bare;
  TideInputHandlers handlers = {.committed = on_committed, .data = fixture};
  bare_consumer_set_up(bare, config_text, N_PARTITIONS);
  fixture->input = fake_input_open(0, &handlers, NULL, NULL);
  TideConsumerCommitsContext context = {.config = bare->flow.config,
                                        .input = fixture->input,
                                        .partitions = bare->partitions.list,
                                        .accumulator = bare->accumulator,
                                        .metrics = bare->flow.metrics};
  tide_consumer_commits_init(&fixture->commits, &context);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_input_free(fixture->input);
  bare_consumer_tear_down(&fixture->bare);
}

/* What was asked of the input since the last time. */
#define ASSERT_ASKED(fixture, wanted)                                                                                  \
  do {                                                                                                                 \
    g_assert_cmpstr(fake_input_of((fixture)->input)->asked->str, ==, wanted);                                          \
    g_string_truncate(fake_input_of((fixture)->input)->asked, 0);                                                      \
  } while (0)

/* Partition @slot begins at @offset, of which nothing was committed. */
static void
take_over(Fixture *fixture, guint32 slot, gint64 offset)
{
  TideInputLog log = {.wanted_offset = -1, .committed_offset = -1, .begin_offset = offset, .end_offset = offset};
  tide_consumer_commits_take_over(&fixture->commits, bare_consumer_partition(&fixture->bare, slot), &log, NULL, offset);
}

/* A message of @slot is finished at once. */
static void
finish_message(Fixture *fixture, guint32 slot, gint64 offset)
{
  tide_partition_skip(bare_consumer_partition(&fixture->bare, slot), &fixture->bare.flow.budget,
                      &(TideMessage){.offset = offset}, TIDE_REJECT_PARSE);
  fixture->commits.marks_moved = TRUE;
}

static void
test_what_is_new_is_committed_before_it_is_read(Fixture *fixture, gconstpointer data)
{
  take_over(fixture, 1, 5);
  tide_consumer_commits_open(&fixture->commits, (const guint32[]){0, 1}, 2);
  ASSERT_ASKED(fixture, "commit 1 5, ");
  tide_consumer_commits_open(&fixture->commits, (const guint32[]){0, 1}, 2);
  ASSERT_ASKED(fixture, "");
}

static void
test_only_moved_marks_are_stored(Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), ==, G_MAXINT64);
  finish_message(fixture, 0, 5);
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), <=, tide_now_us());
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), ==, G_MAXINT64);
  finish_message(fixture, 1, 8);
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), ==,
                  fixture->commits.stored_us + 50 * TIDE_US_PER_MS);
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 1 9, ");
}

static void
test_refused_mark_is_stored_again(Fixture *fixture, gconstpointer data)
{
  finish_message(fixture, 0, 5);
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  on_committed(0, 6, FALSE, fixture);
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), <, G_MAXINT64);
  g_assert_false(tide_consumer_commits_are_done(&fixture->commits, (const guint32[]){0}, 1));
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  on_committed(0, 6, TRUE, fixture);
  g_assert_true(tide_consumer_commits_are_done(&fixture->commits, (const guint32[]){0}, 1));
}

/* No message and no batch may come any more that would have it looked at. */
static void
test_mark_that_is_not_taken_is_stored_again(Fixture *fixture, gconstpointer data)
{
  finish_message(fixture, 0, 5);
  fake_input_of(fixture->input)->refuses_marks = TRUE;
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), <, G_MAXINT64);
  fake_input_of(fixture->input)->refuses_marks = FALSE;
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), ==, G_MAXINT64);
}

/* A commit with a note takes its turn; the marks of others need not wait for it. */
static void
test_notes_go_no_oftener_than_commits(Fixture *fixture, gconstpointer data)
{
  take_over(fixture, 0, 5);
  fixture->commits.noted_us = tide_now_us() + 3600 * TIDE_US_PER_S;
  finish_message(fixture, 1, 8);
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "store 1 9, ");
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), <, G_MAXINT64);
  fixture->commits.noted_us = 0;
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  g_assert_cmpint(fixture->commits.noted_us, >, 0);
}

static void
test_partition_is_left_once(Fixture *fixture, gconstpointer data)
{
  take_over(fixture, 0, 5);
  g_assert_true(tide_consumer_commits_close(&fixture->commits, (const guint32[]){0}, 1, 0));
  ASSERT_ASKED(fixture, "commit 0 5, ");
  g_assert_true(tide_consumer_commits_close(&fixture->commits, (const guint32[]){0}, 1, 0));
  ASSERT_ASKED(fixture, "");
  finish_message(fixture, 0, 5);
  g_assert_true(tide_consumer_commits_close(&fixture->commits, (const guint32[]){0}, 1, 0));
  ASSERT_ASKED(fixture, "commit 0 6, ");
  tide_partition_release(bare_consumer_partition(&fixture->bare, 0), &fixture->bare.flow.budget);
  g_assert_true(tide_consumer_commits_close(&fixture->commits, (const guint32[]){0}, 1, 0));
  ASSERT_ASKED(fixture, "");
}

/* The owner before us has closed, and the brokers refuse to be told that we have it. A message is sent all the same,
 * and is on its way as the partition is given up: the next owner must not believe that nothing is. */
static void
test_A1_what_was_closed_before_us_is_not_left_as_closed(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = bare_consumer_partition(&fixture->bare, 0);
  const TideMapped one_row = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  const TideCommitNote closed = {.is_closed = TRUE, .span_messages = 1000, .tables_mark = fixture->commits.tables_mark};
  TideInputLog log = {.wanted_offset = -1, .committed_offset = 5, .begin_offset = 0, .end_offset = 9};
  tide_consumer_commits_take_over(&fixture->commits, partition, &log, &closed, 5);
  fake_input_of(fixture->input)->refuses_commits = TRUE;
  tide_consumer_commits_open(&fixture->commits, &(const guint32){0}, 1);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  fake_input_of(fixture->input)->refuses_commits = FALSE;
  (void)tide_partition_begin(partition, &fixture->bare.flow.budget, 5, &one_row, FALSE);
  g_assert_true(tide_consumer_commits_close(&fixture->commits, &(const guint32){0}, 1, 0));
  ASSERT_ASKED(fixture, "commit 0 5, ");
  g_assert_false(partition->commit.is_closed);
}

#define ADD(path, func) g_test_add("/consumer-commits/" path, Fixture, NULL, set_up, func, tear_down)

/* Kafka before 2.1 forgets what was not committed for a day, though the group has members: the watch would take that
 * for a topic that was recreated. */
static void
test_quiet_partitions_are_committed_again(Fixture *fixture, gconstpointer options)
{
  const gint64 hour_us = 3600 * TIDE_US_PER_S;
  tide_partition_release(bare_consumer_partition(&fixture->bare, 1), &fixture->bare.flow.budget);
  take_over(fixture, 0, 5);
  tide_consumer_commits_open(&fixture->commits, &(const guint32){0}, 1);
  tide_partition_commit_answered(bare_consumer_partition(&fixture->bare, 0), 5, TRUE);
  g_string_truncate(fake_input_of(fixture->input)->asked, 0);
  gint64 now_us = tide_now_us();
  for (gint64 at_us = now_us; at_us < now_us + hour_us; at_us += hour_us / 4)
    tide_consumer_commits_renew(&fixture->commits, at_us);
  g_assert_false(fixture->commits.marks_moved);
  tide_consumer_commits_renew(&fixture->commits, now_us + hour_us);
  g_assert_cmpint(tide_consumer_commits_due_us(&fixture->commits), <, G_MAXINT64);
  tide_consumer_commits_store_marks(&fixture->commits);
  ASSERT_ASKED(fixture, "commit 0 5, ");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("what-is-new-is-committed-before-it-is-read", test_what_is_new_is_committed_before_it_is_read);
  ADD("only-moved-marks-are-stored", test_only_moved_marks_are_stored);
  ADD("refused-mark-is-stored-again", test_refused_mark_is_stored_again);
  ADD("mark-that-is-not-taken-is-stored-again", test_mark_that_is_not_taken_is_stored_again);
  ADD("notes-go-no-oftener-than-commits", test_notes_go_no_oftener_than_commits);
  ADD("partition-is-left-once", test_partition_is_left_once);
  ADD("K2-quiet-partitions-are-committed-again", test_quiet_partitions_are_committed_again);
  ADD("A1-what-was-closed-before-us-is-not-left-as-closed", test_A1_what_was_closed_before_us_is_not_left_as_closed);
  return g_test_run();
}
