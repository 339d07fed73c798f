/* `tidemark tables`: creates the declared tables, or compares those in HBase with their declaration. */
#include "commands/tables/tables.h"
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/read/key_arguments.h"

/* Maximum time to read a sample. */
#define SAMPLE_TIMEOUT_MS 60000

typedef struct TablesOptions {
  gboolean dry_run;
  guint64 sample; /* messages; 0: none */
  const char *topic;
  guint64 regions; /* 0: as declared */
  int format;      /* TideOutputFormat */
} TablesOptions;

/* ---- command -------------------------------------------------------------------------------------------------------
 */

static gboolean
run_tables(TideCommandCall *call, GError **error)
{
  static const char *const verbs[] = {"create", "show", NULL};
  const TablesOptions *options = call->options;
  if (!tide_command_check_verb(call, verbs, "tables", error) || !tide_command_load_config(call))
    return FALSE;
  const GPtrArray *arguments = call->arguments, *declared = call->config->tables;
  g_autoptr(GPtrArray) tables = g_ptr_array_new(); /* (element-type TideTable, borrowed): all if none is named */
  for (guint i = 1; i < arguments->len; i++) {
    const TideTable *table = tide_table_argument_find(call->config, arguments->pdata[i], error);
    if (table == NULL)
      return FALSE;
    g_ptr_array_add(tables, (gpointer)table);
  }
  for (guint i = 0; arguments->len == 1 && i < declared->len; i++)
    g_ptr_array_add(tables, declared->pdata[i]);
  if (strcmp(arguments->pdata[0], "show") == 0)
    return tide_tables_show(call, tables, (TideOutputFormat)options->format, error);
  TideCreateOptions create = {.dry_run = options->dry_run,
                              .sample = {.topic = options->topic,
                                         .max_messages = options->sample,
                                         .timeout_ms = SAMPLE_TIMEOUT_MS,
                                         .regions = (guint32)options->regions}};
  return tide_tables_create(call, tables, &create, error);
}

static const TideOption tables_options[] = {
    TIDE_CONFIG_OPTION,
    {"dry-run", NULL, TIDE_FLAG(TablesOptions, dry_run),
     "create: only print the equivalent commands for the HBase shell"},
    {"sample", "N", TIDE_COUNT(TablesOptions, sample),
     "create: take the split points from the row keys of the first N messages", .min = 1, .max = 10000000},
    {"topic", "NAME", TIDE_TEXT(TablesOptions, topic), "topic to sample (the configured one)"},
    {"regions", "N", TIDE_COUNT(TablesOptions, regions), "number of regions for a sample (the table's 'regions')",
     .min = 2, .max = 10000},
    {"format", "FORMAT", TIDE_CHOICE(TablesOptions, format), "show: output format table, csv or json (table)",
     .letter = 'f', .choices = tide_output_format_names},
};

const TideCommand tide_command_tables = {
    .name = "tables",
    .arguments = "create|show [TABLE…]",
    .summary = "Creates the declared tables that are missing, or compares those in HBase with their declaration.",
    .exits = {{TIDE_EXIT_FINDINGS, "show: a table is missing or differs"},
              {TIDE_EXIT_DATA, "create --sample: no message can be used"},
              {TIDE_EXIT_UNAVAILABLE, "no gateway answers, or a table must be created in the HBase shell"},
              {TIDE_EXIT_TEMPFAIL},
              {TIDE_EXIT_CONFIG}},
    .details =
        "create  creates tables with their families, split points and namespaces. It changes no existing table and\n"
        "        may be repeated at any time.\n"
        "show    compares the tables with their declaration.\n"
        "\n"
        "Examples:\n"
        "  tidemark tables create -c tidemark.yaml\n"
        "  tidemark tables create -c tidemark.yaml --dry-run | hbase shell -n\n"
        "  tidemark tables create METRIC --sample 100000 --regions 16\n"
        "  tidemark tables show METRIC",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(tables_options, TablesOptions),
    .run = run_tables,
};
