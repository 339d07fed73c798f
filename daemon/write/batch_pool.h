/* A pool of empty batches whose memory is reused, up to a share of the budget.
 *
 * Threads: the owner's only. */
#pragma once

#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideBatchPool {
  TideBudget *budget; /* borrowed: charged for pooled batches */
  guint64 share;      /* divisor: the pool may use at most the budget's limit divided by this */
  TideBatch *first;   /* owned */
  gint64 kept_bytes;
} TideBatchPool;

/* Starts empty. @n_pools: pools that share @budget */
void tide_batch_pool_init(TideBatchPool *pool, TideBudget *budget, guint32 n_pools);

/* An empty batch. (transfer full) */
TideBatch *tide_batch_pool_take(TideBatchPool *pool);

/* @batch: (transfer full): releases its contents; the batch is empty when it is taken again */
void tide_batch_pool_give(TideBatchPool *pool, TideBatch *batch);
void tide_batch_pool_clear(TideBatchPool *pool);

G_END_DECLS
