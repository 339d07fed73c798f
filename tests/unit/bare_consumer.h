/* What the parts of a consumer have around them, without the consumer: its partitions, its open lanes in an unstarted
 * flow, and dead letters that nobody keeps. A test writes rows and brings batches home itself. */
#pragma once

#include "bare_partitions.h"
#include "consumer/pauses.h"
#include "dead_letters/dead_letters_private.h"
#include "rows/open_lanes.h"
#include "unstarted_flow.h"
#include "util/clock.h"

typedef struct BareConsumer {
  UnstartedFlow flow;
  TideDeadLetters *letters; /* not started: jobs wait in it */
  BarePartitions partitions;
  TideConsumerStatus status;
  TidePauses pauses;
  TideDatedCache dated_names;
  TideInbox inbox;
  TideOpenLanes *open_lanes;
} BareConsumer;

static inline gboolean
bare_consumer_owns(TideSourceRef ref, gpointer data)
{
  return TRUE;
}

static inline void
bare_consumer_pause(guint16 slot, gboolean pause, gpointer data)
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
                              .tell = bare_consumer_pause};
  tide_consumer_status_init(&bare->status, 0);
  tide_pauses_init(&bare->pauses, &pauses);
}

static inline void
bare_consumer_set_up(BareConsumer *bare, const char *yaml, guint16 n_partitions)
{
  UnstartedFlow *flow = &bare->flow;
  unstarted_flow_set_up(flow, yaml);
  TideDeadLettersContext letters = {.config = flow->config, .budget = &flow->budget, .metrics = flow->metrics};
  bare->letters = tide_dead_letters_new(&letters);
  bare_partitions_set_up(&bare->partitions, n_partitions, flow->metrics);
  bare_consumer_set_up_pauses(bare);
  tide_inbox_init(&bare->inbox, NULL, NULL);
  TideOpenLanesContext lanes = {.config = flow->config,
                                .protocol = TIDE_WIRE_BINARY,
                                .budget = &flow->budget,
                                .table_budgets = flow->table_budgets,
                                .lanes = flow->lanes,
                                .regions = flow->regions,
                                .dated = flow->dated,
                                .dated_names = &bare->dated_names,
                                .inbox = &bare->inbox,
                                .metrics = flow->metrics,
                                .heal_handler = {.is_owned = bare_consumer_owns}};
  bare->open_lanes = tide_open_lanes_new(&lanes);
}

static inline void
bare_consumer_tear_down(BareConsumer *bare)
{
  tide_lanes_stop(bare->flow.lanes);
  tide_open_lanes_free(bare->open_lanes);
  tide_inbox_clear(&bare->inbox);
  bare_partitions_tear_down(&bare->partitions, &bare->flow.budget);
  tide_dead_letters_free(bare->letters);
  tide_consumer_status_clear(&bare->status);
  unstarted_flow_tear_down(&bare->flow);
}

static inline TidePartition *
bare_consumer_partition(const BareConsumer *bare, guint16 slot)
{
  return tide_partition_slots_at(bare->partitions.list, slot);
}

static inline guint64
bare_consumer_sum(const BareConsumer *bare, const char *metric)
{
  return tide_metrics_sum(bare->flow.metrics, metric, NULL);
}

/* All open rows, as a call of @n_rows rows. */
static inline void
bare_consumer_take_call(BareConsumer *bare, guint32 n_rows, TideCall *ret_call)
{
  tide_open_lanes_tick(bare->open_lanes, TIDE_PRESSURE_FLUSH, 0, tide_now_us());
  g_assert_cmpint(tide_lanes_take(bare->flow.lanes, 0, ret_call), ==, TIDE_TAKE_CALL);
  g_assert_cmpuint(ret_call->n_rows, ==, n_rows);
}

static inline void
bare_consumer_assert_no_call(BareConsumer *bare)
{
  TideCall call;
  tide_open_lanes_tick(bare->open_lanes, TIDE_PRESSURE_FLUSH, 0, tide_now_us());
  g_assert_cmpint(tide_lanes_take(bare->flow.lanes, 0, &call), ==, TIDE_TAKE_NOTHING);
}

/* The batch of @call, which is acknowledged; back to tide_open_lanes_came_home(). */
static inline TideBatch *
bare_consumer_acknowledge(BareConsumer *bare, TideCall *call)
{
  tide_lanes_finish(bare->flow.lanes, call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  TideBatch *batch = tide_inbox_take(&bare->inbox, 0);
  g_assert_nonnull(batch);
  g_assert_null(batch->next);
  tide_open_lanes_judge(bare->open_lanes, batch, tide_now_us());
  return batch;
}

/* The next dead letter, or question for an original, that waits to be kept. */
static inline TideLetterJob *
bare_consumer_take_letter(BareConsumer *bare)
{
  TideLetterJob *job = tide_letter_jobs_take(&bare->letters->incoming);
  g_assert_nonnull(job);
  return job;
}

static inline void
bare_consumer_keep_letter(BareConsumer *bare, TideLetterJob *job)
{
  tide_budget_charge(&bare->flow.budget, -job->charged_bytes);
  job->result = TIDE_LETTER_KEPT;
  tide_letter_box_push(job->home, job);
}
