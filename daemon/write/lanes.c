#include "write/lanes_private.h"

#include "util/clock.h"

TideLanes *
tide_lanes_new(const TideLanesOptions *options)
{
  TideLanes *lanes = g_new0(TideLanes, 1);
  lanes->options = *options;
  tide_mutex_init(&lanes->lock);
  tide_cond_init(&lanes->work);
  lanes->tables = g_new0(TableSlot, options->n_tables);
  for (guint32 i = options->n_tables - options->n_blocked; i < options->n_tables; i++)
    lanes->tables[i].blocked.is_on = TRUE;
  return lanes;
}

void
tide_lanes_free(TideLanes *lanes)
{
  if (lanes == NULL)
    return;
  /* What still waits was never acknowledged: its offsets were not stored, so it comes again. Freeing a batch may free
   * its lane, so the lists are walked by the batches. */
  GList *link;
  while ((link = g_queue_peek_head_link(&lanes->busy)) != NULL) {
    TideLane *lane = link->data;
    tide_lane_ref(lane);
    g_queue_unlink(&lanes->busy, link);
    for (TideBatch *batch = lane->first, *next; batch != NULL; batch = next) {
      next = batch->next;
      tide_batch_free(batch);
    }
    lane->first = lane->last = NULL;
    tide_lane_unref(lane);
  }
  for (guint32 i = 0; i < lanes->options.n_tables; i++) {
    g_free(lanes->tables[i].blocked.reason);
    g_free(lanes->tables[i].suspended.reason);
  }
  g_free(lanes->tables);
  tide_cond_clear(&lanes->work);
  tide_mutex_clear(&lanes->lock);
  g_free(lanes);
}

static TideBytes
copy_bytes(TideBytes bytes)
{
  return tide_bytes(bytes.len > 0 ? g_memdup2(bytes.data, bytes.len) : NULL, bytes.len);
}

TideLane *
tide_lane_new(TideLanes *lanes, const TideTable *table, TideBytes start_key, TideBytes end_key)
{
  TideLane *lane = g_new0(TideLane, 1);
  atomic_init(&lane->references, 1);
  lane->lanes = lanes;
  lane->table = table;
  lane->start_key = copy_bytes(start_key);
  lane->end_key = copy_bytes(end_key);
  lane->link.data = lane->busy_link.data = lane;
  lane->window_rows = tide_lane_widest_window_rows(lanes);
  return lane;
}

TideLane *
tide_lane_ref(TideLane *lane)
{
  atomic_fetch_add_explicit(&lane->references, 1, memory_order_relaxed);
  return lane;
}

void
tide_lane_unref(TideLane *lane)
{
  if (lane == NULL || atomic_fetch_sub_explicit(&lane->references, 1, memory_order_acq_rel) > 1)
    return;
  /* A batch holds a reference, so a lane without references is in no list. */
  g_free((void *)lane->start_key.data);
  g_free((void *)lane->end_key.data);
  g_free(lane->error_text);
  g_free(lane);
}

const TideTable *
tide_lane_table(const TideLane *lane)
{
  return lane->table;
}

TideBytes
tide_lane_start_key(const TideLane *lane)
{
  return lane->start_key;
}

TideBytes
tide_lane_end_key(const TideLane *lane)
{
  return lane->end_key;
}

/* ---- state = list membership ---- */

/* The list that a lane in @state is in; NULL: none. */
static GQueue *
list_of_locked(TideLane *lane, LaneState state)
{
  TableSlot *slot = &lane->lanes->tables[lane->table->index];
  switch (state) {
  case LANE_READY:
    return &slot->ready;
  case LANE_PROBE:
    return &slot->probes;
  case LANE_DELAYED:
    return &lane->lanes->delayed;
  case LANE_IDLE:
  case LANE_FULL:
    break;
  }
  return NULL;
}

static void
set_state_locked(TideLane *lane, LaneState state)
{
  TideLanes *lanes = lane->lanes;
  if (lane->state == state)
    return;
  lanes->n_used = MAX(lanes->n_used, lane->table->index + 1);
  GQueue *left = list_of_locked(lane, lane->state), *joined = list_of_locked(lane, state);
  if (left != NULL)
    g_queue_unlink(left, &lane->link);
  if (joined != NULL)
    g_queue_push_tail_link(joined, &lane->link);
  lane->state = state;
}

/* Whether the next batch may go while others of the lane are on their way. Something always may. */
static gboolean
has_room_locked(const TideLane *lane)
{
  return lane->in_flight_rows == 0 || lane->in_flight_rows + lane->first->n_rows <= lane->window_rows;
}

/* A lane in trouble has one call in flight at a time. */
static guint32
in_flight_cap_locked(const TideLane *lane)
{
  return lane->failures > 0 ? 1 : lane->lanes->options.max_in_flight_per_region;
}

void
tide_lane_settle_state_locked(TideLane *lane, gint64 now_us)
{
  if (lane->first == NULL)
    set_state_locked(lane, LANE_IDLE);
  else if (lane->n_in_flight >= in_flight_cap_locked(lane) || !has_room_locked(lane))
    set_state_locked(lane, LANE_FULL);
  else if (lane->not_before_us > now_us)
    set_state_locked(lane, LANE_DELAYED);
  else
    set_state_locked(lane, lane->failures > 0 ? LANE_PROBE : LANE_READY);

  GQueue *busy = &lane->lanes->busy;
  gboolean is_busy = lane->busy_link.prev != NULL || busy->head == &lane->busy_link;
  gboolean should_be_busy = lane->first != NULL || lane->n_in_flight > 0;
  if (should_be_busy && !is_busy)
    g_queue_push_tail_link(busy, &lane->busy_link);
  else if (!should_be_busy && is_busy)
    g_queue_unlink(busy, &lane->busy_link);
}

static void
count_waiting_locked(TideLanes *lanes, gint64 rows)
{
  guint64 waiting = atomic_load_explicit(&lanes->waiting_rows, memory_order_relaxed);
  atomic_store_explicit(&lanes->waiting_rows, waiting + (guint64)rows, memory_order_relaxed);
}

void
tide_lane_push_back_locked(TideLane *lane, TideBatch *batch)
{
  batch->next = NULL;
  if (lane->last != NULL)
    lane->last->next = batch;
  else
    lane->first = batch;
  lane->last = batch;
  count_waiting_locked(lane->lanes, batch->n_rows);
}

void
tide_lane_push_front_locked(TideLane *lane, TideBatch *batch)
{
  batch->next = lane->first;
  lane->first = batch;
  if (lane->last == NULL)
    lane->last = batch;
  count_waiting_locked(lane->lanes, batch->n_rows);
}

static TideBatch *
pop_locked(TideLane *lane)
{
  TideBatch *batch = lane->first;
  lane->first = batch->next;
  if (lane->first == NULL)
    lane->last = NULL;
  batch->next = NULL;
  count_waiting_locked(lane->lanes, -(gint64)batch->n_rows);
  return batch;
}

guint64
tide_lanes_waiting_rows_racy(const TideLanes *lanes)
{
  return atomic_load_explicit(&lanes->waiting_rows, memory_order_relaxed);
}

void
tide_lanes_submit(TideLanes *lanes, TideBatch *first)
{
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&lanes->lock);
  {
    for (TideBatch *batch = first, *next; batch != NULL; batch = next) {
      next = batch->next;
      tide_lane_push_back_locked(batch->lane, batch);
      tide_lane_settle_state_locked(batch->lane, now_us);
    }
    tide_cond_signal(&lanes->work);
  }
  tide_mutex_unlock(&lanes->lock);
}

/* ---- taking a call ---- */

/* What has calls of its own for each row, or is likely to: what is joined to it would only wait for them. */
static gboolean
goes_alone(const TideBatch *batch)
{
  return batch->is_mutations || batch->is_unmerged;
}

static gboolean
fits_locked(const TideLanes *lanes, const TideCall *call, const TideBatch *batch)
{
  if (call->n_batches == 0)
    return TRUE;
  return !goes_alone(call->batches[0]) && !goes_alone(batch) && call->n_batches < TIDE_CALL_MAX_BATCHES &&
         call->n_rows + batch->n_rows <= lanes->options.max_rows &&
         call->n_bytes + batch->wire.len <= lanes->options.max_bytes;
}

/* Moves batches of @lane into @call as far as they fit. */
static void
take_from_lane_locked(TideLanes *lanes, TideLane *lane, TideCall *call, gint64 now_us)
{
  guint32 before = call->n_batches;
  while (lane->first != NULL && fits_locked(lanes, call, lane->first) && has_room_locked(lane)) {
    TideBatch *batch = pop_locked(lane);
    batch->lane_ok_us = lane->last_ok_us;
    call->batches[call->n_batches++] = batch;
    call->n_rows += batch->n_rows;
    call->n_bytes += batch->wire.len;
    lane->in_flight_rows += batch->n_rows;
    if (lane->failures > 0)
      break; /* what is tried again is tried alone */
  }
  if (call->n_batches == before)
    return;
  lane->n_in_flight++;
  set_state_locked(lane, LANE_IDLE); /* so that it queues up behind the others */
  tide_lane_settle_state_locked(lane, now_us);
}

/* Fills what is left of @call with batches of other lanes that are well. */
static void
gather_locked(TideLanes *lanes, GQueue *ready, TideCall *call, gint64 now_us)
{
  const TideLane *first = call->batches[0]->lane;
  GList *next;
  for (GList *link = g_queue_peek_head_link(ready); link != NULL; link = next) {
    next = link->next;
    TideLane *other = link->data;
    if (other == first || goes_alone(other->first))
      continue;
    if (!fits_locked(lanes, call, other->first))
      break; /* the call is as good as full: the rest is for the next writer */
    take_from_lane_locked(lanes, other, call, now_us);
  }
}

/* Makes ready the lanes whose wait is over; the time of the next, or G_MAXINT64. */
static gint64
wake_delayed_locked(TideLanes *lanes, gint64 now_us)
{
  gint64 next_us = G_MAXINT64;
  GList *next;
  for (GList *link = g_queue_peek_head_link(&lanes->delayed); link != NULL; link = next) {
    next = link->next;
    TideLane *lane = link->data;
    if (lane->not_before_us <= now_us)
      tide_lane_settle_state_locked(lane, now_us);
    else
      next_us = MIN(next_us, lane->not_before_us);
  }
  for (guint32 i = 0; lanes->n_suspended > 0 && i < lanes->n_used; i++) {
    const TableSlot *slot = &lanes->tables[i];
    if (slot->suspended.is_on && !slot->is_probed && slot->probe_at_us > now_us)
      next_us = MIN(next_us, slot->probe_at_us);
  }
  return next_us;
}

/* The lane that a call of @slot can be begun with; NULL when there is none now. */
static TideLane *
due_lane_locked(const TideLanes *lanes, TableSlot *slot, gint64 now_us)
{
  gboolean may_probe = lanes->n_probes < MAX(lanes->options.max_probes, 1);
  if (slot->blocked.is_on)
    return NULL;
  TideLane *ready = g_queue_peek_head(&slot->ready), *probe = g_queue_peek_head(&slot->probes);
  if (slot->suspended.is_on) {
    if (slot->is_probed || slot->probe_at_us > now_us || !may_probe)
      return NULL;
    TideLane *failed = slot->suspended_lane;
    gboolean same_again = failed != NULL && (failed->state == LANE_READY || failed->state == LANE_PROBE);
    return same_again ? failed : probe != NULL ? probe : ready;
  }
  return probe != NULL && may_probe ? probe : ready;
}

/* Tables take turns: the first one of the next_table that a call can be begun with. */
static TideLane *
next_lane_locked(const TideLanes *lanes, gint64 now_us)
{
  for (guint32 i = 0; i < lanes->n_used; i++) {
    TideLane *lane = due_lane_locked(lanes, &lanes->tables[(lanes->next_table + i) % lanes->n_used], now_us);
    if (lane != NULL)
      return lane;
  }
  return NULL;
}

static void
begin_call_locked(TideLanes *lanes, TideLane *lane, TideCall *call, gint64 now_us)
{
  TableSlot *slot = &lanes->tables[lane->table->index];
  lanes->next_table = lane->table->index + 1;
  call->table = lane->table;
  call->last_ok_us = lanes->last_ok_us;
  call->is_probe_of_table = slot->suspended.is_on;
  call->is_probe = slot->suspended.is_on || lane->failures > 0;
  take_from_lane_locked(lanes, lane, call, now_us);
  if (!call->is_probe && !goes_alone(call->batches[0]))
    gather_locked(lanes, &slot->ready, call, now_us);
  if (call->is_probe_of_table)
    slot->is_probed = TRUE;
  lanes->n_probes += call->is_probe ? 1 : 0;
  lanes->n_in_flight_calls++;
  lanes->in_flight_rows += call->n_rows;
}

TideTake
tide_lanes_take(TideLanes *lanes, gint64 deadline_us, TideCall *ret_call)
{
  TideTake taken = TIDE_TAKE_NOTHING;
  ret_call->n_batches = 0;
  ret_call->n_rows = 0;
  ret_call->n_bytes = 0;
  tide_mutex_lock(&lanes->lock);
  for (;;) {
    gint64 now_us = tide_now_us();
    if (lanes->stopped) {
      taken = TIDE_TAKE_STOPPED;
      break;
    }
    gint64 wake_us = wake_delayed_locked(lanes, now_us);
    TideLane *lane = next_lane_locked(lanes, now_us);
    if (lane != NULL) {
      begin_call_locked(lanes, lane, ret_call, now_us);
      /* Who brings work wakes one writer, and that one the next, so that small batches share calls. */
      if (next_lane_locked(lanes, now_us) != NULL)
        tide_cond_signal(&lanes->work);
      taken = TIDE_TAKE_CALL;
      break;
    }
    if (now_us >= deadline_us)
      break;
    tide_cond_wait_until(&lanes->work, &lanes->lock, MIN(deadline_us, wake_us));
  }
  tide_mutex_unlock(&lanes->lock);
  return taken;
}

/* ---- tables that may not be written to ---- */

void
tide_lanes_block(TideLanes *lanes, const TideTable *table, const char *reason, gint64 now_us)
{
  tide_mutex_lock(&lanes->lock);
  tide_table_stop_report_locked(&lanes->tables[table->index].blocked, reason, now_us);
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_unblock(TideLanes *lanes, const TideTable *table)
{
  tide_mutex_lock(&lanes->lock);
  {
    tide_table_stop_end_locked(&lanes->tables[table->index].blocked);
    tide_cond_broadcast(&lanes->work);
  }
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
