/* Dead letters: a message that cannot be written is kept in a Kafka topic or in a local file before its offset may
 * move.
 *
 * A consumer submits jobs. The thread "tide-dlq" processes each: it reads the original again if the consumer no longer
 * has it, writes the dead letter, and returns the job when that is durable (acknowledged by all in-sync replicas, or
 * written and synced). A job does not fail: it is retried until the stop and holds its offset meanwhile. If the share
 * of messages with dead letters exceeds `max_ratio`, no more are written until that is raised, so that a wrong
 * configuration does not turn a topic into dead letters. Those below the limit are kept and may be committed: each
 * start advances by about a hundred messages or more.
 *
 * Threads: any, unless noted otherwise. */
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

/* An owning list, first in, first out. */
typedef struct TideDeadLetterJobs {
  TideDeadLetterJob *first;
  TideDeadLetterJob *last;
  guint32 n;
} TideDeadLetterJobs;

/* A consumer's queue of completed jobs. */
typedef struct TideDeadLetterCompletions {
  TideMutex lock;
  TideDeadLetterJobs jobs; /* under lock */
  /* Set before start, then read-only; the dead-letter thread calls it without the lock. */
  void (*wake)(gpointer data);
  gpointer wake_data;
} TideDeadLetterCompletions;

void tide_dead_letter_completions_init(TideDeadLetterCompletions *box, void (*wake)(gpointer data), gpointer wake_data);
void tide_dead_letter_completions_clear(TideDeadLetterCompletions *box); /* frees its jobs */
/* Takes all completed jobs, linked by next; NULL: none. Does not wait. */
TideDeadLetterJob *tide_dead_letter_completions_take(TideDeadLetterCompletions *box);

/* The number of a partition's current assignment; its consumer writes it. */
typedef _Atomic guint32 TideOwnedAssignment;
#define TIDE_NOT_OWNED G_MAXUINT32

/* A dead letter in progress. It is owned by whoever has it: consumer, queue, completions, consumer. */
struct TideDeadLetterJob {
  TideDeadLetterJob *next;
  TideDeadLetterCompletions *completions; /* borrowed */
  TideSourceRef source;                   /* the consumer's: not used here */
  const TideOwnedAssignment
      *owned;     /* borrowed: if it differs from source.assignment, the job is no longer needed; NULL: always needed */
  guint32 n_acks; /* the consumer's: acknowledgements of the message that the job provides */
  gboolean
      must_read; /* dead_letter has topic, partition and offset only: read key, value, headers and time from Kafka */
  gboolean is_further; /* its message had a dead letter before, possibly before a rewind: the ratio counts messages */
  TideDeadLetter dead_letter; /* points into memory, except for literals */
  TideBuffer memory;          /* owned: target of dead_letter's pointers */
  TideBuffer row;       /* owned: with must_read, the encoded row that HBase refused, in case the original is gone */
  gint64 charged_bytes; /* the queue's: charged to the budget */
  gint64 beyond_end_us; /* the queue's: since when its partition has ended before it; 0: it does not */
  guint32 n_failures;   /* the queue's: failed attempts to keep it */
  gboolean must_be_sent_alone; /* the queue's: the topic refused its batch for the size */
  gboolean is_kept; /* durable, so its message ends as dead-lettered; FALSE: cancelled, and its message is read again */
};

/**
 * tide_dead_letter_job_new: a job with a copy of everything that @dead_letter points to.
 * Ownership: (transfer full), for tide_dead_letter_queue_submit() or tide_dead_letter_job_free().
 */
TideDeadLetterJob *tide_dead_letter_job_new(const TideDeadLetter *dead_letter, TideSourceRef source, guint32 n_acks,
                                            TideDeadLetterCompletions *completions);
void tide_dead_letter_job_free(TideDeadLetterJob *job);

/* Appends the value of a message to @out. Returns FALSE if it is gone. Threads: "tide-dlq". */
typedef gboolean (*TideOriginalFunc)(TideBytes topic, gint64 offset, TideBuffer *out, gpointer data);

typedef struct TideDeadLetterQueueContext {
  const TideConfig *config; /* borrowed, all */
  TideBudget *budget;
  TideMetrics *metrics;
  TideOriginalFunc find_original; /* for messages from files; NULL: originals are read from Kafka */
  gpointer original_data;
} TideDeadLetterQueueContext;

TideDeadLetterQueue *tide_dead_letter_queue_new(const TideDeadLetterQueueContext *context);
/* Starts the thread; does not wait for brokers. Errors: CONFIG, IO (the file cannot be opened). @protocol: of the
 * wire */
gboolean tide_dead_letter_queue_start(TideDeadLetterQueue *dead_letters, TideWireProtocol protocol,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Replaces the topic's producers after the wall clock was set back, because librdkafka's threads may wait for a time
 * far ahead. Dead letters in flight are sent again. Threads: any. */
void tide_dead_letter_queue_rouse(TideDeadLetterQueue *dead_letters);
/* Joins the thread, after all consumers have ended. Jobs not completed by @deadline_us are dropped; their offsets were
 * not stored. Returns FALSE if the thread has not ended. */
gboolean tide_dead_letter_queue_stop(TideDeadLetterQueue *dead_letters, gint64 deadline_us);
void tide_dead_letter_queue_free(TideDeadLetterQueue *dead_letters);

/* The file for dead letters: the configured one; otherwise dead-letters.jsonl in the state directory; otherwise one
 * next to the configuration, named after it (tidemark.yaml: tidemark.dead-letters.jsonl). NULL: none, because there is
 * a topic, the configuration has no directory, or on_bad_message is stop, which writes dead letters only if a
 * destination is configured. (transfer full) */
char *tide_dead_letter_queue_file_path(const TideConfig *config);

/* Whether there is a topic or file for dead letters. If not, a consumer halts the partition instead of submitting a
 * job. */
gboolean tide_dead_letter_queue_exist(const TideDeadLetterQueue *dead_letters);

/* Charges the budget for @job. (transfer full) */
void tide_dead_letter_queue_submit(TideDeadLetterQueue *dead_letters, TideDeadLetterJob *job);

/* Counts messages received and written since the last call, for the ratio. Once per round, not per message. */
void tide_dead_letter_queue_note_messages(TideDeadLetterQueue *dead_letters, guint64 received, guint64 written);

/* TRUE while no dead letters are written, because there are too many or because the topic or file fails. Consumers
 * pause meanwhile. */
gboolean tide_dead_letter_queue_is_stalled_racy(const TideDeadLetterQueue *dead_letters);
/* TRUE while they are too many, which does not change with time. Threads: any. */
gboolean tide_dead_letter_queue_has_too_many_racy(const TideDeadLetterQueue *dead_letters);
/* TRUE while only jobs above max_ratio are left. All other submitted jobs have been posted as completed, and no more
 * complete until max_ratio is raised. Threads: any. */
gboolean tide_dead_letter_queue_keeps_no_more(TideDeadLetterQueue *dead_letters);
/* Dead letters since the start, by reason. (transfer full) */
TideDeadLettersView tide_dead_letter_queue_view(TideDeadLetterQueue *dead_letters);
/* One sentence with cause and remedy; NULL: not stalled. (transfer full) */
char *tide_dead_letter_queue_stall_text(TideDeadLetterQueue *dead_letters);

G_END_DECLS
