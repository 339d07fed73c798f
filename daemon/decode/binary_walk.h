/* What the walks over messages in MessagePack (msgpack_walk.c) and Avro (avro_walk.c) share: where they are, how they
 * tell faults, and what leaves a reading out. Each embeds a Walk as the first member of its own. */
#pragma once

#include "decode/json_text.h"
#include "decode/reading_builder.h"
#include "decode/utf8.h"
#include "model/value_text.h"
#include "util/json_writer.h"

G_BEGIN_DECLS

/* As JSON's numbers: what is longer is none that anybody keeps exactly. */
#define NUMBER_MAX_BYTES 64

typedef struct Walk {
  const TideDecodeOptions *options;
  TideReadingBuilder *builder;
  TideReject *reject; /* the caller's */
  TideScratch *scratch;
  TideBytes message; /* a copy in scratch */
  gsize at;
  guint32 depth;
  gboolean is_spoiled; /* of the reading: it is left out, and what is left of it only checked */
  TideBuffer *json;    /* of the array whose JSON text is made */
  /* Of the value that was read last, where the message does not have it as it is: what keeps it copies it. */
  char text[MAX(NUMBER_MAX_BYTES, TIDE_VALUE_TEXT_BYTES)];
} Walk;

static inline Walk
walk_of(const TideDecodeOptions *options, TideBytes message, TideScratch *scratch, TideReadingBuilder *builder,
        TideReject *reject)
{
  return (Walk){.options = options,
                .builder = builder,
                .reject = reject,
                .scratch = scratch,
                .json = &scratch->pieces,
                .message = tide_scratch_copy(scratch, message)};
}

/* ---- faults ---- */

static inline gboolean
fault(Walk *walk, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  walk->reject->field = field;
  return tide_reject_set(walk->reject, reason, (gint64)place, detail);
}

static inline gboolean
fault_cut(Walk *walk, TideBytes field)
{
  return fault(walk, TIDE_REJECT_PARSE, walk->message.len, field, "the message ends in the middle");
}

/* @text: of the message. */
static inline gboolean
check_utf8(Walk *walk, TideBytes field, TideBytes text)
{
  if (G_LIKELY(tide_utf8_is_valid(text.data, text.len)))
    return TRUE;
  gsize place = (gsize)(text.data - walk->message.data) + (gsize)tide_json_utf8_fault(text);
  return fault(walk, TIDE_REJECT_UTF8, place, field, NULL);
}

/* After a fault that may be the reading's alone: leaves it out. FALSE: the message is rejected. */
static inline gboolean
spoil_reading(Walk *walk, gsize place)
{
  walk->reject->byte_position = (gint64)place;
  if (!tide_reading_builder_can_spoil(walk->builder, walk->reject))
    return FALSE;
  tide_reading_builder_spoil(walk->builder, walk->reject);
  walk->is_spoiled = TRUE;
  return TRUE;
}

/* The same, after a fault that knows its place, and may be of one that is left out already. */
static inline gboolean
spoil_at_fault(Walk *walk)
{
  return walk->is_spoiled || spoil_reading(walk, (gsize)walk->reject->byte_position);
}

static inline gboolean
refuse_array(Walk *walk, gsize place, TideBytes name)
{
  fault(walk, TIDE_REJECT_TYPE, place, name, "an array");
  walk->reject->remedy = "let 'readings.arrays' be json (one field, its JSON text) or index (a field for each item)";
  return spoil_reading(walk, place);
}

/* ---- readings and their members ---- */

static inline gboolean
begin_reading(Walk *walk, gsize place)
{
  walk->is_spoiled = FALSE;
  if (tide_reading_builder_begin_reading(walk->builder, walk->reject))
    return TRUE;
  walk->reject->byte_position = (gint64)place;
  return FALSE;
}

static inline gboolean
end_reading(Walk *walk, gsize place)
{
  return tide_reading_builder_end_reading(walk->builder, walk->reject) ||
         (spoil_reading(walk, place) && tide_reading_builder_end_reading(walk->builder, walk->reject));
}

static inline gboolean
add(Walk *walk, gsize place, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (walk->is_spoiled || G_LIKELY(tide_reading_builder_add(walk->builder, name, kind, text, walk->reject)))
    return TRUE;
  return spoil_reading(walk, place);
}

/* @is_true: of a BOOL. */
static inline void
append_scalar(Walk *walk, TideValueKind kind, TideBytes text, gboolean is_true)
{
  if (kind == TIDE_VALUE_STRING)
    tide_json_string_append(walk->json, text);
  else if (kind == TIDE_VALUE_NULL)
    tide_buffer_append(walk->json, "null", 4);
  else if (kind == TIDE_VALUE_BOOL)
    tide_buffer_append_bytes(walk->json, tide_bytes_of_string(is_true ? "true" : "false"));
  else
    tide_buffer_append_bytes(walk->json, text);
}

G_END_DECLS
