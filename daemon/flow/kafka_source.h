/* One librdkafka consumer: subscribing, polling, pausing, storing offsets, and the rebalance protocol. The only file of the
 * daemon that consumes; what a message means is its caller's business.
 *
 * Threads: its consumer thread only; tide_kafka_source_wake() from any. Handlers are called inside of poll and close. */
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
  TIDE_KAFKA_TROUBLE_OUT_OF_RANGE, /* the committed offset lies behind the partition's end, or nobody knows the partition's
                                    * range: the topic was made anew, or lost its newest messages */
  TIDE_KAFKA_TROUBLE_DAMAGED,      /* bytes that no checksum agrees with: librdkafka goes on behind them */
  TIDE_KAFKA_TROUBLE_DENIED,       /* this user may not read the topic, or be in the group; it is tried again */
  TIDE_KAFKA_TROUBLE_MISSING,      /* a topic or partition is not there, or no more; it is looked for again */
  TIDE_KAFKA_TROUBLE_POLL,         /* the thread did not poll for max_poll_interval: the group gave its partitions away */
  TIDE_KAFKA_TROUBLE_PARTITION,    /* librdkafka reported an error for the partition; it goes on trying */
  TIDE_KAFKA_TROUBLE_CLIENT,       /* the same for the client as a whole, e.g. brokers that are down, or that refuse us */
  TIDE_KAFKA_TROUBLE_FATAL,        /* fenced by another with the same group.instance.id: the client cannot go on */
} TideKafkaTrouble;

typedef struct TideKafkaReport {
  TideKafkaTrouble kind;
  guint16 slot;     /* G_MAXUINT16 when it concerns no partition of ours */
  const char *text; /* what librdkafka says, or what it means; never a secret */
  gint64 lost_from; /* with LOST: the first message that is gone ... */
  gint64 lost_to;   /* ... and the first that is left: where tide_kafka_source_move() can go on */
} TideKafkaReport;

typedef struct TideKafkaHandlers {
  gpointer data;
  /* The partition is ours from @start_offset on (or -1: from the committed offset). Returns its slot; G_MAXUINT16: it has
   * none. @end_offset: where it ended just now, when asked for, else -1. */
  guint16 (*assigned)(const char *topic, gint32 partition, gint64 end_offset, gpointer data);
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
  /* A commit in the background failed. It is tried again with the next, unless the partition is no longer ours. */
  void (*commit_failed)(const char *text, gpointer data);
} TideKafkaHandlers;

typedef struct TideKafkaSourceOptions {
  const TideConfig *config; /* borrowed */
  guint32 index;            /* of the consumer in this process */
  gboolean ask_for_ends;    /* fill end_offset */
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

/* @offset: one past the last finished message; committed in the background. FALSE when the partition is no longer ours. */
gboolean tide_kafka_source_store(TideKafkaSource *source, guint16 slot, gint64 offset);

/* Commits what is stored and waits for the broker's answer until @deadline_us. TRUE as well when there was nothing to commit.
 * @ret_problem: (out) (transfer full): why not; it may still come to pass when the answer did not come in time */
gboolean tide_kafka_source_commit(TideKafkaSource *source, gint64 deadline_us,
                                  char **ret_problem) G_GNUC_WARN_UNUSED_RESULT;

/* Goes on reading the partition at @offset, which tide_kafka_source_poll() stopped at with LOST. Other partitions go on where
 * they are. */
void tide_kafka_source_move(TideKafkaSource *source, guint16 slot, gint64 offset);

/* Leaves the group; may block while brokers are gone, so callers run it where a stop is bounded by others. */
void tide_kafka_source_close(TideKafkaSource *source);
void tide_kafka_source_free(TideKafkaSource *source);

G_END_DECLS
