/* The intake of a consumer: a message that was read becomes rows in the accumulator, or it is passed over, becomes a
 * dead letter, or halts its partition. Where it was read is no matter here.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/dead_letter_desk.h"
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
  TideDeadLetterDesk *desk;
} TideIntakeContext;

/* Of one table: what it did not get because it is older than its time to live, or of the future. */
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
  TideFieldUse field_use; /* of the first readings, until it is told */
  gboolean fields_logged;
  TideDatedCache dated_names;
  gint64 newest_ms; /* the time of the message that was taken last; -1: it has none */
  gint64 event_ms;  /* the event time of that message's first reading that makes a row; G_MININT64: none does */
  TideLogLimit bad_message_limit;
  TideLogLimit overwrite_limit;
} TideIntake;

void tide_intake_init(TideIntake *intake, const TideIntakeContext *context);
void tide_intake_clear(TideIntake *intake);
/* At the end: says how many messages that cannot be used were not logged, where no line of another has said it. */
void tide_intake_tell_unlogged(TideIntake *intake);

/* TRUE when the mark of @partition has moved, and is not stored yet. */
gboolean tide_intake_take(TideIntake *intake, TidePartition *partition, const TideMessage *message, gint64 now_us);

/* How old the newest message is that was taken; G_MAXINT64: it has no time. */
gint64 tide_intake_late_us(const TideIntake *intake, gint64 now_epoch_ms);

G_END_DECLS
