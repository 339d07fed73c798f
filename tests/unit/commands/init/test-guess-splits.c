/* Where a history is split by its samples, and what is said where it is not. */
#include "commands/init/guess_key.h"

#include "model/key/row_key.h"
#include "unit/sample_survey.h"
#include "unit/test_case.h"

#define T0_MS G_GINT64_CONSTANT(1795452860000)

/* The points of @n readings of the hosts 0, @step, 2 * @step... (of 100), each a bit older, and @n_again more of h00;
 * "-": none. @why: a part of what is said. */
static void
assert_points(guint n, guint n_again, guint step, gboolean has_time, const char *expected, const char *why)
{
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(text, "{\"host\":\"h%02u\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}\n", i * step % 100,
                           T0_MS - (gint64)i);
  for (guint i = 0; i < n_again; i++)
    g_string_append_printf(text, "{\"host\":\"h00\",\"ts\":%" G_GINT64_FORMAT ",\"v\":1}\n", T0_MS - (gint64)(n + i));
  g_autoptr(TideInitSamples) samples = read_samples(text->str);
  const TideFieldSurvey *survey = samples->survey;
  g_autofree char *said = NULL;
  const TideSurveyField *time = has_time ? tide_field_survey_find(survey, "ts") : NULL;
  GArray *points =
      tide_guess_splits(tide_field_survey_find(survey, "host"), time, tide_time_form_at(TIDE_TIME_EPOCH_MS), &said);
  g_autoptr(GString) joined = g_string_new(points->len > 0 ? NULL : "-");
  for (guint i = 0; i < points->len; i++) {
    TideBytes point = g_array_index(points, TideBytes, i);
    g_string_append_printf(joined, "%s%.*s", i > 0 ? " " : "", (int)point.len, (const char *)point.data);
  }
  g_assert_cmpstr(joined->str, ==, expected);
  if (strstr(said, why) == NULL)
    g_error("'%s' is not said: %s", why, said);
  tide_splits_free(points);
}

TEST("/guess-splits/points")
{
  /* 37 and 100 have no common factor: all hosts come, in no order of theirs */
  assert_points(100, 0, 37, TRUE, "h12 h25 h37 h5 h62 h75 h87", "the 100 different values of 'host'");
  assert_points(40, 0, 5, TRUE, "h5", "into 2 equal shares");
  /* a host counts once, however often it comes */
  assert_points(20, 180, 5, TRUE, "h5", "the 20 different values");
}

TEST("/guess-splits/too-few")
{
  assert_points(100, 0, 10, TRUE, "-", "have 10 of the 20 different values of 'host'");
  assert_points(19, 0, 37, TRUE, "-", "have 19 of the 20");
  assert_points(20, 0, 37, TRUE, "h48", "the 20 different values");
}

/* Times go down from reading to reading. */
TEST("/guess-splits/trend")
{
  assert_points(100, 0, 1, TRUE, "-", "be in the first region");
  assert_points(100, 0, 99, TRUE, "-", "be in the last region");
  assert_points(100, 0, 1, FALSE, "-", "be in the last region");
  assert_points(300, 0, 1, TRUE, "h12 h25 h37 h5 h62 h75 h87", "equal shares"); /* they come again */
}
