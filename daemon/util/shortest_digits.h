/* The shortest decimal digits that read back as a floating point number, by the standard library's Ryu: exact, in some
 * tens of nanoseconds. number_text.h makes a text of them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define TIDE_SHORTEST_DIGITS_MAX 17

/* Digits d, and the exponent e of d[0].d[1]d[2]... times 10^e. The last digit is 0 for zero alone. */
typedef struct TideShortestDigits {
  char digits[TIDE_SHORTEST_DIGITS_MAX];
  guint8 n_digits;
  gboolean is_negative; /* of -0, too */
  int exponent;
} TideShortestDigits;

/* @value: finite. Threads: any. Allocates: nothing. */
TideShortestDigits tide_shortest_digits_of_double(double value);
TideShortestDigits tide_shortest_digits_of_float(float value); /* that read back as the same float */

G_END_DECLS
