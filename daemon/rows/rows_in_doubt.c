#include "rows/rows_in_doubt.h"

#include "write/batch_cells.h"

typedef struct ContestedRow ContestedRow;
typedef struct ContestedCell ContestedCell;

/* A cell that was written over an uncertain one. */
struct ContestedCell {
  ContestedCell *next; /* at the same key */
  ContestedRow *row;   /* NULL: a later value has replaced it */
  guint64 column_hash;
  gint64 timestamp_ms;
};

/* The contested cells of one row of a batch, and the messages of that row. A day row may have hundreds of each, so both
 * are stored once. */
struct ContestedRow {
  guint64 key_hash;
  gint64 until_us;          /* when the first of its cells stops being uncertain */
  GSequenceIter *in_expiry; /* its position in contested_rows */
  TideSourceRef *sources;   /* after the cells: each once */
  guint32 n_sources;
  guint32 n_cells;
  guint32 n_remaining; /* cells that no later value has replaced */
  ContestedCell cells[];
};

/* Sizes including the entries in the table and in the consumer. */
#define CONTESTED_ROW_BYTES (sizeof(ContestedRow) + 64u)
#define CONTESTED_CELL_BYTES (sizeof(ContestedCell) + 40u)
#define CONTESTED_SOURCE_BYTES (sizeof(TideSourceRef) + 40u)

/* A contested cell of a completing batch. */
typedef struct Conflict {
  guint32 row;
  guint64 column_hash;
  gint64 timestamp_ms;
  gint64 until_us;
} Conflict;

/* The contested cells of one row. */
typedef struct Contest {
  guint64 key_hash;
  gint64 until_us; /* the earliest */
  const Conflict *conflicts;
  const TideSourceRef *sources; /* each once */
  guint32 n_conflicts;
  guint32 n_sources;
} Contest;

/* ---- contested cells ---- */

/* The key under which a later value finds a contested cell; few cells share one. */
static gpointer
contested_key_of(const TideTable *table, guint64 key_hash, guint64 column_hash, gint64 timestamp_ms)
{
  if (table->latest == TIDE_LATEST_REPLACE) /* a newer time replaces all columns */
    return GSIZE_TO_POINTER(key_hash);
  return GSIZE_TO_POINTER(
      tide_cell_identity(key_hash, column_hash, table->latest == TIDE_LATEST_NONE ? timestamp_ms : 0));
}

static void
set_first_at(TideTableAccumulator *table, gpointer place, ContestedCell *first)
{
  if (first != NULL)
    g_hash_table_replace(table->contested, place, first);
  else
    g_hash_table_remove(table->contested, place);
}

static gsize
contested_bytes(guint32 n_cells, guint32 n_sources)
{
  return CONTESTED_ROW_BYTES + n_cells * CONTESTED_CELL_BYTES + n_sources * CONTESTED_SOURCE_BYTES;
}

static int
compare_expiry(gconstpointer a, gconstpointer b, gpointer unused)
{
  const ContestedRow *first = a, *second = b;
  return first->until_us < second->until_us ? -1 : first->until_us > second->until_us ? 1 : 0;
}

/* Returns FALSE if there is no room. */
static gboolean
watch(TideTableAccumulator *table, const Contest *contest)
{
  guint32 n_cells = contest->n_conflicts, n_sources = contest->n_sources;
  if (!tide_budget_try_charge(table->context->doubt, contested_bytes(n_cells, n_sources)))
    return FALSE;
  ContestedRow *row =
      g_malloc(sizeof(ContestedRow) + n_cells * sizeof(ContestedCell) + n_sources * sizeof(TideSourceRef));
  *row = (ContestedRow){.key_hash = contest->key_hash,
                        .until_us = contest->until_us,
                        .sources = (TideSourceRef *)(void *)&row->cells[n_cells],
                        .n_sources = n_sources,
                        .n_cells = n_cells,
                        .n_remaining = n_cells};
  memcpy(row->sources, contest->sources, n_sources * sizeof *row->sources);
  for (guint32 i = 0; i < n_cells; i++) {
    const Conflict *conflict = &contest->conflicts[i];
    gpointer place = contested_key_of(table->table, row->key_hash, conflict->column_hash, conflict->timestamp_ms);
    row->cells[i] = (ContestedCell){g_hash_table_lookup(table->contested, place), row, conflict->column_hash,
                                    conflict->timestamp_ms};
    set_first_at(table, place, &row->cells[i]);
  }
  row->in_expiry = g_sequence_insert_sorted(table->contested_rows, row, compare_expiry, NULL);
  return TRUE;
}

/* All cells of @row have been removed from the table. */
static void
free_row(TideTableAccumulator *table, ContestedRow *row)
{
  g_sequence_remove(row->in_expiry);
  tide_budget_charge(table->context->doubt, -(gint64)contested_bytes(row->n_cells, row->n_sources));
  g_free(row);
}

static void
unwatch(TideTableAccumulator *table, ContestedRow *row)
{
  for (guint32 i = 0; i < row->n_cells; i++) {
    const ContestedCell *cell = &row->cells[i];
    if (cell->row == NULL)
      continue;
    gpointer place = contested_key_of(table->table, row->key_hash, cell->column_hash, cell->timestamp_ms);
    ContestedCell *first = g_hash_table_lookup(table->contested, place), **link = &first;
    while (*link != cell)
      link = &(*link)->next;
    *link = cell->next;
    set_first_at(table, place, first);
  }
  free_row(table, row);
}

/* Whether @written, a later value at the same key, replaces @cell, which then needs no watching. */
static gboolean
is_replaced(const ContestedCell *cell, const TideBatchCell *written)
{
  if (cell->timestamp_ms == written->timestamp_ms)
    return cell->column_hash == written->column_hash;
  return cell->timestamp_ms < written->timestamp_ms;
}

static void
add_findings(GArray *findings, TideFinding finding, const TideSourceRef *sources, guint32 n_sources)
{
  for (guint32 i = 0; i < n_sources; i++) {
    finding.source = sources[i];
    g_array_append_val(findings, finding);
  }
}

static void
replace_contested(TideTableAccumulator *table, guint64 key_hash, const TideBatchCell *written, GArray *findings)
{
  gpointer place = contested_key_of(table->table, key_hash, written->column_hash, written->timestamp_ms);
  ContestedCell *first = g_hash_table_lookup(table->contested, place), **link = &first;
  if (first == NULL)
    return;
  while (*link != NULL) {
    ContestedCell *cell = *link;
    if (!is_replaced(cell, written)) {
      link = &cell->next;
      continue;
    }
    *link = cell->next;
    ContestedRow *row = g_steal_pointer(&cell->row);
    if (--row->n_remaining > 0)
      continue;
    add_findings(findings, (TideFinding){.kind = TIDE_FOUND_REPLACED, .until_us = row->until_us}, row->sources,
                 row->n_sources);
    free_row(table, row);
  }
  set_first_at(table, place, first);
}

void
tide_rows_in_doubt_expire(TideTableAccumulator *table, gint64 now_us)
{
  while (!g_sequence_is_empty(table->contested_rows)) {
    ContestedRow *first = g_sequence_get(g_sequence_get_begin_iter(table->contested_rows));
    if (first->until_us > now_us)
      break;
    unwatch(table, first);
  }
}

void
tide_rows_in_doubt_clear(TideTableAccumulator *table)
{
  tide_rows_in_doubt_expire(table, G_MAXINT64);
}

/* ---- rows written over uncertain cells ---- */

/* Finds the cells of @row of @batch that were written over uncertain ones. @inherited: uncertain writes of earlier
 * owners of its partitions, with unknown values */
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
    gint64 until_us = tide_cells_in_doubt_conflict_us(table->in_doubt, identity, tide_cell_content(cell.value),
                                                      batch->times.sealed_us);
    if (inherited.until_us > batch->times.sealed_us && cell.timestamp_ms <= inherited.time_ms)
      until_us = MAX(until_us, inherited.until_us);
    if (g_hash_table_size(table->contested) > 0)
      replace_contested(table, key_hash, &cell, findings);
    if (until_us == 0)
      continue;
    Conflict conflict = {row, cell.column_hash, cell.timestamp_ms, until_us};
    g_array_append_val(conflicts, conflict);
    tide_counter_inc(table->cells_conflicting);
  }
}

/* Removes adjacent duplicates. Returns the remaining number. */
static guint32
merge_same(TideSourceRef *refs, guint32 n_refs)
{
  guint32 n = 0;
  for (guint32 i = 0; i < n_refs; i++)
    if (n == 0 || refs[n - 1].sequence != refs[i].sequence || refs[n - 1].assignment != refs[i].assignment)
      refs[n++] = refs[i];
  return n;
}

static void
contest_row(TideTableAccumulator *table, const Contest *contest, GArray *findings)
{
  TideFinding finding = {.kind = TIDE_FOUND_CONTESTED, .is_watched = watch(table, contest)};
  finding.until_us = contest->until_us;
  if (!finding.is_watched)
    tide_counter_inc(table->context->doubt_overflow);
  add_findings(findings, finding, contest->sources, contest->n_sources);
}

/* Contests the rows of @batch that have @conflicts, which are sorted by row. */
static void
contest_rows(TideTableAccumulator *table, const TideBatch *batch, const GArray *conflicts, GArray *findings)
{
  gsize n_sources;
  const TideBatchSource *sources = tide_batch_sources(batch, &n_sources);
  g_autofree TideSourceRef *refs = g_new(TideSourceRef, n_sources); /* sorted by row */
  g_autofree guint32 *ends = g_new0(guint32, batch->n_rows + 1);    /* end of each row's */
  for (gsize i = 0; i < n_sources; i++)
    ends[sources[i].row + 1]++;
  for (guint32 row = 0; row < batch->n_rows; row++)
    ends[row + 1] += ends[row];
  for (gsize i = 0; i < n_sources; i++)
    refs[ends[sources[i].row]++] = sources[i].ref;
  for (guint i = 0; i < conflicts->len;) {
    const Conflict *first = &g_array_index(conflicts, Conflict, i);
    guint32 row = first->row, begin = row > 0 ? ends[row - 1] : 0;
    Contest contest = {.key_hash = tide_key_hash(tide_batch_row_key(batch, row)),
                       .until_us = first->until_us,
                       .conflicts = first,
                       .sources = &refs[begin],
                       /* A message's sources within a row are adjacent. */
                       .n_sources = merge_same(&refs[begin], ends[row] - begin)};
    for (; i < conflicts->len && g_array_index(conflicts, Conflict, i).row == row; i++) {
      contest.until_us = MIN(contest.until_us, g_array_index(conflicts, Conflict, i).until_us);
      contest.n_conflicts++;
    }
    contest_row(table, &contest, findings);
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
    contest_rows(table, batch, conflicts, findings);
}

/* ---- rows that may land again ---- */

/* Remembers the cells of @batch, which may land again until @until_us. Returns FALSE if there is no room for all of
 * them. @ret_last_ms: the latest time of its cells */
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
  gint64 until_us = batch->times.last_unknown_us + table->context->settle_us;
  /* The batch's own cells do not conflict, so it does not matter that they are already uncertain. */
  if (G_UNLIKELY(batch->times.last_unknown_us > 0 && until_us > now_us)) {
    gint64 last_ms;
    if (!remember_batch(table, batch, until_us, &last_ms))
      forget_batch(table, batch, until_us, findings);
    doubt = (TideDoubt){until_us, last_ms};
  }
  if (!tide_batch_is_cancelled(batch)) /* a cancelled batch counts as unwritten, although a call may have carried it */
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
