/* A description is a table's fingerprint: it is compared with one that an older program stored. */
#include "model/key/row_key.h"

#include "unit/key_schemes.h"

static TideBytes trucks[] = {{(const guint8 *)"truck", 5}, {(const guint8 *)"a\" b", 4}};
static const TideKeyDefault lane_defaults[] = {
    {{.kind = TIDE_CONDITION_EQUALS, .field = LANE, .values = trucks, .n_values = 2}, {(const guint8 *)"slow", 4}},
    {{.kind = TIDE_CONDITION_PRESENT, .field = LANE, .negated = TRUE}, {(const guint8 *)"any", 3}}};
static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};

#define COUNTED(u) .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_##u

/* These texts stand in the attributes of tables. They must not change. */
static void
test_texts_are_for_ever(void)
{
  static const struct {
    TideKeyPartSpec specs[4];
    gsize n_specs;
    const char *expected;
  } cases[] = {
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, "field(host) \"#\" time(ms)"},
      {{PADDED_LEFT(METER, 10, '0')}, 1, "field(meter, width 10, padded left with \"0\")"},
      {{{OF_FIELD(HOST), SPACES(4), .value.cut = TRUE}}, 1, "field(host, width 4, padded right with \" \", cut)"},
      {{{OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_UPPER, .spelling.strip_spaces = TRUE}},
       1,
       "field(host, upper case, without spaces)"},
      {{{OF_FIELD(HOST), .spelling.text_case = TIDE_CASE_LOWER, .value.text_reversed = TRUE}},
       1,
       "field(host, lower case, reversed)"},
      {{{OF_FIELD(HOST), .value.escape = TRUE}, LITERAL("#"), TIME(MS)}, 3, "field(host, escaped) \"#\" time(ms)"},
      {{AS(METER, INT32), AS(LANE, UINT64)}, 2, "field(meter, int32) field(lane, uint64)"},
      {{AS(METER, FLOAT32), AS(LANE, FLOAT64)}, 2, "field(meter, float32) field(lane, float64)"},
      {{{OF_FIELD(METER), ZEROS(5), RANGE(0, 99999)}},
       1,
       "field(meter, width 5, padded left with \"0\", from 0 to 99999)"},
      {{{OF_FIELD(METER), .value.form = TIDE_KEY_INT64, RANGE(-5, 5)}}, 1, "field(meter, int64, from -5 to 5)"},
      {{{OF_FIELD(HOST), .value.defaults = lane_defaults, .value.n_defaults = 2, .value.has_default = TRUE,
         .value.default_value = {(const guint8 *)"x", 1}}},
       1,
       "field(host, default \"slow\" when equals(lane \"truck\" \"a\\x22 b\"), default \"any\" when not present(lane), "
       "default \"x\")"},
      {{TIME_REVERSED_BINARY(NS)}, 1, "time(ns, reversed, binary)"},
      {{{COUNTED(MS), CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES, .moment.drop_digits = 5}},
       1,
       "time(ms, cut to day, without 5 digits, zone America/Los_Angeles)"},
      {{{COUNTED(S), CUT_TO(MINUTES, 15), SINCE(DAY, 0), .moment.zone_name = BERLIN, .binary = TRUE}},
       1,
       "time(s, binary, cut to 15m, since day, zone Europe/Berlin)"},
      {{PATTERN("yyyyMMdd'T'HH"), {.kind = TIDE_KEY_TIME, .moment.pattern = "HHmm", CUT_TO(MINUTES, 360)}},
       2,
       "time(\"yyyyMMdd'T'HH\") time(\"HHmm\", cut to 6h)"},
      {{PATTERN_IN("yyyyMMdd", BERLIN)}, 1, "time(\"yyyyMMdd\", zone Europe/Berlin)"},
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(DAY, 0), .moment.zone_name = BERLIN}},
       1,
       "time(\"yyyyMMdd\", zone Europe/Berlin)"}, /* the same bytes */
      {{{.kind = TIDE_KEY_TIME, .moment.pattern = "yyyyMMdd", CUT_TO(WEEK, 0)}}, 1, "time(\"yyyyMMdd\", cut to week)"},
      {{HASH_RAW(MD5, 4, of_host_user), FIELD(HOST), LITERAL("/"), FIELD(USER)},
       4,
       "hash(md5, 4 bytes, raw of field(host) field(user)) field(host) \"/\" field(user)"},
      {{SALT(16, XXH3, of_host), FIELD(HOST)}, 2, "salt(16, width 2, xxh3 of field(host)) field(host)"},
      {{{.kind = TIDE_KEY_SALT,
         .digest.modulo = 4,
         .digest.first = 1,
         .digest.by_number = TRUE,
         .digest.of = of_plain_meter,
         .digest.n_of = 1},
        FIELD(METER)},
       2,
       "salt(4, width 1, from 1, number of field(meter)) field(meter)"},
      {{{.kind = TIDE_KEY_SALT,
         .digest.modulo = 3,
         .digest.alphabet = {(const guint8 *)"abc", 3},
         .digest.of = of_host,
         .digest.n_of = 1},
        FIELD(HOST)},
       2,
       "salt(3, width 1, digits \"abc\", md5 of field(host)) field(host)"},
  };
  g_auto(ReadingFixture) fixture;
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(cases[i].specs, cases[i].n_specs);
    g_autofree char *text = tide_row_key_describe(key, fixture.names);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

/* Keys of different bytes, one change apart: no two of them are described alike. */
static void
test_each_change_shows(void)
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
      {.kind = TIDE_KEY_SALT,
       .digest.modulo = 4,
       .digest.alphabet = {(const guint8 *)"abcd", 4},
       .digest.of = of_host,
       .digest.n_of = 1},
      {.kind = TIDE_KEY_SALT,
       .digest.modulo = 4,
       .digest.alphabet = {(const guint8 *)"abcx", 4},
       .digest.of = of_host,
       .digest.n_of = 1},
      LITERAL("a"),
      LITERAL("b"),
      LITERAL("#"),
  };
  g_auto(ReadingFixture) fixture;
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(variants); i++) {
    TideKeyPartSpec specs[] = {variants[i], LITERAL("#"), FIELD(LANE)};
    g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
    char *text = tide_row_key_describe(key, fixture.names);
    g_test_message("%s", text);
    g_assert_true(g_hash_table_add(known, text));
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-describe/texts-are-for-ever", test_texts_are_for_ever);
  g_test_add_func("/key-describe/each-change-shows", test_each_change_shows);
  return g_test_run();
}
