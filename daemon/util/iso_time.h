/* Prints moments as RFC 3339 has them, in UTC and with milliseconds. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_ISO_TIME_BYTES 25 /* "2026-11-21T04:45:00.123Z" and its end */

/* Fills @text, and returns it. A moment outside of the years 1 to 9999 is its number. */
const char *tide_iso_time_print(gint64 epoch_ms, char text[TIDE_ISO_TIME_BYTES]);

G_END_DECLS
