#include "commands/init/draft.h"

#include "commands/cli/output.h"
#include "commands/init/guess_key.h"
#include "commands/init/guess_splits.h"
#include "commands/init/guess_time.h"
#include "config/option/nearest_name.h"
#include "decode/formats.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/units.h"

/* Of names that an error lists. */
#define SHOWN_NAMES 12u

/* Of a value. */
#define SHOWN_BYTES 40u

#define RECORD_TIME "$timestamp"
#define RECORD_KEY "$key"
#define LINE_TAGS "$tags"

void
tide_init_draft_begin(TideInitDraft *draft, const TideInitSamples *samples, gint64 now_ms)
{
  *draft = (TideInitDraft){.samples = samples, .survey = samples->survey, .now_ms = now_ms};
  draft->times = tide_guess_times(draft->survey, now_ms);
  draft->candidates = tide_guess_key_candidates(draft->survey, draft->times);
  draft->proposal.decode = samples->decode;
  draft->proposal.registry = &samples->config->readings.registry;
  draft->proposal.time_format = TIDE_TIME_RECORD;
  draft->proposal.key = g_ptr_array_new_with_free_func(g_free);
  draft->proposal.lacking = g_ptr_array_new();
}

void
tide_init_draft_clear(TideInitDraft *draft)
{
  g_clear_pointer(&draft->times, g_array_unref);
  g_clear_pointer(&draft->candidates, g_ptr_array_unref);
  tide_init_proposal_clear(&draft->proposal);
}

/* The first names of the samples' fields. (transfer full) */
static char *
field_names(const TideInitDraft *draft)
{
  GString *names = g_string_new(NULL);
  const GPtrArray *fields = draft->survey->fields;
  for (guint i = 0; i < MIN(fields->len, SHOWN_NAMES); i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", ((const TideSurveyField *)fields->pdata[i])->shown);
  if (fields->len > SHOWN_NAMES)
    g_string_append_printf(names, " and %u more", fields->len - SHOWN_NAMES);
  return g_string_free(names, FALSE);
}

/* NULL with the error set. */
static const TideSurveyField *
find_field(const TideInitDraft *draft, const char *name, GError **error)
{
  const TideSurveyField *field = tide_field_survey_find(draft->survey, name);
  if (field != NULL)
    return field;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < draft->survey->fields->len; i++)
    g_ptr_array_add(names, ((const TideSurveyField *)draft->survey->fields->pdata[i])->name);
  g_ptr_array_add(names, NULL);
  const char *nearest = tide_nearest_name(name, (const char *const *)names->pdata);
  g_autofree char *known = field_names(draft);
  if (nearest != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "no sample has the field '%s': did you mean '%s'?", name, nearest);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "no sample has the field '%s': they have %s", name, known);
  return NULL;
}

/* The first that there is. */
static const TideSurveyValue *
first_value(const TideSurveyField *field)
{
  for (guint i = 0; i < field->values->len; i++) {
    if (tide_survey_value(field, i)->is_present)
      return tide_survey_value(field, i);
  }
  return tide_survey_value(field, 0);
}

/* A list with objects in it, which is one value. (transfer full) (nullable): what to do with it */
static char *
envelope_note(const TideInitDraft *draft)
{
  const TideDecodeOptions *decode = draft->proposal.decode;
  gboolean takes_each = (tide_format_of(decode)->takes & TIDE_TAKES_STRUCTURE) != 0;
  for (guint i = 0; takes_each && i < draft->survey->fields->len; i++) {
    const TideSurveyField *field = draft->survey->fields->pdata[i];
    const TideSurveyValue *value = first_value(field);
    g_autofree char *word = tide_shell_word(field->name);
    if (value->kind == TIDE_VALUE_JSON && value->text.data[0] == '[' &&
        memchr(value->text.data, '{', value->text.len) != NULL)
      return g_strdup_printf("'%s' is a list of objects inside of a reading, and one value of it: where these are the "
                             "readings, --each %s makes each of them one",
                             field->shown, word);
  }
  return NULL;
}

/* Of a first line that is a reading. (transfer full) (nullable) */
static char *
header_note(const TideInitDraft *draft)
{
  const TideDecodeOptions *decode = draft->proposal.decode;
  gboolean has_header = decode->format == TIDE_FORMAT_CSV && decode->csv.columns == NULL;
  for (guint i = 0; has_header && i < draft->survey->fields->len; i++) {
    const TideSurveyField *field = draft->survey->fields->pdata[i];
    if (field->name[0] == '#' || draft->survey->fields->len == 1)
      return g_strdup_printf("'%s' is taken for the names of the columns, as is the first line of each message: where "
                             "lines stand before that, '--readings csv.skip_lines=1' passes over so many, and "
                             "--readings \"csv.comment='#'\" over those that begin so",
                             field->shown);
    if (g_ascii_isdigit(field->name[0]))
      return g_strdup_printf("'%s' is taken for the name of a column, as is all of the first line of each message: "
                             "where that is a reading, name the columns with '--columns host,ts,...'",
                             field->shown);
  }
  return NULL;
}

/* A name of fewer bytes is no time: epoch seconds of the year 2000 have nine digits. Columns may well be numbered. */
#define SHORTEST_TIME_BYTES 9u

/* Whether a column that is to be the time is named by a time: the first line is a reading. */
static gboolean
is_named_by_a_value(const TideInitDraft *draft, const TideSurveyField *field, TideErrorCode code, GError **error)
{
  const TideDecodeOptions *decode = draft->proposal.decode;
  if (decode->format != TIDE_FORMAT_CSV || decode->csv.columns != NULL || !g_ascii_isdigit(field->name[0]) ||
      strlen(field->name) < SHORTEST_TIME_BYTES || field->name[strspn(field->name, "0123456789-+:.,TZ ")] != '\0')
    return FALSE;
  g_set_error(error, TIDE_ERROR, (int)code,
              "'%s' is a time, and no name of the field that holds it: the first line of each message names the "
              "columns, and here it is a reading; name them with '--columns host,ts,...', in the order of the values, "
              "and the time by its name: '--time ts'",
              field->shown);
  return TRUE;
}

/* ---- time ----------------------------------------------------------------------------------------------------------
 */

/* @guess: NULL: the record's own time. */
static void
put_time(TideInitDraft *draft, const TideTimeGuess *guess)
{
  const TideSurveyField *field = guess != NULL ? guess->field : NULL;
  const TideTimeForm *form = guess != NULL ? guess->form : NULL;
  gboolean needs_zone = guess != NULL && guess->needs_zone;
  draft->proposal.time_parts.step_ns = guess != NULL ? guess->step_ns : 0;
  draft->proposal.time_parts.date_field = guess != NULL && guess->date != NULL ? guess->date->name : NULL;
  draft->proposal.time_parts.date_pattern = guess != NULL && guess->date != NULL ? guess->date_form->pattern : NULL;
  draft->proposal.time_parts.plus_field = guess != NULL && guess->plus != NULL ? guess->plus->name : NULL;
  draft->proposal.time_parts.plus_unit = guess != NULL ? guess->plus_unit : NULL;
  draft->time = field;
  draft->form = form;
  draft->needs_zone = needs_zone;
  draft->proposal.time_format = form != NULL ? form->format : TIDE_TIME_RECORD;
  draft->proposal.time_parts.pattern = form != NULL ? form->pattern : NULL;
  g_free(draft->proposal.time_field);
  draft->proposal.time_field = field != NULL ? g_strdup(field->name) : NULL;
  if (!needs_zone)
    g_clear_pointer(&draft->proposal.zone, g_free);
  if (form != NULL && form->zone != NULL)
    draft->proposal.zone = g_strdup(form->zone);
}

/* What could be the one time as well as another is not guessed. */
static gboolean
put_guess(TideInitDraft *draft, const TideTimeGuess *guess, GError **error)
{
  if (guess->rival != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "the samples of '%s' are times by the pattern '%s' and by '%s' alike: give one whose day is after the "
                "12th of its month, or take '--time' '%s' and write the pattern into the configuration "
                "(readings.time.pattern)",
                guess->field->shown, guess->form->pattern, guess->rival->pattern, RECORD_TIME);
    return FALSE;
  }
  put_time(draft, guess);
  return TRUE;
}

gboolean
tide_init_draft_guess_time(TideInitDraft *draft, GError **error)
{
  const TideTimeGuess *best = draft->times->len > 0 ? &g_array_index(draft->times, TideTimeGuess, 0) : NULL;
  if (best != NULL && is_named_by_a_value(draft, best->field, TIDE_ERROR_DATA, error))
    return FALSE;
  if (best != NULL && best->score >= TIDE_TIME_GUESS_MIN_SCORE)
    return put_guess(draft, best, error);
  char text[TIDE_ISO_TIME_BYTES];
  g_autofree char *names = field_names(draft), *envelope = envelope_note(draft);
  if (envelope == NULL)
    envelope = header_note(draft);
  g_autofree char *perhaps = best == NULL ? g_strdup("")
                                          : g_strdup_printf("; '%s' could be it, in %s (%s)", best->field->shown,
                                                            tide_time_format_word(best->form->format),
                                                            tide_iso_time_print(tide_ns_to_ms(best->newest_ns), text));
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_DATA,
      "no field is plainly the time of the readings%s: name it with '--time FIELD'; or take the Kafka record's own "
      "time with '--time' '%s'. The fields: %s%s%s",
      perhaps, RECORD_TIME, names, envelope != NULL ? "; " : "", envelope != NULL ? envelope : "");
  return FALSE;
}

static const TideTimeGuess *
find_guess(const TideInitDraft *draft, const TideSurveyField *field)
{
  for (guint i = 0; i < draft->times->len; i++) {
    const TideTimeGuess *guess = &g_array_index(draft->times, TideTimeGuess, i);
    if (guess->field == field)
      return guess;
  }
  return NULL;
}

gboolean
tide_init_draft_set_time(TideInitDraft *draft, const char *name, GError **error)
{
  if (strcmp(name, RECORD_TIME) == 0) {
    put_time(draft, NULL);
    return TRUE;
  }
  const TideSurveyField *field = find_field(draft, name, error);
  if (field == NULL || is_named_by_a_value(draft, field, TIDE_ERROR_USAGE, error))
    return FALSE;
  const TideTimeGuess *guess = find_guess(draft, field);
  TideTimeGuess date;
  if (guess != NULL)
    return put_guess(draft, guess, error);
  if (tide_guess_date(field, draft->now_ms, &date)) {
    put_time(draft, &date);
    return TRUE;
  }
  TideBytes first = first_value(field)->text;
  g_autofree char *value = tide_text_printable(tide_bytes(first.data, MIN(first.len, SHOWN_BYTES)));
  if (field->n_present < draft->survey->n_readings)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "'%s' is the time of only %u of %u readings: every reading needs one; take another field, or '%s', the "
                "Kafka record's own time",
                field->shown, field->n_present, draft->survey->n_readings, RECORD_TIME);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_DATA,
        "'%s' holds no time between 2000 and now in one of the known forms; the first is '%s'. A pattern for it goes "
        "into 'readings.time.pattern' of a file that is made with '--time' '" RECORD_TIME "'",
        field->shown, value);
  return FALSE;
}

gboolean
tide_init_draft_set_zone(TideInitDraft *draft, const char *zone, GError **error)
{
  g_autoptr(GTimeZone) known = g_time_zone_new_identifier(zone);
  if (known == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "there is no time zone '%s': say UTC, a name such as Europe/Berlin, "
                "or an offset such as +02:00",
                zone);
    return FALSE;
  }
  g_free(draft->proposal.zone);
  draft->proposal.zone = g_strdup(zone);
  return TRUE;
}

/* ---- key -----------------------------------------------------------------------------------------------------------
 */

/* @fields: (element-type TideSurveyField) */
static void
put_key(TideInitDraft *draft, const GPtrArray *fields)
{
  g_ptr_array_set_size(draft->proposal.lacking, 0);
  g_ptr_array_set_size(draft->proposal.key, 0);
  for (guint i = 0; i < fields->len; i++) {
    const TideSurveyField *field = fields->pdata[i];
    g_ptr_array_add(draft->proposal.key, g_strdup(field->name));
    /* A line without any tag may come whatever the samples have. */
    if (field->n_present < draft->survey->n_readings || strcmp(field->name, LINE_TAGS) == 0)
      g_ptr_array_add(draft->proposal.lacking, draft->proposal.key->pdata[i]);
  }
  g_free(draft->proposal.separator);
  draft->proposal.separator = g_strdup(tide_guess_separator(fields));
}

/* Whatever names a line stands in the key, though no sample has shown that it must: lines of one host and time that
 * tell of different things differ in it. Where lines have different tags, it is all of them. */
static void
put_key_of_lines(TideInitDraft *draft, GPtrArray *fields)
{
  g_autoptr(GPtrArray) names = g_ptr_array_copy(fields, NULL, NULL);
  gboolean is_uniform = TRUE;
  for (guint i = 0; i < draft->survey->fields->len; i++) {
    TideSurveyField *field = draft->survey->fields->pdata[i];
    is_uniform = is_uniform && (!field->names_lines || field->n_present == draft->survey->n_readings);
    if (field->names_lines && !g_ptr_array_find(names, field, NULL))
      g_ptr_array_add(names, field);
  }
  if (is_uniform && names->len <= TIDE_KEY_GUESS_MAX_FIELDS) {
    put_key(draft, names);
    return;
  }
  g_autofree char *separator = g_strdup(tide_guess_separator(names));
  g_ptr_array_set_size(fields, 0);
  g_ptr_array_add(fields, (gpointer)(gsize)tide_field_survey_find(draft->survey, TIDE_INFLUX_MEASUREMENT));
  g_ptr_array_add(fields,
                  (gpointer)(gsize)tide_field_survey_add_constant(draft->survey, LINE_TAGS, TIDE_INIT_STAND_IN));
  put_key(draft, fields);
  g_free(draft->proposal.separator);
  draft->proposal.separator = g_steal_pointer(&separator);
}

/* (transfer full) (element-type TideSurveyField) */
static GPtrArray *
key_fields(const TideInitDraft *draft)
{
  GPtrArray *fields = g_ptr_array_new();
  for (guint i = 0; i < draft->proposal.key->len; i++)
    g_ptr_array_add(fields, (gpointer)(gsize)tide_field_survey_find(draft->survey, draft->proposal.key->pdata[i]));
  return fields;
}

/* By the file as it would be written. */
static guint64
count_lost(const TideInitDraft *draft)
{
  g_auto(TideInitTrial) trial = {0};
  return tide_init_try_proposal(&draft->proposal, draft->samples, draft->now_ms, &trial) ? trial.n_lost : 0;
}

/* As long as values of the samples would be lost by the key, and some field tells more of them apart. */
static void
add_what_tells_apart(TideInitDraft *draft, GPtrArray *fields)
{
  TideSurveyField *more = NULL;
  do {
    put_key(draft, fields);
    g_autoptr(GPtrArray) used = g_ptr_array_copy(fields, NULL, NULL);
    g_ptr_array_add(used, (gpointer)(gsize)(draft->time != NULL ? draft->time : draft->survey->record));
    more = fields->len < TIDE_KEY_GUESS_MAX_FIELDS && count_lost(draft) > 0
               ? tide_guess_key_addition(draft->survey, used, draft->candidates)
               : NULL;
    if (more != NULL)
      g_ptr_array_add(fields, more);
  } while (more != NULL);
}

gboolean
tide_init_draft_guess_key(TideInitDraft *draft, GError **error)
{
  g_autoptr(GPtrArray) fields = tide_guess_key(draft->survey, draft->candidates);
  if (draft->proposal.decode->format == TIDE_FORMAT_INFLUX) {
    put_key_of_lines(draft, fields);
    return TRUE;
  }
  if (fields->len > 0) {
    add_what_tells_apart(draft, fields);
    return TRUE;
  }
  const TideSurveyField *of_record = tide_field_survey_find(draft->survey, RECORD_KEY);
  if (of_record != NULL && of_record->n_present == draft->survey->n_readings) {
    g_ptr_array_add(fields, (gpointer)(gsize)of_record);
    put_key(draft, fields);
    return TRUE;
  }
  g_autofree char *names = field_names(draft);
  g_set_error(
      error, TIDE_ERROR, TIDE_ERROR_DATA,
      "no field plainly names what was measured: say which do with '--key FIELD', once for each; where only the "
      "record's key or topic does, '--key' '" RECORD_KEY "' or '--key' '$topic'. The fields: %s",
      names);
  return FALSE;
}

/* The names of @fields behind @before each. (transfer full) */
static char *
join_shown(const GPtrArray *fields, const char *before, const char *between)
{
  GString *names = g_string_new(NULL);
  for (guint i = 0; i < fields->len; i++) {
    const TideSurveyField *field = fields->pdata[i];
    g_autofree char *word = *before != '\0' ? tide_shell_word(field->name) : g_strdup(field->shown);
    g_string_append_printf(names, "%s%s%s", i > 0 ? between : "", before, word);
  }
  return g_string_free(names, FALSE);
}

char *
tide_init_draft_doubt_of_key(const TideInitDraft *draft, char **ret_remedy)
{
  g_autoptr(GPtrArray) fields = key_fields(draft);
  g_autofree char *key = join_shown(fields, "", ", "), *said = join_shown(fields, "--key ", " ");
  guint64 n_lost = count_lost(draft);
  guint n_readings = draft->survey->n_readings;
  if (n_lost > 0) {
    g_autofree char *lost = tide_count_of(n_lost, "value", NULL);
    *ret_remedy = g_strdup_printf("name fields that tell them apart with '--key', once for each, or take it as it is "
                                  "with %s",
                                  said);
    return g_strdup_printf("key '%s' is a guess: of these %u readings, %s would be overwritten by another one's of the "
                           "same key and time",
                           key, n_readings, lost);
  }
  const TideSurveyField *rival = tide_guess_key_rival(draft->survey, fields, draft->candidates);
  if (rival == NULL)
    return NULL;
  g_autofree char *word = tide_shell_word(rival->name);
  *ret_remedy =
      g_strdup_printf("if it names the thing, say --key %s, if it does not, %s, or give more samples", word, said);
  return g_strdup_printf("key '%s' is a guess: no value of '%s' (%s, %u different) comes twice in these %u readings",
                         key, rival->shown, tide_key_field_is_text(rival) ? "text" : "whole numbers",
                         tide_survey_n_distinct(rival), n_readings);
}

gboolean
tide_init_draft_set_key(TideInitDraft *draft, const GPtrArray *names, GError **error)
{
  g_autoptr(GPtrArray) fields = g_ptr_array_new();
  for (guint i = 0; i < names->len; i++) {
    gboolean is_of_record = tide_field_name_is_of_record(tide_bytes_of_string(names->pdata[i]));
    const TideSurveyField *field = tide_field_survey_find(draft->survey, names->pdata[i]);
    if (field == NULL && is_of_record)
      field = tide_field_survey_add_constant(draft->survey, names->pdata[i], TIDE_INIT_STAND_IN);
    else
      field = find_field(draft, names->pdata[i], error);
    if (field == NULL)
      return FALSE;
    g_ptr_array_add(fields, (gpointer)(gsize)field);
  }
  put_key(draft, fields);
  draft->is_key_said = TRUE;
  return TRUE;
}

guint
tide_init_draft_n_things(const TideInitDraft *draft)
{
  g_autoptr(GPtrArray) fields = key_fields(draft);
  return tide_field_survey_n_distinct(draft->survey, fields);
}

void
tide_init_draft_guess_splits(TideInitDraft *draft)
{
  TideInitProposal *proposal = &draft->proposal;
  const TideSurveyField *first = tide_field_survey_find(draft->survey, proposal->key->pdata[0]);
  if (proposal->salt == 0)
    proposal->splits = tide_guess_splits(first, draft->time, draft->form, &proposal->splits_why);
}

/* ---- notes ---------------------------------------------------------------------------------------------------------
 */

static gboolean
is_in_key(const TideInitDraft *draft, const TideSurveyField *field)
{
  return g_ptr_array_find_with_equal_func(draft->proposal.key, field->name, g_str_equal, NULL);
}

static gboolean
has_number(const TideInitDraft *draft)
{
  for (guint i = 0; i < draft->survey->fields->len; i++) {
    const TideSurveyField *field = draft->survey->fields->pdata[i];
    if (field->n_numbers > 0 && field != draft->time && !is_in_key(draft, field))
      return TRUE;
  }
  return FALSE;
}

GPtrArray *
tide_init_draft_notes(const TideInitDraft *draft)
{
  GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
  guint64 n_lost = count_lost(draft);
  g_autofree char *lost = tide_count_of(n_lost, "value", NULL);
  if (n_lost > 0)
    g_ptr_array_add(notes,
                    g_strdup_printf("%s would be overwritten by another reading's of the same key and time: '--key' "
                                    "names more fields%s",
                                    lost,
                                    draft->proposal.decode->layout.each == NULL
                                        ? ""
                                        : ", or one of them the column ('qualifier'; see JSON in "
                                          "docs/configuration.md)"));
  g_autoptr(GPtrArray) fields = key_fields(draft);
  g_autofree char *unsure = tide_guess_key_unsure(draft->survey, fields, draft->candidates);
  g_autofree char *said = join_shown(fields, "--key ", " ");
  if (unsure != NULL && !draft->is_key_said)
    g_ptr_array_add(notes,
                    g_strdup_printf("the key has no %s: things that differ in that alone share rows; '--key' again "
                                    "adds it to %s",
                                    unsure, said));
  if (!has_number(draft))
    g_ptr_array_add(notes, g_strdup("no field holds a number: are these the messages that hold the readings?"));
  char *envelope = envelope_note(draft);
  if (envelope != NULL)
    g_ptr_array_add(notes, envelope);
  char *header = header_note(draft);
  if (header != NULL)
    g_ptr_array_add(notes, header);
  if (draft->survey->n_readings == 1)
    g_ptr_array_add(notes, g_strdup("one reading shows no more than itself: give some of several things and times"));
  return notes;
}
