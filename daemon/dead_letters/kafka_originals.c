#include "dead_letters/kafka_originals.h"

#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_conf.h"
#include "kafka/kafka_message.h"
#include "util/clock.h"
#include "util/error.h"

/* Read in one pass: so many, and no more once they hold so much. The messages of a merged row lie all over a backlog,
 * so a pass reads much that is not wanted, and the more it wants the better. */
#define MAX_JOBS 4000u
#define MAX_BYTES (16u * 1024 * 1024)

/* A pass ends when nothing came for so long, and after so long in any case: other dead letters wait meanwhile. */
#define IDLE_US (2 * TIDE_US_PER_S)
#define PASS_US (20 * TIDE_US_PER_S)
#define WAIT_MS 100
#define WATERMARK_WAIT_MS 2000

/* Between two wanted offsets that are further apart, fetching anew is cheaper than reading what lies between. */
#define READ_ON_OFFSETS 1000

/* A topic that ends below a wanted offset has lost it (or was made anew), unless this is a moment after a change of its
 * leader. */
#define BEYOND_END_US (30 * TIDE_US_PER_S)

/* The jobs of one partition, from next to end. */
typedef struct Cursor {
  rd_kafka_topic_t *topic; /* borrowed */
  gint32 partition;
  guint32 next; /* in Pass.jobs */
  guint32 end;
  gboolean running;
} Cursor;

struct TideKafkaOriginals {
  const TideConfig *config;         /* borrowed */
  const _Atomic gboolean *stopping; /* borrowed */
  rd_kafka_t *kafka;                /* owned; NULL until the first pass: most daemons never need one */
  rd_kafka_queue_t *queue;          /* owned: of all partitions */
  GHashTable *topics;               /* owned: name -> rd_kafka_topic_t */
  TideBuffer headers;
};

typedef struct Pass {
  TideKafkaOriginals *originals;
  GPtrArray *jobs; /* owned (element-type TideDeadLetterJob): sorted; NULL once it was read */
  GArray *cursors; /* owned (element-type Cursor) */
  TideDeadLetterJobs *read;
  guint32 n_running;
  gsize bytes;
  gint64 last_us; /* when something came */
  char *trouble;  /* owned */
} Pass;

/* ---- the client ---- */

static gboolean
connect_client(TideKafkaOriginals *originals, GError **error)
{
  if (originals->kafka != NULL)
    return TRUE;
  originals->kafka = tide_kafka_conf_connect(RD_KAFKA_CONSUMER,
                                             tide_kafka_conf_new_originals(&originals->config->kafka, error), error);
  if (originals->kafka == NULL)
    return FALSE;
  originals->queue = rd_kafka_queue_new(originals->kafka);
  return TRUE;
}

TideKafkaOriginals *
tide_kafka_originals_new(const TideConfig *config, const _Atomic gboolean *stopping, GError **error)
{
  rd_kafka_conf_t *conf = tide_kafka_conf_new_originals(&config->kafka, error);
  if (conf == NULL)
    return NULL;
  rd_kafka_conf_destroy(conf);
  TideKafkaOriginals *originals = g_new0(TideKafkaOriginals, 1);
  originals->config = config;
  originals->stopping = stopping;
  originals->topics =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)(void (*)(void))rd_kafka_topic_destroy);
  return originals;
}

/* librdkafka hangs in its destruction while a topic or queue is held. */
void
tide_kafka_originals_free(TideKafkaOriginals *originals)
{
  if (originals == NULL)
    return;
  g_hash_table_unref(originals->topics);
  g_clear_pointer(&originals->queue, rd_kafka_queue_destroy);
  g_clear_pointer(&originals->kafka, rd_kafka_destroy);
  tide_buffer_clear_memory(&originals->headers);
  g_free(originals);
}

static rd_kafka_topic_t *
topic_of(TideKafkaOriginals *originals, TideBytes name)
{
  g_autofree char *text = g_strndup((const char *)name.data, name.len);
  rd_kafka_topic_t *topic = g_hash_table_lookup(originals->topics, text);
  if (topic != NULL)
    return topic;
  topic = rd_kafka_topic_new(originals->kafka, text, NULL);
  if (topic != NULL)
    g_hash_table_insert(originals->topics, g_steal_pointer(&text), topic);
  return topic;
}

/* ---- a pass ---- */

static TideDeadLetterJob *
job_at(const Pass *pass, guint32 index)
{
  return g_ptr_array_index(pass->jobs, index);
}

/* @text: (transfer full); the first is kept. */
static void
note_trouble(Pass *pass, char *text)
{
  if (pass->trouble == NULL)
    pass->trouble = text;
  else
    g_free(text);
}

static void
start(Pass *pass, Cursor *cursor, gint64 offset)
{
  if (rd_kafka_consume_start_queue(cursor->topic, cursor->partition, offset, pass->originals->queue) == 0) {
    cursor->running = TRUE;
    pass->n_running++;
    return;
  }
  note_trouble(pass, g_strdup_printf("cannot read topic '%s' again: %s", rd_kafka_topic_name(cursor->topic),
                                     rd_kafka_err2str(rd_kafka_last_error())));
}

static void
stop(Pass *pass, Cursor *cursor)
{
  if (!cursor->running)
    return;
  (void)rd_kafka_consume_stop(cursor->topic, cursor->partition); /* of one that runs, it cannot fail */
  cursor->running = FALSE;
  pass->n_running--;
}

/* The next job of the cursor is done. */
static void
finish(Pass *pass, Cursor *cursor)
{
  TideDeadLetterJob *job = job_at(pass, cursor->next);
  job->must_read = FALSE;
  pass->bytes += job->memory.capacity;
  g_ptr_array_index(pass->jobs, cursor->next) = NULL;
  cursor->next++;
  tide_dead_letter_jobs_append(pass->read, job);
}

/* All wanted offsets below @offset are not in the partition. */
static void
pass_over_gone(Pass *pass, Cursor *cursor, gint64 offset)
{
  while (cursor->next < cursor->end && job_at(pass, cursor->next)->dead_letter.offset < offset) {
    job_at(pass, cursor->next)->dead_letter.original_is_gone = TRUE;
    finish(pass, cursor);
  }
}

static void
take_original(Pass *pass, TideDeadLetterJob *job, const rd_kafka_message_t *raw)
{
  TideMessage message = tide_kafka_message(raw);
  TideDeadLetter dead_letter = job->dead_letter;
  TideBuffer memory = {0};
  tide_kafka_dead_letter_set_original(&dead_letter, &message, &pass->originals->headers);
  tide_dead_letter_copy(&dead_letter, &job->dead_letter, &memory);
  tide_buffer_clear_memory(&job->memory);
  g_clear_pointer(&job->row, tide_refused_row_unref); /* kept for the case that the original is gone */
  job->memory = memory;
}

static void
take_message(Pass *pass, Cursor *cursor, const rd_kafka_message_t *raw)
{
  pass_over_gone(pass, cursor, raw->offset);
  while (cursor->next < cursor->end && job_at(pass, cursor->next)->dead_letter.offset == raw->offset) {
    take_original(pass, job_at(pass, cursor->next), raw);
    finish(pass, cursor);
  }
  if (cursor->next == cursor->end || pass->bytes > MAX_BYTES) {
    stop(pass, cursor);
    return;
  }
  gint64 wanted = job_at(pass, cursor->next)->dead_letter.offset;
  if (wanted - raw->offset <= READ_ON_OFFSETS)
    return;
  stop(pass, cursor);
  start(pass, cursor, wanted);
}

/* The partition ends at @end_offset, and the next wanted offset is not below that. */
static void
wait_beyond_end(Pass *pass, Cursor *cursor, gint64 end_offset)
{
  gint64 now_us = tide_now_us();
  for (guint32 i = cursor->next; i < cursor->end; i++)
    if (job_at(pass, i)->beyond_end_us == 0)
      job_at(pass, i)->beyond_end_us = now_us;
  while (cursor->next < cursor->end && now_us - job_at(pass, cursor->next)->beyond_end_us >= BEYOND_END_US) {
    job_at(pass, cursor->next)->dead_letter.original_is_gone = TRUE;
    finish(pass, cursor);
  }
  if (cursor->next == cursor->end)
    return;
  note_trouble(pass, g_strdup_printf("partition %d of topic '%s' ends at offset %" G_GINT64_FORMAT
                                     ", before offset %" G_GINT64_FORMAT " that was read from it: looking again",
                                     cursor->partition, rd_kafka_topic_name(cursor->topic), end_offset,
                                     job_at(pass, cursor->next)->dead_letter.offset));
}

static void
take_end(Pass *pass, Cursor *cursor, gint64 end_offset)
{
  stop(pass, cursor);
  pass_over_gone(pass, cursor, end_offset);
  if (cursor->next < cursor->end)
    wait_beyond_end(pass, cursor, end_offset);
}

/* The wanted offset is not between the partition's first and last. */
static void
take_out_of_range(Pass *pass, Cursor *cursor)
{
  stop(pass, cursor);
  gint64 low = -1, high = -1;
  rd_kafka_resp_err_t result = rd_kafka_query_watermark_offsets(
      pass->originals->kafka, rd_kafka_topic_name(cursor->topic), cursor->partition, &low, &high, WATERMARK_WAIT_MS);
  if (result != RD_KAFKA_RESP_ERR_NO_ERROR) {
    note_trouble(pass,
                 g_strdup_printf("cannot ask for the offsets of topic '%s' partition %d: %s",
                                 rd_kafka_topic_name(cursor->topic), cursor->partition, rd_kafka_err2str(result)));
    return;
  }
  pass_over_gone(pass, cursor, low);
  if (cursor->next == cursor->end)
    return;
  gint64 wanted = job_at(pass, cursor->next)->dead_letter.offset;
  if (wanted >= high)
    wait_beyond_end(pass, cursor, high);
  else
    start(pass, cursor, wanted);
}

static Cursor *
cursor_of(const Pass *pass, const rd_kafka_message_t *raw)
{
  for (guint i = 0; i < pass->cursors->len; i++) {
    Cursor *cursor = &g_array_index(pass->cursors, Cursor, i);
    if (cursor->running && cursor->partition == raw->partition &&
        strcmp(rd_kafka_topic_name(cursor->topic), rd_kafka_topic_name(raw->rkt)) == 0)
      return cursor;
  }
  return NULL;
}

static void
take(Pass *pass, const rd_kafka_message_t *raw)
{
  Cursor *cursor = raw->rkt != NULL ? cursor_of(pass, raw) : NULL;
  if (cursor == NULL)
    return;
  pass->last_us = tide_now_us();
  if (raw->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    take_message(pass, cursor, raw);
  } else if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    take_end(pass, cursor, raw->offset);
  } else if (raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || raw->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
    take_out_of_range(pass, cursor);
  } else {
    note_trouble(pass,
                 g_strdup_printf("cannot read topic '%s' partition %d again: %s", rd_kafka_topic_name(cursor->topic),
                                 cursor->partition, rd_kafka_err2str(raw->err)));
    stop(pass, cursor);
  }
}

static void
make_cursors(Pass *pass)
{
  for (guint32 i = 0; i < pass->jobs->len;) {
    const TideDeadLetter *dead_letter = &job_at(pass, i)->dead_letter;
    Cursor cursor = {.partition = dead_letter->partition, .next = i, .end = i};
    while (cursor.end < pass->jobs->len && job_at(pass, cursor.end)->dead_letter.partition == dead_letter->partition &&
           tide_bytes_equal(job_at(pass, cursor.end)->dead_letter.topic, dead_letter->topic))
      cursor.end++;
    cursor.topic = topic_of(pass->originals, dead_letter->topic);
    if (cursor.topic != NULL)
      g_array_append_val(pass->cursors, cursor);
    i = cursor.end;
  }
}

static void
run(Pass *pass)
{
  make_cursors(pass);
  for (guint i = 0; i < pass->cursors->len; i++) {
    Cursor *cursor = &g_array_index(pass->cursors, Cursor, i);
    start(pass, cursor, job_at(pass, cursor->next)->dead_letter.offset);
  }
  gint64 began_us = tide_now_us();
  pass->last_us = began_us;
  while (pass->n_running > 0 && pass->bytes <= MAX_BYTES &&
         !atomic_load_explicit(pass->originals->stopping, memory_order_acquire)) {
    gint64 now_us = tide_now_us();
    if (now_us - pass->last_us > IDLE_US || now_us - began_us > PASS_US) {
      note_trouble(pass,
                   g_strdup("messages that became dead letters cannot be read again from Kafka for now: brokers are "
                            "slow or not there"));
      break;
    }
    rd_kafka_message_t *raw = rd_kafka_consume_queue(pass->originals->queue, WAIT_MS);
    if (raw == NULL)
      continue;
    take(pass, raw);
    rd_kafka_message_destroy(raw);
  }
  for (guint i = 0; i < pass->cursors->len; i++)
    stop(pass, &g_array_index(pass->cursors, Cursor, i));
}

/* Those that were not read come first again: of one partition, the order stays. */
static void
put_back(Pass *pass, TideDeadLetterJobs *wanted)
{
  TideDeadLetterJobs left = {0};
  for (guint32 i = 0; i < pass->jobs->len; i++)
    if (job_at(pass, i) != NULL)
      tide_dead_letter_jobs_append(&left, job_at(pass, i));
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(wanted)) != NULL;)
    tide_dead_letter_jobs_append(&left, job);
  *wanted = left;
}

char *
tide_kafka_originals_read(TideKafkaOriginals *originals, TideDeadLetterJobs *wanted, TideDeadLetterJobs *read)
{
  g_autoptr(GError) error = NULL;
  if (!connect_client(originals, &error))
    return g_strdup(error->message);
  Pass pass = {.originals = originals,
               .jobs = g_ptr_array_new(),
               .cursors = g_array_new(FALSE, FALSE, sizeof(Cursor)),
               .read = read};
  while (pass.jobs->len < MAX_JOBS && wanted->first != NULL)
    g_ptr_array_add(pass.jobs, tide_dead_letter_jobs_take(wanted));
  g_ptr_array_sort(pass.jobs, tide_dead_letter_job_compare);
  run(&pass);
  put_back(&pass, wanted);
  g_ptr_array_unref(pass.jobs);
  g_array_unref(pass.cursors);
  return pass.trouble;
}
