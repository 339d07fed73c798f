#include "model/time/time_spec.h"

#include "model/time/time_text.h"
#include "model/time/zone_spans.h"
#include "util/calendar.h"

/* No sensor measures beyond it: what claims to is a number in the wrong unit, whatever the record's time
 * says. */
#define LATEST_EPOCH_MS G_GINT64_CONSTANT(7258118400000) /* 2200-01-01T00:00:00Z */

/* The largest max_future: what is beyond it is no clock that goes wrong. */
#define FUTURE_MAX_MS (3650 * 86400 * G_GINT64_CONSTANT(1000))

/* A time of day is at most this much later than its record; beyond, it is taken for the day before. */
#define TIME_OF_DAY_AHEAD_MAX_MS (12 * 60 * 60 * G_GINT64_CONSTANT(1000))

/* One event time on its way. */
typedef struct Attempt {
  const TideTimeSpec *spec;
  const TideReading *reading;
  const TideRecordTime *record;
  const TideField *field; /* the time's; NULL with TIDE_TIME_RECORD */
  gboolean *ret_ambiguous;
  TideReject *ret_reject;
} Attempt;

/* @why: what is to be told beside the reading and @field, which is NULL where none is concerned. */
static gboolean
refuse(const Attempt *attempt, const TideField *field, TideReject why)
{
  why.field = field != NULL ? field->name : TIDE_BYTES_EMPTY;
  why.byte_position = -1;
  why.reading_index = attempt->reading->index;
  *attempt->ret_reject = why;
  return FALSE;
}

#define REFUSE(reject_reason, text, ...)                                                                               \
  refuse(attempt, attempt->field, (TideReject){.reason = (reject_reason), .detail = (text), __VA_ARGS__})

/* @field: NULL where it is absent. */
static gboolean
refuse_missing(const Attempt *attempt, const TideField *field, TideNameId name_id)
{
  TideReject why = {.reason = TIDE_REJECT_MISSING_FIELD,
                    .detail = field == NULL ? "it is absent" : "it is null",
                    .field_place = name_id + 1};
  why.remedy = "the time is read from it: see the time's 'field' (readings.time; 'time: record' takes "
               "the Kafka record's own), or keep such readings out of every table by 'when'";
  return refuse(attempt, field, why);
}

static gboolean
need_field(const Attempt *attempt, TideNameId name_id, const TideField **ret_field)
{
  const TideField *field = tide_reading_field(attempt->reading, name_id);
  if (field == NULL)
    return refuse_missing(attempt, NULL, name_id);
  switch (field->kind) {
  case TIDE_VALUE_STRING:
  case TIDE_VALUE_NUMBER:
    *ret_field = field;
    return TRUE;
  case TIDE_VALUE_NULL:
    return refuse_missing(attempt, field, name_id);
  case TIDE_VALUE_BOOL:
  case TIDE_VALUE_JSON:
    break;
  }
  return refuse(attempt, field,
                (TideReject){.reason = TIDE_REJECT_TIME_INVALID, .detail = "neither text nor a number"});
}

static gboolean
read_epoch(const Attempt *attempt, int decimals, gint64 *ret_ns)
{
  const char *detail = NULL;
  switch (tide_time_text_read_epoch(attempt->field->text, decimals, ret_ns, &detail)) {
  case TIDE_TIME_FAULT_NONE:
    return TRUE;
  case TIDE_TIME_FAULT_SYNTAX:
    return REFUSE(TIDE_REJECT_TIME_INVALID, detail);
  case TIDE_TIME_FAULT_RANGE:
    break;
  }
  return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, detail);
}

/* The moment to which the record fits, if it does to one of them alone: the reading came to it within the time that
 * lies between the two, or the sender's clock was ahead by max_future (half of that time at the most). Where both fit,
 * a late reading of the first pass looks like one of the second by a clock that is ahead. */
static gboolean
choose_by_record(const Attempt *attempt, const TideLocalMoments *moments, gint64 *ret_utc_s)
{
  gint64 apart_s = moments->utc_s[1] - moments->utc_s[0];
  gint64 record_s = attempt->record->record_ms / 1000;
  gint64 ahead_s = CLAMP(attempt->spec->max_future_ms / 1000, 0, apart_s / 2);
  guint n_fitting = 0;
  for (guint i = 0; attempt->record->record_ms >= 0 && i < moments->n; i++) {
    gint64 delay_s = record_s - moments->utc_s[i];
    if (delay_s < -ahead_s || delay_s >= apart_s)
      continue;
    *ret_utc_s = moments->utc_s[i];
    n_fitting++;
  }
  return n_fitting == 1 || REFUSE(TIDE_REJECT_TIME_AMBIGUOUS,
                                  "the zone's clocks show it twice, and the record's time does not tell which is meant",
                                  .by_record_time = TRUE);
}

static gboolean
choose_moment(const Attempt *attempt, const TideLocalMoments *moments, gint64 *ret_utc_s)
{
  *attempt->ret_ambiguous = TRUE;
  switch (attempt->spec->on_ambiguous) {
  case TIDE_AMBIGUOUS_UNSET:
  case TIDE_AMBIGUOUS_RECORD:
    return choose_by_record(attempt, moments, ret_utc_s);
  case TIDE_AMBIGUOUS_EARLIER:
    *ret_utc_s = moments->utc_s[0];
    return TRUE;
  case TIDE_AMBIGUOUS_LATER:
    *ret_utc_s = moments->utc_s[1];
    return TRUE;
  case TIDE_AMBIGUOUS_REJECT:
    break;
  }
  return REFUSE(TIDE_REJECT_TIME_AMBIGUOUS, "the zone's clocks show it twice");
}

static gboolean
take_moment(const Attempt *attempt, const TideLocalMoments *moments, gint64 *ret_utc_s)
{
  if (G_UNLIKELY(moments->n == 0))
    return REFUSE(TIDE_REJECT_TIME_INVALID, "a local time that the zone's clocks skip",
                  .remedy = "the zone's clocks skip this hour: is 'zone' right? Let senders write UTC or an offset");
  if (G_UNLIKELY(moments->n > 1))
    return choose_moment(attempt, moments, ret_utc_s);
  *ret_utc_s = moments->utc_s[0];
  return TRUE;
}

/* The moment of @local_s in the offset that the text carries, or in the declared zone. */
static gboolean
utc_of_local(const Attempt *attempt, const TideTimeText *time, gint64 local_s, gint64 *ret_utc_s)
{
  if (time->has_offset) {
    *ret_utc_s = local_s - time->offset_s;
    return TRUE;
  }
  if (attempt->spec->zone == NULL)
    return REFUSE(TIDE_REJECT_TIME_INVALID, "no offset from UTC in the text, and no zone is declared");
  TideLocalMoments moments = tide_zone_moments_of_local(attempt->spec->zone, local_s);
  return take_moment(attempt, &moments, ret_utc_s);
}

/* The latest day on which this time of day is not after the record's time (with some allowance for clocks).
 * So a reading of 23:59:58 that arrives just after midnight keeps its day. */
static gboolean
date_by_record(const Attempt *attempt, const TideTimeText *time, gint64 *ret_utc_s)
{
  const TideTimeSpec *spec = attempt->spec;
  if (spec->zone == NULL)
    return REFUSE(TIDE_REJECT_TIME_INVALID, "a time of day, and no zone is declared");
  if (attempt->record->record_ms < 0)
    return REFUSE(TIDE_REJECT_TIME_INVALID, "a time of day, and the record has no time to take the date from");
  gint64 record_s = attempt->record->record_ms / 1000;
  gint64 ahead_s = CLAMP(spec->max_future_ms, 0, TIME_OF_DAY_AHEAD_MAX_MS) / 1000;
  gint64 day = tide_day_of_seconds(record_s + tide_zone_offset_s(spec->zone, record_s)) + 1;
  for (;; day--) {
    gint64 local_s = day * TIDE_SECONDS_PER_DAY + tide_time_text_local_s(time);
    TideLocalMoments moments = tide_zone_moments_of_local(spec->zone, local_s);
    if (moments.utc_s[0] <= record_s + ahead_s)
      return take_moment(attempt, &moments, ret_utc_s);
  }
}

/* @ret_date_s: the date in the declared field as seconds, 0 where the text has its own date. */
static gboolean
date_by_field(const Attempt *attempt, const TideTimeText *time, gint64 *ret_date_s)
{
  const TideField *field;
  TideTimeText date;
  const char *detail = NULL;
  *ret_date_s = 0;
  if (time->has_date)
    return TRUE;
  if (!need_field(attempt, attempt->spec->date_field, &field))
    return FALSE;
  if (!tide_time_text_read_pattern(field->text, attempt->spec->date_pattern, &date, &detail))
    return refuse(attempt, field, (TideReject){.reason = TIDE_REJECT_TIME_INVALID, .detail = detail});
  *ret_date_s = tide_day_of_seconds(tide_time_text_local_s(&date)) * TIDE_SECONDS_PER_DAY;
  return TRUE;
}

static gboolean
ns_of_calendar(const Attempt *attempt, const TideTimeText *time, gint64 *ret_ns)
{
  gint64 utc_s = 0, date_s;
  gboolean by_record = !time->has_date && attempt->spec->date_field == TIDE_NAME_NONE;
  if (by_record ? !date_by_record(attempt, time, &utc_s)
                : !date_by_field(attempt, time, &date_s) ||
                      !utc_of_local(attempt, time, date_s + tide_time_text_local_s(time), &utc_s))
    return FALSE;
  if (__builtin_mul_overflow(utc_s, G_GINT64_CONSTANT(1000000000), ret_ns) ||
      __builtin_add_overflow(*ret_ns, time->nanosecond, ret_ns))
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "outside of the years 1677 to 2262");
  return TRUE;
}

static gboolean
read_record_time(const Attempt *attempt, gint64 *ret_ns)
{
  static const TideField record_time = {.name = {(const guint8 *)"$timestamp", 10}};
  if (attempt->record->record_ms < 0)
    return refuse(attempt, &record_time,
                  (TideReject){.reason = TIDE_REJECT_MISSING_FIELD,
                               .detail = "the record has no time of its own",
                               .remedy = "let senders give records a time, or read it from a field (readings.time)"});
  if (__builtin_mul_overflow(attempt->record->record_ms, TIDE_NS_PER_MS, ret_ns))
    return refuse(attempt, &record_time,
                  (TideReject){.reason = TIDE_REJECT_TIME_IMPLAUSIBLE, .detail = "beyond the year 2262"});
  return TRUE;
}

static gboolean
read_time(const Attempt *attempt, gint64 *ret_ns)
{
  const TideTimeSpec *spec = attempt->spec;
  const char *detail = NULL;
  TideTimeText time;
  switch (spec->format) {
  case TIDE_TIME_EPOCH_S:
    return read_epoch(attempt, 0, ret_ns);
  case TIDE_TIME_EPOCH_MS:
    return read_epoch(attempt, 3, ret_ns);
  case TIDE_TIME_EPOCH_US:
    return read_epoch(attempt, 6, ret_ns);
  case TIDE_TIME_EPOCH_NS:
    return read_epoch(attempt, 9, ret_ns);
  case TIDE_TIME_RFC3339:
    if (!tide_time_text_read_rfc3339(attempt->field->text, &time, &detail))
      break;
    return ns_of_calendar(attempt, &time, ret_ns);
  case TIDE_TIME_PATTERN:
    if (!tide_time_text_read_pattern(attempt->field->text, spec->pattern, &time, &detail))
      break;
    return ns_of_calendar(attempt, &time, ret_ns);
  case TIDE_TIME_RECORD:
    return read_record_time(attempt, ret_ns);
  }
  return REFUSE(TIDE_REJECT_TIME_INVALID, detail);
}

static gboolean
refuse_future(const Attempt *attempt)
{
  return REFUSE(TIDE_REJECT_TIME_FUTURE, "later than the record's time by more than the declared bound",
                .by_record_time = TRUE, .bound = TIDE_REJECT_BOUND_MAX_FUTURE,
                .bound_ms = attempt->spec->max_future_ms);
}

static gboolean
check_plausible(const Attempt *attempt, gint64 event_ms)
{
  const TideTimeSpec *spec = attempt->spec;
  gint64 record_ms = attempt->record->record_ms;
  if (event_ms < 0)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "before 1970: HBase has no negative times",
                  .remedy = "no option lets it pass: see that the time's 'format' has the readings' unit, and that "
                            "senders' clocks are set");
  if (event_ms < spec->earliest_epoch_ms)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "before the declared earliest time: is the unit right?",
                  .bound = TIDE_REJECT_BOUND_EARLIEST, .bound_ms = spec->earliest_epoch_ms);
  if (spec->max_past_ms > 0 && record_ms >= 0 && record_ms - event_ms > spec->max_past_ms)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "earlier than the record's time by more than the declared bound",
                  .remedy = "raise the time's 'max_past'; of old messages, give explain their own time by --timestamp",
                  .by_record_time = TRUE, .bound = TIDE_REJECT_BOUND_MAX_PAST, .bound_ms = spec->max_past_ms);
  if (event_ms >= LATEST_EPOCH_MS)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "beyond the year 2200: is the unit right?");
  if (tide_time_spec_is_future(spec, attempt->record, event_ms * TIDE_NS_PER_MS)) {
    if (spec->on_future == TIDE_FUTURE_REJECT)
      return refuse_future(attempt);
    if (event_ms - record_ms > FUTURE_MAX_MS)
      return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE,
                    "later than the record's time by more than ten years: is the unit right?", .by_record_time = TRUE);
    return TRUE;
  }
  /* What a clock says alone is no matter of on_future: its reading becomes a dead letter, which tells of the decision.
   */
  gint64 clock_ms = attempt->record->clock_ms;
  if (record_ms < 0 || clock_ms <= 0 || event_ms - clock_ms <= spec->max_future_ms)
    return TRUE;
  return REFUSE(TIDE_REJECT_TIME_FUTURE,
                "later than this host's clock by more than the declared bound, and so is its record: the sender's "
                "clock is wrong, or this host's",
                .remedy =
                    "set the clock of the sender or of this host; 'dead-letters replay' sends the message again, and "
                    "it is taken when its time has come",
                .bound = TIDE_REJECT_BOUND_MAX_FUTURE, .bound_ms = spec->max_future_ms);
}

gboolean
tide_time_spec_is_future(const TideTimeSpec *spec, const TideRecordTime *record, gint64 ns)
{
  return record->record_ms >= 0 && tide_ns_to_ms(ns) - record->record_ms > spec->max_future_ms;
}

void
tide_time_spec_reject_future(const TideTimeSpec *spec, const TideReading *reading, TideReject *ret_reject)
{
  Attempt attempt = {
      .spec = spec, .reading = reading, .field = tide_reading_field(reading, spec->field), .ret_reject = ret_reject};
  refuse_future(&attempt);
}

gboolean
tide_time_spec_read(const TideTimeSpec *spec, const TideReading *reading, const TideRecordTime *record,
                    TideEventTime *ret_time, TideReject *ret_reject)
{
  gboolean was_ambiguous = FALSE;
  Attempt attempt = {
      .spec = spec, .reading = reading, .record = record, .ret_ambiguous = &was_ambiguous, .ret_reject = ret_reject};
  gint64 ns;
  if (spec->format != TIDE_TIME_RECORD && !need_field(&attempt, spec->field, &attempt.field))
    return FALSE;
  if (!read_time(&attempt, &ns) || !check_plausible(&attempt, tide_ns_to_ms(ns)))
    return FALSE;
  *ret_time = (TideEventTime){ns, was_ambiguous};
  return TRUE;
}

gboolean
tide_time_spec_equal(const TideTimeSpec *a, const TideTimeSpec *b)
{
  gboolean same_zone = a->zone == b->zone;
  if (a->zone != NULL && b->zone != NULL)
    same_zone = strcmp(g_time_zone_get_identifier(a->zone), g_time_zone_get_identifier(b->zone)) == 0;
  return same_zone && a->field == b->field && a->format == b->format && g_strcmp0(a->pattern, b->pattern) == 0 &&
         a->on_ambiguous == b->on_ambiguous && a->date_field == b->date_field &&
         g_strcmp0(a->date_pattern, b->date_pattern) == 0 && a->earliest_epoch_ms == b->earliest_epoch_ms &&
         a->max_future_ms == b->max_future_ms && a->max_past_ms == b->max_past_ms && a->on_future == b->on_future;
}

void
tide_time_spec_clear(TideTimeSpec *spec)
{
  g_clear_pointer(&spec->pattern, g_free);
  g_clear_pointer(&spec->date_pattern, g_free);
  g_clear_pointer(&spec->zone, g_time_zone_unref);
}

/* ---- the times of one reading ---- */

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
