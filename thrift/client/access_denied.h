/* Explains an AccessDeniedException. The text of HBase's AccessController names the user, the right and the table, but
 * not the command that grants it.
 *
 * Threads: any; pure functions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the missing right and the command that grants it, such as "user 'tide' lacks the right WRITE on table
 * 'METRIC'; grant it in the HBase shell: grant "tide", "RW", "METRIC"". NULL if @error is no such refusal.
 * @ret_command: (out) (optional) (transfer full): the command alone. Ownership: (transfer full). */
char *tide_access_denied_remedy(const GError *error, char **ret_command);

/* Returns @error's message, followed by the remedy if there is one. (transfer full) */
char *tide_access_denied_explain(const GError *error);

G_END_DECLS
