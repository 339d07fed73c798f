#include "commands/cli/load_config.h"

#include "commands/cli/output.h"
#include "decode/avro_container.h"
#include "kafka/kafka_conf.h"
#include "util/error.h"
#include "util/units.h"

const char *
tide_command_config_path(const TideCommandCall *call)
{
  return call->config_path != NULL ? call->config_path : TIDE_DEFAULT_CONFIG_PATH;
}

char *
tide_config_option(const char *path)
{
  if (path == NULL)
    return g_strdup("");
  g_autofree char *word = tide_shell_word(path);
  return g_strdup_printf(" -c %s", word);
}

guint
tide_config_problems_print(FILE *stream, const char *path, const GPtrArray *problems)
{
  guint n_errors = 0;
  g_autofree char *source = NULL;
  gboolean has_lines = FALSE; /* at least one concerns a line, not the whole file */
  for (guint i = 0; i < problems->len && !has_lines; i++)
    has_lines = ((const TideConfigProblem *)problems->pdata[i])->line > 0;
  /* A pipe was already read and is now empty: problems are then shown without their lines. A file that is too large to
   * be read is not read for this either. */
  if (has_lines && g_file_test(path, G_FILE_TEST_IS_REGULAR))
    (void)g_file_get_contents(path, &source, NULL, NULL);
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = problems->pdata[i];
    g_autofree char *text = tide_config_problem_format(problem, path, source);
    fprintf(stream, "%s%s", text, g_str_has_suffix(text, "\n") ? "" : "\n");
    n_errors += problem->severity == TIDE_CONFIG_ERROR ? 1 : 0;
  }
  return n_errors;
}

gboolean
tide_config_check_properties(const TideConfig *config, GPtrArray *problems)
{
  if (config == NULL)
    return FALSE;
  tide_kafka_check_properties(config, problems);
  tide_problems_sort(problems);
  return tide_problems_n_errors(problems) == 0;
}

gboolean
tide_command_read_config(TideCommandCall *call)
{
  g_autoptr(TideConfig) config = tide_config_load(tide_command_config_path(call), &call->problems);
  if (!tide_config_check_properties(config, call->problems))
    return FALSE;
  call->config = g_steal_pointer(&config);
  return TRUE;
}

gboolean
tide_command_load_config(TideCommandCall *call)
{
  if (tide_command_read_config(call))
    return TRUE;
  const char *path = tide_command_config_path(call);
  g_autofree char *errors = tide_count_of(tide_config_problems_print(stderr, path, call->problems), "error", NULL);
  tide_say("tidemark %s: the configuration '%s' has %s", call->command->name, path, errors);
  call->failure_code = TIDE_EXIT_CONFIG;
  return FALSE;
}

static TideConfigSource *
find_source(const TideConfig *config, const char *name, GError **error)
{
  g_autoptr(GString) names = g_string_new(NULL);
  if (name == NULL && config->sources->len == 1)
    return config->sources->pdata[0];
  for (guint i = 0; i < config->sources->len; i++) {
    TideConfigSource *source = config->sources->pdata[i];
    if (source->name == NULL)
      continue;
    if (name != NULL && strcmp(source->name, name) == 0)
      return source;
    g_string_append_printf(names, "%s'%s'", names->len > 0 ? ", " : "", source->name);
  }
  if (names->len == 0)
    tide_fail(error, TIDE_ERROR_USAGE, "'--source %s': the configuration has no 'sources'", name);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "'--source' must name the source of the files: %s", names->str);
  return NULL;
}

TideConfigSource *
tide_command_choose_source(TideConfig *config, const char *name, GError **error)
{
  TideConfigSource *source = find_source(config, name, error);
  if (source == NULL)
    return NULL;
  if (source->readings->decode.format == TIDE_FORMAT_AVRO) {
    /* An Avro file contains its own schema, and so does each of its records. */
    TideDecodeOptions *decode = source->readings == &source->own ? &source->own.decode : &config->readings.decode;
    decode->containers = TRUE;
    decode->max_message_bytes = MIN(decode->max_message_bytes, G_MAXUINT32 - TIDE_AVRO_HEAD_MAX_BYTES);
    decode->max_message_bytes += TIDE_AVRO_HEAD_MAX_BYTES;
  }
  for (guint i = config->sources->len; i > 0; i--)
    if (g_ptr_array_index(config->sources, i - 1) != source) {
      g_ptr_array_remove_index(config->sources, i - 1);
      config->is_narrowed = TRUE;
    }
  return source;
}
