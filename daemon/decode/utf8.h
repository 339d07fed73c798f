/* Whether bytes are UTF-8, at some gigabytes a second: simdjson's check, which the JSON index has built in. Where they
 * stop being it, tide_json_utf8_fault() finds. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NUL bytes are UTF-8 here. @text: may be NULL when @len is 0. Threads: any. */
gboolean tide_utf8_is_valid(const guint8 *text, gsize len);

G_END_DECLS
