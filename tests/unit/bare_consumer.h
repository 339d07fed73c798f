/* The surroundings of a consumer's parts, without the consumer: its partitions, its accumulator in an unstarted flow,
 * and dead letters that stay queued. Tests write rows and complete batches themselves. */
#pragma once

#include "bare_partitions.h"
#include "consumer/pauses.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "unstarted_flow.h"
#include "util/clock.h"

typedef struct BareConsumer {
  UnstartedFlow flow;
  TideDeadLetterQueue *dead_letters; /* not started: jobs wait in it */
  BarePartitions partitions;
  TideConsumerStatus status;
  TidePauses pauses;
  TideCompletionQueue completions;
  TideAccumulator *accumulator;
} BareConsumer;

/* Takes all open rows as a call of @n_rows rows. */
static inline void
bare_flow_take_call(UnstartedFlow *flow, TideAccumulator *accumulator, guint32 n_rows, TideCall *ret_call)
{
  tide_accumulator_tick(accumulator, TIDE_PRESSURE_FLUSH, 0, tide_now_us());
  g_assert_cmpint(tide_lanes_take(flow->lanes, 0, 0, ret_call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(ret_call->n_rows, ==, n_rows);
}

/* Not started: jobs wait in it. */
static inline TideDeadLetterQueue *
bare_dead_letters_new(UnstartedFlow *flow)
{
  TideDeadLetterQueueContext context = {.config = flow->config, .budget = &flow->budget, .metrics = flow->metrics};
  return tide_dead_letter_queue_new(&context);
}

/* The next dead letter in the queue. */
static inline TideDeadLetterJob *
bare_dead_letters_take(TideDeadLetterQueue *dead_letters)
{
  TideDeadLetterJob *job = tide_dead_letter_jobs_take(&dead_letters->locked.incoming);
  g_assert_nonnull(job);
  return job;
}

static inline void
bare_dead_letters_keep(UnstartedFlow *flow, TideDeadLetterJob *job)
{
  tide_budget_charge(&flow->budget, -job->charged_bytes);
  job->is_kept = TRUE;
  tide_dead_letter_completions_push(job->completions, job);
}

static inline void
bare_consumer_pause(guint32 slot, gboolean pause, gpointer data)
{
}

static inline void
bare_consumer_set_up_pauses(BareConsumer *bare)
{
  TidePausesContext pauses = {.partitions = bare->partitions.list,
                              .budget = &bare->flow.budget,
                              .table_budgets = bare->flow.table_budgets,
                              .status = &bare->status,
                              .metrics = bare->flow.metrics,
                              .max_span_messages = bare->flow.config->kafka.max_span_messages,
                              .n_consumers = 1,
                              .notify = bare_consumer_pause};
  tide_consumer_status_init(&bare->status, 0);
  tide_pauses_init(&bare->pauses, &pauses);
}

static inline void
bare_consumer_set_up(BareConsumer *bare, const char *yaml, guint n_partitions)
{
  UnstartedFlow *flow = &bare->flow;
  unstarted_flow_set_up(flow, yaml);
  bare->dead_letters = bare_dead_letters_new(flow);
  bare_partitions_set_up(&bare->partitions, n_partitions, flow->metrics);
  bare_consumer_set_up_pauses(bare);
  tide_completion_queue_init(&bare->completions, NULL, NULL);
  TideAccumulatorContext lanes = unstarted_flow_accumulator_context(flow, &bare->completions);
  bare->accumulator = tide_accumulator_new(&lanes);
}

static inline void
bare_consumer_tear_down(BareConsumer *bare)
{
  tide_lanes_stop(bare->flow.lanes);
  tide_accumulator_free(bare->accumulator);
  tide_completion_queue_clear(&bare->completions);
  bare_partitions_tear_down(&bare->partitions, &bare->flow.budget);
  tide_dead_letter_queue_free(bare->dead_letters);
  tide_consumer_status_clear(&bare->status);
  unstarted_flow_tear_down(&bare->flow);
}

static inline TidePartition *
bare_consumer_partition(const BareConsumer *bare, guint32 slot)
{
  return tide_partition_at(bare->partitions.list, slot);
}

static inline guint64
bare_consumer_sum(const BareConsumer *bare, const char *metric)
{
  return tide_metrics_sum(bare->flow.metrics, metric, NULL);
}

static inline void
bare_consumer_assert_no_call(BareConsumer *bare)
{
  TideCall call;
  tide_accumulator_tick(bare->accumulator, TIDE_PRESSURE_FLUSH, 0, tide_now_us());
  g_assert_cmpint(tide_lanes_take(bare->flow.lanes, 0, 0, &call), ==, TIDE_TAKE_NOTHING);
}

/* Acknowledges @call. Returns: its batch, for tide_accumulator_complete(). */
static inline TideBatch *
bare_consumer_acknowledge(BareConsumer *bare, TideCall *call)
{
  tide_lanes_finish(bare->flow.lanes, call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  TideBatch *batch = tide_completion_queue_take(&bare->completions, 0);
  g_assert_nonnull(batch);
  g_assert_null(batch->next);
  (void)tide_accumulator_judge(bare->accumulator, batch, NULL, tide_now_us());
  return batch;
}
