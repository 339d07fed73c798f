/* What a daemon remembers of its group: in memory, and in the state directory over restarts. */
#include "consumer/group_memory.h"

#include <glib/gstdio.h>

static void
test_own_commits_are_of_a_partition(void)
{
  TideGroupMemory *memory = tide_group_memory_new("g");
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).offset, ==, -1);
  tide_group_memory_release(memory, "t", 0, (TideOwnCommit){7, 8, 100});
  tide_group_memory_release(memory, "t", 1, (TideOwnCommit){-1, 8, 100}); /* nothing is known to be committed */
  tide_group_memory_release(memory, "t", 0, (TideOwnCommit){9, 12, 200});
  tide_group_memory_release(memory, "t", 0, (TideOwnCommit){-1, 8, 300}); /* what was known still is */
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).offset, ==, 9);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).reached_offset, ==, 12);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 0).released_us, ==, 200);
  g_assert_cmpint(tide_group_memory_find(memory, "t", 1).offset, ==, -1);
  g_assert_cmpint(tide_group_memory_find(memory, "t/0", 0).offset, ==, -1);
  tide_group_memory_free(memory);
}

static void
assert_started(const char *group, const char *cluster_id, gboolean wanted)
{
  TideGroupMemory *memory = tide_group_memory_new(group);
  g_assert_cmpint(tide_group_memory_was_started(memory, cluster_id), ==, wanted);
  tide_group_memory_free(memory);
}

/* K4: of a cluster, not of its address. */
static void
test_started_groups_are_remembered(void)
{
  g_autofree char *directory = g_dir_make_tmp("tidemark-memory-XXXXXX", NULL);
  g_setenv("STATE_DIRECTORY", directory, TRUE);
  const char *odd = "a group\nof two lines";
  for (guint i = 0; i < 2; i++) {
    TideGroupMemory *memory = tide_group_memory_new(i == 0 ? "g" : odd);
    tide_group_memory_note_started(memory, "one");
    tide_group_memory_note_started(memory, "one");
    tide_group_memory_note_started(memory, NULL);
    g_assert_false(tide_group_memory_was_started(memory, "one")); /* by this process */
    tide_group_memory_free(memory);
  }
  assert_started("g", "one", TRUE);
  assert_started(odd, "one", TRUE);
  assert_started("g", "two", FALSE);
  assert_started("a group", "one", FALSE);
  assert_started("of two lines", "one", FALSE);
  assert_started("g", NULL, FALSE);
  g_autofree char *file = g_build_filename(directory, "started-groups", NULL);
  g_assert_cmpint(g_remove(file), ==, 0);
  assert_started("g", "one", FALSE);
  g_unsetenv("STATE_DIRECTORY");
  assert_started("g", "one", FALSE);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/group-memory/own-commits-are-of-a-partition", test_own_commits_are_of_a_partition);
  g_test_add_func("/group-memory/K4-started-groups-are-remembered", test_started_groups_are_remembered);
  return g_test_run();
}
