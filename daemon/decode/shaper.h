/* The one door through which every structured format's values become readings. A reader tells of values as it meets
 * them: the begin and the end of objects and lists, and scalars with their name, kind, text and byte. The shaper makes
 * readings of these: the names of nested members, lists as declared, limits, and what one bad reading takes with it.
 * Where in a message its readings are is for layout.h. */
#pragma once

#include "decode/decimal_text.h"
#include "decode/reading_builder.h"
#include "decode/utf8.h"
#include "model/value_text.h"

#include <math.h>

G_BEGIN_DECLS

#define TIDE_NUMBER_TOO_LONG "a number longer than " G_STRINGIFY(TIDE_NUMBER_MAX_BYTES) " bytes"

/* An open object or list. */
typedef struct TideShaperFrame {
  gsize outer; /* for tide_reading_builder_leave(); only where something was entered */
  guint32 n_members;
  gboolean is_object;
  gboolean is_entered;

  /* the reader's own, not set by the shaper */
  guint64 n_left;
  gconstpointer type;
  gconstpointer next;
  gsize place;
} TideShaperFrame;

typedef struct TideLayout TideLayout;

typedef struct TideShaper {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  TideReadingBuilder *builder;      /* borrowed */
  TideScratch *scratch;             /* borrowed */
  TideShaperFrame *frames;          /* owned: options->max_depth of them */
  TideLayout *layout;               /* borrowed: layout.h */

  /* of the message */
  TideReject *reject;  /* borrowed: the caller's */
  gsize skipped_bytes; /* of the message, before what the reader calls byte 0 */
  const guint8 *text;  /* of a format whose lists are JSON as they stand; NULL: their text is made */
  guint32 depth;
  guint64 made_bytes; /* of the texts of lists that were made */

  /* of the reading */
  gboolean is_spoiled; /* it is left out: what remains of it is only checked */
  gboolean is_outer;   /* it is none, but what stands around readings */

  /* the list or object that is kept as its JSON text, while inside of it */
  struct {
    guint32 depth; /* of its frame; 0: none */
    gsize place;
    TideBytes name;
    char number[TIDE_NUMBER_MAX_BYTES]; /* in it */
  } raw;
  char element_name[11]; /* the digits of a guint32, and one more */
} TideShaper;

/* @layout: borrowed */
void tide_shaper_init(TideShaper *shaper, const TideDecodeOptions *options, TideLayout *layout,
                      TideReadingBuilder *builder, TideScratch *scratch);
void tide_shaper_clear(TideShaper *shaper);

/* Before a message is read, whose faults go to @reject. @text: see TideShaper */
void tide_shaper_begin_message(TideShaper *shaper, TideReject *reject, const guint8 *text, gsize skipped_bytes);

/* ---- faults: FALSE rejects the message ---- */

static inline gboolean
tide_shaper_reject(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  /* Within a list whose text is made nothing has a name but the list. */
  shaper->reject->field = shaper->raw.depth > 0 && shaper->text == NULL ? shaper->raw.name : field;
  return tide_reject_set(shaper->reject, reason, (gint64)place, detail);
}

/* After a fault that may be the reading's alone: leaves it out, and reading goes on. */
gboolean tide_shaper_spoil(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

/* A value of the reading that cannot be used, but that could be read. */
gboolean tide_shaper_bad_value(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field,
                               const char *detail) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_shaper_bad_utf8(TideShaper *shaper, gsize place, TideBytes field,
                              TideBytes text) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @text, of the message in which it begins at @place, is UTF-8; where it is not, the reading is bad.
 * @ret_is_good: it may be used */
static inline gboolean
tide_shaper_check_utf8(TideShaper *shaper, gsize place, TideBytes field, TideBytes text, gboolean *ret_is_good)
{
  *ret_is_good = tide_utf8_is_valid(text.data, text.len);
  return G_LIKELY(*ret_is_good) || tide_shaper_bad_utf8(shaper, place, field, text);
}

/* ---- readings ---- */

static inline gboolean
tide_shaper_begin_reading(TideShaper *shaper, gsize place)
{
  shaper->is_spoiled = FALSE;
  if (G_LIKELY(tide_reading_builder_begin_reading(shaper->builder, shaper->reject)))
    return TRUE;
  shaper->reject->byte_position = (gint64)place;
  return FALSE;
}

static inline gboolean
tide_shaper_end_reading(TideShaper *shaper, gsize place)
{
  return G_LIKELY(tide_reading_builder_end_reading(shaper->builder, shaper->reject)) ||
         (tide_shaper_spoil(shaper, place) && tide_reading_builder_end_reading(shaper->builder, shaper->reject));
}

/* In place of a reading that is not there, and is not asked for. */
static inline gboolean
tide_shaper_skip_reading(TideShaper *shaper, gsize place)
{
  return tide_shaper_begin_reading(shaper, place) && tide_reading_builder_skip(shaper->builder);
}

/* What is added until tide_shaper_end_outer(), each name behind @prefix, stands around readings, from then on until
 * tide_reading_builder_leave_outer(). */
static inline gboolean
tide_shaper_begin_outer(TideShaper *shaper, gsize place, TideBytes prefix)
{
  shaper->is_outer = TRUE;
  if (!tide_shaper_begin_reading(shaper, place))
    return FALSE;
  tide_reading_builder_set_prefix(shaper->builder, prefix);
  return TRUE;
}

static inline TideOuterMark
tide_shaper_end_outer(TideShaper *shaper)
{
  shaper->is_outer = FALSE;
  return tide_reading_builder_end_outer(shaper->builder);
}

/* ---- members ---- */

/* Opens a frame that adds no member: the braces of a reading, and of what stands around it. */
static inline gboolean
tide_shaper_push(TideShaper *shaper, gsize place, TideBytes name, gboolean is_object)
{
  if (G_UNLIKELY(shaper->depth >= shaper->options->max_depth))
    return tide_shaper_reject(shaper, TIDE_REJECT_DEPTH, place, name, NULL);
  TideShaperFrame *frame = &shaper->frames[shaper->depth++];
  frame->n_members = 0;
  frame->is_object = is_object;
  frame->is_entered = FALSE;
  return TRUE;
}

static inline TideShaperFrame *
tide_shaper_top(TideShaper *shaper)
{
  return &shaper->frames[shaper->depth - 1];
}

/* A member that is an object or a list. Each value in it, and its end, follow. */
gboolean tide_shaper_begin(TideShaper *shaper, gsize place, TideBytes name,
                           gboolean is_object) G_GNUC_WARN_UNUSED_RESULT;

/* The end of what was opened last. @place: behind it */
gboolean tide_shaper_end(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

void tide_shaper_write_name(TideShaper *shaper, TideBytes name);

/* In front of each value of an object, its name. */
static inline void
tide_shaper_name(TideShaper *shaper, TideBytes name)
{
  shaper->frames[shaper->depth - 1].n_members++;
  if (G_UNLIKELY(shaper->raw.depth > 0))
    tide_shaper_write_name(shaper, name);
}

/* In front of each value of a list. Returns: what it is called, its place; valid until the next */
TideBytes tide_shaper_next_element(TideShaper *shaper);

/* Rare: the value is part of a text, or of a reading that is left out. */
gboolean tide_shaper_add_inside(TideShaper *shaper, gsize place, TideValueKind kind,
                                TideBytes text) G_GNUC_WARN_UNUSED_RESULT;

/* A member that is a scalar. @text: borrowed for as long as the readings are used */
static inline gboolean
tide_shaper_add(TideShaper *shaper, gsize place, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (G_UNLIKELY((shaper->raw.depth > 0) | shaper->is_spoiled))
    return tide_shaper_add_inside(shaper, place, kind, text);
  if (G_LIKELY(tide_reading_builder_add(shaper->builder, name, kind, text, shaper->reject)))
    return TRUE;
  return tide_shaper_spoil(shaper, place);
}

/* A text, whose bytes begin at @text_place of the message: bytes that are no UTF-8 are a bad value. */
static inline gboolean
tide_shaper_add_text(TideShaper *shaper, gsize place, TideBytes name, gsize text_place, TideBytes text)
{
  gboolean is_good;
  return tide_shaper_check_utf8(shaper, text_place, name, text, &is_good) &&
         (!is_good || tide_shaper_add(shaper, place, name, TIDE_VALUE_STRING, text));
}

static inline gboolean
tide_shaper_add_boolean(TideShaper *shaper, gsize place, TideBytes name, gboolean value)
{
  TideBooleanForm form = shaper->raw.depth == 0 ? shaper->options->booleans : TIDE_BOOLEAN_TEXT;
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_BOOL, tide_boolean_text(form, value));
}

/* Room for the text of a number, at most TIDE_NUMBER_MAX_BYTES; it lives as long as the readings where it must. */
static inline char *
tide_shaper_number_room(TideShaper *shaper, gsize n_bytes)
{
  if (G_UNLIKELY((shaper->raw.depth > 0) | shaper->is_spoiled))
    return shaper->raw.number;
  return (char *)tide_scratch_take(shaper->scratch, n_bytes);
}

/* @number: of a signed one two's complement */
static inline gboolean
tide_shaper_add_integer(TideShaper *shaper, gsize place, TideBytes name, guint64 number, gboolean is_signed)
{
  char *room = tide_shaper_number_room(shaper, TIDE_VALUE_TEXT_BYTES);
  TideBytes text = is_signed ? tide_signed_text(room, (gint64)number) : tide_integer_text(room, number, FALSE);
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_NUMBER, text);
}

/* As short as it can be to be read back. @bits: of a float in the lower half; they begin at @bits_place */
static inline gboolean
tide_shaper_add_float(TideShaper *shaper, gsize place, TideBytes name, gsize bits_place, guint64 bits,
                      gboolean is_double)
{
  double value;
  float narrow;
  guint32 half = (guint32)bits;
  memcpy(&value, &bits, sizeof value);
  memcpy(&narrow, &half, sizeof narrow);
  gboolean is_finite = is_double ? isfinite(value) : isfinite(narrow);
  if (!is_finite && shaper->options->fields.nan_is_null)
    return tide_shaper_add(shaper, place, name, TIDE_VALUE_NULL, TIDE_BYTES_EMPTY);
  if (!is_finite)
    return tide_shaper_bad_value(shaper, TIDE_REJECT_NUMBER, bits_place, name, "not a finite number");
  char *room = tide_shaper_number_room(shaper, TIDE_VALUE_TEXT_BYTES);
  TideBytes text = is_double ? tide_double_text(room, value) : tide_float_text(room, narrow);
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_NUMBER, text);
}

/* Seconds since 1970, and @ns of the second that begins there. */
static inline gboolean
tide_shaper_add_time(TideShaper *shaper, gsize place, TideBytes name, gint64 seconds, guint32 ns)
{
  char *room = tide_shaper_number_room(shaper, TIDE_VALUE_TEXT_BYTES);
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_NUMBER, tide_seconds_text(room, seconds, ns));
}

/* What was opened beyond @depth, to its end: the loop of each reader, into which its own functions are compiled. @next,
 * @take: see TideReaderCalls (layout.h) */
static G_ALWAYS_INLINE inline gboolean
tide_shaper_take_members(const TideShaper *shaper, gpointer reader, guint32 depth,
                         gboolean (*next)(gpointer reader, gboolean *ret_has, TideBytes *ret_name),
                         gboolean (*take)(gpointer reader, TideBytes name))
{
  while (shaper->depth > depth) {
    gboolean has;
    TideBytes name;
    if (!next(reader, &has, &name) || (has && !take(reader, name)))
      return FALSE;
  }
  return TRUE;
}

/* ---- formats ---- */

/* How a format's messages are read; typedef in formats.h. What becomes of each kind of value stands in the reader's own
 * file. */
struct TideFormatReader {
  /* Makes what is kept from one message to the next. NULL: nothing is. @shaper: borrowed */
  gpointer (*open)(TideShaper *shaper);
  void (*close)(gpointer kept);
  /* Adds all readings of @message to the shaper's builder, which has begun a message. @message is copied once into the
   * shaper's scratch, which names and texts of the fields point into, and is at most 4 GiB. FALSE with @ret_reject
   * filled: then what the builder got is of no use. */
  gboolean (*read)(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject);
};

#define TIDE_DECLARE_READER(word, value, name) extern const struct TideFormatReader tide_##name##_reader;
TIDE_FORMATS(TIDE_DECLARE_READER)

G_END_DECLS
