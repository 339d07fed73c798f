/* Messages like others in the binary formats: each value is asked for by its name and text, as the decoder has them,
 * and what is put in its place is what the decoder reads. */
#include "commands/simulate/value_change.h"
#include "decode/formats.h"

#include "decode/avro_schema.h"
#include "decode/protobuf_schema.h"
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

/* What was asked for: "name=text;" for each. */
typedef struct Asked {
  const char *number; /* what comes in place of each; NULL: all stay */
  GString *log;
} Asked;

static gboolean
answer(TideBytes name, TideValueKind kind, TideBytes text, TideBuffer *ret_text, gpointer data)
{
  Asked *asked = data;
  const char *made = kind == TIDE_VALUE_NUMBER ? asked->number : "yy";
  g_string_append_printf(asked->log, "%.*s=%.*s;", (int)name.len, (const char *)name.data, (int)text.len,
                         (const char *)text.data);
  if (asked->number == NULL)
    return FALSE;
  tide_buffer_append(ret_text, made, strlen(made));
  return TRUE;
}

static gboolean
change(const TideDecodeOptions *options, TideBytes message, Asked *asked, TideBuffer *out)
{
  TideValueChange change = {.separator = "/", .ask = answer, .data = asked};
  g_string_truncate(asked->log, 0);
  tide_buffer_reset(out);
  gboolean good = tide_value_change_message(&change, options, message, out);
  tide_value_change_clear(&change);
  return good;
}

/* @hex: a message; @expected: what is asked for; @changed: what the decoder makes of it with other values. */
static void
check(DecoderFixture *fixture, const char *hex, const char *expected, const char *changed)
{
  g_auto(TideBuffer) message = {0}, out = {0};
  g_autoptr(GString) log = g_string_new(NULL);
  Asked asked = {.log = log};
  fixture->options.arrays = TIDE_ARRAY_INDEX;
  g_assert_true(tide_bytes_from_hex(hex, strlen(hex), &message));
  g_autofree char *before = decoder_fixture_outcome(fixture, tide_buffer_bytes(&message));
  g_assert_true(change(&fixture->options, tide_buffer_bytes(&message), &asked, &out));
  g_assert_cmpstr(log->str, ==, expected);
  g_autofree char *same = decoder_fixture_outcome(fixture, tide_buffer_bytes(&out));
  g_assert_cmpstr(same, ==, before);
  asked.number = "300.25";
  g_assert_true(change(&fixture->options, tide_buffer_bytes(&message), &asked, &out));
  g_autofree char *after = decoder_fixture_outcome(fixture, tide_buffer_bytes(&out));
  g_assert_cmpstr(after, ==, changed);
}

/* Of what was cut off or damaged, all that the decoder still reads can be changed. */
static void
check_damaged(DecoderFixture *fixture, const char *hex)
{
  g_auto(TideBuffer) message = {0}, out = {0};
  g_autoptr(GString) log = g_string_new(NULL);
  Asked asked = {"7", log};
  g_assert_true(tide_bytes_from_hex(hex, strlen(hex), &message));
  for (guint round = 0; round < 2000; round++) {
    gsize len = (gsize)g_test_rand_int_range(0, (gint32)message.len + 1);
    g_autofree guint8 *bytes = g_memdup2(message.data, len); /* of its own, so that a byte beyond is noticed */
    for (guint i = 0; len > 0 && i < round % 3; i++)
      bytes[g_test_rand_int_range(0, (gint32)len)] = (guint8)g_test_rand_int();
    if (decoder_fixture_decode(fixture, tide_bytes(bytes, len)))
      g_assert_true(change(&fixture->options, tide_bytes(bytes, len), &asked, &out));
  }
}

#define MSGPACK                                                                                                        \
  "82a16d84"                                                                                                           \
  "a169d1ff00a164cb3ff8000000000000a16c920102a174d6ff00000001a173a178"

#define CHANGED "m/i=N:300 m/d=N:300.25 m/l/0=N:300 m/l/1=N:300 m/t=N:300.250000000 s=S:yy;"

TEST("/value-change/msgpack")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  static const char asked[] = "m/i=-256;m/d=1.5;m/l/0=1;m/l/1=2;m/t=1.000000000;s=x;";
  check(&fixture, MSGPACK, asked, CHANGED);
  check(&fixture, "92" MSGPACK "81a176cfffffffffffffffff", asked, CHANGED "v=N:18446744073709551615;"); /* it stays */
  check_damaged(&fixture, "92" MSGPACK MSGPACK);
}

static gboolean
answer_of_los_angeles(TideBytes name G_GNUC_UNUSED, TideValueKind kind, TideBytes text G_GNUC_UNUSED,
                      TideBuffer *ret_text, gpointer data G_GNUC_UNUSED)
{
  static const char time[] = "2015-03-16T12:53:32.045678-07:00";
  g_assert_cmpint(kind, ==, TIDE_VALUE_STRING);
  tide_buffer_append(ret_text, time, strlen(time));
  return TRUE;
}

TEST("/value-change/a-local-time-is-what-the-clock-shows")
{
  static const gint64 expected[] = {1426510412, 1426510412045, 1426510412045678, 1426510412045678000};
  TideValueChange change = {.ask = answer_of_los_angeles};
  for (guint32 i = 0; i < G_N_ELEMENTS(expected); i++) {
    gint64 value = 0;
    g_assert_true(tide_value_change_local_time(&change, &value, i * 3));
    g_assert_cmpint(value, ==, expected[i]);
  }
  tide_value_change_clear(&change);
}

static const char schema_text[] =
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"host\",\"type\":\"string\"},"
    "{\"name\":\"n\",\"type\":[\"null\",\"int\"]},{\"name\":\"d\",\"type\":\"double\"},{\"name\":\"f\",\"type\":"
    "\"float\"},"
    "{\"name\":\"t\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"long\"}},"
    "{\"name\":\"o\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"record\",\"name\":\"I\",\"fields\":["
    "{\"name\":\"v\",\"type\":\"long\"}]}}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}},"
    "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"x\",\"type\":{\"type\":\"fixed\",\"name\":\"X\",\"size\":2}},"
    "{\"name\":\"y\",\"type\":\"bytes\"}]}";

/* The array's block says how many bytes it has. */
#define AVRO "02610254000000000000f83f0000003fb817030402040002026b06000201abcd02ee"

static TideSchemaAnswer
find(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema, const char **ret_why)
{
  *ret_schema = ((const TideAvroSchema *const *)(gconstpointer)(source + 1))[0];
  return id == 9 ? TIDE_SCHEMA_FOUND : TIDE_SCHEMA_NONE;
}

static void
test_avro(void)
{
  static const char asked[] = "host=a;n=42;d=1.5;f=0.5;t=1.500;l/0=1;l/1=2;o/k/v=3;";
  static const char changed[] = "host=S:yy n=N:300 d=N:300.25 f=N:300.25 t=N:300.250 l/0=N:300 l/1=N:300 o/k/v=N:300 "
                                "e=S:B b=B:true x=S:abcd y=S:ee;";
  g_auto(DecoderFixture) fixture;
  g_autoptr(GError) error = NULL;
  const TideAvroSchema *schema = tide_avro_schema_new(tide_bytes_of_string(schema_text), &error);
  struct {
    TideSchemaSource source;
    const TideAvroSchema *schema;
  } source = {{find}, schema};
  g_assert_no_error(error);
  fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  check(&fixture, AVRO, asked, changed);
  check_damaged(&fixture, AVRO);
  fixture.options.schemas = &source.source;
  check(&fixture, "0000000009" AVRO, asked, changed);
  tide_avro_schema_free(schema);
}

/* Of plant.Reading: host, load, count, drift, ok, part { name, marks }, metrics { k }, at, spare, total beyond 63 bits.
 */
#define PROTOBUF                                                                                                       \
  "0a0161"                                                                                                             \
  "11000000000000f83f"                                                                                                 \
  "2005"                                                                                                               \
  "28ffffffffffffffffff01"                                                                                             \
  "3003"                                                                                                               \
  "5801"                                                                                                               \
  "72070a017822020102"                                                                                                 \
  "8a010c0a016b110000000000000040"                                                                                     \
  "ba0105080110a01f"                                                                                                   \
  "c20109090000000000000840"

static void
test_protobuf(void)
{
  static const char asked[] = "host=a;load=1.5;count=5;drift=-2;part/name=x;part/marks/0=1;part/marks/1=2;metrics/k=2;"
                              "at=1.000004000;spare=3;";
  static const char changed[] =
      "host=S:yy load=N:300.25 count=N:300 total=N:18446744073709551615 drift=N:300 ok=B:true part/name=S:yy "
      "part/marks/0=N:300 part/marks/1=N:300 metrics/k=N:300.25 at=N:300.250000000 spare=N:300.25;";
  g_autoptr(GError) error = NULL;
  g_autofree char *set = NULL;
  gsize len;
  g_assert_true(g_file_get_contents(TIDE_PROTOBUF_TEST_SET, &set, &len, &error));
  g_autoptr(TideProtobufSchema) bare =
      tide_protobuf_schema_new(tide_bytes(set, len), "plant.Reading", TIDE_FRAMING_NONE, &error);
  g_autoptr(TideProtobufSchema) framed =
      tide_protobuf_schema_new(tide_bytes(set, len), "plant.Reading", TIDE_FRAMING_CONFLUENT, &error);
  g_assert_no_error(error);
  g_auto(DecoderFixture) fixture; /* gone before the types that it reads by */
  fixture = decoder_fixture_of(TIDE_FORMAT_PROTOBUF);
  fixture.options.protobuf = bare;
  check(&fixture, PROTOBUF, asked, changed);
  check_damaged(&fixture, PROTOBUF);
  fixture.options.protobuf = framed;
  check(&fixture, "00000000090204" PROTOBUF, asked, changed);
  check_damaged(&fixture, "00000000090204" PROTOBUF);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  if (tide_format_is_built_in(TIDE_FORMAT_AVRO))
    g_test_add_func("/value-change/avro", test_avro);
  if (tide_format_is_built_in(TIDE_FORMAT_PROTOBUF))
    g_test_add_func("/value-change/protobuf", test_protobuf);
  return g_test_run();
}
