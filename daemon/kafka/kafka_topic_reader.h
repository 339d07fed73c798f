/* Reads ranges of topics, for commands and for dead letters: which partitions exist, their offsets, what a group has
 * committed of them or what was written in a time span, and the messages between two offsets. Joins no group and
 * commits nothing.
 *
 * Threads: one at a time. Memory: some MiB for each partition that is read at once. */
#pragma once

#include "config/config.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideTopicReader TideTopicReader;

/* A partition, and the range requested from it. */
typedef struct TideTopicPart {
  char *topic; /* owned */
  gint32 partition;
  gint64 first; /* in the log: offsets [first, last) */
  gint64 last;
  gint64 begin; /* requested: [begin, end) */
  gint64 end;
  gint64 committed; /* by the requested group; -1: nothing */
  char *note;       /* owned: the metadata of the commit; NULL: none */
} TideTopicPart;

/* As a span's end: the end of the partition when it is reached. */
#define TIDE_TOPIC_END G_MAXINT64

/* Offsets [begin, end) of the part at an index of the array. */
typedef struct TideTopicSpan {
  guint part;
  gint64 begin; /* or a logical offset, such as RD_KAFKA_OFFSET_BEGINNING */
  gint64 end;
} TideTopicSpan;

/* Called when a span or its partition has ended. @next: no message is between the last one and this offset. @fault:
 * (nullable): why it cannot be read further; @next has no meaning then. */
typedef void (*TideTopicEndFunc)(guint part, gint64 next, const char *fault, gpointer data);

typedef struct TideTopicReaderOptions {
  const volatile int *stop; /* borrowed; not 0 ends a call with CANCELLED; NULL: no stop */
  gint64 answer_ms;         /* for one question to the brokers; 0: 15 s */
  gint64 silence_ms;        /* the longest time without an expected message; 0: a minute */
  gboolean is_total;        /* silence_ms limits the call as a whole */
  guint max_open;           /* partitions that are read at once; 0: 16 */
  TideTopicEndFunc ended;   /* NULL: waits for missing or unreadable messages until silence_ms has passed */
  gboolean in_daemon;       /* reads single messages, and lets librdkafka write to the log */
} TideTopicReaderOptions;

/* (element-type TideTopicPart), empty. (transfer full) */
GArray *tide_topic_parts_new(void);

/* @config: borrowed for the reader's life. Errors: CONFIG for properties that librdkafka refuses. */
TideTopicReader *tide_topic_reader_new(const TideKafkaConfig *config, const TideTopicReaderOptions *options,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_topic_reader_free(TideTopicReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTopicReader, tide_topic_reader_free)

/**
 * tide_topic_reader_find: all partitions of @topics, by topic and number, each with its whole range.
 * @topics: NULL-terminated; one that begins with ^ is a pattern: all topics that it matches
 * Ownership: (transfer full) (element-type TideTopicPart).
 * Errors: NOT_FOUND: no such topic; KAFKA: no answer; USAGE: an invalid pattern.
 */
GArray *tide_topic_reader_find(TideTopicReader *reader, const char *const *topics,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Updates first and last of each part. */
gboolean tide_topic_reader_refresh(TideTopicReader *reader, GArray *parts, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Asks for the offsets committed by @group: sets committed and note of each part. */
gboolean tide_topic_reader_ask_group(TideTopicReader *reader, const char *group, GArray *parts,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Does the same, and ends each part at the committed offset; a part without one becomes empty.
 * @ret_n_committed: the number of partitions with a committed offset */
gboolean tide_topic_reader_limit_to_group(TideTopicReader *reader, const char *group, GArray *parts,
                                          guint *ret_n_committed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Limits each part to the messages from the first one at or after @from_ms up to the first one at or after @to_ms, by
 * record time. 0 and G_MAXINT64: unbounded. */
gboolean tide_topic_reader_limit_to_times(TideTopicReader *reader, gint64 from_ms, gint64 to_ms, GArray *parts,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @part: index in the array. Returns: the next offset wanted of the span, mostly message->offset + 1; earlier ones may
 * still be delivered. TIDE_TOPIC_END: no more of this span; TIDE_TOPIC_STOP: no more at all. */
typedef gint64 (*TideTopicFunc)(const TideMessage *message, guint part, gpointer data);
#define TIDE_TOPIC_STOP (-1)

/**
 * tide_topic_reader_read: pass the messages of @spans to @func, those of each partition in order. Spans of one
 * partition must not touch; they are read in turn. Errors: KAFKA if an expected message did not arrive in time.
 */
gboolean tide_topic_reader_read(TideTopicReader *reader, const GArray *parts, const GArray *spans, TideTopicFunc func,
                                gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- a sample of one topic, for commands ---- */

typedef struct TideKafkaReadRequest {
  const char *topic;
  guint64 max_messages;    /* in total; each partition contributes at most its share */
  gboolean spread;         /* with to_present_end: runs of successive messages, spread up to the end */
  gboolean newest;         /* the last messages of each partition, otherwise the first */
  gint64 timeout_ms;       /* for the whole call; with to_present_end, for each message */
  gboolean to_present_end; /* messages that arrive while it reads are not read: @func may cause them */
} TideKafkaReadRequest;

typedef struct TideKafkaReadResult {
  guint64 n_messages; /* passed to @func */
  gboolean timed_out; /* before each partition's share or end was reached */
} TideKafkaReadResult;

/* @message: borrowed, valid only inside the callback. Return FALSE to stop early. */
typedef gboolean (*TideKafkaReadFunc)(const TideMessage *message, gpointer data);

/**
 * tide_kafka_read: pass messages to @func, those of each partition in order.
 * Memory: a few MiB for each partition, whatever the size of the topic. Blocks: up to the request's time.
 * Errors: NOT_FOUND: no such topic; KAFKA: the brokers do not answer; CONFIG: a property is refused.
 */
gboolean tide_kafka_read(const TideKafkaConfig *config, const TideKafkaReadRequest *request, TideKafkaReadFunc func,
                         gpointer data, TideKafkaReadResult *ret_result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @given, or the only topic of the configuration. Errors: USAGE if it names several, or a pattern. */
const char *tide_kafka_reader_topic(const TideKafkaConfig *config, const char *given, GError **error);

G_END_DECLS
