/* Spare row buffers: what a table lends to those of its lanes that have rows, for as long as they have some.
 *
 * A table of a thousand regions has rows of some lanes at a time, a few of each. Memory of its own for each lane would
 * have been used last a thousand lanes ago, and be in no cache any more; that cost more than all that is done in it. So
 * the buffer that was given back last is lent first. Lanes without rows have one in common that stays empty.
 *
 * Threads: the owning consumer's only. Memory: spare buffers stay charged, as they are, and go when memory is short. */
#pragma once

#include "rows/row_buffer.h"

G_BEGIN_DECLS

/* A buffer that has more memory than this is not lent again: it belongs to a lane that is worth memory of its own, and
 * small lanes that had it in turn would grow to the size of the largest. */
#define TIDE_SPARE_BUFFER_MAX_BYTES (16 * 1024)

typedef struct TideSpareBuffers {
  TideRowBuffer none;   /* has no rows, ever: that of all lanes without */
  TideRowBuffer *first; /* owned, linked by next: the one given back last is the first */
  guint32 n;
  guint32 n_unused; /* of them, since looked_us */
  gint64 looked_us;
} TideSpareBuffers;

/* As in tide_row_buffer_init(). */
void tide_spare_buffers_init(TideSpareBuffers *spares, TideBudget *budget, TideWireProtocol protocol,
                             const GPtrArray *families);
void tide_spare_buffers_clear(TideSpareBuffers *spares);

/* Lends a buffer where *@lent is none of its own: one without rows. */
void tide_spare_buffers_lend(TideSpareBuffers *spares, TideRowBuffer **lent, TideMergeRule rule);

/* Takes back *@lent, with whatever it holds, or frees it: it is `none` then. */
void tide_spare_buffers_take_back(TideSpareBuffers *spares, TideRowBuffer **lent);

static inline gboolean
tide_spare_buffers_is_small(const TideRowBuffer *buffer)
{
  return buffer->charged_bytes <= TIDE_SPARE_BUFFER_MAX_BYTES;
}

/* Frees those of which none was needed for @idle_us. */
void tide_spare_buffers_keep_house(TideSpareBuffers *spares, gint64 idle_us, gint64 now_us);

G_END_DECLS
