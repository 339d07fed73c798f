#include "kafka/kafka_reader.h"

#include "kafka/kafka_topic_reader.h"
#include "util/error.h"

#include <librdkafka/rdkafka.h>

typedef struct Reading {
  const TideKafkaReadRequest *request; /* borrowed */
  TideKafkaReadFunc func;
  gpointer data;
  guint64 *counts; /* owned: messages handed out of each partition */
  guint64 share;   /* of each partition */
  TideKafkaReadResult result;
} Reading;

static gint64
take_message(const TideMessage *message, guint part, gpointer data)
{
  Reading *reading = data;
  reading->result.n_messages++;
  if (!reading->func(message, reading->data) || reading->result.n_messages >= reading->request->max_messages)
    return TIDE_TOPIC_STOP;
  return ++reading->counts[part] < reading->share ? message->offset + 1 : TIDE_TOPIC_END;
}

static GArray *
make_spans(const Reading *reading, const GArray *parts)
{
  const TideKafkaReadRequest *request = reading->request;
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < parts->len; i++) {
    const TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    TideTopicSpan span = {i, RD_KAFKA_OFFSET_BEGINNING, TIDE_TOPIC_END};
    if (request->to_present_end)
      span = (TideTopicSpan){i, part->first, part->last};
    else if (request->newest)
      span.begin = RD_KAFKA_OFFSET_TAIL((gint64)reading->share);
    g_array_append_val(spans, span);
  }
  return spans;
}

static gboolean
read_parts(Reading *reading, TideTopicReader *reader, const GArray *parts, GError **error)
{
  guint64 n = MAX(parts->len, 1), max = reading->request->max_messages;
  g_autofree guint64 *counts = g_new0(guint64, n);
  reading->counts = counts;
  reading->share = MAX(max / n + (max % n > 0), 1);
  g_autoptr(GArray) spans = make_spans(reading, parts);
  g_autoptr(GError) fault = NULL;
  if (tide_topic_reader_read(reader, parts, spans, take_message, reading, &fault))
    return TRUE;
  reading->result.timed_out = reading->result.n_messages > 0;
  if (!reading->result.timed_out)
    g_propagate_error(error, g_steal_pointer(&fault));
  return reading->result.timed_out;
}

gboolean
tide_kafka_read(const TideKafkaConfig *config, const TideKafkaReadRequest *request, TideKafkaReadFunc func,
                gpointer data, TideKafkaReadResult *ret_result, GError **error)
{
  TideTopicReaderOptions options = {.answer_ms = request->timeout_ms,
                                    .silence_ms = request->timeout_ms,
                                    .is_total = !request->to_present_end,
                                    .max_open = G_MAXUINT};
  Reading reading = {.request = request, .func = func, .data = data};
  const char *const topics[] = {request->topic, NULL};
  g_autoptr(TideTopicReader) reader = tide_topic_reader_new(config, &options, error);
  g_autoptr(GArray) parts = reader == NULL            ? NULL
                            : request->to_present_end ? tide_topic_reader_find(reader, topics, error)
                                                      : tide_topic_reader_list(reader, topics, error);
  if (parts == NULL || !read_parts(&reading, reader, parts, error))
    return FALSE;
  *ret_result = reading.result;
  return TRUE;
}

const char *
tide_kafka_reader_topic(const TideKafkaConfig *config, const char *given, GError **error)
{
  if (given != NULL)
    return given;
  gboolean one = config->topics[1] == NULL;
  if (one && config->topics[0][0] != '^')
    return config->topics[0];
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "the configuration names %s: say which topic with '--topic'",
              one ? "a pattern of topics" : "several topics");
  return NULL;
}
