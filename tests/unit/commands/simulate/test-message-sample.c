/* Messages after the operator's own: other times and measurements, and all else byte for byte. */
#include "commands/simulate/message_sample.h"

#include "unit/load_text.h"
#include "util/error.h"

#include <glib/gstdio.h>

#define TIME_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
                           "readings: { time: { field: \"meta/ts\", %s } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: \"meta/device\" }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n";

/* What becomes of @line. (transfer full) */
static char *
make(const char *time_format, const char *line, guint64 seed)
{
  g_autoptr(GString) text = g_string_new(yaml);
  g_string_replace(text, "%s", time_format, 1);
  g_autoptr(TideConfig) config = load_text(text->str);
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("tidemark-sample-XXXXXX", &path, NULL);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, line, -1, NULL));
  g_autoptr(GError) error = NULL;
  g_autoptr(TideMessageSample) sample = tide_message_sample_load(path, config, config->kafka.topics[0], &error);
  g_assert_no_error(error);
  g_unlink(path);
  g_auto(TideBuffer) out = {0};
  tide_message_sample_append(sample, 0, TIME_MS, seed, &out);
  return g_strndup((const char *)out.data, out.len);
}

static void
test_times(void)
{
  static const struct {
    const char *format;
    const char *line;
    const char *expected;
  } cases[] = {
      {"format: epoch_ms", "{\"meta\": {\"ts\": 1}}", "{\"meta\": {\"ts\": 1426535612045}}"},
      {"format: epoch_ms", "{\"meta\":{\"ts\":\"1\"}}", "{\"meta\":{\"ts\":\"1426535612045\"}}"},
      {"format: epoch_s", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":1426535612.045}}"},
      {"format: epoch_us", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":1426535612045000}}"},
      {"format: epoch_ns", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":1426535612045000000}}"},
      {"format: rfc3339", "{\"meta\":{\"ts\":\"x\"}}", "{\"meta\":{\"ts\":\"2015-03-16T19:53:32.045Z\"}}"},
      {"format: pattern, pattern: \"yyyy-MM-dd HH:mm:ss\", zone: UTC", "{\"meta\":{\"ts\":\"x\"}}",
       "{\"meta\":{\"ts\":\"2015-03-16 19:53:32\"}}"},
      {"format: epoch_ms", "[{\"meta\":{\"ts\":1},\"a\":\"1\"},{\"meta\":{\"ts\":2}}]",
       "[{\"meta\":{\"ts\":1426535612045},\"a\":\"1\"},{\"meta\":{\"ts\":1426535612045}}]"},
      /* another field of that name, texts, keys, words and what is no JSON stay */
      {"format: epoch_ms", "{\"ts\":\"a\\\"b, {\",\"meta\":{\"device\":17,\"x\":{\"ts\":true}},\"n\":null,\"e\":1e3}",
       "{\"ts\":\"a\\\"b, {\",\"meta\":{\"device\":17,\"x\":{\"ts\":true}},\"n\":null,\"e\":1e3}"},
      {"format: epoch_ms", "}]{\"a", "}]{\"a"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *made = make(cases[i].format, cases[i].line, 1);
    g_assert_cmpstr(made, ==, cases[i].expected);
  }
}

static void
test_numbers(void)
{
  g_autofree char *one = make("format: epoch_ms", "{\"v\":-20.00,\"n\":[1000,0]}", 1);
  g_autofree char *same = make("format: epoch_ms", "{\"v\":-20.00,\"n\":[1000,0]}", 1);
  g_autofree char *other = make("format: epoch_ms", "{\"v\":-20.00,\"n\":[1000,0]}", 2);
  g_assert_cmpstr(one, ==, same);
  g_assert_cmpstr(one, !=, other);
  double value = 0;
  int number = 0, nothing = -1;
  g_assert_cmpint(sscanf(one, "{\"v\":%lf,\"n\":[%d,%d]}", &value, &number, &nothing), ==, 3);
  g_assert_true(value > -22.01 && value < -17.99);
  g_assert_cmpint(number, >=, 900);
  g_assert_cmpint(number, <=, 1100);
  g_assert_cmpint(nothing, ==, 0);
  g_assert_cmpint(strchr(one, ',') - strchr(one, '.'), ==, 3); /* two digits behind the point */
}

/* Whatever it is, it ends, and reads nothing beyond. */
static void
test_damaged(void)
{
  static const char bytes[] = "{}[]\",:\\ 1.-ets0\xff";
  for (guint round = 0; round < 300; round++) {
    char line[41];
    gsize len = (gsize)g_test_rand_int_range(1, 41);
    for (gsize i = 0; i < len; i++)
      line[i] = bytes[g_test_rand_int_range(0, sizeof bytes - 1)];
    line[len] = '\0';
    g_autofree char *made = make("format: epoch_ms", line, round);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/message-sample/U6/times-are-written-as-they-are-read", test_times);
  g_test_add_func("/message-sample/U6/numbers-stay-near", test_numbers);
  g_test_add_func("/message-sample/U6/damaged-lines-do-no-harm", test_damaged);
  return g_test_run();
}
