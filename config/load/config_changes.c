#include "config/load/config_changes.h"

#include "config/option/option_table.h"

typedef struct Comparison {
  const TideConfig *before;
  const TideConfig *after;
  GPtrArray *changes;
} Comparison;

static void
free_change(gpointer data)
{
  TideConfigChange *change = data;
  g_free(change->path);
  g_free(change);
}

static gboolean
properties_differ(const TideKafkaConfig *before, const TideKafkaConfig *after)
{
  if (before->properties->len != after->properties->len)
    return TRUE;
  for (guint i = 0; i < before->properties->len; i++) {
    const TideKafkaProperty *a = &g_array_index(before->properties, TideKafkaProperty, i);
    const TideKafkaProperty *b = &g_array_index(after->properties, TideKafkaProperty, i);
    if (strcmp(a->name, b->name) != 0 || g_strcmp0(a->value, b->value) != 0)
      return TRUE;
  }
  return FALSE;
}

/* @before, @after: the structs of the option's group. */
static gboolean
differs(const Comparison *comparison, const TideConfigOption *option, gconstpointer before, gconstpointer after)
{
  if (option->type == TIDE_CONFIG_STRUCTURE && strcmp(option->name, "tables") == 0)
    return strcmp(comparison->before->tables_yaml, comparison->after->tables_yaml) != 0;
  if (option->type == TIDE_CONFIG_STRUCTURE)
    return properties_differ(&comparison->before->kafka, &comparison->after->kafka);
  g_autofree char *old = tide_config_option_print_value(option, before, comparison->before->names);
  g_autofree char *new = tide_config_option_print_value(option, after, comparison->after->names);
  return g_strcmp0(old, new) != 0;
}

static void
compare_group(Comparison *comparison, const TideConfigGroup *group, const char *path, gconstpointer before,
              gconstpointer after)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autofree char *name = g_strconcat(path, *path != '\0' ? "." : "", option->name, NULL);
    if (option->type == TIDE_CONFIG_SECTION) {
      compare_group(comparison, option->section, name, (const guint8 *)before + option->offset,
                    (const guint8 *)after + option->offset);
    } else if (differs(comparison, option, before, after)) {
      TideConfigChange *change = g_new(TideConfigChange, 1);
      *change = (TideConfigChange){g_steal_pointer(&name), (option->flags & TIDE_CONFIG_RELOADS) != 0};
      g_ptr_array_add(comparison->changes, change);
    }
  }
}

GPtrArray *
tide_config_changes(const TideConfig *before, const TideConfig *after)
{
  Comparison comparison = {before, after, g_ptr_array_new_with_free_func(free_change)};
  compare_group(&comparison, &tide_config_top, "", before, after);
  return comparison.changes;
}

static void
take_over_group(const TideConfigGroup *group, gpointer base, gconstpointer after)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    if (option->type == TIDE_CONFIG_SECTION)
      take_over_group(option->section, (guint8 *)base + option->offset, (const guint8 *)after + option->offset);
    else if (option->flags & TIDE_CONFIG_RELOADS)
      tide_config_option_take_over(option, base, after);
  }
}

void
tide_config_take_over(TideConfig *config, const TideConfig *after)
{
  take_over_group(&tide_config_top, config, after);
}
