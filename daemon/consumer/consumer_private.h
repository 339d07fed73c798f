/* Internals of a consumer, shared by consumer.c (main loop) and consumer_assignment.c (events of its input) only. The
 * two are one module: the input calls event handlers inside the main loop's polls, and a revocation runs the loop until
 * its rows have completed. All functions run on the consumer's thread. */
#pragma once

#include "consumer/batch_metrics.h"
#include "consumer/consumer.h"
#include "consumer/consumer_commits.h"
#include "consumer/intake.h"
#include "consumer/offset_trust.h"
#include "consumer/rewind.h"
#include "util/log.h"

G_BEGIN_DECLS

/* Why messages of the topics were not read. */
typedef enum TideLeftOut {
  TIDE_LEFT_OUT_START,     /* kafka.start */
  TIDE_LEFT_OUT_RETENTION, /* deleted before they were read */
  TIDE_LEFT_OUT_TAKEN,     /* committed by another consumer */
  TIDE_N_LEFT_OUT,
} TideLeftOut;

/* Partitions of one lookup of offsets that share an event; log_event() has a line for each kind. */
typedef struct TideOffsetReport {
  guint n_partitions;
  gint64 n_messages; /* in their ranges */
  GString *names;    /* owned: the first few partitions; NULL before the first */
} TideOffsetReport;

typedef struct TideConsumerCounters {
  TideCounter *rebalances_assigned;
  TideCounter *rebalances_revoked;
  TideCounter *rebalances_lost;
  TideCounter *out_of_range;
  TideCounter *messages_lost;
  TideCounter *not_rewound;
  TideCounter *left_out[TIDE_N_LEFT_OUT];
  TideCounter *of_other_tables;
  TideCounter *offsets_gone;
  TideCounter *damaged;
} TideConsumerCounters;

struct TideConsumer {
  /* set before start, then read-only */
  TideConsumerContext context;
  TideThread *thread;
  TideConsumerCounters counters;

  /* the consumer's thread only */
  TideInput *input;
  TideAccumulator *accumulator;
  TideWriteLatency write_latency;
  TideBatchMetrics batch_metrics;
  GPtrArray *partitions; /* owned (element-type TidePartition), by slot */
  TideAssignments assignments;
  TidePauses pauses;
  TideIntake intake;
  TideConsumerDeadLetters letters;
  TideConsumerCommits commits;
  TideRewinds rewinds;
  gboolean commit_lost; /* marks not committed when their partitions went, since the last assignment */
  struct {
    TideLogLimit trouble, unlocated;
  } log_limits;
  TideOffsetReport offset_reports[TIDE_OFFSET_N_EVENTS]; /* since the last lookup */

  /* any thread */
  TideConsumerStatus status;
  TideCompletionQueue completions;
  _Atomic gboolean stopping;
  _Atomic gint64 stop_deadline_us;
};

static inline TidePartition *
tide_consumer_partition(const TideConsumer *consumer, guint slot)
{
  return tide_partition_at(consumer->partitions, slot);
}

/* ---- consumer.c ---- */

void tide_consumer_handle_message(TideConsumer *consumer, const TideInputRecord *record, gint64 now_us);

/* Creates a consumer without starting its thread. (transfer full) */
TideConsumer *tide_consumer_new(const TideConsumerContext *context, guint32 index,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether rows or dead letters of the partition are in flight. */
static inline gboolean
tide_consumer_has_work(const TideConsumer *consumer, guint slot)
{
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  return tide_partition_has_work(partition) || tide_rewind_find_stale_rows(partition, consumer->accumulator);
}

/* Marks messages whose rows were acknowledged or whose dead letters are kept. Their offsets are committed in the
 * background.
 * @deadline_us: how long to wait for a batch; 0: do not wait
 * Returns: whether anything had completed */
gboolean tide_consumer_take_completed(TideConsumer *consumer, gint64 deadline_us);

/* Whether only dead letters above the limit are unfinished, so that waiting does not help. Handles completions
 * first. */
gboolean tide_consumer_dead_letters_block_progress(TideConsumer *consumer);

/* Updates the status of a run to the end: whether this consumer has finished. */
void tide_consumer_update_finished(TideConsumer *consumer);

/* ---- consumer_assignment.c ---- */

TideInputHandlers tide_consumer_input_handlers(TideConsumer *consumer);

/* Locates partitions again whose log may have been replaced, as the watch reported. */
void tide_consumer_locate_replaced(TideConsumer *consumer);

G_END_DECLS
