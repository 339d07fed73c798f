#include "rows/row_buffer.h"

#include "rows/row_buffer_private.h"
#include "thrift/wire/mutation_encoder.h"

/* A row with more cells is closed and another one begun: HBase locks the row for each put, and finding a cell to
 * replace walks the row. */
#define MAX_CELLS_OF_A_ROW 1024u

/* Replaced cells are removed when they take at least this much and half of all bytes. */
#define MIN_WASTE_BYTES (64u * 1024)

void
tide_row_buffer_init(TideRowBuffer *buffer, TideBudget *budget, TideWireProtocol protocol, TideMergeRule rule,
                     const GPtrArray *families)
{
  *buffer = (TideRowBuffer){.budget = budget, .protocol = protocol, .rule = rule, .families = families};
}

void
tide_row_buffer_charge(TideRowBuffer *buffer)
{
  gint64 memory_bytes = (gint64)(buffer->bytes.capacity + buffer->rows.capacity + buffer->cells.capacity +
                                 buffer->sources.capacity + buffer->dependents.capacity + buffer->index.capacity);
  if (memory_bytes == buffer->charged_bytes)
    return;
  tide_budget_charge(buffer->budget, memory_bytes - buffer->charged_bytes);
  buffer->charged_bytes = memory_bytes;
}

void
tide_row_buffer_clear(TideRowBuffer *buffer)
{
  tide_buffer_clear_memory(&buffer->bytes);
  tide_buffer_clear_memory(&buffer->rows);
  tide_buffer_clear_memory(&buffer->cells);
  tide_buffer_clear_memory(&buffer->sources);
  tide_buffer_clear_memory(&buffer->dependents);
  tide_buffer_clear_memory(&buffer->index);
  tide_row_buffer_charge(buffer);
  tide_row_buffer_init(buffer, buffer->budget, buffer->protocol, buffer->rule, buffer->families);
}

/* ---- index: key hash -> the newest row with that key ---- */

static guint32 *
index_slot(const TideRowBuffer *buffer, guint64 key_hash, TideBytes key)
{
  guint32 *slots = (guint32 *)(void *)buffer->index.data;
  gsize mask = buffer->index.len / sizeof *slots - 1;
  gsize slot = key_hash & mask;
  for (; slots[slot] != 0; slot = (slot + 1) & mask) {
    const OpenRow *row = &rows_of(buffer)[slots[slot] - 1];
    if (row->key_hash == key_hash &&
        tide_bytes_equal(tide_bytes(buffer->bytes.data + row->key_offset, row->key_len), key))
      break;
  }
  return &slots[slot];
}

static void
index_rebuild(TideRowBuffer *buffer, gsize capacity)
{
  buffer->index.len = 0;
  memset(tide_buffer_reserve(&buffer->index, capacity * sizeof(guint32)), 0, capacity * sizeof(guint32));
  buffer->index.len = capacity * sizeof(guint32);
  for (guint32 i = 0; i < buffer->n_rows; i++) {
    const OpenRow *row = &rows_of(buffer)[i];
    *index_slot(buffer, row->key_hash, tide_bytes(buffer->bytes.data + row->key_offset, row->key_len)) = i + 1;
  }
}

static void
index_make_room(TideRowBuffer *buffer)
{
  gsize capacity = buffer->index.len / sizeof(guint32);
  if ((buffer->n_rows + 1) * 2 > capacity)
    index_rebuild(buffer, MAX(capacity * 2, 16));
}

/* ---- cells ---- */

/* Whether @candidate and @cell are the same cell for the merge rule, so that one replaces the other. @prefix: of
 * @cell's column; empty: its hash is enough */
static inline gboolean
same_cell(const TideRowBuffer *buffer, const OpenCell *candidate, const OpenCell *cell, TideBytes prefix)
{
  return candidate->column_hash == cell->column_hash &&
         (buffer->rule == TIDE_MERGE_NEWEST || candidate->timestamp_ms == cell->timestamp_ms) &&
         candidate->len >= prefix.len &&
         tide_memory_equal(buffer->bytes.data + candidate->offset, prefix.data, prefix.len);
}

/* The cell of @row that is the same as @cell; NULL: none.
 * @hint: (inout): where to look first; then the position after the cell found. A device's readings have their columns
 * in the same order, so walking the row is the exception. */
static OpenCell *
find_cell(const TideRowBuffer *buffer, const OpenRow *row, const OpenCell *cell, TideBytes prefix, guint32 *hint)
{
  OpenCell *cells = cells_of(buffer);
  OpenCell *found = NULL;
  if (*hint != NO_CELL && same_cell(buffer, &cells[*hint], cell, prefix))
    found = &cells[*hint];
  for (guint32 i = row->first_cell; i != NO_CELL && found == NULL; i = cells[i].next)
    if (same_cell(buffer, &cells[i], cell, prefix))
      found = &cells[i];
  if (found != NULL)
    *hint = found->next;
  return found;
}

/* Replaces @old by @cell, which is encoded at the end of bytes. */
static void
replace_cell(TideRowBuffer *buffer, OpenRow *row, OpenCell *old, const OpenCell *cell)
{
  row->cells_bytes = row->cells_bytes - old->len + cell->len;
  buffer->encoded_bytes = buffer->encoded_bytes - old->len + cell->len;
  old->timestamp_ms = cell->timestamp_ms;
  old->identity = cell->identity;
  old->source = cell->source;
  old->len = cell->len;
  if (cell->len <= old->room) {
    memcpy(buffer->bytes.data + old->offset, buffer->bytes.data + cell->offset, cell->len);
    buffer->bytes.len = cell->offset;
  } else {
    buffer->wasted_bytes += old->room;
    old->offset = cell->offset;
    old->room = cell->room;
  }
}

/* Stores @cell in a free entry of cells and returns its index. */
static guint32
store_cell(TideRowBuffer *buffer, const OpenCell *cell)
{
  if (buffer->free_cell == 0) {
    tide_buffer_append(&buffer->cells, cell, sizeof *cell);
    return buffer->n_cells++;
  }
  guint32 cell_index = buffer->free_cell - 1;
  buffer->free_cell = cells_of(buffer)[cell_index].next;
  cells_of(buffer)[cell_index] = *cell;
  return cell_index;
}

/* Appends @cell, encoded anywhere in bytes, to @row. */
static void
link_cell(TideRowBuffer *buffer, OpenRow *row, const OpenCell *cell)
{
  guint32 cell_index = store_cell(buffer, cell);
  cells_of(buffer)[cell_index].next = NO_CELL;
  if (row->n_cells == 0)
    row->first_cell = cell_index;
  else
    cells_of(buffer)[row->last_cell].next = cell_index;
  row->last_cell = cell_index;
  row->n_cells += cell->n_cells;
  row->cells_bytes += timed_len(buffer, cell);
  buffer->encoded_bytes += timed_len(buffer, cell);
}

/* Handles the usual case of a latest table: the cell at the hint is older and is overwritten in place. Returns FALSE if
 * this does not apply; then nothing was changed. */
static gboolean
overwrite_hinted(TideRowBuffer *buffer, OpenRow *row, const TideCell *cell, guint32 *hint)
{
  TideBytes prefix = cell->column->prefix;
  if (buffer->rule != TIDE_MERGE_NEWEST || *hint == NO_CELL)
    return FALSE;
  OpenCell *old = &cells_of(buffer)[*hint];
  OpenCell newer = {.column_hash = cell->column->hash, .timestamp_ms = cell->timestamp_ms};
  if (old->timestamp_ms >= newer.timestamp_ms || tide_cell_size_max(prefix, cell->value.len) > old->room ||
      !same_cell(buffer, old, &newer, prefix))
    return FALSE;
  TideBuffer room = {.data = buffer->bytes.data + old->offset, .capacity = old->room};
  tide_cell_append(buffer->protocol, &room, prefix, cell->value, cell->timestamp_ms);
  row->cells_bytes += (guint32)room.len - old->len;
  buffer->encoded_bytes += room.len - old->len;
  old->timestamp_ms = cell->timestamp_ms;
  old->len = (guint32)room.len;
  *hint = old->next;
  return TRUE;
}

/* Whether two cells of the same row, column and time have different values, which means different encodings. */
static gboolean
cells_differ(const TideRowBuffer *buffer, const OpenCell *a, const OpenCell *b)
{
  return a->len != b->len || memcmp(buffer->bytes.data + a->offset, buffer->bytes.data + b->offset, a->len) != 0;
}

/* @cell replaces @old with another value of the same time. */
static void
count_conflict(const TideRowBuffer *buffer, const OpenCell *old, const OpenCell *cell, TideCellsMerged *merged)
{
  merged->n_conflicting++;
  if (old->identity == 0 || cell->identity == 0 || old->identity == cell->identity || merged->n_overwriting++ > 0)
    return;
  merged->overwritten_ms = old->timestamp_ms;
  merged->knows_overwritten = old->source != NO_SOURCE;
  if (merged->knows_overwritten)
    merged->overwritten = ((const TideBatchSource *)(const void *)buffer->sources.data)[old->source].ref;
}

/* Takes @cell, encoded at the end of bytes, into @row by the buffer's rule. @hint: see find_cell() */
static void
take_cell(TideRowBuffer *buffer, OpenRow *row, const OpenCell *cell, TideBytes prefix, guint32 *hint,
          TideCellsMerged *merged)
{
  OpenCell *old = find_cell(buffer, row, cell, prefix, hint);
  if (old == NULL) {
    link_cell(buffer, row, cell);
    return;
  }
  merged->n_merged++;
  if (cell->timestamp_ms == old->timestamp_ms && cells_differ(buffer, cell, old))
    count_conflict(buffer, old, cell, merged);
  if (cell->timestamp_ms >= old->timestamp_ms)
    replace_cell(buffer, row, old, cell);
  else
    buffer->bytes.len = cell->offset; /* an older cell: the newer one remains and replaces it */
}

/* The index that the source of the row being appended will have. */
static guint32
next_source(const TideRowBuffer *buffer)
{
  return (guint32)(buffer->sources.len / sizeof(TideBatchSource));
}

/* ---- runs ---- */

/* Room in a run for longer values: an eighth, since some values grow while others shrink. */
#define ROOM_OF_RUN(len) ((len) + (len) / 8)

TideBatchCells
tide_row_buffer_run_cells(const TideRowBuffer *buffer, const OpenCell *run)
{
  TideBatchCells cells = {.n_remaining = run->n_cells, .time_ms = run->timestamp_ms};
  tide_wire_reader_init(&cells.reader, buffer->protocol, tide_bytes(buffer->bytes.data + run->offset, run->len));
  return cells;
}

/* Appends @cell of @run, with its time, to the bytes of @buffer. */
static OpenCell
append_cell(TideRowBuffer *buffer, const TideBatchCell *cell, const OpenCell *run)
{
  OpenCell appended = {.column_hash = cell->column_hash,
                       .timestamp_ms = cell->timestamp_ms,
                       .offset = buffer->bytes.len,
                       .n_cells = 1,
                       .identity = run->identity,
                       .source = run->source};
  tide_cell_append(buffer->protocol, &buffer->bytes, cell->prefix, cell->value, cell->timestamp_ms);
  appended.len = appended.room = (guint32)(buffer->bytes.len - appended.offset);
  return appended;
}

/* Splits the run at @at into single cells in its place. */
static void
split_run(TideRowBuffer *buffer, OpenRow *row, guint32 at)
{
  OpenCell run = cells_of(buffer)[at];
  gboolean is_first = TRUE;
  /* Reserved first: the loop reads from the memory that it appends to, which must not move. */
  tide_buffer_reserve(&buffer->bytes, run.len + run.n_cells * tide_cell_size_max(TIDE_BYTES_EMPTY, 0));
  TideBatchCells cells = tide_row_buffer_run_cells(buffer, &run);
  TideBatchCell read;
  while (tide_batch_cells_next(&cells, &read)) {
    OpenCell cell = append_cell(buffer, &read, &run);
    guint32 stored = is_first ? at : store_cell(buffer, &cell);
    if (!is_first)
      cells_of(buffer)[at].next = stored;
    cells_of(buffer)[stored] = cell;
    at = stored;
    is_first = FALSE;
  }
  cells_of(buffer)[at].next = run.next;
  if (run.next == NO_CELL)
    row->last_cell = at;
  buffer->wasted_bytes += run.room;
}

static void
split_all_runs(TideRowBuffer *buffer, OpenRow *row)
{
  for (guint32 i = row->first_cell, next; i != NO_CELL; i = next) {
    next = cells_of(buffer)[i].next;
    if (cells_of(buffer)[i].n_cells > 1)
      split_run(buffer, row, i);
  }
}

static gboolean
some_cell_has_time(const TideRowBuffer *buffer, const OpenRow *row, gint64 timestamp_ms)
{
  for (guint32 i = row->first_cell; i != NO_CELL; i = cells_of(buffer)[i].next)
    if (cells_of(buffer)[i].timestamp_ms == timestamp_ms)
      return TRUE;
  return FALSE;
}

/* @encoded: the run's new content */
static void
replace_run(TideRowBuffer *buffer, OpenRow *row, OpenCell *old, TideBytes encoded, gint64 timestamp_ms)
{
  guint32 len_before = timed_len(buffer, old);
  old->timestamp_ms = timestamp_ms;
  old->len = (guint32)encoded.len;
  row->cells_bytes += timed_len(buffer, old) - len_before;
  buffer->encoded_bytes += (gsize)timed_len(buffer, old) - len_before;
  if (old->len > old->room) {
    buffer->wasted_bytes += old->room;
    old->offset = buffer->bytes.len;
    old->room = ROOM_OF_RUN(old->len);
    tide_buffer_reserve(&buffer->bytes, old->room);
    buffer->bytes.len += old->room;
  }
  memcpy(buffer->bytes.data + old->offset, encoded.data, encoded.len);
}

static void
link_run(TideRowBuffer *buffer, OpenRow *row, const TideRow *from, gint64 timestamp_ms)
{
  guint32 len = (guint32)from->encoded.len;
  OpenCell run = {.column_hash = from->columns_id,
                  .timestamp_ms = timestamp_ms,
                  .offset = buffer->bytes.len,
                  .len = len,
                  .room = buffer->rule == TIDE_MERGE_NEWEST ? ROOM_OF_RUN(len) : len,
                  .n_cells = from->n_cells,
                  .identity = from->identity,
                  .source = next_source(buffer)};
  memcpy(tide_buffer_reserve(&buffer->bytes, run.room), from->encoded.data, len);
  buffer->bytes.len += run.room;
  link_cell(buffer, row, &run);
}

/* Takes the cells of @from, which have one time, into @row as a run. Returns FALSE, without a change, if any of them
 * must be merged individually. */
static gboolean
take_run(TideRowBuffer *buffer, OpenRow *row, const TideRow *from, TideCellsMerged *merged)
{
  gint64 timestamp_ms = from->cells[0].timestamp_ms;
  if (row->n_cells == 0 || (buffer->rule == TIDE_MERGE_ALL && !some_cell_has_time(buffer, row, timestamp_ms))) {
    link_run(buffer, row, from, timestamp_ms);
    return TRUE;
  }
  OpenCell *old = &cells_of(buffer)[row->first_cell];
  if (old->n_cells != row->n_cells || old->n_cells != from->n_cells || old->column_hash != from->columns_id)
    return FALSE;
  if (timestamp_ms == old->timestamp_ms &&
      !tide_bytes_equal(tide_bytes(buffer->bytes.data + old->offset, old->len), from->encoded))
    return FALSE; /* must be counted cell by cell */
  if (timestamp_ms > old->timestamp_ms)
    replace_run(buffer, row, old, from->encoded, timestamp_ms);
  merged->n_merged += from->n_cells;
  return TRUE;
}

/* ---- deletes ---- */

static gboolean
is_deleted(gint64 delete_to_ms, gint64 timestamp_ms)
{
  return delete_to_ms != 0 && timestamp_ms <= delete_to_ms;
}

gsize
tide_row_buffer_delete_size_max(const TideRowBuffer *buffer, TideBytes key)
{
  gsize size = tide_mutation_delete_size_max(key, NULL, 0);
  size += tide_mutation_put_overhead_max(key) - tide_put_overhead_max(key);
  for (guint i = 0; i < buffer->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(buffer->families, i);
    TideBytes name = tide_bytes_of_string(family->name);
    size += tide_mutation_delete_size_max(TIDE_BYTES_EMPTY, &name, 1);
  }
  return size;
}

/* Removes the cells covered by @row's delete. Returns their number. */
static guint32
drop_deleted_cells(TideRowBuffer *buffer, OpenRow *row)
{
  guint32 n_dropped = 0, last = NO_CELL;
  for (guint32 i = row->first_cell, next; i != NO_CELL; i = next) {
    OpenCell *cell = &cells_of(buffer)[i];
    next = cell->next;
    if (!is_deleted(row->delete_to_ms, cell->timestamp_ms)) {
      last = i;
      continue;
    }
    if (last == NO_CELL)
      row->first_cell = next;
    else
      cells_of(buffer)[last].next = next;
    row->n_cells -= cell->n_cells;
    row->cells_bytes -= timed_len(buffer, cell);
    buffer->encoded_bytes -= timed_len(buffer, cell);
    buffer->wasted_bytes += cell->room;
    n_dropped += cell->n_cells;
    cell->next = buffer->free_cell;
    buffer->free_cell = i + 1;
  }
  row->last_cell = last;
  return n_dropped;
}

/* Makes @row delete at least up to @to_ms. Returns the number of cells removed. */
static guint32
raise_delete(TideRowBuffer *buffer, OpenRow *row, gint64 to_ms)
{
  if (to_ms <= row->delete_to_ms) /* never below 0, which HBase refuses */
    return 0;
  if (row->delete_to_ms == 0)
    buffer->encoded_bytes +=
        tide_row_buffer_delete_size_max(buffer, tide_bytes(buffer->bytes.data + row->key_offset, row->key_len));
  row->delete_to_ms = to_ms;
  return drop_deleted_cells(buffer, row);
}

/* ---- rows ---- */

static guint32
add_row(TideRowBuffer *buffer, guint64 key_hash, TideBytes key, gint64 ttl_ms)
{
  OpenRow *row = (OpenRow *)(void *)tide_buffer_reserve(&buffer->rows, sizeof *row);
  *row = (OpenRow){.key_hash = key_hash,
                   .ttl_ms = ttl_ms,
                   .key_offset = buffer->bytes.len,
                   .key_len = (guint32)key.len,
                   .first_cell = NO_CELL,
                   .last_cell = NO_CELL};
  buffer->rows.len += sizeof *row;
  tide_buffer_append_bytes(&buffer->bytes, key);
  buffer->encoded_bytes += tide_put_overhead_max(key);
  return buffer->n_rows++;
}

/* The open row for @key. A new one is begun if there is none, or if it is full or has another time to live. */
static guint32
find_or_add_row(TideRowBuffer *buffer, TideBytes key, gint64 ttl_ms, guint32 n_cells)
{
  guint64 key_hash = tide_key_hash(key);
  if (buffer->rule == TIDE_MERGE_NONE)
    return add_row(buffer, key_hash, key, ttl_ms);
  index_make_room(buffer);
  guint32 *slot = index_slot(buffer, key_hash, key);
  if (*slot == 0) {
    guint32 added = add_row(buffer, key_hash, key, ttl_ms);
    *slot = added + 1;
    return added;
  }
  OpenRow *row = &rows_of(buffer)[*slot - 1];
  if (row->n_cells == 0)
    row->ttl_ms = ttl_ms; /* so far it only deletes */
  if ((row->ttl_ms == ttl_ms || n_cells == 0) &&
      (buffer->rule == TIDE_MERGE_NEWEST || row->n_cells + n_cells <= MAX_CELLS_OF_A_ROW))
    return *slot - 1;
  guint32 added = add_row(buffer, key_hash, key, ttl_ms);
  rows_of(buffer)[added].follows_same_key = TRUE;
  *slot = added + 1;
  return added;
}

static void
add_source(TideRowBuffer *buffer, guint32 row, TideSourceRef ref)
{
  TideBatchSource source = {.ref = ref, .row = row};
  tide_buffer_append(&buffer->sources, &source, sizeof source);
}

/* Copies used bytes to fresh memory when half of it is replaced cells. */
static void
squeeze(TideRowBuffer *buffer)
{
  TideBuffer fresh = {0};
  tide_buffer_reserve(&fresh, buffer->bytes.len - buffer->wasted_bytes);
  for (guint32 i = 0; i < buffer->n_rows; i++) {
    OpenRow *row = &rows_of(buffer)[i];
    gsize key_offset = fresh.len;
    tide_buffer_append(&fresh, buffer->bytes.data + row->key_offset, row->key_len);
    row->key_offset = key_offset;
    for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(buffer)[c].next) {
      OpenCell *cell = &cells_of(buffer)[c];
      gsize offset = fresh.len;
      tide_buffer_append(&fresh, buffer->bytes.data + cell->offset, cell->len);
      cell->offset = offset;
      cell->room = cell->len;
    }
  }
  tide_buffer_clear_memory(&buffer->bytes);
  buffer->bytes = fresh;
  buffer->wasted_bytes = 0;
}

/* Encodes the cells of @row into @open, except those covered by @delete_to_ms. */
static void
take_each_cell(TideRowBuffer *buffer, OpenRow *open, const TideRow *row, gint64 delete_to_ms, TideCellsMerged *merged)
{
  split_all_runs(buffer, open);
  gboolean is_new = open->n_cells == 0;
  guint32 hint = open->first_cell;
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideColumn *column = row->cells[i].column;
    OpenCell cell = {.column_hash = column->hash,
                     .timestamp_ms = row->cells[i].timestamp_ms,
                     .offset = buffer->bytes.len,
                     .n_cells = 1,
                     .identity = row->identity,
                     .source = next_source(buffer)};
    if (is_deleted(delete_to_ms, cell.timestamp_ms) || overwrite_hinted(buffer, open, &row->cells[i], &hint)) {
      merged->n_merged++;
      continue;
    }
    tide_cell_append(buffer->protocol, &buffer->bytes, column->prefix, row->cells[i].value, cell.timestamp_ms);
    cell.len = cell.room = (guint32)(buffer->bytes.len - cell.offset);
    if (buffer->rule == TIDE_MERGE_NEWEST) {
      /* Leaves room for a slightly longer next value; tide_cell_append() has reserved it. */
      cell.room = (guint32)tide_cell_size_max(column->prefix, row->cells[i].value.len);
      buffer->bytes.len = cell.offset + cell.room;
    }
    if (is_new)
      link_cell(buffer, open, &cell);
    else
      take_cell(buffer, open, &cell, column->prefix, &hint, merged);
  }
}

static void
take_cells(TideRowBuffer *buffer, OpenRow *open, const TideRow *row, TideCellsMerged *merged)
{
  gint64 delete_to_ms = MAX(open->delete_to_ms, row->delete_to_ms);
  gboolean is_run =
      row->columns_id != 0 && buffer->rule != TIDE_MERGE_NONE && !is_deleted(delete_to_ms, row->cells[0].timestamp_ms);
  if (row->n_cells > 0 && (!is_run || !take_run(buffer, open, row, merged)))
    take_each_cell(buffer, open, row, delete_to_ms, merged);
  /* After the cells: those replaced in place need not be removed. */
  merged->n_merged += raise_delete(buffer, open, row->delete_to_ms);
}

guint32
tide_row_buffer_append(TideRowBuffer *buffer, const TideRow *row, TideSourceRef source, gint64 mapped_us,
                       TideCellsMerged *ret_merged)
{
  TideCellsMerged merged = {0};
  if (buffer->n_rows == 0 || mapped_us < buffer->oldest_us)
    buffer->oldest_us = mapped_us;
  guint32 row_index = find_or_add_row(buffer, row->key, row->ttl_ms, row->n_cells);
  OpenRow *open = &rows_of(buffer)[row_index]; /* stays valid: no row is added below */
  take_cells(buffer, open, row, &merged);
  add_source(buffer, row_index, source);
  if (buffer->wasted_bytes > MIN_WASTE_BYTES && buffer->wasted_bytes > buffer->bytes.len / 2)
    squeeze(buffer);
  tide_row_buffer_charge(buffer);
  if (ret_merged != NULL)
    *ret_merged = merged;
  return row_index;
}

void
tide_row_buffer_add_dependent(TideRowBuffer *buffer, guint32 row_index, const TideRow *dependent, TideSourceRef source)
{
  tide_dependent_rows_append(&buffer->dependents, row_index, dependent, source);
  tide_row_buffer_charge(buffer);
}

guint64
tide_row_buffer_row_key_hash(const TideRowBuffer *buffer, guint32 row)
{
  return rows_of(buffer)[row].key_hash;
}

gboolean
tide_row_buffer_shares_keys(const TideRowBuffer *buffer, const TideBatch *batch)
{
  for (guint32 i = 0; i < buffer->n_rows; i++)
    if (tide_batch_may_hold_key(batch, rows_of(buffer)[i].key_hash))
      return TRUE;
  return FALSE;
}

gboolean
tide_row_buffer_may_hold_key(const TideRowBuffer *buffer, guint64 key_hash)
{
  if (buffer->n_rows == 0)
    return FALSE;
  const guint32 *slots = (const guint32 *)(const void *)buffer->index.data;
  gsize mask = buffer->index.len / sizeof *slots - 1;
  for (gsize slot = key_hash & mask; slots[slot] != 0; slot = (slot + 1) & mask)
    if (rows_of(buffer)[slots[slot] - 1].key_hash == key_hash)
      return TRUE;
  return FALSE;
}

/* Copies the cell or run @from of @buffer to the end of @to's bytes. */
static OpenCell
copy_cell(const TideRowBuffer *buffer, const OpenCell *from, TideRowBuffer *to)
{
  OpenCell copy = *from;
  copy.offset = to->bytes.len;
  copy.room = copy.len;
  copy.source = NO_SOURCE;
  tide_buffer_append(&to->bytes, buffer->bytes.data + from->offset, from->len);
  return copy;
}

guint32
tide_row_buffer_copy_row(const TideRowBuffer *buffer, guint32 from_row, TideRowBuffer *to, gint64 oldest_us)
{
  const OpenRow *row = &rows_of(buffer)[from_row];
  if (to->n_rows == 0)
    to->oldest_us = oldest_us;
  TideBytes key = tide_bytes(buffer->bytes.data + row->key_offset, row->key_len);
  guint32 row_index = find_or_add_row(to, key, row->ttl_ms, row->n_cells);
  OpenRow *target = &rows_of(to)[row_index];
  TideCellsMerged merged = {0}; /* counted when they were appended */
  gboolean is_new = target->n_cells == 0;
  split_all_runs(to, target);
  guint32 hint = target->first_cell;
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(buffer)[c].next) {
    const OpenCell *from = &cells_of(buffer)[c];
    if (is_deleted(target->delete_to_ms, from->timestamp_ms))
      continue;
    if (is_new) { /* cells of one row are distinct */
      OpenCell copy = copy_cell(buffer, from, to);
      link_cell(to, target, &copy);
      continue;
    }
    TideBatchCells cells = tide_row_buffer_run_cells(buffer, from);
    TideBatchCell read;
    while (tide_batch_cells_next(&cells, &read)) {
      OpenCell copy = append_cell(to, &read, from);
      copy.source = NO_SOURCE;
      take_cell(to, target, &copy, TIDE_BYTES_EMPTY, &hint, &merged);
    }
  }
  raise_delete(to, target, row->delete_to_ms);
  return row_index;
}
