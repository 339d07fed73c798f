/* The proposal of `init` and its text: a commented configuration. The comments are from the option tables. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* Parts of a time other than its field and format; borrowed, NULL if absent. */
typedef struct TideInitTimeParts {
  const char *pattern;    /* with TIDE_TIME_PATTERN */
  const char *date_field; /* for a time of day */
  const char *date_pattern;
  const char *plus_field; /* a number to add */
  const char *plus_unit;
  gint64 step_ns; /* the finest unit of times in the samples, for the key; 0: unknown */
} TideInitTimeParts;

typedef struct TideInitProposal {
  char *brokers;                   /* owned: "host:port", or several separated by commas */
  char *properties;                /* owned: of kafka.librdkafka, as lines of YAML; NULL: none */
  char *topic;                     /* owned */
  char *group;                     /* owned */
  char *gateways;                  /* owned, like brokers */
  const TideDecodeOptions *decode; /* borrowed: only the settings that `init` has options for: format, csv, root, each,
                                      schema_file, message, framing */
  GPtrArray *readings;             /* owned (element-type utf8): "NAME=YAML", which override decode; NULL: none */
  const TideRegistrySettings *registry; /* borrowed: the schema registry; NULL: none */
  char *time_field;                     /* owned; NULL: the Kafka record's own time */
  char *zone;                           /* owned; NULL: the texts contain their own */
  TideTimeFormat time_format;
  TideInitTimeParts time_parts;
  GPtrArray *key;     /* owned (element-type utf8): names of fields */
  GPtrArray *lacking; /* owned (element-type utf8, borrowed): fields of the key that some readings lack; NULL: none */
  char *separator;    /* owned: between the parts of a key; NULL: "#", escaped in values */
  guint32 salt;       /* number of salts at the start of history keys; 0: none */
  GArray *splits;     /* owned (element-type TideBytes): split points of the history; NULL: given by the salt */
  char *splits_why;   /* owned: the reason for the splits, or for having none; NULL if splits is */
  char *table;        /* owned: of the history */
  char *dead_letters; /* owned: a topic; NULL: a file, at its default */
} TideInitProposal;

void tide_init_proposal_clear(TideInitProposal *proposal);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitProposal, tide_init_proposal_clear)

/* "CURRENT_METRIC" of "METRIC", in its namespace. (transfer full) */
char *tide_init_latest_name(const char *table);

/* The text of the file. @n_messages: number of samples. (transfer full) */
char *tide_init_proposal_print(const TideInitProposal *proposal, guint n_messages);

/* Creates the file @path with @text. Errors: IO: it already exists or cannot be created, with what to do. */
gboolean tide_init_write_file(const char *path, const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the checks that are possible before the text exists. Errors: as above. */
gboolean tide_init_check_path(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
