#include "commands/init/draft.h"

#include "commands/cli/output.h"
#include "commands/init/guess_key.h"
#include "commands/init/guess_time.h"
#include "config/option/nearest_name.h"
#include "decode/formats.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/units.h"

/* Maximum number of names in an error. */
#define SHOWN_NAMES 12u

/* Maximum length of a value in an error. */
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

/* NULL with the error set: there is no such field. */
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

/* The first value that is present. */
static const TideSurveyValue *
first_value(const TideSurveyField *field)
{
  for (guint i = 0; i < field->values->len; i++) {
    if (tide_survey_value(field, i)->is_present)
      return tide_survey_value(field, i);
  }
  return tide_survey_value(field, 0);
}

/* Advice if @field is a list of objects, which is a single value. (transfer full) (nullable) */
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
      return g_strdup_printf(
          "'%s' is a list of objects inside a reading and would become a single value: if the objects are "
          "readings, use --each %s",
          field->shown, word);
  }
  return NULL;
}

/* Advice if the first line seems to be a reading. (transfer full) (nullable) */
static char *
header_note(const TideInitDraft *draft)
{
  const TideDecodeOptions *decode = draft->proposal.decode;
  gboolean has_header = decode->format == TIDE_FORMAT_CSV && decode->csv.columns == NULL;
  for (guint i = 0; has_header && i < draft->survey->fields->len; i++) {
    const TideSurveyField *field = draft->survey->fields->pdata[i];
    if (field->name[0] == '#' || draft->survey->fields->len == 1)
      return g_strdup_printf("'%s' is read as the names of the columns, like the first line of each message: if "
                             "other lines precede it, '--readings csv.skip_lines=1' skips that many, and "
                             "--readings \"csv.comment='#'\" skips comments",
                             field->shown);
    if (g_ascii_isdigit(field->name[0]))
      return g_strdup_printf("'%s' is read as the name of a column, like the rest of the first line of each message: "
                             "if that line is a reading, name the columns with '--columns host,ts,...'",
                             field->shown);
  }
  return NULL;
}

/* A shorter name is not a time: epoch seconds of the year 2000 have nine digits, and columns may be numbered. */
#define SHORTEST_TIME_BYTES 9u

/* Whether the column chosen as the time has a time as its name, so that the first line is a reading. */
static gboolean
is_named_by_a_value(const TideInitDraft *draft, const TideSurveyField *field, TideErrorCode code, GError **error)
{
  const TideDecodeOptions *decode = draft->proposal.decode;
  if (decode->format != TIDE_FORMAT_CSV || decode->csv.columns != NULL || !g_ascii_isdigit(field->name[0]) ||
      strlen(field->name) < SHORTEST_TIME_BYTES || field->name[strspn(field->name, "0123456789-+:.,TZ ")] != '\0')
    return FALSE;
  g_set_error(
      error, TIDE_ERROR, (int)code,
      "'%s' is a time, not the name of a field: the first line of each message names the "
      "columns, but here it is a reading; name the columns with '--columns host,ts,...', in the order of the values, "
      "and the time with its column: '--time ts'",
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

/* Rejects a field whose values fit two time formats equally well. */
static gboolean
put_guess(TideInitDraft *draft, const TideTimeGuess *guess, GError **error)
{
  if (guess->rival != NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "the samples of '%s' match both time patterns '%s' and '%s': add a sample whose day is after the "
                "12th of its month, or use '--time' '%s' and write the pattern into the configuration "
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
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
              "no field is clearly the event time%s: name it with '--time FIELD', or use the Kafka record's own "
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
                "'%s' is the time of only %u of %u readings: every reading needs one; use another field, or '%s', the "
                "Kafka record's own time",
                field->shown, field->n_present, draft->survey->n_readings, RECORD_TIME);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_DATA,
        "'%s' has no time between 2000 and now in a known format; the first value is '%s'. Write a pattern for it "
        "to 'readings.time.pattern' in a file written with '--time' '" RECORD_TIME "'",
        field->shown, value);
  return FALSE;
}

gboolean
tide_init_draft_set_zone(TideInitDraft *draft, const char *zone, GError **error)
{
  g_autoptr(GTimeZone) known = g_time_zone_new_identifier(zone);
  if (known == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "there is no time zone '%s': use UTC, a name such as Europe/Berlin, "
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

/* Adds all fields that name a line, even if no sample requires them: lines with the same host and time, but about
 * different things, differ in these. If lines have different tags, the text of all tags replaces them. */
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

/* The number of values that the proposed file would lose. */
static guint64
count_lost(const TideInitDraft *draft)
{
  g_auto(TideInitTrial) trial = {0};
  return tide_init_try_proposal(&draft->proposal, draft->samples, draft->now_ms, &trial) ? trial.n_lost : 0;
}

/* Adds fields while the key would lose values of the samples and some field separates more of them. */
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
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
              "no field clearly identifies the device: name the fields that do with '--key FIELD', once for each; if "
              "only the record's key or topic does, '--key' '" RECORD_KEY "' or '--key' '$topic'. The fields: %s",
              names);
  return FALSE;
}

/* The names of @fields, each after @before. (transfer full) */
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
    *ret_remedy = g_strdup_printf("name fields that distinguish them with '--key', once for each, or accept the key "
                                  "with %s",
                                  said);
    return g_strdup_printf("key '%s' is a guess: in these %u readings, %s would be overwritten by another reading with "
                           "the same key and time",
                           key, n_readings, lost);
  }
  const TideSurveyField *rival = tide_guess_key_rival(draft->survey, fields, draft->candidates);
  if (rival == NULL)
    return NULL;
  g_autofree char *word = tide_shell_word(rival->name);
  *ret_remedy = g_strdup_printf("if it names the device, use --key %s, otherwise %s, or give more samples", word, said);
  return g_strdup_printf("key '%s' is a guess: no value of '%s' (%s, %u different) repeats in these %u readings", key,
                         rival->shown, tide_key_field_is_text(rival) ? "text" : "whole numbers",
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
                    g_strdup_printf("%s would be overwritten by another reading with the same key and time: '--key' "
                                    "adds fields%s",
                                    lost,
                                    draft->proposal.decode->layout.each == NULL
                                        ? ""
                                        : ", or make one of them the column ('qualifier'; see JSON in "
                                          "docs/input.md)"));
  g_autoptr(GPtrArray) fields = key_fields(draft);
  g_autofree char *unsure = tide_guess_key_unsure(draft->survey, fields, draft->candidates);
  g_autofree char *said = join_shown(fields, "--key ", " ");
  if (unsure != NULL && !draft->is_key_said)
    g_ptr_array_add(notes,
                    g_strdup_printf("the key has no %s: devices that differ only in that share rows; '--key' again "
                                    "adds it to %s",
                                    unsure, said));
  if (!has_number(draft))
    g_ptr_array_add(notes, g_strdup("no field contains a number: are these the messages with the readings?"));
  char *envelope = envelope_note(draft);
  if (envelope != NULL)
    g_ptr_array_add(notes, envelope);
  char *header = header_note(draft);
  if (header != NULL)
    g_ptr_array_add(notes, header);
  if (draft->survey->n_readings == 1)
    g_ptr_array_add(notes, g_strdup("based on one reading only: give samples from several devices and times"));
  return notes;
}
