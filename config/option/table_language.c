#include "config/option/table_language.h"

#include "util/error.h"

#define PLACE(struct_type, member)                                                                                     \
  .offset = offsetof(struct_type, member), .size = sizeof(((struct_type *)NULL)->member)
#define OF_TABLE(member) PLACE(TideTableDraft, member)
#define OF_FAMILY(member) PLACE(TideFamilySettings, member)
#define OF_COLUMNS(member) PLACE(TideColumnRule, member)
#define OF_COLUMN(member) PLACE(TideColumnDraft, member)
#define OF_CONDITION(member) PLACE(TideConditionDraft, member)
#define OF_SPLITS(member) PLACE(TideSplitsDraft, member)

#define KIB G_GINT64_CONSTANT(1024)
#define SECOND G_GINT64_CONSTANT(1000)
#define DAY (86400 * SECOND)
#define YEARS_68 (24855 * DAY) /* HBase's limit for a time to live: 2^31 - 1 seconds */

static const TideConfigChoice latest_modes[] = {{"none", TIDE_LATEST_NONE},
                                                {"merge", TIDE_LATEST_MERGE},
                                                {"replace", TIDE_LATEST_REPLACE},
                                                {"packed", TIDE_LATEST_PACKED},
                                                {NULL, 0}};
static const TideConfigChoice null_policies[] = {
    {"skip", TIDE_NULL_SKIP}, {"empty", TIDE_NULL_EMPTY}, {"reject", TIDE_NULL_REJECT}, {NULL, 0}};
static const TideConfigChoice compressions[] = {{"none", TIDE_COMPRESSION_NONE},     {"gz", TIDE_COMPRESSION_GZ},
                                                {"snappy", TIDE_COMPRESSION_SNAPPY}, {"lz4", TIDE_COMPRESSION_LZ4},
                                                {"zstd", TIDE_COMPRESSION_ZSTD},     {"lzo", TIDE_COMPRESSION_LZO},
                                                {"bzip2", TIDE_COMPRESSION_BZIP2},   {NULL, 0}};
/* The numbers come from TBloomFilterType and TDataBlockEncoding in the gateway's interface. */
static const TideConfigChoice bloom_filters[] = {{"none", 0}, {"row", 1}, {"rowcol", 2}, {NULL, 0}};
static const TideConfigChoice encodings[] = {{"none", 0},      {"prefix", 2},       {"diff", 3},
                                             {"fast_diff", 4}, {"row_index_v1", 7}, {NULL, 0}};
static const TideConfigChoice tombstone_policies[] = {
    {"ignore", TIDE_TOMBSTONE_IGNORE}, {"delete", TIDE_TOMBSTONE_DELETE}, {NULL, 0}};
static const TideConfigChoice value_encodings[] = {
    {"text", TIDE_ENCODE_TEXT},       {"int64", TIDE_ENCODE_INT64},
    {"float64", TIDE_ENCODE_FLOAT64}, {"float64_rounded", TIDE_ENCODE_FLOAT64_ROUNDED},
    {"json", TIDE_ENCODE_JSON},       {NULL, 0}};
static const TideConfigChoice packings[] = {
    {"none", TIDE_PACK_NONE}, {"json", TIDE_PACK_JSON}, {"msgpack", TIDE_PACK_MSGPACK}, {NULL, 0}};

static const TideConfigOption table_options[] = {
    {"key", TIDE_CONFIG_STRUCTURE, .form = "list of key parts",
     .example = "[{ field: host }, \"#\", { time: epoch_ms }]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Row key: the list of its parts, in order."},
    {"columns", TIDE_CONFIG_STRUCTURE, .form = "mapping, or list of them", .example = "{ family: M, from: \"*\" }",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Fields that become cells, and the family of each."},
    {"when", TIDE_CONFIG_STRUCTURE, .form = "condition, or list of them", .example = "{ field: type, equals: quote }",
     .sentence = "Conditions that a reading must meet to produce a row. Default: every reading does."},
    {"sources", TIDE_CONFIG_STRUCTURE, .form = "name of a source, or list of them", .example = "[telegraf]",
     .sentence = "Sources whose readings produce rows. Default: all sources."},
    {"time", TIDE_CONFIG_STRUCTURE, .form = "as `readings.time`", .example = "{ field: ts, format: epoch_ms }",
     .sentence = "Event time for this table. Default: `readings.time`, whose limits and `on_future` also apply unless "
                 "they are set here."},
    {"cell_time", TIDE_CONFIG_STRUCTURE, .form = "`event`, `record`, or a time as in `readings.time`",
     .default_text = "event",
     .sentence = "Timestamp of the cells. event is the event time. record is the Kafka record's time, so that "
                 "corrections of one event time become versions. Another field is also possible."},
    {"latest", TIDE_CONFIG_CHOICE, OF_TABLE(latest), .default_text = "none", .choices = latest_modes,
     .sentence =
         "Readings that a latest table keeps, regardless of the order in which they arrive. merge keeps the newest "
         "value of each cell. replace makes the row exactly the newest reading, at the cost of a delete marker per "
         "write. packed keeps the newest reading in one cell. none makes a history table, with a row per reading."},
    {"tombstone", TIDE_CONFIG_CHOICE, OF_TABLE(tombstone), .default_text = "ignore", .choices = tombstone_policies,
     .sentence = "Effect of a message without a value in a latest table. ignore does nothing. delete deletes the row "
                 "of its key up to the message's time. Conditions of `when` that do not need the value must be met."},
    {"index_of", TIDE_CONFIG_STRING, OF_TABLE(index_of), .example = "METRIC",
     .sentence = "Makes this latest table an index of another table. An index row is sent after the reading's row in "
                 "that table is acknowledged, and contains the time of the newest reading."},
    {"name_zone", TIDE_CONFIG_ZONE, OF_TABLE(name_zone), .example = "Europe/Berlin",
     .sentence = "Time zone of a date in the table's name. Default: UTC."},
    {"ttl", TIDE_CONFIG_DURATION, OF_TABLE(ttl_ms), SECOND, 36500 * DAY,
     .sentence = "Time to live of each row, counted from its event time. Set the family's `ttl` instead, which costs "
                 "no bytes, unless the table also contains rows of other programs."},
    {"purge_deletes_after", TIDE_CONFIG_DURATION, OF_TABLE(purge_deletes_ms), SECOND, 36500 * DAY,
     .sentence = "Period for which deletes survive major compactions, set when the table is created. It starts at the "
                 "delete's own time, which is that of the reading or message, not at the time of writing; see latest "
                 "tables. Default: 7d if `latest: replace` or `tombstone: delete` deletes, otherwise HBase's default."},
    {"regions", TIDE_CONFIG_INTEGER, OF_TABLE(regions), 1, 10000,
     .sentence =
         "Number of regions to create the table with. They are split by the key's leading salt, hash or `range`, or by "
         "a sample of a topic. Default: a region per value of a leading salt; otherwise `splits`, or one region."},
    {"splits", TIDE_CONFIG_STRUCTURE, .form = "list of texts or `{ hex: \"00ff\" }`, or `{ file: PATH }`",
     .sentence = "Split points for creating the table: the first keys of its second, third, ... region."},
    {"families", TIDE_CONFIG_STRUCTURE, .form = "mapping of families",
     .sentence = "Settings of the families at creation. Families that `columns` names need not be listed here."},
    {"batch_prefix", TIDE_CONFIG_INTEGER, OF_TABLE(lane_prefix_bytes), 0, 64, "0",
     .sentence = "Number of leading key bytes by which rows are grouped into calls until the regions are known. 0 "
                 "groups all rows together."},
    {"rows_per_second", TIDE_CONFIG_INTEGER, OF_TABLE(rows_per_second), 0, 100000000, "0", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum number of rows that each daemon sends to this table per second, retries included; 0: no "
                 "limit beyond `limits.rows_per_second`. The tables of a dated name share it."},
};

static const TideConfigOption family_options[] = {
    {"compression", TIDE_CONFIG_CHOICE, OF_FAMILY(compression), .choices = compressions,
     .sentence = "Compression of blocks on disk. The region servers must have the codec; gz is always available."},
    {"bloom", TIDE_CONFIG_CHOICE, OF_FAMILY(bloom_filter), .choices = bloom_filters,
     .sentence = "Bloom filter, which avoids reads: by row, or by row and column."},
    {"encoding", TIDE_CONFIG_CHOICE, OF_FAMILY(data_block_encoding), .choices = encodings,
     .sentence =
         "Encoding of keys within a block. fast_diff shrinks long, similar keys, such as those of time series."},
    {"block_size", TIDE_CONFIG_SIZE, OF_FAMILY(block_size_bytes), KIB, 16 * 1024 * KIB,
     .sentence = "Size of a block, the unit of reading."},
    {"versions", TIDE_CONFIG_INTEGER, OF_FAMILY(max_versions), 1, 1000000,
     .sentence = "Number of versions of a cell that are kept, by event time."},
    {"ttl", TIDE_CONFIG_DURATION, OF_FAMILY(time_to_live_s), SECOND, YEARS_68,
     .sentence = "Age, by event time, at which cells expire."},
    {"in_memory", TIDE_CONFIG_BOOLEAN, OF_FAMILY(in_memory),
     .sentence = "Gives the family priority in the block cache."},
};

static const TideConfigOption columns_options[] = {
    {"family", TIDE_CONFIG_STRING, OF_COLUMNS(family), .example = "M", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Column family. Keep the name short: it is stored with every cell."},
    {"from", TIDE_CONFIG_STRUCTURE,
     .form = "`\"*\"`, a field, a pattern, or list of these and `{ field: NAME, as: QUALIFIER }`, "
             "`{ pattern: PATTERN, as: QUALIFIER }`, `{ value: PARTS, as: QUALIFIER }`",
     .example = "\"*\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Fields that become cells; the field's name is the qualifier. \"*\" means all fields that are not "
                 "used by another entry of the table, the key or the time. In a pattern, `*` matches any text and `?` "
                 "one character; a pattern skips fields that an entry names."},
    {"nulls", TIDE_CONFIG_CHOICE, OF_COLUMNS(nulls), .default_text = "skip", .choices = null_policies,
     .sentence =
         "Handling of a null field: no cell (skip), an empty cell (empty), or the message is rejected (reject)."},
    {"key_fields", TIDE_CONFIG_BOOLEAN, OF_COLUMNS(with_key_fields), .default_text = "false",
     .sentence = "Whether \"*\" and patterns include the fields of the key and the time."},
    {"encode", TIDE_CONFIG_CHOICE, OF_COLUMNS(encoding), .default_text = "text", .choices = value_encodings,
     .sentence = "Encoding of a stored value: as received (text), as 8 bytes big-endian, or as JSON, with strings in "
                 "quotes. int64 and float64 reject a message whose value is not a number or does not fit; "
                 "float64_rounded stores the nearest number."},
    {"case", TIDE_CONFIG_CHOICE, OF_COLUMNS(name_case), .default_text = "as_is", .choices = tide_text_case_choices,
     .sentence = "Changes the case of the letters A to Z in field names that become qualifiers."},
    {"strip_spaces", TIDE_CONFIG_BOOLEAN, OF_COLUMNS(strip_spaces), .default_text = "false",
     .sentence = "Removes spaces from field names."},
    {"strip_prefix", TIDE_CONFIG_STRING, OF_COLUMNS(strip_prefix), .example = "metrics/",
     .sentence = "Prefix to remove from field names that have it."},
    {"prefix", TIDE_CONFIG_STRING, OF_COLUMNS(prefix), .example = "CPU/", .sentence = "Prefix to add to field names."},
    {"qualifier", TIDE_CONFIG_STRUCTURE, .form = "text, a key part, or list of them",
     .example = "[{ time: HHmm, cut: 15m }]",
     .sentence = "Qualifier, built for each reading; replaces the field's name. If the entry has several fields, `{ "
                 "name: true }` in it distinguishes them."},
    {"pack", TIDE_CONFIG_CHOICE, OF_COLUMNS(packing), .default_text = "none", .choices = packings,
     .sentence =
         "Packs all fields of the entry into one cell, because a cell costs HBase far more than its bytes. The cell is "
         "called r unless `qualifier` is set. Default: none, but json in a table with `latest: packed`."},
};

static gboolean
parse_decimal(const char *text, TideDecimal *decimal, GError **error)
{
  if (tide_unit_change_read(text, decimal) && decimal->n_digits > 0)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be a number other than 0, such as 0.001, of at most %d digits",
                   TIDE_UNIT_CHANGE_MAX_DIGITS);
}

static gboolean
parse_scale(const char *text, gpointer base, GError **error)
{
  return parse_decimal(text, &((TideColumnDraft *)base)->units.scale, error);
}

static gboolean
parse_offset(const char *text, gpointer base, GError **error)
{
  return parse_decimal(text, &((TideColumnDraft *)base)->units.offset, error);
}

/* Tables are printed as the file declares them. */
static char *
print_nothing(gconstpointer base)
{
  return NULL;
}

#define DECIMAL_FORM "number of at most " G_STRINGIFY(TIDE_UNIT_CHANGE_MAX_DIGITS) " digits, not 0"
#define COLUMN_ENCODE                                                                                                  \
  {                                                                                                                    \
    "encode", TIDE_CONFIG_CHOICE, OF_COLUMN(encoding),                                                                 \
        .choices = value_encodings, .sentence = "Encoding of the stored value. Default: as the entry's `encode`."      \
  }
#define COLUMN_SCALE                                                                                                   \
  {                                                                                                                    \
    "scale", TIDE_CONFIG_CUSTOM,                                                                                       \
        .form = DECIMAL_FORM, .example = "0.001", .parse = parse_scale, .print = print_nothing,                        \
        .sentence = "Factor by which the value is multiplied, in exact decimal arithmetic. A value that is not a "     \
                    "number, or a result of more than 64 characters, rejects the message."                             \
  }
#define COLUMN_OFFSET                                                                                                  \
  {                                                                                                                    \
    "offset", TIDE_CONFIG_CUSTOM, .form = DECIMAL_FORM, .example = "-273.15", .parse = parse_offset,                   \
                                  .print = print_nothing,                                                              \
                                  .sentence = "Number that is added to the value, after `scale`."                      \
  }

static const TideConfigOption column_field_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_COLUMN(field), .example = "CPU/CPU1_USR", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Name of the field."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier),
     .sentence = "Qualifier. Default: the field's name, as the entry changes it."},
    COLUMN_SCALE,
    COLUMN_OFFSET,
    COLUMN_ENCODE,
};

static const TideConfigOption column_pattern_options[] = {
    {"pattern", TIDE_CONFIG_STRING, OF_COLUMN(pattern), .example = "\"*_mV\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Pattern for the names of the fields. Fields that an entry names are skipped."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier), .example = "\"*_V\"",
     .sentence = "Qualifier. Each `*` is replaced by the text that the corresponding `*` of the pattern matched; from "
                 "the left, each matches as little as possible. Default: the field's name, as the entry changes it."},
    COLUMN_SCALE,
    COLUMN_OFFSET,
    COLUMN_ENCODE,
};

static const TideConfigOption column_value_options[] = {
    {"value", TIDE_CONFIG_STRUCTURE, .form = "text, a key part, or list of them", .example = "{ time: epoch_ms }",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Parts that build the value: constants, the time, or fields encoded as in a key."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier), .example = "ts",
     .sentence = "Qualifier. It is required unless the entry has a `qualifier` that needs no name."},
};

static const TideConfigOption condition_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_CONDITION(field), .example = "type", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Field to test."},
    {"present", TIDE_CONFIG_BOOLEAN, OF_CONDITION(present),
     .sentence = "true: the field is present and not null. false: it is absent or null."},
    {"equals", TIDE_CONFIG_STRUCTURE, .form = "text, or list of texts",
     .sentence = "The field's text equals this text, or one of the list. Texts are compared: 1 is not 1.0."},
    {"not_equals", TIDE_CONFIG_STRUCTURE, .form = "text, or list of texts",
     .sentence = "The field's text equals none of these, or the field is absent."},
    {"matches", TIDE_CONFIG_STRUCTURE, .form = "pattern, or list of patterns",
     .sentence = "The field's text matches the pattern: `*` matches any text, `?` one character."},
    {"not_matches", TIDE_CONFIG_STRUCTURE, .form = "pattern, or list of patterns",
     .sentence = "The field's text matches none of these, or the field is absent."},
};

static const TideConfigOption splits_options[] = {
    {"file", TIDE_CONFIG_STRING, OF_SPLITS(file), .example = "splits.txt", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "File with one split point per line, in ascending order; `hex:00ff` for bytes. A relative path starts "
                 "at the configuration's directory."},
};

const TideConfigGroup tide_table_options = {"tables.TABLE", NULL, NULL, table_options, G_N_ELEMENTS(table_options)};
const TideConfigGroup tide_family_options = {"tables.TABLE.families.FAMILY", NULL, NULL, family_options,
                                             G_N_ELEMENTS(family_options)};
const TideConfigGroup tide_columns_options = {"tables.TABLE.columns", NULL, NULL, columns_options,
                                              G_N_ELEMENTS(columns_options)};
const TideConfigGroup tide_column_field_options = {"tables.TABLE.columns.from", NULL, NULL, column_field_options,
                                                   G_N_ELEMENTS(column_field_options)};
const TideConfigGroup tide_column_pattern_options = {"tables.TABLE.columns.from, a pattern", NULL, NULL,
                                                     column_pattern_options, G_N_ELEMENTS(column_pattern_options)};
const TideConfigGroup tide_column_value_options = {"tables.TABLE.columns.from, a value", NULL, NULL,
                                                   column_value_options, G_N_ELEMENTS(column_value_options)};
const TideConfigGroup tide_condition_options = {"condition", NULL, NULL, condition_options,
                                                G_N_ELEMENTS(condition_options)};
const TideConfigGroup tide_splits_options = {"tables.TABLE.splits", NULL, NULL, splits_options,
                                             G_N_ELEMENTS(splits_options)};

const TideConfigGroup *const tide_table_language[] = {
    &tide_table_options,        &tide_condition_options, &tide_key_field_options,    &tide_key_default_options,
    &tide_key_time_options,     &tide_key_hash_options,  &tide_key_salt_options,     &tide_key_name_options,
    &tide_key_hex_options,      &tide_columns_options,   &tide_column_field_options, &tide_column_pattern_options,
    &tide_column_value_options, &tide_family_options,    &tide_splits_options,       NULL,
};
