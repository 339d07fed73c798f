#include "flow/lanes_private.h"

#include "util/clock.h"

TideLanes *
tide_lanes_new(const TideLanesOptions *options)
{
  TideLanes *lanes = g_new0(TideLanes, 1);
  lanes->options = *options;
  tide_mutex_init(&lanes->lock);
  tide_cond_init(&lanes->work);
  lanes->tables = g_new0(TablePlace, options->n_tables);
  for (guint32 i = options->n_tables - options->n_blocked; i < options->n_tables; i++)
    lanes->tables[i].blocked = TRUE;
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
  for (guint32 i = 0; i < lanes->options.n_tables; i++)
    g_free(lanes->tables[i].reason);
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

static void
set_state_locked(TideLane *lane, LaneState state)
{
  TideLanes *lanes = lane->lanes;
  GQueue *ready = &lanes->tables[lane->table->index].ready;
  if (lane->state == state)
    return;
  lanes->n_used = MAX(lanes->n_used, lane->table->index + 1);
  if (lane->state == LANE_READY)
    g_queue_unlink(ready, &lane->link);
  else if (lane->state == LANE_DELAYED)
    g_queue_unlink(&lanes->delayed, &lane->link);
  lane->state = state;
  if (state == LANE_READY)
    g_queue_push_tail_link(ready, &lane->link);
  else if (state == LANE_DELAYED)
    g_queue_push_tail_link(&lanes->delayed, &lane->link);
}

/* A lane in trouble has one call in flight at a time. */
static guint32
in_flight_cap_locked(const TideLane *lane)
{
  return lane->failures > 0 ? 1 : lane->lanes->options.max_in_flight_per_region;
}

static void
settle_state_locked(TideLane *lane, gint64 now_us)
{
  if (lane->first == NULL)
    set_state_locked(lane, LANE_IDLE);
  else if (lane->n_in_flight >= in_flight_cap_locked(lane))
    set_state_locked(lane, LANE_FULL);
  else if (lane->not_before_us > now_us)
    set_state_locked(lane, LANE_DELAYED);
  else
    set_state_locked(lane, LANE_READY);

  GQueue *busy = &lane->lanes->busy;
  gboolean is_busy = lane->busy_link.prev != NULL || busy->head == &lane->busy_link;
  gboolean should_be_busy = lane->first != NULL || lane->n_in_flight > 0;
  if (should_be_busy && !is_busy)
    g_queue_push_tail_link(busy, &lane->busy_link);
  else if (!should_be_busy && is_busy)
    g_queue_unlink(busy, &lane->busy_link);
}

static void
push_back_locked(TideLane *lane, TideBatch *batch)
{
  batch->next = NULL;
  if (lane->last != NULL)
    lane->last->next = batch;
  else
    lane->first = batch;
  lane->last = batch;
  lane->lanes->waiting_rows += batch->n_rows;
}

static void
push_front_locked(TideLane *lane, TideBatch *batch)
{
  batch->next = lane->first;
  lane->first = batch;
  if (lane->last == NULL)
    lane->last = batch;
  lane->lanes->waiting_rows += batch->n_rows;
}

static TideBatch *
pop_locked(TideLane *lane)
{
  TideBatch *batch = lane->first;
  lane->first = batch->next;
  if (lane->first == NULL)
    lane->last = NULL;
  batch->next = NULL;
  lane->lanes->waiting_rows -= batch->n_rows;
  return batch;
}

void
tide_lanes_submit(TideLanes *lanes, TideBatch *first)
{
  gint64 now_us = tide_now_us();
  guint32 n_batches = 0;
  tide_mutex_lock(&lanes->lock);
  {
    for (TideBatch *batch = first, *next; batch != NULL; batch = next) {
      next = batch->next;
      push_back_locked(batch->lane, batch);
      settle_state_locked(batch->lane, now_us);
      n_batches++;
    }
    if (n_batches == 1)
      tide_cond_signal(&lanes->work);
    else
      tide_cond_broadcast(&lanes->work);
  }
  tide_mutex_unlock(&lanes->lock);
}

/* ---- taking a call ---- */

static gboolean
fits_locked(const TideLanes *lanes, const TideCall *call, const TideBatch *batch)
{
  if (call->n_batches == 0)
    return TRUE;
  return !call->batches[0]->is_mutations && !batch->is_mutations && call->n_batches < TIDE_CALL_MAX_BATCHES &&
         call->n_rows + batch->n_rows <= lanes->options.max_rows &&
         call->n_bytes + batch->wire.len <= lanes->options.max_bytes;
}

/* Moves batches of @lane into @call as far as they fit. */
static void
take_from_lane_locked(TideLanes *lanes, TideLane *lane, TideCall *call, gint64 now_us)
{
  gboolean troubled = lane->failures > 0;
  guint32 before = call->n_batches;
  while (lane->first != NULL && fits_locked(lanes, call, lane->first)) {
    TideBatch *batch = pop_locked(lane);
    call->batches[call->n_batches++] = batch;
    call->n_rows += batch->n_rows;
    call->n_bytes += batch->wire.len;
    if (troubled)
      break; /* what is tried again is tried alone */
  }
  if (call->n_batches == before)
    return;
  lane->n_in_flight++;
  set_state_locked(lane, LANE_IDLE); /* so that it queues up behind the others */
  settle_state_locked(lane, now_us);
}

static void
gather_locked(TideLanes *lanes, GQueue *ready, TideCall *call, gint64 now_us)
{
  TideLane *lane = g_queue_peek_head(ready);
  gboolean troubled = lane->failures > 0;
  call->table = lane->table;
  take_from_lane_locked(lanes, lane, call, now_us);
  if (troubled || call->batches[0]->is_mutations)
    return;
  GList *next;
  for (GList *link = g_queue_peek_head_link(ready); link != NULL; link = next) {
    next = link->next;
    TideLane *other = link->data;
    if (other == lane || other->failures > 0 || other->first->is_mutations)
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
      settle_state_locked(lane, now_us);
    else
      next_us = MIN(next_us, lane->not_before_us);
  }
  return next_us;
}

static GQueue *
next_ready_table_locked(TideLanes *lanes)
{
  for (guint32 i = 0; i < lanes->n_used; i++) {
    guint32 table = (lanes->next_table + i) % lanes->n_used;
    TablePlace *place = &lanes->tables[table];
    if (!place->blocked && !g_queue_is_empty(&place->ready)) {
      lanes->next_table = table + 1;
      return &place->ready;
    }
  }
  return NULL;
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
    GQueue *ready = next_ready_table_locked(lanes);
    if (ready != NULL) {
      gather_locked(lanes, ready, ret_call, now_us);
      lanes->n_in_flight_calls++;
      lanes->in_flight_rows += ret_call->n_rows;
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

/* ---- the end of a call ---- */

/* Doubles with each failure in a row, drawn evenly from (half of it, it] so that lanes do not march in step. */
static gint64
backoff_us(const TideLanesOptions *options, guint32 failures)
{
  gint64 bound_us = options->retry_min_us;
  for (guint32 i = 1; i < failures && bound_us < options->retry_max_us; i++)
    bound_us *= 2;
  bound_us = MIN(bound_us, options->retry_max_us);
  return bound_us / 2 + (gint64)(g_random_double() * (double)(bound_us / 2));
}

static void
note_failure_locked(TideLane *lane, const char *error_text, gint64 now_us)
{
  if (lane->failures++ == 0)
    lane->failing_since_us = now_us;
  lane->not_before_us = now_us + backoff_us(&lane->lanes->options, lane->failures);
  g_free(lane->error_text);
  lane->error_text = g_strdup(error_text);
}

static void
note_success_locked(TideLane *lane)
{
  lane->failures = 0;
  lane->not_before_us = 0;
  g_clear_pointer(&lane->error_text, g_free);
}

/* The call's batches of one lane stand together; TRUE at the first of each run. */
static gboolean
begins_lane(const TideCall *call, guint32 i)
{
  return i == 0 || call->batches[i]->lane != call->batches[i - 1]->lane;
}

static void
end_call_locked(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  lanes->n_in_flight_calls--;
  lanes->in_flight_rows -= call->n_rows;
  /* From the last to the first, so that what goes back to the front stands in its old order. */
  for (guint32 i = call->n_batches; i-- > 0;) {
    TideBatch *batch = call->batches[i];
    TideLane *lane = batch->lane;
    batch->attempts++;
    switch (outcome) {
    case TIDE_OUTCOME_OK:
      break;
    case TIDE_OUTCOME_UNKNOWN:
      batch->last_unknown_us = now_us;
      push_front_locked(lane, batch);
      break;
    case TIDE_OUTCOME_NOT_SENT:
    case TIDE_OUTCOME_RETRY:
    case TIDE_OUTCOME_HOLD:
    case TIDE_OUTCOME_POISON:
      push_front_locked(lane, batch);
      break;
    }
    if (!begins_lane(call, i))
      continue;
    lane->n_in_flight--;
    if (outcome == TIDE_OUTCOME_OK)
      note_success_locked(lane);
    else if (outcome != TIDE_OUTCOME_NOT_SENT)
      note_failure_locked(lane, error_text, now_us);
    settle_state_locked(lane, now_us);
  }
}

void
tide_lanes_finish(TideLanes *lanes, TideCall *call, TideOutcome outcome, const char *error_text, gint64 now_us)
{
  tide_mutex_lock(&lanes->lock);
  {
    end_call_locked(lanes, call, outcome, error_text, now_us);
    tide_cond_broadcast(&lanes->work);
  }
  tide_mutex_unlock(&lanes->lock);
  if (outcome == TIDE_OUTCOME_OK)
    for (guint32 i = 0; i < call->n_batches; i++)
      tide_inbox_push(call->batches[i]->home, call->batches[i]);
  call->n_batches = 0;
}

/* ---- tables that may not be written to ---- */

void
tide_lanes_block(TideLanes *lanes, const TideTable *table, const char *reason, gint64 now_us)
{
  tide_mutex_lock(&lanes->lock);
  {
    TablePlace *place = &lanes->tables[table->index];
    if (place->reason == NULL)
      place->blocked_since_us = now_us;
    place->blocked = TRUE;
    place->n_said++;
    g_free(place->reason);
    place->reason = g_strdup(reason);
  }
  tide_mutex_unlock(&lanes->lock);
}

void
tide_lanes_unblock(TideLanes *lanes, const TideTable *table)
{
  tide_mutex_lock(&lanes->lock);
  {
    TablePlace *place = &lanes->tables[table->index];
    place->blocked = FALSE;
    place->n_said = 0;
    g_clear_pointer(&place->reason, g_free);
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
