/* The records of a file as they are handed out: each is a message that the decoder reads on its own. */
#include "files/file_reader.h"

#include "unit/test_case.h"

#include <glib/gstdio.h>

static gboolean
go_on(gpointer unused)
{
  return TRUE;
}

/* Records of the file at @path from @mark on, each in brackets. @ret_mark: of the first of them */
static char *
records_of(const char *path, const TideDecodeOptions *decode, const TideFileMark *mark, TideFileMark *ret_mark)
{
  g_autoptr(GError) error = NULL;
  GString *records = g_string_new(NULL);
  TideFileRecord record;
  TideFileReaderOptions options = {.path = path, .decode = decode, .mark = mark, .go_on = go_on};
  TideFileReader *reader = tide_file_reader_open(&options, &error);
  g_assert_no_error(error);
  while (!tide_file_reader_is_at_end(reader)) {
    tide_file_reader_fill(reader);
    while (tide_file_reader_next(reader, &record)) {
      g_autofree char *shown = tide_bytes_printable(record.text);
      if (records->len == 0 && ret_mark != NULL)
        *ret_mark = tide_file_reader_pass(reader, record.offset + 1);
      g_string_append_printf(records, "[%s]", shown);
    }
  }
  g_assert_cmpstr(tide_file_reader_problem(reader), ==, NULL);
  tide_file_reader_free(reader);
  return g_string_free(records, FALSE);
}

/* From its beginning, and from behind the first record, as a load does that goes on. */
static void
check(TideCsvOptions csv, const char *text, const char *all, const char *behind_first)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-reader-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "file.csv", NULL);
  TideDecodeOptions decode = {.format = TIDE_FORMAT_CSV, .csv = csv, .max_message_bytes = 40};
  TideFileMark start = TIDE_FILE_MARK_START, mark = start;
  decode.csv.quotes = TRUE;
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_autofree char *from_start = records_of(path, &decode, &start, &mark);
  g_assert_cmpstr(from_start, ==, all);
  g_autofree char *from_mark = records_of(path, &decode, &mark, NULL);
  g_assert_cmpstr(from_mark, ==, behind_first);
  g_assert_cmpint(g_remove(path), ==, 0);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

static char hash[] = "#", a[] = "a", *columns[] = {a, NULL};

TEST("/names-in-front-of-each-record")
{
  check((TideCsvOptions){.header = TRUE}, "\n\"a\nb\",c\n1,2\n3,4\n", "[\"a\\x0Ab\",c\\x0A1,2][\"a\\x0Ab\",c\\x0A3,4]",
        "[\"a\\x0Ab\",c\\x0A3,4]");
  check((TideCsvOptions){.columns = columns}, "1\n2\n", "[1][2]", "[2]");
}

/* Lines that the decoder skips in each message are in a file once, and a quote in one opens nothing. */
TEST("/skipped-lines-in-front-of-each-record")
{
  check((TideCsvOptions){.header = TRUE, .skip_lines = 2, .skip_after_header = 1},
        "5\" log\n\n\"x\na,b\n\",V\n1,2\n3,4\n",
        "[5\" log\\x0A\"x\\x0Aa,b\\x0A\",V\\x0A1,2][5\" log\\x0A\"x\\x0Aa,b\\x0A\",V\\x0A3,4]",
        "[5\" log\\x0A\"x\\x0Aa,b\\x0A\",V\\x0A3,4]");
  check((TideCsvOptions){.columns = columns, .skip_lines = 1, .comment = hash}, "#0\nlog\n\"1\n\"\n2",
        "[log\\x0A\"1\\x0A\"][log\\x0A2]", "[log\\x0A2]");
}

/* A head that takes more than one read is whole, also behind a mark. */
TEST("/head-in-two-reads")
{
  g_autofree char *empty_lines = g_strnfill(200000, '\n');
  g_autofree char *text = g_strconcat("log\n", empty_lines, "a\n1\n2\n", NULL);
  check((TideCsvOptions){.header = TRUE, .skip_lines = 1}, text, "[log\\x0Aa\\x0A1][log\\x0Aa\\x0A2]",
        "[log\\x0Aa\\x0A2]");
}

/* The memory of what is skipped has a bound, behind which every record is too large. */
TEST("/long-head")
{
  check((TideCsvOptions){.columns = columns, .skip_lines = 4},
        "123456789012345678901234567890\n123456789012345678901234567890\n345678901234567890\n4\n1\n",
        "[123456789012345678901234567890\\x0A123456789012345678901234567890\\x0A\\x0A\\x0A1]", "");
}
