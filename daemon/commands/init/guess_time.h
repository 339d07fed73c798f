/* Which field of sample readings holds the event time, and in which unit: by what its values would mean. Pure. */
#pragma once

#include "commands/init/field_survey.h"
#include "model/time/time_forms.h"

G_BEGIN_DECLS

typedef struct TideTimeGuess {
  const TideSurveyField *field; /* borrowed */
  const TideTimeForm *form;
  const TideTimeForm *rival;   /* that reads its values, too, as other times: days for months; NULL: none */
  gboolean needs_zone;         /* its texts say no offset from UTC: newest_ns is as if they were of UTC */
  gint64 newest_ns;            /* of its values */
  guint64 sum_ns;              /* of all its values, to tell rivals */
  gint64 step_ns;              /* the finest of its values, of ms, us and ns */
  const TideSurveyField *date; /* borrowed: where the field is a time of day, its date; NULL: it has one */
  const TideTimeForm *date_form;
  const TideSurveyField *plus; /* borrowed: a number that is added, as nanoseconds beside seconds; NULL: none is */
  const char *plus_unit;
  int score;
} TideTimeGuess;

/* A field that is worth less is not proposed: any number can be a time. */
#define TIDE_TIME_GUESS_MIN_SCORE 3

/**
 * tide_guess_times: every field that each reading has, and whose values all are times in one of the known forms,
 * between the year 2000 and a day from @now_ms. The units of numbers are a factor of 1000 apart, so at most one fits.
 * For a field speaks its name, that it is text, that it lies near to now, and most that it tells readings of one
 * message apart; against it, that its name speaks of another moment than the measurement's, as received_at. Returns:
 * (transfer full) (element-type TideTimeGuess): the best first, of equal ones the first in the readings.
 */
GArray *tide_guess_times(const TideFieldSurvey *survey, gint64 now_ms);

/* Of one whose values are dates alone. FALSE: they are not, or not plainly. */
gboolean tide_guess_date(const TideSurveyField *field, gint64 now_ms, TideTimeGuess *ret_guess);

/* What @field says of a reading, in the format that was guessed; a text without an offset as if it were of UTC. */
gint64 tide_time_guess_ns(const TideSurveyField *field, const TideTimeForm *form, guint reading);
G_END_DECLS
