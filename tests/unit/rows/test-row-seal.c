/* Sealing rows that never merge: which go together, and which wait. */
#include "unit/row_buffer_fixture.h"

/* They are few in a batch: one in a hundred is refused, and is found by halving the call. */
static void
test_batches_of_solo_rows_are_small(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideSealRequest seal = request(1000, 1 << 20), small = request(10, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  for (guint i = 0; i < 20; i++)
    append(&buffer, (const char[]){(char)('a' + i), '\0'}, &a, "1", 10, i);
  TideBatch *smaller = tide_row_buffer_seal(&buffer, &small);
  g_assert_cmpuint(smaller->n_rows, ==, 10); /* batch.max_rows is less */
  g_autofree char *all G_GNUC_UNUSED = describe(smaller, TIDE_WIRE_BINARY);
  for (guint i = 0; i < 100; i++) {
    g_autofree char *key = g_strdup_printf("%02u", i);
    append(&buffer, key, &a, "1", 10, i);
  }
  TideBatch *batches = tide_row_buffer_seal(&buffer, &seal);
  g_assert_cmpuint(batches->n_rows, ==, 64);
  g_assert_cmpuint(batches->next->n_rows, ==, 36);
  g_autofree char *text G_GNUC_UNUSED = describe(batches, TIDE_WIRE_BINARY);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* A row of their key that was merged before, or one that is in flight, goes first; it keeps none of another key. */
static void
test_solo_rows_wait_for_what_came_before(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer, merged;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  tide_row_buffer_init(&merged, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  append(&merged, "x", &a, "1", 10, 0);
  append(&buffer, "x", &a, "2", 10, 1);
  append(&buffer, "y", &a, "2", 10, 2);
  TideSealRequest seal = request(1000, 1 << 20), others = request(1000, 1 << 20);
  seal.merged = &merged;
  g_autofree char *first = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(first, ==, "[y q1@10=2;]1 ");
  TideBatch *in_flight = tide_row_buffer_seal(&merged, &others);
  seal.in_flight = in_flight;
  g_assert_null(tide_row_buffer_seal(&buffer, &seal));
  seal.in_flight = NULL;
  g_autofree char *second = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(second, ==, "[x q1@10=2;]1 ");
  g_autofree char *rest G_GNUC_UNUSED = describe(in_flight, TIDE_WIRE_BINARY);
  tide_row_buffer_clear(&buffer);
  tide_row_buffer_clear(&merged);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* A merged row stays, and goes on merging, while a suspect of its key is tried; others leave. */
static void
test_merged_rows_wait_for_a_suspect_of_their_key(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NEWEST, NULL);
  TideSealRequest seal = request(1000, 1 << 20);
  append(&buffer, "x", &a, "1", 10, 0);
  TideBatch *suspect = tide_row_buffer_seal(&buffer, &seal);
  g_autoptr(GPtrArray) suspects = g_ptr_array_new();
  g_ptr_array_add(suspects, suspect);
  seal.suspect_batches = suspects;
  append(&buffer, "x", &a, "2", 20, 1);
  append(&buffer, "y", &a, "2", 20, 2);
  g_autofree char *others = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(others, ==, "[y q1@20=2;]1 ");
  append(&buffer, "x", &a, "3", 30, 3);
  g_assert_null(tide_row_buffer_seal(&buffer, &seal));
  seal.suspect_batches = NULL;
  g_autofree char *waited = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
  g_assert_cmpstr(waited, ==, "[x q1@30=3;]2 ");
  g_autofree char *tried G_GNUC_UNUSED = describe(suspect, TIDE_WIRE_BINARY);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* Rows that give a cell one value, another, and that again: the last waits for the one between, also where the first,
 * or its like, is on its way already. */
static void
test_solo_rows_of_three_values_go_one_by_one(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  for (const char *value = "12112"; *value != '\0'; value++)
    append(&buffer, "x", &a, (const char[]){*value, '\0'}, 10, 0);
  static const char *const batches[] = {"[x q1@10=1;]1 ", "[x q1@10=2;]1 ", "[x q1@10=1;x q1@10=1;]2 ",
                                        "[x q1@10=2;]1 "};
  for (gsize i = 0; i < G_N_ELEMENTS(batches); i++) {
    g_autofree char *text = describe(tide_row_buffer_seal(&buffer, &seal), TIDE_WIRE_BINARY);
    g_assert_cmpstr(text, ==, batches[i]);
  }
  g_assert_true(tide_row_buffer_is_empty(&buffer));
  tide_row_buffer_clear(&buffer);
  tide_buffer_clear_memory(&a.prefix);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_budget_init(&budget, 1 << 30);
  g_test_add_func("/row-seal/batches-of-solo-rows-are-small", test_batches_of_solo_rows_are_small);
  g_test_add_func("/row-seal/merged-rows-wait-for-a-suspect-of-their-key",
                  test_merged_rows_wait_for_a_suspect_of_their_key);
  g_test_add_func("/row-seal/solo-rows-wait-for-what-came-before", test_solo_rows_wait_for_what_came_before);
  g_test_add_func("/row-seal/solo-rows-of-three-values", test_solo_rows_of_three_values_go_one_by_one);
  return g_test_run();
}
