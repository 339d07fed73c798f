/* Memory for one message: append-only, addresses never move, and everything is released at once. The largest block is
 * kept, so messages of similar size soon need no allocation. Zero-initialised is empty and valid. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideScratchBlock TideScratchBlock;

struct TideScratchBlock {
  TideScratchBlock *next;
  gsize capacity;
  guint64 bytes[]; /* guint64 for its alignment */
};

typedef struct TideScratch {
  TideScratchBlock *block;    /* owned: the one that is being filled */
  TideScratchBlock *outgrown; /* owned: blocks of this message that were too small */
  gsize used_bytes;           /* of block */
  TideBuffer pieces;          /* for a text that is built piece by piece and then copied; its builder resets it first */
} TideScratch;

void tide_scratch_clear_memory(TideScratch *scratch); /* frees; leaves it empty and valid */

/* Releases everything taken so far. */
void tide_scratch_reset(TideScratch *scratch);

void tide_scratch_add_block(TideScratch *scratch, gsize needed);

/* @len bytes, not cleared, aligned to 8. Valid until the next reset. */
static inline void *
tide_scratch_take(TideScratch *scratch, gsize len)
{
  gsize rounded = (len + sizeof(guint64) - 1) & ~(sizeof(guint64) - 1);
  if (G_UNLIKELY(scratch->block == NULL || scratch->block->capacity - scratch->used_bytes < rounded))
    tide_scratch_add_block(scratch, rounded);
  void *taken = (guint8 *)scratch->block->bytes + scratch->used_bytes;
  scratch->used_bytes += rounded;
  return taken;
}

/* The first memory taken since the last reset; NULL: none. */
const void *tide_scratch_first(const TideScratch *scratch);

/* A copy of @bytes. */
TideBytes tide_scratch_copy(TideScratch *scratch, TideBytes bytes);

/* A copy of @a followed by @b. */
TideBytes tide_scratch_join(TideScratch *scratch, TideBytes a, TideBytes b);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideScratch, tide_scratch_clear_memory)

G_END_DECLS
