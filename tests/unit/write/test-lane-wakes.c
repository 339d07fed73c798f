/* Which writers the lanes wake: who sleeps until there is work must not sleep on when there is some. */
#include "util/clock.h"
#include "write/lanes.h"

/* After a failure: long enough for a call to end in it, mostly. */
#define PAUSE_US (5 * TIDE_US_PER_MS)

typedef struct Fixture {
  TideTable table;
  TideLanes *lanes;
  TideLane *lane;
  TideCompletionQueue completions;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .max_probes = 2,
                              .retry_min_us = PAUSE_US,
                              .retry_max_us = PAUSE_US};
  fixture->table.name = (char *)"A";
  fixture->lanes = tide_lanes_new(&options);
  fixture->lane = tide_lanes_make_lane(fixture->lanes, &fixture->table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_lane_unref(fixture->lane);
  tide_lanes_free(fixture->lanes);
  tide_completion_queue_clear(&fixture->completions);
}

static TideBatch *
full_call(Fixture *fixture)
{
  TideBatch *batch = tide_batch_new();
  batch->completions = &fixture->completions;
  batch->lane = tide_lane_ref(fixture->lane);
  batch->n_rows = 10;
  return batch;
}

static gboolean
take_now(TideLanes *lanes, TideCall *call)
{
  return tide_lanes_take(lanes, 0, 0, call) == TIDE_TAKE_CALL;
}

typedef struct Sleeper {
  TideLanes *lanes;
  _Atomic gboolean has_begun;
  gboolean is_woken; /* took a call before it gave up */
  TideCall call;
} Sleeper;

static void
run_sleeper(gpointer data)
{
  Sleeper *sleeper = data;
  gint64 give_up_us = tide_now_us() + 20 * TIDE_US_PER_S;
  atomic_store(&sleeper->has_begun, TRUE);
  gboolean is_taken = tide_lanes_take(sleeper->lanes, 0, give_up_us, &sleeper->call) == TIDE_TAKE_CALL;
  sleeper->is_woken = is_taken && tide_now_us() < give_up_us;
}

static TideThread *
start_sleeper(Sleeper *sleeper)
{
  TideThread *thread = tide_thread_start("sleeper", run_sleeper, sleeper);
  while (!atomic_load(&sleeper->has_begun))
    g_thread_yield();
  return thread;
}

/* Of 100 rounds who sleeps is asleep in most. @in_flight_calls: meanwhile */
static void
let_sleep(TideLanes *lanes, guint round, guint in_flight_calls)
{
  for (guint i = 0; i < round; i++)
    g_assert_cmpuint(tide_lanes_state(lanes).in_flight_calls, ==, in_flight_calls);
}

/* And its call succeeds. */
static void
assert_woken(Sleeper *sleeper, TideThread *thread)
{
  tide_thread_join(thread);
  g_assert_true(sleeper->is_woken);
  tide_lanes_finish(sleeper->lanes, &sleeper->call, TIDE_OUTCOME_OK, NULL, tide_now_us());
}

static void
test_end_of_a_call_wakes_who_sleeps(Fixture *fixture, gconstpointer data)
{
  TideLanes *lanes = fixture->lanes;
  for (guint round = 0; round < 100; round++) {
    Sleeper sleeper = {.lanes = lanes};
    TideCall calls[2];
    for (guint i = 0; i < 3; i++)
      tide_lanes_submit(lanes, full_call(fixture));
    g_assert_true(take_now(lanes, &calls[0]) && take_now(lanes, &calls[1]));
    TideThread *thread = start_sleeper(&sleeper);
    let_sleep(lanes, round, 2);
    tide_lanes_finish(lanes, &calls[0], TIDE_OUTCOME_OK, NULL, tide_now_us());
    assert_woken(&sleeper, thread);
    tide_lanes_finish(lanes, &calls[1], TIDE_OUTCOME_OK, NULL, tide_now_us());
    g_assert_cmpuint(tide_lanes_state(lanes).waiting_rows, ==, 0);
  }
}

/* What is submitted at once wakes one writer, and that one the next, before either's call has ended. */
static void
test_who_takes_wakes_the_next(Fixture *fixture, gconstpointer data)
{
  TideLanes *lanes = fixture->lanes;
  for (guint round = 0; round < 100; round++) {
    Sleeper sleepers[2] = {{.lanes = lanes}, {.lanes = lanes}};
    TideThread *threads[2];
    for (guint i = 0; i < 2; i++)
      threads[i] = start_sleeper(&sleepers[i]);
    let_sleep(lanes, round, 0);
    TideBatch *first = full_call(fixture);
    first->next = full_call(fixture);
    tide_lanes_submit(lanes, first);
    for (guint i = 0; i < 2; i++)
      tide_thread_join(threads[i]);
    for (guint i = 0; i < 2; i++) {
      g_assert_true(sleepers[i].is_woken);
      tide_lanes_finish(lanes, &sleepers[i].call, TIDE_OUTCOME_OK, NULL, tide_now_us());
    }
  }
}

/* Whoever ends a call need not come back for the next one: its gateway may be lost. Who sleeps has to learn when a
 * table that is suspended is to be tried. */
static void
test_end_that_suspends_a_table_wakes_who_sleeps(Fixture *fixture, gconstpointer data)
{
  TideLanes *lanes = fixture->lanes;
  for (guint round = 0; round < 100; round++) {
    Sleeper sleeper = {.lanes = lanes};
    TideCall call;
    tide_lanes_submit(lanes, full_call(fixture));
    g_assert_true(take_now(lanes, &call));
    TideThread *thread = start_sleeper(&sleeper);
    let_sleep(lanes, round, 1);
    tide_lanes_finish(lanes, &call, TIDE_OUTCOME_SUSPEND, "A is disabled", tide_now_us());
    assert_woken(&sleeper, thread);
  }
}

/* Likewise of a batch that waits for its time, once another call has ended that kept its lane full. */
static void
test_end_that_leaves_a_batch_waiting_wakes_who_sleeps(Fixture *fixture, gconstpointer data)
{
  TideLanes *lanes = fixture->lanes;
  for (guint round = 0; round < 100; round++) {
    Sleeper sleeper = {.lanes = lanes};
    TideCall calls[3];
    for (guint i = 0; i < 2; i++)
      tide_lanes_submit(lanes, full_call(fixture));
    g_assert_true(take_now(lanes, &calls[0]) && take_now(lanes, &calls[1]));
    TideBatch *suspected = calls[0].batches[0];
    tide_batch_set_row_state(suspected, 0, TIDE_ROW_SUSPECT);
    for (guint32 row = 1; row < suspected->n_rows; row++)
      tide_batch_set_row_state(suspected, row, TIDE_ROW_DONE);
    suspected->delivery.since_us = 1;
    suspected->delivery.not_before_us = tide_now_us() + PAUSE_US;
    tide_lanes_finish(lanes, &calls[0], TIDE_OUTCOME_OK, NULL, tide_now_us());
    tide_lanes_submit(lanes, full_call(fixture));
    g_assert_true(take_now(lanes, &calls[2]));
    tide_batch_set_row_state(suspected, 0, TIDE_ROW_DONE); /* by the time that it is taken */
    TideThread *thread = start_sleeper(&sleeper);
    let_sleep(lanes, round, 2);
    tide_lanes_finish(lanes, &calls[1], TIDE_OUTCOME_OK, NULL, tide_now_us());
    assert_woken(&sleeper, thread);
    tide_lanes_finish(lanes, &calls[2], TIDE_OUTCOME_OK, NULL, tide_now_us());
  }
}

static void
test_table_that_is_open_again_wakes_who_sleeps(Fixture *fixture, gconstpointer data)
{
  TideLanes *lanes = fixture->lanes;
  for (guint round = 0; round < 100; round++) {
    Sleeper sleeper = {.lanes = lanes};
    tide_lanes_block(lanes, &fixture->table, "it is being made", tide_now_us());
    tide_lanes_submit(lanes, full_call(fixture));
    TideThread *thread = start_sleeper(&sleeper);
    let_sleep(lanes, round, 0);
    tide_lanes_unblock(lanes, &fixture->table);
    assert_woken(&sleeper, thread);
  }
}

typedef struct StopSleeper {
  TideLanes *lanes;
  _Atomic gboolean has_begun;
  gint64 slept_us;
} StopSleeper;

static void
run_stop_sleeper(gpointer data)
{
  StopSleeper *sleeper = data;
  TideCall call;
  gint64 start_us = tide_now_us();
  atomic_store(&sleeper->has_begun, TRUE);
  g_assert_cmpint(tide_lanes_take(sleeper->lanes, 0, start_us + 20 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_STOPPED);
  sleeper->slept_us = tide_now_us() - start_us;
}

static void
test_stop_wakes_all(Fixture *fixture, gconstpointer data)
{
  StopSleeper sleepers[4];
  TideThread *threads[G_N_ELEMENTS(sleepers)];
  for (guint i = 0; i < G_N_ELEMENTS(sleepers); i++) {
    sleepers[i] = (StopSleeper){.lanes = fixture->lanes};
    threads[i] = tide_thread_start("sleeper", run_stop_sleeper, &sleepers[i]);
    while (!atomic_load(&sleepers[i].has_begun))
      g_thread_yield();
  }
  for (guint i = 0; i < 1000; i++) /* so that they are asleep */
    (void)tide_lanes_state(fixture->lanes);
  tide_lanes_stop(fixture->lanes);
  for (guint i = 0; i < G_N_ELEMENTS(sleepers); i++) {
    tide_thread_join(threads[i]);
    g_assert_cmpint(sleepers[i].slept_us, <, 20 * TIDE_US_PER_S);
  }
}

/* ---- many writers, lanes and consumers ---- */

#define CROWD_WRITERS 6u
#define CROWD_LANES 24u
#define CROWD_BATCHES 64u
#define CROWD_ROUNDS 60u

typedef struct Crowd {
  TideLanes *lanes;
  TideLane *all[CROWD_LANES];
  TideTable tables[3];
  TideCompletionQueue completions;
  _Atomic guint n_slept_through; /* waits that nobody ended */
} Crowd;

typedef struct CrowdWriter {
  Crowd *crowd;
  GRand *rand;
} CrowdWriter;

static TideOutcome
draw_outcome(GRand *rand)
{
  static const TideOutcome outcomes[] = {TIDE_OUTCOME_RETRY, TIDE_OUTCOME_UNKNOWN, TIDE_OUTCOME_NOT_SENT,
                                         TIDE_OUTCOME_SUSPEND, TIDE_OUTCOME_POISON};
  return g_rand_int_range(rand, 0, 4) > 0 ? TIDE_OUTCOME_OK
                                          : outcomes[g_rand_int_range(rand, 0, G_N_ELEMENTS(outcomes))];
}

static void
run_crowd_writer(gpointer data)
{
  CrowdWriter *writer = data;
  TideCall call;
  TideTake take;
  while ((take = tide_lanes_take(writer->crowd->lanes, 0, tide_now_us() + 20 * TIDE_US_PER_S, &call)) !=
         TIDE_TAKE_STOPPED) {
    if (take == TIDE_TAKE_NOTHING) {
      atomic_fetch_add(&writer->crowd->n_slept_through, 1);
      continue;
    }
    for (gint32 i = g_rand_int_range(writer->rand, 0, 8); i > 0; i--)
      g_thread_yield();
    tide_lanes_finish(writer->crowd->lanes, &call, draw_outcome(writer->rand), "no", tide_now_us());
  }
}

static guint
take_completed(Crowd *crowd)
{
  guint n = 0;
  gint64 give_up_us = tide_now_us() + 15 * TIDE_US_PER_S;
  TideBatch *first = tide_completion_queue_take(&crowd->completions, give_up_us);
  g_assert_nonnull(first); /* else a batch waits that no writer takes */
  for (TideBatch *next; first != NULL; first = next, n++) {
    next = first->next;
    tide_batch_free(first);
  }
  return n;
}

static void
submit_some(Crowd *crowd, GRand *rand, guint n)
{
  TideBatch *first = NULL;
  while (n-- > 0) {
    TideBatch *batch = tide_batch_new();
    batch->completions = &crowd->completions;
    batch->lane = tide_lane_ref(crowd->all[g_rand_int_range(rand, 0, CROWD_LANES)]);
    batch->n_rows = (guint32)g_rand_int_range(rand, 1, 12);
    batch->is_mutations = g_rand_int_range(rand, 0, 8) == 0;
    batch->next = first;
    first = batch;
  }
  tide_lanes_submit(crowd->lanes, first);
}

/* Calls fail in all ways, and lanes and tables wait and are probed: whatever is due finds a writer, for as long as
 * there is anything. */
static void
test_crowd_leaves_nothing_behind(void)
{
  Crowd crowd = {
      .tables = {{.name = (char *)"A"}, {.name = (char *)"B", .index = 1}, {.name = (char *)"C", .index = 2}}};
  TideLanesOptions options = {.n_tables = 3,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .max_probes = 2,
                              .retry_min_us = 100,
                              .retry_max_us = 2000};
  crowd.lanes = tide_lanes_new(&options);
  tide_completion_queue_init(&crowd.completions, NULL, NULL);
  for (guint i = 0; i < CROWD_LANES; i++)
    crowd.all[i] = tide_lanes_make_lane(crowd.lanes, &crowd.tables[i % 3], TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY);
  CrowdWriter writers[CROWD_WRITERS];
  TideThread *threads[CROWD_WRITERS];
  for (guint i = 0; i < CROWD_WRITERS; i++) {
    writers[i] = (CrowdWriter){.crowd = &crowd, .rand = g_rand_new_with_seed((guint32)g_test_rand_int())};
    threads[i] = tide_thread_start("writer", run_crowd_writer, &writers[i]);
  }
  g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
  for (guint round = 0; round < CROWD_ROUNDS; round++) {
    guint n_open = 0;
    for (guint n = CROWD_BATCHES; n > 0 || n_open > 0;) {
      guint n_drawn = (guint)g_rand_int_range(rand, 1, 6), n_now = MIN(n, n_drawn);
      if (n_now > 0)
        submit_some(&crowd, rand, n_now);
      n -= n_now;
      n_open += n_now;
      if (n == 0 || n_open > CROWD_BATCHES / 4)
        n_open -= take_completed(&crowd);
    }
    TideLanesState state = tide_lanes_state(crowd.lanes);
    g_assert_cmpuint(state.waiting_rows, ==, 0);
  }
  tide_lanes_stop(crowd.lanes);
  for (guint i = 0; i < CROWD_WRITERS; i++) {
    tide_thread_join(threads[i]);
    g_rand_free(writers[i].rand);
  }
  g_assert_cmpuint(crowd.n_slept_through, ==, 0);
  for (guint i = 0; i < CROWD_LANES; i++)
    tide_lane_unref(crowd.all[i]);
  tide_lanes_free(crowd.lanes);
  tide_completion_queue_clear(&crowd.completions);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/lane-wakes/" name, Fixture, NULL, set_up, function, tear_down)
  ADD("end-of-a-call", test_end_of_a_call_wakes_who_sleeps);
  ADD("who-takes-wakes-the-next", test_who_takes_wakes_the_next);
  ADD("end-that-suspends-a-table", test_end_that_suspends_a_table_wakes_who_sleeps);
  ADD("end-that-leaves-a-batch-waiting", test_end_that_leaves_a_batch_waiting_wakes_who_sleeps);
  ADD("open-again", test_table_that_is_open_again_wakes_who_sleeps);
  ADD("stop", test_stop_wakes_all);
#undef ADD
  g_test_add_func("/lane-wakes/crowd-leaves-nothing-behind", test_crowd_leaves_nothing_behind);
  return g_test_run();
}
