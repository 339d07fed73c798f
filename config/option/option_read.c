/* Reads a mapping of the file by the option table of its group. */
#include "config/option/nearest_name.h"
#include "config/option/option.h"

#include <string.h>

static void
add_value_error(const TideConfigTarget *target, const TideYamlNode *node, const char *path,
                const TideConfigOption *option, const char *message)
{
  g_autofree char *name = tide_config_option_path(path, option->name);
  g_autofree char *got = tide_yaml_describe(node);

  tide_problems_add_error(target->problems, node->position, "%s %s, got %s", name, message, got);
}

/* TRUE for a scalar that can be a value; otherwise the error is added. */
static gboolean
check_text(const TideConfigTarget *target, const TideYamlNode *node, const char *path, const TideConfigOption *option)
{
  if (node->kind != TIDE_YAML_SCALAR || tide_yaml_is_null(node)) {
    add_value_error(target, node, path, option, "needs a value");
    return FALSE;
  }
  if (strlen(node->text) != node->len) {
    add_value_error(target, node, path, option, "must not contain a NUL byte");
    return FALSE;
  }
  return TRUE;
}

/* Adds one item of a list; brokers are also split at commas, as librdkafka does. Surrounding spaces are removed, except
 * from texts. */
static gboolean
read_item(const TideConfigOption *option, const char *path, const TideYamlNode *node, GPtrArray *texts,
          const TideConfigTarget *target)
{
  if (!check_text(target, node, path, option))
    return FALSE;
  char *const whole[] = {node->text, NULL};
  gboolean is_whole = option->type == TIDE_CONFIG_TEXTS;
  g_auto(GStrv) parts = g_strsplit(node->text, ",", option->type == TIDE_CONFIG_BROKERS ? -1 : 1);
  for (char *const *part = is_whole ? whole : parts; *part != NULL; part++) {
    g_autoptr(GError) error = NULL;
    if (tide_config_option_add_item(option, texts, is_whole ? *part : g_strstrip(*part), &error))
      continue;
    add_value_error(target, node, path, option, error->message);
    return FALSE;
  }
  return TRUE;
}

/* Reads a list, or a scalar as a list with one item. */
static void
read_list(const TideConfigOption *option, const char *path, const TideYamlNode *node, const TideConfigTarget *target)
{
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  gboolean is_good = TRUE;

  if (node->kind == TIDE_YAML_MAPPING) {
    gboolean has_brackets = g_str_has_prefix(option->example, "[");
    g_autofree char *needs = g_strdup_printf(has_brackets ? "needs a list: %s" : "needs a list: [%s]", option->example);
    add_value_error(target, node, path, option, needs);
    return;
  }
  for (guint i = 0; i < tide_yaml_n_items(node); i++)
    is_good &= read_item(option, path, tide_yaml_item(node, i), texts, target);
  if (is_good && texts->len == 0 && option->type != TIDE_CONFIG_TEXTS)
    tide_problems_add_error(target->problems, node->position, "'%s.%s' must not be empty", path, option->name);
  else if (is_good)
    tide_config_option_store_items(option, texts, target->base);
}

static void
read_section(const TideConfigOption *option, const char *path, const TideYamlNode *node, TideSourcePosition outer,
             const TideConfigTarget *target)
{
  g_autofree char *section_path = g_strconcat(path, *path != '\0' ? "." : "", option->name, NULL);
  TideConfigTarget inner = *target;

  inner.base = (guint8 *)target->base + option->offset;
  tide_config_group_read(option->section, section_path, node, outer, &inner);
}

static void
read_option(const TideConfigOption *option, const char *path, const TideYamlNode *node, const TideConfigTarget *target)
{
  g_autoptr(GError) error = NULL;

  if (option->type == TIDE_CONFIG_SECTION)
    read_section(option, path, node, node->position, target);
  else if (tide_config_option_is_list(option))
    read_list(option, path, node, target);
  else if (option->type != TIDE_CONFIG_STRUCTURE && check_text(target, node, path, option) &&
           !tide_config_option_parse(option, node->text, target, &error))
    add_value_error(target, node, path, option, error->message);
}

/* The path of the option @name in @group or below it; NULL: none. */
static char *
find_path(const TideConfigGroup *group, const char *name)
{
  for (gsize i = 0; group != NULL && i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    char *path = option->type == TIDE_CONFIG_SECTION ? find_path(option->section, name) : NULL;
    if (path != NULL)
      return path;
    if (strcmp(option->name, name) == 0)
      return g_strdup_printf("%s%s%s", group->path, *group->path != '\0' ? "." : "", name);
  }
  return NULL;
}

/* The option of @group that the unknown key @name probably means. */
static const char *
nearest_option(const TideConfigGroup *group, const char *name)
{
  g_autofree const char **names = g_new0(const char *, group->n_options + 1);

  for (gsize i = 0; i < group->n_options; i++)
    names[i] = group->options[i].name;
  return tide_nearest_name(name, names);
}

static char *
list_options(const TideConfigGroup *group)
{
  GString *all = g_string_new(NULL);

  for (gsize i = 0; i < group->n_options; i++)
    g_string_append_printf(all, "%s%s", i > 0 ? ", " : "", group->options[i].name);
  return g_string_free(all, FALSE);
}

static void
add_unknown_key(const TideConfigGroup *group, const char *path, const TideYamlNode *key, const TideConfigTarget *target)
{
  g_autofree char *shown = tide_config_option_path(path, key->is_secret ? "***" : key->text);
  const char *nearest = nearest_option(group, key->text);
  g_autofree char *elsewhere = nearest == NULL ? find_path(target->top, key->text) : NULL;

  if (nearest != NULL || elsewhere != NULL) {
    tide_problems_add_error(target->problems, key->position, "%s is not known; did you mean '%s'?", shown,
                            nearest != NULL ? nearest : elsewhere);
    return;
  }
  g_autofree char *all = list_options(group);
  tide_problems_add_error(target->problems, key->position, "%s is not known; known options here: %s", shown, all);
}

/* TRUE if @mapping has a mistyped key that means @option, which was reported: one mistake, one message. */
static gboolean
is_mistyped(const TideConfigGroup *group, const TideYamlNode *mapping, const TideConfigOption *option)
{
  const char *const only[] = {option->name, NULL};

  for (guint i = 0; mapping != NULL && i < mapping->keys->len; i++) {
    const char *key = ((const TideYamlNode *)g_ptr_array_index(mapping->keys, i))->text;
    gboolean may_be = tide_nearest_name(key, only) != NULL; /* cheap, also for a mapping with thousands of wrong keys */
    if (may_be && tide_config_option_find(group, key) == NULL && nearest_option(group, key) == option->name)
      return TRUE;
  }
  return FALSE;
}

static void
add_missing(const TideConfigGroup *group, const char *path, const TideYamlNode *mapping, TideSourcePosition outer,
            const TideConfigTarget *target)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    gboolean is_needed = option->type == TIDE_CONFIG_SECTION || (option->flags & TIDE_CONFIG_REQUIRED) != 0;
    if (!is_needed || tide_yaml_get(mapping, option->name) != NULL || is_mistyped(group, mapping, option))
      continue;
    if (option->type == TIDE_CONFIG_SECTION) {
      read_section(option, path, NULL, outer, target);
    } else {
      g_autofree char *name = tide_config_option_path(path, option->name);
      if (target->waived != NULL && strncmp(name + 1, target->waived, strlen(target->waived)) == 0)
        continue;
      tide_problems_add_error(target->problems, outer, "%s is missing: add, for example, '%s: %s'", name, option->name,
                              option->example);
    }
  }
}

static const TideConfigOption *
find_by_old_name(const TideConfigGroup *group, const char *name)
{
  for (gsize i = 0; i < group->n_options; i++)
    if (g_strcmp0(group->options[i].was, name) == 0)
      return &group->options[i];
  return NULL;
}

/* @key of @mapping is the former name of @option. It is renamed in the tree, where other code looks for the new
 * name. */
static void
take_old_name(const TideConfigOption *option, const char *path, const TideYamlNode *mapping, TideYamlNode *key,
              const TideConfigTarget *target)
{
  g_autofree char *old = tide_config_option_path(path, option->was);
  g_autofree char *name = tide_config_option_path(path, option->name);
  if (tide_yaml_get(mapping, option->name) != NULL) {
    tide_problems_add_error(target->problems, key->position, "%s is the old name of %s, which is also set: remove it",
                            old, name);
    return;
  }
  tide_problems_add_warning(target->problems, key->position,
                            "%s is now called %s: rename it; the next release no longer accepts the old name", old,
                            name);
  g_free(key->text);
  key->text = g_strdup(option->name);
  key->len = strlen(key->text);
}

void
tide_config_group_read(const TideConfigGroup *group, const char *path, const TideYamlNode *node,
                       TideSourcePosition outer, const TideConfigTarget *target)
{
  if (!tide_yaml_is_null(node) && node->kind == TIDE_YAML_SCALAR && group->scalar != NULL) {
    read_option(tide_config_option_find(group, group->scalar), path, node, target);
    return;
  }
  if (!tide_yaml_is_null(node) && node->kind != TIDE_YAML_MAPPING) {
    g_autofree char *got = tide_yaml_describe(node);
    g_autofree char *name = tide_problem_quote(path);
    if (*path == '\0') /* a text alone is not shown: the file may be a password file that was given by mistake */
      tide_problems_add_error(target->problems, node->position,
                              "a configuration consists of sections ('kafka:', 'hbase:', 'tables:'), got %s",
                              node->kind == TIDE_YAML_SCALAR ? "a text" : got);
    else {
      g_autofree char *all = list_options(group);
      tide_problems_add_error(target->problems, node->position,
                              "'%s' must be a mapping ('key: value'), got %s; known options here: %s", name, got, all);
    }
    return;
  }
  const TideYamlNode *mapping = tide_yaml_is_null(node) ? NULL : node;
  for (guint i = 0; mapping != NULL && i < mapping->keys->len; i++) {
    TideYamlNode *key = g_ptr_array_index(mapping->keys, i);
    const TideConfigOption *renamed = find_by_old_name(group, key->text);
    if (renamed != NULL)
      take_old_name(renamed, path, mapping, key, target);
    const TideConfigOption *option = tide_config_option_find(group, key->text);
    if (option == NULL && renamed == NULL)
      add_unknown_key(group, path, key, target);
    else if (option != NULL)
      read_option(option, path, g_ptr_array_index(mapping->values, i), target);
  }
  add_missing(group, path, mapping, outer, target);
}
