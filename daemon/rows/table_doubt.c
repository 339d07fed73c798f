#include "rows/table_doubt.h"

#include "rows/table_given_up.h"

/* What @cell's acknowledgement ends. */
static void
end_heals(TideTableAccumulator *table, guint64 key_hash, guint64 identity, const TideBatchCell *cell)
{
  if (tide_heals_is_empty(table->heals))
    return;
  tide_heals_overwritten(table->heals, identity);
  if (table->table->latest == TIDE_LATEST_NONE)
    return;
  guint64 column = table->table->latest == TIDE_LATEST_REPLACE ? 0 : cell->column_hash;
  tide_heals_outdated(table->heals, key_hash, column, cell->timestamp_ms);
}

/* What of @row of @batch was written over cells in doubt, to be written once more; NULL: nothing. (transfer full)
 * @inherited: what owners before us left in doubt of its partitions; they do not say which values */
static TideHeal *
judge_row(TideTableAccumulator *table, const TideBatch *batch, guint32 row, TideDoubt inherited)
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
        tide_cells_in_doubt_conflict_us(table->in_doubt, identity, tide_cell_content(cell.value), batch->sealed_us);
    if (inherited.until_us > batch->sealed_us && cell.timestamp_ms <= inherited.time_ms)
      until_us = MAX(until_us, inherited.until_us);
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

/* Moves the sources of the rows that @heals has from @batch to their heals: also those that nobody waits for, which may
 * yet be taken away. */
static void
move_sources(TideBatch *batch, GHashTable *heals)
{
  gsize n_sources, n_left = 0;
  tide_batch_sources(batch, &n_sources);
  TideBatchSource *sources = (TideBatchSource *)(void *)batch->sources.data;
  for (gsize i = 0; i < n_sources; i++) {
    TideHeal *heal = g_hash_table_lookup(heals, GUINT_TO_POINTER(sources[i].row));
    if (heal == NULL)
      sources[n_left++] = sources[i];
    else
      tide_heal_add_source(heal, sources[i].ref);
  }
  batch->sources.len = n_left * sizeof *sources;
}

/* There is no room for it. */
static void
forget_heal(const TideTableAccumulator *table, TideHeal *heal)
{
  const TideHealHandler *handler = table->context->heal_handler;
  guint n_sources;
  const TideSourceRef *sources = tide_heal_sources(heal, &n_sources);
  for (guint i = 0; i < n_sources; i++)
    if (handler->is_owned(sources[i], handler->data))
      handler->forgotten(sources[i], tide_heal_until_us(heal), handler->data);
  tide_counter_inc(table->context->doubt_overflow);
  tide_heal_free(heal);
}

static gboolean
is_waited_for(const TideHealHandler *handler, const TideHeal *heal)
{
  guint n_sources;
  const TideSourceRef *sources = tide_heal_sources(heal, &n_sources);
  for (guint i = 0; i < n_sources; i++)
    if (handler->is_owned(sources[i], handler->data))
      return TRUE;
  return FALSE;
}

static void
keep_heals(TideTableAccumulator *table, GHashTable *heals)
{
  GHashTableIter iter;
  gpointer heal;
  g_hash_table_iter_init(&iter, heals);
  while (g_hash_table_iter_next(&iter, NULL, &heal)) {
    if (!is_waited_for(table->context->heal_handler, heal))
      tide_heal_free(heal); /* its messages are read again, by us or their next owner */
    else if (!tide_heals_keep(table->heals, heal))
      forget_heal(table, heal);
  }
}

/* By row; NULL: nothing is inherited that counts for @batch. (transfer full) */
static TideDoubt *
inherited_by_row(const TideTableAccumulator *table, const TideBatch *batch)
{
  const TideHealHandler *handler = table->context->heal_handler;
  TideDoubt *by_row = NULL;
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    TideDoubt inherited = handler->inherited(sources[i].ref, handler->data);
    if (inherited.until_us <= batch->sealed_us)
      continue;
    if (by_row == NULL)
      by_row = g_new0(TideDoubt, batch->n_rows);
    tide_doubt_add(&by_row[sources[i].row], inherited, batch->sealed_us);
  }
  return by_row;
}

/* Tells the sources of @batch until when its cells are in doubt. */
static void
report_doubt(const TideTableAccumulator *table, const TideBatch *batch, TideDoubt doubt)
{
  const TideHealHandler *handler = table->context->heal_handler;
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++)
    handler->in_doubt(sources[i].ref, doubt, handler->data);
}

/* The latest time of @batch's cells. */
static gint64
last_time_ms(const TideTableAccumulator *table, const TideBatch *batch)
{
  gint64 last_ms = G_MININT64;
  TideBatchCell cell;
  TideBatchCells cells;
  for (guint32 i = 0; i < batch->n_rows; i++)
    if (tide_batch_cells_enter(&cells, table->context->protocol, batch, i))
      while (tide_batch_cells_next(&cells, &cell))
        last_ms = MAX(last_ms, cell.timestamp_ms);
  return last_ms;
}

/* Rows of @batch that were written over cells in doubt become heals. */
static void
judge_rows(TideTableAccumulator *table, TideBatch *batch)
{
  gboolean is_inherited = table->context->inherited_until_us > batch->sealed_us;
  if (G_LIKELY(tide_cells_in_doubt_is_empty(table->in_doubt) && tide_heals_is_empty(table->heals) && !is_inherited))
    return;
  g_autofree TideDoubt *inherited = is_inherited ? inherited_by_row(table, batch) : NULL;
  g_autoptr(GHashTable) heals = g_hash_table_new(NULL, NULL); /* row to TideHeal */
  for (guint32 i = 0; i < batch->n_rows; i++) {
    TideHeal *heal = NULL;
    if (tide_batch_find_poison(batch, i) == NULL && !tide_batch_is_given_up(batch, i))
      heal = judge_row(table, batch, i, inherited != NULL ? inherited[i] : (TideDoubt){0});
    if (heal != NULL)
      g_hash_table_insert(heals, GUINT_TO_POINTER(i), heal);
  }
  if (g_hash_table_size(heals) == 0)
    return;
  move_sources(batch, heals);
  keep_heals(table, heals);
}

/* FALSE: there is no room for all of its cells. */
static gboolean
remember_row(TideTableAccumulator *table, const TideBatch *batch, guint32 row, gint64 until_us)
{
  guint64 key_hash = tide_key_hash(tide_batch_row_key(batch, row));
  gboolean has_room = TRUE;
  TideBatchCell cell;
  TideBatchCells cells;
  if (!tide_batch_cells_enter(&cells, table->context->protocol, batch, row))
    return TRUE;
  while (has_room && tide_batch_cells_next(&cells, &cell)) {
    guint64 identity = tide_cell_identity(key_hash, cell.column_hash, cell.timestamp_ms);
    has_room = tide_cells_in_doubt_add(table->in_doubt, identity, tide_cell_content(cell.value), until_us);
  }
  return has_room;
}

/* Not all cells of @batch are remembered: takes its sources out of it. */
static void
forget_sources(const TideTableAccumulator *table, TideBatch *batch, gint64 until_us)
{
  const TideHealHandler *handler = table->context->heal_handler;
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++)
    handler->forgotten(sources[i].ref, until_us, handler->data);
  batch->sources.len = 0;
  tide_counter_inc(table->context->doubt_overflow);
}

/* The rows of @batch may land once more until @until_us. */
static void
remember_batch(TideTableAccumulator *table, TideBatch *batch, gint64 until_us)
{
  gboolean has_room = TRUE;
  report_doubt(table, batch, (TideDoubt){until_us, last_time_ms(table, batch)});
  for (guint32 i = 0; i < batch->n_rows && has_room; i++)
    has_room = remember_row(table, batch, i, until_us);
  if (!has_room)
    forget_sources(table, batch, until_us);
}

/* HBase refuses what it took before. What its messages have besides may have been overwritten since: by itself it would
 * bring that back. So they are read again, with all that came behind them. */
static void
give_up_refused_heals(TideBatch *batch)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  for (gsize i = 0; batch->is_heal && i < n_poison; i++)
    tide_batch_give_up(batch, poison[i].row);
}

void
tide_table_doubt_judge(TideTableAccumulator *table, TideBatch *batch, gint64 now_us)
{
  gint64 until_us = batch->last_unknown_us + table->context->settle_us;
  gboolean is_in_doubt = batch->last_unknown_us > 0 && until_us > now_us;
  /* First, while it has all its sources. Of its own cells none contradicts another. */
  if (G_UNLIKELY(is_in_doubt))
    remember_batch(table, batch, until_us);
  give_up_refused_heals(batch);
  tide_table_given_up_leave_out(table, batch, now_us);
  judge_rows(table, batch);
}

gboolean
tide_table_doubt_remember_row(TideTableAccumulator *table, const TideRow *row, gint64 until_us)
{
  guint64 key_hash = tide_key_hash(row->key);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    guint64 identity = tide_cell_identity(key_hash, cell->column->hash, cell->timestamp_ms);
    if (!tide_cells_in_doubt_add(table->in_doubt, identity, tide_cell_content(cell->value), until_us))
      return FALSE;
  }
  return TRUE;
}
