/* The file of dead letters: what a crash, a full disk, a full quota and an operator's hand leave of it. */
/* syscall(), RTLD_NEXT, readdir64() */
#define _GNU_SOURCE
#include "dead_letters/dead_letter_file.h"
#include "dead_letters/dead_letter_location.h"
#include "util/error.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the place of libc's, for the whole program: fsync() is counted, and fails when it is told to; a directory has no
 * entries when that is told. */
static guint n_syncs;
static guint n_syncs_to_fail;
static const char *emptied_at_a_sync; /* a file that an operator cuts short just then, at one that fails; once */
static gboolean directories_are_empty;
static const char *moved_at_a_sync; /* a file that an operator moves away just then; once */

int
fsync(int fd)
{
  n_syncs++;
  if (n_syncs_to_fail > 0) {
    n_syncs_to_fail--;
    if (emptied_at_a_sync != NULL)
      g_assert_cmpint(truncate(emptied_at_a_sync, 0), ==, 0);
    emptied_at_a_sync = NULL;
    errno = EIO;
    return -1;
  }
  if (moved_at_a_sync != NULL) {
    g_autofree char *away = g_strconcat(moved_at_a_sync, ".away", NULL);
    g_assert_cmpint(g_rename(moved_at_a_sync, away), ==, 0);
    moved_at_a_sync = NULL;
  }
  return (int)syscall(SYS_fsync, fd);
}

/* GLib's */
struct dirent64 *
readdir64(DIR *directory)
{
  static struct dirent64 *(*real)(DIR *);
  if (real == NULL)
    *(void **)&real = dlsym(RTLD_NEXT, "readdir64");
  return directories_are_empty ? NULL : real(directory);
}

/* How a dead letter begins; all else of it does not matter here. */
#define LETTER "{\"kept_at\":\""

typedef struct Fixture {
  char *directory;
  char *path;
  TideDeadLetterFileOptions options;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  fixture->directory = g_dir_make_tmp("tidemark-letter-file-XXXXXX", &error);
  g_assert_no_error(error);
  fixture->path = g_build_filename(fixture->directory, "letters.jsonl", NULL);
  fixture->options = (TideDeadLetterFileOptions){.path = fixture->path, .max_file_bytes = 1000, .max_bytes = 5000};
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GDir) entries = g_dir_open(fixture->directory, 0, NULL);
  for (const char *name; (name = g_dir_read_name(entries)) != NULL;) {
    g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
    g_remove(path);
  }
  g_remove(fixture->directory);
  g_free(fixture->path);
  g_free(fixture->directory);
}

static TideDeadLetterFile *
open_file(const Fixture *fixture, guint64 expected_torn_bytes)
{
  g_autoptr(GError) error = NULL;
  guint64 torn_bytes = 0;
  TideDeadLetterFile *file = tide_dead_letter_file_open(&fixture->options, &torn_bytes, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(torn_bytes, ==, expected_torn_bytes);
  return file;
}

static void
append(TideDeadLetterFile *file, const char *lines)
{
  g_autoptr(GError) error = NULL;
  gboolean kept = tide_dead_letter_file_append(file, tide_bytes_of_string(lines), &error);
  g_assert_no_error(error);
  g_assert_true(kept);
}

static void
append_fails(TideDeadLetterFile *file, const char *lines, TideErrorCode code, const char *part)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_dead_letter_file_append(file, tide_bytes_of_string(lines), &error));
  g_assert_error(error, TIDE_ERROR, (int)code);
  if (strstr(error->message, part) == NULL)
    g_error("'%s' is not in: %s", part, error->message);
}

/* @suffix: ".1", ".torn", or "". */
static void
assert_content(const Fixture *fixture, const char *suffix, const char *expected)
{
  g_autofree char *path = g_strconcat(fixture->path, suffix, NULL);
  g_autofree char *content = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &content, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(content, ==, expected);
}

static void
write_content(const Fixture *fixture, const char *content)
{
  g_autoptr(GError) error = NULL;
  g_file_set_contents(fixture->path, content, -1, &error);
  g_assert_no_error(error);
}

static void
test_lines_are_appended(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, LETTER "a\n" LETTER "b\n");
  tide_dead_letter_file_free(file);
  file = open_file(fixture, 0);
  append(file, "c\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", LETTER "a\n" LETTER "b\nc\n");
}

static void
test_torn_tail(Fixture *fixture, gconstpointer data)
{
  write_content(fixture, "first\n" LETTER "second\n{\"torn");
  TideDeadLetterFile *file = open_file(fixture, 6);
  append(file, "third\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "first\n" LETTER "second\nthird\n");
  assert_content(fixture, ".torn", "{\"torn\n");
}

/* Each crash leaves its own: none is lost. */
static void
test_torn_tails_are_all_kept(Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 2; i++) {
    write_content(fixture, i == 0 ? LETTER "first\n{\"torn" : LETTER "first\n{\"more");
    tide_dead_letter_file_free(open_file(fixture, 6));
  }
  assert_content(fixture, ".torn", "{\"torn\n{\"more\n");
}

/* A line longer than a file may be has a file of its own, and leaves no empty one behind. */
static void
test_empty_file_is_not_rotated(Fixture *fixture, gconstpointer data)
{
  g_autofree char *line = g_strnfill(2000, 'x');
  memcpy(line, LETTER, strlen(LETTER));
  line[1999] = '\n';
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, line);
  tide_dead_letter_file_free(file);
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) paths = tide_dead_letter_file_list(fixture->path, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(paths->len, ==, 1);
  assert_content(fixture, "", line);
}

/* Longer than what is looked at in one step, and nothing else in the file. */
static void
test_torn_only(Fixture *fixture, gconstpointer data)
{
  g_autofree char *torn = g_strnfill(200000, 'x');
  memcpy(torn, LETTER, strlen(LETTER));
  write_content(fixture, torn);
  TideDeadLetterFile *file = open_file(fixture, 200000);
  append(file, "first\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "first\n");
  g_autofree char *expected = g_strconcat(torn, "\n", NULL);
  assert_content(fixture, ".torn", expected);
}

static void
test_rotation(Fixture *fixture, gconstpointer data)
{
  g_autofree char *half = g_strnfill(600, 'x');
  half[599] = '\n';
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, half);
  append(file, half);
  append(file, "last\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, ".1", half);
  g_autoptr(GPtrArray) paths = tide_dead_letter_file_list(fixture->path, NULL);
  g_assert_cmpuint(paths->len, ==, 2);
  g_assert_true(g_str_has_suffix(g_ptr_array_index(paths, 0), ".jsonl.1"));
  g_assert_true(g_str_has_suffix(g_ptr_array_index(paths, 1), ".jsonl"));
}

/* By number, not by name; and what only looks like a rotated file is none. */
static void
test_list_is_by_age(Fixture *fixture, gconstpointer data)
{
  static const char *const suffixes[] = {"", ".10", ".9", ".lock", ".torn", ".01", ".9x"};
  for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
    g_autofree char *path = g_strconcat(fixture->path, suffixes[i], NULL);
    g_assert_true(g_file_set_contents(path, "x\n", -1, NULL));
  }
  g_autoptr(GPtrArray) paths = tide_dead_letter_file_list(fixture->path, NULL);
  g_assert_cmpuint(paths->len, ==, 3);
  g_assert_true(g_str_has_suffix(g_ptr_array_index(paths, 0), ".9"));
  g_assert_true(g_str_has_suffix(g_ptr_array_index(paths, 1), ".10"));
  g_assert_true(g_str_has_suffix(g_ptr_array_index(paths, 2), ".jsonl"));
}

/* A rotated file that is there, and one that is being written and is full. */
static TideDeadLetterFile *
open_full(const Fixture *fixture, const char *full)
{
  g_autofree char *rotated = g_strconcat(fixture->path, ".1", NULL);
  g_assert_true(g_file_set_contents(rotated, "kept before\n", -1, NULL));
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, full);
  return file;
}

/* No directory can be opened: the number of the next rotated file is not known, so nothing is renamed. */
static void
test_f2_no_rotation_without_a_list(Fixture *fixture, gconstpointer data)
{
  g_autofree char *full = g_strnfill(900, 'x');
  full[899] = '\n';
  TideDeadLetterFile *file = open_full(fixture, full);
  struct rlimit before;
  g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
  int next_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  g_assert_cmpint(close(next_fd), ==, 0);
  struct rlimit small = {.rlim_cur = (rlim_t)next_fd, .rlim_max = before.rlim_max};
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &small), ==, 0);
  append_fails(file, full, TIDE_ERROR_IO, "cannot list directory");
  append_fails(file, full, TIDE_ERROR_IO, g_strerror(EMFILE));
  g_autoptr(GError) error = NULL;
  g_assert_null(tide_dead_letter_file_list(fixture->path, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IO);
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
  append(file, "last\n");
  append(file, full);
  tide_dead_letter_file_free(file);
  assert_content(fixture, ".1", "kept before\n");
  g_autofree char *both = g_strconcat(full, "last\n", NULL);
  assert_content(fixture, ".2", both);
  assert_content(fixture, "", full);
}

/* Whatever the list says: no file is renamed over another. */
static void
test_f2_rotation_replaces_no_file(Fixture *fixture, gconstpointer data)
{
  g_autofree char *full = g_strnfill(900, 'x');
  full[899] = '\n';
  TideDeadLetterFile *file = open_full(fixture, full);
  directories_are_empty = TRUE;
  append(file, full);
  directories_are_empty = FALSE;
  tide_dead_letter_file_free(file);
  assert_content(fixture, ".1", "kept before\n");
  assert_content(fixture, ".2", full);
  assert_content(fixture, "", full);
}

static void
truncate_file(const Fixture *fixture)
{
  g_assert_cmpint(truncate(fixture->path, 0), ==, 0);
}

/* As logrotate's copytruncate does: what is written next begins where the file ends now, also when it fails. */
static void
test_f13_no_hole_after_a_truncation(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, "first\n");
  truncate_file(fixture);
  n_syncs_to_fail = 1;
  append_fails(file, "second\n", TIDE_ERROR_IO, g_strerror(EIO));
  assert_content(fixture, "", "");
  append(file, "second\n");
  n_syncs_to_fail = 1;
  emptied_at_a_sync = fixture->path;
  append_fails(file, "more\n", TIDE_ERROR_IO, g_strerror(EIO));
  g_autofree char *content = NULL;
  gsize len = 1;
  g_assert_true(g_file_get_contents(fixture->path, &content, &len, NULL));
  g_assert_cmpuint(len, ==, 0);
  append(file, "third\n");
  truncate_file(fixture);
  append(file, "fourth\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "fourth\n");
}

/* A group counts once it is synced, and one that was not synced is not there. */
static void
test_m10_nothing_counts_before_it_is_synced(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  guint before = n_syncs;
  append(file, "first\n");
  g_assert_cmpuint(n_syncs, ==, before + 1);
  append(file, "second\nthird\n");
  g_assert_cmpuint(n_syncs, ==, before + 2);
  n_syncs_to_fail = 1;
  append_fails(file, "fourth\n", TIDE_ERROR_IO, g_strerror(EIO));
  assert_content(fixture, "", "first\nsecond\nthird\n");
  append(file, "fourth\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "first\nsecond\nthird\nfourth\n");
}

/* What is written to a file that is moved or truncated meanwhile does not count: it is written again. */
static void
test_moved_away_while_written(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, "first\n");
  moved_at_a_sync = fixture->path;
  append_fails(file, "second\n", TIDE_ERROR_IO, "moved or truncated");
  append(file, "second\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "second\n");
  assert_content(fixture, ".away", "first\nsecond\n");
}

/* So is the directory, for the names in it: of a new file, and of one that was rotated. */
static void
test_m10_names_are_synced(Fixture *fixture, gconstpointer data)
{
  guint before = n_syncs;
  TideDeadLetterFile *file = open_file(fixture, 0);
  g_assert_cmpuint(n_syncs, ==, before + 1);
  g_autofree char *full = g_strnfill(900, 'x');
  full[899] = '\n';
  append(file, full);
  before = n_syncs;
  append(file, full);
  g_assert_cmpuint(n_syncs, ==, before + 2);
  tide_dead_letter_file_free(file);
}

static void
test_full_until_some_are_removed(Fixture *fixture, gconstpointer data)
{
  g_autofree char *line = g_strnfill(900, 'x');
  line[899] = '\n';
  TideDeadLetterFile *file = open_file(fixture, 0);
  for (guint i = 0; i < 5; i++)
    append(file, line);
  append_fails(file, line, TIDE_ERROR_TOO_BIG, "dead_letters.max_size");
  g_autofree char *oldest = g_strconcat(fixture->path, ".1", NULL);
  g_assert_cmpint(g_remove(oldest), ==, 0);
  append(file, line);
  tide_dead_letter_file_free(file);
}

/* With a limit of the file's size for a disk that is full: nothing of the group stays, and it can be kept later. */
static void
test_disk_full(Fixture *fixture, gconstpointer data)
{
  fixture->options.max_file_bytes = fixture->options.max_bytes = 1 << 20;
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, "first\n");
  g_autofree char *large = g_strnfill(8000, 'x');
  large[7999] = '\n';
  struct rlimit before;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  append_fails(file, large, TIDE_ERROR_IO, g_strerror(EFBIG));
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
  (void)signal(SIGXFSZ, handler);
  assert_content(fixture, "", "first\n");
  append(file, "second\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "first\nsecond\n");
}

static void
test_directory_goes_and_comes(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, LETTER "first\n");
  g_autofree char *elsewhere = g_strconcat(fixture->directory, "-away", NULL);
  g_assert_cmpint(g_rename(fixture->directory, elsewhere), ==, 0);
  append_fails(file, "second\n", TIDE_ERROR_IO, "cannot open");
  g_assert_cmpint(g_rename(elsewhere, fixture->directory), ==, 0);
  append(file, "second\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", LETTER "first\nsecond\n");
}

static void
test_operator_moves_it_away(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, "first\n");
  g_autofree char *kept = g_strconcat(fixture->path, ".mine", NULL);
  g_assert_cmpint(g_rename(fixture->path, kept), ==, 0);
  append(file, "second\n");
  tide_dead_letter_file_free(file);
  assert_content(fixture, ".mine", "first\n");
  assert_content(fixture, "", "second\n");
}

static void
test_one_owner(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  g_autoptr(GError) error = NULL;
  guint64 torn_bytes;
  g_assert_null(tide_dead_letter_file_open(&fixture->options, &torn_bytes, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IN_USE);
  g_assert_nonnull(strstr(error->message, "another process"));
  tide_dead_letter_file_free(file);
  tide_dead_letter_file_free(open_file(fixture, 0));
}

static void
test_no_regular_file(Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint(symlink("/dev/full", fixture->path), ==, 0);
  g_autoptr(GError) error = NULL;
  guint64 torn_bytes;
  g_assert_null(tide_dead_letter_file_open(&fixture->options, &torn_bytes, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IO);
  g_assert_nonnull(strstr(error->message, "not a regular file"));
}

/* A file that is there and holds something else is somebody's: neither the open nor the look cut it, or write to it. */
static void
test_another_file_stays(Fixture *fixture, gconstpointer data)
{
  static const char *const others[] = {
      "{\"ts\":1}\n{\"ts\":2}\n{\"ts\"",         "\x1f\x8b\x08\nxx", "\x1f\x8b\x08xx", "{\n", "{", "\n",
      LETTER "first\"}\nsomething else\n" LETTER};
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autoptr(GError) error = NULL, seen = NULL;
    guint64 torn_bytes;
    write_content(fixture, others[i]);
    gboolean is_begun = g_str_has_prefix(LETTER, others[i]); /* all that was written of the first */
    TideDeadLetterFile *file = tide_dead_letter_file_open(&fixture->options, &torn_bytes, &error);
    g_assert_true((file != NULL) == is_begun);
    tide_dead_letter_file_free(file);
    if (is_begun)
      continue;
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "is not a dead-letter file"));
    g_assert_false(tide_dead_letter_location_check(&fixture->options, &seen));
    g_assert_cmpstr(seen->message, ==, error->message);
    assert_content(fixture, "", others[i]);
  }
}

/* Nor one that takes its place while it is written. */
static void
test_another_file_that_comes_stays(Fixture *fixture, gconstpointer data)
{
  TideDeadLetterFile *file = open_file(fixture, 0);
  append(file, LETTER "first\n");
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
  write_content(fixture, "somebody's\nwork");
  append_fails(file, LETTER "second\n", TIDE_ERROR_IO, "is not a dead-letter file");
  tide_dead_letter_file_free(file);
  assert_content(fixture, "", "somebody's\nwork");
}

#define ADD(path, test) g_test_add("/dead-letter-file/" path, Fixture, NULL, set_up, test, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("lines-are-appended", test_lines_are_appended);
  ADD("E8-a-torn-tail-is-put-aside", test_torn_tail);
  ADD("torn-tails-are-all-kept", test_torn_tails_are_all_kept);
  ADD("empty-file-is-not-rotated", test_empty_file_is_not_rotated);
  ADD("E8-a-file-of-one-torn-line-is-put-aside", test_torn_only);
  ADD("E4-a-file-of-something-else-stays", test_another_file_stays);
  ADD("E4-a-file-of-something-else-that-comes-stays", test_another_file_that_comes_stays);
  ADD("rotation-keeps-numbers", test_rotation);
  ADD("the-list-is-by-age", test_list_is_by_age);
  ADD("F2/no-rotation-without-a-list", test_f2_no_rotation_without_a_list);
  ADD("F2/rotation-replaces-no-file", test_f2_rotation_replaces_no_file);
  ADD("F13/no-hole-after-a-truncation", test_f13_no_hole_after_a_truncation);
  ADD("M10/nothing-counts-before-it-is-synced", test_m10_nothing_counts_before_it_is_synced);
  ADD("moved-away-while-written", test_moved_away_while_written);
  ADD("M10/names-are-synced", test_m10_names_are_synced);
  ADD("full-until-some-are-removed", test_full_until_some_are_removed);
  ADD("E7-a-full-disk-leaves-nothing-of-a-group", test_disk_full);
  ADD("E7-a-directory-that-goes-and-comes", test_directory_goes_and_comes);
  ADD("an-operator-may-move-it-away", test_operator_moves_it_away);
  ADD("it-has-one-owner", test_one_owner);
  ADD("what-is-no-regular-file-is-refused", test_no_regular_file);
  return g_test_run();
}
