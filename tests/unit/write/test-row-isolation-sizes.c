/* Finding rows that can never be written, by their size: large ones first, and what a proxy before a gateway takes. */
#include "unit/isolation_gateway.h"
#include "write/row_isolation.h"

/* What is refused for its size is refused by a proxy before one gateway: of another nothing is known. */
static void
test_limit_of_one_gateway_is_believed_of_that_alone(void)
{
  Gateway *gateway = gateway_new();
  gateway->is_ambiguous = TRUE;
  gateway->limit_bytes = (N_FILLERS / 2) * sizeof(guint32);
  add_batch_of_sizes(gateway, 0, 50, 50);
  gateway->is_bad[0] = TRUE;
  g_assert_cmpuint(send_rounds(gateway), ==, TIDE_PROOF_LIMIT);
  add_batch_of_sizes(gateway, 1, 50, 50);
  gateway->is_bad[50] = TRUE;
  gateway->index = 1;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_POISON);
  gateway->index = 0;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  gateway_free(gateway);
}

/* Large rows are what is tried first: when these are the bad ones, each costs one call. */
static void
test_large_bad_rows_cost_a_call_each(void)
{
  Gateway *gateway = gateway_new();
  add_batch_of_sizes(gateway, 0, 600, 200);
  add_batch_of_sizes(gateway, 1, 400, 200);
  gateway->is_bad[0] = gateway->is_bad[200] = gateway->is_bad[400] = gateway->is_bad[600] = TRUE;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  g_assert_cmpuint(gateway->n_calls, ==, 1 + 1 + 5); /* all, the small ones, and five large ones */
  gateway_free(gateway);
}

/* That large rows are good costs one call, once, however the bad ones lie. */
static void
test_large_good_rows_cost_one_call(void)
{
  guint32 n_calls[2];
  for (guint with_large = 0; with_large < 2; with_large++) {
    Gateway *gateway = gateway_new();
    add_batch_of_sizes(gateway, 0, 1000, with_large > 0 ? 100 : 0);
    gateway->is_bad[7] = gateway->is_bad[307] = gateway->is_bad[900] = TRUE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    n_calls[with_large] = gateway->n_calls;
    gateway_free(gateway);
  }
  g_assert_cmpuint(n_calls[1], ==, n_calls[0] + 1);
}

/* Sizes and bad rows at random; errors that name a row's fault, and such that do not. */
static void
test_bad_rows_among_sizes_are_found(void)
{
  for (guint round = 0; round < 400; round++) {
    Gateway *gateway = gateway_new();
    gateway->is_ambiguous = g_test_rand_int_range(0, 2) == 1;
    guint32 n_batches = (guint32)g_test_rand_int_range(1, 4);
    for (guint32 i = 0; i < n_batches; i++)
      add_batch_of_sizes(gateway, i % 2, (guint32)g_test_rand_int_range(20, 120),
                         (guint32)g_test_rand_int_range(0, 40));
    for (gint32 n = g_test_rand_int_range(0, 6); n > 0; n--)
      gateway->is_bad[g_test_rand_int_range(0, (gint32)gateway->n_rows)] = TRUE;
    (void)send_rounds(gateway);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* What a proxy before the gateway takes no call of is halved until it does, at once, and no row is suspected. */
static void
test_call_above_a_limit_is_sent_in_parts(void)
{
  Gateway *gateway = gateway_new();
  add_batch(gateway, 0, 600);
  add_batch(gateway, 1, 424);
  gateway->is_ambiguous = TRUE;
  gateway->limit_bytes = 128 * sizeof(guint32);
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  g_assert_cmpuint(gateway->n_calls, <=, 15); /* 8 parts, and what is above them */
  gateway_free(gateway);
}

/* A row that alone is above it is found as any other that is refused without a word of rows, for it may be the limit
 * that is wrong: where nothing is taken, nothing is given up. */
static void
test_row_above_a_limit_is_found(void)
{
  Gateway *gateway = gateway_new();
  add_batch_of_sizes(gateway, 0, 100, 100);
  gateway->is_ambiguous = TRUE;
  gateway->limit_bytes = (N_FILLERS / 2) * sizeof(guint32);
  gateway->is_bad[0] = TRUE;
  g_assert_cmpuint(send_rounds(gateway), ==, TIDE_PROOF_LIMIT);
  assert_found(gateway);
  gateway_free(gateway);

  gateway = gateway_new();
  add_batch(gateway, 0, 100);
  gateway->is_ambiguous = TRUE;
  gateway->limit_bytes = 1;
  TideIsolationCounts counts;
  for (guint round = 1; round < TIDE_LONE_LIMIT + 10; round++) {
    g_assert_cmpint(send_call_at(gateway, round * ROUND_US, &counts), ==, TIDE_OUTCOME_POISON);
    g_assert_cmpuint(counts.poison, ==, 0);
  }
  gateway_free(gateway);
}

/* In place of what was sent. */
static void
add_two_others(Gateway *gateway)
{
  forget_batches(gateway);
  memset(gateway->n_written, 0, sizeof gateway->n_written);
  add_batch_of_sizes(gateway, 0, 600, 1);
  add_batch_of_sizes(gateway, 1, 400, 1);
}

/* A proxy that resets what is too large for it looks as a gateway that dies: only what is cut off again and again is
 * halved, until it is taken. From then on calls are as large as those that were taken, of that gateway. */
static void
test_calls_that_are_cut_off_again_and_again_are_halved(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch_of_sizes(gateway, 0, 1000, 1);
  gsize n_bytes = batch->wire.len;
  gateway->is_cutting = TRUE;
  gateway->limit_bytes = n_bytes / 3;
  TideIsolationCounts counts;
  for (guint i = 1; i <= TIDE_CUT_LIMIT + 1; i++) { /* the whole, and a half */
    g_assert_cmpint(send_call_at(gateway, i, &counts), ==, TIDE_OUTCOME_UNKNOWN);
    g_assert_cmpuint(gateway->n_calls, ==, 1);
    g_assert_cmpuint(counts.cut_rows, ==, i < TIDE_CUT_LIMIT ? 0 : i == TIDE_CUT_LIMIT ? 1000 : 500);
  }
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(gateway->n_calls, ==, 4);
  assert_found(gateway);

  add_two_others(gateway);
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(gateway->n_calls, ==, 4);
  assert_found(gateway);
  add_two_others(gateway);
  gateway->index = 1;
  gateway->limit_bytes = 0;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(gateway->n_calls, ==, 1);
  gateway_free(gateway);
}

/* How often the call is cut off until all of it is taken: batches that were joined go alone from the second time on. */
static guint
count_cuts(Gateway *gateway)
{
  guint n = 0;
  while (send_call(gateway) != TIDE_OUTCOME_OK) {
    n++;
    if (gateway->call.n_batches == 1)
      continue;
    guint32 n_batches = gateway->call.n_batches;
    TideBatch *batches[2] = {gateway->call.batches[0], gateway->call.batches[1]};
    gateway->call.n_batches = 1;
    for (guint i = 0; i < n_batches; i++) {
      gateway->call.batches[0] = batches[i];
      n += count_cuts(gateway);
    }
    gateway->call.batches[0] = batches[0];
    gateway->call.n_batches = n_batches;
    break;
  }
  return n;
}

/* Each call is cut off once and taken in parts: no batch meets three cuts, but the gateway has made them. */
static void
test_limit_is_learned_from_many_batches(void)
{
  Gateway *gateway = gateway_new();
  gateway->is_cutting = TRUE;
  guint n_cuts = 0;
  for (guint round = 0; round < 10; round++) {
    forget_batches(gateway);
    TideBatch *first = add_batch_of_sizes(gateway, 0, 600, 1);
    add_batch_of_sizes(gateway, 1, 400, 1);
    gateway->limit_bytes = first->wire.len + 1;
    n_cuts += count_cuts(gateway);
  }
  g_assert_cmpuint(n_cuts, ==, TIDE_CUT_LIMIT);
  gateway_free(gateway);
}

/* Whatever cuts off what is small is no limit of sizes. */
static void
test_small_calls_that_are_cut_off_stay_whole(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch(gateway, 0, TIDE_CUT_LEAST_BYTES / sizeof(guint32) - 1);
  gateway->is_cutting = TRUE;
  gateway->limit_bytes = 1;
  for (guint i = 0; i < 4 * TIDE_CUT_LIMIT; i++)
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_cmpuint(batch->slice_rows, ==, 0);
  gateway_free(gateway);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-isolation-sizes/call-above-a-limit-is-sent-in-parts", test_call_above_a_limit_is_sent_in_parts);
  g_test_add_func("/row-isolation-sizes/row-above-a-limit-is-found", test_row_above_a_limit_is_found);
  g_test_add_func("/row-isolation-sizes/limit-of-one-gateway-is-believed-of-that-alone",
                  test_limit_of_one_gateway_is_believed_of_that_alone);
  g_test_add_func("/row-isolation-sizes/calls-that-are-cut-off-again-and-again-are-halved",
                  test_calls_that_are_cut_off_again_and_again_are_halved);
  g_test_add_func("/row-isolation-sizes/limit-is-learned-from-many-batches", test_limit_is_learned_from_many_batches);
  g_test_add_func("/row-isolation-sizes/small-calls-that-are-cut-off-stay-whole",
                  test_small_calls_that_are_cut_off_stay_whole);
  g_test_add_func("/row-isolation-sizes/large-bad-rows-cost-a-call-each", test_large_bad_rows_cost_a_call_each);
  g_test_add_func("/row-isolation-sizes/large-good-rows-cost-one-call", test_large_good_rows_cost_one_call);
  g_test_add_func("/row-isolation-sizes/bad-rows-among-sizes-are-found", test_bad_rows_among_sizes_are_found);
  return g_test_run();
}
