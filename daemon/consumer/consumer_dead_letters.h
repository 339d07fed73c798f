/* A consumer's side of its dead letters: submits them to the queue (dead_letters/dead_letter_queue.h) and acknowledges
 * those that the queue has kept. Dead letters are messages and readings that cannot be mapped, and messages with a row
 * that HBase refuses.
 *
 * A refused row of a single message makes that message a dead letter. If several messages share the row, as they often
 * do in a latest table, it is unknown which of them HBase refuses. Their partitions are then rewound, and rows of that
 * key are not merged for a while (rows/solo_keys.h), so that the next refused row belongs to one message.
 *
 * Threads: the owning consumer's only; any thread may complete a dead letter. */
#pragma once

#include "consumer/pauses.h"
#include "dead_letters/dead_letter_queue.h"
#include "mapping/mapping.h"
#include "rows/accumulator.h"
#include "util/log.h"

G_BEGIN_DECLS

/* Why a bad message halts its partition instead of becoming a dead letter. */
#define TIDE_NO_PLACE_FOR_DEAD_LETTERS                                                                                 \
  "no dead-letter file or topic is configured; set dead_letters.file or dead_letters.topic, and restart"

typedef struct TideConsumerDeadLettersContext {
  const GPtrArray *partitions; /* borrowed, all: (element-type TidePartition), by slot */
  const TideAssignments *assignments;
  TideBudget *budget;
  TideDeadLetterQueue *dead_letters;
  TideMapping *mapping; /* the consumer's; finds the source of each topic */
  TideAccumulator *accumulator;
  TidePauses *pauses;
  void (*wake)(gpointer data); /* called when a dead letter completes, on any thread */
  gpointer wake_data;
} TideConsumerDeadLettersContext;

typedef struct TideConsumerDeadLetters {
  TideConsumerDeadLettersContext context;
  TideDeadLetterCompletions box;
  TideFreshMessages reported; /* reported to the dead letter queue */
  TideLogLimit refused_limit;
} TideConsumerDeadLetters;

void tide_consumer_dead_letters_init(TideConsumerDeadLetters *letters, const TideConsumerDeadLettersContext *context);
void tide_consumer_dead_letters_clear(TideConsumerDeadLetters *letters); /* frees completed dead letters */
/* At the end: logs the number of refused rows that were not logged, unless a later line has reported it. */
void tide_consumer_dead_letters_report_unlogged(TideConsumerDeadLetters *letters);

/* Begins @message, which cannot be mapped, and makes a dead letter of it. */
void tide_consumer_dead_letters_take_message(TideConsumerDeadLetters *letters, TidePartition *partition,
                                             const TideMessage *message, const TideReject *reject);
/* Makes dead letters of the rejected readings of @ref's message. */
void tide_consumer_dead_letters_take_readings(TideConsumerDeadLetters *letters, TideSourceRef ref,
                                              const TideMessage *message, const TideMapped *mapped);
/* Handles the sources of @batch after HBase refused some of its rows. Messages of written rows are acknowledged; the
 * others become dead letters or are read again. */
void tide_consumer_dead_letters_take_refused(TideConsumerDeadLetters *letters, const TideBatch *batch);

/* Returns TRUE if dead letters had completed; the marks that they moved are not stored yet. */
gboolean tide_consumer_dead_letters_take_completed(TideConsumerDeadLetters *letters);

/* Reports the messages received and written since the last call, which the dead-letter ratio is based on. Once a
 * round. */
void tide_consumer_dead_letters_note_messages(TideConsumerDeadLetters *letters);

G_END_DECLS
