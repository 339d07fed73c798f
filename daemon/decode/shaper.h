/* Makes readings from the values of every structured format. A reader reports values in the order it finds them: the
 * begin and end of objects and lists, and scalars with name, kind, text and position. The shaper applies what all
 * formats share: names of nested members, lists as declared, limits, and the scope of a bad reading. layout.h finds the
 * readings in the message. */
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
  gsize outer; /* for tide_reading_builder_leave(); only if something was entered */
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
  TideShaperFrame *frames;          /* owned: options->max_depth entries */
  TideLayout *layout;               /* borrowed: layout.h */

  /* of the message */
  TideReject *reject;  /* borrowed: the caller's */
  gsize skipped_bytes; /* of the message, before the reader's byte 0 */
  const guint8 *text;  /* of formats whose lists are JSON already; NULL: their text is built */
  guint32 depth;
  guint64 made_bytes; /* of the list texts built */

  /* of the reading */
  gboolean is_spoiled; /* it is rejected: the rest of it is only checked */
  gboolean is_outer;   /* it is not a reading, but the values around readings */

  /* the list or object that is kept as JSON text, while inside it */
  struct {
    guint32 depth; /* of its frame; 0: none */
    gsize place;
    TideBytes name;
    char number[TIDE_NUMBER_MAX_BYTES]; /* within it */
  } raw;
  char element_name[11]; /* the digits of a guint32, and one more byte */
} TideShaper;

/* @layout: borrowed */
void tide_shaper_init(TideShaper *shaper, const TideDecodeOptions *options, TideLayout *layout,
                      TideReadingBuilder *builder, TideScratch *scratch);
void tide_shaper_clear(TideShaper *shaper);

/* Call before reading a message; its faults are stored in @reject. @text: see TideShaper */
void tide_shaper_begin_message(TideShaper *shaper, TideReject *reject, const guint8 *text, gsize skipped_bytes);

/* ---- faults: FALSE rejects the message ---- */

static inline gboolean
tide_shaper_reject(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  /* In a list whose text is built, only the list has a name. */
  shaper->reject->field = shaper->raw.depth > 0 && shaper->text == NULL ? shaper->raw.name : field;
  return tide_reject_set(shaper->reject, reason, (gint64)place, detail);
}

/* After a fault that may be the reading's alone: rejects the reading, and parsing continues. */
gboolean tide_shaper_spoil(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

/* Reports a value of the reading that was parsed, but is not usable. */
gboolean tide_shaper_bad_value(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field,
                               const char *detail) G_GNUC_WARN_UNUSED_RESULT;

gboolean tide_shaper_bad_utf8(TideShaper *shaper, gsize place, TideBytes field,
                              TideBytes text) G_GNUC_WARN_UNUSED_RESULT;

/* Checks that @text, which begins at @place of the message, is UTF-8; if not, the reading is bad. @ret_is_good: @text
 * is usable */
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

/* For a missing reading that is not required. */
static inline gboolean
tide_shaper_skip_reading(TideShaper *shaper, gsize place)
{
  return tide_shaper_begin_reading(shaper, place) && tide_reading_builder_skip(shaper->builder);
}

/* Members added until tide_shaper_end_outer(), each name after @prefix, are outer fields from then on, until
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

/* Opens a frame that adds no member: the braces of a reading, or of an object around readings. */
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

/* Adds a member that is an object or a list. Calls for each value in it, and for its end, follow. */
gboolean tide_shaper_begin(TideShaper *shaper, gsize place, TideBytes name,
                           gboolean is_object) G_GNUC_WARN_UNUSED_RESULT;

/* Ends the container opened last. @place: after it */
gboolean tide_shaper_end(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

void tide_shaper_write_name(TideShaper *shaper, TideBytes name);

/* Call before each value of an object, with its name. */
static inline void
tide_shaper_name(TideShaper *shaper, TideBytes name)
{
  shaper->frames[shaper->depth - 1].n_members++;
  if (G_UNLIKELY(shaper->raw.depth > 0))
    tide_shaper_write_name(shaper, name);
}

/* Call before each value of a list. Returns: the value's name, which is its index; valid until the next call */
TideBytes tide_shaper_next_element(TideShaper *shaper);

/* Adds a value in the rare cases that it is part of a text, or of a rejected reading. */
gboolean tide_shaper_add_inside(TideShaper *shaper, gsize place, TideValueKind kind,
                                TideBytes text) G_GNUC_WARN_UNUSED_RESULT;

/* Adds a member that is a scalar. @text: borrowed for as long as the readings are used */
static inline gboolean
tide_shaper_add(TideShaper *shaper, gsize place, TideBytes name, TideValueKind kind, TideBytes text)
{
  if (G_UNLIKELY((shaper->raw.depth > 0) | shaper->is_spoiled))
    return tide_shaper_add_inside(shaper, place, kind, text);
  if (G_LIKELY(tide_reading_builder_add(shaper->builder, name, kind, text, shaper->reject)))
    return TRUE;
  return tide_shaper_spoil(shaper, place);
}

/* Adds a text, whose bytes begin at @text_place of the message. Bytes that are not UTF-8 are a bad value. */
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

/* Room for the text of a number, at most TIDE_NUMBER_MAX_BYTES; valid as long as the readings if they need it. */
static inline char *
tide_shaper_number_room(TideShaper *shaper, gsize n_bytes)
{
  if (G_UNLIKELY((shaper->raw.depth > 0) | shaper->is_spoiled))
    return shaper->raw.number;
  return (char *)tide_scratch_take(shaper->scratch, n_bytes);
}

/* @number: two's complement if signed */
static inline gboolean
tide_shaper_add_integer(TideShaper *shaper, gsize place, TideBytes name, guint64 number, gboolean is_signed)
{
  char *room = tide_shaper_number_room(shaper, TIDE_VALUE_TEXT_BYTES);
  TideBytes text = is_signed ? tide_signed_text(room, (gint64)number) : tide_integer_text(room, number, FALSE);
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_NUMBER, text);
}

/* Adds a float in its shortest exact form. @bits: of a float, in the lower half; they begin at @bits_place */
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

/* Adds a time: seconds since 1970, and nanoseconds @ns. */
static inline gboolean
tide_shaper_add_time(TideShaper *shaper, gsize place, TideBytes name, gint64 seconds, guint32 ns)
{
  char *room = tide_shaper_number_room(shaper, TIDE_VALUE_TEXT_BYTES);
  return tide_shaper_add(shaper, place, name, TIDE_VALUE_NUMBER, tide_seconds_text(room, seconds, ns));
}

/* Reads everything inside the containers deeper than @depth: the loop of each reader, into which its own functions are
 * compiled. @next, @take: see TideReaderCalls (layout.h) */
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

/* The reader of a format; typedef in formats.h. The reader's own file describes how it converts each kind of value. */
struct TideFormatReader {
  /* Creates the state kept between messages. NULL: there is none. @shaper: borrowed */
  gpointer (*open)(TideShaper *shaper);
  void (*close)(gpointer kept);
  /* Adds all readings of @message to the shaper's builder, which has begun a message. @message is copied once into the
   * shaper's scratch, to which names and texts of the fields point, and is at most 4 GiB. FALSE with @ret_reject
   * filled: the builder's contents are then unusable. */
  gboolean (*read)(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject);
};

#define TIDE_DECLARE_READER(word, value, name) extern const struct TideFormatReader tide_##name##_reader;
TIDE_FORMATS(TIDE_DECLARE_READER)

G_END_DECLS
