#include "commands/read/cell_reader.h"
#include "util/error.h"

#include "unit/allocation_counter.h"
#include "unit/reading_fixture.h"
#include "unit/rounds.h"
#include "unit/test_case.h"

#include <math.h>

/* What a reader may take for the shortest value: some 30 KiB, most of it the decoder's first tables. */
#define BASE_BYTES 65536

/* What a read gave, one member a line: name, kind, text. */
typedef struct Given {
  GString *text;
  guint n_members;
  guint stop_after; /* 0: never */
} Given;

static gboolean
note_member(TideBytes name, TideValueKind kind, TideBytes text, gpointer data)
{
  static const char *const kinds[] = {"string", "number", "bool", "null", "json"};
  Given *given = data;
  g_autofree char *shown_name = tide_bytes_printable(name), *shown_text = tide_bytes_printable(text);
  g_string_append_printf(given->text, "%s %s %s\n", shown_name, kinds[kind], shown_text);
  given->n_members++;
  return given->n_members != given->stop_after;
}

static void
assert_read(TidePacking packing, TideBytes value, const char *expected)
{
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  Given given = {.text = text};
  gboolean is_read = tide_packed_read(packing, value, note_member, &given, &error);
  g_assert_no_error(error);
  g_assert_true(is_read);
  g_assert_cmpstr(text->str, ==, expected);
}

static void
assert_refused(TidePacking packing, TideBytes value, const char *fault)
{
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  Given given = {.text = text};
  g_test_message("%s", fault);
  g_assert_false(tide_packed_read(packing, value, note_member, &given, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
  g_assert_nonnull(strstr(error->message, fault));
  g_assert_cmpuint(given.n_members, ==, 0);
}

TEST("/packed-reader/json")
{
  assert_read(TIDE_PACK_JSON,
              TIDE_BYTES_LITERAL(" {\"host\":\"db \\\"1\\\"\\u00e9\", \"n\":600.550,\"up\":true,\"x\":null,\n"
                                 "\"l\":[1, {\"a\":\"\\n\"}],\"o\":{\"b\" : {}, \"b\":2},\"CPU/1\":-1e3,\"\":0} "),
              "host string db \"1\"\\xC3\\xA9\n"
              "n number 600.550\n"
              "up bool true\n"
              "x null \n"
              "l json [1, {\"a\":\"\\x5Cn\"}]\n"
              "o json {\"b\" : {}, \"b\":2}\n"
              "CPU/1 number -1e3\n"
              " number 0\n");
  assert_read(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{}"), "");
}

TEST("/packed-reader/msgpack-of-others")
{
  assert_read(TIDE_PACK_MSGPACK,
              TIDE_BYTES_LITERAL("\x8D"
                                 "\xA1p\xCA\x3D\xCC\xCC\xCD"     /* a float: 0.1 */
                                 "\xA1q\xCB\x7F\xF0\0\0\0\0\0\0" /* infinity */
                                 "\xA1r\xCB\x7F\xF8\0\0\0\0\0\0" /* no number */
                                 "\xA1s\xC4\x02\xFF\0"           /* binary */
                                 "\xA1t\xD4\x01z"                /* an extension */
                                 "\xA1u\x93\x01\xC0\xA1\""       /* an array */
                                 "\xA1g\x82\xA1x\xC3\x07\x80"    /* a map, with a number for a name */
                                 "\xA1h\x90"                     /* nothing in it */
                                 "\xA1i\xD3\x80\0\0\0\0\0\0\0"
                                 "\xA1j\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                                 "\xA1k\xC2"
                                 "\xA1l\xC0"
                                 "\xC4\x01\xFE\xA0"), /* a name that is no UTF-8 */
              "p number 0.1\n"
              "q string Infinity\n"
              "r string NaN\n"
              "s string \\xFF\\x00\n"
              "t string z\n"
              "u json [1,null,\"\\x5C\"\"]\n"
              "g json {\"x\":true,\"7\":{}}\n"
              "h json []\n"
              "i number -9223372036854775808\n"
              "j number 18446744073709551615\n"
              "k bool false\n"
              "l null \n"
              "\\xFE string \n");
}

TEST("/packed-reader/callback-may-stop")
{
  static const TideBytes values[] = {TIDE_BYTES_LITERAL("{\"p\":1,\"q\":2,\"r\":3}"),
                                     TIDE_BYTES_LITERAL("\x83\xA1p\x01\xA1q\x02\xA1r\x03")};
  for (int packing = TIDE_PACK_JSON; packing <= TIDE_PACK_MSGPACK; packing++) {
    g_autoptr(GString) text = g_string_new(NULL);
    Given given = {.text = text, .stop_after = 2};
    g_assert_true(tide_packed_read((TidePacking)packing, values[packing - TIDE_PACK_JSON], note_member, &given, NULL));
    g_assert_cmpstr(text->str, ==, "p number 1\nq number 2\n");
  }
}

TEST("/packed-reader/json-that-is-no-object")
{
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_EMPTY, "does not start with '{'");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("[{}]"), "does not start with '{'");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("17"), "does not start with '{'");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("\x81\xA1p\x01"), "does not start with '{'");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":1"), "the text is truncated");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":1}{\"a\":2}"), "more readings");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":1} x"), "at byte 8");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":1,\"a\":2}"), "appears twice");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":01}"), "not a number");
  assert_refused(TIDE_PACK_JSON, TIDE_BYTES_LITERAL("{\"a\":\"\xFF\"}"), "not valid UTF-8");
}

TEST("/packed-reader/msgpack-that-is-no-map")
{
  assert_refused(TIDE_PACK_MSGPACK, TIDE_BYTES_EMPTY, "does not begin as a map");
  assert_refused(TIDE_PACK_MSGPACK, TIDE_BYTES_LITERAL("{\"a\":1}"), "does not begin as a map");
  assert_refused(TIDE_PACK_MSGPACK, TIDE_BYTES_LITERAL("\x81\x01\x01"), "name of member 0 (from 0) is not a text");
  assert_refused(TIDE_PACK_MSGPACK, TIDE_BYTES_LITERAL("\x81\xA1p\x91\x81\x90\x01"), "arrays or maps as names");
  assert_refused(TIDE_PACK_MSGPACK, TIDE_BYTES_LITERAL("\x81\xA1p"), "ends within a value");
}

/* A text of characters that are hard on one of the forms. */
static TideBytes
random_text(TideBuffer *buffer)
{
  static const char *const characters[] = {"a", "\"", "\\", "\n", "\x01", "\xC3\xA9", "\xF0\x9F\x8C\x8A",
                                           "/", "7",  "{"};
  tide_buffer_reset(buffer);
  for (int n = g_test_rand_int_range(0, 40); n > 0; n--) {
    const char *character = characters[g_test_rand_int_range(0, G_N_ELEMENTS(characters))];
    tide_buffer_append(buffer, character, strlen(character));
  }
  if (g_test_rand_int_range(0, 20) == 0)
    tide_buffer_append_byte(buffer, '\0');
  return tide_buffer_bytes(buffer);
}

/* A number as somebody may write it: any digits, any form. */
static TideBytes
random_number(TideBuffer *buffer)
{
  static const char *const forms[] = {"%.0f", "%.1f", "%.3f", "%.15g", "%.17g", "%.6e"};
  char text[G_ASCII_DTOSTR_BUF_SIZE + 320];
  double magnitude = pow(10, g_test_rand_int_range(-12, 20));
  double value = g_test_rand_double_range(-1, 1) * magnitude;
  if (g_test_rand_bit())
    g_snprintf(text, sizeof text, "%d", g_test_rand_int());
  else
    g_ascii_formatd(text, sizeof text, forms[g_test_rand_int_range(0, G_N_ELEMENTS(forms))], value);
  tide_buffer_reset(buffer);
  tide_buffer_append(buffer, text, strlen(text));
  return tide_buffer_bytes(buffer);
}

static TideBytes
random_value(TideValueKind kind, TideBuffer *buffer)
{
  switch (kind) {
  case TIDE_VALUE_STRING:
    return random_text(buffer);
  case TIDE_VALUE_NUMBER:
    return random_number(buffer);
  case TIDE_VALUE_BOOL:
    return g_test_rand_bit() ? TIDE_BYTES_LITERAL("true") : TIDE_BYTES_LITERAL("false");
  case TIDE_VALUE_NULL:
    return TIDE_BYTES_EMPTY;
  case TIDE_VALUE_JSON:
    return g_test_rand_bit() ? TIDE_BYTES_LITERAL("[1, {\"a\": [null]}]") : TIDE_BYTES_LITERAL("[]");
  }
  return TIDE_BYTES_EMPTY;
}

/* Packs random members, whose names all differ, and notes what a reader should give: the texts, by their names. */
static void
pack_random(TidePacking packing, TideBuffer *out, GString *expected)
{
  g_auto(TideBuffer) name = {0}, text = {0};
  TidePacker packer;
  tide_packer_begin(&packer, packing, out);
  int n_members = g_test_rand_int_range(1, 20);
  for (int i = 0; i < n_members; i++) {
    TideValueKind kind = (TideValueKind)g_test_rand_int_range(0, TIDE_VALUE_JSON + 1);
    g_autofree char *number = g_strdup_printf("%d", i);
    random_text(&name);
    tide_buffer_append(&name, number, strlen(number));
    TideBytes value = random_value(kind, &text);
    tide_packer_add(&packer, tide_buffer_bytes(&name), kind, value);
    g_autofree char *shown_name = tide_bytes_printable(tide_buffer_bytes(&name));
    g_autofree char *shown_text = tide_bytes_printable(value);
    g_string_append_printf(expected, "%s %s\n", shown_name, shown_text);
  }
  g_assert_true(tide_packer_end(&packer));
}

static gboolean
note_text(TideBytes name, TideValueKind kind, TideBytes text, gpointer data)
{
  g_autofree char *shown_name = tide_bytes_printable(name), *shown_text = tide_bytes_printable(text);
  g_string_append_printf(data, "%s %s\n", shown_name, shown_text);
  return TRUE;
}

TEST("/packed-reader/reads-back")
{
  for (int n = 0; n < ROUNDS(20000); n++) {
    TidePacking packing = g_test_rand_bit() ? TIDE_PACK_JSON : TIDE_PACK_MSGPACK;
    g_auto(TideBuffer) out = {0};
    g_autoptr(GString) expected = g_string_new(NULL), got = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    pack_random(packing, &out, expected);
    gboolean is_read = tide_packed_read(packing, tide_buffer_bytes(&out), note_text, got, &error);
    g_assert_no_error(error);
    g_assert_true(is_read);
    g_assert_cmpstr(got->str, ==, expected->str);
  }
}

/* The value at the end of a block of its own, so that a read beyond it is seen by the sanitizer. */
static TideBytes
mutated(TideBytes value)
{
  gsize len = value.len;
  guint8 *copy = g_memdup2(value.data, len);
  for (int n = g_test_rand_int_range(1, 6); n > 0; n--) {
    gsize at = (gsize)g_test_rand_int_range(0, (gint32)len);
    switch (g_test_rand_int_range(0, 4)) {
    case 0:
      copy[at] = (guint8)g_test_rand_int_range(0, 256);
      break;
    case 1: /* a length in MessagePack, and its size */
      copy[at] = (guint8)g_test_rand_int_range(0xC4, 0xE0);
      break;
    case 2:
      copy[at] = 0xFF;
      break;
    default:
      len = MAX(at, 1);
    }
  }
  guint8 *exact = g_memdup2(copy, len);
  g_free(copy);
  return tide_bytes(exact, len);
}

static gboolean
count_member(TideBytes name, TideValueKind kind, TideBytes text, gpointer data)
{
  (*(guint *)data)++;
  return TRUE;
}

/* Whatever they are changed to: refused or read, and at no more than a few times what the value takes. */
TEST("/packed-reader/hostile-bytes")
{
  for (int n = 0; n < 10000; n++) {
    TidePacking packing = n % 2 == 0 ? TIDE_PACK_JSON : TIDE_PACK_MSGPACK;
    g_auto(TideBuffer) out = {0};
    g_autoptr(GString) members = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    guint n_members = 0;
    pack_random(packing, &out, members);
    TideBytes value = mutated(tide_buffer_bytes(&out));
    guint64 before = allocation_bytes;
    gboolean is_read = tide_packed_read(packing, value, count_member, &n_members, &error);
    g_assert_cmpuint(allocation_bytes - before, <, 16 * value.len + BASE_BYTES);
    g_assert_cmpint(is_read, ==, error == NULL);
    g_assert_true(is_read || n_members == 0);
    g_string_set_size(members, 0);
    g_assert_cmpint(tide_packed_read(packing, value, note_text, members, NULL), ==, is_read);
    g_free((gpointer)value.data);
  }
}

/* The most that a byte can cost: all of it many small values. */
TEST("/packed-reader/memory-in-proportion")
{
  g_auto(TideBuffer) array = {0}, names = {0};
  guint n_members = 0;
  gsize len = 1024 * 1024;
  tide_buffer_append(&array, "\x81\xA1p\xDD\0\x10\0\0", 8); /* 2^20 zeros */
  memset(tide_buffer_reserve(&array, len), 0, len);
  array.len += len;
  guint64 before = allocation_bytes;
  g_assert_true(tide_packed_read(TIDE_PACK_MSGPACK, tide_buffer_bytes(&array), count_member, &n_members, NULL));
  g_assert_cmpuint(n_members, ==, 1);
  g_assert_cmpuint(allocation_bytes - before, <, 64 * array.len);

  tide_buffer_append_byte(&names, '{');
  for (guint i = 0; i < 65536; i++) {
    g_autofree char *member = g_strdup_printf("%s\"%x\":0", i > 0 ? "," : "", i);
    tide_buffer_append(&names, member, strlen(member));
  }
  tide_buffer_append_byte(&names, '}');
  n_members = 0;
  before = allocation_bytes;
  g_assert_true(tide_packed_read(TIDE_PACK_JSON, tide_buffer_bytes(&names), count_member, &n_members, NULL));
  g_assert_cmpuint(n_members, ==, 65536);
  g_test_message("%.1f bytes for each", (double)(allocation_bytes - before) / (double)names.len);
  g_assert_cmpuint(allocation_bytes - before, <, 64 * names.len);
}

/* A few bytes that say they are much. */
TEST("/packed-reader/lengths-are-not-trusted")
{
  static const TideBytes values[] = {
      TIDE_BYTES_LITERAL("\xDF\xFF\xFF\xFF\xFF"),
      TIDE_BYTES_LITERAL("\xDF\0\0\xFF\xFF\xA1p\x01"),
      TIDE_BYTES_LITERAL("\x81\xA1p\xDD\xFF\xFF\xFF\xFF"),
      TIDE_BYTES_LITERAL("\x81\xA1p\xDF\xFF\xFF\xFF\xFF"),
      TIDE_BYTES_LITERAL("\x81\xA1p\xDB\xFF\xFF\xFF\xFFtext"),
      TIDE_BYTES_LITERAL("\x81\xA1p\xC6\xFF\xFF\xFF\xFF"),
      TIDE_BYTES_LITERAL("\x81\xA1p\xC9\xFF\xFF\xFF\xFF\x01"),
  };
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autoptr(GError) error = NULL;
    guint n_members = 0;
    guint64 before = allocation_bytes;
    g_assert_false(tide_packed_read(TIDE_PACK_MSGPACK, values[i], count_member, &n_members, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
    g_assert_cmpuint(allocation_bytes - before, <, 4096); /* the error */
  }
}
