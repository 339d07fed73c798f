/* What a load that waits at its start says; the time is the test's. */
#include "commands/load/load_report.h"

#include "unit/test_case.h"

#define START_US (100 * TIDE_US_PER_S)

TEST("/load-wait/a-wait-is-told-once")
{
  if (g_test_subprocess()) {
    TidePipelineState state = {.stage = TIDE_STAGE_WAITING_FOR_GATEWAY,
                               .reason = (char *)"no gateway is usable: probing"};
    TideLoadWait wait = {.start_us = START_US};
    tide_load_wait_look(&wait, &state, START_US + TIDE_LOAD_PATIENCE_US);
    g_assert_false(wait.is_told);
    tide_load_wait_look(&wait, &state, START_US + TIDE_LOAD_PATIENCE_US + 1);
    g_assert_true(wait.is_told);
    tide_load_wait_look(&wait, &state, START_US + 2 * TIDE_LOAD_PATIENCE_US);
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed();
  g_test_trap_assert_stderr("tidemark load: no gateway is usable: probing; waiting for it, for up to 60 s\n");
}
