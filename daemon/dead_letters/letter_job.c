/* Jobs for the letters, each with its own copy of what it is about, and the boxes they come home to: the small parts of
 * dead_letters.h. */
#include "dead_letters/letter_job.h"

/* Into @memory, which was made large enough: what was copied before stays where it is. */
static TideBytes
keep(TideBuffer *memory, TideBytes bytes)
{
  gsize at = memory->len;
  tide_buffer_append_bytes(memory, bytes);
  return bytes.len > 0 ? tide_bytes(memory->data + at, bytes.len) : TIDE_BYTES_EMPTY;
}

static gsize
size_of(const TideLetter *letter)
{
  gsize bytes = letter->topic.len + letter->key.len + letter->value.len + letter->reason.len + letter->text.len +
                letter->table.len + letter->row_key.len + letter->version.len +
                letter->n_headers * sizeof(TideLetterHeader);
  for (guint32 i = 0; i < letter->n_headers; i++)
    bytes += letter->headers[i].name.len + letter->headers[i].value.len;
  return bytes;
}

/* The array first: the memory's beginning is aligned for it. */
static const TideLetterHeader *
keep_headers(TideBuffer *memory, const TideLetter *letter)
{
  if (letter->n_headers == 0)
    return NULL;
  TideLetterHeader *headers = (TideLetterHeader *)(void *)memory->data;
  memory->len += letter->n_headers * sizeof *headers;
  for (guint32 i = 0; i < letter->n_headers; i++) {
    headers[i] = letter->headers[i];
    headers[i].name = keep(memory, letter->headers[i].name);
    headers[i].value = keep(memory, letter->headers[i].value);
  }
  return headers;
}

void
tide_letter_copy(const TideLetter *letter, TideLetter *ret_copy, TideBuffer *memory)
{
  TideLetter copy = *letter;
  tide_buffer_reserve(memory, size_of(letter) + 1);
  copy.headers = keep_headers(memory, letter);
  copy.topic = keep(memory, letter->topic);
  copy.key = keep(memory, letter->key);
  copy.value = keep(memory, letter->value);
  copy.reason = keep(memory, letter->reason);
  copy.text = keep(memory, letter->text);
  copy.table = keep(memory, letter->table);
  copy.row_key = keep(memory, letter->row_key);
  copy.version = keep(memory, letter->version);
  *ret_copy = copy;
}

TideLetterJob *
tide_letter_job_new(const TideLetter *letter, TideSourceRef source, guint32 n_acks, TideLetterBox *home)
{
  TideLetterJob *job = g_new0(TideLetterJob, 1);
  job->home = home;
  job->source = source;
  job->n_acks = n_acks;
  tide_letter_copy(letter, &job->letter, &job->memory);
  return job;
}

void
tide_letter_job_free(TideLetterJob *job)
{
  if (job == NULL)
    return;
  tide_buffer_clear_memory(&job->memory);
  tide_refused_row_unref(job->row);
  g_clear_pointer(&job->parts, g_array_unref);
  g_free(job);
}

gboolean
tide_letter_job_is_refused(const TideLetterJob *job)
{
  return tide_bytes_equal(job->letter.reason, TIDE_BYTES_LITERAL(TIDE_LETTER_REASON_REFUSED));
}

gint
tide_letter_job_compare(gconstpointer a, gconstpointer b)
{
  const TideLetter *first = &(*(const TideLetterJob *const *)a)->letter;
  const TideLetter *second = &(*(const TideLetterJob *const *)b)->letter;
  int order = tide_bytes_compare(first->topic, second->topic);
  if (order != 0)
    return order;
  if (first->partition != second->partition)
    return first->partition < second->partition ? -1 : 1;
  return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* ---- boxes ---- */

static void
free_jobs(TideLetterJob *job)
{
  for (TideLetterJob *next; job != NULL; job = next) {
    next = job->next;
    tide_letter_job_free(job);
  }
}

void
tide_letter_box_init(TideLetterBox *box, void (*wake)(gpointer data), gpointer wake_data)
{
  *box = (TideLetterBox){.wake = wake, .wake_data = wake_data};
  tide_mutex_init(&box->lock);
}

void
tide_letter_box_clear(TideLetterBox *box)
{
  free_jobs(tide_letter_box_take(box));
  tide_mutex_clear(&box->lock);
}

TideLetterJob *
tide_letter_box_take(TideLetterBox *box)
{
  tide_mutex_lock(&box->lock);
  TideLetterJob *jobs = box->jobs.first;
  box->jobs = (TideLetterJobs){0};
  tide_mutex_unlock(&box->lock);
  return jobs;
}

void
tide_letter_box_push(TideLetterBox *box, TideLetterJob *job)
{
  tide_mutex_lock(&box->lock);
  tide_letter_jobs_append(&box->jobs, job);
  tide_mutex_unlock(&box->lock);
  if (box->wake != NULL)
    box->wake(box->wake_data);
}

void
tide_letter_jobs_append(TideLetterJobs *jobs, TideLetterJob *job)
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
tide_letter_jobs_prepend(TideLetterJobs *jobs, TideLetterJob *job)
{
  job->next = jobs->first;
  jobs->first = job;
  if (jobs->last == NULL)
    jobs->last = job;
  jobs->n++;
}

TideLetterJob *
tide_letter_jobs_take(TideLetterJobs *jobs)
{
  TideLetterJob *job = jobs->first;
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
tide_letter_jobs_clear(TideLetterJobs *jobs)
{
  free_jobs(jobs->first);
  *jobs = (TideLetterJobs){0};
}
