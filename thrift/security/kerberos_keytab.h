/* Looks into a keytab before Kerberos does: what Kerberos says of one that is missing, or has other principals than the
 * one asked for, is that there are no credentials. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * tide_kerberos_keytab_find: whom to be, by the keytab at @path.
 * @principal: who is asked for; NULL: the keytab's first. Without a realm it is of the default one.
 * Returns: the principal in full; NULL on error. Ownership: (transfer full), g_free.
 * Errors: CONFIG, a whole sentence. Threads: any. Blocks: for the file.
 */
char *tide_kerberos_keytab_find(const char *path, const char *principal, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
