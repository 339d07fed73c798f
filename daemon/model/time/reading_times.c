#include "model/time/reading_times.h"

typedef struct ReadingTime {
  const TideTimeSpec *spec; /* borrowed */
  gint64 ns;
  guint64 read_at; /* n_begun when ns was read; 0: never */
} ReadingTime;

void
tide_reading_times_clear(TideReadingTimes *times)
{
  g_clear_pointer(&times->times, g_array_unref);
}

static ReadingTime *
time_at(const TideReadingTimes *times, guint index)
{
  return &g_array_index(times->times, ReadingTime, index);
}

guint
tide_reading_times_add(TideReadingTimes *times, const TideTimeSpec *spec)
{
  if (times->times == NULL)
    times->times = g_array_new(FALSE, FALSE, sizeof(ReadingTime));
  for (guint i = 0; i < times->times->len; i++)
    if (tide_time_spec_equal(time_at(times, i)->spec, spec))
      return i;
  ReadingTime added = {.spec = spec};
  g_array_append_val(times->times, added);
  return times->times->len - 1;
}

void
tide_reading_times_begin(TideReadingTimes *times, const TideReading *reading, TideRecordTime record)
{
  times->reading = reading;
  times->record = record;
  times->n_begun++;
  times->some_ambiguous = FALSE;
}

gboolean
tide_reading_times_get(TideReadingTimes *times, guint index, gint64 *ret_ns, TideReject *ret_reject)
{
  ReadingTime *time = time_at(times, index);
  if (time->read_at != times->n_begun) {
    TideEventTime read;
    if (!tide_time_spec_read(time->spec, times->reading, &times->record, &read, ret_reject))
      return FALSE;
    time->ns = read.ns;
    times->some_ambiguous |= read.was_ambiguous;
    time->read_at = times->n_begun;
  }
  *ret_ns = time->ns;
  return TRUE;
}

gboolean
tide_reading_times_is_future(const TideReadingTimes *times, guint index)
{
  const ReadingTime *time = time_at(times, index);
  return tide_time_spec_is_future(time->spec, &times->record, time->ns);
}

void
tide_reading_times_reject_future(const TideReadingTimes *times, guint index, TideReject *ret_reject)
{
  tide_time_spec_reject_future(time_at(times, index)->spec, times->reading, ret_reject);
}
