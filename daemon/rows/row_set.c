#include "rows/row_set.h"

#include "rows/row_set_private.h"
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"

/* A put of more cells than this is closed and another row begun: HBase takes a row lock for each put, and looking for a
 * cell to replace is a walk along the row. */
#define MAX_CELLS_OF_A_ROW 1024u

/* Replaced cells are squeezed out when they are at least this much and half of all. */
#define MIN_WASTE_BYTES (64u * 1024)

void
tide_row_set_init(TideRowSet *set, TideBudget *budget, TideWireProtocol protocol, TideMergeRule rule,
                  const GPtrArray *families)
{
  *set = (TideRowSet){.budget = budget, .protocol = protocol, .rule = rule, .families = families};
}

void
tide_row_set_charge(TideRowSet *set)
{
  gint64 held = (gint64)(set->bytes.capacity + set->rows.capacity + set->cells.capacity + set->sources.capacity +
                         set->followers.capacity + set->index.capacity);
  if (held == set->charged_bytes)
    return;
  tide_budget_charge(set->budget, held - set->charged_bytes);
  set->charged_bytes = held;
}

void
tide_row_set_clear(TideRowSet *set)
{
  tide_buffer_clear_memory(&set->bytes);
  tide_buffer_clear_memory(&set->rows);
  tide_buffer_clear_memory(&set->cells);
  tide_buffer_clear_memory(&set->sources);
  tide_buffer_clear_memory(&set->followers);
  tide_buffer_clear_memory(&set->index);
  tide_row_set_charge(set);
  tide_row_set_init(set, set->budget, set->protocol, set->rule, set->families);
}

/* ---- index: key hash -> the newest row with that key ---- */

static guint32 *
index_slot(const TideRowSet *set, guint64 key_hash, TideBytes key)
{
  guint32 *slots = (guint32 *)(void *)set->index.data;
  gsize mask = set->index.len / sizeof *slots - 1;
  gsize place = key_hash & mask;
  for (; slots[place] != 0; place = (place + 1) & mask) {
    const OpenRow *row = &rows_of(set)[slots[place] - 1];
    if (row->key_hash == key_hash && tide_bytes_equal(tide_bytes(set->bytes.data + row->key_offset, row->key_len), key))
      break;
  }
  return &slots[place];
}

static void
index_rebuild(TideRowSet *set, gsize capacity)
{
  set->index.len = 0;
  memset(tide_buffer_reserve(&set->index, capacity * sizeof(guint32)), 0, capacity * sizeof(guint32));
  set->index.len = capacity * sizeof(guint32);
  for (guint32 i = 0; i < set->n_rows; i++) {
    const OpenRow *row = &rows_of(set)[i];
    *index_slot(set, row->key_hash, tide_bytes(set->bytes.data + row->key_offset, row->key_len)) = i + 1;
  }
}

static void
index_make_room(TideRowSet *set)
{
  gsize capacity = set->index.len / sizeof(guint32);
  if ((set->n_rows + 1) * 2 > capacity)
    index_rebuild(set, MAX(capacity * 2, 16));
}

/* ---- cells ---- */

/* Whether @cell, of the column with @prefix (empty: told by its hash alone), takes the place of @candidate or gives way
 * to it. */
static inline gboolean
cells_meet(const TideRowSet *set, const OpenCell *candidate, const OpenCell *cell, TideBytes prefix)
{
  return candidate->column_hash == cell->column_hash &&
         (set->rule == TIDE_MERGE_NEWEST || candidate->timestamp_ms == cell->timestamp_ms) &&
         candidate->len >= prefix.len &&
         tide_memory_equal(set->bytes.data + candidate->offset, prefix.data, prefix.len);
}

/* The cell of @row that @cell meets; NULL: none.
 * @likely: (inout): where to look first; behind the one that was found, then. The readings of a machine have their
 *     columns in one order, so the walk along the row is for the exceptions. */
static OpenCell *
find_cell(const TideRowSet *set, const OpenRow *row, const OpenCell *cell, TideBytes prefix, guint32 *likely)
{
  OpenCell *cells = cells_of(set);
  OpenCell *found = NULL;
  if (*likely != NO_CELL && cells_meet(set, &cells[*likely], cell, prefix))
    found = &cells[*likely];
  for (guint32 i = row->first_cell; i != NO_CELL && found == NULL; i = cells[i].next)
    if (cells_meet(set, &cells[i], cell, prefix))
      found = &cells[i];
  if (found != NULL)
    *likely = found->next;
  return found;
}

/* @cell stands encoded at the end of bytes; @old gives way to it. */
static void
replace_cell(TideRowSet *set, OpenRow *row, OpenCell *old, const OpenCell *cell)
{
  row->cells_bytes = row->cells_bytes - old->len + cell->len;
  set->encoded_bytes = set->encoded_bytes - old->len + cell->len;
  old->timestamp_ms = cell->timestamp_ms;
  old->len = cell->len;
  if (cell->len <= old->room) {
    memcpy(set->bytes.data + old->offset, set->bytes.data + cell->offset, cell->len);
    set->bytes.len = cell->offset;
  } else {
    set->wasted_bytes += old->room;
    old->offset = cell->offset;
    old->room = cell->room;
  }
}

/* A place in cells, for @cell. */
static guint32
place_cell(TideRowSet *set, const OpenCell *cell)
{
  if (set->free_cell == 0) {
    tide_buffer_append(&set->cells, cell, sizeof *cell);
    return set->n_cells++;
  }
  guint32 place = set->free_cell - 1;
  set->free_cell = cells_of(set)[place].next;
  cells_of(set)[place] = *cell;
  return place;
}

/* Hangs @cell, encoded somewhere in bytes, on the end of @row. */
static void
link_cell(TideRowSet *set, OpenRow *row, const OpenCell *cell)
{
  guint32 place = place_cell(set, cell);
  cells_of(set)[place].next = NO_CELL;
  if (row->n_cells == 0)
    row->first_cell = place;
  else
    cells_of(set)[row->last_cell].next = place;
  row->last_cell = place;
  row->n_cells++;
  row->cells_bytes += cell->len;
  set->encoded_bytes += cell->len;
}

/* The usual case of a latest table: @cell is newer than the one where it is looked for first, and is encoded over it.
 * FALSE: not so, nothing was done. */
static gboolean
overwrite_likely(TideRowSet *set, OpenRow *row, const TideCell *cell, guint32 *likely)
{
  TideBytes prefix = cell->column->prefix;
  if (set->rule != TIDE_MERGE_NEWEST || *likely == NO_CELL)
    return FALSE;
  OpenCell *old = &cells_of(set)[*likely];
  OpenCell newer = {.column_hash = cell->column->hash, .timestamp_ms = cell->timestamp_ms};
  if (old->timestamp_ms >= newer.timestamp_ms || tide_cell_size_max(prefix, cell->value.len) > old->room ||
      !cells_meet(set, old, &newer, prefix))
    return FALSE;
  TideBuffer place = {.data = set->bytes.data + old->offset, .capacity = old->room};
  tide_cell_append(set->protocol, &place, prefix, cell->value, cell->timestamp_ms);
  row->cells_bytes += (guint32)place.len - old->len;
  set->encoded_bytes += place.len - old->len;
  old->timestamp_ms = cell->timestamp_ms;
  old->len = (guint32)place.len;
  *likely = old->next;
  return TRUE;
}

/* Two cells of one row, column and time: whether their values are different, and so their encodings. */
static gboolean
cells_differ(const TideRowSet *set, const OpenCell *a, const OpenCell *b)
{
  return a->len != b->len || memcmp(set->bytes.data + a->offset, set->bytes.data + b->offset, a->len) != 0;
}

/* Takes @cell, encoded at the end of bytes, into @row by the set's rule. @likely: see find_cell() */
static void
take_cell(TideRowSet *set, OpenRow *row, const OpenCell *cell, TideBytes prefix, guint32 *likely, TideCellsMet *met)
{
  OpenCell *old = find_cell(set, row, cell, prefix, likely);
  if (old == NULL) {
    link_cell(set, row, cell);
    return;
  }
  met->n_met++;
  if (cell->timestamp_ms == old->timestamp_ms && cells_differ(set, cell, old))
    met->n_conflicting++;
  if (cell->timestamp_ms >= old->timestamp_ms)
    replace_cell(set, row, old, cell);
  else
    set->bytes.len = cell->offset; /* an older one: the newer stays, and stands for it */
}

/* ---- deletes ---- */

static gboolean
is_deleted(gint64 delete_to_ms, gint64 timestamp_ms)
{
  return delete_to_ms != 0 && timestamp_ms <= delete_to_ms;
}

gsize
tide_row_set_delete_size_max(const TideRowSet *set, TideBytes key)
{
  gsize size = tide_mutation_delete_size_max(key, NULL, 0);
  size += tide_mutation_put_overhead_max(key) - tide_put_overhead_max(key);
  for (guint i = 0; i < set->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(set->families, i);
    TideBytes name = tide_bytes_of_string(family->name);
    size += tide_mutation_delete_size_max(TIDE_BYTES_EMPTY, &name, 1);
  }
  return size;
}

/* Takes the cells that @row's delete covers out of it; how many. */
static guint32
drop_deleted_cells(TideRowSet *set, OpenRow *row)
{
  guint32 n_dropped = 0, last = NO_CELL;
  for (guint32 i = row->first_cell, next; i != NO_CELL; i = next) {
    OpenCell *cell = &cells_of(set)[i];
    next = cell->next;
    if (!is_deleted(row->delete_to_ms, cell->timestamp_ms)) {
      last = i;
      continue;
    }
    if (last == NO_CELL)
      row->first_cell = next;
    else
      cells_of(set)[last].next = next;
    row->n_cells--;
    row->cells_bytes -= cell->len;
    set->encoded_bytes -= cell->len;
    set->wasted_bytes += cell->room;
    cell->next = set->free_cell;
    set->free_cell = i + 1;
    n_dropped++;
  }
  row->last_cell = last;
  return n_dropped;
}

/* From now on @row deletes up to @to_ms at the least. Returns how many cells that dropped. */
static guint32
raise_delete(TideRowSet *set, OpenRow *row, gint64 to_ms)
{
  if (to_ms <= row->delete_to_ms) /* never below 0, which HBase refuses */
    return 0;
  if (row->delete_to_ms == 0)
    set->encoded_bytes +=
        tide_row_set_delete_size_max(set, tide_bytes(set->bytes.data + row->key_offset, row->key_len));
  row->delete_to_ms = to_ms;
  return drop_deleted_cells(set, row);
}

/* ---- rows ---- */

static guint32
add_row(TideRowSet *set, guint64 key_hash, TideBytes key, gint64 ttl_ms)
{
  OpenRow *row = (OpenRow *)(void *)tide_buffer_reserve(&set->rows, sizeof *row);
  *row = (OpenRow){.key_hash = key_hash,
                   .ttl_ms = ttl_ms,
                   .key_offset = set->bytes.len,
                   .key_len = (guint32)key.len,
                   .first_cell = NO_CELL,
                   .last_cell = NO_CELL};
  set->rows.len += sizeof *row;
  tide_buffer_append_bytes(&set->bytes, key);
  set->encoded_bytes += tide_put_overhead_max(key);
  return set->n_rows++;
}

/* The open row for @key, begun when there is none or the one there is full or has another time to live. */
static guint32
find_or_add_row(TideRowSet *set, TideBytes key, gint64 ttl_ms, guint32 n_cells)
{
  guint64 key_hash = tide_key_hash(key);
  if (set->rule == TIDE_MERGE_NONE)
    return add_row(set, key_hash, key, ttl_ms);
  index_make_room(set);
  guint32 *slot = index_slot(set, key_hash, key);
  if (*slot == 0) {
    guint32 added = add_row(set, key_hash, key, ttl_ms);
    *slot = added + 1;
    return added;
  }
  OpenRow *row = &rows_of(set)[*slot - 1];
  if (row->n_cells == 0)
    row->ttl_ms = ttl_ms; /* it only deletes, so far */
  if ((row->ttl_ms == ttl_ms || n_cells == 0) &&
      (set->rule == TIDE_MERGE_NEWEST || row->n_cells + n_cells <= MAX_CELLS_OF_A_ROW))
    return *slot - 1;
  guint32 added = add_row(set, key_hash, key, ttl_ms);
  rows_of(set)[added].follows_same_key = TRUE;
  *slot = added + 1;
  return added;
}

static void
add_source(TideRowSet *set, guint32 row, TideSourceRef ref, guint32 reading_index)
{
  TideBatchSource source = {.ref = ref, .row = row, .reading_index = reading_index};
  tide_buffer_append(&set->sources, &source, sizeof source);
}

/* Writes what is still used into fresh memory, once half of it is replaced cells. */
static void
squeeze(TideRowSet *set)
{
  TideBuffer fresh = {0};
  tide_buffer_reserve(&fresh, set->bytes.len - set->wasted_bytes);
  for (guint32 i = 0; i < set->n_rows; i++) {
    OpenRow *row = &rows_of(set)[i];
    gsize key_offset = fresh.len;
    tide_buffer_append(&fresh, set->bytes.data + row->key_offset, row->key_len);
    row->key_offset = key_offset;
    for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(set)[c].next) {
      OpenCell *cell = &cells_of(set)[c];
      gsize offset = fresh.len;
      tide_buffer_append(&fresh, set->bytes.data + cell->offset, cell->len);
      cell->offset = offset;
      cell->room = cell->len;
    }
  }
  tide_buffer_clear_memory(&set->bytes);
  set->bytes = fresh;
  set->wasted_bytes = 0;
}

/* Encodes the cells of @row into @open. */
static void
take_cells(TideRowSet *set, OpenRow *open, const TideRow *row, TideCellsMet *met)
{
  gboolean is_new = open->n_cells == 0;
  guint32 likely = open->first_cell;
  gint64 delete_to_ms = MAX(open->delete_to_ms, row->delete_to_ms);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideColumn *column = row->cells[i].column;
    OpenCell cell = {.column_hash = column->hash, .timestamp_ms = row->cells[i].timestamp_ms, .offset = set->bytes.len};
    if (is_deleted(delete_to_ms, cell.timestamp_ms) || overwrite_likely(set, open, &row->cells[i], &likely)) {
      met->n_met++;
      continue;
    }
    tide_cell_append(set->protocol, &set->bytes, column->prefix, row->cells[i].value, cell.timestamp_ms);
    cell.len = cell.room = (guint32)(set->bytes.len - cell.offset);
    if (set->rule == TIDE_MERGE_NEWEST) {
      /* Room for the next value, which may be a little longer; tide_cell_append() has reserved it. */
      cell.room = (guint32)tide_cell_size_max(column->prefix, row->cells[i].value.len);
      set->bytes.len = cell.offset + cell.room;
    }
    if (is_new)
      link_cell(set, open, &cell);
    else
      take_cell(set, open, &cell, column->prefix, &likely, met);
  }
  /* After the cells: those that were replaced in place need no dropping. */
  met->n_met += raise_delete(set, open, row->delete_to_ms);
}

guint32
tide_row_set_append(TideRowSet *set, const TideRow *row, TideSourceRef source, gint64 mapped_us, TideCellsMet *ret_met)
{
  TideCellsMet met = {0};
  if (set->n_rows == 0 || mapped_us < set->oldest_us)
    set->oldest_us = mapped_us;
  guint32 place = find_or_add_row(set, row->key, row->ttl_ms, row->n_cells);
  OpenRow *open = &rows_of(set)[place]; /* no row is added below, so it stays where it is */
  take_cells(set, open, row, &met);
  add_source(set, place, source, row->reading_index);
  if (set->wasted_bytes > MIN_WASTE_BYTES && set->wasted_bytes > set->bytes.len / 2)
    squeeze(set);
  tide_row_set_charge(set);
  if (ret_met != NULL)
    *ret_met = met;
  return place;
}

void
tide_row_set_add_follower(TideRowSet *set, guint32 place, const TideRow *follower, TideSourceRef source)
{
  tide_followers_append(&set->followers, place, follower, source);
  tide_row_set_charge(set);
}

gboolean
tide_row_set_shares_keys(const TideRowSet *set, const TideBatch *batch)
{
  for (guint32 i = 0; i < set->n_rows; i++)
    if (tide_batch_may_hold_key(batch, rows_of(set)[i].key_hash))
      return TRUE;
  return FALSE;
}

static gboolean
any_row_has_key(const TideRowSet *set, guint64 key_hash)
{
  for (guint32 i = 0; i < set->n_rows; i++)
    if (rows_of(set)[i].key_hash == key_hash)
      return TRUE;
  return FALSE;
}

gboolean
tide_row_set_may_hold_key(const TideRowSet *set, guint64 key_hash)
{
  if (set->n_rows == 0 || set->rule == TIDE_MERGE_NONE) /* rows that never meet have no index */
    return any_row_has_key(set, key_hash);
  const guint32 *slots = (const guint32 *)(const void *)set->index.data;
  gsize mask = set->index.len / sizeof *slots - 1;
  for (gsize place = key_hash & mask; slots[place] != 0; place = (place + 1) & mask)
    if (rows_of(set)[slots[place] - 1].key_hash == key_hash)
      return TRUE;
  return FALSE;
}

guint32
tide_row_set_copy_row(const TideRowSet *set, guint32 from_row, TideRowSet *to, gint64 oldest_us)
{
  const OpenRow *row = &rows_of(set)[from_row];
  if (to->n_rows == 0)
    to->oldest_us = oldest_us;
  TideBytes key = tide_bytes(set->bytes.data + row->key_offset, row->key_len);
  guint32 place = find_or_add_row(to, key, row->ttl_ms, row->n_cells);
  OpenRow *target = &rows_of(to)[place];
  TideCellsMet met = {0}; /* counted when they came */
  guint32 likely = target->first_cell;
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(set)[c].next) {
    OpenCell copy = cells_of(set)[c];
    if (is_deleted(target->delete_to_ms, copy.timestamp_ms))
      continue;
    gsize offset = to->bytes.len;
    tide_buffer_append(&to->bytes, set->bytes.data + copy.offset, copy.len);
    copy.offset = offset;
    copy.room = copy.len;
    take_cell(to, target, &copy, TIDE_BYTES_EMPTY, &likely, &met);
  }
  raise_delete(to, target, row->delete_to_ms);
  return place;
}
