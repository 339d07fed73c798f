#include "dead_letters/refused_row.h"

#include <stdatomic.h>
#include <string.h>

static gsize
memory_bytes(const TideRefusedRow *row)
{
  return sizeof *row + row->table.len + row->key.len + row->text.len + row->wire.len;
}

/* Copies @bytes to *@end, and moves that behind them. */
static TideBytes
keep(guint8 **end, TideBytes bytes)
{
  if (bytes.len == 0)
    return TIDE_BYTES_EMPTY;
  TideBytes copy = tide_bytes(memcpy(*end, bytes.data, bytes.len), bytes.len);
  *end += bytes.len;
  return copy;
}

TideRefusedRow *
tide_refused_row_new(const TideRefusedRow *row)
{
  TideRefusedRow *copy = g_malloc(memory_bytes(row));
  guint8 *end = (guint8 *)(copy + 1);
  *copy = *row;
  atomic_init(&copy->n_refs, 1);
  copy->table = keep(&end, row->table);
  copy->key = keep(&end, row->key);
  copy->text = keep(&end, row->text);
  copy->wire = keep(&end, row->wire);
  tide_budget_charge(copy->budget, (gint64)memory_bytes(copy));
  return copy;
}

TideRefusedRow *
tide_refused_row_ref(TideRefusedRow *row)
{
  atomic_fetch_add_explicit(&row->n_refs, 1, memory_order_relaxed);
  return row;
}

void
tide_refused_row_unref(TideRefusedRow *row)
{
  if (row == NULL || atomic_fetch_sub_explicit(&row->n_refs, 1, memory_order_acq_rel) > 1)
    return;
  tide_budget_charge(row->budget, -(gint64)memory_bytes(row));
  g_free(row);
}
