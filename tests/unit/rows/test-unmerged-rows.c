/* Rows that go by themselves: parts of refused rows. */
#include "rows/unmerged_rows.h"

#include "unit/accumulator_rig.h"
#include "util/clock.h"
#include "util/log.h"

/* Parts of a refused row are tried for minutes, while nobody knows whether they are to blame: other rows of their
 * region go on, and show that it works; only the row itself waits. @data: the table */
static void
test_other_rows_go_on_while_parts_of_a_refused_row_are_tried(Fixture *fixture, gconstpointer data)
{
  guint32 table = GPOINTER_TO_UINT(data);
  TideCall parts, others, rest;
  tide_accumulator_defer_key(fixture->accumulator, table, TIDE_BYTES_LITERAL("refused"), 1);
  append(fixture, table, "refused", "part", TRUE);
  flush(fixture);
  ASSERT_CALL(fixture, &parts, "refused ");
  append(fixture, table, "refused", "later", FALSE);
  append(fixture, table, "other", "1", FALSE);
  flush(fixture);
  ASSERT_CALL(fixture, &others, "other ");
  append(fixture, table, "other", "2", FALSE);
  flush(fixture);
  ASSERT_CALL(fixture, &rest, ""); /* its key is on its way */
  complete_batch(fixture, &others);
  flush(fixture);
  ASSERT_CALL(fixture, &others, "other ");
  complete_batch(fixture, &others);
  complete_batch(fixture, &parts);
  flush(fixture);
  ASSERT_CALL(fixture, &rest, "refused ");
  complete_batch(fixture, &rest);
  g_assert_cmpint(tide_accumulator_oldest_us(fixture->accumulator), ==, 0);
}

/* A part that must wait for another of its row, which is tried, keeps none of another row. */
static void
test_parts_of_other_rows_go_on(Fixture *fixture, gconstpointer data)
{
  TideCall first, other, second;
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("refused"), 2);
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("other"), 1);
  append(fixture, LATEST, "refused", "1", TRUE);
  flush(fixture);
  ASSERT_CALL(fixture, &first, "refused ");
  append(fixture, LATEST, "refused", "2", TRUE);
  append(fixture, LATEST, "other", "1", TRUE);
  flush(fixture);
  ASSERT_CALL(fixture, &other, "other ");
  complete_batch(fixture, &other);
  flush(fixture);
  ASSERT_CALL(fixture, &second, "");
  complete_batch(fixture, &first);
  flush(fixture);
  ASSERT_CALL(fixture, &second, "refused ");
  complete_batch(fixture, &second);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
}

static void
append_at(Fixture *fixture, guint32 table, const char *key, const char *value, gint64 timestamp_ms)
{
  g_auto(OneCell) one = {0};
  fill_row(&one, table, key, value);
  one.cell.timestamp_ms = timestamp_ms;
  tide_accumulator_append_message(fixture->accumulator, &one.row, 1, fixture->source, fixture->now_us);
}

/* What of @fixture may be sent is taken and acknowledged, but not completed yet. */
static guint
acknowledge_all(Fixture *fixture, guint *ret_n_batches)
{
  TideCall call;
  guint n_rows = 0;
  *ret_n_batches = 0;
  for (;;) {
    g_free(take_call(fixture, &call));
    if (call.n_batches == 0)
      return n_rows;
    *ret_n_batches += call.n_batches;
    n_rows += call.n_rows;
    tide_lanes_finish(fixture->flow.lanes, &call, TIDE_OUTCOME_OK, NULL, fixture->now_us);
  }
}

/* However often rows are to leave: what a lane has beyond its bound waits, and goes together. */
static void
test_batches_of_a_lane_are_bounded(Fixture *fixture, gconstpointer data)
{
  enum { MAX_ON_THE_WAY = 32, N_MORE = 8 };
  guint n_batches;
  for (guint i = 0; i < MAX_ON_THE_WAY + N_MORE; i++) {
    g_autofree char *key = g_strdup_printf("n%u", i);
    append_at(fixture, DATA, key, "1", 1);
    flush(fixture);
  }
  g_assert_cmpuint(acknowledge_all(fixture, &n_batches), ==, MAX_ON_THE_WAY);
  g_assert_cmpuint(n_batches, ==, MAX_ON_THE_WAY);
  complete_ended(fixture);
  flush(fixture);
  g_assert_cmpuint(acknowledge_all(fixture, &n_batches), ==, N_MORE);
  g_assert_cmpuint(n_batches, ==, 1);
  complete_ended(fixture);
}

#define ADD(path, func, data)                                                                                          \
  g_test_add("/unmerged-rows/" path, Fixture, GUINT_TO_POINTER(data), set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
  ADD("F16/latest-rows-go-on-while-parts-of-a-refused-one-are-tried",
      test_other_rows_go_on_while_parts_of_a_refused_row_are_tried, LATEST);
  ADD("F16/data-rows-go-on-while-parts-of-a-refused-one-are-tried",
      test_other_rows_go_on_while_parts_of_a_refused_row_are_tried, DATA);
  ADD("F16/parts-of-other-rows-go-on", test_parts_of_other_rows_go_on, 0);
  ADD("batches-of-a-lane-are-bounded", test_batches_of_a_lane_are_bounded, 0);
  return g_test_run();
}
