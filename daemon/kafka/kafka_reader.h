/* Reads some messages of a topic for a command that wants to look at them: no group is joined, nothing is committed,
 * and the daemon does not notice. */
#pragma once

#include "config/config.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideKafkaReadRequest {
  const char *topic;
  guint64 max_messages;    /* in all; each partition gives its share of them at the most */
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
