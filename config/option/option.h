/* What an option is, and the reading and printing of one by its declaration. A group of options belongs to one mapping
 * of the file; the values are stored in a struct at the declared member. option_table.c declares the options of the
 * daemon, table_language.c those of tables. */
#pragma once

#include "config/yaml/yaml_tree.h"
#include "model/field_names.h"

G_BEGIN_DECLS

typedef enum TideConfigOptionType {
  TIDE_CONFIG_STRING,    /* char *, not empty */
  TIDE_CONFIG_TOPICS,    /* char **, NULL-terminated, not empty; one string stands for a list of one */
  TIDE_CONFIG_TEXTS,     /* char **, NULL-terminated, as TOPICS, but it and its items may be empty */
  TIDE_CONFIG_BROKERS,   /* char *: a list of host:port, joined by commas */
  TIDE_CONFIG_GATEWAYS,  /* GPtrArray * (element-type TideEndpoint) */
  TIDE_CONFIG_INTEGER,   /* guint32 */
  TIDE_CONFIG_DURATION,  /* gint64 milliseconds; gint32 seconds where the place has 4 bytes */
  TIDE_CONFIG_SIZE,      /* guint64 or guint32 bytes */
  TIDE_CONFIG_BOOLEAN,   /* gboolean */
  TIDE_CONFIG_CHOICE,    /* an enum, by choices */
  TIDE_CONFIG_TIME,      /* gint64 milliseconds since the epoch */
  TIDE_CONFIG_FIELD,     /* TideNameId: a field of the reading, interned */
  TIDE_CONFIG_ZONE,      /* GTimeZone * */
  TIDE_CONFIG_PATTERN,   /* TideTimePattern *, of a text */
  TIDE_CONFIG_CUSTOM,    /* text, by the option's own functions */
  TIDE_CONFIG_SECTION,   /* a mapping with options of its own, in a struct inside of this one */
  TIDE_CONFIG_STRUCTURE, /* anything: read by a function of its own, not by this table. Where it has a place, that is
                          * a char *: the YAML as it is declared, which begins behind "name:" and ends with a newline */
} TideConfigOptionType;

typedef struct TideConfigChoice {
  const char *name;
  int value;
} TideConfigChoice;

typedef enum TideConfigOptionFlags {
  TIDE_CONFIG_REQUIRED = 1 << 0,
  TIDE_CONFIG_IN_SAMPLE = 1 << 1, /* stands in the sample uncommented, though it is not required */
  TIDE_CONFIG_RELOADS = 1 << 2,   /* a running daemon takes it over at SIGHUP: its member is _Atomic */
  TIDE_CONFIG_REPEATS = 1 << 3,   /* of a list: an item may stand there twice */
} TideConfigOptionFlags;

typedef struct TideConfigGroup TideConfigGroup;

/* One row of the table. Texts are literals. */
typedef struct TideConfigOption {
  const char *name; /* the key in the mapping */
  TideConfigOptionType type;
  gsize offset; /* in the group's struct ... */
  gsize size;   /* ... and the bytes there */
  gint64 min;   /* INTEGER, DURATION (ms), SIZE, TIME: in the unit stored, but ms for DURATION */
  gint64 max;
  const char *default_text;        /* as it would stand in the file; NULL: none */
  const char *example;             /* shown in the sample where there is no default; several lines for a STRUCTURE */
  const TideConfigChoice *choices; /* CHOICE: ends with a NULL name */
  const char *form;                /* CUSTOM, STRUCTURE: what it may be, for the reference */
  guint flags;                     /* TideConfigOptionFlags */
  const char *sentence;            /* what it does, why the default; one or two sentences */
  const TideConfigGroup *section;  /* SECTION; its struct is at offset: 0 for the same */
  /* CUSTOM: @base is the group's struct. */
  gboolean (*parse)(const char *text, gpointer base, GError **error);
  char *(*print)(gconstpointer base);
  const char *was; /* its key in the release before, which is taken with a warning; NULL: the same. Of a secret: its old
                    * key stays among the names that messages mask, in yaml/secret.c (test-option) */
} TideConfigOption;

struct TideConfigGroup {
  const char *path;     /* "kafka", "readings.time"; "tables.NAME" with the variable part in capitals; "" at the top */
  const char *question; /* what the group answers; NULL: none */
  const char *scalar;   /* option that a scalar in place of the mapping sets; NULL: none may stand there */
  const TideConfigOption *options;
  gsize n_options;
};

/* The group of what may stand in an item of a list, of the array @options: it has no section, and no words of its own.
 */
#define TIDE_ITEM_GROUP(path, options)                                                                                 \
  {                                                                                                                    \
    path, NULL, NULL, options, G_N_ELEMENTS(options)                                                                   \
  }

/* Where a group's values go and what the reading of them needs. */
typedef struct TideConfigTarget {
  gpointer base;         /* the struct */
  TideFieldNames *names; /* for FIELD */
  GPtrArray *problems;
  const TideConfigGroup *top; /* where a key that stands in the wrong place is looked for; NULL: nowhere */
  const char *waived;         /* the path of a required option that may be absent; NULL: none */
} TideConfigTarget;

const TideConfigOption *tide_config_option_find(const TideConfigGroup *group, const char *name);

/* Sets every option of @group, and of its sections, that has a default. */
void tide_config_group_set_defaults(const TideConfigGroup *group, gpointer base);

/**
 * tide_config_group_read: read the mapping @node into the struct: values, ranges, unknown keys, required ones.
 * @path: the group's own path in this file ("tables.METRIC"), for messages
 * @node: (nullable): absent or null is an empty mapping
 * @outer: the place that is named when a required option is missing and @node is absent
 */
void tide_config_group_read(const TideConfigGroup *group, const char *path, const TideYamlNode *node,
                            TideSourcePosition outer, const TideConfigTarget *target);

/* "'PATH.NAME'" or "'NAME'" when @path is empty, as messages name an option. (transfer full) */
char *tide_config_option_path(const char *path, const char *name);

/* Frees and clears all that the group's options own in the struct. */
void tide_config_group_clear(const TideConfigGroup *group, gpointer base);

/**
 * tide_config_option_parse: stores what @text says, for all types but lists, sections and structures. The value is
 * untouched on an error. Errors: TIDE_ERROR_CONFIG, which go on from the option's name: "must be 1..64".
 */
gboolean tide_config_option_parse(const TideConfigOption *option, const char *text, const TideConfigTarget *target,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TOPICS, TEXTS, BROKERS and GATEWAYS. */
gboolean tide_config_option_is_list(const TideConfigOption *option);

/* Appends an item of a list to @texts (element-type utf8, owned), and stores them all; there must be at least one, but
 * of TEXTS. Errors: as above. */
gboolean tide_config_option_add_item(const TideConfigOption *option, GPtrArray *texts, const char *text,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_config_option_store_items(const TideConfigOption *option, const GPtrArray *texts, gpointer base);

/* The value in force as YAML; NULL when it is not set. @names: for FIELD. (transfer full) (nullable) */
char *tide_config_option_print_value(const TideConfigOption *option, gconstpointer base, const TideFieldNames *names);

/* Sets the option, which reloads, to what it is in @after, while others may read it. */
void tide_config_option_take_over(const TideConfigOption *option, gpointer base, gconstpointer after);

/* For the reference: "duration", "one of `a`, `b`"; "6s..30m" or NULL without a range. (transfer full) */
char *tide_config_option_describe_type(const TideConfigOption *option);
char *tide_config_option_describe_range(const TideConfigOption *option);

/* The name of @value; NULL when it is none of @choices. */
const char *tide_config_choice_name(const TideConfigChoice *choices, int value);

/* The names of @choices, each in @quote: "a, b". (transfer full) */
char *tide_config_choices_join(const TideConfigChoice *choices, const char *quote);

/* FALSE for "${NAME}": nothing is put in its place, so the text as it stands would be a silent mistake. */
gboolean tide_config_option_check_no_variable(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE for a name that a field can have here; messages know the record's own fields ("$key"). */
gboolean tide_config_option_check_field_name(const char *name, gsize len, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
