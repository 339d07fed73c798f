#include "util/bytes.h"

/* First allocation of a buffer: two doublings below the smallest chunk of a batch (1 KiB). */
#define FIRST_CAPACITY_BYTES 256

int
tide_bytes_compare(TideBytes a, TideBytes b)
{
  gsize shorter = MIN(a.len, b.len);
  int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;
  if (order != 0)
    return order;
  return a.len < b.len ? -1 : a.len > b.len;
}

char *
tide_bytes_printable(TideBytes bytes)
{
  static const char digits[] = "0123456789ABCDEF";
  char *text = g_malloc(bytes.len * 4 + 1), *at = text;
  for (gsize i = 0; i < bytes.len; i++) {
    guint8 byte = bytes.data[i];
    if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
      *at++ = (char)byte;
      continue;
    }
    *at++ = '\\';
    *at++ = 'x';
    *at++ = digits[byte >> 4];
    *at++ = digits[byte & 15];
  }
  *at = '\0';
  return text;
}

char *
tide_bytes_hex(TideBytes bytes)
{
  TideBuffer text = {0};
  tide_bytes_append_hex(bytes, &text);
  tide_buffer_append_byte(&text, '\0');
  return (char *)text.data;
}

void
tide_bytes_append_hex(TideBytes bytes, TideBuffer *out)
{
  static const char digits[] = "0123456789abcdef";
  guint8 *text = tide_buffer_reserve(out, bytes.len * 2);
  for (gsize i = 0; i < bytes.len; i++) {
    text[2 * i] = (guint8)digits[bytes.data[i] >> 4];
    text[2 * i + 1] = (guint8)digits[bytes.data[i] & 15];
  }
  out->len += bytes.len * 2;
}

void
tide_buffer_clear_memory(TideBuffer *buffer)
{
  g_free(buffer->data);
  *buffer = (TideBuffer){0};
}

void
tide_buffer_grow(TideBuffer *buffer, gsize more_bytes)
{
  gsize needed = buffer->len + more_bytes;
  gsize capacity = MAX(buffer->capacity, FIRST_CAPACITY_BYTES);
  while (capacity < needed)
    capacity *= 2;
  buffer->data = g_realloc(buffer->data, capacity);
  buffer->capacity = capacity;
}

gboolean
tide_bytes_from_hex(const char *digits, gsize len, TideBuffer *out)
{
  gsize len_before = out->len;
  for (gsize i = 0; i + 1 < len && g_ascii_isxdigit(digits[i]) && g_ascii_isxdigit(digits[i + 1]); i += 2)
    tide_buffer_append_byte(out, (guint8)(g_ascii_xdigit_value(digits[i]) << 4 | g_ascii_xdigit_value(digits[i + 1])));
  if ((out->len - len_before) * 2 == len)
    return TRUE;
  out->len = len_before;
  return FALSE;
}
