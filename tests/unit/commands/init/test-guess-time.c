/* Which field is taken for the time, and in which unit. */
#include "commands/init/guess_time.h"

#include "unit/sample_survey.h"
#include "unit/test_case.h"

#define NOW_MS G_GINT64_CONSTANT(1795452867045)
#define NOW "2026-11-23T16:54:27"
#define DAY_MS (86400 * G_GINT64_CONSTANT(1000))

/* What is taken of @text's fields, as "at epoch_s"; "-" where none is good enough. (transfer full) */
static char *
taken(const char *text)
{
  g_autoptr(TideInitSamples) samples = read_samples(text);
  g_autoptr(GArray) guesses = tide_guess_times(samples->survey, NOW_MS);
  if (guesses->len == 0)
    return g_strdup("-");
  const TideTimeGuess *best = &g_array_index(guesses, TideTimeGuess, 0);
  if (best->score < TIDE_TIME_GUESS_MIN_SCORE)
    return g_strdup("-");
  const TideTimeForm *form = best->form;
  g_autofree char *other = best->date != NULL ? g_strdup_printf(" of %s %s", best->date->name, best->date_form->pattern)
                           : best->plus != NULL ? g_strdup_printf(" plus %s %s", best->plus->name, best->plus_unit)
                                                : g_strdup("");
  return g_strdup_printf("%s %s%s%s%s", best->field->name,
                         form->pattern != NULL ? form->pattern : tide_time_format_word(form->format), other,
                         best->rival != NULL ? " or another" : "", best->needs_zone ? " zone" : "");
}

TEST("/guess-time/rules")
{
  static const struct {
    const char *text, *expected;
  } cases[] = {
      /* units */
      {"{\"at\":1795452867}", "at epoch_s"},
      {"{\"at\":1795452867.045}", "at epoch_s"},
      {"{\"at\":1795452867045}", "at epoch_ms"},
      {"{\"at\":1795452867045123}", "at epoch_us"},
      {"{\"at\":1795452867045123456}", "at epoch_ns"},
      {"{\"at\":\"1795452867045\"}", "at epoch_ms"},
      {"{\"at\":\"" NOW "Z\"}", "at rfc3339"},
      {"{\"at\":\"" NOW ".5+01:00\"}", "at rfc3339"},
      {"{\"at\":\"" NOW "\"}", "at rfc3339 zone"},
      {"{\"at\":\"2026-11-23 16:54:27\"}", "at rfc3339 zone"},
      {"{\"at\":\"/Date(1795452867045)/\"}", "at dotnet"},
      {"{\"at\":639310264670450000}", "at ticks"},
      {"{\"at\":134399264670450000}", "at filetime"},
      /* patterns */
      {"{\"at\":\"2026-11-23 16:54\"}", "at yyyy-MM-dd HH:mm[:ss[.f][,f]][X] zone"},
      {"{\"at\":\"Mon, 23 Nov 2026 16:54:27 +0100\"}", "at EEE, d MMM yyyy HH:mm:ss X"},
      {"{\"at\":\"Mon, 23 Nov 2026 16:54:27 GMT\"}", "at EEE, d MMM yyyy HH:mm:ss 'GMT'"},
      {"{\"at\":\"23/Nov/2026:16:54:27 +0000\"}", "at d/MMM/yyyy:HH:mm:ss X"},
      {"{\"at\":\"23.11.2026 9:05\"}", "at d.M.yyyy H:mm[:ss[.f][,f]] zone"},
      {"{\"at\":\"11/23/2026 1:05:00 PM\"}", "at M/d/yyyy h:mm[:ss] a zone"},
      {"{\"at\":20261123165427}", "at yyyyMMddHHmmss[.f][X] zone"},
      /* where no sample tells the day from the month, it is said; one is enough to tell */
      {"{\"at\":\"11/10/2026 16:54\"}", "at d/M/yyyy H:mm[:ss[.f]] or another zone"},
      {"{\"at\":\"11/10/2026 16:54\"}\n{\"at\":\"11/23/2026 16:54\"}", "at M/d/yyyy H:mm[:ss[.f]] zone"},
      /* no date, or no time of day: half a time is none */
      {"{\"at\":\"16:54:27\"}", "-"},
      {"{\"at\":\"2026-11-23\"}", "-"},
      {"{\"at\":\"2026-11-23-13:05:00\"}", "at yyyy-MM-dd-HH:mm[:ss[.f]][X] zone"},
      {"{\"at\":\"2026/11/23T13:05:00z\"}", "at yyyy/M/d'T'H:mm[:ss[.f]][X]"},
      /* in two members */
      {"{\"d\":\"2026-11-23\",\"t\":\"16:54:27\"}", "t HH:mm[:ss[.f][,f]] of d yyyy-MM-dd zone"},
      {"{\"clock\":1795452867,\"ns\":123456789}", "clock epoch_s plus ns ns"},
      {"{\"at\":{\"seconds\":1795452867,\"nanos\":5}}", "at/seconds epoch_s plus at/nanos ns"},
      {"{\"clock\":1795452867,\"x\":{\"ns\":1}}", "clock epoch_s"},
      {"{\"clock\":1795452867,\"ms\":1500}", "clock epoch_s"},
      /* that of the measurement, of several */
      {"{\"time_stamp\":1795452867,\"data_time_stamp\":1795452860}", "data_time_stamp epoch_s"},
      {"{\"created_at\":1795452867,\"tst\":1795452860}", "tst epoch_s"},
      /* nested */
      {"{\"meta\":{\"ts\":1795452867045},\"v\":1}", "meta/ts epoch_ms"},
      /* a name of a time beside a number that could be one */
      {"{\"bytes\":1795452000,\"ts\":1795452867}", "ts epoch_s"},
      /* text that is a time, beside such a number */
      {"{\"bytes\":1795452000,\"wann\":\"" NOW "Z\"}", "wann rfc3339"},
      /* the measurement's moment, not that of its arrival */
      {"{\"received_at\":1795452867,\"event_time\":1795452860}", "event_time epoch_s"},
      {"{\"createdAt\":\"" NOW "Z\",\"at\":\"" NOW "Z\"}", "at rfc3339"},
      /* the readings' own, whatever that of their message is called */
      {"[{\"timestamp\":\"" NOW "Z\",\"t\":1795452860},{\"timestamp\":\"" NOW "Z\",\"t\":1795452867}]", "t epoch_s"},
      {"[{\"timestamp\":\"" NOW "Z\",\"t\":1795452867},{\"timestamp\":\"" NOW "Z\",\"t\":1795452867}]",
       "timestamp rfc3339"},
      /* of equal ones the first */
      {"{\"t\":1795452867,\"time\":1795452867}", "t epoch_s"},
      /* near to now, whatever it is called; far from it, only by its name */
      {"{\"x\":1795452867}", "x epoch_s"},
      {"{\"x\":1426535612}", "-"},
      {"{\"ts\":1426535612}", "ts epoch_s"},
      /* in each reading, of one unit, and no time of 1970 or of the future */
      {"{\"ts\":1795452867}\n{\"v\":1}", "-"},
      {"{\"ts\":1795452867}\n{\"ts\":null}", "-"},
      {"{\"ts\":1795452867}\n{\"ts\":1795452867045}", "-"},
      {"{\"ts\":12345}", "-"},
      {"{\"ts\":1795999999}", "-"},
      {"{\"ts\":\"2026-12-23T00:00:00Z\"}", "-"},
      {"{\"ts\":-1795452867}", "-"},
      {"{\"until\":1795460000,\"ts\":1795452867}", "ts epoch_s"},
      {"{\"x\":1795460000,\"y\":1795452867}", "y epoch_s"},
      {"{\"ts\":true}", "-"},
      {"{\"ts\":[1795452867]}", "-"},
      /* the record's own names can be no field's */
      {"{\"$ts\":1795452867}", "-"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *found = taken(cases[i].text);
    g_test_message("%s", cases[i].text);
    g_assert_cmpstr(found, ==, cases[i].expected);
  }
}

/* Times between 2001 and now in a unit drawn, among measurements. */
TEST("/guess-time/random-units")
{
  static const struct {
    const char *word;
    double per_ms;
  } units[] = {{"epoch_s", 0.001}, {"epoch_ms", 1}, {"epoch_us", 1000}, {"epoch_ns", 1000000}};
  for (guint round = 0; round < 300; round++) {
    guint unit = (guint)g_test_rand_int_range(0, G_N_ELEMENTS(units));
    gint64 newest_ms = NOW_MS - (gint64)(g_test_rand_double() * 9000) * DAY_MS;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = g_test_rand_int_range(1, 20); i > 0; i--) {
      gint64 ms = newest_ms - g_test_rand_int_range(0, 1000000000);
      g_string_append_printf(text, "{\"a\":%d,\"ts\":%" G_GINT64_FORMAT ",\"b\":%f}\n",
                             g_test_rand_int_range(-1000, 100000), (gint64)((double)ms * units[unit].per_ms),
                             g_test_rand_double());
    }
    g_autofree char *found = taken(text->str), *expected = g_strdup_printf("ts %s", units[unit].word);
    g_assert_cmpstr(found, ==, expected);
  }
}
