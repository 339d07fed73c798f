/* The note that an owner of a partition leaves the next in its commits, and its effect there. docs/internals.md,
 * equal times, has the rule; consumer_commits.h makes the commits.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/partition.h"
#include "kafka/commit_note.h"

G_BEGIN_DECLS

/* Both clocks at one moment, and the configuration. */
typedef struct TideHandoverContext {
  gint64 now_us; /* monotonic */
  gint64 now_epoch_ms;
  gint64 settle_us;
  guint64 span_messages; /* kafka.max_span_messages */
  guint32 tables_mark;   /* config/tables_mark.h */
} TideHandoverContext;

/* Whether commits need a note because cells of offsets below the mark are uncertain. */
gboolean tide_handover_needs_note(const TidePartition *partition, gint64 now_us);

/* The note to commit with tide_partition_position(). @closing: this process sends nothing more of the partition */
TideCommitNote tide_handover_note(const TidePartition *partition, gboolean closing, const TideHandoverContext *context);

typedef struct TideHandoverFrom {
  gint64 committed_offset;    /* -1: nothing was ever committed */
  gint64 start_offset;        /* where reading continues */
  gint64 end_offset;          /* of the log; -1: unknown */
  const TideCommitNote *note; /* the committed offset's; NULL: no note of tidemark's */
} TideHandoverFrom;

/* Marks an assigned @partition as located and takes over what its last owner left uncertain. */
void tide_handover_take(TidePartition *partition, const TideHandoverFrom *from, const TideHandoverContext *context);

G_END_DECLS
