/* All dead letters of a topic, for dead_letter_source.c. */
#pragma once

#include "config/config.h"
#include "model/dead_letter.h"
#include "util/error.h"

G_BEGIN_DECLS

/* @dead_letter: valid only inside the call; NULL: the record is none. Return FALSE to stop. */
typedef gboolean (*TideKafkaDeadLetterFunc)(const TideDeadLetter *dead_letter, gint64 record_time_ms, gpointer data);

/* To where the topic's partitions ended when it began. Errors: NOT_FOUND, KAFKA, CONFIG. */
gboolean tide_kafka_dead_letters_read(const TideKafkaConfig *config, const char *topic, TideKafkaDeadLetterFunc func,
                                      gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
