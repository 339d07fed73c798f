/* The forms in which senders commonly write times: which of them read a text, for those who look for the format of
 * readings, and for those who were told that the declared one does not fit. */
#pragma once

#include "model/time/time_text.h"

G_BEGIN_DECLS

typedef struct TideTimeForm {
  TideTimeFormat format;
  const char *pattern; /* with TIDE_TIME_PATTERN */
  const char *zone;    /* that its words name, as GMT does; NULL: none */
  gboolean is_moment;  /* a date and a time of day */
} TideTimeForm;

/* The forms, the plainest first; those that read the same texts as different times, days for months, stand side by
 * side. NULL behind the last. */
const TideTimeForm *tide_time_form_at(guint index);

/**
 * tide_time_form_read: the moment that @text names in the form at @index.
 * @ret_ns: since 1970; between 2000 and 2100, beyond which numbers are of another unit; of a time of day, on 1970-01-01
 * @ret_needs_zone: it is by a clock that the text does not name, and @ret_ns as if it were UTC's
 * Returns: FALSE when it is no time of that form. Threads: any. Allocates: at the first call only.
 */
gboolean tide_time_form_read(guint index, TideBytes text, gint64 *ret_ns,
                             gboolean *ret_needs_zone) G_GNUC_WARN_UNUSED_RESULT;

/* "'format: rfc3339' reads it, with a 'zone'": which of the time's options read @text, as a time that is not
 * before @earliest_ms. (transfer full) (nullable): none is known. */
char *tide_time_forms_remedy(TideBytes text, gint64 earliest_ms);

G_END_DECLS
