/* Reads Avro's binary encoding: integers, and bytes after their length. No length is trusted. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* A varint has seven bits per byte. */
#define TIDE_AVRO_LONG_MAX_BYTES 10

typedef struct TideAvroCursor {
  TideBytes text;
  gsize at;

  /* set on a fault */
  const char *detail; /* why; never freed */
  gsize fault_at;
  gboolean is_cut; /* the text ends too early */
} TideAvroCursor;

/* Returns FALSE. */
static inline gboolean
tide_avro_fail(TideAvroCursor *cursor, gsize at, const char *detail, gboolean is_cut)
{
  cursor->detail = detail;
  cursor->fault_at = at;
  cursor->is_cut = is_cut;
  return FALSE;
}

static inline gboolean
tide_avro_take_long(TideAvroCursor *cursor, gint64 *ret_value)
{
  guint64 value = 0;
  gsize start = cursor->at;
  for (guint i = 0; i < TIDE_AVRO_LONG_MAX_BYTES; i++) {
    if (cursor->at == cursor->text.len)
      return tide_avro_fail(cursor, cursor->text.len, "it is truncated", TRUE);
    guint8 byte = cursor->text.data[cursor->at++];
    if (i == TIDE_AVRO_LONG_MAX_BYTES - 1 && byte > 1)
      break;
    value |= (guint64)(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = (gint64)((value >> 1) ^ (0 - (value & 1)));
      return TRUE;
    }
  }
  return tide_avro_fail(cursor, start, "an integer of more than 64 bits", FALSE);
}

static inline gboolean
tide_avro_take_bytes(TideAvroCursor *cursor, guint64 len, TideBytes *ret_bytes)
{
  if (cursor->text.len - cursor->at < len)
    return tide_avro_fail(cursor, cursor->text.len, "it is truncated", TRUE);
  *ret_bytes = tide_bytes(cursor->text.data + cursor->at, (gsize)len);
  cursor->at += (gsize)len;
  return TRUE;
}

static inline gboolean
tide_avro_take_run(TideAvroCursor *cursor, TideBytes *ret_bytes)
{
  gint64 len;
  gsize start = cursor->at;
  if (!tide_avro_take_long(cursor, &len))
    return FALSE;
  return len >= 0 ? tide_avro_take_bytes(cursor, (guint64)len, ret_bytes)
                  : tide_avro_fail(cursor, start, "a negative length", FALSE);
}

/* The number of members in the next block of a map or an array; 0: it has ended. @ret_n_bytes: the block's declared
 * size; 0: not declared */
static inline gboolean
tide_avro_take_count(TideAvroCursor *cursor, guint64 *ret_n, gint64 *ret_n_bytes)
{
  gint64 n;
  *ret_n_bytes = 0;
  if (!tide_avro_take_long(cursor, &n))
    return FALSE;
  *ret_n = n < 0 ? (guint64)0 - (guint64)n : (guint64)n;
  return n >= 0 || tide_avro_take_long(cursor, ret_n_bytes);
}

G_END_DECLS
