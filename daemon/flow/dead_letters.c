#include "flow/dead_letters.h"

#include "flow/letter_file.h"
#include "flow/letter_job.h"
#include "flow/letter_json.h"
#include "flow/letter_ratio.h"
#include "flow/state_directory.h"
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

/* Messages that a consumer has read and not told yet: it takes so many a round. */
#define UNTOLD_MESSAGES 512u

/* How often a reason came, for the one sentence that an operator reads. */
typedef struct Reason {
  TideCounter *kept;
  guint64 n;  /* submitted */
  char *text; /* owned: of the last */
} Reason;

struct TideDeadLetters {
  /* set before start, then read-only */
  TideDeadLettersContext context;
  char *path; /* owned: of the file; NULL: none */
  TideThread *thread;
  TideCounter *bytes;
  TideCounter *retries;
  TideCounter *torn_bytes;
  TideGauge *waiting;
  TideGauge *holding_gauge;

  /* the letters' thread only (but before start and after stop) */
  TideLetterFile *file;
  TideLetterJobs to_keep;
  TideLetterRatio ratio;
  GHashTable *reasons; /* owned (element-type utf8 Reason) */
  guint32 n_failures;  /* in a row */
  gint64 next_try_us;
  gint64 trouble_logged_us;
  gboolean too_many; /* above max_ratio: until a restart */
  TideBuffer lines;

  /* any thread */
  _Atomic guint64 received;
  _Atomic gboolean stopping;
  _Atomic gboolean holding;

  /* under lock */
  TideMutex lock;
  TideCond work;
  TideLetterJobs incoming;
  char *held_text; /* owned: NULL: not holding */
};

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

static void
note_trouble(TideDeadLetters *letters, const char *text, gint64 now_us)
{
  gint64 pause_us = MIN(RETRY_MIN_US << MIN(letters->n_failures, 10u), RETRY_MAX_US);
  letters->n_failures++;
  letters->next_try_us = now_us + pause_us;
  tide_counter_inc(letters->retries);
  set_held_text(letters, g_strdup_printf("dead letters cannot be kept: %s", text));
  if (letters->trouble_logged_us != 0 && now_us - letters->trouble_logged_us < TROUBLE_LOG_US)
    return;
  letters->trouble_logged_us = now_us;
  tide_log(TIDE_LOG_CRIT, "dead letters cannot be kept: %s; trying again, and partitions with bad messages hold", text);
}

static void
note_success(TideDeadLetters *letters)
{
  if (letters->n_failures == 0)
    return;
  letters->n_failures = 0;
  letters->next_try_us = 0;
  letters->trouble_logged_us = 0;
  set_held_text(letters, NULL);
  tide_log(TIDE_LOG_NOTICE, "dead letters are kept again");
}

/* ---- the ratio ---- */

static void
free_reason(gpointer data)
{
  Reason *reason = data;
  g_free(reason->text);
  g_free(reason);
}

static Reason *
reason_of(TideDeadLetters *letters, TideBytes name)
{
  g_autofree char *key = g_strndup((const char *)name.data, name.len);
  Reason *reason = g_hash_table_lookup(letters->reasons, key);
  if (reason != NULL)
    return reason;
  g_autofree char *label = tide_metrics_label("reason", key);
  reason = g_new0(Reason, 1);
  reason->kept = tide_metrics_counter(letters->context.metrics, "tidemark_dead_letters_total",
                                      "Dead letters kept, by reason", label);
  g_hash_table_insert(letters->reasons, g_steal_pointer(&key), reason);
  return reason;
}

static void
count_submitted(TideDeadLetters *letters, const TideLetter *letter)
{
  Reason *reason = reason_of(letters, letter->reason);
  reason->n++;
  g_free(reason->text);
  reason->text = g_strndup((const char *)letter->text.data, letter->text.len);
}

static void
hold_for_too_many(TideDeadLetters *letters, const TideLetterRatioPart *total)
{
  const char *most = "";
  const Reason *reason = NULL;
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init(&iter, letters->reasons);
  while (g_hash_table_iter_next(&iter, &name, &value))
    if (reason == NULL || ((const Reason *)value)->n > reason->n) {
      most = name;
      reason = value;
    }
  const TideDeadLettersConfig *config = &letters->context.config->dead_letters;
  letters->too_many = TRUE;
  char *text =
      g_strdup_printf("%" G_GUINT64_FORMAT " messages were to become dead letters while %" G_GUINT64_FORMAT
                      " were received in %" G_GINT64_FORMAT
                      " s, above dead_letters.max_ratio (%g); most often for '%s': %s; no more are kept until a "
                      "restart: mend the configuration or the sender, or raise max_ratio, and restart",
                      total->letters, total->received, config->window_ms / 1000, config->max_ratio, most,
                      reason != NULL ? reason->text : "");
  tide_log(TIDE_LOG_CRIT, "%s", text);
  set_held_text(letters, text);
}

static void
heed_ratio(TideDeadLetters *letters, guint32 n_submitted, gint64 now_us)
{
  guint64 received = atomic_exchange_explicit(&letters->received, 0, memory_order_relaxed);
  tide_letter_ratio_add(&letters->ratio, now_us, received, n_submitted);
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
  tide_gauge_add(letters->waiting, -1);
}

static void
send_home(TideDeadLetters *letters, TideLetterJob *job, TideLetterResult result)
{
  job->result = result;
  if (result == TIDE_LETTER_KEPT) {
    tide_counter_inc(reason_of(letters, job->letter.reason)->kept);
    tide_counter_add(letters->bytes, job->letter.key.len + job->letter.value.len);
  }
  give_back(letters, job);
  tide_letter_box_push(job->home, job);
}

static void
drop_jobs(TideDeadLetters *letters, TideLetterJobs *jobs)
{
  for (const TideLetterJob *job = jobs->first; job != NULL; job = job->next) {
    tide_budget_charge(letters->context.budget, -job->charged_bytes);
    tide_gauge_add(letters->waiting, -1);
  }
  tide_letter_jobs_clear(jobs);
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
  guint32 n = jobs.n;
  for (TideLetterJob *job; (job = tide_letter_jobs_take(&jobs)) != NULL;) {
    if (job->letter.version.len == 0)
      job->letter.version = TIDE_BYTES_LITERAL(TIDE_VERSION);
    count_submitted(letters, &job->letter);
    tide_letter_jobs_append(&letters->to_keep, job);
  }
  heed_ratio(letters, n, tide_now_us());
}

/* The lines of a group of jobs, from the first on. Returns: how many. */
static guint32
make_lines(TideDeadLetters *letters)
{
  guint32 n = 0;
  tide_buffer_reset(&letters->lines);
  gint64 now_ms = tide_wall_clock_epoch_ms();
  for (const TideLetterJob *job = letters->to_keep.first;
       job != NULL && n < GROUP_LETTERS && letters->lines.len < GROUP_BYTES; job = job->next, n++)
    tide_letter_json_append(&letters->lines, &job->letter, now_ms);
  return n;
}

static void
keep_in_file(TideDeadLetters *letters, gint64 now_us)
{
  while (letters->to_keep.first != NULL && now_us >= letters->next_try_us) {
    g_autoptr(GError) error = NULL;
    guint32 n = make_lines(letters);
    if (!tide_letter_file_append(letters->file, tide_buffer_bytes(&letters->lines), &error)) {
      note_trouble(letters, error->message, now_us);
      return;
    }
    note_success(letters);
    for (guint32 i = 0; i < n; i++)
      send_home(letters, tide_letter_jobs_take(&letters->to_keep), TIDE_LETTER_KEPT);
  }
}

/* The thread's owner function. */
static void
run_letters(gpointer data)
{
  TideDeadLetters *letters = data;
  while (!atomic_load_explicit(&letters->stopping, memory_order_acquire)) {
    gint64 now_us = tide_now_us();
    gint64 due_us = now_us + ROUND_US;
    if (letters->to_keep.first != NULL && !letters->too_many)
      due_us = CLAMP(letters->next_try_us, now_us, due_us);
    take_incoming(letters, due_us);
    if (!letters->too_many)
      keep_in_file(letters, tide_now_us());
  }
}

/* ---- life ---- */

char *
tide_dead_letters_file_path(const TideDeadLettersConfig *config)
{
  if (config->topic != NULL)
    return NULL;
  if (config->file != NULL)
    return g_strdup(config->file);
  return tide_state_directory_path("dead-letters.jsonl");
}

static void
register_metrics(TideDeadLetters *letters)
{
  TideMetrics *metrics = letters->context.metrics;
  letters->bytes =
      tide_metrics_counter(metrics, "tidemark_dead_letters_bytes_total", "Keys and values of dead letters kept", NULL);
  letters->retries = tide_metrics_counter(metrics, "tidemark_dead_letters_retries_total",
                                          "Attempts to keep dead letters that failed", NULL);
  letters->torn_bytes =
      tide_metrics_counter(metrics, "tidemark_dead_letters_torn_bytes_total",
                           "Bytes of a last line without an end, which a crash left in the file", NULL);
  letters->waiting =
      tide_metrics_gauge(metrics, "tidemark_dead_letters_waiting", "Dead letters that are not kept yet", NULL);
  letters->holding_gauge = tide_metrics_gauge(metrics, "tidemark_dead_letters_holding",
                                              "1 while dead letters cannot be kept, or too many were", NULL);
}

TideDeadLetters *
tide_dead_letters_new(const TideDeadLettersContext *context)
{
  const TideConfig *config = context->config;
  TideDeadLetters *letters = g_new0(TideDeadLetters, 1);
  letters->context = *context;
  letters->path = tide_dead_letters_file_path(&config->dead_letters);
  tide_mutex_init(&letters->lock);
  tide_cond_init(&letters->work);
  letters->reasons = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_reason);
  tide_letter_ratio_init(&letters->ratio, config->dead_letters.window_ms, config->dead_letters.max_ratio,
                         (guint64)UNTOLD_MESSAGES * config->kafka.threads);
  register_metrics(letters);
  return letters;
}

static gboolean
open_file(TideDeadLetters *letters, GError **error)
{
  const TideDeadLettersConfig *config = &letters->context.config->dead_letters;
  TideLetterFileOptions options = {
      .path = letters->path, .max_file_bytes = config->max_file_bytes, .max_bytes = config->max_bytes};
  guint64 torn_bytes = 0;
  letters->file = tide_letter_file_open(&options, &torn_bytes, error);
  if (letters->file == NULL)
    return FALSE;
  tide_counter_add(letters->torn_bytes, torn_bytes);
  if (torn_bytes > 0)
    tide_log(TIDE_LOG_WARNING,
             "the last line of '%s' has no end, as after a crash: its %" G_GUINT64_FORMAT
             " bytes were moved to '%s.torn'; the letter was not acknowledged and is written again",
             letters->path, torn_bytes, letters->path);
  return TRUE;
}

gboolean
tide_dead_letters_start(TideDeadLetters *letters, TideWireProtocol protocol, GError **error)
{
  if (!tide_dead_letters_exist(letters))
    return TRUE;
  if (!open_file(letters, error))
    return FALSE;
  letters->thread = tide_thread_start("tide-letters", run_letters, letters);
  return TRUE;
}

gboolean
tide_dead_letters_stop(TideDeadLetters *letters, gint64 deadline_us)
{
  tide_mutex_lock(&letters->lock);
  atomic_store_explicit(&letters->stopping, TRUE, memory_order_release);
  tide_cond_broadcast(&letters->work);
  tide_mutex_unlock(&letters->lock);
  if (letters->thread != NULL && !tide_thread_join_until(letters->thread, deadline_us))
    return FALSE;
  letters->thread = NULL;
  drop_jobs(letters, &letters->to_keep);
  drop_jobs(letters, &letters->incoming);
  return TRUE;
}

void
tide_dead_letters_free(TideDeadLetters *letters)
{
  if (letters == NULL)
    return;
  (void)tide_dead_letters_stop(letters, G_MAXINT64);
  tide_letter_file_free(letters->file);
  g_hash_table_unref(letters->reasons);
  tide_buffer_clear_memory(&letters->lines);
  tide_cond_clear(&letters->work);
  tide_mutex_clear(&letters->lock);
  g_free(letters->held_text);
  g_free(letters->path);
  g_free(letters);
}

/* ---- for others ---- */

gboolean
tide_dead_letters_exist(const TideDeadLetters *letters)
{
  return letters->path != NULL;
}

void
tide_dead_letters_submit(TideDeadLetters *letters, TideLetterJob *job)
{
  job->charged_bytes = (gint64)(sizeof *job + job->memory.capacity + job->row.capacity);
  tide_budget_charge(letters->context.budget, job->charged_bytes);
  tide_gauge_add(letters->waiting, 1);
  tide_mutex_lock(&letters->lock);
  tide_letter_jobs_append(&letters->incoming, job);
  tide_cond_signal(&letters->work);
  tide_mutex_unlock(&letters->lock);
}

void
tide_dead_letters_note_received(TideDeadLetters *letters, guint32 n)
{
  atomic_fetch_add_explicit(&letters->received, n, memory_order_relaxed);
}

gboolean
tide_dead_letters_is_holding_racy(const TideDeadLetters *letters)
{
  return atomic_load_explicit(&letters->holding, memory_order_acquire);
}

char *
tide_dead_letters_held_text(TideDeadLetters *letters)
{
  tide_mutex_lock(&letters->lock);
  char *text = g_strdup(letters->held_text);
  tide_mutex_unlock(&letters->lock);
  return text;
}
