/* Which day a rollup is of. Pure: "now" is given. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct TideRollupDay {
  char name[9];   /* "20170726" */
  gint64 from_ms; /* [from, to), epoch; 23 to 25 hours in zones whose clocks are set */
  gint64 to_ms;
} TideRollupDay;

/**
 * tide_rollup_day_parse: the day @text, "2017-07-26" or "20170726", by the clocks of @zone (NULL: UTC).
 * @text: NULL is the day before the one that @now_ms is in
 * Errors: TIDE_ERROR_USAGE, to be put behind the option's name.
 */
gboolean tide_rollup_day_parse(const char *text, GTimeZone *zone, gint64 now_ms, TideRollupDay *ret_day,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
