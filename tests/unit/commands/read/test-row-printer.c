/* Rows as table, CSV and JSON. */
#include "commands/read/row_view.h"

#include "unit/test_case.h"

#include <string.h>

#define NOW_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */

static const TideResultCell cells[] = {
    {.family = {(const guint8 *)"M", 1},
     .qualifier = {(const guint8 *)"CPU", 3},
     .value = {(const guint8 *)"0.02", 4},
     .timestamp_ms = NOW_MS - 3200},
    {.family = {(const guint8 *)"M", 1},
     .qualifier = {(const guint8 *)"a:b", 3},
     .value = {(const guint8 *)"\x1b[1m,\xff", 6},
     .timestamp_ms = NOW_MS - 3600 * 1000},
};
static const TideResultRow row = {
    .row = {(const guint8 *)"s1#\x00\x01", 5}, .cells = cells, .n_cells = G_N_ELEMENTS(cells)};

static const char *const field_names[] = {"host", "time", NULL};
static const TideBytes field_values[] = {{(const guint8 *)"s1", 2}, {(const guint8 *)"\xff", 1}};

/* Prints @rows with @options. Returns the output. (transfer full) */
static char *
print_rows(const TideRowPrinterOptions *options, const TideResultRow *rows, gsize n, const TideBytes *fields,
           guint64 *ret_n_rows)
{
  char *text = NULL;
  size_t len = 0;
  FILE *stream = open_memstream(&text, &len);
  g_autoptr(TideRowPrinter) printer = tide_row_printer_new(stream, options);
  for (gsize i = 0; i < n; i++)
    g_assert_true(tide_row_printer_add(printer, &rows[i], NOW_MS * TIDE_NS_PER_MS, fields, NULL));
  g_assert_true(tide_row_printer_finish(printer));
  *ret_n_rows = tide_row_printer_n_rows(printer);
  fclose(stream);
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

static char *
print_row(const TideRowPrinterOptions *options, const TideBytes *fields, guint64 *ret_n_rows)
{
  return print_rows(options, &row, 1, fields, ret_n_rows);
}

typedef struct Case {
  TideRowPrinterOptions options;
  const char *column; /* NULL: all */
  const char *text;
} Case;

static const Case cases[] = {
    {{.format = TIDE_OUTPUT_TABLE},
     NULL,
     "ROW          TIME                      COLUMN  VALUE\n"
     "s1#\\x00\\x01  2015-03-16T19:53:28.845Z  M:CPU   0.02\n"
     "s1#\\x00\\x01  2015-03-16T18:53:32.045Z  M:a:b   \\x1B[1m,\\xFF\n"},
    {{.format = TIDE_OUTPUT_TABLE},
     "CPU",
     "ROW          TIME                      CPU\n"
     "s1#\\x00\\x01  2015-03-16T19:53:32.045Z  0.02\n"},
    {{.format = TIDE_OUTPUT_TABLE, .with_age = TRUE, .now_ms = NOW_MS},
     NULL,
     "ROW          COLUMN  VALUE               AGE  TIME\n"
     "s1#\\x00\\x01  M:CPU   0.02              3.2 s  2015-03-16T19:53:28.845Z\n"
     "s1#\\x00\\x01  M:a:b   \\x1B[1m,\\xFF  1 h 0 min  2015-03-16T18:53:32.045Z\n"},
    {{.format = TIDE_OUTPUT_TABLE, .with_age = TRUE, .now_ms = NOW_MS, .max_age_ms = 5000},
     NULL,
     "ROW          COLUMN  VALUE    AGE  TIME\n"
     "s1#\\x00\\x01  M:CPU   0.02   3.2 s  2015-03-16T19:53:28.845Z\n"},
    {{.format = TIDE_OUTPUT_TABLE, .with_age = TRUE, .now_ms = NOW_MS, .max_age_ms = 1000}, NULL, ""},
    {{.format = TIDE_OUTPUT_CSV},
     NULL,
     "row,timestamp_ms,time,column,value\n"
     "s1#\\x00\\x01,1426535608845,2015-03-16T19:53:28.845Z,M:CPU,0.02\n"
     "s1#\\x00\\x01,1426532012045,2015-03-16T18:53:32.045Z,M:a:b,\"\\x1B[1m,\\xFF\"\n"},
    {{.format = TIDE_OUTPUT_CSV, .with_age = TRUE, .now_ms = NOW_MS},
     "M:a:b",
     "row,timestamp_ms,time,column,value,age_ms\n"
     "s1#\\x00\\x01,1426532012045,2015-03-16T18:53:32.045Z,M:a:b,\"\\x1B[1m,\\xFF\",3600000\n"},
    {{.format = TIDE_OUTPUT_CSV}, "a:b", "row,time,a:b\ns1#\\x00\\x01,2015-03-16T19:53:32.045Z,\"\\x1B[1m,\\xFF\"\n"},
    {{.format = TIDE_OUTPUT_JSON, .table = "T"},
     "M:CPU",
     "{\"table\":\"T\",\"row\":\"s1#\\u0000\\u0001\",\"row_hex\":\"7331230001\",\"time\":\"2015-03-16T19:53:32.045Z\","
     "\"cells\":[{\"family\":\"M\",\"qualifier\":\"CPU\",\"value\":\"0.02\",\"timestamp_ms\":1426535608845,"
     "\"time\":\"2015-03-16T19:53:28.845Z\"}]}\n"},
    {{.format = TIDE_OUTPUT_JSON, .table = "T", .with_age = TRUE, .now_ms = NOW_MS},
     "a:b",
     "{\"table\":\"T\",\"row\":\"s1#\\u0000\\u0001\",\"row_hex\":\"7331230001\","
     "\"cells\":[{\"family\":\"M\",\"qualifier\":\"a:b\",\"value\":\"\\\\x1B[1m,\\\\xFF\",\"value_hex\":"
     "\"1b5b316d2cff\",\"timestamp_ms\":1426532012045,\"time\":\"2015-03-16T18:53:32.045Z\",\"age_ms\":3600000}]}\n"},
    {{.format = TIDE_OUTPUT_TABLE}, "MEM", ""},
    {{.format = TIDE_OUTPUT_TABLE, .line_per_cell = TRUE},
     "CPU",
     "ROW          TIME                      COLUMN  VALUE\n"
     "s1#\\x00\\x01  2015-03-16T19:53:28.845Z  M:CPU   0.02\n"},
    {{.format = TIDE_OUTPUT_TABLE, .field_names = field_names, .n_fields = 2},
     NULL,
     "host  time  TIME                      COLUMN  VALUE\n"
     "s1    \\xFF  2015-03-16T19:53:28.845Z  M:CPU   0.02\n"
     "s1    \\xFF  2015-03-16T18:53:32.045Z  M:a:b   \\x1B[1m,\\xFF\n"},
    {{.format = TIDE_OUTPUT_TABLE, .field_names = field_names, .n_fields = 2, .with_key_time = TRUE},
     "CPU",
     "host  time  TIME                      CPU\n"
     "s1    \\xFF  2015-03-16T19:53:32.045Z  0.02\n"},
    {{.format = TIDE_OUTPUT_CSV,
      .field_names = field_names,
      .n_fields = 2,
      .with_key_time = TRUE,
      .line_per_cell = TRUE},
     "CPU",
     "row,host,key.time,key_time,timestamp_ms,time,column,value\n"
     "s1#\\x00\\x01,s1,\\xFF,2015-03-16T19:53:32.045Z,1426535608845,2015-03-16T19:53:28.845Z,M:CPU,0.02\n"},
    {{.format = TIDE_OUTPUT_JSON, .table = "T", .field_names = field_names, .n_fields = 2},
     "CPU",
     "{\"table\":\"T\",\"row\":\"s1#\\u0000\\u0001\",\"row_hex\":\"7331230001\",\"fields\":{\"host\":\"s1\","
     "\"time\":\"\\\\xFF\",\"time_hex\":\"ff\"},\"time\":\"2015-03-16T19:53:32.045Z\",\"cells\":[{\"family\":\"M\","
     "\"qualifier\":\"CPU\",\"value\":\"0.02\",\"timestamp_ms\":1426535608845,"
     "\"time\":\"2015-03-16T19:53:28.845Z\"}]}\n"},
};

TEST("/row-printer/each-format-shows-cells-columns-and-ages")
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    if (cases[i].column != NULL)
      g_ptr_array_add(texts, (gpointer)cases[i].column);
    g_autoptr(TideColumnChoice) columns = tide_column_choice_new(NULL, texts, FALSE);
    TideRowPrinterOptions options = cases[i].options;
    options.columns = columns;
    guint64 n_rows = 0;
    g_autofree char *text = print_row(&options, options.n_fields > 0 ? field_values : NULL, &n_rows);
    g_assert_cmpstr(text, ==, cases[i].text);
    g_assert_cmpuint(n_rows, ==, cases[i].text[0] != '\0' ? 1 : 0);
  }
}

/* A key that its scheme did not make stands where its fields would. */
TEST("/row-printer/a-key-that-tells-no-fields-is-shown-itself")
{
  TideRowPrinterOptions options = {.format = TIDE_OUTPUT_TABLE, .field_names = field_names, .n_fields = 2};
  guint64 n_rows = 0;
  g_autofree char *text = print_row(&options, NULL, &n_rows);
  g_assert_cmpstr(text, ==,
                  "host         time  TIME                      COLUMN  VALUE\n"
                  "s1#\\x00\\x01        2015-03-16T19:53:28.845Z  M:CPU   0.02\n"
                  "s1#\\x00\\x01        2015-03-16T18:53:32.045Z  M:a:b   \\x1B[1m,\\xFF\n");
}

#define LONG_NAME_BYTES 1500

/* A printer keeps what it printed for a column: every row is printed as by a printer of its own. */
TEST("/row-printer/rows-may-have-other-columns-than-the-row-before")
{
  g_autofree char *long_name = g_strnfill(LONG_NAME_BYTES, 'n'), *other_long_name = g_strnfill(LONG_NAME_BYTES, 'o');
  const char *const names[][2] = {{"M", "CPU"},           {"M", "CPV"}, {"MC", "PU"}, {"N", "CPU"},
                                  {"M", "CPU"},           {"", ""},     {"M", ",\""}, {"M", long_name},
                                  {"M", other_long_name}, {"M", "CPU"}, {"", ""},     {"M", other_long_name},
                                  {"M", "\xff"}};
  TideResultCell named[G_N_ELEMENTS(names)];
  TideResultRow rows[2 * G_N_ELEMENTS(names)];
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) { /* one cell each; then one less each */
    gsize first = i % G_N_ELEMENTS(names);
    named[first] = (TideResultCell){.family = tide_bytes_of_string(names[first][0]),
                                    .qualifier = tide_bytes_of_string(names[first][1]),
                                    .value = TIDE_BYTES_LITERAL("1"),
                                    .timestamp_ms = NOW_MS};
    rows[i] = (TideResultRow){.row = TIDE_BYTES_LITERAL("r"),
                              .cells = &named[first],
                              .n_cells = i < G_N_ELEMENTS(names) ? 1 : G_N_ELEMENTS(names) - first};
  }
  for (TideOutputFormat format = TIDE_OUTPUT_CSV; format <= TIDE_OUTPUT_JSON; format++) {
    TideRowPrinterOptions options = {.format = format, .table = "T"};
    guint64 n_rows = 0;
    g_autofree char *text = print_rows(&options, rows, G_N_ELEMENTS(rows), NULL, &n_rows);
    g_autofree char *heading = print_rows(&options, rows, 0, NULL, &n_rows);
    g_autoptr(GString) expected = g_string_new(heading);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
      g_autofree char *alone = print_rows(&options, &rows[i], 1, NULL, &n_rows);
      g_string_append(expected, alone + strlen(heading));
    }
    g_assert_cmpstr(text, ==, expected->str);
  }
}
