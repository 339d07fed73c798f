/* The forms of fields and times in a key, and the digests. */
#include "model/key/key_hash.h"
#include "model/key/key_part.h"
#include "model/key/row_key.h"
#include "unit/key_schemes.h"
#include "unit/test_case.h"

/* ---- key field ---- */

/* A form of a field, a value, what it writes (as HBase's shell prints it), and what is read back. */
typedef struct FormCase {
  TideKeyPartSpec specs[3];
  const char *value;
  const char *expected;  /* NULL: rejected */
  const char *read_back; /* of what is rejected: in the reason */
} FormCase;

#define OF_HOST OF_FIELD(HOST)

static const FormCase cases[] = {
    /* integers: big-endian, the sign bit flipped */
    {{AS(HOST, INT8)}, "-128", "\\x00", "-128"},
    {{AS(HOST, INT8)}, "127", "\\xFF", "127"},
    {{AS(HOST, INT8)}, "128", NULL, "too large"},
    {{AS(HOST, INT16)}, "-1", "\\x7F\\xFF", "-1"},
    {{AS(HOST, INT32)}, "0", "\\x80\\x00\\x00\\x00", "0"},
    {{AS(HOST, INT32)}, "-0", "\\x80\\x00\\x00\\x00", "0"},
    {{AS(HOST, INT32)}, "0007", "\\x80\\x00\\x00\\x07", "7"},
    {{AS(HOST, INT64)}, "-9223372036854775808", "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "-9223372036854775808"},
    {{AS(HOST, INT64)}, "9223372036854775808", NULL, "too large"},
    {{AS(HOST, UINT8)}, "255", "\\xFF", "255"},
    {{AS(HOST, UINT8)}, "-1", NULL, "too large or too small"},
    {{AS(HOST, UINT16)}, "258", "\\x01\\x02", "258"},
    {{AS(HOST, UINT32)}, "4294967295", "\\xFF\\xFF\\xFF\\xFF", "4294967295"},
    {{AS(HOST, UINT64)}, "18446744073709551615", "\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF", "18446744073709551615"},
    {{AS(HOST, UINT64)}, "18446744073709551616", NULL, "too large"},
    {{AS(HOST, UINT64)}, "99999999999999999999999999999999999999999999", NULL, "too large"},
    {{AS(HOST, INT32)}, "1.0", NULL, "not an integer"},
    {{AS(HOST, INT32)}, "1e3", NULL, "not an integer"},
    {{AS(HOST, INT32)}, "-", NULL, "not an integer"},
    {{AS(HOST, INT32)}, "+1", NULL, "not an integer"},
    {{AS(HOST, INT32)}, "", NULL, "empty"},
    /* floats: 1.5 is 3fc00000, -1.5 is bfc00000 */
    {{AS(HOST, FLOAT32)}, "1.5", "\\xBF\\xC0\\x00\\x00", "1.5"},
    {{AS(HOST, FLOAT32)}, "-1.5", "@?\\xFF\\xFF", "-1.5"},
    {{AS(HOST, FLOAT32)}, "0.1", "\\xBD\\xCC\\xCC\\xCD", "0.1"},
    {{AS(HOST, FLOAT32)}, "1e39", NULL, "too large"},
    {{AS(HOST, FLOAT64)}, "0", "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "0"},
    {{AS(HOST, FLOAT64)}, "-0.0", "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "0"},
    {{AS(HOST, FLOAT64)}, "0.1", "\\xBF\\xB9\\x99\\x99\\x99\\x99\\x99\\x9A", "0.1"},
    {{AS(HOST, FLOAT64)}, "1e308", "\\xFF\\xE1\\xCC\\xF3\\x85\\xEB\\xC8\\xA0", "1e+308"},
    {{AS(HOST, FLOAT64)}, "1e309", NULL, "too large"},
    {{AS(HOST, FLOAT64)}, "nan", NULL, "is not a number"},
    {{AS(HOST, FLOAT64)}, "0x10", NULL, "is not a number"},
    {{AS(HOST, FLOAT64)}, " 1", NULL, "is not a number"},
    /* text */
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, "server1", "serv", "serv"},
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, "ab", "ab  ", "ab"},
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, "    x", NULL, "spaces"},
    {{{OF_HOST, .spelling.text_case = TIDE_CASE_UPPER}}, "aZ1-\xc3\xa4", "AZ1-\\xC3\\xA4", "AZ1-\xc3\xa4"},
    {{{OF_HOST, .spelling.text_case = TIDE_CASE_LOWER}}, "aZ", "az", "az"},
    {{{OF_HOST, .spelling.strip_spaces = TRUE}}, " a b ", "ab", "ab"},
    {{{OF_HOST, .spelling.strip_spaces = TRUE}}, "  ", NULL, "empty"},
    {{{OF_HOST, ZEROS(10), .value.text_reversed = TRUE}}, "987654", "4567890000", "987654"},
    {{{OF_HOST, .value.text_reversed = TRUE}, LITERAL("#"), TIME(S)}, "abc", "cba#0000000000", "abc"},
    {{{OF_HOST, .value.text_reversed = TRUE}, LITERAL("ab"), TIME(S)}, "xbay", NULL, "literal that follows"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = 0xff}}, "ab", "ab\\xFF\\xFF", "ab"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = 0xe9}}, "ab\xe9", NULL, "padding"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = '.'}}, ". .", NULL, "consists only of padding"},
    /* escapes: of '#', 0x23: bytes up to '$', 0x24, become '$' and 0x24 more */
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, "a#b", "a$Gb#0000000000", "a#b"},
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, "a$ b", "a$H$Db#0000000000", "a$ b"},
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, "##", "$G$G#0000000000", "##"},
    {KEY({OF_HOST, .value.escape = TRUE, .value.text_reversed = TRUE}, LITERAL("#"), TIME(S)), "a#b", "b$Ga#0000000000",
     "a#b"},
    {{{OF_HOST, .value.escape = TRUE}}, "a#b", "a#b", "a#b"}, /* nothing follows */
    {KEY({OF_HOST, .value.escape = TRUE}, LITERAL("~"), TIME(S)), "\x7f~a", "\\x7F\\xFE\\x7F\\xFD\\x7F\\xE0~0000000000",
     "\x7f~a"},
    /* ranges */
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, "20000", "20000", "20000"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, "0000000007", "00007", "7"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, "-0", "00000", "0"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, "20001", NULL, "declared range"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, "abc", NULL, "not an integer"},
    {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, "-5", "\\x7F\\xFB", "-5"},
    {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, "6", NULL, "declared range"},
    {{{OF_HOST, ZEROS(6)}}, "-5", "0000-5", "-5"},
};

static TideBytes
text_of_host(const TideDecodedKey *decoded)
{
  for (gsize i = 0; i < decoded->n_fields; i++)
    if (decoded->fields[i].field == HOST)
      return decoded->fields[i].text;
  return TIDE_BYTES_EMPTY;
}

KEY_TEST("/key-field/forms")
{
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(cases[i].specs));
    g_auto(TideBuffer) out = {0};
    TideReject reject;
    g_autofree char *shown = tide_bytes_printable(tide_bytes_of_string(cases[i].value));
    g_test_message("case %" G_GSIZE_FORMAT ": '%s'", i, shown);
    reading_fixture_set(fixture, "host", cases[i].value);
    g_assert_cmpint(tide_row_key_append(key, &fixture->reading, &out, &reject), ==, cases[i].expected != NULL);
    if (cases[i].expected == NULL) {
      g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
      g_assert_nonnull(strstr(reject.detail, cases[i].read_back));
      g_assert_cmpuint(out.len, ==, 0);
      continue;
    }
    g_autofree char *printable = tide_bytes_printable(tide_buffer_bytes(&out));
    g_assert_cmpstr(printable, ==, cases[i].expected);
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&out), &decoded));
    assert_same_bytes(text_of_host(&decoded), tide_bytes_of_string(cases[i].read_back));
  }
  tide_decoded_key_clear(&decoded);
}

TEST("/key-field/rest-of-negative-numbers")
{
  static const struct {
    const char *text;
    guint32 modulo, rest;
  } numbers[] = {{"7", 4, 3},   {"-7", 4, 1},  {"-8", 4, 0},
                 {"-1", 10, 9}, {"-0", 10, 0}, {"-18446744073709551617", 10, 3}};
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    guint32 rest = 99;
    g_assert_true(tide_key_text_modulo(tide_bytes_of_string(numbers[i].text), numbers[i].modulo, &rest));
    g_assert_cmpuint(rest, ==, numbers[i].rest);
  }
}

/* A value behind others: it is cut to its own width, and holds no NUL byte. */
KEY_TEST("/key-field/value-behind-others")
{
  static const TideKeyPartSpec specs[] = {FIELD(USER), LITERAL("#"), {OF_HOST, SPACES(4), .value.cut = TRUE}};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(TideBuffer) out = {0};
  TideReject reject;
  reading_fixture_set_all(fixture, "user", "a-long-name", "host", "server1", NULL);
  g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("a-long-name#serv"));
  tide_buffer_reset(&out);
  reading_fixture_set_bytes(fixture, "user", TIDE_VALUE_STRING, tide_bytes("a\0b", 3));
  g_assert_false(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_nonnull(strstr(reject.detail, "NUL"));
}

/* Only bytes that a value can have made are read back. */
TEST("/key-field/bytes-of-no-value-are-not-ours")
{
  static const struct {
    TideKeyPartSpec specs[3];
    TideBytes row;
  } rows[] = {
      {{AS(HOST, FLOAT64)}, {(const guint8 *)"\x7f\xff\xff\xff\xff\xff\xff\xff", 8}}, /* -0 */
      {{AS(HOST, FLOAT32)}, {(const guint8 *)"\xff\x80\0\0", 4}},                     /* infinite */
      {{AS(HOST, FLOAT64)}, {(const guint8 *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8}}, /* no number */
      {{AS(HOST, INT32)}, {(const guint8 *)"abc", 3}},
      {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, {(const guint8 *)"\x80\x06", 2}},
      {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, {(const guint8 *)"20001", 5}},
      {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, {(const guint8 *)"2000x", 5}},
      {{{OF_HOST, .spelling.strip_spaces = TRUE}}, {(const guint8 *)"a b", 3}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, {(const guint8 *)"a$#0000000000", 13}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, {(const guint8 *)"a b#0000000000", 14}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, {(const guint8 *)"a$z#0000000000", 14}},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(rows[i].specs));
    g_test_message("row %" G_GSIZE_FORMAT, i);
    g_assert_false(tide_row_key_decode(key, rows[i].row, &decoded));
  }
  tide_decoded_key_clear(&decoded);
}

TEST("/key-field/impossible-forms-are-refused")
{
  static const struct {
    TideKeyPartSpec specs[3];
    const char *fault;
  } bad[] = {
      {{{OF_HOST, .value.form = TIDE_KEY_INT32, .width_bytes = 4}}, "remove the width"},
      {{{OF_HOST, .value.form = TIDE_KEY_INT32, .value.text_reversed = TRUE}}, "for text only"},
      {{{OF_HOST, .value.form = (TideKeyForm)99}}, "unknown form"},
      {{{OF_HOST, .value.cut = TRUE}}, "without a width"},
      {{{OF_HOST, SPACES(4), .value.escape = TRUE}}, "needs no escapes"},
      {{{OF_HOST, .value.escape = TRUE}, TIME(S)}, "no literal follows"},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("\x7f"), TIME(S)}, "above 126"},
      {{{OF_HOST, RANGE(0, 9)}}, "with zeros on the left"},
      {{{OF_HOST, SPACES(5), RANGE(0, 9)}}, "with zeros on the left"},
      {{{OF_HOST, ZEROS(5), RANGE(-1, 9)}}, "below 0"},
      {{{OF_HOST, ZEROS(5), RANGE(0, 100000)}}, "width of 5 is too small for the declared range: 100000 has 6 digits"},
      {{{OF_HOST, ZEROS(5), RANGE(9, 9)}}, "single number"},
      {{{OF_HOST, .value.form = TIDE_KEY_UINT8, RANGE(0, 256)}}, "too small for the declared range"},
      {{{OF_HOST, .value.form = TIDE_KEY_FLOAT32, RANGE(0, 256)}}, "ranges are for integers"},
      {KEY({OF_HOST, .value.form = TIDE_KEY_INT8, .value.has_default = TRUE,
            .value.default_value = {(const guint8 *)"none", 4}}),
       "default 'none' would be rejected as a value: it is not an integer"},
      {{{OF_HOST, SPACES(4), .value.cut = TRUE}, LITERAL("#"), {OF_HOST, .spelling.text_case = TIDE_CASE_UPPER}},
       "is in the key twice"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    gsize bad_part;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, bad[i].fault);
    g_autoptr(TideRowKey) key = tide_row_key_compile(PARTS(bad[i].specs), &bad_part, &error);
    g_assert_null(key);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, bad[i].fault));
  }
}

TEST("/key-field/defaults-apply-in-their-order")
{
  TideBytes trucks[] = {TIDE_BYTES_LITERAL("truck"), TIDE_BYTES_LITERAL("van")};
  const TideKeyDefault defaults[] = {
      {{.kind = TIDE_CONDITION_EQUALS, .field = LANE, .values = trucks, .n_values = 2}, TIDE_BYTES_LITERAL("slow")},
      {{.kind = TIDE_CONDITION_PRESENT, .field = LANE}, TIDE_BYTES_LITERAL("fast")}};
  TideKeyPartSpec spec = {OF_HOST,
                          SPACES(6),
                          .value.defaults = defaults,
                          .value.n_defaults = 2,
                          .value.has_default = TRUE,
                          .value.default_value = TIDE_BYTES_LITERAL("none")};
  static const struct {
    const char *host, *lane, *expected;
  } readings[] = {{"h", "van", "h     "}, {NULL, "van", "slow  "}, {NULL, "car", "fast  "}, {NULL, NULL, "none  "}};
  g_auto(ReadingFixture) fixture;
  g_autoptr(TideRowKey) key = compile_key(&spec, 1);
  trucks[1] = TIDE_BYTES_LITERAL("xxx"); /* the key has its own */
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(readings); i++) {
    g_auto(TideBuffer) out = {0};
    TideReject reject;
    reading_fixture_reset(&fixture);
    if (readings[i].host != NULL)
      reading_fixture_set(&fixture, "host", readings[i].host);
    if (readings[i].lane != NULL)
      reading_fixture_set(&fixture, "lane", readings[i].lane);
    g_assert_true(tide_row_key_append(key, &fixture.reading, &out, &reject));
    assert_same_bytes(tide_buffer_bytes(&out), tide_bytes_of_string(readings[i].expected));
  }
}

/* A number with a sign, a point or an exponent would be none behind zeros: 00000000-5. A text is no number. */
KEY_TEST("/key-field/H8/number-padded-with-zeros-is-digits")
{
  static const struct {
    TideKeyPartSpec spec;
    const char *value;
    const char *of_number; /* NULL: rejected */
    const char *of_text;
  } padded[] = {
      {{OF_HOST, ZEROS(6)}, "42", "000042", "000042"},
      {{OF_HOST, ZEROS(6)}, "-5", NULL, "0000-5"},
      {{OF_HOST, ZEROS(6)}, "1e3", NULL, "0001e3"},
      {{OF_HOST, ZEROS(6)}, "1.5", NULL, "0001.5"},
      {{OF_HOST, ZEROS(6)}, "-12345", NULL, "-12345"},
      {{OF_HOST, SPACES(6)}, "-5", "-5    ", "-5    "},
      {{OF_HOST}, "1e3", "1e3", "1e3"},
      {{OF_HOST, .value.form = TIDE_KEY_FLOAT32}, "1e3", "\\xC4z\\x00\\x00", "\\xC4z\\x00\\x00"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(padded); i++)
    for (int is_text = 0; is_text <= 1; is_text++) {
      const char *expected = is_text ? padded[i].of_text : padded[i].of_number;
      g_autoptr(TideRowKey) key = compile_key(&padded[i].spec, 1);
      g_auto(TideBuffer) out = {0};
      TideReject reject;
      g_test_message("case %" G_GSIZE_FORMAT, i);
      reading_fixture_set_bytes(fixture, "host", is_text ? TIDE_VALUE_STRING : TIDE_VALUE_NUMBER,
                                tide_bytes_of_string(padded[i].value));
      g_assert_cmpint(tide_row_key_append(key, &fixture->reading, &out, &reject), ==, expected != NULL);
      if (expected == NULL) {
        g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
        g_assert_nonnull(strstr(reject.detail, "only digits"));
        continue;
      }
      g_autofree char *printable = tide_bytes_printable(tide_buffer_bytes(&out));
      g_assert_cmpstr(printable, ==, expected);
    }
}

/* ---- key float ----
 *
 * Floats in keys: two values never make one key. */

typedef struct Case {
  TideKeyForm form;
  const char *value;
  const char *read_back; /* NULL: rejected */
} Case;

static const Case cases_key_float[] = {
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

TEST("/key-float/H7/what-does-not-come-back-is-refused")
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases_key_float); i++) {
    g_auto(FloatFixture) fixture;
    float_fixture_init(&fixture, cases_key_float[i].form);
    g_test_message("'%s'", cases_key_float[i].value);
    g_assert_cmpstr(come_back(&fixture, cases_key_float[i].value), ==, cases_key_float[i].read_back);
  }
}

/* A whole number at random, as a key of text would have it: each that is taken reads back as itself, so no two make one
 * key; and up to 15 digits (6 of the short form) all are taken. */
TEST("/key-float/H7/no-two-numbers-make-one-key")
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

/* ---- key time ---- */

#define TO_MS(ms) (G_GINT64_CONSTANT(ms) * 1000000)
#define MIDNIGHT TO_MS(1426489200000) /* 2015-03-16T00:00:00 in Los Angeles */
#define EVENT TO_MS(1426535612045)    /* 2015-03-16T19:53:32.045Z, 12:53:32.045 there */

/* A time part, with its zone by name, and what it writes. */
typedef struct TimeCase {
  TideKeyPartSpec spec;
  gint64 event_ns;
  const char *expected; /* as HBase's shell prints it */
} TimeCase;

#define COUNTED .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS

static const TimeCase cases_key_time[] = {
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}, MIDNIGHT, "14264892"},
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}, EVENT, "14264892"},
    {{COUNTED, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "1426489200000"},
    {{COUNTED, CUT_TO(DAY, 0)}, EVENT, "1426464000000"},
    {{COUNTED, CUT_TO(MINUTES, 15)}, EVENT, "1426535100000"},
    {{COUNTED, CUT_TO(WEEK, 0)}, EVENT, "1426464000000"}, /* a Monday */
    {{COUNTED, CUT_TO(MONTH, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "1425196800000"},
    {{COUNTED, .moment.drop_digits = 3}, EVENT, "1426535612"},
    {{COUNTED, .moment.drop_digits = 12}, EVENT, "1"},
    {{COUNTED, .moment.reversed = TRUE, .moment.drop_digits = 3}, EVENT, "9223370610319163"},
    {{COUNTED, .moment.reversed = TRUE, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES}, EVENT, "9223370610365575807"},
    {{COUNTED, .binary = TRUE, CUT_TO(DAY, 0)}, EVENT, "\\x00\\x00\\x01L\\x1F\\xE1H\\x00"},
    {PATTERN_IN("yyyyMMdd", NULL), EVENT, "20150316"},
    {PATTERN_IN("yyyyMMddHHmmssSSS", NULL), TO_MS(1425213901003), "20150301124501003"},
    {PATTERN_IN("HHmm", NULL), EVENT, "1953"},
    {PATTERN_IN("yyyy-MM-dd'T'HH", NULL), EVENT, "2015-03-16T19"},
    {PATTERN_IN("yyyyMMdd", LOS_ANGELES), MIDNIGHT, "20150316"},
    {PATTERN_IN("yyyyMMdd", LOS_ANGELES), MIDNIGHT - 1, "20150315"},
    {{.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 15)}, TO_MS(963000), "0015"}, /* 00:16:03 */
    {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}, EVENT + TO_MS(3 * 86400000), "20150316"},
    {PART(.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMddHH", CUT_TO(DAY, 0), .moment.zone_name = BERLIN), EVENT,
     "2015031600"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(DAY, 0)}, EVENT, "71612"},
    {PART(.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES), EVENT,
     "46412"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60)}, EVENT, "3212"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), CUT_TO(MINUTES, 15)}, EVENT, "2700"},
    {PART(.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .moment.reversed = TRUE), EVENT,
     "6787"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .binary = TRUE}, EVENT, "\\x0C\\x8C"},
    {{COUNTED, SINCE(MINUTES, 60), .binary = TRUE}, EVENT, "\\x001\\x03\\x0D"},
    {{.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 2), .binary = TRUE}, EVENT, "\\x5C"},
};

TEST("/key-time/forms")
{
  gsize bad_part;
  for (gsize i = 0; i < G_N_ELEMENTS(cases_key_time); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = cases_key_time[i].event_ns};
    TideReject reject;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases_key_time[i].expected);
    g_autoptr(TideRowKey) key = compile_in_zones(&cases_key_time[i].spec, 1, &bad_part, &error);
    g_assert_no_error(error);
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_autofree char *printable = tide_bytes_printable(tide_buffer_bytes(&out));
    g_assert_cmpstr(printable, ==, cases_key_time[i].expected);
  }
}

/* What is read back holds the event, and makes the same bytes. */
TEST("/key-time/forms-are-read-back")
{
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases_key_time); i++) {
    TideKeyPartSpec specs[] = {PATTERN_IN("yyyyMMdd", cases_key_time[i].spec.moment.zone_name), LITERAL("#"), TIME(S),
                               LITERAL("#"), cases_key_time[i].spec};
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = cases_key_time[i].event_ns};
    TideReject reject;
    g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases_key_time[i].expected);
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&out), &decoded));
    g_assert_true(decoded.has_time);
    g_assert_cmpint(decoded.from_ns, <=, reading.event_time_ns);
    g_assert_cmpint(decoded.to_ns, >, reading.event_time_ns);
    g_assert_cmpint(decoded.to_ns - decoded.from_ns, <=, TO_MS(1000));
  }
  tide_decoded_key_clear(&decoded);
}

/* Several parts say together when it was. */
TEST("/key-time/parts-are-put-together")
{
  static const struct {
    TideKeyPartSpec specs[5];
    gint64 from_ms; /* of EVENT; -1: not told */
    gint64 to_ms;
  } keys[] = {
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("HHmm", NULL)}, 1426535580000, 1426535640000},
      {{PATTERN_IN("HHmm", NULL), LITERAL("#"), PATTERN_IN("yyyyMMdd", NULL)}, 1426535580000, 1426535640000},
      {KEY(PATTERN_IN("SSS", NULL), PATTERN_IN("ss", NULL), PATTERN_IN("mm", NULL), PATTERN_IN("HH", NULL),
           PATTERN_IN("ddMMyyyy", NULL)),
       1426535612045, 1426535612046},
      {KEY(PATTERN_IN("yyyyMMdd", NULL), {.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 15)}),
       1426535100000, 1426536000000},
      {KEY(PATTERN_IN("yyyyMMdd", LOS_ANGELES), {COUNTED, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES}),
       1426535612045, 1426535612046},
      {KEY(PATTERN_IN("yyyyMMdd", LOS_ANGELES),
           {COUNTED, SINCE(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.reversed = TRUE}),
       1426535612045, 1426535612046},
      {{{COUNTED, SINCE(MINUTES, 60)}, PATTERN_IN("yyyyMMddHH", NULL)}, 1426535612045, 1426535612046},
      {{PATTERN_IN("yyyyHH", NULL), PATTERN_IN("MMdd", NULL)}, 1426532400000, 1426536000000},
      {{PATTERN_IN("yyyyMMdd", LOS_ANGELES)}, 1426489200000, 1426575600000},
      {{PATTERN_IN("yyyyMMddHH", BERLIN), TIME(S)}, 1426535612000, 1426535613000},
      {{PATTERN_IN("HHmm", NULL)}, -1, -1},
      {{{COUNTED, SINCE(DAY, 0)}}, -1, -1},
      {KEY({.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}, PATTERN_IN("HHmm", NULL)),
       1426464000000, 1427068800000},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = EVENT};
    TideReject reject;
    g_test_message("case %" G_GSIZE_FORMAT, i);
    g_autoptr(TideRowKey) key = compile_key(PARTS(keys[i].specs));
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_assert_true(tide_row_key_decode(key, tide_buffer_bytes(&out), &decoded));
    g_assert_cmpint(decoded.has_time, ==, keys[i].from_ms >= 0);
    if (!decoded.has_time)
      continue;
    g_assert_cmpint(decoded.from_ns / TIDE_NS_PER_MS, ==, keys[i].from_ms);
    g_assert_cmpint(decoded.to_ns / TIDE_NS_PER_MS, ==, keys[i].to_ms);
  }
  tide_decoded_key_clear(&decoded);
}

TEST("/key-time/impossible-combinations-are-refused")
{
  gsize bad_part;
  static const struct {
    TideKeyPartSpec spec;
    const char *fault;
  } bad[] = {
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .moment.reversed = TRUE}, "also reversed"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .binary = TRUE}, "also reversed, binary"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", .moment.drop_digits = 1}, "without digits"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", SINCE(DAY, 0)}, "counted since"},
      {{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMd"}, ""},
      {{COUNTED, .moment.drop_digits = 13}, "it has only 13"},
      {{COUNTED, .binary = TRUE, .moment.drop_digits = 1}, "no digits to drop"},
      {{COUNTED, SINCE(MINUTES, 60), CUT_TO(DAY, 0)}, "cut to more than"},
      {{COUNTED, SINCE(MONTH, 0), CUT_TO(WEEK, 0)}, "cut to more than"},
      {{COUNTED, SINCE(MINUTES, 60), CUT_TO(MINUTES, 40)}, "cut to more than"},
      {{COUNTED, CUT_TO(MINUTES, 7)}, "do not divide the day"},
      {PATTERN_IN("yyyyMMddHH", BERLIN), "in the repeated hour"},
      {PATTERN_IN("HHmm", LOS_ANGELES), "'America/Los_Angeles'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, bad[i].fault);
    g_autoptr(TideRowKey) key = compile_in_zones(&bad[i].spec, 1, &bad_part, &error);
    g_assert_null(key);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, bad[i].fault));
  }
}

/* St. John's set its clocks back over midnight, at 00:01 to 23:01: dates go on all the same, and never back. */
TEST("/key-time/dates-go-on-where-midnight-comes-twice")
{
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  const TideKeyPartSpec spec = PATTERN_IN("yyyyMMdd", "America/St_Johns");
  g_autoptr(TideRowKey) key = compile_in_zones(&spec, 1, &bad_part, &error);
  g_assert_no_error(error);
  g_autofree char *before = g_strdup("");
  for (gint64 s = 1289095200; s < 1289102400; s += 20) { /* 2010-11-07, from 02:00 to 04:00 UTC */
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = TO_MS(1000) * s};
    TideReject reject;
    g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
    g_autofree char *date = g_strndup((const char *)out.data, out.len);
    g_assert_cmpstr(date, >=, before);
    g_free(before);
    before = g_steal_pointer(&date);
  }
  g_assert_cmpstr(before, ==, "20101107");
}

/* Every hour of the days on which clocks change is in one and only one day, which reads back as that day. */
TEST("/key-time/days-of-23-and-25-hours")
{
  static const struct {
    const char *day;
    gint64 start_s;
    int n_hours;
  } days[] = {{"20170325", 1490396400, 24},
              {"20170326", 1490482800, 23},
              {"20170327", 1490565600, 24},
              {"20171029", 1509228000, 25},
              {"20171030", 1509318000, 24}};
  static const TideKeyPartSpec specs[] = {PATTERN_IN("yyyyMMdd", BERLIN)};
  TideDecodedKey decoded = {0};
  g_autoptr(TideRowKey) key = compile_key(specs, 1);
  for (gsize i = 0; i < G_N_ELEMENTS(days); i++) {
    gint64 from_ns = days[i].start_s * G_GINT64_CONSTANT(1000000000);
    gint64 to_ns = from_ns + days[i].n_hours * G_GINT64_CONSTANT(3600000000000);
    gint64 moments[] = {from_ns, from_ns + 1, (from_ns + to_ns) / 2, to_ns - 1};
    for (gsize j = 0; j < G_N_ELEMENTS(moments); j++) {
      g_auto(TideBuffer) out = {0};
      TideReading reading = {.event_time_ns = moments[j]};
      TideReject reject;
      g_assert_true(tide_row_key_append(key, &reading, &out, &reject));
      assert_same_bytes(tide_buffer_bytes(&out), tide_bytes_of_string(days[i].day));
    }
    g_assert_true(tide_row_key_decode(key, tide_bytes_of_string(days[i].day), &decoded));
    g_assert_cmpint(decoded.from_ns, ==, from_ns);
    g_assert_cmpint(decoded.to_ns, ==, to_ns);
  }
  tide_decoded_key_clear(&decoded);
}

TEST("/key-time/rows-that-name-no-time-are-not-ours")
{
  static const struct {
    TideKeyPartSpec specs[3];
    const char *row;
  } rows[] = {
      {{PATTERN_IN("yyyyMMdd", NULL)}, "20150230"},
      {{PATTERN_IN("yyyyMMdd", NULL)}, "2015022x"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("HHmm", NULL)}, "20150316#2460"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), PATTERN_IN("dd", NULL)}, "20150316#17"},
      {{PATTERN_IN("yyyyMMdd", NULL), LITERAL("#"), TIME(S)}, "20150316#1426550400"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMddHHmm", CUT_TO(MINUTES, 15)}}, "201503160016"},
      {{{COUNTED, CUT_TO(DAY, 0)}}, "1426464000001"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}}, "20150317"},
      {{PATTERN_IN("yyyyMMdd", NULL), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0)}}, "2015031686400"},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(rows[i].specs));
    g_test_message("%s", rows[i].row);
    g_assert_false(tide_row_key_decode(key, tide_bytes_of_string(rows[i].row), &decoded));
  }
  tide_decoded_key_clear(&decoded);
}

/* ---- key hash ---- */

typedef struct Vector {
  TideKeyHash hash;
  const char *input;
  const char *digest; /* hex */
} Vector;

#define FOX "The quick brown fox jumps over the lazy dog"

/* Published by the algorithms' authors and standards: RFC 1321, FIPS 180-4, the zlib and SMHasher documents and their
 * test programs. Of XXH3: the empty input is from the xxHash specification, the others were made by libxxhash 0.8.1 and
 * hold it to what it was. */
static const Vector vectors[] = {
    {TIDE_KEY_HASH_MD5, "", "d41d8cd98f00b204e9800998ecf8427e"},
    {TIDE_KEY_HASH_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {TIDE_KEY_HASH_MD5, FOX, "9e107d9d372bb6826bd81d3542a419d6"},
    {TIDE_KEY_HASH_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {TIDE_KEY_HASH_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {TIDE_KEY_HASH_SHA1, FOX, "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"},
    {TIDE_KEY_HASH_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {TIDE_KEY_HASH_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {TIDE_KEY_HASH_MURMUR3, "", "00000000"},
    {TIDE_KEY_HASH_MURMUR3, "test", "ba6bd213"},
    {TIDE_KEY_HASH_MURMUR3, "hello", "248bfa47"},
    {TIDE_KEY_HASH_MURMUR3, "hello, world", "149bbb7f"},
    {TIDE_KEY_HASH_MURMUR3, "Hello, world!", "c0363e43"},
    {TIDE_KEY_HASH_MURMUR3, FOX, "2e4ff723"},
    {TIDE_KEY_HASH_CRC32, "", "00000000"},
    {TIDE_KEY_HASH_CRC32, "123456789", "cbf43926"},
    {TIDE_KEY_HASH_CRC32, FOX, "414fa339"},
    {TIDE_KEY_HASH_XXH3, "", "2d06800538d394c2"},
    {TIDE_KEY_HASH_XXH3, "abc", "78af5f94892f3950"},
    {TIDE_KEY_HASH_XXH3, FOX, "ce7d19a5418fb365"},
};

TEST("/key-hash/published-vectors")
{
  for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
    guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES];
    guint32 size_bytes = tide_key_hashes[vectors[i].hash].size_bytes;
    tide_key_hash_digest(vectors[i].hash, tide_bytes_of_string(vectors[i].input), digest);
    g_autofree char *hex = tide_bytes_hex(tide_bytes(digest, size_bytes));
    g_test_message("%s of '%s'", tide_key_hashes[vectors[i].hash].name, vectors[i].input);
    g_assert_cmpstr(hex, ==, vectors[i].digest);
  }
}

TEST("/key-hash/number-is-the-first-eight-bytes")
{
  for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
    g_autofree char *leading = g_strndup(vectors[i].digest, 16);
    guint64 expected = g_ascii_strtoull(leading, NULL, 16);
    g_assert_cmpuint(tide_key_hash_number(vectors[i].hash, tide_bytes_of_string(vectors[i].input)), ==, expected);
  }
}

/* Inputs of every length up to some blocks, at every alignment: the same bytes, the same digest. */
TEST("/key-hash/digest-depends-on-the-bytes-alone")
{
  guint8 at_start[300], shifted[304];
  for (gsize i = 0; i < sizeof at_start; i++)
    at_start[i] = (guint8)(i * 7 + 3);
  for (TideKeyHash hash = TIDE_KEY_HASH_MD5; hash <= TIDE_KEY_HASH_CRC32; hash++) {
    for (gsize len = 0; len < sizeof at_start; len++) {
      gsize shift = 1 + len % 3;
      guint8 one[TIDE_KEY_DIGEST_MAX_BYTES] = {0}, other[TIDE_KEY_DIGEST_MAX_BYTES] = {0};
      memcpy(shifted + shift, at_start, len);
      tide_key_hash_digest(hash, tide_bytes(at_start, len), one);
      tide_key_hash_digest(hash, tide_bytes(shifted + shift, len), other);
      g_assert_true(memcmp(one, other, sizeof one) == 0);
    }
  }
}

TEST("/key-hash/only-long-digests-identify")
{
  g_assert_true(tide_key_hash_identifies(TIDE_KEY_HASH_MD5, 16));
  g_assert_true(tide_key_hash_identifies(TIDE_KEY_HASH_SHA256, 32));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_MD5, 15));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_XXH3, 8));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_XXH3, 16)); /* it has only 8 */
}
