#include "unit/test_case.h"

static TestCase *first;

/* In the order of their lines, because a compiler may put constructors in another one. */
void
test_case_list(TestCase *test_case)
{
  TestCase **at = &first;
  while (*at != NULL && (*at)->line < test_case->line)
    at = &(*at)->next;
  test_case->next = *at;
  *at = test_case;
}

void
test_cases_add(void)
{
  for (const TestCase *at = first; at != NULL; at = at->next)
    at->add();
}

void
test_case_add_each(const char *prefix, gconstpointer rows, gsize row_bytes, gsize n_rows, GTestDataFunc test)
{
  for (gsize i = 0; i < n_rows; i++) {
    const char *const *name = (gconstpointer)((const guint8 *)rows + i * row_bytes);
    g_autofree char *path = g_strconcat(prefix, *name, NULL);
    g_test_add_data_func(path, name, test);
  }
}

/* Of the programs whose rig has no other. */
__attribute__((weak)) void
test_program_begin(void)
{
}

/* Of the programs that need no other. */
__attribute__((weak)) int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_program_begin();
  test_cases_add();
  return g_test_run();
}
