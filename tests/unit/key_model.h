/* What the parts of a key mean, said once more and naively, with GLib's calendar: the key language is tested against
 * this. */
#pragma once

#include "model/key/key_hash.h"

#include "key_schemes.h"

#define MODEL_TEXT_MAX_BYTES 64
#define MODEL_NS_PER_S G_GINT64_CONSTANT(1000000000)

typedef char ModelFields[N_KEY_FIELDS][MODEL_TEXT_MAX_BYTES]; /* by field; never absent */

/* What one part says of a reading. */
typedef struct ModelValue {
  char identity[MODEL_TEXT_MAX_BYTES]; /* alike for two readings that the part need not tell apart */
  char text[MODEL_TEXT_MAX_BYTES];     /* what sorts as its bytes */
  double real;                         /* what sorts as a number */
  gint64 whole;
} ModelValue;

/* With the case and without the spaces as declared, and no longer than declared. */
static inline void
model_normalise(const TideKeyPartSpec *spec, const char *value, char *ret_text)
{
  gsize len = 0;
  for (const char *at = value; *at != '\0'; at++) {
    if (spec->spelling.strip_spaces && *at == ' ')
      continue;
    ret_text[len++] = spec->spelling.text_case == TIDE_CASE_UPPER   ? g_ascii_toupper(*at)
                      : spec->spelling.text_case == TIDE_CASE_LOWER ? g_ascii_tolower(*at)
                                                                    : *at;
  }
  if (spec->value.cut && len > spec->width_bytes)
    len = spec->width_bytes;
  ret_text[len] = '\0';
}

static inline void
model_strip_padding(const TideKeyPartSpec *spec, char *text)
{
  gsize n_pad = 0, len = strlen(text);
  if (spec->width_bytes == 0)
    return;
  while (spec->value.pad_left && (guint8)text[n_pad] == spec->value.pad_byte)
    n_pad++;
  while (!spec->value.pad_left && len > 0 && (guint8)text[len - 1] == spec->value.pad_byte)
    text[--len] = '\0';
  memmove(text, text + n_pad, strlen(text + n_pad) + 1);
}

static inline void
model_pad(const TideKeyPartSpec *spec, char *text)
{
  gsize len = strlen(text), n_pad = spec->width_bytes > len ? spec->width_bytes - len : 0;
  if (spec->value.pad_left)
    memmove(text + n_pad, text, len);
  memset(spec->value.pad_left ? text : text + len, spec->value.pad_byte, n_pad);
  text[len + n_pad] = '\0';
}

/* @next: the part behind it, or NULL. Where a literal ends a value, it takes part in the order, but not where escapes
 * keep it below all of the value. */
static inline ModelValue
model_field(const TideKeyPartSpec *spec, const TideKeyPartSpec *next, const char *value)
{
  ModelValue model = {{0}};
  if (spec->value.form >= TIDE_KEY_FLOAT32) {
    model.real = g_ascii_strtod(value, NULL) + 0.0;
    if (spec->value.form == TIDE_KEY_FLOAT32)
      model.real = (double)(float)model.real;
    g_snprintf(model.identity, sizeof model.identity, "%.17g", model.real);
    return model;
  }
  if (spec->value.form != TIDE_KEY_TEXT) {
    model.whole = g_ascii_strtoll(value, NULL, 10);
    g_snprintf(model.identity, sizeof model.identity, "%" G_GINT64_FORMAT, model.whole);
    return model;
  }
  model_normalise(spec, value, model.text);
  if (spec->value.has_range)
    g_snprintf(model.text, sizeof model.text, "%" G_GINT64_FORMAT, g_ascii_strtoll(value, NULL, 10));
  strcpy(model.identity, model.text);
  model_strip_padding(spec, model.identity);
  model_pad(spec, model.text);
  if (spec->value.text_reversed)
    g_strreverse(model.text);
  if (spec->width_bytes == 0 && !spec->value.escape && next != NULL && next->kind == TIDE_KEY_LITERAL)
    g_strlcat(model.text, (const char *)next->literal.data, sizeof model.text);
  return model;
}

static inline gint64
model_cut_in_days(TideTimeCut cut, GTimeZone *zone, GDateTime *local)
{
  int back = cut.unit == TIDE_CUT_WEEK ? g_date_time_get_day_of_week(local) - 1 : 0;
  g_autoptr(GDateTime) day = g_date_time_add_days(local, -back);
  g_autoptr(GDateTime) start = g_date_time_new(
      zone, g_date_time_get_year(day), cut.unit == TIDE_CUT_YEAR ? 1 : g_date_time_get_month(day),
      cut.unit == TIDE_CUT_YEAR || cut.unit == TIDE_CUT_MONTH ? 1 : g_date_time_get_day_of_month(day), 0, 0, 0);
  return MAX(g_date_time_to_unix(start), 0);
}

static inline gint64
model_cut(TideTimeCut cut, const char *zone_name, gint64 ns)
{
  GTimeZone *zone = zone_named(zone_name != NULL ? zone_name : "UTC");
  if (cut.unit == TIDE_CUT_NONE)
    return ns;
  gint64 utc_s = ns / MODEL_NS_PER_S;
  g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(utc_s);
  g_autoptr(GDateTime) local = g_date_time_to_timezone(utc, zone);
  if (cut.unit != TIDE_CUT_MINUTES)
    return model_cut_in_days(cut, zone, local) * MODEL_NS_PER_S;
  /* Clocks change on whole hours here, and slots are no longer than an hour, or in UTC. */
  gint64 second_of_day =
      g_date_time_get_hour(local) * 3600 + g_date_time_get_minute(local) * 60 + g_date_time_get_second(local);
  return (utc_s - second_of_day % (cut.minutes * 60)) * MODEL_NS_PER_S;
}

static inline void
model_print(const char *pattern, const char *zone_name, gint64 ns, char *ret_text)
{
  static const char *const elements[][2] = {{"yyyy", "%Y"}, {"MM", "%m"}, {"dd", "%d"},
                                            {"HH", "%H"},   {"mm", "%M"}, {"ss", "%S"}};
  g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(ns / MODEL_NS_PER_S);
  g_autoptr(GDateTime) local = g_date_time_to_timezone(utc, zone_named(zone_name != NULL ? zone_name : "UTC"));
  g_autoptr(GString) format = g_string_new(pattern);
  g_autofree char *millisecond = g_strdup_printf("%03d", (int)(ns / 1000000 % 1000));
  g_string_replace(format, "SSS", millisecond, 0);
  for (gsize i = 0; i < G_N_ELEMENTS(elements); i++)
    g_string_replace(format, elements[i][0], elements[i][1], 0);
  g_autofree char *text = g_date_time_format(local, format->str);
  strcpy(ret_text, text);
}

static inline ModelValue
model_time(const TideKeyPartSpec *spec, gint64 ns)
{
  static const gint64 units_ns[] = {MODEL_NS_PER_S, 1000000, 1000, 1};
  ModelValue model = {{0}};
  gint64 cut_ns = model_cut(spec->moment.cut_to, spec->moment.zone_name, ns);
  if (spec->moment.pattern != NULL) {
    model_print(spec->moment.pattern, spec->moment.zone_name, cut_ns, model.text);
    strcpy(model.identity, model.text);
    return model;
  }
  gint64 base_ns =
      spec->moment.since.unit != TIDE_CUT_NONE ? model_cut(spec->moment.since, spec->moment.zone_name, cut_ns) : 0;
  gint64 number = (cut_ns - base_ns) / units_ns[spec->moment.unit];
  if (spec->moment.reversed)
    number = (spec->moment.since.unit != TIDE_CUT_NONE ? 0 : G_MAXINT64) - number;
  for (guint32 i = 0; i < spec->moment.drop_digits; i++)
    number /= 10;
  model.whole = number;
  g_snprintf(model.identity, sizeof model.identity, "%" G_GINT64_FORMAT, number);
  return model;
}

/* What a text or a counted time writes; the inputs of hashes here are of no other forms. */
static inline void
model_append_bytes(const TideKeyPartSpec *spec, const ModelFields fields, gint64 ns, GString *bytes)
{
  if (spec->kind == TIDE_KEY_TIME)
    g_string_append_printf(bytes, "%010" G_GINT64_FORMAT, model_time(spec, ns).whole); /* seconds */
  else
    g_string_append(bytes, model_field(spec, NULL, fields[spec->value.field]).text);
}

static inline ModelValue
model_digest(const TideKeyPartSpec *spec, const ModelFields fields, gint64 ns)
{
  ModelValue model = {{0}};
  if (spec->digest.by_number) {
    gint64 rest = spec->digest.of[0].kind == TIDE_KEY_TIME
                      ? model_time(&spec->digest.of[0], ns).whole % spec->digest.modulo
                      : g_ascii_strtoll(fields[spec->digest.of[0].value.field], NULL, 10) % (gint64)spec->digest.modulo;
    model.whole = rest < 0 ? rest + spec->digest.modulo : rest;
    return model;
  }
  g_autoptr(GString) bytes = g_string_new(NULL);
  for (gsize i = 0; i < spec->digest.n_of; i++) {
    if (i > 0)
      g_string_append_c(bytes, '\0');
    model_append_bytes(&spec->digest.of[i], fields, ns, bytes);
    gsize used = strlen(model.identity);
    if (spec->digest.of[i].kind == TIDE_KEY_FIELD)
      g_snprintf(model.identity + used, sizeof model.identity - used, "%s|",
                 model_field(&spec->digest.of[i], NULL, fields[spec->digest.of[i].value.field]).identity);
  }
  TideBytes input = tide_bytes(bytes->str, bytes->len);
  if (spec->kind == TIDE_KEY_SALT) {
    model.whole = (gint64)(tide_key_hash_number(spec->digest.hash, input) % spec->digest.modulo);
    return model;
  }
  guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES];
  tide_key_hash_digest(spec->digest.hash, input, digest);
  guint32 n_bytes = spec->digest.hash_bytes > 0 ? spec->digest.hash_bytes : tide_key_hashes[spec->digest.hash].size_bytes;
  g_autofree char *hex = tide_bytes_hex(tide_bytes(digest, MIN(n_bytes, 30)));
  strcpy(model.text, hex);
  return model;
}

static inline ModelValue
model_part(const TideKeyPartSpec *spec, const TideKeyPartSpec *next, const ModelFields fields, gint64 ns)
{
  switch (spec->kind) {
  case TIDE_KEY_FIELD:
    return model_field(spec, next, fields[spec->value.field]);
  case TIDE_KEY_TIME:
    return model_time(spec, ns);
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    return model_digest(spec, fields, ns);
  case TIDE_KEY_LITERAL:
  case TIDE_KEY_NAME:
    break;
  }
  return (ModelValue){{0}};
}

static inline int
model_compare(const ModelValue *one, const ModelValue *other)
{
  if (one->real != other->real)
    return one->real < other->real ? -1 : 1;
  if (one->whole != other->whole)
    return one->whole < other->whole ? -1 : 1;
  return strcmp(one->text, other->text);
}
