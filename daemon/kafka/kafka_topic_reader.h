/* Reads stretches of topics, for commands and for dead letters: which partitions there are, what they hold, what a
 * group has committed of them or what was written to them in a span of time, and the messages between two offsets.
 * Joins no group and commits nothing.
 *
 * Threads: one at a time. Memory: some MiB for each partition that is read at a time. */
#pragma once

#include "config/config.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideTopicReader TideTopicReader;

/* A partition, and the part of it that is asked for. */
typedef struct TideTopicPart {
  char *topic; /* owned */
  gint32 partition;
  gint64 first; /* what it holds: offsets [first, last) */
  gint64 last;
  gint64 begin; /* what is asked for: [begin, end) */
  gint64 end;
  gint64 committed; /* by the group that was asked for; -1: nothing */
  char *note;       /* owned: the metadata beside it; NULL: none */
} TideTopicPart;

/* As a span's end: wherever the partition ends when it is reached. */
#define TIDE_TOPIC_END G_MAXINT64

/* Offsets [begin, end) of the part at a place in the array. */
typedef struct TideTopicSpan {
  guint part;
  gint64 begin; /* or one of librdkafka's, such as RD_KAFKA_OFFSET_BEGINNING */
  gint64 end;
} TideTopicSpan;

/* A span is at its end, or its partition is. @next: no message is between the last one and this offset. @fault:
 * (nullable): why it cannot be read further; @next has no meaning then. */
typedef void (*TideTopicEndFunc)(guint part, gint64 next, const char *fault, gpointer data);

typedef struct TideTopicReaderOptions {
  const volatile int *stop; /* borrowed; not 0 ends a reading with CANCELLED; NULL: nothing does */
  gint64 answer_ms;         /* for one question to the brokers; 0: 15 s */
  gint64 silence_ms;        /* without a message, where there should be one; 0: a minute */
  gboolean is_total;        /* silence_ms is for a reading as a whole */
  guint max_open;           /* partitions that are read at a time; 0: 16 */
  TideTopicEndFunc ended;   /* NULL: what is to come, or cannot be read, is waited for until the silence is too long */
  gboolean in_daemon;       /* reads single messages, and leaves to the log what librdkafka has to say */
} TideTopicReaderOptions;

/* (element-type TideTopicPart), empty. (transfer full) */
GArray *tide_topic_parts_new(void);

/* @config: borrowed for the reader's life. Errors: CONFIG for properties that librdkafka refuses. */
TideTopicReader *tide_topic_reader_new(const TideKafkaConfig *config, const TideTopicReaderOptions *options,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_topic_reader_free(TideTopicReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTopicReader, tide_topic_reader_free)

/**
 * tide_topic_reader_find: all partitions of @topics, in their order, with all that they hold.
 * @topics: NULL-terminated; one that begins with ^ is a pattern: all topics that it matches, by name
 * Ownership: (transfer full) (element-type TideTopicPart).
 * Errors: NOT_FOUND: no such topic; KAFKA: no answer; USAGE: a pattern that is none.
 */
GArray *tide_topic_reader_find(TideTopicReader *reader, const char *const *topics,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Updates what each part holds: first and last. */
gboolean tide_topic_reader_refresh(TideTopicReader *reader, GArray *parts, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Asks what @group has committed of each part: committed and note. */
gboolean tide_topic_reader_ask_group(TideTopicReader *reader, const char *group, GArray *parts,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same, and ends each part at the committed offset; a part without one becomes empty.
 * @ret_n_committed: the number of partitions with a committed offset */
gboolean tide_topic_reader_limit_to_group(TideTopicReader *reader, const char *group, GArray *parts,
                                          guint *ret_n_committed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Limits each part to the messages from the first one at or after @from_ms up to the first one at or after @to_ms, by
 * the records' own times. 0 and G_MAXINT64: not bounded. */
gboolean tide_topic_reader_limit_to_times(TideTopicReader *reader, gint64 from_ms, gint64 to_ms, GArray *parts,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @part: place in the array. Returns: the next offset that is wanted of the span, mostly message->offset + 1: those
 * before it may come all the same; TIDE_TOPIC_END: no more of this span; TIDE_TOPIC_STOP: no more at all. */
typedef gint64 (*TideTopicFunc)(const TideMessage *message, guint part, gpointer data);
#define TIDE_TOPIC_STOP (-1)

/**
 * tide_topic_reader_read: hand the messages of @spans to @func, those of a partition in their order. Not two spans of
 * one partition that meet: they are read in turn. Errors: KAFKA when nothing came for too long though something should.
 */
gboolean tide_topic_reader_read(TideTopicReader *reader, const GArray *parts, const GArray *spans, TideTopicFunc func,
                                gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- some messages of one topic, for a command that wants to look at them ---- */

typedef struct TideKafkaReadRequest {
  const char *topic;
  guint64 max_messages;    /* in all; each partition gives its share of them at the most */
  gboolean spread;         /* with to_present_end: some in a row, and others further on, up to the end */
  gboolean newest;         /* the last ones of each partition, else the first */
  gint64 timeout_ms;       /* for the whole of it; with to_present_end, for each message */
  gboolean to_present_end; /* what comes while it reads is not read: @func may make more of it */
} TideKafkaReadRequest;

typedef struct TideKafkaReadResult {
  guint64 n_messages; /* handed out */
  gboolean timed_out; /* before each partition's share or end was reached */
} TideKafkaReadResult;

/* @message: borrowed, valid only inside the callback. Return FALSE to stop early. */
typedef gboolean (*TideKafkaReadFunc)(const TideMessage *message, gpointer data);

/**
 * tide_kafka_read: hand messages to @func, each partition's in order.
 * Memory: a few MiB for each partition, whatever the topic holds. Blocks: up to the request's time.
 * Errors: NOT_FOUND when there is no such topic; KAFKA when the brokers do not answer; CONFIG for properties refused.
 */
gboolean tide_kafka_read(const TideKafkaConfig *config, const TideKafkaReadRequest *request, TideKafkaReadFunc func,
                         gpointer data, TideKafkaReadResult *ret_result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The one topic that the configuration names, for commands that are not told. Errors: USAGE when it names several, or a
 * pattern: "say which with --topic". */
const char *tide_kafka_reader_topic(const TideKafkaConfig *config, const char *given, GError **error);

G_END_DECLS
