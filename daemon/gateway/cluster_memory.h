/* Which HBase cluster this host's daemon writes to: its id, kept in the state directory, because what is kept in a
 * cluster is only found by connecting to that cluster.
 *
 * Threads: any. Blocks: for the disk. Library: logs nothing. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @ret_cluster: NULL where none is kept, or there is no state directory. (transfer full). Errors: IO: it cannot be told
 * whether one is kept. */
gboolean tide_cluster_memory_read(char **ret_cluster, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Nothing is kept where there is no state directory. Errors: IO; it is tried again, as tide_state_directory_keep()
 * says. */
gboolean tide_cluster_memory_write(const char *cluster, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* That @gateway, of @cluster, gets no rows because the daemon writes to @wanted; with the remedies. (transfer full) */
char *tide_cluster_mismatch(const char *gateway, const char *cluster, const char *wanted);

G_END_DECLS
