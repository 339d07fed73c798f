/* Inside of a consumer: shared by consumer.c, its rounds, and consumer_assignment.c, what it does when its input tells
 * it something; nobody else includes this. The two are one module: the input calls the second out of the first's
 * polls, and a rebalance goes rounds of its own until what it takes away has completed. All functions are for the
 * consumer's thread. */
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

/* What one look at the brokers tells of partitions; log_event() has a line for each kind. */
typedef struct TideOffsetReport {
  guint n_partitions;
  gint64 n_messages; /* of their ranges */
  GString *names;    /* owned: of the first few; NULL before the first */
} TideOffsetReport;

/* What happens to partitions. */
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
  TideDeadLetterDesk desk;
  TideConsumerCommits commits;
  TideRewinds rewinds;
  gboolean commit_lost; /* marks that could not be committed when their partitions went, since the last assignment */
  struct {
    TideLogLimit trouble, unlocated;
  } log_limits;
  TideOffsetReport offset_reports[TIDE_OFFSET_N_EVENTS]; /* since the last look */

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

/* All but the thread. (transfer full) */
TideConsumer *tide_consumer_new(const TideConsumerContext *context, guint32 index,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether something of the partition is on its way. */
static inline gboolean
tide_consumer_has_work(const TideConsumer *consumer, guint slot)
{
  TidePartition *partition = tide_consumer_partition(consumer, slot);
  return tide_partition_has_work(partition) || tide_rewind_find_stale_rows(partition, consumer->accumulator);
}

/* Marks what completed, acknowledged or kept as a dead letter. The offsets that this sets free are committed in the
 * background.
 * @deadline_us: how long to wait for a batch; 0: not at all
 * Returns: whether anything had completed */
gboolean tide_consumer_take_completed(TideConsumer *consumer, gint64 deadline_us);

/* Whether all that is on its way is dead letters that may not be kept, since too many were: waiting does not help.
 * Takes what completed. */
gboolean tide_consumer_is_held_for_good(TideConsumer *consumer);

/* Tells the status whether a run to the end may end, as far as this consumer knows. */
void tide_consumer_look_whether_finished(TideConsumer *consumer);

/* ---- consumer_assignment.c ---- */

TideInputHandlers tide_consumer_input_handlers(TideConsumer *consumer);

/* Has partitions located once more whose log may have been replaced, as the watch saw. */
void tide_consumer_locate_replaced(TideConsumer *consumer);

G_END_DECLS
