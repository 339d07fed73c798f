/* Pauses and resumes a consumer's partitions: each is paused as long as there is any reason to. Some reasons
 * end by themselves; a halted partition waits until an operator acts.
 *
 * What is short for a moment only, memory as a rule, is no reason yet: the consumer holds, that is, it reads nothing of
 * any partition, and librdkafka keeps what it has prefetched. Partitions pause when that lasts.
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
  TideConsumerStatus *status; /* is told which partitions are halted */
  TidePauseWatch *operator_pauses;
  TideMetrics *metrics;
  guint32 max_span_messages;
  guint32 n_consumers;                                         /* that share the budget */
  void (*notify)(guint32 slot, gboolean pause, gpointer data); /* whoever fetches */
  gpointer notify_data;
} TidePausesContext;

typedef struct TidePauses {
  TidePausesContext context;
  TideCounter *n_pauses;
  TideCounter *n_resumes;
  TideCounter *n_holds;
  TideCounter *messages_held;
  gint64 memory_held_us; /* since when the consumer holds for memory; 0: it does not */
  gboolean is_held;      /* it holds for a crowded table */
  gboolean memory_paused;
  gint64 memory_changed_us;
  gboolean dead_letters_paused;
  gint64 dead_letters_changed_us;
  guint operator_generation; /* of operator_pauses: what was applied last */
  gboolean waits;            /* a partition changed less than a second ago, and is to change again */
  gboolean span_waits;       /* and one is at its span bound */
} TidePauses;

void tide_pauses_init(TidePauses *pauses, const TidePausesContext *context);

void tide_pauses_set(TidePauses *pauses, TidePartition *partition, TidePauseReason reason, gboolean on);

/* At the budget the consumer holds; where there is no room for long every partition pauses, and below the lower mark
 * all go on. Once a round: it also tells what had to wait. */
void tide_pauses_apply_backpressure(TidePauses *pauses, gint64 now_us);

/* @partition feeds a table that holds more than its share of the budget, so it waits for that table: the consumer holds
 * for it, and where that lasts it pauses, while the partitions that feed others go on. @crowded: 1 + the table's slot
 */
void tide_pauses_wait_for_crowded_table(TidePauses *pauses, TidePartition *partition, guint32 crowded, gint64 now_us);
/* Lets go on what holds no more, and pauses what was held for long enough. Once a round. */
void tide_pauses_apply_holds(TidePauses *pauses, gint64 now_us);

/* A partition whose oldest unfinished message lies far behind waits for it alone. */
void tide_pauses_check_in_flight_window(TidePauses *pauses, TidePartition *partition);
void tide_pauses_apply_spans(TidePauses *pauses); /* of every partition */

/* While dead letters cannot be kept, or were too many (@are_stalled), every partition pauses. */
void tide_pauses_check_dead_letters(TidePauses *pauses, gboolean are_stalled, gint64 now_us);

/* Pauses and resumes what the operator has. Once a round. */
void tide_pauses_check_operator(TidePauses *pauses);

/* Partitions were assigned, or are read again: what makes all pause makes them pause. */
void tide_pauses_apply_assigned(TidePauses *pauses);

/* TRUE while memory or a span is spent and it is too early to pause: what completes must make room before more is
 * read. */
static inline gboolean
tide_pauses_must_wait(const TidePauses *pauses)
{
  return pauses->memory_held_us != 0 || pauses->is_held ||
         ((pauses->memory_paused || pauses->span_waits) && pauses->waits);
}

/* TRUE while that is for memory, or for a table's share of it. */
gboolean tide_pauses_wait_for_memory(const TidePauses *pauses);

/* librdkafka remembers a pause beyond the assignment: a partition that came back would never be fetched again. */
void tide_pauses_lift(TidePauses *pauses, const guint32 *slots, gsize n_slots);

/* Halts @partition until an operator acts, and logs it, always: each partition that stops is news.
 * @text: (transfer full): one sentence that says why */
void tide_pauses_halt_partition(TidePauses *pauses, TidePartition *partition, char *text);
/* The same because of the message at @offset, which is counted and noted in what is committed. */
void tide_pauses_halt_at_message(TidePauses *pauses, TidePartition *partition, gint64 offset, char *text);

G_END_DECLS
