#include "util/bytes.h"

/* The first allocation of a buffer: one cache line's worth of doublings below the smallest batch chunk (1
 * KiB). */
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

static void
put_hex(TideBytes bytes, char *text)
{
  static const char digits[] = "0123456789abcdef";
  for (gsize i = 0; i < bytes.len; i++) {
    text[2 * i] = digits[bytes.data[i] >> 4];
    text[2 * i + 1] = digits[bytes.data[i] & 15];
  }
}

char *
tide_bytes_hex(TideBytes bytes)
{
  char *text = g_malloc(bytes.len * 2 + 1);
  put_hex(bytes, text);
  text[bytes.len * 2] = '\0';
  return text;
}

void
tide_bytes_append_hex(TideBytes bytes, TideBuffer *out)
{
  put_hex(bytes, (char *)tide_buffer_reserve(out, bytes.len * 2));
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
