/* Remembers which HBase cluster this host's daemon writes to, by its id in the state directory; anything stored in a
 * cluster could be found only by connecting to it.
 *
 * Threads: any. Blocks: for the disk. Library: logs nothing. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @ret_cluster: NULL if none is recorded, or without a state directory. (transfer full). Errors: IO: it is unknown if
 * one is recorded. */
gboolean tide_cluster_memory_read(char **ret_cluster, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Records nothing without a state directory. Errors: IO; retried as in tide_state_directory_keep(). */
gboolean tide_cluster_memory_write(const char *cluster, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Says that @gateway, of @cluster, gets no rows because the daemon writes to @wanted; with the remedies. (transfer
 * full) */
char *tide_cluster_mismatch(const char *gateway, const char *cluster, const char *wanted);

G_END_DECLS
