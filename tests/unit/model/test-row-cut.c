/* Rows that are too large for a gateway, which closes the connection on them without a word: who is marked as poison,
 * who is not. */
#include "write/row_isolation.h"

#define ROUND_US 100

static TideFailure
cut_off(const TideSentRows *rows, gpointer data, char **ret_text)
{
  *ret_text = g_strdup("the connection was lost");
  return (TideFailure){.outcome = TIDE_OUTCOME_UNKNOWN, .is_cut = TRUE};
}

static void
add_row(TideBatch *batch, gsize n_bytes)
{
  TideBatchRow row = {.start_bytes = (guint32)batch->wire.len};
  tide_buffer_append(&batch->rows, &row, sizeof row);
  memset(tide_buffer_reserve(&batch->wire, n_bytes), 'x', n_bytes);
  batch->wire.len += n_bytes;
  batch->n_rows++;
}

static void
add_large_row(TideBatch *batch)
{
  add_row(batch, TIDE_FRAME_LIMIT_LEAST_BYTES);
}

static TideBatch *
batch_of_large_row(void)
{
  TideBatch *batch = tide_batch_new();
  add_large_row(batch);
  return batch;
}

/* A row whose calls are cut is too large only if others are written meanwhile. */
static void
test_row_that_is_cut_in_an_outage_is_not_marked_poison(void)
{
  TideRowIsolation *isolation = tide_row_isolation_new(cut_off, NULL, ROUND_US);
  TideBatch *batch = batch_of_large_row();
  TideCall call = {.batches = {batch}, .n_batches = 1, .n_rows = 1};
  guint n_in_outage = 4 * TIDE_CUT_LIMIT;
  for (guint round = 1; round <= n_in_outage + 1; round++) {
    TideIsolationCounts counts;
    g_autofree char *text = NULL;
    call.last_ok_us = round > n_in_outage ? G_MAXINT64 : 0;
    (void)tide_row_isolation_send(isolation, &call, 0, round * ROUND_US, &counts, &text);
    g_assert_cmpint(tide_batch_find_poison(batch, 0) != NULL, ==, round > n_in_outage);
  }
  tide_batch_free(batch);
  tide_row_isolation_free(isolation);
}

/* @data: the row that is cut off when it is sent. */
static TideFailure
cut_off_row(const TideSentRows *rows, gpointer data, char **ret_text)
{
  const guint32 *cut_row = data;
  return rows->row == *cut_row ? cut_off(rows, NULL, ret_text) : (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

/* Each row of a batch is cut off once: none was cut off so often that it is too large. */
static void
test_rows_that_are_cut_by_turns_are_not_marked_poison(void)
{
  guint32 cut_row = 0;
  TideRowIsolation *isolation = tide_row_isolation_new(cut_off_row, &cut_row, ROUND_US);
  TideBatch *batch = tide_batch_new();
  for (guint i = 0; i <= TIDE_CUT_LIMIT; i++)
    add_large_row(batch);
  batch->slice_rows = 1;
  TideCall call = {.batches = {batch}, .n_batches = 1, .n_rows = batch->n_rows, .last_ok_us = G_MAXINT64};
  for (; cut_row <= batch->n_rows; cut_row++) {
    TideIsolationCounts counts;
    g_autofree char *text = NULL;
    TideFailure failure =
        tide_row_isolation_send(isolation, &call, 0, (gint64)(cut_row + 1) * ROUND_US, &counts, &text);
    g_assert_cmpint(failure.outcome, ==, cut_row < batch->n_rows ? TIDE_OUTCOME_UNKNOWN : TIDE_OUTCOME_OK);
    g_assert_null(tide_batch_find_poison(batch, MIN(cut_row, batch->n_rows - 1)));
  }
  tide_batch_free(batch);
  tide_row_isolation_free(isolation);
}

/* @data: how large a call may be. */
static TideFailure
cut_off_above(const TideSentRows *rows, gpointer data, char **ret_text)
{
  const gsize *limit_bytes = data;
  return rows->n_bytes > *limit_bytes ? cut_off(rows, NULL, ret_text) : (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

/* Every gateway takes it, unless a proxy is before it that does not: it is not given up, whatever is written meanwhile,
 * and written when the proxy takes it. What comes before it is. */
static void
test_row_that_a_gateway_would_take_is_not_marked_poison(void)
{
  gsize limit_bytes = 2 * TIDE_CUT_LEAST_BYTES;
  TideRowIsolation *isolation = tide_row_isolation_new(cut_off_above, &limit_bytes, ROUND_US);
  TideBatch *batch = tide_batch_new();
  for (guint i = 0; i < 7; i++)
    add_row(batch, TIDE_CUT_LEAST_BYTES);
  add_row(batch, TIDE_FRAME_LIMIT_LEAST_BYTES - 1);
  TideCall call = {.batches = {batch}, .n_batches = 1, .n_rows = batch->n_rows, .last_ok_us = G_MAXINT64};
  for (guint round = 1; round <= 100; round++) {
    TideIsolationCounts counts;
    g_autofree char *text = NULL;
    if (round == 100)
      limit_bytes = G_MAXSIZE;
    TideFailure failure = tide_row_isolation_send(isolation, &call, 0, round * ROUND_US, &counts, &text);
    g_assert_cmpint(failure.outcome, ==, round < 100 ? TIDE_OUTCOME_UNKNOWN : TIDE_OUTCOME_OK);
    g_assert_cmpuint(counts.poison, ==, 0);
    g_assert_true(round != 99 || batch->done_rows == 7);
  }
  tide_batch_free(batch);
  tide_row_isolation_free(isolation);
}

/* @data: calls so far. The first is refused, with a text that does not tell whose fault that is. */
static TideFailure
refuse_then_cut_off(const TideSentRows *rows, gpointer data, char **ret_text)
{
  guint *n_calls = data;
  if ((*n_calls)++ > 0)
    return cut_off(rows, NULL, ret_text);
  *ret_text = g_strdup("refused");
  return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
}

/* Once a suspect is found to be too large, it is not judged any more, and its call ends. */
static void
test_suspect_that_is_cut_is_marked_poison_once(void)
{
  guint n_calls = 0;
  TideRowIsolation *isolation = tide_row_isolation_new(refuse_then_cut_off, &n_calls, ROUND_US);
  TideBatch *batch = batch_of_large_row();
  TideCall call = {.batches = {batch}, .n_batches = 1, .n_rows = 1, .last_ok_us = G_MAXINT64};
  TideOutcome outcome = TIDE_OUTCOME_POISON;
  for (guint round = 1; round <= TIDE_CUT_LIMIT + 2; round++) {
    TideIsolationCounts counts;
    g_autofree char *text = NULL;
    outcome = tide_row_isolation_send(isolation, &call, 0, round * ROUND_US, &counts, &text).outcome;
    g_assert_cmpint(tide_batch_find_poison(batch, 0) != NULL, ==, round > TIDE_CUT_LIMIT);
  }
  gsize n_poison, n_suspects;
  (void)tide_batch_poison(batch, &n_poison);
  (void)tide_batch_suspects(batch, &n_suspects);
  g_assert_cmpint(outcome, ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(n_calls, ==, 1 + TIDE_CUT_LIMIT);
  g_assert_cmpuint(n_poison, ==, 1);
  g_assert_cmpuint(n_suspects, ==, 0);
  tide_batch_free(batch);
  tide_row_isolation_free(isolation);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-cut/row-that-is-cut-in-an-outage-is-not-marked-poison",
                  test_row_that_is_cut_in_an_outage_is_not_marked_poison);
  g_test_add_func("/row-cut/rows-that-are-cut-by-turns-are-not-marked-poison",
                  test_rows_that_are_cut_by_turns_are_not_marked_poison);
  g_test_add_func("/row-cut/D14-row-that-a-gateway-would-take-is-not-marked-poison",
                  test_row_that_a_gateway_would_take_is_not_marked_poison);
  g_test_add_func("/row-cut/suspect-that-is-cut-is-marked-poison-once", test_suspect_that_is_cut_is_marked_poison_once);
  return g_test_run();
}
