#include "flow/open_doubt.h"

/* What @cell's acknowledgement ends. */
static void
end_heals(TideOpenTable *table, guint64 key_hash, guint64 identity, const TideBatchCell *cell)
{
  if (tide_heals_is_empty(table->heals))
    return;
  tide_heals_overwritten(table->heals, identity);
  if (table->table->latest == TIDE_LATEST_NONE)
    return;
  guint64 column = table->table->latest == TIDE_LATEST_REPLACE ? 0 : cell->column_hash;
  tide_heals_outdated(table->heals, key_hash, column, cell->timestamp_ms);
}

/* What of @row of @batch was written over cells in doubt, to be written once more; NULL: nothing. (transfer full) */
static TideHeal *
judge_row(TideOpenTable *table, const TideBatch *batch, guint32 row)
{
  TideHeal *heal = NULL;
  TideBatchCell cell;
  TideBatchCells cells;
  TideBytes key = tide_batch_row_key(batch, row);
  guint64 key_hash = tide_key_hash(key);
  if (!tide_batch_cells_enter(&cells, table->context->protocol, batch, row))
    return NULL;
  while (tide_batch_cells_next(&cells, &cell)) {
    guint64 identity = tide_cell_identity(key_hash, cell.column_hash, cell.timestamp_ms);
    gint64 until_us =
        tide_unsettled_conflict_us(table->unsettled, identity, tide_cell_content(cell.value), batch->sealed_us);
    end_heals(table, key_hash, identity, &cell);
    if (until_us == 0)
      continue;
    if (heal == NULL)
      heal = tide_heal_new(key);
    tide_heal_add_cell(heal, &cell, until_us);
    tide_counter_inc(table->cells_conflicting);
  }
  return heal;
}

/* Moves the sources of the rows that @heals has from @batch to their heals. */
static void
move_sources(const TideHealHandler *handler, TideBatch *batch, GHashTable *heals)
{
  gsize n_sources, n_left = 0;
  tide_batch_sources(batch, &n_sources);
  TideBatchSource *sources = (TideBatchSource *)(void *)batch->sources.data;
  for (gsize i = 0; i < n_sources; i++) {
    TideHeal *heal = g_hash_table_lookup(heals, GUINT_TO_POINTER(sources[i].row));
    if (heal == NULL)
      sources[n_left++] = sources[i];
    else if (handler->is_owned(sources[i].ref, handler->data))
      tide_heal_add_source(heal, sources[i].ref);
  }
  batch->sources.len = n_left * sizeof *sources;
}

/* There is no room for it: the row stays as it was written, which is counted. */
static void
give_up(const TideOpenTable *table, TideHeal *heal)
{
  const TideHealHandler *handler = table->context->heal_handler;
  guint n_sources;
  const TideSourceRef *sources = tide_heal_sources(heal, &n_sources);
  for (guint i = 0; i < n_sources; i++) {
    handler->changed(sources[i], TIDE_HEAL_KEPT, handler->data);
    handler->changed(sources[i], TIDE_HEAL_VOID, handler->data);
  }
  tide_counter_inc(table->context->doubt_overflow);
  tide_heal_free(heal);
}

static void
keep_heals(TideOpenTable *table, GHashTable *heals)
{
  GHashTableIter iter;
  gpointer heal;
  g_hash_table_iter_init(&iter, heals);
  while (g_hash_table_iter_next(&iter, NULL, &heal)) {
    guint n_sources;
    tide_heal_sources(heal, &n_sources);
    if (n_sources == 0)
      tide_heal_free(heal); /* of no partition of ours: its next owner writes it */
    else if (!tide_heals_keep(table->heals, heal))
      give_up(table, heal);
  }
}

void
tide_open_doubt_judge(TideOpenTable *table, TideBatch *batch)
{
  if (G_LIKELY(tide_unsettled_is_empty(table->unsettled) && tide_heals_is_empty(table->heals)))
    return;
  g_autoptr(GHashTable) heals = g_hash_table_new(NULL, NULL); /* row to TideHeal */
  for (guint32 i = 0; i < batch->n_rows; i++) {
    TideHeal *heal = tide_batch_find_poison(batch, i) == NULL ? judge_row(table, batch, i) : NULL;
    if (heal != NULL)
      g_hash_table_insert(heals, GUINT_TO_POINTER(i), heal);
  }
  if (g_hash_table_size(heals) == 0)
    return;
  move_sources(table->context->heal_handler, batch, heals);
  keep_heals(table, heals);
}

void
tide_open_doubt_remember(TideOpenTable *table, const TideBatch *batch, gint64 until_us)
{
  for (guint32 i = 0; i < batch->n_rows; i++) {
    guint64 key_hash = tide_key_hash(tide_batch_row_key(batch, i));
    TideBatchCell cell;
    TideBatchCells cells;
    if (!tide_batch_cells_enter(&cells, table->context->protocol, batch, i))
      continue;
    while (tide_batch_cells_next(&cells, &cell)) {
      guint64 identity = tide_cell_identity(key_hash, cell.column_hash, cell.timestamp_ms);
      guint64 content = tide_cell_content(cell.value);
      if (!tide_unsettled_add(table->unsettled, identity, cell.timestamp_ms, content, until_us))
        tide_counter_inc(table->context->doubt_overflow);
    }
  }
}
