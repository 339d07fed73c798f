/* Sealing: open rows become encoded rows of batches. What stands in row_set.c takes rows in, this hands them out, or
 * drops them. */
#include "rows/row_set_private.h"
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"
#include "write/batch_cells.h"

/* Rows of a batch of mutations: each is a call of its own, sent after the one before, so a batch of so many takes a
 * writer about as long as a full putMultiple, and several writers can share what a lane has to send. */
#define MAX_MUTATED_ROWS 128u

/* Unmerged rows of a batch: one in a hundred or so is refused, and is found by halving the call. In batches of so many
 * few calls are made in all, and several writers share them. */
#define MAX_UNMERGED_ROWS 64u

static void
append_cells(const TideRowSet *set, const OpenRow *row, TideBuffer *wire)
{
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(set)[c].next)
    tide_buffer_append(wire, set->bytes.data + cells_of(set)[c].offset, cells_of(set)[c].len);
}

/* The row's TPut; where its key stands in that. */
static gsize
encode_put(const TideRowSet *set, const OpenRow *row, TideBytes key, TideBuffer *wire)
{
  tide_buffer_reserve(wire, tide_put_overhead_max(key) + row->cells_bytes);
  tide_put_head_append(set->protocol, wire, key, row->n_cells);
  append_cells(set, row, wire);
  tide_put_tail_append(set->protocol, wire, row->ttl_ms);
  return tide_put_key_offset(set->protocol, key.len);
}

/* The row's TMutations: the delete, then what is put. */
static gsize
encode_mutations(const TideRowSet *set, const OpenRow *row, TideBytes key, TideBuffer *wire)
{
  tide_mutation_delete_head_append(set->protocol, wire, key, set->families->len);
  for (guint i = 0; i < set->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(set->families, i);
    tide_mutation_delete_family_append(set->protocol, wire, tide_bytes_of_string(family->name), row->delete_to_ms);
  }
  tide_mutation_delete_tail_append(set->protocol, wire);
  if (row->n_cells > 0) {
    tide_mutation_put_head_append(set->protocol, wire, key, row->n_cells);
    append_cells(set, row, wire);
    tide_mutation_put_tail_append(set->protocol, wire, row->ttl_ms);
  }
  return tide_mutation_delete_key_offset(set->protocol, key.len);
}

static void
encode_row(const TideRowSet *set, OpenRow *row, TideBatch *batch)
{
  TideBytes key = tide_bytes(set->bytes.data + row->key_offset, row->key_len);
  TideBatchRow at = {.start_bytes = (guint32)batch->wire.len, .key_len = (guint16)row->key_len};
  gsize key_offset;
  if (batch->is_mutations) {
    at.n_mutations = row->n_cells > 0 ? 2 : 1;
    key_offset = encode_mutations(set, row, key, &batch->wire);
  } else
    key_offset = encode_put(set, row, key, &batch->wire);
  at.key_offset = at.start_bytes + (guint32)key_offset;
  tide_buffer_append(&batch->rows, &at, sizeof at);
  row->goes_to = GOES_TO_BATCH;
  row->target = batch;
  row->target_row = batch->n_rows++;
}

/* What is being filled: one batch of each kind. */
typedef struct Filling {
  TideBatch *first; /* of all, linked by next */
  TideBatch *last;
  TideBatch *puts;
  TideBatch *mutations;
} Filling;

/* The batch that @row goes to, begun when there is none or the one there is full. */
static TideBatch *
batch_for_row(const TideRowSet *set, const OpenRow *row, const TideSealRequest *request, Filling *filling)
{
  gboolean is_mutations = row->delete_to_ms != 0;
  TideBatch **filled = is_mutations ? &filling->mutations : &filling->puts;
  TideBytes key = tide_bytes(set->bytes.data + row->key_offset, row->key_len);
  guint32 limit = is_mutations ? MAX_MUTATED_ROWS : set->rule == TIDE_MERGE_NONE ? MAX_UNMERGED_ROWS : G_MAXUINT32;
  guint32 max_rows = MIN(request->max_rows, limit);
  gsize row_bytes =
      tide_put_overhead_max(key) + row->cells_bytes + (is_mutations ? tide_row_set_delete_size_max(set, key) : 0);
  if (*filled != NULL && (*filled)->n_rows < max_rows && (*filled)->wire.len + row_bytes <= request->max_bytes)
    return *filled;
  TideBatch *begun = request->take_batch(request->take_batch_data);
  begun->is_mutations = is_mutations;
  begun->oldest_us = set->oldest_us;
  if (filling->last == NULL)
    filling->first = begun;
  else
    filling->last->next = begun;
  filling->last = *filled = begun;
  return begun;
}

/* ---- unmerged rows ---- */

/* In the place of a value: rows before gave the cell several. */
#define SEVERAL_VALUES GSIZE_TO_POINTER(1)

/* @written: for each cell (row, column and time) of the rows before, sent or not, its value; as hashes. Whether @row
 * gives one of them another value, and so must wait. Adds those of @row. */
static gboolean
row_contradicts(const TideRowSet *set, const OpenRow *row, GHashTable *written)
{
  gboolean contradicts = FALSE;
  for (guint32 c = row->first_cell; c != NO_CELL; c = cells_of(set)[c].next) {
    const OpenCell *cell = &cells_of(set)[c];
    gpointer place = GSIZE_TO_POINTER(tide_cell_identity(row->key_hash, cell->column_hash, cell->timestamp_ms));
    gpointer value = GSIZE_TO_POINTER(tide_key_hash(tide_bytes(set->bytes.data + cell->offset, cell->len)));
    gpointer before = g_hash_table_lookup(written, place);
    contradicts |= before != NULL && before != value;
    g_hash_table_insert(written, place, before == NULL || before == value ? value : SEVERAL_VALUES);
  }
  return contradicts;
}

/* ---- handing out ---- */

static gboolean
is_on_the_way(const OpenRow *row, const GPtrArray *batches)
{
  for (guint i = 0; batches != NULL && i < batches->len; i++)
    if (tide_batch_may_hold_key(g_ptr_array_index(batches, i), row->key_hash))
      return TRUE;
  return FALSE;
}

/* @written: of unmerged rows; else NULL. */
static gboolean
must_wait(const TideRowSet *set, const OpenRow *row, const TideSealRequest *request, GHashTable *written)
{
  if (written != NULL)
    return row_contradicts(set, row, written) || is_on_the_way(row, request->on_the_way);
  return row->follows_same_key ||
         (request->held != NULL && g_hash_table_contains(request->held, GSIZE_TO_POINTER(row->key_hash)));
}

/* Encodes the rows that may go into batches, and copies the others to where they wait. */
static TideBatch *
hand_out_rows(TideRowSet *set, const TideSealRequest *request, TideRowSet *again)
{
  Filling filling = {0};
  g_autoptr(GHashTable) written = set->rule == TIDE_MERGE_NONE ? g_hash_table_new(NULL, NULL) : NULL;
  for (guint32 i = 0; i < set->n_rows; i++) {
    OpenRow *row = &rows_of(set)[i];
    if (must_wait(set, row, request, written)) {
      row->goes_to = GOES_TO_AGAIN;
      row->target_row = tide_row_set_copy_row(set, i, again, set->oldest_us);
      continue;
    }
    TideBatch *batch = batch_for_row(set, row, request, &filling);
    encode_row(set, row, batch);
    tide_buffer_append(&batch->key_set, &row->key_hash, sizeof row->key_hash);
  }
  return filling.first;
}

static void
hand_out_sources(const TideRowSet *set, TideRowSet *again)
{
  gsize n_sources = set->sources.len / sizeof(TideBatchSource);
  const TideBatchSource *sources = (const TideBatchSource *)(const void *)set->sources.data;
  for (gsize i = 0; i < n_sources; i++) {
    const OpenRow *row = &rows_of(set)[sources[i].row];
    TideBatchSource moved = sources[i];
    moved.row = row->target_row;
    tide_buffer_append(row->goes_to == GOES_TO_BATCH ? &row->target->sources : &again->sources, &moved, sizeof moved);
  }
}

static void
hand_out_followers(const TideRowSet *set, TideRowSet *again)
{
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_followers_next_record(&set->followers, &offset)).len > 0) {
    const OpenRow *row = &rows_of(set)[tide_follower_leader(record)];
    TideBuffer *to = row->goes_to == GOES_TO_BATCH ? &row->target->followers : &again->followers;
    tide_followers_append_record(to, record, row->target_row);
  }
}

static void
finish_batches(const TideRowSet *set, TideBatch *first)
{
  for (TideBatch *batch = first; batch != NULL; batch = batch->next) {
    tide_batch_make_key_set(batch);
    batch->charged_bytes = (gint64)tide_batch_memory_bytes(batch);
    tide_budget_charge(set->budget, batch->charged_bytes);
  }
}

static void
empty_keeping_memory(TideRowSet *set)
{
  set->bytes.len = set->rows.len = set->cells.len = set->sources.len = set->followers.len = 0;
  set->n_rows = set->n_cells = set->free_cell = 0;
  set->wasted_bytes = set->encoded_bytes = 0;
  set->oldest_us = 0;
  if (set->index.len > 0)
    memset(set->index.data, 0, set->index.len);
}

TideBatch *
tide_row_set_seal(TideRowSet *set, const TideSealRequest *request)
{
  if (set->n_rows == 0)
    return NULL;
  TideRowSet again; /* rows that must wait for the batch that now holds the same key */
  tide_row_set_init(&again, set->budget, set->protocol, set->rule, set->families);
  TideBatch *batches = hand_out_rows(set, request, &again);
  hand_out_sources(set, &again);
  hand_out_followers(set, &again);
  finish_batches(set, batches);
  if (again.n_rows == 0) {
    empty_keeping_memory(set);
    return batches;
  }
  tide_row_set_clear(set);
  *set = again;
  tide_row_set_charge(set);
  return batches;
}

/* ---- dropping ---- */

/* Which rows are gone. Returns: how many. */
static guint32
mark_gone(const TideRowSet *set, const TideDropRequest *request)
{
  gsize n_sources = set->sources.len / sizeof(TideBatchSource);
  const TideBatchSource *sources = (const TideBatchSource *)(const void *)set->sources.data;
  guint32 n_gone = 0;
  for (guint32 i = 0; i < set->n_rows; i++)
    rows_of(set)[i].goes_to = GOES_TO_AGAIN;
  for (gsize i = 0; i < n_sources; i++) {
    OpenRow *row = &rows_of(set)[sources[i].row];
    if (row->goes_to == GOES_NOWHERE || !request->is_gone(sources[i].ref, request->data))
      continue;
    row->goes_to = GOES_NOWHERE;
    n_gone++;
  }
  return n_gone;
}

static void
part_rows(const TideRowSet *set, const TideDropRequest *request, TideRowSet *left)
{
  for (guint32 i = 0; i < set->n_rows; i++) {
    OpenRow *row = &rows_of(set)[i];
    if (row->goes_to == GOES_TO_AGAIN)
      row->target_row = tide_row_set_copy_row(set, i, left, set->oldest_us);
    else if (request->on_row != NULL)
      request->on_row(row->key_hash, request->data);
  }
}

static void
part_sources(const TideRowSet *set, const TideDropRequest *request, TideRowSet *left)
{
  gsize n_sources = set->sources.len / sizeof(TideBatchSource), offset = 0;
  const TideBatchSource *sources = (const TideBatchSource *)(const void *)set->sources.data;
  for (gsize i = 0; i < n_sources; i++) {
    const OpenRow *row = &rows_of(set)[sources[i].row];
    TideBatchSource moved = sources[i];
    moved.row = row->target_row;
    if (row->goes_to == GOES_TO_AGAIN)
      tide_buffer_append(&left->sources, &moved, sizeof moved);
    else
      request->on_source(moved.ref, request->data);
  }
  TideBytes record;
  while ((record = tide_followers_next_record(&set->followers, &offset)).len > 0) {
    const OpenRow *row = &rows_of(set)[tide_follower_leader(record)];
    if (row->goes_to == GOES_TO_AGAIN)
      tide_followers_append_record(&left->followers, record, row->target_row);
    else
      request->on_source(tide_follower_source(record), request->data);
  }
}

guint32
tide_row_set_drop(TideRowSet *set, const TideDropRequest *request)
{
  guint32 n_gone = mark_gone(set, request);
  if (n_gone == 0)
    return 0;
  TideRowSet left;
  tide_row_set_init(&left, set->budget, set->protocol, set->rule, set->families);
  part_rows(set, request, &left);
  part_sources(set, request, &left);
  tide_row_set_clear(set);
  *set = left;
  tide_row_set_charge(set);
  return n_gone;
}
