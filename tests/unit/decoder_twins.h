/* A decoder that has seen messages before, beside one that is made for each message: what came before must change
 * nothing of what a message becomes, but that names need not be read again. For tests and fuzzers. */
#pragma once

#include "decode/decoder.h"

typedef struct DecoderTwins {
  TideDecodeOptions options;
  TideFieldNames *configured; /* owned */
  TideFieldNames *names;      /* owned: the old decoder's */
  TideDecoder *old;           /* owned */
  GHashTable *names_of_shape; /* owned: serial -> the names that its readings have, as one text */
  guint64 n_readings;
  guint64 n_known; /* readings whose names were not read again */
} DecoderTwins;

static inline void
decoder_twins_init(DecoderTwins *twins, const TideDecodeOptions *options, const char *const *used, gsize n_used)
{
  *twins = (DecoderTwins){.options = *options,
                          .configured = tide_field_names_new(),
                          .names_of_shape = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  for (gsize i = 0; i < n_used; i++)
    tide_field_names_intern(twins->configured, tide_bytes_of_string(used[i]));
  twins->names = tide_field_names_copy(twins->configured);
  twins->old = tide_decoder_new(&twins->options, twins->names, (guint32)n_used);
}

static inline void
decoder_twins_clear(DecoderTwins *twins)
{
  tide_decoder_free(twins->old);
  tide_field_names_free(twins->names);
  tide_field_names_free(twins->configured);
  g_hash_table_unref(twins->names_of_shape);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DecoderTwins, decoder_twins_clear)

static inline void
twins_assert_same_bytes(TideBytes a, TideBytes b)
{
  g_assert_true(tide_bytes_equal(a, b));
}

static inline void
twins_assert_same_reject(const TideReject *old, const TideReject *fresh)
{
  g_assert_cmpint(old->reason, ==, fresh->reason);
  g_assert_cmpint(old->byte_position, ==, fresh->byte_position);
  g_assert_cmpuint(old->reading_index, ==, fresh->reading_index);
  g_assert_cmpstr(old->detail, ==, fresh->detail);
  g_assert_cmpstr(old->remedy, ==, fresh->remedy);
  twins_assert_same_bytes(old->field, fresh->field);
}

/* What @reading says of its names must be so: by number, by place, and by its shape. */
static inline void
twins_assert_names_hold(DecoderTwins *twins, const TideReading *reading)
{
  gsize names_bytes = 0;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    g_assert_cmpuint(field->name_id, ==, tide_field_names_find(twins->names, field->name));
    g_assert_true(field->kind != TIDE_VALUE_NULL || reading->shape.serial == 0);
    names_bytes += field->name.len + 1;
  }
  if (reading->shape.serial == 0)
    return;
  twins->n_known++;
  g_assert_cmpuint(reading->shape.slot, <, TIDE_MAX_SHAPES);
  GString *text = g_string_sized_new(names_bytes + 1);
  for (guint32 i = 0; i < reading->n_fields; i++)
    g_string_append_printf(text, "%u ", reading->fields[i].name_id);
  const char *before = g_hash_table_lookup(twins->names_of_shape, GSIZE_TO_POINTER(reading->shape.serial));
  if (before == NULL) {
    g_hash_table_insert(twins->names_of_shape, GSIZE_TO_POINTER(reading->shape.serial), g_string_free(text, FALSE));
    return;
  }
  g_assert_cmpstr(text->str, ==, before);
  g_string_free(text, TRUE);
}

static inline void
twins_assert_same_reading(DecoderTwins *twins, const TideReading *old, const TideReading *fresh)
{
  g_assert_cmpuint(old->n_fields, ==, fresh->n_fields);
  g_assert_cmpuint(old->index, ==, fresh->index);
  for (guint32 i = 0; i < old->n_fields; i++) {
    twins_assert_same_bytes(old->fields[i].name, fresh->fields[i].name);
    twins_assert_same_bytes(old->fields[i].text, fresh->fields[i].text);
    g_assert_cmpint(old->fields[i].kind, ==, fresh->fields[i].kind);
  }
  g_assert_cmpuint(old->n_known, ==, fresh->n_known);
  for (guint32 id = 0; id < old->n_known; id++)
    g_assert_cmpuint(old->known[id], ==, fresh->known[id]);
  twins_assert_names_hold(twins, old);
}

static inline void
twins_assert_same_rejects(const TideDecoder *old, const TideDecoder *fresh)
{
  guint32 n_old, n_fresh;
  const TideReject *of_old = tide_decoder_rejects(old, &n_old);
  const TideReject *of_fresh = tide_decoder_rejects(fresh, &n_fresh);
  g_assert_cmpuint(n_old, ==, n_fresh);
  for (guint32 i = 0; i < n_old; i++)
    twins_assert_same_reject(&of_old[i], &of_fresh[i]);
}

/* Decodes @value with both; each has its own copy, which is gone before anything is compared. */
static inline void
decoder_twins_check(DecoderTwins *twins, TideBytes value, TideBytes key)
{
  g_autoptr(TideFieldNames) names = tide_field_names_copy(twins->configured);
  TideDecoder *fresh = tide_decoder_new(&twins->options, names, tide_field_names_count(names));
  TideDecoder *const decoders[] = {twins->old, fresh};
  TideReading *readings[2];
  guint32 n_readings[2] = {0, 0};
  TideReject rejects[2];
  gboolean good[2];
  for (int i = 0; i < 2; i++) {
    guint8 *copy = g_memdup2(value.len > 0 ? value.data : (const guint8 *)"", MAX(value.len, 1));
    TideMessage message = {.topic = TIDE_BYTES_LITERAL("t"),
                           .key = key,
                           .timestamp_ms = -1,
                           .value = tide_bytes(copy, value.len),
                           .has_value = TRUE};
    good[i] = tide_decoder_decode(decoders[i], &message, &readings[i], &n_readings[i], &rejects[i]);
    g_free(copy);
  }
  g_assert_cmpint(good[0], ==, good[1]);
  if (good[0]) {
    twins_assert_same_rejects(twins->old, fresh);
    g_assert_cmpuint(n_readings[0], ==, n_readings[1]);
    for (guint32 i = 0; i < n_readings[0]; i++)
      twins_assert_same_reading(twins, &readings[0][i], &readings[1][i]);
    twins->n_readings += n_readings[0];
  } else {
    twins_assert_same_reject(&rejects[0], &rejects[1]);
  }
  tide_decoder_free(fresh);
}
