/* Jobs for the dead-letter thread, each with its own copy of the dead letter, and the queues of completed jobs: the
 * small parts of dead_letter_queue.h. */
#include "dead_letters/dead_letter_job.h"

/* Copies into @memory, whose capacity is sufficient, so that earlier copies do not move. */
static TideBytes
keep(TideBuffer *memory, TideBytes bytes)
{
  gsize at = memory->len;
  tide_buffer_append_bytes(memory, bytes);
  return bytes.len > 0 ? tide_bytes(memory->data + at, bytes.len) : TIDE_BYTES_EMPTY;
}

static gsize
size_of(const TideDeadLetter *dead_letter)
{
  gsize bytes = dead_letter->topic.len + dead_letter->key.len + dead_letter->value.len + dead_letter->reason.len +
                dead_letter->text.len + dead_letter->source.len + dead_letter->table.len + dead_letter->row_key.len +
                dead_letter->version.len + dead_letter->n_headers * sizeof(TideDeadLetterHeader);
  for (guint32 i = 0; i < dead_letter->n_headers; i++)
    bytes += dead_letter->headers[i].name.len + dead_letter->headers[i].value.len;
  return bytes;
}

/* The array comes first, because the beginning of the memory is aligned for it. */
static const TideDeadLetterHeader *
keep_headers(TideBuffer *memory, const TideDeadLetter *dead_letter)
{
  if (dead_letter->n_headers == 0)
    return NULL;
  TideDeadLetterHeader *headers = (TideDeadLetterHeader *)(void *)memory->data;
  memory->len += dead_letter->n_headers * sizeof *headers;
  for (guint32 i = 0; i < dead_letter->n_headers; i++) {
    headers[i] = dead_letter->headers[i];
    headers[i].name = keep(memory, dead_letter->headers[i].name);
    headers[i].value = keep(memory, dead_letter->headers[i].value);
  }
  return headers;
}

void
tide_dead_letter_copy(const TideDeadLetter *dead_letter, TideDeadLetter *ret_copy, TideBuffer *memory)
{
  TideDeadLetter copy = *dead_letter;
  tide_buffer_reserve(memory, size_of(dead_letter) + 1);
  copy.headers = keep_headers(memory, dead_letter);
  copy.topic = keep(memory, dead_letter->topic);
  copy.key = keep(memory, dead_letter->key);
  copy.value = keep(memory, dead_letter->value);
  copy.reason = keep(memory, dead_letter->reason);
  copy.text = keep(memory, dead_letter->text);
  copy.source = keep(memory, dead_letter->source);
  copy.table = keep(memory, dead_letter->table);
  copy.row_key = keep(memory, dead_letter->row_key);
  copy.version = keep(memory, dead_letter->version);
  *ret_copy = copy;
}

TideDeadLetterJob *
tide_dead_letter_job_new(const TideDeadLetter *dead_letter, TideSourceRef source, guint32 n_acks,
                         TideDeadLetterCompletions *completions)
{
  TideDeadLetterJob *job = g_new0(TideDeadLetterJob, 1);
  job->completions = completions;
  job->source = source;
  job->n_acks = n_acks;
  tide_dead_letter_copy(dead_letter, &job->dead_letter, &job->memory);
  return job;
}

void
tide_dead_letter_job_free(TideDeadLetterJob *job)
{
  if (job == NULL)
    return;
  tide_buffer_clear_memory(&job->memory);
  tide_buffer_clear_memory(&job->row);
  g_free(job);
}

gboolean
tide_dead_letter_job_is_refused(const TideDeadLetterJob *job)
{
  return tide_bytes_equal(job->dead_letter.reason, TIDE_BYTES_LITERAL(TIDE_DEAD_LETTER_REASON_REFUSED));
}

gint
tide_dead_letter_job_compare(gconstpointer a, gconstpointer b)
{
  const TideDeadLetter *first = &(*(const TideDeadLetterJob *const *)a)->dead_letter;
  const TideDeadLetter *second = &(*(const TideDeadLetterJob *const *)b)->dead_letter;
  int order = tide_bytes_compare(first->topic, second->topic);
  if (order != 0)
    return order;
  if (first->partition != second->partition)
    return first->partition < second->partition ? -1 : 1;
  return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* ---- completion queues ---- */

static void
free_jobs(TideDeadLetterJob *job)
{
  for (TideDeadLetterJob *next; job != NULL; job = next) {
    next = job->next;
    tide_dead_letter_job_free(job);
  }
}

void
tide_dead_letter_completions_init(TideDeadLetterCompletions *box, void (*wake)(gpointer data), gpointer wake_data)
{
  *box = (TideDeadLetterCompletions){.wake = wake, .wake_data = wake_data};
  tide_mutex_init(&box->lock);
}

void
tide_dead_letter_completions_clear(TideDeadLetterCompletions *box)
{
  free_jobs(tide_dead_letter_completions_take(box));
  tide_mutex_clear(&box->lock);
}

TideDeadLetterJob *
tide_dead_letter_completions_take(TideDeadLetterCompletions *box)
{
  tide_mutex_lock(&box->lock);
  TideDeadLetterJob *jobs = box->jobs.first;
  box->jobs = (TideDeadLetterJobs){0};
  tide_mutex_unlock(&box->lock);
  return jobs;
}

void
tide_dead_letter_completions_push(TideDeadLetterCompletions *box, TideDeadLetterJob *job)
{
  tide_mutex_lock(&box->lock);
  tide_dead_letter_jobs_append(&box->jobs, job);
  tide_mutex_unlock(&box->lock);
  if (box->wake != NULL)
    box->wake(box->wake_data);
}

void
tide_dead_letter_jobs_append(TideDeadLetterJobs *jobs, TideDeadLetterJob *job)
{
  job->next = NULL;
  if (jobs->last != NULL)
    jobs->last->next = job;
  else
    jobs->first = job;
  jobs->last = job;
  jobs->n++;
}

void
tide_dead_letter_jobs_prepend(TideDeadLetterJobs *jobs, TideDeadLetterJob *job)
{
  job->next = jobs->first;
  jobs->first = job;
  if (jobs->last == NULL)
    jobs->last = job;
  jobs->n++;
}

TideDeadLetterJob *
tide_dead_letter_jobs_take(TideDeadLetterJobs *jobs)
{
  TideDeadLetterJob *job = jobs->first;
  if (job == NULL)
    return NULL;
  jobs->first = job->next;
  if (jobs->first == NULL)
    jobs->last = NULL;
  jobs->n--;
  job->next = NULL;
  return job;
}

void
tide_dead_letter_jobs_clear(TideDeadLetterJobs *jobs)
{
  free_jobs(jobs->first);
  *jobs = (TideDeadLetterJobs){0};
}
