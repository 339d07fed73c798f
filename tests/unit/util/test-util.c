/* What everything stands on: bytes, times, numbers, JSON, errors, pauses, rates, units and addresses. */
#include "unit/assert_bytes.h"
#include "unit/test_case.h"
#include "util/backoff.h"
#include "util/bytes.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/json_writer.h"
#include "util/listen_address.h"
#include "util/number_text.h"
#include "util/pace.h"
#include "util/rate.h"
#include "util/units.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

/* ---- bytes ---- */

TEST("/bytes/order/is-unsigned-and-shorter-first")
{
  static const struct {
    TideBytes lower, higher;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), TIDE_BYTES_LITERAL("a")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("b")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("aa")},
      {TIDE_BYTES_LITERAL("az"), TIDE_BYTES_LITERAL("b")},
      {TIDE_BYTES_LITERAL("\x7f"), TIDE_BYTES_LITERAL("\x80")},
      {TIDE_BYTES_LITERAL("\x01"), TIDE_BYTES_LITERAL("\xff")},
      {TIDE_BYTES_LITERAL("a"), TIDE_BYTES_LITERAL("a\0")},
      {TIDE_BYTES_LITERAL("a\0a"), TIDE_BYTES_LITERAL("a\0b")},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_cmpint(tide_bytes_compare(cases[i].lower, cases[i].higher), <, 0);
    g_assert_cmpint(tide_bytes_compare(cases[i].higher, cases[i].lower), >, 0);
    g_assert_cmpint(tide_bytes_compare(cases[i].lower, cases[i].lower), ==, 0);
    g_assert_false(tide_bytes_equal(cases[i].lower, cases[i].higher));
    g_assert_true(tide_bytes_equal(cases[i].higher, cases[i].higher));
  }
}

/* Around the lengths at which words, pairs of words and the C library's functions take over. */
TEST("/bytes/short/every-length-is-compared-and-copied")
{
  guint8 from[2 * TIDE_SHORT_BYTES], to[sizeof from + 2];
  for (gsize i = 0; i < sizeof from; i++)
    from[i] = (guint8)(i + 1);
  for (gsize len = 0; len <= sizeof from; len++) {
    memset(to, 0xee, sizeof to);
    tide_memory_copy(to + 1, from, len);
    g_assert_true(memcmp(to + 1, from, len) == 0);
    g_assert_cmpuint(to[0], ==, 0xee);
    g_assert_cmpuint(to[len + 1], ==, 0xee);
    g_assert_true(tide_memory_equal(to + 1, from, len));
    for (gsize i = 0; i < len; i++) {
      to[i + 1] ^= 0x80;
      g_assert_false(tide_memory_equal(to + 1, from, len));
      to[i + 1] ^= 0x80;
    }
  }
}

TEST("/bytes/order/null-is-empty")
{
  g_assert_true(tide_bytes_equal(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("")));
  g_assert_true(tide_bytes_equal(tide_bytes_of_string(NULL), TIDE_BYTES_EMPTY));
  g_assert_cmpint(tide_bytes_compare(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("")), ==, 0);
  g_assert_cmpint(tide_bytes_compare(TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("a")), <, 0);
}

TEST("/bytes/print/as-in-the-hbase-shell")
{
  static const struct {
    TideBytes bytes;
    const char *printable, *hex;
  } cases[] = {
      {TIDE_BYTES_LITERAL(""), "", ""},
      {TIDE_BYTES_LITERAL("server1#14"), "server1#14", "73657276657231233134"},
      {TIDE_BYTES_LITERAL("a\0b"), "a\\x00b", "610062"},
      {TIDE_BYTES_LITERAL("\\"), "\\x5C", "5c"},
      {TIDE_BYTES_LITERAL("\x1b[31m"), "\\x1B[31m", "1b5b33316d"},
      {TIDE_BYTES_LITERAL(" ~\x7f\x80\xff"), " ~\\x7F\\x80\\xFF", "207e7f80ff"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *printable = tide_bytes_printable(cases[i].bytes);
    g_autofree char *hex = tide_bytes_hex(cases[i].bytes);
    g_assert_cmpstr(printable, ==, cases[i].printable);
    g_assert_cmpstr(hex, ==, cases[i].hex);
    g_auto(TideBuffer) back = {0};
    g_assert_true(tide_bytes_from_hex(hex, strlen(hex), &back));
    g_assert_true(tide_bytes_equal(tide_buffer_bytes(&back), cases[i].bytes));
  }
}

TEST("/bytes/what-is-no-hex-adds-nothing")
{
  const char *const texts[] = {"0", "0g", "00f", "00 ff", "0x00", "00fg"};
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_byte(&buffer, 'k');
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_assert_false(tide_bytes_from_hex(texts[i], strlen(texts[i]), &buffer));
    g_assert_cmpuint(buffer.len, ==, 1);
  }
  g_assert_true(tide_bytes_from_hex("00fFAb", 6, &buffer));
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_LITERAL("k\0\xff\xab")));
}

TEST("/buffer/growth-keeps-what-is-there")
{
  g_auto(TideBuffer) buffer = {0};
  for (guint i = 0; i < 100000; i++)
    tide_buffer_append_byte(&buffer, (guint8)(i * 7));
  g_assert_cmpuint(buffer.len, ==, 100000);
  g_assert_cmpuint(buffer.capacity, >=, buffer.len);
  for (guint i = 0; i < 100000; i++)
    g_assert_cmpuint(buffer.data[i], ==, (guint8)(i * 7));
}

TEST("/buffer/one-large-append-fits")
{
  g_autofree char *large = g_strnfill(1000001, 'x');
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("head"));
  tide_buffer_append(&buffer, large, 1000001);
  tide_buffer_append(&buffer, NULL, 0);
  g_assert_true(tide_bytes_equal(tide_bytes(buffer.data, 4), TIDE_BYTES_LITERAL("head")));
  g_assert_true(tide_bytes_equal(tide_bytes(buffer.data + 4, buffer.len - 4), tide_bytes(large, 1000001)));
}

TEST("/buffer/reset-keeps-the-memory")
{
  g_auto(TideBuffer) buffer = {0};
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("first"));
  const guint8 *memory = buffer.data;
  tide_buffer_reset(&buffer);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_EMPTY));
  tide_buffer_append_bytes(&buffer, TIDE_BYTES_LITERAL("second"));
  g_assert_true(buffer.data == memory);
  g_assert_true(tide_bytes_equal(tide_buffer_bytes(&buffer), TIDE_BYTES_LITERAL("second")));

  tide_buffer_clear_memory(&buffer);
  g_assert_null(buffer.data);
  g_assert_cmpuint(buffer.capacity, ==, 0);
}

/* ---- iso time ---- */

static void
check(gint64 epoch_ms, const char *expected)
{
  char text[TIDE_ISO_TIME_BYTES];
  g_assert_cmpstr(tide_iso_time_print(epoch_ms, text), ==, expected);
}

TEST("/iso-time/moments")
{
  check(0, "1970-01-01T00:00:00.000Z");
  check(-1, "1969-12-31T23:59:59.999Z");
  check(1426535612045, "2015-03-16T19:53:32.045Z");
  check(1582934400000, "2020-02-29T00:00:00.000Z");
  check(-62135596800000, "0001-01-01T00:00:00.000Z");
  check(253402300799999, "9999-12-31T23:59:59.999Z");
}

TEST("/iso-time/what-no-year-of-four-digits-holds-is-a-number")
{
  check(-62135596800001, "-62135596800001");
  check(253402300800000, "253402300800000");
  check(G_MAXINT64, "9223372036854775807");
  check(G_MININT64, "-9223372036854775808");
}

/* A leap day ends a year that begins in March, and that of 400 years ends all of them: the days around each. */
TEST("/iso-time/leap-days")
{
  check(951782400000, "2000-02-29T00:00:00.000Z");
  for (int year = 1; year <= 9999; year++) {
    for (int day = -2; day <= 1; day++) {
      g_autoptr(GDateTime) march = g_date_time_new_utc(year, 3, 1, 0, 0, 0);
      g_autoptr(GDateTime) time = g_date_time_add_days(march, day);
      g_autofree char *expected = g_strdup_printf("%04d-%02d-%02dT00:00:00.000Z", g_date_time_get_year(time),
                                                  g_date_time_get_month(time), g_date_time_get_day_of_month(time));
      check(g_date_time_to_unix(time) * 1000, expected);
    }
  }
}

/* GLib's calendar is another one than the C library's. */
TEST("/iso-time/as-glib-prints-them")
{
  for (int i = 0; i < 20000; i++) {
    gint64 epoch_s = (gint64)g_test_rand_double_range(-30610224000.0, 253402300799.0); /* from the year 1000 */
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(epoch_s);
    g_autofree char *expected = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S.007Z");
    check(epoch_s * 1000 + 7, expected);
  }
}

/* ---- number text ---- */

TEST("/number-text/shortest")
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {0, "0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.005, "0.005"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e22, "1e+22"},
      {1e-5, "1e-05"},
      {600.55, "600.55"},
      {5e-324, "4.94065645841247e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {-0.0, "-0"},
      {0.0001, "0.0001"},
      {123456789012345678.0, "1.2345678901234568e+17"},
      {12345678901234567.0, "12345678901234568"},
      {1234567890123456.0, "1234567890123456"},
      {100000000000000, "100000000000000"},
      {1e15, "1e+15"},
      {99999999999.9999, "99999999999.9999"},
      {100000000000.0001, "100000000000.0001"},
      {99999999999.99998, "99999999999.99998"},
      {-100000000000, "-100000000000"},
      {12345678901.2345, "12345678901.2345"},
      {-20.5, "-20.5"},
      {0.00015, "0.00015"},
      {INFINITY, "inf"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    char text[TIDE_NUMBER_TEXT_BYTES];
    g_assert_cmpstr(tide_double_print(cases[i].value, text), ==, cases[i].text);
  }
}

TEST("/number-text/shortest-of-a-float")
{
  char text[TIDE_NUMBER_TEXT_BYTES];
  g_assert_cmpstr(tide_float_print(0.1f, text), ==, "0.1");
  g_assert_cmpstr(tide_float_print(16777216.0f, text), ==, "16777216");
  g_assert_cmpstr(tide_float_print(-0.33333334f, text), ==, "-0.33333334");
  g_assert_cmpstr(tide_float_print(3.4028235e38f, text), ==, "3.4028235e+38");
  g_assert_cmpstr(tide_float_print(-INFINITY, text), ==, "-inf");
}

TEST("/number-text/any-double-reads-back")
{
  for (int n = 0; n < 100000; n++) {
    guint64 bits = ((guint64)g_test_rand_int() << 32) | ((guint64)g_test_rand_int() & G_MAXUINT32);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
      continue;
    char text[TIDE_NUMBER_TEXT_BYTES];
    double back = g_ascii_strtod(tide_double_print(value, text), NULL);
    g_assert_true(memcmp(&back, &value, sizeof value) == 0);
  }
}

/* The text as it was made first, by trying precisions. */
static void
assert_as_tried(double value)
{
  char expected[TIDE_NUMBER_TEXT_BYTES], text[TIDE_NUMBER_TEXT_BYTES], format[] = "%.15g";
  if (!isfinite(value))
    return;
  do
    g_ascii_formatd(expected, sizeof expected, format, value);
  while (islessgreater(g_ascii_strtod(expected, NULL), value) && format[3]++ < '7');
  g_assert_cmpstr(tide_double_print(value, text), ==, expected);
}

static void
assert_float_as_tried(float value)
{
  char expected[TIDE_NUMBER_TEXT_BYTES], text[TIDE_NUMBER_TEXT_BYTES], format[] = "%.6g";
  if (!isfinite(value))
    return;
  do
    g_ascii_formatd(expected, sizeof expected, format, (double)value);
  while (islessgreater((float)g_ascii_strtod(expected, NULL), value) && format[2]++ < '9');
  g_assert_cmpstr(tide_float_print(value, text), ==, expected);
}

/* What is stored does not change with what prints it. */
TEST("/number-text/texts-are-those-of-trying")
{
  for (int exponent = -1075; exponent < 1025; exponent++) {
    double power = ldexp(1, exponent);
    assert_as_tried(power);
    assert_as_tried(-nextafter(power, 0));
    assert_as_tried(nextafter(power, G_MAXDOUBLE));
    assert_float_as_tried((float)power);
    assert_float_as_tried(nextafterf((float)power, 0));
  }
  assert_as_tried(-0.0);
  for (int n = 0; n < 10000; n++) {
    guint64 bits = ((guint64)g_test_rand_int() << 32) | ((guint64)g_test_rand_int() & G_MAXUINT32);
    double value, decimal = (double)(bits % 100000000) / pow(10, (double)(bits >> 60));
    float single;
    memcpy(&value, &bits, sizeof value);
    memcpy(&single, &bits, sizeof single);
    assert_as_tried(value);
    assert_as_tried(decimal);
    assert_as_tried((double)(bits >> bits % 60));
    decimal = (double)(bits % G_GUINT64_CONSTANT(1000000000000000) >> bits % 50) / pow(10, (double)(bits >> 61));
    assert_as_tried(-decimal);
    assert_as_tried(nextafter(decimal, 0));
    assert_as_tried(nextafter(decimal, G_MAXDOUBLE));
    assert_float_as_tried(single);
    assert_float_as_tried((float)decimal);
  }
}

/* ---- json writer ---- */

TEST("/json-writer/strings-are-quoted-and-escaped")
{
  static const struct {
    TideBytes text;
    const char *expected;
  } cases[] = {
      {{NULL, 0}, "\"\""},
      {TIDE_BYTES_LITERAL("plain /text"), "\"plain /text\""},
      {TIDE_BYTES_LITERAL("\"a\\b\""), "\"\\\"a\\\\b\\\"\""},
      {TIDE_BYTES_LITERAL("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
      {TIDE_BYTES_LITERAL("\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\""},
      {TIDE_BYTES_LITERAL("H9 \xC2\x9B\x33m \xC2\x80\xC2\x9F\xC2\xA0"), "\"H9 \\u009b3m \\u0080\\u009f\xC2\xA0\""},
      {TIDE_BYTES_LITERAL("a\0b"), "\"a\\u0000b\""},
      {TIDE_BYTES_LITERAL("\xC3\xA9\xF0\x9F\x8C\x8A"), "\"\xC3\xA9\xF0\x9F\x8C\x8A\""},
      {TIDE_BYTES_LITERAL("a\xFFz"), "\"a\xEF\xBF\xBDz\""},
      {TIDE_BYTES_LITERAL("\xC3"), "\"\xEF\xBF\xBD\""},
      {TIDE_BYTES_LITERAL("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* half of a surrogate pair */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) out = {0};
    tide_buffer_append_byte(&out, ':');
    tide_json_string_append(&out, cases[i].text);
    tide_buffer_append_byte(&out, '\0');
    g_assert_cmpstr((const char *)out.data + 1, ==, cases[i].expected);
    g_assert_cmpuint(out.len, ==, strlen(cases[i].expected) + 2);
  }
}

/* Each byte at each place of texts of each length up to three words, in memory that ends with the text. */
TEST("/json-writer/plain-is-plain-wherever-it-stands")
{
  for (gsize len = 1; len <= 24; len++) {
    g_autofree guint8 *text = g_malloc(len);
    memset(text, '~', len);
    g_assert_true(tide_json_is_plain(tide_bytes(text, len)));
    for (gsize at = 0; at < len; at++) {
      for (guint byte = 0; byte <= G_MAXUINT8; byte++) {
        text[at] = (guint8)byte;
        gboolean is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        g_assert_cmpint(tide_json_is_plain(tide_bytes(text, len)), ==, is_plain);
      }
      text[at] = '~';
    }
  }
}

TEST("/json-writer/commas-stand-between-values")
{
  g_auto(TideBuffer) out = {0};
  for (int line = 0; line < 2; line++) {
    tide_json_open(&out, NULL, '{');
    tide_json_open(&out, "none", '{');
    tide_json_close(&out, "}");
    tide_json_open(&out, "list", '[');
    tide_json_text(&out, NULL, "[");
    tide_json_number(&out, NULL, G_MININT64);
    tide_json_open(&out, NULL, '{');
    tide_json_bool(&out, "yes", TRUE);
    tide_json_bool(&out, "no", FALSE);
    tide_json_close(&out, "}");
    tide_json_open(&out, NULL, '[');
    tide_json_close(&out, "]]");
    tide_json_decimal(&out, "ratio", 2.0 / 3, 3);
    tide_json_significant(&out, "little", 1.25e-9);
    tide_json_significant(&out, "much", 1e9 + 1);
    tide_json_string(&out, "text", TIDE_BYTES_LITERAL("{\n"));
    tide_json_text(&out, "end", "");
    tide_json_close(&out, "}\n");
  }
#define LINE                                                                                                           \
  "{\"none\":{},\"list\":[\"[\",-9223372036854775808,{\"yes\":true,\"no\":false},[]],\"ratio\":0.667,"                 \
  "\"little\":1.25e-09,\"much\":1000000001,\"text\":\"{"                                                               \
  "\\n\","                                                                                                             \
  "\"end\":\"\"}\n"
  assert_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL(LINE LINE));
}

TEST("/json-writer/bytes-are-hex-or-base64")
{
  g_auto(TideBuffer) out = {0};
  tide_json_open(&out, NULL, '{');
  tide_json_hex(&out, "hex", TIDE_BYTES_LITERAL("a\0\xff"));
  tide_json_hex(&out, "no_hex", TIDE_BYTES_EMPTY);
  tide_json_base64(&out, "base64", TRUE, TIDE_BYTES_LITERAL("a\0\xff\xfe"));
  tide_json_base64(&out, "empty", TRUE, TIDE_BYTES_EMPTY);
  tide_json_base64(&out, "null", FALSE, TIDE_BYTES_LITERAL("left out"));
  tide_json_close(&out, "}");
  assert_bytes_equal(tide_buffer_bytes(&out), TIDE_BYTES_LITERAL("{\"hex\":\"6100ff\",\"no_hex\":\"\",\"base64\":"
                                                                 "\"YQD//g==\",\"empty\":\"\",\"null\":null}"));
}

TEST("/json-writer/escapes-by-letter-or-number")
{
  static const struct {
    gunichar c;
    TideJsonLetters letters;
    const char *form;
  } cases[] = {
      {'"', TIDE_JSON_QUOTES, "\\\""},
      {'\n', TIDE_JSON_QUOTES, "\\u000a"},
      {'\t', TIDE_JSON_LINES, "\\t"},
      {'\b', TIDE_JSON_LINES, "\\u0008"},
      {'\b', TIDE_JSON_ALL_LETTERS, "\\b"},
      {'\r', TIDE_JSON_ALL_LETTERS, "\\r"},
      {0x202e, TIDE_JSON_LINES, "\\u202e"},
      {0xffff, TIDE_JSON_LINES, "\\uffff"},
      {0x10000, TIDE_JSON_LINES, "\\ud800\\udc00"},
      {0x10ffff, TIDE_JSON_LINES, "\\udbff\\udfff"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    char form[TIDE_JSON_ESCAPE_BYTES];
    gsize len = tide_json_escape(cases[i].c, cases[i].letters, form);
    assert_bytes_equal(tide_bytes(form, len), tide_bytes_of_string(cases[i].form));
  }
}

TEST("/json-writer/E11-what-is-not-seen-is-escaped")
{
  static const char *const cases[][2] = {
      {"{\"a\":\"b\\n\\u001b\"}\n", "{\"a\":\"b\\n\\u001b\"}\n"},
      {"\"\u202e\u2028\u200b\ufeff\x7f\xc2\x9b\"", "\"\\u202e\\u2028\\u200b\\ufeff\\u007f\\u009b\""},
      {"\"\u00fc\u6e29\U0001F321\"", "\"\u00fc\u6e29\U0001F321\""},
      {"\"\U000E0041\"", "\"\\udb40\\udc41\""},
      {"\"\xff\"", "\"\ufffd\""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) json = {0};
    tide_buffer_append_bytes(&json, tide_bytes_of_string(cases[i][0]));
    tide_json_escape_hidden(&json);
    assert_bytes_equal(tide_buffer_bytes(&json), tide_bytes_of_string(cases[i][1]));
  }
}

/* ---- error ---- */

TEST("/error/shell-word")
{
  static const char *const cases[][2] = {{"/etc/tidemark/a-1_b.yaml", "/etc/tidemark/a-1_b.yaml"},
                                         {"User:meter@SITE.ORG", "User:meter@SITE.ORG"},
                                         {"", "''"},
                                         {"a b", "'a b'"},
                                         {"$(x)", "'$(x)'"},
                                         {"it's", "'it'\\''s'"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *word = tide_shell_word(cases[i][0]);
    g_assert_cmpstr(word, ==, cases[i][1]);
  }
}

/* ---- backoff ---- */

#define MIN_US 100
#define MAX_US 1000

TEST("/backoff/doubles-up-to-the-bound")
{
  static const struct {
    guint32 n_failures;
    gint64 bound_us;
  } cases[] = {{0, 100}, {1, 100}, {2, 200}, {3, 400}, {4, 800}, {5, 1000}, {6, 1000}, {G_MAXUINT32, 1000}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 least_us = G_MAXINT64, most_us = 0;
    for (int n = 0; n < 2000; n++) {
      gint64 pause_us = tide_backoff_us(cases[i].n_failures, MIN_US, MAX_US);
      least_us = MIN(least_us, pause_us);
      most_us = MAX(most_us, pause_us);
    }
    g_assert_cmpint(least_us, >=, cases[i].bound_us / 2);
    g_assert_cmpint(most_us, <=, cases[i].bound_us);
    g_assert_cmpint(most_us - least_us, >, cases[i].bound_us / 4); /* drawn */
  }
}

TEST("/backoff/a-great-bound-does-not-overflow")
{
  gint64 pause_us = tide_backoff_us(G_MAXUINT32, 1, G_MAXINT64 / 2);
  g_assert_cmpint(pause_us, >=, G_MAXINT64 / 4 - 1);
  g_assert_cmpint(pause_us, <=, G_MAXINT64 / 2);
}

/* ---- rate ---- */

#define SECOND TIDE_US_PER_S

TEST("/rate/steady")
{
  TideRate rate = {0};
  for (gint64 s = 1000; s < 1030; s++)
    (void)tide_rate_add(&rate, 7, s * SECOND);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1030 * SECOND), ==, 7);
}

TEST("/rate/over-when-nothing-comes")
{
  TideRate rate = {0};
  g_assert_cmpfloat(tide_rate_a_second(rate, 5 * SECOND), ==, 0);
  g_assert_true(tide_rate_add(&rate, 50, 1000 * SECOND));
  g_assert_false(tide_rate_add(&rate, 50, 1004 * SECOND));
  g_assert_cmpfloat(tide_rate_a_second(rate, 1005 * SECOND), ==, 20);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1009 * SECOND), <, 20);
  g_assert_cmpfloat(tide_rate_a_second(rate, 1010 * SECOND), ==, 0);
}

/* ---- paces ---- */

TEST("/pace/what-is-done-together-counts-together")
{
  gint64 now_us = 1000 * TIDE_US_PER_S;
  TidePace pace = {.per_s = 1000};
  tide_pace_add(&pace, 300, now_us); /* a tenth of a second is made up for */
  g_assert_cmpint(tide_pace_wait_us(&pace, now_us), ==, 200 * TIDE_US_PER_MS + 1);
  tide_pace_add(&pace, 1, now_us);
  g_assert_cmpint(tide_pace_wait_us(&pace, now_us), ==, 201 * TIDE_US_PER_MS + 1);
  g_assert_cmpint(tide_pace_wait_us(&pace, now_us + TIDE_US_PER_S), ==, 0);
  tide_pace_set(&pace, 100, now_us); /* what is ahead follows the rate */
  g_assert_cmpint(tide_pace_wait_us(&pace, now_us), ==, 2010 * TIDE_US_PER_MS + 1);
  tide_pace_set(&pace, 0, now_us);
  g_assert_cmpint(tide_pace_wait_us(&pace, now_us), ==, 0);
}

/* ---- units ---- */

TEST("/units/sizes")
{
  static const struct {
    double bytes;
    const char *text;
  } cases[] = {{0, "0 B"},          {1023, "1023 B"},           {1024, "1.0 KiB"},
               {102400, "100 KiB"}, {1536.0 * 1024, "1.5 MiB"}, {1e15, "909 TiB"},
               {1e18, "909495 TiB"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_size_text(cases[i].bytes);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

TEST("/units/ages-have-two-units")
{
  static const struct {
    gint64 ms;
    const char *text;
  } cases[] = {
      {0, "0 ms"},
      {999, "999 ms"},
      {1000, "1.0 s"},
      {59999, "59.9 s"},
      {60000, "1 min 0 s"},
      {303000, "5 min 3 s"},
      {3600000, "1 h 0 min"},
      {187200000, "2 d 4 h"},
      {-3200, "in 3.2 s"},
      {G_MININT64, "in 106751991167 d 7 h"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_age_text(cases[i].ms);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

TEST("/units/counts-have-commas")
{
  static const struct {
    guint64 count;
    const char *text;
  } cases[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {100000, "100,000"}, {1234567, "1,234,567"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_count_text(cases[i].count);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

TEST("/units/a-count-has-the-noun-of-its-number")
{
  static const struct {
    guint64 count;
    const char *one, *more, *text;
  } cases[] = {{0, "row", NULL, "0 rows"},
               {1, "row", NULL, "1 row"},
               {1204, "row", NULL, "1,204 rows"},
               {1, "copy", "copies", "1 copy"},
               {2, "copy", "copies", "2 copies"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = tide_count_of(cases[i].count, cases[i].one, cases[i].more);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* ---- listen address ---- */

TEST("/listen-address/valid")
{
  static const struct {
    const char *text;
    int family;
    const char *host;
    guint16 port;
  } cases[] = {
      {"127.0.0.1:9464", AF_INET, "127.0.0.1", 9464},
      {"0.0.0.0:0", AF_INET, "0.0.0.0", 0},
      {"10.1.2.3:65535", AF_INET, "10.1.2.3", 65535},
      {"[::1]:9464", AF_INET6, "::1", 9464},
      {"[::]:80", AF_INET6, "::", 80},
      {"[2001:db8::5]:1", AF_INET6, "2001:db8::5", 1},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_listen_address_parse(cases[i].text, &address, &error));
    g_assert_no_error(error);
    g_assert_false(address.is_off);
    g_assert_cmpint(address.address.ss_family, ==, cases[i].family);
    char host[INET6_ADDRSTRLEN];
    if (cases[i].family == AF_INET) {
      const struct sockaddr_in *ipv4 = (const void *)&address.address;
      g_assert_cmpuint(address.address_bytes, ==, sizeof *ipv4);
      g_assert_cmpuint(ntohs(ipv4->sin_port), ==, cases[i].port);
      g_assert_nonnull(inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof host));
    } else {
      const struct sockaddr_in6 *ipv6 = (const void *)&address.address;
      g_assert_cmpuint(address.address_bytes, ==, sizeof *ipv6);
      g_assert_cmpuint(ntohs(ipv6->sin6_port), ==, cases[i].port);
      g_assert_nonnull(inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof host));
    }
    g_assert_cmpstr(host, ==, cases[i].host);
  }
}

TEST("/listen-address/unix-sockets")
{
  g_autofree char *longest = g_strnfill(106, 'x'), *text = g_strconcat("unix:/", longest, NULL);
  const char *const cases[] = {"unix:/run/tidemark/http.socket", text};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_assert_true(tide_listen_address_parse(cases[i], &address, NULL));
    const struct sockaddr_un *path = (const void *)&address.address;
    g_assert_cmpint(path->sun_family, ==, AF_UNIX);
    g_assert_cmpuint(address.address_bytes, ==, sizeof *path);
    g_assert_cmpstr(path->sun_path, ==, cases[i] + strlen("unix:"));
  }
}

TEST("/listen-address/who-can-reach-it")
{
  static const struct {
    const char *text;
    gboolean is_local;
  } cases[] = {
      {"off", TRUE},
      {"unix:/x", TRUE},
      {"127.0.0.1:1", TRUE},
      {"127.255.255.255:1", TRUE},
      {"128.0.0.1:1", FALSE},
      {"0.0.0.0:1", FALSE},
      {"[::1]:1", TRUE},
      {"[::ffff:127.0.0.1]:1", TRUE},
      {"[::]:1", FALSE},
      {"[::2]:1", FALSE},
      {"[::ffff:10.0.0.1]:1", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address;
    g_assert_true(tide_listen_address_parse(cases[i].text, &address, NULL));
    g_assert_cmpint(tide_listen_address_is_local(&address), ==, cases[i].is_local);
  }
}

TEST("/listen-address/off-is-off")
{
  TideListenAddress address;
  g_assert_true(tide_listen_address_parse("off", &address, NULL));
  g_assert_true(address.is_off);
}

TEST("/listen-address/all-else-is-refused")
{
  static const char *const cases[] = {
      "",           "9464",       ":9464",         "127.0.0.1",      "127.0.0.1:", "127.0.0.1:65536", "::1:9464",
      "[::1]",      "[::1]9464",  "[127.0.0.1]:1", "localhost:9464", "*:9464",     "1.2.3:4",         "1.2.3.4:-1",
      "1.2.3.4:+1", "1.2.3.4: 1", "1.2.3.4:1x",    "1.2.3.4:000001", "unix:",      "unix:x",          "unix",
      "Unix:/x",    "Off",        "off:1",         "[]:1",           "[::1:1",     "256.0.0.1:1",     "[fe80::1%lo]:1",
  };
  g_autofree char *too_long = g_strnfill(200, 'x'), *long_path = g_strconcat("unix:/", too_long, NULL);
  g_assert_false(tide_listen_address_parse(long_path, &(TideListenAddress){0}, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideListenAddress address = {.is_off = 42};
    g_autoptr(GError) error = NULL;
    g_assert_false(tide_listen_address_parse(cases[i], &address, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
    g_autofree char *quoted = g_strdup_printf("'%s'", cases[i]);
    g_assert_nonnull(strstr(error->message, quoted));
    g_assert_cmpint(address.is_off, ==, 42);
  }
}
