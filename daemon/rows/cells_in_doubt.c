#include "rows/cells_in_doubt.h"

/* Each segment grows on its own, so that only a small part of the set is copied, and exists twice, at a time. */
#define N_SEGMENTS 256u

/* Initial slots of a segment, and its smallest growth. */
#define FEW_SLOTS 8u

/* Values of a slot's moment; 0 marks an empty slot. */
#define N_MOMENTS 256u

/* Together with the segment's number, a slot has all 64 bits of the identity. */
typedef struct Slot {
  guint32 identity_low; /* also determines its position in the segment */
  guint32 identity_middle : 24;
  guint32 moment : 8; /* index in moments_us; 0: the slot is empty */
  guint32 content;    /* 32 bits of the hash; TIDE_CONTENT_ANY */
} Slot;

G_STATIC_ASSERT(sizeof(Slot) == 12);

typedef struct Segment {
  Slot *slots; /* owned; open-addressed */
  guint32 capacity;
  guint32 n_cells;
} Segment;

/* Allocated while any cell is uncertain. */
typedef struct Cells {
  Segment segments[N_SEGMENTS];
  gint64 moments_us[N_MOMENTS]; /* when cells stop being uncertain; 0: free */
  guint last_moment;            /* last index used */
} Cells;

struct TideCellsInDoubt {
  TideBudget *share; /* borrowed */
  gint64 step_us;
  Cells *cells;          /* owned; NULL: no cell is uncertain */
  gint64 first_until_us; /* first moment in use ... */
  gint64 last_until_us;  /* ... and last one */
};

TideCellsInDoubt *
tide_cells_in_doubt_new(TideBudget *share, gint64 step_us)
{
  TideCellsInDoubt *in_doubt = g_new0(TideCellsInDoubt, 1);
  in_doubt->share = share;
  in_doubt->step_us = MAX(step_us, 1);
  return in_doubt;
}

static void
forget_all(TideCellsInDoubt *in_doubt)
{
  if (in_doubt->cells == NULL)
    return;
  gsize bytes = sizeof(Cells);
  for (guint i = 0; i < N_SEGMENTS; i++) {
    bytes += in_doubt->cells->segments[i].capacity * sizeof(Slot);
    g_free(in_doubt->cells->segments[i].slots);
  }
  g_clear_pointer(&in_doubt->cells, g_free);
  tide_budget_charge(in_doubt->share, -(gint64)bytes);
}

void
tide_cells_in_doubt_free(TideCellsInDoubt *in_doubt)
{
  if (in_doubt == NULL)
    return;
  forget_all(in_doubt);
  g_free(in_doubt);
}

gboolean
tide_cells_in_doubt_is_empty(const TideCellsInDoubt *in_doubt)
{
  return in_doubt->cells == NULL;
}

/* ---- segments ---- */

static Segment *
segment_of(const TideCellsInDoubt *in_doubt, guint64 identity)
{
  return &in_doubt->cells->segments[identity >> 56];
}

/* The cell's slot, or the empty one where it would be. */
static Slot *
find_slot(const Segment *segment, guint32 identity_low, guint32 identity_middle)
{
  guint32 index = (guint32)((guint64)identity_low * segment->capacity >> 32);
  Slot *slot = &segment->slots[index];
  while (slot->moment != 0 && (slot->identity_low != identity_low || slot->identity_middle != identity_middle)) {
    index = index + 1 < segment->capacity ? index + 1 : 0;
    slot = &segment->slots[index];
  }
  return slot;
}

static Slot *
find_cell(const Segment *segment, guint64 identity)
{
  return find_slot(segment, (guint32)identity, (guint32)(identity >> 32) & 0xffffff);
}

/* Gives @segment at least @capacity slots and moves the cells whose moment is still in @cells. */
static void
rebuild(const Cells *cells, Segment *segment, guint32 capacity)
{
  Segment fresh = {.slots = g_new0(Slot, capacity), .capacity = capacity};
  for (guint32 i = 0; i < segment->capacity; i++) {
    const Slot *slot = &segment->slots[i];
    if (slot->moment == 0 || cells->moments_us[slot->moment] == 0)
      continue;
    *find_slot(&fresh, slot->identity_low, slot->identity_middle) = *slot;
    fresh.n_cells++;
  }
  g_free(segment->slots);
  *segment = fresh;
}

static gboolean
make_room(const TideCellsInDoubt *in_doubt, Segment *segment)
{
  if ((segment->n_cells + 1) * 8 <= segment->capacity * 7)
    return TRUE;
  guint32 n_more = MAX(segment->capacity / 8, FEW_SLOTS);
  if (!tide_budget_try_charge(in_doubt->share, n_more * sizeof(Slot)))
    return FALSE;
  rebuild(in_doubt->cells, segment, segment->capacity + n_more);
  return TRUE;
}

/* ---- moments ---- */

/* The index for @until_us, otherwise a free one, otherwise that of the next later moment; 0: none. */
static guint
find_moment(const Cells *cells, gint64 until_us)
{
  guint unused = 0, later = 0;
  for (guint i = 1; i < N_MOMENTS; i++) {
    gint64 at_us = cells->moments_us[i];
    if (at_us == until_us)
      return i;
    if (at_us == 0)
      unused = i;
    else if (at_us > until_us && (later == 0 || at_us < cells->moments_us[later]))
      later = i;
  }
  return unused != 0 ? unused : later;
}

static guint
last_moment(const Cells *cells)
{
  guint last = 1;
  for (guint i = 2; i < N_MOMENTS; i++)
    if (cells->moments_us[i] > cells->moments_us[last])
      last = i;
  return last;
}

/* The moment at @until_us, or a slightly later one, which does no harm. */
static guint
moment_of(TideCellsInDoubt *in_doubt, gint64 until_us)
{
  Cells *cells = in_doubt->cells;
  if (cells->moments_us[cells->last_moment] == until_us)
    return cells->last_moment;
  guint moment = find_moment(cells, until_us);
  if (moment == 0)
    moment = last_moment(cells); /* becomes later for all cells that use it */
  cells->moments_us[moment] = MAX(cells->moments_us[moment], until_us);
  cells->last_moment = moment;
  in_doubt->first_until_us = MIN(in_doubt->first_until_us, cells->moments_us[moment]);
  in_doubt->last_until_us = MAX(in_doubt->last_until_us, cells->moments_us[moment]);
  return moment;
}

/* ---- cells ---- */

static guint32
short_content(guint64 content)
{
  if (content == TIDE_CONTENT_ANY)
    return TIDE_CONTENT_ANY;
  return (guint32)content != TIDE_CONTENT_ANY ? (guint32)content : 1;
}

static gboolean
begin(TideCellsInDoubt *in_doubt)
{
  if (in_doubt->cells != NULL)
    return TRUE;
  if (!tide_budget_try_charge(in_doubt->share, sizeof(Cells)))
    return FALSE;
  in_doubt->cells = g_new0(Cells, 1);
  in_doubt->first_until_us = G_MAXINT64;
  in_doubt->last_until_us = 0;
  return TRUE;
}

gboolean
tide_cells_in_doubt_add(TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 until_us)
{
  if (!begin(in_doubt) || !make_room(in_doubt, segment_of(in_doubt, identity)))
    return FALSE;
  Segment *segment = segment_of(in_doubt, identity);
  guint moment = moment_of(in_doubt, (until_us + in_doubt->step_us - 1) / in_doubt->step_us * in_doubt->step_us);
  Slot *slot = find_cell(segment, identity);
  if (slot->moment == 0) {
    *slot = (Slot){(guint32)identity, (guint32)(identity >> 32) & 0xffffff, moment & 0xff, short_content(content)};
    segment->n_cells++;
    return TRUE;
  }
  const gint64 *moments_us = in_doubt->cells->moments_us;
  slot->content = slot->content == short_content(content) ? slot->content : TIDE_CONTENT_ANY;
  slot->moment = (moments_us[moment] > moments_us[slot->moment] ? moment : slot->moment) & 0xff;
  return TRUE;
}

gint64
tide_cells_in_doubt_conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 sealed_us)
{
  if (in_doubt->cells == NULL || segment_of(in_doubt, identity)->n_cells == 0)
    return 0;
  const Slot *slot = find_cell(segment_of(in_doubt, identity), identity);
  if (slot->moment == 0 || (slot->content == short_content(content) && slot->content != TIDE_CONTENT_ANY))
    return 0;
  gint64 until_us = in_doubt->cells->moments_us[slot->moment];
  return until_us > sealed_us ? until_us : 0;
}

/* ---- expiry ---- */

/* Frees moments up to @to_us. */
static void
expire_moments(TideCellsInDoubt *in_doubt, gint64 to_us)
{
  Cells *cells = in_doubt->cells;
  in_doubt->first_until_us = G_MAXINT64;
  for (guint i = 1; i < N_MOMENTS; i++) {
    if (cells->moments_us[i] <= to_us)
      cells->moments_us[i] = 0;
    else
      in_doubt->first_until_us = MIN(in_doubt->first_until_us, cells->moments_us[i]);
  }
}

static guint32
count_remaining(const Cells *cells, const Segment *segment)
{
  guint32 n_remaining = 0;
  for (guint32 i = 0; i < segment->capacity; i++)
    n_remaining += cells->moments_us[segment->slots[i].moment] != 0;
  return n_remaining;
}

static void
shrink(const TideCellsInDoubt *in_doubt, Segment *segment)
{
  guint32 n_remaining = count_remaining(in_doubt->cells, segment), before = segment->capacity;
  if (n_remaining == segment->n_cells)
    return;
  guint32 capacity = n_remaining > 0 ? n_remaining + MAX(n_remaining / 4, FEW_SLOTS) : 0; /* some room for growth */
  rebuild(in_doubt->cells, segment, MIN(capacity, before));
  tide_budget_charge(in_doubt->share, ((gint64)segment->capacity - before) * (gint64)sizeof(Slot));
}

static void
forget_some(TideCellsInDoubt *in_doubt, gint64 to_us)
{
  expire_moments(in_doubt, to_us);
  for (guint i = 0; i < N_SEGMENTS; i++)
    shrink(in_doubt, &in_doubt->cells->segments[i]);
}

void
tide_cells_in_doubt_expire(TideCellsInDoubt *in_doubt, gint64 to_us)
{
  if (in_doubt->cells == NULL)
    return;
  if (in_doubt->last_until_us <= to_us)
    forget_all(in_doubt);
  else if (in_doubt->first_until_us <= to_us)
    forget_some(in_doubt, to_us);
}
