/* What is committed and what is shown of it: notes, commits, the lag, the goal of a run to the end; and the topic of
 * dead letters. The time is the test's. */
#include "kafka/commit_note.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_goal.h"
#include "kafka/kafka_preflight.h"
#include "kafka/kafka_watch.h"
#include "unit/test_case.h"
#include "util/bytes.h"
#include "util/clock.h"

#include <string.h>

/* ---- notes of commits: read back as they were written; anybody else's text is none ---- */

static void
assert_same(const TideCommitNote *note)
{
  g_autofree char *text = tide_commit_note_format(note);
  TideCommitNote read;
  g_assert_true(tide_commit_note_parse(tide_bytes_of_string(text), &read));
  g_assert_cmpint(read.is_closed, ==, note->is_closed);
  g_assert_cmpint(read.until_ms, ==, note->until_ms);
  g_assert_cmpint(read.time_ms, ==, note->until_ms > 0 ? note->time_ms : 0);
  g_assert_cmpuint(read.span_messages, ==, note->span_messages);
  g_assert_cmpint(read.start_ms, ==, note->start_ms);
  g_assert_cmpint(read.halt.cause, ==, note->halt.cause);
  g_assert_cmpint(read.halt.offset, ==, note->halt.offset);
  g_assert_cmpuint(read.tables_mark, ==, note->tables_mark);
}

TEST("/commit-note/notes-are-read-back")
{
  for (guint i = 0; i < 1000; i++) {
    TideCommitNote note = {.is_closed = g_test_rand_int_range(0, 2) == 0,
                           .until_ms = g_test_rand_int_range(0, 2) == 0 ? 0 : g_test_rand_int_range(1, G_MAXINT32),
                           .time_ms = g_test_rand_int(),
                           .span_messages = (guint64)g_test_rand_int_range(0, G_MAXINT32),
                           .start_ms = g_test_rand_int_range(0, 2) == 0 ? 0 : g_test_rand_int_range(1, G_MAXINT32)};
    assert_same(&note);
  }
  g_autofree char *text =
      tide_commit_note_format(&(TideCommitNote){.until_ms = 1763700001000, .time_ms = -5, .span_messages = 1000000});
  g_assert_cmpstr(text, ==, "tidemark 1 running until=1763700001000 time=-5 span=1000000");
}

/* K1: builds before this one must read the note, too: they know no other words. */
TEST("/commit-note/K1-halts-are-read-back")
{
  for (int cause = TIDE_HALT_BEYOND_END; cause <= TIDE_HALT_MESSAGE; cause++)
    for (guint i = 0; i < 100; i++) {
      gint64 offset = i == 0 ? 0 : g_test_rand_int_range(0, G_MAXINT32) * (gint64)g_test_rand_int_range(1, 1000);
      assert_same(&(TideCommitNote){.is_closed = i % 2 == 0,
                                    .until_ms = i % 3 == 0 ? 1763700001000 : 0,
                                    .span_messages = i,
                                    .halt = {(TideHaltCause)cause, offset}});
    }
  g_autofree char *text = tide_commit_note_format(
      &(TideCommitNote){.is_closed = TRUE, .span_messages = 7, .halt = {TIDE_HALT_BEYOND_END, 1000}});
  g_assert_cmpstr(text, ==, "tidemark 1 closed span=7 start=-10001");
  TideCommitNote note;
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed span=7 start=-10009"), &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed span=7 start=-10006"), &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed span=7 start=-10"), &note));
}

/* C8: builds before this one take the last until for what is left in doubt, and one that is not positive for none. */
TEST("/commit-note/C8-tables-are-read-back")
{
  static const guint32 marks[] = {1, 0x12345678, G_MAXUINT32};
  for (guint i = 0; i < G_N_ELEMENTS(marks); i++)
    for (guint doubt = 0; doubt < 2; doubt++) {
      TideCommitNote note = {.tables_mark = marks[i], .until_ms = doubt * 1763700001000, .time_ms = doubt * 5};
      assert_same(&note);
      g_autofree char *text = tide_commit_note_format(&note);
      gint64 last = g_ascii_strtoll(g_strrstr(text, "until=") + strlen("until="), NULL, 10);
      g_assert_cmpint(MAX(last, 0), ==, note.until_ms);
    }
  g_autofree char *text = tide_commit_note_format(&(TideCommitNote){.tables_mark = 0x12345678, .span_messages = 7});
  g_assert_cmpstr(text, ==, "tidemark 1 running until=-305419896 span=7");
}

TEST("/commit-note/past-a-halt")
{
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_BEYOND_END, 1000}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_DELETED, 1}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_RECREATED, 1000}, 3), ==, 3);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_TAKEN, 1000}, 3), ==, 1000);
  g_assert_cmpint(tide_halt_past(&(TideHaltNote){TIDE_HALT_MESSAGE, 1000}, 990), ==, 1001);
}

TEST("/commit-note/other-texts-are-none")
{
  static const char *const texts[] = {"",
                                      "tidemark",
                                      "tidemark 1",
                                      "tidemark 1 ",
                                      "tidemark 2 closed span=1",
                                      "tidemark 1 shut span=1",
                                      "tidemark 1 span=1",
                                      "tidemark 1 closed closed",
                                      "tidemark 1 closed span=-1",
                                      "tidemark 1 closed span=",
                                      "tidemark 1 closed span=1x",
                                      "tidemark 1 closed span=99999999999999999999",
                                      "tidemark 1 closed more=1",
                                      "tidemark 1 closed  span=1",
                                      "tidemark start 1763700001000",
                                      "{\"offset\":7}"};
  TideCommitNote note;
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_assert_false(tide_commit_note_parse(tide_bytes_of_string(texts[i]), &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_EMPTY, &note));
  g_assert_false(tide_commit_note_parse(TIDE_BYTES_LITERAL("tidemark 1 closed\0span=1"), &note));
}

TEST("/commit-note/garbage-harms-nobody")
{
  TideCommitNote note;
  for (guint i = 0; i < 20000; i++) {
    char text[] = "tidemark 1 running until=1763700001000 time=5 span=1000000";
    for (guint n = 0; n < 3; n++)
      text[g_test_rand_int_range(0, sizeof text - 1)] = (char)g_test_rand_int_range(0, 256);
    (void)tide_commit_note_parse(tide_bytes(text, (gsize)g_test_rand_int_range(0, sizeof text)), &note);
  }
}

/* ---- what a commit's answer says, of every partition ---- */

static rd_kafka_topic_partition_list_t *
make_list(void)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
  tide_kafka_commit_add(list, "metrics", 0, 7, "one");
  tide_kafka_commit_add(list, "metrics", 1, 8, "another");
  return list;
}

TEST("/kafka-commit/note-stands-beside-the-offset")
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_assert_cmpint(list->elems[1].offset, ==, 8);
  g_assert_true(tide_bytes_equal(tide_bytes(list->elems[1].metadata, list->elems[1].metadata_size),
                                 TIDE_BYTES_LITERAL("another")));
  rd_kafka_topic_partition_list_destroy(list);
}

/* M14: an error of the second partition alone is seen. */
TEST("/kafka-commit/M14-error-of-any-partition-is-seen")
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_assert_null(tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_NO_ERROR, list));
  list->elems[1].err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_NO_ERROR, list);
  g_assert_cmpstr(problem, ==, "'metrics' partition 1: Broker: Topic authorization failed");
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_NO_ERROR, &list->elems[0]), ==,
                  RD_KAFKA_RESP_ERR_NO_ERROR);
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_NO_ERROR, &list->elems[1]), ==,
                  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  rd_kafka_topic_partition_list_destroy(list);
}

TEST("/kafka-commit/whole-that-failed-failed-for-each")
{
  rd_kafka_topic_partition_list_t *list = make_list();
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, list);
  g_assert_cmpstr(problem, ==, "Broker: Group rebalance in progress");
  g_assert_cmpint(tide_kafka_commit_result(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, &list->elems[1]), ==,
                  RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  g_autofree char *bare = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR__TIMED_OUT, NULL);
  g_assert_cmpstr(bare, ==, "Local: Timed out");
  rd_kafka_topic_partition_list_destroy(list);
}

/* librdkafka makes the last partition's error that of the whole: the first one is not to blame. */
TEST("/kafka-commit/C2-error-is-that-of-its-partition")
{
  rd_kafka_topic_partition_list_t *list = make_list();
  list->elems[1].err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  g_autofree char *problem = tide_kafka_commit_problem(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, list);
  g_assert_cmpstr(problem, ==, "'metrics' partition 1: Broker: Topic authorization failed");
  rd_kafka_topic_partition_list_destroy(list);
}

/* ---- the lag in seconds, and whether a log is still the same ---- */

#define NOW_MS 1000000

typedef struct Answer {
  TideConsumerPosition position;
  gint64 committed;
  gint64 end;
  gint64 now_ms;
  gint64 wanted_ms;
} Answer;

static void
assert_answers(const Answer *answers, gsize n)
{
  TideUnreadSince unread = {.since_ms = -1};
  for (gsize i = 0; i < n; i++) {
    const Answer *answer = &answers[i];
    gint64 oldest_ms = tide_lag_oldest_ms(&answer->position, answer->committed, answer->end, answer->now_ms, &unread);
    g_assert_cmpint(oldest_ms, ==, answer->wanted_ms);
  }
}

static const TideConsumerPosition nothing_read = {-1, -1, -1, -1, -1};

TEST("/kafka-watch/U2-backlog-of-which-nothing-is-read-has-no-age")
{
  const Answer answers[] = {{nothing_read, 50, 150, NOW_MS, -1},
                            {nothing_read, 50, 170, NOW_MS + 1000, -1},
                            {{60, -1, -1, 777, 779}, 50, 170, NOW_MS + 2000, 777}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

TEST("/kafka-watch/U2-nothing-is-behind")
{
  const Answer answers[] = {{nothing_read, 50, 50, NOW_MS, NOW_MS},
                            {{50, 50, -1, -1, 7}, 50, 50, NOW_MS + 5, NOW_MS + 5}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* A quiet partition gets a message that nobody reads yet: the last that was read is of no concern. */
TEST("/kafka-watch/U2-unread-messages-are-as-old-as-they-are-seen")
{
  const Answer answers[] = {{{50, 50, -1, -1, 7}, 50, 50, NOW_MS, NOW_MS},
                            {{50, 50, -1, -1, 7}, 50, 51, NOW_MS + 1000, NOW_MS + 1000},
                            {{50, 50, -1, -1, 7}, 50, 60, NOW_MS + 9000, NOW_MS + 1000},
                            /* What was seen then is read and written, later ones are not. */
                            {{55, 55, -1, -1, 8}, 55, 70, NOW_MS + 10000, NOW_MS + 10000},
                            {{70, 70, -1, -1, 9}, 70, 70, NOW_MS + 11000, NOW_MS + 11000}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* All is finished, and the commit does not come: the age is that of the first, whatever comes after it. */
TEST("/kafka-watch/K9-finished-messages-age-until-they-are-committed")
{
  const Answer answers[] = {{{60, 55, 777, 888, 999}, 50, 60, NOW_MS, 777},
                            {{60, 60, 777, -1, 999}, 50, 60, NOW_MS, 777},
                            {{60, 60, 777, -1, 999}, 60, 60, NOW_MS, NOW_MS}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* Behind the last message lie the markers of transactions. */
TEST("/kafka-watch/U2-marks-of-transactions-do-not-age")
{
  const Answer answers[] = {{{51, 50, -1, -1, 777}, 50, 51, NOW_MS, NOW_MS}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* An idle topic of transactions ends with a marker that is no message. */
TEST("/kafka-watch/K8-markers-are-no-messages")
{
  const TideConsumerPosition read_up = {51, 50, -1, -1, 777}, unread = {50, 50, -1, -1, 777};
  const TideConsumerPosition finished = {51, 50, 777, -1, 777};
  g_assert_cmpint(tide_lag_messages(&read_up, 0, 50, 51), ==, 0);
  g_assert_cmpint(tide_lag_messages(&read_up, 1, 50, 51), ==, 1);
  g_assert_cmpint(tide_lag_messages(&unread, 0, 50, 51), ==, 1);
  g_assert_cmpint(tide_lag_messages(&finished, 0, 40, 51), ==, 11);
  g_assert_cmpint(tide_lag_messages(&nothing_read, 0, 40, 51), ==, 11);
  g_assert_cmpint(tide_lag_messages(&read_up, 0, 52, 51), ==, 0);
}

/* Before the first answer the lag is unknown, not 0. */
TEST("/kafka-watch/lag-is-unknown-before-the-first-answer")
{
  const TideKafkaConfig config = {0};
  TideMetrics *metrics = tide_metrics_new();
  TideKafkaWatch *watch = tide_kafka_watch_new(&config, 0, metrics);
  TideWatchedPartition *watched = tide_kafka_watch_add(watch, "t", 0, NULL);
  g_assert_false(tide_kafka_watch_lag(watch).is_known);
  tide_kafka_watch_remove(watch, watched);
  tide_kafka_watch_free(watch);
  tide_metrics_free(metrics);
}

/* One look: the time to be witnessed next, and what the brokers answer. */
typedef struct Look {
  gint64 next_time_ms, next_offset, present_offset, end_offset;
} Look;

static gboolean
is_refuted(const Look *looks, gsize n)
{
  TideLogWitness witness = {0};
  for (gsize i = 0; i < n; i++) {
    witness.next_time_ms = looks[i].next_time_ms;
    tide_log_witness_take(&witness, looks[i].next_offset, looks[i].present_offset, looks[i].end_offset);
  }
  return witness.is_refuted;
}

/* A log that grows, whose messages have any times, and that loses what is oldest. */
TEST("/kafka-watch/K2-log-that-grows-is-the-same")
{
  const Look grows[] = {{500, -1, 0, 10}, {510, 12, 10, 15}, {490, 3, 12, 20}, {510, 12, 3, 20}, {600, -1, 12, 20}};
  const Look loses[] = {{500, 4, 0, 10}, {500, 8, 8, 10}, {500, -1, -1, 10}, {500, 10, 10, 11}};
  const Look was_empty[] = {{500, -1, 0, 0}, {500, 0, 0, 5}, {510, 3, 0, 5}};
  g_assert_false(is_refuted(grows, G_N_ELEMENTS(grows)));
  g_assert_false(is_refuted(loses, G_N_ELEMENTS(loses)));
  g_assert_false(is_refuted(was_empty, G_N_ELEMENTS(was_empty)));
}

/* It may be longer by now than the old one was, and looks afterwards find nothing amiss. */
TEST("/kafka-watch/K2-log-that-was-created-again-is-another")
{
  const Look at_rest[] = {{500, -1, 0, 1000}, {500, 0, 0, 1500}, {600, -1, 1000, 1500}};
  const Look flows[] = {{500, -1, 0, 1000}, {510, 1005, 1000, 1010}, {520, 1400, 0, 1500}};
  g_assert_true(is_refuted(at_rest, G_N_ELEMENTS(at_rest)));
  g_assert_true(is_refuted(flows, G_N_ELEMENTS(flows)));
}

/* A record's time may be unknown, or later than the clock: a witness of such a time would never be refuted. */
TEST("/kafka-watch/K2-witness-is-of-a-time-that-can-come")
{
  static const gint64 newest_ms[] = {-1, 0, 1, 998, 999, 1000, 5000},
                      expected_ms[] = {1000, 1000, 2, 999, 1000, 1000, 1000};
  for (gsize i = 0; i < G_N_ELEMENTS(newest_ms); i++) {
    TideLogWitness witness = {0};
    tide_log_witness_choose(&witness, newest_ms[i], 1000);
    g_assert_cmpint(witness.next_time_ms, ==, expected_ms[i]);
  }
}

/* For some seconds brokers may disagree, as after a change of leader: what is as long again in time is no other log. */
TEST("/kafka-watch/K2-log-that-stays-shorter-is-another")
{
  static const struct {
    gint64 end_offset, at_s;
    gboolean is_replaced;
  } looks[] = {{100, 1, FALSE},  {90, 2, FALSE},   {95, 6, FALSE},   {100, 7, FALSE}, {99, 11, FALSE},
               {120, 12, FALSE}, {119, 20, FALSE}, {119, 24, FALSE}, {119, 25, TRUE}, {0, 26, TRUE}};
  TideLogLength length = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(looks); i++)
    g_assert_cmpint(tide_log_length_take(&length, looks[i].end_offset, looks[i].at_s * TIDE_US_PER_S), ==,
                    looks[i].is_replaced);
}

/* ---- when a run to the end is at its end ---- */

#define START_US (1000 * TIDE_US_PER_S)
#define PATIENCE_US (60 * TIDE_US_PER_S)

#define OURS TIDE_GOAL_OURS
#define HALTED TIDE_GOAL_OURS_HALTED
#define OTHERS TIDE_GOAL_OF_OTHERS
#define UNLOCATED TIDE_GOAL_UNLOCATED

/* Three partitions, which end at 10, 20 and 30. */
typedef struct GoalFixture {
  TideGoalRule rule;
  char *text; /* owned: of the last judgement */
} GoalFixture;

static void
set_up(GoalFixture *fixture, gconstpointer data)
{
  tide_goal_rule_init(&fixture->rule, PATIENCE_US, START_US);
  tide_goal_rule_add(&fixture->rule, "a", 0, 10);
  tide_goal_rule_add(&fixture->rule, "a", 1, 20);
  tide_goal_rule_add(&fixture->rule, "b", 0, 30);
}

static void
tear_down(GoalFixture *fixture, gconstpointer data)
{
  tide_goal_rule_clear(&fixture->rule);
  g_free(fixture->text);
}

static void
note_part(GoalFixture *fixture, guint i, gint64 committed, TideGoalOwner owner, gint64 at_s)
{
  tide_goal_rule_note(&fixture->rule, i, committed, owner, START_US + at_s * TIDE_US_PER_S);
}

static TideGoalState
judge(GoalFixture *fixture, gint64 at_s)
{
  g_clear_pointer(&fixture->text, g_free);
  return tide_goal_rule_judge(&fixture->rule, "g", START_US + at_s * TIDE_US_PER_S, &fixture->text);
}

#define FIXTURE_TEST(path) TEST_WITH(GoalFixture, set_up, tear_down, path)

FIXTURE_TEST("/kafka-goal/all-must-be-committed")
{
  g_assert_cmpint(judge(fixture, 0), ==, TIDE_GOAL_AHEAD);
  note_part(fixture, 0, 10, OURS, 1);
  note_part(fixture, 1, 20, OTHERS, 1);
  note_part(fixture, 2, 29, OTHERS, 1);
  g_assert_cmpint(judge(fixture, 1), ==, TIDE_GOAL_AHEAD);
  note_part(fixture, 2, 31, OTHERS, 2); /* more came since */
  g_assert_cmpint(judge(fixture, 2), ==, TIDE_GOAL_REACHED);
  g_assert_null(fixture->text);
}

FIXTURE_TEST("/kafka-goal/halted-ones-count-if-they-are-ours")
{
  note_part(fixture, 0, 10, OURS, 1);
  note_part(fixture, 1, 20, OURS, 1);
  note_part(fixture, 2, 5, HALTED, 1);
  g_assert_cmpint(judge(fixture, 1), ==, TIDE_GOAL_HALTED);
  note_part(fixture, 2, 5, OTHERS, 2); /* another member has it now, and may read it */
  g_assert_cmpint(judge(fixture, 2), ==, TIDE_GOAL_AHEAD);
  note_part(fixture, 2, 30, HALTED, 3); /* behind the end of the start */
  g_assert_cmpint(judge(fixture, 3), ==, TIDE_GOAL_REACHED);
}

/* What this process has is not bounded by the group: HBase may be down for as long as it is. That nothing moves is
 * told.
 */
FIXTURE_TEST("/kafka-goal/ours-are-waited-for")
{
  for (gint64 at_s = 0; at_s < 1000; at_s++) {
    note_part(fixture, 0, 5, OURS, at_s);
    note_part(fixture, 1, -1, OTHERS, at_s);
    note_part(fixture, 2, 5, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s), ==, TIDE_GOAL_AHEAD);
    if (at_s < 30)
      g_assert_null(fixture->text);
  }
  g_assert_cmpstr(
      fixture->text, ==,
      "1 of 3 partitions with messages are read by this run, but their committed offsets have not moved for "
      "999 s: 'a' 0 at 5 of 10");
  note_part(fixture, 0, 5, OTHERS, 1000); /* taken away: who has it now gets as long as anybody */
  g_assert_cmpint(judge(fixture, 1058), ==, TIDE_GOAL_AHEAD);
  g_assert_cmpint(judge(fixture, 1059), ==, TIDE_GOAL_MISSED);
}

/* What this process has finished is no progress of what others have. */
FIXTURE_TEST("/kafka-goal/finished-ones-make-nobody-wait")
{
  note_part(fixture, 2, 30, OTHERS, 0);
  for (gint64 at_s = 0; at_s <= 60; at_s++) {
    note_part(fixture, 0, 10, OURS, at_s);
    note_part(fixture, 1, 5, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s), ==, at_s < 60 ? TIDE_GOAL_AHEAD : TIDE_GOAL_MISSED);
  }
}

FIXTURE_TEST("/kafka-goal/others-are-waited-for-while-they-move")
{
  note_part(fixture, 0, 10, OURS, 0);
  note_part(fixture, 1, 20, OURS, 0);
  for (gint64 at_s = 0; at_s < 900; at_s += 59) {
    note_part(fixture, 2, at_s / 59, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s + 58), ==, TIDE_GOAL_AHEAD);
    g_assert_nonnull(strstr(fixture->text, "1 of 3 partitions with messages are not assigned to this run, and their "
                                           "committed offsets have not moved for 58 s: 'b' 0 at "));
    g_assert_nonnull(strstr(fixture->text, "a killed member counts until its kafka.session_timeout is over"));
  }
}

FIXTURE_TEST("/kafka-goal/others-that-do-not-move-are-named")
{
  note_part(fixture, 0, 10, OURS, 0);
  note_part(fixture, 1, -1, OTHERS, 0);
  note_part(fixture, 2, 7, OTHERS, 0);
  g_assert_cmpint(judge(fixture, 4), ==, TIDE_GOAL_AHEAD);
  g_assert_null(fixture->text); /* as in every rebalance */
  g_assert_cmpint(judge(fixture, 59), ==, TIDE_GOAL_AHEAD);
  g_assert_cmpint(judge(fixture, 60), ==, TIDE_GOAL_MISSED);
  g_assert_cmpstr(fixture->text, ==,
                  "2 of 3 partitions with messages are not assigned to this run, and their committed offsets have not "
                  "moved for 60 s: 'a' 1 at 0 of 20, 'b' 0 at 7 of 30; another member of the group 'g' has them, or a "
                  "rebalance has not ended ('kafka-consumer-groups --describe --members --group g' shows the members); "
                  "run again once they are gone");
  note_part(fixture, 1, -1, OURS, 61); /* the dead member's session is over */
  g_assert_cmpint(judge(fixture, 61), ==, TIDE_GOAL_AHEAD);
}

/* C1: what is ours and cannot be read is bounded like what others have, but not while something else of ours is read.
 */
FIXTURE_TEST("/kafka-goal/C21-unlocated-ones-are-named")
{
  for (gint64 at_s = 0; at_s < 100; at_s++) {
    note_part(fixture, 0, 5, OURS, at_s);
    note_part(fixture, 1, -1, UNLOCATED, at_s);
    note_part(fixture, 2, 7, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s), ==, TIDE_GOAL_AHEAD);
  }
  note_part(fixture, 0, 10, OURS, 100);
  g_assert_cmpint(judge(fixture, 159), ==, TIDE_GOAL_AHEAD);
  g_assert_true(g_str_has_suffix(fixture->text, "the log shows the brokers' answers; retrying"));
  note_part(fixture, 1, -1, UNLOCATED, 160);
  g_assert_cmpint(judge(fixture, 160), ==, TIDE_GOAL_MISSED);
  g_assert_nonnull(strstr(fixture->text, "1 of 3 partitions with messages are not assigned to this run, and their "));
  g_assert_true(g_str_has_suffix(
      fixture->text,
      "; 1 of 3 partitions with messages are assigned to this run, and for 60 s the brokers have not reported their "
      "start offsets: 'a' 1 at 0 of 20; 'kafka-topics --describe --unavailable-partitions' shows those without a "
      "leader, "
      "and the log shows the brokers' answers; run again once the brokers answer"));
  note_part(fixture, 1, -1, OURS, 161); /* they did */
  g_assert_cmpint(judge(fixture, 161), ==, TIDE_GOAL_AHEAD);
}

FIXTURE_TEST("/kafka-goal/few-are-named")
{
  for (gint32 i = 2; i < 12; i++)
    tide_goal_rule_add(&fixture->rule, "a", i, 1);
  g_assert_cmpint(judge(fixture, 60), ==, TIDE_GOAL_MISSED);
  g_assert_nonnull(strstr(fixture->text, "'a' 8 at 0 of 1 and 3 more; another"));
}

TEST("/kafka-goal/nothing-to-read-is-the-end")
{
  TideGoalRule rule;
  char *text;
  tide_goal_rule_init(&rule, PATIENCE_US, START_US);
  g_assert_cmpint(tide_goal_rule_judge(&rule, "g", START_US, &text), ==, TIDE_GOAL_REACHED);
  tide_goal_rule_clear(&rule);
}

/* ---- whether a topic is fit for dead letters ---- */

#define DAY_MS (G_GINT64_CONSTANT(24) * 3600 * 1000)

typedef struct TopicCase {
  const char *name;
  TideTopicSettings dead_letters;
  gint64 read_bytes; /* max.message.bytes of the topic that is read; 0: not known */
  const char *says;  /* NULL: nothing */
  gboolean is_problem;
} TopicCase;

static const TopicCase cases[] = {
    {"fit", {"letters", TRUE, 2000000, 7 * DAY_MS, FALSE}, 1048588, NULL, FALSE},
    {"for-ever", {"letters", TRUE, 2000000, -1, FALSE}, 1048588, NULL, FALSE},
    {"not-known", {"letters", FALSE, 0, 0, TRUE}, 1048588, NULL, FALSE},
    {"topics-not-known", {"letters", TRUE, 1, -1, FALSE}, 0, NULL, FALSE},
    {"no-room-for-headers", {"letters", TRUE, 1048588, -1, FALSE}, 1048588, "set max.message.bytes to 1114124", FALSE},
    {"smaller", {"letters", TRUE, 1000, -1, FALSE}, 1048588, "'metrics' has some of up to 1048588", TRUE},
    {"compacted", {"letters", TRUE, 2000000, -1, TRUE}, 1048588, "cleanup.policy=delete", TRUE},
    {"gone-soon", {"letters", TRUE, 2000000, 3600000, FALSE}, 1048588, "deleted after 60 minutes", FALSE},
};

TEST_EACH("/dead-letter-topic/U5-", cases)
{
  const TopicCase *it = data;
  TideTopicSettings read = {"metrics", it->read_bytes > 0, it->read_bytes, -1, FALSE};
  gboolean is_problem;
  g_autofree char *text = tide_dead_letter_topic_judge(&it->dead_letters, &read, 1, &is_problem);
  if (it->says == NULL)
    g_assert_cmpstr(text, ==, NULL);
  else
    g_assert_nonnull(strstr(text, it->says));
  g_assert_cmpint(is_problem, ==, it->is_problem);
}
