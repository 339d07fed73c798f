/* Which rows of a call are set aside because of what its refusal says of sizes, and what that saves. */
#include "write/call_slices.h"

#include "unit/isolation_gateway.h"

/* Where it says above which size, those rows cost one call each, and all others together two. */
static void
test_rows_above_a_limit_cost_a_call_each(void)
{
  for (guint32 large_every = 125; large_every <= 1000; large_every *= 2) {
    Gateway *gateway = gateway_new();
    add_batch_of_sizes(gateway, 0, 1000, large_every);
    add_batch_of_sizes(gateway, 1, 1000, large_every);
    gateway->is_naming = TRUE;
    for (guint32 i = 0; i < 2000; i += large_every)
      gateway->is_bad[i] = i != 1000; /* that one is taken, though it is as large */
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    g_assert_cmpuint(gateway->n_calls, ==, 2 + 2000 / large_every);
    gateway_free(gateway);
  }
}

/* Too many to be sent one by one, or others are bad besides: they are found as named ones are. */
static void
test_rows_above_a_limit_are_not_all_that_is_bad(void)
{
  for (guint32 large_every = 50; large_every <= 500; large_every *= 10) {
    Gateway *gateway = gateway_new();
    add_batch_of_sizes(gateway, 0, 1000, large_every);
    gateway->is_naming = TRUE;
    for (guint32 i = 0; i < 1000; i += large_every)
      gateway->is_bad[i] = TRUE;
    gateway->is_bad[777] = TRUE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    g_assert_cmpuint(gateway->n_calls, <=, 3 * count_bad(gateway) + 6);
    gateway_free(gateway);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/call-slices/rows-above-a-limit-cost-a-call-each", test_rows_above_a_limit_cost_a_call_each);
  g_test_add_func("/call-slices/rows-above-a-limit-are-not-all-that-is-bad",
                  test_rows_above_a_limit_are_not_all_that_is_bad);
  return g_test_run();
}
