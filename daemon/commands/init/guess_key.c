#include "commands/init/guess_key.h"

#include "commands/init/guess_time.h"

#define MAX_TEXT_BYTES 255u
#define LONG_TEXT_BYTES 64u

/* With fewer readings, the fact that all their values differ means nothing. */
#define MANY_READINGS 8u

#define MIN_SCORE 2

/* Words in names, by meaning. Devices: a field with such a name identifies what was measured, whatever its number of
 * values. */
static const char *const names_of_things[] = {
    "id",      "host",    "hostname", "device",   "sensor",  "machine", "server",   "name",     "meter",
    "serial",  "asset",   "station",  "node",     "symbol",  "mac",     "imei",     "vehicle",  "plant",
    "unitid",  "gateway", "tag",      "address",  "uuid",    "imsi",    "iccid",    "instance", "channel",
    "probe",   "pump",    "turbine",  "house",    "room",    "source",  "thing",    "key",      "eui",
    "dev",     "sn",      "model",    "product",  "itemid",  "pid",     "customer", "player",   "driver",
    "patient", "sku",     "isin",     "exchange", "cluster", "tenant",  "account",  NULL};
/* After the name of a device, these mean a part of it; a number with such a name was measured. */
static const char *const names_of_parts[] = {"user",  "port", "slot",      "shard",     "core", "disk",    "phase",
                                             "iface", "bus",  "interface", "container", "pod",  "process", NULL};
static const char *const names_of_messages[] = {"message", "msg",         "request", "trace", "span",
                                                "event",   "correlation", "session", NULL};
/* Groups of many devices: in the key they follow the device if both could be first. */
static const char *const names_of_groups[] = {"application", "app",          "template", "profile",
                                              "tenant",      "organization", "org",      "project",
                                              "group",       "customer",     "account",  NULL};
static const char *const names_of_properties[] = {
    "status",   "state", "unit", "units",  "version", "type",    "level", "quality", "value",     "text", "mode",
    "firmware", "count", "seq",  "reason", "comment", "battery", "power", "winddir", "direction", NULL};

/* Long form, a reading per value: the field that names the value's metric, beside the value; the second list is for
 * readings with none of the first. */
static const char *const names_of_metrics[] = {
    "metric", "measurement", "parameter", "variable", "quantity",  "signal",   "item",  "point",     "property",
    "field",  "n",           "k",         "observed", "attribute", "register", "label", "measurand", NULL};
static const char *const names_of_kinds[] = {"type", "kind", "code", "what", NULL};
static const char *const names_of_values[] = {"value", "val", "v", "reading", "result", NULL};

/* Values that are a state, or mean that nothing was measured, in upper or lower case: they do not name devices. */
static const char *const words_of_states[] = {"nan",    "n/a",  "na",  "null",   "none",  "unknown", "ok",      "low",
                                              "high",   "on",   "off", "yes",    "no",    "true",    "false",   "open",
                                              "closed", "good", "bad", "normal", "error", "online",  "offline", NULL};

static gboolean
can_stand_in_key(const TideSurveyValue *value)
{
  if (value->text.len == 0 || value->text.len > MAX_TEXT_BYTES)
    return FALSE;
  for (gsize i = 0; i < value->text.len; i++) {
    guint8 byte = value->text.data[i];
    if (byte < 0x20 || byte == 0x7f || (value->kind == TIDE_VALUE_NUMBER && !g_ascii_isdigit(byte)))
      return FALSE;
  }
  return value->kind == TIDE_VALUE_STRING || value->kind == TIDE_VALUE_NUMBER;
}

static gboolean
is_candidate(const TideSurveyField *field, const GArray *times)
{
  for (guint i = 0; i < times->len; i++) {
    const TideTimeGuess *guess = &g_array_index(times, TideTimeGuess, i);
    if (field == guess->field || field == guess->date || field == guess->plus)
      return FALSE;
  }
  for (guint i = 0; i < field->values->len; i++) {
    const TideSurveyValue *value = tide_survey_value(field, i);
    if (value->is_present && !can_stand_in_key(value))
      return FALSE;
  }
  return field->n_present > 0 && field->is_nameable && field->name[0] != '$';
}

static gboolean
is_long(const TideSurveyField *field)
{
  for (guint i = 0; i < field->values->len; i++) {
    if (tide_survey_value(field, i)->text.len > LONG_TEXT_BYTES)
      return TRUE;
  }
  return FALSE;
}

static gboolean
tells_state(const TideSurveyField *field)
{
  for (guint i = 0; i < field->values->len; i++) {
    TideBytes text = tide_survey_value(field, i)->text;
    for (guint k = 0; words_of_states[k] != NULL; k++)
      if (strlen(words_of_states[k]) == text.len &&
          g_ascii_strncasecmp(words_of_states[k], (const char *)text.data, text.len) == 0)
        return TRUE;
  }
  return FALSE;
}

gboolean
tide_key_field_is_text(const TideSurveyField *field)
{
  return field->n_numbers < field->n_present;
}

static gboolean
is_named_as_part(const TideSurveyField *field)
{
  return tide_survey_name_has(field->name, names_of_things) ||
         (tide_key_field_is_text(field) && tide_survey_name_has(field->name, names_of_parts));
}

static int
score_of(const TideSurveyField *field)
{
  guint n_readings = field->values->len, n_distinct = tide_survey_n_distinct(field);
  int score = tide_key_field_is_text(field) ? 2 : -2;
  score += tide_survey_name_has(field->name, names_of_things) ? 4 : 0;
  score -= tide_survey_name_has(field->name, names_of_messages) ? 4 : 0;
  score -= tide_survey_name_has(field->name, names_of_properties) ? 3 : 0;
  score -= tide_key_field_is_text(field) && tide_survey_name_has(field->name, names_of_groups) ? 1 : 0;
  score -= is_long(field) ? 2 : 0;
  score -= tells_state(field) ? 8 : 0;
  score -= field->n_present < n_readings ? 1 : 0;
  if (n_distinct > 1 && n_distinct < n_readings)
    score += 2;
  else if (n_distinct == n_readings && n_readings >= MANY_READINGS)
    score -= 3;
  return score;
}

GPtrArray *
tide_guess_key_candidates(const TideFieldSurvey *survey, const GArray *times)
{
  GPtrArray *candidates = g_ptr_array_new();
  g_autoptr(GArray) scores = g_array_new(FALSE, FALSE, sizeof(int));
  for (guint i = 0; i < survey->fields->len; i++) {
    TideSurveyField *field = survey->fields->pdata[i];
    if (!is_candidate(field, times))
      continue;
    int score = score_of(field);
    guint at = 0;
    while (at < scores->len && g_array_index(scores, int, at) >= score)
      at++;
    g_array_insert_val(scores, at, score);
    g_ptr_array_insert(candidates, (gint)at, field);
  }
  return candidates;
}

static gboolean
could_name_a_thing(const TideSurveyField *field)
{
  return (tide_key_field_is_text(field) || tide_survey_name_has(field->name, names_of_things)) &&
         !tide_survey_name_has(field->name, names_of_messages) &&
         !tide_survey_name_has(field->name, names_of_properties) && !is_long(field);
}

static gboolean
has_any(const GPtrArray *fields, const char *const *words)
{
  for (guint i = 0; i < fields->len; i++)
    if (tide_survey_name_has(((const TideSurveyField *)fields->pdata[i])->name, words))
      return TRUE;
  return FALSE;
}

/* Whether each reading has one value, and @field names its metric. */
static gboolean
says_of_what(const TideFieldSurvey *survey, const TideSurveyField *field, const GPtrArray *candidates)
{
  return has_any(survey->fields, names_of_values) && tide_key_field_is_text(field) && !is_long(field) &&
         (tide_survey_name_has(field->name, names_of_metrics) ||
          (tide_survey_name_has(field->name, names_of_kinds) && !has_any(candidates, names_of_metrics)));
}

/* Whether @field is a part of a device's name, with @key as the other parts. Either it has only one value, so the
 * samples cannot show whether it is needed; or @key does not separate its values, which repeat. */
static gboolean
is_part_of_name(const TideFieldSurvey *survey, TideSurveyField *field, GPtrArray *key, const GPtrArray *candidates)
{
  if (strcmp(field->name, "id") == 0 && tide_field_survey_find(survey, "specversion") != NULL)
    return FALSE; /* of a CloudEvent, which it identifies */
  if (!says_of_what(survey, field, candidates) &&
      !(could_name_a_thing(field) && is_named_as_part(field) && !tells_state(field)))
    return FALSE;
  guint n_before = tide_field_survey_n_distinct(survey, key), n_own = tide_survey_n_distinct(field);
  n_own -= field->n_present < survey->n_readings ? 1 : 0; /* absence is not a name */
  g_ptr_array_add(key, field);
  guint n_with = tide_field_survey_n_distinct(survey, key);
  g_ptr_array_set_size(key, (gint)key->len - 1);
  return n_own == 1 || (n_with > n_before && n_own < survey->n_readings);
}

/* The best candidate that every reading has. */
static TideSurveyField *
first_of(const GPtrArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    TideSurveyField *field = candidates->pdata[i];
    if (field->n_present == field->values->len)
      return score_of(field) >= MIN_SCORE ? field : NULL;
  }
  return NULL;
}

GPtrArray *
tide_guess_key(const TideFieldSurvey *survey, const GPtrArray *candidates)
{
  GPtrArray *key = g_ptr_array_new();
  TideSurveyField *first = first_of(candidates);
  if (first == NULL)
    return key;
  g_ptr_array_add(key, first);
  for (guint i = 0; i < candidates->len && key->len < TIDE_KEY_GUESS_MAX_FIELDS; i++)
    if (candidates->pdata[i] != first && is_part_of_name(survey, candidates->pdata[i], key, candidates))
      g_ptr_array_add(key, candidates->pdata[i]);
  return key;
}

TideSurveyField *
tide_guess_key_addition(const TideFieldSurvey *survey, GPtrArray *used, const GPtrArray *candidates)
{
  guint most = tide_field_survey_n_distinct(survey, used);
  TideSurveyField *best = NULL;
  for (guint i = 0; i < candidates->len; i++) {
    if (!tide_key_field_is_text(candidates->pdata[i]) && score_of(candidates->pdata[i]) < MIN_SCORE)
      continue;
    g_ptr_array_add(used, candidates->pdata[i]);
    guint n = tide_field_survey_n_distinct(survey, used);
    g_ptr_array_set_size(used, (gint)used->len - 1);
    if (n <= most)
      continue;
    most = n;
    best = candidates->pdata[i];
  }
  return best;
}

const TideSurveyField *
tide_guess_key_rival(const TideFieldSurvey *survey, const GPtrArray *key, const GPtrArray *candidates)
{
  if (tide_field_survey_n_distinct(survey, key) == survey->n_readings)
    return NULL;
  for (guint i = 0; i < candidates->len; i++) {
    const TideSurveyField *field = candidates->pdata[i];
    if (could_name_a_thing(field) && field->n_present == survey->n_readings &&
        tide_survey_n_distinct(field) == survey->n_readings)
      return field;
  }
  return NULL;
}

char *
tide_guess_key_unsure(const TideFieldSurvey *survey, GPtrArray *key, const GPtrArray *candidates)
{
  g_autoptr(GString) names = g_string_new(NULL);
  guint n_before = tide_field_survey_n_distinct(survey, key);
  for (guint i = 0; i < candidates->len; i++) {
    TideSurveyField *field = candidates->pdata[i];
    if (g_ptr_array_find(key, field, NULL) || !tide_key_field_is_text(field) || !could_name_a_thing(field) ||
        tells_state(field))
      continue;
    g_ptr_array_add(key, field);
    guint n_with = tide_field_survey_n_distinct(survey, key);
    g_ptr_array_set_size(key, (gint)key->len - 1);
    if (n_with > n_before || tide_survey_n_distinct(field) == 1)
      g_string_append_printf(names, "%s'%s'", names->len > 0 ? ", " : "", field->shown);
  }
  return names->len > 0 ? g_strdup(names->str) : NULL;
}

static gboolean
holds(const TideSurveyField *field, char separator)
{
  for (guint i = 0; i < field->values->len; i++) {
    TideBytes text = tide_survey_value(field, i)->text;
    if (text.len > 0 && memchr(text.data, separator, text.len) != NULL)
      return TRUE;
  }
  return FALSE;
}

const char *
tide_guess_separator(const GPtrArray *fields)
{
  static const char *const separators[] = {"#", "|", "~", "!", NULL};
  for (guint i = 0; separators[i] != NULL; i++) {
    guint j = 0;
    while (j < fields->len && !holds(fields->pdata[j], separators[i][0]))
      j++;
    if (j == fields->len)
      return separators[i];
  }
  return NULL;
}
