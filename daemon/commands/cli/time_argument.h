/* Times and durations as people write and read them on a command line. Pure: the caller provides the current time. */
#pragma once

#include "util/error.h"

#include <glib.h>

G_BEGIN_DECLS

/* "500ms", "10s", "5m", "2h", "7d". Errors: TIDE_ERROR_USAGE, to be appended to the option's name; a bare number is
 * rejected with a hint. @max_ms: as in tide_duration_parse() */
gboolean tide_duration_argument_parse(const char *text, gint64 max_ms, gint64 *ret_ms,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_time_argument_parse: a time: `now`, a duration before or after it (`-15m`, `+1h`), epoch milliseconds, a date
 * (midnight in UTC), or RFC 3339 with its offset.
 * @now_ns: the value of `now`, since the epoch
 * @ret_ns: since the epoch; undefined on failure
 * Errors: TIDE_ERROR_USAGE, to be appended to the option's name.
 */
gboolean tide_time_argument_parse(const char *text, gint64 now_ns, gint64 *ret_ns,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for the value of the option --@option; @ret_ns is unchanged if @text is NULL. Errors: likewise, including
 * the option's name. */
gboolean tide_time_option_parse(const char *option, const char *text, gint64 now_ns, gint64 *ret_ns,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same in milliseconds, rounded up, because a time denotes the first millisecond at or after it. */
gboolean tide_time_option_parse_ms(const char *option, const char *text, gint64 now_ms, gint64 *ret_ms,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "2026-11-21T04:45:00.123Z"; a time outside the calendar is printed as a number. (transfer full) */
char *tide_time_text(gint64 epoch_ms);

G_END_DECLS
