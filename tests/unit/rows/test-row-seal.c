/* Sealing rows that never merge: which go together, and which wait. */
#include "unit/row_buffer_fixture.h"

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
  g_test_add_func("/row-seal/unmerged-rows-of-three-values", test_unmerged_rows_of_three_values_go_one_by_one);
  return g_test_run();
}
