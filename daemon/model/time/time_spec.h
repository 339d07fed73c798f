/* How a reading's event time is read, from fields in a declared format or from the record, and printed into the fields.
 */
#pragma once

#include "model/reading.h"
#include "model/reject.h"
#include "model/time/time_text.h"

G_BEGIN_DECLS

/* What becomes of a reading whose time is too far in the future. */
typedef enum TideOnFuture {
  TIDE_FUTURE_REJECT,
  TIDE_FUTURE_HISTORY, /* latest tables, in which it would hide all that follows, do not get it; all others do */
} TideOnFuture;

/* Which of two moments a local time means that happens twice: clocks were set back. */
typedef enum TideOnAmbiguous {
  TIDE_AMBIGUOUS_UNSET,  /* as record */
  TIDE_AMBIGUOUS_RECORD, /* the one from which on the reading was on its way, by the record's time, for less than what
                          * lies between the two; where that holds for none, it is rejected */
  TIDE_AMBIGUOUS_EARLIER,
  TIDE_AMBIGUOUS_LATER,
  TIDE_AMBIGUOUS_REJECT,
} TideOnAmbiguous;

/* What a number in a second field counts, which is added to the time. */
typedef enum TideTimePlus {
  TIDE_PLUS_NONE,
  TIDE_PLUS_S,
  TIDE_PLUS_MS,
  TIDE_PLUS_US,
  TIDE_PLUS_NS,
} TideTimePlus;

/* What a reading's time is judged by. */
typedef struct TideRecordTime {
  gint64 record_ms; /* the record's own time; negative: it has none */
  gint64 clock_ms;  /* what this host's clock says, where it has a say; 0: it has none */
} TideRecordTime;

/* A time as it was read. */
typedef struct TideEventTime {
  gint64 ns;              /* since the epoch; never negative */
  gboolean was_ambiguous; /* a local time that happens twice: on_ambiguous decided */
  gboolean was_cut;       /* its text is finer than nanoseconds */
} TideEventTime;

/* Set before start, then read-only; shared by all threads. */
typedef struct TideTimeSpec {
  TideNameId field; /* TIDE_NAME_NONE with TIDE_TIME_RECORD */
  TideTimeFormat format;
  TideTimePattern *pattern; /* owned; with TIDE_TIME_PATTERN */
  gboolean is_local;        /* a number counts by the zone's clocks */
  GTimeZone *zone;          /* owned; NULL: the text must carry its own offset, else the reading is rejected */
  TideOnAmbiguous on_ambiguous;
  TideNameId date_field; /* where a time of day takes its date from; TIDE_NAME_NONE: from the record's time in @zone, as
                          * the latest day on which it is no later than that (plus max_future_ms, up to 12 hours) */
  TideTimePattern *date_pattern; /* owned; with date_field: e.g. "yyyyMMdd" */
  TideTimePlus plus;             /* with NONE, plus_field is not looked at */
  TideNameId plus_field;    /* a number from 0 to less than a day, by the same clock: nanoseconds beside seconds, or
                             * the time since midnight beside a date */
  gint64 earliest_epoch_ms; /* plausibility: an event before this is rejected */
  gint64 max_future_ms;     /* an event later than the record's time, or the clock's, plus this is of the future */
  TideOnFuture on_future;
  gint64 max_past_ms; /* an event earlier than the record's time by more is rejected; 0: none is */
} TideTimeSpec;

/**
 * tide_time_spec_read: the event time of @reading.
 * Numbers may stand in quotes. What is finer than nanoseconds is cut. A local time that happens twice (clocks go back)
 * is decided by on_ambiguous; one that never happens is rejected, also a time of day that the day by the record's time
 * does not have; so is a leap second. A time in 2200 or later is implausible whatever the record's time; with
 * TIDE_FUTURE_HISTORY, so is one that is more than ten years later than that: no clock is so wrong, but units are.
 * "Future" is judged against the record's time, so that a replay decides the same, by on_future; a record without a
 * time skips that. A sender whose clock is wrong gives its records the same wrong time: what is later than this host's
 * clock, too, is rejected whatever on_future says. That is the one thing that a later replay may decide otherwise.
 * Returns: FALSE with @ret_reject filled (an absent field by its field_place only: tide_reject_resolve_field()).
 * Threads: any. Allocates: nothing.
 */
gboolean tide_time_spec_read(const TideTimeSpec *spec, const TideReading *reading, const TideRecordTime *record,
                             TideEventTime *ret_time, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the time @ns, which was read from a reading of @record, is later than @spec's bound by the record's time. */
gboolean tide_time_spec_is_future(const TideTimeSpec *spec, const TideRecordTime *record, gint64 ns);

/* Fills @ret_reject as a read does for a time of @reading that is later than the bound. */
void tide_time_spec_reject_future(const TideTimeSpec *spec, const TideReading *reading, TideReject *ret_reject);

/* TRUE when both read times from the same fields in the same way, whatever their bounds and 'ambiguous' are. */
gboolean tide_time_spec_reads_alike(const TideTimeSpec *a, const TideTimeSpec *b);

/* TRUE when both read the same time of every reading. */
gboolean tide_time_spec_equal(const TideTimeSpec *a, const TideTimeSpec *b);

void tide_time_spec_clear(TideTimeSpec *spec);

/* The fields that a time is read from. */
typedef enum TideTimePart {
  TIDE_TIME_PART_MAIN,
  TIDE_TIME_PART_DATE,
  TIDE_TIME_PART_PLUS,
} TideTimePart;

/* What @part holds of the moment @ns, so that tide_time_spec_read() reads it again, as far as the declared form is fine
 * enough. @is_whole: numbers without a fraction. Not for TIDE_TIME_RECORD. Allocates: only by growing @out. */
void tide_time_spec_print(const TideTimeSpec *spec, TideTimePart part, gint64 ns, gboolean is_whole, TideBuffer *out);

/* The times of one reading, as the tables declare them: each is read when a table asks for it first, and once only
 * however many tables share it. So a table that does not take a reading does not ask for its time either.
 * Zero-initialised is empty and valid. */
typedef struct TideReadingTimes {
  GArray *times; /* owned (element-type: of the implementation) */
  const TideReading *reading;
  TideRecordTime record;
  guint64 n_begun;
  gboolean some_ambiguous; /* of the reading's times that were read: local times that happen twice */
  gboolean some_cut;       /* ... and texts finer than nanoseconds */
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
