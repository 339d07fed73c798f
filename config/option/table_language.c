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
#define YEARS_68 (24855 * DAY) /* what HBase's time to live holds: 2^31 - 1 seconds */

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
/* The numbers of TBloomFilterType and TDataBlockEncoding in the gateway's interface. */
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
     .sentence = "The row key: its parts, one after the other."},
    {"columns", TIDE_CONFIG_STRUCTURE, .form = "mapping, or list of them", .example = "{ family: M, from: \"*\" }",
     .flags = TIDE_CONFIG_REQUIRED, .sentence = "Which fields become cells, and in which family."},
    {"when", TIDE_CONFIG_STRUCTURE, .form = "condition, or list of them", .example = "{ field: type, equals: quote }",
     .sentence = "Only readings for which all of these hold make a row; without it, every reading does."},
    {"sources", TIDE_CONFIG_STRUCTURE, .form = "name of a source, or list of them", .example = "[telegraf]",
     .sentence = "Only readings of these make a row; without it, those of all sources."},
    {"time", TIDE_CONFIG_STRUCTURE, .form = "as `readings.time`", .example = "{ field: ts, format: epoch_ms }",
     .sentence = "The table's own event time; without it, that of `readings.time`, whose bounds and `on_future` also "
                 "hold unless "
                 "others stand here."},
    {"cell_time", TIDE_CONFIG_STRUCTURE, .form = "`event`, `record`, or a time as in `readings.time`",
     .default_text = "event",
     .sentence = "The time of the cells: the event's, the Kafka record's (corrections of one event time become "
                 "versions), or another field's."},
    {"latest", TIDE_CONFIG_CHOICE, OF_TABLE(latest), .default_text = "none", .choices = latest_modes,
     .sentence = "Whatever the order of arrival: merge keeps the newest value of each cell; replace makes the row "
                 "exactly the newest reading, at the cost of a delete marker for each write; packed keeps the newest "
                 "reading in one cell. none writes every row."},
    {"tombstone", TIDE_CONFIG_CHOICE, OF_TABLE(tombstone), .default_text = "ignore", .choices = tombstone_policies,
     .sentence = "In a latest table, what a message without value does: nothing, or delete the row that its key names, "
                 "up to its time, if it meets those conditions of `when` that ask nothing of the value."},
    {"index_of", TIDE_CONFIG_STRING, OF_TABLE(index_of), .example = "METRIC",
     .sentence = "This latest table is an index of that one: its row is sent when the reading's row there is "
                 "acknowledged, and tells the time of the newest."},
    {"name_zone", TIDE_CONFIG_ZONE, OF_TABLE(name_zone), .example = "Europe/Berlin",
     .sentence = "Whose calendar a date in the table's name goes by; UTC without it."},
    {"ttl", TIDE_CONFIG_DURATION, OF_TABLE(ttl_ms), SECOND, 36500 * DAY,
     .sentence = "Each row carries this time to live, counted from its event time. Better set it for the family, "
                 "where it costs no bytes, unless the table holds rows of other programs."},
    {"purge_deletes_after", TIDE_CONFIG_DURATION, OF_TABLE(purge_deletes_ms), SECOND, 36500 * DAY,
     .sentence =
         "The table is created so that deletes outlive major compactions for so long, counted from the delete's "
         "own time, which is that of the reading or message, not from when it was written: see latest tables. "
         "Without it 7d where `latest: replace` or `tombstone: delete` deletes, else HBase's default."},
    {"regions", TIDE_CONFIG_INTEGER, OF_TABLE(regions), 1, 10000,
     .sentence = "Regions to create the table with, split where the key's leading salt, hash or range says, or where a "
                 "sample of a topic does. Without it, a leading salt has a region for each value; other keys have one "
                 "region, or the splits below."},
    {"splits", TIDE_CONFIG_STRUCTURE, .form = "list of texts or `{ hex: \"00ff\" }`, or `{ file: PATH }`",
     .sentence = "Where the table is split when it is created: the first keys of its second, third, ... region."},
    {"families", TIDE_CONFIG_STRUCTURE, .form = "mapping of families",
     .sentence = "How the families are created. Those that columns name need not stand here."},
    {"lane_prefix", TIDE_CONFIG_INTEGER, OF_TABLE(lane_prefix_bytes), 0, 64, "0",
     .sentence = "As long as the regions are not known, rows with the same leading bytes of the key, this many, are "
                 "gathered together; 0 gathers all."},
    {"rows_per_second", TIDE_CONFIG_INTEGER, OF_TABLE(rows_per_second), 0, 100000000, "0", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum number of rows that each daemon sends to this table per second, retries included; 0: no "
                 "limit beyond `limits.rows_per_second`. The tables of a dated name share it. A reload applies it."},
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
    {"from", TIDE_CONFIG_STRUCTURE,
     .form = "`\"*\"`, a field, a pattern, or list of these and `{ field: NAME, as: QUALIFIER }`, "
             "`{ pattern: PATTERN, as: QUALIFIER }`, `{ value: PARTS, as: QUALIFIER }`",
     .example = "\"*\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The fields, each a cell with the field's name for its qualifier. \"*\": all that no other entry of "
                 "the table, nor the key, nor the time uses. In a pattern, `*` stands for any text and `?` for one "
                 "character; it takes what no entry names."},
    {"nulls", TIDE_CONFIG_CHOICE, OF_COLUMNS(nulls), .default_text = "skip", .choices = null_policies,
     .sentence = "A field that is null makes no cell, an empty one, or rejects the message."},
    {"key_fields", TIDE_CONFIG_BOOLEAN, OF_COLUMNS(with_key_fields), .default_text = "false",
     .sentence = "\"*\" and patterns take the fields of the key and the time, too."},
    {"encode", TIDE_CONFIG_CHOICE, OF_COLUMNS(encoding), .default_text = "text", .choices = value_encodings,
     .sentence =
         "How a value is stored: as it was received, as 8 bytes big-endian, or as JSON (strings in quotes). A "
         "value that is no number rejects the message where one is asked for, and so does a number that int64 or "
         "float64 cannot hold: float64_rounded stores the nearest one."},
    {"case", TIDE_CONFIG_CHOICE, OF_COLUMNS(name_case), .default_text = "as_is", .choices = tide_text_case_choices,
     .sentence = "Of the letters A to Z in fields' names, where these become qualifiers."},
    {"strip_spaces", TIDE_CONFIG_BOOLEAN, OF_COLUMNS(strip_spaces), .default_text = "false",
     .sentence = "Leave out the spaces in fields' names."},
    {"strip_prefix", TIDE_CONFIG_STRING, OF_COLUMNS(strip_prefix), .example = "metrics/",
     .sentence = "Taken away from the beginning of fields' names, where they have it."},
    {"prefix", TIDE_CONFIG_STRING, OF_COLUMNS(prefix), .example = "CPU/",
     .sentence = "Stands in front of fields' names."},
    {"qualifier", TIDE_CONFIG_STRUCTURE, .form = "text, a key part, or list of them",
     .example = "[{ time: HHmm, cut: 15m }]",
     .sentence = "Made anew for each reading, instead of the field's name. Where several fields are taken, "
                 "`{ name: true }` in it tells them apart."},
    {"pack", TIDE_CONFIG_CHOICE, OF_COLUMNS(packing), .default_text = "none", .choices = packings,
     .sentence = "All fields of the entry in one cell, called r unless `qualifier` says otherwise; a cell costs HBase "
                 "far more than its bytes. In a table with `latest: packed`, json without it."},
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

/* Tables are printed as they are declared. */
static char *
print_nothing(gconstpointer base)
{
  return NULL;
}

#define DECIMAL_FORM "number of at most " G_STRINGIFY(TIDE_UNIT_CHANGE_MAX_DIGITS) " digits, not 0"
#define COLUMN_ENCODE                                                                                                  \
  {                                                                                                                    \
    "encode", TIDE_CONFIG_CHOICE, OF_COLUMN(encoding),                                                                 \
        .choices = value_encodings, .sentence = "How the value is stored; without it, as the entry says."              \
  }
#define COLUMN_SCALE                                                                                                   \
  {                                                                                                                    \
    "scale", TIDE_CONFIG_CUSTOM,                                                                                       \
        .form = DECIMAL_FORM, .example = "0.001", .parse = parse_scale, .print = print_nothing,                        \
        .sentence = "The value is multiplied by this, exactly, as decimals. What is no number, or has more than 64 "   \
                    "characters then, rejects the message."                                                            \
  }
#define COLUMN_OFFSET                                                                                                  \
  {                                                                                                                    \
    "offset", TIDE_CONFIG_CUSTOM, .form = DECIMAL_FORM, .example = "-273.15", .parse = parse_offset,                   \
                                  .print = print_nothing, .sentence = "This is added to the value, behind `scale`."    \
  }

static const TideConfigOption column_field_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_COLUMN(field), .example = "CPU/CPU1_USR", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The field."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier),
     .sentence = "The qualifier; without it, the field's name, as the entry changes it."},
    COLUMN_SCALE,
    COLUMN_OFFSET,
    COLUMN_ENCODE,
};

static const TideConfigOption column_pattern_options[] = {
    {"pattern", TIDE_CONFIG_STRING, OF_COLUMN(pattern), .example = "\"*_mV\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The fields: those whose name matches, and that no entry names."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier), .example = "\"*_V\"",
     .sentence =
         "The qualifier, in which each `*` stands for what that of the pattern does, the first for the first: as "
         "little as it can, from the left. Without it, the field's name, as the entry changes it."},
    COLUMN_SCALE,
    COLUMN_OFFSET,
    COLUMN_ENCODE,
};

static const TideConfigOption column_value_options[] = {
    {"value", TIDE_CONFIG_STRUCTURE, .form = "text, a key part, or list of them", .example = "{ time: epoch_ms }",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "A value that is made: a constant, the time, a field in the form of a key."},
    {"as", TIDE_CONFIG_STRING, OF_COLUMN(qualifier), .example = "ts",
     .sentence = "The qualifier. It must be given unless the entry has a `qualifier` that needs no name."},
};

static const TideConfigOption condition_options[] = {
    {"field", TIDE_CONFIG_FIELD, OF_CONDITION(field), .example = "type", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The field that is looked at."},
    {"present", TIDE_CONFIG_BOOLEAN, OF_CONDITION(present),
     .sentence = "true: it is there, and not null. false: it is absent or null."},
    {"equals", TIDE_CONFIG_STRUCTURE, .form = "text, or list of texts",
     .sentence = "Its text is this, or one of these; 1 is not 1.0."},
    {"not_equals", TIDE_CONFIG_STRUCTURE, .form = "text, or list of texts",
     .sentence = "Its text is none of these, or it is absent."},
    {"matches", TIDE_CONFIG_STRUCTURE, .form = "pattern, or list of patterns",
     .sentence = "Its text matches: `*` stands for any text, `?` for one character."},
    {"not_matches", TIDE_CONFIG_STRUCTURE, .form = "pattern, or list of patterns",
     .sentence = "Its text matches none of these, or it is absent."},
};

static const TideConfigOption splits_options[] = {
    {"file", TIDE_CONFIG_STRING, OF_SPLITS(file), .example = "splits.txt", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "One point a line, ascending; `hex:00ff` for bytes. A relative path is looked up beside the "
                 "configuration."},
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
