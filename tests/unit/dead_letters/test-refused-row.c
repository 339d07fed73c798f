/* A refused row is copied and charged once, however many messages share it. */
#include "dead_letters/refused_row.h"

static void
test_one_copy_is_charged_once(void)
{
  TideBudget budget;
  tide_budget_init(&budget, 1 << 20);
  g_autofree char *wire = g_strnfill(5000, 'x');
  TideRefusedRow given = {.budget = &budget,
                          .table_index = 7,
                          .attempts = 3,
                          .is_shared = TRUE,
                          .table = TIDE_BYTES_LITERAL("CURRENT_METRIC"),
                          .key = TIDE_BYTES_LITERAL("host1"),
                          .wire = tide_bytes_of_string(wire)};
  TideRefusedRow *row = tide_refused_row_new(&given);
  memset(wire, 'y', 5000);
  guint64 charged = tide_budget_used_racy(&budget);
  g_assert_cmpuint(charged, >=, 5000);
  g_assert_cmpuint(charged, <, 5200);
  for (guint i = 0; i < 1000; i++)
    g_assert_true(tide_refused_row_ref(row) == row);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, charged);
  for (guint i = 0; i < 1000; i++)
    tide_refused_row_unref(row);
  g_autofree char *expected = g_strnfill(5000, 'x');
  g_assert_true(tide_bytes_equal(row->wire, tide_bytes_of_string(expected)));
  g_assert_true(tide_bytes_equal(row->table, given.table));
  g_assert_true(tide_bytes_equal(row->key, given.key));
  g_assert_cmpuint(row->text.len, ==, 0);
  g_assert_cmpuint(row->table_index, ==, 7);
  g_assert_cmpuint(row->attempts, ==, 3);
  g_assert_true(row->is_shared);
  tide_refused_row_unref(row);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/refused-row/one-copy-is-charged-once", test_one_copy_is_charged_once);
  return g_test_run();
}
