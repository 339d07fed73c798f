/* The mark of a configuration's tables: the same for the same tables, whatever else differs, and another for any that
 * is not. */
#include "config/tables_mark.h"
#include "unit/load_text.h"

#define METRIC "  METRIC: { key: [ { field: host }, { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
#define LATEST "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a, b ] } }\n"

static guint32
mark_of(const char *kafka, const char *tables)
{
  g_autofree char *text = g_strdup_printf("kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [%s] }\n"
                                          "hbase: { gateways: [\"127.0.0.1:2\"] }\n"
                                          "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
                                          "tables:\n%s",
                                          kafka, tables);
  g_autoptr(TideConfig) config = load_text(text);
  return tide_config_tables_mark(config);
}

static void
test_same_tables(void)
{
  guint32 mark = mark_of("t", METRIC LATEST);
  g_assert_cmpuint(mark, !=, 0);
  g_assert_cmpuint(mark_of("other, topics", METRIC LATEST), ==, mark);
  g_assert_cmpuint(mark_of("t", LATEST "  # in another order\n" METRIC), ==, mark);
  g_assert_cmpuint(mark_of("t", METRIC
                           "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ b, "
                           "a ] } }\n"),
                   ==, mark);
}

static void
test_other_tables(void)
{
  static const char *const others[] = {
      METRIC,
      LATEST,
      METRIC LATEST "  MORE: { key: [ { field: a } ], columns: { family: M, from: \"*\" } }\n",
      METRIC
      "  CURRENT: { latest: packed, key: [ { field: host } ], columns: { family: M, from: [ a, b ], qualifier: q, "
      "pack: json } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: a } ], columns: { family: M, from: [ a, b ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: N, from: [ a, b ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a, c ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: [ a ] } }\n",
      METRIC "  CURRENT: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
  };
  guint32 mark = mark_of("t", METRIC LATEST);
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    g_assert_cmpuint(mark_of("t", others[i]), !=, mark);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tables-mark/C8-same-tables", test_same_tables);
  g_test_add_func("/tables-mark/C8-other-tables", test_other_tables);
  return g_test_run();
}
