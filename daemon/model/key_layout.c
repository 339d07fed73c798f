/* Finds the parts of a key again, where the layout allows it. */
#define _GNU_SOURCE /* memmem */
#include "model/key_part.h"

/* What the parts from @first on write together; they are all of fixed width where this is asked. */
static gsize
fixed_bytes_from(const TideRowKey *key, gsize first)
{
  gsize n_bytes = 0;
  for (gsize i = first; i < key->n_parts; i++)
    n_bytes += key->parts[i].fixed_bytes;
  return n_bytes;
}

/* The length of the value of the field of variable width that @rest begins with; 0 when there is none. */
static gsize
variable_bytes(const TideRowKey *key, gsize place, TideBytes rest)
{
  TideBytes delimiter = key->parts[place].delimiter;
  if (delimiter.len == 0) {
    gsize behind = fixed_bytes_from(key, place + 1);
    return rest.len > behind ? rest.len - behind : 0;
  }
  const guint8 *found = rest.len > 0 ? memmem(rest.data, rest.len, delimiter.data, delimiter.len) : NULL;
  return found != NULL ? (gsize)(found - rest.data) : 0;
}

gboolean
tide_row_key_locate(const TideRowKey *key, TideBytes row, gsize *ret_ends)
{
  gsize at = 0;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    TideBytes rest = tide_bytes(row.data + at, row.len - at);
    gsize n_bytes = part->fixed_bytes > 0 ? part->fixed_bytes : variable_bytes(key, i, rest);
    if (n_bytes == 0 || n_bytes > rest.len)
      return FALSE;
    if (part->kind == TIDE_KEY_LITERAL && memcmp(rest.data, part->literal.data, n_bytes) != 0)
      return FALSE;
    at += n_bytes;
    ret_ends[i] = at;
  }
  return at == row.len;
}

static gboolean
read_number(const TideKeyPart *part, const guint8 *at, guint64 *ret_number)
{
  guint64 number = 0;
  for (guint32 i = 0; i < part->fixed_bytes; i++) {
    if (!part->binary && (at[i] < '0' || at[i] > '9'))
      return FALSE;
    number = part->binary ? number << 8 | at[i] : number * 10 + (guint64)(at[i] - '0'); /* 19 digits at most */
  }
  *ret_number = number;
  return number <= G_MAXINT64;
}

static gboolean
read_time_part(const TideKeyPart *part, const guint8 *at, gint64 *ret_ns)
{
  guint64 number;
  if (!read_number(part, at, &number))
    return FALSE;
  gint64 units = part->reversed ? G_MAXINT64 - (gint64)number : (gint64)number;
  return !__builtin_mul_overflow(units, tide_key_unit_ns(part->unit), ret_ns);
}

gboolean
tide_row_key_read_time(const TideRowKey *key, TideBytes row, gint64 *ret_ns)
{
  gsize ends[TIDE_ROW_KEY_MAX_PARTS];
  const TideKeyPart *finest = NULL;
  gint64 finest_ns = 0;
  if (row.len == 0 || !tide_row_key_locate(key, row, ends))
    return FALSE;
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    gint64 ns;
    if (part->kind != TIDE_KEY_TIME)
      continue;
    if (!read_time_part(part, row.data + ends[i] - part->fixed_bytes, &ns))
      return FALSE;
    if (finest == NULL || tide_key_unit_ns(part->unit) < tide_key_unit_ns(finest->unit)) {
      finest = part;
      finest_ns = ns;
    }
  }
  if (finest != NULL)
    *ret_ns = finest_ns;
  return finest != NULL;
}
