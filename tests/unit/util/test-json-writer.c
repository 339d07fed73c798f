#include "unit/assert_bytes.h"
#include "util/json_writer.h"

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

/* Each byte at each place of texts of each length up to three words, in memory that ends with the text. */
static void
test_plain_is_plain_wherever_it_stands(void)
{
  for (gsize len = 1; len <= 24; len++) {
    g_autofree guint8 *text = g_malloc(len);
    memset(text, '~', len);
    g_assert_true(tide_json_is_plain(tide_bytes(text, len)));
    for (gsize at = 0; at < len; at++) {
      for (guint byte = 0; byte <= G_MAXUINT8; byte++) {
        text[at] = (guint8)byte;
        gboolean is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        g_assert_cmpint(tide_json_is_plain(tide_bytes(text, len)), ==, is_plain);
      }
      text[at] = '~';
    }
  }
}

static void
test_commas_stand_between_values(void)
{
  g_auto(TideBuffer) out = {0};
  for (int line = 0; line < 2; line++) {
    tide_json_open(&out, NULL, '{');
    tide_json_open(&out, "none", '{');
    tide_json_close(&out, "}");
    tide_json_open(&out, "list", '[');
    tide_json_text(&out, NULL, "[");
    tide_json_number(&out, NULL, G_MININT64);
    tide_json_open(&out, NULL, '{');
    tide_json_bool(&out, "yes", TRUE);
    tide_json_bool(&out, "no", FALSE);
    tide_json_close(&out, "}");
    tide_json_open(&out, NULL, '[');
    tide_json_close(&out, "]]");
    tide_json_decimal(&out, "ratio", 2.0 / 3, 3);
    tide_json_significant(&out, "little", 1.25e-9);
    tide_json_significant(&out, "much", 1e9 + 1);
    tide_json_string(&out, "text", TIDE_BYTES_LITERAL("{\n"));
    tide_json_text(&out, "end", "");
    tide_json_close(&out, "}\n");
  }
#define LINE                                                                                                           \
  "{\"none\":{},\"list\":[\"[\",-9223372036854775808,{\"yes\":true,\"no\":false},[]],\"ratio\":0.667,"                 \
  "\"little\":1.25e-09,\"much\":1000000001,\"text\":\"{"                                                               \
  "\\n\","                                                                                                             \
  "\"end\":\"\"}\n"
  assert_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL(LINE LINE));
}

static void
test_bytes_are_hex_or_base64(void)
{
  g_auto(TideBuffer) out = {0};
  tide_json_open(&out, NULL, '{');
  tide_json_hex(&out, "hex", TIDE_BYTES_LITERAL("a\0\xff"));
  tide_json_hex(&out, "no_hex", TIDE_BYTES_EMPTY);
  tide_json_base64(&out, "base64", TRUE, TIDE_BYTES_LITERAL("a\0\xff\xfe"));
  tide_json_base64(&out, "empty", TRUE, TIDE_BYTES_EMPTY);
  tide_json_base64(&out, "null", FALSE, TIDE_BYTES_LITERAL("left out"));
  tide_json_close(&out, "}");
  assert_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("{\"hex\":\"6100ff\",\"no_hex\":\"\",\"base64\":"
                                                                 "\"YQD//g==\",\"empty\":\"\",\"null\":null}"));
}

static void
test_escapes_by_dead_letter_or_number(void)
{
  static const struct {
    gunichar c;
    TideJsonLetters dead_letters;
    const char *form;
  } cases[] = {
      {'"', TIDE_JSON_QUOTES, "\\\""},
      {'\n', TIDE_JSON_QUOTES, "\\u000a"},
      {'\t', TIDE_JSON_LINES, "\\t"},
      {'\b', TIDE_JSON_LINES, "\\u0008"},
      {'\b', TIDE_JSON_ALL_LETTERS, "\\b"},
      {'\r', TIDE_JSON_ALL_LETTERS, "\\r"},
      {0x202e, TIDE_JSON_LINES, "\\u202e"},
      {0xffff, TIDE_JSON_LINES, "\\uffff"},
      {0x10000, TIDE_JSON_LINES, "\\ud800\\udc00"},
      {0x10ffff, TIDE_JSON_LINES, "\\udbff\\udfff"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    char form[TIDE_JSON_ESCAPE_BYTES];
    gsize len = tide_json_escape(cases[i].c, cases[i].dead_letters, form);
    assert_bytes_equal(tide_bytes(form, len), tide_bytes_of_string(cases[i].form));
  }
}

static void
test_what_is_not_seen_is_escaped(void)
{
  static const char *const cases[][2] = {
      {"{\"a\":\"b\\n\\u001b\"}\n", "{\"a\":\"b\\n\\u001b\"}\n"},
      {"\"\u202e\u2028\u200b\ufeff\x7f\xc2\x9b\"", "\"\\u202e\\u2028\\u200b\\ufeff\\u007f\\u009b\""},
      {"\"\u00fc\u6e29\U0001F321\"", "\"\u00fc\u6e29\U0001F321\""},
      {"\"\U000E0041\"", "\"\\udb40\\udc41\""},
      {"\"\xff\"", "\"\ufffd\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) json = {0};
    tide_buffer_append_bytes(&json, tide_bytes_of_string(cases[i][0]));
    tide_json_escape_hidden(&json);
    assert_bytes_equal(tide_buffer_bytes(&json), tide_bytes_of_string(cases[i][1]));
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json-writer/strings-are-quoted-and-escaped", test_strings_are_quoted_and_escaped);
  g_test_add_func("/json-writer/plain-is-plain-wherever-it-stands", test_plain_is_plain_wherever_it_stands);
  g_test_add_func("/json-writer/commas-stand-between-values", test_commas_stand_between_values);
  g_test_add_func("/json-writer/bytes-are-hex-or-base64", test_bytes_are_hex_or_base64);
  g_test_add_func("/json-writer/escapes-by-dead-letter-or-number", test_escapes_by_dead_letter_or_number);
  g_test_add_func("/json-writer/E11-what-is-not-seen-is-escaped", test_what_is_not_seen_is_escaped);
  return g_test_run();
}
