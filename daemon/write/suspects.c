#include "write/suspects.h"

#include "util/clock.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A power of two: 900 KiB, and more rows than one or two minutes can isolate. */
#define N_SLOTS 16384u

/* A row's evidence is in one of this many slots, starting at that of its identity. */
#define N_PLACES 4u

#define KNOWN_US (3600 * TIDE_US_PER_S)

void
tide_suspects_init(TideSuspects *suspects)
{
  *suspects = (TideSuspects){0};
  tide_mutex_init(&suspects->lock);
}

void
tide_suspects_clear(TideSuspects *suspects)
{
  g_free(suspects->slots);
  tide_mutex_clear(&suspects->lock);
}

guint64
tide_suspects_identity(const TideBatch *batch, guint32 row)
{
  const char *table = batch->lane->table->name;
  TideBytes wire = tide_batch_row_wire(batch, row); /* includes the key */
  guint64 identity = XXH3_64bits_withSeed(wire.data, wire.len, XXH3_64bits(table, strlen(table)));
  return identity != 0 ? identity : 1;
}

/* The slot of @identity; NULL: unknown. */
static TideSuspect *
find_locked(const TideSuspects *suspects, guint64 identity, gint64 now_us)
{
  for (guint i = 0; suspects->slots != NULL && i < N_PLACES; i++) {
    TideSuspect *slot = &suspects->slots[(identity + i) % N_SLOTS];
    if (slot->identity == identity && now_us - slot->seen_us < KNOWN_US)
      return slot;
  }
  return NULL;
}

void
tide_suspects_mark(TideSuspects *suspects, TideBatch *batch, gint64 now_us)
{
  if (G_LIKELY(atomic_load_explicit(&suspects->is_any_us, memory_order_relaxed) <= now_us))
    return;
  tide_mutex_lock(&suspects->lock);
  for (guint32 row = 0; row < batch->n_rows; row++)
    if (find_locked(suspects, tide_suspects_identity(batch, row), now_us) != NULL)
      tide_batch_set_row_state(batch, row, TIDE_ROW_SUSPECT);
  tide_mutex_unlock(&suspects->lock);
}

TideSuspect
tide_suspects_find(TideSuspects *suspects, guint64 identity, gint64 now_us)
{
  tide_mutex_lock(&suspects->lock);
  const TideSuspect *slot = find_locked(suspects, identity, now_us);
  TideSuspect found = slot != NULL ? *slot : (TideSuspect){.identity = identity};
  tide_mutex_unlock(&suspects->lock);
  return found;
}

void
tide_suspects_keep(TideSuspects *suspects, const TideSuspect *suspect)
{
  tide_mutex_lock(&suspects->lock);
  if (suspects->slots == NULL)
    suspects->slots = g_new0(TideSuspect, N_SLOTS);
  TideSuspect *slot = find_locked(suspects, suspect->identity, suspect->seen_us);
  for (guint i = 0; slot == NULL && i < N_PLACES; i++) {
    TideSuspect *place = &suspects->slots[(suspect->identity + i) % N_SLOTS];
    gboolean is_over = place->identity == 0 || suspect->seen_us - place->seen_us >= KNOWN_US;
    slot = is_over || place->n_rounds >= TIDE_SUSPECT_ROUNDS ? place : NULL;
  }
  if (slot != NULL)
    *slot = *suspect;
  tide_mutex_unlock(&suspects->lock);
  atomic_store_explicit(&suspects->is_any_us, suspect->seen_us + KNOWN_US, memory_order_relaxed);
}

void
tide_suspects_forget(TideSuspects *suspects, guint64 identity)
{
  tide_mutex_lock(&suspects->lock);
  for (guint i = 0; suspects->slots != NULL && i < N_PLACES; i++) {
    TideSuspect *slot = &suspects->slots[(identity + i) % N_SLOTS];
    if (slot->identity == identity)
      *slot = (TideSuspect){0};
  }
  tide_mutex_unlock(&suspects->lock);
}
