#include "util/shortest_digits.h"

#include <charconv>

/* A sign, digits with a point, and "e-324". */
#define TEXT_BYTES 32

template <typename Number>
static TideShortestDigits
digits_of(Number value)
{
  char text[TEXT_BYTES];
  const char *end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  TideShortestDigits shortest = {};
  const char *at = text;
  shortest.is_negative = *at == '-';
  at += shortest.is_negative ? 1 : 0;
  for (; *at != 'e'; at++)
    if (*at != '.')
      shortest.digits[shortest.n_digits++] = *at;
  std::from_chars(at + (at[1] == '-' ? 1 : 2), end, shortest.exponent);
  return shortest;
}

TideShortestDigits
tide_shortest_digits_of_double(double value)
{
  return digits_of(value);
}

TideShortestDigits
tide_shortest_digits_of_float(float value)
{
  return digits_of(value);
}
