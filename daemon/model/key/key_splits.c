/* Computes split points that spread the keys of a scheme. */
#include "model/key/key_part.h"

#define SPLIT_HASH_BYTES 8u /* bytes of a hash for which split points are computed: 64 bits */

typedef unsigned __int128 Number;

/* The count of numbers, from 0, over which the bytes of @part are spread; 0: unknown. @ret_n_digits: for reversed text,
 * the number of digits that splits use */
static Number
space_of(const TideKeyPart *part, guint32 *ret_n_digits)
{
  *ret_n_digits = 0;
  switch (part->kind) {
  case TIDE_KEY_SALT:
    return part->digest.modulo;
  case TIDE_KEY_HASH:
    return (Number)1 << (8 * MIN(part->digest.hash_bytes, SPLIT_HASH_BYTES));
  case TIDE_KEY_FIELD: {
    if (!part->value.has_range)
      return 0;
    Number span = (Number)(part->value.greatest - part->value.least) + 1, space = 1;
    if (!part->value.text_reversed)
      return span; /* numbers are assumed to be spread over the whole range */
    /* Reversed text begins with the last digits, which are spread evenly. Splits use all digits of the range except the
     * first. */
    for (; space * 10 <= span; space *= 10)
      (*ret_n_digits)++;
    return space;
  }
  case TIDE_KEY_LITERAL:
  case TIDE_KEY_TIME:
  case TIDE_KEY_NAME:
    break;
  }
  return 0;
}

/* Appends the split point at @number as @part writes it. Hashes and digits lose their trailing zeros, which do not
 * affect the order. */
static void
append_point(const TideKeyPart *part, Number number, guint32 n_digits, TideBuffer *out)
{
  gsize start = out->len;
  if (part->kind == TIDE_KEY_SALT) {
    tide_key_part_append_salt(part, (guint32)number, out);
  } else if (part->kind == TIDE_KEY_HASH) {
    guint8 bytes[SPLIT_HASH_BYTES];
    tide_key_append_big_endian((guint64)number, MIN(part->digest.hash_bytes, SPLIT_HASH_BYTES), out);
    while (out->len > start + 1 && out->data[out->len - 1] == 0)
      out->len--;
    if (part->digest.binary)
      return;
    gsize n_bytes = out->len - start;
    memcpy(bytes, out->data + start, n_bytes);
    out->len = start;
    tide_key_append_hex(bytes, n_bytes, out);
  } else if (part->value.text_reversed) {
    tide_key_append_decimal((guint64)number, n_digits, out);
    while (out->len > start + 1 && out->data[out->len - 1] == '0')
      out->len--;
  } else {
    tide_key_field_append_integer(part, part->value.least + (__int128)number, out);
  }
}

GArray *
tide_row_key_splits(const TideRowKey *key, guint32 n_regions)
{
  GArray *splits = g_array_new(FALSE, TRUE, sizeof(TideBytes));
  g_auto(TideBuffer) prefix = {0};
  const TideKeyPart *part = key->parts, *end = key->parts + key->n_parts;
  for (; part < end && part->kind == TIDE_KEY_LITERAL; part++)
    tide_buffer_append_bytes(&prefix, part->literal);
  if (part == end)
    return splits;
  guint32 n_digits;
  Number space = space_of(part, &n_digits);
  if (part->kind == TIDE_KEY_SALT && n_regions == 0)
    n_regions = part->digest.modulo;
  guint64 n = (guint64)MIN(space, n_regions);
  for (guint64 i = 1; i < n; i++) {
    g_auto(TideBuffer) point = {0};
    tide_buffer_append_bytes(&point, tide_buffer_bytes(&prefix));
    append_point(part, space * i / n, n_digits, &point);
    TideBytes split = tide_bytes(g_memdup2(point.data, point.len), point.len);
    g_array_append_val(splits, split);
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
