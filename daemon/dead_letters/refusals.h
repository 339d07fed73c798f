/* Parts of refused rows whose messages have no job yet. A row that HBase refuses may be of hundreds of messages, and
 * after an outage hundreds of such rows come at once: a job takes about a kilobyte, what stands here 24 bytes.
 *
 * Threads: the owning consumer's. */
#pragma once

#include "dead_letters/refused_row.h"
#include "util/budget.h"
#include "write/batch.h"

G_BEGIN_DECLS

/* What one reading of a message has in a refused row. */
typedef struct TideRefusedPart {
  TideRefusedRow *row; /* ref */
  TideSourceRef ref;
  guint32 reading_index;
  guint32 n_acks; /* that the message waits for: of the row, and of those that follow it */
} TideRefusedPart;

/* An empty array of parts, which owns their references. */
GArray *tide_refused_parts_new(void);

typedef struct TideRefusals {
  TideBudget *budget; /* borrowed: charged for what waits */
  GArray *parts;      /* owned (element-type TideRefusedPart) */
  guint first;        /* of those that wait; what stands before it is taken */
} TideRefusals;

void tide_refusals_init(TideRefusals *refusals, TideBudget *budget);
void tide_refusals_clear(TideRefusals *refusals);

/* Takes @parts over, behind those that wait, and sorts them by message and reading. */
void tide_refusals_add(TideRefusals *refusals, GArray *parts);

/* Of those that were added together, all of the message that waits longest. Returns: (transfer full)
 * (element-type TideRefusedPart) (nullable): NULL when none waits. */
GArray *tide_refusals_take_message(TideRefusals *refusals);

G_END_DECLS
