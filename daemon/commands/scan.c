/* `tidemark scan`: the rows of a table by key fields and time range. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/load_config.h"
#include "commands/print_scan.h"
#include "commands/time_argument.h"
#include "util/clock.h"

typedef struct ScanOptions {
  const char *config_path;
  const char *from;
  const char *to;
  guint64 limit_rows;
  gboolean newest_first;
  gboolean oldest_first;
  int format;         /* TideOutputFormat */
  GPtrArray *columns; /* (element-type utf8) */
} ScanOptions;

static gboolean
read_wish(const ScanOptions *options, TideTableScanWish *wish, GError **error)
{
  gint64 now_ns = tide_wall_clock_epoch_ms() * TIDE_NS_PER_MS;
  *wish = (TideTableScanWish){.newest_first = options->newest_first,
                              .oldest_first = options->oldest_first,
                              .limit_rows = options->limit_rows,
                              .to_ns = G_MAXINT64};
  if (wish->newest_first && wish->oldest_first) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--newest-first' and '--oldest-first' exclude each other");
    return FALSE;
  }
  if (options->from != NULL && !tide_time_argument_parse(options->from, now_ns, &wish->from_ns, error)) {
    g_prefix_error(error, "'--from' ");
    return FALSE;
  }
  if (options->to != NULL && !tide_time_argument_parse(options->to, now_ns, &wish->to_ns, error)) {
    g_prefix_error(error, "'--to' ");
    return FALSE;
  }
  if (wish->from_ns >= wish->to_ns) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--from' must be before '--to'");
    return FALSE;
  }
  return TRUE;
}

static gboolean
scan_table(const TideConfig *config, const ScanOptions *options, const GPtrArray *arguments, GError **error)
{
  TideTableScanWish wish;
  if (!read_wish(options, &wish, error))
    return FALSE;
  const TideTable *table = tide_table_argument_find(config, arguments->pdata[0], error);
  if (table == NULL)
    return FALSE;
  g_autoptr(TideKeyArguments) fields =
      tide_key_arguments_parse(config, table, (const char *const *)arguments->pdata + 1, arguments->len - 1, error);
  if (fields == NULL)
    return FALSE;
  g_autoptr(GArray) ranges = tide_row_key_plan(table->key, &fields->reading, wish.from_ns, wish.to_ns, error);
  TideRowOrder order = TIDE_ROW_ORDER_KEY;
  gboolean reversed = FALSE;
  if (ranges == NULL || !tide_table_scan_order(config, table, fields, &wish, ranges->len, &order, &reversed, error))
    return FALSE;

  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  g_autoptr(TideTableScan) scan = tide_table_scan_new(session, table, ranges, order, reversed, &wish);
  TideRowPrinterOptions printing = {
      .format = (TideOutputFormat)options->format, .table = table->name, .columns = options->columns};
  g_autoptr(TideRowPrinter) printer = tide_row_printer_new(stdout, &printing);
  if (!tide_print_scan(scan, printer, options->limit_rows, error)) {
    g_prefix_error(error, "cannot scan '%s': ", table->name);
    return FALSE;
  }
  return TRUE;
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
      {.name = "limit",
       .letter = 'n',
       .kind = TIDE_OPTION_COUNT,
       .target = &options.limit_rows,
       .value_name = "N",
       .sentence = "at most N rows (all)",
       .min = 1},
      {.name = "column",
       .kind = TIDE_OPTION_LIST,
       .target = columns,
       .value_name = "NAME",
       .sentence = "only this column, as QUALIFIER or FAMILY:QUALIFIER; again for more; one line a row then"},
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
      .summary = "Reads rows of a table by the fields of its key and a time range.",
      .details =
          "TIME is now, -15m, +1h, epoch milliseconds, 2026-11-21 or 2026-11-21T04:45:00Z. A salted table is read in\n"
          "as many ranges as it has salts, merged by time. Bytes that are no text are shown, and may be given, as "
          "\\xHH.\n"
          "\n"
          "Examples:\n"
          "  tidemark scan METRIC host=server1.bbb.com --from -15m --newest-first --limit 10\n"
          "  tidemark scan METRIC host=server1.bbb.com --from 2026-11-21 --to 2026-11-22 --column CPU/CPU1_USR -f csv",
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
