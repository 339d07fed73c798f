/* Aligned tables and CSV, in a pipe and on a terminal. */
#define _XOPEN_SOURCE 700
#include "commands/cli/listing.h"

#include "unit/test_case.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

typedef struct Printed {
  FILE *stream;
  char *text; /* valid after fflush or fclose */
  size_t len;
} Printed;

static void
open_printed(Printed *printed)
{
  *printed = (Printed){0};
  printed->stream = open_memstream(&printed->text, &printed->len);
  g_assert_nonnull(printed->stream);
}

static const TideListingColumn columns[] = {
    {.name = "ROW", .once = TRUE}, {.name = "COUNT", .right = TRUE}, {.name = "NOTE"}};

static const char *const nothing[][3] = {{NULL}};

/* Asserts that the rows from @row up to the first empty one are printed as @expected. */
static void
assert_printed(TideOutputFormat output, gboolean coloured, const TideListingColumn *of, const char *const (*row)[3],
               const char *expected)
{
  Printed printed;
  open_printed(&printed);
  g_autoptr(TideListing) listing = tide_listing_new(printed.stream, output, coloured, of, 3);
  for (; (*row)[0] != NULL; row++)
    g_assert_true(tide_listing_add(listing, *row));
  g_assert_true(tide_listing_finish(listing));
  fclose(printed.stream);
  g_assert_cmpstr(printed.text, ==, expected);
  free(printed.text);
}

TEST("/listing/a-table-is-aligned-and-each-line-whole")
{
  static const char *const rows[][3] = {{"server1", "5", "fine"},
                                        {"server1", "12345678", NULL},
                                        {"server2", NULL,
                                         "20 \xc2\xb0"
                                         "C"},
                                        {NULL}};
  assert_printed(TIDE_OUTPUT_TABLE, FALSE, columns, rows,
                 "ROW         COUNT  NOTE\n"
                 "server1         5  fine\n"
                 "server1  12345678\n"
                 "server2            20 \xc2\xb0"
                 "C\n");
}

/* Verdicts only, and only in their column; the columns stay where they are. */
TEST("/listing/verdicts-are-coloured")
{
  static const TideListingColumn judging[] = {{.name = "NAME"}, {.name = "STATE", .judges = TRUE}, {.name = "NOTE"}};
  static const char *const rows[][3] = {{"ok", "ok", "ok"}, {"gw", "PROBLEM", "x"}, {"gw2", "other", "x"}, {NULL}};
  assert_printed(TIDE_OUTPUT_TABLE, TRUE, judging, rows,
                 "\033[1mNAME  STATE    NOTE\033[0m\n"
                 "ok    \033[32mok\033[0m       ok\n"
                 "gw    \033[31mPROBLEM\033[0m  x\n"
                 "gw2   other    x\n");
}

/* A terminal that shows what is printed as it is. @ret_reader: what reads it */
static FILE *
open_terminal(int *ret_reader)
{
  int reader = posix_openpt(O_RDWR | O_NOCTTY);
  g_assert_cmpint(reader, >=, 0);
  g_assert_cmpint(grantpt(reader), ==, 0);
  g_assert_cmpint(unlockpt(reader), ==, 0);
  int writer = open(ptsname(reader), O_RDWR | O_NOCTTY);
  g_assert_cmpint(writer, >=, 0);
  struct termios modes;
  g_assert_cmpint(tcgetattr(writer, &modes), ==, 0);
  modes.c_oflag &= ~(tcflag_t)OPOST;
  g_assert_cmpint(tcsetattr(writer, TCSANOW, &modes), ==, 0);
  *ret_reader = reader;
  return fdopen(writer, "w");
}

static void
assert_reads(int reader, const char *expected)
{
  gsize len = strlen(expected), n = 0;
  g_autofree char *text = g_malloc0(len + 1);
  while (n < len) {
    gssize got = read(reader, text + n, len - n);
    g_assert_cmpint(got, >, 0);
    n += (gsize)got;
  }
  g_assert_cmpstr(text, ==, expected);
}

TEST("/listing/a-terminal-is-not-overrun-and-repeats-nothing")
{
  int reader;
  FILE *stream = open_terminal(&reader);
  g_autofree char *word = g_strnfill(90, 'w');
  g_autofree char *text = g_strdup_printf("%s and the rest", word);
  g_autoptr(TideListing) listing = tide_listing_new(stream, TIDE_OUTPUT_TABLE, FALSE, columns, G_N_ELEMENTS(columns));
  g_assert_true(tide_listing_add(listing, (const char *[]){"server1", "5", "fine"}));
  g_assert_true(tide_listing_add(listing, (const char *[]){"server1", "12345678", text}));
  g_assert_true(tide_listing_add(listing, (const char *[]){"server1", "6", "a b"}));
  g_assert_true(tide_listing_finish(listing));
  fflush(stream);
  /* 81 columns are left for the note: a word that is longer is cut. */
  g_autofree char *expected = g_strdup_printf("ROW         COUNT  NOTE\n"
                                              "server1         5  fine\n"
                                              "         12345678  %.81s\n"
                                              "                   wwwwwwwww and the rest\n"
                                              "                6  a b\n",
                                              word);
  assert_reads(reader, expected);
  fclose(stream);
  close(reader);
}

TEST("/listing/an-empty-table-prints-nothing")
{
  assert_printed(TIDE_OUTPUT_TABLE, FALSE, columns, nothing, "");
}

TEST("/listing/csv-repeats-every-value")
{
  static const char *const rows[][3] = {{"a,b", "1", NULL}, {"a,b", "2", "x"}, {NULL}};
  assert_printed(TIDE_OUTPUT_CSV, TRUE, columns, rows, "ROW,COUNT,NOTE\n\"a,b\",1,\n\"a,b\",2,x\n");
}

TEST("/listing/an-empty-csv-has-its-heading")
{
  assert_printed(TIDE_OUTPUT_CSV, FALSE, columns, nothing, "ROW,COUNT,NOTE\n");
}

/* Lines come out once the widths are measured, not only at the end. */
TEST("/listing/long-tables-stream")
{
  Printed printed;
  open_printed(&printed);
  g_autoptr(TideListing) listing =
      tide_listing_new(printed.stream, TIDE_OUTPUT_TABLE, FALSE, columns, G_N_ELEMENTS(columns));
  for (int i = 0; i < TIDE_LISTING_MEASURED_LINES; i++) {
    fflush(printed.stream);
    g_assert_cmpuint(printed.len, ==, 0);
    g_autofree char *row = g_strdup_printf("%03d", i);
    g_assert_true(tide_listing_add(listing, (const char *[]){row, "1", NULL}));
  }
  fflush(printed.stream);
  g_assert_cmpuint(printed.len, >, 0);
  gsize len = printed.len;
  g_assert_true(tide_listing_add(listing, (const char *[]){"longer than measured", "1", NULL}));
  fflush(printed.stream);
  g_assert_cmpstr(printed.text + len, ==, "longer than measured      1\n");
  fclose(printed.stream);
  free(printed.text);
}

TEST("/listing/a-failing-output-is-told")
{
  FILE *full = fopen("/dev/full", "w");
  if (full == NULL) {
    g_test_skip("no /dev/full here");
    return;
  }
  setvbuf(full, NULL, _IONBF, 0);
  g_autoptr(TideListing) listing = tide_listing_new(full, TIDE_OUTPUT_CSV, FALSE, columns, G_N_ELEMENTS(columns));
  g_assert_false(tide_listing_add(listing, (const char *[]){"a", "b", "c"}));
  fclose(full);
}
