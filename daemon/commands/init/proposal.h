/* What `init` proposes to write, and its text: a commented configuration, whose comments are those of the option
 * tables. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/* What belongs to a time besides its field and format; borrowed, and NULL where it has none. */
typedef struct TideInitTimeParts {
  const char *pattern;    /* with TIDE_TIME_PATTERN */
  const char *date_field; /* where it is a time of day */
  const char *date_pattern;
  const char *plus_field; /* a number that is added to it */
  const char *plus_unit;
  gint64 step_ns; /* the finest time of the samples, for the key; 0: not known */
} TideInitTimeParts;

typedef struct TideInitProposal {
  char *brokers;    /* owned: "host:port", or several parted by commas */
  char *properties; /* owned: of kafka.librdkafka, in lines of YAML; NULL: none */
  char *topic;      /* owned */
  char *group;      /* owned */
  char *gateways;   /* owned, as brokers */
  const TideDecodeOptions *
      decode; /* borrowed: of it what `init` knows to ask for: format, csv, root, each, schema_file, message, framing */
  GPtrArray *readings; /* owned (element-type utf8): settings of `readings`, "NAME=YAML", in place of what decode says;
                        * NULL: none */
  const TideRegistrySettings *registry; /* borrowed: where schemas are asked for; NULL: nowhere */
  char *time_field;                     /* owned; NULL: the Kafka record's own time */
  char *zone;                           /* owned; NULL: the texts say their own */
  TideTimeFormat time_format;
  TideInitTimeParts time_parts;
  GPtrArray *key;     /* owned (element-type utf8): names of fields */
  GPtrArray *lacking; /* owned (element-type utf8, borrowed): those of the key that some readings lack; NULL: none */
  char *separator;    /* owned: between the parts of a key; NULL: "#", and what holds it is escaped */
  guint32 salt;       /* in front of the history's key, so many; 0: none */
  GArray *splits;     /* owned (element-type TideBytes): where the history is split; NULL: the salt says */
  char *splits_why;   /* owned: why so, or why not; NULL where splits is */
  char *table;        /* owned: of the history */
  char *dead_letters; /* owned: a topic; NULL: a file, at its default */
} TideInitProposal;

void tide_init_proposal_clear(TideInitProposal *proposal);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideInitProposal, tide_init_proposal_clear)

/* "CURRENT_METRIC" of "METRIC", in its namespace. (transfer full) */
char *tide_init_latest_name(const char *table);

/* The file's text. @n_messages: that it was made from. (transfer full) */
char *tide_init_proposal_print(const TideInitProposal *proposal, guint n_messages);

/* Makes the file @path with @text. Errors: IO: it is there already, or cannot be made, and what to do. */
gboolean tide_init_write_file(const char *path, const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As far as can be known before there is a text. Errors: as above. */
gboolean tide_init_check_path(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
