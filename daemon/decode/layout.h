/* Finds the readings in a message: the walk that all structured formats share, from the message down to its readings.
 *
 * `root` leads into an envelope. `each` leads from there to the readings, step by step. A name leads to that member,
 * and to each item if it is a list. Braces lead to every member of an object that is not a scalar; its name becomes a
 * field. Other values on each level are fields of the readings inside: they are read first, while the reader's position
 * at the inner value is saved. Readings are objects; with `positions` also lists and scalars, and with `zip` the lists
 * of one object.
 *
 * The reader's table of calls provides the values around readings, with a few calls per reading. */
#pragma once

#include "decode/shaper.h"

G_BEGIN_DECLS

typedef enum TideNextValue {
  TIDE_NEXT_OBJECT,
  TIDE_NEXT_LIST,
  TIDE_NEXT_NULL,
  TIDE_NEXT_SCALAR,
  TIDE_NEXT_NONE, /* the message ends here */
} TideNextValue;

/* Calls of a reader for the values around readings. @reader: as passed to tide_layout_run(). Functions that return
 * FALSE have filled in the shaper's reject. */
typedef struct TideReaderCalls {
  gboolean (*peek)(gpointer reader, TideNextValue *ret_next, gsize *ret_place);
  /* Enters the next object or list. */
  gboolean (*begin)(gpointer reader);
  /* Advances to the next member of the container entered last. Without one, the container is closed. */
  gboolean (*next)(gpointer reader, gboolean *ret_has, TideBytes *ret_name);
  /* Adds the next value as a member of the shaper's current object; an object or list is opened. */
  gboolean (*take)(gpointer reader, TideBytes name);
  /* See tide_shaper_take_members(). */
  gboolean (*take_members)(gpointer reader, guint32 depth);
  /* Reads the next object as a reading. */
  gboolean (*take_reading)(gpointer reader);
  /* Rejects the message, because an object or a list is missing here. Returns FALSE. */
  gboolean (*reject_instead_of)(gpointer reader, TideNextValue wanted);
  /* Skips the next value, all of which is read later. */
  gboolean (*pass)(gpointer reader);
  /* Whether the next value is the last member of its object. NULL: the reader cannot tell before the value has been
   * read. */
  gboolean (*is_last)(gpointer reader);
  gsize place_bytes;         /* size of the reader's position, with which its struct begins */
  const char *detail_behind; /* fault of bytes after the message's list or its single value */
  gboolean is_one_value;     /* a message is one value; else any number of values, or one list of them */
  gboolean lists_nest;       /* a message may be a list of lists of readings */
} TideReaderCalls;

/* @options: borrowed. Threads: the owner's only. */
TideLayout *tide_layout_new(const TideDecodeOptions *options);
void tide_layout_free(TideLayout *layout); /* NULL ok */

/* The field that a step of `each` in braces names; NULL: the step names a member. (transfer full) (nullable) */
char *tide_layout_field_of_step(const char *step);

/* Whether values may be read twice, so that a reader must not change them. */
gboolean tide_layout_rereads(const TideLayout *layout);

/* Reads all readings of the message that @shaper has begun. FALSE: the message is rejected; positions count from the
 * reader's byte 0. */
gboolean tide_layout_run(TideShaper *shaper, const TideReaderCalls *calls, gpointer reader) G_GNUC_WARN_UNUSED_RESULT;

/* For readers: reads the next object, at @place, as a reading by their calls. */
gboolean tide_layout_take_reading(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
