/* Describes keys and their parts in words, for people and for key fingerprints, and lists what cannot be read back. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"
#include "util/units.h"

/* Like the HBase shell, but with quotes escaped, so that a description is unambiguous. */
static void
describe_bytes(TideBytes bytes, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(bytes);
  g_auto(GStrv) pieces = g_strsplit(printable, "\"", -1);
  g_autofree char *escaped = g_strjoinv("\\x22", pieces);
  g_string_append_printf(text, "\"%s\"", escaped);
}

/* Appends a name, in quotes if it would otherwise be ambiguous. */
static void
describe_name(TideBytes name, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(name);
  if (strpbrk(printable, " ,()\"") != NULL)
    describe_bytes(name, text);
  else
    g_string_append(text, printable);
}

/* Not tide_condition_describe(), which is for people: this text is unambiguous for all values. */
static void
describe_condition(const TideCondition *condition, const TideFieldNames *names, GString *text)
{
  static const char *const kinds[] = {[TIDE_CONDITION_PRESENT] = "present",
                                      [TIDE_CONDITION_ABSENT] = "absent",
                                      [TIDE_CONDITION_EQUALS] = "equals",
                                      [TIDE_CONDITION_MATCHES] = "matches"};
  g_string_append_printf(text, " when %s%s(", condition->negated ? "not " : "", kinds[condition->kind]);
  describe_name(tide_field_names_text(names, condition->field), text);
  for (gsize i = 0; i < condition->n_values; i++) {
    g_string_append_c(text, ' ');
    describe_bytes(condition->values[i], text);
  }
  g_string_append_c(text, ')');
}

static const char *const cases[] = {[TIDE_CASE_LOWER] = "lower", [TIDE_CASE_UPPER] = "upper"};

static void
describe_spelling(const TideKeySpelling *spelling, GString *text)
{
  if (spelling->text_case != TIDE_CASE_AS_IS)
    g_string_append_printf(text, ", %s case", cases[spelling->text_case]);
  if (spelling->strip_spaces)
    g_string_append(text, ", without spaces");
}

static void
describe_field(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append(text, "field(");
  describe_name(tide_field_names_text(names, part->value.field), text);
  if (part->value.form != TIDE_KEY_TEXT) {
    g_string_append_printf(text, ", %s", tide_key_forms[part->value.form].name);
  } else if (part->fixed_bytes > 0) {
    g_string_append_printf(text, ", width %u, padded %s with ", part->fixed_bytes,
                           part->value.pad_left ? "left" : "right");
    describe_bytes(tide_bytes(&part->value.pad_byte, 1), text);
    g_string_append(text, part->value.cut ? ", cut" : "");
  }
  describe_spelling(&part->value.spelling, text);
  if (part->value.text_reversed)
    g_string_append(text, ", reversed");
  if (part->value.escape)
    g_string_append(text, ", escaped");
  if (part->value.has_range) /* declared ranges have 64 bits */
    g_string_append_printf(text, ", from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, (gint64)part->value.least,
                           (gint64)part->value.greatest);
  for (gsize i = 0; i < part->value.n_defaults; i++) {
    g_string_append(text, ", default ");
    describe_bytes(part->value.defaults[i].text, text);
    if (part->value.defaults[i].is_conditional)
      describe_condition(&part->value.defaults[i].when, names, text);
  }
  g_string_append_c(text, ')');
}

static void
describe_time(const TideKeyPart *part, GString *text)
{
  g_string_append(text, "time(");
  if (part->moment.print != NULL)
    describe_bytes(tide_bytes_of_string(part->moment.print->text), text);
  else
    g_string_append_printf(text, "%s%s%s", tide_key_units[part->moment.unit].name,
                           part->moment.reversed ? ", reversed" : "", part->moment.binary ? ", binary" : "");
  if (tide_key_time_declares_cut(part)) {
    g_autofree char *cut = tide_time_cut_format(part->moment.cut_to);
    g_string_append_printf(text, ", cut to %s", cut);
  }
  if (part->moment.since.unit != TIDE_CUT_NONE) {
    g_autofree char *since = tide_time_cut_format(part->moment.since);
    g_string_append_printf(text, ", since %s", since);
  }
  if (part->moment.drop_digits > 0)
    g_string_append_printf(text, ", without %u digits", part->moment.drop_digits);
  if (part->moment.zone != NULL) {
    g_string_append(text, ", zone ");
    describe_name(tide_bytes_of_string(part->moment.zone_name), text);
  }
  g_string_append_c(text, ')');
}

static void describe_part(const TideKeyPart *part, const TideFieldNames *names, GString *text);

static void
describe_inputs(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append(text, " of ");
  for (gsize i = 0; i < part->digest.n_of; i++) {
    if (i > 0)
      g_string_append_c(text, ' ');
    describe_part(&part->digest.of[i], names, text);
  }
  g_string_append_c(text, ')');
}

static void
describe_part(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    describe_bytes(part->literal, text);
    return;
  case TIDE_KEY_FIELD:
    describe_field(part, names, text);
    return;
  case TIDE_KEY_TIME:
    describe_time(part, text);
    return;
  case TIDE_KEY_HASH:
    g_string_append_printf(text, "hash(%s, %u bytes, %s", tide_key_hashes[part->digest.hash].name,
                           part->digest.hash_bytes, part->digest.binary ? "raw" : "hex");
    describe_inputs(part, names, text);
    return;
  case TIDE_KEY_SALT:
    g_string_append_printf(text, "salt(%u, width %u", part->digest.modulo, part->fixed_bytes);
    if (part->digest.first > 0)
      g_string_append_printf(text, ", from %u", part->digest.first);
    if (part->digest.alphabet.len > 0) {
      g_string_append(text, ", digits ");
      describe_bytes(part->digest.alphabet, text);
    }
    g_string_append_printf(text, ", %s", part->digest.by_number ? "number" : tide_key_hashes[part->digest.hash].name);
    describe_inputs(part, names, text);
    return;
  case TIDE_KEY_NAME:
    g_string_append(text, "name(as received");
    describe_spelling(&part->spelling, text);
    g_string_append_c(text, ')');
    return;
  }
}

char *
tide_row_key_describe_part(const TideRowKey *key, const TideFieldNames *names, gsize part)
{
  GString *text = g_string_new(NULL);
  if (part < key->n_parts)
    describe_part(&key->parts[part], names, text);
  return g_string_free(text, FALSE);
}

char *
tide_row_key_describe(const TideRowKey *key, const TideFieldNames *names)
{
  GString *text = g_string_new(NULL);
  for (gsize i = 0; i < key->n_parts; i++) {
    if (i > 0)
      g_string_append_c(text, ' ');
    describe_part(&key->parts[i], names, text);
  }
  return g_string_free(text, FALSE);
}

TideBytes
tide_row_key_text_named_as_field(const TideRowKey *key, const TideReading *reading)
{
  for (gsize i = 0; i < key->n_parts; i++)
    for (guint32 k = 0; key->parts[i].kind == TIDE_KEY_LITERAL && k < reading->n_fields; k++)
      if (tide_bytes_equal(key->parts[i].literal, reading->fields[k].name))
        return reading->fields[k].name;
  return TIDE_BYTES_EMPTY;
}

/* ---- what cannot be read back ---- */

static char *
quoted_name(TideNameId field, const TideFieldNames *names)
{
  g_autofree char *printable = tide_bytes_printable(tide_field_names_text(names, field));
  return g_strdup_printf("'%s'", printable);
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
  g_autoptr(GArray) stored = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_stored_fields(key, stored);
  for (gsize i = 0; i < part->digest.n_of; i++) {
    if (part->digest.of[i].kind != TIDE_KEY_FIELD || tide_name_ids_contain(stored, part->digest.of[i].value.field))
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
  g_autofree char *bytes = tide_count_of(part->fixed_bytes, "byte", NULL);
  if (part->value.cut)
    add(sentences, g_strdup_printf("%s is cut to %s: the rest cannot be read back", name, bytes));
  if (part->value.spelling.text_case != TIDE_CASE_AS_IS)
    add(sentences, g_strdup_printf("%s is in %s case: its original case cannot be read back", name,
                                   cases[part->value.spelling.text_case]));
  if (part->value.spelling.strip_spaces)
    add(sentences, g_strdup_printf("%s is without its spaces: their places cannot be read back", name));
  if (part->value.form == TIDE_KEY_FLOAT32)
    add(sentences, g_strdup_printf("%s is a float of 32 bits: about 7 of its digits can be read back", name));
}

static char *
coarseness_text(const TideKeyPart *part)
{
  static const char *const elements[] = {"year", "month", "day", "hour", "minute", "second", "fraction of the second"};
  if (tide_key_time_declares_cut(part)) {
    g_autofree char *cut = tide_time_cut_format(part->moment.cut_to);
    return g_strdup_printf("the time is cut to %s: finer times cannot be read back", cut);
  }
  if (part->moment.print != NULL)
    return g_strdup_printf("the time can be read back only to the %s", elements[part->moment.print->last_level]);
  return g_strdup_printf("the time can be read back to %" G_GINT64_FORMAT " ms only",
                         tide_key_time_step_ns(part) / TIDE_NS_PER_MS);
}

/* Cell times are milliseconds, so a key that keeps these loses nothing that the table could show. */
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
    add(sentences, g_strdup("the key contains the time without its date: the moment cannot be read back"));
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
