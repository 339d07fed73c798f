/* Split points that spread the keys of a scheme. */
#include "model/key/key_part.h"

#define SPLIT_HASH_BYTES 8u /* of a hash, as many as split points are computed with: 64 bits */

static void
add_split(GArray *splits, const TideBuffer *point)
{
  TideBytes split = tide_bytes(g_memdup2(point->data, point->len), point->len);
  g_array_append_val(splits, split);
}

static void
split_salt(const TideKeyPart *part, guint32 n_regions, const TideBuffer *prefix, GArray *splits)
{
  guint64 n = n_regions == 0 ? part->digest.modulo : MIN(n_regions, part->digest.modulo);
  for (guint64 i = 1; i < n; i++) {
    g_auto(TideBuffer) point = {0};
    tide_buffer_append_bytes(&point, tide_buffer_bytes(prefix));
    tide_key_part_append_salt(part, (guint32)(i * part->digest.modulo / n), &point);
    add_split(splits, &point);
  }
}

/* Appends a point of the hash's space as the key writes it, without zeros at the end: they change nothing in
 * the order. */
static void
append_hash_point(const TideKeyPart *part, guint64 number, guint32 n_bytes, TideBuffer *out)
{
  guint8 bytes[SPLIT_HASH_BYTES];
  for (guint32 i = n_bytes; i > 0; i--, number >>= 8)
    bytes[i - 1] = (guint8)number;
  while (n_bytes > 1 && bytes[n_bytes - 1] == 0)
    n_bytes--;
  g_autofree char *hex = tide_bytes_hex(tide_bytes(bytes, n_bytes));
  if (part->binary)
    tide_buffer_append(out, bytes, n_bytes);
  else
    tide_buffer_append(out, hex, strlen(hex));
}

static void
split_hash(const TideKeyPart *part, guint32 n_regions, const TideBuffer *prefix, GArray *splits)
{
  guint32 n_bytes = MIN(part->digest.hash_bytes, SPLIT_HASH_BYTES);
  unsigned __int128 space = (unsigned __int128)1 << (8 * n_bytes);
  guint64 n = space < n_regions ? (guint64)space : n_regions;
  for (guint64 i = 1; i < n; i++) {
    g_auto(TideBuffer) point = {0};
    tide_buffer_append_bytes(&point, tide_buffer_bytes(prefix));
    append_hash_point(part, (guint64)(space * i / n), n_bytes, &point);
    add_split(splits, &point);
  }
}

/* Numbers that nobody chose are spread over the range. */
static void
split_range(const TideKeyPart *part, guint32 n_regions, const TideBuffer *prefix, GArray *splits)
{
  unsigned __int128 span = (unsigned __int128)(part->value.greatest - part->value.least) + 1;
  guint64 n = span < n_regions ? (guint64)span : n_regions;
  for (guint64 i = 1; i < n; i++) {
    g_auto(TideBuffer) point = {0};
    tide_buffer_append_bytes(&point, tide_buffer_bytes(prefix));
    tide_key_field_append_integer(part, part->value.least + (__int128)(span * i / n), &point);
    add_split(splits, &point);
  }
}

/* Backwards the last digits lead, which are spread over all digits. As many are used as the range has beside its first.
 */
static void
split_digits(const TideKeyPart *part, guint32 n_regions, const TideBuffer *prefix, GArray *splits)
{
  guint32 n_digits = 0;
  unsigned __int128 span = (unsigned __int128)(part->value.greatest - part->value.least) + 1, space = 1;
  while (space * 10 <= span) {
    space *= 10;
    n_digits++;
  }
  guint64 n = space < n_regions ? (guint64)space : n_regions;
  for (guint64 i = 1; i < n; i++) {
    g_auto(TideBuffer) point = {0};
    tide_buffer_append_bytes(&point, tide_buffer_bytes(prefix));
    tide_key_append_decimal((guint64)(space * i / n), n_digits, &point);
    while (point.len > prefix->len + 1 && point.data[point.len - 1] == '0')
      point.len--; /* changes nothing in the order */
    add_split(splits, &point);
  }
}

GArray *
tide_row_key_splits(const TideRowKey *key, guint32 n_regions)
{
  GArray *splits = g_array_new(FALSE, TRUE, sizeof(TideBytes));
  g_auto(TideBuffer) prefix = {0};
  for (gsize i = 0; i < key->n_parts; i++) {
    const TideKeyPart *part = &key->parts[i];
    switch (part->kind) {
    case TIDE_KEY_LITERAL:
      tide_buffer_append_bytes(&prefix, part->literal);
      continue;
    case TIDE_KEY_SALT:
      split_salt(part, n_regions, &prefix, splits);
      return splits;
    case TIDE_KEY_HASH:
      split_hash(part, n_regions, &prefix, splits);
      return splits;
    case TIDE_KEY_FIELD:
      if (part->value.has_range && part->value.text_reversed)
        split_digits(part, n_regions, &prefix, splits);
      else if (part->value.has_range)
        split_range(part, n_regions, &prefix, splits);
      return splits;
    case TIDE_KEY_TIME:
    case TIDE_KEY_NAME:
      return splits;
    }
  }
  return splits;
}

void
tide_splits_free(GArray *splits)
{
  if (splits == NULL)
    return;
  for (guint i = 0; i < splits->len; i++)
    g_free((gpointer)g_array_index(splits, TideBytes, i).data);
  g_array_unref(splits);
}
