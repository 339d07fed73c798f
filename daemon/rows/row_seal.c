/* Sealing: encodes open rows into batches. row_buffer.c fills the buffer. */
#include "rows/row_buffer_private.h"
#include "rows/row_order.h"
#include "thrift/wire/mutation_encoder.h"

/* Rows in a batch of mutations. Each is a separate call, sent after the previous one. A batch of this size occupies a
 * writer about as long as a full putMultiple, and several writers can share a lane's rows. */
#define MAX_MUTATED_ROWS 128u

/* Solo rows in a batch. About one in a hundred is refused, and is found by halving the call. This size needs few calls
 * in total and lets several writers share them. */
#define MAX_SOLO_ROWS 64u

/* The time common to all cells of @row, which the put then contains once. */
static gint64
time_of_all(const TideRowBuffer *buffer, const OpenRow *row)
{
  if (row->first_cell == NO_CELL)
    return TIDE_PUT_NO_TIME;
  gint64 time_ms = tide_put_time(row->n_cells, cells_of(buffer)[row->first_cell].timestamp_ms);
  for (guint32 c = row->first_cell; c != NO_CELL && time_ms != TIDE_PUT_NO_TIME; c = cells_of(buffer)[c].next)
    time_ms = tide_put_time_with(time_ms, cells_of(buffer)[c].timestamp_ms);
  return time_ms;
}

/* Appends the cells of a run, each with its time. */
static void
append_timed_cells(const TideRowBuffer *buffer, const OpenCell *run, TideBuffer *wire)
{
  TideBatchCells cells = tide_row_buffer_run_cells(buffer, run);
  TideBatchCell cell;
  while (tide_batch_cells_next(&cells, &cell))
    tide_cell_append(buffer->protocol, wire, cell.prefix, cell.value, cell.timestamp_ms);
}

/* @time_ms: as in tide_put_tail_append() */
static void
append_cells(const TideRowBuffer *buffer, const OpenRow *row, gint64 time_ms, TideBuffer *wire)
{
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(buffer)[c].next) {
    const OpenCell *cell = &cells_of(buffer)[c];
    TideBytes encoded = tide_bytes(buffer->bytes.data + cell->offset, cell->len);
    gboolean is_run = cell->n_cells > 1, is_timeless = time_ms != TIDE_PUT_NO_TIME;
    if (is_run && !is_timeless)
      append_timed_cells(buffer, cell, wire);
    else if (is_run == is_timeless)
      tide_buffer_append_bytes(wire, encoded);
    else
      tide_cell_append_without_time(buffer->protocol, wire, encoded, time_ms);
  }
}

/* Encodes the row's TPut. Returns the position of its key. */
static gsize
encode_put(const TideRowBuffer *buffer, const OpenRow *row, TideBytes key, TideBuffer *wire)
{
  tide_buffer_reserve(wire, tide_put_overhead_max(key) + row->cells_bytes);
  gint64 time_ms = time_of_all(buffer, row);
  tide_put_head_append(buffer->protocol, wire, key, row->n_cells);
  append_cells(buffer, row, time_ms, wire);
  tide_put_tail_append(buffer->protocol, wire, time_ms, row->ttl_ms);
  return tide_put_key_offset(buffer->protocol, key.len);
}

/* Encodes the row's TMutations: the delete, then the put. */
static gsize
encode_mutations(const TideRowBuffer *buffer, const OpenRow *row, TideBytes key, TideBuffer *wire)
{
  tide_mutation_delete_head_append(buffer->protocol, wire, key, buffer->families->len);
  for (guint i = 0; i < buffer->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(buffer->families, i);
    tide_mutation_delete_family_append(buffer->protocol, wire, tide_bytes_of_string(family->name), row->delete_to_ms);
  }
  tide_mutation_delete_tail_append(buffer->protocol, wire);
  if (row->n_cells > 0) {
    tide_mutation_put_head_append(buffer->protocol, wire, key, row->n_cells);
    append_cells(buffer, row, TIDE_PUT_NO_TIME, wire);
    tide_mutation_put_tail_append(buffer->protocol, wire, row->ttl_ms);
  }
  return tide_mutation_delete_key_offset(buffer->protocol, key.len);
}

static void
encode_row(const TideRowBuffer *buffer, OpenRow *row, TideBatch *batch)
{
  TideBytes key = tide_bytes(buffer->bytes.data + row->key_offset, row->key_len);
  TideBatchRow at = {.start_bytes = (guint32)batch->wire.len, .key_len = (guint16)row->key_len};
  gsize key_offset;
  if (batch->is_mutations) {
    at.n_mutations = row->n_cells > 0 ? 2 : 1;
    key_offset = encode_mutations(buffer, row, key, &batch->wire);
  } else
    key_offset = encode_put(buffer, row, key, &batch->wire);
  at.key_offset = at.start_bytes + (guint32)key_offset;
  tide_buffer_append(&batch->rows, &at, sizeof at);
  row->disposition = TO_BATCH;
  row->target = batch;
  row->target_row = batch->n_rows++;
}

/* The batches being filled: one of each kind. */
typedef struct Filling {
  TideBatch *first; /* of all, linked by next */
  TideBatch *last;
  TideBatch *filled[2]; /* of puts and of mutations; NULL: none yet */
} Filling;

/* The batch for @row. A new one is begun if there is none, or if it is full. */
static TideBatch *
batch_for_row(const TideRowBuffer *buffer, const OpenRow *row, const TideSealRequest *request, Filling *filling)
{
  gboolean is_mutations = row->delete_to_ms != 0;
  TideBatch **filled = &filling->filled[is_mutations];
  TideBytes key = tide_bytes(buffer->bytes.data + row->key_offset, row->key_len);
  gsize row_bytes =
      tide_put_overhead_max(key) + row->cells_bytes + (is_mutations ? tide_row_buffer_delete_size_max(buffer, key) : 0);
  guint32 max_rows = is_mutations                      ? MAX_MUTATED_ROWS
                     : buffer->rule == TIDE_MERGE_NONE ? MAX_SOLO_ROWS
                                                       : request->max_rows;
  if (*filled != NULL && (*filled)->n_rows < MIN(max_rows, request->max_rows) &&
      (*filled)->wire.len + row_bytes <= request->max_bytes)
    return *filled;
  TideBatch *begun = tide_batch_pool_take(request->pool);
  begun->is_mutations = is_mutations;
  begun->times.oldest_us = buffer->oldest_us;
  if (filling->last == NULL)
    filling->first = begun;
  else
    filling->last->next = begun;
  filling->last = *filled = begun;
  return begun;
}

/* ---- solo rows ---- */

/* Replaces a value: earlier rows gave the cell several. */
#define SEVERAL_VALUES GSIZE_TO_POINTER(1)

/* Whether @row gives a cell another value than an earlier row, and so must wait. @written: hashes of cells (row, column
 * and time) of earlier rows, sent or not, with their values; those of @row are added */
static gboolean
row_conflicts(const TideRowBuffer *buffer, const OpenRow *row, GHashTable *written)
{
  gboolean conflicts = FALSE;
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(buffer)[c].next) {
    const OpenCell *cell = &cells_of(buffer)[c];
    gpointer identity = GSIZE_TO_POINTER(tide_cell_identity(row->key_hash, cell->column_hash, cell->timestamp_ms));
    gpointer value = GSIZE_TO_POINTER(tide_key_hash(tide_bytes(buffer->bytes.data + cell->offset, cell->len)));
    gpointer before = g_hash_table_lookup(written, identity);
    conflicts |= before != NULL && before != value;
    g_hash_table_insert(written, identity, before == NULL || before == value ? value : SEVERAL_VALUES);
  }
  return conflicts;
}

/* ---- distributing rows ---- */

/* Replaces a key's hash in a batch of solo rows: rows of different times do not wait for each other. */
static guint64
hash_of_time(const OpenRow *row, const OpenCell *cell)
{
  return MAX(tide_cell_identity(row->key_hash, 0, cell->timestamp_ms), 1);
}

/* Whether a solo row waits for a merged row of its key, or for one in flight that may give its cells other values. */
static gboolean
waits_for_its_key(const TideRowBuffer *buffer, const OpenRow *row, const TideSealRequest *request)
{
  gboolean waits = request->merged != NULL && tide_row_buffer_may_hold_key(request->merged, row->key_hash);
  for (const TideBatch *batch = request->in_flight; batch != NULL && !waits; batch = batch->sealer.lane_next) {
    waits = !batch->is_solo && tide_batch_may_hold_key(batch, row->key_hash);
    for (guint32 c = row->first_cell; batch->is_solo && c != NO_CELL && !waits; c = cells_of(buffer)[c].next)
      waits = tide_batch_may_hold_key(batch, hash_of_time(row, &cells_of(buffer)[c]));
  }
  return waits;
}

/* Whether a suspect with the merged row's key is in flight. */
static gboolean
waits_for_suspect(const OpenRow *row, const GPtrArray *suspect_batches)
{
  for (guint i = 0; suspect_batches != NULL && i < suspect_batches->len; i++)
    if (tide_batch_may_hold_key(g_ptr_array_index(suspect_batches, i), row->key_hash))
      return TRUE;
  return FALSE;
}

static void
append_hashes(const TideRowBuffer *buffer, const OpenRow *row, TideBuffer *key_set)
{
  if (buffer->rule != TIDE_MERGE_NONE)
    tide_buffer_append(key_set, &row->key_hash, sizeof row->key_hash);
  guint64 last = 0;
  for (guint32 c = row->first_cell; buffer->rule == TIDE_MERGE_NONE && c != NO_CELL; c = cells_of(buffer)[c].next) {
    guint64 hash = hash_of_time(row, &cells_of(buffer)[c]);
    if (hash != last)
      tide_buffer_append(key_set, &hash, sizeof hash);
    last = hash;
  }
}

/* Encodes the row at @index if it may join a batch; otherwise copies it to @again. @written: for solo rows; else
 * NULL */
static void
hand_out_row(const TideRowBuffer *buffer, guint32 index, const TideSealRequest *request, GHashTable *written,
             Filling *filling, TideRowBuffer *again)
{
  OpenRow *row = &rows_of(buffer)[index];
  gboolean waits = written != NULL ? row_conflicts(buffer, row, written) || waits_for_its_key(buffer, row, request)
                                   : row->follows_same_key || waits_for_suspect(row, request->suspect_batches);
  if (waits) {
    row->disposition = TO_NEXT_SEALING;
    row->target_row = tide_row_buffer_copy_row(buffer, index, again, buffer->oldest_us);
    return;
  }
  TideBatch *batch = batch_for_row(buffer, row, request, filling);
  encode_row(buffer, row, batch);
  append_hashes(buffer, row, &batch->key_set);
}

/* Sorts as many rows from @first on as are sorted at a time. Returns their number. */
static guint32
order_rows(const TideRowBuffer *buffer, guint32 first, TideOrderedRow *ordered)
{
  guint32 n = MIN(buffer->n_rows - first, TIDE_ROW_ORDER_MAX);
  for (guint32 i = 0; i < n; i++) {
    const OpenRow *row = &rows_of(buffer)[first + i];
    ordered[i] =
        (TideOrderedRow){.key = tide_bytes(buffer->bytes.data + row->key_offset, row->key_len), .row = first + i};
  }
  tide_row_order_sort(ordered, n);
  return n;
}

static TideBatch *
hand_out_rows(const TideRowBuffer *buffer, const TideSealRequest *request, TideRowBuffer *again)
{
  Filling filling = {0};
  if (buffer->rule == TIDE_MERGE_NONE) {
    g_autoptr(GHashTable) written = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < buffer->n_rows; i++)
      hand_out_row(buffer, i, request, written, &filling, again);
    return filling.first;
  }
  TideOrderedRow ordered[TIDE_ROW_ORDER_MAX];
  for (guint32 first = 0, n; first < buffer->n_rows; first += n) {
    n = order_rows(buffer, first, ordered);
    for (guint32 i = 0; i < n; i++)
      hand_out_row(buffer, ordered[i].row, request, NULL, &filling, again);
  }
  return filling.first;
}

static void
hand_out_sources(const TideRowBuffer *buffer, TideRowBuffer *again)
{
  gsize n_sources = buffer->sources.len / sizeof(TideBatchSource);
  const TideBatchSource *sources = (const TideBatchSource *)(const void *)buffer->sources.data;
  for (gsize i = 0; i < n_sources; i++) {
    const OpenRow *row = &rows_of(buffer)[sources[i].row];
    TideBatchSource moved = sources[i];
    moved.row = row->target_row;
    tide_buffer_append(row->disposition == TO_BATCH ? &row->target->sources : &again->sources, &moved, sizeof moved);
  }
}

static void
hand_out_dependents(const TideRowBuffer *buffer, TideRowBuffer *again)
{
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_dependent_rows_next_record(&buffer->dependents, &offset)).len > 0) {
    const OpenRow *row = &rows_of(buffer)[tide_dependent_row_parent(record)];
    TideBuffer *to = row->disposition == TO_BATCH ? &row->target->dependents : &again->dependents;
    tide_dependent_rows_append_record(to, record, row->target_row);
  }
}

static void
finish_batches(const TideRowBuffer *buffer, TideBatch *first)
{
  for (TideBatch *batch = first; batch != NULL; batch = batch->next) {
    tide_batch_make_key_set(batch);
    batch->charged_bytes = (gint64)tide_batch_memory_bytes(batch);
    tide_budget_charge(buffer->budget, batch->charged_bytes);
  }
}

static void
empty_keeping_memory(TideRowBuffer *buffer)
{
  buffer->bytes.len = buffer->rows.len = buffer->cells.len = buffer->sources.len = buffer->dependents.len = 0;
  buffer->n_rows = buffer->n_cells = buffer->free_cell = 0;
  buffer->wasted_bytes = buffer->encoded_bytes = 0;
  buffer->oldest_us = 0;
  if (buffer->index.len > 0)
    memset(buffer->index.data, 0, buffer->index.len);
}

TideBatch *
tide_row_buffer_seal(TideRowBuffer *buffer, const TideSealRequest *request)
{
  if (buffer->n_rows == 0)
    return NULL;
  TideRowBuffer again; /* rows that wait for a batch with the same key */
  tide_row_buffer_init(&again, buffer->budget, buffer->protocol, buffer->rule, buffer->families);
  TideBatch *batches = hand_out_rows(buffer, request, &again);
  hand_out_sources(buffer, &again);
  hand_out_dependents(buffer, &again);
  finish_batches(buffer, batches);
  if (again.n_rows == 0) {
    empty_keeping_memory(buffer);
    return batches;
  }
  tide_row_buffer_clear(buffer);
  *buffer = again;
  tide_row_buffer_charge(buffer);
  return batches;
}
