/* The topic of dead letters: an idempotent producer that sends letters and says which of them all in-sync replicas
 * have.
 *
 * Many letters are under way at a time, bounded by their number and bytes; a letter is sent from the job's own memory,
 * which is not copied. What is not acknowledged in time comes back and may be sent again: then the letter may stand in
 * the topic twice.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaLetters TideKafkaLetters;

/* @config: borrowed, with dead_letters.topic. Does not wait for brokers. Errors: CONFIG, naming the property. */
TideKafkaLetters *tide_kafka_letters_new(const TideConfig *config, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives up what is under way: @left gets the jobs, (transfer full), whose letters may be in the topic or not. Nothing
 * can be sent after. */
void tide_kafka_letters_disconnect(TideKafkaLetters *letters, TideLetterJobs *left);
/* Frees the jobs that are under way, too. NULL ok */
void tide_kafka_letters_free(TideKafkaLetters *letters);

/* FALSE while too many are under way: poll, and try again. Transfers @job when TRUE. */
gboolean tide_kafka_letters_send(TideKafkaLetters *letters, TideLetterJob *job) G_GNUC_WARN_UNUSED_RESULT;

/* Waits up to @timeout_ms for something to come home. @kept: gets the jobs whose letters are durable;
 * @failed: those to be sent again. Both (transfer full). */
void tide_kafka_letters_poll(TideKafkaLetters *letters, int timeout_ms, TideLetterJobs *kept, TideLetterJobs *failed);

guint32 tide_kafka_letters_under_way(const TideKafkaLetters *letters);

/* Whether the trouble is that of a letter, by its size, and others may well be taken. */
gboolean tide_kafka_letters_trouble_is_of_a_letter(const TideKafkaLetters *letters);

/* Why letters fail, one sentence with what to do; NULL since the last one was delivered. Borrowed until the next poll.
 */
const char *tide_kafka_letters_trouble(const TideKafkaLetters *letters);

G_END_DECLS
