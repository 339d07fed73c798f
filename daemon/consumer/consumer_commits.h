/* Commits of a consumer: for each partition its mark, and a note that tells the next owner which writes are still
 * uncertain. commit_note.h defines the note; docs/internals.md, equal times, has the rule. Marks are committed in the
 * background; on assignment and revocation, at once.
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
  gboolean marks_moved; /* marks have moved and are not stored yet */
  gint64 stored_us;     /* last time marks were stored */
  gint64 noted_us;      /* last commit of marks with a note, or last release of partitions */
  gint64 renewed_us;    /* last renewal of all commits */
  TideLogLimit failure_limit;
} TideConsumerCommits;

void tide_consumer_commits_init(TideConsumerCommits *commits, const TideConsumerCommitsContext *context);

/* Commits moved marks in the background. */
void tide_consumer_commits_store_marks(TideConsumerCommits *commits);
/* Renews all commits from time to time: brokers before 2.1 drop an offset after offsets.retention.minutes without a
 * commit, even if the group has members. Call it about once a second. */
void tide_consumer_commits_renew(TideConsumerCommits *commits, gint64 now_us);
/* When marks are to be stored next; G_MAXINT64: none has moved. */
gint64 tide_consumer_commits_due_us(const TideConsumerCommits *commits);

/* Opens the partitions of @slots with a commit, before any of their rows is sent. It is needed if their last note says
 * that no row is in flight, or if there is none: the next owner could not know better if this process were killed. */
void tide_consumer_commits_open(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots);
/* Takes over the uncertain writes of the last owner of an assigned partition, which continues, or is halted, at
 * @start_offset.
 * @note: the committed offset's; NULL: no note of tidemark's */
void tide_consumer_commits_take_over(TideConsumerCommits *commits, TidePartition *partition, const TideInputLog *log,
                                     const TideCommitNote *note, gint64 start_offset);
/* Commits the partitions of @slots for their next owners and waits for the answer. Returns FALSE if a commit may have
 * failed, which is logged and counted. */
gboolean tide_consumer_commits_close(TideConsumerCommits *commits, const guint32 *slots, gsize n_slots,
                                     gint64 deadline_us);
/* Whether all marks of @slots are committed. */
gboolean tide_consumer_commits_are_done(const TideConsumerCommits *commits, const guint32 *slots, gsize n_slots);

/* Handles the outcome of a commit of an assigned partition. */
void tide_consumer_commits_answered(TideConsumerCommits *commits, TidePartition *partition, gint64 offset,
                                    gboolean good);
void tide_consumer_commits_failed(TideConsumerCommits *commits, const char *text);

G_END_DECLS
