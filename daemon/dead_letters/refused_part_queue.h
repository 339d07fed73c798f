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

typedef struct TideRefusedPartQueue {
  TideBudget *budget; /* borrowed: charged for what waits */
  GArray *parts;      /* owned (element-type TideRefusedPart) */
  guint first;        /* of those that wait; what stands before it is taken */
} TideRefusedPartQueue;

void tide_refused_part_queue_init(TideRefusedPartQueue *refused_parts, TideBudget *budget);
void tide_refused_part_queue_clear(TideRefusedPartQueue *refused_parts);

/* Takes @parts over, behind those that wait, and sorts them by message and reading. */
void tide_refused_part_queue_add(TideRefusedPartQueue *refused_parts, GArray *parts);

/* Of those that were added together, all of the message that waits longest. Returns: (transfer full)
 * (element-type TideRefusedPart) (nullable): NULL when none waits. */
GArray *tide_refused_part_queue_take_message(TideRefusedPartQueue *refused_parts);

G_END_DECLS
