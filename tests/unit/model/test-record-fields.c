/* What the record itself offers as fields. */
#include "unit/decoder_fixture.h"

/* One header. */
typedef struct Header {
  const char *name;
  TideBytes value;
} Header;

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  const Header *header = message->headers;
  if (!g_str_equal(header->name, name))
    return FALSE;
  *ret_value = header->value;
  return TRUE;
}

static const Header site_header = {"site", TIDE_BYTES_LITERAL("de-1")};

static void
fill_record(DecoderFixture *fixture)
{
  fixture->message.key = TIDE_BYTES_LITERAL("k\xFF\0z");
  fixture->message.partition = 7;
  fixture->message.offset = G_MAXINT64;
  fixture->message.timestamp_ms = 1426535612045;
  fixture->message.find_header = find_header;
  fixture->message.headers = &site_header;
}

static void
test_every_part_is_appended_to_each_reading(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("[{\"a\":1},{}]", "a=N:1 $key=S:k\\xFF\\x00z $topic=S:metrics $partition=N:7 "
                                     "$offset=N:9223372036854775807 $timestamp=N:1426535612045 $header.site=S:de-1;"
                                     "$key=S:k\\xFF\\x00z $topic=S:metrics $partition=N:7 "
                                     "$offset=N:9223372036854775807 $timestamp=N:1426535612045 $header.site=S:de-1;"),
      DECODER_CASE("[]", ""),
  };
  g_auto(DecoderFixture) fixture;
  decoder_fixture_init(&fixture);
  TideNameId key = decoder_fixture_use(&fixture, "$key");
  static const char *const others[] = {"$topic", "$partition", "$offset", "$timestamp", "$header.site", "$header.no"};
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    decoder_fixture_use(&fixture, others[i]);
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));

  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"a\":1}")));
  g_assert_true(tide_reading_field(&fixture.readings[0], key) == &fixture.readings[0].fields[1]);
}

static void
test_only_those_that_are_used_appear(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":1}", "a=N:1 $offset=N:9223372036854775807;"),
      DECODER_CASE("{\"$key\":1,\"$x\":2}", "$key=N:1 $x=N:2 $offset=N:9223372036854775807;"),
  };
  g_auto(DecoderFixture) fixture;
  decoder_fixture_init(&fixture);
  decoder_fixture_use(&fixture, "a");
  decoder_fixture_use(&fixture, "$offset");
  decoder_fixture_use(&fixture, "$other");
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

static void
test_what_the_record_lacks_is_absent(void)
{
  static const DecoderCase cases[] = {DECODER_CASE("{\"a\":1}", "a=N:1;")};
  g_auto(DecoderFixture) fixture;
  decoder_fixture_init(&fixture);
  TideNameId key = decoder_fixture_use(&fixture, "$key");
  decoder_fixture_use(&fixture, "$timestamp");
  decoder_fixture_use(&fixture, "$header.site");
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  g_assert_null(tide_reading_field(&fixture.readings[0], key));
}

static void
test_a_field_of_a_used_name_is_a_duplicate(void)
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"$key\":\"forged\"}", "duplicate_field@0"),
      DECODER_CASE("{} {\"a\":1,\"$key\":{\"b\":1}}", "duplicate_field@3"),
      DECODER_CASE("{\"a\":{\"$key\":1}}", "a/$key=N:1 $key=S:k\\xFF\\x00z;"),
  };
  g_auto(DecoderFixture) fixture;
  decoder_fixture_init(&fixture);
  decoder_fixture_use(&fixture, "$key");
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

/* A27 */
static void
test_a_huge_binary_header_is_taken_as_bytes(void)
{
  g_autofree guint8 *bytes = g_malloc(1024 * 1024);
  memset(bytes, 0xFE, 1024 * 1024);
  bytes[10] = 0;
  const Header huge = {"blob", tide_bytes(bytes, 1024 * 1024)};
  g_auto(DecoderFixture) fixture;
  decoder_fixture_init(&fixture);
  TideNameId blob = decoder_fixture_use(&fixture, "$header.blob");
  fixture.message.find_header = find_header;
  fixture.message.headers = &huge;
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{}")));
  g_assert_true(tide_bytes_equal(tide_reading_field(&fixture.readings[0], blob)->text, huge.value));
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func("/record-fields/" name, function)
  ADD("every-part-is-appended-to-each-reading", test_every_part_is_appended_to_each_reading);
  ADD("only-those-that-are-used-appear", test_only_those_that_are_used_appear);
  ADD("what-the-record-lacks-is-absent", test_what_the_record_lacks_is_absent);
  ADD("a-field-of-a-used-name-is-a-duplicate", test_a_field_of_a_used_name_is_a_duplicate);
  ADD("a-huge-binary-header-is-taken-as-bytes", test_a_huge_binary_header_is_taken_as_bytes);
#undef ADD
  return g_test_run();
}
