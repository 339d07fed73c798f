/* Checks the parts of a compiled key against each other. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"
#include "util/error.h"

/* Decoding splits a key from the left as long as fields of variable width are delimited, then from the right: after one
 * that is not delimited, all parts must have a fixed width. */
static gboolean
check_ends_can_be_told(const TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  const TideKeyPart *open = NULL;
  for (gsize i = 0; i < key->n_parts; i++) {
    if (key->parts[i].fixed_bytes > 0)
      continue;
    if (open != NULL) {
      *ret_bad_part = (gsize)(open - key->parts);
      return tide_fail(error, TIDE_ERROR_CONFIG,
                       "the end of this field in the key is ambiguous, because another field without width follows: "
                       "add a literal such as \"#\" right after it, or give it a width");
    }
    if (tide_key_part_delimiter(&key->parts[i]).len == 0)
      open = &key->parts[i];
  }
  return TRUE;
}

static gboolean
conditions_equal(const TideCondition *one, const TideCondition *other)
{
  if (one->kind != other->kind || one->field != other->field || one->negated != other->negated ||
      one->n_values != other->n_values)
    return FALSE;
  for (gsize i = 0; i < one->n_values; i++)
    if (!tide_bytes_equal(one->values[i], other->values[i]))
      return FALSE;
  return TRUE;
}

/* If only one of two parts has defaults, the other part rejects the readings that need them. */
static gboolean
defaults_agree(const TideKeyPart *one, const TideKeyPart *other)
{
  if (one->value.n_defaults == 0 || other->value.n_defaults == 0)
    return TRUE;
  if (one->value.n_defaults != other->value.n_defaults)
    return FALSE;
  for (gsize i = 0; i < one->value.n_defaults; i++) {
    const TideKeyDefaultValue *a = &one->value.defaults[i], *b = &other->value.defaults[i];
    if (a->is_conditional != b->is_conditional || !tide_bytes_equal(a->text, b->text) ||
        (a->is_conditional && !conditions_equal(&a->when, &b->when)))
      return FALSE;
  }
  return TRUE;
}

/* Whether the FIELD part @part keeps every byte of a value. */
static gboolean
is_exact(const TideKeyPart *part)
{
  return part->value.form == TIDE_KEY_TEXT && part->fixed_bytes == 0 &&
         part->value.spelling.text_case == TIDE_CASE_AS_IS && !part->value.spelling.strip_spaces;
}

/* Whether two FIELD parts keep the same bytes of a value, though one may write them reversed or escaped. */
static gboolean
is_same_form(const TideKeyPart *one, const TideKeyPart *other)
{
  return one->value.form == other->value.form && one->fixed_bytes == other->fixed_bytes &&
         one->value.pad_byte == other->value.pad_byte && one->value.pad_left == other->value.pad_left &&
         one->value.cut == other->value.cut && one->value.spelling.text_case == other->value.spelling.text_case &&
         one->value.spelling.strip_spaces == other->value.spelling.strip_spaces &&
         one->value.has_range == other->value.has_range && one->value.least == other->value.least &&
         one->value.greatest == other->value.greatest;
}

/* Whether integers keep their value in the FIELD part @part, possibly without their leading zeros. */
static gboolean
keeps_integers(const TideKeyPart *part)
{
  if (part->value.form != TIDE_KEY_TEXT)
    return tide_key_part_is_integer(part);
  return !part->value.cut && (part->fixed_bytes == 0 || part->value.pad_byte != '-');
}

/* Whether the bytes of the FIELD part @part follow from those of @source, another part of the field. @by_number: only
 * the number in @part matters. */
static gboolean
follows_from(const TideKeyPart *part, const TideKeyPart *source, gboolean by_number)
{
  if (!defaults_agree(part, source))
    return FALSE;
  return is_exact(source) || is_same_form(part, source) ||
         ((by_number || tide_key_part_is_integer(part)) && keeps_integers(source));
}

static TideKeyPart *
find_source(const TideRowKey *key, TideNameId field)
{
  TideKeyPart *first = NULL;
  for (gsize i = 0; i < key->n_parts; i++) {
    TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_FIELD || part->value.field != field)
      continue;
    if (is_exact(part))
      return part;
    if (first == NULL || (tide_key_part_is_integer(first) && !tide_key_part_is_integer(part)))
      first = part;
  }
  return first;
}

static gboolean
check_fields_agree(TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_FIELD)
      continue;
    TideKeyPart *source = find_source(key, part->value.field);
    source->value.is_source = TRUE;
    *ret_bad_part = i;
    if (part != source && !follows_from(part, source, FALSE))
      return tide_fail(error, TIDE_ERROR_CONFIG,
                       "a field is in the key twice, in two forms of which neither contains all of the other: remove "
                       "the width, case or other change from one of them, or make both the same");
  }
  return TRUE;
}

static gboolean
is_time_stored(const TideRowKey *key, const TideKeyPart *input)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && tide_key_time_follows(input, &key->parts[i]))
      return TRUE;
  return FALSE;
}

/* Sets is_alike and is_repeatable of a HASH or SALT part, from the parts of the key that contain its inputs. */
static gboolean
check_digest(const TideRowKey *key, TideKeyPart *part, GError **error)
{
  TideKeyDigest *digest = &part->digest;
  gboolean identifies = part->kind == TIDE_KEY_HASH && tide_key_hash_identifies(digest->hash, digest->hash_bytes);
  gboolean fields_are_stored = TRUE, times_are_stored = TRUE; /* in the key itself, too */
  digest->is_alike = TRUE;
  for (gsize i = 0; i < digest->n_of; i++) {
    const TideKeyPart *input = &digest->of[i];
    if (input->kind == TIDE_KEY_TIME)
      times_are_stored &= is_time_stored(key, input);
    if (input->kind != TIDE_KEY_FIELD)
      continue;
    const TideKeyPart *source = find_source(key, input->value.field);
    fields_are_stored &= source != NULL;
    digest->is_alike &= source == NULL || follows_from(input, source, digest->by_number);
  }
  if (part->kind == TIDE_KEY_HASH && !identifies && !fields_are_stored)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "two values could have one key, because it contains a field only as a hash of less than 16 bytes: "
                     "add the field itself to the key, or keep at least 16 bytes of md5, sha1 or sha256");
  if (!identifies && !digest->is_alike)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a hash or salt uses a field in another form than the key, so two spellings of one value would "
                     "have two rows: give the field the same width, padding, case and so on in both");
  digest->is_repeatable = fields_are_stored && times_are_stored && digest->is_alike;
  return TRUE;
}

static gboolean
check_identity(TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  gboolean is_identified = FALSE;
  gsize n_salts = 0;
  for (gsize i = 0; i < key->n_parts; i++) {
    TideKeyPart *part = &key->parts[i];
    gboolean is_hash = part->kind == TIDE_KEY_HASH;
    *ret_bad_part = i;
    if ((is_hash || part->kind == TIDE_KEY_SALT) && !check_digest(key, part, error))
      return FALSE;
    if (part->kind == TIDE_KEY_SALT && ++n_salts > 1)
      return tide_fail(error, TIDE_ERROR_CONFIG, "a key has two salts: use one with more values");
    is_identified |= part->kind == TIDE_KEY_FIELD || part->kind == TIDE_KEY_TIME ||
                     (is_hash && tide_key_hash_identifies(part->digest.hash, part->digest.hash_bytes));
  }
  *ret_bad_part = 0;
  if (!is_identified)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "a key contains neither a field nor the time, so all readings would have one row: add a field");
  return TRUE;
}

/* A local time that repeats an hour distinguishes moments only together with another part. */
static gboolean
check_clock(const TideRowKey *key, const TideKeyPart *part, GError **error)
{
  if (part->kind != TIDE_KEY_TIME || !part->moment.is_ambiguous)
    return TRUE;
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && tide_key_time_is_exact_to(&key->parts[i], tide_key_time_step_ns(part)))
      return TRUE;
  return tide_fail(
      error, TIDE_ERROR_CONFIG,
      "a time is printed in zone '%s' as '%s', but clocks there are set back once a year: in the repeated hour, two "
      "readings could have one key; use zone UTC, a fixed offset, or a counted form such as epoch_ms",
      part->moment.zone_name, part->moment.print->text);
}

static gboolean
check_clocks(const TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    *ret_bad_part = i;
    if (!check_clock(key, part, error))
      return FALSE;
    for (gsize j = 0; part->kind == TIDE_KEY_HASH && j < part->digest.n_of; j++)
      if (!check_clock(key, &part->digest.of[j], error))
        return FALSE;
  }
  return TRUE;
}

gboolean
tide_key_check(TideRowKey *key, gsize *ret_bad_part, GError **error)
{
  gsize n_bytes = 0;
  if (!check_ends_can_be_told(key, ret_bad_part, error) || !check_fields_agree(key, ret_bad_part, error) ||
      !check_identity(key, ret_bad_part, error) || !check_clocks(key, ret_bad_part, error))
    return FALSE;
  for (gsize i = 0; i < key->n_parts; i++) {
    n_bytes += key->parts[i].fixed_bytes;
    *ret_bad_part = i;
    if (n_bytes > TIDE_ROW_KEY_MAX_BYTES)
      return tide_fail(error, TIDE_ERROR_CONFIG, "the key is longer than the 32767 bytes that HBase allows");
  }
  return TRUE;
}
