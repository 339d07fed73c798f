/* A number in another unit: times a scale, plus an offset, as decimals. No binary fraction comes in, so 0.1 times 3 is
 * 0.3, and every digit of the result is right. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* What a number may be as text, before and after: as much as a number of JSON may. */
#define TIDE_DECIMAL_MAX_BYTES 64
/* Of a scale or an offset: digits that count, and places before and behind the point. */
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

/* Reads a number that is written with digits, a point and an exponent, as JSON does or with a plus in front. FALSE:
 * @text is none, or longer than TIDE_DECIMAL_MAX_BYTES. */
gboolean tide_decimal_read(TideBytes text, TideDecimal *ret_decimal) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_decimal_equal(const TideDecimal *a, const TideDecimal *b);

/* Reads "0.001", "-273.15" or "1e-3" for a scale or an offset. FALSE when it is none, or has more digits or places than
 * TIDE_UNIT_CHANGE_MAX_DIGITS. */
gboolean tide_unit_change_read(const char *text, TideDecimal *ret_decimal) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_unit_change_apply: append @text, a decimal number with a sign, a point and an exponent or without, in the other
 * unit. What is appended is exact, and one text for each number: without exponent, without zeros at the end behind the
 * point, and never "-0".
 * Returns: FALSE with @ret_detail (a string literal) where @text is no such number, or the result has more than
 * TIDE_DECIMAL_MAX_BYTES; nothing was appended then. Threads: any. Allocates: only by growing @out.
 */
gboolean tide_unit_change_apply(const TideUnitChange *change, TideBytes text, TideBuffer *out,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
