/* Converts a number to another unit: times a scale, plus an offset. The arithmetic is decimal, so 0.1 times 3 is 0.3
 * and the result is exact. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The maximum length of a number, before and after conversion; the same as for a number in JSON. */
#define TIDE_DECIMAL_MAX_BYTES 64
/* Limits the significant digits of a scale or offset, and its digits before and after the point. */
#define TIDE_UNIT_CHANGE_MAX_DIGITS 32

/* The number `digits`, read as an integer, times ten to the power of `exponent`. Zero has no digits; the first digit
 * and the last one are never 0. */
typedef struct TideDecimal {
  guint8 digits[TIDE_DECIMAL_MAX_BYTES + TIDE_UNIT_CHANGE_MAX_DIGITS];
  guint n_digits;
  gint exponent;
  gboolean is_negative;
} TideDecimal;

typedef struct TideUnitChange {
  TideDecimal scale;
  TideDecimal offset;
} TideUnitChange;

/* Reads a number as in JSON, or with a leading plus. FALSE: @text is not a number, or longer than
 * TIDE_DECIMAL_MAX_BYTES. */
gboolean tide_decimal_read(TideBytes text, TideDecimal *ret_decimal) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_decimal_equal(const TideDecimal *a, const TideDecimal *b);

/* Reads "0.001", "-273.15" or "1e-3" for a scale or an offset. FALSE: not a number, or more digits or places than
 * TIDE_UNIT_CHANGE_MAX_DIGITS. */
gboolean tide_unit_change_read(const char *text, TideDecimal *ret_decimal) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_unit_change_apply: append the decimal number @text, converted to the other unit.
 * The result is exact and canonical: without an exponent, without trailing zeros after the point, and never "-0".
 * Returns: FALSE with @ret_detail (a string literal): @text is not a number, or the result has more than
 * TIDE_DECIMAL_MAX_BYTES; nothing was appended.
 * Threads: any. Allocates: only by growing @out.
 */
gboolean tide_unit_change_apply(const TideUnitChange *change, TideBytes text, TideBuffer *out,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
