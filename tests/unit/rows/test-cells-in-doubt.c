/* Cells in doubt: remembered until their time, whatever their number, within their share of memory. */
#include "rows/cells_in_doubt.h"
#include "rows/row_buffer.h"
#include "unit/row_buffer_fixture.h"
#include "write/batch_cells.h"

static TideBudget share;

static void
set_share(guint64 limit_bytes)
{
  tide_budget_init(&share, limit_bytes);
  share.whole = &budget;
}

static gint64
conflict_us(const TideCellsInDoubt *in_doubt, guint64 identity, guint64 content, gint64 sealed_us)
{
  return tide_cells_in_doubt_conflict_us(in_doubt, identity, content, sealed_us);
}

static void
test_another_value_conflicts_until_its_time(void)
{
  set_share(1 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 0), ==, 0);
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 7, 1, 9000));
  g_assert_cmpint(conflict_us(in_doubt, 7, 1, 0), ==, 0); /* the same again */
  g_assert_cmpint(conflict_us(in_doubt, 8, 2, 0), ==, 0); /* another cell */
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 8999), ==, 9000);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 9000), ==, 0);
  /* Two values may land: each contradicts the other, until the later one's time. */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 7, 2, 9500));
  g_assert_cmpint(conflict_us(in_doubt, 7, 1, 0), ==, 9500);
  g_assert_cmpint(conflict_us(in_doubt, 7, 2, 9499), ==, 9500);
  /* The same value, again without an answer: later, but no other. */
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 9, 3, 9000));
  g_assert_true(tide_cells_in_doubt_add(in_doubt, 9, 3, 8000));
  g_assert_cmpint(conflict_us(in_doubt, 9, 3, 0), ==, 0);
  g_assert_cmpint(conflict_us(in_doubt, 9, 4, 8999), ==, 9000);

  tide_cells_in_doubt_expire(in_doubt, 9499);
  g_assert_cmpint(conflict_us(in_doubt, 9, 4, 0), ==, 0);
  g_assert_false(tide_cells_in_doubt_is_empty(in_doubt));
  tide_cells_in_doubt_expire(in_doubt, 9500);
  g_assert_true(tide_cells_in_doubt_is_empty(in_doubt));
  g_assert_cmpuint(tide_budget_used_racy(&share), ==, 0);
  tide_cells_in_doubt_free(in_doubt);
}

/* M04: none is forgotten while the table grows. */
static void
test_M04_thousands_of_cells_are_remembered(void)
{
  set_share(64 << 20);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share);
  for (guint64 i = 1; i <= 100000; i++) {
    g_assert_true(tide_cells_in_doubt_add(in_doubt, i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), i, 5000));
    guint64 old = 1 + i / 3;
    g_assert_cmpint(conflict_us(in_doubt, old * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), old + 1, 0), ==, 5000);
  }
  for (guint64 i = 1; i <= 100000; i++)
    g_assert_cmpint(conflict_us(in_doubt, i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), i + 1, 0), ==, 5000);
  tide_cells_in_doubt_free(in_doubt);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

/* F14: what is remembered is charged, and not taken beyond the share. */
static void
test_F14_memory_is_charged_and_bounded(void)
{
  set_share(100 * 1024);
  TideCellsInDoubt *in_doubt = tide_cells_in_doubt_new(&share);
  guint64 n = 0;
  while (tide_cells_in_doubt_add(in_doubt, n + 1, 1, 5000))
    n++;
  g_assert_cmpuint(n, >=, 1000);
  g_assert_cmpuint(tide_budget_used_racy(&share), >, n * 24);
  g_assert_cmpuint(tide_budget_used_racy(&share), <=, 100 * 1024);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, tide_budget_used_racy(&share));
  g_assert_cmpint(conflict_us(in_doubt, 1, 2, 0), ==, 5000);
  tide_cells_in_doubt_free(in_doubt);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
}

static void
check_cells(TideWireProtocol protocol, gboolean deletes)
{
  Column columns[2];
  TideCell cells[2];
  for (guint i = 0; i < 2; i++) {
    make_column(&columns[i], protocol, i);
    cells[i] = (TideCell){&columns[i].column, tide_bytes_of_string(i == 0 ? "first" : ""), 10 + i};
  }
  g_autoptr(GPtrArray) families = g_ptr_array_new();
  TideFamilySettings family = {.name = (char *)"M"};
  g_ptr_array_add(families, &family);
  TideRowBuffer buffer;
  tide_row_buffer_init(&buffer, &budget, protocol, TIDE_MERGE_ALL, families);
  TideRow row = {.key = TIDE_BYTES_LITERAL("key"), .cells = cells, .n_cells = 2, .ttl_ms = 77};
  row.delete_to_ms = deletes ? 5 : 0;
  tide_row_buffer_append(&buffer, &row, (TideSourceRef){0}, 1000, NULL);
  TideSealRequest seal = request(10, 1 << 20);
  TideBatch *batch = tide_row_buffer_seal(&buffer, &seal);
  TideBatchCells reader;
  TideBatchCell cell;
  g_assert_true(tide_batch_cells_enter(&reader, protocol, batch, 0));
  for (guint i = 0; i < 2; i++) {
    g_assert_true(tide_batch_cells_next(&reader, &cell));
    g_assert_true(tide_bytes_equal(cell.prefix, columns[i].column.prefix));
    g_assert_cmpuint(cell.column_hash, ==, columns[i].column.hash);
    g_assert_true(tide_bytes_equal(cell.value, cells[i].value));
    g_assert_cmpint(cell.timestamp_ms, ==, 10 + i);
  }
  g_assert_false(tide_batch_cells_next(&reader, &cell));
  g_free(describe(batch, protocol));
  tide_row_buffer_clear(&buffer);
  for (guint i = 0; i < 2; i++)
    tide_buffer_clear_memory(&columns[i].prefix);
}

static void
test_cells_are_read_back_from_a_batch(void)
{
  for (guint deletes = 0; deletes < 2; deletes++) {
    check_cells(TIDE_WIRE_BINARY, deletes != 0);
    check_cells(TIDE_WIRE_COMPACT, deletes != 0);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_budget_init(&budget, G_MAXINT64);
  g_test_add_func("/cells-in-doubt/another-value-conflicts-until-its-time",
                  test_another_value_conflicts_until_its_time);
  g_test_add_func("/cells-in-doubt/M04-thousands-of-cells-are-remembered", test_M04_thousands_of_cells_are_remembered);
  g_test_add_func("/cells-in-doubt/F14-memory-is-charged-and-bounded", test_F14_memory_is_charged_and_bounded);
  g_test_add_func("/cells-in-doubt/cells-are-read-back-from-a-batch", test_cells_are_read_back_from_a_batch);
  return g_test_run();
}
