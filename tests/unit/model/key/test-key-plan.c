#include "model/key/row_key.h"

#include "unit/key_schemes.h"
#include "unit/test_case.h"

#define MS(ms) (G_GINT64_CONSTANT(ms) * 1000000)
#define FROM MS(1426535612000)
#define TO MS(1426535613000)
#define A_SECOND FROM, TO
#define TWO_SECONDS FROM, TO + MS(1000)
#define A_DAY FROM, TO + MS(86400000)
#define EVER 0, G_MAXINT64

/* A question, and the ranges that answer it: "start stop", one a line, as HBase's shell prints bytes. */
typedef struct PlanCase {
  const char *name;
  TideKeyPartSpec specs[8];
  const char *values[N_KEY_FIELDS]; /* by field; NULL: not given */
  gint64 from_ns;
  gint64 to_ns;
  const char *expected;
} PlanCase;

static const TideKeyPartSpec of_time[] = {TIME(S)};
static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};

static const PlanCase cases[] = {
    {"a host's second", HOST_AND(TIME(MS)), {[HOST] = "h"}, A_SECOND, "h#1426535612000 h#1426535613000\n"},
    {"rounded outwards", HOST_AND(TIME(MS)), {[HOST] = "h"}, FROM + 1, TO + 1, "h#1426535612000 h#1426535613001\n"},
    {"a host's whole time", HOST_AND(TIME(MS)), {[HOST] = "h"}, EVER, "h#0000000000000 h#9223372036855\n"},
    {"no host given", HOST_AND(TIME(MS)), {NULL}, A_SECOND, " \n"},
    {"a literal in front", {LITERAL("B#"), FIELD(HOST), LITERAL("#"), TIME(MS)}, {NULL}, A_SECOND, "B# B$\n"},
    {"a single moment", HOST_AND(TIME(MS)), GIVEN([HOST] = "h"), FROM, FROM + MS(1),
     "h#1426535612000 h#1426535612000\\x00\n"},
    {"a single row without time", {FIELD(HOST)}, {[HOST] = "h"}, EVER, "h h\\x00\n"},
    {"newest first", HOST_AND(TIME_REVERSED(MS)), GIVEN([HOST] = "h"), A_SECOND,
     "h#9223370610319162808 h#9223370610319163808\n"},
    {"newest first, whole time", HOST_AND(TIME_REVERSED(NS)), GIVEN([HOST] = "h"), EVER,
     "h#0000000000000000001 h#9223372036854775808\n"},
    {"binary", KEY(FIELD(HOST), TIME_BINARY(S)), GIVEN([HOST] = "h"), MS(1000), MS(3000),
     "h\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01 h\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03\n"},
    {"binary, newest first", KEY(FIELD(HOST), TIME_REVERSED_BINARY(S)), GIVEN([HOST] = "h"), 0, MS(3000),
     "h\\x7F\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFD h\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00\n"},
    {"time in the middle", KEY(FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)),
     GIVEN([USER] = "u", [LANE] = "rest"), TWO_SECONDS, "u:1426535612 u:1426535614\n"},
    {"time in the middle, one second of it", KEY(FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)),
     GIVEN([USER] = "u"), A_SECOND, "u:1426535612: u:1426535612;\n"},
    {"salt known", KEY(SALT(3, CRC32, of_host), LITERAL("#"), FIELD(HOST), LITERAL("#"), TIME(S)),
     GIVEN([HOST] = "123456789"), TWO_SECONDS, "2#123456789#1426535612 2#123456789#1426535614\n"},
    {"salt not known", KEY(SALT(3, CRC32, of_host), LITERAL("#"), TIME(S), LITERAL("#"), FIELD(HOST)), GIVEN(NULL),
     TWO_SECONDS, "0#1426535612 0#1426535614\n1#1426535612 1#1426535614\n2#1426535612 2#1426535614\n"},
    {"salt of the time", KEY(SALT(2, CRC32, of_time), FIELD(HOST), LITERAL("#"), TIME(S)), GIVEN([HOST] = "h"),
     TWO_SECONDS, "0h#1426535612 0h#1426535614\n1h#1426535612 1h#1426535614\n"},
    {"salt behind a field not given", {FIELD(HOST), LITERAL("#"), SALT(2, CRC32, of_host)}, {NULL}, A_SECOND, " \n"},
    {"hash known", KEY(HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME(S)), GIVEN([HOST] = "server1.bbb.com"), TWO_SECONDS,
     "8570c505server1.bbb.com1426535612 8570c505server1.bbb.com1426535614\n"},
    {"hash not known", {HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME(S)}, {NULL}, A_SECOND, " \n"},
    {"a default is not what is asked for", {LITERAL("x"), FIELD_DEFAULT(HOST, "none")}, {NULL}, EVER, "x y\n"},
    {"behind the last byte", {LITERAL("a\xff\xff"), FIELD(HOST)}, {NULL}, EVER, "a\\xFF\\xFF b\n"},
    {"to the table's end", {LITERAL("\xff"), FIELD(HOST)}, {NULL}, EVER, "\\xFF \n"},
    {"padded", KEY(PADDED_LEFT(METER, 10, '0'), LITERAL("#"), TIME(S)), GIVEN([METER] = "987654"), TWO_SECONDS,
     "0000987654#1426535612 0000987654#1426535614\n"},
    {"newest first of a lane",
     KEY(FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)),
     GIVEN([EXCHANGE] = "15", [LANE] = "S", [SYMBOL] = "1"), 0, MS(1225567200001),
     "15#S#1#9223370811287575807 15#S#1#9223372036854775808\n"},
    {"16 salts, in their order", KEY(SALT(16, XXH3, of_host), LITERAL("#"), TIME(S)), GIVEN(NULL), TWO_SECONDS,
     "00#1426535612 00#1426535614\n01#1426535612 01#1426535614\n02#1426535612 02#1426535614\n"
     "03#1426535612 03#1426535614\n04#1426535612 04#1426535614\n05#1426535612 05#1426535614\n"
     "06#1426535612 06#1426535614\n07#1426535612 07#1426535614\n08#1426535612 08#1426535614\n"
     "09#1426535612 09#1426535614\n10#1426535612 10#1426535614\n11#1426535612 11#1426535614\n"
     "12#1426535612 12#1426535614\n13#1426535612 13#1426535614\n14#1426535612 14#1426535614\n"
     "15#1426535612 15#1426535614\n"},
    {"a salt in letters, behind a literal",
     KEY(LITERAL("B#"),
         PART(.kind = TIDE_KEY_SALT, .digest.modulo = 2, .digest.alphabet = {(const guint8 *)"xy", 2},
              .digest.of = of_host, .digest.n_of = 1),
         LITERAL("#"), PATTERN("yyyyMMdd")),
     GIVEN(NULL), A_DAY, "B#x#20150316 B#x#20150318\nB#y#20150316 B#y#20150318\n"},
    {"days", HOST_AND(PATTERN("yyyyMMdd")), {[HOST] = "h"}, FROM, TO + MS(86400000 * 13), "h#20150316 h#2015032:\n"},
    {"a day is one row", HOST_AND(PATTERN("yyyyMMdd")), {[HOST] = "h"}, A_SECOND, "h#20150316 h#20150316\\x00\n"},
    {"a time of day behind its day", KEY(FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")),
     GIVEN([HOST] = "h"), FROM, TO + MS(600000), "h#20150316#1953 h#20150316#2004\n"},
    {"a time of day over two days", KEY(FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")),
     GIVEN([HOST] = "h"), A_DAY, "h#20150316#1953 h#20150317#1954\n"},
    {"a time of day without its day", HOST_AND(PATTERN("HHmm")), {[HOST] = "h"}, A_DAY, "h# h$\n"},
    {"a time of day within one day", HOST_AND(PATTERN("HHmm")), GIVEN([HOST] = "h"), FROM, TO + MS(60000),
     "h#1953 h#1955\n"},
    {"a day of 14264892",
     KEY(PADDED_LEFT(METER, 10, '0'), LITERAL("#"),
         PART(.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES,
              .moment.drop_digits = 5)),
     GIVEN([METER] = "987654"), A_DAY, "0000987654#14264892 0000987654#14265757\n"},
    {"within an hour, newest first",
     KEY(FIELD(HOST), LITERAL("#"), PATTERN("yyyyMMddHH"),
         {.kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_S, SINCE(MINUTES, 60), .moment.reversed = TRUE}),
     GIVEN([HOST] = "h"), TWO_SECONDS, "h#20150316196786 h#20150316196788\n"},
    {"no time between", HOST_AND(TIME(MS)), {[HOST] = "h"}, FROM, FROM, ""},
    {"ends swapped", HOST_AND(TIME(MS)), {[HOST] = "h"}, TO, FROM, ""},
    {"before 1970", HOST_AND(TIME(S)), {[HOST] = "h"}, MS(-5000), MS(2000), "h#0000000000 h#0000000002\n"},
    {"all before 1970", HOST_AND(TIME(S)), {[HOST] = "h"}, MS(-5000), MS(-1000), ""},
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

KEY_TEST("/key-plan/plans")
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(cases[i].specs));
    g_autoptr(GError) error = NULL;
    g_test_message("%s", cases[i].name);
    reading_fixture_reset(fixture);
    for (gsize j = 0; j < N_KEY_FIELDS; j++)
      if (cases[i].values[j] != NULL)
        reading_fixture_set(fixture, key_field_names[j], cases[i].values[j]);
    g_autoptr(GArray) ranges = tide_row_key_plan(key, &fixture->reading, cases[i].from_ns, cases[i].to_ns, &error);
    g_assert_no_error(error);
    g_autofree char *text = plan_text(ranges);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

/* What is asked for is what rows show: where the key holds a field in lower case, or cut, behind a hash of all of it,
 * rows of several values show the same, each behind another hash. */
TEST("/key-plan/E6-a-hash-of-more-than-the-key-shows")
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

KEY_TEST("/key-plan/impossible-value-is-refused")
{
  static const TideKeyPartSpec specs[] = HOST_AND(TIME(MS));
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_autoptr(GError) error = NULL;
  reading_fixture_set(fixture, "host", "a#b");
  g_assert_null(tide_row_key_plan(key, &fixture->reading, FROM, TO, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  g_assert_nonnull(strstr(error->message, "'host'"));
}

TEST("/key-plan/order-of-time")
{
  static const struct {
    TideKeyPartSpec specs[4];
    int order;
  } orders[] = {
      {HOST_AND(TIME(MS)), 1},
      {HOST_AND(TIME_REVERSED_BINARY(MS)), -1},
      {{FIELD(HOST)}, 0},
      {{SALT(2, XXH3, of_time), TIME(S)}, 1},
      {{HASH_HEX(MD5, 4, of_time), TIME(S)}, 0},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST), TIME_REVERSED(S)}, -1},
      {{TIME(S), FIELD(HOST), TIME_REVERSED(MS)}, 0},
      {{TIME(S), LITERAL("."), TIME(MS)}, 1},
      {{TIME(S), LITERAL("."), TIME_REVERSED(MS)}, 0},
      {{TIME(MS), LITERAL("."), TIME_REVERSED(S)}, 1}, /* says nothing new */
      {{PATTERN("yyyyMMdd"), LITERAL("#"), PATTERN("HHmm")}, 1},
      {{PATTERN("yyyyMMdd"), FIELD(HOST)}, 1},
      {{PATTERN("yyyyMMdd"), PADDED_LEFT(METER, 5, '0'), PATTERN("HHmm")}, 0},
      {{PATTERN("yyyyMMdd"), PATTERN("mm")}, 0},
      {{PATTERN("HHmm")}, 0},
      {{{.kind = TIDE_KEY_TIME, CUT_TO(DAY, 0)}, PATTERN("HHmm")}, 1},
      {{{.kind = TIDE_KEY_TIME, CUT_TO(DAY, 0), .moment.drop_digits = 6}, PATTERN("HHmm")}, 0}, /* 11 days each */
      {{PATTERN("ddMMyyyy")}, 0},
      {{PATTERN("yyyyHH")}, 0},
      {{PATTERN_IN("yyyyMMdd", BERLIN), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.zone_name = BERLIN}}, 1},
      {{PATTERN("yyyyMMdd"), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.zone_name = BERLIN}}, 0},
      {{PATTERN("yyyyMMdd"), {.kind = TIDE_KEY_TIME, SINCE(DAY, 0), .moment.reversed = TRUE}}, 0},
      {{TIME(S), FIELD(HOST), TIME(MS)}, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(orders[i].specs));
    g_assert_cmpint(tide_row_key_time_order(key), ==, orders[i].order);
  }
}

TEST("/key-plan/time-is-read-only-from-keys-of-the-scheme")
{
  static const struct {
    TideKeyPartSpec specs[5];
    TideBytes row;
    gint64 ns; /* -1: none */
  } rows[] = {
      {HOST_AND(TIME(MS)), {(const guint8 *)"h#1426535612045", 15}, MS(1426535612045)},
      {HOST_AND(TIME(MS)), {(const guint8 *)"h#142653561204x", 15}, -1},
      {HOST_AND(TIME(MS)), {(const guint8 *)"h#142653561204", 14}, -1},
      {HOST_AND(TIME(MS)), {(const guint8 *)"h#14265356120456", 16}, -1},
      {HOST_AND(TIME(MS)), {(const guint8 *)"#1426535612045", 14}, -1},
      {HOST_AND(TIME(MS)), {(const guint8 *)"h", 1}, -1},
      {HOST_AND(TIME(MS)), {NULL, 0}, -1},
      {HOST_AND(TIME(MS)), {(const guint8 *)"h#9999999999999", 15}, -1}, /* beyond 2262 */
      {{FIELD(HOST), TIME(S)}, {(const guint8 *)"h1426535612", 11}, MS(1426535612000)},
      {{FIELD(HOST), TIME(S)}, {(const guint8 *)"1426535612", 10}, -1},
      {{LITERAL("B"), TIME_REVERSED(MS)}, {(const guint8 *)"B9223370811287575807", 20}, MS(1225567200000)},
      {{LITERAL("B"), TIME_REVERSED(MS)}, {(const guint8 *)"C9223370811287575807", 20}, -1},
      {{LITERAL("B"), TIME_REVERSED(NS)}, {(const guint8 *)"B9223372036854775808", 20}, -1},
      {{TIME_BINARY(S)}, {(const guint8 *)"\0\0\0\0\0\0\0\2", 8}, MS(2000)},
      {{TIME_BINARY(S)}, {(const guint8 *)"\x80\0\0\0\0\0\0\2", 8}, -1},
      {{TIME(S), LITERAL("."), FIELD(HOST), LITERAL("."), TIME(MS)},
       {(const guint8 *)"1426535612.h.1426535612045", 26},
       MS(1426535612045)},
      {{FIELD(HOST)}, {(const guint8 *)"1426535612045", 13}, -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(rows[i].specs));
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

TEST("/key-plan/split-points")
{
  static const struct {
    TideKeyPartSpec specs[4];
    guint32 n_regions;
    const char *expected;
  } points[] = {
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 0, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 4, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 100, "1 2 3"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 2, "2"},
      {{SALT(4, XXH3, of_host), FIELD(HOST)}, 1, ""},
      {{SALT(12, XXH3, of_host), FIELD(HOST)}, 3, "04 08"},
      {{LITERAL("B#"), SALT(3, XXH3, of_host), FIELD(HOST)}, 0, "B#1 B#2"},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 4, "40 80 c0"},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 3, "55555555 aaaaaaaa"},
      {{HASH_HEX(MD5, 1, of_host), FIELD(HOST)}, 3, "55 aa"},
      {{HASH_RAW(MD5, 2, of_host), FIELD(HOST)}, 4, "@ \\x80 \\xC0"},
      {{HASH_RAW(MD5, 0, of_host), FIELD(HOST)}, 3, "UUUUUUUU \\xAA\\xAA\\xAA\\xAA\\xAA\\xAA\\xAA\\xAA"},
      {{HASH_RAW(CRC32, 4, of_host), FIELD(HOST)}, 0, ""},
      {{HASH_RAW(CRC32, 4, of_host), FIELD(HOST)}, 1, ""},
      {{FIELD(HOST), LITERAL("#"), SALT(4, XXH3, of_host)}, 4, ""},
      {{TIME(MS)}, 4, ""},
      {{{.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 1, .digest.of = of_host, .digest.n_of = 1},
        FIELD(HOST)},
       0,
       "2 3 4"},
      {{PART(.kind = TIDE_KEY_SALT, .digest.modulo = 3, .digest.alphabet = {(const guint8 *)"abc", 3},
             .digest.of = of_host, .digest.n_of = 1),
        FIELD(HOST)},
       0,
       "b c"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 99999)}}, 4, "25000 50000 75000"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(1000, 1999)}}, 4, "01250 01500 01750"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 2)}}, 100, "00001 00002"},
      {{LITERAL("M"), {OF_FIELD(METER), .value.form = TIDE_KEY_INT16, RANGE(-32768, 32767)}},
       4,
       "M@\\x00 M\\x80\\x00 M\\xC0\\x00"},
      {{{OF_FIELD(METER), ZEROS(10), RANGE(0, 99999), .value.text_reversed = TRUE}}, 4, "25 5 75"},
      {{{OF_FIELD(METER), ZEROS(10), RANGE(0, 5), .value.text_reversed = TRUE}}, 4, ""},
      {{PADDED_LEFT(METER, 5, '0')}, 4, ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(points); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(points[i].specs));
    GArray *splits = tide_row_key_splits(key, points[i].n_regions);
    g_autofree char *text = splits_text(splits);
    g_assert_cmpstr(text, ==, points[i].expected);
    tide_splits_free(splits);
  }
}

TEST("/key-plan/one-byte-of-hash-has-256-regions")
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
KEY_TEST("/key-plan/splits-spread-random-ids")
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
  g_auto(TideBuffer) out = {0};
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
      reading_fixture_set_all(fixture, "host", id, "meter", number, NULL);
      tide_buffer_reset(&out);
      g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
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
