/* The fields of sample readings, with their values reading by reading. All guesses are based on it. Pure. */
#pragma once

#include "model/reading.h"

G_BEGIN_DECLS

/* More readings would need memory without improving the guesses. */
#define TIDE_SURVEY_MAX_READINGS 10000u

typedef struct TideSurveyValue {
  gboolean is_present; /* and not null */
  TideValueKind kind;
  TideBytes text; /* owned by the survey */
} TideSurveyValue;

typedef struct TideSurveyField {
  char *name;           /* owned: unchanged */
  char *shown;          /* owned: printable, for display */
  gboolean is_nameable; /* a configuration can refer to it as a field of the readings */
  gboolean names_lines; /* a tag of line protocol, or the measurement */
  GArray *values;       /* owned (element-type TideSurveyValue): one per reading */
  guint n_present;      /* values that are present */
  guint n_numbers;      /* present values that are numbers, also in quotes */
} TideSurveyField;

typedef struct TideFieldSurvey {
  GPtrArray *fields;       /* owned (element-type TideSurveyField), in the order of their first occurrence */
  GHashTable *by_name;     /* owned: name -> TideSurveyField, borrowed */
  GStringChunk *texts;     /* owned */
  TideSurveyField *record; /* owned: for each reading the number of its message, for a time that only the record has */
  guint n_readings;
} TideFieldSurvey;

TideFieldSurvey *tide_field_survey_new(void);
void tide_field_survey_free(TideFieldSurvey *survey); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFieldSurvey, tide_field_survey_free)

/* Copies what it keeps. @message: a number that all readings of one message share. FALSE: the survey is full. */
gboolean tide_field_survey_add(TideFieldSurvey *survey, guint message, const TideReading *reading);

/* Adds a field of the record, such as $topic, with the value @text in all readings; call after the last reading. */
const TideSurveyField *tide_field_survey_add_constant(TideFieldSurvey *survey, const char *name, const char *text);

/* NULL: no reading has it. */
const TideSurveyField *tide_field_survey_find(const TideFieldSurvey *survey, const char *name);

static inline const TideSurveyValue *
tide_survey_value(const TideSurveyField *field, guint reading)
{
  return &g_array_index(field->values, TideSurveyValue, reading);
}

/* The number of different values of the field. */
guint tide_survey_n_distinct(const TideSurveyField *field);

/* The number of different combinations of values of @fields (element-type TideSurveyField). */
guint tide_field_survey_n_distinct(const TideFieldSurvey *survey, const GPtrArray *fields);

/* Whether @name contains one of @words (NULL-terminated, lower case): "deviceId", "meta/device-id" and "deviceid"
 * contain "device", and the first two contain "id". Only the part after the last '/' counts. */
gboolean tide_survey_name_has(const char *name, const char *const *words);

G_END_DECLS
