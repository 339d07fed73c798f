#include "decode/formats.h"

#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

/* Of the columns a, b and c. */
static DecoderFixture
fixture_of_columns(void)
{
  static char a[] = "a", b[] = "b", c[] = "c";
  static char *columns[] = {a, b, c, NULL};
  DecoderFixture fixture = decoder_fixture_of(TIDE_FORMAT_CSV);
  fixture.options.csv.columns = columns;
  return fixture;
}

static DecoderFixture
fixture_of_header(void)
{
  DecoderFixture fixture = decoder_fixture_of(TIDE_FORMAT_CSV);
  fixture.options.csv.header = TRUE;
  return fixture;
}

static void
check_columns(const DecoderCase *cases, gsize n_cases)
{
  g_auto(DecoderFixture) fixture = fixture_of_columns();
  decoder_fixture_check(&fixture, cases, n_cases);
}

TEST("/csv-lines/a-line-is-a-reading")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("x,1,y", "a=S:x b=N:1 c=S:y;"),
      DECODER_CASE("x,1,y\n", "a=S:x b=N:1 c=S:y;"),
      DECODER_CASE("x,1,y\r\nz,2,w\r\n", "a=S:x b=N:1 c=S:y;a=S:z b=N:2 c=S:w;"),
      DECODER_CASE("x,1,y\nz,2,w", "a=S:x b=N:1 c=S:y;a=S:z b=N:2 c=S:w;"),
      DECODER_CASE("\n\r\nx,1,y\n\n\nz,2,w\r\n\r\n", "a=S:x b=N:1 c=S:y;a=S:z b=N:2 c=S:w;"),
      DECODER_CASE("x,1,y\r", "a=S:x b=N:1 c=S:y;"),
      DECODER_CASE("\xEF\xBB\xBFx,1,y", "a=S:x b=N:1 c=S:y;"),
      DECODER_CASE(",,", "a=0: b=0: c=0:;"),
      DECODER_CASE(" x ,, ", "a=S: x  b=0: c=S: ;"), /* spaces are bytes like others */
      DECODER_CASE("\xE2\x82\xAC,s\0t,;", "a=S:\\xE2\\x82\\xAC b=S:s\\x00t c=S:;;"),
  };
  check_columns(cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/every-kind-of-value")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("1,-1.50,1e3", "a=N:1 b=N:-1.50 c=N:1e3;"),
      DECODER_CASE("0,-0,0.0", "a=N:0 b=N:-0 c=N:0.0;"),
      /* no numbers of JSON's, and so kept as they are: the first may be a name */
      DECODER_CASE("007,+1,.5", "a=S:007 b=S:+1 c=S:.5;"),
      DECODER_CASE("1.,-,1e", "a=S:1. b=S:- c=S:1e;"),
      DECODER_CASE("0x1,1 ,NaN", "a=S:0x1 b=S:1  c=S:NaN;"),
      DECODER_CASE("true,false,True", "a=B:true b=B:false c=S:True;"),
      DECODER_CASE("\"1\",\"true\",\"\"", "a=S:1 b=S:true c=S:;"), /* in quotes all is text */
      DECODER_CASE("1234567890123456789012345678901234567890123456789012345678901234,,",
                   "a=N:1234567890123456789012345678901234567890123456789012345678901234 b=0: c=0:;"),
      DECODER_CASE("x,12345678901234567890123456789012345678901234567890123456789012345,", "number@2"),
  };
  check_columns(cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/quotes")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\"x\",\"y,z\",\"\"\"\"", "a=S:x b=S:y,z c=S:\";"),
      DECODER_CASE("\"1\n2\r\n3\",\"a \"\"b\"\" \"\"\",x\n", "a=S:1\\x0A2\\x0D\\x0A3 b=S:a \"b\" \" c=S:x;"),
      DECODER_CASE("\"\",\"\"\r\n,x", "parse@5"),
      DECODER_CASE("x,y,\"z\"\r\n\"x\",y,z", "a=S:x b=S:y c=S:z;a=S:x b=S:y c=S:z;"),
      DECODER_CASE("x,\"y\" ,z", "parse@5"),
      DECODER_CASE("x,\"y\"z,z", "parse@5"),
      DECODER_CASE("x,y\"z\",z", "parse@3"),
      DECODER_CASE("x, \"y\",z", "parse@3"),
      DECODER_CASE("x,y,\"z", "parse@4"),
      DECODER_CASE("x,y,\"", "parse@4"),
      DECODER_CASE("x,y,\"z\"\"", "parse@4"),
      DECODER_CASE("x,y,\"z\"\"\n1,2,3", "parse@4"),
      DECODER_CASE("x,y,\"z\"\rx", "parse@7"),
  };
  check_columns(cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/a-broken-line-is-refused-with-its-place")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\n", "empty@0"),
      DECODER_CASE("\r\n\r\n", "empty@0"),
      DECODER_CASE("\xEF\xBB\xBF", "empty@0"),
      DECODER_CASE("x", "parse@1"),
      DECODER_CASE("x,y", "parse@3"),
      DECODER_CASE("x,y\n", "parse@3"),
      DECODER_CASE("x,y,z,", "parse@5"),
      DECODER_CASE("x,y,z,w", "parse@5"),
      DECODER_CASE("x,y,z\n1,2", "parse@9"),
      DECODER_CASE("x,y\rz,w", "parse@3"),
      DECODER_CASE("x,y,z\r\r\n", "parse@5"),
      DECODER_CASE("x,y,\xFF", "utf8@4"),
      DECODER_CASE("x,y,z\n1,\xC3,3", "utf8@8"),
  };
  check_columns(cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/a-broken-line-alone")
{
  static const DecoderAloneCase cases[] = {
      {TIDE_BYTES_LITERAL("1,2,3\nx\n4,5,6"), "a=N:1 b=N:2 c=N:3;;a=N:4 b=N:5 c=N:6;", "parse@7 1;"},
      {TIDE_BYTES_LITERAL("1,2,3,4\n4,5,6\n"), ";a=N:4 b=N:5 c=N:6;", "parse@5 0;"},
      {TIDE_BYTES_LITERAL("x\ny\n"), ";;", "parse@1 0;parse@3 1;"},
      /* a line break in quotes ends no line, wherever its fault is */
      {TIDE_BYTES_LITERAL("\"a\"b,\"1\n2\",\n4,5,6"), ";a=N:4 b=N:5 c=N:6;", "parse@3 0;"},
      {TIDE_BYTES_LITERAL("1,2,3,\"1\n\"\"2\"\n4,5,6"), ";a=N:4 b=N:5 c=N:6;", "parse@5 0;"},
      {TIDE_BYTES_LITERAL("1,\"\"\"x\n\"\"\"\n4,5,6"), ";a=N:4 b=N:5 c=N:6;", "parse@10 0;"},
      /* a quote that begins no value says nothing */
      {TIDE_BYTES_LITERAL("a\"b,2,3\n4,5,6"), ";a=N:4 b=N:5 c=N:6;", "parse@1 0;"},
      {TIDE_BYTES_LITERAL("1,2,3\rx\n4,5,6"), ";a=N:4 b=N:5 c=N:6;", "parse@5 0;"},
      {TIDE_BYTES_LITERAL("1,2,\xFF\n4,5,6\n"), ";a=N:4 b=N:5 c=N:6;", "utf8@4 0;"},
      {TIDE_BYTES_LITERAL("12345678901234567890123456789012345678901234567890123456789012345,2,3\n4,5,6"),
       ";a=N:4 b=N:5 c=N:6;", "number@0 0;"},
      /* where a text does not end, nobody knows where the next line begins */
      {TIDE_BYTES_LITERAL("1,2,3\n4,5,\"6\n7,8,9"), "parse@10", NULL},
      {TIDE_BYTES_LITERAL("x\"\n4,5,\"6\n7,8,9"), "parse@7", NULL},
      {TIDE_BYTES_LITERAL("x"), "parse@1", NULL},
  };
  g_auto(DecoderFixture) fixture = fixture_of_columns();
  decoder_fixture_check_alone(&fixture, cases, G_N_ELEMENTS(cases));
}

/* Without this, values that are taken for names would be gone without a word. */
TEST("/csv-lines/A2-a-header-alone-is-rejected")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("h1,2026-11-28T13:15:17Z,1", "parse@0"),
      DECODER_CASE("h,v\n", "parse@0"),
      DECODER_CASE("\r\n\nh,v\n\n", "parse@0"),
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(DecoderFixture) fixture = fixture_of_header();
    fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE; /* the fault is the message's all the same */
    g_autofree char *outcome = decoder_fixture_outcome(&fixture, cases[i].value);
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
  }
}

TEST("/csv-lines/a-header-names-the-columns")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("h,v\nx,1\ny,2\n", "h=S:x v=N:1;h=S:y v=N:2;"),
      DECODER_CASE("\n\"h \"\"1\"\"\",1\r\nx,1", "h \"1\"=S:x 1=N:1;"),
      DECODER_CASE("v,h,u\n1,x,\n", "v=N:1 h=S:x u=0:;"), /* of this message alone */
      DECODER_CASE(",v\nx,1", "v=N:1;"),
      DECODER_CASE("\xEF\xBB\xBFh\nx", "h=S:x;"),
      DECODER_CASE("h,v\nx", "parse@5"),
      DECODER_CASE("h,\"v\nx,1", "parse@2"),
      DECODER_CASE("h,v\"\nx,1", "parse@3"),
      DECODER_CASE("h,\xFF\nx,1", "utf8@2"),
      DECODER_CASE("h,v,h\nx,1,y", "duplicate_field@4"),
  };
  g_auto(DecoderFixture) fixture = fixture_of_header();
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

/* All lines share the names. */
TEST("/csv-lines/a-fault-of-the-names-is-the-messages")
{
  static const DecoderAloneCase cases[] = {
      {TIDE_BYTES_LITERAL("h,v\nx\ny,1\n"), ";h=S:y v=N:1 $topic=S:metrics;", "parse@5 0;"},
      {TIDE_BYTES_LITERAL("h,h\nx,1\ny,1\n"), "duplicate_field@2", NULL},
      {TIDE_BYTES_LITERAL("h,$topic\nx,1\ny,1\n"), "duplicate_field@9", NULL},
      {TIDE_BYTES_LITERAL("h,v,w,x,y\n1,2,3,4,5\n"), "too_many_fields@8", NULL},
      {TIDE_BYTES_LITERAL("h,\xFF\nx,1\ny,1\n"), "utf8@2", NULL},
  };
  g_auto(DecoderFixture) fixture = fixture_of_header();
  fixture.options.max_fields = 4;
  decoder_fixture_use(&fixture, "$topic");
  decoder_fixture_check_alone(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/a-long-name-is-refused")
{
  g_autofree char *name = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES, 'n');
  g_autofree char *good = g_strdup_printf("a,%s\n1,2", name);
  g_autofree char *bad = g_strdup_printf("a,n%s\n1,2", name);
  g_auto(DecoderFixture) fixture = fixture_of_header();
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(good)));
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
  g_assert_cmpint(fixture.reject.byte_position, ==, 2);
}

TEST("/csv-lines/tabs-without-quotes")
{
  static char tab[] = "\t";
  static const DecoderCase cases[] = {
      DECODER_CASE("h\tv\nx, \"y\"\t\"\n", "h=S:x, \"y\" v=S:\";"),
      DECODER_CASE("h\tv\n\"x\ty\"\n", "h=S:\"x v=S:y\";"),
  };
  static const DecoderAloneCase alone[] = {
      {TIDE_BYTES_LITERAL("h\tv\n\"x\ny\t1"), ";h=S:y v=N:1;", "parse@6 0;"},
  };
  g_auto(DecoderFixture) fixture = fixture_of_header();
  fixture.options.csv.delimiter = tab;
  fixture.options.csv.quotes = FALSE;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  decoder_fixture_check_alone(&fixture, alone, G_N_ELEMENTS(alone));
}

/* A text in quotes begins behind the declared delimiter, in a broken line, too. */
TEST("/csv-lines/broken-line-with-another-delimiter")
{
  static char semicolon[] = ";";
  static const DecoderAloneCase alone[] = {
      {TIDE_BYTES_LITERAL("h;v\nx\"y;\"1\n2\"\nz;3"), ";h=S:z v=N:3;", "parse@5 0;"},
      {TIDE_BYTES_LITERAL("h;v\nx\"y,\"1\nz;3"), ";h=S:z v=N:3;", "parse@5 0;"},
  };
  g_auto(DecoderFixture) fixture = fixture_of_header();
  fixture.options.csv.delimiter = semicolon;
  decoder_fixture_check_alone(&fixture, alone, G_N_ELEMENTS(alone));
}

TEST("/csv-lines/null-values")
{
  static char na[] = "NA", minus[] = "-1", none[] = "";
  static char *some[] = {na, minus, NULL}, *with_empty[] = {na, none, NULL}, *no[] = {NULL};
  static const struct {
    char **null_values;
    const char *outcome;
  } cases[] = {
      {some, "a=0: b=0: c=S:;"},
      {with_empty, "a=0: b=N:-1 c=0:;"},
      {no, "a=S:NA b=N:-1 c=S:;"},
      {NULL, "a=S:NA b=N:-1 c=0:;"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(DecoderFixture) fixture = fixture_of_columns();
    fixture.options.csv.null_values = cases[i].null_values;
    g_autofree char *outcome = decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL("NA,-1,"));
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
    g_autofree char *quoted = decoder_fixture_outcome(&fixture, TIDE_BYTES_LITERAL("\"NA\",\"-1\",\"\""));
    g_assert_cmpstr(quoted, ==, "a=S:NA b=S:-1 c=S:;");
  }
}

TEST("/csv-lines/limits")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("1,2,3\n4,5,6", "a=N:1 b=N:2 c=N:3;a=N:4 b=N:5 c=N:6;"),
      DECODER_CASE("1,2,3\n4,5,6\n7,8,9", "too_large@12"),
      DECODER_CASE("\"1234567890123456789012345678901234567890\",,", "too_large@-1"),
  };
  g_auto(DecoderFixture) fixture = fixture_of_columns();
  fixture.options.max_readings = 2;
  fixture.options.max_message_bytes = 40;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/booleans-as-numbers")
{
  static const DecoderCase cases[] = {DECODER_CASE("true,false,\"true\"", "a=B:1 b=B:0 c=S:true;")};
  g_auto(DecoderFixture) fixture = fixture_of_columns();
  fixture.options.booleans = TIDE_BOOLEAN_NUMBER;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/csv-lines/delimiters")
{
  static const char good[] = ",;\t|: _#/\x1F", bad[] = "\"\r\n.+-0aZ\x80";
  for (const char *at = good; *at != '\0'; at++)
    g_assert_true(tide_csv_is_delimiter(*at));
  for (gsize i = 0; i < sizeof bad; i++) /* its NUL, too */
    g_assert_false(tide_csv_is_delimiter(bad[i]));
}

TEST("/csv-lines/any-prefix-and-any-byte")
{
  static const char message[] = "h,\"v \"\"w\"\"\",t\r\nx,-1.5e3,\"1\n2\"\"\",\n,true,\xC3\xA9\ny,2,\r\n";
  static char *none = NULL;
  g_auto(DecoderFixture) named = fixture_of_header(), declared = fixture_of_columns();
  named.options.csv.null_values = &none;
  decoder_fixture_try_prefixes_and_bytes(&named, tide_bytes(message, sizeof message - 1));
  decoder_fixture_try_prefixes_and_bytes(&declared, tide_bytes(message, sizeof message - 1));
}
