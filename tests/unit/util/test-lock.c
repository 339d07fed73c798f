/* Locks, conditions and threads. */
#define _GNU_SOURCE
#include "util/clock.h"
#include "util/lock.h"

#include <signal.h>

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
let_go(Shared *shared)
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

static void
test_lock_excludes(void)
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

static void
test_wait_ends_at_a_monotonic_deadline(void)
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

static void
test_broadcast_wakes_all_before_the_deadline(void)
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
  let_go(&shared);
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    tide_thread_join(threads[i]);
  g_assert_cmpint(tide_now_us() - before_us, <, TIMEOUT_US);
  g_assert_cmpuint(shared.n, ==, G_N_ELEMENTS(threads));
  shared_clear(&shared);
}

static void
test_join_gives_up_and_can_be_tried_again(void)
{
  Shared shared;
  shared_init(&shared);
  TideThread *thread = tide_thread_start("wait", wait_for_go, &shared);
  g_assert_false(tide_thread_join_until(thread, tide_now_us() + 10000));
  g_assert_false(tide_thread_join_until(thread, 0));
  let_go(&shared);
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

static void
test_threads_have_names_and_take_no_signals(void)
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

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/lock/excludes", test_lock_excludes);
  g_test_add_func("/cond/wait-ends-at-a-monotonic-deadline", test_wait_ends_at_a_monotonic_deadline);
  g_test_add_func("/cond/broadcast-wakes-all-before-the-deadline", test_broadcast_wakes_all_before_the_deadline);
  g_test_add_func("/thread/join-gives-up-and-can-be-tried-again", test_join_gives_up_and_can_be_tried_again);
  g_test_add_func("/thread/has-a-name-and-takes-no-signals", test_threads_have_names_and_take_no_signals);
  return g_test_run();
}
