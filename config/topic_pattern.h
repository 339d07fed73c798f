/* An item of kafka.topics against the topics that there are: a name means the topic of this name; what begins with ^
 * is an extended POSIX pattern, as librdkafka takes it.
 *
 * Threads: any. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why @wanted is a pattern that cannot be read; NULL: it is a name, or can be read. (transfer full) */
char *tide_topic_pattern_problem(const char *wanted);

/* Whether @wanted means the topic @name. A pattern that cannot be read matches nothing. */
gboolean tide_topic_pattern_matches(const char *wanted, const char *name);

/* Whether one of @wanted, NULL-terminated, means the topic @name. */
gboolean tide_topic_pattern_any_matches(char *const *wanted, const char *name);

G_END_DECLS
