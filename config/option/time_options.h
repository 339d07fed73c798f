/* How the time of a reading is read: the options of readings.time, and of a table's `time` and `cell_time`. load_time.c
 * checks them together. */
#pragma once

#include "config/option/option.h"

G_BEGIN_DECLS

extern const TideConfigGroup tide_time_options; /* a TideTimeSpec */

G_END_DECLS
