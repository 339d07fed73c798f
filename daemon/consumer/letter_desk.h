/* The desk where a consumer's dead letters go out and come home: messages and readings that cannot be mapped, and
 * messages of which HBase refuses a row. dead_letters/dead_letters.h keeps them; each is acknowledged here when it is kept.
 *
 * A refused row of one message: that message is to blame, and becomes a dead letter. A row of several (a latest row,
 * mostly): who is to blame is not known, so each of them is read again, and its part of the row is appended again
 * unmerged, as a row of its own. What is refused then is of one message. Until all of them went, other rows of that key
 * wait, so the offsets of a partition keep their order at equal times.
 *
 * Threads: the owning consumer's only; letters come home from any. */
#pragma once

#include "consumer/pauses.h"
#include "dead_letters/dead_letters.h"
#include "mapping/mapping.h"
#include "rows/open_lanes.h"
#include "util/log.h"

G_BEGIN_DECLS

/* Why a partition stands still where a letter should be written. */
#define TIDE_NO_PLACE_FOR_LETTERS                                                                                      \
  "neither dead_letters.topic nor a file is there to keep it in as a dead letter: set one of them, and restart"

typedef struct TideLetterDeskContext {
  const GPtrArray *partitions; /* borrowed, all: (element-type TidePartition), by slot */
  TideBudget *budget;
  TideDeadLetters *letters;
  TideMapping *mapping; /* the consumer's: a message that is read again is mapped again */
  TideOpenLanes *open_lanes;
  TidePauses *pauses;
  TideOnBadMessage on_bad_message;
  void (*wake)(gpointer data); /* a letter came home; any thread */
  gpointer wake_data;
} TideLetterDeskContext;

typedef struct TideLetterDesk {
  TideLetterDeskContext context;
  TideLetterBox box;
  TideRefusals refusals;
  guint32 jobs_of_refused; /* letters of them, or to be read again: not home yet */
  guint64 written_told;    /* to the dead letters: messages */
  TideLogLimit refused_limit;
} TideLetterDesk;

void tide_letter_desk_init(TideLetterDesk *desk, const TideLetterDeskContext *context);
void tide_letter_desk_clear(TideLetterDesk *desk); /* frees what came home and what waits */

/* @message cannot be mapped: begins it, and makes a letter of it. */
void tide_letter_desk_take_message(TideLetterDesk *desk, TidePartition *partition, const TideMessage *message,
                                   const TideReject *reject);
/* Makes letters of the readings that were left out of @ref's message. */
void tide_letter_desk_take_readings(TideLetterDesk *desk, TideSourceRef ref, const TideMessage *message,
                                    const TideMapped *mapped);
/* Takes the sources of @batch, of which HBase refused some rows: the others are acknowledged, those wait. */
void tide_letter_desk_take_refused(TideLetterDesk *desk, const TideBatch *batch);
/* Goes on with the messages of refused rows that wait, as far as there is room: whenever something has come home. */
void tide_letter_desk_take_waiting(TideLetterDesk *desk);

/* TRUE when letters had come home; their marks are not stored yet. */
gboolean tide_letter_desk_take_home(TideLetterDesk *desk);

/* Tells the letters what their share is judged by: @n_received messages more, and those written since. Once a round. */
void tide_letter_desk_note_messages(TideLetterDesk *desk, guint32 n_received);

G_END_DECLS
