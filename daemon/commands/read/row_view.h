/* Shows a table's rows to whoever reads: keys as the fields they were made of, cells as what was written into them, or
 * all as it is stored. What is not as it was declared is shown as stored, and told once on standard error, with a count
 * at the end. */
#pragma once

#include "commands/read/cell_reader.h"
#include "commands/read/row_printer.h"
#include "commands/read/table_scan.h"

G_BEGIN_DECLS

typedef struct TideRowViewOptions {
  const char *command;    /* borrowed: for what is told on standard error */
  const TideTable *table; /* borrowed */
  TideOutputFormat format;
  gboolean as_stored;
  const TideColumnChoice *columns; /* borrowed */
  gboolean line_per_cell;          /* as in TideRowPrinterOptions */
  gboolean with_age;
  gint64 now_ms;
  gint64 max_age_ms;
} TideRowViewOptions;

typedef struct TideRowView TideRowView;

/* @stream, @names: borrowed for the view's life. @options: copied. */
TideRowView *tide_row_view_new(FILE *stream, const TideFieldNames *names, const TideRowViewOptions *options);
void tide_row_view_free(TideRowView *view); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowView, tide_row_view_free)

/* @row: as tide_table_scan_next() gives it. FALSE when the stream takes no more. */
gboolean tide_row_view_add(TideRowView *view, const TideScannedRow *row);

/* The same for a row that was read by its key. */
gboolean tide_row_view_add_result(TideRowView *view, const TideResultRow *row);

/* Ends the listing and tells the counts. A failing output is told by tide_output_close(). */
void tide_row_view_finish(TideRowView *view);

/* Says on standard error, when no row was shown, which of the columns that were chosen none can be in. */
void tide_row_view_report_none(const TideRowView *view);

guint64 tide_row_view_n_rows(const TideRowView *view); /* shown */

G_END_DECLS
