/* What the brokers say of the group, asked beside the consumers by a client of its own: how far what is committed lies
 * behind the partitions' ends, and which topics are missing. So the lag is what Kafka's own tool says at any moment,
 * also of partitions that are paused, that are halted, or of which nothing was read yet; while the brokers do not say
 * it, it is unknown and has no series.
 *
 * The lag in seconds is the age of the oldest message that is not committed: by its own time where the consumer has it
 * in hand, else by when it was first seen behind what was read; where neither is known it has no series.
 *
 * Threads: any, unless said otherwise. All questions are asked by the thread "tide-watch", and wait two seconds each.
 */
#pragma once

#include "config/config.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* Where messages do not come from Kafka it is NULL, and all questions to it can be asked. */
typedef struct TideKafkaWatch TideKafkaWatch;
typedef struct TideWatchedPartition TideWatchedPartition;

/* @config, @metrics: borrowed. */
TideKafkaWatch *tide_kafka_watch_new(const TideKafkaConfig *config, guint32 tables_mark, TideMetrics *metrics);
/* Connects and starts the thread; does not wait for brokers. Errors: CONFIG. */
gboolean tide_kafka_watch_start(TideKafkaWatch *watch, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Asks the thread to end; it does when its question is answered. */
void tide_kafka_watch_stop(TideKafkaWatch *watch);
void tide_kafka_watch_free(TideKafkaWatch *watch); /* joins first; NULL ok */

/* Labels of all series of a partition. @source: (nullable): the name of its topic's source. (transfer full) */
char *tide_kafka_watch_labels(const char *topic, gint32 partition, const char *source);

/* The partition was assigned to this process. @watch: NULL: nobody watches, as in tests of parts. @source: (nullable)
 * Returns: (nullable): valid until it is removed */
TideWatchedPartition *tide_kafka_watch_add(TideKafkaWatch *watch, const char *topic, gint32 partition,
                                           const char *source);
/* It is no longer ours: its series are gone when this returns. NULL ok */
void tide_kafka_watch_remove(TideKafkaWatch *watch, TideWatchedPartition *watched);

/* What its consumer knows of a partition; each is -1 while there is none. */
typedef struct TideConsumerPosition {
  gint64 next_offset;      /* behind the last message that was read */
  gint64 mark;             /* behind the last that is finished, and all before it: what is to be committed */
  gint64 finished_ms;      /* the record time of the oldest message that is finished and not committed */
  gint64 oldest_ms;        /* the record time of the oldest message that is read and not finished */
  gint64 newest_ms;        /* that of the message that was read last */
  gint64 committed_offset; /* that brokers acknowledged, or had when the partition was assigned */
} TideConsumerPosition;

/* Of a partition, for those who look on. */
typedef struct TideConsumerNote {
  gint64 in_flight;      /* messages */
  guint pauses;          /* the consumer's TidePauseReason */
  gboolean is_located;   /* the brokers have said where it is read on */
  const char *halt_text; /* copied: why it is halted; NULL: it is not */
} TideConsumerNote;

/**
 * tide_kafka_watch_note: to be told about once a second. NULL ok
 * Returns: whether the log was replaced since the partition was added: what was committed of it vanished, or its end
 *     went back and stays there. A topic that was deleted and created again shows the one or the other.
 */
gboolean tide_kafka_watch_note(TideKafkaWatch *watch, TideWatchedPartition *watched,
                               const TideConsumerPosition *position, const TideConsumerNote *note);

/* What is known of a partition; each number is -1 while it is not. */
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
  const char *source; /* for whoever knows the sources, which own it; NULL: it has no name */
} TidePartitionView;

/* Of those that are ours, by topic and number. (transfer full) (element-type TidePartitionView) */
GArray *tide_kafka_watch_view(TideKafkaWatch *watch);

/* What a partition's watch remembers between two answers, for the age of what is unread. */
typedef struct TideUnreadSince {
  gboolean was_read_up; /* nothing was unread at an answer of this assignment */
  gint64 since_ms;      /* wall clock: what is unread was first seen; -1: nothing is, or it was there from the start */
  gint64 end_offset;    /* where the partition ended then */
} TideUnreadSince;

/* The messages between @committed and @end: none where all is read, finished and committed but for the markers that
 * transactions leave, which are no messages. Pure, for the watch and its test. @in_flight: messages */
gint64 tide_lag_messages(const TideConsumerPosition *position, gint64 in_flight, gint64 committed, gint64 end);

/* The time of the oldest message that is not committed, at an answer; -1: unknown. Pure, for the watch and its test.
 * @unread: carried from answer to answer; begins as zeroes with since_ms -1 */
gint64 tide_lag_oldest_ms(const TideConsumerPosition *position, gint64 committed, gint64 end, gint64 now_ms,
                          TideUnreadSince *unread);

typedef struct TideKafkaLag {
  gboolean is_known; /* of every partition that is ours; without one, whether brokers answer */
  gint64 messages;   /* from what is committed to the ends */
  gint64 unread;     /* of those, by where the consumers are now */
  gint64 seconds;    /* of the partition that is latest; -1: unknown */
  int throttle_ms;   /* that brokers ask the consumers to wait now; 0: none does */
} TideKafkaLag;

/* A broker told a consumer to wait for @throttle_ms before it answers again. NULL ok */
void tide_kafka_watch_throttled(TideKafkaWatch *watch, int throttle_ms);

TideKafkaLag tide_kafka_watch_lag(TideKafkaWatch *watch);

/* FALSE until the brokers have said once which topics there are. @ret_missing: (transfer full) (nullable): a sentence
 * that names those of the configuration that are not there; a pattern only where there are no topics at all, for those
 * that match it may be yet to come */
gboolean tide_kafka_watch_topics(TideKafkaWatch *watch, char **ret_missing);

/* The group's members are looked at when partitions are assigned, and this often: all that are no tidemark are
 * strangers, which read messages that are never written. */
#define TIDE_GROUP_LOOK_US 30000000

/**
 * tide_kafka_watch_strangers: who is in the group and is no tidemark.
 * @ret_text: (out) (optional) (transfer full) (nullable): names those of the last look; NULL: there were none
 * Returns: when one was seen last, monotonic; 0: never
 */
gint64 tide_kafka_watch_strangers(TideKafkaWatch *watch, char **ret_text);

/* Of how many partitions the last commit is of a tidemark that delivers other tables, at the last look.
 * @ret_since_us: since when there has been one, monotonic */
guint tide_kafka_watch_other_tables(TideKafkaWatch *watch, gint64 *ret_since_us);

/* Whether a group can be expected to give out partitions. */
typedef struct TideKafkaAnswers {
  gint64 since_us;           /* since when each question about topics is answered, monotonic; 0: the last was not */
  gboolean has_topics;       /* at the last answer, one of the configuration was there */
  const char *group_problem; /* why the group's coordinator did not answer when it was asked last, which is while no
                              * partition is ours; NULL: it did, or was not asked. Static */
} TideKafkaAnswers;

TideKafkaAnswers tide_kafka_watch_answers(TideKafkaWatch *watch);

G_END_DECLS
