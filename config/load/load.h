/* The loader's own pieces, one for each part of the file that is more than values in a table. Each adds what it finds
 * wrong to the problems and goes on. */
#pragma once

#include "config/config.h"
#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* One load. */
typedef struct TideLoad {
  TideConfig *config;       /* being filled */
  const TideYamlNode *root; /* the file */
  GPtrArray *problems;      /* (element-type TideConfigProblem) */
  gboolean has_mode;        /* the text came from a file ... */
  guint mode;               /* ... with these permission bits */
  GPtrArray *scratch;       /* (element-type gpointer), g_free: what the compilers copy */
  GPtrArray *zones;         /* (element-type GTimeZone): what key parts borrow */
} TideLoad;

/* Add a problem at @node, or at the option @path: where that stands, or its section when it is at its default. */
#define tide_load_error(load, node, ...) tide_problems_add_error((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_warning(load, node, ...) tide_problems_add_warning((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_notice(load, node, ...)                                                                              \
  tide_problems_add_notice((load)->config->notices, (node)->position, __VA_ARGS__)
#define tide_load_option_error(load, path, ...)                                                                        \
  tide_problems_add_error((load)->problems, tide_load_position(load, path), __VA_ARGS__)
#define tide_load_option_warning(load, path, ...)                                                                      \
  tide_problems_add_warning((load)->problems, tide_load_position(load, path), __VA_ARGS__)

/* Adds an error that ends in what was got: "TEXT, got 'x'". @node: (nullable) */
void tide_load_got_error(TideLoad *load, const TideYamlNode *node, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* kafka.librdkafka */
void tide_load_kafka_properties(TideLoad *load);

/* hbase: what is said of connections to gateways, and of their certificates. */
void tide_load_gateway_links(TideLoad *load);

/* service.http and its like: who can reach it, and what he must show. */
void tide_load_http(TideLoad *load);

/* Makes the paths of @tls absolute, and adds an error where certificate and key are not both there. @path: the
 * option's, "hbase.tls". FALSE with the error added. */
gboolean tide_load_certificate(TideLoad *load, const char *path, TideTlsSettings *tls) G_GNUC_WARN_UNUSED_RESULT;

/* Adds an error for each file of @tls that cannot be used. @path: as above. */
void tide_load_check_tls_files(TideLoad *load, const char *path, const TideTlsSettings *tls);

/* Whether the file says something of the option @path. */
gboolean tide_load_is_written(const TideLoad *load, const char *path);

/* Adds an error where @source is a file and a credential. @path: the option's. @what: "the key comes", say. FALSE with
 * the error added. */
gboolean tide_load_check_one_source(TideLoad *load, const char *path, const TideSecretSource *source, const char *what);

/* The bytes of the regular file at @path. NULL with @ret_reason: others, a pipe say, could wait or go on for ever.
 * (transfer full) (nullable) */
GByteArray *tide_load_file(const char *path, gsize max_bytes, char **ret_reason);

/* The same of a file that may be larger, up to @max_bytes. */
GByteArray *tide_load_file_begin(const char *path, gsize max_bytes, char **ret_reason);

/* @path: made absolute, where it is not NULL. */
void tide_load_resolve(const TideLoad *load, char **path);

/* Whether readings of @format take the option @option of "readings". */
gboolean tide_load_format_takes(TideReadingFormat format, const char *option);

/* What @readings, which stand at @node (nullable), say beyond their values, but for the time. @path: "readings" */
void tide_load_readings(TideLoad *load, const char *path, const TideYamlNode *node, TideReadingsConfig *readings);

/* readings.fields, which stand at @node (nullable). @path: "readings.fields" */
void tide_load_fields(TideLoad *load, const char *path, const TideYamlNode *node, TideDecodeOptions *decode);

/* The sources, or what stands for the only one: kafka.topics and readings, but for times. */
void tide_load_sources(TideLoad *load);
void tide_load_free_source(TideConfigSource *source);

/* Adds an error for each pattern of @topics (nullable) that cannot be read. @path: what they stand in: "kafka". @node: where
 * they stand */
void tide_load_check_patterns(TideLoad *load, const char *path, const TideYamlNode *node, char *const *topics);

/* What a source's readings.time says as a whole. It may be left out when each table that takes from it has a time of its
 * own, or each reading by its format. */
void tide_load_times(TideLoad *load);

/* The path of what @source says of its readings: "readings". (transfer full) */
char *tide_load_readings_path(const TideConfigSource *source);

/* Which sources the table at @node takes from, by their bits; 0: from all. Adds an error for each name that is none's where
 * @path, "tables.T.sources", is not NULL. */
guint64 tide_load_table_sources(TideLoad *load, const char *path, const TideYamlNode *node);

/* tables */
void tide_load_tables(TideLoad *load);

/* By HBase's rules. Errors: TIDE_ERROR_CONFIG. */
gboolean tide_load_check_family_name(const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A text, or { hex: "00ff" }: bytes that live as long as @load. FALSE with the error added. */
gboolean tide_load_bytes(TideLoad *load, const char *path, const TideYamlNode *node,
                         TideBytes *ret_bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Pairs of hex digits. (transfer full) (nullable): NULL for anything else, and for none. */
GByteArray *tide_load_decode_hex(const char *digits, gsize len);

/* Options that contradict each other. Call when each by itself is good. */
void tide_load_check_options(TideLoad *load);

/* The first option of @config that passes another one's bound, and the path of that; literals. FALSE: none does. */
gboolean tide_load_find_broken_bound(const TideConfig *config, const char **ret_option, const char **ret_of);

/* @path as the file means it: a relative one begins where the file is, or, when that was read from standard input or
 * memory, where the process is. Absolute. (transfer full) */
char *tide_load_path(const TideLoad *load, const char *path);

/* Where the option at @path stands; where its section stands when it is at its default. */
TideSourcePosition tide_load_position(const TideLoad *load, const char *path);

G_END_DECLS
