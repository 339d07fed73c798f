/* The compiled form of a key, private to this folder.
 *
 * key_compile.c makes it of what was declared, key_check.c holds the parts against each other, row_key.c owns it.
 * key_field.c and key_time.c know the forms of fields and times, key_order.c how times sort. key_encode.c writes keys,
 * key_decode.c reads them, key_plan.c makes ranges of it and key_splits.c split points. key_describe.c puts it into
 * words.
 *
 * A new kind of part is a new value of TideKeyPartKind (row_key.h); the compiler then names each switch that has to
 * know it. */
#pragma once

#include "model/key/row_key.h"
#include "model/time/time_pattern.h"

G_BEGIN_DECLS

/* What stands for a field that is absent or null. */
typedef struct TideKeyDefaultValue {
  gboolean is_conditional; /* FALSE: always */
  TideCondition when;      /* owned */
  TideBytes text;          /* owned: as declared */
  TideBytes bytes;         /* owned: as it stands in the key */
} TideKeyDefaultValue;

typedef struct TideKeyPart TideKeyPart;

typedef struct TideKeyValue {
  TideNameId field;
  TideKeyForm form;
  gboolean is_plain; /* text that is written as it is but for padding: a short way for what most keys are made of */
  gboolean escape;   /* text: only where it has a delimiter to escape */
  guint8 pad_byte;   /* this and the next two: text with fixed_bytes */
  gboolean pad_left;
  gboolean cut;
  gboolean text_reversed;
  TideKeySpelling spelling;
  gboolean has_range;
  __int128 least; /* integers: the range, or what the form can hold; both inclusive */
  __int128 greatest;
  TideKeyDefaultValue *defaults; /* owned; the first that applies */
  gsize n_defaults;
  TideBytes delimiter; /* without fixed_bytes: the literal right after it, borrowed from that; else empty */
  gboolean is_source;  /* of the parts that hold this field, the one that it is read back from */
} TideKeyValue;

typedef struct TideKeyMoment {
  TideTimeCut cut_to;
  GTimeZone *zone;        /* owned, where it matters; NULL: UTC */
  char *zone_name;        /* owned, with zone */
  TideTimePattern *print; /* owned, with a pattern; NULL: it is counted */
  gboolean is_ambiguous;  /* with a pattern: it names a clock that shows some times twice */
  /* counted */
  gboolean is_plain; /* in its unit since 1970: a short way for what most keys are made of */
  gboolean binary;
  gint64 unit_ns;
  TideKeyTimeUnit unit;
  gboolean reversed;
  guint64 reversed_from; /* what it is subtracted from when reversed */
  TideTimeCut since;
  guint32 drop_digits;
  guint64 divisor; /* 10 to the power of drop_digits */
} TideKeyMoment;

typedef struct TideKeyDigest {
  TideKeyHash hash;
  TideKeyPart *of; /* owned */
  gsize n_of;
  gboolean is_alike;      /* each of its fields that stands in the key, too, does so in a form from which it follows */
  gboolean is_repeatable; /* it can be made again from what the key holds */
  /* HASH */
  guint32 hash_bytes; /* of the digest; at least 1 */
  gboolean binary;
  /* SALT */
  guint32 modulo;
  guint32 first;
  gboolean by_number;
  TideBytes alphabet; /* owned; empty: decimal digits */
} TideKeyDigest;

struct TideKeyPart {
  TideKeyPartKind kind;
  guint32 fixed_bytes; /* what it writes, where that is always the same; 0: as many as the value has */
  union {
    TideBytes literal;        /* LITERAL: owned */
    TideKeyValue value;       /* FIELD */
    TideKeyMoment moment;     /* TIME */
    TideKeyDigest digest;     /* HASH and SALT */
    TideKeySpelling spelling; /* NAME */
  };
};

/* What ends a field of variable width; empty for the other kinds, whose members of the union lie in the same bytes. */
static inline TideBytes
tide_key_part_delimiter(const TideKeyPart *part)
{
  return part->kind == TIDE_KEY_FIELD ? part->value.delimiter : TIDE_BYTES_EMPTY;
}

struct TideRowKey {
  TideKeyPart *parts; /* owned */
  gsize n_parts;
};

/* What each form is. */
typedef struct TideKeyFormTraits {
  const char *name;
  guint32 n_bytes; /* 0: as many as the text has */
  gboolean is_integer;
  __int128 least; /* of integers: what their bytes are counted from */
} TideKeyFormTraits;
extern const TideKeyFormTraits tide_key_forms[TIDE_KEY_FLOAT64 + 1];

/* What each unit is. */
typedef struct TideKeyUnitTraits {
  const char *name;
  gint64 ns;
  guint32 n_digits; /* of moments since 1970: 10, 13 and 16 last until the year 2286 */
} TideKeyUnitTraits;
extern const TideKeyUnitTraits tide_key_units[TIDE_KEY_TIME_NS + 1];

/* Whether the FIELD part @part holds whole numbers only. */
static inline gboolean
tide_key_part_is_integer(const TideKeyPart *part)
{
  return part->value.has_range || tide_key_forms[part->value.form].is_integer;
}

/* Whether the HASH or SALT part @part is made of a time, among others. */
static inline gboolean
tide_key_part_is_of_time(const TideKeyPart *part)
{
  for (gsize i = 0; i < part->digest.n_of; i++)
    if (part->digest.of[i].kind == TIDE_KEY_TIME)
      return TRUE;
  return FALSE;
}

/* key_field.c */

/* Appends what the FIELD part @part writes for the value @text. Returns: NULL, or why it cannot be, as a string
 * literal; bytes may have been appended then. Allocates: only by growing @out. */
const char *tide_key_field_append(const TideKeyPart *part, TideBytes text, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* What the FIELD part @part of integers writes for one that is within its range. */
void tide_key_field_append_integer(const TideKeyPart *part, __int128 number, TideBuffer *out);

/* Appends the value that the FIELD part @part wrote as @bytes. FALSE when it cannot have. That the value makes these
 * bytes again is for the caller to see. */
gboolean tide_key_field_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* A whole number in decimal digits, of any length, modulo @modulo as Euclid has it: never negative. */
gboolean tide_key_text_modulo(TideBytes text, guint32 modulo, guint32 *ret_rest) G_GNUC_WARN_UNUSED_RESULT;

/* Why the number @text cannot stand in the FIELD part @part: it is not plain digits, and would be padded with zeros.
 * NULL: it can, or is not padded so. A text that only looks like a number is none. */
const char *tide_key_padded_number_fault(const TideKeyPart *part, TideBytes text);

static inline void
tide_key_append_big_endian(guint64 number, guint32 n_bytes, TideBuffer *out)
{
  guint8 *at = tide_buffer_reserve(out, n_bytes);
  for (guint32 i = n_bytes; i > 0; i--, number >>= 8)
    at[i - 1] = (guint8)number;
  out->len += n_bytes;
}

static inline guint64
tide_key_read_big_endian(TideBytes bytes)
{
  guint64 number = 0;
  for (gsize i = 0; i < bytes.len; i++)
    number = number << 8 | bytes.data[i];
  return number;
}

/* key_float.c: as tide_key_field_append() and tide_key_field_read(), of parts that hold floats. A value whose bytes
 * would not give it back is refused. */
const char *tide_key_float_append(const TideKeyPart *part, TideBytes text, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_key_float_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* key_time.c */

/* Compiles a TIME part. @is_key: of a key, where it must be of one width and tell moments apart. */
gboolean tide_key_time_compile(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the TIME part @part, which is counted, writes as a number for a moment, which must not be negative. */
guint64 tide_key_time_number(const TideKeyPart *part, gint64 ns);
void tide_key_time_append_number(const TideKeyPart *part, guint64 number, TideBuffer *out);

/* Where the TIME part @part counts from: 0, or the start of the slot of its `since` that @ns is in. */
gint64 tide_key_time_base_ns(const TideKeyPart *part, gint64 ns);

/* Appends what the TIME part @part writes for @ns, which must not be negative. */
void tide_key_time_append(const TideKeyPart *part, gint64 ns, TideBuffer *out);

/* How long one step of a TIME part is, without its cut. */
gint64 tide_key_time_step_ns(const TideKeyPart *part);

/* The same with its cut, whichever is longer. */
gint64 tide_key_time_whole_step_ns(const TideKeyPart *part);

/* Whether the cut of the TIME part @part was declared, and is not just the day that a date is of in any case. */
gboolean tide_key_time_declares_cut(const TideKeyPart *part);

/* Whether the TIME part @part, which has a pattern, shows two moments with the same elements down to @level. */
gboolean tide_key_time_agrees(const TideKeyPart *part, TideTimeLevel level, gint64 one_ns, gint64 other_ns);

/* Whether what the TIME part @part writes never turns back between the two moments: it only grows, or, reversed, falls.
 */
gboolean tide_key_time_is_ordered(const TideKeyPart *part, gint64 first_ns, gint64 last_ns);

/* Whether what the TIME part @part writes follows from what @source, another one, writes. */
gboolean tide_key_time_follows(const TideKeyPart *part, const TideKeyPart *source);

/* Whether what the TIME part @part writes tells, whatever the zone, in which step of @step_ns since 1970 a moment is.
 */
gboolean tide_key_time_is_exact_to(const TideKeyPart *part, gint64 step_ns);

/* A run of moments, both ends inclusive: so it can hold the last moment of all. */
typedef struct TideKeyMoments {
  gint64 first_ns;
  gint64 last_ns;
} TideKeyMoments;

typedef enum TideKeyNarrowing {
  TIDE_KEY_NARROWED,
  TIDE_KEY_UNRESOLVED, /* the moments are still too many to tell, as the date is for an hour: to be tried again later */
  TIDE_KEY_IMPOSSIBLE, /* there are none */
} TideKeyNarrowing;

/* Narrows @moments to those for which the TIME part @part writes @bytes. Allocates: nothing. */
TideKeyNarrowing tide_key_time_narrow(const TideKeyPart *part, TideBytes bytes,
                                      TideKeyMoments *moments) G_GNUC_WARN_UNUSED_RESULT;

/* key_check.c */

/* Whether @key is one: two different readings never make one, and it can be read back. Also marks the parts that fields
 * are read back from, and the hashes and salts that can be made again from the key. Errors: TIDE_ERROR_CONFIG with a
 * sentence and the remedy; @ret_bad_part is the index of the part at fault. */
gboolean tide_key_check(TideRowKey *key, gsize *ret_bad_part, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* key_order.c */

/* The end of the run of parts from the TIME part at @first on, behind its last TIME part, in which the times sort as
 * the first does, where all other parts are the same. */
gsize tide_key_times_end(const TideRowKey *key, gsize first);

/* key_encode.c */

/* Appends what @part writes for @reading. FALSE with @ret_reject filled; bytes may have been appended then. */
gboolean tide_key_part_append(const TideKeyPart *part, const TideReading *reading, TideBytes field_name,
                              TideBuffer *out, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Zeros in front. @number must fit @n_digits. */
void tide_key_append_decimal(guint64 number, guint32 n_digits, TideBuffer *out);

/* In lower case. */
void tide_key_append_hex(const guint8 *bytes, gsize n_bytes, TideBuffer *out);

/* Replaces what was appended to @out from @start on, the joined inputs of the HASH or (not by number) SALT part @part,
 * by what that part writes. */
void tide_key_part_digest(const TideKeyPart *part, gsize start, TideBuffer *out);

/* What the SALT part @part writes for the salt @salt, from 0. */
void tide_key_part_append_salt(const TideKeyPart *part, guint32 salt, TideBuffer *out);

/* key_decode.c */

/* Where each part of @row ends; FALSE when @row was not made by @key. @ret_ends: room for TIDE_ROW_KEY_MAX_PARTS. */
gboolean tide_row_key_locate(const TideRowKey *key, TideBytes row, gsize *ret_ends) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
