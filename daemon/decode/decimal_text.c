#include "decode/decimal_text.h"

/* The largest numbers with TIDE_NUMBER_MAX_BYTES digits and a sign need fewer bytes. */
#define DECIMAL_MAX_BYTES 27

gboolean
tide_decimal_of_digits(char room[TIDE_NUMBER_MAX_BYTES], gboolean is_negative, const char *digits, gsize n,
                       guint32 scale, TideBytes *ret_text)
{
  gsize n_whole = n > scale ? n - scale : 0, len = 0;
  if ((is_negative ? 1 : 0) + MAX(n_whole, 1) + (scale > 0 ? 1 : 0) + scale > TIDE_NUMBER_MAX_BYTES)
    return FALSE;
  if (is_negative)
    room[len++] = '-';
  if (n_whole == 0)
    room[len++] = '0';
  memcpy(room + len, digits, n_whole);
  len += n_whole;
  if (scale > 0) {
    gsize n_zeros = n > scale ? 0 : scale - n;
    room[len++] = '.';
    memset(room + len, '0', n_zeros);
    memcpy(room + len + n_zeros, digits + n_whole, n - n_whole);
    len += scale;
  }
  *ret_text = tide_bytes(room, len);
  return TRUE;
}

gboolean
tide_decimal_of_bytes(char room[TIDE_NUMBER_MAX_BYTES], TideBytes bytes, guint32 scale, TideBytes *ret_text)
{
  guint8 magnitude[DECIMAL_MAX_BYTES];
  char digits[TIDE_NUMBER_MAX_BYTES + 2], *end = digits + sizeof digits, *at = end;
  gboolean is_negative = bytes.len > 0 && bytes.data[0] >= 0x80, is_zero;
  guint carry = is_negative ? 1 : 0;
  /* Skip bytes that only repeat the sign. */
  while (bytes.len > 1 && bytes.data[0] == (is_negative ? 0xFF : 0) && (bytes.data[1] >= 0x80) == is_negative)
    bytes = tide_bytes_from(bytes, 1);
  if (bytes.len > DECIMAL_MAX_BYTES)
    return FALSE;
  for (gsize i = bytes.len; i-- > 0;) {
    guint byte = (is_negative ? (guint)(guint8)~bytes.data[i] : bytes.data[i]) + carry;
    magnitude[i] = (guint8)byte;
    carry = byte >> 8;
  }
  /* The carry passes the first byte only if all bytes are 0, and 0 is not negative. */
  do {
    guint rest = 0;
    is_zero = TRUE;
    for (gsize i = 0; i < bytes.len; i++) {
      guint part = rest << 8 | magnitude[i];
      magnitude[i] = (guint8)(part / 10);
      rest = part % 10;
      is_zero = is_zero && magnitude[i] == 0;
    }
    *--at = (char)('0' + rest);
  } while (!is_zero);
  return tide_decimal_of_digits(room, is_negative, at, (gsize)(end - at), scale, ret_text);
}
