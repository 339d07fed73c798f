/* `tidemark latest`: shows a latest table for one device, some, or all, with the age of every cell. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/read/row_view.h"
#include "thrift/wire/mutation_encoder.h"
#include "util/clock.h"

#include <unistd.h>

typedef struct LatestOptions {
  const char *prefix;
  const char *up_to;
  gint64 max_age_ms;
  guint64 limit_rows;
  gboolean as_stored;
  gboolean forget;
  gboolean yes;
  int format;         /* TideOutputFormat */
  GPtrArray *columns; /* (element-type utf8) */
} LatestOptions;

#define HOW_TO_DECLARE "declare such a table with 'latest: merge' and a key without the time"

/* The names of the latest tables, separated by commas. @ret_only: one of them; NULL: there is none */
static char *
latest_tables(const TideConfig *config, guint *ret_n, const TideTable **ret_only)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  *ret_only = NULL;
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    if (table->latest == TIDE_LATEST_NONE)
      continue;
    *ret_only = table;
    g_ptr_array_add(names, table->name);
  }
  *ret_n = names->len;
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

static const TideTable *
find_only_latest(const TideConfig *config, GError **error)
{
  guint n_tables;
  const TideTable *found;
  g_autofree char *names = latest_tables(config, &n_tables, &found);
  if (n_tables == 1)
    return found;
  if (n_tables == 0)
    tide_fail(error, TIDE_ERROR_USAGE, "no table in '%s' keeps latest values: " HOW_TO_DECLARE, config->path);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "the table is missing: '%s' declares %s", config->path, names);
  return NULL;
}

/* In a table with a row for each reading, key order would show the oldest values as the latest ones. */
static gboolean
check_keeps_latest(const TideConfig *config, const TideTable *table, GError **error)
{
  if (table == NULL || table->latest != TIDE_LATEST_NONE || !tide_row_key_has_time(table->key))
    return table != NULL;
  guint n_tables;
  const TideTable *unused;
  g_autofree char *names = latest_tables(config, &n_tables, &unused);
  return tide_fail(error, TIDE_ERROR_USAGE,
                   "'%s' keeps history, not latest values: %s%s; 'tidemark scan %s' reads history", table->name,
                   n_tables > 0 ? names : HOW_TO_DECLARE,
                   n_tables == 0   ? ""
                   : n_tables == 1 ? " does"
                                   : " do",
                   table->name);
}

/* The first argument is the table, unless it can only be a key: a prefix or FIELD=VALUE. */
static const TideTable *
take_table(const TideConfig *config, const GPtrArray *arguments, guint *ret_n_taken, GError **error)
{
  *ret_n_taken = 0;
  const char *first = arguments->len > 0 ? arguments->pdata[0] : NULL;
  const TideTable *table = first != NULL ? tide_table_of_name(config, first) : NULL;
  /* The first of two arguments can only be a table or FIELD=VALUE: only one prefix is accepted. */
  if (table == NULL && arguments->len > 1 && strchr(first, '=') == NULL)
    return tide_table_argument_read(config, first, error);
  if (table == NULL)
    return find_only_latest(config, error);
  *ret_n_taken = 1;
  return tide_table_argument_read(config, first, error);
}

/* Interprets the arguments after the table: a prefix, or fields. */
static gboolean
plan_ranges(const TideConfig *config, const LatestOptions *options, TideTableScanPlan *plan,
            const char *const *arguments, guint n_arguments, GError **error)
{
  gboolean is_prefix = n_arguments == 1 && !tide_key_argument_names_field(config, plan->table, arguments[0]) &&
                       strchr(arguments[0], '=') == NULL;
  if (options->prefix != NULL && n_arguments > 0)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--prefix' cannot be combined with fields or another prefix, got '%s'",
                     arguments[0]);
  if (options->prefix != NULL || is_prefix) {
    g_auto(TideBuffer) prefix = {0};
    plan->ranges = tide_key_ranges_new(1);
    tide_text_unescape(options->prefix != NULL ? options->prefix : arguments[0], &prefix);
    tide_key_range_set_prefix(&g_array_index(plan->ranges, TideKeyRange, 0), tide_buffer_bytes(&prefix));
    return TRUE;
  }
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, plan->table, arguments, n_arguments, error);
  if (fields == NULL || !tide_table_scan_plan_fields(plan, fields, error))
    return FALSE;
  tide_table_scan_plan_report(plan, "latest", fields, config->names);
  return TRUE;
}

static gboolean
print_latest(TideCommandCall *call, GError **error)
{
  const TideConfig *config = call->config;
  const LatestOptions *options = call->options;
  const GPtrArray *arguments = call->arguments;
  gboolean is_complete = TRUE;
  guint n_taken = 0;
  const TideTable *table = take_table(config, arguments, &n_taken, error);
  if (!check_keeps_latest(config, table, error))
    return FALSE;
  g_auto(TideTableScanPlan)
      plan = {.table = table, .request = {.to_ns = G_MAXINT64, .limit_rows = options->limit_rows}};
  if (!plan_ranges(config, options, &plan, (const char *const *)arguments->pdata + n_taken, arguments->len - n_taken,
                   error))
    return FALSE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  gboolean by_index = table->index_of != TIDE_TABLE_NONE && !options->as_stored;
  const TideTable *shown = by_index ? config->tables->pdata[table->index_of] : table;
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(shown, options->columns, options->as_stored);
  plan.columns = by_index ? NULL : columns;
  TideRowViewOptions viewing = {
      .command = "latest",
      .table = shown,
      .as_stored = options->as_stored,
      .printing = {.format = (TideOutputFormat)options->format,
                   .columns = columns,
                   .with_age = TRUE,
                   .now_ms = tide_wall_clock_epoch_ms(),
                   .max_age_ms = options->max_age_ms},
  };
  if (tide_print_table(config, session, &plan, &viewing, &is_complete, error)) {
    call->exit_code = is_complete ? TIDE_EXIT_OK : TIDE_EXIT_FINDINGS;
    return TRUE;
  }
  g_prefix_error(error, "cannot read '%s': ", table->name);
  return FALSE;
}

/* ---- --forget ---- */

/* Asks on the terminal. Errors: TIDE_ERROR_USAGE if standard input is not a terminal, CANCELLED if the answer is no. */
static gboolean
confirm(const LatestOptions *options, const char *what, GError **error)
{
  if (options->yes)
    return TRUE;
  if (!isatty(STDIN_FILENO))
    return tide_fail(error, TIDE_ERROR_USAGE, "cannot ask without a terminal: use '--yes' to delete %s", what);
  tide_ask("Delete %s? [y/N] ", what);
  int answer = getchar();
  if (answer == 'y' || answer == 'Y')
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CANCELLED, "nothing was deleted");
}

/* "row 'server1' of 'CURRENT_METRIC' with all that …": describes what is deleted and what is not. (transfer full) */
static char *
describe_deletion(const TideConfig *config, const TideTable *table, TideBytes key, gint64 up_to_ms)
{
  g_autofree char *row = tide_bytes_printable(key);
  g_autofree char *up_to = tide_time_text(up_to_ms);
  if (table->index_of == TIDE_TABLE_NONE)
    return g_strdup_printf("row '%s' of '%s' with everything read up to %s", row, table->name, up_to);
  const TideTable *data = config->tables->pdata[table->index_of];
  return g_strdup_printf("row '%s' of the index '%s' with everything up to %s, but no row of '%s'", row, table->name,
                         up_to, data->name);
}

/* Deletes the row's cells of all declared families up to @up_to_ms. Errors: of the call, whose outcome may then be
 * unknown; it may be repeated. */
static gboolean
delete_row(TideGatewaySession *session, const TideTable *table, TideBytes key, gint64 up_to_ms, GError **error)
{
  g_autofree TideBytes *families = g_new(TideBytes, table->families->len);
  g_auto(TideBuffer) mutation = {0};
  for (guint i = 0; i < table->families->len; i++)
    families[i] = tide_bytes_of_string(((const TideFamilySettings *)table->families->pdata[i])->name);
  tide_mutation_delete_append(tide_gateway_session_mode(session).protocol, &mutation, key, families,
                              table->families->len, up_to_ms);
  if (tide_hbase_client_mutate_row(tide_gateway_session_client(session), tide_bytes_of_string(table->name), key,
                                   tide_buffer_bytes(&mutation), 1, tide_gateway_session_deadline_us(session), error))
    return TRUE;
  tide_gateway_session_explain(session, table->name, error);
  g_prefix_error(error, "cannot delete from '%s': ", table->name);
  return FALSE;
}

/* Removes one device from a latest table, as a message without value does with tombstones: everything in its row up to
 * a time is deleted, and a later reading restores it. */
static gboolean
forget_row(const TideConfig *config, const LatestOptions *options, const GPtrArray *arguments, GError **error)
{
  guint n_taken = 0;
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS, up_to_ns = now_ns;
  const TideTable *table = take_table(config, arguments, &n_taken, error);
  if (table == NULL || !tide_time_option_parse("up-to", options->up_to, now_ns, &up_to_ns, error))
    return FALSE;
  gint64 up_to_ms = tide_ns_to_ms(up_to_ns);
  if (up_to_ns > now_ns)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--up-to' is in the future: readings until then would be written but never visible; without it "
                     "everything read up to now is deleted");
  if (table->latest == TIDE_LATEST_NONE || tide_row_key_has_time(table->key))
    return tide_fail(error, TIDE_ERROR_USAGE, "'--forget' removes a device from a latest table: '%s' %s", table->name,
                     table->latest == TIDE_LATEST_NONE ? "is declared as a table of readings"
                                                       : "has the time in its key");
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(
      config, table, (const char *const *)arguments->pdata + n_taken, arguments->len - n_taken, error);
  g_auto(TideBuffer) key = {0};
  if (fields == NULL || !tide_key_arguments_append_key(fields, config, table, 0, &key, error))
    return FALSE;
  g_autofree char *what = describe_deletion(config, table, tide_buffer_bytes(&key), up_to_ms);
  if (!confirm(options, what, error))
    return FALSE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL || !delete_row(session, table, tide_buffer_bytes(&key), up_to_ms, error))
    return FALSE;
  tide_say("deleted %s; a later reading restores it", what);
  return TRUE;
}

static gboolean
run_latest(TideCommandCall *call, GError **error)
{
  const LatestOptions *options = call->options;
  if (!tide_command_load_config(call))
    return FALSE;
  return options->forget ? forget_row(call->config, options, call->arguments, error) : print_latest(call, error);
}

static const TideOption latest_options[] = {
    TIDE_CONFIG_OPTION,
    {"max-age", "DURATION", TIDE_DURATION(LatestOptions, max_age_ms),
     "hide cells whose event time is older than this (no limit)"},
    {"limit", "N", TIDE_COUNT(LatestOptions, limit_rows), "maximum number of rows (no limit)", .letter = 'n', .min = 1},
    {"column", "NAME", TIDE_LIST(LatestOptions, columns),
     "show only this column, as QUALIFIER or FAMILY:QUALIFIER; repeatable"},
    {"prefix", "PREFIX", TIDE_TEXT(LatestOptions, prefix),
     "show rows whose key starts with PREFIX, if it could be mistaken for a table or field"},
    {"raw", NULL, TIDE_FLAG(LatestOptions, as_stored),
     "show keys and cells as they are stored; for an index, its own rows"},
    {"forget", NULL, TIDE_FLAG(LatestOptions, forget), "delete the row of these fields; a later reading restores it"},
    {"up-to", "TIME", TIDE_TEXT(LatestOptions, up_to),
     "with --forget: delete only what was read up to this time (now)"},
    {"yes", NULL, TIDE_FLAG(LatestOptions, yes), "with --forget: do not ask for confirmation", .letter = 'y'},
    {"format", "FORMAT", TIDE_CHOICE(LatestOptions, format),
     "output format: table, csv or json, one object per row (table)", .letter = 'f',
     .choices = tide_output_format_names},
};

const TideCommand tide_command_latest = {
    .name = "latest",
    .arguments = "[TABLE] [PREFIX | FIELD=VALUE…]",
    .summary = "Shows the latest values of one row, of all rows whose key starts with PREFIX, or of the whole table.",
    .exits = {{TIDE_EXIT_FINDINGS, "an index points to a missing row"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL, "--forget was not confirmed"},
              {TIDE_EXIT_CONFIG}},
    .details = "TABLE is optional if the configuration declares one latest table. A history table is rejected.\n"
               "AGE is the time since the event. For an index, the rows that it points to are shown.\n"
               "\n"
               "Examples:\n"
               "  tidemark latest host=server1.bbb.com\n"
               "  tidemark latest CURRENT_METRIC server1 --max-age 5m\n"
               "  tidemark latest CURRENT_METRIC --format csv > inventory.csv\n"
               "  tidemark latest CURRENT_METRIC host=server1.bbb.com --forget",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(latest_options, LatestOptions),
    .run = run_latest,
};
