/* What becomes of a message that was read, by its content and by what the configuration decides: between a partition,
 * accumulator and a letters for dead letters, and without a place where it was read. */
#include "consumer/intake.h"
#include "consumer/rewind.h"

#include "unit/bare_consumer.h"

#define GOOD_TIME "\"ts\":1763700000000"
#define GOOD "{\"host\":\"a\"," GOOD_TIME ",\"v\":1}"
#define BAD "nonsense"
#define PARTLY_BAD "[" GOOD ",{\"host\":\"c\",\"v\":3}]"
#define RECORD_MS G_GINT64_CONSTANT(1763700000000)
#define HOUR_MS (3600 * G_GINT64_CONSTANT(1000))

#define CONFIG(reading_options, table, rest)                                                                           \
  "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t] }\n"                                                     \
  "hbase: { gateways: [\"127.0.0.1:1\"] }\n"                                                                           \
  "readings: { format: json, time: { field: ts, format: epoch_ms }" reading_options " }\n"                             \
  "tables:\n"                                                                                                          \
  "  " table ": { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" },"           \
  " families: { M: { ttl: 1d } } }\n" rest

#define BY_READING ", on_bad_reading: reading"
#define DEAD_LETTERS "dead_letters: { topic: letters }\n"

static const char plain[] = CONFIG(BY_READING, "DATA", DEAD_LETTERS);
static const char skipping[] = CONFIG(BY_READING ", on_bad_message: skip", "DATA", "");
static const char stopping[] = CONFIG(BY_READING ", on_bad_message: stop", "DATA", DEAD_LETTERS);
static const char without_dead_letters[] = CONFIG(BY_READING, "DATA", "");
static const char dated[] = CONFIG("", "DATA_{yyyyMMdd}", DEAD_LETTERS);

typedef struct Fixture {
  BareConsumer bare;
  TideConsumerDeadLetters letters;
  TideIntake intake;
  TidePartition *partition;
  gint64 record_ms; /* the record's own time, of what is taken */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer options)
{
  BareConsumer *bare = &fixture->bare;
  bare_consumer_set_up(bare, options, 1);
  TideIntakeContext intake = {.config = bare->flow.config,
                              .protocol = TIDE_WIRE_BINARY,
                              .budget = &bare->flow.budget,
                              .dated = bare->flow.dated,
                              .dead_letters = bare->dead_letters,
                              .metrics = bare->flow.metrics,
                              .accumulator = bare->accumulator,
                              .pauses = &bare->pauses,
                              .letters = &fixture->letters};
  tide_intake_init(&fixture->intake, &intake);
  TideConsumerDeadLettersContext letters = {.partitions = bare->partitions.list,
                                            .assignments = &bare->partitions.assignments,
                                            .budget = &bare->flow.budget,
                                            .dead_letters = bare->dead_letters,
                                            .mapping = fixture->intake.mapping,
                                            .accumulator = bare->accumulator,
                                            .pauses = &bare->pauses};
  tide_consumer_dead_letters_init(&fixture->letters, &letters);
  fixture->partition = bare_consumer_partition(bare, 0);
  fixture->record_ms = RECORD_MS;
}

static void
tear_down(Fixture *fixture, gconstpointer options)
{
  tide_consumer_dead_letters_clear(&fixture->letters);
  tide_intake_clear(&fixture->intake);
  bare_consumer_tear_down(&fixture->bare);
}

/* NULL: a tombstone. Whether the mark has moved. */
static gboolean
take(Fixture *fixture, gint64 offset, const char *payload)
{
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                         .offset = offset,
                         .timestamp_ms = fixture->record_ms,
                         .value = tide_bytes_of_string(payload != NULL ? payload : ""),
                         .has_value = payload != NULL};
  return tide_intake_take(&fixture->intake, fixture->partition, &message, tide_now_us());
}

static guint64
sum_of(const Fixture *fixture, const char *metric)
{
  return bare_consumer_sum(&fixture->bare, metric);
}

static void
assert_unfinished(const Fixture *fixture, guint32 n)
{
  g_assert_cmpuint(fixture->partition->offsets.unfinished, ==, n);
}

/* @n_rows: open; @n_dead_letters: of what was left out */
static void
assert_made(Fixture *fixture, guint32 n_rows, guint32 n_dead_letters)
{
  TideCall call;
  g_assert_cmpuint(fixture->bare.dead_letters->locked.incoming.n, ==, n_dead_letters);
  if (n_rows == 0) {
    bare_consumer_assert_no_call(&fixture->bare);
    return;
  }
  bare_flow_take_call(&fixture->bare.flow, fixture->bare.accumulator, n_rows, &call);
  tide_accumulator_complete(fixture->bare.accumulator, bare_consumer_acknowledge(&fixture->bare, &call), tide_now_us());
}

static void
assert_held(Fixture *fixture, const char *why)
{
  g_autofree char *text = tide_consumer_status_halt_text(&fixture->bare.status);
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, why));
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_halted_total"), ==, 1);
  g_assert_cmpint(fixture->partition->halt.record_ms, ==, RECORD_MS);
  assert_unfinished(fixture, 0);
}

/* ---- good ones ---- */

static void
test_good_message_is_unfinished_until_its_rows_are_written(Fixture *fixture, gconstpointer options)
{
  g_assert_false(take(fixture, 5, GOOD));
  assert_unfinished(fixture, 1);
  assert_made(fixture, 1, 0);
}

static void
test_message_without_rows_moves_the_mark(Fixture *fixture, gconstpointer options)
{
  g_assert_true(take(fixture, 5, "[]"));
  g_assert_cmpint(fixture->partition->offsets.mark, ==, 6);
  assert_made(fixture, 0, 0);
}

/* Nobody deletes by it here, and it is no mistake. */
static void
test_tombstone_is_passed_over_whatever_is_chosen(Fixture *fixture, gconstpointer options)
{
  g_assert_true(take(fixture, 5, NULL));
  assert_made(fixture, 0, 0);
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_skipped_total"), ==, 1);
  g_assert_null(fixture->partition->halt.text);
}

static void
test_expired_rows_are_counted_for_their_table(Fixture *fixture, gconstpointer options)
{
  fixture->record_ms = RECORD_MS + 25 * HOUR_MS;
  tide_mapping_set_now(fixture->intake.mapping, fixture->record_ms);
  g_assert_true(take(fixture, 5, GOOD));
  assert_made(fixture, 0, 0);
  g_assert_cmpuint(tide_metrics_sum(fixture->bare.flow.metrics, "tidemark_rows_expired_total", "table=\"DATA\""), ==,
                   1);
  g_assert_cmpuint(sum_of(fixture, "tidemark_cells_expired_total"), ==, 0);
}

static void
test_nothing_is_taken_of_others_and_behind_a_held_message(Fixture *fixture, gconstpointer options)
{
  fixture->partition->halt.text = g_strdup("is halted");
  g_assert_false(take(fixture, 5, GOOD));
  tide_partition_release(fixture->partition, &fixture->bare.flow.budget);
  g_assert_false(take(fixture, 5, GOOD));
  assert_made(fixture, 0, 0);
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_received_total"), ==, 0);
}

static void
test_each_message_keeps_to_its_table_and_span(Fixture *fixture, gconstpointer options)
{
  fixture->bare.pauses.context.max_span_messages = 2;
  take(fixture, 5, GOOD);
  g_assert_cmpuint(fixture->partition->pauses.reasons, ==, 0);
  TideBudget *share = &fixture->bare.flow.table_budgets[0];
  gint64 bytes = (gint64)share->limit_bytes;
  tide_budget_charge(share, bytes);
  take(fixture, 6, GOOD);
  g_assert_cmpuint(fixture->partition->pauses.reasons, ==, TIDE_PAUSE_SPAN);
  g_assert_true(fixture->bare.pauses.is_held);
  g_assert_cmpuint(fixture->partition->pauses.crowded_table, ==, 1);
  tide_budget_charge(share, -bytes);
}

static void
test_age_of_the_newest_message(Fixture *fixture, gconstpointer options)
{
  TideMessage timeless = {.topic = TIDE_BYTES_LITERAL("t"), .offset = 6, .timestamp_ms = -1};
  take(fixture, 5, GOOD);
  g_assert_cmpint(tide_intake_late_us(&fixture->intake, RECORD_MS + 3), ==, 3 * TIDE_US_PER_MS);
  g_assert_cmpint(tide_intake_late_us(&fixture->intake, RECORD_MS - 3), ==, 0);
  (void)tide_intake_take(&fixture->intake, fixture->partition, &timeless, tide_now_us());
  g_assert_cmpint(tide_intake_late_us(&fixture->intake, RECORD_MS), ==, G_MAXINT64);
}

/* What an owner before us may have sent is in doubt, unless it is read again in any case when that is over. */
static void
test_M5_repeated_message_is_remembered_before_an_overflow(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  gint64 until_us = tide_now_us() + 1000 * TIDE_US_PER_S;
  partition->uncertain.repeated = (TideRepeated){.until_us = until_us, .end_offset = 10, .remaining_messages = 10};
  partition->rewind.overflows[0] = (TideHeldMessage){.offset = 6, .until_us = until_us - 1};
  take(fixture, 5, GOOD);
  g_assert_cmpint(partition->uncertain.doubt.until_us, ==, until_us);
  partition->uncertain.doubt.until_us = 0;
  take(fixture, 6, GOOD);
  g_assert_cmpint(partition->uncertain.doubt.until_us, ==, 0);
}

/* All cells of a repeated message are in doubt, whichever of its readings is the latest. */
static void
test_repeated_message_is_in_doubt_up_to_its_latest_cell(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  partition->uncertain.repeated =
      (TideRepeated){.until_us = tide_now_us() + 1000 * TIDE_US_PER_S, .end_offset = 10, .remaining_messages = 10};
  take(fixture, 5, "[{\"host\":\"a\",\"ts\":1763700000005,\"v\":1}," GOOD "]");
  g_assert_cmpint(partition->uncertain.doubt.time_ms, ==, RECORD_MS + 5);
}

/* The halt at damaged messages ends before the first that follows them: 'past-halt' must not pass over that one. */
static void
test_halt_at_damage_ends_before_the_next_message(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  tide_pauses_halt_at_message(&fixture->bare.pauses, partition, 5, g_strdup("it is damaged"));
  partition->halt.is_damaged = TRUE;
  take(fixture, 9, GOOD);
  g_assert_cmpint(tide_halt_past(&partition->halt.note, 5), ==, 9);
  assert_unfinished(fixture, 0);
}

/* ---- bad ones ---- */

static void
test_bad_one_becomes_a_dead_letter(Fixture *fixture, gconstpointer options)
{
  g_assert_false(take(fixture, 5, BAD));
  assert_unfinished(fixture, 1);
  take(fixture, 6, PARTLY_BAD);
  assert_unfinished(fixture, 2);
  assert_made(fixture, 1, 2);
}

static void
test_bad_one_is_passed_over_where_that_is_chosen(Fixture *fixture, gconstpointer options)
{
  g_assert_true(take(fixture, 5, BAD));
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_skipped_total"), ==, 1);
  take(fixture, 6, PARTLY_BAD);
  g_assert_cmpuint(sum_of(fixture, "tidemark_readings_skipped_total"), ==, 1);
  assert_unfinished(fixture, 1);
  assert_made(fixture, 1, 0);
}

static void
test_bad_one_holds_where_that_is_chosen(Fixture *fixture, gconstpointer options)
{
  take(fixture, 5, BAD);
  assert_made(fixture, 0, 0);
  assert_held(fixture, "is halted at offset 5: ");
}

static void
test_one_bad_reading_holds_where_that_is_chosen(Fixture *fixture, gconstpointer options)
{
  take(fixture, 5, PARTLY_BAD);
  assert_made(fixture, 0, 0);
  assert_held(fixture, "change on_bad_message");
}

/* It is not passed over because nobody thought of a place. */
static void
test_bad_one_holds_where_no_place_is_for_dead_letters(Fixture *fixture, gconstpointer options)
{
  take(fixture, 5, BAD);
  assert_made(fixture, 0, 0);
  assert_held(fixture, TIDE_NO_PLACE_FOR_DEAD_LETTERS);
}

/* A clock that is set back, say, makes a message unusable that was taken, or a reading of it: what is kept is told by
 * what was kept, not by what was read. */
static void
test_H3_message_that_was_taken_before_has_its_dead_letter(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  partition->commit.start_offset = 5;
  take(fixture, 5, PARTLY_BAD);
  take(fixture, 6, GOOD);
  assert_made(fixture, 1, 1);
  bare_dead_letters_keep(&fixture->bare.flow, bare_dead_letters_take(fixture->bare.dead_letters));
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  tide_partition_rewind(partition, &fixture->bare.flow.budget, 1, 1);
  take(fixture, 5, "[{\"host\":\"c\",\"v\":3},{\"host\":\"c\",\"v\":3}," GOOD "]"); /* the first is not kept */
  assert_made(fixture, 1, 1);
  take(fixture, 6, BAD);
  assert_made(fixture, 0, 2);
  for (guint i = 0; i < 2; i++)
    bare_dead_letters_keep(&fixture->bare.flow, bare_dead_letters_take(fixture->bare.dead_letters));
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  tide_partition_rewind(partition, &fixture->bare.flow.budget, 1, 1);
  take(fixture, 6, GOOD); /* and is written although all of it is kept */
  assert_made(fixture, 1, 0);
  TideSourceRef ref = {partition->assignment.number, partition->offsets.head};
  g_assert_true(tide_partition_add_refused(partition, &fixture->bare.flow.budget, ref, 1)); /* or has another one */
}

/* Many dead letters of a message become one of the whole message: it owes nothing for the one that is kept already. */
static void
test_many_dead_letters_are_one_beside_a_kept_one(Fixture *fixture, gconstpointer options)
{
  enum { N_BAD = 600 };
  TidePartition *partition = fixture->partition;
  g_autoptr(GString) many = g_string_new("[" GOOD);
  for (guint i = 0; i < N_BAD; i++)
    g_string_append(many, ",{\"host\":\"c\",\"v\":3}");
  g_string_append(many, "]");
  partition->commit.start_offset = 5;
  take(fixture, 5, PARTLY_BAD);
  assert_made(fixture, 1, 1);
  bare_dead_letters_keep(&fixture->bare.flow, bare_dead_letters_take(fixture->bare.dead_letters));
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  tide_partition_rewind(partition, &fixture->bare.flow.budget, 1, 1);
  take(fixture, 5, many->str);
  assert_made(fixture, 1, 1);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
  g_assert_cmpuint(job->n_acks, ==, N_BAD - 1);
  bare_dead_letters_keep(&fixture->bare.flow, job);
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
}

/* What cannot be kept does not keep a partition from being read again: it is given up, and comes again. */
static void
test_M4_dead_letters_of_a_rewind_are_given_up(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  partition->commit.start_offset = 5;
  take(fixture, 5, BAD);
  TideDeadLetterJob *job = bare_dead_letters_take(fixture->bare.dead_letters);
  g_assert_cmpuint(atomic_load(job->owned), ==, job->source.assignment);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  g_assert_false(tide_rewind_prepare(partition, 1));
  g_assert_cmpuint(atomic_load(job->owned), ==, TIDE_NOT_OWNED);
  g_assert_true(tide_partition_has_work(partition));
  tide_budget_charge(&fixture->bare.flow.budget, -job->charged_bytes);
  tide_dead_letter_completions_push(job->completions, job);
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  assert_unfinished(fixture, 1);
  g_assert_false(tide_partition_has_work(partition)); /* nor does a stop wait for what does not come */
  g_assert_true(tide_rewind_prepare(partition, 1));
  tide_partition_rewind(partition, &fixture->bare.flow.budget, 1, 1);
  take(fixture, 5, BAD);
  job = bare_dead_letters_take(fixture->bare.dead_letters);
  g_assert_cmpuint(atomic_load(job->owned), ==, job->source.assignment);
  bare_dead_letters_keep(&fixture->bare.flow, job);
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_dead_lettered_total"), ==, 1);
  g_assert_cmpint(tide_partition_position(partition), ==, 6);
}

/* A rewind waits until the dead letters on their way are kept, and takes nothing meanwhile. What is read again after it
 * has its dead letter, and counts for none; what comes first has one as ever. */
static void
test_no_dead_letter_is_kept_twice(Fixture *fixture, gconstpointer options)
{
  TidePartition *partition = fixture->partition;
  partition->commit.start_offset = 5;
  take(fixture, 5, BAD);
  take(fixture, 6, PARTLY_BAD);
  assert_made(fixture, 1, 2);
  tide_rewind_ask(partition, TIDE_REWIND_CANCELLED, 1);
  g_assert_false(tide_rewind_prepare(partition, 1));
  take(fixture, 7, GOOD);
  assert_unfinished(fixture, 2);
  for (guint i = 0; i < 2; i++)
    bare_dead_letters_keep(&fixture->bare.flow, bare_dead_letters_take(fixture->bare.dead_letters));
  g_assert_true(tide_consumer_dead_letters_take_completed(&fixture->letters));
  g_assert_true(tide_rewind_prepare(partition, 1));
  g_assert_cmpint(tide_partition_position(partition), ==, 6);
  partition->offsets.mark = 5; /* as if it was held before them */
  tide_partition_rewind(partition, &fixture->bare.flow.budget, 1, 1);
  take(fixture, 5, BAD);
  take(fixture, 6, PARTLY_BAD);
  assert_made(fixture, 1, 0);
  g_assert_cmpint(tide_partition_position(partition), ==, 6);
  g_assert_cmpuint(sum_of(fixture, "tidemark_messages_dead_lettered_total"), ==, 1);
  take(fixture, 7, BAD);
  assert_made(fixture, 0, 1);
}

/* ---- dated tables ---- */

/* Somebody has to make it first. */
static void
test_rows_wait_until_their_table_is_there(Fixture *fixture, gconstpointer options)
{
  BareConsumer *bare = &fixture->bare;
  take(fixture, 5, GOOD);
  bare_consumer_assert_no_call(bare);
  const TideTable *table = tide_dated_tables_at(bare->flow.dated, 1);
  g_assert_cmpstr(table->name, ==, "DATA_20251121");
  tide_lanes_unblock(bare->flow.lanes, table);
  TideCall call;
  bare_flow_take_call(&bare->flow, bare->accumulator, 1, &call);
  g_assert_true(call.table == table);
  tide_accumulator_complete(bare->accumulator, bare_consumer_acknowledge(bare, &call), tide_now_us());
}

static void
test_message_without_a_place_for_its_table_holds(Fixture *fixture, gconstpointer options)
{
  const TideTable *declared = g_ptr_array_index(fixture->bare.flow.config->tables, 0);
  for (guint i = 0; i < TIDE_DATED_TABLES_MAX; i++) {
    g_autofree char *name = g_strdup_printf("DATA_%u", i);
    g_assert_nonnull(tide_dated_tables_take(fixture->bare.flow.dated, declared, tide_bytes_of_string(name), 1));
  }
  take(fixture, 5, GOOD);
  assert_made(fixture, 0, 0);
  assert_held(fixture, "table 'DATA_20251121' exceeds the 16384 dated tables that one process can hold");
}

#define ADD(path, options, func) g_test_add("/intake/" path, Fixture, options, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("good/unfinished-until-its-rows-are-written", plain, test_good_message_is_unfinished_until_its_rows_are_written);
  ADD("good/without-rows-moves-the-mark", plain, test_message_without_rows_moves_the_mark);
  ADD("good/tombstone-is-passed-over-whatever-is-chosen", stopping, test_tombstone_is_passed_over_whatever_is_chosen);
  ADD("good/expired-rows-are-counted-for-their-table", plain, test_expired_rows_are_counted_for_their_table);
  ADD("good/nothing-of-others-and-behind-a-held-message", plain,
      test_nothing_is_taken_of_others_and_behind_a_held_message);
  ADD("good/each-keeps-to-its-table-and-span", plain, test_each_message_keeps_to_its_table_and_span);
  ADD("good/M5-repeated-is-remembered-before-an-overflow", plain,
      test_M5_repeated_message_is_remembered_before_an_overflow);
  ADD("good/repeated-is-in-doubt-up-to-its-latest-cell", plain,
      test_repeated_message_is_in_doubt_up_to_its_latest_cell);
  ADD("bad/halt-at-damage-ends-before-the-next", plain, test_halt_at_damage_ends_before_the_next_message);
  ADD("good/age-of-the-newest", plain, test_age_of_the_newest_message);
  ADD("bad/becomes-a-dead-letter", plain, test_bad_one_becomes_a_dead_letter);
  ADD("bad/is-passed-over-where-that-is-chosen", skipping, test_bad_one_is_passed_over_where_that_is_chosen);
  ADD("bad/holds-where-that-is-chosen", stopping, test_bad_one_holds_where_that_is_chosen);
  ADD("bad/one-reading-holds-where-that-is-chosen", stopping, test_one_bad_reading_holds_where_that_is_chosen);
  ADD("bad/holds-where-no-place-is-for-dead-letters", without_dead_letters,
      test_bad_one_holds_where_no_place_is_for_dead_letters);
  ADD("bad/H3-what-was-taken-before-has-its-dead-letter", plain,
      test_H3_message_that_was_taken_before_has_its_dead_letter);
  ADD("bad/many-dead-letters-are-one-beside-a-kept-one", plain, test_many_dead_letters_are_one_beside_a_kept_one);
  ADD("bad/M4-dead-letters-of-a-rewind-are-given-up", plain, test_M4_dead_letters_of_a_rewind_are_given_up);
  ADD("bad/no-dead-letter-is-kept-twice", plain, test_no_dead_letter_is_kept_twice);
  ADD("dated/rows-wait-for-their-table", dated, test_rows_wait_until_their_table_is_there);
  ADD("dated/without-a-place-holds", dated, test_message_without_a_place_for_its_table_holds);
  return g_test_run();
}
