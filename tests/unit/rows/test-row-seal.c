/* Sealing rows that never merge: which go together, and which wait. */
#include "unit/row_buffer_fixture.h"

/* They are few in a batch, and in none with others: those would wait for so many calls. */
static void
test_batches_of_rows_apart_are_small(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideCell cell = {&a.column, TIDE_BYTES_LITERAL("1"), 10};
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  for (guint i = 0; i < 100; i++) {
    g_autofree char *key = g_strdup_printf("%02u", i);
    TideRow row = {.key = tide_bytes_of_string(key), .cells = &cell, .n_cells = 1, .is_apart = i % 2 == 1};
    tide_row_buffer_append(&buffer, &row, (TideSourceRef){1, i}, 1000, NULL);
  }
  TideBatch *batches = tide_row_buffer_seal(&buffer, &seal);
  guint n_apart = 0, n_others = 0;
  for (const TideBatch *batch = batches; batch != NULL; batch = batch->next) {
    for (guint32 i = 0; i < batch->n_rows; i++)
      g_assert_cmpint(tide_batch_row_key(batch, i).data[1] % 2, ==, batch->is_apart);
    g_assert_cmpuint(batch->n_rows, <=, batch->is_apart ? 16 : 64);
    g_assert_cmpuint(batch->slice_rows, ==, batch->is_apart ? 1 : 0); /* sent alone */
    n_apart += batch->is_apart ? 1 : 0;
    n_others += batch->is_apart ? 0 : 1;
  }
  g_assert_cmpuint(n_apart, ==, 4);
  g_assert_cmpuint(n_others, ==, 1);
  g_autofree char *text = describe(batches, TIDE_WIRE_BINARY);
  tide_row_buffer_clear(&buffer);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  tide_buffer_clear_memory(&a.prefix);
}

/* A row that must wait for another of its cell stays what it was until it leaves. */
static void
test_row_apart_that_waits_stays_apart(void)
{
  Column a;
  make_column(&a, TIDE_WIRE_BINARY, 1);
  TideSealRequest seal = request(1000, 1 << 20);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  for (guint i = 0; i < 2; i++) {
    TideCell cell = {&a.column, i == 0 ? TIDE_BYTES_LITERAL("1") : TIDE_BYTES_LITERAL("2"), 10};
    TideRow row = {.key = TIDE_BYTES_LITERAL("x"), .cells = &cell, .n_cells = 1, .is_apart = TRUE};
    tide_row_buffer_append(&buffer, &row, (TideSourceRef){1, i}, 1000, NULL);
  }
  for (guint i = 0; i < 2; i++) {
    TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
    g_assert_true(batch->is_apart);
    g_autofree char *text = describe(batch, TIDE_WIRE_BINARY);
    g_assert_cmpstr(text, ==, i == 0 ? "[x q1@10=1;]1 " : "[x q1@10=2;]1 ");
  }
  tide_row_buffer_clear(&buffer);
  tide_buffer_clear_memory(&a.prefix);
}

/* Parts that give a cell one value, another, and that again: the last waits for the one between, also where the first,
 * or its like, is on its way already. */
static void
test_unmerged_rows_of_three_values_go_one_by_one(void)
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
  g_test_add_func("/row-seal/batches-of-rows-apart-are-small", test_batches_of_rows_apart_are_small);
  g_test_add_func("/row-seal/row-apart-that-waits-stays-apart", test_row_apart_that_waits_stays_apart);
  g_test_add_func("/row-seal/unmerged-rows-of-three-values", test_unmerged_rows_of_three_values_go_one_by_one);
  return g_test_run();
}
