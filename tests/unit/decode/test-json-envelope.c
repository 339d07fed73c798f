/* What stands around readings: options root and each. */
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

static void
check(char *root, char *each, TideOnBadReading on_bad_reading, const DecoderCase *cases, gsize n_cases)
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout.root = root;
  fixture.options.layout.each = each;
  fixture.options.on_bad_reading = on_bad_reading;
  decoder_fixture_check(&fixture, cases, n_cases);
}

static char payload[] = "payload", after[] = "payload/after", metrics[] = "metrics", odd[] = "p\xC3\xA9";

TEST("/json-envelope/root")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"payload\":{\"a\":1}}", "a=N:1;"),
      DECODER_CASE("{\"schema\":{\"x\":[1,{}]},\"payload\":{\"a\":1,\"b\":{\"c\":2}},\"v\":3}", "a=N:1 b/c=N:2;"),
      DECODER_CASE("{\"payload\":[{\"a\":1},{\"a\":2}]}", "a=N:1;a=N:2;"),
      DECODER_CASE("{\"payload\":[]}", ""),
      DECODER_CASE("{\"payload\":{}}", ";"),
      DECODER_CASE("[{\"payload\":{\"a\":1}},{\"v\":1,\"payload\":{\"a\":2},\"w\":true}]", "a=N:1;a=N:2;"),
      DECODER_CASE("{\"payload\":{\"a\":1}}\n{\"payload\":{\"a\":2}}", "a=N:1;a=N:2;"),
      DECODER_CASE("{\"p\\u0061yload\":{\"a\":\"\\n\"},\"v\":\"\\t\"}", "a=S:\\x0A;"),
      DECODER_CASE("{\"payload\":{\"payload\":1}}", "payload=N:1;"),
      /* what stands beside it is no field: it may be there twice, and be of any length */
      DECODER_CASE("{\"a\":1,\"a\":2,\"payload\":{\"a\":3}}", "a=N:3;"),
      DECODER_CASE("{\"payload\":{\"a\":3},\"a\":1,\"a\":2}", "a=N:3;"),
      DECODER_CASE("[{\"payload\":{\"a\":1},\"w\":true},{\"payload\":{\"a\":2}}]", "a=N:1;a=N:2;"),
      DECODER_CASE("{}", "missing_field@0"),
      DECODER_CASE("{\"a\":1}", "missing_field@0"),
      DECODER_CASE("{\"payload\":null}", "missing_field@11"),
      DECODER_CASE("{\"payload\":1}", "parse@11"),
      DECODER_CASE("{\"payload\":\"{}\"}", "parse@11"),
      DECODER_CASE("{\"payload\":nullx}", "parse@11"),
      DECODER_CASE("{\"payload\":[1]}", "parse@12"),
      DECODER_CASE("{\"payload\":{\"a\":1},\"payload\":{\"a\":1}}", "duplicate_field@29"),
      DECODER_CASE("{\"payload\":{\"a\":1,\"a\":2}}", "duplicate_field@22"),
      DECODER_CASE("{\"v\":tru,\"payload\":{\"a\":1}}", "parse@5"),
      DECODER_CASE("{\"payload\":{\"a\":1},\"v\":tru}", "parse@23"),
      DECODER_CASE("{\"payload\":{\"a\":1},}", "parse@19"),
      DECODER_CASE("{\"payload\":{\"a\":1}", "parse@18"),
      DECODER_CASE("{\"payload\":{\"a\":1}}}", "parse@19"),
      DECODER_CASE("{\"payload\":{\"a\":1}} x", "parse@20"),
      DECODER_CASE("{,\"payload\":{\"a\":1}}", "parse@1"),
      DECODER_CASE("{\"v\":[1,\"payload\":{\"a\":1}}", "parse@17"),
  };
  check(payload, NULL, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/root-inside-of-others")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"payload\":{\"before\":null,\"after\":{\"a\":1},\"op\":\"c\"},\"after\":{}}", "a=N:1;"),
      DECODER_CASE("{\"after\":{\"a\":1}}", "missing_field@0"),
      DECODER_CASE("{\"payload\":{\"before\":{\"a\":1},\"after\":null}}", "missing_field@37"),
      DECODER_CASE("{\"payload\":{\"before\":{\"a\":1}}}", "missing_field@11"),
      DECODER_CASE("{\"payload\":[{\"after\":{\"a\":1}}]}", "parse@11"),
  };
  check(after, NULL, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/root-is-compared-as-bytes")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"pe\xCC\x81\":{\"a\":1},\"p\\u00e9\":{\"a\":2}}", "a=N:2;"),
  };
  check(odd, NULL, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/each")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"metrics\":[{\"a\":1},{\"a\":2}]}", "a=N:1;a=N:2;"),
      DECODER_CASE("{\"d\":\"p7\",\"metrics\":[{\"a\":1},{\"b\":2}]}", "d=S:p7 a=N:1;d=S:p7 b=N:2;"),
      DECODER_CASE("{\"metrics\":[{\"a\":1},{\"b\":2}],\"d\":\"p\\u0037\",\"x\":{\"y\":null}}",
                   "d=S:p7 x/y=0: a=N:1;d=S:p7 x/y=0: b=N:2;"),
      DECODER_CASE("{\"a\":[1,2],\"metrics\":[{\"s\":\"[\\\"]\"}],\"b\":true}", "a=J:[1,2] b=B:true s=S:[\"];"),
      DECODER_CASE("{\"d\":1,\"metrics\":[]}", ""),
      DECODER_CASE("{\"d\":1,\"metrics\":[{}]}", "d=N:1;"),
      DECODER_CASE("[{\"d\":1,\"metrics\":[{\"a\":1}]},{\"metrics\":[{\"a\":2}]}]", "d=N:1 a=N:1;a=N:2;"),
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":1}]}\n{\"d\":2,\"metrics\":[{\"a\":2}]}", "d=N:1 a=N:1;d=N:2 a=N:2;"),
      DECODER_CASE("{\"metrics\":[{\"metrics\":[1]}]}", "metrics=J:[1];"),
      DECODER_CASE("{}", "missing_field@0"),
      DECODER_CASE("{\"d\":1}", "missing_field@0"),
      DECODER_CASE("{\"metrics\":null}", "missing_field@11"),
      DECODER_CASE("{\"d\":2,\"metrics\":{\"a\":1}}", "d=N:2 a=N:1;"),
      DECODER_CASE("{\"metrics\":1}", "type@11"),
      DECODER_CASE("{\"metrics\":[{\"a\":1},2]}", "type@20"),
      DECODER_CASE("{\"metrics\":[{\"a\":1}],\"metrics\":[]}", "duplicate_field@31"),
      /* a name may be around the list or in a reading */
      DECODER_CASE("{\"a\":1,\"metrics\":[{\"a\":2}]}", "duplicate_field@23"),
      DECODER_CASE("{\"metrics\":[{\"a\":2}],\"a\":1}", "duplicate_field@17"),
      DECODER_CASE("{\"x\":{\"a\":1},\"metrics\":[{\"x/a\":2}]}", "duplicate_field@31"),
      DECODER_CASE("{\"a\":1,\"a\":2,\"metrics\":[{}]}", "duplicate_field@11"),
      DECODER_CASE("{\"metrics\":[{\"a\":1]}", "parse@18"),
      DECODER_CASE("{\"metrics\":[{\"a\":1}}]", "parse@19"),
      DECODER_CASE("{\"metrics\":[{\"a\":1}", "parse@19"),
      DECODER_CASE("{\"metrics\":[{\"a\":tru}],\"d\":1}", "parse@17"),
      DECODER_CASE("{\"metrics\":[{\"a\":1},],\"d\":1}", "parse@20"),
      DECODER_CASE("{\"metrics\":[{\"a\":1}] \"d\":1}", "parse@21"),
  };
  check(NULL, metrics, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/root-and-each")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"v\":1,\"payload\":{\"d\":\"x\",\"metrics\":[{\"a\":1},{\"a\":2}]},\"w\":2}",
                   "d=S:x a=N:1;d=S:x a=N:2;"),
      DECODER_CASE("{\"payload\":[{\"d\":1,\"metrics\":[{\"a\":1}]},{\"d\":2,\"metrics\":[{\"a\":2}]}]}",
                   "d=N:1 a=N:1;d=N:2 a=N:2;"),
      DECODER_CASE("{\"metrics\":[],\"payload\":{}}", "missing_field@24"),
  };
  check(payload, metrics, TIDE_BAD_READING_MESSAGE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/bad-readings-alone")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":1},{\"a\":1,\"a\":2},{\"d\":2},{\"a\":3}]}",
                   "d=N:1 a=N:1;;;d=N:1 a=N:3;"),
      /* what stands around the list is every reading's */
      DECODER_CASE("{\"d\":1,\"d\":2,\"metrics\":[{\"a\":1},{\"a\":2}]}", "duplicate_field@11"),
      /* JSON with text that is none is no JSON, wherever that stands */
      DECODER_CASE("{\"metrics\":[{\"a\":1},{\"a\":\"\\uD800\"},{\"a\":2}]}", "utf8@26"),
      DECODER_CASE("{\"metrics\":[{\"a\":1},{\"\\uD800\":1},{\"a\":2}]}", "utf8@22"),
      DECODER_CASE("{\"metrics\":[{\"a\":1},{\"a\":\"\xFF\"},{\"a\":2}]}", "utf8@26"),
  };
  check(NULL, metrics, TIDE_BAD_READING_ALONE, cases, G_N_ELEMENTS(cases));
}

TEST("/json-envelope/known-fields-around")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout.each = metrics;
  TideNameId d = decoder_fixture_use(&fixture, "d");
  g_assert_true(
      decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"metrics\":[{\"a\":1},{\"a\":2}],\"d\":\"x\"}")));
  for (guint32 i = 0; i < 2; i++) {
    const TideField *field = tide_reading_field(&fixture.readings[i], d);
    g_assert_nonnull(field);
    g_assert_true(tide_bytes_equal(field->text, TIDE_BYTES_LITERAL("x")));
  }
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"metrics\":[{\"a\":1}]}")));
  g_assert_null(tide_reading_field(&fixture.readings[0], d));
}

TEST("/json-envelope/limits")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":1,\"b\":2}]}", "d=N:1 a=N:1 b=N:2;"),
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":1,\"b\":2,\"c\":3}]}", "too_many_fields@35"),
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":{}}]}", "d=N:1;"),
      DECODER_CASE("{\"d\":1,\"metrics\":[{\"a\":{\"b\":{}}}]}", "depth@28"),
      DECODER_CASE("{\"metrics\":[{},{},{}]}", "too_large@18"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout.each = metrics;
  fixture.options.max_fields = 3;
  fixture.options.max_readings = 2;
  fixture.options.max_depth = 4;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

/* A great envelope around many small readings does not fill the memory. */
TEST("/json-envelope/what-is-repeated-is-bounded")
{
  g_autoptr(GString) message = g_string_new("{");
  for (guint i = 0; i < 100; i++)
    g_string_append_printf(message, "\"f%u\":1,", i);
  g_string_append(message, "\"metrics\":[{}");
  for (guint i = 1; i < 256; i++)
    g_string_append(message, ",{}");
  g_string_append(message, "]}");
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout.each = metrics;
  fixture.options.max_message_bytes = 100 * 1024;
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes(message->str, message->len)));
  g_assert_cmpuint(fixture.n_readings, ==, 256);
  g_string_truncate(message, message->len - 2);
  g_string_append(message, ",{}]}");
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(message->str, message->len)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

/* Nor does one long value around a list, or beside the message: each reading makes a row with a copy of it. */
TEST("/json-envelope/what-is-long-is-bounded-by-its-length")
{
  g_autofree char *value = g_strnfill(10 * 1024, 'x');
  for (guint is_key = 0; is_key < 2; is_key++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
    decoder_fixture_use(&fixture, "$key");
    fixture.message.key = is_key ? tide_bytes_of_string(value) : TIDE_BYTES_EMPTY;
    fixture.options.layout.each = metrics;
    fixture.options.max_message_bytes = 12 * 1024;
    /* It counts as 80 fields in each reading but the first: of 3072 there is room for 38 times. */
    g_autoptr(GString) message = g_string_new(NULL);
    g_string_printf(message, "{\"o\":\"%s\",\"metrics\":[{}", is_key ? "" : value);
    for (guint i = 1; i < 38; i++)
      g_string_append(message, ",{}");
    g_string_append(message, "]}");
    g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(message->str)));
    g_string_truncate(message, message->len - 2);
    g_string_append(message, ",{}]}");
    g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(message->str)));
    g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
  }
}
