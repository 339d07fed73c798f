/* What an option is, and how one is read and printed by its declaration. A group of options belongs to one mapping of
 * the file; the values are stored in a struct at the declared member. option_table.c declares the options of the
 * daemon, table_language.c those of tables. */
#pragma once

#include "config/yaml/yaml_tree.h"
#include "model/field_names.h"

G_BEGIN_DECLS

typedef enum TideConfigOptionType {
  TIDE_CONFIG_STRING,    /* char *, not empty */
  TIDE_CONFIG_TOPICS,    /* char **, NULL-terminated, not empty; a single string counts as a list of one */
  TIDE_CONFIG_TEXTS,     /* char **, NULL-terminated, like TOPICS, but it and its items may be empty */
  TIDE_CONFIG_BROKERS,   /* char *: a list of host:port, joined by commas */
  TIDE_CONFIG_GATEWAYS,  /* GPtrArray * (element-type TideEndpoint) */
  TIDE_CONFIG_INTEGER,   /* guint32 */
  TIDE_CONFIG_DURATION,  /* gint64 milliseconds; gint32 seconds if the member has 4 bytes */
  TIDE_CONFIG_SIZE,      /* guint64 or guint32 bytes */
  TIDE_CONFIG_BOOLEAN,   /* gboolean */
  TIDE_CONFIG_CHOICE,    /* an enum, by choices */
  TIDE_CONFIG_TIME,      /* gint64 milliseconds since the epoch */
  TIDE_CONFIG_FIELD,     /* TideNameId: a field of the reading, interned */
  TIDE_CONFIG_ZONE,      /* GTimeZone * */
  TIDE_CONFIG_PATTERN,   /* TideTimePattern *, parsed from a text */
  TIDE_CONFIG_CUSTOM,    /* text, by the option's own functions */
  TIDE_CONFIG_SECTION,   /* a mapping with its own options, in a struct inside this one */
  TIDE_CONFIG_STRUCTURE, /* anything: read by its own function, not by this table. If it has a member, that is a char *
                          * with the YAML as declared, which starts after "name:" and ends with a newline */
} TideConfigOptionType;

typedef struct TideConfigChoice {
  const char *name;
  int value;
} TideConfigChoice;

typedef enum TideConfigOptionFlags {
  TIDE_CONFIG_REQUIRED = 1 << 0,
  TIDE_CONFIG_IN_SAMPLE = 1 << 1, /* uncommented in the sample, although it is not required */
  TIDE_CONFIG_RELOADS = 1 << 2,   /* a SIGHUP applies a change to a running daemon: the member is _Atomic */
  TIDE_CONFIG_REPEATS = 1 << 3,   /* of a list: an item may occur twice */
} TideConfigOptionFlags;

typedef struct TideConfigGroup TideConfigGroup;

/* A row of the table. Texts are literals. */
typedef struct TideConfigOption {
  const char *name; /* the key in the mapping */
  TideConfigOptionType type;
  gsize offset; /* in the group's struct ... */
  gsize size;   /* ... and its size in bytes */
  gint64 min;   /* INTEGER, DURATION, SIZE, TIME: in the unit of the member, but ms for DURATION */
  gint64 max;
  const char *default_text;        /* as written in the file; NULL: none */
  const char *example;             /* shown in the sample if there is no default; several lines for a STRUCTURE */
  const TideConfigChoice *choices; /* CHOICE: terminated by a NULL name */
  const char *form;                /* CUSTOM, STRUCTURE: the form of the value, for the reference */
  guint flags;                     /* TideConfigOptionFlags */
  const char *sentence;            /* what it sets, unit, why the default; one or two sentences, more only if a mistake
                                    * is costly */
  const TideConfigGroup *section;  /* SECTION; its struct is at offset: 0 for the same */
  /* CUSTOM: @base is the group's struct. */
  gboolean (*parse)(const char *text, gpointer base, GError **error);
  char *(*print)(gconstpointer base);
  const char *was; /* its key in the previous release, which is accepted with a warning; NULL: the same. The former key
                    * of a secret stays among the names that are masked, in yaml/secret.c (test-option) */
} TideConfigOption;

struct TideConfigGroup {
  const char *path;     /* "kafka", "readings.time"; "tables.NAME" with the variable part in capitals; "" at the top */
  const char *question; /* the question that the group answers; NULL: none */
  const char *scalar;   /* option that a scalar instead of the mapping sets; NULL: no scalar is allowed */
  const TideConfigOption *options;
  gsize n_options;
};

/* The group for the options in the array @options of a list's item, which has neither a section nor a sentence of its
 * own. */
#define TIDE_ITEM_GROUP(path, options)                                                                                 \
  {                                                                                                                    \
    path, NULL, NULL, options, G_N_ELEMENTS(options)                                                                   \
  }

/* The struct that stores the values of a group, and the context for reading them. */
typedef struct TideConfigTarget {
  gpointer base;         /* the struct */
  TideFieldNames *names; /* for FIELD */
  GPtrArray *problems;
  const TideConfigGroup *top; /* where a misplaced key is searched for; NULL: nowhere */
  const char *waived;         /* the path of a required option that may be absent; NULL: none */
} TideConfigTarget;

const TideConfigOption *tide_config_option_find(const TideConfigGroup *group, const char *name);

/* Sets every option of @group and its sections that has a default. */
void tide_config_group_set_defaults(const TideConfigGroup *group, gpointer base);

/**
 * tide_config_group_read: reads the mapping @node into the struct: values, ranges, unknown keys, required ones. @path:
 * the group's own path in this file ("tables.METRIC"), for messages @node: (nullable): absent or null is an empty
 * mapping @outer: reported as the position of a missing required option if @node is absent
 */
void tide_config_group_read(const TideConfigGroup *group, const char *path, const TideYamlNode *node,
                            TideSourcePosition outer, const TideConfigTarget *target);

/* The name of an option in messages: "'PATH.NAME'", or "'NAME'" if @path is empty. (transfer full) */
char *tide_config_option_path(const char *path, const char *name);

/* Frees and clears everything that the group's options own in the struct. */
void tide_config_group_clear(const TideConfigGroup *group, gpointer base);

/**
 * tide_config_option_parse: stores the value of @text, for all types except lists, sections and structures. An error
 * leaves the value unchanged. Errors: TIDE_ERROR_CONFIG; they continue after the option's name: "must be 1..64".
 */
gboolean tide_config_option_parse(const TideConfigOption *option, const char *text, const TideConfigTarget *target,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE for TOPICS, TEXTS, BROKERS and GATEWAYS. */
gboolean tide_config_option_is_list(const TideConfigOption *option);

/* Appends an item of a list to @texts (element-type utf8, owned), and stores them all; there must be at least one,
 * except for TEXTS. Errors: as above. */
gboolean tide_config_option_add_item(const TideConfigOption *option, GPtrArray *texts, const char *text,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_config_option_store_items(const TideConfigOption *option, const GPtrArray *texts, gpointer base);

/* The value in force as YAML; NULL if it is not set. @names: for FIELD. (transfer full) (nullable) */
char *tide_config_option_print_value(const TideConfigOption *option, gconstpointer base, const TideFieldNames *names);

/* Sets the reloadable option to its value in @after, while others may read it. */
void tide_config_option_take_over(const TideConfigOption *option, gpointer base, gconstpointer after);

/* For the reference: "duration", "one of `a`, `b`"; "6s..30m" or NULL without a range. (transfer full) */
char *tide_config_option_describe_type(const TideConfigOption *option);
char *tide_config_option_describe_range(const TideConfigOption *option);

/* The name of @value; NULL if it is not one of @choices. */
const char *tide_config_choice_name(const TideConfigChoice *choices, int value);

/* The names of @choices, each in @quote: "a, b". (transfer full) */
char *tide_config_choices_join(const TideConfigChoice *choices, const char *quote);

/* FALSE for "${NAME}": variables are not expanded, so that the literal text would be a silent mistake. */
gboolean tide_config_option_check_no_variable(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE for a valid field name; an error lists the record's own fields ("$key"). */
gboolean tide_config_option_check_field_name(const char *name, gsize len, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
