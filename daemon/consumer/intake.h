/* The intake of a consumer turns a message into rows in the accumulator, or skips it, makes a dead letter of it, or
 * halts its partition.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/consumer_dead_letters.h"
#include "mapping/field_use.h"

G_BEGIN_DECLS

typedef struct TideIntakeContext {
  const TideConfig *config; /* borrowed, all */
  TideWireProtocol protocol;
  TideBudget *budget;
  TideDatedTables *dated;
  TideDeadLetterQueue *dead_letters;
  TideMetrics *metrics;
  TideAccumulator *accumulator;
  TidePauses *pauses;
  TideConsumerDeadLetters *letters;
} TideIntakeContext;

/* Counters of one table: what expired before it was written, and rows too far in the future. */
typedef struct TideExpiredCounters {
  TideCounter *rows;
  TideCounter *cells;
  TideCounter *future_rows;
} TideExpiredCounters;

typedef struct TideIntake {
  TideIntakeContext context;
  TideExpiredCounters *expired; /* owned; by table */
  TideCounter *readings_ambiguous;
  TideCounter *readings_time_cut;
  TideMapping *mapping;   /* owned */
  TideFieldUse field_use; /* of the first readings, until it is logged */
  gboolean fields_logged;
  TideDatedCache dated_names;
  gint64 newest_ms; /* record time of the last message taken; -1: none */
  gint64 event_ms;  /* event time of the first reading of that message that makes a row; G_MININT64: none does */
  TideLogLimit bad_message_limit;
  TideLogLimit overwrite_limit;
} TideIntake;

void tide_intake_init(TideIntake *intake, const TideIntakeContext *context);
void tide_intake_clear(TideIntake *intake);
/* At the end: logs the number of unusable messages that were not logged, unless a later line has reported it. */
void tide_intake_report_unlogged(TideIntake *intake);

/* Returns TRUE if the mark of @partition has moved and is not stored yet. */
gboolean tide_intake_take(TideIntake *intake, TidePartition *partition, const TideMessage *message, gint64 now_us);

/* The age of the last message taken; G_MAXINT64: it has no record time. */
gint64 tide_intake_late_us(const TideIntake *intake, gint64 now_epoch_ms);

G_END_DECLS
