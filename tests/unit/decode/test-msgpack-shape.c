#include "decode/msgpack_shape.h"
#include "util/error.h"

static const TideMsgpackLimits limits = {.max_depth = 4, .max_members = 16};

static void
test_whole_maps_are_taken(void)
{
  static const TideBytes values[] = {
      TIDE_BYTES_LITERAL("\x80"),
      TIDE_BYTES_LITERAL("\xDE\0\0"),
      TIDE_BYTES_LITERAL("\xDF\0\0\0\x01\xA1"
                         "a\x7F"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xE0"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC0"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC4\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC5\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC6\0\0\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC7\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC8\0\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xC9\0\0\0\x02\x01zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCA"
                         "1234"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCB"
                         "12345678"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCC"
                         "1"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCD"
                         "12"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCE"
                         "1234"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xCF"
                         "12345678"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD0"
                         "1"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD1"
                         "12"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD2"
                         "1234"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD3"
                         "12345678"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD4t1"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD5t12"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD6t1234"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD7t12345678"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD8t1234567890123456"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xD9\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xDA\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xDB\0\0\0\x02zz"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xDC\0\x02\x01\x02"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\xDD\0\0\0\x02\x01\x02"),
      TIDE_BYTES_LITERAL("\x81\xA1"
                         "a\x91\x91\x91\x90"),
  };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autoptr(GError) error = NULL;
    gboolean is_good = tide_msgpack_shape_check(values[i], limits, &error);
    g_assert_no_error(error);
    g_assert_true(is_good);
    /* Each of them with a byte less, from its end, or with one more, is refused. */
    for (gsize len = 0; len < values[i].len; len++)
      g_assert_false(tide_msgpack_shape_check(tide_bytes(values[i].data, len), limits, NULL));
    g_autofree guint8 *longer = g_malloc0(values[i].len + 1);
    memcpy(longer, values[i].data, values[i].len);
    g_assert_false(tide_msgpack_shape_check(tide_bytes(longer, values[i].len + 1), limits, NULL));
  }
}

static void
test_others_are_refused_with_what_and_where(void)
{
  static const struct {
    TideBytes value;
    const char *fault;
  } cases[] = {
      {{NULL, 0}, "does not begin as a map, at byte 0"},
      {TIDE_BYTES_LITERAL("\x90"), "does not begin as a map, at byte 0"},
      {TIDE_BYTES_LITERAL("\x81\xA1"
                          "a\xC1"),
       "begins no value, at byte 3"},
      {TIDE_BYTES_LITERAL("\x81\xA1"
                          "a"),
       "ends in the middle of a value, at byte 3"},
      {TIDE_BYTES_LITERAL("\x80\x80"), "bytes after the map, at byte 1"},
      {TIDE_BYTES_LITERAL("\xDE\0\x11"), "too many members"},
      {TIDE_BYTES_LITERAL("\xDF\xFF\xFF\xFF\xFF"), "too many members"},
      {TIDE_BYTES_LITERAL("\x81\xA1"
                          "a\x91\x91\x91\x91\x01"),
       "nested too deeply"},
      {TIDE_BYTES_LITERAL("\x81\xA1"
                          "a\xDD\xFF\xFF\xFF\xFF\x01"),
       "ends in the middle of a value, at byte 9"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("%s", cases[i].fault);
    g_assert_false(tide_msgpack_shape_check(cases[i].value, limits, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/msgpack-shape/whole-maps", test_whole_maps_are_taken);
  g_test_add_func("/msgpack-shape/others", test_others_are_refused_with_what_and_where);
  return g_test_run();
}
