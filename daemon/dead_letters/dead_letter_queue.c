#include "config/config_source.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/state_directory.h"

/* Messages that a consumer may have read but not reported: it handles this many per round. */
#define UNREPORTED_MESSAGES 512u

/* ---- life ---- */

static char *
path_beside_configuration(const TideConfig *config)
{
  g_autofree char *base = g_path_get_basename(config->path);
  char *dot = strrchr(base, '.');
  if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
    *dot = '\0';
  g_autofree char *name = g_strconcat(base, ".dead-letters.jsonl", NULL);
  return g_build_filename(config->directory, name, NULL);
}

char *
tide_dead_letter_queue_file_path(const TideConfig *config)
{
  if (config->dead_letters.topic != NULL)
    return NULL;
  if (config->dead_letters.file != NULL)
    return g_strdup(config->dead_letters.file);
  char *path = tide_state_directory_path("dead-letters.jsonl");
  if (path != NULL || config->directory == NULL || !tide_config_keeps_bad_messages(config))
    return path;
  return path_beside_configuration(config);
}

static void
register_metrics(TideDeadLetterQueue *dead_letters)
{
  TideMetrics *metrics = dead_letters->context.metrics;
  dead_letters->metrics.bytes = tide_metrics_counter(metrics, "tidemark_dead_letters_bytes_total",
                                                     "Size of the keys and values of kept dead letters", NULL);
  dead_letters->metrics.retries = tide_metrics_counter(metrics, "tidemark_dead_letters_retries_total",
                                                       "Failed attempts to keep a dead letter", NULL);
  dead_letters->metrics.torn_bytes =
      tide_metrics_counter(metrics, "tidemark_dead_letters_torn_bytes_total",
                           "Bytes of an incomplete last line that a crash left in the file", NULL);
  dead_letters->metrics.cancelled = tide_metrics_counter(
      metrics, "tidemark_dead_letters_cancelled_total",
      "Dead letters not kept because their partition was revoked or rewound; they are produced again", NULL);
  dead_letters->metrics.gone =
      tide_metrics_counter(metrics, "tidemark_dead_letters_originals_missing_total",
                           "Dead letters whose original message was no longer in its topic", NULL);
  dead_letters->metrics.waiting =
      tide_metrics_gauge(metrics, "tidemark_dead_letters_waiting", "Dead letters that are not kept yet", NULL);
  dead_letters->metrics.stalled_gauge = tide_metrics_gauge(
      metrics, "tidemark_dead_letters_blocked", "1 while dead letters cannot be kept, or there were too many", NULL);
}

TideDeadLetterQueue *
tide_dead_letter_queue_new(const TideDeadLetterQueueContext *context)
{
  const TideConfig *config = context->config;
  TideDeadLetterQueue *dead_letters = g_new0(TideDeadLetterQueue, 1);
  dead_letters->context = *context;
  dead_letters->path = tide_dead_letter_queue_file_path(config);
  tide_mutex_init(&dead_letters->locked.lock);
  tide_cond_init(&dead_letters->locked.work);
  dead_letters->reasons = tide_dead_letter_reasons_new(context->metrics);
  tide_dead_letter_ratio_init(&dead_letters->excess.ratio, config->dead_letters.window_ms,
                              config->dead_letters.max_ratio, (guint64)UNREPORTED_MESSAGES * config->kafka.threads);
  register_metrics(dead_letters);
  return dead_letters;
}

static TideDeadLetterFile *
open_file(TideDeadLetterQueue *dead_letters, GError **error)
{
  const TideDeadLettersConfig *config = &dead_letters->context.config->dead_letters;
  TideDeadLetterFileOptions options = {
      .path = dead_letters->path, .max_file_bytes = config->max_file_bytes, .max_bytes = config->max_bytes};
  guint64 torn_bytes = 0;
  TideDeadLetterFile *file = tide_dead_letter_file_open(&options, &torn_bytes, error);
  if (file == NULL)
    g_prefix_error(error, "cannot write dead letters%s: ",
                   g_error_matches(*error, TIDE_ERROR, TIDE_ERROR_IN_USE)
                       ? "" /* its text includes a remedy */
                       : " (set dead_letters.topic or another dead_letters.file)");
  else
    tide_log(TIDE_LOG_INFO, "dead-letters-file", "writing dead letters to '%s'", dead_letters->path);
  tide_counter_add(dead_letters->metrics.torn_bytes, torn_bytes);
  if (torn_bytes > 0)
    tide_log(TIDE_LOG_WARNING, "dead-letters-torn",
             "the last line of '%s' is incomplete, as after a crash; its %" G_GUINT64_FORMAT
             " bytes were moved to '%s.torn'; the dead letter was not acknowledged and is written again",
             dead_letters->path, torn_bytes, dead_letters->path);
  return file;
}

gboolean
tide_dead_letter_queue_start(TideDeadLetterQueue *dead_letters, TideWireProtocol protocol, GError **error)
{
  const TideConfig *config = dead_letters->context.config;
  if (!tide_dead_letter_queue_exist(dead_letters))
    return TRUE;
  dead_letters->protocol = protocol;
  dead_letters->originals = tide_kafka_originals_new(config, &dead_letters->shared.stopping);
  if (dead_letters->path != NULL)
    dead_letters->file = open_file(dead_letters, error);
  else
    dead_letters->topic = tide_kafka_dead_letters_new(config, error);
  if (dead_letters->file == NULL && dead_letters->topic == NULL)
    return FALSE;
  dead_letters->thread = tide_thread_start("tide-dlq", tide_dead_letter_queue_run, dead_letters);
  return TRUE;
}

void
tide_dead_letter_queue_rouse(TideDeadLetterQueue *dead_letters)
{
  atomic_store_explicit(&dead_letters->shared.must_reconnect, TRUE, memory_order_release);
}

gboolean
tide_dead_letter_queue_stop(TideDeadLetterQueue *dead_letters, gint64 deadline_us)
{
  tide_mutex_lock(&dead_letters->locked.lock);
  atomic_store_explicit(&dead_letters->shared.stopping, TRUE, memory_order_release);
  tide_cond_broadcast(&dead_letters->locked.work);
  tide_mutex_unlock(&dead_letters->locked.lock);
  if (dead_letters->thread != NULL && !tide_thread_join_until(dead_letters->thread, deadline_us))
    return FALSE;
  dead_letters->thread = NULL;
  if (dead_letters->topic != NULL)
    tide_kafka_dead_letters_disconnect(dead_letters->topic, &dead_letters->stages[TIDE_STAGE_KEEP].jobs);
  for (guint i = 0; i < TIDE_DEAD_LETTER_N_STAGES; i++)
    tide_dead_letter_queue_drop(dead_letters, &dead_letters->stages[i].jobs);
  tide_dead_letter_queue_drop(dead_letters, &dead_letters->excess.jobs);
  tide_dead_letter_queue_drop(dead_letters, &dead_letters->locked.incoming);
  return TRUE;
}

void
tide_dead_letter_queue_free(TideDeadLetterQueue *dead_letters)
{
  if (dead_letters == NULL)
    return;
  (void)tide_dead_letter_queue_stop(dead_letters, G_MAXINT64);
  tide_dead_letter_file_free(dead_letters->file);
  tide_kafka_dead_letters_free(dead_letters->topic);
  tide_kafka_originals_free(dead_letters->originals);
  tide_dead_letter_reasons_free(dead_letters->reasons);
  tide_buffer_clear_memory(&dead_letters->lines);
  tide_cond_clear(&dead_letters->locked.work);
  tide_mutex_clear(&dead_letters->locked.lock);
  g_free(dead_letters->locked.stall_text);
  g_free(dead_letters->path);
  g_free(dead_letters);
}

/* ---- for other threads ---- */

gboolean
tide_dead_letter_queue_exist(const TideDeadLetterQueue *dead_letters)
{
  return dead_letters->path != NULL || dead_letters->context.config->dead_letters.topic != NULL;
}

void
tide_dead_letter_queue_submit(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job)
{
  job->charged_bytes = tide_dead_letter_queue_memory_bytes(job);
  tide_budget_charge(dead_letters->context.budget, job->charged_bytes);
  tide_gauge_add(dead_letters->metrics.waiting, 1);
  tide_mutex_lock(&dead_letters->locked.lock);
  tide_dead_letter_jobs_append(&dead_letters->locked.incoming, job);
  tide_cond_signal(&dead_letters->locked.work);
  tide_mutex_unlock(&dead_letters->locked.lock);
}

void
tide_dead_letter_queue_note_messages(TideDeadLetterQueue *dead_letters, guint64 received, guint64 written)
{
  atomic_fetch_add_explicit(&dead_letters->shared.received, received, memory_order_relaxed);
  atomic_fetch_add_explicit(&dead_letters->shared.written, written, memory_order_relaxed);
}

gboolean
tide_dead_letter_queue_is_stalled_racy(const TideDeadLetterQueue *dead_letters)
{
  return atomic_load_explicit(&dead_letters->shared.is_stalled, memory_order_acquire);
}

char *
tide_dead_letter_queue_stall_text(TideDeadLetterQueue *dead_letters)
{
  tide_mutex_lock(&dead_letters->locked.lock);
  char *text = g_strdup(dead_letters->locked.stall_text);
  tide_mutex_unlock(&dead_letters->locked.lock);
  return text;
}

TideDeadLettersView
tide_dead_letter_queue_view(TideDeadLetterQueue *dead_letters)
{
  return tide_dead_letter_reasons_view(dead_letters->reasons);
}

gboolean
tide_dead_letter_queue_has_too_many_racy(const TideDeadLetterQueue *dead_letters)
{
  return atomic_load_explicit(&dead_letters->shared.too_many, memory_order_relaxed);
}

gboolean
tide_dead_letter_queue_keeps_no_more(TideDeadLetterQueue *dead_letters)
{
  if (!tide_dead_letter_queue_has_too_many_racy(dead_letters))
    return FALSE;
  tide_mutex_lock(&dead_letters->locked.lock);
  gboolean is_at_rest = dead_letters->locked.is_at_rest && dead_letters->locked.incoming.first == NULL;
  tide_mutex_unlock(&dead_letters->locked.lock);
  return is_at_rest;
}
