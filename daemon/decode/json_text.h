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

/* The end of NaN, Inf or Infinity at @text, with a sign or without, in letters of any case; NULL when it is none of these,
 * which JSON has not, but some senders write. @text: as above */
const guint8 *tide_not_finite_end(const guint8 *text);

/* Whether the @len bytes at @text are a number of the usual kind: at most eight digits with a point or without.
 * FALSE: it may still be one. @text: 8 bytes can be read */
static inline gboolean
tide_json_is_short_number(const guint8 *text, gsize len)
{
  if (len - 1 >= sizeof(guint64)) /* 0, too */
    return FALSE;
  guint64 word = GUINT64_FROM_LE(tide_load_u64(text)) ^ G_GUINT64_CONSTANT(0x3030303030303030);
  /* In the high half of each byte: something, unless it is a digit, whose low half is below 10. A carry into the next
   * byte only makes less of it look like digits. */
  guint64 other = (word | (word + G_GUINT64_CONSTANT(0x0606060606060606))) & G_GUINT64_CONSTANT(0xF0F0F0F0F0F0F0F0);
  other &= ~(guint64)0 >> (8 * (sizeof other - len));
  if (other == 0)
    return len == 1 || text[0] != '0';
  gsize point = (gsize)__builtin_ctzll(other) / 8;
  /* Without branches: digits before the point are now one, now two. */
  return (text[point] == '.') & (point > 0) & (point + 1 < len) & ((point == 1) | (text[0] != '0')) &
         ((other >> (8 * point) >> 8) == 0);
}

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
