/* Reads times out of text: numbers since the epoch, RFC 3339, and patterns. Strict: the whole text must be
 * the time, and nothing is rounded away. Allocates nothing. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Why a text is refused. */
typedef enum TideTimeFault {
  TIDE_TIME_FAULT_NONE,
  TIDE_TIME_FAULT_SYNTAX, /* not in the format */
  TIDE_TIME_FAULT_RANGE,  /* in the format, but outside of the years 1677 to 2262 that nanoseconds can count */
} TideTimeFault;

/* What a text says, before zones and plausibility. */
typedef struct TideTimeText {
  gboolean has_date; /* year, month and day are set */
  int year;
  int month;
  int day;
  int hour;
  int minute;
  int second;
  int nanosecond;
  gboolean has_offset; /* RFC 3339 only */
  int offset_s;        /* local minus UTC */
} TideTimeText;

/**
 * tide_time_text_read_epoch: a decimal number counted since the epoch, such as 1426535612045 or 1.426535612045E12.
 * @decimals: of the unit in seconds: 0 for s, 3 for ms, 6 for us, 9 for ns. Only whole units are accepted, but for
 *     seconds, which may have a fraction of up to 9 digits
 * @ret_detail: on a fault: a string literal
 */
TideTimeFault tide_time_text_read_epoch(TideBytes text, int decimals, gint64 *ret_ns,
                                        const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* `2026-11-21T04:45:00.123456789+01:00`. The T may be t or a space, the Z a z (section 5.6 of the RFC allows
 * both), and the offset may be missing: has_offset says so. */
gboolean tide_time_text_read_rfc3339(TideBytes text, TideTimeText *ret_time,
                                     const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* @text by @pattern, which tide_time_pattern_check() accepted. What the pattern does not name is 0. */
gboolean tide_time_text_read_pattern(TideBytes text, const char *pattern, TideTimeText *ret_time,
                                     const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Seconds of the date and time of day as if they were UTC. */
gint64 tide_time_text_local_s(const TideTimeText *time);

G_END_DECLS
