/* What the end of a call does to its batches, lanes and table: completion, retry after a backoff, or suspension. */
#include "write/lanes_private.h"

#include "util/backoff.h"
#include "write/prefetch.h"

/* ---- tables that are suspended ---- */

static gint64
backoff_us(const TideLanesOptions *options, guint32 failures)
{
  return tide_backoff_us(failures, options->retry_min_us, options->retry_max_us);
}

/* Calls that were on their way when the table came to be suspended say it again, but only probes make the wait longer.
 */
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
  slot->suspended_lane = tide_lane_queue_of(call->batches[0]);
  lanes->n_suspended++;
}

static void
end_suspension_locked(TideLanes *lanes, TableSlot *slot)
{
  tide_table_stop_end(&slot->suspended);
  slot->suspended_lane = NULL;
  lanes->n_suspended--;
}

/* A probe that ended otherwise than by SUSPEND. */
static void
end_probe_of_table_locked(TideLanes *lanes, const TideCall *call, TideOutcome outcome, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[call->table->index];
  if (outcome == TIDE_OUTCOME_OK) {
    end_suspension_locked(lanes, slot);
  } else {
    slot->probe_at_us = now_us + backoff_us(&lanes->options, slot->suspended.n_reports);
  }
}

/* ---- lanes ---- */

static void
note_failure_locked(LaneQueue *queue, const char *error_text, gint64 now_us)
{
  if (queue->failures++ == 0)
    queue->failing_since_us = now_us;
  queue->not_before_us = now_us + backoff_us(&queue->lanes->options, queue->failures);
  queue->window_rows = MAX(tide_lane_window_rows_locked(queue) / 2, 1);
  g_free(queue->error_text);
  queue->error_text = g_strdup(error_text);
}

static void
note_success_locked(LaneQueue *queue, gint64 now_us)
{
  queue->last_ok_us = now_us;
  guint32 wider_rows = tide_lane_window_rows_locked(queue) + queue->lanes->max_rows / 8 + 1;
  gboolean is_widest = wider_rows >= tide_lane_widest_window_rows_locked(queue->lanes);
  queue->window_rows = is_widest ? TIDE_LANE_WIDEST_WINDOW : wider_rows;
  queue->failures = 0;
  queue->not_before_us = 0;
  g_clear_pointer(&queue->error_text, g_free);
}

static void
note_outcome_locked(LaneQueue *queue, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  if (outcome == TIDE_OUTCOME_OK)
    note_success_locked(queue, now_us);
  else if (tide_outcomes[outcome].is_lane_failure)
    note_failure_locked(queue, error_text, now_us);
}

/* The call's batches of one lane stand together; TRUE at the first of each run. */
static gboolean
begins_lane(const TideCall *call, guint32 i)
{
  return i == 0 || call->batches[i]->lane != call->batches[i - 1]->lane;
}

/* Whether @outcome says anything of @batch's region: of one that was cancelled nothing was sent. */
static gboolean
is_reported(const TideBatch *batch, TideOutcome outcome)
{
  return outcome != TIDE_OUTCOME_OK || !batch->is_left_out;
}

/* A probe that had nothing to send: the next one is due at once. Where nothing waits to be one the table is not
 * suspended any more: nobody would find out that it takes rows again. What is under way tells by itself. */
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

static gboolean
any_is_reported(const TideCall *call, TideOutcome outcome)
{
  for (guint32 i = 0; i < call->n_batches; i++)
    if (is_reported(call->batches[i], outcome))
      return TRUE;
  return FALSE;
}

/* To the front, in its old place. A batch in which a row is suspected goes behind the others: they are to show whether
 * their region works. What has only rows left whose calls are cut off waits longer each time, and the others of the
 * lane do not. No order is needed among the batches of a lane, as none has a key that an unfinished one has. */
static void
take_back_locked(LaneQueue *queue, TideBatch *batch, gint64 now_us)
{
  gboolean waits = batch->done_rows == batch->n_rows && tide_batch_next_cut(batch) != NULL;
  batch->not_before_us = waits ? now_us + backoff_us(&queue->lanes->options, tide_batch_count_cuts(batch)) : 0;
  if (batch->suspects.len > 0)
    tide_lane_queue_push_back_locked(queue, batch, now_us);
  else
    tide_lane_queue_push_front_locked(queue, batch);
}

/* From the last batch to the first, so that what goes back to the front stands in its old order. */
static void
end_batches_locked(const TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  gboolean lane_reported = FALSE;
  for (guint32 i = call->n_batches; i-- > 0;) {
    TideBatch *batch = call->batches[i];
    LaneQueue *queue = tide_lane_queue_of(batch);
    if (i >= 2)
      tide_prefetch(call->batches[i - 2]->lane, sizeof *queue);
    batch->attempts++;
    queue->in_flight_rows -= batch->n_rows;
    if (outcome == TIDE_OUTCOME_OK)
      tide_lane_queue_count_written_locked(queue, batch->n_rows, now_us);
    if (outcome == TIDE_OUTCOME_UNKNOWN)
      tide_batch_mark_in_doubt(batch, now_us);
    lane_reported |= is_reported(batch, outcome);
    if (outcome != TIDE_OUTCOME_OK)
      take_back_locked(queue, batch, now_us);
    if (!begins_lane(call, i))
      continue;
    queue->n_in_flight--;
    if (lane_reported)
      note_outcome_locked(queue, outcome, error_text, now_us);
    lane_reported = FALSE;
    tide_lane_queue_settle_locked(queue, now_us);
  }
}

static void
end_call_locked(TideLanes *lanes, const TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  lanes->n_in_flight_calls--;
  lanes->n_probes -= call->is_probe ? 1 : 0;
  lanes->in_flight_rows -= call->n_rows;
  gboolean any_reported = any_is_reported(call, outcome);
  if (outcome == TIDE_OUTCOME_OK && any_reported)
    lanes->last_ok_us = now_us;
  if (call->is_probe_of_table)
    lanes->tables[call->table->index].is_probed = FALSE;
  if (outcome == TIDE_OUTCOME_SUSPEND)
    suspend_table_locked(lanes, call, error_text, now_us);
  else if (call->is_probe_of_table && any_reported)
    end_probe_of_table_locked(lanes, call, outcome, now_us);
  end_batches_locked(call, outcome, error_text, now_us);
  if (call->is_probe_of_table && !any_reported)
    pass_probe_of_table_locked(lanes, call);
}

/* To their consumers' completion queues; those of one consumer that stand together at once. */
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
  end_call_locked(lanes, call, outcome, error_text, now_us);
  /* While all is well and nothing waits there is nothing to wake a writer for: that costs as much as many rows. What is
   * to be sent later is something: who ends this call may be without a gateway by then, and who sleeps know of no time.
   */
  gboolean is_work =
      outcome != TIDE_OUTCOME_OK || lanes->delayed.length > 0 || tide_lanes_next_locked(lanes, now_us) != NULL;
  tide_mutex_unlock(&lanes->lock);
  if (is_work)
    tide_cond_signal(&lanes->work);
  if (outcome == TIDE_OUTCOME_OK)
    post_completed(call);
  call->n_batches = 0;
}
