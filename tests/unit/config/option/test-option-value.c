#include "config/option/nearest_name.h"
#include "config/option/option_value.h"
#include "util/error.h"

static void
test_durations(void)
{
  static const struct {
    const char *text;
    gint64 ms;
    const char *written;
  } good[] = {
      {"500ms", 500, "500ms"},    {"10s", 10000, "10s"},
      {"5m", 300000, "5m"},       {"1h", 3600000, "1h"},
      {"30d", 2592000000, "30d"}, {"60s", 60000, "1m"},
      {"90s", 90000, "90s"},      {"0s", 0, "0s"},
      {"10 s", 10000, "10s"},     {"106751991167d", 9223372036828800000, "106751991167d"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    gint64 ms = -1;
    g_assert_true(tide_duration_parse(good[i].text, 0, 0, &ms, NULL));
    g_assert_cmpint(ms, ==, good[i].ms);
    g_autofree char *written = tide_duration_format(ms);
    g_assert_cmpstr(written, ==, good[i].written);
  }
}

static void
test_bad_durations(void)
{
  static const char *const bad[] = {"",     "s",          "-1s",
                                    "1.5s", "10 parsecs", "10S",
                                    "1w",   "1h30m",      "s10",
                                    "+5s",  "10sx",       "99999999999999999999s",
                                    "0x5s", "1e3s",       "9223372036854775807s"};

  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    gint64 ms = 77;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_duration_parse(bad[i], 0, 0, &ms, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_cmpint(ms, ==, 77);
  }
}

static void
test_number_without_unit_is_refused_with_a_hint(void)
{
  static const struct {
    const char *text;
    gint64 default_ms;
    gint64 max_ms;
    const char *units;
  } cases[] = {
      {"45", 0, 0, "'45s' or '45ms'"},
      {"45", 0, 86400000, "'45s' or '45ms'"},
      {"45", 0, G_MAXINT64, "'45d' or '45h'"},
      {"45", 50, 60000, "'45ms' or '45s'"},
      {"45", 1000, 60000, "'45s' or '45ms'"},
      {"1000", 1000, 60000, "'1000ms' or '1000s'"},
      {"45", 60000, 86400000, "'45s' or '45ms'"},
      {"45", 600000, G_MAXINT64, "'45m' or '45s'"},
      {"599", 600000, G_MAXINT64, "'599m' or '599s'"},
      {"600", 600000, G_MAXINT64, "'600s' or '600m'"},
      {"3", 7200000, G_MAXINT64, "'3h' or '3m'"},
      {"3", 3 * G_GINT64_CONSTANT(86400000), G_MAXINT64, "'3d' or '3h'"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 ms = 77;
    g_autoptr(GError) error = NULL;
    g_autofree char *message = g_strconcat("must have a unit (ms, s, m, h, d): ", cases[i].units, NULL);
    g_assert_false(tide_duration_parse(cases[i].text, cases[i].default_ms, cases[i].max_ms, &ms, &error));
    g_assert_cmpstr(error->message, ==, message);
    g_assert_cmpint(ms, ==, 77);
  }
}

static void
test_sizes(void)
{
  static const struct {
    const char *text;
    guint64 bytes;
    const char *written;
  } good[] = {
      {"1MiB", 1048576, "1MiB"},       {"64KiB", 65536, "64KiB"},       {"2GiB", 2147483648, "2GiB"},
      {"1000000", 1000000, "1000000"}, {"1536KiB", 1572864, "1536KiB"}, {"0", 0, "0"},
  };
  static const char *const bad[] = {"", "1MB", "1M", "-1", "1.5MiB", "MiB", "1mib", "17179869184GiB", "1 Mi B"};

  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    guint64 bytes = 0;
    g_assert_true(tide_size_parse(good[i].text, &bytes, NULL));
    g_assert_cmpuint(bytes, ==, good[i].bytes);
    g_autofree char *written = tide_size_format(bytes);
    g_assert_cmpstr(written, ==, good[i].written);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    guint64 bytes = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_size_parse(bad[i], &bytes, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  }
}

/* What was most likely meant by a unit that is not ours; NULL: nothing. */
static void
test_meant_sizes(void)
{
  static const struct {
    const char *text, *meant;
  } cases[] = {{"32MB", "'32MiB'"}, {"200kB", "'200KiB'"}, {"200 kb", "'200KiB'"},   {"2g", "'2GiB'"},
               {"1mib", "'1MiB'"},  {"64K", "'64KiB'"},    {"17179869184GiB", NULL}, {"1MiBs", NULL},
               {"1 Mi B", NULL},    {"MB", NULL},          {"1.5MB", NULL},          {"1TB", NULL}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint64 bytes = 0;
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_size_parse(cases[i].text, &bytes, &error));
    if (cases[i].meant == NULL)
      g_assert_true(g_str_has_prefix(error->message, "must be a size such as "));
    else
      g_assert_true(g_str_has_suffix(error->message, cases[i].meant));
  }
}

static void
test_numbers(void)
{
  static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "18446744073709551616", "one"};
  guint64 number = 0;

  g_assert_true(tide_number_parse("18446744073709551615", &number, NULL));
  g_assert_cmpuint(number, ==, G_MAXUINT64);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
    g_assert_false(tide_number_parse(bad[i], &number, NULL));
}

static void
test_times(void)
{
  static const struct {
    const char *text;
    gint64 epoch_ms;
    const char *written;
  } good[] = {
      {"2000-01-01", 946684800000, "2000-01-01"},
      {"2015-03-16T19:53:32Z", 1426535612000, "2015-03-16T19:53:32Z"},
      {"2015-03-16T20:53:32.045+01:00", 1426535612045, "2015-03-16T19:53:32.045Z"},
      {"1970-01-01", 0, "1970-01-01"},
      {"1969-12-31T23:59:59.999Z", -1, "1969-12-31T23:59:59.999Z"},
  };
  static const char *const bad[] = {"",
                                    "now",
                                    "2000",
                                    "2000-13-01",
                                    "2000-02-30",
                                    "20000101",
                                    "2000-W01-1",
                                    "2000-01-01T00:00:00",
                                    "2000-01-01 x",
                                    "2000-01-01T25:00:00Z",
                                    "1426535612045"};

  for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
    gint64 epoch_ms = 0;
    g_assert_true(tide_epoch_parse(good[i].text, &epoch_ms, NULL));
    g_assert_cmpint(epoch_ms, ==, good[i].epoch_ms);
    g_autofree char *written = tide_epoch_format(epoch_ms);
    g_assert_cmpstr(written, ==, good[i].written);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    gint64 epoch_ms = 0;
    g_assert_false(tide_epoch_parse(bad[i], &epoch_ms, NULL));
  }
}

static void
test_nearest_names(void)
{
  static const char *const names[] = {"threads", "topics", "brokers", "start", "commit_interval", "as", NULL};
  static const struct {
    const char *typed;
    const char *meant; /* NULL: nothing is near */
  } cases[] = {
      {"thread", "threads"},
      {"treads", "threads"},
      {"htreads", "threads"},
      {"topic", "topics"},
      {"broker", "brokers"},
      {"strat", "start"},
      {"commit-interval", "commit_interval"},
      {"commitinterval", "commit_interval"},
      {"writers", NULL},
      {"", NULL},
      {"x", NULL},
      {"sa", "as"},
      {"a_very_long_name_that_is_longer_than_any_that_could_be_meant_by_a_typing_mistake", NULL},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpstr(tide_nearest_name(cases[i].typed, names), ==, cases[i].meant);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/value/durations", test_durations);
  g_test_add_func("/value/bad-durations-are-refused", test_bad_durations);
  g_test_add_func("/value/number-without-unit-is-refused-with-a-hint", test_number_without_unit_is_refused_with_a_hint);
  g_test_add_func("/value/sizes", test_sizes);
  g_test_add_func("/value/sizes-in-other-units-are-proposed-in-ours", test_meant_sizes);
  g_test_add_func("/value/numbers", test_numbers);
  g_test_add_func("/value/times", test_times);
  g_test_add_func("/value/nearest-names", test_nearest_names);
  return g_test_run();
}
