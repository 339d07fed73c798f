/* Asks for memory that is about to be used, while something else is done: for lists of batches and lanes, whose members
 * lie all over the memory and are each visited for little, so that waiting for them would be most of the work.
 *
 * Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_CACHE_LINE_BYTES 64

/* A hint alone: any address will do, NULL too. */
static inline void
tide_prefetch(const void *at, gsize n_bytes)
{
  for (gsize offset = 0; offset < n_bytes; offset += TIDE_CACHE_LINE_BYTES)
    __builtin_prefetch((const void *)((guintptr)at + offset));
}

G_END_DECLS
