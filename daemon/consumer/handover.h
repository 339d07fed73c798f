/* What one owner of a partition tells the next in its commits, and what the next one does about it. The rule is in
 * docs/internals.md, equal times; the commits themselves are consumer_commits.h's.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/partition.h"
#include "kafka/commit_note.h"

G_BEGIN_DECLS

/* The two clocks at one moment, and what the configuration says. */
typedef struct TideHandoverContext {
  gint64 now_us; /* monotonic */
  gint64 now_epoch_ms;
  gint64 settle_us;
  guint64 span_messages; /* kafka.max_span_messages */
  guint32 tables_mark;   /* config/tables_mark.h */
} TideHandoverContext;

/* Cells of offsets below the mark are in doubt: each commit must say so. */
gboolean tide_handover_needs_note(const TidePartition *partition, gint64 now_us);

/* What is committed beside tide_partition_position(). @closing: nothing more will be sent by us. */
TideCommitNote tide_handover_note(const TidePartition *partition, gboolean closing, const TideHandoverContext *context);

typedef struct TideHandoverFrom {
  gint64 committed_offset;    /* -1: nothing was ever committed */
  gint64 start_offset;        /* where it is read on */
  gint64 end_offset;          /* of the log; -1: unknown */
  const TideCommitNote *note; /* beside the committed offset; NULL: none of ours */
} TideHandoverFrom;

/* Where @partition, which was assigned, stands: it is located from now on, with what its last owner left in doubt. */
void tide_handover_take(TidePartition *partition, const TideHandoverFrom *from, const TideHandoverContext *context);

G_END_DECLS
