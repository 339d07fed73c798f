/* The configuration as text: the options in force, a sample, and the reference. All are generated from the option
 * tables. */
#include "config/load/load_pieces.h"
#include "config/option/field_language.h"
#include "config/option/option_table.h"
#include "config/option/table_language.h"
#include "config/yaml/yaml_text.h"

#define WRAP_COLUMNS 98

static void
append_spaces(GString *out, guint n)
{
  g_string_append_printf(out, "%*s", (int)n, "");
}

/* The options in force. */

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

/* tables_yaml has a line for each table, in the order of the tables, and one for each of its options below it. */
char *
tide_config_print_tables(const TideConfig *config, gboolean with_rates)
{
  g_auto(GStrv) lines = g_strsplit(config->tables_yaml, "\n", -1);
  GString *text = g_string_new(NULL);
  guint n_tables = 0;
  for (char **line = lines; *line != NULL; line++) {
    if (!g_str_has_prefix(*line, "    rows_per_second:"))
      g_string_append_printf(text, "%s%s", *line, line[1] != NULL ? "\n" : "");
    if (!g_str_has_prefix(*line, "  ") || (*line)[2] == ' ')
      continue;
    const TideTable *table = config->tables->pdata[n_tables++];
    if (with_rates && table->rows_per_second > 0)
      g_string_append_printf(text, "    rows_per_second: %u\n", table->rows_per_second);
  }
  return g_string_free(text, FALSE);
}

/* @base: the group's struct in @config. */
static void
append_section(GString *out, const TideConfigGroup *group, gconstpointer base, const TideConfig *config, guint indent)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    gboolean is_short_form = option->type == TIDE_CONFIG_TOPICS || strcmp(option->name, "readings") == 0;
    /* Options that have a default, but that this configuration must not contain. */
    if (is_short_form ? config->sources_yaml != NULL
                      : strcmp(group->path, "readings") == 0 &&
                            !tide_load_format_takes(config->readings.decode.format, option->name))
      continue;
    if (option->type == TIDE_CONFIG_SECTION) {
      g_autoptr(GString) inner = g_string_new(NULL); /* omitted if nothing in it is set */
      append_section(inner, option->section, (const guint8 *)base + option->offset, config, indent + 2);
      if (inner->len > 0)
        g_string_append_printf(out, "%*s%s:\n%s", (int)indent, "", option->name, inner->str);
    } else if (strcmp(option->name, "librdkafka") == 0) {
      append_properties(out, &config->kafka, indent);
    } else {
      const char *form = option->type == TIDE_CONFIG_STRUCTURE ? "%*s%s:%s" : "%*s%s: %s\n";
      g_autofree char *value = strcmp(option->name, "tables") == 0 && group == &tide_config_top
                                   ? tide_config_print_tables(config, TRUE)
                                   : tide_config_option_print_value(option, base, config->names);
      if (value != NULL)
        g_string_append_printf(out, form, (int)indent, "", option->name, value);
    }
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

/* Position of a sample's lines: at @indent, and after a # in column @commented_at if they are not in force. */
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

/* The options in a sample: all, or those with a given value. */
typedef struct Sample {
  GString *out;
  const TideConfigFill *fills; /* NULL: all, at their defaults; otherwise terminated by a NULL path */
} Sample;

/* How much of an option a sample shows. */
typedef enum Shown {
  SHOWN_NOT,
  SHOWN_COMMENTED, /* at its default, or as an example */
  SHOWN_IN_FORCE,
} Shown;

/* @ret_value: (nullable): the option's given value. A section is shown as much as the option in it that is shown
 * most. */
static Shown
shown_of(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option, const char **ret_value)
{
  Shown most = SHOWN_NOT;
  if (option->type == TIDE_CONFIG_SECTION) {
    for (gsize i = 0; i < option->section->n_options; i++)
      most = MAX(most, shown_of(sample, option->section, &option->section->options[i], NULL));
    return most;
  }
  if (sample->fills == NULL)
    return (option->flags & (TIDE_CONFIG_REQUIRED | TIDE_CONFIG_IN_SAMPLE)) != 0 ? SHOWN_IN_FORCE : SHOWN_COMMENTED;
  g_autofree char *path = g_strconcat(group->path, group->path[0] != '\0' ? "." : "", option->name, NULL);
  for (const TideConfigFill *fill = sample->fills; fill->path != NULL; fill++) {
    if (strcmp(fill->path, path) != 0)
      continue;
    if (ret_value != NULL)
      *ret_value = fill->value;
    return fill->value != NULL ? SHOWN_IN_FORCE : SHOWN_COMMENTED;
  }
  return SHOWN_NOT;
}

static void
append_sample_option(const Sample *sample, const TideConfigGroup *group, const TideConfigOption *option, Margin margin)
{
  const char *value = option->default_text != NULL ? option->default_text : option->example, *given = NULL;
  g_autofree char *range = tide_config_option_describe_range(option);
  gboolean has_choices = option->type == TIDE_CONFIG_CHOICE && option->choices[1].name != NULL;
  g_autofree char *names = has_choices ? tide_config_choices_join(option->choices, "") : NULL;
  const char *values = range != NULL ? range : names; /* NULL: the value speaks for itself */
  g_autofree char *comment =
      values != NULL ? g_strdup_printf("%s [%s]", option->sentence, values) : g_strdup(option->sentence);
  append_comment(sample->out, margin, comment);
  if (shown_of(sample, group, option, &given) != SHOWN_IN_FORCE && !margin.is_commented)
    margin = (Margin){margin.indent, TRUE, margin.indent};
  value = given != NULL ? given : value;
  append_margin(sample->out, margin);
  if (option->type != TIDE_CONFIG_STRUCTURE) {
    g_string_append_printf(sample->out, "%s: %s\n", option->name, value);
    return;
  }
  g_string_append_printf(sample->out, "%s:\n", option->name);
  g_auto(GStrv) lines = g_strsplit(value, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    if (**line != '\0')
      append_margin(sample->out, deeper(margin));
    g_string_append_printf(sample->out, "%s\n", *line);
  }
}

/* The options that are shown, separated by empty lines; at the top level also before the first. */
static void
append_sample_options(const Sample *sample, const TideConfigGroup *group, Margin margin, gboolean is_first)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    Shown shown = shown_of(sample, group, option, NULL);
    if (shown == SHOWN_NOT)
      continue;
    g_string_append(sample->out, is_first ? "" : "\n");
    is_first = FALSE;
    if (option->type != TIDE_CONFIG_SECTION) {
      append_sample_option(sample, group, option, margin);
      continue;
    }
    const char *question = option->section->question;
    append_comment(sample->out, margin, question != NULL ? question : option->sentence);
    /* An empty section is allowed at the top level; inside another section it would have a meaning. */
    Margin inner = margin;
    if (margin.indent > 0 && shown != SHOWN_IN_FORCE && !margin.is_commented)
      inner = (Margin){margin.indent, TRUE, margin.indent};
    append_margin(sample->out, inner);
    g_string_append_printf(sample->out, "%s:\n", option->name);
    append_sample_options(sample, option->section, deeper(inner), TRUE);
  }
}

char *
tide_config_print_filled(const char *head, const TideConfigFill *fills)
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
  return tide_config_print_filled("Configuration of tidemark. A line such as '#threads: 2' shows an option at its "
                                  "default: remove the # to change it. Lines without # have no default; fill in your "
                                  "values. 'tidemark check' verifies the file; docs/tables.md describes tables.",
                                  NULL);
}

void
tide_config_append_comment(GString *out, guint indent, const char *text)
{
  append_comment(out, (Margin){indent, FALSE, 0}, text);
}

/* The reference, in Markdown. */

/* The name of an option's link: "kafka.brokers", "tables.table.ttl", "key-part--field.width". (transfer full) */
static char *
anchor_of(const TideConfigGroup *group, const TideConfigOption *option)
{
  g_autofree char *path = g_strdup_printf("%s.%s", group->path, option->name);
  return g_strcanon(g_ascii_strdown(path, -1), G_CSET_a_2_z G_CSET_DIGITS "._", '-');
}

static void
append_reference(GString *out, const TideConfigGroup *group)
{
  g_string_append_printf(out, "\n## %s\n\n", group->path);
  if (group->question != NULL)
    g_string_append_printf(out, "%s\n\n", group->question);
  g_string_append(out, "| Option | Value | Default | |\n|---|---|---|---|\n");
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autofree char *type = tide_config_option_describe_type(option);
    g_autofree char *range = tide_config_option_describe_range(option);
    g_autofree char *fallback = option->default_text != NULL ? g_strdup_printf("`%s`", option->default_text) : NULL;
    g_autofree char *anchor = anchor_of(group, option);
    g_string_append_printf(out, "| <a id=\"%s\"></a>`%s` | %s%s%s | %s | %s%s |\n", anchor, option->name, type,
                           range != NULL ? ", " : "", range != NULL ? range : "",
                           (option->flags & TIDE_CONFIG_REQUIRED) != 0 ? "required"
                           : fallback != NULL                          ? fallback
                                                                       : "not set",
                           option->sentence,
                           (option->flags & TIDE_CONFIG_RELOADS) != 0 ? " SIGHUP applies a change." : "");
  }
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
      for (const TideConfigGroup *const *step = tide_field_language;
           option->section == &tide_readings_options && *step != NULL; step++)
        append_reference(out, *step);
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
