#include "write/named_row.h"

#include <string.h>

/* What stands before a quoted cell: ROW/FAMILY:QUALIFIER/TIME/..., bytes as Bytes.toStringBinary() writes them. */
static const char *const introductions[] = {"Cell[", "Timestamp for KV out of range "};

/* Where @text goes on behind @key; NULL: it begins otherwise. */
static const char *
skip_key(const char *text, TideBytes key)
{
  static const char digits[] = "0123456789ABCDEF";
  for (gsize i = 0; i < key.len; i++) {
    guint8 byte = key.data[i];
    const char escaped[] = {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    gboolean is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\';
    if (is_plain ? *text != (char)byte : strncmp(text, escaped, sizeof escaped) != 0)
      return NULL;
    text += is_plain ? 1 : sizeof escaped;
  }
  return text;
}

gboolean
tide_text_names_row(const char *text, TideBytes key)
{
  for (gsize i = 0; i < G_N_ELEMENTS(introductions); i++)
    for (const char *at = text; (at = strstr(at, introductions[i])) != NULL;) {
      at += strlen(introductions[i]);
      const char *behind = skip_key(at, key);
      if (behind != NULL && *behind == '/')
        return TRUE;
    }
  return FALSE;
}

/* Whether the first cell that @text quotes is said to be too large: what stands behind a quoted cell may be of its row
 * key, and so anything. */
static gboolean
is_of_size(const char *text)
{
  const char *size = strstr(text, "Cell"), *time = strstr(text, introductions[1]);
  return time == NULL || (size != NULL && size < time);
}

gsize
tide_text_cell_limit(const char *text)
{
  static const char introduction[] = " exceeds limit of ";
  gsize limit_bytes = 0;
  const char *at = is_of_size(text) ? text : "";
  while ((at = strstr(at, introduction)) != NULL) { /* what is quoted stands before it */
    char *end;
    at += strlen(introduction);
    guint64 bytes = g_ascii_strtoull(at, &end, 10);
    limit_bytes = g_ascii_isdigit(*at) && g_str_has_prefix(end, " bytes") ? (gsize)bytes : limit_bytes;
  }
  return limit_bytes;
}
