#include "commands/print_scan.h"

#include "commands/progress.h"
#include "commands/time_argument.h"
#include "util/clock.h"

#include <unistd.h>

static gboolean
print_rows(TideTableScan *scan, TideRowPrinter *printer, guint64 limit_rows, TideProgress *progress, GError **error)
{
  while (limit_rows == 0 || tide_row_printer_n_rows(printer) < limit_rows) {
    const TideResultRow *row = NULL;
    gint64 time_ns = 0;
    if (!tide_table_scan_next(scan, &row, &time_ns, error))
      return FALSE;
    if (row == NULL || !tide_row_printer_add(printer, row, tide_ns_to_ms(time_ns)))
      return TRUE;
    tide_progress_update(progress, tide_row_printer_n_rows(printer), tide_now_us());
  }
  return TRUE;
}

gboolean
tide_print_scan(TideTableScan *scan, TideRowPrinter *printer, guint64 limit_rows, GError **error)
{
  TideProgress progress;
  tide_progress_begin(&progress, "rows", limit_rows, tide_now_us());
  /* Rows that scroll by are progress enough. */
  progress.enabled = progress.enabled && !isatty(STDOUT_FILENO);
  gboolean ok = print_rows(scan, printer, limit_rows, &progress, error);
  tide_progress_end(&progress);
  (void)tide_row_printer_finish(printer); /* a failing output is told by tide_output_close() */
  if (ok && isatty(STDERR_FILENO)) {
    g_autofree char *n_rows = tide_count_text(tide_row_printer_n_rows(printer));
    fprintf(stderr, "%s row%s\n", n_rows, tide_row_printer_n_rows(printer) == 1 ? "" : "s");
  }
  return ok;
}
