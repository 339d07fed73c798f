#include "write/batch_pool.h"

/* Of the budget, for each pool. */
#define BUDGET_SHARE 32u

TideBatch *
tide_batch_pool_take(TideBatchPool *pool)
{
  TideBatch *batch = pool->first;
  if (batch == NULL)
    return tide_batch_new();
  pool->first = batch->next;
  batch->next = NULL;
  gint64 memory_bytes = (gint64)tide_batch_memory_bytes(batch);
  pool->kept_bytes -= memory_bytes;
  tide_budget_charge(pool->budget, -memory_bytes);
  return batch;
}

void
tide_batch_pool_give(TideBatchPool *pool, TideBatch *batch)
{
  gint64 memory_bytes = (gint64)tide_batch_memory_bytes(batch);
  if (pool->kept_bytes + memory_bytes > (gint64)(pool->budget->limit_bytes / BUDGET_SHARE)) {
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
