#include "commands/explained_row.h"

#include "commands/output.h"
#include "commands/time_argument.h"
#include "thrift/put_encoder.h"

gsize
tide_explained_row_size(const TideRow *row, TideWireProtocol protocol)
{
  g_auto(TideBuffer) put = {0};
  tide_put_head_append(protocol, &put, row->key, row->n_cells);
  for (guint32 i = 0; i < row->n_cells; i++)
    tide_cell_append(protocol, &put, row->cells[i].column->prefix, row->cells[i].value, row->cells[i].timestamp_ms);
  tide_put_tail_append(protocol, &put, row->ttl_ms);
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

/* A part of the key: what it is declared as, and its bytes. */
typedef struct KeyPart {
  char *declared; /* owned */
  TideBytes bytes;
} KeyPart;

static void
clear_key_part(gpointer data)
{
  g_free(((KeyPart *)data)->declared);
}

/* (element-type KeyPart), borrowing from the row's key. Empty when the parts do not make that key again, which would be
 * an error of the key language: then the whole is shown without its parts. */
static GArray *
cut_key(const TideExplainedRow *explained)
{
  const TideTable *table = explained->config->tables->pdata[explained->row->table_index];
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

static const char *
table_name(const TideExplainedRow *explained)
{
  return ((const TideTable *)explained->config->tables->pdata[explained->row->table_index])->name;
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
    g_string_append_printf(text, "  %s  (%" G_GSIZE_FORMAT " byte%s)\n", printable[i], part->bytes.len,
                           part->bytes.len == 1 ? "" : "s");
  }
}

static char *
column_text(const TideColumn *column)
{
  g_autofree char *family = tide_text_printable(column->family);
  g_autofree char *qualifier = tide_text_printable(column->qualifier);
  return g_strdup_printf("%s:%s", family, qualifier);
}

static void
append_cells(GString *text, const TideRow *row)
{
  gsize column_width = 0, value_width = 0;
  g_auto(GStrv) columns = g_new0(char *, row->n_cells + 1);
  g_auto(GStrv) values = g_new0(char *, row->n_cells + 1);
  for (guint32 i = 0; i < row->n_cells; i++) {
    columns[i] = column_text(row->cells[i].column);
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
    g_string_append_printf(text, "  %" G_GINT64_FORMAT " = %s\n", row->cells[i].timestamp_ms, time);
  }
}

static void
append_region(GString *text, const TideRegion *region)
{
  g_autofree char *start = tide_bytes_printable(region->start_key);
  g_autofree char *end = tide_bytes_printable(region->end_key);
  g_string_append_printf(text, "    region  ['%s', '%s') on %s\n", start, end, region->server);
}

char *
tide_explained_row_text(const TideExplainedRow *explained)
{
  const TideRow *row = explained->row;
  g_autofree char *printable = tide_bytes_printable(row->key);
  g_autofree char *hex = tide_bytes_hex(row->key);
  g_autoptr(GArray) parts = cut_key(explained);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "  %s  %s\n", table_name(explained), printable);
  g_string_append_printf(text, "    key     %s  (%" G_GSIZE_FORMAT " bytes)\n", hex, row->key.len);
  append_parts(text, parts);
  if (explained->region != NULL)
    append_region(text, explained->region);
  append_cells(text, row);
  g_string_append_printf(text, "    size    %" G_GSIZE_FORMAT " bytes in a call, %u cell%s",
                         tide_explained_row_size(row, explained->protocol), row->n_cells, row->n_cells == 1 ? "" : "s");
  if (row->ttl_ms > 0)
    g_string_append_printf(text, ", kept for %" G_GINT64_FORMAT " ms", row->ttl_ms);
  g_string_append_c(text, '\n');
  return g_string_free(text, FALSE);
}

/* ---- json ----------------------------------------------------------------------------------------------------------
 */

static void
append_json_parts(GString *text, const GArray *parts)
{
  g_string_append(text, ",\"key\":[");
  for (guint i = 0; i < parts->len; i++) {
    const KeyPart *part = &g_array_index(parts, KeyPart, i);
    g_string_append(text, i > 0 ? ",{" : "{");
    tide_json_append_member(text, "part", tide_bytes_of_string(part->declared), FALSE);
    g_string_append_c(text, ',');
    tide_json_append_member(text, "bytes", part->bytes, TRUE);
    g_string_append_c(text, '}');
  }
  g_string_append_c(text, ']');
}

static void
append_json_cells(GString *text, const TideRow *row)
{
  g_string_append(text, ",\"cells\":[");
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    g_autofree char *time = tide_time_text(cell->timestamp_ms);
    g_string_append(text, i > 0 ? ",{" : "{");
    tide_json_append_member(text, "family", cell->column->family, FALSE);
    g_string_append_c(text, ',');
    tide_json_append_member(text, "qualifier", cell->column->qualifier, FALSE);
    g_string_append_c(text, ',');
    tide_json_append_member(text, "value", cell->value, FALSE);
    g_string_append_printf(text, ",\"timestamp_ms\":%" G_GINT64_FORMAT ",\"time\":\"%s\"}", cell->timestamp_ms, time);
  }
  g_string_append_c(text, ']');
}

static void
append_json_region(GString *text, const TideRegion *region)
{
  g_string_append(text, ",\"region\":{");
  tide_json_append_member(text, "start", region->start_key, TRUE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "end", region->end_key, TRUE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "server", tide_bytes_of_string(region->server), FALSE);
  g_string_append_c(text, '}');
}

char *
tide_explained_row_json(const TideExplainedRow *explained, guint64 line)
{
  const TideRow *row = explained->row;
  g_autoptr(GArray) parts = cut_key(explained);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "{\"line\":%" G_GUINT64_FORMAT ",\"reading\":%u,", line, row->reading_index);
  tide_json_append_member(text, "table", tide_bytes_of_string(table_name(explained)), FALSE);
  g_string_append_c(text, ',');
  tide_json_append_member(text, "row", row->key, TRUE);
  append_json_parts(text, parts);
  append_json_cells(text, row);
  g_string_append_printf(text, ",\"size_bytes\":%" G_GSIZE_FORMAT, tide_explained_row_size(row, explained->protocol));
  if (row->ttl_ms > 0)
    g_string_append_printf(text, ",\"ttl_ms\":%" G_GINT64_FORMAT, row->ttl_ms);
  if (explained->region != NULL)
    append_json_region(text, explained->region);
  g_string_append(text, "}\n");
  return g_string_free(text, FALSE);
}
