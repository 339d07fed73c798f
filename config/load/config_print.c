/* The configuration as text: what is in force, a sample, and the reference. All from the option tables. */
#include "config/load/load.h"
#include "config/option/option_table.h"
#include "config/option/table_language.h"
#include "config/yaml/yaml_text.h"

#define WRAP_COLUMNS 98

static void
append_spaces(GString *out, guint n)
{
  g_string_append_printf(out, "%*s", (int)n, "");
}

/* What is in force. */

static void
append_properties(GString *out, const TideKafkaConfig *kafka, guint indent)
{
  if (kafka->properties->len == 0)
    return;
  append_spaces(out, indent);
  g_string_append(out, "librdkafka:\n");
  for (guint i = 0; i < kafka->properties->len; i++) {
    const TideKafkaProperty *property = &g_array_index(kafka->properties, TideKafkaProperty, i);
    append_spaces(out, indent + 2);
    tide_yaml_append_scalar(out, property->name, strlen(property->name));
    g_string_append(out, ": ");
    if (property->secret)
      g_string_append(out, "\"***\"");
    else
      tide_yaml_append_scalar(out, property->value, strlen(property->value));
    g_string_append_c(out, '\n');
  }
}

static void
append_sources(GString *out, const TideConfig *config)
{
  if (config->sources_yaml != NULL)
    g_string_append_printf(out, "sources:%s", config->sources_yaml);
}

static void
append_structure(GString *out, const TideConfigOption *option, const TideConfig *config, guint indent)
{
  if (strcmp(option->name, "tables") == 0)
    g_string_append_printf(out, "tables:%s", config->tables_yaml);
  else if (strcmp(option->name, "sources") == 0)
    append_sources(out, config);
  else
    append_properties(out, &config->kafka, indent);
}

static void append_section(GString *out, const TideConfigGroup *group, gconstpointer base, const TideConfig *config,
                           guint indent);

/* Left out where nothing in it is set. */
static void
append_inner_section(GString *out, const TideConfigOption *option, gconstpointer base, const TideConfig *config,
                     guint indent)
{
  g_autoptr(GString) inner = g_string_new(NULL);

  append_section(inner, option->section, (const guint8 *)base + option->offset, config, indent + 2);
  if (inner->len == 0)
    return;
  append_spaces(out, indent);
  g_string_append_printf(out, "%s:\n%s", option->name, inner->str);
}

/* FALSE for what the configuration may not say, though it has a default. */
static gboolean
is_taken(const TideConfigGroup *group, const TideConfigOption *option, const TideConfig *config)
{
  if (option->type == TIDE_CONFIG_TOPICS || strcmp(option->name, "readings") == 0)
    return config->sources_yaml == NULL;
  return strcmp(group->path, "readings") != 0 || tide_load_format_takes(config->readings.decode.format, option->name);
}

/* @base: the group's struct in @config. */
static void
append_section(GString *out, const TideConfigGroup *group, gconstpointer base, const TideConfig *config, guint indent)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    if (!is_taken(group, option, config))
      continue;
    if (option->type == TIDE_CONFIG_STRUCTURE) {
      append_structure(out, option, config, indent);
      continue;
    }
    if (option->type == TIDE_CONFIG_SECTION) {
      append_inner_section(out, option, base, config, indent);
      continue;
    }
    g_autofree char *value = tide_config_option_print_value(option, base, config->names);
    if (value == NULL)
      continue;
    append_spaces(out, indent);
    g_string_append_printf(out, "%s: %s\n", option->name, value);
  }
}

char *
tide_config_print(const TideConfig *config)
{
  GString *out = g_string_new(NULL);

  append_section(out, &tide_config_top, config, config, 0);
  return g_string_free(out, FALSE);
}

/* A sample with every option at its default. */

/* Where the lines of a sample go: at @indent, and behind a # in column @commented_at when they are not in force. */
typedef struct Margin {
  guint indent;
  gboolean is_commented;
  guint commented_at;
} Margin;

static void
append_margin(GString *out, Margin margin)
{
  append_spaces(out, margin.is_commented ? margin.commented_at : margin.indent);
  if (!margin.is_commented)
    return;
  g_string_append_c(out, '#');
  append_spaces(out, margin.indent - margin.commented_at);
}

static Margin
commented(Margin margin)
{
  return margin.is_commented ? margin : (Margin){margin.indent, TRUE, margin.indent};
}

static Margin
deeper(Margin margin)
{
  margin.indent += 2;
  return margin;
}

/* @text as a comment, in lines of at most WRAP_COLUMNS. */
static void
append_comment(GString *out, Margin margin, const char *text)
{
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  gsize column = 0;

  for (char **word = words; *word != NULL; word++) {
    if (column == 0 || column + 1 + strlen(*word) > WRAP_COLUMNS) {
      g_string_append(out, column > 0 ? "\n" : "");
      append_margin(out, margin);
      g_string_append_c(out, '#');
      column = margin.indent + 1;
    }
    g_string_append_printf(out, " %s", *word);
    column += 1 + strlen(*word);
  }
  g_string_append_c(out, '\n');
}

/* "[1..64]", "[stop, skip]"; empty where the value speaks for itself. */
static char *
describe_values(const TideConfigOption *option)
{
  g_autofree char *range = tide_config_option_describe_range(option);

  if (range != NULL)
    return g_strdup_printf(" [%s]", range);
  if (option->type != TIDE_CONFIG_CHOICE || option->choices[1].name == NULL)
    return g_strdup("");
  g_autofree char *names = tide_config_choices_join(option->choices, "");
  return g_strdup_printf(" [%s]", names);
}

static gboolean
is_in_force(const TideConfigOption *option)
{
  return (option->flags & (TIDE_CONFIG_REQUIRED | TIDE_CONFIG_IN_SAMPLE)) != 0;
}

static gboolean
has_option_in_force(const TideConfigGroup *group)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    if (option->type == TIDE_CONFIG_SECTION ? has_option_in_force(option->section) : is_in_force(option))
      return TRUE;
  }
  return FALSE;
}

/* @given: in place of the default; NULL: the default. */
static void
append_sample_value(GString *out, const TideConfigOption *option, const char *given, Margin margin)
{
  const char *fallback = option->default_text != NULL ? option->default_text : option->example;
  const char *value = given != NULL ? given : fallback;

  append_margin(out, margin);
  if (option->type != TIDE_CONFIG_STRUCTURE) {
    g_string_append_printf(out, "%s: %s\n", option->name, value);
    return;
  }
  g_string_append_printf(out, "%s:\n", option->name);
  g_auto(GStrv) lines = g_strsplit(value, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    if (**line != '\0')
      append_margin(out, deeper(margin));
    g_string_append_printf(out, "%s\n", *line);
  }
}

/* What a sample shows: all options, or those that it is given values for. */
typedef struct Sample {
  GString *out;
  const TideConfigFill *fills; /* NULL: all, at their defaults; else ends with a NULL path */
} Sample;

/* NULL: none is given for @group's option. */
static const TideConfigFill *
find_fill(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *path = g_strconcat(group->path, group->path[0] != '\0' ? "." : "", option->name, NULL);
  for (const TideConfigFill *fill = sample->fills; fill != NULL && fill->path != NULL; fill++) {
    if (strcmp(fill->path, path) == 0)
      return fill;
  }
  return NULL;
}

static gboolean is_shown(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option);

static gboolean
shows_any_of(const Sample *sample, const TideConfigGroup *group)
{
  for (gsize i = 0; i < group->n_options; i++) {
    if (is_shown(sample, group, &group->options[i]))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_shown(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option)
{
  if (sample->fills == NULL)
    return TRUE;
  return option->type == TIDE_CONFIG_SECTION ? shows_any_of(sample, option->section)
                                             : find_fill(sample, group, option) != NULL;
}

/* Whether an option of @group, or of a section below, is given a value. */
static gboolean
has_fill_in_force(const Sample *sample, const TideConfigGroup *group)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    const TideConfigFill *fill = find_fill(sample, group, option);
    if ((fill != NULL && fill->value != NULL) ||
        (option->type == TIDE_CONFIG_SECTION && has_fill_in_force(sample, option->section)))
      return TRUE;
  }
  return FALSE;
}

static void append_sample_section(const Sample *sample, const TideConfigOption *section, Margin margin);

static void
append_sample_option(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option, Margin margin)
{
  if (option->type == TIDE_CONFIG_SECTION) {
    append_sample_section(sample, option, margin);
    return;
  }
  const TideConfigFill *fill = find_fill(sample, group, option);
  g_autofree char *values = describe_values(option);
  g_autofree char *comment = g_strconcat(option->sentence, values, NULL);
  append_comment(sample->out, margin, comment);
  gboolean in_force = fill != NULL ? fill->value != NULL : is_in_force(option);
  append_sample_value(sample->out, option, fill != NULL ? fill->value : NULL, in_force ? margin : commented(margin));
}

/* Those that are shown, with an empty line before each but the first; at the top, before each. */
static void
append_sample_options(const Sample *sample, const TideConfigGroup *group, Margin margin, gboolean is_first)
{
  for (gsize i = 0; i < group->n_options; i++) {
    if (!is_shown(sample, group, &group->options[i]))
      continue;
    g_string_append(sample->out, is_first ? "" : "\n");
    append_sample_option(sample, group, &group->options[i], margin);
    is_first = FALSE;
  }
}

static void
append_sample_section(const Sample *sample, const TideConfigOption *section, Margin margin)
{
  const TideConfigGroup *group = section->section;

  /* An empty section may stand at the top; inside of another it would say something. */
  gboolean in_force = sample->fills != NULL ? has_fill_in_force(sample, group) : has_option_in_force(group);
  Margin inner = margin.indent > 0 && !in_force ? commented(margin) : margin;
  append_comment(sample->out, margin, group->question != NULL ? group->question : section->sentence);
  append_margin(sample->out, inner);
  g_string_append_printf(sample->out, "%s:\n", section->name);
  append_sample_options(sample, group, deeper(inner), TRUE);
}

/* @head: the comment on top. */
static char *
print_sample(const char *head, const TideConfigFill *fills)
{
  Margin margin = {0, FALSE, 0};
  Sample sample = {.out = g_string_new(NULL), .fills = fills};

  append_comment(sample.out, margin, head);
  append_sample_options(&sample, &tide_config_top, margin, FALSE);
  return g_string_free(sample.out, FALSE);
}

char *
tide_config_print_defaults(void)
{
  return print_sample(
      "The configuration of tidemark. A line such as '#threads: 2' shows an option at its default: take the "
      "# away to change it. What stands without # has no default and is yours to say. 'tidemark check' "
      "tells whether all is well; docs/configuration.md has the language of tables.",
      NULL);
}

char *
tide_config_print_filled(const char *head, const TideConfigFill *fills)
{
  return print_sample(head, fills);
}

void
tide_config_append_comment(GString *out, guint indent, const char *text)
{
  append_comment(out, (Margin){indent, FALSE, 0}, text);
}

/* The reference, in Markdown. */

static void
append_reference_row(GString *out, const TideConfigOption *option)
{
  g_autofree char *type = tide_config_option_describe_type(option);
  g_autofree char *range = tide_config_option_describe_range(option);
  g_autofree char *fallback = option->default_text != NULL ? g_strdup_printf("`%s`", option->default_text) : NULL;

  g_string_append_printf(
      out, "| `%s` | %s%s%s | %s | %s%s |\n", option->name, type, range != NULL ? ", " : "", range != NULL ? range : "",
      (option->flags & TIDE_CONFIG_REQUIRED) != 0 ? "required"
      : fallback != NULL                          ? fallback
                                                  : "not set",
      option->sentence, (option->flags & TIDE_CONFIG_RELOADS) != 0 ? " SIGHUP applies a change." : "");
}

static void
append_reference(GString *out, const TideConfigGroup *group)
{
  g_string_append_printf(out, "\n### %s\n\n", group->path);
  if (group->question != NULL)
    g_string_append_printf(out, "%s\n\n", group->question);
  g_string_append(out, "| Option | Value | Default | |\n|---|---|---|---|\n");
  for (gsize i = 0; i < group->n_options; i++)
    append_reference_row(out, &group->options[i]);
  for (gsize i = 0; i < group->n_options; i++) {
    if (group->options[i].type == TIDE_CONFIG_SECTION)
      append_reference(out, group->options[i].section);
  }
}

char *
tide_config_print_reference(void)
{
  GString *out = g_string_new(NULL);

  for (gsize i = 0; i < tide_config_top.n_options; i++) {
    const TideConfigOption *option = &tide_config_top.options[i];
    if (option->type == TIDE_CONFIG_SECTION) {
      append_reference(out, option->section);
      continue;
    }
    if (strcmp(option->name, "sources") == 0) {
      append_reference(out, &tide_source_options);
      continue;
    }
    for (const TideConfigGroup *const *group = tide_table_language; *group != NULL; group++)
      append_reference(out, *group);
  }
  return g_string_free(out, FALSE);
}
