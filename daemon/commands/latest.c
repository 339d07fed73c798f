/* `tidemark latest`: what a latest-value table holds for one machine, some, or all, with the age of every cell. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/load_config.h"
#include "commands/print_scan.h"
#include "util/clock.h"

typedef struct LatestOptions {
  const char *config_path;
  gint64 max_age_ms;
  guint64 limit_rows;
  int format;         /* TideOutputFormat */
  GPtrArray *columns; /* (element-type utf8) */
} LatestOptions;

/* The only latest table of the configuration. */
static const TideTable *
find_only_latest(const TideConfig *config, GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  const TideTable *found = NULL;
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    if (table->latest == TIDE_LATEST_NONE)
      continue;
    found = table;
    g_ptr_array_add(names, table->name);
  }
  if (names->len == 1)
    return found;
  if (names->len == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "no table in '%s' is declared 'latest: merge': name one to read it anyway", config->path);
    return NULL;
  }
  g_ptr_array_add(names, NULL);
  g_autofree char *known = g_strjoinv(", ", (char **)names->pdata);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "which table? '%s' declares %s", config->path, known);
  return NULL;
}

/* The first argument names the table, unless it can only be a key: a prefix or FIELD=VALUE. */
static const TideTable *
take_table(const TideConfig *config, const GPtrArray *arguments, guint *ret_n_taken, GError **error)
{
  *ret_n_taken = 0;
  const char *first = arguments->len > 0 ? arguments->pdata[0] : NULL;
  const TideTable *table = first != NULL ? tide_config_find_table(config, first) : NULL;
  /* Of two arguments, the first can only be a table or FIELD=VALUE: one prefix is all that is taken. */
  if (table == NULL && arguments->len > 1 && strchr(first, '=') == NULL)
    return tide_table_argument_find(config, first, error);
  if (table == NULL)
    return find_only_latest(config, error);
  *ret_n_taken = 1;
  return table;
}

static GArray *
prefix_range(const char *text)
{
  GArray *ranges = g_array_new(FALSE, TRUE, sizeof(TideKeyRange));
  g_array_set_clear_func(ranges, (GDestroyNotify)tide_key_range_clear);
  g_array_set_size(ranges, 1);
  g_auto(TideBuffer) prefix = {0};
  tide_text_unescape(text, &prefix);
  tide_key_range_set_prefix(&g_array_index(ranges, TideKeyRange, 0), tide_buffer_bytes(&prefix));
  return ranges;
}

/* With every field of a key without time given, one exact row: [key, key\0). */
static gboolean
exact_range(const TideTable *table, const TideKeyArguments *fields, GArray *ranges)
{
  TideReject reject;
  g_auto(TideBuffer) key = {0};
  if (tide_row_key_has_time(table->key) || !tide_row_key_append(table->key, &fields->reading, &key, &reject))
    return FALSE;
  g_array_set_size(ranges, 0);
  g_array_set_size(ranges, 1);
  TideKeyRange *range = &g_array_index(ranges, TideKeyRange, 0);
  tide_buffer_append_bytes(&range->start, tide_buffer_bytes(&key));
  tide_buffer_append_bytes(&range->stop, tide_buffer_bytes(&key));
  tide_buffer_append_byte(&range->stop, 0);
  return TRUE;
}

/* The ranges that the arguments behind the table mean. */
static GArray *
read_ranges(const TideConfig *config, const TideTable *table, const char *const *arguments, guint n_arguments,
            GError **error)
{
  gboolean is_prefix = n_arguments == 1 && !tide_key_argument_names_field(config, table, arguments[0]) &&
                       strchr(arguments[0], '=') == NULL;
  if (is_prefix)
    return prefix_range(arguments[0]);
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, table, arguments, n_arguments, error);
  if (fields == NULL)
    return NULL;
  g_autoptr(GArray) ranges = tide_row_key_plan(table->key, &fields->reading, 0, G_MAXINT64, error);
  if (ranges == NULL)
    return NULL;
  (void)exact_range(table, fields, ranges);
  return g_steal_pointer(&ranges);
}

static gboolean
print_latest(const TideConfig *config, const LatestOptions *options, const GPtrArray *arguments, GError **error)
{
  guint n_taken = 0;
  const TideTable *table = take_table(config, arguments, &n_taken, error);
  if (table == NULL)
    return FALSE;
  g_autoptr(GArray) ranges =
      read_ranges(config, table, (const char *const *)arguments->pdata + n_taken, arguments->len - n_taken, error);
  if (ranges == NULL)
    return FALSE;
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  TideRowPrinterOptions printing = {
      .format = (TideOutputFormat)options->format,
      .table = table->name,
      .columns = options->columns,
      .with_age = TRUE,
      .now_ms = tide_wall_clock_epoch_ms(),
      .max_age_ms = options->max_age_ms,
  };
  TideTableScanWish wish = {.to_ns = G_MAXINT64, .limit_rows = options->limit_rows};
  g_autoptr(TideTableScan) scan = tide_table_scan_new(session, table, ranges, TIDE_ROW_ORDER_KEY, FALSE, &wish);
  g_autoptr(TideRowPrinter) printer = tide_row_printer_new(stdout, &printing);
  if (tide_print_scan(scan, printer, options->limit_rows, error))
    return TRUE;
  g_prefix_error(error, "cannot read '%s': ", table->name);
  return FALSE;
}

int
tide_command_latest(int argc, char **argv)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new();
  LatestOptions options = {.config_path = TIDE_DEFAULT_CONFIG_PATH, .columns = columns};
  const TideOption table[] = {
      tide_config_option(&options.config_path),
      {.name = "max-age",
       .kind = TIDE_OPTION_DURATION,
       .target = &options.max_age_ms,
       .value_name = "DURATION",
       .sentence = "leave out cells whose event is older than this (shows all)"},
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
       .sentence = "only this column, as QUALIFIER or FAMILY:QUALIFIER; again for more"},
      {.name = "format",
       .letter = 'f',
       .kind = TIDE_OPTION_CHOICE,
       .target = &options.format,
       .value_name = "FORMAT",
       .sentence = "table, csv or json, one object a row (table)",
       .choices = tide_output_format_names},
  };
  const TideCommandLine line = {
      .command = "latest",
      .arguments = "[TABLE] [PREFIX | FIELD=VALUE…]",
      .summary = "Shows the latest values: of one row, of all whose key begins with PREFIX, or of the whole table.",
      .details =
          "TABLE may be left out where the configuration declares one latest table. AGE is the time since the event.\n"
          "\n"
          "Examples:\n"
          "  tidemark latest host=server1.bbb.com\n"
          "  tidemark latest CURRENT_METRIC server1 --max-age 5m\n"
          "  tidemark latest CURRENT_METRIC --format csv > inventory.csv",
      .max_arguments = G_MAXUINT,
      .options = table,
      .n_options = G_N_ELEMENTS(table),
  };
  g_autoptr(GPtrArray) arguments = g_ptr_array_new();
  int exit_code = TIDE_EXIT_OK;
  if (!tide_command_line_begin(&line, argc, argv, arguments, &exit_code))
    return exit_code;
  g_autoptr(TideConfig) config = tide_command_load_config(&line, options.config_path);
  if (config == NULL)
    return TIDE_EXIT_CONFIG;
  g_autoptr(GError) error = NULL;
  if (!print_latest(config, &options, arguments, &error))
    return tide_command_fail(&line, error);
  return tide_output_close();
}
