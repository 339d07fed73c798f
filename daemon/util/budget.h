/* The one memory budget for all that is in flight: rows waiting and sent, their sources, offset trackers. Charged by
 * the piece of memory (a buffer that grew), never by the reading.
 *
 * A share is a part of it with a limit of its own: each table has one, so that the rows of a table that is suspended
 * leave room for those of the others. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Consumers read no more at the budget, and go on as soon as it is spent to less than this share. */
#define TIDE_BUDGET_GO_ON_PERCENT 95

/* Where that takes long, partitions pause until it is spent to less than this: wide enough that a full pause and resume
 * (which makes librdkafka fetch again what it had prefetched) pays, low enough that writers never run dry. */
#define TIDE_BUDGET_RESUME_PERCENT 70

/* What one table may hold at the most. */
#define TIDE_BUDGET_TABLE_PERCENT 50

/* What may be remembered of cells in doubt, by all consumers together: by default 3.3 million, of 165,000 messages with
 * ten metrics for two tables. That is what a daemon of 20,000 messages a second has not committed when it is killed,
 * with what comes until it runs again: some eight seconds. */
#define TIDE_BUDGET_DOUBT_PERCENT 25

/* However large the budget: what counts the cells of one lane buffer has 32 bits, and each takes more than 40 bytes. */
#define TIDE_BUDGET_TABLE_MAX_BYTES (G_GUINT64_CONSTANT(128) << 30)

/* What librdkafka's prefetched messages may take, of all consumers together: they are not charged, so the rest is what
 * there is to charge. */
#define TIDE_BUDGET_PREFETCH_PERCENT 25

typedef struct TideBudget TideBudget;

struct TideBudget {
  TideBudget *whole; /* borrowed, read-only: of which this is a share; NULL: it is the whole */
  /* any thread */
  _Atomic guint64 limit_bytes; /* may be set to less than is used: then it is spent for a while */
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

/* Of a whole with that limit. */
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

/* @delta_bytes: negative gives back. What a share is charged, the whole is. Never fails: the bound is kept by not
 * fetching, not by refusing what was fetched. */
static inline void
tide_budget_charge(TideBudget *budget, gint64 delta_bytes)
{
  atomic_fetch_add_explicit(&budget->used_bytes, delta_bytes, memory_order_relaxed);
  if (budget->whole != NULL)
    atomic_fetch_add_explicit(&budget->whole->used_bytes, delta_bytes, memory_order_relaxed);
}

/* FALSE: @bytes are more than there is left, and nothing was charged. */
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

/* For those that paused to go on. */
static inline gboolean
tide_budget_has_room_racy(const TideBudget *budget)
{
  return tide_budget_is_below_racy(budget, TIDE_BUDGET_RESUME_PERCENT);
}

G_END_DECLS
