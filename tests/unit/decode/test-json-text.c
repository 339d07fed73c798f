/* Short numbers and escapes as RFC 8259 has them; what is none is in test-decoder.c. */
#include "decode/json_text.h"

#include "unit/test_case.h"

/* Against the grammar, over all texts of five bytes that matter and random ones up to ten. */
static void
assert_short_number(const char *text, gsize len)
{
  gboolean is_number = tide_json_number_end((const guint8 *)text) == (const guint8 *)text + len;
  gboolean is_usual = len >= 1 && len <= 8 && strcspn(text, "-eE") >= len;
  g_assert_cmpint(tide_json_is_short_number((const guint8 *)text, len), ==, is_number && is_usual);
}

TEST("/json-text/short-numbers-are-those-of-the-grammar")
{
  static const char bytes[] = "0189.-e,\xFA/:x";
  for (guint i = 0; i < 12 * 12 * 12 * 12 * 12; i++) {
    char text[17] = "               x";
    for (guint k = 0, left = i; k < 5; k++, left /= 12)
      text[k] = bytes[left % 12];
    for (gsize len = 0; len <= 5; len++) {
      char after = text[len];
      text[len] = ' ';
      assert_short_number(text, len);
      text[len] = after;
    }
  }
  for (guint i = 0; i < 200000; i++) {
    char text[17] = "               x";
    gsize len = (gsize)g_test_rand_int_range(0, 11);
    for (gsize k = 0; k < len; k++)
      text[k] = g_test_rand_int_range(0, 12) > 0 ? (char)g_test_rand_int_range('0', '9' + 1)
                                                 : bytes[g_test_rand_int_range(0, 12)];
    if (g_test_rand_bit())
      text[g_test_rand_int_range(0, 8)] = '.';
    text[len] = ' ';
    assert_short_number(text, len);
  }
}

static void
assert_unescaped(TideBytes escaped, TideBytes plain)
{
  g_autofree guint8 *out = g_malloc(escaped.len + 1);
  gsize len = 0, checked_len = 0;
  g_assert_cmpint(tide_json_unescape(escaped, out, &len), ==, TIDE_JSON_ESCAPE_OK);
  g_assert_true(tide_bytes_equal(tide_bytes(out, len), plain));
  g_assert_cmpint(tide_json_unescape(escaped, NULL, &checked_len), ==, TIDE_JSON_ESCAPE_OK);
  g_assert_cmpuint(checked_len, ==, len);

  memcpy(out, escaped.data, escaped.len);
  g_assert_cmpint(tide_json_unescape(tide_bytes(out, escaped.len), out, &len), ==, TIDE_JSON_ESCAPE_OK);
  g_assert_true(tide_bytes_equal(tide_bytes(out, len), plain));
}

TEST("/json-text/escapes-give-their-bytes-in-place-too")
{
  static const struct {
    TideBytes escaped, plain;
  } cases[] = {
      {TIDE_BYTES_LITERAL("plain"), TIDE_BYTES_LITERAL("plain")},
      {TIDE_BYTES_LITERAL("\\\"\\\\\\/"), TIDE_BYTES_LITERAL("\"\\/")},
      {TIDE_BYTES_LITERAL("\\b\\f\\n\\r\\t"), TIDE_BYTES_LITERAL("\b\f\n\r\t")},
      {TIDE_BYTES_LITERAL("a\\u0000b"), TIDE_BYTES_LITERAL("a\0b")},
      {TIDE_BYTES_LITERAL("\\u0041\\u00e9\\u20AC"), TIDE_BYTES_LITERAL("A\xC3\xA9\xE2\x82\xAC")},
      {TIDE_BYTES_LITERAL("\\uD83D\\uDE00!"), TIDE_BYTES_LITERAL("\xF0\x9F\x98\x80!")},
      {TIDE_BYTES_LITERAL("\\ud800\\udc00"), TIDE_BYTES_LITERAL("\xF0\x90\x80\x80")},
      {TIDE_BYTES_LITERAL("\\uDBFF\\uDFFF"), TIDE_BYTES_LITERAL("\xF4\x8F\xBF\xBF")},
      {TIDE_BYTES_LITERAL("\\uFFFF\\uE000\\uD7FF"), TIDE_BYTES_LITERAL("\xEF\xBF\xBF\xEE\x80\x80\xED\x9F\xBF")},
      {TIDE_BYTES_LITERAL("\xC3\xA9\\u00e9\xC3\xA9"), TIDE_BYTES_LITERAL("\xC3\xA9\xC3\xA9\xC3\xA9")},
      {TIDE_BYTES_LITERAL("\\\\u0041"), TIDE_BYTES_LITERAL("\\u0041")},
      {TIDE_BYTES_LITERAL(""), TIDE_BYTES_LITERAL("")},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_unescaped(cases[i].escaped, cases[i].plain);
}
