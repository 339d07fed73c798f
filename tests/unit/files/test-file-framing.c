/* Where records of files end, and the rate of a load. tests/fuzz/fuzz-file-framing.c shows that it does not depend on
 * how the text comes. */
#include "files/file_framing.h"
#include "files/file_load.h"
#include "unit/test_case.h"
#include "util/clock.h"

/* ---- where records end ---- */

/* All records of @text, in brackets; behind them what the end was. */
static char *
records_of(TideFileFraming framing, TideBytes text)
{
  GString *records = g_string_new(NULL);
  for (gsize at = 0;;) {
    TideFrame frame;
    g_autoptr(GError) error = NULL;
    switch (tide_file_framing_next(&framing, tide_bytes(text.data + at, text.len - at), TRUE, &frame, &error)) {
    case TIDE_FRAME_FOUND:
      if (!frame.is_blank) {
        g_autofree char *shown = tide_bytes_printable(tide_bytes(text.data + at + frame.start, frame.len));
        g_string_append_printf(records, "[%s]%u", shown, frame.n_lines);
      }
      if (frame.is_unended)
        g_string_append(records, " unended");
      at += frame.end;
      continue;
    case TIDE_FRAME_MORE:
      g_string_append(records, at < text.len ? " cut off" : "");
      return g_string_free(records, FALSE);
    case TIDE_FRAME_BROKEN:
      g_string_append_printf(records, " %s", error->message);
      return g_string_free(records, FALSE);
    }
  }
}

#define ASSERT_RECORDS(framing, literal, expected)                                                                     \
  do {                                                                                                                 \
    g_autofree char *found = records_of((framing), TIDE_BYTES_LITERAL(literal));                                       \
    g_assert_cmpstr(found, ==, (expected));                                                                            \
  } while (0)

static const TideFileFraming json = {.format = TIDE_FORMAT_JSON, .max_bytes = 20};
static const TideFileFraming csv = {.format = TIDE_FORMAT_CSV, .delimiter = ',', .quotes = TRUE, .max_bytes = 40};
static const TideFileFraming influx = {.format = TIDE_FORMAT_INFLUX, .delimiter = ',', .max_bytes = 40};
static const TideFileFraming msgpack = {.format = TIDE_FORMAT_MSGPACK, .max_bytes = 20};
/* Avro's files are containers: test-avro-text.c. */
static const TideFileFraming protobuf = {.format = TIDE_FORMAT_PROTOBUF, .max_bytes = 300};

TEST("/lines")
{
  ASSERT_RECORDS(json, "", "");
  ASSERT_RECORDS(json, "{}\n{1}\n", "[{}]1[{1}]1");
  ASSERT_RECORDS(json, "\n\r\n{}\r\n\n", "[{}\\x0D]1");
  ASSERT_RECORDS(json, "{}\n{1}", "[{}]1[{1}]1 unended");
  ASSERT_RECORDS(json, "{}\n  \n \r\n{}\n", "[{}]1[{}]1");
  ASSERT_RECORDS(json, "{a\nb}\n", "[{a]1[b}]1");
  ASSERT_RECORDS(json, "12345678901234567890\n{}\n", "[12345678901234567890]1[{}]1");
  ASSERT_RECORDS(json, "1234567890123456789012345\n{}\n", "[123456789012345678901]1[{}]1");
}

TEST("/csv")
{
  ASSERT_RECORDS(csv, "a,b\r\n1,2\r\n", "[a,b\\x0D]1[1,2\\x0D]1");
  ASSERT_RECORDS(csv, "1\n \n\n#\n", "[1]1[ ]1[#]1");
  ASSERT_RECORDS(csv, "\"a\nb\",1\n2,3\n", "[\"a\\x0Ab\",1]2[2,3]1");
  ASSERT_RECORDS(csv, "1,\"a\n\"\"b\nc\"\n2\n", "[1,\"a\\x0A\"\"b\\x0Ac\"]3[2]1");
  ASSERT_RECORDS(csv, "\"\"\n\"\"\"\"\n1\n", "[\"\"]1[\"\"\"\"]1[1]1");
}

/* A quote in a comment opens nothing; with trimmed spaces, one behind them does. */
TEST("/csv-as-loggers-write-it")
{
  TideFileFraming commented = csv, trimmed = csv;
  commented.comment = TIDE_BYTES_LITERAL("//");
  trimmed.trims = TRUE;
  ASSERT_RECORDS(commented, "//\",\n1\n// 2\n/\"3\n", "[1]1[/\"3]1");
  ASSERT_RECORDS(commented, "//,\"x\n1,2\n3,\"4\"\n", "[1,2]1[3,\"4\"]1");
  ASSERT_RECORDS(trimmed, "1, \"a\nb\"\n2\n", "[1, \"a\\x0Ab\"]2[2]1");
  ASSERT_RECORDS(csv, "1, \"a\nb\"\n2\n", "[1, \"a]1[b\"]1[2]1");
}

/* A line inside a text in quotes must never become a reading, so records end exactly where csv_lines.c ends them. */
TEST("/csv-lines-in-a-text-are-no-records")
{
  TideFileFraming trimmed = csv, tabbed = csv, commented = csv;
  trimmed.trims = tabbed.trims = TRUE;
  tabbed.delimiter = '\t';
  commented.comment = TIDE_BYTES_LITERAL("#");
  ASSERT_RECORDS(trimmed, "1, \"a\nb,2\nc\" \n3\n", "[1, \"a\\x0Ab,2\\x0Ac\" ]3[3]1");
  ASSERT_RECORDS(trimmed, "\"a\nb\" \t,1\n\"c\n\" \r\n2", "[\"a\\x0Ab\" \\x09,1]2[\"c\\x0A\" \\x0D]2[2]1 unended");
  ASSERT_RECORDS(trimmed, "\"a\nb\" c\n", "[\"a]1[b\" c]1");
  ASSERT_RECORDS(tabbed, "\"a\nb\" \t1\n\"a\nb\"\t \"c\nd\"\n", "[\"a\\x0Ab\" \\x091]2[\"a\\x0Ab\"\\x09 \"c\\x0Ad\"]3");
  ASSERT_RECORDS(csv, "\"a\nb\" \n", "[\"a]1[b\" ]1");
  /* A byte order mark, which the reader skips, hides neither a quote nor a comment. */
  ASSERT_RECORDS(csv, "\xEF\xBB\xBF\"a\nb\",1\n2\n", "[\\xEF\\xBB\\xBF\"a\\x0Ab\",1]2[2]1");
  ASSERT_RECORDS(commented, "\xEF\xBB\xBF# \"a\nb,1\n", "[b,1]1");
}

/* A text in quotes may hold what looks like a line, or like one's end. */
TEST("/influx")
{
  ASSERT_RECORDS(influx, "m v=1\nm,a=b v=2 3\n", "[m v=1]1[m,a=b v=2 3]1");
  ASSERT_RECORDS(influx, "m v=\"a\nm v=1\n\" 2\nm v=3\n", "[m v=\"a\\x0Am v=1\\x0A\" 2]3[m v=3]1");
  ASSERT_RECORDS(influx, "m v=\"a\\\"\n\",w=\"\\\\\"\nm v=3\n", "[m v=\"a\\x5C\"\\x0A\",w=\"\\x5C\\x5C\"]2[m v=3]1");
  ASSERT_RECORDS(influx, "m v=\"a\nb", "[m v=\"a]1[b]1 unended");
  ASSERT_RECORDS(influx, "m v=\"a\nb\"", "[m v=\"a\\x0Ab\"]2 unended");
  /* What is none: in a tag, behind what escapes a space, in a comment. */
  ASSERT_RECORDS(influx, "  m,t=\"a v=1\nm v=2\n", "[  m,t=\"a v=1]1[m v=2]1");
  ASSERT_RECORDS(influx, "m,t=a\\ b=\"c v=1\nm v=2\n", "[m,t=a\\x5C b=\"c v=1]1[m v=2]1");
  ASSERT_RECORDS(influx, "# DDL\n  \n\r\n \r\n # a b=\"c\nm v=1\n# end", "[m v=1]1 unended");
  /* Broken ones. */
  ASSERT_RECORDS(influx, "m v=\"open\nm v=\"b\"\nm v=3\n", "[m v=\"open]1[m v=\"b\"]1[m v=3]1");
  ASSERT_RECORDS(influx, "m v=\"open 789012345678901234567890\nm v=2\nm v=3\n",
                 "[m v=\"open 789012345678901234567890]1[m v=2]1[m v=3]1");
}

/* What is wrong with one line takes no other along. */
TEST("/grouped")
{
  TideFileFraming grouped = csv;
  grouped.is_grouped = TRUE;
  ASSERT_RECORDS(grouped, "a,1\na,2\nb,3\na,4\n", "[a,1\\x0Aa,2]2[b,3]1[a,4]1");
  ASSERT_RECORDS(grouped, "a,1\r\na,2\r\nab,3", "[a,1\\x0D\\x0Aa,2\\x0D]2[ab,3]1 unended");
  ASSERT_RECORDS(grouped, "\"a,\n\",1\n\"a,\n\",2\n\"a,\",3\n", "[\"a,\\x0A\",1\\x0A\"a,\\x0A\",2]4[\"a,\",3]1");
  ASSERT_RECORDS(grouped, "a,1\n\na,2\n", "[a,1]1[a,2]1");
  ASSERT_RECORDS(grouped, "a,345678901234567890\na,345678901234567890\n",
                 "[a,345678901234567890]1[a,345678901234567890]1");
}

TEST("/broken-quotes")
{
  ASSERT_RECORDS(csv, "1,\"open\n2,3\n", "[1,\"open]1[2,3]1");
  ASSERT_RECORDS(csv, "1,\"open\n2,\"b\"\n3,4\n", "[1,\"open]1[2,\"b\"]1[3,4]1");
  ASSERT_RECORDS(csv, "1,5\" pipe\n2,3\n", "[1,5\" pipe]1[2,3]1");
  ASSERT_RECORDS(csv, "\"a\"b\n\"c\nd\"\n", "[\"a\"b]1[\"c\\x0Ad\"]2");
  ASSERT_RECORDS(csv, "1,\"open 45678901234567890123456789\n2,3\n4,5\n6,7\n8,9\n",
                 "[1,\"open 45678901234567890123456789]1[2,3]1[4,5]1[6,7]1[8,9]1");
  TideFileFraming plain = csv;
  plain.quotes = FALSE;
  ASSERT_RECORDS(plain, "\"a\nb\",1\n", "[\"a]1[b\",1]1");
}

TEST("/msgpack")
{
  ASSERT_RECORDS(msgpack,
                 "\x81\xA1"
                 "a\x01\x01\x92\x80\x80",
                 "[\\x81\\xA1a\\x01]1[\\x01]1[\\x92\\x80\\x80]1");
  ASSERT_RECORDS(msgpack, "\x80\x81\xA1", "[\\x80]1 cut off");
  ASSERT_RECORDS(msgpack, "\x80\xC1", "[\\x80]1 it has a byte that cannot begin a value, at byte 0");
  /* A length that is not there is awaited no longer than a record may be. */
  ASSERT_RECORDS(msgpack,
                 "\xDF\xFF\xFF\xFF\xFF"
                 "12345678901234567890",
                 " a value has more than the 20 bytes allowed by 'max_message_bytes'");
}

TEST("/protobuf")
{
  ASSERT_RECORDS(protobuf,
                 "\x02"
                 "ab\x00\x01"
                 "c",
                 "[ab]1[]1[c]1");
  ASSERT_RECORDS(protobuf,
                 "\x02"
                 "a",
                 " cut off");
  ASSERT_RECORDS(protobuf, "\x80", " cut off");
  g_autofree char *long_one = records_of(protobuf, TIDE_BYTES_LITERAL("\xAD\x02"));
  g_assert_true(g_str_has_prefix(long_one, " the length before a message exceeds the 300 bytes"));
  g_autofree char *endless = records_of(protobuf, TIDE_BYTES_LITERAL("\xFF\xFF\xFF\xFF\xFF\xFF"));
  g_assert_true(g_str_has_prefix(endless, " the length before a message exceeds"));
}

/* ---- the rate of a load belongs to its records: who looks in vain uses up none of it ---- */

#define NOW_US ((gint64)1000 * TIDE_US_PER_S)
#define PERIOD_US (TIDE_US_PER_S / 10)

TEST("/rate")
{
  TideFileLoadOptions options = {.rate_per_s = 10};
  g_autoptr(TideFileLoad) load = tide_file_load_new(&options);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
  tide_file_load_count_for_rate(load, NOW_US); /* catches up with a tenth of a second */
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
  tide_file_load_count_for_rate(load, NOW_US);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, PERIOD_US + 1);
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US + PERIOD_US), ==, 0);
}

TEST("/no-rate")
{
  TideFileLoadOptions options = {.rate_per_s = 0};
  g_autoptr(TideFileLoad) load = tide_file_load_new(&options);
  for (guint i = 0; i < 100; i++)
    tide_file_load_count_for_rate(load, NOW_US);
  g_assert_cmpint(tide_file_load_wait_for_rate_us(load, NOW_US), ==, 0);
}

/* Whether a record is a line, by the format. */
TEST("/formats-of-lines")
{
  static const gboolean is_of_lines[] = {
      [TIDE_FORMAT_JSON] = TRUE,     [TIDE_FORMAT_INFLUX] = TRUE, [TIDE_FORMAT_CSV] = TRUE,
      [TIDE_FORMAT_MSGPACK] = FALSE, [TIDE_FORMAT_AVRO] = FALSE,  [TIDE_FORMAT_PROTOBUF] = FALSE};
  for (guint format = 0; format < G_N_ELEMENTS(is_of_lines); format++) {
    TideFileFraming framing = {.format = (TideReadingFormat)format};
    g_assert_cmpint(tide_file_framing_is_of_lines(&framing), ==, is_of_lines[format]);
  }
}
