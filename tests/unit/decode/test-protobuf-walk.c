/* Messages are in hex, as protoc --encode writes them; their types are those of tests/formats/readings.proto. */
#include "decode/protobuf_schema.h"
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"
#include "util/error.h"

typedef struct HexCase {
  const char *hex;
  const char *outcome;
} HexCase;

static TideProtobufSchema *
schema_of(const char *message, TideSchemaFraming framing)
{
  g_autofree char *set = NULL;
  gsize len;
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_get_contents(TIDE_PROTOBUF_TEST_SET, &set, &len, &error));
  TideProtobufSchema *schema = tide_protobuf_schema_new(tide_bytes(set, len), message, framing, &error);
  g_assert_no_error(error);
  return schema;
}

static void
check_with(DecoderFixture *fixture, const HexCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_auto(TideBuffer) bytes = {0};
    g_assert_true(tide_bytes_from_hex(cases[i].hex, strlen(cases[i].hex), &bytes));
    g_autofree char *outcome = decoder_fixture_outcome(fixture, tide_buffer_bytes(&bytes));
    if (strcmp(outcome, cases[i].outcome) == 0)
      continue;
    g_test_message("%s gave '%s', expected '%s'", cases[i].hex, outcome, cases[i].outcome);
    g_test_fail();
  }
}

static DecoderFixture
fixture_of(TideProtobufSchema *schema)
{
  DecoderFixture fixture = decoder_fixture_of(TIDE_FORMAT_PROTOBUF);
  fixture.options.protobuf = schema;
  return fixture;
}

static void
check(const char *message, const HexCase *cases, gsize n_cases)
{
  g_autoptr(TideProtobufSchema) schema = schema_of(message, TIDE_FRAMING_NONE);
  g_auto(DecoderFixture) fixture = fixture_of(schema);
  check_with(&fixture, cases, n_cases);
}

TEST("/protobuf-walk/every-kind-of-value")
{
  static const HexCase cases[] = {
      {"0a0161119a9999999999b93f1dcdcccc3d20ffffffffffffffffff0128ffffffffffffffffff0130ffffffffffffffffff013dffffffff4"
       "1ffffffffffffffff4dfdffffff51fcffffffffffffff580160ffffffffffffffffff016a027800",
       "host=S:a load=N:0.1 rate=N:0.1 count=N:-1 total=N:18446744073709551615 drift=N:-9223372036854775808 "
       "port=N:4294967295 serial=N:18446744073709551615 low=N:-3 high=N:-4 ok=B:true state=S:FAILED raw=S:7800;"},
      {"720b0a01701a061009220201028201008201110a01222a050a016210012a050a01611002",
       "part/name=S:p part/inner/level=N:-5 part/inner/marks=J:[1,2] "
       "parts=J:[{},{\"name\":\"\\x5C\"\",\"by_name\":{\"a\":2,\"b\":1}}];"},
      {"8a010c0a016211000000000000f83f8a010c0a016111000000000000004092010f08ffffffffffffffffff01120210029a010408011001",
       "metrics/a=N:2 metrics/b=N:1.5 by_place/-1/level=N:1 by_flag/true=S:RUNNING;"},
      {"ba010c08fce69ca8051080cab5ee01c20100ca01030a016ed2011108ffffffffffffffffff011080cab5ee01f201020807fa01130a01682"
       "32d0000803f32016c243b40033c4802",
       "at=N:1426535292.500000000 spare=N:0 note=S:n times=J:[-0.500000000] counts=J:[7] old/host=S:h "
       "old/point=J:[{\"x\":1,\"label\":\"l\"}] old/place/rack=N:3 old/kinds=J:[\"B\"];"},
  };
  check("plant.Reading", cases, G_N_ELEMENTS(cases));
}

TEST("/protobuf-walk/presence")
{
  static const HexCase plain[] = {
      {"1805", "host=S: rate=N:0 count=N:5 ok=B:false state=S:IDLE raw=S: n=N:0 level=N:0;"},
  };
  static const HexCase inner[] = {
      {"820200", "plain/host=S: plain/rate=N:0 plain/count=N:0 plain/ok=B:false plain/state=S:IDLE plain/raw=S: "
                 "plain/n=N:0 plain/level=N:0;"},
      {"8a02021805", "plains=J:[{\"host\":\"\",\"rate\":0,\"count\":5,\"ok\":false,\"state\":\"IDLE\",\"raw\":\"\","
                     "\"n\":0,\"level\":0}];"},
      {"2000", "count=N:0;"}, /* optional, and there */
      {"d23e00", ";"},        /* a field that nobody knows */
      {"a80105", "channel=N:5;"},
      {"a80100", "channel=N:0;"},                              /* of a oneof, and there */
      {"a20100a80105", "channel=N:5;"},                        /* the last of a oneof */
      {"20052006", "count=N:6;"},                              /* the last of a field */
      {"7202100272030a0170", "part/name=S:p part/level=N:1;"}, /* a message in two pieces is one */
      {"600760ffffffffffffffffff01", "state=S:FAILED;"},
      {"6007", "state=N:7;"}, /* open: without a name */
      {"8a01030a01618a01050a01621101", "parse@14"},
      {"8a010c0a0161110000000000000000"
       "8a010c0a016111000000000000f03f",
       "metrics/a=N:1;"}, /* the last of a key */
      {"8a0100", "metrics/=N:0;"},
      {"7a00", ";"}, /* a list with nothing in it */
      {"7a080000000000000040790000000000000840", "values=J:[2,3];"},
  };
  static const HexCase old[] = {
      {"0a0168", "host=S:h;"},
      {"0a01681801", "host=S:h kind=S:A;"},
      {"0a01681803", "host=S:h;"}, /* closed: a value without a name is a field that nobody knows */
      {"0a01684a03010502", "host=S:h kinds=J:[\"A\",\"B\"];"}, /* such a value in a list */
      {"0a0168a206030a0169", "host=S:h;"},                     /* an extension */
      {"1001", "missing_field@0"},
  };
  check("plant.Plain", plain, G_N_ELEMENTS(plain));
  check("plant.Reading", inner, G_N_ELEMENTS(inner));
  check("old.Reading", old, G_N_ELEMENTS(old));
}

TEST("/protobuf-walk/faults-and-their-places")
{
  static const HexCase cases[] = {
      {"00", "parse@0"},
      {"07", "parse@0"},
      {"0c", "parse@0"},         /* the end of a group that has not begun */
      {"ffffffff7f", "parse@0"}, /* a tag of more than 32 bits */
      {"ffffffffff01", "parse@0"},
      {"2005208080", "parse@3"},
      {"20ffffffffffffffffff02", "count=N:9223372036854775807;"}, /* what is beyond 64 bits is lost */
      {"20ffffffffffffffffffff01", "parse@1"},
      {"0a0561", "parse@1"},
      {"0affffffffffffffff7f61", "parse@1"},
      {"11000000", "parse@4"},
      {"1d0000", "parse@3"},
      {"7204100272ff", "parse@5"},
      {"720c08", "parse@1"},
      {"720308ff01", ";"}, /* its name as a number: nobody knows that */
      {"0a0261ff", "utf8@3"},
      {"6a01ff", "raw=S:ff;"},
      {"da0101ff", "utf8@3"},
      {"11000000000000f87f", "number@0"},
      {"1d000080ff", "number@0"},
      {"7a08000000000000f07f", "number@2"},
      {"7a0700000000000000", "parse@2"},
      {"e20102ff80", "parse@4"}, /* a list of enums */
      {"ba010610ffffffff0f", "type@0"},
      {"ba01051080a8d6b907", "parse@4"},
      {"d33ed43e", ";"}, /* a group that nobody knows */
      {"d33e0801d43e", ";"},
      {"d33e", "parse@2"},
      {"d33edc3e", "parse@2"},
  };
  check("plant.Reading", cases, G_N_ELEMENTS(cases));
}

TEST("/protobuf-walk/arrays")
{
  static const HexCase by_index[] = {
      {"7a10000000000000004000000000000008408201020a00820100", "values/0=N:2 values/1=N:3 parts/0/name=S:;"},
  };
  static const HexCase rejected[] = {{"7a080000000000000040", "type@2"}};
  g_autoptr(TideProtobufSchema) schema = schema_of("plant.Reading", TIDE_FRAMING_NONE);
  g_auto(DecoderFixture) fixture = fixture_of(schema), strict = fixture_of(schema);
  fixture.options.arrays = TIDE_ARRAY_INDEX;
  check_with(&fixture, by_index, G_N_ELEMENTS(by_index));
  strict.options.arrays = TIDE_ARRAY_REJECT;
  check_with(&strict, rejected, G_N_ELEMENTS(rejected));
  g_assert_nonnull(strict.reject.remedy);
}

TEST("/protobuf-walk/limits")
{
  static const HexCase cases[] = {
      {"72021002", "part/level=N:1;"},
      {"72021a00", "depth@2"}, /* part/inner */
      {"720310021a", "parse@5"},
      {"820100", "depth@0"}, /* a list of messages is two levels */
      {"d20100", "depth@0"}, /* whatever becomes of them: these are times */
      {"7a00", ";"},         /* and one of numbers is one */
      {"72022201", "depth@2"},
      {"7203220101", "depth@2"},
      {"d33ed33ed43ed43e", "depth@2"}, /* groups that nobody knows, too */
      {"200128013002", "too_many_fields@4"},
  };
  g_autoptr(TideProtobufSchema) schema = schema_of("plant.Reading", TIDE_FRAMING_NONE);
  g_auto(DecoderFixture) fixture = fixture_of(schema);
  fixture.options.max_depth = 2;
  fixture.options.max_fields = 2;
  check_with(&fixture, cases, G_N_ELEMENTS(cases));
}

/* Two bytes for a message with room for all its fields. */
TEST("/protobuf-walk/memory")
{
  static const char *const repeated[] = {"820100" /* parts */, "8a0200" /* plains */};
  g_autoptr(TideProtobufSchema) schema = schema_of("plant.Reading", TIDE_FRAMING_NONE);
  for (gsize i = 0; i < G_N_ELEMENTS(repeated); i++) {
    g_auto(DecoderFixture) fixture = fixture_of(schema);
    fixture.options.max_message_bytes = 4096;
    g_auto(TideBuffer) bytes = {0};
    while (bytes.len + 3 <= 4096)
      g_assert_true(tide_bytes_from_hex(repeated[i], 6, &bytes));
    g_assert_false(decoder_fixture_decode(&fixture, tide_buffer_bytes(&bytes)));
    g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
    g_assert_cmpint(fixture.reject.byte_position, >, 0);
    /* What it was before is not held against the next one. */
    const HexCase good = {"72021002", "part/level=N:1;"};
    check_with(&fixture, &good, 1);
  }
}

TEST("/protobuf-walk/confluent-framing")
{
  static const HexCase cases[] = {
      {"0000000007000a0161", "host=S:a rate=N:0 count=N:0 ok=B:false state=S:IDLE raw=S: n=N:0 level=N:0;"},
      {"000000000700", "host=S: rate=N:0 count=N:0 ok=B:false state=S:IDLE raw=S: n=N:0 level=N:0;"},
      {"000000000702061002", "n=N:2;"},        /* [3]: plant.Other */
      {"00000000070406000a0161", "host=S:a;"}, /* [3, 0]: plant.Other.Inner */
      {"0000000007020a", "parse@5"},           /* no such message */
      {"000000000704060210", "parse@5"},
      {"00000000070201", "parse@5"}, /* a negative place */
      {"0000000007", "parse@5"},
      {"00000000070480", "parse@5"},
      {"000000000704020806", "parse@5"}, /* a map's entry is no message */
      {"0100000007000a0161", "parse@0"},
      {"000000", "parse@0"},
      {"0000000007000a02", "parse@7"},
      {"00000000070610", "parse@5"},
      {"000000000702061507", "parse@9"},
  };
  g_autoptr(TideProtobufSchema) by_name = schema_of("plant.Reading", TIDE_FRAMING_CONFLUENT);
  g_autoptr(TideProtobufSchema) last = schema_of(NULL, TIDE_FRAMING_CONFLUENT);
  g_auto(DecoderFixture) fixture = fixture_of(by_name), other = fixture_of(last);
  check_with(&fixture, cases, G_N_ELEMENTS(cases));
  check_with(&other, cases, G_N_ELEMENTS(cases));
}

static void
refuse_set(const char *hex, const char *message, const char *what)
{
  g_auto(TideBuffer) bytes = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(*hex == '\0' || tide_bytes_from_hex(hex, strlen(hex), &bytes));
  g_assert_null(tide_protobuf_schema_new(tide_buffer_bytes(&bytes), message, TIDE_FRAMING_NONE, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
  if (strstr(error->message, what) == NULL)
    g_error("'%s' does not say '%s'", error->message, what);
}

TEST("/protobuf-walk/descriptor-sets-that-are-refused")
{
  refuse_set("", "M", "not a descriptor set");
  refuse_set("ff", "M", "not a descriptor set");
  refuse_set("0a080a0161"
             "1a03622e70",
             "M", "does not contain the file b.p: write it again with protoc --include_imports");
  refuse_set("0a080a016122030a014d", "N", "no message 'N' (its last file has M)");
  refuse_set("0a0d0a016122030a014d22030a014d", "M", "cannot be used: a: M: ");
}

/* Field @number, of at most 127 bytes. */
static void
append_delimited(TideBuffer *out, guint number, TideBytes bytes)
{
  g_assert_cmpuint(bytes.len, <, 128);
  tide_buffer_append_byte(out, (guint8)(number << 3 | 2));
  tide_buffer_append_byte(out, (guint8)bytes.len);
  tide_buffer_append_bytes(out, bytes);
}

/* Messages M0 to M@n, each but the last with a field of the next one. */
static void
append_chain(TideBuffer *set, guint n)
{
  g_auto(TideBuffer) file = {0};
  append_delimited(&file, 1, tide_bytes_of_string("a"));
  for (guint i = 0; i <= n; i++) {
    g_auto(TideBuffer) message = {0}, field = {0};
    g_autofree char *name = g_strdup_printf("M%u", i), *next = g_strdup_printf(".M%u", i + 1);
    append_delimited(&message, 1, tide_bytes_of_string(name));
    append_delimited(&field, 1, tide_bytes_of_string("f"));
    tide_buffer_append(&field, "\x18\x01\x20\x01\x28\x0b", 6); /* number 1, optional, a message */
    append_delimited(&field, 6, tide_bytes_of_string(next));
    if (i < n)
      append_delimited(&message, 2, tide_buffer_bytes(&field));
    append_delimited(&file, 4, tide_buffer_bytes(&message));
  }
  tide_buffer_append_byte(set, 1 << 3 | 2);
  for (gsize len = file.len; len > 0; len >>= 7)
    tide_buffer_append_byte(set, (guint8)((len & 127) | (len > 127 ? 128 : 0)));
  tide_buffer_append_bytes(set, tide_buffer_bytes(&file));
}

/* Each type in a chain of them takes some of the stack. */
TEST("/protobuf-walk/chain-of-types")
{
  static const HexCase good = {"0a020a00", ";"};
  g_auto(TideBuffer) allowed = {0}, long_chain = {0};
  g_autoptr(GError) error = NULL;
  append_chain(&allowed, 9999);
  g_autoptr(TideProtobufSchema) schema =
      tide_protobuf_schema_new(tide_buffer_bytes(&allowed), "M0", TIDE_FRAMING_NONE, &error);
  g_assert_no_error(error);
  g_auto(DecoderFixture) fixture = fixture_of(schema);
  check_with(&fixture, &good, 1);
  append_chain(&long_chain, 10000);
  g_assert_null(tide_protobuf_schema_new(tide_buffer_bytes(&long_chain), "M0", TIDE_FRAMING_NONE, &error));
  g_assert_cmpstr(error->message, ==,
                  "it has more than 10000 messages: write a set with only the files that are needed");
}

TEST("/protobuf-walk/any-prefix-and-any-byte")
{
  static const char hex[] = "0a0161119a9999999999b93f72041a02100282010411020108"
                            "8a010c0a016211000000000000f83fba010208016007d33ed43e";
  g_autoptr(TideProtobufSchema) schema = schema_of("plant.Reading", TIDE_FRAMING_NONE);
  g_auto(DecoderFixture) fixture = fixture_of(schema);
  g_auto(TideBuffer) message = {0};
  g_assert_true(tide_bytes_from_hex(hex, strlen(hex), &message));
  for (gsize len = 1; len <= message.len; len++) {
    g_autofree guint8 *mutant = g_memdup2(message.data, len);
    for (guint byte = 0; byte < 256; byte++) {
      mutant[len - 1] = (guint8)byte;
      g_autofree char *outcome = decoder_fixture_outcome(&fixture, tide_bytes(mutant, len));
      g_assert_nonnull(outcome);
      g_assert_cmpint(fixture.reject.byte_position, <=, (gint64)len);
    }
  }
}
