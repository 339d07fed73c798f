/* Finding rows that can never be written: how many calls it takes, which are marked as poison, and which are not. */
#include "write/row_isolation.h"

#include "unit/isolation_gateway.h"
#include "util/clock.h"

/* At every place of every size: never more than 1 + 2 * log2(n) calls when the text is plain. Else it is a suspect,
 * that costs three calls a round, and is marked as poison by the last of many. */
static void
test_one_bad_row_is_found_at_every_place(void)
{
  static const guint32 sizes[] = {1, 2, 3, 5, 64, 65, 1000};
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint32 index = 0; index < sizes[s]; index++)
      for (guint ambiguous = 0; ambiguous < 2; ambiguous++) {
        if (sizes[s] == 1 && ambiguous)
          continue;
        Gateway *gateway = gateway_new();
        add_batch(gateway, 0, sizes[s]);
        gateway->is_bad[index] = TRUE;
        gateway->is_ambiguous = ambiguous > 0;
        guint log2_rows = sizes[s] > 1 ? g_bit_storage(sizes[s] - 1) : 0;
        g_assert_cmpuint(send_rounds(gateway), ==, ambiguous > 0 ? TIDE_PROOF_LIMIT : 1);
        assert_found(gateway);
        g_assert_cmpuint(gateway->n_all_calls, <=,
                         1 + 2 * log2_rows + ambiguous * (2 + 3 * (TIDE_PROOF_LIMIT - 1) + 6));
        gateway_free(gateway);
      }
}

static void
test_one_of_ten_thousand_costs_less_than_thirty_calls(void)
{
  for (guint32 index = 0; index < 10000; index += 357) {
    Gateway *gateway = gateway_new();
    for (guint i = 0; i < 4; i++)
      add_batch(gateway, i % 2, 2500);
    gateway->is_bad[index] = TRUE;
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

/* Where the gateway says which row it refuses, each costs three calls: that which names it, the row alone, and one more
 * on the way to the others. */
static void
test_named_rows_cost_three_calls_each(void)
{
  for (guint32 n_bad = 1; n_bad <= 20; n_bad++) {
    Gateway *gateway = gateway_new();
    add_batch(gateway, 0, 1200);
    add_batch(gateway, 1, 800);
    gateway->is_naming = TRUE;
    for (guint32 i = 0; i < n_bad; i++)
      gateway->is_bad[g_test_rand_int_range(1, 2000)] = TRUE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    g_assert_cmpuint(gateway->n_calls, <=, 3 * count_bad(gateway) + 4);
    gateway_free(gateway);
  }
}

/* A text that names rows which are good costs one call, and nothing else. */
static void
test_misleading_text_is_seen_through(void)
{
  for (guint32 index = 1; index < 1000; index += 13) {
    Gateway *gateway = gateway_new();
    add_batch(gateway, 0, 1000);
    gateway->is_naming = TRUE;
    gateway->named_instead = 500;
    gateway->is_bad[index] = TRUE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    g_assert_cmpuint(gateway->n_calls, <=, 1 + 3 + 2 * 10);
    gateway_free(gateway);
  }
}

/* What ends the search while rows are named keeps what was found, too. */
static void
test_search_of_named_rows_that_is_interrupted_passes_over_no_row(void)
{
  for (guint32 failing_call = 1; failing_call < 20; failing_call++) {
    Gateway *gateway = gateway_new();
    add_batch(gateway, 0, 700);
    gateway->is_naming = TRUE;
    gateway->is_bad[3] = gateway->is_bad[70] = gateway->is_bad[71] = gateway->is_bad[699] = TRUE;
    gateway->failing_call = failing_call;
    gateway->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_RETRY};
    (void)send_call(gateway);
    gateway->failing_call = 0;
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

static gboolean
is_suspect(const TideBatch *batch, guint32 row)
{
  gsize n;
  const TideBatchSuspect *suspects = tide_batch_suspects(batch, &n);
  for (gsize i = 0; i < n; i++)
    if (suspects[i].row == row)
      return TRUE;
  return FALSE;
}

/* M09: a batch that is sent in slices, one of which holds a suspect: whatever ends the sweep, also while the suspect is
 * being confirmed, each row ends written or marked as poison. */
static void
test_m09_interrupted_sweep_passes_over_no_row(void)
{
  for (guint32 index = 0; index < 40; index++)
    for (guint32 failing_call = 1; failing_call < 40; failing_call++) {
      Gateway *gateway = gateway_new();
      TideBatch *batch = add_batch(gateway, 0, 40);
      batch->slice_rows = 7;
      gateway->is_bad[index] = TRUE;
      gateway->is_ambiguous = index % 2 > 0;
      gateway->failing_call = failing_call;
      gateway->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_RETRY};
      (void)send_call(gateway);
      for (guint32 row = 0; row < batch->done_rows; row++)
        g_assert_true(gateway->n_written[row] > 0 || tide_batch_find_poison(batch, row) != NULL ||
                      is_suspect(batch, row));
      gateway->failing_call = 0;
      (void)send_rounds(gateway);
      assert_found(gateway);
      gateway_free(gateway);
    }
}

/* It refuses everything, or breaks in the middle of the search: nothing is marked as poison, and it is given up soon.
 */
static void
test_broken_gateway_marks_nothing_poison(void)
{
  for (guint round = 0; round < 3; round++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = add_batch(gateway, 0, 1000);
    gateway->is_ambiguous = TRUE;
    memset(gateway->is_bad, TRUE, sizeof gateway->is_bad);
    for (guint again = 0; again < 2 * TIDE_PROOF_LIMIT; again++) {
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
    (void)send_rounds(gateway);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* F16: a region that refuses everything with a text that nobody knows, for hours, while others are written: it is held,
 * and none of its rows is marked as poison. */
static void
test_f16_region_that_refuses_all_is_held(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch(gateway, 0, 20);
  add_batch(gateway, 1, 5); /* another region */
  gateway->is_ambiguous = TRUE;
  memset(gateway->is_bad, TRUE, 20 * sizeof gateway->is_bad[0]);
  for (guint round = 1; round < 10 * TIDE_PROOF_LIMIT; round++) {
    TideIsolationCounts counts;
    gateway->call.last_ok_us = round * ROUND_US;
    g_assert_cmpint(send_call_at(gateway, round * ROUND_US, &counts), ==, TIDE_OUTCOME_POISON);
    g_assert_cmpuint(batch->poison.len, ==, 0);
  }
  memset(gateway->is_bad, FALSE, sizeof gateway->is_bad);
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  gateway_free(gateway);
}

/* A row that is refused for a while, as by a rule of its own region: many times in a moment prove nothing, nor does one
 * text after another. */
static void
test_f16_suspect_is_not_marked_poison_in_a_moment(void)
{
  for (guint other_texts = 0; other_texts < 2; other_texts++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = add_batch(gateway, 0, 50);
    gateway->is_ambiguous = gateway->is_bad[7] = TRUE;
    for (guint again = 0; again < 10 * TIDE_PROOF_LIMIT; again++) {
      TideIsolationCounts counts;
      gint64 now_us = other_texts > 0 ? again * ROUND_US : again * ROUND_US / (10 * TIDE_PROOF_LIMIT);
      gateway->text_kind = other_texts > 0 ? again / 2 : 0;
      g_assert_cmpint(send_call_at(gateway, now_us, &counts), ==, TIDE_OUTCOME_POISON);
      g_assert_cmpuint(batch->poison.len, ==, 0);
    }
    gateway->is_bad[7] = FALSE;
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* The rows that come after are marked as poison at once, where their region takes others. */
static void
test_f16_text_that_is_verified_is_believed(void)
{
  Gateway *gateway = gateway_new();
  add_batch(gateway, 0, 50);
  gateway->is_ambiguous = gateway->is_bad[7] = TRUE;
  g_assert_cmpuint(send_rounds(gateway), ==, TIDE_PROOF_LIMIT);
  TideBatch *second = add_batch(gateway, 1, 50);
  gateway->is_bad[60] = gateway->is_bad[61] = TRUE;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_OK);
  assert_found(gateway);
  g_assert_cmpuint(second->suspects.len, ==, 0);
  add_batch(gateway, 0, 20);
  gateway->is_bad[110] = TRUE;
  gateway->text_kind = 1; /* another text */
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_POISON);
  gateway_free(gateway);
}

/* Every second, third, ... call fails with a text that says nothing: all is written, and nothing is marked as poison.
 */
static void
test_flickering_gateway_marks_nothing_poison(void)
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

/* Rows of another region prove nothing; later calls of its own do. Without any, it takes an hour. */
static void
test_lone_row_is_marked_poison_when_its_region_is_seen_to_work(void)
{
  enum { NOTHING_WRITTEN, OTHERS_WRITTEN, REGION_WRITTEN, N_CASES };
  static const guint wanted_rounds[N_CASES] = {0, TIDE_LONE_LIMIT, TIDE_PROOF_LIMIT + 1};
  for (guint c = 0; c < N_CASES; c++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = add_batch(gateway, 0, 1);
    add_batch(gateway, 1, 3);
    gateway->is_bad[0] = TRUE;
    gateway->is_ambiguous = TRUE;
    guint round = 1;
    for (TideOutcome outcome = TIDE_OUTCOME_POISON; outcome == TIDE_OUTCOME_POISON && round < 400; round++) {
      TideIsolationCounts counts;
      gateway->call.last_ok_us = c > NOTHING_WRITTEN ? round * ROUND_US : 0;
      batch->lane_ok_us = c == REGION_WRITTEN ? round * ROUND_US - 1 : 0;
      outcome = send_call_at(gateway, round * ROUND_US, &counts);
    }
    g_assert_cmpuint(round - 1, ==, c == NOTHING_WRITTEN ? 399 : wanted_rounds[c]);
    if (c == NOTHING_WRITTEN)
      g_assert_cmpuint(batch->poison.len, ==, 0);
    else
      assert_found(gateway);
    gateway_free(gateway);
  }
}

/* The parts of a refused row, sent without each other, may all be rejected, and no row of their batch shows that the
 * region works: that other calls do counts for all of them at once, so that they do not take minutes each. */
static void
test_parts_of_a_refused_row_are_marked_poison_together(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch(gateway, 0, 40);
  batch->is_unmerged = TRUE;
  for (guint32 i = 0; i < batch->n_rows; i++)
    gateway->is_bad[i] = TRUE;
  gateway->is_ambiguous = TRUE;
  guint round = 1;
  for (TideOutcome outcome = TIDE_OUTCOME_POISON; outcome == TIDE_OUTCOME_POISON; round++) {
    TideIsolationCounts counts;
    g_assert_cmpuint(round, <=, TIDE_PROOF_LIMIT + 1);
    gateway->call.last_ok_us = batch->lane_ok_us = round * ROUND_US - 1;
    outcome = send_call_at(gateway, round * ROUND_US, &counts);
  }
  assert_found(gateway);
  gateway_free(gateway);
}

/* A batch that is sent in slices, the first of which was written: the second begins with rows that are refused one by
 * one, so it is given up for this round. That the one which is judged is found to be poison, or taken after all, ends
 * none of the rows that were not sent. */
static void
test_given_up_slice_passes_over_no_row(void)
{
  for (guint is_rejected = 0; is_rejected < 2; is_rejected++) {
    Gateway *gateway = gateway_new();
    gateway->is_ambiguous = TRUE;
    add_batch(gateway, 0, 1 + 10);
    gateway->is_bad[5] = TRUE; /* proves the text */
    (void)send_rounds(gateway);
    gateway->call.batches[0]->lane = NULL;
    tide_batch_free(gateway->call.batches[0]);
    gateway->call.n_batches = 0;
    TideBatch *batch = add_batch(gateway, 0, 21);
    batch->slice_rows = 7;
    gateway->failing_call = 2;
    gateway->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_RETRY};
    g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_RETRY);
    g_assert_cmpuint(batch->done_rows, ==, 7);
    gateway->failing_call = 0;
    for (guint32 row = 18; row < 22; row++)
      gateway->is_bad[row] = TRUE;
    gateway->refusing_calls = is_rejected ? 0 : 6;
    gateway->text_kind = is_rejected ? 0 : 1;
    for (guint round = 1; send_call_at(gateway, round * ROUND_US, &(TideIsolationCounts){0}) != TIDE_OUTCOME_OK;
         round++)
      g_assert_cmpuint(round, <, 4 * TIDE_PROOF_LIMIT);
    for (guint32 row = 0; row < batch->n_rows; row++)
      g_assert_true(gateway->n_written[11 + row] > 0 || tide_batch_find_poison(batch, row) != NULL);
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

/* Bad rows with a text that says nothing, in whatever number, keep no other row of their call waiting. */
static void
test_suspects_keep_nobody_waiting(void)
{
  Gateway *gateway = gateway_new();
  add_batch(gateway, 0, 100);
  gateway->is_ambiguous = TRUE;
  for (guint32 row = 5; row < 100; row += 10)
    gateway->is_bad[row] = TRUE;
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_POISON);
  for (guint32 row = 0; row < 100; row++)
    g_assert_cmpint(gateway->n_written[row] > 0, ==, !gateway->is_bad[row]);
  gateway_free(gateway);
}

/* A row that was marked as poison before, and is not sent with the others, is no witness for them. */
static void
test_marked_poison_row_is_no_witness(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch(gateway, 0, 4);
  gateway->is_bad[0] = TRUE;
  gateway->failing_call = 4;
  gateway->failing_with = (TideFailure){.outcome = TIDE_OUTCOME_RETRY};
  g_assert_cmpint(send_call(gateway), ==, TIDE_OUTCOME_RETRY);
  g_assert_nonnull(tide_batch_find_poison(batch, 0));
  gateway->failing_call = 0;
  gateway->is_ambiguous = gateway->is_bad[2] = gateway->is_bad[3] = TRUE;
  g_assert_cmpuint(send_rounds(gateway), ==, TIDE_PROOF_LIMIT);
  assert_found(gateway);
  gateway_free(gateway);
}

/* Once all is refused, also what was taken before, nothing is proven any more. */
static void
test_witness_that_is_refused_proves_nothing(void)
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = add_batch(gateway, 0, 50);
  gateway->is_ambiguous = gateway->is_bad[7] = TRUE;
  TideIsolationCounts counts;
  g_assert_cmpint(send_call_at(gateway, ROUND_US, &counts), ==, TIDE_OUTCOME_POISON);
  memset(gateway->is_bad, TRUE, sizeof gateway->is_bad);
  for (guint round = 2; round < 3 * TIDE_PROOF_LIMIT; round++) {
    g_assert_cmpint(send_call_at(gateway, round * ROUND_US, &counts), ==, TIDE_OUTCOME_POISON);
    g_assert_cmpuint(batch->poison.len, ==, 0);
  }
  memset(gateway->is_bad, FALSE, sizeof gateway->is_bad);
  gateway->is_bad[7] = TRUE; /* the region works again */
  g_assert_cmpint(send_call_at(gateway, 3 * TIDE_PROOF_LIMIT * ROUND_US, &counts), ==, TIDE_OUTCOME_POISON);
  g_assert_cmpuint(batch->poison.len, ==, 0);
  gateway_free(gateway);
}

/* A gateway that fails every other call, for so long that there were rounds enough to prove something. */
static void
test_gateway_that_flickers_for_long_marks_nothing_poison(void)
{
  for (guint32 n_rows = 2; n_rows < 40; n_rows++)
    for (guint32 phase = 0; phase < 2; phase++) {
      Gateway *gateway = gateway_new();
      TideBatch *batch = add_batch(gateway, 0, n_rows);
      gateway->n_all_calls = phase;
      gateway->failing_every = 2;
      TideOutcome outcome = TIDE_OUTCOME_POISON;
      for (guint round = 1; outcome != TIDE_OUTCOME_OK && round < 3 * TIDE_PROOF_LIMIT; round++) {
        TideIsolationCounts counts;
        outcome = send_call_at(gateway, round * ROUND_US, &counts);
        g_assert_cmpuint(batch->poison.len, ==, 0);
      }
      gateway_free(gateway);
    }
}

/* After an hour a text has to be proven anew. */
static void
test_belief_ends(void)
{
  Gateway *gateway = gateway_new();
  add_batch(gateway, 0, 50);
  gateway->is_ambiguous = gateway->is_bad[7] = TRUE;
  g_assert_cmpuint(send_rounds(gateway), ==, TIDE_PROOF_LIMIT);
  add_batch(gateway, 0, 20);
  gateway->is_bad[60] = TRUE;
  TideIsolationCounts counts;
  gint64 later_us = TIDE_PROOF_LIMIT * ROUND_US + 3601 * TIDE_US_PER_S;
  g_assert_cmpint(send_call_at(gateway, later_us, &counts), ==, TIDE_OUTCOME_POISON);
  gateway_free(gateway);
}

/* A call that begins with bad rows only: a gateway that refuses everything looks the same, so that each round asks a
 * few and is given up. It leaves one row out, and the next round gets further. */
static void
test_bad_rows_in_front_cost_a_round_each(void)
{
  for (guint32 n_bad = 1; n_bad < 10; n_bad++) {
    Gateway *gateway = gateway_new();
    add_batch(gateway, 0, 64);
    gateway->is_ambiguous = TRUE;
    for (guint32 row = 0; row < n_bad; row++)
      gateway->is_bad[row] = TRUE;
    g_assert_cmpuint(send_rounds(gateway), ==, n_bad < 3 ? TIDE_PROOF_LIMIT : most_rounds(n_bad));
    assert_found(gateway);
    gateway_free(gateway);
  }
}

/* Bad rows are found in any order: a suspect of an earlier round behind those of this one. */
static void
test_poison_is_found_in_whatever_order_it_came(void)
{
  static const guint32 orders[][4] = {{5, 3, 1, 0}, {1, 0, 5, 3}, {0, 1, 3, 5}, {3, 5, 0, 1}};
  for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
    TideBatch *batch = tide_batch_new();
    for (guint k = 0; k < G_N_ELEMENTS(orders[i]); k++)
      tide_batch_add_poison(batch, orders[i][k], orders[i][k] + 10, "bad");
    for (guint32 row = 0; row < 7; row++) {
      const TideBatchPoison *poison = tide_batch_find_poison(batch, row);
      gboolean is_bad = row == 0 || row == 1 || row == 3 || row == 5;
      g_assert_cmpint(poison != NULL, ==, is_bad);
      g_assert_true(poison == NULL || (poison->row == row && poison->attempts == row + 10));
    }
    tide_batch_free(batch);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/row-isolation/one-bad-row-is-found-at-every-place", test_one_bad_row_is_found_at_every_place);
  g_test_add_func("/row-isolation/one-of-ten-thousand-costs-less-than-thirty-calls",
                  test_one_of_ten_thousand_costs_less_than_thirty_calls);
  g_test_add_func("/row-isolation/named-rows-cost-three-calls-each", test_named_rows_cost_three_calls_each);
  g_test_add_func("/row-isolation/misleading-text-is-seen-through", test_misleading_text_is_seen_through);
  g_test_add_func("/row-isolation/search-of-named-rows-that-is-interrupted-passes-over-no-row",
                  test_search_of_named_rows_that_is_interrupted_passes_over_no_row);
  g_test_add_func("/row-isolation/several-bad-rows-are-each-found", test_several_bad_rows_are_each_found);
  g_test_add_func("/row-isolation/search-that-is-interrupted-goes-on-where-it-was",
                  test_search_that_is_interrupted_goes_on_where_it_was);
  g_test_add_func("/row-isolation/M09-interrupted-sweep-passes-over-no-row",
                  test_m09_interrupted_sweep_passes_over_no_row);
  g_test_add_func("/row-isolation/broken-gateway-marks-nothing-poison", test_broken_gateway_marks_nothing_poison);
  g_test_add_func("/row-isolation/flickering-gateway-marks-nothing-poison",
                  test_flickering_gateway_marks_nothing_poison);
  g_test_add_func("/row-isolation/F16-region-that-refuses-all-is-held", test_f16_region_that_refuses_all_is_held);
  g_test_add_func("/row-isolation/F16-suspect-is-not-marked-poison-in-a-moment",
                  test_f16_suspect_is_not_marked_poison_in_a_moment);
  g_test_add_func("/row-isolation/F16-text-that-is-verified-is-believed", test_f16_text_that_is_verified_is_believed);
  g_test_add_func("/row-isolation/F16-lone-row-is-marked-poison-when-its-region-is-seen-to-work",
                  test_lone_row_is_marked_poison_when_its_region_is_seen_to_work);
  g_test_add_func("/row-isolation/given-up-slice-passes-over-no-row", test_given_up_slice_passes_over_no_row);
  g_test_add_func("/row-isolation/F16-parts-of-a-refused-row-are-marked-poison-together",
                  test_parts_of_a_refused_row_are_marked_poison_together);
  g_test_add_func("/row-isolation/poison-is-found-in-whatever-order-it-came",
                  test_poison_is_found_in_whatever_order_it_came);
  g_test_add_func("/row-isolation/suspects-keep-nobody-waiting", test_suspects_keep_nobody_waiting);
  g_test_add_func("/row-isolation/marked-poison-row-is-no-witness", test_marked_poison_row_is_no_witness);
  g_test_add_func("/row-isolation/witness-that-is-refused-proves-nothing", test_witness_that_is_refused_proves_nothing);
  g_test_add_func("/row-isolation/gateway-that-flickers-for-long-marks-nothing-poison",
                  test_gateway_that_flickers_for_long_marks_nothing_poison);
  g_test_add_func("/row-isolation/belief-ends", test_belief_ends);
  g_test_add_func("/row-isolation/bad-rows-in-front-cost-a-round-each", test_bad_rows_in_front_cost_a_round_each);
  g_test_add_func("/row-isolation/mutated-rows-need-no-halving", test_mutated_rows_need_no_halving);
  return g_test_run();
}
