/* How a time is read from a reading: the options of readings.time, and of a table's `time` and `cell_time`. What they
 * say together is checked by load_time.c. */
#pragma once

#include "config/option/option.h"

G_BEGIN_DECLS

extern const TideConfigGroup tide_time_options; /* a TideTimeSpec */

G_END_DECLS
