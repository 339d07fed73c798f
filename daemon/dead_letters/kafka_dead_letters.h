/* The topic of dead letters: an idempotent producer that sends dead letters and says which of them all in-sync replicas
 * have.
 *
 * Many dead letters are under way at a time, bounded by their number and bytes; a dead letter is sent from the job's
 * own memory, which is not copied. What is not acknowledged in time comes back and may be sent again: then the dead
 * letter may stand in the topic twice.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/dead_letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaDeadLetters TideKafkaDeadLetters;

/* @config: borrowed, with dead_letters.topic. Does not wait for brokers. Errors: CONFIG, naming the property. */
TideKafkaDeadLetters *tide_kafka_dead_letters_new(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives up what is under way: @left gets the jobs, (transfer full), whose dead letters may be in the topic or not.
 * Nothing can be sent after. */
void tide_kafka_dead_letters_disconnect(TideKafkaDeadLetters *dead_letters, TideDeadLetterJobs *left);
/* Frees the jobs that are under way, too. NULL ok */
void tide_kafka_dead_letters_free(TideKafkaDeadLetters *dead_letters);

/* FALSE while too many are under way: poll, and try again. Transfers @job when TRUE. */
gboolean tide_kafka_dead_letters_send(TideKafkaDeadLetters *dead_letters,
                                      TideDeadLetterJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Waits up to @timeout_ms for something to complete. @kept: gets the jobs whose dead letters are durable;
 * @failed: those to be sent again. Both (transfer full). */
void tide_kafka_dead_letters_poll(TideKafkaDeadLetters *dead_letters, int timeout_ms, TideDeadLetterJobs *kept,
                                  TideDeadLetterJobs *failed);

guint32 tide_kafka_dead_letters_under_way(const TideKafkaDeadLetters *dead_letters);

/* Whether the trouble is that of a dead letter, by its size, and others may well be taken. */
gboolean tide_kafka_dead_letters_trouble_is_of_one(const TideKafkaDeadLetters *dead_letters);

/* Why dead letters fail, one sentence with what to do; NULL since the last one was delivered. Borrowed until the next
 * poll.
 */
const char *tide_kafka_dead_letters_trouble(const TideKafkaDeadLetters *dead_letters);

G_END_DECLS
