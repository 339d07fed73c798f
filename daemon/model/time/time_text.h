/* Times as numbers that count from an origin, and as RFC 3339. Strict: the whole text must be the time. Digits finer
 * than nanoseconds are cut, and the caller learns of it. Reading allocates nothing. */
#pragma once

#include "model/time/time_pattern.h"

G_BEGIN_DECLS

/* The formats of times, and their words in the configuration. */
#define TIDE_TIME_FORMATS(X)                                                                                           \
  X(EPOCH_S, "epoch_s")                                                                                                \
  X(EPOCH_MS, "epoch_ms")                                                                                              \
  X(EPOCH_US, "epoch_us")                                                                                              \
  X(EPOCH_NS, "epoch_ns")                                                                                              \
  X(RFC3339, "rfc3339")                                                                                                \
  X(PATTERN, "pattern")   /* time_pattern.h */                                                                         \
  X(DOTNET, "dotnet")     /* /Date(1795871383000)/ */                                                                  \
  X(TICKS, "ticks")       /* of .NET: 100 ns since the year 1 */                                                       \
  X(FILETIME, "filetime") /* of Windows: 100 ns since the year 1601 */                                                 \
  X(EXCEL, "excel")       /* local days since 1899-12-30 */                                                            \
  X(RECORD, "record")     /* the record time */

#define TIDE_TIME_FORMAT_OF(name, word) TIDE_TIME_##name,
typedef enum TideTimeFormat { TIDE_TIME_FORMATS(TIDE_TIME_FORMAT_OF) TIDE_TIME_N_FORMATS } TideTimeFormat;

/* "epoch_ms" */
const char *tide_time_format_word(TideTimeFormat format);

/* Why a text is rejected. */
typedef enum TideTimeFault {
  TIDE_TIME_FAULT_NONE,
  TIDE_TIME_FAULT_SYNTAX, /* not in the format */
  TIDE_TIME_FAULT_RANGE,  /* in the format, but beyond what nanoseconds can count */
} TideTimeFault;

/* The error text for times that nanoseconds cannot count. */
#define TIDE_TIME_OUT_OF_RANGE "outside the years 1677 to 2262"

/* Whether it is a number: all formats except RFC 3339, patterns and the record time. */
gboolean tide_time_format_is_count(TideTimeFormat format);

/* The length of one unit of a count. */
gint64 tide_time_format_step_ns(TideTimeFormat format);

/**
 * tide_time_text_read_count: read a decimal number such as 1426535612045, 1426535612.045 or 1.426535612045E12. Excel's
 * is rounded to the millisecond.
 * @format: a count; if it counts local time, @ret_ns is that local time as if it were UTC
 * @ret_was_cut: the text is finer than nanoseconds
 * @ret_detail: on a fault: a string literal
 */
TideTimeFault tide_time_text_read_count(TideBytes text, TideTimeFormat format, gint64 *ret_ns, gboolean *ret_was_cut,
                                        const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* Prints a time that reads back as @ns, except for what is finer than the unit. Seconds and days have a fraction,
 * unless @is_whole. @ns: not negative. */
void tide_time_text_print_count(TideTimeFormat format, gint64 ns, gboolean is_whole, TideBuffer *out);

/* `2026-11-21T04:45:00.123456789+01:00`. T may be t or a space, and Z may be z (section 5.6 of the RFC allows both);
 * the point may be a comma; the offset has any form of ISO 8601 or is missing, as @ret_time's names show. */
gboolean tide_time_text_read_rfc3339(TideBytes text, TideTimeElements *ret_time,
                                     const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
