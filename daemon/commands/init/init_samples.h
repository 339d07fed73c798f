/* The messages that `init` learns from: read from a file, standard input or a topic, decoded as the daemon does, and
 * what is wrong with those that cannot be. */
#pragma once

#include "commands/init/field_survey.h"
#include "config/config.h"
#include "decode/decoder.h"
#include "model/message.h"

#include <stdio.h>

G_BEGIN_DECLS

/* The key, and each header, of a message that is no record of a topic: what they are is not known. */
#define TIDE_INIT_STAND_IN "any"

typedef struct TideInitSample {
  TideMessage message; /* its value and key are owned; of no topic; the time of a text is when it was read */
  GHashTable *headers; /* owned: name -> GBytes; NULL: each is TIDE_INIT_STAND_IN */
  const char *unit;    /* what is counted: "line", "record"; or "the whole" */
  guint64 line;        /* of the text, from 1; 0: it is of a topic */
} TideInitSample;

/* To be read only. */
typedef struct TideInitSamples {
  TideConfig *config;        /* owned */
  TideDecodeOptions *decode; /* its own; what stands between values of CSV is found in the first line */
  TideFieldNames *names;
  TideDecoder *decoder;
  TideFieldSurvey *survey;
  GPtrArray *all;      /* owned (element-type TideInitSample) */
  GPtrArray *messages; /* (element-type TideInitSample, borrowed): those of them that could be read */
  guint64 n_of_topic;  /* that were read, those without value counted */
  guint n_bad;         /* messages that could not be read */
  char *first_bad;     /* what was wrong with the first; NULL: none was */
  gboolean is_delimiter_given;
  gboolean is_container; /* they are records of an object container file */
  /* While a text is read: */
  guint64 max;
  guint64 n_lines; /* 0: it is a topic */
  guint n_head;    /* of csv, records in front of each message */
  GString *whole;  /* what was read, up to the largest message; NULL: it was more */
} TideInitSamples;

/* As the readings of @config say, which is handed over. (transfer full) */
TideInitSamples *tide_init_samples_new(TideConfig *config);
void tide_init_samples_free(TideInitSamples *samples); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideInitSamples, tide_init_samples_free)

/**
 * tide_init_samples_read_stream: messages as text, one a line, of CSV each with the line of names in front; or one over
 * several lines, where only the whole is one, and always of bytes.
 * @max: of usable ones
 * Errors: IO.
 */
gboolean tide_init_samples_read_stream(TideInitSamples *samples, FILE *stream, const char *name, guint64 max,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same messages, read once more, as @samples is to do it. */
void tide_init_samples_read_again(TideInitSamples *samples, const TideInitSamples *before);

/* The records of an object container file of Avro, each of which is a message. @samples: of a configuration that reads
 * such (choose_source.h). Errors: IO; DATA: there is no record before what is wrong with it. */
gboolean tide_init_samples_read_container(TideInitSamples *samples, const char *path, guint64 max,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @max messages of a topic, of each partition's begin, end and what is between. Joins no group, commits nothing.
 * Errors: those of tide_kafka_read(). */
gboolean tide_init_samples_read_topic(TideInitSamples *samples, const TideKafkaConfig *kafka, const char *topic,
                                      guint64 max, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether there is a reading to learn from. @where: "'some.jsonl'", "topic 'metrics'". Errors: DATA, with what is wrong
 * with the first message and what to do. */
gboolean tide_init_samples_check(const TideInitSamples *samples, const char *where,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @sample as it comes out of @topic; valid as long as both. */
TideMessage tide_init_sample_message(const TideInitSample *sample, const char *topic);

G_END_DECLS
