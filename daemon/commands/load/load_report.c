#include "commands/load/load_report.h"

#include "commands/cli/output.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#include <stdio.h>

/* The results of messages. */
typedef struct Line {
  const char *end; /* in the metric's name */
  const char *text;
  gboolean is_always; /* printed even if zero */
} Line;

static const Line ends[] = {
    {"written", "written", TRUE},
    {"unmatched", "accepted by no table, or outside --from and --to", FALSE},
    {"expired", "older than their tables' retention", FALSE},
    {"skipped", "skipped according to on_bad_message", FALSE},
};

guint
tide_load_report_problems(const TideFileLoad *load)
{
  const GPtrArray *files = tide_file_load_files(load);
  guint n = 0;
  for (guint i = 0; i < files->len; i++) {
    const TideLoadedFile *file = g_ptr_array_index(files, i);
    if (file->problem != NULL)
      tide_say("tidemark load: %s", file->problem);
    n += file->problem != NULL ? 1 : 0;
  }
  return n;
}

/* TRUE if a file has no mark. */
static gboolean
has_unmarked(const TideFileLoad *load)
{
  const GPtrArray *files = tide_file_load_files(load);
  gboolean is_any = FALSE;
  for (guint i = 0; i < files->len; i++)
    is_any |= ((const TideLoadedFile *)g_ptr_array_index(files, i))->mark_path == NULL;
  return is_any;
}

/* Reports marks that could not be written. FALSE: all were. */
static gboolean
report_marks(const TideFileLoad *load)
{
  const GPtrArray *files = tide_file_load_files(load);
  gboolean is_any = FALSE;
  for (guint i = 0; i < files->len; i++) {
    const TideLoadedFile *file = g_ptr_array_index(files, i);
    if (file->mark_problem == NULL)
      continue;
    is_any = TRUE;
    tide_say(
        "tidemark load: %s; more of the file is written than its mark reports, and the same command writes that again",
        file->mark_problem);
  }
  return is_any;
}

void
tide_load_report_progress(TideProgress *progress, const TideFileLoadProgress *at, const TideLoadCounts *counts)
{
  if (at->all_bytes == 0) {
    progress->share = progress->before = 0;
    return;
  }
  double all_bytes = (double)at->all_bytes, before_bytes = (double)MIN(at->before_bytes, at->read_bytes);
  double done = counts->n_received > 0 ? (double)counts->n_done / (double)counts->n_received : 0;
  progress->share = (before_bytes + ((double)at->read_bytes - before_bytes) * MIN(done, 1)) / all_bytes;
  progress->before = (double)at->before_bytes / all_bytes;
}

/* With less, a load is as good as at full speed. */
#define YIELDING_SHARE 0.05

static char *
yielding_text(double waiting_share)
{
  return g_strdup_printf("yielding: writers waited %d %% of the time", (int)(100 * waiting_share));
}

void
tide_load_report_waiting(TideProgress *progress, double waiting_share)
{
  g_clear_pointer(&progress->note, g_free);
  if (waiting_share > YIELDING_SHARE)
    progress->note = yielding_text(waiting_share);
}

static guint
count_files(const TideFileLoad *load, TideLoadedState state)
{
  const GPtrArray *files = tide_file_load_files(load);
  guint n = 0;
  for (guint i = 0; i < files->len; i++)
    n += ((const TideLoadedFile *)g_ptr_array_index(files, i))->state == state ? 1 : 0;
  return n;
}

void
tide_load_print_count(guint64 count, const char *one, const char *more, const char *detail)
{
  g_autofree char *number = tide_count_text(count);
  printf("%14s %s%s\n", number, count == 1 ? one : more, detail);
}

static guint64
count_ended(TideMetrics *metrics, const char *end)
{
  g_autofree char *name = g_strdup_printf("tidemark_messages_%s_total", end);
  return tide_metrics_sum(metrics, name, NULL);
}

/* The finished messages are counted before the received ones, which only increase meanwhile. */
TideLoadCounts
tide_load_report_counts(TideMetrics *metrics)
{
  TideLoadCounts counts = {.n_done = count_ended(metrics, "dead_lettered")};
  for (gsize i = 0; i < G_N_ELEMENTS(ends); i++)
    counts.n_done += count_ended(metrics, ends[i].end);
  guint64 n_handed_back = count_ended(metrics, "handed_back"), n_received = count_ended(metrics, "received");
  counts.n_received = n_received - MIN(n_handed_back, n_received);
  return counts;
}

/* Readings and the rows made of them: if a history table has fewer rows than readings, some share a row. */
static void
print_rows(const TideLoadResult *result)
{
  tide_load_print_count(tide_metrics_sum(result->metrics, "tidemark_readings_written_total", NULL), "reading",
                        "readings", "");
  for (guint i = 0; i < result->config->tables->len; i++) {
    const char *table = ((const TideTable *)g_ptr_array_index(result->config->tables, i))->name;
    g_autofree char *label = tide_metrics_label("table", table);
    g_autofree char *written = g_strdup_printf(" written to %s", table);
    g_autofree char *overwritten = g_strdup_printf(
        " of %s overwritten by another reading: neither the key nor a column distinguishes the readings", table);
    guint64 n_overwritten = tide_metrics_sum(result->metrics, "tidemark_cells_overwritten_total", label);
    tide_load_print_count(tide_metrics_sum(result->metrics, "tidemark_rows_written_total", label), "row", "rows",
                          written);
    if (n_overwritten > 0)
      tide_load_print_count(n_overwritten, "cell", "cells", overwritten);
  }
}

static void
print_messages(const TideLoadResult *result)
{
  for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
    guint64 n = count_ended(result->metrics, ends[i].end);
    if (n > 0 || ends[i].is_always)
      tide_load_print_count(n, ends[i].text, ends[i].text, "");
  }
  guint64 n_expired = tide_metrics_sum(result->metrics, "tidemark_rows_expired_total", NULL);
  if (n_expired > 0)
    tide_load_print_count(n_expired, "row", "rows", " older than their table's retention ('ttl'): skipped");
  print_rows(result);
  guint64 n_dead = count_ended(result->metrics, "dead_lettered");
  g_autofree char *word = tide_shell_word(result->dead_letters);
  g_autofree char *place = g_strdup_printf(" in '%s'; see: tidemark dead-letters list%s --file %s",
                                           result->dead_letters, result->config_option, word);
  if (n_dead > 0)
    tide_load_print_count(n_dead, "dead letter", "dead letters", place);
}

/* A file that was read to its end is not loaded before its mark is finished, unless the load has left no work. */
static guint
count_loaded(const TideLoadResult *result)
{
  gboolean is_partial = result->failed || result->was_stopped || result->work_remains;
  const GPtrArray *files = tide_file_load_files(result->load);
  guint n = 0;
  for (guint i = 0; i < files->len; i++) {
    const TideLoadedFile *file = g_ptr_array_index(files, i);
    n += file->state == TIDE_LOADED_READ && (file->mark.is_finished || !is_partial) ? 1 : 0;
  }
  return n;
}

static void
print_files(const TideLoadResult *result)
{
  guint n_loaded = count_loaded(result), n_before = count_files(result->load, TIDE_LOADED_BEFORE);
  guint n_files = tide_file_load_files(result->load)->len;
  guint64 n_messages = tide_load_report_counts(result->metrics).n_received;
  g_autofree char *messages = tide_count_of(n_messages, "message", NULL);
  g_autofree char *all = tide_count_of(n_files, "file", NULL), *new = tide_count_of(n_files - n_before, "file", NULL);
  g_autofree char *took = tide_age_text(result->elapsed_us / TIDE_US_PER_MS);
  g_autofree char *rate =
      tide_count_text((guint64)((double)n_messages * TIDE_US_PER_S / (double)MAX(result->elapsed_us, 1)));
  if (n_before > 0)
    printf("%u of %s: loaded before, skipped\n", n_before, all);
  if (n_before < n_files)
    printf("%u of %s loaded: %s in %s, %s/s\n", n_loaded, new, messages, took, rate);
  if (result->waiting_share > YIELDING_SHARE) {
    g_autofree char *yielding = yielding_text(result->waiting_share);
    printf("%s\n", yielding);
  }
}

/* Reports that a completed load has written nothing, which is hardly intended. */
static gboolean
report_nothing(const TideLoadResult *result)
{
  guint64 n_rejected = count_ended(result->metrics, "dead_lettered") + count_ended(result->metrics, "skipped");
  if (!result->was_begun && count_ended(result->metrics, "received") == 0) {
    tide_say("tidemark load: " TIDE_LOAD_FOUND_NOTHING "");
    return TRUE;
  }
  if (n_rejected == 0 || count_ended(result->metrics, "written") > 0)
    return FALSE;
  if (result->was_begun)
    tide_say("tidemark load: nothing more was written: all remaining messages of the files were rejected; '--dry-run' "
             "shows why. Load corrected lines as a file of their own; after a correction of the configuration, load "
             "the files from the beginning with '--again'");
  else
    tide_say("tidemark load: nothing was written: all messages were rejected; '--dry-run' shows why. Correct the "
             "configuration, and load the files again with '--again'");
  return TRUE;
}

int
tide_load_report(const TideLoadResult *result)
{
  print_files(result);
  if (count_files(result->load, TIDE_LOADED_BEFORE) < tide_file_load_files(result->load)->len)
    print_messages(result);
  guint n_problems = tide_load_report_problems(result->load);
  if (report_marks(result->load))
    return TIDE_EXIT_IO;
  if (result->was_stopped || result->work_remains) {
    tide_say("tidemark load: %s; written messages are marked, and %s continues there%s",
             result->was_stopped ? "stopped" : "some messages read are not written yet",
             result->again ? "the command without '--again'" : "the same command",
             has_unmarked(result->load) ? "; standard input and pipes have no mark: send them again from the beginning"
                                        : "");
    return TIDE_EXIT_TEMPFAIL;
  }
  return n_problems > 0 || (!result->failed && report_nothing(result)) ? TIDE_EXIT_DATA : TIDE_EXIT_OK;
}

void
tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us)
{
  if (wait->is_told || now_us - wait->start_us <= TIDE_LOAD_PATIENCE_US || state->reason == NULL)
    return;
  tide_say("tidemark load: %s; waiting for it, for up to %d s", state->reason,
           (int)(TIDE_PIPELINE_START_LIMIT_US / TIDE_US_PER_S));
  wait->is_told = TRUE;
}
