/* Reads messages again by topic, partition and offset, for dead letters whose consumer has them no more: a consumer of
 * its own that is in no group and commits nothing. Many are read in one pass over each partition.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/dead_letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaOriginals TideKafkaOriginals;

/* @config, @stopping: borrowed; once @stopping is TRUE, a read ends within seconds. Does not wait for brokers. */
TideKafkaOriginals *tide_kafka_originals_new(const TideConfig *config, const _Atomic gboolean *stopping);
void tide_kafka_originals_free(TideKafkaOriginals *originals); /* NULL ok */

/**
 * tide_kafka_originals_read: read what some of @wanted ask for. Waits as long as something comes.
 * @wanted: jobs with topic, partition and offset; those that could not be read now stay in it
 * @read: gets the others, of one partition in the order of offsets: their dead letters have the original's key, value,
 * headers and time; or original_is_gone is set, for what retention or compaction has taken Returns: why some could not
 * be read, one sentence; NULL: there was no trouble. (transfer full)
 */
char *tide_kafka_originals_read(TideKafkaOriginals *originals, TideDeadLetterJobs *wanted, TideDeadLetterJobs *read);

G_END_DECLS
