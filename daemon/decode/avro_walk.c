#include "decode/avro_walk.h"

#include "decode/binary_walk.h"
#include "util/calendar.h"

#include <math.h>

/* Of a decimal: the greatest that have so many digits and a sign are shorter. */
#define DECIMAL_MAX_BYTES 27

/* A varint has seven bits a byte. */
#define LONG_MAX_BYTES 10

/* The decimal digits of a guint64, and a NUL. */
#define ELEMENT_NAME_BYTES 21

/* JSON texts of a message take at most this many times the largest message: a long name around many short values must
 * not fill the memory. */
#define JSON_BYTES_FACTOR 4u

typedef struct AvroWalk {
  Walk walk;
  const TideAvroSchema *schema;
  guint64 n_empty;    /* values that took no bytes */
  guint64 json_bytes; /* of texts that are made already */
} AvroWalk;

typedef struct Value {
  TideValueKind kind;
  TideBytes text;
  gboolean is_true; /* of a BOOL */
  gboolean is_made; /* the text is in walk->text */
} Value;

static inline AvroWalk *
of_avro(Walk *walk)
{
  return (AvroWalk *)walk;
}

/* After a value, or an element: those without bytes are counted, for an array of them can be as long as it says. */
static gboolean
check_progress(Walk *walk, gsize place)
{
  if (G_LIKELY(walk->at > place) || ++of_avro(walk)->n_empty <= walk->message.len + walk->options->max_fields)
    return TRUE;
  return fault(walk, TIDE_REJECT_TOO_LARGE, place, TIDE_BYTES_EMPTY, "too many values that take no bytes");
}

/* ---- bytes of the message ---- */

static inline const TideAvroNode *
node_at(Walk *walk, guint32 place)
{
  return &of_avro(walk)->schema->nodes[place];
}

static inline const TideAvroMember *
member_at(Walk *walk, const TideAvroNode *node, guint32 index)
{
  return &of_avro(walk)->schema->members[node->first + index];
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

static gboolean
take_utf8(Walk *walk, TideBytes field, TideBytes *ret_text)
{
  return take_run(walk, field, ret_text) && check_utf8(walk, field, *ret_text);
}

/* ---- texts of values ---- */

static void
set_made(Value *value, TideValueKind kind, TideBytes text)
{
  *value = (Value){.kind = kind, .text = text, .is_made = TRUE};
}

/* @digits: @n of them, of a number that has @scale behind the point. FALSE: it is too long. */
static gboolean
make_decimal(Walk *walk, Value *value, gboolean is_negative, const char *digits, gsize n, guint32 scale)
{
  char *text = walk->text;
  gsize n_whole = n > scale ? n - scale : 0, len = 0;
  if ((is_negative ? 1 : 0) + MAX(n_whole, 1) + (scale > 0 ? 1 : 0) + scale > NUMBER_MAX_BYTES)
    return FALSE;
  if (is_negative)
    text[len++] = '-';
  if (n_whole == 0)
    text[len++] = '0';
  memcpy(text + len, digits, n_whole);
  len += n_whole;
  if (scale > 0) {
    gsize n_zeros = n > scale ? 0 : scale - n;
    text[len++] = '.';
    memset(text + len, '0', n_zeros);
    memcpy(text + len + n_zeros, digits + n_whole, n - n_whole);
    len += scale;
  }
  set_made(value, TIDE_VALUE_NUMBER, tide_bytes(text, len));
  return TRUE;
}

static void
make_integer(Walk *walk, Value *value, gint64 integer)
{
  set_made(value, TIDE_VALUE_NUMBER, tide_signed_text(walk->text, integer));
}

/* A number of units of which 10^@scale are a second. */
static void
make_seconds(Walk *walk, Value *value, gint64 units, guint32 scale)
{
  gint64 unit = scale == 3 ? 1000 : scale == 6 ? 1000000 : 1000000000;
  if (units % unit == 0)
    make_integer(walk, value, units / unit);
  else {
    char text[TIDE_VALUE_TEXT_BYTES];
    TideBytes digits = tide_integer_text(text, units < 0 ? (guint64)0 - (guint64)units : (guint64)units, FALSE);
    g_assert(make_decimal(walk, value, units < 0, (const char *)digits.data, digits.len, scale)); /* 21 bytes at most */
  }
}

/* The digits of @bytes, a number in two's complement, backwards into @digits. Returns: how many. */
static gsize
digits_of(TideBytes bytes, gboolean is_negative, char digits[NUMBER_MAX_BYTES + 2])
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
make_big_decimal(Walk *walk, Value *value, TideBytes bytes, guint32 scale)
{
  gboolean is_negative = bytes.len > 0 && bytes.data[0] >= 0x80;
  char backwards[NUMBER_MAX_BYTES + 2], digits[NUMBER_MAX_BYTES + 2];
  /* What only repeats the sign. */
  while (bytes.len > 1 && bytes.data[0] == (is_negative ? 0xFF : 0) && (bytes.data[1] >= 0x80) == is_negative)
    bytes = tide_bytes(bytes.data + 1, bytes.len - 1);
  if (bytes.len > DECIMAL_MAX_BYTES)
    return FALSE;
  gsize n = digits_of(bytes, is_negative, backwards);
  for (gsize i = 0; i < n; i++)
    digits[i] = backwards[n - 1 - i];
  return make_decimal(walk, value, is_negative, digits, n, scale);
}

/* FALSE: the year has not four digits. */
static gboolean
make_date(Walk *walk, Value *value, gint64 days)
{
  int year, month, day;
  if (days < tide_days_of_date(1, 1, 1) || days > tide_days_of_date(9999, 12, 31))
    return FALSE;
  tide_date_of_days(days, &year, &month, &day);
  int len = g_snprintf(walk->text, sizeof walk->text, "%04d-%02d-%02d", year, month, day);
  set_made(value, TIDE_VALUE_STRING, tide_bytes(walk->text, (gsize)len));
  return TRUE;
}

/* ---- values that hold no others ---- */

static gboolean
take_integer(Walk *walk, TideBytes name, const TideAvroNode *node, Value *ret_value)
{
  gint64 integer;
  gsize place = walk->at;
  if (!take_long(walk, name, &integer))
    return FALSE;
  if (node->kind == TIDE_AVRO_INT && (integer < G_MININT32 || integer > G_MAXINT32))
    return fault(walk, TIDE_REJECT_PARSE, place, name, "an int of more than 32 bits");
  if (node->logical == TIDE_AVRO_SECONDS)
    make_seconds(walk, ret_value, integer, node->scale);
  else if (node->logical != TIDE_AVRO_DATE)
    make_integer(walk, ret_value, integer);
  else if (!make_date(walk, ret_value, integer))
    return fault(walk, TIDE_REJECT_NUMBER, place, name, "a date outside of the years 1 to 9999");
  return TRUE;
}

static gboolean
take_float(Walk *walk, TideBytes name, gboolean is_double, Value *ret_value)
{
  gsize place = walk->at;
  TideBytes bytes;
  guint64 bits = 0;
  if (!take_bytes(walk, name, is_double ? sizeof(double) : sizeof(float), &bytes))
    return FALSE;
  for (gsize i = bytes.len; i-- > 0;)
    bits = bits << 8 | bytes.data[i];
  guint32 half = (guint32)bits;
  double value;
  float narrow;
  memcpy(&value, &bits, sizeof value);
  memcpy(&narrow, &half, sizeof narrow);
  if (!isfinite(is_double ? value : (double)narrow))
    return fault(walk, TIDE_REJECT_NUMBER, place, name, "not a finite number");
  set_made(ret_value, TIDE_VALUE_NUMBER,
           is_double ? tide_double_text(walk->text, value) : tide_float_text(walk->text, narrow));
  return TRUE;
}

static gboolean
take_binary(Walk *walk, TideBytes name, const TideAvroNode *node, Value *ret_value)
{
  gsize place = walk->at;
  TideBytes bytes;
  if (!(node->kind == TIDE_AVRO_FIXED ? take_bytes(walk, name, node->size, &bytes) : take_run(walk, name, &bytes)))
    return FALSE;
  if (node->logical != TIDE_AVRO_DECIMAL)
    ret_value->text = tide_hex_text(walk->scratch, bytes);
  else if (!make_big_decimal(walk, ret_value, bytes, node->scale))
    return fault(walk, TIDE_REJECT_NUMBER, place, name,
                 "a decimal of more than " G_STRINGIFY(NUMBER_MAX_BYTES) " bytes");
  return TRUE;
}

static gboolean
take_boolean(Walk *walk, TideBytes name, Value *ret_value)
{
  gsize place = walk->at;
  TideBytes byte;
  gboolean as_number = walk->options->booleans == TIDE_BOOLEAN_NUMBER;
  if (!take_bytes(walk, name, 1, &byte))
    return FALSE;
  if (byte.data[0] > 1)
    return fault(walk, TIDE_REJECT_PARSE, place, name, "a boolean that is neither 0 nor 1");
  const char *text = byte.data[0] == 1 ? (as_number ? "1" : "true") : (as_number ? "0" : "false");
  *ret_value = (Value){.kind = TIDE_VALUE_BOOL, .text = tide_bytes_of_string(text), .is_true = byte.data[0]};
  return TRUE;
}

static gboolean
take_scalar(Walk *walk, TideBytes name, const TideAvroNode *node, Value *ret_value)
{
  guint32 symbol;
  *ret_value = (Value){.kind = TIDE_VALUE_STRING};
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    ret_value->kind = TIDE_VALUE_NULL;
    return TRUE;
  case TIDE_AVRO_BOOLEAN:
    return take_boolean(walk, name, ret_value);
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
    return take_integer(walk, name, node, ret_value);
  case TIDE_AVRO_FLOAT:
  case TIDE_AVRO_DOUBLE:
    return take_float(walk, name, node->kind == TIDE_AVRO_DOUBLE, ret_value);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_FIXED:
    return take_binary(walk, name, node, ret_value);
  case TIDE_AVRO_STRING:
    return take_utf8(walk, name, &ret_value->text);
  case TIDE_AVRO_ENUM:
    if (!take_choice(walk, name, node->size, "an enum's value that the schema does not have", &symbol))
      return FALSE;
    ret_value->text = member_at(walk, node, symbol)->name;
    return TRUE;
  case TIDE_AVRO_RECORD:
  case TIDE_AVRO_ARRAY:
  case TIDE_AVRO_MAP:
  case TIDE_AVRO_UNION:
    break;
  }
  g_assert_not_reached();
}

static inline gboolean
is_scalar(const TideAvroNode *node)
{
  return node->kind != TIDE_AVRO_RECORD && node->kind != TIDE_AVRO_ARRAY && node->kind != TIDE_AVRO_MAP;
}

/* @node, or where it is a union the type of it that the value has. */
static inline gboolean
choose(Walk *walk, TideBytes name, guint32 place, const TideAvroNode **ret_node)
{
  guint32 branch;
  const TideAvroNode *node = node_at(walk, place);
  if (node->kind == TIDE_AVRO_UNION) {
    if (!take_choice(walk, name, node->size, "a type that the union does not have", &branch))
      return FALSE;
    node = node_at(walk, member_at(walk, node, branch)->node);
  }
  *ret_node = node;
  return TRUE;
}

static gboolean
enter(Walk *walk, TideBytes name)
{
  if (walk->depth >= walk->options->max_depth)
    return fault(walk, TIDE_REJECT_DEPTH, walk->at, name, NULL);
  walk->depth++;
  return TRUE;
}

/* ---- what holds others: one element after the other ---- */

/* A record's fields, a map's members or an array's elements, as they are met. */
typedef struct Members {
  const TideAvroNode *node;
  guint64 n_left; /* of the record, or of the block */
  guint64 n_met;
  TideBytes name; /* of the one that comes */
  guint32 type;   /* the place of its node */
  gsize place;    /* where the one before began */
  char digits[ELEMENT_NAME_BYTES];
} Members;

static Members
members_of(const TideAvroNode *node)
{
  return (Members){.node = node, .n_left = node->kind == TIDE_AVRO_RECORD ? node->size : 0};
}

/* The member's name, which may spoil the reading. */
static gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  return take_utf8(walk, TIDE_BYTES_EMPTY, ret_name) ||
         (walk->reject->reason == TIDE_REJECT_UTF8 && spoil_at_fault(walk));
}

/* Goes on to the next one. @ret_has: there is one */
static gboolean
next_member(Walk *walk, Members *members, gboolean *ret_has)
{
  const TideAvroNode *node = members->node;
  if (members->n_met > 0 && !check_progress(walk, members->place))
    return FALSE;
  if (members->n_left == 0 && node->kind != TIDE_AVRO_RECORD && !take_block(walk, TIDE_BYTES_EMPTY, &members->n_left))
    return FALSE;
  *ret_has = members->n_left > 0;
  if (!*ret_has)
    return TRUE;
  members->place = walk->at;
  members->n_left--;
  const TideAvroMember *member = member_at(walk, node, node->kind == TIDE_AVRO_RECORD ? (guint32)members->n_met : 0);
  members->type = member->node;
  members->name = member->name;
  if (node->kind == TIDE_AVRO_ARRAY)
    members->name = tide_bytes(members->digits, (gsize)g_snprintf(members->digits, sizeof members->digits,
                                                                  "%" G_GUINT64_FORMAT, members->n_met));
  members->n_met++;
  return node->kind != TIDE_AVRO_MAP || take_name(walk, &members->name);
}

/* ---- an array as its JSON text ---- */

static gboolean append_value(Walk *walk, TideBytes field, guint32 type);

static gboolean
append_members(Walk *walk, TideBytes field, const TideAvroNode *node)
{
  gboolean is_array = node->kind == TIDE_AVRO_ARRAY, has;
  Members members = members_of(node);
  if (!enter(walk, field))
    return FALSE;
  tide_buffer_append_byte(walk->json, is_array ? '[' : '{');
  while (TRUE) {
    if (!next_member(walk, &members, &has))
      return FALSE;
    if (!has)
      break;
    if (members.n_met > 1)
      tide_buffer_append_byte(walk->json, ',');
    if (!is_array) {
      tide_json_string_append(walk->json, members.name);
      tide_buffer_append_byte(walk->json, ':');
    }
    if (!append_value(walk, field, members.type))
      return FALSE;
  }
  tide_buffer_append_byte(walk->json, is_array ? ']' : '}');
  walk->depth--;
  return TRUE;
}

/* Calls itself for what is nested; the depth bounds it. */
static gboolean
append_value(Walk *walk, TideBytes field, guint32 type)
{
  const TideAvroNode *node;
  Value value;
  if (of_avro(walk)->json_bytes + walk->json->len > (guint64)walk->options->max_message_bytes * JSON_BYTES_FACTOR)
    return fault(walk, TIDE_REJECT_TOO_LARGE, walk->at, field, "the JSON text of arrays takes too much memory");
  if (!choose(walk, field, type, &node))
    return FALSE;
  if (!is_scalar(node))
    return append_members(walk, field, node);
  if (!take_scalar(walk, field, node, &value))
    return walk->reject->reason != TIDE_REJECT_PARSE && spoil_at_fault(walk);
  append_scalar(walk, value.kind, value.text, value.is_true);
  return TRUE;
}

/* ---- members ---- */

static gboolean
take_raw(Walk *walk, gsize place, TideBytes name, const TideAvroNode *node)
{
  tide_buffer_reset(walk->json);
  if (!append_members(walk, name, node))
    return FALSE;
  of_avro(walk)->json_bytes += walk->json->len;
  return add(walk, place, name, TIDE_VALUE_JSON, tide_scratch_copy(walk->scratch, tide_buffer_bytes(walk->json)));
}

static gboolean take_value(Walk *walk, TideBytes name, guint32 type);

static gboolean
take_members(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  gboolean has;
  Members members = members_of(node);
  if (!enter(walk, name))
    return FALSE;
  while (TRUE) {
    if (!next_member(walk, &members, &has))
      return FALSE;
    if (!has)
      break;
    if (node->kind == TIDE_AVRO_ARRAY && !walk->is_spoiled)
      members.name = tide_scratch_copy(walk->scratch, members.name);
    if (!take_value(walk, members.name, members.type))
      return FALSE;
  }
  walk->depth--;
  return TRUE;
}

static gboolean
take_entered(Walk *walk, gsize place, TideBytes name, const TideAvroNode *node)
{
  gsize outer = 0;
  gboolean is_entered = FALSE;
  if (!walk->is_spoiled) {
    is_entered = tide_reading_builder_enter(walk->builder, name, &outer, walk->reject);
    if (!is_entered && !spoil_reading(walk, place))
      return FALSE;
  }
  if (!take_members(walk, name, node))
    return FALSE;
  if (is_entered)
    tide_reading_builder_leave(walk->builder, outer);
  return TRUE;
}

static gboolean
take_array(Walk *walk, gsize place, TideBytes name, const TideAvroNode *node)
{
  switch (walk->options->arrays) {
  case TIDE_ARRAY_JSON:
    return take_raw(walk, place, name, node);
  case TIDE_ARRAY_INDEX:
    return take_entered(walk, place, name, node);
  case TIDE_ARRAY_REJECT:
    break;
  }
  if (!walk->is_spoiled && !refuse_array(walk, place, name))
    return FALSE;
  return take_members(walk, name, node);
}

/* Calls itself, by way of the members of what it holds; the depth bounds it. */
static gboolean
take_value(Walk *walk, TideBytes name, guint32 type)
{
  gsize place = walk->at;
  const TideAvroNode *node;
  Value value;
  if (!choose(walk, name, type, &node))
    return FALSE;
  if (node->kind == TIDE_AVRO_ARRAY)
    return take_array(walk, place, name, node);
  if (!is_scalar(node))
    return take_entered(walk, place, name, node);
  if (!take_scalar(walk, name, node, &value))
    return walk->reject->reason != TIDE_REJECT_PARSE && spoil_at_fault(walk);
  if (value.is_made && !walk->is_spoiled)
    value.text = tide_scratch_copy(walk->scratch, value.text);
  return add(walk, place, name, value.kind, value.text);
}

/* ---- readings ---- */

static gboolean
take_reading(Walk *walk, const TideAvroNode *node)
{
  gsize place = walk->at;
  return begin_reading(walk, place) && take_members(walk, TIDE_BYTES_EMPTY, node) && end_reading(walk, place);
}

/* A record, or an array of what holds records. */
static gboolean
take_readings(Walk *walk, guint32 type)
{
  gsize place = walk->at;
  gboolean has;
  const TideAvroNode *node;
  if (!choose(walk, TIDE_BYTES_EMPTY, type, &node))
    return FALSE;
  if (node->kind == TIDE_AVRO_RECORD)
    return take_reading(walk, node);
  if (node->kind != TIDE_AVRO_ARRAY)
    return fault(walk, TIDE_REJECT_TYPE, place, TIDE_BYTES_EMPTY, "a record was expected");
  Members members = members_of(node);
  if (!enter(walk, TIDE_BYTES_EMPTY))
    return FALSE;
  while (TRUE) {
    if (!next_member(walk, &members, &has))
      return FALSE;
    if (!has)
      break;
    if (!take_readings(walk, members.type))
      return FALSE;
  }
  walk->depth--;
  return TRUE;
}

gboolean
tide_avro_walk_run(const TideDecodeOptions *options, const TideAvroSchema *schema, TideBytes message, gsize start,
                   TideScratch *scratch, TideReadingBuilder *builder, TideReject *ret_reject)
{
  AvroWalk avro = {.walk = walk_of(options, message, scratch, builder, ret_reject), .schema = schema};
  Walk *walk = &avro.walk;
  walk->at = start;
  gboolean good = take_readings(walk, schema->top);
  if (good && walk->at < walk->message.len)
    good = fault(walk, TIDE_REJECT_PARSE, walk->at, TIDE_BYTES_EMPTY,
                 "bytes behind the record: it was written by another schema");
  return good;
}
