/* Messages of refused rows that have no job yet. A row that HBase refuses may be of hundreds of messages, and after an
 * outage hundreds of such rows come at once: a job takes about a kilobyte, what stands here 32 bytes.
 *
 * Threads: the owning consumer's. */
#pragma once

#include "flow/batch.h"
#include "flow/budget.h"
#include "flow/refused_row.h"

G_BEGIN_DECLS

/* A row that was refused: what the letters of its messages have in common. */
typedef struct TideRefusal {
  TideRefusedRow *row; /* ref */
  char *table;
  char *text;        /* why */
  TideBytes row_key; /* owned */
  guint32 attempts;
  gboolean is_shared; /* by several messages */
} TideRefusal;

/* One message's parts in it. */
typedef struct TideRefusedMessage {
  TideRefusal *refusal; /* ref */
  TideSourceRef ref;
  guint32 n_parts; /* acknowledgements that it needs */
} TideRefusedMessage;

typedef struct TideRefusals {
  TideBudget *budget; /* borrowed: charged for what waits */
  GArray *messages;   /* owned (element-type TideRefusedMessage) */
  guint first;        /* of those that wait; what stands before it is taken */
} TideRefusals;

/* Copies but @row, of which it takes a reference. */
TideRefusal *tide_refusal_new(const TideBatch *batch, const TideBatchPoison *poison, gboolean is_shared,
                              TideRefusedRow *row);
void tide_refusal_unref(TideRefusal *refusal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRefusal, tide_refusal_unref)

void tide_refusals_init(TideRefusals *refusals, TideBudget *budget);
void tide_refusals_clear(TideRefusals *refusals);

/* Takes a reference of @refusal. */
void tide_refusals_add(TideRefusals *refusals, TideRefusal *refusal, TideSourceRef ref, guint32 n_parts);

/* The one that waits longest, its reference (transfer full); FALSE when none does. */
gboolean tide_refusals_take(TideRefusals *refusals, TideRefusedMessage *ret_message);

G_END_DECLS
