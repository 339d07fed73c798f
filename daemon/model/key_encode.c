/* Writes a row key, part by part. */
#define _GNU_SOURCE /* memmem */
#include "model/key_hash.h"
#include "model/key_part.h"

static gboolean
reject(TideReject *ret_reject, TideRejectReason reason, const TideReading *reading, const char *detail)
{
  *ret_reject = (TideReject){.reason = reason, .byte_position = -1, .reading_index = reading->index, .detail = detail};
  return FALSE;
}

/* Whether @delimiter is found in @text followed by @delimiter before that one: "xa" followed by "aa" holds it
 * one byte too early. */
static gboolean
hides_delimiter(TideBytes text, TideBytes delimiter)
{
  if (delimiter.len == 0)
    return FALSE;
  if (delimiter.len == 1)
    return memchr(text.data, delimiter.data[0], text.len) != NULL;
  if (memmem(text.data, text.len, delimiter.data, delimiter.len) != NULL)
    return TRUE;
  for (gsize overlap = 1; overlap < delimiter.len && overlap <= text.len; overlap++) {
    const guint8 *tail = text.data + text.len - overlap;
    gsize rest = delimiter.len - overlap;
    if (memcmp(tail, delimiter.data, overlap) == 0 && memcmp(delimiter.data + overlap, delimiter.data, rest) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_only(TideBytes text, guint8 byte)
{
  for (gsize i = 0; i < text.len; i++)
    if (text.data[i] != byte)
      return FALSE;
  return TRUE;
}

const char *
tide_key_part_value_fault(const TideKeyPart *part, TideBytes text)
{
  if (text.len == 0)
    return "it is empty";
  if (is_only(text, ' '))
    return "it is nothing but spaces";
  if (memchr(text.data, '\0', text.len) != NULL)
    return "it holds a NUL byte";
  if (part->fixed_bytes == 0)
    return hides_delimiter(text, part->delimiter) ? "it holds the literal that follows it in the key" : NULL;
  if (text.len > part->fixed_bytes)
    return "it is longer than the key's width for it";
  if (part->pad_byte != '0' && is_only(text, part->pad_byte))
    return "it is nothing but padding";
  return NULL;
}

static void
append_padded(const TideKeyPart *part, TideBytes text, TideBuffer *out)
{
  gsize n_pad = part->fixed_bytes > text.len ? part->fixed_bytes - text.len : 0;
  guint8 *at = tide_buffer_reserve(out, n_pad + text.len);
  if (n_pad > 0)
    memset(part->pad_left ? at : at + text.len, part->pad_byte, n_pad);
  memcpy(part->pad_left ? at + n_pad : at, text.data, text.len);
  out->len += n_pad + text.len;
}

static gboolean
append_field(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  const TideField *field = tide_reading_field(reading, part->field);
  if (field == NULL || field->kind == TIDE_VALUE_NULL) {
    if (part->has_default) {
      append_padded(part, part->default_value, out);
      return TRUE;
    }
    reject(ret_reject, TIDE_REJECT_MISSING_FIELD, reading, field == NULL ? "it is absent" : "it is null");
    ret_reject->field_place = part->field + 1;
    ret_reject->field = field != NULL ? field->name : TIDE_BYTES_EMPTY;
    return FALSE;
  }
  const char *fault =
      field->kind == TIDE_VALUE_JSON ? "it is an array or object" : tide_key_part_value_fault(part, field->text);
  if (fault != NULL) {
    reject(ret_reject, TIDE_REJECT_BAD_KEY, reading, fault);
    ret_reject->field = field->name;
    return FALSE;
  }
  append_padded(part, field->text, out);
  return TRUE;
}

gint64
tide_key_unit_ns(TideKeyTimeUnit unit)
{
  switch (unit) {
  case TIDE_KEY_TIME_S:
    return 1000 * 1000 * 1000;
  case TIDE_KEY_TIME_MS:
    return 1000 * 1000;
  case TIDE_KEY_TIME_US:
    return 1000;
  case TIDE_KEY_TIME_NS:
    return 1;
  }
  return 1;
}

/* Zeros in front, two digits at a time. @number must fit @n_digits. */
static void
append_decimal(guint64 number, guint32 n_digits, TideBuffer *out)
{
  static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                              "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                              "8081828384858687888990919293949596979899";
  guint8 *at = tide_buffer_reserve(out, n_digits);
  guint32 i = n_digits;
  for (; i >= 2; i -= 2, number /= 100)
    memcpy(at + i - 2, pairs + number % 100 * 2, 2);
  if (i == 1)
    at[0] = (guint8)('0' + number % 10);
  out->len += n_digits;
}

guint64
tide_key_part_time_number(const TideKeyPart *part, gint64 ns)
{
  gint64 units = ns / tide_key_unit_ns(part->unit);
  return (guint64)(part->reversed ? G_MAXINT64 - units : units);
}

void
tide_key_part_append_time_number(const TideKeyPart *part, guint64 number, TideBuffer *out)
{
  if (part->binary) {
    guint64 big_endian = GUINT64_TO_BE(number);
    tide_buffer_append(out, &big_endian, sizeof big_endian);
  } else {
    append_decimal(number, part->fixed_bytes, out);
  }
}

static gboolean
append_time(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  if (reading->event_time_ns < 0)
    return reject(ret_reject, TIDE_REJECT_TIME_INVALID, reading, "before 1970, which a key has no place for");
  tide_key_part_append_time_number(part, tide_key_part_time_number(part, reading->event_time_ns), out);
  return TRUE;
}

/* The parts' bytes as one run, with a byte between them that no value holds. */
static gboolean
append_joined(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  for (gsize i = 0; i < part->n_of; i++) {
    if (i > 0)
      tide_buffer_append_byte(out, 0);
    if (!tide_key_part_append(&part->of[i], reading, out, ret_reject))
      return FALSE;
  }
  return TRUE;
}

static void
append_hex(const guint8 *bytes, gsize n_bytes, TideBuffer *out)
{
  static const char digits[] = "0123456789abcdef";
  guint8 *at = tide_buffer_reserve(out, n_bytes * 2);
  for (gsize i = 0; i < n_bytes; i++) {
    at[2 * i] = (guint8)digits[bytes[i] >> 4];
    at[2 * i + 1] = (guint8)digits[bytes[i] & 15];
  }
  out->len += n_bytes * 2;
}

/* What is hashed is written where the digest will stand, then overwritten: no memory of its own. */
static gboolean
append_hash(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  gsize start = out->len;
  if (!append_joined(part, reading, out, ret_reject))
    return FALSE;
  guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES];
  tide_key_hash_digest(part->hash, tide_bytes(out->data + start, out->len - start), digest);
  out->len = start;
  if (part->binary)
    tide_buffer_append(out, digest, part->hash_bytes);
  else
    append_hex(digest, part->hash_bytes, out);
  return TRUE;
}

void
tide_key_part_append_salt(const TideKeyPart *part, guint32 salt, TideBuffer *out)
{
  append_decimal(salt, part->fixed_bytes, out);
}

static gboolean
append_salt(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  gsize start = out->len;
  if (!append_joined(part, reading, out, ret_reject))
    return FALSE;
  guint64 number = tide_key_hash_number(part->hash, tide_bytes(out->data + start, out->len - start));
  out->len = start;
  tide_key_part_append_salt(part, (guint32)(number % part->modulo), out);
  return TRUE;
}

gboolean
tide_key_part_append(const TideKeyPart *part, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    tide_buffer_append_bytes(out, part->literal);
    return TRUE;
  case TIDE_KEY_FIELD:
    return append_field(part, reading, out, ret_reject);
  case TIDE_KEY_TIME:
    return append_time(part, reading, out, ret_reject);
  case TIDE_KEY_HASH:
    return append_hash(part, reading, out, ret_reject);
  case TIDE_KEY_SALT:
    return append_salt(part, reading, out, ret_reject);
  case TIDE_KEY_NAME:
    break; /* refused by the compiler */
  }
  return reject(ret_reject, TIDE_REJECT_BAD_KEY, reading, "no such kind of part");
}

gboolean
tide_row_key_append_parts(const TideRowKey *key, const TideReading *reading, TideBuffer *out, gsize *ret_ends,
                          TideReject *ret_reject)
{
  gsize start = out->len;
  for (gsize i = 0; i < key->n_parts; i++) {
    if (!tide_key_part_append(&key->parts[i], reading, out, ret_reject)) {
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
tide_row_key_append(const TideRowKey *key, const TideReading *reading, TideBuffer *out, TideReject *ret_reject)
{
  return tide_row_key_append_parts(key, reading, out, NULL, ret_reject);
}
