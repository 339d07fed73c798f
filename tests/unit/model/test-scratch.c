/* Memory for the time of a message: stays where it is, and is used again. */
#include "model/scratch.h"
#include "unit/allocation_counter.h"

static void
test_what_was_taken_stays_until_reset(void)
{
  enum { N = 1000 };
  g_auto(TideScratch) scratch = {0};
  for (guint round = 0; round < 3; round++) {
    guint8 *taken[N];
    for (guint i = 0; i < N; i++) {
      taken[i] = tide_scratch_take(&scratch, i);
      g_assert_cmpuint((guintptr)taken[i] % 8, ==, 0);
      memset(taken[i], (int)(i & 255), i);
    }
    for (guint i = 0; i < N; i++)
      for (guint byte = 0; byte < i; byte++)
        g_assert_cmpuint(taken[i][byte], ==, i & 255);
    tide_scratch_reset(&scratch);
  }
}

static void
test_a_copy_is_equal_and_its_own(void)
{
  g_auto(TideScratch) scratch = {0};
  char text[] = "a\0b";
  TideBytes copy = tide_scratch_copy(&scratch, tide_bytes(text, sizeof text));
  g_assert_true(tide_bytes_equal(copy, tide_bytes(text, sizeof text)));
  text[0] = 'x';
  g_assert_cmpuint(copy.data[0], ==, 'a');
  g_assert_cmpuint(tide_scratch_copy(&scratch, TIDE_BYTES_EMPTY).len, ==, 0);
}

/* Blocks of 8 and 16 KiB at first, which together hold more than the larger one; then one of 32 KiB, for good. */
static void
test_messages_of_one_size_soon_allocate_nothing(void)
{
  g_auto(TideScratch) scratch = {0};
  guint64 before = 0;
  for (guint round = 0; round < 100; round++) {
    if (round == 2)
      before = allocation_count;
    tide_scratch_reset(&scratch);
    tide_scratch_take(&scratch, 8000);
    for (guint i = 0; i < 12; i++)
      tide_scratch_take(&scratch, 1000);
  }
  g_assert_cmpuint(allocation_count - before, ==, 0);
  if (!ALLOCATION_COUNTER_WORKS)
    g_test_skip("the sanitizer brings its own allocator");
}

/* In a block that had room for it, in a larger one, and behind all that came later. */
static void
test_the_first_is_known(void)
{
  g_auto(TideScratch) scratch = {0};
  g_assert_null(tide_scratch_first(&scratch));
  for (gsize len = 100; len < 10000000; len *= 10) {
    tide_scratch_reset(&scratch);
    void *first = tide_scratch_take(&scratch, len);
    g_assert_true(tide_scratch_first(&scratch) == first);
    for (guint i = 0; i < 20; i++)
      memset(tide_scratch_take(&scratch, len / 10), 1, len / 10);
    g_assert_true(tide_scratch_first(&scratch) == first);
  }
}

int
main(int argc, char *argv[])
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/scratch/what-was-taken-stays-until-reset", test_what_was_taken_stays_until_reset);
  g_test_add_func("/scratch/the-first-is-known", test_the_first_is_known);
  g_test_add_func("/scratch/a-copy-is-equal-and-its-own", test_a_copy_is_equal_and_its_own);
  g_test_add_func("/scratch/messages-of-one-size-soon-allocate-nothing",
                  test_messages_of_one_size_soon_allocate_nothing);
  return g_test_run();
}
