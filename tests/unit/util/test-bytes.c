/* Borrowed and owned bytes: order, printing, growth. */
#include "util/bytes.h"

static void
test_order_is_unsigned_and_shorter_first(void)
{
  static const struct {
    TideBytes lower, higher;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), TIDE_BYTES_LITERAL("a")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("b")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("aa")},
      {TIDE_BYTES_LITERAL("az"), TIDE_BYTES_LITERAL("b")},
      {TIDE_BYTES_LITERAL("\x7f"), TIDE_BYTES_LITERAL("\x80")},
      {TIDE_BYTES_LITERAL("\x01"), TIDE_BYTES_LITERAL("\xff")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("a\0")},
      {TIDE_BYTES_LITERAL("a\0a"), TIDE_BYTES_LITERAL("a\0b")},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_cmpint(tide_bytes_compare(cases[i].lower, cases[i].higher), <, 0);
    g_assert_cmpint(tide_bytes_compare(cases[i].higher, cases[i].lower), >, 0);
    g_assert_cmpint(tide_bytes_compare(cases[i].lower, cases[i].lower), ==, 0);
    g_assert_false(tide_bytes_equal(cases[i].lower, cases[i].higher));
    g_assert_true(tide_bytes_equal(cases[i].higher, cases[i].higher));
  }
}

/* Around the lengths at which words, pairs of words and the C library's functions take over. */
static void
test_every_length_is_compared_and_copied(void)
{
  guint8 from[2 * TIDE_SHORT_BYTES], to[sizeof from + 2];
  for (gsize i = 0; i < sizeof from; i++)
    from[i] = (guint8)(i + 1);
  for (gsize len = 0; len <= sizeof from; len++) {
    memset(to, 0xee, sizeof to);
    tide_memory_copy(to + 1, from, len);
    g_assert_true(memcmp(to + 1, from, len) == 0);
    g_assert_cmpuint(to[0], ==, 0xee);
    g_assert_cmpuint(to[len + 1], ==, 0xee);
    g_assert_true(tide_memory_equal(to + 1, from, len));
    for (gsize i = 0; i < len; i++) {
      to[i + 1] ^= 0x80;
      g_assert_false(tide_memory_equal(to + 1, from, len));
      to[i + 1] ^= 0x80;
    }
  }
}

static void
test_null_is_empty(void)
{
  g_assert_true(tide_bytes_equal(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("")));
  g_assert_true(tide_bytes_equal(tide_bytes_of_string(NULL), TIDE_BYTES_EMPTY));
  g_assert_cmpint(tide_bytes_compare(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("")), ==, 0);
  g_assert_cmpint(tide_bytes_compare(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("a")), <, 0);
}

static void
test_printable_as_in_the_hbase_shell(void)
{
  static const struct {
    TideBytes bytes;
    const char *printable, *hex;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), "", ""},
      {TIDE_BYTES_LITERAL("server1#14"), "server1#14",
       "736572766572312331"
       "34"},
      {TIDE_BYTES_LITERAL("a\0b"), "a\\x00b", "610062"},
      {TIDE_BYTES_LITERAL("\\"), "\\x5C", "5c"},
      {TIDE_BYTES_LITERAL("\x1b[31m"), "\\x1B[31m", "1b5b33316d"},
      {TIDE_BYTES_LITERAL(" ~\x7f\x80\xff"), " ~\\x7F\\x80\\xFF", "207e7f80ff"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *printable = tide_bytes_printable(cases[i].bytes);
    g_autofree char *hex = tide_bytes_hex(cases[i].bytes);
    g_assert_cmpstr(printable, ==, cases[i].printable);
    g_assert_cmpstr(hex, ==, cases[i].hex);
    g_auto(TideBuffer) back = {0};
    g_assert_true(tide_bytes_from_hex(hex, strlen(hex), &back));
    g_assert_true(tide_bytes_equal(tide_buffer_bytes(&back), cases[i].bytes));
  }
}

static void
test_what_is_no_hex_adds_nothing(void)
{
  const char *const texts[] = {"0", "0g", "00f", "00 ff", "0x00", "00fg"};
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_byte(&buffer, 'k');
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_assert_false(tide_bytes_from_hex(texts[i], strlen(texts[i]), &buffer));
    g_assert_cmpuint(buffer.len, ==, 1);
  }
  g_assert_true(tide_bytes_from_hex("00fFAb", 6, &buffer));
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_LITERAL("k\0\xff\xab")));
}

static void
test_growth_keeps_what_is_there(void)
{
  g_auto(TideBuffer) buffer = {0};
  for (guint i = 0; i < 100000; i++)
    tide_buffer_append_byte(&buffer, (guint8)(i * 7));
  g_assert_cmpuint(buffer.len, ==, 100000);
  g_assert_cmpuint(buffer.capacity, >=, buffer.len);
  for (guint i = 0; i < 100000; i++)
    g_assert_cmpuint(buffer.data[i], ==, (guint8)(i * 7));
}

static void
test_one_large_append_fits(void)
{
  g_autofree char *large = g_strnfill(1000001, 'x');
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("head"));
  tide_buffer_append(&buffer, large, 1000001);
  tide_buffer_append(&buffer, NULL, 0);
  g_assert_true(tide_bytes_equal(tide_bytes(buffer.data, 4), TIDE_BYTES_LITERAL("head")));
  g_assert_true(tide_bytes_equal(tide_bytes(buffer.data + 4, buffer.len - 4), tide_bytes(large, 1000001)));
}

static void
test_reset_keeps_the_memory(void)
{
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("first"));
  const guint8 *memory = buffer.data;
  tide_buffer_reset(&buffer);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_EMPTY));
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("second"));
  g_assert_true(buffer.data == memory);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_LITERAL("second")));

  tide_buffer_clear_memory(&buffer);
  g_assert_null(buffer.data);
  g_assert_cmpuint(buffer.capacity, ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/bytes/order/is-unsigned-and-shorter-first", test_order_is_unsigned_and_shorter_first);
  g_test_add_func("/bytes/order/null-is-empty", test_null_is_empty);
  g_test_add_func("/bytes/short/every-length-is-compared-and-copied", test_every_length_is_compared_and_copied);
  g_test_add_func("/bytes/print/as-in-the-hbase-shell", test_printable_as_in_the_hbase_shell);
  g_test_add_func("/bytes/what-is-no-hex-adds-nothing", test_what_is_no_hex_adds_nothing);
  g_test_add_func("/buffer/growth-keeps-what-is-there", test_growth_keeps_what_is_there);
  g_test_add_func("/buffer/one-large-append-fits", test_one_large_append_fits);
  g_test_add_func("/buffer/reset-keeps-the-memory", test_reset_keeps_the_memory);
  return g_test_run();
}
