#include "util/json_writer.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

static void
append_text(TideBuffer *out, const char *text)
{
  tide_buffer_append_bytes(out, tide_bytes_of_string(text));
}

/* ---- strings ---- */

gsize
tide_json_escape(gunichar c, TideJsonLetters letters, char form[TIDE_JSON_ESCAPE_BYTES])
{
  static const char escaped[] = "\"\\\n\t\b\f\r";
  static const char letter_of[] = "\"\\ntbfr";
  for (gsize i = 0; i < (gsize)letters; i++) {
    if (c != (guint8)escaped[i])
      continue;
    form[0] = '\\';
    form[1] = letter_of[i];
    return 2;
  }
  if (c <= 0xFFFF)
    return (gsize)g_snprintf(form, TIDE_JSON_ESCAPE_BYTES, "\\u%04x", c);
  return (gsize)g_snprintf(form, TIDE_JSON_ESCAPE_BYTES, "\\u%04x\\u%04x", 0xD7C0 + (c >> 10), 0xDC00 + (c & 0x3FF));
}

static void
append_escape(TideBuffer *out, guint8 c)
{
  char form[TIDE_JSON_ESCAPE_BYTES];
  tide_buffer_append(out, form, tide_json_escape(c, TIDE_JSON_ALL_LETTERS, form));
}

/* Escapes characters that control a terminal, though JSON only requires that below U+0020. @text: valid UTF-8, where
 * the controls from U+0080 to U+009F have two bytes. */
static void
append_characters(TideBuffer *out, const guint8 *text, gsize len)
{
  gsize done = 0;
  for (gsize i = 0; i < len; i++) {
    gboolean is_c2 = text[i] == 0xC2;
    if (G_LIKELY(is_c2 ? text[i + 1] >= 0xA0 : text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' && text[i] != 0x7F))
      continue;
    tide_buffer_append(out, text + done, i - done);
    if (is_c2)
      i++; /* the second byte is the character's number */
    append_escape(out, text[i]);
    done = i + 1;
  }
  tide_buffer_append(out, text + done, len - done);
}

void
tide_json_string_append(TideBuffer *out, TideBytes text)
{
  const char *at = text.len > 0 ? (const char *)text.data : "";
  gsize rest = text.len;
  tide_buffer_append_byte(out, '"');
  if (tide_json_is_plain(text)) {
    tide_buffer_append(out, at, rest);
    rest = 0;
  }
  while (rest > 0) {
    const char *end = at;
    g_utf8_validate_len(at, rest, &end);
    gsize valid = (gsize)(end - at);
    append_characters(out, (const guint8 *)at, valid);
    at = end;
    rest -= valid;
    if (rest == 0)
      break;
    /* A NUL is valid UTF-8, but g_utf8_validate_len() rejects it. */
    if (*at == '\0')
      append_escape(out, 0);
    else
      append_text(out, REPLACEMENT);
    at++;
    rest--;
  }
  tide_buffer_append_byte(out, '"');
}

gboolean
tide_text_shows(gunichar c)
{
  switch (g_unichar_type(c)) {
  case G_UNICODE_CONTROL:
  case G_UNICODE_FORMAT:
  case G_UNICODE_LINE_SEPARATOR:
  case G_UNICODE_PARAGRAPH_SEPARATOR:
  case G_UNICODE_SURROGATE:
    return FALSE;
  default:
    return TRUE;
  }
}

void
tide_json_escape_hidden(TideBuffer *json)
{
  g_auto(TideBuffer) text = {0};
  char form[TIDE_JSON_ESCAPE_BYTES];
  gsize len;
  for (gsize i = 0; i < json->len; i += len) {
    gunichar c = json->data[i] < 0x80
                     ? json->data[i]
                     : g_utf8_get_char_validated((const char *)json->data + i, (gssize)(json->len - i));
    gboolean is_text = c <= 0x10FFFF;
    len = is_text ? (gsize)g_utf8_skip[json->data[i]] : 1;
    if ((c < 0x80 && c != 0x7F) || (is_text && tide_text_shows(c)))
      tide_buffer_append(&text, json->data + i, len);
    else if (is_text)
      tide_buffer_append(&text, form, tide_json_escape(c, TIDE_JSON_QUOTES, form));
    else
      append_text(&text, REPLACEMENT);
  }
  TideBuffer before = *json;
  *json = text;
  text = before;
}

/* ---- values ---- */

void
tide_json_name(TideBuffer *out, const char *name)
{
  guint8 before = out->len > 0 ? out->data[out->len - 1] : '\n';
  gsize len = name != NULL ? strlen(name) : 0;
  guint8 *at = tide_buffer_reserve(out, len + 4);
  guint8 *begin = at;
  if (before != '{' && before != '[' && before != '\n')
    *at++ = ',';
  if (name != NULL) {
    *at++ = '"';
    tide_memory_copy(at, (const guint8 *)name, len);
    at += len;
    *at++ = '"';
    *at++ = ':';
  }
  out->len += (gsize)(at - begin);
}

void
tide_json_bool(TideBuffer *out, const char *name, gboolean value)
{
  tide_json_name(out, name);
  append_text(out, value ? "true" : "false");
}

void
tide_json_number(TideBuffer *out, const char *name, gint64 value)
{
  char text[20]; /* a 64-bit number with its sign */
  char *at = text + sizeof text;
  guint64 rest = value < 0 ? -(guint64)value : (guint64)value;
  do
    *--at = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (value < 0)
    *--at = '-';
  tide_json_name(out, name);
  tide_buffer_append(out, at, (gsize)(text + sizeof text - at));
}

void
tide_json_decimal(TideBuffer *out, const char *name, double value, int n_decimals)
{
  g_autofree char *text = g_strdup_printf("%.*f", n_decimals, value);
  tide_json_name(out, name);
  append_text(out, text);
}

void
tide_json_significant(TideBuffer *out, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  tide_json_name(out, name);
  append_text(out, g_ascii_formatd(text, sizeof text, "%.10g", value));
}

void
tide_json_string(TideBuffer *out, const char *name, TideBytes value)
{
  tide_json_name(out, name);
  tide_json_string_append(out, value);
}

void
tide_json_hex(TideBuffer *out, const char *name, TideBytes value)
{
  tide_json_name(out, name);
  tide_buffer_append_byte(out, '"');
  tide_bytes_append_hex(value, out);
  tide_buffer_append_byte(out, '"');
}

void
tide_json_base64(TideBuffer *out, const char *name, gboolean has_value, TideBytes value)
{
  tide_json_name(out, name);
  if (!has_value) {
    append_text(out, "null");
    return;
  }
  tide_buffer_append_byte(out, '"');
  gint state = 0, save = 0;
  char *to = (char *)tide_buffer_reserve(out, (value.len / 3 + 1) * 4 + 8);
  gsize n = value.len > 0 ? g_base64_encode_step(value.data, value.len, FALSE, to, &state, &save) : 0;
  out->len += n + g_base64_encode_close(FALSE, to + n, &state, &save);
  tide_buffer_append_byte(out, '"');
}
