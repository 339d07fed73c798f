/* Lanes of regions that came in the place of others: what of the old ones they wait for; and tables that are given up.
 */
#include "rows/table_accumulator.h"
#include "unit/row_buffer_fixture.h"
#include "util/clock.h"

typedef struct Fixture {
  TideRowBuffer none, merged, solo;
  TideLaneBuffer old, between, lane; /* the last waits for both others */
  Column column;
} Fixture;

static void
init_lane(Fixture *fixture, TideLaneBuffer *lane)
{
  lane->buffer = lane->solo = &fixture->none;
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
  make_column(&fixture->column, TIDE_WIRE_BINARY, 1);
  tide_row_buffer_init(&fixture->none, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  tide_row_buffer_init(&fixture->merged, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_ALL, NULL);
  tide_row_buffer_init(&fixture->solo, &budget, TIDE_WIRE_BINARY, TIDE_MERGE_NONE, NULL);
  append(&fixture->merged, "a", &fixture->column, "1", 10, 0);
  append(&fixture->solo, "a", &fixture->column, "1", 10, 0);
  init_lane(fixture, &fixture->old);
  init_lane(fixture, &fixture->between);
  init_lane(fixture, &fixture->lane);
  fixture->lane.predecessors = g_ptr_array_new();
  g_ptr_array_add(fixture->lane.predecessors, &fixture->between);
  g_ptr_array_add(fixture->lane.predecessors, &fixture->old);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  g_ptr_array_unref(fixture->lane.predecessors);
  tide_row_buffer_clear(&fixture->none);
  tide_row_buffer_clear(&fixture->merged);
  tide_row_buffer_clear(&fixture->solo);
  tide_buffer_clear_memory(&fixture->column.prefix);
}

static void
assert_waits(const Fixture *fixture, gboolean merged, gboolean solo)
{
  g_assert_cmpint(tide_lane_buffer_waits_for_predecessor(&fixture->lane, FALSE), ==, merged);
  g_assert_cmpint(tide_lane_buffer_waits_for_predecessor(&fixture->lane, TRUE), ==, solo);
}

/* Merged rows wait for merged rows, and for none of the solo ones, which are of other keys. Solo rows wait for all that
 * is there, or on its way: it may be of their keys. */
static void
test_rows_wait_for_those_of_old_regions(Fixture *fixture, gconstpointer data)
{
  assert_waits(fixture, FALSE, FALSE);
  fixture->old.buffer = &fixture->merged;
  assert_waits(fixture, TRUE, TRUE);
  fixture->old.buffer = &fixture->none;
  fixture->old.solo = &fixture->solo;
  assert_waits(fixture, FALSE, TRUE);
  fixture->old.solo = &fixture->none;
  assert_waits(fixture, FALSE, FALSE);
}

static void
test_rows_wait_for_calls_to_old_regions(Fixture *fixture, gconstpointer data)
{
  TideBatch *batch = tide_batch_new();
  tide_lane_buffer_add_in_flight(&fixture->old, batch);
  assert_waits(fixture, TRUE, TRUE);
  batch->is_solo = TRUE;
  assert_waits(fixture, FALSE, TRUE);
  tide_lane_buffer_remove_in_flight(&fixture->old, batch);
  assert_waits(fixture, FALSE, FALSE);
  tide_batch_free(batch);
}

/* Batches come back in any order: those that are left are still the lane's. */
static void
test_batches_come_back_in_any_order(Fixture *fixture, gconstpointer data)
{
  static const guint orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  TideBatch *batches[3];
  for (guint order = 0; order < G_N_ELEMENTS(orders); order++) {
    for (guint i = 0; i < G_N_ELEMENTS(batches); i++)
      tide_lane_buffer_add_in_flight(&fixture->lane, batches[i] = tide_batch_new());
    for (guint left = G_N_ELEMENTS(batches); left-- > 0;) {
      TideBatch *gone = batches[orders[order][left]];
      tide_lane_buffer_remove_in_flight(&fixture->lane, gone);
      tide_batch_free(gone);
      guint n = 0;
      for (const TideBatch *batch = fixture->lane.in_flight; batch != NULL; batch = batch->sealer.lane_next, n++)
        g_assert_true(batch == batches[orders[order][0]] || (left == 2 && batch == batches[orders[order][1]]));
      g_assert_cmpuint(n, ==, left);
      g_assert_cmpuint(fixture->lane.n_in_flight, ==, left);
    }
  }
}

/* What is known of its keys would be lost with it. */
static void
test_dated_table_with_solo_keys_is_not_idle(void)
{
  TideTable template = {.name = (char *)"D"}, table = {.name = (char *)"D_1", .declared = &template};
  TideRegionMap map = {.n_lanes = 0};
  TideTableAccumulator open = {.table = &table,
                               .map = &map,
                               .retired = g_ptr_array_new(),
                               .in_doubt = tide_cells_in_doubt_new(&budget, 1),
                               .contested = g_hash_table_new(NULL, NULL)};
  for (int is_short = 0; is_short <= 1; is_short++) {
    g_assert_true(tide_table_accumulator_is_idle(&open, is_short, G_MAXINT64));
    g_assert_false(tide_solo_keys_add(&open.solo_keys, 17, 0));
    g_assert_false(tide_table_accumulator_is_idle(&open, is_short, G_MAXINT64));
    tide_solo_keys_expire(&open.solo_keys, 3600 * TIDE_US_PER_S);
  }
  g_assert_true(tide_table_accumulator_is_idle(&open, TRUE, G_MAXINT64));
  g_ptr_array_unref(open.retired);
  tide_cells_in_doubt_free(open.in_doubt);
  g_hash_table_unref(open.contested);
}

int
main(int argc, char **argv)
{
  tide_budget_init(&budget, 1 << 30);
  g_test_init(&argc, &argv, NULL);
  g_test_add("/table-accumulator/rows-of-old-regions", Fixture, NULL, set_up, test_rows_wait_for_those_of_old_regions,
             tear_down);
  g_test_add("/table-accumulator/calls-to-old-regions", Fixture, NULL, set_up, test_rows_wait_for_calls_to_old_regions,
             tear_down);
  g_test_add("/table-accumulator/batches-come-back", Fixture, NULL, set_up, test_batches_come_back_in_any_order,
             tear_down);
  g_test_add_func("/table-accumulator/F16-has-solo-keys", test_dated_table_with_solo_keys_is_not_idle);
  return g_test_run();
}
