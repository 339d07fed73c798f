/* Rows by key: as HBase compares them, whatever they have in common. */
#include "rows/row_order.h"

static char keys[TIDE_ROW_ORDER_MAX][48];
static TideOrderedRow rows[TIDE_ROW_ORDER_MAX];

/* Sorts, and holds every two neighbours against each other and every row against its key. */
static void
sort_and_check(guint32 n_rows)
{
  gboolean met[TIDE_ROW_ORDER_MAX] = {FALSE};
  tide_row_order_sort(rows, n_rows);
  for (guint32 i = 0; i < n_rows; i++) {
    g_assert_false(met[rows[i].row]);
    met[rows[i].row] = TRUE;
    g_assert_true(rows[i].key.data == (const guint8 *)keys[rows[i].row]);
    if (i == 0)
      continue;
    int order = tide_bytes_compare(rows[i - 1].key, rows[i].key);
    g_assert_true(order < 0 || (order == 0 && rows[i - 1].row < rows[i].row));
  }
}

/* Prefixes in common of every length, keys that begin others, bytes above 127, and equal ones. */
static void
test_random_keys(void)
{
  for (guint round = 0; round < 400; round++) {
    guint32 n_rows = (guint32)g_test_rand_int_range(0, round % 10 == 0 ? TIDE_ROW_ORDER_MAX + 1 : 30);
    gint32 common = g_test_rand_int_range(0, 24), letters = g_test_rand_int_range(1, 256);
    for (guint32 i = 0; i < n_rows; i++) {
      memset(keys[i], 'h', (gsize)common);
      gint32 more = g_test_rand_int_range(0, 20);
      for (gint32 k = 0; k < more; k++)
        keys[i][common + k] = (char)g_test_rand_int_range(256 - letters, 256);
      rows[i] = (TideOrderedRow){.key = tide_bytes(keys[i], (gsize)(common + more)), .row = i};
    }
    sort_and_check(n_rows);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-order/random-keys-are-in-the-order-of-their-bytes", test_random_keys);
  return g_test_run();
}
