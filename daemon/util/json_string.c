#include "util/json_string.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* What a terminal obeys is escaped, though JSON asks it only of what is below U+0020. @at: of valid UTF-8, where the
 * controls from U+0080 to U+009F are two bytes. */
static gboolean
stands_as_it_is(const guint8 *at)
{
  if (G_UNLIKELY(*at == 0xC2))
    return at[1] >= 0xA0;
  return *at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7F;
}

static void
append_escape(TideBuffer *out, guint8 byte)
{
  static const char hex[] = "0123456789abcdef";
  static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* a byte and its letter, in turn */
  for (gsize i = 0; short_forms[i] != '\0'; i += 2) {
    if (byte != (guint8)short_forms[i])
      continue;
    tide_buffer_append(out, (const char[]){'\\', short_forms[i + 1]}, 2);
    return;
  }
  tide_buffer_append(out, (const char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 0xf]}, 6);
}

/* @text: valid UTF-8 */
static void
append_characters(TideBuffer *out, const guint8 *text, gsize len)
{
  gsize done = 0;
  for (gsize i = 0; i < len; i++) {
    if (G_LIKELY(stands_as_it_is(text + i)))
      continue;
    tide_buffer_append(out, text + done, i - done);
    if (text[i] == 0xC2)
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
  while (rest > 0) {
    const char *end = at;
    g_utf8_validate_len(at, rest, &end);
    gsize valid = (gsize)(end - at);
    append_characters(out, (const guint8 *)at, valid);
    at = end;
    rest -= valid;
    if (rest == 0)
      break;
    /* A NUL is UTF-8, but g_utf8_validate_len() takes none. */
    if (*at == '\0')
      append_escape(out, 0);
    else
      tide_buffer_append(out, REPLACEMENT, sizeof REPLACEMENT - 1);
    at++;
    rest--;
  }
  tide_buffer_append_byte(out, '"');
}
