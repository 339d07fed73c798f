#include "commands/cli/overwritten_cells.h"

#include "commands/cli/output.h"

#define MAX_KEPT_BYTES (64u << 20)

/* The last reading that wrote a cell, and its value. */
typedef struct Written {
  guint64 message;
  guint32 identity;   /* of its reading */
  gboolean is_shared; /* an earlier reading gave the same value */
  GBytes *value;      /* owned */
} Written;

struct TideOverwrittenCells {
  TideOverwritten *tables; /* owned, by the tables' index */
  guint n_tables;
  GHashTable *places; /* owned (element-type GBytes Written) */
  gsize kept_bytes;
  guint64 message; /* number of the current message, from 1 */
};

static void
free_written(gpointer data)
{
  Written *written = data;
  g_bytes_unref(written->value);
  g_free(written);
}

TideOverwrittenCells *
tide_overwritten_cells_new(guint n_tables)
{
  TideOverwrittenCells *cells = g_new0(TideOverwrittenCells, 1);
  cells->tables = g_new0(TideOverwritten, n_tables);
  cells->n_tables = n_tables;
  cells->places = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, free_written);
  return cells;
}

void
tide_overwritten_cells_free(TideOverwrittenCells *cells)
{
  if (cells == NULL)
    return;
  for (guint i = 0; i < cells->n_tables; i++) {
    g_free(cells->tables[i].row);
    g_free(cells->tables[i].column);
  }
  g_free(cells->tables);
  g_hash_table_unref(cells->places);
  g_free(cells);
}

/* Table, row, column and time. (transfer full) */
static GBytes *
place_of(const TideRow *row, const TideCell *cell)
{
  const guint64 head[] = {row->table_index, (guint64)cell->timestamp_ms, row->table_name.len, row->key.len};
  g_auto(TideBuffer) place = {0};
  tide_buffer_append(&place, head, sizeof head);
  tide_buffer_append_bytes(&place, row->table_name);
  tide_buffer_append_bytes(&place, row->key);
  tide_buffer_append_bytes(&place, cell->column->prefix);
  return g_bytes_new(place.data, place.len);
}

static void
note_lost(TideOverwritten *table, const TideRow *row, const TideCell *cell, gboolean is_same_message)
{
  table->n_lost++;
  table->n_in_message += is_same_message ? 1 : 0;
  if (table->row != NULL)
    return;
  table->row = tide_bytes_printable(row->key);
  table->column = tide_column_text(cell->column->family, cell->column->qualifier);
}

static void
add_cell(TideOverwrittenCells *cells, const TideRow *row, const TideCell *cell)
{
  TideOverwritten *table = &cells->tables[row->table_index];
  GBytes *place = place_of(row, cell);
  Written written = {cells->message, row->identity, FALSE, g_bytes_new(cell->value.data, cell->value.len)};
  const Written *before = g_hash_table_lookup(cells->places, place);
  table->n_cells++;
  gboolean is_other = before != NULL && !g_bytes_equal(before->value, written.value);
  gboolean is_same_message = before != NULL && before->message == cells->message;
  gboolean is_same_reading = before != NULL && row->identity != 0 && before->identity == row->identity;
  written.is_shared = before != NULL && !is_other && (before->is_shared || !is_same_reading);
  /* If several readings shared the old value, only one is corrected, and the value of the others is lost. */
  if (is_other && !is_same_message && is_same_reading && !before->is_shared)
    table->n_corrected++;
  else if (is_other)
    note_lost(table, row, cell, is_same_message);
  cells->kept_bytes += g_bytes_get_size(place) + cell->value.len;
  g_hash_table_replace(cells->places, place, g_memdup2(&written, sizeof written));
}

void
tide_overwritten_cells_add(TideOverwrittenCells *cells, const TideRow *rows, guint32 n_rows)
{
  cells->message++;
  if (cells->kept_bytes > MAX_KEPT_BYTES) {
    g_hash_table_remove_all(cells->places);
    cells->kept_bytes = 0;
  }
  for (guint32 i = 0; i < n_rows; i++)
    for (guint32 k = 0; k < rows[i].n_cells; k++)
      add_cell(cells, &rows[i], &rows[i].cells[k]);
}

const TideOverwritten *
tide_overwritten_cells_of(const TideOverwrittenCells *cells, guint table_index)
{
  return &cells->tables[table_index];
}
