#include "dead_letters/dead_letters_private.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/state_directory.h"

/* Messages that a consumer has read and not told yet: it takes so many a round. */
#define UNTOLD_MESSAGES 512u

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
tide_dead_letters_file_path(const TideConfig *config)
{
  if (config->dead_letters.topic != NULL)
    return NULL;
  if (config->dead_letters.file != NULL)
    return g_strdup(config->dead_letters.file);
  char *path = tide_state_directory_path("dead-letters.jsonl");
  if (path != NULL || config->directory == NULL || config->readings.on_bad_message == TIDE_BAD_MESSAGE_STOP)
    return path;
  return path_beside_configuration(config);
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
  letters->given_up =
      tide_metrics_counter(metrics, "tidemark_dead_letters_given_up_total",
                           "Letters not kept because their partition has gone: its next owner makes them", NULL);
  letters->gone = tide_metrics_counter(metrics, "tidemark_dead_letters_originals_gone_total",
                                       "Dead letters whose original was no more in its topic", NULL);
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
  letters->path = tide_dead_letters_file_path(config);
  tide_mutex_init(&letters->lock);
  tide_cond_init(&letters->work);
  letters->reasons = tide_letter_reasons_new(context->metrics);
  tide_letter_ratio_init(&letters->ratio, config->dead_letters.window_ms, config->dead_letters.max_ratio,
                         (guint64)UNTOLD_MESSAGES * config->kafka.threads);
  register_metrics(letters);
  return letters;
}

static TideLetterFile *
open_file(TideDeadLetters *letters, GError **error)
{
  const TideDeadLettersConfig *config = &letters->context.config->dead_letters;
  TideLetterFileOptions options = {
      .path = letters->path, .max_file_bytes = config->max_file_bytes, .max_bytes = config->max_bytes};
  guint64 torn_bytes = 0;
  TideLetterFile *file = tide_letter_file_open(&options, &torn_bytes, error);
  if (file == NULL)
    g_prefix_error(error, "dead letters cannot be kept%s: ",
                   g_error_matches(*error, TIDE_ERROR, TIDE_ERROR_IN_USE)
                       ? "" /* it says what to do */
                       : " (name a place with dead_letters.topic or dead_letters.file)");
  else
    tide_log(TIDE_LOG_INFO, "dead letters are kept in '%s'", letters->path);
  tide_counter_add(letters->torn_bytes, torn_bytes);
  if (torn_bytes > 0)
    tide_log(TIDE_LOG_WARNING,
             "the last line of '%s' has no end, as after a crash: its %" G_GUINT64_FORMAT
             " bytes were moved to '%s.torn'; the letter was not acknowledged and is written again",
             letters->path, torn_bytes, letters->path);
  return file;
}

gboolean
tide_dead_letters_start(TideDeadLetters *letters, TideWireProtocol protocol, GError **error)
{
  const TideConfig *config = letters->context.config;
  if (!tide_dead_letters_exist(letters))
    return TRUE;
  letters->protocol = protocol;
  letters->originals = tide_kafka_originals_new(config, &letters->stopping, error);
  if (letters->originals == NULL)
    return FALSE;
  if (letters->path != NULL)
    letters->file = open_file(letters, error);
  else
    letters->topic = tide_kafka_letters_new(config, error);
  if (letters->file == NULL && letters->topic == NULL)
    return FALSE;
  letters->thread = tide_thread_start("tide-letters", tide_dead_letters_run, letters);
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
  if (letters->topic != NULL)
    tide_kafka_letters_disconnect(letters->topic, &letters->to_keep.jobs);
  tide_dead_letters_drop(letters, &letters->to_read.jobs);
  tide_dead_letters_drop(letters, &letters->to_keep.jobs);
  tide_dead_letters_drop(letters, &letters->to_send_again.jobs);
  tide_dead_letters_drop(letters, &letters->held_back);
  tide_dead_letters_drop(letters, &letters->incoming);
  return TRUE;
}

void
tide_dead_letters_free(TideDeadLetters *letters)
{
  if (letters == NULL)
    return;
  (void)tide_dead_letters_stop(letters, G_MAXINT64);
  tide_letter_file_free(letters->file);
  tide_kafka_letters_free(letters->topic);
  tide_kafka_originals_free(letters->originals);
  tide_letter_reasons_free(letters->reasons);
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
  return letters->path != NULL || letters->context.config->dead_letters.topic != NULL;
}

void
tide_dead_letters_submit(TideDeadLetters *letters, TideLetterJob *job)
{
  job->charged_bytes = tide_dead_letters_memory_bytes(job);
  tide_budget_charge(letters->context.budget, job->charged_bytes);
  tide_gauge_add(letters->waiting, 1);
  tide_mutex_lock(&letters->lock);
  tide_letter_jobs_append(&letters->incoming, job);
  tide_cond_signal(&letters->work);
  tide_mutex_unlock(&letters->lock);
}

void
tide_dead_letters_release_original(TideDeadLetters *letters, TideLetterJob *job)
{
  tide_budget_charge(letters->context.budget, -job->charged_bytes);
  atomic_fetch_sub_explicit(&letters->lent_bytes, job->charged_bytes, memory_order_relaxed);
  job->charged_bytes = 0;
}

void
tide_dead_letters_note_messages(TideDeadLetters *letters, guint64 received, guint64 written)
{
  atomic_fetch_add_explicit(&letters->received, received, memory_order_relaxed);
  atomic_fetch_add_explicit(&letters->written, written, memory_order_relaxed);
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
