/* Which topics an item of kafka.topics means: the pattern language is librdkafka's, not that of GLib. */
#include "config/topic_pattern.h"

static void
test_matches(void)
{
  static const struct {
    const char *wanted;
    const char *name;
    gboolean matches;
  } cases[] = {
      {"metrics", "metrics", TRUE},
      {"metrics", "metrics.more", FALSE},
      {"m.trics", "metrics", FALSE}, /* a name is no pattern */
      {"^metrics", "metrics.more", TRUE},
      {"^metrics$", "metrics.more", FALSE},
      {"^metrics", "more.metrics", FALSE},
      {"^(a|b)[[:digit:]]+$", "b17", TRUE},
      {"^a{2}$", "aa", TRUE},
      {"^a\\d$", "a1", FALSE}, /* Perl's, not POSIX's */
      {"^(", "(", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("'%s' and '%s'", cases[i].wanted, cases[i].name);
    g_assert_cmpint(tide_topic_pattern_matches(cases[i].wanted, cases[i].name), ==, cases[i].matches);
  }
}

static void
test_any(void)
{
  char *wanted[] = {(char *)"^(", (char *)"a", (char *)"^b", NULL}, *none[] = {NULL};
  g_assert_true(tide_topic_pattern_any_matches(wanted, "a"));
  g_assert_true(tide_topic_pattern_any_matches(wanted, "bb"));
  g_assert_false(tide_topic_pattern_any_matches(wanted, "c"));
  g_assert_false(tide_topic_pattern_any_matches(none, "a"));
}

static void
test_problem(void)
{
  g_autofree char *problem = tide_topic_pattern_problem("^(");
  g_assert_nonnull(problem);
  g_assert_null(tide_topic_pattern_problem("^(a)"));
  g_assert_null(tide_topic_pattern_problem("("));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/topic-pattern/matches-as-librdkafka-does", test_matches);
  g_test_add_func("/topic-pattern/one-of-several", test_any);
  g_test_add_func("/topic-pattern/one-that-cannot-be-read", test_problem);
  return g_test_run();
}
