/* The dead-letter topic: producers that send dead letters and report for each if all in-sync replicas have it.
 *
 * Many dead letters are in flight at a time, limited by number and bytes; each is sent from its job's memory without a
 * copy. One that is not acknowledged in time is returned and may be sent again, so the topic may contain it twice.
 *
 * A broker refuses a whole batch for its size, and librdkafka reports that error for each message. The error does not
 * apply to a single dead letter, so each is sent again in its own batch, by a second producer that does not delay the
 * first. Only the answer to that applies to the dead letter itself.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/dead_letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaDeadLetters TideKafkaDeadLetters;

/* Results of dead letters, each from its own answer. */
typedef struct TideKafkaDeadLetterReports {
  TideDeadLetterJobs kept;       /* durable */
  TideDeadLetterJobs too_large;  /* refused for their own size, which concerns no other dead letter */
  TideDeadLetterJobs failed;     /* not kept, for the reason in tide_kafka_dead_letters_trouble() */
  guint32 n_refused_with_others; /* refused for the size of their batch: still in flight */
} TideKafkaDeadLetterReports;

typedef enum TideKafkaDeadLetterSent {
  TIDE_KAFKA_DEAD_LETTER_SENT,      /* the job is transferred and returns in a report */
  TIDE_KAFKA_DEAD_LETTER_LATER,     /* too many are in flight: poll and retry */
  TIDE_KAFKA_DEAD_LETTER_TOO_LARGE, /* for librdkafka, which accepts others */
  TIDE_KAFKA_DEAD_LETTER_FAILED,    /* for a reason that concerns all: tide_kafka_dead_letters_trouble() */
} TideKafkaDeadLetterSent;

/* @config: borrowed, with dead_letters.topic. Does not wait for brokers. Errors: CONFIG, naming the property. */
TideKafkaDeadLetters *tide_kafka_dead_letters_new(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Disconnects and returns the jobs in flight in @left (transfer full); their dead letters may be in the topic or not.
 * The next send connects again. */
void tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left);
/* Also frees jobs in flight. NULL ok */
void tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters);

/* Sends @job's dead letter. Transfers @job only if the result is SENT. A producer with a permanent failure is replaced;
 * if that fails, the result is FAILED and the next call retries. */
TideKafkaDeadLetterSent tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters,
                                                     TideDeadLetterJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Waits up to @timeout_ms for answers and adds them to @reports, whose jobs are (transfer full). */
void tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms,
                                  TideKafkaDeadLetterReports *reports);

guint32 tide_kafka_dead_letters_in_flight(const TideKafkaDeadLetters *dead_letters);

/* Why the last dead letter in a report's `failed` was not kept, or the last send failed: one sentence with remedy.
 * NULL: no failure yet. Borrowed until the next send or poll. */
const char *tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters);

/* The remedy for @job, which was reported as too large. (transfer full) */
char *tide_kafka_dead_letters_describe_too_large(const TideKafkaDeadLetters *dead_letters,
                                                 const TideDeadLetterJob *job);

G_END_DECLS
