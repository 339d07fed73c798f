/* What was found in the samples, as it is shown: each field, its first value, and what it is taken for. */
#pragma once

#include "commands/init/draft.h"

G_BEGIN_DECLS

/* On standard output; what was left out on standard error. */
void tide_init_show_findings(const TideInitSamples *samples, const TideInitDraft *draft);

G_END_DECLS
