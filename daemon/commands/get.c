/* `tidemark get`: reads one row, by the fields of its key or by the key itself, with older versions of its cells. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/read/gateway_session.h"
#include "commands/read/row_view.h"
#include "util/clock.h"

#define MAX_VERSIONS 1000 /* of one cell in one reply; use scan with a time range for more */

typedef struct GetOptions {
  const char *time;
  const char *key;
  const char *key_hex;
  guint64 n_versions;
  gboolean as_stored;
  int format;         /* TideOutputFormat */
  GPtrArray *columns; /* (element-type utf8) */
} GetOptions;

/* Checks that the time and the fields select one row. Errors: USAGE: with everything that is missing. */
static gboolean
check_is_whole(const TideConfig *config, const GetOptions *options, const TideTable *table,
               const TideKeyArguments *fields, GError **error)
{
  gboolean has_time = tide_row_key_has_time(table->key);
  if (has_time == (options->time != NULL))
    return TRUE; /* the key reports missing fields: some have defaults */
  g_autofree char *scheme = tide_row_key_describe(table->key, config->names);
  g_autofree char *missing = tide_key_arguments_missing(fields, config, table);
  if (!has_time)
    tide_fail(error, TIDE_ERROR_USAGE, "remove '--time': the key of '%s' is %s", table->name, scheme);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "%s%s'--time' is missing: the key of '%s' is %s", missing != NULL ? missing : "",
              missing != NULL ? " and " : "", table->name, scheme);
  return FALSE;
}

static gboolean
append_key(const TideConfig *config, const GetOptions *options, const TideTable *table, const GPtrArray *arguments,
           TideBuffer *key, GError **error)
{
  if (options->key == NULL && options->key_hex == NULL) {
    gint64 time_ns = 0, now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
    g_autoptr(TideKeyArguments) fields =
        tide_key_arguments_parse(config, table, (const char *const *)arguments->pdata + 1, arguments->len - 1, error);
    return fields != NULL && check_is_whole(config, options, table, fields, error) &&
           tide_time_option_parse("time", options->time, now_ns, &time_ns, error) &&
           tide_key_arguments_append_key(fields, config, table, time_ns, key, error);
  }
  if (arguments->len > 1 || options->time != NULL || (options->key != NULL && options->key_hex != NULL))
    return tide_fail(error, TIDE_ERROR_USAGE, "'--key', '--hex' and fields cannot be combined");
  return options->key != NULL ? tide_key_bytes_parse(options->key, key, error)
                              : tide_key_hex_parse(options->key_hex, key, error);
}

static gboolean
add_row(const TideResultRow *row, gpointer view)
{
  (void)tide_row_view_add_result(view, row);
  return TRUE;
}

static gboolean
get_row(TideCommandCall *call, GError **error)
{
  const GetOptions *options = call->options;
  if (!tide_command_check_table(call, error) || !tide_command_load_config(call))
    return FALSE;
  const TideConfig *config = call->config;
  const TideTable *table = tide_table_argument_read(config, call->arguments->pdata[0], error);
  g_auto(TideBuffer) key = {0};
  if (table == NULL || !append_key(config, options, table, call->arguments, &key, error))
    return FALSE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  TideBytes row = tide_buffer_bytes(&key);
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(table, options->columns, options->as_stored);
  TideRowViewOptions viewing = {
      .command = "get",
      .table = table,
      .as_stored = options->as_stored,
      .printing = {.format = (TideOutputFormat)options->format, .columns = columns, .line_per_cell = TRUE}};
  g_autoptr(TideRowView) view = tide_row_view_new(stdout, config->names, &viewing);
  TideGatewayTable stored = {.session = session, .name = table->name};
  TideGetRequest request = {.rows = &row, .n_rows = 1, .max_versions = (gint32)options->n_versions};
  request.columns = tide_column_choice_asked(columns, &request.n_columns);
  if (!tide_gateway_table_get(&request, add_row, view, &stored, error)) {
    g_prefix_error(error, "cannot read '%s': ", table->name);
    return FALSE;
  }
  tide_row_view_finish(view);
  if (tide_row_view_n_rows(view) > 0)
    return TRUE;
  g_autofree char *shown = tide_bytes_printable(row);
  tide_say("tidemark get: '%s' has no row '%s'%s", table->name, shown,
           options->columns->len > 0 ? " with such a column" : "");
  call->exit_code = TIDE_EXIT_FINDINGS;
  return TRUE;
}

static const TideOption get_options[] = {
    TIDE_CONFIG_OPTION,
    {"time", "TIME", TIDE_TEXT(GetOptions, time), "event time in the key; for a day row, any time of the day"},
    {"key", "KEY", TIDE_TEXT(GetOptions, key), "the row key itself, instead of fields; write bytes as \\xHH"},
    {"hex", "HEX", TIDE_TEXT(GetOptions, key_hex), "the row key in hexadecimal"},
    {"versions", "N", TIDE_COUNT(GetOptions, n_versions), "number of versions of each cell to show, newest first (1)",
     .min = 1, .max = MAX_VERSIONS},
    {"column", "NAME", TIDE_LIST(GetOptions, columns),
     "show only this column, as QUALIFIER or FAMILY:QUALIFIER; repeatable"},
    {"raw", NULL, TIDE_FLAG(GetOptions, as_stored),
     "show key and cells as they are stored, without decoding or unpacking"},
    {"format", "FORMAT", TIDE_CHOICE(GetOptions, format), "output format: table, csv or json (table)", .letter = 'f',
     .choices = tide_output_format_names},
};

const TideCommand tide_command_get = {
    .name = "get",
    .arguments = "TABLE [FIELD=VALUE…]",
    .summary = "Reads one row, by all fields of its key or by the key itself.",
    .exits = {{TIDE_EXIT_FINDINGS, "the row does not exist"}, {TIDE_EXIT_UNAVAILABLE}, {TIDE_EXIT_CONFIG}},
    .details = "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z.\n"
               "\n"
               "Examples:\n"
               "  tidemark get CURRENT_METRIC host=server1.bbb.com\n"
               "  tidemark get METRIC host=server1.bbb.com --time 1426535612045 --versions 3\n"
               "  tidemark get METRIC --key 'server1.bbb.com#1426535612045'",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(get_options, GetOptions),
    .defaults = &(const GetOptions){.n_versions = 1},
    .run = get_row,
};
