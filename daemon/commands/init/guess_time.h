/* Guesses which field of sample readings is the event time, and its unit, by the plausibility of the resulting times.
 * Pure. */
#pragma once

#include "commands/init/field_survey.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

typedef struct TideTimeGuess {
  const TideSurveyField *field; /* borrowed */
  const TideTimeForm *form;
  const TideTimeForm *rival;   /* reads its values as other times, with days for months; NULL: none */
  gboolean needs_zone;         /* its texts have no offset from UTC: newest_ns assumes UTC */
  gint64 newest_ns;            /* newest of its values */
  guint64 sum_ns;              /* sum of its values, to distinguish rivals */
  gint64 step_ns;              /* the finest unit of its values: ms, us or ns */
  const TideSurveyField *date; /* borrowed: the date field, if the field is a time of day; NULL: it has its own date */
  const TideTimeForm *date_form;
  const TideSurveyField *plus; /* borrowed: a number to be added, such as nanoseconds beside seconds; NULL: none */
  const char *plus_unit;
  int score;
} TideTimeGuess;

/* A field with a lower score is not proposed, because any number can be a time. */
#define TIDE_TIME_GUESS_MIN_SCORE 3

/**
 * tide_guess_times: find the fields that each reading has and whose values are all times in one of the known forms,
 * between the year 2000 and a day from @now_ms. The units of numbers differ by a factor of 1000, so at most one fits. A
 * field scores higher by its name, if it is text, if it is near to now, and most of all if it separates the readings of
 * one message. It scores lower if its name means another time than the measurement's, like received_at. Returns:
 * (transfer full) (element-type TideTimeGuess): best first, equal ones in the order of the readings.
 */
GArray *tide_guess_times(const TideFieldSurvey *survey, gint64 now_ms);

/* Guesses the form of a field whose values are only dates. FALSE: they are not, or the form is ambiguous. */
gboolean tide_guess_date(const TideSurveyField *field, gint64 now_ms, TideTimeGuess *ret_guess);

/* The time in @field of a reading, in the guessed format; a text without an offset is read as UTC. */
gint64 tide_time_guess_ns(const TideSurveyField *field, const TideTimeForm *form, guint reading);
G_END_DECLS
