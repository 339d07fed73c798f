/* The log: the forms of a line, hostile texts, readers that stall, limits on floods. */
#include "unit/stderr_capture.h"
#include "unit/test_case.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* 2026-11-21T04:45:00.123Z, from GNU date. */
#define SOME_WALL_CLOCK_US G_GINT64_CONSTANT(1795236300123456)

static TideLogRecord
some_record(const char *text, const TideLogField *fields, gsize n_fields)
{
  return (TideLogRecord){.level = TIDE_LOG_WARNING,
                         .id = "write-failed",
                         .wall_clock_us = SOME_WALL_CLOCK_US,
                         .thread = "tide-writer-2",
                         .text = text,
                         .fields = fields,
                         .n_fields = n_fields};
}

TEST("/log/escape/cannot-steer-a-terminal")
{
  static const struct {
    const char *text, *escaped;
  } cases[] = {
      {"plain text", "plain text"},
      {"", ""},
      {"a\nb\r\tc", "a\\x0Ab\\x0D\\x09c"},
      {"\x1b[31mred", "\\x1B[31mred"},
      {"del\x7f", "del\\x7F"},
      {"row \\x00key", "row \\x00key"}, /* already printable: not doubled */
      {"Z\xc3\xbcrich \xe6\xb0\xb4", "Z\xc3\xbcrich \xe6\xb0\xb4"},
      {"\xc2\x9b"
       "31m",
       "\\xC2\\x9B31m"}, /* C1: a one-character CSI */
      {"\xe2\x80\xae"
       "evil",
       "\\xE2\\x80\\xAE"
       "evil"},                                    /* right-to-left override */
      {"\xe2\x80\xa8line", "\\xE2\\x80\\xA8line"}, /* line separator */
      {"bad \xff\xc3", "bad \\xFF\\xC3"},
      {"\xed\xa0\x80", "\\xED\\xA0\\x80"}, /* a surrogate */
      {"\xc0\x8a", "\\xC0\\x8A"},          /* an overlong newline */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) escaped = g_string_new(NULL);
    tide_log_escape(escaped, cases[i].text, 1000);
    g_assert_cmpstr(escaped->str, ==, cases[i].escaped);
  }
}

TEST("/log/escape/is-cut-between-characters")
{
  static const struct {
    const char *text;
    gsize max_bytes;
    const char *escaped;
  } cases[] = {
      {"abcdef", 6, "abcdef"},
      {"abcdefg", 6, "abc..."},
      {"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 6, "\xc3\xbc..."},
      {"\n\n\n", 8, "\\x0A..."},
      {"abcdefg", 3, "..."},
      {"abcdefg", 2, ".."},
      {"", 0, ""},
      {"a", 0, ""},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) line = g_string_new("> ");
    tide_log_escape(line, cases[i].text, cases[i].max_bytes);
    g_assert_cmpstr(line->str + 2, ==, cases[i].escaped);
  }
}

TEST("/log/text/layout")
{
  static const TideLogField fields[] = {
      {"TOPIC", "metrics"}, {"GATEWAY", NULL}, {"PARTITION", "3"}, {"REASON", "no field \"host\""},
      {"KEY", ""},          {"ROW", "a=b"},    {"HOST", "a\nb"},
  };
  static const struct {
    gsize n_fields;
    gboolean colour;
    const char *line;
  } cases[] = {
      {0, FALSE, "2026-11-21T04:45:00.123Z warning tide-writer-2: what happened [write-failed]\n"},
      {1, FALSE, "2026-11-21T04:45:00.123Z warning tide-writer-2: what happened [write-failed]  TOPIC=metrics\n"},
      {3, FALSE,
       "2026-11-21T04:45:00.123Z warning tide-writer-2: what happened [write-failed]  TOPIC=metrics PARTITION=3\n"},
      {7, FALSE,
       "2026-11-21T04:45:00.123Z warning tide-writer-2: what happened [write-failed]  TOPIC=metrics PARTITION=3 "
       "REASON=\"no field \\\"host\\\"\" KEY=\"\" ROW=\"a=b\" HOST=a\\x0Ab\n"},
      {0, TRUE, "2026-11-21T04:45:00.123Z \033[33mwarning\033[0m tide-writer-2: what happened [write-failed]\n"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideLogRecord record = some_record("what happened", fields, cases[i].n_fields);
    g_autoptr(GString) line = g_string_new(NULL);
    tide_log_line_text(line, &record, cases[i].colour);
    g_assert_cmpstr(line->str, ==, cases[i].line);
  }
}

TEST("/log/json/layout")
{
  static const TideLogField fields[] = {{"TOPIC", "me\"trics"}, {"GATEWAY", NULL}, {"ROW", "a\\x00"}};
  TideLogRecord record =
      some_record("bad \xff, esc \x1b, nl \n, c1 \xc2\x9b, tag \xf3\xa0\x80\x81, \xc3\xbc", fields, 3);
  g_autoptr(GString) line = g_string_new(NULL);
  tide_log_line_json(line, &record);
  g_assert_cmpstr(line->str, ==,
                  "{\"time\":\"2026-11-21T04:45:00.123Z\",\"level\":\"warning\",\"id\":\"write-failed\",\"thread\":"
                  "\"tide-writer-2\","
                  "\"message\":\"bad \xEF\xBF\xBD, esc \\u001b, nl \\u000a, c1 \\u009b, tag \\udb40\\udc01, \xc3\xbc\","
                  "\"TOPIC\":\"me\\\"trics\",\"ROW\":\"a\\\\x00\"}\n");
}

/* What a line may become when every text in it is long and grows most when it is escaped. */
TEST("/log/line/is-no-longer-than-a-pipe-takes")
{
  static const char *const fillers[] = {"\x01", "\"", "\\", "\xff", "x", "\xf3\xa0\x80\x81", "\xe6\xb0\xb4"};
  for (gsize i = 0; i < G_N_ELEMENTS(fillers); i++) {
    g_autoptr(GString) long_text = g_string_new(NULL);
    while (long_text->len < 10000)
      g_string_append(long_text, fillers[i]);
    TideLogField fields[30];
    for (gsize f = 0; f < G_N_ELEMENTS(fields); f++)
      fields[f] = (TideLogField){"A_FIELD_WITH_A_LONG_NAME", long_text->str};

    TideLogRecord record = some_record(long_text->str, fields, G_N_ELEMENTS(fields));
    record.thread = long_text->str;
    g_autoptr(GString) text = g_string_new(NULL);
    tide_log_line_text(text, &record, TRUE);
    g_assert_cmpuint(text->len, <=, TIDE_LOG_LINE_MAX_BYTES);
    g_assert_true(g_str_has_suffix(text->str, "\n"));
    g_assert_true(strchr(text->str, '\n') == text->str + text->len - 1);
    g_assert_nonnull(strstr(text->str, "..."));

    g_autoptr(GString) json = g_string_new(NULL);
    tide_log_line_json(json, &record);
    g_assert_cmpuint(json->len, <=, TIDE_LOG_LINE_MAX_BYTES);
    g_assert_true(g_str_has_suffix(json->str, "...\"}\n"));
    g_assert_true(g_utf8_validate(json->str, -1, NULL));
  }
}

/* Compares @expected with what is at @at, and moves it on. */
static void
assert_next(const TideBuffer *datagram, gsize *at, TideBytes expected)
{
  g_assert_cmpuint(datagram->len - *at, >=, expected.len);
  g_assert_true(tide_bytes_equal(tide_bytes(datagram->data + *at, expected.len), expected));
  *at += expected.len;
}

/* NAME, newline, length in 8 bytes, value, newline. */
static void
assert_journal_field(const TideBuffer *datagram, gsize *at, const char *name, TideBytes value)
{
  guint64 wire_len = GUINT64_TO_LE((guint64)value.len);
  assert_next(datagram, at, tide_bytes_of_string(name));
  assert_next(datagram, at, TIDE_BYTES_LITERAL("\n"));
  assert_next(datagram, at, tide_bytes(&wire_len, sizeof wire_len));
  assert_next(datagram, at, value);
  assert_next(datagram, at, TIDE_BYTES_LITERAL("\n"));
}

TEST("/log/journal/is-length-prefixed")
{
  static const TideLogField fields[] = {{"TOPIC", "a\nPRIORITY=0"}, {"GATEWAY", NULL}, {"ROW", "\xff"}};
  TideLogRecord record = some_record("one\nMESSAGE=two", fields, 3);
  g_auto(TideBuffer) datagram = {0};
  tide_log_line_journal(&datagram, &record);
  gsize at = 0;
  assert_journal_field(&datagram, &at, "MESSAGE", TIDE_BYTES_LITERAL("one\\x0AMESSAGE=two"));
  assert_journal_field(&datagram, &at, "PRIORITY", TIDE_BYTES_LITERAL("4"));
  assert_journal_field(&datagram, &at, "SYSLOG_IDENTIFIER", TIDE_BYTES_LITERAL("tidemark"));
  assert_journal_field(&datagram, &at, "MESSAGE_ID", TIDE_BYTES_LITERAL("5d0c1f6e9b2a4c376af6cc84a203a65e"));
  assert_journal_field(&datagram, &at, "TIDEMARK_ID", TIDE_BYTES_LITERAL("write-failed"));
  assert_journal_field(&datagram, &at, "THREAD", TIDE_BYTES_LITERAL("tide-writer-2"));
  assert_journal_field(&datagram, &at, "TOPIC", TIDE_BYTES_LITERAL("a\nPRIORITY=0"));
  assert_journal_field(&datagram, &at, "ROW", TIDE_BYTES_LITERAL("\xff"));
  g_assert_cmpuint(at, ==, datagram.len);
}

static int
listen_as_journal(const char *path)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(fd, >=, 0);
  g_assert_cmpint(bind(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  return fd;
}

TEST("/log/journal/stalled-or-gone-delays-nobody")
{
  g_autofree char *directory = g_dir_make_tmp("tide-log-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "socket", NULL);
  g_assert_false(tide_log_send_to_journal(path, TIDE_BYTES_LITERAL("nobody listens")));

  int journal = listen_as_journal(path);
  guint n_taken = 0;
  while (tide_log_send_to_journal(path, TIDE_BYTES_LITERAL("event")) && n_taken < 1000000)
    n_taken++;
  g_assert_cmpuint(n_taken, >, 0);
  g_assert_cmpuint(n_taken, <, 1000000); /* it filled up, and we came back */

  char received[16];
  g_assert_cmpint(recv(journal, received, sizeof received, 0), ==, 5);
  g_assert_true(tide_bytes_equal(tide_bytes(received, 5), TIDE_BYTES_LITERAL("event")));
  g_assert_true(tide_log_send_to_journal(path, TIDE_BYTES_LITERAL("again")));

  /* A journal that restarts is found again. */
  close(journal);
  g_unlink(path);
  g_assert_false(tide_log_send_to_journal(path, TIDE_BYTES_LITERAL("lost")));
  journal = listen_as_journal(path);
  g_assert_true(tide_log_send_to_journal(path, TIDE_BYTES_LITERAL("found")));
  close(journal);
  g_unlink(path);
  g_rmdir(directory);
}

TEST("/log/journal/longest-datagram-is-taken")
{
  g_autofree char *directory = g_dir_make_tmp("tide-log-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "socket", NULL);
  int journal = listen_as_journal(path);
  g_autofree char *long_text = g_strnfill(1000000, 'x');
  TideLogField fields[100];
  for (gsize f = 0; f < G_N_ELEMENTS(fields); f++)
    fields[f] = (TideLogField){"FIELD", long_text};
  TideLogRecord record = some_record(long_text, fields, G_N_ELEMENTS(fields));
  g_auto(TideBuffer) datagram = {0};
  tide_log_line_journal(&datagram, &record);
  g_assert_true(tide_log_send_to_journal(path, tide_buffer_bytes(&datagram)));
  close(journal);
  g_unlink(path);
  g_rmdir(directory);
}

static void
log_from_a_thread(gpointer data G_GNUC_UNUSED)
{
  TideLogField field = {"GATEWAY", "hb3:9090"};
  tide_log_fields(TIDE_LOG_ERROR, "write-failed", &field, 1, "cannot write %d rows", 512);
}

TEST("/log/text/names-its-thread")
{
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_INFO);
  tide_thread_join(tide_thread_start("tide-writer-2", log_from_a_thread, NULL));
  g_autofree char *text = captured(&capture);
  capture_end(&capture);
  g_assert_true(
      g_str_has_suffix(text, "Z error tide-writer-2: cannot write 512 rows [write-failed]  GATEWAY=hb3:9090\n"));
}

TEST("/log/level/filters-and-errno-is-kept")
{
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_JSON, TIDE_LOG_NOTICE);
  errno = EXDEV;
  tide_log(TIDE_LOG_INFO, "held-back", "held back");
  tide_log(TIDE_LOG_NOTICE, "said", "said");
  g_assert_cmpint(errno, ==, EXDEV);
  tide_log_set_level(TIDE_LOG_DEBUG);
  g_assert_true(tide_log_enabled(TIDE_LOG_DEBUG));
  tide_log(TIDE_LOG_DEBUG, "said", "said too");
  tide_log_set_level(TIDE_LOG_INFO);
  g_assert_false(tide_log_enabled(TIDE_LOG_DEBUG));
  g_autofree char *text = captured(&capture);
  capture_end(&capture);
  g_assert_null(strstr(text, "held back"));
  g_assert_nonnull(strstr(text, "\"message\":\"said\"}\n{"));
  g_assert_nonnull(strstr(text, "\"message\":\"said too\"}\n"));
}

TEST("/log/glib/messages-come-out-as-lines")
{
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_INFO);
  g_log_structured_standard("Thrift", G_LOG_LEVEL_MESSAGE, "x.c", "1", "f", "a library's %s", "message");
  g_autofree char *text = captured(&capture);
  capture_end(&capture);
  g_assert_true(g_str_has_suffix(text, ": a library's message [library]  GLIB_DOMAIN=Thrift\n"));
  g_assert_nonnull(strstr(text, " notice "));
}

static guint
count_of(const char *text, const char *part)
{
  guint n = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
    n++;
  return n;
}

TEST("/log/journal/without-one-lines-go-to-stderr")
{
  if (g_file_test("/run/systemd/journal/socket", G_FILE_TEST_EXISTS)) {
    g_test_skip("this host has a journal");
    return;
  }
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_JOURNAL, TIDE_LOG_INFO);
  tide_log(TIDE_LOG_NOTICE, "nothing-lost", "nothing is lost");
  g_autofree char *text = captured(&capture);
  capture_end(&capture);
  g_assert_true(g_str_has_suffix(text, ": nothing is lost [nothing-lost]\n"));
}

/* The claim is that tide_log comes back at all: the pipe's reader does not read before all lines were logged.
 */
TEST("/log/stderr/stalled-reader-costs-no-time")
{
  enum { N_LINES = 5000 }; /* 5,000 x 40 bytes and more: above a pipe's 64 KiB */
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_INFO);
  for (guint i = 0; i < N_LINES; i++)
    tide_log(TIDE_LOG_INFO, "line", "line number %u", i);
  g_autofree char *first = captured(&capture);
  tide_log(TIDE_LOG_INFO, "line", "the reader is back");
  g_autofree char *second = captured(&capture);
  capture_end(&capture);

  guint n_taken = count_of(first, "line number");
  g_assert_cmpuint(n_taken, <, N_LINES);
  g_assert_true(g_str_has_suffix(first, "\n"));
  g_autofree char *notice = g_strdup_printf(" warning log: %u log lines were dropped", N_LINES - n_taken);
  g_assert_nonnull(strstr(second, notice));
  g_assert_true(g_str_has_suffix(second, ": the reader is back [line]\n"));
}

TEST("/log/stderr/reader-gone-does-not-kill")
{
  Capture capture = capture_stderr();
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_INFO);
  close(capture.reader);
  capture.reader = -1;
  tide_log(TIDE_LOG_INFO, "into-the-void",
           "into the void"); /* SIGPIPE has its default action here: it would end the test */
  capture_end(&capture);

  capture = capture_stderr();
  tide_log(TIDE_LOG_INFO, "heard", "heard");
  g_autofree char *text = captured(&capture);
  capture_end(&capture);
  g_assert_nonnull(strstr(text, "1 log lines were dropped"));
}

TEST("/log/auto/journal-only-where-stderr-is-it")
{
  struct stat status;
  g_assert_cmpint(fstat(STDERR_FILENO, &status), ==, 0);
  g_autofree char *same =
      g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)status.st_dev, (guint64)status.st_ino);
  g_autofree char *other =
      g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)status.st_dev, (guint64)status.st_ino + 1);
  const struct {
    const char *stream;
    TideLogFormat format;
  } cases[] = {{same, TIDE_LOG_FORMAT_JOURNAL},
               {other, TIDE_LOG_FORMAT_TEXT},
               {"", TIDE_LOG_FORMAT_TEXT},
               {NULL, TIDE_LOG_FORMAT_TEXT}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].stream != NULL)
      g_setenv("JOURNAL_STREAM", cases[i].stream, TRUE);
    else
      g_unsetenv("JOURNAL_STREAM");
    tide_log_init(TIDE_LOG_FORMAT_AUTO, TIDE_LOG_INFO);
    g_assert_cmpint(tide_log_format(), ==, cases[i].format);
  }
}

TEST("/log/line-ends-with-how-many-were-not-logged")
{
  g_assert_cmpstr(tide_log_suppressed(0, "rows").text, ==, "");
  g_assert_cmpstr(tide_log_suppressed(3, "rows").text, ==, " (3 such rows not logged)");
}

TEST("/log/limit/one-an-interval")
{
  TideLogLimit limit = {0};
  guint64 suppressed = 99;
  g_assert_true(tide_log_limit_pass(&limit, 1000, 10 * TIDE_US_PER_S, &suppressed));
  g_assert_cmpuint(suppressed, ==, 0);
  for (guint i = 0; i < 41; i++)
    g_assert_false(tide_log_limit_pass(&limit, 1000 + i, 10 * TIDE_US_PER_S, &suppressed));
  g_assert_false(tide_log_limit_pass(&limit, 999 + 10 * TIDE_US_PER_S, 10 * TIDE_US_PER_S, &suppressed));
  g_assert_true(tide_log_limit_pass(&limit, 1000 + 10 * TIDE_US_PER_S, 10 * TIDE_US_PER_S, &suppressed));
  g_assert_cmpuint(suppressed, ==, 42);
  g_assert_true(tide_log_limit_pass(&limit, 1000 + 90 * TIDE_US_PER_S, 10 * TIDE_US_PER_S, &suppressed));
  g_assert_cmpuint(suppressed, ==, 0);
}

typedef struct Flood {
  TideLogLimit *limit;
  guint64 n_passed, n_suppressed; /* of this thread */
} Flood;

#define N_FLOOD_EVENTS 20000

static void
flood(gpointer data)
{
  Flood *mine = data;
  for (gint64 now_us = 0; now_us < N_FLOOD_EVENTS; now_us++) {
    guint64 suppressed;
    if (tide_log_limit_pass(mine->limit, now_us, 100, &suppressed)) {
      mine->n_passed++;
      mine->n_suppressed += suppressed;
    }
  }
}

TEST("/log/limit/loses-no-count-between-threads")
{
  TideLogLimit limit = {0};
  Flood floods[4] = {0};
  TideThread *threads[G_N_ELEMENTS(floods)];
  for (gsize i = 0; i < G_N_ELEMENTS(floods); i++) {
    floods[i].limit = &limit;
    threads[i] = tide_thread_start("flood", flood, &floods[i]);
  }
  guint64 n_passed = 0, n_suppressed = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(floods); i++) {
    tide_thread_join(threads[i]);
    n_passed += floods[i].n_passed;
    n_suppressed += floods[i].n_suppressed;
  }
  guint64 last;
  g_assert_true(tide_log_limit_pass(&limit, G_MAXINT64 / 2, 100, &last));
  g_assert_cmpuint(n_passed, >=, 1);
  g_assert_cmpuint(n_passed, <=, N_FLOOD_EVENTS / 100);
  g_assert_cmpuint(n_passed + n_suppressed + last, ==, G_N_ELEMENTS(floods) * N_FLOOD_EVENTS);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  signal(SIGPIPE, SIG_DFL);
  return g_test_run();
}
