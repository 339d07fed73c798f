/* Pauses and resumes a consumer's partitions. A partition is paused while there is any reason; some reasons end
 * automatically, a halted partition waits for an operator.
 *
 * A short lack of memory is not a reason yet: the consumer holds, which means that it reads from no partition and
 * librdkafka keeps its prefetched messages. Partitions pause if the lack lasts.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "consumer/consumer_status.h"
#include "consumer/partition.h"
#include "util/budget.h"
#include "util/operator_pauses.h"

G_BEGIN_DECLS

typedef struct TidePausesContext {
  const GPtrArray *partitions; /* borrowed, all: (element-type TidePartition), by slot */
  TideBudget *budget;
  TideBudget *table_budgets;  /* shares of budget, by table slot */
  TideConsumerStatus *status; /* receives the number of halted partitions */
  TidePauseWatch *operator_pauses;
  TideMetrics *metrics;
  guint32 max_span_messages;
  guint32 n_consumers;                                         /* that share the budget */
  void (*notify)(guint32 slot, gboolean pause, gpointer data); /* tells the input */
  gpointer notify_data;
} TidePausesContext;

typedef struct TidePauses {
  TidePausesContext context;
  TideCounter *n_pauses;
  TideCounter *n_resumes;
  TideCounter *n_holds;
  TideCounter *messages_held;
  gint64 memory_held_us; /* since when the consumer holds for memory; 0: it does not */
  gboolean is_held;      /* the consumer holds for a crowded table */
  gboolean memory_paused;
  gint64 memory_changed_us;
  gboolean dead_letters_paused;
  gint64 dead_letters_changed_us;
  guint operator_generation; /* of operator_pauses: what was applied last */
  gboolean waits;            /* a partition changed less than a second ago and must change again */
  gboolean span_waits;       /* a partition that must change is at its span limit */
} TidePauses;

void tide_pauses_init(TidePauses *pauses, const TidePausesContext *context);

void tide_pauses_set(TidePauses *pauses, TidePartition *partition, TidePauseReason reason, gboolean on);

/* Holds at the budget, pauses every partition if the lack lasts, and resumes all below the lower mark. Also makes
 * pending changes. Once a round. */
void tide_pauses_apply_backpressure(TidePauses *pauses, gint64 now_us);

/* @partition feeds a table that has more than its share of the budget: the consumer holds for that table, then the
 * partition pauses while those that feed other tables continue. @crowded: 1 + the table's slot */
void tide_pauses_wait_for_crowded_table(TidePauses *pauses, TidePartition *partition, guint32 crowded, gint64 now_us);
/* Ends holds that are over and pauses partitions that were held long enough. Once a round. */
void tide_pauses_apply_holds(TidePauses *pauses, gint64 now_us);

/* Pauses a partition whose oldest unfinished message is too far behind, without affecting others. */
void tide_pauses_check_in_flight_window(TidePauses *pauses, TidePartition *partition);
void tide_pauses_apply_spans(TidePauses *pauses); /* of every partition */

/* Pauses every partition while dead letters cannot be kept or are too many (@are_stalled). */
void tide_pauses_check_dead_letters(TidePauses *pauses, gboolean are_stalled, gint64 now_us);

/* Pauses and resumes what the operator has. Once a round. */
void tide_pauses_check_operator(TidePauses *pauses);

/* Applies reasons that concern all partitions to newly assigned or rewound ones. */
void tide_pauses_apply_assigned(TidePauses *pauses);

/* TRUE while memory or a span is spent and it is too early to pause: completions must return memory before more is
 * read. */
static inline gboolean
tide_pauses_must_wait(const TidePauses *pauses)
{
  return pauses->memory_held_us != 0 || pauses->is_held ||
         ((pauses->memory_paused || pauses->span_waits) && pauses->waits);
}

/* TRUE while that wait is for memory, or for a table's share of it. */
gboolean tide_pauses_wait_for_memory(const TidePauses *pauses);

/* Lifts pauses before an assignment ends: librdkafka remembers them, and a returning partition would never be
 * fetched. */
void tide_pauses_lift(TidePauses *pauses, const guint32 *slots, gsize n_slots);

/* Halts @partition until an operator acts. Every halt is logged, without a rate limit. @text: (transfer full): one
 * sentence with the cause */
void tide_pauses_halt_partition(TidePauses *pauses, TidePartition *partition, char *text);
/* Halts it at the message at @offset, which is counted and recorded in commits. */
void tide_pauses_halt_at_message(TidePauses *pauses, TidePartition *partition, gint64 offset, char *text);

G_END_DECLS
