/* Whether a topic is fit for dead letters, by its settings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the brokers say of a topic. */
typedef struct TideTopicSettings {
  const char *name;         /* borrowed */
  gboolean is_known;        /* they said it */
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

G_END_DECLS
