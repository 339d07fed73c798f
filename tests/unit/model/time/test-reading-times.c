#include "model/time/reading_times.h"

#include "unit/reading_fixture.h"

#define SPEC(name_id, unit)                                                                                            \
  {                                                                                                                    \
    .field = (name_id), .format = TIDE_TIME_EPOCH_##unit, .date_field = TIDE_NAME_NONE                                 \
  }

static void
test_each_time_is_read_once_and_only_when_asked(void)
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

static void
test_specs_that_read_the_same_are_equal(void)
{
  char pattern[] = "HH:mm", same_pattern[] = "HH:mm", other_pattern[] = "HH:mm:ss";
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
  other.on_future = TIDE_FUTURE_HISTORY;
  g_assert_false(tide_time_spec_equal(&spec, &other));
  other = spec;
  other.date_field = TIDE_NAME_NONE;
  g_assert_false(tide_time_spec_equal(&spec, &other));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/reading-times/each-time-is-read-once-and-only-when-asked",
                  test_each_time_is_read_once_and_only_when_asked);
  g_test_add_func("/reading-times/specs-that-read-the-same-are-equal", test_specs_that_read_the_same_are_equal);
  return g_test_run();
}
