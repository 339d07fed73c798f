/* Floats in keys: two values never make one key. */
#include "model/key/row_key.h"

#include "unit/key_schemes.h"

typedef struct Case {
  TideKeyForm form;
  const char *value;
  const char *read_back; /* NULL: rejected */
} Case;

static const Case cases[] = {
    {TIDE_KEY_FLOAT64, "9007199254740991", "9007199254740991"},
    {TIDE_KEY_FLOAT64, "9007199254740992", "9007199254740992"}, /* 2^53 */
    {TIDE_KEY_FLOAT64, "9007199254740993", NULL},               /* and one more: the same bits */
    {TIDE_KEY_FLOAT64, "9007199254740994", "9007199254740994"},
    {TIDE_KEY_FLOAT64, "-9007199254740993", NULL},
    {TIDE_KEY_FLOAT64, "0.30000000000000004", "0.30000000000000004"},
    {TIDE_KEY_FLOAT64, "0.1000000000000000055511151231257827", NULL}, /* 0.1, to all its digits */
    {TIDE_KEY_FLOAT64, "0.10000000000000000000000", "0.1"},
    {TIDE_KEY_FLOAT64, "1e-400", NULL}, /* which would be 0 */
    {TIDE_KEY_FLOAT64, "0e-400", "0"},
    {TIDE_KEY_FLOAT64, "0.000", "0"},
    {TIDE_KEY_FLOAT64, "5e-324", "5e-324"},
    {TIDE_KEY_FLOAT64, "4e-324", NULL},
    {TIDE_KEY_FLOAT64, "1e22", "1e+22"},
    {TIDE_KEY_FLOAT64, "10000000000000000000000", "1e+22"},
    {TIDE_KEY_FLOAT64, "10000000000000000000001", NULL},
    {TIDE_KEY_FLOAT64, "+1.50", "1.5"},
    {TIDE_KEY_FLOAT64, ".5", "0.5"},
    {TIDE_KEY_FLOAT64, "5.", "5"},
    {TIDE_KEY_FLOAT64, "15e-1", "1.5"},
    {TIDE_KEY_FLOAT32, "16777216", "16777216"}, /* 2^24 */
    {TIDE_KEY_FLOAT32, "16777217", NULL},
    {TIDE_KEY_FLOAT32, "0.1", "0.1"},
    {TIDE_KEY_FLOAT32, "0.100000001", NULL},
    {TIDE_KEY_FLOAT32, "1e-46", NULL},
    {TIDE_KEY_FLOAT32, "1e-45", "1e-45"},
    {TIDE_KEY_FLOAT32, "2e-45", NULL}, /* as 1e-45 */
};

typedef struct FloatFixture {
  ReadingFixture reading;
  TideRowKey *key; /* owned */
  TideBuffer row;
  TideDecodedKey decoded;
} FloatFixture;

static void
float_fixture_init(FloatFixture *fixture, TideKeyForm form)
{
  TideKeyPartSpec spec = {OF_FIELD(HOST), .value.form = form};
  *fixture = (FloatFixture){.key = compile_key(&spec, 1)};
  key_scheme_fixture_init(&fixture->reading);
}

static void
float_fixture_clear(FloatFixture *fixture)
{
  reading_fixture_clear(&fixture->reading);
  tide_row_key_free(fixture->key);
  tide_buffer_clear_memory(&fixture->row);
  tide_decoded_key_clear(&fixture->decoded);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FloatFixture, float_fixture_clear)

/* What the value reads as when it is back from a key, borrowed until the next call; NULL: it is rejected. */
static const char *
come_back(FloatFixture *fixture, const char *value)
{
  static char text[64];
  TideReject reject;
  tide_buffer_reset(&fixture->row);
  reading_fixture_set(&fixture->reading, "host", value);
  if (!tide_row_key_append(fixture->key, &fixture->reading.reading, &fixture->row, &reject)) {
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
    return NULL;
  }
  g_assert_true(tide_row_key_decode(fixture->key, tide_buffer_bytes(&fixture->row), &fixture->decoded));
  TideBytes back = fixture->decoded.fields[0].text;
  g_snprintf(text, sizeof text, "%.*s", (int)back.len, (const char *)back.data);
  return text;
}

static void
test_what_does_not_come_back_is_refused(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(FloatFixture) fixture;
    float_fixture_init(&fixture, cases[i].form);
    g_test_message("'%s'", cases[i].value);
    g_assert_cmpstr(come_back(&fixture, cases[i].value), ==, cases[i].read_back);
  }
}

/* A whole number at random, as a key of text would have it: each that is taken reads back as itself, so no two make one
 * key; and up to 15 digits (6 of the short form) all are taken. */
static void
test_no_two_numbers_make_one_key(void)
{
  static const struct {
    TideKeyForm form;
    int safe_digits;
  } forms[] = {{TIDE_KEY_FLOAT64, 15}, {TIDE_KEY_FLOAT32, 6}};
  for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
    g_auto(FloatFixture) fixture;
    float_fixture_init(&fixture, forms[i].form);
    for (int n = 0; n < 20000; n++) {
      int n_digits = g_test_rand_int_range(1, 20);
      g_autoptr(GString) value = g_string_new(g_test_rand_bit() ? "-" : "");
      g_string_append_c(value, (char)g_test_rand_int_range('1', '9' + 1));
      for (int digit = 1; digit < n_digits; digit++)
        g_string_append_c(value, (char)g_test_rand_int_range('0', '9' + 1));
      const char *back = come_back(&fixture, value->str);
      if (back == NULL) {
        g_assert_cmpint(n_digits, >, forms[i].safe_digits);
        continue;
      }
      g_autofree char *plain = g_strdup_printf("%.0f", g_ascii_strtod(back, NULL));
      if (strchr(back, 'e') == NULL)
        g_assert_cmpstr(back, ==, value->str);
      else if (forms[i].form == TIDE_KEY_FLOAT64 && n_digits <= 15)
        g_assert_cmpstr(plain, ==, value->str);
    }
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-float/H7/what-does-not-come-back-is-refused", test_what_does_not_come_back_is_refused);
  g_test_add_func("/key-float/H7/no-two-numbers-make-one-key", test_no_two_numbers_make_one_key);
  return g_test_run();
}
