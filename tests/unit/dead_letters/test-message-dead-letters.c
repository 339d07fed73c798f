/* Messages of which rows were refused: one dead letter in all, and every acknowledgement settled once. */
#include "dead_letters/dead_letter_reasons.h"
#include "dead_letters/message_dead_letters.h"
#include "util/clock.h"

/* The dead letter of @sequence is kept. Returns: what that settles. */
static guint32
keep_dead_letter(TideMessageDeadLetters *dead_letters, guint32 sequence, const char *reason, guint32 n_acks)
{
  TideDeadLetter dead_letter = {.reason = tide_bytes_of_string(reason), .reading_index = -1};
  TideDeadLetterJob *job = tide_dead_letter_job_new(&dead_letter, (TideSourceRef){.sequence = sequence}, n_acks, NULL);
  guint32 n_settled = tide_message_dead_letters_kept(dead_letters, job);
  tide_dead_letter_job_free(job);
  return n_settled;
}

static guint32
keep_refused(TideMessageDeadLetters *dead_letters, guint32 sequence, guint32 n_acks)
{
  return keep_dead_letter(dead_letters, sequence, TIDE_DEAD_LETTER_REASON_REFUSED, n_acks);
}

static void
test_one_dead_letter_settles_all_rows_of_a_message(void)
{
  TideMessageDeadLetters dead_letters = {0};
  guint32 n_acks = 99;
  g_assert_true(tide_message_dead_letters_add_refused(&dead_letters, 7, 2, &n_acks));
  g_assert_cmpuint(n_acks, ==, 0);
  g_assert_false(tide_message_dead_letters_add_refused(&dead_letters, 7, 1, &n_acks));
  g_assert_cmpuint(n_acks, ==, 0);
  g_assert_false(tide_message_dead_letters_add_refused(&dead_letters, 7, 3, &n_acks));
  g_assert_cmpuint(keep_refused(&dead_letters, 7, 2), ==, 6);
  /* What is refused later finds it dead. */
  g_assert_false(tide_message_dead_letters_add_refused(&dead_letters, 7, 4, &n_acks));
  g_assert_cmpuint(n_acks, ==, 4);
  TideDeadLetterEnd end;
  g_assert_true(tide_message_dead_letters_end(&dead_letters, 7, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_DEAD_LETTER_REFUSED);
  g_assert_true(end.whole);
  g_assert_false(tide_message_dead_letters_end(&dead_letters, 7, &end));
  g_assert_cmpuint(tide_message_dead_letters_memory_bytes(&dead_letters), ==, 0);
  tide_message_dead_letters_clear(&dead_letters);
}

/* The dead letters of readings that were left out are their own; a refused row makes one more, of the whole message. */
static void
test_refused_row_beside_rejected_readings(void)
{
  TideMessageDeadLetters dead_letters = {0};
  guint32 n_acks;
  tide_message_dead_letters_add_rejected(&dead_letters, 5, TIDE_REJECT_TYPE, 1);
  tide_message_dead_letters_add_rejected(&dead_letters, 5, TIDE_REJECT_NUMBER, 1);
  g_assert_true(tide_message_dead_letters_add_refused(&dead_letters, 5, 1, &n_acks));
  g_assert_cmpuint(keep_dead_letter(&dead_letters, 5, "type", 1), ==, 1);
  g_assert_cmpuint(keep_refused(&dead_letters, 5, 1), ==, 1);
  TideDeadLetterEnd end;
  g_assert_true(tide_message_dead_letters_end(&dead_letters, 5, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_DEAD_LETTER_REFUSED);
  g_assert_true(end.whole);
  tide_message_dead_letters_clear(&dead_letters);
}

static void
test_rejected_readings_alone_end_in_part(void)
{
  TideMessageDeadLetters dead_letters = {0};
  tide_message_dead_letters_add_rejected(&dead_letters, 1, TIDE_REJECT_TYPE, 2);
  g_assert_cmpuint(keep_dead_letter(&dead_letters, 1, "type", 1), ==, 1);
  TideDeadLetterEnd end;
  g_assert_true(tide_message_dead_letters_end(&dead_letters, 1, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_REJECT_TYPE);
  g_assert_false(end.whole);
  g_assert_cmpuint(end.n_readings, ==, 2);
  tide_message_dead_letters_clear(&dead_letters);
}

/* The accounting names the first reason of a message. */
static void
test_first_reason_of_several(void)
{
  TideMessageDeadLetters dead_letters = {0};
  TideDeadLetterEnd end;
  tide_message_dead_letters_add_rejected(&dead_letters, 5, TIDE_REJECT_TYPE, 1);
  tide_message_dead_letters_add_rejected(&dead_letters, 5, TIDE_REJECT_NUMBER, 2);
  g_assert_true(tide_message_dead_letters_end(&dead_letters, 5, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_REJECT_TYPE);
  g_assert_cmpuint(end.n_readings, ==, 3);
  g_assert_false(end.whole);
  tide_message_dead_letters_clear(&dead_letters);
}

/* docs/dead-letters.md has a row for each reason, in their order, and for nothing else. */
static void
test_every_reason_is_documented(void)
{
  g_autofree char *path = g_build_filename(TIDE_TEST_SOURCE_DIR, "docs", "dead-letters.md", NULL);
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  char *at = strstr(text, "<!-- reasons: begin -->\n");
  char *end = strstr(text, "<!-- reasons: end -->\n");
  g_assert_true(at != NULL && end != NULL);
  *end = '\0';
  for (guint i = TIDE_REJECT_NONE + 1; i < TIDE_DEAD_LETTER_N_REASONS; i++) {
    at = strstr(at, "\n| `");
    g_assert_nonnull(at);
    at += strlen("\n| `");
    g_autofree char *wanted = g_strconcat(tide_dead_letter_reason_name(i), "` | ", NULL);
    g_assert_cmpint(strncmp(at, wanted, strlen(wanted)), ==, 0);
  }
  g_assert_null(strstr(at, "\n| `"));
}

/* The status says since when and how long a reason has made dead letters. */
static void
test_first_and_last_of_a_reason(void)
{
  const TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("m"), .reason = TIDE_BYTES_LITERAL("parse")};
  gint64 first_ms[2];
  TideMetrics *metrics = tide_metrics_new();
  TideDeadLetterReasons *reasons = tide_dead_letter_reasons_new(metrics);
  tide_dead_letter_reasons_note_come(reasons, &dead_letter);
  for (guint i = 0; i < 2; i++) {
    tide_dead_letter_reasons_note_kept(reasons, &dead_letter);
    TideDeadLettersView view = tide_dead_letter_reasons_view(reasons);
    g_assert_cmpint(view.kept, ==, i + 1);
    const TideDeadLetterReasonView *first = &g_array_index(view.reasons, TideDeadLetterReasonView, 0);
    first_ms[i] = first->first_ms;
    g_assert_cmpint(first->last_ms > first->first_ms, ==, i > 0);
    g_array_unref(view.reasons);
    g_array_unref(view.recent);
    while (tide_wall_clock_epoch_ms() <= first_ms[i])
      g_thread_yield();
  }
  g_assert_cmpint(first_ms[1], ==, first_ms[0]);
  tide_dead_letter_reasons_free(reasons);
  tide_metrics_free(metrics);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/message-dead-letters/every-reason-is-documented", test_every_reason_is_documented);
  g_test_add_func("/message-dead-letters/first-and-last-of-a-reason", test_first_and_last_of_a_reason);
  g_test_add_func("/message-dead-letters/first-reason-of-several", test_first_reason_of_several);
  g_test_add_func("/message-dead-letters/one-dead-letter-settles-all-rows-of-a-message",
                  test_one_dead_letter_settles_all_rows_of_a_message);
  g_test_add_func("/message-dead-letters/refused-row-beside-rejected-readings",
                  test_refused_row_beside_rejected_readings);
  g_test_add_func("/message-dead-letters/rejected-readings-alone-end-in-part",
                  test_rejected_readings_alone_end_in_part);
  return g_test_run();
}
