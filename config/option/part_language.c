/* The options of each kind of key part, in keys, qualifiers and values: names, words, bounds. */
#include "config/option/table_language.h"
#include "model/time/time_pattern.h"
#include "util/error.h"

#include <string.h>

#define OF_PART(member) .offset = offsetof(TideKeyPartSpec, member), .size = sizeof(((TideKeyPartSpec *)NULL)->member)

static const TideConfigChoice key_forms[] = {
    {"text", TIDE_KEY_TEXT},       {"int8", TIDE_KEY_INT8},       {"int16", TIDE_KEY_INT16},
    {"int32", TIDE_KEY_INT32},     {"int64", TIDE_KEY_INT64},     {"uint8", TIDE_KEY_UINT8},
    {"uint16", TIDE_KEY_UINT16},   {"uint32", TIDE_KEY_UINT32},   {"uint64", TIDE_KEY_UINT64},
    {"float32", TIDE_KEY_FLOAT32}, {"float64", TIDE_KEY_FLOAT64}, {NULL, 0}};
static const TideConfigChoice time_units[] = {{"epoch_s", TIDE_KEY_TIME_S},
                                              {"epoch_ms", TIDE_KEY_TIME_MS},
                                              {"epoch_us", TIDE_KEY_TIME_US},
                                              {"epoch_ns", TIDE_KEY_TIME_NS},
                                              {NULL, 0}};
static const TideConfigChoice hashes[] = {{"md5", TIDE_KEY_HASH_MD5},
                                          {"sha1", TIDE_KEY_HASH_SHA1},
                                          {"sha256", TIDE_KEY_HASH_SHA256},
                                          {"murmur3", TIDE_KEY_HASH_MURMUR3},
                                          {"xxh3", TIDE_KEY_HASH_XXH3},
                                          {"crc32", TIDE_KEY_HASH_CRC32},
                                          {NULL, 0}};
/* The end of the width at which the value is; stored as: pad at the other end. */
static const TideConfigChoice alignments[] = {{"left", FALSE}, {"right", TRUE}, {NULL, 0}};
/* Stored as: cut. */
static const TideConfigChoice long_values[] = {{"reject", FALSE}, {"cut", TRUE}, {NULL, 0}};
/* Stored as: escape. */
static const TideConfigChoice separators[] = {{"reject", FALSE}, {"escape", TRUE}, {NULL, 0}};
/* Stored as: raw. */
static const TideConfigChoice hash_forms[] = {{"hex", FALSE}, {"raw", TRUE}, {NULL, 0}};
/* Stored as: by_number. */
static const TideConfigChoice salt_sources[] = {{"hash", FALSE}, {"number", TRUE}, {NULL, 0}};

#define TIME_FORM "one of `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, or a pattern such as `yyyyMMdd`"
#define SLOT_FORM "minutes that divide the day (`15m`), `hour`, `6h`, `day`, `week`, `month`, `year`"

/* A unit, or a pattern, which is borrowed from @text: it is a text of the file. */
static gboolean
parse_time(const char *text, gpointer base, GError **error)
{
  TideKeyPartSpec *spec = base;
  g_autoptr(GError) reason = NULL;

  for (const TideConfigChoice *unit = time_units; unit->name != NULL; unit++) {
    if (strcmp(unit->name, text) == 0) {
      spec->moment.unit = (TideKeyTimeUnit)unit->value;
      return TRUE;
    }
  }
  g_autoptr(TideTimePattern) print = tide_time_pattern_compile(text, TIDE_PATTERN_QUALIFIER, &reason);
  if (print == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be one of epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern such as yyyyMMdd (%s)",
                     reason->message);
  spec->moment.pattern = text;
  return TRUE;
}

static char *
print_time(gconstpointer base)
{
  const TideKeyPartSpec *spec = base;

  return g_strdup(spec->moment.pattern != NULL ? spec->moment.pattern
                                               : tide_config_choice_name(time_units, (int)spec->moment.unit));
}

static gboolean
parse_slot(const char *text, TideTimeCut *cut, GError **error)
{
  g_autoptr(GError) reason = NULL;

  if (tide_time_cut_parse(text, cut, &reason))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "cannot be used: %s", reason->message);
}

static gboolean
parse_cut(const char *text, gpointer base, GError **error)
{
  return parse_slot(text, &((TideKeyPartSpec *)base)->moment.cut_to, error);
}

static char *
print_cut(gconstpointer base)
{
  return tide_time_cut_format(((const TideKeyPartSpec *)base)->moment.cut_to);
}

static gboolean
parse_since(const char *text, gpointer base, GError **error)
{
  return parse_slot(text, &((TideKeyPartSpec *)base)->moment.since, error);
}

static char *
print_since(gconstpointer base)
{
  return tide_time_cut_format(((const TideKeyPartSpec *)base)->moment.since);
}

static const TideConfigOption field_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_PART(value.field), .example = "host", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Field whose value becomes part of the key."},
    {"as", TIDE_CONFIG_CHOICE, OF_PART(value.form), .default_text = "text", .choices = key_forms,
     .sentence = "Encoding of the value. All except text are big-endian, of fixed width, and sort like their values: "
                 "int inverts the sign bit, float is encoded in order, uint is unchanged."},
    {"width", TIDE_CONFIG_INTEGER, OF_PART(width_bytes), 1, TIDE_ROW_KEY_MAX_BYTES,
     .sentence = "Width in bytes. A shorter value is padded."},
    {"pad", TIDE_CONFIG_STRUCTURE, .form = "one character (ASCII), or a byte as `{ hex: \"00\" }`",
     .default_text = "\" \"",
     .sentence = "Padding character. It carries no meaning: with \"0\", 7 and 007 are the same."},
    {"align", TIDE_CONFIG_CHOICE, OF_PART(value.pad_left), .choices = alignments,
     .sentence = "Alignment of a value shorter than the width. Default: right with `pad: \"0\"`, otherwise left."},
    {"long", TIDE_CONFIG_CHOICE, OF_PART(value.cut), .default_text = "reject", .choices = long_values,
     .sentence = "Handling of a value longer than the width. reject rejects the message. cut cuts the value, so that "
                 "values with the same beginning share a key."},
    {"case", TIDE_CONFIG_CHOICE, OF_PART(spelling.text_case), .default_text = "as_is",
     .choices = tide_text_case_choices, .sentence = "Changes the case of the letters A to Z."},
    {"strip_spaces", TIDE_CONFIG_BOOLEAN, OF_PART(spelling.strip_spaces), .default_text = "false",
     .sentence = "Removes spaces."},
    {"reversed", TIDE_CONFIG_BOOLEAN, OF_PART(value.text_reversed), .default_text = "false",
     .sentence = "Writes the part backwards, including padding. The end that changes fastest then leads, which spreads "
                 "the rows."},
    {"separator", TIDE_CONFIG_CHOICE, OF_PART(value.escape), .default_text = "reject", .choices = separators,
     .sentence = "Handling of a value that contains the text that follows it in the key. reject rejects the message. "
                 "escape escapes the value, which allows any value and keeps the order."},
    {"range", TIDE_CONFIG_STRUCTURE, .form = "`[MIN, MAX]`, whole numbers",
     .sentence = "Range for integers. A value outside it rejects the message. `regions` are split evenly over it."},
    {"default", TIDE_CONFIG_STRUCTURE,
     .form = "text, `{ hex: \"00ff\" }`, or list of `{ when: ..., value: ... }` and one of these",
     .sentence = "Text for an absent or null field. Default: such a field rejects the message. In a list, the first "
                 "item whose condition holds applies; an item without a condition must be the last."},
};

static const TideConfigOption default_options[] = {
    {"when", TIDE_CONFIG_STRUCTURE, .form = "condition", .example = "{ field: type, equals: quote }",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Condition that the reading must meet."},
    {"value", TIDE_CONFIG_STRUCTURE, .form = "text or `{ hex: \"00ff\" }`", .example = "none",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Text in the key if the condition holds."},
};

static const TideConfigOption time_options[] = {
    {"time", TIDE_CONFIG_CUSTOM, .form = TIME_FORM, .example = "epoch_ms", .flags = TIDE_CONFIG_REQUIRED,
     .parse = parse_time, .print = print_time,
     .sentence = "Event time. A unit writes a number of fixed width (10, 13, 16 or 19 digits), so that keys sort by "
                 "time. A pattern consists of yyyy MM dd HH mm ss and S for digits of a fraction; in qualifiers also "
                 "d, M and H, without a leading zero."},
    {"cut", TIDE_CONFIG_CUSTOM, .form = SLOT_FORM, .parse = parse_cut, .print = print_cut,
     .sentence = "Unit to which the time is rounded down, in the zone's local time. Weeks start on Monday."},
    {"zone", TIDE_CONFIG_ZONE, OF_PART(moment.zone), .example = "Europe/Berlin",
     .sentence = "Time zone for a pattern, `cut` and `since`. Default: UTC."},
    {"since", TIDE_CONFIG_CUSTOM, .form = SLOT_FORM, .parse = parse_since, .print = print_since,
     .sentence = "Period whose start replaces 1970 as the epoch. The number is as wide as its largest value."},
    {"drop", TIDE_CONFIG_INTEGER, OF_PART(moment.drop_digits), 1, 18,
     .sentence = "Number of digits to drop from the end of the number."},
    {"reversed", TIDE_CONFIG_BOOLEAN, OF_PART(moment.reversed), .default_text = "false",
     .sentence = "Writes 9223372036854775807 minus the time, in 19 digits, so that the newest row is first."},
    {"binary", TIDE_CONFIG_BOOLEAN, OF_PART(binary), .default_text = "false",
     .sentence = "Writes big-endian bytes instead of digits: 8, or with `since` as few as needed."},
};

static const TideConfigOption hash_options[] = {
    {"hash", TIDE_CONFIG_CHOICE, OF_PART(digest.hash), .choices = hashes, .example = "md5",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Hash algorithm. Its result is the same on every machine and in every release."},
    {"of", TIDE_CONFIG_STRUCTURE, .form = "a field, or list of fields and parts", .example = "[host]",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Fields to hash. Several are joined with a zero byte."},
    {"bytes", TIDE_CONFIG_INTEGER, OF_PART(digest.hash_bytes), 1, 32,
     .sentence = "Number of leading bytes of the result. Default: all."},
    {"as", TIDE_CONFIG_CHOICE, OF_PART(binary), .default_text = "hex", .choices = hash_forms,
     .sentence = "Form of a byte: two hexadecimal digits (hex), or the byte itself (raw)."},
};

static const TideConfigOption salt_options[] = {
    {"salt", TIDE_CONFIG_INTEGER, OF_PART(digest.modulo), 2, TIDE_KEY_MAX_SALTS, .example = "16",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence =
         "Number of salts. The hash modulo this number spreads the keys; reading all of them takes as many scans."},
    {"of", TIDE_CONFIG_STRUCTURE, .form = "a field, or list of fields and parts", .example = "[host]",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Fields to hash. Use fields of the key, so that the rows of a device stay together."},
    {"by", TIDE_CONFIG_CHOICE, OF_PART(digest.by_number), .default_text = "hash", .choices = salt_sources,
     .sentence =
         "Source of the salt: a hash of `of`, or the remainder of the number (or numeric time) that `of` names."},
    {"hash", TIDE_CONFIG_CHOICE, OF_PART(digest.hash), .default_text = "xxh3", .choices = hashes,
     .sentence = "Hash algorithm."},
    {"first", TIDE_CONFIG_INTEGER, OF_PART(digest.first), 0, 1000000000, "0", .sentence = "Number of the first salt."},
    {"width", TIDE_CONFIG_INTEGER, OF_PART(width_bytes), 1, 10,
     .sentence = "Number of digits, with leading zeros. Default: as many as the largest salt needs."},
    {"alphabet", TIDE_CONFIG_STRUCTURE, .form = "text or `{ hex: \"00ff\" }`", .default_text = "\"0123456789\"",
     .sentence = "Digits to write the salt with, in ascending order: with \"abc\" and 3 salts, they are a, b and c."},
};

static const TideConfigOption name_options[] = {
    {"name", TIDE_CONFIG_STRUCTURE, .form = "`true`", .example = "true", .flags = TIDE_CONFIG_REQUIRED,
     .sentence =
         "In a qualifier: the name of the cell's field, as the entry's `case`, `strip_spaces` and `prefix` change it."},
};

static const TideConfigOption hex_options[] = {
    {"hex", TIDE_CONFIG_STRUCTURE, .form = "hex digits in quotes", .example = "\"00\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Bytes that no text can represent. A plain text in the list is copied to the key unchanged."},
};

const TideConfigChoice tide_text_case_choices[] = {
    {"as_is", TIDE_CASE_AS_IS}, {"lower", TIDE_CASE_LOWER}, {"upper", TIDE_CASE_UPPER}, {NULL, 0}};

const TideConfigGroup tide_key_field_options = TIDE_ITEM_GROUP("key part: field", field_options);
const TideConfigGroup tide_key_default_options = TIDE_ITEM_GROUP("key part: field, default", default_options);
const TideConfigGroup tide_key_time_options = TIDE_ITEM_GROUP("key part: time", time_options);
const TideConfigGroup tide_key_hash_options = TIDE_ITEM_GROUP("key part: hash", hash_options);
const TideConfigGroup tide_key_salt_options = TIDE_ITEM_GROUP("key part: salt", salt_options);
const TideConfigGroup tide_key_name_options = TIDE_ITEM_GROUP("key part: name", name_options);
const TideConfigGroup tide_key_hex_options = TIDE_ITEM_GROUP("key part: bytes", hex_options);
