/* The marks of a rollup, written and read back. */
#include "commands/rollup/rollup.h"

#include "unit/assert_bytes.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <unistd.h>

static TideRollupMarks *
new_marks(void)
{
  TideRollupMarks *marks = tide_rollup_marks_new("ns:SENSOR", "ns:SENSOR_20170726", 1000, 2000);
  marks->cluster = g_strdup("the one");
  tide_rollup_marks_add(marks, TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("5\0\xff"));
  tide_rollup_marks_add(marks, TIDE_BYTES_LITERAL("5\0\xff"), TIDE_BYTES_EMPTY);
  TideRollupRange *second = &g_array_index(marks->ranges, TideRollupRange, 1);
  tide_buffer_append_bytes(&second->mark, TIDE_BYTES_LITERAL("7#\n[x]"));
  second->counts.rows = 12;
  second->counts.cells = G_GUINT64_CONSTANT(5000000000);
  g_array_index(marks->ranges, TideRollupRange, 0).done = TRUE;
  return marks;
}

static void
assert_same(const TideRollupMarks *read)
{
  g_assert_cmpstr(read->source, ==, "ns:SENSOR");
  g_assert_cmpstr(read->target, ==, "ns:SENSOR_20170726");
  g_assert_cmpstr(read->cluster, ==, "the one");
  g_assert_cmpint(read->from_ms, ==, 1000);
  g_assert_cmpint(read->to_ms, ==, 2000);
  g_assert_false(read->done);
  g_assert_cmpuint(read->ranges->len, ==, 2);
  const TideRollupRange *first = &g_array_index(read->ranges, TideRollupRange, 0);
  const TideRollupRange *second = &g_array_index(read->ranges, TideRollupRange, 1);
  assert_bytes_equal(tide_buffer_bytes(&first->keys.start), TIDE_BYTES_EMPTY);
  assert_bytes_equal(tide_buffer_bytes(&first->keys.stop), TIDE_BYTES_LITERAL("5\0\xff"));
  g_assert_true(first->done);
  assert_bytes_equal(tide_buffer_bytes(&second->mark), TIDE_BYTES_LITERAL("7#\n[x]"));
  g_assert_cmpuint(second->counts.rows, ==, 12);
  g_assert_cmpuint(second->counts.cells, ==, G_GUINT64_CONSTANT(5000000000));
  g_assert_false(second->done);
}

TEST("/rollup-marks/read-back")
{
  g_autoptr(TideRollupMarks) marks = new_marks();
  g_autofree char *text = tide_rollup_marks_text(marks);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideRollupMarks) read = tide_rollup_marks_read(text, &error);
  g_assert_no_error(error);
  assert_same(read);
}

TEST("/rollup-marks/file")
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-marks-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "rollup-T", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_rollup_marks_load(path, &error));
  g_assert_no_error(error);

  g_autoptr(TideRollupMarks) marks = new_marks();
  g_assert_true(tide_rollup_marks_save(marks, NULL, &error));
  g_assert_null(tide_rollup_marks_load(path, &error));
  g_autofree char *longer = g_strnfill(9999, '#');
  g_assert_true(g_file_set_contents(path, longer, -1, NULL));
  g_assert_true(tide_rollup_marks_save(marks, path, &error));
  g_autoptr(TideRollupMarks) read = tide_rollup_marks_load(path, &error);
  g_assert_no_error(error);
  assert_same(read);
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

TEST("/rollup-marks/damaged")
{
  g_autoptr(TideRollupMarks) marks = new_marks();
  g_autofree char *whole = tide_rollup_marks_text(marks);
  const char *const damaged[] = {"", "not a key file", "[rollup]\nversion=2\n", "[rollup]\nversion=1\nsource=S\n",
                                 ("[rollup]\nversion=1\nsource=S\ntarget=T\nfrom_ms=1\nto_ms=2\ndone=false\n"
                                  "ranges=9000000000000000000\n")};
  for (gsize i = 0; i < G_N_ELEMENTS(damaged); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tide_rollup_marks_read(damaged[i], &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
  }
  /* Cut anywhere, it is refused or a line short of nothing. */
  for (gsize len = 0; len + 1 < strlen(whole); len += 7) {
    g_autofree char *cut = g_strndup(whole, len);
    g_autoptr(GError) error = NULL;
    g_autoptr(TideRollupMarks) read = tide_rollup_marks_read(cut, &error);
    g_assert_true(read != NULL || error != NULL);
  }
  g_autofree char *directory = g_dir_make_tmp("tidemark-marks-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(directory, "rollup-T", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_set_contents(path, "nonsense", -1, NULL));
  g_assert_null(tide_rollup_marks_load(path, &error));
  g_assert_nonnull(strstr(error->message, path));
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}
