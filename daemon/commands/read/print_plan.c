#include "commands/read/print_plan.h"

#include "commands/cli/listing.h"
#include "commands/cli/time_argument.h"

/* What is the same for all ranges, as texts; owned. */
typedef struct Common {
  const char *direction; /* static */
  char *limit;
  char *columns;
  char *cells_from;
  char *cells_before;
  char *filter;
} Common;

static void
common_clear(Common *common)
{
  g_free(common->limit);
  g_free(common->columns);
  g_free(common->cells_from);
  g_free(common->cells_before);
  g_free(common->filter);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Common, common_clear)

static char *
columns_text(const TideColumnName *columns, gsize n_columns)
{
  GString *text = g_string_new(NULL);
  for (gsize i = 0; i < n_columns; i++) {
    g_autofree char *family = tide_text_printable(columns[i].family);
    g_autofree char *qualifier = tide_text_printable(columns[i].qualifier);
    g_string_append_printf(text, "%s%s:%s", i > 0 ? " " : "", family, columns[i].whole_family ? "*" : qualifier);
  }
  return g_string_free(text, FALSE);
}

/* The times of all times are no bound. */
static char *
bound_text(gint64 time_ms)
{
  return time_ms == 0 || time_ms == G_MAXINT64 ? g_strdup("") : tide_time_text(time_ms);
}

static const TideColumnName *
asked_columns(const TideTableScanPlan *plan, gsize *ret_n_columns)
{
  *ret_n_columns = 0;
  return plan->columns != NULL ? tide_column_choice_asked(plan->columns, ret_n_columns) : NULL;
}

static char *
filter_text(const TideTableScanPlan *plan)
{
  g_auto(TideBuffer) filter = {0};
  tide_table_scan_plan_append_hbase_filter(plan, &filter);
  return tide_text_printable(tide_buffer_bytes(&filter));
}

static Common
describe_common(const TideTableScanPlan *plan)
{
  gint64 min_ms = 0, max_ms = 0;
  tide_table_scan_plan_cell_times(plan, &min_ms, &max_ms);
  gsize n_columns = 0;
  const TideColumnName *columns = asked_columns(plan, &n_columns);
  return (Common){
      .direction = plan->reversed ? "reversed" : "forward",
      .limit =
          plan->request.limit_rows > 0 ? g_strdup_printf("%" G_GUINT64_FORMAT, plan->request.limit_rows) : g_strdup(""),
      .columns = columns_text(columns, n_columns),
      .cells_from = bound_text(min_ms),
      .cells_before = bound_text(max_ms),
      .filter = filter_text(plan),
  };
}

static void
print_csv(FILE *stream, const TideTableScanPlan *plan)
{
  static const TideListingColumn columns[] = {{.name = "direction"},  {.name = "limit"},        {.name = "columns"},
                                              {.name = "cells_from"}, {.name = "cells_before"}, {.name = "filter"},
                                              {.name = "range"},      {.name = "start"},        {.name = "stop"},
                                              {.name = "start_hex"},  {.name = "stop_hex"}};
  g_auto(Common) common = describe_common(plan);
  g_autoptr(TideListing) listing = tide_listing_new(stream, TIDE_OUTPUT_CSV, FALSE, columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < plan->ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(plan->ranges, TideKeyRange, i);
    g_autofree char *number = g_strdup_printf("%u", i + 1);
    g_autofree char *start = tide_bytes_printable(tide_buffer_bytes(&range->start));
    g_autofree char *stop = tide_bytes_printable(tide_buffer_bytes(&range->stop));
    g_autofree char *start_hex = tide_bytes_hex(tide_buffer_bytes(&range->start));
    g_autofree char *stop_hex = tide_bytes_hex(tide_buffer_bytes(&range->stop));
    if (!tide_listing_add(listing, (const char *[]){common.direction, common.limit, common.columns, common.cells_from,
                                                    common.cells_before, common.filter, number, start, stop, start_hex,
                                                    stop_hex}))
      return;
  }
  (void)tide_listing_finish(listing);
}

/* What is not asked has no line. */
static void
print_fact(FILE *stream, const char *name, const char *text)
{
  if (*text == '\0')
    return;
  g_autoptr(GString) line = g_string_new(NULL);
  g_string_append_printf(line, "%-14s", name);
  tide_text_fill(line, text, line->len);
  fprintf(stream, "%s\n", line->str);
}

/* What holds for all ranges, and below it the ranges. Their bytes in hex are for programs: CSV and JSON have them. */
static void
print_table(FILE *stream, const TideTableScanPlan *plan)
{
  static const TideListingColumn columns[] = {{.name = "RANGE", .right = TRUE}, {.name = "START"}, {.name = "STOP"}};
  g_auto(Common) common = describe_common(plan);
  print_fact(stream, "direction", common.direction);
  print_fact(stream, "limit", common.limit);
  print_fact(stream, "columns", common.columns);
  print_fact(stream, "cells from", common.cells_from);
  print_fact(stream, "cells before", common.cells_before);
  print_fact(stream, "filter", common.filter);
  fputc('\n', stream);
  g_autoptr(TideListing) listing =
      tide_listing_new(stream, TIDE_OUTPUT_TABLE, tide_colour_wanted(stream), columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < plan->ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(plan->ranges, TideKeyRange, i);
    g_autofree char *number = g_strdup_printf("%u", i + 1);
    g_autofree char *start = tide_bytes_printable(tide_buffer_bytes(&range->start));
    g_autofree char *stop = tide_bytes_printable(tide_buffer_bytes(&range->stop));
    if (!tide_listing_add(listing, (const char *[]){number, start, stop}))
      return;
  }
  (void)tide_listing_finish(listing);
}

static void
append_json_range(TideBuffer *text, const TideTableScanPlan *plan, guint i)
{
  const TideKeyRange *range = &g_array_index(plan->ranges, TideKeyRange, i);
  tide_json_open(text, NULL, '{');
  tide_json_shown_text(text, "table", plan->table->name);
  tide_json_number(text, "range", i + 1);
  tide_json_shown_and_hex(text, "start", tide_buffer_bytes(&range->start));
  tide_json_shown_and_hex(text, "stop", tide_buffer_bytes(&range->stop));
  tide_json_bool(text, "reversed", plan->reversed);
  if (plan->request.limit_rows > 0)
    tide_json_number(text, "limit", (gint64)plan->request.limit_rows);

  gsize n_columns = 0;
  const TideColumnName *columns = asked_columns(plan, &n_columns);
  tide_json_open(text, "columns", '[');
  for (gsize k = 0; k < n_columns; k++) {
    tide_json_open(text, NULL, '{');
    tide_json_shown(text, "family", columns[k].family);
    if (!columns[k].whole_family) {
      tide_json_shown(text, "qualifier", columns[k].qualifier);
    }
    tide_json_close(text, "}");
  }
  tide_json_close(text, "]");
  g_autofree char *filter = filter_text(plan);
  if (filter[0] != '\0') {
    tide_json_shown_text(text, "filter", filter);
  }
  gint64 min_ms = 0, max_ms = 0;
  tide_table_scan_plan_cell_times(plan, &min_ms, &max_ms);
  if (min_ms != 0 || max_ms != 0) {
    tide_json_number(text, "min_time_ms", min_ms);
    tide_json_number(text, "max_time_ms", max_ms);
  }
}

void
tide_print_plan(FILE *stream, TideOutputFormat format, const TideTableScanPlan *plan)
{
  if (format != TIDE_OUTPUT_JSON) {
    (format == TIDE_OUTPUT_CSV ? print_csv : print_table)(stream, plan);
    return;
  }
  g_auto(TideBuffer) text = {0};
  for (guint i = 0; i < plan->ranges->len; i++) {
    append_json_range(&text, plan, i);
    tide_json_print_line(&text, stream);
  }
}
