/* Cells whose last call ended without an answer: the gateway may still be at work on the abandoned call and let it land
 * later (measured: it then wins over a newer write of the same cell and time).
 *
 * That only matters for another value at the same row, column and time. So cells of calls with an unknown outcome are
 * remembered here for the settle time, and a row that would write another value over one of them waits until it has
 * passed. The same value again, or any other time, is free to go. Deletes need no remembering: one that lands late hides
 * cells up to its own time, which it hid before, or should have.
 *
 * Threads: the owning consumer's only. Bounded: see TIDE_UNSETTLED_MAX_CELLS. */
#pragma once

#include "flow/batch.h"
#include "flow/row_set.h"

G_BEGIN_DECLS

/* 24 bytes each: 6 MiB at the most for each consumer and table. When more are unsettled, new ones are not remembered, and
 * counted. */
#define TIDE_UNSETTLED_MAX_CELLS 262144u

typedef struct TideUnsettled TideUnsettled;

TideUnsettled *tide_unsettled_new(TideWireProtocol protocol);
void tide_unsettled_free(TideUnsettled *unsettled);

gboolean tide_unsettled_is_empty(const TideUnsettled *unsettled);

/* Remembers all cells of @batch until @until_us. Returns how many did not fit. */
guint64 tide_unsettled_add_batch(TideUnsettled *unsettled, const TideBatch *batch, gint64 until_us);

/* Whether @cell of the row with @key_hash writes another value over an unsettled cell; @ret_until_us: when it is safe. */
gboolean tide_unsettled_conflicts(const TideUnsettled *unsettled, guint64 key_hash, const TideOpenCellView *cell,
                                  gint64 now_us, gint64 *ret_until_us);

/* Forgets what has settled; cheap when nothing has. */
void tide_unsettled_expire(TideUnsettled *unsettled, gint64 now_us);

G_END_DECLS
