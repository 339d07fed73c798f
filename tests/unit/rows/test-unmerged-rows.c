/* Rows that go by themselves: parts of refused rows, and what is likely to be refused. */
#include "rows/unmerged_rows.h"

#include "unit/accumulator_rig.h"
#include "util/clock.h"
#include "util/log.h"

/* Rows of @keys leave in one call, @apart from all others or not, and are written. */
#define ASSERT_WRITTEN(fixture, keys, apart)                                                                           \
  do {                                                                                                                 \
    TideCall written_;                                                                                                 \
    flush(fixture);                                                                                                    \
    ASSERT_CALL(fixture, &written_, keys);                                                                             \
    g_assert_cmpint(written_.batches[0]->is_apart, ==, apart);                                                         \
    complete_batch(fixture, &written_);                                                                                \
  } while (0)

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

#define TOO_LARGE "0123456789012345678901234567890123456789"
#define SAYS_LIMIT "Cell[a/M:v/1000/Put/vlen=40/seqid=0] with size 70 exceeds limit of 60 bytes"

/* HBase has refused the row of "known" and said why. */
static void
learn_limit(Fixture *fixture, guint32 table)
{
  TideCall call;
  append(fixture, table, "known", TOO_LARGE, FALSE);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "known ");
  g_assert_false(call.batches[0]->is_apart);
  tide_batch_add_poison(call.batches[0], 0, 1, SAYS_LIMIT);
  complete_batch(fixture, &call);
}

static void
append_at(Fixture *fixture, guint32 table, const char *key, const char *value, gint64 timestamp_ms)
{
  g_auto(OneCell) one = {0};
  fill_row(&one, table, key, value);
  one.cell.timestamp_ms = timestamp_ms;
  tide_accumulator_append_message(fixture->accumulator, &one.row, 1, fixture->source, fixture->now_us);
}

/* Once HBase has said what it refuses for its size, such a row of that table is written by itself, and others of its
 * key after it; other rows go on meanwhile. What is so large is taken again: it merges as ever. */
static void
test_row_that_is_likely_to_be_refused_goes_alone(Fixture *fixture, gconstpointer data)
{
  guint32 table = GPOINTER_TO_UINT(data);
  TideCall apart, others;
  learn_limit(fixture, table);
  append_at(fixture, table, "a", "before", 1);
  append_at(fixture, table, "a", TOO_LARGE, 2);
  append_at(fixture, table, "a", "behind", 2);
  append_at(fixture, table, "b", "1", 1);
  flush(fixture);
  ASSERT_CALL(fixture, &apart, "a ");
  g_assert_true(apart.batches[0]->is_apart);
  ASSERT_CALL(fixture, &others, "b ");
  complete_batch(fixture, &others);
  tide_batch_add_poison(apart.batches[0], 0, 1, SAYS_LIMIT);
  complete_batch(fixture, &apart);
  ASSERT_WRITTEN(fixture, "a ", FALSE);
  append_at(fixture, table, "c", TOO_LARGE, 1);
  flush(fixture);
  ASSERT_CALL(fixture, &apart, "c ");
  g_assert_true(apart.batches[0]->is_apart);
  complete_batch(fixture, &apart); /* it was taken */
  append_at(fixture, table, "c", TOO_LARGE, 2);
  ASSERT_WRITTEN(fixture, "c ", FALSE);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
  g_assert_cmpuint(tide_metrics_sum(fixture->flow.metrics, "tidemark_dead_letters_cleared_total", NULL), ==, 0);
}

/* A row that has to wait behind another of its key on the way does not make all that wait be looked at again, and be
 * copied for it; one of another key does. */
static void
test_row_that_waits_disturbs_none_that_wait(Fixture *fixture, gconstpointer data)
{
  TideCall first, other;
  learn_limit(fixture, LATEST);
  append_at(fixture, LATEST, "a", TOO_LARGE, 1);
  flush(fixture);
  ASSERT_CALL(fixture, &first, "a ");
  const TideLaneBuffer *lane = first.batches[0]->lane_buffer;
  for (gint64 i = 2; i < 10; i++) {
    append_at(fixture, LATEST, "a", TOO_LARGE, i);
    g_assert_true(lane->unmerged_wait);
    flush(fixture);
    ASSERT_CALL(fixture, &other, "");
  }
  append_at(fixture, LATEST, "b", TOO_LARGE, 1);
  g_assert_false(lane->unmerged_wait);
  ASSERT_WRITTEN(fixture, "b ", TRUE);
  complete_batch(fixture, &first);
  flush(fixture);
  ASSERT_CALL(fixture, &other, "a a a a a a a a ");
  complete_batch(fixture, &other);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
}

/* Tables may have limits of their own: what is said of one is not believed of another. */
static void
test_limit_is_the_tables(Fixture *fixture, gconstpointer data)
{
  learn_limit(fixture, LATEST);
  append_at(fixture, DATA, "a", TOO_LARGE, 1);
  ASSERT_WRITTEN(fixture, "a ", FALSE);
}

/* What one consumer was told counts for all: none has to have a row refused first. */
static void
test_limit_is_known_to_all_consumers(Fixture *fixture, gconstpointer data)
{
  TideAccumulatorContext context = unstarted_flow_accumulator_context(&fixture->flow, &fixture->completions);
  TideAccumulator *first = fixture->accumulator;
  learn_limit(fixture, LATEST);
  fixture->accumulator = tide_accumulator_new(&context);
  append_at(fixture, LATEST, "a", TOO_LARGE, 1);
  ASSERT_WRITTEN(fixture, "a ", TRUE);
  tide_accumulator_free(fixture->accumulator);
  fixture->accumulator = first;
}

/* It would be sent before the open row of its key, and before parts that are read again: where these are of one time
 * with it, the earlier offset's value would be written later. So it merges. */
static void
test_row_that_is_likely_to_be_refused_overtakes_none(Fixture *fixture, gconstpointer data)
{
  TideCall parts;
  learn_limit(fixture, LATEST);
  append_at(fixture, LATEST, "a", "before", 1);
  append_at(fixture, LATEST, "a", TOO_LARGE, 1);
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("b"), 2);
  append_at(fixture, LATEST, "b", TOO_LARGE, 1);
  ASSERT_WRITTEN(fixture, "a ", FALSE);
  append(fixture, LATEST, "b", "part", TRUE);
  append(fixture, LATEST, "b", "part", TRUE);
  append_at(fixture, LATEST, "b", TOO_LARGE, 2); /* no part is awaited any more */
  flush(fixture);
  ASSERT_CALL(fixture, &parts, "b b ");
  complete_batch(fixture, &parts);
  ASSERT_WRITTEN(fixture, "b ", TRUE);
  ASSERT_WRITTEN(fixture, "b ", FALSE);
}

/* The row before is on its way, and refused for another reason: what is read again of it is of the earlier offsets, and
 * must not be written behind a row of their time. */
static void
test_row_that_is_likely_to_be_refused_waits_for_parts_to_come(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  learn_limit(fixture, LATEST);
  append_at(fixture, LATEST, "a", "before", 1);
  append_at(fixture, LATEST, "b", "before", 1);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a b ");
  append_at(fixture, LATEST, "a", TOO_LARGE, 1);
  append_at(fixture, LATEST, "b", TOO_LARGE, 2); /* of another time: it does no harm */
  tide_batch_add_poison(call.batches[0], 0, 1, "Timestamp for KV out of range a/M:v/1/Put/vlen=6/seqid=0");
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("a"), 2);
  complete_batch(fixture, &call);
  ASSERT_WRITTEN(fixture, "b ", TRUE);
  append(fixture, LATEST, "a", "part", TRUE);
  append(fixture, LATEST, "a", "part", TRUE);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a a ");
  complete_batch(fixture, &call);
  ASSERT_WRITTEN(fixture, "a ", FALSE);
}

/* Rows of "n0" to "n999", each likely to be refused. */
static void
append_as_many_as_may_be_apart(Fixture *fixture)
{
  learn_limit(fixture, LATEST);
  for (guint i = 0; i < TIDE_MAX_ROWS_APART; i++) {
    g_autofree char *key = g_strdup_printf("n%u", i);
    append_at(fixture, LATEST, key, TOO_LARGE, 1);
  }
}

static void
complete_all(Fixture *fixture)
{
  TideCall call;
  g_autofree char *keys = take_call(fixture, &call);
  while (call.n_batches > 0) {
    complete_batch(fixture, &call);
    g_free(keys);
    keys = take_call(fixture, &call);
  }
}

/* However many come: parts that are read again must not wait for them. Beyond the bound they merge. */
static void
test_rows_kept_apart_are_bounded(Fixture *fixture, gconstpointer data)
{
  append_as_many_as_may_be_apart(fixture);
  append_at(fixture, LATEST, "beyond", TOO_LARGE, 1);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, TIDE_MAX_ROWS_APART);
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("part"), 1);
  append(fixture, LATEST, "part", "1", TRUE);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, TIDE_MAX_ROWS_APART + 1);
  flush(fixture);
  complete_all(fixture);
  g_assert_true(tide_accumulator_is_empty(fixture->accumulator));
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
  append_as_many_as_may_be_apart(fixture);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, TIDE_MAX_ROWS_APART);
}

/* Rows that are cancelled make room for others. */
static void
test_rows_kept_apart_that_are_cancelled_make_room(Fixture *fixture, gconstpointer data)
{
  append_as_many_as_may_be_apart(fixture);
  lose_partition(fixture, 0);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
  append_at(fixture, LATEST, "n0", TOO_LARGE, 1);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 1);
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

/* However often rows are to leave: what a lane has beyond its bound waits, and goes together. @data: whether apart */
static void
test_batches_of_a_lane_are_bounded(Fixture *fixture, gconstpointer data)
{
  enum { MAX_ON_THE_WAY = 32, N_MORE = 8 };
  gboolean is_apart = GPOINTER_TO_UINT(data) != 0;
  guint n_batches;
  learn_limit(fixture, DATA);
  for (guint i = 0; i < MAX_ON_THE_WAY + N_MORE; i++) {
    g_autofree char *key = g_strdup_printf("n%u", i);
    append_at(fixture, DATA, key, is_apart ? TOO_LARGE : "1", 1);
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

/* Nor do other rows of their region wait until some of them are written; nor they for those. */
static void
test_lane_full_of_one_kind_takes_the_other(Fixture *fixture, gconstpointer data)
{
  gboolean is_full_of_apart = GPOINTER_TO_UINT(data) != 0;
  TideCall call;
  learn_limit(fixture, DATA);
  for (guint i = 0; i < 100; i++) {
    g_autofree char *key = g_strdup_printf("n%u", i);
    append_at(fixture, DATA, key, is_full_of_apart ? TOO_LARGE : "1", 1);
    flush(fixture);
  }
  append_at(fixture, DATA, "other", is_full_of_apart ? "1" : TOO_LARGE, 1);
  flush(fixture);
  gboolean is_sent = FALSE, is_over = FALSE;
  while (!is_over) {
    g_autofree char *keys = take_call(fixture, &call);
    is_sent |= strstr(keys, "other ") != NULL;
    is_over = call.n_batches == 0;
    if (!is_over) /* it is not completed yet */
      tide_lanes_finish(fixture->flow.lanes, &call, TIDE_OUTCOME_OK, NULL, fixture->now_us);
  }
  g_assert_true(is_sent);
  complete_ended(fixture);
}

static void
append_tombstone(Fixture *fixture, guint32 table, const char *key, gint64 delete_to_ms)
{
  TideRow row = {.table_index = table, .key = tide_bytes_of_string(key), .delete_to_ms = delete_to_ms};
  tide_accumulator_append_message(fixture->accumulator, &row, 1, fixture->source, fixture->now_us);
}

/* Whether a row with that key and time is kept apart. */
static gboolean
is_kept_apart(Fixture *fixture, guint32 table, const char *key, gint64 timestamp_ms)
{
  guint32 before = tide_accumulator_count_unmerged(fixture->accumulator);
  append_at(fixture, table, key, TOO_LARGE, timestamp_ms);
  return tide_accumulator_count_unmerged(fixture->accumulator) > before;
}

/* A cell that gave way to a tombstone in the open row comes again where that row is refused, and the tombstone's own
 * message is gone: before a row of the cell's time that came later, so this merges. */
static void
test_row_that_is_likely_to_be_refused_overtakes_nothing_that_is_deleted(Fixture *fixture, gconstpointer data)
{
  guint32 table = GPOINTER_TO_UINT(data);
  TideCall call;
  learn_limit(fixture, table);
  append_at(fixture, table, "a", "before", 3);
  append_tombstone(fixture, table, "a", 5);
  g_assert_false(is_kept_apart(fixture, table, "a", 3));
  g_assert_true(is_kept_apart(fixture, table, "a", 6));
  append_at(fixture, table, "b", "before", 3);
  append_tombstone(fixture, table, "b", 5);
  append_at(fixture, table, "c", "before", 3);
  append_tombstone(fixture, table, "c", 5);
  append_at(fixture, table, "c", "behind", 7);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a "); /* what was kept apart */
  tide_batch_add_poison(call.batches[0], 0, 1, SAYS_LIMIT);
  complete_batch(fixture, &call);
  ASSERT_CALL(fixture, &call, "b c ");
  g_assert_false(is_kept_apart(fixture, table, "b", 3));
  g_assert_false(is_kept_apart(fixture, table, "c", 3));
  g_assert_true(is_kept_apart(fixture, table, "d", 3));
  complete_batch(fixture, &call);
}

/* It is what its message waits for last. */
static void
test_what_follows_a_row_that_goes_alone_is_sent_behind_it(Fixture *fixture, gconstpointer data)
{
  TideCall call;
  g_auto(OneCell) parent = {0}, index = {0};
  learn_limit(fixture, DATA);
  fill_row(&parent, DATA, "a", TOO_LARGE);
  fill_row(&index, LATEST, "i", "1");
  index.row.follows = 1;
  const TideRow rows[] = {parent.row, index.row};
  tide_accumulator_append_message(fixture->accumulator, rows, 2, fixture->source, fixture->now_us);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  complete_batch(fixture, &call);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "i ");
  complete_batch(fixture, &call);
}

/* Of a refused row's parts that which is likely to be refused again is no reason to halve the call of the others. */
static void
test_part_that_is_likely_to_be_refused_goes_alone(Fixture *fixture, gconstpointer data)
{
  TideCall call, rest;
  learn_limit(fixture, LATEST);
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("a"), 1);
  append(fixture, LATEST, "a", TOO_LARGE, TRUE);
  tide_accumulator_defer_key(fixture->accumulator, LATEST, TIDE_BYTES_LITERAL("b"), 1);
  append(fixture, LATEST, "b", "1", TRUE);
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a ");
  ASSERT_CALL(fixture, &rest, "b ");
  g_assert_true(call.batches[0]->is_apart && call.batches[0]->is_unmerged);
  g_assert_true(!rest.batches[0]->is_apart && rest.batches[0]->is_unmerged);
  complete_batch(fixture, &call);
  complete_batch(fixture, &rest);
  g_assert_cmpuint(tide_accumulator_count_unmerged(fixture->accumulator), ==, 0);
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
  ADD("latest-row-that-is-likely-to-be-refused-goes-alone", test_row_that_is_likely_to_be_refused_goes_alone, LATEST);
  ADD("data-row-that-is-likely-to-be-refused-goes-alone", test_row_that_is_likely_to_be_refused_goes_alone, DATA);
  ADD("limit-is-the-tables", test_limit_is_the_tables, 0);
  ADD("limit-is-known-to-all-consumers", test_limit_is_known_to_all_consumers, 0);
  ADD("row-that-is-likely-to-be-refused-overtakes-none", test_row_that_is_likely_to_be_refused_overtakes_none, 0);
  ADD("apart/that-wait-disturb-none-that-wait", test_row_that_waits_disturbs_none_that_wait, 0);
  ADD("apart/are-bounded", test_rows_kept_apart_are_bounded, 0);
  ADD("apart/that-are-cancelled-make-room", test_rows_kept_apart_that_are_cancelled_make_room, 0);
  ADD("batches-of-a-lane-are-bounded", test_batches_of_a_lane_are_bounded, 0);
  ADD("apart/batches-of-a-lane-are-bounded", test_batches_of_a_lane_are_bounded, 1);
  ADD("lane-full-of-rows-apart-takes-others", test_lane_full_of_one_kind_takes_the_other, 1);
  ADD("lane-full-of-others-takes-rows-apart", test_lane_full_of_one_kind_takes_the_other, 0);
  ADD("latest-row-that-is-likely-to-be-refused-overtakes-nothing-that-is-deleted",
      test_row_that_is_likely_to_be_refused_overtakes_nothing_that_is_deleted, LATEST);
  ADD("data-row-that-is-likely-to-be-refused-overtakes-nothing-that-is-deleted",
      test_row_that_is_likely_to_be_refused_overtakes_nothing_that_is_deleted, DATA);
  ADD("what-follows-a-row-that-goes-alone", test_what_follows_a_row_that_goes_alone_is_sent_behind_it, 0);
  ADD("row-that-is-likely-to-be-refused-waits-for-parts-to-come",
      test_row_that_is_likely_to_be_refused_waits_for_parts_to_come, 0);
  ADD("part-that-is-likely-to-be-refused-goes-alone", test_part_that_is_likely_to_be_refused_goes_alone, 0);
  return g_test_run();
}
