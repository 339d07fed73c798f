/* A consumer's side of its dead letters: submits them to the queue and takes back those that are kept. They are
 * messages and readings that cannot be mapped, and messages of which HBase refuses a row.
 * dead_letters/dead_letter_queue.h keeps them; each is acknowledged here when it is kept.
 *
 * A refused row of one message: that message is to blame, and becomes a dead letter. A row of several (a latest row,
 * mostly): it is not known which of them HBase refuses. So rows of that key do not merge for a while
 * (rows/solo_keys.h), and the partitions of these messages are read again: the next row that is refused is of one.
 *
 * Threads: the owning consumer's only; dead letters complete from any. */
#pragma once

#include "consumer/pauses.h"
#include "dead_letters/dead_letter_queue.h"
#include "mapping/mapping.h"
#include "rows/accumulator.h"
#include "util/log.h"

G_BEGIN_DECLS

/* Why a partition is halted where a dead letter should be written. */
#define TIDE_NO_PLACE_FOR_DEAD_LETTERS                                                                                 \
  "neither dead_letters.topic nor a file is there to keep it in as a dead letter: set one of them, and restart"

typedef struct TideDeadLetterDeskContext {
  const GPtrArray *partitions; /* borrowed, all: (element-type TidePartition), by slot */
  const TideAssignments *assignments;
  TideBudget *budget;
  TideDeadLetterQueue *dead_letters;
  TideMapping *mapping; /* the consumer's: it knows the source of each topic */
  TideAccumulator *accumulator;
  TidePauses *pauses;
  void (*wake)(gpointer data); /* a dead letter completed; any thread */
  gpointer wake_data;
} TideDeadLetterDeskContext;

typedef struct TideDeadLetterDesk {
  TideDeadLetterDeskContext context;
  TideDeadLetterCompletions box;
  TideFreshMessages reported; /* to the dead letters */
  TideLogLimit refused_limit;
} TideDeadLetterDesk;

void tide_dead_letter_desk_init(TideDeadLetterDesk *desk, const TideDeadLetterDeskContext *context);
void tide_dead_letter_desk_clear(TideDeadLetterDesk *desk); /* frees what completed */
/* At the end: says how many refused rows were not logged, where no line of another has said it. */
void tide_dead_letter_desk_tell_unlogged(TideDeadLetterDesk *desk);

/* @message cannot be mapped: begins it, and makes a dead letter of it. */
void tide_dead_letter_desk_take_message(TideDeadLetterDesk *desk, TidePartition *partition, const TideMessage *message,
                                        const TideReject *reject);
/* Makes dead letters of the readings that were left out of @ref's message. */
void tide_dead_letter_desk_take_readings(TideDeadLetterDesk *desk, TideSourceRef ref, const TideMessage *message,
                                         const TideMapped *mapped);
/* Takes the sources of @batch, of which HBase refused some rows: the others are acknowledged, those become dead letters
 * or are read again. */
void tide_dead_letter_desk_take_refused(TideDeadLetterDesk *desk, const TideBatch *batch);

/* TRUE when dead letters had completed; their marks are not stored yet. */
gboolean tide_dead_letter_desk_take_completed(TideDeadLetterDesk *desk);

/* Tells the dead letters what their share is judged by: the messages received and written since. Once a round. */
void tide_dead_letter_desk_note_messages(TideDeadLetterDesk *desk);

G_END_DECLS
