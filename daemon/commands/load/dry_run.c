/* A load that writes nothing: counts the results of readings by table and by reason. */
#include "commands/load/load_report.h"

#include "commands/cli/message_lines.h"
#include "commands/cli/output.h"
#include "commands/cli/overwritten_cells.h"
#include "commands/cli/progress.h"
#include "mapping/mapping.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#include <stdio.h>

typedef struct DryRun {
  TideFileLoad *load;                /* borrowed */
  const TideConfig *config;          /* borrowed */
  const volatile int *stop;          /* borrowed */
  TideMapping *mapping;              /* owned */
  guint64 *rows;                     /* owned: by table */
  TideOverwrittenCells *overwritten; /* owned */
  guint64 *expired_rows;             /* owned, by table: already expired */
  guint64 n_messages;
  guint64 n_readings;
  guint64 n_unmatched;
  guint64 n_expired;
  guint64 rejects[TIDE_REJECT_N_REASONS];
  char *examples[TIDE_REJECT_N_REASONS]; /* owned */
  TideProgress progress;
} DryRun;

static void
note_reject(DryRun *run, const TideMessage *message, const TideReject *reject)
{
  if (run->rejects[reject->reason]++ > 0)
    return;
  g_autofree char *why = tide_reject_describe(reject);
  g_autofree char *path = tide_text_printable(message->topic);
  run->examples[reject->reason] = g_strdup_printf("%s:%" G_GINT64_FORMAT ": %s", path, message->offset, why);
}

static gint64
take_message(const TideMessage *message, gpointer data)
{
  DryRun *run = data;
  TideMapped mapped;
  TideReject reject = {0};
  run->n_messages++;
  if (!tide_mapping_apply(run->mapping, message, &mapped, &reject)) {
    note_reject(run, message, &reject);
    return message->offset + 1;
  }
  run->n_readings += mapped.n_readings;
  run->n_unmatched += mapped.n_unmatched_readings;
  run->n_expired += mapped.n_expired_readings;
  for (guint32 i = 0; i < mapped.n_rejects; i++)
    note_reject(run, message, &mapped.rejects[i]);
  for (guint32 i = 0; i < mapped.n_rows; i++)
    run->rows[mapped.rows[i].table_index]++;
  tide_overwritten_cells_add(run->overwritten, mapped.rows, mapped.n_rows);
  for (guint i = 0; mapped.expired != NULL && i < run->config->tables->len; i++)
    run->expired_rows[i] += mapped.expired[i].n_rows;
  return message->offset + 1;
}

static gboolean
may_go_on(gpointer data)
{
  return *((const DryRun *)data)->stop == 0;
}

static gboolean
begin_piece(gpointer data)
{
  DryRun *run = data;
  TideFileLoadProgress at = tide_file_load_progress(run->load);
  tide_mapping_set_now(run->mapping, tide_wall_clock_epoch_ms());
  tide_load_report_progress(&run->progress, &at, &(TideLoadCounts){run->n_messages, run->n_messages});
  tide_progress_update(&run->progress, run->n_messages, tide_now_us());
  return may_go_on(run);
}

static guint64
print_counts(const DryRun *run)
{
  tide_load_print_count(run->n_messages, "message", "messages", "");
  tide_load_print_count(run->n_readings, "reading", "readings", "");
  for (guint i = 0; i < run->config->tables->len; i++) {
    const TideTable *declared = g_ptr_array_index(run->config->tables, i);
    const char *table = declared->name;
    g_autofree char *text = g_strdup_printf(" for %s", table);
    tide_load_print_count(run->rows[i], "row", "rows", text);
    g_autofree char *expired = g_strdup_printf(" older than the retention of %s ('ttl'): skipped", table);
    if (run->expired_rows[i] > 0)
      tide_load_print_count(run->expired_rows[i], "row", "rows", expired);
    const TideOverwritten *overwritten = tide_overwritten_cells_of(run->overwritten, i);
    g_autofree char *lost = g_strdup_printf(" of %s overwritten by another reading, first in row '%s' %s: neither the "
                                            "key nor a column distinguishes the readings",
                                            table, overwritten->row, overwritten->column);
    if (declared->latest == TIDE_LATEST_NONE && overwritten->n_lost > 0)
      tide_load_print_count(overwritten->n_lost, "cell", "cells", lost);
  }
  if (run->n_unmatched > 0)
    tide_load_print_count(run->n_unmatched, "reading", "readings", " accepted by no table, or outside --from and --to");
  if (run->n_expired > 0)
    tide_load_print_count(run->n_expired, "reading", "readings", " older than their tables' retention");
  guint64 n_rejects = 0;
  for (guint i = 0; i < TIDE_REJECT_N_REASONS; i++) {
    if (run->rejects[i] == 0)
      continue;
    g_autofree char *text =
        g_strdup_printf("rejected: %s, first %s", tide_reject_reason_name((TideRejectReason)i), run->examples[i]);
    tide_load_print_count(run->rejects[i], text, text, "");
    n_rejects += run->rejects[i];
  }
  return n_rejects;
}

/* Prints what a real load would skip of the counted messages. */
static void
print_marks(TideFileLoad *load)
{
  const GPtrArray *files = tide_file_load_files(load);
  guint n_whole = 0, n_partly = 0;
  for (guint i = 0; i < files->len; i++) {
    TideLoadedState marked = ((const TideLoadedFile *)g_ptr_array_index(files, i))->marked;
    n_whole += marked == TIDE_LOADED_BEFORE ? 1 : 0;
    n_partly += marked == TIDE_LOADED_PARTLY ? 1 : 0;
  }
  g_autofree char *all = tide_count_of(files->len, "file", NULL);
  if (n_whole + n_partly > 0)
    printf("%u of %s: loaded before, %u more in part: their content is counted here, but a load without '--again' "
           "skips what their marks report as written\n",
           n_whole, all, n_partly);
}

int
tide_load_dry_run(TideFileLoad *load, const TideConfig *config, const volatile int *stop)
{
  DryRun run = {.load = load, .config = config, .stop = stop, .mapping = tide_mapping_new(config, TIDE_WIRE_BINARY)};
  run.rows = g_new0(guint64, config->tables->len);
  run.expired_rows = g_new0(guint64, config->tables->len);
  run.overwritten = tide_overwritten_cells_new(config->tables->len);
  tide_progress_begin(&run.progress, "messages", 0, tide_now_us());
  for (TideLoadedFile *file; (file = tide_file_load_take(load, may_go_on, &run)) != NULL && may_go_on(&run);) {
    TideMessageFile messages = {.reader = file->reader, .path = file->path, .end = G_MAXINT64};
    (void)tide_message_file_read(&messages, take_message, begin_piece, &run);
    if (may_go_on(&run))
      tide_file_load_note_end(load, file);
  }
  tide_progress_end(&run.progress);
  guint64 n_rejects = print_counts(&run);
  print_marks(load);
  guint n_problems = tide_load_report_problems(load);
  gboolean was_stopped = *stop != 0, is_empty = run.n_messages == 0 && n_problems == 0 && !was_stopped;
  if (is_empty)
    tide_say("tidemark load: " TIDE_LOAD_FOUND_NOTHING "");
  tide_mapping_free(run.mapping);
  g_free(run.rows);
  tide_overwritten_cells_free(run.overwritten);
  g_free(run.expired_rows);
  for (guint i = 0; i < TIDE_REJECT_N_REASONS; i++)
    g_free(run.examples[i]);
  return was_stopped ? TIDE_EXIT_TEMPFAIL : n_rejects > 0 || n_problems > 0 || is_empty ? TIDE_EXIT_DATA : TIDE_EXIT_OK;
}
