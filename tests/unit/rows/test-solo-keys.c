/* Solo keys: rows of which HBase refused one that several messages had made go without each other, and all others as
 * ever. */
#include "unit/accumulator_rig.h"
#include "unit/test_case.h"
#include "util/log.h"

#define SOLO_US (600 * TIDE_US_PER_S)

void
test_program_begin(void)
{
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
}

#define SOLO_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)
#define SOLO_TEST_OF(data, path) TEST_OF(Fixture, data, set_up, tear_down, path)

static void
append_at(Fixture *fixture, guint32 table, const char *key, const char *value, gint64 timestamp_ms)
{
  g_auto(OneCell) one = {0};
  fill_row(&one, table, key, value);
  one.cell.timestamp_ms = timestamp_ms;
  tide_accumulator_append_message(fixture->accumulator, &one.row, 1, fixture->source, fixture->now_us);
}

/* Rows of @keys leave in one call, and are written. */
#define ASSERT_WRITTEN(fixture, keys)                                                                                  \
  do {                                                                                                                 \
    TideCall written_;                                                                                                 \
    flush(fixture);                                                                                                    \
    ASSERT_CALL(fixture, &written_, keys);                                                                             \
    complete_batch(fixture, &written_);                                                                                \
  } while (0)

/* ---- the keys ---- */

TEST("/solo-keys/one-is-solo-for-ten-minutes-after-the-last-refusal")
{
  TideSoloKeys keys = {0};
  TideBytes key = TIDE_BYTES_LITERAL("k");
  guint64 hash = tide_key_hash(key);
  g_assert_false(tide_solo_keys_contain(&keys, key));
  g_assert_false(tide_solo_keys_add(&keys, hash, 5));
  g_assert_true(tide_solo_keys_contain(&keys, key));
  g_assert_false(tide_solo_keys_contain(&keys, TIDE_BYTES_LITERAL("other")));
  tide_solo_keys_enter(&keys, hash);
  tide_solo_keys_leave(&keys, hash, TRUE, 1000);
  tide_solo_keys_expire(&keys, 5 + SOLO_US);
  g_assert_true(tide_solo_keys_contain(&keys, key));
  tide_solo_keys_expire(&keys, 999 + SOLO_US);
  g_assert_true(tide_solo_keys_contain(&keys, key));
  tide_solo_keys_expire(&keys, 1000 + SOLO_US);
  g_assert_false(tide_solo_keys_contain(&keys, key));
  g_assert_null(keys.until_us); /* costs nothing any more */
}

/* Else a row that merges could overtake it. */
TEST("/solo-keys/one-is-solo-while-a-row-of-it-is-open-or-in-flight")
{
  TideSoloKeys keys = {0};
  TideBytes key = TIDE_BYTES_LITERAL("k");
  guint64 hash = tide_key_hash(key);
  g_assert_false(tide_solo_keys_add(&keys, hash, 0));
  tide_solo_keys_enter(&keys, hash);
  tide_solo_keys_enter(&keys, hash);
  tide_solo_keys_expire(&keys, SOLO_US);
  tide_solo_keys_leave(&keys, hash, FALSE, 0);
  g_assert_true(tide_solo_keys_contain(&keys, key));
  tide_solo_keys_leave(&keys, hash, FALSE, 0);
  g_assert_false(tide_solo_keys_contain(&keys, key));
  tide_solo_keys_expire(&keys, SOLO_US);
  g_assert_null(keys.until_us);
}

/* Beyond the bound the whole table is solo, for ten minutes, and that is told once. */
TEST("/solo-keys/too-many-make-the-table-solo")
{
  TideSoloKeys keys = {0};
  TideBytes other = TIDE_BYTES_LITERAL("other");
  for (guint64 hash = 1; hash <= TIDE_SOLO_KEYS_MAX; hash++)
    g_assert_false(tide_solo_keys_add(&keys, hash, 0));
  g_assert_false(tide_solo_keys_contain(&keys, other));
  g_assert_false(tide_solo_keys_add(&keys, 1, 0)); /* is one of them */
  g_assert_false(tide_solo_keys_contain(&keys, other));
  g_assert_true(tide_solo_keys_add(&keys, TIDE_SOLO_KEYS_MAX + 1, 7));
  g_assert_true(tide_solo_keys_contain(&keys, other));
  g_assert_false(tide_solo_keys_add(&keys, TIDE_SOLO_KEYS_MAX + 2, 7));
  g_assert_cmpuint(g_hash_table_size(keys.until_us), ==, TIDE_SOLO_KEYS_MAX);
  tide_solo_keys_enter(&keys, tide_key_hash(other));
  tide_solo_keys_leave(&keys, tide_key_hash(other), TRUE, 1000); /* one bad key keeps no table solo */
  tide_solo_keys_expire(&keys, SOLO_US);
  g_assert_true(tide_solo_keys_contain(&keys, other));
  tide_solo_keys_expire(&keys, 7 + SOLO_US);
  g_assert_false(tide_solo_keys_contain(&keys, other));
  tide_solo_keys_clear(&keys);
}

/* ---- their rows ---- */

/* Each message has a row of its own, many in a call; those of other keys merge, and neither waits for the other. @data:
 * the table */
static void
test_only_rows_of_solo_keys_are_not_merged(Fixture *fixture, guint32 table)
{
  TideCall solo, merged;
  make_solo(fixture, table, "solo");
  for (gint64 i = 1; i <= 3; i++) {
    append_at(fixture, table, "solo", "1", i);
    append_at(fixture, table, "other", "1", i);
  }
  flush(fixture);
  ASSERT_CALL(fixture, &solo, "solo solo solo ");
  g_assert_true(solo.batches[0]->is_solo);
  ASSERT_CALL(fixture, &merged, "other ");
  g_assert_false(merged.batches[0]->is_solo);
  complete_batch(fixture, &merged);
  append_at(fixture, table, "other", "2", 4);
  ASSERT_WRITTEN(fixture, "other "); /* while those are tried, for minutes maybe */
  complete_batch(fixture, &solo);
  g_assert_cmpint(tide_accumulator_oldest_us(fixture->accumulator), ==, 0);
}

SOLO_TEST("/solo-keys/rows/F16-latest-rows-of-other-keys-merge-and-go-on")
{
  test_only_rows_of_solo_keys_are_not_merged(fixture, LATEST);
}

SOLO_TEST("/solo-keys/rows/F16-data-rows-of-other-keys-merge-and-go-on")
{
  test_only_rows_of_solo_keys_are_not_merged(fixture, DATA);
}

/* On a quiet stream a row leaves at once; solo rows of its region that are tried make it no later. */
SOLO_TEST("/solo-keys/rows/those-in-flight-delay-no-other-row")
{
  TideCall solo, other;
  make_solo(fixture, DATA, "solo");
  append(fixture, DATA, "solo", "1");
  flush(fixture);
  ASSERT_CALL(fixture, &solo, "solo ");
  append(fixture, DATA, "other", "1");
  fixture->now_us += 10 * TIDE_US_PER_MS;
  tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_IDLE, 0, fixture->now_us);
  ASSERT_CALL(fixture, &other, "other ");
  complete_batch(fixture, &other);
  complete_batch(fixture, &solo);
}

SOLO_TEST("/solo-keys/rows/other-tables-merge")
{
  make_solo(fixture, LATEST, "k");
  append_at(fixture, DATA, "k", "1", 1);
  append_at(fixture, DATA, "k", "1", 2);
  ASSERT_WRITTEN(fixture, "k ");
}

/* After ten minutes they merge again. */
SOLO_TEST("/solo-keys/rows/they-merge-again")
{
  make_solo(fixture, LATEST, "k");
  fixture->now_us += SOLO_US;
  flush(fixture);
  append_at(fixture, LATEST, "k", "1", 1);
  append_at(fixture, LATEST, "k", "1", 2);
  ASSERT_WRITTEN(fixture, "k ");
}

/* What was merged before comes first: it may give one of their cells an earlier offset's value. */
SOLO_TEST("/solo-keys/rows/they-follow-the-merged-row-of-their-key")
{
  TideCall refused, merged;
  append(fixture, LATEST, "k", "refused");
  flush(fixture);
  ASSERT_CALL(fixture, &refused, "k ");
  append(fixture, LATEST, "k", "merged"); /* while that is on its way */
  tide_batch_add_poison(refused.batches[0], 0, 1, "Timestamp for KV out of range");
  g_assert_false(tide_accumulator_stop_merging(fixture->accumulator, refused.batches[0], 0, fixture->now_us));
  complete_batch(fixture, &refused);
  append(fixture, LATEST, "k", "solo");
  flush(fixture);
  ASSERT_CALL(fixture, &merged, "k ");
  g_assert_false(merged.batches[0]->is_solo);
  flush(fixture);
  ASSERT_CALL(fixture, &refused, "");
  complete_batch(fixture, &merged);
  fixture->now_us += TIDE_US_PER_MS;
  ASSERT_WRITTEN(fixture, "k ");
}

/* A solo row that must wait for another of its key, which is tried, keeps none of another key. */
SOLO_TEST("/solo-keys/rows/one-that-waits-keeps-none-of-another-key")
{
  TideCall first, other;
  make_solo(fixture, LATEST, "a");
  make_solo(fixture, LATEST, "b");
  append(fixture, LATEST, "a", "1");
  flush(fixture);
  ASSERT_CALL(fixture, &first, "a ");
  append(fixture, LATEST, "a", "2");
  append(fixture, LATEST, "b", "1");
  flush(fixture);
  ASSERT_CALL(fixture, &other, "b ");
  complete_batch(fixture, &other);
  fixture->now_us += TIDE_US_PER_MS;
  flush(fixture);
  ASSERT_CALL(fixture, &other, "");
  complete_batch(fixture, &first);
  fixture->now_us += TIDE_US_PER_MS;
  ASSERT_WRITTEN(fixture, "a ");
}

/* Those of other times write other cells, so none waits for another, however long that is tried. */
SOLO_TEST("/solo-keys/rows/those-of-other-times-wait-for-none")
{
  TideCall first, second;
  make_solo(fixture, LATEST, "k");
  append_at(fixture, LATEST, "k", "1", 1);
  flush(fixture);
  ASSERT_CALL(fixture, &first, "k ");
  append_at(fixture, LATEST, "k", "2", 1);
  append_at(fixture, LATEST, "k", "1", 2);
  flush(fixture);
  ASSERT_CALL(fixture, &second, "k ");
  complete_batch(fixture, &second);
  flush(fixture);
  ASSERT_CALL(fixture, &second, "");
  complete_batch(fixture, &first);
  fixture->now_us += TIDE_US_PER_MS;
  ASSERT_WRITTEN(fixture, "k ");
}

/* Rows that wait are copied whenever others are sealed. While they are many, that is done less often, and not for
 * nothing at all. */
SOLO_TEST("/solo-keys/rows/many-that-wait-are-looked-at-less-often")
{
  enum { N_WAITING = 100 };
  TideCall first, other;
  make_solo(fixture, LATEST, "a");
  make_solo(fixture, LATEST, "b");
  append(fixture, LATEST, "a", "0");
  flush(fixture);
  ASSERT_CALL(fixture, &first, "a ");
  for (guint i = 1; i <= N_WAITING; i++) {
    g_autofree char *value = g_strdup_printf("%u", i);
    append(fixture, LATEST, "a", value);
  }
  flush(fixture);
  const TideLaneBuffer *lane = first.batches[0]->sealer.lane_buffer;
  g_assert_cmpuint(lane->solo_remaining, ==, N_WAITING);
  gint64 sealed_us = fixture->now_us;
  fixture->now_us += TIDE_US_PER_S;
  flush(fixture);
  g_assert_cmpint(lane->solo_sealed_us, ==, sealed_us); /* nothing has changed */
  fixture->now_us = sealed_us;
  append(fixture, LATEST, "b", "1");
  gint64 next_us = tide_accumulator_tick(fixture->accumulator, TIDE_PRESSURE_FLUSH, 0, fixture->now_us);
  ASSERT_CALL(fixture, &other, "");
  g_assert_cmpint(next_us, ==, sealed_us + N_WAITING * 10);
  fixture->now_us = next_us;
  ASSERT_WRITTEN(fixture, "b ");
  complete_batch(fixture, &first);
  lose_partition(fixture, 0);
}

/* Rows that are cancelled are open no more: their key merges once its time is over. */
SOLO_TEST("/solo-keys/rows/cancelled-ones-keep-no-key-solo")
{
  make_solo(fixture, LATEST, "k");
  append(fixture, LATEST, "k", "1");
  lose_partition(fixture, 0);
  flush(fixture);
  g_assert_true(tide_accumulator_is_empty(fixture->accumulator));
  fixture->now_us += SOLO_US;
  flush(fixture);
  append_at(fixture, LATEST, "k", "1", 1);
  append_at(fixture, LATEST, "k", "1", 2);
  ASSERT_WRITTEN(fixture, "k ");
}

/* What follows such a row is sent after it, and none is sent of one that is refused. */
SOLO_TEST("/solo-keys/rows/their-dependent-rows-follow-them")
{
  TideCall call;
  make_solo(fixture, DATA, "a");
  make_solo(fixture, LATEST, "i");
  for (guint i = 0; i < 2; i++) {
    g_auto(OneCell) parent = {0}, index = {0};
    fill_row(&parent, DATA, "a", "1");
    fill_row(&index, LATEST, "i", "1");
    parent.cell.timestamp_ms += i;
    index.cell.timestamp_ms += i;
    index.row.follows = 1;
    const TideRow rows[] = {parent.row, index.row};
    tide_accumulator_append_message(fixture->accumulator, rows, 2, fixture->source, fixture->now_us);
  }
  flush(fixture);
  ASSERT_CALL(fixture, &call, "a a ");
  tide_batch_add_poison(call.batches[0], 1, 1, "Timestamp for KV out of range");
  complete_batch(fixture, &call);
  ASSERT_WRITTEN(fixture, "i ");
}

/* ---- bounds ---- */

/* What of @fixture may be sent is taken and acknowledged, but not completed yet. */
static guint
acknowledge_all(Fixture *fixture, guint *ret_n_batches)
{
  TideCall call;
  guint n_rows = 0;
  *ret_n_batches = 0;
  for (;;) {
    g_free(take_call(fixture, &call));
    if (call.n_batches == 0)
      return n_rows;
    *ret_n_batches += call.n_batches;
    n_rows += call.n_rows;
    tide_lanes_finish(fixture->flow.lanes, &call, TIDE_OUTCOME_OK, NULL, fixture->now_us);
  }
}

static void
append_one_by_one(Fixture *fixture, gboolean are_solo, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s%u", are_solo ? "solo" : "n", i);
    if (are_solo)
      make_solo(fixture, DATA, key);
  }
  for (guint i = 0; i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s%u", are_solo ? "solo" : "n", i);
    append(fixture, DATA, key, "1");
    flush(fixture);
  }
}

/* However often rows are to leave: what a lane has beyond its bound waits, and goes together. @data: whether solo */
static void
test_batches_of_a_lane_are_bounded(Fixture *fixture, gconstpointer data)
{
  enum { MAX_IN_FLIGHT = 32, N_MORE = 8 };
  guint n_batches;
  append_one_by_one(fixture, GPOINTER_TO_UINT(data) != 0, MAX_IN_FLIGHT + N_MORE);
  g_assert_cmpuint(acknowledge_all(fixture, &n_batches), ==, MAX_IN_FLIGHT);
  g_assert_cmpuint(n_batches, ==, MAX_IN_FLIGHT);
  complete_ended(fixture);
  flush(fixture);
  g_assert_cmpuint(acknowledge_all(fixture, &n_batches), ==, N_MORE);
  g_assert_cmpuint(n_batches, ==, 1);
  complete_ended(fixture);
}

SOLO_TEST_OF(GUINT_TO_POINTER(0), "/solo-keys/bounds/merged-batches-of-a-lane")
{
  test_batches_of_a_lane_are_bounded(fixture, data);
}

SOLO_TEST_OF(GUINT_TO_POINTER(1), "/solo-keys/bounds/solo-batches-of-a-lane")
{
  test_batches_of_a_lane_are_bounded(fixture, data);
}

/* Nor do other rows of their region wait until some of them are written; nor they for those. */
static void
test_lane_full_of_one_kind_takes_the_other(Fixture *fixture, gboolean is_full_of_solo)
{
  TideCall call;
  make_solo(fixture, DATA, "s");
  append_one_by_one(fixture, is_full_of_solo, 100);
  append(fixture, DATA, is_full_of_solo ? "other" : "s", "1");
  flush(fixture);
  gboolean is_sent = FALSE, is_over = FALSE;
  while (!is_over) {
    g_autofree char *keys = take_call(fixture, &call);
    is_sent |= g_str_has_prefix(keys, is_full_of_solo ? "other " : "s ");
    is_over = call.n_batches == 0;
    if (!is_over) /* it is not completed yet */
      tide_lanes_finish(fixture->flow.lanes, &call, TIDE_OUTCOME_OK, NULL, fixture->now_us);
  }
  g_assert_true(is_sent);
  complete_ended(fixture);
}

SOLO_TEST("/solo-keys/bounds/lane-full-of-solo-rows-takes-others")
{
  test_lane_full_of_one_kind_takes_the_other(fixture, TRUE);
}

SOLO_TEST("/solo-keys/bounds/lane-full-of-others-takes-solo-rows")
{
  test_lane_full_of_one_kind_takes_the_other(fixture, FALSE);
}
