#include "mapping/scanned_rows.h"

#include "decode/decoder.h"
#include "decode/reading_builder.h"
#include "util/calendar.h"

#include <errno.h>
#include <stdlib.h>

/* Length of a gint64 with sign. */
#define INTEGER_MAX_BYTES 20u

/* "2026-11-21T04:45:00.123": to the millisecond. */
#define TIME_TEXT_MS_BYTES 23u

/* One cell of a printed row. */
typedef struct Cell {
  gint64 timestamp_ms;
  guint32 index; /* in the row */
  TideValueKind kind;
  TideBytes value;
  TideBytes field;        /* empty: of no field */
  const TideReading *row; /* the reading that describes its row; a decoder's */
} Cell;

typedef struct Printed {
  TideBytes row;
  guint32 n_cells;
  guint32 n_cell_fields;
} Printed;

struct TideScannedRows {
  const TideDecodeOptions *options; /* borrowed: of the messages */
  TideDecodeOptions cell_options;
  TideDecodeOptions row_options;
  TideReadingBuilder *builder; /* owned */
  TideScratch scratch;         /* of the current message */
  TideFieldNames *names;       /* owned: names of the printed format */
  const TideFieldNames *known; /* borrowed: the configuration's */
  TideDecoder *cells;          /* owned: one reading per cell */
  TideDecoder *row;            /* owned, for JSON: what surrounds the cells; NULL: each cell describes its row */
  GArray *list;                /* owned (element-type Cell): of the message */
  GArray *printed;             /* owned (element-type Printed): of its readings */
};

static gboolean
is_csv(TideScannedRows *rows)
{
  return rows->options->format == TIDE_FORMAT_CSV;
}

TideScannedRows *
tide_scanned_rows_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known)
{
  if (!options->scanned.is_scanned)
    return NULL;
  TideScannedRows *rows = g_new0(TideScannedRows, 1);
  rows->options = options;
  rows->known = names;
  rows->builder = tide_reading_builder_new(options, names, n_known, &rows->scratch);
  rows->row_options = (TideDecodeOptions){.format = options->format,
                                          .separator = (char *)"/",
                                          .csv = {.header = TRUE, .quotes = TRUE},
                                          .arrays = TIDE_ARRAY_JSON,
                                          .max_message_bytes = options->max_message_bytes,
                                          .max_depth = 4,
                                          .max_fields = options->max_fields,
                                          .max_readings = TIDE_SCANNED_MAX_CELLS};
  rows->cell_options = rows->row_options;
  rows->names = tide_field_names_new();
  if (options->format == TIDE_FORMAT_JSON) {
    rows->cell_options.layout.root = (char *)"cells";
    rows->row = tide_decoder_new(&rows->row_options, rows->names, 0);
  }
  rows->cells = tide_decoder_new(&rows->cell_options, rows->names, 0);
  rows->list = g_array_new(FALSE, FALSE, sizeof(Cell));
  rows->printed = g_array_new(FALSE, FALSE, sizeof(Printed));
  return rows;
}

void
tide_scanned_rows_free(TideScannedRows *rows)
{
  if (rows == NULL)
    return;
  tide_reading_builder_free(rows->builder);
  tide_scratch_clear_memory(&rows->scratch);
  tide_decoder_free(rows->cells);
  tide_decoder_free(rows->row);
  tide_field_names_free(rows->names);
  g_array_unref(rows->list);
  g_array_unref(rows->printed);
  g_free(rows);
}

/* ---- parsing ---- */

static const TideField *
find(const TideReading *reading, const char *name)
{
  for (guint32 i = 0; i < reading->n_fields; i++)
    if (tide_bytes_equal(reading->fields[i].name, tide_bytes_of_string(name)))
      return &reading->fields[i];
  return NULL;
}

/* Undoes \xHH escapes; printed text has no other backslash. */
static TideBytes
unescape(TideScannedRows *rows, TideBytes text)
{
  if (text.len == 0 || memchr(text.data, '\\', text.len) == NULL)
    return text;
  guint8 *bytes = tide_scratch_take(&rows->scratch, text.len);
  gsize n = 0;
  for (gsize i = 0; i < text.len; n++) {
    gboolean is_escape = text.len - i >= 4 && text.data[i] == '\\' && text.data[i + 1] == 'x' &&
                         g_ascii_isxdigit(text.data[i + 2]) && g_ascii_isxdigit(text.data[i + 3]);
    bytes[n] = is_escape ? (guint8)((guint)g_ascii_xdigit_value((char)text.data[i + 2]) << 4 |
                                    (guint)g_ascii_xdigit_value((char)text.data[i + 3]))
                         : text.data[i];
    i += is_escape ? 4 : 1;
  }
  return tide_bytes(bytes, n);
}

/* The bytes of @field in @reading. In JSON, bytes that are not text are in an additional hex field. */
static TideBytes
exact(TideScannedRows *rows, const TideReading *reading, const TideField *field)
{
  g_auto(TideBuffer) bytes = {0};
  if (is_csv(rows))
    return unescape(rows, field->text);
  g_autofree char *name = g_strdup_printf("%.*s_hex", (int)field->name.len, (const char *)field->name.data);
  const TideField *hex = find(reading, name);
  if (hex == NULL || !tide_bytes_from_hex((const char *)hex->text.data, hex->text.len, &bytes))
    return field->text;
  return tide_scratch_copy(&rows->scratch, tide_buffer_bytes(&bytes));
}

static gboolean
fault(TideReject *ret_reject, TideBytes field, const char *detail)
{
  *ret_reject = (TideReject){.reason = TIDE_REJECT_PARSE, .field = field, .byte_position = -1, .detail = detail};
  ret_reject->remedy = "load the output of 'tidemark scan' as JSON or CSV, and set '--format' to match; print CSV "
                       "without '--column', and both without '--raw'";
  return FALSE;
}

static gboolean
read_timestamp(const TideField *field, gint64 *ret_ms)
{
  char text[INTEGER_MAX_BYTES + 1], *end;
  if (field == NULL || field->text.len == 0 || field->text.len > INTEGER_MAX_BYTES)
    return FALSE;
  memcpy(text, field->text.data, field->text.len);
  text[field->text.len] = '\0';
  errno = 0;
  *ret_ms = g_ascii_strtoll(text, &end, 10);
  return *end == '\0' && errno == 0;
}

static gboolean
read_type(const TideField *field, TideValueKind *ret_kind)
{
  static const char *const types[] = {[TIDE_VALUE_STRING] = "string",
                                      [TIDE_VALUE_NUMBER] = "number",
                                      [TIDE_VALUE_BOOL] = "bool",
                                      [TIDE_VALUE_NULL] = "null",
                                      [TIDE_VALUE_JSON] = "json"};
  guint kind = TIDE_VALUE_STRING;
  if (field != NULL && field->text.len > 0)
    while (kind < G_N_ELEMENTS(types) && !tide_bytes_equal(field->text, tide_bytes_of_string(types[kind])))
      kind++;
  *ret_kind = (TideValueKind)kind;
  return kind < G_N_ELEMENTS(types);
}

/* The field's name as printed, otherwise the qualifier. Returns FALSE if there is neither. */
static gboolean
read_field(TideScannedRows *rows, const TideReading *reading, TideBytes *ret_field)
{
  const TideField *field = find(reading, "field");
  const TideField *column = find(reading, is_csv(rows) ? "column" : "qualifier");
  if (column == NULL)
    return FALSE;
  *ret_field = exact(rows, reading, field != NULL ? field : column);
  if (field != NULL || !is_csv(rows))
    return TRUE;
  const guint8 *colon = ret_field->len > 0 ? memchr(ret_field->data, ':', ret_field->len) : NULL;
  if (colon == NULL)
    return FALSE;
  gsize passed = (gsize)(colon - ret_field->data) + 1;
  *ret_field = tide_bytes(ret_field->data + passed, ret_field->len - passed);
  return TRUE;
}

static gboolean
read_cell(TideScannedRows *rows, const TideReading *reading, const TideReading *row, TideReject *ret_reject)
{
  Cell cell = {.index = rows->list->len, .row = row};
  const TideField *value = find(reading, "value"), *type = find(reading, "type");
  if (!read_timestamp(find(reading, "timestamp_ms"), &cell.timestamp_ms) || value == NULL)
    return fault(ret_reject, TIDE_BYTES_EMPTY,
                 "a cell without 'timestamp_ms' or 'value': the line is not a row printed by scan");
  if (!read_field(rows, reading, &cell.field))
    return fault(ret_reject, TIDE_BYTES_EMPTY, "a cell without its column: the line is not a row printed by scan");
  if (!read_type(type, &cell.kind))
    return fault(ret_reject, cell.field,
                 "a cell that was printed as stored, because it does not match its table's declaration");
  cell.value = exact(rows, reading, value);
  g_array_append_val(rows->list, cell);
  return TRUE;
}

static gboolean
decode(TideDecoder *decoder, TideBytes message, TideReading **ret_readings, guint32 *ret_n, TideReject *ret_reject)
{
  TideMessage whole = {.value = message, .has_value = TRUE, .timestamp_ms = -1};
  return tide_decoder_decode(decoder, &whole, ret_readings, ret_n, ret_reject);
}

static gboolean
read_cells(TideScannedRows *rows, TideBytes message, TideReject *ret_reject)
{
  TideReading *cells, *row = NULL;
  guint32 n_cells, n_rows = 0;
  g_array_set_size(rows->list, 0);
  if (rows->row != NULL && !decode(rows->row, message, &row, &n_rows, ret_reject))
    return FALSE;
  if (rows->row != NULL && n_rows != 1)
    return fault(ret_reject, TIDE_BYTES_EMPTY, "a line that is not one row");
  if (!decode(rows->cells, message, &cells, &n_cells, ret_reject))
    return FALSE;
  for (guint32 i = 0; i < n_cells; i++)
    if (!read_cell(rows, &cells[i], row != NULL ? row : &cells[i], ret_reject))
      return FALSE;
  return TRUE;
}

/* ---- restoring readings ---- */

static int
compare_cells(gconstpointer a, gconstpointer b)
{
  const Cell *first = a, *second = b;
  if (first->timestamp_ms != second->timestamp_ms)
    return first->timestamp_ms < second->timestamp_ms ? -1 : 1;
  return first->index < second->index ? -1 : 1;
}

static const Cell *
cell_at(TideScannedRows *rows, guint index)
{
  return &g_array_index(rows->list, Cell, index);
}

/* The cell of @field between @first and @before; NULL: none. */
static const Cell *
find_cell(TideScannedRows *rows, guint first, guint before, TideBytes field)
{
  for (guint i = first; i < before; i++)
    if (tide_bytes_equal(cell_at(rows, i)->field, field))
      return cell_at(rows, i);
  return NULL;
}

/* Several columns with the same field are one field if their values are equal. */
static gboolean
add_cells(TideScannedRows *rows, guint first, guint end, Printed *printed, TideReject *ret_reject)
{
  for (guint i = first; i < end; i++) {
    const Cell *cell = cell_at(rows, i);
    printed->n_cells++;
    if (cell->field.len == 0)
      continue;
    if (tide_reading_builder_add(rows->builder, cell->field, cell->kind, cell->value, ret_reject)) {
      printed->n_cell_fields++;
      continue;
    }
    const Cell *other = find_cell(rows, first, i, cell->field);
    if (ret_reject->reason != TIDE_REJECT_DUPLICATE_FIELD || other == NULL ||
        !tide_bytes_equal(other->value, cell->value))
      return FALSE;
    *ret_reject = (TideReject){.byte_position = -1};
  }
  return TRUE;
}

/* The name of the key field in @field. Returns FALSE if it is none. */
static gboolean
name_key_field(TideScannedRows *rows, const TideField *field, TideBytes *ret_name)
{
  static const char *const others[] = {"row",   "timestamp_ms", "time",  "key_time", "column",
                                       "value", "age_ms",       "field", "type",     NULL};
  static const TideBytes in_json = {(const guint8 *)"fields/", 7}, in_csv = {(const guint8 *)"key.", 4};
  TideBytes prefix = is_csv(rows) ? in_csv : in_json;
  gboolean has_prefix = field->name.len > prefix.len && tide_bytes_begin_with(field->name, prefix);
  TideBytes rest = has_prefix ? tide_bytes_from(field->name, prefix.len) : field->name;
  g_autofree char *text = g_strndup((const char *)rest.data, rest.len);
  gboolean is_other = g_strv_contains(others, text);
  if (!is_csv(rows)) {
    *ret_name = unescape(rows, rest);
    return has_prefix;
  }
  *ret_name = unescape(rows, has_prefix && is_other ? rest : field->name);
  return has_prefix || !is_other;
}

/* Adds key fields that no cell has; a cell has the value as it was received. Bytes that are not text have a hex field.
 * A default of the key was not received as a field: the key produces it again, a column does not. */
static gboolean
add_key_fields(TideScannedRows *rows, guint first, guint end, TideReject *ret_reject)
{
  static const TideBytes hex = {(const guint8 *)"_hex", 4};
  const TideReading *row = cell_at(rows, first)->row;
  const TideRowKey *key = rows->options->scanned.key;
  TideBytes before = TIDE_BYTES_EMPTY;
  for (guint32 i = 0; i < row->n_fields; i++) {
    const TideField *field = &row->fields[i];
    TideBytes name;
    if (!name_key_field(rows, field, &name))
      continue;
    gboolean is_hex = !is_csv(rows) && before.len > 0 && field->name.len == before.len + hex.len &&
                      tide_bytes_begin_with(field->name, before) &&
                      tide_bytes_equal(tide_bytes_from(field->name, before.len), hex);
    before = field->name;
    if (is_hex || find_cell(rows, first, end, name) != NULL)
      continue;
    TideBytes value = exact(rows, row, field);
    if (key != NULL && tide_row_key_is_default(key, tide_field_names_find(rows->known, name), value))
      continue;
    if (value.len > 0 && !tide_reading_builder_add(rows->builder, name, TIDE_VALUE_STRING, value, ret_reject))
      return FALSE;
  }
  return TRUE;
}

static TideBytes
keep(TideScannedRows *rows, const char *text)
{
  return tide_scratch_copy(&rows->scratch, tide_bytes_of_string(text));
}

/* Adds the event time: the cells' time, unless they have a different one, or the key has it with more precision than a
 * millisecond. */
static gboolean
add_times(TideScannedRows *rows, const Cell *cell, TideReject *ret_reject)
{
  char of_cell[TIDE_ISO_TIME_BYTES], number[INTEGER_MAX_BYTES + 1];
  const TideField *of_key = find(cell->row, "key_time");
  TideBytes time = keep(rows, tide_iso_time_print(cell->timestamp_ms, of_cell));
  gboolean has_cell_time = rows->options->scanned.has_cell_times;
  gboolean is_finer = of_key != NULL && of_key->text.len > TIME_TEXT_MS_BYTES && time.len > TIME_TEXT_MS_BYTES &&
                      memcmp(of_key->text.data, time.data, TIME_TEXT_MS_BYTES) == 0;
  if (of_key != NULL && of_key->text.len > 0 && (has_cell_time || is_finer))
    time = of_key->text;
  if (!tide_reading_builder_add(rows->builder, TIDE_BYTES_LITERAL(TIDE_SCANNED_EVENT_TIME), TIDE_VALUE_STRING, time,
                                ret_reject))
    return FALSE;
  g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, cell->timestamp_ms);
  return !has_cell_time || tide_reading_builder_add(rows->builder, TIDE_BYTES_LITERAL(TIDE_SCANNED_CELL_TIME),
                                                    TIDE_VALUE_NUMBER, keep(rows, number), ret_reject);
}

gboolean
tide_scanned_rows_decode(TideScannedRows *rows, TideBytes message, TideReading **ret_readings, guint32 *ret_n_readings,
                         TideReject *ret_reject)
{
  *ret_reject = (TideReject){.byte_position = -1};
  g_array_set_size(rows->printed, 0);
  tide_scratch_reset(&rows->scratch);
  tide_reading_builder_begin_message(rows->builder, NULL, 0, 0); /* a row contains everything it was made of */
  if (!read_cells(rows, message, ret_reject))
    return FALSE;
  g_array_sort(rows->list, compare_cells);
  for (guint first = 0, end; first < rows->list->len; first = end) {
    const Cell *cell = cell_at(rows, first);
    for (end = first + 1; end < rows->list->len && cell_at(rows, end)->timestamp_ms == cell->timestamp_ms;)
      end++;
    const TideField *row = rows->options->scanned.keeps_keys ? find(cell->row, "row") : NULL;
    Printed printed = {.row = row != NULL ? exact(rows, cell->row, row) : TIDE_BYTES_EMPTY};
    if (!tide_reading_builder_begin_reading(rows->builder, ret_reject) ||
        !add_cells(rows, first, end, &printed, ret_reject) || !add_key_fields(rows, first, end, ret_reject) ||
        !add_times(rows, cell, ret_reject) || !tide_reading_builder_end_reading(rows->builder, ret_reject))
      return FALSE;
    g_array_append_val(rows->printed, printed);
  }
  *ret_readings = tide_reading_builder_finish(rows->builder, ret_n_readings);
  for (guint32 i = 0; i < *ret_n_readings; i++) {
    const Printed *printed = &g_array_index(rows->printed, Printed, i);
    (*ret_readings)[i].printed_row = printed->row;
    (*ret_readings)[i].n_printed_cells = printed->n_cells;
    (*ret_readings)[i].n_cell_fields = printed->n_cell_fields;
  }
  return TRUE;
}
