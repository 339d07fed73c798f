#include "dead_letters/kafka_originals.h"

#include "dead_letters/kafka_dead_letter.h"
#include "kafka/kafka_topic_reader.h"
#include "util/clock.h"
#include "util/error.h"

/* Limits of one pass, by number and size. The messages of a merged row are scattered over a backlog, so a pass reads
 * many unwanted messages and becomes more efficient the more it wants. */
#define MAX_JOBS 8000u
#define MAX_BYTES (16u * 1024 * 1024)

/* A pass ends after this idle time, or after this total time, because other dead letters wait meanwhile. */
#define IDLE_MS 2000
#define PASS_US (20 * TIDE_US_PER_S)

/* A topic that ends before a wanted offset has lost it or was recreated, unless its leader has just changed. */
#define BEYOND_END_US (30 * TIDE_US_PER_S)

/* The jobs of one partition, from next to end in Pass.jobs. */
typedef struct Cursor {
  guint32 next;
  guint32 end;
} Cursor;

struct TideKafkaOriginals {
  const TideConfig *config;         /* borrowed */
  const _Atomic gboolean *stopping; /* borrowed */
  TideTopicReader *reader;          /* owned; NULL until the first pass, since most daemons need none */
  TideBuffer headers;
};

typedef struct Pass {
  TideKafkaOriginals *originals;
  GPtrArray *jobs; /* owned (element-type TideDeadLetterJob): sorted; entries become NULL once read */
  GArray *parts;   /* owned (element-type TideTopicPart) */
  GArray *cursors; /* owned (element-type Cursor), one per part */
  TideDeadLetterJobs *read;
  guint32 n_remaining; /* jobs not read yet */
  gsize bytes;
  gint64 began_us;
  char *trouble; /* owned */
} Pass;

TideKafkaOriginals *
tide_kafka_originals_new(const TideConfig *config, const _Atomic gboolean *stopping)
{
  TideKafkaOriginals *originals = g_new0(TideKafkaOriginals, 1);
  originals->config = config;
  originals->stopping = stopping;
  return originals;
}

void
tide_kafka_originals_free(TideKafkaOriginals *originals)
{
  if (originals == NULL)
    return;
  tide_topic_reader_free(originals->reader);
  tide_buffer_clear_memory(&originals->headers);
  g_free(originals);
}

/* ---- a pass ---- */

static TideDeadLetterJob *
job_at(const Pass *pass, guint32 index)
{
  return g_ptr_array_index(pass->jobs, index);
}

/* @text: (transfer full); only the first is kept */
static void
note_trouble(Pass *pass, char *text)
{
  if (pass->trouble == NULL)
    pass->trouble = text;
  else
    g_free(text);
}

/* Finishes the cursor's next job. */
static void
finish(Pass *pass, Cursor *cursor)
{
  TideDeadLetterJob *job = job_at(pass, cursor->next);
  job->must_read = FALSE;
  pass->bytes += job->memory.capacity;
  g_ptr_array_index(pass->jobs, cursor->next) = NULL;
  cursor->next++;
  pass->n_remaining--;
  tide_dead_letter_jobs_append(pass->read, job);
}

/* Marks all wanted offsets below @offset as gone. */
static void
mark_gone(Pass *pass, Cursor *cursor, gint64 offset)
{
  while (cursor->next < cursor->end && job_at(pass, cursor->next)->dead_letter.offset < offset) {
    job_at(pass, cursor->next)->dead_letter.original_is_gone = TRUE;
    finish(pass, cursor);
  }
}

static void
take_original(Pass *pass, TideDeadLetterJob *job, const TideMessage *message)
{
  TideDeadLetter dead_letter = job->dead_letter;
  TideBuffer memory = {0};
  tide_kafka_dead_letter_set_original(&dead_letter, message, &pass->originals->headers);
  tide_dead_letter_copy(&dead_letter, &job->dead_letter, &memory);
  tide_buffer_clear_memory(&job->memory);
  tide_buffer_clear_memory(&job->row); /* was kept in case the original is gone */
  job->memory = memory;
}

/* Whether the remaining jobs of all partitions must wait for the next pass. */
static gboolean
must_end(Pass *pass)
{
  if (pass->n_remaining == 0)
    return FALSE;
  gboolean is_late = tide_now_us() - pass->began_us > PASS_US;
  if (is_late)
    note_trouble(pass, g_strdup("cannot read the messages of dead letters again: brokers are slow or unavailable"));
  return is_late || pass->bytes > MAX_BYTES || atomic_load_explicit(pass->originals->stopping, memory_order_acquire);
}

static gint64
take_message(const TideMessage *message, guint part, gpointer data)
{
  Pass *pass = data;
  Cursor *cursor = &g_array_index(pass->cursors, Cursor, part);
  mark_gone(pass, cursor, message->offset);
  while (cursor->next < cursor->end && job_at(pass, cursor->next)->dead_letter.offset == message->offset) {
    take_original(pass, job_at(pass, cursor->next), message);
    finish(pass, cursor);
  }
  if (must_end(pass))
    return TIDE_TOPIC_STOP;
  return cursor->next < cursor->end ? job_at(pass, cursor->next)->dead_letter.offset : TIDE_TOPIC_END;
}

/* The partition ends before the next wanted offset. */
static void
wait_beyond_end(Pass *pass, Cursor *cursor, const TideTopicPart *part)
{
  gint64 now_us = tide_now_us();
  for (guint32 i = cursor->next; i < cursor->end; i++)
    if (job_at(pass, i)->beyond_end_us == 0)
      job_at(pass, i)->beyond_end_us = now_us;
  while (cursor->next < cursor->end && now_us - job_at(pass, cursor->next)->beyond_end_us >= BEYOND_END_US) {
    job_at(pass, cursor->next)->dead_letter.original_is_gone = TRUE;
    finish(pass, cursor);
  }
  if (cursor->next < cursor->end)
    note_trouble(pass, g_strdup_printf("topic '%s' partition %d ends before offset %" G_GINT64_FORMAT
                                       ", which was read from it; checking again",
                                       part->topic, part->partition, job_at(pass, cursor->next)->dead_letter.offset));
}

static void
take_end(guint index, gint64 next, const char *fault, gpointer data)
{
  Pass *pass = data;
  Cursor *cursor = &g_array_index(pass->cursors, Cursor, index);
  const TideTopicPart *part = &g_array_index(pass->parts, TideTopicPart, index);
  if (fault != NULL) {
    note_trouble(pass,
                 g_strdup_printf("cannot read topic '%s' partition %d again: %s", part->topic, part->partition, fault));
    return;
  }
  mark_gone(pass, cursor, next);
  if (cursor->next < cursor->end)
    wait_beyond_end(pass, cursor, part);
}

/* One span per partition, from its first wanted offset to its last. (transfer full) (element-type TideTopicSpan) */
static GArray *
make_spans(Pass *pass)
{
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint32 i = 0; i < pass->jobs->len;) {
    const TideDeadLetter *first = &job_at(pass, i)->dead_letter;
    Cursor cursor = {i, i};
    while (cursor.end < pass->jobs->len && job_at(pass, cursor.end)->dead_letter.partition == first->partition &&
           tide_bytes_equal(job_at(pass, cursor.end)->dead_letter.topic, first->topic))
      cursor.end++;
    TideTopicPart part = {.topic = g_strndup((const char *)first->topic.data, first->topic.len),
                          .partition = first->partition};
    TideTopicSpan span = {pass->parts->len, first->offset, job_at(pass, cursor.end - 1)->dead_letter.offset + 1};
    g_array_append_val(pass->parts, part);
    g_array_append_val(pass->cursors, cursor);
    g_array_append_val(spans, span);
    i = cursor.end;
  }
  return spans;
}

static void
run(Pass *pass)
{
  TideTopicReaderOptions options = {.silence_ms = IDLE_MS, .max_open = G_MAXUINT, .ended = take_end, .in_daemon = TRUE};
  TideKafkaOriginals *originals = pass->originals;
  g_autoptr(GArray) spans = make_spans(pass);
  g_autoptr(GError) error = NULL;
  if (originals->reader == NULL)
    originals->reader = tide_topic_reader_new(&originals->config->kafka, &options, &error);
  if (originals->reader == NULL ||
      !tide_topic_reader_read(originals->reader, pass->parts, spans, take_message, pass, &error))
    note_trouble(pass, g_strdup_printf("cannot read the messages of dead letters again: %s", error->message));
}

/* Returns unread jobs to the front of @wanted, so that the order within a partition is preserved. */
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
  Pass pass = {.originals = originals,
               .jobs = g_ptr_array_new(),
               .parts = tide_topic_parts_new(),
               .cursors = g_array_new(FALSE, FALSE, sizeof(Cursor)),
               .read = read,
               .began_us = tide_now_us()};
  while (pass.jobs->len < MAX_JOBS && wanted->first != NULL)
    g_ptr_array_add(pass.jobs, tide_dead_letter_jobs_take(wanted));
  pass.n_remaining = pass.jobs->len;
  g_ptr_array_sort(pass.jobs, tide_dead_letter_job_compare);
  run(&pass);
  put_back(&pass, wanted);
  g_ptr_array_unref(pass.jobs);
  g_array_unref(pass.parts);
  g_array_unref(pass.cursors);
  return pass.trouble;
}
