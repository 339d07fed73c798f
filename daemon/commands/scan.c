/* `tidemark scan`: reads the rows of a table by key fields and time range, or by their keys. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/time_argument.h"
#include "commands/read/row_view.h"
#include "util/clock.h"

typedef struct ScanOptions {
  const char *from;
  const char *to;
  const char *start;
  const char *stop;
  guint64 limit_rows;
  gboolean newest_first;
  gboolean oldest_first;
  gboolean reversed;
  gboolean plan_only;
  gboolean as_stored;
  int format;         /* TideOutputFormat */
  GPtrArray *columns; /* (element-type utf8) */
} ScanOptions;

static gboolean
read_request(const ScanOptions *options, const TideTable *table, TideTableScanRequest *request, GError **error)
{
  gboolean is_timed = table->cell_time == TIDE_CELL_TIME_EVENT || tide_row_key_has_time(table->key);
  *request = (TideTableScanRequest){.newest_first = options->newest_first,
                                    .oldest_first = options->oldest_first,
                                    .reversed = options->reversed,
                                    .limit_rows = options->limit_rows,
                                    .to_ns = G_MAXINT64};
  if (request->newest_first + request->oldest_first + request->reversed > 1)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--newest-first', '--oldest-first' and '--reverse' cannot be combined");
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  if (!tide_time_option_parse("from", options->from, now_ns, &request->from_ns, error) ||
      !tide_time_option_parse("to", options->to, now_ns, &request->to_ns, error))
    return FALSE;
  if (request->from_ns >= request->to_ns)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--from' must be before '--to'");
  if (is_timed || (options->from == NULL && options->to == NULL))
    return TRUE;
  return tide_fail(
      error, TIDE_ERROR_USAGE,
      "the rows of '%s' have no event time, neither in the key nor in the cells: remove '--from' and '--to'",
      table->name);
}

/* The range of '--start' and '--stop'. */
static GArray *
read_key_range(const ScanOptions *options, GError **error)
{
  g_autoptr(GArray) ranges = tide_key_ranges_new(1);
  TideKeyRange *range = &g_array_index(ranges, TideKeyRange, 0);
  if ((options->start != NULL && !tide_key_bytes_parse(options->start, &range->start, error)) ||
      (options->stop != NULL && !tide_key_bytes_parse(options->stop, &range->stop, error)))
    return NULL;
  if (range->stop.len > 0 &&
      tide_bytes_compare(tide_buffer_bytes(&range->start), tide_buffer_bytes(&range->stop)) >= 0) {
    tide_fail(error, TIDE_ERROR_USAGE,
              "'--start' must be before '--stop', byte by byte; '--reverse' reads from the end");
    return NULL;
  }
  return g_steal_pointer(&ranges);
}

/* Sets the plan's ranges, filter and order. */
static gboolean
plan_ranges(const TideConfig *config, const ScanOptions *options, const GPtrArray *arguments, TideTableScanPlan *plan,
            GError **error)
{
  const char *const *texts = (const char *const *)arguments->pdata + 1;
  g_autoptr(TideKeyArguments) fields = NULL;
  if (options->start != NULL || options->stop != NULL) {
    if (arguments->len > 1)
      return tide_fail(error, TIDE_ERROR_USAGE, "'--start' and '--stop' cannot be combined with fields, got '%s'",
                       texts[0]);
    plan->ranges = read_key_range(options, error);
  } else {
    fields = tide_key_arguments_parse(config, plan->table, texts, arguments->len - 1, error);
    if (fields == NULL)
      return FALSE;
    if (!tide_table_scan_plan_fields(plan, fields, error))
      return FALSE;
    tide_table_scan_plan_report(plan, "scan", fields, config->names);
  }
  return plan->ranges != NULL && tide_table_scan_plan_order(plan, config, fields, error);
}

static gboolean
scan_table(TideCommandCall *call, GError **error)
{
  const ScanOptions *options = call->options;
  if (!tide_command_check_table(call, error) || !tide_command_load_config(call))
    return FALSE;
  const TideConfig *config = call->config;
  g_auto(TideTableScanPlan) plan = {.table = tide_table_argument_read(config, call->arguments->pdata[0], error)};
  if (plan.table == NULL || !read_request(options, plan.table, &plan.request, error))
    return FALSE;
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(plan.table, options->columns, options->as_stored);
  plan.columns = columns;
  if (!plan_ranges(config, options, call->arguments, &plan, error))
    return FALSE;
  if (options->plan_only) {
    tide_print_plan(stdout, (TideOutputFormat)options->format, &plan);
    return TRUE;
  }
  TideRowViewOptions viewing = {.command = "scan",
                                .table = plan.table,
                                .as_stored = options->as_stored,
                                .printing = {.format = (TideOutputFormat)options->format, .columns = columns}};
  gboolean is_complete = TRUE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL || tide_print_table(config, session, &plan, &viewing, &is_complete, error))
    return session != NULL;
  g_prefix_error(error, "cannot scan '%s': ", plan.table->name);
  return FALSE;
}

static const TideOption scan_options[] = {
    TIDE_CONFIG_OPTION,
    {"from", "TIME", TIDE_TEXT(ScanOptions, from), "earliest event time, inclusive (no limit)"},
    {"to", "TIME", TIDE_TEXT(ScanOptions, to), "latest event time, exclusive (no limit)"},
    {"newest-first", NULL, TIDE_FLAG(ScanOptions, newest_first), "show the newest row first"},
    {"oldest-first", NULL, TIDE_FLAG(ScanOptions, oldest_first), "show the oldest row first"},
    {"reverse", NULL, TIDE_FLAG(ScanOptions, reversed), "reverse the order: from the last key to the first"},
    {"limit", "N", TIDE_COUNT(ScanOptions, limit_rows), "maximum number of rows (no limit)", .letter = 'n', .min = 1},
    {"start", "KEY", TIDE_TEXT(ScanOptions, start), "instead of fields: first row key, as text or hex:00ff (no limit)"},
    {"stop", "KEY", TIDE_TEXT(ScanOptions, stop), "instead of fields: last row key, exclusive (no limit)"},
    {"column", "NAME", TIDE_LIST(ScanOptions, columns),
     "show only this column, one row per line, as QUALIFIER or FAMILY:QUALIFIER; repeatable"},
    {"raw", NULL, TIDE_FLAG(ScanOptions, as_stored),
     "show keys and cells as they are stored, without decoding or unpacking"},
    {"plan", NULL, TIDE_FLAG(ScanOptions, plan_only),
     "show the row key ranges and the requests to HBase, without connecting"},
    {"format", "FORMAT", TIDE_CHOICE(ScanOptions, format),
     "output format: table, csv or json, one object per row (table)", .letter = 'f',
     .choices = tide_output_format_names},
};

const TideCommand tide_command_scan = {
    .name = "scan",
    .arguments = "TABLE [FIELD=VALUE…]",
    .summary = "Reads rows of a table by the fields of its key and a time range, or by row keys.",
    .exits = {{TIDE_EXIT_UNAVAILABLE}, {TIDE_EXIT_CONFIG}},
    .details =
        "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z. A salted table is read in\n"
        "one range per salt, merged by time. Bytes that are not text are written as \\xHH, in arguments and output.\n"
        "\n"
        "Examples:\n"
        "  tidemark scan METRIC host=server1.bbb.com --from -15m --newest-first --limit 10\n"
        "  tidemark scan METRIC host=server1.bbb.com --from 2026-11-21 --to 2026-11-22 --column CPU/CPU1_USR -f csv\n"
        "  tidemark scan LANES --start '15#S#1' --stop '15#S#999' --column speed --limit 100\n"
        "  tidemark scan METRIC host=server1.bbb.com --from -15m --plan",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(scan_options, ScanOptions),
    .run = scan_table,
};
