#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

TEST("/influx-lines/a-line-is-a-reading")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("cpu v=1", "measurement=S:cpu v=N:1;"),
      DECODER_CASE("cpu,host=a,dc=x usr=0.5,sys=2i 1434055562000000000",
                   "measurement=S:cpu host=S:a dc=S:x usr=N:0.5 sys=N:2 time=N:1434055562000000000;"),
      DECODER_CASE("cpu v=1 1\ncpu v=2 2\nmem free=3u 3\n", "measurement=S:cpu v=N:1 time=N:1;measurement=S:cpu v=N:2 "
                                                            "time=N:2;measurement=S:mem free=N:3 time=N:3;"),
      DECODER_CASE("cpu v=1 -5", "measurement=S:cpu v=N:1 time=N:-5;"),
      DECODER_CASE("cpu v=1 0012", "measurement=S:cpu v=N:1 time=N:12;"),
      DECODER_CASE("cpu v=1 000", "measurement=S:cpu v=N:1 time=N:0;"),
      DECODER_CASE("\n\n  # a comment, \"\n#\ncpu v=1\n\n", "measurement=S:cpu v=N:1;"),
      DECODER_CASE("  cpu   v=1   7   \r\ncpu v=t\r\n", "measurement=S:cpu v=N:1 time=N:7;measurement=S:cpu v=B:true;"),
      DECODER_CASE("cpu v=1\r", "measurement=S:cpu v=N:1;"),
      DECODER_CASE("\xEF\xBB\xBF"
                   "cpu v=1",
                   "measurement=S:cpu v=N:1;"),
      DECODER_CASE("a=b,c=d e=1", "measurement=S:a=b c=S:d e=N:1;"),
      DECODER_CASE("\xE2\x82\xAC,\xC3\xA9=\xC3\xA8 \xC3\xA4=1",
                   "measurement=S:\\xE2\\x82\\xAC \\xC3\\xA9=S:\\xC3\\xA8 \\xC3\\xA4=N:1;"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_INFLUX, cases, G_N_ELEMENTS(cases));
}

/* Another text for each set of tags, whatever order they came in, and only where it is asked for. */
TEST("/influx-lines/A1-all-tags-of-a-line")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("cpu,host=a,cpu=0 v=1", "measurement=S:cpu host=S:a cpu=S:0 $tags=S:cpu=0,host=a v=N:1;"),
      DECODER_CASE("cpu,cpu=0,host=a v=1\ncpu,host=b v=2",
                   "measurement=S:cpu cpu=S:0 host=S:a $tags=S:cpu=0,host=a v=N:1;"
                   "measurement=S:cpu host=S:b $tags=S:host=b v=N:2;"),
      DECODER_CASE("m v=1", "measurement=S:m $tags=0: v=N:1;"),
      DECODER_CASE("m,b=1\\,a\\=2 v=1", "measurement=S:m b=S:1,a=2 $tags=S:b=1\\x5C,a\\x5C=2 v=N:1;"),
      DECODER_CASE("m,a=2,b=1 v=1", "measurement=S:m a=S:2 b=S:1 $tags=S:a=2,b=1 v=N:1;"),
      DECODER_CASE("m,t=a\\b v=1", "measurement=S:m t=S:a\\x5Cb $tags=S:t=a\\x5C\\x5Cb v=N:1;"),
      DECODER_CASE("m,$tags=1 v=1", "duplicate_field@1"),
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
    decoder_fixture_use(&fixture, "$tags");
    g_autofree char *outcome = decoder_fixture_outcome(&fixture, cases[i].value);
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
  }
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  decoder_fixture_use(&fixture, "$tags");
  g_autoptr(GString) line = g_string_new("m"); /* more than the walk has room for at first */
  for (guint i = 0; i < 40; i++)
    g_string_append_printf(line, ",t%02u=%u", 39 - i, i);
  g_string_append(line, " v=1");
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(line->str)));
  g_assert_cmpuint(fixture.readings[0].n_name_fields, ==, 41);
  TideBytes tags = fixture.readings[0].fields[41].text;
  g_assert_true(tide_bytes_begin_with(tags, TIDE_BYTES_LITERAL("t00=39,t01=38,")));
}

TEST("/influx-lines/every-type-of-value")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("m a=1,b=-1,c=1.5,d=1e3,e=-1E-3", "measurement=S:m a=N:1 b=N:-1 c=N:1.5 d=N:1e3 e=N:-1E-3;"),
      DECODER_CASE("m a=1i,b=-1i,c=1u,d=18446744073709551615u",
                   "measurement=S:m a=N:1 b=N:-1 c=N:1 d=N:18446744073709551615;"),
      DECODER_CASE("m a=.5,b=-.5,c=1.,d=1.e+78,e=007,f=-00.50,g=00,h=-0,i=0.",
                   "measurement=S:m a=N:0.5 b=N:-0.5 c=N:1 d=N:1e+78 e=N:7 f=N:-0.50 g=N:0 h=N:-0 i=N:0;"),
      DECODER_CASE("m a=00i,b=-01i,c=1e05", "measurement=S:m a=N:0 b=N:-1 c=N:1e05;"),
      DECODER_CASE("m a=t,b=T,c=true,d=True,e=TRUE", "measurement=S:m a=B:true b=B:true c=B:true d=B:true e=B:true;"),
      DECODER_CASE("m a=f,b=F,c=false,d=False,e=FALSE 1",
                   "measurement=S:m a=B:false b=B:false c=B:false d=B:false e=B:false time=N:1;"),
      DECODER_CASE("m a=\"\",b=\"x y\",c=\"1i\"", "measurement=S:m a=S: b=S:x y c=S:1i;"),
      DECODER_CASE("m a=\"x,y=z\",b=\"#\" 1", "measurement=S:m a=S:x,y=z b=S:# time=N:1;"),
      DECODER_CASE("m a=\"1\n2\",b=1\nm b=2", "measurement=S:m a=S:1\\x0A2 b=N:1;measurement=S:m b=N:2;"),
      DECODER_CASE("m a=\"s\0t\"", "measurement=S:m a=S:s\\x00t;"),
      DECODER_CASE("m a=-9223372036854775808i,b=9223372036854775807i -9223372036854775808",
                   "measurement=S:m a=N:-9223372036854775808 b=N:9223372036854775807 time=N:-9223372036854775808;"),
      DECODER_CASE("m a=00000000000000000000000000000000000000000000001i 000000000000000000000000000000000000000000001",
                   "measurement=S:m a=N:1 time=N:1;"),
      DECODER_CASE("m a=-9223372036854775809i", "number@4"),
      DECODER_CASE("m a=9223372036854775808i", "number@4"),
      DECODER_CASE("m a=18446744073709551616u", "number@4"),
      DECODER_CASE("m a=1 9223372036854775808", "number@6"),
      DECODER_CASE("m a=1234567890123456789012345678901234567890123456789012345678901234",
                   "measurement=S:m a=N:1234567890123456789012345678901234567890123456789012345678901234;"),
      DECODER_CASE("m a=12345678901234567890123456789012345678901234567890123456789012345", "number@4"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_INFLUX, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/escapes")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("c\\,p\\ u,h\\,o\\=s\\ t=a\\,b\\=c\\ d f\\,g\\=h\\ i=1",
                   "measurement=S:c,p u h,o=s t=S:a,b=c d f,g=h i=N:1;"),
      DECODER_CASE("c\\=p v=1", "measurement=S:c\\x5C=p v=N:1;"), /* no escape in a measurement */
      DECODER_CASE("c\\u,t=a\\b v=1", "measurement=S:c\\x5Cu t=S:a\\x5Cb v=N:1;"),
      DECODER_CASE("m,t=a\\\\,u v=1", "measurement=S:m t=S:a\\x5C,u v=N:1;"), /* only the second escapes */
      DECODER_CASE("m,t=a\\\\\\,b v=1", "measurement=S:m t=S:a\\x5C\\x5C,b v=N:1;"),
      DECODER_CASE("m a=\"\\\"\\\\\\n\\,\"", "measurement=S:m a=S:\"\\x5C\\x5Cn\\x5C,;"),
      DECODER_CASE("m a=\"\\\\\"", "measurement=S:m a=S:\\x5C;"),
      DECODER_CASE("m,t=\"a\" v\"=1", "measurement=S:m t=S:\"a\" v\"=N:1;"), /* a quote is a byte like others there */
  };
  decoder_fixture_check_format(TIDE_FORMAT_INFLUX, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/a-broken-line-is-refused-with-its-place")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\n", "empty@0"),
      DECODER_CASE("# only words\n  ", "empty@0"),
      DECODER_CASE("cpu", "parse@3"),
      DECODER_CASE("cpu\n", "parse@3"),
      DECODER_CASE("cpu ", "parse@4"),
      DECODER_CASE("cpu\\", "parse@4"),
      DECODER_CASE("cpu\\\nm v=1", "parse@4"),
      DECODER_CASE(",host=a v=1", "parse@0"),
      DECODER_CASE("cpu, v=1", "parse@4"),
      DECODER_CASE("cpu,host v=1", "parse@8"),
      DECODER_CASE("cpu,host= v=1", "parse@9"),
      DECODER_CASE("cpu,=a v=1", "parse@4"),
      DECODER_CASE("cpu,host=a=b v=1", "parse@10"),
      DECODER_CASE("cpu,host=a", "parse@10"),
      DECODER_CASE("cpu,host=a,", "parse@11"),
      DECODER_CASE("cpu v", "parse@5"),
      DECODER_CASE("cpu v=", "parse@6"),
      DECODER_CASE("cpu v= 1", "parse@6"),
      DECODER_CASE("cpu =1", "parse@4"),
      DECODER_CASE("cpu v=1,", "parse@8"),
      DECODER_CASE("cpu v=1, w=2", "parse@8"),
      DECODER_CASE("cpu v=x", "parse@6"),
      DECODER_CASE("cpu v=tru", "parse@6"),
      DECODER_CASE("cpu v=truex", "parse@6"),
      DECODER_CASE("cpu v=tRUE", "parse@6"),
      DECODER_CASE("cpu v=NaN", "parse@6"),
      DECODER_CASE("cpu v=-inf", "parse@6"),
      DECODER_CASE("cpu v=+1", "parse@6"),
      DECODER_CASE("cpu v=.", "parse@6"),
      DECODER_CASE("cpu v=1e", "parse@6"),
      DECODER_CASE("cpu v=1e+", "parse@6"),
      DECODER_CASE("cpu v=1.5i", "parse@6"),
      DECODER_CASE("cpu v=1.i", "parse@6"),
      DECODER_CASE("cpu v=1e3u", "parse@6"),
      DECODER_CASE("cpu v=-1u", "parse@6"),
      DECODER_CASE("cpu v=1ii", "parse@6"),
      DECODER_CASE("cpu v=0x1", "parse@6"),
      DECODER_CASE("cpu v=1.2.3", "parse@6"),
      DECODER_CASE("cpu v=i", "parse@6"),
      DECODER_CASE("cpu v=\"x", "parse@6"),
      DECODER_CASE("cpu v=\"x\\\"", "parse@6"),
      DECODER_CASE("cpu v=\"x\"y", "parse@9"),
      DECODER_CASE("cpu v=1 x", "parse@8"),
      DECODER_CASE("cpu v=1 1.5", "parse@8"),
      DECODER_CASE("cpu v=1 1i", "parse@8"),
      DECODER_CASE("cpu v=1 -", "parse@8"),
      DECODER_CASE("cpu v=1 1,w=2", "parse@8"),
      DECODER_CASE("cpu v=1 1 2", "parse@10"),
      DECODER_CASE("cpu v=1\rx", "parse@6"),
      DECODER_CASE("cpu v=1 1\n{}", "parse@12"),
      DECODER_CASE("{\"a\":1}", "parse@7"),
      DECODER_CASE("cpu v=1,v=2", "duplicate_field@10"),
      DECODER_CASE("cpu,v=a v=2", "duplicate_field@10"),
      DECODER_CASE("cpu,measurement=a v=2", "duplicate_field@16"),
      DECODER_CASE("cpu,time=a v=2", "duplicate_field@4"),
      DECODER_CASE("cpu v=2,time=5", "duplicate_field@8"),
      DECODER_CASE("cpu v=1\ncpu v=\"\xFF\"", "utf8@15"),
      DECODER_CASE("cpu v=x\ncpu v=\"\xFF\"", "parse@6"),
      DECODER_CASE("c\xC0pu v=x", "utf8@1"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_INFLUX, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/a-broken-line-alone")
{
  static const DecoderAloneCase cases[] = {
      {TIDE_BYTES_LITERAL("m v=1\nm v=x\nm v=3"), "measurement=S:m v=N:1;;measurement=S:m v=N:3;", "parse@10 1;"},
      {TIDE_BYTES_LITERAL("oops\nm v=1"), ";measurement=S:m v=N:1;", "parse@4 0;"},
      {TIDE_BYTES_LITERAL("m v=1\noops"), "measurement=S:m v=N:1;;", "parse@10 1;"},
      {TIDE_BYTES_LITERAL("m v=x\nm v=y\n"), ";;", "parse@4 0;parse@10 1;"},
      /* a fault before a text in quotes, whose line break ends no line */
      {TIDE_BYTES_LITERAL("m,t v=\"1\n2\",w=1\nm v=1"), ";measurement=S:m v=N:1;", "parse@3 0;"},
      /* a quote that begins no value says nothing */
      {TIDE_BYTES_LITERAL("m\"x\nm v=1"), ";measurement=S:m v=N:1;", "parse@3 0;"},
      {TIDE_BYTES_LITERAL("m v=x\"\nm v=1"), ";measurement=S:m v=N:1;", "parse@4 0;"},
      {TIDE_BYTES_LITERAL("m v=1,t=\"a\\\"\nb\" x\nm v=1"), ";measurement=S:m v=N:1;", "parse@16 0;"},
      {TIDE_BYTES_LITERAL("m v\\=\"x\nm v=1"), ";measurement=S:m v=N:1;", "parse@7 0;"},
      {TIDE_BYTES_LITERAL("m v=1,v=2 5\nm v=1"), ";measurement=S:m v=N:1;", "duplicate_field@8 0;"},
      {TIDE_BYTES_LITERAL("m v=1\nm v=\"\xFF\"\nm v=2\n"), "measurement=S:m v=N:1;;measurement=S:m v=N:2;",
       "utf8@11 1;"},
      /* where a text does not end, nobody knows where the next line begins */
      {TIDE_BYTES_LITERAL("m v=1\nm v=\"a\nm v=2\n"), "parse@10", NULL},
      {TIDE_BYTES_LITERAL("m v=x"), "parse@4", NULL},
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  decoder_fixture_check_alone(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/limits")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("m a=1,b=2", "measurement=S:m a=N:1 b=N:2;"),
      DECODER_CASE("m a=1,b=2,c=3", "too_many_fields@12"),
      DECODER_CASE("m a=1,b=2 5", "too_many_fields@10"), /* the time is one */
      DECODER_CASE("m a=1\nm a=2", "measurement=S:m a=N:1;measurement=S:m a=N:2;"),
      DECODER_CASE("m a=1\nm a=2\n#\n", "measurement=S:m a=N:1;measurement=S:m a=N:2;"),
      DECODER_CASE("m a=1\nm a=2\nm a=3", "too_large@12"),
      DECODER_CASE("m a=\"1234567890123456789012345678901234567890\"", "too_large@-1"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  fixture.options.max_fields = 3;
  fixture.options.max_readings = 2;
  fixture.options.max_message_bytes = 40;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/a-long-name-is-refused")
{
  g_autofree char *name = g_strnfill(TIDE_FIELD_NAME_MAX_BYTES, 'n');
  g_autofree char *good = g_strdup_printf("m %s=1", name);
  g_autofree char *bad = g_strdup_printf("m %sn=1", name);
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  g_assert_true(decoder_fixture_decode(&fixture, tide_bytes_of_string(good)));
  g_assert_false(decoder_fixture_decode(&fixture, tide_bytes_of_string(bad)));
  g_assert_cmpint(fixture.reject.reason, ==, TIDE_REJECT_TOO_LARGE);
}

TEST("/influx-lines/booleans-as-numbers")
{
  static const DecoderCase cases[] = {DECODER_CASE("m a=T,b=false", "measurement=S:m a=B:1 b=B:0;")};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  fixture.options.booleans = TIDE_BOOLEAN_NUMBER;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/influx-lines/known-fields-and-those-of-the-record")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  TideNameId time = decoder_fixture_use(&fixture, "time");
  decoder_fixture_use(&fixture, "$topic");
  TideBytes value = TIDE_BYTES_LITERAL("m v=1 5\nm v=2");
  g_autofree char *outcome = decoder_fixture_outcome(&fixture, value);
  g_assert_cmpstr(outcome, ==,
                  "measurement=S:m v=N:1 time=N:5 $topic=S:metrics;measurement=S:m v=N:2 $topic=S:metrics;");
  g_assert_nonnull(tide_reading_field(&fixture.readings[0], time));
  g_assert_null(tide_reading_field(&fixture.readings[1], time));
}

TEST("/influx-lines/any-prefix-and-any-byte")
{
  static const char message[] = "m\\ x,t=a\\=b v=1i,s=\"a\\\"\nb\",b=true,f=-1.5e3 123\n# x\nm v=2\r\n";
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_INFLUX);
  decoder_fixture_try_prefixes_and_bytes(&fixture, tide_bytes(message, sizeof message - 1));
}
