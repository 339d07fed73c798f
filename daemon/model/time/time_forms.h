/* Common forms of times, and which of them read a given text. `init` uses them to find the format of readings, and
 * errors to suggest another format than the declared one. */
#pragma once

#include "model/time/time_text.h"

G_BEGIN_DECLS

typedef struct TideTimeForm {
  TideTimeFormat format;
  const char *pattern; /* with TIDE_TIME_PATTERN */
  const char *zone;    /* named in the text, as GMT is; NULL: none */
  gboolean is_moment;  /* it has a date and a time of day */
} TideTimeForm;

/* The form at @index, the plainest first. Forms that read the same texts as different times, with day and month
 * swapped, are adjacent. NULL: after the last. */
const TideTimeForm *tide_time_form_at(guint index);

/**
 * tide_time_form_read: read @text in the form at @index.
 * @ret_ns: since 1970, between 2000 and 2100, because other numbers have another unit; a time of day is on 1970-01-01
 * @ret_needs_zone: the text names a local time without a zone, and @ret_ns is as if it were UTC
 * Returns: FALSE: @text does not have that form. Threads: any. Allocates: only at the first call.
 */
gboolean tide_time_form_read(guint index, TideBytes text, gint64 *ret_ns,
                             gboolean *ret_needs_zone) G_GNUC_WARN_UNUSED_RESULT;

/* "'format: rfc3339' reads it, with a 'zone'": the options that read @text as a time not before @earliest_ms. (transfer
 * full) (nullable): none is known. */
char *tide_time_forms_remedy(TideBytes text, gint64 earliest_ms);

G_END_DECLS
