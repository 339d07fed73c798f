/* A consumer's source on a cluster: where partitions continue that are moved while others are read. */
#include "fault/kafka/library_backoff.h"
#include "fault/kafka/mock_config.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "kafka/kafka_source.h"
#include "util/clock.h"

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define TOPIC "metrics"
#define GROUP "tidemark"
#define N_PARTITIONS 3
#define N_MESSAGES 200u

typedef struct Fixture {
  TideMockKafka *kafka;
  TideConfig *config;
  TideInput *source;
  gint64 last_offset[N_PARTITIONS];  /* that was read; -1: none was */
  gint64 first_offset[N_PARTITIONS]; /* since the partitions were moved; -1: none was */
} Fixture;

static gint64
timeout(void)
{
  return tide_now_us() + TIMEOUT_US;
}

static guint32
on_assigned(const char *topic, gint32 partition, gpointer data)
{
  return (guint32)partition;
}

/* Of partition 0, what was not found last; -1: nothing was. */
static gint64 not_found_offset = -1;
static gboolean asks_again;

static gint64 start_offset = -1; /* of the partition that was looked for last */

/* Where the last partition begins instead of at what is committed; -1: there. */
static gint64 last_begins_at = -1;
static TideInput *pauses_last; /* the last partition, as soon as it is taken; NULL: it does not */

/* What is out of range is looked for again, there. */
static gint64
on_located(guint32 slot, const TideInputLog *log, gpointer data)
{
  start_offset = log->start_offset;
  if (slot == 0)
    not_found_offset = log->wanted_offset;
  if (log->wanted_offset >= 0 && asks_again)
    return TIDE_INPUT_ASK_AGAIN;
  gint64 begin_offset = slot == N_PARTITIONS - 1 && last_begins_at >= 0 ? last_begins_at : log->committed_offset;
  return log->wanted_offset >= 0 ? log->wanted_offset : begin_offset;
}

static void
hear_of_taken(const guint32 *slots, gsize n_slots, gpointer data)
{
  if (pauses_last != NULL)
    tide_input_pause(pauses_last, N_PARTITIONS - 1);
}

static void
hear_of_unlocated(guint n_slots, const char *why, gpointer data)
{
}

static void
hear(gpointer data)
{
}

static void
hear_of_slots(const guint32 *slots, gsize n_slots, gpointer data)
{
}

static void
hear_of_revoking(const guint32 *slots, gsize n_slots, gboolean lost, gpointer data)
{
}

static void
hear_of_end(guint32 slot, gint64 offset, gpointer data)
{
}

static void
hear_of_trouble(const TideInputReport *report, gpointer data)
{
}

static void
hear_of_commit(guint32 slot, gint64 offset, gboolean good, gpointer data)
{
}

static void
hear_of_failure(const char *text, gpointer data)
{
}

static const TideInputHandlers handlers = {.progress = hear,
                                           .assigned = on_assigned,
                                           .located = on_located,
                                           .unlocated = hear_of_unlocated,
                                           .taking = hear_of_slots,
                                           .taken = hear_of_taken,
                                           .assignment_done = hear,
                                           .revoking = hear_of_revoking,
                                           .revoked = hear_of_slots,
                                           .reached_end = hear_of_end,
                                           .trouble = hear_of_trouble,
                                           .committed = hear_of_commit,
                                           .commit_failed = hear_of_failure};

/* @data: how partitions are assigned. The group has committed 5 of each. */
static void
set_up(Fixture *fixture, gconstpointer data)
{
  not_found_offset = -1;
  asks_again = FALSE;
  last_begins_at = -1;
  pauses_last = NULL;
  fixture->kafka = mock_kafka_new(1);
  mock_kafka_create_topic(fixture->kafka, TOPIC, N_PARTITIONS);
  for (guint i = 0; i < N_PARTITIONS * N_MESSAGES; i++)
    mock_kafka_produce_text(fixture->kafka, TOPIC, (gint32)(i % N_PARTITIONS), "text");
  g_assert_true(mock_kafka_flush(fixture->kafka, timeout()));
  for (gint32 i = 0; i < N_PARTITIONS; i++) {
    mock_kafka_commit(fixture->kafka, GROUP, TOPIC, i, 5);
    fixture->last_offset[i] = fixture->first_offset[i] = -1;
  }
  g_autofree char *options =
      g_strdup_printf("group: " GROUP ", topics: [" TOPIC "], assignment: %s, instance: none, commit_interval: 100ms",
                      (const char *)data);
  fixture->config = mock_kafka_config(fixture->kafka, options, "limits: { memory: 16MiB }\n");
  g_autoptr(GError) error = NULL;
  fixture->source = tide_kafka_source_new(&(TideKafkaSourceOptions){.config = fixture->config}, &handlers, &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_input_close(fixture->source);
  tide_input_free(fixture->source);
  tide_config_free(fixture->config);
  mock_kafka_free(fixture->kafka);
}

#define FIXTURE_TEST_OF(data, path) TEST_OF(Fixture, data, set_up, tear_down, path)

static gboolean
all_are_known(const gint64 *offsets)
{
  for (guint i = 0; i < N_PARTITIONS; i++)
    if (offsets[i] < 0)
      return FALSE;
  return TRUE;
}

/* Until a message of each partition has come. */
static void
read_of_each(Fixture *fixture, gint64 *first_offset)
{
  gint64 deadline_us = timeout();
  TideInputRecord record;
  while (!all_are_known(first_offset)) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    if (!tide_input_poll(fixture->source, 1000, &record))
      continue;
    if (first_offset[record.slot] < 0)
      first_offset[record.slot] = record.message.offset;
    fixture->last_offset[record.slot] = record.message.offset;
    tide_input_release(fixture->source, &record);
  }
}

/* One after the other, before a message of either has come: where a partition was moved to is known by nobody but us
 * until then. The third goes on where it was. */
static void
test_partitions_are_moved_one_after_the_other(Fixture *fixture, gconstpointer data)
{
  gint64 began_at[N_PARTITIONS] = {-1, -1, -1};
  read_of_each(fixture, began_at);
  for (guint i = 0; i < N_PARTITIONS; i++)
    g_assert_cmpint(began_at[i], ==, 5);
  gint64 next_offset = fixture->last_offset[2] + 1;
  tide_input_move(fixture->source, (TideInputMove[]){{0, 50}, {1, 60}}, 2);
  if (next_offset == N_MESSAGES) /* nothing is left of it */
    fixture->first_offset[2] = next_offset;
  read_of_each(fixture, fixture->first_offset);
  g_assert_cmpint(fixture->first_offset[0], ==, 50);
  g_assert_cmpint(fixture->first_offset[1], ==, 60);
  g_assert_cmpint(fixture->first_offset[2], ==, next_offset);
}

FIXTURE_TEST_OF("eager", "/kafka-source/moved-one-after-the-other/eager")
{
  test_partitions_are_moved_one_after_the_other(fixture, data);
}

FIXTURE_TEST_OF("cooperative", "/kafka-source/moved-one-after-the-other/cooperative")
{
  test_partitions_are_moved_one_after_the_other(fixture, data);
}

/* A group that begins at a time behind all messages begins at the end. */
FIXTURE_TEST_OF("eager", "/kafka-source/start-behind-all-messages-is-the-end")
{
  g_autoptr(GError) error = NULL;
  TideInputRecord record;
  TideConfig *config =
      mock_kafka_config(fixture->kafka, "group: fresh, topics: [" TOPIC "], start: 2200-01-01T00:00:00Z", "");
  TideInput *source = tide_kafka_source_new(&(TideKafkaSourceOptions){.config = config}, &handlers, &error);
  g_assert_no_error(error);
  start_offset = G_MININT64;
  for (gint64 deadline_us = timeout(); start_offset == G_MININT64;) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    if (tide_input_poll(source, 100, &record))
      tide_input_release(source, &record);
  }
  g_assert_cmpint(start_offset, ==, N_MESSAGES);
  tide_input_close(source);
  tide_input_free(source);
  tide_config_free(config);
}

/* Where a partition begins is known by nobody but us until a message of it has come: a move of another does not send it
 * back to what is committed. */
static void
test_partition_that_was_not_read_stays_where_it_began(Fixture *fixture, gconstpointer data)
{
  gint64 began_at[N_PARTITIONS] = {-1, -1, 0};
  last_begins_at = 50;
  pauses_last = fixture->source;
  read_of_each(fixture, began_at);
  g_assert_cmpint(fixture->last_offset[2], ==, -1);
  tide_input_resume(fixture->source, 2);
  tide_input_move(fixture->source, &(TideInputMove){0, 60}, 1);
  fixture->first_offset[1] = 0;
  read_of_each(fixture, fixture->first_offset);
  g_assert_cmpint(fixture->first_offset[0], ==, 60);
  g_assert_cmpint(fixture->first_offset[2], ==, 50);
}

FIXTURE_TEST_OF("eager", "/kafka-source/not-read-stays-where-it-began/eager")
{
  test_partition_that_was_not_read_stays_where_it_began(fixture, data);
}

FIXTURE_TEST_OF("cooperative", "/kafka-source/not-read-stays-where-it-began/cooperative")
{
  test_partition_that_was_not_read_stays_where_it_began(fixture, data);
}

/* Where a partition is moved to counts, and not the offset that was not found before that. */
static void
test_move_of_a_partition_that_is_looked_for(Fixture *fixture, gconstpointer data)
{
  gint64 began_at[N_PARTITIONS] = {-1, -1, -1}, deadline_us = timeout();
  TideInputRecord record;
  read_of_each(fixture, began_at);
  asks_again = TRUE;
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, 1000);
  while (not_found_offset < 0) {
    g_assert_cmpint(tide_now_us(), <, deadline_us);
    if (tide_input_poll(fixture->source, 100, &record))
      tide_input_release(fixture->source, &record);
  }
  mock_kafka_clear_errors(fixture->kafka, TIDE_KAFKA_FETCH);
  g_assert_cmpint(not_found_offset, !=, 50);
  asks_again = FALSE;
  tide_input_move(fixture->source, &(TideInputMove){0, 50}, 1);
  fixture->first_offset[1] = fixture->first_offset[2] = 0;
  read_of_each(fixture, fixture->first_offset);
  g_assert_cmpint(fixture->first_offset[0], ==, 50);
  g_assert_cmpint(not_found_offset, ==, 50);
}

FIXTURE_TEST_OF("eager", "/kafka-source/moved-while-looked-for/C7-eager")
{
  test_move_of_a_partition_that_is_looked_for(fixture, data);
}

FIXTURE_TEST_OF("cooperative", "/kafka-source/moved-while-looked-for/C7-cooperative")
{
  test_move_of_a_partition_that_is_looked_for(fixture, data);
}

/* A commit with a note, while librdkafka commits what is stored, which is less, each 100 ms, and does not know before
 * the answer that it is less: the later one stays. @wait: whether it is waited for. */
static void
check_that_stored_offsets_stay_behind(Fixture *fixture, gboolean wait)
{
  gint64 began_at[N_PARTITIONS] = {-1, -1, -1};
  read_of_each(fixture, began_at);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 1000);
  g_assert_true(tide_input_store(fixture->source, 0, 6));
  TideInputCommit commit = {.slot = 0, .offset = 50, .note = "noted"};
  g_autofree char *problem = NULL;
  if (wait)
    g_assert_true(tide_input_commit(fixture->source, &commit, 1, timeout(), &problem));
  else
    tide_input_commit_later(fixture->source, &commit, 1);
  TideInputRecord record;
  for (gint64 until_us = tide_now_us() + 2500 * TIDE_US_PER_MS; tide_now_us() < until_us;) /* that of others may fire */
    if (tide_input_poll(fixture->source, 100, &record))
      tide_input_release(fixture->source, &record);
  tide_input_close(fixture->source);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 0);
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, GROUP, TOPIC, 0, timeout()), ==, 50);
  g_autofree char *note = mock_kafka_committed_note(fixture->kafka, GROUP, TOPIC, 0, timeout());
  g_assert_cmpstr(note, ==, "noted");
}

FIXTURE_TEST_OF("eager", "/kafka-source/stored-does-not-follow-a-commit")
{
  check_that_stored_offsets_stay_behind(fixture, TRUE);
}

FIXTURE_TEST_OF("eager", "/kafka-source/stored-does-not-follow-a-later-commit")
{
  check_that_stored_offsets_stay_behind(fixture, FALSE);
}

/* ---- a prefetch queue that was full ---- */

/* Reads more than half of a queue at once, so that it may have been full. */
static void
read_half_a_queue(Fixture *fixture)
{
  enum { N_LARGE = 60, LARGE_BYTES = 10000 };
  g_autofree char *large = g_strnfill(LARGE_BYTES, 'x');
  gint64 deadline_us = timeout();
  TideInputRecord record;
  for (guint i = 0; i < N_LARGE; i++)
    mock_kafka_produce_text(fixture->kafka, TOPIC, 0, large);
  g_assert_true(mock_kafka_flush(fixture->kafka, deadline_us));
  for (guint n = 0; n < N_LARGE;) {
    if (!tide_input_poll(fixture->source, 0, &record)) {
      pipeline_fixture_wait_a_little(deadline_us, "half a queue");
      continue;
    }
    n += record.message.value.len == LARGE_BYTES ? 1 : 0;
    tide_input_release(fixture->source, &record);
  }
}

/* The next question for offsets fails, whoever asks. */
static void
refuse_one_question(Fixture *fixture)
{
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
}

static gboolean
was_asked(Fixture *fixture)
{
  return mock_kafka_tells_offsets(fixture->kafka, NULL, TOPIC, timeout());
}

FIXTURE_TEST_OF("eager", "/kafka-source/brokers-are-asked-once-in-half-a-queue")
{
  if (skip_where_librdkafka_looks_by_itself())
    return;
  gint64 began_at[N_PARTITIONS] = {-1, -1, -1};
  read_of_each(fixture, began_at);
  gboolean found = FALSE;
  for (guint i = 0; !found && i < 10; i++) { /* the test's may overtake the source's question */
    refuse_one_question(fixture);
    read_half_a_queue(fixture);
    found = was_asked(fixture);
  }
  g_assert_true(found);
}

/* Polls until all messages of each partition have come, which are @n_first of the first. */
static void
read_to_the_ends(Fixture *fixture, gint64 n_first)
{
  gint64 deadline_us = timeout();
  TideInputRecord record;
  for (guint i = 0; i < N_PARTITIONS; i++)
    while (fixture->last_offset[i] + 1 < (i == 0 ? n_first : N_MESSAGES)) {
      g_assert_cmpint(tide_now_us(), <, deadline_us);
      if (!tide_input_poll(fixture->source, 1000, &record))
        continue;
      fixture->last_offset[record.slot] = record.message.offset;
      tide_input_release(fixture->source, &record);
    }
}

/* Polls that may wait find nothing after each message, or that an end was reached: the queue was never full. */
FIXTURE_TEST_OF("eager", "/kafka-source/nobody-is-asked-when-the-queue-runs-empty")
{
  enum { N_LARGE = 4, LARGE_BYTES = 300000 };
  g_autofree char *large = g_strnfill(LARGE_BYTES, 'x');
  TideInputRecord record;
  read_to_the_ends(fixture, N_MESSAGES);
  refuse_one_question(fixture);
  for (guint i = 1; i <= N_LARGE; i++) {
    mock_kafka_produce_text(fixture->kafka, TOPIC, 0, large);
    g_assert_true(mock_kafka_flush(fixture->kafka, timeout()));
    read_to_the_ends(fixture, N_MESSAGES + i);
    for (guint n = 0; n < N_PARTITIONS + 2; n++)
      g_assert_false(tide_input_poll(fixture->source, 1, &record));
  }
  g_assert_false(was_asked(fixture));
}
