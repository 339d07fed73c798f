/* Declared tables and those that dated names make. */
#include "tables/dated_tables.h"
#include "tables/declared_table.h"
#include "unit/allocation_counter.h"
#include "unit/config-texts.h"
#include "unit/stderr_capture.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

/* ---- dated tables ----
 *
 * The registry of dated tables, and each consumer's memory of it. */

#define N_DECLARED 3
#define N_THREADS 4
#define N_NAMES 300

/* Two templates behind a plain table. */
typedef struct Fixture {
  TideTable tables[N_DECLARED];
  TideConfig config;
  TideMetrics *metrics;
  TideBudget budget, *table_budgets;
  TideDatedTables *dated;
  gint64 now_us;
} Fixture;

static TideKeyText *
any_text(void)
{
  static const TideKeyPartSpec literal = {.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL("x")};
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  TideKeyText *text = tide_key_text_compile(&literal, 1, FALSE, &bad_part, &error);
  g_assert_no_error(error);
  return text;
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  static const char *const names[N_DECLARED] = {"METRIC", "S_{yyyyMMdd}", "T_{yyyyMMdd}"};
  fixture->config.tables = g_ptr_array_new();
  for (guint32 i = 0; i < N_DECLARED; i++) {
    fixture->tables[i] = (TideTable){.index = i, .name = (char *)names[i], .dated_name = i > 0 ? any_text() : NULL};
    g_ptr_array_add(fixture->config.tables, &fixture->tables[i]);
  }
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1000);
  fixture->table_budgets = g_new0(TideBudget, tide_dated_tables_slots(&fixture->config));
  TideDatedTablesContext context = {.config = &fixture->config,
                                    .budget = &fixture->budget,
                                    .table_budgets = fixture->table_budgets,
                                    .metrics = fixture->metrics};
  fixture->dated = tide_dated_tables_new(&context);
  fixture->now_us = 1;
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_dated_tables_free(fixture->dated);
  tide_metrics_free(fixture->metrics);
  g_free(fixture->table_budgets);
  g_ptr_array_unref(fixture->config.tables);
  for (guint i = 0; i < N_DECLARED; i++)
    tide_row_key_free(fixture->tables[i].dated_name);
}

static const TideTable *
get(Fixture *fixture, guint template_index, const char *name)
{
  return tide_dated_tables_take(fixture->dated, &fixture->tables[template_index], tide_bytes_of_string(name),
                                fixture->now_us);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

FIXTURE_TEST("/dated-tables/each-name-is-one-table-with-a-place-of-its-own")
{
  const TideTable *first = get(fixture, 1, "S_20170726");
  const TideTable *second = get(fixture, 1, "S_20170727");
  const TideTable *of_other = get(fixture, 2, "S_20170726");
  g_assert_cmpstr(first->name, ==, "S_20170726");
  g_assert_cmpuint(first->index, ==, N_DECLARED);
  g_assert_cmpuint(second->index, ==, N_DECLARED + 1);
  g_assert_cmpuint(of_other->index, ==, N_DECLARED + 2);
  g_assert_true(first->declared == &fixture->tables[1]);
  g_assert_true(of_other->declared == &fixture->tables[2]);
  g_assert_true(get(fixture, 1, "S_20170726") == first);
  g_assert_true(tide_dated_tables_at(fixture->dated, N_DECLARED + 1) == second);
  g_assert_cmpuint(tide_dated_tables_end(fixture->dated), ==, N_DECLARED + 3);
  for (guint i = 0; i <= 3; i++)
    g_assert_true(fixture->table_budgets[N_DECLARED + i].whole == (i < 3 ? &fixture->budget : NULL));
}

FIXTURE_TEST("/dated-tables/places-are-kept-only-where-a-table-is-dated")
{
  g_assert_cmpuint(tide_dated_tables_slots(&fixture->config), ==, N_DECLARED + TIDE_DATED_TABLES_MAX);
  g_ptr_array_set_size(fixture->config.tables, 1);
  g_assert_cmpuint(tide_dated_tables_slots(&fixture->config), ==, 1);
}

FIXTURE_TEST("/dated-tables/full-registry-takes-no-new-name-and-knows-the-old")
{
  for (guint i = 0; i < TIDE_DATED_TABLES_MAX; i++) {
    g_autofree char *name = g_strdup_printf("S_%08u", i);
    g_assert_cmpuint(get(fixture, 1, name)->index, ==, N_DECLARED + i);
  }
  g_assert_cmpuint(tide_metrics_sum(fixture->metrics, "tidemark_dated_tables", NULL), ==, TIDE_DATED_TABLES_MAX);
  g_assert_null(get(fixture, 1, "S_99999999"));
  g_assert_null(get(fixture, 2, "S_00000000"));
  g_assert_cmpuint(get(fixture, 1, "S_00000007")->index, ==, N_DECLARED + 7);
  g_autofree TideDatedCache *cache = g_new0(TideDatedCache, 1);
  g_assert_null(tide_dated_cache_get(cache, fixture->dated, &fixture->tables[1], TIDE_BYTES_LITERAL("S_99999999"), 1));
  g_assert_true(tide_dated_cache_get(cache, fixture->dated, &fixture->tables[1], TIDE_BYTES_LITERAL("S_00000007"), 1) ==
                get(fixture, 1, "S_00000007"));
}

/* @n new names, behind @first, each @interval_us after the one before. Returns: what is warned of. */
static char *
meet(Fixture *fixture, guint first, guint n, gint64 interval_us)
{
  Capture capture = capture_stderr();
  for (guint i = first; i < first + n; i++) {
    g_autofree char *name = g_strdup_printf("S_%08u", i);
    fixture->now_us += interval_us;
    g_assert_nonnull(get(fixture, 1, name));
    g_assert_nonnull(get(fixture, 1, name)); /* is no new one */
  }
  char *warnings = captured(&capture);
  capture_end(&capture);
  return warnings;
}

static guint
count_lines(const char *text)
{
  guint n = 0;
  for (; *text != '\0'; text++)
    n += *text == '\n' ? 1 : 0;
  return n;
}

/* With twelve tables by the hour, and each day from then on; but not at a backlog of most of what there is room for. */
FIXTURE_TEST("/dated-tables/it-is-said-a-week-before-the-places-are-gone")
{
  const guint n_backlog = TIDE_DATED_TABLES_MAX / 8 * 7 - 1, n_a_day = 12 * 24;
  const gint64 day_us = 24 * 3600 * TIDE_US_PER_S;
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_INFO);
  g_autofree char *at_backlog = meet(fixture, 0, n_backlog, 1);
  g_assert_cmpstr(at_backlog, ==, "");
  g_autofree char *first = meet(fixture, n_backlog, 1, 1);
  g_assert_nonnull(strstr(first, "used 14336 dated tables since the start, the newest 'S_00014335', of at most "
                                 "16384; partitions halt beyond that; restart"));
  g_autofree char *later = meet(fixture, n_backlog + 1, TIDE_DATED_TABLES_MAX - n_backlog - 1, day_us / n_a_day);
  g_assert_cmpuint(count_lines(later), ==, 7);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
}

FIXTURE_TEST("/dated-tables/cache-finds-the-same-tables")
{
  g_autofree TideDatedCache *cache = g_new0(TideDatedCache, 1);
  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < N_NAMES; i++) /* more than there are slots */
      for (guint template_index = 1; template_index < N_DECLARED; template_index++) {
        g_autofree char *name = g_strdup_printf("S_%08u", i);
        g_assert_true(tide_dated_cache_get(cache, fixture->dated, &fixture->tables[template_index],
                                           tide_bytes_of_string(name), 1) == get(fixture, template_index, name));
      }
}

FIXTURE_TEST("/dated-tables/name-met-before-costs-no-allocation")
{
  g_autofree TideDatedCache *cache = g_new0(TideDatedCache, 1);
  TideBytes name = TIDE_BYTES_LITERAL("S_20170726");
  const TideTable *table = tide_dated_cache_get(cache, fixture->dated, &fixture->tables[1], name, 1);
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(tide_dated_cache_get(cache, fixture->dated, &fixture->tables[1], name, 1) == table);
  g_assert_cmpuint(allocation_count, ==, before);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("a sanitizer's allocator is not counted");
}

typedef struct Finder {
  Fixture *fixture;
  const TideTable *found[N_NAMES];
} Finder;

static void
find_all(gpointer data)
{
  Finder *finder = data;
  g_autofree TideDatedCache *cache = g_new0(TideDatedCache, 1);
  for (guint i = 0; i < N_NAMES; i++) {
    g_autofree char *name = g_strdup_printf("S_%08u", i);
    finder->found[i] =
        tide_dated_cache_get(cache, finder->fixture->dated, &finder->fixture->tables[1], tide_bytes_of_string(name), 1);
  }
}

FIXTURE_TEST("/dated-tables/threads-find-one-table-for-a-name")
{
  Finder finders[N_THREADS];
  TideThread *threads[N_THREADS];
  for (guint i = 0; i < N_THREADS; i++) {
    finders[i].fixture = fixture;
    threads[i] = tide_thread_start("finder", find_all, &finders[i]);
  }
  for (guint i = 0; i < N_THREADS; i++)
    tide_thread_join(threads[i]);
  for (guint i = 1; i < N_THREADS; i++)
    for (guint name = 0; name < N_NAMES; name++)
      g_assert_true(finders[i].found[name] == finders[0].found[name]);
}

/* ---- declared table ----
 *
 * What a declared table is created as: its attributes, and whether a framed gateway can make it. */

static const char yaml[] = KAFKA HBASE READINGS "tables:\n"
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
TEST("/declared-table/deletes-outlive-compactions-where-writes-delete")
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
    table.creation.purge_deletes_ms = cases[i].declared_ms;
    g_autofree char *value = attribute(config, &table, TIDE_PURGE_DELETES_ATTRIBUTE);
    g_assert_cmpstr(value, ==, cases[i].expected);
    g_assert_cmpint(tide_declared_table_needs_unframed(&table), ==, cases[i].expected != NULL);
  }
}

TEST("/declared-table/how-long-deletes-last-can-be-declared")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autofree char *value = attribute(config, tide_config_find_table(config, "REPLACED"), TIDE_PURGE_DELETES_ATTRIBUTE);
  g_assert_cmpstr(value, ==, "7200000");
}

TEST("/declared-table/split-points-need-an-unframed-gateway")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  g_assert_true(tide_declared_table_needs_unframed(tide_config_find_table(config, "SPLIT")));
  g_assert_false(tide_declared_table_needs_unframed(tide_config_find_table(config, "CURRENT")));
}

TEST("/declared-table/the-shell-gets-namespace-attributes-and-splits")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  TideTable table = *tide_config_find_table(config, "SPLIT");
  char name[] = "plant:SPLIT";
  table.name = name;
  table.creation.purge_deletes_ms = 60000;
  g_autofree char *command = tide_declared_table_create_command(&table, config->names);
  g_assert_cmpstr(command, ==,
                  "create_namespace 'plant'\n"
                  "create \"plant:SPLIT\", {NAME => \"M\"}, METADATA => {\"TIDEMARK_SCHEME\" => \"tidemark scheme 1: "
                  "field(host) \\x22#\\x22 time(ms)\", \"hbase.hstore.time.to.purge.deletes\" => \"60000\"}, "
                  "SPLITS => ['g']");
}
