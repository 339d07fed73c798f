/* `tidemark tables`: creates the declared tables, or shows how those in HBase differ from their declaration. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/gateway_session.h"
#include "commands/key_arguments.h"
#include "commands/load_config.h"
#include "commands/output.h"
#include "commands/show_tables.h"
#include "config/nearest_name.h"
#include "flow/declared_table.h"

typedef struct TablesOptions {
  const char *config_path;
  gboolean dry_run;
  int format; /* TideOutputFormat */
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

/* ---- create --------------------------------------------------------------------------------------------------------
 */

static gboolean
has_splits(const TideTable *table)
{
  return table->splits != NULL && table->splits->len > 0;
}

static gboolean
create_missing_table(TideGatewaySession *session, const TideConfig *config, const TideTable *table, GError **error)
{
  TideTableRequest request = {
      .table = table, .names = config->names, .deadline_us = tide_gateway_session_admin_deadline_us(session)};
  TideTableCreation creation;
  if (!tide_declared_table_create(tide_gateway_session_client(session), &request, &creation, error))
    return FALSE;
  if (creation == TIDE_TABLE_WAS_THERE) {
    printf("%s: exists\n", table->name);
    return TRUE;
  }
  printf("%s: created with %u famil%s and %u region%s\n", table->name, table->families->len,
         table->families->len == 1 ? "y" : "ies", has_splits(table) ? table->splits->len + 1 : 1,
         has_splits(table) ? "s" : "");
  fflush(stdout);
  return TRUE;
}

static void
print_shell_commands(const TideConfig *config, const GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++) {
    g_autofree char *command = tide_declared_table_create_command(tables->pdata[i], config->names);
    printf("%s\n", command);
  }
}

static int
run_create(const TideCommandLine *line, const TideConfig *config, const TablesOptions *options, const GPtrArray *tables)
{
  if (options->dry_run) {
    print_shell_commands(config, tables);
    return tide_output_close();
  }
  TideGatewayWish wish = TIDE_GATEWAY_ANY;
  for (guint i = 0; i < tables->len; i++) {
    if (has_splits(tables->pdata[i]))
      wish = TIDE_GATEWAY_PREFER_UNFRAMED;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, wish, &error);
  if (session == NULL)
    return tide_command_fail(line, error);
  /* A table that cannot be created does not keep the others from being. */
  int exit_code = TIDE_EXIT_OK;
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    g_autoptr(GError) local_error = NULL;
    if (create_missing_table(session, config, table, &local_error))
      continue;
    g_prefix_error(&local_error, "cannot create '%s': ", table->name);
    exit_code = tide_command_fail(line, local_error);
    if (!tide_hbase_client_is_open(tide_gateway_session_client(session)))
      break;
  }
  int output_exit = tide_output_close();
  return exit_code != TIDE_EXIT_OK ? exit_code : output_exit;
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
  if (strcmp(arguments->pdata[0], "create") == 0)
    return run_create(&line, config, &options, tables);
  return tide_tables_show(&line, config, tables, (TideOutputFormat)options.format);
}
