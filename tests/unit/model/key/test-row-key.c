#include "model/key/row_key.h"

#include "unit/allocation_counter.h"
#include "unit/key_schemes.h"
#include "unit/test_case.h"

#define EVENT_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */

/* A key with the reading and the bytes that it makes. The keys of config/examples are held by tests/examples. */
typedef struct Golden {
  const char *name;
  TideKeyPartSpec specs[8];
  const char *values[N_KEY_FIELDS]; /* by field; NULL: absent */
  gint64 event_time_ns;
  const char *expected; /* as HBase's shell prints it */
} Golden;

#define MS(ms) (G_GINT64_CONSTANT(ms) * 1000000)

static const TideKeyPartSpec of_plain_meter[] = {FIELD(METER)};
#define DAY_START_OF_8_DIGITS                                                                                          \
  {                                                                                                                    \
    .kind = TIDE_KEY_TIME, .moment.unit = TIDE_KEY_TIME_MS, CUT_TO(DAY, 0), .moment.zone_name = LOS_ANGELES,           \
    .moment.drop_digits = 5                                                                                            \
  }
#define SALT_FROM_1(n, inputs)                                                                                         \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.modulo = (n), .digest.first = 1, .digest.by_number = TRUE, .digest.of = (inputs),   \
    .digest.n_of = 1                                                                                                   \
  }
#define SALT_IN_LETTERS(n, inputs)                                                                                     \
  {                                                                                                                    \
    .kind = TIDE_KEY_SALT, .digest.modulo = (n), .digest.alphabet = {(const guint8 *)"abc", 3},                        \
    .digest.by_number = TRUE, .digest.of = (inputs), .digest.n_of = 1                                                  \
  }

static const Golden goldens[] = {
    {"server metrics", HOST_AND(TIME(MS)), GIVEN([HOST] = "server1.bbb.com"), MS(1426535612045),
     "server1.bbb.com#1426535612045"},
    {"quotes, padded",
     KEY(PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("#"), PADDED_RIGHT(SYMBOL, 5, ' '), LITERAL("#"), TIME(MS)),
     GIVEN([EXCHANGE] = "NYSE", [SYMBOL] = "IBM"), MS(1426535612156), "NYSE  #IBM  #1426535612156"},
    {"a meter of full width", {PADDED_LEFT(METER, 10, '0')}, {[METER] = "0000987654"}, 0, "0000987654"},
    {"meter 0", {PADDED_LEFT(METER, 10, '0')}, {[METER] = "0"}, 0, "0000000000"},
    {"seconds", HOST_AND(TIME(S)), {[HOST] = "h"}, MS(1426535612999), "h#1426535612"},
    {"microseconds", HOST_AND(TIME(US)), {[HOST] = "h"}, 1426535612045067999, "h#1426535612045067"},
    {"nanoseconds", HOST_AND(TIME(NS)), {[HOST] = "h"}, 1426535612045067089, "h#1426535612045067089"},
    {"the first second", {TIME(S)}, {NULL}, 0, "0000000000"},
    {"the last second", {TIME(S)}, {NULL}, G_MAXINT64, "9223372036"},
    {"the last millisecond", {TIME(MS)}, {NULL}, G_MAXINT64, "9223372036854"},
    {"the last nanosecond", {TIME(NS)}, {NULL}, G_MAXINT64, "9223372036854775807"},
    {"the first, reversed", {TIME_REVERSED(MS)}, {NULL}, 0, "9223372036854775807"},
    {"the last, reversed", {TIME_REVERSED(NS)}, {NULL}, G_MAXINT64, "0000000000000000000"},
    {"binary", {FIELD(HOST), TIME_BINARY(MS)}, {[HOST] = "h"}, MS(1426535612045), "h\\x00\\x00\\x01L$%\\xFE\\x8D"},
    {"binary, reversed", KEY(FIELD(HOST), TIME_REVERSED_BINARY(MS)), GIVEN([HOST] = "h"), MS(1426535612045),
     "h\\x7F\\xFF\\xFE\\xB3\\xDB\\xDA\\x01r"},
    /* md5("server1.bbb.com") begins with these bytes: printf server1.bbb.com | md5sum */
    {"hash first", KEY(HASH_HEX(MD5, 4, of_host), LITERAL("-"), FIELD(HOST)), GIVEN([HOST] = "server1.bbb.com"), 0,
     "8570c505-server1.bbb.com"},
    {"hash first, raw", KEY(HASH_RAW(MD5, 4, of_host), FIELD(HOST), TIME_REVERSED_BINARY(MS)),
     GIVEN([HOST] = "server1.bbb.com"), MS(1426535612045),
     "\\x85p\\xC5\\x05server1.bbb.com\\x7F\\xFF\\xFE\\xB3\\xDB\\xDA\\x01r"},
    {"a hash that stands for the field", KEY(HASH_HEX(SHA1, 0, of_host), TIME(S)), GIVEN([HOST] = "abc"),
     MS(1426535612045), "a9993e364706816aba3e25717850c26c9cd0d89d1426535612"},
    /* crc32("123456789") = 0xcbf43926 = 3421780262, modulo 16 = 6, modulo 1000 = 262 */
    {"salt", {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)}, {[HOST] = "123456789"}, 0, "06#123456789"},
    {"salt with a width", {SALT_WIDTH(16, 4, CRC32, of_host), FIELD(HOST)}, {[HOST] = "123456789"}, 0, "0006123456789"},
    {"salt of a thousand", KEY(LITERAL("M"), SALT(1000, CRC32, of_host), FIELD(HOST)), GIVEN([HOST] = "123456789"), 0,
     "M262123456789"},
    /* xxh3("abc") = 0x78af5f94892f3950, modulo 10 = 4 */
    {"salt by xxh3", {SALT(10, XXH3, of_host), LITERAL("#"), FIELD(HOST)}, {[HOST] = "abc"}, 0, "4#abc"},
    /* crc32("0000987654") = 4099741352, modulo 16 = 8: the value is hashed as it stands in the key */
    {"salt of a padded field", KEY(SALT(16, CRC32, of_meter), LITERAL("#"), PADDED_LEFT(METER, 10, '0')),
     GIVEN([METER] = "987654"), 0, "08#0000987654"},
    /* md5("a\0b") */
    {"hash of two fields", KEY(HASH_HEX(MD5, 16, of_host_user)), GIVEN([HOST] = "a", [USER] = "b"), 0,
     "70350f6027bce3713f6b76473084309b"},
    {"smart meters, a row for each day",
     KEY(PADDED_LEFT(METER, 10, '0'), LITERAL("#"), PATTERN_IN("yyyyMMdd", LOS_ANGELES)), GIVEN([METER] = "987654"),
     MS(1501088763000), /* 2017-07-26T10:06:03 there */
     "0000987654#20170726"},
    {"smart meters, the day's start without five digits",
     KEY(PADDED_LEFT(METER, 10, '0'), LITERAL("#"), DAY_START_OF_8_DIGITS), GIVEN([METER] = "987654"),
     MS(1426535612045), "0000987654#14264892"},
    {"the day's start at 00:00", KEY(PADDED_LEFT(METER, 10, '0'), LITERAL("#"), DAY_START_OF_8_DIGITS),
     GIVEN([METER] = "987654"), MS(1426489200000), "0000987654#14264892"},
    {"salt of a number behind a literal",
     KEY(LITERAL("BATTERY#"), SALT_FROM_1(4, of_plain_meter), LITERAL("#"), PATTERN("yyyyMMdd"), LITERAL("#"),
         FIELD(METER)),
     GIVEN([METER] = "20004"), MS(1425213901003), "BATTERY#1#20150301#20004"},
    {"salt in letters", KEY(SALT_IN_LETTERS(3, of_plain_meter), LITERAL("-foo"), PADDED_LEFT(METER, 4, '0')),
     GIVEN([METER] = "3"), 0, "a-foo0003"},
    {"salt of a number below 0", KEY(SALT_BY_NUMBER(16, of_plain_meter), LITERAL("#"), FIELD(METER)),
     GIVEN([METER] = "-1"), 0, "15#-1"},
    {"salt of a number of any length", KEY(SALT_BY_NUMBER(7, of_plain_meter), LITERAL("#"), FIELD(METER)),
     GIVEN([METER] = "123456789012345678901234567890"), 0, "0#123456789012345678901234567890"},
    {"default", {FIELD_DEFAULT(HOST, "none"), LITERAL("#"), FIELD(USER)}, {[USER] = "u"}, 0, "none#u"},
    {"UTF-8", {FIELD(HOST)}, {[HOST] = "K\xc3\xb6ln"}, 0, "K\\xC3\\xB6ln"},
    {"a literal with any byte", KEY(FIELD(HOST), LITERAL("\0\xff"), FIELD(USER)), GIVEN([HOST] = "a", [USER] = "b"), 0,
     "a\\x00\\xFFb"},
};

static void
set_values(ReadingFixture *fixture, const char *const *values)
{
  reading_fixture_reset(fixture);
  for (gsize i = 0; i < N_KEY_FIELDS; i++)
    if (values[i] != NULL)
      reading_fixture_set(fixture, key_field_names[i], values[i]);
}

KEY_TEST("/row-key/goldens")
{
  for (gsize i = 0; i < G_N_ELEMENTS(goldens); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(goldens[i].specs));
    g_auto(TideBuffer) out = {0};
    TideReject reject;
    set_values(fixture, goldens[i].values);
    fixture->reading.event_time_ns = goldens[i].event_time_ns;
    tide_buffer_append_bytes(&out, TIDE_BYTES_LITERAL("before"));
    g_test_message("%s", goldens[i].name);
    g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
    assert_same_bytes(tide_bytes(out.data, 6), TIDE_BYTES_LITERAL("before"));
    g_autofree char *printable = tide_bytes_printable(tide_bytes(out.data + 6, out.len - 6));
    g_assert_cmpstr(printable, ==, goldens[i].expected);
  }
}

/* Where each part ends, counted from the key's first byte. */
KEY_TEST("/row-key/parts-end-where-they-do")
{
  static const TideKeyPartSpec specs[] = {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST), LITERAL("#"), TIME(MS)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(TideBuffer) out = {0};
  static const gsize expected[] = {2, 3, 12, 13, 26};
  gsize ends[G_N_ELEMENTS(specs)];
  TideReject reject;
  reading_fixture_set(fixture, "host", "123456789");
  fixture->reading.event_time_ns = EVENT_MS * TIDE_NS_PER_MS;
  tide_buffer_append_bytes(&out, TIDE_BYTES_LITERAL("before"));
  g_assert_cmpuint(tide_row_key_n_parts(key), ==, G_N_ELEMENTS(specs));
  g_assert_true(tide_row_key_append_parts(key, &fixture->reading, &out, ends, &reject));
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpuint(ends[i], ==, expected[i]);
}

/* A value that no key can be made of: nothing is appended, and the field is named. */
KEY_TEST("/row-key/bad-values-are-rejected")
{
  static const TideKeyPartSpec plain[] = {FIELD(HOST)};
  static const TideKeyPartSpec before_hash[] = HOST_AND(TIME(MS));
  static const TideKeyPartSpec before_word[] = {FIELD(HOST), LITERAL("aba"), FIELD(USER)};
  static const TideKeyPartSpec zeros[] = {PADDED_LEFT(HOST, 4, '0'), LITERAL("#"), TIME(MS)};
  static const TideKeyPartSpec spaces[] = {PADDED_RIGHT(HOST, 4, ' '), LITERAL("#"), TIME(MS)};
  static const TideKeyPartSpec dots[] = {PADDED_RIGHT(HOST, 4, '.')};
  static const TideKeyPartSpec hashed[] = {SALT(4, XXH3, of_host), LITERAL("x"), TIME(MS)};
#define SPECS(specs) (specs), G_N_ELEMENTS(specs)
  static const struct {
    const TideKeyPartSpec *specs;
    gsize n_specs;
    TideValueKind kind;
    TideBytes text;
    const char *detail; /* NULL: accepted */
  } cases[] = {
      {SPECS(plain), TIDE_VALUE_STRING, {NULL, 0}, "empty"},
      {SPECS(plain), TIDE_VALUE_STRING, {(const guint8 *)" ", 1}, "nothing but spaces"},
      {SPECS(plain), TIDE_VALUE_STRING, {(const guint8 *)"   ", 3}, "nothing but spaces"},
      {SPECS(plain), TIDE_VALUE_STRING, {(const guint8 *)" a ", 3}, NULL},
      {SPECS(plain), TIDE_VALUE_STRING, {(const guint8 *)"a\0b", 3}, "NUL"},
      {SPECS(plain), TIDE_VALUE_STRING, {(const guint8 *)"a\n\033[2J", 6}, NULL}, /* bytes as they are */
      {SPECS(plain), TIDE_VALUE_NUMBER, {(const guint8 *)"600.550", 7}, NULL},
      {SPECS(plain), TIDE_VALUE_BOOL, {(const guint8 *)"true", 4}, NULL},
      {SPECS(plain), TIDE_VALUE_JSON, {(const guint8 *)"[1]", 3}, "array or object"},
      {SPECS(before_hash), TIDE_VALUE_STRING, {(const guint8 *)"a#b", 3}, "literal that follows"},
      {SPECS(before_hash), TIDE_VALUE_STRING, {(const guint8 *)"#", 1}, "literal that follows"},
      {SPECS(before_hash), TIDE_VALUE_STRING, {(const guint8 *)"a.b", 3}, NULL},
      {SPECS(before_word), TIDE_VALUE_STRING, {(const guint8 *)"xabay", 5}, "literal that follows"},
      {SPECS(before_word), TIDE_VALUE_STRING, {(const guint8 *)"xab", 3}, "literal that follows"}, /* xab|aba */
      {SPECS(before_word), TIDE_VALUE_STRING, {(const guint8 *)"ab", 2}, "literal that follows"},  /* ab|aba */
      {SPECS(before_word), TIDE_VALUE_STRING, {(const guint8 *)"xa", 2}, NULL},                    /* xa|aba */
      {SPECS(before_word), TIDE_VALUE_STRING, {(const guint8 *)"b", 1}, NULL},
      {SPECS(zeros), TIDE_VALUE_NUMBER, {(const guint8 *)"12345", 5}, "longer"},
      {SPECS(zeros), TIDE_VALUE_NUMBER, {(const guint8 *)"1234", 4}, NULL},
      {SPECS(zeros), TIDE_VALUE_NUMBER, {(const guint8 *)"0", 1}, NULL},
      {SPECS(zeros), TIDE_VALUE_NUMBER, {(const guint8 *)"00000", 5}, "longer"},
      {SPECS(zeros), TIDE_VALUE_STRING, {(const guint8 *)"a#", 2}, NULL}, /* of fixed width: harmless */
      {SPECS(spaces), TIDE_VALUE_STRING, {(const guint8 *)"NYSEX", 5}, "longer"},
      {SPECS(spaces), TIDE_VALUE_STRING, {(const guint8 *)"    ", 4}, "spaces"},
      {SPECS(dots), TIDE_VALUE_STRING, {(const guint8 *)"..", 2}, "consists only of padding"},
      {SPECS(hashed), TIDE_VALUE_STRING, {NULL, 0}, "empty"}, /* also where it is only hashed */
  };
  reading_fixture_set(fixture, "user", "u");
  fixture->reading.event_time_ns = EVENT_MS * TIDE_NS_PER_MS;
  fixture->reading.index = 3;
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(cases[i].specs, cases[i].n_specs);
    g_auto(TideBuffer) out = {0};
    TideReject reject = {0};
    g_autofree char *printable = tide_bytes_printable(cases[i].text);
    tide_buffer_append_bytes(&out, TIDE_BYTES_LITERAL("before"));
    reading_fixture_set_bytes(fixture, "host", cases[i].kind, cases[i].text);
    g_test_message("case %" G_GSIZE_FORMAT ": '%s'", i, printable);
    g_assert_cmpint(tide_row_key_append(key, &fixture->reading, &out, &reject), ==, cases[i].detail == NULL);
    if (cases[i].detail == NULL)
      continue;
    g_assert_cmpuint(out.len, ==, 6);
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
    g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("host")));
    g_assert_cmpuint(reject.reading_index, ==, 3);
    g_assert_nonnull(strstr(reject.detail, cases[i].detail));
  }
}

KEY_TEST("/row-key/missing-field-is-named")
{
  static const TideKeyPartSpec specs[] = {FIELD(HOST), LITERAL("#"), FIELD(USER)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(TideBuffer) out = {0};
  TideReject reject;
  reading_fixture_set(fixture, "host", "h");
  g_assert_false(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_MISSING_FIELD);
  tide_reject_resolve_field(&reject, fixture->names);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("user")));

  reading_fixture_set_null(fixture, "user");
  g_assert_false(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_MISSING_FIELD);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("user")));
  g_assert_cmpuint(out.len, ==, 0);
}

KEY_TEST("/row-key/default-stands-for-absent-and-null-only")
{
  static const TideKeyPartSpec specs[] = {FIELD_DEFAULT(HOST, "none")};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(TideBuffer) out = {0};
  TideReject reject;
  g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
  reading_fixture_set_null(fixture, "host");
  g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("nonenone"));
  reading_fixture_set(fixture, "host", "");
  g_assert_false(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_BAD_KEY);
}

TEST("/row-key/times-before-1970-have-no-key")
{
  static const TideKeyPartSpec texts[] = {TIME(MS)}, binaries[] = {TIME_REVERSED_BINARY(NS)};
  const TideKeyPartSpec *all[] = {texts, binaries};
  for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
    g_autoptr(TideRowKey) key = compile_key(all[i], 1);
    g_auto(TideBuffer) out = {0};
    TideReading reading = {.event_time_ns = -1};
    TideReject reject;
    g_assert_false(tide_row_key_append(key, &reading, &out, &reject));
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TIME_INVALID);
  }
}

KEY_TEST("/row-key/key-is-at-most-what-hbase-allows")
{
  static const TideKeyPartSpec specs[] = {FIELD(HOST)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_auto(TideBuffer) out = {0};
  g_autofree char *longest = g_strnfill(TIDE_ROW_KEY_MAX_BYTES, 'x');
  g_autofree char *too_long = g_strnfill(TIDE_ROW_KEY_MAX_BYTES + 1, 'x');
  TideReject reject;
  tide_buffer_append_bytes(&out, TIDE_BYTES_LITERAL("before"));
  reading_fixture_set(fixture, "host", too_long);
  g_assert_false(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_cmpint(reject.reason, ==, TIDE_REJECT_ROW_TOO_LONG);
  g_assert_cmpuint(out.len, ==, 6);
  reading_fixture_set(fixture, "host", longest);
  g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
  g_assert_cmpuint(out.len, ==, 6 + TIDE_ROW_KEY_MAX_BYTES);
}

KEY_TEST("/row-key/key-owns-what-it-was-made-of")
{
  char literal[] = "#", value[] = "none";
  TideKeyPartSpec input = FIELD(HOST);
  TideKeyPartSpec specs[] = {PART(.kind = TIDE_KEY_SALT, .digest.hash = TIDE_KEY_HASH_CRC32, .digest.modulo = 16,
                                  .digest.of = &input, .digest.n_of = 1),
                             {.kind = TIDE_KEY_LITERAL, .literal = tide_bytes_of_string(literal)},
                             PART(.kind = TIDE_KEY_FIELD, .value.field = HOST, .value.has_default = TRUE,
                                  .value.default_value = tide_bytes_of_string(value)),
                             {.kind = TIDE_KEY_LITERAL, .literal = tide_bytes_of_string(literal)},
                             TIME(S)};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  literal[0] = '!';
  value[0] = '!';
  input.value.field = USER;
  memset(specs, 0xff, sizeof specs);

  g_auto(TideBuffer) out = {0};
  TideReject reject;
  reading_fixture_set(fixture, "host", "123456789");
  g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
  assert_same_bytes(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("06#123456789#0000000000"));
}

static void
assert_ids(const GArray *ids, const TideNameId *expected, gsize n_expected)
{
  g_assert_cmpuint(ids->len, ==, n_expected);
  for (guint i = 0; i < ids->len; i++)
    g_assert_cmpuint(g_array_index(ids, TideNameId, i), ==, expected[i]);
}

TEST("/row-key/fields-are-listed-once")
{
  static const TideKeyPartSpec specs[] = {
      SALT(4, XXH3, of_host_user), FIELD(HOST), LITERAL("#"), FIELD(HOST), LITERAL("#"), PADDED_LEFT(METER, 4, '0')};
  g_autoptr(TideRowKey) key = compile_key(specs, G_N_ELEMENTS(specs));
  g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  g_autoptr(GArray) stored = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(key, used);
  tide_row_key_stored_fields(key, stored);
  assert_ids(used, (const TideNameId[]){HOST, USER, METER}, 3);
  assert_ids(stored, (const TideNameId[]){HOST, METER}, 2);
}

TEST("/row-key/key-knows-whether-it-holds-the-time")
{
  static const TideKeyPartSpec with[] = {FIELD(HOST), TIME(MS)}, without[] = {FIELD(HOST)};
  static const TideKeyPartSpec of_time[] = {TIME(S)};
  static const TideKeyPartSpec salted[] = {SALT(4, XXH3, of_time), FIELD(HOST)};
  g_autoptr(TideRowKey) timed = compile_key(with, 2);
  g_autoptr(TideRowKey) timeless = compile_key(without, 1);
  g_autoptr(TideRowKey) only_salted = compile_key(salted, 2);
  g_assert_true(tide_row_key_has_time(timed));
  g_assert_false(tide_row_key_has_time(timeless));
  g_assert_false(tide_row_key_has_time(only_salted));
}

KEY_TEST("/row-key/appending-allocates-nothing")
{
  if (!ALLOCATION_COUNTER_WORKS) {
    g_test_skip("the sanitizer has an allocator of its own");
    return;
  }
  g_auto(TideBuffer) out = {0};
  for (gsize i = 0; i < G_N_ELEMENTS(goldens); i++) {
    g_autoptr(TideRowKey) key = compile_key(PARTS(goldens[i].specs));
    TideReject reject;
    set_values(fixture, goldens[i].values);
    tide_buffer_reset(&out);
    g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
    guint64 before = allocation_count;
    for (int n = 0; n < 100; n++) {
      tide_buffer_reset(&out);
      g_assert_true(tide_row_key_append(key, &fixture->reading, &out, &reject));
    }
    g_assert_cmpuint(allocation_count - before, ==, 0);
  }
}
