#include "util/json_string.h"

static void
test_strings_are_quoted_and_escaped(void)
{
  static const struct {
    TideBytes text;
    const char *expected;
  } cases[] = {
      {{NULL, 0}, "\"\""},
      {TIDE_BYTES_LITERAL("plain /text"), "\"plain /text\""},
      {TIDE_BYTES_LITERAL("\"a\\b\""), "\"\\\"a\\\\b\\\"\""},
      {TIDE_BYTES_LITERAL("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
      {TIDE_BYTES_LITERAL("\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\""},
      {TIDE_BYTES_LITERAL("H9 \xC2\x9B\x33m \xC2\x80\xC2\x9F\xC2\xA0"), "\"H9 \\u009b3m \\u0080\\u009f\xC2\xA0\""},
      {TIDE_BYTES_LITERAL("a\0b"), "\"a\\u0000b\""},
      {TIDE_BYTES_LITERAL("\xC3\xA9\xF0\x9F\x8C\x8A"), "\"\xC3\xA9\xF0\x9F\x8C\x8A\""},
      {TIDE_BYTES_LITERAL("a\xFFz"), "\"a\xEF\xBF\xBDz\""},
      {TIDE_BYTES_LITERAL("\xC3"), "\"\xEF\xBF\xBD\""},
      {TIDE_BYTES_LITERAL("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* half of a surrogate pair */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0};
    tide_buffer_append_byte(&out, ':');
    tide_json_string_append(&out, cases[i].text);
    tide_buffer_append_byte(&out, '\0');
    g_assert_cmpstr((const char *)out.data + 1, ==, cases[i].expected);
    g_assert_cmpuint(out.len, ==, strlen(cases[i].expected) + 2);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json-string/strings-are-quoted-and-escaped", test_strings_are_quoted_and_escaped);
  return g_test_run();
}
