/* What others may see of the lanes: what is in trouble, and how much waits. */
#include "write/lanes_private.h"

static void
trouble_free(TideLaneTrouble *trouble)
{
  g_free(trouble->region_start);
  g_free(trouble->first_row_key);
  g_free(trouble->error_text);
  g_free(trouble);
}

static guint64
count_waiting_rows_locked(const LaneQueue *queue)
{
  guint64 n_rows = 0;
  for (const TideBatch *batch = queue->first; batch != NULL; batch = batch->next)
    n_rows += batch->n_rows;
  return n_rows;
}

/* Why all of the lane's table is suspended; NULL when it is not. */
static const TideTableStop *
stop_of_table_locked(const LaneQueue *queue)
{
  const TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  return slot->blocked.is_on ? &slot->blocked : slot->suspended.is_on ? &slot->suspended : NULL;
}

/* Of @queue, or of its whole table when that is suspended. */
static TideLaneTrouble *
describe_trouble_locked(const LaneQueue *queue)
{
  const TideTableStop *stop = stop_of_table_locked(queue);
  TideLaneTrouble *trouble = g_new0(TideLaneTrouble, 1);
  trouble->table = queue->lane.table;
  trouble->region_start = tide_bytes_printable(stop != NULL ? TIDE_BYTES_EMPTY : queue->lane.start_key);
  trouble->first_row_key =
      queue->first != NULL ? tide_bytes_printable(tide_batch_row_key(queue->first, 0)) : g_strdup("(in flight)");
  trouble->error_text = g_strdup(stop != NULL ? stop->reason : queue->error_text);
  trouble->since_us = stop != NULL ? stop->since_us : queue->failing_since_us;
  trouble->failures = stop != NULL ? stop->n_reports : queue->failures;
  trouble->waiting_rows = count_waiting_rows_locked(queue);
  trouble->is_suspended = stop == &queue->lanes->tables[queue->lane.table->index].suspended;
  return trouble;
}

static gboolean
is_in_trouble_locked(const LaneQueue *queue, gint64 before_us)
{
  const TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  if (slot->blocked.is_on)
    return queue->first != NULL && slot->blocked.reason != NULL && slot->blocked.since_us <= before_us;
  if (slot->suspended.is_on)
    return TRUE; /* it does not pass by itself, so nobody need wait to be told */
  return queue->failures > 0 && queue->failing_since_us <= before_us;
}

/* The trouble of @queue's table that is suspended, where another of its lanes was found before. */
static TideLaneTrouble *
find_same_table_locked(const GPtrArray *found, const LaneQueue *queue)
{
  for (guint i = 0; stop_of_table_locked(queue) != NULL && i < found->len; i++) {
    TideLaneTrouble *trouble = g_ptr_array_index(found, i);
    if (trouble->table == queue->lane.table)
      return trouble;
  }
  return NULL;
}

GPtrArray *
tide_lanes_in_trouble(TideLanes *lanes, gint64 before_us)
{
  GPtrArray *found = g_ptr_array_new_with_free_func((GDestroyNotify)trouble_free);
  tide_mutex_lock(&lanes->lock);
  {
    for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
      const LaneQueue *queue = link->data;
      if (!is_in_trouble_locked(queue, before_us))
        continue;
      TideLaneTrouble *of_table = find_same_table_locked(found, queue);
      if (of_table != NULL)
        of_table->waiting_rows += count_waiting_rows_locked(queue);
      else
        g_ptr_array_add(found, describe_trouble_locked(queue));
    }
  }
  tide_mutex_unlock(&lanes->lock);
  return found;
}

TideLanesState
tide_lanes_state(TideLanes *lanes)
{
  TideLanesState state = {0};
  tide_mutex_lock(&lanes->lock);
  {
    state.waiting_rows = tide_lanes_waiting_rows_racy(lanes);
    state.in_flight_rows = lanes->in_flight_rows;
    state.in_flight_calls = lanes->n_in_flight_calls;
    state.in_flight_probes = lanes->n_probes;
    state.suspended_tables = lanes->n_suspended;
    for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
      const LaneQueue *queue = link->data;
      state.narrowed_lanes += queue->window_rows < tide_lane_widest_window_rows(lanes) ? 1 : 0;
      state.troubled_lanes += is_in_trouble_locked(queue, G_MAXINT64) ? 1 : 0;
      for (const TideBatch *batch = queue->first; batch != NULL; batch = batch->next)
        if (state.oldest_us == 0 || batch->oldest_us < state.oldest_us)
          state.oldest_us = batch->oldest_us;
    }
  }
  tide_mutex_unlock(&lanes->lock);
  return state;
}
