/* A configuration out of a test's own text, and what is said of it. */
#pragma once

#include "config/config.h"

static inline TideConfig *
load_config(const char *text, GPtrArray **ret_problems)
{
  return tide_config_load_text("test.yaml", tide_bytes_of_string(text), ret_problems);
}

/* "L:C error: text" of each, one a line. */
static inline char *
describe_problems(const GPtrArray *problems)
{
  GString *all = g_string_new(NULL);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = g_ptr_array_index(problems, i);
    g_string_append_printf(all, "%u:%u %s: %s\n", problem->line, problem->column,
                           problem->severity == TIDE_CONFIG_ERROR ? "error" : "warning", problem->text);
  }
  return g_string_free(all, FALSE);
}

/* One that must load; warnings do not matter. (transfer full) */
static inline TideConfig *
load_text(const char *yaml)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = load_config(yaml, &problems);
  if (config == NULL) {
    g_autofree char *all = describe_problems(problems);
    g_error("%s\n%s", yaml, all);
  }
  return config;
}
