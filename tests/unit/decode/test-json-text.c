/* Numbers, escapes and UTF-8 as RFC 8259 has them. */
#include "decode/json_text.h"

static void
test_number_ends_where_its_grammar_does(void)
{
  /* number, what follows it */
  static const char *const cases[][2] = {
      {"0", ""},
      {"-0", ""},
      {"7", ","},
      {"10", "}"},
      {"1.5", "]"},
      {"-1.50", " "},
      {"1e999", ""},
      {"1E+5", "x"},
      {"2e-7", ""},
      {"0.0", ".0"},
      {"1", "x"},
      {"0e0", ""},
      {"4.9e-324", ""},
      {"9007199254740993", ""},
      {"600", ",55"},
      {"9223372036854775808", ""},
      {"123456789012345678901234567890", ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(cases[i][0], cases[i][1], NULL);
    const guint8 *end = tide_json_number_end((const guint8 *)text);
    g_assert_nonnull(end);
    g_assert_cmpstr((const char *)end, ==, cases[i][1]);
  }
}

static void
test_what_is_no_number_is_refused(void)
{
  static const char *const cases[] = {"",         "-",         "+1",  "01",   "-01", "00",  ".5",          "5.",
                                      "1.e5",     "1e",        "1e+", "1.5e", "--1", "- 1", "NaN",         "nan",
                                      "Infinity", "-Infinity", "inf", "x",    "e5",  "-e5", "\xEF\xBC\x91"};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_null(tide_json_number_end((const guint8 *)cases[i]));
}

/* Against the grammar, over all texts of five bytes that matter and random ones up to ten. */
static void
assert_short_number(const char *text, gsize len)
{
  gboolean is_number = tide_json_number_end((const guint8 *)text) == (const guint8 *)text + len;
  gboolean is_usual = len >= 1 && len <= 8 && strcspn(text, "-eE") >= len;
  g_assert_cmpint(tide_json_is_short_number((const guint8 *)text, len), ==, is_number && is_usual);
}

static void
test_short_numbers_are_those_of_the_grammar(void)
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

static void
test_escapes_give_their_bytes_in_place_too(void)
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

static void
test_bad_escapes_are_refused_with_their_place(void)
{
  static const struct {
    const char *text;
    TideJsonEscape outcome;
    gsize offset;
  } cases[] = {
      {"\\x41", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"ab\\'", TIDE_JSON_ESCAPE_UNKNOWN, 2},
      {"\\", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"\\u", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"\\u004", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"\\n\\u00g1", TIDE_JSON_ESCAPE_UNKNOWN, 2},
      {"\\U0041", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"\\u+041", TIDE_JSON_ESCAPE_UNKNOWN, 0},
      {"\\uD800", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
      {"a\\uDC00", TIDE_JSON_ESCAPE_LONE_SURROGATE, 1},
      {"\\uD800\\uD800", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
      {"\\uD83D\\u0041", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
      {"\\uD83Dx\\uDE00", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
      {"\\uD83D\\uDE0", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
      {"\\uD83D\\n", TIDE_JSON_ESCAPE_LONE_SURROGATE, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gsize offset = 99;
    g_assert_cmpint(tide_json_unescape(tide_bytes_of_string(cases[i].text), NULL, &offset), ==, cases[i].outcome);
    g_assert_cmpuint(offset, ==, cases[i].offset);
  }
}

static void
test_utf8_fault_has_its_place(void)
{
  static const struct {
    TideBytes text;
    gssize offset;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), -1},
      {TIDE_BYTES_LITERAL("a\0\xC3\xA9\0"), -1},
      {TIDE_BYTES_LITERAL("\xF4\x8F\xBF\xBF"), -1},
      {TIDE_BYTES_LITERAL("a\xFF"), 1},
      {TIDE_BYTES_LITERAL("\0\0\x80"), 2},
      {TIDE_BYTES_LITERAL("ab\xC0\x80"), 2},       /* NUL written over-long */
      {TIDE_BYTES_LITERAL("ab\xE0\x80\xAF"), 2},   /* slash written over-long */
      {TIDE_BYTES_LITERAL("\xED\xA0\x80"), 0},     /* a surrogate */
      {TIDE_BYTES_LITERAL("\xF4\x90\x80\x80"), 0}, /* behind U+10FFFF */
      {TIDE_BYTES_LITERAL("abc\xE2\x82"), 3},      /* cut */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(tide_json_utf8_fault(cases[i].text), ==, cases[i].offset);
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/json-text/short-numbers-are-those-of-the-grammar", test_short_numbers_are_those_of_the_grammar);
  g_test_add_func("/json-text/number-ends-where-its-grammar-does", test_number_ends_where_its_grammar_does);
  g_test_add_func("/json-text/what-is-no-number-is-refused", test_what_is_no_number_is_refused);
  g_test_add_func("/json-text/escapes-give-their-bytes-in-place-too", test_escapes_give_their_bytes_in_place_too);
  g_test_add_func("/json-text/bad-escapes-are-refused-with-their-place", test_bad_escapes_are_refused_with_their_place);
  g_test_add_func("/json-text/utf8-fault-has-its-place", test_utf8_fault_has_its_place);
  return g_test_run();
}
