/* Which writers the lanes wake: who sleeps until there is work must not sleep on when there is some. */
#include "util/clock.h"
#include "write/lanes.h"

static void
submit_full_call(TideLanes *lanes, TideLane *lane, TideCompletionQueue *completions)
{
  TideBatch *batch = tide_batch_new();
  batch->completions = completions;
  batch->lane = tide_lane_ref(lane);
  batch->n_rows = 10;
  tide_lanes_submit(lanes, batch);
}

static gboolean
take_now(TideLanes *lanes, TideCall *call)
{
  return tide_lanes_take(lanes, 0, call) == TIDE_TAKE_CALL;
}

typedef struct Sleeper {
  TideLanes *lanes;
  _Atomic gboolean has_begun;
  gboolean is_woken; /* took a call before it gave up */
} Sleeper;

static void
run_sleeper(gpointer data)
{
  Sleeper *sleeper = data;
  TideCall call;
  gint64 give_up_us = tide_now_us() + 20 * TIDE_US_PER_S;
  atomic_store(&sleeper->has_begun, TRUE);
  gboolean is_taken = tide_lanes_take(sleeper->lanes, give_up_us, &call) == TIDE_TAKE_CALL;
  sleeper->is_woken = is_taken && tide_now_us() < give_up_us;
  if (is_taken)
    tide_lanes_finish(sleeper->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
}

static void
test_end_of_a_call_wakes_who_sleeps(void)
{
  TideTable table = {.name = (char *)"A"};
  TideLanesOptions options = {
      .n_tables = 1, .max_rows = 10, .max_bytes = 1000, .max_in_flight_per_region = 2, .max_probes = 2};
  TideLanes *lanes = tide_lanes_new(&options);
  TideCompletionQueue completions;
  tide_completion_queue_init(&completions, NULL, NULL);
  TideLane *lane = tide_lanes_make_lane(lanes, &table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
  for (guint round = 0; round < 100; round++) {
    Sleeper sleeper = {.lanes = lanes};
    TideCall calls[2];
    for (guint i = 0; i < 3; i++)
      submit_full_call(lanes, lane, &completions);
    g_assert_true(take_now(lanes, &calls[0]) && take_now(lanes, &calls[1]));
    TideThread *thread = tide_thread_start("sleeper", run_sleeper, &sleeper);
    while (!atomic_load(&sleeper.has_begun))
      g_thread_yield();
    for (guint i = 0; i < round; i++) /* so that it is asleep in most rounds */
      g_assert_cmpuint(tide_lanes_state(lanes).in_flight_calls, ==, 2);
    tide_lanes_finish(lanes, &calls[0], TIDE_OUTCOME_OK, NULL, tide_now_us());
    tide_thread_join(thread);
    g_assert_true(sleeper.is_woken);
    tide_lanes_finish(lanes, &calls[1], TIDE_OUTCOME_OK, NULL, tide_now_us());
    g_assert_cmpuint(tide_lanes_state(lanes).waiting_rows, ==, 0);
  }
  tide_lane_unref(lane);
  tide_lanes_free(lanes);
  tide_completion_queue_clear(&completions);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/lane-wakes/end-of-a-call", test_end_of_a_call_wakes_who_sleeps);
  return g_test_run();
}
