/* Writes strings of JSON. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/**
 * tide_json_string_append: append @text as a JSON string (RFC 8259), its quotes included.
 * Only what must be escaped is: quotes, backslashes and control characters, those up to U+009F with them. A byte that
 * belongs to no UTF-8 character, for which JSON has no place, is written as U+FFFD. Threads: any. Allocates: only by
 * growing @out.
 */
void tide_json_string_append(TideBuffer *out, TideBytes text);

G_END_DECLS
