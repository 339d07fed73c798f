/* Batches that are kept for the next use: they are taken again, and never keep consumers from reading. */
#include "write/batch_pool.h"

#define LIMIT_BYTES (64u << 20)
#define BATCH_BYTES 4096u

static TideBatch *
batch_of(TideBatchPool *pool, gsize bytes)
{
  TideBatch *batch = tide_batch_pool_take(pool);
  tide_buffer_reserve(&batch->wire, bytes);
  return batch;
}

/* As many batches as @pool keeps, and one more. */
static void
fill(TideBatchPool *pool)
{
  for (gint64 before = -1; before != pool->kept_bytes;) {
    before = pool->kept_bytes;
    TideBatch *batch = tide_batch_new();
    tide_buffer_reserve(&batch->wire, BATCH_BYTES);
    tide_batch_pool_give(pool, batch);
  }
}

static void
test_what_was_given_is_taken_empty(void)
{
  TideBudget budget;
  TideBatchPool pool;
  tide_budget_init(&budget, LIMIT_BYTES);
  tide_batch_pool_init(&pool, &budget, 1);
  TideBatch *batch = batch_of(&pool, BATCH_BYTES);
  batch->wire.len = 1;
  batch->n_rows = 1;
  tide_batch_pool_give(&pool, batch);
  g_assert_cmpuint(tide_budget_used_racy(&budget), >=, BATCH_BYTES);
  g_assert_true(tide_batch_pool_take(&pool) == batch);
  g_assert_cmpuint(tide_budget_used_racy(&budget), ==, 0);
  g_assert_cmpuint(batch->n_rows + batch->wire.len, ==, 0);
  g_assert_cmpuint(batch->wire.capacity, >=, BATCH_BYTES);
  tide_batch_free(batch);
}

/* A pool that counts what it gave away as kept is full after a while, and every batch is made anew. */
static void
test_a_pool_keeps_batches_for_as_long_as_it_is_used(void)
{
  TideBudget budget;
  TideBatchPool pool;
  tide_budget_init(&budget, LIMIT_BYTES);
  tide_batch_pool_init(&pool, &budget, 1);
  for (guint i = 0; i < 2 * LIMIT_BYTES / BATCH_BYTES; i++) {
    tide_batch_pool_give(&pool, batch_of(&pool, BATCH_BYTES));
    g_assert_nonnull(pool.first);
  }
  tide_batch_pool_clear(&pool);
  g_assert_cmpint(pool.kept_bytes, ==, 0);
}

/* Nothing empties a pool but its own consumer's next rows: with what is remembered of cells in doubt there is room for
 * those, or no consumer would go on reading. */
static void
test_full_pools_of_all_consumers_leave_room(void)
{
  for (guint n = 1; n <= 64; n++) {
    TideBudget budget, doubt;
    tide_budget_init(&budget, LIMIT_BYTES);
    tide_budget_init_doubt_share(&doubt, &budget);
    g_assert_true(tide_budget_try_charge(&doubt, doubt.limit_bytes));
    g_autofree TideBatchPool *pools = g_new0(TideBatchPool, n);
    for (guint i = 0; i < n; i++) {
      tide_batch_pool_init(&pools[i], &budget, n);
      fill(&pools[i]);
      g_assert_cmpint(pools[i].kept_bytes, >, 0);
    }
    g_assert_true(tide_budget_has_room_racy(&budget));
    for (guint i = 0; i < n; i++)
      tide_batch_pool_clear(&pools[i]);
    g_assert_cmpuint(tide_budget_used_racy(&budget), ==, doubt.limit_bytes);
  }
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/batch-pool/what-was-given-is-taken-empty", test_what_was_given_is_taken_empty);
  g_test_add_func("/batch-pool/a-pool-keeps-batches-for-as-long-as-it-is-used",
                  test_a_pool_keeps_batches_for_as_long_as_it_is_used);
  g_test_add_func("/batch-pool/full-pools-of-all-consumers-leave-room", test_full_pools_of_all_consumers_leave_room);
  return g_test_run();
}
