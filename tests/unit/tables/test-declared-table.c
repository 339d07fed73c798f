/* What a declared table is created as: its attributes, and whether a framed gateway can make it. */
#include "tables/declared_table.h"

#include "unit/load_text.h"

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"127.0.0.1:9090\"] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  CURRENT:\n"
                           "    latest: merge\n"
                           "    key: [ { field: host } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  REPLACED:\n"
                           "    latest: replace\n"
                           "    purge_deletes_after: 2h\n"
                           "    key: [ { field: host } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  SPLIT:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "    splits: [\"g\"]\n";

/* The attribute's text; NULL when it is not set. */
static char *
attribute(const TideConfig *config, const TideTable *table, const char *name)
{
  g_autoptr(TideTableDescription) description = tide_declared_table_describe(table, config->names);
  const TideBytes *value = tide_table_description_attribute(description, tide_bytes_of_string(name));
  return value != NULL ? g_strndup((const char *)value->data, value->len) : NULL;
}

typedef struct PurgeCase {
  TideLatestMode latest;
  TideTombstonePolicy tombstone;
  gint64 declared_ms;
  const char *expected;
} PurgeCase;

/* A delete that a compaction forgets would let a late reading bring back what it took away. */
static void
test_purge(void)
{
  static const PurgeCase cases[] = {
      {TIDE_LATEST_MERGE, TIDE_TOMBSTONE_IGNORE, 0, NULL},
      {TIDE_LATEST_PACKED, TIDE_TOMBSTONE_IGNORE, 0, NULL},
      {TIDE_LATEST_NONE, TIDE_TOMBSTONE_IGNORE, 0, NULL},
      {TIDE_LATEST_REPLACE, TIDE_TOMBSTONE_IGNORE, 0, "604800000"},
      {TIDE_LATEST_MERGE, TIDE_TOMBSTONE_DELETE, 0, "604800000"},
      {TIDE_LATEST_REPLACE, TIDE_TOMBSTONE_DELETE, 3600000, "3600000"},
      {TIDE_LATEST_MERGE, TIDE_TOMBSTONE_IGNORE, 60000, "60000"},
  };
  g_autoptr(TideConfig) config = load_text(yaml);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideTable table = *tide_config_find_table(config, "CURRENT");
    table.latest = cases[i].latest;
    table.tombstone = cases[i].tombstone;
    table.purge_deletes_ms = cases[i].declared_ms;
    g_autofree char *value = attribute(config, &table, TIDE_PURGE_DELETES_ATTRIBUTE);
    g_assert_cmpstr(value, ==, cases[i].expected);
    g_assert_cmpint(tide_declared_table_needs_unframed(&table), ==, cases[i].expected != NULL);
  }
}

static void
test_declared_purge(void)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autofree char *value = attribute(config, tide_config_find_table(config, "REPLACED"), TIDE_PURGE_DELETES_ATTRIBUTE);
  g_assert_cmpstr(value, ==, "7200000");
}

static void
test_splits(void)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_assert_true(tide_declared_table_needs_unframed(tide_config_find_table(config, "SPLIT")));
  g_assert_false(tide_declared_table_needs_unframed(tide_config_find_table(config, "CURRENT")));
}

static void
test_command(void)
{
  g_autoptr(TideConfig) config = load_text(yaml);
  TideTable table = *tide_config_find_table(config, "SPLIT");
  char name[] = "plant:SPLIT";
  table.name = name;
  table.purge_deletes_ms = 60000;
  g_autofree char *command = tide_declared_table_create_command(&table, config->names);
  g_assert_cmpstr(command, ==,
                  "create_namespace 'plant'\n"
                  "create \"plant:SPLIT\", {NAME => \"M\"}, METADATA => {\"TIDEMARK_SCHEME\" => \"tidemark scheme 1: "
                  "field(host) \\x22#\\x22 time(ms)\", \"hbase.hstore.time.to.purge.deletes\" => \"60000\"}, "
                  "SPLITS => ['g']");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/declared-table/deletes-outlive-compactions-where-writes-delete", test_purge);
  g_test_add_func("/declared-table/how-long-deletes-last-can-be-declared", test_declared_purge);
  g_test_add_func("/declared-table/split-points-need-an-unframed-gateway", test_splits);
  g_test_add_func("/declared-table/the-shell-gets-namespace-attributes-and-splits", test_command);
  return g_test_run();
}
