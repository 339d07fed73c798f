#include "mapping/record_key.h"

#include "unit/key_schemes.h"

typedef struct RecordKeyFixture {
  TideFieldNames *names;     /* owned */
  TideRecordKey *record_key; /* owned */
  TideTable table;
} RecordKeyFixture;

static char separator[] = "/";
/* What stands here of the values counts for no key. */
static char root[] = "payload";
static TideDecodeOptions options = {.root = root,
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

static void
test_key_of_one_field_is_its_text(void)
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

static void
test_key_of_several_fields_is_an_object(void)
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
static void
test_fields_of_the_record_are_known(void)
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
static void
test_key_is_no_message_of_its_format(void)
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/record-key/key-of-one-field-is-its-text", test_key_of_one_field_is_its_text);
  g_test_add_func("/record-key/key-of-several-fields-is-an-object", test_key_of_several_fields_is_an_object);
  g_test_add_func("/record-key/fields-of-the-record-are-known", test_fields_of_the_record_are_known);
  g_test_add_func("/record-key/key-is-no-message-of-its-format", test_key_is_no_message_of_its_format);
  return g_test_run();
}
