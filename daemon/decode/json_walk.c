#include "decode/json_walk_private.h"

#include "decode/json_text.h"

/* A longer one is no measurement, and costs time in whatever reads it later. 64 bytes hold every double as it is
 * printed to be read back, and any integer of 200 bits. */
#define NUMBER_MAX_BYTES 64

TideJsonWalk *
tide_json_walk_new(const TideDecodeOptions *options)
{
  TideJsonWalk *walk = g_new0(TideJsonWalk, 1);
  walk->options = options;
  walk->index = tide_json_index_new();
  walk->frames = g_new0(Frame, options->max_depth);
  walk->root = options->root != NULL ? g_strsplit(options->root, options->separator, -1) : g_new0(char *, 1);
  tide_json_skeletons_init(&walk->skeletons);
  return walk;
}

void
tide_json_walk_free(TideJsonWalk *walk)
{
  if (walk == NULL)
    return;
  tide_json_index_free(walk->index);
  g_free(walk->frames);
  g_strfreev(walk->root);
  tide_json_skeletons_clear(&walk->skeletons);
  g_free(walk);
}

/* ---- faults ---- */

/* After a fault that may be the reading's alone: leaves it out, and then the walk goes on. FALSE: the message is
 * rejected.
 */
static G_GNUC_NO_INLINE gboolean
spoil_reading(TideJsonWalk *walk, gsize position)
{
  TideReject *reject = walk->reject;
  reject->byte_position = (gint64)position;
  if (walk->is_outer || !tide_reading_builder_can_spoil(walk->builder, reject))
    return FALSE;
  reject->byte_position += (gint64)walk->skipped_bytes;
  tide_reading_builder_spoil(walk->builder, reject);
  walk->is_spoiled = TRUE;
  return TRUE;
}

/* ---- tokens ---- */

static gboolean
unescape(TideJsonWalk *walk, TideBytes *text)
{
  gsize start = (gsize)(text->data - walk->text);
  guint8 *out = walk->raw_depth == 0 ? walk->text + start : NULL;
  gsize len;
  switch (tide_json_unescape(*text, out, &len)) {
  case TIDE_JSON_ESCAPE_OK:
    text->len = len;
    return TRUE;
  case TIDE_JSON_ESCAPE_UNKNOWN:
    return fault(walk, TIDE_REJECT_PARSE, start + len, "an unknown escape in a string");
  case TIDE_JSON_ESCAPE_LONE_SURROGATE:
    return fault(walk, TIDE_REJECT_UTF8, start + len, "an escape of half a character (a lone surrogate)");
  }
  return FALSE;
}

/* The string at the next token, which begins with a quote. Between its closing quote and the token after it
 * is only white space. */
static inline gboolean
take_string(TideJsonWalk *walk, TideBytes *ret_text)
{
  gsize start = token_offset(walk) + 1;
  walk->next++;
  gsize end = token_offset(walk);
  while (end > start && is_white_space(walk->text[end - 1]))
    end--;
  if (G_UNLIKELY(end <= start || walk->text[end - 1] != '"'))
    return fault(walk, TIDE_REJECT_PARSE, start - 1, "a string that does not end");
  *ret_text = tide_bytes(walk->text + start, end - 1 - start);
  if (G_LIKELY(!walk->has_escapes) || memchr(ret_text->data, '\\', ret_text->len) == NULL)
    return TRUE;
  return unescape(walk, ret_text);
}

/* ---- values ---- */

static inline gboolean
read_number(TideJsonWalk *walk, TideBytes name, TideBytes *ret_text)
{
  gsize offset = token_offset(walk);
  const guint8 *start = walk->text + offset;
  const guint8 *end = walk->text + walk->next[1];
  if (!tide_json_is_short_number(start, (gsize)(end - start)))
    end = tide_json_number_end(start);
  if (G_UNLIKELY(end == NULL || !ends_scalar(*end)))
    return fault_in_field(walk, TIDE_REJECT_PARSE, offset, name, "not a number");
  walk->next++;
  *ret_text = tide_bytes(start, (gsize)(end - start));
  return TRUE;
}

/* true, false or null. */
static gboolean
read_word(TideJsonWalk *walk, TideBytes name, TideBytes word)
{
  gsize offset = token_offset(walk);
  const guint8 *start = walk->text + offset;
  if (memcmp(start, word.data, word.len) != 0 || !ends_scalar(start[word.len]))
    return fault_in_field(walk, TIDE_REJECT_PARSE, offset, name, "not a value");
  walk->next++;
  return TRUE;
}

static gboolean
read_boolean(TideJsonWalk *walk, TideBytes name, gboolean value, TideBytes *ret_text)
{
  static const TideBytes words[] = {{(const guint8 *)"false", 5}, {(const guint8 *)"true", 4}};
  static const TideBytes numbers[] = {{(const guint8 *)"0", 1}, {(const guint8 *)"1", 1}};
  *ret_text = walk->options->booleans == TIDE_BOOLEAN_NUMBER ? numbers[value] : words[value];
  return read_word(walk, name, words[value]);
}

/* The value at the next token, which is that of @name and no container. */
static inline gboolean
read_scalar(TideJsonWalk *walk, TideBytes name, TideValueKind *ret_kind, TideBytes *ret_text)
{
  switch (token_byte(walk)) {
  case '-':
  case '0' ... '9':
    *ret_kind = TIDE_VALUE_NUMBER;
    return read_number(walk, name, ret_text);
  case '"':
    *ret_kind = TIDE_VALUE_STRING;
    return take_string(walk, ret_text);
  case 't':
    *ret_kind = TIDE_VALUE_BOOL;
    return read_boolean(walk, name, TRUE, ret_text);
  case 'f':
    *ret_kind = TIDE_VALUE_BOOL;
    return read_boolean(walk, name, FALSE, ret_text);
  case 'n':
    *ret_kind = TIDE_VALUE_NULL;
    *ret_text = TIDE_BYTES_EMPTY;
    return read_word(walk, name, TIDE_BYTES_LITERAL("null"));
  default:
    walk->reject->field = name;
    return fault_at_token(walk, "not a value");
  }
}

static inline gboolean
is_too_long(TideValueKind kind, TideBytes text)
{
  return kind == TIDE_VALUE_NUMBER && text.len > NUMBER_MAX_BYTES;
}

/* A member with a value that is no container. */
static inline gboolean
add_value(TideJsonWalk *walk, gsize offset, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (walk->raw_depth > 0 || walk->is_spoiled)
    return TRUE;
  if (G_UNLIKELY(!tide_reading_builder_add(walk->builder, name, kind, text, walk->reject)))
    return spoil_reading(walk, offset);
  return TRUE;
}

static inline gboolean
take_scalar(TideJsonWalk *walk, TideBytes name)
{
  gsize offset = token_offset(walk);
  TideValueKind kind;
  TideBytes text;
  if (!read_scalar(walk, name, &kind, &text))
    return FALSE;
  if (G_UNLIKELY(is_too_long(kind, text)) && !walk->is_spoiled) {
    fault_in_field(walk, TIDE_REJECT_NUMBER, offset, name,
                   "a number longer than " G_STRINGIFY(NUMBER_MAX_BYTES) " bytes");
    if (!spoil_reading(walk, offset))
      return FALSE;
  }
  return add_value(walk, offset, name, kind, text);
}

/* ---- containers ---- */

/* An object or array whose members become fields below @name. */
static gboolean
open_entered(TideJsonWalk *walk, TideBytes name, gboolean is_object)
{
  gsize offset = token_offset(walk), outer;
  if (!push(walk, is_object))
    return FALSE;
  if (walk->is_spoiled)
    return TRUE;
  if (!tide_reading_builder_enter(walk->builder, name, &outer, walk->reject))
    return spoil_reading(walk, offset);
  Frame *frame = &walk->frames[walk->depth - 1];
  frame->outer = outer;
  frame->is_entered = TRUE;
  return TRUE;
}

/* An object or array whose raw JSON is the value of @name. */
static gboolean
open_raw(TideJsonWalk *walk, TideBytes name, gboolean is_object)
{
  gsize offset = token_offset(walk);
  if (!push(walk, is_object))
    return FALSE;
  walk->raw_depth = walk->depth;
  walk->raw_start = offset;
  walk->raw_name = name;
  return TRUE;
}

static gboolean
open_object(TideJsonWalk *walk, TideBytes name)
{
  if (walk->raw_depth > 0)
    return push(walk, TRUE);
  return walk->options->raw_objects ? open_raw(walk, name, TRUE) : open_entered(walk, name, TRUE);
}

static gboolean
open_array(TideJsonWalk *walk, TideBytes name)
{
  if (walk->raw_depth > 0)
    return push(walk, FALSE);
  switch (walk->options->arrays) {
  case TIDE_ARRAY_JSON:
    return open_raw(walk, name, FALSE);
  case TIDE_ARRAY_INDEX:
    return open_entered(walk, name, FALSE);
  case TIDE_ARRAY_REJECT:
    break;
  }
  if (!walk->is_spoiled) {
    fault_in_field(walk, TIDE_REJECT_TYPE, token_offset(walk), name, "an array");
    walk->reject->remedy = "let 'readings.arrays' be json (one field, its JSON text) or index (a field for each item)";
    if (!spoil_reading(walk, token_offset(walk)))
      return FALSE;
  }
  return push(walk, FALSE);
}

/* The closing bracket of the innermost container, which is the next token. */
static gboolean
close_container(TideJsonWalk *walk)
{
  const Frame *frame = &walk->frames[walk->depth - 1];
  gsize end = token_offset(walk) + 1;
  walk->next++;
  if (frame->is_entered)
    tide_reading_builder_leave(walk->builder, frame->outer);
  gboolean ends_raw = walk->depth == walk->raw_depth;
  walk->depth--;
  if (!ends_raw)
    return TRUE;
  walk->raw_depth = 0;
  return add_value(walk, walk->raw_start, walk->raw_name, TIDE_VALUE_JSON,
                   tide_bytes(walk->text + walk->raw_start, end - walk->raw_start));
}

static inline gboolean
take_value(TideJsonWalk *walk, TideBytes name)
{
  switch (token_byte(walk)) {
  case '{':
    return open_object(walk, name);
  case '[':
    return open_array(walk, name);
  default:
    return take_scalar(walk, name);
  }
}

static inline gboolean
take_name(TideJsonWalk *walk, TideBytes *ret_name)
{
  if (G_UNLIKELY(token_byte(walk) != '"'))
    return fault_at_token(walk, "a member's name in quotes was expected");
  if (!take_string(walk, ret_name))
    return FALSE;
  return take_byte(walk, ':') || fault_at_token(walk, "a colon was expected");
}

gboolean
tide_json_walk_take_name(TideJsonWalk *walk, TideBytes *ret_name)
{
  return take_name(walk, ret_name);
}

/* What an array's element is called: its place. */
static TideBytes
element_name(TideJsonWalk *walk, guint32 offset)
{
  gsize start = sizeof walk->element_name;
  do {
    walk->element_name[--start] = (char)('0' + offset % 10);
    offset /= 10;
  } while (offset > 0);
  return tide_bytes(walk->element_name + start, sizeof walk->element_name - start);
}

/* The next member of the innermost container, or its end. */
static inline gboolean
take_member(TideJsonWalk *walk)
{
  Frame *frame = &walk->frames[walk->depth - 1];
  if (token_byte(walk) == (frame->is_object ? '}' : ']'))
    return close_container(walk);
  if (frame->n_members > 0 && !take_byte(walk, ','))
    return fault_at_token(walk, "a comma or the closing bracket was expected");
  guint32 offset = frame->n_members++;
  TideBytes name = TIDE_BYTES_EMPTY;
  if (frame->is_object) {
    if (!take_name(walk, &name))
      return FALSE;
  } else if (walk->raw_depth == 0) {
    name = element_name(walk, offset);
  }
  return take_value(walk, name);
}

/* The value of a member, whole. */
gboolean
tide_json_walk_take_value(TideJsonWalk *walk, TideBytes name)
{
  guint32 depth = walk->depth;
  if (!take_value(walk, name))
    return FALSE;
  while (walk->depth > depth)
    if (!take_member(walk))
      return FALSE;
  return TRUE;
}

/* Something other than a reading. Brackets that open one behind the other, deeper than allowed, are called by that
 * name. */
gboolean
tide_json_walk_fault_no_reading(TideJsonWalk *walk)
{
  const guint32 *token = walk->next;
  guint32 depth = walk->depth;
  while (walk->text[*token] == '[' && depth < walk->options->max_depth) {
    token++;
    depth++;
  }
  if (walk->text[*token] == '[')
    return fault(walk, TIDE_REJECT_DEPTH, *token, NULL);
  return fault_at_token(walk, "an object was expected");
}

/* ---- readings like those before ----
 *
 * Producers write the same names in the same order. Where all around the values of a reading is what stood around those
 * of another, its names are not read again. Until that is known to the end nothing is added. */

/* The value at the next token, which another reading has a value in the place of, too. */
static inline gboolean
read_known(TideJsonWalk *walk, TideField *field)
{
  const guint32 *token = walk->next;
  TideBytes text = tide_bytes(walk->text + token[0], token[1] - token[0]);
  if (G_LIKELY(tide_json_is_short_number(text.data, text.len))) {
    /* That it may end there is seen as the joint behind it is compared, which begins there. */
    field->kind = TIDE_VALUE_NUMBER;
    field->text = text;
    walk->next++;
    return TRUE;
  }
  return read_scalar(walk, TIDE_BYTES_EMPTY, &field->kind, &field->text) && !is_too_long(field->kind, field->text);
}

/* The values of a reading, into @fields, where what stands around them is @skeleton. */
static gboolean
read_values(TideJsonWalk *walk, const TideJsonSkeleton *skeleton, TideField *fields, gboolean *ret_some_null)
{
  const TideReadingNames *names = &skeleton->names;
  const TideField *known = names->fields + names->n_outer;
  const TideJsonJoint *joint = (const TideJsonJoint *)(const void *)skeleton->joints.data;
  const guint8 *bytes = skeleton->bytes.data;
  gboolean some_null = FALSE;
  for (guint32 i = 0; i < names->n_own; i++, joint++) {
    gsize offset = token_offset(walk);
    walk->next += joint->n_tokens;
    if (token_offset(walk) - offset != joint->len || !tide_memory_equal(walk->text + offset, bytes, joint->len))
      return FALSE;
    bytes += joint->len;
    TideField *field = &fields[i];
    if (!read_known(walk, field))
      return FALSE;
    field->name = known[i].name;
    field->name_id = known[i].name_id;
    some_null |= field->kind == TIDE_VALUE_NULL;
  }
  *ret_some_null = some_null;
  gsize offset = token_offset(walk);
  walk->next += joint->n_tokens;
  /* The same bytes have the same tokens and so this length; but a joint may be longer than what is left of the text. */
  return walk->next[-1] + 1 - offset == joint->len && tide_memory_equal(walk->text + offset, bytes, joint->len);
}

/* The reading that begins at @first, if it is like @skeleton's. */
static gboolean
take_like(TideJsonWalk *walk, const guint32 *first, const TideJsonSkeleton *skeleton)
{
  gboolean some_null;
  if (skeleton->n_tokens > (gsize)(walk->end - first) || skeleton->depth != walk->depth)
    return FALSE;
  TideField *fields = tide_reading_builder_offer(walk->builder, &skeleton->names);
  if (fields == NULL)
    return FALSE;
  walk->next = first;
  if (!read_values(walk, skeleton, fields, &some_null)) {
    *walk->reject = (TideReject){.byte_position = -1};
    return FALSE;
  }
  tide_reading_builder_take_offered(walk->builder, &skeleton->names, some_null);
  return TRUE;
}

/* The members of the reading that begins at @first, and its end. FALSE: it is like none, and nothing was done. */
static gboolean
take_known_members(TideJsonWalk *walk, const guint32 *first)
{
  TideJsonSkeletons *skeletons = &walk->skeletons;
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++) {
    guint32 at = (skeletons->likely + i) % TIDE_MAX_SHAPES;
    if (!take_like(walk, first, &skeletons->all[at]))
      continue;
    tide_json_skeletons_met(skeletons, at);
    walk->depth--;
    return TRUE;
  }
  walk->next = first + 1;
  return FALSE;
}

/* ---- readings ---- */

static gboolean
end_reading(TideJsonWalk *walk, gsize offset)
{
  return tide_reading_builder_end_reading(walk->builder, walk->reject) ||
         (spoil_reading(walk, offset) && tide_reading_builder_end_reading(walk->builder, walk->reject));
}

gboolean
tide_json_walk_take_reading(TideJsonWalk *walk)
{
  const guint32 *first = walk->next;
  gsize offset = token_offset(walk);
  guint32 outer_depth = walk->depth;
  if (token_byte(walk) != '{')
    return tide_json_walk_fault_no_reading(walk);
  if (!push(walk, TRUE))
    return FALSE;
  walk->is_spoiled = FALSE;
  if (!tide_reading_builder_begin_reading(walk->builder, walk->reject)) {
    walk->reject->byte_position = (gint64)offset;
    return FALSE;
  }
  gboolean looks = !walk->has_escapes && /* unescaping changes the text */
                   tide_json_skeletons_are_worth_a_look(&walk->skeletons);
  if (looks && take_known_members(walk, first))
    return end_reading(walk, offset);
  walk->skeletons.n_unlike++;
  while (walk->depth > outer_depth) {
    if (!take_member(walk))
      return FALSE;
  }
  if (!end_reading(walk, offset))
    return FALSE;
  if (looks && !walk->is_spoiled)
    tide_json_skeletons_learn(&walk->skeletons, walk->builder, walk->text, first, walk->next, walk->depth + 1);
  return TRUE;
}

/* ---- messages ---- */

static void
begin(TideJsonWalk *walk, TideBytes json, TideScratch *scratch)
{
  walk->text = tide_scratch_take(scratch, json.len + TIDE_JSON_PADDING_BYTES);
  memcpy(walk->text, json.data, json.len);
  memset(walk->text + json.len, ' ', TIDE_JSON_PADDING_BYTES);
  walk->has_escapes = memchr(json.data, '\\', json.len) != NULL;
  walk->depth = 0;
  walk->raw_depth = 0;
  walk->is_spoiled = FALSE;
  walk->is_outer = FALSE;
}

static gboolean
run(TideJsonWalk *walk, TideBytes json, TideScratch *scratch)
{
  begin(walk, json, scratch);
  guint32 n_tokens;
  if (!tide_json_index_build(walk->index, walk->text, json.len, &walk->next, &n_tokens)) {
    tide_json_text_fault(json, walk->reject);
    return FALSE;
  }
  walk->end = walk->next + n_tokens;
  if (n_tokens == 0)
    return fault(walk, TIDE_REJECT_EMPTY, 0, "only white space");
  if (tide_json_envelope_take(walk))
    return TRUE;
  /* Not every kernel of simdjson looks at bytes outside of strings; what they are called must not depend on
   * the CPU. */
  gssize utf8_fault = walk->reject->reason == TIDE_REJECT_PARSE ? tide_json_utf8_fault(json) : -1;
  if (utf8_fault >= 0)
    fault(walk, TIDE_REJECT_UTF8, (gsize)utf8_fault, NULL);
  return FALSE;
}

gboolean
tide_json_walk_run(TideJsonWalk *walk, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
                   TideReject *ret_reject)
{
  TideBytes text = tide_bytes_behind_mark(message);
  walk->skipped_bytes = message.len - text.len;
  walk->builder = builder;
  walk->reject = ret_reject;
  gboolean good = run(walk, text, scratch);
  if (!good)
    ret_reject->byte_position += (gint64)walk->skipped_bytes;
  return good;
}
