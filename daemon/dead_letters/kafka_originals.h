/* Reads messages again by topic, partition and offset, for dead letters whose consumer no longer has them. It uses its
 * own consumer, which joins no group and commits nothing. One pass over each partition reads many messages.
 *
 * Threads: one at a time. */
#pragma once

#include "dead_letters/dead_letter_job.h"

G_BEGIN_DECLS

typedef struct TideKafkaOriginals TideKafkaOriginals;

/* @config, @stopping: borrowed; a read ends within seconds once @stopping is TRUE. Does not wait for brokers. */
TideKafkaOriginals *tide_kafka_originals_new(const TideConfig *config, const _Atomic gboolean *stopping);
void tide_kafka_originals_free(TideKafkaOriginals *originals); /* NULL ok */

/**
 * tide_kafka_originals_read: reads the originals of some jobs in @wanted. Waits while messages arrive.
 * @wanted: jobs with topic, partition and offset; those that could not be read stay in it
 * @read: receives the others, in offset order per partition. Their dead letters have the original's key, value, headers
 * and time, or original_is_gone is set if retention or compaction removed it. Returns: why some could not be read, one
 * sentence; NULL: no failure. (transfer full)
 */
char *tide_kafka_originals_read(TideKafkaOriginals *originals, TideDeadLetterJobs *wanted, TideDeadLetterJobs *read);

G_END_DECLS
