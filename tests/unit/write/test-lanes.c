/* The lanes: who gets which batch when, and what a failed call does to its lanes and to the others. */
#include "write/lanes.h"

#include "util/clock.h"

typedef struct Fixture {
  TideTable tables[2];
  TideLanes *lanes;
  TideCompletionQueue completions;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->tables[0] = (TideTable){.index = 0, .name = (char *)"A"};
  fixture->tables[1] = (TideTable){.index = 1, .name = (char *)"B"};
  TideLanesOptions options = {.n_tables = 2,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .max_probes = 2,
                              .retry_min_us = 50 * TIDE_US_PER_MS,
                              .retry_max_us = 100 * TIDE_US_PER_MS};
  fixture->lanes = tide_lanes_new(&options);
  tide_completion_queue_init(&fixture->completions, NULL, NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_lanes_free(fixture->lanes);
  tide_completion_queue_clear(&fixture->completions);
}

typedef enum BatchKind {
  BATCH_OF_PUTS,
  BATCH_OF_MUTATIONS,
  BATCH_OF_UNMERGED,
  BATCH_IN_SLICES,
  BATCH_WITH_A_CUT_ROW
} BatchKind;

static void
submit_batch(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes, BatchKind kind)
{
  TideBatch *batch = tide_batch_new();
  batch->completions = &fixture->completions;
  batch->lane = tide_lane_ref(lane);
  batch->n_rows = n_rows;
  batch->is_mutations = kind == BATCH_OF_MUTATIONS;
  batch->is_unmerged = kind == BATCH_OF_UNMERGED;
  batch->slice_rows = kind == BATCH_IN_SLICES ? 1 : 0;
  if (kind == BATCH_WITH_A_CUT_ROW)
    tide_batch_suspect(batch, 0)->is_cut = TRUE;
  tide_buffer_reserve(&batch->wire, n_bytes);
  memset(batch->wire.data, 'k', n_bytes);
  batch->wire.len = n_bytes;
  TideBatchRow row = {.start_bytes = 0, .key_offset = 0, .key_len = 3};
  tide_buffer_append(&batch->rows, &row, sizeof row);
  tide_lanes_submit(fixture->lanes, batch);
}

static void
submit(Fixture *fixture, TideLane *lane, guint32 n_rows, gsize n_bytes)
{
  submit_batch(fixture, lane, n_rows, n_bytes, BATCH_OF_PUTS);
}

static TideLane *
lane_of(Fixture *fixture, guint table, const char *start, const char *end)
{
  return tide_lanes_make_lane(fixture->lanes, &fixture->tables[table], tide_bytes_of_string(start),
                              tide_bytes_of_string(end));
}

static gboolean
take_now(Fixture *fixture, TideCall *call)
{
  return tide_lanes_take(fixture->lanes, 0, call) == TIDE_TAKE_CALL;
}

static guint
count_completed(Fixture *fixture)
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
    g_assert_cmpint(first->is_mutations || first->is_unmerged || first->slice_rows > 0 || first->suspects.len > 0, ==,
                    i == 1);
  }
  g_assert_false(take_now(fixture, &(TideCall){0}));
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

/* What is joined to it would be cut off with it. */
static void
test_batch_in_slices_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_IN_SLICES);
}

static void
test_batch_with_a_cut_row_goes_alone(Fixture *fixture, gconstpointer data)
{
  check_goes_alone(fixture, BATCH_WITH_A_CUT_ROW);
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

  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(fixture->lanes, failed_us);
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneTrouble *trouble = g_ptr_array_index(troubles, 0);
  g_assert_cmpstr(trouble->error_text, ==, "region is moving");
  g_assert_cmpstr(trouble->first_row_key, ==, "kkk");
  g_assert_cmpuint(trouble->waiting_rows, ==, 3);

  /* After the wait: the first batch alone, in the old order, the same bytes. */
  g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_now_us() - failed_us, >=, 25 * TIDE_US_PER_MS);
  g_assert_cmpuint(call.n_batches, ==, 1);
  g_assert_cmpuint(call.n_rows, ==, 1);
  g_assert_cmpuint(call.batches[0]->attempts, ==, 1);
  TideCall second;
  g_assert_false(take_now(fixture, &second)); /* one call at a time while in trouble */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &second));
  tide_lanes_finish(fixture->lanes, &second, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_autoptr(GPtrArray) none = tide_lanes_in_trouble(fixture->lanes, tide_now_us());
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(bad);
  tide_lane_unref(good);
}

static void
test_unanswered_call_is_remembered(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 1, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "timed out", 4242);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + 10 * TIDE_US_PER_S, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(call.batches[0]->last_unknown_us, ==, 4242);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_NOT_SENT, "refused", tide_now_us());
  g_assert_true(take_now(fixture, &call)); /* nothing was sent: the lane has no further wait */
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
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
  g_autoptr(GPtrArray) early = tide_lanes_in_trouble(fixture->lanes, 999);
  g_assert_cmpuint(early->len, ==, 0);
  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(fixture->lanes, 1000);
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneTrouble *trouble = g_ptr_array_index(troubles, 0);
  g_assert_cmpstr(trouble->table->name, ==, "A");
  g_assert_cmpstr(trouble->error_text, ==, "no permission");
  g_assert_cmpint(trouble->since_us, ==, 1000);
  g_assert_cmpuint(trouble->failures, ==, 2);
  g_assert_cmpuint(trouble->waiting_rows, ==, 7);

  tide_lanes_unblock(fixture->lanes, &fixture->tables[0]);
  g_autoptr(GPtrArray) none = tide_lanes_in_trouble(fixture->lanes, G_MAXINT64);
  g_assert_cmpuint(none->len, ==, 0);
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_rows, ==, 7);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  tide_lane_unref(a);
  tide_lane_unref(b);
  tide_lane_unref(other);
}

static void
test_last_places_begin_blocked(Fixture *fixture, gconstpointer data)
{
  TideLanesOptions options = {
      .n_tables = 2, .n_blocked = 1, .max_rows = 10, .max_bytes = 1000, .max_in_flight_per_region = 2};
  tide_lanes_free(fixture->lanes);
  fixture->lanes = tide_lanes_new(&options);
  TideLane *declared = lane_of(fixture, 0, "", ""), *dated = lane_of(fixture, 1, "", "");
  submit(fixture, dated, 1, 100);
  TideCall call;
  g_assert_false(take_now(fixture, &call));
  /* It is no trouble before somebody has tried and said what is wrong. */
  g_autoptr(GPtrArray) none = tide_lanes_in_trouble(fixture->lanes, G_MAXINT64);
  g_assert_cmpuint(none->len, ==, 0);
  submit(fixture, declared, 1, 100);
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  tide_lanes_unblock(fixture->lanes, &fixture->tables[1]);
  g_assert_true(take_now(fixture, &call));
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(declared);
  tide_lane_unref(dated);
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
  g_assert_cmpint(tide_lanes_take(fixture->lanes, now_us + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(call.n_rows, ==, n_wanted[1]);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "timed out", tide_now_us());
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).narrowed_lanes, ==, 1);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
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

/* A batch is never split by the lanes: the smallest window lets one through. */
static void
test_batch_larger_than_the_window_goes_all_the_same(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 10, 100);
  TideCall call;
  for (guint i = 0; i < 5; i++) {
    g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
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
  g_assert_cmpint(tide_lanes_take(fixture->lanes, all_waited_us, &calls[0]), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, all_waited_us, &calls[1]), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_lanes_take(fixture->lanes, all_waited_us, &calls[2]), ==, TIDE_TAKE_NOTHING);
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

  g_autoptr(GPtrArray) troubles = tide_lanes_in_trouble(fixture->lanes, 0); /* told at once */
  g_assert_cmpuint(troubles->len, ==, 1);
  const TideLaneTrouble *trouble = g_ptr_array_index(troubles, 0);
  g_assert_true(trouble->is_suspended);
  g_assert_cmpstr(trouble->error_text, ==, "A is disabled; enable it");
  g_assert_cmpuint(trouble->waiting_rows, ==, 20);
  g_assert_cmpint(trouble->since_us, ==, now_us);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).suspended_tables, ==, 1);
  assert_failures(fixture, -1);

  for (guint i = 0; i < 3; i++) {
    static const TideOutcome outcomes[] = {TIDE_OUTCOME_SUSPEND, TIDE_OUTCOME_RETRY, TIDE_OUTCOME_OK};
    g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + G_USEC_PER_SEC, &call), ==, TIDE_TAKE_CALL);
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
  (void)tide_batch_suspect(call.batches[0], 0);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_POISON, "who knows", tide_now_us() - TIDE_US_PER_S);
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0] != suspected);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_true(take_now(fixture, &call));
  g_assert_true(call.batches[0] == suspected);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
}

/* Rows are marked as poison only while others are acknowledged: no other end of a call counts as that. */
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
    g_assert_cmpint(call.last_ok_us, ==, 0);
    tide_lanes_finish(fixture->lanes, &call, outcomes[i], outcomes[i] == TIDE_OUTCOME_OK ? NULL : "no", past_us);
  }
  submit(fixture, a, 1, 100);
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpint(call.last_ok_us, ==, past_us);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(a);
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

/* The next call is of one batch, which is @batch's, and its first row is cut off for the @n_cuts-th time, the others
 * being written or not. It was so long ago that the lane itself need not wait any more. */
static void
cut_off_next(Fixture *fixture, const TideBatch *batch, guint32 n_cuts, gboolean are_others_written)
{
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  g_assert_cmpuint(call.n_batches, ==, 1);
  g_assert_true(batch == NULL || call.batches[0] == batch);
  TideBatchSuspect *row = tide_batch_suspect(call.batches[0], 0);
  row->is_cut = TRUE;
  row->n_cuts = n_cuts;
  call.batches[0]->done_rows = are_others_written ? call.batches[0]->n_rows : 1;
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "cut off", tide_now_us() - TIDE_US_PER_S);
}

/* With all other rows of their batches written, rows that are cut off again and again wait longer and longer. All that
 * comes later goes meanwhile. */
static void
test_rows_that_are_cut_off_keep_nobody_waiting(Fixture *fixture, gconstpointer data)
{
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 2,
                              .retry_min_us = 10 * TIDE_US_PER_MS,
                              .retry_max_us = 10000 * TIDE_US_PER_S};
  tide_lanes_free(fixture->lanes);
  fixture->lanes = tide_lanes_new(&options);
  TideLane *lane = lane_of(fixture, 0, "", "");
  for (guint i = 0; i < 3; i++)
    submit(fixture, lane, 10, 100);
  static const guint32 n_cuts[] = {100, 20}; /* hours; more than an hour */
  for (guint i = 0; i < G_N_ELEMENTS(n_cuts); i++)
    cut_off_next(fixture, NULL, n_cuts[i], TRUE);
  for (guint turn = 0; turn < 3; turn++) {
    TideCall call;
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpuint(call.n_batches, ==, 1);
    g_assert_cmpuint(call.batches[0]->suspects.len, ==, 0);
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
    g_assert_false(take_now(fixture, &call));
    submit(fixture, lane, 10, 100);
  }
  g_assert_cmpuint(count_completed(fixture), ==, 3);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).waiting_rows, ==, 30);
  /* Nor do the others of the same batch, while there are some. */
  cut_off_next(fixture, NULL, 100, FALSE);
  TideCall last;
  g_assert_true(take_now(fixture, &last));
  tide_lanes_finish(fixture->lanes, &last, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(lane);
}

/* Once its time has come it is a batch like any other: what comes later is behind it. */
static void
test_batch_with_a_cut_row_has_its_turn(Fixture *fixture, gconstpointer data)
{
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 10, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  const TideBatch *batch = call.batches[0];
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "not yet", tide_now_us() - TIDE_US_PER_S);
  cut_off_next(fixture, batch, 1, TRUE);
  submit(fixture, lane, 10, 100);
  for (guint i = 0; i < 2; i++) {
    g_assert_true(take_now(fixture, &call));
    g_assert_cmpint(call.batches[0] == batch, ==, i == 0);
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  }
  g_assert_cmpuint(count_completed(fixture), ==, 2);
  tide_lane_unref(lane);
}

/* A writer with nothing else to do wakes for it, though its lane itself is due. */
static void
test_batch_with_a_cut_row_is_woken_for(Fixture *fixture, gconstpointer data)
{
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 1,
                              .retry_min_us = TIDE_US_PER_MS,
                              .retry_max_us = 1000 * TIDE_US_PER_S};
  tide_lanes_free(fixture->lanes);
  fixture->lanes = tide_lanes_new(&options);
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 10, 100);
  TideCall call;
  g_assert_true(take_now(fixture, &call));
  *tide_batch_suspect(call.batches[0], 0) = (TideBatchSuspect){.is_cut = TRUE, .n_cuts = 9}; /* at least 128 ms */
  call.batches[0]->done_rows = call.batches[0]->n_rows;
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_UNKNOWN, "cut off", tide_now_us() - 100 * TIDE_US_PER_MS);
  gint64 deadline_us = tide_now_us() + 100 * TIDE_US_PER_S;
  g_assert_cmpint(tide_lanes_take(fixture->lanes, deadline_us, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpint(tide_now_us(), <, deadline_us);
  tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  g_assert_cmpuint(count_completed(fixture), ==, 1);
  tide_lane_unref(lane);
}

/* However often it failed, a lane is due again after hbase.retry_max. */
static void
test_wait_has_a_bound(Fixture *fixture, gconstpointer data)
{
  TideLanesOptions options = {.n_tables = 1,
                              .max_rows = 10,
                              .max_bytes = 1000,
                              .max_in_flight_per_region = 1,
                              .retry_min_us = 30 * TIDE_US_PER_S,
                              .retry_max_us = 100 * TIDE_US_PER_S};
  TideLanes *usual = fixture->lanes;
  fixture->lanes = tide_lanes_new(&options);
  TideLane *lane = lane_of(fixture, 0, "", "");
  submit(fixture, lane, 1, 10);
  for (guint turn = 0; turn < 60; turn++) {
    TideCall call;
    g_assert_true(take_now(fixture, &call));
    tide_lanes_finish(fixture->lanes, &call, TIDE_OUTCOME_RETRY, "busy", tide_now_us() - options.retry_max_us);
  }
  tide_lanes_free(fixture->lanes);
  tide_lane_unref(lane);
  fixture->lanes = usual;
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
  while (tide_lanes_take(race->fixture->lanes, tide_now_us() + 20 * TIDE_US_PER_MS, &call) != TIDE_TAKE_STOPPED) {
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

#define ADD(path, func) g_test_add(path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/lanes/small-lanes-of-one-table-share-a-call", test_small_lanes_of_one_table_share_a_call);
  ADD("/lanes/batch-of-mutations-goes-alone", test_batch_of_mutations_goes_alone);
  ADD("/lanes/batch-of-unmerged-rows-goes-alone", test_batch_of_unmerged_rows_goes_alone);
  ADD("/lanes/batch-in-slices-goes-alone", test_batch_in_slices_goes_alone);
  ADD("/lanes/batch-with-a-cut-row-goes-alone", test_batch_with_a_cut_row_goes_alone);
  ADD("/lanes/D14-rows-that-are-cut-off-keep-nobody-waiting", test_rows_that_are_cut_off_keep_nobody_waiting);
  ADD("/lanes/batch-with-a-cut-row-has-its-turn", test_batch_with_a_cut_row_has_its_turn);
  ADD("/lanes/batch-with-a-cut-row-is-woken-for", test_batch_with_a_cut_row_is_woken_for);
  ADD("/lanes/B6-lane-has-a-cap-of-calls", test_lane_has_a_cap_of_calls);
  ADD("/lanes/failed-lane-waits-alone-and-the-others-go-on", test_failed_lane_waits_alone_and_the_others_go_on);
  ADD("/lanes/unanswered-call-is-remembered", test_unanswered_call_is_remembered);
  ADD("/lanes/blocked-table-waits-and-is-one-trouble", test_blocked_table_waits_and_is_one_trouble);
  ADD("/lanes/last-places-begin-blocked", test_last_places_begin_blocked);
  ADD("/lanes/window-halves-and-widens-by-steps", test_window_halves_and_widens_by_steps);
  ADD("/lanes/limits-of-calls-change", test_limits_of_calls_change);
  ADD("/lanes/batch-larger-than-the-window-goes-all-the-same", test_batch_larger_than_the_window_goes_all_the_same);
  ADD("/lanes/dead-regions-do-not-take-all-writers", test_dead_regions_do_not_take_all_writers);
  ADD("/lanes/suspended-table-is-probed-by-what-failed-and-goes-on",
      test_suspended_table_is_probed_by_what_failed_and_goes_on);
  ADD("/lanes/batch-with-a-suspect-goes-behind-the-others", test_batch_with_a_suspect_goes_behind_the_others);
  ADD("/lanes/last-success-is-one", test_last_success_is_one);
  ADD("/lanes/late-refusals-of-a-suspended-table-lengthen-no-wait",
      test_late_refusals_of_a_suspended_table_lengthen_no_wait);
  ADD("/lanes/wait-has-a-bound", test_wait_has_a_bound);
  ADD("/lanes/many-writers-bring-every-batch-back-once", test_many_writers_bring_every_batch_back_once);
  return g_test_run();
}
