#include "rows/unsettled.h"

#define FIRST_CAPACITY 1024u

typedef struct Cell {
  guint64 identity; /* 0: the slot is empty */
  guint64 content;
  gint64 until_us;
} Cell;

struct TideUnsettled {
  TideBudget *share; /* borrowed */
  /* owner's */
  Cell *slots; /* owned; open-addressed, a power of two */
  guint32 capacity;
  guint32 n_cells;
  gint64 first_until_us; /* nothing settles before this ... */
  gint64 last_until_us;  /* ... and all has at this */
};

static const TideUnsettled empty = {.first_until_us = G_MAXINT64};

TideUnsettled *
tide_unsettled_new(TideBudget *share)
{
  TideUnsettled *unsettled = g_new(TideUnsettled, 1);
  *unsettled = empty;
  unsettled->share = share;
  return unsettled;
}

void
tide_unsettled_free(TideUnsettled *unsettled)
{
  if (unsettled == NULL)
    return;
  tide_budget_charge(unsettled->share, -(gint64)(unsettled->capacity * sizeof(Cell)));
  g_free(unsettled->slots);
  g_free(unsettled);
}

gboolean
tide_unsettled_is_empty(const TideUnsettled *unsettled)
{
  return unsettled->n_cells == 0;
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

/* Makes a table of @capacity with those that are unsettled after @to_us. */
static void
rebuild(TideUnsettled *unsettled, guint32 capacity, gint64 to_us)
{
  TideUnsettled fresh = empty;
  fresh.share = unsettled->share;
  fresh.capacity = capacity;
  fresh.slots = g_new0(Cell, capacity);
  for (guint32 i = 0; i < unsettled->capacity; i++) {
    const Cell *cell = &unsettled->slots[i];
    if (cell->identity == 0 || cell->until_us <= to_us)
      continue;
    *find_slot(&fresh, cell->identity) = *cell;
    fresh.n_cells++;
    fresh.first_until_us = MIN(fresh.first_until_us, cell->until_us);
    fresh.last_until_us = MAX(fresh.last_until_us, cell->until_us);
  }
  tide_budget_charge(unsettled->share, ((gint64)capacity - unsettled->capacity) * (gint64)sizeof(Cell));
  g_free(unsettled->slots);
  *unsettled = fresh;
}

static gboolean
make_room(TideUnsettled *unsettled)
{
  if ((unsettled->n_cells + 1) * 2 <= unsettled->capacity)
    return TRUE;
  guint32 capacity = MAX(unsettled->capacity * 2, FIRST_CAPACITY);
  guint64 more_bytes = (guint64)(capacity - unsettled->capacity) * sizeof(Cell);
  if (tide_budget_used_racy(unsettled->share) + more_bytes > unsettled->share->limit_bytes)
    return FALSE;
  rebuild(unsettled, capacity, G_MININT64);
  return TRUE;
}

gboolean
tide_unsettled_add(TideUnsettled *unsettled, guint64 identity, guint64 content, gint64 until_us)
{
  if (!make_room(unsettled))
    return FALSE;
  Cell *slot = find_slot(unsettled, identity);
  if (slot->identity == 0) {
    *slot = (Cell){identity, content, until_us};
    unsettled->n_cells++;
  } else {
    slot->content = slot->content == content ? content : TIDE_CONTENT_ANY;
    slot->until_us = MAX(slot->until_us, until_us);
  }
  unsettled->first_until_us = MIN(unsettled->first_until_us, slot->until_us);
  unsettled->last_until_us = MAX(unsettled->last_until_us, slot->until_us);
  return TRUE;
}

gint64
tide_unsettled_conflict_us(const TideUnsettled *unsettled, guint64 identity, guint64 content, gint64 sealed_us)
{
  if (unsettled->n_cells == 0)
    return 0;
  const Cell *slot = find_slot(unsettled, identity);
  return slot->identity != 0 && slot->until_us > sealed_us && slot->content != content ? slot->until_us : 0;
}

void
tide_unsettled_expire(TideUnsettled *unsettled, gint64 to_us)
{
  if (unsettled->n_cells == 0 || unsettled->first_until_us > to_us)
    return;
  if (unsettled->last_until_us > to_us) {
    rebuild(unsettled, unsettled->capacity, to_us);
    return;
  }
  tide_budget_charge(unsettled->share, -(gint64)(unsettled->capacity * sizeof(Cell)));
  g_free(unsettled->slots);
  TideBudget *share = unsettled->share;
  *unsettled = empty;
  unsettled->share = share;
}
