/* The steps of readings.fields, and the options of each. */
#pragma once

#include "config/option/option.h"

G_BEGIN_DECLS

/* Each group fills a TideFieldStep. */
extern const TideConfigGroup tide_step_open_options;
extern const TideConfigGroup tide_step_pivot_options;
extern const TideConfigGroup tide_step_split_options;
extern const TideConfigGroup tide_step_decimal_options;
extern const TideConfigGroup tide_step_resolve_options;

/* All groups, in the order of the reference; NULL-terminated. */
extern const TideConfigGroup *const tide_field_language[];

G_END_DECLS
