/* Watches the group from outside, with a client of its own: how far the committed offsets lag behind the partitions'
 * ends, and which topics are missing. The lag is the one that Kafka's own tool reports, also for partitions that are
 * paused, halted or not read yet. While no broker reports it, it is unknown and has no series.
 *
 * The lag in seconds is the age of the oldest message that is not committed: by its record time if the consumer has
 * read it, otherwise by the moment at which it was first seen as unread. If neither is known, it has no
 * series.
 *
 * Threads: any, unless noted otherwise. The thread "tide-watch" asks all questions, and waits two seconds for each.
 */
#pragma once

#include "config/config.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* NULL if messages do not come from Kafka; all functions accept that. */
typedef struct TideKafkaWatch TideKafkaWatch;
typedef struct TideWatchedPartition TideWatchedPartition;

/* @config, @metrics: borrowed. */
TideKafkaWatch *tide_kafka_watch_new(const TideKafkaConfig *config, guint32 tables_mark, TideMetrics *metrics);
/* Connects and starts the thread; does not wait for brokers. Errors: CONFIG. */
gboolean tide_kafka_watch_start(TideKafkaWatch *watch, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Asks the thread to end, which it does after its current question. */
void tide_kafka_watch_stop(TideKafkaWatch *watch);
void tide_kafka_watch_free(TideKafkaWatch *watch); /* joins first; NULL ok */

/* Labels of all series of a partition. @source: (nullable): the name of its topic's source. (transfer full) */
char *tide_kafka_watch_labels(const char *topic, gint32 partition, const char *source);

/* Adds a partition that was assigned to this process. @watch: NULL in tests of parts. @source: (nullable)
 * Returns: (nullable): valid until it is removed */
TideWatchedPartition *tide_kafka_watch_add(TideKafkaWatch *watch, const char *topic, gint32 partition,
                                           const char *source);
/* Removes a revoked partition: its series are gone when this returns. NULL ok */
void tide_kafka_watch_remove(TideKafkaWatch *watch, TideWatchedPartition *watched);

/* The state of a partition's consumer; each is -1 while unknown. */
typedef struct TideConsumerPosition {
  gint64 next_offset;      /* after the last message that was read */
  gint64 mark;             /* to be committed: all earlier messages are finished */
  gint64 finished_ms;      /* record time of the oldest message that is finished and not committed */
  gint64 oldest_ms;        /* record time of the oldest message that is read and not finished */
  gint64 newest_ms;        /* record time of the message that was read last */
  gint64 committed_offset; /* acknowledged by brokers, or found when the partition was assigned */
} TideConsumerPosition;

/* What the status shows about a partition. */
typedef struct TideConsumerNote {
  gint64 in_flight;      /* messages */
  guint pauses;          /* the consumer's TidePauseReason */
  gboolean is_located;   /* the brokers have reported its start offset */
  const char *halt_text; /* copied: why it is halted; NULL: it is not */
  const char *held_text; /* copied: why its committed offset is held, and how long; NULL: it is not */
} TideConsumerNote;

/**
 * tide_kafka_watch_note: call it about once a second. NULL ok
 * Returns: whether the log was replaced since the partition was added: its committed offset vanished, or its end moved
 *     back and stays there. A recreated topic shows one or the other.
 */
gboolean tide_kafka_watch_note(TideKafkaWatch *watch, TideWatchedPartition *watched,
                               const TideConsumerPosition *position, const TideConsumerNote *note);

/* A partition in the status; each number is -1 while unknown. */
typedef struct TidePartitionView {
  char *topic; /* owned */
  gint64 partition;
  gint64 mark;
  gint64 committed;
  gint64 end;
  gint64 lag_messages;
  gint64 lag_seconds;
  gint64 undecided; /* messages that an open transaction keeps from being read; 0: none are known */
  gint64 in_flight;
  guint pauses;
  gboolean is_located;
  char *halt_text;    /* owned: NULL: it is not halted */
  char *held_text;    /* owned: NULL: its offset is not held */
  const char *source; /* set and owned by the caller, which knows the sources; NULL: no name */
} TidePartitionView;

/* The partitions of this process, by topic and number. (transfer full) (element-type TidePartitionView) */
GArray *tide_kafka_watch_view(TideKafkaWatch *watch);

/* A partition's state between two answers, for the age of its unread messages. */
typedef struct TideUnreadSince {
  gboolean was_read_up; /* all was read at an answer of this assignment */
  gint64 since_ms;   /* wall clock: unread messages were first seen; -1: none are, or they were there from the start */
  gint64 end_offset; /* the partition's end at that time */
} TideUnreadSince;

/* The messages between @committed and @end: none if all is read, finished and committed except transaction markers,
 * which are not messages. Pure, for the watch and its test. @in_flight: messages */
gint64 tide_lag_messages(const TideConsumerPosition *position, gint64 in_flight, gint64 committed, gint64 end);

/* The time of the oldest message that is not committed, at an answer; -1: unknown. Pure, for the watch and its test.
 * @unread: kept from answer to answer; initially zeroes with since_ms -1 */
gint64 tide_lag_oldest_ms(const TideConsumerPosition *position, gint64 committed, gint64 end, gint64 now_ms,
                          TideUnreadSince *unread);

/* Shows whether a log is still the same: no message before @offset has a time of @time_ms or later. For a log that only
 * grows at its end and loses its oldest messages, that stays true, whatever times its messages have. A recreated topic
 * contradicts it with its first message of a later time. */
typedef struct TideLogWitness {
  gint64 time_ms; /* 0: no witness yet */
  gint64 offset;
  gint64 next_time_ms; /* of the next witness, for the next question */
  gboolean is_refuted; /* permanent */
} TideLogWitness;

/* Chooses the next witness: a time after that of the message read last (@newest_ms; -1: unknown), so that few offsets
 * are as late. It is not in the future, where no message would be. Pure, like the next two. */
void tide_log_witness_choose(TideLogWitness *witness, gint64 newest_ms, gint64 now_ms);

/* Handles the answers to two questions, each negative if no message is that late. The first finds the offset of the
 * next witness's time. The second is asked after it and finds that of the present one, so that both belong to one log.
 * @end_offset: of the log, asked a moment before. */
void tide_log_witness_take(TideLogWitness *witness, gint64 next_offset, gint64 present_offset, gint64 end_offset);

/* The greatest length of a log. */
typedef struct TideLogLength {
  gint64 greatest_end_offset; /* in this assignment: with a topic, commits of earlier ones vanish, too */
  gint64 shorter_us;          /* since when the end has been lower; 0: it is not */
} TideLogLength;

/* Notes that the log ends at @end_offset at @now_us. Returns: whether it has been shorter for longer than answers from
 * different brokers explain, and so was replaced. */
gboolean tide_log_length_take(TideLogLength *length, gint64 end_offset, gint64 now_us);

typedef struct TideKafkaLag {
  gboolean is_known; /* for every partition of ours; without one, whether brokers answer */
  gint64 messages;   /* from the committed offsets to the ends */
  gint64 unread;     /* of those, the ones that no consumer has read yet */
  gint64 seconds;    /* of the partition with the oldest message; -1: unknown */
  int throttle_ms;   /* the wait that brokers ask of the consumers now; 0: none */
} TideKafkaLag;

/* Notes that a broker delays its next answer to a consumer by @throttle_ms. NULL ok */
void tide_kafka_watch_throttled(TideKafkaWatch *watch, int throttle_ms);

TideKafkaLag tide_kafka_watch_lag(TideKafkaWatch *watch);

/* The group's members are checked when partitions are assigned, and this often. Members other than tidemark are
 * strangers: the messages that they read are never written. */
#define TIDE_GROUP_LOOK_US 30000000

/* What the watch has seen of the brokers, the configured topics and the group. */
typedef struct TideKafkaSeen {
  gint64 answers_since_us; /* since when all questions about topics are answered, monotonic; 0: the last was not */
  gboolean knows_topics;   /* the brokers have listed their topics once */
  gboolean has_topics;     /* at the last answer, a configured topic existed */
  char *missing_topics;    /* owned: a sentence that names the configured topics that do not exist; NULL: none. Patterns
                            * are named only if no topic exists at all: one that matches may still be created */
  gboolean has_group;      /* the group's coordinator was asked, and has answered or has not answered in time */
  const char *group_problem; /* why the group's coordinator did not answer the last question, which is asked only while
                              * no partition is ours; NULL: it did, or was not asked. Static */
  char *strangers;           /* owned: names the members other than tidemark at the last check; NULL: there were none */
  gint64 stranger_seen_us;   /* when one was last seen, monotonic; 0: never */
  guint other_tables;        /* partitions whose last commit is by a tidemark that delivers other tables ... */
  gint64 other_tables_since_us; /* ... and since when there has been one, monotonic */
} TideKafkaSeen;

/* A copy. (transfer full) */
TideKafkaSeen tide_kafka_watch_seen(TideKafkaWatch *watch) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_seen_clear(TideKafkaSeen *seen);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideKafkaSeen, tide_kafka_seen_clear)

G_END_DECLS
