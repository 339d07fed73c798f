#include "util/shortest_digits.h"

#include <charconv>
#include <cstdlib>

/* A sign, digits with a point, "e-324" and a NUL. */
#define TEXT_BYTES 32

template <typename Number>
static TideShortestDigits
digits_of(Number value)
{
  char text[TEXT_BYTES];
  *std::to_chars(text, text + sizeof text - 1, value, std::chars_format::scientific).ptr = '\0';
  TideShortestDigits shortest = {};
  const char *at = text;
  shortest.is_negative = *at == '-';
  at += shortest.is_negative ? 1 : 0;
  for (; *at != 'e'; at++)
    if (*at != '.')
      shortest.digits[shortest.n_digits++] = *at;
  shortest.exponent = std::atoi(at + 1);
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
