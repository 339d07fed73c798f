#include "commands/row_printer.h"

#include "commands/command_line.h"
#include "commands/time_argument.h"

struct TideRowPrinter {
  TideRowPrinterOptions options;
  FILE *stream;         /* borrowed */
  TideListing *listing; /* owned; NULL for JSON */
  GString *text;        /* owned; reused */
  guint64 n_rows;
  guint64 n_cells;
};

static const TideListingColumn cell_columns[] = {
    {.name = "ROW", .once = TRUE}, {.name = "TIME", .once = TRUE}, {.name = "COLUMN"}, {.name = "VALUE"}};
static const TideListingColumn cell_csv_columns[] = {
    {.name = "row"}, {.name = "timestamp_ms"}, {.name = "time"}, {.name = "column"}, {.name = "value"}};
static const TideListingColumn age_columns[] = {{.name = "ROW", .once = TRUE},
                                                {.name = "COLUMN"},
                                                {.name = "VALUE"},
                                                {.name = "AGE", .right = TRUE},
                                                {.name = "TIME"}};
static const TideListingColumn age_csv_columns[] = {{.name = "row"},    {.name = "timestamp_ms"}, {.name = "time"},
                                                    {.name = "column"}, {.name = "value"},        {.name = "age_ms"}};

static gboolean
is_csv(const TideRowPrinter *printer)
{
  return printer->options.format == TIDE_OUTPUT_CSV;
}

static gboolean
has_chosen_columns(const TideRowPrinter *printer)
{
  return printer->options.columns != NULL && printer->options.columns->len > 0;
}

/* One line a row: its key and time, then the chosen columns. */
static TideListing *
make_wide_listing(const TideRowPrinter *printer)
{
  const GPtrArray *chosen = printer->options.columns;
  gsize n_columns = chosen->len + 2;
  g_autofree TideListingColumn *columns = g_new0(TideListingColumn, n_columns);
  columns[0].name = is_csv(printer) ? "row" : "ROW";
  columns[1].name = is_csv(printer) ? "time" : "TIME";
  for (guint i = 0; i < chosen->len; i++)
    columns[i + 2].name = chosen->pdata[i];
  return tide_listing_new(printer->stream, printer->options.format, tide_colour_wanted(printer->stream), columns,
                          n_columns);
}

static TideListing *
make_cell_listing(const TideRowPrinter *printer)
{
  gboolean csv = is_csv(printer), age = printer->options.with_age;
  const TideListingColumn *columns = cell_columns;
  gsize n_columns = G_N_ELEMENTS(cell_columns);
  if (csv && age)
    columns = age_csv_columns, n_columns = G_N_ELEMENTS(age_csv_columns);
  else if (csv)
    columns = cell_csv_columns, n_columns = G_N_ELEMENTS(cell_csv_columns);
  else if (age)
    columns = age_columns, n_columns = G_N_ELEMENTS(age_columns);
  return tide_listing_new(printer->stream, printer->options.format, tide_colour_wanted(printer->stream), columns,
                          n_columns);
}

static gboolean
is_wide(const TideRowPrinter *printer)
{
  return has_chosen_columns(printer) && !printer->options.with_age;
}

TideRowPrinter *
tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options)
{
  TideRowPrinter *printer = g_new0(TideRowPrinter, 1);
  printer->options = *options;
  printer->stream = stream;
  printer->text = g_string_new(NULL);
  if (options->format != TIDE_OUTPUT_JSON)
    printer->listing = is_wide(printer) ? make_wide_listing(printer) : make_cell_listing(printer);
  return printer;
}

void
tide_row_printer_free(TideRowPrinter *printer)
{
  if (printer == NULL)
    return;
  tide_listing_free(printer->listing);
  g_string_free(printer->text, TRUE);
  g_free(printer);
}

/* Whether @wish, QUALIFIER or FAMILY:QUALIFIER, means @cell. A qualifier may hold colons itself, so both are tried. */
static gboolean
column_matches(const char *wish, const TideResultCell *cell)
{
  TideBytes text = tide_bytes_of_string(wish);
  if (tide_bytes_equal(text, cell->qualifier))
    return TRUE;
  return text.len == cell->family.len + 1 + cell->qualifier.len && text.data[cell->family.len] == ':' &&
         tide_bytes_equal(tide_bytes(text.data, cell->family.len), cell->family) &&
         tide_bytes_equal(tide_bytes(text.data + cell->family.len + 1, cell->qualifier.len), cell->qualifier);
}

static gboolean
is_shown(const TideRowPrinter *printer, const TideResultCell *cell)
{
  const TideRowPrinterOptions *options = &printer->options;
  /* A subtraction of a time written by anybody may overflow: compare with the bound instead. */
  if (options->max_age_ms > 0 && cell->timestamp_ms < options->now_ms - options->max_age_ms)
    return FALSE;
  if (!has_chosen_columns(printer))
    return TRUE;
  for (guint i = 0; i < options->columns->len; i++) {
    if (column_matches(options->columns->pdata[i], cell))
      return TRUE;
  }
  return FALSE;
}

static gint64
cell_age_ms(const TideRowPrinter *printer, const TideResultCell *cell)
{
  gint64 age_ms = 0;
  if (__builtin_sub_overflow(printer->options.now_ms, cell->timestamp_ms, &age_ms))
    return cell->timestamp_ms < 0 ? G_MAXINT64 : G_MININT64;
  return age_ms;
}

static char *
column_text(const TideResultCell *cell)
{
  g_autofree char *family = tide_text_printable(cell->family);
  g_autofree char *qualifier = tide_text_printable(cell->qualifier);
  return g_strdup_printf("%s:%s", family, qualifier);
}

static gboolean
print_cell(TideRowPrinter *printer, const char *row, const TideResultCell *cell)
{
  g_autofree char *column = column_text(cell);
  g_autofree char *value = tide_text_printable(cell->value);
  g_autofree char *time = tide_time_text(cell->timestamp_ms);
  g_autofree char *timestamp_ms = g_strdup_printf("%" G_GINT64_FORMAT, cell->timestamp_ms);
  gint64 age_ms = cell_age_ms(printer, cell);
  printer->n_cells++;
  if (is_csv(printer)) {
    g_autofree char *age = g_strdup_printf("%" G_GINT64_FORMAT, age_ms);
    return tide_listing_add(printer->listing, (const char *[]){row, timestamp_ms, time, column, value, age});
  }
  if (!printer->options.with_age)
    return tide_listing_add(printer->listing, (const char *[]){row, time, column, value});
  g_autofree char *age = tide_age_text(age_ms);
  return tide_listing_add(printer->listing, (const char *[]){row, column, value, age, time});
}

static gboolean
print_wide_row(TideRowPrinter *printer, const char *row_text, const TideResultRow *row, gint64 time_ms)
{
  const GPtrArray *chosen = printer->options.columns;
  g_auto(GStrv) values = g_new0(char *, chosen->len + 3);
  values[0] = g_strdup(row_text);
  values[1] = tide_time_text(time_ms);
  for (guint i = 0; i < chosen->len; i++) {
    values[i + 2] = NULL;
    for (gsize k = 0; k < row->n_cells && values[i + 2] == NULL; k++) {
      if (column_matches(chosen->pdata[i], &row->cells[k]))
        values[i + 2] = tide_text_printable(row->cells[k].value);
    }
    if (values[i + 2] == NULL)
      values[i + 2] = g_strdup("");
    else
      printer->n_cells++;
  }
  return tide_listing_add(printer->listing, (const char *const *)values);
}

static void
append_json_cell(TideRowPrinter *printer, const TideResultCell *cell)
{
  GString *text = printer->text;
  g_autofree char *time = tide_time_text(cell->timestamp_ms);
  g_string_append_c(text, '{');
  tide_json_append_member(text, "family", cell->family, FALSE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "qualifier", cell->qualifier, FALSE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "value", cell->value, FALSE);
  g_string_append_printf(text, ",\"timestamp_ms\":%" G_GINT64_FORMAT ",\"time\":\"%s\"", cell->timestamp_ms, time);
  if (printer->options.with_age)
    g_string_append_printf(text, ",\"age_ms\":%" G_GINT64_FORMAT, cell_age_ms(printer, cell));
  g_string_append_c(text, '}');
  printer->n_cells++;
}

static gboolean
print_json_row(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ms)
{
  GString *text = printer->text;
  g_string_assign(text, "{");
  tide_json_append_member(text, "table", tide_bytes_of_string(printer->options.table), FALSE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "row", row->row, TRUE);
  if (!printer->options.with_age) {
    g_autofree char *time = tide_time_text(time_ms);
    g_string_append_printf(text, ",\"time\":\"%s\"", time);
  }
  g_string_append(text, ",\"cells\":[");
  gboolean first = TRUE;
  for (gsize i = 0; i < row->n_cells; i++) {
    if (!is_shown(printer, &row->cells[i]))
      continue;
    if (!first)
      g_string_append_c(text, ',');
    first = FALSE;
    append_json_cell(printer, &row->cells[i]);
  }
  g_string_append(text, "]}\n");
  fwrite(text->str, 1, text->len, printer->stream);
  return !ferror(printer->stream);
}

static gboolean
print_cells(TideRowPrinter *printer, const char *row_text, const TideResultRow *row)
{
  for (gsize i = 0; i < row->n_cells; i++) {
    if (is_shown(printer, &row->cells[i]) && !print_cell(printer, row_text, &row->cells[i]))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ms)
{
  gsize n_shown = 0;
  for (gsize i = 0; i < row->n_cells; i++)
    n_shown += is_shown(printer, &row->cells[i]) ? 1 : 0;
  if (n_shown == 0)
    return TRUE;
  printer->n_rows++;
  if (printer->options.format == TIDE_OUTPUT_JSON)
    return print_json_row(printer, row, time_ms);
  /* The key as HBase's shell prints it, so that it can be pasted there. */
  g_autofree char *row_text = tide_bytes_printable(row->row);
  return is_wide(printer) ? print_wide_row(printer, row_text, row, time_ms) : print_cells(printer, row_text, row);
}

gboolean
tide_row_printer_finish(TideRowPrinter *printer)
{
  return printer->listing != NULL ? tide_listing_finish(printer->listing) : !ferror(printer->stream);
}

guint64
tide_row_printer_n_rows(const TideRowPrinter *printer)
{
  return printer->n_rows;
}

guint64
tide_row_printer_n_cells(const TideRowPrinter *printer)
{
  return printer->n_cells;
}
