#include "config/option/option_table.h"
#include "config/option/option_value.h"
#include "config/option/table_language.h"

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

static void
test_every_range_is_kept(void)
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
    {"kafka", "threads", "\"1\\0\"", "'kafka.threads' must not hold a NUL byte"},
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
     "'service.log_level' must be one of crit, error, warning, notice, info, debug, "
     "got 'loud'"},
    {"service", "http", "localhost", "'service.http' "},
    {"service", "http", "\"127.0.0.1:70000\"", "'service.http' "},
    {"service", "http", "\"[::1:9464\"", "'service.http' "},
    {"hbase", "transport", "framed", "'hbase.transport' must be one of auto, unframed-binary, framed-binary"},
    {"readings", "arrays", "flatten", "'readings.arrays' must be one of json, index, reject, got 'flatten'"},
    {"readings", "separator", "\"\"", "'readings.separator' must be a text of 1 to"},
    {"readings.time", "zone", "Mars/Olympus", "'readings.time.zone' must be a time zone that this machine knows"},
    {"readings.time", "zone", "../../etc/localtime", "'readings.time.zone' must be a time zone"},
    {"readings.time", "earliest", "long ago", "'readings.time.earliest' must be a date or time with zone"},
    {"readings.time", "pattern", "yyyy-mm", "'readings.time.pattern' cannot be used: "},
};

static void
test_wrong_values_are_refused(void)
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

static void
test_rows_are_complete(void)
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

static void
test_sample_shows_every_option(void)
{
  for_each_option(&tide_config_top, check_sample_has);
}

static void
check_reference_has(const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *reference = tide_config_print_reference();
  g_autofree char *row = g_strdup_printf("| `%s` |", option->name);

  if (*group->path != '\0' && strstr(reference, row) == NULL)
    g_error("the reference does not have '%s.%s'", group->path, option->name);
}

static void
test_reference_has_every_option(void)
{
  for_each_option(&tide_config_top, check_reference_has);
  for (const TideConfigGroup *const *group = tide_table_language; *group != NULL; group++)
    for_each_option(*group, check_reference_has);
}

/* The comments of the sample, taken away, must be what is in force without them. */
static void
test_sample_shows_the_defaults(void)
{
  static const char *const examples[] = {"#pattern",    "#zone",    "#ambiguous", "#date", "#instance",
                                         "#librdkafka", "#topic",   "#file",      "#root", "#each",
                                         "#schema",     "#message", "#framing",   NULL};
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/option-table/F5-every-range-is-kept", test_every_range_is_kept);
  g_test_add_func("/option-table/F5-wrong-values-are-refused", test_wrong_values_are_refused);
  g_test_add_func("/option-table/rows-are-complete", test_rows_are_complete);
  g_test_add_func("/option-table/sample-shows-every-option", test_sample_shows_every_option);
  g_test_add_func("/option-table/sample-shows-the-defaults", test_sample_shows_the_defaults);
  g_test_add_func("/option-table/reference-has-every-option", test_reference_has_every_option);
  return g_test_run();
}
