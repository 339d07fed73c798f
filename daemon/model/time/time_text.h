/* Times as numbers that count from an origin, and as RFC 3339. Strict: the whole text must be the time; what is finer
 * than nanoseconds is cut, and it is told. Reading allocates nothing. */
#pragma once

#include "model/time/time_pattern.h"

G_BEGIN_DECLS

/* How times are written, and the word for it in configurations. */
#define TIDE_TIME_FORMATS(X)                                                                                           \
  X(EPOCH_S, "epoch_s")                                                                                                \
  X(EPOCH_MS, "epoch_ms")                                                                                              \
  X(EPOCH_US, "epoch_us")                                                                                              \
  X(EPOCH_NS, "epoch_ns")                                                                                              \
  X(RFC3339, "rfc3339")                                                                                                \
  X(PATTERN, "pattern")   /* time_pattern.h */                                                                         \
  X(DOTNET, "dotnet")     /* /Date(1795871383000)/ */                                                                  \
  X(TICKS, "ticks")       /* .NET's: of 100 ns, from the year 1 on */                                                  \
  X(FILETIME, "filetime") /* Windows': of 100 ns, from the year 1601 on */                                             \
  X(EXCEL, "excel")       /* days of a local clock, from 1899-12-30 on */                                              \
  X(RECORD, "record")     /* the Kafka record's own time */

#define TIDE_TIME_FORMAT_OF(name, word) TIDE_TIME_##name,
typedef enum TideTimeFormat { TIDE_TIME_FORMATS(TIDE_TIME_FORMAT_OF) TIDE_TIME_N_FORMATS } TideTimeFormat;

/* "epoch_ms" */
const char *tide_time_format_word(TideTimeFormat format);

/* Why a text is refused. */
typedef enum TideTimeFault {
  TIDE_TIME_FAULT_NONE,
  TIDE_TIME_FAULT_SYNTAX, /* not in the format */
  TIDE_TIME_FAULT_RANGE,  /* in the format, but beyond what nanoseconds can count */
} TideTimeFault;

/* What is said of times that nanoseconds cannot count. */
#define TIDE_TIME_OUT_OF_RANGE "outside of the years 1677 to 2262"

/* Whether it is a number: all but RFC 3339, patterns and the record's time. */
gboolean tide_time_format_is_count(TideTimeFormat format);

/* How much time one unit of a count is. */
gint64 tide_time_format_step_ns(TideTimeFormat format);

/**
 * tide_time_text_read_count: a decimal number such as 1426535612045, 1426535612.045 or 1.426535612045E12; of Excel
 * rounded to the millisecond.
 * @format: a count; of a local clock, @ret_ns is what that clock shows, as if it were UTC
 * @ret_was_cut: it is finer than nanoseconds
 * @ret_detail: on a fault: a string literal
 */
TideTimeFault tide_time_text_read_count(TideBytes text, TideTimeFormat format, gint64 *ret_ns, gboolean *ret_was_cut,
                                        const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

/* As it is read back, but for what is finer than the unit: of seconds and days a fraction is printed, unless @is_whole
 * says that none is wanted. @ns: not negative. */
void tide_time_text_print_count(TideTimeFormat format, gint64 ns, gboolean is_whole, TideBuffer *out);

/* `2026-11-21T04:45:00.123456789+01:00`. The T may be t or a space, the Z a z (section 5.6 of the RFC allows both), the
 * point a comma, the offset any form of ISO 8601, and it may be missing: @ret_time's names say so. */
gboolean tide_time_text_read_rfc3339(TideBytes text, TideTimeElements *ret_time,
                                     const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
