/* The registry of dated tables, and each consumer's memory of it. */
#include "flow/dated_tables.h"

#include "util/lock.h"

#include "allocation_counter.h"

#define N_DECLARED 3
#define N_THREADS 4
#define N_NAMES 300

/* Two templates behind a plain table. */
typedef struct Fixture {
  TideTable tables[N_DECLARED];
  TideConfig config;
  TideDatedTables *dated;
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
  fixture->dated = tide_dated_tables_new(&fixture->config);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_dated_tables_free(fixture->dated);
  g_ptr_array_unref(fixture->config.tables);
  for (guint i = 0; i < N_DECLARED; i++)
    tide_row_key_free(fixture->tables[i].dated_name);
}

static const TideTable *
get(Fixture *fixture, guint template_index, const char *name)
{
  return tide_dated_tables_get(fixture->dated, &fixture->tables[template_index], tide_bytes_of_string(name));
}

static void
test_each_name_is_one_table_with_a_place_of_its_own(Fixture *fixture, gconstpointer data)
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
}

static void
test_places_are_kept_only_where_a_table_is_dated(Fixture *fixture, gconstpointer data)
{
  guint32 n_dated;
  g_assert_cmpuint(tide_dated_tables_places(&fixture->config, &n_dated), ==, N_DECLARED + TIDE_DATED_TABLES_MAX);
  g_assert_cmpuint(n_dated, ==, TIDE_DATED_TABLES_MAX);
  g_ptr_array_set_size(fixture->config.tables, 1);
  g_assert_cmpuint(tide_dated_tables_places(&fixture->config, &n_dated), ==, 1);
  g_assert_cmpuint(n_dated, ==, 0);
}

static void
test_full_registry_takes_no_new_name_and_knows_the_old(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < TIDE_DATED_TABLES_MAX; i++) {
    g_autofree char *name = g_strdup_printf("S_%08u", i);
    g_assert_cmpuint(get(fixture, 1, name)->index, ==, N_DECLARED + i);
  }
  g_assert_null(get(fixture, 1, "S_99999999"));
  g_assert_null(get(fixture, 2, "S_00000000"));
  g_assert_cmpuint(get(fixture, 1, "S_00000007")->index, ==, N_DECLARED + 7);
  TideDatedCache cache = {0};
  g_assert_null(tide_dated_cache_get(&cache, fixture->dated, &fixture->tables[1], TIDE_BYTES_LITERAL("S_99999999")));
  g_assert_nonnull(tide_dated_cache_get(&cache, fixture->dated, &fixture->tables[1], TIDE_BYTES_LITERAL("S_00000007")));
}

static void
test_cache_finds_the_same_tables(Fixture *fixture, gconstpointer data)
{
  TideDatedCache cache = {0};
  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < N_NAMES; i++) /* more than there are slots */
      for (guint template_index = 1; template_index < N_DECLARED; template_index++) {
        g_autofree char *name = g_strdup_printf("S_%08u", i);
        g_assert_true(tide_dated_cache_get(&cache, fixture->dated, &fixture->tables[template_index],
                                           tide_bytes_of_string(name)) == get(fixture, template_index, name));
      }
}

static void
test_name_met_before_costs_no_allocation(Fixture *fixture, gconstpointer data)
{
  TideDatedCache cache = {0};
  TideBytes name = TIDE_BYTES_LITERAL("S_20170726");
  const TideTable *table = tide_dated_cache_get(&cache, fixture->dated, &fixture->tables[1], name);
  guint64 before = allocation_count;
  for (guint i = 0; i < 1000; i++)
    g_assert_true(tide_dated_cache_get(&cache, fixture->dated, &fixture->tables[1], name) == table);
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
  TideDatedCache cache = {0};
  for (guint i = 0; i < N_NAMES; i++) {
    g_autofree char *name = g_strdup_printf("S_%08u", i);
    finder->found[i] =
        tide_dated_cache_get(&cache, finder->fixture->dated, &finder->fixture->tables[1], tide_bytes_of_string(name));
  }
}

static void
test_threads_find_one_table_for_a_name(Fixture *fixture, gconstpointer data)
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

#define ADD(path, func) g_test_add("/dated-tables/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("each-name-is-one-table-with-a-place-of-its-own", test_each_name_is_one_table_with_a_place_of_its_own);
  ADD("places-are-kept-only-where-a-table-is-dated", test_places_are_kept_only_where_a_table_is_dated);
  ADD("full-registry-takes-no-new-name-and-knows-the-old", test_full_registry_takes_no_new_name_and_knows_the_old);
  ADD("cache-finds-the-same-tables", test_cache_finds_the_same_tables);
  ADD("name-met-before-costs-no-allocation", test_name_met_before_costs_no_allocation);
  ADD("threads-find-one-table-for-a-name", test_threads_find_one_table_for_a_name);
  return g_test_run();
}
