/* `tidemark scan`: the rows of a table by key fields and time range, or by their keys. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/gateway_session.h"
#include "commands/load_config.h"
#include "commands/print_plan.h"
#include "commands/print_scan.h"
#include "commands/time_argument.h"
#include "util/clock.h"

typedef struct ScanOptions {
  const char *config_path;
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
read_time(const char *option, const char *text, gint64 *ret_ns, GError **error)
{
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  if (text == NULL || tide_time_argument_parse(text, now_ns, ret_ns, error))
    return TRUE;
  g_prefix_error(error, "'--%s' ", option);
  return FALSE;
}

static gboolean
read_wish(const ScanOptions *options, TideTableScanWish *wish, GError **error)
{
  *wish = (TideTableScanWish){.newest_first = options->newest_first,
                              .oldest_first = options->oldest_first,
                              .reversed = options->reversed,
                              .limit_rows = options->limit_rows,
                              .to_ns = G_MAXINT64};
  if (wish->newest_first + wish->oldest_first + wish->reversed > 1) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "'--newest-first', '--oldest-first' and '--reverse' exclude each other");
    return FALSE;
  }
  if (!read_time("from", options->from, &wish->from_ns, error) || !read_time("to", options->to, &wish->to_ns, error))
    return FALSE;
  if (wish->from_ns >= wish->to_ns) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--from' must be before '--to'");
    return FALSE;
  }
  return TRUE;
}

/* A time range means nothing where neither the key nor the cells bear the event time. */
static gboolean
check_times(const TideTable *table, const ScanOptions *options, GError **error)
{
  gboolean timed = table->cell_time == TIDE_CELL_TIME_EVENT || tide_row_key_has_time(table->key);
  if (timed || (options->from == NULL && options->to == NULL))
    return TRUE;
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_USAGE,
      "the rows of '%s' do not tell their event time, neither by key nor by cell: leave '--from' and '--to' out",
      table->name);
  return FALSE;
}

/* The range that '--start' and '--stop' give. */
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
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "'--start' must be before '--stop', byte by byte; '--reverse' reads from the end");
    return NULL;
  }
  return g_steal_pointer(&ranges);
}

/* Fills in the plan's ranges, filter and order. */
static gboolean
plan_ranges(const TideConfig *config, const ScanOptions *options, const GPtrArray *arguments, TideTableScanPlan *plan,
            GError **error)
{
  const char *const *texts = (const char *const *)arguments->pdata + 1;
  g_autoptr(TideKeyArguments) fields = NULL;
  if (options->start != NULL || options->stop != NULL) {
    if (arguments->len > 1) {
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--start' and '--stop' exclude fields, got '%s'", texts[0]);
      return FALSE;
    }
    plan->ranges = read_key_range(options, error);
  } else {
    fields = tide_key_arguments_parse(config, plan->table, texts, arguments->len - 1, error);
    if (fields == NULL)
      return FALSE;
    if (!tide_table_scan_plan_fields(plan, fields, error))
      return FALSE;
    tide_table_scan_plan_tell(plan, "scan", fields, config->names);
  }
  return plan->ranges != NULL && tide_table_scan_plan_order(plan, config, fields, error);
}

static gboolean
read_rows(const TideConfig *config, const ScanOptions *options, const TideTableScanPlan *plan, GError **error)
{
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  TideGatewayTable stored = {.session = session, .name = tide_bytes_of_string(plan->table->name)};
  g_autoptr(TideTableScan) scan = tide_table_scan_new(plan, config->names, tide_gateway_table_scan, &stored);
  TideRowViewOptions viewing = {.command = "scan",
                                .table = plan->table,
                                .format = (TideOutputFormat)options->format,
                                .as_stored = options->as_stored,
                                .columns = plan->columns};
  g_autoptr(TideRowView) view = tide_row_view_new(stdout, config->names, &viewing);
  gboolean ok = tide_print_scan(scan, view, options->limit_rows, error);
  tide_table_scan_tell_foreign(scan, "scan");
  if (ok)
    return TRUE;
  g_prefix_error(error, "cannot scan '%s': ", plan->table->name);
  return FALSE;
}

static gboolean
scan_table(const TideConfig *config, const ScanOptions *options, const GPtrArray *arguments, GError **error)
{
  g_auto(TideTableScanPlan) plan = {.table = tide_table_argument_read(config, arguments->pdata[0], error)};
  if (plan.table == NULL || !read_wish(options, &plan.wish, error) || !check_times(plan.table, options, error))
    return FALSE;
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(plan.table, options->columns, options->as_stored);
  plan.columns = columns;
  gboolean ok = plan_ranges(config, options, arguments, &plan, error);
  if (ok && options->plan_only)
    tide_print_plan(stdout, (TideOutputFormat)options->format, &plan);
  else if (ok)
    ok = read_rows(config, options, &plan, error);
  return ok;
}

int
tide_command_scan(int argc, char **argv)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new();
  ScanOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH, .columns = columns};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "from",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.from,
       .value_name = "TIME",
       .sentence = "event times from here on (all)"},
      {.name = "to",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.to,
       .value_name = "TIME",
       .sentence = "event times before this (all)"},
      {.name = "newest-first",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.newest_first,
       .sentence = "the latest row first"},
      {.name = "oldest-first",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.oldest_first,
       .sentence = "the earliest row first"},
      {.name = "reverse",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.reversed,
       .sentence = "the other way around: from the last key to the first"},
      {.name = "limit",
       .letter = 'n',
       .kind = TIDE_OPTION_COUNT,
       .target = &options.limit_rows,
       .value_name = "N",
       .sentence = "at most N rows (all)",
       .min = 1},
      {.name = "start",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.start,
       .value_name = "KEY",
       .sentence = "instead of fields: row keys from here on, as text or hex:00ff (all)"},
      {.name = "stop",
       .kind = TIDE_OPTION_TEXT,
       .target = &options.stop,
       .value_name = "KEY",
       .sentence = "instead of fields: row keys before this (all)"},
      {.name = "column",
       .kind = TIDE_OPTION_LIST,
       .target = columns,
       .value_name = "NAME",
       .sentence = "only this column, as QUALIFIER or FAMILY:QUALIFIER; again for more; one line a row then"},
      {.name = "raw",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.as_stored,
       .sentence = "keys and cells as they are stored, nothing read back or unpacked"},
      {.name = "plan",
       .kind = TIDE_OPTION_FLAG,
       .target = &options.plan_only,
       .sentence = "show the ranges of row keys and what is asked of HBase; connect to nothing"},
      {.name = "format",
       .letter = 'f',
       .kind = TIDE_OPTION_CHOICE,
       .target = &options.format,
       .value_name = "FORMAT",
       .sentence = "table, csv or json, one object a row (table)",
       .choices = tide_output_format_names},
  };
  const TideCommandLine line = {
      .command = "scan",
      .arguments = "TABLE [FIELD=VALUE…]",
      .summary = "Reads rows of a table by the fields of its key and a time range, or by row keys.",
      .details =
          "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z. A salted table is read in\n"
          "as many ranges as it has salts, merged by time. Bytes that are no text are shown, and may be given, as "
          "\\xHH.\n"
          "\n"
          "Examples:\n"
          "  tidemark scan METRIC host=server1.bbb.com --from -15m --newest-first --limit 10\n"
          "  tidemark scan METRIC host=server1.bbb.com --from 2026-11-21 --to 2026-11-22 --column CPU/CPU1_USR -f csv\n"
          "  tidemark scan LANES --start '15#S#1' --stop '15#S#999' --column speed --limit 100\n"
          "  tidemark scan METRIC host=server1.bbb.com --from -15m --plan",
      .max_arguments = G_MAXUINT,
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(GError) error = NULL;
  if (arguments->len == 0) {
    g_set_error(&error, TIDE_ERROR, TIDE_ERROR_USAGE, "which table? see 'tidemark scan --help'");
    return tide_command_fail(&line, error);
  }
  g_autoptr(TideConfig) config = tide_command_load_config(&line, options.config_path);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  if (!scan_table(config, &options, arguments, &error))
    return tide_command_fail(&line, error);
  return tide_output_close();
}
