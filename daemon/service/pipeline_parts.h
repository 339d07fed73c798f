/* The parts of the pipeline: creates each from those it depends on, and frees them in the opposite order. pipeline.h
 * starts and stops them.
 *
 * Threads: one at a time; members written later are marked. */
#pragma once

#include "config/config.h"
#include "consumer/consumer.h"
#include "dead_letters/dead_letter_queue.h"
#include "kafka/kafka_goal.h"
#include "tables/dated_tables.h"
#include "tables/fingerprint_store.h"
#include "util/clock.h"
#include "write/writer.h"

G_BEGIN_DECLS

typedef struct TidePipelineOptions {
  const TideConfig *config; /* borrowed */
  TideMetrics *metrics;     /* borrowed */
  gboolean until_end;
  gboolean yields;                /* to other programs that write to HBase: write/yield.h */
  gboolean accept_scheme_change;  /* for tables with rows: fingerprint_check.h */
  gboolean accept_cluster_change; /* from the one that this host remembers: gateways.h */
  /* For messages that do not come from Kafka: as in consumer.h and dead_letter_queue.h; NULL: Kafka. */
  TideInput *(*open_input)(guint32 index, const TideInputHandlers *handlers, gpointer data, GError **error);
  TideOriginalFunc find_original;
  gpointer input_data; /* for both */
} TidePipelineOptions;

typedef struct TidePipelineParts {
  /* set at the beginning, then read-only */
  TidePipelineOptions options;
  TideFingerprintStore fingerprints;
  TideBudget budget;
  TideBudget *table_budgets; /* owned array of n_slots, by table slot */
  guint32 n_slots;
  TideBudget doubt_budget;
  TideDatedTables *dated;
  TideLanes *lanes;
  TideGateways *gateways;
  TideRegions *regions;
  TideDeadLetterQueue *dead_letters;
  TideKafkaWatch *watch;       /* NULL: messages do not come from Kafka */
  TideGroupMemory *memory;     /* NULL: likewise */
  TidePauseWatch *pause_watch; /* of the state directory; of nothing where messages do not come from Kafka */
  TideKafkaGoal *goal;         /* NULL: it does not run to the end, or messages do not come from Kafka */
  /* set by tide_pipeline_parts_start_writers() and _consumers(), then read-only */
  GPtrArray *writers;   /* owned (element-type TideWriter) */
  GPtrArray *consumers; /* owned (element-type TideConsumer) */
  gint64 joined_us;     /* when the consumers began to join the group, monotonic */
} TidePipelineParts;

/* Creates everything except writers and consumers, which run as soon as they are created; nothing runs yet. */
void tide_pipeline_parts_init(TidePipelineParts *parts, const TidePipelineOptions *options);
void tide_pipeline_parts_clear(TidePipelineParts *parts); /* call when nothing runs */

/* Passes a reload's changes of the configuration to the parts that keep copies. Threads: any. */
void tide_pipeline_parts_take_changes(TidePipelineParts *parts);

/* FALSE if the configuration has no such topic or table: the file of the pauses outlasts configurations. Threads: any.
 */
gboolean tide_pipeline_parts_pause_has_effect(const TidePipelineParts *parts, const TideOperatorPause *pause);

/* Pauses and resumes what the operator has, and logs it. Threads: the main one; once a second. */
void tide_pipeline_parts_watch_pauses(TidePipelineParts *parts, gint64 now_ms);

/* The number of messages in flight: partitions publish it at once, consumers publish the rest once a second. Threads:
 * any. */
guint64 tide_pipeline_parts_in_flight(const TidePipelineParts *parts);

/* Maximum wait for HBase before a start fails: enough for a restart of its Thrift servers. */
#define TIDE_PIPELINE_START_LIMIT_US (60 * TIDE_US_PER_S)

/* TRUE if the start fails on a missing prerequisite instead of waiting for an operator: a run to the end is
 * unattended. */
static inline gboolean
tide_pipeline_parts_fail_early(const TidePipelineParts *parts)
{
  return parts->options.until_end || parts->options.config->service.startup == TIDE_STARTUP_FAIL;
}

void tide_pipeline_parts_start_writers(TidePipelineParts *parts);
gboolean tide_pipeline_parts_start_consumers(TidePipelineParts *parts, TideWireProtocol protocol,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
