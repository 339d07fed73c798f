/* Keys and their parts in words, for people and for comparing key fingerprints. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"

/* As the shell prints bytes, and with quotes escaped, so that a description has only one meaning. */
static void
describe_bytes(TideBytes bytes, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(bytes);
  g_auto(GStrv) pieces = g_strsplit(printable, "\"", -1);
  g_autofree char *escaped = g_strjoinv("\\x22", pieces);
  g_string_append_printf(text, "\"%s\"", escaped);
}

/* A name as it is, but in quotes where it could be taken for something else. */
static void
describe_name(TideBytes name, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(name);
  if (strpbrk(printable, " ,()\"") != NULL)
    describe_bytes(name, text);
  else
    g_string_append(text, printable);
}

static const char *
form_name(TideKeyForm form)
{
  static const char *const names[] = {
      [TIDE_KEY_TEXT] = "text",       [TIDE_KEY_INT8] = "int8",      [TIDE_KEY_INT16] = "int16",
      [TIDE_KEY_INT32] = "int32",     [TIDE_KEY_INT64] = "int64",    [TIDE_KEY_UINT8] = "uint8",
      [TIDE_KEY_UINT16] = "uint16",   [TIDE_KEY_UINT32] = "uint32",  [TIDE_KEY_UINT64] = "uint64",
      [TIDE_KEY_FLOAT32] = "float32", [TIDE_KEY_FLOAT64] = "float64"};
  return names[form];
}

static const char *
case_name(TideTextCase text_case)
{
  static const char *const names[] = {
      [TIDE_CASE_AS_IS] = "", [TIDE_CASE_LOWER] = "lower case", [TIDE_CASE_UPPER] = "upper case"};
  return names[text_case];
}

/* Not tide_condition_describe(), which is for people: this has only one meaning whatever the values hold. */
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

static void
describe_text_options(const TideKeyPart *part, GString *text)
{
  if (part->spelling.text_case != TIDE_CASE_AS_IS)
    g_string_append_printf(text, ", %s", case_name(part->spelling.text_case));
  if (part->spelling.strip_spaces)
    g_string_append(text, ", without spaces");
  if (part->value.text_reversed)
    g_string_append(text, ", reversed");
  if (part->value.escape)
    g_string_append(text, ", escaped");
}

static void
describe_field(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append(text, "field(");
  describe_name(tide_field_names_text(names, part->value.field), text);
  if (part->value.form != TIDE_KEY_TEXT) {
    g_string_append_printf(text, ", %s", form_name(part->value.form));
  } else if (part->fixed_bytes > 0) {
    g_string_append_printf(text, ", width %u, padded %s with ", part->fixed_bytes,
                           part->value.pad_left ? "left" : "right");
    describe_bytes(tide_bytes(&part->value.pad_byte, 1), text);
    g_string_append(text, part->value.cut ? ", cut" : "");
  }
  describe_text_options(part, text);
  if (part->value.has_range) /* declared in 64 bits */
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

static const char *
unit_name(TideKeyTimeUnit unit)
{
  switch (unit) {
  case TIDE_KEY_TIME_S:
    return "s";
  case TIDE_KEY_TIME_MS:
    return "ms";
  case TIDE_KEY_TIME_US:
    return "us";
  case TIDE_KEY_TIME_NS:
    return "ns";
  }
  return "unknown";
}

static void
describe_time(const TideKeyPart *part, GString *text)
{
  g_string_append(text, "time(");
  if (part->moment.print != NULL)
    describe_bytes(tide_bytes_of_string(part->moment.print->pattern), text);
  else
    g_string_append_printf(text, "%s%s%s", unit_name(part->moment.unit), part->moment.reversed ? ", reversed" : "",
                           part->binary ? ", binary" : "");
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
describe_salt(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append_printf(text, "salt(%u, width %u", part->digest.modulo, part->fixed_bytes);
  if (part->digest.first > 0)
    g_string_append_printf(text, ", from %u", part->digest.first);
  if (part->digest.alphabet.len > 0) {
    g_string_append(text, ", digits ");
    describe_bytes(part->digest.alphabet, text);
  }
  g_string_append_printf(text, ", %s", part->digest.by_number ? "number" : tide_key_hash_name(part->digest.hash));
  describe_inputs(part, names, text);
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
    g_string_append_printf(text, "hash(%s, %u bytes, %s", tide_key_hash_name(part->digest.hash),
                           part->digest.hash_bytes, part->binary ? "raw" : "hex");
    describe_inputs(part, names, text);
    return;
  case TIDE_KEY_SALT:
    describe_salt(part, names, text);
    return;
  case TIDE_KEY_NAME:
    g_string_append(text, "name(as received");
    describe_text_options(part, text);
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
