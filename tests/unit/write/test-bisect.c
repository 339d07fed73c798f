/* Rows that are refused, get no answer or are too large, and what becomes of the others of their call. */
#include "unit/bisect_gateway.h"

static guint
log2_of(guint32 n)
{
  return (guint)g_bit_storage(n - 1);
}

/* ---- rows that are refused with a text that says why ---- */

TEST("/bisect/B4-one-bad-row-costs-two-calls-for-each-halving")
{
  for (guint32 n = 1; n <= 1000; n = n < 40 ? n + 1 : n * 5)
    for (guint32 bad = 0; bad < n; bad++) {
      Gateway *gateway = gateway_new();
      gateway_add_batch(gateway, 0, n);
      gateway->is_bad[bad] = TRUE;
      g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
      g_assert_cmpuint(gateway->n_calls, <=, 1 + 2 * log2_of(n));
      g_assert_cmpuint(gateway->counts.bisections, ==, gateway->n_calls - 1);
      g_assert_cmpuint(gateway->counts.poison, ==, 1);
      gateway_assert_exact(gateway);
      gateway_free(gateway);
    }
}

/* In one call, however they lie, also where all are bad; each row is written once. */
TEST("/bisect/any-bad-rows-of-any-batches")
{
  for (guint run = 0; run < 2000; run++) {
    Gateway *gateway = gateway_new();
    guint n_batches = (guint)g_test_rand_int_range(1, 5);
    for (guint i = 0; i < n_batches; i++)
      gateway_add_batch(gateway, i % 2, (guint32)g_test_rand_int_range(1, 30))->is_mutations = run % 5 == 0;
    guint one_in = (guint)g_test_rand_int_range(1, 20);
    guint32 n_bad = 0;
    for (guint32 i = 0; i < gateway->n_rows; i++) {
      gateway->is_bad[i] = g_test_rand_int_range(0, (gint32)one_in) == 0;
      n_bad += gateway->is_bad[i] ? 1 : 0;
    }
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
    g_assert_cmpuint(gateway->n_calls, <=, gateway->n_rows + 1 + n_bad * 2 * log2_of(gateway->n_rows + 1));
    gateway_assert_exact(gateway);
    for (guint32 i = 0; i < gateway->n_rows; i++)
      g_assert_cmpuint(gateway->n_written[i], <=, 1);
    gateway_free(gateway);
  }
}

/* Of a table with few refused rows each costs a few calls. */
TEST("/bisect/one-row-in-230-costs-a-few-calls")
{
  Gateway *gateway = gateway_new();
  gateway_add_batch(gateway, 0, 1000);
  for (guint32 i = 100; i < 1000; i += 230)
    gateway->is_bad[i] = TRUE;
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(gateway->n_calls, <=, 1 + 4 * (log2_of(250) * 2 + 2));
  gateway_assert_exact(gateway);
  gateway_free(gateway);
}

/* ---- what ends a call early ---- */

/* Whatever ends takes in the middle, and however often: no row is passed over, none is poison that is not bad. */
TEST("/bisect/interrupted-at-any-call")
{
  static const TideOutcome endings[] = {TIDE_OUTCOME_UNKNOWN, TIDE_OUTCOME_RETRY, TIDE_OUTCOME_NOT_SENT,
                                        TIDE_OUTCOME_SUSPEND};
  for (guint run = 0; run < 1000; run++) {
    Gateway *gateway = gateway_new();
    gateway->is_uncertain = run % 2 == 0;
    gateway_add_batch(gateway, 0, 24);
    for (guint k = 0; k < 3; k++)
      gateway->is_bad[g_test_rand_int_range(0, 24)] = TRUE;
    for (guint turn = 0; turn < 100 && !gateway_is_finished(gateway); turn++) {
      gateway->ending = turn % 2 == 0 ? endings[g_test_rand_int_range(0, G_N_ELEMENTS(endings))] : TIDE_OUTCOME_OK;
      gateway->ending_after = (guint32)g_test_rand_int_range(0, 12);
      (void)gateway_send(gateway);
    }
    g_assert_true(gateway_is_finished(gateway));
    for (guint32 i = 0; i < gateway->n_rows; i++) {
      g_assert_cmpint(tide_batch_find_poison(gateway->call.batches[0], i) != NULL, ==, gateway->is_bad[i]);
      g_assert_cmpint(gateway->n_written[i] > 0, ==, !gateway->is_bad[i]);
    }
    gateway_free(gateway);
  }
}

/* Only what a call without an answer carried may still land. */
TEST("/bisect/only-what-a-silent-call-carried-is-in-doubt")
{
  Gateway *gateway = gateway_new();
  TideBatch *first = gateway_add_batch(gateway, 0, 4), *second = gateway_add_batch(gateway, 1, 4);
  gateway->is_bad[0] = TRUE;
  gateway->is_silent[7] = TRUE;
  gateway->call.max_rows = 4;
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_cmpint(first->times.last_unknown_us, ==, 0);
  g_assert_cmpint(second->times.last_unknown_us, ==, gateway->now_us);
  g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 3);
  g_assert_cmpuint(gateway->call.silent_rows, ==, 4);
  gateway_free(gateway);
}

/* ---- rows that are refused with a text that does not say why ---- */

/* It is poison after so many rounds in which a row of its batch was accepted, and not before; the others are written by
 * the first call, and are not sent again but as a control. */
TEST("/bisect/F16-suspect-is-poison-after-its-rounds")
{
  for (guint32 bad = 0; bad < 20; bad++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = gateway_add_batch(gateway, 0, 20);
    gateway->is_uncertain = TRUE;
    gateway->is_bad[bad] = TRUE;
    for (guint round = 1; round <= TIDE_SUSPECT_ROUNDS; round++) {
      g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, 0);
      g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
      g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 19);
      g_assert_cmpint(batch->delivery.not_before_us > gateway->now_us, ==, round < TIDE_SUSPECT_ROUNDS);
      g_assert_cmpuint(gateway->n_calls, <=, round == 1 ? 1 + 2 * log2_of(20) : 2);
    }
    gateway_assert_exact(gateway);
    gateway_free(gateway);
  }
}

/* The rows of a region that refuses everything wait, whatever another region accepts in the same calls, and a round
 * costs few calls. When it recovers all is written. */
TEST("/bisect/F16-nothing-of-a-region-that-refuses-everything-is-poison")
{
  Gateway *gateway = gateway_new();
  TideBatch *refused = gateway_add_batch(gateway, 0, 100);
  gateway_add_batch(gateway, 1, 100);
  gateway->is_uncertain = TRUE;
  for (guint32 i = 0; i < 100; i++)
    gateway->is_bad[i] = TRUE;
  for (guint round = 0; round < 20 * TIDE_SUSPECT_ROUNDS; round++) {
    g_assert_cmpint(gateway_send(gateway), ==, round < 98 ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK);
    g_assert_cmpuint(gateway->n_calls, <=, 30);
    g_assert_cmpuint(refused->delivery.poison.len, ==, 0);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 100);
  }
  memset(gateway->is_bad, FALSE, sizeof gateway->is_bad);
  while (!gateway_is_finished(gateway))
    (void)gateway_send(gateway);
  gateway_assert_exact(gateway);
  gateway_free(gateway);
}

/* Rows that are refused may stand together, at the begin of their batch or at its end: the others do not wait until
 * each of them was found. */
TEST("/bisect/F16-refused-rows-side-by-side")
{
  for (guint at_end = 0; at_end < 2; at_end++) {
    Gateway *gateway = gateway_new();
    const TideBatch *batch = gateway_add_batch(gateway, 0, 100);
    gateway->is_uncertain = TRUE;
    for (guint32 i = 0; i < 60; i++)
      gateway->is_bad[at_end > 0 ? 99 - i : i] = TRUE;
    guint n_takes = 0;
    for (; gateway_count(gateway, TIDE_ROW_DONE) < 40; n_takes++) {
      g_assert_cmpuint(batch->delivery.n_refusing, ==, n_takes);
      (void)gateway_send(gateway);
    }
    g_assert_cmpuint(n_takes, <=, 5);
    g_assert_cmpuint(batch->delivery.n_refusing, ==, 0);
    gateway_free(gateway);
  }
}

/* A gateway that is broken in the middle makes no row poison that was not refused while others were accepted. */
TEST("/bisect/F16-gateway-that-fails-every-so-many-calls")
{
  for (guint32 every = 2; every < 8; every++)
    for (guint32 n = 1; n < 12 * every; n++) {
      Gateway *gateway = gateway_new();
      gateway_add_batch(gateway, 0, n);
      gateway->is_uncertain = TRUE;
      gateway->failing_every = every;
      gateway->n_all_calls = n % every;
      for (guint turn = 0; turn < 20 * TIDE_SUSPECT_ROUNDS && !gateway_is_finished(gateway); turn++)
        (void)gateway_send(gateway);
      g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, n);
      gateway_free(gateway);
    }
}

/* Nor is it poison for what its region accepted before, once that refuses everything: the control row shows it. */
TEST("/bisect/F16-region-that-refuses-everything-from-then-on")
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = gateway_add_batch(gateway, 0, 10);
  gateway->is_uncertain = gateway->is_bad[4] = gateway->is_bad[7] = TRUE;
  (void)gateway_send(gateway);
  g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 2);
  gateway->refuses_all = TRUE;
  for (guint round = 0; round < 5 * TIDE_SUSPECT_ROUNDS; round++) {
    batch->delivery.lane_ok_us = gateway->now_us; /* of another writer's call, a moment before */
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_POISON);
    g_assert_true(batch->delivery.has_failed);
    g_assert_cmpuint(gateway->n_calls, <=, 2);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 2);
  }
  gateway->refuses_all = FALSE;
  for (guint round = 0; round < TIDE_SUSPECT_ROUNDS; round++)
    (void)gateway_send(gateway);
  gateway_assert_exact(gateway);
  gateway_free(gateway);
}

/* A row without neighbours waits until another batch of its lane was accepted since it was refused first; then its
 * rounds count, unless what comes after that is refused, too. */
TEST("/bisect/row-without-neighbours-waits-for-its-lane")
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = gateway_add_batch(gateway, 0, 1);
  gateway->is_uncertain = gateway->is_bad[0] = TRUE;
  batch->delivery.lane_ok_us = gateway->now_us; /* before the row was refused for the first time */
  for (guint round = 0; round < 5 * TIDE_SUSPECT_ROUNDS; round++) {
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
    g_assert_true(gateway->call.is_answered);
    g_assert_cmpint(batch->delivery.n_more, ==, round == 0 ? 1 : 0);
  }
  g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 1);
  g_assert_nonnull(strstr(batch->delivery.text, "its region has accepted no other row since"));
  g_assert_true(batch->delivery.is_stuck);
  gint64 accepted_us = gateway->now_us + 1;
  for (guint round = 1; round <= TIDE_SUSPECT_ROUNDS; round++) {
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, 0);
    batch->delivery.lane_ok_us = accepted_us;
    (void)gateway_send(gateway);
    g_assert_false(batch->delivery.is_stuck);
    batch->delivery.lane_ok_us = 0; /* what came since was refused */
    if (round < TIDE_SUSPECT_ROUNDS)
      (void)gateway_send(gateway);
  }
  g_assert_cmpint(batch->delivery.n_more, ==, -1);
  gateway_assert_exact(gateway);
  gateway_free(gateway);
}

/* Where nothing else comes, one that its region accepted before counts as well, for all rounds that the row had; where
 * it never accepted any, the row waits. */
TEST("/bisect/last-row-of-all-has-its-rounds")
{
  for (guint has_worked = 0; has_worked < 2; has_worked++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = gateway_add_batch(gateway, 0, 1);
    gateway->is_uncertain = gateway->is_bad[0] = TRUE;
    batch->delivery.lane_ok_us = has_worked > 0 ? gateway->now_us : 0;
    for (guint round = 1; round < TIDE_SUSPECT_ROUNDS; round++) {
      batch->delivery.is_final = round > 5;
      (void)gateway_send(gateway);
      g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 1);
    }
    (void)gateway_send(gateway);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, has_worked);
    gateway_free(gateway);
  }
}

/* A suspect that is accepted is written like any other, and none of its rounds counts any more. */
TEST("/bisect/suspect-that-is-accepted-is-forgotten")
{
  Gateway *gateway = gateway_new();
  gateway->is_uncertain = TRUE;
  for (guint turn = 0; turn < 2; turn++) {
    gateway_add_batch(gateway, 0, 8);
    gateway->is_bad[3] = TRUE;
    for (guint round = 1; round < TIDE_SUSPECT_ROUNDS; round++)
      (void)gateway_send(gateway);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 1);
    gateway->is_bad[3] = FALSE;
    (void)gateway_send(gateway);
    g_assert_true(gateway_is_finished(gateway));
    gateway_forget_batches(gateway);
  }
  gateway_free(gateway);
}

/* ---- evidence is kept when a batch is gone ---- */

/* After a rewind the same row comes in another batch: it goes apart at once, and its rounds go on. */
TEST("/bisect/evidence-survives-a-rewind")
{
  Gateway *gateway = gateway_new();
  gateway->is_uncertain = gateway->is_bad[5] = TRUE;
  for (guint round = 1; round <= TIDE_SUSPECT_ROUNDS; round++) {
    gateway_add_batch(gateway, 0, 16);
    (void)gateway_send(gateway);
    g_assert_cmpuint(gateway->n_calls, <=, round == 1 ? 9 : 2);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, round < TIDE_SUSPECT_ROUNDS ? 0 : 1);
    gateway_forget_batches(gateway);
  }
  gateway_free(gateway);
}

/* A row that was poison once costs one call, whatever text says so; other cells of its key are another row. */
TEST("/bisect/known-poison-goes-apart")
{
  Gateway *gateway = gateway_new();
  gateway->is_bad[5] = TRUE;
  for (guint turn = 0; turn < 3; turn++) {
    TideBatch *batch = gateway_add_batch(gateway, 0, 16);
    gateway->is_uncertain = turn == 2;
    (void)gateway_send(gateway);
    g_assert_cmpuint(gateway->n_calls, <=, turn == 0 ? 9 : 2);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, 1);
    g_assert_nonnull(tide_batch_find_poison(batch, 5));
    gateway_forget_batches(gateway);
  }
  TideBatch *other = gateway_add_batch(gateway, 0, 0);
  for (guint i = 0; i < 16; i++)
    gateway_add_row(gateway, other, 10);
  gateway->is_bad[5] = FALSE;
  (void)gateway_send(gateway);
  g_assert_cmpuint(gateway->n_calls, ==, 1);
  gateway_free(gateway);
}

/* However many rows are suspected, what is kept is bounded, and those without evidence only wait longer. */
TEST("/bisect/evidence-is-bounded")
{
  TideSuspects suspects;
  tide_suspects_init(&suspects);
  guint32 n_kept = 0;
  for (guint64 i = 1; i <= 100000; i++) {
    TideSuspect suspect = {.identity = i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), .n_tries = 1, .seen_us = 1};
    tide_suspects_keep(&suspects, &suspect);
  }
  for (guint64 i = 1; i <= 100000; i++)
    n_kept += tide_suspects_find(&suspects, i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), 2).n_tries > 0 ? 1 : 0;
  g_assert_cmpuint(n_kept, >, 8192);
  g_assert_cmpuint(n_kept, <=, 16384);
  /* Those that were there first keep theirs; an hour later there is room for others. */
  TideSuspect late = {.identity = G_GUINT64_CONSTANT(0x9e3779b97f4a7c15), .n_tries = 2, .seen_us = 3};
  g_assert_cmpuint(tide_suspects_find(&suspects, late.identity, 2).n_tries, ==, 1);
  g_assert_cmpuint(tide_suspects_find(&suspects, late.identity, 3601 * TIDE_US_PER_S).n_tries, ==, 0);
  late.identity++;
  late.seen_us = 3601 * TIDE_US_PER_S;
  tide_suspects_keep(&suspects, &late);
  g_assert_cmpuint(tide_suspects_find(&suspects, late.identity, late.seen_us).n_tries, ==, 2);
  tide_suspects_clear(&suspects);
}

/* ---- calls that get no answer ---- */

/* K7: a server that says nothing to calls of many rows. All rows are written, and the halves are tried after two
 * silences each. */
TEST("/bisect/K7-calls-that-get-no-answer-are-halved")
{
  for (guint32 max_rows = 1; max_rows <= 64; max_rows *= 2) {
    Gateway *gateway = gateway_new();
    gateway_add_batch(gateway, 0, 64);
    gateway->max_rows = max_rows;
    guint n_silent = 0;
    for (guint turn = 0; turn < 100 && !gateway_is_finished(gateway); turn++)
      n_silent += gateway_send(gateway) == TIDE_OUTCOME_UNKNOWN ? 1 : 0;
    g_assert_cmpuint(n_silent, ==, 2 * (6 - (guint)g_bit_storage(max_rows) + 1));
    g_assert_cmpuint(gateway->largest_rows, ==, MIN(max_rows, 64));
    gateway_assert_exact(gateway);
    g_assert_cmpuint(gateway->call.taken_rows, ==, max_rows);
    gateway_free(gateway);
  }
}

/* Two silences count where nothing of the batch was accepted between them: then it may be the size. What was accepted
 * earlier says nothing of a later call. */
TEST("/bisect/only-silences-in-a-row-halve-a-call")
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = gateway_add_batch(gateway, 0, 20);
  gateway->call.max_rows = 10;
  gateway->ending = TIDE_OUTCOME_UNKNOWN;
  for (guint32 accepted = 0; accepted < 2; accepted++) {
    gateway->ending_after = accepted; /* calls */
    (void)gateway_send(gateway);
    g_assert_cmpuint(batch->delivery.piece_rows, ==, 0);
    g_assert_cmpint(batch->delivery.is_acknowledged, ==, accepted > 0);
  }
  gateway->ending_after = 0;
  (void)gateway_send(gateway);
  g_assert_cmpuint(batch->delivery.piece_rows, ==, 5);
  g_assert_false(batch->delivery.is_acknowledged);
  gateway_free(gateway);
}

/* A table that is disabled while a suspect is tried is suspended, also where all other rows are written. */
TEST("/bisect/suspect-may-tell-that-its-table-is-suspended")
{
  Gateway *gateway = gateway_new();
  gateway_add_batch(gateway, 0, 20);
  gateway->is_uncertain = TRUE;
  gateway->is_bad[7] = TRUE;
  for (guint round = 0; round < 2; round++)
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
  gateway->ending = TIDE_OUTCOME_SUSPEND;
  gateway->ending_after = 1; /* behind the control row */
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_SUSPEND);
  gateway_free(gateway);
}

/* A row on which the gateway crashes or hangs keeps none of its batch waiting, and is never poison below the smallest
 * limit of a gateway: it is written once it gets an answer. */
TEST("/bisect/D14-row-without-an-answer-keeps-nobody-waiting")
{
  for (guint32 silent = 0; silent < 32; silent++) {
    Gateway *gateway = gateway_new();
    gateway->now_us += 1;
    TideBatch *batch = gateway_add_batch(gateway, 0, 32);
    gateway->is_silent[silent] = TRUE;
    guint n_takes = 0;
    while (gateway_count(gateway, TIDE_ROW_SUSPECT) == 0 || gateway_count(gateway, TIDE_ROW_DONE) < 31) {
      (void)gateway_send(gateway);
      g_assert_cmpuint(++n_takes, <=, 2 * 6 + 1);
    }
    for (guint round = 0; round < 3 * TIDE_SUSPECT_ROUNDS; round++) {
      batch->delivery.lane_ok_us = gateway->now_us;
      (void)gateway_send(gateway);
      g_assert_cmpuint(gateway->n_calls, <=, 2);
      g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_SUSPECT), ==, 1);
    }
    g_assert_nonnull(strstr(batch->delivery.text, "got no answer in"));
    gateway->is_silent[silent] = FALSE;
    (void)gateway_send(gateway);
    gateway_assert_exact(gateway);
    gateway_free(gateway);
  }
}

/* Its lane goes on as if nothing was, as long as the control row is accepted; and fails where that gets no answer
 * either, or where there is none: else rows of dead regions would keep all writers waiting. */
TEST("/bisect/D3-suspect-of-a-dead-region-is-its-lanes-failure")
{
  Gateway *gateway = gateway_new();
  TideBatch *batch = gateway_add_batch(gateway, 0, 8);
  gateway->is_silent[2] = TRUE;
  while (gateway_count(gateway, TIDE_ROW_DONE) < 7)
    (void)gateway_send(gateway);
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_false(batch->delivery.has_failed);
  memset(gateway->is_silent, TRUE, sizeof gateway->is_silent);
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_UNKNOWN);
  g_assert_true(batch->delivery.has_failed);
  gateway_forget_batches(gateway);
  batch = gateway_add_batch(gateway, 0, 1);
  for (guint turn = 0; turn < 5; turn++) {
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_UNKNOWN);
    g_assert_true(batch->delivery.has_failed);
    g_assert_false(gateway->call.is_answered);
  }
  gateway_free(gateway);
}

/* Several have their turns, though the connection is lost with each. */
TEST("/bisect/rows-without-an-answer-take-turns")
{
  Gateway *gateway = gateway_new();
  gateway_add_batch(gateway, 0, 16);
  gateway->is_silent[3] = gateway->is_silent[4] = gateway->is_silent[11] = TRUE;
  for (guint turn = 0; turn < 60; turn++)
    (void)gateway_send(gateway);
  g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 13);
  gateway->is_silent[4] = FALSE;
  for (guint turn = 0; turn < 6; turn++)
    (void)gateway_send(gateway);
  g_assert_cmpuint(gateway->n_written[4], ==, 1);
  g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 14);
  gateway_free(gateway);
}

/* One that no framed gateway need take is poison, but only while others of its lane are accepted. */
TEST("/bisect/B5-D14-row-above-a-gateways-limit")
{
  for (guint with_others = 0; with_others < 2; with_others++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = gateway_add_batch(gateway, 0, with_others > 0 ? 4 : 0);
    gateway->is_silent[batch->n_rows] = TRUE;
    gateway_add_row(gateway, batch, TIDE_FRAME_LIMIT_LEAST_BYTES);
    for (guint turn = 0; turn < 10 + 2 * TIDE_SUSPECT_ROUNDS; turn++)
      (void)gateway_send(gateway);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_POISON), ==, with_others);
    const TideBatchPoison *poison = tide_batch_find_poison(batch, batch->n_rows - 1);
    g_assert_true(poison == NULL || strstr(poison->text, "exceeds what the gateway accepts: refused") != NULL);
    gateway_free(gateway);
  }
}

/* ---- calls that are refused for their size ---- */

/* Both halves may be accepted, so both are sent whole; what was too large is told, unless it was one row. */
TEST("/bisect/calls-refused-for-their-size-are-halved")
{
  for (guint with_large_row = 0; with_large_row < 2; with_large_row++) {
    Gateway *gateway = gateway_new();
    TideBatch *batch = gateway_add_batch(gateway, 0, 64);
    if (with_large_row > 0)
      gateway_add_row(gateway, batch, 1000);
    gateway->max_bytes = 100;
    g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
    g_assert_cmpuint(gateway_count(gateway, TIDE_ROW_DONE), ==, 64);
    g_assert_cmpuint(gateway->call.oversized_rows, ==, with_large_row > 0 ? 0 : 32);
    if (with_large_row == 0)
      g_assert_cmpuint(gateway->n_calls, ==, 7);
    for (guint round = 1; round < TIDE_SUSPECT_ROUNDS; round++)
      (void)gateway_send(gateway);
    gateway->is_bad[64] = with_large_row > 0;
    gateway_assert_exact(gateway);
    gateway_free(gateway);
  }
}

/* What the table has learned is kept to from the first call on. */
TEST("/bisect/no-call-has-more-rows-than-the-table-accepts")
{
  Gateway *gateway = gateway_new();
  gateway_add_batch(gateway, 0, 100);
  gateway->call.max_rows = 7;
  g_assert_cmpint(gateway_send(gateway), ==, TIDE_OUTCOME_OK);
  g_assert_cmpuint(gateway->largest_rows, ==, 7);
  g_assert_cmpuint(gateway->n_calls, ==, 15);
  gateway_assert_exact(gateway);
  gateway_free(gateway);
}

/* ---- batches that are cancelled ---- */

/* Nothing of it is sent from then on, at whatever call that is, and the others are sent as ever. */
TEST("/bisect/cancelled-after-any-call")
{
  for (guint32 run = 0; run < 6 * 12; run++)
    for (guint is_uncertain = 0; is_uncertain < 2; is_uncertain++) {
      Gateway *gateway = gateway_new();
      TideBatch *first = gateway_add_batch(gateway, 0, 8);
      gateway_add_batch(gateway, 0, 8);
      gateway->is_bad[1] = gateway->is_bad[9] = TRUE;
      gateway->is_uncertain = is_uncertain > 0;
      if (run == 0)
        tide_batch_cancel(first);
      for (guint round = 0; round < 2 * TIDE_SUSPECT_ROUNDS; round++) {
        gateway->cancelling_call = round == run / 12 ? run % 12 : 0;
        (void)gateway_send(gateway); /* which sees that nothing of it is sent */
      }
      for (guint32 i = 8; i < 16; i++)
        g_assert_cmpint(gateway->n_written[i] > 0, ==, i != 9);
      g_assert_nonnull(tide_batch_find_poison(gateway->call.batches[1], 1));
      gateway_free(gateway);
    }
}
