/* The loader's pieces, one for each part of the file that needs more than the option table. Each adds the problems it
 * finds and continues. */
#pragma once

#include "config/load/load_context.h"

G_BEGIN_DECLS

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

/* Checks options against each other. Call it once each of them is valid. */
void tide_load_check_options(TideLoad *load);

/* The first option of @config that violates the bound of another, and the path of the other; literals. FALSE if there
 * is none. */
gboolean tide_load_find_broken_bound(const TideConfig *config, const char **ret_option, const char **ret_of);

G_END_DECLS
