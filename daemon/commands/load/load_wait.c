#include "commands/load/load_wait.h"

#include "commands/cli/output.h"

void
tide_load_wait_look(TideLoadWait *wait, const TidePipelineState *state, gint64 now_us)
{
  if (wait->is_told || now_us - wait->start_us <= TIDE_LOAD_PATIENCE_US || state->reason == NULL)
    return;
  tide_say("tidemark load: %s; waiting for it, for up to %d s", state->reason,
           (int)(TIDE_PIPELINE_START_LIMIT_US / TIDE_US_PER_S));
  wait->is_told = TRUE;
}
