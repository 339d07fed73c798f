/* Prints what was found in the samples: each field, its first value, and its use. */
#pragma once

#include "commands/init/draft.h"

G_BEGIN_DECLS

/* On standard output; rejected messages on standard error. */
void tide_init_show_findings(const TideInitSamples *samples, const TideInitDraft *draft);

G_END_DECLS
