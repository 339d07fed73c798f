/* The memory budget for everything in flight: waiting and sent rows, their sources, offset trackers. Charged per
 * allocation (a buffer that grew), never per reading.
 *
 * A share is a part with its own limit: each table has one, so that the rows of a suspended table leave room for
 * others. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Consumers stop reading at the budget, and continue when usage falls below this share. */
#define TIDE_BUDGET_GO_ON_PERCENT 95

/* If that takes long, partitions pause until usage falls below this share. It is low enough to justify a pause and
 * resume, which makes librdkafka fetch prefetched messages again, and high enough that writers never run dry. */
#define TIDE_BUDGET_RESUME_PERCENT 70

/* Maximum share of one table. */
#define TIDE_BUDGET_TABLE_PERCENT 50

/* Maximum share for remembered cells of uncertain outcome, of all consumers: by default 3.3 million cells, from 165,000
 * messages with ten metrics for two tables. A daemon of 20,000 messages a second that is killed leaves that many
 * uncommitted, including those until it runs again: some eight seconds. */
#define TIDE_BUDGET_DOUBT_PERCENT 25

/* Limit for any budget: the counter of cells in a lane buffer has 32 bits, and each cell needs more than 40 bytes. */
#define TIDE_BUDGET_TABLE_MAX_BYTES (G_GUINT64_CONSTANT(128) << 30)

/* Share for librdkafka's prefetched messages, of all consumers: they are not charged, so the rest is the budget. */
#define TIDE_BUDGET_PREFETCH_PERCENT 25

typedef struct TideBudget TideBudget;

struct TideBudget {
  TideBudget *whole; /* borrowed, read-only: the budget that this is a share of; NULL: it is the whole */
  /* any thread */
  _Atomic guint64 limit_bytes; /* may be set below the current usage: the budget is then spent for a while */
  _Atomic gint64 used_bytes;
};

static inline void
tide_budget_init(TideBudget *budget, guint64 limit_bytes)
{
  budget->whole = NULL;
  atomic_init(&budget->limit_bytes, limit_bytes);
  atomic_init(&budget->used_bytes, 0);
}

static inline guint64
tide_budget_limit_racy(const TideBudget *budget)
{
  return atomic_load_explicit(&budget->limit_bytes, memory_order_relaxed);
}

static inline void
tide_budget_set_limit(TideBudget *budget, guint64 limit_bytes)
{
  atomic_store_explicit(&budget->limit_bytes, limit_bytes, memory_order_relaxed);
}

/* @memory_bytes: limits.memory */
static inline guint64
tide_budget_prefetch_bytes(guint64 memory_bytes)
{
  return memory_bytes / 100 * TIDE_BUDGET_PREFETCH_PERCENT;
}

/* For a whole with that limit. */
static inline guint64
tide_budget_table_share_bytes(guint64 whole_bytes)
{
  return MIN(whole_bytes / 100 * TIDE_BUDGET_TABLE_PERCENT, TIDE_BUDGET_TABLE_MAX_BYTES);
}

static inline guint64
tide_budget_doubt_share_bytes(guint64 whole_bytes)
{
  return whole_bytes / 100 * TIDE_BUDGET_DOUBT_PERCENT;
}

static inline void
tide_budget_init_table_share(TideBudget *share, TideBudget *whole)
{
  tide_budget_init(share, tide_budget_table_share_bytes(tide_budget_limit_racy(whole)));
  share->whole = whole;
}

static inline void
tide_budget_init_doubt_share(TideBudget *share, TideBudget *whole)
{
  tide_budget_init(share, tide_budget_doubt_share_bytes(tide_budget_limit_racy(whole)));
  share->whole = whole;
}

/* @delta_bytes: negative to release. A charge of a share also charges the whole. Never fails: the limit is enforced by
 * fetching less, not by rejecting fetched data. */
static inline void
tide_budget_charge(TideBudget *budget, gint64 delta_bytes)
{
  atomic_fetch_add_explicit(&budget->used_bytes, delta_bytes, memory_order_relaxed);
  if (budget->whole != NULL)
    atomic_fetch_add_explicit(&budget->whole->used_bytes, delta_bytes, memory_order_relaxed);
}

/* FALSE: @bytes exceed the rest, and nothing was charged. */
static inline gboolean
tide_budget_try_charge(TideBudget *budget, guint64 bytes)
{
  gint64 before = atomic_fetch_add_explicit(&budget->used_bytes, (gint64)bytes, memory_order_relaxed);
  if (MAX(before, 0) + (gint64)bytes > (gint64)tide_budget_limit_racy(budget)) {
    atomic_fetch_sub_explicit(&budget->used_bytes, (gint64)bytes, memory_order_relaxed);
    return FALSE;
  }
  if (budget->whole != NULL)
    atomic_fetch_add_explicit(&budget->whole->used_bytes, (gint64)bytes, memory_order_relaxed);
  return TRUE;
}

static inline guint64
tide_budget_used_racy(const TideBudget *budget)
{
  gint64 used = atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
  return used > 0 ? (guint64)used : 0;
}

static inline gboolean
tide_budget_is_spent_racy(const TideBudget *budget)
{
  return tide_budget_used_racy(budget) >= tide_budget_limit_racy(budget);
}

static inline gboolean
tide_budget_is_below_racy(const TideBudget *budget, guint percent)
{
  return tide_budget_used_racy(budget) < tide_budget_limit_racy(budget) / 100 * percent;
}

/* TRUE if paused partitions may continue. */
static inline gboolean
tide_budget_has_room_racy(const TideBudget *budget)
{
  return tide_budget_is_below_racy(budget, TIDE_BUDGET_RESUME_PERCENT);
}

G_END_DECLS
