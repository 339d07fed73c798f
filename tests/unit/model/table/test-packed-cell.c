#include "model/table/packed_cell.h"

#include "unit/allocation_counter.h"
#include "unit/reading_fixture.h"

typedef struct Member {
  const char *name;
  TideValueKind kind;
  const char *text;
} Member;

static void
pack(TidePacking packing, const Member *members, gsize n_members, TideBuffer *out)
{
  TidePacker packer;
  tide_packer_begin(&packer, packing, out);
  for (gsize i = 0; i < n_members; i++)
    tide_packer_add(&packer, tide_bytes_of_string(members[i].name), members[i].kind,
                    tide_bytes_of_string(members[i].text));
  g_assert_true(tide_packer_end(&packer));
}

static const Member members[] = {
    {"host", TIDE_VALUE_STRING, "db \"1\"\n"},
    {"n", TIDE_VALUE_NUMBER, "600.550"},
    {"up", TIDE_VALUE_BOOL, "true"},
    {"b", TIDE_VALUE_BOOL, "0"},
    {"x", TIDE_VALUE_NULL, ""},
    {"l", TIDE_VALUE_JSON, "[1, {}]"},
};

static void
test_json_has_the_fields_as_they_came(void)
{
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "#", 1);
  pack(TIDE_PACK_JSON, members, G_N_ELEMENTS(members), &out);
  assert_same_bytes(tide_buffer_bytes(&out),
                    TIDE_BYTES_LITERAL("#{\"host\":\"db \\\"1\\\"\\n\",\"n\":600.550,\"up\":true,\"b\":0,\"x\":null,"
                                       "\"l\":[1, {}]}"));
}

static void
test_msgpack_has_the_fields_by_their_kind(void)
{
  g_auto(TideBuffer) out = {0};
  tide_buffer_append(&out, "#", 1);
  pack(TIDE_PACK_MSGPACK, members, G_N_ELEMENTS(members), &out);
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("#\xDF\0\0\0\x06"
                                                                "\xA4host\xA7"
                                                                "db \"1\"\n"
                                                                "\xA1n\xA7"
                                                                "600.550"
                                                                "\xA2up\xC3"
                                                                "\xA1"
                                                                "b\0"
                                                                "\xA1x\xC0"
                                                                "\xA1l\xA7[1, {}]"));
}

/* A number is one in MessagePack only where it is printed from there as it was written. */
static void
test_msgpack_keeps_the_text_of_numbers(void)
{
  static const struct {
    const char *text;
    TideBytes packed; /* empty: as text */
  } cases[] = {
      {"0", TIDE_BYTES_LITERAL("\0")},
      {"127", TIDE_BYTES_LITERAL("\x7F")},
      {"128", TIDE_BYTES_LITERAL("\xCC\x80")},
      {"-1", TIDE_BYTES_LITERAL("\xFF")},
      {"-129", TIDE_BYTES_LITERAL("\xD1\xFF\x7F")},
      {"18446744073709551615", TIDE_BYTES_LITERAL("\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")},
      {"18446744073709551616", TIDE_BYTES_EMPTY},
      {"-9223372036854775808", TIDE_BYTES_LITERAL("\xD3\x80\0\0\0\0\0\0\0")},
      {"-9223372036854775809", TIDE_BYTES_EMPTY},
      {"0.5", TIDE_BYTES_LITERAL("\xCB\x3F\xE0\0\0\0\0\0\0")},
      {"-1.5", TIDE_BYTES_LITERAL("\xCB\xBF\xF8\0\0\0\0\0\0")},
      {"1e+22", TIDE_BYTES_LITERAL("\xCB\x44\x80\xF0\xCF\x06\x4D\xD5\x92")},
      {"0.30000000000000004", TIDE_BYTES_LITERAL("\xCB\x3F\xD3\x33\x33\x33\x33\x33\x34")},
      {"-0", TIDE_BYTES_LITERAL("\xCB\x80\0\0\0\0\0\0\0")},
      {"0.0001", TIDE_BYTES_LITERAL("\xCB\x3F\x1A\x36\xE2\xEB\x1C\x43\x2D")},
      {"0.00001", TIDE_BYTES_EMPTY}, /* would be printed 1e-05 */
      {"600.550", TIDE_BYTES_EMPTY},
      {"1.0", TIDE_BYTES_EMPTY},
      {"-0.0", TIDE_BYTES_EMPTY},
      {"1e3", TIDE_BYTES_EMPTY},
      {"1E+22", TIDE_BYTES_EMPTY},
      {"1e999", TIDE_BYTES_EMPTY},
      {"0.1234567890123456789", TIDE_BYTES_EMPTY},
      {"1234567890123456789012345678901234567890", TIDE_BYTES_EMPTY},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0}, expected = {0};
    gsize len = strlen(cases[i].text);
    g_test_message("%s", cases[i].text);
    tide_buffer_append(&expected, "\xDF\0\0\0\x01\xA1n", 7);
    tide_buffer_append_bytes(&expected, cases[i].packed);
    if (cases[i].packed.len == 0) {
      if (len > 31)
        tide_buffer_append_byte(&expected, 0xD9);
      tide_buffer_append_byte(&expected, (guint8)(len > 31 ? len : 0xA0 | len));
      tide_buffer_append(&expected, cases[i].text, len);
    }
    pack(TIDE_PACK_MSGPACK, &(Member){"n", TIDE_VALUE_NUMBER, cases[i].text}, 1, &out);
    assert_same_bytes(tide_buffer_bytes(&out), tide_buffer_bytes(&expected));
  }
}

static void
test_bytes_that_are_no_text(void)
{
  g_auto(TideBuffer) json = {0}, msgpack = {0};
  TideBytes bytes = TIDE_BYTES_LITERAL("\xFFkey");
  TidePacker packer;
  tide_packer_begin(&packer, TIDE_PACK_JSON, &json);
  tide_packer_add(&packer, TIDE_BYTES_LITERAL("k"), TIDE_VALUE_STRING, bytes);
  g_assert_true(tide_packer_end(&packer));
  assert_same_bytes(tide_buffer_bytes(&json), TIDE_BYTES_LITERAL("{\"k\":\"\xEF\xBF\xBDkey\"}"));
  tide_packer_begin(&packer, TIDE_PACK_MSGPACK, &msgpack);
  tide_packer_add(&packer, TIDE_BYTES_LITERAL("k"), TIDE_VALUE_STRING, bytes);
  g_assert_true(tide_packer_end(&packer));
  assert_same_bytes(tide_buffer_bytes(&msgpack), TIDE_BYTES_LITERAL("\xDF\0\0\0\x01\xA1k\xC4\x04\xFFkey"));
}

static void
test_nothing_added_leaves_nothing(void)
{
  for (int packing = TIDE_PACK_JSON; packing <= TIDE_PACK_MSGPACK; packing++) {
    g_auto(TideBuffer) out = {0};
    TidePacker packer;
    tide_buffer_append(&out, "row", 3);
    tide_packer_begin(&packer, (TidePacking)packing, &out);
    g_assert_false(tide_packer_end(&packer));
    assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("row"));
  }
}

static void
test_packing_allocates_nothing(void)
{
  g_auto(TideBuffer) out = {0};
  tide_buffer_reserve(&out, 4096);
  guint64 n_before = allocation_count;
  pack(TIDE_PACK_JSON, members, G_N_ELEMENTS(members), &out);
  pack(TIDE_PACK_MSGPACK, members, G_N_ELEMENTS(members), &out);
  g_assert_cmpuint(allocation_count, ==, n_before);
}

/* For `-m perf`: prints what packing ten metrics costs. */
static void
test_cost(void)
{
  static const char *const texts[] = {"0.02", "17", "600.550", "0.30000000000000004", "server1.bbb.com"};
  if (!g_test_perf()) {
    g_test_skip("a measurement: run with -m perf");
    return;
  }
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    Member ten[10];
    for (gsize k = 0; k < G_N_ELEMENTS(ten); k++)
      ten[k] = (Member){"CPU/CPU1_USR", i < 4 ? TIDE_VALUE_NUMBER : TIDE_VALUE_STRING, texts[i]};
    for (int packing = TIDE_PACK_JSON; packing <= TIDE_PACK_MSGPACK; packing++) {
      g_auto(TideBuffer) out = {0};
      gint64 began_us = g_get_monotonic_time();
      for (int n = 0; n < 100000; n++) {
        tide_buffer_reset(&out);
        pack((TidePacking)packing, ten, G_N_ELEMENTS(ten), &out);
      }
      double each_ns = (double)(g_get_monotonic_time() - began_us) / 100;
      g_test_minimized_result(each_ns, "10 x %s as %s: %.0f ns", texts[i],
                              packing == TIDE_PACK_JSON ? "JSON" : "MessagePack", each_ns);
    }
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/packed-cell/json", test_json_has_the_fields_as_they_came);
  g_test_add_func("/packed-cell/msgpack", test_msgpack_has_the_fields_by_their_kind);
  g_test_add_func("/packed-cell/msgpack-numbers", test_msgpack_keeps_the_text_of_numbers);
  g_test_add_func("/packed-cell/bytes-that-are-no-text", test_bytes_that_are_no_text);
  g_test_add_func("/packed-cell/nothing-added", test_nothing_added_leaves_nothing);
  g_test_add_func("/packed-cell/allocates-nothing", test_packing_allocates_nothing);
  g_test_add_func("/packed-cell/cost", test_cost);
  return g_test_run();
}
