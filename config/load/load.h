/* The loader's pieces, one for each part of the file that needs more than the option table. Each adds the problems it
 * finds and continues. */
#pragma once

#include "config/config.h"
#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* State of one load. */
typedef struct TideLoad {
  TideConfig *config;       /* the configuration to fill */
  const TideYamlNode *root; /* the file */
  GPtrArray *problems;      /* (element-type TideConfigProblem) */
  gboolean has_mode;        /* the text came from a file ... */
  guint mode;               /* ... with these permission bits */
  GPtrArray *scratch;       /* (element-type gpointer), g_free: copies for the compilers */
  GPtrArray *zones;         /* (element-type GTimeZone): borrowed by key parts */
} TideLoad;

/* Add a problem at @node or at option @path. The position of an option that has its default is that of its section. */
#define tide_load_error(load, node, ...) tide_problems_add_error((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_warning(load, node, ...) tide_problems_add_warning((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_notice(load, node, ...)                                                                              \
  tide_problems_add_notice((load)->config->notices, (node)->position, __VA_ARGS__)
#define tide_load_option_error(load, path, ...)                                                                        \
  tide_problems_add_error((load)->problems, tide_load_position(load, path), __VA_ARGS__)
#define tide_load_option_warning(load, path, ...)                                                                      \
  tide_problems_add_warning((load)->problems, tide_load_position(load, path), __VA_ARGS__)

/* Adds an error that ends in the actual value: "TEXT, got 'x'". @node: (nullable) */
void tide_load_got_error(TideLoad *load, const TideYamlNode *node, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* kafka.librdkafka */
void tide_load_kafka_properties(TideLoad *load);

/* hbase: options of the connections to gateways, and their certificates. */
void tide_load_gateway_links(TideLoad *load);

/* service.http and its options: who can reach it, and how clients authenticate. */
void tide_load_http(TideLoad *load);

/* Makes the paths of @tls absolute, and adds an error unless certificate and key are both present. @path: the option's,
 * "hbase.tls". FALSE with the error added. */
gboolean tide_load_certificate(TideLoad *load, const char *path, TideTlsSettings *tls) G_GNUC_WARN_UNUSED_RESULT;

/* Adds an error for each file of @tls that cannot be used. @path: as above. */
void tide_load_check_tls_files(TideLoad *load, const char *path, const TideTlsSettings *tls);

/* Whether the file sets an option of the section @path. */
gboolean tide_load_is_written(const TideLoad *load, const char *path);

/* Adds an error if @source has both a file and a credential. @path: the option's. @what: "read the key", for example.
 * FALSE with the error added. */
gboolean tide_load_check_one_source(TideLoad *load, const char *path, const TideSecretSource *source, const char *what);

/* The bytes of the regular file at @path. NULL with @ret_reason for others, such as a pipe, which could block.
 * (transfer full) (nullable) */
GByteArray *tide_load_file(const char *path, gsize max_bytes, char **ret_reason);

/* The same for a file that may be larger, up to @max_bytes. */
GByteArray *tide_load_file_begin(const char *path, gsize max_bytes, char **ret_reason);

/* Makes @path absolute unless it is NULL. */
void tide_load_resolve(const TideLoad *load, char **path);

/* Whether readings of @format use the option @option of "readings". */
gboolean tide_load_format_takes(TideReadingFormat format, const char *option);

/* Checks @readings, at @node (nullable), beyond the single values and without the time. @path: "readings" */
void tide_load_readings(TideLoad *load, const char *path, const TideYamlNode *node, TideReadingsConfig *readings);

/* Checks readings.fields, at @node (nullable). @path: "readings.fields" */
void tide_load_fields(TideLoad *load, const char *path, const TideYamlNode *node, TideDecodeOptions *decode);

/* Loads the sources, or the single one that kafka.topics and readings form, without times. */
void tide_load_sources(TideLoad *load);
void tide_load_free_source(TideConfigSource *source);

/* Adds an error for each invalid pattern of @topics (nullable). @path: the section that contains them, "kafka". @node:
 * their position */
void tide_load_check_patterns(TideLoad *load, const char *path, const TideYamlNode *node, char *const *topics);

/* Checks a source's readings.time as a whole. It may be absent if each table of the source has its own time, or the
 * format provides one. */
void tide_load_times(TideLoad *load);

/* The path of the readings of @source: "readings". (transfer full) */
char *tide_load_readings_path(const TideConfigSource *source);

/* Bits of the sources of the table at @node; 0: all. Adds an error for each unknown name unless @path,
 * "tables.T.sources", is NULL. */
guint64 tide_load_table_sources(TideLoad *load, const char *path, const TideYamlNode *node);

/* tables */
void tide_load_tables(TideLoad *load);

/* Checks a name by HBase's rules. Errors: TIDE_ERROR_CONFIG. */
gboolean tide_load_check_family_name(const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads a text, or { hex: "00ff" }, whose bytes live as long as @load. FALSE with the error added. */
gboolean tide_load_bytes(TideLoad *load, const char *path, const TideYamlNode *node,
                         TideBytes *ret_bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Reads pairs of hexadecimal digits. (transfer full) (nullable): NULL for anything else, or if there are none. */
GByteArray *tide_load_decode_hex(const char *digits, gsize len);

/* Checks options against each other. Call it once each of them is valid. */
void tide_load_check_options(TideLoad *load);

/* The first option of @config that violates the bound of another, and the path of the other; literals. FALSE if there
 * is none. */
gboolean tide_load_find_broken_bound(const TideConfig *config, const char **ret_option, const char **ret_of);

/* @path made absolute. A relative one starts at the directory of the file, or at the working directory if the file is
 * standard input or memory. (transfer full) */
char *tide_load_path(const TideLoad *load, const char *path);

/* The position of the option at @path, or of its section if it has its default. */
TideSourcePosition tide_load_position(const TideLoad *load, const char *path);

G_END_DECLS
