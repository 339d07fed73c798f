#include "flow/kafka_source.h"

#include "flow/kafka_conf.h"
#include "flow/kafka_message.h"
#include "util/error.h"
#include "util/log.h"

/* Questions asked inside a rebalance: well below any session timeout we allow (6 s). */
#define QUESTION_TIMEOUT_MS 4000

#define NO_SLOT G_MAXUINT16

/* Partitions found without a look by name: direct-mapped, a power of two. */
#define CACHE_SIZE 256u

typedef struct CacheEntry {
  const rd_kafka_topic_t *topic;
  gint32 partition;
  guint16 slot;
} CacheEntry;

typedef struct SlotName {
  char *topic; /* owned */
  gint32 partition;
} SlotName;

struct TideKafkaSource {
  TideKafkaSourceOptions options;
  TideKafkaHandlers handlers;
  rd_kafka_t *kafka;
  rd_kafka_queue_t *queue; /* of the consumer: for wake */
  GPtrArray *names;        /* owned (element-type SlotName), by slot; NULL where unknown */
  CacheEntry cache[CACHE_SIZE];
};

static void
slot_name_free(gpointer data)
{
  SlotName *name = data;
  if (name == NULL)
    return;
  g_free(name->topic);
  g_free(name);
}

/* ---- slots ---- */

static guint16
find_slot_by_name(const TideKafkaSource *source, const char *topic, gint32 partition)
{
  for (guint i = 0; i < source->names->len; i++) {
    const SlotName *name = g_ptr_array_index(source->names, i);
    if (name != NULL && name->partition == partition && strcmp(name->topic, topic) == 0)
      return (guint16)i;
  }
  return NO_SLOT;
}

static guint16
find_slot(TideKafkaSource *source, const rd_kafka_message_t *raw)
{
  gsize place = ((gsize)raw->rkt >> 6 ^ (gsize)raw->partition) & (CACHE_SIZE - 1);
  CacheEntry *entry = &source->cache[place];
  if (entry->topic != raw->rkt || entry->partition != raw->partition)
    *entry = (CacheEntry){raw->rkt, raw->partition,
                          find_slot_by_name(source, rd_kafka_topic_name(raw->rkt), raw->partition)};
  return entry->slot;
}

static void
remember_slot(TideKafkaSource *source, guint16 slot, const char *topic, gint32 partition)
{
  if (slot >= source->names->len)
    g_ptr_array_set_size(source->names, slot + 1);
  SlotName **place = (SlotName **)&g_ptr_array_index(source->names, slot);
  if (*place != NULL)
    return;
  *place = g_new0(SlotName, 1);
  (*place)->topic = g_strdup(topic);
  (*place)->partition = partition;
}

static const SlotName *
name_of(const TideKafkaSource *source, guint16 slot)
{
  return g_ptr_array_index(source->names, slot);
}

/* ---- where a new group begins ---- */

/* The partition's end as a number, so that it can be committed at once: else a restart before the first commit would
 * begin later and pass over what came in between. */
static gint64
end_as_number(TideKafkaSource *source, const char *topic, gint32 partition)
{
  gint64 low, high;
  if (rd_kafka_query_watermark_offsets(source->kafka, topic, partition, &low, &high, QUESTION_TIMEOUT_MS) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return RD_KAFKA_OFFSET_END;
  return high;
}

static gint64
offset_at_start_time(TideKafkaSource *source, const char *topic, gint32 partition)
{
  rd_kafka_topic_partition_list_t *times = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(times, topic, partition)->offset = source->options.config->kafka.start_epoch_ms;
  gint64 found = RD_KAFKA_OFFSET_BEGINNING; /* no answer: rather too early than too late */
  if (rd_kafka_offsets_for_times(source->kafka, times, QUESTION_TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR &&
      times->elems[0].err == RD_KAFKA_RESP_ERR_NO_ERROR)
    found = times->elems[0].offset;
  rd_kafka_topic_partition_list_destroy(times);
  return found == RD_KAFKA_OFFSET_END ? end_as_number(source, topic, partition) : found;
}

/* The offset at which a partition without a committed one starts. */
static gint64
first_offset(TideKafkaSource *source, const char *topic, gint32 partition)
{
  switch (source->options.config->kafka.start) {
  case TIDE_START_EARLIEST:
    return RD_KAFKA_OFFSET_BEGINNING;
  case TIDE_START_LATEST:
    return end_as_number(source, topic, partition);
  case TIDE_START_TIME:
    return offset_at_start_time(source, topic, partition);
  }
  return RD_KAFKA_OFFSET_BEGINNING;
}

/* Fills in where partitions without a committed offset begin, and adds those to @fresh; the others keep "the committed
 * one". When the broker does not say, all keep that, and one without is reported as out of range and stands still. */
static void
fill_in_starts(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions,
               rd_kafka_topic_partition_list_t *fresh)
{
  rd_kafka_resp_err_t problem = rd_kafka_committed(source->kafka, partitions, QUESTION_TIMEOUT_MS);
  if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
    tide_log(TIDE_LOG_WARNING, "cannot ask for the committed offsets of group '%s': %s",
             source->options.config->kafka.group, rd_kafka_err2str(problem));
  for (int i = 0; i < partitions->cnt; i++) {
    rd_kafka_topic_partition_t *at = &partitions->elems[i];
    if (problem != RD_KAFKA_RESP_ERR_NO_ERROR || at->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      at->offset = RD_KAFKA_OFFSET_STORED; /* librdkafka asks again, until it is told */
      continue;
    }
    if (at->offset >= 0)
      continue;
    at->offset = first_offset(source, at->topic, at->partition);
    if (at->offset >= 0)
      rd_kafka_topic_partition_list_add(fresh, at->topic, at->partition)->offset = at->offset;
  }
}

/* ---- rebalance ---- */

static gint64
end_of(TideKafkaSource *source, const char *topic, gint32 partition)
{
  if (!source->options.ask_for_ends)
    return -1;
  gint64 low, high;
  rd_kafka_resp_err_t problem =
      rd_kafka_query_watermark_offsets(source->kafka, topic, partition, &low, &high, QUESTION_TIMEOUT_MS);
  return problem == RD_KAFKA_RESP_ERR_NO_ERROR ? high : 0; /* no answer: the first end that is reached will do */
}

static gboolean
is_cooperative(const TideKafkaSource *source)
{
  return g_strcmp0(rd_kafka_rebalance_protocol(source->kafka), "COOPERATIVE") == 0;
}

static void
log_rebalance_problem(const char *what, rd_kafka_error_t *problem)
{
  if (problem == NULL)
    return;
  tide_log(TIDE_LOG_ERROR, "cannot %s partitions: %s", what, rd_kafka_error_string(problem));
  rd_kafka_error_destroy(problem);
}

static void
take(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  memset(source->cache, 0, sizeof source->cache);
  for (int i = 0; i < partitions->cnt; i++) {
    const rd_kafka_topic_partition_t *at = &partitions->elems[i];
    gint64 end_offset = end_of(source, at->topic, at->partition);
    guint16 slot = source->handlers.assigned(at->topic, at->partition, end_offset, source->handlers.data);
    remember_slot(source, slot, at->topic, at->partition);
  }
  rd_kafka_topic_partition_list_t *fresh = rd_kafka_topic_partition_list_new(1);
  fill_in_starts(source, partitions, fresh);
  if (is_cooperative(source))
    log_rebalance_problem("take", rd_kafka_incremental_assign(source->kafka, partitions));
  else {
    rd_kafka_resp_err_t problem = rd_kafka_assign(source->kafka, partitions);
    if (problem != RD_KAFKA_RESP_ERR_NO_ERROR)
      tide_log(TIDE_LOG_ERROR, "cannot take partitions: %s", rd_kafka_err2str(problem));
  }
  if (fresh->cnt > 0)
    rd_kafka_commit(source->kafka, fresh, 1);
  rd_kafka_topic_partition_list_destroy(fresh);
  source->handlers.assignment_done(source->handlers.data);
}

static void
give_up(TideKafkaSource *source, rd_kafka_topic_partition_list_t *partitions)
{
  gboolean lost = rd_kafka_assignment_lost(source->kafka);
  g_autofree guint16 *slots = g_new(guint16, (gsize)MAX(partitions->cnt, 1));
  gsize n_slots = 0;
  for (int i = 0; i < partitions->cnt; i++) {
    guint16 slot = find_slot_by_name(source, partitions->elems[i].topic, partitions->elems[i].partition);
    if (slot != NO_SLOT)
      slots[n_slots++] = slot;
  }
  source->handlers.revoking(slots, n_slots, lost, source->handlers.data);
  if (is_cooperative(source))
    log_rebalance_problem("give up", rd_kafka_incremental_unassign(source->kafka, partitions));
  else
    rd_kafka_assign(source->kafka, NULL);
  source->handlers.revoked(slots, n_slots, source->handlers.data);
}

static void
on_rebalance(rd_kafka_t *kafka, rd_kafka_resp_err_t event, rd_kafka_topic_partition_list_t *partitions, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
    take(source, partitions);
  else
    give_up(source, partitions);
}

static void
on_error(rd_kafka_t *kafka, int code, const char *reason, void *opaque)
{
  TideKafkaSource *source = opaque;
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    char text[512];
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(kafka, text, sizeof text);
    g_autofree char *whole = g_strdup_printf("%s: %s", rd_kafka_err2name(fatal), text);
    source->handlers.trouble(TIDE_KAFKA_TROUBLE_FATAL, NO_SLOT, whole, source->handlers.data);
    return;
  }
  source->handlers.trouble(TIDE_KAFKA_TROUBLE_CLIENT, NO_SLOT, reason, source->handlers.data);
}

/* ---- polling ---- */

static void
fill_record(rd_kafka_message_t *raw, guint16 slot, TideKafkaRecord *record)
{
  *record = (TideKafkaRecord){.message = tide_kafka_message(raw), .slot = slot, .raw = raw};
}

/* What poll returned instead of a message. */
static void
handle_event(TideKafkaSource *source, const rd_kafka_message_t *raw)
{
  guint16 slot = raw->rkt != NULL ? find_slot(source, raw) : NO_SLOT;
  const char *text = rd_kafka_message_errstr(raw);
  if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (slot != NO_SLOT)
      source->handlers.reached_end(slot, raw->offset, source->handlers.data);
    return;
  }
  TideKafkaTrouble kind = slot != NO_SLOT ? TIDE_KAFKA_TROUBLE_PARTITION : TIDE_KAFKA_TROUBLE_CLIENT;
  if (raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || raw->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE ||
      raw->err == RD_KAFKA_RESP_ERR__NO_OFFSET)
    kind = TIDE_KAFKA_TROUBLE_OUT_OF_RANGE;
  else if (raw->err == RD_KAFKA_RESP_ERR__FATAL)
    kind = TIDE_KAFKA_TROUBLE_FATAL;
  source->handlers.trouble(kind, slot, text != NULL ? text : rd_kafka_err2str(raw->err), source->handlers.data);
}

gboolean
tide_kafka_source_poll(TideKafkaSource *source, int timeout_ms, TideKafkaRecord *ret_record)
{
  rd_kafka_message_t *raw = rd_kafka_consumer_poll(source->kafka, timeout_ms);
  if (raw == NULL)
    return FALSE;
  guint16 slot;
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR && (slot = find_slot(source, raw)) != NO_SLOT) {
    fill_record(raw, slot, ret_record);
    return TRUE;
  }
  if (raw->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    handle_event(source, raw);
  rd_kafka_message_destroy(raw);
  return FALSE;
}

void
tide_kafka_source_release(TideKafkaRecord *record)
{
  rd_kafka_message_destroy(record->raw);
  record->raw = NULL;
}

void
tide_kafka_source_wake(TideKafkaSource *source)
{
  rd_kafka_queue_yield(source->queue);
}

/* ---- one partition ---- */

static rd_kafka_topic_partition_list_t *
list_of(const TideKafkaSource *source, guint16 slot, gint64 offset)
{
  const SlotName *name = name_of(source, slot);
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, name->topic, name->partition)->offset = offset;
  return list;
}

void
tide_kafka_source_pause(TideKafkaSource *source, guint16 slot)
{
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_pause_partitions(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
}

void
tide_kafka_source_resume(TideKafkaSource *source, guint16 slot)
{
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, RD_KAFKA_OFFSET_INVALID);
  rd_kafka_resume_partitions(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
}

gboolean
tide_kafka_source_store(TideKafkaSource *source, guint16 slot, gint64 offset)
{
  /* One partition a call, judged by the return code: measured, the element's own error field is not set. */
  rd_kafka_topic_partition_list_t *list = list_of(source, slot, offset);
  rd_kafka_resp_err_t problem = rd_kafka_offsets_store(source->kafka, list);
  rd_kafka_topic_partition_list_destroy(list);
  return problem == RD_KAFKA_RESP_ERR_NO_ERROR;
}

gboolean
tide_kafka_source_commit(TideKafkaSource *source, char **ret_problem)
{
  rd_kafka_resp_err_t problem = rd_kafka_commit(source->kafka, NULL, 0);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR || problem == RD_KAFKA_RESP_ERR__NO_OFFSET)
    return TRUE;
  *ret_problem = g_strdup(rd_kafka_err2str(problem));
  return FALSE;
}

gint64
tide_kafka_source_high_watermark(TideKafkaSource *source, guint16 slot)
{
  const SlotName *name = name_of(source, slot);
  gint64 low, high;
  if (rd_kafka_get_watermark_offsets(source->kafka, name->topic, name->partition, &low, &high) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    return -1;
  return high;
}

/* ---- life ---- */

static gboolean
subscribe(TideKafkaSource *source, GError **error)
{
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(4);
  for (char **topic = source->options.config->kafka.topics; *topic != NULL; topic++)
    rd_kafka_topic_partition_list_add(topics, *topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_resp_err_t problem = rd_kafka_subscribe(source->kafka, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  if (problem == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_KAFKA, "cannot subscribe to the topics: %s", rd_kafka_err2str(problem));
  return FALSE;
}

TideKafkaSource *
tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideKafkaHandlers *handlers, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new_consumer(&options->config->kafka, options->queue_bytes,
                                                       options->config->readings.decode.max_message_bytes, error);
  if (conf == NULL)
    return NULL;
  TideKafkaSource *source = g_new0(TideKafkaSource, 1);
  source->options = *options;
  source->handlers = *handlers;
  source->names = g_ptr_array_new_with_free_func(slot_name_free);
  rd_kafka_conf_set_opaque(conf, source);
  rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
  rd_kafka_conf_set_error_cb(conf, on_error);

  char reason[512];
  source->kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason);
  if (source->kafka == NULL) {
    rd_kafka_conf_destroy(conf);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot make a Kafka consumer: %s", reason);
    tide_kafka_source_free(source);
    return NULL;
  }
  rd_kafka_poll_set_consumer(source->kafka);
  source->queue = rd_kafka_queue_get_consumer(source->kafka);
  if (!subscribe(source, error)) {
    tide_kafka_source_free(source);
    return NULL;
  }
  return source;
}

void
tide_kafka_source_close(TideKafkaSource *source)
{
  rd_kafka_consumer_close(source->kafka);
}

void
tide_kafka_source_free(TideKafkaSource *source)
{
  if (source == NULL)
    return;
  if (source->queue != NULL)
    rd_kafka_queue_destroy(source->queue);
  if (source->kafka != NULL)
    rd_kafka_destroy(source->kafka);
  g_ptr_array_unref(source->names);
  g_free(source);
}
