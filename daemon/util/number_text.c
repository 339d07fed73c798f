#include "util/number_text.h"

#include <math.h>

/* A decimal of 15 digits survives the way to a double and back, and 17 digits tell all doubles apart; 6 and 9 for
 * floats. */

const char *
tide_double_print(double value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_ascii_formatd(text, TIDE_NUMBER_TEXT_BYTES, formats[i], value);
    if (!islessgreater(g_ascii_strtod(text, NULL), value))
      break;
  }
  return text;
}

const char *
tide_float_print(float value, char text[TIDE_NUMBER_TEXT_BYTES])
{
  static const char *const formats[] = {"%.6g", "%.7g", "%.8g", "%.9g"};
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_ascii_formatd(text, TIDE_NUMBER_TEXT_BYTES, formats[i], (double)value);
    if (!islessgreater((float)g_ascii_strtod(text, NULL), value))
      break;
  }
  return text;
}
