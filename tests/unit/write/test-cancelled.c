/* Batches that are cancelled because a partition was taken away: what has nothing left to send tells nothing of its
 * region. That no call carries them: test-bisect.c. What becomes of their messages: test-equal-times-model.c. */
#include "util/clock.h"
#include "write/lanes.h"

#define TIMEOUT_US (60 * TIDE_US_PER_S)

typedef struct Lanes {
  TideTable table;
  TideLanes *lanes;
  TideCompletionQueue completions;
} Lanes;

static void
set_up(Lanes *fixture, gconstpointer data)
{
  fixture->table = (TideTable){.name = (char *)"A"};
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .max_probes = 2,
                              .retry_min_us = TIDE_US_PER_MS,
                              .retry_max_us = TIDE_US_PER_MS};
  fixture->lanes = tide_lanes_new(&options);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
}

static void
tear_down(Lanes *fixture, gconstpointer data)
{
  tide_lanes_free(fixture->lanes);
  tide_completion_queue_clear(&fixture->completions);
}

static void
submit(Lanes *fixture, const char *start, const char *end, guint n_batches)
{
  TideLane *lane =
      tide_lanes_make_lane(fixture->lanes, &fixture->table, tide_bytes_of_string(start), tide_bytes_of_string(end));
  for (guint i = 0; i < n_batches; i++) {
    TideBatch *batch = tide_batch_new();
    TideBatchRow row = {.key_len = 0};
    tide_buffer_append(&batch->rows, &row, sizeof row);
    batch->completions = &fixture->completions;
    batch->lane = tide_lane_ref(lane);
    batch->n_rows = 1;
    tide_lanes_submit(fixture->lanes, batch);
  }
  tide_lane_unref(lane); /* it lives as long as its batches */
}

static guint
count_completed(Lanes *fixture)
{
  guint n = 0;
  for (TideBatch *batch = tide_completion_queue_take(&fixture->completions, 0), *next; batch != NULL;
       batch = next, n++) {
    next = batch->next;
    tide_batch_free(batch);
  }
  return n;
}

static void
take(Lanes *fixture, TideCall *call)
{
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + TIMEOUT_US, call), ==, TIDE_TAKE_CALL);
}

static void
finish(Lanes *fixture, TideCall *call, TideOutcome outcome, gboolean is_left_out)
{
  for (guint32 i = 0; is_left_out && i < call->n_batches; i++)
    tide_batch_cancel(call->batches[i]);
  tide_lanes_finish(fixture->lanes, call, outcome, outcome != TIDE_OUTCOME_OK ? "no" : NULL, tide_now_us());
}

/* Its batch is completed, and the next is tried at once; the lane is in trouble as before. */
static void
test_lane_is_not_well_for_it(Lanes *fixture, gconstpointer data)
{
  TideCall call;
  submit(fixture, "", "", 3);
  take(fixture, &call);
  g_assert_cmpuint(call.n_batches, ==, 3);
  finish(fixture, &call, TIDE_OUTCOME_RETRY, FALSE);
  take(fixture, &call);
  finish(fixture, &call, TIDE_OUTCOME_OK, TRUE);
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 1);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, 0, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(call.n_batches, ==, 1); /* a probe */
  g_assert_cmpint(call.batches[0]->delivery.lane_ok_us, ==, 0);
  finish(fixture, &call, TIDE_OUTCOME_OK, FALSE);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 0);
  take(fixture, &call);
  g_assert_cmpint(call.batches[0]->delivery.lane_ok_us, >, 0);
  finish(fixture, &call, TIDE_OUTCOME_OK, FALSE);
}

/* As many lanes as are kept for the sake of their rows, with more of them than one batch. */
static void
make_others_hot(Lanes *fixture)
{
  TideCall call;
  for (char key[] = "n"; key[0] < 'n' + TIDE_LANES_HOT; key[0]++) {
    submit(fixture, key, "", 2);
    take(fixture, &call);
    g_assert_cmpuint(call.n_batches, ==, 2);
    finish(fixture, &call, TIDE_OUTCOME_OK, FALSE);
  }
  g_assert_cmpuint(count_completed(fixture), ==, 2 * TIDE_LANES_HOT);
}

/* The lane for whose sake the table is held goes with its last batch; the other's is the next probe. */
static void
test_suspended_table_is_not_well_for_it(Lanes *fixture, gconstpointer data)
{
  TideCall call;
  make_others_hot(fixture);
  submit(fixture, "", "m", 1);
  take(fixture, &call);
  finish(fixture, &call, TIDE_OUTCOME_SUSPEND, FALSE);
  submit(fixture, "m", "", 1);
  take(fixture, &call);
  g_assert_cmpuint(call.batches[0]->lane->end_key.len, ==, 1);
  finish(fixture, &call, TIDE_OUTCOME_OK, TRUE);
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 1);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, 0, &call), ==, TIDE_TAKE_CALL);
  g_assert_true(call.is_probe_of_table);
  finish(fixture, &call, TIDE_OUTCOME_OK, FALSE);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 0);
}

/* Nobody would find out that it takes rows again. */
static void
test_suspended_table_without_rows_is_not_held(Lanes *fixture, gconstpointer data)
{
  TideCall call;
  submit(fixture, "", "", 1);
  take(fixture, &call);
  finish(fixture, &call, TIDE_OUTCOME_SUSPEND, FALSE);
  take(fixture, &call);
  finish(fixture, &call, TIDE_OUTCOME_OK, TRUE);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 0);
}

/* Of a call that is under way nobody need wait for a probe: it tells itself whether the table takes rows. */
static void
test_suspended_table_with_rows_under_way_is_not_held(Lanes *fixture, gconstpointer data)
{
  TideCall first, other, probe;
  submit(fixture, "", "m", 1);
  take(fixture, &first);
  submit(fixture, "m", "", 1);
  take(fixture, &other);
  finish(fixture, &first, TIDE_OUTCOME_SUSPEND, FALSE);
  take(fixture, &probe);
  finish(fixture, &probe, TIDE_OUTCOME_OK, TRUE);
  finish(fixture, &other, TIDE_OUTCOME_OK, FALSE);
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 0);
}

#define ADD(path, func) g_test_add("/cancelled/" path, Lanes, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("lane-is-not-well-for-it", test_lane_is_not_well_for_it);
  ADD("suspended-table-is-not-well-for-it", test_suspended_table_is_not_well_for_it);
  ADD("suspended-table-without-rows-is-not-held", test_suspended_table_without_rows_is_not_held);
  ADD("suspended-table-with-rows-under-way-is-not-held", test_suspended_table_with_rows_under_way_is_not_held);
  return g_test_run();
}
