/* `tidemark check`: whether the configuration, the brokers, the gateways and the tables are fit for `tidemark run`. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/gateway_session.h"
#include "commands/kafka_probe.h"
#include "commands/listing.h"
#include "commands/load_config.h"
#include "commands/table_instances.h"
#include "commands/table_state.h"
#include "flow/kafka_check.h"

/* Long enough for a broker across an ocean, short enough to wait for. */
#define KAFKA_TIMEOUT_MS 5000

typedef struct CheckOptions {
  const char *config_path;
  gboolean offline;
  gboolean print_config;
  gboolean print_defaults;
} CheckOptions;

/* What the check has found so far. */
typedef struct Findings {
  TideListing *listing; /* borrowed */
  gboolean unavailable; /* no broker, or no gateway: the daemon could not start */
  gboolean wrong;       /* anything else that is not as it should be */
} Findings;

static void
report(Findings *findings, const char *what, const char *name, gboolean good, const char *detail)
{
  (void)tide_listing_add(findings->listing, (const char *[]){what, name, good ? "ok" : "PROBLEM", detail});
}

/* ---- kafka ---------------------------------------------------------------------------------------------------------
 */

static void
report_topic(Findings *findings, const TideProbedTopic *topic)
{
  gboolean is_pattern = topic->name[0] == '^';
  g_autofree char *detail = NULL;
  if (topic->n_topics == 0 && is_pattern)
    detail = g_strdup("no topic matches this pattern yet");
  else if (topic->n_topics == 0)
    detail = g_strdup("does not exist, or this user may not see it: create it, or correct 'kafka.topics'");
  else if (is_pattern)
    detail = g_strdup_printf("%u topics with %u partitions", topic->n_topics, topic->n_partitions);
  else
    detail = g_strdup_printf("%u partition%s", topic->n_partitions, topic->n_partitions == 1 ? "" : "s");
  gboolean good = topic->n_topics > 0;
  findings->wrong = findings->wrong || !good;
  report(findings, "topic", topic->name, good, detail);
}

static void
check_kafka(const TideConfig *config, Findings *findings)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKafkaProbe) probe = tide_kafka_probe(&config->kafka, KAFKA_TIMEOUT_MS, &error);
  if (probe == NULL) {
    findings->unavailable = TRUE;
    report(findings, "brokers", config->kafka.brokers, FALSE, error->message);
    return;
  }
  g_autofree char *brokers = g_strdup_printf("%u broker%s", probe->n_brokers, probe->n_brokers == 1 ? "" : "s");
  report(findings, "brokers", config->kafka.brokers, TRUE, brokers);
  for (guint i = 0; i < probe->topics->len; i++)
    report_topic(findings, probe->topics->pdata[i]);
}

/* ---- hbase ---------------------------------------------------------------------------------------------------------
 */

static gboolean
check_gateways(const TideConfig *config, Findings *findings)
{
  guint n_good = 0;
  const GPtrArray *gateways = config->hbase.gateways;
  for (guint i = 0; i < gateways->len; i++) {
    const TideEndpoint *endpoint = gateways->pdata[i];
    g_autoptr(GError) error = NULL;
    TideWireMode mode;
    if (!tide_gateway_session_probe(config, endpoint, &mode, &error)) {
      findings->wrong = TRUE;
      report(findings, "gateway", endpoint->text, FALSE, error->message);
      continue;
    }
    n_good++;
    g_autofree char *detail =
        g_strdup_printf("thrift2, %s, %s", tide_framing_name(mode.framing), tide_wire_protocol_name(mode.protocol));
    report(findings, "gateway", endpoint->text, TRUE, detail);
  }
  return n_good > 0;
}

static char *
join_differences(const TideTableState *state)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < state->differences->len; i++)
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", (const char *)state->differences->pdata[i]);
  return g_string_free(text, FALSE);
}

/* What repairs the tables. */
typedef struct Remedies {
  GString *missing_tables; /* borrowed: their names, each behind a blank */
  GPtrArray *commands;     /* borrowed (element-type utf8): of HBase's shell */
} Remedies;

/* Whether the rows in the table can have been written with another key. */
static char *
scheme_detail(const TideSchemeFinding *scheme)
{
  switch (scheme->verdict) {
  case TIDE_SCHEME_SAME:
    return g_strdup_printf("its key is the one stored %s", tide_scheme_place_text(scheme->stored.place));
  case TIDE_SCHEME_NOT_STORED:
    return g_strdup("its key is stored when 'tidemark run' starts");
  case TIDE_SCHEME_CHANGED_WHILE_EMPTY:
    return g_strdup("it has no rows yet, so that its key may change");
  case TIDE_SCHEME_CHANGED:
    return g_strdup("its key was changed");
  }
  return NULL;
}

static void
report_table(const TideTable *table, const TideTableState *state, Findings *findings, Remedies *remedies)
{
  if (!state->exists) {
    findings->wrong = TRUE;
    report(findings, "table", table->name, FALSE, "does not exist");
    g_string_append_printf(remedies->missing_tables, " %s", table->name);
    return;
  }
  if (state->differences->len > 0) {
    findings->wrong = TRUE;
    g_autofree char *differences = join_differences(state);
    report(findings, "table", table->name, FALSE, differences);
    for (guint i = 0; i < state->remedies->len; i++)
      g_ptr_array_add(remedies->commands, g_strdup(state->remedies->pdata[i]));
    return;
  }
  g_autofree char *key = scheme_detail(&state->scheme);
  g_autofree char *detail =
      g_strdup_printf("%u region%s; %s", state->regions->len, state->regions->len == 1 ? "" : "s", key);
  report(findings, "table", table->name, TRUE, detail);
}

static void
check_tables(const TideConfig *config, Findings *findings, Remedies *remedies)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, &error);
  g_autoptr(GPtrArray) tables = session != NULL ? tide_table_instances(session, config, config->tables, &error) : NULL;
  for (guint i = 0; tables != NULL && i < tables->len && error == NULL; i++) {
    const TideTable *table = tables->pdata[i];
    g_autoptr(TideTableState) state = tide_table_state_read(session, config, table, &error);
    if (state != NULL)
      report_table(table, state, findings, remedies);
    else
      g_prefix_error(&error, "cannot look at '%s': ", table->name);
  }
  if (error == NULL)
    return;
  findings->unavailable = TRUE;
  report(findings, "tables", "", FALSE, error->message);
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

static void
print_remedies(const TideConfig *config, const Remedies *remedies)
{
  if (remedies->missing_tables->len > 0) {
    g_autofree char *path = g_shell_quote(config->path);
    printf("\nTo create what is missing:\n  tidemark tables create -c %s%s\n", path, remedies->missing_tables->str);
  }
  if (remedies->commands->len > 0)
    printf("\nTo make them as declared, in 'hbase shell':\n");
  for (guint i = 0; i < remedies->commands->len; i++)
    printf("  %s\n", (const char *)remedies->commands->pdata[i]);
}

static int
check_online(const TideConfig *config)
{
  static const TideListingColumn columns[] = {
      {.name = "WHAT", .once = TRUE}, {.name = "NAME"}, {.name = "STATE"}, {.name = "DETAIL"}};
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, TIDE_OUTPUT_TABLE, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  g_autoptr(GString) missing_tables = g_string_new(NULL);
  g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
  Remedies remedies = {.missing_tables = missing_tables, .commands = commands};
  Findings findings = {.listing = listing};
  check_kafka(config, &findings);
  if (check_gateways(config, &findings))
    check_tables(config, &findings, &remedies);
  else
    findings.unavailable = TRUE;
  (void)tide_listing_finish(listing);
  print_remedies(config, &remedies);
  int output_exit = tide_output_close();
  if (output_exit != TIDE_EXIT_OK)
    return output_exit;
  if (findings.unavailable)
    return TIDE_EXIT_UNAVAILABLE;
  return findings.wrong ? TIDE_EXIT_FINDINGS : TIDE_EXIT_OK;
}

/* How each key is made, in one line: what is stored with the table, and compared at each start. */
static void
print_keys(const TideConfig *config)
{
  static const TideListingColumn columns[] = {{.name = "TABLE"}, {.name = "KEY"}};
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, TIDE_OUTPUT_TABLE, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    g_autofree char *key = tide_row_key_describe(table->key, config->names);
    (void)tide_listing_add(listing, (const char *[]){table->name, key});
  }
  (void)tide_listing_finish(listing);
}

static int
check_config(const CheckOptions *options)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_command_read_config(options->config_path, &problems);
  /* What is asked for goes to standard output: the configuration with --print-config, else what is wrong with it. */
  guint n_errors = tide_config_problems_print(options->print_config ? stderr : stdout, options->config_path, problems);
  if (config == NULL) {
    fprintf(stderr, "tidemark check: '%s' has %u error%s\n", options->config_path, n_errors, n_errors == 1 ? "" : "s");
    return TIDE_EXIT_CONFIG;
  }
  if (options->print_config) {
    g_autofree char *text = tide_config_print(config);
    fputs(text, stdout);
    return tide_output_close();
  }
  g_autoptr(GError) error = NULL;
  if (!tide_kafka_check_clients(config, &error)) {
    fflush(stdout);
    fprintf(stderr, "tidemark check: '%s': %s\n", options->config_path, error->message);
    return TIDE_EXIT_CONFIG;
  }
  (void)tide_config_problems_print(stdout, options->config_path, config->notices);
  printf("%s: %u table%s, ", options->config_path, config->tables->len, config->tables->len == 1 ? "" : "s");
  if (problems->len == 0)
    printf("no problems");
  else
    printf("no errors, %u warning%s", problems->len, problems->len == 1 ? "" : "s");
  guint n_notes = config->notices->len;
  if (n_notes > 0)
    printf(", %u note%s", n_notes, n_notes == 1 ? "" : "s");
  putchar('\n');
  print_keys(config);
  if (options->offline)
    return tide_output_close();
  putchar('\n');
  return check_online(config);
}

int
tide_command_check(int argc, char **argv)
{
  CheckOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "offline",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.offline,
       .sentence = "look at the file only, and at no server"},
      {.name = "print-config",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.print_config,
       .sentence = "print all options in force, secrets masked, and end"},
      {.name = "print-defaults",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.print_defaults,
       .sentence = "print a commented sample with every option at its default, and end"},
  };
  const TideCommandLine line = {
      .command = "check",
      .summary = "Checks the configuration, then the brokers, topics, gateways, tables and families that it names.",
      .details =
          "Prints every problem with its place in the file and a remedy; changes nothing. Exit codes: 0 fit to run;\n"
          "78 the configuration is wrong; 69 no broker or no gateway answers; 1 something else is not as declared.\n"
          "\n"
          "Examples:\n"
          "  tidemark check --offline -c tidemark.yaml\n"
          "  tidemark check -c tidemark.yaml && systemctl reload-or-restart tidemark\n"
          "  tidemark check --print-defaults > tidemark.yaml",
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  if (options.print_defaults) {
    g_autofree char *text = tide_config_print_defaults();
    fputs(text, stdout);
    return tide_output_close();
  }
  return check_config(&options);
}
