/* The fields of sample readings: what each holds, reading by reading. What is guessed of them stands on it alone. Pure.
 */
#pragma once

#include "model/reading.h"

G_BEGIN_DECLS

/* More readings tell nothing new, and their values would only take memory. */
#define TIDE_SURVEY_MAX_READINGS 10000u

typedef struct TideSurveyValue {
  gboolean is_present; /* and not null */
  TideValueKind kind;
  TideBytes text; /* the survey's */
} TideSurveyValue;

typedef struct TideSurveyField {
  char *name;           /* owned: as it is */
  char *shown;          /* owned: printable, for people */
  gboolean is_nameable; /* a configuration can name it as a field of the readings */
  gboolean names_lines; /* a tag of line protocol, or the measurement */
  GArray *values;       /* owned (element-type TideSurveyValue): one for each reading */
  guint n_present;      /* of them */
  guint n_numbers;      /* of these, numbers, also those in quotes */
} TideSurveyField;

typedef struct TideFieldSurvey {
  GPtrArray *fields;       /* owned (element-type TideSurveyField), in the order in which they came */
  GHashTable *by_name;     /* owned: name -> TideSurveyField, borrowed */
  GStringChunk *texts;     /* owned */
  TideSurveyField *record; /* owned: of each reading the number of its message, for a time that only the record has */
  guint n_readings;
} TideFieldSurvey;

TideFieldSurvey *tide_field_survey_new(void);
void tide_field_survey_free(TideFieldSurvey *survey); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFieldSurvey, tide_field_survey_free)

/* Copies what it keeps. @message: a number that all readings of one message have. FALSE: it has as many as it takes. */
gboolean tide_field_survey_add(TideFieldSurvey *survey, guint message, const TideReading *reading);

/* One of the record's, such as $topic, that is @text in all readings; after the last of them. */
const TideSurveyField *tide_field_survey_add_constant(TideFieldSurvey *survey, const char *name, const char *text);

/* NULL: no reading has it. */
const TideSurveyField *tide_field_survey_find(const TideFieldSurvey *survey, const char *name);

static inline const TideSurveyValue *
tide_survey_value(const TideSurveyField *field, guint reading)
{
  return &g_array_index(field->values, TideSurveyValue, reading);
}

/* How many different values the readings have. */
guint tide_survey_n_distinct(const TideSurveyField *field);

/* The same of all @fields (element-type TideSurveyField) together. */
guint tide_field_survey_n_distinct(const TideFieldSurvey *survey, const GPtrArray *fields);

/* Whether @name speaks of one of @words (NULL-terminated, lower case): "deviceId", "meta/device-id" and "deviceid" of
 * "device", and the first two of "id". Only what stands behind the last '/' counts. */
gboolean tide_survey_name_has(const char *name, const char *const *words);

G_END_DECLS
