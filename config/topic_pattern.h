/* Matches items of kafka.topics with topics. An item is a name, or an extended POSIX pattern if it starts with ^, as in
 * librdkafka. Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why the pattern @wanted is invalid; NULL: it is a name, or valid. (transfer full) */
char *tide_topic_pattern_problem(const char *wanted);

/* Whether @wanted matches the topic @name. An invalid pattern matches nothing. */
gboolean tide_topic_pattern_matches(const char *wanted, const char *name);

/* Whether one of @wanted, NULL-terminated, matches the topic @name. */
gboolean tide_topic_pattern_any_matches(char *const *wanted, const char *name);

G_END_DECLS
