#include "util/number_text.h"

#include <math.h>
#include <string.h>

static void
test_shortest_text_is_printed(void)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {0, "0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.005, "0.005"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e22, "1e+22"},
      {1e-5, "1e-05"},
      {600.55, "600.55"},
      {5e-324, "4.94065645841247e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {-0.0, "-0"},
      {0.0001, "0.0001"},
      {123456789012345678.0, "1.2345678901234568e+17"},
      {12345678901234567.0, "12345678901234568"},
      {1234567890123456.0, "1234567890123456"},
      {100000000000000, "100000000000000"},
      {1e15, "1e+15"},
      {99999999999.9999, "99999999999.9999"},
      {100000000000.0001, "100000000000.0001"},
      {99999999999.99998, "99999999999.99998"},
      {-100000000000, "-100000000000"},
      {12345678901.2345, "12345678901.2345"},
      {-20.5, "-20.5"},
      {0.00015, "0.00015"},
      {INFINITY, "inf"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    char text[TIDE_NUMBER_TEXT_BYTES];
    g_assert_cmpstr(tide_double_print(cases[i].value, text), ==, cases[i].text);
  }
}

static void
test_shortest_text_of_a_float(void)
{
  char text[TIDE_NUMBER_TEXT_BYTES];
  g_assert_cmpstr(tide_float_print(0.1f, text), ==, "0.1");
  g_assert_cmpstr(tide_float_print(16777216.0f, text), ==, "16777216");
  g_assert_cmpstr(tide_float_print(-0.33333334f, text), ==, "-0.33333334");
  g_assert_cmpstr(tide_float_print(3.4028235e38f, text), ==, "3.4028235e+38");
  g_assert_cmpstr(tide_float_print(-INFINITY, text), ==, "-inf");
}

static void
test_any_double_reads_back(void)
{
  for (int n = 0; n < 100000; n++) {
    guint64 bits = ((guint64)g_test_rand_int() << 32) | ((guint64)g_test_rand_int() & G_MAXUINT32);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
      continue;
    char text[TIDE_NUMBER_TEXT_BYTES];
    double back = g_ascii_strtod(tide_double_print(value, text), NULL);
    g_assert_true(memcmp(&back, &value, sizeof value) == 0);
  }
}

/* The text as it was made first, by trying precisions. */
static void
assert_as_tried(double value)
{
  char expected[TIDE_NUMBER_TEXT_BYTES], text[TIDE_NUMBER_TEXT_BYTES], format[] = "%.15g";
  if (!isfinite(value))
    return;
  do
    g_ascii_formatd(expected, sizeof expected, format, value);
  while (islessgreater(g_ascii_strtod(expected, NULL), value) && format[3]++ < '7');
  g_assert_cmpstr(tide_double_print(value, text), ==, expected);
}

static void
assert_float_as_tried(float value)
{
  char expected[TIDE_NUMBER_TEXT_BYTES], text[TIDE_NUMBER_TEXT_BYTES], format[] = "%.6g";
  if (!isfinite(value))
    return;
  do
    g_ascii_formatd(expected, sizeof expected, format, (double)value);
  while (islessgreater((float)g_ascii_strtod(expected, NULL), value) && format[2]++ < '9');
  g_assert_cmpstr(tide_float_print(value, text), ==, expected);
}

/* What is stored does not change with what prints it. */
static void
test_texts_are_those_of_trying(void)
{
  for (int exponent = -1075; exponent < 1025; exponent++) {
    double power = ldexp(1, exponent);
    assert_as_tried(power);
    assert_as_tried(-nextafter(power, 0));
    assert_as_tried(nextafter(power, G_MAXDOUBLE));
    assert_float_as_tried((float)power);
    assert_float_as_tried(nextafterf((float)power, 0));
  }
  assert_as_tried(-0.0);
  for (int n = 0; n < 10000; n++) {
    guint64 bits = ((guint64)g_test_rand_int() << 32) | ((guint64)g_test_rand_int() & G_MAXUINT32);
    double value, decimal = (double)(bits % 100000000) / pow(10, (double)(bits >> 60));
    float single;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &bits, sizeof single);
    assert_as_tried(value);
    assert_as_tried(decimal);
    assert_as_tried((double)(bits >> bits % 60));
    decimal = (double)(bits % G_GUINT64_CONSTANT(1000000000000000) >> bits % 50) / pow(10, (double)(bits >> 61));
    assert_as_tried(-decimal);
    assert_as_tried(nextafter(decimal, 0));
    assert_as_tried(nextafter(decimal, G_MAXDOUBLE));
    assert_float_as_tried(single);
    assert_float_as_tried((float)decimal);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/number-text/shortest", test_shortest_text_is_printed);
  g_test_add_func("/number-text/shortest-of-a-float", test_shortest_text_of_a_float);
  g_test_add_func("/number-text/any-double-reads-back", test_any_double_reads_back);
  g_test_add_func("/number-text/texts-are-those-of-trying", test_texts_are_those_of_trying);
  return g_test_run();
}
