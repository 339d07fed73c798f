#include "commands/simulate/message_sample.h"

#include "commands/cli/message_lines.h"
#include "commands/simulate/simulation.h"
#include "commands/simulate/value_change.h"
#include "config/config_source.h"
#include "decode/decoder.h"
#include "decode/formats.h"
#include "util/error.h"

/* The daemon's own limits are not needed for a few lines of samples. */
#define MAX_FIELDS 1000000u

/* A field that holds an event time, and how it is written. */
typedef struct TimeField {
  TideBytes name;           /* borrowed from the configuration */
  const TideTimeSpec *spec; /* borrowed from the configuration */
  TideTimePart part;
} TimeField;

/* A value that differs in each message. */
typedef struct Place {
  gsize start; /* in the message */
  gsize len;
  const TimeField *time; /* borrowed; NULL: it is a measurement */
} Place;

typedef struct Line {
  TideBuffer text; /* owned: a message */
  GArray *places;  /* owned (element-type Place): in order; of text */
} Line;

struct TideMessageSample {
  const TideConfig *config;  /* borrowed */
  TideDecodeOptions options; /* borrowed, but for the struct itself */
  TideFieldNames *names;     /* owned, for the decoder */
  TideDecoder *decoder;      /* owned */
  GArray *lines;             /* owned (element-type Line) */
  GArray *times;             /* owned (element-type TimeField) */
  GArray *stay;              /* owned (element-type TideBytes): names of fields that keep their values */
  TideBuffer header;         /* owned: for csv, the first line and its line break */
  gboolean is_binary;
  const char *path; /* borrowed: of the current file */
  guint n_read;     /* its lines, so far */
};

/* ---- times and keys of the configuration ---- */

static void
add_time(TideMessageSample *sample, TideNameId field, const TideTimeSpec *spec, TideTimePart part)
{
  if (field == TIDE_NAME_NONE)
    return;
  TimeField time = {.name = tide_field_names_text(sample->config->names, field), .spec = spec, .part = part};
  g_array_append_val(sample->times, time);
}

static void
add_spec(TideMessageSample *sample, const TideTimeSpec *spec)
{
  if (spec == NULL || spec->format == TIDE_TIME_RECORD)
    return;
  add_time(sample, spec->field, spec, TIDE_TIME_PART_MAIN);
  if (spec->date_pattern != NULL)
    add_time(sample, spec->date_field, spec, TIDE_TIME_PART_DATE);
  if (spec->plus != TIDE_PLUS_NONE)
    add_time(sample, spec->plus_field, spec, TIDE_TIME_PART_PLUS);
}

static void
add_staying(TideMessageSample *sample, TideNameId field)
{
  TideBytes name = tide_field_names_text(sample->config->names, field);
  g_array_append_val(sample->stay, name);
}

static void
add_conditions(TideMessageSample *sample, const GArray *conditions)
{
  for (guint i = 0; conditions != NULL && i < conditions->len; i++)
    add_staying(sample, g_array_index(conditions, TideCondition, i).field);
}

static void
add_table(TideMessageSample *sample, const TideTable *table)
{
  add_spec(sample, table->time);
  add_spec(sample, table->cell_time_spec);
  add_conditions(sample, table->conditions);
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(table->key, ids);
  for (guint i = 0; i < ids->len; i++)
    add_staying(sample, g_array_index(ids, TideNameId, i));
}

/* ---- the files ---- */

/* Describes the line read last. (transfer full) */
static char *
place_in_file(const TideMessageSample *sample)
{
  return sample->is_binary ? g_strdup_printf("'%s'", sample->path)
                           : g_strdup_printf("line %u of '%s'", sample->n_read, sample->path);
}

static const TimeField *
find_time(const TideMessageSample *sample, TideBytes name)
{
  for (guint i = 0; i < sample->times->len; i++) {
    const TimeField *time = &g_array_index(sample->times, TimeField, i);
    if (tide_bytes_equal(time->name, name))
      return time;
  }
  return NULL;
}

static gboolean
stays(const TideMessageSample *sample, TideBytes name)
{
  for (guint i = 0; i < sample->stay->len; i++)
    if (tide_bytes_equal(g_array_index(sample->stay, TideBytes, i), name))
      return TRUE;
  return FALSE;
}

static gboolean
add_place(const TideMessageSample *sample, Line *line, const TideField *field, GError **error)
{
  const TimeField *time = find_time(sample, field->name);
  gboolean is_time = time != NULL && (field->kind == TIDE_VALUE_STRING || field->kind == TIDE_VALUE_NUMBER);
  if (!is_time && (field->kind != TIDE_VALUE_NUMBER || stays(sample, field->name)))
    return TRUE;
  gint64 start = tide_decoder_place(sample->decoder, tide_buffer_bytes(&line->text), field->text);
  if (start >= 0) {
    Place place = {(gsize)start, field->text.len, is_time ? time : NULL};
    g_array_append_val(line->places, place);
  } else if (is_time) {
    g_autofree char *name = tide_bytes_printable(field->name), *place = place_in_file(sample);
    return tide_fail(error, TIDE_ERROR_DATA,
                     "%s has its time '%s' in a form that cannot be replaced (with escapes, for example): write it "
                     "without escapes",
                     place, name);
  }
  return TRUE;
}

/* ---- values ---- */

static void
append_text(TideBuffer *out, const char *text)
{
  tide_buffer_append(out, text, strlen(text));
}

static void
append_time(const TimeField *time, gint64 time_ms, gboolean is_whole, TideBuffer *out)
{
  tide_time_spec_print(time->spec, time->part, time_ms * TIDE_NS_PER_MS, is_whole, out);
}

/* Changes a number by up to a tenth, with as many decimals after the point or comma; a number with an exponent is kept.
 */
static void
append_number(const TideMessageSample *sample, TideBytes number, guint64 *random, TideBuffer *out)
{
  g_autofree char *text = g_strndup((const char *)number.data, number.len);
  gboolean has_comma = sample->options.csv.decimal_comma;
  const char *point = strchr(has_comma ? g_strdelimit(text, ",", '.') : text, '.');
  char *end = NULL;
  double value = g_ascii_strtod(text, &end);
  if (*end != '\0' || strpbrk(text, "eE") != NULL || number.len > 15) {
    tide_buffer_append_bytes(out, number);
    return;
  }
  int n_digits = point != NULL ? (int)strlen(point + 1) : 0;
  value *= 0.9 + 0.2 * ((double)(tide_simulation_mix(*random) >> 11) / (double)(G_GUINT64_CONSTANT(1) << 53));
  *random += TIDE_SIMULATION_STEP;
  char format[16], made[64];
  g_snprintf(format, sizeof format, "%%.%df", n_digits);
  g_ascii_formatd(made, sizeof made, format, value);
  append_text(out, has_comma ? g_strdelimit(made, ".", ',') : made);
}

/* ---- binary messages ---- */

/* How the values of a message change. */
typedef struct Question {
  const TideMessageSample *sample;
  gint64 time_ms;
  guint64 random;
} Question;

static gboolean
answer(TideBytes name, TideValueKind kind, TideBytes text, TideBuffer *ret_text, gpointer data)
{
  Question *question = data;
  const TimeField *time = find_time(question->sample, name);
  if (time != NULL)
    append_time(time, question->time_ms, FALSE, ret_text);
  else if (kind == TIDE_VALUE_NUMBER && !stays(question->sample, name))
    append_number(question->sample, text, &question->random, ret_text);
  return ret_text->len > 0;
}

/* FALSE: the message cannot be changed. */
static gboolean
append_like(const TideMessageSample *sample, TideBytes message, gint64 time_ms, guint64 seed, TideBuffer *out)
{
  Question question = {sample, time_ms, seed};
  TideValueChange change = {.separator = sample->options.separator, .ask = answer, .data = &question};
  gboolean good = tide_value_change_message(&change, &sample->options, message, out);
  tide_value_change_clear(&change);
  return good;
}

/* ---- messages of text ---- */

static int
compare_places(gconstpointer a, gconstpointer b)
{
  gsize one = ((const Place *)a)->start, other = ((const Place *)b)->start;
  return one < other ? -1 : one > other;
}

/* Finds the values that change. FALSE: the line cannot be read. */
static gboolean
find_places(TideMessageSample *sample, Line *line, gboolean *ret_is_empty, GError **error)
{
  TideMessage message = {.timestamp_ms = -1, .value = tide_buffer_bytes(&line->text), .has_value = TRUE};
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  *ret_is_empty = FALSE;
  if (!tide_decoder_decode(sample->decoder, &message, &readings, &n_readings, &reject)) {
    *ret_is_empty = reject.reason == TIDE_REJECT_EMPTY;
    g_autofree char *why = tide_reject_describe(&reject), *place = place_in_file(sample);
    if (!*ret_is_empty)
      tide_fail(error, TIDE_ERROR_DATA, "%s is not a message of the configuration: %s", place, why);
    return *ret_is_empty;
  }
  if (sample->is_binary) {
    /* If one change succeeds, those with other values do, too. */
    g_auto(TideBuffer) out = {0};
    return append_like(sample, tide_buffer_bytes(&line->text), 0, 0, &out) ||
           tide_fail(error, TIDE_ERROR_DATA,
                     "'%s' can be read, but no other message can be built from it: use a simpler one", sample->path);
  }
  for (guint32 i = 0; i < n_readings; i++)
    for (guint32 k = 0; k < readings[i].n_fields; k++)
      if (!add_place(sample, line, &readings[i].fields[k], error))
        return FALSE;
  g_array_sort(line->places, compare_places);
  return TRUE;
}

static void
clear_line(gpointer data)
{
  Line *line = data;
  tide_buffer_clear_memory(&line->text);
  g_array_unref(line->places);
}

static gboolean
add_line(TideBytes text, gpointer data, GError **error)
{
  TideMessageSample *sample = data;
  if (sample->n_read++ == 0)
    text = tide_bytes_behind_mark(text);
  if (sample->options.format == TIDE_FORMAT_CSV && sample->options.csv.header && sample->header.len == 0) {
    tide_buffer_append_bytes(&sample->header, text);
    tide_buffer_append_byte(&sample->header, '\n');
    return TRUE;
  }
  Line line = {.places = g_array_new(FALSE, FALSE, sizeof(Place))};
  gboolean is_empty = text.len == 0;
  tide_buffer_append_bytes(&line.text, tide_buffer_bytes(&sample->header));
  tide_buffer_append_bytes(&line.text, text);
  if (!is_empty && find_places(sample, &line, &is_empty, error) && !is_empty) {
    g_array_append_val(sample->lines, line);
    return TRUE;
  }
  clear_line(&line);
  return is_empty;
}

/* In a binary format, values are found by their full names in the message, which these options change. */
static gboolean
check_layout(const TideMessageSample *sample, GError **error)
{
  const TideLayoutOptions *layout = &sample->options.layout;
  if (!sample->is_binary || (layout->root == NULL && layout->each == NULL && layout->positions == NULL && !layout->zip))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG,
                   "'%s': samples of this format would keep their times, because 'root', 'each', 'positions' or 'zip' "
                   "locate the readings: use samples in JSON, or messages that are readings themselves",
                   sample->config->path);
}

TideMessageSample *
tide_message_sample_load(const GPtrArray *paths, const TideConfig *config, const char *topic, GError **error)
{
  if (!tide_config_check_topic(config, topic, error))
    return NULL;
  const TideConfigSource *source = tide_config_source_of_topic(config, tide_bytes_of_string(topic));
  g_autoptr(TideMessageSample) sample = g_new0(TideMessageSample, 1);
  sample->config = config;
  sample->options = source->readings->decode;
  sample->is_binary = sample->options.format != TIDE_FORMAT_CSV && tide_message_is_whole(&sample->options);
  sample->options.arrays = TIDE_ARRAY_INDEX; /* the numbers in arrays change, too */
  sample->options.max_fields = MAX_FIELDS;
  sample->names = tide_field_names_new();
  sample->decoder = tide_decoder_new(&sample->options, sample->names, 0);
  sample->lines = g_array_new(FALSE, FALSE, sizeof(Line));
  g_array_set_clear_func(sample->lines, clear_line);
  sample->times = g_array_new(FALSE, TRUE, sizeof(TimeField));
  sample->stay = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  add_spec(sample, &source->readings->time);
  add_conditions(sample, source->conditions);
  for (guint i = 0; i < config->tables->len; i++)
    if (tide_config_takes_from(config->tables->pdata[i], source))
      add_table(sample, config->tables->pdata[i]);
  if (!check_layout(sample, error))
    return NULL;
  for (guint i = 0; i < paths->len; i++) {
    guint n_before = sample->lines->len;
    sample->path = paths->pdata[i];
    sample->n_read = 0;
    tide_buffer_reset(&sample->header);
    if (!tide_message_path_read(sample->path, sample->is_binary, add_line, sample, error))
      return NULL;
    if (sample->lines->len == n_before) {
      tide_fail(error, TIDE_ERROR_DATA, "'%s' contains no message%s", sample->path,
                sample->is_binary ? "" : ": one a line is wanted");
      return NULL;
    }
  }
  return g_steal_pointer(&sample);
}

void
tide_message_sample_free(TideMessageSample *sample)
{
  if (sample == NULL)
    return;
  g_array_unref(sample->lines);
  g_array_unref(sample->times);
  g_array_unref(sample->stay);
  tide_buffer_clear_memory(&sample->header);
  tide_decoder_free(sample->decoder);
  tide_field_names_free(sample->names);
  g_free(sample);
}

gboolean
tide_message_sample_is_binary(const TideMessageSample *sample)
{
  return sample->is_binary;
}

guint
tide_message_sample_n_lines(const TideMessageSample *sample)
{
  return sample->lines->len;
}

/* ---- a message ---- */

void
tide_message_sample_append(const TideMessageSample *sample, guint line, gint64 time_ms, guint64 seed, TideBuffer *out)
{
  const Line *made = &g_array_index(sample->lines, Line, line % sample->lines->len);
  const guint8 *text = made->text.data;
  if (sample->is_binary) {
    g_assert(append_like(sample, tide_buffer_bytes(&made->text), time_ms, seed,
                         out)); /* it succeeded when the sample was loaded */
    return;
  }
  gboolean is_whole = tide_format_of(&sample->options)->has_own_time; /* whole numbers, like 12i */
  gsize at = 0;
  for (guint i = 0; i < made->places->len; i++) {
    const Place *place = &g_array_index(made->places, Place, i);
    if (place->start < at)
      continue; /* a field outside a list belongs to each of its readings */
    tide_buffer_append(out, text + at, place->start - at);
    at = place->start + place->len;
    if (place->time != NULL)
      append_time(place->time, time_ms, is_whole, out);
    else
      append_number(sample, tide_bytes(text + place->start, place->len), &seed, out);
  }
  tide_buffer_append(out, text + at, made->text.len - at);
}
