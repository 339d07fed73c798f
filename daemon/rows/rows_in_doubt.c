#include "rows/rows_in_doubt.h"

#include "write/batch_cells.h"

/* A cell that was written over a cell in doubt, for one of the messages that made its row. */
typedef struct Contested Contested;
struct Contested {
  Contested *next; /* of the same row */
  guint64 column_hash;
  gint64 timestamp_ms;
  gint64 until_us;
  TideSourceRef source;
};

/* With its place in the table, and what the consumer keeps for its message. */
#define CONTESTED_BYTES (sizeof(Contested) + 64u)

/* ---- contested cells ---- */

static gpointer
row_of(guint64 key_hash)
{
  return GSIZE_TO_POINTER(key_hash);
}

/* FALSE: there is no room for it. */
static gboolean
watch(TideTableAccumulator *table, guint64 key_hash, const Contested *cell)
{
  if (!tide_budget_try_charge(table->context->doubt, CONTESTED_BYTES))
    return FALSE;
  Contested *watched = g_new(Contested, 1);
  *watched = *cell;
  watched->next = g_hash_table_lookup(table->contested, row_of(key_hash));
  g_hash_table_replace(table->contested, row_of(key_hash), watched);
  return TRUE;
}

static void
unwatch(TideTableAccumulator *table, Contested *cell)
{
  tide_budget_charge(table->context->doubt, -(gint64)CONTESTED_BYTES);
  g_free(cell);
}

/* Whether @written, a later value, stands for @cell, which needs no watching any more. */
static gboolean
is_replaced(const TideTable *table, const Contested *cell, const TideBatchCell *written)
{
  if (cell->timestamp_ms == written->timestamp_ms)
    return cell->column_hash == written->column_hash;
  return table->latest != TIDE_LATEST_NONE && cell->timestamp_ms < written->timestamp_ms &&
         (table->latest == TIDE_LATEST_REPLACE || cell->column_hash == written->column_hash);
}

static void
replace_contested(TideTableAccumulator *table, guint64 key_hash, const TideBatchCell *written, GArray *findings)
{
  Contested *first = g_hash_table_lookup(table->contested, row_of(key_hash)), *left = NULL;
  gboolean any = FALSE;
  for (Contested *cell = first, *next; cell != NULL; cell = next) {
    next = cell->next;
    if (is_replaced(table->table, cell, written)) {
      TideFinding finding = {.kind = TIDE_FOUND_REPLACED, .source = cell->source, .until_us = cell->until_us};
      g_array_append_val(findings, finding);
      unwatch(table, cell);
      any = TRUE;
      continue;
    }
    cell->next = left;
    left = cell;
  }
  if (left != NULL)
    g_hash_table_replace(table->contested, row_of(key_hash), left);
  else if (any)
    g_hash_table_remove(table->contested, row_of(key_hash));
}

/* Drops those whose doubt is over at @now_us. */
static void
drop_contested(TideTableAccumulator *table, gint64 now_us)
{
  GHashTableIter iter;
  gpointer first;
  g_hash_table_iter_init(&iter, table->contested);
  while (g_hash_table_iter_next(&iter, NULL, &first)) {
    Contested *left = NULL;
    for (Contested *cell = first, *next; cell != NULL; cell = next) {
      next = cell->next;
      if (cell->until_us <= now_us) {
        unwatch(table, cell);
        continue;
      }
      cell->next = left;
      left = cell;
    }
    if (left != NULL)
      g_hash_table_iter_replace(&iter, left);
    else
      g_hash_table_iter_remove(&iter);
  }
}

void
tide_rows_in_doubt_expire(TideTableAccumulator *table, gint64 now_us)
{
  if (g_hash_table_size(table->contested) > 0)
    drop_contested(table, now_us);
}

void
tide_rows_in_doubt_clear(TideTableAccumulator *table)
{
  drop_contested(table, G_MAXINT64);
}

/* ---- rows that were written over cells in doubt ---- */

typedef struct Conflict {
  guint32 row;
  guint64 key_hash;
  Contested cell; /* its source is still to be filled in */
} Conflict;

/* What of @row of @batch was written over cells in doubt. @inherited: what owners before us left in doubt of its
 * partitions; they do not say which values */
static void
judge_row(TideTableAccumulator *table, const TideBatch *batch, guint32 row, TideDoubt inherited, GArray *conflicts,
          GArray *findings)
{
  TideBatchCell cell;
  TideBatchCells cells;
  if (!tide_batch_cells_enter(&cells, table->context->protocol, batch, row))
    return;
  guint64 key_hash = tide_key_hash(tide_batch_row_key(batch, row));
  while (tide_batch_cells_next(&cells, &cell)) {
    guint64 identity = tide_cell_identity(key_hash, cell.column_hash, cell.timestamp_ms);
    gint64 until_us =
        tide_cells_in_doubt_conflict_us(table->in_doubt, identity, tide_cell_content(cell.value), batch->sealed_us);
    if (inherited.until_us > batch->sealed_us && cell.timestamp_ms <= inherited.time_ms)
      until_us = MAX(until_us, inherited.until_us);
    if (g_hash_table_size(table->contested) > 0)
      replace_contested(table, key_hash, &cell, findings);
    if (until_us == 0)
      continue;
    Conflict conflict = {row, key_hash, {NULL, cell.column_hash, cell.timestamp_ms, until_us, {0}}};
    g_array_append_val(conflicts, conflict);
    tide_counter_inc(table->cells_conflicting);
  }
}

/* Watches the cells of @conflicts, which are in the order of their rows, for each message that made their row. */
static void
contest(TideTableAccumulator *table, const TideBatch *batch, const GArray *conflicts, GArray *findings)
{
  g_autofree guint *first_of = g_new(guint, batch->n_rows + 1); /* of each row's conflicts */
  guint next = 0;
  for (guint32 row = 0; row <= batch->n_rows; row++) {
    while (next < conflicts->len && g_array_index(conflicts, Conflict, next).row < row)
      next++;
    first_of[row] = next;
  }
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++)
    for (guint c = first_of[sources[i].row]; c < first_of[sources[i].row + 1]; c++) {
      const Conflict *conflict = &g_array_index(conflicts, Conflict, c);
      Contested cell = conflict->cell;
      cell.source = sources[i].ref;
      TideFinding finding = {TIDE_FOUND_CONTESTED, watch(table, conflict->key_hash, &cell), cell.source, cell.until_us};
      g_array_append_val(findings, finding);
    }
}

static void
judge_rows(TideTableAccumulator *table, const TideBatch *batch, const TideDoubt *inherited, GArray *findings)
{
  if (G_LIKELY(tide_cells_in_doubt_is_empty(table->in_doubt) && g_hash_table_size(table->contested) == 0 &&
               inherited == NULL))
    return;
  g_autoptr(GArray) conflicts = g_array_new(FALSE, FALSE, sizeof(Conflict));
  for (guint32 i = 0; i < batch->n_rows; i++)
    if (tide_batch_find_poison(batch, i) == NULL)
      judge_row(table, batch, i, inherited != NULL ? inherited[i] : (TideDoubt){0}, conflicts, findings);
  if (conflicts->len > 0)
    contest(table, batch, conflicts, findings);
}

/* ---- rows that may land once more ---- */

/* Remembers the cells of @batch, which may land once more until @until_us. FALSE: there is no room for all of them.
 * @ret_last_ms: the latest time of its cells */
static gboolean
remember_batch(TideTableAccumulator *table, const TideBatch *batch, gint64 until_us, gint64 *ret_last_ms)
{
  gboolean has_room = TRUE;
  TideBatchCell cell;
  TideBatchCells cells;
  *ret_last_ms = G_MININT64;
  for (guint32 row = 0; row < batch->n_rows; row++) {
    guint64 key_hash = tide_key_hash(tide_batch_row_key(batch, row));
    if (!tide_batch_cells_enter(&cells, table->context->protocol, batch, row))
      continue;
    while (tide_batch_cells_next(&cells, &cell)) {
      guint64 identity = tide_cell_identity(key_hash, cell.column_hash, cell.timestamp_ms);
      has_room =
          has_room && tide_cells_in_doubt_add(table->in_doubt, identity, tide_cell_content(cell.value), until_us);
      *ret_last_ms = MAX(*ret_last_ms, cell.timestamp_ms);
    }
  }
  return has_room;
}

static void
forget_batch(const TideTableAccumulator *table, const TideBatch *batch, gint64 until_us, GArray *findings)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  for (gsize i = 0; i < n_sources; i++) {
    TideFinding finding = {.kind = TIDE_FOUND_FORGOTTEN, .source = sources[i].ref, .until_us = until_us};
    g_array_append_val(findings, finding);
  }
  tide_counter_inc(table->context->doubt_overflow);
}

TideDoubt
tide_rows_in_doubt_judge(TideTableAccumulator *table, const TideBatch *batch, const TideDoubt *inherited, gint64 now_us,
                         GArray *findings)
{
  TideDoubt doubt = {0};
  gint64 until_us = batch->last_unknown_us + table->context->settle_us;
  /* Of its own cells none contradicts another, so it does not matter that they are in doubt already. */
  if (G_UNLIKELY(batch->last_unknown_us > 0 && until_us > now_us)) {
    gint64 last_ms;
    if (!remember_batch(table, batch, until_us, &last_ms))
      forget_batch(table, batch, until_us, findings);
    doubt = (TideDoubt){until_us, last_ms};
  }
  if (!tide_batch_is_cancelled(batch)) /* else it counts as not written, though a call may have carried it */
    judge_rows(table, batch, inherited, findings);
  return doubt;
}

gboolean
tide_rows_in_doubt_remember(TideTableAccumulator *table, const TideRow *row, gint64 until_us)
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
