/* Reads a reading's event time from fields in a declared format or from the record, and prints it into the fields. */
#pragma once

#include "model/reading.h"
#include "model/reject.h"
#include "model/time/time_text.h"

G_BEGIN_DECLS

/* The disposition of a reading whose time is too far in the future. */
typedef enum TideOnFuture {
  TIDE_FUTURE_REJECT,
  TIDE_FUTURE_HISTORY, /* latest tables, in which it would hide all later readings, do not get it; other tables do */
} TideOnFuture;

/* Which of two moments is meant by a local time that occurs twice because clocks were set back. */
typedef enum TideOnAmbiguous {
  TIDE_AMBIGUOUS_UNSET,  /* like record */
  TIDE_AMBIGUOUS_RECORD, /* the one that the record time follows within the interval between the two; if it fits both or
                          * neither, the reading is rejected */
  TIDE_AMBIGUOUS_EARLIER,
  TIDE_AMBIGUOUS_LATER,
  TIDE_AMBIGUOUS_REJECT,
} TideOnAmbiguous;

/* The unit of a number in a second field, which is added to the time. */
typedef enum TideTimePlus {
  TIDE_PLUS_NONE,
  TIDE_PLUS_S,
  TIDE_PLUS_MS,
  TIDE_PLUS_US,
  TIDE_PLUS_NS,
} TideTimePlus;

/* The times against which a reading's time is judged. */
typedef struct TideRecordTime {
  gint64 record_ms; /* the record time; negative: none */
  gint64 clock_ms;  /* this host's clock; 0: it is not considered */
} TideRecordTime;

typedef struct TideEventTime {
  gint64 ns;              /* since the epoch; never negative */
  gboolean was_ambiguous; /* a local time that occurs twice: on_ambiguous decided */
  gboolean was_cut;       /* its text is finer than nanoseconds */
  gboolean is_future;     /* later than the bound relative to the record time; on_future did not reject it */
} TideEventTime;

/* Set before start, then read-only; shared by all threads. */
typedef struct TideTimeSpec {
  TideNameId field; /* TIDE_NAME_NONE with TIDE_TIME_RECORD */
  TideTimeFormat format;
  TideTimePattern *pattern; /* owned; with TIDE_TIME_PATTERN */
  gboolean is_local;        /* a number counts local time in the zone */
  GTimeZone *zone;          /* owned; NULL: a text without its own offset is rejected */
  TideOnAmbiguous on_ambiguous;
  TideNameId date_field; /* the date of a time of day; TIDE_NAME_NONE: the latest day in `zone` on which the time is not
                          * later than the record time plus max_future_ms (at most 12 hours) */
  TideTimePattern *date_pattern; /* owned; with date_field: e.g. "yyyyMMdd" */
  TideTimePlus plus;             /* with NONE, plus_field is ignored */
  TideNameId plus_field; /* a number from 0 to less than a day, by the same clock: nanoseconds in addition to seconds,
                          * or the time since midnight in addition to a date */
  gint64 earliest_epoch_ms; /* plausibility: an event before this is rejected */
  gint64 max_future_ms;     /* an event later than the record time or the host clock by more is in the future */
  TideOnFuture on_future;
  gint64 max_past_ms; /* an event earlier than the record time by more is rejected; 0: no limit */
} TideTimeSpec;

/**
 * tide_time_spec_read: read the event time of @reading.
 * Numbers may be in quotes. Digits finer than nanoseconds are cut. on_ambiguous decides about a local time that occurs
 * twice because clocks go back. A local time that never occurs is rejected, including a time of day that does not exist
 * on the record's day; so is a leap second. A time in 2200 or later is implausible for any record time; with
 * TIDE_FUTURE_HISTORY, so is a time more than ten years after the record: no clock is that wrong, but units are.
 * on_future applies to times after the record time, so that a replay reaches the same decision; without a record time
 * this check is skipped. Since a sender with a wrong clock gives its records the same wrong time, a time that is also
 * after this host's clock is rejected for any on_future. Only that decision may differ in a later replay.
 * Returns: FALSE with @ret_reject filled (an absent field by its field_place only: tide_reject_resolve_field()).
 * Threads: any. Allocates: nothing.
 */
gboolean tide_time_spec_read(const TideTimeSpec *spec, const TideReading *reading, const TideRecordTime *record,
                             TideEventTime *ret_time, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Fills @ret_reject like a read of a time of @reading beyond the bound. */
void tide_time_spec_reject_future(const TideTimeSpec *spec, const TideReading *reading, TideReject *ret_reject);

/* TRUE: both read times from the same fields in the same way, regardless of bounds and 'ambiguous'. */
gboolean tide_time_spec_reads_alike(const TideTimeSpec *a, const TideTimeSpec *b);

/* TRUE: both read the same time from every reading. */
gboolean tide_time_spec_equal(const TideTimeSpec *a, const TideTimeSpec *b);

void tide_time_spec_clear(TideTimeSpec *spec);

/* The fields from which a time is read. */
typedef enum TideTimePart {
  TIDE_TIME_PART_MAIN,
  TIDE_TIME_PART_DATE,
  TIDE_TIME_PART_PLUS,
} TideTimePart;

/* Prints the part of @ns that @part contains, so that tide_time_spec_read() reads @ns again as precisely as the
 * declared format allows. @is_whole: print numbers without a fraction. Not for TIDE_TIME_RECORD. Allocates: only by
 * growing @out. */
void tide_time_spec_print(const TideTimeSpec *spec, TideTimePart part, gint64 ns, gboolean is_whole, TideBuffer *out);

/* The times of one reading, as declared by its tables. Each is read only when the first table needs it, and only once,
 * so a table that does not accept a reading does not require its time. Zero-initialised is empty and valid. */
typedef struct TideReadingTimes {
  GArray *times; /* owned (element-type: of the implementation) */
  const TideReading *reading;
  TideRecordTime record;
  guint64 n_begun;
  gboolean some_ambiguous; /* some of the times read are local times that occur twice */
  gboolean some_cut;       /* some of the texts read are finer than nanoseconds */
} TideReadingTimes;

void tide_reading_times_clear(TideReadingTimes *times);

/* The index of @spec, or of an equal one. @spec: borrowed. */
guint tide_reading_times_add(TideReadingTimes *times, const TideTimeSpec *spec);

/* The following calls refer to @reading, which is borrowed until the next begin. */
void tide_reading_times_begin(TideReadingTimes *times, const TideReading *reading, TideRecordTime record);

/* The time at @index. Otherwise like tide_time_spec_read(). */
gboolean tide_reading_times_get(TideReadingTimes *times, guint index, gint64 *ret_ns,
                                TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the time at @index, which was read before, is too far in the future for a latest table. */
gboolean tide_reading_times_is_future(const TideReadingTimes *times, guint index);
void tide_reading_times_reject_future(const TideReadingTimes *times, guint index, TideReject *ret_reject);

G_END_DECLS
