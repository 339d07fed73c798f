/* The one memory budget for all that is in flight: rows waiting and sent, their sources, offset trackers. Charged by the
 * piece of memory (a buffer that grew), never by the reading. */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Consumers stop fetching at the budget and go on below this share of it: wide enough that a full pause and resume (which
 * makes librdkafka fetch again what it had prefetched) pays, low enough that writers never run dry. */
#define TIDE_BUDGET_RESUME_PERCENT 70

typedef struct TideBudget {
  /* set before start, then read-only */
  guint64 limit_bytes;
  /* any thread */
  _Atomic gint64 used_bytes;
} TideBudget;

static inline void
tide_budget_init(TideBudget *budget, guint64 limit_bytes)
{
  budget->limit_bytes = limit_bytes;
  atomic_init(&budget->used_bytes, 0);
}

/* @delta_bytes: negative gives back. Never fails: the bound is kept by not fetching, not by refusing what was fetched. */
static inline void
tide_budget_charge(TideBudget *budget, gint64 delta_bytes)
{
  atomic_fetch_add_explicit(&budget->used_bytes, delta_bytes, memory_order_relaxed);
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
  return tide_budget_used_racy(budget) >= budget->limit_bytes;
}

static inline gboolean
tide_budget_has_room_racy(const TideBudget *budget)
{
  return tide_budget_used_racy(budget) < budget->limit_bytes / 100 * TIDE_BUDGET_RESUME_PERCENT;
}

G_END_DECLS
