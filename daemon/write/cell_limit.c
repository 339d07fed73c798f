#include "write/cell_limit.h"

#include "write/named_row.h"

/* Lengths, time and type: four bytes more than HBase's client counts (model/table/table_mapper.h), and a few more than
 * a cell's row may have on the wire, in the compact protocol. */
#define CELL_OVERHEAD_BYTES 24u

/* Whole seconds of the monotonic clock, as long as a machine runs. */
static guint64
pack(gsize bytes, guint32 until_s)
{
  return (guint64)MIN(bytes, G_MAXUINT32) << 32 | until_s;
}

static gsize
bytes_of(guint64 known)
{
  return known >> 32;
}

static void
learn_refused(TideCellLimit *limit, const TideBatch *batch, const TideBatchPoison *poison, gint64 now_us)
{
  gsize bytes = tide_text_cell_limit(poison->text);
  if (bytes == 0 || bytes >= tide_batch_row_wire(batch, poison->row).len)
    return; /* another reason, or it is said of another row */
  guint64 known = pack(bytes, (guint32)((now_us + TIDE_BELIEF_US) / TIDE_US_PER_S));
  atomic_store_explicit(&limit->known, known, memory_order_relaxed);
}

/* Rows of so many bytes are taken. What others say meanwhile may be lost: it is a guess. */
static void
learn_taken(TideCellLimit *limit, gsize bytes)
{
  guint64 known = atomic_load_explicit(&limit->known, memory_order_relaxed);
  if (known != 0 && bytes > bytes_of(known))
    atomic_compare_exchange_strong_explicit(&limit->known, &known, pack(bytes, (guint32)known), memory_order_relaxed,
                                            memory_order_relaxed);
}

void
tide_cell_limit_learn(TideCellLimit *limit, const TideBatch *batch, gint64 now_us)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  for (gsize i = 0; i < n_poison; i++)
    learn_refused(limit, batch, &poison[i], now_us);
  for (guint32 row = 0; batch->is_apart && !tide_batch_is_cancelled(batch) && row < batch->n_rows; row++)
    if (tide_batch_find_poison(batch, row) == NULL)
      learn_taken(limit, tide_batch_row_wire(batch, row).len + CELL_OVERHEAD_BYTES);
}

/* As a region server counts it: PrivateCellUtil.estimatedSerializedSizeOf(). */
static gsize
cell_bytes(TideBytes key, const TideCell *cell)
{
  return key.len + cell->column->family.len + cell->column->qualifier.len + cell->value.len + CELL_OVERHEAD_BYTES;
}

gboolean
tide_cell_limit_is_below(TideCellLimit *limit, const TideRow *row, gint64 now_us)
{
  guint64 known = atomic_load_explicit(&limit->known, memory_order_relaxed);
  gsize largest = 0;
  if (now_us / TIDE_US_PER_S >= (guint32)known) { /* it is over, if no other has learned anew */
    atomic_compare_exchange_strong_explicit(&limit->known, &known, 0, memory_order_relaxed, memory_order_relaxed);
    return FALSE;
  }
  for (guint32 i = 0; i < row->n_cells; i++)
    largest = MAX(largest, cell_bytes(row->key, &row->cells[i]));
  return largest > bytes_of(known);
}
