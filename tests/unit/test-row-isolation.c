/* Finding rows that can never be written: how many calls it takes, who is condemned, and who is not. */
#include "flow/row_isolation.h"

#include "util/clock.h"

#define MAX_ROWS 10000u

/* A gateway that knows rows by their number, which is their wire. */
typedef struct Gateway {
  TideRowIsolation *isolation;
  TideLane *lanes[2]; /* of nobody: only told apart */
  TideCall call;
  guint32 n_rows;
  gboolean is_bad[MAX_ROWS];
  guint32 n_written[MAX_ROWS];
  gboolean is_ambiguous; /* its errors name no row's fault */
  guint32 broken_after;  /* calls, then it refuses everything; 0: never */
  guint32 failing_every; /* calls, one fails for no reason; 0: none */
  guint32 failing_call;  /* this one ends in failing_with; 0: none */
  TideFailure failing_with;
  guint32 n_calls;
  guint32 n_all_calls;
} Gateway;

static gboolean
holds_bad_row(Gateway *gateway, const TideSentRows *rows, guint32 *ret_n_rows)
{
  gboolean bad = FALSE;
  *ret_n_rows = 0;
  for (gsize i = 0; i < rows->n_parts; i++)
    for (gsize at = 0; at < rows->parts[i].len; at += sizeof(guint32), (*ret_n_rows)++)
      bad = bad || gateway->is_bad[*(const guint32 *)(const void *)(rows->parts[i].data + at)];
  return bad;
}

static TideFailure
send_rows(const TideSentRows *rows, gpointer data, char **ret_text)
{
  Gateway *gateway = data;
  gateway->n_calls++;
  gateway->n_all_calls++;
  guint32 n_rows;
  gboolean bad = holds_bad_row(gateway, rows, &n_rows);
  g_assert_cmpuint(n_rows, ==, rows->n_rows);
  g_assert_cmpuint(n_rows, >, 0);
  *ret_text = g_strdup("refused");
  if (gateway->n_calls == gateway->failing_call)
    return gateway->failing_with;
  if (gateway->failing_every > 0 && gateway->n_all_calls % gateway->failing_every == 0)
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  if (bad || (gateway->broken_after > 0 && gateway->n_calls > gateway->broken_after))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON, .is_certain = bad && !gateway->is_ambiguous};
  g_clear_pointer(ret_text, g_free);
  for (gsize i = 0; i < rows->n_parts; i++)
    for (gsize at = 0; at < rows->parts[i].len; at += sizeof(guint32))
      gateway->n_written[*(const guint32 *)(const void *)(rows->parts[i].data + at)]++;
  return (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

static Gateway *
gateway_new(void)
{
  Gateway *gateway = g_new0(Gateway, 1);
  gateway->isolation = tide_row_isolation_new(send_rows, gateway);
  for (guint i = 0; i < G_N_ELEMENTS(gateway->lanes); i++)
    gateway->lanes[i] = (TideLane *)(void *)&gateway->lanes[i];
  return gateway;
}

static TideBatch *
add_batch(Gateway *gateway, guint lane, guint32 n_rows)
{
  TideBatch *batch = tide_batch_new();
  for (guint32 i = 0; i < n_rows; i++) {
    TideBatchRow row = {.start_bytes = (guint32)batch->wire.len};
    tide_buffer_append(&batch->rows, &row, sizeof row);
    tide_buffer_append(&batch->wire, &gateway->n_rows, sizeof gateway->n_rows);
    gateway->n_rows++;
  }
  batch->n_rows = n_rows;
  batch->lane = gateway->lanes[lane];
  gateway->call.batches[gateway->call.n_batches++] = batch;
  gateway->call.n_rows += n_rows;
  return batch;
}

static void
gateway_free(Gateway *gateway)
{
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    gateway->call.batches[i]->lane = NULL;
    tide_batch_free(gateway->call.batches[i]);
  }
  tide_row_isolation_free(gateway->isolation);
  g_free(gateway);
}

static TideOutcome
send_call_at(Gateway *gateway, gint64 now_us, TideIsolationCounts *ret_counts)
{
  g_autofree char *text = NULL;
  gateway->n_calls = 0;
  TideFailure failure = tide_row_isolation_send(gateway->isolation, &gateway->call, now_us, ret_counts, &text);
  g_assert_cmpint(text == NULL, ==, failure.outcome == TIDE_OUTCOME_OK);
  return failure.outcome;
}

static TideOutcome
send_call(Gateway *gateway)
{
  TideIsolationCounts counts;
  return send_call_at(gateway, 1, &counts);
}

/* Poison are the bad rows and no others; all others are written. */
static void
assert_found(const Gateway *gateway)
{
  guint32 at = 0;
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    gsize n_poison, next = 0;
    const TideBatchPoison *poison = tide_batch_poison(gateway->call.batches[i], &n_poison);
    for (guint32 row = 0; row < gateway->call.batches[i]->n_rows; row++, at++) {
      gboolean condemned = next < n_poison && poison[next].row == row;
      g_assert_cmpint(condemned, ==, gateway->is_bad[at]);
      g_assert_cmpint(gateway->n_written[at] > 0, ==, !condemned);
      if (!condemned)
        continue;
      g_assert_cmpstr(poison[next].text, ==, "refused");
      g_assert_cmpuint(poison[next].attempts, >=, 1);
      next++;
    }
    g_assert_cmpuint(next, ==, n_poison);
  }
}

/* At every place of every size: never more than 1 + 2 * log2(n) calls when the text is plain, seven more to prove it.
 */
static void
test_one_bad_row_is_found_at_every_place(void)
{
  static const guint32 sizes[] = {1, 2, 3, 5, 64, 65, 1000};
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint32 place = 0; place < sizes[s]; place++)
      for (guint ambiguous = 0; ambiguous < 2; ambiguous++) {
        if (sizes[s] == 1 && ambiguous)
          continue;
        Gateway *gateway = gateway_new();
        add_batch(gateway, 0, sizes[s]);
        gateway->is_bad[place] = TRUE;
        gateway->is_ambiguous = ambiguous > 0;
        g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
        assert_found(gateway);
        guint log2_rows = g_bit_storage(sizes[s] - 1);
        g_assert_cmpuint(gateway->n_calls, <=, 1 + 2 * (sizes[s] > 1 ? log2_rows : 0) + 7 * ambiguous);
        gateway_free(gateway);
      }
}

static void
test_one_of_ten_thousand_costs_less_than_thirty_calls(void)
{
  for (guint32 place = 0; place < 10000; place += 357) {
    Gateway *gateway = gateway_new();
    for (guint i = 0; i < 4; i++)
      add_batch(gateway, i % 2, 2500);
    gateway->is_bad[place] = TRUE;
    TideIsolationCounts counts;
    g_assert_cmpint(send_call_at(gateway, 1, &counts), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    g_assert_cmpuint(gateway->n_calls, <, 30);
    g_assert_cmpuint(counts.bisections, ==, gateway->n_calls - 1);
    g_assert_cmpuint(counts.poison, ==, 1);
    gateway_free(gateway);
  }
}

static void
test_several_bad_rows_are_each_found(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  for (guint round = 0; round < 300; round++) {
    Gateway *gateway = gateway_new();
    guint32 n_batches = (guint32)g_rand_int_range(rand, 1, 5);
    for (guint32 i = 0; i < n_batches; i++)
      add_batch(gateway, i % 2, (guint32)g_rand_int_range(rand, 1, 60));
    guint32 n_bad = (guint32)g_rand_int_range(rand, 1, (gint32)gateway->n_rows + 1);
    for (guint32 i = 0; i < n_bad; i++)
      gateway->is_bad[g_rand_int_range(rand, 0, (gint32)gateway->n_rows)] = TRUE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* What ends the search keeps what was found; the next time those rows are not sent. */
static void
test_search_that_is_interrupted_goes_on_where_it_was(void)
{
  for (guint32 failing_call = 2; failing_call < 14; failing_call++) {
    Gateway *gateway = gateway_new();
    add_batch(gateway, 0, 100);
    gateway->is_bad[3] = gateway->is_bad[70] = TRUE;
    gateway->failing_call = failing_call;
    gateway->failing_with = (TideFailure){.outcome = failing_call % 2 ? TIDE_OUTCOME_UNKNOWN : TIDE_OUTCOME_RETRY};
    g_assert_cmpint(send_call(gateway), ==, gateway->failing_with.outcome);
    g_assert_cmpuint(gateway->n_calls, ==, failing_call);
    gateway->failing_call = 0;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* M09: a batch that is sent in slices, one of which holds a suspect: whatever ends the sweep, also while the suspect is
 * being confirmed, each row ends written or condemned. */
static void
test_m09_interrupted_sweep_passes_over_no_row(void)
{
  for (guint32 place = 0; place < 40; place++)
    for (guint32 failing_call = 1; failing_call < 40; failing_call++) {
      Gateway *gateway = gateway_new();
      TideBatch *batch = add_batch(gateway, 0, 40);
      batch->slice_rows = 7;
      gateway->is_bad[place] = TRUE;
      gateway->is_ambiguous = place % 2 > 0;
      gateway->failing_call = failing_call;
      gateway->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_RETRY};
      (void)send_call(gateway);
      for (guint32 row = 0; row < batch->done_rows; row++)
        g_assert_true(gateway->n_written[row] > 0 || tide_batch_find_poison(batch, row) != NULL);
      gateway->failing_call = 0;
      g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
      assert_found(gateway);
      gateway_free(gateway);
    }
}

/* It refuses everything, or breaks in the middle of the search: nobody is condemned, and it is given up soon. */
static void
test_broken_gateway_condemns_nobody(void)
{
  for (guint round = 0; round < 3; round++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = add_batch(gateway, 0, 1000);
    gateway->is_ambiguous = TRUE;
    memset(gateway->is_bad, TRUE, sizeof gateway->is_bad);
    for (guint again = 0; again < 2 * TIDE_ALONE_LIMIT; again++) {
      g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_POISON);
      g_assert_cmpuint(gateway->n_calls, <, 30);
    }
    g_assert_cmpuint(batch->poison.len, ==, 0);
    memset(gateway->is_bad, FALSE, sizeof gateway->is_bad);
    gateway->is_bad[100] = TRUE;
    gateway->broken_after = 5 + round; /* the witness is refused, too */
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_POISON);
    g_assert_cmpuint(batch->poison.len, ==, 0);
    gateway->broken_after = 0;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* Every second, third, ... call fails with a text that says nothing: all is written, and nobody is condemned. */
static void
test_flickering_gateway_condemns_nobody(void)
{
  for (guint32 every = 2; every < 8; every++)
    for (guint32 n_rows = 1; n_rows < 40; n_rows++) {
      Gateway *gateway = gateway_new();
      add_batch(gateway, 0, n_rows);
      gateway->n_all_calls = n_rows;
      gateway->failing_every = every;
      gateway->call.last_ok_us = G_MAXINT64;
      guint rounds = 0;
      while (send_call(gateway) != TIDE_OUTCOME_OK)
        g_assert_cmpuint(++rounds, <, 5);
      assert_found(gateway);
      gateway_free(gateway);
    }
}

/* Rows of another region prove nothing. */
static void
test_lone_row_is_condemned_after_many_rounds_if_others_are_written(void)
{
  for (guint others = 0; others < 2; others++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = add_batch(gateway, 0, 1);
    add_batch(gateway, 1, 3);
    gateway->is_bad[0] = TRUE;
    gateway->is_ambiguous = TRUE;
    for (guint round = 1; round < TIDE_ALONE_LIMIT; round++) {
      gateway->call.last_ok_us = others > 0 ? round : 0;
      TideIsolationCounts counts;
      g_assert_cmpint(send_call_at(gateway, round, &counts), ==, TIDE_OUTCOME_POISON);
      g_assert_cmpuint(batch->n_alone, ==, round);
      g_assert_cmpuint(batch->poison.len, ==, 0);
    }
    g_assert_cmpint(send_call(gateway), ==, others > 0 ? TIDE_OUTCOME_OK : TIDE_OUTCOME_POISON);
    if (others > 0)
      assert_found(gateway);
    else
      g_assert_cmpuint(batch->poison.len, ==, 0);
    gateway_free(gateway);
  }
}

/* Each of their rows is a call anyway. */
static void
test_mutated_rows_need_no_halving(void)
{
  Gateway *gateway = gateway_new();
  add_batch(gateway, 0, 50)->is_mutations = TRUE;
  gateway->is_bad[10] = gateway->is_bad[49] = TRUE;
  TideIsolationCounts counts;
  g_assert_cmpint(send_call_at(gateway, 1, &counts), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  g_assert_cmpuint(gateway->n_calls, ==, 50);
  g_assert_cmpuint(counts.bisections, ==, 0);
  gateway_free(gateway);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-isolation/one-bad-row-is-found-at-every-place", test_one_bad_row_is_found_at_every_place);
  g_test_add_func("/row-isolation/one-of-ten-thousand-costs-less-than-thirty-calls",
                  test_one_of_ten_thousand_costs_less_than_thirty_calls);
  g_test_add_func("/row-isolation/several-bad-rows-are-each-found", test_several_bad_rows_are_each_found);
  g_test_add_func("/row-isolation/search-that-is-interrupted-goes-on-where-it-was",
                  test_search_that_is_interrupted_goes_on_where_it_was);
  g_test_add_func("/row-isolation/M09-interrupted-sweep-passes-over-no-row",
                  test_m09_interrupted_sweep_passes_over_no_row);
  g_test_add_func("/row-isolation/broken-gateway-condemns-nobody", test_broken_gateway_condemns_nobody);
  g_test_add_func("/row-isolation/flickering-gateway-condemns-nobody", test_flickering_gateway_condemns_nobody);
  g_test_add_func("/row-isolation/lone-row-is-condemned-after-many-rounds-if-others-are-written",
                  test_lone_row_is_condemned_after_many_rounds_if_others_are_written);
  g_test_add_func("/row-isolation/mutated-rows-need-no-halving", test_mutated_rows_need_no_halving);
  return g_test_run();
}
