/* The lasting name of a daemon in its group: who has the same, and who must not. */
#include "util/state_directory.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *metrics[] = {(char *)"metrics", NULL};

/* The name in @directory; NULL: no directory. */
static char *
name_in(const char *directory, char **topics)
{
  if (directory != NULL)
    g_setenv("STATE_DIRECTORY", directory, TRUE);
  else
    g_unsetenv("STATE_DIRECTORY");
  g_autoptr(GError) error = NULL;
  char *name = tide_state_directory_instance(topics, &error);
  g_assert_no_error(error);
  return name;
}

static char *
new_directory(void)
{
  char *directory = g_dir_make_tmp("tidemark-state-XXXXXX", NULL);
  g_assert_nonnull(directory);
  return directory;
}

static void
remove_directory(const char *directory)
{
  g_autofree char *path = g_build_filename(directory, "instance", NULL);
  g_unlink(path);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

static void
test_u8_name_lasts(void)
{
  g_autofree char *directory = new_directory();
  g_autofree char *first = name_in(directory, metrics), *again = name_in(directory, metrics);
  g_assert_cmpstr(first, ==, again);
  g_assert_cmpuint(strspn(first, G_CSET_a_2_z G_CSET_A_2_Z "0123456789._-"), ==, strlen(first));
  g_assert_cmpuint(strlen(first), <=, 128 + 13);
  remove_directory(directory);
}

static void
test_u8_two_directories_are_two_members(void)
{
  g_autofree char *one = new_directory(), *other = new_directory();
  g_autofree char *first = name_in(one, metrics), *second = name_in(other, metrics);
  g_assert_cmpstr(first, !=, second);
  remove_directory(one);
  remove_directory(other);
}

/* Brokers give a member that comes back what it had before: it would never get the partitions of the new topic. */
static void
test_u8_other_topics_are_another_member(void)
{
  char *both[] = {(char *)"metrics", (char *)"events", NULL};
  g_autofree char *directory = new_directory();
  g_autofree char *before = name_in(directory, metrics), *after = name_in(directory, both);
  g_assert_cmpstr(before, !=, after);
  remove_directory(directory);
}

static void
test_u8_no_directory_no_name(void)
{
  g_assert_null(name_in(NULL, metrics));
  g_setenv("STATE_DIRECTORY", "/nowhere/at/all", TRUE);
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_state_directory_instance(metrics, &error));
  g_assert_nonnull(error);
}

static void
assert_content(const char *path, const char *wanted)
{
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL) == (wanted != NULL));
  g_assert_cmpstr(text, ==, wanted);
}

/* With a limit of files' sizes for a disk that is full: what was there stays, what is asked for last is written later,
 * and once. */
static void
test_e7_full_disk_is_tried_again(void)
{
  g_autofree char *directory = new_directory();
  g_autofree char *old = g_build_filename(directory, "old", NULL), *new = g_build_filename(directory, "new", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_state_directory_keep(old, "before", NULL));
  struct rlimit before;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);
  g_assert_false(tide_state_directory_keep(old, "lost", &error));
  gboolean said = error != NULL;
  gboolean is_kept = tide_state_directory_keep(old, "after", NULL) || tide_state_directory_keep(new, "made", NULL);
  guint n_kept = tide_state_directory_retry();
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
  (void)signal(SIGXFSZ, handler);
  g_assert_true(said);
  g_assert_false(is_kept);
  g_assert_cmpuint(n_kept, ==, 0);
  assert_content(old, "before");
  assert_content(new, NULL);
  g_assert_cmpuint(tide_state_directory_retry(), ==, 2);
  assert_content(old, "after");
  assert_content(new, "made");
  g_assert_cmpuint(tide_state_directory_retry(), ==, 0);
  g_assert_cmpint(g_unlink(old) + g_unlink(new), ==, 0);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}

static guint
mode_of(const char *path)
{
  GStatBuf info;
  g_assert_cmpint(g_stat(path, &info), ==, 0);
  return info.st_mode & 07777u;
}

/* What a command keeps says what is in whose tables. */
static void
test_the_user_s_own_is_for_nobody_else(void)
{
  g_autofree char *directory = new_directory(), *outer = g_build_filename(directory, "outer", NULL);
  g_autofree char *inner = g_build_filename(outer, "inner", NULL);
  mode_t before = umask(022);
  g_autofree char *made = tide_state_directory_of_user(inner);
  umask(before);
  g_assert_cmpstr(made, ==, inner);
  g_assert_cmpuint(mode_of(inner), ==, 0700);
  g_assert_cmpuint(mode_of(outer), ==, 0700);
  g_assert_cmpint(g_rmdir(inner) + g_rmdir(outer) + g_rmdir(directory), ==, 0);
}

/* Whoever may write in the directory has no file cut that he may not write. */
static void
test_the_lock_is_no_link(void)
{
  g_autofree char *directory = new_directory(), *lock = g_build_filename(directory, "tidemark.lock", NULL);
  g_autofree char *other = g_build_filename(directory, "other", NULL);
  g_autoptr(GError) error = NULL;
  g_setenv("STATE_DIRECTORY", directory, TRUE);
  g_assert_true(g_file_set_contents(other, "precious", -1, NULL));
  g_assert_cmpint(symlink(other, lock), ==, 0);
  g_assert_cmpint(tide_state_directory_lock(&error), ==, -1);
  g_assert_nonnull(error);
  assert_content(other, "precious");
  g_assert_cmpint(g_unlink(lock) + g_unlink(other) + g_rmdir(directory), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/state-directory/U8-name-lasts", test_u8_name_lasts);
  g_test_add_func("/state-directory/U8-two-directories-are-two-members", test_u8_two_directories_are_two_members);
  g_test_add_func("/state-directory/U8-other-topics-are-another-member", test_u8_other_topics_are_another_member);
  g_test_add_func("/state-directory/U8-no-directory-no-name", test_u8_no_directory_no_name);
  g_test_add_func("/state-directory/E-the-user-s-own-is-for-nobody-else", test_the_user_s_own_is_for_nobody_else);
  g_test_add_func("/state-directory/E11-the-lock-is-no-link", test_the_lock_is_no_link);
  g_test_add_func("/state-directory/E7-full-disk-is-tried-again", test_e7_full_disk_is_tried_again);
  return g_test_run();
}
