#include "model/key/row_key.h"

#include "unit/key_schemes.h"

#define MS(ms) (G_GINT64_CONSTANT(ms) * 1000000)
#define FROM MS(1426535612000)
#define TO MS(1426535613000)

/* A question, and the ranges that answer it: "start stop", one a line, as HBase's shell prints bytes. */
typedef struct PlanCase {
  const char *name;
  TideKeyPartSpec specs[8];
  gsize n_specs;
  const char *values[N_KEY_FIELDS]; /* by field; NULL: not given */
  gint64 from_ns;
  gint64 to_ns;
  const char *expected;
} PlanCase;

static const TideKeyPartSpec of_time[] = {TIME(S)};
static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};

static const PlanCase cases[] = {
    {"a host's second",
     {FIELD(HOST), LITERAL("#"), TIME(MS)},
     3,
     {[HOST] = "h"},
     FROM,
     TO,
     "h#1426535612000 h#1426535613000\n"},
    {"rounded outwards",
     {FIELD(HOST), LITERAL("#"), TIME(MS)},
     3,
     {[HOST] = "h"},
     FROM + 1,
     TO + 1,
     "h#1426535612000 h#1426535613001\n"},
    {"a host's whole time",
     {FIELD(HOST), LITERAL("#"), TIME(MS)},
     3,
     {[HOST] = "h"},
     0,
     G_MAXINT64,
     "h#0000000000000 h#9223372036855\n"},
    {"no host given", {FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {NULL}, FROM, TO, " \n"},
    {"a literal in front", {LITERAL("B#"), FIELD(HOST), LITERAL("#"), TIME(MS)}, 4, {NULL}, FROM, TO, "B# B$\n"},
    {"a single moment",
     {FIELD(HOST), LITERAL("#"), TIME(MS)},
     3,
     {[HOST] = "h"},
     FROM,
     FROM + MS(1),
     "h#1426535612000 h#1426535612000\\x00\n"},
    {"a single row without time", {FIELD(HOST)}, 1, {[HOST] = "h"}, 0, G_MAXINT64, "h h\\x00\n"},
    {"newest first",
     {FIELD(HOST), LITERAL("#"), TIME_REVERSED(MS)},
     3,
     {[HOST] = "h"},
     FROM,
     TO,
     "h#9223370610319162808 h#9223370610319163808\n"},
    {"newest first, whole time",
     {FIELD(HOST), LITERAL("#"), TIME_REVERSED(NS)},
     3,
     {[HOST] = "h"},
     0,
     G_MAXINT64,
     "h#0000000000000000001 h#9223372036854775808\n"},
    {"binary",
     {FIELD(HOST), TIME_BINARY(S)},
     2,
     {[HOST] = "h"},
     MS(1000),
     MS(3000),
     "h\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01 h\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03\n"},
    {"binary, newest first",
     {FIELD(HOST), TIME_REVERSED_BINARY(S)},
     2,
     {[HOST] = "h"},
     0,
     MS(3000),
     "h\\x7F\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFD h\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00\n"},
    {"time in the middle",
     {FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)},
     5,
     {[USER] = "u", [LANE] = "rest"},
     FROM,
     TO + MS(1000),
     "u:1426535612 u:1426535614\n"},
    {"time in the middle, one second of it",
     {FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)},
     5,
     {[USER] = "u"},
     FROM,
     TO,
     "u:1426535612: u:1426535612;\n"},
    {"salt known",
     {SALT(3, CRC32, of_host), LITERAL("#"), FIELD(HOST), LITERAL("#"), TIME(S)},
     5,
     {[HOST] = "123456789"},
     FROM,
     TO + MS(1000),
     "2#123456789#1426535612 2#123456789#1426535614\n"},
    {"salt not known",
     {SALT(3, CRC32, of_host), LITERAL("#"), TIME(S), LITERAL("#"), FIELD(HOST)},
     5,
     {NULL},
     FROM,
     TO + MS(1000),
     "0#1426535612 0#1426535614\n1#1426535612 1#1426535614\n2#1426535612 2#1426535614\n"},
    {"salt of the time",
     {SALT(2, CRC32, of_time), FIELD(HOST), LITERAL("#"), TIME(S)},
     4,
     {[HOST] = "h"},
     FROM,
     TO + MS(1000),
     "0h#1426535612 0h#1426535614\n1h#1426535612 1h#1426535614\n"},
    {"salt behind a field not given", {FIELD(HOST), LITERAL("#"), SALT(2, CRC32, of_host)}, 3, {NULL}, FROM, TO, " \n"},
    {"hash known",
     {HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME(S)},
     3,
     {[HOST] = "server1.bbb.com"},
     FROM,
     TO + MS(1000),
     "8570c505server1.bbb.com1426535612 8570c505server1.bbb.com1426535614\n"},
    {"hash not known", {HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME(S)}, 3, {NULL}, FROM, TO, " \n"},
    {"a default is not what is asked for",
     {LITERAL("x"), FIELD_DEFAULT(HOST, "none")},
     2,
     {NULL},
     0,
     G_MAXINT64,
     "x y\n"},
    {"behind the last byte", {LITERAL("a\xff\xff"), FIELD(HOST)}, 2, {NULL}, 0, G_MAXINT64, "a\\xFF\\xFF b\n"},
    {"to the table's end", {LITERAL("\xff"), FIELD(HOST)}, 2, {NULL}, 0, G_MAXINT64, "\\xFF \n"},
    {"padded",
     {PADDED_LEFT(METER, 10, '0'), LITERAL("#"), TIME(S)},
     3,
     {[METER] = "987654"},
     FROM,
     TO + MS(1000),
     "0000987654#1426535612 0000987654#1426535614\n"},
    {"newest first of a lane",
     {FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)},
     7,
     {[EXCHANGE] = "15", [LANE] = "S", [SYMBOL] = "1"},
     0,
     MS(1225567200001),
     "15#S#1#9223370811287575807 15#S#1#9223372036854775808\n"},
    {"16 salts, in their order",
     {SALT(16, XXH3, of_host), LITERAL("#"), TIME(S)},
     3,
     {NULL},
     FROM,
     TO + MS(1000),
     "00#1426535612 00#1426535614\n01#1426535612 01#1426535614\n02#1426535612 02#1426535614\n"
     "03#1426535612 03#1426535614\n04#1426535612 04#1426535614\n05#1426535612 05#1426535614\n"
     "06#1426535612 06#1426535614\n07#1426535612 07#1426535614\n08#1426535612 08#1426535614\n"
     "09#1426535612 09#1426535614\n10#1426535612 10#1426535614\n11#1426535612 11#1426535614\n"
     "12#1426535612 12#1426535614\n13#1426535612 13#1426535614\n14#1426535612 14#1426535614\n"
     "15#1426535612 15#1426535614\n"},
    {"a salt in letters, behind a literal",
     {LITERAL("B#"),
      {.kind = TIDE_KEY_SALT,
       .digest.modulo = 2,
       .digest.alphabet = {(const guint8 *)"xy", 2},
       .digest.of = of_host,
       .digest.n_of = 1},
      LITERAL("#"),
      PATTERN("yyyyMMdd")},
     4,
     {NULL},
     FROM,
     TO + MS(86400000),
     "B#x#20150316 B#x#20150318\nB#y#20150316 B#y#20150318\n"},
    {"days",
     {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd")},
     3,
     {[HOST] = "h"},
     FROM,
     TO + MS(86400000 * 13),
     "h#20150316 h#2015032:\n"},
    {"a day is one row",
     {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd")},
     3,
     {[HOST] = "h"},
     FROM,
     TO,
     "h#20150316 h#20150316\\x00\n"},
    {"a time of day behind its day",
     {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")},
     5,
     {[HOST] = "h"},
     FROM,
     TO + MS(600000),
     "h#20150316#1953 h#20150316#2004\n"},
    {"a time of day over two days",
     {FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")},
     5,
     {[HOST] = "h"},
     FROM,
     TO + MS(86400000),
     "h#20150316#1953 h#20150317#1954\n"},
    {"a time of day without its day",
     {FIELD(HOST), LITERAL("#"), PATTERN("HHmm")},
     3,
     {[HOST] = "h"},
     FROM,
     TO + MS(86400000),
     "h# h$\n"},
    {"a time of day within one day",
     {FIELD(HOST), LITERAL("#"), PATTERN("HHmm")},
     3,
     {[HOST] = "h"},
     FROM,
     TO + MS(60000),
     "h#1953 h#1955\n"},
    {"a day of 14264892",
     {PADDED_LEFT(METER, 10, '0'),
      LITERAL("#"),
      {.kind = TIDE_KEY_TIME,
       .moment.unit = TIDE_KEY_TIME_MS,
       CUT_TO(DAY, 0),
       .moment.zone_name = LOS_ANGELES,
       .moment.drop_digits = 5}},
     3,
     {[METER] = "987654"},
     FROM,
     TO + MS(86400000),
     "0000987654#14264892 0000987654#14265757\n"},
    {"within an hour, newest first",
     {FIELD(HOST),
      LITERAL("#"),
      PATTERN("yyyyMMddHH"),
      {.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .moment.reversed = TRUE}},
     4,
     {[HOST] = "h"},
     FROM,
     TO + MS(1000),
     "h#20150316196786 h#20150316196788\n"},
    {"no time between", {FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {[HOST] = "h"}, FROM, FROM, ""},
    {"ends swapped", {FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {[HOST] = "h"}, TO, FROM, ""},
    {"before 1970",
     {FIELD(HOST), LITERAL("#"), TIME(S)},
     3,
     {[HOST] = "h"},
     MS(-5000),
     MS(2000),
     "h#0000000000 h#0000000002\n"},
    {"all before 1970", {FIELD(HOST), LITERAL("#"), TIME(S)}, 3, {[HOST] = "h"}, MS(-5000), MS(-1000), ""},
};

static char *
plan_text(const GArray *ranges)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < ranges->len; i++) {
    const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, i);
    g_autofree char *start = tide_bytes_printable(tide_buffer_bytes(&range->start));
    g_autofree char *stop = tide_bytes_printable(tide_buffer_bytes(&range->stop));
    g_string_append_printf(text, "%s %s\n", start, stop);
  }
  return g_string_free(text, FALSE);
}

static void
test_plans(void)
{
  g_auto(ReadingFixture) fixture;
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(cases[i].specs, cases[i].n_specs);
    g_autoptr(GError) error = NULL;
    g_test_message("%s", cases[i].name);
    reading_fixture_reset(&fixture);
    for (gsize j = 0; j < N_KEY_FIELDS; j++)
      if (cases[i].values[j] != NULL)
        reading_fixture_set(&fixture, key_field_names[j], cases[i].values[j]);
    g_autoptr(GArray) ranges = tide_row_key_plan(key, &fixture.reading, cases[i].from_ns, cases[i].to_ns, &error);
    g_assert_no_error(error);
    g_autofree char *text = plan_text(ranges);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

/* What is asked for is what rows show: where the key holds a field in lower case, or cut, behind a hash of all of it,
 * rows of several values show the same, each behind another hash. */
static void
test_E6_a_hash_of_more_than_the_key_shows(void)
{
  static const TideKeyPartSpec inputs[] = {FIELD(HOST)};
  const TideKeyPartSpec schemes[][2] = {
      {HASH_HEX(MD5, 16, inputs), {.kind = TIDE_KEY_FIELD, .value.field = HOST, .spelling.text_case = TIDE_CASE_LOWER}},
      {HASH_RAW(SHA1, 0, inputs), {.kind = TIDE_KEY_FIELD, .value.field = HOST, .spelling.text_case = TIDE_CASE_LOWER}},
  };
  static const char *const hosts[] = {"Server1", "server1", "SERVER1"};
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    g_auto(ReadingFixture) asked, sent;
    key_scheme_fixture_init(&sent);
    g_autoptr(TideRowKey) key = compile_key(schemes[i], 2);
    key_scheme_fixture_init(&asked);
    reading_fixture_set(&asked, "host", "server1");
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) ranges = tide_row_key_plan(key, &asked.reading, 0, G_MAXINT64, &error);
    g_assert_no_error(error);
    g_autoptr(TideKeyFilter) filter = tide_row_key_filter(key, &asked.reading, 0, G_MAXINT64, &error);
    g_assert_no_error(error);
    for (gsize k = 0; k < G_N_ELEMENTS(hosts); k++) {
      reading_fixture_set(&sent, "host", hosts[k]);
      g_auto(TideBuffer) row = {0};
      TideReject reject = {0};
      g_assert_true(tide_row_key_append(key, &sent.reading, &row, &reject));
      gboolean is_in_range = FALSE;
      for (guint r = 0; r < ranges->len; r++) {
        const TideKeyRange *range = &g_array_index(ranges, TideKeyRange, r);
        is_in_range |=
            tide_bytes_compare(tide_buffer_bytes(&row), tide_buffer_bytes(&range->start)) >= 0 &&
            (range->stop.len == 0 || tide_bytes_compare(tide_buffer_bytes(&row), tide_buffer_bytes(&range->stop)) < 0);
      }
      g_assert_true(is_in_range);
      g_assert_cmpint(tide_key_filter_match(filter, tide_buffer_bytes(&row)), ==, TIDE_KEY_TAKEN);
    }
  }
}

static void
test_impossible_value_is_refused(void)
{
  static const TideKeyPartSpec specs[] = {FIELD(HOST), LITERAL("#"), TIME(MS)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(ReadingFixture) fixture;
  g_autoptr(GError) error = NULL;
  key_scheme_fixture_init(&fixture);
  reading_fixture_set(&fixture, "host", "a#b");
  g_assert_null(tide_row_key_plan(key, &fixture.reading, FROM, TO, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  g_assert_nonnull(strstr(error->message, "'host'"));
}

static void
test_order_of_time(void)
{
  static const struct {
    TideKeyPartSpec specs[4];
    gsize n_specs;
    int order;
  } orders[] = {
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, 1},
      {{FIELD(HOST), LITERAL("#"), TIME_REVERSED_BINARY(MS)}, 3, -1},
      {{FIELD(HOST)}, 1, 0},
      {{SALT(2, XXH3, of_time), TIME(S)}, 2, 1},
      {{HASH_HEX(MD5, 4, of_time), TIME(S)}, 2, 0},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME_REVERSED(S)}, 3, -1},
      {{TIME(S), FIELD(HOST), TIME_REVERSED(MS)}, 3, 0},
      {{TIME(S), LITERAL("."), TIME(MS)}, 3, 1},
      {{TIME(S), LITERAL("."), TIME_REVERSED(MS)}, 3, 0},
      {{TIME(MS), LITERAL("."), TIME_REVERSED(S)}, 3, 1}, /* says nothing new */
      {{PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")}, 3, 1},
      {{PATTERN("yyyyMMdd"), FIELD(HOST)}, 2, 1},
      {{PATTERN("yyyyMMdd"), PADDED_LEFT(METER, 5, '0'), PATTERN("HHmm")}, 3, 0},
      {{PATTERN("yyyyMMdd"), PATTERN("mm")}, 2, 0},
      {{PATTERN("HHmm")}, 1, 0},
      {{{.kind = TIDE_KEY_TIME, CUT_TO(DAY, 0)}, PATTERN("HHmm")}, 2, 1},
      {{{.kind = TIDE_KEY_TIME, CUT_TO(DAY, 0), .moment.drop_digits = 6}, PATTERN("HHmm")}, 2, 0}, /* 11 days each */
      {{PATTERN("ddMMyyyy")}, 1, 0},
      {{PATTERN("yyyyHH")}, 1, 0},
      {{PATTERN_IN("yyyyMMdd", BERLIN), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.zone_name = BERLIN}}, 2, 1},
      {{PATTERN("yyyyMMdd"), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.zone_name = BERLIN}}, 2, 0},
      {{PATTERN("yyyyMMdd"), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.reversed = TRUE}}, 2, 0},
      {{TIME(S), FIELD(HOST), TIME(MS)}, 3, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_autoptr(TideRowKey) key = compile_key(orders[i].specs, orders[i].n_specs);
    g_assert_cmpint(tide_row_key_time_order(key), ==, orders[i].order);
  }
}

static void
test_time_is_read_only_from_keys_of_the_scheme(void)
{
  static const struct {
    TideKeyPartSpec specs[5];
    gsize n_specs;
    TideBytes row;
    gint64 ns; /* -1: none */
  } rows[] = {
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h#1426535612045", 15}, MS(1426535612045)},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h#142653561204x", 15}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h#142653561204", 14}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h#14265356120456", 16}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"#1426535612045", 14}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h", 1}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {NULL, 0}, -1},
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, {(const guint8 *)"h#9999999999999", 15}, -1}, /* beyond 2262 */
      {{FIELD(HOST), TIME(S)}, 2, {(const guint8 *)"h1426535612", 11}, MS(1426535612000)},
      {{FIELD(HOST), TIME(S)}, 2, {(const guint8 *)"1426535612", 10}, -1},
      {{LITERAL("B"), TIME_REVERSED(MS)}, 2, {(const guint8 *)"B9223370811287575807", 20}, MS(1225567200000)},
      {{LITERAL("B"), TIME_REVERSED(MS)}, 2, {(const guint8 *)"C9223370811287575807", 20}, -1},
      {{LITERAL("B"), TIME_REVERSED(NS)}, 2, {(const guint8 *)"B9223372036854775808", 20}, -1},
      {{TIME_BINARY(S)}, 1, {(const guint8 *)"\0\0\0\0\0\0\0\2", 8}, MS(2000)},
      {{TIME_BINARY(S)}, 1, {(const guint8 *)"\x80\0\0\0\0\0\0\2", 8}, -1},
      {{TIME(S), LITERAL("."), FIELD(HOST), LITERAL("."), TIME(MS)},
       5,
       {(const guint8 *)"1426535612.h.1426535612045", 26},
       MS(1426535612045)},
      {{FIELD(HOST)}, 1, {(const guint8 *)"1426535612045", 13}, -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(rows[i].specs, rows[i].n_specs);
    TideDecodedKey decoded = {0};
    g_test_message("row %" G_GSIZE_FORMAT, i);
    gboolean has_time = tide_row_key_decode(key, rows[i].row, &decoded) && decoded.has_time;
    g_assert_cmpint(has_time ? decoded.from_ns : -1, ==, rows[i].ns);
    tide_decoded_key_clear(&decoded);
  }
}

static char *
splits_text(const GArray *splits)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < splits->len; i++) {
    g_autofree char *split = tide_bytes_printable(g_array_index(splits, TideBytes, i));
    g_string_append_printf(text, "%s%s", i > 0 ? " " : "", split);
  }
  return g_string_free(text, FALSE);
}

static void
test_split_points(void)
{
  static const struct {
    TideKeyPartSpec specs[4];
    gsize n_specs;
    guint32 n_regions;
    const char *expected;
  } points[] = {
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, 0, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, 4, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, 100, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, 2, "2"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, 1, ""},
      {{SALT(12, XXH3, of_host), FIELD(HOST)}, 2, 3, "04 08"},
      {{LITERAL("B#"), SALT(3, XXH3, of_host), FIELD(HOST)}, 3, 0, "B#1 B#2"},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 2, 4, "40 80 c0"},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 2, 3, "55555555 aaaaaaaa"},
      {{HASH_HEX(MD5, 1, of_host), FIELD(HOST)}, 2, 3, "55 aa"},
      {{HASH_RAW(MD5, 2, of_host), FIELD(HOST)}, 2, 4, "@ \\x80 \\xC0"},
      {{HASH_RAW(MD5, 0, of_host), FIELD(HOST)}, 2, 3, "UUUUUUUU \\xAA\\xAA\\xAA\\xAA\\xAA\\xAA\\xAA\\xAA"},
      {{HASH_RAW(CRC32, 4, of_host), FIELD(HOST)}, 2, 0, ""},
      {{HASH_RAW(CRC32, 4, of_host), FIELD(HOST)}, 2, 1, ""},
      {{FIELD(HOST), LITERAL("#"), SALT(4, XXH3, of_host)}, 3, 4, ""},
      {{TIME(MS)}, 1, 4, ""},
      {{{.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 1, .digest.of = of_host, .digest.n_of = 1},
        FIELD(HOST)},
       2,
       0,
       "2 3 4"},
      {{{.kind = TIDE_KEY_SALT,
         .digest.modulo = 3,
         .digest.alphabet = {(const guint8 *)"abc", 3},
         .digest.of = of_host,
         .digest.n_of = 1},
        FIELD(HOST)},
       2,
       0,
       "b c"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 99999)}}, 1, 4, "25000 50000 75000"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(1000, 1999)}}, 1, 4, "01250 01500 01750"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 2)}}, 1, 100, "00001 00002"},
      {{LITERAL("M"), {OF_FIELD(METER), .value.form = TIDE_KEY_INT16, RANGE(-32768, 32767)}},
       2,
       4,
       "M@\\x00 M\\x80\\x00 M\\xC0\\x00"},
      {{{OF_FIELD(METER), ZEROS(10), RANGE(0, 99999), .value.text_reversed = TRUE}}, 1, 4, "25 5 75"},
      {{{OF_FIELD(METER), ZEROS(10), RANGE(0, 5), .value.text_reversed = TRUE}}, 1, 4, ""},
      {{PADDED_LEFT(METER, 5, '0')}, 1, 4, ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(points); i++) {
    g_autoptr(TideRowKey) key = compile_key(points[i].specs, points[i].n_specs);
    GArray *splits = tide_row_key_splits(key, points[i].n_regions);
    g_autofree char *text = splits_text(splits);
    g_assert_cmpstr(text, ==, points[i].expected);
    tide_splits_free(splits);
  }
}

static void
test_one_byte_of_hash_has_256_regions(void)
{
  static const TideKeyPartSpec specs[] = {HASH_RAW(MD5, 1, of_host), FIELD(HOST)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  GArray *splits = tide_row_key_splits(key, 1000);
  g_assert_cmpuint(splits->len, ==, 255);
  for (guint i = 0; i < splits->len; i++)
    g_assert_cmpuint(g_array_index(splits, TideBytes, i).data[0], ==, i + 1);
  tide_splits_free(splits);
}

/* 100,000 ids that nobody chose: each region gets its share, within 20 percent. */
static void
test_splits_spread_random_ids(void)
{
  enum { N_IDS = 100000, N_REGIONS = 16 };
  static const TideKeyPartSpec schemes[][3] = {
      {SALT(16, XXH3, of_host), LITERAL("#"), FIELD(HOST)},
      {SALT(64, MURMUR3, of_host), LITERAL("#"), FIELD(HOST)},
      {SALT(16, MD5, of_host), LITERAL("#"), FIELD(HOST)},
      {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_HEX(MD5, 4, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_RAW(SHA1, 2, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_RAW(SHA256, 0, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_HEX(MURMUR3, 4, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_RAW(XXH3, 8, of_host), LITERAL("#"), FIELD(HOST)},
      {HASH_RAW(CRC32, 4, of_host), LITERAL("#"), FIELD(HOST)},
      {{OF_FIELD(METER), ZEROS(10), RANGE(0, 9999999999)}, LITERAL("#"), FIELD(HOST)},
      {{OF_FIELD(METER), ZEROS(10), RANGE(0, 9999999999), .value.text_reversed = TRUE}, LITERAL("#"), FIELD(HOST)},
      {{OF_FIELD(METER), .value.form = TIDE_KEY_INT64, RANGE(0, 9999999999)}, LITERAL("#"), FIELD(HOST)},
      {SALT_BY_NUMBER(16, of_plain_meter), LITERAL("#"), FIELD(METER)},
  };
  g_auto(ReadingFixture) fixture;
  g_auto(TideBuffer) out = {0};
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(schemes); i++) {
    g_autoptr(TideRowKey) key = compile_key(schemes[i], G_N_ELEMENTS(schemes[i]));
    GArray *splits = tide_row_key_splits(key, N_REGIONS);
    guint n_rows[N_REGIONS] = {0};
    g_assert_cmpuint(splits->len, ==, N_REGIONS - 1);
    for (guint n = 0; n < N_IDS; n++) {
      char id[32], number[32];
      TideReject reject;
      g_snprintf(id, sizeof id, "sensor-%08x", (guint)g_test_rand_int());
      g_snprintf(number, sizeof number, "%.0f", g_test_rand_double_range(0, 9999999999.0));
      reading_fixture_set_all(&fixture, "host", id, "meter", number, NULL);
      tide_buffer_reset(&out);
      g_assert_true(tide_row_key_append(key, &fixture.reading, &out, &reject));
      guint region = 0;
      while (region < splits->len &&
             tide_bytes_compare(tide_buffer_bytes(&out), g_array_index(splits, TideBytes, region)) >= 0)
        region++;
      n_rows[region]++;
    }
    for (guint region = 0; region < N_REGIONS; region++) {
      g_assert_cmpuint(n_rows[region] * N_REGIONS, >, N_IDS * 8 / 10);
      g_assert_cmpuint(n_rows[region] * N_REGIONS, <, N_IDS * 12 / 10);
    }
    tide_splits_free(splits);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-plan/plans", test_plans);
  g_test_add_func("/key-plan/E6-a-hash-of-more-than-the-key-shows", test_E6_a_hash_of_more_than_the_key_shows);
  g_test_add_func("/key-plan/impossible-value-is-refused", test_impossible_value_is_refused);
  g_test_add_func("/key-plan/order-of-time", test_order_of_time);
  g_test_add_func("/key-plan/time-is-read-only-from-keys-of-the-scheme",
                  test_time_is_read_only_from_keys_of_the_scheme);
  g_test_add_func("/key-plan/split-points", test_split_points);
  g_test_add_func("/key-plan/one-byte-of-hash-has-256-regions", test_one_byte_of_hash_has_256_regions);
  g_test_add_func("/key-plan/splits-spread-random-ids", test_splits_spread_random_ids);
  return g_test_run();
}
