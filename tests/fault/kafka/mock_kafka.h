/* A Kafka cluster inside the test: librdkafka's mock cluster, which speaks the real protocol on loopback ports and has
 * consumer groups with committed offsets.
 *
 * Its limits (librdkafka 2.0.2): a partition keeps its newest 5 MiB or 100,000 messages, whichever is less, so a
 * producer that is far ahead of its consumer causes real "offset out of range" errors. Transactions cannot abort, and
 * topics cannot be deleted.
 *
 * Threads: one at a time. Deadlines are those of tide_now_us(), which is monotonic. */
#pragma once

#include "util/bytes.h"

#include <librdkafka/rdkafka.h>

G_BEGIN_DECLS

typedef struct TideMockKafka TideMockKafka;

TideMockKafka *mock_kafka_new(int n_brokers); /* brokers have the ids 1 … n_brokers */
void mock_kafka_free(TideMockKafka *kafka);   /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMockKafka, mock_kafka_free)

const char *mock_kafka_brokers(const TideMockKafka *kafka); /* for bootstrap.servers */

/* Creates a topic that is replicated to every broker. Call it before the topic is used. Aborts on failure. */
void mock_kafka_create_topic(TideMockKafka *kafka, const char *topic, int n_partitions);

#define MOCK_KAFKA_MAX_HEADERS 12

typedef struct TideMockHeader {
  const char *name;
  TideBytes value;
} TideMockHeader;

typedef struct TideMockMessage {
  const char *topic;
  gint32 partition;                               /* RD_KAFKA_PARTITION_UA (-1): chosen by the key */
  TideBytes key;                                  /* data NULL: none */
  TideBytes payload;                              /* data NULL: a tombstone */
  gint64 timestamp_ms;                            /* 0: now */
  TideMockHeader headers[MOCK_KAFKA_MAX_HEADERS]; /* up to the first without a name */
} TideMockMessage;

/* Queues a copy of @message. Aborts on failure. */
void mock_kafka_produce(TideMockKafka *kafka, const TideMockMessage *message);
void mock_kafka_produce_text(TideMockKafka *kafka, const char *topic, gint32 partition, const char *payload);
/* Waits until all queued messages are acknowledged. FALSE: the deadline passed, or a message was refused. */
gboolean mock_kafka_flush(TideMockKafka *kafka, gint64 deadline_us) G_GNUC_WARN_UNUSED_RESULT;

/* The next offset of the partition; -1: unknown at the deadline. */
gint64 mock_kafka_end_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us);

/* The oldest remaining offset of the partition; -1: unknown at the deadline. */
gint64 mock_kafka_begin_offset(TideMockKafka *kafka, const char *topic, gint32 partition, gint64 deadline_us);

/* The cluster's id. (transfer full) */
char *mock_kafka_cluster_id(TideMockKafka *kafka);

/* Requests offsets of partition 0 once, with @client (NULL: a client of its own). FALSE: it failed, as the next request
 * does after mock_kafka_push_errors(TIDE_KAFKA_LIST_OFFSETS). This shows whether another request came first. */
gboolean mock_kafka_tells_offsets(TideMockKafka *kafka, rd_kafka_t *client, const char *topic, gint64 deadline_us);

/* The metadata of the commit of @group; "": none. (transfer full) */
char *mock_kafka_committed_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                                gint64 deadline_us);

/* The offset that @group has committed; -1: none, or unknown at the deadline. Does not join the group. */
gint64 mock_kafka_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                            gint64 deadline_us);
gboolean mock_kafka_wait_committed(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition,
                                   gint64 offset, gint64 deadline_us);

/* Commits for @group without joining it, like an operator's tool. Aborts on failure. */
void mock_kafka_commit(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset);
/* The same with @note as metadata. */
void mock_kafka_commit_note(TideMockKafka *kafka, const char *group, const char *topic, gint32 partition, gint64 offset,
                            const char *note);

/* A message that was read back. */
typedef struct TideMockRecord {
  gint32 partition;
  gint64 offset;
  gint64 timestamp_ms;
  GBytes *key;                 /* owned; NULL: none */
  GBytes *payload;             /* owned; NULL: a tombstone */
  rd_kafka_headers_t *headers; /* owned; NULL: none */
} TideMockRecord;

/* All messages of the topic by partition and offset, read without a group; incomplete if the deadline passes.
 * (element-type TideMockRecord) (transfer full) */
GPtrArray *mock_kafka_read_topic(TideMockKafka *kafka, const char *topic, int n_partitions, gint64 deadline_us);
/* The value of the record's last header with that name; NULL: none. (transfer full) */
GBytes *mock_record_header(const TideMockRecord *record, const char *name);

/* Faults. */

/* Request types of the Kafka protocol. */
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

/* Makes the next @n requests of the kind fail with @code; RD_KAFKA_RESP_ERR__TRANSPORT closes the connection instead.
 */
void mock_kafka_push_errors(TideMockKafka *kafka, TideKafkaRequest request, rd_kafka_resp_err_t code, guint n);
/* Delays the reply to the next request of the kind at @broker by @delay_ms, and sets its @code. */
void mock_kafka_delay_request(TideMockKafka *kafka, gint32 broker, TideKafkaRequest request, rd_kafka_resp_err_t code,
                              int delay_ms);
void mock_kafka_clear_errors(TideMockKafka *kafka, TideKafkaRequest request);
void mock_kafka_forget_request(TideMockKafka *kafka,
                               TideKafkaRequest request); /* like a Kafka release without that request */
void mock_kafka_set_broker_up(TideMockKafka *kafka, gint32 broker, gboolean up);                      /* -1: all */
void mock_kafka_set_round_trip_ms(TideMockKafka *kafka, gint32 broker, int ms);                       /* -1: all */
void mock_kafka_set_leader(TideMockKafka *kafka, const char *topic, gint32 partition, gint32 broker); /* -1: none */
void mock_kafka_set_coordinator(TideMockKafka *kafka, const char *group, gint32 broker);
void mock_kafka_set_topic_error(TideMockKafka *kafka, const char *topic, rd_kafka_resp_err_t code);
/* FALSE: a denied topic would crash this librdkafka, because the mock, unlike brokers, lists the topic's partitions
 * with the error. */
gboolean mock_kafka_can_deny_topics(void);
#define MOCK_KAFKA_DENIED_TOPIC_CRASHES "a denied topic with partitions crashes this librdkafka (2.1.0 to 2.9)"

G_END_DECLS
