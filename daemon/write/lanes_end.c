/* The end of a call: its batches complete or are retried after a backoff, and its lanes and table may be delayed or
 * suspended. */
#include "write/lanes_private.h"

#include "util/backoff.h"
#include "write/prefetch.h"

/* Whether a row of @batch was accepted. A batch without states was accepted or not as a whole. */
static gboolean
is_accepted(const TideBatch *batch, TideOutcome outcome)
{
  return batch->delivery.is_acknowledged ||
         (outcome == TIDE_OUTCOME_OK && batch->delivery.states.len == 0 && !tide_batch_is_cancelled(batch));
}

/* Whether no row of @batch is left to send. */
static gboolean
is_finished(const TideBatch *batch, TideOutcome outcome)
{
  if (tide_batch_is_cancelled(batch))
    return TRUE;
  if (batch->delivery.states.len == 0)
    return is_accepted(batch, outcome);
  return tide_batch_find_state(batch, TIDE_ROW_WAITING, 0, batch->n_rows) == batch->n_rows &&
         tide_batch_find_state(batch, TIDE_ROW_SUSPECT, 0, batch->n_rows) == batch->n_rows;
}

/* ---- suspended tables ---- */

static gint64
backoff_us(const TideLanesOptions *options, guint32 failures)
{
  return tide_backoff_us(failures, options->retry_min_us, options->retry_max_us);
}

/* Calls in flight when the table was suspended report it again, but only probes lengthen the wait. */
static void
suspend_table_locked(TideLanes *lanes, const TideCall *call, const char *reason, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[call->table->index];
  gboolean is_news = !slot->suspended.is_on;
  if (!is_news && !call->is_probe_of_table)
    return;
  tide_table_stop_report(&slot->suspended, reason, now_us);
  slot->probe_at_us = now_us + backoff_us(&lanes->options, slot->suspended.n_reports);
  if (!is_news)
    return;
  slot->suspended_lane = NULL;
  for (guint32 i = call->n_batches; i-- > 0;)
    if (!is_finished(call->batches[i], TIDE_OUTCOME_SUSPEND))
      slot->suspended_lane = tide_lane_queue_of(call->batches[i]);
  lanes->n_suspended++;
}

static void
end_suspension_locked(TideLanes *lanes, TableSlot *slot)
{
  tide_table_stop_end(&slot->suspended);
  slot->suspended_lane = NULL;
  lanes->n_suspended--;
}

/* ---- lanes ---- */

/* Whether @batch shows that its region is failing. A cancelled batch, or one with only suspects, shows nothing unless
 * none of its rows was accepted. */
static gboolean
has_failed(const TideBatch *batch, TideOutcome outcome)
{
  return !is_finished(batch, outcome) &&
         (batch->delivery.has_failed ||
          tide_batch_find_state(batch, TIDE_ROW_WAITING, 0, batch->n_rows) < batch->n_rows);
}

/* ---- rows per call ---- */

/* If a call's size was not the cause of a failure, halving it costs little: it doubles every hour. */
#define LEARNED_US (3600 * TIDE_US_PER_S)

/* Whether @queue's part of @call shows that calls are too large: another call got no answer, while much smaller ones of
 * the lane are accepted. Failures of all sizes, as in an outage, show nothing. */
static gboolean
note_size_locked(LaneQueue *queue, const TideCall *call)
{
  if (call->taken_rows > queue->silent_rows / 2)
    queue->silent_rows = 0;
  else if (call->taken_rows > 0)
    queue->is_less_accepted = TRUE;
  if (call->silent_rows == 0)
    return FALSE;
  gboolean is_again = queue->silent_rows > 0 && queue->is_less_accepted && call->silent_rows > queue->silent_rows / 2;
  queue->silent_rows = is_again ? 0 : call->silent_rows;
  queue->is_less_accepted = FALSE;
  return is_again;
}

/* @limit_rows: the limit learned from this call; 0: none */
static void
learn_rows_per_call_locked(TideLanes *lanes, TideCall *call, guint32 limit_rows, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[call->table->index];
  call->rows_before = tide_lanes_rows_per_call_locked(lanes, slot);
  gboolean is_lower = limit_rows > 0 && limit_rows < call->rows_before;
  if (is_lower)
    slot->rows_per_call = limit_rows;
  else if (slot->rows_per_call > 0 && now_us - slot->learned_us >= LEARNED_US)
    slot->rows_per_call *= 2;
  call->rows_after = tide_lanes_rows_per_call_locked(lanes, slot);
  if (call->rows_after != call->rows_before)
    slot->learned_us = now_us;
  if (slot->rows_per_call >= lanes->call.max_rows)
    slot->rows_per_call = 0;
}

/* Handles a probe that had nothing to send: another one is due at once. If no batch waits to probe the table, its
 * suspension ends, since nothing could show that it accepts rows again. Calls in flight show it by themselves. */
static void
pass_probe_of_table_locked(TideLanes *lanes, const TideCall *call)
{
  TableSlot *slot = &lanes->tables[call->table->index];
  gboolean is_awaited = FALSE;
  for (const GList *link = lanes->busy.head; link != NULL && !is_awaited; link = link->next) {
    const LaneQueue *queue = link->data;
    is_awaited = queue->lane.table == call->table && queue->first != NULL;
  }
  slot->suspended_lane = NULL;
  if (!is_awaited)
    end_suspension_locked(lanes, slot);
}

/* Goes from the last batch to the first, so that batches returned to the front keep their order. A batch with suspects
 * goes after the others, which show whether their region works. The batches of a lane need no order, since no two
 * unfinished ones share a key. Completed batches remain in @call. */
static void
end_batches_locked(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[call->table->index];
  guint32 limit_rows = call->oversized_rows / 2, first_completed = call->n_batches;
  gboolean lane_failed = FALSE, lane_accepted = FALSE;
  for (guint32 i = call->n_batches; i-- > 0;) {
    TideBatch *batch = call->batches[i];
    LaneQueue *queue = tide_lane_queue_of(batch);
    if (i >= 2)
      tide_prefetch(call->batches[i - 2]->lane, sizeof *queue);
    batch->delivery.attempts++;
    queue->in_flight_rows -= batch->n_rows;
    lane_failed |= has_failed(batch, outcome);
    lane_accepted |= is_accepted(batch, outcome);
    queue->n_refused = MAX(queue->n_refused + batch->delivery.n_more, 0);
    slot->n_refused = MAX(slot->n_refused + batch->delivery.n_more, 0);
    /* Batches of a lane are adjacent. */
    gboolean is_first_of_lane = i == 0 || batch->lane != call->batches[i - 1]->lane;
    if (is_finished(batch, outcome)) {
      tide_lane_queue_count_written_locked(queue, batch->n_rows, now_us);
      call->batches[--first_completed] = batch;
    } else if (batch->delivery.since_us > 0) {
      tide_lane_queue_push_back_locked(queue, batch, now_us);
    } else {
      tide_lane_queue_push_front_locked(queue, batch);
    }
    if (!is_first_of_lane)
      continue;
    queue->n_in_flight--;
    if (note_size_locked(queue, call))
      limit_rows = MAX(call->silent_rows / 2, 1);
    if (lane_failed && tide_outcomes[outcome].is_lane_failure) {
      if (queue->failures++ == 0)
        queue->failing_since_us = now_us;
      queue->not_before_us = now_us + backoff_us(&lanes->options, queue->failures);
      queue->window_rows = MAX(tide_lane_window_rows_locked(queue) / 2, 1);
      g_free(queue->error_text);
      queue->error_text = g_strdup(error_text);
    } else if (!lane_failed && (lane_accepted || call->is_answered)) { /* a refusal is an answer too */
      if (lane_accepted) {
        queue->last_ok_us = now_us;
        queue->n_refused = slot->n_refused = 0;
      }
      guint32 wider_rows = tide_lane_window_rows_locked(queue) + lanes->call.max_rows / 8 + 1;
      gboolean is_widest = wider_rows >= tide_lane_widest_window_rows_locked(lanes);
      queue->window_rows = is_widest ? TIDE_LANE_WIDEST_WINDOW : wider_rows;
      queue->failures = 0;
      queue->not_before_us = 0;
      g_clear_pointer(&queue->error_text, g_free);
    }
    lane_failed = lane_accepted = FALSE;
    tide_lane_queue_update_state_locked(queue, now_us);
  }
  learn_rows_per_call_locked(lanes, call, limit_rows, now_us);
  call->n_batches -= first_completed;
  memmove(call->batches, call->batches + first_completed, call->n_batches * sizeof *call->batches);
}

static void
end_call_locked(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  lanes->in_flight.calls--;
  lanes->in_flight.probes -= call->is_probe ? 1 : 0;
  lanes->in_flight.rows -= call->n_rows;
  TableSlot *slot = &lanes->tables[call->table->index];
  if (lanes->options.yield_gateways > 0) {
    gboolean is_failure = outcome == TIDE_OUTCOME_RETRY || outcome == TIDE_OUTCOME_UNKNOWN;
    TideYieldCall ended = {.start_us = call->taken_us,
                           .n_rows = call->n_rows,
                           .is_acknowledged = outcome == TIDE_OUTCOME_OK,
                           .is_turned_away = is_failure && !call->is_probe}; /* a failing lane is nobody's load */
    tide_yield_end_call(&lanes->yield, &slot->kinds[call->gateway], &ended, now_us);
  }
  gboolean is_evidence = call->is_answered; /* shows something about a region */
  for (guint32 i = 0; i < call->n_batches; i++) {
    gboolean accepted = is_accepted(call->batches[i], outcome);
    is_evidence |= accepted || has_failed(call->batches[i], outcome);
    if (accepted)
      lanes->last_ok_us = now_us;
  }
  if (call->is_probe_of_table)
    slot->is_probed = FALSE;
  if (outcome == TIDE_OUTCOME_SUSPEND)
    suspend_table_locked(lanes, call, error_text, now_us);
  else if (call->is_probe_of_table && is_evidence && outcome == TIDE_OUTCOME_OK)
    end_suspension_locked(lanes, slot);
  else if (call->is_probe_of_table && is_evidence)
    slot->probe_at_us = now_us + backoff_us(&lanes->options, slot->suspended.n_reports);
  end_batches_locked(lanes, call, outcome, error_text, now_us);
  if (call->is_probe_of_table && !is_evidence)
    pass_probe_of_table_locked(lanes, call);
}

/* Posts batches to their consumers' completion queues, adjacent ones of one consumer together. */
static void
post_completed(TideCall *call)
{
  for (guint32 i = 0; i < call->n_batches;) {
    TideBatch *first = call->batches[i], *last = first;
    for (i++; i < call->n_batches && call->batches[i]->completions == first->completions; i++)
      last = last->next = call->batches[i];
    last->next = NULL;
    tide_completion_queue_push(first->completions, first);
  }
}

void
tide_lanes_finish(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  tide_mutex_lock(&lanes->lock);
  guint32 n_batches = call->n_batches;
  end_call_locked(lanes, call, outcome, error_text, now_us);
  /* Waking a writer costs as much as many rows, so it is skipped if nothing waits. Delayed batches count: the writer
   * that ends this call may have lost its gateway, and sleeping writers have no wake-up time. */
  gboolean is_work =
      call->n_batches < n_batches || lanes->delayed.length > 0 || tide_lanes_next_locked(lanes, now_us) != NULL;
  tide_mutex_unlock(&lanes->lock);
  if (is_work)
    tide_cond_signal(&lanes->work);
  post_completed(call);
  call->n_batches = 0;
}
