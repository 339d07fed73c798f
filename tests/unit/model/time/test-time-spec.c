/* Event times as they are declared. */
#include "model/message.h"
#include "model/time/time_spec.h"
#include "model/time/zone_spans.h"
#include "unit/allocation_counter.h"
#include "unit/reading_fixture.h"
#include "unit/test_case.h"
#include "util/calendar.h"
#include "util/error.h"

/* ---- time spec ---- */

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define RECORD_MS G_GINT64_CONSTANT(1426535620000) /* 2015-03-16T19:53:40Z */

TEST("/calendar/days-agree-with-glib")
{
  g_assert_cmpint(tide_days_of_date(1970, 1, 1), ==, 0);
  g_assert_cmpint(tide_days_of_date(1969, 12, 31), ==, -1);
  g_assert_cmpint(tide_days_of_date(2000, 3, 1), ==, 11017);
  gint64 expected = tide_days_of_date(1600, 1, 1);
  for (GDateYear year = 1600; year < 2500; year++) {
    for (int month = 1; month <= 12; month++) {
      guint8 n_days = g_date_get_days_in_month((GDateMonth)month, year);
      g_assert_true(tide_date_is_valid(year, month, n_days));
      g_assert_false(tide_date_is_valid(year, month, n_days + 1));
      for (int day = 1; day <= n_days; day++, expected++) {
        int back_year, back_month, back_day;
        g_assert_cmpint(tide_days_of_date(year, month, day), ==, expected);
        tide_date_of_days(expected, &back_year, &back_month, &back_day);
        g_assert_true(back_year == year && back_month == month && back_day == day);
      }
    }
  }
  g_assert_false(tide_date_is_valid(2015, 0, 1));
  g_assert_false(tide_date_is_valid(2015, 13, 1));
  g_assert_false(tide_date_is_valid(2015, 1, 0));
}

TEST("/calendar/local-times-of-a-zone")
{
  static const struct {
    const char *zone;
    gint64 local_s; /* as if it were UTC */
    guint n;
    gint64 utc_s; /* the first moment, or that of the skip */
  } cases[] = {
      {"UTC", 1426535612, 1, 1426535612},
      {"Europe/Berlin", 1426535612, 1, 1426535612 - 3600},
      {"Asia/Kolkata", 1426535612, 1, 1426535612 - 19800},
      {"Europe/Berlin", 1427594399, 1, 1427590799},       /* 2015-03-29T01:59:59, the last second of winter */
      {"Europe/Berlin", 1427594400, 0, 1427590800},       /* 02:00:00, skipped */
      {"Europe/Berlin", 1427597999, 0, 1427590800},       /* 02:59:59, skipped */
      {"Europe/Berlin", 1427598000, 1, 1427590800},       /* 03:00:00, the first second of summer */
      {"Europe/Berlin", 1445738400, 2, 1445731200},       /* 2015-10-25T02:00:00, twice: in summer, then in winter */
      {"Europe/Berlin", 1445741999, 2, 1445734799},       /* 02:59:59, twice */
      {"Europe/Berlin", 1445742000, 1, 1445738400},       /* 03:00:00, once */
      {"Pacific/Apia", 1325246400, 0, 1325239200},        /* 2011-12-30, the day that Samoa skipped */
      {"Pacific/Apia", 1325332800, 1, 1325282400},        /* 2011-12-31T12:00:00, +14 */
      {"America/Los_Angeles", 1426464000, 1, 1426489200}, /* 2015-03-16T00:00:00 */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GTimeZone) zone = g_time_zone_new_identifier(cases[i].zone);
    g_assert_nonnull(zone);
    TideLocalMoments moments = tide_zone_moments_of_local(zone, cases[i].local_s);
    g_assert_cmpuint(moments.n, ==, cases[i].n);
    g_assert_cmpint(moments.utc_s[0], ==, cases[i].utc_s);
    if (moments.n == 2)
      g_assert_cmpint(moments.utc_s[1], ==, cases[i].utc_s + 3600);
  }
}

/* From UTC to local and back: the same moment, or one of the two that look alike. */
TEST("/calendar/local-time-leads-back")
{
  static const char *const zones[] = {"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"};
  for (gsize i = 0; i < G_N_ELEMENTS(zones); i++) {
    g_autoptr(GTimeZone) zone = g_time_zone_new_identifier(zones[i]);
    for (int n = 0; n < 50000; n++) {
      gint64 utc_s = (gint64)g_test_rand_int_range(0, G_MAXINT32);
      gint64 local_s = utc_s + tide_zone_offset_s(zone, utc_s);
      TideLocalMoments moments = tide_zone_moments_of_local(zone, local_s);
      g_assert_true(moments.utc_s[0] == utc_s || (moments.n == 2 && moments.utc_s[1] == utc_s));
    }
  }
}

TEST("/time-text/numbers-since-the-epoch")
{
  static const struct {
    const char *text;
    int decimals;
    TideTimeFault fault;
    gint64 ns;
  } cases[] = {
      {"1426535612045", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1426535612", 0, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612000000000)},
      {"1426535612.045", 0, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1426535612.123456789", 0, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612123456789)},
      {"1426535612.0450000000000000000", 0, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1426535612.1234567891", 0, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612123456789)},
      {"1426535612045.000", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1.426535612045E12", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1426535612045e0", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"14265356120450e-1", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"1426535612045.5", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045500000)},
      {"1426535612045001", 6, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045001000)},
      {"1426535612045001002", 9, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045001002)},
      {"1426535612045001002.5", 9, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045001002)},
      {"0001426535612045", 3, TIDE_TIME_FAULT_NONE, G_GINT64_CONSTANT(1426535612045000000)},
      {"0", 3, TIDE_TIME_FAULT_NONE, 0},
      {"0e999", 3, TIDE_TIME_FAULT_NONE, 0},
      {"-1", 3, TIDE_TIME_FAULT_NONE, -1000000},
      {"9223372036854775807", 9, TIDE_TIME_FAULT_NONE, G_MAXINT64},
      {"9223372036854775807", 3, TIDE_TIME_FAULT_RANGE, 0},
      {"9223372036854775808", 9, TIDE_TIME_FAULT_RANGE, 0},
      {"-9223372036854775808", 3, TIDE_TIME_FAULT_RANGE, 0},
      {"1e999", 3, TIDE_TIME_FAULT_RANGE, 0},
      {"1e-999", 3, TIDE_TIME_FAULT_NONE, 0},
      {"1e1000", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"1e", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"1e+", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"1.", 0, TIDE_TIME_FAULT_SYNTAX, 0},
      {".5", 0, TIDE_TIME_FAULT_SYNTAX, 0},
      {"-", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"+1", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {" 1", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"1 ", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"0x10", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"NaN", 3, TIDE_TIME_FAULT_SYNTAX, 0},
      {"1426535612,045", 0, TIDE_TIME_FAULT_SYNTAX, 0},
      {"00000000000000000000000000000000000000001", 3, TIDE_TIME_FAULT_SYNTAX, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 ns = 0;
    const char *detail = NULL;
    TideBytes text = tide_bytes_of_string(cases[i].text);
    g_test_message("'%s' with %d decimals", cases[i].text, cases[i].decimals);
    gboolean was_cut;
    TideTimeFormat format = (TideTimeFormat)(TIDE_TIME_EPOCH_S + cases[i].decimals / 3);
    g_assert_cmpint(tide_time_text_read_count(text, format, &ns, &was_cut, &detail), ==, cases[i].fault);
    if (cases[i].fault == TIDE_TIME_FAULT_NONE)
      g_assert_cmpint(ns, ==, cases[i].ns);
    else
      g_assert_nonnull(detail);
  }
}

static gboolean
read_ns(const TideTimeSpec *spec, const TideReading *reading, const TideMessage *message, gint64 *ret_ns,
        TideReject *ret_reject)
{
  TideEventTime time;
  TideRecordTime record = {.record_ms = message->timestamp_ms};
  if (!tide_time_spec_read(spec, reading, &record, &time, ret_reject))
    return FALSE;
  *ret_ns = time.ns;
  return TRUE;
}

/* How one value is read, with a record of RECORD_MS. */
static gboolean
read_text(const TideTimeSpec *spec, const char *text, gint64 *ret_ns, TideReject *ret_reject)
{
  g_auto(ReadingFixture) fixture;
  TideMessage message = {.timestamp_ms = RECORD_MS};
  reading_fixture_init(&fixture);
  reading_fixture_id(&fixture, "ts");
  reading_fixture_set(&fixture, "ts", text);
  if (read_ns(spec, &fixture.reading, &message, ret_ns, ret_reject))
    return TRUE;
  g_assert_true(tide_bytes_equal(ret_reject->field, TIDE_BYTES_LITERAL("ts")));
  return FALSE;
}

typedef struct TextCase {
  const char *text;
  gint64 ns; /* -1: rejected as invalid */
} TextCase;

static void
check_texts(const TideTimeSpec *spec, const TextCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    gint64 ns = -1;
    TideReject reject = {0};
    g_test_message("'%s'", cases[i].text);
    gboolean is_read = read_text(spec, cases[i].text, &ns, &reject);
    g_assert_cmpint(ns, ==, cases[i].ns);
    g_assert_cmpint(is_read, ==, cases[i].ns >= 0);
    if (!is_read) {
      g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_INVALID);
      g_assert_nonnull(reject.detail);
    }
  }
}

TEST("/time-text/rfc3339")
{
  static const TextCase cases[] = {
      {"2015-03-16T19:53:32.045Z", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-16T19:53:32Z", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16t19:53:32z", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16 19:53:32Z", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16T12:53:32.045-07:00", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-16T16:23:32.045-03:30", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-17T01:23:32.045+05:30", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-16T19:53:32-00:00", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16T19:53:32.123456789Z", G_GINT64_CONSTANT(1426535612123456789)},
      {"2015-03-16T19:53:32.1Z", G_GINT64_CONSTANT(1426535612100000000)},
      {"2012-02-29T00:00:00Z", G_GINT64_CONSTANT(1330473600000000000)},
      {"2015-02-29T00:00:00Z", -1}, /* no such date */
      {"2015-03-16T24:00:00Z", -1},
      {"2015-03-16T23:60:00Z", -1},
      {"2016-12-31T23:59:60Z", -1}, /* a leap second */
      {"2015-03-16T19:53:61Z", -1},
      {"2015-03-16T19:53:32", -1}, /* no offset, no zone */
      {"2015-03-16T19:53:32.Z", -1},
      {"2015-03-16T19:53:32.1234567891Z", G_GINT64_CONSTANT(1426535612123456789)},
      {"2015-03-16T19:53:32,5Z", G_GINT64_CONSTANT(1426535612500000000)},
      {"2015-03-16T20:53:32+0100", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16T12:53:32.045-0700", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-16T19:53:32+00", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16 20:53:32 +0100", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16T20:53:32 +01", G_GINT64_CONSTANT(1426535612000000000)},
      {"2015-03-16T20:53:32  +01", -1},
      {"2015-03-16T20:53:32+1", -1},
      {"2015-03-16T20:53:32+010", -1},
      {"2015-03-16T20:53:32+01:0", -1},
      {"2015-03-16T20:53:32+01:000", -1},
      {"2015-03-16T20:53:32+", -1},
      {"2015-03-16T20:53:32 ", -1},
      {"2015-03-16T19:53:32+24:00", -1},
      {"2015-03-16T19:53:32+01:60", -1},
      {"2015-03-16T19:53:32ZZ", -1},
      {"2015-03-16T19:53:32Z ", -1},
      {" 2015-03-16T19:53:32Z", -1},
      {"2015-03-16T19:53Z", -1},
      {"2015-3-16T19:53:32Z", -1},
      {"2015-03-16_19:53:32Z", -1},
      {"20150316T195332Z", -1},
      {"2015-03-1\xd9\xa6T19:53:32Z", -1}, /* an Arabic digit */
      {"1426535612045", -1},
      {"", -1},
  };
  TideTimeSpec spec = {.format = TIDE_TIME_RFC3339, .date_field = TIDE_NAME_NONE, .max_future_ms = 3600000};
  check_texts(&spec, cases, G_N_ELEMENTS(cases));
}

TEST("/time-text/rfc3339-without-offset-is-local")
{
  static const TextCase cases[] = {
      {"2015-03-16T12:53:32.045", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-16T19:53:32.045Z", G_GINT64_CONSTANT(1426535612045000000)},
      {"2015-03-08T02:30:00", -1},                                     /* skipped by the clocks */
      {"2014-11-02T01:30:00", G_GINT64_CONSTANT(1414917000000000000)}, /* twice: the earlier */
  };
  g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("America/Los_Angeles");
  TideTimeSpec spec = {.format = TIDE_TIME_RFC3339,
                       .zone = zone,
                       .on_ambiguous = TIDE_AMBIGUOUS_EARLIER,
                       .date_field = TIDE_NAME_NONE,
                       .max_future_ms = 3600000};
  check_texts(&spec, cases, G_N_ELEMENTS(cases));
}

/* A time of day, with record times around midnight. */
TEST("/time-spec/time-of-day-takes-the-record's-date")
{
  static const struct {
    const char *text;
    gint64 record_s;
    gint64 expected_s;
  } cases[] = {
      {"12:53:32", 1426535620, 1426535612}, /* 2015-03-16T12:53:40 in Los Angeles */
      {"23:59:58", 1426575603, 1426575598}, /* arrives at 00:00:03 of the next day */
      {"00:00:02", 1426575599, 1426575602}, /* a clock that is 3 s ahead, before midnight */
      {"13:03:40", 1426535620, 1426536220}, /* just max_future ahead: today's */
      {"13:03:41", 1426535620, 1426449821}, /* a second more: yesterday's */
      {"13:10:00", 1426535620, 1426450200}, /* too far ahead for today: yesterday's */
      {"01:00:00", 1426535620, 1426492800}, /* 12 hours late is still today's */
  };
  g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("America/Los_Angeles");
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("HH:mm:ss", TIDE_PATTERN_TEXT, NULL);
  TideTimeSpec spec = {.format = TIDE_TIME_PATTERN,
                       .pattern = pattern,
                       .zone = zone,
                       .date_field = TIDE_NAME_NONE,
                       .max_future_ms = 600000};
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideMessage message = {.timestamp_ms = cases[i].record_s * 1000};
    TideReject reject;
    gint64 ns = -1;
    reading_fixture_set(&fixture, "ts", cases[i].text);
    g_assert_true(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
    g_assert_cmpint(ns / NS_PER_S, ==, cases[i].expected_s);
  }

  TideReject reject;
  gint64 ns;
  TideMessage timeless = {.timestamp_ms = -1};
  g_assert_false(read_ns(&spec, &fixture.reading, &timeless, &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_INVALID);
  spec.zone = NULL;
  g_assert_false(read_text(&spec, "12:53:32", &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_INVALID);
}

TEST("/time-spec/time-of-day-takes-its-date-from-a-field")
{
  g_auto(ReadingFixture) fixture;
  g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("America/Los_Angeles");
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("HH:mm:ss.SSS", TIDE_PATTERN_TEXT, NULL);
  g_autoptr(TideTimePattern) date_pattern = tide_time_pattern_compile("yyyyMMdd", TIDE_PATTERN_TEXT, NULL);
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {.field = reading_fixture_id(&fixture, "ts"),
                       .format = TIDE_TIME_PATTERN,
                       .pattern = pattern,
                       .zone = zone,
                       .date_field = reading_fixture_id(&fixture, "day"),
                       .date_pattern = date_pattern,
                       .max_future_ms = 600000};
  TideMessage message = {.timestamp_ms = RECORD_MS};
  TideReject reject;
  gint64 ns = 0;
  reading_fixture_set(&fixture, "ts", "12:53:32.045");
  g_assert_false(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_MISSING_FIELD);
  tide_reject_resolve_field(&reject, fixture.names);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("day")));

  reading_fixture_set_bytes(&fixture, "day", TIDE_VALUE_NUMBER, TIDE_BYTES_LITERAL("20150316"));
  g_assert_true(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpint(ns, ==, G_GINT64_CONSTANT(1426535612045000000));

  reading_fixture_set(&fixture, "day", "2015-03-16");
  g_assert_false(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_INVALID);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("day")));
}

/* Seconds and what is finer in two fields, a date and the time since midnight, a number of a local clock. */
TEST("/time-spec/a-number-is-added")
{
  static const struct {
    TideTimeFormat format;
    const char *pattern;
    gboolean is_local;
    const char *zone;
    TideTimePlus unit;
    const char *text, *plus; /* NULL: absent */
    gint64 ns;               /* -1: refused */
  } cases[] = {
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_NS, "1426535612", "5", G_GINT64_CONSTANT(1426535612000000005)},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_NS, "1426535612", "123456789",
       G_GINT64_CONSTANT(1426535612123456789)},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_US, "1426535612", "45000.5",
       G_GINT64_CONSTANT(1426535612045000500)},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_NS, "1426535612", NULL, -1},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_NS, "1426535612", "x", -1},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_NS, "1426535612", "-1", -1},
      {TIDE_TIME_EPOCH_S, NULL, FALSE, NULL, TIDE_PLUS_MS, "1426535612", "86400000", -1},
      {TIDE_TIME_RFC3339, NULL, FALSE, NULL, TIDE_PLUS_NS, "2015-03-16T19:53:32Z", "999999999",
       G_GINT64_CONSTANT(1426535612999999999)},
      {TIDE_TIME_PATTERN, "yyyyMMdd", FALSE, "America/Los_Angeles", TIDE_PLUS_MS, "20150316", "46412045",
       G_GINT64_CONSTANT(1426535612045000000)},
      /* by the clock, also on the day that has 23 hours */
      {TIDE_TIME_PATTERN, "yyyyMMdd", FALSE, "America/Los_Angeles", TIDE_PLUS_S, "20150308", "46412",
       G_GINT64_CONSTANT(1425844412000000000)},
      {TIDE_TIME_PATTERN, "yyyyMMdd", FALSE, "America/Los_Angeles", TIDE_PLUS_S, "20150308", "9000", -1},
      {TIDE_TIME_EPOCH_MS, NULL, TRUE, "America/Los_Angeles", TIDE_PLUS_NONE, "1426510412045", NULL,
       G_GINT64_CONSTANT(1426535612045000000)},
      {TIDE_TIME_EPOCH_US, NULL, TRUE, "America/Los_Angeles", TIDE_PLUS_NONE, "1426510412045678", NULL,
       G_GINT64_CONSTANT(1426535612045678000)},
      {TIDE_TIME_EPOCH_S, NULL, TRUE, "America/Los_Angeles", TIDE_PLUS_NONE, "1425781800", NULL, -1}, /* skipped */
      {TIDE_TIME_EXCEL, NULL, FALSE, "America/Los_Angeles", TIDE_PLUS_NONE, "42079.53717644676", NULL,
       G_GINT64_CONSTANT(1426535612045000000)},
      {TIDE_TIME_PATTERN, "yyyy-MM-dd HH:mm:ss[X]", FALSE, "America/Los_Angeles", TIDE_PLUS_NONE, "2015-03-16 12:53:32",
       NULL, G_GINT64_CONSTANT(1426535612000000000)},
      {TIDE_TIME_PATTERN, "yyyy-MM-dd HH:mm:ss[X]", FALSE, NULL, TIDE_PLUS_NONE, "2015-03-16 12:53:32 -07", NULL,
       G_GINT64_CONSTANT(1426535612000000000)},
      {TIDE_TIME_PATTERN, "yyyy-MM-dd HH:mm:ss[X]", FALSE, NULL, TIDE_PLUS_NONE, "2015-03-16 12:53:32", NULL, -1},
      /* a time of day with an offset, of the day by the record's time there */
      {TIDE_TIME_PATTERN, "HH:mm:ssX", FALSE, NULL, TIDE_PLUS_NONE, "01:53:32+06", NULL,
       G_GINT64_CONSTANT(1426535612000000000)},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(ReadingFixture) fixture;
    g_autoptr(GTimeZone) zone = cases[i].zone != NULL ? g_time_zone_new_identifier(cases[i].zone) : NULL;
    g_autoptr(TideTimePattern) pattern =
        cases[i].pattern != NULL ? tide_time_pattern_compile(cases[i].pattern, TIDE_PATTERN_TEXT, NULL) : NULL;
    reading_fixture_init(&fixture);
    TideTimeSpec spec = {.field = reading_fixture_id(&fixture, "ts"),
                         .format = cases[i].format,
                         .pattern = pattern,
                         .is_local = cases[i].is_local,
                         .zone = zone,
                         .date_field = TIDE_NAME_NONE,
                         .plus = cases[i].unit,
                         .plus_field = reading_fixture_id(&fixture, "plus"),
                         .max_future_ms = 3600000};
    TideMessage message = {.timestamp_ms = RECORD_MS};
    TideReject reject = {0};
    gint64 ns = -1;
    g_test_message("%u: '%s' and '%s'", (guint)i, cases[i].text, cases[i].plus);
    reading_fixture_set(&fixture, "ts", cases[i].text);
    if (cases[i].plus != NULL)
      reading_fixture_set(&fixture, "plus", cases[i].plus);
    g_assert_cmpint(read_ns(&spec, &fixture.reading, &message, &ns, &reject), ==, cases[i].ns >= 0);
    g_assert_cmpint(ns, ==, cases[i].ns);
  }
}

/* The day there can be two days after that of UTC: 14 hours by the offset, and 12 that the clock may be ahead. */
TEST("/time-spec/time-of-day-with-an-offset-takes-the-date-there")
{
  g_auto(ReadingFixture) fixture;
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("HH:mm:ssX", TIDE_PATTERN_TEXT, NULL);
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {.field = reading_fixture_id(&fixture, "ts"),
                       .format = TIDE_TIME_PATTERN,
                       .pattern = pattern,
                       .date_field = TIDE_NAME_NONE,
                       .max_future_ms = 12 * 3600000};
  TideMessage message = {.timestamp_ms = G_GINT64_CONSTANT(1426546800000)}; /* 2015-03-16T23:00:00Z */
  TideReject reject;
  gint64 ns = 0;
  reading_fixture_set(&fixture, "ts", "00:30:00+14");
  g_assert_true(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpint(ns, ==, G_GINT64_CONSTANT(1426588200000000000));
}

TEST("/time-spec/what-is-cut-is-told")
{
  static const struct {
    const char *text;
    gboolean was_cut;
  } cases[] = {{"2015-03-16T19:53:32.123456789Z", FALSE}, {"2015-03-16T19:53:32.1234567891Z", TRUE}};
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {
      .field = reading_fixture_id(&fixture, "ts"), .format = TIDE_TIME_RFC3339, .date_field = TIDE_NAME_NONE};
  TideRecordTime record = {.record_ms = -1};
  TideReject reject;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideEventTime time;
    reading_fixture_set(&fixture, "ts", cases[i].text);
    g_assert_true(tide_time_spec_read(&spec, &fixture.reading, &record, &time, &reject));
    g_assert_cmpint(time.was_cut, ==, cases[i].was_cut);
  }
}

/* The value that does not fit is in the sentence: so much of it as a line holds, and nothing that a terminal obeys. */
TEST("/time-spec/the-value-is-told")
{
  static const struct {
    const char *text, *told;
  } cases[] = {
      {"next week", ", in 'ts', got 'next week'"},
      {"\x1b[2J", ", in 'ts', got '\\x1B[2J'"},
      {"012345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "got '01234567890123456789012345678901234567890123456789012345678901234567890123456789...'"},
  };
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {
      .field = reading_fixture_id(&fixture, "ts"), .format = TIDE_TIME_RFC3339, .date_field = TIDE_NAME_NONE};
  TideMessage message = {.timestamp_ms = RECORD_MS};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideReject reject;
    gint64 ns;
    reading_fixture_set(&fixture, "ts", cases[i].text);
    g_assert_false(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
    g_autofree char *told = tide_reject_describe(&reject);
    g_test_message("%s", told);
    g_assert_nonnull(strstr(told, cases[i].told));
  }
}

TEST("/time-spec/only-plausible-times-are-taken")
{
  static const struct {
    const char *text; /* epoch ms */
    gint64 record_ms;
    TideRejectReason reason;
  } cases[] = {
      {"1426535612045", RECORD_MS, TIDE_REJECT_NONE},
      {"1426535612", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},          /* seconds taken for ms */
      {"1426535612045000", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},    /* us taken for ms */
      {"1426535612045000000", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE}, /* ns taken for ms */
      {"9223372036854775807", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"-9223372036854775808", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"-1", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"0", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"946684799999", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"946684800000", RECORD_MS, TIDE_REJECT_NONE},  /* the declared earliest */
      {"1426536220000", RECORD_MS, TIDE_REJECT_NONE}, /* exactly the bound later */
      {"1426536220001", RECORD_MS, TIDE_REJECT_TIME_FUTURE},
      {"7258118399999", RECORD_MS, TIDE_REJECT_TIME_FUTURE},
      {"7258118400000", RECORD_MS, TIDE_REJECT_TIME_IMPLAUSIBLE}, /* 2200 */
      {"7258118399999", -1, TIDE_REJECT_NONE},                    /* nothing to judge by */
      {"7258118400000", -1, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"7258118400000", G_MAXINT64, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {"1426535612045", G_MAXINT64, TIDE_REJECT_NONE},
      {"1426535612045", G_MININT64, TIDE_REJECT_NONE}, /* no time at all */
      {"1426535612045", 0, TIDE_REJECT_TIME_FUTURE},
      {"1426535612045x", RECORD_MS, TIDE_REJECT_TIME_INVALID},
  };
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {.field = reading_fixture_id(&fixture, "ts"),
                       .format = TIDE_TIME_EPOCH_MS,
                       .date_field = TIDE_NAME_NONE,
                       .earliest_epoch_ms = G_GINT64_CONSTANT(946684800000), /* 2000-01-01 */
                       .max_future_ms = 600000};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideMessage message = {.timestamp_ms = cases[i].record_ms};
    TideReject reject = {0};
    gint64 ns;
    g_test_message("'%s'", cases[i].text);
    reading_fixture_set(&fixture, "ts", cases[i].text);
    fixture.reading.index = 7;
    g_assert_cmpint(read_ns(&spec, &fixture.reading, &message, &ns, &reject), ==, cases[i].reason == TIDE_REJECT_NONE);
    g_assert_cmpstr(tide_reject_reason_name(reject.reason), ==, tide_reject_reason_name(cases[i].reason));
    g_assert_cmpuint(reject.reading_index, ==, cases[i].reason == TIDE_REJECT_NONE ? 0 : 7);
  }
}

/* The sentence says which option it is, and what that was set to. */
TEST("/time-spec/the-bound-is-told")
{
  static const struct {
    const char *text; /* epoch ms; the record's time is RECORD_MS */
    gint64 max_past_ms;
    gint64 max_future_ms;
    const char *told; /* NULL: of no declared one */
  } cases[] = {
      {"946684799999", 0, 600000,
       ": before the declared earliest time: is the unit right? (earliest: 2000-01-01T00:00:00.000Z)"},
      {"1426531819999", 3600000, 600000, " by more than the declared bound (max_past: 1h)"},
      {"1426531819999", 1500, 600000, " by more than the declared bound (max_past: 1500ms)"},
      {"1426536220001", 0, 600000, " by more than the declared bound (max_future: 10m)"},
      {"1426536220001", 0, 0, " by more than the declared bound (max_future: 0s)"},
      {"7258118400000", 0, 600000, NULL},
  };
  TideTimeSpec spec = {
      .format = TIDE_TIME_EPOCH_MS, .date_field = TIDE_NAME_NONE, .earliest_epoch_ms = G_GINT64_CONSTANT(946684800000)};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideReject reject;
    gint64 ns;
    spec.max_past_ms = cases[i].max_past_ms;
    spec.max_future_ms = cases[i].max_future_ms;
    g_assert_false(read_text(&spec, cases[i].text, &ns, &reject));
    reject.field = reject.value = TIDE_BYTES_EMPTY; /* their texts are gone */
    g_autofree char *told = tide_reject_describe(&reject);
    g_test_message("%s", told);
    g_assert_true(cases[i].told != NULL ? strstr(told, cases[i].told) != NULL : strchr(told, '(') == NULL);
  }
}

/* F22: a sender whose clock is wrong by years makes no tables of these years. */
TEST("/time-spec/F22/nothing-before-the-record-by-more-than-the-bound")
{
  TideTimeSpec spec = {.format = TIDE_TIME_EPOCH_MS, .date_field = TIDE_NAME_NONE, .max_past_ms = 3600000};
  TideReject reject;
  gint64 ns;
  g_assert_true(read_text(&spec, "1426532020000", &ns, &reject)); /* an hour */
  g_assert_false(read_text(&spec, "1426532019999", &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_IMPLAUSIBLE);
  spec.max_past_ms = 0;
  g_assert_true(read_text(&spec, "1426532019999", &ns, &reject));
}

/* Also when the operator declares no earliest time: HBase refuses a negative timestamp for ever. */
TEST("/time-spec/nothing-before-1970")
{
  TideTimeSpec spec = {.format = TIDE_TIME_EPOCH_MS, .earliest_epoch_ms = G_MININT64, .date_field = TIDE_NAME_NONE};
  TideReject reject;
  gint64 ns;
  g_assert_false(read_text(&spec, "-1", &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_IMPLAUSIBLE);
  g_assert_true(read_text(&spec, "0", &ns, &reject));
  g_assert_cmpint(ns, ==, 0);
}

TEST("/time-spec/kinds-of-values")
{
  static const struct {
    TideValueKind kind;
    TideRejectReason reason;
  } cases[] = {
      {TIDE_VALUE_STRING, TIDE_REJECT_NONE},       {TIDE_VALUE_NUMBER, TIDE_REJECT_NONE},
      {TIDE_VALUE_BOOL, TIDE_REJECT_TIME_INVALID}, {TIDE_VALUE_NULL, TIDE_REJECT_MISSING_FIELD},
      {TIDE_VALUE_JSON, TIDE_REJECT_TIME_INVALID},
  };
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {
      .field = reading_fixture_id(&fixture, "ts"), .format = TIDE_TIME_EPOCH_MS, .date_field = TIDE_NAME_NONE};
  TideMessage message = {.timestamp_ms = RECORD_MS};
  TideReject reject = {0};
  gint64 ns;
  g_assert_false(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_MISSING_FIELD);
  tide_reject_resolve_field(&reject, fixture.names);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("ts")));
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    reject = (TideReject){0};
    reading_fixture_set_bytes(&fixture, "ts", cases[i].kind, TIDE_BYTES_LITERAL("1426535612045"));
    g_assert_cmpint(read_ns(&spec, &fixture.reading, &message, &ns, &reject), ==, cases[i].reason == TIDE_REJECT_NONE);
    g_assert_cmpint(reject.reason, ==, cases[i].reason);
  }
}

TEST("/time-spec/record-time")
{
  static const struct {
    gint64 record_ms;
    TideRejectReason reason;
  } cases[] = {
      {RECORD_MS, TIDE_REJECT_NONE},
      {-1, TIDE_REJECT_MISSING_FIELD},
      {1000, TIDE_REJECT_TIME_IMPLAUSIBLE},
      {G_MAXINT64, TIDE_REJECT_TIME_IMPLAUSIBLE},
  };
  TideTimeSpec spec = {.field = TIDE_NAME_NONE,
                       .format = TIDE_TIME_RECORD,
                       .date_field = TIDE_NAME_NONE,
                       .earliest_epoch_ms = G_GINT64_CONSTANT(946684800000)};
  TideReading reading = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideMessage message = {.timestamp_ms = cases[i].record_ms};
    TideReject reject = {0};
    gint64 ns = 0;
    g_assert_cmpint(read_ns(&spec, &reading, &message, &ns, &reject), ==, cases[i].reason == TIDE_REJECT_NONE);
    g_assert_cmpint(reject.reason, ==, cases[i].reason);
    g_assert_cmpint(ns, ==, cases[i].reason == TIDE_REJECT_NONE ? RECORD_MS * TIDE_NS_PER_MS : 0);
  }
}

TEST("/time-spec/reading-a-time-allocates-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer has an allocator of its own");
    return;
  }
  g_auto(ReadingFixture) fixture;
  g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("Europe/Berlin");
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("yyyy-MM-dd HH:mm:ss", TIDE_PATTERN_TEXT, NULL);
  reading_fixture_init(&fixture);
  TideTimeSpec spec = {.field = reading_fixture_id(&fixture, "ts"),
                       .format = TIDE_TIME_PATTERN,
                       .pattern = pattern,
                       .zone = zone,
                       .date_field = TIDE_NAME_NONE};
  TideMessage message = {.timestamp_ms = RECORD_MS};
  TideReject reject;
  gint64 ns;
  reading_fixture_set(&fixture, "ts", "2015-03-16 20:53:32");
  g_assert_true(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  guint64 before = allocation_count;
  for (int i = 0; i < 1000; i++)
    g_assert_true(read_ns(&spec, &fixture.reading, &message, &ns, &reject));
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

/* ---- reading times ---- */

#define SPEC(name_id, unit)                                                                                            \
  {                                                                                                                    \
    .field = (name_id), .format = TIDE_TIME_EPOCH_##unit, .date_field = TIDE_NAME_NONE                                 \
  }

TEST("/reading-times/each-time-is-read-once-and-only-when-asked")
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideNameId quoted = reading_fixture_id(&fixture, "quoted"), traded = reading_fixture_id(&fixture, "traded");
  const TideTimeSpec of_quote = SPEC(quoted, MS), same = SPEC(quoted, MS), in_seconds = SPEC(quoted, S),
                     of_trade = SPEC(traded, MS);
  TideReadingTimes times = {0};
  const TideRecordTime record = {.record_ms = -1};
  TideReject reject;
  gint64 ns = 7;
  guint index = tide_reading_times_add(&times, &of_quote);
  g_assert_cmpuint(tide_reading_times_add(&times, &same), ==, index);
  g_assert_cmpuint(tide_reading_times_add(&times, &in_seconds), !=, index);
  guint index_of_trade = tide_reading_times_add(&times, &of_trade);
  g_assert_cmpuint(index_of_trade, !=, index);

  reading_fixture_set(&fixture, "quoted", "1426535612156");
  tide_reading_times_begin(&times, &fixture.reading, record);
  g_assert_true(tide_reading_times_get(&times, index, &ns, &reject));
  g_assert_cmpint(ns, ==, G_GINT64_CONSTANT(1426535612156000000));
  g_assert_false(tide_reading_times_get(&times, index_of_trade, &ns, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_MISSING_FIELD);
  g_assert_cmpuint(reject.field_place, ==, traded + 1);

  /* What was read stays until the next reading. */
  reading_fixture_set(&fixture, "quoted", "1426535612157");
  g_assert_true(tide_reading_times_get(&times, index, &ns, &reject));
  g_assert_cmpint(ns, ==, G_GINT64_CONSTANT(1426535612156000000));
  tide_reading_times_begin(&times, &fixture.reading, record);
  g_assert_true(tide_reading_times_get(&times, index, &ns, &reject));
  g_assert_cmpint(ns, ==, G_GINT64_CONSTANT(1426535612157000000));
  tide_reading_times_clear(&times);
}

TEST("/reading-times/specs-that-read-the-same-are-equal")
{
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile("HH:mm", TIDE_PATTERN_TEXT, NULL);
  g_autoptr(TideTimePattern) same_pattern = tide_time_pattern_compile("HH:mm", TIDE_PATTERN_TEXT, NULL);
  g_autoptr(TideTimePattern) other_pattern = tide_time_pattern_compile("HH:mm:ss", TIDE_PATTERN_TEXT, NULL);
  g_autoptr(GTimeZone) berlin = g_time_zone_new_identifier("Europe/Berlin");
  g_autoptr(GTimeZone) berlin_again = g_time_zone_new_identifier("Europe/Berlin");
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
  const TideTimeSpec spec = {
      .field = 1, .format = TIDE_TIME_PATTERN, .pattern = pattern, .zone = berlin, .date_field = 2};
  TideTimeSpec other = spec;
  other.pattern = same_pattern;
  other.zone = berlin_again;
  g_assert_true(tide_time_spec_equal(&spec, &other));
  other.zone = utc;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other.zone = NULL;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.pattern = other_pattern;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.max_future_ms = 1;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.is_local = TRUE;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.plus = TIDE_PLUS_NS;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.plus_field = 7;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.on_future = TIDE_FUTURE_HISTORY;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.date_field = TIDE_NAME_NONE;
  g_assert_false(tide_time_spec_equal(&spec, &other));
}
