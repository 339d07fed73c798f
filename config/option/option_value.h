/* Values with units, as the operator writes them: "500ms", "1MiB", "2026-01-01". Written values read back unchanged.
 * Errors are TIDE_ERROR_CONFIG and contain only the reason; the caller names the option. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A whole number and one of ms, s, m, h, d. A number without a unit is rejected because it is ambiguous. @default_ms
 * and @max_ms are the option's default and maximum; 0: not known. The error names the units that were probably meant,
 * by the default or otherwise the maximum. */
gboolean tide_duration_parse(const char *text, gint64 default_ms, gint64 max_ms, gint64 *ret_ms,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_duration_format(gint64 duration_ms); /* in the largest unit that keeps it a whole number; (transfer full) */

/* A whole number of bytes, or of KiB, MiB or GiB. */
gboolean tide_size_parse(const char *text, guint64 *ret_bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_size_format(guint64 size_bytes); /* (transfer full) */

/* A whole number, decimal, not negative. */
gboolean tide_number_parse(const char *text, guint64 *ret_number, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A date ("2026-01-01", its start in UTC) or a full RFC 3339 time ("2026-01-01T12:00:00+01:00"). Whole milliseconds. */
gboolean tide_epoch_parse(const char *text, gint64 *ret_epoch_ms, GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *tide_epoch_format(gint64 epoch_ms); /* (transfer full) */

G_END_DECLS
