/* Messages into readings: every form of message and kind of value, and everything that is refused. */
#include "decode/avro_schema.h"
#include "decode/formats.h"
#include "decode/reading_builder.h"
#include "unit/allocation_counter.h"
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

static void
test_every_form_of_message(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{}", ";"),
      DECODER_CASE("{\"a\":1}", "a=N:1;"),
      DECODER_CASE(" \t\r\n{ \"a\" : 1 , \"b\" : \"x\" }\n", "a=N:1 b=S:x;"),
      DECODER_CASE("[]", ""),
      DECODER_CASE(" [ ] ", ""),
      DECODER_CASE("[{\"a\":1}]", "a=N:1;"),
      DECODER_CASE("[{\"a\":1},{\"a\":2},{}]", "a=N:1;a=N:2;;"),
      DECODER_CASE("{\"a\":1}\n{\"a\":2}\n", "a=N:1;a=N:2;"),
      DECODER_CASE("{\"a\":1}\r\n\r\n{\"a\":2}", "a=N:1;a=N:2;"),
      /* X15: as Windows prints it, each bare number or word ends with a carriage return */
      DECODER_CASE("{\r\n  \"a\": 1\r\n, \"b\": true\r\n, \"c\": null\r\n, \"d\": \"x\"\r\n}\r\n",
                   "a=N:1 b=B:true c=0: d=S:x;"),
      DECODER_CASE("[\r\n  {\r\n    \"a\": -1.5e3\r\n  },\r\n  {\r\n    \"b\": false\r\n  }\r\n]\r\n",
                   "a=N:-1.5e3;b=B:false;"),
      DECODER_CASE("{\"a\":1}{\"a\":2} {\"b\":3}", "a=N:1;a=N:2;b=N:3;"),
      DECODER_CASE("\xEF\xBB\xBF{\"a\":1}", "a=N:1;"), /* A7: one byte order mark is skipped */
      DECODER_CASE("\xEF\xBB\xBF[{\"a\":1}]", "a=N:1;"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));
}

static void
test_every_kind_of_value(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":\"\",\"b\":\"x y\"}", "a=S: b=S:x y;"),
      DECODER_CASE("{\"a\":true,\"b\":false,\"c\":null}", "a=B:true b=B:false c=0:;"),
      DECODER_CASE("{\"a\":\"600,55\",\"b\":\"1e3\"}", "a=S:600,55 b=S:1e3;"),
      DECODER_CASE("{\"a\":\"tab\\tnew\\nquote\\\"\"}", "a=S:tab\\x09new\\x0Aquote\";"),
      DECODER_CASE("{\"a\":\"\\u00e9\\uD83D\\uDE00\"}", "a=S:\\xC3\\xA9\\xF0\\x9F\\x98\\x80;"),
      DECODER_CASE("{\"a\":\"s\\u0000t\"}", "a=S:s\\x00t;"), /* A8: nothing is cut at a NUL */
      DECODER_CASE("{\"a\\u0062\":1,\"\\u20ac\":2}", "ab=N:1 \\xE2\\x82\\xAC=N:2;"),
      DECODER_CASE("{\"\":1}", "=N:1;"),
      DECODER_CASE("{\"a\":\"{[:,]}\",\"b:{\":1}", "a=S:{[:,]} b:{=N:1;"),
      DECODER_CASE("{\"a\":\"\\\\\",\"b\":\"\\\\\\\"\"}", "a=S:\\x5C b=S:\\x5C\";"),
      DECODER_CASE("{\"a\":\"\x7f\"}", "a=S:\\x7F;"),
      /* A23: composed and decomposed are two names */
      DECODER_CASE("{\"\xC3\xA9\":1,\"e\xCC\x81\":2}", "\\xC3\\xA9=N:1 e\\xCC\\x81=N:2;"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));
}

/* A14, A15: whatever its size, a number is what was sent. */
static void
test_numbers_keep_their_text(void)
{
  static const char *const numbers[] = {
      "0",
      "-0",
      "-0.0",
      "0.02",
      "600.550",
      "1e3",
      "1E+03",
      "1e-999",
      "1e999",
      "-1e999",
      "4.9e-324",
      "9007199254740993",
      "9223372036854775807",
      "9223372036854775808",
      "-9223372036854775809",
      "123456789012345678901234567890.123456789",
      "1426535612045",
      "1234567890123456789012345678901234567890123456789012345678901234", /* 64 bytes */
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    static const char *const forms[] = {"{\"v\":%s}", "{\"v\":%s }", "{\"v\":%s,\"w\":1}", "[{\"v\":%s\n}]"};
    for (gsize f = 0; f < G_N_ELEMENTS(forms); f++) {
      g_auto(GStrv) halves = g_strsplit(forms[f], "%s", 2);
      g_autofree char *value = g_strconcat(halves[0], numbers[i], halves[1], NULL);
      g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(value)));
      const TideField *field = &fixture.readings[0].fields[0];
      g_assert_cmpint(field->kind, ==, TIDE_VALUE_NUMBER);
      g_assert_true(tide_bytes_equal(field->text, tide_bytes_of_string(numbers[i])));
    }
  }
}

static void
test_what_is_no_json_is_refused_with_its_place(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("x", "parse@0"), /* A3 */
      DECODER_CASE("not json", "parse@0"),
      DECODER_CASE("5", "parse@0"),
      DECODER_CASE("\"text\"", "parse@0"),
      DECODER_CASE("null", "parse@0"),
      DECODER_CASE("[1]", "parse@1"),
      DECODER_CASE("[{\"a\":1},2]", "parse@9"),
      DECODER_CASE("[[{\"a\":1}]]", "parse@1"),
      DECODER_CASE("{\"a\":1} x", "parse@8"), /* A5 */
      DECODER_CASE("{\"a\":1},{\"a\":2}", "parse@7"),
      DECODER_CASE("{\"a\":1}}", "parse@7"),
      DECODER_CASE("{\"a\":1} [{\"a\":1}]", "parse@8"),
      DECODER_CASE("[{\"a\":1}] {\"a\":1}", "parse@10"),
      DECODER_CASE("[{\"a\":1}]]", "parse@9"),
      DECODER_CASE("[{\"a\":1},]", "parse@9"),
      DECODER_CASE("[,{\"a\":1}]", "parse@1"),
      DECODER_CASE("[{\"a\":1}{\"a\":1}]", "parse@8"),
      DECODER_CASE("[{\"a\":1}}", "parse@8"),
      DECODER_CASE("{\"a\":1,}", "parse@7"),
      DECODER_CASE("{,\"a\":1}", "parse@1"),
      DECODER_CASE("{\"a\"}", "parse@4"),
      DECODER_CASE("{\"a\":}", "parse@5"),
      DECODER_CASE("{\"a\" 1}", "parse@5"),
      DECODER_CASE("{\"a\":1 \"b\":2}", "parse@7"),
      DECODER_CASE("{\"a\"::1}", "parse@5"),
      DECODER_CASE("{\"a\":1:2}", "parse@5"),
      DECODER_CASE("{a:1}", "parse@1"),
      DECODER_CASE("{'a':1}", "parse@1"),
      DECODER_CASE("{1:1}", "parse@1"),
      DECODER_CASE("{\"a\":'x'}", "parse@5"),
      DECODER_CASE("{\"a\":1]", "parse@6"),
      DECODER_CASE("{\"a\":\"x\"\"y\"}", "parse@8"),
      DECODER_CASE("{\"a\":\"x\"y}", "parse@8"),
      DECODER_CASE("{\"a\"x:1}", "parse@4"),
      DECODER_CASE("{\"a\":1 2}", "parse@7"),
      DECODER_CASE("{\"a\":True}", "parse@5"),
      DECODER_CASE("{\"a\":tru}", "parse@5"),
      DECODER_CASE("{\"a\":truex}", "parse@5"),
      DECODER_CASE("{\"a\":nul", "parse@5"),
      DECODER_CASE("{\"a\":null0}", "parse@5"),
      DECODER_CASE("{\"a\":false\"x\"}", "parse@5"),
      DECODER_CASE("{\"a\":NaN}", "parse@5"), /* A14 */
      DECODER_CASE("{\"a\":-Infinity}", "parse@5"),
      DECODER_CASE("{\"a\":+1}", "parse@5"),
      DECODER_CASE("{\"a\":01}", "parse@5"),
      DECODER_CASE("{\"a\":.5}", "parse@5"),
      DECODER_CASE("{\"a\":1.}", "parse@5"),
      DECODER_CASE("{\"a\":1e}", "parse@5"),
      DECODER_CASE("{\"a\":0x10}", "parse@5"),
      DECODER_CASE("{\"a\":-01}", "parse@5"),
      DECODER_CASE("{\"a\":00}", "parse@5"),
      DECODER_CASE("{\"a\":-}", "parse@5"),
      DECODER_CASE("{\"a\":--1}", "parse@5"),
      DECODER_CASE("{\"a\":- 1}", "parse@5"),
      DECODER_CASE("{\"a\":1.e5}", "parse@5"),
      DECODER_CASE("{\"a\":1e+}", "parse@5"),
      DECODER_CASE("{\"a\":-e5}", "parse@5"),
      DECODER_CASE("{\"a\":1,5}", "parse@7"),
      DECODER_CASE("{\"a\":1_000}", "parse@5"),
      DECODER_CASE("{\"a\":1/*x*/}", "parse@5"),
      DECODER_CASE("{\"a\":1\f}", "parse@5"),
      DECODER_CASE("{\"a\":1\0}", "parse@5"),
      DECODER_CASE("{\"a\":1}\0", "parse@7"),
      DECODER_CASE("{\"a\":1\v,\"b\":2}", "parse@5"),
      DECODER_CASE("{\"a\":1}//", "parse@7"),
      DECODER_CASE("{\"a\":\"x\ny\"}", "parse@7"), /* a control byte in a string */
      DECODER_CASE("{\"a\":\"x\0y\"}", "parse@7"),
      DECODER_CASE("{\"a\n\":1}", "parse@3"),
      DECODER_CASE("{\"a\":\"x", "parse@5"),
      DECODER_CASE("{\"a\":\"x\\\"}", "parse@5"),
      DECODER_CASE("{\"a\":\"\\x\"}", "parse@6"),
      DECODER_CASE("{\"a\":\"ab\\u12\"}", "parse@8"),
      DECODER_CASE("{\"a\":\"\\n\\u00g1\"}", "parse@8"),
      DECODER_CASE("{\"a\":\"\\U0041\"}", "parse@6"),
      DECODER_CASE("{\"a\":\"\\u+041\"}", "parse@6"),
      DECODER_CASE("{\\\"a\":1}", "parse@1"),
      DECODER_CASE("{\"a\":1,\\", "parse@7"),
      DECODER_CASE("\xEF\xBB\xBF{\"a\":x}", "parse@8"),
      DECODER_CASE("\xEF\xBB\xBF\xEF\xBB\xBF{}", "parse@3"),
      DECODER_CASE("{\"a\":[1,]}", "parse@8"), /* what is kept as raw JSON is checked as well */
      DECODER_CASE("{\"a\":[1 2]}", "parse@8"),
      DECODER_CASE("{\"a\":[01]}", "parse@6"),
      DECODER_CASE("{\"a\":[\"\\x\"]}", "parse@7"),
      DECODER_CASE("{\"a\":[{\"b\"}]}", "parse@10"),
      DECODER_CASE("{\"a\":[{1:2}]}", "parse@7"),
      DECODER_CASE("{\"a\":[1}", "parse@7"),
      DECODER_CASE("{\"a\":[NaN]}", "parse@6"),
      DECODER_CASE("{\"a\":[truth]}", "parse@6"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));
}

static void
test_what_is_no_utf8_is_refused_with_its_place(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":\"\xFF\"}", "utf8@6"), /* A6 */
      DECODER_CASE("{\"a\":\"x\xC0\x80\"}", "utf8@7"),
      DECODER_CASE("{\"a\":\"\xE0\x80\xAF\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\xED\xA0\x80\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\xF4\x90\x80\x80\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\xC3\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\x80\"}", "utf8@6"),
      DECODER_CASE("{\"a\xFF\":1}", "utf8@3"),
      DECODER_CASE("{\"a\":[\"\xFF\"]}", "utf8@7"), /* in what is kept as raw JSON, too */
      DECODER_CASE("{\"a\":1}\xFF", "utf8@7"),      /* and outside of strings */
      DECODER_CASE("\xFF{\"a\":1}", "utf8@0"),
      DECODER_CASE("{\"a\":\xC3\xA9}", "parse@5"), /* good UTF-8, but no JSON */
      DECODER_CASE("{\"a\":\"\\uD800\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\\uDC00\\uD800\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"ok\\uD83D\\u0041\"}", "utf8@8"),
      DECODER_CASE("{\"a\":\"\\uD800\\uD800\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\\uD83Dx\\uDE00\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\\uD83D\\uDE0\"}", "utf8@6"),
      DECODER_CASE("{\"a\":\"\\uD83D\\n\"}", "utf8@6"),
      DECODER_CASE("{\"\\uD800\":1}", "utf8@2"),
      DECODER_CASE("{\"a\":[\"\\uDFFF\"]}", "utf8@7"),
      DECODER_CASE("\xEF\xBB\xBF{\"a\":\"\xFF\"}", "utf8@9"),
      DECODER_CASE("\xFF\xFE{\0}\0", "utf8@0"), /* UTF-16 */
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));
}

static void
test_nothing_to_read_is_told_apart(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("", "empty@-1"), /* A1 */
      DECODER_CASE(" ", "empty@0"),
      DECODER_CASE("\n\n\t\r ", "empty@0"),
      DECODER_CASE("\xEF\xBB\xBF", "empty@3"),
      DECODER_CASE("\xEF\xBB\xBF\n", "empty@3"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));

  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{}")));
  TideMessage tombstone = fixture.message; /* A2 */
  g_assert_false(
      tide_decoder_decode(fixture.decoder, &tombstone, &fixture.readings, &fixture.n_readings, &fixture.reject));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOMBSTONE);
}

/* A4 */
static void
test_a_cut_message_is_refused_wherever_it_is_cut(void)
{
  static const char message[] = "{\"host\":\"server1\",\"on\":true,\"m\":{\"a\\u00e9\":[1,{\"x\":null}],\"b\":-1.5e3}}";
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  for (gsize len = 1; len < strlen(message); len++) {
    g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(message, len)));
    g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_PARSE);
    g_assert_cmpint(fixture.reject.byte_position, <=, (gint64)len);
    g_assert_nonnull(fixture.reject.detail);
  }
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(message)));

  g_assert_false(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("[{\"a\":1},{\"a\":2},{\"a\":")));
  g_assert_cmpuint(fixture.reject.reading_index, ==, 2);
}

static void
test_nested_objects_are_flattened(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"m\":{\"a\":1,\"b\":{\"c\":2}},\"d\":3}", "m/a=N:1 m/b/c=N:2 d=N:3;"),
      DECODER_CASE("{\"m\":{}}", ";"),
      DECODER_CASE("{\"m\":{\"n\":{}},\"x\":1}", "x=N:1;"),
      DECODER_CASE("{\"m\":{\"\":1}}", "m/=N:1;"),
      DECODER_CASE("{\"m\":{\"a\":1}}{\"m\":{\"a\":2}}", "m/a=N:1;m/a=N:2;"),
      DECODER_CASE("{\"m\\u0062\":{\"\\u0061\":\"x\\ty\"}}", "mb/a=S:x\\x09y;"),
  };
  decoder_fixture_check_with_defaults(cases, G_N_ELEMENTS(cases));

  static char dot[] = ".", long_separator[] = " -> ";
  g_auto(DecoderFixture) dotted = decoder_fixture_of(TIDE_FORMAT_JSON);
  dotted.options.separator = dot;
  static const DecoderCase dotted_cases[] = {
      DECODER_CASE("{\"metrics\":{\"cpu\":{\"user\":1}}}", "metrics.cpu.user=N:1;")};
  decoder_fixture_check(&dotted, dotted_cases, G_N_ELEMENTS(dotted_cases));
  g_auto(DecoderFixture) longer = decoder_fixture_of(TIDE_FORMAT_JSON);
  longer.options.separator = long_separator;
  static const DecoderCase longer_cases[] = {
      DECODER_CASE("{\"a\":{\"b\":{\"c\":1},\"d\":2}}", "a -> b -> c=N:1 a -> d=N:2;")};
  decoder_fixture_check(&longer, longer_cases, G_N_ELEMENTS(longer_cases));
}

static void
test_arrays_are_as_declared(void)
{
  static const DecoderCase json[] = {
      DECODER_CASE("{\"a\":[]}", "a=J:[];"),
      DECODER_CASE("{\"a\":[1, 2 ,{\"b\":[\"\\u00e9\"]}],\"c\":1}", "a=J:[1, 2 ,{\"b\":[\"\\x5Cu00e9\"]}] c=N:1;"),
      DECODER_CASE("{\"m\":{\"a\":[[],{}]},\"b\":[true]}", "m/a=J:[[],{}] b=J:[true];"),
      DECODER_CASE("{\"a\":[{\"x\":1,\"x\":2}]}", "a=J:[{\"x\":1,\"x\":2}];"),
  };
  decoder_fixture_check_with_defaults(json, G_N_ELEMENTS(json));

  static const DecoderCase index[] = {
      DECODER_CASE("{\"a\":[]}", ";"),
      DECODER_CASE("{\"a\":[1,\"x\",null]}", "a/0=N:1 a/1=S:x a/2=0:;"),
      DECODER_CASE("{\"a\":[{\"b\":1},[2,3]],\"c\":4}", "a/0/b=N:1 a/1/0=N:2 a/1/1=N:3 c=N:4;"),
      DECODER_CASE("{\"a\":[0,1,2,3,4,5,6,7,8,9,10]}",
                   "a/0=N:0 a/1=N:1 a/2=N:2 a/3=N:3 a/4=N:4 a/5=N:5 a/6=N:6 a/7=N:7 a/8=N:8 a/9=N:9 a/10=N:10;"),
      DECODER_CASE("{\"a\":[1],\"a/0\":2}", "duplicate_field@15"),
  };
  g_auto(DecoderFixture) indexed = decoder_fixture_of(TIDE_FORMAT_JSON);
  indexed.options.arrays = TIDE_ARRAY_INDEX;
  decoder_fixture_check(&indexed, index, G_N_ELEMENTS(index));

  static const DecoderCase reject[] = {
      DECODER_CASE("{\"a\":1}", "a=N:1;"),
      DECODER_CASE("[{\"a\":1}]", "a=N:1;"),
      DECODER_CASE("{\"b\":0,\"a\":[1]}", "type@11"), /* A13 */
      DECODER_CASE("{\"b\":{\"a\":[]}}", "type@10"),
  };
  g_auto(DecoderFixture) rejecting = decoder_fixture_of(TIDE_FORMAT_JSON);
  rejecting.options.arrays = TIDE_ARRAY_REJECT;
  decoder_fixture_check(&rejecting, reject, G_N_ELEMENTS(reject));
}

TEST("/decoder/booleans-are-as-declared")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.booleans = TIDE_BOOLEAN_NUMBER;
  static const DecoderCase cases[] = {DECODER_CASE("{\"a\":true,\"b\":false}", "a=B:1 b=B:0;")};
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

static void
test_nesting_is_bounded_and_costs_no_stack(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":{\"b\":1}}", "a/b=N:1;"),
      DECODER_CASE("{\"a\":{\"b\":{}}}", "depth@10"),
      DECODER_CASE("{\"a\":{\"b\":[]}}", "depth@10"),
      DECODER_CASE("[{\"a\":1}]", "a=N:1;"),
      DECODER_CASE("[{\"a\":{}}]", "depth@6"),
      DECODER_CASE("{\"a\":[1]}", "a=J:[1];"),
      DECODER_CASE("{\"a\":[{}]}", "depth@6"),
      DECODER_CASE("[[", "parse@1"),
      DECODER_CASE("[[[", "depth@2"),
  };
  g_auto(DecoderFixture) shallow = decoder_fixture_of(TIDE_FORMAT_JSON);
  shallow.options.max_depth = 2;
  decoder_fixture_check(&shallow, cases, G_N_ELEMENTS(cases));

  static const char *const deep[] = {"[", "{\"a\":", "{\"a\":[", "{\"\":[{\"x\":"}; /* A9 */
  for (gsize i = 0; i < G_N_ELEMENTS(deep); i++) {
    GString *text = g_string_new(NULL);
    for (guint n = 0; n < 100000; n++)
      g_string_append(text, deep[i]);
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
    g_assert_false(decoder_fixture_decode(&fixture, tide_bytes(text->str, text->len)));
    g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_DEPTH);
    g_string_free(text, TRUE);
  }
}

/* A10, A26 */
TEST("/decoder/size-is-checked-before-anything-is-read")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":1}   ", "a=N:1;"),
      DECODER_CASE("{\"a\":1}    ", "too_large@-1"),
      DECODER_CASE("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "too_large@-1"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_message_bytes = 10;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/decoder/a-long-number-is-refused")
{
  g_autofree char *digits = g_strnfill(65, '7');
  g_autofree char *value = g_strdup_printf("{\"v\":%s}", digits);
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(value)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_NUMBER);
  g_assert_true(tide_bytes_equal(fixture.reject.field, TIDE_BYTES_LITERAL("v")));
}

/* The text of reading @i of a big message; every second with escapes, so that lengths change in place. */
static void
append_big_reading(GString *text, guint i)
{
  g_string_append_printf(text, "{\"host\":\"server%u.bbb.com\",\"note\":\"%s\",\"m\":{\"v%u\":%u.%02u}}\n", i,
                         i % 2 == 0 ? "a\\u00e9\\n" : "plain", i % 7, i, i % 100);
}

static void
test_a_big_message_gives_every_reading(void)
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId host = decoder_fixture_use(&fixture, "host");
  fixture.options.max_message_bytes = 64 * 1024 * 1024;
  fixture.options.max_readings = 100000;
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < 100000; i++)
    append_big_reading(text, i);
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes(text->str, text->len)));
  g_string_free(text, TRUE);
  g_assert_cmpuint(fixture.n_readings, ==, 100000);
  for (guint i = 0; i < fixture.n_readings; i++) {
    const TideReading *reading = &fixture.readings[i];
    g_autofree char *server = g_strdup_printf("server%u.bbb.com", i);
    g_autofree char *name = g_strdup_printf("m/v%u", i % 7);
    g_autofree char *number = g_strdup_printf("%u.%02u", i, i % 100);
    const char *note = i % 2 == 0 ? "a\xC3\xA9\n" : "plain";
    g_assert_cmpuint(reading->n_fields, ==, 3);
    g_assert_true(tide_bytes_equal(tide_reading_field(reading, host)->text, tide_bytes_of_string(server)));
    g_assert_true(tide_bytes_equal(reading->fields[1].text, tide_bytes_of_string(note)));
    g_assert_true(tide_bytes_equal(reading->fields[2].name, tide_bytes_of_string(name)));
    g_assert_true(tide_bytes_equal(reading->fields[2].text, tide_bytes_of_string(number)));
  }
}

TEST("/decoder/a-long-string-is-kept-whole")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_message_bytes = 11 * 1024 * 1024;
  g_autofree char *letters = g_strnfill(10 * 1024 * 1024, 'x');
  g_autofree char *value = g_strdup_printf("{\"a\":\"%s\"}", letters);
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(value)));
  g_assert_true(tide_bytes_equal(fixture.readings[0].fields[0].text, tide_bytes_of_string(letters)));
}

/* A fault must leave nothing behind: after each bad message the good one gives the same. */
TEST("/decoder/a-decoder-goes-on-after-each-fault")
{
  static const DecoderCase good[] = {
      DECODER_CASE("[{\"m\":{\"a\":[1]},\"b\":\"\\u00e9\"},{\"b\":1}]", "m/a=J:[1] b=S:\\xC3\\xA9;b=N:1;")};
  static const char *const bad[] = {"",
                                    "x",
                                    "{\"m\":{\"a\":[1,{\"b\":[",
                                    "{\"m\":{\"b\":x",
                                    "\xFF",
                                    "{\"b\":\"\\",
                                    "{\"b\":1,\"b\":2}",
                                    "[{\"m\":{}},{\"m\":",
                                    "[[[[[[[",
                                    "{\"m\":[\"\\x"};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(bad[i])));
    decoder_fixture_check(&fixture, good, G_N_ELEMENTS(good));
  }
}

static gboolean
decode_message(DecoderFixture *fixture, const TideMessage *message)
{
  return tide_decoder_decode(fixture->decoder, message, &fixture->readings, &fixture->n_readings, &fixture->reject);
}

TEST("/decoder/the-steady-state-allocates-nothing")
{
  enum { N_GOOD = 3 }; /* of the values; the rest are faults */
  static const char *const values[] = {
      "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"v\":0.02}",
      "{\"host\":\"server2\",\"m\":{\"cpu\":{\"user\":1,\"sys\":2}},\"a\":[1,\"\\u00e9\"],\"on\":true,\"no\":null}",
      "[{\"host\":\"a\\tb\"},{\"host\":\"c\",\"v\":1}]",
      "{\"host\":1,\"host\":2}",
      "{\"host\":\"\xFF\"}",
      "not json",
      "",
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  decoder_fixture_use(&fixture, "host");
  decoder_fixture_use(&fixture, "$key");
  decoder_fixture_use(&fixture, "$offset");
  fixture.message.key = TIDE_BYTES_LITERAL("key");
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++)
    g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(values[i])) == (i < N_GOOD));

  guint64 before = allocation_count;
  for (guint round = 0; round < 1000; round++) {
    TideMessage message = fixture.message;
    message.has_value = TRUE;
    message.value = tide_bytes_of_string(values[round % G_N_ELEMENTS(values)]);
    gboolean good = decode_message(&fixture, &message);
    g_assert_true(good == (round % G_N_ELEMENTS(values) < N_GOOD));
  }
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

/* No member stands in for what the record offers, whether this record has it or not. */
TEST("/decoder/a-member-is-never-the-records-own")
{
  static const char *const refused[] = {"{\"$key\":\"a\"}", "{\"v\":1,\"$key\":null}", "{\"$header.h\":1}",
                                        "[{\"v\":1},{\"v\":1,\"$key\":2}]"};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  decoder_fixture_use(&fixture, "$key");
  decoder_fixture_use(&fixture, "$offset");
  decoder_fixture_use(&fixture, "$header.h");
  for (guint has_key = 0; has_key < 2; has_key++) {
    fixture.message.key = has_key ? TIDE_BYTES_LITERAL("k") : TIDE_BYTES_EMPTY;
    for (guint round = 0; round < 3; round++) {
      g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("[{\"v\":1},{\"v\":2,\"$topic\":3}]")));
      for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(refused[i])));
        g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_DUPLICATE_FIELD);
        g_assert_cmpstr(fixture.reject.detail, ==, TIDE_NAME_IS_OF_RECORD);
      }
    }
  }
}

/* Of one message, decoded again and again. */
static void
check_allocates_nothing(DecoderFixture *fixture, TideBytes value)
{
  for (int i = 0; i < 3; i++) /* until all memory is as large as it gets */
    g_assert_true(decoder_fixture_decode(fixture, value));
  TideMessage message = fixture->message;
  message.has_value = TRUE;
  message.value = value;
  guint64 before = allocation_count;
  for (guint round = 0; round < 100; round++)
    g_assert_true(decode_message(fixture, &message));
  g_assert_cmpuint(allocation_count - before, ==, 0);
}

TEST("/decoder/no-format-allocates-in-the-steady-state")
{
  static const struct {
    TideReadingFormat format;
    TideBytes value;
  } cases[] = {
      {TIDE_FORMAT_INFLUX, TIDE_BYTES_LITERAL("cpu,host=a\\ b v=.5,t=\"x\\\"y\" 1426535612045000000\n")},
      {TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("host,v,t\na,0.5,\"x\"\"y\"\nb,1,\n")},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\x84\xA1h\xA1g\xA1v\xCB\x3F\xE0\0\0\0\0\0\0\xA1n\xD3\xFF\0\0\0\0\0\0\0"
                                               "\xA1l\x93\x01\xCA\x3F\x80\0\0\x81\xA1x\xC0")},
      {TIDE_FORMAT_AVRO,
       TIDE_BYTES_LITERAL("\x02g\x02\xA8\x81\xB0\xC2\x84\x53\0\0\0\0\0\0\xE0\x3F\x04\x02\x04\0\x04\x30\x39")},
  };
  static const char schema[] =
      "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"h\",\"type\":\"string\"},{\"name\":\"t\",\"type\":"
      "[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}]},{\"name\":\"v\",\"type\":\"double\"},"
      "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},{\"name\":\"d\",\"type\":"
      "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}}]}";
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(cases[i].format);
    if (!tide_format_is_built_in(cases[i].format))
      continue;
    const TideAvroSchema *avro = NULL;
    if (cases[i].format == TIDE_FORMAT_AVRO)
      fixture.options.schema = avro = tide_avro_schema_new(tide_bytes_of_string(schema), NULL);
    check_allocates_nothing(&fixture, cases[i].value);
    tide_avro_schema_free(avro);
  }
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* simdjson picks a kernel by the CPU; the tables above, which these tests walk, must hold on each that this machine can
 * run. */
static const struct {
  const char *path;
  void (*test)(void);
} of_all_kernels[] = {
    {"/decoder/every-form-of-message", test_every_form_of_message},
    {"/decoder/every-kind-of-value", test_every_kind_of_value},
    {"/decoder/numbers-keep-their-text", test_numbers_keep_their_text},
    {"/decoder/what-is-no-json-is-refused-with-its-place", test_what_is_no_json_is_refused_with_its_place},
    {"/decoder/what-is-no-utf8-is-refused-with-its-place", test_what_is_no_utf8_is_refused_with_its_place},
    {"/decoder/nothing-to-read-is-told-apart", test_nothing_to_read_is_told_apart},
    {"/decoder/a-cut-message-is-refused-wherever-it-is-cut", test_a_cut_message_is_refused_wherever_it_is_cut},
    {"/decoder/nested-objects-are-flattened", test_nested_objects_are_flattened},
    {"/decoder/arrays-are-as-declared", test_arrays_are_as_declared},
    {"/decoder/nesting-is-bounded-and-costs-no-stack", test_nesting_is_bounded_and_costs_no_stack},
    {"/decoder/a-big-message-gives-every-reading", test_a_big_message_gives_every_reading},
};

static gboolean
cpu_runs(const char *kernel)
{
#if defined(__x86_64__)
  if (g_str_equal(kernel, "haswell"))
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  if (g_str_equal(kernel, "westmere"))
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
#endif
  return g_str_equal(kernel, "fallback");
}

static void
test_every_kernel_agrees(gconstpointer data)
{
  const char *kernel = data;
  if (g_test_subprocess()) {
    for (gsize i = 0; i < G_N_ELEMENTS(of_all_kernels); i++)
      of_all_kernels[i].test();
    return;
  }
  if (!cpu_runs(kernel)) {
    g_test_skip("this CPU does not run it");
    return;
  }
  g_setenv("SIMDJSON_FORCE_IMPLEMENTATION", kernel, TRUE);
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_unsetenv("SIMDJSON_FORCE_IMPLEMENTATION");
  g_test_trap_assert_passed();
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  for (gsize i = 0; i < G_N_ELEMENTS(of_all_kernels); i++)
    g_test_add_func(of_all_kernels[i].path, of_all_kernels[i].test);
  g_test_add_data_func("/decoder/every-kernel-agrees/haswell", "haswell", test_every_kernel_agrees);
  g_test_add_data_func("/decoder/every-kernel-agrees/westmere", "westmere", test_every_kernel_agrees);
  g_test_add_data_func("/decoder/every-kernel-agrees/fallback", "fallback", test_every_kernel_agrees);
  return g_test_run();
}
