/* Times: checks the options of readings.time, and of a table's own times, against each other. */
#include "config/config_source.h"
#include "config/load/load_table.h"
#include "config/option/time_options.h"
#include "decode/formats.h"
#include "model/time/zone_spans.h"

#define TIME_1971_EPOCH_MS G_GINT64_CONSTANT(31536000000)
#define OF(format) (1U << TIDE_TIME_##format)
/* Numbers in UTC, unless they are declared to count local time. */
#define COUNTS (OF(EPOCH_S) | OF(EPOCH_MS) | OF(EPOCH_US) | OF(EPOCH_NS) | OF(TICKS) | OF(FILETIME))
#define NUMBERS (COUNTS | OF(DOTNET) | OF(EXCEL))

/* One mapping of options while it is checked. */
typedef struct TimeLoad {
  TideLoad *load;
  const char *path;         /* "readings.time" */
  const char *key;          /* its last word */
  const TideYamlNode *node; /* not null; a scalar is a format */
  const TideTimeSpec *spec;
  gboolean has_own_format; /* set by the readings' format */
} TimeLoad;

static gboolean
is_given(const TimeLoad *it, const char *option)
{
  return !tide_yaml_is_null(tide_yaml_find(it->node, option));
}

/* The position of @option ("date.pattern"), or of the section that would contain it. */
static TideSourcePosition
position_of(const TimeLoad *it, const char *option)
{
  const TideYamlNode *node = tide_yaml_find(it->node, option);
  const char *dot = strchr(option, '.');

  if (node != NULL)
    return node->position;
  if (dot == NULL)
    return it->node->position;
  g_autofree char *outer = g_strndup(option, (gsize)(dot - option));
  return position_of(it, outer);
}

static void
refuse_option(TimeLoad *it, const char *option, const char *reason)
{
  tide_load_refuse_option(it->load, it->path, it->node, option, reason);
}

static void
require_option(TimeLoad *it, const char *option, const char *reason)
{
  if (!is_given(it, option))
    tide_problems_add_error(it->load->problems, position_of(it, option), "'%s.%s' is missing: %s", it->path, option,
                            reason);
}

static void
check_pattern(TimeLoad *it)
{
  const TideTimePattern *pattern = it->spec->pattern;

  require_option(it, "pattern", "'format: pattern' needs one, such as \"yyyy-MM-dd HH:mm:ss\"");
  if (pattern == NULL)
    return; /* already reported */
  if (!(pattern->named & TIDE_NAMES_OFFSET))
    require_option(it, "zone", "the pattern has no offset (X), so set the zone of the times, for example UTC");
  if (pattern->always_named & TIDE_NAMES_OFFSET)
    refuse_option(it, "zone", "if the pattern itself contains the offset (X)");
  if (pattern->named & TIDE_NAMES_DATE) {
    refuse_option(it, "date", "if the pattern itself contains the date");
  } else if (is_given(it, "date")) {
    require_option(it, "date.field", "name the field that contains the date");
    require_option(it, "date.pattern", "set the pattern of the date, for example yyyyMMdd");
  }
}

/* A date pattern must contain a date and no time of day, which another field provides. */
static void
check_date_pattern(TimeLoad *it)
{
  const TideTimePattern *pattern = it->spec->date_pattern;

  if (pattern == NULL)
    return;
  if (!(pattern->named & TIDE_NAMES_DATE))
    tide_problems_add_error(it->load->problems, position_of(it, "date.pattern"),
                            "'%s.date.pattern' must contain a date, such as yyyy-MM-dd", it->path);
  else if (pattern->named & TIDE_NAMES_CLOCK)
    tide_problems_add_error(it->load->problems, position_of(it, "date.pattern"),
                            "'%s.date.pattern' must contain only a date: the time of day is in '%s.field'", it->path,
                            it->path);
}

/* Local times are times with a zone. */
static void
warn_of_hour_twice(TimeLoad *it)
{
  const TideTimeSpec *spec = it->spec;

  if (spec->zone == NULL) {
    refuse_option(it, "ambiguous", "without a 'zone'");
    return;
  }
  if (spec->on_ambiguous == TIDE_AMBIGUOUS_UNSET && tide_zone_repeats(spec->zone, spec->earliest_epoch_ms / 1000))
    tide_problems_add_warning(
        it->load->problems, position_of(it, "zone"),
        "'%s': when the clocks of %s are set back, an hour occurs twice: the record time decides which one a time "
        "means, and a reading that arrives too late for that is rejected; write UTC or an offset into the readings, or "
        "set 'ambiguous: record' (or earlier, later, reject) to confirm",
        it->path, g_time_zone_get_identifier(spec->zone));
}

/* Options that have no effect with a format. */
#define OF_NUMBER "with a number"
#define OF_RECORD "with the record's own time"
static const struct {
  guint formats; /* bits of TideTimeFormat */
  const char *option;
  const char *reason;
} refused[] = {
    {NUMBERS, "pattern", OF_NUMBER},
    {NUMBERS, "date", OF_NUMBER ", which contains its date"},
    {OF(DOTNET), "local", "with dotnet, which counts in UTC"},
    {OF(DOTNET), "zone", "with dotnet, which counts in UTC"},
    {OF(DOTNET), "ambiguous", "with dotnet, which counts in UTC"},
    {OF(EXCEL), "local", "with excel, which always counts local time"},
    {OF(PATTERN) | OF(RFC3339), "local", "with a text, which is local time anyway if it has no offset"},
    {OF(RFC3339), "pattern", "with rfc3339"},
    {OF(RFC3339), "date", "with rfc3339, which contains its date"},
    {OF(RECORD), "field", OF_RECORD},
    {OF(RECORD), "pattern", OF_RECORD},
    {OF(RECORD), "local", OF_RECORD},
    {OF(RECORD), "zone", OF_RECORD},
    {OF(RECORD), "ambiguous", OF_RECORD},
    {OF(RECORD), "date", OF_RECORD},
    {OF(RECORD), "plus", OF_RECORD},
};

/* A number means the same moment in every zone, unless it counts local time. */
static void
check_number(TimeLoad *it)
{
  gboolean is_local = it->spec->is_local || it->spec->format == TIDE_TIME_EXCEL;

  if (is_local) {
    require_option(it, "zone", "set the zone of the local time, for example Europe/Berlin");
    warn_of_hour_twice(it);
    return;
  }
  refuse_option(it, "zone",
                "with a number that counts in UTC (set 'local: true' if it counts local time, as Debezium's times "
                "without a zone do)");
  refuse_option(it, "ambiguous", "with a number that counts in UTC, which is never ambiguous");
}

static void
check_by_format(TimeLoad *it)
{
  guint format = 1U << it->spec->format;
  const char *const of_plus[] = {"plus.field", "plus.unit"};

  for (gsize i = 0; i < G_N_ELEMENTS(refused); i++)
    if ((refused[i].formats & format) != 0 && (strcmp(refused[i].option, "local") != 0 || it->spec->is_local))
      refuse_option(it, refused[i].option, refused[i].reason);
  if (it->spec->format == TIDE_TIME_PATTERN)
    check_pattern(it);
  if (it->spec->format != TIDE_TIME_RECORD && it->spec->field == TIDE_NAME_NONE) {
    g_autofree char *reason = g_strdup_printf(
        "name the field that contains the time, or write '%s: record' for the Kafka record's time", it->key);
    require_option(it, "field", reason);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(of_plus) && is_given(it, "plus"); i++)
    require_option(it, of_plus[i], "a number that is added to the time needs its field and its unit (s, ms, us, ns)");
  if (format & (COUNTS | OF(EXCEL)))
    check_number(it);
  else if (format & (OF(PATTERN) | OF(RFC3339)))
    warn_of_hour_twice(it);
}

static void
check_time(TimeLoad *it)
{
  gboolean is_mapping = it->node->kind == TIDE_YAML_MAPPING;

  gboolean says_format = !is_mapping || is_given(it, "format");
  if (!says_format && !it->has_own_format) {
    require_option(it, "format",
                   "the format of a number does not show its unit: set one of epoch_s, epoch_ms, epoch_us, epoch_ns, "
                   "rfc3339, pattern, dotnet, ticks, filetime, excel, record");
    return;
  }
  /* An invalid format was already reported. */
  const TideYamlNode *format = is_mapping ? tide_yaml_get(it->node, "format") : it->node;
  const TideConfigChoice *formats = tide_config_option_find(&tide_time_options, "format")->choices;
  if (!says_format || (format->kind == TIDE_YAML_SCALAR &&
                       strcmp(format->text, tide_config_choice_name(formats, (int)it->spec->format)) == 0)) {
    check_by_format(it);
    /* A number of a coarser unit, read in a finer one, becomes a time soon after 1970: seconds in 2200 are in March
     * 1970 when read as milliseconds. */
    gboolean is_fine = it->spec->format == TIDE_TIME_EPOCH_MS || it->spec->format == TIDE_TIME_EPOCH_US ||
                       it->spec->format == TIDE_TIME_EPOCH_NS;
    if (is_fine && it->spec->earliest_epoch_ms < TIME_1971_EPOCH_MS)
      tide_problems_add_warning(
          it->load->problems, position_of(it, "earliest"),
          "'%s.earliest' is before 1971, so numbers in another unit (seconds instead of milliseconds) are accepted as "
          "times of 1970; set it to the earliest possible time of a reading",
          it->path);
  }
  check_date_pattern(it);
}

/* Readings of some formats have a time of their own, and need no option or only its unit. TRUE if the format of @spec
 * comes from there. @has_own: whether the readings have a time. @node: the file's options; may be null. */
static gboolean
take_own_time(TideLoad *load, gboolean has_own, const TideYamlNode *node, TideTimeSpec *spec)
{
  gboolean is_silent = tide_yaml_is_null(node);
  gboolean is_mapping = !is_silent && node->kind == TIDE_YAML_MAPPING;
  gboolean says_format = !is_silent && (!is_mapping || !tide_yaml_is_null(tide_yaml_get(node, "format")));
  gboolean says_field = is_mapping && !tide_yaml_is_null(tide_yaml_get(node, "field"));

  if (!has_own || says_field)
    return FALSE;
  if (!says_format)
    spec->format = TIDE_TIME_EPOCH_NS;
  if (spec->format != TIDE_TIME_RECORD)
    spec->field = tide_field_names_intern(load->config->names, tide_bytes_of_string(TIDE_INFLUX_TIME));
  return !says_format;
}

static gboolean
has_own_time(const TideConfigSource *source)
{
  return tide_format_of(&source->readings->decode)->has_own_time;
}

/* TRUE if there are tables, and each table of @source sets its own time. */
static gboolean
each_table_has_time(TideLoad *load, const TideConfigSource *source)
{
  const TideYamlNode *tables = tide_yaml_get(load->root, "tables");
  gboolean found = tables != NULL && tables->kind == TIDE_YAML_MAPPING && tables->values->len > 0;

  for (guint i = 0; found && i < tables->values->len; i++) {
    const TideYamlNode *node = g_ptr_array_index(tables->values, i);
    TideTable table = {.sources = tide_load_table_sources(load, NULL, node)};
    found = !tide_config_takes_from(&table, source) || !tide_yaml_is_null(tide_yaml_get(node, "time"));
  }
  return found;
}

static void
load_time(TideLoad *load, const TideConfigSource *source, TideTimeSpec *spec)
{
  g_autofree char *readings = tide_load_readings_path(source);
  g_autofree char *path = g_strconcat(readings, ".time", NULL);
  const TideYamlNode *node = tide_yaml_find(load->root, path);
  TimeLoad it = {.load = load, .path = path, .key = "time", .node = node, .spec = spec};

  it.has_own_format = take_own_time(load, has_own_time(source), node, spec);
  if (!tide_yaml_is_null(node)) {
    check_time(&it);
  } else if (it.has_own_format) {
    return;
  } else if (each_table_has_time(load, source)) {
    spec->format = TIDE_TIME_RECORD; /* no table needs it */
  } else {
    tide_load_option_error(load, path,
                           "'%s' is missing: add, for example, 'time: { field: ts, format: epoch_ms }', or 'time: "
                           "record' for the Kafka record's time",
                           path);
  }
}

void
tide_load_times(TideLoad *load)
{
  for (guint i = 0; i < load->config->sources->len; i++) {
    TideConfigSource *source = g_ptr_array_index(load->config->sources, i);
    if (source->name == NULL && tide_load_is_written(load, "sources"))
      continue; /* placeholder for sources that could not be read, which was reported */
    load_time(load, source, source->name != NULL ? &source->own.time : &load->config->readings.time);
  }
}

TideTimeSpec *
tide_load_table_time(TideLoad *load, const TideTable *table, const char *path, const TideYamlNode *node)
{
  const TideTimeSpec *general = &tide_config_first_source(load->config, table)->readings->time;
  TideTimeSpec *spec = g_new0(TideTimeSpec, 1);
  TideConfigTarget target = {.base = spec, .names = load->config->names, .problems = load->problems};
  guint n_errors = tide_problems_n_errors(load->problems);

  tide_config_group_set_defaults(&tide_time_options, spec);
  spec->earliest_epoch_ms = general->earliest_epoch_ms;
  spec->max_future_ms = general->max_future_ms;
  spec->on_future = general->on_future;
  spec->max_past_ms = general->max_past_ms;
  tide_config_group_read(&tide_time_options, path, node, node->position, &target);
  if (node->kind == TIDE_YAML_LIST || tide_yaml_is_null(node)) {
    if (tide_problems_n_errors(load->problems) == n_errors)
      tide_load_error(load, node, "'%s' needs a value, got nothing", path);
    return spec;
  }
  gboolean all_have_own = TRUE; /* the readings of all sources of the table */
  for (guint i = 0; i < load->config->sources->len; i++) {
    const TideConfigSource *source = g_ptr_array_index(load->config->sources, i);
    all_have_own &= !tide_config_takes_from(table, source) || has_own_time(source);
  }
  TimeLoad it = {.load = load,
                 .path = path,
                 .key = strrchr(path, '.') + 1,
                 .node = node,
                 .spec = spec,
                 .has_own_format = take_own_time(load, all_have_own, node, spec)};
  check_time(&it);
  return spec;
}
