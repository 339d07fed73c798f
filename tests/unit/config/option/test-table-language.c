/* The language of tables, beyond its simplest words: what is said of a mistake, and what good declarations compile to.
 */
#include "unit/config-texts.h"
#include "unit/test_case.h"

#define KEY "key: [{ field: host }, \"#\", { time: epoch_ms }]"
#define WITH_TABLES(tables) KAFKA READINGS HBASE "tables: { " tables " }\n"
#define WITH_LATEST(rest) WITH_TABLES("T: { key: { field: host }, " COLUMNS ", " rest " }")
#define WITH_NAME(name) WITH_TABLES(name ": { " KEY ", " COLUMNS " }")
#define WITH_NAME_OF_LATEST(name) WITH_TABLES(name ": { key: { field: host }, " COLUMNS ", latest: merge }")
/* Two tables: METRIC, and what is given. */
#define WITH_METRIC(table) WITH_TABLES("METRIC: { " KEY ", " COLUMNS " }, " table)
#define WITH_INDEX(rest)                                                                                               \
  WITH_METRIC("I: { key: { field: host }, latest: merge, " rest                                                        \
              ", columns: { family: i, from: [{ value: { time: epoch_ms, binary: true }, as: ts }] } }")

/* Each text has exactly one problem, which begins like this. */
static const ConfigProblemCase one_problem[] = {
    {"key-literal-null", WITH_KEY("[{ field: host }, { hex: ~ }, { time: epoch_ms }]"),
     "4:46 error: 'tables.T.key.hex' must be pairs of hexadecimal digits such as \"00ff\", got nothing"},
    {"form-unknown", WITH_KEY("[{ field: host, as: int24 }, { time: epoch_ms }]"),
     "4:41 error: 'tables.T.key.as' must be one of text, int8, int16, int32, int64, uint8, uint16,"},
    {"form-with-width", WITH_KEY("[{ field: id, as: int32, width: 4 }, { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.width' has no effect with a binary encoding, which has a fixed width and"},
    {"form-with-case", WITH_KEY("[{ field: id, as: uint64, case: lower }, { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.case' has no effect with a binary encoding, which has a fixed width and"},
    {"long-without-width", WITH_KEY("[{ field: id, long: cut }, \"#\", { time: epoch_ms }]"),
     "4:41 error: 'long' needs 'width': set the number of bytes that the field has in the key"},
    {"separator-with-width", WITH_KEY("[{ field: id, width: 4, separator: escape }, { time: epoch_ms }]"),
     "4:56 error: 'tables.T.key.separator' has no effect with 'width', which determines where the value ends:"},
    {"range-of-three", WITH_KEY("[{ field: id, as: int32, range: [1, 2, 3] }, { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.range' must be two whole numbers, the minimum and the maximum ([0, 999999]), got"},
    {"range-of-words", WITH_KEY("[{ field: id, as: int32, range: [a, b] }, { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.range' must be two whole numbers, the minimum and the maximum ([0, 999999]), got"},
    {"range-backwards", WITH_KEY("[{ field: id, as: int32, range: [9, 1] }, { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.range' has its numbers in the wrong order: write the minimum first"},
    {"range-wider-than-width", WITH_KEY("[{ field: id, width: 3, pad: \"0\", range: [0, 9999] }, { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"range-wider-than-form", WITH_KEY("[{ field: id, as: uint8, range: [0, 256] }, { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"range-of-text", WITH_KEY("[{ field: id, range: [0, 256] }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"default-list-empty", WITH_KEY("[{ field: id, default: [] }, \"#\", { time: epoch_ms }]"),
     "4:44 error: 'tables.T.key.default' is empty: remove it to reject such messages"},
    {"default-text-not-last",
     WITH_KEY("[{ field: id, default: [none, { when: { field: a, present: true }, value: b }] }, \"#\", { time: "
              "epoch_ms }]"),
     "4:45 error: 'tables.T.key.default': a value without a condition ends the list, and the later ones would never be "
     "used: move it to the end"},
    {"default-without-when", WITH_KEY("[{ field: id, default: [{ value: b }] }, \"#\", { time: epoch_ms }]"),
     "4:45 error: 'tables.T.key.default.when' is missing: add, for example, 'when: { field: type,"},
    {"default-without-value",
     WITH_KEY("[{ field: id, default: [{ when: { field: a, present: true } }] }, \"#\", { time: epoch_ms }]"),
     "4:45 error: 'tables.T.key.default.value' is missing: add, for example, 'value: none'"},
    {"default-of-two-conditions",
     WITH_KEY("[{ field: id, default: [{ when: [{ field: a, present: true }, { field: b, present: true }], value: x }] "
              "}, \"#\", { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.default.when' must be one condition, got a list"},
    {"default-that-would-be-rejected", WITH_KEY("[{ field: id, default: \"a#b\" }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"conditional-default-that-would-be-rejected",
     WITH_KEY("[{ field: id, default: [{ when: { field: a, present: true }, value: \"a#b\" }] }, \"#\", { time: "
              "epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"time-unit-mistyped", WITH_KEY("[{ field: host }, \"#\", { time: epoch_millis }]"),
     "4:52 error: 'tables.T.key.time' must be one of epoch_s, epoch_ms, epoch_us, epoch_ns, or a pattern"},
    {"time-cut-odd", WITH_KEY("[{ field: host }, \"#\", { time: epoch_ms, cut: 7m }]"),
     "4:67 error: 'tables.T.key.cut' cannot be used: a time cannot be cut to '7m': the slots of a day"},
    {"time-cut-unknown", WITH_KEY("[{ field: host }, \"#\", { time: epoch_ms, cut: fortnight }]"),
     "4:67 error: 'tables.T.key.cut' cannot be used: a time cannot be cut to 'fortnight':"},
    {"time-zone-unused", WITH_KEY("[{ field: host }, \"#\", { time: epoch_ms, zone: Europe/Berlin }]"),
     "4:68 error: 'tables.T.key.zone' has no effect with a number since 1970, which is the same in every"},
    {"time-zone-unknown", WITH_KEY("[{ field: host }, \"#\", { time: yyyyMMdd, zone: Mars }]"),
     "4:68 error: 'tables.T.key.zone' must be a time zone that this machine knows, such as Europe/Berlin,"},
    {"time-pattern-binary", WITH_KEY("[{ field: host }, \"#\", { time: yyyyMMdd, binary: true }]"),
     "4:70 error: 'tables.T.key.binary' has no effect with a pattern; use it with a number: remove it"},
    {"time-pattern-since", WITH_KEY("[{ field: host }, \"#\", { time: HHmm, since: day }]"),
     "4:65 error: 'tables.T.key.since' has no effect with a pattern; use it with a number: remove it"},
    {"time-drop-binary", WITH_KEY("[{ field: host }, \"#\", { time: epoch_ms, drop: 3, binary: true }]"),
     "4:68 error: 'tables.T.key.drop' has no effect with 'binary', which has no digits: remove it"},
    {"time-hour-twice", WITH_KEY("[{ field: host }, \"#\", { time: yyyyMMddHH, zone: Europe/Berlin }]"),
     "4:44 error: 'tables.T.key': a time is printed in zone 'Europe/Berlin' as 'yyyyMMddHH', but clocks there"},
    {"salt-of-0", WITH_KEY("[{ salt: 0, of: host }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:30 error: 'tables.T.key.salt' must be 2..4096, got '0'"},
    {"salt-by-number-with-hash",
     WITH_KEY("[{ salt: 4, of: host, by: number, hash: md5 }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:61 error: 'tables.T.key.hash' has no effect with 'by: number', which uses no hash: remove it"},
    {"salt-by-number-of-two",
     WITH_KEY("[{ salt: 4, of: [host, metric], by: number }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"salt-alphabet-not-ascending",
     WITH_KEY("[{ salt: 3, of: host, alphabet: \"cab\" }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"salt-alphabet-too-short",
     WITH_KEY("[{ salt: 3, of: host, alphabet: \"ab\", width: 1 }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"salt-alphabet-empty",
     WITH_KEY("[{ salt: 3, of: host, alphabet: \"\" }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:53 error: 'tables.T.key.alphabet' is empty: remove it to use digits"},
    {"salt-too-narrow-from-first",
     WITH_KEY("[{ salt: 10, first: 5, width: 1, of: host }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"scale-0", WITH_COLUMNS("{ family: M, from: [{ field: a, scale: 0.0 }] }"),
     "4:113 error: 'tables.T.columns.from.scale' must be a number other than 0, such as 0.001, of at most 32 digits"},
    {"offset-text", WITH_COLUMNS("{ family: M, from: [{ field: a, offset: 5 K }] }"),
     "4:114 error: 'tables.T.columns.from.offset' must be a number other than 0, such as 0.001, of at most 32"},
    {"scale-too-long", WITH_COLUMNS("{ family: M, from: [{ pattern: \"a*\", scale: 1e32 }] }"),
     "4:118 error: 'tables.T.columns.from.scale' must be a number other than 0, such as 0.001, of at most 32 digits"},
    {"scale-of-a-made-value", WITH_COLUMNS("{ family: M, from: [{ value: v, as: a, scale: 2 }] }"),
     "4:113 error: 'tables.T.columns.from.scale' is not known; known options here:"},
    {"pattern-without-star", WITH_COLUMNS("{ family: M, from: [{ pattern: a, as: b }] }"),
     "4:105 error: 'tables.T.columns.from.pattern' must contain a * or ?: for a single field write '{ field: NAME, as: "
     "QUALIFIER }'"},
    {"pattern-of-the-record", WITH_COLUMNS("{ family: M, from: [{ pattern: \"$header.*\" }] }"),
     "4:105 error: 'tables.T.columns.from.pattern' matches no field of a Kafka record: name the field, '{ field: $key "
     "}'"},
    {"as-with-too-many-stars", WITH_COLUMNS("{ family: M, from: [{ pattern: \"a*\", as: \"*b*\" }] }"),
     "4:115 error: 'tables.T.columns.from.as' has 2 stars, but 'pattern' has only 1"},
    {"name-in-key", WITH_KEY("[{ name: true }, \"#\", { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"name-not-true", WITH_KEY("[{ name: host }, \"#\", { time: epoch_ms }]"),
     "4:30 error: 'tables.T.key.name' must be true: it means the name of the cell's field,"},
    {"two-salts",
     WITH_KEY("[{ salt: 3, of: host }, { salt: 3, of: host }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:45 error: 'tables.T.key': "},
    {"when-empty", WITH_TABLE("when: []"), "4:106 error: 'tables.T.when' is empty: remove it to use all readings"},
    {"when-scalar", WITH_TABLE("when: quote"),
     "4:106 error: 'tables.T.when' must be a mapping ('key: value'), got 'quote'"},
    {"when-without-test", WITH_TABLE("when: { field: type }"),
     "4:106 error: 'tables.T.when' contains no test of the field: add 'present: true', 'equals: TEXT' or 'matches: "
     "PATTERN'"},
    {"when-with-two-tests", WITH_TABLE("when: { field: type, equals: a, matches: b }"),
     "4:106 error: 'tables.T.when' contains both 'equals' and 'matches': write two conditions in a list, which must "
     "both hold"},
    {"when-without-field", WITH_TABLE("when: { equals: a }"),
     "4:106 error: 'tables.T.when.field' is missing: add, for example, 'field: type'"},
    {"when-mistyped", WITH_TABLE("when: { field: type, equal: a }"),
     "4:121 error: 'tables.T.when.equal' is not known; did you mean 'equals'?"},
    {"when-equals-null", WITH_TABLE("when: { field: type, equals: ~ }"),
     "4:129 error: 'tables.T.when.equals' must be a text or a list of texts, got nothing; for an absent or null field "
     "write 'present: false'"},
    {"when-equals-nothing", WITH_TABLE("when: { field: type, equals: [] }"),
     "4:129 error: 'tables.T.when.equals' has no text to compare with"},
    {"when-present-word", WITH_TABLE("when: { field: type, present: maybe }"),
     "4:130 error: 'tables.T.when.present' must be true or false, got 'maybe'"},
    {"time-null", WITH_TABLE("time:"), "4:106 error: 'tables.T.time' needs a value, got nothing"},
    {"table-time-without-format", WITH_TABLE("time: { field: QUOTETIME }"),
     "4:106 error: 'tables.T.time.format' is missing: the format of a number does not show its unit"},
    {"table-time-with-zone", WITH_TABLE("time: { field: QUOTETIME, format: epoch_ms, zone: UTC }"),
     "4:150 error: 'tables.T.time.zone' has no effect with a number that counts in UTC"},
    {"cell-time-server", WITH_TABLE("cell_time: server"),
     "4:111 error: 'tables.T.cell_time' cannot be the server's time: each replay would create other cells, and the "
     "last written value would replace the newest one; use event, record or { field: NAME, format: epoch_ms }"},
    {"cell-time-unknown", WITH_TABLE("cell_time: wall"),
     "4:111 error: 'tables.T.cell_time' must be event, record or { field: NAME, format: epoch_ms }, got"},
    {"cell-time-list", WITH_TABLE("cell_time: [record]"),
     "4:111 error: 'tables.T.cell_time' must be event, record or { field: NAME, format: epoch_ms }, got a"},
    {"cell-time-without-field", WITH_TABLE("cell_time: { format: epoch_ms }"),
     "4:111 error: 'tables.T.cell_time.field' is missing: name the field that contains the time, or write"},
    {"latest-unknown", WITH_TABLE("latest: newest"),
     "4:108 error: 'tables.T.latest' must be one of none, merge, replace, packed, got 'newest'"},
    {"tombstone-of-data", WITH_TABLE("tombstone: delete"),
     "4:111 error: 'tables.T.tombstone: delete' is only possible in a latest table, because a history table keeps its "
     "rows as measured; remove it, or set 'latest: merge'"},
    {"ttl-without-unit", WITH_LATEST("latest: merge, ttl: 90"),
     "4:93 error: 'tables.T.ttl' must have a unit (ms, s, m, h, d): '90d' or '90h', got '90'"},
    {"family-ttl-without-unit", WITH_LATEST("latest: merge, families: { M: { ttl: 90 } }"),
     "4:110 error: 'tables.T.families.M.ttl' must have a unit (ms, s, m, h, d): '90d' or '90h', got '90'"},
    {"replace-with-ttl", WITH_LATEST("latest: replace, ttl: 30d"),
     "4:95 error: 'tables.T.ttl' is not possible with 'latest: replace': a delete marker has no time to live and would "
     "outlive the cells; set the family's 'ttl' instead"},
    {"packed-with-ttl", WITH_LATEST("latest: packed, ttl: 30d"),
     "4:94 warning: 'tables.T' is a latest table with a time to live: a device that has not reported for 30d"},
    {"replace-with-record-time", WITH_LATEST("latest: replace, cell_time: record"),
     "4:101 error: 'tables.T.cell_time' must be event with 'latest: replace': the row is deleted up to the reading's "
     "event time"},
    {"latest-with-record-time", WITH_LATEST("latest: merge, cell_time: record"),
     "4:99 warning: 'tables.T' is a latest table with record time: the last message in Kafka wins, not the newest by "
     "event time"},
    {"packed-with-an-entry-that-does-not",
     WITH_TABLES("T: { key: { field: host }, latest: packed, columns: { family: M, from: \"*\", pack: none } }"),
     "4:93 error: 'tables.T.columns.pack' must be json or msgpack with 'latest: packed': a cell outside the packed one "
     "could belong to another reading"},
    {"name-zone-without-date", WITH_TABLE("name_zone: UTC"),
     "4:111 error: 'tables.T.name_zone' has no effect on a name without a date, such as"},
    {"splits-scalar", WITH_TABLE("splits: a"),
     "4:108 error: 'tables.T.splits' must be a list of keys, or { file: PATH }, got 'a'"},
    {"splits-file-missing", WITH_TABLE("splits: { file: /nonexistent/splits }"),
     "4:116 error: cannot read the split points in '/nonexistent/splits': No such file or directory"},
    {"splits-file-device", WITH_TABLE("splits: { file: /dev/zero }"),
     "4:116 error: cannot read the split points in '/dev/zero': it is not a regular file"},
    {"encode-unknown", WITH_COLUMNS("{ family: M, from: \"*\", encode: int32 }"),
     "4:106 error: 'tables.T.columns.encode' must be one of text, int64, float64, float64_rounded, json, got 'int32'"},
    {"item-encode-unknown", WITH_COLUMNS("{ family: M, from: [{ field: a, encode: int32 }] }"),
     "4:114 error: 'tables.T.columns.from.encode' must be one of text, int64, float64, float64_rounded, json, got "
     "'int32'"},
    {"value-without-as", WITH_COLUMNS("{ family: M, from: [{ value: x }] }"),
     "4:94 error: 'tables.T.columns.from.as' is missing: a built value has no name of its own; add, for example, 'as: "
     "ts'"},
    {"value-with-encode", WITH_COLUMNS("{ family: M, from: [{ value: x, as: y, encode: text }] }"),
     "4:113 error: 'tables.T.columns.from.encode' is not known; known options here: value, as"},
    {"value-of-name", WITH_COLUMNS("{ family: M, from: [{ value: { name: true }, as: y }] }"),
     "4:103 error: 'tables.T.columns.from.value': "},
    {"value-part-unknown", WITH_COLUMNS("{ family: M, from: [{ value: { fild: a }, as: y }] }"),
     "4:103 error: a key part must be a text, or a mapping with one of field, time, hash, salt, hex (and"},
    {"value-null", WITH_COLUMNS("{ family: M, from: [{ value: , as: y }] }"),
     "4:103 error: a key part is empty (an unquoted # starts a comment: write \"#\")"},
    {"pack-with-encode", WITH_COLUMNS("{ family: M, from: \"*\", pack: json, encode: int64 }"),
     "4:118 error: 'tables.T.columns.encode' has no effect with 'pack', where the packed format distinguishes"},
    {"pack-with-item-encode", WITH_COLUMNS("{ family: M, from: [{ field: a, encode: int64 }], pack: json }"),
     "4:114 error: 'tables.T.columns.from.encode' has no effect with 'pack': remove it"},
    {"pack-with-name", WITH_COLUMNS("{ family: M, from: \"*\", pack: json, qualifier: { name: true } }"),
     "4:121 error: 'tables.T.columns.qualifier' contains { name: true }, but with 'pack' one cell contains all fields: "
     "remove it"},
    {"pack-member-twice", WITH_COLUMNS("{ family: M, from: [a, { field: b, as: a }], pack: json }"),
     "4:97 error: the packed cell contains 'a' twice: rename one of them with { field: NAME, as: OTHER }"},
    {"packed-column-twice", WITH_COLUMNS("[{ family: M, from: [a], pack: json }, { family: M, from: [r] }]"),
     "4:133 error: two fields become the column 'M:r': rename one of them with { field: NAME, as: QUALIFIER }"},
    {"column-twice-by-case", WITH_COLUMNS("{ family: M, from: [a, A], case: upper }"),
     "4:97 error: two fields become the column 'M:A': rename one of them with { field: NAME, as: QUALIFIER }"},
    {"qualifier-of-several", WITH_COLUMNS("{ family: M, from: [a, b], qualifier: { time: HHmm } }"),
     "4:112 error: 'tables.T.columns.qualifier' gives several fields the same column: add { name: true } to it, or "
     "pack the fields into one cell ('pack: json')"},
    {"qualifier-of-star", WITH_COLUMNS("{ family: M, from: \"*\", qualifier: [{ time: HHmm }] }"),
     "4:109 error: 'tables.T.columns.qualifier' gives several fields the same column: add { name: true } to it, or "
     "pack the fields into one cell ('pack: json')"},
    {"qualifier-with-prefix", WITH_COLUMNS("{ family: M, from: [a], qualifier: [{ time: HHmm }], prefix: x }"),
     "4:135 error: 'tables.T.columns.prefix' has no effect on a 'qualifier' without { name: true }:"},
    {"qualifier-with-as", WITH_COLUMNS("{ family: M, from: [{ field: a, as: b }], qualifier: [{ time: HHmm }] }"),
     "4:110 error: 'tables.T.columns.from.as' has no effect on a 'qualifier' without { name: true }:"},
    {"qualifier-hour-twice",
     WITH_TABLES("T: { key: [{ field: host }, \"#\", { time: yyyyMMdd, zone: Europe/Berlin }], columns: { family: M, "
                 "from: [a], qualifier: [{ time: HHmm, cut: 15m, zone: Europe/Berlin }] } }"),
     "4:131 warning: 'tables.T': when the clocks of Europe/Berlin are set back, an hour occurs twice, and the readings "
     "of its second pass overwrite the columns of the first; use 'zone: UTC', or 'time: epoch_s' with 'since: day' "
     "instead of a pattern"},
    {"qualifier-long", WITH_COLUMNS("{ family: M, from: [the_temperature_of_the_outer_wall_in_kelvin] }"),
     "4:94 warning: the name 'the_temperature_of_the_outer_wall_in_kelvin' has 43 bytes and is stored with every cell: "
     "use a shorter one, with { field: NAME, as: SHORT }"},
    {"row-without-bound",
     WITH_TABLES("T: { key: { field: host }, columns: { family: M, from: [a], qualifier: [{ time: yyyyMMddHHmm }] } }"),
     "4:82 warning: rows of 'tables.T' grow without limit: each reading adds columns, and the key does not distinguish "
     "times; add the time to the key, cut to a day or a month, for example"},
    {"row-of-a-million-cells",
     WITH_TABLES("T: { key: [{ field: host }, \"#\", { time: yyyyMM }], columns: { family: M, from: [a], qualifier: [{ "
                 "time: ddHHmmss }] } }"),
     "4:107 warning: a row of 'tables.T' can get 2678400 cells per field, and is never split; cut the"},
    {"dated-bad-pattern", WITH_NAME("\"S_{yyyyMMd}\""),
     "4:11 error: 'S_{yyyyMMd}' has no valid date between { and } (time pattern"},
    {"dated-bad-letter", WITH_NAME("\"S_{qqq}\""),
     "4:11 error: 'S_{qqq}' has no valid date between { and } (time pattern 'qqq': no"},
    {"dated-without-date", WITH_NAME("\"S_{HHmm}\""),
     "4:11 error: 'S_{HHmm}' has no valid date between { and } (it must contain a year"},
    {"dated-bad-literal", WITH_NAME("\"S_{yyyy.MM/dd}\""),
     "4:11 error: 'S_{yyyy.MM/dd}' is not a valid HBase table name: use letters, digits, _ . and -,"},
    {"dated-latest", WITH_NAME_OF_LATEST("\"S_{yyyyMMdd}\""),
     "4:11 error: 'S_{yyyyMMdd}' is a latest table with a date in its name, which would spread the newest values over "
     "several tables: remove the date"},
    {"dated-open", WITH_NAME("\"S_{yyyyMMdd\""),
     "4:11 error: 'S_{yyyyMMdd' is not a valid HBase table name: use letters, digits, _ . and -,"},
    {"index-of-unknown", WITH_INDEX("index_of: METRC"),
     "4:159 error: 'tables.I.index_of': there is no table 'METRC'; did you mean 'METRIC'?"},
    {"index-of-nothing-like", WITH_INDEX("index_of: abc"),
     "4:159 error: 'tables.I.index_of': there is no table 'abc': name a table of this file"},
    {"index-of-itself", WITH_INDEX("index_of: I"),
     "4:159 error: 'tables.I.index_of': a table cannot be its own index: name the table with the data"},
    {"index-not-latest",
     WITH_METRIC("I: { key: { field: host }, index_of: METRIC, columns: { family: i, from: [{ value: { time: epoch_ms "
                 "}, as: ts }] } }"),
     "4:144 error: 'tables.I.index_of': an index contains the newest time of each key and must be a latest"},
    {"index-without-time",
     WITH_METRIC("I: { key: { field: host }, latest: merge, index_of: METRIC, columns: { family: i, from: [x] } }"),
     "4:159 error: 'tables.I.index_of': no cell of this table contains the time of the newest row: add { value:"},
    {"index-key-lacks-field",
     WITH_METRIC("I: { key: { field: rack }, latest: merge, index_of: METRIC, columns: { family: i, from: [{ value: { "
                 "time: epoch_ms }, as: ts }] } }"),
     "4:159 error: 'tables.I.index_of': the key of 'METRIC' contains 'host', but the key of this index"},
    {"index-other-time",
     WITH_METRIC("I: { key: { field: host }, latest: merge, time: record, index_of: METRIC, columns: { family: i, "
                 "from: [{ value: { time: epoch_ms }, as: ts }] } }"),
     "4:173 error: 'tables.I.index_of': this table and 'METRIC' must have the same 'time', or the index would"},
    {"index-of-latest",
     WITH_METRIC(
         "J: { key: { field: host }, latest: merge, columns: { family: M, from: \"*\" } }, I: { key: { field: host }, "
         "latest: merge, index_of: J, columns: { family: i, from: [{ value: { time: epoch_ms }, as: ts }] } }"),
     "4:238 error: 'tables.I.index_of': 'J' is itself a latest table and needs no index: its rows are found by their "
     "fields"},
    {"family-ttl-of-latest", WITH_LATEST("latest: merge, families: { M: { ttl: 30d } }"),
     "4:100 warning: the family 'M' of a latest table has a time to live: a device that has not reported for this long "
     "disappears from the table"},
    {"index-of-timeless",
     WITH_TABLES("T: { key: { field: host }, latest: none, columns: { family: M, from: [a], qualifier: [{ field: b }] "
                 "} }, I: { key: { field: host }, latest: merge, index_of: T, columns: { family: i, from: [{ value: { "
                 "time: epoch_ms }, as: ts }] } }"),
     "4:168 error: 'tables.I.index_of': 'T' has no time in its key, so an index is useless: read the table by its "
     "fields"},
};

TEST_EACH("/table-language/problem/", one_problem)
{
  assert_one_problem(data);
}

TEST("/table-language/tombstone-with-the-time-in-the-key")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(WITH_TABLE("latest: merge, tombstone: delete"), &problems);
  g_autofree char *all = describe_problems(problems);

  g_assert_null(config);
  g_assert_nonnull(strstr(all, "warning: 'tables.T' is a latest table with the time in its key"));
  g_assert_nonnull(strstr(all, "error: 'tables.T.tombstone: delete' is not possible with the time in the key"));
}

/* Whether each table has a time of its own is asked before it is known that there are tables. */
TEST("/table-language/tables-of-the-wrong-kind")
{
  static const char *const tables[] = {"x", "[a, b]", "{ T: x }", "~", ""};

  for (gsize i = 0; i < G_N_ELEMENTS(tables); i++) {
    g_autofree char *text = g_strdup_printf(KAFKA HBASE "tables: %s\n", tables[i]);
    g_autoptr(GPtrArray) problems = NULL;
    g_autoptr(TideConfig) config = load_config(text, &problems);
    g_autofree char *all = describe_problems(problems);
    g_assert_null(config);
    g_assert_cmpuint(problems->len, ==, 2);
    g_assert_nonnull(strstr(all, "error: 'readings.time' is missing"));
    g_assert_true(strstr(all, "must contain at least one table") != NULL ||
                  strstr(all, "must be a mapping with") != NULL);
  }
}

/* What depends on the values is no warning. */
TEST("/table-language/notes-are-kept-apart")
{
  static const struct {
    const char *text;
    const char *note;
  } cases[] = {
      {WITH_KEY("[{ field: meter, width: 10, pad: \"0\" }, \"#\", { time: epoch_ms }]"),
       "starts with a number: if it increases"},
      {WITH_KEY("[\"x\", { field: meter, as: uint32 }, { time: epoch_ms }]"), "starts with a number: if it increases"},
      {WITH_KEY("[{ salt: 4, of: host }, \"#\", { field: host }, \"#\", { time: epoch_ms }]"),
       "has a salt of the field that follows it"},
      {WITH_KEY("[{ hash: md5, of: host }, { time: epoch_ms }]"), "cannot be read back completely: "},
      {WITH_KEY("[{ field: host }, \"#\", { time: yyyyMMdd }]"), "has only coarse times in its key"},
      {WITH_KEY("[{ field: host }, \"#\", { time: epoch_s, since: day }]"), "has only coarse times in its key"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideConfig) config = load_good(cases[i].text);
    g_autofree char *all = describe_problems(config->notices);
    if (strstr(all, cases[i].note) == NULL)
      g_error("%s: got \"%s\", expected \"%s\"", cases[i].text, all, cases[i].note);
    g_autofree char *shown = tide_config_problem_format(g_ptr_array_index(config->notices, 0), "t.yaml", NULL);
    g_assert_true(g_str_has_prefix(shown, "t.yaml:4:2"));
    g_assert_nonnull(strstr(shown, ": note: 'tables.T' "));
  }
}

TEST("/table-language/names-that-begin-as-comments-are-noted")
{
  g_autoptr(TideConfig) config =
      load_good(KAFKA "readings: { format: csv, csv: { header: true, comment: \"#\" }, time: record }\n" HBASE TABLES);
  g_autofree char *all = describe_problems(config->notices);
  g_assert_nonnull(strstr(all, "a header line that starts with '#' is a comment, and the next row would be read as the "
                               "header: if messages have such a line, remove '"));
}

TEST("/table-language/plain-schemes-have-no-notes")
{
  static const char *const texts[] = {
      KAFKA READINGS HBASE TABLES,
      WITH_KEY("[{ field: meter, width: 10, pad: \"0\", reversed: true }, \"#\", { time: epoch_ms }]"),
      WITH_KEY("[{ salt: 4, of: metric }, { field: host }, \"#\", { field: metric }, \"#\", { time: epoch_ms }]"),
      WITH_KEY("[{ field: host }, \"#\", { time: yyyyMM }, { time: epoch_ms, since: month }]"),
      WITH_KEY("[{ field: host }, \"#\", { time: HHmmssSSS }, { time: epoch_ms, cut: day, drop: 5 }]"),
  };

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(TideConfig) config = load_good(texts[i]);
    g_autofree char *all = describe_problems(config->notices);
    g_assert_cmpstr(all, ==, "");
  }
}

static TideNameId
name_id(const TideConfig *config, const char *name)
{
  TideNameId id = tide_field_names_find(config->names, tide_bytes_of_string(name));

  g_assert_cmpuint(id, !=, TIDE_NAME_NONE);
  return id;
}

TEST("/table-language/conditions-are-compiled-as-written")
{
  g_autoptr(TideConfig) config = load_good(WITH_TABLE(
      "when: [{ field: a, present: true }, { field: b, present: false }, { field: c, equals: 1 }, "
      "{ field: d, not_equals: [x, \"\"] }, { field: e, matches: \"db-*\" }, { field: f, not_matches: [y] }]"));
  static const struct {
    const char *field;
    TideConditionKind kind;
    gboolean negated;
    gsize n_values;
  } expected[] = {
      {"a", TIDE_CONDITION_PRESENT, FALSE, 0}, {"b", TIDE_CONDITION_ABSENT, FALSE, 0},
      {"c", TIDE_CONDITION_EQUALS, FALSE, 1},  {"d", TIDE_CONDITION_EQUALS, TRUE, 2},
      {"e", TIDE_CONDITION_MATCHES, FALSE, 1}, {"f", TIDE_CONDITION_MATCHES, TRUE, 1},
  };
  const GArray *conditions = tide_config_find_table(config, "T")->conditions;

  g_assert_cmpuint(conditions->len, ==, G_N_ELEMENTS(expected));
  for (guint i = 0; i < conditions->len; i++) {
    const TideCondition *condition = &g_array_index(conditions, TideCondition, i);
    g_assert_cmpuint(condition->field, ==, name_id(config, expected[i].field));
    g_assert_cmpint(condition->kind, ==, expected[i].kind);
    g_assert_cmpint(condition->negated, ==, expected[i].negated);
    g_assert_cmpuint(condition->n_values, ==, expected[i].n_values);
  }
  g_assert_true(tide_bytes_equal(g_array_index(conditions, TideCondition, 2).values[0], TIDE_BYTES_LITERAL("1")));
  g_assert_true(tide_bytes_equal(g_array_index(conditions, TideCondition, 3).values[1], TIDE_BYTES_EMPTY));
}

TEST("/table-language/times-of-tables")
{
  g_autoptr(TideConfig) config = load_good(
      KAFKA "readings: { time: { field: ts, format: epoch_ms, earliest: 2010-01-01, max_future: 1h } }\n" HBASE
            "tables:\n"
            "  A: { " KEY ", " COLUMNS ", time: { field: q, format: epoch_s, max_future: 5m } }\n"
            "  B: { " KEY ", " COLUMNS ", time: record, cell_time: event }\n"
            "  C: { " KEY ", " COLUMNS ", cell_time: record }\n"
            "  D: { " KEY ", " COLUMNS ", cell_time: { field: f, format: rfc3339 } }\n"
            "  E: { " KEY ", " COLUMNS ", cell_time: { format: record } }\n");
  const TideTable *a = tide_config_find_table(config, "A");
  const TideTable *b = tide_config_find_table(config, "B");
  const TideTable *d = tide_config_find_table(config, "D");

  g_assert_cmpuint(a->time->field, ==, name_id(config, "q"));
  g_assert_cmpint(a->time->format, ==, TIDE_TIME_EPOCH_S);
  g_assert_cmpint(a->time->max_future_ms, ==, 300000);
  g_assert_cmpint(a->time->earliest_epoch_ms, ==, 1262304000000); /* as for all readings */
  g_assert_cmpint(b->time->format, ==, TIDE_TIME_RECORD);
  g_assert_cmpint(b->time->max_future_ms, ==, 3600000);
  g_assert_cmpint(b->cell_time, ==, TIDE_CELL_TIME_EVENT);
  g_assert_cmpint(tide_config_find_table(config, "C")->cell_time, ==, TIDE_CELL_TIME_RECORD);
  g_assert_null(tide_config_find_table(config, "C")->time);
  g_assert_cmpint(d->cell_time, ==, TIDE_CELL_TIME_FIELD);
  g_assert_cmpuint(d->cell_time_spec->field, ==, name_id(config, "f"));
  g_assert_cmpint(tide_config_find_table(config, "E")->cell_time, ==, TIDE_CELL_TIME_RECORD);
}

/* QUOTE and TRADE have nothing in common that readings.time could name. */
TEST("/table-language/readings-need-no-time-when-each-table-has-one")
{
  g_autoptr(TideConfig) config =
      load_good(KAFKA HBASE "tables:\n"
                            "  QUOTE: { " KEY ", " COLUMNS ", time: { field: QUOTETIME, format: epoch_ms } }\n"
                            "  TRADE: { " KEY ", " COLUMNS ", time: { field: TRADETIME, format: epoch_ms } }\n");
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(TideConfig) again = load_good(printed);

  g_assert_cmpuint(config->readings.time.field, ==, TIDE_NAME_NONE);
  g_assert_cmpuint(again->tables->len, ==, 2);
}

TEST("/table-language/columns-of-every-kind")
{
  g_autoptr(TideConfig) config = load_good(WITH_COLUMNS(
      "[{ family: A, from: [\"CPU/*\", x, { field: y, as: Y, encode: int64 }, { value: [v, { field: host }], as: V }], "
      "encode: json, case: upper, strip_spaces: true, prefix: \"P/\", key_fields: true }, { family: B, from: [t], "
      "qualifier: [{ time: HHmm, cut: 15m }] }, { family: C, from: [u, w], qualifier: [{ name: true }, \"@\", { time: "
      "dd }] }, { family: D, from: [p, q], pack: msgpack }, { family: E, from: \"*\", pack: json, qualifier: all }, { "
      "family: F, from: [{ value: { time: epoch_s } }], qualifier: { field: z } }]"));
  const TideTable *table = tide_config_find_table(config, "T");
  const TideColumnRule *rules = &g_array_index(table->rules, TideColumnRule, 0);
  const TideColumnItem *items = rules[0].items;

  g_assert_cmpuint(table->rules->len, ==, 6);
  g_assert_cmpuint(rules[0].n_items, ==, 4);
  g_assert_cmpstr(items[0].pattern, ==, "CPU/*");
  g_assert_cmpuint(items[0].field, ==, TIDE_NAME_NONE);
  g_assert_null(items[1].pattern);
  g_assert_cmpint(items[1].encoding, ==, -1);
  g_assert_cmpstr(items[2].qualifier, ==, "Y");
  g_assert_cmpint(items[2].encoding, ==, TIDE_ENCODE_INT64);
  g_assert_cmpuint(items[3].field, ==, TIDE_NAME_NONE);
  g_assert_cmpstr(items[3].qualifier, ==, "V");
  g_assert_false(tide_key_text_is_constant(items[3].value));
  g_assert_cmpint(rules[0].encoding, ==, TIDE_ENCODE_JSON);
  g_assert_cmpint(rules[0].name_case, ==, TIDE_CASE_UPPER);
  g_assert_true(rules[0].strip_spaces && rules[0].with_key_fields);
  g_assert_cmpstr(rules[0].prefix, ==, "P/");
  g_assert_null(rules[0].qualifier);
  g_assert_nonnull(rules[1].qualifier);
  g_assert_true(tide_key_text_is_constant(rules[2].qualifier) == FALSE);
  g_assert_cmpint(rules[3].packing, ==, TIDE_PACK_MSGPACK);
  g_assert_true(tide_key_text_is_constant(rules[3].qualifier)); /* r */
  g_assert_cmpint(rules[4].packing, ==, TIDE_PACK_JSON);
  g_assert_null(rules[5].items[0].qualifier);
}

TEST("/table-language/latest-modes")
{
  g_autoptr(TideConfig) config = load_good(
      WITH_TABLES("A: { key: { field: host }, " COLUMNS ", latest: replace }, "
                  "B: { key: { field: host }, " COLUMNS ", latest: packed, tombstone: delete }, "
                  "C: { key: { field: host }, columns: { family: M, from: \"*\", pack: msgpack }, latest: packed }"));
  const TideTable *b = tide_config_find_table(config, "B");
  const TideTable *c = tide_config_find_table(config, "C");

  g_assert_cmpint(tide_config_find_table(config, "A")->latest, ==, TIDE_LATEST_REPLACE);
  g_assert_cmpint(tide_config_find_table(config, "A")->tombstone, ==, TIDE_TOMBSTONE_IGNORE);
  g_assert_cmpint(b->latest, ==, TIDE_LATEST_PACKED);
  g_assert_cmpint(b->tombstone, ==, TIDE_TOMBSTONE_DELETE);
  g_assert_cmpint(g_array_index(b->rules, TideColumnRule, 0).packing, ==, TIDE_PACK_JSON);
  g_assert_nonnull(g_array_index(b->rules, TideColumnRule, 0).qualifier);
  g_assert_cmpint(g_array_index(c->rules, TideColumnRule, 0).packing, ==, TIDE_PACK_MSGPACK);
}

TEST("/table-language/index-and-dated-table")
{
  g_autoptr(TideConfig) config = load_good(WITH_INDEX("index_of: METRIC"));
  g_autoptr(TideConfig) dated =
      load_good(WITH_TABLES("\"ns:S_{yyyyMMdd}_x\": { " KEY ", " COLUMNS ", name_zone: Europe/Berlin }"));
  const TideTable *table = g_ptr_array_index(dated->tables, 0);
  TideReading reading = {.event_time_ns = G_GINT64_CONSTANT(1774823400000) * TIDE_NS_PER_MS}; /* 2026-03-29T22:30:00Z */
  TideReject reject = {0};
  g_auto(TideBuffer) name = {0};

  g_assert_cmpuint(tide_config_find_table(config, "I")->index_of, ==, tide_config_find_table(config, "METRIC")->index);
  g_assert_cmpuint(tide_config_find_table(config, "METRIC")->index_of, ==, TIDE_TABLE_NONE);
  g_assert_null(tide_config_find_table(config, "METRIC")->dated_name);
  g_assert_cmpstr(table->name, ==, "ns:S_{yyyyMMdd}_x");
  g_assert_true(tide_key_text_append(table->dated_name, &reading, TIDE_BYTES_EMPTY, &name, &reject));
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&name), TIDE_BYTES_LITERAL("ns:S_20260330_x")));
}

#define TIME_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z, 12:53 in Los Angeles */

TEST("/table-language/parts-reach-the-key")
{
  static const struct {
    const char *text;
    const char *fields[6];
    const char *key;
  } cases[] = {
      {WITH_KEY("[{ field: n, as: int32, range: [-5, 9] }, \"#\", { time: epoch_s }]"),
       {"n", "-5"},
       "\\x7F\\xFF\\xFF\\xFB#1426535612"},
      {WITH_KEY("[{ field: h, width: 6, long: cut, case: upper, reversed: true }, { time: epoch_s }]"),
       {"h", "abcdefgh"},
       "FEDCBA1426535612"},
      {WITH_KEY("[{ field: h, width: 3, pad: { hex: \"00\" } }, { time: epoch_s }]"),
       {"h", "a"},
       "a\\x00\\x001426535612"},
      {WITH_KEY("[{ field: h, strip_spaces: true }, \"#\", { time: epoch_ms, cut: day, zone: America/Los_Angeles, "
                "drop: 5 }]"),
       {"h", "a b"},
       "ab#14264892"},
      {WITH_KEY("[{ field: h }, \"#\", { time: yyyyMMddHHmmssSSS }]"), {"h", "x"}, "x#20150316195332045"},
      {WITH_KEY("[{ field: h }, \"#\", { time: epoch_s, since: day }]"), {"h", "x"}, "x#71612"},
      {WITH_KEY("[{ salt: 3, of: n, by: number, first: 1 }, \"#\", { field: n }, \"#\", { time: epoch_s }]"),
       {"n", "7"},
       "2#7#1426535612"},
      {WITH_KEY("[{ salt: 3, of: n, by: number, alphabet: abc }, { field: n }, \"#\", { time: epoch_s }]"),
       {"n", "7"},
       "b7#1426535612"},
      {WITH_KEY("[{ field: h, default: [{ when: { field: a, equals: b }, value: one }, { hex: \"7e\" }] }, \"#\", "
                "{ field: a }, \"#\", { time: epoch_s }]"),
       {"a", "b"},
       "one#b#1426535612"},
      {WITH_KEY("[{ field: h, default: [{ when: { field: a, equals: b }, value: one }, other] }, \"#\", "
                "{ field: a }, \"#\", { time: epoch_s }]"),
       {"a", "c"},
       "other#c#1426535612"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideConfig) config = load_good(cases[i].text);
    g_autofree char *key = key_of(config, "T", cases[i].fields, TIME_MS);
    g_assert_cmpstr(key, ==, cases[i].key);
  }
}

TEST("/table-language/printed-configuration-loads-to-the-same")
{
  static const char *const texts[] = {
      WITH_INDEX("index_of: METRIC, when: { field: a, matches: [\"x*\", \"?\"] }"),
      WITH_TABLES("\"S_{yyyyMMdd}\": { " KEY ", columns: { family: M, from: [\"a*\", { value: \"#\", as: c }] } }"),
      WITH_COLUMNS("{ family: M, from: \"*\", qualifier: [{ name: true }, { time: \"'T'HH\" }] }"),
      WITH_TABLE("cell_time: { field: f, format: pattern, pattern: \"dd.MM.yyyy HH:mm\", zone: UTC }, regions: 1"),
  };

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    assert_prints_to_the_same(texts[i]);
}

/* A configuration whose split points are in a file beside it. */
static void
write_points(const ConfigFiles *files, const char *points)
{
  g_assert_true(g_file_set_contents(files->config_path, WITH_TABLE("splits: { file: beside }"), -1, NULL));
  g_assert_true(g_file_set_contents(files->other_path, points, -1, NULL));
}

FILE_TEST("/table-language/splits-file-beside-the-configuration")
{
  g_autoptr(GPtrArray) problems = NULL;

  write_points(fixture, "#a\ng h\nhex:7a00\nhex:ff");
  g_autoptr(TideConfig) config = tide_config_load(fixture->config_path, &problems);
  g_assert_nonnull(config);
  const GArray *splits = tide_config_find_table(config, "T")->splits;
  g_assert_cmpuint(splits->len, ==, 4);
  g_assert_true(tide_bytes_equal(g_array_index(splits, TideBytes, 0), TIDE_BYTES_LITERAL("#a")));
  g_assert_true(tide_bytes_equal(g_array_index(splits, TideBytes, 1), TIDE_BYTES_LITERAL("g h")));
  g_assert_true(tide_bytes_equal(g_array_index(splits, TideBytes, 2), TIDE_BYTES_LITERAL("z\0")));
  g_assert_true(tide_bytes_equal(g_array_index(splits, TideBytes, 3), TIDE_BYTES_LITERAL("\xff")));
}

FILE_TEST("/table-language/bad-splits-fixture-are-refused")
{
  static const struct {
    const char *text;
    const char *problem;
  } cases[] = {
      {"", "beside' is empty: write one split point per line"},
      {"b\na\nc\n", "beside', line 2,: 'a' does not sort after the previous point, by unsigned bytes"},
      {"a\na\n", "beside', line 2,: 'a' does not sort after the previous point, by unsigned bytes"},
      {"a\n\nb\n", "beside', line 2, contains a point of 0 bytes, must be 1.."},
      {"a\r\nb\r\n", "beside', line 1, ends in a carriage return, which would be part of the point: save the file with "
                     "Unix line ends"},
      {"hex:0\n", "beside', line 1, starts with 'hex:', but no pairs of hexadecimal digits follow"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GPtrArray) problems = NULL;
    write_points(fixture, cases[i].text);
    g_autoptr(TideConfig) config = tide_config_load(fixture->config_path, &problems);
    g_autofree char *all = describe_problems(problems);
    g_assert_null(config);
    g_assert_cmpuint(problems->len, ==, 1);
    g_assert_true(g_str_has_prefix(all, "4:116 error: "));
    if (strstr(all, cases[i].problem) == NULL)
      g_error("got \"%s\", expected \"%s\"", all, cases[i].problem);
  }
}
