#include "config/yaml/yaml_env.h"

#include "config/yaml/secret.h"

#include <string.h>

/* The variable that @node, `{ env: NAME }`, stands for; NULL: it is something else. */
static const TideYamlNode *
variable_of(const TideYamlNode *node)
{
  const TideYamlNode *variable =
      node->kind == TIDE_YAML_MAPPING && node->keys->len == 1 ? tide_yaml_get(node, "env") : NULL;
  return variable != NULL && variable->kind == TIDE_YAML_SCALAR && !tide_yaml_is_null(variable) ? variable : NULL;
}

/* Makes @node, which was a mapping, a text as if in quotes: nothing in it is read as YAML. */
static void
become_text(TideYamlNode *node, const char *text)
{
  g_clear_pointer(&node->keys, g_ptr_array_unref);
  g_clear_pointer(&node->values, g_ptr_array_unref);
  node->kind = TIDE_YAML_SCALAR;
  node->text = g_strdup(text);
  node->len = strlen(text);
  node->is_quoted = TRUE;
}

static void
put_in(TideYamlNode *node, const TideYamlNode *variable, GPtrArray *problems)
{
  const char *text = g_getenv(variable->text);
  const char *fault = text == NULL                       ? "is not set"
                      : *text == '\0'                    ? "is empty"
                      : !g_utf8_validate(text, -1, NULL) ? "is not UTF-8 text"
                                                         : NULL;
  if (fault != NULL) {
    g_autofree char *name = tide_problem_quote(variable->text);
    tide_problems_add_error(
        problems, variable->position,
        "the environment variable '%s' %s: give it to the process (Environment= of the unit, -e of a "
        "container)",
        name, fault);
    text = "";
  }
  become_text(node, text);
}

static void
put_in_all(GPtrArray *nodes, const GPtrArray *keys, GPtrArray *problems)
{
  for (guint i = 0; i < nodes->len; i++)
    if (keys == NULL || !tide_secret_is_name(((const TideYamlNode *)g_ptr_array_index(keys, i))->text))
      tide_yaml_put_in_environment(g_ptr_array_index(nodes, i), problems);
}

void
tide_yaml_put_in_environment(TideYamlNode *node, GPtrArray *problems)
{
  const TideYamlNode *variable = variable_of(node);
  if (variable != NULL)
    put_in(node, variable, problems);
  else if (node->kind != TIDE_YAML_SCALAR)
    put_in_all(node->values, node->keys, problems);
}
