/* Messages of which rows were refused: one letter on its way at a time, one in all, and every acknowledgement settled.
 */
#include "flow/message_letters.h"

static TideLetterJob *
refused_row_job(guint32 sequence, const char *table, const char *row_key, gboolean must_try, guint32 n_acks)
{
  TideLetter letter = {.table = tide_bytes_of_string(table),
                       .row_key = tide_bytes_of_string(row_key),
                       .reason = TIDE_BYTES_LITERAL(TIDE_LETTER_REASON_REFUSED),
                       .reading_index = -1};
  TideLetterJob *job = tide_letter_job_new(&letter, (TideSourceRef){.sequence = sequence}, n_acks, NULL);
  job->must_read = TRUE;
  job->must_try = must_try;
  return job;
}

static TideLetterJob *
refused_job(guint32 sequence, const char *table, gboolean must_try, guint32 n_acks)
{
  return refused_row_job(sequence, table, "row", must_try, n_acks);
}

/* @job comes home. Returns what is to be submitted next. */
static TideLetterJob *
come_home(TideMessageLetters *letters, TideLetterJob *job, TideLetterResult result, guint32 *ret_n_acks)
{
  job->result = result;
  job->must_read = FALSE; /* the letters have read it */
  TideLetterJob *next = tide_message_letters_came_home(letters, job, ret_n_acks);
  tide_letter_job_free(job);
  return next;
}

static void
test_one_letter_settles_all_rows_of_a_message(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks = 99;
  TideLetterJob *first = tide_message_letters_add_refused(&letters, refused_job(7, "METRIC", FALSE, 2), &n_acks);
  g_assert_nonnull(first);
  g_assert_cmpuint(n_acks, ==, 0);
  gsize before = tide_message_letters_memory_bytes(&letters);
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(7, "CURRENT", TRUE, 1), &n_acks));
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(7, "CURRENT", TRUE, 3), &n_acks));
  g_assert_cmpuint(n_acks, ==, 0);
  g_assert_cmpuint(tide_message_letters_memory_bytes(&letters), >, before);
  g_assert_null(come_home(&letters, first, TIDE_LETTER_KEPT, &n_acks));
  g_assert_cmpuint(n_acks, ==, 6);
  g_assert_cmpuint(tide_message_letters_memory_bytes(&letters), ==, before);
  /* What is refused later finds it dead. */
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(7, "INDEX", FALSE, 4), &n_acks));
  g_assert_cmpuint(n_acks, ==, 4);
  TideLetterEnd end;
  g_assert_true(tide_message_letters_end(&letters, 7, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_LETTER_REFUSED);
  g_assert_true(end.whole);
  g_assert_false(tide_message_letters_end(&letters, 7, &end));
  tide_message_letters_clear(&letters);
}

static void
test_innocent_in_one_row_may_be_guilty_of_another(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks;
  TideLetterJob *tried = tide_message_letters_add_refused(&letters, refused_job(3, "CURRENT", TRUE, 2), &n_acks);
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(3, "METRIC", TRUE, 1), &n_acks));
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(3, "METRIC", FALSE, 1), &n_acks));
  TideLetterJob *next = come_home(&letters, tried, TIDE_LETTER_INNOCENT, &n_acks);
  g_assert_cmpuint(n_acks, ==, 2);
  g_assert_nonnull(next);
  g_assert_false(next->must_try); /* of the two rows, one is the message's alone */
  g_assert_cmpuint(next->n_acks, ==, 2);
  g_assert_null(come_home(&letters, next, TIDE_LETTER_KEPT, &n_acks));
  g_assert_cmpuint(n_acks, ==, 2);
  TideLetterEnd end;
  g_assert_true(tide_message_letters_end(&letters, 3, &end));
  tide_message_letters_clear(&letters);
}

/* A trial writes one row: a message that is innocent in it has its other rows of that table tried, too. */
static void
test_f1_each_row_of_a_table_has_its_own_trial(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks;
  TideLetterJob *job = tide_message_letters_add_refused(&letters, refused_row_job(4, "T", "a", TRUE, 1), &n_acks);
  g_assert_null(tide_message_letters_add_refused(&letters, refused_row_job(4, "T", "b", TRUE, 2), &n_acks));
  g_assert_null(tide_message_letters_add_refused(&letters, refused_row_job(4, "T", "c", TRUE, 3), &n_acks));
  g_assert_null(tide_message_letters_add_refused(&letters, refused_row_job(4, "T", "b", TRUE, 4), &n_acks));
  job = come_home(&letters, job, TIDE_LETTER_INNOCENT, &n_acks);
  g_assert_true(tide_bytes_equal(job->letter.row_key, TIDE_BYTES_LITERAL("b")));
  g_assert_cmpuint(job->n_acks, ==, 6); /* two parts in one row */
  job = come_home(&letters, job, TIDE_LETTER_INNOCENT, &n_acks);
  g_assert_true(tide_bytes_equal(job->letter.row_key, TIDE_BYTES_LITERAL("c")));
  g_assert_null(come_home(&letters, job, TIDE_LETTER_INNOCENT, &n_acks));
  g_assert_cmpuint(n_acks, ==, 3);
  TideLetterEnd end;
  g_assert_false(tide_message_letters_end(&letters, 4, &end));
  tide_message_letters_clear(&letters);
}

static void
test_innocent_message_ends_without_a_letter(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks;
  TideLetterJob *job = tide_message_letters_add_refused(&letters, refused_job(1, "CURRENT", TRUE, 1), &n_acks);
  g_assert_null(come_home(&letters, job, TIDE_LETTER_INNOCENT, &n_acks));
  g_assert_cmpuint(n_acks, ==, 1);
  TideLetterEnd end;
  g_assert_false(tide_message_letters_end(&letters, 1, &end));
  g_assert_cmpuint(tide_message_letters_memory_bytes(&letters), ==, 0);
  tide_message_letters_clear(&letters);
}

/* The letters of readings that were left out are their own; a refused row makes one more, of the whole message. */
static void
test_refused_row_beside_rejected_readings(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks;
  tide_message_letters_add_rejected(&letters, 5, TIDE_REJECT_TYPE, 1);
  tide_message_letters_add_rejected(&letters, 5, TIDE_REJECT_NUMBER, 1);
  TideLetterJob *refused = tide_message_letters_add_refused(&letters, refused_job(5, "METRIC", FALSE, 1), &n_acks);
  g_assert_nonnull(refused);
  TideLetterJob *rejected = refused_job(5, "", FALSE, 1);
  rejected->letter.reason = TIDE_BYTES_LITERAL("type");
  g_assert_null(come_home(&letters, rejected, TIDE_LETTER_KEPT, &n_acks));
  g_assert_cmpuint(n_acks, ==, 1);
  g_assert_null(come_home(&letters, refused, TIDE_LETTER_KEPT, &n_acks));
  TideLetterEnd end;
  g_assert_true(tide_message_letters_end(&letters, 5, &end));
  g_assert_cmpuint(end.reason, ==, TIDE_LETTER_REFUSED);
  g_assert_true(end.whole);
  tide_message_letters_clear(&letters);
}

static void
test_what_waits_goes_with_the_assignment(void)
{
  TideMessageLetters letters = {0};
  guint32 n_acks;
  TideLetterJob *job = tide_message_letters_add_refused(&letters, refused_job(1, "METRIC", FALSE, 1), &n_acks);
  g_assert_null(tide_message_letters_add_refused(&letters, refused_job(1, "CURRENT", FALSE, 1), &n_acks));
  tide_message_letters_clear(&letters);
  g_assert_cmpuint(tide_message_letters_memory_bytes(&letters), ==, 0);
  tide_letter_job_free(job);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/message-letters/one-letter-settles-all-rows-of-a-message",
                  test_one_letter_settles_all_rows_of_a_message);
  g_test_add_func("/message-letters/innocent-in-one-row-may-be-guilty-of-another",
                  test_innocent_in_one_row_may_be_guilty_of_another);
  g_test_add_func("/message-letters/F1/each-row-of-a-table-has-its-own-trial",
                  test_f1_each_row_of_a_table_has_its_own_trial);
  g_test_add_func("/message-letters/innocent-message-ends-without-a-letter",
                  test_innocent_message_ends_without_a_letter);
  g_test_add_func("/message-letters/refused-row-beside-rejected-readings", test_refused_row_beside_rejected_readings);
  g_test_add_func("/message-letters/what-waits-goes-with-the-assignment", test_what_waits_goes_with_the_assignment);
  return g_test_run();
}
