/* Inside of a consumer: shared by the files consumer*.c; nobody else includes this. All functions are for the
 * consumer's thread. */
#pragma once

#include "flow/consumer.h"
#include "flow/intake.h"
#include "flow/partition_slots.h"
#include "util/log.h"

G_BEGIN_DECLS

struct TideConsumer {
  /* set before start, then read-only */
  TideConsumerContext context;
  TideThread *thread;
  TideCounter *rebalances_assigned;
  TideCounter *rebalances_revoked;
  TideCounter *rebalances_lost;
  TideCounter *commit_failures;
  TideCounter *out_of_range;
  TideCounter *messages_lost;
  TideCounter *damaged;
  TideCounter *read_again;

  /* the consumer's thread only */
  TideKafkaSource *source;
  TideOpenLanes *open_lanes;
  TideWriteLatency write_latency;
  GPtrArray *partitions; /* owned (element-type TidePartition), by slot */
  TidePauses pauses;
  TideIntake intake;
  TideLetterDesk desk;
  gint64 shown_us;
  gboolean marks_moved; /* and are not stored yet */
  gboolean commit_lost; /* marks that could not be committed when their partitions went, since the last assignment */
  gint64 stored_us;     /* when they were stored last */
  gint64 noted_us;      /* when marks were committed with a note last */
  TideLogLimit trouble_limit;
  TideLogLimit commit_limit;

  /* any thread */
  TideConsumerStatus status;
  TideInbox inbox;
  _Atomic gboolean stopping;
  _Atomic gint64 stop_deadline_us;
};

static inline TidePartition *
tide_consumer_partition(const TideConsumer *consumer, guint16 slot)
{
  return tide_partition_slots_at(consumer->partitions, slot);
}

/* ---- consumer.c ---- */

void tide_consumer_handle_message(TideConsumer *consumer, const TideKafkaRecord *record, gint64 now_us);

/* All but the thread. (transfer full) */
TideConsumer *tide_consumer_new(const TideConsumerContext *context, guint32 index,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether something of @partition is on its way. @is_empty: nothing of any is. */
static inline gboolean
tide_consumer_has_work(const TidePartition *partition, gboolean is_empty)
{
  return tide_partition_has_work(partition) || (partition->assigned && partition->was_unheld && !is_empty);
}

/* Marks what came home, acknowledged or kept as a letter. The offsets that this sets free are committed in the
 * background.
 * @deadline_us: how long to wait for a batch; 0: not at all */
void tide_consumer_take_home(TideConsumer *consumer, gint64 deadline_us);

/* ---- consumer_commits.c ---- */

/* How long a question inside of a rebalance may take. */
#define TIDE_CONSUMER_QUESTION_US (4 * TIDE_US_PER_S)

/* Has marks that have moved committed in the background. */
void tide_consumer_store_marks(TideConsumer *consumer);
/* When that is to be; G_MAXINT64: none has moved. */
gint64 tide_consumer_store_due_us(const TideConsumer *consumer);
/* Commits the partitions of @slots as they are left to their next owners, and waits for the answer. FALSE when one may
 * not have been committed: that is logged and counted. */
gboolean tide_consumer_commit_closing(TideConsumer *consumer, const guint16 *slots, gsize n_slots, gint64 deadline_us);
/* Whether all marks of @slots are committed. */
gboolean tide_consumer_is_committed(const TideConsumer *consumer, const guint16 *slots, gsize n_slots);
void tide_consumer_commit_failed(TideConsumer *consumer, const char *text);
/* A partition was assigned: what its last owner left in doubt. */
void tide_consumer_take_over(TideConsumer *consumer, TidePartition *partition, const TideKafkaAssignment *assignment);
/* Handlers of the source. */
void tide_consumer_on_taking(const guint16 *slots, gsize n_slots, gpointer data);
void tide_consumer_on_committed(guint16 slot, gint64 offset, gboolean good, gpointer data);

/* ---- consumer_assignment.c ---- */

TideKafkaHandlers tide_consumer_source_handlers(TideConsumer *consumer);

/* Partitions of which more is in doubt than can be remembered, and whose moment has come, are read again. */
void tide_consumer_read_again(TideConsumer *consumer, gint64 now_us);

G_END_DECLS
