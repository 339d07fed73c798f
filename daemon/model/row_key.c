#include "model/row_key.h"

#include "model/key_hash.h"
#include "model/key_part.h"
#include "util/error.h"

#define SALT_WIDTH_MAX_BYTES 10 /* a salt's digits: more would be zeros only */

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
decimal_digits(guint32 number)
{
  guint32 n_digits = 1;
  for (; number >= 10; number /= 10)
    n_digits++;
  return n_digits;
}

static guint32
time_bytes(const TideKeyPart *part)
{
  if (part->binary)
    return 8; /* a Java long */
  if (part->reversed)
    return 19; /* Long.MAX - t has 19 digits for every t since 1970 */
  switch (part->unit) {
  case TIDE_KEY_TIME_S: /* 10, 13 and 16 digits last until the year 2286 */
    return 10;
  case TIDE_KEY_TIME_MS:
    return 13;
  case TIDE_KEY_TIME_US:
    return 16;
  case TIDE_KEY_TIME_NS:
    return 19;
  }
  return 19;
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
  if (spec->pad_byte != '0' && (g_ascii_isalnum(spec->pad_byte) || spec->pad_byte >= 0x80)) {
    g_autofree char *printable = tide_bytes_printable(tide_bytes(&spec->pad_byte, 1));
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a field is padded with '%s', which its values may hold: two of them could make one key; pad with a "
                "space, or with '0' in front",
                printable);
    return FALSE;
  }
  return TRUE;
}

static gboolean
compile_field(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->field == TIDE_NAME_NONE)
    return fault(error, "a field in a key has no name");
  if (spec->width_bytes > TIDE_ROW_KEY_MAX_BYTES)
    return fault(error, "a field's width is above the 32767 bytes that HBase allows for a whole key");
  if (spec->width_bytes > 0 && !check_padding(spec, error))
    return FALSE;
  part->field = spec->field;
  part->fixed_bytes = spec->width_bytes;
  part->pad_byte = spec->pad_byte;
  part->pad_left = spec->pad_left;
  part->has_default = spec->has_default;
  if (spec->has_default)
    part->default_value = copy_bytes(spec->default_value);
  return TRUE;
}

static gboolean
compile_time(TideKeyPart *part, const TideKeyPartSpec *spec)
{
  part->unit = spec->unit;
  part->reversed = spec->reversed;
  part->binary = spec->binary;
  part->fixed_bytes = time_bytes(part);
  return TRUE;
}

static gboolean compile_part(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error);
static gboolean check_default(const TideKeyPart *part, GError **error);

/* What HASH and SALT have in common. */
static gboolean
compile_hashed(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  if (spec->n_of > TIDE_ROW_KEY_MAX_PARTS)
    return fault(error, "a hash or salt is made of more than 32 parts");
  part->hash = spec->hash;
  part->of = g_new0(TideKeyPart, MAX(spec->n_of, 1));
  part->n_of = spec->n_of;
  gboolean varies = FALSE;
  for (gsize i = 0; i < spec->n_of; i++) {
    if (spec->of[i].kind == TIDE_KEY_HASH || spec->of[i].kind == TIDE_KEY_SALT)
      return fault(error, "a hash or salt is made of another one: name the fields themselves");
    if (!compile_part(&part->of[i], &spec->of[i], error) || !check_default(&part->of[i], error))
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
  return compile_hashed(part, spec, error);
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
  guint32 needed = decimal_digits(spec->modulo - 1);
  if (spec->width_bytes > 0 && (spec->width_bytes < needed || spec->width_bytes > SALT_WIDTH_MAX_BYTES)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "a salt of %u values is given %u digits: it needs at least %u, and at most %d", spec->modulo,
                spec->width_bytes, needed, SALT_WIDTH_MAX_BYTES);
    return FALSE;
  }
  part->modulo = spec->modulo;
  part->fixed_bytes = spec->width_bytes > 0 ? spec->width_bytes : needed;
  return compile_hashed(part, spec, error);
}

static gboolean
compile_part(TideKeyPart *part, const TideKeyPartSpec *spec, GError **error)
{
  part->kind = spec->kind;
  switch (spec->kind) {
  case TIDE_KEY_LITERAL:
    return compile_literal(part, spec, error);
  case TIDE_KEY_FIELD:
    return compile_field(part, spec, error);
  case TIDE_KEY_TIME:
    return compile_time(part, spec);
  case TIDE_KEY_HASH:
    return compile_hash(part, spec, error);
  case TIDE_KEY_SALT:
    return compile_salt(part, spec, error);
  case TIDE_KEY_NAME:
    return fault(error, "a field's name stands in qualifiers only, not in a key");
  }
  return fault(error, "a part of a key is of no known kind");
}

/* Called when the delimiters are known: a default must be as good as a value. */
static gboolean
check_default(const TideKeyPart *part, GError **error)
{
  const char *value_fault = part->has_default ? tide_key_part_value_fault(part, part->default_value) : NULL;
  if (value_fault == NULL)
    return TRUE;
  g_autofree char *printable = tide_bytes_printable(part->default_value);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "a field's default '%s' would be rejected as a value: %s",
              printable, value_fault);
  return FALSE;
}

static gboolean
is_variable(const TideKeyPart *part)
{
  return part->fixed_bytes == 0;
}

/* A key is taken apart from the left, as long as each field of variable width is delimited, then from the
 * right: behind one that is not, everything must be of fixed width. */
static gboolean
check_ends_can_be_told(const TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  const TideKeyPart *open = NULL;
  for (gsize i = 0; i < key->n_parts; i++) {
    if (!is_variable(&key->parts[i]))
      continue;
    if (open != NULL) {
      *ret_bad_part = (gsize)(open - key->parts);
      return fault(error, "where this field ends in the key cannot be told, because another field without width comes "
                          "later: put a literal such as \"#\" right behind it, or give it a width");
    }
    if (key->parts[i].delimiter.len == 0)
      open = &key->parts[i];
  }
  return TRUE;
}

static gboolean
stands_in_key(const TideRowKey *key, TideNameId field)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_FIELD && key->parts[i].field == field)
      return TRUE;
  return FALSE;
}

/* Whether each field that the HASH part @part is made of stands in the key itself, too. */
static gboolean
inputs_stand_in_key(const TideRowKey *key, const TideKeyPart *part)
{
  for (gsize i = 0; i < part->n_of; i++)
    if (part->of[i].kind == TIDE_KEY_FIELD && !stands_in_key(key, part->of[i].field))
      return FALSE;
  return TRUE;
}

static gboolean
check_identity(const TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  gboolean is_identified = FALSE;
  gsize n_salts = 0;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    gboolean identifies = part->kind == TIDE_KEY_HASH && tide_key_hash_identifies(part->hash, part->hash_bytes);
    *ret_bad_part = i;
    if (part->kind == TIDE_KEY_HASH && !identifies && !inputs_stand_in_key(key, part))
      return fault(error, "two values could make one key, because a field stands in it only as a hash of less than 16 "
                          "bytes: add the field itself to the key, or keep at least 16 bytes of md5, sha1 or sha256");
    if (part->kind == TIDE_KEY_SALT && ++n_salts > 1)
      return fault(error, "a key has two salts: use one with more values");
    is_identified |= identifies || part->kind == TIDE_KEY_FIELD || part->kind == TIDE_KEY_TIME;
  }
  *ret_bad_part = 0;
  if (!is_identified)
    return fault(error, "a key holds neither a field nor the time, so all readings would make one row: add a field");
  return TRUE;
}

static gboolean
check_length(const TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  gsize n_bytes = 0;
  for (gsize i = 0; i < key->n_parts; i++) {
    n_bytes += key->parts[i].fixed_bytes;
    *ret_bad_part = i;
    if (n_bytes > TIDE_ROW_KEY_MAX_BYTES)
      return fault(error, "the key is longer than the 32767 bytes that HBase allows");
  }
  return TRUE;
}

static gboolean
compile_parts(TideRowKey *key, const TideKeyPartSpec *specs, gsize *ret_bad_part, GError **error)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    *ret_bad_part = i;
    if (!compile_part(&key->parts[i], &specs[i], error))
      return FALSE;
  }
  for (gsize i = 0; i < key->n_parts; i++) {
    TideKeyPart *part = &key->parts[i];
    if (is_variable(part) && i + 1 < key->n_parts && key->parts[i + 1].kind == TIDE_KEY_LITERAL)
      part->delimiter = key->parts[i + 1].literal;
    *ret_bad_part = i;
    if (!check_default(part, error))
      return FALSE;
  }
  return TRUE;
}

TideRowKey *
tide_row_key_compile(const TideKeyPartSpec *specs, gsize n_specs, gsize *ret_bad_part, GError **error)
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
  if (!compile_parts(key, specs, ret_bad_part, error) || !check_ends_can_be_told(key, ret_bad_part, error) ||
      !check_identity(key, ret_bad_part, error) || !check_length(key, ret_bad_part, error))
    return NULL;
  return g_steal_pointer(&key);
}

static void
free_parts(TideKeyPart *parts, gsize n_parts)
{
  for (gsize i = 0; i < n_parts; i++) {
    g_free((gpointer)parts[i].literal.data);
    g_free((gpointer)parts[i].default_value.data);
    free_parts(parts[i].of, parts[i].n_of);
  }
  g_free(parts);
}

void
tide_row_key_free(TideRowKey *key)
{
  if (key == NULL)
    return;
  free_parts(key->parts, key->n_parts);
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
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index(ids, TideNameId, i) == field)
      return;
  g_array_append_val(ids, field);
}

void
tide_row_key_stored_fields(const TideRowKey *key, GArray *ids)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_FIELD)
      add_field(ids, key->parts[i].field);
}

void
tide_row_key_fields(const TideRowKey *key, GArray *ids)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind == TIDE_KEY_FIELD)
      add_field(ids, part->field);
    for (gsize j = 0; j < part->n_of; j++)
      if (part->of[j].kind == TIDE_KEY_FIELD)
        add_field(ids, part->of[j].field);
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
