/* Key fields given on a command line as FIELD=VALUE, converted to a reading from which row keys and ranges are
 * built. */
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
 * tide_key_arguments_parse: @arguments, each FIELD=VALUE, as fields of @table's key. VALUE may contain bytes as \xHH.
 * Errors: TIDE_ERROR_USAGE: no '=', a field that the key does not use (with a list of those it does), a repeated field.
 */
TideKeyArguments *tide_key_arguments_parse(const TideConfig *config, const TideTable *table,
                                           const char *const *arguments, gsize n_arguments,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_key_arguments_free(TideKeyArguments *arguments); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKeyArguments, tide_key_arguments_free)

/* The key fields of @table that were not given, as "host, metric"; NULL when there are none. (transfer full) */
char *tide_key_arguments_missing(const TideKeyArguments *arguments, const TideConfig *config, const TideTable *table);

/**
 * tide_key_arguments_append_key: append to @out the row key of exactly these fields, with @time_ns as its time, if any.
 * Errors: TIDE_ERROR_USAGE: missing fields, or why a value cannot be part of the key.
 */
gboolean tide_key_arguments_append_key(const TideKeyArguments *arguments, const TideConfig *config,
                                       const TideTable *table, gint64 time_ns, TideBuffer *out,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes of a row key: text, with bytes as \xHH, or "hex:" and digits. Appended to @out. Errors: TIDE_ERROR_USAGE. */
gboolean tide_key_bytes_parse(const char *text, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_key_hex_parse(const char *hex, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when @text is FIELD=VALUE with a field of @table's key. */
gboolean tide_key_argument_names_field(const TideConfig *config, const TideTable *table, const char *text);

/* The names of the fields of @table's key, to be given as FIELD=VALUE. (transfer full) */
GStrv tide_key_argument_fields(const TideConfig *config, const TideTable *table);

/* Finds the table @name, or one table of a dated one by its name in HBase. Errors: TIDE_ERROR_USAGE, with the nearest
 * name, or a list of all. */
const TideTable *tide_table_argument_find(const TideConfig *config, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for commands that read rows: rejects the name of a template. */
const TideTable *tide_table_argument_read(const TideConfig *config, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
