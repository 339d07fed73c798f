/* The topic of dead letters: producers that send dead letters and report for each whether all in-sync replicas have it.
 *
 * Many dead letters are under way at a time, bounded by their number and bytes; a dead letter is sent from the job's
 * own memory, which is not copied. What is not acknowledged in time comes back and may be sent again: then the dead
 * letter may stand in the topic twice.
 *
 * A broker refuses a whole batch for its size, and librdkafka reports that error for each message of the batch. Such an
 * error says nothing about a single dead letter, so each of them is sent once more in a batch of its own, by a second
 * producer, which delays nothing that the first one sends. Only the answer to that is the dead letter's own.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/dead_letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaDeadLetters TideKafkaDeadLetters;

/* What became of dead letters, each by its own answer. */
typedef struct TideKafkaDeadLetterReports {
  TideDeadLetterJobs kept;       /* durable */
  TideDeadLetterJobs too_large;  /* refused for their own size: this concerns no other dead letter */
  TideDeadLetterJobs failed;     /* not kept, for the reason that tide_kafka_dead_letters_trouble() gives */
  guint32 n_refused_with_others; /* refused for the size of their batch: still under way */
} TideKafkaDeadLetterReports;

typedef enum TideKafkaDeadLetterSent {
  TIDE_KAFKA_DEAD_LETTER_SENT,      /* the job is transferred: it comes back in a report */
  TIDE_KAFKA_DEAD_LETTER_LATER,     /* too many are under way: poll, and try again */
  TIDE_KAFKA_DEAD_LETTER_TOO_LARGE, /* for librdkafka, which takes others */
  TIDE_KAFKA_DEAD_LETTER_FAILED,    /* tide_kafka_dead_letters_trouble() gives the reason, which concerns all */
} TideKafkaDeadLetterSent;

/* @config: borrowed, with dead_letters.topic. Does not wait for brokers. Errors: CONFIG, naming the property. */
TideKafkaDeadLetters *tide_kafka_dead_letters_new(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives up what is under way: @left gets the jobs, (transfer full), whose dead letters may be in the topic or not.
 * The next send connects again. */
void tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left);
/* Frees the jobs that are under way, too. NULL ok */
void tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters);

/* Sends @job's dead letter. Transfers @job only when the result is SENT. A producer that failed for ever is replaced by
 * a new one here; if that cannot be made, the result is FAILED, and the next call tries again. */
TideKafkaDeadLetterSent tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters,
                                                     TideDeadLetterJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Waits up to @timeout_ms for answers and adds them to @reports, whose jobs are (transfer full). */
void tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms,
                                  TideKafkaDeadLetterReports *reports);

guint32 tide_kafka_dead_letters_under_way(const TideKafkaDeadLetters *dead_letters);

/* Why the last dead letter in a report's list `failed` was not kept, or the last send failed: one sentence with what to
 * do. NULL before any did. Borrowed until the next send or poll. */
const char *tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters);

/* What to do about @job, which was reported as too large. (transfer full) */
char *tide_kafka_dead_letters_describe_too_large(const TideKafkaDeadLetters *dead_letters,
                                                 const TideDeadLetterJob *job);

G_END_DECLS
