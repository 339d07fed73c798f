/* Counts, durations and sizes as people read them, in the same words wherever they are printed. Pure. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The two largest units: "850 ms", "3.2 s", "5 min 3 s", "2 d 4 h"; a negative one is "in 3.2 s". (transfer full) */
char *tide_age_text(gint64 age_ms);

/* With a comma between thousands: "100,000". (transfer full) */
char *tide_count_text(guint64 count);

/* The same with its noun: "1 message", "1,204 messages". @more: for any count but one; NULL: the noun with an s.
 * (transfer full) */
char *tide_count_of(guint64 count, const char *one, const char *more);

/* @bytes in the largest unit of which there is one, up to TiB. @ret_unit: a literal */
double tide_size_in_unit(double bytes, const char **ret_unit);

/* "512 B", "1.5 KiB", "256 MiB". (transfer full) */
char *tide_size_text(double bytes);

G_END_DECLS
