/* Which calls a process that yields to others gives out, and whom their ends wake. */
#include "unit/lanes_fixture.h"
#include "util/lock.h"

#define GATEWAYS 2
#define WRITERS 4

/* No test waits that long: what is not given out at once is held back. */
#define SLOW_CALL_US (20 * TIDE_US_PER_S)

/* Instead of those of set_up(). */
static void
use_yielding_lanes(Fixture *fixture, gint64 retry_us)
{
  TideLanesOptions options = {.n_tables = 2,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = WRITERS,
                              .retry_min_us = retry_us,
                              .retry_max_us = retry_us,
                              .yield_gateways = GATEWAYS,
                              .n_writers = WRITERS};
  tide_lanes_free(fixture->lanes);
  fixture->lanes = tide_lanes_new(&options);
}

static void
set_up_yielding(Fixture *fixture, gconstpointer data)
{
  set_up(fixture, data);
  use_yielding_lanes(fixture, SLOW_CALL_US);
}

static gboolean
take_through(Fixture *fixture, guint32 gateway, TideCall *call)
{
  return tide_lanes_take(fixture->lanes, gateway, 0, call) == TIDE_TAKE_CALL;
}

static void
finish(Fixture *fixture, TideCall *call, TideOutcome outcome, gint64 took_us)
{
  const char *error_text = outcome != TIDE_OUTCOME_OK ? "too busy" : NULL;
  tide_lanes_finish(fixture->lanes, call, outcome, error_text, call->taken_us + took_us);
}

static void
submit_calls(Fixture *fixture, TideLane *lane, guint n_calls)
{
  for (guint i = 0; i < n_calls; i++)
    submit(fixture, lane, 10, 100);
}

static void
test_tables_and_gateways_share_the_bound(Fixture *fixture, gconstpointer data)
{
  TideLane *lanes[] = {lane_of(fixture, 0, "", ""), lane_of(fixture, 1, "", "")};
  TideCall call, more;
  for (guint i = 0; i < 2; i++)
    submit_calls(fixture, lanes[i], 2);
  for (guint i = 0; i < 4; i++) {
    g_assert_true(take_through(fixture, i % GATEWAYS, &call));
    for (guint32 gateway = 0; gateway < GATEWAYS; gateway++)
      g_assert_false(take_through(fixture, gateway, &more));
    finish(fixture, &call, TIDE_OUTCOME_OK, 0);
  }
  for (guint i = 0; i < 2; i++)
    tide_lane_unref(lanes[i]);
  g_assert_cmpuint(count_completed(fixture), ==, 4);
}

static void
test_call_turned_away_is_followed_by_a_pause(Fixture *fixture, gconstpointer data)
{
  static const TideOutcome outcomes[] = {TIDE_OUTCOME_RETRY, TIDE_OUTCOME_UNKNOWN};
  for (guint i = 0; i < G_N_ELEMENTS(outcomes); i++) {
    use_yielding_lanes(fixture, SLOW_CALL_US);
    TideLane *busy = lane_of(fixture, 0, "", "m"), *other = lane_of(fixture, 1, "", "");
    TideCall call;
    submit_calls(fixture, busy, 1);
    g_assert_true(take_through(fixture, 0, &call));
    submit_calls(fixture, other, 1);
    finish(fixture, &call, outcomes[i], SLOW_CALL_US);
    for (guint32 gateway = 0; gateway < GATEWAYS; gateway++)
      g_assert_false(take_through(fixture, gateway, &call));
    tide_lane_unref(busy);
    tide_lane_unref(other);
  }
}

/* A region that moves is nobody's load: its probes must not slow down the calls of all others. */
static void
test_failing_lane_holds_no_call_back(Fixture *fixture, gconstpointer data)
{
  use_yielding_lanes(fixture, 0);
  TideLane *failing = lane_of(fixture, 0, "", "m"), *other = lane_of(fixture, 0, "m", "");
  TideCall call;
  submit_calls(fixture, failing, 1);
  g_assert_true(take_through(fixture, 0, &call));
  g_assert_false(call.is_probe);
  finish(fixture, &call, TIDE_OUTCOME_RETRY, 0);
  g_assert_true(take_through(fixture, 0, &call));
  g_assert_true(call.is_probe);
  submit_calls(fixture, other, 1);
  finish(fixture, &call, TIDE_OUTCOME_RETRY, SLOW_CALL_US);
  g_assert_true(take_through(fixture, 0, &call));
  finish(fixture, &call, TIDE_OUTCOME_OK, 0);
  tide_lane_unref(failing);
  tide_lane_unref(other);
  (void)count_completed(fixture);
}

/* Of the rows, or of the table: nobody else is in the way. */
static void
test_other_failures_hold_no_call_back(Fixture *fixture, gconstpointer data)
{
  static const TideOutcome outcomes[] = {TIDE_OUTCOME_NOT_SENT, TIDE_OUTCOME_POISON};
  for (guint i = 0; i < G_N_ELEMENTS(outcomes); i++) {
    TideLane *lane = lane_of(fixture, i, "", "m"), *other = lane_of(fixture, i, "m", "");
    TideCall call;
    submit_calls(fixture, lane, 1);
    g_assert_true(take_through(fixture, 0, &call));
    submit_calls(fixture, other, 1);
    finish(fixture, &call, outcomes[i], SLOW_CALL_US);
    g_assert_true(take_through(fixture, 0, &call));
    finish(fixture, &call, TIDE_OUTCOME_OK, 0);
    tide_lane_unref(lane);
    tide_lane_unref(other);
  }
  (void)count_completed(fixture);
}

static void
test_table_may_be_closed_and_opened_again(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 2; i++) {
    TideLane *lane = lane_of(fixture, 0, "", "");
    TideCall call;
    submit_calls(fixture, lane, 1);
    g_assert_true(take_through(fixture, 0, &call));
    finish(fixture, &call, TIDE_OUTCOME_OK, 0);
    g_assert_cmpuint(count_completed(fixture), ==, 1);
    tide_lanes_close(fixture->lanes, &fixture->tables[0]);
    tide_lane_unref(lane);
  }
}

/* Rows are held back for others; without rows a writer waits for itself. */
static void
test_waiting_share_is_of_the_time_that_rows_waited(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  TideCall call, more;
  g_assert_cmpfloat(tide_lanes_waiting_share(fixture->lanes, tide_now_us()).overall, ==, 0);
  submit_calls(fixture, lane, 1);
  g_assert_true(take_through(fixture, 0, &call));
  gint64 wait_us = 20 * TIDE_US_PER_MS, until_us = tide_now_us() + wait_us;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, until_us, &more), ==, TIDE_TAKE_NOTHING);
  g_assert_cmpfloat(tide_lanes_waiting_share(fixture->lanes, tide_now_us()).overall, ==, 0);
  submit_calls(fixture, lane, 1);
  until_us = tide_now_us() + wait_us;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, until_us, &more), ==, TIDE_TAKE_NOTHING);
  gint64 now_us = tide_now_us();
  TideWaitingShare share = tide_lanes_waiting_share(fixture->lanes, now_us);
  double given = (double)wait_us / (double)(WRITERS * (now_us - call.taken_us));
  g_assert_cmpfloat(share.overall, >=, given);
  g_assert_cmpfloat(share.overall, <=, 1.0 / WRITERS); /* the other writers did not wait */
  g_assert_cmpfloat(share.recent, ==, share.overall);
  finish(fixture, &call, TIDE_OUTCOME_OK, 0);
  tide_lane_unref(lane);
  (void)count_completed(fixture);
}

static void
wait_in_vain(gpointer data)
{
  TideCall call;
  gint64 until_us = tide_now_us() + 100 * TIDE_US_PER_MS;
  g_assert_cmpint(tide_lanes_take(data, 0, until_us, &call), ==, TIDE_TAKE_NOTHING);
}

/* A load whose files are read slowly, as by --rate, has idle writers, which yielding does not hold back. */
static void
test_waiting_share_leaves_out_writers_without_a_call(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  TideCall call;
  TideThread *threads[WRITERS - 1];
  submit_calls(fixture, lane, 2);
  g_assert_true(take_through(fixture, 0, &call));
  for (guint i = 0; i < WRITERS - 1; i++)
    threads[i] = tide_thread_start("writer", wait_in_vain, fixture->lanes);
  for (guint i = 0; i < WRITERS - 1; i++)
    tide_thread_join(threads[i]);
  TideWaitingShare share = tide_lanes_waiting_share(fixture->lanes, tide_now_us());
  g_assert_cmpfloat(share.overall, >, 0);
  g_assert_cmpfloat(share.overall, <=, 1.0 / WRITERS); /* a single call waited */
  finish(fixture, &call, TIDE_OUTCOME_OK, 0);
  tide_lane_unref(lane);
  (void)count_completed(fixture);
}

typedef struct Writer {
  TideLanes *lanes;
  _Atomic gboolean has_begun;
  gboolean is_woken; /* took a call before it gave up */
  TideCall call;
} Writer;

static void
take_once(gpointer data)
{
  Writer *writer = data;
  gint64 give_up_us = tide_now_us() + 20 * TIDE_US_PER_S;
  atomic_store(&writer->has_begun, TRUE);
  gboolean is_taken = tide_lanes_take(writer->lanes, 1, give_up_us, &writer->call) == TIDE_TAKE_CALL;
  writer->is_woken = is_taken && tide_now_us() < give_up_us;
}

static void
test_end_of_a_call_wakes_a_writer_of_another_gateway(Fixture *fixture, gconstpointer data)
{
  for (guint round = 0; round < 100; round++) {
    use_yielding_lanes(fixture, SLOW_CALL_US);
    TideLane *lane = lane_of(fixture, 0, "", "");
    TideCall call;
    submit_calls(fixture, lane, 2);
    g_assert_true(take_through(fixture, 0, &call));
    Writer writer = {.lanes = fixture->lanes};
    TideThread *thread = tide_thread_start("writer", take_once, &writer);
    while (!atomic_load(&writer.has_begun))
      g_thread_yield();
    for (guint i = 0; i < round; i++) /* of all rounds, it sleeps in most */
      g_assert_cmpuint(tide_lanes_state(fixture->lanes).in_flight_calls, ==, 1);
    finish(fixture, &call, TIDE_OUTCOME_OK, 0);
    tide_thread_join(thread);
    g_assert_true(writer.is_woken);
    finish(fixture, &writer.call, TIDE_OUTCOME_OK, 0);
    g_assert_cmpuint(count_completed(fixture), ==, 2);
    tide_lane_unref(lane);
  }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, set_up_yielding, function, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/lanes-yield/tables-and-gateways-share-the-bound", test_tables_and_gateways_share_the_bound);
  ADD("/lanes-yield/call-turned-away-is-followed-by-a-pause", test_call_turned_away_is_followed_by_a_pause);
  ADD("/lanes-yield/failing-lane-holds-no-call-back", test_failing_lane_holds_no_call_back);
  ADD("/lanes-yield/other-failures-hold-no-call-back", test_other_failures_hold_no_call_back);
  ADD("/lanes-yield/table-may-be-closed-and-opened-again", test_table_may_be_closed_and_opened_again);
  ADD("/lanes-yield/waiting-share-is-of-the-time-that-rows-waited", test_waiting_share_is_of_the_time_that_rows_waited);
  ADD("/lanes-yield/waiting-share-leaves-out-writers-without-a-call",
      test_waiting_share_leaves_out_writers_without_a_call);
  ADD("/lanes-yield/end-of-a-call-wakes-a-writer-of-another-gateway",
      test_end_of_a_call_wakes_a_writer_of_another_gateway);
  return g_test_run();
}
