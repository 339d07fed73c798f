/* Sends the original messages of dead letters to their topic again, so that they pass through the daemon's whole
 * pipeline: with the same key, value, headers, time and partition, at a new offset. The dead letters are kept. */
#include "commands/cli/progress.h"
#include "commands/dead_letters/dead_letter_source.h"
#include "decode/avro_container.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_producer.h"
#include "util/pace.h"

/* Brokers that do not answer for this long are considered unavailable. */
#define PROBE_TIMEOUT_MS 10000

/* Maximum wait for the next acknowledgement after the last message. */
#define SETTLE_US (60 * TIDE_US_PER_S)

#define WAIT_MS 100

struct TideDeadLetterReplay {
  TideDeadLetterReplayOptions options;
  const TideKafkaConfig *config; /* borrowed */
  TideKafkaProducer *producer;   /* owned; NULL: dry run */
  GHashTable *topics;            /* owned: existing topics */
  TideDeadLetterReplayCounts counts;
  GHashTable *sent; /* owned: "topic/partition" -> owned set of its offsets */
  TideProgress progress;
  TidePace pace; /* of messages */
};

/* Topic names have no slash, but every file path has one; standard input is "-". */
static gboolean
check_origin(const TideDeadLetterReplay *replay, const TideDeadLetter *dead_letter, GError **error)
{
  TideBytes topic = dead_letter->topic, value = dead_letter->value;
  gboolean is_input = tide_bytes_equal(topic, TIDE_BYTES_LITERAL("-"));
  gboolean is_of_file = is_input || (topic.len > 0 && memchr(topic.data, '/', topic.len) != NULL);
  gboolean is_container = tide_avro_is_container(value);
  if (!is_of_file || (replay->options.topic != NULL && !is_container))
    return TRUE;
  return tide_fail(
      error, TIDE_ERROR_USAGE, "the dead letter of '%.*s', %" G_GINT64_FORMAT ", is from a loaded file: %s",
      (int)topic.len, (const char *)topic.data, dead_letter->offset,
      is_container ? "its message is an Avro file with one record, which no consumer of a topic can read: write it to "
                     "a file, and load that"
                   : "choose a topic for it with '--to-topic', or write its message to a file, and load that");
}

/* Asks the brokers once per topic: a message to a missing topic would wait half a minute for it. */
static gboolean
is_there(TideDeadLetterReplay *replay, const char *topic, GError **error)
{
  if (g_hash_table_contains(replay->topics, topic))
    return TRUE;
  if (!tide_kafka_client_find_topic(replay->config, topic, PROBE_TIMEOUT_MS, error))
    return FALSE;
  return g_hash_table_add(replay->topics, g_strdup(topic));
}

TideDeadLetterReplay *
tide_dead_letter_replay_new(const TideKafkaConfig *config, const TideDeadLetterReplayOptions *options, GError **error)
{
  g_autoptr(TideDeadLetterReplay) replay = g_new0(TideDeadLetterReplay, 1);
  replay->options = *options;
  replay->config = config;
  replay->topics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  replay->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
  if (!options->dry_run) {
    if (options->topic != NULL ? !is_there(replay, options->topic, error)
                               : !tide_kafka_client_try(config, PROBE_TIMEOUT_MS, error))
      return NULL;
    replay->producer = tide_kafka_producer_new(config, TIDE_KAFKA_PRODUCER_LINGER_MS, error);
    if (replay->producer == NULL)
      return NULL;
  }
  replay->pace.per_s = options->rate_per_s;
  tide_progress_begin(&replay->progress, "letters", 0, tide_now_us());
  return g_steal_pointer(&replay);
}

void
tide_dead_letter_replay_free(TideDeadLetterReplay *replay)
{
  if (replay == NULL)
    return;
  tide_kafka_producer_free(replay->producer);
  g_hash_table_unref(replay->sent);
  g_hash_table_unref(replay->topics);
  g_free(replay);
}

/* Processes acknowledgements until the next message is due. */
static void
keep_rate(TideDeadLetterReplay *replay)
{
  gint64 now_us, wait_us;
  while ((wait_us = tide_pace_wait_us(&replay->pace, now_us = tide_now_us())) > 0 && *replay->options.stop == 0)
    (void)tide_kafka_producer_poll(replay->producer, (int)MIN(wait_us / TIDE_US_PER_MS + 1, WAIT_MS));
  tide_pace_add(&replay->pace, 1, now_us);
}

/* TRUE if this is the first dead letter of its message. A message has one dead letter for each refused row, and more
 * after a restart. */
static gboolean
is_first(TideDeadLetterReplay *replay, const TideDeadLetter *dead_letter)
{
  g_autofree char *partition = g_strdup_printf("%.*s/%d", (int)dead_letter->topic.len,
                                               (const char *)dead_letter->topic.data, dead_letter->partition);
  GHashTable *offsets = g_hash_table_lookup(replay->sent, partition);
  if (offsets == NULL) {
    offsets = g_hash_table_new(NULL, NULL);
    g_hash_table_insert(replay->sent, g_steal_pointer(&partition), offsets);
  }
  return g_hash_table_add(offsets, (gpointer)(guintptr)dead_letter->offset);
}

gboolean
tide_dead_letter_replay_send(TideDeadLetterReplay *replay, const TideDeadLetter *dead_letter, GError **error)
{
  if (*replay->options.stop != 0)
    return tide_fail(error, TIDE_ERROR_CANCELLED, "stopped by a signal");
  if (dead_letter->original_is_gone) {
    replay->counts.n_gone++;
    return TRUE;
  }
  if (!is_first(replay, dead_letter)) {
    replay->counts.n_repeated++;
    return TRUE;
  }
  if (!check_origin(replay, dead_letter, error))
    return FALSE;
  if (replay->producer != NULL) {
    keep_rate(replay);
    g_autofree char *own = g_strndup((const char *)dead_letter->topic.data, dead_letter->topic.len);
    const char *topic = replay->options.topic != NULL ? replay->options.topic : own;
    if (!is_there(replay, topic, error))
      return FALSE;
    TideKafkaProducerRecord record = {.topic = topic,
                                      .partition = dead_letter->partition,
                                      .timestamp_ms = dead_letter->timestamp_ms,
                                      .key = dead_letter->key,
                                      .has_key = dead_letter->has_key,
                                      .value = dead_letter->value,
                                      .has_value = dead_letter->has_value};
    if (!tide_kafka_producer_send(replay->producer, &record, dead_letter->headers, dead_letter->n_headers,
                                  replay->options.stop, error))
      return FALSE;
    (void)tide_kafka_producer_poll(replay->producer, 0);
  }
  replay->counts.n_sent++;
  tide_progress_update(&replay->progress, replay->counts.n_sent, tide_now_us());
  return TRUE;
}

gboolean
tide_dead_letter_replay_finish(TideDeadLetterReplay *replay, GError **error)
{
  tide_progress_end(&replay->progress);
  if (replay->producer == NULL)
    return TRUE;
  guint64 waiting = tide_kafka_producer_poll(replay->producer, 0), before = waiting;
  gint64 deadline_us = tide_now_us() + SETTLE_US;
  while (waiting > 0 && tide_now_us() < deadline_us) {
    waiting = tide_kafka_producer_poll(replay->producer, WAIT_MS);
    if (waiting < before)
      deadline_us = tide_now_us() + SETTLE_US;
    before = waiting;
  }
  return tide_kafka_producer_check(replay->producer, replay->counts.n_sent, "; replaying all of them again is harmless",
                                   error);
}

TideDeadLetterReplayCounts
tide_dead_letter_replay_counts(const TideDeadLetterReplay *replay)
{
  return replay->counts;
}
