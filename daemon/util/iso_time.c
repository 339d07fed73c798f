#include "util/iso_time.h"

#include "util/calendar.h"

#define FIRST_EPOCH_S G_GINT64_CONSTANT(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_EPOCH_S G_GINT64_CONSTANT(253402300799)  /* 9999-12-31T23:59:59Z */

/* @number with so many digits, and what stands behind it; returns the place behind that. By hand, since a table's rows
 * are printed by the million, each with some times. */
static char *
put(char *at, int number, int n_digits, char behind)
{
  for (int i = n_digits; i > 0; i--, number /= 10)
    at[i - 1] = (char)('0' + number % 10);
  at[n_digits] = behind;
  return at + n_digits + 1;
}

const char *
tide_iso_time_print(gint64 epoch_ms, char text[TIDE_ISO_TIME_BYTES])
{
  int ms = (int)(epoch_ms % 1000);
  gint64 seconds = epoch_ms / 1000;
  if (ms < 0) {
    ms += 1000;
    seconds--;
  }
  if (seconds < FIRST_EPOCH_S || seconds > LAST_EPOCH_S) {
    g_snprintf(text, TIDE_ISO_TIME_BYTES, "%" G_GINT64_FORMAT, epoch_ms);
    return text;
  }
  gint64 days = tide_day_of_seconds(seconds);
  int second_of_day = (int)(seconds - days * TIDE_SECONDS_PER_DAY);
  int year, month, day;
  tide_date_of_days(days, &year, &month, &day);
  char *at = put(text, year, 4, '-');
  at = put(at, month, 2, '-');
  at = put(at, day, 2, 'T');
  at = put(at, second_of_day / 3600, 2, ':');
  at = put(at, second_of_day / 60 % 60, 2, ':');
  at = put(at, second_of_day % 60, 2, '.');
  at = put(at, ms, 3, 'Z');
  *at = '\0';
  return text;
}
