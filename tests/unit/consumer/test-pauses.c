/* Why partitions are not fetched, and what whoever fetches is told of it, and when. */
#include "consumer/pauses.h"

#include "unit/bare_partitions.h"
#include "util/clock.h"
#include "util/log.h"

#include <glib/gstdio.h>

#define N_PARTITIONS 2
#define N_TABLES 2
#define LIMIT_BYTES 1000000
#define MAX_SPAN 4

typedef struct Fixture {
  TideMetrics *metrics;
  TideBudget budget;
  TideBudget table_budgets[N_TABLES];
  BarePartitions partitions;
  TideConsumerStatus status;
  TidePauses pauses;
  GString *told; /* owned: "pause 0, resume 1, " */
} Fixture;

static void
note_told(guint32 slot, gboolean pause, gpointer data)
{
  Fixture *fixture = data;
  g_string_append_printf(fixture->told, "%s %u, ", pause ? "pause" : "resume", slot);
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->metrics = tide_metrics_new();
  fixture->told = g_string_new(NULL);
  tide_budget_init(&fixture->budget, LIMIT_BYTES);
  for (guint i = 0; i < N_TABLES; i++)
    tide_budget_init_table_share(&fixture->table_budgets[i], &fixture->budget);
  bare_partitions_set_up(&fixture->partitions, N_PARTITIONS, fixture->metrics);
  tide_consumer_status_init(&fixture->status, 0);
  TidePausesContext context = {.partitions = fixture->partitions.list,
                               .budget = &fixture->budget,
                               .table_budgets = fixture->table_budgets,
                               .status = &fixture->status,
                               .metrics = fixture->metrics,
                               .max_span_messages = MAX_SPAN,
                               .n_consumers = 1,
                               .notify = note_told,
                               .notify_data = fixture};
  tide_pauses_init(&fixture->pauses, &context);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_consumer_status_clear(&fixture->status);
  bare_partitions_tear_down(&fixture->partitions, &fixture->budget);
  tide_metrics_free(fixture->metrics);
  g_string_free(fixture->told, TRUE);
}

static TidePartition *
partition_at(const Fixture *fixture, guint32 slot)
{
  return tide_partition_at(fixture->partitions.list, slot);
}

/* What was told since the last time. */
#define ASSERT_TOLD(fixture, wanted)                                                                                   \
  do {                                                                                                                 \
    g_assert_cmpstr((fixture)->told->str, ==, wanted);                                                                 \
    g_string_truncate((fixture)->told, 0);                                                                             \
  } while (0)

/* When each partition changed last: long ago, or just now, however slow this test runs. */
static void
set_changed_us(Fixture *fixture, gint64 changed_us)
{
  for (guint32 slot = 0; slot < N_PARTITIONS; slot++)
    partition_at(fixture, slot)->pauses.changed_us = changed_us;
}

#define LONG_AGO_US 0
#define JUST_NOW_US (tide_now_us() + 3600 * TIDE_US_PER_S)

static void
set_used(Fixture *fixture, gint64 bytes)
{
  tide_budget_charge(&fixture->budget, bytes - (gint64)tide_budget_used_racy(&fixture->budget));
}

/* As in pauses.c. */
#define HOLD_US (2 * TIDE_US_PER_S)

/* The partition in @slot waits for a table that is crowded for long. */
static void
wait_for_table(Fixture *fixture, guint32 slot, guint32 crowded)
{
  gint64 now_us = tide_now_us();
  TideBudget *share = &fixture->table_budgets[crowded - 1];
  tide_budget_charge(share, LIMIT_BYTES);
  tide_pauses_wait_for_crowded_table(&fixture->pauses, partition_at(fixture, slot), crowded, now_us);
  tide_pauses_apply_holds(&fixture->pauses, now_us + HOLD_US);
  tide_budget_charge(share, -LIMIT_BYTES);
}

static void
begin_messages(Fixture *fixture, TidePartition *partition, guint n)
{
  const TideMapped mapped = {.n_rows = 1, .n_readings = 1, .timestamp_ms = -1};
  for (guint i = 0; i < n; i++)
    (void)tide_partition_begin(partition, &fixture->budget, (gint64)partition->offsets.tail, &mapped, FALSE);
}

/* Those of @sequence and on, below @end. */
static void
ack_messages(TidePartition *partition, guint32 sequence, guint32 end)
{
  for (; sequence < end; sequence++) {
    TideSourceRef ref = {partition->assignment.number, sequence};
    tide_partition_ack(partition, ref, 1);
  }
}

/* So many messages of the first partition that only a large span holds them. */
static TidePartition *
begin_many_messages(Fixture *fixture, guint n)
{
  TidePartition *partition = partition_at(fixture, 0);
  fixture->pauses.context.max_span_messages = 100000;
  begin_messages(fixture, partition, n);
  return partition;
}

static guint64
sum_of(const Fixture *fixture, const char *metric)
{
  return tide_metrics_sum(fixture->metrics, metric, NULL);
}

/* ---- reasons ---- */

static void
test_paused_while_there_is_a_reason(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = partition_at(fixture, 0);
  tide_pauses_set(&fixture->pauses, partition, TIDE_PAUSE_SPAN, TRUE);
  tide_pauses_set(&fixture->pauses, partition, TIDE_PAUSE_TABLE, TRUE);
  ASSERT_TOLD(fixture, "pause 0, ");
  set_changed_us(fixture, LONG_AGO_US);
  tide_pauses_set(&fixture->pauses, partition, TIDE_PAUSE_SPAN, FALSE);
  ASSERT_TOLD(fixture, "");
  tide_pauses_set(&fixture->pauses, partition, TIDE_PAUSE_TABLE, FALSE);
  ASSERT_TOLD(fixture, "resume 0, ");
  g_assert_cmpuint(sum_of(fixture, "tidemark_kafka_pauses_total"), ==, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_kafka_resumes_total"), ==, 1);
}

static void
test_change_waits_for_the_second_to_pass(Fixture *fixture, gconstpointer data)
{
  TidePauses *pauses = &fixture->pauses;
  set_changed_us(fixture, JUST_NOW_US);
  tide_pauses_set(pauses, partition_at(fixture, 1), TIDE_PAUSE_TABLE, TRUE);
  gint64 changed_us = partition_at(fixture, 1)->pauses.changed_us;
  tide_pauses_apply_backpressure(pauses, changed_us + TIDE_US_PER_S - 1);
  ASSERT_TOLD(fixture, "");
  tide_pauses_apply_backpressure(pauses, changed_us + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "pause 1, ");
  g_assert_false(pauses->waits);
}

/* What followed 60,000 messages is more than the budget, and nothing else is there that could be given back. */
static void
test_memory_of_finished_messages_is_given_back(Fixture *fixture, gconstpointer data)
{
  TidePauses *pauses = &fixture->pauses;
  TidePartition *partition = begin_many_messages(fixture, 60000);
  gint64 now_us = tide_now_us();
  tide_pauses_apply_backpressure(pauses, now_us);
  g_assert_true(tide_pauses_must_wait(pauses));
  ack_messages(partition, 0, 60000);
  g_assert_true(tide_budget_is_spent_racy(&fixture->budget));
  tide_pauses_apply_backpressure(pauses, now_us + 1);
  g_assert_false(tide_pauses_must_wait(pauses));
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), <, LIMIT_BYTES / 10);
  g_assert_cmpint(tide_offsets_newest(&partition->offsets)->offset, ==, 59999);
  ASSERT_TOLD(fixture, "");
}

static void
test_partition_of_others_is_not_told_of(Fixture *fixture, gconstpointer data)
{
  tide_partition_release(partition_at(fixture, 0), &fixture->budget);
  tide_pauses_check_dead_letters(&fixture->pauses, TRUE, tide_now_us());
  ASSERT_TOLD(fixture, "pause 1, ");
}

static void
test_lifted_pauses_leave_nothing_behind(Fixture *fixture, gconstpointer data)
{
  const guint32 slot = 0;
  TidePartition *partition = partition_at(fixture, slot);
  wait_for_table(fixture, 0, 1);
  ASSERT_TOLD(fixture, "pause 0, ");
  tide_pauses_lift(&fixture->pauses, &slot, 1);
  ASSERT_TOLD(fixture, "resume 0, ");
  g_assert_cmpuint(partition->pauses.crowded_table, ==, 0);
  tide_pauses_set(&fixture->pauses, partition, TIDE_PAUSE_TABLE, TRUE);
  ASSERT_TOLD(fixture, "pause 0, "); /* at once */
}

/* ---- memory ---- */

static void
test_spent_budget_holds_and_tells_nobody(Fixture *fixture, gconstpointer data)
{
  gint64 now_us = tide_now_us();
  set_used(fixture, LIMIT_BYTES - 1);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us);
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  set_used(fixture, LIMIT_BYTES);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us);
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  g_assert_true(tide_pauses_wait_for_memory(&fixture->pauses));
  set_used(fixture, LIMIT_BYTES * TIDE_BUDGET_GO_ON_PERCENT / 100);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + HOLD_US - 1);
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  set_used(fixture, LIMIT_BYTES * TIDE_BUDGET_GO_ON_PERCENT / 100 - 1);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + HOLD_US);
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  ASSERT_TOLD(fixture, "");
  g_assert_cmpuint(sum_of(fixture, "tidemark_kafka_memory_pauses_total"), ==, 1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_kafka_pauses_total"), ==, 0);
  set_used(fixture, LIMIT_BYTES); /* another hold, with all of its time */
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + HOLD_US);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + 2 * HOLD_US - 1);
  ASSERT_TOLD(fixture, "");
  set_used(fixture, 0);
}

/* Spent for so long that all pause. Returns: when. */
static gint64
spend_for_long(Fixture *fixture)
{
  gint64 now_us = tide_now_us();
  set_used(fixture, LIMIT_BYTES);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + HOLD_US);
  return now_us + HOLD_US;
}

static void
test_spent_budget_pauses_all_until_there_is_room(Fixture *fixture, gconstpointer data)
{
  gint64 now_us = spend_for_long(fixture);
  ASSERT_TOLD(fixture, "pause 0, pause 1, ");
  g_assert_false(tide_pauses_must_wait(&fixture->pauses)); /* the group is served */
  set_changed_us(fixture, LONG_AGO_US);
  set_used(fixture, LIMIT_BYTES * TIDE_BUDGET_RESUME_PERCENT / 100);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "");
  set_used(fixture, 0);
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + TIDE_US_PER_S - 1);
  ASSERT_TOLD(fixture, "");
  tide_pauses_apply_backpressure(&fixture->pauses, now_us + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "resume 0, resume 1, ");
}

static void
test_spent_budget_waits_where_it_may_not_pause(Fixture *fixture, gconstpointer data)
{
  set_changed_us(fixture, JUST_NOW_US);
  (void)spend_for_long(fixture);
  ASSERT_TOLD(fixture, "");
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  g_assert_true(tide_pauses_wait_for_memory(&fixture->pauses));
  tide_pauses_apply_backpressure(&fixture->pauses, JUST_NOW_US + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "pause 0, pause 1, ");
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  set_used(fixture, 0);
}

static void
test_crowded_table_holds_while_it_may_pass(Fixture *fixture, gconstpointer data)
{
  TideBudget *share = &fixture->table_budgets[1];
  gint64 now_us = tide_now_us(), share_bytes = (gint64)tide_budget_limit_racy(share);
  tide_budget_charge(share, share_bytes);
  tide_pauses_wait_for_crowded_table(&fixture->pauses, partition_at(fixture, 0), 2, now_us);
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  tide_pauses_apply_holds(&fixture->pauses, now_us + HOLD_US - 1);
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  g_assert_true(tide_pauses_wait_for_memory(&fixture->pauses));
  tide_budget_charge(share, -share_bytes / 10);
  tide_pauses_apply_holds(&fixture->pauses, now_us + HOLD_US);
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  g_assert_false(tide_pauses_wait_for_memory(&fixture->pauses));
  g_assert_cmpuint(partition_at(fixture, 0)->pauses.crowded_table, ==, 0);
  ASSERT_TOLD(fixture, "");
  tide_budget_charge(share, share_bytes / 10 - share_bytes);
}

/* Else a partition that has gone would hold back all others. */
static void
test_crowded_table_holds_for_no_partition_that_has_gone(Fixture *fixture, gconstpointer data)
{
  TideBudget *share = &fixture->table_budgets[1];
  gint64 share_bytes = (gint64)tide_budget_limit_racy(share);
  tide_budget_charge(share, share_bytes);
  tide_pauses_wait_for_crowded_table(&fixture->pauses, partition_at(fixture, 0), 2, tide_now_us());
  g_assert_true(tide_pauses_wait_for_memory(&fixture->pauses));
  tide_pauses_lift(&fixture->pauses, &(const guint32){0}, 1);
  g_assert_false(tide_pauses_wait_for_memory(&fixture->pauses));
  tide_budget_charge(share, -share_bytes);
}

static void
test_crowded_table_pauses_those_that_feed_it(Fixture *fixture, gconstpointer data)
{
  tide_budget_charge(&fixture->table_budgets[1], LIMIT_BYTES);
  wait_for_table(fixture, 1, 2);
  ASSERT_TOLD(fixture, "pause 1, ");
  g_assert_false(tide_pauses_must_wait(&fixture->pauses)); /* others are read */
  set_changed_us(fixture, LONG_AGO_US);
  tide_pauses_apply_holds(&fixture->pauses, tide_now_us()); /* the other table has room */
  ASSERT_TOLD(fixture, "");
  tide_budget_charge(&fixture->table_budgets[1], -LIMIT_BYTES);
  tide_pauses_apply_holds(&fixture->pauses, tide_now_us());
  ASSERT_TOLD(fixture, "resume 1, ");
}

/* What one partition has waited for in vain, no other makes all wait for. */
static void
test_crowded_table_is_held_for_once(Fixture *fixture, gconstpointer data)
{
  tide_budget_charge(&fixture->table_budgets[1], LIMIT_BYTES);
  wait_for_table(fixture, 1, 2);
  tide_pauses_wait_for_crowded_table(&fixture->pauses, partition_at(fixture, 0), 2, tide_now_us());
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  ASSERT_TOLD(fixture, "pause 1, pause 0, ");
  g_assert_cmpuint(sum_of(fixture, "tidemark_kafka_memory_pauses_total"), ==, 1);
  tide_budget_charge(&fixture->table_budgets[1], -LIMIT_BYTES);
}

static void
test_hold_ends_with_its_assignment(Fixture *fixture, gconstpointer data)
{
  tide_budget_charge(&fixture->table_budgets[1], LIMIT_BYTES);
  tide_pauses_wait_for_crowded_table(&fixture->pauses, partition_at(fixture, 0), 2, tide_now_us());
  tide_pauses_lift(&fixture->pauses, &(const guint32){0}, 1);
  tide_pauses_apply_holds(&fixture->pauses, tide_now_us());
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  tide_budget_charge(&fixture->table_budgets[1], -LIMIT_BYTES);
}

/* ---- spans ---- */

static void
test_span_is_bounded_until_half_of_it_is_committed(Fixture *fixture, gconstpointer data)
{
  TidePartition *partition = partition_at(fixture, 0);
  begin_messages(fixture, partition, MAX_SPAN - 1);
  tide_pauses_apply_spans(&fixture->pauses);
  ASSERT_TOLD(fixture, "");
  begin_messages(fixture, partition, 1);
  tide_pauses_apply_spans(&fixture->pauses);
  ASSERT_TOLD(fixture, "pause 0, ");
  set_changed_us(fixture, LONG_AGO_US);
  partition->commit.sequence += MAX_SPAN / 2 - 1;
  tide_pauses_apply_spans(&fixture->pauses);
  ASSERT_TOLD(fixture, "");
  partition->commit.sequence++;
  tide_pauses_apply_spans(&fixture->pauses);
  ASSERT_TOLD(fixture, "resume 0, ");
}

static void
test_nothing_is_read_at_the_span_bound(Fixture *fixture, gconstpointer data)
{
  begin_messages(fixture, partition_at(fixture, 0), MAX_SPAN);
  set_changed_us(fixture, JUST_NOW_US);
  tide_pauses_apply_spans(&fixture->pauses);
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  tide_pauses_apply_backpressure(&fixture->pauses, JUST_NOW_US + TIDE_US_PER_S / 2); /* too early to pause it */
  ASSERT_TOLD(fixture, "");
  g_assert_true(tide_pauses_must_wait(&fixture->pauses));
  tide_pauses_apply_backpressure(&fixture->pauses, JUST_NOW_US + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "pause 0, ");
  g_assert_false(tide_pauses_must_wait(&fixture->pauses));
  g_assert_false(fixture->pauses.span_waits); /* others are read in whole rounds again */
}

/* ---- dead letters ---- */

static void
test_dead_letters_hold_for_a_second_at_least(Fixture *fixture, gconstpointer data)
{
  gint64 now_us = tide_now_us();
  tide_pauses_check_dead_letters(&fixture->pauses, TRUE, now_us);
  ASSERT_TOLD(fixture, "pause 0, pause 1, ");
  set_changed_us(fixture, LONG_AGO_US);
  tide_pauses_check_dead_letters(&fixture->pauses, FALSE, now_us + TIDE_US_PER_S - 1);
  ASSERT_TOLD(fixture, "");
  tide_pauses_check_dead_letters(&fixture->pauses, FALSE, now_us + TIDE_US_PER_S);
  ASSERT_TOLD(fixture, "resume 0, resume 1, ");
}

/* A pause of dead letters is none of memory: what is assigned later pauses for what holds then. */
static void
test_what_is_assigned_pauses_for_what_holds(Fixture *fixture, gconstpointer data)
{
  tide_pauses_check_dead_letters(&fixture->pauses, TRUE, tide_now_us());
  tide_partition_release(partition_at(fixture, 0), &fixture->budget);
  tide_pauses_lift(&fixture->pauses, &(const guint32){0}, 1);
  tide_partition_assign(partition_at(fixture, 0));
  tide_pauses_apply_assigned(&fixture->pauses);
  g_assert_cmpuint(partition_at(fixture, 0)->pauses.reasons, ==, TIDE_PAUSE_DEAD_LETTERS);
}

/* ---- halted ---- */

static void
test_halted_partition_says_why(Fixture *fixture, gconstpointer data)
{
  tide_pauses_halt_partition(&fixture->pauses, partition_at(fixture, 1), g_strdup("its messages are gone"));
  ASSERT_TOLD(fixture, "pause 1, ");
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_halted_total"), ==, 0);
  tide_pauses_halt_at_message(&fixture->pauses, partition_at(fixture, 1), 7, g_strdup("a message is bad"));
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_halted_total"), ==, 1);
  g_autofree char *text = tide_consumer_status_halt_text(&fixture->status);
  g_assert_cmpstr(text, ==, "a message is bad");
}

/* What an operator has paused from now on. @scope: TIDE_N_SCOPES: nothing */
static void
pause_by_operator(const char *directory, TidePauseScope scope, const char *name)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)tide_operator_pause_free);
  if (scope != TIDE_N_SCOPES)
    g_ptr_array_add(list, tide_operator_pause_new(scope, name, "", 1, 0));
  g_assert_true(tide_operator_pauses_write(directory, list, NULL));
}

static void
check_operator(Fixture *fixture)
{
  (void)tide_pause_watch_update(fixture->pauses.context.operator_pauses, 2);
  set_changed_us(fixture, LONG_AGO_US);
  tide_pauses_check_operator(&fixture->pauses);
}

/* A rebalance lifts all pauses; what an operator has paused is not fetched afterwards either. */
static void
test_operator_pauses_what_is_assigned(Fixture *fixture, gconstpointer data)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-pauses-XXXXXX", NULL);
  TidePauseWatch *watch = tide_pause_watch_new(directory);
  const char *topic = partition_at(fixture, 0)->topic;
  fixture->pauses.context.operator_pauses = watch;
  pause_by_operator(directory, TIDE_SCOPE_TABLE, topic); /* of the same name, which is another thing */
  check_operator(fixture);
  ASSERT_TOLD(fixture, "");
  pause_by_operator(directory, TIDE_SCOPE_EVERYTHING, "");
  check_operator(fixture);
  ASSERT_TOLD(fixture, "pause 0, pause 1, ");
  tide_pauses_lift(&fixture->pauses, (const guint32[]){0, 1}, 2);
  tide_pauses_apply_assigned(&fixture->pauses);
  ASSERT_TOLD(fixture, "resume 0, resume 1, pause 0, pause 1, ");
  pause_by_operator(directory, TIDE_SCOPE_TOPIC, topic);
  check_operator(fixture);
  ASSERT_TOLD(fixture, "");
  pause_by_operator(directory, TIDE_N_SCOPES, NULL);
  check_operator(fixture);
  ASSERT_TOLD(fixture, "resume 0, resume 1, ");
  tide_pause_watch_free(watch);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

#define ADD(path, func) g_test_add("/pauses/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  ADD("reasons/paused-while-there-is-one", test_paused_while_there_is_a_reason);
  ADD("reasons/change-waits-for-the-second-to-pass", test_change_waits_for_the_second_to_pass);
  ADD("reasons/partition-of-others-is-not-told-of", test_partition_of_others_is_not_told_of);
  ADD("reasons/lifted-ones-leave-nothing-behind", test_lifted_pauses_leave_nothing_behind);
  ADD("memory/spent-budget-holds-and-tells-nobody", test_spent_budget_holds_and_tells_nobody);
  ADD("memory/of-finished-messages-is-given-back", test_memory_of_finished_messages_is_given_back);
  ADD("memory/spent-budget-pauses-all-until-there-is-room", test_spent_budget_pauses_all_until_there_is_room);
  ADD("memory/waits-where-it-may-not-pause", test_spent_budget_waits_where_it_may_not_pause);
  ADD("memory/crowded-table-pauses-those-that-feed-it", test_crowded_table_pauses_those_that_feed_it);
  ADD("memory/crowded-table-holds-while-it-may-pass", test_crowded_table_holds_while_it_may_pass);
  ADD("memory/crowded-table-holds-for-none-that-has-gone", test_crowded_table_holds_for_no_partition_that_has_gone);
  ADD("memory/crowded-table-is-held-for-once", test_crowded_table_is_held_for_once);
  ADD("memory/hold-ends-with-its-assignment", test_hold_ends_with_its_assignment);
  ADD("spans/bounded-until-half-is-committed", test_span_is_bounded_until_half_of_it_is_committed);
  ADD("spans/nothing-is-read-at-the-bound", test_nothing_is_read_at_the_span_bound);
  ADD("dead-letters/hold-for-a-second-at-least", test_dead_letters_hold_for_a_second_at_least);
  ADD("dead-letters/what-is-assigned-pauses-for-what-holds", test_what_is_assigned_pauses_for_what_holds);
  ADD("operator/pauses-what-is-assigned", test_operator_pauses_what_is_assigned);
  ADD("halted/says-why", test_halted_partition_says_why);
  return g_test_run();
}
