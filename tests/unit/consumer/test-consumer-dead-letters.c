/* What becomes of messages that cannot be mapped, and of those with rows that HBase refuses: dead letters that nobody
 * keeps but the test, between partitions and accumulator without a consumer. */
#include "consumer/consumer_dead_letters.h"
#include "consumer/rewind.h"

#include "unit/assert_bytes.h"
#include "unit/bare_consumer.h"

#define GOOD_TIME "\"ts\":1763700000000"
#define GOOD "{\"host\":\"a\"," GOOD_TIME ",\"v\":1}"
#define LATER "{\"host\":\"a\",\"ts\":1763700001000,\"w\":2}"
#define OTHER "{\"host\":\"b\"," GOOD_TIME ",\"v\":3}"
#define BAD "nonsense"
#define RECORD_MS G_GINT64_CONSTANT(1763700002000)

#define ASSERT_BYTES(got, text) assert_bytes_equal(got, tide_bytes_of_string(text))

#define CONFIG(reading_options, rest)                                                                                  \
  "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"                                                     \
  "hbase: { gateways: [\"127.0.0.1:1\"] }\n"                                                                           \
  "readings: { format: json, time: { field: ts, format: epoch_ms }" reading_options " }\n"                             \
  "tables:\n"                                                                                                          \
  "  LATEST: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" },"                          \
  " families: { M: { ttl: 1d } } }\n" rest

static const char plain[] = CONFIG("", "dead_letters: { topic: letters }\n");
static const char stopping_at_bad[] = CONFIG(", on_bad_message: stop", "dead_letters: { topic: letters }\n");

typedef struct Fixture {
  BareConsumer bare;
  TideMapping *mapping;
  TideConsumerDeadLetters letters;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer options)
{
  BareConsumer *bare = &fixture->bare;
  bare_consumer_set_up(bare, options, 1);
  fixture->mapping = tide_mapping_new(bare->flow.config, TIDE_WIRE_BINARY);
  TideConsumerDeadLettersContext context = {.partitions = bare->partitions.list,
                                            .assignments = &bare->partitions.assignments,
                                            .budget = &bare->flow.budget,
                                            .dead_letters = bare->dead_letters,
                                            .mapping = fixture->mapping,
                                            .accumulator = bare->accumulator,
                                            .pauses = &bare->pauses};
  tide_consumer_dead_letters_init(&fixture->letters, &context);
}

static void
tear_down(Fixture *fixture, gconstpointer options)
{
  tide_consumer_dead_letters_clear(&fixture->letters);
  tide_mapping_free(fixture->mapping);
  bare_consumer_tear_down(&fixture->bare);
}

static gboolean
header_at(const TideMessage *message, gsize index, TideDeadLetterHeader *ret_header)
{
  *ret_header = (TideDeadLetterHeader){
      .name = TIDE_BYTES_LITERAL("name"), .value = TIDE_BYTES_LITERAL("text"), .has_value = TRUE};
  return index == 0;
}

static TideMessage
message_of(gint64 offset, const char *payload)
{
  return (TideMessage){.topic = TIDE_BYTES_LITERAL("t"),
                       .offset = offset,
                       .timestamp_ms = RECORD_MS,
                       .key = TIDE_BYTES_LITERAL("key"),
                       .has_key = TRUE,
                       .value = tide_bytes_of_string(payload),
                       .has_value = TRUE,
                       .header_at = header_at};
}

/* A good message, whose rows are open then. */
static TideSourceRef
receive(Fixture *fixture, gint64 offset, const char *payload)
{
  BareConsumer *bare = &fixture->bare;
  TideMessage message = message_of(offset, payload);
  TideMapped mapped;
  TideReject reject;
  g_assert_true(tide_mapping_apply(fixture->mapping, &message, &mapped, &reject));
  TideSourceRef ref =
      tide_partition_begin(bare_consumer_partition(bare, 0), &bare->flow.budget, offset, &mapped, FALSE);
  tide_accumulator_append_message(bare->accumulator, mapped.rows, mapped.n_rows, ref, tide_now_us());
  return ref;
}

/* HBase refuses the first row of a call of @n_rows; the others are written. */
static void
refuse_first(Fixture *fixture, guint32 n_rows)
{
  TideCall call;
  bare_flow_take_call(&fixture->bare.flow, fixture->bare.accumulator, n_rows, &call);
  tide_batch_add_poison(call.batches[0], 0, 3, "too large");
  TideBatch *batch = bare_consumer_acknowledge(&fixture->bare, &call);
  tide_consumer_dead_letters_take_refused(&fixture->letters, batch);
  tide_accumulator_complete(fixture->bare.accumulator, batch, tide_now_us());
}

static void
write_all(Fixture *fixture, guint32 n_rows)
{
  TideCall call;
  bare_flow_take_call(&fixture->bare.flow, fixture->bare.accumulator, n_rows, &call);
  TideBatch *batch = bare_consumer_acknowledge(&fixture->bare, &call);
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++)
    tide_partition_ack(bare_consumer_partition(&fixture->bare, 0), sources[i].ref, 1);
  tide_accumulator_complete(fixture->bare.accumulator, batch, tide_now_us());
}

static void
keep_dead_letter(Fixture *fixture, TideDeadLetterJob *job)
{
  bare_dead_letters_keep(&fixture->bare.flow, job);
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
}

static void
assert_no_dead_letter(Fixture *fixture)
{
  g_assert_cmpuint(fixture->bare.dead_letters->locked.incoming.n, ==, 0);
}

static void
assert_unfinished(Fixture *fixture, guint32 n, gint64 mark)
{
  const TidePartition *partition = bare_consumer_partition(&fixture->bare, 0);
  g_assert_cmpuint(partition->offsets.unfinished, ==, n);
  g_assert_cmpint(partition->offsets.mark, ==, mark);
}

static void
assert_accounting(Fixture *fixture, guint64 written, guint64 dead_lettered)
{
  g_assert_cmpuint(bare_consumer_sum(&fixture->bare, "tidemark_messages_written_total"), ==, written);
  g_assert_cmpuint(bare_consumer_sum(&fixture->bare, "tidemark_messages_dead_lettered_total"), ==, dead_lettered);
}

/* ---- rejected when they were mapped ---- */

static void
receive_bad(Fixture *fixture, gint64 offset)
{
  TideMessage message = message_of(offset, BAD);
  TideMapped mapped;
  TideReject reject;
  g_assert_false(tide_mapping_apply(fixture->mapping, &message, &mapped, &reject));
  tide_consumer_dead_letters_take_message(&fixture->letters, bare_consumer_partition(&fixture->bare, 0), &message,
                                          &reject);
}

static void
test_message_is_kept_whole_before_its_offset_moves(Fixture *fixture, gconstpointer options)
{
  receive_bad(fixture, 5);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
  assert_no_dead_letter(fixture);
  ASSERT_BYTES(job->dead_letter.value, BAD);
  ASSERT_BYTES(job->dead_letter.key, "key");
  ASSERT_BYTES(job->dead_letter.reason, tide_reject_reason_name(TIDE_REJECT_PARSE));
  g_assert_cmpint(job->dead_letter.offset, ==, 5);
  g_assert_cmpint(job->dead_letter.timestamp_ms, ==, RECORD_MS);
  g_assert_cmpint(job->dead_letter.reading_index, ==, -1);
  g_assert_cmpuint(job->dead_letter.n_headers, ==, 1);
  ASSERT_BYTES(job->dead_letter.headers[0].value, "text");
  g_assert_false(job->must_read);
  g_assert_false(tide_consumer_dead_letters_take_completed(&fixture->letters));
  assert_unfinished(fixture, 1, -1);
  keep_dead_letter(fixture, job);
  assert_unfinished(fixture, 0, 6);
  assert_accounting(fixture, 0, 1);
}

/* Two of three readings of a message are left out. */
static TideSourceRef
leave_out_two(Fixture *fixture, TideMessage *message)
{
  TideReject rejects[] = {{.reason = TIDE_REJECT_MISSING_FIELD, .reading_index = 0},
                          {.reason = TIDE_REJECT_MISSING_FIELD, .reading_index = 2}};
  TideMapped mapped = {
      .n_rows = 0, .n_readings = 3, .n_unmatched_readings = 1, .rejects = rejects, .n_rejects = 2, .timestamp_ms = -1};
  TidePartition *partition = bare_consumer_partition(&fixture->bare, 0);
  TideSourceRef ref = tide_partition_begin(partition, &fixture->bare.flow.budget, message->offset, &mapped, FALSE);
  tide_consumer_dead_letters_take_readings(&fixture->letters, ref, message, &mapped);
  return ref;
}

static void
test_each_reading_has_its_dead_letter(Fixture *fixture, gconstpointer options)
{
  TideMessage message = message_of(5, GOOD);
  leave_out_two(fixture, &message);
  TideDeadLetterJob *first = bare_dead_letters_take(fixture->bare.dead_letters),
                    *second = bare_dead_letters_take(fixture->bare.dead_letters);
  assert_no_dead_letter(fixture);
  g_assert_cmpint(first->dead_letter.reading_index, ==, 0);
  g_assert_cmpint(second->dead_letter.reading_index, ==, 2);
  g_assert_false(first->is_further);
  g_assert_true(second->is_further); /* the ratio counts messages */
  keep_dead_letter(fixture, second);
  assert_unfinished(fixture, 1, -1);
  keep_dead_letter(fixture, first);
  assert_unfinished(fixture, 0, 6);
}

static void
test_one_dead_letter_stands_for_readings_of_a_large_message(Fixture *fixture, gconstpointer options)
{
  g_autofree char *large = g_strnfill(2200000, 'x');
  TideMessage message = message_of(5, large);
  leave_out_two(fixture, &message);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
  assert_no_dead_letter(fixture);
  g_assert_cmpint(job->dead_letter.reading_index, ==, -1);
  keep_dead_letter(fixture, job);
  assert_unfinished(fixture, 0, 6);
}

/* ---- refused ---- */

static void
test_refused_row_of_one_message_is_its_dead_letter(Fixture *fixture, gconstpointer options)
{
  receive(fixture, 5, GOOD);
  receive(fixture, 6, OTHER);
  refuse_first(fixture, 2);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
  assert_no_dead_letter(fixture);
  g_assert_true(job->must_read);
  g_assert_cmpuint(job->row.len, >, 0);
  g_assert_cmpuint(job->dead_letter.attempts, ==, 3);
  ASSERT_BYTES(job->dead_letter.row_key, "a");
  ASSERT_BYTES(job->dead_letter.table, "LATEST");
  ASSERT_BYTES(job->dead_letter.text, "too large");
  g_assert_cmpint(job->dead_letter.offset, ==, 5);
  assert_unfinished(fixture, 1, -1); /* the other is written */
  keep_dead_letter(fixture, job);
  assert_unfinished(fixture, 0, 7);
  assert_accounting(fixture, 1, 1);
}

static void
rewind(Fixture *fixture)
{
  TidePartition *partition = bare_consumer_partition(&fixture->bare, 0);
  gint64 now_us = tide_now_us();
  g_assert_cmpint(tide_rewind_reason(&partition->rewind), ==, TIDE_REWIND_REFUSED);
  g_assert_true(tide_rewind_prepare(partition, now_us));
  tide_partition_rewind(partition, &fixture->bare.flow.budget, now_us, 1000);
}

/* Who of the two is to blame shows when they are read again, and each has a row of its own. */
static void
test_messages_of_a_shared_row_are_read_again(Fixture *fixture, gconstpointer options)
{
  receive(fixture, 5, GOOD);
  receive(fixture, 6, LATER);
  refuse_first(fixture, 1);
  assert_no_dead_letter(fixture);
  assert_unfinished(fixture, 2, -1);
  g_assert_false(tide_partition_is_unfinished(bare_consumer_partition(&fixture->bare, 0))); /* a stop waits for none */
  rewind(fixture);
  receive(fixture, 5, GOOD);
  receive(fixture, 6, LATER);
  receive(fixture, 7, LATER);
  refuse_first(fixture, 3); /* the first was to blame */
  keep_dead_letter(fixture, bare_dead_letters_take(fixture->bare.dead_letters));
  assert_no_dead_letter(fixture);
  assert_unfinished(fixture, 0, 8);
  assert_accounting(fixture, 2, 1);
  g_assert_false(tide_rewind_is_pending(&bare_consumer_partition(&fixture->bare, 0)->rewind));
}

/* Its partition was taken away: nobody waits for it, and nothing is read again. */
static void
test_row_of_an_older_ownership_concerns_nobody(Fixture *fixture, gconstpointer options)
{
  receive(fixture, 5, GOOD);
  receive(fixture, 6, LATER);
  tide_partition_release(bare_consumer_partition(&fixture->bare, 0), &fixture->bare.flow.budget);
  refuse_first(fixture, 1);
  assert_no_dead_letter(fixture);
  g_assert_false(tide_rewind_is_pending(&bare_consumer_partition(&fixture->bare, 0)->rewind));
}

static void
test_refused_row_holds_where_that_is_chosen(Fixture *fixture, gconstpointer options)
{
  receive(fixture, 5, GOOD);
  receive(fixture, 6, OTHER);
  refuse_first(fixture, 2);
  assert_no_dead_letter(fixture);
  g_autofree char *text = tide_consumer_status_halt_text(&fixture->bare.status);
  g_assert_nonnull(
      strstr(text, "offset 5: HBase refuses row 'a' of table 'LATEST': too large; on_bad_message is 'stop'"));
  g_assert_cmpuint(bare_consumer_sum(&fixture->bare, "tidemark_messages_halted_total"), ==, 1);
  assert_unfinished(fixture, 1, -1);
}

/* ---- how many ---- */

static void
test_dead_letters_are_told_what_is_new(Fixture *fixture, gconstpointer options)
{
  receive(fixture, 5, GOOD);
  write_all(fixture, 1);
  tide_consumer_dead_letters_note_messages(&fixture->letters);
  tide_consumer_dead_letters_note_messages(&fixture->letters);
  receive(fixture, 6, GOOD);
  write_all(fixture, 1);
  receive(fixture, 7, OTHER);
  tide_consumer_dead_letters_note_messages(&fixture->letters);
  g_assert_cmpuint(atomic_load(&fixture->bare.dead_letters->shared.received), ==, 3);
  g_assert_cmpuint(atomic_load(&fixture->bare.dead_letters->shared.written), ==, 2);
}

/* What is read again after a rewind was received before. It is told as written, or as a dead letter, when it ends for
 * the first time: where many messages end only then, a share of those that are new alone would be far too large. */
static void
test_R2_what_is_read_again_is_told_once(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = bare_consumer_partition(&fixture->bare, 0);
  partition->rewind.read_to_offset = 9;
  const TideEndedRange written = {5, 6};
  GArray *ended = g_array_new(FALSE, FALSE, sizeof(TideEndedRange));
  g_array_append_val(ended, written);
  tide_rewind_set_ended(&partition->rewind, ended, 9);
  g_assert_true(tide_rewind_add_letter(&partition->rewind, 6, TIDE_LETTER_CANCELLED, -1));
  for (gint64 offset = 5; offset <= 10; offset += 2) {
    receive(fixture, offset, GOOD);
    write_all(fixture, 1);
    receive_bad(fixture, offset + 1);
    TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
    g_assert_true(job->is_further == (offset == 5));
    keep_dead_letter(fixture, job);
  }
  tide_consumer_dead_letters_note_messages(&fixture->letters);
  g_assert_cmpuint(atomic_load(&fixture->bare.dead_letters->shared.received), ==, 2);
  g_assert_cmpuint(atomic_load(&fixture->bare.dead_letters->shared.written), ==, 2);
}

/* A row is on its way as its partition is rewound, and refused only after that: no dead letter of its message has come
 * before, so this one is the one that counts. */
static void
test_A2_first_dead_letter_of_what_is_read_again_counts(Fixture *fixture, gconstpointer options)
{
  BareConsumer *bare = &fixture->bare;
  TidePartition *partition = bare_consumer_partition(bare, 0);
  TideCall stale;
  receive(fixture, 5, GOOD);
  bare_flow_take_call(&bare->flow, bare->accumulator, 1, &stale);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  g_assert_true(tide_rewind_prepare(partition, 1));
  tide_partition_rewind(partition, &bare->flow.budget, 1, 1000);
  TideBatch *batch = bare_consumer_acknowledge(bare, &stale);
  tide_accumulator_complete(bare->accumulator, batch, tide_now_us());
  receive(fixture, 5, GOOD);
  refuse_first(fixture, 1);
  TideDeadLetterJob *job = bare_dead_letters_take(bare->dead_letters);
  g_assert_false(job->is_further);
  keep_dead_letter(fixture, job);
}

#define ADD(path, options, func) g_test_add("/consumer-dead-letters/" path, Fixture, options, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("rejected/message-is-kept-whole-before-its-offset-moves", plain,
      test_message_is_kept_whole_before_its_offset_moves);
  ADD("rejected/each-reading-has-its-dead-letter", plain, test_each_reading_has_its_dead_letter);
  ADD("rejected/one-dead-letter-for-readings-of-a-large-message", plain,
      test_one_dead_letter_stands_for_readings_of_a_large_message);
  ADD("refused/row-of-one-message-is-its-dead-letter", plain, test_refused_row_of_one_message_is_its_dead_letter);
  ADD("refused/messages-of-a-shared-row-are-read-again", plain, test_messages_of_a_shared_row_are_read_again);
  ADD("refused/row-of-an-older-ownership", plain, test_row_of_an_older_ownership_concerns_nobody);
  ADD("refused/holds-where-that-is-chosen", stopping_at_bad, test_refused_row_holds_where_that_is_chosen);
  ADD("dead-letters-are-told-what-is-new", plain, test_dead_letters_are_told_what_is_new);
  ADD("R2-what-is-read-again-is-told-once", plain, test_R2_what_is_read_again_is_told_once);
  ADD("A2-first-dead-letter-of-what-is-read-again-counts", plain,
      test_A2_first_dead_letter_of_what_is_read_again_counts);
  return g_test_run();
}
