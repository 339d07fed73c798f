#include "model/key/key_part.h"

#include "unit/key_schemes.h"

/* A form of a field, a value, what it writes (as HBase's shell prints it), and what is read back. */
typedef struct FormCase {
  TideKeyPartSpec specs[3];
  gsize n_specs;
  const char *value;
  const char *expected;  /* NULL: rejected */
  const char *read_back; /* of what is rejected: in the reason */
} FormCase;

#define OF_HOST OF_FIELD(HOST)

static const FormCase cases[] = {
    /* integers: big-endian, the sign bit flipped */
    {{AS(HOST, INT8)}, 1, "-128", "\\x00", "-128"},
    {{AS(HOST, INT8)}, 1, "127", "\\xFF", "127"},
    {{AS(HOST, INT8)}, 1, "128", NULL, "too large"},
    {{AS(HOST, INT16)}, 1, "-1", "\\x7F\\xFF", "-1"},
    {{AS(HOST, INT32)}, 1, "0", "\\x80\\x00\\x00\\x00", "0"},
    {{AS(HOST, INT32)}, 1, "-0", "\\x80\\x00\\x00\\x00", "0"},
    {{AS(HOST, INT32)}, 1, "0007", "\\x80\\x00\\x00\\x07", "7"},
    {{AS(HOST, INT64)}, 1, "-9223372036854775808", "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "-9223372036854775808"},
    {{AS(HOST, INT64)}, 1, "9223372036854775808", NULL, "too large"},
    {{AS(HOST, UINT8)}, 1, "255", "\\xFF", "255"},
    {{AS(HOST, UINT8)}, 1, "-1", NULL, "too large or too small"},
    {{AS(HOST, UINT16)}, 1, "258", "\\x01\\x02", "258"},
    {{AS(HOST, UINT32)}, 1, "4294967295", "\\xFF\\xFF\\xFF\\xFF", "4294967295"},
    {{AS(HOST, UINT64)}, 1, "18446744073709551615", "\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF", "18446744073709551615"},
    {{AS(HOST, UINT64)}, 1, "18446744073709551616", NULL, "too large"},
    {{AS(HOST, UINT64)}, 1, "99999999999999999999999999999999999999999999", NULL, "too large"},
    {{AS(HOST, INT32)}, 1, "1.0", NULL, "no whole number"},
    {{AS(HOST, INT32)}, 1, "1e3", NULL, "no whole number"},
    {{AS(HOST, INT32)}, 1, "-", NULL, "no whole number"},
    {{AS(HOST, INT32)}, 1, "+1", NULL, "no whole number"},
    {{AS(HOST, INT32)}, 1, "", NULL, "empty"},
    /* floats: 1.5 is 3fc00000, -1.5 is bfc00000 */
    {{AS(HOST, FLOAT32)}, 1, "1.5", "\\xBF\\xC0\\x00\\x00", "1.5"},
    {{AS(HOST, FLOAT32)}, 1, "-1.5", "@?\\xFF\\xFF", "-1.5"},
    {{AS(HOST, FLOAT32)}, 1, "0.1", "\\xBD\\xCC\\xCC\\xCD", "0.1"},
    {{AS(HOST, FLOAT32)}, 1, "1e39", NULL, "too large"},
    {{AS(HOST, FLOAT64)}, 1, "0", "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "0"},
    {{AS(HOST, FLOAT64)}, 1, "-0.0", "\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00", "0"},
    {{AS(HOST, FLOAT64)}, 1, "0.1", "\\xBF\\xB9\\x99\\x99\\x99\\x99\\x99\\x9A", "0.1"},
    {{AS(HOST, FLOAT64)}, 1, "1e308", "\\xFF\\xE1\\xCC\\xF3\\x85\\xEB\\xC8\\xA0", "1e+308"},
    {{AS(HOST, FLOAT64)}, 1, "1e309", NULL, "too large"},
    {{AS(HOST, FLOAT64)}, 1, "nan", NULL, "no number"},
    {{AS(HOST, FLOAT64)}, 1, "0x10", NULL, "no number"},
    {{AS(HOST, FLOAT64)}, 1, " 1", NULL, "no number"},
    /* text */
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, 1, "server1", "serv", "serv"},
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, 1, "ab", "ab  ", "ab"},
    {{{OF_HOST, SPACES(4), .value.cut = TRUE}}, 1, "    x", NULL, "spaces"},
    {{{OF_HOST, .spelling.text_case = TIDE_CASE_UPPER}}, 1, "aZ1-\xc3\xa4", "AZ1-\\xC3\\xA4", "AZ1-\xc3\xa4"},
    {{{OF_HOST, .spelling.text_case = TIDE_CASE_LOWER}}, 1, "aZ", "az", "az"},
    {{{OF_HOST, .spelling.strip_spaces = TRUE}}, 1, " a b ", "ab", "ab"},
    {{{OF_HOST, .spelling.strip_spaces = TRUE}}, 1, "  ", NULL, "empty"},
    {{{OF_HOST, ZEROS(10), .value.text_reversed = TRUE}}, 1, "987654", "4567890000", "987654"},
    {{{OF_HOST, .value.text_reversed = TRUE}, LITERAL("#"), TIME(S)}, 3, "abc", "cba#0000000000", "abc"},
    {{{OF_HOST, .value.text_reversed = TRUE}, LITERAL("ab"), TIME(S)}, 3, "xbay", NULL, "literal that follows"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = 0xff}}, 1, "ab", "ab\\xFF\\xFF", "ab"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = 0xe9}}, 1, "ab\xe9", NULL, "padding"},
    {{{OF_HOST, .width_bytes = 4, .value.pad_byte = '.'}}, 1, ". .", NULL, "nothing but padding"},
    /* escapes: of '#', 0x23: bytes up to '$', 0x24, become '$' and 0x24 more */
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, "a#b", "a$Gb#0000000000", "a#b"},
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, "a$ b", "a$H$Db#0000000000", "a$ b"},
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, "##", "$G$G#0000000000", "##"},
    {{{OF_HOST, .value.escape = TRUE, .value.text_reversed = TRUE}, LITERAL("#"), TIME(S)},
     3,
     "a#b",
     "b$Ga#0000000000",
     "a#b"},
    {{{OF_HOST, .value.escape = TRUE}}, 1, "a#b", "a#b", "a#b"}, /* nothing follows */
    {{{OF_HOST, .value.escape = TRUE}, LITERAL("~"), TIME(S)},
     3,
     "\x7f~a",
     "\\x7F\\xFE\\x7F\\xFD\\x7F\\xE0~0000000000",
     "\x7f~a"},
    /* ranges */
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, "20000", "20000", "20000"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, "0000000007", "00007", "7"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, "-0", "00000", "0"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, "20001", NULL, "declared range"},
    {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, "abc", NULL, "no whole number"},
    {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, 1, "-5", "\\x7F\\xFB", "-5"},
    {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, 1, "6", NULL, "declared range"},
    {{{OF_HOST, ZEROS(6)}}, 1, "-5", "0000-5", "-5"},
};

static TideBytes
text_of_host(const TideDecodedKey *decoded)
{
  for (gsize i = 0; i < decoded->n_fields; i++)
    if (decoded->fields[i].field == HOST)
      return decoded->fields[i].text;
  return TIDE_BYTES_EMPTY;
}

static void
test_forms(void)
{
  g_auto(ReadingFixture) fixture;
  TideDecodedKey decoded = {0};
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(cases[i].specs, cases[i].n_specs);
    g_auto(TideBuffer) out = {0};
    TideReject reject;
    g_autofree char *shown = tide_bytes_printable(tide_bytes_of_string(cases[i].value));
    g_test_message("case %" G_GSIZE_FORMAT ": '%s'", i, shown);
    reading_fixture_set(&fixture, "host", cases[i].value);
    g_assert_cmpint(tide_row_key_append(key, &fixture.reading, &out, &reject), ==, cases[i].expected != NULL);
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

static void
test_rest_of_negative_numbers(void)
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
static void
test_value_behind_others(void)
{
  static const TideKeyPartSpec specs[] = {FIELD(USER), LITERAL("#"), {OF_HOST, SPACES(4), .value.cut = TRUE}};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(ReadingFixture) fixture;
  g_auto(TideBuffer) out = {0};
  TideReject reject;
  key_scheme_fixture_init(&fixture);
  reading_fixture_set(&fixture, "user", "a-long-name");
  reading_fixture_set(&fixture, "host", "server1");
  g_assert_true(tide_row_key_append(key, &fixture.reading, &out, &reject));
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("a-long-name#serv"));
  tide_buffer_reset(&out);
  reading_fixture_set_bytes(&fixture, "user", TIDE_VALUE_STRING, tide_bytes("a\0b", 3));
  g_assert_false(tide_row_key_append(key, &fixture.reading, &out, &reject));
  g_assert_nonnull(strstr(reject.detail, "NUL"));
}

/* Only bytes that a value can have made are read back. */
static void
test_bytes_of_no_value_are_not_ours(void)
{
  static const struct {
    TideKeyPartSpec specs[3];
    gsize n_specs;
    TideBytes row;
  } rows[] = {
      {{AS(HOST, FLOAT64)}, 1, {(const guint8 *)"\x7f\xff\xff\xff\xff\xff\xff\xff", 8}}, /* -0 */
      {{AS(HOST, FLOAT32)}, 1, {(const guint8 *)"\xff\x80\0\0", 4}},                     /* infinite */
      {{AS(HOST, FLOAT64)}, 1, {(const guint8 *)"\xff\xff\xff\xff\xff\xff\xff\xff", 8}}, /* no number */
      {{AS(HOST, INT32)}, 1, {(const guint8 *)"abc", 3}},
      {{{OF_HOST, .value.form = TIDE_KEY_INT16, RANGE(-5, 5)}}, 1, {(const guint8 *)"\x80\x06", 2}},
      {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, {(const guint8 *)"20001", 5}},
      {{{OF_HOST, ZEROS(5), RANGE(0, 20000)}}, 1, {(const guint8 *)"2000x", 5}},
      {{{OF_HOST, .spelling.strip_spaces = TRUE}}, 1, {(const guint8 *)"a b", 3}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, {(const guint8 *)"a$#0000000000", 13}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, {(const guint8 *)"a b#0000000000", 14}},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("#"), TIME(S)}, 3, {(const guint8 *)"a$z#0000000000", 14}},
  };
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(rows[i].specs, rows[i].n_specs);
    g_test_message("row %" G_GSIZE_FORMAT, i);
    g_assert_false(tide_row_key_decode(key, rows[i].row, &decoded));
  }
  tide_decoded_key_clear(&decoded);
}

static void
test_impossible_forms_are_refused(void)
{
  static const struct {
    TideKeyPartSpec specs[3];
    gsize n_specs;
    const char *fault;
  } bad[] = {
      {{{OF_HOST, .value.form = TIDE_KEY_INT32, .width_bytes = 4}}, 1, "leave the width out"},
      {{{OF_HOST, .value.form = TIDE_KEY_INT32, .value.text_reversed = TRUE}}, 1, "for text only"},
      {{{OF_HOST, .value.form = (TideKeyForm)99}}, 1, "no known form"},
      {{{OF_HOST, .value.cut = TRUE}}, 1, "to no width"},
      {{{OF_HOST, SPACES(4), .value.escape = TRUE}}, 1, "needs no escapes"},
      {{{OF_HOST, .value.escape = TRUE}, TIME(S)}, 2, "no literal follows"},
      {{{OF_HOST, .value.escape = TRUE}, LITERAL("\x7f"), TIME(S)}, 3, "above 126"},
      {{{OF_HOST, RANGE(0, 9)}}, 1, "zeros in front"},
      {{{OF_HOST, SPACES(5), RANGE(0, 9)}}, 1, "zeros in front"},
      {{{OF_HOST, ZEROS(5), RANGE(-1, 9)}}, 1, "below 0"},
      {{{OF_HOST, ZEROS(5), RANGE(0, 100000)}},
       1,
       "width of 5 is too small for the declared range: 100000 has 6 digits"},
      {{{OF_HOST, ZEROS(5), RANGE(9, 9)}}, 1, "single number"},
      {{{OF_HOST, .value.form = TIDE_KEY_UINT8, RANGE(0, 256)}}, 1, "too small for the declared range"},
      {{{OF_HOST, .value.form = TIDE_KEY_FLOAT32, RANGE(0, 256)}}, 1, "ranges are for integers"},
      {{{OF_HOST, .value.form = TIDE_KEY_INT8, .value.has_default = TRUE,
         .value.default_value = {(const guint8 *)"none", 4}}},
       1,
       "default 'none' would be rejected as a value: it is no whole number"},
      {{{OF_HOST, SPACES(4), .value.cut = TRUE}, LITERAL("#"), {OF_HOST, .spelling.text_case = TIDE_CASE_UPPER}},
       3,
       "stands in the key twice"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    gsize bad_part;
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, bad[i].fault);
    g_autoptr(TideRowKey) key = tide_row_key_compile(bad[i].specs, bad[i].n_specs, &bad_part, &error);
    g_assert_null(key);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, bad[i].fault));
  }
}

static void
test_defaults_apply_in_their_order(void)
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
static void
test_number_padded_with_zeros_is_digits(void)
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
  g_auto(ReadingFixture) fixture;
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(padded); i++)
    for (int is_text = 0; is_text <= 1; is_text++) {
      const char *expected = is_text ? padded[i].of_text : padded[i].of_number;
      g_autoptr(TideRowKey) key = compile_key(&padded[i].spec, 1);
      g_auto(TideBuffer) out = {0};
      TideReject reject;
      g_test_message("case %" G_GSIZE_FORMAT, i);
      reading_fixture_set_bytes(&fixture, "host", is_text ? TIDE_VALUE_STRING : TIDE_VALUE_NUMBER,
                                tide_bytes_of_string(padded[i].value));
      g_assert_cmpint(tide_row_key_append(key, &fixture.reading, &out, &reject), ==, expected != NULL);
      if (expected == NULL) {
        g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
        g_assert_nonnull(strstr(reject.detail, "plain digits"));
        continue;
      }
      g_autofree char *printable = tide_bytes_printable(tide_buffer_bytes(&out));
      g_assert_cmpstr(printable, ==, expected);
    }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-field/rest-of-negative-numbers", test_rest_of_negative_numbers);
  g_test_add_func("/key-field/value-behind-others", test_value_behind_others);
  g_test_add_func("/key-field/forms", test_forms);
  g_test_add_func("/key-field/H8/number-padded-with-zeros-is-digits", test_number_padded_with_zeros_is_digits);
  g_test_add_func("/key-field/bytes-of-no-value-are-not-ours", test_bytes_of_no_value_are_not_ours);
  g_test_add_func("/key-field/impossible-forms-are-refused", test_impossible_forms_are_refused);
  g_test_add_func("/key-field/defaults-apply-in-their-order", test_defaults_apply_in_their_order);
  return g_test_run();
}
