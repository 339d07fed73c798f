#include "util/iso_time.h"

#include <time.h>

#define FIRST_EPOCH_S G_GINT64_CONSTANT(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_EPOCH_S G_GINT64_CONSTANT(253402300799)  /* 9999-12-31T23:59:59Z */

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
    g_snprintf(text, TIDE_ISO_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
               utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
  return text;
}
