#include "util/iso_time.h"

#include <time.h>

#define FIRST_EPOCH_S G_GINT64_CONSTANT(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_EPOCH_S G_GINT64_CONSTANT(253402300799)  /* 9999-12-31T23:59:59Z */

/* @number with so many digits, and what stands behind it; returns the place behind that. */
static char *
put(char *at, int number, int n_digits, char behind)
{
  for (int i = n_digits; i > 0; i--, number /= 10)
    at[i - 1] = (char)('0' + number % 10);
  at[n_digits] = behind;
  return at + n_digits + 1;
}

/* By hand: a table's rows are printed by the million, each with some times. */
static void
print_parts(const struct tm *utc, int ms, char *at)
{
  at = put(at, utc->tm_year + 1900, 4, '-');
  at = put(at, utc->tm_mon + 1, 2, '-');
  at = put(at, utc->tm_mday, 2, 'T');
  at = put(at, utc->tm_hour, 2, ':');
  at = put(at, utc->tm_min, 2, ':');
  at = put(at, utc->tm_sec, 2, '.');
  at = put(at, ms, 3, 'Z');
  *at = '\0';
}

const char *
tide_iso_time_print(gint64 epoch_ms, char text[TIDE_ISO_TIME_BYTES])
{
  int ms = (int)(epoch_ms % 1000);
  time_t seconds = (time_t)(epoch_ms / 1000);
  if (ms < 0) {
    ms += 1000;
    seconds--;
  }
  struct tm utc;
  if (seconds < FIRST_EPOCH_S || seconds > LAST_EPOCH_S || gmtime_r(&seconds, &utc) == NULL)
    g_snprintf(text, TIDE_ISO_TIME_BYTES, "%" G_GINT64_FORMAT, epoch_ms);
  else
    print_parts(&utc, ms, text);
  return text;
}
