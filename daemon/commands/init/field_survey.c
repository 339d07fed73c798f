#include "commands/init/field_survey.h"

#include "commands/cli/output.h"

/* Separates joined values: it is rare in displayed JSON text, and a collision only hides one reading. */
#define JOINT '\x1f'

static TideSurveyField *
new_field(void)
{
  TideSurveyField *field = g_new0(TideSurveyField, 1);
  field->values = g_array_new(FALSE, TRUE, sizeof(TideSurveyValue));
  return field;
}

static void
free_field(gpointer data)
{
  TideSurveyField *field = data;
  g_free(field->name);
  g_free(field->shown);
  g_array_unref(field->values);
  g_free(field);
}

TideFieldSurvey *
tide_field_survey_new(void)
{
  TideFieldSurvey *survey = g_new0(TideFieldSurvey, 1);
  survey->fields = g_ptr_array_new_with_free_func(free_field);
  survey->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  survey->texts = g_string_chunk_new(4096);
  survey->record = new_field();
  return survey;
}

void
tide_field_survey_free(TideFieldSurvey *survey)
{
  if (survey == NULL)
    return;
  g_hash_table_unref(survey->by_name);
  g_ptr_array_unref(survey->fields);
  g_string_chunk_free(survey->texts);
  free_field(survey->record);
  g_free(survey);
}

static TideSurveyField *
get_field(TideFieldSurvey *survey, TideBytes name)
{
  g_autofree char *text = g_strndup((const char *)name.data, name.len);
  TideSurveyField *field = g_hash_table_lookup(survey->by_name, text);
  if (field != NULL)
    return field;
  field = new_field();
  field->name = g_steal_pointer(&text);
  field->shown = tide_text_printable(name);
  field->is_nameable = field->name[0] != '\0' && field->name[0] != '$';
  g_ptr_array_add(survey->fields, field);
  g_hash_table_insert(survey->by_name, field->name, field);
  return field;
}

static gboolean
is_number(const TideSurveyValue *value)
{
  if (value->kind != TIDE_VALUE_NUMBER && value->kind != TIDE_VALUE_STRING)
    return FALSE;
  const char *text = (const char *)value->text.data;
  char *end = NULL;
  (void)g_ascii_strtod(text, &end);
  return end != text && *end == '\0';
}

static void
note_value(TideFieldSurvey *survey, const TideField *from, gboolean names_line)
{
  TideSurveyField *field = get_field(survey, from->name);
  field->names_lines |= names_line;
  const char *text = g_string_chunk_insert_len(survey->texts, (const char *)from->text.data, (gssize)from->text.len);
  g_array_set_size(field->values, survey->n_readings + 1);
  TideSurveyValue *value = &g_array_index(field->values, TideSurveyValue, survey->n_readings);
  value->is_present = from->kind != TIDE_VALUE_NULL;
  value->kind = from->kind;
  value->text = tide_bytes(text, from->text.len);
  field->n_present += value->is_present ? 1 : 0;
  field->n_numbers += is_number(value) ? 1 : 0;
}

static void
note_record(TideFieldSurvey *survey, guint message)
{
  g_autofree char *number = g_strdup_printf("%u", message);
  TideSurveyValue value = {.is_present = TRUE,
                           .kind = TIDE_VALUE_NUMBER,
                           .text = tide_bytes_of_string(g_string_chunk_insert_const(survey->texts, number))};
  g_array_append_val(survey->record->values, value);
}

gboolean
tide_field_survey_add(TideFieldSurvey *survey, guint message, const TideReading *reading)
{
  if (survey->n_readings >= TIDE_SURVEY_MAX_READINGS)
    return FALSE;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    /* A configuration file cannot contain a name with a NUL byte. */
    if (memchr(reading->fields[i].name.data, '\0', reading->fields[i].name.len) == NULL)
      note_value(survey, &reading->fields[i], i < reading->n_name_fields);
  }
  survey->n_readings++;
  for (guint i = 0; i < survey->fields->len; i++)
    g_array_set_size(((TideSurveyField *)survey->fields->pdata[i])->values, survey->n_readings);
  note_record(survey, message);
  return TRUE;
}

const TideSurveyField *
tide_field_survey_add_constant(TideFieldSurvey *survey, const char *name, const char *text)
{
  TideSurveyField *field = get_field(survey, tide_bytes_of_string(name));
  const char *copy = g_string_chunk_insert_const(survey->texts, text);
  const TideSurveyValue value = {.is_present = TRUE, .kind = TIDE_VALUE_STRING, .text = tide_bytes_of_string(copy)};
  g_array_set_size(field->values, 0);
  while (field->values->len < survey->n_readings)
    g_array_append_val(field->values, value);
  field->n_present = survey->n_readings;
  return field;
}

const TideSurveyField *
tide_field_survey_find(const TideFieldSurvey *survey, const char *name)
{
  return g_hash_table_lookup(survey->by_name, name);
}

static guint
count_joined(const GPtrArray *fields, guint n_readings)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < n_readings; i++) {
    GString *joined = g_string_new(NULL);
    for (guint j = 0; j < fields->len; j++) {
      const TideSurveyValue *value = tide_survey_value(fields->pdata[j], i);
      g_string_append_len(joined, (const char *)value->text.data, (gssize)value->text.len);
      g_string_append_c(joined, JOINT);
    }
    g_hash_table_add(seen, g_string_free(joined, FALSE));
  }
  return g_hash_table_size(seen);
}

guint
tide_survey_n_distinct(const TideSurveyField *field)
{
  g_autoptr(GPtrArray) one = g_ptr_array_new();
  g_ptr_array_add(one, (gpointer)(gsize)field);
  return count_joined(one, field->values->len);
}

guint
tide_field_survey_n_distinct(const TideFieldSurvey *survey, const GPtrArray *fields)
{
  return count_joined(fields, survey->n_readings);
}

/* "deviceId" and "device-id" become "device", "id". */
static GPtrArray *
words_of(const char *name)
{
  const char *slash = strrchr(name, '/');
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GString) word = g_string_new(NULL);
  for (const char *at = slash != NULL ? slash + 1 : name;; at++) {
    gboolean is_letter = g_ascii_isalpha(*at) || (*at & 0x80) != 0;
    gboolean begins = g_ascii_isupper(*at) && word->len > 0 && g_ascii_islower(at[-1]);
    if ((!is_letter || begins) && word->len > 0) {
      g_ptr_array_add(words, g_ascii_strdown(word->str, -1));
      g_string_truncate(word, 0);
    }
    if (*at == '\0')
      return words;
    if (is_letter)
      g_string_append_c(word, *at);
  }
}

gboolean
tide_survey_name_has(const char *name, const char *const *words)
{
  g_autoptr(GPtrArray) own = words_of(name);
  for (guint i = 0; i < own->len; i++) {
    char *word = own->pdata[i];
    if (g_strv_contains(words, word))
      return TRUE;
    if ((g_str_has_suffix(word, "time") || g_str_has_suffix(word, "stamp")) && g_strv_contains(words, "time"))
      return TRUE;
    if (strlen(word) > strlen("id") && g_str_has_suffix(word, "id")) {
      word[strlen(word) - strlen("id")] = '\0';
      if (g_strv_contains(words, word))
        return TRUE;
    }
  }
  return FALSE;
}
