#include "commands/read/row_view.h"

#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/read/cell_origin.h"

struct TideRowView {
  TideRowViewOptions options;
  TideKeyReader *keys;     /* owned */
  TideCellReader *cells;   /* owned */
  TideRowPrinter *printer; /* owned */
  guint64 n_unread_keys;
};

TideRowView *
tide_row_view_new(FILE *stream, const TideFieldNames *names, const TideRowViewOptions *options)
{
  TideRowView *view = g_new0(TideRowView, 1);
  const TideTable *table = options->table;
  view->options = *options;
  view->keys = tide_key_reader_new(table, names);
  view->cells = tide_cell_reader_new(table, names);
  TideRowPrinterOptions printing = {
      .format = options->format,
      .table = table->name,
      .columns = options->columns,
      .line_per_cell = options->line_per_cell,
      .with_key_time = (table->cell_time != TIDE_CELL_TIME_EVENT && tide_row_key_has_time(table->key)) ||
                       tide_row_key_is_finer_than_ms(table->key),
      .with_fields = !options->as_stored && tide_table_renames_fields(table),
      .with_kinds = !options->as_stored && tide_table_keeps_kinds(table),
      .with_age = options->with_age,
      .now_ms = options->now_ms,
      .max_age_ms = options->max_age_ms,
  };
  if (!options->as_stored)
    printing.field_names = tide_key_reader_names(view->keys, &printing.n_fields);
  view->printer = tide_row_printer_new(stream, &printing);
  return view;
}

void
tide_row_view_free(TideRowView *view)
{
  if (view == NULL)
    return;
  tide_key_reader_free(view->keys);
  tide_cell_reader_free(view->cells);
  tide_row_printer_free(view->printer);
  g_free(view);
}

static void
count_unread_key(TideRowView *view, TideBytes key)
{
  if (view->n_unread_keys++ > 0)
    return;
  g_autofree char *shown = tide_bytes_printable(key);
  tide_say("tidemark %s: row '%s' of '%s' is shown as it is stored: the declared key did not make it",
           view->options.command, shown, view->options.table->name);
}

gboolean
tide_row_view_add(TideRowView *view, const TideScannedRow *row)
{
  if (view->options.as_stored)
    return tide_row_printer_add(view->printer, row->row, row->time_ns, NULL, NULL);
  if (row->fields == NULL)
    count_unread_key(view, row->row->row);
  const TideResultRow *shown = tide_cell_reader_read(view->cells, row->row);
  return tide_row_printer_add(view->printer, shown, row->time_ns, row->fields, tide_cell_reader_origins(view->cells));
}

gboolean
tide_row_view_add_result(TideRowView *view, const TideResultRow *row)
{
  const TideDecodedKey *key = tide_key_reader_read(view->keys, row->row) ? tide_key_reader_key(view->keys) : NULL;
  TideScannedRow scanned = {.row = row, .time_ns = tide_row_time_ns(key, row)};
  if (key != NULL)
    scanned.fields = tide_key_reader_values(view->keys);
  return tide_row_view_add(view, &scanned);
}

static void
report_count(const TideRowView *view, guint64 n, const char *what)
{
  g_autofree char *count = tide_count_text(n);
  tide_say("tidemark %s: %s %s not as '%s' is declared: shown as stored", view->options.command, count, what,
           view->options.table->name);
}

void
tide_row_view_finish(TideRowView *view)
{
  (void)tide_row_printer_finish(view->printer);
  guint64 n_unread_cells = tide_cell_reader_n_unread(view->cells);
  if (view->n_unread_keys > 1)
    report_count(view, view->n_unread_keys, "row keys are");
  if (n_unread_cells > 0)
    report_count(view, n_unread_cells, n_unread_cells == 1 ? "cell is" : "cells are");
}

/* Whether @text, FAMILY:QUALIFIER or QUALIFIER, begins with a declared family; TRUE without a colon. */
static gboolean
may_be_in_a_family(const TideTable *table, const char *text)
{
  const char *colon = strchr(text, ':');
  for (guint i = 0; colon != NULL && i < table->families->len; i++) {
    const TideFamilySettings *family = table->families->pdata[i];
    if (strlen(family->name) == (gsize)(colon - text) && strncmp(family->name, text, (gsize)(colon - text)) == 0)
      return TRUE;
  }
  return colon == NULL;
}

void
tide_row_view_report_none(const TideRowView *view)
{
  const TideColumnChoice *columns = view->options.columns;
  for (gsize i = 0; columns != NULL && tide_row_view_n_rows(view) == 0 && i < tide_column_choice_count(columns); i++) {
    const char *text = tide_column_choice_text(columns, i);
    if (!may_be_in_a_family(view->options.table, text))
      tide_say("tidemark %s: '%s' declares no family '%.*s', and no row has a column of the whole name '%s'",
               view->options.command, view->options.table->name, (int)(strchr(text, ':') - text), text, text);
  }
}

guint64
tide_row_view_n_rows(const TideRowView *view)
{
  return tide_row_printer_n_rows(view->printer);
}
