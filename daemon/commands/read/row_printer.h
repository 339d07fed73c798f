/* Prints rows read from HBase: as a table, as CSV, or as one JSON object a row. A table has one line a cell, or, where
 * columns were chosen, one line a row. Each row is shown with the fields that its key tells; a key that tells none is
 * shown as it is. */
#pragma once

#include "commands/cli/listing.h"
#include "commands/read/cell_reader.h"
#include "commands/read/column_choice.h"

G_BEGIN_DECLS

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

G_END_DECLS
