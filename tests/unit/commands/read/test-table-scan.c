/* In which order and direction the ranges of a scan are read, by what the key gives; what HBase is asked for; and which
 * of the rows that come are shown. */
#include "commands/read/table_scan.h"

#include "unit/assert_bytes.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/error.h"

static const char yaml[] = KAFKA HBASE READINGS
    "tables:\n"
    "  METRIC:\n"
    "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  NEWEST:\n"
    "    key: [ { field: host }, \"#\", { time: epoch_ms, reversed: true } ]\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  SALTED:\n"
    "    key: [ { salt: 4, of: [host, ts] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  SIXTEEN:\n"
    "    key: [ { salt: 16, of: [host, ts] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  SECONDS:\n"
    "    key: [ { field: host }, \"#\", { time: epoch_s } ]\n"
    "    columns: { family: M, from: \"*\" }\n"
    "  LATEST:\n"
    "    latest: merge\n"
    "    key: [ { field: host } ]\n"
    "    columns: { family: M, from: \"*\" }\n";

#define NEITHER FALSE, FALSE, FALSE
#define NEWEST_FIRST TRUE, FALSE, FALSE
#define OLDEST_FIRST FALSE, TRUE, FALSE
#define REVERSED FALSE, FALSE, TRUE

typedef struct Case {
  const char *table;
  gboolean with_host;
  gboolean newest_first;
  gboolean oldest_first;
  gboolean requests_reversed;
  gsize n_ranges;
  TideRowOrder order;
  gboolean reversed;
  const char *refusal; /* NULL: none */
} Case;

static const Case cases[] = {
    {"METRIC", TRUE, NEITHER, 1, TIDE_ROW_ORDER_KEY, FALSE, NULL},
    {"METRIC", TRUE, OLDEST_FIRST, 1, TIDE_ROW_ORDER_OLDEST, FALSE, NULL},
    {"METRIC", TRUE, NEWEST_FIRST, 1, TIDE_ROW_ORDER_NEWEST, TRUE, NULL},
    {"METRIC", FALSE, NEITHER, 1, TIDE_ROW_ORDER_KEY, FALSE, NULL},
    {"METRIC", FALSE, NEWEST_FIRST, 1, 0, FALSE, "give host too"},
    {"NEWEST", TRUE, NEWEST_FIRST, 1, TIDE_ROW_ORDER_NEWEST, FALSE, NULL},
    {"NEWEST", TRUE, OLDEST_FIRST, 1, TIDE_ROW_ORDER_OLDEST, TRUE, NULL},
    {"SALTED", TRUE, NEITHER, 4, TIDE_ROW_ORDER_OLDEST, FALSE, NULL},
    {"SALTED", TRUE, NEWEST_FIRST, 4, TIDE_ROW_ORDER_NEWEST, TRUE, NULL},
    {"SALTED", FALSE, NEITHER, 4, TIDE_ROW_ORDER_KEY, FALSE, NULL},
    {"SALTED", FALSE, OLDEST_FIRST, 4, 0, FALSE, "are sorted by time only if the fields before the time are fixed"},
    {"METRIC", FALSE, REVERSED, 1, TIDE_ROW_ORDER_KEY, TRUE, NULL},
    {"METRIC", TRUE, REVERSED, 1, TIDE_ROW_ORDER_KEY, TRUE, NULL},
    {"NEWEST", TRUE, REVERSED, 1, TIDE_ROW_ORDER_KEY, TRUE, NULL},
    {"SALTED", TRUE, REVERSED, 4, TIDE_ROW_ORDER_NEWEST, TRUE, NULL},
    {"SALTED", FALSE, REVERSED, 4, TIDE_ROW_ORDER_KEY, TRUE, NULL},
    {"LATEST", TRUE, NEITHER, 1, TIDE_ROW_ORDER_KEY, FALSE, NULL},
    {"LATEST", TRUE, NEWEST_FIRST, 1, 0, FALSE, "are not sorted by time"},
};

static void
assert_case(const TideConfig *config, const Case *expected)
{
  const TideTable *table = tide_config_find_table(config, expected->table);
  const char *const host[] = {"host=server1"};
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKeyArguments) fields =
      tide_key_arguments_parse(config, table, host, expected->with_host ? 1 : 0, &error);
  g_assert_no_error(error);
  g_autoptr(GArray) ranges = tide_row_key_plan(table->key, &fields->reading, 0, G_MAXINT64, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(ranges->len, ==, expected->n_ranges);

  TideTableScanPlan plan = {.table = table,
                            .ranges = ranges,
                            .request = {.newest_first = expected->newest_first,
                                        .oldest_first = expected->oldest_first,
                                        .reversed = expected->requests_reversed,
                                        .to_ns = G_MAXINT64}};
  gboolean ok = tide_table_scan_plan_order(&plan, config, fields, &error);
  if (expected->refusal != NULL) {
    g_assert_false(ok);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_nonnull(strstr(error->message, expected->refusal));
    return;
  }
  g_assert_no_error(error);
  g_assert_cmpint(plan.order, ==, expected->order);
  g_assert_cmpint(plan.reversed, ==, expected->reversed);
}

TEST("/table-scan/order-is-what-the-key-gives-or-refused")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_case(config, &cases[i]);
}

/* ---- rows ---- */

#define N_SALTS 16
#define FIRST_MS G_GINT64_CONSTANT(1426535612000)

/* A salted table that is never held: row i, of host h, has the time FIRST_MS + i and the salt i modulo 16. */
typedef struct Generated {
  guint n_rows;
  guint64 n_sent;
  gint64 most_rows_asked;
} Generated;

/* The number of the first row of @salt that is not in front of @key. */
static guint
row_number(guint salt, TideBytes key)
{
  char time[14] = "0000000000000";
  gsize prefix_len = strlen("00#h#");
  if (key.len > prefix_len)
    memcpy(time, key.data + prefix_len, MIN(key.len - prefix_len, sizeof time - 1));
  gint64 number = g_ascii_strtoll(time, NULL, 10) - FIRST_MS;
  if (key.len > prefix_len + strlen(time))
    number++; /* the key right behind a row's */
  guint row = (guint)CLAMP(number, 0, G_MAXINT32);
  return row % N_SALTS <= salt ? row - row % N_SALTS + salt : row - row % N_SALTS + N_SALTS + salt;
}

static gboolean
scan_generated(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  Generated *table = data;
  g_assert_false(request->reversed);
  table->most_rows_asked = MAX(table->most_rows_asked, request->limit_rows);
  guint salt = (guint)(request->start_row.data[0] - '0') * 10 + (guint)(request->start_row.data[1] - '0');
  gint64 n_left = request->limit_rows;
  for (guint i = row_number(salt, request->start_row); i < table->n_rows && n_left > 0; i += N_SALTS, n_left--) {
    char key[40];
    int len = g_snprintf(key, sizeof key, "%02u#h#%" G_GINT64_FORMAT, salt, FIRST_MS + i);
    TideResultCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                           .qualifier = TIDE_BYTES_LITERAL("Q"),
                           .value = TIDE_BYTES_LITERAL("12.5"),
                           .timestamp_ms = FIRST_MS + i};
    TideResultRow row = {.row = tide_bytes(key, (gsize)len), .cells = &cell, .n_cells = 1};
    table->n_sent++;
    g_assert_true(func(&row, func_data));
  }
  return TRUE;
}

/* Reads what the merge gives of @n_rows generated rows. Returns: the most that the pages took. */
static gsize
read_merged(guint n_rows, guint64 limit_rows, Generated *table)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  const char *const host[] = {"host=h"};
  TideTableScanPlan plan = {.table = tide_config_find_table(config, "SIXTEEN"),
                            .request = {.oldest_first = TRUE, .to_ns = G_MAXINT64, .limit_rows = limit_rows}};
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, plan.table, host, 1, NULL);
  g_autoptr(GArray) ranges = tide_row_key_plan(plan.table->key, &fields->reading, 0, G_MAXINT64, NULL);
  plan.ranges = ranges;
  g_assert_cmpuint(ranges->len, ==, N_SALTS);
  g_assert_true(tide_table_scan_plan_order(&plan, config, fields, NULL));

  *table = (Generated){.n_rows = n_rows};
  g_autoptr(TideTableScan) scan = tide_table_scan_new(&plan, config->names, scan_generated, table);
  gsize peak_bytes = 0;
  guint n_seen = 0;
  for (;; n_seen++) {
    TideScannedRow row;
    g_assert_true(tide_table_scan_next(scan, &row, NULL));
    peak_bytes = MAX(peak_bytes, tide_table_scan_buffered_bytes(scan));
    if (row.row == NULL)
      break;
    g_assert_cmpint(row.time_ns, ==, (FIRST_MS + n_seen) * TIDE_NS_PER_MS);
    assert_bytes_equal(row.fields[0], TIDE_BYTES_LITERAL("h"));
    tide_table_scan_take(scan);
  }
  g_assert_cmpuint(n_seen, ==, limit_rows > 0 ? limit_rows : n_rows);
  return peak_bytes;
}

TEST("/table-scan/memory-does-not-grow-with-the-result")
{
  Generated table;
  gsize small_bytes = read_merged(10000, 0, &table);
  gsize large_bytes = read_merged(100000, 0, &table);
  g_assert_cmpuint(table.n_sent, ==, 100000);
  g_test_message("peak of 10,000 rows %zu bytes, of 100,000 rows %zu bytes", small_bytes, large_bytes);
  g_assert_cmpuint(large_bytes, ==, small_bytes);
  /* 4,096 rows of 25 bytes of key and value, and what a row and a cell take to be kept. */
  g_assert_cmpuint(large_bytes, <, 4096 * 128);
}

TEST("/table-scan/a-limit-is-pushed-down-to-each-range")
{
  Generated table;
  (void)read_merged(100000, 5, &table);
  g_assert_cmpint(table.most_rows_asked, ==, 5);
  g_assert_cmpuint(table.n_sent, <=, 5 * (N_SALTS + 1));
}

/* ---- the order of several ranges ---- */

#define N_SALTED 200

/* As HBase scans the rows of four salts, of each every fourth millisecond. */
static gboolean
scan_salted(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  TideBytes start = request->start_row, stop = request->stop_row;
  gint64 n_left = request->limit_rows;
  for (int n = 0; n < N_SALTED && n_left > 0; n++) {
    int i = request->reversed ? N_SALTED - 1 - n : n;
    g_autofree char *text = g_strdup_printf("%d#h#%" G_GINT64_FORMAT, i / 50, FIRST_MS + i % 50 * 4 + i / 50);
    TideBytes key = tide_bytes_of_string(text);
    int to_start = tide_bytes_compare(key, start), to_stop = tide_bytes_compare(key, stop);
    if (request->reversed ? (start.len > 0 && to_start > 0) || (stop.len > 0 && to_stop <= 0)
                          : to_start < 0 || (stop.len > 0 && to_stop >= 0))
      continue;
    TideResultCell cell = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("Q"), .timestamp_ms = 1};
    TideResultRow row = {.row = key, .cells = &cell, .n_cells = 1};
    g_assert_true(func(&row, func_data));
    n_left--;
  }
  return TRUE;
}

TEST("/table-scan/ranges-come-in-one-order-of-time")
{
  static const struct {
    gboolean newest_first, oldest_first;
    gsize n_fields;
  } orders[] = {{TRUE, FALSE, 1}, {FALSE, TRUE, 1}, {FALSE, FALSE, 0}};
  g_autoptr(TideConfig) config = load_text(yaml);
  const char *const host[] = {"host=h"};
  for (gsize i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_auto(TideTableScanPlan) plan = {.table = tide_config_find_table(config, "SALTED"),
                                      .request = {.newest_first = orders[i].newest_first,
                                                  .oldest_first = orders[i].oldest_first,
                                                  .to_ns = G_MAXINT64}};
    g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, plan.table, host, orders[i].n_fields, NULL);
    g_assert_true(tide_table_scan_plan_fields(&plan, fields, NULL));
    g_assert_true(tide_table_scan_plan_order(&plan, config, fields, NULL));
    g_autoptr(TideTableScan) scan = tide_table_scan_new(&plan, config->names, scan_salted, NULL);
    TideScannedRow row;
    for (int n = 0; n < N_SALTED; n++) {
      int expected = orders[i].newest_first ? N_SALTED - 1 - n : orders[i].oldest_first ? n : n % 50 * 4 + n / 50;
      g_assert_true(tide_table_scan_next(scan, &row, NULL));
      g_assert_nonnull(row.row);
      g_assert_cmpint(row.time_ns, ==, (FIRST_MS + expected) * TIDE_NS_PER_MS);
    }
    g_assert_true(tide_table_scan_next(scan, &row, NULL));
    g_assert_null(row.row);
  }
}

/* ---- what is asked, and what is shown ---- */

/* Hands out one list of keys, whatever is asked for, and remembers what was. */
typedef struct Listed {
  const char *const *keys;
  gint64 min_time_ms;
  gint64 max_time_ms;
  gsize n_columns;
  gint64 limit_rows;
} Listed;

static gboolean
scan_listed(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  Listed *listed = data;
  listed->min_time_ms = request->min_time_ms;
  listed->max_time_ms = request->max_time_ms;
  listed->n_columns = request->n_columns;
  listed->limit_rows = request->limit_rows;
  for (gsize i = 0; listed->keys[i] != NULL && (gint64)i < request->limit_rows; i++) {
    TideResultCell cell = {.family = TIDE_BYTES_LITERAL("M"), .qualifier = TIDE_BYTES_LITERAL("Q"), .timestamp_ms = 1};
    TideResultRow row = {.row = tide_bytes_of_string(listed->keys[i]), .cells = &cell, .n_cells = 1};
    if (!func(&row, func_data))
      return TRUE;
  }
  return TRUE;
}

/* The keys that a scan of @table from @from_ms to @to_ms shows, joined; those that no scheme made in brackets. */
static char *
show_keys(const char *table, gint64 from_ms, gint64 to_ms, const char *column, Listed *listed)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(GPtrArray) texts = g_ptr_array_new();
  if (column != NULL)
    g_ptr_array_add(texts, (gpointer)column);
  TideTableScanPlan plan = {
      .table = tide_config_find_table(config, table),
      .request = {.from_ns = from_ms * TIDE_NS_PER_MS, .to_ns = to_ms == G_MAXINT64 ? to_ms : to_ms * TIDE_NS_PER_MS}};
  g_autoptr(TideColumnChoice) columns = tide_column_choice_new(plan.table, texts, FALSE);
  g_autoptr(GArray) ranges = tide_key_ranges_new(1);
  plan.ranges = ranges;
  plan.columns = columns;
  g_autoptr(TideTableScan) scan = tide_table_scan_new(&plan, config->names, scan_listed, listed);
  GString *shown = g_string_new(NULL);
  for (;;) {
    TideScannedRow row;
    g_assert_true(tide_table_scan_next(scan, &row, NULL));
    if (row.row == NULL)
      return g_string_free(shown, FALSE);
    g_autofree char *key = tide_bytes_printable(row.row->row);
    g_string_append_printf(shown, row.fields != NULL ? "%s " : "[%s] ", key);
  }
}

TEST("/table-scan/rows-outside-of-the-times-are-left-out-and-strange-keys-are-not")
{
  static const char *const keys[] = {"a#1426535610", "a#1426535611", "a#1426535612", "a#x", "b#1426535613", NULL};
  Listed listed = {.keys = keys};
  g_autofree char *all = show_keys("SECONDS", 0, G_MAXINT64, NULL, &listed);
  g_assert_cmpstr(all, ==, "a#1426535610 a#1426535611 a#1426535612 [a#x] b#1426535613 ");
  g_assert_cmpint(listed.min_time_ms, ==, 0);
  g_assert_cmpint(listed.max_time_ms, ==, 0);
  g_assert_cmpuint(listed.n_columns, ==, 0);

  /* A row of a second that the range begins in may hold cells of the range: HBase looks at those. */
  g_autofree char *some = show_keys("SECONDS", 1426535611500, 1426535613000, "M:Q", &listed);
  g_assert_cmpstr(some, ==, "a#1426535611 a#1426535612 [a#x] ");
  g_assert_cmpint(listed.min_time_ms, ==, 1426535611500);
  g_assert_cmpint(listed.max_time_ms, ==, 1426535613000);
  g_assert_cmpuint(listed.n_columns, ==, 2); /* M with Q, or with M:Q */
}
