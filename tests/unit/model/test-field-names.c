#include "model/field_names.h"

static void
test_same_name_has_same_id(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  for (guint32 i = 0; i < 5000; i++) {
    g_autofree char *name = g_strdup_printf("CPU/CPU%u_USR", i);
    g_assert_cmpuint(tide_field_names_find(names, tide_bytes_of_string(name)), ==, TIDE_NAME_NONE);
    g_assert_cmpuint(tide_field_names_intern(names, tide_bytes_of_string(name)), ==, i);
  }
  for (guint32 i = 0; i < 5000; i++) {
    g_autofree char *name = g_strdup_printf("CPU/CPU%u_USR", i);
    g_assert_cmpuint(tide_field_names_intern(names, tide_bytes_of_string(name)), ==, i);
    g_assert_cmpuint(tide_field_names_find(names, tide_bytes_of_string(name)), ==, i);
    g_assert_true(tide_bytes_equal(tide_field_names_text(names, i), tide_bytes_of_string(name)));
  }
  g_assert_cmpuint(tide_field_names_count(names), ==, 5000);
}

static void
test_any_bytes_are_a_name(void)
{
  static const TideBytes cases[] = {
      {NULL, 0},
      {(const guint8 *)"\0", 1},
      {(const guint8 *)"a\0b", 3},
      {(const guint8 *)"a\0c", 3},
      {(const guint8 *)"a", 1},
      {(const guint8 *)"\xff\xfe", 2},
  };
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  for (guint32 i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpuint(tide_field_names_intern(names, cases[i]), ==, i);
  for (guint32 i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_cmpuint(tide_field_names_find(names, cases[i]), ==, i);
    g_assert_true(tide_bytes_equal(tide_field_names_text(names, i), cases[i]));
  }
}

static void
test_text_stays_where_it_is(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  TideNameId first = tide_field_names_intern(names, TIDE_BYTES_LITERAL("first"));
  const guint8 *text = tide_field_names_text(names, first).data;
  for (guint32 i = 0; i < 10000; i++) {
    g_autofree char *name = g_strdup_printf("name-%u", i);
    g_assert_cmpuint(tide_field_names_intern(names, tide_bytes_of_string(name)), !=, TIDE_NAME_NONE);
  }
  g_assert_true(tide_field_names_text(names, first).data == text);
}

static void
test_copy_has_the_same_ids_and_grows_alone(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  TideNameId host = tide_field_names_intern(names, TIDE_BYTES_LITERAL("host"));
  TideNameId ts = tide_field_names_intern(names, TIDE_BYTES_LITERAL("ts"));
  g_autoptr(TideFieldNames) copy = tide_field_names_copy(names);
  g_assert_cmpuint(tide_field_names_find(copy, TIDE_BYTES_LITERAL("host")), ==, host);
  g_assert_cmpuint(tide_field_names_find(copy, TIDE_BYTES_LITERAL("ts")), ==, ts);
  g_assert_cmpuint(tide_field_names_intern(copy, TIDE_BYTES_LITERAL("new")), ==, 2);
  g_assert_cmpuint(tide_field_names_find(names, TIDE_BYTES_LITERAL("new")), ==, TIDE_NAME_NONE);
}

static void
test_number_of_names_is_bounded(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  for (guint32 i = 0; i < TIDE_FIELD_NAMES_MAX; i++)
    g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(&i, sizeof i)), ==, i);
  g_assert_cmpuint(tide_field_names_intern(names, TIDE_BYTES_LITERAL("one too many")), ==, TIDE_NAME_NONE);
  guint32 last = TIDE_FIELD_NAMES_MAX - 1;
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(&last, sizeof last)), ==, last);
}

static void
test_bytes_of_names_are_bounded(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autofree guint8 *big = g_malloc0(TIDE_FIELD_NAMES_MAX_BYTES + 1);
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(big, TIDE_FIELD_NAMES_MAX_BYTES + 1)), ==, TIDE_NAME_NONE);
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(big, TIDE_FIELD_NAMES_MAX_BYTES)), ==, 0);
  g_assert_cmpuint(tide_field_names_intern(names, TIDE_BYTES_LITERAL("x")), ==, TIDE_NAME_NONE);
  g_assert_cmpuint(tide_field_names_count(names), ==, 1);
}

static void
test_unknown_id_has_no_text(void)
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_assert_cmpuint(tide_field_names_text(names, 0).len, ==, 0);
  g_assert_cmpuint(tide_field_names_text(names, TIDE_NAME_NONE).len, ==, 0);
}

static void
test_names_of_the_record(void)
{
  static const struct {
    const char *name;
    gboolean is_of_record;
  } cases[] = {
      {"$key", TRUE},       {"$topic", TRUE},    {"$partition", TRUE}, {"$offset", TRUE}, {"$timestamp", TRUE},
      {"$header.id", TRUE}, {"$header.", FALSE}, {"$header", FALSE},   {"$price", FALSE}, {"$", FALSE},
      {"", FALSE},          {"key", FALSE},      {"$keys", FALSE},     {"x$key", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(tide_field_name_is_of_record(tide_bytes_of_string(cases[i].name)), ==, cases[i].is_of_record);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/field-names/same-name-has-same-id", test_same_name_has_same_id);
  g_test_add_func("/field-names/any-bytes-are-a-name", test_any_bytes_are_a_name);
  g_test_add_func("/field-names/text-stays-where-it-is", test_text_stays_where_it_is);
  g_test_add_func("/field-names/copy-has-the-same-ids-and-grows-alone", test_copy_has_the_same_ids_and_grows_alone);
  g_test_add_func("/field-names/number-of-names-is-bounded", test_number_of_names_is_bounded);
  g_test_add_func("/field-names/bytes-of-names-are-bounded", test_bytes_of_names_are_bounded);
  g_test_add_func("/field-names/unknown-id-has-no-text", test_unknown_id_has_no_text);
  g_test_add_func("/field-names/names-of-the-record", test_names_of_the_record);
  return g_test_run();
}
