/* The lanes' state for other threads: failures, waiting rows and load. */
#include "write/lanes_private.h"

#include "util/units.h"

static void
failure_free(TideLaneFailure *trouble)
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

/* Why the lane's whole table is stopped; NULL: it is not. */
static const TideTableStop *
stop_of_table_locked(const LaneQueue *queue)
{
  const TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  return slot->blocked.is_on ? &slot->blocked : slot->suspended.is_on ? &slot->suspended : NULL;
}

/* Whether only suspects of @batch are left, after all rounds that could have judged them, or after as many in which its
 * region refused everything. */
static gboolean
is_stuck(const TideBatch *batch)
{
  const TideBatchDelivery *delivery = &batch->delivery;
  return (delivery->not_before_us > 0 && delivery->is_stuck) || delivery->n_refusing >= TIDE_SUSPECT_ROUNDS;
}

/* A batch of @queue that has been stuck since before @before_us; NULL: none. */
static const TideBatch *
find_stuck_locked(const LaneQueue *queue, gint64 before_us)
{
  const TideBatch *batch = queue->first;
  while (batch != NULL && (!is_stuck(batch) || batch->delivery.since_us > before_us))
    batch = batch->next;
  return batch;
}

/* The batch of @queue with the oldest suspects; NULL: none. */
static const TideBatch *
find_suspected_locked(const LaneQueue *queue)
{
  const TideBatch *found = NULL;
  for (const TideBatch *batch = queue->first; batch != NULL; batch = batch->next)
    if (batch->delivery.since_us > 0 && (found == NULL || batch->delivery.since_us < found->delivery.since_us))
      found = batch;
  return found;
}

static gboolean
is_failing_locked(const LaneQueue *queue, gint64 before_us)
{
  return queue->failures > 0 && queue->failing_since_us <= before_us;
}

/* Describes @queue's failure, or that of its table if it is suspended. */
static TideLaneFailure *
describe_failure_locked(const LaneQueue *queue, gint64 before_us)
{
  const TideBatch *stuck = is_failing_locked(queue, before_us) ? NULL : find_stuck_locked(queue, before_us);
  const TideTableStop *stop = stop_of_table_locked(queue);
  TideLaneFailure *trouble = g_new0(TideLaneFailure, 1);
  trouble->table = queue->lane.table;
  trouble->region_start = tide_bytes_printable(stop != NULL ? TIDE_BYTES_EMPTY : queue->lane.start_key);
  trouble->first_row_key =
      queue->first != NULL ? tide_bytes_printable(tide_batch_row_key(queue->first, 0)) : g_strdup("(in flight)");
  trouble->error_text = g_strdup(stop != NULL ? stop->reason : stuck == NULL ? queue->error_text : NULL);
  trouble->since_us = stop != NULL ? stop->since_us : queue->failing_since_us;
  trouble->failures = stop != NULL ? stop->n_reports : queue->failures;
  trouble->waiting_rows = count_waiting_rows_locked(queue);
  trouble->is_suspended = stop == &queue->lanes->tables[queue->lane.table->index].suspended;
  if (stop == NULL && stuck != NULL) {
    g_free(trouble->first_row_key);
    trouble->first_row_key = tide_bytes_printable(tide_batch_row_key(stuck, stuck->delivery.suspect_row));
    trouble->error_text = g_strdup(stuck->delivery.text);
    trouble->since_us = stuck->delivery.since_us;
    trouble->failures = stuck->delivery.n_tries;
  }
  return trouble;
}

static gboolean
is_failing_or_stopped_locked(const LaneQueue *queue, gint64 before_us)
{
  const TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  if (slot->blocked.is_on)
    return queue->first != NULL && slot->blocked.reason != NULL && slot->blocked.since_us <= before_us;
  if (slot->suspended.is_on)
    return TRUE; /* permanent until an operator acts, so it is reported at once */
  return is_failing_locked(queue, before_us) || find_stuck_locked(queue, before_us) != NULL;
}

/* The entry of @queue's suspended table, if another of its lanes added it. */
static TideLaneFailure *
find_same_table_locked(const GPtrArray *found, const LaneQueue *queue)
{
  for (guint i = 0; stop_of_table_locked(queue) != NULL && i < found->len; i++) {
    TideLaneFailure *trouble = g_ptr_array_index(found, i);
    if (trouble->table == queue->lane.table)
      return trouble;
  }
  return NULL;
}

GPtrArray *
tide_lanes_failing(TideLanes *lanes, gint64 before_us)
{
  GPtrArray *found = g_ptr_array_new_with_free_func((GDestroyNotify)failure_free);
  tide_mutex_lock(&lanes->lock);
  {
    for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
      const LaneQueue *queue = link->data;
      if (!is_failing_or_stopped_locked(queue, before_us))
        continue;
      TideLaneFailure *of_table = find_same_table_locked(found, queue);
      if (of_table != NULL)
        of_table->waiting_rows += count_waiting_rows_locked(queue);
      else
        g_ptr_array_add(found, describe_failure_locked(queue, before_us));
    }
  }
  tide_mutex_unlock(&lanes->lock);
  return found;
}

TideStuck
tide_lanes_stuck(TideLanes *lanes, char **ret_text)
{
  const TideBatch *stuck = NULL;
  gboolean is_other = FALSE;
  *ret_text = NULL;
  tide_mutex_lock(&lanes->lock);
  gboolean is_busy = lanes->in_flight.calls > 0;
  for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
    const LaneQueue *queue = link->data;
    for (const TideBatch *batch = queue->first; batch != NULL; batch = batch->next) {
      const TideBatchDelivery *delivery = &batch->delivery;
      /* If an outage began with this row, the row may not be the cause. */
      gboolean is_outage = delivery->is_silent && lanes->last_ok_us < delivery->since_us;
      is_other |= !is_stuck(batch) || is_outage || delivery->is_final != lanes->is_final;
      stuck = batch;
    }
  }
  TideStuck answer = is_busy                     ? TIDE_STUCK_BUSY
                     : stuck == NULL || is_other ? TIDE_STUCK_NOT
                     : stuck->delivery.is_silent ? TIDE_STUCK_SILENT
                                                 : TIDE_STUCK_REFUSED;
  if (answer == TIDE_STUCK_REFUSED || answer == TIDE_STUCK_SILENT) {
    g_autofree char *key = tide_bytes_printable(tide_batch_row_key(stuck, stuck->delivery.suspect_row));
    *ret_text = g_strdup_printf("row '%s' of table '%s' cannot be written: %s; remove the cause or the message, then "
                                "run the same command again: the message is not committed",
                                key, stuck->lane->table->name, stuck->delivery.text);
  }
  tide_mutex_unlock(&lanes->lock);
  return answer;
}

TideLanesState
tide_lanes_state(TideLanes *lanes)
{
  TideLanesState state = {0};
  tide_mutex_lock(&lanes->lock);
  {
    state.waiting_rows = lanes->waiting_rows;
    state.in_flight_rows = lanes->in_flight.rows;
    state.in_flight_calls = lanes->in_flight.calls;
    state.in_flight_probes = lanes->in_flight.probes;
    state.suspended_tables = lanes->n_suspended;
    state.is_paced = lanes->waiting_rows > 0 && tide_pace_wait_us(&lanes->operator.pace, tide_now_us()) > 0;
    for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
      const LaneQueue *queue = link->data;
      state.narrowed_lanes += queue->window_rows < tide_lane_widest_window_rows_locked(lanes) ? 1 : 0;
      state.troubled_lanes += is_failing_or_stopped_locked(queue, G_MAXINT64) ? 1 : 0;
      for (const TideBatch *batch = queue->first; batch != NULL; batch = batch->next)
        if (state.oldest_us == 0 || batch->times.oldest_us < state.oldest_us)
          state.oldest_us = batch->times.oldest_us;
    }
  }
  tide_mutex_unlock(&lanes->lock);
  return state;
}

TideWaitingShare
tide_lanes_waiting_share(TideLanes *lanes, gint64 now_us)
{
  TideWaitingShare share = {0};
  tide_mutex_lock(&lanes->lock);
  double writers_us = (double)lanes->options.n_writers * (double)(now_us - lanes->yielding.begin_us);
  if (lanes->options.yield_gateways > 0 && lanes->yielding.begin_us > 0 && writers_us > 0) {
    double recent_us = tide_rate_a_second(lanes->yielding.recent_us, now_us) / lanes->options.n_writers;
    gboolean is_young = now_us - lanes->yielding.begin_us < 2 * TIDE_RATE_WINDOW_US;
    share.overall = MIN((double)lanes->yielding.waited_us / writers_us, 1);
    share.recent = is_young ? share.overall : MIN(recent_us / TIDE_US_PER_S, 1);
  }
  tide_mutex_unlock(&lanes->lock);
  return share;
}

/* ---- loads ---- */

/* Replaces the least busy of the hot lanes if it has fewer rows. */
static void
make_hot_locked(TideLanes *lanes, LaneQueue *queue, gint64 now_us)
{
  double least = tide_rate_a_second(queue->written, now_us);
  guint coldest = TIDE_LANES_HOT;
  for (guint i = 0; i < TIDE_LANES_HOT; i++) {
    double rate = lanes->hot[i] != NULL ? tide_rate_a_second(lanes->hot[i]->written, now_us) : -1;
    if (rate >= least)
      continue;
    least = rate;
    coldest = i;
  }
  if (coldest == TIDE_LANES_HOT)
    return;
  LaneQueue *cooled = lanes->hot[coldest];
  (void)tide_lane_ref(&queue->lane);
  lanes->hot[coldest] = queue;
  queue->is_hot = TRUE;
  if (cooled == NULL)
    return;
  cooled->is_hot = FALSE;
  tide_lane_unref(&cooled->lane);
}

void
tide_lane_queue_count_written_locked(LaneQueue *queue, guint32 n_rows, gint64 now_us)
{
  TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  (void)tide_rate_add(&slot->written, n_rows, now_us);
  if (tide_rate_add(&queue->written, n_rows, now_us) && !queue->is_hot)
    make_hot_locked(queue->lanes, queue, now_us);
}

void
tide_load_clear(TideLoad *load)
{
  g_free(load->region_start);
  g_free(load->error_text);
}

static void
clear_load(gpointer data)
{
  tide_load_clear(data);
}

static GArray *
loads_new(void)
{
  GArray *loads = g_array_new(FALSE, TRUE, sizeof(TideLoad));
  g_array_set_clear_func(loads, clear_load);
  return loads;
}

static gint64
seconds_since(gint64 since_us, gint64 now_us)
{
  return MAX(now_us - since_us, 0) / TIDE_US_PER_S;
}

static TideLoad
load_of_lane_locked(const LaneQueue *queue, gint64 now_us)
{
  const TideTableStop *stop = stop_of_table_locked(queue);
  const TideBatch *suspected = find_suspected_locked(queue);
  gboolean is_stopped = stop != NULL && stop->reason != NULL; /* failures count with the table */
  TideLoad load = {.table = queue->lane.table,
                   .region_start = tide_bytes_printable(queue->lane.start_key),
                   .rows_per_second = tide_rate_a_second(queue->written, now_us),
                   .waiting_rows = (gint64)count_waiting_rows_locked(queue),
                   .in_flight_rows = queue->in_flight_rows,
                   .is_full = queue->state == LANE_FULL,
                   .failures = queue->failures == 0 && is_stopped ? -1 : (gint64)queue->failures,
                   .failing_seconds = queue->failures > 0 ? seconds_since(queue->failing_since_us, now_us) : -1,
                   .troubled_lanes = is_failing_or_stopped_locked(queue, G_MAXINT64) ? 1 : 0,
                   .error_text = queue->failures > 0 ? g_strdup(queue->error_text) : NULL};
  if (load.failures != 0 || suspected == NULL)
    return load;
  const TideBatchDelivery *delivery = &suspected->delivery;
  g_autofree char *key = tide_bytes_printable(tide_batch_row_key(suspected, delivery->suspect_row));
  g_autofree char *tries = tide_count_of(delivery->n_tries, "try", "tries");
  load.error_text = g_strdup_printf("row '%s' is waiting after %s: %s", key, tries, delivery->text);
  if (is_stuck(suspected)) { /* earlier it may take only seconds, and the region accepts other rows */
    load.failures = delivery->n_tries;
    load.failing_seconds = seconds_since(delivery->since_us, now_us);
  }
  return load;
}

static double
written_by_all_locked(const TideLanes *lanes, gint64 now_us)
{
  double sum = 0;
  for (guint i = 0; i < lanes->used->len; i++)
    sum += tide_rate_a_second(((const TableSlot *)g_ptr_array_index(lanes->used, i))->written, now_us);
  return sum;
}

static int
compare_loads(gconstpointer a, gconstpointer b)
{
  const TideLoad *first = a, *second = b;
  if (first->rows_per_second != second->rows_per_second)
    return first->rows_per_second < second->rows_per_second ? 1 : -1;
  return first->waiting_rows < second->waiting_rows ? 1 : first->waiting_rows > second->waiting_rows ? -1 : 0;
}

GArray *
tide_lanes_regions(TideLanes *lanes, guint max, gint64 now_us)
{
  GArray *loads = loads_new();
  tide_mutex_lock(&lanes->lock);
  {
    double all = written_by_all_locked(lanes, now_us);
    for (guint i = 0; i < TIDE_LANES_HOT; i++)
      if (lanes->hot[i] != NULL) {
        TideLoad load = load_of_lane_locked(lanes->hot[i], now_us);
        g_array_append_val(loads, load);
      }
    for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL && loads->len < max; link = link->next) {
      const LaneQueue *queue = link->data;
      if (queue->is_hot)
        continue;
      TideLoad load = load_of_lane_locked(queue, now_us);
      g_array_append_val(loads, load);
    }
    for (guint i = 0; i < loads->len; i++) {
      TideLoad *load = &g_array_index(loads, TideLoad, i);
      load->share = all > 0 ? load->rows_per_second / all : 0;
    }
  }
  tide_mutex_unlock(&lanes->lock);
  g_array_sort(loads, compare_loads);
  if (loads->len > max)
    g_array_set_size(loads, max);
  return loads;
}

static TideLoad
load_of_table_locked(const TideLanes *lanes, const TableSlot *slot, gint64 now_us)
{
  const TideTableStop *stop = slot->suspended.is_on ? &slot->suspended : slot->blocked.is_on ? &slot->blocked : NULL;
  TideLoad load = {.table = slot->table,
                   .rows_per_second = tide_rate_a_second(slot->written, now_us),
                   .rows_per_call = tide_lanes_rows_per_call_locked(lanes, slot),
                   .is_paced = slot->ready.length > 0 && tide_lanes_pace_wait_us_locked(lanes, slot, now_us) > 0,
                   .failing_seconds = -1};
  if (stop == NULL || stop->reason == NULL)
    return load;
  load.failures = stop->n_reports;
  load.failing_seconds = seconds_since(stop->since_us, now_us);
  load.error_text = g_strdup(stop->reason);
  return load;
}

GArray *
tide_lanes_tables(TideLanes *lanes, gint64 now_us)
{
  GArray *loads = loads_new();
  tide_mutex_lock(&lanes->lock);
  {
    double all = written_by_all_locked(lanes, now_us);
    for (guint i = 0; i < lanes->used->len; i++) {
      TideLoad load = load_of_table_locked(lanes, g_ptr_array_index(lanes->used, i), now_us);
      load.share = all > 0 ? load.rows_per_second / all : 0;
      for (GList *link = g_queue_peek_head_link(&lanes->busy); link != NULL; link = link->next) {
        const LaneQueue *queue = link->data;
        if (queue->lane.table != load.table)
          continue;
        load.waiting_rows += (gint64)count_waiting_rows_locked(queue);
        load.in_flight_rows += queue->in_flight_rows;
        load.is_full |= queue->state == LANE_FULL;
        load.troubled_lanes += is_failing_or_stopped_locked(queue, G_MAXINT64) ? 1 : 0;
      }
      g_array_append_val(loads, load);
    }
  }
  tide_mutex_unlock(&lanes->lock);
  g_array_sort(loads, compare_loads);
  return loads;
}
