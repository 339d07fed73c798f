/* The key language: a list of parts, compiled when the configuration is loaded, and evaluated for each reading without
 * allocation. Pure.
 *
 * Two different readings never have one key, where "different" means in a field of the key, or in the time at the
 * resolution of the key's time parts. To ensure this, the compiler rejects lists in which the end of a field would be
 * ambiguous, and encoding rejects a value that would hide its own end. Padding has no meaning: 7 and 007 in a field
 * padded with zeros are the same meter. A default is a value like any other. A salt, or a hash shorter than 16 bytes,
 * only spreads keys and never identifies. */
#pragma once

#include "model/condition.h"
#include "model/reading.h"
#include "model/reject.h"
#include "model/time/time_cut.h"

G_BEGIN_DECLS

typedef enum TideKeyPartKind {
  TIDE_KEY_LITERAL,
  TIDE_KEY_FIELD,
  TIDE_KEY_TIME,
  TIDE_KEY_HASH,
  TIDE_KEY_SALT,
  TIDE_KEY_NAME, /* the name of the cell's field; only in qualifiers */
} TideKeyPartKind;

/* How a field's value is written in the key. All except TEXT have a fixed width and sort like their values. */
typedef enum TideKeyForm {
  TIDE_KEY_TEXT,
  TIDE_KEY_INT8, /* big-endian with a flipped sign bit, so that negative numbers sort first */
  TIDE_KEY_INT16,
  TIDE_KEY_INT32,
  TIDE_KEY_INT64,
  TIDE_KEY_UINT8, /* big-endian */
  TIDE_KEY_UINT16,
  TIDE_KEY_UINT32,
  TIDE_KEY_UINT64,
  TIDE_KEY_FLOAT32, /* IEEE 754 big-endian with a flipped sign bit; in negative numbers all bits are flipped. -0 becomes
                     * 0; NaN is rejected */
  TIDE_KEY_FLOAT64,
} TideKeyForm;

typedef enum TideTextCase { TIDE_CASE_AS_IS, TIDE_CASE_LOWER, TIDE_CASE_UPPER } TideTextCase; /* of ASCII letters */

typedef enum TideKeyTimeUnit { TIDE_KEY_TIME_S, TIDE_KEY_TIME_MS, TIDE_KEY_TIME_US, TIDE_KEY_TIME_NS } TideKeyTimeUnit;

typedef enum TideKeyHash {
  TIDE_KEY_HASH_MD5,
  TIDE_KEY_HASH_SHA1,
  TIDE_KEY_HASH_SHA256,
  TIDE_KEY_HASH_MURMUR3, /* x86 32 bit, seed 0 */
  TIDE_KEY_HASH_XXH3,    /* 64 bit, seed 0, big-endian */
  TIDE_KEY_HASH_CRC32,   /* zlib's */
} TideKeyHash;

/* The declaration: filled from the configuration, checked and copied by tide_row_key_compile(). */
typedef struct TideKeyPartSpec TideKeyPartSpec;

/* A value that replaces an absent or null field if a condition holds. */
typedef struct TideKeyDefault {
  TideCondition when; /* borrowed */
  TideBytes value;
} TideKeyDefault;

/* Of a FIELD. */
typedef struct TideKeyValueSpec {
  TideNameId field;
  guint8 pad_byte;         /* with width */
  gboolean pad_left;       /* with width: pad on the left (numbers), otherwise on the right (names) */
  TideBytes default_value; /* with has_default: replaces an absent or null field */
  gboolean has_default;
  const TideKeyDefault *defaults; /* tried in order, before default_value */
  gsize n_defaults;
  TideKeyForm form;
  gboolean cut; /* with width: a longer value is cut instead of rejected, so values are distinguished only by their
                 * first bytes */
  gboolean text_reversed; /* as text: all bytes, including padding, are written in reverse order */
  gboolean escape;    /* as text without width: bytes up to the delimiter's first byte are escaped, so that any value is
                       * allowed and the order of values is kept */
  gboolean has_range; /* of integers, binary or padded with zeros on the left: values outside are rejected, and splits
                       * divide the range evenly */
  gint64 range_min;
  gint64 range_max; /* inclusive */
} TideKeyValueSpec;

/* Of a FIELD as text, and of a NAME. */
typedef struct TideKeySpelling {
  TideTextCase text_case;
  gboolean strip_spaces; /* spaces are removed */
} TideKeySpelling;

/* Appends @text in that spelling. */
void tide_key_spelling_append(const TideKeySpelling *spelling, TideBytes text, TideBuffer *out);

/* Of a TIME. */
typedef struct TideKeyMomentSpec {
  TideKeyTimeUnit unit;
  gboolean reversed;     /* without pattern: Long.MAX - t, so that the newest sorts first */
  const char *pattern;   /* print the time by this pattern (time_pattern.h); NULL: count it in unit */
  GTimeZone *zone;       /* with pattern, cut or since: borrowed; NULL: UTC */
  const char *zone_name; /* as declared, for descriptions; NULL: UTC */
  TideTimeCut cut_to;    /* the time is cut to this first */
  TideTimeCut since;     /* without pattern: count from the start of this slot instead of from 1970; the width, or the
                          * binary size (1, 2, 4 or 8 bytes), is the smallest that fits the largest number */
  guint32 drop_digits;   /* as decimal text: omit this many digits at the end */
} TideKeyMomentSpec;

/* Of a HASH or a SALT. */
typedef struct TideKeyDigestSpec {
  TideKeyHash hash;
  guint32 hash_bytes; /* HASH: number of leading bytes of the digest; 0: all */
  guint32 modulo;     /* SALT: the number of salts, at least 2 */
  gboolean by_number; /* SALT: `of` is one part, an integer field or a counted time, and the salt is the Euclidean
                       * remainder of its number modulo `modulo`; FALSE: the salt comes from the hash */
  guint32 first;      /* SALT: the number of the first salt, usually 0 or 1 */
  TideBytes alphabet; /* SALT: its digits in ascending order, such as `abc` for the salts a, b and c; empty: 0 to 9 */
  const TideKeyPartSpec *of; /* the hashed parts: literals, fields and times, each as it would be written in a key,
                              * joined by a byte 0x00 */
  gsize n_of;
} TideKeyDigestSpec;

struct TideKeyPartSpec {
  TideKeyPartKind kind;
  TideBytes literal;   /* LITERAL */
  guint32 width_bytes; /* FIELD: the value is padded to this, and rejected if longer; 0: none. SALT: number of digits;
                        * 0: as many as the largest number needs */
  gboolean binary; /* TIME: 8 bytes big-endian instead of decimal text. HASH: raw bytes instead of hexadecimal digits */
  TideKeyValueSpec value;
  TideKeySpelling spelling;
  TideKeyMomentSpec moment;
  TideKeyDigestSpec digest;
};

#define TIDE_ROW_KEY_MAX_PARTS 32u /* in one list; no practical key has as many */
#define TIDE_KEY_MAX_SALTS 4096u   /* each needs a scan and a region of its own */

typedef struct TideRowKey TideRowKey;

/**
 * tide_row_key_compile: check @specs and compile the key. Copies everything.
 * Errors: TIDE_ERROR_CONFIG with a sentence and the remedy; @ret_bad_part is the index of the part at fault.
 *
 * Besides values out of range, it rejects:
 * - a field without width that no literal follows, if another field without width comes later: the end of the first
 * would be ambiguous
 * - padding with a letter or digit, except zeros on the left of numbers: two values (1 and 10) could become one
 * - a key without a field and without the time, except in salts
 * - a hash shorter than 16 bytes of a field that the key does not also contain: two values could have one key
 * - a field that occurs in two forms (one may be hashed or salted) of which neither follows from the other: two
 * spellings of one value would have two rows, and the fields read back would not produce the key again
 * - a local time that repeats an hour each year, unless another time part distinguishes the two hours
 * - a second salt; a hash or salt inside another; a default that would be rejected as a value
 */
TideRowKey *tide_row_key_compile(const TideKeyPartSpec *specs, gsize n_specs, gsize *ret_bad_part,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_row_key_free(TideRowKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowKey, tide_row_key_free)

/**
 * tide_row_key_append: append @reading's row key to @out.
 * Returns: FALSE with @ret_reject filled and @out unchanged. Rejected with its name is a field that is null or absent
 * and has no default (if absent, only field_place is set: tide_reject_resolve_field()), is empty or blank, is longer
 * than its width, contains the literal that follows it (two readings could have one key), or contains a NUL byte. Times
 * before 1970 do not fit the order and are rejected. A key has at most 32,767 bytes.
 * Threads: any. Allocates: only by growing @out.
 */
gboolean tide_row_key_append(const TideRowKey *key, const TideReading *reading, TideBuffer *out,
                             TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* A list of parts that produces a text that need not identify a reading: a qualifier, a cell's value, a table's name.
 * Parts and bytes are those of a key, but ends of parts may be ambiguous and values may coincide. A pattern may have
 * elements of variable width (time_pattern.h), and @with_name allows NAME. Freed with tide_row_key_free(). */
typedef TideRowKey TideKeyText;
TideKeyText *tide_key_text_compile(const TideKeyPartSpec *specs, gsize n_specs, gboolean with_name, gsize *ret_bad_part,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Appends the text of @reading; @field_name is the value of NAME. Otherwise like tide_row_key_append(). */
gboolean tide_key_text_append(const TideKeyText *text, const TideReading *reading, TideBytes field_name,
                              TideBuffer *out, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE: the text is the same for all readings, given the field's name. It has only literals and NAME. */
gboolean tide_key_text_is_constant(const TideKeyText *text);

/* Reads back the moment in a cell's @value that @text produced; for indexes. FALSE: @text is not a single time, or did
 * not produce @value. */
gboolean tide_key_text_read_time(const TideKeyText *text, TideBytes value, gint64 *ret_ns) G_GNUC_WARN_UNUSED_RESULT;

/* The contribution of each part, for explain. @ret_ends: room for n_parts offsets, from the key's first byte, at which
 * the parts end. */
gsize tide_row_key_n_parts(const TideRowKey *key);
char *tide_row_key_describe_part(const TideRowKey *key, const TideFieldNames *names, gsize part); /* (transfer full) */
gboolean tide_row_key_append_parts(const TideRowKey *key, const TideReading *reading, TideBuffer *out, gsize *ret_ends,
                                   TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* A stable one-line description of the scheme: `field(host) "#" time(ms)`. (transfer full) */
char *tide_row_key_describe(const TideRowKey *key, const TideFieldNames *names);

/* A literal of the key that is also the name of a field of @reading, so its value may have been intended. Borrowed;
 * empty: none. */
TideBytes tide_row_key_text_named_as_field(const TideRowKey *key, const TideReading *reading);

/* Appends the fields that the key uses to @ids, without duplicates. (element-type TideNameId) */
void tide_row_key_fields(const TideRowKey *key, GArray *ids);

/* The same, but only fields whose value is in the key, not those that are only hashed. (element-type TideNameId) */
void tide_row_key_stored_fields(const TideRowKey *key, GArray *ids);

gboolean tide_row_key_has_time(const TideRowKey *key);

/* Whether @value, as returned by tide_row_key_decode(), is a default of @field, so the reading may have lacked it. */
gboolean tide_row_key_is_default(const TideRowKey *key, TideNameId field, TideBytes value);

/* TRUE: the key's time is finer than the milliseconds of a cell's time. */
gboolean tide_row_key_is_finer_than_ms(const TideRowKey *key);

/* TRUE: the key's time is a day or coarser, so a row contains at least a day. */
gboolean tide_row_key_is_by_day(const TideRowKey *key);

/* The zone of the key's days: that of its first time part with a zone. Borrowed; NULL: UTC. */
GTimeZone *tide_row_key_zone(const TideRowKey *key);

#define TIDE_ROW_KEY_MAX_BYTES 32767 /* HConstants.MAX_ROW_LENGTH, Short.MAX_VALUE */

/* One range of row keys, [start, stop). */
typedef struct TideKeyRange {
  TideBuffer start;
  TideBuffer stop; /* empty: to the end of the table */
} TideKeyRange;
void tide_key_range_clear(TideKeyRange *range);

/* Initialises the empty @range to cover every key with prefix @prefix. */
void tide_key_range_set_prefix(TideKeyRange *range, TideBytes prefix);

/**
 * tide_row_key_plan: compute the ranges that contain every key with @reading's fields and a time in [from, to).
 * @reading: the fields given; parts before the first part that cannot be built from them form the prefix
 * @from_ns, @to_ns: 0 and G_MAXINT64: no bound A salt whose input is not given produces one range per value, in order.
 * A reversed time swaps the ends. Ranges may contain more rows than requested, never fewer: the caller filters by
 * decoded time. There is no range if @to_ns is not after @from_ns.
 * Ownership: (transfer full), g_array_unref clears the ranges. (element-type TideKeyRange)
 * Errors: TIDE_ERROR_USAGE: a given field is not allowed in a key.
 */
GArray *tide_row_key_plan(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Selects the rows of the ranges that have the given fields. It compares with each row those parts that follow a part
 * that is not given, or whose end is not marked. */
typedef struct TideKeyFilter TideKeyFilter;

typedef enum TideKeyMatch {
  TIDE_KEY_TAKEN,
  TIDE_KEY_LEFT_OUT,
  TIDE_KEY_FOREIGN, /* this key did not produce the row, so its fields are unknown */
} TideKeyMatch;

/**
 * tide_row_key_filter: create a filter for the ranges that tide_row_key_plan() computes from the same arguments.
 * @key: borrowed for the filter's life
 * Errors: TIDE_ERROR_USAGE: a given field is not allowed in a key, or rows cannot be selected by it: it is only in a
 * salt, or hashed together with something that is not given.
 */
TideKeyFilter *tide_row_key_filter(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_key_filter_free(TideKeyFilter *filter); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKeyFilter, tide_key_filter_free)

/* Threads: any. Allocates: nothing. */
TideKeyMatch tide_key_filter_match(const TideKeyFilter *filter, TideBytes row);

/* The number of parts that no range covers, which the filter compares with each row, and the bytes of the @i-th of
 * them. Borrowed. */
guint tide_key_filter_n_open(const TideKeyFilter *filter);
TideBytes tide_key_filter_open_bytes(const TideKeyFilter *filter, guint i);

/* Whether, within one fixed prefix, later event times sort later (+1), earlier (-1: reversed time), or neither (0).
 * Also 0 if a finer time follows a field, or a time of day has no date. */
int tide_row_key_time_order(const TideRowKey *key);

/* A field read back from a key. */
typedef struct TideDecodedField {
  TideNameId field;
  TideBytes
      text; /* borrowed from the decoded key; padding, case, escapes and byte form are undone as far as possible */
} TideDecodedField;

/* A row key read back. Can be reused for each row. */
typedef struct TideDecodedKey {
  TideDecodedField fields[TIDE_ROW_KEY_MAX_PARTS]; /* in the order of the key's parts, without duplicates */
  gsize n_fields;
  gboolean has_time; /* also FALSE if the key has a time of day without a date, for example */
  gint64 from_ns;    /* the event times with this key: [from_ns, to_ns) */
  gint64 to_ns;
  TideBuffer texts;   /* owned */
  TideBuffer scratch; /* owned */
} TideDecodedKey;

/**
 * tide_row_key_decode: read the fields and the time in @row, the inverse of tide_row_key_append() as far as one exists.
 * The decoded fields and time produce the same key again.
 * Returns: FALSE: this key did not produce @row (a wrong length, digit or literal, an impossible date, ...).
 * Threads: any. Allocates: only by growing @ret_decoded->texts.
 */
gboolean tide_row_key_decode(const TideRowKey *key, TideBytes row,
                             TideDecodedKey *ret_decoded) G_GNUC_WARN_UNUSED_RESULT;
void tide_decoded_key_clear(TideDecodedKey *decoded);

/* What cannot be read back from a key, one sentence each: "'host' is only hashed: ...". Empty: everything can.
 * (transfer full) (element-type utf8) */
GPtrArray *tide_row_key_lost(const TideRowKey *key, const TideFieldNames *names);

/* Split points that spread the keys over @n_regions. A leading salt is split at its values: at most one region per
 * value, and one for each if @n_regions is 0. A leading hash is split evenly over its space, an integer with a declared
 * range over that range, its reversed text over its digits. Otherwise, and for 1 region, there are none. Each point
 * includes the literals before that part. (element-type TideBytes) (transfer full): free with tide_splits_free(). */
GArray *tide_row_key_splits(const TideRowKey *key, guint32 n_regions);
void tide_splits_free(GArray *splits);

G_END_DECLS
