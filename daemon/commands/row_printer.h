/* Prints rows read from HBase: as a table (one line a cell; one line a row where columns were chosen), CSV, or one JSON
 * object a row. */
#pragma once

#include "commands/listing.h"
#include "thrift/hbase_client.h"

G_BEGIN_DECLS

typedef struct TideRowPrinterOptions {
  TideOutputFormat format;
  const char *table;        /* borrowed: named in JSON */
  const GPtrArray *columns; /* borrowed (element-type utf8): only these, as QUALIFIER or FAMILY:QUALIFIER; empty: all */
  gboolean with_age;        /* each cell with its age, and without the row's time */
  gint64 now_ms;            /* what ages are counted from */
  gint64 max_age_ms;        /* with_age: older cells are left out, and rows of which nothing is left; 0: none */
} TideRowPrinterOptions;

typedef struct TideRowPrinter TideRowPrinter;

/* @options: copied. @stream: borrowed. */
TideRowPrinter *tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options);
void tide_row_printer_free(TideRowPrinter *printer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowPrinter, tide_row_printer_free)

/* @time_ms: the row's time, shown without with_age. FALSE when the stream takes no more. */
gboolean tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ms);
gboolean tide_row_printer_finish(TideRowPrinter *printer);

guint64 tide_row_printer_n_rows(const TideRowPrinter *printer);  /* printed */
guint64 tide_row_printer_n_cells(const TideRowPrinter *printer); /* printed */

G_END_DECLS
