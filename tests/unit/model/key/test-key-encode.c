/* Texts that need not identify anything: qualifiers, values, names of tables. test-row-key.c has the keys. */
#include "model/key/row_key.h"

#include "unit/key_schemes.h"

#define EVENT_NS (G_GINT64_CONSTANT(1426535612045) * 1000000)

#define NAME()                                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_NAME                                                                                              \
  }
#define NAME_UPPER_STRIPPED()                                                                                          \
  {                                                                                                                    \
    .kind = TIDE_KEY_NAME, .spelling.text_case = TIDE_CASE_UPPER, .spelling.strip_spaces = TRUE                        \
  }

static void
test_texts(void)
{
  static const struct {
    TideKeyPartSpec specs[4];
    gsize n_specs;
    gboolean is_constant;
    const char *expected;
  } cases[] = {
      {{LITERAL("ts")}, 1, TRUE, "ts"},
      {{LITERAL("CPU/"), NAME_UPPER_STRIPPED()}, 2, TRUE, "CPU/CPU1_USR"},
      {{NAME(), LITERAL("#"), FIELD(LANE)}, 3, FALSE, "cpu1 _usr#7"},
      {{FIELD(LANE), FIELD(USER)}, 2, FALSE, "7a#b"}, /* nobody asks where one ends */
      {{FIELD(USER), LITERAL("#"), TIME(S)}, 3, FALSE, "a#b#1426535612"},
      {{TIME(MS)}, 1, FALSE, "1426535612045"},
  };
  g_auto(ReadingFixture) fixture;
  key_scheme_fixture_init(&fixture);
  reading_fixture_set(&fixture, "lane", "7");
  reading_fixture_set(&fixture, "user", "a#b");
  fixture.reading.event_time_ns = EVENT_NS;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideBuffer) out = {0};
    gsize bad_part;
    TideReject reject;
    g_autoptr(TideRowKey) text = tide_key_text_compile(cases[i].specs, cases[i].n_specs, TRUE, &bad_part, &error);
    g_assert_no_error(error);
    g_assert_cmpint(tide_key_text_is_constant(text), ==, cases[i].is_constant);
    g_assert_true(tide_key_text_append(text, &fixture.reading, TIDE_BYTES_LITERAL("cpu1 _usr"), &out, &reject));
    assert_same_bytes(tide_buffer_bytes(&out), tide_bytes_of_string(cases[i].expected));
  }
}

static void
test_name_stands_only_where_it_may(void)
{
  static const TideKeyPartSpec specs[] = {LITERAL("x"), NAME()};
  g_autoptr(GError) error = NULL;
  gsize bad_part;
  g_assert_null(tide_key_text_compile(specs, 2, FALSE, &bad_part, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_cmpuint(bad_part, ==, 1);
}

static void
test_time_in_a_value_is_read_back(void)
{
  static const struct {
    TideKeyPartSpec specs[2];
    gsize n_specs;
    TideBytes value;
    gint64 ms; /* -1: none */
  } cases[] = {
      {{TIME(MS)}, 1, {(const guint8 *)"1426535612045", 13}, 1426535612045},
      {{TIME(MS)}, 1, {(const guint8 *)"142653561204", 12}, -1},
      {{TIME_BINARY(MS)}, 1, {(const guint8 *)"\0\0\x01L$%\xfe\x8d", 8}, 1426535612045},
      {{FIELD(HOST)}, 1, {(const guint8 *)"1426535612045", 13}, -1},
      {{LITERAL("t"), TIME(MS)}, 2, {(const guint8 *)"t1426535612045", 14}, -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gsize bad_part;
    gint64 ns = -TIDE_NS_PER_MS;
    g_autoptr(TideRowKey) text = tide_key_text_compile(cases[i].specs, cases[i].n_specs, FALSE, &bad_part, NULL);
    g_assert_cmpint(tide_key_text_read_time(text, cases[i].value, &ns), ==, cases[i].ms >= 0);
    g_assert_cmpint(ns / TIDE_NS_PER_MS, ==, cases[i].ms);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-encode/texts", test_texts);
  g_test_add_func("/key-encode/name-stands-only-where-it-may", test_name_stands_only_where_it_may);
  g_test_add_func("/key-encode/time-in-a-value-is-read-back", test_time_in_a_value_is_read_back);
  return g_test_run();
}
