/* What is found out of how large a call may be, and what is said of it. */
#include "write/call_size.h"

#include "util/clock.h"

#define LONG_US (601 * TIDE_US_PER_S)

#define KIB ((gsize)1024)

static void
cut_three_times(TideCallSizes *sizes, guint32 gateway, gsize n_bytes, gint64 now_us)
{
  g_assert_false(tide_call_sizes_note_cut(sizes, gateway, n_bytes, now_us));
  g_assert_false(tide_call_sizes_note_cut(sizes, gateway, n_bytes, now_us));
  g_assert_cmpuint(tide_call_sizes_most(sizes, gateway, now_us), ==, G_MAXSIZE);
  g_assert_true(tide_call_sizes_note_cut(sizes, gateway, n_bytes, now_us));
}

static void
test_size_is_known_of_one_gateway_for_a_while(void)
{
  TideCallSizes sizes;
  tide_call_sizes_init(&sizes);
  tide_call_sizes_note_taken(&sizes, 3, 100u * KIB, 1);
  cut_three_times(&sizes, 3, 1000u * KIB, 1);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, 1), ==, G_MAXSIZE); /* it is not said that anything is taken */
  tide_call_sizes_note_taken(&sizes, 3, 600u * KIB, 1);
  tide_call_sizes_note_taken(&sizes, 3, 900u * KIB, 2);
  tide_call_sizes_note_taken(&sizes, 3, 1, 3);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, 4), ==, 900u * KIB);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 2, 4), ==, G_MAXSIZE);
  /* One is tried whole then, and not before it is cut off again is anything believed. */
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, LONG_US), ==, G_MAXSIZE);
  tide_call_sizes_note_taken(&sizes, 3, 700u * KIB, LONG_US);
  tide_call_sizes_note_taken(&sizes, 3, 700u * KIB, LONG_US);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, LONG_US), ==, G_MAXSIZE);
  g_assert_true(tide_call_sizes_note_cut(&sizes, 3, 1000u * KIB, LONG_US));
  tide_call_sizes_note_taken(&sizes, 3, 700u * KIB, LONG_US);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 3, LONG_US), ==, 700u * KIB);
  tide_call_sizes_clear(&sizes);
}

/* What happens to be taken first may be tiny: then half of what was cut off is tried, and half of that. */
static void
test_small_call_makes_no_small_limit(void)
{
  TideCallSizes sizes;
  tide_call_sizes_init(&sizes);
  cut_three_times(&sizes, 0, 400u * KIB, 1);
  tide_call_sizes_note_taken(&sizes, 0, 500, 1);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 1), ==, 200u * KIB);
  g_assert_true(tide_call_sizes_note_cut(&sizes, 0, 200u * KIB, 2));
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 2), ==, G_MAXSIZE);
  tide_call_sizes_note_taken(&sizes, 0, 500, 3);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 3), ==, 100u * KIB);
  cut_three_times(&sizes, 1, 20u * KIB, 1);
  tide_call_sizes_note_taken(&sizes, 1, 500, 1);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 1, 1), ==, TIDE_CUT_LEAST_BYTES);
  tide_call_sizes_clear(&sizes);
}

/* A gateway that restarts cuts off, too, and takes as much afterwards. */
static void
test_what_is_taken_after_all_was_not_cut_for_its_size(void)
{
  TideCallSizes sizes;
  tide_call_sizes_init(&sizes);
  cut_three_times(&sizes, 0, 400u * KIB, 1);
  tide_call_sizes_note_taken(&sizes, 0, 400u * KIB, 1);
  tide_call_sizes_note_taken(&sizes, 0, 300u * KIB, 1);
  g_assert_cmpuint(tide_call_sizes_most(&sizes, 0, 1), ==, G_MAXSIZE);
  cut_three_times(&sizes, 0, 500u * KIB, 2);
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
  g_test_add_func("/call-size/size-is-known-of-one-gateway-for-a-while", test_size_is_known_of_one_gateway_for_a_while);
  g_test_add_func("/call-size/small-call-makes-no-small-limit", test_small_call_makes_no_small_limit);
  g_test_add_func("/call-size/what-is-taken-after-all-was-not-cut-for-its-size",
                  test_what_is_taken_after_all_was_not_cut_for_its_size);
  g_test_add_func("/call-size/the-reason-is-said", test_the_reason_is_said);
  g_test_add_func("/call-size/without-a-reason-it-was-cut-off", test_without_a_reason_it_was_cut_off);
  return g_test_run();
}
