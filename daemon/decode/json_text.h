/* The small grammars inside of a JSON text: numbers, escapes, and what is wrong with a text that has no
 * tokens. */
#pragma once

#include "model/reject.h"

G_BEGIN_DECLS

/**
 * tide_json_number_end: the end of the number that begins at @text, or NULL when none does (RFC 8259, section
 * 6: no leading zeros or plus, digits on both sides of the point; NaN and Infinity are not numbers).
 * @text: must be followed by some byte that belongs to no number
 */
const guint8 *tide_json_number_end(const guint8 *text);

typedef enum TideJsonEscape {
  TIDE_JSON_ESCAPE_OK,
  TIDE_JSON_ESCAPE_UNKNOWN,        /* a backslash before a byte that means nothing after it */
  TIDE_JSON_ESCAPE_LONE_SURROGATE, /* half of a character: there is no UTF-8 for it */
} TideJsonEscape;

/**
 * tide_json_unescape: the bytes that a string stands for.
 * @text: between the quotes; valid UTF-8
 * @out: where to write, at most as many bytes as @text has; may be @text itself; NULL only checks
 * @ret_len: bytes written, or the place of the escape that is wrong
 */
TideJsonEscape tide_json_unescape(TideBytes text, guint8 *out, gsize *ret_len) G_GNUC_WARN_UNUSED_RESULT;

/* Where @text stops being UTF-8; -1 when it does not. NUL bytes are UTF-8 here. */
gssize tide_json_utf8_fault(TideBytes text);

/* Why @text has no tokens: fills reason, byte_position and detail of @ret_reject. Slow, for faults only. */
void tide_json_text_fault(TideBytes text, TideReject *ret_reject);

G_END_DECLS
