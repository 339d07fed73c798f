/* The key language: a list of parts, compiled once when the configuration is loaded, evaluated for each reading without
 * allocation. Pure: bytes in, bytes out.
 *
 * Two different readings never make one key, where "different" means: in the fields that stand in the key, and in the
 * time at the resolution of its time parts. So that this holds, the compiler refuses lists in which the end of a field
 * cannot be told, and a value is rejected that would hide where it ends. Padding is declared to be without meaning: 7
 * and 007 in a field padded with zeros are the same meter. A default is a value like any other. A salt, and a hash that
 * is shorter than 16 bytes, only spread keys: they say nothing about identity. */
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
  TIDE_KEY_NAME, /* the name of the field whose cell it is: in qualifiers only */
} TideKeyPartKind;

/* How a field's value stands in the key. All but TEXT are of fixed width, and sort as their values do. */
typedef enum TideKeyForm {
  TIDE_KEY_TEXT,
  TIDE_KEY_INT8, /* big-endian, the sign bit flipped, so that negative ones sort first */
  TIDE_KEY_INT16,
  TIDE_KEY_INT32,
  TIDE_KEY_INT64,
  TIDE_KEY_UINT8, /* big-endian */
  TIDE_KEY_UINT16,
  TIDE_KEY_UINT32,
  TIDE_KEY_UINT64,
  TIDE_KEY_FLOAT32, /* IEEE 754 big-endian; the sign bit flipped, or, of negative ones, all bits. -0 is 0; no NaN */
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

/* What was declared: the configuration fills these, tide_row_key_compile() checks and copies them. */
typedef struct TideKeyPartSpec TideKeyPartSpec;

/* What stands for a field that is absent or null, when a condition holds. */
typedef struct TideKeyDefault {
  TideCondition when; /* borrowed */
  TideBytes value;
} TideKeyDefault;

/* Of a FIELD. */
typedef struct TideKeyValueSpec {
  TideNameId field;
  guint8 pad_byte;         /* with width */
  gboolean pad_left;       /* with width: pad in front (numbers), else behind (names) */
  TideBytes default_value; /* used when the field is absent or null; with has_default */
  gboolean has_default;
  const TideKeyDefault *defaults; /* tried in order, before default_value */
  gsize n_defaults;
  TideKeyForm form;
  gboolean cut;           /* with width: a longer value is cut to it instead of rejected. Its first bytes are then all
                           * that tells it from others */
  gboolean text_reversed; /* as text: its bytes, padding and all, are written backwards */
  gboolean escape;        /* as text without width: bytes up to the delimiter's first one are escaped, so that any value
                           * may stand there and the order stays that of the values */
  gboolean has_range;     /* of integers, binary or padded with zeros in front: values outside are rejected; splits
                           * are even over the range */
  gint64 range_min;
  gint64 range_max; /* inclusive */
} TideKeyValueSpec;

/* Of a FIELD as text, and of a NAME. */
typedef struct TideKeySpelling {
  TideTextCase text_case;
  gboolean strip_spaces; /* spaces are left out */
} TideKeySpelling;

/* Appends @text so. */
void tide_key_spelling_append(const TideKeySpelling *spelling, TideBytes text, TideBuffer *out);

/* Of a TIME. */
typedef struct TideKeyMomentSpec {
  TideKeyTimeUnit unit;
  gboolean reversed;     /* without pattern: Long.MAX - t: the newest sorts first */
  const char *pattern;   /* printed by this pattern (time_pattern.h) instead of counted in unit; NULL: counted */
  GTimeZone *zone;       /* with pattern, cut or since: borrowed; NULL: UTC */
  const char *zone_name; /* as declared, for descriptions; NULL: UTC */
  TideTimeCut cut_to;    /* the time is cut to this first */
  TideTimeCut since;     /* without pattern: counted from the start of this instead of from 1970; width and binary size
                          * are as small as its largest number needs (binary: 1, 2, 4 or 8 bytes) */
  guint32 drop_digits;   /* as decimal text: that many digits at the end are left out */
} TideKeyMomentSpec;

/* Of a HASH or a SALT. */
typedef struct TideKeyDigestSpec {
  TideKeyHash hash;
  guint32 hash_bytes; /* HASH: how many of the digest's leading bytes; 0: all */
  guint32 modulo;     /* SALT: the number of salts, at least 2 */
  gboolean by_number; /* SALT: of is one part, whose value is an integer (a field) or counted (a time): salt = that
                       * number modulo `modulo`, of a negative one the same as Euclid's; else by hash */
  guint32 first;      /* SALT: the number of the first salt, 0 or 1 for most */
  TideBytes alphabet; /* SALT: its digits, ascending; empty: 0 to 9. `abc` with 3 salts: a, b, c */
  const TideKeyPartSpec *of; /* the parts hashed, joined: literals, fields and times, each as it would
                              * stand in a key, with a byte 0x00 between one and the next */
  gsize n_of;
} TideKeyDigestSpec;

struct TideKeyPartSpec {
  TideKeyPartKind kind;
  TideBytes literal;   /* LITERAL */
  guint32 width_bytes; /* FIELD: 0 none; the value is padded to it and rejected when longer. SALT: digits, 0: as many
                        * as the largest number needs */
  gboolean binary;     /* TIME: 8 bytes big-endian instead of decimal text; HASH: raw bytes instead of hex */
  TideKeyValueSpec value;
  TideKeySpelling spelling;
  TideKeyMomentSpec moment;
  TideKeyDigestSpec digest;
};

#define TIDE_ROW_KEY_MAX_PARTS 32u /* in one list; more than any key in use has */
#define TIDE_KEY_MAX_SALTS 4096u   /* each is a scan of its own, and a region */

typedef struct TideRowKey TideRowKey;

/**
 * tide_row_key_compile: check @specs and make the compiled key. Copies everything.
 * Errors: TIDE_ERROR_CONFIG with a sentence and the remedy; @ret_bad_part is the index of the part at fault.
 *
 * What is refused, beside values out of range:
 * - a field without width that nothing delimits (no literal follows it directly), when another field without width
 * comes later: where the first ends could not be told
 * - padding with a letter or digit, which would make one value of two (1 and 10), but for zeros in front of numbers
 * - a key that holds neither a field nor the time outside of salts
 * - a hash shorter than 16 bytes of a field that does not stand in the key itself: two values could make one key
 * - a field that is hashed or salted, or stands in the key twice, in two forms of which neither follows from the other:
 * two spellings of one value would make two rows, and what is read back would not make the key again
 * - a clock that is set back once a year, unless another time part tells its two hours apart
 * - a second salt; a hash or salt inside of another; a default that would be rejected as a value
 */
TideRowKey *tide_row_key_compile(const TideKeyPartSpec *specs, gsize n_specs, gsize *ret_bad_part,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_row_key_free(TideRowKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowKey, tide_row_key_free)

/**
 * tide_row_key_append: append @reading's row key to @out.
 * Returns: FALSE with @ret_reject filled, and @out as it was. A missing or null field without default is rejected with
 *     its name (an absent one by its field_place only: tide_reject_resolve_field()), an empty or blank one too, one
 * that is longer than its width too, one that holds the literal that follows it too (two readings must never make one
 *     key), and one with a NUL byte, which no text has. Times before 1970 have no place in the order and are rejected.
 *     The whole key is at most 32,767 bytes.
 * Threads: any. Allocates: only by growing @out.
 */
gboolean tide_row_key_append(const TideRowKey *key, const TideReading *reading, TideBuffer *out,
                             TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* A list of parts that makes a text that need not identify anything: a qualifier, a cell's value, a table's name. The
 * same parts and the same bytes as in a key, but nothing is asked about where parts end, and nothing about identity; a
 * pattern may hold elements of variable width (time_pattern.h), and NAME is allowed where @with_name says so. Freed
 * with tide_row_key_free(). */
typedef TideRowKey TideKeyText;
TideKeyText *tide_key_text_compile(const TideKeyPartSpec *specs, gsize n_specs, gboolean with_name, gsize *ret_bad_part,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Appends what @text makes of @reading; @field_name stands for NAME. As tide_row_key_append() else. */
gboolean tide_key_text_append(const TideKeyText *text, const TideReading *reading, TideBytes field_name,
                              TideBuffer *out, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE when the text is the same for all readings of one name: literals and NAME only. */
gboolean tide_key_text_is_constant(const TideKeyText *text);

/* The moment that a cell's @value says which @text made, read back. FALSE where @text is not a single time, or did not
 * make it. For reading indexes. */
gboolean tide_key_text_read_time(const TideKeyText *text, TideBytes value, gint64 *ret_ns) G_GNUC_WARN_UNUSED_RESULT;

/* The parts, for explain: what each contributed. @ret_ends: room for n_parts offsets, counted from the key's first
 * byte, at which the parts end. */
gsize tide_row_key_n_parts(const TideRowKey *key);
char *tide_row_key_describe_part(const TideRowKey *key, const TideFieldNames *names, gsize part); /* (transfer full) */
gboolean tide_row_key_append_parts(const TideRowKey *key, const TideReading *reading, TideBuffer *out, gsize *ret_ends,
                                   TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* What the scheme says of itself in one line, stable: `field(host) "#" time(ms)`. (transfer full) */
char *tide_row_key_describe(const TideRowKey *key, const TideFieldNames *names);

/* A text of the key that is the name of a field of @reading, too, whose value may be meant; borrowed; empty: there is
 * none. */
TideBytes tide_row_key_text_named_as_field(const TideRowKey *key, const TideReading *reading);

/* Names of fields that the key uses; appended to @ids, without repeats. (element-type TideNameId) */
void tide_row_key_fields(const TideRowKey *key, GArray *ids);

/* As above, but only those whose value stands in the key: not those that are only hashed. (element-type TideNameId) */
void tide_row_key_stored_fields(const TideRowKey *key, GArray *ids);

/* TRUE when the key's parts include the event time. */
gboolean tide_row_key_has_time(const TideRowKey *key);

/* Whether @value, as tide_row_key_decode() gives it, may stand for a reading without @field: it is a default of that.
 */
gboolean tide_row_key_is_default(const TideRowKey *key, TideNameId field, TideBytes value);

/* TRUE when the key has the event time to less than a millisecond, which no cell has. */
gboolean tide_row_key_is_finer_than_ms(const TideRowKey *key);

/* TRUE when the key has the event time by the day, or in larger steps: a row holds a day at the least. */
gboolean tide_row_key_is_by_day(const TideRowKey *key);

/* The zone by whose clocks the key's days are counted: that of its first time part that has one. Borrowed; NULL: UTC.
 */
GTimeZone *tide_row_key_zone(const TideRowKey *key);

#define TIDE_ROW_KEY_MAX_BYTES 32767 /* HConstants.MAX_ROW_LENGTH, Short.MAX_VALUE */

/* One range of row keys, [start, stop). */
typedef struct TideKeyRange {
  TideBuffer start;
  TideBuffer stop; /* empty: to the end of the table */
} TideKeyRange;
void tide_key_range_clear(TideKeyRange *range);

/* Makes the empty @range that of all keys that begin with @prefix. */
void tide_key_range_set_prefix(TideKeyRange *range, TideBytes prefix);

/**
 * tide_row_key_plan: the ranges that hold every key of (@reading's fields, time in [from, to)).
 * @reading: the fields given; the parts in front of the first part that cannot be built from them make the prefix
 * @from_ns, @to_ns: 0 and G_MAXINT64 when not bounded
 * A salt whose input is not given makes one range for each of its values, in their order. A reversed time swaps the
 * ends. Ranges may hold more rows than wanted (never fewer): the caller filters by decoded time. No range when @to_ns
 * is not after @from_ns. Ownership: (transfer full), g_array_unref clears the ranges. (element-type TideKeyRange)
 * Errors: TIDE_ERROR_USAGE: a field given cannot stand in a key.
 */
GArray *tide_row_key_plan(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Which rows of the ranges are those of the fields given: what stands behind a part that is not given, or ends where
 * nothing says so, is held against each row. */
typedef struct TideKeyFilter TideKeyFilter;

typedef enum TideKeyMatch {
  TIDE_KEY_TAKEN,
  TIDE_KEY_LEFT_OUT,
  TIDE_KEY_FOREIGN, /* the key did not make this row: it does not tell the fields */
} TideKeyMatch;

/**
 * tide_row_key_filter: for the ranges that tide_row_key_plan() makes of the same arguments. @key: borrowed for its life
 * Errors: TIDE_ERROR_USAGE: a field given cannot stand in a key, or the key does not tell it: it is only in a salt, or
 *     hashed together with what is not given.
 */
TideKeyFilter *tide_row_key_filter(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_key_filter_free(TideKeyFilter *filter); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKeyFilter, tide_key_filter_free)

/* Threads: any. Allocates: nothing. */
TideKeyMatch tide_key_filter_match(const TideKeyFilter *filter, TideBytes row);

/* How many parts it holds against rows that no range does, and the bytes of the @i-th of them. Borrowed. */
guint tide_key_filter_n_open(const TideKeyFilter *filter);
TideBytes tide_key_filter_open_bytes(const TideKeyFilter *filter, guint i);

/* Within one fixed prefix, whether later event times sort later (+1), earlier (-1: reversed time), or neither (0): also
 * where a finer time stands behind a field, or a time of day without its date. */
int tide_row_key_time_order(const TideRowKey *key);

/* One field as it is read back from a key. */
typedef struct TideDecodedField {
  TideNameId field;
  TideBytes text; /* borrowed from the decoded key: its padding, case, escapes and byte form undone as far as can be */
} TideDecodedField;

/* A row key read back. Reused from row to row. */
typedef struct TideDecodedKey {
  TideDecodedField fields[TIDE_ROW_KEY_MAX_PARTS]; /* in the order of the key's parts, none twice */
  gsize n_fields;
  gboolean has_time; /* FALSE also where the key has a time of day or the like, but no date */
  gint64 from_ns;    /* the event times that make this key: [from_ns, to_ns) */
  gint64 to_ns;
  TideBuffer texts;   /* owned */
  TideBuffer scratch; /* owned */
} TideDecodedKey;

/**
 * tide_row_key_decode: the fields and the time in @row: the inverse of tide_row_key_append() where there is one.
 * For a row that the key made of a reading, making the key again of what is decoded gives the same bytes.
 * Returns: FALSE when @row was not made by this key (a wrong length, digit, literal, an impossible date, ...).
 * Threads: any. Allocates: only by growing @ret_decoded->texts.
 */
gboolean tide_row_key_decode(const TideRowKey *key, TideBytes row,
                             TideDecodedKey *ret_decoded) G_GNUC_WARN_UNUSED_RESULT;
void tide_decoded_key_clear(TideDecodedKey *decoded);

/* What cannot be read back from a key, a sentence each: "'host' is only hashed: ...". Empty when all can.
 * (transfer full) (element-type utf8) */
GPtrArray *tide_row_key_lost(const TideRowKey *key, const TideFieldNames *names);

/* Split points that spread the keys over @n_regions: for a leading salt at its values (at the most one region for each,
 * and one for each when @n_regions is 0), for a leading hash even over its space, for an integer with a declared range
 * even over that (reversed text: even over its digits); none for all else, and for 1 region. Literals in front are part
 * of each point. (element-type TideBytes, owned: free with tide_splits_free) */
GArray *tide_row_key_splits(const TideRowKey *key, guint32 n_regions);
void tide_splits_free(GArray *splits);

G_END_DECLS
