/* What a consumer does with what the brokers say of where a partition stands: offsets that cannot be trusted halt it,
 * nothing is committed of what is not located, and the end of the log is committed. */
#include "consumer/handover.h"
#include "unit/consumer/consumer_fixture.h"

/* What was acknowledged before a rewind, and has left the log since, is not lost; what was not is. */
CONSUMER_TEST(going_on_behind_lost, "/consumer-offsets/rewind/acknowledged-messages-are-not-lost")
{
  assign(fixture, 0, 5);
  tide_consumer_partition(fixture->consumer, 0)->rewind.acked_to_offset = 9;
  for (gint64 begin_offset = 8; begin_offset <= 11; begin_offset += 3) {
    TideInputLog log = {.wanted_offset = 5, .committed_offset = 5, .begin_offset = begin_offset, .end_offset = 20};
    g_assert_cmpint(locate(fixture, 0, &log), ==, begin_offset);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_lost_total", NULL), ==,
                     begin_offset > 9 ? 2 : 0);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_deleted_before_rewind_total", NULL), ==,
                     begin_offset > 9 ? 3 + 4 : 3);
  }
}

/* A broker that did not find an offset is told of after a rewind: the offset is of a fetch before it, and what is to be
 * read again until there is not passed over. Behind that, a fetch may be ahead of the last message. */
CONSUMER_TEST(plain, "/consumer-offsets/rewind/fetch-that-failed-before-it-passes-over-nothing")
{
  TideInputLog log = {.wanted_offset = 8, .committed_offset = 5, .begin_offset = 0, .end_offset = 20};
  assign(fixture, 0, 5);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  for (gint64 offset = 5; offset < 8; offset++)
    receive(fixture, offset, GOOD);
  tide_rewind_ask(partition, TIDE_REWIND_REFUSED, tide_now_us());
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_cmpint(locate(fixture, 0, &log), ==, 5);
  receive(fixture, 5, GOOD);
  g_assert_cmpint(locate(fixture, 0, &log), ==, 6);
  receive(fixture, 6, GOOD);
  receive(fixture, 7, GOOD);
  log.wanted_offset = 10;
  g_assert_cmpint(locate(fixture, 0, &log), ==, 10);
}

/* Returns: where it is read next. */
static gint64
lose_messages(ConsumerFixture *fixture)
{
  assign(fixture, 0, 5);
  gint64 offset = locate(
      fixture, 0, &(TideInputLog){.wanted_offset = 5, .committed_offset = 5, .begin_offset = 9, .end_offset = 20});
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_lost_total", NULL), ==, 4);
  g_assert_cmpuint(
      tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_never_read_total", "reason=\"retention\""), ==, 4);
  return offset;
}

CONSUMER_TEST(plain, "/consumer-offsets/halted/by-lost-messages")
{
  g_assert_cmpint(lose_messages(fixture), ==, TIDE_INPUT_HALTED);
  assert_stands_still(fixture, "messages 5 to 8 were deleted before they were read");
}

CONSUMER_TEST(going_on_behind_lost, "/consumer-offsets/halted/not-by-lost-messages-where-wanted")
{
  g_assert_cmpint(lose_messages(fixture), ==, 9);
  g_assert_null(tide_consumer_halt_text(fixture->consumer));
  ASSERT_ASKED(fixture, "commit 0 5, ");
}

/* ---- offsets that cannot be trusted ---- */

static void
assert_says(ConsumerFixture *fixture, const char *why)
{
  g_autofree char *text = tide_consumer_halt_text(fixture->consumer);
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, why));
}

/* Offset 1000 is committed, and the log holds 3 to 9. */
static const TideInputLog recreated = {
    .wanted_offset = 1000, .committed_offset = 1000, .begin_offset = 3, .end_offset = 10, .start_offset = 3};

static void
find_recreated(ConsumerFixture *fixture)
{
  TideInputLog assigned = recreated;
  assigned.wanted_offset = -1;
  g_assert_cmpint(assign_log(fixture, 0, &assigned), ==, 1000);
  g_string_truncate(fake_input_of(fixture->consumer->input)->asked, 0);
  g_assert_cmpint(locate(fixture, 0, &recreated), ==, TIDE_INPUT_ASK_AGAIN);
  tide_consumer_partition(fixture->consumer, 0)->location.beyond_end_us -= TIDE_BEYOND_END_US;
  fixture->consumer->commits.noted_us = tide_now_us(); /* other partitions' notes do not delay that of the halt */
  g_assert_cmpint(locate(fixture, 0, &recreated), ==, TIDE_INPUT_HALTED);
}

/* K1: the next owner, whoever it is, must not go on behind what was never read. */
CONSUMER_TEST(plain, "/consumer-offsets/halted/K1-commits-the-logs-beginning")
{
  find_recreated(fixture);
  assert_says(fixture, "the next offset is 1000, but the partition ends at 10");
  assert_says(fixture, "run 'tidemark offsets move --to past-halt t:0' to continue at 3");
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  ASSERT_ASKED(fixture, "pause 0, commit 0 3, ");
  handlers_of(fixture)->committed(0, 3, TRUE, handlers_of(fixture)->data);
  TideCommitNote note = tide_handover_note(tide_consumer_partition(fixture->consumer, 0), TRUE,
                                           &(TideHandoverContext){.now_us = tide_now_us()});
  g_assert_cmpint(note.halt.cause, ==, TIDE_HALT_BEYOND_END);
  g_assert_cmpint(note.halt.offset, ==, 1000);
  take_away(fixture, 0, FALSE);
  ASSERT_ASKED(fixture, "commit 0 3, resume 0, ");
}

/* K1: rows of the old topic may still complete; what is committed stays. */
CONSUMER_TEST(plain, "/consumer-offsets/halted/K1-completions-move-no-offset")
{
  TideInputLog assigned = {.wanted_offset = -1, .committed_offset = 5, .begin_offset = 3, .end_offset = 10};
  g_assert_cmpint(assign_log(fixture, 0, &assigned), ==, 5);
  receive(fixture, 5, GOOD);
  TideCall call;
  take_call(fixture, &call);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  partition->location.was_replaced = TRUE;
  tide_consumer_locate_replaced(fixture->consumer);
  receive(fixture, 6, GOOD); /* not read before it is located */
  TideInputLog replaced = {.wanted_offset = 5, .committed_offset = -1, .begin_offset = 0, .end_offset = 500};
  g_assert_cmpint(locate(fixture, 0, &replaced), ==, TIDE_INPUT_HALTED);
  assert_says(fixture, "the next offset was 5; the topic was deleted and created again");
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  handlers_of(fixture)->committed(0, 0, TRUE, handlers_of(fixture)->data);
  acknowledge(fixture, &call);
  partition->uncertain.doubt = partition->uncertain.inherited = (TideDoubt){0}; /* hbase.uncertain_timeout is over */
  g_assert_cmpint(partition->offsets.mark, ==, 6);
  g_string_truncate(fake_input_of(fixture->consumer->input)->asked, 0);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  take_away(fixture, 0, FALSE);
  g_assert_null(strstr(fake_input_of(fixture->consumer->input)->asked->str, " 6,"));
  g_assert_nonnull(strstr(fake_input_of(fixture->consumer->input)->asked->str, "commit 0 0, "));
}

/* K1: and what is committed halts the partition wherever it is assigned next. */
CONSUMER_TEST(plain, "/consumer-offsets/halted/K1-noted-halt-is-kept")
{
  TideInputLog log = {.wanted_offset = -1,
                      .committed_offset = 3,
                      .note = TIDE_BYTES_LITERAL("tidemark 1 closed span=1000000 start=-10001"),
                      .begin_offset = 4,
                      .end_offset = 5000};
  g_assert_cmpint(assign_log(fixture, 0, &log), ==, TIDE_INPUT_HALTED);
  assert_says(fixture, "the next offset was 1000");
  receive(fixture, 4, GOOD);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
  take_away(fixture, 0, FALSE);
  g_assert_nonnull(strstr(fake_input_of(fixture->consumer->input)->asked->str, "commit 0 4, "));
}

/* C1: nothing is committed of what is not located. */
CONSUMER_TEST(plain, "/consumer-offsets/unlocated/C1-commits-nothing")
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  guint32 slot = handlers->assigned("t", 0, handlers->data);
  handlers->unlocated(1, "topic 't' partition 0: Broker: Not coordinator", handlers->data);
  handlers->assignment_done(handlers->data);
  g_assert_cmpuint(tide_consumer_state_racy(fixture->consumer).unlocated, ==, 1);
  receive(fixture, 5, GOOD);
  handlers->reached_end(slot, 6, handlers->data);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  take_away(fixture, slot, FALSE);
  ASSERT_ASKED(fixture, "");
}

/* C1: what was wrong is over when it is. */
CONSUMER_TEST(plain, "/consumer-offsets/unlocated/C1-trouble-ends-when-all-are-located")
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  TideInputLog log = {.wanted_offset = -1, .committed_offset = 5, .begin_offset = 3, .end_offset = 10};
  guint32 slot = handlers->assigned("t", 0, handlers->data);
  handlers->unlocated(1, "topic 't' partition 0: Broker: Not coordinator", handlers->data);
  handlers->assignment_done(handlers->data);
  g_autofree char *before = tide_consumer_trouble_text(fixture->consumer);
  g_assert_nonnull(before);
  g_assert_cmpint(locate(fixture, slot, &log), ==, 5);
  g_assert_null(tide_consumer_trouble_text(fixture->consumer));
}

/* K2: its topic was recreated, and it is taken away before the brokers have said where it stands now. */
CONSUMER_TEST(plain, "/consumer-offsets/halt/K2-replaced-log-is-known-after-a-rebalance")
{
  TideGroupMemory *memory = fixture->consumer->context.memory = tide_group_memory_new("g");
  TideInputLog assigned = {.wanted_offset = -1, .committed_offset = 5, .begin_offset = 3, .end_offset = 10};
  g_assert_cmpint(assign_log(fixture, 0, &assigned), ==, 5);
  tide_consumer_partition(fixture->consumer, 0)->location.was_replaced = TRUE;
  tide_consumer_locate_replaced(fixture->consumer);
  take_away(fixture, 0, FALSE);
  TideInputLog replaced = {.wanted_offset = -1, .committed_offset = -1, .end_offset = 500, .start_offset = 500};
  g_assert_cmpint(assign_log(fixture, 0, &replaced), ==, TIDE_INPUT_HALTED);
  assert_says(fixture, "the next offset was 5; the topic was deleted and created again");
  take_away(fixture, 0, FALSE);
  /* Of an assignment in which it was never located nothing is known. */
  tide_group_memory_release(memory, "t", 0, (TideOwnCommit){9, 9, 1});
  (void)handlers_of(fixture)->assigned("t", 0, handlers_of(fixture)->data);
  take_away(fixture, 0, FALSE);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).offset, ==, 9);
  fixture->consumer->context.memory = NULL;
  tide_group_memory_free(memory);
}

/* A commit of it may take effect unanswered, and must not be taken for a stranger's at the next assignment. */
CONSUMER_TEST(plain, "/consumer-offsets/halt/L11-rewound-partition-has-come-so-far")
{
  TideGroupMemory *memory = fixture->consumer->context.memory = tide_group_memory_new("g");
  assign(fixture, 0, 5);
  write_one(fixture, 5, GOOD);
  tide_rewind_ask(tide_consumer_partition(fixture->consumer, 0), TIDE_REWIND_CANCELLED, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  take_away(fixture, 0, TRUE);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).reached_offset, ==, 6);
  fixture->consumer->context.memory = NULL;
  tide_group_memory_free(memory);
}

/* K8: what is finished is not deleted before it is read, though the fetch begins before it. */
CONSUMER_TEST(plain, "/consumer-offsets/halt/K8-deleted-marks-of-transactions-halt-nothing")
{
  static int watched;
  assign(fixture, 0, 5);
  fixture->consumer->context.watch = (TideKafkaWatch *)&watched; /* messages come from Kafka */
  handlers_of(fixture)->reached_end(0, 7, handlers_of(fixture)->data);
  fixture->consumer->context.watch = NULL;
  TideInputLog log = {.wanted_offset = 5, .committed_offset = 7, .begin_offset = 7, .end_offset = 7};
  g_assert_cmpint(locate(fixture, 0, &log), ==, 7);
}

/* K8: transactions leave marks behind the last message. */
CONSUMER_TEST(plain, "/consumer-offsets/end/K8-of-the-log-is-committed")
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  static int watched;
  assign(fixture, 0, 5);
  fixture->consumer->context.watch = (TideKafkaWatch *)&watched; /* messages come from Kafka */
  handlers->committed(0, 5, TRUE, handlers->data);
  g_string_truncate(fake_input_of(fixture->consumer->input)->asked, 0);
  receive(fixture, 5, GOOD);
  handlers->reached_end(0, 7, handlers->data);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  ASSERT_ASKED(fixture, "");
  TideCall call;
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  ASSERT_ASKED(fixture, "store 0 7, ");
  handlers->reached_end(0, 8, handlers->data);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  ASSERT_ASKED(fixture, "store 0 8, ");
  receive(fixture, 8, GOOD);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  ASSERT_ASKED(fixture, "store 0 9, ");
  fixture->consumer->context.watch = NULL;
}
