#include "commands/dead_letters/kafka_letter_reader.h"

#include "dead_letters/kafka_letter.h"
#include "kafka/kafka_reader.h"

/* Without a message for so long the brokers are taken for gone. */
#define PATIENCE_MS 10000

typedef struct Reader {
  TideKafkaLetterFunc func;
  gpointer data;
  TideKafkaLetterMemory memory;
} Reader;

static gboolean
take_record(const TideMessage *message, gpointer data)
{
  Reader *reader = data;
  TideLetter letter;
  gboolean is_letter = tide_kafka_letter_read(message, &reader->memory, &letter, NULL);
  return reader->func(is_letter ? &letter : NULL, message->timestamp_ms, reader->data);
}

gboolean
tide_kafka_letters_read(const TideKafkaConfig *config, const char *topic, TideKafkaLetterFunc func, gpointer data,
                        GError **error)
{
  TideKafkaReadRequest request = {
      .topic = topic,
      .max_messages = G_MAXINT64,
      .timeout_ms = PATIENCE_MS,
      .waits_for_each = TRUE,
      .to_present_end = TRUE,
  };
  Reader reader = {.func = func, .data = data};
  TideKafkaReadResult result;
  gboolean ok = tide_kafka_read(config, &request, take_record, &reader, &result, error);
  tide_kafka_letter_memory_clear(&reader.memory);
  if (!ok || !result.timed_out)
    return ok;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "topic '%s' was read only in part: nothing came for %d s", topic,
              PATIENCE_MS / 1000);
  return FALSE;
}
