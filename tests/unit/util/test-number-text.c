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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/number-text/shortest", test_shortest_text_is_printed);
  g_test_add_func("/number-text/shortest-of-a-float", test_shortest_text_of_a_float);
  g_test_add_func("/number-text/any-double-reads-back", test_any_double_reads_back);
  return g_test_run();
}
