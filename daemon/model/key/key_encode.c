/* Writes a row key, part by part. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"

static gboolean
reject(TideReject *ret_reject, TideRejectReason reason, const TideReading *reading, const char *detail)
{
  *ret_reject = (TideReject){.reason = reason, .byte_position = -1, .reading_index = reading->index, .detail = detail};
  return FALSE;
}

static gboolean
reject_value(TideReject *ret_reject, const TideReading *reading, const TideField *field, const char *detail)
{
  reject(ret_reject, TIDE_REJECT_BAD_KEY, reading, detail);
  ret_reject->field = field->name;
  ret_reject->value = field->text;
  if (field->text.len == 0)
    ret_reject->remedy =
        "an empty field is rejected regardless of the key's 'default': keep such readings out of the table "
        "by 'when'";
  return FALSE;
}

/* Sets the field of @part, or the default that replaces it. FALSE: there is neither, or a key cannot contain the value.
 */
static gboolean
find_value(const TideKeyPart *part, const TideReading *reading, const TideField **ret_field,
           const TideKeyDefaultValue **ret_default, TideReject *ret_reject)
{
  const TideField *field = tide_reading_field(reading, part->value.field);
  *ret_default = NULL;
  *ret_field = field;
  if (field != NULL && field->kind == TIDE_VALUE_JSON)
    return reject_value(ret_reject, reading, field, "it is an array or object");
  if (field != NULL && field->kind != TIDE_VALUE_NULL)
    return TRUE;
  for (gsize i = 0; i < part->value.n_defaults; i++) {
    *ret_default = &part->value.defaults[i];
    if (!(*ret_default)->is_conditional || tide_condition_holds(&(*ret_default)->when, reading))
      return TRUE;
  }
  reject(ret_reject, TIDE_REJECT_MISSING_FIELD, reading, field == NULL ? "it is absent" : "it is null");
  ret_reject->field_place = part->value.field + 1;
  ret_reject->field = field != NULL ? field->name : TIDE_BYTES_EMPTY;
  return FALSE;
}

static gboolean
append_field(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  const TideField *field = tide_reading_field(reading, part->value.field);
  const TideKeyDefaultValue *standby;
  if (G_UNLIKELY(field == NULL || field->kind == TIDE_VALUE_NULL || field->kind == TIDE_VALUE_JSON)) {
    const TideField *absent; /* a separate variable, so that `field` stays in a register */
    if (!find_value(part, reading, &absent, &standby, ret_reject))
      return FALSE;
    tide_buffer_append_bytes(out, standby->bytes);
    return TRUE;
  }
  const char *fault = field->kind == TIDE_VALUE_NUMBER ? tide_key_padded_number_fault(part, field->text) : NULL;
  if (fault == NULL)
    fault = tide_key_field_append(part, field->text, out);
  if (G_LIKELY(fault == NULL))
    return TRUE;
  return reject_value(ret_reject, reading, field, fault);
}

/* Two digits at a time. */
static void
write_decimal(guint32 number, guint32 n_digits, guint8 *at)
{
  static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                              "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                              "8081828384858687888990919293949596979899";
  guint32 i = n_digits;
  for (; i >= 2; i -= 2, number /= 100)
    memcpy(at + i - 2, pairs + number % 100 * 2, 2);
  if (i == 1)
    at[0] = (guint8)('0' + number % 10);
}

/* Splits the number into groups of digits that fit into 32 bits, because these are computed in parallel. */
void
tide_key_append_decimal(guint64 number, guint32 n_digits, TideBuffer *out)
{
  guint8 *at = tide_buffer_reserve(out, n_digits);
  out->len += n_digits;
  for (; n_digits > 8; n_digits -= 8, number /= 100000000)
    write_decimal((guint32)(number % 100000000), 8, at + n_digits - 8);
  write_decimal((guint32)number, n_digits, at);
}

static gboolean
check_time(const TideReading *reading, TideReject *ret_reject)
{
  return reading->event_time_ns >= 0 ||
         reject(ret_reject, TIDE_REJECT_TIME_INVALID, reading, "before 1970, which a key cannot represent");
}

void
tide_key_append_hex(const guint8 *bytes, gsize n_bytes, TideBuffer *out)
{
  static const char digits[] = "0123456789abcdef";
  guint8 *at = tide_buffer_reserve(out, n_bytes * 2);
  for (gsize i = 0; i < n_bytes; i++) {
    at[2 * i] = (guint8)digits[bytes[i] >> 4];
    at[2 * i + 1] = (guint8)digits[bytes[i] & 15];
  }
  out->len += n_bytes * 2;
}

/* The inputs were written where the digest belongs, and are overwritten: this needs no memory of its own. */
void
tide_key_part_digest(const TideKeyPart *part, gsize start, TideBuffer *out)
{
  TideBytes joined = tide_bytes_from(tide_buffer_bytes(out), start);
  if (part->kind == TIDE_KEY_SALT) {
    guint64 number = tide_key_hash_number(part->digest.hash, joined);
    out->len = start;
    tide_key_part_append_salt(part, (guint32)(number % part->digest.modulo), out);
    return;
  }
  guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES];
  tide_key_hash_digest(part->digest.hash, joined, digest);
  out->len = start;
  if (part->digest.binary)
    tide_buffer_append(out, digest, part->digest.hash_bytes);
  else
    tide_key_append_hex(digest, part->digest.hash_bytes, out);
}

void
tide_key_part_append_salt(const TideKeyPart *part, guint32 salt, TideBuffer *out)
{
  guint32 number = part->digest.first + salt;
  if (part->digest.alphabet.len == 0) {
    tide_key_append_decimal(number, part->fixed_bytes, out);
    return;
  }
  guint8 *at = tide_buffer_reserve(out, part->fixed_bytes);
  for (guint32 i = part->fixed_bytes; i > 0; i--, number /= (guint32)part->digest.alphabet.len)
    at[i - 1] = part->digest.alphabet.data[number % part->digest.alphabet.len];
  out->len += part->fixed_bytes;
}

/* A salt by number depends on the value itself, not on its form in a key. */
static gboolean
append_salt_of_number(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  const TideKeyPart *input = &part->digest.of[0];
  if (input->kind == TIDE_KEY_TIME) {
    if (!check_time(reading, ret_reject))
      return FALSE;
    guint64 number = tide_key_time_number(input, reading->event_time_ns);
    tide_key_part_append_salt(part, (guint32)(number % part->digest.modulo), out);
    return TRUE;
  }
  const TideField *field;
  const TideKeyDefaultValue *standby;
  guint32 salt;
  if (!find_value(input, reading, &field, &standby, ret_reject))
    return FALSE;
  if (!tide_key_text_modulo(standby != NULL ? standby->text : field->text, part->digest.modulo, &salt))
    return reject_value(ret_reject, reading, field, "it is not an integer, which the salt needs");
  tide_key_part_append_salt(part, salt, out);
  return TRUE;
}

static gboolean
append_digest(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  if (part->digest.by_number)
    return append_salt_of_number(part, reading, out, ret_reject);
  gsize start = out->len;
  for (gsize i = 0; i < part->digest.n_of; i++) {
    if (i > 0)
      tide_buffer_append_byte(out, 0); /* separates inputs; no value contains it */
    if (!tide_key_part_append(&part->digest.of[i], reading, TIDE_BYTES_EMPTY, out, ret_reject))
      return FALSE;
  }
  tide_key_part_digest(part, start, out);
  return TRUE;
}

gboolean
tide_key_part_append(const TideKeyPart *part, const TideReading *reading, TideBytes field_name, TideBuffer *out,
                     TideReject *ret_reject)
{
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    tide_buffer_append_bytes(out, part->literal);
    return TRUE;
  case TIDE_KEY_FIELD:
    return append_field(part, reading, out, ret_reject);
  case TIDE_KEY_TIME:
    if (!check_time(reading, ret_reject))
      return FALSE;
    tide_key_time_append(part, reading->event_time_ns, out);
    return TRUE;
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    return append_digest(part, reading, out, ret_reject);
  case TIDE_KEY_NAME:
    tide_key_spelling_append(&part->spelling, field_name, out);
    return TRUE;
  }
  return reject(ret_reject, TIDE_REJECT_BAD_KEY, reading, "no such kind of part");
}

static gboolean
append_all(const TideRowKey *key, const TideReading *reading, TideBytes field_name, TideBuffer *out, gsize *ret_ends,
           TideReject *ret_reject)
{
  gsize start = out->len;
  for (gsize i = 0; i < key->n_parts; i++) {
    if (!tide_key_part_append(&key->parts[i], reading, field_name, out, ret_reject)) {
      out->len = start;
      return FALSE;
    }
    if (ret_ends != NULL)
      ret_ends[i] = out->len - start;
  }
  if (out->len - start > TIDE_ROW_KEY_MAX_BYTES) {
    out->len = start;
    return reject(ret_reject, TIDE_REJECT_ROW_TOO_LONG, reading, NULL);
  }
  return TRUE;
}

gboolean
tide_row_key_append_parts(const TideRowKey *key, const TideReading *reading, TideBuffer *out, gsize *ret_ends,
                          TideReject *ret_reject)
{
  return append_all(key, reading, TIDE_BYTES_EMPTY, out, ret_ends, ret_reject);
}

gboolean
tide_row_key_append(const TideRowKey *key, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  return append_all(key, reading, TIDE_BYTES_EMPTY, out, NULL, ret_reject);
}

gboolean
tide_key_text_append(const TideKeyText *text, const TideReading *reading, TideBytes field_name, TideBuffer *out,
                     TideReject *ret_reject)
{
  return append_all(text, reading, field_name, out, NULL, ret_reject);
}
