/* What is told of an error. */
#include "util/error.h"

static void
test_shell_word(void)
{
  static const char *const cases[][2] = {{"/etc/tidemark/a-1_b.yaml", "/etc/tidemark/a-1_b.yaml"},
                                         {"User:meter@SITE.ORG", "User:meter@SITE.ORG"},
                                         {"", "''"},
                                         {"a b", "'a b'"},
                                         {"$(x)", "'$(x)'"},
                                         {"it's", "'it'\\''s'"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *word = tide_shell_word(cases[i][0]);
    g_assert_cmpstr(word, ==, cases[i][1]);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/error/shell-word", test_shell_word);
  return g_test_run();
}
