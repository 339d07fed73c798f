#include "util/secret_file.h"

#include "util/error.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of this test's own, removed with what is in it. */
typedef struct Fixture {
  char *directory;
} Fixture;

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-secret-XXXXXX", NULL);
  g_assert_nonnull(fixture->directory);
  g_unsetenv("CREDENTIALS_DIRECTORY");
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  g_autoptr(GDir) directory = g_dir_open(fixture->directory, 0, NULL);

  for (const char *name = g_dir_read_name(directory); name != NULL; name = g_dir_read_name(directory)) {
    g_autofree char *path = g_build_filename(fixture->directory, name, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
  }
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
}

static char *
write_file(Fixture *fixture, const char *name, const char *content, gssize len, guint mode)
{
  char *path = g_build_filename(fixture->directory, name, NULL);

  g_assert_true(g_file_set_contents(path, content, len, NULL));
  g_assert_cmpint(g_chmod(path, mode), ==, 0);
  return path;
}

static void
test_one_newline_is_stripped(Fixture *fixture, gconstpointer data)
{
  static const struct {
    const char *content;
    const char *secret;
  } cases[] = {{"pass", "pass"},     {"pass\n", "pass"},   {"pass\r\n", "pass"}, {"pass\n\n", "pass\n"},
               {" pass ", " pass "}, {"pass\r", "pass\r"}, {"a\nb\n", "a\nb"}};

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = write_file(fixture, "secret", cases[i].content, -1, 0600);
    char *secret = tide_secret_read_file(path, NULL);
    g_assert_cmpstr(secret, ==, cases[i].secret);
    tide_secret_free(secret);
  }
}

static void
test_open_modes_are_refused(Fixture *fixture, gconstpointer data)
{
  static const struct {
    guint mode;
    gboolean is_good;
  } cases[] = {{0600, TRUE},  {0400, TRUE},  {0640, TRUE},  {0440, TRUE},  {0644, FALSE},
               {0604, FALSE}, {0602, FALSE}, {0601, FALSE}, {0660, FALSE}, {0666, FALSE}};

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = write_file(fixture, "secret", "pass", -1, cases[i].mode);
    g_autofree char *remedy = g_strdup_printf("run 'chmod 0640 %s'", path);
    g_autoptr(GError) error = NULL;
    char *secret = tide_secret_read_file(path, &error);
    g_assert_cmpint(secret != NULL, ==, cases[i].is_good);
    if (!cases[i].is_good) {
      g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
      g_assert_nonnull(strstr(error->message, remedy));
    }
    tide_secret_free(secret);
  }
}

static void
assert_refused(const char *path, const char *words)
{
  g_autoptr(GError) error = NULL;

  g_assert_null(tide_secret_read_file(path, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  if (strstr(error->message, words) == NULL)
    g_error("got \"%s\", expected \"%s\"", error->message, words);
}

static void
test_useless_files_are_refused(Fixture *fixture, gconstpointer data)
{
  g_autofree char *large = g_strnfill(TIDE_SECRET_MAX_BYTES + 1, 'x');
  g_autofree char *empty_path = write_file(fixture, "empty", "", 0, 0600);
  g_autofree char *newline_path = write_file(fixture, "newline", "\n", 1, 0600);
  g_autofree char *nul_path = write_file(fixture, "nul", "a\0b", 3, 0600);
  g_autofree char *large_path = write_file(fixture, "large", large, -1, 0600);
  g_autofree char *missing_path = g_build_filename(fixture->directory, "missing", NULL);
  g_autofree char *fifo_path = g_build_filename(fixture->directory, "fifo", NULL);

  g_assert_cmpint(mkfifo(fifo_path, 0600), ==, 0);
  assert_refused(empty_path, "is empty");
  assert_refused(newline_path, "is empty");
  assert_refused(nul_path, "NUL byte");
  assert_refused(large_path, "larger than 65536 bytes");
  assert_refused(missing_path, "No such file or directory");
  assert_refused(fifo_path, "not a regular file"); /* and does not wait for a writer */
  assert_refused(fixture->directory, "not a regular file");
}

static void
test_largest_file_is_read(Fixture *fixture, gconstpointer data)
{
  g_autofree char *largest = g_strnfill(TIDE_SECRET_MAX_BYTES, 'x');
  g_autofree char *path = write_file(fixture, "largest", largest, -1, 0600);
  char *secret = tide_secret_read_file(path, NULL);

  g_assert_cmpstr(secret, ==, largest);
  tide_secret_free(secret);
}

static void
test_credentials_come_from_systemd(Fixture *fixture, gconstpointer data)
{
  static const char *const bad_names[] = {"./kafka.password", "", ".", "..", "../secret", "/etc/passwd"};
  g_autofree char *path = write_file(fixture, "kafka.password", "pass\n", -1, 0400);
  g_autoptr(GError) error = NULL;

  g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
  g_assert_null(tide_secret_read(&(TideSecretSource){.credential = "kafka.password"}, &error));
  g_assert_nonnull(strstr(error->message, "LoadCredential=kafka.password:/path"));
  g_assert_true(g_setenv("CREDENTIALS_DIRECTORY", fixture->directory, TRUE));
  char *secret = tide_secret_read(&(TideSecretSource){.credential = "kafka.password"}, NULL);
  g_assert_cmpstr(secret, ==, "pass");
  tide_secret_free(secret);
  for (gsize i = 0; i < G_N_ELEMENTS(bad_names); i++)
    g_assert_null(tide_secret_read(&(TideSecretSource){.credential = (char *)bad_names[i]}, NULL));
}

/* A keytab is no text: what it holds is for another library, which is told where it is. */
static void
test_binary_files_are_checked_for_what_they_are(Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = write_file(fixture, "t.keytab", "\5\2\0", 3, 0600);
  TideSecretSource by_file = {.file = path}, by_name = {.credential = (char *)"t.keytab"};
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_secret_check(&by_file, &error));
  g_assert_no_error(error);
  g_assert_false(tide_secret_check(&by_name, &error));
  g_assert_nonnull(strstr(error->message, "LoadCredential=t.keytab:/path"));
  g_assert_true(g_setenv("CREDENTIALS_DIRECTORY", fixture->directory, TRUE));
  g_assert_true(tide_secret_check(&by_name, NULL));
  g_autofree char *found = tide_secret_path(&by_name, NULL);
  g_assert_cmpstr(found, ==, path);
  g_clear_error(&error);
  g_assert_cmpint(g_chmod(path, 0644), ==, 0);
  g_assert_false(tide_secret_check(&by_file, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG);
  g_assert_nonnull(strstr(error->message, "run 'chmod 0640 "));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add("/secret-file/F8-one-newline-is-stripped", Fixture, NULL, setup, test_one_newline_is_stripped, teardown);
  g_test_add("/secret-file/F8-open-modes-are-refused", Fixture, NULL, setup, test_open_modes_are_refused, teardown);
  g_test_add("/secret-file/F8-useless-files-are-refused", Fixture, NULL, setup, test_useless_files_are_refused,
             teardown);
  g_test_add("/secret-file/largest-file-is-read", Fixture, NULL, setup, test_largest_file_is_read, teardown);
  g_test_add("/secret-file/credentials-come-from-systemd", Fixture, NULL, setup, test_credentials_come_from_systemd,
             teardown);
  g_test_add("/secret-file/binary-files-are-checked-for-what-they-are", Fixture, NULL, setup,
             test_binary_files_are_checked_for_what_they_are, teardown);
  return g_test_run();
}
