/* Key fields given on a command line as FIELD=VALUE, made into a reading from which row keys and ranges are built. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideKeyArguments {
  TideReading reading; /* its parts are owned by the fields below */
  TideField *fields;   /* owned */
  guint32 *known;      /* owned */
  TideBuffer *values;  /* owned: one for each field */
} TideKeyArguments;

/**
 * tide_key_arguments_parse: @arguments, each FIELD=VALUE, as fields of @table's key. VALUE may hold bytes as \xHH.
 * Errors: TIDE_ERROR_USAGE: no '=', a field that the key does not use (with the ones it does), one given twice.
 */
TideKeyArguments *tide_key_arguments_parse(const TideConfig *config, const TideTable *table,
                                           const char *const *arguments, gsize n_arguments,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_key_arguments_free(TideKeyArguments *arguments); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKeyArguments, tide_key_arguments_free)

/* The key fields of @table that were not given, as "host, metric"; NULL when there are none. (transfer full) */
char *tide_key_arguments_missing(const TideKeyArguments *arguments, const TideConfig *config, const TideTable *table);

/**
 * tide_key_arguments_append_key: the row key of exactly these fields, with @time_ns where it holds the time; appended
 * to @out. Errors: TIDE_ERROR_USAGE: fields that are missing, or why a value cannot stand in the key.
 */
gboolean tide_key_arguments_append_key(const TideKeyArguments *arguments, const TideConfig *config,
                                       const TideTable *table, gint64 time_ns, TideBuffer *out,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes of a row key: text, with bytes as \xHH, or "hex:" and digits. Appended to @out. Errors: TIDE_ERROR_USAGE. */
gboolean tide_key_bytes_parse(const char *text, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_key_hex_parse(const char *hex, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when @text is FIELD=VALUE with a field of @table's key. */
gboolean tide_key_argument_names_field(const TideConfig *config, const TideTable *table, const char *text);

/* The names of the fields that @table's key is made of, which are given as FIELD=VALUE. (transfer full) */
GStrv tide_key_argument_fields(const TideConfig *config, const TideTable *table);

/* The table called @name; of a dated one also a single table by its name in HBase. Errors: TIDE_ERROR_USAGE, with the
 * nearest name, or all that there are. */
const TideTable *tide_table_argument_find(const TideConfig *config, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for commands that read rows: a name that stands for many tables is refused. */
const TideTable *tide_table_argument_read(const TideConfig *config, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
