#include "commands/read/print_scan.h"

#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/cli/time_argument.h"
#include "util/clock.h"

#include <unistd.h>

static gboolean
print_rows(TideTableScan *scan, TideRowView *view, TideProgress *progress, GError **error)
{
  for (;;) {
    TideScannedRow row;
    guint64 n_before = tide_row_view_n_rows(view);
    if (!tide_table_scan_next(scan, &row, error))
      return FALSE;
    if (row.row == NULL || !tide_row_view_add(view, &row))
      return TRUE;
    if (tide_row_view_n_rows(view) > n_before)
      tide_table_scan_take(scan);
    if (progress->enabled) /* the clock alone would cost as much as a cell */
      tide_progress_update(progress, tide_row_view_n_rows(view), tide_now_us());
  }
}

void
tide_print_row_count(const TideRowView *view)
{
  if (!isatty(STDERR_FILENO) && tide_row_view_n_rows(view) > 0)
    return;
  g_autofree char *n_rows = tide_count_text(tide_row_view_n_rows(view));
  tide_say("%s row%s", n_rows, tide_row_view_n_rows(view) == 1 ? "" : "s");
}

gboolean
tide_print_scan(TideTableScan *scan, TideRowView *view, guint64 limit_rows, GError **error)
{
  TideProgress progress;
  tide_progress_begin(&progress, "rows", limit_rows, tide_now_us());
  /* Rows that scroll by are progress enough. */
  progress.enabled = progress.enabled && !isatty(STDOUT_FILENO);
  gboolean ok = print_rows(scan, view, &progress, error);
  tide_progress_end(&progress);
  tide_row_view_finish(view);
  if (ok) {
    tide_row_view_report_none(view);
    tide_print_row_count(view);
  }
  return ok;
}
