/* One librdkafka consumer: subscribing, polling, pausing, storing offsets, and the rebalance protocol. The only file of
 * the daemon that consumes; what a message means is its caller's business.
 *
 * Threads: its consumer thread only; tide_kafka_source_wake() from any. Handlers are called inside of poll and close.
 */
#pragma once

#include "config/config.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideKafkaSource TideKafkaSource;

/* A message in hand, until released. */
typedef struct TideKafkaRecord {
  TideMessage message;
  guint16 slot; /* of its partition, as tide_kafka_handlers.assigned gave it */
  gpointer raw; /* owned by the record */
} TideKafkaRecord;

typedef enum TideKafkaTrouble {
  TIDE_KAFKA_TROUBLE_LOST,         /* messages were deleted before they were read (retention): lost_from, lost_to */
  TIDE_KAFKA_TROUBLE_OUT_OF_RANGE, /* the committed offset lies behind the partition's end, or nobody knows the
                                    * partition's range: the topic was made anew, or lost its newest messages */
  TIDE_KAFKA_TROUBLE_DAMAGED,      /* bytes that no checksum agrees with: librdkafka goes on behind them */
  TIDE_KAFKA_TROUBLE_DENIED,       /* this user may not read the topic, or be in the group; it is tried again */
  TIDE_KAFKA_TROUBLE_MISSING,      /* a topic or partition is not there, or no more; it is looked for again */
  TIDE_KAFKA_TROUBLE_POLL,      /* the thread did not poll for max_poll_interval: the group gave its partitions away */
  TIDE_KAFKA_TROUBLE_PARTITION, /* librdkafka reported an error for the partition; it goes on trying */
  TIDE_KAFKA_TROUBLE_CLIENT,    /* the same for the client as a whole, e.g. brokers that are down, or that refuse us */
  TIDE_KAFKA_TROUBLE_FATAL,     /* fenced by another with the same group.instance.id: the client cannot go on */
} TideKafkaTrouble;

typedef struct TideKafkaReport {
  TideKafkaTrouble kind;
  guint16 slot;     /* G_MAXUINT16 when it concerns no partition of ours */
  const char *text; /* what librdkafka says, or what it means; never a secret */
  gint64 lost_from; /* with LOST: the first message that is gone ... */
  gint64 lost_to;   /* ... and the first that is left: where tide_kafka_source_move() can go on */
} TideKafkaReport;

/* A partition that is ours from now on. */
typedef struct TideKafkaAssignment {
  const char *topic;
  gint32 partition;
  gboolean is_new;     /* the group has committed nothing of it */
  gint64 start_offset; /* where it begins; -1: the broker did not say, librdkafka asks again */
  gint64 end_offset;   /* where it ended just now; -1: the broker did not say */
  TideBytes note;      /* what was committed beside the offset; may be anybody's */
} TideKafkaAssignment;

typedef struct TideKafkaHandlers {
  gpointer data;
  /* A question to the brokers is answered, or was given up: several are asked where partitions are assigned. */
  void (*progress)(gpointer data);
  /* Returns its slot; G_MAXUINT16: it has none. Once more for the same: the broker did not say where it begins, and now
   * does. */
  guint16 (*assigned)(const TideKafkaAssignment *assignment, gpointer data);
  /* These were assigned, and will be fetched when this returns: the moment to commit for them. */
  void (*taking)(const guint16 *slots, gsize n_slots, gpointer data);
  void (*assignment_done)(gpointer data);
  /* These partitions are about to be taken away: finish what can be finished, store, and return soon. @lost: they are
   * already gone, nothing may be stored. */
  void (*revoking)(const guint16 *slots, gsize n_slots, gboolean lost, gpointer data);
  void (*revoked)(const guint16 *slots, gsize n_slots, gpointer data);
  /* All messages up to @offset have been handed out. */
  void (*reached_end)(guint16 slot, gint64 offset, gpointer data);
  /* A partition for which DENIED was reported is read again. */
  void (*recovered)(guint16 slot, gpointer data);
  void (*trouble)(const TideKafkaReport *report, gpointer data);
  /* How a commit of @offset ended, whoever asked for it. */
  void (*committed)(guint16 slot, gint64 offset, gboolean good, gpointer data);
  /* Some of a commit in the background failed: once for all partitions, after committed(). */
  void (*commit_failed)(const char *text, gpointer data);
} TideKafkaHandlers;

typedef struct TideKafkaSourceOptions {
  const TideConfig *config; /* borrowed */
  guint32 index;            /* of the consumer in this process */
} TideKafkaSourceOptions;

/* Connects and subscribes; does not wait for brokers. Errors: CONFIG, KAFKA. */
TideKafkaSource *tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideKafkaHandlers *handlers,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE with a message, which must be released before the next poll. */
gboolean tide_kafka_source_poll(TideKafkaSource *source, int timeout_ms, TideKafkaRecord *ret_record);
void tide_kafka_source_release(TideKafkaRecord *record);

/* Makes a waiting poll return. Threads: any. */
void tide_kafka_source_wake(TideKafkaSource *source);

/* Pausing throws prefetched messages away and fetches them again on resume: at most once a second. */
void tide_kafka_source_pause(TideKafkaSource *source, guint16 slot);
void tide_kafka_source_resume(TideKafkaSource *source, guint16 slot);

typedef struct TideKafkaCommit {
  guint16 slot;
  gint64 offset;    /* one past the last finished message */
  const char *note; /* borrowed: committed as the offset's metadata */
} TideKafkaCommit;

/* @offset is committed in the background, without a note, at the next commit interval at which no rebalance is under
 * way. FALSE when the partition is no longer ours. */
gboolean tide_kafka_source_store(TideKafkaSource *source, guint16 slot, gint64 offset);

/* In the background, at once. In the middle of a cooperative rebalance librdkafka may take the broker's refusal for the
 * loss of the assignment: only as often as there is something to note. */
void tide_kafka_source_commit_later(TideKafkaSource *source, const TideKafkaCommit *commits, gsize n_commits);

/* Waits for the broker's answer until @deadline_us. FALSE when some of it failed.
 * @ret_problem: (out) (transfer full): why; it may still come to pass when the answer did not come in time */
gboolean tide_kafka_source_commit(TideKafkaSource *source, const TideKafkaCommit *commits, gsize n_commits,
                                  gint64 deadline_us, char **ret_problem) G_GNUC_WARN_UNUSED_RESULT;

/* Goes on reading the partition at @offset, which tide_kafka_source_poll() stopped at with LOST. Other partitions go on
 * where they are. */
void tide_kafka_source_move(TideKafkaSource *source, guint16 slot, gint64 offset);

/* Leaves the group; may block while brokers are gone, so callers run it where a stop is bounded by others. */
void tide_kafka_source_close(TideKafkaSource *source);
void tide_kafka_source_free(TideKafkaSource *source);

G_END_DECLS
