/* Which source of the configuration reads a topic, and which of them a table uses. Threads: any. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

#define TIDE_CONFIG_MAX_SOURCES 64 /* bits in TideTable.sources */

/* The only source, or the one that names @topic, or the first with a pattern that matches it. NULL: none of several. */
const TideConfigSource *tide_config_source_of_topic(const TideConfig *config, TideBytes topic);

/* The name of that source. NULL: the file has no `sources`, or none of several reads @topic. */
const char *tide_config_source_name(const TideConfig *config, const char *topic);

/* Whether messages of @topic can be read by the rules of one source. @topic: NULL if none was named, which suffices if
 * there is one source. Errors: USAGE. */
gboolean tide_config_check_topic(const TideConfig *config, const char *topic, GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_config_takes_from(const TideTable *table, const TideConfigSource *source);

/* The event time of readings of @source in @table. */
const TideTimeSpec *tide_config_time_of(const TideTable *table, const TideConfigSource *source);

/* The first source of @table, for questions whose answer is the same for all its sources. */
const TideConfigSource *tide_config_first_source(const TideConfig *config, const TideTable *table);

/* The largest message that any source accepts. */
guint32 tide_config_max_message_bytes(const TideConfig *config);

/* Whether a source has an on_bad_message other than stop. */
gboolean tide_config_keeps_bad_messages(const TideConfig *config);

G_END_DECLS
