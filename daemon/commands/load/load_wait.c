#include "commands/load/load_wait.h"

#include "util/error.h"

#include <stdio.h>

gboolean
tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us, GError **error)
{
  gint64 waited_us = now_us - wait->start_us;
  if (state->stage == TIDE_STAGE_WAITING_FOR_GATEWAY && waited_us >= TIDE_LOAD_GATEWAY_WAIT_US)
    return tide_fail(error, TIDE_ERROR_UNAVAILABLE,
                     "%s; none has answered since the start, for %d s: see whether HBase's Thrift servers run and "
                     "'hbase.gateways' names them ('tidemark check' tells more), then give the same command again",
                     state->reason, (int)(TIDE_LOAD_GATEWAY_WAIT_US / TIDE_US_PER_S));
  if (!wait->is_told && waited_us > TIDE_LOAD_PATIENCE_US && state->reason != NULL) {
    if (state->stage == TIDE_STAGE_WAITING_FOR_GATEWAY)
      fprintf(stderr, "tidemark load: %s; waiting for one, for up to %d s\n", state->reason,
              (int)(TIDE_LOAD_GATEWAY_WAIT_US / TIDE_US_PER_S));
    else
      fprintf(stderr, "tidemark load: %s; waiting for it\n", state->reason);
    wait->is_told = TRUE;
  }
  return TRUE;
}
