/* The dead-letter thread: takes jobs, processes them, writes dead letters and completes the jobs. */
#include "dead_letters/dead_letter_json.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "dead_letters/dead_letter_row.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

/* Limits of a group that is synced together: large enough that a sync of several milliseconds is not a bottleneck,
 * small compared with the budget. */
#define GROUP_BYTES (1024u * 1024)
#define GROUP_DEAD_LETTERS 1000u

/* Pause after a failure; doubles from minimum to maximum. */
#define RETRY_MIN_US (100 * TIDE_US_PER_MS)
#define RETRY_MAX_US (10 * TIDE_US_PER_S)

/* Minimum time between log lines about a failure. */
#define TROUBLE_LOG_US (30 * TIDE_US_PER_S)

/* Longest sleep of the thread; it limits how old the ratio can be. */
#define ROUND_US TIDE_US_PER_S

/* Longest time that new dead letters wait while others are in flight to the topic. */
#define POLL_MS 10

/* Originals are read only if there is room for the resulting dead letters. */
#define MAX_TO_KEEP 4000u
#define MAX_READ_BYTES (16 * 1024 * 1024)

/* Without room, it is checked again after this time. */
#define ROOM_US (20 * TIDE_US_PER_MS)

/* ---- stalls ---- */

/* @text: (transfer full) (nullable): NULL: no longer stalled */
static void
set_stall_text(TideDeadLetterQueue *dead_letters, char *text)
{
  gboolean is_stalled = text != NULL;
  tide_mutex_lock(&dead_letters->locked.lock);
  g_free(dead_letters->locked.stall_text);
  dead_letters->locked.stall_text = text;
  tide_mutex_unlock(&dead_letters->locked.lock);
  atomic_store_explicit(&dead_letters->shared.is_stalled, is_stalled, memory_order_release);
  tide_gauge_set(dead_letters->metrics.stalled_gauge, is_stalled);
}

/* Delays @stage after a failure, doubling. Returns whether to log the failure again. */
static gboolean
note_failure(TideDeadLetterStage *stage, gint64 now_us)
{
  stage->next_us = now_us + tide_backoff_us(++stage->n_failures, RETRY_MIN_US, RETRY_MAX_US);
  if (stage->logged_us != 0 && now_us - stage->logged_us < TROUBLE_LOG_US)
    return FALSE;
  stage->logged_us = now_us;
  return TRUE;
}

static void
note_progress(TideDeadLetterStage *stage)
{
  stage->n_failures = 0;
  stage->next_us = 0;
  stage->logged_us = 0;
}

/* Stalls because dead letters cannot be written, for a reason that concerns all of them. */
static void
stall(TideDeadLetterQueue *dead_letters, TideDeadLetterStage *stage, const char *text, gint64 now_us)
{
  tide_counter_inc(dead_letters->metrics.retries);
  if (note_failure(stage, now_us))
    tide_log(TIDE_LOG_CRIT, "dead-letters-stalled",
             "cannot write dead letters: %s; retrying; all partitions pause until then", text);
  if (!dead_letters->shared.too_many)
    set_stall_text(dead_letters, g_strdup_printf("cannot write dead letters: %s", text));
}

/* @any_can_be_kept: FALSE if only the failed ones are gone */
static void
release(TideDeadLetterQueue *dead_letters, gboolean any_can_be_kept)
{
  if (dead_letters->shared.too_many || !atomic_load_explicit(&dead_letters->shared.is_stalled, memory_order_relaxed))
    return;
  set_stall_text(dead_letters, NULL);
  if (any_can_be_kept)
    tide_log(TIDE_LOG_NOTICE, "dead-letters-resumed", "dead letters can be written again");
  else
    tide_log(TIDE_LOG_NOTICE, "dead-letters-resumed",
             "no dead letter is waiting any longer: the partitions of those that could not be written were revoked or "
             "rewound, and their messages are read again");
}

/* ---- the ratio ---- */

/* Remedies for too many dead letters. */
#define OF_KAFKA                                                                                                       \
  "correct the configuration and restart; if the sender was wrong, raise max_ratio (1: no limit) and reload, "         \
  "until its messages are written"
#define OF_FILES                                                                                                       \
  "check with '--dry-run' what the files contain, correct the configuration, such as 'readings.format', and load "     \
  "them with '--again'; if it is correct, raise max_ratio (1: no limit)"

/* Jobs in flight when the limit was exceeded count too, since many good messages are written only then. (transfer
 * full) */
static char *
too_many_text(const TideDeadLetterQueue *dead_letters)
{
  gboolean is_of_files = dead_letters->context.find_original != NULL;
  g_autofree char *most = tide_dead_letter_reasons_most(dead_letters->reasons);
  const TideDeadLettersConfig *config = &dead_letters->context.config->dead_letters;
  const TideDeadLetterRatioPart *excess = &dead_letters->excess.total, *since = &dead_letters->excess.since;
  guint64 n_dead_letters = excess->dead_letters + since->dead_letters, n_written = excess->written + since->written;
  /* A consumer reports received messages after their dead letters. */
  guint64 n_messages = MAX(excess->received + since->received, n_written + n_dead_letters);
  g_autofree char *bad = tide_count_text(n_dead_letters);
  g_autofree char *all = tide_count_of(n_messages, "message", NULL);
  g_autofree char *written = tide_count_of(n_written, "was", "were");
  return g_strdup_printf("%s of %s in the last %" G_GINT64_FORMAT
                         " s would become dead letters and %s written, above dead_letters.max_ratio (%g); most "
                         "frequent reason: %s; no more are written: %s",
                         bad, all, config->window_ms / 1000, written, config->max_ratio, most,
                         is_of_files ? OF_FILES : OF_KAFKA);
}

static void
stall_for_too_many(TideDeadLetterQueue *dead_letters, const TideDeadLetterRatioPart *total)
{
  dead_letters->shared.too_many = TRUE;
  dead_letters->excess.total = *total;
  dead_letters->excess.since = (TideDeadLetterRatioPart){0};
  dead_letters->excess.has_more = FALSE;
  char *text = too_many_text(dead_letters);
  if (dead_letters->context.find_original == NULL) /* `load` prints it at the end */
    tide_log(TIDE_LOG_CRIT, "dead-letters-too-many", "%s", text);
  set_stall_text(dead_letters, text);
}

/* Without a new dead letter (@n_come: 0) no stall begins: good messages leaving the window do not make the remaining
 * dead letters too many. */
static void
check_ratio(TideDeadLetterQueue *dead_letters, guint32 n_come, gint64 now_us)
{
  TideDeadLetterRatioPart part = {
      .received = atomic_exchange_explicit(&dead_letters->shared.received, 0, memory_order_relaxed),
      .written = atomic_exchange_explicit(&dead_letters->shared.written, 0, memory_order_relaxed),
      .dead_letters = n_come};
  tide_dead_letter_ratio_add(&dead_letters->excess.ratio, now_us, &part);
  TideDeadLetterRatioPart total;
  if (!dead_letters->shared.too_many && n_come > 0 &&
      tide_dead_letter_ratio_is_exceeded(&dead_letters->excess.ratio, &total))
    stall_for_too_many(dead_letters, &total);
  else if (dead_letters->shared.too_many && part.received + part.written + part.dead_letters > 0) {
    dead_letters->excess.since.received += part.received;
    dead_letters->excess.since.written += part.written;
    dead_letters->excess.since.dead_letters += part.dead_letters;
    dead_letters->excess.has_more = TRUE;
  }
}

/* ---- jobs ---- */

static void
post_completed(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job, gboolean is_kept)
{
  job->is_kept = is_kept;
  if (is_kept) {
    tide_dead_letter_reasons_note_kept(dead_letters->reasons, &job->dead_letter);
    tide_counter_add(dead_letters->metrics.bytes, job->dead_letter.key.len + job->dead_letter.value.len);
  }
  tide_budget_charge(dead_letters->context.budget, -job->charged_bytes);
  tide_gauge_add(dead_letters->metrics.waiting, -1);
  tide_dead_letter_completions_push(job->completions, job);
}

/* Completes jobs whose partition was revoked or is to be rewound: rereading its messages creates them again. */
static void
cancel_lost(TideDeadLetterQueue *dead_letters, TideDeadLetterJobs *from)
{
  TideDeadLetterJobs jobs = *from;
  *from = (TideDeadLetterJobs){0};
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&jobs)) != NULL;) {
    if (job->owned == NULL || atomic_load_explicit(job->owned, memory_order_relaxed) == job->source.assignment) {
      tide_dead_letter_jobs_append(from, job);
      continue;
    }
    tide_counter_inc(dead_letters->metrics.cancelled);
    post_completed(dead_letters, job, FALSE);
  }
}

/* When the last failed dead letter is gone, its failure is forgotten too; the next one shows if it persists. */
static void
cancel_all_lost(TideDeadLetterQueue *dead_letters)
{
  for (guint i = 0; i < TIDE_DEAD_LETTER_N_STAGES; i++)
    cancel_lost(dead_letters, &dead_letters->stages[i].jobs);
  cancel_lost(dead_letters, &dead_letters->excess.jobs);
  gboolean under_way = dead_letters->topic != NULL && tide_kafka_dead_letters_in_flight(dead_letters->topic) > 0;
  if (!under_way && dead_letters->stages[TIDE_STAGE_KEEP].jobs.first == NULL &&
      dead_letters->stages[TIDE_STAGE_SEND_AGAIN].jobs.first == NULL)
    release(dead_letters, FALSE);
}

void
tide_dead_letter_queue_drop(TideDeadLetterQueue *dead_letters, TideDeadLetterJobs *jobs)
{
  for (const TideDeadLetterJob *job = jobs->first; job != NULL; job = job->next) {
    tide_budget_charge(dead_letters->context.budget, -job->charged_bytes);
    tide_gauge_add(dead_letters->metrics.waiting, -1);
  }
  tide_dead_letter_jobs_clear(jobs);
}

gint64
tide_dead_letter_queue_memory_bytes(const TideDeadLetterJob *job)
{
  return (gint64)(sizeof *job + job->memory.capacity + job->row.capacity);
}

/* If Kafka no longer has the message, keeps its row instead. */
static void
put_row_for_original(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job)
{
  g_auto(TideBuffer) json = {0};
  TideBuffer memory = {0};
  TideDeadLetter dead_letter = job->dead_letter;
  dead_letter.has_value =
      tide_dead_letter_row_json(dead_letters->protocol, dead_letter.row_key, tide_buffer_bytes(&job->row), &json);
  dead_letter.value = tide_buffer_bytes(&json);
  tide_dead_letter_copy(&dead_letter, &job->dead_letter, &memory);
  tide_buffer_clear_memory(&job->memory);
  tide_buffer_clear_memory(&job->row);
  job->memory = memory;
  tide_counter_inc(dead_letters->metrics.gone);
}

/* Moves @job to its next stage. */
static void
pass_on(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job)
{
  if (!job->must_read && job->dead_letter.original_is_gone)
    put_row_for_original(dead_letters, job);
  gint64 bytes = tide_dead_letter_queue_memory_bytes(job);
  tide_budget_charge(dead_letters->context.budget, bytes - job->charged_bytes);
  job->charged_bytes = bytes;
  tide_dead_letter_jobs_append(
      job->must_read ? &dead_letters->stages[TIDE_STAGE_READ].jobs : &dead_letters->stages[TIDE_STAGE_KEEP].jobs, job);
}

static void
take_job(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job)
{
  if (job->dead_letter.version.len == 0)
    job->dead_letter.version = TIDE_BYTES_LITERAL(TIDE_VERSION);
  tide_dead_letter_reasons_note_come(dead_letters->reasons, &job->dead_letter);
  check_ratio(dead_letters, job->is_further ? 0 : 1, tide_now_us());
  if (dead_letters->shared.too_many)
    tide_dead_letter_jobs_append(&dead_letters->excess.jobs, job);
  else
    pass_on(dead_letters, job);
}

/* Releases jobs that are not too many for the current max_ratio. */
static void
resume_below_ratio(TideDeadLetterQueue *dead_letters)
{
  if (!dead_letters->shared.too_many ||
      tide_dead_letter_ratio_is_above(&dead_letters->excess.ratio, &dead_letters->excess.total))
    return;
  dead_letters->shared.too_many = FALSE;
  release(dead_letters, TRUE);
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&dead_letters->excess.jobs)) != NULL;)
    pass_on(dead_letters, job);
}

/* Applies limits changed by a reload. */
static void
take_limits(TideDeadLetterQueue *dead_letters)
{
  const TideDeadLettersConfig *config = &dead_letters->context.config->dead_letters;
  if (dead_letters->file != NULL)
    tide_dead_letter_file_set_limits(dead_letters->file, config->max_file_bytes, config->max_bytes);
  tide_dead_letter_ratio_set_bounds(&dead_letters->excess.ratio, config->window_ms, config->max_ratio);
  resume_below_ratio(dead_letters);
}

/* Takes submitted jobs, waiting until @deadline_us. */
static void
take_incoming(TideDeadLetterQueue *dead_letters, gint64 deadline_us)
{
  tide_mutex_lock(&dead_letters->locked.lock);
  while (dead_letters->locked.incoming.first == NULL &&
         !atomic_load_explicit(&dead_letters->shared.stopping, memory_order_relaxed) &&
         tide_cond_wait_until(&dead_letters->locked.work, &dead_letters->locked.lock, deadline_us))
    ;
  TideDeadLetterJobs jobs = dead_letters->locked.incoming;
  dead_letters->locked.incoming = (TideDeadLetterJobs){0};
  dead_letters->locked.is_at_rest = FALSE;
  tide_mutex_unlock(&dead_letters->locked.lock);
  take_limits(dead_letters);
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&jobs)) != NULL;)
    take_job(dead_letters, job);
  check_ratio(dead_letters, 0, tide_now_us());
  if (dead_letters->shared.too_many && dead_letters->excess.has_more) {
    dead_letters->excess.has_more = FALSE;
    set_stall_text(dead_letters, too_many_text(dead_letters));
  }
}

/* ---- completing ---- */

static gint64
charged_bytes(const TideDeadLetterJobs *jobs)
{
  gint64 bytes = 0;
  for (const TideDeadLetterJob *job = jobs->first; job != NULL; job = job->next)
    bytes += job->charged_bytes;
  return bytes;
}

static void
find_original(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job)
{
  const TideDeadLetterQueueContext *context = &dead_letters->context;
  TideDeadLetter dead_letter = job->dead_letter;
  g_auto(TideBuffer) value = {0};
  job->must_read = FALSE;
  if (!context->find_original(dead_letter.topic, dead_letter.offset, &value, context->original_data)) {
    job->dead_letter.original_is_gone = TRUE;
    return;
  }
  TideBuffer memory = {0};
  dead_letter.value = tide_buffer_bytes(&value);
  dead_letter.has_value = TRUE;
  dead_letter.timestamp_ms = -1;
  tide_dead_letter_copy(&dead_letter, &job->dead_letter, &memory);
  tide_buffer_clear_memory(&job->memory);
  tide_buffer_clear_memory(&job->row);
  job->memory = memory;
}

static void
read_originals(TideDeadLetterQueue *dead_letters, gint64 now_us)
{
  TideDeadLetterStage *stage = &dead_letters->stages[TIDE_STAGE_READ];
  if (stage->jobs.first == NULL || now_us < stage->next_us)
    return;
  const TideDeadLetterJobs *to_keep = &dead_letters->stages[TIDE_STAGE_KEEP].jobs;
  if (to_keep->n > MAX_TO_KEEP || charged_bytes(to_keep) > MAX_READ_BYTES) {
    stage->next_us = now_us + ROOM_US;
    return;
  }
  if (dead_letters->context.find_original != NULL) {
    for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&stage->jobs)) != NULL;) {
      find_original(dead_letters, job);
      pass_on(dead_letters, job);
    }
    return;
  }
  TideDeadLetterJobs read = {0};
  g_autofree char *trouble = tide_kafka_originals_read(dead_letters->originals, &stage->jobs, &read);
  if (read.first != NULL)
    note_progress(stage);
  else if (trouble != NULL && note_failure(stage, tide_now_us()))
    tide_log(TIDE_LOG_ERROR, "original-unreadable", "%s; retrying; these offsets are not committed until then",
             trouble);
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&read)) != NULL;)
    pass_on(dead_letters, job);
}

/* ---- keeping ---- */

/* Builds the lines of the first jobs, at most @most. Returns their number. */
static guint32
make_lines(TideDeadLetterQueue *dead_letters, guint32 most)
{
  guint32 n = 0;
  tide_buffer_reset(&dead_letters->lines);
  gint64 now_ms = tide_wall_clock_epoch_ms();
  for (const TideDeadLetterJob *job = dead_letters->stages[TIDE_STAGE_KEEP].jobs.first;
       job != NULL && n < most && dead_letters->lines.len < GROUP_BYTES; job = job->next, n++)
    tide_dead_letter_json_append(&dead_letters->lines, &job->dead_letter, now_ms);
  return n;
}

static void
keep_in_file(TideDeadLetterQueue *dead_letters, gint64 now_us)
{
  TideDeadLetterStage *stage = &dead_letters->stages[TIDE_STAGE_KEEP];
  guint32 most = GROUP_DEAD_LETTERS;
  while (stage->jobs.first != NULL && now_us >= stage->next_us) {
    g_autoptr(GError) error = NULL;
    guint32 n = make_lines(dead_letters, most);
    if (!tide_dead_letter_file_append(dead_letters->file, tide_buffer_bytes(&dead_letters->lines), &error)) {
      if (n > 1 && g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG)) {
        most = n / 2; /* a group larger than dead_letters.max_size never fits */
        continue;
      }
      stall(dead_letters, stage, error->message, now_us);
      return;
    }
    note_progress(stage);
    release(dead_letters, TRUE);
    for (guint32 i = 0; i < n; i++)
      post_completed(dead_letters, tide_dead_letter_jobs_take(&stage->jobs), TRUE);
  }
}

/* The first of @jobs cannot be written while others can: only its partition waits. @why: (transfer full) */
static void
log_stalled_one(const TideDeadLetterJobs *jobs, char *why)
{
  const TideDeadLetter *dead_letter = &jobs->first->dead_letter;
  tide_log(TIDE_LOG_CRIT, "dead-letter-stalled",
           "cannot write the dead letter of '%.*s' partition %d offset %" G_GINT64_FORMAT
           ": %s; retrying; the partition's committed offset does not pass it until then",
           (int)dead_letter->topic.len, (const char *)dead_letter->topic.data, dead_letter->partition,
           dead_letter->offset, why);
  g_free(why);
}

static void
wait_in(TideDeadLetterStage *stage, TideDeadLetterJobs *jobs)
{
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(jobs)) != NULL;) {
    job->n_failures++;
    tide_dead_letter_jobs_append(&stage->jobs, job);
  }
}

/* Handles answers from the topic, each for its own dead letter. All partitions pause only while no answer shows that
 * the topic accepts others; a refusal of one for its size shows that too. */
static void
take_reports(TideDeadLetterQueue *dead_letters)
{
  TideKafkaDeadLetterReports reports = {0};
  tide_kafka_dead_letters_poll(dead_letters->topic, POLL_MS, &reports);
  TideDeadLetterStage *again = &dead_letters->stages[TIDE_STAGE_SEND_AGAIN],
                      *too_large = &dead_letters->stages[TIDE_STAGE_TOO_LARGE];
  gboolean any_can_be_kept = reports.kept.first != NULL || reports.too_large.first != NULL;
  gint64 now_us = tide_now_us();
  tide_counter_add(dead_letters->metrics.retries, reports.n_refused_with_others + reports.too_large.n);
  if (any_can_be_kept)
    release(dead_letters, TRUE);
  for (TideDeadLetterJob *job; (job = tide_dead_letter_jobs_take(&reports.kept)) != NULL;) {
    if (job->n_failures > 0) {
      note_progress(&dead_letters->stages[TIDE_STAGE_KEEP]);
      note_progress(again);
      note_progress(too_large);
    }
    post_completed(dead_letters, job, TRUE);
  }
  if (reports.too_large.first != NULL && note_failure(too_large, now_us))
    log_stalled_one(&reports.too_large,
                    tide_kafka_dead_letters_describe_too_large(dead_letters->topic, reports.too_large.first));
  wait_in(too_large, &reports.too_large);
  if (reports.failed.first == NULL)
    return;
  const char *trouble = tide_kafka_dead_letters_trouble(dead_letters->topic);
  if (!any_can_be_kept)
    stall(dead_letters, again, trouble, now_us);
  else {
    tide_counter_inc(dead_letters->metrics.retries);
    if (note_failure(again, now_us))
      log_stalled_one(&reports.failed, g_strdup(trouble));
  }
  wait_in(again, &reports.failed);
}

static void
send_to_topic(TideDeadLetterQueue *dead_letters, TideDeadLetterStage *stage, gint64 now_us)
{
  while (stage->jobs.first != NULL && now_us >= stage->next_us) {
    TideDeadLetterJobs jobs = {0};
    TideDeadLetterJob *job = tide_dead_letter_jobs_take(&stage->jobs);
    switch (tide_kafka_dead_letters_send(dead_letters->topic, job)) {
    case TIDE_KAFKA_DEAD_LETTER_SENT:
      break;
    case TIDE_KAFKA_DEAD_LETTER_LATER: /* reports of those in flight make room */
      tide_dead_letter_jobs_prepend(&stage->jobs, job);
      return;
    case TIDE_KAFKA_DEAD_LETTER_TOO_LARGE:
      tide_counter_inc(dead_letters->metrics.retries);
      tide_dead_letter_jobs_append(&jobs, job);
      if (note_failure(&dead_letters->stages[TIDE_STAGE_TOO_LARGE], now_us))
        log_stalled_one(&jobs, tide_kafka_dead_letters_describe_too_large(dead_letters->topic, job));
      wait_in(&dead_letters->stages[TIDE_STAGE_TOO_LARGE], &jobs);
      break;
    case TIDE_KAFKA_DEAD_LETTER_FAILED:
      job->n_failures++;
      tide_dead_letter_jobs_prepend(&stage->jobs, job);
      stall(dead_letters, stage, tide_kafka_dead_letters_trouble(dead_letters->topic), now_us);
      return;
    }
  }
}

/* ---- the thread ---- */

/* When the next stage is due. */
static gint64
next_due_us(const TideDeadLetterQueue *dead_letters, gint64 now_us)
{
  gint64 due_us = now_us + ROUND_US;
  for (guint i = 0; i < TIDE_DEAD_LETTER_N_STAGES; i++)
    if (dead_letters->stages[i].jobs.first != NULL)
      due_us = MIN(due_us, MAX(dead_letters->stages[i].next_us, now_us));
  return due_us;
}

/* Called at the end of a round, when completed jobs have been posted. */
static void
note_rest(TideDeadLetterQueue *dead_letters)
{
  gboolean in_flight = dead_letters->topic != NULL && tide_kafka_dead_letters_in_flight(dead_letters->topic) > 0;
  gboolean is_at_rest = dead_letters->shared.too_many && !in_flight;
  for (guint i = 0; i < TIDE_DEAD_LETTER_N_STAGES; i++)
    is_at_rest &= dead_letters->stages[i].jobs.first == NULL;
  tide_mutex_lock(&dead_letters->locked.lock);
  dead_letters->locked.is_at_rest = is_at_rest;
  tide_mutex_unlock(&dead_letters->locked.lock);
}

void
tide_dead_letter_queue_run(gpointer data)
{
  TideDeadLetterQueue *dead_letters = data;
  while (!atomic_load_explicit(&dead_letters->shared.stopping, memory_order_acquire)) {
    if (atomic_exchange_explicit(&dead_letters->shared.must_reconnect, FALSE, memory_order_acquire) &&
        dead_letters->topic != NULL)
      tide_kafka_dead_letters_disconnect(dead_letters->topic, &dead_letters->stages[TIDE_STAGE_SEND_AGAIN].jobs);
    gint64 now_us = tide_now_us();
    gboolean in_flight = dead_letters->topic != NULL && tide_kafka_dead_letters_in_flight(dead_letters->topic) > 0;
    if (in_flight)
      take_reports(dead_letters);
    take_incoming(dead_letters, in_flight ? now_us : next_due_us(dead_letters, now_us));
    cancel_all_lost(dead_letters);
    read_originals(dead_letters, tide_now_us());
    static const TideDeadLetterStageKind of_topic[] = {TIDE_STAGE_SEND_AGAIN, TIDE_STAGE_KEEP, TIDE_STAGE_TOO_LARGE};
    now_us = tide_now_us();
    for (guint i = 0; dead_letters->topic != NULL && i < G_N_ELEMENTS(of_topic); i++)
      send_to_topic(dead_letters, &dead_letters->stages[of_topic[i]], now_us);
    if (dead_letters->topic == NULL)
      keep_in_file(dead_letters, now_us);
    note_rest(dead_letters);
  }
}
