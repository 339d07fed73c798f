#include "commands/load_config.h"

#include "flow/kafka_check.h"

TideOption
tide_config_option(const char **path)
{
  return (TideOption){.name = "config",
                      .letter = 'c',
                      .kind = TIDE_OPTION_TEXT,
                      .target = path,
                      .value_name = "FILE",
                      .sentence = "configuration (" TIDE_DEFAULT_CONFIG_PATH ")"};
}

guint
tide_config_problems_print(FILE *stream, const char *path, const GPtrArray *problems)
{
  guint n_errors = 0;
  g_autofree char *source = NULL;
  /* A pipe was read already and is empty now: problems are shown without their lines then. */
  if (problems->len > 0 && g_file_test(path, G_FILE_TEST_IS_REGULAR))
    (void)g_file_get_contents(path, &source, NULL, NULL);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = problems->pdata[i];
    g_autofree char *text = tide_config_problem_format(problem, path, source);
    fprintf(stream, "%s%s", text, g_str_has_suffix(text, "\n") ? "" : "\n");
    n_errors += problem->severity == TIDE_CONFIG_ERROR ? 1 : 0;
  }
  return n_errors;
}

TideConfig *
tide_command_read_config(const char *path, GPtrArray **ret_problems)
{
  g_autoptr(TideConfig) config = tide_config_load(path, ret_problems);
  if (config == NULL)
    return NULL;
  tide_kafka_check_properties(config, *ret_problems);
  tide_problems_sort(*ret_problems);
  return tide_problems_n_errors(*ret_problems) == 0 ? g_steal_pointer(&config) : NULL;
}

TideConfig *
tide_command_load_config_and_problems(const TideCommandLine *line, const char *path, GPtrArray **ret_problems)
{
  g_autoptr(TideConfig) config = tide_command_read_config(path, ret_problems);
  if (config != NULL)
    return g_steal_pointer(&config);
  guint n_errors = tide_config_problems_print(stderr, path, *ret_problems);
  fprintf(stderr, "tidemark %s: the configuration '%s' has %u error%s\n", line->command, path, n_errors,
          n_errors == 1 ? "" : "s");
  return NULL;
}

TideConfig *
tide_command_load_config(const TideCommandLine *line, const char *path)
{
  g_autoptr(GPtrArray) problems = NULL;
  return tide_command_load_config_and_problems(line, path, &problems);
}
