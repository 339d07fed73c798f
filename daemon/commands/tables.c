/* `tidemark tables`: creates the declared tables, or shows how those in HBase differ from their declaration. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/gateway_session.h"
#include "commands/key_arguments.h"
#include "commands/listing.h"
#include "commands/load_config.h"
#include "commands/table_state.h"
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

/* ---- show ----------------------------------------------------------------------------------------------------------
 */

/* "M: GZ, ROW bloom, 1 version; L" */
static char *
families_text(const TideTableDescription *description)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; description != NULL && i < description->families->len; i++) {
    const TideFamilySettings *family = description->families->pdata[i];
    g_autofree char *name = tide_text_printable(tide_bytes_of_string(family->name));
    const char *compression = tide_compression_name(family->compression);
    const char *encoding = tide_block_encoding_name(family->data_block_encoding);
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", name);
    if (compression != NULL && family->compression != TIDE_COMPRESSION_NONE)
      g_string_append_printf(text, " %s", compression);
    if (encoding != NULL && family->data_block_encoding != 0)
      g_string_append_printf(text, " %s", encoding);
    if (family->max_versions > 1)
      g_string_append_printf(text, " %d versions", family->max_versions);
    if (family->time_to_live_s > 0 && family->time_to_live_s < G_MAXINT32)
      g_string_append_printf(text, " ttl %d s", family->time_to_live_s);
  }
  return g_string_free(text, FALSE);
}

static char *
join_sentences(const GPtrArray *sentences)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < sentences->len; i++)
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", (const char *)sentences->pdata[i]);
  return g_string_free(text, FALSE);
}

static char *
splits_text(const TideTable *table, const TideTableState *state)
{
  guint n_declared = table->splits != NULL ? table->splits->len : 0;
  if (n_declared == 0)
    return g_strdup("none declared");
  guint n_missing = state->exists ? tide_table_state_missing_splits(table, state->regions) : n_declared;
  return g_strdup_printf("%u of %u", n_declared - n_missing, n_declared);
}

static void
print_state_json(const TideTable *table, const TideTableState *state)
{
  g_autoptr(GString) text = g_string_new("{");
  tide_json_append_member(text, "table", tide_bytes_of_string(table->name), FALSE);
  g_string_append_printf(text, ",\"exists\":%s,\"families\":[", state->exists ? "true" : "false");
  for (guint i = 0; state->exists && i < state->description->families->len; i++) {
    const TideFamilySettings *family = state->description->families->pdata[i];
    g_string_append(text, i > 0 ? "," : "");
    tide_json_append_string(text, tide_bytes_of_string(family->name));
  }
  guint n_declared = table->splits != NULL ? table->splits->len : 0;
  g_string_append_printf(text, "],\"regions\":%u,\"declared_splits\":%u,\"differences\":[",
                         state->exists ? state->regions->len : 0, n_declared);
  for (guint i = 0; i < state->differences->len; i++) {
    g_string_append(text, i > 0 ? "," : "");
    tide_json_append_string(text, tide_bytes_of_string(state->differences->pdata[i]));
  }
  g_string_append(text, "]}\n");
  fputs(text->str, stdout);
}

static void
add_state(TideListing *listing, const TideTable *table, const TideTableState *state)
{
  g_autofree char *families = families_text(state->description);
  g_autofree char *n_regions = state->exists ? g_strdup_printf("%u", state->regions->len) : NULL;
  g_autofree char *splits = splits_text(table, state);
  g_autofree char *differences =
      state->exists ? join_sentences(state->differences) : g_strdup("missing: run 'tidemark tables create'");
  (void)tide_listing_add(listing, (const char *[]){table->name, state->exists ? "yes" : "no", families, n_regions,
                                                   splits, differences[0] != '\0' ? differences : "none"});
}

/* What would repair the tables shown, below their listing. */
static void
print_remedies(const GPtrArray *remedies)
{
  if (remedies->len == 0)
    return;
  printf("\nTo add what is missing, in 'hbase shell':\n");
  for (guint i = 0; i < remedies->len; i++)
    printf("  %s\n", (const char *)remedies->pdata[i]);
}

static int
run_show(const TideCommandLine *line, const TideConfig *config, const TablesOptions *options, const GPtrArray *tables)
{
  static const TideListingColumn columns[] = {{.name = "TABLE"},    {.name = "EXISTS"},
                                              {.name = "FAMILIES"}, {.name = "REGIONS", .right = TRUE},
                                              {.name = "SPLITS"},   {.name = "DIFFERENCES"}};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, &error);
  if (session == NULL)
    return tide_command_fail(line, error);

  TideOutputFormat format = (TideOutputFormat)options->format;
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  g_autoptr(GPtrArray) remedies = g_ptr_array_new_with_free_func(g_free);
  gboolean differs = FALSE;
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    g_autoptr(TideTableState) state = tide_table_state_read(session, table, &error);
    if (state == NULL) {
      g_prefix_error(&error, "cannot look at '%s': ", table->name);
      (void)tide_listing_finish(listing);
      return tide_command_fail(line, error);
    }
    differs = differs || !state->exists || state->differences->len > 0;
    if (format == TIDE_OUTPUT_JSON)
      print_state_json(table, state);
    else
      add_state(listing, table, state);
    for (guint k = 0; k < state->remedies->len; k++)
      g_ptr_array_add(remedies, g_strdup(state->remedies->pdata[k]));
  }
  if (format != TIDE_OUTPUT_JSON)
    (void)tide_listing_finish(listing);
  if (format == TIDE_OUTPUT_TABLE)
    print_remedies(remedies);
  int output_exit = tide_output_close();
  if (output_exit != TIDE_EXIT_OK)
    return output_exit;
  return differs ? TIDE_EXIT_FINDINGS : TIDE_EXIT_OK;
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
  return run_show(&line, config, &options, tables);
}
