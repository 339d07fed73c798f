#include "write/lanes_private.h"

#include "util/clock.h"
#include "write/prefetch.h"

TideLanes *
tide_lanes_new(const TideLanesOptions *options)
{
  TideLanes *lanes = g_new0(TideLanes, 1);
  lanes->options = *options;
  lanes->call.max_rows = options->max_rows;
  lanes->call.max_bytes = options->max_bytes;
  lanes->operator.pace.per_s = options->rows_per_second;
  tide_mutex_init(&lanes->lock);
  tide_cond_init(&lanes->work);
  lanes->tables = g_new0(TableSlot, options->n_tables);
  tide_suspects_init(&lanes->suspects);
  lanes->used = g_ptr_array_new();
  tide_yield_init(&lanes->yield, options->n_writers, tide_now_us());
  return lanes;
}

void
tide_lanes_free(TideLanes *lanes)
{
  if (lanes == NULL)
    return;
  /* Waiting batches were never acknowledged, so their messages are read again. Freeing a batch may free its lane;
   * therefore the loop goes by batches. */
  GList *link;
  while ((link = g_queue_peek_head_link(&lanes->busy)) != NULL) {
    LaneQueue *queue = link->data;
    tide_lane_ref(&queue->lane);
    g_queue_unlink(&lanes->busy, link);
    for (TideBatch *batch = queue->first, *next; batch != NULL; batch = next) {
      next = batch->next;
      tide_batch_free(batch);
    }
    queue->first = queue->last = NULL;
    tide_lane_unref(&queue->lane);
  }
  for (guint i = 0; i < TIDE_LANES_HOT; i++)
    if (lanes->hot[i] != NULL)
      tide_lane_unref(&lanes->hot[i]->lane);
  for (guint32 i = 0; i < lanes->options.n_tables; i++) {
    g_free(lanes->tables[i].blocked.reason);
    g_free(lanes->tables[i].suspended.reason);
    g_free(lanes->tables[i].kinds);
  }
  g_ptr_array_unref(lanes->used);
  g_free(lanes->tables);
  tide_suspects_clear(&lanes->suspects);
  tide_cond_clear(&lanes->work);
  tide_mutex_clear(&lanes->lock);
  g_free(lanes);
}

void
tide_lanes_set_call_limits(TideLanes *lanes, guint32 max_rows, guint32 max_bytes)
{
  tide_mutex_lock(&lanes->lock);
  lanes->call.max_rows = max_rows;
  lanes->call.max_bytes = max_bytes;
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_set_rows_per_second(TideLanes *lanes, guint32 rows_per_second)
{
  tide_mutex_lock(&lanes->lock);
  tide_pace_set(&lanes->operator.pace, rows_per_second, tide_now_us());
  tide_mutex_unlock(&lanes->lock);
  tide_cond_broadcast(&lanes->work);
}

void
tide_lanes_set_paused(TideLanes *lanes, const TideTable *table, gboolean is_paused)
{
  tide_mutex_lock(&lanes->lock);
  *(table != NULL ? &lanes->tables[table->index].is_paused : &lanes->operator.is_paused) = is_paused;
  tide_mutex_unlock(&lanes->lock);
  tide_cond_broadcast(&lanes->work);
}

static void
free_queue(TideLane *lane)
{
  /* Each batch holds a reference, so a lane without references is in no list. */
  LaneQueue *queue = (LaneQueue *)lane;
  g_free(queue->error_text);
  g_free(queue);
}

TideSuspects *
tide_lanes_suspects(TideLanes *lanes)
{
  return &lanes->suspects;
}

TideLane *
tide_lanes_make_lane(TideLanes *lanes, const TideTable *table, TideBytes start_key, TideBytes end_key)
{
  LaneQueue *queue = g_new0(LaneQueue, 1);
  tide_lane_init(&queue->lane, table, start_key, end_key, free_queue);
  queue->lanes = lanes;
  queue->link.data = queue->busy_link.data = queue;
  queue->window_rows = TIDE_LANE_WIDEST_WINDOW;
  return &queue->lane;
}

/* ---- state = list membership ---- */

/* The list for lanes in @state; NULL: none. */
static GQueue *
list_of_locked(LaneQueue *queue, LaneState state)
{
  TableSlot *slot = &queue->lanes->tables[queue->lane.table->index];
  switch (state) {
  case LANE_READY:
    return &slot->ready;
  case LANE_PROBE:
    return &slot->probes;
  case LANE_DELAYED:
    return &queue->lanes->delayed;
  case LANE_IDLE:
  case LANE_FULL:
    break;
  }
  return NULL;
}

static void
set_state_locked(LaneQueue *queue, LaneState state)
{
  TideLanes *lanes = queue->lanes;
  if (queue->state == state)
    return;
  TableSlot *slot = &lanes->tables[queue->lane.table->index];
  if (slot->table == NULL) { /* the first rows since it was opened */
    slot->table = queue->lane.table;
    slot->place = lanes->used->len;
    g_ptr_array_add(lanes->used, slot);
    g_free(slot->kinds); /* of the table that had the slot before */
    slot->kinds = g_new0(TideYieldKind, lanes->options.yield_gateways);
  }
  GQueue *left = list_of_locked(queue, queue->state), *joined = list_of_locked(queue, state);
  if (left != NULL)
    g_queue_unlink(left, &queue->link);
  if (joined != NULL)
    g_queue_push_tail_link(joined, &queue->link);
  queue->state = state;
}

/* Whether the next batch may be sent while others of the lane are in flight. One batch is always allowed. */
static gboolean
has_room_locked(const LaneQueue *queue)
{
  return queue->in_flight_rows == 0 ||
         queue->in_flight_rows + queue->first->n_rows <= tide_lane_window_rows_locked(queue);
}

/* The earliest time for the next batch, as far as the lane itself limits it. */
static gint64
due_us_locked(const LaneQueue *queue)
{
  return MAX(queue->not_before_us, queue->first->delivery.not_before_us);
}

void
tide_lane_queue_update_state_locked(LaneQueue *queue, gint64 now_us)
{
  /* A failing lane may have one call in flight. */
  guint32 max_in_flight = queue->failures > 0 ? 1 : queue->lanes->options.max_in_flight_per_region;
  if (queue->first == NULL)
    set_state_locked(queue, LANE_IDLE);
  else if (queue->n_in_flight >= max_in_flight || !has_room_locked(queue))
    set_state_locked(queue, LANE_FULL);
  else if (due_us_locked(queue) > now_us)
    set_state_locked(queue, LANE_DELAYED);
  else
    set_state_locked(queue, queue->failures > 0 ? LANE_PROBE : LANE_READY);

  GQueue *busy = &queue->lanes->busy;
  gboolean is_busy = queue->busy_link.prev != NULL || busy->head == &queue->busy_link;
  gboolean should_be_busy = queue->first != NULL || queue->n_in_flight > 0;
  if (should_be_busy && !is_busy)
    g_queue_push_tail_link(busy, &queue->busy_link);
  else if (!should_be_busy && is_busy)
    g_queue_unlink(busy, &queue->busy_link);
}

void
tide_lane_queue_push_back_locked(LaneQueue *queue, TideBatch *batch, gint64 now_us)
{
  gint64 due_us = MAX(batch->delivery.not_before_us, now_us);
  TideBatch *before = queue->last;
  if (before != NULL && before->delivery.not_before_us > due_us) {
    before = NULL;
    for (TideBatch *other = queue->first; other->delivery.not_before_us <= due_us; other = other->next)
      before = other;
  }
  TideBatch **link = before != NULL ? &before->next : &queue->first;
  batch->next = *link;
  *link = batch;
  if (batch->next == NULL)
    queue->last = batch;
  queue->lanes->waiting_rows += batch->n_rows;
}

void
tide_lane_queue_push_front_locked(LaneQueue *queue, TideBatch *batch)
{
  batch->next = queue->first;
  queue->first = batch;
  if (queue->last == NULL)
    queue->last = batch;
  queue->lanes->waiting_rows += batch->n_rows;
}

void
tide_lanes_submit(TideLanes *lanes, TideBatch *first)
{
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&lanes->lock);
  {
    for (TideBatch *batch = first, *next; batch != NULL; batch = next) {
      next = batch->next;
      if (next != NULL)
        tide_prefetch(tide_lane_queue_of(next), sizeof(LaneQueue));
      tide_lane_queue_push_back_locked(tide_lane_queue_of(batch), batch, now_us);
      tide_lane_queue_update_state_locked(tide_lane_queue_of(batch), now_us);
    }
  }
  tide_mutex_unlock(&lanes->lock);
  tide_cond_signal(&lanes->work);
}

/* ---- taking a call ---- */

/* Whether the batch must be the only one in its call. It has rows that need calls of their own, or is likely to; other
 * batches would wait for them or fail with them. */
static gboolean
must_be_sent_alone(const TideBatch *batch)
{
  return batch->is_mutations || batch->is_solo || batch->delivery.piece_rows > 0 || batch->delivery.states.len > 0;
}

static gboolean
fits_locked(const TideLanes *lanes, const TideCall *call, const TideBatch *batch)
{
  if (call->n_batches == 0)
    return TRUE;
  return !must_be_sent_alone(call->batches[0]) && !must_be_sent_alone(batch) &&
         call->n_batches < TIDE_CALL_MAX_BATCHES && call->n_rows + batch->n_rows <= call->max_rows &&
         call->n_bytes + batch->wire.len <= lanes->call.max_bytes;
}

/* After this many suspects without an accepted row in between, the region counts as refusing everything. */
#define REFUSED_IN_A_ROW 3

/* When no other rows are expected, rows of the table's other regions count too. */
static gint64
worked_us_locked(const LaneQueue *queue)
{
  const TideLanes *lanes = queue->lanes;
  const TableSlot *slot = &lanes->tables[queue->lane.table->index];
  gboolean is_refusing =
      queue->n_refused >= REFUSED_IN_A_ROW || (lanes->is_final && slot->n_refused >= REFUSED_IN_A_ROW);
  return queue->failures > 0 || is_refusing ? 0 : queue->last_ok_us;
}

/* Moves batches of @queue into @call as far as they fit. */
static void
take_from_lane_locked(TideLanes *lanes, LaneQueue *queue, TideCall *call, gint64 now_us)
{
  guint32 before = call->n_batches;
  while (queue->first != NULL && fits_locked(lanes, call, queue->first) && has_room_locked(queue)) {
    TideBatch *batch = queue->first;
    queue->first = batch->next;
    if (queue->first == NULL)
      queue->last = NULL;
    batch->next = NULL;
    lanes->waiting_rows -= batch->n_rows;
    batch->delivery.lane_ok_us = worked_us_locked(queue);
    batch->delivery.is_final = lanes->is_final;
    call->batches[call->n_batches++] = batch;
    call->n_rows += batch->n_rows;
    call->n_bytes += batch->wire.len;
    queue->in_flight_rows += batch->n_rows;
    if (queue->failures > 0)
      break; /* a retried batch is sent alone */
  }
  if (call->n_batches == before)
    return;
  queue->n_in_flight++;
  set_state_locked(queue, LANE_IDLE); /* to queue after the other lanes */
  tide_lane_queue_update_state_locked(queue, now_us);
}

/* Prefetches what will be taken from the lanes after @link. */
static void
prefetch_ready(const GList *link)
{
  if (link == NULL)
    return;
  const LaneQueue *queue = link->data;
  tide_prefetch(queue->first, sizeof *queue->first);
  if (link->next != NULL)
    tide_prefetch(link->next->data, sizeof *queue);
}

/* Fills the rest of @call with batches of other healthy lanes. */
static void
gather_locked(TideLanes *lanes, GQueue *ready, TideCall *call, gint64 now_us)
{
  const LaneQueue *first = tide_lane_queue_of(call->batches[0]);
  GList *next;
  for (GList *link = g_queue_peek_head_link(ready); link != NULL; link = next) {
    next = link->next;
    LaneQueue *other = link->data;
    prefetch_ready(next);
    if (other == first || must_be_sent_alone(other->first))
      continue;
    if (!fits_locked(lanes, call, other->first))
      break; /* nearly full: leave the rest to the next writer */
    take_from_lane_locked(lanes, other, call, now_us);
  }
}

/* Returns when the operator's rates allow the next call, if one of them delays it now; else G_MAXINT64. */
static gint64
paced_until_us_locked(const TideLanes *lanes, gint64 now_us)
{
  gint64 wait_us = tide_pace_wait_us(&lanes->operator.pace, now_us);
  gint64 until_us = wait_us > 0 ? now_us + wait_us : G_MAXINT64;
  for (guint i = 0; i < lanes->used->len; i++) {
    const TableSlot *slot = g_ptr_array_index(lanes->used, i);
    wait_us = tide_lanes_pace_wait_us_locked(lanes, slot, now_us);
    if (wait_us > 0)
      until_us = MIN(until_us, now_us + wait_us);
  }
  return until_us;
}

/* How long the next call waits for other processes; 0: it need not; G_MAXINT64: until a call ends. */
static gint64
yield_wait_us_locked(const TideLanes *lanes, gint64 now_us)
{
  return lanes->options.yield_gateways > 0 ? tide_yield_wait_us(&lanes->yield, now_us) : 0;
}

/* Readies lanes whose delay is over. Returns the time of the next one, or G_MAXINT64. */
static gint64
wake_delayed_locked(TideLanes *lanes, gint64 now_us)
{
  gint64 next_us = G_MAXINT64;
  GList *next;
  for (GList *link = g_queue_peek_head_link(&lanes->delayed); link != NULL; link = next) {
    next = link->next;
    LaneQueue *queue = link->data;
    if (due_us_locked(queue) <= now_us)
      tide_lane_queue_update_state_locked(queue, now_us);
    else
      next_us = MIN(next_us, due_us_locked(queue));
  }
  for (guint i = 0; lanes->n_suspended > 0 && i < lanes->used->len; i++) {
    const TableSlot *slot = g_ptr_array_index(lanes->used, i);
    if (slot->suspended.is_on && !slot->is_probed && slot->probe_at_us > now_us)
      next_us = MIN(next_us, slot->probe_at_us);
  }
  return next_us;
}

/* The lane to begin a call of @slot with; NULL: none now. */
static LaneQueue *
due_lane_locked(const TideLanes *lanes, TableSlot *slot, gint64 now_us)
{
  gboolean may_probe = lanes->in_flight.probes < MAX(lanes->options.max_probes, 1);
  if (slot->blocked.is_on || tide_lanes_declared_slot_locked(lanes, slot->table)->is_paused ||
      tide_lanes_pace_wait_us_locked(lanes, slot, now_us) > 0)
    return NULL;
  LaneQueue *ready = g_queue_peek_head(&slot->ready), *probe = g_queue_peek_head(&slot->probes);
  if (slot->suspended.is_on) {
    if (slot->is_probed || slot->probe_at_us > now_us || !may_probe)
      return NULL;
    LaneQueue *failed = slot->suspended_lane;
    gboolean same_again = failed != NULL && (failed->state == LANE_READY || failed->state == LANE_PROBE);
    return same_again ? failed : probe != NULL ? probe : ready;
  }
  return probe != NULL && may_probe ? probe : ready;
}

/* Tables alternate, beginning with next_table. */
LaneQueue *
tide_lanes_next_locked(const TideLanes *lanes, gint64 now_us)
{
  if (lanes->operator.is_paused || tide_pace_wait_us(&lanes->operator.pace, now_us) > 0)
    return NULL;
  for (guint i = 0; i < lanes->used->len; i++) {
    TableSlot *slot = g_ptr_array_index(lanes->used, (lanes->next_table + i) % lanes->used->len);
    LaneQueue *queue = due_lane_locked(lanes, slot, now_us);
    if (queue != NULL)
      return queue;
  }
  return NULL;
}

static void
begin_call_locked(TideLanes *lanes, LaneQueue *queue, TideCall *call, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[queue->lane.table->index];
  lanes->next_table = slot->place + 1;
  call->table = queue->lane.table;
  call->taken_us = now_us;
  call->max_rows = tide_lanes_rows_per_call_locked(lanes, slot);
  call->is_probe_of_table = slot->suspended.is_on;
  call->is_probe = slot->suspended.is_on || queue->failures > 0;
  take_from_lane_locked(lanes, queue, call, now_us);
  if (!call->is_probe && !must_be_sent_alone(call->batches[0]))
    gather_locked(lanes, &slot->ready, call, now_us);
  if (call->is_probe_of_table)
    slot->is_probed = TRUE;
  lanes->in_flight.probes += call->is_probe ? 1 : 0;
  if (lanes->options.yield_gateways > 0)
    tide_yield_begin_call(&lanes->yield);
  if (lanes->yielding.begin_us == 0)
    lanes->yielding.begin_us = now_us;
  lanes->yielding.n_calls++;
  lanes->yielding.n_rows += call->n_rows;
  lanes->in_flight.calls++;
  lanes->in_flight.rows += call->n_rows;
  tide_pace_add(&lanes->operator.pace, call->n_rows, now_us);
  tide_pace_add(&tide_lanes_declared_slot_locked(lanes, call->table)->pace, call->n_rows, now_us);
}

/* Waits until @until_us for a change. Counts the time as given to other processes if only that holds back a call of the
 * usual size for this writer, beside those for the other writers that wait. */
static void
wait_for_work_locked(TideLanes *lanes, gint64 until_us, gint64 now_us)
{
  gint64 yield_us = yield_wait_us_locked(lanes, now_us);
  guint64 call_rows = lanes->yielding.n_rows / MAX(lanes->yielding.n_calls, 1);
  gboolean is_yielding = yield_us > 0 && lanes->waiting_rows >= (lanes->yielding.n_waiting + 1) * call_rows &&
                         tide_lanes_next_locked(lanes, now_us) != NULL;
  lanes->yielding.n_waiting += is_yielding ? 1 : 0;
  if (yield_us > 0 && yield_us < G_MAXINT64)
    until_us = MIN(until_us, now_us + yield_us);
  tide_cond_wait_until(&lanes->work, &lanes->lock, until_us);
  if (!is_yielding)
    return;
  gint64 woken_us = tide_now_us();
  guint64 waited_us = (guint64)(woken_us - now_us);
  lanes->yielding.n_waiting--;
  lanes->yielding.waited_us += waited_us;
  tide_rate_add(&lanes->yielding.recent_us, waited_us, woken_us);
}

TideTake
tide_lanes_take(TideLanes *lanes, guint32 gateway, gint64 deadline_us, TideCall *ret_call)
{
  TideTake taken = TIDE_TAKE_NOTHING;
  gboolean is_more = FALSE;
  ret_call->n_batches = 0;
  ret_call->n_rows = 0;
  ret_call->n_bytes = 0;
  ret_call->is_answered = FALSE;
  ret_call->taken_rows = ret_call->silent_rows = ret_call->oversized_rows = 0;
  ret_call->gateway = gateway;
  tide_mutex_lock(&lanes->lock);
  for (;;) {
    gint64 now_us = tide_now_us();
    if (lanes->stopped) {
      taken = TIDE_TAKE_STOPPED;
      break;
    }
    gint64 wake_us = wake_delayed_locked(lanes, now_us);
    LaneQueue *queue = yield_wait_us_locked(lanes, now_us) > 0 ? NULL : tide_lanes_next_locked(lanes, now_us);
    if (queue != NULL) {
      begin_call_locked(lanes, queue, ret_call, now_us);
      is_more = yield_wait_us_locked(lanes, now_us) == 0 && tide_lanes_next_locked(lanes, now_us) != NULL;
      taken = TIDE_TAKE_CALL;
      break;
    }
    if (now_us >= deadline_us)
      break;
    wake_us = MIN(wake_us, paced_until_us_locked(lanes, now_us));
    wait_for_work_locked(lanes, MIN(deadline_us, wake_us), now_us);
  }
  tide_mutex_unlock(&lanes->lock);
  /* A submitter wakes one writer, which wakes the next one, so that small batches share calls. */
  if (is_more)
    tide_cond_signal(&lanes->work);
  return taken;
}

/* ---- blocked tables ---- */

void
tide_table_stop_report(TideTableStop *stop, const char *reason, gint64 now_us)
{
  if (stop->reason == NULL)
    stop->since_us = now_us;
  stop->is_on = TRUE;
  stop->n_reports++;
  g_free(stop->reason);
  stop->reason = g_strdup(reason);
}

void
tide_table_stop_end(TideTableStop *stop)
{
  stop->is_on = FALSE;
  stop->n_reports = 0;
  g_clear_pointer(&stop->reason, g_free);
}

void
tide_lanes_block(TideLanes *lanes, const TideTable *table, const char *reason, gint64 now_us)
{
  tide_mutex_lock(&lanes->lock);
  tide_table_stop_report(&lanes->tables[table->index].blocked, reason, now_us);
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_unblock(TideLanes *lanes, const TideTable *table)
{
  tide_mutex_lock(&lanes->lock);
  {
    tide_table_stop_end(&lanes->tables[table->index].blocked);
    tide_cond_broadcast(&lanes->work);
  }
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_close(TideLanes *lanes, const TideTable *table)
{
  tide_mutex_lock(&lanes->lock);
  TableSlot *slot = &lanes->tables[table->index];
  if (slot->table != NULL) {
    slot->table = NULL;
    slot->written = (TideRate){0};
    slot->rows_per_call = 0;
    g_ptr_array_remove_index_fast(lanes->used, slot->place);
    if (slot->place < lanes->used->len)
      ((TableSlot *)g_ptr_array_index(lanes->used, slot->place))->place = slot->place;
  }
  tide_mutex_unlock(&lanes->lock);
}

gint64
tide_lanes_worked_us(TideLanes *lanes, const TideLane *lane)
{
  tide_mutex_lock(&lanes->lock);
  gint64 worked_us = worked_us_locked((const LaneQueue *)lane);
  tide_mutex_unlock(&lanes->lock);
  return worked_us;
}

void
tide_lanes_set_final(TideLanes *lanes, gboolean is_final)
{
  tide_mutex_lock(&lanes->lock);
  lanes->is_final = is_final;
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_stop(TideLanes *lanes)
{
  tide_mutex_lock(&lanes->lock);
  {
    lanes->stopped = TRUE;
    tide_cond_broadcast(&lanes->work);
  }
  tide_mutex_unlock(&lanes->lock);
}

gboolean
tide_lanes_is_stopped(TideLanes *lanes)
{
  tide_mutex_lock(&lanes->lock);
  gboolean stopped = lanes->stopped;
  tide_mutex_unlock(&lanes->lock);
  return stopped;
}
