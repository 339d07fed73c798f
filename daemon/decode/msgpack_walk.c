/* Reads a message in MessagePack, in one pass. Nothing is allocated, and no length is trusted.
 *
 * The message is one map, an array of maps, or maps one after the other. Names are texts or integers; the digits of an
 * integer are the name. A member becomes a field by its kind:
 *
 *     text               STRING   must be UTF-8
 *     binary             STRING   in hex, lower case
 *     integer, float     NUMBER   a float in the shortest exact form; a NUMBER fault if not finite
 *     timestamp          NUMBER   seconds since 1970, a fraction with nine decimals; also Fluentd's EventTime (type 0,
 *                                 8 bytes)
 *     other extensions            a TYPE fault
 *     boolean, nil, map  as in JSON
 *     array              as declared, its text as JSON
 *
 * With TIDE_BAD_READING_ALONE a reading has the same faults of its own as in JSON, and UTF8. */
#include "decode/formats.h"

#include "decode/layout.h"
#include "decode/msgpack_value.h"
#include "model/value_text.h"

/* The timestamp extension, -1; and Fluentd's EventTime, seconds and nanoseconds of 4 bytes each. */
#define TIMESTAMP_TYPE 0xFF
#define EVENT_TIME_TYPE 0
#define EVENT_TIME_BYTES 8

typedef struct Walk {
  gsize at; /* its position */
  TideShaper *shaper;
  TideBytes message; /* a copy in scratch */
} Walk;

static gboolean
reject(Walk *walk, gsize place, TideBytes field, const char *detail)
{
  return tide_shaper_reject(walk->shaper, TIDE_REJECT_PARSE, place, field, detail);
}

static gboolean
reject_cut(Walk *walk, TideBytes field)
{
  return reject(walk, walk->message.len, field, "the message is truncated");
}

/* ---- values ---- */

static G_GNUC_NO_INLINE gboolean
take_other_head(Walk *walk, TideBytes field, TideMsgpackValue *value)
{
  TideBytes rest = tide_bytes(walk->message.data + walk->at, walk->message.len - walk->at);
  walk->at += tide_msgpack_value_read(rest, value);
  if (value->kind == TIDE_MSGPACK_CUT)
    return reject_cut(walk, field);
  return value->kind != TIDE_MSGPACK_INVALID || reject(walk, walk->at, field, "a byte that cannot begin a value");
}

/* Reads the head of the next value. FALSE: it is invalid. Short texts and doubles, which are most of a reading, need no
 * call. */
static inline gboolean
take_head(Walk *walk, TideBytes field, TideMsgpackValue *value)
{
  const guint8 *data = walk->message.data + walk->at;
  gsize left = walk->message.len - walk->at;
  if (G_UNLIKELY(left <= sizeof(double)))
    return take_other_head(walk, field, value);
  gsize len = data[0] & 0x1Fu;
  if ((data[0] & 0xE0) == TIDE_MSGPACK_SHORT_TEXT && len < left) {
    value->kind = TIDE_MSGPACK_TEXT;
    value->bytes = tide_bytes(data + 1, len);
    walk->at += 1 + len;
    return TRUE;
  }
  if (data[0] == TIDE_MSGPACK_DOUBLE_BYTE) {
    value->kind = TIDE_MSGPACK_DOUBLE;
    value->number = GUINT64_FROM_BE(tide_load_u64(data + 1));
    walk->at += 1 + sizeof(double);
    return TRUE;
  }
  return take_other_head(walk, field, value);
}

static gboolean
add_time(Walk *walk, gsize place, TideBytes name, const TideMsgpackValue *value)
{
  TideBytes bytes = value->bytes;
  guint64 number = 0, ns = 0;
  gboolean is_event_time = value->type == EVENT_TIME_TYPE && bytes.len == EVENT_TIME_BYTES;
  gboolean is_time =
      is_event_time || (value->type == TIMESTAMP_TYPE && (bytes.len == 4 || bytes.len == 8 || bytes.len == 12));
  gsize n_ns = is_event_time || bytes.len == 12 ? 4 : 0; /* else nanoseconds and seconds share a word */
  gsize first_ns = is_event_time ? 4 : 0;
  for (gsize i = 0; is_time && i < bytes.len; i++)
    if (i - first_ns < n_ns)
      ns = ns << 8 | bytes.data[i];
    else
      number = number << 8 | bytes.data[i];
  if (n_ns == 0) {
    ns = number >> 34; /* 0 with 4 bytes */
    number &= G_GUINT64_CONSTANT(0x3FFFFFFFF);
  }
  if (!is_time || ns > 999999999)
    return tide_shaper_bad_value(walk->shaper, TIDE_REJECT_TYPE, place, name, "an extension that is not a timestamp");
  return tide_shaper_add_time(walk->shaper, place, name, (gint64)number, (guint32)ns);
}

/* Adds a scalar that began at @place and has been read. */
static inline gboolean
add_scalar(Walk *walk, gsize place, TideBytes name, const TideMsgpackValue *value)
{
  TideShaper *shaper = walk->shaper;
  switch (value->kind) {
  case TIDE_MSGPACK_NIL:
    return tide_shaper_add(shaper, place, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
  case TIDE_MSGPACK_BOOLEAN:
    return tide_shaper_add_boolean(shaper, place, name, value->number != 0);
  case TIDE_MSGPACK_UNSIGNED:
  case TIDE_MSGPACK_SIGNED:
    return tide_shaper_add_integer(shaper, place, name, value->number, value->kind == TIDE_MSGPACK_SIGNED);
  case TIDE_MSGPACK_FLOAT:
    return tide_shaper_add_float(shaper, place, name, place, value->number, FALSE);
  case TIDE_MSGPACK_DOUBLE:
    return tide_shaper_add_float(shaper, place, name, place, value->number, TRUE);
  case TIDE_MSGPACK_BINARY:
    return tide_shaper_add(shaper, place, name, TIDE_VALUE_STRING, tide_hex_text(shaper->scratch, value->bytes));
  case TIDE_MSGPACK_TEXT:
    return tide_shaper_add_text(shaper, place, name, (gsize)(value->bytes.data - walk->message.data), value->bytes);
  case TIDE_MSGPACK_EXTENSION:
    return add_time(walk, place, name, value);
  default:
    g_assert_not_reached();
  }
}

/* ---- members ---- */

static inline gboolean
take_value(gpointer reader, TideBytes name)
{
  Walk *walk = reader;
  TideMsgpackValue value;
  gsize place = walk->at;
  if (!take_head(walk, name, &value))
    return FALSE;
  if (G_LIKELY(value.kind < TIDE_MSGPACK_ARRAY))
    return add_scalar(walk, place, name, &value);
  if (!tide_shaper_begin(walk->shaper, place, name, value.kind == TIDE_MSGPACK_MAP))
    return FALSE;
  tide_shaper_top(walk->shaper)->n_left = value.n_inner;
  return TRUE;
}

static inline gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  TideMsgpackValue value;
  gsize place = walk->at;
  gboolean is_good;
  if (!take_head(walk, TIDE_BYTES_EMPTY, &value))
    return FALSE;
  if (value.kind == TIDE_MSGPACK_UNSIGNED || value.kind == TIDE_MSGPACK_SIGNED) {
    char *room = (char *)tide_scratch_take(walk->shaper->scratch, TIDE_VALUE_TEXT_BYTES);
    *ret_name = value.kind == TIDE_MSGPACK_SIGNED ? tide_signed_text(room, (gint64)value.number)
                                                  : tide_integer_text(room, value.number, FALSE);
    tide_shaper_name(walk->shaper, *ret_name);
    return TRUE;
  }
  if (value.kind != TIDE_MSGPACK_TEXT)
    return reject(walk, place, TIDE_BYTES_EMPTY, "the name of a member is neither a text nor an integer");
  *ret_name = value.bytes;
  place = (gsize)(value.bytes.data - walk->message.data);
  if (!tide_shaper_check_utf8(walk->shaper, place, TIDE_BYTES_EMPTY, value.bytes, &is_good))
    return FALSE;
  tide_shaper_name(walk->shaper, value.bytes);
  return TRUE;
}

/* Advances to the next member of the innermost map or array, or closes it. */
static inline gboolean
next_member(gpointer reader, gboolean *ret_has, TideBytes *ret_name)
{
  Walk *walk = reader;
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  *ret_has = frame->n_left > 0;
  if (!*ret_has)
    return tide_shaper_end(walk->shaper, walk->at);
  frame->n_left--;
  if (frame->is_object)
    return take_name(walk, ret_name);
  *ret_name = tide_shaper_next_element(walk->shaper);
  return TRUE;
}

static gboolean
take_members(gpointer reader, guint32 depth)
{
  return tide_shaper_take_members(((Walk *)reader)->shaper, reader, depth, next_member, take_value);
}

/* ---- values around readings ---- */

static gboolean
peek(gpointer reader, TideNextValue *ret_next, gsize *ret_place)
{
  const Walk *walk = reader;
  *ret_place = walk->at;
  if (walk->at == walk->message.len) {
    *ret_next = TIDE_NEXT_NONE;
    return TRUE;
  }
  guint8 byte = walk->message.data[walk->at];
  *ret_next = (byte & 0xF0) == 0x80 || byte == 0xDE || byte == 0xDF   ? TIDE_NEXT_OBJECT
              : (byte & 0xF0) == 0x90 || byte == 0xDC || byte == 0xDD ? TIDE_NEXT_LIST
              : byte == 0xC0                                          ? TIDE_NEXT_NULL
                                                                      : TIDE_NEXT_SCALAR;
  return TRUE;
}

static gboolean
begin_around(gpointer reader)
{
  Walk *walk = reader;
  TideMsgpackValue value;
  gsize place = walk->at;
  if (!take_head(walk, TIDE_BYTES_EMPTY, &value) ||
      !tide_shaper_push(walk->shaper, place, TIDE_BYTES_EMPTY, value.kind == TIDE_MSGPACK_MAP))
    return FALSE;
  tide_shaper_top(walk->shaper)->n_left = value.n_inner;
  return TRUE;
}

static gboolean
reject_instead_of(gpointer reader, TideNextValue wanted)
{
  Walk *walk = reader;
  if (walk->at == walk->message.len)
    return reject_cut(walk, TIDE_BYTES_EMPTY);
  return reject(walk, walk->at, TIDE_BYTES_EMPTY,
                wanted == TIDE_NEXT_LIST ? "an array of readings was expected" : "a map was expected");
}

/* Skips a value; in a container only the heads are examined. */
static gboolean
pass(gpointer reader)
{
  Walk *walk = reader;
  for (guint64 n_left = 1; n_left > 0; n_left--) {
    TideMsgpackValue value;
    if (!take_head(walk, TIDE_BYTES_EMPTY, &value))
      return FALSE;
    if (value.kind >= TIDE_MSGPACK_ARRAY)
      n_left += value.kind == TIDE_MSGPACK_MAP ? 2 * (guint64)value.n_inner : value.n_inner;
  }
  return TRUE;
}

static gboolean
is_last(gpointer reader)
{
  return tide_shaper_top(((Walk *)reader)->shaper)->n_left == 0;
}

static gboolean
take_reading(gpointer reader)
{
  const Walk *walk = reader;
  gsize place;
  TideNextValue next;
  peek(reader, &next, &place);
  return next == TIDE_NEXT_OBJECT ? tide_layout_take_reading(walk->shaper, place)
                                  : reject_instead_of(reader, TIDE_NEXT_OBJECT);
}

static const TideReaderCalls calls = {
    .peek = peek,
    .begin = begin_around,
    .next = next_member,
    .take = take_value,
    .take_members = take_members,
    .take_reading = take_reading,
    .reject_instead_of = reject_instead_of,
    .pass = pass,
    .is_last = is_last,
    .place_bytes = sizeof(((Walk *)NULL)->at),
    .detail_behind = "bytes after the array",
};

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  Walk walk = {.shaper = shaper, .message = tide_scratch_copy(shaper->scratch, message)};
  tide_shaper_begin_message(shaper, ret_reject, NULL, 0);
  return tide_layout_run(shaper, &calls, &walk);
}

const TideFormatReader tide_msgpack_reader = {.read = read_message};
