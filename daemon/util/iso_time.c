#include "util/iso_time.h"

#define FIRST_EPOCH_S G_GINT64_CONSTANT(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_EPOCH_S G_GINT64_CONSTANT(253402300799)  /* 9999-12-31T23:59:59Z */

#define DAY_S G_GINT64_CONSTANT(86400)

/* From the first of March of the year 0, so that a leap day is the last of its year, to 1970. */
#define DAYS_BEFORE_EPOCH 719468
#define DAYS_OF_400_YEARS 146097

/* @number with so many digits, and what stands behind it; returns the place behind that. */
static char *
put(char *at, int number, int n_digits, char behind)
{
  for (int i = n_digits; i > 0; i--, number /= 10)
    at[i - 1] = (char)('0' + number % 10);
  at[n_digits] = behind;
  return at + n_digits + 1;
}

/* By hand, the calendar too: a table's rows are printed by the million, each with some times. @day: since the first of
 * March of the year 0 */
static char *
put_date(char *at, int day)
{
  int day_of_400_years = day % DAYS_OF_400_YEARS;
  int year = (day_of_400_years - day_of_400_years / 1460 + day_of_400_years / 36524 - day_of_400_years / 146096) / 365;
  int day_of_year = day_of_400_years - (365 * year + year / 4 - year / 100);
  int month = (5 * day_of_year + 2) / 153; /* from March on, in which five months have 153 days */
  int is_next_year = month >= 10 ? 1 : 0;
  at = put(at, day / DAYS_OF_400_YEARS * 400 + year + is_next_year, 4, '-');
  at = put(at, month + 3 - 12 * is_next_year, 2, '-');
  return put(at, day_of_year - (153 * month + 2) / 5 + 1, 2, 'T');
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
  seconds += DAYS_BEFORE_EPOCH * DAY_S;
  int second_of_day = (int)(seconds % DAY_S);
  char *at = put_date(text, (int)(seconds / DAY_S));
  at = put(at, second_of_day / 3600, 2, ':');
  at = put(at, second_of_day / 60 % 60, 2, ':');
  at = put(at, second_of_day % 60, 2, '.');
  at = put(at, ms, 3, 'Z');
  *at = '\0';
  return text;
}
