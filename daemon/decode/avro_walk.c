/* Reads the readings out of a message in Avro's binary encoding, by the schema that it was written with. No length or
 * number of elements is trusted: nothing is taken for one before its bytes are there, and what takes no bytes is
 * counted.
 *
 * The message is a record, or an array of records; a union counts as what it holds. A field becomes one by its type:
 *
 *     string             STRING   must be UTF-8
 *     enum               STRING   its symbol
 *     bytes, fixed       STRING   in hex, lower case: its bytes are any
 *     int, long          NUMBER
 *     float, double      NUMBER   as short as it can be to be read back; one that is not finite is a NUMBER fault
 *     decimal            NUMBER   exactly, with as many digits behind the point as its scale, up to 64 bytes in all
 *     timestamp, time    NUMBER   seconds, since 1970 or midnight, with all digits of its unit behind the point where
 *                                 it has a fraction: whatever the unit, and a local timestamp as if it were UTC's
 *     date               STRING   2015-03-16; outside of the years 1 to 9999 a NUMBER fault
 *     boolean, null      as in JSON
 *     record, map        as JSON's objects
 *     array              as declared, its text as JSON
 *     union              as what it holds
 *
 * With TIDE_BAD_READING_ALONE the faults of JSON that are the reading's own are so here, and UTF8 too. */
#include "decode/readers.h"

#include "model/value_text.h"
#include "util/calendar.h"

#include <math.h>

/* Of a decimal: the greatest that have so many digits and a sign are shorter. */
#define DECIMAL_MAX_BYTES 27

/* A varint has seven bits a byte. */
#define LONG_MAX_BYTES 10

typedef struct Walk {
  TideShaper *shaper;
  const TideAvroSchema *schema;
  TideBytes message; /* a copy in scratch */
  gsize at;
  guint64 n_empty;   /* values that took no bytes */
  gboolean is_begun; /* the message's one value */

  /* the value that comes next */
  guint32 type;             /* the place of its node */
  gsize place;              /* where it begins */
  const TideAvroNode *node; /* the type that it has, where it is a union's; NULL: that was not read yet */
} Walk;

/* ---- faults ---- */

static gboolean
fault(Walk *walk, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  return tide_shaper_reject(walk->shaper, reason, place, field, detail);
}

static gboolean
fault_cut(Walk *walk, TideBytes field)
{
  return fault(walk, TIDE_REJECT_PARSE, walk->message.len, field, "the message ends in the middle");
}

/* After a value, or an element: those without bytes are counted, for an array of them can be as long as it says. */
static gboolean
check_progress(Walk *walk, gsize place)
{
  if (G_LIKELY(walk->at > place) || ++walk->n_empty <= walk->message.len + walk->shaper->options->max_fields)
    return TRUE;
  return fault(walk, TIDE_REJECT_TOO_LARGE, place, TIDE_BYTES_EMPTY, "too many values that take no bytes");
}

/* ---- bytes of the message ---- */

static inline const TideAvroNode *
node_at(Walk *walk, guint32 place)
{
  return &walk->schema->nodes[place];
}

static inline const TideAvroMember *
member_at(Walk *walk, const TideAvroNode *node, guint32 index)
{
  return &walk->schema->members[node->first + index];
}

static inline gboolean
take_long(Walk *walk, TideBytes field, gint64 *ret_value)
{
  guint64 value = 0;
  gsize place = walk->at;
  for (guint i = 0; i < LONG_MAX_BYTES; i++) {
    if (walk->at == walk->message.len)
      return fault_cut(walk, field);
    guint8 byte = walk->message.data[walk->at++];
    if (i == LONG_MAX_BYTES - 1 && byte > 1)
      break;
    value |= (guint64)(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      *ret_value = (gint64)((value >> 1) ^ (0 - (value & 1)));
      return TRUE;
    }
  }
  return fault(walk, TIDE_REJECT_PARSE, place, field, "an integer of more than 64 bits");
}

/* Which of @n: of a union's types, or of an enum's symbols. */
static gboolean
take_choice(Walk *walk, TideBytes field, guint32 n, const char *fault_text, guint32 *ret_choice)
{
  gint64 choice;
  gsize place = walk->at;
  if (!take_long(walk, field, &choice))
    return FALSE;
  *ret_choice = (guint32)choice;
  return (choice >= 0 && choice < n) || fault(walk, TIDE_REJECT_PARSE, place, field, fault_text);
}

static gboolean
take_bytes(Walk *walk, TideBytes field, guint64 len, TideBytes *ret_bytes)
{
  if (walk->message.len - walk->at < len)
    return fault_cut(walk, field);
  *ret_bytes = tide_bytes(walk->message.data + walk->at, (gsize)len);
  walk->at += (gsize)len;
  return TRUE;
}

/* A length, and as many bytes. */
static gboolean
take_run(Walk *walk, TideBytes field, TideBytes *ret_bytes)
{
  gint64 len;
  gsize place = walk->at;
  if (!take_long(walk, field, &len))
    return FALSE;
  if (len < 0)
    return fault(walk, TIDE_REJECT_PARSE, place, field, "a length below zero");
  return take_bytes(walk, field, (guint64)len, ret_bytes);
}

/* The head of an array's or map's next block; 0 elements: it has ended. */
static gboolean
take_block(Walk *walk, TideBytes field, guint64 *ret_n)
{
  gint64 n, unused;
  gsize place = walk->at;
  if (!take_long(walk, field, &n))
    return FALSE;
  *ret_n = n < 0 ? (guint64)0 - (guint64)n : (guint64)n;
  /* Its bytes follow, for those who pass over it; we do not, so whether they are right is told by what they hold. */
  return n >= 0 || (take_long(walk, field, &unused) &&
                    (unused >= 0 || fault(walk, TIDE_REJECT_PARSE, place, field, "a block of less than no bytes")));
}

/* ---- texts of values, in @room ---- */

/* @digits: @n of them, of a number that has @scale behind the point. FALSE: it is too long. */
static gboolean
make_decimal(char room[TIDE_NUMBER_MAX_BYTES], gboolean is_negative, const char *digits, gsize n, guint32 scale,
             TideBytes *ret_text)
{
  gsize n_whole = n > scale ? n - scale : 0, len = 0;
  if ((is_negative ? 1 : 0) + MAX(n_whole, 1) + (scale > 0 ? 1 : 0) + scale > TIDE_NUMBER_MAX_BYTES)
    return FALSE;
  if (is_negative)
    room[len++] = '-';
  if (n_whole == 0)
    room[len++] = '0';
  memcpy(room + len, digits, n_whole);
  len += n_whole;
  if (scale > 0) {
    gsize n_zeros = n > scale ? 0 : scale - n;
    room[len++] = '.';
    memset(room + len, '0', n_zeros);
    memcpy(room + len + n_zeros, digits + n_whole, n - n_whole);
    len += scale;
  }
  *ret_text = tide_bytes(room, len);
  return TRUE;
}

/* A number of units of which 10^@scale are a second. */
static TideBytes
seconds_text(char room[TIDE_NUMBER_MAX_BYTES], gint64 units, guint32 scale)
{
  gint64 unit = scale == 3 ? 1000 : scale == 6 ? 1000000 : 1000000000;
  if (units % unit == 0)
    return tide_signed_text(room, units / unit);
  char magnitude[TIDE_VALUE_TEXT_BYTES];
  TideBytes digits = tide_integer_text(magnitude, units < 0 ? (guint64)0 - (guint64)units : (guint64)units, FALSE);
  TideBytes text = TIDE_BYTES_EMPTY;
  gboolean fits = make_decimal(room, units < 0, (const char *)digits.data, digits.len, scale, &text);
  g_assert(fits); /* 21 bytes at most */
  return text;
}

/* The digits of @bytes, a number in two's complement, backwards into @digits. Returns: how many. */
static gsize
digits_of(TideBytes bytes, gboolean is_negative, char digits[TIDE_NUMBER_MAX_BYTES + 2])
{
  guint8 magnitude[DECIMAL_MAX_BYTES];
  guint carry = is_negative ? 1 : 0;
  for (gsize i = bytes.len; i-- > 0;) {
    guint byte = (is_negative ? (guint)(guint8)~bytes.data[i] : bytes.data[i]) + carry;
    magnitude[i] = (guint8)byte;
    carry = byte >> 8;
  }
  /* What is negated is carried past the first byte only where all of it is 0, which is not negative. */
  gsize n = 0;
  gboolean is_zero;
  do {
    guint rest = 0;
    is_zero = TRUE;
    for (gsize i = 0; i < bytes.len; i++) {
      guint part = rest << 8 | magnitude[i];
      magnitude[i] = (guint8)(part / 10);
      rest = part % 10;
      is_zero = is_zero && magnitude[i] == 0;
    }
    digits[n++] = (char)('0' + rest);
  } while (!is_zero);
  return n;
}

/* FALSE: it is too long. */
static gboolean
make_big_decimal(char room[TIDE_NUMBER_MAX_BYTES], TideBytes bytes, guint32 scale, TideBytes *ret_text)
{
  gboolean is_negative = bytes.len > 0 && bytes.data[0] >= 0x80;
  char backwards[TIDE_NUMBER_MAX_BYTES + 2], digits[TIDE_NUMBER_MAX_BYTES + 2];
  /* What only repeats the sign. */
  while (bytes.len > 1 && bytes.data[0] == (is_negative ? 0xFF : 0) && (bytes.data[1] >= 0x80) == is_negative)
    bytes = tide_bytes(bytes.data + 1, bytes.len - 1);
  if (bytes.len > DECIMAL_MAX_BYTES)
    return FALSE;
  gsize n = digits_of(bytes, is_negative, backwards);
  for (gsize i = 0; i < n; i++)
    digits[i] = backwards[n - 1 - i];
  return make_decimal(room, is_negative, digits, n, scale, ret_text);
}

/* FALSE: the year has not four digits. */
static gboolean
make_date(char room[TIDE_NUMBER_MAX_BYTES], gint64 days, TideBytes *ret_text)
{
  int year, month, day;
  if (days < tide_days_of_date(1, 1, 1) || days > tide_days_of_date(9999, 12, 31))
    return FALSE;
  tide_date_of_days(days, &year, &month, &day);
  int len = g_snprintf(room, TIDE_NUMBER_MAX_BYTES, "%04d-%02d-%02d", year, month, day);
  *ret_text = tide_bytes(room, (gsize)len);
  return TRUE;
}

/* ---- scalars ---- */

static inline gboolean
add(Walk *walk, TideBytes name, TideValueKind kind, TideBytes text)
{
  return tide_shaper_add(walk->shaper, walk->place, name, kind, text);
}

static inline char *
number_room(Walk *walk, gsize n_bytes)
{
  return tide_shaper_number_room(walk->shaper, n_bytes);
}

static inline gboolean
add_integer(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  gint64 integer;
  gsize place = walk->at;
  TideBytes text;
  if (!take_long(walk, name, &integer))
    return FALSE;
  if (node->kind == TIDE_AVRO_INT && (integer < G_MININT32 || integer > G_MAXINT32))
    return fault(walk, TIDE_REJECT_PARSE, place, name, "an int of more than 32 bits");
  char *room = number_room(walk, TIDE_VALUE_TEXT_BYTES);
  if (node->logical == TIDE_AVRO_SECONDS)
    return add(walk, name, TIDE_VALUE_NUMBER, seconds_text(room, integer, node->scale));
  if (node->logical != TIDE_AVRO_DATE)
    return add(walk, name, TIDE_VALUE_NUMBER, tide_signed_text(room, integer));
  return make_date(room, integer, &text) ? add(walk, name, TIDE_VALUE_STRING, text)
                                         : tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, place, name,
                                                                 "a date outside of the years 1 to 9999");
}

static inline gboolean
add_float(Walk *walk, TideBytes name, gboolean is_double)
{
  gsize place = walk->at;
  TideBytes bytes, text;
  double value;
  float narrow = 0;
  if (!take_bytes(walk, name, is_double ? sizeof value : sizeof narrow, &bytes))
    return FALSE;
  if (is_double) {
    guint64 bits = GUINT64_FROM_LE(tide_load_u64(bytes.data));
    memcpy(&value, &bits, sizeof value);
  } else {
    guint32 bits = GUINT32_FROM_LE(tide_load_u32(bytes.data));
    memcpy(&narrow, &bits, sizeof narrow);
    value = (double)narrow;
  }
  if (!isfinite(value))
    return tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, place, name, "not a finite number");
  char *room = number_room(walk, TIDE_VALUE_TEXT_BYTES);
  text = is_double ? tide_double_text(room, value) : tide_float_text(room, narrow);
  return add(walk, name, TIDE_VALUE_NUMBER, text);
}

static gboolean
add_binary(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  gsize place = walk->at;
  TideBytes bytes, text;
  if (!(node->kind == TIDE_AVRO_FIXED ? take_bytes(walk, name, node->size, &bytes) : take_run(walk, name, &bytes)))
    return FALSE;
  if (node->logical != TIDE_AVRO_DECIMAL)
    return add(walk, name, TIDE_VALUE_STRING, tide_hex_text(walk->shaper->scratch, bytes));
  return make_big_decimal(number_room(walk, TIDE_NUMBER_MAX_BYTES), bytes, node->scale, &text)
             ? add(walk, name, TIDE_VALUE_NUMBER, text)
             : tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, place, name,
                                     "a decimal of more than " G_STRINGIFY(TIDE_NUMBER_MAX_BYTES) " bytes");
}

static gboolean
add_boolean(Walk *walk, TideBytes name)
{
  gsize place = walk->at;
  TideBytes byte;
  if (!take_bytes(walk, name, 1, &byte))
    return FALSE;
  if (byte.data[0] > 1)
    return fault(walk, TIDE_REJECT_PARSE, place, name, "a boolean that is neither 0 nor 1");
  return add(walk, name, TIDE_VALUE_BOOL, tide_shaper_bool_text(walk->shaper, byte.data[0]));
}

/* @ret_is_good: it is UTF-8, and else the reading is bad. */
static inline gboolean
take_text(Walk *walk, TideBytes field, TideBytes *ret_text, gboolean *ret_is_good)
{
  return take_run(walk, field, ret_text) &&
         tide_shaper_check_utf8(walk->shaper, (gsize)(ret_text->data - walk->message.data), field, *ret_text,
                                ret_is_good);
}

static inline gboolean
add_scalar(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  TideBytes text;
  guint32 symbol;
  gboolean is_good;
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return add(walk, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
  case TIDE_AVRO_BOOLEAN:
    return add_boolean(walk, name);
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
    return add_integer(walk, name, node);
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    return add_float(walk, name, node->kind == TIDE_AVRO_DOUBLE);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_FIXED:
    return add_binary(walk, name, node);
  case TIDE_AVRO_STRING:
    return take_text(walk, name, &text, &is_good) && (!is_good || add(walk, name, TIDE_VALUE_STRING, text));
  case TIDE_AVRO_ENUM:
    return take_choice(walk, name, node->size, "an enum's value that the schema does not have", &symbol) &&
           add(walk, name, TIDE_VALUE_STRING, member_at(walk, node, symbol)->name);
  case TIDE_AVRO_RECORD:
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
  case TIDE_AVRO_UNION:
    break;
  }
  g_assert_not_reached();
}

/* ---- members ---- */

static inline gboolean
is_scalar(const TideAvroNode *node)
{
  return node->kind != TIDE_AVRO_RECORD && node->kind != TIDE_AVRO_ARRAY && node->kind != TIDE_AVRO_MAP;
}

static inline void
expect_value(Walk *walk, guint32 type)
{
  walk->type = type;
  walk->node = NULL;
  walk->place = walk->at;
}

/* Of the value that comes next, which may be a union's, its own type. */
static inline gboolean
choose_node(Walk *walk, TideBytes name)
{
  guint32 branch;
  if (walk->node != NULL)
    return TRUE;
  const TideAvroNode *node = node_at(walk, walk->type);
  if (node->kind == TIDE_AVRO_UNION) {
    if (!take_choice(walk, name, node->size, "a type that the union does not have", &branch))
      return FALSE;
    node = node_at(walk, member_at(walk, node, branch)->node);
  }
  walk->node = node;
  return TRUE;
}

static inline void
fill_frame(Walk *walk, const TideAvroNode *node)
{
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  frame->type = node;
  frame->n_left = node->kind == TIDE_AVRO_RECORD ? node->size : 0;
}

static inline gboolean
take_value(Walk *walk, TideBytes name)
{
  if (!choose_node(walk, name))
    return FALSE;
  const TideAvroNode *node = walk->node;
  if (G_LIKELY(is_scalar(node)))
    return add_scalar(walk, name, node);
  if (!tide_shaper_begin(walk->shaper, walk->place, name, node->kind != TIDE_AVRO_ARRAY))
    return FALSE;
  fill_frame(walk, node);
  return TRUE;
}

static gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  gboolean is_good;
  if (!take_text(walk, TIDE_BYTES_EMPTY, ret_name, &is_good))
    return FALSE;
  tide_shaper_name(walk->shaper, *ret_name);
  return TRUE;
}

/* The next field of a record, member of a map or element of an array, whichever was opened last, or its end. */
static inline gboolean
next_member(gpointer reader, gboolean *ret_has, TideBytes *ret_name)
{
  Walk *walk = reader;
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  const TideAvroNode *node = frame->type;
  gboolean is_record = node->kind == TIDE_AVRO_RECORD;
  if (frame->n_members > 0 && !check_progress(walk, frame->place))
    return FALSE;
  if (frame->n_left == 0 && !is_record && !take_block(walk, TIDE_BYTES_EMPTY, &frame->n_left))
    return FALSE;
  *ret_has = frame->n_left > 0;
  if (!*ret_has)
    return tide_shaper_end(walk->shaper, walk->at);
  frame->n_left--;
  frame->place = walk->at;
  const TideAvroMember *member = member_at(walk, node, is_record ? frame->n_members : 0);
  if (is_record) {
    *ret_name = member->name;
    tide_shaper_name(walk->shaper, member->name);
  } else if (node->kind == TIDE_AVRO_ARRAY) {
    *ret_name = tide_shaper_next_element(walk->shaper);
  } else if (!take_name(walk, ret_name)) {
    return FALSE;
  }
  expect_value(walk, member->node);
  return TRUE;
}

/* What was opened beyond @depth, to its end. */
static gboolean
take_members(Walk *walk, guint32 depth)
{
  while (walk->shaper->depth > depth) {
    gboolean has;
    TideBytes name;
    if (!next_member(walk, &has, &name) || (has && !take_value(walk, name)))
      return FALSE;
  }
  return TRUE;
}

/* ---- what stands around readings ---- */

static gboolean
peek(gpointer reader, TideNextValue *ret_next, gsize *ret_place)
{
  Walk *walk = reader;
  *ret_place = walk->place;
  if (walk->is_begun && walk->shaper->depth == 0) {
    *ret_place = walk->at;
    *ret_next = walk->at == walk->message.len ? TIDE_NEXT_NONE : TIDE_NEXT_SCALAR;
    return TRUE;
  }
  if (!choose_node(walk, TIDE_BYTES_EMPTY))
    return FALSE;
  switch (walk->node->kind) {
  case TIDE_AVRO_RECORD:
  case TIDE_AVRO_MAP:
    *ret_next = TIDE_NEXT_OBJECT;
    return TRUE;
  case TIDE_AVRO_ARRAY:
    *ret_next = TIDE_NEXT_LIST;
    return TRUE;
  default:
    *ret_next = walk->node->kind == TIDE_AVRO_NULL ? TIDE_NEXT_NULL : TIDE_NEXT_SCALAR;
    return TRUE;
  }
}

static gboolean
begin_around(gpointer reader)
{
  Walk *walk = reader;
  walk->is_begun = TRUE;
  if (!choose_node(walk, TIDE_BYTES_EMPTY) ||
      !tide_shaper_push(walk->shaper, walk->at, TIDE_BYTES_EMPTY, walk->node->kind != TIDE_AVRO_ARRAY))
    return FALSE;
  fill_frame(walk, walk->node);
  return TRUE;
}

static gboolean
take_around(gpointer reader, TideBytes name)
{
  Walk *walk = reader;
  guint32 depth = walk->shaper->depth;
  return take_value(walk, name) && take_members(walk, depth);
}

static gboolean
reject_instead_of(gpointer reader, TideNextValue wanted)
{
  Walk *walk = reader;
  return fault(walk, TIDE_REJECT_TYPE, walk->place, TIDE_BYTES_EMPTY,
               wanted == TIDE_NEXT_LIST ? "an array of records was expected" : "a record was expected");
}

static gboolean
take_reading(gpointer reader)
{
  Walk *walk = reader;
  TideShaper *shaper = walk->shaper;
  if (!choose_node(walk, TIDE_BYTES_EMPTY))
    return FALSE;
  if (walk->node->kind != TIDE_AVRO_RECORD)
    return reject_instead_of(walk, TIDE_NEXT_OBJECT);
  gsize place = walk->at;
  return begin_around(walk) && tide_shaper_begin_reading(shaper, place) && take_members(walk, shaper->depth - 1) &&
         tide_shaper_end_reading(shaper, place);
}

static TideReaderPlace
tell(gpointer reader)
{
  const Walk *walk = reader;
  return (TideReaderPlace){.at = walk->at, .type = walk->node, .n_empty = walk->n_empty};
}

static void
seek(gpointer reader, TideReaderPlace place)
{
  Walk *walk = reader;
  walk->at = walk->place = place.at;
  walk->node = place.type;
  walk->n_empty = place.n_empty;
}

static const TideReaderCalls calls = {
    .peek = peek,
    .begin = begin_around,
    .next = next_member,
    .take = take_around,
    .take_reading = take_reading,
    .reject_instead_of = reject_instead_of,
    .tell = tell,
    .seek = seek,
    .detail_behind = "bytes behind the record: it was written by another schema",
    .is_one_value = TRUE,
    .lists_nest = TRUE,
};

gboolean
tide_avro_walk_run(TideShaper *shaper, const TideAvroSchema *schema, TideBytes message, gsize start,
                   TideReject *ret_reject)
{
  Walk walk = {.shaper = shaper, .schema = schema, .message = tide_scratch_copy(shaper->scratch, message), .at = start};
  expect_value(&walk, schema->top);
  tide_shaper_begin_message(shaper, ret_reject, NULL, 0);
  return tide_shaper_run(shaper, &calls, &walk);
}
