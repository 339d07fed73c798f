/* A record batch made by hand and sent to a mock broker: what no producer would send, and what brokers make of batches
 * when they compact a topic.
 *
 * Threads: any. Aborts the test when the broker cannot be reached or refuses. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define RAW_BATCH_MAX 8

/* As Kafka numbers them. */
typedef enum TideRawCodec {
  TIDE_RAW_PLAIN = 0,
  TIDE_RAW_GZIP = 1,
  TIDE_RAW_SNAPPY = 2,
  TIDE_RAW_LZ4 = 3,
  TIDE_RAW_ZSTD = 4,
} TideRawCodec;

typedef struct TideRawBatch {
  const char *payloads[RAW_BATCH_MAX]; /* up to the first NULL */
  gint32 deltas[RAW_BATCH_MAX];        /* each record's offset from the batch's first */
  gint32 n_offsets;                    /* that the batch takes in the partition; above the last delta */
  gboolean damaged;                    /* its checksum is wrong */
  TideRawCodec codec;                  /* what the batch says of its records */
  GBytes *records;                     /* borrowed: stand in place of payloads, as they are; NULL: payloads */
} TideRawBatch;

/* A record of @payload, as it stands in a batch before that is compressed. (transfer full) */
GByteArray *raw_batch_record(GBytes *payload, gint32 delta);

/* @brokers: as mock_kafka_brokers() says; the first of them must lead the partition */
void raw_batch_produce(const char *brokers, const char *topic, gint32 partition, const TideRawBatch *batch);

G_END_DECLS
