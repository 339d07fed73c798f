/* What a load that finds no gateway says, and when it ends; the time is the test's. */
#include "commands/load/load_wait.h"
#include "util/error.h"

#include <string.h>

#define START_US (100 * TIDE_US_PER_S)

static TidePipelineState
state_of(TidePipelineStage stage, const char *reason)
{
  return (TidePipelineState){.stage = stage, .reason = (char *)reason};
}

static void
assert_waits(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us)
{
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_load_wait_look(wait, state, now_us, &error));
  g_assert_no_error(error);
}

static void
test_no_gateway_is_not_waited_for_for_ever(void)
{
  TidePipelineState state =
      state_of(TIDE_STAGE_WAITING_FOR_GATEWAY, "no gateway is usable: cannot connect to 'gw1:9090'");
  TideLoadWait wait = {.start_us = START_US};
  g_autoptr(GError) error = NULL;
  assert_waits(&wait, &state, START_US);
  assert_waits(&wait, &state, START_US + TIDE_LOAD_GATEWAY_WAIT_US - 1);
  g_assert_false(tide_load_wait_look(&wait, &state, START_US + TIDE_LOAD_GATEWAY_WAIT_US, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  g_assert_cmpint(tide_error_exit_code(error), ==, 69);
  g_assert_nonnull(strstr(error->message, "no gateway is usable: cannot connect to 'gw1:9090'; none has answered since "
                                          "the start, for 60 s: "));
  g_assert_nonnull(strstr(error->message, "'tidemark check' tells more), then give the same command again"));
}

/* One has answered: what comes behind it may take as long as it takes. */
static void
test_what_follows_a_gateway_is_waited_for(void)
{
  TidePipelineState state = state_of(TIDE_STAGE_WAITING_FOR_TABLES, "cannot look at the tables: timed out");
  TideLoadWait wait = {.start_us = START_US};
  assert_waits(&wait, &state, START_US + 1000 * TIDE_LOAD_GATEWAY_WAIT_US);
}

static void
test_a_wait_is_told_once(void)
{
  if (g_test_subprocess()) {
    TidePipelineState state = state_of(TIDE_STAGE_WAITING_FOR_GATEWAY, "no gateway is usable: probing");
    TideLoadWait wait = {.start_us = START_US};
    assert_waits(&wait, &state, START_US + TIDE_LOAD_PATIENCE_US);
    g_assert_false(wait.is_told);
    assert_waits(&wait, &state, START_US + TIDE_LOAD_PATIENCE_US + 1);
    g_assert_true(wait.is_told);
    assert_waits(&wait, &state, START_US + 2 * TIDE_LOAD_PATIENCE_US);
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed();
  g_test_trap_assert_stderr("tidemark load: no gateway is usable: probing; waiting for one, for up to 60 s\n");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/load-wait/no-gateway-is-not-waited-for-for-ever", test_no_gateway_is_not_waited_for_for_ever);
  g_test_add_func("/load-wait/what-follows-a-gateway-is-waited-for", test_what_follows_a_gateway_is_waited_for);
  g_test_add_func("/load-wait/a-wait-is-told-once", test_a_wait_is_told_once);
  return g_test_run();
}
