/* A dead letter as a line: every byte comes back. */
#include "dead_letters/dead_letter_json.h"
#include "unit/assert_bytes.h"
#include "util/error.h"

static TideDeadLetter
full_dead_letter(void)
{
  static const TideDeadLetterHeader headers[] = {
      {TIDE_BYTES_LITERAL("trace"), TIDE_BYTES_LITERAL("\x00\xff\x7f"), TRUE},
      {TIDE_BYTES_LITERAL("trace"), TIDE_BYTES_EMPTY, TRUE},
      {TIDE_BYTES_LITERAL("none"), TIDE_BYTES_EMPTY, FALSE},
      {TIDE_BYTES_LITERAL("\xc3\x28 \"bad\""), TIDE_BYTES_LITERAL("v"), TRUE},
  };
  return (TideDeadLetter){.topic = TIDE_BYTES_LITERAL("metrics"),
                          .partition = 3,
                          .offset = G_GINT64_CONSTANT(9007199254740993), /* a double could not hold it */
                          .timestamp_ms = 1785069296123,
                          .key = TIDE_BYTES_LITERAL("k\0\xfe"),
                          .has_key = TRUE,
                          .value = TIDE_BYTES_LITERAL("{\"v\": \x80 \n"),
                          .has_value = TRUE,
                          .headers = headers,
                          .n_headers = G_N_ELEMENTS(headers),
                          .reason = TIDE_BYTES_LITERAL("parse"),
                          .text = TIDE_BYTES_LITERAL("it says \"no\"\nat byte 7"),
                          .source = TIDE_BYTES_LITERAL("boards"),
                          .table = TIDE_BYTES_LITERAL("ns:METRIC"),
                          .row_key = TIDE_BYTES_LITERAL("host\0\xff"),
                          .reading_index = 17,
                          .attempts = 4000000000u,
                          .version = TIDE_BYTES_LITERAL("0.1.0")};
}

static void
assert_same_dead_letter(const TideDeadLetter *a, const TideDeadLetter *b)
{
  assert_bytes_equal(a->topic, b->topic);
  g_assert_cmpint(a->partition, ==, b->partition);
  g_assert_cmpint(a->offset, ==, b->offset);
  g_assert_cmpint(a->timestamp_ms, ==, b->timestamp_ms);
  g_assert_cmpint(a->has_key, ==, b->has_key);
  assert_bytes_equal(a->key, b->key);
  g_assert_cmpint(a->has_value, ==, b->has_value);
  assert_bytes_equal(a->value, b->value);
  g_assert_cmpuint(a->n_headers, ==, b->n_headers);
  for (guint32 i = 0; i < a->n_headers; i++) {
    assert_bytes_equal(a->headers[i].name, b->headers[i].name);
    g_assert_cmpint(a->headers[i].has_value, ==, b->headers[i].has_value);
    assert_bytes_equal(a->headers[i].value, b->headers[i].value);
  }
  g_assert_cmpint(a->original_is_gone, ==, b->original_is_gone);
  assert_bytes_equal(a->reason, b->reason);
  assert_bytes_equal(a->text, b->text);
  assert_bytes_equal(a->source, b->source);
  assert_bytes_equal(a->table, b->table);
  assert_bytes_equal(a->row_key, b->row_key);
  g_assert_cmpint(a->reading_index, ==, b->reading_index);
  g_assert_cmpuint(a->attempts, ==, b->attempts);
  assert_bytes_equal(a->version, b->version);
}

static void
check_round_trip(TideDeadLetterParser *parser, const TideDeadLetter *dead_letter)
{
  g_auto(TideBuffer) line = {0};
  tide_dead_letter_json_append(&line, dead_letter, 1785069300001);
  g_assert_true(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
  g_autoptr(GError) error = NULL;
  TideDeadLetter read;
  TideBytes kept_at;
  gboolean ok = tide_dead_letter_parser_parse(parser, tide_buffer_bytes(&line), &read, &kept_at, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  assert_same_dead_letter(&read, dead_letter);
  assert_bytes_equal(kept_at, TIDE_BYTES_LITERAL("2026-07-26T12:35:00.001Z"));
}

static void
test_every_byte_comes_back(void)
{
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  TideDeadLetter dead_letter = full_dead_letter();
  check_round_trip(parser, &dead_letter);
  dead_letter.original_is_gone = TRUE;
  dead_letter.n_headers = 0;
  dead_letter.headers = NULL;
  check_round_trip(parser, &dead_letter);
}

static void
test_what_is_not_there_stays_so(void)
{
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("m"),
                                .timestamp_ms = -1,
                                .reading_index = -1,
                                .reason = TIDE_BYTES_LITERAL("empty"),
                                .text = TIDE_BYTES_LITERAL("it is empty"),
                                .version = TIDE_BYTES_LITERAL("0.1.0")};
  check_round_trip(parser, &dead_letter);
  dead_letter.has_key = dead_letter.has_value = TRUE; /* there, without a byte */
  check_round_trip(parser, &dead_letter);
}

static void
test_values_of_every_length(void)
{
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  guint8 bytes[300];
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8)(i * 7);
  TideDeadLetter dead_letter = full_dead_letter();
  for (gsize len = 0; len <= sizeof bytes; len++) {
    dead_letter.value = dead_letter.key = tide_bytes(bytes, len);
    check_round_trip(parser, &dead_letter);
  }
}

static void
test_the_line_as_it_is_documented(void)
{
  TideDeadLetter dead_letter = full_dead_letter();
  dead_letter.n_headers = 1;
  dead_letter.value = TIDE_BYTES_LITERAL("{");
  g_auto(TideBuffer) line = {0};
  tide_dead_letter_json_append(&line, &dead_letter, 1785069300001);
  static const char expected[] =
      "{\"kept_at\":\"2026-07-26T12:35:00.001Z\",\"topic\":\"metrics\",\"partition\":3,\"offset\":9007199254740993,"
      "\"timestamp_ms\":1785069296123,\"reason\":\"parse\",\"text\":\"it says \\\"no\\\"\\nat byte 7\","
      "\"source\":\"boards\",\"table\":\"ns:METRIC\",\"row_key\":\"686f737400ff\",\"reading\":17,"
      "\"attempts\":4000000000,\"version\":\"0.1.0\",\"key\":\"awD+\",\"value\":\"ew==\",\"headers\":[{\"name\":"
      "\"trace\",\"value\":\"AP9/"
      "\"}]}\n";
  assert_bytes_equal(tide_buffer_bytes(&line), tide_bytes_of_string(expected));
}

/* A line of somebody else's need not say when it was kept. */
static void
test_unknown_moment_is_not_told(void)
{
  g_auto(TideBuffer) line = {0};
  TideDeadLetter dead_letter = full_dead_letter();
  tide_dead_letter_json_append(&line, &dead_letter, -1);
  g_assert_true(g_str_has_prefix((const char *)line.data, "{\"topic\":\"metrics\","));
}

/* A record's time may be the beginning of time, which is no unknown one. */
static void
test_first_moment_comes_back(void)
{
  g_auto(TideBuffer) line = {0};
  TideDeadLetter dead_letter = full_dead_letter(), read;
  dead_letter.timestamp_ms = 0;
  tide_dead_letter_json_append(&line, &dead_letter, -1);
  TideDeadLetterParser *parser = tide_dead_letter_parser_new();
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_dead_letter_parser_parse(parser, tide_buffer_bytes(&line), &read, NULL, &error));
  g_assert_no_error(error);
  g_assert_cmpint(read.timestamp_ms, ==, 0);
  tide_dead_letter_parser_free(parser);
}

static void
test_what_is_no_dead_letter_is_refused(void)
{
  static const struct {
    const char *line;
    const char *why;
  } cases[] = {
      {"", "no"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1", "JSON"},
      {"{}", "topic, partition or offset is missing"},
      {"{\"topic\":\"m\",\"partition\":0}", "topic, partition or offset is missing"},
      {"{\"topic\":\"m\",\"partition\":-1,\"offset\":1}", "'partition'"},
      {"{\"topic\":\"m\",\"partition\":2147483648,\"offset\":1}", "'partition'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1e3}", "'offset'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":\"1\"}", "'offset'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"value\":\"a\"}", "'value'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"value\":\"a%b%\"}", "'value'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"value\":7}", "'value'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"row_key\":\"abc\"}", "'row_key'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"headers\":{}}", "'headers'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1,\"headers\":[{\"name\":\"a\",\"value\":3}]}", "'value'"},
      {"{\"topic\":\"m\",\"partition\":0,\"offset\":1}{}", "2 JSON objects"},
  };
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideDeadLetter dead_letter;
    g_autoptr(GError) error = NULL;
    if (tide_dead_letter_parser_parse(parser, tide_bytes_of_string(cases[i].line), &dead_letter, NULL, &error))
      g_error("%s is taken for a dead letter", cases[i].line);
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
    if (strstr(error->message, cases[i].why) == NULL && strcmp(cases[i].why, "no") != 0 &&
        strcmp(cases[i].why, "JSON") != 0)
      g_error("%s: %s", cases[i].line, error->message);
  }
}

static void
test_unknown_members_are_passed_over(void)
{
  static const char line[] = "{\"later\":[{\"x\":1}],\"topic\":\"m\",\"partition\":0,\"offset\":1,\"more\":{\"a\":{}}}";
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new();
  g_autoptr(GError) error = NULL;
  TideDeadLetter dead_letter;
  gboolean ok = tide_dead_letter_parser_parse(parser, tide_bytes_of_string(line), &dead_letter, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  g_assert_cmpint(dead_letter.offset, ==, 1);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dead-letter-json/every-byte-comes-back", test_every_byte_comes_back);
  g_test_add_func("/dead-letter-json/what-is-not-there-stays-so", test_what_is_not_there_stays_so);
  g_test_add_func("/dead-letter-json/unknown-moment-is-not-told", test_unknown_moment_is_not_told);
  g_test_add_func("/dead-letter-json/first-moment-comes-back", test_first_moment_comes_back);
  g_test_add_func("/dead-letter-json/values-of-every-length", test_values_of_every_length);
  g_test_add_func("/dead-letter-json/the-line-as-it-is-documented", test_the_line_as_it_is_documented);
  g_test_add_func("/dead-letter-json/what-is-no-dead-letter-is-refused", test_what_is_no_dead_letter_is_refused);
  g_test_add_func("/dead-letter-json/unknown-members-are-passed-over", test_unknown_members_are_passed_over);
  return g_test_run();
}
