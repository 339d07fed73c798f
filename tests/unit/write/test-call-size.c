/* What is found out of how large a call may be, and what is said of it. */
#include "write/call_size.h"

#include "util/clock.h"

#define LONG_US (601 * TIDE_US_PER_S)

static void
test_what_is_taken_is_known_of_one_gateway_for_a_while(void)
{
  TideCallSizes sizes;
  tide_call_sizes_init(&sizes);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, 1), ==, G_MAXSIZE);
  tide_call_sizes_note_taken(&sizes, 3, 1000, 1);
  tide_call_sizes_note_taken(&sizes, 3, 2000, 2);
  tide_call_sizes_note_taken(&sizes, 3, 500, 3);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, 4), ==, 2000);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 2, 4), ==, G_MAXSIZE);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, LONG_US), ==, G_MAXSIZE);
  tide_call_sizes_note_taken(&sizes, 3, 700, LONG_US);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, LONG_US), ==, 700);
  tide_call_sizes_clear(&sizes);
}

static void
test_what_is_cut_off_is_not_known_to_be_taken(void)
{
  TideCallSizes sizes;
  tide_call_sizes_init(&sizes);
  tide_call_sizes_note_cut(&sizes, 0, 1000);
  tide_call_sizes_note_taken(&sizes, 0, 1000, 1);
  tide_call_sizes_note_cut(&sizes, 1, 1000);
  tide_call_sizes_note_cut(&sizes, 0, 1001);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 2), ==, 1000);
  tide_call_sizes_note_cut(&sizes, 0, 1000);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 2), ==, G_MAXSIZE);
  tide_call_sizes_note_taken(&sizes, 0, 400, 3);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 4), ==, 400);
  tide_call_sizes_clear(&sizes);
}

/* Three calls, of which the second is within ten minutes of the first. */
static void
say_it(const char *reason)
{
  TideLogLimit limit = {0};
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_WARNING);
  tide_call_size_log(&limit, 12, "METRIC", reason, 1);
  tide_call_size_log(&limit, 34, "METRIC", reason, 2);
  tide_call_size_log(&limit, 56, "METRIC", reason, LONG_US);
}

static void
assert_said(const char *reason)
{
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed();
  const guint n_rows[] = {12, 56};
  for (guint i = 0; i < G_N_ELEMENTS(n_rows); i++) {
    g_autofree char *line =
        g_strdup_printf("*a call of %u rows to 'METRIC' is sent in smaller ones: %s*", n_rows[i], reason);
    g_test_trap_assert_stderr(line);
  }
  g_test_trap_assert_stderr("*(1 such calls not logged)*");
  g_test_trap_assert_stderr_unmatched("*34 rows*");
}

static void
test_the_reason_is_said(void)
{
  if (g_test_subprocess())
    say_it("gateway 'g' takes no more");
  else
    assert_said("gateway 'g' takes no more");
}

static void
test_without_a_reason_it_was_cut_off(void)
{
  if (g_test_subprocess())
    say_it(NULL);
  else
    assert_said("it was cut off again and again, as by a proxy with a limit for requests: raise that, or lower "
                "'batch.max_bytes'");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/call-size/what-is-taken-is-known-of-one-gateway-for-a-while",
                  test_what_is_taken_is_known_of_one_gateway_for_a_while);
  g_test_add_func("/call-size/what-is-cut-off-is-not-known-to-be-taken", test_what_is_cut_off_is_not_known_to_be_taken);
  g_test_add_func("/call-size/the-reason-is-said", test_the_reason_is_said);
  g_test_add_func("/call-size/without-a-reason-it-was-cut-off", test_without_a_reason_it_was_cut_off);
  return g_test_run();
}
