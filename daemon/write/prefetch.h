/* Prefetches memory that is used soon. The members of lists of batches and lanes are scattered in memory, so waiting
 * for them would dominate the short visits.
 *
 * Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_CACHE_LINE_BYTES 64

/* A hint only: any address is allowed, including NULL. */
static inline void
tide_prefetch(const void *at, gsize n_bytes)
{
  for (gsize offset = 0; offset < n_bytes; offset += TIDE_CACHE_LINE_BYTES)
    __builtin_prefetch((const void *)((guintptr)at + offset));
}

G_END_DECLS
