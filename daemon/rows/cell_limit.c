#include "rows/cell_limit.h"

#include "write/named_row.h"

/* Lengths, time and type: four bytes more than HBase's client counts (model/table/table_mapper.h), and a few more than
 * a cell's row may have on the wire, in the compact protocol. */
#define CELL_OVERHEAD_BYTES 24u

static void
learn_refused(TideCellLimit *limit, const TideBatch *batch, const TideBatchPoison *poison, gsize *taken_bytes,
              gint64 now_us)
{
  gsize bytes = tide_text_cell_limit(poison->text);
  if (bytes == 0 || bytes >= tide_batch_row_wire(batch, poison->row).len)
    return; /* another reason, or it is said of another row */
  *limit = (TideCellLimit){bytes, now_us + TIDE_BELIEF_US};
  *taken_bytes = 0;
}

void
tide_cell_limit_learn(TideCellLimit *limit, const TideBatch *batch, gsize *taken_bytes, gint64 now_us)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  for (gsize i = 0; i < n_poison; i++)
    learn_refused(limit, batch, &poison[i], taken_bytes, now_us);
  for (guint32 row = 0; batch->is_apart && row < batch->n_rows; row++)
    if (tide_batch_find_poison(batch, row) == NULL && !tide_batch_is_given_up(batch, row))
      *taken_bytes = MAX(*taken_bytes, tide_batch_row_wire(batch, row).len + CELL_OVERHEAD_BYTES);
}

/* As a region server counts it: PrivateCellUtil.estimatedSerializedSizeOf(). */
static gsize
cell_bytes(TideBytes key, const TideCell *cell)
{
  return key.len + cell->column->family.len + cell->column->qualifier.len + cell->value.len + CELL_OVERHEAD_BYTES;
}

gboolean
tide_cell_limit_is_exceeded(const TideCellLimit *limit, const TideRow *row, gsize taken_bytes, gint64 now_us)
{
  gsize largest = 0;
  for (guint32 i = 0; i < row->n_cells; i++)
    largest = MAX(largest, cell_bytes(row->key, &row->cells[i]));
  return largest > limit->bytes && largest > taken_bytes && now_us < limit->until_us;
}
