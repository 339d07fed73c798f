/* One row as `explain` shows it: the origin of each byte of its key, its cells as stored and as read back, what it
 * deletes and waits for, its size, its region, and advice. */
#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/explain/explained_message.h"
#include "config/option/option_value.h"
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"
#include "util/units.h"

static const TideTable *
table_of(const TideExplainedRow *explained, const TideRow *row)
{
  return explained->config->tables->pdata[row->table_index];
}

/* The table of the row: its name, or that of the dated table. (transfer full) */
static char *
table_name(const TideExplainedRow *explained, const TideRow *row)
{
  return row->table_name.len > 0 ? tide_text_printable(row->table_name) : g_strdup(table_of(explained, row)->name);
}

/* The bytes of the row in a call, including its delete. */
static gsize
size_in_call(const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  g_auto(TideBuffer) put = {0};
  const GPtrArray *families = table_of(explained, row)->families;
  g_autofree TideBytes *names = g_new(TideBytes, families->len);
  for (guint i = 0; i < families->len; i++)
    names[i] = tide_bytes_of_string(((const TideFamilySettings *)families->pdata[i])->name);
  if (row->delete_to_ms > 0)
    tide_mutation_delete_append(explained->protocol, &put, row->key, names, families->len, row->delete_to_ms);
  if (row->n_cells == 0)
    return put.len;
  gint64 time_ms = row->delete_to_ms > 0 ? TIDE_PUT_NO_TIME : tide_put_time(row->n_cells, row->cells[0].timestamp_ms);
  for (guint32 i = 0; i < row->n_cells; i++)
    time_ms = tide_put_time_with(time_ms, row->cells[i].timestamp_ms);
  tide_put_head_append(explained->protocol, &put, row->key, row->n_cells);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    if (time_ms == TIDE_PUT_NO_TIME)
      tide_cell_append(explained->protocol, &put, cell->column->prefix, cell->value, cell->timestamp_ms);
    else
      tide_timeless_cell_append(explained->protocol, &put, cell->column->prefix, cell->value);
  }
  tide_put_tail_append(explained->protocol, &put, time_ms, row->ttl_ms);
  return put.len;
}

const TideRegion *
tide_region_of_key(const GPtrArray *regions, TideBytes key)
{
  const TideRegion *found = NULL;
  for (guint i = 0; i < regions->len; i++) {
    const TideRegion *region = regions->pdata[i];
    if (tide_bytes_compare(region->start_key, key) > 0)
      break;
    found = region;
  }
  gboolean beyond = found != NULL && found->end_key.len > 0 && tide_bytes_compare(key, found->end_key) >= 0;
  return beyond ? NULL : found;
}

/* A part of the key: its declaration and its bytes. */
typedef struct KeyPart {
  char *declared; /* owned */
  TideBytes bytes;
} KeyPart;

static void
clear_key_part(gpointer data)
{
  g_free(((KeyPart *)data)->declared);
}

/* (element-type KeyPart), borrowing from the row's key. Empty if the parts do not result in that key again, which would
 * be an error of the key language: then the key is shown without its parts. */
static GArray *
cut_key(const TideExplainedRow *explained)
{
  const TideTable *table = table_of(explained, explained->row);
  gsize n_parts = tide_row_key_n_parts(table->key);
  g_autofree gsize *ends = g_new0(gsize, MAX(n_parts, 1));
  g_auto(TideBuffer) key = {0};
  TideReject reject;
  GArray *parts = g_array_new(FALSE, FALSE, sizeof(KeyPart));
  g_array_set_clear_func(parts, clear_key_part);
  if (!tide_row_key_append_parts(table->key, explained->reading, &key, ends, &reject) ||
      !tide_bytes_equal(tide_buffer_bytes(&key), explained->row->key))
    return parts;
  gsize start = 0;
  for (gsize i = 0; i < n_parts; i++) {
    KeyPart part = {.declared = tide_row_key_describe_part(table->key, explained->names, i),
                    .bytes = tide_bytes(explained->row->key.data + start, ends[i] - start)};
    g_array_append_val(parts, part);
    start = ends[i];
  }
  return parts;
}

/* The cell's value as it is read back: one cell, or the members of a packed one. Valid until the next call. */
static const TideResultRow *
read_back(const TideExplainedRow *explained, const TideCell *cell, TideResultCell *result, TideResultRow *row)
{
  *result = (TideResultCell){.family = cell->column->family,
                             .qualifier = cell->column->qualifier,
                             .value = cell->value,
                             .timestamp_ms = cell->timestamp_ms};
  *row = (TideResultRow){.row = explained->row->key, .cells = result, .n_cells = 1};
  return tide_cell_reader_read(explained->reader, row);
}

static gboolean
is_as_stored(const TideResultRow *shown, const TideCell *cell)
{
  return shown->n_cells == 1 && tide_bytes_equal(shown->cells[0].qualifier, cell->column->qualifier) &&
         tide_bytes_equal(shown->cells[0].value, cell->value);
}

/* ---- text ----------------------------------------------------------------------------------------------------------
 */

static gsize
longest(gsize longest_so_far, const char *text)
{
  return MAX(longest_so_far, tide_text_width(text));
}

static void
append_padded(GString *text, const char *field, gsize width)
{
  gsize field_width = tide_text_width(field);
  g_string_append_printf(text, "%s%*s", field, (int)(width > field_width ? width - field_width : 0), "");
}

static void
append_parts(GString *text, const GArray *parts)
{
  gsize declared_width = 0;
  g_auto(GStrv) printable = g_new0(char *, parts->len + 1);
  for (guint i = 0; i < parts->len; i++) {
    const KeyPart *part = &g_array_index(parts, KeyPart, i);
    declared_width = longest(declared_width, part->declared);
    printable[i] = tide_bytes_printable(part->bytes);
  }
  for (guint i = 0; i < parts->len; i++) {
    const KeyPart *part = &g_array_index(parts, KeyPart, i);
    g_string_append(text, "      ");
    append_padded(text, part->declared, declared_width);
    g_autofree char *bytes = tide_count_of(part->bytes.len, "byte", NULL);
    g_string_append_printf(text, "  %s  (%s)\n", printable[i], bytes);
  }
}

static void
append_cells(GString *text, const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  gsize column_width = 0, value_width = 0;
  g_auto(GStrv) columns = g_new0(char *, row->n_cells + 1);
  g_auto(GStrv) values = g_new0(char *, row->n_cells + 1);
  for (guint32 i = 0; i < row->n_cells; i++) {
    columns[i] = tide_column_text(row->cells[i].column->family, row->cells[i].column->qualifier);
    values[i] = tide_text_printable(row->cells[i].value);
    column_width = longest(column_width, columns[i]);
    value_width = longest(value_width, values[i]);
  }
  for (guint32 i = 0; i < row->n_cells; i++) {
    g_autofree char *time = tide_time_text(row->cells[i].timestamp_ms);
    g_string_append(text, "    ");
    append_padded(text, columns[i], column_width);
    g_string_append(text, "  ");
    append_padded(text, values[i], value_width);
    g_string_append_printf(text, "  %" G_GINT64_FORMAT " = %s  %" G_GSIZE_FORMAT " bytes\n", row->cells[i].timestamp_ms,
                           time, tide_stored_cell_bytes(row, &row->cells[i]));
    TideResultCell result;
    TideResultRow of_cell;
    const TideResultRow *shown = read_back(explained, &row->cells[i], &result, &of_cell);
    for (gsize k = 0; k < shown->n_cells && !is_as_stored(shown, &row->cells[i]); k++) {
      g_autofree char *qualifier = tide_text_printable(shown->cells[k].qualifier);
      g_autofree char *value = tide_text_printable(shown->cells[k].value);
      g_string_append_printf(text, "      reads as %s  %s\n", qualifier, value);
    }
  }
}

/* Describes the delete in the same mutation, and the row that must be acknowledged first. */
static void
append_order(GString *text, const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  g_autofree char *time = tide_time_text(row->delete_to_ms);
  if (row->delete_to_ms > 0)
    g_string_append_printf(text, "    deletes all cells of the row up to %" G_GINT64_FORMAT " = %s%s\n",
                           row->delete_to_ms, time, row->n_cells > 0 ? ", in the same mutation" : "");
  if (row->follows == 0)
    return;
  const TideRow *before = &explained->rows[row->follows - 1];
  g_autofree char *table = table_name(explained, before);
  g_autofree char *key = tide_bytes_printable(before->key);
  g_string_append_printf(text, "    waits   until HBase has acknowledged %s of %s\n", key, table);
}

/* The event time, if the table has its own. */
static void
append_own_time(GString *text, const TideExplainedRow *explained)
{
  const TideTimeSpec *spec = table_of(explained, explained->row)->time;
  if (spec == NULL)
    return;
  gint64 time_ms = tide_ns_to_ms(explained->reading->event_time_ns);
  g_autofree char *time = tide_time_text(time_ms);
  g_autofree char *field =
      spec->field == TIDE_NAME_NONE ? NULL : tide_text_printable(tide_field_names_text(explained->names, spec->field));
  g_string_append_printf(text, "    time    %" G_GINT64_FORMAT " = %s, the table's own, from %s%s\n", time_ms, time,
                         field != NULL ? "field " : "the record", field != NULL ? field : "");
}

static void
append_size(GString *text, const TideExplainedRow *explained, const TideRowShape *shape)
{
  const TideRow *row = explained->row;
  g_autofree char *in_call = tide_count_text(size_in_call(explained));
  g_autofree char *cells = tide_count_of(row->n_cells, "cell", NULL);
  g_string_append_printf(text, "    size    %s bytes in a call, %s", in_call, cells);
  g_autofree char *stored = tide_count_text(shape->stored_bytes), *values = tide_count_text(shape->value_bytes);
  g_autofree char *ttl = tide_duration_format(row->ttl_ms);
  if (row->n_cells > 0)
    g_string_append_printf(text, "; %s bytes in HBase, %s of them values", stored, values);
  if (row->ttl_ms > 0)
    g_string_append_printf(text, "; kept for %s", ttl);
  g_string_append_c(text, '\n');
}

/* How the row will grow, if readings add columns to it. */
static void
append_growth(GString *text, const TideRowShape *shape)
{
  g_autofree char *slots = tide_count_text(shape->n_slots);
  g_autofree char *bytes = tide_count_text(shape->n_slots * shape->stored_bytes);
  switch (shape->growth) {
  case TIDE_ROW_ONE_READING:
    return;
  case TIDE_ROW_SLOTS:
    g_string_append_printf(text, "    row     gets such cells up to %s times: %s bytes\n", slots, bytes);
    return;
  case TIDE_ROW_WITHOUT_END:
    g_string_append(text, "    row     gets more cells with time, without end\n");
    return;
  case TIDE_ROW_BY_VALUE:
    g_string_append(text, "    row     gets such cells for each value that names them\n");
    return;
  }
}

static void
append_sentences(GString *text, const char *kind, const GPtrArray *sentences)
{
  for (guint i = 0; i < sentences->len; i++)
    g_string_append_printf(text, "    %s: %s\n", kind, (const char *)sentences->pdata[i]);
}

static GPtrArray *
advice_on(const TideExplainedRow *explained, const TideRowShape *shape)
{
  GPtrArray *advice = tide_row_advice(explained->row, shape);
  TideBytes name = tide_row_key_text_named_as_field(table_of(explained, explained->row)->key, explained->reading);
  if (name.len == 0)
    return advice;
  g_autofree char *shown = tide_bytes_printable(name);
  g_ptr_array_add(advice, g_strdup_printf("the text \"%s\" of the key is also a field of the reading: to use its "
                                          "value, write { field: %s }",
                                          shown, shown));
  return advice;
}

char *
tide_explained_row_text(const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  g_autofree char *table = table_name(explained, row);
  g_autofree char *printable = tide_bytes_printable(row->key);
  g_autofree char *hex = tide_bytes_hex(row->key);
  g_autoptr(GArray) parts = cut_key(explained);
  TideRowShape shape = tide_row_shape(table_of(explained, row), explained->reading, row);
  g_autoptr(GPtrArray) advice = advice_on(explained, &shape);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "  %s  %s\n", table, printable);
  g_autofree char *bytes = tide_count_of(row->key.len, "byte", NULL);
  g_string_append_printf(text, "    key     %s  (%s)\n", hex, bytes);
  append_parts(text, parts);
  append_own_time(text, explained);
  if (explained->region != NULL) {
    g_autofree char *start = tide_bytes_printable(explained->region->start_key);
    g_autofree char *end = tide_bytes_printable(explained->region->end_key);
    g_string_append_printf(text, "    region  ['%s', '%s') on %s\n", start, end, explained->region->server);
  }
  append_order(text, explained);
  append_cells(text, explained);
  g_autofree char *ttl = tide_duration_format(explained->expired_ttl_ms);
  g_autofree char *expired =
      tide_count_of(row->n_expired_cells, "cell omitted: older than its", "cells omitted: older than their");
  if (row->n_expired_cells > 0)
    g_string_append_printf(text, "    expired %s time to live of %s\n", expired, ttl);
  append_size(text, explained, &shape);
  append_growth(text, &shape);
  append_sentences(text, "warning", explained->warnings);
  append_sentences(text, "warning", advice);
  append_sentences(text, "note", explained->notes);
  return g_string_free(text, FALSE);
}

/* ---- json ----------------------------------------------------------------------------------------------------------
 */

static void
append_json_cells(TideBuffer *text, const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  tide_json_open(text, "cells", '[');
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    g_autofree char *time = tide_time_text(cell->timestamp_ms);
    tide_json_open(text, NULL, '{');
    tide_json_shown(text, "family", cell->column->family);
    tide_json_shown(text, "qualifier", cell->column->qualifier);
    tide_json_shown(text, "value", cell->value);
    tide_json_number(text, "timestamp_ms", cell->timestamp_ms);
    tide_json_text(text, "time", time);
    tide_json_number(text, "stored_bytes", (gint64)tide_stored_cell_bytes(row, cell));
    TideResultCell result;
    TideResultRow of_cell;
    const TideResultRow *shown = read_back(explained, cell, &result, &of_cell);
    gboolean is_other = !is_as_stored(shown, cell);
    if (is_other)
      tide_json_open(text, "reads_as", '[');
    for (gsize k = 0; is_other && k < shown->n_cells; k++) {
      tide_json_open(text, NULL, '{');
      tide_json_shown(text, "qualifier", shown->cells[k].qualifier);
      tide_json_shown(text, "value", shown->cells[k].value);
      tide_json_close(text, "}");
    }
    tide_json_close(text, is_other ? "]}" : "}");
  }
  tide_json_close(text, "]");
}

static void
append_json_order(TideBuffer *text, const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  if (row->delete_to_ms > 0)
    tide_json_number(text, "deletes_to_ms", row->delete_to_ms);
  if (row->follows == 0)
    return;
  const TideRow *before = &explained->rows[row->follows - 1];
  g_autofree char *table = table_name(explained, before);
  tide_json_open(text, "follows", '{');
  tide_json_shown_text(text, "table", table);
  tide_json_shown_and_hex(text, "row", before->key);
  tide_json_close(text, "}");
}

/* Writes two lists as one. @second: (nullable) */
static void
append_json_sentences(TideBuffer *text, const char *member, const GPtrArray *first, const GPtrArray *second)
{
  tide_json_open(text, member, '[');
  for (guint i = 0; i < first->len; i++)
    tide_json_shown_text(text, NULL, first->pdata[i]);
  for (guint i = 0; second != NULL && i < second->len; i++)
    tide_json_shown_text(text, NULL, second->pdata[i]);
  tide_json_close(text, "]");
}

void
tide_explained_row_json(const TideExplainedRow *explained, TideBuffer *text)
{
  static const char *const growths[] = {[TIDE_ROW_ONE_READING] = "none",
                                        [TIDE_ROW_SLOTS] = "slots",
                                        [TIDE_ROW_WITHOUT_END] = "without_end",
                                        [TIDE_ROW_BY_VALUE] = "by_value"};
  const TideRow *row = explained->row;
  g_autofree char *table = table_name(explained, row);
  g_autoptr(GArray) parts = cut_key(explained);
  TideRowShape shape = tide_row_shape(table_of(explained, row), explained->reading, row);
  g_autoptr(GPtrArray) advice = advice_on(explained, &shape);
  tide_json_number(text, "reading", row->reading_index);
  tide_json_shown_text(text, "table", table);
  tide_json_shown_and_hex(text, "row", row->key);
  tide_json_open(text, "key", '[');
  for (guint i = 0; i < parts->len; i++) {
    const KeyPart *part = &g_array_index(parts, KeyPart, i);
    tide_json_open(text, NULL, '{');
    tide_json_shown_text(text, "part", part->declared);
    tide_json_shown_and_hex(text, "bytes", part->bytes);
    tide_json_close(text, "}");
  }
  tide_json_close(text, "]");
  tide_json_number(text, "event_time_ms", tide_ns_to_ms(explained->reading->event_time_ns));
  append_json_cells(text, explained);
  if (row->n_expired_cells > 0) {
    tide_json_number(text, "expired_cells", row->n_expired_cells);
    tide_json_number(text, "expired_ttl_ms", explained->expired_ttl_ms);
  }
  append_json_order(text, explained);
  tide_json_number(text, "size_bytes", (gint64)size_in_call(explained));
  tide_json_number(text, "stored_bytes", (gint64)shape.stored_bytes);
  tide_json_text(text, "growth", growths[shape.growth]);
  tide_json_number(text, "slots", (gint64)shape.n_slots);
  if (row->ttl_ms > 0)
    tide_json_number(text, "ttl_ms", row->ttl_ms);
  if (explained->region != NULL) {
    tide_json_open(text, "region", '{');
    tide_json_shown_and_hex(text, "start", explained->region->start_key);
    tide_json_shown_and_hex(text, "end", explained->region->end_key);
    tide_json_shown_text(text, "server", explained->region->server);
    tide_json_close(text, "}");
  }
  append_json_sentences(text, "warnings", explained->warnings, advice);
  append_json_sentences(text, "notes", explained->notes, NULL);
}
