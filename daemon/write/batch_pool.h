/* Empty batches that are kept for the next use, with their memory, up to a share of the budget.
 *
 * Threads: the owner's only. */
#pragma once

#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideBatchPool {
  TideBudget *budget; /* borrowed: is charged for what is kept */
  guint64 share; /* of the budget: what is kept is at most its limit, divided by this */
  TideBatch *first; /* owned */
  gint64 kept_bytes;
} TideBatchPool;

/* @n_pools: that share @budget. Nothing is kept yet. */
void tide_batch_pool_init(TideBatchPool *pool, TideBudget *budget, guint32 n_pools);

/* An empty batch. (transfer full) */
TideBatch *tide_batch_pool_take(TideBatchPool *pool);

/* @batch: (transfer full): whatever it holds is given up, and it is empty when it is taken again */
void tide_batch_pool_give(TideBatchPool *pool, TideBatch *batch);
void tide_batch_pool_clear(TideBatchPool *pool);

G_END_DECLS
