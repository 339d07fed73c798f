#include "decode/msgpack_value.h"
#include "unit/test_case.h"
#include "util/error.h"

static const TideMsgpackLimits limits = {.max_depth = 4, .max_members = 16};

TEST("/msgpack-value/whole-maps")
{
  static const TideBytes values[] = {
      TIDE_BYTES_LITERAL("\x80"),
      TIDE_BYTES_LITERAL("\xDE\0\0"),
      TIDE_BYTES_LITERAL("\xDF\0\0\0\x01\xA1n\x7F"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xE0"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC0"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC4\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC5\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC6\0\0\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC7\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC8\0\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xC9\0\0\0\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCAwxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCBstuvwxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCCz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCDyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCEwxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xCFstuvwxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD0z"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD1yz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD2wxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD3stuvwxyz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD4t1"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD5t12"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD6t1234"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD7t12345678"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD8t1234567890123456"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xD9\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xDA\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xDB\0\0\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xDC\0\x02\x01\x02"),
      TIDE_BYTES_LITERAL("\x81\xA1n\xDD\0\0\0\x02\x01\x02"),
      TIDE_BYTES_LITERAL("\x81\xA1n\x91\x91\x91\x90"),
  };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autoptr(GError) error = NULL;
    gboolean is_good = tide_msgpack_check_map(values[i], limits, &error);
    g_assert_no_error(error);
    g_assert_true(is_good);
    /* Each of them with a byte less, from its end, or with one more, is refused. */
    for (gsize len = 0; len < values[i].len; len++)
      g_assert_false(tide_msgpack_check_map(tide_bytes(values[i].data, len), limits, NULL));
    g_autofree guint8 *longer = g_malloc0(values[i].len + 1);
    memcpy(longer, values[i].data, values[i].len);
    g_assert_false(tide_msgpack_check_map(tide_bytes(longer, values[i].len + 1), limits, NULL));
  }
}

TEST("/msgpack-value/others")
{
  static const struct {
    TideBytes value;
    const char *fault;
  } cases[] = {
      {{NULL, 0}, "does not begin as a map, at byte 0"},
      {TIDE_BYTES_LITERAL("\x90"), "does not begin as a map, at byte 0"},
      {TIDE_BYTES_LITERAL("\x81\xA1n\xC1"), "cannot begin a value, at byte 3"},
      {TIDE_BYTES_LITERAL("\x81\xA1n"), "ends within a value, at byte 3"},
      {TIDE_BYTES_LITERAL("\x80\x80"), "bytes after the map, at byte 1"},
      {TIDE_BYTES_LITERAL("\xDE\0\x11"), "too many members"},
      {TIDE_BYTES_LITERAL("\xDF\xFF\xFF\xFF\xFF"), "too many members"},
      {TIDE_BYTES_LITERAL("\x81\xA1n\x91\x91\x91\x91\x01"), "nested too deeply"},
      {TIDE_BYTES_LITERAL("\x81\xA1n\xDD\xFF\xFF\xFF\xFF\x01"), "ends within a value, at byte 9"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("%s", cases[i].fault);
    g_assert_false(tide_msgpack_check_map(cases[i].value, limits, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
  }
}
