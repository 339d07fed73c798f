/* Reading ranges of topics: the partitions found, what a group's commits leave of them, and that every message between
 * two offsets arrives once and in order. And looking at a topic without taking part: which messages come, what is left
 * behind, and how trouble is reported. */
#include "fault/kafka/library_backoff.h"
#include "fault/kafka/mock_kafka.h"
#include "fault/kafka/raw_batch.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_topic_reader.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/error.h"

/* ---- stretches ---- */

#define TIMEOUT_US (240 * TIDE_US_PER_S) /* far beyond what any step takes: only a failure waits so long */
#define N_PARTITIONS 20                  /* more than are read at a time */
#define N_MESSAGES 30
/* Of these, seven are more than half of the prefetch queue. */
#define LARGE_BYTES 300000u
#define N_LARGE 8

typedef struct Fixture {
  TideMockKafka *kafka;
  TideKafkaConfig config;
  volatile int stop;
  TideTopicReader *reader;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->kafka = mock_kafka_new(2);
  mock_kafka_create_topic(fixture->kafka, "many", N_PARTITIONS);
  mock_kafka_create_topic(fixture->kafka, "many.more", 1);
  mock_kafka_create_topic(fixture->kafka, "other", 2);
  for (gint32 partition = 0; partition < N_PARTITIONS; partition++)
    for (int i = 0; i < N_MESSAGES; i++)
      mock_kafka_produce_text(fixture->kafka, "many", partition, "x");
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  fixture->config = (TideKafkaConfig){.brokers = (char *)mock_kafka_brokers(fixture->kafka),
                                      .properties = g_array_new(FALSE, FALSE, sizeof(TideKafkaProperty))};
  g_autoptr(GError) error = NULL;
  TideTopicReaderOptions options = {.stop = &fixture->stop};
  fixture->reader = tide_topic_reader_new(&fixture->config, &options, &error);
  g_assert_no_error(error);
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  tide_topic_reader_free(fixture->reader);
  g_array_unref(fixture->config.properties);
  mock_kafka_free(fixture->kafka);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static GArray *
find(Fixture *fixture, const char *first, const char *second)
{
  g_autoptr(GError) error = NULL;
  const char *const topics[] = {first, second, NULL};
  GArray *parts = tide_topic_reader_find(fixture->reader, topics, &error);
  g_assert_no_error(error);
  return parts;
}

FIXTURE_TEST("/kafka-topic-reader/topics-are-found")
{
  g_autoptr(GArray) parts = find(fixture, "^many", "many");
  g_assert_cmpuint(parts->len, ==, N_PARTITIONS + 1); /* none twice */
  const TideTopicPart *part = &g_array_index(parts, TideTopicPart, 7);
  g_assert_cmpstr(part->topic, ==, "many");
  g_assert_cmpint(part->partition, ==, 7);
  g_assert_cmpint(part->first, ==, 0);
  g_assert_cmpint(part->end, ==, N_MESSAGES);
  g_assert_cmpstr(g_array_index(parts, TideTopicPart, N_PARTITIONS).topic, ==, "many.more");
  g_autoptr(GError) error = NULL;
  const char *const broken[] = {"^(", NULL};
  g_assert_null(tide_topic_reader_find(fixture->reader, broken, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
}

FIXTURE_TEST("/kafka-topic-reader/a-group-without-commits-leaves-nothing")
{
  g_autoptr(GArray) parts = find(fixture, "other", NULL);
  guint n_committed = 1;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_topic_reader_limit_to_group(fixture->reader, "nobody", parts, &n_committed, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(n_committed, ==, 0);
  g_assert_cmpint(g_array_index(parts, TideTopicPart, 0).end, ==, 0);
}

/* What a group has committed since the ends were asked for extends nothing. */
FIXTURE_TEST("/kafka-topic-reader/a-group-that-is-ahead-extends-nothing")
{
  g_autoptr(GArray) parts = find(fixture, "many", NULL);
  guint n_committed = 0;
  g_autoptr(GError) error = NULL;
  mock_kafka_commit(fixture->kafka, "ahead", "many", 0, 20);
  mock_kafka_commit(fixture->kafka, "ahead", "many", 1, 20);
  g_array_index(parts, TideTopicPart, 0).end = 5;
  g_assert_true(tide_topic_reader_limit_to_group(fixture->reader, "ahead", parts, &n_committed, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(n_committed, ==, 2);
  g_assert_cmpint(g_array_index(parts, TideTopicPart, 0).end, ==, 5);
  g_assert_cmpint(g_array_index(parts, TideTopicPart, 1).end, ==, 20);
}

/* What came of each partition. */
typedef struct Seen {
  gint64 sum[N_PARTITIONS];
  gint64 n[N_PARTITIONS];
  gint64 last[N_PARTITIONS];
  volatile int *stop; /* set at the first message; NULL: never */
} Seen;

static gint64
take(const TideMessage *message, guint part, gpointer data)
{
  Seen *seen = data;
  g_assert_cmpint(message->partition, ==, (gint32)part);
  g_assert_true(seen->n[part] == 0 || message->offset > seen->last[part]);
  seen->last[part] = message->offset;
  seen->sum[part] += message->offset;
  seen->n[part]++;
  if (seen->stop != NULL)
    *seen->stop = 1;
  return message->offset + 1;
}

FIXTURE_TEST("/kafka-topic-reader/spans-are-read-once-and-in-order")
{
  g_autoptr(GArray) parts = find(fixture, "many", NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < N_PARTITIONS; i++) {
    const TideTopicSpan of_part[] = {{i, 2, 5}, {i, 5, 5}, {i, 10 + i % 3, N_MESSAGES}};
    g_array_append_vals(spans, of_part, G_N_ELEMENTS(of_part));
  }
  for (int again = 0; again < 2; again++) {
    Seen seen = {.stop = NULL};
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_topic_reader_read(fixture->reader, parts, spans, take, &seen, &error));
    g_assert_no_error(error);
    for (guint i = 0; i < N_PARTITIONS; i++) {
      gint64 begin = 10 + i % 3;
      g_assert_cmpint(seen.n[i], ==, 3 + N_MESSAGES - begin);
      g_assert_cmpint(seen.sum[i], ==, 2 + 3 + 4 + (begin + N_MESSAGES - 1) * (N_MESSAGES - begin) / 2);
    }
  }
}

FIXTURE_TEST("/kafka-topic-reader/a-stop-ends-it")
{
  g_autoptr(GArray) parts = find(fixture, "many", NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  TideTopicSpan span = {0, 0, N_MESSAGES + 1000}; /* more than there is: it would wait */
  g_array_append_val(spans, span);
  Seen seen = {.stop = &fixture->stop};
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_topic_reader_read(fixture->reader, parts, spans, take, &seen, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED);
}

/* ---- one that is told how spans end ---- */

typedef struct Told {
  gint64 wanted; /* after the first message */
  GString *text; /* owned: what came */
} Told;

static gint64
take_wanted(const TideMessage *message, guint part, gpointer data)
{
  Told *told = data;
  g_string_append_printf(told->text, "%" G_GINT64_FORMAT " ", message->offset);
  return message->offset < told->wanted ? told->wanted : TIDE_TOPIC_END;
}

static void
note_end(guint part, gint64 next, const char *fault, gpointer data)
{
  Told *told = data;
  g_string_append_printf(told->text, "end %" G_GINT64_FORMAT "%s%s", next, fault != NULL ? " " : "",
                         fault != NULL ? fault : "");
}

static char *
read_telling(Fixture *fixture, const char *topic, TideTopicSpan span, gint64 wanted)
{
  TideTopicReaderOptions options = {.ended = note_end, .in_daemon = TRUE};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideTopicReader) reader = tide_topic_reader_new(&fixture->config, &options, &error);
  g_assert_no_error(error);
  g_autoptr(GArray) parts = find(fixture, topic, NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  g_array_append_val(spans, span);
  Told told = {wanted, g_string_new(NULL)};
  g_assert_true(tide_topic_reader_read(reader, parts, spans, take_wanted, &told, &error));
  g_assert_no_error(error);
  return g_string_free(told.text, FALSE);
}

FIXTURE_TEST("/kafka-topic-reader/a-span-beyond-the-end-is-told")
{
  g_autofree char *beyond = read_telling(fixture, "many", (TideTopicSpan){0, 1000, 1001}, 0);
  g_assert_cmpstr(beyond, ==, "end 1000"); /* not what the partition has instead */
  g_autofree char *at_end = read_telling(fixture, "many", (TideTopicSpan){0, N_MESSAGES - 1, 1001}, 1000);
  g_assert_cmpstr(at_end, ==, "29 end 30");
}

/* A command waits for what is not there yet, and takes nothing instead. */
FIXTURE_TEST("/kafka-topic-reader/a-span-beyond-the-end-is-waited-for")
{
  TideTopicReaderOptions options = {.silence_ms = 2000, .max_open = 1};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideTopicReader) reader = tide_topic_reader_new(&fixture->config, &options, &error);
  g_assert_no_error(error);
  g_autoptr(GArray) parts = find(fixture, "many", NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  TideTopicSpan span = {0, 1000, 1001};
  g_array_append_val(spans, span);
  Seen seen = {.stop = NULL};
  g_assert_false(tide_topic_reader_read(reader, parts, spans, take, &seen, &error));
  g_assert_nonnull(error);
  g_assert_cmpint(seen.n[0], ==, 0);
}

FIXTURE_TEST("/kafka-topic-reader/what-lies-between-is-jumped-over")
{
  for (int i = 0; i < 2500; i++)
    mock_kafka_produce_text(fixture->kafka, "other", 0, "x");
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  g_autofree char *seen = read_telling(fixture, "other", (TideTopicSpan){0, 3, 2500}, 2400);
  g_assert_cmpstr(seen, ==, "3 2400 end 2401");
}

/* The mock keeps 5 MiB of a partition: what was asked for is gone, and what is there first lies just behind it. */
FIXTURE_TEST("/kafka-topic-reader/a-span-that-is-gone-takes-nothing-behind-it")
{
  g_autofree char *large = g_strnfill(500000, 'x');
  for (int i = 0; i < 20; i++)
    mock_kafka_produce_text(fixture->kafka, "other", 0, large);
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  g_autoptr(GArray) parts = find(fixture, "other", NULL);
  gint64 first = g_array_index(parts, TideTopicPart, 0).first;
  g_assert_cmpint(first, >, 0);
  g_autofree char *seen = read_telling(fixture, "other", (TideTopicSpan){0, 0, first}, 0);
  g_autofree char *expected = g_strdup_printf("end %" G_GINT64_FORMAT, first);
  g_assert_cmpstr(seen, ==, expected);
}

/* ---- a prefetch queue that was full ---- */

/* One span after the other. */
static void
read_in_turn(Fixture *fixture, const GArray *parts, const GArray *spans)
{
  TideTopicReaderOptions options = {.max_open = 1};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideTopicReader) reader = tide_topic_reader_new(&fixture->config, &options, &error);
  g_assert_no_error(error);
  Seen seen = {.stop = NULL};
  g_assert_true(tide_topic_reader_read(reader, parts, spans, take, &seen, &error));
  g_assert_no_error(error);
}

/* The next question for offsets at @broker fails, whoever asks. */
static void
refuse_one_question(Fixture *fixture, gint32 broker)
{
  mock_kafka_delay_request(fixture->kafka, broker, TIDE_KAFKA_LIST_OFFSETS,
                           RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 0);
}

/* By a client that knows nothing of who led a partition before. */
static gboolean
was_asked(Fixture *fixture, const char *topic)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(&fixture->config, NULL, NULL, &error);
  g_assert_no_error(error);
  return mock_kafka_tells_offsets(fixture->kafka, tide_kafka_client_handle(client), topic, tide_now_us() + TIMEOUT_US);
}

/* More than half a queue comes with one fetch. What was read before is at another broker. */
FIXTURE_TEST("/kafka-topic-reader/brokers-of-what-is-read-are-asked")
{
  if (skip_where_librdkafka_looks_by_itself())
    return;
  mock_kafka_create_topic(fixture->kafka, "large", 2);
  mock_kafka_create_topic(fixture->kafka, "elsewhere", 1);
  mock_kafka_set_leader(fixture->kafka, "large", 0, 1);
  mock_kafka_set_leader(fixture->kafka, "large", 1, 2);
  mock_kafka_set_leader(fixture->kafka, "elsewhere", 0, 2);
  g_autofree char *large = g_strnfill(LARGE_BYTES, 'x');
  TideRawBatch batch = {.n_offsets = N_LARGE};
  for (gint32 i = 0; i < N_LARGE; i++) {
    batch.payloads[i] = large;
    batch.deltas[i] = i;
  }
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), "large", 0, &batch);
  mock_kafka_produce_text(fixture->kafka, "large", 1, "x");
  g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  g_autoptr(GArray) parts = find(fixture, "large", NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  const TideTopicSpan in_turn[] = {{1, 0, 1}, {0, 0, N_LARGE}};
  g_array_append_vals(spans, in_turn, G_N_ELEMENTS(in_turn));
  refuse_one_question(fixture, 2);
  gboolean found = FALSE;
  for (guint i = 0; !found && i < 10; i++) { /* the test's may overtake the reader's question */
    refuse_one_question(fixture, 1);
    read_in_turn(fixture, parts, spans);
    found = was_asked(fixture, "large");
  }
  g_assert_true(found);
  g_assert_false(was_asked(fixture, "elsewhere"));
}

/* Each of them comes with a fetch of its own, and empties the queue: it was never full. */
FIXTURE_TEST("/kafka-topic-reader/nobody-is-asked-when-the-queue-runs-empty")
{
  g_autofree char *large = g_strnfill(LARGE_BYTES, 'x');
  for (gint32 i = 0; i < N_LARGE; i++) {
    mock_kafka_produce_text(fixture->kafka, "many", 0, large);
    g_assert_true(mock_kafka_flush(fixture->kafka, tide_now_us() + TIMEOUT_US));
  }
  g_autoptr(GArray) parts = find(fixture, "many", NULL);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  TideTopicSpan span = {0, N_MESSAGES, N_MESSAGES + N_LARGE};
  g_array_append_val(spans, span);
  mock_kafka_set_round_trip_ms(fixture->kafka, -1, 20); /* nothing comes before it is waited for */
  mock_kafka_push_errors(fixture->kafka, TIDE_KAFKA_LIST_OFFSETS, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
  read_in_turn(fixture, parts, spans);
  g_assert_false(was_asked(fixture, "many"));
}

/* ---- looking at a topic ---- */

#define TIMEOUT_MS 240000
#define TOPIC "metrics"
#define GROUP "tidemark"

static gint64
timeout(void)
{
  return tide_now_us() + TIMEOUT_US;
}

/* A cluster with one topic of two partitions: "0:0" ... in the one, "1:0" ... in the other. */
static TideMockKafka *
cluster_with(guint n_first, guint n_second)
{
  TideMockKafka *kafka = mock_kafka_new(1);
  mock_kafka_create_topic(kafka, TOPIC, 2);
  for (guint i = 0; i < n_first + n_second; i++) {
    gint32 partition = i < n_first ? 0 : 1;
    g_autofree char *payload = g_strdup_printf("%d:%u", partition, i < n_first ? i : i - n_first);
    mock_kafka_produce_text(kafka, TOPIC, partition, payload);
  }
  g_assert_true(mock_kafka_flush(kafka, timeout()));
  return kafka;
}

/* What was read, by partition, and how often to go on. */
typedef struct Sample {
  GString *texts[2];
  guint n_wanted; /* 0: all */
  guint n;
} Sample;

static gboolean
take_text(const TideMessage *message, gpointer data)
{
  Sample *seen = data;
  g_assert_cmpint(message->partition, <, 2);
  g_string_append_len(seen->texts[message->partition], (const char *)message->value.data, (gssize)message->value.len);
  g_string_append_c(seen->texts[message->partition], ' ');
  return ++seen->n != seen->n_wanted;
}

static TideKafkaConfig
config_for(const char *brokers)
{
  return (TideKafkaConfig){.brokers = (char *)brokers,
                           .group = (char *)GROUP,
                           .properties = g_array_new(FALSE, FALSE, sizeof(TideKafkaProperty))};
}

/* A look at the topic with so many messages in its partitions, and what it shows. */
typedef struct LookCase {
  const char *name;
  guint n_first, n_second;
  guint64 max_messages;
  gboolean newest;
  guint n_wanted;       /* it is stopped then; 0: never */
  guint64 n_messages;   /* that it shows */
  const char *texts[2]; /* NULL: any */
} LookCase;

static const LookCase look_cases[] = {
    {"each-partition-gives-its-first", 10, 2, 8, FALSE, 0, 6, {"0:0 0:1 0:2 0:3 ", "1:0 1:1 "}},
    {"each-partition-gives-its-newest", 10, 1, 6, TRUE, 0, 4, {"0:7 0:8 0:9 ", "1:0 "}},
    {"an-odd-number-is-shared", 10, 10, 5, FALSE, 0, 5, {NULL, NULL}},
    {"all-of-a-small-topic", 5, 5, 100, FALSE, 0, 10, {"0:0 0:1 0:2 0:3 0:4 ", "1:0 1:1 1:2 1:3 1:4 "}},
    {"ends-when-told", 50, 50, 100, FALSE, 3, 3, {NULL, NULL}},
    {"an-empty-topic-is-no-error", 0, 0, 100, FALSE, 0, 0, {"", ""}},
};

/* The group of the daemon commits as before: nothing is committed for it. */
TEST_EACH("/kafka-reader/", look_cases)
{
  const LookCase *it = data;
  g_autoptr(TideMockKafka) kafka = cluster_with(it->n_first, it->n_second);
  TideKafkaConfig config = config_for(mock_kafka_brokers(kafka));
  TideKafkaReadRequest request = {
      .topic = TOPIC, .max_messages = it->max_messages, .newest = it->newest, .timeout_ms = TIMEOUT_MS};
  Sample sample = {.texts = {g_string_new(NULL), g_string_new(NULL)}, .n_wanted = it->n_wanted};
  TideKafkaReadResult result;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_kafka_read(&config, &request, take_text, &sample, &result, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(result.n_messages, ==, it->n_messages);
  g_assert_false(result.timed_out);
  g_assert_cmpint(mock_kafka_committed(kafka, GROUP, TOPIC, 0, timeout()), ==, -1);
  for (guint i = 0; i < 2; i++) {
    if (it->texts[i] != NULL)
      g_assert_cmpstr(sample.texts[i]->str, ==, it->texts[i]);
    g_string_free(sample.texts[i], TRUE);
  }
  g_array_unref(config.properties);
}

/* Each message that is read makes another. */
typedef struct Echo {
  TideMockKafka *kafka;
  guint n;
} Echo;

static gboolean
take_and_produce(const TideMessage *message, gpointer data)
{
  Echo *echo = data;
  mock_kafka_produce_text(echo->kafka, TOPIC, message->partition, "more");
  g_assert_true(mock_kafka_flush(echo->kafka, timeout()));
  return ++echo->n < 100;
}

/* What is fetched is one message at a time, so that the topic has grown before its end is met. */
TEST("/kafka-reader/F19/ends-where-the-topic-ended-at-the-start")
{
  g_autoptr(TideMockKafka) kafka = cluster_with(1, 0);
  for (guint i = 0; i < 2; i++) {
    mock_kafka_produce_text(kafka, TOPIC, 0, "another batch");
    g_assert_true(mock_kafka_flush(kafka, timeout()));
  }
  TideKafkaConfig config = config_for(mock_kafka_brokers(kafka));
  static const TideKafkaProperty few[] = {{.name = (char *)"queued.min.messages", .value = (char *)"1"},
                                          {.name = (char *)"fetch.message.max.bytes", .value = (char *)"1"}};
  g_array_append_vals(config.properties, few, G_N_ELEMENTS(few));
  TideKafkaReadRequest request = {
      .topic = TOPIC, .max_messages = G_MAXINT64, .timeout_ms = TIMEOUT_MS, .to_present_end = TRUE};
  Echo echo = {.kafka = kafka};
  TideKafkaReadResult result;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_kafka_read(&config, &request, take_and_produce, &echo, &result, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(echo.n, ==, 3);
  g_assert_false(result.timed_out);
  g_array_unref(config.properties);
}

TEST("/kafka-reader/a-broker-that-is-down-is-named")
{
  TideKafkaConfig config = config_for("127.0.0.1:1"); /* nobody listens there */
  TideKafkaReadRequest request = {.topic = TOPIC, .max_messages = 1, .timeout_ms = 1500};
  TideKafkaReadResult result;
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_kafka_read(&config, &request, take_text, NULL, &result, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA);
  g_assert_nonnull(strstr(error->message, "refused"));
  g_array_unref(config.properties);
}
