/* What cannot be read back from a key, in words. */
#include "model/key/key_part.h"

static char *
quoted_name(TideNameId field, const TideFieldNames *names)
{
  g_autofree char *printable = tide_bytes_printable(tide_field_names_text(names, field));
  return g_strdup_printf("'%s'", printable);
}

static gboolean
stands_in_key(const TideRowKey *key, TideNameId field)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_FIELD && key->parts[i].value.field == field)
      return TRUE;
  return FALSE;
}

static void
add(GPtrArray *sentences, char *sentence)
{
  for (guint i = 0; i < sentences->len; i++) {
    if (strcmp(g_ptr_array_index(sentences, i), sentence) == 0) {
      g_free(sentence);
      return;
    }
  }
  g_ptr_array_add(sentences, sentence);
}

static void
add_hashed(const TideRowKey *key, const TideFieldNames *names, const TideKeyPart *part, GPtrArray *sentences)
{
  for (gsize i = 0; i < part->digest.n_of; i++) {
    if (part->digest.of[i].kind != TIDE_KEY_FIELD || stands_in_key(key, part->digest.of[i].value.field))
      continue;
    g_autofree char *name = quoted_name(part->digest.of[i].value.field, names);
    add(sentences, g_strdup_printf("%s is only %s: its value cannot be read back", name,
                                   part->kind == TIDE_KEY_HASH ? "hashed" : "in the salt"));
  }
}

static void
add_field(const TideKeyPart *part, const TideFieldNames *names, GPtrArray *sentences)
{
  g_autofree char *name = quoted_name(part->value.field, names);
  if (part->value.cut)
    add(sentences,
        g_strdup_printf("%s is cut to %u bytes: what was behind them cannot be read back", name, part->fixed_bytes));
  if (part->spelling.text_case != TIDE_CASE_AS_IS)
    add(sentences, g_strdup_printf("%s is in %s case: how it was written cannot be read back", name,
                                   part->spelling.text_case == TIDE_CASE_LOWER ? "lower" : "upper"));
  if (part->spelling.strip_spaces)
    add(sentences, g_strdup_printf("%s is without its spaces: where they were cannot be read back", name));
  if (part->value.form == TIDE_KEY_FLOAT32)
    add(sentences, g_strdup_printf("%s is a float of 32 bits: about 7 of its digits can be read back", name));
}

static char *
coarseness_text(const TideKeyPart *part)
{
  static const char *const elements[] = {"year", "month", "day", "hour", "minute", "second", "fraction of the second"};
  if (tide_key_time_declares_cut(part)) {
    g_autofree char *cut = tide_time_cut_format(part->moment.cut_to);
    return g_strdup_printf("the time is cut to %s: when in that it was cannot be read back", cut);
  }
  if (part->moment.print != NULL)
    return g_strdup_printf("the time can be read back to the %s only", elements[part->moment.print->last_level]);
  return g_strdup_printf("the time can be read back to %" G_GINT64_FORMAT " ms only",
                         tide_key_time_step_ns(part) / TIDE_NS_PER_MS);
}

/* Cells have milliseconds: a key that keeps these loses nothing that a reader of the table could tell. */
static void
add_time(const TideRowKey *key, GPtrArray *sentences)
{
  const TideKeyPart *finest = NULL;
  gboolean has_date = FALSE;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_TIME)
      continue;
    has_date |= part->moment.print != NULL ? part->moment.print->first_level == TIDE_LEVEL_YEAR
                                           : part->moment.since.unit == TIDE_CUT_NONE;
    if (finest == NULL || tide_key_time_whole_step_ns(part) < tide_key_time_whole_step_ns(finest))
      finest = part;
  }
  if (finest == NULL)
    return;
  if (!has_date)
    add(sentences, g_strdup("the time stands in the key without its date: when a row was cannot be read back"));
  if (tide_key_time_whole_step_ns(finest) > TIDE_NS_PER_MS)
    add(sentences, coarseness_text(finest));
}

GPtrArray *
tide_row_key_lost(const TideRowKey *key, const TideFieldNames *names)
{
  GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind == TIDE_KEY_HASH || part->kind == TIDE_KEY_SALT)
      add_hashed(key, names, part, sentences);
    else if (part->kind == TIDE_KEY_FIELD && part->value.is_source)
      add_field(part, names, sentences);
  }
  add_time(key, sentences);
  return sentences;
}
