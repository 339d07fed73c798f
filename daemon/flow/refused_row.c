#include "flow/refused_row.h"

#include <string.h>

struct TideRefusedRow {
  TideBudget *budget; /* borrowed */
  gsize len;
  guint8 wire[];
};

static gint64
memory_bytes(const TideRefusedRow *row)
{
  return (gint64)(sizeof *row + row->len);
}

TideRefusedRow *
tide_refused_row_new(TideBudget *budget, TideBytes wire)
{
  TideRefusedRow *row = g_atomic_rc_box_alloc(sizeof *row + wire.len);
  row->budget = budget;
  row->len = wire.len;
  if (wire.len > 0)
    memcpy(row->wire, wire.data, wire.len);
  tide_budget_charge(budget, memory_bytes(row));
  return row;
}

TideRefusedRow *
tide_refused_row_ref(TideRefusedRow *row)
{
  return g_atomic_rc_box_acquire(row);
}

static void
give_back(gpointer data)
{
  const TideRefusedRow *row = data;
  tide_budget_charge(row->budget, -memory_bytes(row));
}

void
tide_refused_row_unref(TideRefusedRow *row)
{
  if (row != NULL)
    g_atomic_rc_box_release_full(row, give_back);
}

TideBytes
tide_refused_row_wire(const TideRefusedRow *row)
{
  return tide_bytes(row->wire, row->len);
}
