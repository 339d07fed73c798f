/* Writes a field's value into a key in each form, and reads it back. */
#define _GNU_SOURCE /* memmem */
#include "model/key/key_part.h"

#define LEAST_SIGNED(n_bytes) (-((__int128)1 << (8 * (n_bytes)-1)))

const TideKeyFormTraits tide_key_forms[] = {
    [TIDE_KEY_TEXT] = {.name = "text"},
    [TIDE_KEY_INT8] = {"int8", 1, TRUE, LEAST_SIGNED(1)},
    [TIDE_KEY_INT16] = {"int16", 2, TRUE, LEAST_SIGNED(2)},
    [TIDE_KEY_INT32] = {"int32", 4, TRUE, LEAST_SIGNED(4)},
    [TIDE_KEY_INT64] = {"int64", 8, TRUE, LEAST_SIGNED(8)},
    [TIDE_KEY_UINT8] = {"uint8", 1, TRUE, 0},
    [TIDE_KEY_UINT16] = {"uint16", 2, TRUE, 0},
    [TIDE_KEY_UINT32] = {"uint32", 4, TRUE, 0},
    [TIDE_KEY_UINT64] = {"uint64", 8, TRUE, 0},
    [TIDE_KEY_FLOAT32] = {"float32", 4, FALSE, 0},
    [TIDE_KEY_FLOAT64] = {"float64", 8, FALSE, 0},
};

/* Whether @text consists only of spaces and @byte. */
static gboolean
is_blank(TideBytes text, guint8 byte)
{
  for (gsize i = 0; i < text.len; i++)
    if (text.data[i] != ' ' && text.data[i] != byte)
      return FALSE;
  return TRUE;
}

/* Whether @text followed by @delimiter contains @delimiter too early: "xa" followed by "aa" contains "aa" one byte
 * early. */
static gboolean
hides_delimiter(TideBytes text, TideBytes delimiter)
{
  if (delimiter.len == 0)
    return FALSE;
  if (delimiter.len == 1)
    return memchr(text.data, delimiter.data[0], text.len) != NULL;
  if (memmem(text.data, text.len, delimiter.data, delimiter.len) != NULL)
    return TRUE;
  for (gsize overlap = 1; overlap < delimiter.len && overlap <= text.len; overlap++) {
    const guint8 *tail = text.data + text.len - overlap;
    gsize rest = delimiter.len - overlap;
    if (memcmp(tail, delimiter.data, overlap) == 0 && memcmp(delimiter.data + overlap, delimiter.data, rest) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Why @value, whose case, spaces and length are as declared, is not allowed in a key; NULL: it is. */
static const char *
text_fault(const TideKeyPart *part, TideBytes value)
{
  if (value.len == 0)
    return "it is empty";
  if (is_blank(value, ' '))
    return "it is nothing but spaces";
  if (memchr(value.data, '\0', value.len) != NULL)
    return "it holds a NUL byte";
  if (part->fixed_bytes == 0)
    return NULL;
  if (value.len > part->fixed_bytes)
    return "it is longer than its width in the key";
  if (part->value.pad_byte != '0' && is_blank(value, part->value.pad_byte))
    return "it consists only of padding";
  /* ASCII padding has no meaning, because the compiler rejects letters and digits. A padding byte of UTF-8 would merge
   * with a character next to it. */
  if (part->value.pad_byte >= 0x80 && value.data[part->value.pad_left ? 0 : value.len - 1] == part->value.pad_byte)
    return "it begins or ends with the padding, so its end would be ambiguous";
  return NULL;
}

/* Reads an integer: an optional minus, then digits. */
static gboolean
split_integer(TideBytes text, gboolean *ret_is_negative, TideBytes *ret_digits)
{
  gboolean is_negative = text.len > 0 && text.data[0] == '-';
  TideBytes digits = tide_bytes(text.data + is_negative, text.len - (gsize)is_negative);
  for (gsize i = 0; i < digits.len; i++)
    if (!g_ascii_isdigit(digits.data[i]))
      return FALSE;
  *ret_is_negative = is_negative;
  *ret_digits = digits;
  return digits.len > 0;
}

const char *
tide_key_padded_number_fault(const TideKeyPart *part, TideBytes text)
{
  if (part->value.form != TIDE_KEY_TEXT || part->value.has_range || part->fixed_bytes == 0 ||
      part->value.pad_byte != '0')
    return NULL;
  for (gsize i = 0; i < text.len; i++)
    if (!g_ascii_isdigit(text.data[i]))
      return "a number padded with zeros must have only digits: with a sign, point or exponent after the padding it "
             "would neither be nor sort like a number";
  return NULL;
}

gboolean
tide_key_text_modulo(TideBytes text, guint32 modulo, guint32 *ret_rest)
{
  gboolean is_negative;
  TideBytes digits;
  if (!split_integer(text, &is_negative, &digits))
    return FALSE;
  guint64 rest = 0;
  for (gsize i = 0; i < digits.len; i++)
    rest = (rest * 10 + (guint64)(digits.data[i] - '0')) % modulo;
  *ret_rest = (guint32)(is_negative && rest > 0 ? modulo - rest : rest);
  return TRUE;
}

static const char *
read_integer(const TideKeyPart *part, TideBytes text, __int128 *ret_number)
{
  gboolean is_negative;
  TideBytes digits;
  if (!split_integer(text, &is_negative, &digits))
    return "it is not an integer";
  __int128 number = 0;
  for (gsize i = 0; i < digits.len && number <= G_MAXUINT64; i++) /* a number above 64 bits is outside every range */
    number = number * 10 + (digits.data[i] - '0');
  *ret_number = is_negative ? -number : number;
  if (*ret_number < part->value.least || *ret_number > part->value.greatest)
    return part->value.has_range ? "it is outside the declared range" : "it is too large or too small for its form";
  return NULL;
}

static void
append_integer_text(__int128 number, TideBuffer *out)
{
  char digits[24]; /* a 64-bit number has at most 20 digits and a sign */
  guint64 magnitude = (guint64)(number < 0 ? -number : number);
  int len = g_snprintf(digits, sizeof digits, "%s%" G_GUINT64_FORMAT, number < 0 ? "-" : "", magnitude);
  tide_buffer_append(out, digits, (gsize)len);
}

void
tide_key_spelling_append(const TideKeySpelling *spelling, TideBytes text, TideBuffer *out)
{
  gsize start = out->len;
  if (!spelling->strip_spaces) {
    tide_buffer_append_bytes(out, text);
  } else {
    guint8 *at = tide_buffer_reserve(out, text.len);
    for (gsize i = 0; i < text.len; i++)
      if (text.data[i] != ' ')
        *at++ = text.data[i];
    out->len = text.len > 0 ? (gsize)(at - out->data) : start;
  }
  if (spelling->text_case == TIDE_CASE_AS_IS)
    return;
  for (guint8 *at = out->data + start; at < out->data + out->len; at++)
    *at = (guint8)(spelling->text_case == TIDE_CASE_LOWER ? g_ascii_tolower((char)*at) : g_ascii_toupper((char)*at));
}

/* Pads the value at the end of @out, which begins at @start, to the width. */
static void
pad(const TideKeyPart *part, gsize start, TideBuffer *out)
{
  gsize len = out->len - start, n_pad = part->fixed_bytes - len;
  tide_buffer_reserve(out, n_pad);
  guint8 *at = out->data + start;
  if (part->value.pad_left && n_pad > 0)
    memmove(at + n_pad, at, len);
  memset(part->value.pad_left ? at : at + len, part->value.pad_byte, n_pad);
  out->len += n_pad;
}

static void
reverse(guint8 *bytes, gsize len)
{
  for (gsize i = 0; i < len / 2; i++) {
    guint8 byte = bytes[i];
    bytes[i] = bytes[len - 1 - i];
    bytes[len - 1 - i] = byte;
  }
}

/* Escapes keep the order. If s is the delimiter's first byte, each byte b up to s + 1 is written as s + 1, s + 1 + b.
 * So every byte of the value is above s, which ends it; s + 1 is below every byte that is written unchanged; and b
 * orders the escaped bytes. */
static void
escape(const TideKeyPart *part, gsize start, TideBuffer *out)
{
  guint8 mark = (guint8)(part->value.delimiter.data[0] + 1);
  gsize n_escapes = 0;
  for (gsize i = start; i < out->len; i++)
    n_escapes += out->data[i] <= mark;
  tide_buffer_reserve(out, n_escapes);
  gsize to = out->len + n_escapes, from = out->len;
  out->len = to;
  while (from > start && to > from) {
    guint8 byte = out->data[--from];
    gboolean is_escaped = byte <= mark;
    out->data[--to] = is_escaped ? (guint8)(mark + byte) : byte;
    if (is_escaped)
      out->data[--to] = mark;
  }
}

static gboolean
unescape(const TideKeyPart *part, gsize start, TideBuffer *out)
{
  guint8 mark = (guint8)(part->value.delimiter.data[0] + 1);
  gsize to = start;
  for (gsize from = start; from < out->len; from++, to++) {
    guint8 byte = out->data[from];
    if (byte == mark) {
      if (++from == out->len || out->data[from] < mark)
        return FALSE;
      byte = (guint8)(out->data[from] - mark);
    }
    out->data[to] = byte;
  }
  out->len = to;
  return TRUE;
}

/* Like append_text(), for text that is written unchanged. */
static const char *
append_plain(const TideKeyPart *part, TideBytes text, TideBuffer *out)
{
  const char *fault = text_fault(part, text);
  if (fault != NULL)
    return fault;
  if (hides_delimiter(text, part->value.delimiter))
    return "it contains the literal that follows it in the key";
  gsize n_pad = part->fixed_bytes > text.len ? part->fixed_bytes - text.len : 0;
  guint8 *at = tide_buffer_reserve(out, n_pad + text.len);
  if (n_pad > 0)
    memset(part->value.pad_left ? at : at + text.len, part->value.pad_byte, n_pad);
  memcpy(part->value.pad_left ? at + n_pad : at, text.data, text.len);
  out->len += n_pad + text.len;
  return NULL;
}

static const char *
append_text(const TideKeyPart *part, TideBytes text, TideBuffer *out)
{
  gsize start = out->len;
  const char *fault = NULL;
  __int128 number;
  if (!part->value.has_range)
    tide_key_spelling_append(&part->value.spelling, text, out);
  else if ((fault = read_integer(part, text, &number)) == NULL)
    append_integer_text(number, out);
  if (part->value.cut && out->len - start > part->fixed_bytes)
    out->len = start + part->fixed_bytes;
  if (fault == NULL)
    fault = text_fault(part, tide_bytes_from(tide_buffer_bytes(out), start));
  if (fault != NULL)
    return fault;
  if (part->fixed_bytes > 0)
    pad(part, start, out);
  if (part->value.text_reversed)
    reverse(out->data + start, out->len - start);
  if (part->value.escape)
    escape(part, start, out);
  else if (hides_delimiter(tide_bytes_from(tide_buffer_bytes(out), start), part->value.delimiter))
    return "it contains the literal that follows it in the key";
  return NULL;
}

const char *
tide_key_field_append(const TideKeyPart *part, TideBytes text, TideBuffer *out)
{
  if (text.len == 0)
    return "it is empty";
  if (part->value.is_plain)
    return append_plain(part, text, out);
  if (part->value.form == TIDE_KEY_TEXT)
    return append_text(part, text, out);
  if (!tide_key_part_is_integer(part))
    return tide_key_float_append(part, text, out);
  __int128 number;
  const char *fault = read_integer(part, text, &number);
  if (fault == NULL)
    tide_key_field_append_integer(part, number, out);
  return fault;
}

void
tide_key_field_append_integer(const TideKeyPart *part, __int128 number, TideBuffer *out)
{
  if (part->value.form != TIDE_KEY_TEXT) {
    tide_key_append_big_endian((guint64)(number - tide_key_forms[part->value.form].least), part->fixed_bytes, out);
    return;
  }
  gsize start = out->len;
  append_integer_text(number, out);
  pad(part, start, out);
  if (part->value.text_reversed)
    reverse(out->data + start, out->len - start);
}

static void
strip_padding(const TideKeyPart *part, gsize start, TideBuffer *out)
{
  gsize from = start;
  while (part->value.pad_left && from < out->len && out->data[from] == part->value.pad_byte)
    from++;
  while (!part->value.pad_left && out->len > from && out->data[out->len - 1] == part->value.pad_byte)
    out->len--;
  if (part->value.pad_byte == '0' && from > start && is_blank(tide_bytes_from(tide_buffer_bytes(out), from), ' '))
    from--; /* the number 0 */
  if (from == start)
    return;
  memmove(out->data + start, out->data + from, out->len - from);
  out->len -= from - start;
}

gboolean
tide_key_field_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out)
{
  for (gsize i = 0; i < part->value.n_defaults; i++) {
    if (tide_bytes_equal(part->value.defaults[i].bytes, bytes)) {
      tide_buffer_append_bytes(out, part->value.defaults[i].text);
      return TRUE;
    }
  }
  if (part->value.form != TIDE_KEY_TEXT && !tide_key_part_is_integer(part))
    return tide_key_float_read(part, bytes, out);
  if (part->value.form != TIDE_KEY_TEXT) {
    append_integer_text(tide_key_forms[part->value.form].least + (__int128)tide_key_read_big_endian(bytes), out);
    return TRUE;
  }
  gsize start = out->len;
  tide_buffer_append_bytes(out, bytes);
  if (part->value.escape && !unescape(part, start, out))
    return FALSE;
  if (part->value.text_reversed)
    reverse(out->data + start, out->len - start);
  if (part->fixed_bytes > 0)
    strip_padding(part, start, out);
  return out->len > start;
}
