#include "commands/simulate/message_sample.h"

#include "commands/cli/message_lines.h"
#include "config/config_source.h"
#include "model/time/time_print.h"
#include "util/error.h"
#include "util/iso_time.h"

#include <errno.h>

#define DEPTH_MAX 32

/* A field that holds an event time, and how it is written. */
typedef struct TimeField {
  TideBytes name; /* borrowed from the configuration */
  TideTimeFormat format;
  TideTimePrint *print; /* owned; with TIDE_TIME_PATTERN */
  GTimeZone *zone;      /* borrowed; NULL: UTC */
} TimeField;

struct TideMessageSample {
  const TideConfig *config; /* borrowed */
  const char *separator;    /* borrowed: of nested names */
  GPtrArray *lines;         /* owned (element-type GBytes) */
  GArray *times;            /* owned (element-type TimeField) */
  GArray *keys;             /* owned (element-type TideBytes): names of fields that stand in keys */
};

/* ---- what the configuration says ---- */

static void
clear_time(gpointer data)
{
  tide_time_print_free(((TimeField *)data)->print);
}

static void
add_time(TideMessageSample *sample, TideNameId field, TideTimeFormat format, const char *pattern, GTimeZone *zone)
{
  if (field == TIDE_NAME_NONE)
    return;
  TimeField time = {.name = tide_field_names_text(sample->config->names, field), .format = format, .zone = zone};
  if (pattern != NULL)
    time.print = tide_time_print_compile(pattern, FALSE, NULL);
  /* One that only a reader can make sense of stays as it is. */
  if (format != TIDE_TIME_PATTERN || time.print != NULL)
    g_array_append_val(sample->times, time);
}

static void
add_spec(TideMessageSample *sample, const TideTimeSpec *spec)
{
  if (spec == NULL || spec->format == TIDE_TIME_RECORD)
    return;
  add_time(sample, spec->field, spec->format, spec->pattern, spec->zone);
  if (spec->date_pattern != NULL)
    add_time(sample, spec->date_field, TIDE_TIME_PATTERN, spec->date_pattern, spec->zone);
}

static void
add_table(TideMessageSample *sample, const TideTable *table)
{
  add_spec(sample, table->time);
  add_spec(sample, table->cell_time_spec);
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(table->key, ids);
  for (guint i = 0; i < ids->len; i++) {
    TideBytes name = tide_field_names_text(sample->config->names, g_array_index(ids, TideNameId, i));
    g_array_append_val(sample->keys, name);
  }
}

static gboolean
add_line(TideBytes line, gpointer data, GError **error)
{
  TideMessageSample *sample = data;
  if (line.len > 0)
    g_ptr_array_add(sample->lines, g_bytes_new(line.data, line.len));
  return TRUE;
}

static gboolean
read_lines(TideMessageSample *sample, const char *path, GError **error)
{
  FILE *file = fopen(path, "re");
  if (file == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
    return FALSE;
  }
  g_autofree char *name = g_strdup_printf("'%s'", path);
  gboolean ok = tide_message_lines_read(file, name, add_line, sample, error);
  fclose(file);
  if (!ok || sample->lines->len > 0)
    return ok;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "'%s' holds no message: one a line is wanted", path);
  return FALSE;
}

TideMessageSample *
tide_message_sample_load(const char *path, const TideConfig *config, const char *topic, GError **error)
{
  if (!tide_config_check_topic(config, topic, error))
    return NULL;
  const TideConfigSource *source = tide_config_source_of_topic(config, tide_bytes_of_string(topic));
  const TideDecodeOptions *decode = &source->readings->decode;
  if (decode->format != TIDE_FORMAT_JSON || decode->root != NULL || decode->each != NULL) {
    g_set_error_literal(
        error, TIDE_ERROR, TIDE_ERROR_USAGE,
        "'--sample' makes messages of JSON without an envelope only, and the configuration takes others");
    return NULL;
  }
  g_autoptr(TideMessageSample) sample = g_new0(TideMessageSample, 1);
  sample->config = config;
  sample->separator = decode->separator;
  sample->lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
  sample->times = g_array_new(FALSE, TRUE, sizeof(TimeField));
  g_array_set_clear_func(sample->times, clear_time);
  sample->keys = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  add_spec(sample, &source->readings->time);
  for (guint i = 0; i < config->tables->len; i++)
    if (tide_config_takes_from(config->tables->pdata[i], source))
      add_table(sample, config->tables->pdata[i]);
  return read_lines(sample, path, error) ? g_steal_pointer(&sample) : NULL;
}

void
tide_message_sample_free(TideMessageSample *sample)
{
  if (sample == NULL)
    return;
  g_ptr_array_unref(sample->lines);
  g_array_unref(sample->times);
  g_array_unref(sample->keys);
  g_free(sample);
}

guint
tide_message_sample_n_lines(const TideMessageSample *sample)
{
  return sample->lines->len;
}

/* ---- a message ---- */

/* A message that is being copied. */
typedef struct Copy {
  const TideMessageSample *sample;
  const guint8 *at;
  const guint8 *end;
  TideBuffer name;          /* of the value that comes next: the names of the objects that it is in, joined */
  gsize parents[DEPTH_MAX]; /* the length of the name of the object or array at each level */
  gboolean is_object[DEPTH_MAX];
  guint depth;
  gboolean expects_name;
  gint64 time_ms;
  guint64 random;
  TideBuffer *out;
} Copy;

/* SplitMix64. */
static guint64
next_random(Copy *copy)
{
  guint64 z = copy->random += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static const TimeField *
find_time(const Copy *copy)
{
  for (guint i = 0; i < copy->sample->times->len; i++) {
    const TimeField *time = &g_array_index(copy->sample->times, TimeField, i);
    if (tide_bytes_equal(time->name, tide_buffer_bytes(&copy->name)))
      return time;
  }
  return NULL;
}

static gboolean
is_in_key(const Copy *copy)
{
  for (guint i = 0; i < copy->sample->keys->len; i++)
    if (tide_bytes_equal(g_array_index(copy->sample->keys, TideBytes, i), tide_buffer_bytes(&copy->name)))
      return TRUE;
  return FALSE;
}

static void
append_text(TideBuffer *out, const char *text)
{
  tide_buffer_append(out, text, strlen(text));
}

static void
append_time(Copy *copy, const TimeField *time)
{
  static const gint64 per_ms[] = {
      [TIDE_TIME_EPOCH_MS] = 1, [TIDE_TIME_EPOCH_US] = 1000, [TIDE_TIME_EPOCH_NS] = 1000000};
  if (time->format == TIDE_TIME_PATTERN) {
    tide_time_print_append(time->print, time->zone, copy->time_ms * TIDE_NS_PER_MS, copy->out);
    return;
  }
  g_autofree char *text = NULL;
  if (time->format == TIDE_TIME_RFC3339) {
    char iso[TIDE_ISO_TIME_BYTES];
    text = g_strdup(tide_iso_time_print(copy->time_ms, iso));
  } else if (time->format == TIDE_TIME_EPOCH_S && copy->time_ms % 1000 == 0) {
    text = g_strdup_printf("%" G_GINT64_FORMAT, copy->time_ms / 1000);
  } else if (time->format == TIDE_TIME_EPOCH_S) {
    text = g_strdup_printf("%" G_GINT64_FORMAT ".%03d", copy->time_ms / 1000, (int)(copy->time_ms % 1000));
  } else {
    text = g_strdup_printf("%" G_GINT64_FORMAT, copy->time_ms * per_ms[time->format]);
  }
  append_text(copy->out, text);
}

/* Within a tenth of what it was, with as many digits behind the point; one with an exponent stays. */
static void
append_number(Copy *copy, TideBytes number)
{
  g_autofree char *text = g_strndup((const char *)number.data, number.len);
  const char *point = strchr(text, '.');
  char *end = NULL;
  double value = g_ascii_strtod(text, &end);
  if (*end != '\0' || strpbrk(text, "eE") != NULL || number.len > 15) {
    tide_buffer_append_bytes(copy->out, number);
    return;
  }
  int n_digits = point != NULL ? (int)strlen(point + 1) : 0;
  value *= 0.9 + 0.2 * ((double)(next_random(copy) >> 11) / (double)(G_GUINT64_CONSTANT(1) << 53));
  char format[16], made[64];
  g_snprintf(format, sizeof format, "%%.%df", n_digits);
  append_text(copy->out, g_ascii_formatd(made, sizeof made, format, value));
}

/* The string that begins at copy->at, its quotes included. */
static TideBytes
take_string(Copy *copy)
{
  const guint8 *start = copy->at++;
  while (copy->at < copy->end && *copy->at != '"')
    copy->at += *copy->at == '\\' && copy->at + 1 < copy->end ? 2 : 1;
  copy->at += copy->at < copy->end ? 1 : 0;
  return tide_bytes(start, (gsize)(copy->at - start));
}

static TideBytes
take_word(Copy *copy)
{
  const guint8 *start = copy->at;
  while (copy->at < copy->end && strchr(",:]}[{\" \t\r\n", *copy->at) == NULL)
    copy->at++;
  return tide_bytes(start, (gsize)(copy->at - start));
}

static void
set_name(Copy *copy, TideBytes quoted)
{
  const char *separator = copy->sample->separator;
  copy->name.len = copy->depth > 0 ? copy->parents[copy->depth - 1] : 0;
  if (copy->name.len > 0)
    append_text(&copy->name, separator);
  if (quoted.len >= 2)
    tide_buffer_append(&copy->name, quoted.data + 1, quoted.len - 2);
}

static void
copy_string(Copy *copy)
{
  TideBytes text = take_string(copy);
  const TimeField *time = NULL;
  if (copy->expects_name)
    set_name(copy, text);
  else
    time = find_time(copy);
  if (time == NULL) {
    tide_buffer_append_bytes(copy->out, text);
    return;
  }
  tide_buffer_append_byte(copy->out, '"');
  append_time(copy, time);
  tide_buffer_append_byte(copy->out, '"');
}

static void
copy_word(Copy *copy)
{
  TideBytes word = take_word(copy);
  const TimeField *time = find_time(copy);
  gboolean is_number = word.len > 0 && (g_ascii_isdigit(word.data[0]) || word.data[0] == '-');
  if (is_number && time != NULL)
    append_time(copy, time);
  else if (is_number && !is_in_key(copy))
    append_number(copy, word);
  else
    tide_buffer_append_bytes(copy->out, word);
}

static void
enter(Copy *copy, gboolean is_object)
{
  if (copy->depth < DEPTH_MAX) { /* deeper, names are not followed: the daemon takes no such message */
    copy->parents[copy->depth] = copy->name.len;
    copy->is_object[copy->depth++] = is_object;
  }
  copy->expects_name = is_object;
}

static void
leave(Copy *copy)
{
  if (copy->depth > 0)
    copy->name.len = copy->parents[--copy->depth];
  copy->expects_name = FALSE;
}

/* The names of an object begin with its own; the values of an array have its name. */
static void
copy_punctuation(Copy *copy)
{
  guint8 byte = *copy->at++;
  tide_buffer_append_byte(copy->out, byte);
  if (byte == '{' || byte == '[') {
    enter(copy, byte == '{');
  } else if (byte == '}' || byte == ']') {
    leave(copy);
  } else if (byte == ':') {
    copy->expects_name = FALSE;
  } else if (byte == ',' && copy->depth > 0) {
    copy->name.len = copy->parents[copy->depth - 1];
    copy->expects_name = copy->is_object[copy->depth - 1];
  }
}

void
tide_message_sample_append(const TideMessageSample *sample, guint line, gint64 time_ms, guint64 seed, TideBuffer *out)
{
  gsize len = 0;
  const guint8 *data = g_bytes_get_data(sample->lines->pdata[line % sample->lines->len], &len);
  Copy copy = {.sample = sample, .at = data, .end = data + len, .time_ms = time_ms, .random = seed, .out = out};
  while (copy.at < copy.end) {
    if (*copy.at == '"')
      copy_string(&copy);
    else if (strchr(",:]}[{ \t\r\n", *copy.at) != NULL)
      copy_punctuation(&copy);
    else
      copy_word(&copy);
  }
  tide_buffer_clear_memory(&copy.name);
}
