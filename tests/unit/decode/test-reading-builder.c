/* Names: flattened, numbered, counted, and found when they come twice. */
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

/* A11 */
TEST("/reading-builder/a-name-twice-is-refused-at-every-level")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"ts\":1,\"ts\":1}", "duplicate_field@13"),
      DECODER_CASE("{\"a\":1,\"\\u0061\":2}", "duplicate_field@16"),
      DECODER_CASE("{\"a\":1,\"b\":2,\"a\":null}", "duplicate_field@17"),
      DECODER_CASE("{\"m\":{\"a\":1,\"a\":2}}", "duplicate_field@16"),
      DECODER_CASE("{\"m\":{\"a\":1},\"m\":{\"b\":2}}", "duplicate_field@17"),
      DECODER_CASE("{\"m\":{},\"m\":1}", "duplicate_field@12"),
      DECODER_CASE("{\"m\":1,\"m\":{}}", "duplicate_field@11"),
      DECODER_CASE("{\"m\":[],\"m\":[]}", "duplicate_field@12"),
      DECODER_CASE("{\"x\":{\"m\":{\"a\":1},\"m\":2}}", "duplicate_field@22"),
      DECODER_CASE("{\"m/a\":1,\"m\":{\"a\":2}}", "duplicate_field@18"),
      DECODER_CASE("{\"m\":{\"a\":2},\"m/a\":1}", "duplicate_field@19"),
      DECODER_CASE("{\"\":1,\"\":2}", "duplicate_field@9"),
      DECODER_CASE("[{\"a\":1},{\"a\":1}]", "a=N:1;a=N:1;"), /* two readings are two */
      DECODER_CASE("{\"a\":{\"x\":1},\"b\":{\"x\":1}}", "a/x=N:1 b/x=N:1;"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));
}

/* Names that the full table gives no number are told apart and found twice all the same. */
TEST("/reading-builder/names-without-a-number-work-alike")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  decoder_fixture_use(&fixture, "host");
  for (guint i = 0; tide_field_names_count(fixture.names) < TIDE_FIELD_NAMES_MAX; i++) {
    g_autofree char *name = g_strdup_printf("invented-%u", i);
    tide_field_names_intern(fixture.names, tide_bytes_of_string(name));
  }
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"new\":1,\"host\":\"a\"}")));
  g_assert_cmpuint(fixture.readings[0].fields[0].name_id, ==, TIDE_NAME_NONE);
  g_assert_cmpuint(fixture.readings[0].fields[1].name_id, ==, 0);

  GString *many = g_string_new("{\"new\":{\"x\":1}");
  for (guint i = 0; i < 1000; i++)
    g_string_append_printf(many, ",\"n%u\":%u", i, i);
  g_autofree char *good = g_strdup_printf("%s}%s}", many->str, many->str);
  g_autofree char *bad = g_strdup_printf("%s}%s,\"n500\":0}", many->str, many->str);
  g_string_free(many, TRUE);
  for (guint round = 0; round < 3; round++) {
    g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(good)));
    g_assert_cmpuint(fixture.n_readings, ==, 2);
    g_assert_cmpuint(fixture.readings[1].n_fields, ==, 1001);
    g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(bad)));
    g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_DUPLICATE_FIELD);
    g_assert_true(tide_bytes_equal(fixture.reject.field, TIDE_BYTES_LITERAL("n500")));
    g_assert_cmpuint(fixture.reject.reading_index, ==, 1);
  }
}

TEST("/reading-builder/known-names-are-found-by-their-number")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId host = decoder_fixture_use(&fixture, "host");
  TideNameId user = decoder_fixture_use(&fixture, "cpu/user");
  TideNameId absent = decoder_fixture_use(&fixture, "absent");
  TideNameId cpu = decoder_fixture_use(&fixture, "cpu");
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"x\":0,\"host\":\"a\",\"cpu\":{\"user\":1}}"
                                                                    "{\"cpu\":{\"user\":2},\"y\":1}"
                                                                    "{\"cpu\":3,\"host\":null}")));
  const TideReading *readings = fixture.readings;
  g_assert_true(tide_reading_field(&readings[0], host) == &readings[0].fields[1]);
  g_assert_true(tide_reading_field(&readings[0], user) == &readings[0].fields[2]);
  g_assert_null(tide_reading_field(&readings[0], absent));
  g_assert_null(tide_reading_field(&readings[0], cpu)); /* an object is no value */
  g_assert_null(tide_reading_field(&readings[1], host));
  g_assert_true(tide_reading_field(&readings[1], user) == &readings[1].fields[0]);
  g_assert_cmpint(tide_reading_field(&readings[2], host)->kind, ==, TIDE_VALUE_NULL);
  g_assert_true(tide_reading_field(&readings[2], cpu) == &readings[2].fields[0]);
  g_assert_cmpuint(readings[0].fields[0].name_id, ==, tide_field_names_find(fixture.names, TIDE_BYTES_LITERAL("x")));
}

/* The known names' places stay right when shapes alternate, which is what the guess by place gets wrong each time. */
TEST("/reading-builder/alternating-shapes-are-kept-apart")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":1,\"b\":2,\"c\":3}", "a=N:1 b=N:2 c=N:3;"),
      DECODER_CASE("{\"b\":2,\"a\":1,\"c\":3}", "b=N:2 a=N:1 c=N:3;"),
      DECODER_CASE("{\"c\":3}", "c=N:3;"),
      DECODER_CASE("{\"ab\":1,\"a\":2}", "ab=N:1 a=N:2;"),
      DECODER_CASE("{\"a\":1,\"b\":2,\"c\":3,\"a\":1}", "duplicate_field@23"),
      DECODER_CASE("{\"x\":{\"a\":1,\"b\":2}}", "x/a=N:1 x/b=N:2;"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId c = decoder_fixture_use(&fixture, "c");
  for (guint round = 0; round < 100; round++)
    decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"b\":2,\"a\":1,\"c\":3}")));
  g_assert_true(tide_reading_field(&fixture.readings[0], c) == &fixture.readings[0].fields[2]);
}

TEST("/reading-builder/fields-and-readings-are-counted")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":1,\"b\":2,\"c\":3}", "a=N:1 b=N:2 c=N:3;"),
      DECODER_CASE("{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", "too_many_fields@23"),
      DECODER_CASE("{\"a\":{\"b\":{}},\"c\":{}}", ";"),
      DECODER_CASE("{\"a\":{\"b\":{}},\"c\":{},\"d\":{}}", "too_many_fields@25"),
      DECODER_CASE("{\"a\":[1,2,3,4,5]}", "a=J:[1,2,3,4,5];"),
      DECODER_CASE("{}{}", ";;"),
      DECODER_CASE("{}{}{}", "too_large@4"),
      DECODER_CASE("[{},{},{}]", "too_large@7"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_fields = 3;
  fixture.options.max_readings = 2;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/reading-builder/a-million-members-are-refused-early")
{
  GString *text = g_string_new("{\"a\":0");
  for (guint i = 0; i < 1000000; i++)
    g_string_append_printf(text, ",\"m%u\":%u", i, i);
  g_string_append_c(text, '}');
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_message_bytes = G_MAXUINT32;
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(text->str, text->len)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_MANY_FIELDS);
  g_assert_true(tide_bytes_equal(fixture.reject.field, TIDE_BYTES_LITERAL("m1023")));
  g_string_free(text, TRUE);
}

TEST("/reading-builder/long-names-are-refused")
{
  g_autofree char *longest = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES, 'n');
  g_autofree char *half = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES / 2, 'n');
  struct {
    char *value; /* owned */
    TideRejectReason reason;
  } cases[] = {
      {g_strdup_printf("{\"%s\":1}", longest), TIDE_REJECT_NONE},
      {g_strdup_printf("{\"%sn\":1}", longest), TIDE_REJECT_TOO_LARGE},
      {g_strdup_printf("{\"%sn\":{}}", longest), TIDE_REJECT_TOO_LARGE},
      {g_strdup_printf("{\"%s\":{\"%s\":1}}", half, half + 1), TIDE_REJECT_NONE},
      {g_strdup_printf("{\"%s\":{\"%s\":1}}", half, half), TIDE_REJECT_TOO_LARGE},
      {g_strdup_printf("{\"%s\":{\"%s\":{\"\":1}}}", half, half + 1), TIDE_REJECT_TOO_LARGE},
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gboolean good = decoder_fixture_decode(&fixture, tide_bytes_of_string(cases[i].value));
    g_assert_true(good == (cases[i].reason == TIDE_REJECT_NONE));
    g_assert_cmpint(fixture.reject.reason, ==, cases[i].reason);
    g_free(cases[i].value);
  }
}

/* A long name around many short ones would make much memory of a small message. */
TEST("/reading-builder/flattened-names-are-bounded-together")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_message_bytes = 64 * 1024;
  g_autofree char *outer = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES - 100, 'n');
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "{\"%s\":{\"x\":0", outer);
  for (guint i = 0; i < 1000; i++)
    g_string_append_printf(text, ",\"%u\":0", i);
  g_string_append(text, "}}");
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(text->str, text->len)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
  g_assert_cmpstr(fixture.reject.detail, ==, "the names of nested fields take too much memory");
  g_string_free(text, TRUE);
}

TEST("/reading-builder/what-keeps-a-message-from-going-on")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  g_autofree char *name = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES + 1, 'n');
  g_autofree char *message = g_strdup_printf("{\"a\":1}{\"%s\":1}{\"a\":2}", name);
  g_autofree char *outcome = decoder_fixture_outcome(&fixture, tide_bytes_of_string(message));
  g_autofree char *expected = g_strdup_printf("too_large@%u", (guint)(strstr(message, "\":1}{\"a\":2") + 2 - message));
  g_assert_cmpstr(outcome, ==, expected);
}

TEST("/reading-builder/a-fault-has-nothing-of-the-one-before")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  fixture.options.arrays = TIDE_ARRAY_REJECT;
  g_autofree char *outcome = decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL("{\"a\":[1]}{\"b\" 1}"));
  g_assert_cmpstr(outcome, ==, "parse@14");
  g_assert_cmpuint(fixture.reject.field.len, ==, 0);
  g_assert_null(fixture.reject.remedy);
}
