#include "commands/read/row_printer.h"

#include "commands/cli/time_argument.h"
#include "util/calendar.h"

struct TideRowPrinter {
  TideRowPrinterOptions options;
  gboolean wide;        /* one line a row */
  FILE *stream;         /* borrowed */
  TideListing *listing; /* owned; NULL for JSON */
  GPtrArray *headings;  /* owned (element-type utf8) */
  GArray *begins;       /* owned (element-type gsize): of the line's values, each with a NUL behind it, in text */
  GPtrArray *line;      /* owned (element-type utf8): of the listing, in text; reused */
  gsize n_key_columns;  /* the line's first ones, which say whose cell it is */
  gsize key_bytes;      /* what they take of text */
  TideBuffer text;      /* owned; reused */
  gint64 time_ms;       /* whose text is in time; that is empty before the first */
  char time[TIDE_ISO_TIME_BYTES];
  guint64 n_rows;
};

static gboolean
is_csv(const TideRowPrinter *printer)
{
  return printer->options.format == TIDE_OUTPUT_CSV;
}

static gsize
n_chosen(const TideRowPrinter *printer)
{
  return printer->options.columns != NULL ? tide_column_choice_count(printer->options.columns) : 0;
}

/* CSV always has the key itself, for programs; a table has it where there are no fields to show in its place. */
static gboolean
shows_key(const TideRowPrinter *printer)
{
  return is_csv(printer) || printer->options.n_fields == 0;
}

/* ---- headings ---- */

static void
add_heading(TideRowPrinter *printer, const char *table_name, const char *csv_name)
{
  g_ptr_array_add(printer->headings, g_strdup(is_csv(printer) ? csv_name : table_name));
}

/* A field called as one of our own columns gets a name that no program takes for that. */
static void
add_field_heading(TideRowPrinter *printer, const char *field)
{
  static const char *const taken[] = {"row",   "timestamp_ms", "time",  "key_time", "column",
                                      "value", "age_ms",       "field", "type",     NULL};
  if (is_csv(printer) && g_strv_contains(taken, field))
    g_ptr_array_add(printer->headings, g_strconcat("key.", field, NULL));
  else
    g_ptr_array_add(printer->headings, g_strdup(field));
}

static void
add_key_headings(TideRowPrinter *printer)
{
  if (shows_key(printer))
    add_heading(printer, "ROW", "row");
  for (gsize i = 0; i < printer->options.n_fields; i++)
    add_field_heading(printer, printer->options.field_names[i]);
  if (printer->options.with_key_time && !printer->wide)
    add_heading(printer, "KEY TIME", "key_time");
  printer->n_key_columns = printer->headings->len;
}

static void
add_cell_headings(TideRowPrinter *printer)
{
  if (is_csv(printer))
    add_heading(printer, NULL, "timestamp_ms");
  if (is_csv(printer) || !printer->options.with_age)
    add_heading(printer, "TIME", "time");
  add_heading(printer, "COLUMN", "column");
  add_heading(printer, "VALUE", "value");
  if (printer->options.with_age)
    add_heading(printer, "AGE", "age_ms");
  if (!is_csv(printer) && printer->options.with_age)
    add_heading(printer, "TIME", NULL);
  if (is_csv(printer) && printer->options.with_fields)
    add_heading(printer, NULL, "field");
  if (is_csv(printer) && printer->options.with_kinds)
    add_heading(printer, NULL, "type");
}

static void
add_headings(TideRowPrinter *printer)
{
  add_key_headings(printer);
  if (!printer->wide) {
    add_cell_headings(printer);
    return;
  }
  add_heading(printer, "TIME", "time");
  for (gsize i = 0; i < n_chosen(printer); i++)
    g_ptr_array_add(printer->headings, g_strdup(tide_column_choice_text(printer->options.columns, i)));
}

static TideListing *
make_listing(TideRowPrinter *printer)
{
  gsize n_columns = printer->headings->len;
  g_autofree TideListingColumn *columns = g_new0(TideListingColumn, n_columns);
  for (gsize i = 0; i < n_columns; i++) {
    columns[i].name = printer->headings->pdata[i];
    gboolean is_time = i == printer->n_key_columns && !printer->options.with_age;
    columns[i].once = !printer->wide && (i < printer->n_key_columns || is_time);
    columns[i].right = strcmp(columns[i].name, "AGE") == 0 && i > printer->n_key_columns;
  }
  return tide_listing_new(printer->stream, printer->options.format, tide_colour_wanted(printer->stream), columns,
                          n_columns);
}

TideRowPrinter *
tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options)
{
  TideRowPrinter *printer = g_new0(TideRowPrinter, 1);
  printer->options = *options;
  printer->stream = stream;
  printer->headings = g_ptr_array_new_with_free_func(g_free);
  printer->begins = g_array_new(FALSE, FALSE, sizeof(gsize));
  printer->line = g_ptr_array_new();
  printer->wide = n_chosen(printer) > 0 && !options->with_age && !options->line_per_cell;
  add_headings(printer);
  if (options->format != TIDE_OUTPUT_JSON)
    printer->listing = make_listing(printer);
  return printer;
}

void
tide_row_printer_free(TideRowPrinter *printer)
{
  if (printer == NULL)
    return;
  tide_listing_free(printer->listing);
  g_ptr_array_unref(printer->headings);
  g_array_unref(printer->begins);
  g_ptr_array_unref(printer->line);
  tide_buffer_clear_memory(&printer->text);
  g_free(printer);
}

/* ---- lines ---- */

static gboolean
is_shown(const TideRowPrinter *printer, const TideResultCell *cell)
{
  const TideRowPrinterOptions *options = &printer->options;
  /* A subtraction of a time written by anybody may overflow: compare with the bound instead. */
  if (options->max_age_ms > 0 && cell->timestamp_ms < options->now_ms - options->max_age_ms)
    return FALSE;
  return options->columns == NULL || tide_column_choice_takes(options->columns, cell->family, cell->qualifier);
}

static gint64
cell_age_ms(const TideRowPrinter *printer, const TideResultCell *cell)
{
  gint64 age_ms = 0;
  if (__builtin_sub_overflow(printer->options.now_ms, cell->timestamp_ms, &age_ms))
    return cell->timestamp_ms < 0 ? G_MAXINT64 : G_MININT64;
  return age_ms;
}

/* Cells of a row mostly have the same time, and it is the row's. Valid until the next. */
static const char *
time_text(TideRowPrinter *printer, gint64 time_ms)
{
  if (printer->time_ms != time_ms || printer->time[0] == '\0')
    (void)tide_iso_time_print(time_ms, printer->time);
  printer->time_ms = time_ms;
  return printer->time;
}

/* The line's next value is appended to what is returned; then comes end_value(). */
static TideBuffer *
begin_value(TideRowPrinter *printer)
{
  g_array_append_val(printer->begins, printer->text.len);
  return &printer->text;
}

static void
end_value(TideRowPrinter *printer)
{
  tide_buffer_append_byte(&printer->text, 0);
}

static void
add_text(TideRowPrinter *printer, const char *text)
{
  tide_buffer_append_bytes(begin_value(printer), tide_bytes_of_string(text));
  end_value(printer);
}

static void
add_number(TideRowPrinter *printer, gint64 number)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, number);
  add_text(printer, text);
}

static void
add_printable(TideRowPrinter *printer, TideBytes bytes)
{
  tide_text_append_printable(bytes, begin_value(printer));
  end_value(printer);
}

/* As HBase's shell prints it, so that it can be pasted there. */
static void
add_row_key(TideRowPrinter *printer, TideBytes key)
{
  g_autofree char *text = tide_bytes_printable(key);
  add_text(printer, text);
}

/* With all the digits there are. (transfer full) */
static char *
key_time_text(gint64 time_ns)
{
  gint64 time_ms = tide_ns_to_ms(time_ns), rest_ns = time_ns - time_ms * TIDE_NS_PER_MS;
  g_autofree char *text = tide_time_text(time_ms);
  gsize len = strlen(text);
  if (rest_ns == 0 || !g_str_has_suffix(text, "Z"))
    return g_steal_pointer(&text);
  return g_strdup_printf("%.*s%06" G_GINT64_FORMAT "Z", (int)len - 1, text, rest_ns);
}

/* Begins a line with what says which row it is of. */
static void
begin_line(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns, const TideBytes *fields)
{
  tide_buffer_reset(&printer->text);
  g_array_set_size(printer->begins, 0);
  if (shows_key(printer))
    add_row_key(printer, row->row);
  for (gsize i = 0; i < printer->options.n_fields; i++) {
    if (fields != NULL)
      add_printable(printer, fields[i]);
    else if (i == 0 && !shows_key(printer))
      add_row_key(printer, row->row);
    else
      add_text(printer, "");
  }
  if (printer->options.with_key_time && !printer->wide) {
    g_autofree char *time = fields != NULL ? key_time_text(time_ns) : g_strdup("");
    add_text(printer, time);
  }
  printer->key_bytes = printer->text.len;
}

static gboolean
end_line(TideRowPrinter *printer)
{
  g_ptr_array_set_size(printer->line, 0);
  for (guint i = 0; i < printer->begins->len; i++)
    g_ptr_array_add(printer->line, printer->text.data + g_array_index(printer->begins, gsize, i));
  return tide_listing_add(printer->listing, (const char *const *)printer->line->pdata);
}

static void
add_age(TideRowPrinter *printer, gint64 age_ms)
{
  g_autofree char *text = tide_age_text(age_ms);
  add_text(printer, text);
}

static gboolean
print_cell(TideRowPrinter *printer, const TideResultCell *cell, const TideCellOrigin *origin)
{
  const TideRowPrinterOptions *options = &printer->options;
  gint64 age_ms = cell_age_ms(printer, cell);
  g_array_set_size(printer->begins, (guint)printer->n_key_columns);
  printer->text.len = printer->key_bytes;
  if (is_csv(printer))
    add_number(printer, cell->timestamp_ms);
  if (is_csv(printer) || !options->with_age)
    add_text(printer, time_text(printer, cell->timestamp_ms));
  tide_column_append_text(cell->family, cell->qualifier, begin_value(printer));
  end_value(printer);
  add_printable(printer, cell->value);
  if (options->with_age && is_csv(printer))
    add_number(printer, age_ms);
  else if (options->with_age)
    add_age(printer, age_ms);
  if (options->with_age && !is_csv(printer))
    add_text(printer, time_text(printer, cell->timestamp_ms));
  if (is_csv(printer) && options->with_fields)
    add_printable(printer, origin != NULL ? origin->field : cell->qualifier);
  if (is_csv(printer) && options->with_kinds)
    add_text(printer, origin != NULL && origin->kind != NULL ? origin->kind : "");
  return end_line(printer);
}

static gboolean
print_cells(TideRowPrinter *printer, const TideResultRow *row, const TideCellOrigin *origins)
{
  for (gsize i = 0; i < row->n_cells; i++) {
    if (is_shown(printer, &row->cells[i]) && !print_cell(printer, &row->cells[i], origins != NULL ? &origins[i] : NULL))
      return FALSE;
  }
  return TRUE;
}

static gboolean
print_wide_row(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ms)
{
  const TideColumnChoice *chosen = printer->options.columns;
  add_text(printer, time_text(printer, time_ms));
  for (gsize i = 0; i < n_chosen(printer); i++) {
    const TideResultCell *found = NULL;
    for (gsize k = 0; k < row->n_cells && found == NULL; k++) {
      if (tide_column_choice_is(chosen, i, row->cells[k].family, row->cells[k].qualifier))
        found = &row->cells[k];
    }
    add_printable(printer, found != NULL ? found->value : TIDE_BYTES_EMPTY);
  }
  return end_line(printer);
}

/* ---- JSON ---- */

static void
append_json_cell(TideRowPrinter *printer, const TideResultCell *cell, const TideCellOrigin *origin)
{
  TideBuffer *text = &printer->text;
  tide_json_open(text, NULL, '{');
  tide_json_shown(text, "family", cell->family);
  tide_json_shown(text, "qualifier", cell->qualifier);
  tide_json_shown(text, "value", cell->value);
  tide_json_number(text, "timestamp_ms", cell->timestamp_ms);
  tide_json_text(text, "time", time_text(printer, cell->timestamp_ms));
  if (origin != NULL && !tide_bytes_equal(origin->field, cell->qualifier))
    tide_json_shown(text, "field", origin->field);
  if (origin != NULL && origin->kind != NULL)
    tide_json_text(text, "type", origin->kind);
  if (printer->options.with_age)
    tide_json_number(text, "age_ms", cell_age_ms(printer, cell));
  tide_json_close(text, "}");
}

/* A field's name may need escapes, unlike those of our own. */
static void
append_json_field_name(TideBuffer *text, const char *name)
{
  tide_json_name(text, NULL);
  tide_json_shown_append(text, tide_bytes_of_string(name));
  tide_buffer_append_byte(text, ':');
}

static void
append_json_fields(TideRowPrinter *printer, const TideBytes *fields)
{
  TideBuffer *text = &printer->text;
  tide_json_open(text, "fields", '{');
  for (gsize i = 0; i < printer->options.n_fields; i++) {
    append_json_field_name(text, printer->options.field_names[i]);
    tide_json_shown_append(text, fields[i]);
    if (tide_text_is_utf8(fields[i]))
      continue;
    g_autofree char *name = g_strconcat(printer->options.field_names[i], "_hex", NULL);
    g_autofree char *hex = tide_bytes_hex(fields[i]);
    append_json_field_name(text, name);
    tide_json_shown_append(text, tide_bytes_of_string(hex));
  }
  tide_json_close(text, "}");
}

static gboolean
print_json_row(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns, const TideBytes *fields,
               const TideCellOrigin *origins)
{
  TideBuffer *text = &printer->text;
  tide_json_open(text, NULL, '{');
  tide_json_shown_text(text, "table", printer->options.table);
  tide_json_shown_and_hex(text, "row", row->row);
  if (fields != NULL && printer->options.n_fields > 0)
    append_json_fields(printer, fields);
  if (!printer->options.with_age)
    tide_json_text(text, "time", time_text(printer, tide_ns_to_ms(time_ns)));
  if (fields != NULL && printer->options.with_key_time) {
    g_autofree char *time = key_time_text(time_ns);
    tide_json_text(text, "key_time", time);
  }
  tide_json_open(text, "cells", '[');
  for (gsize i = 0; i < row->n_cells; i++) {
    if (is_shown(printer, &row->cells[i]))
      append_json_cell(printer, &row->cells[i], origins != NULL ? &origins[i] : NULL);
  }
  tide_json_close(text, "]");
  tide_json_print_line(text, printer->stream);
  return !ferror(printer->stream);
}

gboolean
tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns, const TideBytes *fields,
                     const TideCellOrigin *origins)
{
  gsize n_shown = 0;
  for (gsize i = 0; i < row->n_cells; i++)
    n_shown += is_shown(printer, &row->cells[i]) ? 1 : 0;
  if (n_shown == 0)
    return TRUE;
  printer->n_rows++;
  if (printer->options.format == TIDE_OUTPUT_JSON)
    return print_json_row(printer, row, time_ns, fields, origins);
  begin_line(printer, row, time_ns, fields);
  return printer->wide ? print_wide_row(printer, row, tide_ns_to_ms(time_ns)) : print_cells(printer, row, origins);
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
