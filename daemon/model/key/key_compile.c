/* Checks declared keys and texts and compiles them, part by part. What the parts of a key mean to each other is
 * key_check.c's. */
#include "model/key/key_check.h"
#include "model/key/key_hash.h"
#include "util/error.h"

#define SALT_WIDTH_MAX_BYTES 10 /* a salt's digits: more would be zeros only */
#define ESCAPABLE_MAX 126       /* the greatest byte whose escapes fit a byte: 2 * 126 + 2 */

static gboolean
fault(GError **error, const char *text)
{
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG, text);
  return FALSE;
}

static TideBytes
copy_bytes(TideBytes bytes)
{
  return tide_bytes(g_memdup2(bytes.data, bytes.len), bytes.len);
}

static guint32
digits_in_base(guint64 number, guint64 base)
{
  guint32 n_digits = 1;
  for (; number >= base; number /= base)
    n_digits++;
  return n_digits;
}

static gboolean
compile_literal(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->literal.len == 0)
    return fault(error, "a literal in a key is empty: give it bytes or leave it out");
  if (spec->literal.len > TIDE_ROW_KEY_MAX_BYTES)
    return fault(error, "a literal in a key is longer than the 32767 bytes that HBase allows for a whole key");
  part->literal = copy_bytes(spec->literal);
  part->fixed_bytes = (guint32)spec->literal.len;
  return TRUE;
}

/* Padding says that pad bytes mean nothing. For a byte that values are made of, that would be wrong. */
static gboolean
check_padding(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->pad_byte == '0' && !spec->pad_left)
    return fault(error, "a field is padded with '0' behind, where 1 and 10 would make one key: pad in front, or with "
                        "another byte");
  if (spec->pad_byte != '0' && g_ascii_isalnum(spec->pad_byte)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a field is padded with '%c', which its values may hold: two of them could make one key; pad with a "
                "space, or with '0' in front",
                spec->pad_byte);
    return FALSE;
  }
  return TRUE;
}

/* What makes sense of text only. */
static gboolean
check_form(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->form < TIDE_KEY_TEXT || spec->form > TIDE_KEY_FLOAT64)
    return fault(error, "a field in a key is of no known form");
  if (spec->form == TIDE_KEY_TEXT)
    return TRUE;
  if (spec->width_bytes > 0)
    return fault(error, "a field is given a width, but as a binary number it has one of its own: leave the width out");
  if (spec->cut || spec->escape || spec->strip_spaces || spec->text_reversed || spec->text_case != TIDE_CASE_AS_IS)
    return fault(error, "a field in binary form is declared cut, escaped, reversed, of a case or without spaces: these "
                        "are for text only");
  return TRUE;
}

static gboolean
check_width(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->width_bytes > TIDE_ROW_KEY_MAX_BYTES)
    return fault(error, "a field's width is above the 32767 bytes that HBase allows for a whole key");
  if (spec->width_bytes == 0 && spec->cut)
    return fault(error, "a field is to be cut, but to no width: give it one");
  if (spec->width_bytes > 0 && spec->escape)
    return fault(error,
                 "a field of fixed width needs no escapes, since its end is known: leave out 'separator: escape'");
  return spec->width_bytes == 0 || spec->form != TIDE_KEY_TEXT || check_padding(spec, error);
}

/* A range of text: of numbers with zeros in front, so that their order is that of the texts. */
static gboolean
check_text_range(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->width_bytes == 0 || spec->pad_byte != '0')
    return fault(error,
                 "a range is declared for a field as text that has no width with zeros in front: add them, or use "
                 "a binary form such as int64");
  if (spec->range_min < 0)
    return fault(error, "a range below 0 is declared for a field as text, where negative numbers do not sort: use a "
                        "binary form such as int64");
  if (spec->cut || spec->strip_spaces)
    return fault(error, "a field with a range is to be cut or stripped, which would change its number: leave that out");
  guint32 needed = digits_in_base((guint64)spec->range_max, 10);
  if (needed > spec->width_bytes) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a field's width of %u is too small for the declared range: %" G_GINT64_FORMAT " has %u digits",
                spec->width_bytes, spec->range_max, needed);
    return FALSE;
  }
  return TRUE;
}

static gboolean
compile_range(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->form != TIDE_KEY_TEXT)
    tide_key_form_limits(spec->form, &part->least, &part->greatest);
  if (!spec->has_range)
    return TRUE;
  if (spec->form > TIDE_KEY_UINT64)
    return fault(error, "a range is declared for a field in a float form: ranges are for integers");
  if (spec->range_min >= spec->range_max)
    return fault(error, "a field's range is empty or a single number: its first must be below its last");
  if (spec->form == TIDE_KEY_TEXT && !check_text_range(spec, error))
    return FALSE;
  if (spec->form != TIDE_KEY_TEXT && (spec->range_min < part->least || spec->range_max > part->greatest))
    return fault(error, "a field's form is too small for the declared range: use a wider one, such as int64");
  part->has_range = TRUE;
  part->least = spec->range_min;
  part->greatest = spec->range_max;
  return TRUE;
}

static TideCondition
copy_condition(const TideCondition *condition)
{
  TideCondition copy = *condition;
  copy.values = g_new0(TideBytes, MAX(condition->n_values, 1));
  for (gsize i = 0; i < condition->n_values; i++)
    copy.values[i] = copy_bytes(condition->values[i]);
  return copy;
}

static void
copy_defaults(TideKeyPart *part, const TideKeyPartSpec *spec)
{
  part->n_defaults = spec->n_defaults + (spec->has_default ? 1 : 0);
  part->defaults = g_new0(TideKeyDefaultValue, MAX(part->n_defaults, 1));
  for (gsize i = 0; i < spec->n_defaults; i++)
    part->defaults[i] = (TideKeyDefaultValue){.is_conditional = TRUE,
                                              .when = copy_condition(&spec->defaults[i].when),
                                              .text = copy_bytes(spec->defaults[i].value)};
  if (spec->has_default)
    part->defaults[spec->n_defaults].text = copy_bytes(spec->default_value);
}

static gboolean
compile_field(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->field == TIDE_NAME_NONE)
    return fault(error, "a field in a key has no name");
  if (!check_form(spec, error) || !check_width(spec, error) || !compile_range(part, spec, error))
    return FALSE;
  part->field = spec->field;
  part->form = spec->form;
  part->fixed_bytes = spec->form != TIDE_KEY_TEXT ? tide_key_form_bytes(spec->form) : spec->width_bytes;
  part->pad_byte = spec->pad_byte;
  part->pad_left = spec->pad_left;
  part->cut = spec->cut;
  part->escape = spec->escape;
  part->text_reversed = spec->text_reversed;
  part->text_case = spec->text_case;
  part->strip_spaces = spec->strip_spaces;
  part->is_plain = spec->form == TIDE_KEY_TEXT && !spec->cut && !spec->escape && !spec->text_reversed &&
                   !spec->strip_spaces && !spec->has_range && spec->text_case == TIDE_CASE_AS_IS;
  copy_defaults(part, spec);
  return TRUE;
}

static gboolean
compile_name(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean with_name, GError **error)
{
  if (!with_name)
    return fault(error, "a field's name stands in qualifiers only, not in a key");
  part->text_case = spec->text_case;
  part->strip_spaces = spec->strip_spaces;
  return TRUE;
}

/* Called when the delimiters are known: a default must be as good as a value. */
static gboolean
compile_defaults(TideKeyPart *part, GError **error)
{
  for (gsize i = 0; i < part->n_defaults; i++) {
    TideKeyDefaultValue *value = &part->defaults[i];
    g_auto(TideBuffer) bytes = {0};
    const char *value_fault = tide_key_field_append(part, value->text, &bytes);
    if (value_fault != NULL) {
      g_autofree char *printable = tide_bytes_printable(value->text);
      g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "a field's default '%s' would be rejected as a value: %s",
                  printable, value_fault);
      return FALSE;
    }
    value->bytes = copy_bytes(tide_buffer_bytes(&bytes));
  }
  return TRUE;
}

static gboolean compile_input(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error);

/* What HASH and SALT have in common. */
static gboolean
compile_digest(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->n_of > TIDE_ROW_KEY_MAX_PARTS)
    return fault(error, "a hash or salt is made of more than 32 parts");
  part->hash = spec->hash;
  part->of = g_new0(TideKeyPart, MAX(spec->n_of, 1));
  part->n_of = spec->n_of;
  gboolean varies = FALSE;
  for (gsize i = 0; i < spec->n_of; i++) {
    if (!compile_input(&part->of[i], &spec->of[i], error))
      return FALSE;
    varies |= spec->of[i].kind != TIDE_KEY_LITERAL;
  }
  if (!varies)
    return fault(error, "a hash or salt is made of no field and no time, so it is always the same: name what it is of");
  return TRUE;
}

static gboolean
compile_hash(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  guint32 digest_bytes = tide_key_hash_size_bytes(spec->hash);
  if (spec->hash_bytes > digest_bytes) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "a hash of %u bytes is asked for, but %s has only %u",
                spec->hash_bytes, tide_key_hash_name(spec->hash), digest_bytes);
    return FALSE;
  }
  part->hash_bytes = spec->hash_bytes > 0 ? spec->hash_bytes : digest_bytes;
  part->binary = spec->binary;
  part->fixed_bytes = part->hash_bytes * (spec->binary ? 1 : 2);
  return compile_digest(part, spec, error);
}

static gboolean
check_alphabet(TideBytes alphabet, GError **error)
{
  if (alphabet.len == 1 || alphabet.len > 256)
    return fault(error, "a salt's alphabet must have at least 2 bytes, and each only once");
  for (gsize i = 1; i < alphabet.len; i++)
    if (alphabet.data[i - 1] >= alphabet.data[i])
      return fault(error,
                   "a salt's alphabet is not in the order of its bytes, so salts would not sort as their numbers: "
                   "write it ascending, each byte once, such as \"abc\"");
  return TRUE;
}

static gboolean
compile_salt_digits(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (!check_alphabet(spec->alphabet, error))
    return FALSE;
  if (spec->first > G_MAXUINT32 - spec->modulo)
    return fault(error, "a salt's first number is too large: most begin with 0 or 1");
  guint32 needed = digits_in_base(spec->first + spec->modulo - 1, spec->alphabet.len > 0 ? spec->alphabet.len : 10);
  if (spec->width_bytes > 0 && (spec->width_bytes < needed || spec->width_bytes > SALT_WIDTH_MAX_BYTES)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a salt of %u values is given %u digits: it needs at least %u, and at most %d", spec->modulo,
                spec->width_bytes, needed, SALT_WIDTH_MAX_BYTES);
    return FALSE;
  }
  part->first = spec->first;
  part->alphabet = copy_bytes(spec->alphabet);
  part->fixed_bytes = spec->width_bytes > 0 ? spec->width_bytes : needed;
  return TRUE;
}

static gboolean
check_salt_of_number(const TideKeyPart *part, GError **error)
{
  const TideKeyPart *input = part->of;
  if (part->n_of != 1 || input->kind == TIDE_KEY_LITERAL)
    return fault(error, "a salt by number is made of more than a field or a time: name just one, or salt by hash");
  if (input->kind == TIDE_KEY_TIME)
    return input->print == NULL ||
           fault(error, "a salt by number is made of a time with a pattern, which is no number: use a "
                        "form that is counted such as epoch_ms");
  if (input->form > TIDE_KEY_UINT64 || input->cut || input->strip_spaces || input->text_reversed)
    return fault(error, "a salt by number is made of a field that is changed or no whole number: name just the field");
  for (gsize i = 0; i < input->n_defaults; i++) {
    guint32 rest;
    if (!tide_key_text_modulo(input->defaults[i].text, part->modulo, &rest))
      return fault(
          error, "a salt by number is made of a field whose default is no whole number: give it one, or salt by hash");
  }
  return TRUE;
}

static gboolean
compile_salt(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->modulo < 2 || spec->modulo > TIDE_KEY_MAX_SALTS) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a salt of %u values is asked for: it must have 2 to %u, each is a region and a scan of its own",
                spec->modulo, TIDE_KEY_MAX_SALTS);
    return FALSE;
  }
  part->modulo = spec->modulo;
  part->by_number = spec->by_number;
  return compile_salt_digits(part, spec, error) && compile_digest(part, spec, error) &&
         (!spec->by_number || check_salt_of_number(part, error));
}

/* How a list of parts is compiled. */
typedef struct Purpose {
  gboolean is_key;
  gboolean with_name;
} Purpose;

static gboolean
compile_part(TideKeyPart *part, const TideKeyPartSpec *spec, Purpose purpose, GError **error)
{
  part->kind = spec->kind;
  switch (spec->kind) {
  case TIDE_KEY_LITERAL:
    return compile_literal(part, spec, error);
  case TIDE_KEY_FIELD:
    return compile_field(part, spec, error);
  case TIDE_KEY_TIME:
    return tide_key_time_compile(part, spec, purpose.is_key, error);
  case TIDE_KEY_HASH:
    return compile_hash(part, spec, error);
  case TIDE_KEY_SALT:
    return compile_salt(part, spec, error);
  case TIDE_KEY_NAME:
    return compile_name(part, spec, purpose.with_name, error);
  }
  return fault(error, "a part of a key is of no known kind");
}

/* A part that a hash or salt is made of. Nothing follows it, so nothing of it is escaped. */
static gboolean
compile_input(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->kind == TIDE_KEY_HASH || spec->kind == TIDE_KEY_SALT)
    return fault(error, "a hash or salt is made of another one: name the fields themselves");
  if (!compile_part(part, spec, (Purpose){.is_key = TRUE}, error))
    return FALSE;
  part->escape = FALSE;
  return compile_defaults(part, error);
}

/* Looks at what follows the field at @place. In a text the end of a field matters only where it is escaped. */
static gboolean
compile_end(TideRowKey *key, gsize place, Purpose purpose, GError **error)
{
  TideKeyPart *part = &key->parts[place];
  gboolean is_last = place + 1 == key->n_parts;
  if (part->kind != TIDE_KEY_FIELD || part->fixed_bytes > 0)
    return TRUE;
  if (!is_last && part[1].kind == TIDE_KEY_LITERAL && (purpose.is_key || part->escape))
    part->delimiter = part[1].literal;
  if (!part->escape || is_last) {
    part->escape = FALSE;
    return TRUE;
  }
  if (part->delimiter.len == 0)
    return fault(error,
                 "a field is to be escaped, but no literal follows it that would end it: put one such as \"#\" right "
                 "behind it, or give it a width");
  if (part->delimiter.data[0] > ESCAPABLE_MAX)
    return fault(error,
                 "a field cannot be escaped, because the literal behind it begins with a byte above 126: use one such "
                 "as \"#\", or give the field a width");
  return TRUE;
}

static gboolean
compile_parts(TideRowKey *key, const TideKeyPartSpec *specs, Purpose purpose, gsize *ret_bad_part, GError **error)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    *ret_bad_part = i;
    if (!compile_part(&key->parts[i], &specs[i], purpose, error))
      return FALSE;
  }
  for (gsize i = 0; i < key->n_parts; i++) {
    *ret_bad_part = i;
    if (!compile_end(key, i, purpose, error) || !compile_defaults(&key->parts[i], error))
      return FALSE;
  }
  return TRUE;
}

static TideRowKey *
compile(const TideKeyPartSpec *specs, gsize n_specs, Purpose purpose, gsize *ret_bad_part, GError **error)
{
  *ret_bad_part = 0;
  if (n_specs == 0) {
    fault(error, "a key has no parts: name at least a field");
    return NULL;
  }
  if (n_specs > TIDE_ROW_KEY_MAX_PARTS) {
    *ret_bad_part = TIDE_ROW_KEY_MAX_PARTS;
    fault(error, "a key has more than 32 parts");
    return NULL;
  }
  g_autoptr(TideRowKey) key = g_new0(TideRowKey, 1);
  key->parts = g_new0(TideKeyPart, n_specs);
  key->n_parts = n_specs;
  if (!compile_parts(key, specs, purpose, ret_bad_part, error))
    return NULL;
  return g_steal_pointer(&key);
}

TideRowKey *
tide_row_key_compile(const TideKeyPartSpec *specs, gsize n_specs, gsize *ret_bad_part, GError **error)
{
  g_autoptr(TideRowKey) key = compile(specs, n_specs, (Purpose){.is_key = TRUE}, ret_bad_part, error);
  if (key == NULL || !tide_key_check(key, ret_bad_part, error))
    return NULL;
  return g_steal_pointer(&key);
}

TideKeyText *
tide_key_text_compile(const TideKeyPartSpec *specs, gsize n_specs, gboolean with_name, gsize *ret_bad_part,
                      GError **error)
{
  return compile(specs, n_specs, (Purpose){.with_name = with_name}, ret_bad_part, error);
}
