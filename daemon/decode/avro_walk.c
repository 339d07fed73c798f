/* Reads the readings of a message in Avro's binary encoding, by the schema of its writer. No length or number of
 * elements is trusted: an element counts only once its bytes are present, and values without bytes are counted.
 *
 * The message is a record, or an array of records; a union is read as its branch. A field's kind depends on its type:
 *
 *     string             STRING   must be UTF-8
 *     enum               STRING   its symbol
 *     bytes, fixed       STRING   in hex, lower case, because the bytes are arbitrary
 *     int, long          NUMBER
 *     float, double      NUMBER   in the shortest exact form; a NUMBER fault if not finite
 *     decimal            NUMBER   exact, with as many decimals as its scale, up to 64 bytes in all
 *     timestamp, time    NUMBER   seconds, since 1970 or midnight; a fraction has all digits of the type's unit
 *     local-timestamp    STRING   2015-03-16T19:53:32.045, its local time; years as for date. It is no number,
 *                                 because an event time needs its time zone, which a number would not require
 *     date               STRING   2015-03-16; outside the years 1 to 9999 a NUMBER fault
 *     boolean, null      as in JSON
 *     record, map        as JSON's objects
 *     array              as declared, its text as JSON
 *     union              as its branch
 *
 * With TIDE_BAD_READING_ALONE a reading has the same faults of its own as in JSON, and UTF8. */
#include "decode/formats.h"

#include "decode/avro_container.h"
#include "decode/avro_cursor.h"
#include "decode/decimal_text.h"
#include "decode/frame.h"
#include "decode/layout.h"
#include "model/value_text.h"
#include "util/calendar.h"

/* State kept between messages. */
typedef struct Kept {
  const TideAvroSchema *schema; /* borrowed: of the last message that selected one; NULL: none did */
  guint32 schema_id;
  TideBuffer head;                 /* owned: of the last container */
  const TideAvroSchema *contained; /* owned: its schema */
} Kept;

typedef struct Walk {
  /* its position: the next value */
  TideAvroCursor in;        /* the message: a copy in scratch */
  guint64 n_empty;          /* values without bytes */
  gsize place;              /* of the value; a union's branch follows */
  const TideAvroNode *node; /* its type, if it is in a union; NULL: the branch has not been read yet */
  guint32 type;             /* index of its node */
  gboolean is_begun;        /* the message's value has begun */

  TideShaper *shaper;
  const TideAvroSchema *schema;
} Walk;

/* ---- faults ---- */

static gboolean
fault(Walk *walk, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  return tide_shaper_reject(walk->shaper, reason, place, field, detail);
}

/* A fault of the encoding itself. */
static gboolean
fault_in(Walk *walk, TideBytes field)
{
  return fault(walk, TIDE_REJECT_PARSE, walk->in.fault_at, field,
               walk->in.is_cut ? "the message is truncated" : walk->in.detail);
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

/* Reads an index below @n: of a union's type or an enum's symbol. */
static gboolean
take_choice(Walk *walk, TideBytes field, guint32 n, const char *fault_text, guint32 *ret_choice)
{
  gint64 choice;
  gsize place = walk->in.at;
  if (!tide_avro_take_long(&walk->in, &choice))
    return fault_in(walk, field);
  *ret_choice = (guint32)choice;
  return (choice >= 0 && choice < n) || fault(walk, TIDE_REJECT_PARSE, place, field, fault_text);
}

/* ---- texts of values, in @room ---- */

/* A number of units, 10^@scale per second. */
static TideBytes
seconds_text(char room[TIDE_NUMBER_MAX_BYTES], gint64 units, guint32 scale)
{
  gint64 unit = scale == 3 ? 1000 : scale == 6 ? 1000000 : 1000000000;
  if (units % unit == 0)
    return tide_signed_text(room, units / unit);
  char magnitude[TIDE_VALUE_TEXT_BYTES];
  TideBytes digits = tide_integer_text(magnitude, units < 0 ? (guint64)0 - (guint64)units : (guint64)units, FALSE);
  TideBytes text = TIDE_BYTES_EMPTY;
  gboolean fits = tide_decimal_of_digits(room, units < 0, (const char *)digits.data, digits.len, scale, &text);
  g_assert(fits); /* at most 21 bytes */
  return text;
}

/* FALSE: the year does not have four digits. */
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

/* Like format_date(), for a date and time of day; a fraction has all digits of its unit. */
static gboolean
make_local_time(char room[TIDE_NUMBER_MAX_BYTES], gint64 units, guint32 scale, TideBytes *ret_text)
{
  gint64 per_second = 1;
  for (guint32 i = 0; i < scale; i++)
    per_second *= 10;
  gint64 rest = units % per_second, seconds = units / per_second;
  if (rest < 0) {
    rest += per_second;
    seconds--;
  }
  gint64 day = tide_day_of_seconds(seconds);
  if (!make_date(room, day, ret_text))
    return FALSE;
  int of_day = (int)(seconds - day * TIDE_SECONDS_PER_DAY);
  char *behind = room + ret_text->len;
  gsize left = TIDE_NUMBER_MAX_BYTES - ret_text->len;
  int len = g_snprintf(behind, left, "T%02d:%02d:%02d", of_day / 3600, of_day / 60 % 60, of_day % 60);
  if (rest > 0)
    len += g_snprintf(behind + len, left - (gsize)len, ".%0*" G_GINT64_FORMAT, (int)scale, rest);
  ret_text->len += (gsize)len;
  return TRUE;
}

/* ---- scalars ---- */

static inline gboolean
add(Walk *walk, TideBytes name, TideValueKind kind, TideBytes text)
{
  return tide_shaper_add(walk->shaper, walk->place, name, kind, text);
}

static inline gboolean
add_integer(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  gint64 integer;
  gsize place = walk->in.at;
  TideBytes text;
  if (!tide_avro_take_long(&walk->in, &integer))
    return fault_in(walk, name);
  if (node->kind == TIDE_AVRO_INT && (integer < G_MININT32 || integer > G_MAXINT32))
    return fault(walk, TIDE_REJECT_PARSE, place, name, "an int of more than 32 bits");
  if (G_LIKELY(node->logical == TIDE_AVRO_PLAIN))
    return tide_shaper_add_integer(walk->shaper, walk->place, name, (guint64)integer, TRUE);
  char *room = tide_shaper_number_room(walk->shaper, TIDE_NUMBER_MAX_BYTES);
  if (node->logical == TIDE_AVRO_SECONDS)
    return add(walk, name, TIDE_VALUE_NUMBER, seconds_text(room, integer, node->scale));
  gboolean is_good = node->logical == TIDE_AVRO_LOCAL ? make_local_time(room, integer, node->scale, &text)
                                                      : make_date(room, integer, &text);
  return is_good ? add(walk, name, TIDE_VALUE_STRING, text)
                 : tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, place, name,
                                         "a date outside the years 1 to 9999");
}

static inline gboolean
add_float(Walk *walk, TideBytes name, gboolean is_double)
{
  gsize place = walk->in.at;
  TideBytes bytes;
  if (!tide_avro_take_bytes(&walk->in, is_double ? sizeof(double) : sizeof(float), &bytes))
    return fault_in(walk, name);
  guint64 bits = is_double ? GUINT64_FROM_LE(tide_load_u64(bytes.data)) : GUINT32_FROM_LE(tide_load_u32(bytes.data));
  return tide_shaper_add_float(walk->shaper, walk->place, name, place, bits, is_double);
}

static gboolean
add_binary(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  gsize place = walk->in.at;
  TideBytes bytes, text;
  if (!(node->kind == TIDE_AVRO_FIXED ? tide_avro_take_bytes(&walk->in, node->size, &bytes)
                                      : tide_avro_take_run(&walk->in, &bytes)))
    return fault_in(walk, name);
  if (node->logical != TIDE_AVRO_DECIMAL)
    return add(walk, name, TIDE_VALUE_STRING, tide_hex_text(walk->shaper->scratch, bytes));
  return tide_decimal_of_bytes(tide_shaper_number_room(walk->shaper, TIDE_NUMBER_MAX_BYTES), bytes, node->scale, &text)
             ? add(walk, name, TIDE_VALUE_NUMBER, text)
             : tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, place, name,
                                     "a decimal of more than " G_STRINGIFY(TIDE_NUMBER_MAX_BYTES) " bytes");
}

static inline gboolean
add_scalar(Walk *walk, TideBytes name, const TideAvroNode *node)
{
  TideBytes text;
  guint32 symbol;
  switch (node->kind) {
  case TIDE_AVRO_NULL:
    return add(walk, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
  case TIDE_AVRO_BOOLEAN:
    if (!tide_avro_take_bytes(&walk->in, 1, &text))
      return fault_in(walk, name);
    if (text.data[0] > 1)
      return fault(walk, TIDE_REJECT_PARSE, walk->in.at - 1, name, "a boolean that is neither 0 nor 1");
    return tide_shaper_add_boolean(walk->shaper, walk->place, name, text.data[0]);
  case TIDE_AVRO_INT:
  case TIDE_AVRO_LONG:
    return add_integer(walk, name, node);
  case TIDE_AVRO_FLOAT:
    return add_float(walk, name, FALSE);
  case TIDE_AVRO_DOUBLE:
    return add_float(walk, name, TRUE);
  case TIDE_AVRO_BYTES:
  case TIDE_AVRO_FIXED:
    return add_binary(walk, name, node);
  case TIDE_AVRO_STRING:
    return tide_avro_take_run(&walk->in, &text)
               ? tide_shaper_add_text(walk->shaper, walk->place, name, (gsize)(text.data - walk->in.text.data), text)
               : fault_in(walk, name);
  case TIDE_AVRO_ENUM:
    return take_choice(walk, name, node->size, "an enum value that is not in the schema", &symbol) &&
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

static inline void
expect_value(Walk *walk, guint32 type)
{
  walk->type = type;
  walk->node = NULL;
  walk->place = walk->in.at;
}

/* The type of the next value; for a union, that of its branch. */
static inline gboolean
choose_node(Walk *walk, TideBytes name)
{
  guint32 branch;
  if (walk->node != NULL)
    return TRUE;
  const TideAvroNode *node = node_at(walk, walk->type);
  if (node->kind == TIDE_AVRO_UNION) {
    if (!take_choice(walk, name, node->size, "a type that is not in the union", &branch))
      return FALSE;
    node = node_at(walk, member_at(walk, node, branch)->node);
  }
  walk->node = node;
  return TRUE;
}

static inline gboolean
fill_frame(Walk *walk)
{
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  frame->type = walk->node;
  frame->n_left = walk->node->kind == TIDE_AVRO_RECORD ? walk->node->size : 0;
  return TRUE;
}

static inline gboolean
take_value(gpointer reader, TideBytes name)
{
  Walk *walk = reader;
  if (!choose_node(walk, name))
    return FALSE;
  const TideAvroNode *node = walk->node;
  if (G_LIKELY(node->kind != TIDE_AVRO_RECORD && node->kind != TIDE_AVRO_ARRAY && node->kind != TIDE_AVRO_MAP))
    return add_scalar(walk, name, node);
  return tide_shaper_begin(walk->shaper, walk->place, name, node->kind != TIDE_AVRO_ARRAY) && fill_frame(walk);
}

static gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  gboolean is_good;
  if (!tide_avro_take_run(&walk->in, ret_name))
    return fault_in(walk, TIDE_BYTES_EMPTY);
  if (!tide_shaper_check_utf8(walk->shaper, (gsize)(ret_name->data - walk->in.text.data), TIDE_BYTES_EMPTY, *ret_name,
                              &is_good))
    return FALSE;
  tide_shaper_name(walk->shaper, *ret_name);
  return TRUE;
}

/* Advances to the next field, member or element of the container opened last, or closes it. */
static G_ALWAYS_INLINE inline gboolean
next_member(gpointer reader, gboolean *ret_has, TideBytes *ret_name)
{
  Walk *walk = reader;
  TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  const TideAvroNode *node = frame->type;
  gboolean is_record = node->kind == TIDE_AVRO_RECORD;
  /* Count values without bytes, because an array of them can have any length. */
  if (frame->n_members > 0 && G_UNLIKELY(walk->in.at == frame->place) &&
      ++walk->n_empty > walk->in.text.len + walk->shaper->options->max_fields)
    return fault(walk, TIDE_REJECT_TOO_LARGE, frame->place, TIDE_BYTES_EMPTY, "too many values without bytes");
  if (frame->n_left == 0 && !is_record) {
    /* Only code that skips the block needs its size; wrong sizes show when its values are read. */
    gint64 n_bytes;
    gsize place = walk->in.at;
    if (!tide_avro_take_count(&walk->in, &frame->n_left, &n_bytes))
      return fault_in(walk, TIDE_BYTES_EMPTY);
    if (n_bytes < 0)
      return fault(walk, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, "a block with a negative size");
  }
  *ret_has = frame->n_left > 0;
  if (!*ret_has)
    return tide_shaper_end(walk->shaper, walk->in.at);
  frame->n_left--;
  frame->place = walk->in.at;
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

static gboolean
take_members(gpointer reader, guint32 depth)
{
  return tide_shaper_take_members(((Walk *)reader)->shaper, reader, depth, next_member, take_value);
}

/* ---- values around readings ---- */

static gboolean
peek(gpointer reader, TideNextValue *ret_next, gsize *ret_place)
{
  Walk *walk = reader;
  *ret_place = walk->place;
  if (walk->is_begun && walk->shaper->depth == 0) {
    *ret_place = walk->in.at;
    *ret_next = walk->in.at == walk->in.text.len ? TIDE_NEXT_NONE : TIDE_NEXT_SCALAR;
    return TRUE;
  }
  if (!choose_node(walk, TIDE_BYTES_EMPTY))
    return FALSE;
  TideAvroKind kind = walk->node->kind;
  *ret_next = kind == TIDE_AVRO_RECORD || kind == TIDE_AVRO_MAP ? TIDE_NEXT_OBJECT
              : kind == TIDE_AVRO_ARRAY                         ? TIDE_NEXT_LIST
              : kind == TIDE_AVRO_NULL                          ? TIDE_NEXT_NULL
                                                                : TIDE_NEXT_SCALAR;
  return TRUE;
}

static gboolean
begin_around(gpointer reader)
{
  Walk *walk = reader;
  walk->is_begun = TRUE;
  return choose_node(walk, TIDE_BYTES_EMPTY) &&
         tide_shaper_push(walk->shaper, walk->in.at, TIDE_BYTES_EMPTY, walk->node->kind != TIDE_AVRO_ARRAY) &&
         fill_frame(walk);
}

static gboolean
reject_instead_of(gpointer reader, TideNextValue wanted)
{
  Walk *walk = reader;
  return fault(walk, TIDE_REJECT_TYPE, walk->place, TIDE_BYTES_EMPTY,
               wanted == TIDE_NEXT_LIST ? "an array of records was expected" : "a record was expected");
}

/* A map may continue in another block. */
static gboolean
is_last(gpointer reader)
{
  const TideShaperFrame *frame = tide_shaper_top(((Walk *)reader)->shaper);
  return frame->n_left == 0 && ((const TideAvroNode *)frame->type)->kind == TIDE_AVRO_RECORD;
}

static gboolean
take_reading(gpointer reader)
{
  Walk *walk = reader;
  if (!choose_node(walk, TIDE_BYTES_EMPTY))
    return FALSE;
  return walk->node->kind == TIDE_AVRO_RECORD ? tide_layout_take_reading(walk->shaper, walk->in.at)
                                              : reject_instead_of(walk, TIDE_NEXT_OBJECT);
}

static gboolean
pass(gpointer reader)
{
  Walk *walk = reader;
  return choose_node(walk, TIDE_BYTES_EMPTY) &&
         (tide_avro_node_pass(walk->schema, walk->node, &walk->in, &walk->n_empty) || fault_in(walk, TIDE_BYTES_EMPTY));
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
    .place_bytes = G_STRUCT_OFFSET(Walk, shaper),
    .detail_behind = "bytes after the record: it was written with another schema",
    .is_one_value = TRUE,
    .lists_nest = TRUE,
};

/* ---- the message ---- */

/* @start: where the datum begins in @message; both end together */
static gboolean
run(TideShaper *shaper, const TideAvroSchema *schema, TideBytes message, gsize start, TideReject *ret_reject)
{
  Walk walk = {
      .shaper = shaper, .schema = schema, .in = {.text = tide_scratch_copy(shaper->scratch, message), .at = start}};
  expect_value(&walk, schema->top);
  tide_shaper_begin_message(shaper, ret_reject, NULL, 0);
  return tide_layout_run(shaper, &calls, &walk);
}

/* Selects the schema of @message by its frame. FALSE: it cannot be read, or not yet. */
static gboolean
find_schema(Kept *kept, TideSchemaSource *schemas, TideBytes message, TideReject *ret_reject)
{
  guint32 id;
  const char *why = NULL;
  if (!tide_frame_read(message, &id, &why))
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, why);
  if (G_LIKELY(kept->schema != NULL && kept->schema_id == id))
    return TRUE;
  const TideAvroSchema *schema = NULL;
  switch (schemas->find(schemas, id, &schema, &why)) {
  case TIDE_SCHEMA_FOUND:
    kept->schema = schema;
    kept->schema_id = id;
    return TRUE;
  case TIDE_SCHEMA_AWAITED:
    ret_reject->awaited_schema = id;
    return tide_reject_set(ret_reject, TIDE_REJECT_NONE, 1, NULL);
  case TIDE_SCHEMA_NONE:
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 1, why);
  }
  g_assert_not_reached();
}

/* Reads the head of @message and keeps its schema, because most messages have the same one. */
static gboolean
take_container_head(Kept *kept, TideBytes message, TideReject *ret_reject)
{
  TideAvroHead head;
  const char *detail;
  TideBytes last = tide_buffer_bytes(&kept->head);
  if (last.len > 0 && message.len > last.len && tide_bytes_begin_with(message, last))
    return TRUE;
  tide_buffer_reset(&kept->head);
  tide_avro_schema_free(kept->contained);
  kept->contained = NULL;
  if (tide_avro_head_read(message, &head, &detail) != TIDE_AVRO_WHOLE)
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, detail);
  kept->contained = tide_avro_schema_new(head.schema, NULL);
  if (kept->contained == NULL)
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, "its schema cannot be used");
  tide_buffer_append(&kept->head, message.data, head.len);
  return TRUE;
}

static gboolean
read_container(TideShaper *shaper, Kept *kept, TideBytes message, TideReject *ret_reject)
{
  TideAvroBlock block;
  if (!take_container_head(kept, message, ret_reject))
    return FALSE;
  TideBytes rest = tide_bytes_from(message, kept->head.len);
  if (tide_avro_block_read(rest, &block) != TIDE_AVRO_WHOLE || block.n_objects != 1 ||
      rest.len - block.start < TIDE_AVRO_SYNC_BYTES ||
      (guint64)block.n_bytes != rest.len - block.start - TIDE_AVRO_SYNC_BYTES)
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, "it does not contain exactly one object");
  TideBytes object = tide_bytes(rest.data + block.start, (gsize)block.n_bytes);
  return run(shaper, kept->contained, object, 0, ret_reject);
}

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  const TideDecodeOptions *options = shaper->options;
  if (G_UNLIKELY(options->containers))
    return read_container(shaper, kept, message, ret_reject);
  if (options->schemas == NULL)
    return run(shaper, options->schema, message, 0, ret_reject);
  return find_schema(kept, options->schemas, message, ret_reject) &&
         run(shaper, ((Kept *)kept)->schema, message, TIDE_FRAME_BYTES, ret_reject);
}

static gpointer
open_kept(TideShaper *shaper)
{
  return g_new0(Kept, 1);
}

static void
close_kept(gpointer data)
{
  Kept *kept = data;
  tide_avro_schema_free(kept->contained);
  tide_buffer_clear_memory(&kept->head);
  g_free(kept);
}

const TideFormatReader tide_avro_reader = {.open = open_kept, .close = close_kept, .read = read_message};
