/* Checks UTF-8 at some gigabytes per second with simdjson, whose check is part of the JSON index.
 * tide_json_utf8_fault() finds the position of a fault. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

gboolean tide_utf8_is_valid_at_length(const guint8 *text, gsize len);

/* Whether it is short and ASCII only, like most names: this is faster than a call. */
static inline gboolean
tide_utf8_is_short_ascii(const guint8 *text, gsize len)
{
  guint64 all = 0;
  if (len > TIDE_SHORT_BYTES)
    return FALSE;
  if (len < sizeof(guint64)) {
    for (gsize i = 0; i < len; i++)
      all |= text[i];
    return (all & 0x80) == 0;
  }
  for (gsize i = 0; i + sizeof(guint64) < len; i += sizeof(guint64))
    all |= tide_load_u64(text + i);
  all |= tide_load_u64(text + len - sizeof(guint64));
  return (all & G_GUINT64_CONSTANT(0x8080808080808080)) == 0;
}

/* NUL bytes are valid UTF-8. @text: may be NULL when @len is 0. Threads: any. */
static inline gboolean
tide_utf8_is_valid(const guint8 *text, gsize len)
{
  return tide_utf8_is_short_ascii(text, len) || tide_utf8_is_valid_at_length(text, len);
}

G_END_DECLS
