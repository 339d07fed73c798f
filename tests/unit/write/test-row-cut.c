/* Rows that are too large for a gateway, which closes the connection on them without a word: who is marked as poison,
 * who is not, and who waits for them. */
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

/* What counts is what was written since the row was cut off first, though it is before it was cut off last. */
static void
test_row_that_is_cut_while_others_are_written_is_marked_poison(void)
{
  TideRowIsolation *isolation = tide_row_isolation_new(cut_off, NULL, ROUND_US);
  TideBatch *batch = batch_of_large_row();
  TideCall call = {.batches = {batch}, .n_batches = 1, .n_rows = 1};
  for (guint round = 1; round <= TIDE_CUT_LIMIT; round++) {
    TideIsolationCounts counts;
    g_autofree char *text = NULL;
    call.last_ok_us = round * ROUND_US - 1;
    (void)tide_row_isolation_send(isolation, &call, 0, round * ROUND_US, &counts, &text);
    g_assert_cmpint(tide_batch_find_poison(batch, 0) != NULL, ==, round == TIDE_CUT_LIMIT);
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

/* ---- rows that a gateway would take, unless a proxy before it did not ---- */

#define MAX_ROWS 1200u
#define SMALL_BYTES 100u
#define LARGE_BYTES (TIDE_FRAME_LIMIT_LEAST_BYTES - 1)

/* Rows are known by where they stand in their batch. */
typedef struct Proxy {
  TideRowIsolation *isolation;
  TideBatch *batch;
  gsize limit_bytes;         /* of a call, above which it is cut off */
  gboolean is_cut[MAX_ROWS]; /* so is what carries such a row */
  guint32 n_written[MAX_ROWS];
  guint32 first_row; /* of the last call */
  guint32 n_calls;   /* of a round */
  guint32 n_rounds;
  guint32 cancelling_call;  /* while it runs the batch is cancelled; 0: none */
  char *text;               /* owned: what the last round ended with */
  TideFailure failing_with; /* in place of being cut off; OK: it is */
} Proxy;

/* Which rows of the batch are in @rows. */
static guint32
list_rows(const Proxy *proxy, const TideSentRows *rows, guint32 *ret_rows)
{
  guint32 n = 0;
  for (gsize i = 0; i < rows->n_parts; i++)
    for (guint32 row = 0; row < proxy->batch->n_rows; row++) {
      const guint8 *start = tide_batch_row_wire(proxy->batch, row).data;
      if (start >= rows->parts[i].data && start < rows->parts[i].data + rows->parts[i].len)
        ret_rows[n++] = row;
    }
  g_assert_cmpuint(n, ==, rows->n_rows);
  return n;
}

static TideFailure
send_by_proxy(const TideSentRows *sent, gpointer data, char **ret_text)
{
  Proxy *proxy = data;
  guint32 rows[MAX_ROWS] = {0}, n_rows = list_rows(proxy, sent, rows);
  gboolean is_cut = sent->n_bytes > proxy->limit_bytes;
  proxy->first_row = rows[0];
  for (guint32 i = 0; i < n_rows; i++)
    is_cut |= proxy->is_cut[rows[i]];
  g_assert_false(tide_batch_is_cancelled(proxy->batch));
  if (++proxy->n_calls == proxy->cancelling_call)
    tide_batch_cancel(proxy->batch);
  if (is_cut && proxy->failing_with.outcome == TIDE_OUTCOME_OK)
    return cut_off(sent, NULL, ret_text);
  if (is_cut) {
    *ret_text = g_strdup("refused");
    return proxy->failing_with;
  }
  for (guint32 i = 0; i < n_rows; i++)
    proxy->n_written[rows[i]]++;
  return (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

static Proxy *
proxy_new(gsize limit_bytes)
{
  Proxy *proxy = g_new0(Proxy, 1);
  proxy->isolation = tide_row_isolation_new(send_by_proxy, proxy, ROUND_US);
  proxy->batch = tide_batch_new();
  proxy->limit_bytes = limit_bytes;
  return proxy;
}

static void
proxy_free(Proxy *proxy)
{
  tide_batch_free(proxy->batch);
  tide_row_isolation_free(proxy->isolation);
  g_free(proxy->text);
  g_free(proxy);
}

/* Whatever is written meanwhile. */
static TideOutcome
send_round(Proxy *proxy)
{
  TideIsolationCounts counts;
  g_clear_pointer(&proxy->text, g_free);
  TideCall call = {.batches = {proxy->batch}, .n_batches = 1, .n_rows = proxy->batch->n_rows, .last_ok_us = G_MAXINT64};
  proxy->n_calls = 0;
  TideFailure failure =
      tide_row_isolation_send(proxy->isolation, &call, 0, ++proxy->n_rounds * ROUND_US, &counts, &proxy->text);
  g_assert_cmpint(proxy->text == NULL, ==, failure.outcome == TIDE_OUTCOME_OK);
  return failure.outcome;
}

static guint32
count_written(const Proxy *proxy)
{
  guint32 n = 0;
  for (guint32 row = 0; row < proxy->batch->n_rows; row++)
    n += proxy->n_written[row] > 0 ? 1 : 0;
  return n;
}

/* Every gateway takes it, unless a proxy is before it that does not: it is not given up, whatever is written meanwhile,
 * and written when the proxy takes it. All others are, wherever it stands among them; then it is sent alone, once a
 * round. */
static void
test_row_that_a_gateway_would_take_is_not_marked_poison(void)
{
  for (guint32 large = 0; large < 8; large++) {
    Proxy *proxy = proxy_new(2 * TIDE_CUT_LEAST_BYTES);
    for (guint32 i = 0; i < 8; i++)
      add_row(proxy->batch, i == large ? LARGE_BYTES : TIDE_CUT_LEAST_BYTES);
    for (guint round = 1; round < 100; round++) {
      g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
      g_assert_cmpuint(proxy->n_written[large], ==, 0);
      g_assert_true(round < 10 || (count_written(proxy) == 7 && proxy->batch->done_rows == 8));
      g_assert_true(round <= 10 || (proxy->n_calls == 1 && proxy->first_row == large));
      g_assert_true(round <= 10 ||
                    strstr(proxy->text, "others of its batch are written, later rows with their keys wait") != NULL);
    }
    proxy->limit_bytes = G_MAXSIZE;
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_OK);
    g_assert_cmpuint(count_written(proxy), ==, 8);
    g_assert_null(tide_batch_find_poison(proxy->batch, large));
    proxy_free(proxy);
  }
}

/* A few rows that are most of what is cut off are not looked for by halves: the others go in one call after it. */
static void
test_large_row_is_left_out_at_once(void)
{
  Proxy *proxy = proxy_new(150u * 1024u);
  for (guint32 i = 0; i < 1000; i++)
    add_row(proxy->batch, i == 500 ? 200u * 1024u : SMALL_BYTES);
  for (guint round = 1; round <= TIDE_CUT_LIMIT; round++) {
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
    g_assert_cmpuint(proxy->n_calls, ==, 1);
  }
  g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_cmpuint(proxy->n_calls, ==, 2);
  g_assert_cmpuint(proxy->first_row, ==, 500);
  g_assert_cmpuint(count_written(proxy), ==, 999);
  proxy_free(proxy);
}

/* Rows that are small beside what is cut off are not what is too large: it is halved. */
static void
test_somewhat_larger_row_is_not_left_out(void)
{
  Proxy *proxy = proxy_new(150u * 1024u);
  for (guint32 i = 0; i < 1000; i++)
    add_row(proxy->batch, i == 500 ? 20u * 1024u : 2 * SMALL_BYTES);
  for (guint round = 1; round <= TIDE_CUT_LIMIT; round++)
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_null(tide_batch_next_cut(proxy->batch));
  g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(proxy->n_calls, ==, 2);
  proxy_free(proxy);
}

/* Whatever it is in a row that has its call reset: the gateway takes as much of others, and still the batch is halved
 * until the row stands alone. */
static void
test_batch_is_halved_though_others_are_taken(void)
{
  Proxy *proxy = proxy_new(G_MAXSIZE), *other = proxy_new(G_MAXSIZE);
  for (guint32 i = 0; i < 8; i++) {
    add_row(proxy->batch, TIDE_CUT_LEAST_BYTES);
    add_row(other->batch, TIDE_CUT_LEAST_BYTES);
  }
  proxy->is_cut[3] = TRUE;
  for (guint round = 1; round <= 10; round++) {
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
    TideBatch *batch = proxy->batch;
    proxy->batch = other->batch; /* by the same writer */
    proxy->is_cut[3] = FALSE;
    proxy->batch->done_rows = 0;
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_OK);
    proxy->batch = batch;
    proxy->is_cut[3] = TRUE;
  }
  gsize n_suspects;
  const TideBatchSuspect *suspects = tide_batch_suspects(proxy->batch, &n_suspects);
  g_assert_cmpuint(n_suspects, ==, 1);
  g_assert_cmpuint(suspects[0].row, ==, 3);
  g_assert_cmpuint(proxy->batch->done_rows, ==, 8);
  proxy_free(other);
  proxy_free(proxy);
}

/* Once the row that is too large is found its batch is not sent by the halves that led to it any more. */
static void
test_others_go_together_once_the_row_is_found(void)
{
  Proxy *proxy = proxy_new(G_MAXSIZE);
  for (guint32 i = 0; i < 64; i++)
    add_row(proxy->batch, TIDE_CUT_LEAST_BYTES);
  proxy->is_cut[0] = TRUE;
  for (guint round = 1; tide_batch_next_cut(proxy->batch) == NULL; round++) {
    g_assert_cmpuint(round, <, 20);
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  }
  g_assert_cmpuint(count_written(proxy), ==, 0);
  g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_cmpuint(count_written(proxy), ==, 63);
  g_assert_cmpuint(proxy->n_calls, <, 16);
  proxy_free(proxy);
}

/* Of several each is the first to be tried in its turn: what is taken after all does not wait for what is not. */
static void
test_rows_that_are_cut_off_take_turns(void)
{
  Proxy *proxy = proxy_new(G_MAXSIZE);
  for (guint32 i = 0; i < 6; i++)
    add_row(proxy->batch, TIDE_CUT_LEAST_BYTES);
  memset(proxy->is_cut, TRUE, sizeof proxy->is_cut);
  for (guint round = 1; round <= 60; round++)
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  proxy->is_cut[4] = FALSE;
  for (guint round = 1; round <= 6; round++)
    g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_cmpuint(count_written(proxy), ==, 1);
  g_assert_cmpuint(proxy->n_written[4], ==, 1);
  memset(proxy->is_cut, FALSE, sizeof proxy->is_cut);
  g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_OK);
  for (guint32 row = 0; row < 6; row++)
    g_assert_cmpuint(proxy->n_written[row], ==, 1);
  proxy_free(proxy);
}

/* What was cut off and is refused then, with whatever words, is judged as any other. */
static void
test_row_that_was_cut_off_and_is_refused_is_judged(void)
{
  for (guint is_certain = 0; is_certain < 2; is_certain++) {
    Proxy *proxy = proxy_new(150u * 1024u);
    for (guint32 i = 0; i < 100; i++)
      add_row(proxy->batch, i == 50 ? 200u * 1024u : SMALL_BYTES);
    for (guint round = 1; round <= 10; round++)
      g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_UNKNOWN);
    proxy->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_POISON, .is_certain = is_certain > 0};
    guint n_rounds = 1;
    for (; send_round(proxy) != TIDE_OUTCOME_OK; n_rounds++) {
      g_assert_cmpuint(n_rounds, <=, TIDE_PROOF_LIMIT + 2);
      g_assert_true(n_rounds == 1 || tide_batch_count_cuts(proxy->batch) == 0); /* it begins anew */
    }
    g_assert_true(is_certain > 0 || n_rounds > TIDE_PROOF_LIMIT);
    g_assert_nonnull(tide_batch_find_poison(proxy->batch, 50));
    g_assert_cmpuint(count_written(proxy), ==, 99);
    proxy_free(proxy);
  }
}

/* The batch is cancelled while any call runs: it ends, and no later call carries it (the proxy looks). */
static void
test_batch_with_a_row_that_was_cut_off_may_be_cancelled(void)
{
  for (guint call = 1; call <= 3; call++)
    for (guint at = 1; at <= 9; at++) {
      Proxy *proxy = proxy_new(4 * TIDE_CUT_LEAST_BYTES);
      for (guint32 i = 0; i < 8; i++)
        add_row(proxy->batch, i == 3 ? 6 * TIDE_CUT_LEAST_BYTES : TIDE_CUT_LEAST_BYTES);
      for (guint round = 1; round <= at; round++) {
        proxy->cancelling_call = round == at ? call : 0;
        (void)send_round(proxy);
      }
      tide_batch_cancel(proxy->batch); /* where the round had not so many calls */
      g_assert_cmpint(send_round(proxy), ==, TIDE_OUTCOME_OK);
      g_assert_cmpuint(proxy->n_calls, ==, 0);
      g_assert_cmpuint(proxy->n_written[3], ==, 0);
      proxy_free(proxy);
    }
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

typedef struct Refusing {
  TideBatch *batch;
  gboolean is_refusing;
  guint32 n_written[8];
} Refusing;

/* Refuses with a text that does not tell whose fault that is. */
static TideFailure
refuse_for_a_while(const TideSentRows *rows, gpointer data, char **ret_text)
{
  Refusing *refusing = data;
  if (refusing->is_refusing) {
    *ret_text = g_strdup("refused");
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  }
  for (guint32 i = 0; i < rows->n_rows; i++)
    refusing->n_written[rows->row + i]++; /* the only row that is left out is the first */
  return (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

/* A gateway that refuses everything for a while: nothing is said of any row, and all are written after it, however the
 * batch is sliced. */
static void
test_slices_that_are_all_refused_are_written_after_it(void)
{
  for (guint32 slice_rows = 1; slice_rows <= 4; slice_rows++) {
    Refusing refusing = {.batch = tide_batch_new(), .is_refusing = TRUE};
    TideRowIsolation *isolation = tide_row_isolation_new(refuse_for_a_while, &refusing, ROUND_US);
    for (guint32 i = 0; i < G_N_ELEMENTS(refusing.n_written); i++)
      add_row(refusing.batch, TIDE_CUT_LEAST_BYTES);
    refusing.batch->slice_rows = slice_rows;
    TideCall call = {.batches = {refusing.batch}, .n_batches = 1, .n_rows = refusing.batch->n_rows};
    TideOutcome outcome = TIDE_OUTCOME_POISON;
    for (guint round = 1; round <= 10; round++) {
      TideIsolationCounts counts;
      g_autofree char *text = NULL;
      refusing.is_refusing = round == 1;
      outcome = tide_row_isolation_send(isolation, &call, 0, round * ROUND_US, &counts, &text).outcome;
    }
    g_assert_cmpint(outcome, ==, TIDE_OUTCOME_OK);
    for (guint32 i = 0; i < G_N_ELEMENTS(refusing.n_written); i++)
      g_assert_cmpuint(refusing.n_written[i], >, 0);
    tide_batch_free(refusing.batch);
    tide_row_isolation_free(isolation);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-cut/row-that-is-cut-in-an-outage-is-not-marked-poison",
                  test_row_that_is_cut_in_an_outage_is_not_marked_poison);
  g_test_add_func("/row-cut/row-that-is-cut-while-others-are-written-is-marked-poison",
                  test_row_that_is_cut_while_others_are_written_is_marked_poison);
  g_test_add_func("/row-cut/others-go-together-once-the-row-is-found", test_others_go_together_once_the_row_is_found);
  g_test_add_func("/row-cut/rows-that-are-cut-by-turns-are-not-marked-poison",
                  test_rows_that_are_cut_by_turns_are_not_marked_poison);
  g_test_add_func("/row-cut/D14-row-that-a-gateway-would-take-is-not-marked-poison",
                  test_row_that_a_gateway_would_take_is_not_marked_poison);
  g_test_add_func("/row-cut/D14-large-row-is-left-out-at-once", test_large_row_is_left_out_at_once);
  g_test_add_func("/row-cut/somewhat-larger-row-is-not-left-out", test_somewhat_larger_row_is_not_left_out);
  g_test_add_func("/row-cut/batch-is-halved-though-others-are-taken", test_batch_is_halved_though_others_are_taken);
  g_test_add_func("/row-cut/rows-that-are-cut-off-take-turns", test_rows_that_are_cut_off_take_turns);
  g_test_add_func("/row-cut/row-that-was-cut-off-and-is-refused-is-judged",
                  test_row_that_was_cut_off_and_is_refused_is_judged);
  g_test_add_func("/row-cut/batch-with-a-row-that-was-cut-off-may-be-cancelled",
                  test_batch_with_a_row_that_was_cut_off_may_be_cancelled);
  g_test_add_func("/row-cut/slices-that-are-all-refused-are-written-after-it",
                  test_slices_that_are_all_refused_are_written_after_it);
  g_test_add_func("/row-cut/suspect-that-is-cut-is-marked-poison-once", test_suspect_that_is_cut_is_marked_poison_once);
  return g_test_run();
}
