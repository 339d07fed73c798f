#include "decode/msgpack_shape.h"

#include "util/error.h"

/* msgpack-c's own, and one around it: a list of maps. */
#define MAX_DEPTH 33u

/* The forms with a byte of their own, 0xC0 to 0xDF: what follows that byte. */
static const struct {
  guint8 size_bytes;  /* of a length, or of a number of elements, big-endian */
  guint8 plain_bytes; /* besides: a number, or an extension's type and content */
  guint8 per_element; /* values for each that the size counts; 0: it counts bytes */
} forms[32] = {
    [0xC4 - 0xC0] = {1, 0, 0}, [0xC5 - 0xC0] = {2, 0, 0},  [0xC6 - 0xC0] = {4, 0, 0}, /* binary */
    [0xC7 - 0xC0] = {1, 1, 0}, [0xC8 - 0xC0] = {2, 1, 0},  [0xC9 - 0xC0] = {4, 1, 0}, /* extensions */
    [0xCA - 0xC0] = {0, 4, 0}, [0xCB - 0xC0] = {0, 8, 0},                             /* float, double */
    [0xCC - 0xC0] = {0, 1, 0}, [0xCD - 0xC0] = {0, 2, 0},  [0xCE - 0xC0] = {0, 4, 0}, /* unsigned ... */
    [0xCF - 0xC0] = {0, 8, 0}, [0xD0 - 0xC0] = {0, 1, 0},  [0xD1 - 0xC0] = {0, 2, 0}, /* ... and signed */
    [0xD2 - 0xC0] = {0, 4, 0}, [0xD3 - 0xC0] = {0, 8, 0},                             /* integers */
    [0xD4 - 0xC0] = {0, 2, 0}, [0xD5 - 0xC0] = {0, 3, 0},  [0xD6 - 0xC0] = {0, 5, 0}, /* extensions of fixed */
    [0xD7 - 0xC0] = {0, 9, 0}, [0xD8 - 0xC0] = {0, 17, 0},                            /* length */
    [0xD9 - 0xC0] = {1, 0, 0}, [0xDA - 0xC0] = {2, 0, 0},  [0xDB - 0xC0] = {4, 0, 0}, /* texts */
    [0xDC - 0xC0] = {2, 0, 1}, [0xDD - 0xC0] = {4, 0, 1},                             /* arrays */
    [0xDE - 0xC0] = {2, 0, 2}, [0xDF - 0xC0] = {4, 0, 2},                             /* maps */
};

typedef struct Walk {
  TideBytes value;
  gsize at;
  gboolean is_short; /* the value goes on behind the bytes */
  GError **error;
} Walk;

static gboolean
fault(const Walk *walk, const char *what)
{
  g_set_error(walk->error, TIDE_ERROR, TIDE_ERROR_DATA, "%s, at byte %" G_GSIZE_FORMAT, what, walk->at);
  return FALSE;
}

static gboolean
skip(Walk *walk, guint64 n_bytes)
{
  walk->is_short = n_bytes > walk->value.len - walk->at;
  if (walk->is_short)
    return fault(walk, "it ends in the middle of a value");
  walk->at += n_bytes;
  return TRUE;
}

static gboolean
take_size(Walk *walk, guint n_bytes, guint64 *ret_size)
{
  gsize at = walk->at;
  if (!skip(walk, n_bytes))
    return FALSE;
  guint64 size = 0;
  for (; at < walk->at; at++)
    size = size << 8 | walk->value.data[at];
  *ret_size = size;
  return TRUE;
}

/* A value up to what is inside of it: @ret_n_inner values. */
static gboolean
take_head(Walk *walk, guint64 *ret_n_inner)
{
  gsize start = walk->at;
  guint64 size = 0;
  if (!skip(walk, 1))
    return FALSE;
  guint8 byte = walk->value.data[start];
  *ret_n_inner = 0;
  if (byte < 0x80 || byte >= 0xE0) /* small integers */
    return TRUE;
  if (byte < 0xA0) { /* small maps and arrays */
    *ret_n_inner = (guint64)(byte & 0x0F) * (byte < 0x90 ? 2 : 1);
    return TRUE;
  }
  if (byte < 0xC0) /* short texts */
    return skip(walk, byte & 0x1F);
  if (byte == 0xC1) {
    walk->at = start;
    return fault(walk, "it has a byte that begins no value");
  }
  guint form = byte - 0xC0u;
  if (!take_size(walk, forms[form].size_bytes, &size))
    return FALSE;
  *ret_n_inner = size * forms[form].per_element;
  return skip(walk, forms[form].plain_bytes + (forms[form].per_element > 0 ? 0 : size));
}

/* @n values one after the other. The depth bounds the recursion. */
static gboolean
take_values(Walk *walk, guint64 n, guint depth_left)
{
  guint64 n_inner;
  if (n > 0 && depth_left == 0)
    return fault(walk, "it is nested too deeply");
  for (; n > 0; n--)
    if (!take_head(walk, &n_inner) || !take_values(walk, n_inner, depth_left - 1))
      return FALSE;
  return TRUE;
}

static gboolean
is_map(guint8 byte)
{
  return (byte >= 0x80 && byte < 0x90) || byte == 0xDE || byte == 0xDF;
}

gboolean
tide_msgpack_shape_check(TideBytes value, TideMsgpackLimits limits, GError **error)
{
  Walk walk = {.value = value, .error = error};
  guint64 n_inner;
  if (value.len == 0 || !is_map(value.data[0]))
    return fault(&walk, "it does not begin as a map");
  if (!take_head(&walk, &n_inner))
    return FALSE;
  if (n_inner / 2 > limits.max_members)
    return fault(&walk, "it has too many members");
  if (!take_values(&walk, n_inner, limits.max_depth))
    return FALSE;
  return walk.at == value.len || fault(&walk, "there are bytes after the map");
}

gboolean
tide_msgpack_shape_length(TideBytes bytes, gsize *ret_len, GError **error)
{
  g_autoptr(GError) problem = NULL;
  Walk walk = {.value = bytes, .error = &problem};
  gboolean is_whole = take_values(&walk, 1, MAX_DEPTH);
  *ret_len = is_whole ? walk.at : 0;
  if (is_whole || walk.is_short)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&problem));
  return FALSE;
}
