#include "commands/init/guess_time.h"

#include "decode/formats.h"
#include "model/reading.h"

#define DAY_NS (86400 * 1000 * TIDE_NS_PER_MS)
#define AHEAD_NS (600 * 1000 * TIDE_NS_PER_MS) /* like readings.time.max_future */

static const char *const names_of_times[] = {"ts",       "t",      "time",  "timestamp", "at",    "date",
                                             "datetime", "moment", "clock", "when",      "epoch", "eventtime",
                                             "tst",      "stamp",  "dt",    NULL};
/* Among those, the words for the time of the measurement. */
static const char *const names_of_measuring[] = {"measured",    "measurement", "sampled",     "sample",   "observed",
                                                 "observation", "acquired",    "acquisition", "recorded", "reading",
                                                 "data",        "phenomenon",  "sampletime",  "event",    "eventtime",
                                                 "tst",         "device",      "sensor",      "source",   NULL};
static const char *const names_of_other_moments[] = {
    "received", "created",   "updated",  "processed", "ingested",    "ingest", "inserted", "sent",      "arrival",
    "expires",  "until",     "valid",    "start",     "boot",        "booted", "uptime",   "installed", "server",
    "gateway",  "kafka",     "publish",  "published", "forwarded",   "stored", "modified", "last",      "report",
    "batch",    "ingestion", "producer", "transmit",  "transmitted", "end",    NULL};

/* Parses the values of @field in the form at @index. @ret_guess: its newest value, and whether they need a zone. */
static gboolean
read_all(const TideSurveyField *field, guint index, gint64 now_ms, TideTimeGuess *ret_guess)
{
  for (guint i = 0; i < field->values->len; i++) {
    const TideSurveyValue *value = tide_survey_value(field, i);
    gboolean is_scalar = value->kind == TIDE_VALUE_STRING || value->kind == TIDE_VALUE_NUMBER;
    gboolean needs_zone = FALSE;
    gint64 ns = 0;
    if (!value->is_present || !is_scalar || !tide_time_form_read(index, value->text, &ns, &needs_zone) ||
        ns > now_ms * TIDE_NS_PER_MS + DAY_NS)
      return FALSE;
    ret_guess->newest_ns = MAX(ret_guess->newest_ns, ns);
    ret_guess->sum_ns += (guint64)ns;
    ret_guess->step_ns = MIN(ret_guess->step_ns, ns % 1000 != 0 ? 1 : ns % TIDE_NS_PER_MS != 0 ? 1000 : TIDE_NS_PER_MS);
    ret_guess->needs_zone |= needs_zone && tide_time_form_at(index)->zone == NULL;
  }
  return field->values->len > 0;
}

static int
score_of(const TideTimeGuess *guess, gint64 now_ms)
{
  gint64 age_ns = now_ms * TIDE_NS_PER_MS - guess->newest_ns;
  int score = tide_time_format_is_count(guess->form->format) ? 0 : 4;
  score += tide_survey_name_has(guess->field->name, names_of_times) ? 4 : 0;
  score += tide_survey_name_has(guess->field->name, names_of_measuring) ? 1 : 0;
  score -= tide_survey_name_has(guess->field->name, names_of_other_moments) ? 2 : 0;
  score += ABS(age_ns) < DAY_NS ? 3 : age_ns < 365 * DAY_NS ? 1 : 0;
  /* A time in the future is an end time, or was written in another time zone. */
  return score - (age_ns < -AHEAD_NS ? 3 : 0);
}

gint64
tide_time_guess_ns(const TideSurveyField *field, const TideTimeForm *form, guint reading)
{
  gint64 ns;
  gboolean needs_zone;
  guint index = (guint)(form - tide_time_form_at(0));
  return tide_time_form_read(index, tide_survey_value(field, reading)->text, &ns, &needs_zone) ? ns : 0;
}

/* Whether all values of @field are times of one form; uses the first form that fits. */
static gboolean
try_forms(const TideSurveyField *field, gint64 now_ms, TideTimeGuess *ret_guess)
{
  *ret_guess = (TideTimeGuess){.field = field};
  if (!field->is_nameable)
    return FALSE;
  for (guint i = 0; tide_time_form_at(i) != NULL; i++) {
    TideTimeGuess guess = {.field = field, .form = tide_time_form_at(i), .step_ns = TIDE_NS_PER_MS};
    if (!guess.form->is_moment || !read_all(field, i, now_ms, &guess))
      continue;
    if (ret_guess->form == NULL)
      *ret_guess = guess;
    else if (guess.sum_ns != ret_guess->sum_ns)
      ret_guess->rival = guess.form;
  }
  ret_guess->score = ret_guess->form != NULL ? score_of(ret_guess, now_ms) : 0;
  return ret_guess->form != NULL;
}

/* Whether readings of one message have different times in @field, so that it is not the time of a batch. */
static gboolean
tells_readings_apart(const TideFieldSurvey *survey, const TideSurveyField *field)
{
  for (guint i = 1; i < survey->n_readings; i++)
    if (tide_bytes_equal(tide_survey_value(survey->record, i - 1)->text, tide_survey_value(survey->record, i)->text) &&
        !tide_bytes_equal(tide_survey_value(field, i - 1)->text, tide_survey_value(field, i)->text))
      return TRUE;
  return FALSE;
}

/* Whether @name and @other are members of one object. */
static gboolean
are_siblings(const char *name, const char *other)
{
  const char *slash = strrchr(name, '/'), *other_slash = strrchr(other, '/');
  gsize len = slash != NULL ? (gsize)(slash - name) : 0;
  return len == (other_slash != NULL ? (gsize)(other_slash - other) : 0) && strncmp(name, other, len) == 0;
}

/* Whether all values of @field are whole numbers below @end. */
static gboolean
is_below(const TideSurveyField *field, gint64 end)
{
  for (guint i = 0; i < field->values->len; i++) {
    const TideSurveyValue *value = tide_survey_value(field, i);
    const char *text = (const char *)value->text.data;
    char *rest = NULL;
    if (value->kind != TIDE_VALUE_NUMBER || g_ascii_strtoll(text, &rest, 10) >= end || text[0] == '-' || *rest != '\0')
      return FALSE;
  }
  return TRUE;
}

/* Finds a finer part of seconds in a member beside them; "ms" is excluded, because it is just as often a duration. */
static void
find_plus(const TideFieldSurvey *survey, TideTimeGuess *guess)
{
  static const struct {
    const char *names[6], *unit;
    gint64 end, step_ns;
  } parts[] = {
      {{"ns", "nanos", "nanoseconds", "nsec", "nanosec"}, "ns", 1000000000, 1},
      {{"micros", "microseconds", "usec", "microsec"}, "us", 1000000, 1000},
  };
  if (guess->form->format != TIDE_TIME_EPOCH_S)
    return;
  for (guint i = 0; i < survey->fields->len; i++) {
    const TideSurveyField *field = survey->fields->pdata[i];
    for (gsize k = 0; k < G_N_ELEMENTS(parts) && field != guess->field && guess->plus == NULL; k++) {
      if (!tide_survey_name_has(field->name, parts[k].names) || !are_siblings(field->name, guess->field->name) ||
          !is_below(field, parts[k].end))
        continue;
      guess->plus = field;
      guess->plus_unit = parts[k].unit;
      guess->step_ns = MIN(guess->step_ns, parts[k].step_ns);
    }
  }
}

/* The form of @field's values if all are dates, or all times of day; NULL: neither, or it is ambiguous. */
static const TideTimeForm *
half_of(const TideSurveyField *field, gboolean is_date, gint64 now_ms)
{
  const TideTimeForm *found = NULL;
  guint64 sum_ns = 0;
  for (guint i = 0; tide_time_form_at(i) != NULL && field->is_nameable; i++) {
    TideTimeGuess guess = {.field = field, .form = tide_time_form_at(i)};
    if (guess.form->is_moment || guess.form->pattern == NULL || !read_all(field, i, now_ms, &guess) ||
        is_date != (guess.newest_ns >= DAY_NS))
      continue;
    if (found != NULL && guess.sum_ns != sum_ns)
      return NULL;
    found = found != NULL ? found : guess.form;
    sum_ns = guess.sum_ns;
  }
  return found;
}

gboolean
tide_guess_date(const TideSurveyField *field, gint64 now_ms, TideTimeGuess *ret_guess)
{
  *ret_guess = (TideTimeGuess){.field = field, .needs_zone = TRUE, .step_ns = TIDE_NS_PER_MS};
  ret_guess->form = half_of(field, TRUE, now_ms);
  return ret_guess->form != NULL;
}

/* Finds a date in one member and a time of day in another. */
static void
add_halves(const TideFieldSurvey *survey, gint64 now_ms, GArray *guesses)
{
  TideTimeGuess guess = {.needs_zone = TRUE, .step_ns = TIDE_NS_PER_MS, .score = TIDE_TIME_GUESS_MIN_SCORE};
  for (guint i = 0; i < survey->fields->len && guess.form == NULL; i++) {
    guess.field = survey->fields->pdata[i];
    guess.form = half_of(guess.field, FALSE, now_ms);
  }
  for (guint i = 0; i < survey->fields->len && guess.form != NULL && guess.date_form == NULL; i++) {
    guess.date = survey->fields->pdata[i];
    guess.date_form = half_of(guess.date, TRUE, now_ms);
  }
  if (guess.date_form != NULL)
    g_array_append_val(guesses, guess);
}

GArray *
tide_guess_times(const TideFieldSurvey *survey, gint64 now_ms)
{
  GArray *guesses = g_array_new(FALSE, FALSE, sizeof(TideTimeGuess));
  const TideSurveyField *measurement = tide_field_survey_find(survey, TIDE_INFLUX_MEASUREMENT);
  gboolean is_of_lines = measurement != NULL && measurement->names_lines;
  for (guint i = 0; i < survey->fields->len; i++) {
    TideTimeGuess guess;
    if (!try_forms(survey->fields->pdata[i], now_ms, &guess))
      continue;
    guess.score += tells_readings_apart(survey, guess.field) ? 6 : 0;
    guess.score += is_of_lines && strcmp(guess.field->name, TIDE_INFLUX_TIME) == 0 ? 12 : 0; /* the line's own */
    find_plus(survey, &guess);
    guint at = 0;
    while (at < guesses->len && g_array_index(guesses, TideTimeGuess, at).score >= guess.score)
      at++;
    g_array_insert_val(guesses, at, guess);
  }
  if (guesses->len == 0)
    add_halves(survey, now_ms, guesses);
  return guesses;
}
