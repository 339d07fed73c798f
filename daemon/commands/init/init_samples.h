/* The messages that `init` uses as samples: read from a file, standard input or a topic, decoded like the daemon does,
 * with the faults of those that cannot be decoded. */
#pragma once

#include "commands/init/field_survey.h"
#include "config/config.h"
#include "decode/decoder.h"
#include "model/message.h"

#include <stdio.h>

G_BEGIN_DECLS

/* Replaces the unknown key and headers of a message that is no record of a topic. */
#define TIDE_INIT_STAND_IN "any"

typedef struct TideInitSample {
  TideMessage message; /* owns its value and key; of no topic; the time of a text is when it was read */
  GHashTable *headers; /* owned: name -> GBytes; NULL: each is TIDE_INIT_STAND_IN */
  const char *unit;    /* what is counted: "line", "record"; or "the whole" */
  guint64 line;        /* of the text, from 1; 0: it is from a topic */
} TideInitSample;

/* Read-only for others. */
typedef struct TideInitSamples {
  TideConfig *config;        /* owned */
  TideDecodeOptions *decode; /* its own; the delimiter of CSV is detected in the first line */
  TideFieldNames *names;
  TideDecoder *decoder;
  TideFieldSurvey *survey;
  GPtrArray *all;      /* owned (element-type TideInitSample) */
  GPtrArray *messages; /* (element-type TideInitSample, borrowed): those that could be decoded */
  guint64 n_of_topic;  /* records read, including those without a value */
  guint n_bad;         /* messages that could not be decoded */
  char *first_bad;     /* the first fault; NULL: none */
  gboolean is_delimiter_given;
  gboolean is_container; /* they are records of an Avro container */
  /* while a text is read: */
  guint64 max;
  guint64 n_lines; /* 0: it is a topic */
  guint n_head;    /* of csv, records before each message */
  GString *whole;  /* the text so far, up to the largest message; NULL: it was larger */
} TideInitSamples;

/* @config: transferred; its readings are decoded. (transfer full) */
TideInitSamples *tide_init_samples_new(TideConfig *config);
void tide_init_samples_free(TideInitSamples *samples); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideInitSamples, tide_init_samples_free)

/**
 * tide_init_samples_read_stream: read messages as text, one per line, for CSV each with the line of names before it.
 * The whole text is one message if only that can be decoded, and always for binary formats.
 * @max: of usable messages
 * Errors: IO.
 */
gboolean tide_init_samples_read_stream(TideInitSamples *samples, FILE *stream, const char *name, guint64 max,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Decodes the same messages again, with the options of @samples. */
void tide_init_samples_read_again(TideInitSamples *samples, const TideInitSamples *before);

/* Reads the records of an Avro object container file, each of which is a message. @samples: of a configuration for such
 * files (choose_source.h). Errors: IO; DATA: there is no record before the first fault. */
gboolean tide_init_samples_read_container(TideInitSamples *samples, const char *path, guint64 max,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads @max messages of a topic, from the beginning, the end and between of each partition. Joins no group, commits
 * nothing. Errors: those of tide_kafka_read(). */
gboolean tide_init_samples_read_topic(TideInitSamples *samples, const TideKafkaConfig *kafka, const char *topic,
                                      guint64 max, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether there is at least one reading. @where: "'some.jsonl'", "topic 'metrics'". Errors: DATA, with the first
 * message's fault and what to do. */
gboolean tide_init_samples_check(const TideInitSamples *samples, const char *where,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* @sample as a record of @topic; valid as long as both. */
TideMessage tide_init_sample_message(const TideInitSample *sample, const char *topic);

G_END_DECLS
