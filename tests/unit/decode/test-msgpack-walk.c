#include "decode/layout.h"

#include "unit/decoder_fixture.h"
#include "unit/test_case.h"

TEST("/msgpack-walk/forms-of-messages")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x80", ";"),
      DECODER_CASE("\x90", ""),
      DECODER_CASE("\x81\xA1p\x01", "p=N:1;"),
      DECODER_CASE("\x92\x81\xA1p\x01\x81\xA1p\x02", "p=N:1;p=N:2;"),
      DECODER_CASE("\x81\xA1p\x01\x81\xA1p\x02", "p=N:1;p=N:2;"),
      DECODER_CASE("\xDE\x00\x01\xD9\x01p\x01", "p=N:1;"),
      DECODER_CASE("\xDF\x00\x00\x00\x01\xDA\x00\x01p\x01", "p=N:1;"),
      DECODER_CASE("\xDD\x00\x00\x00\x01\x81\xDB\x00\x00\x00\x01p\x01", "p=N:1;"),
      DECODER_CASE("\xDC\x00\x00", ""),
      DECODER_CASE("\x82\xA1p\x81\xA1q\x01\xA1r\x80", "p/q=N:1;"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/integers-name-members-by-their-digits")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x82\x01\x02\xFF\x03", "1=N:2 -1=N:3;"),
      DECODER_CASE("\x81\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "18446744073709551615=N:1;"),
      DECODER_CASE("\x81\xA1"
                   "a\x81\x07\x01",
                   "a/7=N:1;"),
      DECODER_CASE("\x81\xA1"
                   "a\x91\x81\x07\x01",
                   "a=J:[{\"7\":1}];"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

/* Fluentd's, in its forms of 8 bytes. */
TEST("/msgpack-walk/event-times-are-times")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1v\xD7\x00\x55\x07\x33\x7C\x1D\xCD\x65\x00", "v=N:1426535292.500000000;"),
      DECODER_CASE("\x81\xA1v\xC7\x08\x00\xFF\xFF\xFF\xFF\x00\x00\x00\x00", "v=N:4294967295;"),
      DECODER_CASE("\x81\xA1v\xD7\x00\x55\x07\x33\x7C\x3B\x9A\xCA\x00", "type@3"),
      DECODER_CASE("\x81\xA1v\xD6\x00\x55\x07\x33\x7C", "type@3"),
      DECODER_CASE("\x81\xA1v\xD7\x01\x55\x07\x33\x7C\x1D\xCD\x65\x00", "type@3"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/every-kind-of-value")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1v\xC0", "v=0:;"),
      DECODER_CASE("\x81\xA1v\xC2", "v=B:false;"),
      DECODER_CASE("\x81\xA1v\xC3", "v=B:true;"),
      DECODER_CASE("\x81\xA1v\x7F", "v=N:127;"),
      DECODER_CASE("\x81\xA1v\xE0", "v=N:-32;"),
      DECODER_CASE("\x81\xA1v\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "v=N:18446744073709551615;"),
      DECODER_CASE("\x81\xA1v\xD3\x80\x00\x00\x00\x00\x00\x00\x00", "v=N:-9223372036854775808;"),
      DECODER_CASE("\x81\xA1v\xD0\xFF", "v=N:-1;"),
      DECODER_CASE("\x81\xA1v\xCB\x3F\xB9\x99\x99\x99\x99\x99\x9A", "v=N:0.1;"),
      DECODER_CASE("\x81\xA1v\xCA\x3D\xCC\xCC\xCD", "v=N:0.1;"),
      DECODER_CASE("\x81\xA1v\xA0", "v=S:;"),
      DECODER_CASE("\x81\xA1v\xA3s\x00t", "v=S:s\\x00t;"),
      DECODER_CASE("\x81\xA1v\xC4\x02xy", "v=S:7879;"),
      DECODER_CASE("\x81\xA1v\x93\x01\xA1\"\x81\xA1n\xC0", "v=J:[1,\"\\x5C\"\",{\"n\":null}];"),
      DECODER_CASE("\x81\xA1v\x90", "v=J:[];"),
      /* timestamps: 32, 64 and 96 bits */
      DECODER_CASE("\x81\xA1v\xD6\xFF\x55\x07\x33\x7C", "v=N:1426535292;"),
      DECODER_CASE("\x81\xA1v\xD7\xFF\x77\x35\x94\x00\x55\x07\x33\x7C", "v=N:1426535292.500000000;"),
      DECODER_CASE("\x81\xA1v\xC7\x0C\xFF\x1D\xCD\x65\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "v=N:-0.500000000;"),
      DECODER_CASE("\x81\xA1v\xC7\x0C\xFF\x00\x00\x00\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "v=N:-1;"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/faults-and-their-places")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x01", "parse@0"),
      DECODER_CASE("{\"a\":1}", "parse@0"),
      DECODER_CASE("\xC1", "parse@0"),
      DECODER_CASE("\x91\x01", "parse@1"),
      DECODER_CASE("\x91\x80\x80", "parse@2"),
      DECODER_CASE("\x80\x01", "parse@1"),
      DECODER_CASE("\x81", "parse@1"),
      DECODER_CASE("\x81\xA1p", "parse@3"),
      DECODER_CASE("\x81\xA5p", "parse@3"),
      DECODER_CASE("\x81\xA1p\xCD\x01", "parse@5"),
      DECODER_CASE("\x81\xA1p\xC1", "parse@3"),
      DECODER_CASE("\x81\xC0\x01", "parse@1"),
      DECODER_CASE("\x81\xCB\x3F\xE0\0\0\0\0\0\0\x01", "parse@1"),
      DECODER_CASE("\x82\x01\x01\xA1"
                   "1\x02",
                   "duplicate_field@5"),
      DECODER_CASE("\x81\x90\x01", "parse@1"),
      DECODER_CASE("\x81\xC4\x01p\x01", "parse@1"),
      DECODER_CASE("\x81\xA1", "parse@2"),
      DECODER_CASE("\x81\xA1v\xA2x", "parse@5"),
      DECODER_CASE("\x81\xA1v\xCB\x3F\xE0\0\0\0\0\0", "parse@11"),
      DECODER_CASE("\xDE\x00", "parse@2"),
      DECODER_CASE("\xDF\xFF\xFF\xFF\xFF", "parse@5"),
      DECODER_CASE("\xDD\xFF\xFF\xFF\xFF", "parse@5"),
      DECODER_CASE("\x81\xA1p\xDD\xFF\xFF\xFF\xFF", "parse@8"),
      DECODER_CASE("\x82\xA1p\x01\xA1p\x02", "duplicate_field@6"),
      DECODER_CASE("\x81\xA1p\xC4\x03x\xFF\x00", "p=S:78ff00;"),
      DECODER_CASE("\x81\xA1p\x92\xC4\x01x\xC4\x00", "p=J:[\"78\",\"\"];"),
      DECODER_CASE("\x81\xA1p\xA2x\xFF", "utf8@5"),
      DECODER_CASE("\x81\xA2x\xFF\x01", "utf8@3"),
      DECODER_CASE("\x81\xA1p\x91\xA1\xFF", "utf8@5"),
      DECODER_CASE("\x81\xA1p\xCB\x7F\xF8\x00\x00\x00\x00\x00\x00", "number@3"),
      DECODER_CASE("\x81\xA1p\xCA\xFF\x80\x00\x00", "number@3"),
      DECODER_CASE("\x81\xA1p\xD4\x05\x01", "type@3"),
      DECODER_CASE("\x81\xA1p\xD4\xFF\x01", "type@3"),                             /* no length that a timestamp has */
      DECODER_CASE("\x81\xA1p\xD7\xFF\xFF\xFF\xFF\xFF\x55\x07\x33\x7C", "type@3"), /* too many nanoseconds */
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/bad-readings-alone")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1p\x01\x82\xA1p\x01\xA1p\x02\x81\xA1p\x03", "p=N:1;;p=N:3;"),
      DECODER_CASE("\x82\xA1p\xD4\x05\x01\xA1q\x91\xA1\xFF\x81\xA1p\x03", ";p=N:3;"),
      DECODER_CASE("\x82\xA1\xFF\x01\xA1q\x81\xA1r\x01\x81\xA1p\x03", ";p=N:3;"),
      DECODER_CASE("\x81\xA1p\x01\x81\xA1p\xC1", "parse@7"),
      DECODER_CASE("\x81\xA1p\xD4\x05\x01", "type@3"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/arrays-by-index")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x82\xA1v\x92\x01\x91\xC3\xA1w\x01", "v/0=N:1 v/1/0=B:true w=N:1;"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  fixture.options.arrays = TIDE_ARRAY_INDEX;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/arrays-rejected")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1v\x91\x01", "type@3"),
      DECODER_CASE("\x81\xA1v\x91\x01\x81\xA1v\x02", "type@3"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  fixture.options.arrays = TIDE_ARRAY_REJECT;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  g_assert_nonnull(fixture.reject.remedy);
}

/* Two readings: the array of so many small numbers in the first makes it a bad one, at its begin or within. */
static GByteArray *
message_with_long_array(TideArrayForm arrays, guint32 n)
{
  static const guint8 head[] = {0x81, 0xA1, 'v', 0xDD}, extension[] = {0xD4, 0x05, 0x01},
                      second[] = {0x81, 0xA1, 'v', 0x02};
  GByteArray *message = g_byte_array_new();
  guint32 size = GUINT32_TO_BE(n + 1);
  g_byte_array_append(message, head, sizeof head);
  g_byte_array_append(message, (const guint8 *)&size, sizeof size);
  if (arrays == TIDE_ARRAY_JSON)
    g_byte_array_append(message, extension, sizeof extension);
  for (guint32 i = arrays == TIDE_ARRAY_JSON ? 1 : 0; i <= n; i++)
    g_byte_array_append(message, &(guint8){7}, 1);
  g_byte_array_append(message, second, sizeof second);
  return message;
}

/* The readings of @message, with @scratch to be looked at. (transfer full): what they lie in */
static TideReadingBuilder *
walk(DecoderFixture *fixture, const GByteArray *message, TideScratch *scratch)
{
  TideReadingBuilder *builder = tide_reading_builder_new(&fixture->options, fixture->names, 0, scratch);
  TideLayout *layout = tide_layout_new(&fixture->options);
  TideShaper shaper;
  tide_shaper_init(&shaper, &fixture->options, layout, builder, scratch);
  tide_reading_builder_begin_message(builder, NULL, 0, 0);
  g_assert_true(tide_msgpack_reader.read(&shaper, NULL, tide_bytes(message->data, message->len), &fixture->reject));
  tide_shaper_clear(&shaper);
  tide_layout_free(layout);
  fixture->readings = tide_reading_builder_finish(builder, &fixture->n_readings);
  return builder;
}

/* Beside the copy of the message, whatever the number of elements. */
TEST("/msgpack-walk/a-spoiled-reading-takes-no-memory")
{
  for (TideArrayForm arrays = TIDE_ARRAY_JSON; arrays <= TIDE_ARRAY_REJECT; arrays++) {
    g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
    fixture.options.arrays = arrays;
    fixture.options.on_bad_reading = TIDE_BAD_READING_ALONE;
    fixture.options.max_fields = 8;
    g_autoptr(GByteArray) message = message_with_long_array(arrays, 100000);
    g_auto(TideScratch) scratch = {0};
    TideReadingBuilder *builder = walk(&fixture, message, &scratch);
    g_autofree char *readings = decoder_fixture_readings_text(&fixture);
    g_assert_cmpstr(readings, ==, ";v=N:2;");
    g_assert_null(scratch.outgrown);
    g_assert_cmpuint(scratch.used_bytes, <, message->len + 1024);
    tide_reading_builder_free(builder);
  }
}

/* Numbers in an array whose text is kept are kept in that text alone. */
TEST("/msgpack-walk/numbers-of-an-array-take-its-text")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  g_autoptr(GByteArray) message = message_with_long_array(TIDE_ARRAY_REJECT, 99999);
  g_auto(TideScratch) scratch = {0};
  TideReadingBuilder *builder = walk(&fixture, message, &scratch);
  TideBytes text = fixture.readings[0].fields[0].text;
  g_assert_cmpuint(text.len, ==, 200001);
  g_assert_cmpuint(scratch.used_bytes, <, text.len + 1024);
  tide_reading_builder_free(builder);
}

/* Long enough for the way that takes no call. */
TEST("/msgpack-walk/a-text-that-lacks-its-last-byte")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1p\xA9"
                   "123456789",
                   "p=S:123456789;"),
      DECODER_CASE("\x81\xA1p\xA9"
                   "12345678",
                   "parse@12"),
  };
  decoder_fixture_check_format(TIDE_FORMAT_MSGPACK, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/limits")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("\x81\xA1p\x81\xA1q\x01", "p/q=N:1;"),
      DECODER_CASE("\x81\xA1p\x81\xA1q\x80", "depth@6"),
      DECODER_CASE("\x81\xA1p\x91\x90", "depth@4"),
      DECODER_CASE("\x91\x81\xA1p\x80", "depth@4"),
      DECODER_CASE("\x83\xA1p\x01\xA1q\x01\xA1r\x01", "too_many_fields@9"),
      DECODER_CASE("\x80\x80\x80", "too_large@2"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  fixture.options.max_depth = 2;
  fixture.options.max_fields = 2;
  fixture.options.max_readings = 2;
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/msgpack-walk/any-prefix-and-any-byte")
{
  static const char message[] = "\x85\xA1p\x93\x01\xC0\xA1x\xA1q\xCB\x3F\xB9\x99\x99\x99\x99\x99\x9A\xA1r\x81\xA1s\xC4"
                                "\x01x\xA1t\xD6\xFF\x55\x07\x33\x7C\xA1u\xDC\x00\x01\xC3\x80";
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_MSGPACK);
  decoder_fixture_try_prefixes_and_bytes(&fixture, tide_bytes(message, sizeof message - 1));
}
