/* Rows of messages that are no readings: the keys of tombstones, and what scan printed. */
#include "mapping/record_key.h"
#include "mapping/scanned_rows.h"
#include "unit/decoder_fixture.h"
#include "unit/key_schemes.h"
#include "unit/test_case.h"

/* ---- record key ---- */

typedef struct RecordKeyFixture {
  TideFieldNames *names;     /* owned */
  TideRecordKey *record_key; /* owned */
  TideTable table;
} RecordKeyFixture;

static char separator[] = "/";
/* What stands here of the values counts for no key. */
static char root[] = "payload";
static TideDecodeOptions options = {.layout.root = root,
                                    .on_bad_reading = TIDE_BAD_READING_ALONE,
                                    .separator = separator,
                                    .max_message_bytes = 1024,
                                    .max_depth = 8,
                                    .max_fields = 64,
                                    .max_readings = 8};

static void
fixture_init(RecordKeyFixture *fixture, const TideKeyPartSpec *specs, gsize n_specs)
{
  ReadingFixture names;
  key_scheme_fixture_init(&names);
  reading_fixture_id(&names, "$key");
  reading_fixture_id(&names, "$topic");
  *fixture = (RecordKeyFixture){.names = names.names, .table = {.key = compile_key(specs, n_specs)}};
  guint32 n_known = tide_field_names_count(fixture->names);
  fixture->record_key = tide_record_key_new(&options, fixture->names, n_known);
}

static void
fixture_clear(RecordKeyFixture *fixture)
{
  tide_record_key_free(fixture->record_key);
  tide_row_key_free(fixture->table.key);
  tide_field_names_free(fixture->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RecordKeyFixture, fixture_clear)

/* The row that a record with this key names, or why there is none. */
static char *
row_named_by(RecordKeyFixture *fixture, TideBytes key)
{
  g_auto(TideBuffer) row = {0};
  TideMessage message = {.topic = TIDE_BYTES_LITERAL("t1"), .timestamp_ms = -1, .key = key};
  TideReading reading;
  TideReject reject;
  guint index = tide_record_key_add_table(fixture->record_key, &fixture->table);
  tide_record_key_begin(fixture->record_key, &message);
  if (!tide_record_key_read(fixture->record_key, index, &reading, &reject) ||
      !tide_row_key_append(fixture->table.key, &reading, &row, &reject))
    return g_strdup(tide_reject_reason_name(reject.reason));
  return tide_bytes_printable(tide_buffer_bytes(&row));
}

static void
assert_names(const TideKeyPartSpec *specs, gsize n_specs, TideBytes key, const char *expected)
{
  g_auto(RecordKeyFixture) fixture;
  fixture_init(&fixture, specs, n_specs);
  g_autofree char *row = row_named_by(&fixture, key);
  g_assert_cmpstr(row, ==, expected);
}

TEST("/record-key/key-of-one-field-is-its-text")
{
  static const TideKeyPartSpec meter[] = {LITERAL("m"), PADDED_LEFT(METER, 10, '0')};
  static const TideKeyPartSpec salted[] = {SALT(4, XXH3, of_host), LITERAL("#"), FIELD(HOST)};
  assert_names(meter, 2, TIDE_BYTES_LITERAL("987654"), "m0000987654");
  assert_names(meter, 2, TIDE_BYTES_LITERAL("{\"meter\":987654,\"x\":[1]}"), "m0000987654");
  assert_names(meter, 2, TIDE_BYTES_LITERAL("{\"user\":1}"), "missing_field");
  assert_names(meter, 2, TIDE_BYTES_LITERAL("{987654"), "parse");
  assert_names(meter, 2, TIDE_BYTES_LITERAL("12345678901"), "bad_key");
  assert_names(meter, 2, TIDE_BYTES_EMPTY, "missing_field");
  g_auto(RecordKeyFixture) fixture;
  fixture_init(&fixture, salted, 3);
  g_autofree char *of_text = row_named_by(&fixture, TIDE_BYTES_LITERAL("a"));
  g_autofree char *of_json = row_named_by(&fixture, TIDE_BYTES_LITERAL("{\"host\":\"a\"}"));
  g_assert_true(g_str_has_suffix(of_text, "#a"));
  g_assert_cmpstr(of_text, ==, of_json);
}

TEST("/record-key/key-of-several-fields-is-an-object")
{
  static const TideKeyPartSpec specs[] = {FIELD(HOST), LITERAL("#"), FIELD_DEFAULT(USER, "nobody")};
  assert_names(specs, 3, TIDE_BYTES_LITERAL("{\"host\":\"a\",\"user\":\"b\"}"), "a#b");
  assert_names(specs, 3, TIDE_BYTES_LITERAL("{\"host\":\"a\"}"), "a#nobody");
  assert_names(specs, 3, TIDE_BYTES_LITERAL("a"), "parse");
  assert_names(specs, 3, TIDE_BYTES_LITERAL("[{\"host\":\"a\"}]"), "parse");
  assert_names(specs, 3, TIDE_BYTES_LITERAL("{\"host\":\"a\"} {\"host\":\"b\"}"), "parse");
  assert_names(specs, 3, TIDE_BYTES_LITERAL("{\"host\":[1]}"), "bad_key");
}

/* What the record says of itself needs no key; and its key is taken as it is where the table asks for it by name. */
TEST("/record-key/fields-of-the-record-are-known")
{
  static const TideKeyPartSpec key[] = {FIELD(N_KEY_FIELDS)};
  static const TideKeyPartSpec topic_and_host[] = {FIELD(N_KEY_FIELDS + 1), LITERAL("#"), FIELD(HOST)};
  static const TideKeyPartSpec topic[] = {FIELD(N_KEY_FIELDS + 1)};
  assert_names(key, 1, TIDE_BYTES_LITERAL("{\"host\":1"), "{\"host\":1");
  assert_names(topic_and_host, 3, TIDE_BYTES_LITERAL("{\"host\":\"a\"}"), "t1#a");
  assert_names(topic, 1, TIDE_BYTES_LITERAL("a"), "parse");
  assert_names(topic, 1, TIDE_BYTES_LITERAL("{}"), "t1");
}

/* As said of all formats: a key is a text, or a JSON object. */
TEST("/record-key/key-is-no-message-of-its-format")
{
  static const TideReadingFormat formats[] = {TIDE_FORMAT_CSV, TIDE_FORMAT_INFLUX, TIDE_FORMAT_MSGPACK,
                                              TIDE_FORMAT_AVRO};
  static const TideKeyPartSpec specs[] = {FIELD(HOST), LITERAL("#"), FIELD(USER)};
  for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
    options.format = formats[i];
    assert_names(specs, 3, TIDE_BYTES_LITERAL("{\"host\":\"a\",\"user\":\"b\"}"), "a#b");
    assert_names(specs, 1, TIDE_BYTES_LITERAL("{\"host\":\"a\"}"), "a");
    assert_names(specs, 1, TIDE_BYTES_LITERAL("a,b"), "a,b");
    assert_names(specs, 3, TIDE_BYTES_LITERAL("{x,y"), "parse"); /* which CSV would take for two fields */
  }
  options.format = TIDE_FORMAT_JSON;
}

/* ---- scanned rows ----
 *
 * What `tidemark scan` printed, read again. tests/examples/test_moved.py does it with all that the program prints. */

typedef struct Fixture {
  DecoderFixture decoder; /* its readings are ours */
  TideScannedRows *rows;  /* owned */
} Fixture;

static void
fixture_init_scanned_rows(Fixture *fixture, TideReadingFormat format, TideScannedOptions scanned)
{
  fixture->decoder = decoder_fixture_of(format);
  scanned.is_scanned = TRUE;
  fixture->decoder.options.scanned = scanned;
  fixture->rows = tide_scanned_rows_new(&fixture->decoder.options, fixture->decoder.names, 0);
}

static void
fixture_clear_scanned_rows(Fixture *fixture)
{
  tide_scanned_rows_free(fixture->rows);
  decoder_fixture_clear(&fixture->decoder);
}

/* The row is gone before its readings are looked at. */
static gboolean
decode(Fixture *fixture, TideBytes row)
{
  guint8 *copy = g_memdup2(row.data, row.len);
  gboolean good = tide_scanned_rows_decode(fixture->rows, tide_bytes(copy, row.len), &fixture->decoder.readings,
                                           &fixture->decoder.n_readings, &fixture->decoder.reject);
  g_free(copy);
  return good;
}

static void
check(TideReadingFormat format, TideScannedOptions scanned, const DecoderCase *cases, gsize n_cases)
{
  Fixture fixture;
  fixture_init_scanned_rows(&fixture, format, scanned);
  for (gsize i = 0; i < n_cases; i++) {
    g_assert_true(decode(&fixture, cases[i].value));
    g_autofree char *text = decoder_fixture_readings_text(&fixture.decoder);
    g_assert_cmpstr(text, ==, cases[i].outcome);
  }
  fixture_clear_scanned_rows(&fixture);
}

#define EVENT_TIME "$header.tidemark.time=S:2015-03-16T19:53:32."

TEST("/json")
{
  static const DecoderCase cases[] = {
      DECODER_CASE(
          "{\"table\":\"T\",\"row\":\"a#1\",\"row_hex\":\"612331\",\"fields\":{\"host\":\"a\",\"empty\":\"\"},"
          "\"time\":\"x\",\"cells\":[{\"family\":\"M\",\"qualifier\":\"cpu\",\"value\":\"0.5\","
          "\"timestamp_ms\":1426535612045,\"time\":\"y\"},{\"qualifier\":\"q\",\"field\":\"mem\",\"value\":\"7\","
          "\"type\":\"number\",\"timestamp_ms\":1426535612045}]}",
          "cpu=S:0.5 mem=N:7 host=S:a " EVENT_TIME "045Z;"),
      /* of two times; the later first in the row */
      DECODER_CASE("{\"fields\":{\"a/b\":\"1\",\"c\\\\x3D\":\"2\"},\"cells\":["
                   "{\"qualifier\":\"x\",\"value\":\"1\",\"timestamp_ms\":1426535612046},"
                   "{\"qualifier\":\"y\",\"value\":\"2\",\"timestamp_ms\":1426535612045}]}",
                   "y=S:2 a/b=S:1 c==S:2 " EVENT_TIME "045Z;x=S:1 a/b=S:1 c==S:2 " EVENT_TIME "046Z;"),
      /* bytes that are no text; a field that a cell has, too; one that two cells have, and one that none has */
      DECODER_CASE(
          "{\"fields\":{\"id\":\"\\\\xFF\",\"id_hex\":\"ff\",\"host\":\"lower\"},\"cells\":["
          "{\"qualifier\":\"\\\\x00\",\"qualifier_hex\":\"00\",\"value\":\"\\\\xFE\",\"value_hex\":\"fe\","
          "\"timestamp_ms\":1426535612045},{\"qualifier\":\"host\",\"value\":\"Lower\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"h\",\"field\":\"host\",\"value\":\"Lower\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"day\",\"field\":\"\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
          "\\x00=S:\\xFE host=S:Lower id=S:\\xFF " EVENT_TIME "045Z;"),
      DECODER_CASE(
          "{\"cells\":[{\"qualifier\":\"a\",\"value\":\"[1]\",\"type\":\"json\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"b\",\"value\":\"\",\"type\":\"null\",\"timestamp_ms\":1426535612045},"
          "{\"qualifier\":\"c\",\"value\":\"true\",\"type\":\"bool\",\"timestamp_ms\":1426535612045}]}",
          "a=J:[1] b=0: c=B:true " EVENT_TIME "045Z;"),
      /* the key says the time to less than a millisecond, or another millisecond */
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:32.045678000Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " EVENT_TIME "045678000Z;"),
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:00.000Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " EVENT_TIME "045Z;"),
      DECODER_CASE("{\"cells\":[]}", ""),
  };
  check(TIDE_FORMAT_JSON, (TideScannedOptions){0}, cases, G_N_ELEMENTS(cases));
}

TEST("/csv")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("row,host,key.value,timestamp_ms,time,column,value\n"
                   "a#1,a,k,1426535612045,x,M:cpu,0.5\na#1,a,k,1426535612045,x,M:a:b,\"\\x0A\"\"\"\n"
                   "a#1,a,k,1426535612046,x,M:cpu,\n",
                   "cpu=S:0.5 a:b=S:\\x0A\" host=S:a value=S:k " EVENT_TIME "045Z;cpu=S: host=S:a value=S:k " EVENT_TIME
                   "046Z;"),
      DECODER_CASE("row,h,key_time,timestamp_ms,time,column,value,age_ms,field,type\n"
                   "a,\\xFF\\x5C,2015-03-16T19:53:32.045000001Z,1426535612045,x,M:q,7,9,mem,number\n"
                   "a,\\xFF\\x5C,2015-03-16T19:53:32.045000001Z,1426535612045,x,M:z,7,9,,\n",
                   "mem=N:7 h=S:\\xFF\\x5C " EVENT_TIME "045000001Z;"),
  };
  check(TIDE_FORMAT_CSV, (TideScannedOptions){0}, cases, G_N_ELEMENTS(cases));
}

/* Cells bear another time than the event's. */
TEST("/cell-times")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"key_time\":\"2015-03-16T19:53:32.001Z\",\"cells\":["
                   "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1500000000000}]}",
                   "a=S:1 " EVENT_TIME "001Z $header.tidemark.cell_time=N:1500000000000;"),
      DECODER_CASE("{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}",
                   "a=S:1 " EVENT_TIME "045Z $header.tidemark.cell_time=N:1426535612045;"),
  };
  check(TIDE_FORMAT_JSON, (TideScannedOptions){.has_cell_times = TRUE}, cases, G_N_ELEMENTS(cases));
}

TEST("/what-else-it-says")
{
  Fixture fixture;
  fixture_init_scanned_rows(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){.keeps_keys = TRUE});
  g_assert_true(decode(
      &fixture,
      TIDE_BYTES_LITERAL("{\"row\":\"\\\\xFF\",\"row_hex\":\"ff\",\"fields\":{\"f\":\"1\"},\"cells\":["
                         "{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1426535612045},"
                         "{\"qualifier\":\"b\",\"field\":\"\",\"value\":\"1\",\"timestamp_ms\":1426535612045}]}")));
  g_assert_cmpuint(fixture.decoder.n_readings, ==, 1);
  g_assert_true(tide_bytes_equal(fixture.decoder.readings[0].printed_row, TIDE_BYTES_LITERAL("\xFF")));
  g_assert_cmpuint(fixture.decoder.readings[0].n_printed_cells, ==, 2);
  g_assert_cmpuint(fixture.decoder.readings[0].n_cell_fields, ==, 1);
  fixture_clear_scanned_rows(&fixture);
}

/* What a key holds in place of a field that was not received is none: it would become a value of a column. A field that
 * a cell has was received, whatever it holds, and so was one that is no default. */
TEST("/scanned-rows/E9-a-default-of-the-key-is-no-field")
{
#define ROW(host, cell) "{\"fields\":{\"host\":\"" host "\"},\"cells\":[" cell "]}"
#define CELL(name) "{\"qualifier\":\"" name "\",\"value\":\"none\",\"timestamp_ms\":1426535612045}"
  static const DecoderCase cases[] = {
      DECODER_CASE(ROW("none", CELL("b")), "b=S:none " EVENT_TIME "045Z;"),
      DECODER_CASE(ROW("none", CELL("host")), "host=S:none " EVENT_TIME "045Z;"),
      DECODER_CASE(ROW("other", CELL("b")), "b=S:none host=S:other " EVENT_TIME "045Z;"),
  };
#undef CELL
#undef ROW
  Fixture fixture;
  fixture_init_scanned_rows(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){0});
  TideKeyPartSpec part = {.kind = TIDE_KEY_FIELD,
                          .value = {.field = tide_field_names_intern(fixture.decoder.names, TIDE_BYTES_LITERAL("host")),
                                    .has_default = TRUE,
                                    .default_value = TIDE_BYTES_LITERAL("none")}};
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  TideRowKey *key = tide_row_key_compile(&part, 1, &bad_part, &error);
  g_assert_no_error(error);
  fixture.decoder.options.scanned.key = key;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_true(decode(&fixture, cases[i].value));
    g_autofree char *text = decoder_fixture_readings_text(&fixture.decoder);
    g_assert_cmpstr(text, ==, cases[i].outcome);
  }
  fixture_clear_scanned_rows(&fixture);
  tide_row_key_free(key);
}

TEST("/rejected")
{
#define CELL(members) "{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\"" members "}]}"
  static const char *const texts[] = {
      "[]", "{}", "{\"cells\":[]}{\"cells\":[]}", "{\"cells\":7}", CELL(""), CELL(",\"timestamp_ms\":\"soon\""),
      CELL(",\"timestamp_ms\":99999999999999999999"), CELL(",\"timestamp_ms\":1,\"type\":\"stored\""),
      "{\"cells\":[{\"qualifier\":\"a\",\"timestamp_ms\":1}]}", "{\"cells\":[{\"value\":\"a\",\"timestamp_ms\":1}]}",
      /* one field with two values: in which unit is it? */
      ("{\"cells\":[{\"qualifier\":\"a\",\"value\":\"1\",\"timestamp_ms\":1},"
       "{\"qualifier\":\"b\",\"field\":\"a\",\"value\":\"2\",\"timestamp_ms\":1}]}")};
#undef CELL
  Fixture fixture;
  fixture_init_scanned_rows(&fixture, TIDE_FORMAT_JSON, (TideScannedOptions){0});
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_assert_false(decode(&fixture, tide_bytes_of_string(texts[i])));
    g_assert_cmpint(fixture.decoder.reject.reason, !=, TIDE_REJECT_NONE);
  }
  fixture_clear_scanned_rows(&fixture);
}
