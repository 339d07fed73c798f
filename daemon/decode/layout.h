/* Where in a message its readings are: the one walk of every structured format from the message down to them.
 *
 * `root` leads into an envelope. `each` leads from there to the readings, step by step: a name into that member, and
 * into each item where it is a list; braces into every member of an object that is no scalar, whose name becomes a
 * field. What stands around on each level is a field of the readings inside: it is read first, while the reader's place
 * at what is inside is kept. Readings are objects; with `positions` lists and scalars too, and with `zip` the lists of
 * one object.
 *
 * A reader is asked for what stands around readings through its table of calls, a few for each reading. */
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

/* How the values around readings are asked for. @reader: as it was handed to tide_layout_run(). Functions that return
 * FALSE have filled in the shaper's reject. */
typedef struct TideReaderCalls {
  gboolean (*peek)(gpointer reader, TideNextValue *ret_next, gsize *ret_place);
  /* Into the object or list that comes next. */
  gboolean (*begin)(gpointer reader);
  /* On to the next member of what was begun last; without one, it was ended. */
  gboolean (*next)(gpointer reader, gboolean *ret_has, TideBytes *ret_name);
  /* The value that comes next as a member of what the shaper has in hand; one that holds others is begun. */
  gboolean (*take)(gpointer reader, TideBytes name);
  /* See tide_shaper_take_members(). */
  gboolean (*take_members)(gpointer reader, guint32 depth);
  /* The object that comes next as a reading. */
  gboolean (*take_reading)(gpointer reader);
  /* Rejects the message, as an object or a list should come next. Returns FALSE. */
  gboolean (*reject_instead_of)(gpointer reader, TideNextValue wanted);
  /* Passes over the value that comes next, all of which is read later. */
  gboolean (*pass)(gpointer reader);
  /* Whether the value that comes next is the last member of its object. NULL: only what stands behind it tells. */
  gboolean (*is_last)(gpointer reader);
  gsize place_bytes;         /* where a reader is in its message is what it begins with, of so many bytes */
  const char *detail_behind; /* of what stands behind the message's list, or its one value */
  gboolean is_one_value;     /* a message; else any number of values, or one list of them */
  gboolean lists_nest;       /* a message may be a list of lists of readings */
} TideReaderCalls;

/* @options: borrowed. Threads: the owner's only. */
TideLayout *tide_layout_new(const TideDecodeOptions *options);
void tide_layout_free(TideLayout *layout); /* NULL ok */

/* The field that a step of `each` in braces names; NULL: it is the name of a member. (transfer full) (nullable) */
char *tide_layout_field_of_step(const char *step);

/* Whether values may be read a second time, so that a reader must leave them as they are. */
gboolean tide_layout_rereads(const TideLayout *layout);

/* All readings of the message that @shaper has begun. FALSE: it is rejected, the place counts from the reader's byte 0.
 */
gboolean tide_layout_run(TideShaper *shaper, const TideReaderCalls *calls, gpointer reader) G_GNUC_WARN_UNUSED_RESULT;

/* For readers: the reading whose object comes next, at @place, by their calls. */
gboolean tide_layout_take_reading(TideShaper *shaper, gsize place) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
