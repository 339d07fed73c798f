/* Checks a keytab before Kerberos reads it: for a missing keytab, or one without the requested principal, Kerberos only
 * reports that there are no credentials. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * tide_kerberos_keytab_find: choose a principal from the keytab at @path.
 * @principal: the requested one; NULL: the keytab's first. The default realm is added if it has none.
 * Returns: the full principal; NULL on error. Ownership: (transfer full), g_free.
 * Errors: CONFIG, a whole sentence. Threads: any. Blocks: for the file.
 */
char *tide_kerberos_keytab_find(const char *path, const char *principal, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
