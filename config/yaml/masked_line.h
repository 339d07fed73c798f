/* A line of a configuration in a form that can be shown: without secrets and probable secrets. */
#pragma once

#include <glib.h>

/**
 * tide_masked_line: line @line (from 1) of @source, as valid UTF-8. *** replaces: values below the names of secrets, in
 * every form of YAML; private keys in PEM form; users and queries in addresses; a user with a password after a colon;
 * and a text that is all of @source. If @source stops being YAML, everything after a name that sounds like a secret is
 * masked from there on. Returns: (transfer full) (nullable): NULL: @source has no such line.
 */
char *tide_masked_line(const char *source, guint line);
