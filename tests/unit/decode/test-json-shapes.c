/* Names that are known by the bytes around values: whatever came before, a message becomes the same readings. */
#include "unit/decoder_fixture.h"
#include "unit/decoder_twins.h"
#include "unit/test_case.h"

static const char *const used[] = {"host", "ts", "a/b", "$key", "x"};

static void
twins_init(DecoderTwins *twins, TideArrayForm arrays, TideOnBadReading on_bad_reading, char *each)
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.arrays = arrays;
  fixture.options.on_bad_reading = on_bad_reading;
  fixture.options.layout.each = each;
  decoder_twins_init(twins, &fixture.options, used, G_N_ELEMENTS(used));
}

static void
check(DecoderTwins *twins, const char *text)
{
  decoder_twins_check(twins, tide_bytes_of_string(text), TIDE_BYTES_LITERAL("key"));
}

/* The last of messages like it: its names were not read again. */
static void
assert_known(const char *const *messages, gsize n, guint64 n_known)
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_INDEX, TIDE_BAD_READING_ALONE, NULL);
  for (gsize i = 0; i < n; i++)
    check(&twins, messages[i]);
  g_assert_cmpuint(twins.n_known, ==, n_known);
}

#define ASSERT_KNOWN(n_known, ...)                                                                                     \
  do {                                                                                                                 \
    static const char *const messages[] = {__VA_ARGS__};                                                               \
    assert_known(messages, G_N_ELEMENTS(messages), n_known);                                                           \
  } while (0)

#define SIXTY_FOUR_DIGITS "1234567890123456789012345678901234567890123456789012345678901234"

TEST("/json-shapes/names-that-stand-as-before-are-known")
{
  ASSERT_KNOWN(1, "{\"host\":\"a\",\"x\":1}", "{\"host\":\"bcd\",\"x\":-2.5e3}");
  ASSERT_KNOWN(1, "{\"host\":\"a\",\"x\":true}", "{\"host\":17,\"x\":\"y\"}"); /* values of other kinds */
  ASSERT_KNOWN(1, "{\"a\":{\"b\":1,\"c\":{}},\"x\":2}", "{\"a\":{\"b\":3,\"c\":{}},\"x\":4}");
  ASSERT_KNOWN(1, "{\"a\":[1,2],\"x\":2}", "{\"a\":[3,4],\"x\":4}");
  ASSERT_KNOWN(1, "{ \"host\" : \"a\" ,\n \"x\" : 1 }\n", "{ \"host\" : \"b\" ,\n \"x\" : 12 }\n");
  ASSERT_KNOWN(1, "{\"x\":1}", "{\"x\":2 }"); /* behind the value: not between tokens that are compared */
  ASSERT_KNOWN(3, "{\"x\":1}\n{\"x\":2}\n", "[{\"x\":1}]", "{\"x\":1}\n{\"x\":2}\n");
  ASSERT_KNOWN(1, "{}", "{}");
  ASSERT_KNOWN(1, "{\"x\":1}", "{\"x\":" SIXTY_FOUR_DIGITS "}"); /* the longest number */
  /* two producers in turns */
  ASSERT_KNOWN(4, "{\"x\":1}", "{\"x\":1,\"y\":2}", "{\"x\":2}", "{\"x\":3,\"y\":4}", "{\"x\":2}", "{\"x\":3,\"y\":4}");
}

TEST("/json-shapes/other-names-are-read")
{
  ASSERT_KNOWN(0, "{\"x\":1,\"y\":2}", "{\"x\":1,\"z\":2}");
  ASSERT_KNOWN(0, "{\"x\":1,\"y\":2}", "{\"x\":1}");
  ASSERT_KNOWN(0, "{\"x\":1}", "{\"x\":1,\"y\":2}");
  ASSERT_KNOWN(0, "{\"x\":1}", "[{\"x\":1}]"); /* deeper */
  ASSERT_KNOWN(0, "{\"x\":1,\"a\":{}}", "{\"x\":1,\"a\":{\"b\":1}}");
  ASSERT_KNOWN(0, "{\"x\":1}", "{\"x\":null}");
  ASSERT_KNOWN(0, "{\"x\":1}", "{\"\\u0078\":1}");
  ASSERT_KNOWN(0, "{\"x\":\"a\"}", "{\"x\":\"\\n\"}");
  ASSERT_KNOWN(0, "{\"\\u0078\":1}", "{\"\\u0078\":1}");
  ASSERT_KNOWN(0, "{\"x\":1}", "{\"x\":[]}");
  ASSERT_KNOWN(0, "{\"x\":1}", "{\"x\":{}}");
}

TEST("/json-shapes/what-is-wrong-is-found-all-the-same")
{
  static const char *const wrong[] = {"{\"x\":01,\"y\":2}",       "{\"x\":1 2,\"y\":2}",
                                      "{\"x\":\"1\"\"y\":2}",     "{\"x\":1,\"y\":2,}",
                                      "{\"x\":1,\"y\":2}}",       "{\"x\":1,\"y\"",
                                      "{\"x\":1,\"y\":",          "{\"x\":1,\"y\":2",
                                      "{\"x\":1.,\"y\":2}",       "{\"x\":.1,\"y\":2}",
                                      "{\"x\":1..2,\"y\":2}",     "{\"x\":tru,\"y\":2}",
                                      "{\"x\":truex,\"y\":2}",    "{\"x\":1,\"y\":nul}",
                                      "{\"x\":,\"y\":2}",         "{\"x\":1,\"y\":2}x",
                                      "{\"x\":1x,\"y\":2}",       "{\"x\":1,\"y\":2]",
                                      "{\"x\":1,\"x\":2}",        "{\"x\":\"\xFF\",\"y\":2}",
                                      "{\"x\":\"\x01\",\"y\":2}", "{\"x\":" SIXTY_FOUR_DIGITS "5,\"y\":2}"};
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
    check(&twins, "{\"x\":1,\"y\":2}");
    check(&twins, wrong[i]);
  }
  g_assert_cmpuint(twins.n_known, ==, G_N_ELEMENTS(wrong) - 1);
}

/* A reading that ends with much white space, and one that ends where its text's memory does: what stands behind the
 * values of the one must not be looked for behind those of the other. And every beginning of such messages. */
TEST("/json-shapes/text-that-ends-before-what-is-known")
{
  g_autofree char *blanks = g_strnfill(2000, ' ');
  g_autofree char *known = g_strconcat("{\"a\":{\"x\":1}", blanks, "}", NULL);
  for (gsize n_filling = 8050; n_filling < 8200; n_filling++) { /* its memory is a block of 8 KiB, or 16 */
    g_auto(DecoderTwins) twins;
    twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_ALONE, NULL);
    g_autofree char *filling = g_strnfill(n_filling, ' ');
    g_autofree char *text = g_strconcat(filling, "{\"a\":{\"x\":1}}", NULL);
    check(&twins, known);
    check(&twins, text);
    g_assert_cmpuint(twins.n_known, ==, 0);
  }
  static const char lines[] = "{\"a\":{\"x\":1} }\n{\"a\":{\"x\":2} }";
  for (gsize len = 0; len < sizeof lines; len++) {
    g_auto(DecoderTwins) twins;
    twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_ALONE, NULL);
    check(&twins, lines);
    decoder_twins_check(&twins, tide_bytes(lines, len), TIDE_BYTES_LITERAL("key"));
  }
}

/* A list that is kept as its text is one value; the number in it is another. */
TEST("/json-shapes/list-of-one-value-is-none")
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  check(&twins, "{\"x\":[1]}");
  check(&twins, "{\"x\":[2]}");
  g_assert_cmpuint(twins.n_known, ==, 0);
}

/* Fields of the record stand behind a reading's own; those around a list stand before them. */
TEST("/json-shapes/what-is-offered-around-a-reading-belongs-to-its-shape")
{
  static char each[] = "metrics";
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_ALONE, each);
  const char *envelope = "{\"host\":\"h\",\"metrics\":[{\"x\":1},{\"x\":2}]}";
  check(&twins, envelope);
  g_assert_cmpuint(twins.n_known, ==, 1);
  decoder_twins_check(&twins, tide_bytes_of_string(envelope), TIDE_BYTES_EMPTY); /* a record without a key */
  g_assert_cmpuint(twins.n_known, ==, 2);
  check(&twins, "{\"x\":\"h\",\"metrics\":[{\"x\":1},{\"x\":2}]}"); /* there it is a duplicate */
  check(&twins, "{\"host\":null,\"metrics\":[{\"x\":1},{\"x\":2}]}");
  g_assert_cmpuint(twins.n_known, ==, 2);
  check(&twins, "{\"host\":\"h\",\"a\":{},\"metrics\":[{\"x\":1},{\"x\":2}]}");
  g_assert_cmpuint(twins.n_known, ==, 3);
}

/* An envelope that has as many members as fit, and one object more. */
TEST("/json-shapes/limits-hold-for-known-names")
{
  static char each[] = "metrics";
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.layout.each = each;
  fixture.options.max_fields = 3;
  fixture.options.max_message_bytes = 64;
  g_auto(DecoderTwins) twins;
  decoder_twins_init(&twins, &fixture.options, used, G_N_ELEMENTS(used));
  check(&twins, "{\"host\":\"h\",\"metrics\":[{\"x\":1,\"y\":2}]}");
  check(&twins, "{\"host\":\"h\",\"a\":{},\"metrics\":[{\"x\":1,\"y\":2}]}");
}

/* One reading's names fit, and not those of two, also where both are known. */
TEST("/json-shapes/names-of-nested-fields-are-counted")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_message_bytes = 240;
  g_auto(DecoderTwins) twins;
  decoder_twins_init(&twins, &fixture.options, used, G_N_ELEMENTS(used));
  g_autofree char *name = g_strnfill(54, 'n');
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint n = 0; n < 2; n++) {
    g_string_append_printf(text, "{\"%s\":{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}}",
                           name);
    g_assert_cmpuint(text->len, <=, fixture.options.max_message_bytes);
    check(&twins, text->str);
  }
  g_assert_cmpuint(twins.n_readings, ==, 1); /* the second message was rejected */
}

/* Many shapes in no order: what is known changes, what comes out does not. */
TEST("/json-shapes/more-shapes-than-are-kept")
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  for (guint i = 0; i < 2000; i++) {
    guint n_names = i < 1000 ? 3 * TIDE_MAX_SHAPES : TIDE_MAX_SHAPES;
    g_autofree char *text =
        g_strdup_printf("{\"host\":\"h\",\"n%u\":%u}", (guint)g_test_rand_int_range(0, (gint32)n_names), i);
    check(&twins, text);
  }
  g_assert_cmpuint(twins.n_known, >, 800); /* of the second half nearly all */
}

/* But for the one whose place they try to take. */
TEST("/json-shapes/what-has-no-shape-drives-out-none")
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < 2 * TIDE_MAX_SHAPES; i++) {
      g_autofree char *text = i < TIDE_MAX_SHAPES ? g_strdup_printf("{\"n%u\":%u}", i, i) : g_strdup("{\"x\":[1]}");
      check(&twins, text);
    }
  g_assert_cmpuint(twins.n_known, ==, TIDE_MAX_SHAPES - 1);
}

/* White space beyond any bound is read each time; so are more names than are kept. */
TEST("/json-shapes/what-is-large-is-not-learned")
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(TIDE_FORMAT_JSON);
  fixture.options.max_fields = 10000;
  g_auto(DecoderTwins) twins;
  decoder_twins_init(&twins, &fixture.options, used, G_N_ELEMENTS(used));
  g_autofree char *blanks = g_strnfill(64 * 1024, ' ');
  g_autofree char *wide = g_strdup_printf("{\"x\":1,%s\"y\":2}", blanks);
  g_autoptr(GString) many = g_string_new("{\"n\":0");
  for (guint i = 0; i < 4096; i++)
    g_string_append_printf(many, ",\"%u\":1", i);
  g_string_append_c(many, '}');
  for (guint i = 0; i < 2; i++) {
    check(&twins, wide);
    check(&twins, many->str);
  }
  g_assert_cmpuint(twins.n_readings, ==, 4);
  g_assert_cmpuint(twins.n_known, ==, 0);
}

/* More readings of one shape than there is room for fields to begin with. */
TEST("/json-shapes/many-readings-of-a-message-are-known")
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  g_autoptr(GString) text = g_string_new("[{\"x\":0,\"y\":0}");
  for (guint i = 1; i < 1000; i++)
    g_string_append_printf(text, ",{\"x\":%u,\"y\":%u}", i, i);
  g_string_append_c(text, ']');
  check(&twins, text->str);
  g_assert_cmpuint(twins.n_known, ==, 999);
}

/* Who sends another shape each time is not looked at each time; who comes after it is found all the same. */
TEST("/json-shapes/shapes-are-found-behind-many-that-are-not-met-again")
{
  g_auto(DecoderTwins) twins;
  twins_init(&twins, TIDE_ARRAY_JSON, TIDE_BAD_READING_MESSAGE, NULL);
  for (guint i = 0; i < 1000; i++) {
    g_autofree char *text = i < 300 ? g_strdup_printf("{\"n%u\":1}", i) : g_strdup_printf("{\"x\":%u}", i);
    check(&twins, text);
  }
  g_assert_cmpuint(twins.n_known, >=, 700 - 2 * 64); /* each 64th looks again */
}

/* ---- random messages ---- */

static void
append_value(GString *text, guint depth)
{
  static const char *const values[] = {"1",    "0",           "12.5",         "-3",      "99999999", "123456789",
                                       "0.25", "1e5",         "true",         "false",   "null",     "\"abc\"",
                                       "\"\"", "\"\\u00e9\"", "\"\xC3\xA9\"", "\"a b\"", "[1,2]",    "[]"};
  if (depth < 2 && g_test_rand_int_range(0, 6) == 0) {
    g_string_append(text, "{\"b\":1");
    if (g_test_rand_bit()) {
      g_string_append(text, ",\"c\":");
      append_value(text, depth + 1);
    }
    g_string_append(text, "}");
    return;
  }
  g_string_append(text, values[g_test_rand_int_range(0, G_N_ELEMENTS(values))]);
}

static char *
random_message(void)
{
  static const char *const names[] = {"host", "ts", "x", "y", "a", "$key"};
  GString *text = g_string_new(NULL);
  gboolean is_list = g_test_rand_int_range(0, 3) == 0;
  guint n_readings = is_list ? (guint)g_test_rand_int_range(0, 4) : 1;
  g_string_append(text, is_list ? "[" : "");
  for (guint i = 0; i < n_readings; i++) {
    g_string_append(text, i > 0 ? ",{" : "{");
    guint n_fields = (guint)g_test_rand_int_range(0, 4);
    for (guint k = 0; k < n_fields; k++) {
      const char *name = names[g_test_rand_int_range(0, 20) == 0 ? g_test_rand_int_range(0, 6) : (gint32)k];
      g_string_append_printf(text, "%s\"%s\":", k > 0 ? "," : "", name);
      append_value(text, 0);
    }
    g_string_append(text, "}");
  }
  g_string_append(text, is_list ? "]" : "");
  return g_string_free(text, FALSE);
}

static void
change_a_byte(char *text)
{
  static const char bytes[] = "\"\\{}[]:,.0 9-tx\x01\x7F";
  if (text[0] != '\0')
    text[g_test_rand_int_range(0, (gint32)strlen(text))] = bytes[g_test_rand_int_range(0, sizeof bytes - 1)];
}

TEST("/json-shapes/random-messages-become-the-same")
{
  static char each[] = "x";
  guint64 n_known = 0;
  for (guint round = 0; round < 30; round++) {
    g_auto(DecoderTwins) twins;
    twins_init(&twins, (TideArrayForm)(round % 3), round % 2 == 0 ? TIDE_BAD_READING_ALONE : TIDE_BAD_READING_MESSAGE,
               round % 5 == 0 ? each : NULL);
    for (guint i = 0; i < 300; i++) {
      g_autofree char *message = random_message();
      if (g_test_rand_int_range(0, 4) == 0)
        change_a_byte(message);
      decoder_twins_check(&twins, tide_bytes_of_string(message),
                          g_test_rand_int_range(0, 8) == 0 ? TIDE_BYTES_EMPTY : TIDE_BYTES_LITERAL("key"));
    }
    n_known += twins.n_known;
  }
  g_assert_cmpuint(n_known, >, 300);
}
