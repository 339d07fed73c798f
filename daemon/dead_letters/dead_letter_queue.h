/* Dead letters: what can never be written is kept in a Kafka topic, or without one in a local file, before its offset
 * may move.
 *
 * A consumer submits jobs; the thread "tide-dlq" works on each (reads the original again where the consumer has it
 * no more), keeps it, and when it is durable (acknowledged by all in-sync replicas, or written and synced) sends the
 * job back. A job never fails: what cannot be kept is tried again until the stop, and so holds its offset. When the
 * share of messages with dead letters among all is above `max_ratio`, nothing more is kept until that is raised, so
 * that a wrong configuration does not drain a topic into the dead letters. What came up to that bound is kept, and may
 * be committed: each start gets on by a hundred messages or so at least.
 *
 * Threads: any, unless said otherwise. */
#pragma once

#include "config/config.h"
#include "dead_letters/dead_letter_reasons.h"
#include "model/dead_letter.h"
#include "thrift/wire/wire.h"
#include "util/metrics.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideDeadLetterQueue TideDeadLetterQueue;
typedef struct TideDeadLetterJob TideDeadLetterJob;

/* A list that owns what is in it, first in, first out. */
typedef struct TideDeadLetterJobs {
  TideDeadLetterJob *first;
  TideDeadLetterJob *last;
  guint32 n;
} TideDeadLetterJobs;

/* Where a consumer's completed jobs are queued. */
typedef struct TideDeadLetterCompletions {
  TideMutex lock;
  TideDeadLetterJobs jobs; /* under lock */
  /* set before start, then read-only; called without the lock, by the dead-letter thread */
  void (*wake)(gpointer data);
  gpointer wake_data;
} TideDeadLetterCompletions;

void tide_dead_letter_completions_init(TideDeadLetterCompletions *box, void (*wake)(gpointer data), gpointer wake_data);
void tide_dead_letter_completions_clear(TideDeadLetterCompletions *box); /* frees what is in it */
/* All that completed, linked by next; NULL: nothing. Does not wait. */
TideDeadLetterJob *tide_dead_letter_completions_take(TideDeadLetterCompletions *box);

/* The number of a partition's assignment, while it lasts: written by its consumer. */
typedef _Atomic guint32 TideOwnedAssignment;
#define TIDE_NOT_OWNED G_MAXUINT32

/* One message on its way to the dead letters. Owned by whoever holds it: consumer, dead letters, box, consumer. */
struct TideDeadLetterJob {
  TideDeadLetterJob *next;
  TideDeadLetterCompletions *completions; /* borrowed */
  TideSourceRef source;                   /* the consumer's: untouched */
  const TideOwnedAssignment
      *owned;     /* borrowed: when it is not source.assignment any more, nobody waits for the job; NULL: it is */
  guint32 n_acks; /* the consumer's: acknowledgements of the message that this settles */
  gboolean
      must_read; /* dead_letter has topic, partition and offset only: read key, value, headers and time from Kafka */
  gboolean is_further;        /* its message had one before, maybe before a rewind: the ratio counts messages */
  TideDeadLetter dead_letter; /* points into memory, but for literals */
  TideBuffer memory;          /* owned: what dead_letter points to */
  TideBuffer row; /* owned: with must_read, the row that HBase refused, as it was encoded: if the original is gone */
  gint64 charged_bytes;        /* the dead letters': what the budget holds for it */
  gint64 beyond_end_us;        /* the dead letters': since when its partition ends before it; 0: it does not */
  guint32 n_failures;          /* the dead letters': times it could not be kept */
  gboolean must_be_sent_alone; /* the dead letters': the topic refused a batch that it was in for its size */
  gboolean is_kept;            /* durable: the message ends as dead-lettered. FALSE: it was given up, and comes again */
};

/**
 * tide_dead_letter_job_new: a job with a copy of all that @dead_letter points to.
 * Ownership: (transfer full); give it to tide_dead_letter_queue_submit(), or free it.
 */
TideDeadLetterJob *tide_dead_letter_job_new(const TideDeadLetter *dead_letter, TideSourceRef source, guint32 n_acks,
                                            TideDeadLetterCompletions *completions);
void tide_dead_letter_job_free(TideDeadLetterJob *job);

/* Appends the value of a message to @out. FALSE: it is gone. Threads: "tide-dlq". */
typedef gboolean (*TideOriginalFunc)(TideBytes topic, gint64 offset, TideBuffer *out, gpointer data);

typedef struct TideDeadLetterQueueContext {
  const TideConfig *config; /* borrowed, all */
  TideBudget *budget;
  TideMetrics *metrics;
  TideOriginalFunc find_original; /* where messages come from files; NULL: they are read again from Kafka */
  gpointer original_data;
} TideDeadLetterQueueContext;

TideDeadLetterQueue *tide_dead_letter_queue_new(const TideDeadLetterQueueContext *context);
/* Starts the thread; @protocol: of the wire. Does not wait for brokers. Errors: CONFIG, IO (the file cannot be opened).
 */
gboolean tide_dead_letter_queue_start(TideDeadLetterQueue *dead_letters, TideWireProtocol protocol,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The wall clock was set back, and what librdkafka's threads wait for may be as far away: the topic's producers are
 * made anew. What was under way is sent again. Any thread. */
void tide_dead_letter_queue_rouse(TideDeadLetterQueue *dead_letters);
/* After the consumers' end: joins the thread; jobs not kept by @deadline_us are dropped, their offsets were not stored.
 * FALSE when the thread has not ended. */
gboolean tide_dead_letter_queue_stop(TideDeadLetterQueue *dead_letters, gint64 deadline_us);
void tide_dead_letter_queue_free(TideDeadLetterQueue *dead_letters);

/* The file that dead letters are kept in: the configured one; else dead-letters.jsonl in the state directory; else
 * beside the configuration, named after it (tidemark.yaml: tidemark.dead-letters.jsonl). NULL: in none: there is a
 * topic, or the configuration lies nowhere, or on_bad_message is stop, so that without a named place nothing is kept.
 * (transfer full)
 */
char *tide_dead_letter_queue_file_path(const TideConfig *config);

/* Whether there is a place for dead letters at all: a topic, or a file. Where there is none, who would submit halts its
 * partition. */
gboolean tide_dead_letter_queue_exist(const TideDeadLetterQueue *dead_letters);

/* Transfers @job. Charges the budget for it. */
void tide_dead_letter_queue_submit(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job);

/* For the ratio: so many messages more were received, and have been written. Once a round, never for a message. */
void tide_dead_letter_queue_note_messages(TideDeadLetterQueue *dead_letters, guint64 received, guint64 written);

/* TRUE while nothing is kept because too many were, or because the topic or file takes nothing: consumers pause. */
gboolean tide_dead_letter_queue_is_stalled_racy(const TideDeadLetterQueue *dead_letters);
/* TRUE while that is because too many were, which time does not change. Threads: any. */
gboolean tide_dead_letter_queue_has_too_many_racy(const TideDeadLetterQueue *dead_letters);
/* TRUE while all that it has is beyond max_ratio: of what was submitted, the rest is in its box by now, and nothing
 * more completes until max_ratio is raised. Threads: any. */
gboolean tide_dead_letter_queue_keeps_no_more(TideDeadLetterQueue *dead_letters);
/* What was kept since the start, and why. (transfer full) */
TideDeadLettersView tide_dead_letter_queue_view(TideDeadLetterQueue *dead_letters);
/* One sentence: why, and what to do; NULL when it is not holding. (transfer full) */
char *tide_dead_letter_queue_stall_text(TideDeadLetterQueue *dead_letters);

G_END_DECLS
