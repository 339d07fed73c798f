#include "util/backoff.h"

#define MIN_US 100
#define MAX_US 1000

static void
test_doubles_up_to_the_bound(void)
{
  static const struct {
    guint32 n_failures;
    gint64 bound_us;
  } cases[] = {{0, 100}, {1, 100}, {2, 200}, {3, 400}, {4, 800}, {5, 1000}, {6, 1000}, {G_MAXUINT32, 1000}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint64 least_us = G_MAXINT64, most_us = 0;
    for (int n = 0; n < 2000; n++) {
      gint64 pause_us = tide_backoff_us(cases[i].n_failures, MIN_US, MAX_US);
      least_us = MIN(least_us, pause_us);
      most_us = MAX(most_us, pause_us);
    }
    g_assert_cmpint(least_us, >=, cases[i].bound_us / 2);
    g_assert_cmpint(most_us, <=, cases[i].bound_us);
    g_assert_cmpint(most_us - least_us, >, cases[i].bound_us / 4); /* drawn */
  }
}

static void
test_a_great_bound_does_not_overflow(void)
{
  gint64 pause_us = tide_backoff_us(G_MAXUINT32, 1, G_MAXINT64 / 2);
  g_assert_cmpint(pause_us, >=, G_MAXINT64 / 4 - 1);
  g_assert_cmpint(pause_us, <=, G_MAXINT64 / 2);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/backoff/doubles-up-to-the-bound", test_doubles_up_to_the_bound);
  g_test_add_func("/backoff/a-great-bound-does-not-overflow", test_a_great_bound_does_not_overflow);
  return g_test_run();
}
