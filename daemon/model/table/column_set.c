#include "model/table/column_set.h"

#include "thrift/wire/put_encoder.h"

/* Inlined: the inputs are short, and a call through the library costs as much as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHUNK_BYTES 16384u /* some hundred columns */
#define FIRST_SLOTS 64u    /* a power of two */
#define MAX_SLOTS_PER_COLUMN 32u

typedef struct Chunk {
  guint8 *data; /* owned */
  gsize capacity;
} Chunk;

/* Columns of one lifetime: their memory, and a hash table with linear probing, at most half full. */
typedef struct Tier {
  GArray *chunks;   /* owned (element-type Chunk); they never move or shrink */
  guint chunk;      /* the chunk being filled */
  gsize used_bytes; /* of that chunk */
  gsize total_bytes;
  TideSetColumn **slots; /* owned; NULL: free */
  guint32 n_slots;       /* a power of two */
  guint32 n_columns;
} Tier;

struct TideColumnSet {
  TideWireProtocol protocol;
  Tier tiers[2];     /* by TideColumnLife */
  TideBuffer prefix; /* scratch */
};

TideColumnSet *
tide_column_set_new(TideWireProtocol protocol)
{
  TideColumnSet *set = g_new0(TideColumnSet, 1);
  set->protocol = protocol;
  for (gsize i = 0; i < G_N_ELEMENTS(set->tiers); i++)
    set->tiers[i] = (Tier){.chunks = g_array_new(FALSE, FALSE, sizeof(Chunk)),
                           .slots = g_new0(TideSetColumn *, FIRST_SLOTS),
                           .n_slots = FIRST_SLOTS};
  return set;
}

static void
clear_tier(Tier *tier)
{
  for (guint i = 0; i < tier->chunks->len; i++)
    g_free(g_array_index(tier->chunks, Chunk, i).data);
  g_array_unref(tier->chunks);
  g_free(tier->slots);
}

void
tide_column_set_free(TideColumnSet *set)
{
  if (set == NULL)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS(set->tiers); i++)
    clear_tier(&set->tiers[i]);
  tide_buffer_clear_memory(&set->prefix);
  g_free(set);
}

TideColumnLife
tide_column_set_life(const TideColumnSet *set)
{
  const Tier *kept = &set->tiers[TIDE_COLUMN_KEPT];
  gboolean has_room = kept->n_columns < TIDE_COLUMN_SET_MAX_COLUMNS && kept->total_bytes < TIDE_COLUMN_SET_MAX_BYTES;
  return has_room ? TIDE_COLUMN_KEPT : TIDE_COLUMN_OF_MESSAGE;
}

gpointer
tide_column_set_allocate(TideColumnSet *set, TideColumnLife life, gsize n_bytes)
{
  Tier *tier = &set->tiers[life];
  gsize aligned = (n_bytes + 15) & ~(gsize)15;
  while (tier->chunk < tier->chunks->len &&
         g_array_index(tier->chunks, Chunk, tier->chunk).capacity - tier->used_bytes < aligned) {
    tier->chunk++;
    tier->used_bytes = 0;
  }
  if (tier->chunk == tier->chunks->len) {
    Chunk fresh = {.capacity = MAX(CHUNK_BYTES, aligned)};
    fresh.data = g_malloc(fresh.capacity);
    g_array_append_val(tier->chunks, fresh);
  }
  gpointer memory = g_array_index(tier->chunks, Chunk, tier->chunk).data + tier->used_bytes;
  tier->used_bytes += aligned;
  tier->total_bytes += aligned;
  return memory;
}

TideBytes
tide_column_set_copy(TideColumnSet *set, TideColumnLife life, TideBytes bytes)
{
  if (bytes.len == 0)
    return TIDE_BYTES_EMPTY;
  guint8 *data = tide_column_set_allocate(set, life, bytes.len);
  memcpy(data, bytes.data, bytes.len);
  return tide_bytes(data, bytes.len);
}

/* The slot of the column with @prefix, or the free slot where it belongs. */
static TideSetColumn **
slot_of(const Tier *tier, TideBytes prefix, guint64 hash)
{
  guint32 slot = (guint32)hash & (tier->n_slots - 1);
  for (; tier->slots[slot] != NULL; slot = (slot + 1) & (tier->n_slots - 1)) {
    const TideColumn *column = &tier->slots[slot]->column;
    if (column->hash == hash && tide_bytes_equal(column->prefix, prefix))
      break;
  }
  return &tier->slots[slot];
}

static TideSetColumn *
add(TideColumnSet *set, TideBytes family, TideBytes qualifier, guint64 hash)
{
  TideColumnLife life = tide_column_set_life(set);
  Tier *tier = &set->tiers[life];
  if ((tier->n_columns + 1) * 2 > tier->n_slots) {
    g_autofree TideSetColumn **before = tier->slots;
    guint32 n_before = tier->n_slots;
    tier->n_slots *= 2;
    tier->slots = g_new0(TideSetColumn *, tier->n_slots);
    for (guint32 i = 0; i < n_before; i++)
      if (before[i] != NULL)
        *slot_of(tier, before[i]->column.prefix, before[i]->column.hash) = before[i];
  }
  TideSetColumn *added = tide_column_set_allocate(set, life, sizeof *added);
  *added = (TideSetColumn){
      .column = {.family = family,
                 .qualifier = tide_column_set_copy(set, life, qualifier),
                 .prefix = tide_column_set_copy(set, life, tide_buffer_bytes(&set->prefix)),
                 .hash = hash},
      .life = life,
  };
  *slot_of(tier, added->column.prefix, hash) = added;
  tier->n_columns++;
  return added;
}

TideSetColumn *
tide_column_set_find(TideColumnSet *set, TideBytes family, TideBytes qualifier)
{
  tide_buffer_reset(&set->prefix);
  tide_column_prefix_append(set->protocol, &set->prefix, family, qualifier);
  TideBytes prefix = tide_buffer_bytes(&set->prefix);
  guint64 hash = XXH3_64bits(prefix.data, prefix.len);
  for (gsize i = 0; i < G_N_ELEMENTS(set->tiers); i++) {
    TideSetColumn *found = *slot_of(&set->tiers[i], prefix, hash);
    if (found != NULL)
      return found;
  }
  return add(set, family, qualifier, hash);
}

void
tide_column_set_begin_message(TideColumnSet *set)
{
  Tier *tier = &set->tiers[TIDE_COLUMN_OF_MESSAGE];
  if (G_LIKELY(tier->total_bytes == 0))
    return;
  /* Shrink after a message with very many columns, because clearing its slots each time would slow down all later
   * messages. */
  if (tier->n_slots > FIRST_SLOTS && tier->n_columns > 0 && tier->n_columns < tier->n_slots / MAX_SLOTS_PER_COLUMN) {
    g_free(tier->slots);
    tier->n_slots = FIRST_SLOTS;
    tier->slots = g_new0(TideSetColumn *, tier->n_slots);
  } else if (tier->n_columns > 0) {
    memset(tier->slots, 0, tier->n_slots * sizeof *tier->slots);
  }
  tier->n_columns = 0;
  tier->chunk = 0;
  tier->used_bytes = tier->total_bytes = 0;
}
