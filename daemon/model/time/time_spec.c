#include "model/time/time_spec.h"

#include "model/time/zone_spans.h"
#include "util/calendar.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* A later time is a number in the wrong unit, regardless of the record time. */
#define LATEST_EPOCH_MS G_GINT64_CONSTANT(7258118400000) /* 2200-01-01T00:00:00Z */

/* The largest max_future: no clock is wrong by more. */
#define FUTURE_MAX_MS (3650 * 86400 * G_GINT64_CONSTANT(1000))

/* A time of day later than its record by more belongs to the previous day. */
#define TIME_OF_DAY_AHEAD_MAX_MS (12 * 60 * 60 * G_GINT64_CONSTANT(1000))

/* One event time being read. */
typedef struct Attempt {
  const TideTimeSpec *spec;
  const TideReading *reading;
  const TideRecordTime *record;
  const TideField *field; /* of the time; NULL with TIDE_TIME_RECORD */
  TideEventTime *ret_time;
  TideReject *ret_reject;
} Attempt;

/* @why: everything except the reading and @field. @field: NULL if none is at fault. */
static gboolean
refuse(const Attempt *attempt, const TideField *field, TideReject why)
{
  why.field = field != NULL ? field->name : TIDE_BYTES_EMPTY;
  why.value = field != NULL ? field->text : TIDE_BYTES_EMPTY;
  why.byte_position = -1;
  why.reading_index = attempt->reading->index;
  *attempt->ret_reject = why;
  return FALSE;
}

#define REFUSE(reject_reason, text, ...)                                                                               \
  refuse(attempt, attempt->field, (TideReject){.reason = (reject_reason), .detail = (text), __VA_ARGS__})

/* @field: NULL if absent. */
static gboolean
refuse_missing(const Attempt *attempt, const TideField *field, TideNameId name_id)
{
  TideReject why = {.reason = TIDE_REJECT_MISSING_FIELD,
                    .detail = field == NULL ? "it is absent" : "it is null",
                    .field_place = name_id + 1};
  why.remedy = "the time is read from it: check the time's 'field' ('time: record' uses the Kafka record's own), or "
               "exclude such readings from all tables with 'when'";
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

/* Reads the number in @field as a duration. */
static gboolean
read_count(const Attempt *attempt, const TideField *field, TideTimeFormat format, gint64 *ret_ns)
{
  const char *detail = NULL;
  TideRejectReason reason = TIDE_REJECT_TIME_IMPLAUSIBLE;
  gboolean was_cut = FALSE;
  switch (tide_time_text_read_count(field->text, format, ret_ns, &was_cut, &detail)) {
  case TIDE_TIME_FAULT_NONE:
    attempt->ret_time->was_cut |= was_cut;
    return TRUE;
  case TIDE_TIME_FAULT_SYNTAX:
    reason = TIDE_REJECT_TIME_INVALID;
    break;
  case TIDE_TIME_FAULT_RANGE:
    break;
  }
  return refuse(attempt, field, (TideReject){.reason = reason, .detail = detail});
}

/* Reads the duration that the second field adds. */
static gboolean
read_plus(const Attempt *attempt, gint64 *ret_ns)
{
  static const TideTimeFormat formats[] = {[TIDE_PLUS_S] = TIDE_TIME_EPOCH_S,
                                           [TIDE_PLUS_MS] = TIDE_TIME_EPOCH_MS,
                                           [TIDE_PLUS_US] = TIDE_TIME_EPOCH_US,
                                           [TIDE_PLUS_NS] = TIDE_TIME_EPOCH_NS};
  const TideField *field;
  *ret_ns = 0;
  if (G_LIKELY(attempt->spec->plus == TIDE_PLUS_NONE))
    return TRUE;
  if (!need_field(attempt, attempt->spec->plus_field, &field) ||
      !read_count(attempt, field, formats[attempt->spec->plus], ret_ns))
    return FALSE;
  return (*ret_ns >= 0 && *ret_ns < TIDE_SECONDS_PER_DAY * NS_PER_S) ||
         refuse(attempt, field,
                (TideReject){.reason = TIDE_REJECT_TIME_INVALID,
                             .detail = "the number added to the time is not from 0 to less than a day",
                             .remedy = "check that 'unit' of the time's 'plus' is that of the field"});
}

/* Chooses the only moment that fits the record: the record followed within the interval between the two, or the
 * sender's clock was ahead by max_future (at most half of that interval). If both fit, a late reading of the first pass
 * cannot be distinguished from one of the second pass by a fast clock. */
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
                                  "the zone's clocks show it twice, and the record's time does not show which is meant",
                                  .by_record_time = TRUE);
}

static gboolean
choose_moment(const Attempt *attempt, const TideLocalMoments *moments, gint64 *ret_utc_s)
{
  attempt->ret_time->was_ambiguous = TRUE;
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
                  .remedy = "the zone's clocks skip this hour: is 'zone' right? Make senders write UTC or an offset");
  if (G_UNLIKELY(moments->n > 1))
    return choose_moment(attempt, moments, ret_utc_s);
  *ret_utc_s = moments->utc_s[0];
  return TRUE;
}

/* The moments at which local time is @local_s, in the declared zone or with the text's own offset. */
static TideLocalMoments
moments_of(const Attempt *attempt, const TideTimeElements *time, gint64 local_s)
{
  if (time->named & TIDE_NAMES_OFFSET)
    return (TideLocalMoments){.n = 1, .utc_s = {local_s - time->offset_s}};
  return tide_zone_moments_of_local(attempt->spec->zone, local_s);
}

static gboolean
utc_of_local(const Attempt *attempt, const TideTimeElements *time, gint64 local_s, gint64 *ret_utc_s)
{
  if (G_LIKELY(time->named & TIDE_NAMES_OFFSET)) {
    *ret_utc_s = local_s - time->offset_s;
    return TRUE;
  }
  TideLocalMoments moments = moments_of(attempt, time, local_s);
  return take_moment(attempt, &moments, ret_utc_s);
}

/* The latest day on which @second_of_day is not after the record time, with some allowance for clocks. So a reading of
 * 23:59:58 that arrives just after midnight keeps its day. */
static gboolean
date_by_record(const Attempt *attempt, const TideTimeElements *time, gint64 second_of_day, gint64 *ret_utc_s)
{
  const TideTimeSpec *spec = attempt->spec;
  if (attempt->record->record_ms < 0)
    return REFUSE(TIDE_REJECT_TIME_INVALID, "a time of day, and the record has no time to take the date from",
                  .remedy = "make senders set the record's time, or name the field of the date in the time's 'date'");
  gint64 record_s = attempt->record->record_ms / 1000;
  gint64 ahead_s = CLAMP(spec->max_future_ms, 0, TIME_OF_DAY_AHEAD_MAX_MS) / 1000;
  gint64 offset_s =
      time->named & TIDE_NAMES_OFFSET ? time->offset_s : tide_zone_offset_s(attempt->spec->zone, record_s);
  gint64 day = tide_day_of_seconds(record_s + offset_s) + 1;
  for (;; day--) {
    TideLocalMoments moments = moments_of(attempt, time, day * TIDE_SECONDS_PER_DAY + second_of_day);
    if (moments.utc_s[0] <= record_s + ahead_s)
      return take_moment(attempt, &moments, ret_utc_s);
  }
}

/* @ret_date_s: the date in the declared field, in seconds; 0: the text has its own date. */
static gboolean
date_by_field(const Attempt *attempt, const TideTimeElements *time, gint64 *ret_date_s)
{
  const TideField *field;
  TideTimeElements date;
  const char *detail = NULL;
  *ret_date_s = 0;
  if (time->named & TIDE_NAMES_DATE)
    return TRUE;
  if (!need_field(attempt, attempt->spec->date_field, &field))
    return FALSE;
  if (!tide_time_pattern_read(attempt->spec->date_pattern, field->text, &date, &detail))
    return refuse(attempt, field,
                  (TideReject){.reason = TIDE_REJECT_TIME_INVALID,
                               .detail = detail,
                               .remedy = "check that the time's 'date.pattern' matches this field"});
  *ret_date_s = tide_day_of_seconds(tide_time_elements_local_s(&date)) * TIDE_SECONDS_PER_DAY;
  return TRUE;
}

/* The moment @local_ns after the elements of @time, which provide the date and offset. */
static gboolean
ns_of_local(const Attempt *attempt, const TideTimeElements *time, gint64 local_s, gint64 local_ns, gint64 *ret_ns)
{
  gint64 utc_s = 0, date_s;
  gboolean by_record = !(time->named & TIDE_NAMES_DATE) && attempt->spec->date_field == TIDE_NAME_NONE;
  if (!(time->named & TIDE_NAMES_OFFSET) && attempt->spec->zone == NULL)
    return REFUSE(TIDE_REJECT_TIME_INVALID, "no offset from UTC in the text, and no zone is declared",
                  .remedy = "name the zone of the sender's clock in the time's 'zone', such as Europe/Berlin or UTC");
  if (G_UNLIKELY(local_ns >= NS_PER_S)) {
    local_s += local_ns / NS_PER_S;
    local_ns %= NS_PER_S;
  }
  if (by_record ? !date_by_record(attempt, time, local_s, &utc_s)
                : !date_by_field(attempt, time, &date_s) || !utc_of_local(attempt, time, date_s + local_s, &utc_s))
    return FALSE;
  if (__builtin_mul_overflow(utc_s, NS_PER_S, ret_ns) || __builtin_add_overflow(*ret_ns, local_ns, ret_ns))
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, TIDE_TIME_OUT_OF_RANGE);
  return TRUE;
}

static gboolean
ns_of_calendar(const Attempt *attempt, const TideTimeElements *time, gint64 *ret_ns)
{
  gint64 plus_ns;
  attempt->ret_time->was_cut |= time->was_cut;
  return read_plus(attempt, &plus_ns) && ns_of_local(attempt, time, tide_time_elements_local_s(time),
                                                     time->values[TIDE_LEVEL_FRACTION] + plus_ns, ret_ns);
}

static gboolean
ns_of_count(const Attempt *attempt, gint64 *ret_ns)
{
  static const TideTimeElements of_date = {.named = TIDE_NAMES_DATE};
  const TideTimeSpec *spec = attempt->spec;
  gint64 plus_ns;
  if (!read_count(attempt, attempt->field, spec->format, ret_ns) || !read_plus(attempt, &plus_ns))
    return FALSE;
  if (__builtin_add_overflow(*ret_ns, plus_ns, ret_ns))
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, TIDE_TIME_OUT_OF_RANGE ": is the unit right?");
  if (G_LIKELY(!spec->is_local && spec->format != TIDE_TIME_EXCEL) || *ret_ns < 0)
    return TRUE; /* times before 1970 are rejected in any zone */
  return ns_of_local(attempt, &of_date, 0, *ret_ns, ret_ns);
}

static gboolean
read_record_time(const Attempt *attempt, gint64 *ret_ns)
{
  static const TideField record_time = {.name = {(const guint8 *)"$timestamp", 10}};
  if (attempt->record->record_ms < 0)
    return refuse(
        attempt, &record_time,
        (TideReject){.reason = TIDE_REJECT_MISSING_FIELD,
                     .detail = "the record has no time of its own",
                     .remedy = "make senders set the record's time, or read it from a field (the time's 'field')"});
  if (__builtin_mul_overflow(attempt->record->record_ms, TIDE_NS_PER_MS, ret_ns))
    return refuse(attempt, &record_time,
                  (TideReject){.reason = TIDE_REJECT_TIME_IMPLAUSIBLE, .detail = TIDE_TIME_OUT_OF_RANGE});
  return TRUE;
}

static gboolean
read_time(const Attempt *attempt, gint64 *ret_ns)
{
  const TideTimeSpec *spec = attempt->spec;
  const char *detail = NULL;
  TideTimeElements time;
  switch (spec->format) {
  case TIDE_TIME_RFC3339:
    if (!tide_time_text_read_rfc3339(attempt->field->text, &time, &detail))
      return REFUSE(TIDE_REJECT_TIME_INVALID, detail);
    return ns_of_calendar(attempt, &time, ret_ns);
  case TIDE_TIME_PATTERN:
    if (!tide_time_pattern_read(spec->pattern, attempt->field->text, &time, &detail))
      return REFUSE(TIDE_REJECT_TIME_INVALID, detail);
    return ns_of_calendar(attempt, &time, ret_ns);
  case TIDE_TIME_RECORD:
    return read_record_time(attempt, ret_ns);
  case TIDE_TIME_EPOCH_S:
  case TIDE_TIME_EPOCH_MS:
  case TIDE_TIME_EPOCH_US:
  case TIDE_TIME_EPOCH_NS:
  case TIDE_TIME_DOTNET:
  case TIDE_TIME_TICKS:
  case TIDE_TIME_FILETIME:
  case TIDE_TIME_EXCEL:
  case TIDE_TIME_N_FORMATS:
    break;
  }
  return ns_of_count(attempt, ret_ns);
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
                  .remedy = "no option allows it: check that the time's 'format' has the readings' unit, and that "
                            "senders' clocks are set");
  if (event_ms < spec->earliest_epoch_ms)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "before the declared earliest time: is the unit right?",
                  .bound = TIDE_REJECT_BOUND_EARLIEST, .bound_ms = spec->earliest_epoch_ms);
  if (spec->max_past_ms > 0 && record_ms >= 0 && record_ms - event_ms > spec->max_past_ms)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "earlier than the record's time by more than the declared bound",
                  .remedy =
                      "raise the time's 'max_past'; for old messages, pass their own time to explain with --timestamp",
                  .by_record_time = TRUE, .bound = TIDE_REJECT_BOUND_MAX_PAST, .bound_ms = spec->max_past_ms);
  if (event_ms >= LATEST_EPOCH_MS)
    return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE, "beyond the year 2200: is the unit right?");
  if (record_ms >= 0 && event_ms - record_ms > spec->max_future_ms) {
    if (spec->on_future == TIDE_FUTURE_REJECT)
      return refuse_future(attempt);
    if (event_ms - record_ms > FUTURE_MAX_MS)
      return REFUSE(TIDE_REJECT_TIME_IMPLAUSIBLE,
                    "later than the record's time by more than ten years: is the unit right?", .by_record_time = TRUE);
    attempt->ret_time->is_future = TRUE;
    return TRUE;
  }
  /* on_future does not apply to this decision: it depends on the host clock, so the reading becomes a dead letter that
   * records it. */
  gint64 clock_ms = attempt->record->clock_ms;
  if (record_ms < 0 || clock_ms <= 0 || event_ms - clock_ms <= spec->max_future_ms)
    return TRUE;
  return REFUSE(TIDE_REJECT_TIME_FUTURE,
                "later than this host's clock by more than the declared bound, and so is its record: the sender's "
                "clock is wrong, or this host's",
                .remedy = "set the clock of the sender or of this host; 'dead-letters replay' sends the message again, "
                          "and it is accepted once its time has come",
                .bound = TIDE_REJECT_BOUND_MAX_FUTURE, .bound_ms = spec->max_future_ms);
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
  TideEventTime time = {0};
  Attempt attempt = {.spec = spec, .reading = reading, .record = record, .ret_time = &time, .ret_reject = ret_reject};
  if (spec->format != TIDE_TIME_RECORD && !need_field(&attempt, spec->field, &attempt.field))
    return FALSE;
  if (!read_time(&attempt, &time.ns) || !check_plausible(&attempt, tide_ns_to_ms(time.ns)))
    return FALSE;
  *ret_time = time;
  return TRUE;
}

/* RFC 3339 in the declared zone, with its offset. */
static const TideTimePattern *
rfc3339_pattern(void)
{
  static TideTimePattern *pattern; /* kept until the program ends */
  static gsize is_compiled;
  if (g_once_init_enter(&is_compiled)) {
    pattern = tide_time_pattern_compile("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", TIDE_PATTERN_TEXT, NULL);
    g_once_init_leave(&is_compiled, 1);
  }
  return pattern;
}

/* The resolution of the main field. */
static gint64
main_step_ns(const TideTimeSpec *spec)
{
  if (spec->format == TIDE_TIME_PATTERN)
    return tide_time_pattern_resolution_ns(spec->pattern);
  return spec->format == TIDE_TIME_RFC3339 ? TIDE_NS_PER_MS : tide_time_format_step_ns(spec->format);
}

void
tide_time_spec_print(const TideTimeSpec *spec, TideTimePart part, gint64 ns, gboolean is_whole, TideBuffer *out)
{
  static const TideTimeFormat plus_formats[] = {[TIDE_PLUS_NONE] = TIDE_TIME_EPOCH_NS,
                                                [TIDE_PLUS_S] = TIDE_TIME_EPOCH_S,
                                                [TIDE_PLUS_MS] = TIDE_TIME_EPOCH_MS,
                                                [TIDE_PLUS_US] = TIDE_TIME_EPOCH_US,
                                                [TIDE_PLUS_NS] = TIDE_TIME_EPOCH_NS};
  gboolean is_local =
      spec->zone != NULL && (spec->pattern != NULL || spec->is_local || spec->format == TIDE_TIME_EXCEL);
  gint64 shown_ns = ns;
  if (is_local)
    shown_ns += tide_zone_offset_s(spec->zone, ns / NS_PER_S) * NS_PER_S;
  if (part == TIDE_TIME_PART_PLUS)
    tide_time_text_print_count(plus_formats[spec->plus], shown_ns % main_step_ns(spec), TRUE, out);
  else if (part == TIDE_TIME_PART_DATE)
    tide_time_pattern_print(spec->date_pattern, spec->zone, ns, out);
  else if (spec->format == TIDE_TIME_PATTERN)
    tide_time_pattern_print(spec->pattern, spec->zone, ns, out);
  else if (spec->format == TIDE_TIME_RFC3339)
    tide_time_pattern_print(rfc3339_pattern(), spec->zone, ns, out);
  else
    tide_time_text_print_count(spec->format, shown_ns, is_whole || spec->plus != TIDE_PLUS_NONE, out);
}

static gboolean
is_same_pattern(const TideTimePattern *a, const TideTimePattern *b)
{
  return a == NULL || b == NULL ? a == b : strcmp(a->text, b->text) == 0;
}

gboolean
tide_time_spec_reads_alike(const TideTimeSpec *a, const TideTimeSpec *b)
{
  gboolean same_zone = a->zone == b->zone;
  if (a->zone != NULL && b->zone != NULL)
    same_zone = strcmp(g_time_zone_get_identifier(a->zone), g_time_zone_get_identifier(b->zone)) == 0;
  return same_zone && a->field == b->field && a->format == b->format && is_same_pattern(a->pattern, b->pattern) &&
         a->is_local == b->is_local && a->date_field == b->date_field &&
         is_same_pattern(a->date_pattern, b->date_pattern) && a->plus == b->plus && a->plus_field == b->plus_field;
}

gboolean
tide_time_spec_equal(const TideTimeSpec *a, const TideTimeSpec *b)
{
  return tide_time_spec_reads_alike(a, b) && a->on_ambiguous == b->on_ambiguous &&
         a->earliest_epoch_ms == b->earliest_epoch_ms && a->max_future_ms == b->max_future_ms &&
         a->max_past_ms == b->max_past_ms && a->on_future == b->on_future;
}

void
tide_time_spec_clear(TideTimeSpec *spec)
{
  g_clear_pointer(&spec->pattern, tide_time_pattern_free);
  g_clear_pointer(&spec->date_pattern, tide_time_pattern_free);
  g_clear_pointer(&spec->zone, g_time_zone_unref);
}

/* ---- the times of one reading ---- */

typedef struct ReadingTime {
  const TideTimeSpec *spec; /* borrowed */
  TideEventTime read;
  guint64 read_at; /* n_begun when it was read; 0: never */
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
  times->some_cut = FALSE;
}

gboolean
tide_reading_times_get(TideReadingTimes *times, guint index, gint64 *ret_ns, TideReject *ret_reject)
{
  ReadingTime *time = time_at(times, index);
  if (time->read_at != times->n_begun) {
    if (!tide_time_spec_read(time->spec, times->reading, &times->record, &time->read, ret_reject))
      return FALSE;
    times->some_ambiguous |= time->read.was_ambiguous;
    times->some_cut |= time->read.was_cut;
    time->read_at = times->n_begun;
  }
  *ret_ns = time->read.ns;
  return TRUE;
}

gboolean
tide_reading_times_is_future(const TideReadingTimes *times, guint index)
{
  return time_at(times, index)->read.is_future;
}

void
tide_reading_times_reject_future(const TideReadingTimes *times, guint index, TideReject *ret_reject)
{
  tide_time_spec_reject_future(time_at(times, index)->spec, times->reading, ret_reject);
}
