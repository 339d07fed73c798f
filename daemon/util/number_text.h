/* Prints floating point numbers as the shortest decimals that read back as the same number: 0.005, not
 * 0.0050000000000000001. Always with the C locale's decimal point; exponents as 1e+22. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

#define TIDE_NUMBER_TEXT_BYTES G_ASCII_DTOSTR_BUF_SIZE

/* @value: if it is not finite, the text is not a number. Returns: the text, followed by a NUL; it may start after the
 * first byte of @text. Threads: any. Allocates: nothing. */
TideBytes tide_double_print_bytes(double value, char text[TIDE_NUMBER_TEXT_BYTES]);
static inline const char *
tide_double_print(double value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  return (const char *)tide_double_print_bytes(value, text).data;
}
const char *tide_float_print(float value, char text[TIDE_NUMBER_TEXT_BYTES]); /* reads back as the same float */

G_END_DECLS
