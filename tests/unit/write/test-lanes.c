/* The lanes: who gets which batch when. */
#include "unit/lanes_fixture.h"

static void
test_small_lanes_of_one_table_share_a_call(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", ""), *other = lane_of(fixture, 1, "", "");
  submit(fixture, a, 3, 100);
  submit(fixture, other, 1, 100);
  submit(fixture, b, 4, 100);
  submit(fixture, b, 4, 100); /* would make 11 rows: for the next call */
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpstr(call.table->name, ==, "A");
  g_assert_cmpuint(call.n_batches, ==, 2);
  g_assert_cmpuint(call.n_rows, ==, 7);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpstr(call.table->name, ==, "B"); /* tables take turns */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_false(take_now(fixture, &call));
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
  tide_lane_unref(b);
  tide_lane_unref(other);
}

/* A call may carry batches of several consumers: each has its own back, and knows when its lane last took rows. */
static void
test_consumers_of_one_call_have_their_own_back(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  TideCompletionQueue other;
  TideCall call;
  tide_completion_queue_init(&other, NULL, NULL);
  for (guint round = 0; round < 2; round++) {
    for (guint i = 0; i < 4; i++)
      submit(fixture, lane, 1, 100);
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpuint(call.n_batches, ==, 4);
    for (guint i = 0; i < 4; i++)
      g_assert_cmpint(call.batches[i]->delivery.lane_ok_us, ==, round == 0 ? 0 : 4711);
    call.batches[1]->completions = call.batches[2]->completions = &other;
    const TideBatch *middle[] = {call.batches[1], call.batches[2]};
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, 4711);
    TideBatch *first = tide_completion_queue_take(&other, 0);
    g_assert_true(first == middle[0] && first->next == middle[1] && first->next->next == NULL);
    tide_batch_free(first->next);
    tide_batch_free(first);
    g_assert_cmpuint(count_completed(fixture), ==, 2);
  }
  tide_completion_queue_clear(&other);
  tide_lane_unref(lane);
}

/* Its rows are calls of their own, or some of them will be; what is joined to it would only wait for them. */
static void
check_goes_alone(Fixture *fixture, BatchKind kind)
{
  TideLane *a = lane_of(fixture, 0, "", "g"), *b = lane_of(fixture, 0, "g", "m"), *c = lane_of(fixture, 0, "m", "");
  submit(fixture, a, 1, 100);
  submit_batch(fixture, b, 1, 100, kind);
  submit(fixture, b, 1, 100);
  submit(fixture, c, 1, 100);
  TideCall calls[3];
  static const guint32 n_batches[] = {2, 1, 1}; /* of a and c, then of b one by one */
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
    g_assert_true(take_now(fixture, &calls[i]));
    g_assert_cmpuint(calls[i].n_batches, ==, n_batches[i]);
    const TideBatch *first = calls[i].batches[0];
    g_assert_cmpint(first->is_mutations || first->is_solo || first->delivery.piece_rows > 0 ||
                        first->delivery.states.len > 0,
                    ==, i == 1);
  }
  g_assert_false(take_now(fixture, &(TideCall){0}));
  tide_batch_set_row_state(calls[1].batches[0], 0, TIDE_ROW_DONE);
  for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
    tide_lanes_finish(fixture->lanes, &calls[i], TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 4);
  tide_lane_unref(a);
  tide_lane_unref(b);
  tide_lane_unref(c);
}

static void
test_batch_of_mutations_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_OF_MUTATIONS);
}

static void
test_batch_of_unmerged_rows_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_OF_UNMERGED);
}

/* What is joined to it would share its fate. */
static void
test_batch_in_pieces_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_IN_PIECES);
}

static void
test_batch_with_a_suspect_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_WITH_A_SUSPECT);
}

static void
test_lane_has_a_cap_of_calls(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  TideCall calls[3];
  for (guint i = 0; i < 3; i++)
    submit(fixture, lane, 10, 500);
  g_assert_true(take_now(fixture, &calls[0]));
  g_assert_true(take_now(fixture, &calls[1]));
  g_assert_false(take_now(fixture, &calls[2]));
  tide_lanes_finish(fixture->lanes, &calls[0], TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &calls[2]));
  tide_lanes_finish(fixture->lanes, &calls[1], TIDE_OUTCOME_OK, NULL, tide_now_us());
  tide_lanes_finish(fixture->lanes, &calls[2], TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(lane);
}

/* Its rows wait, the other table's go, and the trouble is one, however many lanes it has. */
static void
test_blocked_table_waits_and_is_one_trouble(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", ""), *other = lane_of(fixture, 1, "", "");
  tide_lanes_block(fixture->lanes, &fixture->tables[0], "not created yet", 1000);
  submit(fixture, a, 3, 100);
  submit(fixture, b, 4, 100);
  submit(fixture, other, 1, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpstr(call.table->name, ==, "B");
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_false(take_now(fixture, &call));

  tide_lanes_block(fixture->lanes, &fixture->tables[0], "no permission", 2000);
  g_autoptr(GPtrArray) early = tide_lanes_failing(fixture->lanes, 999);
  g_assert_cmpuint(early->len, ==, 0);
  g_autoptr(GPtrArray) troubles = tide_lanes_failing(fixture->lanes, 1000);
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneFailure *trouble = g_ptr_array_index(troubles, 0);
  g_assert_cmpstr(trouble->table->name, ==, "A");
  g_assert_cmpstr(trouble->error_text, ==, "no permission");
  g_assert_cmpint(trouble->since_us, ==, 1000);
  g_assert_cmpuint(trouble->failures, ==, 2);
  g_assert_cmpuint(trouble->waiting_rows, ==, 7);

  tide_lanes_unblock(fixture->lanes, &fixture->tables[0]);
  g_autoptr(GPtrArray) none = tide_lanes_failing(fixture->lanes, G_MAXINT64);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, 7);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(a);
  tide_lane_unref(b);
  tide_lane_unref(other);
}

/* Nothing is told of a table of an old day, and its turn is others'; with its next row it is there again. */
static void
test_closed_table_is_forgotten(Fixture *fixture, gconstpointer data)
{
  TideLane *lanes[] = {lane_of(fixture, 0, "", ""), lane_of(fixture, 1, "", "")};
  for (guint round = 0; round < 3; round++) {
    TideCall call;
    for (guint i = 0; i < G_N_ELEMENTS(lanes); i++)
      submit(fixture, lanes[i], 1, 100);
    for (guint i = 0; i < G_N_ELEMENTS(lanes); i++) {
      g_assert_true(take_now(fixture, &call));
      tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
    }
    g_assert_cmpuint(count_completed(fixture), ==, 2);
    for (guint closed = 0; closed < 2 && round < 2; closed++) {
      tide_lanes_close(fixture->lanes, &fixture->tables[closed == round]);
      tide_lanes_close(fixture->lanes, &fixture->tables[closed == round]); /* has had no rows since */
      g_autoptr(GArray) left = tide_lanes_tables(fixture->lanes, tide_now_us());
      g_assert_cmpuint(left->len, ==, 1 - closed);
      for (guint i = 0; i < left->len; i++)
        g_assert_true(g_array_index(left, TideLoad, i).table == &fixture->tables[closed != round]);
    }
  }
  g_autoptr(GArray) all = tide_lanes_tables(fixture->lanes, tide_now_us());
  g_assert_cmpuint(all->len, ==, 2);
  tide_lane_unref(lanes[0]);
  tide_lane_unref(lanes[1]);
}

static void
assert_takes(Fixture *fixture, guint32 n_rows)
{
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, n_rows);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
}

/* As by a reload: of the calls that are taken then, and a lane that is well is not narrow by them. */
static void
test_limits_of_calls_change(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  for (guint i = 0; i < 60; i++)
    submit(fixture, lane, 1, 10);
  assert_takes(fixture, 10);
  tide_lanes_set_call_limits(fixture->lanes, 3, 1000);
  assert_takes(fixture, 3);
  tide_lanes_set_call_limits(fixture->lanes, 100, 200);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).narrowed_lanes, ==, 0);
  assert_takes(fixture, 20);
  tide_lanes_set_call_limits(fixture->lanes, 100, 1000);
  assert_takes(fixture, 27);
  g_assert_cmpuint(count_completed(fixture), ==, 60);
  tide_lane_unref(lane);
}

/* A batch of as many rows as take a quarter of an hour at a row a second. */
#define LONG_ROWS 900

static void
test_rate_of_all_tables_holds_calls_back(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", ""), *b = lane_of(fixture, 1, "", "");
  tide_lanes_set_rows_per_second(fixture->lanes, 1);
  submit(fixture, a, LONG_ROWS, 10);
  submit(fixture, a, 1, 10);
  submit(fixture, b, 1, 10);
  g_assert_false(tide_lanes_state(fixture->lanes).is_paced);
  assert_takes(fixture, LONG_ROWS); /* a call is never cut */
  g_assert_false(take_now(fixture, &(TideCall){0}));
  g_assert_true(tide_lanes_state(fixture->lanes).is_paced);
  tide_lanes_set_rows_per_second(fixture->lanes, 0); /* as by a reload: what was due is no longer */
  assert_takes(fixture, 1);
  assert_takes(fixture, 1);
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* Dated tables share the rate and the pause of their declaration. */
static void
test_rate_of_a_table_is_its_own(Fixture *fixture, gconstpointer data)
{
  fixture->tables[1].declared = &fixture->tables[0];
  TideLane *a = lane_of(fixture, 0, "", ""), *b = lane_of(fixture, 1, "", "");
  fixture->tables[0].rows_per_second = 1;
  submit(fixture, a, LONG_ROWS, 10);
  assert_takes(fixture, LONG_ROWS);
  submit(fixture, b, 1, 10);
  g_assert_false(take_now(fixture, &(TideCall){0}));
  g_autoptr(GArray) tables = tide_lanes_tables(fixture->lanes, tide_now_us());
  g_assert_true(g_array_index(tables, TideLoad, 0).is_paced || g_array_index(tables, TideLoad, 1).is_paced);
  fixture->tables[0].rows_per_second = 0;
  fixture->tables[1].declared = NULL;
  assert_takes(fixture, 1);
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* The rate of one table, or of all together. */
static void
set_rate(Fixture *fixture, gboolean of_table, guint32 rate)
{
  fixture->tables[0].rows_per_second = of_table ? rate : 0;
  tide_lanes_set_rows_per_second(fixture->lanes, of_table ? 0 : rate);
}

/* What was sent at the old rate is no debt at the new one: a quarter of an hour at a row a second is a millisecond. */
static void
test_raised_rate_holds_at_once(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "");
  for (gboolean of_table = FALSE; of_table <= TRUE; of_table++) {
    set_rate(fixture, of_table, 1);
    submit(fixture, a, LONG_ROWS, 10);
    assert_takes(fixture, LONG_ROWS);
    submit(fixture, a, 1, 10);
    g_assert_false(take_now(fixture, &(TideCall){0}));
    set_rate(fixture, of_table, 1000000);
    TideCall call;
    g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  }
  g_assert_cmpuint(count_completed(fixture), ==, 4);
  tide_lane_unref(a);
}

static void
test_paused_table_is_not_sent(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", ""), *b = lane_of(fixture, 1, "", "");
  submit(fixture, a, 1, 10);
  submit(fixture, b, 2, 10);
  tide_lanes_set_paused(fixture->lanes, &fixture->tables[0], TRUE);
  assert_takes(fixture, 2);
  g_assert_false(take_now(fixture, &(TideCall){0}));
  tide_lanes_set_paused(fixture->lanes, &fixture->tables[0], FALSE);
  tide_lanes_set_paused(fixture->lanes, NULL, TRUE);
  g_assert_false(take_now(fixture, &(TideCall){0}));
  tide_lanes_set_paused(fixture->lanes, NULL, FALSE);
  assert_takes(fixture, 1);
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

typedef struct Race {
  Fixture *fixture;
  _Atomic guint n_taken;
} Race;

static void
run_taker(gpointer data)
{
  Race *race = data;
  TideCall call;
  guint n = 0;
  while (tide_lanes_take(race->fixture->lanes, 0, tide_now_us() + 20 * TIDE_US_PER_MS, &call) != TIDE_TAKE_STOPPED) {
    if (call.n_batches == 0)
      continue;
    /* Every third call fails in one way or another. */
    TideOutcome outcome = n % 6 == 2 ? TIDE_OUTCOME_RETRY : n % 6 == 5 ? TIDE_OUTCOME_UNKNOWN : TIDE_OUTCOME_OK;
    n++;
    if (outcome == TIDE_OUTCOME_OK)
      atomic_fetch_add(&race->n_taken, call.n_batches);
    tide_lanes_finish(race->fixture->lanes, &call, outcome, "as scripted", tide_now_us());
  }
}

static void
test_many_writers_bring_every_batch_back_once(Fixture *fixture, gconstpointer data)
{
  Race race = {.fixture = fixture};
  TideThread *takers[4];
  for (guint i = 0; i < G_N_ELEMENTS(takers); i++)
    takers[i] = tide_thread_start("taker", run_taker, &race);
  TideLane *lanes[8];
  for (guint i = 0; i < G_N_ELEMENTS(lanes); i++) {
    char start[4];
    g_snprintf(start, sizeof start, "%u", i);
    lanes[i] = lane_of(fixture, i % 2, start, "");
  }
  const guint n_batches = 400;
  for (guint i = 0; i < n_batches; i++)
    submit(fixture, lanes[i % G_N_ELEMENTS(lanes)], 1 + i % 5, 50);
  guint n_completed = 0;
  gint64 deadline_us = tide_now_us() + 60 * TIDE_US_PER_S;
  while (n_completed < n_batches && tide_now_us() < deadline_us)
    for (TideBatch *batch = tide_completion_queue_take(&fixture->completions, deadline_us), *next; batch != NULL;
         batch = next, n_completed++) {
      next = batch->next;
      tide_batch_free(batch);
    }
  tide_lanes_stop(fixture->lanes);
  for (guint i = 0; i < G_N_ELEMENTS(takers); i++)
    tide_thread_join(takers[i]);
  g_assert_cmpuint(n_completed, ==, n_batches);
  g_assert_cmpuint(atomic_load(&race.n_taken), ==, n_batches);
  TideLanesState state = tide_lanes_state(fixture->lanes);
  g_assert_cmpuint(state.waiting_rows, ==, 0);
  g_assert_cmpuint(state.in_flight_calls, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(lanes); i++)
    tide_lane_unref(lanes[i]);
}

/* What waits for long is what an alert asks for, whatever comes after it, in its lane or another. */
static void
test_oldest_row_tells_how_long_rows_wait(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", ""), *b = lane_of(fixture, 1, "", "");
  g_assert_cmpint(tide_lanes_state(fixture->lanes).oldest_us, ==, 0);
  static const gint64 mapped_us[] = {3000, 1000, 2000};
  TideLane *lanes[] = {a, a, b};
  for (guint i = 0; i < G_N_ELEMENTS(mapped_us); i++)
    submit_aged(fixture, lanes[i], 1, 100, BATCH_OF_PUTS, mapped_us[i]);
  g_assert_cmpint(tide_lanes_state(fixture->lanes).oldest_us, ==, 1000);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).waiting_rows, ==, 3);
  TideCall call;
  while (take_now(fixture, &call))
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  g_assert_cmpint(tide_lanes_state(fixture->lanes).oldest_us, ==, 0);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).waiting_rows, ==, 0);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).in_flight_rows, ==, 0);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

static void
count_wake(gpointer data)
{
  ++*(guint *)data;
}

/* The first batch of an empty queue wakes the consumer, which takes those behind it, too. */
static void
test_first_completion_wakes(Fixture *fixture, gconstpointer data)
{
  TideCompletionQueue completions;
  guint n_wakes = 0;
  tide_completion_queue_init(&completions, count_wake, &n_wakes);
  for (guint round = 1; round <= 2; round++) {
    tide_completion_queue_push(&completions, tide_batch_new());
    g_assert_cmpuint(n_wakes, ==, round);
    tide_completion_queue_push(&completions, tide_batch_new());
    g_assert_cmpuint(n_wakes, ==, round);
    TideBatch *first = tide_completion_queue_take(&completions, 0);
    tide_batch_free(first->next);
    tide_batch_free(first);
  }
  tide_completion_queue_clear(&completions);
}

#define ADD(path, func) g_test_add(path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/lanes/small-lanes-of-one-table-share-a-call", test_small_lanes_of_one_table_share_a_call);
  ADD("/lanes/consumers-of-one-call-have-their-own-back", test_consumers_of_one_call_have_their_own_back);
  ADD("/lanes/batch-of-mutations-goes-alone", test_batch_of_mutations_goes_alone);
  ADD("/lanes/batch-of-unmerged-rows-goes-alone", test_batch_of_unmerged_rows_goes_alone);
  ADD("/lanes/batch-in-pieces-goes-alone", test_batch_in_pieces_goes_alone);
  ADD("/lanes/batch-with-a-suspect-goes-alone", test_batch_with_a_suspect_goes_alone);
  ADD("/lanes/B6-lane-has-a-cap-of-calls", test_lane_has_a_cap_of_calls);
  ADD("/lanes/blocked-table-waits-and-is-one-trouble", test_blocked_table_waits_and_is_one_trouble);
  ADD("/lanes/closed-table-is-forgotten", test_closed_table_is_forgotten);
  ADD("/lanes/limits-of-calls-change", test_limits_of_calls_change);
  ADD("/lanes/rate-of-all-tables-holds-calls-back", test_rate_of_all_tables_holds_calls_back);
  ADD("/lanes/rate-of-a-table-is-its-own", test_rate_of_a_table_is_its_own);
  ADD("/lanes/raised-rate-holds-at-once", test_raised_rate_holds_at_once);
  ADD("/lanes/paused-table-is-not-sent", test_paused_table_is_not_sent);
  ADD("/lanes/oldest-row-tells-how-long-rows-wait", test_oldest_row_tells_how_long_rows_wait);
  ADD("/lanes/first-completion-wakes", test_first_completion_wakes);
  ADD("/lanes/many-writers-bring-every-batch-back-once", test_many_writers_bring_every_batch_back_once);
  return g_test_run();
}
