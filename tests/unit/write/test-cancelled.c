/* Batches that are cancelled because a partition was taken away: no call carries them from then on, and what has
 * nothing left to send tells nothing of its region. What becomes of their messages: test-equal-times-model.c. */
#include "unit/row_buffer_fixture.h"
#include "util/clock.h"
#include "write/lanes.h"
#include "write/row_isolation.h"

#define N_ROWS 24u
#define ROUND_US 100
#define TIMEOUT_US (60 * TIDE_US_PER_S)

/* ---- calls ---- */

/* A gateway that knows rows by their number, which is their wire. */
typedef struct Gateway {
  TideRowIsolation *isolation;
  TideCall call;
  guint32 n_rows, n_calls;
  gboolean is_bad[N_ROWS];
  gboolean is_ambiguous; /* its errors name no row's fault */
  guint32 n_written[N_ROWS];
  guint32 cancelling_call; /* while it runs the first batch is cancelled; 0: none */
} Gateway;

static gboolean
is_cancelled(const Gateway *gateway, guint32 row)
{
  guint32 i = 0;
  for (; row >= gateway->call.batches[i]->n_rows; i++)
    row -= gateway->call.batches[i]->n_rows;
  return tide_batch_is_cancelled(gateway->call.batches[i]);
}

static TideFailure
send_rows(const TideSentRows *rows, gpointer data, char **ret_text)
{
  Gateway *gateway = data;
  gboolean is_refused = FALSE;
  gateway->n_calls++;
  for (gsize i = 0; i < rows->n_parts; i++)
    for (gsize at = 0; at < rows->parts[i].len; at += sizeof(guint32)) {
      guint32 row = *(const guint32 *)(const void *)(rows->parts[i].data + at);
      g_assert_false(is_cancelled(gateway, row));
      is_refused |= gateway->is_bad[row];
      gateway->n_written[row]++;
    }
  if (gateway->n_calls == gateway->cancelling_call)
    tide_batch_cancel(gateway->call.batches[0]);
  if (!is_refused)
    return (TideFailure){.outcome = TIDE_OUTCOME_OK};
  *ret_text = g_strdup("refused");
  return (TideFailure){.outcome = TIDE_OUTCOME_POISON, .is_certain = !gateway->is_ambiguous};
}

static TideBatch *
add_batch(Gateway *gateway, guint32 n_rows)
{
  TideBatch *batch = tide_batch_new();
  for (guint32 i = 0; i < n_rows; i++) {
    TideBatchRow row = {.start_bytes = (guint32)batch->wire.len, .n_mutations = 1};
    tide_buffer_append(&batch->rows, &row, sizeof row);
    tide_buffer_append(&batch->wire, &gateway->n_rows, sizeof gateway->n_rows);
    gateway->n_rows++;
  }
  batch->n_rows = n_rows;
  gateway->call.batches[gateway->call.n_batches++] = batch;
  gateway->call.n_rows += n_rows;
  return batch;
}

static Gateway *
gateway_new(void)
{
  Gateway *gateway = g_new0(Gateway, 1);
  gateway->isolation = tide_row_isolation_new(send_rows, gateway, ROUND_US);
  return gateway;
}

static void
gateway_free(Gateway *gateway)
{
  for (guint32 i = 0; i < gateway->call.n_batches; i++)
    tide_batch_free(gateway->call.batches[i]);
  tide_row_isolation_free(gateway->isolation);
  g_free(gateway);
}

static TideOutcome
send_call(Gateway *gateway, gint64 now_us)
{
  TideIsolationCounts counts;
  g_autofree char *text = NULL;
  return tide_row_isolation_send(gateway->isolation, &gateway->call, 0, now_us, &counts, &text).outcome;
}

/* Of two batches of a call one is cancelled: the other is written, and tells of its own region alone. Then neither is
 * sent. */
static void
test_batch_is_left_out_of_the_call(void)
{
  for (guint mutations = 0; mutations < 2; mutations++) {
    Gateway *gateway = gateway_new();
    TideBatch *first = add_batch(gateway, 3), *second = add_batch(gateway, 3);
    first->is_mutations = second->is_mutations = mutations > 0;
    tide_batch_cancel(first);
    g_assert_cmpint(send_call(gateway, 1), ==, TIDE_OUTCOME_OK);
    for (guint32 i = 0; i < 6; i++)
      g_assert_cmpuint(gateway->n_written[i], ==, i < 3 ? 0 : 1);
    g_assert_true(first->is_left_out && !second->is_left_out);
    guint32 n_calls = gateway->n_calls;
    tide_batch_cancel(second);
    second->done_rows = 0;
    g_assert_cmpint(send_call(gateway, 2), ==, TIDE_OUTCOME_OK);
    g_assert_cmpuint(gateway->n_calls, ==, n_calls);
    g_assert_true(first->is_left_out && second->is_left_out);
    gateway_free(gateway);
  }
}

/* While bad rows are looked for, suspected, and held against good ones, the batch is cancelled after any call: no later
 * call carries it (send_rows() looks), the other batch's rows are written or marked as poison, and both end. */
static void
check_cancelled_in_a_search(guint32 call, gboolean is_ambiguous)
{
  Gateway *gateway = gateway_new();
  (void)add_batch(gateway, 6);
  TideBatch *other = add_batch(gateway, 6);
  gateway->is_bad[2] = gateway->is_bad[8] = TRUE;
  gateway->is_ambiguous = is_ambiguous;
  gateway->cancelling_call = call;
  guint n_rounds = 1;
  while (send_call(gateway, n_rounds * ROUND_US) != TIDE_OUTCOME_OK)
    g_assert_cmpuint(n_rounds++, <=, 2 * TIDE_PROOF_LIMIT);
  for (guint32 i = 6; i < 12; i++)
    g_assert_true(gateway->n_written[i] > 0);
  g_assert_true(tide_batch_find_poison(other, 2) != NULL);
  gateway_free(gateway);
}

static void
test_batch_may_be_cancelled_after_any_call(void)
{
  for (guint32 call = 1; call < 80; call++)
    for (guint ambiguous = 0; ambiguous < 2; ambiguous++)
      check_cancelled_in_a_search(call, ambiguous > 0);
}

/* ---- lanes ---- */

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
  g_assert_cmpint(tide_lanes_take(fixture->lanes, tide_now_us() + TIMEOUT_US, call), ==, TIDE_TAKE_CALL);
}

static void
finish(Lanes *fixture, TideCall *call, TideOutcome outcome, gboolean is_left_out)
{
  for (guint32 i = 0; i < call->n_batches; i++)
    call->batches[i]->is_left_out = is_left_out;
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
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, &call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(call.n_batches, ==, 1); /* a probe */
  g_assert_cmpint(call.last_ok_us, ==, 0);
  g_assert_cmpint(call.batches[0]->lane_ok_us, ==, 0);
  finish(fixture, &call, TIDE_OUTCOME_OK, FALSE);
  g_assert_cmpuint(tide_lanes_state(fixture->lanes).troubled_lanes, ==, 0);
  take(fixture, &call);
  g_assert_cmpint(call.last_ok_us, >, 0);
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
  g_assert_cmpint(tide_lanes_take(fixture->lanes, 0, &call), ==, TIDE_TAKE_CALL);
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
  tide_budget_init(&budget, 1 << 30);
  g_test_add_func("/cancelled/batch-is-left-out-of-the-call", test_batch_is_left_out_of_the_call);
  g_test_add_func("/cancelled/batch-may-be-cancelled-after-any-call", test_batch_may_be_cancelled_after_any_call);
  ADD("lane-is-not-well-for-it", test_lane_is_not_well_for_it);
  ADD("suspended-table-is-not-well-for-it", test_suspended_table_is_not_well_for_it);
  ADD("suspended-table-without-rows-is-not-held", test_suspended_table_without_rows_is_not_held);
  ADD("suspended-table-with-rows-under-way-is-not-held", test_suspended_table_with_rows_under_way_is_not_held);
  return g_test_run();
}
