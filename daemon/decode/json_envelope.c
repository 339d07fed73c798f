/* What stands around the readings of a JSON message: the way to them (root), the list of them (each), and the fields
 * that they take along. */
#include "decode/json_walk_private.h"

typedef gboolean (*TakeFunc)(TideJsonWalk *walk);

/* A list of what @take takes. */
static gboolean
take_list(TideJsonWalk *walk, TakeFunc take)
{
  if (!push(walk, FALSE))
    return FALSE;
  if (token_byte(walk) != ']') {
    do {
      if (!take(walk))
        return FALSE;
    } while (take_byte(walk, ','));
  }
  walk->depth--;
  return take_byte(walk, ']') || fault_at_token(walk, "a comma or the closing bracket was expected");
}

static gboolean
take_one_or_list(TideJsonWalk *walk, TakeFunc take)
{
  return token_byte(walk) == '[' ? take_list(walk, take) : take(walk);
}

/* What the configuration says is in the object that begins at @offset. */
static gboolean
fault_missing(TideJsonWalk *walk, gsize offset, const char *name)
{
  fault_in_field(walk, TIDE_REJECT_MISSING_FIELD, offset, tide_bytes_of_string(name),
                 "no such member stands around the readings, or it is null");
  walk->reject->remedy = "see 'readings.root' and 'readings.each'";
  return FALSE;
}

static gboolean
is_null(const TideJsonWalk *walk)
{
  const guint8 *text = walk->text + token_offset(walk);
  return memcmp(text, "null", 4) == 0 && ends_scalar(text[4]);
}

/* Hands the value of each member of the object at the next token to a function: @take_wanted that of the member called
 * @wanted, which must be there once and not null. Others are fields of what is begun, or checked only. */
static gboolean
take_around(TideJsonWalk *walk, const char *wanted, TakeFunc take_wanted)
{
  gsize offset = token_offset(walk);
  gboolean is_first = TRUE, is_found = FALSE;
  if (token_byte(walk) != '{')
    return tide_json_walk_fault_no_reading(walk);
  if (!push(walk, TRUE))
    return FALSE;
  for (; !take_byte(walk, '}'); is_first = FALSE) {
    TideBytes name;
    if (!is_first && !take_byte(walk, ','))
      return fault_at_token(walk, "a comma or the closing bracket was expected");
    if (!tide_json_walk_take_name(walk, &name))
      return FALSE;
    if (!tide_bytes_equal(name, tide_bytes_of_string(wanted))) {
      if (!tide_json_walk_take_value(walk, name))
        return FALSE;
      continue;
    }
    if (is_found)
      return fault_in_field(walk, TIDE_REJECT_DUPLICATE_FIELD, token_offset(walk), name, NULL);
    is_found = TRUE;
    if (is_null(walk))
      return fault_missing(walk, token_offset(walk), wanted);
    if (!take_wanted(walk))
      return FALSE;
  }
  walk->depth--;
  return is_found || fault_missing(walk, offset, wanted);
}

/* Notes where the list of readings is, and goes on behind it: what stands beside it comes first. Of the list only its
 * brackets are looked at. */
static gboolean
skip_list(TideJsonWalk *walk)
{
  guint32 outer_depth = walk->depth;
  if (token_byte(walk) != '[')
    return fault_at_token(walk, "a list of readings was expected");
  walk->list = walk->next;
  do {
    guint8 byte = token_byte(walk);
    if (byte == '[' || byte == '{') {
      if (!push(walk, byte == '{'))
        return FALSE;
      continue;
    }
    if (walk->next == walk->end)
      return fault_at_token(walk, NULL);
    if (byte == ']' || byte == '}') {
      if (walk->frames[walk->depth - 1].is_object != (byte == '}'))
        return fault_at_token(walk, "a comma or the closing bracket was expected");
      walk->depth--;
    }
    walk->next++;
  } while (walk->depth > outer_depth);
  return TRUE;
}

/* An object with a list of readings in it, which take what stands beside the list along. */
static gboolean
take_each(TideJsonWalk *walk)
{
  gsize offset = token_offset(walk);
  walk->is_spoiled = FALSE;
  walk->is_outer = TRUE;
  if (!tide_reading_builder_begin_reading(walk->builder, walk->reject)) {
    walk->reject->byte_position = (gint64)offset;
    return FALSE;
  }
  if (!take_around(walk, walk->options->each, skip_list))
    return FALSE;
  walk->is_outer = FALSE;
  tide_reading_builder_end_outer(walk->builder);
  const guint32 *behind = walk->next;
  walk->next = walk->list;
  walk->depth++; /* the object around the list */
  if (!take_list(walk, tide_json_walk_take_reading))
    return FALSE;
  walk->depth--;
  walk->next = behind;
  tide_reading_builder_leave_outer(walk->builder);
  return TRUE;
}

static gboolean
take_content(TideJsonWalk *walk)
{
  return take_one_or_list(walk, walk->options->each != NULL ? take_each : tide_json_walk_take_reading);
}

/* The object at the next token: the way to the readings leads through it. */
static gboolean
take_root(TideJsonWalk *walk)
{
  const char *name = walk->root[walk->level];
  walk->is_spoiled = TRUE; /* nobody asks for what stands beside it */
  walk->level++;
  gboolean good = name != NULL ? take_around(walk, name, take_root) : take_content(walk);
  walk->level--;
  walk->is_spoiled = TRUE;
  return good;
}

/* One of a message: a reading, or what stands around readings. */
static gboolean
take_item(TideJsonWalk *walk)
{
  walk->level = 0;
  if (walk->root[0] != NULL)
    return take_root(walk);
  return walk->options->each != NULL ? take_each(walk) : tide_json_walk_take_reading(walk);
}

gboolean
tide_json_envelope_take(TideJsonWalk *walk)
{
  if (token_byte(walk) == '[') {
    if (!take_list(walk, take_item))
      return FALSE;
    return walk->next == walk->end || fault_at_token(walk, "text after the array");
  }
  while (walk->next < walk->end)
    if (!take_item(walk))
      return FALSE;
  return TRUE;
}
