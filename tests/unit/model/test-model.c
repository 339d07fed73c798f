/* Names, patterns, conditions, reasons, and the memory of a message. */
#include "model/condition.h"
#include "model/field_names.h"
#include "model/glob.h"
#include "model/reject.h"
#include "model/scratch.h"
#include "unit/allocation_counter.h"
#include "unit/decoder_fixture.h"
#include "unit/reading_fixture.h"
#include "unit/test_case.h"

/* ---- glob ---- */

static gboolean
matches(const char *pattern, const char *text)
{
  return tide_glob_matches(tide_bytes_of_string(pattern), tide_bytes_of_string(text));
}

TEST("/glob/whole-text")
{
  static const struct {
    const char *pattern;
    const char *text;
    gboolean matches;
  } cases[] = {
      {"", "", TRUE},
      {"", "a", FALSE},
      {"a", "", FALSE},
      {"CPU/*", "CPU/CPU1_USR", TRUE},
      {"CPU/*", "CPU/", TRUE},
      {"CPU/*", "CPU", FALSE},
      {"CPU/*", "XCPU/1", FALSE},
      {"*", "", TRUE},
      {"*", "anything", TRUE},
      {"**", "a", TRUE},
      {"*_USR", "CPU1_USR", TRUE},
      {"*_USR", "CPU1_USR2", FALSE},
      {"*_USR", "_USR_USR", TRUE},
      {"a*b*c", "a-b-b-c", TRUE},
      {"a*b*c", "a-c-b", FALSE},
      {"db-?", "db-1", TRUE},
      {"db-?", "db-", FALSE},
      {"db-?", "db-12", FALSE},
      {"?*", "", FALSE},
      {"*?", "x", TRUE},
      {"db", "DB", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' '%s'", cases[i].pattern, cases[i].text);
    g_assert_cmpint(matches(cases[i].pattern, cases[i].text), ==, cases[i].matches);
  }
}

TEST("/glob/backslash")
{
  g_assert_true(matches("a\\*", "a*"));
  g_assert_false(matches("a\\*", "ab"));
  g_assert_true(matches("a\\?b", "a?b"));
  g_assert_false(matches("a\\?b", "axb"));
  g_assert_true(matches("a\\\\*", "a\\b"));
  g_assert_true(matches("\\a", "a"));
  g_assert_true(matches("a\\", "a\\"));
  g_assert_true(matches("\\*?", "*x"));
}

TEST("/glob/question-mark-is-one-character")
{
  g_assert_true(matches("?", "\xC3\xA9"));
  g_assert_true(matches("x?y", "x\xE2\x82\xACy"));
  g_assert_true(matches("?", "\xF0\x9F\x8C\x8A"));
  g_assert_false(matches("??", "\xE2\x82\xAC"));
  g_assert_false(matches("*??", "\xE2\x82\xAC"));
  g_assert_true(matches("*\xE2\x82\xAC", "5 \xE2\x82\xAC"));
  g_assert_true(matches("\\\xE2\x82\xAC?", "\xE2\x82\xAC\xC3\xA9"));
  /* What is no UTF-8 counts byte by byte; a character that is cut off as one. */
  g_assert_true(matches("???", "\x80\xFF\xBF"));
  g_assert_true(matches("?a", "\xE2\x82"
                              "a"));
}

TEST("/glob/any-byte")
{
  g_assert_true(tide_glob_matches(TIDE_BYTES_LITERAL("a*\0?"), TIDE_BYTES_LITERAL("a\0b\0c")));
  g_assert_false(tide_glob_matches(TIDE_BYTES_LITERAL("a\0b"), TIDE_BYTES_LITERAL("a\0c")));
  g_assert_true(tide_glob_matches(TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY));
}

/* The plain definition, exponential, for short texts of three letters. */
static gboolean
matches_by_definition(const char *pattern, const char *text)
{
  if (*pattern == '\0')
    return *text == '\0';
  if (*pattern == '*')
    return matches_by_definition(pattern + 1, text) || (*text != '\0' && matches_by_definition(pattern, text + 1));
  return *text != '\0' && (*pattern == '?' || *pattern == *text) && matches_by_definition(pattern + 1, text + 1);
}

TEST("/glob/agrees-with-the-definition")
{
  static const char letters[] = "ab*?";
  for (int n = 0; n < 100000; n++) {
    char pattern[8] = "", text[10] = "";
    int pattern_len = g_test_rand_int_range(0, 8), text_len = g_test_rand_int_range(0, 10);
    for (int i = 0; i < pattern_len; i++)
      pattern[i] = letters[g_test_rand_int_range(0, 4)];
    for (int i = 0; i < text_len; i++)
      text[i] = letters[g_test_rand_int_range(0, 2)];
    pattern[pattern_len] = text[text_len] = '\0';
    g_test_message("'%s' '%s'", pattern, text);
    g_assert_cmpint(matches(pattern, text), ==, matches_by_definition(pattern, text));
  }
}

/* A pattern that makes naive matchers try every way to cut the text: here at most 41 x 20,001 steps. */
TEST("/glob/no-exponential-time")
{
  g_autofree char *text = g_strnfill(20000, 'a');
  gint64 start_us = g_get_monotonic_time();
  g_assert_false(matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
  g_assert_cmpint(g_get_monotonic_time() - start_us, <, 10 * G_USEC_PER_SEC);
}

TEST("/glob/is-pattern")
{
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU/*")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU?")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\**")));
  g_assert_true(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\\\*")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("CPU/CPU1")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\*\\?")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_LITERAL("\\")));
  g_assert_false(tide_glob_is_pattern(TIDE_BYTES_EMPTY));
}

/* @name with its stars replaced by what those of @pattern stand for in @text; NULL: it does not match. */
static char *
renamed(const char *pattern, const char *name, const char *text)
{
  TideGlobStars stars;
  g_auto(TideBuffer) out = {0};
  if (!tide_glob_match_stars(tide_bytes_of_string(pattern), tide_bytes_of_string(text), &stars))
    return NULL;
  tide_glob_append_renamed(tide_bytes_of_string(name), &stars, &out);
  tide_buffer_append_byte(&out, '\0');
  return g_strdup((const char *)out.data);
}

TEST("/glob/stars-rename")
{
  static const struct {
    const char *pattern, *name, *text, *renamed;
  } cases[] = {
      {"*_mV", "*_V", "cell1_mV", "cell1_V"},
      {"cpu_*_*", "CPU/*/*", "cpu_0_usr_time", "CPU/0/usr_time"}, /* the first as little as it can */
      {"*_*", "*.*", "a_b_c", "a.b_c"},
      {"*a*b", "<*><*>", "xaab", "<x><a>"},
      {"*a", "<*>", "aaaa", "<aaa>"},
      {"*", "*", "", ""},
      {"**", "*-*", "ab", "-ab"},
      {"t?mp*", "temp*", "tamp9", "temp9"},
      {"*x", "*?", "ax", "a?"},
      {"*x", "\\**", "ax", "*a"},
      {"a*", "*", "b", NULL},
      {"a\\**", "*", "a*b", "b"},
      {"*\xE2\x82\xAC?", "*", "1\xE2\x82\xAC\xE2\x82\xAC", "1"},
      {"*1*2*3*4*5*6*7*8*", "********", "a1b2c3d4e5f6g7h8i", "abcdefgh"}, /* beyond the eighth star nothing is kept */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' '%s' '%s'", cases[i].pattern, cases[i].name, cases[i].text);
    g_autofree char *text = renamed(cases[i].pattern, cases[i].name, cases[i].text);
    g_assert_cmpstr(text, ==, cases[i].renamed);
  }
  g_assert_cmpuint(tide_glob_n_stars(TIDE_BYTES_LITERAL("a*b\\*c**")), ==, 3);
  g_assert_cmpuint(tide_glob_n_stars(TIDE_BYTES_EMPTY), ==, 0);
}

/* ---- condition ---- */

/* A condition made by hand; its values are borrowed literals. */
static TideCondition
condition_of(ReadingFixture *fixture, TideConditionKind kind, const char *field, TideBytes *values, gsize n_values)
{
  return (TideCondition){
      .kind = kind, .field = reading_fixture_id(fixture, field), .values = values, .n_values = n_values};
}

/* What holds must not hold negated, and the other way round. */
static void
assert_holds(TideCondition condition, const ReadingFixture *fixture, gboolean expected)
{
  g_assert_cmpint(tide_condition_holds(&condition, &fixture->reading), ==, expected);
  condition.negated = TRUE;
  g_assert_cmpint(tide_condition_holds(&condition, &fixture->reading), ==, !expected);
}

READING_TEST("/condition/presence")
{
  reading_fixture_set(fixture, "empty", "");
  reading_fixture_set_null(fixture, "null");
  static const struct {
    const char *field;
    gboolean is_present;
  } cases[] = {{"empty", TRUE}, {"null", FALSE}, {"missing", FALSE}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    assert_holds(condition_of(fixture, TIDE_CONDITION_PRESENT, cases[i].field, NULL, 0), fixture, cases[i].is_present);
    assert_holds(condition_of(fixture, TIDE_CONDITION_ABSENT, cases[i].field, NULL, 0), fixture, !cases[i].is_present);
  }
}

READING_TEST("/condition/equals-is-byte-for-byte")
{
  reading_fixture_set(fixture, "type", "quote");
  reading_fixture_set_bytes(fixture, "n", TIDE_VALUE_NUMBER, TIDE_BYTES_LITERAL("1.0"));
  reading_fixture_set_null(fixture, "null");
  TideBytes words[] = {TIDE_BYTES_LITERAL("trade"), TIDE_BYTES_LITERAL("quote")};
  TideBytes other_case[] = {TIDE_BYTES_LITERAL("Quote"), TIDE_BYTES_LITERAL("quote ")};
  TideBytes one[] = {TIDE_BYTES_LITERAL("1")}, exact[] = {TIDE_BYTES_LITERAL("1.0")}, empty[] = {TIDE_BYTES_EMPTY};
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "type", words, 2), fixture, TRUE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "type", words, 1), fixture, FALSE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "type", other_case, 2), fixture, FALSE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "n", one, 1), fixture, FALSE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "n", exact, 1), fixture, TRUE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "null", empty, 1), fixture, FALSE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_EQUALS, "missing", empty, 1), fixture, FALSE);
}

READING_TEST("/condition/matches-is-by-pattern")
{
  reading_fixture_set(fixture, "host", "db-17");
  TideBytes patterns[] = {TIDE_BYTES_LITERAL("web-*"), TIDE_BYTES_LITERAL("db-??")};
  TideBytes any[] = {TIDE_BYTES_LITERAL("*")};
  assert_holds(condition_of(fixture, TIDE_CONDITION_MATCHES, "host", patterns, 2), fixture, TRUE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_MATCHES, "host", patterns, 1), fixture, FALSE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_MATCHES, "host", any, 1), fixture, TRUE);
  assert_holds(condition_of(fixture, TIDE_CONDITION_MATCHES, "missing", any, 1), fixture, FALSE);
}

READING_TEST("/condition/all-together")
{
  reading_fixture_set(fixture, "type", "quote");
  TideBytes quote[] = {TIDE_BYTES_LITERAL("quote")};
  TideCondition conditions[] = {
      condition_of(fixture, TIDE_CONDITION_EQUALS, "type", quote, 1),
      condition_of(fixture, TIDE_CONDITION_PRESENT, "BID", NULL, 0),
  };
  g_assert_true(tide_conditions_hold(NULL, 0, &fixture->reading));
  g_assert_true(tide_conditions_hold(conditions, 1, &fixture->reading));
  g_assert_false(tide_conditions_hold(conditions, 2, &fixture->reading));
  reading_fixture_set(fixture, "BID", "17.5");
  guint64 n_before = allocation_count;
  g_assert_true(tide_conditions_hold(conditions, 2, &fixture->reading));
  g_assert_cmpuint(allocation_count, ==, n_before);
}

static void
assert_described(ReadingFixture *fixture, TideCondition condition, const char *expected, const char *expected_negated)
{
  g_autofree char *plain = tide_condition_describe(&condition, fixture->names);
  condition.negated = TRUE;
  g_autofree char *negated = tide_condition_describe(&condition, fixture->names);
  g_assert_cmpstr(plain, ==, expected);
  g_assert_cmpstr(negated, ==, expected_negated);
}

READING_TEST("/condition/description")
{
  TideBytes words[] = {TIDE_BYTES_LITERAL("quote"), TIDE_BYTES_LITERAL("tra\nde")};
  assert_described(fixture, condition_of(fixture, TIDE_CONDITION_EQUALS, "type", words, 2),
                   "field 'type' is 'quote' or 'tra\\x0Ade'", "field 'type' is neither 'quote' nor 'tra\\x0Ade'");
  assert_described(fixture, condition_of(fixture, TIDE_CONDITION_EQUALS, "type", words, 1), "field 'type' is 'quote'",
                   "field 'type' is not 'quote'");
  assert_described(fixture, condition_of(fixture, TIDE_CONDITION_MATCHES, "type", words, 1),
                   "field 'type' matches 'quote'", "field 'type' does not match 'quote'");
  assert_described(fixture, condition_of(fixture, TIDE_CONDITION_PRESENT, "BID", NULL, 0), "field 'BID' is present",
                   "field 'BID' is absent or null");
  assert_described(fixture, condition_of(fixture, TIDE_CONDITION_ABSENT, "BID", NULL, 0),
                   "field 'BID' is absent or null", "field 'BID' is present");
}

/* ---- field names ---- */

TEST("/field-names/same-name-has-same-id")
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

TEST("/field-names/any-bytes-are-a-name")
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

TEST("/field-names/text-stays-where-it-is")
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

TEST("/field-names/copy-has-the-same-ids-and-grows-alone")
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

TEST("/field-names/number-of-names-is-bounded")
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  for (guint32 i = 0; i < TIDE_FIELD_NAMES_MAX; i++)
    g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(&i, sizeof i)), ==, i);
  g_assert_cmpuint(tide_field_names_intern(names, TIDE_BYTES_LITERAL("one too many")), ==, TIDE_NAME_NONE);
  guint32 last = TIDE_FIELD_NAMES_MAX - 1;
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(&last, sizeof last)), ==, last);
}

TEST("/field-names/bytes-of-names-are-bounded")
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autofree guint8 *big = g_malloc0(TIDE_FIELD_NAMES_MAX_BYTES + 1);
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(big, TIDE_FIELD_NAMES_MAX_BYTES + 1)), ==, TIDE_NAME_NONE);
  g_assert_cmpuint(tide_field_names_intern(names, tide_bytes(big, TIDE_FIELD_NAMES_MAX_BYTES)), ==, 0);
  g_assert_cmpuint(tide_field_names_intern(names, TIDE_BYTES_LITERAL("x")), ==, TIDE_NAME_NONE);
  g_assert_cmpuint(tide_field_names_count(names), ==, 1);
}

TEST("/field-names/unknown-id-has-no-text")
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_assert_cmpuint(tide_field_names_text(names, 0).len, ==, 0);
  g_assert_cmpuint(tide_field_names_text(names, TIDE_NAME_NONE).len, ==, 0);
}

TEST("/field-names/names-of-the-record")
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

/* ---- record fields ----
 *
 * What the record itself offers as fields. */

/* One header. */
typedef struct Header {
  const char *name;
  TideBytes value;
} Header;

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  const Header *header = message->headers;
  if (!g_str_equal(header->name, name))
    return FALSE;
  *ret_value = header->value;
  return TRUE;
}

static const Header site_header = {"site", TIDE_BYTES_LITERAL("de-1")};

static void
fill_record(DecoderFixture *fixture)
{
  fixture->message.key = TIDE_BYTES_LITERAL("k\xFF\0z");
  fixture->message.partition = 7;
  fixture->message.offset = G_MAXINT64;
  fixture->message.timestamp_ms = 1426535612045;
  fixture->message.find_header = find_header;
  fixture->message.headers = &site_header;
}

TEST("/record-fields/every-part-is-appended-to-each-reading")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("[{\"a\":1},{}]", "a=N:1 $key=S:k\\xFF\\x00z $topic=S:metrics $partition=N:7 "
                                     "$offset=N:9223372036854775807 $timestamp=N:1426535612045 $header.site=S:de-1;"
                                     "$key=S:k\\xFF\\x00z $topic=S:metrics $partition=N:7 "
                                     "$offset=N:9223372036854775807 $timestamp=N:1426535612045 $header.site=S:de-1;"),
      DECODER_CASE("[]", ""),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId key = decoder_fixture_use(&fixture, "$key");
  static const char *const others[] = {"$topic", "$partition", "$offset", "$timestamp", "$header.site", "$header.no"};
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    decoder_fixture_use(&fixture, others[i]);
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));

  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{\"a\":1}")));
  g_assert_true(tide_reading_field(&fixture.readings[0], key) == &fixture.readings[0].fields[1]);
}

TEST("/record-fields/only-those-that-are-used-appear")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"a\":1}", "a=N:1 $offset=N:9223372036854775807;"),
      DECODER_CASE("{\"$key\":1,\"$x\":2}", "$key=N:1 $x=N:2 $offset=N:9223372036854775807;"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  decoder_fixture_use(&fixture, "a");
  decoder_fixture_use(&fixture, "$offset");
  decoder_fixture_use(&fixture, "$other");
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

TEST("/record-fields/what-the-record-lacks-is-absent")
{
  static const DecoderCase cases[] = {DECODER_CASE("{\"a\":1}", "a=N:1;")};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId key = decoder_fixture_use(&fixture, "$key");
  decoder_fixture_use(&fixture, "$timestamp");
  decoder_fixture_use(&fixture, "$header.site");
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
  g_assert_null(tide_reading_field(&fixture.readings[0], key));
}

TEST("/record-fields/a-field-of-a-used-name-is-a-duplicate")
{
  static const DecoderCase cases[] = {
      DECODER_CASE("{\"$key\":\"forged\"}", "duplicate_field@0"),
      DECODER_CASE("{} {\"a\":1,\"$key\":{\"b\":1}}", "duplicate_field@3"),
      DECODER_CASE("{\"a\":{\"$key\":1}}", "a/$key=N:1 $key=S:k\\xFF\\x00z;"),
  };
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  decoder_fixture_use(&fixture, "$key");
  fill_record(&fixture);
  decoder_fixture_check(&fixture, cases, G_N_ELEMENTS(cases));
}

/* A27 */
TEST("/record-fields/a-huge-binary-header-is-taken-as-bytes")
{
  g_autofree guint8 *bytes = g_malloc(1024 * 1024);
  memset(bytes, 0xFE, 1024 * 1024);
  bytes[10] = 0;
  const Header huge = {"blob", tide_bytes(bytes, 1024 * 1024)};
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  TideNameId blob = decoder_fixture_use(&fixture, "$header.blob");
  fixture.message.find_header = find_header;
  fixture.message.headers = &huge;
  g_assert_true(decoder_fixture_decode(&fixture, TIDE_BYTES_LITERAL("{}")));
  g_assert_true(tide_bytes_equal(tide_reading_field(&fixture.readings[0], blob)->text, huge.value));
}

/* ---- reject ---- */

TEST("/reject/names-are-distinct-words")
{
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (int reason = TIDE_REJECT_NONE; reason < TIDE_REJECT_N_REASONS; reason++) {
    const char *name = tide_reject_reason_name((TideRejectReason)reason);
    g_assert_cmpstr(name, !=, "unknown");
    g_assert_true(g_hash_table_add(seen, (gpointer)name));
    g_assert_cmpuint(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), ==, strlen(name));
  }
}

TEST("/reject/sentence-names-what-and-where")
{
  static const struct {
    TideReject reject;
    const char *expected;
  } cases[] = {
      {{.reason = TIDE_REJECT_EMPTY, .byte_position = -1}, "the message is empty"},
      {{.reason = TIDE_REJECT_PARSE, .byte_position = 17, .detail = "a comma is missing"},
       "not in the declared format: a comma is missing, at byte 17"},
      {{.reason = TIDE_REJECT_MISSING_FIELD,
        .field = {(const guint8 *)"host", 4},
        .byte_position = -1,
        .reading_index = 2},
       "a field that the key or the time needs is absent or null, in 'host', in reading 2 of the message (from 0)"},
      {{.reason = TIDE_REJECT_MISSING_FIELD,
        .field = {(const guint8 *)"at", 2},
        .byte_position = -1,
        .detail = "it is absent"},
       "a field that the key or the time needs is absent or null: 'at' is absent"},
      {{.reason = TIDE_REJECT_BAD_KEY, .field = {(const guint8 *)"a\033[2J\n", 6}, .byte_position = -1},
       "a value that a row key cannot contain, in 'a\\x1B[2J\\x0A'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_reject_describe(&cases[i].reject);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

TEST("/reject/every-reason-has-a-sentence")
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (int reason = TIDE_REJECT_NONE; reason < TIDE_REJECT_N_REASONS; reason++) {
    TideReject reject = {.reason = (TideRejectReason)reason, .byte_position = -1};
    char *text = tide_reject_describe(&reject);
    g_assert_cmpstr(text, !=, "rejected");
    g_assert_true(g_hash_table_add(seen, text));
  }
}

TEST("/reject/long-field-name-is-cut")
{
  g_autofree char *name = g_strnfill(100000, 'x');
  TideReject reject = {.reason = TIDE_REJECT_TYPE, .field = tide_bytes_of_string(name), .byte_position = -1};
  g_autofree char *text = tide_reject_describe(&reject);
  g_assert_cmpuint(strlen(text), <, 400);
  g_assert_true(g_str_has_suffix(text, "xxx...'"));
}

TEST("/reject/field-is-resolved-from-its-place")
{
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  TideNameId id = tide_field_names_intern(names, TIDE_BYTES_LITERAL("host"));
  TideReject reject = {.reason = TIDE_REJECT_MISSING_FIELD, .field_place = id + 1, .byte_position = -1};
  tide_reject_resolve_field(&reject, names);
  g_assert_true(tide_bytes_equal(reject.field, TIDE_BYTES_LITERAL("host")));

  TideReject named = {.field = TIDE_BYTES_LITERAL("ts"), .field_place = id + 1};
  tide_reject_resolve_field(&named, names);
  g_assert_true(tide_bytes_equal(named.field, TIDE_BYTES_LITERAL("ts")));

  TideReject nameless = {.reason = TIDE_REJECT_PARSE};
  tide_reject_resolve_field(&nameless, names);
  g_assert_cmpuint(nameless.field.len, ==, 0);
}

/* ---- scratch ----
 *
 * Memory for the time of a message: stays where it is, and is used again. */

TEST("/scratch/what-was-taken-stays-until-reset")
{
  enum { N = 1000 };
  g_auto(TideScratch) scratch = {0};
  for (guint round = 0; round < 3; round++) {
    guint8 *taken[N];
    for (guint i = 0; i < N; i++) {
      taken[i] = tide_scratch_take(&scratch, i);
      g_assert_cmpuint((guintptr)taken[i] % 8, ==, 0);
      memset(taken[i], (int)(i & 255), i);
    }
    for (guint i = 0; i < N; i++)
      for (guint byte = 0; byte < i; byte++)
        g_assert_cmpuint(taken[i][byte], ==, i & 255);
    tide_scratch_reset(&scratch);
  }
}

TEST("/scratch/a-copy-is-equal-and-its-own")
{
  g_auto(TideScratch) scratch = {0};
  char text[] = "a\0b";
  TideBytes copy = tide_scratch_copy(&scratch, tide_bytes(text, sizeof text));
  g_assert_true(tide_bytes_equal(copy, tide_bytes(text, sizeof text)));
  text[0] = 'x';
  g_assert_cmpuint(copy.data[0], ==, 'a');
  g_assert_cmpuint(tide_scratch_copy(&scratch, TIDE_BYTES_EMPTY).len, ==, 0);
}

/* Blocks of 8 and 16 KiB at first, which together hold more than the larger one; then one of 32 KiB, for good. */
TEST("/scratch/messages-of-one-size-soon-allocate-nothing")
{
  g_auto(TideScratch) scratch = {0};
  guint64 before = 0;
  for (guint round = 0; round < 100; round++) {
    if (round == 2)
      before = allocation_count;
    tide_scratch_reset(&scratch);
    tide_scratch_take(&scratch, 8000);
    for (guint i = 0; i < 12; i++)
      tide_scratch_take(&scratch, 1000);
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* In a block that had room for it, in a larger one, and behind all that came later. */
TEST("/scratch/the-first-is-known")
{
  g_auto(TideScratch) scratch = {0};
  g_assert_null(tide_scratch_first(&scratch));
  for (gsize len = 100; len < 10000000; len *= 10) {
    tide_scratch_reset(&scratch);
    void *first = tide_scratch_take(&scratch, len);
    g_assert_true(tide_scratch_first(&scratch) == first);
    for (guint i = 0; i < 20; i++)
      memset(tide_scratch_take(&scratch, len / 10), 1, len / 10);
    g_assert_true(tide_scratch_first(&scratch) == first);
  }
}
