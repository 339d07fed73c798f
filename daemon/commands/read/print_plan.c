/* Shows the plan of a scan without running it. */
#include "commands/read/table_scan.h"

#include "commands/cli/listing.h"
#include "commands/cli/time_argument.h"

/* Facts that are the same for all ranges, with their names for people and for CSV. */
typedef enum Fact { FACT_DIRECTION, FACT_LIMIT, FACT_COLUMNS, FACT_FROM, FACT_BEFORE, FACT_FILTER, N_FACTS } Fact;
static const char *const fact_names[N_FACTS] = {"direction",  "limit",        "columns",
                                                "cells from", "cells before", "filter"};
static const TideListingColumn csv_columns[] = {{.name = "direction"},  {.name = "limit"},        {.name = "columns"},
                                                {.name = "cells_from"}, {.name = "cells_before"}, {.name = "filter"},
                                                {.name = "range"},      {.name = "start"},        {.name = "stop"},
                                                {.name = "start_hex"},  {.name = "stop_hex"}};
static const TideListingColumn table_columns[] = {
    {.name = "RANGE", .right = TRUE}, {.name = "START"}, {.name = "STOP"}};

static const TideColumnName *
asked_columns(const TideTableScanPlan *plan, gsize *ret_n_columns)
{
  *ret_n_columns = 0;
  return plan->columns != NULL ? tide_column_choice_asked(plan->columns, ret_n_columns) : NULL;
}

/* The limits of all times are not printed. */
static char *
bound_text(gint64 time_ms)
{
  return time_ms == 0 || time_ms == G_MAXINT64 ? g_strdup("") : tide_time_text(time_ms);
}

static char *
filter_text(const TideTableScanPlan *plan)
{
  g_auto(TideBuffer) filter = {0};
  tide_table_scan_plan_append_hbase_filter(plan, &filter);
  return tide_text_printable(tide_buffer_bytes(&filter));
}

/* By Fact; empty: not requested. (transfer full) */
static GStrv
describe_facts(const TideTableScanPlan *plan)
{
  gint64 min_ms = 0, max_ms = 0;
  gsize n_columns;
  const TideColumnName *columns = asked_columns(plan, &n_columns);
  GString *chosen = g_string_new(NULL);
  for (gsize i = 0; i < n_columns; i++) {
    g_autofree char *family = tide_text_printable(columns[i].family);
    g_autofree char *qualifier = tide_text_printable(columns[i].qualifier);
    g_string_append_printf(chosen, "%s%s:%s", i > 0 ? " " : "", family, columns[i].whole_family ? "*" : qualifier);
  }
  tide_table_scan_plan_cell_times(plan, &min_ms, &max_ms);
  char **facts = g_new0(char *, N_FACTS + 1);
  facts[FACT_DIRECTION] = g_strdup(plan->reversed ? "reversed" : "forward");
  facts[FACT_LIMIT] =
      plan->request.limit_rows > 0 ? g_strdup_printf("%" G_GUINT64_FORMAT, plan->request.limit_rows) : g_strdup("");
  facts[FACT_COLUMNS] = g_string_free(chosen, FALSE);
  facts[FACT_FROM] = bound_text(min_ms);
  facts[FACT_BEFORE] = bound_text(max_ms);
  facts[FACT_FILTER] = filter_text(plan);
  return facts;
}

/* A table shows the facts above the ranges, CSV before each range; facts that were not requested have no line. The
 * ranges' bytes in hex are for programs: only CSV and JSON have them. */
static void
print_ranges(FILE *stream, gboolean is_csv, const TideTableScanPlan *plan)
{
  g_auto(GStrv) facts = describe_facts(plan);
  for (int i = 0; !is_csv && i < N_FACTS; i++) {
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, "%-14s", fact_names[i]);
    tide_text_fill(line, facts[i], line->len);
    if (*facts[i] != '\0')
      fprintf(stream, "%s\n", line->str);
  }
  if (!is_csv)
    fputc('\n', stream);
  g_autoptr(TideListing) listing =
      is_csv ? tide_listing_new(stream, TIDE_OUTPUT_CSV, FALSE, csv_columns, G_N_ELEMENTS(csv_columns))
             : tide_listing_new(stream, TIDE_OUTPUT_TABLE, tide_colour_wanted(stream), table_columns,
                                G_N_ELEMENTS(table_columns));
  for (guint i = 0; i < plan->ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(plan->ranges, TideKeyRange, i);
    g_autofree char *number = g_strdup_printf("%u", i + 1);
    g_autofree char *start = tide_bytes_printable(tide_buffer_bytes(&range->start));
    g_autofree char *stop = tide_bytes_printable(tide_buffer_bytes(&range->stop));
    g_autofree char *start_hex = tide_bytes_hex(tide_buffer_bytes(&range->start));
    g_autofree char *stop_hex = tide_bytes_hex(tide_buffer_bytes(&range->stop));
    const char *values[G_N_ELEMENTS(csv_columns)] = {facts[0], facts[1], facts[2], facts[3],  facts[4], facts[5],
                                                     number,   start,    stop,     start_hex, stop_hex};
    if (!tide_listing_add(listing, is_csv ? values : &values[N_FACTS]))
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

  gsize n_columns;
  const TideColumnName *columns = asked_columns(plan, &n_columns);
  tide_json_open(text, "columns", '[');
  for (gsize k = 0; k < n_columns; k++) {
    tide_json_open(text, NULL, '{');
    tide_json_shown(text, "family", columns[k].family);
    if (!columns[k].whole_family)
      tide_json_shown(text, "qualifier", columns[k].qualifier);
    tide_json_close(text, "}");
  }
  tide_json_close(text, "]");
  g_autofree char *filter = filter_text(plan);
  if (filter[0] != '\0')
    tide_json_shown_text(text, "filter", filter);
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
  g_auto(TideBuffer) text = {0};
  if (format != TIDE_OUTPUT_JSON)
    print_ranges(stream, format == TIDE_OUTPUT_CSV, plan);
  for (guint i = 0; format == TIDE_OUTPUT_JSON && i < plan->ranges->len; i++) {
    append_json_range(&text, plan, i);
    tide_json_print_line(&text, stream);
  }
}
