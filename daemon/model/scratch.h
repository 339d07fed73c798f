/* Memory for the time of one message: append-only, addresses never move, all given back at once. The largest block is
 * kept, so messages of about one size soon take no allocation. Zero-initialised is empty and valid. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideScratchBlock TideScratchBlock;

typedef struct TideScratch {
  TideScratchBlock *block;    /* owned: the one that is being filled */
  TideScratchBlock *outgrown; /* owned: blocks of this message that were too small */
  gsize used_bytes;           /* of block */
  TideBuffer pieces; /* for a text that is made piece by piece, and copied then: whoever begins one resets it */
} TideScratch;

void tide_scratch_clear_memory(TideScratch *scratch); /* frees; leaves it empty and valid */

/* Everything taken so far is given up. */
void tide_scratch_reset(TideScratch *scratch);

/* @len bytes, not cleared, aligned to 8. Valid until the next reset. */
void *tide_scratch_take(TideScratch *scratch, gsize len);

/* What was taken first since the last reset; NULL: nothing was. */
const void *tide_scratch_first(const TideScratch *scratch);

/* A copy of @bytes. */
TideBytes tide_scratch_copy(TideScratch *scratch, TideBytes bytes);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideScratch, tide_scratch_clear_memory)

G_END_DECLS
