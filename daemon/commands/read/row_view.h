/* Shows a table's rows to whoever reads: keys as the fields they were made of, cells as what was written into them, or
 * all as it is stored. What is not as it was declared is shown as stored, and told once on standard error, with a count
 * at the end. */
#pragma once

#include "commands/read/cell_reader.h"
#include "commands/read/gateway_session.h"
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

guint64 tide_row_view_n_rows(const TideRowView *view); /* shown */

/* "12 rows" on standard error if that is a terminal, "0 rows" always. */
void tide_row_view_print_count(const TideRowView *view);

/**
 * tide_print_table: rows of @plan, from its table, on standard output until their end or a closed output, with progress
 * where nobody sees the rows scroll by. Then, on standard error, how many they were, and why none or not all may be
 * shown: columns that none can have, keys that the declared scheme did not make, rows that another key has written.
 * Errors: those of the scan; what was read before has been printed.
 */
gboolean tide_print_table(const TideConfig *config, TideGatewaySession *session, const TideTableScanPlan *plan,
                          const TideRowViewOptions *viewing, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
