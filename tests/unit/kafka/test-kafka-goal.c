/* When a run to the end is at its end, by what is committed of each partition and by who has it; the time is the
 * test's.
 */
#include "kafka/kafka_goal.h"
#include "util/clock.h"

#include <string.h>

#define START_US (1000 * TIDE_US_PER_S)
#define PATIENCE_US (60 * TIDE_US_PER_S)

#define OURS TIDE_GOAL_OURS
#define HALTED TIDE_GOAL_OURS_HALTED
#define OTHERS TIDE_GOAL_OF_OTHERS
#define UNLOCATED TIDE_GOAL_UNLOCATED

/* Three partitions, which end at 10, 20 and 30. */
typedef struct Fixture {
  TideGoalRule rule;
  char *text; /* owned: of the last judgement */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  tide_goal_rule_init(&fixture->rule, PATIENCE_US, START_US);
  tide_goal_rule_add(&fixture->rule, "a", 0, 10);
  tide_goal_rule_add(&fixture->rule, "a", 1, 20);
  tide_goal_rule_add(&fixture->rule, "b", 0, 30);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_goal_rule_clear(&fixture->rule);
  g_free(fixture->text);
}

static void
note(Fixture *fixture, guint i, gint64 committed, TideGoalOwner owner, gint64 at_s)
{
  tide_goal_rule_note(&fixture->rule, i, committed, owner, START_US + at_s * TIDE_US_PER_S);
}

static TideGoalState
judge(Fixture *fixture, gint64 at_s)
{
  g_clear_pointer(&fixture->text, g_free);
  return tide_goal_rule_judge(&fixture->rule, "g", START_US + at_s * TIDE_US_PER_S, &fixture->text);
}

static void
test_all_must_be_committed(Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint(judge(fixture, 0), ==, TIDE_GOAL_AHEAD);
  note(fixture, 0, 10, OURS, 1);
  note(fixture, 1, 20, OTHERS, 1);
  note(fixture, 2, 29, OTHERS, 1);
  g_assert_cmpint(judge(fixture, 1), ==, TIDE_GOAL_AHEAD);
  note(fixture, 2, 31, OTHERS, 2); /* more came since */
  g_assert_cmpint(judge(fixture, 2), ==, TIDE_GOAL_REACHED);
  g_assert_null(fixture->text);
}

static void
test_halted_ones_count_if_they_are_ours(Fixture *fixture, gconstpointer data)
{
  note(fixture, 0, 10, OURS, 1);
  note(fixture, 1, 20, OURS, 1);
  note(fixture, 2, 5, HALTED, 1);
  g_assert_cmpint(judge(fixture, 1), ==, TIDE_GOAL_HALTED);
  note(fixture, 2, 5, OTHERS, 2); /* another member has it now, and may read it */
  g_assert_cmpint(judge(fixture, 2), ==, TIDE_GOAL_AHEAD);
  note(fixture, 2, 30, HALTED, 3); /* behind the end of the start */
  g_assert_cmpint(judge(fixture, 3), ==, TIDE_GOAL_REACHED);
}

/* What this process has is not bounded by the group: HBase may be down for as long as it is. That nothing moves is
 * told.
 */
static void
test_ours_are_waited_for(Fixture *fixture, gconstpointer data)
{
  for (gint64 at_s = 0; at_s < 1000; at_s++) {
    note(fixture, 0, 5, OURS, at_s);
    note(fixture, 1, -1, OTHERS, at_s);
    note(fixture, 2, 5, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s), ==, TIDE_GOAL_AHEAD);
    if (at_s < 30)
      g_assert_null(fixture->text);
  }
  g_assert_cmpstr(fixture->text, ==,
                  "1 of 3 partitions with messages are read by this run, and for 999 s nothing more of them could be "
                  "committed: 'a' 0 at 5 of 10");
  note(fixture, 0, 5, OTHERS, 1000); /* taken away: who has it now gets as long as anybody */
  g_assert_cmpint(judge(fixture, 1058), ==, TIDE_GOAL_AHEAD);
  g_assert_cmpint(judge(fixture, 1059), ==, TIDE_GOAL_MISSED);
}

static void
test_others_are_waited_for_while_they_move(Fixture *fixture, gconstpointer data)
{
  note(fixture, 0, 10, OURS, 0);
  note(fixture, 1, 20, OURS, 0);
  for (gint64 at_s = 0; at_s < 900; at_s += 59) {
    note(fixture, 2, at_s / 59, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s + 58), ==, TIDE_GOAL_AHEAD);
    g_assert_nonnull(strstr(fixture->text, "1 of 3 partitions with messages are not assigned to this run, and their "
                                           "committed offsets have not moved for 58 s: 'b' 0 at "));
    g_assert_nonnull(strstr(fixture->text, "a killed member counts until its kafka.session_timeout is over"));
  }
}

static void
test_others_that_do_not_move_are_named(Fixture *fixture, gconstpointer data)
{
  note(fixture, 0, 10, OURS, 0);
  note(fixture, 1, -1, OTHERS, 0);
  note(fixture, 2, 7, OTHERS, 0);
  g_assert_cmpint(judge(fixture, 4), ==, TIDE_GOAL_AHEAD);
  g_assert_null(fixture->text); /* as in every rebalance */
  g_assert_cmpint(judge(fixture, 59), ==, TIDE_GOAL_AHEAD);
  g_assert_cmpint(judge(fixture, 60), ==, TIDE_GOAL_MISSED);
  g_assert_cmpstr(fixture->text, ==,
                  "2 of 3 partitions with messages are not assigned to this run, and their committed offsets have not "
                  "moved for 60 s: 'a' 1 at 0 of 20, 'b' 0 at 7 of 30; another member of the group 'g' has them, or a "
                  "rebalance has not ended ('kafka-consumer-groups --describe --members --group g' shows the members); "
                  "run again once they are gone");
  note(fixture, 1, -1, OURS, 61); /* the dead member's session is over */
  g_assert_cmpint(judge(fixture, 61), ==, TIDE_GOAL_AHEAD);
}

/* C1: what is ours and cannot be read is bounded like what others have, but not while something else of ours is read.
 */
static void
test_unlocated_ones_are_named(Fixture *fixture, gconstpointer data)
{
  for (gint64 at_s = 0; at_s < 100; at_s++) {
    note(fixture, 0, 5, OURS, at_s);
    note(fixture, 1, -1, UNLOCATED, at_s);
    note(fixture, 2, 7, OTHERS, at_s);
    g_assert_cmpint(judge(fixture, at_s), ==, TIDE_GOAL_AHEAD);
  }
  note(fixture, 0, 10, OURS, 100);
  g_assert_cmpint(judge(fixture, 159), ==, TIDE_GOAL_AHEAD);
  g_assert_true(g_str_has_suffix(fixture->text, "the log what the brokers answer; they are asked again"));
  note(fixture, 1, -1, UNLOCATED, 160);
  g_assert_cmpint(judge(fixture, 160), ==, TIDE_GOAL_MISSED);
  g_assert_nonnull(strstr(fixture->text, "1 of 3 partitions with messages are not assigned to this run, and their "));
  g_assert_true(g_str_has_suffix(
      fixture->text,
      "; 1 of 3 partitions with messages are assigned to this run, and for 60 s the brokers have not said where they "
      "are "
      "read on: 'a' 1 at 0 of 20; 'kafka-topics --describe --unavailable-partitions' shows those without a leader, and "
      "the log what the brokers answer; run again once the brokers say it"));
  note(fixture, 1, -1, OURS, 161); /* they did */
  g_assert_cmpint(judge(fixture, 161), ==, TIDE_GOAL_AHEAD);
}

static void
test_few_are_named(Fixture *fixture, gconstpointer data)
{
  for (gint32 i = 2; i < 12; i++)
    tide_goal_rule_add(&fixture->rule, "a", i, 1);
  g_assert_cmpint(judge(fixture, 60), ==, TIDE_GOAL_MISSED);
  g_assert_nonnull(strstr(fixture->text, "'a' 8 at 0 of 1 and 3 more; another"));
}

static void
test_nothing_to_read_is_the_end(void)
{
  TideGoalRule rule;
  char *text;
  tide_goal_rule_init(&rule, PATIENCE_US, START_US);
  g_assert_cmpint(tide_goal_rule_judge(&rule, "g", START_US, &text), ==, TIDE_GOAL_REACHED);
  tide_goal_rule_clear(&rule);
}

#define ADD(path, func) g_test_add("/kafka-goal/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("all-must-be-committed", test_all_must_be_committed);
  ADD("halted-ones-count-if-they-are-ours", test_halted_ones_count_if_they_are_ours);
  ADD("ours-are-waited-for", test_ours_are_waited_for);
  ADD("others-are-waited-for-while-they-move", test_others_are_waited_for_while_they_move);
  ADD("others-that-do-not-move-are-named", test_others_that_do_not_move_are_named);
  ADD("C21-unlocated-ones-are-named", test_unlocated_ones_are_named);
  ADD("few-are-named", test_few_are_named);
  g_test_add_func("/kafka-goal/nothing-to-read-is-the-end", test_nothing_to_read_is_the_end);
  return g_test_run();
}
