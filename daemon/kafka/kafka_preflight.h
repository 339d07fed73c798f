/* Checks before a start that the brokers have all that the daemon needs. Creates nothing, writes nothing and joins no
 * group. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* A topic's settings, as the brokers report them. */
typedef struct TideTopicSettings {
  const char *name;         /* borrowed */
  gboolean is_known;        /* they did */
  gint64 max_message_bytes; /* max.message.bytes */
  gint64 retention_ms;      /* retention.ms; -1: for ever */
  gboolean is_compacted;    /* cleanup.policy */
} TideTopicSettings;

/**
 * tide_dead_letter_topic_judge: what is wrong with @dead_letters as the place of dead letters of @topics.
 * @ret_is_problem: FALSE where it may be as it is meant
 * Returns: (transfer full) (nullable): sentences without full stop; NULL: nothing, as far as the settings are known.
 */
char *tide_dead_letter_topic_judge(const TideTopicSettings *dead_letters, const TideTopicSettings *topics,
                                   guint n_topics, gboolean *ret_is_problem);

typedef struct TideSeenTopic {
  char *name;         /* owned: as configured; a pattern begins with ^ */
  guint n_topics;     /* that a pattern matches; 1 or 0 for a name */
  guint n_partitions; /* of all of them */
  gint64 ahead_ms;    /* how far the newest record that was read lies ahead of this host's clock; 0: it does not */
  char *fault;        /* owned: why one of them cannot be read, or is not there, and what to do; NULL: nothing is known
                       * against it, or no topic matches a pattern */
} TideSeenTopic;

/* As the cluster advertises it to clients, whatever address was configured. */
typedef struct TideSeenBroker {
  char *host; /* owned */
  guint16 port;
} TideSeenBroker;

typedef struct TideKafkaPreflight {
  GPtrArray *brokers;       /* owned (element-type TideSeenBroker) */
  GPtrArray *topics;        /* owned (element-type TideSeenTopic): one for each configured topic, in their order */
  char *group_fault;        /* owned: why the group's offsets cannot be had, and what to do; NULL: they can */
  char *strangers;          /* owned: members of the group that are no tidemark; NULL: none, or nobody says */
  guint32 tables_mark;      /* of the configuration */
  int other_tables;         /* partitions whose last commit is of a tidemark that has others; -1: nobody says */
  char *dead_letters_fault; /* owned: why the dead-letter topic is not found, and what to do; NULL: it is, or none is
                               set */
  GArray *settings; /* owned (element-type TideTopicSettings): of the dead-letter topic, then of those that are read;
                     * empty without dead_letters.topic. Names are borrowed from the configuration */
} TideKafkaPreflight;

/**
 * tide_kafka_preflight: which topics there are; a fetch from one partition of each that is wanted; what the group
 * committed, and who is in it. Errors: KAFKA with what librdkafka said of the brokers; CONFIG for a property it
 * refuses. Blocks: up to
 * @timeout_ms for each of the questions.
 */
TideKafkaPreflight *tide_kafka_preflight(const TideConfig *config, gint64 timeout_ms,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_kafka_preflight_free(TideKafkaPreflight *look); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKafkaPreflight, tide_kafka_preflight_free)

G_END_DECLS
