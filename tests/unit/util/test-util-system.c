/* Threads and files: locks, jobs, secrets and the state directory. */
#define _GNU_SOURCE
#include "unit/test_case.h"
#include "util/cgroup_bound.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/job.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/operator_pauses.h"
#include "util/secret_file.h"
#include "util/state_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lock ---- */

/* Long enough that only a broken program reaches it. */
#define TIMEOUT_US (240 * TIDE_US_PER_S)

/* What the threads of a test share. */
typedef struct Shared {
  TideMutex lock;
  TideCond changed;
  guint64 n;       /* under lock */
  guint n_waiting; /* under lock */
  gboolean go;     /* under lock */
} Shared;

static void
shared_init(Shared *shared)
{
  *shared = (Shared){0};
  tide_mutex_init(&shared->lock);
  tide_cond_init(&shared->changed);
}

static void
shared_clear(Shared *shared)
{
  tide_cond_clear(&shared->changed);
  tide_mutex_clear(&shared->lock);
}

static void
lock_let_go(Shared *shared)
{
  tide_mutex_lock(&shared->lock);
  shared->go = TRUE;
  tide_cond_broadcast(&shared->changed);
  tide_mutex_unlock(&shared->lock);
}

static void
count_up(gpointer data)
{
  Shared *shared = data;
  for (guint i = 0; i < 20000; i++) {
    tide_mutex_lock(&shared->lock);
    shared->n++;
    tide_mutex_unlock(&shared->lock);
  }
}

TEST("/lock/excludes")
{
  Shared shared;
  shared_init(&shared);
  TideThread *threads[4];
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = tide_thread_start("count", count_up, &shared);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  g_assert_cmpuint(shared.n, ==, G_N_ELEMENTS(threads) * 20000);
  shared_clear(&shared);
}

TEST("/cond/wait-ends-at-a-monotonic-deadline")
{
  Shared shared;
  shared_init(&shared);
  tide_mutex_lock(&shared.lock);
  static const gint64 delays_us[] = {0, -5 * TIDE_US_PER_S, 20000};
  for (gsize i = 0; i < G_N_ELEMENTS(delays_us); i++) {
    gint64 deadline_us = tide_now_us() + delays_us[i];
    while (tide_cond_wait_until(&shared.changed, &shared.lock, deadline_us))
      ; /* may wake without a reason; the deadline ends it */
    g_assert_cmpint(tide_now_us(), >=, deadline_us);
    g_assert_cmpint(tide_now_us(), <, deadline_us + TIMEOUT_US);
  }
  g_assert_false(tide_cond_wait_until(&shared.changed, &shared.lock, -1)); /* before the clock began */
  tide_mutex_unlock(&shared.lock);
  shared_clear(&shared);
}

static void
wait_for_go(gpointer data)
{
  Shared *shared = data;
  tide_mutex_lock(&shared->lock);
  shared->n_waiting++;
  tide_cond_broadcast(&shared->changed);
  gint64 deadline_us = tide_now_us() + TIMEOUT_US;
  while (!shared->go && tide_cond_wait_until(&shared->changed, &shared->lock, deadline_us))
    ;
  shared->n += shared->go ? 1 : 0;
  tide_mutex_unlock(&shared->lock);
}

TEST("/cond/broadcast-wakes-all-before-the-deadline")
{
  Shared shared;
  shared_init(&shared);
  TideThread *threads[3];
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = tide_thread_start("wait", wait_for_go, &shared);

  tide_mutex_lock(&shared.lock);
  while (shared.n_waiting < G_N_ELEMENTS(threads))
    tide_cond_wait(&shared.changed, &shared.lock);
  tide_mutex_unlock(&shared.lock);

  gint64 before_us = tide_now_us();
  lock_let_go(&shared);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  g_assert_cmpint(tide_now_us() - before_us, <, TIMEOUT_US);
  g_assert_cmpuint(shared.n, ==, G_N_ELEMENTS(threads));
  shared_clear(&shared);
}

TEST("/thread/join-gives-up-and-can-be-tried-again")
{
  Shared shared;
  shared_init(&shared);
  TideThread *thread = tide_thread_start("wait", wait_for_go, &shared);
  g_assert_false(tide_thread_join_until(thread, tide_now_us() + 10000));
  g_assert_false(tide_thread_join_until(thread, 0));
  lock_let_go(&shared);
  g_assert_true(tide_thread_join_until(thread, tide_now_us() + TIMEOUT_US));
  g_assert_cmpuint(shared.n, ==, 1);
  tide_thread_join(NULL);
  shared_clear(&shared);
}

typedef struct Seen {
  char name[16];
  gboolean term_is_blocked, int_is_blocked;
} Seen;

static void
look_around(gpointer data)
{
  Seen *seen = data;
  sigset_t blocked;
  g_assert_cmpint(pthread_getname_np(pthread_self(), seen->name, sizeof seen->name), ==, 0);
  g_assert_cmpint(pthread_sigmask(SIG_BLOCK, NULL, &blocked), ==, 0);
  seen->term_is_blocked = sigismember(&blocked, SIGTERM) == 1;
  seen->int_is_blocked = sigismember(&blocked, SIGINT) == 1;
}

TEST("/thread/has-a-name-and-takes-no-signals")
{
  static const struct {
    const char *asked, *got;
  } cases[] = {{"tide-writer-2", "tide-writer-2"}, {"a-name-that-is-too-long", "a-name-that-is-"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    Seen seen = {0};
    tide_thread_join(tide_thread_start(cases[i].asked, look_around, &seen));
    g_assert_cmpstr(seen.name, ==, cases[i].got);
    g_assert_true(seen.term_is_blocked);
    g_assert_true(seen.int_is_blocked);
  }
  Seen starter = {0};
  look_around(&starter);
  g_assert_false(starter.term_is_blocked); /* the one that starts threads keeps its own mask */
}

/* ---- job ---- */

#define GENEROUS_US (60 * TIDE_US_PER_S) /* only a broken program waits as long */

/* What the jobs of a test share: they read a byte of gate_fd each before they end. */
typedef struct World {
  int gate_fd; /* an eventfd, a semaphore */
  atomic_uint n_freed;
} World;

typedef struct Data {
  World *world;
  guint in, out;
} Data;

static void
add_one(gpointer user_data)
{
  Data *data = user_data;
  eventfd_t one;
  g_assert_cmpint(eventfd_read(data->world->gate_fd, &one), ==, 0);
  data->out = data->in + 1;
}

static void
free_data(gpointer user_data)
{
  Data *data = user_data;
  atomic_fetch_add(&data->world->n_freed, 1);
  g_free(data);
}

static TideJobKind kind = {
    .thread_name = "test-job", .run = add_one, .free_data = free_data, .lock = {PTHREAD_MUTEX_INITIALIZER}};

static World
world_new(void)
{
  World world = {.gate_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
  g_assert_cmpint(world.gate_fd, >=, 0);
  return world;
}

static void
job_let_go(const World *world, guint n_jobs)
{
  g_assert_cmpint(eventfd_write(world->gate_fd, n_jobs), ==, 0);
}

static TideJob *
start(World *world, guint in)
{
  Data *data = g_new0(Data, 1);
  data->world = world;
  data->in = in;
  return tide_job_start(&kind, data);
}

TEST("/job/waited-for")
{
  World world = world_new();
  TideJob *job = start(&world, 41);
  g_assert_nonnull(job);
  job_let_go(&world, 1);
  g_assert_true(tide_job_wait(job, tide_now_us() + GENEROUS_US, NULL));
  g_assert_true(tide_job_wait(job, 0, NULL)); /* what has ended has, whatever the deadline */
  Data *data = tide_job_take(job);
  g_assert_cmpuint(data->out, ==, 42);
  g_assert_cmpuint(world.n_freed, ==, 0);
  g_assert_cmpuint(tide_job_reap(&kind), ==, 0);
  free_data(data);
  close(world.gate_fd);
}

/* Those that were left behind are freed after their end, and no earlier. */
TEST("/job/abandoned")
{
  World world = world_new();
  for (guint i = 0; i < 3; i++) {
    TideJob *job = start(&world, i);
    g_assert_false(tide_job_wait(job, tide_now_us() + i, NULL));
    tide_job_abandon(job);
    g_assert_cmpuint(tide_job_reap(&kind), ==, i + 1);
  }
  g_assert_cmpuint(world.n_freed, ==, 0);
  job_let_go(&world, 1);
  gint64 deadline_us = tide_now_us() + GENEROUS_US;
  while (tide_job_reap(&kind) > 2 && tide_now_us() < deadline_us)
    g_thread_yield();
  g_assert_cmpuint(world.n_freed, ==, 1);
  job_let_go(&world, 2);
  while (tide_job_reap(&kind) > 0 && tide_now_us() < deadline_us)
    g_thread_yield();
  g_assert_cmpuint(world.n_freed, ==, 3);
  close(world.gate_fd);
}

static void
cancel(gpointer cancellable)
{
  g_cancellable_cancel(cancellable);
}

TEST("/job/cancelled")
{
  World world = world_new();
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  TideJob *job = start(&world, 1);
  TideThread *thread = tide_thread_start("test-cancel", cancel, cancellable);
  gint64 begun_us = tide_now_us();
  g_assert_false(tide_job_wait(job, begun_us + GENEROUS_US, cancellable));
  g_assert_cmpint(tide_now_us() - begun_us, <, GENEROUS_US);
  tide_thread_join(thread);
  job_let_go(&world, 1);
  free_data(tide_job_take(job));
  close(world.gate_fd);
}

TEST("/job/no-descriptor")
{
  World world = world_new();
  struct rlimit limit, none;
  g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
  none = limit;
  none.rlim_cur = 0;
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
  TideJob *job = start(&world, 1);
  int why = errno;
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
  g_assert_null(job);
  g_assert_cmpint(why, ==, EMFILE);
  g_assert_cmpuint(world.n_freed, ==, 1);
  close(world.gate_fd);
}

/* ---- secret file ---- */

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

#define FIXTURE_TEST(path) TEST_WITH(Fixture, setup, teardown, path)

FIXTURE_TEST("/secret-file/F8-one-newline-is-stripped")
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

FIXTURE_TEST("/secret-file/F8-open-modes-are-refused")
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

FIXTURE_TEST("/secret-file/F8-useless-files-are-refused")
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

FIXTURE_TEST("/secret-file/largest-file-is-read")
{
  g_autofree char *largest = g_strnfill(TIDE_SECRET_MAX_BYTES, 'x');
  g_autofree char *path = write_file(fixture, "largest", largest, -1, 0600);
  char *secret = tide_secret_read_file(path, NULL);

  g_assert_cmpstr(secret, ==, largest);
  tide_secret_free(secret);
}

FIXTURE_TEST("/secret-file/credentials-come-from-systemd")
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
FIXTURE_TEST("/secret-file/binary-files-are-checked-for-what-they-are")
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

/* ---- state directory ---- */

/* The static member name of a daemon: which daemons share it, and which must not. */

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

TEST("/state-directory/U8-name-lasts")
{
  g_autofree char *directory = new_directory();
  g_autofree char *first = name_in(directory, metrics), *again = name_in(directory, metrics);
  g_assert_cmpstr(first, ==, again);
  g_assert_cmpuint(strspn(first, G_CSET_a_2_z G_CSET_A_2_Z "0123456789._-"), ==, strlen(first));
  g_assert_cmpuint(strlen(first), <=, 128 + 13);
  remove_directory(directory);
}

TEST("/state-directory/U8-two-directories-are-two-members")
{
  g_autofree char *one = new_directory(), *other = new_directory();
  g_autofree char *first = name_in(one, metrics), *second = name_in(other, metrics);
  g_assert_cmpstr(first, !=, second);
  remove_directory(one);
  remove_directory(other);
}

/* Brokers give a member that comes back what it had before: it would never get the partitions of the new topic. */
TEST("/state-directory/U8-other-topics-are-another-member")
{
  char *both[] = {(char *)"metrics", (char *)"events", NULL};
  g_autofree char *directory = new_directory();
  g_autofree char *before = name_in(directory, metrics), *after = name_in(directory, both);
  g_assert_cmpstr(before, !=, after);
  remove_directory(directory);
}

TEST("/state-directory/U8-no-directory-no-name")
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
TEST("/state-directory/E7-full-disk-is-tried-again")
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
TEST("/state-directory/E-the-user-s-own-is-for-nobody-else")
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

/* ---- what a cgroup leaves ---- */

static void
write_under(const char *root, const char *path, const char *text)
{
  g_autofree char *full = g_build_filename(root, path, NULL);
  g_autofree char *folder = g_path_get_dirname(full);
  g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
  g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

TEST("/memory-bound/the-least-of-the-cgroups-around-counts")
{
  g_autofree char *root = g_dir_make_tmp("tidemark-cgroup-XXXXXX", NULL);
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 0); /* nothing can be seen */
  write_under(root, "proc/self/cgroup", "1:name=systemd:/old\n0::/system.slice/tidemark.service\n");
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 0);
  write_under(root, "sys/fs/cgroup/system.slice/tidemark.service/memory.max", "max\n");
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 0);
  write_under(root, "sys/fs/cgroup/memory.max", "3000000\n");
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 3000000);
  write_under(root, "sys/fs/cgroup/system.slice/memory.max", "1000000\n");
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 1000000);
  write_under(root, "sys/fs/cgroup/system.slice/tidemark.service/memory.max", "2000000\n");
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 1000000);
  write_under(root, "proc/self/cgroup", "0::/\n"); /* a container's own */
  g_assert_cmpuint(tide_memory_bound_bytes(root), ==, 3000000);
  g_autofree char *command = g_strdup_printf("rm -r '%s'", root);
  g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
}

/* Beside what the machine that the test runs on leaves it. */
TEST("/cpu-bound/a-part-of-one-is-one")
{
  g_autofree char *root = g_dir_make_tmp("tidemark-cgroup-XXXXXX", NULL);
  guint here = tide_cpu_bound(root); /* nothing can be seen */
  write_under(root, "proc/self/cgroup", "0::/system.slice/tidemark.service\n");
  write_under(root, "sys/fs/cgroup/system.slice/tidemark.service/cpu.max", "max 100000\n");
  g_assert_cmpuint(tide_cpu_bound(root), ==, here);
  write_under(root, "sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
  g_assert_cmpuint(tide_cpu_bound(root), ==, here == 0 ? 2 : MIN(here, 2));
  write_under(root, "sys/fs/cgroup/cpu.max", "400000 100000\n");
  g_assert_cmpuint(tide_cpu_bound(root), ==, here == 0 ? 2 : MIN(here, 2));
  write_under(root, "sys/fs/cgroup/system.slice/tidemark.service/cpu.max", "5000 100000\n");
  g_assert_cmpuint(tide_cpu_bound(root), ==, 1);
  g_autofree char *command = g_strdup_printf("rm -r '%s'", root);
  g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
}

TEST("/cpu-bound/a-cpuset-counts")
{
  cpu_set_t before, one;
  CPU_ZERO(&one);
  g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
  if (CPU_COUNT(&before) < 2) {
    g_test_skip("one CPU alone");
    return;
  }
  for (gsize cpu = 0; CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  g_assert_cmpint(sched_setaffinity(0, sizeof one, &one), ==, 0);
  g_assert_cmpuint(tide_cpu_bound("/nowhere"), ==, 1);
  g_assert_cmpint(sched_setaffinity(0, sizeof before, &before), ==, 0);
}

/* Whoever may write in the directory has no file cut that he may not write. */
TEST("/state-directory/E11-the-lock-is-no-link")
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

/* ---- operator pauses ---- */

/* Writes what an operator paused: a table, and a topic until @until_ms. */
static void
write_pauses(const char *directory, gint64 until_ms)
{
  g_autoptr(GPtrArray) pauses = g_ptr_array_new_with_free_func((GDestroyNotify)tide_operator_pause_free);
  g_ptr_array_add(pauses, tide_operator_pause_new(TIDE_SCOPE_TABLE, "ns:S_{yyyy}", "a \"b\"; c=\n[d]", 1000, 0));
  g_ptr_array_add(pauses, tide_operator_pause_new(TIDE_SCOPE_TOPIC, "metrics", "", 2000, until_ms));
  g_assert_true(tide_operator_pauses_write(directory, pauses, NULL));
}

TEST("/operator-pauses/watch-follows-the-file")
{
  g_autofree char *directory = new_directory();
  g_autoptr(GPtrArray) none = g_ptr_array_new();
  TidePauseWatch *watch = tide_pause_watch_new(directory);
  g_assert_false(tide_pause_watch_update(watch, 1000)); /* nothing is paused, nor was */
  guint before = tide_pause_watch_generation(watch);
  write_pauses(directory, 5000);
  g_assert_true(tide_pause_watch_update(watch, 3000));
  g_assert_cmpuint(tide_pause_watch_generation(watch), !=, before);
  g_assert_true(tide_pause_watch_has(watch, TIDE_SCOPE_TABLE, "ns:S_{yyyy}"));
  g_assert_true(tide_pause_watch_has(watch, TIDE_SCOPE_TOPIC, "metrics"));
  g_assert_false(tide_pause_watch_has(watch, TIDE_SCOPE_TOPIC, "ns:S_{yyyy}"));
  g_assert_false(tide_pause_watch_has(watch, TIDE_SCOPE_EVERYTHING, ""));
  g_autoptr(GPtrArray) pauses = tide_pause_watch_list(watch);
  g_assert_cmpuint(pauses->len, ==, 2);
  g_autofree char *first = tide_operator_pause_describe(pauses->pdata[0]);
  g_autofree char *second = tide_operator_pause_describe(pauses->pdata[1]);
  g_assert_cmpstr(first, ==, "table 'ns:S_{yyyy}' has been paused since 1970-01-01T00:00:01.000Z (a \"b\"; c=\n[d])");
  g_assert_cmpstr(second, ==,
                  "topic 'metrics' has been paused since 1970-01-01T00:00:02.000Z, until 1970-01-01T00:00:05.000Z");
  before = tide_pause_watch_generation(watch);
  g_assert_false(tide_pause_watch_update(watch, 4999));
  g_assert_cmpuint(tide_pause_watch_generation(watch), ==, before);
  g_assert_true(tide_pause_watch_update(watch, 5000)); /* the end of one */
  g_assert_false(tide_pause_watch_has(watch, TIDE_SCOPE_TOPIC, "metrics"));
  g_assert_true(tide_pause_watch_has(watch, TIDE_SCOPE_TABLE, "ns:S_{yyyy}"));
  g_assert_true(tide_operator_pauses_write(directory, none, NULL));
  g_assert_true(tide_pause_watch_update(watch, 6000));
  g_autoptr(GPtrArray) rest = tide_pause_watch_list(watch);
  g_assert_cmpuint(rest->len, ==, 0);
  tide_pause_watch_free(watch);
  g_assert_cmpint(g_rmdir(directory), ==, 0); /* no file is left */
}

/* What cannot be read is no permission to go on. */
TEST("/operator-pauses/unreadable-file")
{
  static const char *const contents[] = {"junk",
                                         "[everything else]\nsince_ms=1\n",
                                         "[topic]\nsince_ms=1\n",
                                         "[topic t]\nsince_ms=noon\n",
                                         "[topic t]\nsince_ms=1\nuntil_ms=x\n",
                                         ""};
  g_autofree char *directory = new_directory(), *path = g_build_filename(directory, "paused", NULL);
  tide_log_set_level(TIDE_LOG_CRIT);
  for (gsize i = 0; i < G_N_ELEMENTS(contents); i++) {
    g_autoptr(GError) error = NULL;
    TidePauseWatch *running = tide_pause_watch_new(directory), *starting = tide_pause_watch_new(directory);
    write_pauses(directory, 0);
    g_assert_true(tide_pause_watch_update(running, 3000));
    g_assert_true(g_file_set_contents(path, contents[i], -1, NULL));
    g_assert_null(tide_operator_pauses_read(directory, &error));
    g_assert_nonnull(strstr(error->message, path));
    g_assert_false(tide_pause_watch_update(running, 4000));
    g_assert_true(tide_pause_watch_has(running, TIDE_SCOPE_TOPIC, "metrics"));
    g_assert_true(tide_pause_watch_update(starting, 4000));
    g_assert_true(tide_pause_watch_has(starting, TIDE_SCOPE_EVERYTHING, ""));
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_true(tide_pause_watch_update(starting, 5000));
    g_assert_false(tide_pause_watch_has(starting, TIDE_SCOPE_EVERYTHING, ""));
    tide_pause_watch_free(running);
    tide_pause_watch_free(starting);
  }
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(mkfifo(path, 0600), ==, 0); /* whose opening would wait for a writer */
  g_assert_null(tide_operator_pauses_read(directory, &error));
  g_assert_nonnull(strstr(error->message, "it is not a file"));
  g_clear_error(&error);
  /* A directory in its place cannot be replaced, nor removed: a failure of this host, and none of tidemark. */
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
  for (guint n = 0; n < 2; n++) {
    g_autoptr(GPtrArray) pauses = g_ptr_array_new_with_free_func((GDestroyNotify)tide_operator_pause_free);
    if (n > 0)
      g_ptr_array_add(pauses, tide_operator_pause_new(TIDE_SCOPE_EVERYTHING, "", "", 1, 0));
    g_assert_false(tide_operator_pauses_write(directory, pauses, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IO);
    g_assert_nonnull(strstr(error->message, path));
    g_clear_error(&error);
  }
  tide_log_set_level(TIDE_LOG_INFO);
  g_assert_cmpint(g_rmdir(path), ==, 0);
  g_assert_cmpint(g_rmdir(directory), ==, 0);
}
