/* The times of one reading, as the tables declare them: each is read when a table asks for it first, and once only
 * however many tables share it. So a table that does not take a reading does not ask for its time either. */
#pragma once

#include "model/time/time_spec.h"

G_BEGIN_DECLS

/* Zero-initialised is empty and valid. */
typedef struct TideReadingTimes {
  GArray *times; /* owned (element-type: of the implementation) */
  const TideReading *reading;
  TideRecordTime record;
  guint64 n_begun;
  gboolean some_ambiguous; /* of the reading's times that were read: local times that happen twice */
} TideReadingTimes;

void tide_reading_times_clear(TideReadingTimes *times);

/* The place of @spec: of an equal one where there is one. @spec: borrowed. */
guint tide_reading_times_add(TideReadingTimes *times, const TideTimeSpec *spec);

/* What is asked from here on is asked of @reading, borrowed until the next begin. */
void tide_reading_times_begin(TideReadingTimes *times, const TideReading *reading, TideRecordTime record);

/* The time at @index; else as tide_time_spec_read(). */
gboolean tide_reading_times_get(TideReadingTimes *times, guint index, gint64 *ret_ns,
                                TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the time at @index, which was got, is too far in the future for a latest table. */
gboolean tide_reading_times_is_future(const TideReadingTimes *times, guint index);
void tide_reading_times_reject_future(const TideReadingTimes *times, guint index, TideReject *ret_reject);

G_END_DECLS
