#include "decode/msgpack_value.h"

#include "util/error.h"

/* The limit of msgpack-c, plus one for a list of maps. */
#define MAX_DEPTH 33u

#define FIRST_FORM 0xC0

/* The types that have a first byte of their own, 0xC0 to 0xDF, by the bytes after it. */
static const struct {
  guint8 kind;
  guint8 size_bytes;  /* of a length or a number of elements, big-endian */
  guint8 plain_bytes; /* of a number, or of an extension with fixed length: its type and content */
} forms[32] = {
    [0xC0 - FIRST_FORM] = {TIDE_MSGPACK_NIL, 0, 0},        [0xC1 - FIRST_FORM] = {TIDE_MSGPACK_INVALID, 0, 0},
    [0xC2 - FIRST_FORM] = {TIDE_MSGPACK_BOOLEAN, 0, 0},    [0xC3 - FIRST_FORM] = {TIDE_MSGPACK_BOOLEAN, 0, 0},
    [0xC4 - FIRST_FORM] = {TIDE_MSGPACK_BINARY, 1, 0},     [0xC5 - FIRST_FORM] = {TIDE_MSGPACK_BINARY, 2, 0},
    [0xC6 - FIRST_FORM] = {TIDE_MSGPACK_BINARY, 4, 0},     [0xC7 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 1, 1},
    [0xC8 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 2, 1},  [0xC9 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 4, 1},
    [0xCA - FIRST_FORM] = {TIDE_MSGPACK_FLOAT, 0, 4},      [0xCB - FIRST_FORM] = {TIDE_MSGPACK_DOUBLE, 0, 8},
    [0xCC - FIRST_FORM] = {TIDE_MSGPACK_UNSIGNED, 0, 1},   [0xCD - FIRST_FORM] = {TIDE_MSGPACK_UNSIGNED, 0, 2},
    [0xCE - FIRST_FORM] = {TIDE_MSGPACK_UNSIGNED, 0, 4},   [0xCF - FIRST_FORM] = {TIDE_MSGPACK_UNSIGNED, 0, 8},
    [0xD0 - FIRST_FORM] = {TIDE_MSGPACK_SIGNED, 0, 1},     [0xD1 - FIRST_FORM] = {TIDE_MSGPACK_SIGNED, 0, 2},
    [0xD2 - FIRST_FORM] = {TIDE_MSGPACK_SIGNED, 0, 4},     [0xD3 - FIRST_FORM] = {TIDE_MSGPACK_SIGNED, 0, 8},
    [0xD4 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 0, 2},  [0xD5 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 0, 3},
    [0xD6 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 0, 5},  [0xD7 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 0, 9},
    [0xD8 - FIRST_FORM] = {TIDE_MSGPACK_EXTENSION, 0, 17}, [0xD9 - FIRST_FORM] = {TIDE_MSGPACK_TEXT, 1, 0},
    [0xDA - FIRST_FORM] = {TIDE_MSGPACK_TEXT, 2, 0},       [0xDB - FIRST_FORM] = {TIDE_MSGPACK_TEXT, 4, 0},
    [0xDC - FIRST_FORM] = {TIDE_MSGPACK_ARRAY, 2, 0},      [0xDD - FIRST_FORM] = {TIDE_MSGPACK_ARRAY, 4, 0},
    [0xDE - FIRST_FORM] = {TIDE_MSGPACK_MAP, 2, 0},        [0xDF - FIRST_FORM] = {TIDE_MSGPACK_MAP, 4, 0},
};

static guint64
big_endian(const guint8 *bytes, gsize n)
{
  guint64 number = 0;
  for (gsize i = 0; i < n; i++)
    number = number << 8 | bytes[i];
  return number;
}

static gsize
set_value(TideMsgpackValue *value, TideMsgpackKind kind, guint64 number, gsize len)
{
  value->kind = kind;
  value->number = number;
  value->n_inner = (guint32)number;
  return len;
}

static gsize
set_bytes(TideMsgpackValue *value, TideMsgpackKind kind, TideBytes all, gsize start, guint64 len)
{
  if (len > all.len - start)
    return set_value(value, TIDE_MSGPACK_CUT, 0, 0);
  value->kind = kind;
  value->bytes = tide_bytes(all.data + start, (gsize)len);
  return start + (gsize)len;
}

static gsize
read_form(TideBytes bytes, TideMsgpackValue *value)
{
  guint8 byte = bytes.data[0];
  guint form = byte - (guint)FIRST_FORM;
  TideMsgpackKind kind = forms[form].kind;
  gsize n_size = forms[form].size_bytes, n_plain = forms[form].plain_bytes;
  if (kind == TIDE_MSGPACK_INVALID)
    return set_value(value, kind, 0, 0);
  if (bytes.len - 1 < n_size + n_plain) {
    /* An array that ends before its size lacks at least one element. */
    gboolean is_container = kind == TIDE_MSGPACK_ARRAY || kind == TIDE_MSGPACK_MAP;
    return is_container ? set_value(value, kind, 1, bytes.len) : set_value(value, TIDE_MSGPACK_CUT, 0, 0);
  }
  guint64 size = big_endian(bytes.data + 1, n_size);
  const guint8 *plain = bytes.data + 1 + n_size;
  switch (kind) {
  case TIDE_MSGPACK_TEXT:
  case TIDE_MSGPACK_BINARY:
    return set_bytes(value, kind, bytes, 1 + n_size, size);
  case TIDE_MSGPACK_EXTENSION: {
    gsize taken = set_bytes(value, kind, bytes, 1 + n_size + 1, n_size > 0 ? size : n_plain - 1);
    value->type = *plain;
    return taken;
  }
  case TIDE_MSGPACK_ARRAY:
  case TIDE_MSGPACK_MAP:
    return set_value(value, kind, size, 1 + n_size);
  case TIDE_MSGPACK_SIGNED: {
    guint n_unused_bits = (guint)(8 * (sizeof(guint64) - n_plain));
    gint64 number = (gint64)(big_endian(plain, n_plain) << n_unused_bits) >> n_unused_bits;
    return set_value(value, kind, (guint64)number, 1 + n_plain);
  }
  default:
    return set_value(value, kind, n_plain > 0 ? big_endian(plain, n_plain) : byte & 1, 1 + n_plain);
  }
}

gsize
tide_msgpack_value_read(TideBytes bytes, TideMsgpackValue *ret_value)
{
  if (bytes.len == 0)
    return set_value(ret_value, TIDE_MSGPACK_CUT, 0, 0);
  guint8 byte = bytes.data[0];
  if (byte < 0x80)
    return set_value(ret_value, TIDE_MSGPACK_UNSIGNED, byte, 1);
  if (byte < 0x90)
    return set_value(ret_value, TIDE_MSGPACK_MAP, byte & 0x0F, 1);
  if (byte < TIDE_MSGPACK_SHORT_TEXT)
    return set_value(ret_value, TIDE_MSGPACK_ARRAY, byte & 0x0F, 1);
  if (byte < FIRST_FORM)
    return set_bytes(ret_value, TIDE_MSGPACK_TEXT, bytes, 1, byte & 0x1F);
  if (byte < 0xE0)
    return read_form(bytes, ret_value);
  return set_value(ret_value, TIDE_MSGPACK_SIGNED, (guint64)(gint64)(gint8)byte, 1);
}

/* ---- whole values, only checked ---- */

typedef struct Pass {
  TideBytes bytes;
  gsize at;
  gboolean is_cut;
  GError **error;
} Pass;

static gboolean
fail(const Pass *pass, const char *what)
{
  return tide_fail(pass->error, TIDE_ERROR_DATA, "%s, at byte %" G_GSIZE_FORMAT, what, pass->at);
}

/* Skips the head of a value: @ret_n_inner values follow. */
static gboolean
pass_head(Pass *pass, TideMsgpackValue *ret_value, guint64 *ret_n_inner)
{
  TideBytes rest = tide_bytes(pass->bytes.data + pass->at, pass->bytes.len - pass->at);
  pass->at += tide_msgpack_value_read(rest, ret_value);
  *ret_n_inner = ret_value->kind == TIDE_MSGPACK_ARRAY ? ret_value->n_inner
                 : ret_value->kind == TIDE_MSGPACK_MAP ? (guint64)ret_value->n_inner * 2
                                                       : 0;
  pass->is_cut = ret_value->kind == TIDE_MSGPACK_CUT;
  if (pass->is_cut)
    return fail(pass, "it ends within a value");
  return ret_value->kind != TIDE_MSGPACK_INVALID || fail(pass, "it has a byte that cannot begin a value");
}

/* Skips @n consecutive values. The depth limits the recursion. */
static gboolean
pass_values(Pass *pass, guint64 n, guint depth_left)
{
  TideMsgpackValue value = {0};
  guint64 n_inner;
  if (n > 0 && depth_left == 0)
    return fail(pass, "it is nested too deeply");
  for (; n > 0; n--)
    if (!pass_head(pass, &value, &n_inner) || !pass_values(pass, n_inner, depth_left - 1))
      return FALSE;
  return TRUE;
}

gboolean
tide_msgpack_check_map(TideBytes value, TideMsgpackLimits limits, GError **error)
{
  Pass pass = {.bytes = value, .error = error};
  TideMsgpackValue map = {0};
  guint64 n_inner;
  if (value.len > 0 && !pass_head(&pass, &map, &n_inner))
    return FALSE;
  if (value.len == 0 || map.kind != TIDE_MSGPACK_MAP) {
    pass.at = 0;
    return fail(&pass, "it does not begin as a map");
  }
  if (map.n_inner > limits.max_members)
    return fail(&pass, "it has too many members");
  if (!pass_values(&pass, n_inner, limits.max_depth))
    return FALSE;
  return pass.at == value.len || fail(&pass, "there are bytes after the map");
}

gboolean
tide_msgpack_length(TideBytes bytes, gsize *ret_len, GError **error)
{
  g_autoptr(GError) problem = NULL;
  Pass pass = {.bytes = bytes, .error = &problem};
  gboolean is_whole = pass_values(&pass, 1, MAX_DEPTH);
  *ret_len = is_whole ? pass.at : 0;
  if (is_whole || pass.is_cut)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&problem));
  return FALSE;
}
