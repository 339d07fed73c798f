/* Counts, durations and sizes in a uniform format for people. Pure. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The two largest units: "850 ms", "3.2 s", "5 min 3 s", "2 d 4 h"; a negative age is "in 3.2 s". (transfer full) */
char *tide_age_text(gint64 age_ms);

/* With thousands separators: "100,000". (transfer full) */
char *tide_count_text(guint64 count);

/* The count with its noun: "1 message", "1,204 messages". @more: for any count except one; NULL: the noun with an s.
 * (transfer full) */
char *tide_count_of(guint64 count, const char *one, const char *more);

/* @bytes in the largest unit that is at most @bytes, up to TiB. @ret_unit: a literal */
double tide_size_in_unit(double bytes, const char **ret_unit);

/* "512 B", "1.5 KiB", "256 MiB". (transfer full) */
char *tide_size_text(double bytes);

G_END_DECLS
