#include "decode/name_set.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64u /* a power of two */

void
tide_name_set_clear_memory(TideNameSet *set)
{
  g_free(set->slots);
  *set = (TideNameSet){0};
}

void
tide_name_set_reset(TideNameSet *set)
{
  if (set->n_names == 0)
    return;
  set->n_names = 0;
  set->generation++;
  if (set->generation > 0)
    return;
  /* The count has gone round: what it marked long ago must not look new. */
  memset(set->slots, 0, set->n_slots * sizeof *set->slots);
  set->generation = 1;
}

/* The slot that holds @name, or the free one where it belongs. */
static TideNameSetSlot *
slot_of(const TideNameSet *set, TideBytes name)
{
  guint32 at = (guint32)XXH3_64bits(name.len > 0 ? name.data : (const guint8 *)"", name.len);
  for (;; at++) {
    TideNameSetSlot *slot = &set->slots[at & (set->n_slots - 1)];
    if (slot->generation != set->generation || tide_bytes_equal(slot->name, name))
      return slot;
  }
}

static void
grow(TideNameSet *set)
{
  TideNameSet bigger = {.n_slots = MAX(set->n_slots * 2, FIRST_SLOTS), .n_names = set->n_names, .generation = 1};
  bigger.slots = g_new0(TideNameSetSlot, bigger.n_slots);
  for (guint32 i = 0; i < set->n_slots; i++)
    if (set->slots[i].generation == set->generation)
      *slot_of(&bigger, set->slots[i].name) = (TideNameSetSlot){set->slots[i].name, bigger.generation};
  g_free(set->slots);
  *set = bigger;
}

gboolean
tide_name_set_add(TideNameSet *set, TideBytes name)
{
  if ((set->n_names + 1) * 2 > set->n_slots)
    grow(set);
  TideNameSetSlot *slot = slot_of(set, name);
  if (slot->generation == set->generation)
    return FALSE;
  *slot = (TideNameSetSlot){name, set->generation};
  set->n_names++;
  return TRUE;
}
