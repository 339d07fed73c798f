#include "rows/cells_in_doubt.h"

#define FIRST_CAPACITY 1024u

typedef struct Cell {
  guint64 identity; /* 0: the slot is empty */
  guint64 content;
  gint64 until_us;
} Cell;

struct TideCellsInDoubt {
  TideBudget *share; /* borrowed */
  /* owner's */
  Cell *slots; /* owned; open-addressed, a power of two */
  guint32 capacity;
  guint32 n_cells;
  gint64 first_until_us; /* nothing settles before this ... */
  gint64 last_until_us;  /* ... and all has at this */
};

static const TideCellsInDoubt empty = {.first_until_us = G_MAXINT64};

TideCellsInDoubt *
tide_cells_in_doubt_new(TideBudget *share)
{
  TideCellsInDoubt *in_doubt = g_new(TideCellsInDoubt, 1);
  *in_doubt = empty;
  in_doubt->share = share;
  return in_doubt;
}

void
tide_cells_in_doubt_free(TideCellsInDoubt *in_doubt)
{
  if (in_doubt == NULL)
    return;
  tide_budget_charge(in_doubt->share, -(gint64)(in_doubt->capacity * sizeof(Cell)));
  g_free(in_doubt->slots);
  g_free(in_doubt);
}

gboolean
tide_cells_in_doubt_is_empty(const TideCellsInDoubt *in_doubt)
{
  return in_doubt->n_cells == 0;
}

static Cell *
find_slot(const TideCellsInDoubt *in_doubt, guint64 identity)
{
  guint32 mask = in_doubt->capacity - 1;
  guint32 slot = (guint32)identity & mask;
  while (in_doubt->slots[slot].identity != 0 && in_doubt->slots[slot].identity != identity)
    slot = (slot + 1) & mask;
  return &in_doubt->slots[slot];
}

/* Makes a table of @capacity with those that are in doubt after @to_us. */
static void
rebuild(TideCellsInDoubt *in_doubt, guint32 capacity, gint64 to_us)
{
  TideCellsInDoubt fresh = empty;
  fresh.share = in_doubt->share;
  fresh.capacity = capacity;
  fresh.slots = g_new0(Cell, capacity);
  for (guint32 i = 0; i < in_doubt->capacity; i++) {
    const Cell *cell = &in_doubt->slots[i];
    if (cell->identity == 0 || cell->until_us <= to_us)
      continue;
    *find_slot(&fresh, cell->identity) = *cell;
    fresh.n_cells++;
    fresh.first_until_us = MIN(fresh.first_until_us, cell->until_us);
    fresh.last_until_us = MAX(fresh.last_until_us, cell->until_us);
  }
  tide_budget_charge(in_doubt->share, ((gint64)capacity - in_doubt->capacity) * (gint64)sizeof(Cell));
  g_free(in_doubt->slots);
  *in_doubt = fresh;
}

static gboolean
make_room(TideCellsInDoubt *in_doubt)
{
  if ((in_doubt->n_cells + 1) * 2 <= in_doubt->capacity)
    return TRUE;
  guint32 capacity = MAX(in_doubt->capacity * 2, FIRST_CAPACITY);
  guint64 more_bytes = (guint64)(capacity - in_doubt->capacity) * sizeof(Cell);
  if (tide_budget_used_racy(in_doubt->share) + more_bytes > in_doubt->share->limit_bytes)
    return FALSE;
  rebuild(in_doubt, capacity, G_MININT64);
  return TRUE;
}

gboolean
tide_cells_in_doubt_add(TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 until_us)
{
  if (!make_room(in_doubt))
    return FALSE;
  Cell *slot = find_slot(in_doubt, identity);
  if (slot->identity == 0) {
    *slot = (Cell){identity, content, until_us};
    in_doubt->n_cells++;
  } else {
    slot->content = slot->content == content ? content : TIDE_CONTENT_ANY;
    slot->until_us = MAX(slot->until_us, until_us);
  }
  in_doubt->first_until_us = MIN(in_doubt->first_until_us, slot->until_us);
  in_doubt->last_until_us = MAX(in_doubt->last_until_us, slot->until_us);
  return TRUE;
}

gint64
tide_cells_in_doubt_conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 sealed_us)
{
  if (in_doubt->n_cells == 0)
    return 0;
  const Cell *slot = find_slot(in_doubt, identity);
  return slot->identity != 0 && slot->until_us > sealed_us && slot->content != content ? slot->until_us : 0;
}

void
tide_cells_in_doubt_expire(TideCellsInDoubt *in_doubt, gint64 to_us)
{
  if (in_doubt->n_cells == 0 || in_doubt->first_until_us > to_us)
    return;
  if (in_doubt->last_until_us > to_us) {
    rebuild(in_doubt, in_doubt->capacity, to_us);
    return;
  }
  tide_budget_charge(in_doubt->share, -(gint64)(in_doubt->capacity * sizeof(Cell)));
  g_free(in_doubt->slots);
  TideBudget *share = in_doubt->share;
  *in_doubt = empty;
  in_doubt->share = share;
}
