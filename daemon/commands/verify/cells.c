#include "commands/verify/cells.h"

/* Linear probing: when 7/8 full, an absent key is detected after some thirty adjacent slots. */
#define FULL_EIGHTHS 7u

#define COLUMN_FACTOR G_GUINT64_CONSTANT(0x9E3779B97F4A7C15) /* 2^64 by the golden ratio */

struct TideVerifyCells {
  TideVerifyEntry *slots; /* owned */
  gsize n_slots;
  gsize n_used;
  gsize max_used;
  guint64 first; /* the rows of this pass */
  guint64 last;
  gboolean is_overrun;
};

TideVerifyCells *
tide_verify_cells_new(gsize memory_bytes)
{
  g_autoptr(TideVerifyCells) cells = g_new0(TideVerifyCells, 1);
  cells->n_slots = MAX(memory_bytes / sizeof(TideVerifyEntry), 8);
  cells->max_used = cells->n_slots / 8 * FULL_EIGHTHS;
  cells->slots = g_try_new0(TideVerifyEntry, cells->n_slots);
  if (cells->slots == NULL)
    return NULL;
  cells->last = G_MAXUINT64;
  return g_steal_pointer(&cells);
}

void
tide_verify_cells_free(TideVerifyCells *cells)
{
  if (cells == NULL)
    return;
  g_free(cells->slots);
  g_free(cells);
}

void
tide_verify_cells_begin(TideVerifyCells *cells, guint64 first, guint64 last)
{
  if (cells->n_used > 0)
    memset(cells->slots, 0, cells->n_slots * sizeof *cells->slots);
  cells->n_used = 0;
  cells->first = first;
  cells->last = last;
}

guint64
tide_verify_cells_last(const TideVerifyCells *cells)
{
  return cells->last;
}

gboolean
tide_verify_cells_is_overrun(const TideVerifyCells *cells)
{
  return cells->is_overrun;
}

gboolean
tide_verify_cells_takes(const TideVerifyCells *cells, TideVerifyRow row)
{
  return row.high >= cells->first && row.high <= cells->last;
}

/* ---- slots ---------------------------------------------------------------------------------------------------------
 */

/* The entries of a column start here and extend to the first free slot, with others in between. Independent of
 * row.high, which determines passes. */
static gsize
home_of(const TideVerifyCells *cells, TideVerifyRow row, guint64 column)
{
  guint64 mixed = row.low ^ (column * COLUMN_FACTOR);
  return (gsize)(((unsigned __int128)mixed * cells->n_slots) >> 64);
}

static gsize
next_slot(const TideVerifyCells *cells, gsize slot)
{
  return slot + 1 == cells->n_slots ? 0 : slot + 1;
}

/* Frees @hole and closes the gap: a later entry moves up unless that would put it before its home. */
static void
remove_at(TideVerifyCells *cells, gsize hole)
{
  TideVerifyEntry *slots = cells->slots;
  for (gsize at = next_slot(cells, hole); slots[at].kind != TIDE_VERIFY_FREE; at = next_slot(cells, at)) {
    gsize home = home_of(cells, slots[at].row, slots[at].column);
    gboolean is_between = hole < at ? home > hole && home <= at : home > hole || home <= at;
    if (is_between)
      continue;
    slots[hole] = slots[at];
    hole = at;
  }
  slots[hole] = (TideVerifyEntry){0};
  cells->n_used--;
}

/* Leaves the rows in the upper half of the range to a later pass. */
static void
halve_range(TideVerifyCells *cells)
{
  cells->last = cells->first + (cells->last - cells->first) / 2;
  gsize start = 0;
  while (cells->slots[start].kind != TIDE_VERIFY_FREE)
    start++;
  /* Starting after a free slot, entries that move up have not been visited yet. */
  gsize slot = next_slot(cells, start);
  for (gsize i = 1; i < cells->n_slots; i++, slot = next_slot(cells, slot))
    while (cells->slots[slot].kind != TIDE_VERIFY_FREE && cells->slots[slot].row.high > cells->last)
      remove_at(cells, slot);
}

/* Makes room for one entry of @row. FALSE when the row does not, or no longer, belong to this pass. */
static gboolean
make_room(TideVerifyCells *cells, TideVerifyRow row)
{
  while (cells->n_used >= cells->max_used && cells->first < cells->last)
    halve_range(cells);
  if (!tide_verify_cells_takes(cells, row))
    return FALSE;
  if (cells->n_used < cells->max_used)
    return TRUE;
  cells->is_overrun = TRUE;
  return FALSE;
}

static void
insert(TideVerifyCells *cells, const TideVerifyEntry *entry, TideVerifyKind kind)
{
  gsize slot = home_of(cells, entry->row, entry->column);
  while (cells->slots[slot].kind != TIDE_VERIFY_FREE)
    slot = next_slot(cells, slot);
  cells->slots[slot] = *entry;
  cells->slots[slot].kind = (guint8)kind;
  cells->n_used++;
}

const TideVerifyEntry *
tide_verify_cells_next(const TideVerifyCells *cells, gsize *position)
{
  while (*position < cells->n_slots) {
    const TideVerifyEntry *entry = &cells->slots[(*position)++];
    if (entry->kind != TIDE_VERIFY_FREE)
      return entry;
  }
  return NULL;
}

TideVerifyColumn
tide_verify_cells_column(const TideVerifyCells *cells, TideVerifyRow row, guint64 column)
{
  return (TideVerifyColumn){cells, row, column, home_of(cells, row, column)};
}

TideVerifyEntry *
tide_verify_column_next(TideVerifyColumn *column)
{
  for (;;) {
    TideVerifyEntry *entry = &column->cells->slots[column->slot];
    if (entry->kind == TIDE_VERIFY_FREE)
      return NULL;
    column->slot = next_slot(column->cells, column->slot);
    if (entry->row.low == column->row.low && entry->row.high == column->row.high && entry->column == column->column)
      return entry;
  }
}

/* ---- input
 * -------------------------------------------------------------------------------------------------------- */

/* Removes the entries expected at @time_ms in the column of @cell. */
static void
forget_time(TideVerifyCells *cells, const TideVerifyEntry *cell, gint64 time_ms)
{
  TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
  for (;;) {
    gsize begin = column.slot;
    const TideVerifyEntry *entry = tide_verify_column_next(&column);
    if (entry == NULL)
      return;
    if ((entry->kind != TIDE_VERIFY_EXPECTED && entry->kind != TIDE_VERIFY_LOST) || entry->time_ms != time_ms)
      continue;
    remove_at(cells, (gsize)(entry - cells->slots));
    column.slot = begin; /* other entries have moved up */
  }
}

/* Replaces @entry, of the same partition, by @cell. */
static void
replace_expected(TideVerifyCells *cells, TideVerifyEntry *entry, const TideVerifyEntry *cell)
{
  const TideVerifyEntry before = *entry;
  gboolean is_same_message = before.source == cell->source, is_other_value = before.value != cell->value;
  gboolean is_known = before.identity != 0 && cell->identity != 0;
  gboolean is_same_reading = is_known && before.identity == cell->identity;
  entry->is_contested = is_same_message && (before.is_contested || is_other_value) ? 1 : 0;
  entry->is_corrected |= is_same_reading && is_other_value && !is_same_message ? 1 : 0;
  entry->is_shared = !is_other_value && (before.is_shared || (is_known && !is_same_reading)) ? 1 : 0;
  entry->value = cell->value;
  entry->source = cell->source;
  entry->identity = cell->identity;
  /* Several readings shared the old value: only one is corrected, and the value of the others is lost. */
  if (!tide_verify_entries_clash(&before, cell) && !(before.is_shared && is_other_value))
    return;
  TideVerifyEntry *lost;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
       (lost = tide_verify_column_next(&column)) != NULL;)
    if (lost->kind == TIDE_VERIFY_LOST && lost->time_ms == cell->time_ms &&
        tide_verify_source_partition(lost->source) == tide_verify_source_partition(cell->source)) {
      lost->value = before.value;
      lost->source = before.source;
      lost->identity = before.identity;
      return;
    }
  insert(cells, &before, TIDE_VERIFY_LOST);
}

void
tide_verify_cells_expect(TideVerifyCells *cells, const TideVerifyEntry *cell, guint versions)
{
  if (!make_room(cells, cell->row))
    return;
  guint partition = tide_verify_source_partition(cell->source);
  gint64 times[TIDE_VERIFY_MAX_VERSIONS], oldest = G_MAXINT64; /* times expected in its column */
  guint n_times = 0;
  gboolean holds_time = FALSE;
  TideVerifyEntry *entry;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
       (entry = tide_verify_column_next(&column)) != NULL;) {
    if (entry->kind != TIDE_VERIFY_EXPECTED)
      continue;
    if (entry->time_ms == cell->time_ms && tide_verify_source_partition(entry->source) == partition) {
      replace_expected(cells, entry, cell);
      return;
    }
    gboolean is_new = TRUE;
    for (guint i = 0; i < n_times; i++)
      is_new = is_new && times[i] != entry->time_ms;
    if (!is_new)
      continue;
    g_assert(n_times < G_N_ELEMENTS(times));
    times[n_times++] = entry->time_ms;
    oldest = MIN(oldest, entry->time_ms);
    holds_time = holds_time || entry->time_ms == cell->time_ms;
  }
  if (!holds_time && n_times >= CLAMP(versions, 1, TIDE_VERIFY_MAX_VERSIONS)) {
    if (cell->time_ms < oldest)
      return;
    forget_time(cells, cell, oldest);
  }
  insert(cells, cell, TIDE_VERIFY_EXPECTED);
}

void
tide_verify_cells_allow(TideVerifyCells *cells, const TideVerifyEntry *cell)
{
  if (!make_room(cells, cell->row))
    return;
  TideVerifyEntry *entry;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
       (entry = tide_verify_column_next(&column)) != NULL;)
    if (entry->kind == TIDE_VERIFY_POSSIBLE && entry->time_ms == cell->time_ms && entry->value == cell->value)
      return;
  insert(cells, cell, TIDE_VERIFY_POSSIBLE);
}

void
tide_verify_cells_find(TideVerifyCells *cells, const TideVerifyEntry *cell)
{
  if (!make_room(cells, cell->row))
    return;
  gboolean is_matched = FALSE;
  TideVerifyColumn of_row = tide_verify_cells_column(cells, cell->row, 0);
  TideVerifyEntry *entry = tide_verify_column_next(&of_row);
  /* If the row is deleted up to its time or later, the cell must not exist, however old it is. */
  gboolean is_of_use = !cell->is_outside || (entry != NULL && cell->time_ms <= entry->time_ms);
  for (TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
       (entry = tide_verify_column_next(&column)) != NULL;) {
    is_of_use = is_of_use || entry->kind == TIDE_VERIFY_EXPECTED;
    if (entry->time_ms != cell->time_ms || entry->kind == TIDE_VERIFY_LOST)
      continue;
    if (entry->kind == TIDE_VERIFY_FOUND) {
      entry->value = cell->value; /* read again: the current value */
      return;
    }
    if (entry->value != cell->value)
      continue;
    entry->is_matched = TRUE;
    is_matched = TRUE;
  }
  if (!is_matched && is_of_use)
    insert(cells, cell, TIDE_VERIFY_FOUND);
}

void
tide_verify_cells_explain(TideVerifyCells *cells, const TideVerifyEntry *cell)
{
  TideVerifyEntry *entry;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, cell->row, cell->column);
       (entry = tide_verify_column_next(&column)) != NULL;)
    if (entry->kind == TIDE_VERIFY_FOUND && entry->time_ms == cell->time_ms && entry->value == cell->value) {
      entry->is_explained = TRUE;
      entry->identity = cell->identity;
    }
}

void
tide_verify_cells_delete(TideVerifyCells *cells, TideVerifyRow row, gint64 time_ms, gboolean surely)
{
  if (!make_room(cells, row))
    return;
  TideVerifyColumn column = tide_verify_cells_column(cells, row, 0);
  TideVerifyEntry *entry = tide_verify_column_next(&column);
  if (entry == NULL) {
    TideVerifyEntry made = {.row = row, .time_ms = surely ? time_ms : -1, .value = (guint64)time_ms};
    insert(cells, &made, TIDE_VERIFY_DELETED);
    return;
  }
  if (surely)
    entry->time_ms = MAX(entry->time_ms, time_ms);
  entry->value = (guint64)MAX((gint64)entry->value, time_ms);
}
