/* A consumer: one thread with one input, usually a Kafka consumer of the group. It decodes and maps messages, collects
 * rows, hands sealed batches to the lanes, and advances its partitions' marks as batches complete. Its state has no
 * locks: other threads exchange only whole batches with it. */
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
  TideBudget *doubt_budget;  /* share of budget for uncertain and contested cells */
  TideLanes *lanes;
  TideRegions *regions;
  TideDatedTables *dated;
  TideDeadLetterQueue *dead_letters;
  TideMetrics *metrics;
  TideKafkaWatch *watch;   /* NULL: the input is files */
  TideGroupMemory *memory; /* NULL: likewise */
  TidePauseWatch *pause_watch;
  gboolean until_end; /* read to the end that each partition had when it was assigned, then finish */
  /* Opens the input of consumer @index. (transfer full); NULL with @error set */
  TideInput *(*open_input)(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error);
  gpointer input_data;
} TideConsumerContext;

/* Opens the input and starts the thread "tide-consumer-N". Errors: those of open_input. */
TideConsumer *tide_consumer_start(const TideConsumerContext *context, guint32 index,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Requests a stop. Fetching ends, rows are flushed and awaited until @deadline_us, offsets are committed, and the
 * consumer leaves the group. Threads: any. */
void tide_consumer_stop(TideConsumer *consumer, gint64 deadline_us);

/* Wakes waits that depend on the wall clock, after it was set back. Threads: any. */
void tide_consumer_rouse(TideConsumer *consumer);

/* Returns FALSE if the thread has not ended by @deadline_us; the consumer must then not be freed. */
gboolean tide_consumer_join_until(TideConsumer *consumer, gint64 deadline_us);
void tide_consumer_free(TideConsumer *consumer); /* joins first */

/* ---- what other threads may read (consumer_status.h) ---- */

TideConsumerState tide_consumer_state_racy(const TideConsumer *consumer);

/* One sentence for each halted partition; NULL: none is halted. (transfer full) */
char *tide_consumer_halt_text(TideConsumer *consumer);

/* The last problem that Kafka reported since the last assignment; NULL: none. (transfer full) */
char *tide_consumer_trouble_text(TideConsumer *consumer);

G_END_DECLS
