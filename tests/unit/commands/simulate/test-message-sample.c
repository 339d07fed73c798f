/* Messages after the operator's own: other times and measurements, and all else byte for byte. */
#include "commands/simulate/message_sample.h"

#include "unit/assert_bytes.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <glib/gstdio.h>

#define TIME_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
                           "readings: { %s }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: \"meta/device\" }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n";

/* The sample of the file that holds @text. (transfer full) (nullable) */
static TideMessageSample *
load_bytes(const TideConfig *config, TideBytes text, GError **error)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("tidemark-sample-XXXXXX", &path, NULL);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, (const char *)text.data, (gssize)text.len, NULL));
  g_autoptr(GPtrArray) paths = g_ptr_array_new();
  g_ptr_array_add(paths, path);
  TideMessageSample *sample = tide_message_sample_load(paths, config, config->kafka.topics[0], error);
  g_unlink(path);
  return sample;
}

static TideMessageSample *
load(const TideConfig *config, const char *text, GError **error)
{
  return load_bytes(config, tide_bytes_of_string(text), error);
}

static TideConfig *
config_of(const char *readings)
{
  g_autoptr(GString) text = g_string_new(yaml);
  g_string_replace(text, "%s", readings, 1);
  return load_text(text->str);
}

/* What becomes of the last line of @text. (transfer full) */
static char *
make_of(const char *readings, const char *text, guint64 seed)
{
  g_autoptr(TideConfig) config = config_of(readings);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideMessageSample) sample = load(config, text, &error);
  g_assert_no_error(error);
  g_auto(TideBuffer) out = {0};
  tide_message_sample_append(sample, tide_message_sample_n_lines(sample) - 1, TIME_MS, seed, &out);
  return g_strndup((const char *)out.data, out.len);
}

/* The same of JSON. */
static char *
make(const char *time_format, const char *line, guint64 seed)
{
  g_autofree char *readings = g_strdup_printf("time: { field: \"meta/ts\", %s }", time_format);
  return make_of(readings, line, seed);
}

TEST("/message-sample/U6/times-are-written-as-they-are-read")
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
      {"format: pattern, pattern: \"EEE, d MMM yyyy h:mm[:ss[.f]] a XX\"", "{\"meta\":{\"ts\":\"x\"}}",
       "{\"meta\":{\"ts\":\"Mon, 16 Mar 2015 7:53:32.045 PM Z\"}}"},
      {"format: dotnet", "{\"meta\":{\"ts\":\"x\"}}", "{\"meta\":{\"ts\":\"/Date(1426535612045)/\"}}"},
      {"format: ticks", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":635621324120450000}}"},
      {"format: filetime", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":130710092120450000}}"},
      {"format: excel, zone: Asia/Kolkata", "{\"meta\":{\"ts\":1}}", "{\"meta\":{\"ts\":42080.0580097800}}"},
      {"format: epoch_ms, local: true, zone: Asia/Kolkata", "{\"meta\":{\"ts\":1}}",
       "{\"meta\":{\"ts\":1426555412045}}"},
      {"format: epoch_s, plus: { field: ns, unit: ns }", "{\"meta\":{\"ts\":1},\"ns\":7}",
       "{\"meta\":{\"ts\":1426535612},\"ns\":45000000}"},
      {"format: pattern, pattern: yyyyMMdd, zone: Asia/Kolkata, plus: { field: ms, unit: ms }",
       "{\"meta\":{\"ts\":\"x\"},\"ms\":7}", "{\"meta\":{\"ts\":\"20150317\"},\"ms\":5012045}"},
      {"format: epoch_ms", "[{\"meta\":{\"ts\":1},\"a\":\"1\"},{\"meta\":{\"ts\":2}}]",
       "[{\"meta\":{\"ts\":1426535612045},\"a\":\"1\"},{\"meta\":{\"ts\":1426535612045}}]"},
      /* another field of that name, texts, keys, words and what is no JSON stay */
      {"format: epoch_ms", "{\"ts\":\"a\\\"b, {\",\"meta\":{\"device\":17,\"x\":{\"ts\":true}},\"n\":null,\"e\":1e3}",
       "{\"ts\":\"a\\\"b, {\",\"meta\":{\"device\":17,\"x\":{\"ts\":true}},\"n\":null,\"e\":1e3}"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *made = make(cases[i].format, cases[i].line, 1);
    g_assert_cmpstr(made, ==, cases[i].expected);
  }
}

TEST("/message-sample/U6/numbers-stay-near")
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

#define TIMED "time: { field: ts, format: epoch_ms }"
#define CSV "format: csv, csv: { columns: [\"meta/device\", ts, v, w], delimiter: \";\" }, "

TEST("/message-sample/U6/every-format-of-text")
{
  static const struct {
    const char *readings;
    const char *text;
    const char *expected;
  } cases[] = {
      /* envelopes: what stands around a list is every reading's, and one place */
      {"root: payload, " TIMED, "{\"ts\":1,\"payload\":{\"ts\":2}}", "{\"ts\":1,\"payload\":{\"ts\":1426535612045}}"},
      {"each: list, " TIMED, "{\"ts\":1,\"list\":[{\"a\":\"x\"},{\"a\":\"y\"}]}",
       "{\"ts\":1426535612045,\"list\":[{\"a\":\"x\"},{\"a\":\"y\"}]}"},
      {"each: d/list, " TIMED, "{\"d\":[{\"list\":[{\"a\":\"x\"},{\"ts\":2}]},{\"list\":{\"ts\":3}}]}",
       "{\"d\":[{\"list\":[{\"a\":\"x\"},{\"ts\":1426535612045}]},{\"list\":{\"ts\":1426535612045}}]}"},
      {"each: \"d/{ts}\", " TIMED, "{\"d\":{\"5\":{\"a\":\"x\"}}}", "{\"d\":{\"1426535612045\":{\"a\":\"x\"}}}"},
      {"each: v, positions: [ts, a], " TIMED, "{\"v\":[[1,\"x\"],[2,\"y\"]]}",
       "{\"v\":[[1426535612045,\"x\"],[1426535612045,\"y\"]]}"},
      {"zip: true, " TIMED, "{\"ts\":[1,2],\"a\":[\"x\",\"y\"]}",
       "{\"ts\":[1426535612045,1426535612045],\"a\":[\"x\",\"y\"]}"},
      /* a mark of byte order is the file's */
      {TIMED, "\xEF\xBB\xBF{\"ts\":1}", "{\"ts\":1426535612045}"},
      /* the line's own time, in each unit; without one there is none; a comment is no message */
      {"format: influx", "m,host=a\\ b on=t,s=\"x \\\" y\" 1", "m,host=a\\ b on=t,s=\"x \\\" y\" 1426535612045000000"},
      {"format: influx, time: { format: epoch_us }", "m s=\"1\" 1", "m s=\"1\" 1426535612045000"},
      {"format: influx, time: { format: epoch_ms }", "m s=\"1\" 1", "m s=\"1\" 1426535612045"},
      {"format: influx, time: { format: epoch_s }", "m s=\"1\" 1", "m s=\"1\" 1426535612"},
      {"format: influx, time: { format: record }", "# m\n\nm s=\"1\"\n", "m s=\"1\""},
      {"format: influx, time: { field: at, format: rfc3339 }", "m at=\"x\" 7", "m at=\"2015-03-16T19:53:32.045Z\" 7"},
      {"format: influx, time: { field: at, format: epoch_s }", "m at=7i", "m at=1426535612i"},
      /* declared columns, a header, quotes and another delimiter */
      {CSV TIMED, "a;1;x;\"y;z\"", "a;1426535612045;x;\"y;z\""},
      {CSV "time: { field: ts, format: epoch_s }", "a;\"1\";;", "a;\"1426535612.045\";;"},
      {CSV
       "time: { field: ts, format: pattern, pattern: HHmm, zone: UTC, date: { field: w, pattern: \"yyyy-MM-dd\" } }",
       "a;x;;y", "a;1953;;2015-03-16"},
      {"format: csv, csv: { header: true }, " TIMED, "ts,s\n1,\"a,b\"\n2,c", "ts,s\n1426535612045,c"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *made = make_of(cases[i].readings, cases[i].text, 1);
    g_assert_cmpstr(made, ==, cases[i].expected);
  }
}

/* Integers stay such, and what stands in keys or conditions stays. */
TEST("/message-sample/U6/numbers-of-lines-stay-near")
{
  int count = 0;
  double value = 0;
  g_autofree char *line = make_of("format: influx", "m,meta/device=7 n=1000i,v=-20.00 1", 1);
  g_assert_cmpint(sscanf(line, "m,meta/device=7 n=%di,v=%lf 1426535612045000000", &count, &value), ==, 2);
  g_assert_cmpint(ABS(count - 1000), <=, 100);
  g_assert_true(value > -22.01 && value < -17.99);
  g_autofree char *row = make_of(CSV TIMED, "7;1;-20.00;1000", 1);
  g_assert_cmpint(sscanf(row, "7;1426535612045;%lf;%d", &value, &count), ==, 2);
  g_assert_true(value > -22.01 && value < -17.99);
  g_assert_cmpint(ABS(count - 1000), <=, 100);
  g_assert_cmpstr(row, !=, "7;1426535612045;-20.00;1000");
  int whole = 0, hundredths = 0;
  g_autofree char *comma = make_of("format: csv, csv: { columns: [\"meta/device\", ts, v, w], delimiter: \";\", "
                                   "decimal_comma: true }, " TIMED,
                                   "7;1;20,00;1000", 1);
  g_assert_cmpint(sscanf(comma, "7;1426535612045;%d,%2d;%d", &whole, &hundredths, &count), ==, 3);
  g_assert_cmpint(whole, >=, 18);
  g_assert_cmpint(whole, <=, 22);
  g_assert_null(strstr(comma, "20,00"));
}

TEST("/message-sample/U6/what-conditions-ask-for-stays")
{
  static const char text[] = "kafka: { brokers: \"b:1\", group: g }\nhbase: { gateways: [\"g:1\"] }\n"
                             "sources: { s: { topics: [t], when: { field: kind, equals: \"1000\" },"
                             " readings: { " TIMED " } } }\n"
                             "tables: { T: { key: [ { field: host } ], when: { field: sort, present: true },"
                             " columns: { family: M, from: \"*\" } } }\n";
  g_autoptr(TideConfig) config = load_text(text);
  g_autoptr(GError) error = NULL;
  static const char line[] = "{\"host\":1000,\"kind\":1000,\"sort\":1000,\"ts\":1426535612045}";
  g_autoptr(TideMessageSample) sample = load(config, line, &error);
  g_assert_no_error(error);
  g_auto(TideBuffer) out = {0};
  tide_message_sample_append(sample, 0, TIME_MS, 1, &out);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&out), tide_bytes_of_string(line)));
}

/* A time and a measurement of MessagePack, whose field of the key stays; each file is a machine. */
TEST("/message-sample/U6/a-binary-message")
{
  static const char message[] = "\x83\xA2ts\x01\xA1v\xCD\x03\xE8\xA4meta\x81\xA6"
                                "device\xCD\x03\xE8";
  static const char timed[] = "\x83\xA2ts\xCF\x00\x00\x01\x4C\x24\x25\xFE\x8D"
                              "\xA1v";
  static const char rest[] = "\xA4meta\x81\xA6"
                             "device\xCD\x03\xE8";
  g_autoptr(TideConfig) config = config_of("format: msgpack, " TIMED);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideMessageSample) sample = load_bytes(config, tide_bytes(message, sizeof message - 1), &error);
  g_assert_no_error(error);
  g_assert_true(tide_message_sample_is_binary(sample));
  g_assert_cmpuint(tide_message_sample_n_lines(sample), ==, 1);
  g_auto(TideBuffer) out = {0};
  tide_message_sample_append(sample, 0, TIME_MS, 1, &out);
  g_assert_cmpuint(out.len, ==, sizeof timed - 1 + 3 + sizeof rest - 1);
  assert_bytes_equal(tide_bytes(out.data, sizeof timed - 1), tide_bytes(timed, sizeof timed - 1));
  assert_bytes_equal(tide_bytes(out.data + sizeof timed - 1 + 3, sizeof rest - 1), tide_bytes(rest, sizeof rest - 1));
  const guint8 *number = out.data + sizeof timed - 1;
  int value = number[1] << 8 | number[2];
  g_assert_cmpuint(number[0], ==, 0xCD);
  g_assert_cmpint(ABS(value - 1000), <=, 100);
}

/* Of Fluentd: seconds and nanoseconds in four bytes each. */
TEST("/message-sample/U6/an-event-time")
{
  static const char message[] = "\x81\xA2ts\xD7\x00\x55\x07\x00\x00\x00\x00\x00\x01",
                    expected[] = "\x81\xA2ts\xD7\x00\x55\x07\x34\xBC\x02\xAE\xA5\x40";
  g_autoptr(TideConfig) config = config_of("format: msgpack, time: { field: ts, format: epoch_s }");
  g_autoptr(GError) error = NULL;
  g_autoptr(TideMessageSample) sample = load_bytes(config, tide_bytes(message, sizeof message - 1), &error);
  g_assert_no_error(error);
  g_auto(TideBuffer) out = {0};
  tide_message_sample_append(sample, 0, TIME_MS, 1, &out);
  assert_bytes_equal(tide_buffer_bytes(&out), tide_bytes(expected, sizeof expected - 1));
}

TEST("/message-sample/U6/what-is-refused")
{
  static const struct {
    const char *readings;
    const char *text;
    const char *why;
  } cases[] = {
      {TIMED, "", "contains no message"},
      {TIMED, "{\"ts\":1}\n{\"ts\":", "line 2 of '/"},
      {"format: influx", "m v=1 1\n\nm", "line 3 of '/"},
      {CSV TIMED, "a;1;2", "line 1 of '/"},
      {"format: csv, csv: { header: true }, " TIMED, "ts,v", "contains no message"},
      {"time: { field: ts, format: rfc3339 }", "{\"ts\":\"2015\\u002D03-16T19:53:32Z\"}", "its time 'ts' in a form"},
      {"format: msgpack, " TIMED, "x", "is not a message of the configuration"},
      {"format: msgpack, each: v, " TIMED, "x", "samples of this format would keep their times"},
      {"format: msgpack, positions: [ts], " TIMED, "x", "samples of this format would keep their times"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideConfig) config = config_of(cases[i].readings);
    g_autoptr(GError) error = NULL;
    g_autoptr(TideMessageSample) sample = load(config, cases[i].text, &error);
    g_assert_null(sample);
    g_assert_nonnull(error);
    if (strstr(error->message, cases[i].why) == NULL)
      g_error("'%s' was expected, got '%s'", cases[i].why, error->message);
  }
}

/* Whatever it is, it ends, and reads nothing beyond. */
TEST("/message-sample/U6/damaged-lines-do-no-harm")
{
  static const char bytes[] = "{}[]\",:\\ 1.-ets0=;m\n\xff";
  static const char *const formats[] = {TIMED, "format: influx", (CSV TIMED),
                                        ("format: csv, csv: { header: true }, " TIMED)};
  for (guint round = 0; round < 1200; round++) {
    char text[41];
    gsize len = (gsize)g_test_rand_int_range(1, 41);
    for (gsize i = 0; i < len; i++)
      text[i] = bytes[g_test_rand_int_range(0, sizeof bytes - 1)];
    text[len] = '\0';
    g_autoptr(TideConfig) config = config_of(formats[round % G_N_ELEMENTS(formats)]);
    g_autoptr(GError) error = NULL;
    g_autoptr(TideMessageSample) sample = load(config, text, &error);
    g_assert_true((sample == NULL) == (error != NULL));
    g_auto(TideBuffer) out = {0};
    for (guint i = 0; sample != NULL && i < tide_message_sample_n_lines(sample); i++)
      tide_message_sample_append(sample, i, TIME_MS, round, &out);
  }
}
