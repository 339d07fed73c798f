/* A wall clock that a test sets, linked into a build of the program, because the real clock belongs to the host.
 *
 * The file that $TIDE_CLOCK_FILE names holds one number of the machine, how many nanoseconds the program's wall clock
 * is ahead of the real one. It is mapped, so a test sets the clock of a running program by writing there. What an
 * executable defines comes before the C library's, so GLib and librdkafka see this clock, too.
 *
 * A wait until a moment of the wall clock is prolonged when the clock is set back during the wait, as by the kernel,
 * which compares the deadline with the clock as it is then. A clock that is set forward does not end a wait here. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

G_STATIC_ASSERT(sizeof(mtx_t) >= sizeof(pthread_mutex_t));
G_STATIC_ASSERT(sizeof(cnd_t) >= sizeof(pthread_cond_t));

static _Atomic gint64 unset;
static _Atomic gint64 *ahead_ns = &unset;

__attribute__((constructor)) static void
map_clock(void)
{
  const char *path = getenv("TIDE_CLOCK_FILE");
  int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0)
    return;
  void *mapped = mmap(NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    abort();
  ahead_ns = mapped;
  close(fd);
}

/* Nanoseconds, of the kernel's clock. */
static gint64
read_clock(clockid_t clock)
{
  struct timespec at = {0};
  (void)syscall(SYS_clock_gettime, clock, &at);
  return at.tv_sec * NS_PER_S + at.tv_nsec;
}

static gint64
read_wall_clock(void)
{
  return read_clock(CLOCK_REALTIME) + atomic_load(ahead_ns);
}

static struct timespec
timespec_of(gint64 ns)
{
  return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

int
clock_gettime(clockid_t clock, struct timespec *ret_at)
{
  long result = syscall(SYS_clock_gettime, clock, ret_at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *ret_at = timespec_of(read_wall_clock());
  return (int)result;
}

int
gettimeofday(struct timeval *restrict ret_at, void *restrict zone)
{
  struct timespec at = timespec_of(read_wall_clock());
  *ret_at = (struct timeval){.tv_sec = at.tv_sec, .tv_usec = at.tv_nsec / 1000};
  return 0;
}

time_t
time(time_t *ret_at)
{
  time_t at = (time_t)(read_wall_clock() / NS_PER_S);
  if (ret_at != NULL)
    *ret_at = at;
  return at;
}

int
timespec_get(struct timespec *ret_at, int base)
{
  *ret_at = timespec_of(read_wall_clock());
  return base;
}

int
cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
  gint64 deadline_ns = deadline->tv_sec * NS_PER_S + deadline->tv_nsec, left_ns;
  while ((left_ns = deadline_ns - read_wall_clock()) > 0) {
    struct timespec until = timespec_of(read_clock(CLOCK_MONOTONIC) + left_ns);
    int error = pthread_cond_clockwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, CLOCK_MONOTONIC, &until);
    if (error != ETIMEDOUT)
      return error == 0 ? thrd_success : thrd_error;
  }
  return thrd_timedout;
}
