/* What others see of a consumer: its partitions counted, and its two texts. */
#include "consumer/consumer_status.h"

#include "unit/bare_partitions.h"
#include "util/clock.h"

#define N_PARTITIONS 3

typedef struct Fixture {
  TideMetrics *metrics;
  TideBudget budget;
  BarePartitions partitions;
  TideConsumerStatus status;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 20);
  bare_partitions_set_up(&fixture->partitions, N_PARTITIONS, fixture->metrics);
  tide_consumer_status_init(&fixture->status, 77);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_consumer_status_clear(&fixture->status);
  bare_partitions_tear_down(&fixture->partitions, &fixture->budget);
  tide_metrics_free(fixture->metrics);
}

static TidePartition *
partition_at(const Fixture *fixture, guint32 slot)
{
  return tide_partition_at(fixture->partitions.list, slot);
}

static void
assert_held(Fixture *fixture, guint32 n, const char *text)
{
  tide_consumer_status_publish_halted(&fixture->status, fixture->partitions.list);
  g_autofree char *found = tide_consumer_status_halt_text(&fixture->status);
  g_assert_cmpstr(found, ==, text);
  g_assert_cmpuint(tide_consumer_status_read_racy(&fixture->status).halted, ==, n);
}

/* The watchdog takes a consumer for stuck by the time of its last round: it begins with its first. */
static void
test_new_one_has_nothing_but_its_time(Fixture *fixture, gconstpointer data)
{
  TideConsumerState state = tide_consumer_status_read_racy(&fixture->status);
  g_assert_cmpint(state.last_round_us, ==, 77);
  g_assert_cmpint(state.had_assignment + state.finished + state.work_remains + state.fatal + state.denied, ==, 0);
  g_assert_cmpuint(state.assigned + state.halted + state.paused, ==, 0);
  g_assert_cmpint(state.oldest_us, ==, 0);
  g_assert_null(tide_consumer_status_halt_text(&fixture->status));
  g_assert_null(tide_consumer_status_trouble_text(&fixture->status));
}

#define ASSERT_READ_ALONE(fixture, stored, member)                                                                     \
  do {                                                                                                                 \
    atomic_store(&(fixture)->status.stored, TRUE);                                                                     \
    TideConsumerState state_ = tide_consumer_status_read_racy(&(fixture)->status);                                     \
    g_assert_true(state_.member);                                                                                      \
    g_assert_cmpint(state_.had_assignment + state_.finished + state_.work_remains + state_.fatal + state_.denied, ==,  \
                    1);                                                                                                \
    atomic_store(&(fixture)->status.stored, FALSE);                                                                    \
  } while (0)

static void
test_each_flag_is_read_as_itself(Fixture *fixture, gconstpointer data)
{
  ASSERT_READ_ALONE(fixture, had_assignment, had_assignment);
  ASSERT_READ_ALONE(fixture, end.finished, finished);
  ASSERT_READ_ALONE(fixture, work_remains, work_remains);
  ASSERT_READ_ALONE(fixture, fatal, fatal);
  ASSERT_READ_ALONE(fixture, denied, denied);
}

static void
test_only_assigned_partitions_count(Fixture *fixture, gconstpointer data)
{
  partition_at(fixture, 0)->pauses.is_paused = TRUE;
  partition_at(fixture, 2)->pauses.is_paused = TRUE;
  tide_partition_release(partition_at(fixture, 2), &fixture->budget);
  tide_consumer_status_publish_assigned(&fixture->status, fixture->partitions.list);
  tide_consumer_status_show(&fixture->status, fixture->partitions.list, 88);
  TideConsumerState state = tide_consumer_status_read_racy(&fixture->status);
  g_assert_cmpuint(state.assigned, ==, 2);
  g_assert_cmpuint(state.paused, ==, 1);
  g_assert_cmpint(state.oldest_us, ==, 88);
}

/* Of the time between two looks, and no longer than that. */
static void
test_what_was_held_is_a_share_of_the_time(Fixture *fixture, gconstpointer data)
{
  tide_consumer_status_show(&fixture->status, fixture->partitions.list, 0);
  fixture->status.shown.at_us -= 10 * TIDE_US_PER_S;
  tide_consumer_status_note_held(&fixture->status, 2 * TIDE_US_PER_S);
  tide_consumer_status_note_held(&fixture->status, 3 * TIDE_US_PER_S);
  tide_consumer_status_show(&fixture->status, fixture->partitions.list, 0);
  guint32 held_permille = tide_consumer_status_read_racy(&fixture->status).held_permille;
  g_assert_cmpuint(held_permille, >, 250);
  g_assert_cmpuint(held_permille, <=, 500);
  fixture->status.shown.at_us -= TIDE_US_PER_S;
  tide_consumer_status_show(&fixture->status, fixture->partitions.list, 0);
  g_assert_cmpuint(tide_consumer_status_read_racy(&fixture->status).held_permille, ==, 0);
}

static void
test_pauses_are_counted_by_reason(Fixture *fixture, gconstpointer data)
{
  partition_at(fixture, 0)->pauses.reasons = TIDE_PAUSE_MEMORY | TIDE_PAUSE_SCHEMA;
  partition_at(fixture, 1)->pauses.reasons = TIDE_PAUSE_MEMORY | TIDE_PAUSE_HALTED;
  partition_at(fixture, 2)->pauses.reasons = TIDE_PAUSE_SPAN;
  tide_partition_release(partition_at(fixture, 2), &fixture->budget);
  tide_consumer_status_show(&fixture->status, fixture->partitions.list, 0);
  TideConsumerState state = tide_consumer_status_read_racy(&fixture->status);
  static const guint32 wanted[TIDE_N_PAUSE_REASONS] = {2, 0, 1, 0, 0, 1};
  for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++) {
    g_test_message("%s", tide_pause_names[bit]);
    g_assert_cmpuint(state.paused_for[bit], ==, wanted[bit]);
  }
}

static void
test_each_halted_partition_is_named(Fixture *fixture, gconstpointer data)
{
  assert_held(fixture, 0, NULL);
  partition_at(fixture, 0)->halt.text = g_strdup("one");
  partition_at(fixture, 2)->halt.text = g_strdup("other");
  assert_held(fixture, 2, "one; other");
  tide_partition_release(partition_at(fixture, 0), &fixture->budget);
  assert_held(fixture, 1, "other");
  tide_partition_release(partition_at(fixture, 2), &fixture->budget);
  assert_held(fixture, 0, NULL);
}

static void
test_trouble_is_what_was_said_last(Fixture *fixture, gconstpointer data)
{
  tide_consumer_status_publish_trouble(&fixture->status, "one");
  tide_consumer_status_publish_trouble(&fixture->status, "other");
  g_autofree char *text = tide_consumer_status_trouble_text(&fixture->status);
  g_assert_cmpstr(text, ==, "other");
  g_assert_null(tide_consumer_status_halt_text(&fixture->status));
  tide_consumer_status_publish_trouble(&fixture->status, NULL);
  g_assert_null(tide_consumer_status_trouble_text(&fixture->status));
}

#define ADD(path, func) g_test_add("/consumer-status/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("new-one-has-nothing-but-its-time", test_new_one_has_nothing_but_its_time);
  ADD("each-flag-is-read-as-itself", test_each_flag_is_read_as_itself);
  ADD("only-assigned-partitions-count", test_only_assigned_partitions_count);
  ADD("what-was-held-is-a-share-of-the-time", test_what_was_held_is_a_share_of_the_time);
  ADD("pauses-are-counted-by-reason", test_pauses_are_counted_by_reason);
  ADD("each-halted-partition-is-named", test_each_halted_partition_is_named);
  ADD("trouble-is-what-was-said-last", test_trouble_is_what_was_said_last);
  return g_test_run();
}
