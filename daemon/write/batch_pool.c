#include "write/batch_pool.h"

#include "write/prefetch.h"

/* Parts of the budget for each pool and for all together, so that pooled memory cannot stop consumers from reading. */
#define POOL_SHARE 32u
#define ALL_POOLS_SHARE 8u

void
tide_batch_pool_init(TideBatchPool *pool, TideBudget *budget, guint32 n_pools)
{
  guint64 share = MAX(POOL_SHARE, (guint64)ALL_POOLS_SHARE * n_pools);
  *pool = (TideBatchPool){.budget = budget, .share = share};
}

TideBatch *
tide_batch_pool_take(TideBatchPool *pool)
{
  TideBatch *batch = pool->first;
  if (batch == NULL)
    return tide_batch_new();
  const TideBatch *next = pool->first = batch->next;
  batch->next = NULL;
  if (next != NULL) {
    tide_prefetch(next->next, sizeof *batch);
    tide_prefetch(next->wire.data, MIN(next->wire.capacity, 8 * TIDE_CACHE_LINE_BYTES));
    tide_prefetch(next->rows.data, 1);
    tide_prefetch(next->sources.data, 1);
    tide_prefetch(next->key_set.data, 1);
  }
  gint64 memory_bytes = (gint64)tide_batch_memory_bytes(batch);
  pool->kept_bytes -= memory_bytes;
  tide_budget_charge(pool->budget, -memory_bytes);
  return batch;
}

void
tide_batch_pool_give(TideBatchPool *pool, TideBatch *batch)
{
  gint64 memory_bytes = (gint64)tide_batch_memory_bytes(batch);
  if (pool->kept_bytes + memory_bytes > (gint64)(tide_budget_limit_racy(pool->budget) / pool->share)) {
    tide_batch_free(batch);
    return;
  }
  tide_batch_reset(batch);
  tide_budget_charge(pool->budget, memory_bytes);
  pool->kept_bytes += memory_bytes;
  batch->next = pool->first;
  pool->first = batch;
}

void
tide_batch_pool_clear(TideBatchPool *pool)
{
  while (pool->first != NULL)
    tide_batch_free(tide_batch_pool_take(pool));
}
