/* Spare row buffers, which a table lends to those of its lanes that currently have rows.
 *
 * Of a thousand regions, only some lanes have rows at a time, a few each. Separate memory for each lane would have been
 * used a thousand lanes ago and be in no cache, which costs more than the work on it. Therefore the buffer returned
 * last is lent first. Lanes without rows share one buffer that stays empty.
 *
 * Threads: the owning consumer's only. Memory: spare buffers remain charged, and are freed when memory is short. */
#pragma once

#include "rows/row_buffer.h"

G_BEGIN_DECLS

/* A buffer with more memory is not lent again. It belongs to a lane that deserves its own memory, and small lanes using
 * it in turn would all grow to that size. */
#define TIDE_SPARE_BUFFER_MAX_BYTES (16 * 1024)

typedef struct TideSpareBuffers {
  TideRowBuffer none;   /* always empty: shared by all lanes without rows */
  TideRowBuffer *first; /* owned, linked by next, the last one returned first */
  guint32 n;
  guint32 n_unused; /* minimum number of unused ones since looked_us */
  gint64 looked_us;
} TideSpareBuffers;

/* As in tide_row_buffer_init(). */
void tide_spare_buffers_init(TideSpareBuffers *spares, TideBudget *budget, TideWireProtocol protocol,
                             const GPtrArray *families);
void tide_spare_buffers_clear(TideSpareBuffers *spares);

/* Lends an empty buffer if *@lent is `none`. */
void tide_spare_buffers_lend(TideSpareBuffers *spares, TideRowBuffer **lent, TideMergeRule rule);

/* Takes back *@lent, with its contents, or frees it; sets it to `none`. */
void tide_spare_buffers_take_back(TideSpareBuffers *spares, TideRowBuffer **lent);

static inline gboolean
tide_spare_buffers_is_small(const TideRowBuffer *buffer)
{
  return buffer->charged_bytes <= TIDE_SPARE_BUFFER_MAX_BYTES;
}

/* Frees buffers that were not needed for @idle_us. */
void tide_spare_buffers_run_maintenance(TideSpareBuffers *spares, gint64 idle_us, gint64 now_us);

G_END_DECLS
