/* Checks declared keys and texts and compiles them, part by part. key_check.c then checks the parts of a key against
 * each other. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"
#include "util/error.h"
#include "util/units.h"

#define SALT_WIDTH_MAX_BYTES 10 /* digits of a salt: any more would all be zeros */
#define ESCAPABLE_MAX 126       /* the greatest byte whose escapes fit into a byte: 2 * 126 + 2 */

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

/* Padding bytes have no meaning, so a byte that occurs in values cannot be one. */
static gboolean
check_padding(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->value.pad_byte == '0' && !spec->value.pad_left)
    return tide_fail(
        error, TIDE_ERROR_CONFIG,
        "a field is padded with '0' on the right, so 1 and 10 would have one key: pad on the left, or with "
        "another byte");
  if (spec->value.pad_byte != '0' && g_ascii_isalnum(spec->value.pad_byte))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field is padded with '%c', which its values may contain, so two of them could have one key: "
                     "pad with a space, or with '0' on the left",
                     spec->value.pad_byte);
  return TRUE;
}

static gboolean
check_width(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->width_bytes > TIDE_ROW_KEY_MAX_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field's width is above the 32767 bytes that HBase allows for a whole key");
  if (spec->width_bytes == 0 && spec->value.cut)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a field is cut without a width: add 'width'");
  if (spec->width_bytes > 0 && spec->value.escape)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field of fixed width needs no escapes, because its end is known: remove 'separator: escape'");
  return spec->width_bytes == 0 || check_padding(spec, error);
}

static gboolean
check_form(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->value.form < TIDE_KEY_TEXT || spec->value.form > TIDE_KEY_FLOAT64)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a key field has an unknown form");
  if (spec->value.form == TIDE_KEY_TEXT)
    return check_width(spec, error);
  if (spec->width_bytes > 0)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field has a width, but its binary form already has one: remove the width");
  if (spec->value.cut || spec->value.escape || spec->spelling.strip_spaces || spec->value.text_reversed ||
      spec->spelling.text_case != TIDE_CASE_AS_IS)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field in binary form is declared cut, escaped, reversed, of a case or without spaces: these "
                     "are for text only");
  return TRUE;
}

/* A text may have a range if it is a number padded with zeros, so that texts sort like their numbers. */
static gboolean
check_text_range(const TideKeyPartSpec *spec, GError **error)
{
  if (spec->width_bytes == 0 || spec->value.pad_byte != '0')
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a range is declared for a text field that is not padded with zeros on the left: add a width and "
                     "padding, or use "
                     "a binary form such as int64");
  if (spec->value.range_min < 0)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a range below 0 is declared for a field as text, where negative numbers do not sort: use a "
                     "binary form such as int64");
  if (spec->value.cut || spec->spelling.strip_spaces)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field with a range is cut or stripped, which would change its number: remove that option");
  guint32 needed = digits_in_base((guint64)spec->value.range_max, 10);
  if (needed > spec->width_bytes)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field's width of %u is too small for the declared range: %" G_GINT64_FORMAT " has %u digits",
                     spec->width_bytes, spec->value.range_max, needed);
  return TRUE;
}

static gboolean
compile_range(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  const TideKeyFormTraits *form = &tide_key_forms[spec->value.form];
  if (form->is_integer) {
    part->value.least = form->least;
    part->value.greatest = form->least + ((__int128)1 << (8 * form->n_bytes)) - 1;
  }
  if (!spec->value.has_range)
    return TRUE;
  if (spec->value.form != TIDE_KEY_TEXT && !form->is_integer)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a range is declared for a field in a float form: ranges are for integers");
  if (spec->value.range_min >= spec->value.range_max)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field's range is empty or a single number: its first must be below its last");
  if (spec->value.form == TIDE_KEY_TEXT && !check_text_range(spec, error))
    return FALSE;
  if (spec->value.form != TIDE_KEY_TEXT &&
      (spec->value.range_min < part->value.least || spec->value.range_max > part->value.greatest))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field's form is too small for the declared range: use a wider one, such as int64");
  part->value.has_range = TRUE;
  part->value.least = spec->value.range_min;
  part->value.greatest = spec->value.range_max;
  return TRUE;
}

static void
copy_defaults(TideKeyPart *part, const TideKeyPartSpec *spec)
{
  part->value.n_defaults = spec->value.n_defaults + (spec->value.has_default ? 1 : 0);
  part->value.defaults = g_new0(TideKeyDefaultValue, MAX(part->value.n_defaults, 1));
  for (gsize i = 0; i < spec->value.n_defaults; i++) {
    const TideKeyDefault *declared = &spec->value.defaults[i];
    TideCondition when = declared->when;
    when.values = g_new0(TideBytes, MAX(when.n_values, 1));
    for (gsize k = 0; k < when.n_values; k++)
      when.values[k] = copy_bytes(declared->when.values[k]);
    part->value.defaults[i] =
        (TideKeyDefaultValue){.is_conditional = TRUE, .when = when, .text = copy_bytes(declared->value)};
  }
  if (spec->value.has_default)
    part->value.defaults[spec->value.n_defaults].text = copy_bytes(spec->value.default_value);
}

static gboolean
compile_field(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->value.field == TIDE_NAME_NONE)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a field in a key has no name");
  if (!check_form(spec, error) || !compile_range(part, spec, error))
    return FALSE;
  TideKeyValue *value = &part->value;
  gboolean is_text = spec->value.form == TIDE_KEY_TEXT;
  part->fixed_bytes = is_text ? spec->width_bytes : tide_key_forms[spec->value.form].n_bytes;
  value->field = spec->value.field;
  value->form = spec->value.form;
  value->pad_byte = spec->value.pad_byte;
  value->pad_left = spec->value.pad_left;
  value->cut = spec->value.cut;
  value->escape = spec->value.escape;
  value->text_reversed = spec->value.text_reversed;
  value->spelling = spec->spelling;
  value->is_plain = is_text && !value->cut && !value->escape && !value->text_reversed && !value->has_range &&
                    !value->spelling.strip_spaces && value->spelling.text_case == TIDE_CASE_AS_IS;
  copy_defaults(part, spec);
  return TRUE;
}

/* Called once the delimiters are known, because a default must be valid as a value. */
static gboolean
compile_defaults(TideKeyPart *part, GError **error)
{
  for (gsize i = 0; part->kind == TIDE_KEY_FIELD && i < part->value.n_defaults; i++) {
    TideKeyDefaultValue *value = &part->value.defaults[i];
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

static gboolean
compile_digest(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->digest.n_of > TIDE_ROW_KEY_MAX_PARTS)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a hash or salt has more than 32 parts");
  part->digest.hash = spec->digest.hash;
  part->digest.of = g_new0(TideKeyPart, MAX(spec->digest.n_of, 1));
  part->digest.n_of = spec->digest.n_of;
  gboolean varies = FALSE;
  for (gsize i = 0; i < spec->digest.n_of; i++) {
    if (!compile_input(&part->digest.of[i], &spec->digest.of[i], error))
      return FALSE;
    varies |= spec->digest.of[i].kind != TIDE_KEY_LITERAL;
  }
  if (!varies)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a hash or salt has neither a field nor a time, so it is constant: name its inputs in 'of'");
  return TRUE;
}

static gboolean
compile_hash(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  guint32 digest_bytes = tide_key_hashes[spec->digest.hash].size_bytes;
  if (spec->digest.hash_bytes > digest_bytes)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a hash is declared with %u bytes, but %s has only %u",
                     spec->digest.hash_bytes, tide_key_hashes[spec->digest.hash].name, digest_bytes);
  part->digest.hash_bytes = spec->digest.hash_bytes > 0 ? spec->digest.hash_bytes : digest_bytes;
  part->digest.binary = spec->binary;
  part->fixed_bytes = part->digest.hash_bytes * (spec->binary ? 1 : 2);
  return compile_digest(part, spec, error);
}

static gboolean
compile_salt_digits(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  TideBytes alphabet = spec->digest.alphabet;
  if (alphabet.len == 1 || alphabet.len > 256)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a salt's alphabet must have at least 2 bytes, and each only once");
  for (gsize i = 1; i < alphabet.len; i++)
    if (alphabet.data[i - 1] >= alphabet.data[i])
      return tide_fail(error, TIDE_ERROR_CONFIG,
                       "a salt's alphabet is not in byte order, so salts would not sort like their numbers: write it "
                       "in ascending order, each byte once, such as \"abc\"");
  if (spec->digest.first > G_MAXUINT32 - spec->digest.modulo)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a salt's first number is too large: begin with 0 or 1");
  guint32 needed = digits_in_base(spec->digest.first + spec->digest.modulo - 1, alphabet.len > 0 ? alphabet.len : 10);
  if (spec->width_bytes > 0 && (spec->width_bytes < needed || spec->width_bytes > SALT_WIDTH_MAX_BYTES)) {
    g_autofree char *digits = tide_count_of(spec->width_bytes, "digit", NULL);
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a salt of %u values has a width of %s: it needs at least %u, and at most %d", spec->digest.modulo,
                     digits, needed, SALT_WIDTH_MAX_BYTES);
  }
  part->digest.first = spec->digest.first;
  part->digest.alphabet = copy_bytes(alphabet);
  part->fixed_bytes = spec->width_bytes > 0 ? spec->width_bytes : needed;
  return TRUE;
}

static gboolean
check_salt_of_number(const TideKeyPart *part, GError **error)
{
  const TideKeyPart *input = part->digest.of;
  if (part->digest.n_of != 1 || input->kind == TIDE_KEY_LITERAL)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a salt by number has more than one field or time: name only one, or salt by hash");
  if (input->kind == TIDE_KEY_TIME)
    return input->moment.print == NULL || tide_fail(error, TIDE_ERROR_CONFIG,
                                                    "a salt by number has a time with a pattern, which is not a "
                                                    "number: use a counted form such as epoch_ms");
  if ((input->value.form != TIDE_KEY_TEXT && !tide_key_part_is_integer(input)) || input->value.cut ||
      input->value.spelling.strip_spaces || input->value.text_reversed)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a salt by number has a field that is changed or not an integer: name only the field");
  for (gsize i = 0; i < input->value.n_defaults; i++) {
    guint32 rest;
    if (!tide_key_text_modulo(input->value.defaults[i].text, part->digest.modulo, &rest))
      return tide_fail(
          error, TIDE_ERROR_CONFIG,
          "a salt by number has a field whose default is not an integer: give it an integer, or salt by hash");
  }
  return TRUE;
}

static gboolean
compile_salt(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->digest.modulo < 2 || spec->digest.modulo > TIDE_KEY_MAX_SALTS)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a salt has %u values, but must have 2 to %u, each of which needs a region and a scan of its own",
                     spec->digest.modulo, TIDE_KEY_MAX_SALTS);
  part->digest.modulo = spec->digest.modulo;
  part->digest.by_number = spec->digest.by_number;
  return compile_salt_digits(part, spec, error) && compile_digest(part, spec, error) &&
         (!spec->digest.by_number || check_salt_of_number(part, error));
}

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
    if (spec->literal.len == 0)
      return tide_fail(error, TIDE_ERROR_CONFIG, "a literal in a key is empty: add text or remove it");
    if (spec->literal.len > TIDE_ROW_KEY_MAX_BYTES)
      return tide_fail(error, TIDE_ERROR_CONFIG,
                       "a literal in a key is longer than the 32767 bytes that HBase allows for a whole key");
    part->literal = copy_bytes(spec->literal);
    part->fixed_bytes = (guint32)spec->literal.len;
    return TRUE;
  case TIDE_KEY_FIELD:
    return compile_field(part, spec, error);
  case TIDE_KEY_TIME:
    return tide_key_time_compile(part, spec, purpose.is_key, error);
  case TIDE_KEY_HASH:
    return compile_hash(part, spec, error);
  case TIDE_KEY_SALT:
    return compile_salt(part, spec, error);
  case TIDE_KEY_NAME:
    part->spelling = spec->spelling;
    return purpose.with_name ||
           tide_fail(error, TIDE_ERROR_CONFIG, "a field's name can be used only in qualifiers, not in a key");
  }
  return tide_fail(error, TIDE_ERROR_CONFIG, "a key part has an unknown kind");
}

/* Compiles an input of a hash or salt. Nothing follows it, so nothing in it is escaped. */
static gboolean
compile_input(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->kind == TIDE_KEY_HASH || spec->kind == TIDE_KEY_SALT)
    return tide_fail(error, TIDE_ERROR_CONFIG, "a hash or salt contains another one: name the fields themselves");
  if (!compile_part(part, spec, (Purpose){.is_key = TRUE}, error))
    return FALSE;
  if (part->kind == TIDE_KEY_FIELD)
    part->value.escape = FALSE;
  return compile_defaults(part, error);
}

/* Sets the delimiter of the field at @part_index. In a text, the end of a field matters only if the field is escaped.
 */
static gboolean
compile_end(TideRowKey *key, gsize part_index, Purpose purpose, GError **error)
{
  TideKeyPart *part = &key->parts[part_index];
  gboolean is_last = part_index + 1 == key->n_parts;
  if (part->kind != TIDE_KEY_FIELD || part->fixed_bytes > 0)
    return TRUE;
  if (!is_last && part[1].kind == TIDE_KEY_LITERAL && (purpose.is_key || part->value.escape))
    part->value.delimiter = part[1].literal;
  if (!part->value.escape || is_last) {
    part->value.escape = FALSE;
    return TRUE;
  }
  if (part->value.delimiter.len == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a field is escaped, but no literal follows that would end it: add one such as \"#\" right after "
                     "it, or give it a width");
  if (part->value.delimiter.data[0] > ESCAPABLE_MAX)
    return tide_fail(
        error, TIDE_ERROR_CONFIG,
        "a field cannot be escaped, because the literal after it begins with a byte above 126: use one such "
        "as \"#\", or give the field a width");
  return TRUE;
}

static TideRowKey *
compile(const TideKeyPartSpec *specs, gsize n_specs, Purpose purpose, gsize *ret_bad_part, GError **error)
{
  *ret_bad_part = 0;
  if (n_specs == 0) {
    tide_fail(error, TIDE_ERROR_CONFIG, "a key has no parts: name at least a field");
    return NULL;
  }
  if (n_specs > TIDE_ROW_KEY_MAX_PARTS) {
    *ret_bad_part = TIDE_ROW_KEY_MAX_PARTS;
    tide_fail(error, TIDE_ERROR_CONFIG, "a key has more than 32 parts");
    return NULL;
  }
  g_autoptr(TideRowKey) key = g_new0(TideRowKey, 1);
  key->parts = g_new0(TideKeyPart, n_specs);
  key->n_parts = n_specs;
  for (gsize i = 0; i < n_specs; i++) {
    *ret_bad_part = i;
    if (!compile_part(&key->parts[i], &specs[i], purpose, error))
      return NULL;
  }
  for (gsize i = 0; i < n_specs; i++) {
    *ret_bad_part = i;
    if (!compile_end(key, i, purpose, error) || !compile_defaults(&key->parts[i], error))
      return NULL;
  }
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
  TideKeyText *text = compile(specs, n_specs, (Purpose){.with_name = with_name}, ret_bad_part, error);
  if (text != NULL && n_specs == 1 && text->parts[0].kind == TIDE_KEY_FIELD)
    text->parts[0].value.is_source = TRUE; /* so that its value can be read back */
  return text;
}
