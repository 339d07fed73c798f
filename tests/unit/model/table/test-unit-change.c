#include "model/table/unit_change.h"

/* What @text is in the other unit; NULL when it is refused. */
static char *
changed(const char *scale, const char *offset, const char *text, const char **ret_detail)
{
  TideUnitChange change;
  g_auto(TideBuffer) out = {0};
  g_assert_true(tide_unit_change_read(scale, &change.scale));
  g_assert_true(tide_unit_change_read(offset, &change.offset));
  tide_buffer_append_byte(&out, 'x');
  gboolean is_taken = tide_unit_change_apply(&change, tide_bytes_of_string(text), &out, ret_detail);
  g_assert_cmpuint(out.data[0], ==, 'x');
  if (!is_taken)
    g_assert_cmpuint(out.len, ==, 1);
  return is_taken ? g_strndup((const char *)out.data + 1, out.len - 1) : NULL;
}

#define NINES_32 "99999999999999999999999999999999"
#define NINES_64 NINES_32 NINES_32
#define ZEROS_32 "00000000000000000000000000000000"

static void
test_every_digit_is_right(void)
{
  static const struct {
    const char *scale, *offset, *text, *expected;
  } cases[] = {
      {"0.1", "0", "3", "0.3"}, /* in binary 0.30000000000000004 */
      {"1", "0.2", "0.1", "0.3"},
      {"0.001", "0", "230512", "230.512"},
      {"0.01", "-40", "6315", "23.15"},
      {"1", "-273.15", "273.15", "0"},
      {"1.8", "32", "-40", "-40"},
      {"-1", "0", "0", "0"},
      {"-1", "0", "-0.0", "0"},
      {"1", "0", "1e3", "1000"},
      {"1", "0", "1.500E-3", "0.0015"},
      {"1000", "0", "0.0010", "1"},
      {"1", "-1", "0.5", "-0.5"},
      {"1", "-100", "0.001", "-99.999"},
      {"1", "100", "-0.001", "99.999"},
      {"1", "1", "-1000", "-999"},
      {"1", "0", "007", "7"},
      {"1", "0", "+.5", "0.5"},
      {"1", "0", "5.", "5"},
      {"1", "0", "0e999999999999999999999", "0"},
      {"1", "0", NINES_64, NINES_64},
      {"1e-32", "0", NINES_64, NULL}, /* the point makes it 65 */
      {"1", "0", "1e63", "1" ZEROS_32 "0000000000000000000000000000000"},
      {"1", "0", "1e-62",
       "0." ZEROS_32 "00000000000000000000000000000"
       "1"},
      {NINES_32, "0", NINES_32, "9999999999999999999999999999999800000000000000000000000000000001"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *detail = NULL;
    g_test_message("%s * %s + %s", cases[i].text, cases[i].scale, cases[i].offset);
    g_autofree char *text = changed(cases[i].scale, cases[i].offset, cases[i].text, &detail);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void
test_what_is_no_number_is_refused(void)
{
  static const char *const texts[] = {"",    "-",   ".",  "x",  "1x",    "0x10", "1e",  "1e+",  "e5",   "NaN",
                                      "inf", "1,5", " 1", "1 ", "1.2.3", "--1",  "1_0", "true", "1e5.", NINES_64 "9"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    const char *detail = NULL;
    g_test_message("%s", texts[i]);
    g_assert_null(changed("1", "1", texts[i], &detail));
    g_assert_cmpstr(detail, ==, "not a decimal number, which 'scale' and 'offset' need");
  }
}

static void
test_what_does_not_fit_is_refused(void)
{
  static const char *const texts[] = {"1e64", "-1e63", "1e-63", "1e400", "1e-400", "1e99999999999", "1e-99999999999"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    const char *detail = NULL;
    g_test_message("%s", texts[i]);
    g_assert_null(changed("1", "0", texts[i], &detail));
    g_assert_cmpstr(detail, ==, "with 'scale' and 'offset' it has more than 64 characters");
  }
}

static void
test_a_change_is_bounded(void)
{
  TideDecimal decimal;
  g_assert_true(tide_unit_change_read(NINES_32, &decimal));
  g_assert_true(tide_unit_change_read("1e31", &decimal));
  g_assert_true(tide_unit_change_read("-1e-32", &decimal));
  g_assert_false(tide_unit_change_read("1e32", &decimal));
  g_assert_false(tide_unit_change_read("1e-33", &decimal));
  g_assert_false(tide_unit_change_read(NINES_32 "9", &decimal));
  g_assert_false(tide_unit_change_read("0." NINES_32 "9", &decimal));
  g_assert_false(tide_unit_change_read("a tenth", &decimal));
  g_assert_true(tide_unit_change_read("0.000", &decimal));
  g_assert_cmpuint(decimal.n_digits, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/unit-change/every-digit-is-right", test_every_digit_is_right);
  g_test_add_func("/unit-change/no-number", test_what_is_no_number_is_refused);
  g_test_add_func("/unit-change/does-not-fit", test_what_does_not_fit_is_refused);
  g_test_add_func("/unit-change/bounded", test_a_change_is_bounded);
  return g_test_run();
}
