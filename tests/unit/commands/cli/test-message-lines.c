/* fopencookie() */
#define _GNU_SOURCE
#include "commands/cli/message_lines.h"

#include "unit/test_case.h"
#include "util/error.h"

#include <string.h>

/* A line of as many bytes that is never in memory, and another one behind it. */
typedef struct Long {
  gsize n_left;
  gboolean is_behind;
} Long;

static ssize_t
read_long(void *cookie, char *bytes, size_t size)
{
  static const char behind[] = "\nshort\n";
  Long *it = cookie;
  gsize n = MIN(it->n_left, size);
  it->n_left -= n;
  memset(bytes, 'x', n);
  if (n > 0 || it->is_behind)
    return (ssize_t)n;
  it->is_behind = TRUE;
  memcpy(bytes, behind, sizeof behind - 1);
  return sizeof behind - 1;
}

static FILE *
open_long(Long *it)
{
  return fopencookie(it, "r", (cookie_io_functions_t){.read = read_long});
}

static gboolean
count(TideBytes line, gpointer data, GError **error)
{
  (*(guint *)data)++;
  return TRUE;
}

/* Before it is in memory. */
TEST("/message-lines/E11-a-line-without-end-is-refused")
{
  Long line = {.n_left = TIDE_LINE_MAX_BYTES + 1}, message = line;
  guint n_lines = 0;
  FILE *lines = open_long(&line), *whole = open_long(&message);
  g_autoptr(GError) of_lines = NULL, of_whole = NULL;
  g_assert_false(tide_message_lines_read(lines, "'a'", count, &n_lines, &of_lines));
  g_assert_error(of_lines, TIDE_ERROR, TIDE_ERROR_TOO_BIG);
  g_assert_cmpstr(of_lines->message, ==, "'a' has a line of more than 256 MiB, longer than any message");
  g_assert_false(tide_message_read_whole(whole, "'a'", count, &n_lines, &of_whole));
  g_assert_error(of_whole, TIDE_ERROR, TIDE_ERROR_TOO_BIG);
  g_assert_cmpuint(n_lines, ==, 0);
  fclose(lines);
  fclose(whole);
}

static gboolean
join(TideBytes line, gpointer data, GError **error)
{
  g_string_append_printf(data, "[%.*s]", (int)line.len, (const char *)line.data);
  return strncmp((const char *)line.data, "end", line.len) != 0 || line.len == 0;
}

TEST("/message-lines/lines-are-those-of-the-stream")
{
  static const char *const cases[][2] = {
      {"a\nb\n", "[a][b]"}, {"a\n\nb", "[a][][b]"}, {"\n", "[]"}, {"a\r\n", "[a\r]"}, {"a\nend\nb", "[a][end]"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    FILE *stream = fmemopen((gpointer)cases[i][0], strlen(cases[i][0]), "r");
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(tide_message_lines_read(stream, "it", join, all, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(all->str, ==, cases[i][1]);
    fclose(stream);
  }
}

/* What names the values of a message that is a list of them, and of no other. */
TEST("/message-lines/a-list-of-values-has-a-remedy")
{
  static const struct {
    TideReadingFormat format;
    TideBytes message;
    gboolean expected;
  } cases[] = {
      {TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL(" [ 1,\"a\"]"), TRUE},
      {TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("[{\"a\":1}"), FALSE},
      {TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("[[1]]"), FALSE},
      {TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("["), FALSE},
      {TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("1"), FALSE},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\x93\xa1t\x01\x80"), TRUE},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\xdc\x00\x01\x01"), TRUE},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\xdd\x00\x00\x00\x01\xde"), FALSE},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\x92\x81"), FALSE},
      {TIDE_FORMAT_MSGPACK, TIDE_BYTES_LITERAL("\x01\x01"), FALSE},
      {TIDE_FORMAT_INFLUX, TIDE_BYTES_LITERAL("[1]"), FALSE},
  };
  static char *names[] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideDecodeOptions decode = {.format = cases[i].format};
    const char *remedy = tide_message_remedy(&decode, cases[i].message);
    g_assert_true((remedy != NULL) == cases[i].expected);
    decode.layout.positions = names;
    g_assert_null(tide_message_remedy(&decode, cases[i].message));
  }
}
