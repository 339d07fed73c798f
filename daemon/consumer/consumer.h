/* A consumer: one thread with one input, a Kafka consumer of the group. It decodes and maps its
 * messages, keeps its open rows, hands sealed batches to the lanes, and marks its partitions' offsets when they
 * complete. All of that is its own and unlocked; it meets other threads at whole batches only. */
#pragma once

#include "consumer/consumer_status.h"
#include "consumer/group_memory.h"
#include "dead_letters/dead_letter_queue.h"
#include "kafka/kafka_watch.h"
#include "model/input.h"
#include "tables/dated_tables.h"
#include "util/budget.h"
#include "util/operator_pauses.h"
#include "write/lanes.h"
#include "write/regions.h"

G_BEGIN_DECLS

typedef struct TideConsumer TideConsumer;

typedef struct TideConsumerContext {
  const TideConfig *config; /* borrowed, all */
  TideWireProtocol protocol;
  TideBudget *budget;
  TideBudget *table_budgets; /* shares of budget, by table slot */
  TideBudget *doubt_budget;  /* share of budget for cells in doubt and contested ones */
  TideLanes *lanes;
  TideRegions *regions;
  TideDatedTables *dated;
  TideDeadLetterQueue *dead_letters;
  TideMetrics *metrics;
  TideKafkaWatch *watch;   /* NULL: the input is files */
  TideGroupMemory *memory; /* NULL: likewise */
  TidePauseWatch *pause_watch;
  gboolean until_end; /* read to where the partitions ended when they were assigned, then finish */
  /* Opens the input of consumer @index. (transfer full); NULL with @error set */
  TideInput *(*open_input)(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error);
  gpointer input_data;
} TideConsumerContext;

/* Opens the input and starts the thread "tide-consumer-N". Errors: those of open_input. */
TideConsumer *tide_consumer_start(const TideConsumerContext *context, guint32 index,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Asks for a stop: fetching ends, rows are flushed and awaited until @deadline_us, offsets committed, the group left.
 * Threads: any. */
void tide_consumer_stop(TideConsumer *consumer, gint64 deadline_us);

/* The wall clock was set back: wakes what waits by it. Threads: any. */
void tide_consumer_rouse(TideConsumer *consumer);

/* FALSE when the thread has not ended at @deadline_us; it must then be left alone. */
gboolean tide_consumer_join_until(TideConsumer *consumer, gint64 deadline_us);
void tide_consumer_free(TideConsumer *consumer); /* joins first */

/* ---- what others may see of it (consumer_status.h); any thread ---- */

TideConsumerState tide_consumer_state_racy(const TideConsumer *consumer);

/* Why partitions are halted, one sentence each; NULL when none is. (transfer full) */
char *tide_consumer_halt_text(TideConsumer *consumer);

/* What Kafka said last that is wrong, if nothing was assigned since; NULL: nothing. (transfer full) */
char *tide_consumer_trouble_text(TideConsumer *consumer);

G_END_DECLS
