/* The messages that `init` learns from: read from a file, standard input or a topic, decoded as the daemon does, and
 * what is wrong with those that cannot be. */
#pragma once

#include "commands/init/field_survey.h"
#include "config/config.h"
#include "decode/decode_options.h"
#include "model/message.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef struct TideInitSample {
  GBytes *value;       /* owned */
  GBytes *key;         /* owned; NULL: none */
  gint64 timestamp_ms; /* the record's own; of a text, when it was read */
  guint64 line;        /* of the text, from 1; 0: it is of a topic */
  gint32 partition;
  gint64 offset;
} TideInitSample;

typedef struct TideInitSamples TideInitSamples;

/* @format: what the messages are written in; of values with commas or the like, with a header in each. */
TideInitSamples *tide_init_samples_new(TideReadingFormat format);
void tide_init_samples_free(TideInitSamples *samples); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideInitSamples, tide_init_samples_free)

/**
 * tide_init_samples_read_stream: messages as text, one a line; or one over several lines, where only the whole is one,
 * and always where lines are no messages by themselves: values below a header, and bytes.
 * @max: of usable ones
 * Errors: IO.
 */
gboolean tide_init_samples_read_stream(TideInitSamples *samples, FILE *stream, const char *name, guint64 max,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The newest @max messages of a topic. Joins no group, commits nothing. Errors: those of tide_kafka_read(). */
gboolean tide_init_samples_read_topic(TideInitSamples *samples, const TideKafkaConfig *kafka, const char *topic,
                                      guint64 max, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether there is a reading to learn from. @where: "'some.jsonl'", "topic 'metrics'". Errors: DATA, with what is wrong
 * with the first message and what to do. */
gboolean tide_init_samples_check(const TideInitSamples *samples, const char *where,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

const TideFieldSurvey *tide_init_samples_survey(const TideInitSamples *samples);
const GPtrArray *tide_init_samples_messages(const TideInitSamples *samples); /* (element-type TideInitSample) */

/* What stands between values of CSV, as the first header tells; NULL: a comma. */
const char *tide_init_samples_csv_delimiter(const TideInitSamples *samples);

/* Messages that could not be read, and what was wrong with the first of them; NULL: nothing. */
guint tide_init_samples_n_bad(const TideInitSamples *samples);
const char *tide_init_samples_first_bad(const TideInitSamples *samples);

/* @sample as it comes out of @topic; valid as long as both. */
TideMessage tide_init_sample_message(const TideInitSample *sample, const char *topic);

G_END_DECLS
