/* A line of a configuration as it may be shown: without what is, or may be, a secret. */
#pragma once

#include <glib.h>

/**
 * tide_masked_line: line @line (from 1) of @source, as valid UTF-8, with *** for values below the names of secrets, in
 * whatever form YAML lets them be written, for keys in PEM form, for users and queries in addresses, for a user that
 * has a password behind a colon, and for a text that is all there is in @source. Where @source is no YAML from some
 * place on, all behind a name there that sounds like a secret's is hidden.
 * Returns: (transfer full) (nullable): NULL: @source has no such line.
 */
char *tide_masked_line(const char *source, guint line);
