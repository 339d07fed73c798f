#include "commands/dead_letters/kafka_dead_letter_reader.h"

#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_reader.h"

/* Without a message for so long the brokers are taken for gone. */
#define TIMEOUT_MS 10000

typedef struct Reader {
  TideKafkaDeadLetterFunc func;
  gpointer data;
  TideKafkaDeadLetterMemory memory;
} Reader;

static gboolean
take_record(const TideMessage *message, gpointer data)
{
  Reader *reader = data;
  TideDeadLetter dead_letter;
  gboolean is_dead_letter = tide_kafka_dead_letter_read(message, &reader->memory, &dead_letter, NULL);
  return reader->func(is_dead_letter ? &dead_letter : NULL, message->timestamp_ms, reader->data);
}

gboolean
tide_kafka_dead_letters_read(const TideKafkaConfig *config, const char *topic, TideKafkaDeadLetterFunc func,
                             gpointer data, GError **error)
{
  TideKafkaReadRequest request = {
      .topic = topic,
      .max_messages = G_MAXINT64,
      .timeout_ms = TIMEOUT_MS,
      .waits_for_each = TRUE,
      .to_present_end = TRUE,
  };
  Reader reader = {.func = func, .data = data};
  TideKafkaReadResult result;
  gboolean ok = tide_kafka_read(config, &request, take_record, &reader, &result, error);
  tide_kafka_dead_letter_memory_clear(&reader.memory);
  if (!ok || !result.timed_out)
    return ok;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "topic '%s' was read only in part: nothing came for %d s", topic,
              TIMEOUT_MS / 1000);
  return FALSE;
}
