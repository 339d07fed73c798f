/* Options: their values, names and table. */
#include "config/option/nearest_name.h"
#include "config/option/option.h"
#include "config/option/option_table.h"
#include "config/option/option_value.h"
#include "config/option/table_language.h"
#include "config/yaml/secret.h"
#include "unit/test_case.h"
#include "util/error.h"

/* ---- option value ---- */

TEST("/value/durations")
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

TEST("/value/bad-durations-are-refused")
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

TEST("/value/number-without-unit-is-refused-with-a-hint")
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

TEST("/value/sizes")
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
TEST("/value/sizes-in-other-units-are-proposed-in-ours")
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

TEST("/value/numbers")
{
  static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "18446744073709551616", "one"};
  guint64 number = 0;

  g_assert_true(tide_number_parse("18446744073709551615", &number, NULL));
  g_assert_cmpuint(number, ==, G_MAXUINT64);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
    g_assert_false(tide_number_parse(bad[i], &number, NULL));
}

TEST("/value/times")
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

TEST("/value/nearest-names")
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

/* ---- option names ---- */

/* An option that was renamed: its old key is taken with a warning, and never beside the new one. No option of the
 * daemon has an old name now: those here are the test's own. */

typedef struct Values {
  guint32 workers;
  guint32 depth;
  char *text; /* owned */
} Values;

#define PLACE(member) offsetof(Values, member), sizeof(((Values *)NULL)->member)

static const TideConfigOption inner_options[] = {
    {"depth", TIDE_CONFIG_INTEGER, PLACE(depth), 1, 9, "2", .sentence = "A section's.", .was = "levels"},
};

static const TideConfigGroup inner = {.path = "inner", .options = inner_options, .n_options = 1};

static const TideConfigOption options[] = {
    {"workers", TIDE_CONFIG_INTEGER, PLACE(workers), 1, 9, NULL, .example = "3", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Needed.", .was = "threads"},
    {"inner", TIDE_CONFIG_SECTION, .section = &inner},
};

static const TideConfigGroup known_group = {.path = "", .options = options, .n_options = G_N_ELEMENTS(options)};

/* What is wrong with @text, one a line, its severity before it; its values are in @ret_values. (transfer full) */
static char *
problems_of(const char *text, Values *ret_values)
{
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = tide_yaml_parse(tide_bytes_of_string(text), problems);
  *ret_values = (Values){0};
  TideConfigTarget target = {.base = ret_values, .problems = problems, .top = &known_group};
  tide_config_group_set_defaults(&known_group, ret_values);
  tide_config_group_read(&known_group, "", root, TIDE_SOURCE_POSITION_FILE, &target);
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = g_ptr_array_index(problems, i);
    g_string_append_printf(all, "%u:%u %s: %s\n", problem->line, problem->column,
                           problem->severity == TIDE_CONFIG_WARNING ? "warning" : "error", problem->text);
  }
  /* Whoever looks into the tree later finds a renamed option by its name. */
  g_assert_true((tide_yaml_find(root, "inner.depth") != NULL) == (strstr(text, "inner") != NULL));
  return g_string_free(all, FALSE);
}

TEST("/option-names/old-key-is-taken-with-a-warning")
{
  Values values;
  g_autofree char *said = problems_of("threads: 4\ninner:\n  levels: 7\n", &values);
  g_assert_cmpstr(said, ==,
                  "1:1 warning: 'threads' is now called 'workers': rename it; the next release no longer accepts the "
                  "old name\n3:3 warning: 'inner.levels' is now called 'inner.depth': rename it; the next release no "
                  "longer accepts the old name\n");
  g_assert_cmpuint(values.workers, ==, 4);
  g_assert_cmpuint(values.depth, ==, 7);
}

TEST("/option-names/new-key-is-not-warned-of")
{
  Values values;
  g_autofree char *said = problems_of("workers: 4\n", &values);
  g_assert_cmpstr(said, ==, "");
  g_assert_cmpuint(values.workers, ==, 4);
  g_assert_cmpuint(values.depth, ==, 2);
}

TEST("/option-names/both-are-an-error")
{
  static const char *const texts[] = {"threads: 4\nworkers: 5\n", "workers: 5\nthreads: 4\n"};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    Values values;
    g_autofree char *said = problems_of(texts[i], &values);
    g_assert_cmpstr(said + 4, ==, "error: 'threads' is the old name of 'workers', which is also set: remove it\n");
    g_assert_cmpuint(values.workers, ==, 5);
  }
}

TEST("/option-names/wrong-value-of-an-old-key-is-an-error")
{
  Values values;
  g_autofree char *said = problems_of("threads: 44\n", &values);
  g_assert_nonnull(strstr(
      said,
      "1:1 warning: 'threads' is now called 'workers': rename it; the next release no longer accepts the old name"));
  g_assert_nonnull(strstr(said, "1:10 error: 'workers' "));
}

/* ---- secrets ---- */

static gboolean
is_masked(const char *name)
{
  g_autofree char *line = g_strdup_printf("  %s: x", name);
  return tide_secret_find_value(line) != NULL;
}

/* Whose value messages do not show is masked by what it was called, too: a file of the release before is shown with the
 * warning. Returns how many options there are, and the first that breaks this in @ret_shown. */
static guint
find_shown(const TideConfigGroup *of, const TideConfigOption **ret_shown)
{
  guint n_options = 0;
  for (gsize i = 0; i < of->n_options; i++) {
    const TideConfigOption *option = &of->options[i];
    n_options++;
    if (option->was != NULL && is_masked(option->name) && !is_masked(option->was) && *ret_shown == NULL)
      *ret_shown = option;
    if (option->type == TIDE_CONFIG_SECTION)
      n_options += find_shown(option->section, ret_shown);
  }
  return n_options;
}

TEST("/option-names/old-keys-of-secrets-are-masked")
{
  const TideConfigOption *shown = NULL;
  g_assert_cmpuint(find_shown(&tide_config_top, &shown), >, 60);
  if (shown != NULL)
    g_error("'%s' was called '%s', which messages do not mask: put it among the sounds in config/yaml/secret.c",
            shown->name, shown->was);
}

TEST("/option-names/an-old-key-that-is-shown-is-found")
{
  static const TideConfigOption secrets[] = {{"token_file", TIDE_CONFIG_STRING, .was = "password_file"},
                                             {"token", TIDE_CONFIG_STRING, .was = "pin"}};
  static const TideConfigGroup deep = {.path = "deep", .options = secrets, .n_options = G_N_ELEMENTS(secrets)};
  static const TideConfigOption around[] = {{"deep", TIDE_CONFIG_SECTION, .section = &deep}};
  static const TideConfigGroup top = {.path = "", .options = around, .n_options = G_N_ELEMENTS(around)};
  const TideConfigOption *shown = NULL;
  g_assert_cmpuint(find_shown(&top, &shown), ==, 3);
  g_assert_true(shown == &secrets[1]);
}

/* The warning stands with an excerpt of the file. */
TEST("/option-names/warning-of-an-old-key-shows-no-secret")
{
  static const TideConfigOption secrets[] = {{"token", TIDE_CONFIG_STRING, PLACE(text), .was = "passphrase"}};
  static const TideConfigGroup door = {.path = "", .options = secrets, .n_options = G_N_ELEMENTS(secrets)};
  static const char text[] = "passphrase: canary\n";
  g_autoptr(GPtrArray) problems = tide_problems_new();
  g_autoptr(TideYamlNode) root = tide_yaml_parse(tide_bytes_of_string(text), problems);
  Values values = {0};
  TideConfigTarget target = {.base = &values, .problems = problems, .top = &door};
  tide_config_group_read(&door, "", root, TIDE_SOURCE_POSITION_FILE, &target);
  g_assert_cmpstr(values.text, ==, "canary");
  g_assert_cmpuint(problems->len, ==, 1);
  g_autofree char *said = tide_config_problem_format(problems->pdata[0], "tidemark.yaml", text);
  g_assert_nonnull(
      strstr(said, "'passphrase' is now called 'token': rename it; the next release no longer accepts the old name"));
  g_assert_nonnull(strstr(said, "passphrase: ***"));
  g_assert_null(strstr(said, "canary"));
  g_free(values.text);
}

/* ---- option table ---- */

/* The smallest configuration, and where in it an option of each section can be added. */
static const struct {
  const char *path;
  const char *before;
  const char *after;
} sections[] = {
    {"kafka", "kafka: { brokers: b, group: g, topics: [t], ", "}\n"},
    {"hbase", "hbase: { gateways: [g], ", "}\n"},
    {"batch", "batch: { ", "}\n"},
    {"limits", "limits: { ", "}\n"},
    {"service", "service: { ", "}\n"},
    {"dead_letters", "dead_letters: { ", "}\n"},
    {"readings.time", "readings: { time: { field: ts, format: epoch_ms, ", "}, "},
    {"readings.csv", "csv: { ", "}, "},
    {"readings", "", "}\n"},
};

#define TABLES                                                                                                         \
  "tables: { T: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } } }\n"

/* @addition ("threads: 3") in the section at @path. */
static char *
config_with(const char *path, const char *addition)
{
  GString *text = g_string_new(TABLES);

  for (gsize i = 0; i < G_N_ELEMENTS(sections); i++)
    g_string_append_printf(text, "%s%s%s", sections[i].before, strcmp(path, sections[i].path) == 0 ? addition : "",
                           sections[i].after);
  return g_string_free(text, FALSE);
}

/* The problems of a configuration with this option, one a line. */
static char *
problems_with(const char *path, const char *name, const char *value)
{
  g_autofree char *addition = g_strdup_printf("%s: %s", name, value);
  g_autofree char *text = config_with(path, addition);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("test", tide_bytes_of_string(text), &problems);
  GString *all = g_string_new(NULL);

  g_assert_true(config != NULL || problems->len > 0);
  for (guint i = 0; i < problems->len; i++)
    g_string_append_printf(all, "%s\n", ((TideConfigProblem *)g_ptr_array_index(problems, i))->text);
  return g_string_free(all, FALSE);
}

static char *
number_text(const TideConfigOption *option, gint64 value)
{
  if (option->type == TIDE_CONFIG_TIME)
    return tide_epoch_format(value);
  return g_strdup_printf("%" G_GINT64_FORMAT "%s", value, option->type == TIDE_CONFIG_DURATION ? "ms" : "");
}

static void
assert_range(const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *range = tide_config_option_describe_range(option);
  g_autofree char *refusal = g_strdup_printf("'%s.%s' must be %s, got", group->path, option->name, range);
  const struct {
    gint64 value;
    gboolean is_good;
  } cases[] = {{option->min - 1, FALSE}, {option->min, TRUE}, {option->max, TRUE}, {option->max + 1, FALSE}};

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].value < 0 && option->type != TIDE_CONFIG_TIME)
      continue; /* not even a number of this kind */
    g_autofree char *value = number_text(option, cases[i].value);
    g_autofree char *problems = problems_with(group->path, option->name, value);
    gboolean is_refused = strstr(problems, refusal) != NULL;
    if (is_refused == cases[i].is_good)
      g_error("%s.%s: %s, range %s: %s", group->path, option->name, value, range, problems);
  }
}

static void
for_each_option(const TideConfigGroup *group,
                void (*func)(const TideConfigGroup *group, const TideConfigOption *option))
{
  for (gsize i = 0; i < group->n_options; i++) {
    func(group, &group->options[i]);
    if (group->options[i].type == TIDE_CONFIG_SECTION)
      for_each_option(group->options[i].section, func);
  }
}

static guint n_ranges;

static void
check_range(const TideConfigGroup *group, const TideConfigOption *option)
{
  if (option->min == option->max)
    return;
  assert_range(group, option);
  n_ranges++;
}

TEST("/option-table/F5-every-range-is-kept")
{
  for_each_option(&tide_config_top, check_range);
  g_assert_cmpuint(n_ranges, >=, 25);
}

/* Values of the wrong kind, for each type that has one. */
static const struct {
  const char *path;
  const char *name;
  const char *value;
  const char *problem;
} wrong[] = {
    {"kafka", "threads", "two", "'kafka.threads' must be a number, 1..64, got 'two'"},
    {"kafka", "threads", "-1", "'kafka.threads' must be a number, 1..64, got '-1'"},
    {"kafka", "threads", "2.5", "'kafka.threads' must be a number, 1..64, got '2.5'"},
    {"kafka", "threads", "99999999999999999999", "'kafka.threads' must be a number, 1..64, got '999"},
    {"kafka", "threads", "[1]", "'kafka.threads' needs a value, got a list"},
    {"kafka", "threads", "{ a: 1 }", "'kafka.threads' needs a value, got a mapping"},
    {"kafka", "threads", "", "'kafka.threads' needs a value, got nothing"},
    {"kafka", "threads", "\"1\\0\"", "'kafka.threads' must not contain a NUL byte"},
    {"kafka", "session_timeout", "45", "'kafka.session_timeout' must have a unit (ms, s, m, h, d): '45s' or '45ms'"},
    {"kafka", "session_timeout", "45000", "'kafka.session_timeout' must have a unit (ms, s, m, h, d): '45000ms' or "},
    {"hbase", "region_refresh", "30", "'hbase.region_refresh' must have a unit (ms, s, m, h, d): '30s' or '30ms'"},
    {"readings.time", "max_future", "600",
     "'readings.time.max_future' must have a unit (ms, s, m, h, d): '600s' or '600m'"},
    {"readings.time", "max_past", "30", "'readings.time.max_past' must have a unit (ms, s, m, h, d): '30d' or '30h'"},
    {"batch", "latest_window", "2", "'batch.latest_window' must have a unit (ms, s, m, h, d): '2ms' or '2s'"},
    {"kafka", "session_timeout", "10 parsecs", "'kafka.session_timeout' must be a duration such as"},
    {"kafka", "session_timeout", "-5s", "'kafka.session_timeout' must be a duration such as"},
    {"kafka", "session_timeout", "1s", "'kafka.session_timeout' must be 6s..30m, got '1s'"},
    {"kafka", "start", "yesterday", "'kafka.start' must be earliest, latest, or a time such as"},
    {"kafka", "allow_unverified_tls", "yes", "'kafka.allow_unverified_tls' must be true or false, got 'yes'"},
    {"batch", "max_bytes", "1MB", "'batch.max_bytes' must have one of the units KiB, MiB and GiB: '1MiB'"},
    {"batch", "max_bytes", "2MiB", "'batch.max_bytes' must be 4KiB..1984KiB, got '2MiB'"},
    {"limits", "memory", "18446744073709551615", "'limits.memory' must be 16MiB..1024GiB"},
    {"service", "log_level", "loud",
     "'service.log_level' must be one of crit, error, warning, notice, info, debug, got 'loud'"},
    {"service", "http", "localhost", "'service.http' "},
    {"service", "http", "\"127.0.0.1:70000\"", "'service.http' "},
    {"service", "http", "\"[::1:9464\"", "'service.http' "},
    {"hbase", "transport", "framed", "'hbase.transport' must be one of auto, unframed-binary, framed-binary"},
    {"readings", "arrays", "flatten", "'readings.arrays' must be one of json, index, reject, got 'flatten'"},
    {"readings", "separator", "\"\"", "'readings.separator' must be a text of 1 to"},
    {"readings.time", "zone", "Mars/Olympus", "'readings.time.zone' must be a time zone that this machine knows"},
    {"readings.time", "zone", "../../etc/localtime", "'readings.time.zone' must be a time zone"},
    {"readings.time", "earliest", "long ago", "'readings.time.earliest' must be a date, or a time with a zone"},
    {"readings.time", "pattern", "yyyy-mm", "'readings.time.pattern' cannot be used: "},
};

TEST("/option-table/F5-wrong-values-are-refused")
{
  for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autofree char *problems = problems_with(wrong[i].path, wrong[i].name, wrong[i].value);
    if (strstr(problems, wrong[i].problem) == NULL)
      g_error("%s.%s: %s: got \"%s\", expected \"%s\"", wrong[i].path, wrong[i].name, wrong[i].value, problems,
              wrong[i].problem);
  }
}

static void
check_row(const TideConfigGroup *group, const TideConfigOption *option)
{
  gboolean is_top = *group->path == '\0';

  if (option->type == TIDE_CONFIG_SECTION && is_top)
    return;
  g_assert_nonnull(option->sentence);
  if (!g_str_has_suffix(option->sentence, "."))
    g_error("%s.%s: the sentence does not end with a full stop", group->path, option->name);
  /* The reference is a table: a bar would end the cell. */
  g_assert_null(strchr(option->sentence, '|'));
  if ((option->flags & TIDE_CONFIG_REQUIRED) != 0)
    g_assert_true(option->example != NULL && option->default_text == NULL);
  if (option->type == TIDE_CONFIG_CHOICE)
    g_assert_nonnull(option->choices);
  if (option->type == TIDE_CONFIG_CUSTOM)
    g_assert_true(option->parse != NULL && option->print != NULL && option->form != NULL);
  for (const TideConfigOption *other = group->options; other < option; other++)
    g_assert_cmpstr(other->name, !=, option->name);
}

TEST("/option-table/rows-are-complete")
{
  for_each_option(&tide_config_top, check_row);
  for (const TideConfigGroup *const *group = tide_table_language; *group != NULL; group++)
    for_each_option(*group, check_row);
}

/* In the sample an option is shown at its default, or with an example. */
static void
check_sample_has(const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *sample = tide_config_print_defaults();
  g_autofree char *commented = g_strdup_printf("#%s:", option->name);
  g_autofree char *plain = g_strdup_printf("%s:", option->name);

  g_assert_true(option->type == TIDE_CONFIG_SECTION || option->default_text != NULL || option->example != NULL);
  if (strstr(sample, commented) == NULL && strstr(sample, plain) == NULL)
    g_error("the sample does not show '%s.%s'", group->path, option->name);
}

TEST("/option-table/sample-shows-every-option")
{
  for_each_option(&tide_config_top, check_sample_has);
}

static void
check_reference_has(const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *reference = tide_config_print_reference();
  g_autofree char *row = g_strdup_printf("</a>`%s` |", option->name);

  if (*group->path != '\0' && strstr(reference, row) == NULL)
    g_error("the reference does not have '%s.%s'", group->path, option->name);
}

TEST("/option-table/reference-has-every-option")
{
  for_each_option(&tide_config_top, check_reference_has);
  for (const TideConfigGroup *const *group = tide_table_language; *group != NULL; group++)
    for_each_option(*group, check_reference_has);
}

/* The comments of the sample, taken away, must be what is in force without them. */
TEST("/option-table/sample-shows-the-defaults")
{
  static const char *const examples[] = {"#pattern",    "#zone",         "#ambiguous", "#date",        "#instance",
                                         "#librdkafka", "#topic",        "#file",      "#root",        "#each",
                                         "#schema",     "#message",      "#framing",   "#null_values", "#fields",
                                         "#positions",  "#outer_prefix", NULL};
  g_autofree char *sample = tide_config_print_defaults();
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(GPtrArray) more_problems = NULL;
  g_autoptr(GString) uncommented = g_string_new(NULL);
  g_auto(GStrv) lines = g_strsplit(sample, "\n", -1);

  for (char **line = lines; *line != NULL; line++) {
    char *mark = *line + strspn(*line, " ");
    g_autofree char *name = g_strndup(mark, strcspn(mark, ":"));
    gboolean is_option = mark[0] == '#' && g_ascii_islower(mark[1]) && strchr(mark, ':') != NULL;
    /* Those without default are examples, and need others to go with them. */
    if (is_option && !g_strv_contains(examples, name))
      *mark = ' ';
    g_string_append_printf(uncommented, "%.*s%s\n", (int)(mark - *line), *line, *mark == ' ' ? mark + 1 : mark);
  }
  g_autoptr(TideConfig) config = tide_config_load_text("sample", tide_bytes_of_string(sample), &problems);
  g_autoptr(TideConfig) same =
      tide_config_load_text("uncommented", tide_bytes_of_string(uncommented->str), &more_problems);
  g_assert_cmpuint(problems->len, ==, 0);
  g_assert_cmpuint(more_problems->len, ==, 0);
  g_autofree char *printed = tide_config_print(config);
  g_autofree char *printed_same = tide_config_print(same);
  g_assert_cmpstr(printed, ==, printed_same);
}
