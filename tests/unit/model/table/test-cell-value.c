#include "model/table/cell_value.h"

/* The value in hex; NULL when it is refused. */
static char *
encoded(TideEncoding encoding, TideValueKind kind, const char *text, const char **ret_detail)
{
  g_auto(TideBuffer) out = {0};
  TideField field = {.kind = kind, .text = tide_bytes_of_string(text)};
  tide_buffer_append_byte(&out, 0x77);
  if (!tide_cell_value_append(encoding, &field, &out, ret_detail)) {
    g_assert_cmpuint(out.len, ==, 1);
    return NULL;
  }
  return tide_bytes_hex(tide_bytes(out.data + 1, out.len - 1));
}

/* Expected bytes are those of Java's Bytes.toBytes(). */
static void
test_numbers_are_big_endian(void)
{
  static const struct {
    TideEncoding encoding;
    const char *text, *hex;
  } cases[] = {
      {TIDE_ENCODE_INT64, "0", "0000000000000000"},
      {TIDE_ENCODE_INT64, "-0", "0000000000000000"},
      {TIDE_ENCODE_INT64, "1426535612045", "0000014c2425fe8d"},
      {TIDE_ENCODE_INT64, "-1", "ffffffffffffffff"},
      {TIDE_ENCODE_INT64, "007", "0000000000000007"},
      {TIDE_ENCODE_INT64, "9223372036854775807", "7fffffffffffffff"},
      {TIDE_ENCODE_INT64, "-9223372036854775808", "8000000000000000"},
      {TIDE_ENCODE_FLOAT64, "0", "0000000000000000"},
      {TIDE_ENCODE_FLOAT64, "-0.0", "8000000000000000"},
      {TIDE_ENCODE_FLOAT64, "60.4", "404e333333333333"},
      {TIDE_ENCODE_FLOAT64, "-1e3", "c08f400000000000"},
      {TIDE_ENCODE_FLOAT64, "1E-2", "3f847ae147ae147b"},
      {TIDE_ENCODE_FLOAT64, "1.7976931348623157e308", "7fefffffffffffff"},
      {TIDE_ENCODE_FLOAT64, "9007199254740993", "4340000000000000"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_autofree char *number = encoded(cases[i].encoding, TIDE_VALUE_NUMBER, cases[i].text, &detail);
    g_autofree char *quoted = encoded(cases[i].encoding, TIDE_VALUE_STRING, cases[i].text, &detail);
    g_assert_cmpstr(number, ==, cases[i].hex);
    g_assert_cmpstr(quoted, ==, cases[i].hex);
  }
}

static void
test_what_is_no_number_is_refused(void)
{
  static const char *const no_integers[] = {"",
                                            "-",
                                            "600.550",
                                            "1e3",
                                            "5.0",
                                            "+5",
                                            "9223372036854775808",
                                            "-9223372036854775809",
                                            " 5",
                                            "0x10",
                                            "true",
                                            "99999999999999999999999"};
  static const char *const no_floats[] = {"",     "-",     ".5",  "+1", "1e999", "-1e999", "nan", "inf",
                                          "-inf", "0x1p3", "1,5", "1 ", "1.2.3", "1e",     "true"};
  const char *detail = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(no_integers); i++) {
    g_test_message("'%s'", no_integers[i]);
    g_assert_null(encoded(TIDE_ENCODE_INT64, TIDE_VALUE_STRING, no_integers[i], &detail));
    g_assert_cmpstr(detail, ==, "not an integer of 64 bits");
  }
  for (gsize i = 0; i < G_N_ELEMENTS(no_floats); i++) {
    g_test_message("'%s'", no_floats[i]);
    g_assert_null(encoded(TIDE_ENCODE_FLOAT64, TIDE_VALUE_STRING, no_floats[i], &detail));
    g_assert_cmpstr(detail, ==, "not a finite number");
  }
  g_autofree char *long_number = g_strnfill(401, '1');
  g_assert_null(encoded(TIDE_ENCODE_FLOAT64, TIDE_VALUE_STRING, long_number, &detail));
}

static void
test_json_keeps_kinds(void)
{
  static const struct {
    TideEncoding encoding;
    TideValueKind kind;
    const char *text, *value;
  } cases[] = {
      {TIDE_ENCODE_JSON, TIDE_VALUE_STRING, "say \"hi\"\n", "\"say \\\"hi\\\"\\n\""},
      {TIDE_ENCODE_JSON, TIDE_VALUE_STRING, "", "\"\""},
      {TIDE_ENCODE_JSON, TIDE_VALUE_NUMBER, "600.550", "600.550"},
      {TIDE_ENCODE_JSON, TIDE_VALUE_BOOL, "true", "true"},
      {TIDE_ENCODE_JSON, TIDE_VALUE_JSON, "[1, {\"a\":2}]", "[1, {\"a\":2}]"},
      {TIDE_ENCODE_TEXT, TIDE_VALUE_STRING, "say \"hi\"\n", "say \"hi\"\n"},
      {TIDE_ENCODE_TEXT, TIDE_VALUE_JSON, "[1, 2]", "[1, 2]"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_autofree char *hex = encoded(cases[i].encoding, cases[i].kind, cases[i].text, &detail);
    g_autofree char *expected = tide_bytes_hex(tide_bytes_of_string(cases[i].value));
    g_assert_cmpstr(hex, ==, expected);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cell-value/numbers-are-big-endian", test_numbers_are_big_endian);
  g_test_add_func("/cell-value/what-is-no-number-is-refused", test_what_is_no_number_is_refused);
  g_test_add_func("/cell-value/json-keeps-kinds", test_json_keeps_kinds);
  return g_test_run();
}
