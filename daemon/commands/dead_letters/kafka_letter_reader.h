/* All letters of a topic, for letter_source.c. */
#pragma once

#include "config/config.h"
#include "model/letter.h"
#include "util/error.h"

G_BEGIN_DECLS

/* @letter: valid only inside the call; NULL: the record is none. Return FALSE to stop. */
typedef gboolean (*TideKafkaLetterFunc)(const TideLetter *letter, gint64 record_time_ms, gpointer data);

/* To where the topic's partitions ended when it began. Errors: NOT_FOUND, KAFKA, CONFIG. */
gboolean tide_kafka_letters_read(const TideKafkaConfig *config, const char *topic, TideKafkaLetterFunc func,
                                 gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
