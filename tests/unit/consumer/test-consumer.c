/* A consumer without its thread, between an input that only notes what it is asked and lanes without writers: what it
 * does when partitions come and go under it, while it pauses, and where a message holds it. */
#include "consumer/consumer_private.h"
#include "consumer/handover.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "unit/bare_consumer.h"
#include "unit/fake_input.h"

#include <sched.h>

#define PATIENCE_US (30 * TIDE_US_PER_S)

#define GOOD_TIME "\"ts\":1763700000000"
#define GOOD "{\"host\":\"a\"," GOOD_TIME ",\"v\":1}"
#define OTHER "{\"host\":\"b\"," GOOD_TIME ",\"v\":2}"
#define BAD "nonsense"
#define PARTLY_BAD "[" GOOD ",{\"host\":\"c\",\"v\":3}]"

static const char base_text[] =
    "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
    "dead_letters: { topic: letters }\n"
    "tables:\n"
    "  DATA: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n";

#define KAFKA "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t]"
#define READINGS "readings: { format: json, time: { field: ts, format: epoch_ms }"

static const char plain[] = KAFKA " }\n" READINGS " }\n";
static const char stopping_at_bad[] = KAFKA " }\n" READINGS ", on_bad_message: stop, on_bad_reading: reading }\n";
static const char by_reading[] = KAFKA " }\n" READINGS ", on_bad_reading: reading }\n";
static const char going_on_behind_lost[] = KAFKA ", on_lost_offsets: continue }\n" READINGS " }\n";

typedef struct Fixture {
  UnstartedFlow flow;
  TideDeadLetterQueue *dead_letters; /* not started: jobs wait in it */
  TideConsumer *consumer;
} Fixture;

static TideConsumerContext
context_of(Fixture *fixture)
{
  UnstartedFlow *flow = &fixture->flow;
  return (TideConsumerContext){.config = flow->config,
                               .protocol = TIDE_WIRE_BINARY,
                               .budget = &flow->budget,
                               .table_budgets = flow->table_budgets,
                               .doubt_budget = &flow->doubt_budget,
                               .lanes = flow->lanes,
                               .regions = flow->regions,
                               .dated = flow->dated,
                               .dead_letters = fixture->dead_letters,
                               .metrics = flow->metrics,
                               .open_input = fake_input_open};
}

static void
set_up(Fixture *fixture, gconstpointer options)
{
  UnstartedFlow *flow = &fixture->flow;
  g_autofree char *text = g_strconcat(options, base_text, NULL);
  unstarted_flow_set_up(flow, text);
  fixture->dead_letters = bare_dead_letters_new(flow);
  TideConsumerContext context = context_of(fixture);
  g_autoptr(GError) error = NULL;
  fixture->consumer = tide_consumer_new(&context, 0, &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *fixture, gconstpointer options)
{
  tide_lanes_stop(fixture->flow.lanes);
  tide_consumer_free(fixture->consumer);
  tide_dead_letter_queue_free(fixture->dead_letters);
  unstarted_flow_tear_down(&fixture->flow);
}

/* ---- what Kafka does ---- */

static const TideInputHandlers *
handlers_of(const Fixture *fixture)
{
  return &fake_input_of(fixture->consumer->input)->handlers;
}

/* What brokers say of partition @slot. Returns: where it is read next. */
static gint64
locate(Fixture *fixture, guint32 slot, const TideInputLog *log)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  gint64 offset = handlers->located(slot, log, handlers->data);
  handlers->unlocated(0, NULL, handlers->data);
  if (offset >= 0) {
    handlers->taking(&slot, 1, handlers->data);
    handlers->taken(&slot, 1, handlers->data);
  }
  return offset;
}

static gint64
assign_log(Fixture *fixture, gint32 number, const TideInputLog *log)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  gint64 offset = locate(fixture, handlers->assigned("t", number, handlers->data), log);
  handlers->assignment_done(handlers->data);
  return offset;
}

/* Partition @number, of which nothing was committed, begins at @start_offset. */
static void
assign(Fixture *fixture, gint32 number, gint64 start_offset)
{
  TideInputLog log = {.wanted_offset = -1,
                      .committed_offset = -1,
                      .begin_offset = start_offset,
                      .end_offset = start_offset,
                      .start_offset = start_offset};
  g_assert_cmpint(assign_log(fixture, number, &log), ==, start_offset);
}

static void
take_away(Fixture *fixture, guint32 slot, gboolean lost)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  handlers->revoking(&slot, 1, lost, handlers->data);
  handlers->revoked(&slot, 1, handlers->data);
}

static void
receive(Fixture *fixture, gint64 offset, const char *payload)
{
  TideInputRecord record = {.message = {.topic = TIDE_BYTES_LITERAL("t"),
                                        .offset = offset,
                                        .timestamp_ms = -1,
                                        .value = tide_bytes_of_string(payload),
                                        .has_value = TRUE}};
  tide_consumer_handle_message(fixture->consumer, &record, tide_now_us());
}

/* What was asked of the input since the last time. */
#define ASSERT_ASKED(fixture, wanted)                                                                                  \
  do {                                                                                                                 \
    GString *asked_ = fake_input_of((fixture)->consumer->input)->asked;                                                \
    g_assert_cmpstr(asked_->str, ==, wanted);                                                                          \
    g_string_truncate(asked_, 0);                                                                                      \
  } while (0)

/* ---- what writers and dead letters do ---- */

static void
take_call(Fixture *fixture, TideCall *ret_call)
{
  bare_flow_take_call(&fixture->flow, fixture->consumer->accumulator, 1, ret_call);
}

static void
acknowledge(Fixture *fixture, TideCall *call)
{
  tide_lanes_finish(fixture->flow.lanes, call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  tide_consumer_take_completed(fixture->consumer, 0);
}

static void
write_one(Fixture *fixture, gint64 offset, const char *payload)
{
  TideCall call;
  receive(fixture, offset, payload);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
}

static void
keep_dead_letter(Fixture *fixture, TideDeadLetterJob *job)
{
  bare_dead_letters_keep(&fixture->flow, job);
  tide_consumer_take_completed(fixture->consumer, 0);
}

static void
assert_unfinished(const Fixture *fixture, guint32 n, gint64 position)
{
  const TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  g_assert_cmpuint(partition->offsets.unfinished, ==, n);
  g_assert_cmpint(tide_partition_position(partition), ==, position);
}

/* ---- partitions that come and go ---- */

/* The partition was elsewhere meanwhile, and begins behind what that owner has written: the row that completes is of a
 * message before, and finishes none of now. */
static void
test_rows_of_an_older_ownership_finish_nothing(Fixture *fixture, gconstpointer options)
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

static void
test_dead_letters_of_an_older_ownership_finish_nothing(Fixture *fixture, gconstpointer options)
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

static void
test_M12_what_was_written_is_committed_at_a_revoke(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  write_one(fixture, 5, GOOD);
  take_away(fixture, 0, FALSE);
  ASSERT_ASKED(fixture, "commit 0 6, ");
}

static void
test_nothing_is_committed_of_what_was_lost(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  write_one(fixture, 5, GOOD);
  take_away(fixture, 0, TRUE);
  ASSERT_ASKED(fixture, "");
}

static void
test_refused_commit_is_asked_for_again(Fixture *fixture, gconstpointer options)
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

/* ---- pauses ---- */

/* All memory is taken, for long, or given back. */
static void
spend_memory(Fixture *fixture, gboolean spend)
{
  TidePauses *pauses = &fixture->consumer->pauses;
  gint64 bytes = (gint64)fixture->flow.budget.limit_bytes;
  tide_budget_charge(&fixture->flow.budget, spend ? bytes : -bytes);
  for (guint i = 1; i <= 2; i++)
    tide_pauses_apply_backpressure(pauses, pauses->memory_changed_us + i * 10 * TIDE_US_PER_S);
}

static void
hold_dead_letters(Fixture *fixture, gboolean hold)
{
  atomic_store(&fixture->dead_letters->is_stalled, hold);
  tide_pauses_check_dead_letters(&fixture->consumer->pauses, hold,
                                 fixture->consumer->pauses.dead_letters_changed_us + 10 * TIDE_US_PER_S);
}

/* As a second later: librdkafka may be told of another change. */
static void
let_pauses_change(Fixture *fixture)
{
  tide_consumer_partition(fixture->consumer, 0)->pauses.changed_us = 0;
}

/* One partition is given up and two come, while all pause: librdkafka forgets the pause of what is assigned anew. */
static void
assert_a_rebalance_keeps_the_pause(Fixture *fixture)
{
  ASSERT_ASKED(fixture, "pause 0, ");
  take_away(fixture, 0, TRUE);
  ASSERT_ASKED(fixture, "resume 0, ");
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, pause 0, ");
  assign(fixture, 1, 5);
  ASSERT_ASKED(fixture, "commit 1 5, pause 1, ");
}

static void
test_spent_memory_pauses_what_a_rebalance_brings(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  spend_memory(fixture, TRUE);
  assert_a_rebalance_keeps_the_pause(fixture);
  spend_memory(fixture, FALSE);
}

static void
test_Y23_dead_letters_that_cannot_be_kept_pause_what_a_rebalance_brings(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  hold_dead_letters(fixture, TRUE);
  assert_a_rebalance_keeps_the_pause(fixture);
}

static void
test_partition_pauses_until_no_reason_is_left(Fixture *fixture, gconstpointer options)
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
assert_reading_again_keeps_the_pause(Fixture *fixture)
{
  ASSERT_ASKED(fixture, "pause 0, ");
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  partition->awaited.is_awaited = TRUE; /* it comes again, behind others that must not be passed over */
  tide_rewind_ask(partition, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_false(partition->awaited.is_awaited);
  ASSERT_ASKED(fixture, "resume 0, move 0 5, pause 0, ");
}

static void
test_spent_memory_pauses_what_is_read_again(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  spend_memory(fixture, TRUE);
  assert_reading_again_keeps_the_pause(fixture);
  spend_memory(fixture, FALSE);
}

static void
test_dead_letters_that_cannot_be_kept_pause_what_is_read_again(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  ASSERT_ASKED(fixture, "commit 0 5, ");
  hold_dead_letters(fixture, TRUE);
  assert_reading_again_keeps_the_pause(fixture);
}

/* ---- partitions that are halted ---- */

static void
assert_stands_still(Fixture *fixture, const char *why)
{
  g_autofree char *text = tide_consumer_halt_text(fixture->consumer);
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, why));
  ASSERT_ASKED(fixture, "commit 0 5, pause 0, ");
}

/* A pause does not take back what librdkafka has handed out already. */
static void
test_nothing_is_read_behind_a_message_that_holds(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  assert_stands_still(fixture, "is halted at offset 5");
  receive(fixture, 6, GOOD);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_received_total", NULL), ==, 0);
  assert_unfinished(fixture, 0, 5);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
}

static void
test_message_with_one_bad_reading_halts(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  receive(fixture, 5, PARTLY_BAD);
  assert_stands_still(fixture, "is halted at offset 5");
  assert_unfinished(fixture, 0, 5);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
}

/* The message of sequence 0, of the newest assignment, must be written once more. */
static void
hold_first(Fixture *fixture)
{
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  tide_rewind_hold(partition, (TideSourceRef){.assignment = partition->assignment.number}, 1, FALSE);
}

/* What it was halted at is met again, and halts it again: else what is held before that is never written once more, and
 * 'past-halt' finds another offset committed. */
static void
test_H2_halted_partition_is_read_again_up_to_its_halt(Fixture *fixture, gconstpointer options)
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
static void
test_R9_message_that_halts_is_counted_once(Fixture *fixture, gconstpointer options)
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

/* A partition that was rewound, and of which nothing is on its way, is given up while the row of another one
 * waits for its table. */
static void
test_R4_revoke_waits_for_no_row_of_others(Fixture *fixture, gconstpointer options)
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
  TideInputRecord record = {.slot = 1,
                            .message = {.topic = TIDE_BYTES_LITERAL("t"),
                                        .partition = 1,
                                        .offset = 5,
                                        .timestamp_ms = -1,
                                        .value = TIDE_BYTES_LITERAL("{\"host\":\"z\"," GOOD_TIME ",\"v\":1}"),
                                        .has_value = TRUE}};
  tide_consumer_handle_message(fixture->consumer, &record, tide_now_us());
  assert_unfinished(fixture, 0, 6);
  gint64 since_us = tide_now_us();
  take_away(fixture, 0, FALSE);
  g_assert_cmpint(tide_now_us() - since_us, <, TIDE_US_PER_S);
}

/* Part of a message is kept as a dead letter, and the rest is on its way as it is rewound: it is counted all the
 * same, once. */
static void
test_R3_dead_letter_of_an_unfinished_message_is_counted(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  receive(fixture, 5, PARTLY_BAD);
  keep_dead_letter(fixture, bare_dead_letters_take(fixture->dead_letters));
  tide_rewind_ask(tide_consumer_partition(fixture->consumer, 0), 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  TideCall call;
  receive(fixture, 5, PARTLY_BAD);
  g_assert_null(fixture->dead_letters->incoming.first); /* it is kept already */
  take_call(fixture, &call);
  acknowledge(fixture, &call);
  assert_unfinished(fixture, 0, 6);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_dead_lettered_total", NULL), ==, 1);
}

/* A row that HBase refuses halts its partition while later messages are on their way: it is refused again. */
static void
test_H2_partition_halted_by_a_refused_row_owes_nothing_more(Fixture *fixture, gconstpointer options)
{
  TideCall call;
  assign(fixture, 0, 5);
  receive(fixture, 5, GOOD);
  hold_first(fixture);
  take_call(fixture, &call);
  tide_batch_add_poison(call.batches[0], 0, 1, "too large");
  acknowledge(fixture, &call);
  TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  g_assert_cmpuint(partition->halt.acks, ==, 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  g_assert_cmpuint(partition->halt.acks, ==, 0);
  write_one(fixture, 5, GOOD);
  assert_unfinished(fixture, 0, 6);
}

/* What was acknowledged before a rewind, and has left the log since, is not lost; what was not is. */
static void
test_acknowledged_messages_that_left_the_log_are_not_lost(Fixture *fixture, gconstpointer options)
{
  assign(fixture, 0, 5);
  tide_consumer_partition(fixture->consumer, 0)->rewind.acked_to_offset = 9;
  for (gint64 begin_offset = 8; begin_offset <= 11; begin_offset += 3) {
    TideInputLog log = {.wanted_offset = 5, .committed_offset = 5, .begin_offset = begin_offset, .end_offset = 20};
    g_assert_cmpint(locate(fixture, 0, &log), ==, begin_offset);
    g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_lost_total", NULL), ==,
                     begin_offset > 9 ? 2 : 0);
  }
}

static TideSchemaAnswer schema_answer;

static TideSchemaAnswer
find_schema(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema, const char **ret_why)
{
  return schema_answer;
}

/* It goes on at its own message, and what was read before that is on its way as ever. */
static void
test_awaited_schema_drops_nothing(Fixture *fixture, gconstpointer options)
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

/* Returns: where it is read next. */
static gint64
lose_messages(Fixture *fixture)
{
  assign(fixture, 0, 5);
  gint64 offset = locate(
      fixture, 0, &(TideInputLog){.wanted_offset = 5, .committed_offset = 5, .begin_offset = 9, .end_offset = 20});
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_lost_total", NULL), ==, 4);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_messages_left_out_total", "reason=\"retention\""),
                   ==, 4);
  return offset;
}

static void
test_lost_messages_halt_their_partition(Fixture *fixture, gconstpointer options)
{
  g_assert_cmpint(lose_messages(fixture), ==, TIDE_INPUT_HALTED);
  assert_stands_still(fixture, "messages 5 to 8 were deleted before they were read");
}

static void
test_lost_messages_are_passed_where_wanted(Fixture *fixture, gconstpointer options)
{
  g_assert_cmpint(lose_messages(fixture), ==, 9);
  g_assert_null(tide_consumer_halt_text(fixture->consumer));
  ASSERT_ASKED(fixture, "commit 0 5, ");
}

/* ---- offsets that cannot be trusted ---- */

static void
assert_says(Fixture *fixture, const char *why)
{
  g_autofree char *text = tide_consumer_halt_text(fixture->consumer);
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, why));
}

/* Offset 1000 is committed, and the log holds 3 to 9. */
static const TideInputLog recreated = {
    .wanted_offset = 1000, .committed_offset = 1000, .begin_offset = 3, .end_offset = 10, .start_offset = 3};

static void
find_recreated(Fixture *fixture)
{
  TideInputLog assigned = recreated;
  assigned.wanted_offset = -1;
  g_assert_cmpint(assign_log(fixture, 0, &assigned), ==, 1000);
  g_string_truncate(fake_input_of(fixture->consumer->input)->asked, 0);
  g_assert_cmpint(locate(fixture, 0, &recreated), ==, TIDE_INPUT_ASK_AGAIN);
  tide_consumer_partition(fixture->consumer, 0)->location.beyond_end_us -= TIDE_BEYOND_END_US;
  g_assert_cmpint(locate(fixture, 0, &recreated), ==, TIDE_INPUT_HALTED);
}

/* K1: the next owner, whoever it is, must not go on behind what was never read. */
static void
test_halt_commits_the_logs_beginning(Fixture *fixture, gconstpointer options)
{
  find_recreated(fixture);
  assert_says(fixture, "offset 1000 is to be read next, but the partition ends at 10");
  assert_says(fixture, "run 'tidemark offsets move --to past-halt t:0' to read on at 3");
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
static void
test_completions_move_no_offset_of_a_halted_partition(Fixture *fixture, gconstpointer options)
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
  assert_says(fixture, "offset 5 was to be read next; the topic was deleted and created again");
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  handlers_of(fixture)->committed(0, 0, TRUE, handlers_of(fixture)->data);
  acknowledge(fixture, &call);
  partition->doubt = partition->inherited = (TideDoubt){0}; /* hbase.settle is over */
  g_assert_cmpint(partition->offsets.mark, ==, 6);
  g_string_truncate(fake_input_of(fixture->consumer->input)->asked, 0);
  tide_consumer_commits_store_marks(&fixture->consumer->commits);
  take_away(fixture, 0, FALSE);
  g_assert_null(strstr(fake_input_of(fixture->consumer->input)->asked->str, " 6,"));
  g_assert_nonnull(strstr(fake_input_of(fixture->consumer->input)->asked->str, "commit 0 0, "));
}

/* K1: and what is committed halts the partition wherever it is assigned next. */
static void
test_noted_halt_is_kept_at_the_next_assignment(Fixture *fixture, gconstpointer options)
{
  TideInputLog log = {.wanted_offset = -1,
                      .committed_offset = 3,
                      .note = TIDE_BYTES_LITERAL("tidemark 1 closed span=1000000 start=-10001"),
                      .begin_offset = 4,
                      .end_offset = 5000};
  g_assert_cmpint(assign_log(fixture, 0, &log), ==, TIDE_INPUT_HALTED);
  assert_says(fixture, "offset 1000 was to be read next");
  receive(fixture, 4, GOOD);
  g_assert_true(tide_accumulator_is_empty(fixture->consumer->accumulator));
  take_away(fixture, 0, FALSE);
  g_assert_nonnull(strstr(fake_input_of(fixture->consumer->input)->asked->str, "commit 0 4, "));
}

/* C1: nothing is committed of what is not located. */
static void
test_unlocated_partition_commits_nothing(Fixture *fixture, gconstpointer options)
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
static void
test_trouble_ends_when_all_are_located(Fixture *fixture, gconstpointer options)
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
static void
test_replaced_log_is_known_after_a_rebalance(Fixture *fixture, gconstpointer options)
{
  TideGroupMemory *memory = fixture->consumer->context.memory = tide_group_memory_new("g");
  TideInputLog assigned = {.wanted_offset = -1, .committed_offset = 5, .begin_offset = 3, .end_offset = 10};
  g_assert_cmpint(assign_log(fixture, 0, &assigned), ==, 5);
  tide_consumer_partition(fixture->consumer, 0)->location.was_replaced = TRUE;
  tide_consumer_locate_replaced(fixture->consumer);
  take_away(fixture, 0, FALSE);
  TideInputLog replaced = {.wanted_offset = -1, .committed_offset = -1, .end_offset = 500, .start_offset = 500};
  g_assert_cmpint(assign_log(fixture, 0, &replaced), ==, TIDE_INPUT_HALTED);
  assert_says(fixture, "offset 5 was to be read next; the topic was deleted and created again");
  take_away(fixture, 0, FALSE);
  /* Of an assignment in which it was never located nothing is known. */
  tide_group_memory_give_up(memory, "t", 0, (TideOwnCommit){9, 9, 1});
  (void)handlers_of(fixture)->assigned("t", 0, handlers_of(fixture)->data);
  take_away(fixture, 0, FALSE);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).offset, ==, 9);
  fixture->consumer->context.memory = NULL;
  tide_group_memory_free(memory);
}

/* A commit of it may take effect unanswered, and must not be taken for a stranger's at the next assignment. */
static void
test_L11_rewound_partition_is_known_to_have_come_so_far(Fixture *fixture, gconstpointer options)
{
  TideGroupMemory *memory = fixture->consumer->context.memory = tide_group_memory_new("g");
  assign(fixture, 0, 5);
  write_one(fixture, 5, GOOD);
  tide_rewind_ask(tide_consumer_partition(fixture->consumer, 0), 1);
  tide_rewinds_run(&fixture->consumer->rewinds, tide_now_us());
  take_away(fixture, 0, TRUE);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).reached_offset, ==, 6);
  fixture->consumer->context.memory = NULL;
  tide_group_memory_free(memory);
}

/* K8: what is finished is not deleted before it is read, though the fetch begins before it. */
static void
test_deleted_marks_of_transactions_halt_nothing(Fixture *fixture, gconstpointer options)
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
static void
test_end_of_the_log_is_committed(Fixture *fixture, gconstpointer options)
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

/* ---- with its thread ---- */

/* Memory is spent and given back all the time, so that no hold lasts until partitions pause. */
static void
test_time_held_for_memory_is_told(Fixture *fixture, gconstpointer options)
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

#define ADD(path, options, func) g_test_add("/consumer/" path, Fixture, options, set_up, func, tear_down)

/* ---- runs to the end ---- */

static gboolean
is_finished(const Fixture *fixture)
{
  tide_consumer_look_whether_finished(fixture->consumer);
  return tide_consumer_status_read_racy(&fixture->consumer->status).finished;
}

static void
reach_end(const Fixture *fixture, guint32 slot, gint64 offset)
{
  handlers_of(fixture)->reached_end(slot, offset, handlers_of(fixture)->data);
}

/* Of a cooperative group, which is given more without losing what it has. */
static void
test_end_is_of_what_comes_too(Fixture *fixture, gconstpointer options)
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
static void
test_end_at_too_many_dead_letters_may_pass(Fixture *fixture, gconstpointer options)
{
  fixture->consumer->context.until_end = TRUE;
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->dead_letters);
  fixture->consumer->pauses.dead_letters_paused = TRUE;
  g_assert_false(is_finished(fixture));
  atomic_store(&fixture->dead_letters->too_many, TRUE);
  fixture->dead_letters->is_at_rest = TRUE;
  g_assert_true(is_finished(fixture));
  atomic_store(&fixture->dead_letters->too_many, FALSE);
  g_assert_false(is_finished(fixture));
  keep_dead_letter(fixture, job);
}

/* While dead letters pause all partitions nothing is read again, either. */
static void
test_M4_end_at_too_many_dead_letters_awaits_no_rewind(Fixture *fixture, gconstpointer options)
{
  fixture->consumer->context.until_end = TRUE;
  assign(fixture, 0, 5);
  receive(fixture, 5, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->dead_letters);
  hold_first(fixture);
  fixture->consumer->pauses.dead_letters_paused = TRUE;
  atomic_store(&fixture->dead_letters->too_many, TRUE);
  fixture->dead_letters->is_at_rest = TRUE;
  g_assert_true(is_finished(fixture));
  keep_dead_letter(fixture, job);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("rebalance/rows-of-an-older-ownership-finish-nothing", plain, test_rows_of_an_older_ownership_finish_nothing);
  ADD("rebalance/dead-letters-of-an-older-ownership-finish-nothing", plain,
      test_dead_letters_of_an_older_ownership_finish_nothing);
  ADD("rebalance/M12-what-was-written-is-committed-at-a-revoke", plain,
      test_M12_what_was_written_is_committed_at_a_revoke);
  ADD("rebalance/nothing-is-committed-of-what-was-lost", plain, test_nothing_is_committed_of_what_was_lost);
  ADD("commits/refused-one-is-asked-for-again", plain, test_refused_commit_is_asked_for_again);
  ADD("pauses/spent-memory-pauses-what-a-rebalance-brings", plain, test_spent_memory_pauses_what_a_rebalance_brings);
  ADD("pauses/Y23-dead-letters-that-cannot-be-kept-pause-what-a-rebalance-brings", plain,
      test_Y23_dead_letters_that_cannot_be_kept_pause_what_a_rebalance_brings);
  ADD("rewind/H2-halted-partition-is-read-again-up-to-its-halt", stopping_at_bad,
      test_H2_halted_partition_is_read_again_up_to_its_halt);
  ADD("rewind/H2-halted-by-a-refused-row", stopping_at_bad,
      test_H2_partition_halted_by_a_refused_row_owes_nothing_more);
  ADD("rewind/R9-message-that-halts-is-counted-once", stopping_at_bad, test_R9_message_that_halts_is_counted_once);
  ADD("rewind/R4-revoke-waits-for-no-row-of-others", plain, test_R4_revoke_waits_for_no_row_of_others);
  ADD("rewind/R3-dead-letter-of-an-unfinished-message", by_reading,
      test_R3_dead_letter_of_an_unfinished_message_is_counted);
  ADD("rewind/acknowledged-messages-are-not-lost", going_on_behind_lost,
      test_acknowledged_messages_that_left_the_log_are_not_lost);
  ADD("rewind/awaited-schema-drops-nothing", plain, test_awaited_schema_drops_nothing);
  ADD("pauses/spent-memory-pauses-what-is-read-again", plain, test_spent_memory_pauses_what_is_read_again);
  ADD("pauses/dead-letters-that-cannot-be-kept-pause-what-is-read-again", plain,
      test_dead_letters_that_cannot_be_kept_pause_what_is_read_again);
  ADD("pauses/until-no-reason-is-left", plain, test_partition_pauses_until_no_reason_is_left);
  ADD("halted/nothing-is-read-behind-a-message-that-halts", stopping_at_bad,
      test_nothing_is_read_behind_a_message_that_holds);
  ADD("halted/by-a-message-with-one-bad-reading", stopping_at_bad, test_message_with_one_bad_reading_halts);
  ADD("halted/by-lost-messages", plain, test_lost_messages_halt_their_partition);
  ADD("halted/not-by-lost-messages-where-wanted", going_on_behind_lost, test_lost_messages_are_passed_where_wanted);
  ADD("halted/K1-commits-the-logs-beginning", plain, test_halt_commits_the_logs_beginning);
  ADD("halted/K1-completions-move-no-offset", plain, test_completions_move_no_offset_of_a_halted_partition);
  ADD("halted/K1-noted-halt-is-kept", plain, test_noted_halt_is_kept_at_the_next_assignment);
  ADD("unlocated/C1-trouble-ends-when-all-are-located", plain, test_trouble_ends_when_all_are_located);
  ADD("halt/K2-replaced-log-is-known-after-a-rebalance", plain, test_replaced_log_is_known_after_a_rebalance);
  ADD("halt/L11-rewound-partition-has-come-so-far", plain, test_L11_rewound_partition_is_known_to_have_come_so_far);
  ADD("halt/K8-deleted-marks-of-transactions-halt-nothing", plain, test_deleted_marks_of_transactions_halt_nothing);
  ADD("unlocated/C1-commits-nothing", plain, test_unlocated_partition_commits_nothing);
  ADD("end/K8-of-the-log-is-committed", plain, test_end_of_the_log_is_committed);
  ADD("pauses/time-held-for-memory-is-told", plain, test_time_held_for_memory_is_told);
  ADD("end/of-what-comes-too", plain, test_end_is_of_what_comes_too);
  ADD("end/at-too-many-dead-letters-may-pass", plain, test_end_at_too_many_dead_letters_may_pass);
  ADD("end/M4-at-too-many-dead-letters-awaits-no-rewind", plain, test_M4_end_at_too_many_dead_letters_awaits_no_rewind);
  return g_test_run();
}
