/* Local times, and times of the future. */
#include "model/time/zone_spans.h"
#include "unit/mapping_fixture.h"
#include "unit/reading_fixture.h"
#include "unit/test_case.h"
#include "unit/time_zones.h"
#include "util/calendar.h"

/* ---- time local ----
 *
 * Local times as event times: what clocks show twice is decided or refused, what they never show is refused; in all
 * zones of this machine, for every change of their clocks. */

#define MINUTE_S G_GINT64_CONSTANT(60)
#define HOUR_S (60 * MINUTE_S)
#define FALL_BACK_S G_GINT64_CONSTANT(1445734800) /* 2015-10-25T01:00:00Z: Berlin goes from 03:00 back to 02:00 */
#define SKIP_S G_GINT64_CONSTANT(1427590800)      /* 2015-03-29T01:00:00Z: from 02:00 on to 03:00 */

/* ---- one spec ---- */

typedef struct LocalFixture {
  ReadingFixture reading;
  GTimeZone *zone; /* owned */
  TideTimeSpec spec;
} LocalFixture;

static void
local_fixture_init(LocalFixture *fixture, const char *zone, const char *pattern)
{
  reading_fixture_init(&fixture->reading);
  fixture->zone = time_zone_of(zone);
  fixture->spec = (TideTimeSpec){.field = reading_fixture_id(&fixture->reading, "ts"),
                                 .format = TIDE_TIME_PATTERN,
                                 .pattern = tide_time_pattern_compile(pattern, TIDE_PATTERN_TEXT, NULL),
                                 .zone = fixture->zone,
                                 .date_field = TIDE_NAME_NONE,
                                 .max_future_ms = 10 * MINUTE_S * 1000};
}

static void
local_fixture_clear(LocalFixture *fixture)
{
  reading_fixture_clear(&fixture->reading);
  g_time_zone_unref(fixture->zone);
  tide_time_pattern_free(fixture->spec.pattern);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LocalFixture, local_fixture_clear)

/* The moment in seconds that @text means to a record of @record_s (-1: without a time), or minus the reason. */
static gint64
moment_of(LocalFixture *fixture, const char *text, gint64 record_s)
{
  TideRecordTime record = {.record_ms = record_s < 0 ? -1 : record_s * 1000};
  TideEventTime time;
  TideReject reject;
  reading_fixture_set(&fixture->reading, "ts", text);
  if (!tide_time_spec_read(&fixture->spec, &fixture->reading.reading, &record, &time, &reject))
    return -(gint64)reject.reason;
  return time.ns / G_GINT64_CONSTANT(1000000000);
}

#define INVALID (-(gint64)TIDE_REJECT_TIME_INVALID)
#define AMBIGUOUS (-(gint64)TIDE_REJECT_TIME_AMBIGUOUS)

TEST("/time-local/H1/A31-record-s-time-tells-the-hour")
{
  static const struct {
    gint64 record_s;
    gint64 expected_s; /* of 02:30, which is at half past 0 and 1 in UTC */
  } cases[] = {
      {FALL_BACK_S - 30 * MINUTE_S, FALL_BACK_S - 30 * MINUTE_S},     /* at once, the first pass */
      {FALL_BACK_S - 40 * MINUTE_S, FALL_BACK_S - 30 * MINUTE_S},     /* the sender's clock is ahead by max_future */
      {FALL_BACK_S - 40 * MINUTE_S - 1, AMBIGUOUS},                   /* more: not believed */
      {FALL_BACK_S + 20 * MINUTE_S - 1, FALL_BACK_S - 30 * MINUTE_S}, /* 50 minutes late */
      {FALL_BACK_S + 20 * MINUTE_S, AMBIGUOUS},                       /* later still, or the second pass and ahead */
      {FALL_BACK_S + 30 * MINUTE_S - 1, AMBIGUOUS},                   /* likewise */
      {FALL_BACK_S + 30 * MINUTE_S, FALL_BACK_S + 30 * MINUTE_S},     /* at once, the second pass */
      {FALL_BACK_S + 90 * MINUTE_S - 1, FALL_BACK_S + 30 * MINUTE_S}, /* an hour late */
      {FALL_BACK_S + 90 * MINUTE_S, AMBIGUOUS},                       /* might be either */
      {FALL_BACK_S + 1000 * HOUR_S, AMBIGUOUS},
      {-1, AMBIGUOUS},
  };
  g_auto(LocalFixture) fixture;
  local_fixture_init(&fixture, "Europe/Berlin", "yyyy-MM-dd HH:mm");
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(moment_of(&fixture, "2015-10-25 02:30", cases[i].record_s), ==, cases[i].expected_s);
  /* Beside the hour nothing is told by the record. */
  g_assert_cmpint(moment_of(&fixture, "2015-10-25 01:59", -1), ==, FALL_BACK_S - 61 * MINUTE_S);
  g_assert_cmpint(moment_of(&fixture, "2015-10-25 03:00", -1), ==, FALL_BACK_S + HOUR_S);
}

TEST("/time-local/H1/A31-a-policy-tells-the-hour")
{
  g_auto(LocalFixture) fixture;
  local_fixture_init(&fixture, "Europe/Berlin", "yyyy-MM-dd HH:mm");
  const gint64 records_s[] = {-1, FALL_BACK_S - 30 * MINUTE_S, FALL_BACK_S + 30 * MINUTE_S, FALL_BACK_S + 48 * HOUR_S};
  for (gsize i = 0; i < G_N_ELEMENTS(records_s); i++) {
    fixture.spec.on_ambiguous = TIDE_AMBIGUOUS_EARLIER;
    g_assert_cmpint(moment_of(&fixture, "2015-10-25 02:00", records_s[i]), ==, FALL_BACK_S - HOUR_S);
    fixture.spec.on_ambiguous = TIDE_AMBIGUOUS_REJECT;
    g_assert_cmpint(moment_of(&fixture, "2015-10-25 02:00", records_s[i]), ==, AMBIGUOUS);
  }
  fixture.spec.on_ambiguous = TIDE_AMBIGUOUS_LATER;
  g_assert_cmpint(moment_of(&fixture, "2015-10-25 02:59", -1), ==, FALL_BACK_S + 59 * MINUTE_S);
  g_assert_cmpint(moment_of(&fixture, "2015-10-25 02:59", FALL_BACK_S + 48 * HOUR_S), ==, FALL_BACK_S + 59 * MINUTE_S);
}

/* A sender whose clock may be hours ahead: the two moments stay apart. */
TEST("/time-local/H1/A31-a-large-bound-of-the-future-leaves-them-apart")
{
  g_auto(LocalFixture) fixture;
  local_fixture_init(&fixture, "Australia/Lord_Howe", "yyyy-MM-dd HH:mm"); /* set back by half an hour */
  fixture.spec.max_future_ms = 24 * HOUR_S * 1000;
  const gint64 back_s = 1428159600; /* 2015-04-04T15:00:00Z: 02:00 is 01:30 again */
  g_assert_cmpint(moment_of(&fixture, "2015-04-05 01:45", back_s - 15 * MINUTE_S), ==, back_s - 15 * MINUTE_S);
  g_assert_cmpint(moment_of(&fixture, "2015-04-05 01:45", back_s + 15 * MINUTE_S), ==, back_s + 15 * MINUTE_S);
}

TEST("/time-local/H1/A31-what-clocks-skip-is-refused")
{
  g_auto(LocalFixture) dated, of_day;
  local_fixture_init(&dated, "Europe/Berlin", "yyyy-MM-dd HH:mm");
  g_assert_cmpint(moment_of(&dated, "2015-03-29 01:59", SKIP_S), ==, SKIP_S - MINUTE_S);
  g_assert_cmpint(moment_of(&dated, "2015-03-29 02:00", SKIP_S), ==, INVALID);
  g_assert_cmpint(moment_of(&dated, "2015-03-29 02:59", SKIP_S), ==, INVALID);
  g_assert_cmpint(moment_of(&dated, "2015-03-29 03:00", SKIP_S), ==, SKIP_S);

  local_fixture_init(&of_day, "Europe/Berlin", "HH:mm");
  g_assert_cmpint(moment_of(&of_day, "01:59", SKIP_S + MINUTE_S), ==, SKIP_S - MINUTE_S);
  g_assert_cmpint(moment_of(&of_day, "02:30", SKIP_S + MINUTE_S), ==, INVALID); /* it landed on the day before */
  g_assert_cmpint(moment_of(&of_day, "02:30", SKIP_S + 12 * HOUR_S), ==, INVALID);
  g_assert_cmpint(moment_of(&of_day, "02:30", SKIP_S + 24 * HOUR_S), ==, SKIP_S + 23 * HOUR_S + 30 * MINUTE_S);
  g_assert_cmpint(moment_of(&of_day, "02:30", SKIP_S - HOUR_S), ==, SKIP_S - 23 * HOUR_S - 30 * MINUTE_S);
  g_assert_cmpint(moment_of(&of_day, "03:00", SKIP_S), ==, SKIP_S);
}

TEST("/time-local/H1/A31-time-of-day-in-the-hour")
{
  g_auto(LocalFixture) fixture;
  local_fixture_init(&fixture, "Europe/Berlin", "HH:mm");
  g_assert_cmpint(moment_of(&fixture, "02:30", FALL_BACK_S - 29 * MINUTE_S), ==, FALL_BACK_S - 30 * MINUTE_S);
  g_assert_cmpint(moment_of(&fixture, "02:30", FALL_BACK_S + 31 * MINUTE_S), ==, FALL_BACK_S + 30 * MINUTE_S);
  g_assert_cmpint(moment_of(&fixture, "02:30", FALL_BACK_S + 5 * HOUR_S), ==, AMBIGUOUS);
}

/* ---- all zones ---- */

/* What GLib says, and not zone_spans: the moments at which clocks of @zone show @local_s. */
static guint
moments_by_glib(GTimeZone *zone, gint64 local_s, gint64 *ret_utc_s)
{
  guint n = 0;
  int first = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, local_s - TIDE_SECONDS_PER_DAY);
  int last = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, local_s + TIDE_SECONDS_PER_DAY);
  for (int i = first; i <= last; i++) {
    gint64 utc_s = local_s - g_time_zone_get_offset(zone, i);
    if (g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, utc_s) == i)
      ret_utc_s[n++] = utc_s;
  }
  return n;
}

static void
assert_local_time(GTimeZone *zone, gint64 local_s)
{
  gint64 expected_s[8];
  guint n = moments_by_glib(zone, local_s, expected_s);
  TideLocalMoments moments = tide_zone_moments_of_local(zone, local_s);
  g_assert_cmpuint(moments.n, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint(moments.utc_s[i], ==, expected_s[i]);
}

/* Around the change at @utc_s: its seconds before and after by both clocks, and times at random between and beside. */
static void
assert_change(GTimeZone *zone, gint64 utc_s)
{
  gint64 before_s = utc_s + tide_zone_offset_s(zone, utc_s - 1);
  gint64 after_s = utc_s + tide_zone_offset_s(zone, utc_s);
  for (int second = -1; second <= 1; second++) {
    assert_local_time(zone, before_s + second);
    assert_local_time(zone, after_s + second);
  }
  for (int i = 0; i < 10; i++)
    assert_local_time(zone, utc_s + g_test_rand_int_range(-50 * HOUR_S, 50 * HOUR_S));
}

static guint
assert_zone(const char *name)
{
  g_autoptr(GTimeZone) zone = time_zone_of(name);
  guint n_changes = 0;
  int last = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, G_GINT64_CONSTANT(2145916800)); /* 2038 */
  int at = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, 0);
  gint64 low_s = 0;
  for (; at < last; at++, n_changes++) { /* the first second of the next interval, by halving */
    gint64 high_s = G_GINT64_CONSTANT(2145916800);
    while (low_s < high_s) {
      gint64 middle_s = low_s + (high_s - low_s) / 2;
      if (g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, middle_s) > at)
        high_s = middle_s;
      else
        low_s = middle_s + 1;
    }
    assert_change(zone, low_s);
  }
  return n_changes;
}

TEST("/time-local/H1/A31-every-change-of-every-zone")
{
  g_autofree char *listed = NULL;
  guint n_changes = 0, n_zones = 0;
  for (gsize i = 0; i < N_TIME_ZONES; i++)
    n_changes += assert_zone(time_zone_names[i]);
  if (g_file_get_contents("/usr/share/zoneinfo/zone1970.tab", &listed, NULL, NULL)) {
    g_auto(GStrv) lines = g_strsplit(listed, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
      g_auto(GStrv) columns = g_strsplit(*line, "\t", -1);
      if (**line == '#' || g_strv_length(columns) < 3)
        continue;
      n_changes += assert_zone(columns[2]);
      n_zones++;
    }
  }
  g_test_message("%u changes, of %u zones that the machine lists", n_changes, n_zones);
  g_assert_cmpuint(n_changes, >, 1000);
}

/* Any local time, any record: what is read is a moment that shows it; in the repeated hour the one that the rule names,
 * worked out here by asking for each moment alone. */
TEST("/time-local/H1/A31-random-records-around-changes")
{
  for (gsize zone = 0; zone < N_TIME_ZONES; zone++) {
    g_auto(LocalFixture) fixture;
    local_fixture_init(&fixture, time_zone_names[zone], "yyyyMMddHHmmss");
    gint64 change_s = 0;
    for (int i = 0; i < 400; i++) {
      change_s = tide_zone_span_at(fixture.zone, change_s).to_s;
      if (change_s == G_MAXINT64)
        change_s = 0;
      gint64 utc_s = MAX(change_s + g_test_rand_int_range(-5 * HOUR_S, 5 * HOUR_S), 86400);
      gint64 record_s = utc_s + g_test_rand_int_range(-2 * HOUR_S, 4 * HOUR_S);
      g_autoptr(GDateTime) local = g_date_time_new_from_unix_utc(utc_s + tide_zone_offset_s(fixture.zone, utc_s));
      g_autofree char *text = g_date_time_format(local, "%Y%m%d%H%M%S");
      fixture.spec.max_future_ms = g_test_rand_int_range(0, 2 * HOUR_S * 1000);
      fixture.spec.on_future = TIDE_FUTURE_HISTORY; /* else far records would hide what is told apart */

      gint64 moments_s[8], told_s = AMBIGUOUS;
      guint n = moments_by_glib(fixture.zone, utc_s + tide_zone_offset_s(fixture.zone, utc_s), moments_s);
      if (n == 1)
        told_s = moments_s[0];
      guint n_fitting = 0;
      for (guint m = 0; n == 2 && m < n; m++) {
        gint64 apart_s = moments_s[1] - moments_s[0], delay_s = record_s - moments_s[m];
        if (delay_s >= -MIN(fixture.spec.max_future_ms / 1000, apart_s / 2) && delay_s < apart_s)
          told_s = n_fitting++ == 0 ? moments_s[m] : AMBIGUOUS;
      }
      g_assert_cmpint(moment_of(&fixture, text, record_s), ==, told_s);
    }
  }
}

/* ---- messages ---- */

#define LOCAL_READINGS                                                                                                 \
  "readings: { time: { field: ts, format: pattern, pattern: \"yyyy-MM-dd HH:mm\", zone: Europe/Berlin%s } }\n"
#define HISTORY_TABLE "tables: { T: { key: [{ time: epoch_s }], columns: { family: M, from: [v] } } }\n"

typedef struct MinuteCounts {
  guint n_rows; /* of moments that are those of their readings */
  guint n_rejected;
  guint n_told; /* as ambiguous, and decided */
} MinuteCounts;

/* 300 readings, one a minute, two hours before Berlin's clocks go back to three hours after: each is sent at once. */
static MinuteCounts
counts_of_minutes(const char *policy)
{
  g_autofree char *readings = g_strdup_printf(LOCAL_READINGS, policy);
  g_autofree char *text = g_strconcat(KAFKA HBASE HISTORY_TABLE, readings, NULL);
  g_autoptr(TideConfig) config = load_text(text);
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  MinuteCounts counts = {0};
  for (int i = 0; i < 300; i++) {
    gint64 utc_s = FALL_BACK_S - 2 * HOUR_S + i * MINUTE_S;
    g_autoptr(GDateTime) local = g_date_time_new_from_unix_utc(utc_s + (utc_s < FALL_BACK_S ? 7200 : 3600));
    g_autofree char *shown = g_date_time_format(local, "%Y-%m-%d %H:%M");
    g_autofree char *value = g_strdup_printf("{\"ts\":\"%s\",\"v\":1}", shown);
    TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                           .timestamp_ms = utc_s * 1000 + 250,
                           .value = tide_bytes_of_string(value),
                           .has_value = TRUE};
    TideMapped mapped;
    TideReject reject;
    if (!tide_mapping_apply(mapping, &message, &mapped, &reject)) {
      g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_AMBIGUOUS);
      counts.n_rejected++;
      continue;
    }
    counts.n_rows += mapped.rows[0].event_time_ns == utc_s * G_GINT64_CONSTANT(1000000000) ? 1 : 0;
    counts.n_told += mapped.n_ambiguous_readings;
  }
  return counts;
}

TEST("/time-local/H1/A31-a-reading-each-minute-keeps-its-minute")
{
  MinuteCounts by_record = counts_of_minutes("");
  g_assert_cmpuint(by_record.n_rows, ==, 300);
  g_assert_cmpuint(by_record.n_told, ==, 120);
  MinuteCounts refused = counts_of_minutes(", ambiguous: reject");
  g_assert_cmpuint(refused.n_rows, ==, 180);
  g_assert_cmpuint(refused.n_rejected, ==, 120);
  MinuteCounts earlier = counts_of_minutes(", ambiguous: earlier"); /* as the operator asked */
  g_assert_cmpuint(earlier.n_rows, ==, 240);
  g_assert_cmpuint(earlier.n_told, ==, 120);
}

/* A time that is finer than nanoseconds is cut, and counted; so two of them may be one. */
TEST("/time-cut/readings-are-counted")
{
  g_autoptr(TideConfig) config =
      load_text(KAFKA HBASE HISTORY_TABLE "readings: { each: list, time: { field: ts, format: epoch_s } }\n");
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                         .timestamp_ms = -1,
                         .value = TIDE_BYTES_LITERAL("{\"list\":[{\"ts\":1426535612.0450000001,\"v\":1},"
                                                     "{\"ts\":1426535612.123456789,\"v\":1}]}"),
                         .has_value = TRUE};
  TideMapped mapped;
  TideReject reject;
  g_assert_true(tide_mapping_apply(mapping, &message, &mapped, &reject));
  g_assert_cmpuint(mapped.n_cut_times, ==, 1);
  g_assert_cmpint(mapped.rows[0].event_time_ns, ==, G_GINT64_CONSTANT(1426535612045000000));
}

static void
assert_problem(const char *policy, const char *zone, const char *expected)
{
  g_autofree char *text = g_strdup_printf(
      KAFKA HBASE HISTORY_TABLE "readings: { time: { field: ts, format: pattern, pattern: \"yyyyMMddHHmm\", zone: "
                                "%s%s } }\n",
      zone, policy);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(text, &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_nonnull(config);
  if (expected == NULL)
    g_assert_null(strstr(all, "an hour occurs twice"));
  else
    g_assert_nonnull(strstr(all, expected));
}

TEST("/time-local/H1/A31-check-warns")
{
  assert_problem("", "Europe/Berlin",
                 "warning: 'readings.time': when the clocks of Europe/Berlin are set back, an hour occurs twice");
  assert_problem(", ambiguous: record", "Europe/Berlin", NULL);
  assert_problem("", "UTC", NULL);
  assert_problem("", "\"+01:00\"", NULL);
  assert_problem("", "Asia/Tokyo", NULL); /* whose clocks were set last in 1951 */
}

/* ---- mapping future ----
 *
 * Readings whose time cannot be, or lies in the future: what is told apart, what a latest table does not get, and that
 * one unit taken for another is never let through. */

/* The tables that get a row, or "REASON field" of a rejected message. (transfer full) */
static char *
outcome_of(MappingFixture *fixture, const char *value)
{
  if (!mapping_fixture_apply(fixture, NULL, value))
    return reject_text(&fixture->reject);
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->mapped.n_rows; i++) {
    const TideTable *table = g_ptr_array_index(fixture->config->tables, fixture->mapped.rows[i].table_index);
    g_string_append_printf(text, "%s%s", i > 0 ? " " : "", table->name);
  }
  return g_strdup(text->str);
}

static void
assert_outcome_at(MappingFixture *fixture, gint64 time_ms, const char *expected)
{
  g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}", time_ms);
  g_autofree char *outcome = outcome_of(fixture, value);
  g_assert_cmpstr(outcome, ==, expected);
}

#define HISTORY                                                                                                        \
  "readings: { time: { field: ts, format: epoch_ms, max_future: 10m, on_future: history }, on_bad_reading: reading "   \
  "}\n"
#define HISTORY_KEY "key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" }"
#define LATEST_KEY "latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" }"
#define ALL_TABLES                                                                                                     \
  "tables:\n"                                                                                                          \
  "  L: { " LATEST_KEY " }\n"                                                                                          \
  "  T: { " HISTORY_KEY " }\n"                                                                                         \
  "  I: { latest: merge, index_of: T, key: [{ field: host }],"                                                         \
  " columns: { family: M, from: [{ value: { time: epoch_ms }, as: ts }] } }\n"

#define MINUTE_MS G_GINT64_CONSTANT(60000)
#define YEAR_MS (365 * 24 * 60 * MINUTE_MS)

TEST("/mapping-future/A18-history-gets-what-latest-tables-do-not")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA HISTORY HBASE ALL_TABLES);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * MINUTE_MS, "L T I");
  g_assert_null(fixture.mapped.expired);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * MINUTE_MS + 1, "T");
  g_assert_cmpuint(fixture.mapped.expired[0].n_future_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.expired[1].n_future_rows, ==, 0);
  g_assert_cmpuint(fixture.mapped.expired[2].n_future_rows, ==, 1);
  g_assert_cmpuint(fixture.mapped.n_expired_readings + fixture.mapped.n_unmatched_readings, ==, 0);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * YEAR_MS, "T");
  assert_outcome_at(&fixture, RECORD_TIME_MS + 10 * YEAR_MS + 1, "time_implausible ts");
  /* The clock of this machine has no say where it is later: an old record's future stays the future, and a record
   * without time has none.
   */
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS + YEAR_MS);
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "T");
  fixture.record_time_ms = -1;
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "L T I");
}

TEST("/mapping-future/A18-what-no-table-keeps-is-rejected")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA HISTORY HBASE "tables:\n  L: { " LATEST_KEY " }\n");
  assert_outcome_at(&fixture, RECORD_TIME_MS + 11 * MINUTE_MS, "time_future ts");
  g_autofree char *outcome = outcome_of(&fixture, "[{\"host\":\"a\",\"ts\":1426539220000,\"v\":1},"
                                                  "{\"host\":\"a\",\"ts\":1426535620000,\"v\":1}]");
  g_assert_cmpstr(outcome, ==, "L");
  g_assert_cmpuint(fixture.mapped.n_rejects, ==, 1);
  g_assert_cmpint(fixture.mapped.rejects[0].reason, ==, TIDE_REJECT_TIME_FUTURE);
  g_assert_null(fixture.mapped.expired);
}

/* Each table's rows are judged by the table's own time, its bound and its policy. */
TEST("/mapping-future/A18-each-table-judges-its-own-time")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(
      KAFKA HISTORY HBASE "tables:\n"
                          "  A: { " LATEST_KEY ", time: { field: ta, format: epoch_ms } }\n"
                          "  B: { " LATEST_KEY ", time: { field: tb, format: epoch_ms, max_future: 2h } }\n"
                          "  C: { " LATEST_KEY ", cell_time: { field: tb, format: epoch_ms } }\n"
                          "  T: { " HISTORY_KEY " }\n");
  g_autofree char *far = outcome_of(&fixture, "{\"host\":\"a\",\"ts\":1426535620000,\"ta\":1426539220000,"
                                              "\"tb\":1426539220000,\"v\":1}");
  g_assert_cmpstr(far, ==, "B T");
  g_autofree char *near = outcome_of(&fixture, "{\"host\":\"a\",\"ts\":1426535620000,\"ta\":1426535620000,"
                                               "\"tb\":1426535620000,\"v\":1}");
  g_assert_cmpstr(near, ==, "A B C T");
}

/* A sender whose clock is a day ahead: its records are, too, so that by them nothing is of the future. */
TEST("/mapping-future/F10/A18-a-sender-ahead-pins-nothing")
{
  static const char *const policies[] = {"reject", "history"};
  for (guint policy = 0; policy < G_N_ELEMENTS(policies); policy++) {
    g_autofree char *text =
        g_strdup_printf(KAFKA HBASE "readings: { time: { field: ts, format: epoch_ms, on_future: %s } }\n" ALL_TABLES,
                        policies[policy]);
    g_auto(MappingFixture) fixture = mapping_fixture_of(text);
    gint64 clock_ms = RECORD_TIME_MS - 24 * 60 * MINUTE_MS;
    tide_mapping_set_now(fixture.mapping, clock_ms);
    assert_outcome_at(&fixture, RECORD_TIME_MS, "time_future ts");
    assert_outcome_at(&fixture, clock_ms + 10 * MINUTE_MS + 1, "time_future ts");
    assert_outcome_at(&fixture, clock_ms + 10 * MINUTE_MS, "L T I"); /* only its record is wrong */
    /* When it is read again and the time has come, it is of the future no more. */
    tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
    /* Of a record whose time the broker gave the clock is not asked; nor where the record has none. */
    tide_mapping_set_now(fixture.mapping, clock_ms);
    fixture.is_append_time = TRUE;
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
    fixture.is_append_time = FALSE;
    fixture.record_time_ms = -1;
    assert_outcome_at(&fixture, RECORD_TIME_MS, "L T I");
  }
}

/* The record's own time as event time, as cell time, and as that of a deletion: a clock that is ahead would pin it,
 * too. */
TEST("/mapping-future/F10/A18-a-record-ahead-pins-nothing")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA "readings: { time: record }\n" HBASE "tables:\n"
                                                            "  L: { tombstone: delete, " LATEST_KEY " }\n");
  static const char value[] = "{\"host\":\"a\",\"v\":1}";
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS - 10 * MINUTE_MS);
  g_autofree char *near = outcome_of(&fixture, value);
  g_assert_cmpstr(near, ==, "L");
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS - 10 * MINUTE_MS - 1);
  g_autofree char *far = outcome_of(&fixture, value);
  g_assert_cmpstr(far, ==, "time_future ");
  TideMessage tombstone = {.topic = TIDE_BYTES_LITERAL("metrics"),
                           .timestamp_ms = RECORD_TIME_MS,
                           .key = TIDE_BYTES_LITERAL("a"),
                           .has_key = TRUE};
  TideReject reject;
  g_assert_false(tide_mapping_apply(fixture.mapping, &tombstone, &fixture.mapped, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_FUTURE);
  tide_mapping_set_now(fixture.mapping, RECORD_TIME_MS);
  g_assert_true(tide_mapping_apply(fixture.mapping, &tombstone, &fixture.mapped, &reject));
  g_assert_cmpuint(fixture.mapped.n_rows, ==, 1);
}

/* Whatever both clocks say, what is written of a reading that is taken is the same. */
TEST("/mapping-future/F10/A18-clocks-decide-no-bytes")
{
  g_auto(MappingFixture) fixture = mapping_fixture_of(KAFKA HBASE READINGS ALL_TABLES);
  for (int i = 0; i < 2000; i++) {
    gint64 time_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}", time_ms);
    fixture.record_time_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    gint64 clock_ms = RECORD_TIME_MS + g_test_rand_int_range(-3600000, 3600000);
    tide_mapping_set_now(fixture.mapping, 0);
    g_autofree char *plain = outcome_of(&fixture, value);
    tide_mapping_set_now(fixture.mapping, clock_ms);
    g_autofree char *clocked = outcome_of(&fixture, value);
    gboolean is_future = time_ms > MIN(fixture.record_time_ms, clock_ms) + 10 * MINUTE_MS;
    g_assert_cmpstr(clocked, ==, is_future ? "time_future ts" : "L T I");
    g_assert_cmpstr(plain, ==, time_ms > fixture.record_time_ms + 10 * MINUTE_MS ? "time_future ts" : "L T I");
    for (guint32 row = 0; !is_future && row < fixture.mapped.n_rows; row++)
      g_assert_cmpint(fixture.mapped.rows[row].cells[0].timestamp_ms, ==, time_ms);
  }
}

/* A moment in every unit, read as if it were each of the others. */
TEST("/mapping-future/A17-no-unit-passes-for-another")
{
  static const char *const formats[] = {"epoch_s", "epoch_ms", "epoch_us", "epoch_ns"};
  static const char *const times[] = {"1426535612", "1426535612045", "1426535612045000", "1426535612045000000"};
  static const char *const policies[] = {"reject", "history"};
  for (guint policy = 0; policy < G_N_ELEMENTS(policies); policy++)
    for (guint format = 0; format < G_N_ELEMENTS(formats); format++) {
      g_autofree char *text =
          g_strdup_printf(KAFKA HBASE "readings: { time: { field: ts, format: %s, on_future: %s } }\n" ALL_TABLES,
                          formats[format], policies[policy]);
      g_auto(MappingFixture) fixture = mapping_fixture_of(text);
      for (guint unit = 0; unit < G_N_ELEMENTS(times); unit++) {
        g_autofree char *value = g_strdup_printf("{\"host\":\"a\",\"ts\":%s,\"v\":1}", times[unit]);
        g_autofree char *outcome = outcome_of(&fixture, value);
        g_assert_cmpstr(outcome, ==, unit == format ? "L T I" : "time_implausible ts");
        /* Nor where the record has no time to judge by. */
        fixture.record_time_ms = -1;
        g_autofree char *timeless = outcome_of(&fixture, value);
        g_assert_cmpstr(timeless, ==, outcome);
        fixture.record_time_ms = RECORD_TIME_MS;
      }
    }
}
