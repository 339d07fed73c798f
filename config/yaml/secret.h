/* Which values of the file are secrets, never to be shown. */
#pragma once

#include <glib.h>

/* TRUE when the value of the librdkafka property @name must never be shown. librdkafka's own list leaves out
 * sasl.oauthbearer.client.secret, and its dump prints passwords, so this project keeps its own. */
gboolean tide_secret_is_name(const char *name);

/* Where in @line what must not be shown begins (behind the name of a secret and its colon), or NULL. */
const char *tide_secret_find_value(const char *line);
