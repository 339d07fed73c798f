#include "write/bisect.h"

#include "util/backoff.h"
#include "util/units.h"

/* After this many rows of a batch were refused alone and none was accepted, the search is given up until the next
 * call. */
#define GIVE_UP_AFTER 3u

#define SILENCES_LIMIT 2u

/* Halving replaces one range by two, and no range is halved more often than a row number has bits. */
#define MAX_RANGES 40u

/* A range of rows, counted across all batches of the call. */
typedef struct Range {
  guint32 first;
  guint32 end;
  guint32 n_sent;      /* calls in this take that carried it */
  gboolean is_part;    /* part of a refused range */
  gboolean is_refused; /* its parent was refused but the other half was accepted, so this half is known to be refused */
  gboolean has_brother;  /* the next range on the stack is the other half of the same refused range ... */
  gboolean may_be_sound; /* ... which was refused for its size, so both halves may be accepted */
} Range;

/* A row that was refused, or got no answer, alone in this take. */
typedef struct Refused {
  guint32 batch; /* index in the call */
  guint32 row;   /* in the batch */
  guint32 n_sent;
  gboolean is_silent;
  char *text; /* owned */
} Refused;

typedef enum Errand { ERRAND_RANGE, ERRAND_CONTROL_ROW, ERRAND_SUSPECT } Errand;

/* Result of a batch's control row in this take. */
typedef enum Control { CONTROL_UNTRIED, CONTROL_ACCEPTED, CONTROL_REFUSED } Control;

/* State of one batch in this take. */
typedef struct BatchTake {
  Control control;
  guint32 n_refused; /* rows that failed alone and are not poison yet */
  gboolean is_given_up;
} BatchTake;

/* One call to the gateway. */
typedef struct Sent {
  Errand errand;
  Range range; /* of that errand */
  guint32 n_rows;
  gsize n_bytes;
  guint32 first_row;                      /* in the first batch of the call */
  guint32 carried[TIDE_CALL_MAX_BATCHES]; /* indices in the call */
  guint32 n_carried;
  TideBuffer parts; /* of TideBytes; reused */
} Sent;

struct TideBisect {
  TideBisectOptions options; /* read-only */
  /* State of the running call. */
  TideCall *call; /* borrowed */
  gint64 now_us;  /* when the call began */
  guint32
      first_rows[TIDE_CALL_MAX_BATCHES + 1]; /* each batch's first row within the call; the last entry is the total */
  BatchTake takes[TIDE_CALL_MAX_BATCHES];
  Range ranges[MAX_RANGES];
  guint32 n_ranges;
  guint32 next_row;          /* all earlier rows were sent or are in ranges */
  guint32 suspect_batch;     /* the batch whose suspects are being tried ... */
  guint32 n_suspects_seen;   /* ... and how many of its rows were checked */
  TideFailure ended_by;      /* why sending stopped: neither acceptance nor refusal */
  gboolean is_row_oversized; /* a single row was refused for its size */
  TideBisectCounts counts;
  GArray *refused; /* (element-type Refused) */
  char *text;      /* owned: the last failure */
  Sent sent;       /* the last call */
};

static void
clear_refused(gpointer data)
{
  g_free(((Refused *)data)->text);
}

TideBisect *
tide_bisect_new(const TideBisectOptions *options)
{
  TideBisect *bisect = g_new0(TideBisect, 1);
  bisect->options = *options;
  bisect->refused = g_array_new(FALSE, FALSE, sizeof(Refused));
  g_array_set_clear_func(bisect->refused, clear_refused);
  return bisect;
}

void
tide_bisect_free(TideBisect *bisect)
{
  if (bisect == NULL)
    return;
  g_array_unref(bisect->refused);
  tide_buffer_clear_memory(&bisect->sent.parts);
  g_free(bisect->text);
  g_free(bisect);
}

void
tide_bisect_begin(TideBisect *bisect, TideCall *call, gint64 now_us)
{
  bisect->call = call;
  bisect->now_us = now_us;
  bisect->n_ranges = bisect->next_row = bisect->suspect_batch = bisect->n_suspects_seen = 0;
  bisect->ended_by = (TideFailure){.outcome = TIDE_OUTCOME_OK};
  bisect->is_row_oversized = FALSE;
  bisect->counts = (TideBisectCounts){0};
  g_array_set_size(bisect->refused, 0);
  g_clear_pointer(&bisect->text, g_free);
  bisect->first_rows[0] = 0;
  for (guint32 i = 0; i < call->n_batches; i++) {
    TideBatch *batch = call->batches[i];
    bisect->first_rows[i + 1] = bisect->first_rows[i] + batch->n_rows;
    bisect->takes[i] = (BatchTake){0};
    batch->delivery.is_acknowledged = batch->delivery.has_failed = FALSE;
    batch->delivery.n_more = 0;
    if (batch->delivery.attempts == 0)
      tide_suspects_mark(bisect->options.suspects, batch, now_us);
  }
}

/* ---- choosing the next call ---- */

static void
begin_parts(TideBisect *bisect)
{
  tide_buffer_reset(&bisect->sent.parts);
  bisect->sent.n_rows = bisect->sent.n_carried = 0;
  bisect->sent.n_bytes = 0;
}

/* Adds the wire bytes of rows [@first, @end) of the call's batch @i. */
static void
add_run(TideBisect *bisect, guint32 i, guint32 first, guint32 end)
{
  const TideBatch *batch = bisect->call->batches[i];
  gsize start_bytes = tide_batch_rows(batch)[first].start_bytes;
  gsize end_bytes = end < batch->n_rows ? tide_batch_rows(batch)[end].start_bytes : batch->wire.len;
  TideBytes part = tide_bytes(batch->wire.data + start_bytes, end_bytes - start_bytes);
  tide_buffer_append(&bisect->sent.parts, &part, sizeof part);
  if (bisect->sent.n_rows == 0)
    bisect->sent.first_row = first;
  if (bisect->sent.n_carried == 0 || bisect->sent.carried[bisect->sent.n_carried - 1] != i)
    bisect->sent.carried[bisect->sent.n_carried++] = i;
  bisect->sent.n_bytes += part.len;
  bisect->sent.n_rows += end - first;
}

/* Adds all waiting rows of @range to one call. Returns FALSE if there are none. */
static gboolean
add_range(TideBisect *bisect, Range range)
{
  begin_parts(bisect);
  guint32 i = 0;
  while (bisect->first_rows[i + 1] <= range.first)
    i++;
  for (; i < bisect->call->n_batches && bisect->first_rows[i] < range.end; i++) {
    const TideBatch *batch = bisect->call->batches[i];
    guint32 start = bisect->first_rows[i], end = MIN(range.end, bisect->first_rows[i + 1]) - start;
    if (tide_batch_is_cancelled(batch) || bisect->takes[i].is_given_up)
      continue;
    for (guint32 row = MAX(range.first, start) - start; row < end;) {
      guint32 first = tide_batch_find_state(batch, TIDE_ROW_WAITING, row, end);
      for (row = first; row < end && tide_batch_row_state(batch, row) == TIDE_ROW_WAITING;)
        row++;
      if (first < row)
        add_run(bisect, i, first, row);
    }
  }
  return bisect->sent.n_rows > 0;
}

static void
push_range(TideBisect *bisect, Range range)
{
  g_assert(bisect->n_ranges < MAX_RANGES);
  bisect->ranges[bisect->n_ranges++] = range;
}

/* Whether the right half of @range is tried first. The order alternates between takes: if refused rows are adjacent,
 * other rows are found before the search is given up. */
static gboolean
is_right_first(const TideBisect *bisect, const Range *range)
{
  guint32 attempts = bisect->call->batches[bisect->sent.carried[0]]->delivery.attempts;
  return (attempts * 0x9e3779b9u >> g_bit_storage(range->end - range->first)) % 2 == 1;
}

/* The last call of @range was refused. */
static void
push_halves(TideBisect *bisect, Range range, gboolean may_be_sound)
{
  guint32 middle = range.first + (range.end - range.first) / 2;
  Range half = {.n_sent = range.n_sent, .is_part = TRUE, .may_be_sound = may_be_sound};
  Range left = half, right = half;
  left.first = range.first;
  left.end = right.first = middle;
  right.end = range.end;
  gboolean is_right = is_right_first(bisect, &range);
  Range *first = is_right ? &right : &left;
  first->has_brother = TRUE;
  push_range(bisect, is_right ? left : right);
  push_range(bisect, *first);
}

/* @range has no refused rows: if its parent was refused, the other half has. */
static void
note_sound(TideBisect *bisect, const Range *range)
{
  if (range->has_brother && !range->may_be_sound)
    bisect->ranges[bisect->n_ranges - 1].is_refused = TRUE;
}

static gboolean
next_range(TideBisect *bisect)
{
  const TideCall *call = bisect->call;
  guint32 n_rows = bisect->first_rows[call->n_batches], step_rows = call->max_rows;
  if (call->batches[0]->is_mutations)
    step_rows = 1;
  else if (call->n_batches == 1 && call->batches[0]->delivery.piece_rows > 0)
    step_rows = MIN(step_rows, call->batches[0]->delivery.piece_rows);
  for (;;) {
    if (bisect->n_ranges == 0) {
      if (bisect->next_row >= n_rows)
        return FALSE;
      Range step = {.first = bisect->next_row};
      step.end = step.first + MIN(step_rows, n_rows - step.first);
      bisect->next_row = step.end;
      push_range(bisect, step);
    }
    Range range = bisect->ranges[--bisect->n_ranges];
    if (!add_range(bisect, range)) {
      note_sound(bisect, &range);
      continue;
    }
    if (range.is_refused && bisect->sent.n_rows > 1) {
      push_halves(bisect, range, FALSE);
      continue;
    }
    range.n_sent++;
    bisect->counts.bisections += range.is_part ? 1 : 0;
    bisect->sent.errand = ERRAND_RANGE;
    bisect->sent.range = range;
    return TRUE;
  }
}

/* Chooses a row of batch @i that an earlier call has accepted; not always the same one. */
static guint32
find_control_row(const TideBatch *batch)
{
  guint32 start = batch->delivery.attempts % batch->n_rows;
  guint32 row = tide_batch_find_state(batch, TIDE_ROW_DONE, start, batch->n_rows);
  return row < batch->n_rows ? row : tide_batch_find_state(batch, TIDE_ROW_DONE, 0, batch->n_rows);
}

static gboolean
send_alone(TideBisect *bisect, Errand errand, guint32 i, guint32 row)
{
  begin_parts(bisect);
  add_run(bisect, i, row, row + 1);
  bisect->sent.errand = errand;
  bisect->counts.bisections++;
  return TRUE;
}

/* Finds the next due suspect of @batch; n_rows: none. Suspects alternate, beginning after the last one tried, because
 * each may break the connection. */
static guint32
next_due_suspect(TideBisect *bisect, const TideBatch *batch, TideSuspect *ret_known)
{
  guint32 start = batch->delivery.since_us > 0 ? batch->delivery.suspect_row + 1 : 0;
  for (; bisect->n_suspects_seen < batch->n_rows; bisect->n_suspects_seen++) {
    guint32 row = (start + bisect->n_suspects_seen) % batch->n_rows;
    if (tide_batch_row_state(batch, row) != TIDE_ROW_SUSPECT)
      continue;
    guint64 identity = tide_suspects_identity(batch, row);
    *ret_known = tide_suspects_find(bisect->options.suspects, identity, bisect->now_us);
    if (ret_known->due_us <= bisect->now_us)
      return row;
  }
  return batch->n_rows;
}

/* Sends suspects alone, after all other rows. The control row precedes them in every other round, otherwise it follows
 * the first refused suspect. A gateway that fails regularly thus does not always fail the same row. A second suspect of
 * the batch is tried only if another row is accepted. */
static gboolean
next_suspect(TideBisect *bisect)
{
  for (; bisect->suspect_batch < bisect->call->n_batches; bisect->suspect_batch++, bisect->n_suspects_seen = 0) {
    guint32 i = bisect->suspect_batch;
    const TideBatch *batch = bisect->call->batches[i];
    const BatchTake *take = &bisect->takes[i];
    if (batch->delivery.states.len == 0 && take->n_refused == 0)
      continue;
    if (tide_batch_is_cancelled(batch) || take->is_given_up || take->control == CONTROL_REFUSED)
      continue;
    TideSuspect known = {0};
    guint32 suspect = next_due_suspect(bisect, batch, &known), control = find_control_row(batch);
    gboolean is_due = suspect < batch->n_rows, is_untried = take->control == CONTROL_UNTRIED;
    gboolean goes_behind = known.n_rounds % 2 == 1 && !known.is_silent;
    if (is_untried && control < batch->n_rows && (take->n_refused > 0 || (is_due && !goes_behind)))
      return send_alone(bisect, ERRAND_CONTROL_ROW, i, control);
    if (!is_due || (is_untried && take->n_refused > 0))
      continue;
    bisect->n_suspects_seen++;
    return send_alone(bisect, ERRAND_SUSPECT, i, suspect);
  }
  return FALSE;
}

gboolean
tide_bisect_next(TideBisect *bisect, TideBisectCall *ret_call)
{
  if (bisect->ended_by.outcome != TIDE_OUTCOME_OK || !(next_range(bisect) || next_suspect(bisect)))
    return FALSE;
  *ret_call = (TideBisectCall){.parts = (const TideBytes *)(const void *)bisect->sent.parts.data,
                               .n_parts = bisect->sent.parts.len / sizeof(TideBytes),
                               .n_bytes = bisect->sent.n_bytes,
                               .n_rows = bisect->sent.n_rows,
                               .batch = bisect->call->batches[bisect->sent.carried[0]],
                               .row = bisect->sent.first_row};
  return TRUE;
}

/* ---- results ---- */

static void
mark_poison(TideBisect *bisect, guint32 i, guint32 row, guint32 attempts, const char *text, gint64 now_us)
{
  TideBatch *batch = bisect->call->batches[i];
  TideSuspect known = {.identity = tide_suspects_identity(batch, row),
                       .n_rounds = TIDE_SUSPECT_ROUNDS,
                       .first_us = now_us,
                       .seen_us = now_us};
  tide_batch_add_poison(batch, row, attempts, text);
  tide_batch_set_row_state(batch, row, TIDE_ROW_POISON);
  tide_suspects_keep(bisect->options.suspects, &known);
  bisect->counts.poison++;
}

/* Records that the last row sent was refused. If a batch accepts nothing, only the first such row stays a suspect. */
static void
add_refused(TideBisect *bisect, gboolean is_silent, const char *text)
{
  guint32 i = bisect->sent.carried[0];
  BatchTake *take = &bisect->takes[i];
  gboolean is_search = bisect->sent.errand == ERRAND_RANGE;
  Refused added = {.batch = i,
                   .row = bisect->sent.first_row,
                   .n_sent = is_search ? bisect->sent.range.n_sent : 1,
                   .is_silent = is_silent,
                   .text = g_strdup(text)};
  g_array_append_val(bisect->refused, added);
  take->n_refused++;
  take->is_given_up = is_search && take->control == CONTROL_UNTRIED && take->n_refused >= GIVE_UP_AFTER;
  for (guint k = bisect->refused->len; take->is_given_up && k-- > 0 && take->n_refused > 1;)
    if (g_array_index(bisect->refused, Refused, k).batch == i) {
      g_array_remove_index(bisect->refused, k);
      take->n_refused--;
    }
}

static void
note_accepted(TideBisect *bisect)
{
  const TideCall *call = bisect->call;
  const Range *range = &bisect->sent.range;
  gboolean is_whole = range->first == 0 && range->end == bisect->first_rows[call->n_batches];
  bisect->call->taken_rows = MAX(call->taken_rows, bisect->sent.n_rows);
  for (guint32 k = 0; k < bisect->sent.n_carried; k++) {
    guint32 i = bisect->sent.carried[k], start = bisect->first_rows[i];
    TideBatch *batch = call->batches[i];
    batch->delivery.is_acknowledged = TRUE;
    batch->delivery.n_silences = 0;
    bisect->takes[i].control = CONTROL_ACCEPTED;
    if (bisect->sent.errand != ERRAND_RANGE || (is_whole && batch->delivery.states.len == 0))
      continue; /* without states, the batch as a whole is acknowledged */
    guint32 end = MIN(range->end, bisect->first_rows[i + 1]) - start;
    for (guint32 row = MAX(range->first, start) - start; row < end; row++)
      if (tide_batch_row_state(batch, row) == TIDE_ROW_WAITING)
        tide_batch_set_row_state(batch, row, TIDE_ROW_DONE);
  }
  if (bisect->sent.errand == ERRAND_RANGE)
    note_sound(bisect, range);
  if (bisect->sent.errand != ERRAND_SUSPECT)
    return;
  TideBatch *batch = call->batches[bisect->sent.carried[0]];
  tide_batch_set_row_state(batch, bisect->sent.first_row, TIDE_ROW_DONE);
  tide_suspects_forget(bisect->options.suspects, tide_suspects_identity(batch, bisect->sent.first_row));
}

static void
note_refused(TideBisect *bisect, TideFailure failure, const char *text, gint64 now_us)
{
  TideCall *call = bisect->call;
  guint32 i = bisect->sent.carried[0];
  if (bisect->sent.errand == ERRAND_CONTROL_ROW) {
    bisect->takes[i].control = CONTROL_REFUSED;
    call->batches[i]->delivery.has_failed = TRUE;
    return;
  }
  if (bisect->sent.n_rows > 1) {
    push_halves(bisect, bisect->sent.range, failure.is_for_size);
    if (failure.is_for_size)
      call->oversized_rows = bisect->sent.n_rows; /* each is smaller than the previous one */
    return;
  }
  bisect->is_row_oversized |= failure.is_for_size;
  guint64 identity = tide_suspects_identity(call->batches[i], bisect->sent.first_row);
  TideSuspect known = tide_suspects_find(bisect->options.suspects, identity, now_us);
  guint32 n_before = known.n_tries > 0 ? known.n_tries : call->batches[i]->delivery.attempts;
  if (failure.is_certain)
    mark_poison(bisect, i, bisect->sent.first_row,
                n_before + (bisect->sent.errand == ERRAND_RANGE ? bisect->sent.range.n_sent : 1), text, now_us);
  else
    add_refused(bisect, FALSE, text);
}

/* Sending ends: the connection is lost, or further calls over it would fail. */
static void
note_ended(TideBisect *bisect, TideFailure failure, const char *text, gint64 now_us)
{
  bisect->ended_by = failure;
  for (guint32 k = 0; k < bisect->sent.n_carried; k++) {
    guint32 i = bisect->sent.carried[k];
    bisect->call->batches[i]->delivery.has_failed = bisect->takes[i].control != CONTROL_ACCEPTED;
  }
  if (failure.outcome != TIDE_OUTCOME_UNKNOWN)
    return;
  for (guint32 k = 0; k < bisect->sent.n_carried; k++) {
    TideBatch *batch = bisect->call->batches[bisect->sent.carried[k]];
    tide_batch_mark_in_doubt(batch, now_us);
    batch->delivery.n_silences += bisect->sent.errand == ERRAND_RANGE ? 1 : 0;
  }
  if (bisect->sent.errand == ERRAND_SUSPECT)
    add_refused(bisect, TRUE, text);
  if (bisect->sent.errand != ERRAND_RANGE)
    return;
  bisect->call->silent_rows = bisect->sent.n_rows > 1 ? bisect->sent.n_rows : 0;
  TideBatchDelivery *delivery = &bisect->call->batches[bisect->sent.carried[0]]->delivery;
  if (bisect->sent.n_carried > 1 || delivery->n_silences < SILENCES_LIMIT)
    return;
  delivery->n_silences = 0;
  /* Once a single row is isolated, the others are sent together again. */
  delivery->piece_rows = bisect->sent.n_rows / 2;
  if (bisect->sent.n_rows == 1)
    add_refused(bisect, TRUE, text);
}

void
tide_bisect_note(TideBisect *bisect, TideFailure failure, const char *text, gint64 now_us)
{
  bisect->call->is_answered |= failure.outcome == TIDE_OUTCOME_OK || failure.outcome == TIDE_OUTCOME_POISON;
  if (failure.outcome == TIDE_OUTCOME_OK) {
    note_accepted(bisect);
    return;
  }
  g_free(bisect->text);
  bisect->text = g_strdup(text);
  if (failure.outcome == TIDE_OUTCOME_POISON)
    note_refused(bisect, failure, text, now_us);
  else
    note_ended(bisect, failure, text, now_us);
}

/* ---- end of a call ---- */

/* Describes a waiting row for log and status. (transfer full) */
static char *
describe_waiting(const Refused *refused, gsize n_bytes, const TideSuspect *known, gboolean has_control)
{
  if (refused->is_silent) {
    g_autofree char *calls = tide_count_of(known->n_pauses, "call", NULL);
    return g_strdup_printf("a row of %" G_GSIZE_FORMAT
                           " bytes got no answer in %s of its own; if a proxy limits requests, raise the limit; other "
                           "rows of the batch are written, later rows with these keys wait: %s",
                           n_bytes, calls, refused->text);
  }
  return g_strdup_printf(
      "a row is refused when sent alone%s: %s",
      has_control
          ? ""
          : ", but its region has accepted no other row since, or refused several, so the row may not be the cause",
      refused->text);
}

/* Evaluates one round of a row that was refused, or got no answer, alone. */
static void
judge(TideBisect *bisect, const Refused *refused, gint64 now_us)
{
  TideBatch *batch = bisect->call->batches[refused->batch];
  TideBatchDelivery *delivery = &batch->delivery;
  gsize n_bytes = tide_batch_row_wire(batch, refused->row).len;
  TideSuspect known = tide_suspects_find(bisect->options.suspects, tide_suspects_identity(batch, refused->row), now_us);
  gboolean is_new = known.first_us == 0, has_control_row = find_control_row(batch) < batch->n_rows;
  known.first_us = is_new ? now_us : known.first_us;
  gboolean has_worked = delivery->lane_ok_us > (delivery->is_final ? 0 : known.first_us);
  gboolean has_control = bisect->takes[refused->batch].control == CONTROL_ACCEPTED || (!has_control_row && has_worked);
  gboolean is_to_blame = has_control && (!refused->is_silent || n_bytes >= TIDE_FRAME_LIMIT_LEAST_BYTES);
  delivery->is_stuck = !is_to_blame && known.n_pauses + 1 >= TIDE_SUSPECT_ROUNDS;
  known.n_tries = (is_new ? delivery->attempts : known.n_tries) + refused->n_sent;
  if (is_to_blame)
    known.n_rounds = 1 + (delivery->is_final ? MAX(known.n_rounds, known.n_pauses) : known.n_rounds);
  if (is_to_blame && known.n_rounds >= TIDE_SUSPECT_ROUNDS) {
    g_autofree char *too_large = g_strdup_printf(
        "a row of %" G_GSIZE_FORMAT " bytes exceeds what the gateway accepts: %s", n_bytes, refused->text);
    mark_poison(bisect, refused->batch, refused->row, known.n_tries, refused->is_silent ? too_large : refused->text,
                now_us);
    delivery->n_more -= is_new ? 0 : 1;
    return;
  }
  known.n_pauses++;
  known.is_silent = refused->is_silent;
  known.seen_us = now_us;
  known.due_us = now_us + tide_backoff_us(known.n_pauses, bisect->options.retry_min_us, bisect->options.retry_max_us);
  tide_suspects_keep(bisect->options.suspects, &known);
  tide_batch_set_row_state(batch, refused->row, TIDE_ROW_SUSPECT);
  delivery->suspect_row = refused->row;
  delivery->is_silent = refused->is_silent;
  delivery->n_tries = known.n_pauses;
  delivery->n_more += is_new ? 1 : 0;
  g_free(delivery->text);
  delivery->text = describe_waiting(refused, n_bytes, &known, has_control);
}

/* A batch with nothing but suspects waits for the first one that is due. */
static void
end_batch(TideBisect *bisect, TideBatch *batch, gint64 now_us)
{
  TideBatchDelivery *delivery = &batch->delivery;
  guint32 row = tide_batch_find_state(batch, TIDE_ROW_SUSPECT, 0, batch->n_rows);
  delivery->not_before_us = 0;
  if (row == batch->n_rows) {
    delivery->since_us = 0;
    g_clear_pointer(&delivery->text, g_free);
    return;
  }
  delivery->since_us = delivery->since_us > 0 ? delivery->since_us : now_us;
  if (tide_batch_find_state(batch, TIDE_ROW_WAITING, 0, batch->n_rows) < batch->n_rows)
    return;
  gint64 due_us = G_MAXINT64;
  for (; row < batch->n_rows; row = tide_batch_find_state(batch, TIDE_ROW_SUSPECT, row + 1, batch->n_rows)) {
    TideSuspect known = tide_suspects_find(bisect->options.suspects, tide_suspects_identity(batch, row), now_us);
    /* A suspect without evidence found no room for it. */
    due_us = MIN(due_us, known.seen_us > 0 ? known.due_us : now_us + bisect->options.retry_max_us);
  }
  delivery->not_before_us = MAX(due_us, now_us + tide_upper_half_us(bisect->options.retry_min_us));
  atomic_store_explicit(&batch->flags.has_suspects_only, TRUE, memory_order_relaxed);
}

TideFailure
tide_bisect_end(TideBisect *bisect, gint64 now_us, TideBisectCounts *ret_counts, char **ret_text)
{
  TideFailure failure = bisect->ended_by;
  gboolean is_any_failing = FALSE;
  for (guint k = 0; k < bisect->refused->len; k++) {
    const Refused *refused = &g_array_index(bisect->refused, Refused, k);
    if (!tide_batch_is_cancelled(bisect->call->batches[refused->batch]))
      judge(bisect, refused, now_us);
  }
  for (guint32 i = 0; i < bisect->call->n_batches; i++) {
    TideBatch *batch = bisect->call->batches[i];
    if (batch->delivery.states.len > 0)
      end_batch(bisect, batch, now_us);
    gboolean is_refusing = bisect->takes[i].is_given_up || bisect->takes[i].control == CONTROL_REFUSED;
    if (is_refusing)
      batch->delivery.n_refusing++;
    else if (batch->delivery.is_acknowledged)
      batch->delivery.n_refusing = 0;
    if (is_refusing && failure.outcome == TIDE_OUTCOME_OK)
      failure = (TideFailure){.outcome = TIDE_OUTCOME_POISON};
    gboolean is_whole = batch->delivery.states.len == 0 && batch->delivery.is_acknowledged;
    guint32 waiting = is_whole ? batch->n_rows : tide_batch_find_state(batch, TIDE_ROW_WAITING, 0, batch->n_rows);
    is_any_failing |= !tide_batch_is_cancelled(batch) && (waiting < batch->n_rows || batch->delivery.has_failed);
  }
  if (!is_any_failing && failure.outcome != TIDE_OUTCOME_SUSPEND)
    failure = (TideFailure){.outcome = TIDE_OUTCOME_OK}; /* the failure of a suspect, recorded in its batch */
  if (bisect->is_row_oversized)
    bisect->call->oversized_rows = 0; /* the row was too large, not the call */
  *ret_counts = bisect->counts;
  if (failure.outcome != TIDE_OUTCOME_OK)
    *ret_text = g_steal_pointer(&bisect->text);
  return failure;
}
