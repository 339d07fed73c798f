#include "decode/json_text.h"

/* The bytes of "\uXXXX". */
#define UNICODE_ESCAPE_BYTES 6

static const guint8 *
digits_end(const guint8 *at)
{
  while (*at >= '0' && *at <= '9')
    at++;
  return at;
}

const guint8 *
tide_json_number_end(const guint8 *text)
{
  const guint8 *at = *text == '-' ? text + 1 : text;
  const guint8 *end = digits_end(at);
  if (end == at || (*at == '0' && end > at + 1))
    return NULL;
  at = end;
  if (*at == '.') {
    end = digits_end(at + 1);
    if (end == at + 1)
      return NULL;
    at = end;
  }
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-')
      at++;
    end = digits_end(at);
    if (end == at)
      return NULL;
    at = end;
  }
  return at;
}

const guint8 *
tide_not_finite_end(const guint8 *text)
{
  static const char *const words[] = {"nan", "infinity", "inf"};
  const guint8 *start = *text == '-' || *text == '+' ? text + 1 : text;
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    gsize len = 0;
    while (words[i][len] != '\0' && g_ascii_tolower((char)start[len]) == words[i][len])
      len++;
    if (words[i][len] == '\0')
      return start + len;
  }
  return NULL;
}

/* The code unit of the "\uXXXX" at @offset, or -1. */
static gint32
code_unit_at(TideBytes text, gsize offset)
{
  if (text.len - offset < UNICODE_ESCAPE_BYTES || text.data[offset] != '\\' || text.data[offset + 1] != 'u')
    return -1;
  gint32 unit = 0;
  for (gsize i = 2; i < UNICODE_ESCAPE_BYTES; i++) {
    int digit = g_ascii_xdigit_value((char)text.data[offset + i]);
    if (digit < 0)
      return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/* Decodes the "\uXXXX" at @*offset, and a second one if the first is half of a pair; moves @*offset after them. */
static TideJsonEscape
take_unicode(TideBytes text, gsize *offset, gunichar *ret_character)
{
  gint32 unit = code_unit_at(text, *offset);
  if (unit < 0)
    return TIDE_JSON_ESCAPE_UNKNOWN;
  if (unit >= 0xDC00 && unit <= 0xDFFF)
    return TIDE_JSON_ESCAPE_LONE_SURROGATE;
  gsize taken = UNICODE_ESCAPE_BYTES;
  gunichar character = (gunichar)unit;
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    gint32 low = code_unit_at(text, *offset + taken);
    if (low < 0xDC00 || low > 0xDFFF)
      return TIDE_JSON_ESCAPE_LONE_SURROGATE;
    taken += UNICODE_ESCAPE_BYTES;
    character = 0x10000 + (((gunichar)unit - 0xD800) << 10) + ((gunichar)low - 0xDC00);
  }
  *offset += taken;
  *ret_character = character;
  return TIDE_JSON_ESCAPE_OK;
}

/* Decodes the escape at @*offset and moves @*offset after it. */
static TideJsonEscape
take_escape(TideBytes text, gsize *offset, gunichar *ret_character)
{
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  guint8 letter = *offset + 1 < text.len ? text.data[*offset + 1] : 0;
  const char *simple = letter != 0 ? strchr(letters, letter) : NULL;
  if (simple == NULL)
    return take_unicode(text, offset, ret_character);
  *offset += 2;
  *ret_character = (gunichar)meanings[simple - letters];
  return TIDE_JSON_ESCAPE_OK;
}

TideJsonEscape
tide_json_unescape(TideBytes text, guint8 *out, gsize *ret_len)
{
  gsize offset = 0, len = 0;
  while (offset < text.len) {
    const guint8 *backslash = memchr(text.data + offset, '\\', text.len - offset);
    gsize run = backslash != NULL ? (gsize)(backslash - text.data) - offset : text.len - offset;
    if (out != NULL)
      memmove(out + len, text.data + offset, run);
    len += run;
    offset += run;
    if (backslash == NULL)
      break;

    gunichar character;
    TideJsonEscape outcome = take_escape(text, &offset, &character);
    if (outcome != TIDE_JSON_ESCAPE_OK) {
      *ret_len = offset;
      return outcome;
    }
    /* An escape is never shorter than its UTF-8: 6 bytes for at most 3, 12 for 4. */
    char utf8[6]; /* the room that g_unichar_to_utf8() needs */
    gsize utf8_len = (gsize)g_unichar_to_utf8(character, utf8);
    if (out != NULL)
      memcpy(out + len, utf8, utf8_len);
    len += utf8_len;
  }
  *ret_len = len;
  return TIDE_JSON_ESCAPE_OK;
}

gssize
tide_json_utf8_fault(TideBytes text)
{
  gsize checked = 0;
  while (checked < text.len) {
    const char *end;
    if (g_utf8_validate_len((const char *)text.data + checked, text.len - checked, &end))
      return -1;
    checked = (gsize)(end - (const char *)text.data);
    /* GLib also stops at NUL. */
    if (text.data[checked] != 0)
      return (gssize)checked;
    checked++;
  }
  return -1;
}

/* The offset of the first byte of @text that cannot be part of a token. */
static gsize
token_fault(TideBytes text, const char **ret_detail)
{
  gboolean in_string = FALSE;
  gsize opened = 0;
  for (gsize offset = 0; offset < text.len; offset++) {
    guint8 byte = text.data[offset];
    if (byte == '"') {
      in_string = !in_string;
      opened = offset;
    } else if (byte == '\\' && !in_string) {
      *ret_detail = "a backslash outside a string";
      return offset;
    } else if (byte == '\\') {
      offset++;
    } else if (in_string && byte < 0x20) {
      *ret_detail = "a control byte in a string";
      return offset;
    }
  }
  *ret_detail = "a string that does not end";
  return in_string ? opened : text.len;
}

void
tide_json_text_fault(TideBytes text, TideReject *ret_reject)
{
  gssize utf8_fault = tide_json_utf8_fault(text);
  if (utf8_fault >= 0) {
    ret_reject->reason = TIDE_REJECT_UTF8;
    ret_reject->byte_position = utf8_fault;
    return;
  }
  ret_reject->reason = TIDE_REJECT_PARSE;
  ret_reject->byte_position = (gint64)token_fault(text, &ret_reject->detail);
}
