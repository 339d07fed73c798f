#include "model/key/row_key.h"

#include "unit/key_schemes.h"

/* A row and what it says: "field=text ... from..to", times in milliseconds. */
typedef struct DecodeCase {
  const char *name;
  TideKeyPartSpec specs[8];
  gsize n_specs;
  TideBytes row;
  const char *expected; /* NULL: not made by this key */
} DecodeCase;

#define ROW(text)                                                                                                      \
  {                                                                                                                    \
    (const guint8 *)("" text), sizeof(text) - 1                                                                        \
  }

static const TideKeyPartSpec upper_host = {
    .kind = TIDE_KEY_FIELD, .value.field = HOST, .spelling.text_case = TIDE_CASE_UPPER};

static const DecodeCase cases[] = {
    {"server metrics",
     {FIELD(HOST), LITERAL("#"), TIME(MS)},
     3,
     ROW("server1.bbb.com#1426535612045"),
     "host=server1.bbb.com 1426535612045..1426535612046"},
    {"no time", {FIELD(HOST)}, 1, ROW("h"), "host=h"},
    {"quotes, padded",
     {PADDED_RIGHT(EXCHANGE, 6, ' '), LITERAL("#"), PADDED_RIGHT(SYMBOL, 5, ' '), LITERAL("#"), TIME(MS)},
     5,
     ROW("NYSE  #IBM  #1426535612156"),
     "exchange=NYSE symbol=IBM 1426535612156..1426535612157"},
    {"a meter", {PADDED_LEFT(METER, 10, '0')}, 1, ROW("0000987654"), "meter=987654"},
    {"meter 0", {PADDED_LEFT(METER, 10, '0')}, 1, ROW("0000000000"), "meter=0"},
    {"newest first",
     {FIELD(EXCHANGE), LITERAL("#"), FIELD(LANE), LITERAL("#"), FIELD(SYMBOL), LITERAL("#"), TIME_REVERSED(MS)},
     7,
     ROW("15#S#1#9223370811287575807"),
     "exchange=15 lane=S symbol=1 1225567200000..1225567200001"},
    {"time in the middle",
     {FIELD(USER), LITERAL(":"), TIME(S), LITERAL(":"), FIELD(LANE)},
     5,
     ROW("u:1426535612:a:b"),
     "user=u lane=a:b 1426535612000..1426535613000"},
    {"the default itself", {FIELD_DEFAULT(HOST, "none")}, 1, ROW("none"), "host=none"},
    {"a field twice that agrees",
     {PADDED_LEFT(METER, 5, '0'), LITERAL("/"), FIELD(METER)},
     3,
     ROW("00007/007"),
     "meter=007"},
    {"a field twice that does not agree", {FIELD(HOST), LITERAL("/"), FIELD(HOST)}, 3, ROW("a/b"), NULL},
    {"the time twice",
     {TIME(S), LITERAL("."), TIME(MS)},
     3,
     ROW("1426535612.1426535612045"),
     "1426535612045..1426535612046"},
    {"the time twice, in two seconds", {TIME(S), LITERAL("."), TIME(MS)}, 3, ROW("1426535613.1426535612045"), NULL},
    {"a salt that is the field's",
     {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)},
     3,
     ROW("06#123456789"),
     "host=123456789"},
    {"a salt that is not", {SALT(16, CRC32, of_host), LITERAL("#"), FIELD(HOST)}, 3, ROW("07#123456789"), NULL},
    {"a hash that is not", {HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 2, ROW("8570c506server1.bbb.com"), NULL},
    {"another literal", {FIELD(HOST), LITERAL("#"), TIME(S)}, 3, ROW("h/1426535612"), NULL},
    {"too long", {FIELD(HOST), LITERAL("#"), TIME(S)}, 3, ROW("h#14265356120"), NULL},
    {"nothing but padding", {PADDED_RIGHT(EXCHANGE, 4, ' ')}, 1, ROW("    "), NULL},
    {"a letter in the wrong case", {upper_host}, 1, ROW("HOst"), NULL},
    {"letters in the right case", {upper_host}, 1, ROW("HOST"), "host=HOST"},
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

static void
test_rows_are_read_back(void)
{
  g_auto(ReadingFixture) fixture;
  TideDecodedKey decoded = {0};
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideRowKey) key = compile_key(cases[i].specs, cases[i].n_specs);
    g_test_message("%s", cases[i].name);
    gboolean is_ours = tide_row_key_decode(key, cases[i].row, &decoded);
    g_autofree char *text = is_ours ? decoded_text(&fixture, &decoded) : NULL;
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
  tide_decoded_key_clear(&decoded);
}

static void
test_what_is_lost_is_said(void)
{
  static const struct {
    TideKeyPartSpec specs[4];
    gsize n_specs;
    const char *expected; /* in the first sentence; NULL: nothing is lost */
  } lost[] = {
      {{FIELD(HOST), LITERAL("#"), TIME(MS)}, 3, NULL},
      {{HASH_HEX(MD5, 4, of_host), FIELD(HOST)}, 2, NULL},
      {{HASH_HEX(MD5, 16, of_host), TIME(MS)}, 2, "'host' is only hashed"},
      {{SALT(4, MD5, of_host), TIME(MS)}, 2, "'host' is only in the salt"},
      {{upper_host}, 1, "'host' is in upper case"},
  };
  g_auto(ReadingFixture) fixture;
  key_scheme_fixture_init(&fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(lost); i++) {
    g_autoptr(TideRowKey) key = compile_key(lost[i].specs, lost[i].n_specs);
    g_autoptr(GPtrArray) sentences = tide_row_key_lost(key, fixture.names);
    g_assert_cmpuint(sentences->len, ==, lost[i].expected != NULL ? 1 : 0);
    if (lost[i].expected != NULL)
      g_assert_nonnull(strstr(g_ptr_array_index(sentences, 0), lost[i].expected));
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-decode/rows-are-read-back", test_rows_are_read_back);
  g_test_add_func("/key-decode/what-is-lost-is-said", test_what_is_lost_is_said);
  return g_test_run();
}
