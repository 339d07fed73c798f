#include "rows/unmerged_rows.h"

guint32
tide_unmerged_rows_append_part(TideUnmergedRows *unmerged, TideTableAccumulator *table, const TideRow *rows,
                               guint32 n_rows, guint32 at, TideSourceRef source, gint64 now_us)
{
  TideLaneBuffer *open = tide_table_accumulator_find_lane(table, rows[at].key);
  TideRowBuffer *buffer = tide_table_accumulator_open_unmerged(table, open);
  guint32 n_added = 1;
  guint32 row_index = tide_row_buffer_append(buffer, &rows[at], source, now_us, NULL);
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
  return n_added;
}

void
tide_unmerged_rows_let_go(TideUnmergedRows *unmerged, TideTableAccumulator *table, guint64 key_hash)
{
  unmerged->n_rows--;
  tide_table_accumulator_defer_key(table, key_hash, -1);
}
