/* The thread of the letters: takes jobs, completes them, keeps them and sends them home. */
#include "dead_letters/dead_letters_private.h"
#include "dead_letters/letter_json.h"
#include "dead_letters/letter_row.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/log.h"

/* A group is synced together: large enough that a sync of some milliseconds is no bound, small enough to stay far below
 * the budget. */
#define GROUP_BYTES (1024u * 1024)
#define GROUP_LETTERS 1000u

/* After a failure: doubles from the one to the other. */
#define RETRY_MIN_US (100 * TIDE_US_PER_MS)
#define RETRY_MAX_US (10 * TIDE_US_PER_S)

/* What holds letters back is said this often. */
#define TROUBLE_LOG_US (30 * TIDE_US_PER_S)

/* The longest the thread sleeps: bounds how stale the ratio is. */
#define ROUND_US TIDE_US_PER_S

/* While letters are on their way to the topic, new ones wait this long for their turn at the most. */
#define POLL_MS 10

/* Originals are read only while there is room for what they lead to. */
#define MAX_TO_KEEP 4000u
#define MAX_READ_BYTES (16 * 1024 * 1024)

/* Where there is none, it is looked for again after this. */
#define ROOM_US (20 * TIDE_US_PER_MS)

/* ---- holding ---- */

/* @text: (transfer full) (nullable): NULL: not any more */
static void
set_held_text(TideDeadLetters *letters, char *text)
{
  gboolean holding = text != NULL;
  tide_mutex_lock(&letters->lock);
  g_free(letters->held_text);
  letters->held_text = text;
  tide_mutex_unlock(&letters->lock);
  atomic_store_explicit(&letters->holding, holding, memory_order_release);
  tide_gauge_set(letters->holding_gauge, holding);
}

/* @stage did not get on: it waits, doubling. Returns: whether an operator should hear of it again. */
static gboolean
note_failure(TideLetterStage *stage, gint64 now_us)
{
  stage->next_us = now_us + tide_backoff_us(++stage->n_failures, RETRY_MIN_US, RETRY_MAX_US);
  if (stage->logged_us != 0 && now_us - stage->logged_us < TROUBLE_LOG_US)
    return FALSE;
  stage->logged_us = now_us;
  return TRUE;
}

static void
note_progress(TideLetterStage *stage)
{
  stage->n_failures = 0;
  stage->next_us = 0;
  stage->logged_us = 0;
}

/* Letters cannot be kept, for a reason that concerns all of them. */
static void
hold(TideDeadLetters *letters, TideLetterStage *stage, const char *text, gint64 now_us)
{
  tide_counter_inc(letters->retries);
  if (note_failure(stage, now_us))
    tide_log(TIDE_LOG_CRIT, "dead letters cannot be kept: %s; trying again, and all partitions pause until then", text);
  if (!letters->too_many)
    set_held_text(letters, g_strdup_printf("dead letters cannot be kept: %s", text));
}

static void
release(TideDeadLetters *letters)
{
  if (letters->too_many || !atomic_load_explicit(&letters->holding, memory_order_relaxed))
    return;
  set_held_text(letters, NULL);
  tide_log(TIDE_LOG_NOTICE, "dead letters are kept again");
}

/* ---- the ratio ---- */

static void
hold_for_too_many(TideDeadLetters *letters, const TideLetterRatioPart *total)
{
  g_autofree char *most = tide_letter_reasons_most(letters->reasons);
  const TideDeadLettersConfig *config = &letters->context.config->dead_letters;
  letters->too_many = TRUE;
  char *text = g_strdup_printf("%" G_GUINT64_FORMAT " messages were to become dead letters while %" G_GUINT64_FORMAT
                               " were received and %" G_GUINT64_FORMAT " written in %" G_GINT64_FORMAT
                               " s, above dead_letters.max_ratio (%g); most often for %s; no more are kept until a "
                               "restart: mend the configuration and restart; where the sender was wrong, raise "
                               "max_ratio (1: no bound) until its messages are kept",
                               total->letters, total->received, total->written, config->window_ms / 1000,
                               config->max_ratio, most);
  tide_log(TIDE_LOG_CRIT, "%s", text);
  set_held_text(letters, text);
}

static void
heed_ratio(TideDeadLetters *letters, guint32 n_come, gint64 now_us)
{
  TideLetterRatioPart part = {.received = atomic_exchange_explicit(&letters->received, 0, memory_order_relaxed),
                              .written = atomic_exchange_explicit(&letters->written, 0, memory_order_relaxed),
                              .letters = n_come};
  tide_letter_ratio_add(&letters->ratio, now_us, &part);
  TideLetterRatioPart total;
  if (!letters->too_many && tide_letter_ratio_is_exceeded(&letters->ratio, &total))
    hold_for_too_many(letters, &total);
}

/* ---- jobs ---- */

static void
give_back(TideDeadLetters *letters, TideLetterJob *job)
{
  tide_budget_charge(letters->context.budget, -job->charged_bytes);
  job->charged_bytes = 0;
}

static void
send_home(TideDeadLetters *letters, TideLetterJob *job, TideLetterResult result)
{
  job->result = result;
  if (result == TIDE_LETTER_KEPT) {
    tide_letter_reasons_note_kept(letters->reasons, &job->letter);
    tide_counter_add(letters->bytes, job->letter.key.len + job->letter.value.len);
  }
  if (result == TIDE_LETTER_READ)
    atomic_fetch_add_explicit(&letters->lent_bytes, job->charged_bytes, memory_order_relaxed);
  else
    give_back(letters, job);
  tide_gauge_add(letters->waiting, -1);
  tide_letter_box_push(job->home, job);
}

/* Sends those home whose partition has gone: its next owner reads the messages again, and makes letters of them. */
static void
give_up_lost(TideDeadLetters *letters, TideLetterJobs *from)
{
  TideLetterJobs jobs = *from;
  *from = (TideLetterJobs){0};
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&jobs)) != NULL;) {
    if (job->owned == NULL || atomic_load_explicit(job->owned, memory_order_relaxed) == job->source.epoch) {
      tide_letter_jobs_append(from, job);
      continue;
    }
    tide_counter_inc(letters->given_up);
    send_home(letters, job, TIDE_LETTER_PENDING);
  }
}

/* With the last letter that could not be kept its trouble goes, too: the next one shows whether it is still there. */
static void
give_up_all_lost(TideDeadLetters *letters)
{
  TideLetterJobs *jobs[] = {&letters->to_read.jobs, &letters->to_keep.jobs, &letters->to_send_again.jobs,
                            &letters->held_back};
  for (guint i = 0; i < G_N_ELEMENTS(jobs); i++)
    give_up_lost(letters, jobs[i]);
  gboolean under_way = letters->topic != NULL && tide_kafka_letters_under_way(letters->topic) > 0;
  if (!under_way && letters->to_keep.jobs.first == NULL && letters->to_send_again.jobs.first == NULL)
    release(letters);
}

void
tide_dead_letters_drop(TideDeadLetters *letters, TideLetterJobs *jobs)
{
  for (const TideLetterJob *job = jobs->first; job != NULL; job = job->next) {
    tide_budget_charge(letters->context.budget, -job->charged_bytes);
    tide_gauge_add(letters->waiting, -1);
  }
  tide_letter_jobs_clear(jobs);
}

gint64
tide_dead_letters_memory_bytes(const TideLetterJob *job)
{
  gsize parts_bytes = job->parts != NULL ? job->parts->len * sizeof(TideRefusedPart) : 0;
  return (gint64)(sizeof *job + job->memory.capacity + parts_bytes);
}

/* What is left of a message that Kafka has no more: its row. Of a merged one, cells of other messages stand in it, and
 * whether this message is to blame cannot be found out: the letter says so. */
static void
put_row_for_original(TideDeadLetters *letters, TideLetterJob *job)
{
  g_auto(TideBuffer) json = {0};
  TideBuffer memory = {0};
  TideLetter letter = job->letter;
  letter.has_value = job->row != NULL && tide_letter_row_json(letters->protocol, letter.row_key, job->row->wire, &json);
  letter.value = tide_buffer_bytes(&json);
  g_autofree char *text = NULL;
  if (job->row != NULL && job->row->is_shared) {
    text = g_strdup_printf("%.*s; the row is of several messages, and this one is not known to be guilty",
                           (int)letter.text.len, (const char *)letter.text.data);
    letter.text = tide_bytes_of_string(text);
  }
  tide_letter_copy(&letter, &job->letter, &memory);
  tide_buffer_clear_memory(&job->memory);
  g_clear_pointer(&job->row, tide_refused_row_unref);
  job->memory = memory;
  tide_counter_inc(letters->gone);
}

/* The stage that @job comes to next. */
static void
pass_on(TideDeadLetters *letters, TideLetterJob *job)
{
  if (!job->must_read && !job->wants_original && job->letter.original_is_gone)
    put_row_for_original(letters, job);
  gint64 bytes = tide_dead_letters_memory_bytes(job);
  tide_budget_charge(letters->context.budget, bytes - job->charged_bytes);
  job->charged_bytes = bytes;
  if (job->must_read)
    tide_letter_jobs_append(&letters->to_read.jobs, job);
  else if (job->wants_original)
    send_home(letters, job, TIDE_LETTER_READ);
  else
    tide_letter_jobs_append(&letters->to_keep.jobs, job);
}

/* A letter, or none yet. */
static void
take_job(TideDeadLetters *letters, TideLetterJob *job)
{
  if (job->letter.version.len == 0)
    job->letter.version = TIDE_BYTES_LITERAL(TIDE_VERSION);
  if (!job->wants_original) {
    tide_letter_reasons_note_come(letters->reasons, &job->letter);
    heed_ratio(letters, job->is_further ? 0 : 1, tide_now_us());
  }
  if (letters->too_many && !job->wants_original)
    tide_letter_jobs_append(&letters->held_back, job);
  else
    pass_on(letters, job);
}

/* Waits for jobs until @deadline_us. */
static void
take_incoming(TideDeadLetters *letters, gint64 deadline_us)
{
  tide_mutex_lock(&letters->lock);
  while (letters->incoming.first == NULL && !atomic_load_explicit(&letters->stopping, memory_order_relaxed) &&
         tide_cond_wait_until(&letters->work, &letters->lock, deadline_us))
    ;
  TideLetterJobs jobs = letters->incoming;
  letters->incoming = (TideLetterJobs){0};
  tide_mutex_unlock(&letters->lock);
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&jobs)) != NULL;)
    take_job(letters, job);
  heed_ratio(letters, 0, tide_now_us());
}

/* ---- completing ---- */

static gint64
charged_bytes(const TideLetterJobs *jobs)
{
  gint64 bytes = 0;
  for (const TideLetterJob *job = jobs->first; job != NULL; job = job->next)
    bytes += job->charged_bytes;
  return bytes;
}

static gboolean
has_room_for_originals(const TideDeadLetters *letters)
{
  return letters->to_keep.jobs.n <= MAX_TO_KEEP &&
         charged_bytes(&letters->to_keep.jobs) + atomic_load_explicit(&letters->lent_bytes, memory_order_relaxed) <=
             MAX_READ_BYTES;
}

static void
read_originals(TideDeadLetters *letters, gint64 now_us)
{
  TideLetterStage *stage = &letters->to_read;
  if (stage->jobs.first == NULL || now_us < stage->next_us)
    return;
  if (!has_room_for_originals(letters)) {
    stage->next_us = now_us + ROOM_US;
    return;
  }
  TideLetterJobs read = {0};
  g_autofree char *trouble = tide_kafka_originals_read(letters->originals, &stage->jobs, &read);
  if (read.first != NULL)
    note_progress(stage);
  else if (trouble != NULL && note_failure(stage, tide_now_us()))
    tide_log(TIDE_LOG_ERROR, "%s; trying again, their offsets wait", trouble);
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&read)) != NULL;)
    pass_on(letters, job);
}

/* ---- keeping ---- */

/* The lines of a group of jobs, from the first on. Returns: how many. */
static guint32
make_lines(TideDeadLetters *letters)
{
  guint32 n = 0;
  tide_buffer_reset(&letters->lines);
  gint64 now_ms = tide_wall_clock_epoch_ms();
  for (const TideLetterJob *job = letters->to_keep.jobs.first;
       job != NULL && n < GROUP_LETTERS && letters->lines.len < GROUP_BYTES; job = job->next, n++)
    tide_letter_json_append(&letters->lines, &job->letter, now_ms);
  return n;
}

static void
keep_in_file(TideDeadLetters *letters, gint64 now_us)
{
  TideLetterStage *stage = &letters->to_keep;
  while (stage->jobs.first != NULL && now_us >= stage->next_us) {
    g_autoptr(GError) error = NULL;
    guint32 n = make_lines(letters);
    if (!tide_letter_file_append(letters->file, tide_buffer_bytes(&letters->lines), &error)) {
      hold(letters, stage, error->message, now_us);
      return;
    }
    note_progress(stage);
    release(letters);
    for (guint32 i = 0; i < n; i++)
      send_home(letters, tide_letter_jobs_take(&stage->jobs), TIDE_LETTER_KEPT);
  }
}

/* What the topic has taken or refused meanwhile. */
static void
take_reports(TideDeadLetters *letters)
{
  TideLetterJobs kept = {0}, failed = {0};
  tide_kafka_letters_poll(letters->topic, POLL_MS, &kept, &failed);
  TideLetterStage *again = &letters->to_send_again;
  const char *trouble = tide_kafka_letters_trouble(letters->topic);
  if (kept.first != NULL)
    release(letters);
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&kept)) != NULL;)
    send_home(letters, job, TIDE_LETTER_KEPT);
  if (failed.first == NULL)
    return;
  gint64 now_us = tide_now_us();
  if (!tide_kafka_letters_trouble_is_of_a_letter(letters->topic))
    hold(letters, again, trouble, now_us);
  else if (note_failure(again, now_us))
    tide_log(TIDE_LOG_CRIT, "a dead letter cannot be kept: %s; trying again, and its partition holds", trouble);
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&failed)) != NULL;)
    tide_letter_jobs_append(&again->jobs, job);
}

static void
send_to_topic(TideDeadLetters *letters, TideLetterStage *stage, gint64 now_us)
{
  while (stage->jobs.first != NULL && now_us >= stage->next_us) {
    TideLetterJob *job = tide_letter_jobs_take(&stage->jobs);
    if (tide_kafka_letters_send(letters->topic, job))
      continue;
    tide_letter_jobs_prepend(&stage->jobs, job);
    if (tide_kafka_letters_under_way(letters->topic) > 0)
      return; /* too many: the reports of those make room */
    hold(letters, stage, tide_kafka_letters_trouble(letters->topic), now_us);
    take_reports(letters); /* and looks whether the producer must be made anew */
  }
}

static void
keep_in_topic(TideDeadLetters *letters, gint64 now_us)
{
  send_to_topic(letters, &letters->to_send_again, now_us);
  send_to_topic(letters, &letters->to_keep, now_us);
}

/* ---- the thread ---- */

/* When the next of the stages has something to do. */
static gint64
next_due_us(const TideDeadLetters *letters, gint64 now_us)
{
  const TideLetterStage *const stages[] = {&letters->to_read, &letters->to_keep, &letters->to_send_again};
  gint64 due_us = now_us + ROUND_US;
  for (gsize i = 0; i < G_N_ELEMENTS(stages); i++)
    if (stages[i]->jobs.first != NULL)
      due_us = MIN(due_us, MAX(stages[i]->next_us, now_us));
  return due_us;
}

/* The thread's owner function. */
void
tide_dead_letters_run(gpointer data)
{
  TideDeadLetters *letters = data;
  while (!atomic_load_explicit(&letters->stopping, memory_order_acquire)) {
    gint64 now_us = tide_now_us();
    gboolean on_the_way = letters->topic != NULL && tide_kafka_letters_under_way(letters->topic) > 0;
    if (on_the_way)
      take_reports(letters);
    take_incoming(letters, on_the_way ? now_us : next_due_us(letters, now_us));
    give_up_all_lost(letters);
    read_originals(letters, tide_now_us());
    if (letters->topic != NULL)
      keep_in_topic(letters, tide_now_us());
    else
      keep_in_file(letters, tide_now_us());
  }
}
