/* The lag in seconds: how old the oldest message is that is not committed, by what the consumer and the broker say. */
#include "kafka/kafka_start.h"
#include "kafka/kafka_watch.h"

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

static void
test_backlog_of_which_nothing_is_read_has_no_age(void)
{
  const Answer answers[] = {{nothing_read, 50, 150, NOW_MS, -1},
                            {nothing_read, 50, 170, NOW_MS + 1000, -1},
                            {{60, -1, -1, 777, 779}, 50, 170, NOW_MS + 2000, 777}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

static void
test_nothing_is_behind(void)
{
  const Answer answers[] = {{nothing_read, 50, 50, NOW_MS, NOW_MS},
                            {{50, 50, -1, -1, 7}, 50, 50, NOW_MS + 5, NOW_MS + 5}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* A quiet partition gets a message that nobody reads yet: the last that was read is of no concern. */
static void
test_unread_messages_are_as_old_as_they_are_seen(void)
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
static void
test_finished_messages_age_until_they_are_committed(void)
{
  const Answer answers[] = {{{60, 55, 777, 888, 999}, 50, 60, NOW_MS, 777},
                            {{60, 60, 777, -1, 999}, 50, 60, NOW_MS, 777},
                            {{60, 60, 777, -1, 999}, 60, 60, NOW_MS, NOW_MS}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* Behind the last message lie the markers of transactions. */
static void
test_marks_of_transactions_do_not_age(void)
{
  const Answer answers[] = {{{51, 50, -1, -1, 777}, 50, 51, NOW_MS, NOW_MS}};
  assert_answers(answers, G_N_ELEMENTS(answers));
}

/* An idle topic of transactions ends with a marker that is no message. */
static void
test_markers_are_no_messages(void)
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
static void
test_log_that_grows_is_the_same(void)
{
  const Look grows[] = {{500, -1, 0, 10}, {510, 12, 10, 15}, {490, 3, 12, 20}, {510, 12, 3, 20}, {600, -1, 12, 20}};
  const Look loses[] = {{500, 4, 0, 10}, {500, 8, 8, 10}, {500, -1, -1, 10}, {500, 10, 10, 11}};
  const Look was_empty[] = {{500, -1, 0, 0}, {500, 0, 0, 5}, {510, 3, 0, 5}};
  g_assert_false(is_refuted(grows, G_N_ELEMENTS(grows)));
  g_assert_false(is_refuted(loses, G_N_ELEMENTS(loses)));
  g_assert_false(is_refuted(was_empty, G_N_ELEMENTS(was_empty)));
}

/* It may be longer by now than the old one was, and looks afterwards find nothing amiss. */
static void
test_log_that_was_created_again_is_another(void)
{
  const Look at_rest[] = {{500, -1, 0, 1000}, {500, 0, 0, 1500}, {600, -1, 1000, 1500}};
  const Look flows[] = {{500, -1, 0, 1000}, {510, 1005, 1000, 1010}, {520, 1400, 0, 1500}};
  g_assert_true(is_refuted(at_rest, G_N_ELEMENTS(at_rest)));
  g_assert_true(is_refuted(flows, G_N_ELEMENTS(flows)));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kafka-watch/U2-backlog-of-which-nothing-is-read-has-no-age",
                  test_backlog_of_which_nothing_is_read_has_no_age);
  g_test_add_func("/kafka-watch/U2-nothing-is-behind", test_nothing_is_behind);
  g_test_add_func("/kafka-watch/U2-unread-messages-are-as-old-as-they-are-seen",
                  test_unread_messages_are_as_old_as_they_are_seen);
  g_test_add_func("/kafka-watch/K9-finished-messages-age-until-they-are-committed",
                  test_finished_messages_age_until_they_are_committed);
  g_test_add_func("/kafka-watch/U2-marks-of-transactions-do-not-age", test_marks_of_transactions_do_not_age);
  g_test_add_func("/kafka-watch/K8-markers-are-no-messages", test_markers_are_no_messages);
  g_test_add_func("/kafka-watch/K2-log-that-grows-is-the-same", test_log_that_grows_is_the_same);
  g_test_add_func("/kafka-watch/K2-log-that-was-created-again-is-another", test_log_that_was_created_again_is_another);
  return g_test_run();
}
