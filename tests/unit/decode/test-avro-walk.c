#include "decode/avro_schema.h"
#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

/* A record of one field v, of the type @type. */
#define RECORD_OF(type) "{'type':'record','name':'R','fields':[{'name':'v','type':" type "}]}"

#define NESTED                                                                                                         \
  RECORD_OF("{'type':'record','name':'S','fields':[{'name':'a','type':'int'},{'name':'b','type':['null','R']}]}")

/* A schema with ' for ", a message by it, and its readings or fault as decoder_fixture_outcome() writes them. */
typedef struct AvroCase {
  const char *schema;
  TideBytes message;
  const char *outcome;
} AvroCase;

#define AVRO_CASE(schema, message, outcome)                                                                            \
  {                                                                                                                    \
    schema, TIDE_BYTES_LITERAL(message), outcome                                                                       \
  }

static const TideAvroSchema *
schema_of(const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *json = g_strdelimit(g_strdup(text), "'", '"');
  const TideAvroSchema *schema = tide_avro_schema_new(tide_bytes_of_string(json), &error);
  g_assert_no_error(error);
  return schema;
}

/* @options: of which the schema is put in. */
static void
check_with(const TideDecodeOptions *options, const AvroCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
    fixture.options = *options;
    fixture.options.format = TIDE_FORMAT_AVRO;
    fixture.options.schema = schema_of(cases[i].schema);
    const DecoderCase one = {cases[i].message, cases[i].outcome};
    decoder_fixture_check(&fixture, &one, 1);
    tide_avro_schema_free(fixture.options.schema);
  }
}

static TideDecodeOptions
default_options(void)
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  return fixture.options;
}

static void
check(const AvroCase *cases, gsize n_cases)
{
  TideDecodeOptions options = default_options();
  check_with(&options, cases, n_cases);
}

TEST("/avro-walk/every-kind-of-value")
{
  static const AvroCase cases[] = {
      AVRO_CASE(RECORD_OF("['int','null']"), "\x02", "v=0:;"),
      AVRO_CASE(RECORD_OF("'boolean'"), "\x01", "v=B:true;"),
      AVRO_CASE(RECORD_OF("'int'"), "\xFF\xFF\xFF\xFF\x0F", "v=N:-2147483648;"),
      AVRO_CASE(RECORD_OF("'long'"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "v=N:-9223372036854775808;"),
      AVRO_CASE(RECORD_OF("'long'"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "v=N:9223372036854775807;"),
      AVRO_CASE(RECORD_OF("'float'"), "\xCD\xCC\xCC\x3D", "v=N:0.1;"),
      AVRO_CASE(RECORD_OF("'double'"), "\x9A\x99\x99\x99\x99\x99\xB9\x3F", "v=N:0.1;"),
      AVRO_CASE(RECORD_OF("'string'"), "\x06s\x00t", "v=S:s\\x00t;"),
      AVRO_CASE(RECORD_OF("'bytes'"), "\x04\x00\xFF", "v=S:00ff;"),
      AVRO_CASE(RECORD_OF("{'type':'fixed','name':'F','size':2}"), "\x12\xAB", "v=S:12ab;"),
      AVRO_CASE(RECORD_OF("{'type':'enum','name':'E','symbols':['A','B']}"), "\x02", "v=S:B;"),
      AVRO_CASE(RECORD_OF("['null','string']"), "\x02\x02x", "v=S:x;"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':['null','string','boolean']}"), "\x06\x00\x02\x02\"\x04\x01\x00",
                "v=J:[null,\"\\x5C\"\",true];"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':{'type':'map','values':'int'}}"), "\x02\x02\x02k\x02\x00\x00",
                "v=J:[{\"k\":1}];"),
      /* a block that says its bytes, and one that follows */
      AVRO_CASE(RECORD_OF("{'type':'array','items':'int'}"), "\x01\x02\x02\x02\x04\x00", "v=J:[1,2];"),
      AVRO_CASE(RECORD_OF("{'type':'map','values':'int'}"), "\x04\x02x\x02\x02y\x04\x00", "v/x=N:1 v/y=N:2;"),
      AVRO_CASE(NESTED, "\x02\x02\x04\x00", "v/a=N:1 v/b/v/a=N:2 v/b/v/b=0:;"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

#define LOGICAL(type, logical) RECORD_OF("{'type':'" type "','logicalType':'" logical "'}")
#define DECIMAL(scale) RECORD_OF("{'type':'bytes','logicalType':'decimal','precision':60,'scale':" #scale "}")

TEST("/avro-walk/logical-types")
{
  static const AvroCase cases[] = {
      AVRO_CASE(LOGICAL("long", "timestamp-millis"), "\xA8\x81\xB0\xC2\x84\x53", "v=N:1426535612.500;"),
      AVRO_CASE(LOGICAL("long", "timestamp-millis"), "\xC0\xF9\xAF\xC2\x84\x53", "v=N:1426535612;"),
      AVRO_CASE(LOGICAL("long", "timestamp-micros"), "\x01", "v=N:-0.000001;"),
      AVRO_CASE(LOGICAL("long", "timestamp-nanos"), "\x02", "v=N:0.000000001;"),
      AVRO_CASE(LOGICAL("long", "local-timestamp-micros"), "\x02", "v=S:1970-01-01T00:00:00.000001;"),
      AVRO_CASE(LOGICAL("long", "local-timestamp-millis"), "\x01", "v=S:1969-12-31T23:59:59.999;"),
      AVRO_CASE(LOGICAL("long", "local-timestamp-nanos"), "\x80\xa8\xd6\xb9\x07", "v=S:1970-01-01T00:00:01;"),
      AVRO_CASE(LOGICAL("int", "time-millis"), "\x02", "v=N:0.001;"),
      AVRO_CASE(LOGICAL("int", "date"), "\x02", "v=S:1970-01-02;"),
      AVRO_CASE(LOGICAL("int", "date"), "\x01", "v=S:1969-12-31;"),
      AVRO_CASE(LOGICAL("int", "date"), "\xFE\xFF\xFF\xFF\x0F", "number@0"),
      AVRO_CASE(LOGICAL("string", "uuid"), "\x02u", "v=S:u;"),
      /* none of these fits what it stands beside */
      AVRO_CASE(LOGICAL("int", "timestamp-millis"), "\x02", "v=N:1;"),
      AVRO_CASE(LOGICAL("bytes", "decimal"), "\x02\x01", "v=S:01;"),
      AVRO_CASE(RECORD_OF("{'type':'bytes','logicalType':'decimal','precision':2,'scale':3}"), "\x02\x01", "v=S:01;"),
      AVRO_CASE(DECIMAL(2), "\x04\x30\x39", "v=N:123.45;"),
      AVRO_CASE(DECIMAL(2), "\x04\xCF\xC7", "v=N:-123.45;"),
      AVRO_CASE(DECIMAL(2), "\x02\xFF", "v=N:-0.01;"),
      AVRO_CASE(DECIMAL(2), "\x02\x80", "v=N:-1.28;"),
      AVRO_CASE(DECIMAL(0), "\x04\x00\xFF", "v=N:255;"),
      AVRO_CASE(DECIMAL(0), "\x04\xFF\x00", "v=N:-256;"),
      AVRO_CASE(DECIMAL(3), "\x00", "v=N:0.000;"),
      AVRO_CASE(DECIMAL(0), "\x06\xFF\xFF\xFF", "v=N:-1;"),
      AVRO_CASE(RECORD_OF("{'type':'fixed','name':'F','size':2,'logicalType':'decimal','precision':4,'scale':1}"),
                "\x04\xD2", "v=N:123.4;"),
      /* 2^208 has 63 digits, 2^212 has 64 */
      AVRO_CASE(DECIMAL(0),
                "\x36\x01"
                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                "v=N:411376139330301510538742295639337626245683966408394965837152256;"),
      AVRO_CASE(DECIMAL(1),
                "\x36\x10"
                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                "number@0"),
      AVRO_CASE(DECIMAL(0),
                "\x38\x01"
                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                "number@0"),
      AVRO_CASE(RECORD_OF("{'type':'bytes','logicalType':'decimal','precision':900,'scale':900}"), "\x02\x01",
                "number@0"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/forms-of-messages")
{
  static const char records[] = "{'type':'array','items':" RECORD_OF("'int'") "}";
  static const char choice[] = "['null','string'," RECORD_OF("'int'") "]";
  static const AvroCase cases[] = {
      AVRO_CASE("{'type':'record','name':'R','fields':[]}", "\x00", "parse@0"),
      AVRO_CASE(records, "\x04\x02\x04\x00", "v=N:1;v=N:2;"),
      AVRO_CASE(records, "\x00", ""),
      AVRO_CASE(choice, "\x04\x02", "v=N:1;"),
      AVRO_CASE(choice, "\x02\x02x", "type@0"),
      AVRO_CASE(choice, "\x06", "parse@0"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/faults-and-their-places")
{
  static const AvroCase cases[] = {
      AVRO_CASE(RECORD_OF("'int'"), "\x02\x02", "parse@1"),
      AVRO_CASE(RECORD_OF("'int'"), "\x80", "parse@1"),
      AVRO_CASE(RECORD_OF("'int'"), "\x80\x80\x80\x80\x10", "parse@0"),
      AVRO_CASE(RECORD_OF("'long'"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", "parse@0"),
      AVRO_CASE(RECORD_OF("'long'"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00", "parse@0"),
      AVRO_CASE(RECORD_OF("'boolean'"), "\x02", "parse@0"),
      AVRO_CASE(RECORD_OF("'double'"), "\x00\x00\x00\x00\x00\x00\xF8\x7F", "number@0"),
      AVRO_CASE(RECORD_OF("'float'"), "\x00\x00\x80", "parse@3"),
      AVRO_CASE(RECORD_OF("'string'"), "\x04x\xFF", "utf8@2"),
      AVRO_CASE(RECORD_OF("'string'"), "\x01", "parse@0"),
      AVRO_CASE(RECORD_OF("'string'"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "parse@10"),
      AVRO_CASE(RECORD_OF("'bytes'"), "\x06xx", "parse@3"),
      AVRO_CASE(RECORD_OF("{'type':'fixed','name':'F','size':2147483647}"), "x", "parse@1"),
      AVRO_CASE(RECORD_OF("{'type':'enum','name':'E','symbols':['A','B']}"), "\x04", "parse@0"),
      AVRO_CASE(RECORD_OF("{'type':'enum','name':'E','symbols':['A','B']}"), "\x01", "parse@0"),
      AVRO_CASE(RECORD_OF("['null','int']"), "\x04", "parse@0"),
      AVRO_CASE(RECORD_OF("{'type':'map','values':'int'}"), "\x04\x02x\x02\x02x\x04\x00", "duplicate_field@6"),
      AVRO_CASE(RECORD_OF("{'type':'map','values':'int'}"), "\x02\x02\xFF\x02\x00", "utf8@2"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'string'}"), "\x02\x02\xFF\x00", "utf8@2"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'int'}"), "\x04\x02", "parse@2"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'int'}"), "\x01\x01\x02\x00", "parse@0"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'double'}"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "parse@10"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

/* What a few bytes could ask for without end. */
TEST("/avro-walk/what-takes-no-bytes")
{
  static const AvroCase cases[] = {
      AVRO_CASE(RECORD_OF("{'type':'array','items':'null'}"), "\x04\x00", "v=J:[null,null];"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'null'}"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
                "too_large@10"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'null'}"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00",
                "too_large@11"),
      AVRO_CASE("{'type':'array','items':{'type':'record','name':'R','fields':[]}}",
                "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "too_large@10"),
      AVRO_CASE("{'type':'record','name':'R','fields':[{'name':'r','type':'R'}]}", "\x00", "depth@0"),
      AVRO_CASE("{'type':'record','name':'R','fields':[{'name':'r','type':{'type':'array','items':'R'}}]}",
                "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02", "depth@16"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

/* They end before a text of megabytes is made of ten bytes, which would end them too. */
TEST("/avro-walk/what-takes-no-bytes-takes-no-time")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_AVRO);
  fixture.options.schema = schema_of(RECORD_OF("{'type':'array','items':'null'}"));
  g_assert_false(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01")));
  g_assert_cmpstr(fixture.reject.detail, ==, "too many values without bytes");
  tide_avro_schema_free(fixture.options.schema);
}

/* Types that double at each step take no bytes, and would take 2^31 steps. */
TEST("/avro-walk/types-that-double")
{
  g_autoptr(GString) schema = g_string_new("{'type':'record','name':'R0','fields':[]}");
  for (guint i = 1; i < 31; i++) {
    g_autofree char *inner = g_string_free(schema, FALSE);
    schema = g_string_new(NULL);
    g_string_printf(schema,
                    "{'type':'record','name':'R%u','fields':[{'name':'a','type':%s},{'name':'b','type':'R%u'}]}", i,
                    inner, i - 1);
  }
  g_autofree char *array = g_strdup_printf("{'type':'record','name':'T','fields':[{'name':'v','type':"
                                           "{'type':'array','items':%s}}]}",
                                           schema->str);
  const AvroCase one = {array, TIDE_BYTES_LITERAL("\x02\x00"), "too_large@1"};
  TideDecodeOptions options = default_options();
  options.max_depth = 64;
  check_with(&options, &one, 1);
}

TEST("/avro-walk/json-texts-are-bounded")
{
#define LIST_OF_LONG_NAMES                                                                                             \
  RECORD_OF("{'type':'array','items':{'type':'record','name':'S','fields':[{'name':'"                                  \
            "long_long_long_long_long_long_long_long_long_name','type':'boolean'}]}}")
  static const AvroCase cases[] = {
      AVRO_CASE(LIST_OF_LONG_NAMES, "\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00", "too_large@5"),
      /* all lists of a message together */
      AVRO_CASE("{'type':'array','items':" LIST_OF_LONG_NAMES "}", "\x04\x06\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00",
                "too_large@8"),
  };
  TideDecodeOptions options = default_options();
  options.max_message_bytes = 32;
  check_with(&options, cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/42-a-list-of-lists-of-readings")
{
  static const AvroCase cases[] = {
      AVRO_CASE("{'type':'array','items':{'type':'array','items':" RECORD_OF("'boolean'") "}}",
                "\x04\x02\x01\x00\x04\x00\x01\x00\x00", "v=B:true;v=B:false;v=B:true;"),
  };
  check(cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/bad-readings-alone")
{
  static const char doubles[] = "{'type':'array','items':" RECORD_OF("['double','string']") "}";
  static const char lists[] = "{'type':'array','items':" RECORD_OF("{'type':'array','items':'string'}") "}";
  static const char maps[] = "{'type':'array','items':" RECORD_OF("{'type':'map','values':'int'}") "}";
  static const AvroCase cases[] = {
      AVRO_CASE(doubles, "\x04\x00\x00\x00\x00\x00\x00\x00\xF8\x7F\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", ";v=N:0;"),
      AVRO_CASE(doubles, "\x04\x02\x02\xFF\x02\x02x\x00", ";v=S:x;"),
      AVRO_CASE(doubles, "\x04\x02\x02\xFF\x04", "parse@4"),
      AVRO_CASE(lists, "\x04\x04\x02\xFF\x02\xFE\x00\x00\x00", ";v=J:[];"),
      AVRO_CASE(maps, "\x04\x04\x02\xFF\x02\x02y\x04\x00\x02\x02x\x02\x00\x00", ";v/x=N:1;"),
      AVRO_CASE(maps, "\x04\x04\x02x\x02\x02x\x04\x00\x02\x02x\x02\x00\x00", ";v/x=N:1;"),
  };
  TideDecodeOptions options = default_options();
  options.on_bad_reading = TIDE_BAD_READING_ALONE;
  check_with(&options, cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/arrays-by-index-and-rejected")
{
  static const AvroCase by_index[] = {
      AVRO_CASE(RECORD_OF("{'type':'array','items':{'type':'array','items':'int'}}"),
                "\x04\x02\x02\x00\x02\x04\x00\x00", "v/0/0=N:1 v/1/0=N:2;"),
  };
  static const AvroCase rejected[] = {
      AVRO_CASE(RECORD_OF("{'type':'array','items':'int'}"), "\x02\x02\x00", "type@0"),
  };
  TideDecodeOptions options = default_options();
  options.arrays = TIDE_ARRAY_INDEX;
  check_with(&options, by_index, G_N_ELEMENTS(by_index));
  options.arrays = TIDE_ARRAY_REJECT;
  check_with(&options, rejected, G_N_ELEMENTS(rejected));
}

TEST("/avro-walk/limits-and-booleans")
{
  static const AvroCase cases[] = {
      AVRO_CASE("{'type':'array','items':" RECORD_OF("'boolean'") "}", "\x06\x01\x00\x01\x00", "too_large@3"),
      AVRO_CASE(RECORD_OF("{'type':'map','values':'int'}"), "\x04\x02x\x02\x02y\x04\x00", "too_many_fields@6"),
      AVRO_CASE(RECORD_OF("{'type':'map','values':{'type':'map','values':'int'}}"), "\x02\x02x\x00\x00", "depth@3"),
      AVRO_CASE("{'type':'array','items':" RECORD_OF("'boolean'") "}", "\x04\x01\x00\x00", "v=B:1;v=B:0;"),
      AVRO_CASE(RECORD_OF("{'type':'array','items':'boolean'}"), "\x04\x01\x00\x00", "v=J:[true,false];"),
  };
  TideDecodeOptions options = default_options();
  options.max_readings = options.max_fields = options.max_depth = 2;
  options.booleans = TIDE_BOOLEAN_NUMBER;
  check_with(&options, cases, G_N_ELEMENTS(cases));
}

TEST("/avro-walk/any-prefix-and-any-byte")
{
  static const char message[] =
      "\x06\x02x\x02y\x01\x02\x02\x00\x02\x02z\x04\x30\x39\x00\x02\xC8\xC6\xB3\x98\x84\x53\x02";
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.format = TIDE_FORMAT_AVRO;
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  fixture.options.schema = schema_of(
      "{'type':'array','items':{'type':'record','name':'R','fields':[{'name':'a','type':'string'},{'name':'b','type':"
      "'string'},{'name':'c','type':{'type':'array','items':['null','int','R']}},{'name':'d','type':{'type':'map',"
      "'values':{'type':'bytes','logicalType':'decimal','precision':4,'scale':2}}},{'name':'e','type':['null',"
      "{'type':'long','logicalType':'timestamp-millis'},{'type':'enum','name':'E','symbols':['A','B']}]}]}}");
  for (gsize len = 1; len < sizeof message; len++) {
    g_autofree char *mutant = g_memdup2(message, len);
    for (guint byte = 0; byte < 256; byte++) {
      mutant[len - 1] = (char)byte;
      g_autofree char *outcome = decoder_fixture_outcome(&fixture, tide_bytes(mutant, len));
      g_assert_nonnull(outcome);
    }
  }
  tide_avro_schema_free(fixture.options.schema);
}
