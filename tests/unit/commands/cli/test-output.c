/* What reaches standard output, whatever a sensor sent: terminals, CSV and JSON each get what is safe there. */
#include "commands/cli/output.h"
#include "unit/assert_bytes.h"
#include "unit/test_case.h"

TEST("/output/nothing-but-printable-text-reaches-a-terminal")
{
  static const struct {
    TideBytes bytes;
    const char *text;
  } cases[] = {
      {{(const guint8 *)"", 0}, ""},
      {{NULL, 0}, ""},
      {{(const guint8 *)"plain 0.02", 10}, "plain 0.02"},
      {{(const guint8 *)"20 \xc2\xb0"
                        "C",
        6},
       "20 \xc2\xb0"
       "C"},
      {{(const guint8 *)"a\\b", 3}, "a\\x5Cb"},
      {{(const guint8 *)"\x1b[31mred", 8}, "\\x1B[31mred"},
      {{(const guint8 *)"line\r\n\t", 7}, "line\\x0D\\x0A\\x09"},
      {{(const guint8 *)"nul\0in", 6}, "nul\\x00in"},
      {{(const guint8 *)"\x00\x00\x01\xff", 4}, "\\x00\\x00\\x01\\xFF"},
      {{(const guint8 *)"cut\xe2\x82", 5}, "cut\\xE2\\x82"},          /* half a character */
      {{(const guint8 *)"\xed\xa0\x80", 3}, "\\xED\\xA0\\x80"},       /* a surrogate */
      {{(const guint8 *)"\xe2\x80\xaetxt", 6}, "\\xE2\\x80\\xAEtxt"}, /* right-to-left override */
      {{(const guint8 *)"\xe2\x80\xa8", 3}, "\\xE2\\x80\\xA8"},       /* line separator */
      {{(const guint8 *)"\xc2\x9b"
                        "31m",
        5},
       "\\xC2\\x9B31m"}, /* C1: the one-byte CSI */
      {{(const guint8 *)"\x7f", 1}, "\\x7F"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_text_printable(cases[i].bytes);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* Random bytes shown and taken back are the same bytes: a key that was printed can be given again. */
TEST("/output/what-was-printed-can-be-given-again")
{
  for (int round = 0; round < 2000; round++) {
    guint8 bytes[12];
    gsize len = (gsize)g_test_rand_int_range(0, (int)sizeof bytes + 1);
    for (gsize i = 0; i < len; i++)
      bytes[i] = (guint8)g_test_rand_int_range(0, 256);
    g_autofree char *text = tide_text_printable(tide_bytes(bytes, len));
    g_auto(TideBuffer) back = {0};
    tide_text_unescape(text, &back);
    assert_bytes_equal(tide_bytes(back.data, back.len), tide_bytes(bytes, len));
  }
}

TEST("/output/other-backslashes-stay")
{
  g_auto(TideBuffer) out = {0};
  tide_text_unescape("a\\x4\\y\\", &out);
  assert_bytes_equal(tide_bytes(out.data, out.len), tide_bytes("a\\x4\\y\\", 7));
}

TEST("/output/csv-fields-are-quoted-where-needed")
{
  static const struct {
    const char *field;
    const char *text;
  } cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"a,b", "\"a,b\""},
      {"say \"hi\"", "\"say \"\"hi\"\"\""},
      {"two\nlines", "\"two\nlines\""},
      {"two\rlines", "\"two\rlines\""},
      {" padded", "\" padded\""},
      {"padded ", "\"padded \""},
      {"in side", "in side"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) text = {0};
    tide_csv_append(&text, cases[i].field);
    tide_buffer_append_byte(&text, 0);
    g_assert_cmpstr((const char *)text.data, ==, cases[i].text);
  }
}

TEST("/output/json-strings-are-valid-for-any-bytes")
{
  static const struct {
    TideBytes bytes;
    const char *text;
  } cases[] = {
      {{(const guint8 *)"", 0}, "\"\""},
      {{(const guint8 *)"a\"b\\c/d", 7}, "\"a\\\"b\\\\c/d\""},
      {{(const guint8 *)"\n\t\x1b\x7f", 4}, "\"\\n\\t\\u001b\\u007f\""},
      {{(const guint8 *)"nul\0in", 6}, "\"nul\\u0000in\""},
      {{(const guint8 *)"20 \xc2\xb0", 5}, "\"20 \xc2\xb0\""},
      {{(const guint8 *)"\x00\xff", 2}, "\"\\\\x00\\\\xFF\""},
      {{(const guint8 *)"H9 \xc2\x9b\x33m", 7}, "\"H9 \\u009b3m\""},
      {{(const guint8 *)"H9 \xc2\x80 \xc2\x9f \xc2\xa0", 11}, "\"H9 \\u0080 \\u009f \xc2\xa0\""},
      {{(const guint8 *)"H9 \xe2\x80\xae \xe2\x80\xa8", 10}, "\"H9 \\u202e \\u2028\""},
      {{(const guint8 *)"H9 \xf3\xa0\x80\x81 \xf0\x9f\x8c\x8a", 12}, "\"H9 \\udb40\\udc01 \xf0\x9f\x8c\x8a\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) text = {0};
    tide_json_shown_append(&text, cases[i].bytes);
    assert_bytes_equal(tide_buffer_bytes(&text), tide_bytes_of_string(cases[i].text));
  }
}

TEST("/output/json-has-hex-beside-what-is-no-text")
{
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '[');
  tide_json_shown(&text, NULL, TIDE_BYTES_LITERAL("\xff"));
  tide_json_open(&text, NULL, '{');
  tide_json_shown_text(&text, "value", "0.02");
  tide_json_shown(&text, "bytes", TIDE_BYTES_LITERAL("\xff"));
  tide_json_shown_and_hex(&text, "row", TIDE_BYTES_LITERAL("a"));
  static const char expected[] =
      "[\"\\\\xFF\",{\"value\":\"0.02\",\"bytes\":\"\\\\xFF\",\"bytes_hex\":\"ff\",\"row\":\"a\",\"row_hex\":\"61\"";
  assert_bytes_equal(tide_buffer_bytes(&text), tide_bytes_of_string(expected));
}

TEST("/output/widths-are-those-of-a-terminal")
{
  g_assert_cmpuint(tide_text_width("abc"), ==, 3);
  g_assert_cmpuint(tide_text_width("20 \xc2\xb0"
                                   "C"),
                   ==, 5);
  g_assert_cmpuint(tide_text_width("\xe6\xb8\xa9"), ==, 2); /* wide */
  g_assert_cmpuint(tide_text_width("e\xcc\x81"), ==, 1);    /* a combining mark */
}

/* A name of a file, or what a server answers, ends no line and turns no colour on. */
TEST("/output/E10-a-line-stays-one")
{
  if (g_test_subprocess()) {
    tide_say("tidemark load: '%s'", "a\n2026-07-26T00:00:00Z crit x\r\x1b[31m\u202e\u2028\xff");
    return;
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_passed();
  g_test_trap_assert_stderr("*tidemark load: 'a\\x0A2026-07-26T00:00:00Z crit "
                            "x\\x0D\\x1B[31m\\xE2\\x80\\xAE\\xE2\\x80\\xA8\\xFF'\n*");
}
