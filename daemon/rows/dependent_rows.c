#include "rows/dependent_rows.h"

/* A record consists of this header, the key, the table's name, and for each cell a KeptCell, its column's prefix and
 * its value. Each part is aligned to ALIGNMENT. */
typedef struct Record {
  guint32 len_bytes; /* total length */
  guint32 parent;
  TideSourceRef source;
  TideRow row; /* its pointers are set when it is read */
} Record;

typedef struct KeptCell {
  guint64 column_hash;
  gint64 timestamp_ms;
  gsize prefix_len;
  gsize value_len;
} KeptCell;

#define ALIGNMENT 8u /* of Record and KeptCell */

static gsize
padded(gsize len)
{
  return (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void
append_padded(TideBuffer *dependents, const void *data, gsize len)
{
  static const guint8 zeros[ALIGNMENT];
  tide_buffer_append(dependents, data, len);
  tide_buffer_append(dependents, zeros, padded(len) - len);
}

void
tide_dependent_rows_append(TideBuffer *dependents, guint32 parent, const TideRow *row, TideSourceRef source)
{
  gsize start = dependents->len;
  Record record = {.parent = parent, .source = source, .row = *row};
  record.row.follows = 0;
  record.row.columns_id = 0; /* its encoded cells are not stored */
  append_padded(dependents, &record, sizeof record);
  append_padded(dependents, row->key.data, row->key.len);
  append_padded(dependents, row->table_name.data, row->table_name.len);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    KeptCell kept = {cell->column->hash, cell->timestamp_ms, cell->column->prefix.len, cell->value.len};
    append_padded(dependents, &kept, sizeof kept);
    append_padded(dependents, cell->column->prefix.data, kept.prefix_len);
    append_padded(dependents, cell->value.data, kept.value_len);
  }
  g_assert(dependents->len - start < G_MAXUINT32);
  ((Record *)(void *)(dependents->data + start))->len_bytes = (guint32)(dependents->len - start);
}

TideBytes
tide_dependent_rows_next_record(const TideBuffer *dependents, gsize *offset)
{
  if (*offset == dependents->len)
    return TIDE_BYTES_EMPTY;
  const Record *record = (const Record *)(const void *)(dependents->data + *offset);
  *offset += record->len_bytes;
  return tide_bytes(record, record->len_bytes);
}

guint32
tide_dependent_row_parent(TideBytes record)
{
  return ((const Record *)(const void *)record.data)->parent;
}

TideSourceRef
tide_dependent_row_source(TideBytes record)
{
  return ((const Record *)(const void *)record.data)->source;
}

void
tide_dependent_rows_append_record(TideBuffer *dependents, TideBytes record, guint32 parent)
{
  gsize start = dependents->len;
  tide_buffer_append_bytes(dependents, record);
  ((Record *)(void *)(dependents->data + start))->parent = parent;
}

void
tide_dependent_row_reader_clear(TideDependentRowReader *reader)
{
  tide_buffer_clear_memory(&reader->columns);
  tide_buffer_clear_memory(&reader->cells);
}

static TideBytes
take_padded(const guint8 **at, gsize len)
{
  TideBytes taken = tide_bytes(*at, len);
  *at += padded(len);
  return taken;
}

TideDependentRow
tide_dependent_row_read(TideDependentRowReader *reader, TideBytes record_bytes)
{
  const guint8 *at = record_bytes.data;
  const Record *record = (const Record *)(const void *)take_padded(&at, sizeof *record).data;
  TideDependentRow dependent = {.source = record->source, .parent = record->parent, .row = record->row};
  TideRow *row = &dependent.row;
  row->key = take_padded(&at, row->key.len);
  row->table_name = take_padded(&at, row->table_name.len);
  TideColumn *columns = (TideColumn *)(void *)reader->columns.data;
  TideCell *cells = (TideCell *)(void *)reader->cells.data;
  if (row->n_cells > 0) { /* reserve both arrays first, so that neither moves while it is filled */
    columns = (TideColumn *)(void *)tide_buffer_reserve(&reader->columns, row->n_cells * sizeof *columns);
    cells = (TideCell *)(void *)tide_buffer_reserve(&reader->cells, row->n_cells * sizeof *cells);
  }
  for (guint32 i = 0; i < row->n_cells; i++) {
    const KeptCell *kept = (const KeptCell *)(const void *)take_padded(&at, sizeof *kept).data;
    columns[i] = (TideColumn){.prefix = take_padded(&at, kept->prefix_len), .hash = kept->column_hash};
    cells[i] = (TideCell){&columns[i], take_padded(&at, kept->value_len), kept->timestamp_ms};
  }
  row->cells = cells;
  return dependent;
}

guint32
tide_dependents_parent_of(const TideRow *rows, const TideRow *row)
{
  guint32 parent = row->follows - 1;
  while (rows[parent].follows != 0)
    parent = rows[parent].follows - 1;
  return parent;
}

gboolean
tide_dependents_link(GArray *dependents, const TideRow *rows, guint32 n_rows)
{
  gboolean any = FALSE;
  for (guint32 i = 0; i < n_rows; i++)
    any |= rows[i].follows != 0;
  if (!any)
    return FALSE;
  g_array_set_size(dependents, n_rows);
  TideDependents *of = (TideDependents *)(void *)dependents->data;
  memset(of, 0, n_rows * sizeof *of);
  for (guint32 i = n_rows; i-- > 0;) {
    if (rows[i].follows == 0)
      continue;
    TideDependents *parent = &of[tide_dependents_parent_of(rows, &rows[i])];
    of[i].next = parent->first;
    parent->first = i + 1;
  }
  return TRUE;
}
