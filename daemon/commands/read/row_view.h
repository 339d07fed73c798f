/* Shows a table's rows to whoever reads: keys as the fields they were made of, cells as what was written into them, or
 * all as it is stored. What is not as it was declared is shown as stored, and told once on standard error, with a count
 * at the end. */
#pragma once

#include "commands/cli/listing.h"
#include "commands/read/cell_reader.h"
#include "commands/read/gateway_session.h"
#include "commands/read/table_scan.h"

G_BEGIN_DECLS

/* ---- row_printer.c: rows as a table, as CSV, or as one JSON object a row ----
 *
 * A table has one line a cell, or, where columns were chosen, one line a row. Each row is shown with the fields that its
 * key tells; a key that tells none is shown as it is. */

typedef struct TideRowPrinterOptions {
  TideOutputFormat format;
  const char *table;               /* borrowed: named in JSON */
  const TideColumnChoice *columns; /* borrowed: only these; NULL: all */
  gboolean line_per_cell;          /* also where columns were chosen */
  const char *const
      *field_names; /* borrowed: of the key's fields, printable. In tables they stand in the key's place */
  gsize n_fields;
  gboolean with_key_time; /* cells do not bear the event time, or not all of it: the key's is shown, too */
  gboolean
      with_fields;     /* for programs: the name of the field that each cell was made of, as qualifiers do not say it */
  gboolean with_kinds; /* for programs: the kind of each value, where it was kept */
  gboolean with_age;   /* each cell with its age, and without the row's time */
  gint64 now_ms;       /* what ages are counted from */
  gint64 max_age_ms;   /* with_age: older cells are left out, and rows of which nothing is left; 0: none */
} TideRowPrinterOptions;

typedef struct TideRowPrinter TideRowPrinter;

/* @options: copied. @stream: borrowed. */
TideRowPrinter *tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options);
void tide_row_printer_free(TideRowPrinter *printer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowPrinter, tide_row_printer_free)

/**
 * tide_row_printer_add:
 * @time_ns: the row's time
 * @fields: a value for each of the fields; NULL: the key tells none
 * @origins: of each cell; NULL: they are as they are stored
 * Returns: FALSE when the stream takes no more. A row of which no cell is to be shown is left out.
 */
gboolean tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns,
                              const TideBytes *fields, const TideCellOrigin *origins);
gboolean tide_row_printer_finish(TideRowPrinter *printer);

guint64 tide_row_printer_n_rows(const TideRowPrinter *printer); /* printed */

/* ---- what the rows of a table are shown as ---- */

typedef struct TideRowViewOptions {
  const char *command;    /* borrowed: for what is told on standard error */
  const TideTable *table; /* borrowed */
  gboolean as_stored;
  TideRowPrinterOptions printing; /* but for what the table says: its name, fields, kinds and the key's time */
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

/* ---- index_read.c: latest values behind an index ----
 *
 * An index is a table that holds, for each device, the greatest time seen. Each of its rows names a row of the data
 * table, by its own fields and that time; those are read many at a time, so that an inventory of thousands takes some
 * dozen calls. A row that the index names and the data table has not is told, never passed over. */

/* Rows asked for in one call, at the most and at first; and what their cells are meant to take. */
#define TIDE_INDEX_BATCH_ROWS 500
#define TIDE_INDEX_FIRST_BATCH_ROWS 16
#define TIDE_INDEX_BATCH_BYTES (16u << 20)

/* Reads rows by their keys: tide_gateway_table_get(). */
typedef gboolean (*TideGetFunc)(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                                GError **error);

typedef struct TideIndexReadOptions {
  const TideConfig *config; /* borrowed, as all of these */
  const TideTable *index;
  const TideTable *data;           /* the table that it is the index of */
  const TideColumnChoice *columns; /* of the data table */
  TideGetFunc get;                 /* on the data table */
  gpointer get_data;
  TideRowView *view; /* of the data table: rows are added as they come */
} TideIndexReadOptions;

typedef struct TideIndexRead TideIndexRead;

/* Errors: TIDE_ERROR_USAGE when the index's key and cells cannot make a key of the data table: a field or the time is
 * missing. */
TideIndexRead *tide_index_read_new(const TideIndexReadOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_index_read_free(TideIndexRead *read); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideIndexRead, tide_index_read_free)

/* Takes one row of the index, which is copied; rows of the data table are read now or later. Errors: those of the call.
 */
gboolean tide_index_read_add(TideIndexRead *read, const TideResultRow *row, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads what is left. */
gboolean tide_index_read_flush(TideIndexRead *read, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Tells the counts on standard error, when there are any. Returns: how many rows of the index led to none. */
guint64 tide_index_read_finish(const TideIndexRead *read);

/* ---- from a plan to the output ---- */

/**
 * tide_print_table: rows of @plan on standard output until their end or a closed output, with progress where nobody sees
 * the rows scroll by. Then, on standard error, how many they were, and why none or not all may be shown: columns that
 * none can have, keys that the declared scheme did not make, rows that another key has written.
 * @viewing: of the plan's table; or of the one that this is an index of: then the rows are shown that it leads to
 * @ret_complete: FALSE when an index led to rows that are not there
 * Errors: those of the scan; what was read before has been printed. USAGE: as tide_index_read_new().
 */
gboolean tide_print_table(const TideConfig *config, TideGatewaySession *session, const TideTableScanPlan *plan,
                          const TideRowViewOptions *viewing, gboolean *ret_complete,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
