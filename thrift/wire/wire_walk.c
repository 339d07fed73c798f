/* Walking over a value whose content does not matter: to skip it, and to find out where a message ends.
 *
 * A list of levels in place of recursion: a hostile peer cannot use up the stack, and a walk that ran out of bytes goes
 * on later where it stood, so that a large reply that arrives in pieces is looked at once. */
#include "thrift/wire/wire_reader.h"

static void
push(TideWireWalk *walk, TideWireReader *reader, TideWireWalkLevel level)
{
  if (walk->depth == TIDE_WIRE_DEPTH_MAX) {
    tide_wire_reader_fail(reader, "nesting too deep");
    return;
  }
  walk->levels[walk->depth++] = level;
}

/* Reads a scalar whole; enters a container. */
static void
walk_value(TideWireWalk *walk, TideWireReader *reader, TideWireType type)
{
  TideWireContainer container;
  switch (type) {
  case TIDE_WIRE_STOP:
    return; /* never a value's type: the reader refuses it */
  case TIDE_WIRE_BOOL:
    (void)tide_wire_read_bool(reader);
    return;
  case TIDE_WIRE_BYTE:
    (void)tide_wire_read_byte(reader);
    return;
  case TIDE_WIRE_I16:
    (void)tide_wire_read_i16(reader);
    return;
  case TIDE_WIRE_I32:
    (void)tide_wire_read_i32(reader);
    return;
  case TIDE_WIRE_I64:
    (void)tide_wire_read_i64(reader);
    return;
  case TIDE_WIRE_DOUBLE:
    tide_wire_skip_bytes(reader, 8); /* IEEE 754, in both protocols */
    return;
  case TIDE_WIRE_STRING:
    (void)tide_wire_read_string(reader);
    return;
  case TIDE_WIRE_STRUCT:
    push(walk, reader, (TideWireWalkLevel){.container = TIDE_WIRE_STRUCT});
    return;
  case TIDE_WIRE_SET:
  case TIDE_WIRE_LIST:
    if (tide_wire_read_list(reader, &container))
      push(walk, reader,
           (TideWireWalkLevel){
               .container = TIDE_WIRE_LIST, .element_type = container.element_type, .left = container.count});
    return;
  case TIDE_WIRE_MAP:
    if (tide_wire_read_map(reader, &container))
      push(walk, reader,
           (TideWireWalkLevel){.container = TIDE_WIRE_MAP,
                               .key_type = container.key_type,
                               .element_type = container.element_type,
                               .left = (guint64)container.count * 2});
    return;
  }
}

/* One field or element of the innermost level, or its end. */
static void
walk_step(TideWireWalk *walk, TideWireReader *reader)
{
  TideWireWalkLevel *level = &walk->levels[walk->depth - 1];
  if (level->container == TIDE_WIRE_STRUCT) {
    if (tide_wire_read_field(reader, &level->field))
      walk_value(walk, reader, level->field.type);
    else if (reader->status == TIDE_WIRE_OK)
      walk->depth--;
    return;
  }
  if (level->left == 0) {
    walk->depth--;
    return;
  }
  gboolean is_key = level->container == TIDE_WIRE_MAP && level->left % 2 == 0;
  level->left--;
  walk_value(walk, reader, is_key ? level->key_type : level->element_type);
}

void
tide_wire_walk_begin(TideWireWalk *walk)
{
  walk->depth = 1;
  walk->levels[0] = (TideWireWalkLevel){.container = TIDE_WIRE_STRUCT};
}

TideWireStatus
tide_wire_walk(TideWireWalk *walk, TideWireReader *reader)
{
  while (walk->depth > 0 && reader->status == TIDE_WIRE_OK) {
    TideWireWalkLevel *level = &walk->levels[walk->depth - 1];
    TideWireWalkLevel before = *level;
    gsize offset = reader->offset;
    walk_step(walk, reader);
    if (reader->status == TIDE_WIRE_SHORT) { /* a step is whole or has not happened; a short one entered nothing */
      *level = before;
      reader->offset = offset;
    }
  }
  return reader->status;
}

void
tide_wire_skip(TideWireReader *reader, TideWireType type)
{
  TideWireWalk walk;
  walk.depth = 0;
  walk_value(&walk, reader, type);
  (void)tide_wire_walk(&walk, reader);
}
