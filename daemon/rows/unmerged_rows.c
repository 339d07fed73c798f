#include "rows/unmerged_rows.h"

static guint32
append(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows, guint32 n_rows, guint32 at,
       gboolean is_apart, TideSourceRef source, gint64 now_us)
{
  TideLaneBuffer *open = tide_table_accumulator_find_lane(table, rows[at].key);
  TideRowBuffer *buffer = tide_table_accumulator_open_unmerged(table, open);
  guint32 n_added = 1;
  TideRow row = rows[at];
  row.is_apart = is_apart;
  guint32 row_index = tide_row_buffer_append(buffer, &row, source, now_us, NULL);
  open->unmerged_wait = FALSE;
  for (guint32 i = at + 1; i < n_rows && rows[i].reading_index == rows[at].reading_index; i++) {
    if (rows[i].follows == 0 || tide_dependents_parent_of(rows, &rows[i]) != at)
      continue;
    tide_row_buffer_add_dependent(buffer, row_index, &rows[i], source);
    n_added++;
  }
  open->last_row_us = now_us;
  tide_table_accumulator_activate(table, open);
  unmerged->n_rows++;
  unmerged->n_apart += is_apart ? 1 : 0;
  return n_added;
}

guint32
tide_unmerged_rows_append_part(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                               guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us)
{
  gboolean is_apart = tide_cell_limit_is_exceeded(table->cell_limit, &rows[at], now_us);
  return append(unmerged, table, rows, n_rows, at, is_apart, source, now_us);
}

gboolean
tide_unmerged_rows_append_apart(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                                guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us)
{
  const TideRow *row = &rows[at];
  if (G_LIKELY(!tide_cell_limit_is_exceeded(table->cell_limit, row, now_us)) ||
      unmerged->n_apart >= TIDE_MAX_ROWS_APART || tide_table_accumulator_may_change_places(table, row))
    return FALSE;
  tide_counter_inc(table->rows_mapped);
  guint64 key_hash = tide_key_hash(row->key);
  TideLaneBuffer *open = tide_table_accumulator_find_lane(table, row->key);
  /* Behind another of its key it waits as all do that wait: they need not be looked at again because of it. */
  gboolean waits = open->unmerged_wait && g_hash_table_contains(table->deferred_keys, GSIZE_TO_POINTER(key_hash));
  tide_table_accumulator_defer_key(table, key_hash, 1);
  (void)append(unmerged, table, rows, n_rows, at, TRUE, source, now_us);
  open->unmerged_wait = waits;
  return TRUE;
}

void
tide_unmerged_rows_let_go(TideUnmergedRows *unmerged, TideTableAccumulator *table, guint64 key_hash, gboolean is_apart)
{
  unmerged->n_rows--;
  unmerged->n_apart -= is_apart ? 1 : 0;
  tide_table_accumulator_defer_key(table, key_hash, -1);
}
