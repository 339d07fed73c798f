#include "commands/tables/create_tables.h"

#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/read/gateway_session.h"
#include "model/table/dated_table.h"
#include "tables/declared_table.h"

#include <stdio.h>

typedef struct Creation {
  const TideConfig *config;    /* borrowed */
  TideGatewaySession *session; /* borrowed */
  GPtrArray *commands;         /* owned (element-type utf8): of HBase's shell, for what the gateway cannot */
  TideCommandCall *call;       /* its failure_code: of the last table that was not created */
} Creation;

static guint
n_regions(const TideTable *table)
{
  return table->splits != NULL ? table->splits->len + 1 : 1;
}

/* ---- what there is to create ---------------------------------------------------------------------------------------
 */

/* Tables in HBase, out of those that were asked for: a template is none. (element-type TideTable, borrowed) */
static GPtrArray *
leave_out_templates(const GPtrArray *tables)
{
  GPtrArray *concrete = g_ptr_array_new();
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    if (tide_table_is_template(table))
      tide_say("%s: its tables are created when their first row comes, or here, by a name of their own", table->name);
    else
      g_ptr_array_add(concrete, (gpointer)table);
  }
  return concrete;
}

/* Copies of @tables that differ in their split points only, which are in @points (element-type GArray, each
 * may be NULL) (nullable).
 * (element-type TideTable, shallow copies, borrowing from @tables and @points) */
static GPtrArray *
plan_tables(const GPtrArray *tables, const GPtrArray *points)
{
  GPtrArray *planned = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < tables->len; i++) {
    TideTable *table = g_memdup2(tables->pdata[i], sizeof *table);
    if (points != NULL && points->pdata[i] != NULL)
      table->splits = points->pdata[i];
    g_ptr_array_add(planned, table);
  }
  return planned;
}

/* ---- a framed gateway ----------------------------------------------------------------------------------------------
 */

/* Through a framed gateway, the table cannot be made as it must be: the operator does it in the shell. */
static void
leave_to_shell(Creation *creation, const TideTable *table)
{
  printf("%s: not created: gateway '%s' is framed, and spoils split points and attributes\n", table->name,
         tide_hbase_client_name(tide_gateway_session_client(creation->session)));
  g_ptr_array_add(creation->commands, tide_declared_table_create_command(table, creation->config->names));
  creation->call->failure_code = TIDE_EXIT_UNAVAILABLE;
}

static void
print_commands(const GPtrArray *commands)
{
  if (commands->len == 0)
    return;
  printf("\nTo create them, in 'hbase shell' (or give 'hbase.gateways' one that is unframed):\n");
  for (guint i = 0; i < commands->len; i++)
    printf("%s\n", (const char *)commands->pdata[i]);
}

/* What a table's attribute would have held. */
static gboolean
keep_fingerprint(Creation *creation, const TideTable *table, GError **error)
{
  TideHBaseClient *client = tide_gateway_session_client(creation->session);
  g_auto(TideFingerprintStore) store = {0};
  tide_fingerprint_store_init(&store, creation->config);
  g_autofree char *fingerprint = tide_fingerprint_text(table, creation->config->names);
  TideFingerprintLocation location = TIDE_FINGERPRINT_NOWHERE;
  if (!tide_fingerprint_store_create_table(&store, client, tide_gateway_session_admin_deadline_us(creation->session),
                                           error) ||
      !tide_fingerprint_store_write(&store, client, table->name, fingerprint, &location, error))
    return FALSE;
  printf("%s: its key fingerprint is kept %s, because gateway '%s' is framed and spoils attributes\n", table->name,
         tide_fingerprint_locations[location].text, tide_hbase_client_name(client));
  return TRUE;
}

/* ---- creating ------------------------------------------------------------------------------------------------------
 */

static gboolean
exists(Creation *creation, const TideTable *table, gboolean *ret_exists, GError **error)
{
  return tide_hbase_client_table_exists(tide_gateway_session_client(creation->session), table->name,
                                        tide_gateway_session_deadline_us(creation->session), ret_exists, error);
}

static gboolean
create_missing(Creation *creation, const TideTable *table, GError **error)
{
  TideTableRequest request = {.table = table,
                              .names = creation->config->names,
                              .deadline_us = tide_gateway_session_admin_deadline_us(creation->session)};
  TideTableCreation result;
  tide_progress_step("creating table '%s'", table->name);
  gboolean is_there =
      tide_declared_table_create(tide_gateway_session_client(creation->session), &request, &result, error);
  tide_progress_step_end();
  if (!is_there)
    return FALSE;
  if (result == TIDE_TABLE_WAS_THERE) {
    printf("%s: exists\n", table->name);
    return TRUE;
  }
  printf("%s: created with %u famil%s and %u region%s\n", table->name, table->families->len,
         table->families->len == 1 ? "y" : "ies", n_regions(table), n_regions(table) == 1 ? "" : "s");
  fflush(stdout);
  return result == TIDE_TABLE_CREATED || keep_fingerprint(creation, table, error);
}

static gboolean
create_table(Creation *creation, const TideTable *table, GError **error)
{
  gboolean framed = tide_gateway_session_mode(creation->session).framing == TIDE_FRAMING_FRAMED;
  if (!framed || !tide_declared_table_needs_unframed(table))
    return create_missing(creation, table, error);
  gboolean is_there = FALSE;
  if (!exists(creation, table, &is_there, error))
    return FALSE;
  if (is_there)
    printf("%s: exists\n", table->name);
  else
    leave_to_shell(creation, table);
  return TRUE;
}

/* A table that cannot be created does not keep the others from being. */
static void
create_all(Creation *creation, const GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    g_autoptr(GError) error = NULL;
    if (create_table(creation, table, &error))
      continue;
    g_prefix_error(&error, "cannot create '%s': ", table->name);
    creation->call->failure_code = tide_command_fail(creation->call->command, error);
    if (!tide_hbase_client_is_open(tide_gateway_session_client(creation->session)))
      break;
  }
}

static gboolean
create_planned(TideCommandCall *call, const GPtrArray *tables, GError **error)
{
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(call->config, TIDE_GATEWAY_PREFER_UNFRAMED, error);
  if (session == NULL)
    return FALSE;
  g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
  Creation creation = {.config = call->config, .call = call, .session = session, .commands = commands};
  create_all(&creation, tables);
  print_commands(commands);
  return call->failure_code == TIDE_EXIT_OK;
}

static void
print_planned(const TideConfig *config, const GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++) {
    g_autofree char *command = tide_declared_table_create_command(tables->pdata[i], config->names);
    printf("%s\n", command);
  }
}

gboolean
tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options, GError **error)
{
  g_autoptr(GPtrArray) concrete = leave_out_templates(tables);
  g_autoptr(GPtrArray) points = NULL;
  if (options->sample.max_messages > 0) {
    points = tide_sample_splits(call->config, concrete, &options->sample, error);
    if (points == NULL)
      return FALSE;
  }
  g_autoptr(GPtrArray) planned = plan_tables(concrete, points);
  if (!options->dry_run)
    return create_planned(call, planned, error);
  print_planned(call->config, planned);
  return TRUE;
}
