/* Conditions that a reading must meet for a table to use it, or for a default to apply. */
#include "config/load/load_table.h"

#include <string.h>

/* The tests that a condition may contain. */
static const struct {
  const char *name;
  TideConditionKind kind;
  gboolean negated;
} tests[] = {
    {"present", TIDE_CONDITION_PRESENT, FALSE},    {"equals", TIDE_CONDITION_EQUALS, FALSE},
    {"not_equals", TIDE_CONDITION_EQUALS, TRUE},   {"matches", TIDE_CONDITION_MATCHES, FALSE},
    {"not_matches", TIDE_CONDITION_MATCHES, TRUE},
};

/* Index in `tests` of the one that @node contains; -1 with the error added. */
static int
find_test(TideLoad *load, const char *path, const TideYamlNode *node)
{
  int found = -1;

  for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
    if (tide_yaml_get(node, tests[i].name) == NULL)
      continue;
    if (found >= 0) {
      tide_load_error(load, node,
                      "'%s' contains both '%s' and '%s': write two conditions in a list, which must both hold", path,
                      tests[found].name, tests[i].name);
      return -1;
    }
    found = (int)i;
  }
  if (found < 0)
    tide_load_error(load, node,
                    "'%s' contains no test of the field: add 'present: true', 'equals: TEXT' or 'matches: PATTERN'",
                    path);
  return found;
}

static void
load_values(TideLoad *load, const char *path, const TideYamlNode *node, TideCondition *condition)
{
  gsize n = tide_yaml_n_items(node);

  condition->values = g_new0(TideBytes, MAX(n, 1));
  if (n == 0)
    tide_load_error(load, node, "'%s' has no text to compare with", path);
  for (gsize i = 0; i < n; i++) {
    const TideYamlNode *item = tide_yaml_item(node, i);
    if (item->kind != TIDE_YAML_SCALAR || tide_yaml_is_null(item)) {
      g_autofree char *got = tide_yaml_describe(item);
      tide_load_error(
          load, item,
          "'%s' must be a text or a list of texts, got %s; for an absent or null field write 'present: false'", path,
          got);
      continue;
    }
    /* One extra byte, so that an empty text can be freed like the others. */
    condition->values[condition->n_values++] = tide_bytes(g_memdup2(item->text, item->len + 1), item->len);
  }
}

static void
load_condition(TideLoad *load, const char *path, const TideYamlNode *node, GArray *conditions)
{
  TideConditionDraft draft = {.field = TIDE_NAME_NONE};
  TideConfigTarget target = {.base = &draft, .names = load->config->names, .problems = load->problems};
  guint n_errors = tide_problems_n_errors(load->problems);

  tide_config_group_read(&tide_condition_options, path, node, node->position, &target);
  if (tide_problems_n_errors(load->problems) != n_errors)
    return;
  int test = find_test(load, path, node);
  if (test < 0)
    return;
  TideCondition condition = {.kind = tests[test].kind, .field = draft.field, .negated = tests[test].negated};
  if (condition.kind == TIDE_CONDITION_PRESENT) {
    condition.kind = draft.present ? TIDE_CONDITION_PRESENT : TIDE_CONDITION_ABSENT;
  } else {
    g_autofree char *values_path = g_strconcat(path, ".", tests[test].name, NULL);
    load_values(load, values_path, tide_yaml_get(node, tests[test].name), &condition);
  }
  g_array_append_val(conditions, condition);
}

void
tide_load_conditions(TideLoad *load, const char *path, const TideYamlNode *node, GArray *conditions)
{

  if (tide_yaml_n_items(node) == 0)
    tide_load_error(load, node, "'%s' is empty: remove it to use all readings", path);
  for (guint i = 0; i < tide_yaml_n_items(node); i++)
    load_condition(load, path, tide_yaml_item(node, i), conditions);
}
