/* The marks of a rollup, written and read back. */
#include "commands/rollup/rollup.h"

#include "unit/assert_bytes.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct Fixture {
  char *directory; /* owned */
  char *path;      /* owned: of the marks */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->directory = g_dir_make_tmp("tidemark-marks-XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->directory, "rollup-T", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  g_unlink(fixture->path);
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
  g_free(fixture->path);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

/* Of three regions: the first is copied, the second in part, and the last was not begun. */
static TideRollupMarks *
new_marks(void)
{
  TideRollupMarks *marks = tide_rollup_marks_new("ns:SENSOR", "ns:SENSOR_20170726", 1000, 2000);
  marks->cluster = g_strdup("the one");
  tide_rollup_marks_add(marks, TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("5\0\xff"));
  tide_rollup_marks_add(marks, TIDE_BYTES_LITERAL("5\0\xff"), TIDE_BYTES_LITERAL("8"));
  tide_rollup_marks_add(marks, TIDE_BYTES_LITERAL("8"), TIDE_BYTES_EMPTY);
  TideRollupRange *ranges = (TideRollupRange *)(gpointer)marks->ranges->data;
  ranges[0].done = TRUE;
  ranges[0].counts.rows = 10;
  tide_buffer_append_bytes(&ranges[1].mark, TIDE_BYTES_LITERAL("7#\n[x]"));
  ranges[1].counts = (TideRollupCounts){.rows = 2, .cells = G_GUINT64_CONSTANT(5000000000)};
  return marks;
}

FIXTURE_TEST("/rollup-marks/read-back")
{
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_rollup_marks_load(fixture->path, &error));
  g_assert_no_error(error);
  g_autoptr(TideRollupMarks) marks = new_marks();
  g_assert_true(tide_rollup_marks_save(marks, NULL, &error));
  g_assert_null(tide_rollup_marks_load(fixture->path, &error));
  g_autofree char *longer = g_strnfill(9999, '#');
  g_assert_true(g_file_set_contents(fixture->path, longer, -1, NULL));
  g_assert_true(tide_rollup_marks_save(marks, fixture->path, &error));
  g_autoptr(TideRollupMarks) read = tide_rollup_marks_load(fixture->path, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(read->source, ==, "ns:SENSOR");
  g_assert_cmpstr(read->target, ==, "ns:SENSOR_20170726");
  g_assert_cmpstr(read->cluster, ==, "the one");
  g_assert_cmpint(read->from_ms, ==, 1000);
  g_assert_cmpint(read->to_ms, ==, 2000);
  g_assert_false(read->done);
  TideRollupCounts counts = tide_rollup_marks_count(read);
  g_assert_cmpuint(counts.rows, ==, 12);
  g_assert_cmpuint(counts.cells, ==, G_GUINT64_CONSTANT(5000000000));
  g_assert_cmpuint(read->ranges->len, ==, 3);
  for (guint i = 0; i < 3; i++) {
    const TideRollupRange *written = &g_array_index(marks->ranges, TideRollupRange, i);
    const TideRollupRange *found = &g_array_index(read->ranges, TideRollupRange, i);
    assert_bytes_equal(tide_buffer_bytes(&found->keys.start), tide_buffer_bytes(&written->keys.start));
    assert_bytes_equal(tide_buffer_bytes(&found->keys.stop), tide_buffer_bytes(&written->keys.stop));
    assert_bytes_equal(tide_buffer_bytes(&found->mark), tide_buffer_bytes(&written->mark));
    g_assert_cmpint(found->done, ==, written->done);
  }
  marks->done = TRUE;
  g_assert_true(tide_rollup_marks_save(marks, fixture->path, &error));
  g_autoptr(TideRollupMarks) done = tide_rollup_marks_load(fixture->path, &error);
  g_assert_true(done->done);
}

FIXTURE_TEST("/rollup-marks/damaged")
{
  const char *const damaged[] = {"",
                                 "nonsense",
                                 "[rollup]\nversion=9\n",
                                 "[rollup]\nversion=1\nsource=S\n",
                                 ("[rollup]\nversion=1\nsource=S\ntarget=T\nfrom_ms=1\nto_ms=2\ndone=false\n"
                                  "ranges=9000000000000000000\n"),
                                 ("[rollup]\nversion=1\nsource=S\ntarget=T\nfrom_ms=1\nto_ms=2\ndone=false\nranges=1\n"
                                  "[range 0]\nstart=0g\nstop=\n")};
  for (gsize i = 0; i < G_N_ELEMENTS(damaged); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(fixture->path, damaged[i], -1, NULL));
    g_assert_null(tide_rollup_marks_load(fixture->path, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_DATA);
    g_assert_nonnull(strstr(error->message, fixture->path));
  }
  /* Cut anywhere, they are refused, or no range is missing. */
  g_autoptr(TideRollupMarks) marks = new_marks();
  g_autofree char *whole = NULL;
  g_assert_true(tide_rollup_marks_save(marks, fixture->path, NULL));
  g_assert_true(g_file_get_contents(fixture->path, &whole, NULL, NULL));
  for (gsize len = 1; len + 1 < strlen(whole); len += 7) {
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(fixture->path, whole, (gssize)len, NULL));
    g_autoptr(TideRollupMarks) read = tide_rollup_marks_load(fixture->path, &error);
    g_assert_true((read != NULL) != (error != NULL));
    g_assert_true(read == NULL || read->ranges->len == 3);
  }
}
