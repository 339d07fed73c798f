#include "model/scratch.h"

/* Holds a message of a few hundred bytes with its names; larger ones double it. */
#define FIRST_BLOCK_BYTES 4096

static void
blocks_free(TideScratchBlock *first)
{
  while (first != NULL) {
    TideScratchBlock *next = first->next;
    g_free(first);
    first = next;
  }
}

void
tide_scratch_clear_memory(TideScratch *scratch)
{
  blocks_free(scratch->outgrown);
  blocks_free(scratch->block);
  tide_buffer_clear_memory(&scratch->pieces);
  *scratch = (TideScratch){0};
}

void
tide_scratch_reset(TideScratch *scratch)
{
  blocks_free(scratch->outgrown);
  scratch->outgrown = NULL;
  scratch->used_bytes = 0;
}

void
tide_scratch_add_block(TideScratch *scratch, gsize needed)
{
  TideScratchBlock *full = scratch->block;
  gsize capacity = full != NULL ? full->capacity : FIRST_BLOCK_BYTES / 2;
  if (scratch->used_bytes == 0)
    g_clear_pointer(&full, blocks_free); /* it is empty */
  do
    capacity *= 2;
  while (capacity < needed);
  scratch->block = g_malloc(sizeof *scratch->block + capacity);
  scratch->block->next = NULL;
  scratch->block->capacity = capacity;
  scratch->used_bytes = 0;
  if (full == NULL)
    return;
  full->next = scratch->outgrown;
  scratch->outgrown = full;
}

const void *
tide_scratch_first(const TideScratch *scratch)
{
  const TideScratchBlock *block = scratch->block;
  for (const TideScratchBlock *older = scratch->outgrown; older != NULL; older = older->next)
    block = older;
  return block != NULL ? block->bytes : NULL;
}

TideBytes
tide_scratch_copy(TideScratch *scratch, TideBytes bytes)
{
  guint8 *copy = tide_scratch_take(scratch, bytes.len);
  tide_memory_copy(copy, bytes.data, bytes.len);
  return tide_bytes(copy, bytes.len);
}

TideBytes
tide_scratch_join(TideScratch *scratch, TideBytes a, TideBytes b)
{
  guint8 *both = tide_scratch_take(scratch, a.len + b.len);
  tide_memory_copy(both, a.data, a.len);
  tide_memory_copy(both + a.len, b.data, b.len);
  return tide_bytes(both, a.len + b.len);
}
