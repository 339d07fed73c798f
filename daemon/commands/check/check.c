/* `tidemark check`: whether the configuration, the brokers, the gateways and the tables are fit for `tidemark run`. */
#include "commands/check/list.h"
#include "commands/cli/commands.h"
#include "commands/cli/listing.h"
#include "commands/cli/load_config.h"
#include "commands/cli/progress.h"
#include "commands/read/gateway_session.h"
#include "commands/tables/tables.h"
#include "gateway/certificate_watch.h"
#include "gateway/cluster_memory.h"
#include "kafka/kafka_conf.h"
#include "model/table/dated_table.h"
#include "tables/declared_table.h"
#include "thrift/client/access_denied.h"
#include "thrift/client/connection.h"
#include "util/error.h"
#include "util/units.h"

typedef struct CheckOptions {
  gboolean offline;
  gboolean from_topic;
  gboolean print_config;
  gboolean print_defaults;
} CheckOptions;

static void
warn_of_end(const char *gateway, const char *whose, gint64 end_s, TideCheckList *list)
{
  g_autofree char *warning = tide_certificate_warning(end_s, g_get_real_time() / G_USEC_PER_SEC);
  if (warning == NULL)
    return;
  g_autofree char *detail =
      g_strdup_printf("%s %s: after that connections to the gateway fail; renew it", whose, warning);
  tide_check_list_add(list, "gateway", gateway, TIDE_CHECK_NOTE, detail);
}

/* @cluster: (inout): the cluster of all gateways; NULL until one reports it. FALSE: the gateway is of another, which
 * was added to @list. */
static gboolean
check_cluster(const char *gateway, const char *found, char **cluster, TideCheckList *list)
{
  if (*cluster == NULL)
    *cluster = g_strdup(found);
  if (found == NULL || strcmp(found, *cluster) == 0)
    return TRUE;
  g_autofree char *mismatch = tide_cluster_mismatch(gateway, found, *cluster);
  tide_check_list_add(list, "gateway", gateway, TIDE_CHECK_PROBLEM, mismatch);
  return FALSE;
}

static gboolean
check_gateways(const TideConfig *config, TideCheckList *list, gboolean *ret_any_framed)
{
  guint n_good = 0;
  TideWireProtocol first = TIDE_WIRE_BINARY;
  g_autofree char *cluster = NULL;
  g_autoptr(GError) unreadable = NULL;
  if (!tide_cluster_memory_read(&cluster, &unreadable))
    tide_check_list_add(list, "state", "", TIDE_CHECK_PROBLEM, unreadable->message);
  const GPtrArray *gateways = config->hbase.gateways;
  for (guint i = 0; i < gateways->len; i++) {
    const TideEndpoint *endpoint = gateways->pdata[i];
    g_autoptr(GError) error = NULL;
    TideWireMode mode;
    g_auto(TideGatewayFacts) facts = {0};
    tide_progress_step("asking gateway '%s'", endpoint->text);
    if (!tide_gateway_session_probe(config, endpoint, &mode, &facts, &error)) {
      tide_check_list_add(list, "gateway", endpoint->text, TIDE_CHECK_PROBLEM, error->message);
      continue;
    }
    if (!check_cluster(endpoint->text, facts.cluster, &cluster, list))
      continue;
    if (n_good++ == 0)
      first = mode.protocol;
    *ret_any_framed = *ret_any_framed || mode.framing == TIDE_FRAMING_FRAMED;
    gboolean is_alike = mode.protocol == first;
    g_autofree char *detail = g_strdup_printf(
        "thrift2, %s, %s%s%s%s%s", tide_message_layer_of(endpoint, mode.framing)->name,
        tide_wire_protocol_name(mode.protocol), facts.link != NULL ? "; " : "", facts.link != NULL ? facts.link : "",
        facts.cluster != NULL ? "" : "; it does not report the id of its HBase cluster, so that is not compared",
        is_alike ? "" : ", unlike another gateway: only those of one protocol are used; configure all alike");
    tide_check_list_add(list, "gateway", endpoint->text, is_alike ? TIDE_CHECK_OK : TIDE_CHECK_PROBLEM, detail);
    warn_of_end(endpoint->text, "its certificate", facts.ends.peer_s, list);
    warn_of_end(endpoint->text, "the client certificate ('hbase.tls.certificate')", facts.ends.own_s, list);
  }
  return n_good > 0;
}

/* How to repair the tables. */
typedef struct Remedies {
  GString *missing_tables; /* borrowed: their names, each after a blank */
  GPtrArray *commands;     /* borrowed (element-type utf8): for HBase's shell */
} Remedies;

/* Describes whether a changed key would be noticed. (transfer full) */
static char *
fingerprint_detail(const TideTableState *state)
{
  const TideFingerprintFinding *fingerprint = &state->fingerprint;
  if (fingerprint->verdict == TIDE_FINGERPRINT_SAME)
    return g_strdup_printf("its key is the one stored %s",
                           tide_fingerprint_locations[fingerprint->stored.location].text);
  const char *before = fingerprint->verdict == TIDE_FINGERPRINT_NOT_STORED
                           ? "its key is not stored yet"
                           : "it has no rows yet, so its key may change";
  switch (state->fingerprint_location) {
  case TIDE_FINGERPRINT_NOWHERE:
    return g_strdup_printf("%s and cannot be stored, so a changed key would not be noticed: create table "
                           "'" TIDE_FINGERPRINT_TABLE "' with 'tidemark tables create'",
                           before);
  case TIDE_FINGERPRINT_IN_FILE:
    return g_strdup_printf("%s; 'tidemark run' will store it, on this host only: create table '" TIDE_FINGERPRINT_TABLE
                           "' with 'tidemark tables create', so that all hosts notice a changed key",
                           before);
  case TIDE_FINGERPRINT_IN_TABLE:
  case TIDE_FINGERPRINT_IN_ATTRIBUTE:
  case TIDE_FINGERPRINT_N_LOCATIONS:
    break;
  }
  return g_strdup_printf("%s; 'tidemark run' will store it", before);
}

static void
add_table(const TideTable *table, const TideTableState *state, TideCheckList *list, Remedies *remedies)
{
  if (!state->exists) {
    tide_check_list_add(list, "table", table->name, TIDE_CHECK_PROBLEM, "does not exist");
    g_string_append_printf(remedies->missing_tables, " %s", table->name);
    return;
  }
  if (state->differences->len > 0) {
    g_autofree char *differences = tide_table_state_differences_text(state);
    tide_check_list_add(list, "table", table->name, TIDE_CHECK_PROBLEM, differences);
    for (guint i = 0; i < state->remedies->len; i++)
      g_ptr_array_add(remedies->commands, g_strdup(state->remedies->pdata[i]));
    return;
  }
  g_autofree char *key = fingerprint_detail(state);
  const char *hidden = state->description->hidden;
  g_autofree char *ttl = tide_table_state_undeclared_ttl(state, table);
  g_autofree char *regions = tide_count_of(state->regions->len, "region", NULL);
  g_autofree char *detail =
      g_strdup_printf("%s; %s%s%s%s%s", regions, key, hidden != NULL ? "; table settings cannot be read: " : "",
                      hidden != NULL ? hidden : "", ttl != NULL ? "; " : "", ttl != NULL ? ttl : "");
  gboolean is_fine = hidden == NULL && ttl == NULL &&
                     (state->fingerprint.verdict == TIDE_FINGERPRINT_SAME ||
                      tide_fingerprint_locations[state->fingerprint_location].is_of_all_hosts);
  tide_check_list_add(list, "table", table->name, is_fine ? TIDE_CHECK_OK : TIDE_CHECK_NOTE, detail);
}

/* Notes what framing costs the tables that the daemon creates itself. */
static void
note_what_framing_spoils(const TideConfig *config, TideCheckList *list)
{
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    if (!tide_table_is_template(table) || !tide_declared_table_needs_unframed(table))
      continue;
    gboolean has_splits = table->splits != NULL && table->splits->len > 0;
    tide_check_list_add(
        list, "table", table->name, TIDE_CHECK_NOTE,
        has_splits ? "a framed gateway corrupts split points, so tables created through it have one region: use "
                     "unframed gateways, or create them beforehand in 'hbase shell'"
                   : "a framed gateway corrupts attributes, so tables created through it lack "
                     "'purge_deletes_after': use unframed gateways, or create them beforehand in 'hbase "
                     "shell'");
  }
}

/* Adds a right that the gateway's user lacks. FALSE: @error is another one. */
static gboolean
add_denial(const TideTable *table, const GError *error, TideCheckList *list, Remedies *remedies)
{
  char *command = NULL;
  g_autofree char *denial = tide_access_denied_remedy(error, &command);
  if (denial == NULL)
    return FALSE;
  tide_check_list_add(list, "rights", table->name, TIDE_CHECK_PROBLEM, denial);
  if (!g_ptr_array_find_with_equal_func(remedies->commands, command, g_str_equal, NULL))
    g_ptr_array_add(remedies->commands, g_steal_pointer(&command));
  g_free(command);
  return TRUE;
}

static gboolean
try_rights(TideGatewaySession *session, const char *table, const char *family, GError **error)
{
  g_autoptr(GError) failure = NULL;
  if (tide_hbase_client_try_rights(tide_gateway_session_client(session), table, family,
                                   tide_gateway_session_deadline_us(session), &failure) ||
      /* A gateway without this call gives no answer about rights. */
      g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&failure));
  return FALSE;
}

/* Checks the rights on a table that is as declared, because a missing family would be refused, too. Also those on the
 * table that will store its key, which is written once. */
static gboolean
check_rights(TideGatewaySession *session, const TideTable *table, const TideTableState *state, GError **error)
{
  for (guint i = 0; i < table->families->len; i++) {
    const TideFamilySettings *family = table->families->pdata[i];
    if (!try_rights(session, table->name, family->name, error))
      return FALSE;
  }
  return state->fingerprint.verdict == TIDE_FINGERPRINT_SAME ||
         state->fingerprint_location != TIDE_FINGERPRINT_IN_TABLE ||
         try_rights(session, TIDE_FINGERPRINT_TABLE, TIDE_FINGERPRINT_FAMILY, error);
}

static void
check_table(TideGatewaySession *session, const TideConfig *config, const TideTable *table, TideCheckList *list,
            Remedies *remedies, GError **error)
{
  g_autoptr(GError) failure = NULL;
  if (tide_table_is_template(table)) {
    tide_check_list_add_unseen(list, "table", table->name, "see 'tables'");
    return;
  }
  tide_progress_step("checking table '%s'", table->name);
  g_autoptr(TideTableState) state = tide_table_state_read(session, config, table, &failure);
  if (state != NULL) {
    add_table(table, state, list, remedies);
    if (!state->exists || state->differences->len > 0 || check_rights(session, table, state, &failure))
      return;
  }
  if (add_denial(table, failure, list, remedies))
    return;
  if (!tide_hbase_client_is_open(tide_gateway_session_client(session))) { /* the connection is lost */
    g_propagate_prefixed_error(error, g_steal_pointer(&failure), "cannot check '%s': ", table->name);
    return;
  }
  /* The gateway still answers, so the other tables are checked, too. */
  g_prefix_error(&failure, "%s: ", state != NULL ? "it accepts no rows" : "cannot be checked");
  tide_check_list_add(list, "table", table->name, TIDE_CHECK_PROBLEM, failure->message);
}

/* Adds the tables of @tables from @first on as not checked. */
static void
add_unseen(const GPtrArray *tables, guint first, const char *why, TideCheckList *list)
{
  for (guint i = first; i < tables->len; i++)
    tide_check_list_add_unseen(list, "table", ((const TideTable *)tables->pdata[i])->name, why);
}

static void
check_tables(const TideConfig *config, TideCheckList *list, Remedies *remedies)
{
  guint n_seen = 0;
  g_autoptr(GError) error = NULL;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, &error);
  g_autoptr(GPtrArray) tables = session != NULL ? tide_table_instances(session, config, config->tables, &error) : NULL;
  /* A gateway that cannot list tables can still be asked for those with known names. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE)) {
    tide_check_list_add(list, "tables", "", TIDE_CHECK_UNAVAILABLE, error->message);
    g_clear_error(&error);
    tables = g_ptr_array_ref(config->tables);
  }
  for (; tables != NULL && n_seen < tables->len && error == NULL; n_seen++)
    check_table(session, config, tables->pdata[n_seen], list, remedies, &error);
  if (error == NULL)
    return;
  tide_check_list_add(list, "tables", "", TIDE_CHECK_UNAVAILABLE, error->message);
  add_unseen(tables != NULL ? tables : config->tables, n_seen, "see 'tables'", list);
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

static int
check_online(const TideConfig *config, gboolean from_topic)
{
  g_autoptr(GString) missing_tables = g_string_new(NULL);
  g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
  Remedies remedies = {.missing_tables = missing_tables, .commands = commands};
  TideCheckList list;
  tide_check_list_init(&list);
  tide_check_host(config, &list);
  tide_progress_step("asking the brokers '%s'", config->kafka.brokers);
  tide_check_kafka(config, &list);
  tide_check_registries(config, &list);
  if (from_topic) {
    tide_progress_step("reading the newest messages");
    tide_check_messages(config, &list);
  }
  gboolean any_framed = FALSE;
  if (check_gateways(config, &list, &any_framed))
    check_tables(config, &list, &remedies);
  else {
    add_unseen(config->tables, 0, "no gateway is usable", &list);
    list.worst = TIDE_CHECK_UNAVAILABLE;
  }
  if (any_framed)
    note_what_framing_spoils(config, &list);
  tide_progress_step_end();
  int exit_code = tide_check_list_finish(&list);
  g_autofree char *option = tide_config_option(config->path);
  if (missing_tables->len > 0)
    printf("\nTo create what is missing:\n  tidemark tables create%s%s\n", option, missing_tables->str);
  tide_tables_print_remedies(commands);
  return exit_code;
}

/* Prints what was found in the file, and how each key is built. The latter is stored with the table and compared at
 * each start. */
static void
print_config_verdict(const TideCommandCall *call)
{
  static const TideListingColumn columns[] = {{.name = "TABLE"}, {.name = "KEY"}};
  const char *path = tide_command_config_path(call);
  const TideConfig *config = call->config;
  (void)tide_config_problems_print(stdout, path, config->notices);
  g_autofree char *tables = tide_count_of(config->tables->len, "table", NULL);
  g_autofree char *warnings = tide_count_of(call->problems->len, "warning", NULL);
  g_autofree char *notes = tide_count_of(config->notices->len, "note", NULL);
  gboolean is_warned = call->problems->len > 0, has_notes = config->notices->len > 0;
  printf("%s: %s, no %s%s%s%s\n", path, tables, is_warned ? "errors, " : "problems", is_warned ? warnings : "",
         has_notes ? ", " : "", has_notes ? notes : "");
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, TIDE_OUTPUT_TABLE, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    g_autofree char *key = tide_row_key_describe(table->key, config->names);
    (void)tide_listing_add(listing, (const char *[]){table->name, key});
  }
  (void)tide_listing_finish(listing);
}

static gboolean
check_config(TideCommandCall *call, gboolean print, GError **error)
{
  const char *path = tide_command_config_path(call);
  gboolean usable = tide_command_read_config(call);
  /* Standard output has the requested text: the configuration with --print-config, otherwise its problems. */
  guint n_errors = tide_config_problems_print(print ? stderr : stdout, path, call->problems);
  g_autofree char *errors = tide_count_of(n_errors, "error", NULL);
  if (!usable)
    return tide_fail(error, TIDE_ERROR_CONFIG, "'%s' has %s", path, errors);
  if (print || tide_kafka_check_clients(call->config, error))
    return TRUE;
  fflush(stdout);
  g_prefix_error(error, "'%s': ", path);
  call->failure_code = TIDE_EXIT_CONFIG;
  return FALSE;
}

static gboolean
run_check(TideCommandCall *call, GError **error)
{
  const CheckOptions *options = call->options;
  if (options->from_topic && options->offline)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--from-topic' and '--offline' exclude each other");
  if (!options->print_defaults && !check_config(call, options->print_config, error))
    return FALSE;
  if (options->print_defaults || options->print_config) {
    g_autofree char *text = options->print_defaults ? tide_config_print_defaults() : tide_config_print(call->config);
    fputs(text, stdout);
    return TRUE;
  }
  print_config_verdict(call);
  if (!options->offline) {
    putchar('\n');
    call->exit_code = check_online(call->config, options->from_topic);
  }
  return TRUE;
}

static const TideOption check_options[] = {
    TIDE_CONFIG_OPTION,
    {"offline", NULL, TIDE_FLAG(CheckOptions, offline), "check only the file, and connect to no server"},
    {"from-topic", NULL, TIDE_FLAG(CheckOptions, from_topic),
     "also map the newest messages of each topic, and report readings that would overwrite each other"},
    {"print-config", NULL, TIDE_FLAG(CheckOptions, print_config),
     "print all options in force, with secrets masked, then exit"},
    {"print-defaults", NULL, TIDE_FLAG(CheckOptions, print_defaults),
     "print a commented sample with every option at its default, then exit"},
};

const TideCommand tide_command_check = {
    .name = "check",
    .summary = "Checks the configuration, then everything that 'run' needs: host, brokers, topics, gateways, tables "
               "and schema registries.",
    .exits = {{TIDE_EXIT_OK, "ready to run"},
              {TIDE_EXIT_FINDINGS, "something differs from the declaration"},
              {TIDE_EXIT_UNAVAILABLE, "no broker, no gateway or no registry answers"},
              {TIDE_EXIT_CONFIG}},
    .details = "Prints every problem with its position in the file and a remedy. It changes nothing.\n"
               "\n"
               "Examples:\n"
               "  tidemark check --offline -c tidemark.yaml\n"
               "  tidemark check -c tidemark.yaml && systemctl restart tidemark\n"
               "  tidemark check --print-defaults > tidemark.yaml",
    TIDE_COMMAND_OPTIONS(check_options, CheckOptions),
    .run = run_check,
};
