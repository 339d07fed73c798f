/* Numbers, times and bytes as texts, for formats that contain them in binary. A number or time is written into @text
 * and may start after its first byte. */
#pragma once

#include "model/scratch.h"
#include "util/number_text.h"

G_BEGIN_DECLS

/* An integer has at most 20 digits with its sign; a time has 20, a point, nine digits and a NUL. */
#define TIDE_VALUE_TEXT_BYTES 40
G_STATIC_ASSERT(TIDE_VALUE_TEXT_BYTES >= TIDE_NUMBER_TEXT_BYTES);

static inline TideBytes
tide_integer_text(char text[TIDE_VALUE_TEXT_BYTES], guint64 magnitude, gboolean is_negative)
{
  char *end = text + TIDE_VALUE_TEXT_BYTES, *at = end;
  do
    *--at = (char)('0' + magnitude % 10);
  while ((magnitude /= 10) > 0);
  if (is_negative)
    *--at = '-';
  return tide_bytes(at, (gsize)(end - at));
}

static inline TideBytes
tide_signed_text(char text[TIDE_VALUE_TEXT_BYTES], gint64 value)
{
  return tide_integer_text(text, value < 0 ? (guint64)0 - (guint64)value : (guint64)value, value < 0);
}

/* Seconds since 1970, with nine decimals if there is a fraction. @ns: of the second that begins at
 * @seconds, below 10^9, also before 1970. */
static inline TideBytes
tide_seconds_text(char text[TIDE_VALUE_TEXT_BYTES], gint64 seconds, guint32 ns)
{
  /* The decimals count forwards, also before 1970. */
  gboolean is_negative = seconds < 0;
  guint64 magnitude = is_negative ? (guint64)0 - (guint64)seconds : (guint64)seconds;
  if (is_negative && ns > 0) {
    magnitude--;
    ns = 1000000000 - ns;
  }
  const char *sign = is_negative ? "-" : "";
  int len = ns > 0 ? g_snprintf(text, TIDE_VALUE_TEXT_BYTES, "%s%" G_GUINT64_FORMAT ".%09u", sign, magnitude, ns)
                   : g_snprintf(text, TIDE_VALUE_TEXT_BYTES, "%s%" G_GUINT64_FORMAT, sign, magnitude);
  return tide_bytes(text, (gsize)len);
}

/* The shortest text that reads back as @value, which is finite. */
static inline TideBytes
tide_double_text(char text[TIDE_VALUE_TEXT_BYTES], double value)
{
  return tide_double_print_bytes(value, text);
}

static inline TideBytes
tide_float_text(char text[TIDE_VALUE_TEXT_BYTES], float value)
{
  return tide_bytes_of_string(tide_float_print(value, text));
}

/* Two digits, lower case, for each byte; in @scratch. */
static inline TideBytes
tide_hex_text(TideScratch *scratch, TideBytes bytes)
{
  char *text = (char *)tide_scratch_take(scratch, bytes.len * 2);
  for (gsize i = 0; i < bytes.len * 2; i++)
    text[i] = "0123456789abcdef"[bytes.data[i / 2] >> (i % 2 == 0 ? 4 : 0) & 0x0F];
  return tide_bytes(text, bytes.len * 2);
}

G_END_DECLS
