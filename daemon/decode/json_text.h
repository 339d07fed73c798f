/* Parses numbers and escapes of a JSON text, and finds the fault of a text that has no tokens. */
#pragma once

#include "model/reject.h"

G_BEGIN_DECLS

/**
 * tide_json_number_end: find the end of the number at the start of @text; NULL: there is no number (RFC 8259, section
 * 6: no leading zeros or plus, digits on both sides of the point; NaN and Infinity are not numbers).
 * @text: must be followed by a byte that cannot continue a number
 */
const guint8 *tide_json_number_end(const guint8 *text);

/* The end of NaN, Inf or Infinity at @text, signed or not, in upper or lower case; NULL: none of these. JSON does not
 * have them, but some senders write them. @text: as above */
const guint8 *tide_not_finite_end(const guint8 *text);

/* Whether the @len bytes at @text are a short number: at most eight digits, with or without a point. FALSE: they may be
 * a longer number. @text: 8 bytes are readable */
static inline gboolean
tide_json_is_short_number(const guint8 *text, gsize len)
{
  if (len - 1 >= sizeof(guint64)) /* also for 0 */
    return FALSE;
  guint64 word = GUINT64_FROM_LE(tide_load_u64(text)) ^ G_GUINT64_CONSTANT(0x3030303030303030);
  /* The high half of each byte is zero only for a digit. A carry into the next byte can only hide digits, not add
   * them. */
  guint64 other = (word | (word + G_GUINT64_CONSTANT(0x0606060606060606))) & G_GUINT64_CONSTANT(0xF0F0F0F0F0F0F0F0);
  other &= ~(guint64)0 >> (8 * (sizeof other - len));
  if (other == 0)
    return len == 1 || text[0] != '0';
  gsize point = (gsize)__builtin_ctzll(other) / 8;
  /* Branch-free, because the number of digits before the point varies. */
  return (text[point] == '.') & (point > 0) & (point + 1 < len) & ((point == 1) | (text[0] != '0')) &
         ((other >> (8 * point) >> 8) == 0);
}

typedef enum TideJsonEscape {
  TIDE_JSON_ESCAPE_OK,
  TIDE_JSON_ESCAPE_UNKNOWN,        /* a backslash before a byte that forms no escape */
  TIDE_JSON_ESCAPE_LONE_SURROGATE, /* half of a character, which has no UTF-8 */
} TideJsonEscape;

/**
 * tide_json_unescape: decode a string.
 * @text: between the quotes; valid UTF-8
 * @out: output, at most as many bytes as @text has; may be @text itself; NULL only checks
 * @ret_len: bytes written, or the offset of the invalid escape
 */
TideJsonEscape tide_json_unescape(TideBytes text, guint8 *out, gsize *ret_len) G_GNUC_WARN_UNUSED_RESULT;

/* The offset of the first byte of @text that is not UTF-8, or -1. NUL bytes are valid. */
gssize tide_json_utf8_fault(TideBytes text);

/* Fills reason, byte_position and detail of @ret_reject for a @text without tokens. Slow, for faults only. */
void tide_json_text_fault(TideBytes text, TideReject *ret_reject);

G_END_DECLS
