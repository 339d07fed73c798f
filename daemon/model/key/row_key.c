/* Properties of a compiled key. key_part.h lists the files with the rest. */
#include "model/key/row_key.h"

#include "model/key/key_part.h"

static void
parts_free(TideKeyPart *parts, gsize n_parts)
{
  for (gsize i = 0; i < n_parts; i++) {
    TideKeyPart *part = &parts[i];
    switch (part->kind) {
    case TIDE_KEY_LITERAL:
      g_free((gpointer)part->literal.data);
      break;
    case TIDE_KEY_FIELD:
      for (gsize k = 0; k < part->value.n_defaults; k++) {
        tide_condition_clear(&part->value.defaults[k].when);
        g_free((gpointer)part->value.defaults[k].text.data);
        g_free((gpointer)part->value.defaults[k].bytes.data);
      }
      g_free(part->value.defaults);
      break;
    case TIDE_KEY_TIME:
      g_clear_pointer(&part->moment.zone, g_time_zone_unref);
      g_free(part->moment.zone_name);
      tide_time_pattern_free(part->moment.print);
      break;
    case TIDE_KEY_HASH:
    case TIDE_KEY_SALT:
      g_free((gpointer)part->digest.alphabet.data);
      parts_free(part->digest.of, part->digest.n_of);
      break;
    case TIDE_KEY_NAME:
      break;
    }
  }
  g_free(parts);
}

void
tide_row_key_free(TideRowKey *key)
{
  if (key == NULL)
    return;
  parts_free(key->parts, key->n_parts);
  g_free(key);
}

gsize
tide_row_key_n_parts(const TideRowKey *key)
{
  return key->n_parts;
}

static void
add_field(GArray *ids, TideNameId field)
{
  if (!tide_name_ids_contain(ids, field))
    g_array_append_val(ids, field);
}

void
tide_row_key_stored_fields(const TideRowKey *key, GArray *ids)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_FIELD)
      add_field(ids, key->parts[i].value.field);
}

gboolean
tide_row_key_is_default(const TideRowKey *key, TideNameId field, TideBytes value)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    for (gsize j = 0; part->kind == TIDE_KEY_FIELD && part->value.field == field && j < part->value.n_defaults; j++)
      if (tide_bytes_equal(part->value.defaults[j].text, value))
        return TRUE;
  }
  return FALSE;
}

void
tide_row_key_fields(const TideRowKey *key, GArray *ids)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind == TIDE_KEY_FIELD)
      add_field(ids, part->value.field);
    gboolean is_digest = part->kind == TIDE_KEY_HASH || part->kind == TIDE_KEY_SALT;
    for (gsize j = 0; is_digest && j < part->digest.n_of; j++)
      if (part->digest.of[j].kind == TIDE_KEY_FIELD)
        add_field(ids, part->digest.of[j].value.field);
  }
}

gboolean
tide_row_key_has_time(const TideRowKey *key)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME)
      return TRUE;
  return FALSE;
}

gboolean
tide_row_key_is_finer_than_ms(const TideRowKey *key)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && tide_key_time_whole_step_ns(&key->parts[i]) < TIDE_NS_PER_MS)
      return TRUE;
  return FALSE;
}

gboolean
tide_row_key_is_by_day(const TideRowKey *key)
{
  gboolean has_time = FALSE;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_TIME)
      continue;
    has_time = TRUE;
    if (tide_key_time_whole_step_ns(part) < 24 * G_TIME_SPAN_HOUR * 1000) /* GTimeSpan is in microseconds */
      return FALSE;
  }
  return has_time;
}

GTimeZone *
tide_row_key_zone(const TideRowKey *key)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && key->parts[i].moment.zone != NULL)
      return key->parts[i].moment.zone;
  return NULL;
}

gboolean
tide_key_text_is_constant(const TideKeyText *text)
{
  for (gsize i = 0; i < text->n_parts; i++)
    if (text->parts[i].kind != TIDE_KEY_LITERAL && text->parts[i].kind != TIDE_KEY_NAME)
      return FALSE;
  return TRUE;
}
