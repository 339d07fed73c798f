/* The forms in which a moment stands in a key, and back. */
#include "model/key_part.h"

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

gboolean
tide_key_time_compile(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key, GError **error)
{
  (void)is_key;
  (void)error;
  part->unit = spec->unit;
  part->reversed = spec->reversed;
  part->binary = spec->binary;
  part->fixed_bytes = time_bytes(part);
  return TRUE;
}

gboolean
tide_key_time_follows(const TideRowKey *key, const TideKeyPart *input)
{
  for (gsize i = 0; i < key->n_parts; i++)
    if (key->parts[i].kind == TIDE_KEY_TIME && tide_key_unit_ns(key->parts[i].unit) <= tide_key_unit_ns(input->unit))
      return TRUE;
  return FALSE;
}

guint64
tide_key_time_number(const TideKeyPart *part, gint64 ns)
{
  gint64 units = ns / tide_key_unit_ns(part->unit);
  return (guint64)(part->reversed ? G_MAXINT64 - units : units);
}

void
tide_key_time_append_number(const TideKeyPart *part, guint64 number, TideBuffer *out)
{
  if (part->binary) {
    guint64 big_endian = GUINT64_TO_BE(number);
    tide_buffer_append(out, &big_endian, sizeof big_endian);
  } else {
    tide_key_append_decimal(number, part->fixed_bytes, out);
  }
}

void
tide_key_time_append(const TideKeyPart *part, gint64 ns, TideBuffer *out)
{
  tide_key_time_append_number(part, tide_key_time_number(part, ns), out);
}

static gboolean
read_number(const TideKeyPart *part, TideBytes bytes, guint64 *ret_number)
{
  guint64 number = 0;
  for (gsize i = 0; i < bytes.len; i++) {
    guint8 byte = bytes.data[i];
    if (!part->binary && !g_ascii_isdigit(byte))
      return FALSE;
    number = part->binary ? number << 8 | byte : number * 10 + (guint64)(byte - '0'); /* 19 digits at most */
  }
  *ret_number = number;
  return number <= G_MAXINT64;
}

gboolean
tide_key_time_narrow(const TideKeyPart *part, TideBytes bytes, TideKeyMoments *moments)
{
  guint64 number;
  gint64 first_ns, last_ns;
  if (!read_number(part, bytes, &number))
    return FALSE;
  gint64 units = part->reversed ? G_MAXINT64 - (gint64)number : (gint64)number;
  if (__builtin_mul_overflow(units, tide_key_unit_ns(part->unit), &first_ns))
    return FALSE;
  if (__builtin_add_overflow(first_ns, tide_key_unit_ns(part->unit) - 1, &last_ns))
    last_ns = G_MAXINT64;
  moments->first_ns = MAX(moments->first_ns, first_ns);
  moments->last_ns = MIN(moments->last_ns, last_ns);
  return moments->first_ns <= moments->last_ns;
}
