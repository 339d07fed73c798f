/* A Kafka cluster inside of the test: librdkafka's mock cluster, which speaks the real protocol on loopback ports and
 * has consumer groups with committed offsets.
 *
 * Its limits (librdkafka 2.0.2): a partition keeps its newest 5 MiB or 100,000 messages, whichever is less, so a
 * producer that runs ahead of its consumer makes real "offset out of range"; no transactions that abort, no deletion of
 * topics.
 *
 * Threads: one at a time. Every deadline is monotonic, as tide_now_us(). */
#pragma once

#include "util/bytes.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideMockKafka TideMockKafka;

TideMockKafka *mock_kafka_new(int n_brokers); /* brokers have the ids 1 … n_brokers */
void mock_kafka_free(TideMockKafka *kafka);   /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMockKafka, mock_kafka_free)

const char *mock_kafka_brokers(const TideMockKafka *kafka); /* for bootstrap.servers */

/* Replicated to every broker. Call it before the topic is used. Aborts when it cannot. */
void mock_kafka_create_topic(TideMockKafka *kafka, const char *topic, int n_partitions);

#define MOCK_KAFKA_MAX_HEADERS 12

typedef struct TideMockHeader {
  const char *name;
  TideBytes value;
} TideMockHeader;

typedef struct TideMockMessage {
  const char *topic;
  gint32 partition;                               /* RD_KAFKA_PARTITION_UA (-1): by the key */
  TideBytes key;                                  /* data NULL: none */
  TideBytes payload;                              /* data NULL: a tombstone */
  gint64 timestamp_ms;                            /* 0: now */
  TideMockHeader headers[MOCK_KAFKA_MAX_HEADERS]; /* up to the first without a name */
} TideMockMessage;

/* Queued; copies everything. Aborts when it cannot be queued. */
void mock_kafka_produce(TideMockKafka *kafka, const TideMockMessage *message);
void mock_kafka_produce_text(TideMockKafka *kafka, const char *topic, gint32 partition, const char *payload);
/* Waits until all that was queued is acknowledged. FALSE at the deadline, or when a message was refused. */
gboolean mock_kafka_flush(TideMockKafka *kafka, gint64 deadline_us) G_GNUC_WARN_UNUSED_RESULT;

/* The next offset of the partition, -1 when it cannot be had by the deadline. */
gint64 mock_kafka_end_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us);

/* Its first offset that is still there, likewise. */
gint64 mock_kafka_begin_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us);

/* The cluster's id. (transfer full) */
char *mock_kafka_cluster_id(TideMockKafka *kafka);

/* Asks once for offsets of partition 0, by @client (NULL: one of its own): FALSE when that fails, as the next question
 * does after mock_kafka_push_errors(TIDE_KAFKA_LIST_OFFSETS). So it shows whether another was asked in between. */
gboolean mock_kafka_tells_offsets(TideMockKafka *kafka, rd_kafka_t *client, const char *topic, gint64 deadline_us);

/* The metadata of what @group has committed; "": none. (transfer full) */
char *mock_kafka_committed_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                                gint64 deadline_us);

/* What @group has committed: the offset of the next message; -1 when nothing, or not to be had by the deadline.
 * Asked for without joining the group. */
gint64 mock_kafka_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                            gint64 deadline_us);
gboolean mock_kafka_wait_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                                   gint64 offset, gint64 deadline_us);

/* Commits for @group from outside, as an operator's tool does. Aborts when it cannot. */
void mock_kafka_commit(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset);
/* With @note as its metadata. */
void mock_kafka_commit_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset,
                            const char *note);

/* A message as it was read back. */
typedef struct TideMockRecord {
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms;
  GBytes *key;                 /* owned; NULL: none */
  GBytes *payload;             /* owned; NULL: a tombstone */
  rd_kafka_headers_t *headers; /* owned; NULL: none */
} TideMockRecord;

/* All that the topic has, in the order of partition and offset, read without a group (element-type TideMockRecord).
 * Fewer when the deadline passes. Ownership: (transfer full). */
GPtrArray *mock_kafka_read_topic(TideMockKafka *kafka, const char *topic, int n_partitions, gint64 deadline_us);
/* The value of the record's last header of that name, NULL when it has none. Ownership: (transfer full). */
GBytes *mock_record_header(const TideMockRecord *record, const char *name);

/* Faults. */

/* Kafka's request types, of the protocol. */
typedef enum TideKafkaRequest {
  TIDE_KAFKA_PRODUCE = 0,
  TIDE_KAFKA_FETCH = 1,
  TIDE_KAFKA_LIST_OFFSETS = 2,
  TIDE_KAFKA_METADATA = 3,
  TIDE_KAFKA_OFFSET_COMMIT = 8,
  TIDE_KAFKA_OFFSET_FETCH = 9,
  TIDE_KAFKA_FIND_COORDINATOR = 10,
  TIDE_KAFKA_JOIN_GROUP = 11,
  TIDE_KAFKA_HEARTBEAT = 12,
  TIDE_KAFKA_LEAVE_GROUP = 13,
  TIDE_KAFKA_SYNC_GROUP = 14,
  TIDE_KAFKA_INIT_PRODUCER_ID = 22,
} TideKafkaRequest;

/* The next @n requests of the kind fail with @code; RD_KAFKA_RESP_ERR__TRANSPORT cuts the connection instead. */
void mock_kafka_push_errors(TideMockKafka *kafka, TideKafkaRequest request, rd_kafka_resp_err_t code, guint n);
/* The next request of the kind at @broker is answered only after @delay_ms, and with @code. */
void mock_kafka_delay_request(TideMockKafka *kafka, gint32 broker, TideKafkaRequest request, rd_kafka_resp_err_t code,
                              int delay_ms);
void mock_kafka_clear_errors(TideMockKafka *kafka, TideKafkaRequest request);
void mock_kafka_forget_request(TideMockKafka *kafka, TideKafkaRequest request);  /* as a release that has it not */
void mock_kafka_set_broker_up(TideMockKafka *kafka, gint32 broker, gboolean up); /* -1: all */
void mock_kafka_set_round_trip_ms(TideMockKafka *kafka, gint32 broker, int ms);  /* -1: all */
void mock_kafka_set_leader(TideMockKafka *kafka, const char *topic, gint32 partition, gint32 broker); /* -1: none */
void mock_kafka_set_coordinator(TideMockKafka *kafka, const char *group, gint32 broker);
void mock_kafka_set_topic_error(TideMockKafka *kafka, const char *topic, rd_kafka_resp_err_t code);
/* FALSE: a topic that is denied crashes the librdkafka at hand, since the mock names its partitions with the error, as
 * no broker does. */
gboolean mock_kafka_can_deny_topics(void);
#define MOCK_KAFKA_DENIED_TOPIC_CRASHES "a denied topic with partitions crashes this librdkafka (2.1.0 to 2.9)"

G_END_DECLS
