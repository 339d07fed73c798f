#include "flow/unsettled.h"

#include "thrift/mutation_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct Cell {
  guint64 identity; /* of row key, column and time; 0: the slot is empty */
  guint64 content;  /* of the whole encoded cell */
  gint64 until_us;
} Cell;

struct TideUnsettled {
  TideWireProtocol protocol; /* read-only */
  /* owner's */
  Cell *slots; /* owned; open-addressed, a power of two */
  guint32 capacity;
  guint32 n_cells;
  gint64 first_until_us; /* nothing settles before this */
};

TideUnsettled *
tide_unsettled_new(TideWireProtocol protocol)
{
  TideUnsettled *unsettled = g_new0(TideUnsettled, 1);
  unsettled->protocol = protocol;
  unsettled->first_until_us = G_MAXINT64;
  return unsettled;
}

void
tide_unsettled_free(TideUnsettled *unsettled)
{
  if (unsettled == NULL)
    return;
  g_free(unsettled->slots);
  g_free(unsettled);
}

gboolean
tide_unsettled_is_empty(const TideUnsettled *unsettled)
{
  return unsettled->n_cells == 0;
}

static guint64
identity_of(guint64 key_hash, guint64 column_hash, gint64 timestamp_ms)
{
  const guint64 parts[] = {key_hash, column_hash, (guint64)timestamp_ms};
  guint64 identity = XXH3_64bits(parts, sizeof parts);
  return identity != 0 ? identity : 1;
}

static Cell *
find_slot(const TideUnsettled *unsettled, guint64 identity)
{
  guint32 mask = unsettled->capacity - 1;
  guint32 place = (guint32)identity & mask;
  while (unsettled->slots[place].identity != 0 && unsettled->slots[place].identity != identity)
    place = (place + 1) & mask;
  return &unsettled->slots[place];
}

/* Makes a table of @capacity with those that are unsettled after @now_us. */
static void
rebuild(TideUnsettled *unsettled, guint32 capacity, gint64 now_us)
{
  TideUnsettled fresh = {.protocol = unsettled->protocol, .capacity = capacity, .first_until_us = G_MAXINT64};
  fresh.slots = g_new0(Cell, capacity);
  for (guint32 i = 0; i < unsettled->capacity; i++) {
    const Cell *cell = &unsettled->slots[i];
    if (cell->identity == 0 || cell->until_us <= now_us)
      continue;
    *find_slot(&fresh, cell->identity) = *cell;
    fresh.n_cells++;
    fresh.first_until_us = MIN(fresh.first_until_us, cell->until_us);
  }
  g_free(unsettled->slots);
  *unsettled = fresh;
}

static gboolean
add_cell(TideUnsettled *unsettled, guint64 identity, TideBytes encoded, gint64 until_us)
{
  if ((unsettled->n_cells + 1) * 2 > unsettled->capacity)
    rebuild(unsettled, MAX(unsettled->capacity * 2, 1024), 0);
  Cell *slot = find_slot(unsettled, identity);
  if (slot->identity == 0) {
    if (unsettled->n_cells >= TIDE_UNSETTLED_MAX_CELLS)
      return FALSE;
    unsettled->n_cells++;
  }
  *slot = (Cell){identity, XXH3_64bits(encoded.data, encoded.len), until_us};
  unsettled->first_until_us = MIN(unsettled->first_until_us, until_us);
  return TRUE;
}

/* The list of cells of the put that @reader stands at the start of; FALSE when our own bytes cannot be read. */
static gboolean
enter_cells(TideWireReader *reader, guint32 *ret_n_cells)
{
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 2 && tide_wire_field_is(reader, &field, TIDE_WIRE_LIST))
      return tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, ret_n_cells);
    tide_wire_skip(reader, field.type);
  }
  return FALSE;
}

/* Reads one TColumnValue; its prefix is family and qualifier as they stand. */
static void
read_cell(TideWireReader *reader, TideBytes *ret_prefix, gint64 *ret_timestamp_ms)
{
  gsize start = reader->offset;
  TideWireField field = {0};
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 4)
      *ret_timestamp_ms = tide_wire_read_i64(reader);
    else
      tide_wire_skip(reader, field.type);
    if (field.id == 2)
      *ret_prefix = tide_bytes(reader->data + start, reader->offset - start);
  }
}

/* @reader stands at the start of the row's put. */
static guint64
add_row(TideUnsettled *unsettled, TideWireReader *reader, guint64 key_hash, gint64 until_us)
{
  guint32 n_cells = 0;
  g_assert(enter_cells(reader, &n_cells));
  guint64 n_missed = 0;
  for (guint32 i = 0; i < n_cells; i++) {
    gsize start = reader->offset;
    TideBytes prefix = TIDE_BYTES_EMPTY;
    gint64 timestamp_ms = 0;
    read_cell(reader, &prefix, &timestamp_ms);
    guint64 identity = identity_of(key_hash, XXH3_64bits(prefix.data, prefix.len), timestamp_ms);
    TideBytes encoded = tide_bytes(reader->data + start, reader->offset - start);
    n_missed += add_cell(unsettled, identity, encoded, until_us) ? 0 : 1;
  }
  return n_missed;
}

guint64
tide_unsettled_add_batch(TideUnsettled *unsettled, const TideBatch *batch, gint64 until_us)
{
  guint64 n_missed = 0;
  for (guint32 i = 0; i < batch->n_rows; i++) {
    TideWireReader reader;
    tide_wire_reader_init(&reader, unsettled->protocol, tide_batch_row_wire(batch, i));
    if (!batch->is_mutations || tide_mutations_enter_put(&reader))
      n_missed += add_row(unsettled, &reader, tide_key_hash(tide_batch_row_key(batch, i)), until_us);
  }
  return n_missed;
}

gboolean
tide_unsettled_conflicts(const TideUnsettled *unsettled, guint64 key_hash, const TideOpenCellView *cell, gint64 now_us,
                         gint64 *ret_until_us)
{
  if (unsettled->n_cells == 0)
    return FALSE;
  const Cell *slot = find_slot(unsettled, identity_of(key_hash, cell->column_hash, cell->timestamp_ms));
  if (slot->identity == 0 || slot->until_us <= now_us ||
      slot->content == XXH3_64bits(cell->encoded.data, cell->encoded.len))
    return FALSE;
  *ret_until_us = slot->until_us;
  return TRUE;
}

void
tide_unsettled_expire(TideUnsettled *unsettled, gint64 now_us)
{
  if (unsettled->n_cells > 0 && unsettled->first_until_us <= now_us)
    rebuild(unsettled, unsettled->capacity, now_us);
}
