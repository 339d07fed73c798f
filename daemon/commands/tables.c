/* `tidemark tables`: creates the declared tables, or shows how those in HBase differ from their declaration. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/create_tables.h"
#include "commands/key_arguments.h"
#include "commands/load_config.h"
#include "commands/output.h"
#include "commands/show_tables.h"
#include "config/nearest_name.h"

/* A sample that is not there in so long will not come. */
#define SAMPLE_TIMEOUT_MS 60000

typedef struct TablesOptions {
  const char *config_path;
  gboolean dry_run;
  guint64 sample; /* messages; 0: none */
  const char *topic;
  guint64 regions; /* 0: as declared */
  int format;      /* TideOutputFormat */
} TablesOptions;

/* The tables named in @arguments behind the verb; all when none is. (element-type TideTable, borrowed) */
static GPtrArray *
choose_tables(const TideConfig *config, const GPtrArray *arguments, GError **error)
{
  g_autoptr(GPtrArray) tables = g_ptr_array_new();
  for (guint i = 1; i < arguments->len; i++) {
    const TideTable *table = tide_table_argument_find(config, arguments->pdata[i], error);
    if (table == NULL)
      return NULL;
    g_ptr_array_add(tables, (gpointer)table);
  }
  for (guint i = 0; arguments->len == 1 && i < config->tables->len; i++)
    g_ptr_array_add(tables, config->tables->pdata[i]);
  return g_steal_pointer(&tables);
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

static gboolean
check_verb(const GPtrArray *arguments, GError **error)
{
  static const char *const verbs[] = {"create", "show", NULL};
  if (arguments->len == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "say what to do: create or show");
    return FALSE;
  }
  const char *verb = arguments->pdata[0];
  if (g_strv_contains(verbs, verb))
    return TRUE;
  const char *nearest = tide_nearest_name(verb, verbs);
  if (nearest != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "cannot '%s' tables: did you mean '%s'?", verb, nearest);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "cannot '%s' tables: say create or show", verb);
  return FALSE;
}

int
tide_command_tables(int argc, char **argv)
{
  TablesOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "dry-run",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.dry_run,
       .sentence = "create: only print the commands of HBase's shell that do the same"},
      {.name = "sample",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.sample,
       .value_name = "N",
       .sentence = "create: take the split points from the row keys that the first N messages make",
       .min = 1,
       .max = 10000000},
      {.name = "topic",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.topic,
       .value_name = "NAME",
       .sentence = "the topic to sample (the configured one)"},
      {.name = "regions",
       .kind = TIDE_OPTION_COUNT,
       .target = &options.regions,
       .value_name = "N",
       .sentence = "how many regions a sample is divided into (as the table's 'regions' says)",
       .min = 2,
       .max = 10000},
      {.name = "format",
       .letter = 'f',
       .kind = TIDE_OPTION_CHOICE,
       .target = &options.format,
       .value_name = "FORMAT",
       .sentence = "show: table, csv or json (table)",
       .choices = tide_output_format_names},
  };
  const TideCommandLine line = {
      .command = "tables",
      .arguments = "create|show [TABLE…]",
      .summary = "Creates the declared tables that are missing, or compares those in HBase with their declaration.",
      .details = "create  makes tables with their families and split points, and the namespaces they need. It changes "
                 "no table\n"
                 "        that exists and may be run again at any time.\n"
                 "show    exits with 1 when a table is missing or differs.\n"
                 "\n"
                 "Examples:\n"
                 "  tidemark tables create -c tidemark.yaml\n"
                 "  tidemark tables create -c tidemark.yaml --dry-run | hbase shell -n\n"
                 "  tidemark tables create METRIC --sample 100000 --regions 16\n"
                 "  tidemark tables show METRIC",
      .max_arguments = G_MAXUINT,
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(GError) error = NULL;
  if (!check_verb(arguments, &error))
    return tide_command_fail(&line, error);
  g_autoptr(TideConfig) config = tide_command_load_config(&line, options.config_path);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  g_autoptr(GPtrArray) tables = choose_tables(config, arguments, &error);
  if (tables == NULL)
    return tide_command_fail(&line, error);
  if (strcmp(arguments->pdata[0], "create") == 0) {
    TideCreateOptions create = {.dry_run = options.dry_run,
                                .sample = {.topic = options.topic,
                                           .max_messages = options.sample,
                                           .timeout_ms = SAMPLE_TIMEOUT_MS,
                                           .regions = (guint32)options.regions}};
    return tide_tables_create(&line, config, tables, &create);
  }
  return tide_tables_show(&line, config, tables, (TideOutputFormat)options.format);
}
