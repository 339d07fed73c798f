/* What a call that failed, or said nothing, does to its lanes, to their table and to the others. */
#include "unit/lanes_fixture.h"
#include "util/units.h"

static void
test_failed_lane_waits_alone_and_the_others_go_on(Fixture *fixture, gconstpointer data)
{
  TideLane *bad = lane_of(fixture, 0, "", "m"), *good = lane_of(fixture, 0, "m", "");
  submit(fixture, bad, 1, 100);
  submit(fixture, bad, 2, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_batches, ==, 2);
  gint64 failed_us = tide_now_us();
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "region is moving", failed_us);
  g_assert_cmpuint(count_completed(fixture), ==, 0);
  submit(fixture, good, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->lane == good);
  g_assert_cmpuint(call.n_batches, ==, 1);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());

  g_autoptr(GPtrArray) troubles = tide_lanes_failing(fixture->lanes, failed_us);
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneFailure *trouble = g_ptr_array_index(troubles, 0);
  g_assert_cmpstr(trouble->error_text, ==, "region is moving");
  g_assert_cmpstr(trouble->first_row_key, ==, "kkk");
  g_assert_cmpuint(trouble->waiting_rows, ==, 3);

  /* After the wait: the first batch alone, in the old order, the same bytes. */
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_now_us() - failed_us, >=, 25 * TIDE_US_PER_MS);
  g_assert_cmpuint(call.n_batches, ==, 1);
  g_assert_cmpuint(call.n_rows, ==, 1);
  g_assert_cmpuint(call.batches[0]->delivery.attempts, ==, 1);
  TideCall second;
  g_assert_false(take_now(fixture, &second)); /* one call at a time while in trouble */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &second));
  tide_lanes_finish(fixture->lanes, &second, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_autoptr(GPtrArray) none = tide_lanes_failing(fixture->lanes, tide_now_us());
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(bad);
  tide_lane_unref(good);
}

static void
test_call_that_is_not_sent_makes_no_lane_wait(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 1, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_NOT_SENT, "refused", tide_now_us());
  g_assert_true(take_now(fixture, &call)); /* nothing was sent: the lane has no further wait */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(lane);
}

static double
written_a_second(Fixture *fixture, gint64 now_us)
{
  double rows_per_second = -1;
  g_autoptr(GArray) tables = tide_lanes_tables(fixture->lanes, now_us);
  if (tables->len > 0)
    rows_per_second = g_array_index(tables, TideLoad, 0).rows_per_second;
  return rows_per_second;
}

/* What status calls a table's rows a second is what HBase acknowledged. */
static void
test_refused_rows_are_not_written(Fixture *fixture, gconstpointer data)
{
  static const TideOutcome failures[] = {TIDE_OUTCOME_NOT_SENT, TIDE_OUTCOME_RETRY, TIDE_OUTCOME_UNKNOWN};
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 5, 100);
  TideCall call;
  for (guint i = 0; i < G_N_ELEMENTS(failures); i++) {
    g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
    gint64 now_us = tide_now_us();
    tide_lanes_finish(fixture->lanes, &call, failures[i], "refused", now_us);
    g_assert_cmpfloat(written_a_second(fixture, now_us), ==, 0);
  }
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
  gint64 now_us = tide_now_us();
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, now_us);
  g_assert_cmpfloat(written_a_second(fixture, now_us), >, 0);
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(lane);
}

/* ---- how trouble is kept small ---- */

/* A lane that works may have two calls of ten rows; each failure halves what it may have, each success gives back an
 * eighth of a call. */
static void
test_window_halves_and_widens_by_steps(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  for (guint i = 0; i < 12; i++)
    submit(fixture, lane, 1, 10);
  TideCall call;
  static const guint32 n_wanted[] = {10, 1, 1, 20 / 2 / 2 + 2}; /* a full call; alone twice; the window */
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, n_wanted[0]);
  gint64 now_us = tide_now_us();
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "busy", now_us);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, now_us + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(call.n_rows, ==, n_wanted[1]);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "timed out", tide_now_us());
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).narrowed_lanes, ==, 1);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(call.n_rows, ==, n_wanted[2]);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, n_wanted[3]);
  TideCall second;
  g_assert_false(take_now(fixture, &second)); /* the window is full, though a second call were allowed */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, 4);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 12);
  tide_lane_unref(lane);
}

/* A batch is never split by the lanes: the smallest window lets one through. */
static void
test_batch_larger_than_the_window_goes_all_the_same(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 10, 100);
  TideCall call;
  for (guint i = 0; i < 5; i++) {
    g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
    g_assert_cmpuint(call.n_rows, ==, 10);
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "busy", tide_now_us());
  }
  tide_lane_unref(lane);
}

#define N_DEAD 6

/* Of any number of regions in trouble only so many are tried at a time, and the others' rows find a writer. */
static void
test_dead_regions_do_not_take_all_writers(Fixture *fixture, gconstpointer data)
{
  TideLane *dead[N_DEAD], *good = lane_of(fixture, 1, "", "");
  TideCall calls[N_DEAD];
  for (guint i = 0; i < N_DEAD; i++) {
    g_autofree char *start = g_strdup_printf("%u", i);
    dead[i] = lane_of(fixture, 0, start, "");
    submit(fixture, dead[i], 10, 100); /* a call each */
    g_assert_true(take_now(fixture, &calls[i]));
  }
  for (guint i = 0; i < N_DEAD; i++)
    tide_lanes_finish(fixture->lanes, &calls[i], TIDE_OUTCOME_UNKNOWN, "timed out", tide_now_us());
  gint64 all_waited_us = tide_now_us() + 60 * TIDE_US_PER_MS;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, all_waited_us, &calls[0]), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, all_waited_us, &calls[1]), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, all_waited_us, &calls[2]), ==, TIDE_TAKE_NOTHING);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).in_flight_probes, ==, 2);
  submit(fixture, good, 1, 100);
  g_assert_true(take_now(fixture, &calls[2]));
  g_assert_true(calls[2].batches[0]->lane == good);
  tide_lanes_finish(fixture->lanes, &calls[0], TIDE_OUTCOME_UNKNOWN, "timed out", tide_now_us());
  g_assert_true(take_now(fixture, &calls[3])); /* one of the others' turn */
  g_assert_true(calls[3].batches[0]->lane != calls[1].batches[0]->lane);
  for (guint i = 1; i <= 3; i++)
    tide_lanes_finish(fixture->lanes, &calls[i], TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  for (guint i = 0; i < N_DEAD; i++)
    tide_lane_unref(dead[i]);
  tide_lane_unref(good);
}

/* ---- tables that take no rows ---- */

/* Of each lane of the first table that is told of. */
static void
assert_failures(Fixture *fixture, gint64 failures)
{
  g_autoptr(GArray) loads = tide_lanes_regions(fixture->lanes, 16, tide_now_us());
  guint n = 0;
  for (guint i = 0; i < loads->len; i++) {
    const TideLoad *load = &g_array_index(loads, TideLoad, i);
    if (load->table->index != 0)
      continue;
    g_assert_cmpint(load->failures, ==, failures);
    n++;
  }
  g_assert_cmpuint(n, >, 0);
}

static void
test_suspended_table_is_probed_by_what_failed_and_goes_on(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", ""), *other = lane_of(fixture, 1, "", "");
  submit(fixture, a, 10, 100);
  submit(fixture, b, 10, 100);
  TideCall call, second;
  g_assert_true(take_now(fixture, &call));
  g_assert_true(take_now(fixture, &second)); /* on its way already when the first comes back */
  gint64 now_us = tide_now_us();
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_SUSPEND, "A is disabled; enable it", now_us);
  tide_lanes_finish(fixture->lanes, &second, TIDE_OUTCOME_SUSPEND, "A is disabled; enable it", now_us);
  submit(fixture, other, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->lane == other);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_false(take_now(fixture, &call));

  g_autoptr(GPtrArray) troubles = tide_lanes_failing(fixture->lanes, 0); /* told at once */
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneFailure *trouble = g_ptr_array_index(troubles, 0);
  g_assert_true(trouble->is_suspended);
  g_assert_cmpstr(trouble->error_text, ==, "A is disabled; enable it");
  g_assert_cmpuint(trouble->waiting_rows, ==, 20);
  g_assert_cmpint(trouble->since_us, ==, now_us);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 1);
  assert_failures(fixture, -1);

  for (guint i = 0; i < 3; i++) {
    static const TideOutcome outcomes[] = {TIDE_OUTCOME_SUSPEND, TIDE_OUTCOME_RETRY, TIDE_OUTCOME_OK};
    g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
    g_assert_true(call.batches[0]->lane == a);
    g_assert_false(take_now(fixture, &second)); /* one probe at a time */
    tide_lanes_finish(fixture->lanes, &call, outcomes[i], i < 2 ? "not yet" : NULL, tide_now_us());
  }
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 0);
  assert_failures(fixture, 0);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->lane == b);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(a);
  tide_lane_unref(b);
  tide_lane_unref(other);
}

/* The others of its region go first: they are to show whether that works. */
static void
test_batch_with_a_suspect_goes_behind_the_others(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "");
  submit(fixture, a, 10, 100);
  submit(fixture, a, 10, 200);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  const TideBatch *suspected = call.batches[0];
  leave_suspect(call.batches[0], 1, 1, tide_now_us());
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0] != suspected);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0] == suspected);
  tide_batch_set_row_state(call.batches[0], 0, TIDE_ROW_DONE);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
}

/* A suspect's round counts while others of its lane are acknowledged: no other end of a call counts as that. */
static void
test_last_success_is_one(Fixture *fixture, gconstpointer data)
{
  static const TideOutcome outcomes[] = {TIDE_OUTCOME_RETRY, TIDE_OUTCOME_UNKNOWN, TIDE_OUTCOME_POISON,
                                         TIDE_OUTCOME_NOT_SENT, TIDE_OUTCOME_OK};
  TideLane *a = lane_of(fixture, 0, "", "");
  gint64 past_us = tide_now_us() - TIDE_US_PER_S;
  submit(fixture, a, 1, 100);
  TideCall call;
  for (guint i = 0; i < G_N_ELEMENTS(outcomes); i++) {
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpint(call.batches[0]->delivery.lane_ok_us, ==, 0);
    tide_lanes_finish(fixture->lanes, &call, outcomes[i], outcomes[i] == TIDE_OUTCOME_OK ? NULL : "no", past_us);
  }
  submit(fixture, a, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpint(call.batches[0]->delivery.lane_ok_us, ==, past_us);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
}

/* What shows that a region works does so no more once three rows are refused behind it, until one is accepted again; at
 * the end of all that comes three of the whole table do. Those that are poison by then are not among them. */
static void
test_refusals_in_a_row_show_that_all_is_refused(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", "");
  gint64 past_us = tide_now_us() - TIDE_US_PER_S, in_an_hour_us = past_us + 3600 * TIDE_US_PER_S;
  TideLane *const lanes[] = {a, b, b, a, b, b};
  static const gint32 n_more[] = {0, 0, 1, 1, -1, 2};
  static const gboolean a_works[] = {TRUE, TRUE, TRUE, TRUE, TRUE, TRUE};
  static const gboolean b_works[] = {FALSE, TRUE, TRUE, TRUE, TRUE, TRUE};
  TideCall call;
  for (guint i = 0; i < G_N_ELEMENTS(lanes); i++) {
    submit(fixture, lanes[i], 1, 100);
    g_assert_true(take_now(fixture, &call));
    if (n_more[i] != 0)
      leave_suspect(call.batches[0], 1, past_us, in_an_hour_us);
    call.batches[0]->delivery.n_more = n_more[i];
    call.is_answered = TRUE;
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, past_us);
    g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, a), ==, a_works[i] ? past_us : 0);
    g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, b), ==, b_works[i] ? past_us : 0);
  }
  tide_lanes_set_final(fixture->lanes, TRUE);
  g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, a), ==, 0);
  submit(fixture, b, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->delivery.is_final);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, past_us);
  g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, a), ==, past_us);
  tide_lanes_set_final(fixture->lanes, FALSE);
  for (gint32 n = 1; n <= 3; n++) {
    submit(fixture, b, 1, 100);
    g_assert_true(take_now(fixture, &call));
    leave_suspect(call.batches[0], 1, past_us, in_an_hour_us);
    call.batches[0]->delivery.n_more = 1;
    call.is_answered = TRUE;
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, past_us);
    g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, b), ==, n < 3 ? past_us : 0);
  }
  g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, a), ==, past_us);
  submit(fixture, a, 1, 100); /* nor does it while calls fail, until one is answered, if only by a refusal */
  for (guint i = 0; i < 3; i++) {
    g_assert_true(take_now(fixture, &call));
    call.is_answered = i == 2;
    if (i > 0)
      leave_suspect(call.batches[0], 1, past_us, past_us);
    call.batches[0]->delivery.has_failed = i == 1;
    tide_lanes_finish(fixture->lanes, &call, i < 2 ? TIDE_OUTCOME_RETRY : TIDE_OUTCOME_OK, i < 2 ? "no" : NULL,
                      past_us);
    g_assert_cmpint(tide_lanes_worked_us(fixture->lanes, a), ==, i < 2 ? 0 : past_us);
  }
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* A table that answers is not suspended any more, though the only row that waits for it is refused. */
static void
test_refused_row_ends_a_suspension(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  TideCall call;
  submit(fixture, lane, 1, 100);
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
    leave_suspect(call.batches[0], i + 1, 1, 0);
    call.is_answered = i == 2;
    tide_lanes_finish(fixture->lanes, &call, i == 0 ? TIDE_OUTCOME_SUSPEND : TIDE_OUTCOME_OK, i == 0 ? "no" : NULL,
                      tide_now_us());
    g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, i < 2 ? 1 : 0);
  }
  tide_lane_unref(lane);
}

/* Calls that were on their way when the table came to be suspended say it again: the wait is that of the first. */
static void
test_late_refusals_of_a_suspended_table_lengthen_no_wait(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", "");
  submit(fixture, a, 10, 100);
  submit(fixture, b, 10, 100);
  TideCall call, second;
  g_assert_true(take_now(fixture, &call));
  g_assert_true(take_now(fixture, &second));
  gint64 now_us = tide_now_us();
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_SUSPEND, "A is disabled", now_us - TIDE_US_PER_S);
  tide_lanes_finish(fixture->lanes, &second, TIDE_OUTCOME_SUSPEND, "A is disabled", now_us + TIDE_US_PER_S);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->lane == a);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* Instead of those of set_up(). */
static void
use_lanes(Fixture *fixture, guint32 max_in_flight_per_region, gint64 retry_min_us, gint64 retry_max_us)
{
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = max_in_flight_per_region,
                              .retry_min_us = retry_min_us,
                              .retry_max_us = retry_max_us};
  tide_lanes_free(fixture->lanes);
  fixture->lanes = tide_lanes_new(&options);
}

/* With all other rows of their batches written, rows that are refused alone wait for their time, and everything that
 * comes later goes meanwhile. The lane is well. */
static void
test_suspects_keep_nobody_waiting(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  gint64 in_an_hour_us = tide_now_us() + 3600 * TIDE_US_PER_S;
  TideCall call;
  for (guint i = 0; i < 2; i++) {
    submit(fixture, lane, 10, 100);
    g_assert_true(take_now(fixture, &call));
    leave_suspect(call.batches[0], 1, 1, in_an_hour_us - i);
    static const TideOutcome outcomes[] = {TIDE_OUTCOME_OK, TIDE_OUTCOME_UNKNOWN};
    tide_lanes_finish(fixture->lanes, &call, outcomes[i], i > 0 ? "no answer" : NULL, tide_now_us());
  }
  for (guint turn = 0; turn < 3; turn++) {
    g_assert_false(take_now(fixture, &call));
    submit(fixture, lane, 10, 100);
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpuint(call.batches[0]->delivery.states.len, ==, 0);
    g_assert_false(call.is_probe);
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  }
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).waiting_rows, ==, 20);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 0);
  /* Unless nothing of a batch was accepted: then it is a probe of its lane from then on. */
  submit(fixture, lane, 10, 100);
  g_assert_true(take_now(fixture, &call));
  leave_suspect(call.batches[0], 1, 1, tide_now_us());
  call.batches[0]->delivery.has_failed = TRUE;
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "no answer", tide_now_us() - TIDE_US_PER_S);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 1);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.is_probe);
  tide_batch_set_row_state(call.batches[0], 0, TIDE_ROW_DONE);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  tide_lane_unref(lane);
}

/* Once its time has come it is a batch like any other: what comes later is behind it. A writer with nothing else to do
 * wakes for it. */
static void
test_batch_with_a_suspect_has_its_turn(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 10, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  const TideBatch *batch = call.batches[0];
  gint64 due_us = tide_now_us() + 20 * TIDE_US_PER_MS;
  leave_suspect(call.batches[0], 1, 1, due_us);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  gint64 deadline_us = tide_now_us() + 100 * TIDE_US_PER_S;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, deadline_us, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_now_us(), <, deadline_us);
  g_assert_cmpint(tide_now_us(), >=, due_us);
  g_assert_true(call.batches[0] == batch);
  leave_suspect(call.batches[0], 2, 1, tide_now_us());
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  submit(fixture, lane, 10, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0] == batch);
  tide_batch_set_row_state(call.batches[0], 0, TIDE_ROW_POISON);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(lane);
}

/* What of a call is done completes, whatever ends the call for others, and only these wait. */
static void
test_batches_that_are_done_complete(Fixture *fixture, gconstpointer data)
{
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", "");
  submit(fixture, a, 2, 100);
  submit(fixture, b, 2, 100);
  submit(fixture, b, 2, 200);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_batches, ==, 3);
  for (guint32 row = 0; row < 2; row++)
    tide_batch_set_row_state(call.batches[0], row, row == 0 ? TIDE_ROW_DONE : TIDE_ROW_POISON);
  call.batches[0]->delivery.is_acknowledged = call.batches[1]->delivery.is_acknowledged = TRUE; /* the second whole */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "no answer", tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).waiting_rows, ==, 2);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 1);
  submit(fixture, a, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0]->lane == a);
  g_assert_cmpuint(call.n_batches, ==, 1);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* ---- rows for each call ---- */

/* A call of @n_rows of @lane ends as @taken, @silent and @oversized rows say. Returns: the table's rows for a call. */
static guint32
end_call(Fixture *fixture, TideLane *lane, const guint32 ended[3], gint64 now_us)
{
  TideCall call;
  submit(fixture, lane, 1, 10);
  g_assert_true(take_now(fixture, &call));
  call.taken_rows = ended[0];
  call.silent_rows = ended[1];
  call.oversized_rows = ended[2];
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, now_us);
  g_autoptr(GArray) tables = tide_lanes_tables(fixture->lanes, now_us);
  g_assert_cmpint(g_array_index(tables, TideLoad, 0).rows_per_call, ==, call.rows_after);
  return call.rows_after;
}

typedef struct SizeCase {
  const char *name;
  guint32 ended[6][3]; /* calls: the most rows that were taken, those without an answer, the fewest refused for size */
  guint32 wanted;      /* of 10 */
} SizeCase;

static const SizeCase size_cases[] = {
    {"all-is-well", {{10, 0, 0}, {10, 0, 0}}, 10},
    {"refused-for-its-size", {{5, 0, 10}}, 5},
    {"refused-for-its-size-again", {{2, 0, 4}}, 2},
    {"K7-large-calls-are-silent-and-small-ones-are-not", {{0, 10, 0}, {0, 10, 0}, {5, 0, 0}, {0, 10, 0}}, 5},
    {"silent-once", {{0, 10, 0}, {5, 0, 0}, {10, 0, 0}}, 10},
    {"outage", {{0, 10, 0}, {0, 10, 0}, {0, 5, 0}, {0, 5, 0}, {2, 0, 0}, {10, 0, 0}}, 10},
    {"silent-now-and-then", {{0, 10, 0}, {10, 0, 0}, {0, 10, 0}, {5, 0, 0}, {10, 0, 0}, {0, 10, 0}}, 10},
    {"row-without-an-answer-in-the-second-half", {{0, 10, 0}, {0, 10, 0}, {5, 5, 0}, {0, 5, 0}, {2, 2, 0}}, 10},
    {"row-without-an-answer-alone", {{0, 10, 0}, {5, 0, 0}, {9, 0, 0}, {1, 0, 0}, {10, 0, 0}}, 10},
};

static void
test_size_case(Fixture *fixture, gconstpointer data)
{
  const SizeCase *at = data;
  TideLane *lane = lane_of(fixture, 0, "", "");
  guint32 rows_per_call = 0;
  for (guint i = 0; i < G_N_ELEMENTS(at->ended) && memcmp(at->ended[i], (guint32[3]){0}, sizeof at->ended[i]) != 0; i++)
    rows_per_call = end_call(fixture, lane, at->ended[i], 1000);
  g_assert_cmpuint(rows_per_call, ==, at->wanted);
  (void)count_completed(fixture);
  tide_lane_unref(lane);
}

/* What one region does not answer says nothing of calls to others. */
static void
test_silence_of_one_region_shrinks_no_call(Fixture *fixture, gconstpointer data)
{
  TideLane *bad = lane_of(fixture, 0, "", "m"), *good = lane_of(fixture, 0, "m", "");
  for (guint i = 0; i < 5; i++) {
    g_assert_cmpuint(end_call(fixture, bad, (guint32[]){0, 10, 0}, 1000), ==, 10);
    g_assert_cmpuint(end_call(fixture, good, (guint32[]){2, 0, 0}, 1000), ==, 10);
  }
  (void)count_completed(fixture);
  tide_lane_unref(bad);
  tide_lane_unref(good);
}

/* It doubles once an hour up to what is configured, and calls are taken by it. */
static void
test_rows_per_call_double_each_hour(Fixture *fixture, gconstpointer data)
{
  const guint32 well[] = {1, 0, 0};
  const gint64 hour_us = 3600 * TIDE_US_PER_S;
  TideLane *lane = lane_of(fixture, 0, "", "");
  g_assert_cmpuint(end_call(fixture, lane, (guint32[]){2, 0, 5}, 1000), ==, 2);
  for (guint i = 0; i < 3; i++)
    submit(fixture, lane, 1, 10);
  TideCall call, rest;
  g_assert_true(take_now(fixture, &call) && take_now(fixture, &rest));
  g_assert_cmpuint(call.n_rows, ==, 2);
  g_assert_cmpuint(call.max_rows, ==, 2);
  tide_lanes_finish(fixture->lanes, &rest, TIDE_OUTCOME_OK, NULL, 1000);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, 1000);
  g_assert_cmpuint(end_call(fixture, lane, well, 999 + hour_us), ==, 2);
  g_assert_cmpuint(end_call(fixture, lane, well, 1000 + hour_us), ==, 4);
  g_assert_cmpuint(end_call(fixture, lane, well, 1001 + hour_us), ==, 4);
  g_assert_cmpuint(end_call(fixture, lane, well, 1000 + 2 * hour_us), ==, 8);
  g_assert_cmpuint(end_call(fixture, lane, well, 1000 + 3 * hour_us), ==, 10);
  tide_lanes_set_call_limits(fixture->lanes, 20, 1000);
  g_assert_cmpuint(end_call(fixture, lane, well, 1001 + 3 * hour_us), ==, 20);
  (void)count_completed(fixture);
  tide_lane_unref(lane);
}

/* ---- rows that stay ---- */

/* What only waits for a row that nothing shows to be at fault is told, with the row, once it had all its rounds; not
 * while anything else waits, nor where nothing at all gets an answer. */
static void
test_stuck_row_is_told(Fixture *fixture, gconstpointer data)
{
  gboolean is_silent = GPOINTER_TO_UINT(data) > 0;
  TideLane *a = lane_of(fixture, 0, "", "m"), *b = lane_of(fixture, 0, "m", "");
  g_autofree char *text = NULL;
  TideCall call;
  g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, TIDE_STUCK_NOT);
  submit(fixture, a, 1, 100);
  gint64 start_us = tide_now_us();
  for (guint32 n_tries = 1; n_tries <= TIDE_SUSPECT_ROUNDS; n_tries++) {
    g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, TIDE_STUCK_NOT);
    g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 0);
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, TIDE_STUCK_BUSY);
    leave_suspect(call.batches[0], n_tries, start_us, start_us);
    call.batches[0]->delivery.is_silent = is_silent;
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, start_us);
    /* Whoever looks sees the row from the first try on, and the region is not called failing for it. */
    g_autofree char *tries = tide_count_of(n_tries, "try", "tries");
    g_autofree char *shown = g_strdup_printf("row 'kkk' is waiting after %s: it is refused", tries);
    g_autoptr(GArray) loads = tide_lanes_regions(fixture->lanes, 1, start_us);
    g_assert_cmpstr(g_array_index(loads, TideLoad, 0).error_text, ==, shown);
    g_assert_cmpint(g_array_index(loads, TideLoad, 0).failures, ==, n_tries < TIDE_SUSPECT_ROUNDS ? 0 : n_tries);
  }
  g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, is_silent ? TIDE_STUCK_NOT : TIDE_STUCK_REFUSED);
  g_free(g_steal_pointer(&text));
  tide_lanes_set_final(fixture->lanes, TRUE); /* of which the row's last try did not know */
  g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, TIDE_STUCK_NOT);
  tide_lanes_set_final(fixture->lanes, FALSE);
  submit(fixture, b, 1, 100);
  g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, TIDE_STUCK_NOT);
  TideCall other;
  g_assert_true(take_now(fixture, &other) && take_now(fixture, &call));
  TideCall *of_b = other.batches[0]->lane == b ? &other : &call, *of_a = of_b == &call ? &other : &call;
  tide_lanes_finish(fixture->lanes, of_b, TIDE_OUTCOME_OK, NULL, start_us + 1);
  tide_lanes_finish(fixture->lanes, of_a, TIDE_OUTCOME_UNKNOWN, "no", start_us + 1);
  g_assert_cmpint(tide_lanes_stuck(fixture->lanes, &text), ==, is_silent ? TIDE_STUCK_SILENT : TIDE_STUCK_REFUSED);
  g_assert_nonnull(strstr(text, "row 'kkk' of table 'A' cannot be written: it is refused"));
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  /* And it is in trouble from then on, as a region that takes nothing. */
  g_autoptr(GPtrArray) troubles = tide_lanes_failing(fixture->lanes, start_us);
  g_assert_cmpuint(troubles->len, ==, 1);
  g_assert_cmpstr(((const TideLaneFailure *)g_ptr_array_index(troubles, 0))->error_text, ==, "it is refused");
  tide_lane_unref(a);
  tide_lane_unref(b);
}

/* A failed batch stays the first of its lane, and the lane has been failing since its first failure. */
static void
test_lane_fails_since_its_first_failure(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  gint64 first_us = tide_now_us() - 100 * TIDE_US_PER_S;
  TideCall call;
  submit(fixture, lane, 1, 100);
  g_assert_true(take_now(fixture, &call));
  const TideBatch *failed = call.batches[0];
  for (guint i = 0; i < 3; i++) {
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "no", first_us + i * TIDE_US_PER_S);
    if (i == 0)
      submit(fixture, lane, 1, 100);
    g_autoptr(GPtrArray) troubles = tide_lanes_failing(fixture->lanes, first_us);
    g_assert_cmpuint(troubles->len, ==, 1);
    g_assert_cmpint(((const TideLaneFailure *)g_ptr_array_index(troubles, 0))->since_us, ==, first_us);
    g_assert_true(take_now(fixture, &call));
    g_assert_true(call.batches[0] == failed);
  }
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(lane);
}

/* A region that no longer is one of those with most rows is shown while rows wait for it. */
static void
test_cooled_region_is_shown_while_it_is_busy(Fixture *fixture, gconstpointer data)
{
  TideLane *lanes[TIDE_LANES_HOT + 1];
  gint64 now_us = tide_now_us(), waiting_rows = 0;
  TideCall call;
  for (guint i = 0; i <= TIDE_LANES_HOT; i++) {
    lanes[i] = lane_of(fixture, 0, (const char[]){(char)('a' + i), '\0'}, "");
    submit(fixture, lanes[i], i < TIDE_LANES_HOT ? 1 : 10,
           100); /* the last has most, and takes the first one's place */
    g_assert_true(take_now(fixture, &call));
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, now_us);
  }
  g_assert_cmpuint(count_completed(fixture), ==, TIDE_LANES_HOT + 1);
  submit(fixture, lanes[0], 1, 100);
  g_autoptr(GArray) loads = tide_lanes_regions(fixture->lanes, 100, now_us);
  for (guint i = 0; i < loads->len; i++)
    waiting_rows += g_array_index(loads, TideLoad, i).waiting_rows;
  g_assert_cmpint(waiting_rows, ==, 1);
  for (guint i = 0; i <= TIDE_LANES_HOT; i++)
    tide_lane_unref(lanes[i]);
}

/* However often it failed, a lane is due again after hbase.retry_max. */
static void
test_wait_has_a_bound(Fixture *fixture, gconstpointer data)
{
  use_lanes(fixture, 1, 30 * TIDE_US_PER_S, 100 * TIDE_US_PER_S);
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 1, 10);
  for (guint turn = 0; turn < 60; turn++) {
    TideCall call;
    g_assert_true(take_now(fixture, &call));
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "busy", tide_now_us() - 100 * TIDE_US_PER_S);
  }
  tide_lane_unref(lane);
}

#define ADD(path, func) g_test_add(path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/lanes-end/D14-suspects-keep-nobody-waiting", test_suspects_keep_nobody_waiting);
  ADD("/lanes-end/batch-with-a-suspect-has-its-turn", test_batch_with_a_suspect_has_its_turn);
  ADD("/lanes-end/B4-batches-that-are-done-complete", test_batches_that_are_done_complete);
  ADD("/lanes-end/silence-of-one-region-shrinks-no-call", test_silence_of_one_region_shrinks_no_call);
  ADD("/lanes-end/rows-per-call-double-each-hour", test_rows_per_call_double_each_hour);
  for (gsize i = 0; i < G_N_ELEMENTS(size_cases); i++) {
    g_autofree char *path = g_strconcat("/lanes-end/rows-per-call/", size_cases[i].name, NULL);
    g_test_add(path, Fixture, &size_cases[i], set_up, test_size_case, tear_down);
  }
  g_test_add("/lanes-end/stuck/refused", Fixture, GUINT_TO_POINTER(0), set_up, test_stuck_row_is_told, tear_down);
  g_test_add("/lanes-end/stuck/silent", Fixture, GUINT_TO_POINTER(1), set_up, test_stuck_row_is_told, tear_down);
  ADD("/lanes-end/refused-rows-are-not-written", test_refused_rows_are_not_written);
  ADD("/lanes-end/failed-lane-waits-alone-and-the-others-go-on", test_failed_lane_waits_alone_and_the_others_go_on);
  ADD("/lanes-end/call-that-is-not-sent-makes-no-lane-wait", test_call_that_is_not_sent_makes_no_lane_wait);
  ADD("/lanes-end/window-halves-and-widens-by-steps", test_window_halves_and_widens_by_steps);
  ADD("/lanes-end/batch-larger-than-the-window-goes-all-the-same", test_batch_larger_than_the_window_goes_all_the_same);
  ADD("/lanes-end/dead-regions-do-not-take-all-writers", test_dead_regions_do_not_take_all_writers);
  ADD("/lanes-end/suspended-table-is-probed-by-what-failed-and-goes-on",
      test_suspended_table_is_probed_by_what_failed_and_goes_on);
  ADD("/lanes-end/batch-with-a-suspect-goes-behind-the-others", test_batch_with_a_suspect_goes_behind_the_others);
  ADD("/lanes-end/last-success-is-one", test_last_success_is_one);
  ADD("/lanes-end/F16-refusals-in-a-row-show-that-all-is-refused", test_refusals_in_a_row_show_that_all_is_refused);
  ADD("/lanes-end/refused-row-ends-a-suspension", test_refused_row_ends_a_suspension);
  ADD("/lanes-end/late-refusals-of-a-suspended-table-lengthen-no-wait",
      test_late_refusals_of_a_suspended_table_lengthen_no_wait);
  ADD("/lanes-end/lane-fails-since-its-first-failure", test_lane_fails_since_its_first_failure);
  ADD("/lanes-end/cooled-region-is-shown-while-it-is-busy", test_cooled_region_is_shown_while_it_is_busy);
  ADD("/lanes-end/wait-has-a-bound", test_wait_has_a_bound);
  return g_test_run();
}
