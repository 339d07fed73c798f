#include "bench/put_skipper.h"

#include "fault/gateway/fake_wire.h"

#define MAX_DEPTH 16
#define MAX_FRAME_BYTES (64 * 1024 * 1024)

/* Reading position. Running out of bytes and meeting nonsense both end a step; they are told apart by the flags. */
typedef struct TideCursor {
  const guint8 *at;
  const guint8 *end;
  gboolean compact;
  gboolean is_short;
  gboolean is_broken;
} TideCursor;

static inline gboolean
stopped(const TideCursor *cursor)
{
  return cursor->is_short || cursor->is_broken;
}

/* Past the end there are only zeroes, which say nothing about the stream. */
static inline void
mark_broken(TideCursor *cursor)
{
  if (!cursor->is_short)
    cursor->is_broken = TRUE;
}

static inline const guint8 *
take(TideCursor *cursor, gsize len)
{
  static const guint8 zeroes[8];
  if (G_UNLIKELY((gsize)(cursor->end - cursor->at) < len)) {
    cursor->is_short = TRUE;
    cursor->at = cursor->end;
    return zeroes; /* whoever asks for more than 8 bytes only skips them */
  }
  const guint8 *bytes = cursor->at;
  cursor->at += len;
  return bytes;
}

static inline guint8
take_byte(TideCursor *cursor)
{
  return *take(cursor, 1);
}

static inline guint32
take_u32(TideCursor *cursor)
{
  guint32 value;
  memcpy(&value, take(cursor, sizeof value), sizeof value);
  return GUINT32_FROM_BE(value);
}

static inline guint64
take_varint(TideCursor *cursor)
{
  guint64 value = 0;
  for (guint shift = 0; shift < 64; shift += 7) {
    guint8 byte = take_byte(cursor);
    value |= (guint64)(byte & 0x7f) << shift;
    if (G_LIKELY((byte & 0x80) == 0))
      return value;
  }
  mark_broken(cursor);
  return 0;
}

static inline guint32
take_size(TideCursor *cursor)
{
  guint64 size = cursor->compact ? take_varint(cursor) : take_u32(cursor);
  if (G_UNLIKELY(size > G_MAXINT32)) {
    mark_broken(cursor);
    return 0;
  }
  return (guint32)size;
}

static inline void
skip_binary_field(TideCursor *cursor)
{
  take(cursor, take_size(cursor));
}

/* Compact's type ids as the binary protocol's. */
static TideFakeType
type_of_compact(TideCursor *cursor, guint8 type)
{
  static const guint8 types[] = {TIDE_FAKE_STOP, TIDE_FAKE_BOOL, TIDE_FAKE_BOOL,   TIDE_FAKE_BYTE,   TIDE_FAKE_I16,
                                 TIDE_FAKE_I32,  TIDE_FAKE_I64,  TIDE_FAKE_DOUBLE, TIDE_FAKE_BINARY, TIDE_FAKE_LIST,
                                 TIDE_FAKE_SET,  TIDE_FAKE_MAP,  TIDE_FAKE_STRUCT};
  if (type < G_N_ELEMENTS(types))
    return (TideFakeType)types[type];
  mark_broken(cursor);
  return TIDE_FAKE_STOP;
}

static void skip_value(TideCursor *cursor, TideFakeType type, guint depth);

static void
skip_list(TideCursor *cursor, guint depth)
{
  guint8 head = take_byte(cursor);
  TideFakeType element = cursor->compact ? type_of_compact(cursor, head & 0x0f) : (TideFakeType)head;
  guint32 n = cursor->compact && head >> 4 != 15 ? head >> 4 : take_size(cursor);
  for (guint32 i = 0; i < n && !stopped(cursor); i++)
    skip_value(cursor, element, depth);
}

static void
skip_map(TideCursor *cursor, guint depth)
{
  TideFakeType key = TIDE_FAKE_STOP, value = TIDE_FAKE_STOP;
  guint32 n = 0;
  if (cursor->compact) {
    n = take_size(cursor);
    guint8 types = n > 0 ? take_byte(cursor) : 0;
    key = type_of_compact(cursor, types >> 4);
    value = type_of_compact(cursor, types & 0x0f);
  } else {
    key = (TideFakeType)take_byte(cursor);
    value = (TideFakeType)take_byte(cursor);
    n = take_u32(cursor);
  }
  for (guint32 i = 0; i < n && !stopped(cursor); i++) {
    skip_value(cursor, key, depth);
    skip_value(cursor, value, depth);
  }
}

/* A field's head and, for compact's bools, its value. STOP at the struct's end. */
static inline TideFakeType
take_field(TideCursor *cursor, gint16 *last_id, gboolean *ret_is_bool)
{
  guint8 head = take_byte(cursor);
  *ret_is_bool = FALSE;
  if (!cursor->compact) {
    if (head != TIDE_FAKE_STOP) {
      const guint8 *id = take(cursor, 2);
      *last_id = (gint16)(id[0] << 8 | id[1]);
    }
    return (TideFakeType)head;
  }
  if (head == 0)
    return TIDE_FAKE_STOP;
  if (head >> 4 != 0) {
    *last_id = (gint16)(*last_id + (head >> 4));
  } else {
    guint64 id = take_varint(cursor);
    *last_id = (gint16)((gint64)(id >> 1) ^ -(gint64)(id & 1));
  }
  *ret_is_bool = (head & 0x0f) == 1 || (head & 0x0f) == 2;
  return type_of_compact(cursor, head & 0x0f);
}

static void
skip_struct(TideCursor *cursor, guint depth)
{
  gint16 id = 0;
  while (!stopped(cursor)) {
    gboolean is_bool;
    TideFakeType type = take_field(cursor, &id, &is_bool);
    if (type == TIDE_FAKE_STOP)
      return;
    if (G_LIKELY(type == TIDE_FAKE_BINARY))
      skip_binary_field(cursor);
    else if (!is_bool)
      skip_value(cursor, type, depth);
  }
}

static void
skip_value(TideCursor *cursor, TideFakeType type, guint depth)
{
  if (depth == 0) {
    mark_broken(cursor);
    return;
  }
  switch (type) {
  case TIDE_FAKE_BOOL:
  case TIDE_FAKE_BYTE:
    take(cursor, 1);
    return;
  case TIDE_FAKE_I16:
  case TIDE_FAKE_I32:
  case TIDE_FAKE_I64:
    if (cursor->compact)
      take_varint(cursor);
    else
      take(cursor, type == TIDE_FAKE_I16 ? 2 : type == TIDE_FAKE_I32 ? 4 : 8);
    return;
  case TIDE_FAKE_DOUBLE:
    take(cursor, 8);
    return;
  case TIDE_FAKE_BINARY:
    skip_binary_field(cursor);
    return;
  case TIDE_FAKE_STRUCT:
    skip_struct(cursor, depth - 1);
    return;
  case TIDE_FAKE_MAP:
    skip_map(cursor, depth - 1);
    return;
  case TIDE_FAKE_SET:
  case TIDE_FAKE_LIST:
    skip_list(cursor, depth - 1);
    return;
  case TIDE_FAKE_STOP:
    break;
  }
  mark_broken(cursor);
}

/* The message's head; TRUE when it is a putMultiple. */
static gboolean
take_head(TideCursor *cursor, gint32 *ret_sequence_id)
{
  if (cursor->compact) {
    if (take_byte(cursor) != 0x82)
      mark_broken(cursor);
    take_byte(cursor);
    *ret_sequence_id = (gint32)take_varint(cursor);
  } else if ((take_u32(cursor) & 0xffff0000u) != 0x80010000u) {
    mark_broken(cursor);
  }
  guint32 len = take_size(cursor);
  const guint8 *name = take(cursor, len);
  gboolean is_put = !stopped(cursor) && len == strlen("putMultiple") && memcmp(name, "putMultiple", len) == 0;
  if (!cursor->compact)
    *ret_sequence_id = (gint32)take_u32(cursor);
  return is_put;
}

/* From the arguments' begin up to the first put; the number of puts. */
static guint32
take_puts_head(TideCursor *cursor)
{
  gint16 id = 0;
  gboolean is_bool;
  while (!stopped(cursor)) {
    TideFakeType type = take_field(cursor, &id, &is_bool);
    if (type == TIDE_FAKE_LIST && id == 2) {
      guint8 head = take_byte(cursor);
      return cursor->compact && head >> 4 != 15 ? head >> 4 : take_size(cursor);
    }
    if (type == TIDE_FAKE_STOP) {
      mark_broken(cursor); /* no puts: neither a list to skip nor one to answer */
      return 0;
    }
    if (!is_bool)
      skip_value(cursor, type, MAX_DEPTH);
  }
  return 0;
}

static TideCursor
cursor_over(const TidePutSkipper *skipper, TideBytes bytes)
{
  return (TideCursor){.at = bytes.data, .end = bytes.data + bytes.len, .compact = skipper->compact};
}

static TideBytes
after(TideBytes bytes, gsize len)
{
  return tide_bytes(bytes.data + len, bytes.len - len);
}

static TideSkipEvent
event_of(const TideCursor *cursor)
{
  return cursor->is_broken ? TIDE_SKIP_BROKEN : TIDE_SKIP_NEED_MORE;
}

/* An unframed call from its first byte. */
static TideSkipEvent
begin_call(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed, TideBytes *ret_call)
{
  TideCursor cursor = cursor_over(skipper, input);
  gboolean is_put = take_head(&cursor, &skipper->sequence_id);
  if (is_put)
    skipper->rows_left = take_puts_head(&cursor);
  else
    skip_struct(&cursor, MAX_DEPTH);
  if (stopped(&cursor))
    return event_of(&cursor);
  *ret_consumed = (gsize)(cursor.at - input.data);
  if (!is_put) {
    *ret_call = tide_bytes(input.data, *ret_consumed);
    return TIDE_SKIP_OTHER;
  }
  skipper->n_rows += skipper->rows_left;
  skipper->state = TIDE_SKIP_ROWS;
  return TIDE_SKIP_NEED_MORE;
}

static TideSkipEvent
skip_rows(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed)
{
  TideCursor cursor = cursor_over(skipper, input);
  while (skipper->rows_left > 0) {
    skip_struct(&cursor, MAX_DEPTH);
    if (stopped(&cursor))
      return event_of(&cursor);
    *ret_consumed = (gsize)(cursor.at - input.data);
    skipper->rows_left--;
  }
  skipper->state = TIDE_SKIP_TAIL;
  return TIDE_SKIP_NEED_MORE;
}

static TideSkipEvent
end_call(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed)
{
  TideCursor cursor = cursor_over(skipper, input);
  skip_struct(&cursor, MAX_DEPTH);
  if (stopped(&cursor))
    return event_of(&cursor);
  *ret_consumed = (gsize)(cursor.at - input.data);
  skipper->state = TIDE_SKIP_HEAD;
  skipper->n_calls++;
  return TIDE_SKIP_PUTS;
}

/* A framed call: of a putMultiple only the head is looked at. */
static TideSkipEvent
begin_frame(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed, TideBytes *ret_call)
{
  TideCursor frame = cursor_over(skipper, input);
  guint32 len = take_u32(&frame);
  if (frame.is_short)
    return TIDE_SKIP_NEED_MORE;
  if (len > MAX_FRAME_BYTES)
    return TIDE_SKIP_BROKEN;
  TideBytes body = after(input, sizeof len);
  gboolean is_whole = body.len >= len;
  body.len = MIN(body.len, len);
  TideCursor cursor = cursor_over(skipper, body);
  gboolean is_put = take_head(&cursor, &skipper->sequence_id);
  guint32 n_rows = is_put ? take_puts_head(&cursor) : 0;
  if (stopped(&cursor))
    return is_whole ? TIDE_SKIP_BROKEN : event_of(&cursor);
  if (is_put) {
    skipper->n_rows += n_rows;
    skipper->frame_left = len;
    skipper->state = TIDE_SKIP_FRAME;
    *ret_consumed = sizeof len;
    return TIDE_SKIP_NEED_MORE;
  }
  if (!is_whole)
    return TIDE_SKIP_NEED_MORE;
  *ret_call = body;
  *ret_consumed = sizeof len + len;
  return TIDE_SKIP_OTHER;
}

static TideSkipEvent
skip_frame(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed)
{
  gsize n = MIN(input.len, skipper->frame_left);
  *ret_consumed = n;
  skipper->frame_left -= n;
  if (skipper->frame_left > 0)
    return TIDE_SKIP_NEED_MORE;
  skipper->state = TIDE_SKIP_HEAD;
  skipper->n_calls++;
  return TIDE_SKIP_PUTS;
}

static TideSkipEvent
step_state(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed, TideBytes *ret_call)
{
  switch (skipper->state) {
  case TIDE_SKIP_HEAD:
    return skipper->framed ? begin_frame(skipper, input, ret_consumed, ret_call)
                           : begin_call(skipper, input, ret_consumed, ret_call);
  case TIDE_SKIP_ROWS:
    return skip_rows(skipper, input, ret_consumed);
  case TIDE_SKIP_TAIL:
    return end_call(skipper, input, ret_consumed);
  case TIDE_SKIP_FRAME:
    return skip_frame(skipper, input, ret_consumed);
  }
  g_assert_not_reached();
}

TideSkipEvent
tide_put_skipper_step(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed, TideBytes *ret_call)
{
  *ret_consumed = 0;
  for (;;) {
    gsize consumed = 0;
    TideSkipState state = skipper->state;
    TideSkipEvent event = step_state(skipper, after(input, *ret_consumed), &consumed, ret_call);
    *ret_consumed += consumed;
    if (event != TIDE_SKIP_NEED_MORE || skipper->state == state)
      return event;
  }
}
