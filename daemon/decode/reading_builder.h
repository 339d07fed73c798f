/* Collects the readings of one message from the members that a format's parser meets: flattens names, numbers
 * them, finds duplicates, and appends what the record itself offers. The same for every format.
 *
 * Each flattened name, of a value or of a nested object, may occur once in a reading. So {"a":1,"a":{"b":2}}
 * is a duplicate, and so is {"a/b":1,"a":{"b":2}} where the separator is "/".
 *
 * Everything is done in one pass: a name is first compared with the one that stood in its place in the
 * reading before, which is nearly always the same and saves the hash. A format that can tell that all names of a
 * reading are those of an earlier one hands their values over at once (TideReadingNames). */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"
#include "model/reject.h"
#include "model/scratch.h"

G_BEGIN_DECLS

typedef struct TideReadingBuilder TideReadingBuilder;

#define TIDE_NAME_IS_OF_RECORD "the message has a field of a name that the record offers"

/* The names of a reading that was good, with all that was found out about them: numbers, that none stands twice, where
 * the known ones are. Holds for readings with the same names in the same order, behind the same outer fields, in front
 * of the same fields of the record. Zero-initialised but for the slot is empty and valid. */
typedef struct TideReadingNames {
  TideShape shape;   /* serial 0: none are learned */
  TideField *fields; /* owned: of all its fields the name and its number */
  guint32 *known;    /* owned: as of a reading */
  guint32 n_outer;   /* fields around the list of readings, which stand first */
  guint32 n_own;
  guint32 n_record;        /* fields of the record, which stand last */
  guint32 n_outer_members; /* those around the list, with the objects among them */
  guint32 n_members;       /* these and its own */
  guint64 name_bytes;      /* that flattening them took */
} TideReadingNames;

/* More fields are not learned: they would take much memory, and the names are the smaller part of such a message. */
#define TIDE_READING_NAMES_MAX_FIELDS 4096u

void tide_reading_names_clear(TideReadingNames *names);

/* (transfer full) An empty Set<TideBytes> that borrows the names added to it. Threads: any. */
GHashTable *tide_name_set_new(void);

/* Functions that can fail return FALSE with reason, field and detail of @ret_reject filled; its position is
 * the caller's to know. Threads: the owner's only. Allocates: only to grow. */

/* @scratch: borrowed; names and tables of readings are taken from it. For the rest see tide_decoder_new(). */
TideReadingBuilder *tide_reading_builder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known,
                                             TideScratch *scratch);
void tide_reading_builder_free(TideReadingBuilder *builder); /* NULL ok */

/* @record_fields: appended to each reading, behind its own; their names must be among the known ones;
 * borrowed until tide_reading_builder_finish().
 * @n_absent: so many more whose names no reading may have, as the record offers them, and this one does not have them
 */
void tide_reading_builder_begin_message(TideReadingBuilder *builder, const TideField *record_fields,
                                        guint32 n_record_fields, guint32 n_absent);
gboolean tide_reading_builder_begin_reading(TideReadingBuilder *builder,
                                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The names of what is added to the reading that was begun stand behind @prefix. */
void tide_reading_builder_set_prefix(TideReadingBuilder *builder, TideBytes prefix);

/* How much stood in front of each reading. */
typedef struct TideOuterMark {
  guint32 n_fields;
  guint32 n_members;
} TideOuterMark;

/* What was added since tide_reading_builder_begin_reading() is no reading: it stands in front of each that is begun,
 * behind what did before, until tide_reading_builder_leave_outer(), or the next message. Its names count as fields of
 * each. Returns: for leave_outer() */
TideOuterMark tide_reading_builder_end_outer(TideReadingBuilder *builder);
void tide_reading_builder_leave_outer(TideReadingBuilder *builder, TideOuterMark mark);

/* A member with a value. @name, @text: borrowed for as long as the readings are used. */
gboolean tide_reading_builder_add(TideReadingBuilder *builder, TideBytes name, TideValueKind kind, TideBytes text,
                                  TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* What was added of the reading so far names it, what comes behind are its values. */
void tide_reading_builder_end_names(TideReadingBuilder *builder);

/* Whether the configuration asks for TIDE_FIELD_TAGS. */
gboolean tide_reading_builder_wants_tags(const TideReadingBuilder *builder);

/* A member that is an object (or array) of members: what is added until leave() lies below @name.
 * @ret_outer: to be handed to leave() */
gboolean tide_reading_builder_enter(TideReadingBuilder *builder, TideBytes name, gsize *ret_outer,
                                    TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;
void tide_reading_builder_leave(TideReadingBuilder *builder, gsize outer);

/* Whether the message can go on without the reading in hand: @reject is of one of its values or names alone, and the
 * options say so. For formats that are walked on through what is left out. */
gboolean tide_reading_builder_can_spoil(const TideReadingBuilder *builder, const TideReject *reject);

/* The reading in hand is left out for @reject, whose field may be gone soon: until its end nothing more is added or
 * entered, and then it has no fields. @reject is empty afterwards, for the next one. */
void tide_reading_builder_spoil(TideReadingBuilder *builder, TideReject *reject);

gboolean tide_reading_builder_end_reading(TideReadingBuilder *builder,
                                          TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Ends the reading that was begun, without fields, as one that no table takes. Returns TRUE. */
gboolean tide_reading_builder_skip(TideReadingBuilder *builder);

/* Learns the names of the reading that was ended last. FALSE: @names is empty, as they are too many, some have no
 * number, or the value of one is a container's raw text, in which anything may stand. */
gboolean tide_reading_builder_learn(TideReadingBuilder *builder, TideReadingNames *names);

/**
 * tide_reading_builder_offer: between the begin and the end of a reading to which nothing was added yet.
 * Returns: (nullable): room for @names' own fields, in their order, valid until anything else is asked of the builder;
 *     they count once tide_reading_builder_take_offered() says so. NULL: these names do not hold here.
 */
TideField *tide_reading_builder_offer(TideReadingBuilder *builder, const TideReadingNames *names);

/* All values were written to what was offered. @some_null: one of them is null */
void tide_reading_builder_take_offered(TideReadingBuilder *builder, const TideReadingNames *names, gboolean some_null);

/* What the names of nested members took so far in this message. */
guint64 tide_reading_builder_name_bytes(const TideReadingBuilder *builder);

/* Readings that were ended so far in this message. */
guint32 tide_reading_builder_n_readings(const TideReadingBuilder *builder);

/* The readings, in order; valid until the next message. */
TideReading *tide_reading_builder_finish(TideReadingBuilder *builder, guint32 *ret_n_readings);

/* Those of the readings that were spoiled, in order; valid until the next message. */
const TideReject *tide_reading_builder_rejects(const TideReadingBuilder *builder, guint32 *ret_n_rejects);

G_END_DECLS
