#include "kafka/kafka_topic_reader.h"

#include "config/topic_pattern.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_wakeup.h"
#include "util/clock.h"
#include "util/error.h"

#define ANSWER_MS 15000
#define SILENCE_MS 60000
#define MAX_OPEN 16
#define WAIT_MS 100      /* short, so that a stop is noticed */
#define QUEUE_KIB "4096" /* for all partitions: room for several fetches of librdkafka's default size */

/* If the wanted offset is further away, a new fetch is cheaper than reading up to it. */
#define READ_ON_OFFSETS 1000

struct TideTopicReader {
  const TideKafkaConfig *config; /* borrowed */
  TideTopicReaderOptions options;
  int answer_ms;
  TideKafkaClient *client; /* owned */
  GHashTable *topics;      /* owned (element-type utf8 rd_kafka_topic_t) */
};

TideTopicReader *
tide_topic_reader_new(const TideKafkaConfig *config, const TideTopicReaderOptions *options, GError **error)
{
  /* If the oldest messages were deleted meanwhile, the rest is read. */
  static const TideKafkaSetting settings[] = {
      {"auto.offset.reset", "earliest"},
      {"queued.max.messages.kbytes", QUEUE_KIB},
      {NULL},
  };
  TideKafkaClient *client = options->in_daemon ? tide_kafka_client_new_originals(config, error)
                                               : tide_kafka_client_new(config, NULL, settings, error);
  if (client == NULL)
    return NULL;
  TideTopicReader *reader = g_new0(TideTopicReader, 1);
  reader->config = config;
  reader->options = *options;
  reader->answer_ms = options->answer_ms > 0 ? (int)options->answer_ms : ANSWER_MS;
  reader->options.silence_ms = options->silence_ms > 0 ? options->silence_ms : SILENCE_MS;
  reader->options.max_open = options->max_open > 0 ? options->max_open : MAX_OPEN;
  reader->client = client;
  reader->topics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)rd_kafka_topic_destroy);
  return reader;
}

void
tide_topic_reader_free(TideTopicReader *reader)
{
  if (reader == NULL)
    return;
  g_hash_table_unref(reader->topics); /* before the client, which waits for them */
  tide_kafka_client_free(reader->client);
  g_free(reader);
}

/* ---- which partitions ---- */

static void
clear_part(gpointer data)
{
  TideTopicPart *part = data;
  g_free(part->topic);
  g_free(part->note);
}

GArray *
tide_topic_parts_new(void)
{
  GArray *parts = g_array_new(FALSE, TRUE, sizeof(TideTopicPart));
  g_array_set_clear_func(parts, clear_part);
  return parts;
}

/* All partitions of @topics, without asking for their offsets, which are 0. */
static GArray *
list_partitions(TideTopicReader *reader, const char *const *topics, GError **error)
{
  for (gsize i = 0; topics[i] != NULL; i++) {
    g_autofree char *problem = tide_topic_pattern_problem(topics[i]);
    if (problem == NULL)
      continue;
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'%s' is not a valid topic pattern: %s", topics[i], problem);
    return NULL;
  }
  g_autoptr(rd_kafka_topic_partition_list_t) list =
      tide_kafka_client_list(reader->client, reader->config, (char *const *)topics, TRUE, reader->answer_ms, error);
  if (list == NULL)
    return NULL;
  rd_kafka_topic_partition_list_sort(list, NULL, NULL);
  GArray *parts = tide_topic_parts_new();
  for (int i = 0; i < list->cnt; i++) {
    TideTopicPart part = {
        .topic = g_strdup(list->elems[i].topic), .partition = list->elems[i].partition, .committed = -1};
    g_array_append_val(parts, part);
  }
  return parts;
}

GArray *
tide_topic_reader_find(TideTopicReader *reader, const char *const *topics, GError **error)
{
  g_autoptr(GArray) parts = list_partitions(reader, topics, error);
  if (parts == NULL || !tide_topic_reader_refresh(reader, parts, error))
    return NULL;
  for (guint i = 0; i < parts->len; i++) {
    TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    part->begin = part->first;
    part->end = part->last;
  }
  return g_steal_pointer(&parts);
}

gboolean
tide_topic_reader_refresh(TideTopicReader *reader, GArray *parts, GError **error)
{
  rd_kafka_t *kafka = tide_kafka_client_handle(reader->client);
  for (guint i = 0; i < parts->len; i++) {
    TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    rd_kafka_resp_err_t result = rd_kafka_query_watermark_offsets(kafka, part->topic, part->partition, &part->first,
                                                                  &part->last, reader->answer_ms);
    if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
      continue;
    tide_kafka_client_set_error(reader->client, result, error);
    return FALSE;
  }
  return TRUE;
}

/* ---- which offsets ---- */

static rd_kafka_topic_partition_list_t *
list_parts(const GArray *parts)
{
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)parts->len);
  for (guint i = 0; i < parts->len; i++) {
    const TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
  }
  return list;
}

gboolean
tide_topic_reader_ask_group(TideTopicReader *reader, const char *group, GArray *parts, GError **error)
{
  g_autoptr(TideKafkaClient) member = tide_kafka_client_new(reader->config, group, NULL, error);
  if (member == NULL)
    return FALSE;
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_parts(parts);
  rd_kafka_resp_err_t result =
      tide_kafka_first_error(rd_kafka_committed(tide_kafka_client_handle(member), list, reader->answer_ms), list);
  for (guint i = 0; result == RD_KAFKA_RESP_ERR_NO_ERROR && i < parts->len; i++) {
    TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    const rd_kafka_topic_partition_t *at = &list->elems[i];
    part->committed = MAX(at->offset, -1);
    g_free(part->note);
    part->note = at->metadata_size > 0 ? g_strndup(at->metadata, at->metadata_size) : NULL;
  }
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  tide_kafka_client_set_error(member, result, error);
  g_prefix_error(error, "cannot ask for the committed offsets of group '%s': ", group);
  return FALSE;
}

gboolean
tide_topic_reader_limit_to_group(TideTopicReader *reader, const char *group, GArray *parts, guint *ret_n_committed,
                                 GError **error)
{
  *ret_n_committed = 0;
  if (!tide_topic_reader_ask_group(reader, group, parts, error))
    return FALSE;
  for (guint i = 0; i < parts->len; i++) {
    TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    *ret_n_committed += part->committed >= 0 ? 1 : 0;
    part->end = MIN(part->end, MAX(part->committed, part->begin));
  }
  return TRUE;
}

/* Moves the begin, or the end, of each part to its first message at or after @time_ms. */
static gboolean
limit_to_time(TideTopicReader *reader, gint64 time_ms, GArray *parts, gboolean is_end, GError **error)
{
  g_autoptr(rd_kafka_topic_partition_list_t) list = list_parts(parts);
  rd_kafka_resp_err_t result = tide_kafka_first_error(
      tide_kafka_ask_offsets(tide_kafka_client_handle(reader->client), list, time_ms, reader->answer_ms), list);
  for (guint i = 0; result == RD_KAFKA_RESP_ERR_NO_ERROR && i < parts->len; i++) {
    TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    gint64 offset = list->elems[i].offset >= 0 ? list->elems[i].offset : part->last; /* no message is that late */
    if (is_end)
      part->end = CLAMP(offset, part->begin, part->end);
    else
      part->begin = CLAMP(offset, part->begin, part->end);
  }
  if (result == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  tide_kafka_client_set_error(reader->client, result, error);
  return FALSE;
}

gboolean
tide_topic_reader_limit_to_times(TideTopicReader *reader, gint64 from_ms, gint64 to_ms, GArray *parts, GError **error)
{
  return (from_ms <= 0 || limit_to_time(reader, from_ms, parts, FALSE, error)) &&
         (to_ms == G_MAXINT64 || limit_to_time(reader, to_ms, parts, TRUE, error));
}

/* ---- messages ---- */

/* A span that is being read. */
typedef struct OpenSpan {
  const TideTopicSpan *span; /* borrowed; NULL: the slot is free */
  rd_kafka_topic_t *topic;   /* borrowed */
  gint32 partition;
  gint64 next; /* the next expected offset */
} OpenSpan;

typedef struct Reading {
  TideTopicReader *reader;
  const GArray *parts;
  const GArray *spans;
  rd_kafka_queue_t *queue;                     /* owned: of all open spans */
  rd_kafka_topic_partition_list_t *partitions; /* owned: of all open spans */
  TideKafkaRefill refill;                      /* of the queue */
  OpenSpan *open;                              /* owned: max_open slots */
  guint max_open;
  guint n_open;
  guint next_span;
  TideTopicFunc func;
  gpointer data;
  gint64 progress_us;
  gboolean stopped; /* by func */
} Reading;

static gboolean
start(Reading *reading, const OpenSpan *open, GError **error)
{
  if (rd_kafka_consume_start_queue(open->topic, open->partition, open->next, reading->queue) == 0)
    return TRUE;
  tide_kafka_client_set_error(reading->reader->client, rd_kafka_last_error(), error);
  return FALSE;
}

static void
close_span(Reading *reading, OpenSpan *open)
{
  (void)rd_kafka_consume_stop(open->topic, open->partition); /* cannot fail: it was started */
  rd_kafka_topic_partition_list_del(reading->partitions, rd_kafka_topic_name(open->topic), open->partition);
  open->span = NULL;
  reading->n_open--;
}

static OpenSpan *
find_open(Reading *reading, const rd_kafka_topic_t *topic, gint32 partition)
{
  for (guint i = 0; i < reading->max_open; i++) {
    OpenSpan *open = &reading->open[i];
    if (open->span != NULL && open->topic == topic && open->partition == partition)
      return open;
  }
  return NULL;
}

/* Opens spans while slots are free. A partition has one reader: a second span of it waits. */
static gboolean
open_spans(Reading *reading, GError **error)
{
  GHashTable *topics = reading->reader->topics;
  for (guint i = 0; i < reading->max_open && reading->next_span < reading->spans->len; i++) {
    OpenSpan *open = &reading->open[i];
    const TideTopicSpan *span = &g_array_index(reading->spans, TideTopicSpan, reading->next_span);
    if (open->span != NULL)
      continue;
    if (span->begin >= span->end) {
      reading->next_span++;
      i--;
      continue;
    }
    const TideTopicPart *part = &g_array_index(reading->parts, TideTopicPart, span->part);
    rd_kafka_topic_t *topic = g_hash_table_lookup(topics, part->topic);
    if (topic == NULL) {
      topic = rd_kafka_topic_new(tide_kafka_client_handle(reading->reader->client), part->topic, NULL);
      if (topic == NULL)
        return FALSE;
      g_hash_table_insert(topics, g_strdup(part->topic), topic);
    }
    if (find_open(reading, topic, part->partition) != NULL)
      return TRUE;
    OpenSpan opened = {.span = span, .topic = topic, .partition = part->partition, .next = span->begin};
    if (!start(reading, &opened, error))
      return FALSE;
    *open = opened;
    rd_kafka_topic_partition_list_add(reading->partitions, part->topic, part->partition);
    reading->n_open++;
    reading->next_span++;
  }
  return TRUE;
}

/* Closes @open and reports its end. */
static void
end_span(Reading *reading, OpenSpan *open, gint64 next, const char *fault)
{
  guint part = open->span->part;
  close_span(reading, open);
  if (reading->reader->options.ended != NULL)
    reading->reader->options.ended(part, next, fault, reading->data);
}

static gboolean
take_message(Reading *reading, OpenSpan *open, const rd_kafka_message_t *raw, GError **error)
{
  TideMessage message = tide_kafka_message(raw);
  gint64 next = reading->func(&message, open->span->part, reading->data);
  reading->stopped = next == TIDE_TOPIC_STOP;
  if (reading->stopped)
    return TRUE;
  open->next = raw->offset + 1;
  if (next >= open->span->end)
    end_span(reading, open, open->next, NULL);
  else if (next - open->next >= READ_ON_OFFSETS) {
    (void)rd_kafka_consume_stop(open->topic, open->partition);
    open->next = next;
    return start(reading, open, error);
  }
  return TRUE;
}

static gboolean
take(Reading *reading, const rd_kafka_message_t *raw, GError **error)
{
  OpenSpan *open = raw->rkt != NULL ? find_open(reading, raw->rkt, raw->partition) : NULL;
  gboolean is_end = raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  gboolean waits = reading->reader->options.ended == NULL;
  if (open == NULL)
    return TRUE;
  if (!is_end && raw->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (!waits) /* otherwise librdkafka retries until silence_ms has passed */
      end_span(reading, open, open->next, rd_kafka_err2str(raw->err));
    return TRUE;
  }
  if (!reading->reader->options.is_total)
    reading->progress_us = tide_now_us();
  if (raw->offset >= open->span->end || (is_end && (!waits || open->span->end == TIDE_TOPIC_END)))
    end_span(reading, open, raw->offset, NULL);
  else if (raw->offset < open->next && !waits) /* the offset is gone: librdkafka began with the earliest */
    end_span(reading, open, open->next, NULL);
  else if (!is_end && raw->offset >= open->next)
    return take_message(reading, open, raw, error);
  return TRUE;
}

static gboolean
read_spans(Reading *reading, GError **error)
{
  const TideTopicReaderOptions *options = &reading->reader->options;
  while (!reading->stopped) {
    if (options->stop != NULL && *options->stop != 0) {
      g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "stopped by a signal");
      return FALSE;
    }
    if (!open_spans(reading, error))
      return FALSE;
    if (reading->n_open == 0)
      return TRUE;
    rd_kafka_message_t *raw =
        rd_kafka_consume_queue(reading->queue, tide_kafka_refill_wait_ms(&reading->refill, WAIT_MS));
    if (raw != NULL) {
      tide_kafka_refill_taken(&reading->refill, raw->len + raw->key_len);
      gboolean ok = take(reading, raw, error);
      rd_kafka_message_destroy(raw);
      if (!ok)
        return FALSE;
    }
    if (!reading->stopped && reading->n_open > 0 &&
        tide_now_us() - reading->progress_us > options->silence_ms * TIDE_US_PER_MS) {
      tide_kafka_client_set_error(reading->reader->client, RD_KAFKA_RESP_ERR__TIMED_OUT, error);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
tide_topic_reader_read(TideTopicReader *reader, const GArray *parts, const GArray *spans, TideTopicFunc func,
                       gpointer data, GError **error)
{
  Reading reading = {.reader = reader,
                     .parts = parts,
                     .spans = spans,
                     .max_open = MIN(reader->options.max_open, MAX(spans->len, 1)),
                     .queue = rd_kafka_queue_new(tide_kafka_client_handle(reader->client)),
                     .func = func,
                     .data = data,
                     .progress_us = tide_now_us()};
  reading.open = g_new0(OpenSpan, reading.max_open);
  reading.partitions = rd_kafka_topic_partition_list_new((int)reading.max_open);
  tide_kafka_refill_init(&reading.refill, tide_kafka_client_handle(reader->client), reading.queue, reading.partitions);
  gboolean ok = read_spans(&reading, error);
  for (guint i = 0; i < reading.max_open; i++)
    if (reading.open[i].span != NULL)
      close_span(&reading, &reading.open[i]);
  rd_kafka_topic_partition_list_destroy(reading.partitions);
  rd_kafka_queue_destroy(reading.queue);
  g_free(reading.open);
  return ok;
}

/* ---- some messages of one topic ---- */

/* In a spread sample, successive messages distinguish readings of one moment from those of several. */
#define SAMPLES_IN_A_ROW 10

typedef struct Sampling {
  const TideKafkaReadRequest *request; /* borrowed */
  const GArray *parts;                 /* borrowed (element-type TideTopicPart) */
  gint64 *wanted;                      /* owned: the next wanted offset of each partition */
  TideKafkaReadFunc func;
  gpointer data;
  guint64 *counts; /* owned: messages passed on of each partition */
  guint64 share;   /* of each partition */
  TideKafkaReadResult result;
} Sampling;

/* The next offset to sample after @offset in the partition at @part. */
static gint64
next_sample(const Sampling *sampling, guint part, gint64 offset)
{
  const TideTopicPart *of = &g_array_index(sampling->parts, TideTopicPart, part);
  guint64 n_rows = (sampling->share + SAMPLES_IN_A_ROW - 1) / SAMPLES_IN_A_ROW, n_taken = sampling->counts[part];
  if (!sampling->request->spread || n_taken % SAMPLES_IN_A_ROW > 0)
    return offset + 1;
  double rows = (double)MAX(n_rows - 1, 1), row = (double)(n_taken / SAMPLES_IN_A_ROW);
  gint64 begin = of->first + (gint64)((double)(of->last - of->first - SAMPLES_IN_A_ROW) * row / rows);
  return MAX(offset + 1, begin);
}

static gint64
take_sample(const TideMessage *message, guint part, gpointer data)
{
  Sampling *sampling = data;
  if (message->offset < sampling->wanted[part])
    return sampling->wanted[part]; /* fetched before the last jump */
  sampling->result.n_messages++;
  if (!sampling->func(message, sampling->data) || sampling->result.n_messages >= sampling->request->max_messages)
    return TIDE_TOPIC_STOP;
  if (++sampling->counts[part] >= sampling->share)
    return TIDE_TOPIC_END;
  return sampling->wanted[part] = next_sample(sampling, part, message->offset);
}

static gboolean
read_parts(Sampling *sampling, TideTopicReader *reader, const GArray *parts, GError **error)
{
  const TideKafkaReadRequest *request = sampling->request;
  guint64 n = MAX(parts->len, 1), max = request->max_messages;
  g_autofree guint64 *counts = g_new0(guint64, n);
  g_autofree gint64 *wanted = g_new0(gint64, n);
  sampling->counts = counts;
  sampling->wanted = wanted;
  sampling->parts = parts;
  sampling->share = MAX(max / n + (max % n > 0), 1);
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < parts->len; i++) {
    const TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    TideTopicSpan span = {i, RD_KAFKA_OFFSET_BEGINNING, TIDE_TOPIC_END};
    gboolean is_tail = request->spread && sampling->share <= SAMPLES_IN_A_ROW;
    if (request->to_present_end)
      span = (TideTopicSpan){i, is_tail ? MAX(part->first, part->last - (gint64)sampling->share) : part->first,
                             part->last};
    else if (request->newest)
      span.begin = RD_KAFKA_OFFSET_TAIL((gint64)sampling->share);
    g_array_append_val(spans, span);
  }
  g_autoptr(GError) fault = NULL;
  if (tide_topic_reader_read(reader, parts, spans, take_sample, sampling, &fault))
    return TRUE;
  sampling->result.timed_out = sampling->result.n_messages > 0;
  if (!sampling->result.timed_out)
    g_propagate_error(error, g_steal_pointer(&fault));
  return sampling->result.timed_out;
}

gboolean
tide_kafka_read(const TideKafkaConfig *config, const TideKafkaReadRequest *request, TideKafkaReadFunc func,
                gpointer data, TideKafkaReadResult *ret_result, GError **error)
{
  TideTopicReaderOptions options = {.answer_ms = request->timeout_ms,
                                    .silence_ms = request->timeout_ms,
                                    .is_total = !request->to_present_end,
                                    .max_open = G_MAXUINT};
  Sampling sampling = {.request = request, .func = func, .data = data};
  const char *const topics[] = {request->topic, NULL};
  g_autoptr(TideTopicReader) reader = tide_topic_reader_new(config, &options, error);
  g_autoptr(GArray) parts = reader == NULL            ? NULL
                            : request->to_present_end ? tide_topic_reader_find(reader, topics, error)
                                                      : list_partitions(reader, topics, error);
  if (parts == NULL || !read_parts(&sampling, reader, parts, error))
    return FALSE;
  *ret_result = sampling.result;
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
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "the configuration names %s: select one with '--topic'",
              one ? "a pattern of topics" : "several topics");
  return NULL;
}
