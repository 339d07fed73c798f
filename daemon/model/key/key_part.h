/* The compiled form of a key, private to this folder.
 *
 * key_compile.c builds it from the declaration, key_check.c checks the parts against each other, row_key.c owns it.
 * key_field.c and key_time.c implement the forms of fields and times, key_order.c the order of times. key_encode.c
 * writes keys, key_decode.c reads them. key_plan.c computes ranges, key_splits.c split points. key_describe.c describes
 * a key in words.
 *
 * A new kind of part is a new value of TideKeyPartKind (row_key.h); the compiler then names each switch to extend. */
#pragma once

#include "model/key/row_key.h"
#include "model/time/time_pattern.h"

G_BEGIN_DECLS

/* A value that replaces an absent or null field. */
typedef struct TideKeyDefaultValue {
  gboolean is_conditional; /* FALSE: always */
  TideCondition when;      /* owned */
  TideBytes text;          /* owned: as declared */
  TideBytes bytes;         /* owned: as written in the key */
} TideKeyDefaultValue;

typedef struct TideKeyPart TideKeyPart;

typedef struct TideKeyValue {
  TideNameId field;
  TideKeyForm form;
  gboolean is_plain; /* unchanged text, possibly padded: the fast path for most keys */
  gboolean escape;   /* text that has a delimiter to escape */
  guint8 pad_byte;   /* this and the next two are for text with fixed_bytes */
  gboolean pad_left;
  gboolean cut;
  gboolean text_reversed;
  TideKeySpelling spelling;
  gboolean has_range;
  __int128 least; /* of integers: the declared range, or that of the form; both inclusive */
  __int128 greatest;
  TideKeyDefaultValue *defaults; /* owned; the first that applies */
  gsize n_defaults;
  TideBytes delimiter; /* without fixed_bytes: the literal that follows, borrowed from its part; otherwise empty */
  gboolean is_source;  /* this part, of all with the field, is the one from which the field is read back */
} TideKeyValue;

typedef struct TideKeyMoment {
  TideTimeCut cut_to;
  GTimeZone *zone;        /* owned, if the part depends on it; NULL: UTC */
  char *zone_name;        /* owned, with zone */
  TideTimePattern *print; /* owned; NULL: the time is counted */
  gboolean is_ambiguous;  /* with a pattern: it prints local times, some of which occur twice */
  /* counted */
  gboolean is_plain; /* in its unit since 1970: the fast path for most keys */
  gboolean binary;
  gint64 unit_ns;
  TideKeyTimeUnit unit;
  gboolean reversed;
  guint64 reversed_from; /* the minuend of a reversed time */
  TideTimeCut since;
  guint32 drop_digits;
  guint64 divisor; /* 10 to the power of drop_digits */
} TideKeyMoment;

typedef struct TideKeyDigest {
  TideKeyHash hash;
  TideKeyPart *of; /* owned */
  gsize n_of;
  gboolean
      is_alike; /* each of its fields that the key also contains has a form there from which the hashed form follows */
  gboolean is_repeatable; /* it can be computed again from the key */
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
  guint32 fixed_bytes; /* of the part, if constant; 0: the length depends on the value */
  union {
    TideBytes literal;        /* LITERAL: owned */
    TideKeyValue value;       /* FIELD */
    TideKeyMoment moment;     /* TIME */
    TideKeyDigest digest;     /* HASH and SALT */
    TideKeySpelling spelling; /* NAME */
  };
};

/* The delimiter of a field of variable width; empty for other kinds, whose union member is not `value`. */
static inline TideBytes
tide_key_part_delimiter(const TideKeyPart *part)
{
  return part->kind == TIDE_KEY_FIELD ? part->value.delimiter : TIDE_BYTES_EMPTY;
}

struct TideRowKey {
  TideKeyPart *parts; /* owned */
  gsize n_parts;
};

typedef struct TideKeyFormTraits {
  const char *name;
  guint32 n_bytes; /* 0: as many as in the text */
  gboolean is_integer;
  __int128 least; /* of integers: the number whose bytes are all 0 */
} TideKeyFormTraits;
extern const TideKeyFormTraits tide_key_forms[TIDE_KEY_FLOAT64 + 1];

typedef struct TideKeyUnitTraits {
  const char *name;
  gint64 ns;
  guint32 n_digits; /* of moments since 1970: 10, 13 and 16 digits suffice until the year 2286 */
} TideKeyUnitTraits;
extern const TideKeyUnitTraits tide_key_units[TIDE_KEY_TIME_NS + 1];

/* Whether the FIELD part @part contains only integers. */
static inline gboolean
tide_key_part_is_integer(const TideKeyPart *part)
{
  return part->value.has_range || tide_key_forms[part->value.form].is_integer;
}

/* Whether a time is among the inputs of the HASH or SALT part @part. */
static inline gboolean
tide_key_part_is_of_time(const TideKeyPart *part)
{
  for (gsize i = 0; i < part->digest.n_of; i++)
    if (part->digest.of[i].kind == TIDE_KEY_TIME)
      return TRUE;
  return FALSE;
}

/* key_field.c */

/* Appends what the FIELD part @part writes for the value @text. Returns: NULL, or the reason for which it cannot, a
 * string literal; then bytes may have been appended. Allocates: only by growing @out. */
const char *tide_key_field_append(const TideKeyPart *part, TideBytes text, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* Appends what the FIELD part @part of integers writes for @number, which must be within its range. */
void tide_key_field_append_integer(const TideKeyPart *part, __int128 number, TideBuffer *out);

/* Appends the value that the FIELD part @part wrote as @bytes. FALSE: it cannot have written them. The caller must
 * check that the value produces these bytes again. */
gboolean tide_key_field_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* The Euclidean remainder (never negative) of an integer in decimal digits of any length, modulo @modulo. */
gboolean tide_key_text_modulo(TideBytes text, guint32 modulo, guint32 *ret_rest) G_GNUC_WARN_UNUSED_RESULT;

/* Why the FIELD part @part, if padded with zeros, rejects the number @text: it does not consist of digits alone. NULL:
 * it is accepted. A text that only looks like a number is not a number. */
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

/* key_float.c: like tide_key_field_append() and tide_key_field_read(), for parts of floats. A value that its bytes
 * would not reproduce is rejected. */
const char *tide_key_float_append(const TideKeyPart *part, TideBytes text, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_key_float_read(const TideKeyPart *part, TideBytes bytes, TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* key_time.c */

/* Compiles a TIME part. @is_key: it is part of a key, so it must have a fixed width and distinguish moments. */
gboolean tide_key_time_compile(TideKeyPart *part, const TideKeyPartSpec *spec, gboolean is_key,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The number that the counted TIME part @part writes for @ns, which must not be negative. */
guint64 tide_key_time_number(const TideKeyPart *part, gint64 ns);
void tide_key_time_append_number(const TideKeyPart *part, guint64 number, TideBuffer *out);

/* The origin of the TIME part @part: 0, or the start of the slot of its `since` that contains @ns. */
gint64 tide_key_time_base_ns(const TideKeyPart *part, gint64 ns);

/* Appends what the TIME part @part writes for @ns, which must not be negative. */
void tide_key_time_append(const TideKeyPart *part, gint64 ns, TideBuffer *out);

/* The length of one step of a TIME part, without its cut. */
gint64 tide_key_time_step_ns(const TideKeyPart *part);

/* The same, or the length of its cut if that is longer. */
gint64 tide_key_time_whole_step_ns(const TideKeyPart *part);

/* Whether the cut of the TIME part @part was declared, rather than being the day that every date implies. */
gboolean tide_key_time_declares_cut(const TideKeyPart *part);

/* Whether the TIME part @part, which has a pattern, shows two moments with the same elements down to @level. */
gboolean tide_key_time_agrees(const TideKeyPart *part, TideTimeLevel level, gint64 one_ns, gint64 other_ns);

/* Whether the bytes that the TIME part @part writes change monotonically between the two moments: they only grow or, if
 * reversed, only shrink. */
gboolean tide_key_time_is_ordered(const TideKeyPart *part, gint64 first_ns, gint64 last_ns);

/* Whether the bytes of the TIME part @part follow from those of the TIME part @source. */
gboolean tide_key_time_follows(const TideKeyPart *part, const TideKeyPart *source);

/* Whether the bytes of the TIME part @part determine, in any zone, the step of @step_ns since 1970 that contains a
 * moment. */
gboolean tide_key_time_is_exact_to(const TideKeyPart *part, gint64 step_ns);

/* An interval of moments. Both ends are inclusive, so that it can contain the last possible moment. */
typedef struct TideKeyMoments {
  gint64 first_ns;
  gint64 last_ns;
} TideKeyMoments;

typedef enum TideKeyNarrowing {
  TIDE_KEY_NARROWED,
  TIDE_KEY_UNRESOLVED, /* another part must narrow the moments first, as a date must for an hour: try again later */
  TIDE_KEY_IMPOSSIBLE, /* there are none */
} TideKeyNarrowing;

/* Narrows @moments to those for which the TIME part @part writes @bytes. Allocates: nothing. */
TideKeyNarrowing tide_key_time_narrow(const TideKeyPart *part, TideBytes bytes,
                                      TideKeyMoments *moments) G_GNUC_WARN_UNUSED_RESULT;

/* key_check.c */

/* Whether different readings always have different keys, and a key can be read back. Also marks the parts from which
 * fields are read back, and the hashes and salts that can be computed again from the key. Errors: TIDE_ERROR_CONFIG
 * with a sentence and the remedy; @ret_bad_part is the index of the part at fault. */
gboolean tide_key_check(TideRowKey *key, gsize *ret_bad_part, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* key_order.c */

/* The end of the run of parts that starts with the TIME part at @first and sorts by time if all other parts are equal:
 * one past its last TIME part. */
gsize tide_key_times_end(const TideRowKey *key, gsize first);

/* key_encode.c */

/* Appends what @part writes for @reading. FALSE: @ret_reject is filled, and bytes may have been appended. */
gboolean tide_key_part_append(const TideKeyPart *part, const TideReading *reading, TideBytes field_name,
                              TideBuffer *out, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* Pads with zeros on the left. @number must fit @n_digits. */
void tide_key_append_decimal(guint64 number, guint32 n_digits, TideBuffer *out);

/* Appends lower-case hexadecimal digits. */
void tide_key_append_hex(const guint8 *bytes, gsize n_bytes, TideBuffer *out);

/* Replaces the joined inputs of the HASH or (not by number) SALT part @part, which begin at @start of @out, with the
 * bytes of that part. */
void tide_key_part_digest(const TideKeyPart *part, gsize start, TideBuffer *out);

/* Appends the bytes of salt number @salt, counted from 0, of the SALT part @part. */
void tide_key_part_append_salt(const TideKeyPart *part, guint32 salt, TideBuffer *out);

/* key_decode.c */

/* Finds the end of each part of @row. FALSE: @key did not produce @row. @ret_ends: room for TIDE_ROW_KEY_MAX_PARTS. */
gboolean tide_row_key_locate(const TideRowKey *key, TideBytes row, gsize *ret_ends) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
