/* readings.time: what its options say together. */
#include "config/load.h"
#include "config/option_table.h"

#define TIME "readings.time"

static gboolean
is_given(const TideLoad *load, const char *path)
{
  return !tide_yaml_is_null(tide_yaml_find(load->root, path));
}

/* An option that changes nothing would be a false promise. */
static void
refuse_option(TideLoad *load, const char *path, const char *reason)
{
  if (is_given(load, path))
    tide_problems_add_error(load->problems, tide_load_place(load, path), "'%s' has no effect %s: remove it", path,
                            reason);
}

static void
require_option(TideLoad *load, const char *path, const char *reason)
{
  if (!is_given(load, path))
    tide_problems_add_error(load->problems, tide_load_place(load, path), "'%s' is missing: %s", path, reason);
}

static void
check_pattern(TideLoad *load)
{
  const TideTimeSpec *time = &load->config->readings.time;
  gboolean has_date = FALSE;

  require_option(load, TIME ".pattern", "'format: pattern' needs one, such as \"yyyy-MM-dd HH:mm:ss\"");
  require_option(load, TIME ".zone", "a pattern has no offset in it, so say which zone the times are in, UTC say");
  if (time->pattern == NULL || !tide_time_pattern_check(time->pattern, &has_date, NULL))
    return;
  if (has_date)
    refuse_option(load, TIME ".date", "when the pattern has the date itself");
  else if (is_given(load, TIME ".date")) {
    require_option(load, TIME ".date.field", "say which field holds the date");
    require_option(load, TIME ".date.pattern", "say how the date is written, yyyyMMdd say");
  }
}

/* The pattern of a date must have one, and nothing finer than a day: the time of day comes from elsewhere. */
static void
check_date_pattern(TideLoad *load)
{
  const char *pattern = load->config->readings.time.date_pattern;
  gboolean has_date = FALSE;

  if (pattern == NULL || !tide_time_pattern_check(pattern, &has_date, NULL) || has_date)
    return;
  tide_problems_add_error(load->problems, tide_load_place(load, TIME ".date.pattern"),
                          "'" TIME ".date.pattern' must name yyyy, MM and dd");
}

static void
check_by_format(TideLoad *load)
{
  switch (load->config->readings.time.format) {
  case TIDE_TIME_EPOCH_S:
  case TIDE_TIME_EPOCH_MS:
  case TIDE_TIME_EPOCH_US:
  case TIDE_TIME_EPOCH_NS:
    refuse_option(load, TIME ".pattern", "with a number since 1970");
    refuse_option(load, TIME ".zone", "with a number since 1970, which is the same in every zone");
    refuse_option(load, TIME ".date", "with a number since 1970, which has its date");
    require_option(load, TIME ".field", "say which field holds the time, or write 'time: record' for the record's own");
    return;
  case TIDE_TIME_RFC3339:
    refuse_option(load, TIME ".pattern", "with rfc3339");
    refuse_option(load, TIME ".date", "with rfc3339, which has its date");
    require_option(load, TIME ".field", "say which field holds the time, or write 'time: record' for the record's own");
    return;
  case TIDE_TIME_PATTERN:
    check_pattern(load);
    require_option(load, TIME ".field", "say which field holds the time, or write 'time: record' for the record's own");
    return;
  case TIDE_TIME_RECORD:
    refuse_option(load, TIME ".field", "with the record's own time");
    refuse_option(load, TIME ".pattern", "with the record's own time");
    refuse_option(load, TIME ".zone", "with the record's own time");
    refuse_option(load, TIME ".date", "with the record's own time");
    return;
  }
}

/* FALSE where the format could not be read, which was said already. */
static gboolean
is_format_read(const TideYamlNode *node, TideTimeFormat format)
{
  const TideConfigOption *readings = tide_config_option_find(&tide_config_top, "readings");
  const TideConfigOption *time = tide_config_option_find(readings->section, "time");
  const TideConfigOption *option = tide_config_option_find(time->section, "format");

  return node != NULL && node->kind == TIDE_YAML_SCALAR &&
         strcmp(node->text, tide_config_choice_name(option->choices, (int)format)) == 0;
}

void
tide_load_time(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_find(load->root, TIME);

  if (tide_yaml_is_null(node)) {
    tide_problems_add_error(load->problems, tide_load_place(load, TIME),
                            "'" TIME "' is missing: write, for instance, 'time: { field: ts, format: epoch_ms }', or "
                            "'time: record' for the Kafka record's own time");
    return;
  }
  if (node->kind == TIDE_YAML_MAPPING && !is_given(load, TIME ".format")) {
    require_option(load, TIME ".format",
                   "a number alone does not say whether it counts seconds or milliseconds; "
                   "write one of epoch_s, epoch_ms, epoch_us, epoch_ns, rfc3339, pattern, record");
    return;
  }
  const TideYamlNode *format = node->kind == TIDE_YAML_MAPPING ? tide_yaml_get(node, "format") : node;
  if (is_format_read(format, load->config->readings.time.format))
    check_by_format(load);
  check_date_pattern(load);
}
