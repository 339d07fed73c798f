#include "config/table_language.h"

#define PLACE(struct_type, member)                                                                                     \
  .offset = offsetof(struct_type, member), .size = sizeof(((struct_type *)NULL)->member)
#define OF_TABLE(member) PLACE(TideTableDraft, member)
#define OF_FAMILY(member) PLACE(TideFamilySettings, member)
#define OF_COLUMNS(member) PLACE(TideColumnRule, member)
#define OF_COLUMN(member) PLACE(TideColumnDraft, member)
#define OF_PART(member) PLACE(TideKeyPartSpec, member)

#define KIB G_GINT64_CONSTANT(1024)
#define SECOND G_GINT64_CONSTANT(1000)
#define DAY (86400 * SECOND)
#define YEARS_68 (24855 * DAY) /* what HBase's time to live holds: 2^31 - 1 seconds */

static const TideConfigChoice latest_modes[] = {{"none", TIDE_LATEST_NONE}, {"merge", TIDE_LATEST_MERGE}, {NULL, 0}};
static const TideConfigChoice null_policies[] = {
    {"skip", TIDE_NULL_SKIP}, {"empty", TIDE_NULL_EMPTY}, {"reject", TIDE_NULL_REJECT}, {NULL, 0}};
static const TideConfigChoice compressions[] = {{"none", TIDE_COMPRESSION_NONE},     {"gz", TIDE_COMPRESSION_GZ},
                                                {"snappy", TIDE_COMPRESSION_SNAPPY}, {"lz4", TIDE_COMPRESSION_LZ4},
                                                {"zstd", TIDE_COMPRESSION_ZSTD},     {"lzo", TIDE_COMPRESSION_LZO},
                                                {"bzip2", TIDE_COMPRESSION_BZIP2},   {NULL, 0}};
/* The numbers of TBloomFilterType and TDataBlockEncoding in the gateway's interface. */
static const TideConfigChoice bloom_filters[] = {{"none", 0}, {"row", 1}, {"rowcol", 2}, {NULL, 0}};
static const TideConfigChoice encodings[] = {{"none", 0},      {"prefix", 2},       {"diff", 3},
                                             {"fast_diff", 4}, {"row_index_v1", 7}, {NULL, 0}};
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
/* Which end of the width the value keeps; stored as: pad in front. */
static const TideConfigChoice alignments[] = {{"left", FALSE}, {"right", TRUE}, {NULL, 0}};
/* Stored as: raw. */
static const TideConfigChoice hash_forms[] = {{"hex", FALSE}, {"raw", TRUE}, {NULL, 0}};

static const TideConfigOption table_options[] = {
    {"key", TIDE_CONFIG_STRUCTURE, .form = "list of key parts",
     .example = "[{ field: host }, \"#\", { time: epoch_ms }]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The row key: its parts, one after the other."},
    {"columns", TIDE_CONFIG_STRUCTURE, .form = "mapping, or list of them", .example = "{ family: M, from: \"*\" }",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Which fields become cells, and in which family."},
    {"latest", TIDE_CONFIG_CHOICE, OF_TABLE(latest), .default_text = "none", .choices = latest_modes,
     .sentence = "merge keeps the newest value of each cell, whatever the order of arrival. none writes every row."},
    {"ttl", TIDE_CONFIG_DURATION, OF_TABLE(ttl_ms), SECOND, 36500 * DAY,
     .sentence = "Each row carries this time to live, counted from its event time. Better set it for the family, "
                 "where it costs no bytes, unless the table holds rows of other programs."},
    {"regions", TIDE_CONFIG_INTEGER, OF_TABLE(regions), 1, 10000,
     .sentence = "Regions to create the table with, split where the key's leading salt or hash says. Without it, a "
                 "leading salt has a region for each value; other keys have one region, or the splits below."},
    {"splits", TIDE_CONFIG_STRUCTURE, .form = "list of texts or `{ hex: \"00ff\" }`",
     .sentence = "Where the table is split when it is created: the first keys of its second, third, ... region."},
    {"families", TIDE_CONFIG_STRUCTURE, .form = "mapping of families",
     .sentence = "How the families are created. Those that columns name need not stand here."},
    {"lane_prefix", TIDE_CONFIG_INTEGER, OF_TABLE(lane_prefix_bytes), 0, 64, "0",
     .sentence = "As long as the regions are not known, rows with the same leading bytes of the key, this many, are "
                 "gathered together; 0 gathers all."},
};

static const TideConfigOption family_options[] = {
    {"compression", TIDE_CONFIG_CHOICE, OF_FAMILY(compression), .choices = compressions,
     .sentence = "Of blocks on disk. The region servers must have the codec; gz is always there."},
    {"bloom", TIDE_CONFIG_CHOICE, OF_FAMILY(bloom_filter), .choices = bloom_filters,
     .sentence = "What the filter that spares reads knows: rows, or rows with columns."},
    {"encoding", TIDE_CONFIG_CHOICE, OF_FAMILY(data_block_encoding), .choices = encodings,
     .sentence = "How keys are stored in a block; fast_diff shrinks long keys that resemble each other, as those of "
                 "time series do."},
    {"block_size", TIDE_CONFIG_SIZE, OF_FAMILY(block_size_bytes), KIB, 16 * 1024 * KIB,
     .sentence = "Of the blocks that are read at once."},
    {"versions", TIDE_CONFIG_INTEGER, OF_FAMILY(max_versions), 1, 1000000,
     .sentence = "Values of one cell that are kept, by event time."},
    {"ttl", TIDE_CONFIG_DURATION, OF_FAMILY(time_to_live_s), SECOND, YEARS_68,
     .sentence = "Cells older than this, by event time, are dropped."},
    {"in_memory", TIDE_CONFIG_BOOLEAN, OF_FAMILY(in_memory), .sentence = "Keep in the block cache before others."},
};

static const TideConfigOption columns_options[] = {
    {"family", TIDE_CONFIG_STRING, OF_COLUMNS(family), .example = "M", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The column family. Keep it short: it is stored with every cell."},
    {"from", TIDE_CONFIG_STRUCTURE, .form = "`\"*\"`, a field, or list of fields and `{ field: NAME, as: QUALIFIER }`",
     .example = "\"*\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The fields, each a cell with the field's name for its qualifier. \"*\": all that no other "
                 "entry of the "
                 "table, nor the key, nor the time uses."},
    {"nulls", TIDE_CONFIG_CHOICE, OF_COLUMNS(nulls), .default_text = "skip", .choices = null_policies,
     .sentence = "A field that is null makes no cell, an empty one, or rejects the message."},
    {"key_fields", TIDE_CONFIG_BOOLEAN, OF_COLUMNS(with_key_fields), .default_text = "false",
     .sentence = "\"*\" takes the fields of the key and the time, too."},
};

static const TideConfigOption column_field_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_COLUMN(field), .example = "CPU/CPU1_USR", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The field."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier), .sentence = "The qualifier; without it, the field's name."},
};

static const TideConfigOption key_field_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_PART(field), .example = "host", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The field; its value stands in the key as text."},
    {"width", TIDE_CONFIG_INTEGER, OF_PART(width_bytes), 1, TIDE_ROW_KEY_MAX_BYTES,
     .sentence = "Bytes. A shorter value is padded, a longer one rejects the message."},
    {"pad", TIDE_CONFIG_STRUCTURE, .form = "one character (ASCII)", .default_text = "\" \"",
     .sentence = "What a value is padded with. It is without meaning: with \"0\", 7 and 007 are the same."},
    {"align", TIDE_CONFIG_CHOICE, OF_PART(pad_left), .choices = alignments,
     .sentence = "Where the value stands in the width. Without it, right with `pad: \"0\"`, else left."},
    {"default", TIDE_CONFIG_STRUCTURE, .form = "text or `{ hex: \"00ff\" }`",
     .sentence = "Stands in the key when the field is absent or null; without it, that rejects the message."},
};

static const TideConfigOption key_time_options[] = {
    {"time", TIDE_CONFIG_CHOICE, OF_PART(unit), .choices = time_units, .example = "epoch_ms",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The event time, as a number of fixed width (10, 13, 16 or 19 digits), so that keys sort by it."},
    {"reversed", TIDE_CONFIG_BOOLEAN, OF_PART(reversed), .default_text = "false",
     .sentence = "9223372036854775807 minus the time, in 19 digits: the newest row comes first."},
    {"binary", TIDE_CONFIG_BOOLEAN, OF_PART(binary), .default_text = "false",
     .sentence = "8 bytes, big-endian, instead of digits."},
};

static const TideConfigOption key_hash_options[] = {
    {"hash", TIDE_CONFIG_CHOICE, OF_PART(hash), .choices = hashes, .example = "md5", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The algorithm. The result is the same for ever, on every machine."},
    {"of", TIDE_CONFIG_STRUCTURE, .form = "a field, or list of fields and parts", .example = "[host]",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "What is hashed; several are joined with a zero byte between them."},
    {"bytes", TIDE_CONFIG_INTEGER, OF_PART(hash_bytes), 1, 32,
     .sentence = "How many leading bytes of the result are taken; without it, all."},
    {"as", TIDE_CONFIG_CHOICE, OF_PART(binary), .default_text = "hex", .choices = hash_forms,
     .sentence = "Two characters for a byte, or the bytes themselves."},
};

static const TideConfigOption key_salt_options[] = {
    {"salt", TIDE_CONFIG_INTEGER, OF_PART(modulo), 2, TIDE_KEY_MAX_SALTS, .example = "16",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "How many salts there are. A hash modulo this number spreads the keys; a read over all of "
                 "them is so "
                 "many scans."},
    {"of", TIDE_CONFIG_STRUCTURE, .form = "a field, or list of fields and parts", .example = "[host]",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "What is hashed. Fields of the key, so that one sensor's rows stay together."},
    {"hash", TIDE_CONFIG_CHOICE, OF_PART(hash), .default_text = "xxh3", .choices = hashes,
     .sentence = "The algorithm."},
    {"width", TIDE_CONFIG_INTEGER, OF_PART(width_bytes), 1, 10,
     .sentence = "Digits, with zeros in front; without it, as many as the largest salt needs."},
};

static const TideConfigOption key_hex_options[] = {
    {"hex", TIDE_CONFIG_STRUCTURE, .form = "hex digits in quotes", .example = "\"00\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Bytes that no text can hold. A plain text in the list stands in the key as it is."},
};

const TideConfigGroup tide_table_options = {"tables.TABLE", NULL, NULL, table_options, G_N_ELEMENTS(table_options)};
const TideConfigGroup tide_family_options = {"tables.TABLE.families.FAMILY", NULL, NULL, family_options,
                                             G_N_ELEMENTS(family_options)};
const TideConfigGroup tide_columns_options = {"tables.TABLE.columns", NULL, NULL, columns_options,
                                              G_N_ELEMENTS(columns_options)};
const TideConfigGroup tide_column_field_options = {"tables.TABLE.columns.from", NULL, NULL, column_field_options,
                                                   G_N_ELEMENTS(column_field_options)};
const TideConfigGroup tide_key_field_options = {"key part: field", NULL, NULL, key_field_options,
                                                G_N_ELEMENTS(key_field_options)};
const TideConfigGroup tide_key_time_options = {"key part: time", NULL, NULL, key_time_options,
                                               G_N_ELEMENTS(key_time_options)};
const TideConfigGroup tide_key_hash_options = {"key part: hash", NULL, NULL, key_hash_options,
                                               G_N_ELEMENTS(key_hash_options)};
const TideConfigGroup tide_key_salt_options = {"key part: salt", NULL, NULL, key_salt_options,
                                               G_N_ELEMENTS(key_salt_options)};
const TideConfigGroup tide_key_hex_options = {"key part: bytes", NULL, NULL, key_hex_options,
                                              G_N_ELEMENTS(key_hex_options)};

const TideConfigGroup *const tide_table_language[] = {
    &tide_table_options,    &tide_key_field_options,
    &tide_key_time_options, &tide_key_hash_options,
    &tide_key_salt_options, &tide_key_hex_options,
    &tide_columns_options,  &tide_column_field_options,
    &tide_family_options,   NULL,
};
