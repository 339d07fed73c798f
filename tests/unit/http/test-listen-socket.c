/* Sockets to listen on: Unix ones above all, and what may be in their place. (TCP: tests/unit/service/test-http.c.) */
#define _GNU_SOURCE
#include "http/listen_socket.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct Fixture {
  char *directory, *path, *text;
} Fixture;

static void
setup(Fixture *fixture, gconstpointer data)
{
  fixture->directory = g_dir_make_tmp("tidemark-listen-XXXXXX", NULL);
  fixture->path = g_build_filename(fixture->directory, "http.socket", NULL);
  fixture->text = g_strconcat("unix:", fixture->path, NULL);
}

static void
teardown(Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0); /* nothing was left behind */
  g_free(fixture->directory);
  g_free(fixture->path);
  g_free(fixture->text);
}

static TideListenRequest
request_of(const Fixture *fixture, mode_t mode)
{
  return (TideListenRequest){.text = fixture->text, .option = "service.http", .mode = mode};
}

static TideListenSocket
open_socket(const Fixture *fixture, mode_t mode)
{
  TideListenRequest request = request_of(fixture, mode);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_listen_socket_open(&request, &listener, &error));
  g_assert_no_error(error);
  g_assert_cmpint(listener.fd, >=, 0);
  return listener;
}

/* A socket that nobody listens on any more, as a process leaves it that was killed. */
static void
leave_socket(const Fixture *fixture)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_strlcpy(address.sun_path, fixture->path, sizeof address.sun_path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(bind(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_assert_cmpint(listen(fd, 1), ==, 0);
  close(fd);
}

static mode_t
mode_of(const Fixture *fixture)
{
  struct stat info;
  g_assert_cmpint(lstat(fixture->path, &info), ==, 0);
  g_assert_true(S_ISSOCK(info.st_mode));
  return info.st_mode & 07777u;
}

static void
test_mode(Fixture *fixture, gconstpointer data)
{
  static const mode_t modes[] = {0600, 0660, 0666};
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    mode_t before = umask(0077);
    TideListenSocket listener = open_socket(fixture, modes[i]);
    umask(before);
    g_assert_cmpuint(mode_of(fixture), ==, modes[i]);
    tide_listen_socket_close(&listener);
    g_assert_false(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
  }
}

static void
test_a_deserted_one_is_replaced(Fixture *fixture, gconstpointer data)
{
  leave_socket(fixture);
  TideListenRequest request = request_of(fixture, 0660);
  g_assert_true(tide_listen_socket_try(&request, NULL));
  g_assert_true(g_file_test(fixture->path, G_FILE_TEST_EXISTS)); /* a try changes nothing */
  TideListenSocket listener = open_socket(fixture, 0660);
  tide_listen_socket_close(&listener);
}

static void
assert_refused(const Fixture *fixture, int start_code, int try_code, const char *message)
{
  TideListenRequest request = request_of(fixture, 0660);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL, try_error = NULL;
  g_assert_false(tide_listen_socket_open(&request, &listener, &error));
  g_assert_error(error, TIDE_ERROR, start_code);
  g_assert_nonnull(strstr(error->message, message));
  g_assert_nonnull(strstr(error->message, "'service.http'"));
  g_assert_false(tide_listen_socket_try(&request, &try_error));
  g_assert_error(try_error, TIDE_ERROR, try_code);
  g_assert_cmpstr(try_error->message, ==, error->message);
}

static void
test_one_in_use_is_left(Fixture *fixture, gconstpointer data)
{
  TideListenSocket listener = open_socket(fixture, 0660);
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_IN_USE, "another process listens there");
  g_assert_cmpuint(mode_of(fixture), ==, 0660);
  tide_listen_socket_close(&listener);
}

static void
test_what_is_no_socket_is_left(Fixture *fixture, gconstpointer data)
{
  g_assert_true(g_file_set_contents(fixture->path, "precious", -1, NULL));
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "what is there is no socket");
  g_autofree char *content = NULL;
  g_assert_true(g_file_get_contents(fixture->path, &content, NULL, NULL));
  g_assert_cmpstr(content, ==, "precious");
  g_assert_cmpint(g_remove(fixture->path), ==, 0);

  g_autofree char *target = g_build_filename(fixture->directory, "target", NULL);
  g_assert_cmpint(symlink(target, fixture->path), ==, 0); /* would lead elsewhere */
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "what is there is no socket");
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
}

/* A second process that took the path meanwhile keeps it. */
static void
test_only_our_own_is_removed(Fixture *fixture, gconstpointer data)
{
  TideListenSocket listener = open_socket(fixture, 0660);
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
  leave_socket(fixture);
  tide_listen_socket_close(&listener);
  g_assert_true(g_file_test(fixture->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
}

static void
test_a_missing_directory_is_said(Fixture *fixture, gconstpointer data)
{
  g_free(fixture->text);
  fixture->text = g_strconcat("unix:", fixture->directory, "/none/http.socket", NULL);
  assert_refused(fixture, TIDE_ERROR_UNAVAILABLE, TIDE_ERROR_UNAVAILABLE, "make its directory");
}

/* ---- what others do meanwhile ---- */

/* Done once when the program under test calls bind() or unlink(), before or behind the call itself. */
static void (*behind_bind)(const Fixture *fixture);
static void (*before_unlink)(const Fixture *fixture);
static const Fixture *meddled;

static void
meddle(void (**what)(const Fixture *fixture))
{
  void (*now)(const Fixture *fixture) = *what;
  *what = NULL;
  if (now != NULL)
    now(meddled);
}

/* In the place of libc's. */
int
bind(int fd, const struct sockaddr *address, socklen_t address_bytes)
{
  int result = (int)syscall(SYS_bind, fd, address, address_bytes);
  int error_number = errno;
  meddle(&behind_bind);
  errno = error_number;
  return result;
}

int
unlink(const char *path)
{
  meddle(&before_unlink);
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static char *
target_of(const Fixture *fixture)
{
  return g_build_filename(fixture->directory, "target", NULL);
}

static void
put_link(const Fixture *fixture)
{
  g_autofree char *target = target_of(fixture);
  g_assert_cmpint(g_remove(fixture->path), ==, 0);
  g_assert_cmpint(symlink(target, fixture->path), ==, 0);
}

static void
test_a_link_is_not_followed(Fixture *fixture, gconstpointer data)
{
  g_autofree char *target = target_of(fixture);
  g_assert_true(g_file_set_contents_full(target, "precious", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  TideListenRequest request = request_of(fixture, 0666);
  TideListenSocket listener;
  g_autoptr(GError) error = NULL;
  meddled = fixture;
  behind_bind = put_link;
  g_assert_false(tide_listen_socket_open(&request, &listener, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE);
  struct stat info;
  g_assert_cmpint(lstat(target, &info), ==, 0);
  g_assert_cmpuint(info.st_mode & 07777u, ==, 0600);
  g_assert_cmpint(g_remove(target), ==, 0);
}

/* The second start is done, or waits for the first. */
static pthread_mutex_t second_lock =
    PTHREAD_MUTEX_INITIALIZER; /* not GLib's, which the thread sanitizer does not know */
static pthread_cond_t second_changed = PTHREAD_COND_INITIALIZER;
static gboolean second_waits, second_is_done;
static GThread *second;

static void
tell(gboolean *what)
{
  pthread_mutex_lock(&second_lock);
  *what = TRUE;
  pthread_cond_signal(&second_changed);
  pthread_mutex_unlock(&second_lock);
}

/* In the place of libc's. */
int
flock(int fd, int operation)
{
  int result = (int)syscall(SYS_flock, fd, operation);
  int error_number = errno;
  if (result != 0)
    tell(&second_waits);
  errno = error_number;
  return result;
}

static gpointer
start_second(gpointer data)
{
  const Fixture *fixture = data;
  TideListenRequest request = request_of(fixture, 0660);
  TideListenSocket *listener = g_new0(TideListenSocket, 1);
  gboolean is_open = tide_listen_socket_open(&request, listener, NULL);
  if (!is_open)
    g_clear_pointer(&listener, g_free);
  tell(&second_is_done);
  return listener;
}

static void
let_second_start(const Fixture *fixture)
{
  second = g_thread_new("second", start_second, (gpointer)fixture);
  pthread_mutex_lock(&second_lock);
  while (!second_waits && !second_is_done)
    pthread_cond_wait(&second_changed, &second_lock);
  pthread_mutex_unlock(&second_lock);
}

/* Both find a socket that a killed process left: one of them gets the path, the other one leaves it alone. */
static void
test_two_starts(Fixture *fixture, gconstpointer data)
{
  leave_socket(fixture);
  meddled = fixture;
  before_unlink = let_second_start;
  TideListenSocket first = open_socket(fixture, 0660);
  TideListenSocket *second_listener = g_thread_join(second);
  g_assert_null(second_listener);
  tide_listen_socket_close(&first);
}

static void
add(const char *path, void (*test)(Fixture *fixture, gconstpointer data))
{
  g_test_add(path, Fixture, NULL, setup, test, teardown);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  add("/listen-socket/unix/mode", test_mode);
  add("/listen-socket/unix/a-deserted-one-is-replaced", test_a_deserted_one_is_replaced);
  add("/listen-socket/unix/one-in-use-is-left", test_one_in_use_is_left);
  add("/listen-socket/unix/no-socket-is-left", test_what_is_no_socket_is_left);
  add("/listen-socket/unix/only-our-own-is-removed", test_only_our_own_is_removed);
  add("/listen-socket/unix/a-missing-directory-is-said", test_a_missing_directory_is_said);
  add("/listen-socket/unix/E15-a-link-is-not-followed", test_a_link_is_not_followed);
  add("/listen-socket/unix/E15-two-starts", test_two_starts);
  return g_test_run();
}
