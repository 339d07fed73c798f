/* In which order and direction the ranges of a scan are read, by what the key gives. */
#include "commands/table_scan.h"
#include "util/error.h"

static const char yaml[] =
    "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
    "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
    "readings: { time: { field: ts, format: epoch_ms } }\n"
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
    "  LATEST:\n"
    "    latest: merge\n"
    "    key: [ { field: host } ]\n"
    "    columns: { family: M, from: \"*\" }\n";

#define NEITHER FALSE, FALSE
#define NEWEST_FIRST TRUE, FALSE
#define OLDEST_FIRST FALSE, TRUE

typedef struct Case {
  const char *table;
  gboolean with_host;
  gboolean newest_first;
  gboolean oldest_first;
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
    {"SALTED", FALSE, OLDEST_FIRST, 4, 0, FALSE, "sort by time only where the fields before it are fixed"},
    {"LATEST", TRUE, NEITHER, 1, TIDE_ROW_ORDER_KEY, FALSE, NULL},
    {"LATEST", TRUE, NEWEST_FIRST, 1, 0, FALSE, "do not sort by time"},
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

  TideTableScanWish wish = {
      .newest_first = expected->newest_first, .oldest_first = expected->oldest_first, .to_ns = G_MAXINT64};
  TideRowOrder order = TIDE_ROW_ORDER_KEY;
  gboolean reversed = FALSE;
  gboolean ok = tide_table_scan_order(config, table, fields, &wish, ranges->len, &order, &reversed, &error);
  if (expected->refusal != NULL) {
    g_assert_false(ok);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_nonnull(strstr(error->message, expected->refusal));
    return;
  }
  g_assert_no_error(error);
  g_assert_cmpint(order, ==, expected->order);
  g_assert_cmpint(reversed, ==, expected->reversed);
}

static void
test_order(void)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("test.yaml", tide_bytes_of_string(yaml), &problems);
  g_assert_nonnull(config);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    assert_case(config, &cases[i]);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/table-scan/order-is-what-the-key-gives-or-refused", test_order);
  return g_test_run();
}
