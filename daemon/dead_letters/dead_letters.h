/* Dead letters: what can never be written is kept in a Kafka topic, or without one in a local file, before its offset
 * may move.
 *
 * A consumer submits jobs; the thread "tide-letters" completes each (reads the original again where the consumer has it
 * no more), keeps it, and when it is durable (acknowledged by all in-sync replicas, or written and synced) sends the
 * job home. A job never fails: what cannot be kept is tried again until the stop, and so holds its partition. When the
 * share of messages with letters among all is above `max_ratio`, nothing more is kept until a restart, so that a wrong
 * configuration does not drain a topic into the letters. What came up to that bound is kept, and may be committed: each
 * start gets on by a hundred messages or so at least.
 *
 * A job may also ask for the original alone (wants_original): a message that shares a refused row with others, of which
 * it is not known whether it is to blame. That is no letter, and does not count as one.
 *
 * Threads: any, unless said otherwise. */
#pragma once

#include "config/config.h"
#include "dead_letters/refusals.h"
#include "model/letter.h"
#include "thrift/wire/wire.h"
#include "util/metrics.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideDeadLetters TideDeadLetters;
typedef struct TideLetterJob TideLetterJob;

typedef enum TideLetterResult {
  TIDE_LETTER_PENDING,
  TIDE_LETTER_KEPT, /* durable: the message ends as dead-lettered */
  TIDE_LETTER_READ, /* the letter has the original, or original_is_gone: nothing was kept */
} TideLetterResult;

/* A list that owns what is in it, first in, first out. */
typedef struct TideLetterJobs {
  TideLetterJob *first;
  TideLetterJob *last;
  guint32 n;
} TideLetterJobs;

/* Where a consumer's jobs come home to. */
typedef struct TideLetterBox {
  TideMutex lock;
  TideLetterJobs jobs; /* under lock */
  /* set before start, then read-only; called without the lock, by the letters' thread */
  void (*wake)(gpointer data);
  gpointer wake_data;
} TideLetterBox;

void tide_letter_box_init(TideLetterBox *box, void (*wake)(gpointer data), gpointer wake_data);
void tide_letter_box_clear(TideLetterBox *box); /* frees what is in it */
/* All that came home, linked by next; NULL: nothing. Does not wait. */
TideLetterJob *tide_letter_box_take(TideLetterBox *box);

/* The epoch of a partition's assignment, while it lasts: written by its consumer. */
typedef _Atomic guint32 TideOwnedEpoch;
#define TIDE_NOT_OWNED G_MAXUINT32

/* One message on its way to the letters. Owned by whoever holds it: consumer, letters, box, consumer. */
struct TideLetterJob {
  TideLetterJob *next;
  TideLetterBox *home;  /* borrowed */
  TideSourceRef source; /* the consumer's: untouched */
  const TideOwnedEpoch
      *owned;         /* borrowed: when it is not source.epoch any more, nobody waits for the job; NULL: it is */
  guint32 n_acks;     /* the consumer's: acknowledgements of the message that this settles */
  gboolean must_read; /* letter has topic, partition and offset only: read key, value, headers and time from Kafka */
  gboolean wants_original; /* only read, keep nothing */
  gboolean is_further;     /* another letter of its message came before: the ratio counts messages */
  TideLetter letter;       /* points into memory, but for literals */
  TideRefusedRow *row;     /* ref: for the case that the original is gone; NULL otherwise */
  GArray *parts;     /* owned (element-type TideRefusedPart), the consumer's: what is to be sent again; NULL: nothing */
  TideBuffer memory; /* owned: what letter points to */
  gint64 charged_bytes; /* the letters': what the budget holds for it */
  gint64 beyond_end_us; /* the letters': since when its partition ends before it; 0: it does not */
  guint32 n_failures;   /* the letters': times it could not be kept */
  TideLetterResult result;
};

/**
 * tide_letter_job_new: a job with a copy of all that @letter points to.
 * Ownership: (transfer full); give it to tide_dead_letters_submit(), or free it.
 */
TideLetterJob *tide_letter_job_new(const TideLetter *letter, TideSourceRef source, guint32 n_acks, TideLetterBox *home);
void tide_letter_job_free(TideLetterJob *job);

typedef struct TideDeadLettersContext {
  const TideConfig *config; /* borrowed, all */
  TideBudget *budget;
  TideMetrics *metrics;
} TideDeadLettersContext;

TideDeadLetters *tide_dead_letters_new(const TideDeadLettersContext *context);
/* Starts the thread; @protocol: of the wire. Does not wait for brokers. Errors: CONFIG, IO (the file cannot be opened).
 */
gboolean tide_dead_letters_start(TideDeadLetters *letters, TideWireProtocol protocol,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* After the consumers' end: joins the thread; jobs not kept by @deadline_us are dropped, their offsets were not stored.
 * FALSE when the thread has not ended. */
gboolean tide_dead_letters_stop(TideDeadLetters *letters, gint64 deadline_us);
void tide_dead_letters_free(TideDeadLetters *letters);

/* The file that letters are kept in: the configured one; else dead-letters.jsonl in the state directory; else beside
 * the configuration, named after it (tidemark.yaml: tidemark.dead-letters.jsonl). NULL: in none: there is a topic, or
 * the configuration lies nowhere, or on_bad_message is stop, so that without a named place nothing is kept. (transfer
 * full)
 */
char *tide_dead_letters_file_path(const TideConfig *config);

/* Whether there is a place for letters at all: a topic, or a file. Where there is none, who would submit holds its
 * partition. */
gboolean tide_dead_letters_exist(const TideDeadLetters *letters);

/* Transfers @job. Charges the budget for it. */
void tide_dead_letters_submit(TideDeadLetters *letters, TideLetterJob *job);

/* The consumer is done with the original of @job, which came home as READ: gives its memory's charge back. */
void tide_dead_letters_release_original(TideDeadLetters *letters, TideLetterJob *job);

/* For the ratio: so many messages more were received, and have been written. Once a round, never for a message. */
void tide_dead_letters_note_messages(TideDeadLetters *letters, guint64 received, guint64 written);

/* TRUE while nothing is kept because too many were, or because the topic or file takes nothing: consumers pause. */
gboolean tide_dead_letters_is_holding_racy(const TideDeadLetters *letters);
/* One sentence: why, and what to do; NULL when it is not holding. (transfer full) */
char *tide_dead_letters_held_text(TideDeadLetters *letters);

G_END_DECLS
