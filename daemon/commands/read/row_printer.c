/* Prints rows read from HBase: as a table, as CSV, or as one JSON object per row. */
#include "commands/read/row_view.h"

#include "commands/cli/time_argument.h"
#include "util/calendar.h"
#include "util/units.h"

/* Parts of a row and of each of its cells: the columns of a table and of CSV, and the members in JSON. */
typedef enum Part {
  PART_ROW,
  PART_KEY_FIELD,
  PART_KEY_TIME,
  PART_ROW_TIME,
  PART_CHOSEN, /* the value of a chosen column, on the row's only line */
  PART_TIMESTAMP,
  PART_TIME,
  PART_COLUMN,
  PART_VALUE,
  PART_FIELD,
  PART_KIND,
  PART_AGE,
  N_PARTS,
} Part;

/* Its name in a table, and for programs. NULL: it is not shown there, or has the name of its field or column.
 * @is_quoted: its text, which comes from us, never needs quotes in CSV, or already has them. */
static const struct {
  const char *table, *program;
  gboolean is_quoted;
} part_names[N_PARTS] = {
    [PART_ROW] = {"ROW", "row", FALSE},       [PART_KEY_TIME] = {"KEY TIME", "key_time", TRUE},
    [PART_ROW_TIME] = {"TIME", "time", TRUE}, [PART_TIMESTAMP] = {NULL, "timestamp_ms", TRUE},
    [PART_TIME] = {"TIME", "time", TRUE},     [PART_COLUMN] = {"COLUMN", "column", TRUE},
    [PART_VALUE] = {"VALUE", "value", FALSE}, [PART_FIELD] = {NULL, "field", FALSE},
    [PART_KIND] = {NULL, "type", TRUE},       [PART_AGE] = {"AGE", "age_ms", TRUE},
};

/* Parts of a cell, in order; people see the age before the time. */
static const Part table_parts[] = {PART_TIME, PART_COLUMN, PART_VALUE, N_PARTS};
static const Part aged_parts[] = {PART_COLUMN, PART_VALUE, PART_AGE, PART_TIME, N_PARTS};
static const Part csv_parts[] = {PART_TIMESTAMP, PART_TIME,  PART_COLUMN, PART_VALUE,
                                 PART_AGE,       PART_FIELD, PART_KIND,   N_PARTS};
/* A column of a line. */
typedef struct Column {
  Part part;
  gsize index; /* of the key's field, or of the chosen column */
} Column;

/* The row and the cell to print. */
typedef struct Shown {
  const TideResultRow *row;
  gint64 time_ns;
  const TideBytes *fields; /* NULL: the key could not be decoded */
  const TideResultCell *cell;
  const TideCellOrigin *origin; /* NULL: the cell is as stored */
} Shown;

/* The printed form of a column; empty until it is used. Consecutive rows of a table mostly have the same columns, so
 * those of the previous row's first cells are kept. Long names share the first entry, as in cell_reader.c. */
typedef struct Known {
  TideBuffer family, qualifier, text; /* owned */
} Known;

#define MAX_KNOWN 64u
#define MAX_KNOWN_BYTES 1024u

struct TideRowPrinter {
  TideRowPrinterOptions options;
  FILE *stream;         /* borrowed */
  GArray *columns;      /* owned (element-type Column): of a line */
  GPtrArray *headings;  /* owned (element-type utf8): of columns */
  guint n_key_columns;  /* the first columns of a line, which identify the cell's row */
  gboolean wide;        /* one line per row */
  TideListing *listing; /* owned; of a table */
  GArray *begins;       /* owned (element-type gsize): offsets in text of a table's values, each terminated by a NUL */
  GPtrArray *values;    /* owned (element-type utf8): the same for the listing; reused */
  TideBuffer text;      /* owned; reused: a line of CSV or JSON, or a table's values */
  gboolean has_heading; /* for CSV */
  gint64 time_ms;       /* the time of the next three texts; time is empty before the first */
  char time[TIDE_ISO_TIME_BYTES];
  TideBuffer timestamp;   /* owned */
  TideBuffer time_json;   /* owned: both as members */
  Known known[MAX_KNOWN]; /* of the first cells of the previous row */
  guint64 n_rows;
};

/* ---- columns ---- */

static gsize
n_chosen(const TideRowPrinter *printer)
{
  return printer->options.columns != NULL ? tide_column_choice_count(printer->options.columns) : 0;
}

/* @name: NULL: the part's own */
static void
add_column(TideRowPrinter *printer, Part part, gsize index, const char *name)
{
  gboolean is_csv = printer->options.format == TIDE_OUTPUT_CSV, is_taken = FALSE;
  Column column = {.part = part, .index = index};
  g_array_append_val(printer->columns, column);
  if (name == NULL)
    name = is_csv ? part_names[part].program : part_names[part].table;
  /* A field with the same name as one of our columns gets a distinct name for programs. */
  for (gsize i = 0; i < N_PARTS; i++)
    is_taken |= g_strcmp0(part_names[i].program, name) == 0;
  g_ptr_array_add(printer->headings,
                  g_strconcat(is_csv && is_taken && part == PART_KEY_FIELD ? "key." : "", name, NULL));
}

static void
add_columns(TideRowPrinter *printer)
{
  const TideRowPrinterOptions *options = &printer->options;
  gboolean is_csv = options->format == TIDE_OUTPUT_CSV;
  /* CSV always has the key itself, for programs; a table has it only if there are no fields to show instead. */
  if (is_csv || options->n_fields == 0)
    add_column(printer, PART_ROW, 0, NULL);
  for (gsize i = 0; i < options->n_fields; i++)
    add_column(printer, PART_KEY_FIELD, i, options->field_names[i]);
  if (options->with_key_time && !printer->wide)
    add_column(printer, PART_KEY_TIME, 0, NULL);
  printer->n_key_columns = printer->columns->len;
  if (printer->wide) {
    add_column(printer, PART_ROW_TIME, 0, NULL);
    for (gsize i = 0; i < n_chosen(printer); i++)
      add_column(printer, PART_CHOSEN, i, tide_column_choice_text(options->columns, i));
    return;
  }
  for (const Part *part = is_csv ? csv_parts : options->with_age ? aged_parts : table_parts; *part != N_PARTS; part++)
    if ((*part != PART_AGE || options->with_age) && (*part != PART_FIELD || options->with_fields) &&
        (*part != PART_KIND || options->with_kinds))
      add_column(printer, *part, 0, NULL);
}

TideRowPrinter *
tide_row_printer_new(FILE *stream, const TideRowPrinterOptions *options)
{
  TideRowPrinter *printer = g_new0(TideRowPrinter, 1);
  printer->options = *options;
  printer->stream = stream;
  printer->columns = g_array_new(FALSE, FALSE, sizeof(Column));
  printer->headings = g_ptr_array_new_with_free_func(g_free);
  printer->begins = g_array_new(FALSE, FALSE, sizeof(gsize));
  printer->values = g_ptr_array_new();
  printer->wide = n_chosen(printer) > 0 && !options->with_age && !options->line_per_cell;
  add_columns(printer);
  if (options->format != TIDE_OUTPUT_TABLE)
    return printer;
  g_autofree TideListingColumn *columns = g_new0(TideListingColumn, printer->columns->len);
  for (guint i = 0; i < printer->columns->len; i++) {
    gboolean is_time = i == printer->n_key_columns && !options->with_age;
    columns[i].name = printer->headings->pdata[i];
    columns[i].once = !printer->wide && (i < printer->n_key_columns || is_time);
    columns[i].right = g_array_index(printer->columns, Column, i).part == PART_AGE;
  }
  printer->listing =
      tide_listing_new(stream, options->format, tide_colour_wanted(stream), columns, printer->columns->len);
  return printer;
}

void
tide_row_printer_free(TideRowPrinter *printer)
{
  if (printer == NULL)
    return;
  tide_listing_free(printer->listing);
  g_array_unref(printer->columns);
  g_ptr_array_unref(printer->headings);
  g_array_unref(printer->begins);
  g_ptr_array_unref(printer->values);
  tide_buffer_clear_memory(&printer->text);
  tide_buffer_clear_memory(&printer->timestamp);
  tide_buffer_clear_memory(&printer->time_json);
  for (guint i = 0; i < MAX_KNOWN; i++) {
    tide_buffer_clear_memory(&printer->known[i].family);
    tide_buffer_clear_memory(&printer->known[i].qualifier);
    tide_buffer_clear_memory(&printer->known[i].text);
  }
  g_free(printer);
}

/* ---- values ---- */

static gboolean
is_shown(const TideRowPrinter *printer, const TideResultCell *cell)
{
  const TideRowPrinterOptions *options = &printer->options;
  /* Subtracting an arbitrary time may overflow: compare with the bound instead. */
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

/* Cells of a row mostly have the row's time. Valid until the next one, like its other texts. */
static const char *
time_text(TideRowPrinter *printer, gint64 time_ms)
{
  if (printer->time_ms == time_ms && printer->time[0] != '\0')
    return printer->time;
  printer->time_ms = time_ms;
  (void)tide_iso_time_print(time_ms, printer->time);
  tide_buffer_reset(&printer->timestamp);
  tide_json_number(&printer->timestamp, NULL, time_ms);
  tide_buffer_reset(&printer->time_json);
  tide_json_name(&printer->time_json, part_names[PART_TIMESTAMP].program);
  tide_buffer_append_bytes(&printer->time_json, tide_buffer_bytes(&printer->timestamp));
  tide_json_text(&printer->time_json, part_names[PART_TIME].program, printer->time);
  return printer->time;
}

/* The column of the cell at index @i: in JSON its object up to there, in CSV with quotes if it needs them. */
static TideBytes
column_text(TideRowPrinter *printer, gsize i, const TideResultCell *cell)
{
  Known *known = &printer->known[cell->family.len + cell->qualifier.len <= MAX_KNOWN_BYTES ? i % MAX_KNOWN : 0];
  TideBuffer *text = &known->text;
  if (text->len > 0 && tide_bytes_equal(tide_buffer_bytes(&known->family), cell->family) &&
      tide_bytes_equal(tide_buffer_bytes(&known->qualifier), cell->qualifier))
    return tide_buffer_bytes(text);
  tide_buffer_set(&known->family, cell->family);
  tide_buffer_set(&known->qualifier, cell->qualifier);
  tide_buffer_reset(text);
  if (printer->options.format == TIDE_OUTPUT_JSON) {
    tide_json_open(text, NULL, '{');
    tide_json_shown(text, "family", cell->family);
    tide_json_shown(text, "qualifier", cell->qualifier);
  } else {
    tide_column_append_text(cell->family, cell->qualifier, text);
    if (printer->options.format == TIDE_OUTPUT_CSV)
      tide_csv_quote(text, 0);
  }
  return tide_buffer_bytes(text);
}

/* With all significant digits. (transfer full) */
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

static void
append_text(TideBuffer *out, const char *text)
{
  tide_buffer_append_bytes(out, tide_bytes_of_string(text));
}

/* The text of a column of a table or of CSV, before quoting. */
static void
append_value(TideRowPrinter *printer, Column column, const Shown *shown, TideBuffer *out)
{
  const TideResultCell *cell = shown->cell;
  gboolean is_csv = printer->options.format == TIDE_OUTPUT_CSV;
  g_autofree char *text = NULL;
  switch (column.part) {
  case PART_KEY_FIELD:
    if (shown->fields != NULL)
      tide_text_append_printable(shown->fields[column.index], out);
    if (shown->fields != NULL || is_csv || column.index > 0)
      return;
    G_GNUC_FALLTHROUGH; /* in a table, an undecoded key replaces the first field */
  case PART_ROW:
    text = tide_bytes_printable(shown->row->row); /* as HBase's shell prints it, so that it can be pasted there */
    break;
  case PART_KEY_TIME:
    text = shown->fields != NULL ? key_time_text(shown->time_ns) : NULL;
    break;
  case PART_ROW_TIME:
    append_text(out, time_text(printer, tide_ns_to_ms(shown->time_ns)));
    break;
  case PART_CHOSEN:
    for (gsize i = 0; i < shown->row->n_cells; i++) {
      cell = &shown->row->cells[i];
      if (!tide_column_choice_is(printer->options.columns, column.index, cell->family, cell->qualifier))
        continue;
      tide_text_append_printable(cell->value, out);
      break;
    }
    break;
  case PART_TIMESTAMP:
    (void)time_text(printer, cell->timestamp_ms);
    tide_buffer_append_bytes(out, tide_buffer_bytes(&printer->timestamp));
    break;
  case PART_TIME:
    append_text(out, time_text(printer, cell->timestamp_ms));
    break;
  case PART_COLUMN:
    tide_buffer_append_bytes(out, column_text(printer, (gsize)(cell - shown->row->cells), cell));
    break;
  case PART_VALUE:
    tide_text_append_printable(cell->value, out);
    break;
  case PART_FIELD:
    tide_text_append_printable(shown->origin != NULL ? shown->origin->field : cell->qualifier, out);
    break;
  case PART_KIND:
    append_text(out, shown->origin != NULL && shown->origin->kind != NULL ? shown->origin->kind : "");
    break;
  case PART_AGE:
    text = is_csv ? g_strdup_printf("%" G_GINT64_FORMAT, cell_age_ms(printer, cell))
                  : tide_age_text(cell_age_ms(printer, cell));
    break;
  case N_PARTS:
    break;
  }
  append_text(out, text != NULL ? text : "");
}

/* ---- lines ---- */

static void
append_columns(TideRowPrinter *printer, guint first, guint last, const Shown *shown)
{
  TideBuffer *text = &printer->text;
  for (guint i = first; i < last; i++) {
    gboolean is_csv = printer->options.format == TIDE_OUTPUT_CSV;
    if (is_csv && i > 0)
      tide_buffer_append_byte(text, ',');
    gsize begin = text->len;
    Column column = g_array_index(printer->columns, Column, i);
    append_value(printer, column, shown, text);
    if (is_csv && !part_names[column.part].is_quoted)
      tide_csv_quote(text, begin);
    if (is_csv)
      continue;
    tide_buffer_append_byte(text, 0);
    g_array_append_val(printer->begins, begin);
  }
}

static void
print_csv_heading(TideRowPrinter *printer)
{
  g_auto(TideBuffer) line = {0};
  for (guint i = 0; !printer->has_heading && i < printer->headings->len; i++) {
    if (i > 0)
      tide_buffer_append_byte(&line, ',');
    tide_csv_append(&line, printer->headings->pdata[i]);
  }
  if (!printer->has_heading)
    fprintf(printer->stream, "%.*s\n", (int)line.len, (const char *)line.data);
  printer->has_heading = TRUE;
}

static gboolean
end_line(TideRowPrinter *printer)
{
  if (printer->options.format == TIDE_OUTPUT_CSV) {
    tide_buffer_append_byte(&printer->text, '\n');
    fwrite(printer->text.data, 1, printer->text.len, printer->stream);
    return !ferror(printer->stream);
  }
  g_ptr_array_set_size(printer->values, 0);
  for (guint i = 0; i < printer->begins->len; i++)
    g_ptr_array_add(printer->values, printer->text.data + g_array_index(printer->begins, gsize, i));
  return tide_listing_add(printer->listing, (const char *const *)printer->values->pdata);
}

/* Each line begins with the columns that identify its row. */
static gboolean
print_lines(TideRowPrinter *printer, Shown *shown, const TideCellOrigin *origins)
{
  guint n_columns = printer->columns->len, n_key_columns = printer->n_key_columns;
  tide_buffer_reset(&printer->text);
  g_array_set_size(printer->begins, 0);
  append_columns(printer, 0, printer->wide ? n_columns : n_key_columns, shown);
  if (printer->wide)
    return end_line(printer);
  gsize key_bytes = printer->text.len;
  for (gsize i = 0; i < shown->row->n_cells; i++) {
    shown->cell = &shown->row->cells[i];
    shown->origin = origins != NULL ? &origins[i] : NULL;
    if (!is_shown(printer, shown->cell))
      continue;
    printer->text.len = key_bytes;
    g_array_set_size(printer->begins, MIN(n_key_columns, printer->begins->len));
    append_columns(printer, n_key_columns, n_columns, shown);
    if (!end_line(printer))
      return FALSE;
  }
  return TRUE;
}

/* ---- JSON ---- */

/* Family and qualifier, which a table has in one column. */
static void
append_json_cell(TideRowPrinter *printer, gsize i, const TideResultCell *cell, const TideCellOrigin *origin)
{
  TideBuffer *text = &printer->text;
  tide_json_name(text, NULL);
  tide_buffer_append_bytes(text, column_text(printer, i, cell));
  tide_json_shown(text, part_names[PART_VALUE].program, cell->value);
  (void)time_text(printer, cell->timestamp_ms);
  tide_json_name(text, NULL);
  tide_buffer_append_bytes(text, tide_buffer_bytes(&printer->time_json));
  if (origin != NULL && !tide_bytes_equal(origin->field, cell->qualifier))
    tide_json_shown(text, part_names[PART_FIELD].program, origin->field);
  if (origin != NULL && origin->kind != NULL)
    tide_json_text(text, part_names[PART_KIND].program, origin->kind);
  if (printer->options.with_age)
    tide_json_number(text, part_names[PART_AGE].program, cell_age_ms(printer, cell));
  tide_json_close(text, "}");
}

/* A field's name may need escapes, unlike our own names. */
static void
append_json_field(TideBuffer *text, const char *name, TideBytes value)
{
  tide_json_name(text, NULL);
  tide_json_shown_append(text, tide_bytes_of_string(name));
  tide_buffer_append_byte(text, ':');
  tide_json_shown_append(text, value);
}

static gboolean
print_json_row(TideRowPrinter *printer, const Shown *shown, const TideCellOrigin *origins)
{
  const TideRowPrinterOptions *options = &printer->options;
  const TideResultRow *row = shown->row;
  TideBuffer *text = &printer->text;
  tide_json_open(text, NULL, '{');
  tide_json_shown_text(text, "table", options->table);
  tide_json_shown_and_hex(text, part_names[PART_ROW].program, row->row);
  if (shown->fields != NULL && options->n_fields > 0) {
    tide_json_open(text, "fields", '{');
    for (gsize i = 0; i < options->n_fields; i++) {
      append_json_field(text, options->field_names[i], shown->fields[i]);
      if (tide_text_is_utf8(shown->fields[i]))
        continue;
      g_autofree char *name = g_strconcat(options->field_names[i], "_hex", NULL);
      g_autofree char *hex = tide_bytes_hex(shown->fields[i]);
      append_json_field(text, name, tide_bytes_of_string(hex));
    }
    tide_json_close(text, "}");
  }
  if (!options->with_age)
    tide_json_text(text, part_names[PART_ROW_TIME].program, time_text(printer, tide_ns_to_ms(shown->time_ns)));
  if (shown->fields != NULL && options->with_key_time) {
    g_autofree char *time = key_time_text(shown->time_ns);
    tide_json_text(text, part_names[PART_KEY_TIME].program, time);
  }
  tide_json_open(text, "cells", '[');
  for (gsize i = 0; i < row->n_cells; i++)
    if (is_shown(printer, &row->cells[i]))
      append_json_cell(printer, i, &row->cells[i], origins != NULL ? &origins[i] : NULL);
  tide_json_close(text, "]");
  tide_json_print_line(text, printer->stream);
  return !ferror(printer->stream);
}

gboolean
tide_row_printer_add(TideRowPrinter *printer, const TideResultRow *row, gint64 time_ns, const TideBytes *fields,
                     const TideCellOrigin *origins)
{
  Shown shown = {.row = row, .time_ns = time_ns, .fields = fields};
  gboolean is_any = FALSE;
  for (gsize i = 0; !is_any && i < row->n_cells; i++)
    is_any = is_shown(printer, &row->cells[i]);
  if (!is_any)
    return TRUE;
  printer->n_rows++;
  if (printer->options.format == TIDE_OUTPUT_JSON)
    return print_json_row(printer, &shown, origins);
  if (printer->options.format == TIDE_OUTPUT_CSV)
    print_csv_heading(printer);
  return print_lines(printer, &shown, origins);
}

gboolean
tide_row_printer_finish(TideRowPrinter *printer)
{
  if (printer->options.format == TIDE_OUTPUT_CSV)
    print_csv_heading(printer);
  return printer->listing != NULL ? tide_listing_finish(printer->listing) : !ferror(printer->stream);
}

guint64
tide_row_printer_n_rows(const TideRowPrinter *printer)
{
  return printer->n_rows;
}
