/* A partition between its assignments, and its accounting: what an ownership left behind belongs to nobody, and all
 * that is taken is charged. */
#include "unit/consumer/partition_rig.h"

#define N_TRACKED 5000

typedef struct Fixture {
  PartitionRig rig;
  TidePartition *partition;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  partition_rig_set_up(&fixture->rig);
  fixture->partition = partition_rig_new_partition(&fixture->rig, "t", 0, 0);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_partition_free(fixture->partition, &fixture->rig.budget);
  partition_rig_tear_down(&fixture->rig);
}

/* A message of @mapped that begins. */
static TideSourceRef
begin(Fixture *fixture, gint64 offset, const TideMapped *mapped)
{
  return tide_partition_begin(fixture->partition, &fixture->rig.budget, offset, mapped, FALSE);
}

static guint64
sum_of(const Fixture *fixture, const char *metric)
{
  return tide_metrics_sum(fixture->rig.metrics, metric, NULL);
}

static void
test_each_ownership_is_another(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  tide_partition_assign(partition);
  TideSourceRef older = begin(fixture, 5, &mapped);
  g_assert_true(tide_partition_owns(partition, older));
  g_assert_cmpuint(atomic_load(&partition->assignment.number), ==, older.assignment);
  tide_partition_release(partition, &fixture->rig.budget);
  g_assert_false(tide_partition_owns(partition, older));
  g_assert_cmpuint(atomic_load(&partition->assignment.number), ==, TIDE_NOT_OWNED);
  tide_partition_assign(partition);
  TideSourceRef newer = begin(fixture, 9, &mapped);
  g_assert_false(tide_partition_owns(partition, older));
  g_assert_true(tide_partition_owns(partition, newer));
  g_assert_cmpuint(atomic_load(&partition->assignment.number), ==, newer.assignment);
  tide_partition_release(partition, &fixture->rig.budget);
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_handed_back_total"), ==, 2);
}

static void
test_what_is_tracked_is_charged(Fixture *fixture, gconstpointer data)
{
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  tide_partition_assign(fixture->partition);
  for (gint64 offset = 0; offset < N_TRACKED; offset++)
    begin(fixture, offset, &mapped);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->rig.budget), >=, N_TRACKED * sizeof(TideTrackedMessage));
  tide_partition_release(fixture->partition, &fixture->rig.budget);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->rig.budget), ==, 0);
}

/* Of four readings one is written, one no table takes, one is too old, one is left out: each is counted once. */
static void
test_readings_without_rows_are_not_in_flight(Fixture *fixture, gconstpointer data)
{
  const TideReject rejects[] = {{.reason = TIDE_REJECT_TYPE}};
  const TideMapped mapped = {.n_rows = 1,
                             .n_readings = 4,
                             .n_unmatched_readings = 1,
                             .n_expired_readings = 1,
                             .rejects = rejects,
                             .n_rejects = 1,
                             .timestamp_ms = -1};
  tide_partition_assign(fixture->partition);
  TideSourceRef ref = tide_partition_begin(fixture->partition, &fixture->rig.budget, 0, &mapped, TRUE);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_in_flight"), ==, 1);
  tide_partition_ack(fixture->partition, ref, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_in_flight"), ==, 0);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_received_total"), ==, 4);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_written_total"), ==, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_unmatched_total"), ==, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_expired_total"), ==, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_skipped_total"), ==, 1);
}

/* What cannot be used is as old as it is: the age of what is not committed is told by it. */
static void
test_what_cannot_be_used_has_its_record_s_time(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  const TideMessage rejected = {.offset = 5, .timestamp_ms = 1000}, skipped = {.offset = 6, .timestamp_ms = 2000};
  tide_partition_assign(partition);
  (void)tide_partition_begin_rejected(partition, &fixture->rig.budget, &rejected, TIDE_REJECT_PARSE);
  tide_partition_skip(partition, &fixture->rig.budget, &skipped, TIDE_REJECT_PARSE);
  g_assert_cmpint(tide_offsets_oldest(&partition->offsets)->timestamp_ms, ==, 1000);
  g_assert_cmpint(tide_offsets_newest(&partition->offsets)->timestamp_ms, ==, 2000);
}

/* The log's end says nothing of a halted partition: messages before it were not taken. */
static void
test_end_of_the_log_passes_no_halt(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  tide_partition_assign(partition);
  partition->location.is_located = TRUE;
  partition->commit.start_offset = 5;
  partition->halt.text = g_strdup("it is halted at offset 5");
  tide_partition_reach_end(partition, 9);
  g_assert_cmpint(tide_partition_position(partition), ==, 5);
  tide_partition_assign(partition);
  partition->location.is_located = TRUE;
  partition->commit.start_offset = 5;
  g_assert_null(partition->halt.text);
  tide_partition_reach_end(partition, 9);
  g_assert_cmpint(tide_partition_position(partition), ==, 9);
}

/* The age of what is not committed survives a refused commit. */
static void
test_refused_commit_keeps_the_age(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = fixture->partition;
  tide_partition_assign(partition);
  tide_partition_skip(partition, &fixture->rig.budget, &(TideMessage){.offset = 5, .timestamp_ms = 1000},
                      TIDE_REJECT_PARSE);
  tide_partition_commit_asked(partition, 6, FALSE, FALSE);
  tide_partition_commit_answered(partition, 6, FALSE);
  g_assert_cmpint(partition->offsets.finished_ms, ==, 1000);
}

#define ADD(path, func) g_test_add("/partition/" path, Fixture, NULL, set_up, func, tear_down)

/* Its series are those of what it is now. */
static void
test_renamed_counts_for_its_source(Fixture *fixture, gconstpointer data)
{
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  tide_partition_rename(fixture->partition, "lines", 1, "telegraf");
  tide_partition_assign(fixture->partition);
  begin(fixture, 5, &mapped);
  tide_partition_release(fixture->partition, &fixture->rig.budget);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_received_total",
                                    "topic=\"lines\",partition=\"1\",source=\"telegraf\""),
                   ==, 1);
  g_assert_cmpuint(tide_metrics_sum(fixture->rig.metrics, "tidemark_messages_received_total", "topic=\"t\""), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("each-ownership-is-another", test_each_ownership_is_another);
  ADD("what-is-tracked-is-charged", test_what_is_tracked_is_charged);
  ADD("readings-without-rows-are-not-in-flight", test_readings_without_rows_are_not_in_flight);
  ADD("what-cannot-be-used-has-its-record-s-time", test_what_cannot_be_used_has_its_record_s_time);
  ADD("end-of-the-log-passes-no-halt", test_end_of_the_log_passes_no_halt);
  ADD("refused-commit-keeps-the-age", test_refused_commit_keeps_the_age);
  ADD("renamed-counts-for-its-source", test_renamed_counts_for_its_source);
  return g_test_run();
}
