/* Builds the readings of one message from the members that a format's parser finds: flattens names, numbers them, finds
 * duplicates, and appends the record's own fields. All formats share it.
 *
 * Each flattened name, of a value or of a nested object, may occur once in a reading. So {"a":1,"a":{"b":2}} is a
 * duplicate, and so is {"a/b":1,"a":{"b":2}} if the separator is "/".
 *
 * All of this is one pass. A name is first compared with the name at the same position in the previous reading, because
 * it is nearly always the same and needs no hash then. A format that knows that a reading has the same names as an
 * earlier one can pass all values at once (TideReadingNames). */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"
#include "model/reject.h"
#include "model/scratch.h"

G_BEGIN_DECLS

typedef struct TideReadingBuilder TideReadingBuilder;

#define TIDE_NAME_IS_OF_RECORD "the message has a field with the name of a record field"

/* The names of a valid reading and what is known about them: their numbers, that none occurs twice, and the positions
 * of known names. They are valid for readings with the same names in the same order, after the same outer fields and
 * before the same fields of the record. Zero-initialised but for the slot is empty and valid. */
typedef struct TideReadingNames {
  TideShape shape;   /* serial 0: none are learned */
  TideField *fields; /* owned: names and numbers of all its fields */
  guint32 *known;    /* owned: like a reading's */
  guint32 n_outer;   /* fields around the list of readings, which are first */
  guint32 n_own;
  guint32 n_record;        /* fields of the record, which are last */
  guint32 n_outer_members; /* fields around the list, including objects */
  guint32 n_members;       /* these and its own */
  guint64 name_bytes;      /* taken by flattening them */
} TideReadingNames;

/* Readings with more fields are not learned: they would take much memory, and names are the smaller part of such a
 * message. */
#define TIDE_READING_NAMES_MAX_FIELDS 4096u

void tide_reading_names_clear(TideReadingNames *names);

/* (transfer full) An empty Set<TideBytes> that borrows the names added to it. Threads: any. */
GHashTable *tide_name_set_new(void);

/* Functions that can fail return FALSE with reason, field and detail of @ret_reject filled; the caller adds the
 * position. Threads: the owner's only. Allocates: only to grow. */

/* @scratch: borrowed; contains names and tables of readings. For the rest see tide_decoder_new(). */
TideReadingBuilder *tide_reading_builder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known,
                                             TideScratch *scratch);
void tide_reading_builder_free(TideReadingBuilder *builder); /* NULL ok */

/* @record_fields: appended to each reading, after its own; their names must be known names; borrowed until
 * tide_reading_builder_finish().
 * @n_absent: the number of further fields after these which this record lacks; no reading may have their names */
void tide_reading_builder_begin_message(TideReadingBuilder *builder, const TideField *record_fields,
                                        guint32 n_record_fields, guint32 n_absent);
gboolean tide_reading_builder_begin_reading(TideReadingBuilder *builder,
                                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Sets the prefix of all names added to the current reading. */
void tide_reading_builder_set_prefix(TideReadingBuilder *builder, TideBytes prefix);

/* The number of outer fields at one time. */
typedef struct TideOuterMark {
  guint32 n_fields;
  guint32 n_members;
} TideOuterMark;

/* Everything added since tide_reading_builder_begin_reading() becomes outer fields, not a reading. They precede each
 * later reading, after the earlier outer fields, until tide_reading_builder_leave_outer() or the next message. Their
 * names count as fields of each reading. Returns: for leave_outer() */
TideOuterMark tide_reading_builder_end_outer(TideReadingBuilder *builder);
void tide_reading_builder_leave_outer(TideReadingBuilder *builder, TideOuterMark mark);

/* Adds a member with a value. @name, @text: borrowed for as long as the readings are used. */
gboolean tide_reading_builder_add(TideReadingBuilder *builder, TideBytes name, TideValueKind kind, TideBytes text,
                                  TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The members added so far are the reading's names (tags); the next ones are its values. */
void tide_reading_builder_end_names(TideReadingBuilder *builder);

/* Whether the configuration uses TIDE_FIELD_TAGS. */
gboolean tide_reading_builder_wants_tags(const TideReadingBuilder *builder);

/* Enters a member that is an object (or array) of members: members added until leave() are below @name.
 * @ret_outer: for leave() */
gboolean tide_reading_builder_enter(TideReadingBuilder *builder, TideBytes name, gsize *ret_outer,
                                    TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;
void tide_reading_builder_leave(TideReadingBuilder *builder, gsize outer);

/* Whether the message can continue without the current reading: @reject concerns one of its values or names only, and
 * the options allow this. For formats that can parse the rest of a bad reading. */
gboolean tide_reading_builder_can_spoil(const TideReadingBuilder *builder, const TideReject *reject);

/* Rejects the current reading for @reject, whose field may be freed soon. Until the reading's end nothing more is added
 * or entered, and then it has no fields. @reject is empty afterwards, ready for the next fault. */
void tide_reading_builder_spoil(TideReadingBuilder *builder, TideReject *reject);

gboolean tide_reading_builder_end_reading(TideReadingBuilder *builder,
                                          TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Ends the current reading without fields, for no table. Returns TRUE. */
gboolean tide_reading_builder_skip(TideReadingBuilder *builder);

/* Learns the names of the last reading. FALSE: @names is empty, because there are too many, some have no number, or a
 * value is a container's raw text, whose content is arbitrary. */
gboolean tide_reading_builder_learn(TideReadingBuilder *builder, TideReadingNames *names);

/**
 * tide_reading_builder_offer: between the begin and the end of a reading, before anything is added to it.
 * Returns: (nullable): room for the own fields of @names, in their order, valid until the next call to the builder;
 * tide_reading_builder_take_offered() adds them. NULL: these names are not valid for this reading.
 */
TideField *tide_reading_builder_offer(TideReadingBuilder *builder, const TideReadingNames *names);

/* Adds the offered fields, once all their values are set. @some_null: at least one is null */
void tide_reading_builder_take_offered(TideReadingBuilder *builder, const TideReadingNames *names, gboolean some_null);

/* Bytes of flattened names so far in this message. */
guint64 tide_reading_builder_name_bytes(const TideReadingBuilder *builder);

/* The number of readings that have ended in this message. */
guint32 tide_reading_builder_n_readings(const TideReadingBuilder *builder);

/* The readings, in order; valid until the next message. */
TideReading *tide_reading_builder_finish(TideReadingBuilder *builder, guint32 *ret_n_readings);

/* The faults of the spoiled readings, in order; valid until the next message. */
const TideReject *tide_reading_builder_rejects(const TideReadingBuilder *builder, guint32 *ret_n_rejects);

G_END_DECLS
