/* Checks before a start that the brokers offer everything the daemon needs. Creates nothing, writes nothing and joins
 * no group. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* A topic's settings, as the brokers report them. */
typedef struct TideTopicSettings {
  const char *name;         /* borrowed */
  gboolean is_known;        /* the brokers reported the next ones */
  gint64 max_message_bytes; /* max.message.bytes */
  gint64 retention_ms;      /* retention.ms; -1: for ever */
  gboolean is_compacted;    /* cleanup.policy */
} TideTopicSettings;

/**
 * tide_dead_letter_topic_judge: what makes @dead_letters unsuitable for the dead letters of @topics.
 * @ret_is_problem: FALSE if the settings may be intended
 * Returns: (transfer full) (nullable): sentences without full stop; NULL: no finding in the settings that are known.
 */
char *tide_dead_letter_topic_judge(const TideTopicSettings *dead_letters, const TideTopicSettings *topics,
                                   guint n_topics, gboolean *ret_is_problem);

typedef struct TideSeenTopic {
  char *name;         /* owned: as configured; a pattern begins with ^ */
  guint n_topics;     /* that a pattern matches; 1 or 0 for a name */
  guint n_partitions; /* of all of them */
  gint64 ahead_ms;    /* how far the newest record read is ahead of the host clock; 0: it is not */
  char *fault; /* owned: why one of them cannot be read or is missing, and what to do; NULL: no fault is known, or no
                  topic matches a pattern */
} TideSeenTopic;

/* As the cluster advertises it to clients, whatever the configured address. */
typedef struct TideSeenBroker {
  char *host; /* owned */
  guint16 port;
} TideSeenBroker;

typedef struct TideKafkaPreflight {
  GPtrArray *brokers;  /* owned (element-type TideSeenBroker) */
  GPtrArray *topics;   /* owned (element-type TideSeenTopic): one for each configured topic, in their order */
  char *group_fault;   /* owned: why the group's offsets are unavailable, and what to do; NULL: they are available */
  char *strangers;     /* owned: members of the group other than tidemark; NULL: none, or no answer */
  guint32 tables_mark; /* of the configuration */
  int other_tables;    /* partitions last committed by a tidemark with other tables; -1: no answer */
  char *dead_letters_fault; /* owned: why the dead-letter topic was not found, and what to do; NULL: found, or none is
                               set */
  GArray *settings; /* owned (element-type TideTopicSettings): of the dead-letter topic, then of the input topics; empty
                       without dead_letters.topic. Names are borrowed from the configuration */
} TideKafkaPreflight;

/**
 * tide_kafka_preflight: ask for the topics, fetch from one partition of each wanted one, and ask for the group's
 * offsets and members. Errors: KAFKA with librdkafka's report about the brokers; CONFIG for a refused property. Blocks:
 * up to
 * @timeout_ms for each question.
 */
TideKafkaPreflight *tide_kafka_preflight(const TideConfig *config, gint64 timeout_ms,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_preflight_free(TideKafkaPreflight *look); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaPreflight, tide_kafka_preflight_free)

G_END_DECLS
