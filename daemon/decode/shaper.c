#include "decode/shaper.h"

#include "decode/json_text.h"
#include "util/json_writer.h"

/* Texts built from the lists of a message take at most this many times the largest message. Otherwise a long name
 * around many short values could exhaust the memory. */
#define MADE_BYTES_FACTOR 8u

void
tide_shaper_clear(TideShaper *shaper)
{
  g_free(shaper->frames);
}

void
tide_shaper_begin_message(TideShaper *shaper, TideReject *reject, const guint8 *text, gsize skipped_bytes)
{
  shaper->reject = reject;
  shaper->text = text;
  shaper->skipped_bytes = skipped_bytes;
  shaper->depth = shaper->raw.depth = 0;
  shaper->made_bytes = 0;
  shaper->is_spoiled = shaper->is_outer = FALSE;
}

/* ---- faults ---- */

G_GNUC_NO_INLINE gboolean
tide_shaper_spoil(TideShaper *shaper, gsize place)
{
  TideReject *reject = shaper->reject;
  reject->byte_position = (gint64)place;
  if (shaper->is_outer || !tide_reading_builder_can_spoil(shaper->builder, reject))
    return FALSE;
  reject->byte_position += (gint64)shaper->skipped_bytes;
  tide_reading_builder_spoil(shaper->builder, reject);
  shaper->is_spoiled = TRUE;
  return TRUE;
}

gboolean
tide_shaper_bad_value(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  if (shaper->is_spoiled)
    return TRUE;
  tide_shaper_reject(shaper, reason, place, field, detail);
  return tide_shaper_spoil(shaper, place);
}

gboolean
tide_shaper_bad_utf8(TideShaper *shaper, gsize place, TideBytes field, TideBytes text)
{
  return tide_shaper_bad_value(shaper, TIDE_REJECT_UTF8, place + (gsize)tide_json_utf8_fault(text), field, NULL);
}

/* ---- lists and objects as their JSON text ---- */

static inline gboolean
makes_text(const TideShaper *shaper)
{
  return shaper->raw.depth > 0 && shaper->text == NULL && !shaper->is_spoiled;
}

static gboolean
check_text_size(TideShaper *shaper, gsize place)
{
  guint64 max_bytes = (guint64)shaper->options->max_message_bytes * MADE_BYTES_FACTOR;
  return shaper->made_bytes + shaper->scratch->pieces.len <= max_bytes ||
         tide_shaper_reject(shaper, TIDE_REJECT_TOO_LARGE, place, shaper->raw.name,
                            "the JSON text of arrays takes too much memory");
}

/* @n_members: of the open container, including the new one. */
static void
write_comma(TideShaper *shaper, guint32 n_members)
{
  if (n_members > 1)
    tide_buffer_append_byte(&shaper->scratch->pieces, ',');
}

void
tide_shaper_write_name(TideShaper *shaper, TideBytes name)
{
  if (!makes_text(shaper))
    return;
  write_comma(shaper, tide_shaper_top(shaper)->n_members);
  tide_json_string_append(&shaper->scratch->pieces, name);
  tide_buffer_append_byte(&shaper->scratch->pieces, ':');
}

gboolean
tide_shaper_add_inside(TideShaper *shaper, gsize place, TideValueKind kind, TideBytes text)
{
  TideBuffer *json = &shaper->scratch->pieces;
  if (!makes_text(shaper))
    return TRUE;
  if (kind == TIDE_VALUE_STRING)
    tide_json_string_append(json, text);
  else
    tide_buffer_append_bytes(json, kind == TIDE_VALUE_NULL ? TIDE_BYTES_LITERAL("null") : text);
  return check_text_size(shaper, place);
}

/* ---- members ---- */

TideBytes
tide_shaper_next_element(TideShaper *shaper)
{
  guint32 index = tide_shaper_top(shaper)->n_members++;
  if (shaper->raw.depth > 0) {
    if (makes_text(shaper))
      write_comma(shaper, index + 1);
    return TIDE_BYTES_EMPTY;
  }
  gsize start = sizeof shaper->element_name;
  do {
    shaper->element_name[--start] = (char)('0' + index % 10);
    index /= 10;
  } while (index > 0);
  return tide_bytes(shaper->element_name + start, sizeof shaper->element_name - start);
}

gboolean
tide_shaper_begin(TideShaper *shaper, gsize place, TideBytes name, gboolean is_object)
{
  gboolean is_member = shaper->raw.depth == 0;
  TideArrayForm form = shaper->options->arrays;
  if (is_member && !is_object && form == TIDE_ARRAY_REJECT && !shaper->is_spoiled) {
    shaper->reject->remedy =
        "set 'readings.arrays' to json (one field, its JSON text) or index (a field for each item)";
    if (!tide_shaper_bad_value(shaper, TIDE_REJECT_TYPE, place, name, "an array"))
      return FALSE;
  }
  if (!tide_shaper_push(shaper, place, name, is_object))
    return FALSE;
  if (is_member && (is_object ? shaper->options->objects == TIDE_OBJECT_RAW : form == TIDE_ARRAY_JSON)) {
    shaper->raw.depth = shaper->depth;
    shaper->raw.place = place;
    shaper->raw.name = name;
    tide_buffer_reset(&shaper->scratch->pieces);
  }
  if (shaper->raw.depth > 0) {
    if (makes_text(shaper))
      tide_buffer_append_byte(&shaper->scratch->pieces, is_object ? '{' : '[');
    return !makes_text(shaper) || check_text_size(shaper, place);
  }
  if (shaper->is_spoiled)
    return TRUE;
  TideShaperFrame *frame = tide_shaper_top(shaper);
  frame->is_entered = tide_reading_builder_enter(shaper->builder, name, &frame->outer, shaper->reject);
  return frame->is_entered || tide_shaper_spoil(shaper, place);
}

gboolean
tide_shaper_end(TideShaper *shaper, gsize place)
{
  const TideShaperFrame *frame = tide_shaper_top(shaper);
  if (frame->is_entered)
    tide_reading_builder_leave(shaper->builder, frame->outer);
  if (makes_text(shaper))
    tide_buffer_append_byte(&shaper->scratch->pieces, frame->is_object ? '}' : ']');
  gboolean ends_raw = shaper->depth == shaper->raw.depth;
  shaper->depth--;
  if (!ends_raw)
    return TRUE;
  shaper->raw.depth = 0;
  if (shaper->is_spoiled)
    return TRUE;
  TideBytes text = tide_buffer_bytes(&shaper->scratch->pieces);
  shaper->made_bytes += text.len;
  text = shaper->text != NULL ? tide_bytes(shaper->text + shaper->raw.place, place - shaper->raw.place)
                              : tide_scratch_copy(shaper->scratch, text);
  return tide_shaper_add(shaper, shaper->raw.place, shaper->raw.name, TIDE_VALUE_JSON, text);
}

void
tide_shaper_init(TideShaper *shaper, const TideDecodeOptions *options, TideLayout *layout, TideReadingBuilder *builder,
                 TideScratch *scratch)
{
  *shaper = (TideShaper){
      .options = options,
      .layout = layout,
      .builder = builder,
      .scratch = scratch,
      .frames = g_new0(TideShaperFrame, options->max_depth),
  };
}
