#include "model/column_set.h"

#include "thrift/put_encoder.h"

/* Inlined: the inputs are short, and a call through the library costs as much as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHUNK_BYTES 16384u /* some hundred columns */

typedef struct Chunk {
  guint8 *data; /* owned */
  gsize capacity;
} Chunk;

struct TideColumnSet {
  TideWireProtocol protocol;
  GArray *chunks;    /* owned (element-type Chunk); they never move or shrink */
  guint chunk;       /* the one that is being filled */
  gsize used_bytes;  /* of it */
  TideBuffer prefix; /* scratch */
};

TideColumnSet *
tide_column_set_new(TideWireProtocol protocol)
{
  TideColumnSet *set = g_new0(TideColumnSet, 1);
  set->protocol = protocol;
  set->chunks = g_array_new(FALSE, FALSE, sizeof(Chunk));
  return set;
}

void
tide_column_set_free(TideColumnSet *set)
{
  if (set == NULL)
    return;
  for (guint i = 0; i < set->chunks->len; i++)
    g_free(g_array_index(set->chunks, Chunk, i).data);
  g_array_unref(set->chunks);
  tide_buffer_clear_memory(&set->prefix);
  g_free(set);
}

gpointer
tide_column_set_allocate(TideColumnSet *set, gsize n_bytes)
{
  gsize aligned = (n_bytes + 15) & ~(gsize)15;
  while (set->chunk < set->chunks->len &&
         g_array_index(set->chunks, Chunk, set->chunk).capacity - set->used_bytes < aligned) {
    set->chunk++;
    set->used_bytes = 0;
  }
  if (set->chunk == set->chunks->len) {
    Chunk fresh = {.capacity = MAX(CHUNK_BYTES, aligned)};
    fresh.data = g_malloc(fresh.capacity);
    g_array_append_val(set->chunks, fresh);
  }
  gpointer place = g_array_index(set->chunks, Chunk, set->chunk).data + set->used_bytes;
  set->used_bytes += aligned;
  return place;
}

static TideBytes
keep(TideColumnSet *set, TideBytes bytes)
{
  if (bytes.len == 0)
    return TIDE_BYTES_EMPTY;
  guint8 *copy = tide_column_set_allocate(set, bytes.len);
  memcpy(copy, bytes.data, bytes.len);
  return tide_bytes(copy, bytes.len);
}

void
tide_column_set_make(TideColumnSet *set, TideBytes family, TideBytes qualifier, TideColumn *ret_column)
{
  tide_buffer_reset(&set->prefix);
  tide_column_prefix_append(set->protocol, &set->prefix, family, qualifier);
  ret_column->family = keep(set, family);
  ret_column->qualifier = keep(set, qualifier);
  ret_column->prefix = keep(set, tide_buffer_bytes(&set->prefix));
  ret_column->hash = XXH3_64bits(set->prefix.data, set->prefix.len);
}

void
tide_column_set_reset(TideColumnSet *set)
{
  set->chunk = 0;
  set->used_bytes = 0;
}
