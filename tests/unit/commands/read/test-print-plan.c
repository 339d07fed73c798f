/* `scan --plan`, in each format. */
#include "commands/read/table_scan.h"

#include "unit/config-texts.h"
#include "unit/test_case.h"

#include <stdio.h>

static const char yaml[] =
    KAFKA HBASE READINGS "tables:\n"
                         "  SALTED:\n"
                         "    key: [ { salt: 2, of: [host, ts] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]\n"
                         "    columns: { family: M, from: \"*\" }\n";

static char *
print(TideOutputFormat format)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  TideTableScanPlan plan = {
      .table = tide_config_find_table(config, "SALTED"),
      .request = {.newest_first = TRUE,
                  .limit_rows = 10,
                  .from_ns = G_GINT64_CONSTANT(1426535612045) * TIDE_NS_PER_MS,
                  .to_ns = G_GINT64_CONSTANT(1426535612050) * TIDE_NS_PER_MS},
  };
  const char *const texts[] = {"host=s1"};
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, plan.table, texts, 1, NULL);
  g_autoptr(GArray) ranges =
      tide_row_key_plan(plan.table->key, &fields->reading, plan.request.from_ns, plan.request.to_ns, NULL);
  plan.ranges = ranges;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  g_ptr_array_add(names, (gpointer) "CPU");
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(plan.table, names, FALSE);
  plan.columns = columns;
  g_assert_true(tide_table_scan_plan_order(&plan, config, fields, NULL));

  char *text = NULL;
  size_t len = 0;
  FILE *stream = open_memstream(&text, &len);
  tide_print_plan(stream, format, &plan);
  fclose(stream);
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

TEST("/print-plan/each-format-shows-ranges-and-what-is-asked")
{
  g_autofree char *table = print(TIDE_OUTPUT_TABLE);
  g_assert_cmpstr(table, ==,
                  "direction     reversed\n"
                  "limit         10\n"
                  "columns       M:CPU\n"
                  "cells from    2015-03-16T19:53:32.045Z\n"
                  "cells before  2015-03-16T19:53:32.050Z\n"
                  "\n"
                  "RANGE  START               STOP\n"
                  "    1  0#s1#1426535612045  0#s1#1426535612050\n"
                  "    2  1#s1#1426535612045  1#s1#1426535612050\n");
  g_autofree char *csv = print(TIDE_OUTPUT_CSV);
  g_assert_cmpstr(
      csv, ==,
      "direction,limit,columns,cells_from,cells_before,filter,range,start,stop,start_hex,stop_hex\n"
      "reversed,10,M:CPU,2015-03-16T19:53:32.045Z,2015-03-16T19:53:32.050Z,,1,0#s1#1426535612045,0#s1#1426535612050,"
      "302373312331343236353335363132303435,302373312331343236353335363132303530\n"
      "reversed,10,M:CPU,2015-03-16T19:53:32.045Z,2015-03-16T19:53:32.050Z,,2,1#s1#1426535612045,1#s1#1426535612050,"
      "312373312331343236353335363132303435,312373312331343236353335363132303530\n");
  g_autofree char *json = print(TIDE_OUTPUT_JSON);
  g_assert_true(g_str_has_prefix(
      json, "{\"table\":\"SALTED\",\"range\":1,\"start\":\"0#s1#1426535612045\","
            "\"start_hex\":\"302373312331343236353335363132303435\",\"stop\":\"0#s1#1426535612050\","
            "\"stop_hex\":\"302373312331343236353335363132303530\",\"reversed\":true,\"limit\":10,"
            "\"columns\":[{\"family\":\"M\",\"qualifier\":\"CPU\"}],"
            "\"min_time_ms\":1426535612045,\"max_time_ms\":1426535612050}\n{\"table\":\"SALTED\",\"range\":2,"));
}
