/* What a consumer commits: for each partition its mark, and a note that tells the next owner what may still be in
 * doubt. The note is commit_note.h's, the rule stands in docs/internals.md, equal times. Marks that moved are committed
 * in the background now and then; a partition that is taken, or left to its next owner, at once.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/partition.h"
#include "model/input.h"
#include "rows/accumulator.h"
#include "util/log.h"

G_BEGIN_DECLS

typedef struct TideConsumerCommitsContext {
  const TideConfig *config; /* borrowed, all */
  TideInput *input;
  const GPtrArray *partitions; /* (element-type TidePartition), by slot */
  TideAccumulator *accumulator;
  TideMetrics *metrics;
} TideConsumerCommitsContext;

typedef struct TideConsumerCommits {
  TideConsumerCommitsContext context;
  TideCounter *failures;
  guint32 tables_mark;  /* config/tables_mark.h */
  gboolean marks_moved; /* and are not stored yet */
  gint64 stored_us;     /* when they were stored last */
  gint64 noted_us;      /* when marks were committed with a note last, or partitions given up */
  gint64 renewed_us;    /* when all that is committed was renewed last */
  TideLogLimit failure_limit;
} TideConsumerCommits;

void tide_consumer_commits_init(TideConsumerCommits *commits, const TideConsumerCommitsContext *context);

/* Has marks that have moved committed in the background. */
void tide_consumer_commits_store_marks(TideConsumerCommits *commits);
/* Has what is committed committed once more, now and then: brokers before 2.1 forget an offset that was not for
 * offsets.retention.minutes, though the group has members. To be called about once a second. */
void tide_consumer_commits_renew(TideConsumerCommits *commits, gint64 now_us);
/* When that is to be; G_MAXINT64: none has moved. */
gint64 tide_consumer_commits_due_us(const TideConsumerCommits *commits);

/* Partitions are taken; before anything of @slots is sent: where the last note says that nothing is, or nothing was
 * ever committed, the next owner would not know, were we killed before our first commit. */
void tide_consumer_commits_open(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots);
/* An assigned partition is read on at @start_offset, or halted there: what its last owner left in doubt.
 * @note: beside the committed offset; NULL: none of ours */
void tide_consumer_commits_take_over(TideConsumerCommits *commits, TidePartition *partition, const TideInputLog *log,
                                     const TideCommitNote *note, gint64 start_offset);
/* Commits the partitions of @slots as they are left to their next owners, and waits for the answer. FALSE when one may
 * not have been committed: that is logged and counted. */
gboolean tide_consumer_commits_close(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots,
                                     gint64 deadline_us);
/* Whether all marks of @slots are committed. */
gboolean tide_consumer_commits_are_done(const TideConsumerCommits *commits, const guint32 *slots, gsize n_slots);

/* How a commit of an assigned partition ended. */
void tide_consumer_commits_answered(TideConsumerCommits *commits, TidePartition *partition, gint64 offset,
                                    gboolean good);
void tide_consumer_commits_failed(TideConsumerCommits *commits, const char *text);

G_END_DECLS
