/* Reading dead letters out of files that grow and are renamed meanwhile. */
#include "commands/dead_letters/dead_letter_source.h"

#include "dead_letters/dead_letter_json.h"

#include <glib/gstdio.h>
#include <stdio.h>

#define TOO_MANY 100

typedef struct Growing {
  char *path;    /* owned */
  char *rotated; /* owned */
  guint n;
  gboolean rotates; /* after the first dead letter, and goes on in a new file */
} Growing;

static void
append_dead_letter(const char *path)
{
  g_auto(TideBuffer) text = {0};
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("metrics"),
                                .value = TIDE_BYTES_LITERAL("{}"),
                                .has_value = TRUE,
                                .reason = TIDE_BYTES_LITERAL("parse"),
                                .text = TIDE_BYTES_LITERAL("why"),
                                .reading_index = -1,
                                .version = TIDE_BYTES_LITERAL("0.1")};
  tide_dead_letter_json_append(&text, &dead_letter, 1785069296789);
  FILE *file = fopen(path, "ae");
  g_assert_nonnull(file);
  g_assert_cmpuint(fwrite(text.data, 1, text.len, file), ==, text.len);
  g_assert_cmpint(fclose(file), ==, 0);
}

static gboolean
take_and_append(const TideDeadLetter *dead_letter, gint64 kept_at_ms, gpointer data, GError **error)
{
  Growing *growing = data;
  if (growing->n++ == 0 && growing->rotates)
    g_assert_cmpint(g_rename(growing->path, growing->rotated), ==, 0);
  append_dead_letter(growing->path);
  return growing->n < TOO_MANY;
}

/* @data: not NULL: the file is renamed meanwhile */
static void
test_f19_growing_file(gconstpointer data)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-letters-XXXXXX", NULL);
  Growing growing = {.path = g_build_filename(directory, "letters.jsonl", NULL), .rotates = data != NULL};
  growing.rotated = g_strconcat(growing.path, ".1", NULL);
  for (guint i = 0; i < 3; i++)
    append_dead_letter(growing.path);
  TideDeadLetterLocation location = {.file = growing.path};
  TideDeadLetterFilter filter = {0};
  TideDeadLetterCounts counts;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_dead_letter_source_read(NULL, &location, &filter, take_and_append, &growing, &counts, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(growing.n, ==, 3);
  g_assert_cmpuint(counts.n_read, ==, 3);
  g_assert_cmpuint(counts.n_unreadable, ==, 0);
  g_unlink(growing.rotated);
  g_unlink(growing.path);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
  g_free(growing.rotated);
  g_free(growing.path);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/dead-letter-source/F19/what-is-appended-meanwhile-is-not-read", NULL, test_f19_growing_file);
  g_test_add_data_func("/dead-letter-source/F19/whatever-it-is-renamed-to", "rotates", test_f19_growing_file);
  return g_test_run();
}
