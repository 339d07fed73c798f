/* Declared keys: which compile, what is written with them, what is read back, and what is said of them. */
#include "model/key/row_key.h"
#include "unit/key_schemes.h"
#include "unit/test_case.h"

/* ---- key compile ----
 *
 * What is refused as a key, and what is not. */

#define UPPER(id)                                                                                                      \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = (id), .spelling.text_case = TIDE_CASE_UPPER                                 \
  }
#define SALT_IN(digits)                                                                                                \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.modulo = 3, .digest.alphabet = {(const guint8 *)(digits), sizeof(digits) - 1},      \
    .digest.of = of_host, .digest.n_of = 1                                                                             \
  }

static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};
static const TideKeyPartSpec of_worded_meter[] = {FIELD_DEFAULT(METER, "none")};
static const TideKeyPartSpec of_date[] = {PATTERN("yyyyMMdd")};
static const TideKeyPartSpec of_nothing[] = {LITERAL("x")};
static const TideKeyPartSpec of_salt[] = {SALT(4, XXH3, of_host)};
static const TideKeyPartSpec of_bad_default[] = {FIELD_DEFAULT(HOST, "")};

TEST("/key-compile/bad-keys-do-not-compile")
{
  static const struct {
    TideKeyPartSpec specs[6];
    gsize bad_part;
    const char *fault; /* in the error; NULL: compiles */
  } cases[] = {
      {{{0}}, 0, "no parts"},
      {{LITERAL("a"), LITERAL("b")}, 0, "neither a field nor the time"},
      {{SALT(4, XXH3, of_host)}, 0, "neither a field nor the time"},
      {{FIELD(HOST), LITERAL("")}, 1, "empty"},
      {{LITERAL("a"), FIELD(TIDE_NAME_NONE)}, 1, "no name"},
      {{{.kind = (TideKeyPartKind)99}}, 0, "unknown kind"},
      /* where fields end */
      {{FIELD(HOST), FIELD(USER)}, 0, "is ambiguous"},
      {{FIELD(HOST), TIME(MS), LITERAL("#"), FIELD(USER)}, 0, "is ambiguous"},
      {{FIELD(HOST), LITERAL("#"), FIELD(USER), TIME(MS), FIELD(LANE)}, 2, "is ambiguous"},
      {{FIELD(HOST), LITERAL("#"), FIELD(USER)}, 0, NULL},
      {{FIELD(HOST), TIME(MS), PADDED_LEFT(METER, 10, '0')}, 0, NULL},
      {{PADDED_LEFT(METER, 10, '0'), FIELD(HOST)}, 0, NULL},
      {{TIME(MS), FIELD(HOST)}, 0, NULL},
      /* padding */
      {{PADDED_RIGHT(METER, 10, '0')}, 0, "padded with '0' on the right"},
      {{PADDED_LEFT(METER, 10, '1')}, 0, "padded with '1'"},
      {{PADDED_LEFT(METER, 10, 'x')}, 0, "padded with 'x'"},
      {{PADDED_LEFT(METER, 10, 0xe9)}, 0, NULL},
      {{PADDED_LEFT(METER, 32768, '0')}, 0, "32767"},
      {{PADDED_LEFT(METER, 10, ' ')}, 0, NULL},
      {{PADDED_RIGHT(METER, 10, '\0')}, 0, NULL},
      /* defaults */
      {{FIELD_DEFAULT(HOST, "")}, 0, "default ''"},
      {{LITERAL("x"), FIELD_DEFAULT(HOST, "a#b"), LITERAL("#"), TIME(MS)}, 1, "default 'a#b'"},
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(MD5, 16, of_bad_default)}, 2, "default ''"},
      /* hashes */
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(MD5, 17, of_host)}, 2, "md5 has only 16"},
      {{FIELD(HOST), LITERAL("#"), HASH_HEX(XXH3, 9, of_host)}, 2, "xxh3 has only 8"},
      {{HASH_HEX(MD5, 15, of_host), TIME(MS)}, 0, "only as a hash of less than 16"},
      {{HASH_HEX(XXH3, 0, of_host), TIME(MS)}, 0, "only as a hash of less than 16"},
      {{HASH_HEX(MD5, 4, of_host_user), FIELD(HOST)}, 0, "only as a hash of less than 16"},
      {{HASH_HEX(MD5, 16, of_host), TIME(MS)}, 0, NULL},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 0, NULL},
      {{HASH_HEX(MD5, 4, of_nothing), FIELD(HOST)}, 0, "neither a field nor a time"},
      {{HASH_HEX(MD5, 4, of_salt), FIELD(HOST)}, 0, "contains another one"},
      /* salts */
      {{SALT(0, XXH3, of_host), FIELD(HOST)}, 0, "2 to 4096"},
      {{SALT(1, XXH3, of_host), FIELD(HOST)}, 0, "2 to 4096"},
      {{SALT(4097, XXH3, of_host), FIELD(HOST)}, 0, "2 to 4096"},
      {{SALT_WIDTH(11, 1, XXH3, of_host), FIELD(HOST)}, 0, "at least 2"},
      {{SALT_WIDTH(10, 1, XXH3, of_host), FIELD(HOST)}, 0, NULL},
      {{SALT_WIDTH(10, 11, XXH3, of_host), FIELD(HOST)}, 0, "at most 10"},
      {{SALT(4, XXH3, of_nothing), FIELD(HOST)}, 0, "neither a field nor a time"},
      {{SALT(4, XXH3, of_host), FIELD(HOST), SALT(4, XXH3, of_host)}, 2, "two salts"},
      /* one field in two forms */
      {{SALT(4, XXH3, of_host), PADDED_RIGHT(HOST, 8, ' ')}, 0, "in another form"},
      {{HASH_HEX(MD5, 4, of_host), UPPER(HOST)}, 0, "in another form"},
      {{SALT(4, XXH3, of_meter), FIELD(METER)}, 0, NULL},                         /* it follows from the whole value */
      {{SALT_BY_NUMBER(4, of_plain_meter), PADDED_LEFT(METER, 8, '0')}, 0, NULL}, /* zeros do not count */
      {{SALT_BY_NUMBER(4, of_plain_meter), AS(METER, INT32)}, 0, NULL},
      {{HASH_HEX(MD5, 16, of_host), UPPER(HOST)}, 0, NULL}, /* stands for the field itself */
      {{UPPER(HOST), LITERAL("#"), PADDED_RIGHT(HOST, 8, ' ')}, 2, "twice"},
      /* salts by number, and in other digits */
      {{SALT_BY_NUMBER(4, of_host_user), FIELD(HOST)}, 0, "more than one field"},
      {{SALT_BY_NUMBER(4, of_worded_meter), FIELD(METER)}, 0, "whose default is not an integer"},
      {{SALT_BY_NUMBER(4, of_date), FIELD(HOST)}, 0, "with a pattern"},
      {{SALT_IN("cba"), FIELD(HOST)}, 0, "in ascending order"},
      {{SALT_IN("aab"), FIELD(HOST)}, 0, "in ascending order"},
      {{SALT_IN("a"), FIELD(HOST)}, 0, "at least 2"},
      {{SALT_IN("ab"), FIELD(HOST)}, 0, NULL},
      /* clocks */
      {HOST_AND(PATTERN_IN("yyyyMMddHH", BERLIN)), 2, "in the repeated hour"},
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHH", BERLIN), TIME(S)}, 0, NULL},
      {{FIELD(HOST), LITERAL("#"), PATTERN_IN("yyyyMMddHHmmssSSS", BERLIN), TIME(S)}, 2, "in the repeated hour"},
      {HOST_AND(PATTERN_IN("yyyyMMddHH", "+02:00")), 0, NULL},
      /* the whole */
      {{PADDED_LEFT(METER, 32767, '0')}, 0, NULL},
      {{PADDED_LEFT(METER, 32767, '0'), LITERAL("x")}, 1, "longer than the 32767"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    gsize bad_part = G_MAXSIZE;
    g_autoptr(TideRowKey) key = compile_in_zones(PARTS(cases[i].specs), &bad_part, &error);
    g_test_message("case %" G_GSIZE_FORMAT ": %s", i, cases[i].fault != NULL ? cases[i].fault : "compiles");
    g_assert_cmpint(key != NULL, ==, cases[i].fault == NULL);
    if (cases[i].fault == NULL) {
      g_assert_no_error(error);
      continue;
    }
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_assert_nonnull(strstr(error->message, cases[i].fault));
    g_assert_cmpuint(bad_part, ==, cases[i].bad_part);
  }
}

TEST("/key-compile/number-of-parts-is-bounded")
{
  TideKeyPartSpec specs[TIDE_ROW_KEY_MAX_PARTS + 1];
  gsize bad_part;
  g_autoptr(GError) error = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(specs); i++)
    specs[i] = (TideKeyPartSpec)TIME(MS);
  g_autoptr(TideRowKey) key = compile_key(specs, TIDE_ROW_KEY_MAX_PARTS);
  g_assert_cmpuint(tide_row_key_n_parts(key), ==, TIDE_ROW_KEY_MAX_PARTS);
  g_assert_null(tide_row_key_compile(specs, TIDE_ROW_KEY_MAX_PARTS + 1, &bad_part, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_cmpuint(bad_part, ==, TIDE_ROW_KEY_MAX_PARTS);
}

/* ---- key describe ----
 *
 * A description is a table's fingerprint: it is compared with one that an older program stored. */

static TideBytes trucks[] = {{(const guint8 *)"truck", 5}, {(const guint8 *)"a\" b", 4}};
static const TideKeyDefault lane_defaults[] = {
    {{.kind = TIDE_CONDITION_EQUALS, .field = LANE, .values = trucks, .n_values = 2}, {(const guint8 *)"slow", 4}},
    {{.kind = TIDE_CONDITION_PRESENT, .field = LANE, .negated = TRUE}, {(const guint8 *)"any", 3}}};
static const TideKeyPartSpec of_plain_meter_key_describe[] = {FIELD(METER)};

#define COUNTED(u) .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u

/* These texts stand in the attributes of tables. They must not change. */
KEY_TEST("/key-describe/texts-are-for-ever")
{
  static const struct {
    TideKeyPartSpec specs[4];
    const char *expected;
  } cases[] = {
      {HOST_AND(TIME(MS)), "field(host) \"#\" time(ms)"},
      {{PADDED_LEFT(METER, 10, '0')}, "field(meter, width 10, padded left with \"0\")"},
      {{PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("\"\\\x01"), TIME_REVERSED(US)},
       "field(exchange, width 6, padded right with \" \") \"\\x22\\x5C\\x01\" time(us, reversed)"},
      {{FIELD_DEFAULT(USER, "nobody"), LITERAL("#"), TIME(S)}, "field(user, default \"nobody\") \"#\" time(s)"},
      {{SALT(16, XXH3, of_meter), LITERAL("#"), PADDED_LEFT(METER, 10, '0')},
       "salt(16, width 2, xxh3 of field(meter, width 10, padded left with \"0\")) \"#\" "
       "field(meter, width 10, padded left with \"0\")"},
      {{{OF_FIELD(HOST), SPACES(4), .value.cut = TRUE}}, "field(host, width 4, padded right with \" \", cut)"},
      {{{OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_UPPER, .spelling.strip_spaces = TRUE}},
       "field(host, upper case, without spaces)"},
      {{{OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_LOWER, .value.text_reversed = TRUE}},
       "field(host, lower case, reversed)"},
      {{{OF_FIELD(HOST), .value.escape = TRUE}, LITERAL("#"), TIME(MS)}, "field(host, escaped) \"#\" time(ms)"},
      {{AS(METER, INT32), AS(LANE, UINT64)}, "field(meter, int32) field(lane, uint64)"},
      {{AS(METER, FLOAT32), AS(LANE, FLOAT64)}, "field(meter, float32) field(lane, float64)"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 99999)}},
       "field(meter, width 5, padded left with \"0\", from 0 to 99999)"},
      {{{OF_FIELD(METER), .value.form = TIDE_KEY_INT64, RANGE(-5, 5)}}, "field(meter, int64, from -5 to 5)"},
      {{PART(OF_FIELD(HOST), .value.defaults = lane_defaults, .value.n_defaults = 2, .value.has_default = TRUE,
             .value.default_value = {(const guint8 *)"x", 1})},
       "field(host, default \"slow\" when equals(lane \"truck\" \"a\\x22 b\"), default \"any\" when not present(lane), "
       "default \"x\")"},
      {{TIME_REVERSED_BINARY(NS)}, "time(ns, reversed, binary)"},
      {{{COUNTED(MS), CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}},
       "time(ms, cut to day, without 5 digits, zone America/Los_Angeles)"},
      {{{COUNTED(S), CUT_TO(MINUTES, 15), SINCE(DAY, 0), .moment.zone_name = BERLIN, .binary = TRUE}},
       "time(s, binary, cut to 15m, since day, zone Europe/Berlin)"},
      {{PATTERN("yyyyMMdd'T'HH"), {.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 360)}},
       "time(\"yyyyMMdd'T'HH\") time(\"HHmm\", cut to 6h)"},
      {{PATTERN_IN("yyyyMMdd", BERLIN)}, "time(\"yyyyMMdd\", zone Europe/Berlin)"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(DAY, 0), .moment.zone_name = BERLIN}},
       "time(\"yyyyMMdd\", zone Europe/Berlin)"}, /* the same bytes */
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}}, "time(\"yyyyMMdd\", cut to week)"},
      {{HASH_RAW(MD5, 4, of_host_user), FIELD(HOST), LITERAL("/"), FIELD(USER)},
       "hash(md5, 4 bytes, raw of field(host) field(user)) field(host) \"/\" field(user)"},
      {{SALT(16, XXH3, of_host), FIELD(HOST)}, "salt(16, width 2, xxh3 of field(host)) field(host)"},
      {{PART(.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 1, .digest.by_number = TRUE,
             .digest.of = of_plain_meter_key_describe, .digest.n_of = 1),
        FIELD(METER)},
       "salt(4, width 1, from 1, number of field(meter)) field(meter)"},
      {{PART(.kind = TIDE_KEY_SALT, .digest.modulo = 3, .digest.alphabet = {(const guint8 *)"abc", 3},
             .digest.of = of_host, .digest.n_of = 1),
        FIELD(HOST)},
       "salt(3, width 1, digits \"abc\", md5 of field(host)) field(host)"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(cases[i].specs));
    g_autofree char *text = tide_row_key_describe(key, fixture->names);
    g_autofree char *second = tide_row_key_describe_part(key, fixture->names, 1);
    g_assert_cmpstr(text, ==, cases[i].expected);
    g_assert_nonnull(strstr(text, second));
  }
}

/* A description is compared with an older one: what looks the same must be the same. */
TEST("/key-describe/names-cannot-imitate-the-description")
{
  g_auto(ReadingFixture) fixture;
  reading_fixture_init(&fixture);
  TideKeyPartSpec specs[] = {FIELD(reading_fixture_id(&fixture, "a) \"#\" field(b"))};
  g_autoptr(TideRowKey) key = compile_key(specs, 1);
  g_autofree char *text = tide_row_key_describe(key, fixture.names);
  g_assert_cmpstr(text, ==, "field(\"a) \\x22#\\x22 field(b\")");
}

/* Keys of different bytes, one change apart: no two of them are described alike. */
KEY_TEST("/key-describe/each-change-shows")
{
  static const TideKeyPartSpec variants[] = {
      FIELD(HOST),
      FIELD(USER),
      PADDED_LEFT(HOST, 5, '0'),
      PADDED_LEFT(HOST, 6, '0'),
      PADDED_LEFT(HOST, 6, ' '),
      PADDED_RIGHT(HOST, 6, ' '),
      {OF_FIELD(HOST), SPACES(6), .value.cut = TRUE},
      {OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_LOWER},
      {OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_UPPER},
      {OF_FIELD(HOST), .spelling.strip_spaces = TRUE},
      {OF_FIELD(HOST), .value.text_reversed = TRUE},
      {OF_FIELD(HOST), .value.escape = TRUE},
      {OF_FIELD(HOST), ZEROS(6), RANGE(0, 9)},
      {OF_FIELD(HOST), ZEROS(6), RANGE(1, 9)},
      {OF_FIELD(HOST), ZEROS(6), RANGE(0, 8)},
      FIELD_DEFAULT(HOST, "a"),
      FIELD_DEFAULT(HOST, "b"),
      {OF_FIELD(HOST), .value.defaults = lane_defaults, .value.n_defaults = 1},
      {OF_FIELD(HOST), .value.defaults = lane_defaults + 1, .value.n_defaults = 1},
      {OF_FIELD(HOST), .value.defaults = lane_defaults, .value.n_defaults = 2},
      AS(HOST, INT8),
      AS(HOST, INT16),
      AS(HOST, INT32),
      AS(HOST, INT64),
      AS(HOST, UINT8),
      AS(HOST, UINT16),
      AS(HOST, UINT32),
      AS(HOST, UINT64),
      AS(HOST, FLOAT32),
      AS(HOST, FLOAT64),
      TIME(S),
      TIME(MS),
      TIME(US),
      TIME(NS),
      TIME_BINARY(MS),
      TIME_REVERSED(MS),
      TIME_REVERSED_BINARY(MS),
      {COUNTED(MS), .moment.drop_digits = 1},
      {COUNTED(MS), .moment.drop_digits = 2},
      {COUNTED(MS), CUT_TO(DAY, 0)},
      {COUNTED(MS), CUT_TO(DAY, 0), .moment.zone_name = BERLIN},
      {COUNTED(MS), CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES},
      {COUNTED(MS), CUT_TO(MINUTES, 15)},
      {COUNTED(MS), CUT_TO(MINUTES, 60)},
      {COUNTED(MS), SINCE(DAY, 0)},
      {COUNTED(MS), SINCE(MINUTES, 60)},
      {COUNTED(MS), SINCE(DAY, 0), CUT_TO(MINUTES, 60)},
      {COUNTED(MS), SINCE(DAY, 0), .moment.zone_name = BERLIN},
      PATTERN("yyyyMMdd"),
      PATTERN("yyyyMM"),
      PATTERN_IN("yyyyMMdd", BERLIN),
      {.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(MONTH, 0)},
      HASH_HEX(MD5, 16, of_host),
      HASH_HEX(SHA1, 16, of_host),
      HASH_HEX(SHA1, 17, of_host),
      HASH_RAW(SHA1, 16, of_host),
      HASH_HEX(SHA1, 16, of_meter),
      HASH_HEX(SHA1, 16, of_host_user),
      SALT(4, MD5, of_host),
      SALT(5, MD5, of_host),
      SALT(4, XXH3, of_host),
      SALT_WIDTH(4, 2, MD5, of_host),
      SALT(4, MD5, of_meter),
      {.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 1, .digest.of = of_host, .digest.n_of = 1},
      {.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.first = 2, .digest.of = of_host, .digest.n_of = 1},
      {.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.by_number = TRUE, .digest.of = of_host, .digest.n_of = 1},
      PART(.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.alphabet = {(const guint8 *)"abcd", 4},
           .digest.of = of_host, .digest.n_of = 1),
      PART(.kind = TIDE_KEY_SALT, .digest.modulo = 4, .digest.alphabet = {(const guint8 *)"abcx", 4},
           .digest.of = of_host, .digest.n_of = 1),
      LITERAL("a"),
      LITERAL("b"),
      LITERAL("#"),
  };
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
    TideKeyPartSpec specs[] = {variants[i], LITERAL("#"), FIELD(LANE)};
    g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
    char *text = tide_row_key_describe(key, fixture->names);
    g_test_message("%s", text);
    g_assert_true(g_hash_table_add(known, text));
  }
}

/* ---- key encode ----
 *
 * Texts that need not identify anything: qualifiers, values, names of tables. test-row-key.c has the keys. */

#define EVENT_NS (G_GINT64_CONSTANT(1426535612045) * 1000000)

#define NAME()                                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_NAME                                                                                              \
  }
#define NAME_UPPER_STRIPPED()                                                                                          \
  {                                                                                                                    \
    .kind = TIDE_KEY_NAME, .spelling.text_case = TIDE_CASE_UPPER, .spelling.strip_spaces = TRUE                        \
  }

KEY_TEST("/key-encode/texts")
{
  static const struct {
    TideKeyPartSpec specs[4];
    gboolean is_constant;
    const char *expected;
  } cases[] = {
      {{LITERAL("ts")}, TRUE, "ts"},
      {{LITERAL("CPU/"), NAME_UPPER_STRIPPED()}, TRUE, "CPU/CPU1_USR"},
      {{NAME(), LITERAL("#"), FIELD(LANE)}, FALSE, "cpu1 _usr#7"},
      {{FIELD(LANE), FIELD(USER)}, FALSE, "7a#b"}, /* nobody asks where one ends */
      {{FIELD(USER), LITERAL("#"), TIME(S)}, FALSE, "a#b#1426535612"},
      {{TIME(MS)}, FALSE, "1426535612045"},
  };
  reading_fixture_set_all(fixture, "lane", "7", "user", "a#b", NULL);
  fixture->reading.event_time_ns = EVENT_NS;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideBuffer) out = {0};
    gsize bad_part;
    TideReject reject;
    g_autoptr(TideRowKey) text = tide_key_text_compile(PARTS(cases[i].specs), TRUE, &bad_part, &error);
    g_assert_no_error(error);
    g_assert_cmpint(tide_key_text_is_constant(text), ==, cases[i].is_constant);
    g_assert_true(tide_key_text_append(text, &fixture->reading, TIDE_BYTES_LITERAL("cpu1 _usr"), &out, &reject));
    assert_same_bytes(tide_buffer_bytes(&out), tide_bytes_of_string(cases[i].expected));
  }
}

TEST("/key-encode/name-stands-only-where-it-may")
{
  static const TideKeyPartSpec specs[] = {LITERAL("x"), NAME()};
  g_autoptr(GError) error = NULL;
  gsize bad_part;
  g_assert_null(tide_key_text_compile(specs, 2, FALSE, &bad_part, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_cmpuint(bad_part, ==, 1);
}

TEST("/key-encode/time-in-a-value-is-read-back")
{
  static const struct {
    TideKeyPartSpec specs[2];
    TideBytes value;
    gint64 ms; /* -1: none */
  } cases[] = {
      {{TIME(MS)}, {(const guint8 *)"1426535612045", 13}, 1426535612045},
      {{TIME(MS)}, {(const guint8 *)"142653561204", 12}, -1},
      {{TIME_BINARY(MS)}, {(const guint8 *)"\0\0\x01L$%\xfe\x8d", 8}, 1426535612045},
      {{FIELD(HOST)}, {(const guint8 *)"1426535612045", 13}, -1},
      {{LITERAL("t"), TIME(MS)}, {(const guint8 *)"t1426535612045", 14}, -1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gsize bad_part;
    gint64 ns = -TIDE_NS_PER_MS;
    g_autoptr(TideRowKey) text = tide_key_text_compile(PARTS(cases[i].specs), FALSE, &bad_part, NULL);
    g_assert_cmpint(tide_key_text_read_time(text, cases[i].value, &ns), ==, cases[i].ms >= 0);
    g_assert_cmpint(ns / TIDE_NS_PER_MS, ==, cases[i].ms);
  }
}

/* ---- key decode ---- */

/* A row and what it says: "field=text ... from..to", times in milliseconds. */
typedef struct DecodeCase {
  const char *name;
  TideKeyPartSpec specs[8];
  TideBytes row;
  const char *expected; /* NULL: not made by this key */
} DecodeCase;

#define ROW(text)                                                                                                      \
  {                                                                                                                    \
    (const guint8 *)("" text), sizeof(text) - 1                                                                        \
  }

#define UPPER_HOST                                                                                                     \
  {                                                                                                                    \
    .kind = TIDE_KEY_FIELD, .value.field = HOST, .spelling.text_case = TIDE_CASE_UPPER                                 \
  }

static const DecodeCase cases[] = {
    {"server metrics", HOST_AND(TIME(MS)), ROW("server1.bbb.com#1426535612045"),
     "host=server1.bbb.com 1426535612045..1426535612046"},
    {"no time", {FIELD(HOST)}, ROW("h"), "host=h"},
    {"quotes, padded",
     KEY(PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("#"), PADDED_RIGHT(SYMBOL, 5, ' '), LITERAL("#"), TIME(MS)),
     ROW("NYSE  #IBM  #1426535612156"), "exchange=NYSE symbol=IBM 1426535612156..1426535612157"},
    {"a meter", {PADDED_LEFT(METER, 10, '0')}, ROW("0000987654"), "meter=987654"},
    {"meter 0", {PADDED_LEFT(METER, 10, '0')}, ROW("0000000000"), "meter=0"},
    {"newest first",
     KEY(FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)),
     ROW("15#S#1#9223370811287575807"), "exchange=15 lane=S symbol=1 1225567200000..1225567200001"},
    {"time in the middle", KEY(FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)), ROW("u:1426535612:a:b"),
     "user=u lane=a:b 1426535612000..1426535613000"},
    {"the default itself", {FIELD_DEFAULT(HOST, "none")}, ROW("none"), "host=none"},
    {"a field twice that agrees", KEY(PADDED_LEFT(METER, 5, '0'), LITERAL("/"), FIELD(METER)), ROW("00007/007"),
     "meter=007"},
    {"a field twice that does not agree", {FIELD(HOST), LITERAL("/"), FIELD(HOST)}, ROW("a/b"), NULL},
    {"the time twice", KEY(TIME(S), LITERAL("."), TIME(MS)), ROW("1426535612.1426535612045"),
     "1426535612045..1426535612046"},
    {"the time twice, in two seconds", {TIME(S), LITERAL("."), TIME(MS)}, ROW("1426535613.1426535612045"), NULL},
    {"a salt that is the field's", KEY(SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)), ROW("06#123456789"),
     "host=123456789"},
    {"a salt that is not", {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)}, ROW("07#123456789"), NULL},
    {"a hash that is not", {HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, ROW("8570c506server1.bbb.com"), NULL},
    {"another literal", HOST_AND(TIME(S)), ROW("h/1426535612"), NULL},
    {"too long", HOST_AND(TIME(S)), ROW("h#14265356120"), NULL},
    {"nothing but padding", {PADDED_RIGHT(EXCHANGE, 4, ' ')}, ROW("    "), NULL},
    {"a letter in the wrong case", {UPPER_HOST}, ROW("HOst"), NULL},
    {"letters in the right case", {UPPER_HOST}, ROW("HOST"), "host=HOST"},
};

static char *
decoded_text(const ReadingFixture *fixture, const TideDecodedKey *decoded)
{
  GString *text = g_string_new(NULL);
  for (gsize i = 0; i < decoded->n_fields; i++) {
    TideBytes name = tide_field_names_text(fixture->names, decoded->fields[i].field);
    g_autofree char *printable = tide_bytes_printable(decoded->fields[i].text);
    g_string_append_printf(text, "%s%.*s=%s", i > 0 ? " " : "", (int)name.len, name.data, printable);
  }
  if (decoded->has_time)
    g_string_append_printf(text, "%s%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT, text->len > 0 ? " " : "",
                           decoded->from_ns / TIDE_NS_PER_MS, decoded->to_ns / TIDE_NS_PER_MS);
  return g_string_free(text, FALSE);
}

KEY_TEST("/key-decode/rows-are-read-back")
{
  TideDecodedKey decoded = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(cases[i].specs));
    g_test_message("%s", cases[i].name);
    gboolean is_ours = tide_row_key_decode(key, cases[i].row, &decoded);
    g_autofree char *text = is_ours ? decoded_text(fixture, &decoded) : NULL;
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
  tide_decoded_key_clear(&decoded);
}

KEY_TEST("/key-decode/what-is-lost-is-said")
{
  static const struct {
    TideKeyPartSpec specs[4];
    const char *expected; /* in the first sentence; NULL: nothing is lost */
  } lost[] = {
      {HOST_AND(TIME(MS)), NULL},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, NULL},
      {{HASH_HEX(MD5, 16, of_host), TIME(MS)}, "'host' is only hashed"},
      {{SALT(4, MD5, of_host), TIME(MS)}, "'host' is only in the salt"},
      {{UPPER_HOST}, "'host' is in upper case"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(lost); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(lost[i].specs));
    g_autoptr(GPtrArray) sentences = tide_row_key_lost(key, fixture->names);
    g_assert_cmpuint(sentences->len, ==, lost[i].expected != NULL ? 1 : 0);
    if (lost[i].expected != NULL)
      g_assert_nonnull(strstr(g_ptr_array_index(sentences, 0), lost[i].expected));
  }
}
