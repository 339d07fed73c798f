/* When dead letters are too many, by a clock of the test's own. */
#include "dead_letters/dead_letter_ratio.h"
#include "util/clock.h"

#define WINDOW_MS 60000
#define START_US (1000 * TIDE_US_PER_S)

static gboolean
is_exceeded(const TideDeadLetterRatio *ratio)
{
  TideDeadLetterRatioPart total;
  return tide_dead_letter_ratio_is_exceeded(ratio, &total);
}

static void
add(TideDeadLetterRatio *ratio, gint64 now_us, guint64 received, guint64 written, guint64 dead_letters)
{
  tide_dead_letter_ratio_add(
      ratio, now_us,
      &(TideDeadLetterRatioPart){.received = received, .written = written, .dead_letters = dead_letters});
}

static void
test_above_the_share(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.1, 0);
  add(&ratio, START_US, 2000, 0, 200);
  g_assert_false(is_exceeded(&ratio)); /* just the share is allowed */
  add(&ratio, START_US, 0, 0, 1);
  TideDeadLetterRatioPart total;
  g_assert_true(tide_dead_letter_ratio_is_exceeded(&ratio, &total));
  g_assert_cmpuint(total.received, ==, 2000);
  g_assert_cmpuint(total.dead_letters, ==, 201);
}

static void
test_few_dead_letters_say_nothing(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.1, 0);
  add(&ratio, START_US, 99, 0, 99);
  g_assert_false(is_exceeded(&ratio));
  add(&ratio, START_US, 1, 0, 1);
  g_assert_true(is_exceeded(&ratio));
}

/* Nothing comes any more, and what came before the window is found out now. */
static void
test_dead_letters_of_old_messages(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.1, 0);
  add(&ratio, START_US, 0, 1800, 200);
  g_assert_false(is_exceeded(&ratio));
  add(&ratio, START_US, 0, 0, 1);
  g_assert_true(is_exceeded(&ratio));
}

/* A consumer tells what it received after the dead letters of it. */
static void
test_dead_letters_may_be_ahead_of_their_messages(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.5, 512);
  add(&ratio, START_US, 0, 0, 256);
  g_assert_false(is_exceeded(&ratio));
  add(&ratio, START_US, 0, 0, 1);
  g_assert_true(is_exceeded(&ratio));
}

static void
test_the_window_moves(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.1, 0);
  gint64 part_us = WINDOW_MS * TIDE_US_PER_MS / TIDE_DEAD_LETTER_RATIO_PARTS;
  for (guint i = 0; i < 30; i++) {
    add(&ratio, START_US + i * part_us, 9, 0, 9); /* 9 a part: 108 in a window */
    TideDeadLetterRatioPart total;
    g_assert_cmpint(tide_dead_letter_ratio_is_exceeded(&ratio, &total), ==, i >= 11);
    g_assert_cmpuint(total.dead_letters, ==, 9 * MIN(i + 1, TIDE_DEAD_LETTER_RATIO_PARTS));
  }
  /* A silence of an hour: nothing of it is left. */
  add(&ratio, START_US + 3600 * TIDE_US_PER_S, 1, 0, 1);
  TideDeadLetterRatioPart total;
  g_assert_false(tide_dead_letter_ratio_is_exceeded(&ratio, &total));
  g_assert_cmpuint(total.dead_letters, ==, 1);
}

static void
test_a_share_of_one_is_no_bound(void)
{
  TideDeadLetterRatio ratio;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 1, 0);
  add(&ratio, START_US, 0, 0, 100000);
  g_assert_false(is_exceeded(&ratio));
}

/* As by a reload: what was counted stays, unless the window is another one. */
static void
test_other_bounds(void)
{
  TideDeadLetterRatio ratio;
  TideDeadLetterRatioPart total;
  tide_dead_letter_ratio_init(&ratio, WINDOW_MS, 0.1, 0);
  add(&ratio, START_US, 400, 0, 200);
  g_assert_true(tide_dead_letter_ratio_is_exceeded(&ratio, &total));
  tide_dead_letter_ratio_set_bounds(&ratio, WINDOW_MS, 0.6);
  g_assert_false(is_exceeded(&ratio));
  g_assert_false(tide_dead_letter_ratio_is_above(&ratio, &total));
  tide_dead_letter_ratio_set_bounds(&ratio, WINDOW_MS, 0.2);
  g_assert_true(is_exceeded(&ratio));
  tide_dead_letter_ratio_set_bounds(&ratio, 2 * WINDOW_MS, 0.2);
  g_assert_false(is_exceeded(&ratio));
  g_assert_true(tide_dead_letter_ratio_is_above(&ratio, &total));
  add(&ratio, START_US, 400, 0, 200);
  g_assert_true(is_exceeded(&ratio));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dead-letter-ratio/above-the-share", test_above_the_share);
  g_test_add_func("/dead-letter-ratio/few-dead-letters-say-nothing", test_few_dead_letters_say_nothing);
  g_test_add_func("/dead-letter-ratio/dead-letters-of-old-messages", test_dead_letters_of_old_messages);
  g_test_add_func("/dead-letter-ratio/dead-letters-may-be-ahead-of-their-messages",
                  test_dead_letters_may_be_ahead_of_their_messages);
  g_test_add_func("/dead-letter-ratio/the-window-moves", test_the_window_moves);
  g_test_add_func("/dead-letter-ratio/a-share-of-one-is-no-bound", test_a_share_of_one_is_no_bound);
  g_test_add_func("/dead-letter-ratio/other-bounds", test_other_bounds);
  return g_test_run();
}
