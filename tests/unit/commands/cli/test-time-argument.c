/* Moments, durations, ages and counts as people write and read them. */
#include "commands/cli/time_argument.h"

#include "unit/test_case.h"

#define NOW_NS G_GINT64_CONSTANT(1795236300000000000) /* 2026-11-21T04:45:00Z */
#define NS_PER_S G_GINT64_CONSTANT(1000000000)

TEST("/time-argument/moments-are-read")
{
  static const struct {
    const char *text;
    gint64 ns;
  } cases[] = {
      {"now", NOW_NS},
      {"-15m", NOW_NS - 15 * 60 * NS_PER_S},
      {"+1h", NOW_NS + 3600 * NS_PER_S},
      {"-500ms", NOW_NS - NS_PER_S / 2},
      {"-0s", NOW_NS},
      {"1426535612045", G_GINT64_CONSTANT(1426535612045000000)},
      {"0", 0},
      {"1970-01-02", 86400 * NS_PER_S},
      {"2026-11-21T04:45:00Z", NOW_NS},
      {"2026-11-21T05:45:00.250+01:00", NOW_NS + NS_PER_S / 4},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 ns = -1;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_time_argument_parse(cases[i].text, NOW_NS, &ns, &error));
    g_assert_no_error(error);
    g_assert_cmpint(ns, ==, cases[i].ns);
  }
}

TEST("/time-argument/what-is-no-moment-is-refused")
{
  static const struct {
    const char *text;
    const char *message;
  } cases[] = {
      {"", "must be now, -15m"},
      {"yesterday", "must be now, -15m"},
      {"2026-13-01", "must be now, -15m"},
      {"2026-11-21T04:45:00", "must be now, -15m"}, /* whose four o'clock? */
      {"-15", "must have a unit"},
      {"-", "must be a duration"},
      {"--15m", "must be a duration"},
      {"-99999999999d", "is too far from now"},
      {"-99999999999999d", "must be a duration"},
      {"99999999999999999", "is too large for epoch milliseconds"},
      {"9999-01-01", "must be now, -15m"}, /* nanoseconds end in 2262 */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 ns = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_time_argument_parse(cases[i].text, NOW_NS, &ns, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    if (!g_str_has_prefix(error->message, cases[i].message))
      g_error("'%s': %s", cases[i].text, error->message);
  }
}

TEST("/time-argument/times-are-shown-in-utc-with-milliseconds")
{
  static const struct {
    gint64 ms;
    const char *text;
  } cases[] = {
      {1426535612045, "2015-03-16T19:53:32.045Z"},
      {0, "1970-01-01T00:00:00.000Z"},
      {-1, "1969-12-31T23:59:59.999Z"},
      {G_MAXINT64, "9223372036854775807"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_time_text(cases[i].ms);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

TEST("/time-argument/an-option-left-out-changes-nothing-and-a-wrong-one-is-named")
{
  gint64 ns = 7;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_time_option_parse("from", NULL, 0, &ns, &error));
  g_assert_cmpint(ns, ==, 7);
  g_assert_true(tide_time_option_parse("from", "1500", 0, &ns, &error));
  g_assert_cmpint(ns, ==, 1500000000);
  g_assert_false(tide_time_option_parse("from", "x", 0, &ns, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  g_assert_true(g_str_has_prefix(error->message, "'--from' "));
}
