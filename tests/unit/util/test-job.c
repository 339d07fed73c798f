/* Jobs that are waited for, and jobs that are left behind. */
#include "util/clock.h"
#include "util/job.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

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
let_go(const World *world, guint n_jobs)
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

static void
test_waited_for(void)
{
  World world = world_new();
  TideJob *job = start(&world, 41);
  g_assert_nonnull(job);
  let_go(&world, 1);
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
static void
test_abandoned(void)
{
  World world = world_new();
  for (guint i = 0; i < 3; i++) {
    TideJob *job = start(&world, i);
    g_assert_false(tide_job_wait(job, tide_now_us() + i, NULL));
    tide_job_abandon(job);
    g_assert_cmpuint(tide_job_reap(&kind), ==, i + 1);
  }
  g_assert_cmpuint(world.n_freed, ==, 0);
  let_go(&world, 1);
  gint64 deadline_us = tide_now_us() + GENEROUS_US;
  while (tide_job_reap(&kind) > 2 && tide_now_us() < deadline_us)
    g_thread_yield();
  g_assert_cmpuint(world.n_freed, ==, 1);
  let_go(&world, 2);
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

static void
test_cancelled(void)
{
  World world = world_new();
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  TideJob *job = start(&world, 1);
  TideThread *thread = tide_thread_start("test-cancel", cancel, cancellable);
  gint64 begun_us = tide_now_us();
  g_assert_false(tide_job_wait(job, begun_us + GENEROUS_US, cancellable));
  g_assert_cmpint(tide_now_us() - begun_us, <, GENEROUS_US);
  tide_thread_join(thread);
  let_go(&world, 1);
  free_data(tide_job_take(job));
  close(world.gate_fd);
}

static void
test_no_descriptor(void)
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/job/waited-for", test_waited_for);
  g_test_add_func("/job/abandoned", test_abandoned);
  g_test_add_func("/job/cancelled", test_cancelled);
  g_test_add_func("/job/no-descriptor", test_no_descriptor);
  return g_test_run();
}
