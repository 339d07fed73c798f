/* Shows a table's rows: keys as their fields, cells decoded, or everything as stored. Content that does not match its
 * declaration is shown as stored, and reported once on standard error, with a count at the end. */
#pragma once

#include "commands/cli/listing.h"
#include "commands/read/cell_reader.h"
#include "commands/read/gateway_session.h"
#include "commands/read/table_scan.h"

G_BEGIN_DECLS

/* ---- row_printer.c: rows as a table, as CSV, or as one JSON object per row ----
 *
 * A table has one line per cell, or, if columns were chosen, one line per row. Each row is shown with the fields of its
 * key; a key that cannot be decoded is shown as stored. */

typedef struct TideRowPrinterOptions {
  TideOutputFormat format;
  const char *table;               /* borrowed: for JSON */
  const TideColumnChoice *columns; /* borrowed: only these; NULL: all */
  gboolean line_per_cell;          /* even if columns were chosen */
  const char *const *field_names;  /* borrowed: of the key's fields, printable. Tables show them instead of the key */
  gsize n_fields;
  gboolean with_key_time; /* cells do not contain the event time, or not all of it: also show the key's */
  gboolean with_fields;   /* for programs: the name of each cell's field, if the qualifier does not show it */
  gboolean with_kinds;    /* for programs: the kind of each value, if it is stored */
  gboolean with_age;      /* show each cell's age, but not the row's time */
  gint64 now_ms;          /* reference time for ages */
  gint64 max_age_ms;      /* with_age: omits older cells, and rows without any other; 0: none */
} TideRowPrinterOptions;

typedef struct TideRowPrinter TideRowPrinter;

/* @options: copied. @stream: borrowed. */
TideRowPrinter *tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options);
void tide_row_printer_free(TideRowPrinter *printer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowPrinter, tide_row_printer_free)

/**
 * tide_row_printer_add:
 * @time_ns: the row's time
 * @fields: a value for each of the fields; NULL: the key could not be decoded
 * @origins: of each cell; NULL: cells are as stored
 * Returns: FALSE when writing to the stream fails. A row without cells to show is omitted.
 */
gboolean tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns,
                              const TideBytes *fields, const TideCellOrigin *origins);
gboolean tide_row_printer_finish(TideRowPrinter *printer);

guint64 tide_row_printer_n_rows(const TideRowPrinter *printer); /* printed */

/* ---- how the rows of a table are shown ---- */

typedef struct TideRowViewOptions {
  const char *command;    /* borrowed: for messages on standard error */
  const TideTable *table; /* borrowed */
  gboolean as_stored;
  TideRowPrinterOptions printing; /* without what the table determines: its name, fields, kinds and the key's time */
} TideRowViewOptions;

typedef struct TideRowView TideRowView;

/* @stream, @names: borrowed for the view's lifetime. @options: copied. */
TideRowView *tide_row_view_new(FILE *stream, const TideFieldNames *names, const TideRowViewOptions *options);
void tide_row_view_free(TideRowView *view); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowView, tide_row_view_free)

/* @row: from tide_table_scan_next(). FALSE when writing to the stream fails. */
gboolean tide_row_view_add(TideRowView *view, const TideScannedRow *row);

/* The same for a row that was read by its key. */
gboolean tide_row_view_add_result(TideRowView *view, const TideResultRow *row);

/* Ends the listing and reports the counts. tide_output_close() reports a failing output. */
void tide_row_view_finish(TideRowView *view);

guint64 tide_row_view_n_rows(const TideRowView *view); /* shown */

/* "12 rows" on standard error if that is a terminal, "0 rows" always. */
void tide_row_view_print_count(const TideRowView *view);

/* ---- index_read.c: latest values through an index ----
 *
 * An index is a table with the latest time of each device. Each of its rows names a row of the data table by its fields
 * and that time. Those rows are read in batches, so an inventory of thousands needs some dozen calls. A row that is in
 * the index but not in the data table is reported, never skipped silently. */

/* Maximum and initial number of rows requested by one call, and the target size of their cells. */
#define TIDE_INDEX_BATCH_ROWS 500
#define TIDE_INDEX_FIRST_BATCH_ROWS 16
#define TIDE_INDEX_BATCH_BYTES (16u << 20)

/* Reads rows by their keys: tide_gateway_table_get(). */
typedef gboolean (*TideGetFunc)(const TideGetRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                                GError **error);

typedef struct TideIndexReadOptions {
  const TideConfig *config; /* borrowed, as all of these */
  const TideTable *index;
  const TideTable *data;           /* the table that the index belongs to */
  const TideColumnChoice *columns; /* of the data table */
  TideGetFunc get;                 /* on the data table */
  gpointer get_data;
  TideRowView *view; /* of the data table: rows are added as they arrive */
} TideIndexReadOptions;

typedef struct TideIndexRead TideIndexRead;

/* Errors: TIDE_ERROR_USAGE if the index's key and cells lack a field or the time of the data table's key. */
TideIndexRead *tide_index_read_new(const TideIndexReadOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_index_read_free(TideIndexRead *read); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideIndexRead, tide_index_read_free)

/* Adds one row of the index, which is copied; reads rows of the data table now or later. Errors: those of the call. */
gboolean tide_index_read_add(TideIndexRead *read, const TideResultRow *row, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads the remaining rows. */
gboolean tide_index_read_flush(TideIndexRead *read, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reports the counts on standard error, if not zero. Returns: how many index rows point to missing rows. */
guint64 tide_index_read_finish(const TideIndexRead *read);

/* ---- from a plan to the output ---- */

/**
 * tide_print_table: print rows of @plan on standard output until their end or until the output is closed, with progress
 * if no rows scroll by on a terminal. Then report on standard error their number, and why none or not all may be shown:
 * columns that no row can have, keys that do not match the declared scheme, rows written with another key.
 * @viewing: of the plan's table, or of the data table if the plan's table is its index: then the rows that it points to
 *     are shown
 * @ret_complete: FALSE when an index points to missing rows
 * Errors: those of the scan; rows read before have been printed. USAGE: as tide_index_read_new().
 */
gboolean tide_print_table(const TideConfig *config, TideGatewaySession *session, const TideTableScanPlan *plan,
                          const TideRowViewOptions *viewing, gboolean *ret_complete,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
