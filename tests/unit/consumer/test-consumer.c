/* What a consumer does when partitions come and go under it, while it pauses, where a message holds it, when it rewinds
 * a partition, and at the end of what is to be read. */
#include "unit/consumer/consumer_fixture.h"

#include <sched.h>

#define PATIENCE_US (30 * TIDE_US_PER_S)

/* ---- partitions that come and go ---- */

/* The partition was elsewhere meanwhile, and begins behind what that owner has written: the row that completes is of a
 * message before, and finishes none of now. */
CONSUMER_TEST(plain, "/consumer/rebalance/rows-of-an-older-ownership-finish-nothing")
{
  TideCall older, newer;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  take_call(fixture, &older);
  take_away(fixture, 0, TRUE);
  assign(fixture, 0, 9);
  receive(fixture, 9, OTHER);
  acknowledge(fixture, &older);
  assert_unfinished(fixture, 1, 9);
  take_call(fixture, &newer);
  acknowledge(fixture, &newer);
  assert_unfinished(fixture, 0, 10);
}

CONSUMER_TEST(plain, "/consumer/rebalance/dead-letters-of-an-older-ownership-finish-nothing")
{
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  TideDeadLetterJob *older = bare_dead_letters_take(fixture->dead_letters);
  take_away(fixture, 0, TRUE);
  assign(fixture, 0, 9);
  receive(fixture, 9, BAD);
  keep_dead_letter(fixture, older);
  assert_unfinished(fixture, 1, 9);
  keep_dead_letter(fixture, bare_dead_letters_take(fixture->dead_letters));
  assert_unfinished(fixture, 0, 10);
}

CONSUMER_TEST(plain, "/consumer/rebalance/M12-what-was-written-is-committed-at-a-revoke")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  write_one(fixture, 5, GOOD);
  take_away(fixture, 0, FALSE);
  ASSERT_ASKED(fixture, "commit 0 6, ");
}

CONSUMER_TEST(plain, "/consumer/rebalance/nothing-is-committed-of-what-was-lost")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  write_one(fixture, 5, GOOD);
  take_away(fixture, 0, TRUE);
  ASSERT_ASKED(fixture, "");
}

CONSUMER_TEST(plain, "/consumer/commits/refused-one-is-asked-for-again")
{
  TideConsumer *consumer = fixture->consumer;
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  write_one(fixture, 5, GOOD);
  tide_consumer_commits_store_marks(&consumer->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
  g_assert_cmpint(tide_consumer_commits_due_us(&consumer->commits), ==, G_MAXINT64);
  handlers_of(fixture)->committed(0, 6, FALSE, consumer);
  g_assert_cmpint(tide_consumer_commits_due_us(&consumer->commits), <, G_MAXINT64);
  tide_consumer_commits_store_marks(&consumer->commits);
  ASSERT_ASKED(fixture, "store 0 6, ");
}

/* The owner before us has closed, so whoever comes behind us would take what we send for written: nothing is read of
 * the partition before the brokers have taken that it is ours. */
CONSUMER_TEST(plain, "/consumer/commits/A9-nothing-is-read-before-a-take-over-is-committed")
{
  TideConsumer *consumer = fixture->consumer;
  fake_input_of(consumer->input)->refuses_commits = TRUE;
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, pause 0, ");
  g_assert_cmpuint(tide_consumer_partition(consumer, 0)->pauses.reasons, ==, TIDE_PAUSE_COMMIT);
  tide_consumer_commits_store_marks(&consumer->commits);
  ASSERT_ASKED(fixture, ""); /* the group may be rebalancing */
  consumer->commits.noted_us = 0;
  tide_consumer_commits_store_marks(&consumer->commits);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  tide_consumer_partition(consumer, 0)->pauses.changed_us = 0;
  handlers_of(fixture)->committed(0, 5, FALSE, consumer);
  ASSERT_ASKED(fixture, "");
  consumer->commits.noted_us = 0;
  tide_consumer_commits_store_marks(&consumer->commits);
  handlers_of(fixture)->committed(0, 5, TRUE, consumer);
  ASSERT_ASKED(fixture, "commit 0 5, resume 0, ");
}

/* ---- pauses ---- */

/* All memory is taken, for long, or given back. */
static void
spend_memory(ConsumerFixture *fixture, gboolean spend)
{
  TidePauses *pauses = &fixture->consumer->pauses;
  gint64 bytes = (gint64)fixture->flow.budget.limit_bytes;
  tide_budget_charge(&fixture->flow.budget, spend ? bytes : -bytes);
  for (guint i = 1; i <= 2; i++)
    tide_pauses_apply_backpressure(pauses, pauses->memory_changed_us + i * 10 * TIDE_US_PER_S);
}

static void
hold_dead_letters(ConsumerFixture *fixture, gboolean hold)
{
  atomic_store(&fixture->dead_letters->shared.is_stalled, hold);
  tide_pauses_check_dead_letters(&fixture->consumer->pauses, hold,
                                 fixture->consumer->pauses.dead_letters_changed_us + 10 * TIDE_US_PER_S);
}

/* As a second later: librdkafka may be told of another change. */
static void
let_pauses_change(ConsumerFixture *fixture)
{
  tide_consumer_partition(fixture->consumer, 0)->pauses.changed_us = 0;
}

/* One partition is given up and two come, while all pause: librdkafka forgets the pause of what is assigned anew. */
static void
assert_a_rebalance_keeps_the_pause(ConsumerFixture *fixture)
{
  ASSERT_ASKED(fixture, "pause 0, ");
  take_away(fixture, 0, TRUE);
  ASSERT_ASKED(fixture, "resume 0, ");
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, pause 0, ");
  assign(fixture, 1, 5);
  ASSERT_ASKED(fixture, "commit 1 5, pause 1, ");
}

CONSUMER_TEST(plain, "/consumer/pauses/spent-memory-pauses-what-a-rebalance-brings")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  spend_memory(fixture, TRUE);
  assert_a_rebalance_keeps_the_pause(fixture);
  spend_memory(fixture, FALSE);
}

CONSUMER_TEST(plain, "/consumer/pauses/Y23-dead-letters-that-cannot-be-kept-pause-what-a-rebalance-brings")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  hold_dead_letters(fixture, TRUE);
  assert_a_rebalance_keeps_the_pause(fixture);
}

CONSUMER_TEST(plain, "/consumer/pauses/until-no-reason-is-left")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  spend_memory(fixture, TRUE);
  hold_dead_letters(fixture, TRUE);
  ASSERT_ASKED(fixture, "pause 0, ");
  let_pauses_change(fixture);
  spend_memory(fixture, FALSE);
  ASSERT_ASKED(fixture, "");
  hold_dead_letters(fixture, FALSE);
  ASSERT_ASKED(fixture, "resume 0, ");
}

/* What made all pause has not ended because one is read again; nor was it for that one that librdkafka went on. */
static void
assert_reading_again_keeps_the_pause(ConsumerFixture *fixture)
{
  ASSERT_ASKED(fixture, "pause 0, ");
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  partition->awaited.is_awaited = TRUE; /* it comes again, behind others that must not be passed over */
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_false(partition->awaited.is_awaited);
  ASSERT_ASKED(fixture, "resume 0, move 0 5, pause 0, ");
}

CONSUMER_TEST(plain, "/consumer/pauses/spent-memory-pauses-what-is-read-again")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  spend_memory(fixture, TRUE);
  assert_reading_again_keeps_the_pause(fixture);
  spend_memory(fixture, FALSE);
}

CONSUMER_TEST(plain, "/consumer/pauses/dead-letters-that-cannot-be-kept-pause-what-is-read-again")
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  hold_dead_letters(fixture, TRUE);
  assert_reading_again_keeps_the_pause(fixture);
}

/* ---- partitions that are halted ---- */

/* A pause does not take back what librdkafka has handed out already. */
CONSUMER_TEST(stopping_at_bad, "/consumer/halted/nothing-is-read-behind-a-message-that-halts")
{
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  assert_stands_still(fixture, "is halted at offset 5");
  receive(fixture, 6, GOOD);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_received_total", NULL), ==, 0);
  assert_unfinished(fixture, 0, 5);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
}

CONSUMER_TEST(stopping_at_bad, "/consumer/halted/by-a-message-with-one-bad-reading")
{
  assign(fixture, 0, 5);
  receive(fixture, 5, PARTLY_BAD);
  assert_stands_still(fixture, "is halted at offset 5");
  assert_unfinished(fixture, 0, 5);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
}

/* The message of sequence 0, of the newest assignment, must be written once more. */
static void
hold_first(ConsumerFixture *fixture)
{
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  tide_rewind_hold(partition, (TideSourceRef){.assignment = partition->assignment.number}, 1, FALSE);
}

/* What it was halted at is met again, and halts it again: else what is held before that is never written once more, and
 * 'past-halt' finds another offset committed. */
CONSUMER_TEST(stopping_at_bad, "/consumer/rewind/H2-halted-partition-is-read-again-up-to-its-halt")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  receive(fixture, 6, BAD);
  assert_stands_still(fixture, "is halted at offset 6");
  assert_unfinished(fixture, 0, 5);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_null(tide_consumer_halt_text(fixture->consumer));
  ASSERT_ASKED(fixture, "resume 0, move 0 5, ");
  write_one(fixture, 5, GOOD);
  receive(fixture, 6, BAD);
  g_autofree char *text = tide_consumer_halt_text(fixture->consumer);
  g_assert_nonnull(strstr(text, "is halted at offset 6"));
  receive(fixture, 7, GOOD);
  assert_unfinished(fixture, 0, 6);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_total", NULL), ==, 1);
}

/* A message halts its partition, is met again after a rewind, and is one message all the same. */
CONSUMER_TEST(stopping_at_bad, "/consumer/rewind/R9-message-that-halts-is-counted-once")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  receive(fixture, 6, BAD);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  write_one(fixture, 5, GOOD);
  receive(fixture, 6, BAD);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_halted_total", NULL), ==, 1);
}

/* Two messages of which HBase refuses a row halt it by turns, as their rows come back in another order after each
 * rewind: they are two. */
CONSUMER_TEST(stopping_at_bad, "/consumer/rewind/A12-each-message-that-halts-is-counted-once")
{
  TidePauses *pauses = &fixture->consumer->pauses;
  assign(fixture, 0, 5);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  for (gint64 offset = 5; offset < 9; offset++) {
    receive(fixture, 5, GOOD);
    hold_first(fixture);
    tide_pauses_halt_at_message(pauses, partition, 5 + offset % 2, g_strdup("halted"));
    partition->rewind.spaced_until_us = partition->rewind.backs_off_until_us = 0;
    tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  }
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_halted_total", NULL), ==, 2);
}

/* Its rows are cancelled again and again before any is written: it is read again from one offset, more seldom each
 * time, and that is told. */
CONSUMER_TEST(plain, "/consumer/rewind/A13-rewinds-in-vain-back-off")
{
  TideRewinds *rewinds = &fixture->consumer->rewinds;
  gint64 now_us = tide_now_us();
  assign(fixture, 0, 5);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  for (guint i = 0; i < 4; i++) {
    receive(fixture, 5, GOOD);
    tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, now_us);
    gint64 due_us = now_us + (i >= 2 ? TIDE_US_PER_S << (i - 2) : 0);
    tide_rewinds_run(rewinds, due_us - 1);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_total", NULL), ==, i);
    tide_rewinds_run(rewinds, due_us);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_total", NULL), ==, i + 1);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_without_progress_total", NULL), ==,
                     i);
    now_us = due_us;
  }
  write_one(fixture, 5, GOOD);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, now_us + 3600 * TIDE_US_PER_S);
  tide_rewinds_run(rewinds, now_us + 3600 * TIDE_US_PER_S);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_without_progress_total", NULL), ==,
                   3);
}

/* A partition is held and looked for at the same time, as where its topic may have been made anew: nobody knows at
 * which offset it stands. */
CONSUMER_TEST(plain, "/consumer/rewind/A5-status-names-no-offset-below-the-first")
{
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  partition->location.was_replaced = TRUE;
  tide_consumer_locate_replaced(fixture->consumer);
  g_assert_null(tide_rewind_describe(&partition->rewind, tide_partition_position(partition), tide_now_us()));
}

/* A message is held for long, and nothing but bad messages follows. That their dead letters are kept is remembered
 * until they are committed, which is when they have been read again: so there must be memory left to read them. */
CONSUMER_TEST(plain, "/consumer/rewind/A6-kept-dead-letters-leave-memory")
{
  const gint64 most = (1 << 20) / 8 / sizeof(TideKeptLetter) / fixture->flow.config->kafka.threads;
  TideCall call;
  tide_budget_set_limit(&fixture->flow.budget, 1 << 20);
  assign(fixture, 0, 5);
  const TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  gint64 offset = 6;
  while ((partition->pauses.reasons & TIDE_PAUSE_SPAN) == 0 && offset < 8 + most) {
    receive(fixture, offset++, BAD);
    keep_dead_letter(fixture, bare_dead_letters_take(fixture->dead_letters));
  }
  g_assert_cmpint(offset, ==, 6 + most + 1);
  g_assert_false(tide_budget_is_spent_racy(&fixture->flow.budget));
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  write_one(fixture, 5, GOOD);
  hold_first(fixture); /* once more: what is read again may be */
  for (gint64 again = 6; again < offset; again++) {
    g_assert_cmpuint(partition->pauses.reasons & TIDE_PAUSE_SPAN, ==, 0);
    receive(fixture, again, BAD);
    tide_pauses_apply_spans(&fixture->consumer->pauses);
  }
  g_assert_cmpuint(partition->pauses.reasons & TIDE_PAUSE_SPAN, !=, 0);
}

/* A partition that was rewound, and of which nothing is on its way, is given up while the row of another one
 * waits for its table. */
CONSUMER_TEST(plain, "/consumer/rewind/R4-revoke-waits-for-no-row-of-others")
{
  TideCall call;
  assign(fixture, 0, 5);
  assign(fixture, 1, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  write_one(fixture, 6, OTHER);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  write_one(fixture, 5, GOOD); /* and 6 is yet to be read again */
  receive_of(fixture, 1, 5, "{\"host\":\"z\"," GOOD_TIME ",\"v\":1}");
  assert_unfinished(fixture, 0, 6);
  gint64 since_us = tide_now_us();
  take_away(fixture, 0, FALSE);
  g_assert_cmpint(tide_now_us() - since_us, <, TIDE_US_PER_S);
}

/* Its moment has come, and a stop comes before it is read again: its row, which is on its way, is waited for, and so
 * the next owner finds nothing in doubt. A dead letter that was given up for the rewind is not, as it never ends. */
CONSUMER_TEST(plain, "/consumer/rewind/stop-waits-for-rows-of-what-is-due")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  receive(fixture, 6, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->dead_letters);
  hold_first(fixture);
  take_call(fixture, &call);
  g_assert_false(tide_rewind_prepare(tide_consumer_partition(fixture->consumer, 0), tide_now_us()));
  give_up_dead_letter(fixture, job);
  g_assert_true(tide_rewind_has_letter(&tide_consumer_partition(fixture->consumer, 0)->rewind, 6));
  g_assert_true(tide_consumer_has_work(fixture->consumer, 0));
  acknowledge(fixture, &call);
  g_assert_false(tide_consumer_has_work(fixture->consumer, 0));
  assert_unfinished(fixture, 1, 5);
}

/* One that had rows in a batch with those of a partition that was lost, so that they are not sent, has them again. */
CONSUMER_TEST(plain, "/consumer/rewind/partition-that-shared-a-batch-is-read-again")
{
  assign(fixture, 0, 5);
  assign(fixture, 1, 7);
  receive(fixture, 5, GOOD);
  receive_of(fixture, 1, 7, OTHER);
  ASSERT_ASKED(fixture, "commit 0 5, commit 1 7, ");
  take_away(fixture, 0, TRUE);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  ASSERT_ASKED(fixture, "move 1 7, ");
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_kafka_rewinds_total", "reason=\"cancelled\""), ==,
                   1);
}

/* Rows that are not sent any more are not. */
CONSUMER_TEST(plain, "/consumer/rewind/stop-waits-for-no-cancelled-row")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  take_call(fixture, &call);
  tide_rewind_ask(tide_consumer_partition(fixture->consumer, 0), TIDE_REWIND_CANCELLED, 1);
  g_assert_false(tide_consumer_has_work(fixture->consumer, 0));
  g_assert_true(tide_rewind_prepare(tide_consumer_partition(fixture->consumer, 0), tide_now_us()));
  g_assert_false(tide_consumer_has_work(fixture->consumer, 0));
  acknowledge(fixture, &call);
}

/* A row that was read before a rewind is waited for at a stop, though no message waits for it. */
CONSUMER_TEST(plain, "/consumer/rewind/F14-stop-waits-for-rows-from-before-a-rewind")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  assert_unfinished(fixture, 0, 5);
  g_assert_true(tide_consumer_has_work(fixture->consumer, 0));
  acknowledge(fixture, &call);
  g_assert_false(tide_consumer_has_work(fixture->consumer, 0));
}

/* Part of a message is kept as a dead letter, and the rest is on its way as it is rewound: it is counted all the
 * same, once. */
CONSUMER_TEST(by_reading, "/consumer/rewind/R3-dead-letter-of-an-unfinished-message")
{
  assign(fixture, 0, 5);
  receive(fixture, 5, PARTLY_BAD);
  keep_dead_letter(fixture, bare_dead_letters_take(fixture->dead_letters));
  tide_rewind_ask(tide_consumer_partition(fixture->consumer, 0), TIDE_REWIND_CANCELLED, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  TideCall call;
  receive(fixture, 5, PARTLY_BAD);
  g_assert_null(fixture->dead_letters->locked.incoming.first); /* it is kept already */
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  assert_unfinished(fixture, 0, 6);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 1);
}

/* A row that HBase refuses halts its partition while later messages are on their way: it is refused again. */
CONSUMER_TEST(stopping_at_bad, "/consumer/rewind/H2-halted-by-a-refused-row")
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  tide_batch_add_poison(call.batches[0], 0, 1, "too large");
  acknowledge(fixture, &call);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  g_assert_cmpuint(partition->rewind.refused_acks, ==, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_cmpuint(partition->rewind.refused_acks, ==, 0);
  write_one(fixture, 5, GOOD);
  assert_unfinished(fixture, 0, 6);
}

static TideSchemaAnswer schema_answer;

static TideSchemaAnswer
find_schema(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema, const char **ret_why)
{
  return schema_answer;
}

/* It goes on at its own message, and what was read before that is on its way as ever. */
CONSUMER_TEST(plain, "/consumer/rewind/awaited-schema-drops-nothing")
{
  TideSchemaSource source = {.find = find_schema};
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  partition->awaited = (TideAwaitedSchema){TRUE, 1, 6, 0, &source};
  schema_answer = TIDE_SCHEMA_AWAITED;
  ASSERT_ASKED(fixture, "commit 0 5, ");
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  ASSERT_ASKED(fixture, "");
  schema_answer = TIDE_SCHEMA_FOUND;
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  ASSERT_ASKED(fixture, "move 0 6, ");
  assert_unfinished(fixture, 1, 5);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_handed_back_total", NULL), ==, 0);
}

/* ---- with its thread ---- */

/* Memory is spent and given back all the time, so that no hold lasts until partitions pause. */
CONSUMER_TEST(plain, "/consumer/pauses/time-held-for-memory-is-told")
{
  TideConsumerContext context = context_of(fixture);
  gint64 bytes = (gint64)context.budget->limit_bytes, deadline_us = tide_now_us() + PATIENCE_US;
  g_autoptr(GError) error = NULL;
  TideConsumer *running = tide_consumer_start(&context, 1, &error);
  g_assert_no_error(error);
  while (tide_consumer_state_racy(running).held_permille == 0) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    tide_budget_charge(context.budget, bytes);
    sched_yield();
    tide_budget_charge(context.budget, -bytes);
    sched_yield();
  }
  tide_consumer_stop(running, tide_now_us());
  tide_consumer_free(running);
}

/* The whole scene, on the consumer's thread: of ten messages that are finished the third and the seventh are held, the
 * latter for much longer; then it is rewound, and stopped before anything is read again. */
static gboolean
poll_rewound(TideInput *input, int timeout_ms, TideInputRecord *ret_record)
{
  const TideInputHandlers *handlers = &fake_input_of(input)->handlers;
  TideConsumer *consumer = handlers->data;
  if (consumer->partitions->len > 0)
    return FALSE;
  TideInputLog log = {.wanted_offset = -1, .committed_offset = -1, .begin_offset = 5, .start_offset = 5};
  guint32 slot = handlers->assigned("t", 0, consumer);
  (void)handlers->located(slot, &log, consumer);
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  for (gint64 offset = 5; offset < 15; offset++) {
    TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"), .offset = offset, .timestamp_ms = -1};
    if (offset == 7 || offset == 11)
      tide_rewind_hold_all(partition, (guint32)offset - 5, offset == 7 ? 1 : tide_now_us() + 3600 * TIDE_US_PER_S);
    tide_partition_skip(partition, consumer->context.budget, &message, TIDE_REJECT_TOMBSTONE);
  }
  tide_rewinds_run(&consumer->rewinds, tide_now_us());
  g_assert_true(tide_rewind_is_pending(&partition->rewind));
  atomic_store(&consumer->stopping, TRUE);
  return FALSE;
}

static TideInput *
open_rewound(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error)
{
  static TideInputFuncs funcs;
  TideInput *input = fake_input_open(index, handlers, data, error);
  funcs = fake_input_funcs;
  funcs.poll = poll_rewound;
  input->funcs = &funcs;
  return input;
}

/* What it says at its end counts messages that there are. */
CONSUMER_TEST(plain, "/consumer/rewind/A4-stop-tells-how-many-are-held")
{
  TideConsumerContext context = context_of(fixture);
  g_autoptr(GError) error = NULL;
  context.open_input = open_rewound;
  TideConsumer *consumer = tide_consumer_start(&context, 1, &error);
  g_assert_no_error(error);
  g_assert_true(tide_consumer_join_until(consumer, tide_now_us() + PATIENCE_US));
  g_assert_cmpuint(tide_consumer_state_racy(consumer).remaining_held, <=, 10);
  tide_consumer_free(consumer);
}

/* ---- runs to the end ---- */

static gboolean
is_finished(const ConsumerFixture *fixture)
{
  tide_consumer_update_finished(fixture->consumer);
  return tide_consumer_status_read_racy(&fixture->consumer->status).finished;
}

static void
reach_end(const ConsumerFixture *fixture, guint32 slot, gint64 offset)
{
  handlers_of(fixture)->reached_end(slot, offset, handlers_of(fixture)->data);
}

/* Of a cooperative group, which is given more without losing what it has. */
CONSUMER_TEST(plain, "/consumer/end/of-what-comes-too")
{
  fixture->consumer->context.until_end = TRUE;
  assign(fixture, 0, 5);
  reach_end(fixture, 0, 5);
  g_assert_true(is_finished(fixture));
  assign(fixture, 1, 5);
  g_assert_false(is_finished(fixture));
  reach_end(fixture, 1, 5);
  g_assert_true(is_finished(fixture));
}

/* By a reload that raises max_ratio. */
CONSUMER_TEST(plain, "/consumer/end/at-too-many-dead-letters-may-pass")
{
  fixture->consumer->context.until_end = TRUE;
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->dead_letters);
  fixture->consumer->pauses.dead_letters_paused = TRUE;
  g_assert_false(is_finished(fixture));
  atomic_store(&fixture->dead_letters->shared.too_many, TRUE);
  fixture->dead_letters->locked.is_at_rest = TRUE;
  g_assert_true(is_finished(fixture));
  atomic_store(&fixture->dead_letters->shared.too_many, FALSE);
  g_assert_false(is_finished(fixture));
  keep_dead_letter(fixture, job);
}

/* While dead letters pause all partitions nothing is read again, either. */
CONSUMER_TEST(plain, "/consumer/end/M4-at-too-many-dead-letters-awaits-no-rewind")
{
  fixture->consumer->context.until_end = TRUE;
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->dead_letters);
  hold_first(fixture);
  fixture->consumer->pauses.dead_letters_paused = TRUE;
  atomic_store(&fixture->dead_letters->shared.too_many, TRUE);
  fixture->dead_letters->locked.is_at_rest = TRUE;
  g_assert_true(is_finished(fixture));
  keep_dead_letter(fixture, job);
}

/* While a stop waits, messages are dropped on their way: that the log's end was reached says nothing of them. */
CONSUMER_TEST(plain, "/consumer/end/of-the-log-moves-no-offset-while-stopping")
{
  TideConsumer *consumer = fixture->consumer;
  TideKafkaWatch *watch = tide_kafka_watch_new(&fixture->flow.config->kafka, 0, fixture->flow.metrics);
  assign(fixture, 0, 5);
  consumer->context.watch = watch;
  atomic_store(&consumer->stopping, TRUE);
  reach_end(fixture, 0, 9);
  g_assert_cmpint(tide_partition_position(tide_consumer_partition(consumer, 0)), ==, 5);
  atomic_store(&consumer->stopping, FALSE);
  reach_end(fixture, 0, 9);
  g_assert_cmpint(tide_partition_position(tide_consumer_partition(consumer, 0)), ==, 9);
  consumer->context.watch = NULL;
  tide_kafka_watch_free(watch);
}
