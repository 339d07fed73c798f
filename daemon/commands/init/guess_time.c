#include "commands/init/guess_time.h"

#include "config/option/time_options.h"

#define EARLIEST_MS G_GINT64_CONSTANT(946684800000) /* 2000-01-01, as readings.time.earliest */
#define DAY_NS (86400 * 1000 * TIDE_NS_PER_MS)
#define AHEAD_NS (600 * 1000 * TIDE_NS_PER_MS) /* as readings.time.max_future */

static const TideTimeFormat formats[] = {TIDE_TIME_EPOCH_S, TIDE_TIME_EPOCH_MS, TIDE_TIME_EPOCH_US, TIDE_TIME_EPOCH_NS,
                                         TIDE_TIME_RFC3339};

static const char *const names_of_times[] = {"ts",     "t",     "time", "timestamp", "at",        "date", "datetime",
                                             "moment", "clock", "when", "epoch",     "eventtime", NULL};
static const char *const names_of_other_moments[] = {
    "received", "created", "updated", "processed", "ingested", "ingest", "inserted", "sent",      "arrival",
    "expires",  "until",   "valid",   "start",     "boot",     "booted", "uptime",   "installed", NULL};

const char *
tide_time_format_word(TideTimeFormat format)
{
  return tide_config_choice_name(tide_config_option_find(&tide_time_options, "format")->choices, (int)format);
}

/* By the reader that the daemon uses. @zone: NULL: the text must say its offset */
static gboolean
read_value(const TideSurveyValue *value, TideTimeFormat format, GTimeZone *zone, gint64 *ret_ns)
{
  static const guint32 known[] = {1};
  TideField field = {.name_id = 0, .kind = value->kind, .text = value->text};
  TideReading reading = {.fields = &field, .n_fields = 1, .known = known, .n_known = 1};
  TideTimeSpec spec = {.field = 0, .format = format, .zone = zone, .earliest_epoch_ms = EARLIEST_MS};
  TideRecordTime record = {.record_ms = -1};
  TideEventTime time;
  TideReject reject;
  if (!value->is_present || !tide_time_spec_read(&spec, &reading, &record, &time, &reject))
    return FALSE;
  *ret_ns = time.ns;
  return TRUE;
}

static gboolean
read_all(const TideSurveyField *field, TideTimeFormat format, GTimeZone *zone, gint64 now_ms, gint64 *ret_newest_ns)
{
  *ret_newest_ns = 0;
  for (guint i = 0; i < field->values->len; i++) {
    gint64 ns = 0;
    if (!read_value(tide_survey_value(field, i), format, zone, &ns) || ns > now_ms * TIDE_NS_PER_MS + DAY_NS)
      return FALSE;
    *ret_newest_ns = MAX(*ret_newest_ns, ns);
  }
  return TRUE;
}

static int
score_of(const TideTimeGuess *guess, gint64 now_ms)
{
  gint64 age_ns = now_ms * TIDE_NS_PER_MS - guess->newest_ns;
  int score = guess->format == TIDE_TIME_RFC3339 ? 4 : 0;
  score += tide_survey_name_has(guess->field->name, names_of_times) ? 4 : 0;
  score -= tide_survey_name_has(guess->field->name, names_of_other_moments) ? 2 : 0;
  score += ABS(age_ns) < DAY_NS ? 3 : age_ns < 365 * DAY_NS ? 1 : 0;
  /* What lies ahead is the end of something, or is written by another zone's clocks. */
  return score - (age_ns < -AHEAD_NS ? 3 : 0);
}

gint64
tide_time_guess_ns(const TideSurveyField *field, TideTimeFormat format, guint reading)
{
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
  gint64 ns = 0;
  (void)read_value(tide_survey_value(field, reading), format, utc, &ns);
  return ns;
}

/* Whether the values of @field all are times of @format. */
static gboolean
try_format(const TideSurveyField *field, TideTimeFormat format, gint64 now_ms, TideTimeGuess *ret_guess)
{
  TideTimeGuess guess = {.field = field, .format = format};
  if (field->values->len == 0 || !field->is_nameable)
    return FALSE;
  if (!read_all(field, format, NULL, now_ms, &guess.newest_ns)) {
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    guess.needs_zone = format == TIDE_TIME_RFC3339 && read_all(field, format, utc, now_ms, &guess.newest_ns);
    if (!guess.needs_zone)
      return FALSE;
  }
  guess.score = score_of(&guess, now_ms);
  *ret_guess = guess;
  return TRUE;
}

GArray *
tide_guess_times(const TideFieldSurvey *survey, gint64 now_ms)
{
  GArray *guesses = g_array_new(FALSE, FALSE, sizeof(TideTimeGuess));
  for (guint i = 0; i < survey->fields->len; i++) {
    for (gsize j = 0; j < G_N_ELEMENTS(formats); j++) {
      TideTimeGuess guess;
      if (!try_format(survey->fields->pdata[i], formats[j], now_ms, &guess))
        continue;
      guint at = 0;
      while (at < guesses->len && g_array_index(guesses, TideTimeGuess, at).score >= guess.score)
        at++;
      g_array_insert_val(guesses, at, guess);
      break;
    }
  }
  return guesses;
}
