/* Sends a record batch to a mock broker byte by byte: batches that no producer sends, and batches as brokers compact
 * them.
 *
 * Threads: any. Aborts the test if the broker is unreachable or refuses the batch. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define RAW_BATCH_MAX 8

/* With Kafka's numbers. */
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
  gint32 n_offsets;                    /* number of offsets that the batch occupies; above the last delta */
  gboolean damaged;                    /* the checksum is wrong */
  TideRawCodec codec;                  /* the codec that the batch claims */
  GBytes *records;                     /* borrowed: raw records that replace payloads; NULL: none */
} TideRawBatch;

/* A record of @payload as in an uncompressed batch. (transfer full) */
GByteArray *raw_batch_record(GBytes *payload, gint32 delta);

/* @brokers: from mock_kafka_brokers(); the first must lead the partition */
void raw_batch_produce(const char *brokers, const char *topic, gint32 partition, const TideRawBatch *batch);

G_END_DECLS
