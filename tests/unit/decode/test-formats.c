/* The table of formats, and what stands around readings in each format that has objects and lists. */
#include "decode/avro_schema.h"
#include "decode/formats.h"
#include "decode/frame.h"
#include "decode/protobuf_schema.h"
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

/* A row that was forgotten, or half of it. */
TEST("/formats/42-each-format-has-a-row")
{
  for (guint format = 0; format < TIDE_N_FORMATS; format++) {
    const TideFormat *row = &tide_formats[format];
    gboolean is_of_lines = row->end == TIDE_ENDS_WITH_LINE;
    g_assert_cmpint(row->end, >=, TIDE_ENDS_WITH_LINE);
    g_assert_cmpint(row->end, <=, TIDE_ENDS_IN_CONTAINER);
    g_assert_true(is_of_lines || !row->lines_are_readings);
    g_assert_true(is_of_lines || (!row->spaces_are_blank && row->comment == 0));
    g_assert_true(row->reader != NULL || (row->takes & TIDE_TAKES_SCHEMA) != 0);
    g_assert_true((row->takes & TIDE_TAKES_SCHEMA) != 0 ||
                  (row->takes & (TIDE_TAKES_REGISTRY | TIDE_TAKES_MESSAGE)) == 0);
  }
}

/* ---- frames ---- */

#define FRAME "\0\0\0\1\2"

typedef struct FrameCase {
  TideReadingFormat format;
  TideSchemaFraming framing;
  TideBytes value;
  const char *outcome; /* as decoder_fixture_outcome() writes it */
  const char *detail;  /* a part of it; NULL: it names no frame */
} FrameCase;

static void
check_frames(const FrameCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(cases[i].format);
    fixture.options.framing = cases[i].framing;
    fixture.reject = (TideReject){0};
    g_autofree char *outcome = decoder_fixture_outcome(&fixture, cases[i].value);
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
    if (cases[i].detail != NULL)
      g_assert_nonnull(strstr(fixture.reject.detail, cases[i].detail));
    g_assert_true(fixture.reject.remedy != NULL || cases[i].detail == NULL || strstr(cases[i].detail, "not begin"));
    g_assert_true(cases[i].detail != NULL || fixture.reject.remedy == NULL);
  }
}

#define OF_JSON(framing, text, outcome, detail)                                                                        \
  {                                                                                                                    \
    TIDE_FORMAT_JSON, framing, TIDE_BYTES_LITERAL(text), outcome, detail                                               \
  }

TEST("/formats/42-C11-confluent-frame-of-json")
{
  static const FrameCase cases[] = {
      OF_JSON(TIDE_FRAMING_CONFLUENT, FRAME "{\"a\":1}", "a=N:1;", NULL),
      OF_JSON(TIDE_FRAMING_CONFLUENT, FRAME "\xEF\xBB\xBF[{\"a\":1},{\"a\":2}]", "a=N:1;a=N:2;", NULL),
      OF_JSON(TIDE_FRAMING_CONFLUENT, FRAME "{\"a\":x}", "parse@10", NULL),
      OF_JSON(TIDE_FRAMING_CONFLUENT, FRAME "\xEF\xBB\xBF{\"a\":x}", "parse@13", NULL),
      OF_JSON(TIDE_FRAMING_CONFLUENT, FRAME, "empty@5", NULL),
      OF_JSON(TIDE_FRAMING_CONFLUENT, "{\"a\":1}", "parse@0", "does not begin"),
      OF_JSON(TIDE_FRAMING_CONFLUENT, "\0\0\0\1", "parse@0", "does not begin"),
  };
  check_frames(cases, G_N_ELEMENTS(cases));
}

TEST("/formats/42-C11-a-frame-that-is-not-read-is-named")
{
#define NAMED(framing, text, detail) OF_JSON(framing, text, "parse@0", detail)
  static const FrameCase cases[] = {
      NAMED(TIDE_FRAMING_NONE, FRAME "{}", "Confluent"),
      OF_JSON(TIDE_FRAMING_NONE, "\0\0\0\1\xFF{}", "utf8@4", "Confluent"),
      NAMED(TIDE_FRAMING_NONE, "\0\0\0\0\0\0\0\0\7{}", "Apicurio"),
      OF_JSON(TIDE_FRAMING_CONFLUENT, "\0\0\0\0\0\0\0\0\7{}", "parse@5", "Apicurio"),
      NAMED(TIDE_FRAMING_NONE,
            "\3\0"
            "0123456789abcdef{}",
            "Glue"),
      NAMED(TIDE_FRAMING_CONFLUENT,
            "\3\5"
            "0123456789abcdef{}",
            "Glue"),
      NAMED(TIDE_FRAMING_NONE,
            "\3\1"
            "0123456789abcdef{}",
            NULL),
      NAMED(TIDE_FRAMING_NONE,
            "\3\0"
            "0123456789abcde",
            NULL),
      OF_JSON(TIDE_FRAMING_NONE,
              "\xC3\x01"
              "01234567{}",
              "utf8@0", "single object"),
      /* what takes no frame at all */
      {TIDE_FORMAT_MSGPACK, TIDE_FRAMING_NONE, TIDE_BYTES_LITERAL(FRAME "\x80"), "parse@0", NULL},
  };
  check_frames(cases, G_N_ELEMENTS(cases));
}

TEST("/formats/42-C11-the-number-in-a-frame")
{
  guint32 id = 0;
  const char *why;
  g_assert_true(tide_frame_read(TIDE_BYTES_LITERAL(FRAME), &id, &why));
  g_assert_cmpuint(id, ==, 0x102);
}

TEST("/formats/42-C11-a-bad-reading-behind-a-frame")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.framing = TIDE_FRAMING_CONFLUENT;
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  g_autofree char *outcome =
      decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL(FRAME "[{\"a\":1},{\"a\":1,\"a\":2}]"));
  g_autofree char *rejects = decoder_fixture_rejects_text(&fixture);
  g_assert_cmpstr(outcome, ==, "a=N:1;;");
  g_assert_cmpstr(rejects, ==, "duplicate_field@25 1;");
}

/* What is known of readings like it must not be learned of one that was left out. */
TEST("/formats/42-a-bad-reading-twice")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  g_autofree char *outcome =
      decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL("[{\"a\":1,\"a\":2},{\"a\":1,\"a\":2},{\"a\":3}]"));
  g_autofree char *rejects = decoder_fixture_rejects_text(&fixture);
  g_assert_cmpstr(outcome, ==, ";;a=N:3;");
  g_assert_cmpstr(rejects, ==, "duplicate_field@12 0;duplicate_field@26 1;");
}

TEST("/formats/42-a-list-where-an-object-was")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  g_autofree char *outcome =
      decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL("[{\"oo\":{\"p\":{\"x\":1}}},{\"o\":{\"p\":[1],\"q\":2}}]"));
  g_assert_cmpstr(outcome, ==, "oo/p/x=N:1;o/p=J:[1] o/q=N:2;");
}

/* ---- what stands around readings ---- */

typedef struct EnvelopeCase {
  const char *root, *each;
  TideBytes value;
  const char *outcome; /* as decoder_fixture_outcome() writes it */
  const char *rejects; /* of single readings; NULL: the message is rejected */
} EnvelopeCase;

static void
check(DecoderFixture *fixture, const EnvelopeCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_autofree char *root = g_strdup(cases[i].root), *each = g_strdup(cases[i].each);
    fixture->options.layout.root = root;
    fixture->options.layout.each = each;
    fixture->options.on_bad_reading = TIDE_BAD_READING_ALONE;
    g_autofree char *outcome = decoder_fixture_outcome(fixture, cases[i].value);
    g_autofree char *rejects = cases[i].rejects != NULL ? decoder_fixture_rejects_text(fixture) : NULL;
    g_test_message("case %" G_GSIZE_FORMAT, i);
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
    g_assert_cmpstr(rejects, ==, cases[i].rejects);
    g_clear_pointer(&fixture->decoder, tide_decoder_free);
  }
}

#define LISTED                                                                                                         \
  "\x82\xA1"                                                                                                           \
  "d\xA2p7\xA7metrics\x92\x81\xA1"                                                                                     \
  "a\x01\x81\xA1"                                                                                                      \
  "a\x02"

TEST("/formats/42-around-readings-of-msgpack")
{
  static const EnvelopeCase cases[] = {
      {NULL, "metrics", TIDE_BYTES_LITERAL(LISTED), "d=S:p7 a=N:1;d=S:p7 a=N:2;", ""},
      /* what stands behind the list, too; and one message after the other */
      {NULL, "metrics",
       TIDE_BYTES_LITERAL("\x82\xA7metrics\x91\x81\xA1"
                          "a\x01\xA1"
                          "d\x05" LISTED),
       "d=N:5 a=N:1;d=S:p7 a=N:1;d=S:p7 a=N:2;", ""},
      {"p", "metrics", TIDE_BYTES_LITERAL("\x82\xA1p" LISTED "\xA1v\x91\x01"), "d=S:p7 a=N:1;d=S:p7 a=N:2;", ""},
      {"p", NULL,
       TIDE_BYTES_LITERAL("\x91\x82\xA1v\x07\xA1p\x92\x81\xA1"
                          "a\x01\x80"),
       "a=N:1;;", ""},
      {"p/q", NULL,
       TIDE_BYTES_LITERAL("\x81\xA1p\x81\xA1q\x81\xA1"
                          "a\x01"),
       "a=N:1;", ""},
      {NULL, "metrics",
       TIDE_BYTES_LITERAL("\x82\xA1"
                          "d\x05\xA7metrics\x90"),
       "", ""},
      /* a bad reading takes no other with it; what is wrong around the list rejects the message */
      {NULL, "metrics",
       TIDE_BYTES_LITERAL("\x81\xA7metrics\x92\x82\xA1"
                          "a\x01\xA1"
                          "a\x02\x81\xA1"
                          "a\x02"),
       ";a=N:2;", "duplicate_field@16 0;"},
      {NULL, "metrics",
       TIDE_BYTES_LITERAL("\x83\xA1"
                          "d\x05\xA1"
                          "d\x05\xA7metrics\x90"),
       "duplicate_field@6", NULL},
      {NULL, "metrics",
       TIDE_BYTES_LITERAL("\x81\xA1"
                          "d\x05"),
       "missing_field@0", NULL},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x81\xA7metrics\xC0"), "missing_field@9", NULL},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x81\xA7metrics\x80"), ";", ""},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x81\xA7metrics\x05"), "type@9", NULL},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x81\xA7metrics\x92\x80\x01"), ";;", "type@11 1;"},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x81\xA7metrics\x92\x80"), "parse@11", NULL},
      {"p", NULL, TIDE_BYTES_LITERAL("\x81\xA1p\x05"), "parse@3", NULL},
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/formats/42-around-readings-of-avro")
{
  static const char text[] =
      "{\"type\":\"record\",\"name\":\"M\",\"fields\":[{\"name\":\"d\",\"type\":\"string\"},{\"name\":\"metrics\","
      "\"type\":[\"null\",{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":"
      "\"a\",\"type\":\"double\"}]}}]},{\"name\":\"x\",\"type\":\"int\"}]}";
#define ONE "\x00\x00\x00\x00\x00\x00\xF0\x3F"
#define NOT_FINITE "\x00\x00\x00\x00\x00\x00\xF0\x7F"
  static const EnvelopeCase cases[] = {
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x04p7\x02\x02" ONE "\x02" ONE "\x00\x0A"),
       "d=S:p7 x=N:5 a=N:1;d=S:p7 x=N:5 a=N:1;", ""},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x04p7\x02\x00\x0A"), "", ""},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x04p7\x02\x04" ONE NOT_FINITE "\x00\x0A"), "d=S:p7 x=N:5 a=N:1;;",
       "number@13 1;"},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x04p7\x00\x0A"), "missing_field@3", NULL},
      {NULL, "metrics", TIDE_BYTES_LITERAL("\x04p7\x02\x02" ONE "\x00\x0A\x00"), "parse@15", NULL},
      {NULL, "d", TIDE_BYTES_LITERAL("\x04p7\x00\x0A"), "type@0", NULL},
      {"metrics", NULL, TIDE_BYTES_LITERAL("\x04p7\x02\x02" ONE "\x00\x0A"), "a=N:1;", ""},
      {"m", NULL, TIDE_BYTES_LITERAL("\x04p7\x00\x0A"), "missing_field@0", NULL},
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  const TideAvroSchema *schema = tide_avro_schema_new(tide_bytes_of_string(text), NULL);
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  check(&fixture, cases, G_N_ELEMENTS(cases));
  tide_avro_schema_free(schema);
}

/* Schemas 1 and 2: of the fields a and b. */
typedef struct TwoSchemas {
  TideSchemaSource source;
  const TideAvroSchema *schemas[2]; /* owned */
} TwoSchemas;

static TideSchemaAnswer
find_one_of_two(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema, const char **ret_why)
{
  *ret_why = "no such schema";
  if (id == 7)
    return TIDE_SCHEMA_AWAITED;
  if (id < 1 || id > 2)
    return TIDE_SCHEMA_NONE;
  *ret_schema = ((TwoSchemas *)source)->schemas[id - 1];
  return TIDE_SCHEMA_FOUND;
}

static const TideAvroSchema *
schema_with(const char *field)
{
  g_autofree char *text = g_strdup_printf("{\"type\":\"record\",\"name\":\"M\",\"fields\":[{\"name\":\"%s\",\"type\":"
                                          "\"string\"}]}",
                                          field);
  return tide_avro_schema_new(tide_bytes_of_string(text), NULL);
}

TEST("/formats/each-message-is-read-by-the-schema-that-it-names")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\0\0\0\0\1\2x", "a=S:x;"),   DECODER_CASE("\0\0\0\0\2\2x", "b=S:x;"),
      DECODER_CASE("\0\0\0\0\2\2y", "b=S:y;"),   DECODER_CASE("\0\0\0\0\1\2y", "a=S:y;"),
      DECODER_CASE("\0\0\0\0\3\2y", "parse@1"),  DECODER_CASE("\0\0\0\0\7\2y", "none@1"),
      DECODER_CASE("\0\0\0\0\1\2yz", "parse@7"), DECODER_CASE("\1\0\0\0\1\2y", "parse@0"),
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  TwoSchemas two = {.source = {.find = find_one_of_two}, .schemas = {schema_with("a"), schema_with("b")}};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schemas = &two.source;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  g_assert_null(fixture.reject.remedy);
  tide_avro_schema_free(two.schemas[0]);
  tide_avro_schema_free(two.schemas[1]);
}

/* Without a frame, a record may begin with any bytes. */
TEST("/formats/a-record-that-begins-as-a-frame-does-has-none")
{
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  const TideAvroSchema *schema = schema_with("a");
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  g_autofree char *outcome = decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL(FRAME "{}"));
  g_assert_cmpstr(outcome, ==, "parse@1");
  g_assert_nonnull(strstr(fixture.reject.detail, "bytes after the record"));
  tide_avro_schema_free(schema);
}

/* A list is gone through twice, but what takes no bytes in it counts once: some 1,030 values may. */
TEST("/formats/42-values-without-bytes-count-once")
{
  static const char text[] =
      "{\"type\":\"record\",\"name\":\"M\",\"fields\":[{\"name\":\"m\",\"type\":{\"type\":\"array\",\"items\":"
      "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"null\"}]}}}]}";
  static char each[] = "m";
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  const TideAvroSchema *schema = tide_avro_schema_new(tide_bytes_of_string(text), NULL);
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  fixture.options.layout.each = each;
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("\xA0\x06\x00"))); /* 400 of them */
  g_assert_cmpuint(fixture.n_readings, ==, 400);
  tide_avro_schema_free(schema);
}

/* ---- layouts of formats with a schema; test-layout.c has those of JSON and MessagePack ---- */

typedef struct LayoutCase {
  TideLayoutOptions layout;
  TideBytes value;
  const char *outcome;
  const char *rejects;
} LayoutCase;

static void
check_layouts(DecoderFixture *fixture, const LayoutCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    const DecoderAloneCase alone = {cases[i].value, cases[i].outcome, cases[i].rejects};
    fixture->options.layout = cases[i].layout;
    decoder_fixture_check_alone(fixture, &alone, 1);
    g_clear_pointer(&fixture->decoder, tide_decoder_free);
  }
}

static char d_m[] = "d/m", s_k[] = "s/k", s_n[] = "s/{n}", v[] = "v", x[] = "x", y[] = "y",
            names[] = "parts/by_name/{n}", inner[] = "parts/inner", part[] = "part", values[] = "values";

static const TideAvroSchema *
schema_of(const char *quoted)
{
  g_autofree char *json = g_strdelimit(g_strdup(quoted), "'", '"');
  return tide_avro_schema_new(tide_bytes_of_string(json), NULL);
}

TEST("/formats/a-list-in-avro-that-is-readings")
{
  static char *positions[] = {x, y, NULL};
  static const LayoutCase cases[] = {
      {{.positions = positions},
       TIDE_BYTES_LITERAL("\x02\x04\x02\x04\x02\x04\x00\x02\x04\x06\x08\x00\x00"),
       "x=N:1 y=N:2;x=N:3 y=N:4;",
       ""},
      {{.positions = positions}, TIDE_BYTES_LITERAL("\x02\x04\x00\x02\x00\x04\x00"), "x=N:1 y=N:2;", ""},
      {{.positions = positions}, TIDE_BYTES_LITERAL("\x02\x00"), "", ""},
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  const TideAvroSchema *schema = schema_of("[{'type':'record','name':'R','fields':[]},{'type':'array','items':"
                                           "['int',{'type':'array','items':'int'}]}]");
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  check_layouts(&fixture, cases, G_N_ELEMENTS(cases));
  tide_avro_schema_free(schema);
}

TEST("/formats/layouts-of-avro")
{
  static const char text[] =
      "{'type':'record','name':'M','fields':[{'name':'d','type':{'type':'array','items':['null',{'type':'record',"
      "'name':'D','fields':[{'name':'id','type':'string'},{'name':'m','type':['null',{'type':'array','items':['int',"
      "{'type':'record','name':'R','fields':[{'name':'a','type':'int'}]}]}]}]}]}},{'name':'s','type':{'type':'map',"
      "'values':'R'}},{'name':'v','type':{'type':'array','items':{'type':'array','items':'int'}}}]}";
#define BEHIND "\x02\x02k\x08\x00\x02\x04\x02\x04\x00\x00"
#define NESTED "\x02\x02\x02x\x02\x04\x02\x06\x00\x0A\x00\x00" BEHIND
#define NULLS "\x04\x02\x02x\x00\x00\x00" BEHIND
  static char *positions[] = {x, y, NULL};
  static const LayoutCase cases[] = {
      {{.each = d_m}, TIDE_BYTES_LITERAL(NESTED), "s/k/a=N:4 v=J:[[1,2]] d/id=S:x a=N:3;;", "type@8 1;"},
      {{.each = d_m, .on_missing = TIDE_MISSING_SKIP}, TIDE_BYTES_LITERAL(NULLS), ";;", ""},
      {{.each = d_m, .on_missing = TIDE_MISSING_READING},
       TIDE_BYTES_LITERAL(NULLS),
       "s/k/a=N:4 v=J:[[1,2]] id=S:x m=0:;;",
       "type@5 1;"},
      {{.each = s_n}, TIDE_BYTES_LITERAL(NULLS), "d=J:[{\"id\":\"x\",\"m\":null},null] v=J:[[1,2]] n=S:k a=N:4;", ""},
      {{.each = v, .positions = positions},
       TIDE_BYTES_LITERAL(NULLS),
       "d=J:[{\"id\":\"x\",\"m\":null},null] s/k/a=N:4 x=N:1 y=N:2;",
       ""},
      /* a map in two blocks */
      {{.each = s_k},
       TIDE_BYTES_LITERAL("\x00\x02\x02k\x08\x02\x02l\x0A\x00\x00"),
       "d=J:[] v=J:[] s/l/a=N:5 a=N:4;",
       ""},
      {{.zip = TRUE}, TIDE_BYTES_LITERAL(NULLS), "type@12", NULL},
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_AVRO)) {
    g_test_skip("Avro is left out");
    return;
  }
  const TideAvroSchema *schema = schema_of(text);
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema;
  check_layouts(&fixture, cases, G_N_ELEMENTS(cases));
  tide_avro_schema_free(schema);
}

static TideProtobufSchema *
schema_of_readings(void)
{
  g_autofree char *set = NULL;
  gsize len;
  g_assert_true(g_file_get_contents(TIDE_PROTOBUF_TEST_SET, &set, &len, NULL));
  TideProtobufSchema *schema = tide_protobuf_schema_new(tide_bytes(set, len), "plant.Reading", TIDE_FRAMING_NONE, NULL);
  g_assert_nonnull(schema);
  return schema;
}

/* plant.Reading: host is field 1, load 2, parts 16 (a list of Part: name 1, level 2), values 15, plain 32. */
TEST("/formats/42-around-readings-of-protobuf")
{
  static const EnvelopeCase cases[] = {
      {NULL, "parts", TIDE_BYTES_LITERAL("\x82\x01\x03\x0A\x01p\x0A\x01h\x82\x01\x03\x0A\x01q"),
       "host=S:h name=S:p;host=S:h name=S:q;", ""},
      {NULL, "parts", TIDE_BYTES_LITERAL("\x0A\x01h"), "", ""}, /* an empty list is not in the message */
      {NULL, "parts", TIDE_BYTES_LITERAL("\x82\x01\x03\x0A\x01p\x82\x01\x04\x22\x02\x01\x02"),
       "name=S:p;marks=J:[1,2];", ""},
      {NULL, "values", TIDE_BYTES_LITERAL("\x7A\x08" ONE), "type@2", NULL},
      {NULL, "host", TIDE_BYTES_LITERAL("\x0A\x01h"), "type@0", NULL},
      {NULL, "nothing", TIDE_BYTES_LITERAL("\x0A\x01h"), "missing_field@0", NULL},
      {"part/inner", NULL, TIDE_BYTES_LITERAL("\x72\x05\x1A\x03\x0A\x01i\x0A\x01h"), "name=S:i;", ""},
      {"part", NULL, TIDE_BYTES_LITERAL("\x0A\x01h"), "missing_field@0", NULL},
      /* a bad reading takes no other with it */
      {NULL, "plains", TIDE_BYTES_LITERAL("\x8A\x02\x05\x15\x00\x00\x80\x7F\x8A\x02\x00"),
       ";host=S: rate=N:0 count=N:0 ok=B:false state=S:IDLE raw=S: n=N:0 level=N:0;", "number@3 0;"},
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_PROTOBUF)) {
    g_test_skip("protobuf is left out");
    return;
  }
  g_autoptr(TideProtobufSchema) schema = schema_of_readings();
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_PROTOBUF);
  fixture.options.protobuf = schema;
  check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/formats/layouts-of-protobuf")
{
  static char *positions[] = {v, NULL};
  static const LayoutCase cases[] = {
      {{.each = names, .positions = positions},
       TIDE_BYTES_LITERAL("\x0A\x01h\x82\x01\x0A\x0A\x01p\x2A\x05\x0A\x01k\x10\x05"),
       "host=S:h parts/name=S:p n=S:k v=N:5;",
       ""},
      {{.each = inner, .on_missing = TIDE_MISSING_SKIP},
       TIDE_BYTES_LITERAL("\x82\x01\x03\x0A\x01p\x82\x01\x05\x1A\x03\x0A\x01q"),
       ";name=S:q;",
       ""},
      {{.each = part, .on_missing = TIDE_MISSING_READING}, TIDE_BYTES_LITERAL("\x0A\x01h"), "host=S:h;", ""},
      {{.each = inner, .on_missing = TIDE_MISSING_READING},
       TIDE_BYTES_LITERAL("\x82\x01\x03\x0A\x01p"),
       "name=S:p;",
       ""},
      {{.each = values, .positions = positions, .outer_prefix = x},
       TIDE_BYTES_LITERAL("\x7A\x10" ONE ONE "\x0A\x01h"),
       "xhost=S:h v=N:1;xhost=S:h v=N:1;",
       ""},
  };
  if (!tide_format_is_built_in(TIDE_FORMAT_PROTOBUF)) {
    g_test_skip("protobuf is left out");
    return;
  }
  g_autoptr(TideProtobufSchema) schema = schema_of_readings();
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_PROTOBUF);
  fixture.options.protobuf = schema;
  check_layouts(&fixture, cases, G_N_ELEMENTS(cases));
}
