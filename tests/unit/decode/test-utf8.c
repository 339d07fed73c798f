#include "decode/utf8.h"

#include "unit/test_case.h"

#define MAX_BYTES 80u

/* A text of @len bytes that has @bytes from @place on. */
static gboolean
is_valid_with(gsize len, gsize place, const char *bytes)
{
  g_autofree guint8 *text = g_malloc(len); /* of this length, so that a sanitizer sees who reads on */
  memset(text, 'a', len);
  memcpy(text + place, bytes, strlen(bytes));
  return tide_utf8_is_valid(text, len);
}

TEST("/utf8/each-byte-counts-at-each-length")
{
  g_assert_true(tide_utf8_is_valid(NULL, 0));
  for (gsize len = 1; len <= MAX_BYTES; len++)
    for (gsize place = 0; place < len; place++) {
      g_assert_true(is_valid_with(len, place, "\x7F"));
      g_assert_false(is_valid_with(len, place, "\x80"));
      g_assert_false(is_valid_with(len, place, "\xC3"));
      if (place + 1 < len)
        g_assert_true(is_valid_with(len, place, "\xC3\xA9"));
    }
}
