/* What an operator does about an AccessDeniedException: HBase's AccessController says it in Java's words, which name
 * the user, the right and the table, but not the command that helps.
 *
 * Threads: any; pure functions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "user 'tide' has no right WRITE on table 'METRIC'; in the HBase shell: grant "tide", "RW", "METRIC"", where @error,
 * a refusal of the gateway's, says so much; NULL for every other error, and for NULL. @ret_command: (out) (optional)
 * (transfer full): the command alone. Ownership: (transfer full). */
char *tide_access_denied_remedy(const GError *error, char **ret_command);

/* @error's message, with the remedy behind it where there is one. (transfer full) */
char *tide_access_denied_explain(const GError *error);

G_END_DECLS
