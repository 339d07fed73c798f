#include "config/yaml/yaml_env.h"

#include "config/yaml/secret.h"

#include <string.h>

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
  /* As if in quotes: nothing in it is read as YAML. */
  node->kind = TIDE_YAML_SCALAR;
  node->text = g_strdup(text);
  node->len = strlen(text);
  node->is_quoted = TRUE;
  g_clear_pointer(&node->keys, g_ptr_array_unref);
  g_clear_pointer(&node->values, g_ptr_array_unref); /* last: the variable is in it */
}

void
tide_yaml_put_in_environment(TideYamlNode *node, GPtrArray *problems)
{
  const TideYamlNode *variable =
      node->kind == TIDE_YAML_MAPPING && node->keys->len == 1 ? tide_yaml_get(node, "env") : NULL;
  if (variable != NULL && variable->kind == TIDE_YAML_SCALAR && !tide_yaml_is_null(variable)) {
    put_in(node, variable, problems);
    return;
  }
  for (guint i = 0; node->kind != TIDE_YAML_SCALAR && i < node->values->len; i++) {
    const TideYamlNode *key = node->keys != NULL ? g_ptr_array_index(node->keys, i) : NULL;
    if (key == NULL || !tide_secret_is_name(key->text))
      tide_yaml_put_in_environment(g_ptr_array_index(node->values, i), problems);
  }
}
