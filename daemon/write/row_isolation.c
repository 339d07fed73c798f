#include "write/row_isolation.h"

#include "util/clock.h"

/* When so many rows were refused one by one and none was acknowledged, the rest will fare no better. */
#define HOPELESS_SUSPECTS 3u

/* How long a text is believed to be of rows' faults, since a row was last marked as poison by it. */
#define BELIEF_US (3600 * TIDE_US_PER_S)

#define NO_BATCH G_MAXUINT32

/* Of a refused call so many rows at the most are set aside for their size. */
#define MAX_ASIDE 16u

/* A row is set aside when it is so many times as large as the others are on average. */
#define ASIDE_FACTOR 4u

/* A row to be judged in this round. */
typedef struct Suspect {
  guint32 batch; /* index in the call */
  guint32 row;   /* in the batch */
  guint32 attempts;
  guint32 text_kind;
  gboolean is_for_size;
  char *text; /* owned: what it was refused with alone; NULL: it was not sent yet in this round */
} Suspect;

#define ANY_GATEWAY G_MAXUINT32

/* A text by which a row was marked as poison. */
typedef struct Belief {
  guint32 text_kind;
  guint32 gateway; /* of which it is believed */
  gint64 until_us;
} Belief;

struct TideRowIsolation {
  /* set at creation, then read-only */
  TideSendRowsFunc send;
  gpointer data;
  gint64 round_us;
  GArray *beliefs; /* (element-type Belief) */
  TideCallSizes sizes;
  /* of the call that runs */
  TideCall *call;
  guint32 gateway;
  gint64 now_us;
  TideIsolationCounts counts;
  guint32 first_rows[TIDE_CALL_MAX_BATCHES + 1];    /* a batch's first among all rows of the call; then their number */
  gboolean has_acknowledged[TIDE_CALL_MAX_BATCHES]; /* a row of the batch was, in this round */
  guint32 acknowledged_row[TIDE_CALL_MAX_BATCHES];  /* one of those rows */
  gboolean has_lost_witness;                        /* a row that had been taken was refused */
  guint32 aside[MAX_ASIDE];                         /* rows of the call that are sent alone, behind the others */
  guint32 n_aside;
  gboolean is_size_misleading; /* what was set aside was not all that is bad */
  TideFailure failure;         /* the last */
  char *text;                  /* owned: of the last failure */
  /* memory, reused */
  TideBuffer parts; /* of TideBytes */
  GArray *suspects; /* (element-type Suspect) */
};

static void
clear_suspect(gpointer data)
{
  g_free(((Suspect *)data)->text);
}

TideRowIsolation *
tide_row_isolation_new(TideSendRowsFunc send, gpointer data, gint64 round_us)
{
  TideRowIsolation *isolation = g_new0(TideRowIsolation, 1);
  isolation->send = send;
  isolation->data = data;
  isolation->round_us = round_us;
  isolation->beliefs = g_array_new(FALSE, FALSE, sizeof(Belief));
  tide_call_sizes_init(&isolation->sizes);
  isolation->suspects = g_array_new(FALSE, FALSE, sizeof(Suspect));
  g_array_set_clear_func(isolation->suspects, clear_suspect);
  return isolation;
}

void
tide_row_isolation_free(TideRowIsolation *isolation)
{
  if (isolation == NULL)
    return;
  g_array_unref(isolation->suspects);
  g_array_unref(isolation->beliefs);
  tide_call_sizes_clear(&isolation->sizes);
  tide_buffer_clear_memory(&isolation->parts);
  g_free(isolation->text);
  g_free(isolation);
}

/* ---- sending a range of the call's rows ---- */

/* Rows of the whole call, counted through its batches. */
typedef struct Range {
  guint32 first;
  guint32 end;
} Range;

static guint32
batch_of_row(const TideRowIsolation *isolation, guint32 row)
{
  guint32 batch = 0;
  while (isolation->first_rows[batch + 1] <= row)
    batch++;
  return batch;
}

/* The wire of rows [@first, @end) of @batch. */
static void
add_run(TideRowIsolation *isolation, TideBatch *batch, guint32 first, guint32 end, TideSentRows *rows)
{
  if (first == end)
    return;
  batch->is_left_out = FALSE;
  gsize start_bytes = tide_batch_rows(batch)[first].start_bytes;
  gsize end_bytes = end < batch->n_rows ? tide_batch_rows(batch)[end].start_bytes : batch->wire.len;
  TideBytes part = tide_bytes(batch->wire.data + start_bytes, end_bytes - start_bytes);
  tide_buffer_append(&isolation->parts, &part, sizeof part);
  rows->n_bytes += part.len;
  rows->n_rows += end - first;
  if (rows->batch != NULL)
    return;
  rows->batch = batch;
  rows->row = first;
}

/* The first of [@first, @end) that is poison, a suspect, set aside, or given up; @end: none. */
static guint32
next_left_out(const TideRowIsolation *isolation, guint32 i, guint32 first, guint32 end)
{
  const TideBatch *batch = isolation->call->batches[i];
  gsize n_poison, n_suspects;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  const TideBatchSuspect *suspects = tide_batch_suspects(batch, &n_suspects);
  for (gsize k = 0; k < n_poison; k++)
    if (poison[k].row >= first && poison[k].row < end)
      end = poison[k].row;
  for (gsize k = 0; k < n_suspects; k++)
    if (suspects[k].row >= first && suspects[k].row < end)
      end = suspects[k].row;
  for (guint32 k = 0; k < isolation->n_aside; k++)
    if (isolation->aside[k] >= isolation->first_rows[i] + first && isolation->aside[k] < isolation->first_rows[i] + end)
      end = isolation->aside[k] - isolation->first_rows[i];
  if (G_LIKELY(tide_batch_count_given_up(batch) == 0))
    return end;
  while (first < end && !tide_batch_is_given_up(batch, first))
    first++;
  return first;
}

/* Rows [@first, @end) of batch @i, but those that are done or left out. */
static void
add_rows(TideRowIsolation *isolation, guint32 i, guint32 first, guint32 end, TideSentRows *rows)
{
  TideBatch *batch = isolation->call->batches[i];
  first = MAX(first, batch->done_rows);
  while (first < end) {
    guint32 left_out = next_left_out(isolation, i, first, end);
    add_run(isolation, batch, first, left_out, rows);
    first = left_out + 1;
  }
}

/* The first of [@first, @end) that was sent with the others; @end: none. */
static guint32
first_good_row(const TideRowIsolation *isolation, guint32 i, guint32 first, guint32 end)
{
  while (first < end && next_left_out(isolation, i, first, end) == first)
    first++;
  return first;
}

static void
note_acknowledged(TideRowIsolation *isolation, Range range)
{
  for (guint32 i = batch_of_row(isolation, range.first);
       i < isolation->call->n_batches && isolation->first_rows[i] < range.end; i++) {
    guint32 first = MAX(range.first, isolation->first_rows[i]) - isolation->first_rows[i];
    guint32 end = MIN(range.end, isolation->first_rows[i + 1]) - isolation->first_rows[i];
    guint32 row = first_good_row(isolation, i, first, end);
    if (row == end)
      continue;
    isolation->has_acknowledged[i] = TRUE;
    isolation->acknowledged_row[i] = row;
  }
}

static void
mark_poison(TideRowIsolation *isolation, guint32 batch, guint32 row, guint32 attempts, const char *text)
{
  tide_batch_add_poison(isolation->call->batches[batch], row, attempts, text);
  isolation->counts.poison++;
}

/* Several rows were cut off together. Those of joined batches are sent batch by batch the next time, without a word. */
static void
note_cut_rows(TideRowIsolation *isolation, const TideSentRows *sent)
{
  gboolean is_for_size =
      tide_call_sizes_note_cut(&isolation->sizes, isolation->gateway, sent->n_bytes, isolation->now_us);
  if (isolation->call->n_batches == 1) {
    TideBatch *batch = isolation->call->batches[0];
    batch->n_cut_calls++;
    is_for_size |= batch->slice_rows > 0 || batch->n_cut_calls >= TIDE_CUT_LIMIT;
    if (is_for_size || sent->n_bytes >= TIDE_FRAME_LIMIT_LEAST_BYTES)
      batch->slice_rows = sent->n_rows / 2;
  }
  if (is_for_size)
    isolation->counts.cut_rows = sent->n_rows;
}

/* Remembers that @sent, of one batch, was cut off; see the head of row_isolation.h. */
static void
note_cut(TideRowIsolation *isolation, const TideSentRows *sent)
{
  TideBatch *batch = isolation->call->batches[0];
  if (!isolation->failure.is_cut || sent->n_bytes < TIDE_CUT_LEAST_BYTES)
    return;
  if (sent->n_rows > 1) {
    note_cut_rows(isolation, sent);
    return;
  }
  if (isolation->call->n_batches > 1)
    return;
  if (batch->n_cut == 0 || batch->cut_row != sent->row) {
    batch->n_cut = 0;
    batch->cut_row = sent->row;
    batch->cut_since_us = isolation->now_us;
  }
  batch->n_cut++;
  if (sent->n_bytes < TIDE_FRAME_LIMIT_LEAST_BYTES || batch->n_cut < TIDE_CUT_LIMIT ||
      isolation->call->last_ok_us <= batch->cut_since_us)
    return;
  g_autofree char *text = g_strdup_printf("a row of %" G_GSIZE_FORMAT " bytes is more than the gateway takes: %s",
                                          sent->n_bytes, isolation->text);
  tide_batch_clear_suspect(batch, sent->row); /* else it would be sent, and cut off, for ever */
  mark_poison(isolation, 0, sent->row, batch->attempts + 1, text);
  batch->n_cut = batch->slice_rows = 0;
}

/* One call. What failed stays in isolation->failure and text. */
static TideOutcome
send_parts(TideRowIsolation *isolation, TideSentRows *rows)
{
  rows->parts = (const TideBytes *)(const void *)isolation->parts.data;
  rows->n_parts = isolation->parts.len / sizeof(TideBytes);
  g_autofree char *text = NULL;
  TideFailure failure = isolation->send(rows, isolation->data, &text);
  if (failure.outcome == TIDE_OUTCOME_OK)
    return TIDE_OUTCOME_OK;
  isolation->failure = failure;
  g_free(isolation->text);
  isolation->text = g_steal_pointer(&text);
  note_cut(isolation, rows);
  return failure.outcome;
}

/* All of @range but what is left out. */
static TideOutcome
send_range(TideRowIsolation *isolation, Range range)
{
  TideSentRows rows = {0};
  tide_buffer_reset(&isolation->parts);
  for (guint32 i = batch_of_row(isolation, range.first);
       i < isolation->call->n_batches && isolation->first_rows[i] < range.end; i++) {
    guint32 start = isolation->first_rows[i];
    add_rows(isolation, i, MAX(range.first, start) - start, MIN(range.end, isolation->first_rows[i + 1]) - start,
             &rows);
  }
  if (rows.n_rows == 0)
    return TIDE_OUTCOME_OK;
  TideOutcome outcome = send_parts(isolation, &rows);
  if (outcome != TIDE_OUTCOME_OK)
    return outcome;
  note_acknowledged(isolation, range);
  tide_call_sizes_note_taken(&isolation->sizes, isolation->gateway, rows.n_bytes, isolation->now_us);
  return TIDE_OUTCOME_OK;
}

/* It was given up in the middle of a round: the next one leaves it out. */
static TideOutcome
end_round(TideRowIsolation *isolation)
{
  isolation->failure = (TideFailure){.outcome = TIDE_OUTCOME_NOT_SENT};
  g_free(isolation->text);
  isolation->text = g_strdup("its partition was taken away");
  return TIDE_OUTCOME_NOT_SENT;
}

/* Row @at of the call alone, also when it is suspected or was sent. */
static TideOutcome
send_alone(TideRowIsolation *isolation, guint32 at)
{
  guint32 batch = batch_of_row(isolation, at), row = at - isolation->first_rows[batch];
  if (tide_batch_is_given_up(isolation->call->batches[batch], row))
    return end_round(isolation);
  TideSentRows rows = {0};
  tide_buffer_reset(&isolation->parts);
  add_run(isolation, isolation->call->batches[batch], row, row + 1, &rows);
  isolation->counts.bisections++;
  return send_parts(isolation, &rows);
}

/* ---- finding rows ---- */

/* Not where all rows are parts of refused ones: they may well be rejected, every one. */
static gboolean
is_hopeless(const TideRowIsolation *isolation)
{
  gboolean all_unmerged = TRUE;
  if (isolation->suspects->len < HOPELESS_SUSPECTS)
    return FALSE;
  for (guint32 i = 0; i < isolation->call->n_batches; i++) {
    if (isolation->has_acknowledged[i])
      return FALSE;
    all_unmerged &= isolation->call->batches[i]->is_unmerged;
  }
  return !all_unmerged;
}

/* Row @at of the call was refused alone. @n_sent: calls of this round that carried it. */
static TideOutcome
suspect_row(TideRowIsolation *isolation, guint32 at, guint32 n_sent)
{
  guint32 batch = batch_of_row(isolation, at), row = at - isolation->first_rows[batch];
  guint32 attempts = isolation->call->batches[batch]->attempts + n_sent;
  if (isolation->failure.is_certain) {
    mark_poison(isolation, batch, row, attempts, isolation->text);
    return TIDE_OUTCOME_OK;
  }
  (void)tide_batch_suspect(isolation->call->batches[batch], row); /* whatever ends the round, it is not forgotten */
  Suspect suspect = {.batch = batch,
                     .row = row,
                     .attempts = attempts,
                     .text_kind = isolation->failure.kind,
                     .is_for_size = isolation->failure.is_for_size,
                     .text = g_strdup(isolation->text)};
  g_array_append_val(isolation->suspects, suspect);
  return is_hopeless(isolation) ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK;
}

static TideOutcome search(TideRowIsolation *isolation, Range range, guint32 n_sent);

/* @range was refused by the last of @n_sent calls that carried it. */
static TideOutcome
narrow(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  return range.end - range.first == 1 ? suspect_row(isolation, range.first, n_sent) : search(isolation, range, n_sent);
}

/* Sends @range, and searches it when it is refused. */
static TideOutcome
send_and_search(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  isolation->counts.bisections++;
  TideOutcome outcome = send_range(isolation, range);
  return outcome == TIDE_OUTCOME_POISON ? narrow(isolation, range, n_sent + 1) : outcome;
}

/* The bytes of the call's row @at, which is sent with others; 0: it is not. */
static gsize
sent_bytes(const TideRowIsolation *isolation, guint32 at)
{
  guint32 i = batch_of_row(isolation, at), row = at - isolation->first_rows[i];
  const TideBatch *batch = isolation->call->batches[i];
  gboolean is_left_out = row < batch->done_rows || next_left_out(isolation, i, row, row + 1) == row;
  return is_left_out ? 0 : tide_batch_row_wire(batch, row).len;
}

/* Sets rows of @range aside that are far larger than the others: what HBase refuses of a row is its size, mostly. */
static void
set_aside_large(TideRowIsolation *isolation, Range range)
{
  gsize largest = 0, other_bytes = 0, n_others = 0, n_large = 0;
  for (guint32 at = range.first; at < range.end; at++)
    largest = MAX(largest, sent_bytes(isolation, at));
  for (guint32 at = range.first; at < range.end && n_large <= MAX_ASIDE; at++) {
    gsize n_bytes = sent_bytes(isolation, at);
    gboolean is_large = n_bytes > largest / 2;
    if (is_large && n_large < MAX_ASIDE)
      isolation->aside[n_large] = at;
    n_large += is_large ? 1 : 0;
    n_others += n_bytes > 0 && !is_large ? 1 : 0;
    other_bytes += is_large ? 0 : n_bytes;
  }
  if (n_large <= MAX_ASIDE && n_others >= n_large && largest * n_others >= ASIDE_FACTOR * other_bytes)
    isolation->n_aside = (guint32)n_large;
}

/* What is set aside is believed to be all that is bad of @range: one call shows it, and one each which of it. */
static TideOutcome
search_aside(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  guint32 n_aside = isolation->n_aside;
  isolation->counts.bisections++;
  TideOutcome outcome = send_range(isolation, range);
  isolation->n_aside = 0;
  if (outcome == TIDE_OUTCOME_POISON) {
    isolation->is_size_misleading = TRUE;
    return search(isolation, range, n_sent + 1);
  }
  for (guint32 i = 0; i < n_aside && outcome == TIDE_OUTCOME_OK; i++)
    outcome = send_and_search(isolation, (Range){isolation->aside[i], isolation->aside[i] + 1}, n_sent);
  return outcome;
}

/* Writes all rows of @range but the bad ones, of which there is at least one. OK: they are written, and the bad ones
 * suspected. Recursion is as deep as the number of rows has bits. */
static TideOutcome
search(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  if (range.end - range.first == 1)
    return send_and_search(isolation, range, n_sent);
  if (!isolation->is_size_misleading)
    set_aside_large(isolation, range);
  if (isolation->n_aside > 0)
    return search_aside(isolation, range, n_sent);
  guint32 middle = range.first + (range.end - range.first) / 2;
  Range left = {range.first, middle}, right = {middle, range.end};
  isolation->counts.bisections++;
  TideOutcome outcome = send_range(isolation, left);
  if (outcome == TIDE_OUTCOME_OK && !isolation->failure.is_for_size)
    return search(isolation, right, n_sent); /* so it is there: halving it saves the call that would tell */
  if (outcome == TIDE_OUTCOME_POISON)
    outcome = narrow(isolation, left, n_sent + 1);
  return outcome == TIDE_OUTCOME_OK ? send_and_search(isolation, right, n_sent) : outcome;
}

/* ---- suspects ---- */

/* A row of @lane that was acknowledged: in this round, or in an earlier slice. G_MAXUINT32: none. */
static guint32
find_acknowledged(const TideRowIsolation *isolation, const TideLane *lane)
{
  for (guint32 i = 0; i < isolation->call->n_batches && !isolation->has_lost_witness; i++) {
    const TideBatch *batch = isolation->call->batches[i];
    guint32 row = isolation->has_acknowledged[i] ? isolation->acknowledged_row[i]
                                                 : first_good_row(isolation, i, 0, batch->done_rows);
    if (batch->lane == lane && (isolation->has_acknowledged[i] || row < batch->done_rows))
      return isolation->first_rows[i] + row;
  }
  return G_MAXUINT32;
}

/* ---- texts that were proven to be of rows' faults ---- */

/* What is said of a size is said by one gateway, or a proxy before it. */
static guint32
gateway_of_belief(const TideRowIsolation *isolation, const Suspect *suspect)
{
  return suspect->is_for_size ? isolation->gateway : ANY_GATEWAY;
}

static gboolean
is_believed(const TideRowIsolation *isolation, const Suspect *suspect)
{
  guint32 gateway = gateway_of_belief(isolation, suspect);
  for (guint i = 0; i < isolation->beliefs->len; i++) {
    const Belief *belief = &g_array_index(isolation->beliefs, Belief, i);
    if (belief->text_kind == suspect->text_kind && belief->gateway == gateway && belief->until_us > isolation->now_us)
      return TRUE;
  }
  return FALSE;
}

/* Those that are over make room. */
static void
believe(TideRowIsolation *isolation, const Suspect *suspect)
{
  Belief added = {suspect->text_kind, gateway_of_belief(isolation, suspect), isolation->now_us + BELIEF_US};
  for (guint i = isolation->beliefs->len; i-- > 0;) {
    const Belief *belief = &g_array_index(isolation->beliefs, Belief, i);
    gboolean is_same = belief->text_kind == added.text_kind && belief->gateway == added.gateway;
    if (is_same || belief->until_us <= isolation->now_us)
      g_array_remove_index_fast(isolation->beliefs, i);
  }
  g_array_append_val(isolation->beliefs, added);
}

/* ---- judging ---- */

static gboolean
is_new_suspect(const TideRowIsolation *isolation, guint32 batch, guint32 row)
{
  for (guint i = 0; i < isolation->suspects->len; i++) {
    const Suspect *suspect = &g_array_index(isolation->suspects, Suspect, i);
    if (suspect->batch == batch && suspect->row == row)
      return TRUE;
  }
  return FALSE;
}

/* Suspects of earlier rounds, which were left out of this one so far. */
static void
add_earlier_suspects(TideRowIsolation *isolation)
{
  for (guint32 i = 0; i < isolation->call->n_batches; i++) {
    const TideBatch *batch = isolation->call->batches[i];
    gsize n;
    const TideBatchSuspect *suspects = tide_batch_suspects(batch, &n);
    for (gsize s = 0; s < n; s++) {
      Suspect suspect = {.batch = i, .row = suspects[s].row, .attempts = batch->attempts};
      if (!is_new_suspect(isolation, i, suspect.row))
        g_array_append_val(isolation->suspects, suspect);
    }
  }
}

/* @suspect was refused alone in this round. @has_witness: its region took another row between. */
static const TideBatchSuspect *
count_round(TideRowIsolation *isolation, const Suspect *suspect, gboolean has_witness)
{
  TideBatch *batch = isolation->call->batches[suspect->batch];
  TideBatchSuspect *known = tide_batch_suspect(batch, suspect->row);
  gboolean is_first = known->n_rounds == 0;
  if (is_first || known->text_kind != suspect->text_kind)
    *known = (TideBatchSuspect){.row = suspect->row, .text_kind = suspect->text_kind, .since_us = isolation->now_us};
  else if (isolation->now_us - known->counted_us < isolation->round_us)
    return known;
  gboolean region_works = has_witness || (!is_first && batch->lane_ok_us > known->counted_us);
  known->n_rounds++;
  known->n_verified += region_works ? 1 : 0;
  known->counted_us = isolation->now_us;
  return known;
}

/* Sends a row that is suspected, and one of its region that was acknowledged, by turns. The turns are uneven (2 and 3
 * calls from one to the next), so that a gateway that fails every so many calls makes no row poison. OK: all ended as
 * for a poison row. POISON: not so. */
static TideOutcome
confirm(TideRowIsolation *isolation, Suspect *suspect, guint32 witness)
{
  static const char turns[] = "SWSWWS";
  guint32 row = isolation->first_rows[suspect->batch] + suspect->row;
  for (const char *turn = turns; *turn != '\0'; turn++) {
    gboolean is_suspects = *turn == 'S';
    TideOutcome outcome = send_alone(isolation, is_suspects ? row : witness);
    suspect->attempts += is_suspects ? 1 : 0;
    if (is_suspects && outcome == TIDE_OUTCOME_OK)
      return TIDE_OUTCOME_POISON;
    if (outcome != (is_suspects ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK))
      return outcome;
  }
  return TIDE_OUTCOME_OK;
}

static TideOutcome
settle(TideRowIsolation *isolation, const Suspect *suspect, gboolean is_rejected)
{
  tide_batch_clear_suspect(isolation->call->batches[suspect->batch], suspect->row);
  if (is_rejected)
    mark_poison(isolation, suspect->batch, suspect->row, suspect->attempts, suspect->text);
  return TIDE_OUTCOME_OK;
}

/* Sends @suspect alone. OK: it was taken. */
static TideOutcome
try_alone(TideRowIsolation *isolation, Suspect *suspect)
{
  TideOutcome outcome = send_alone(isolation, isolation->first_rows[suspect->batch] + suspect->row);
  suspect->attempts++;
  if (outcome == TIDE_OUTCOME_OK) { /* so its region works */
    isolation->has_acknowledged[suspect->batch] = TRUE;
    isolation->acknowledged_row[suspect->batch] = suspect->row;
  }
  if (outcome != TIDE_OUTCOME_POISON)
    return outcome;
  g_free(suspect->text);
  suspect->text = g_strdup(isolation->text);
  suspect->text_kind = isolation->failure.kind;
  suspect->is_for_size = isolation->failure.is_for_size;
  return outcome;
}

/* OK: @suspect is marked as poison, or was taken. POISON: it stays suspected. Else: what ended it. */
static TideOutcome
judge_suspect(TideRowIsolation *isolation, Suspect *suspect, guint32 witness)
{
  gboolean is_asked = witness != G_MAXUINT32;
  TideOutcome outcome = is_asked ? send_alone(isolation, witness) : TIDE_OUTCOME_OK;
  if (outcome != TIDE_OUTCOME_OK && outcome != TIDE_OUTCOME_POISON)
    return outcome;
  gboolean has_witness = is_asked && outcome == TIDE_OUTCOME_OK;
  isolation->has_lost_witness |= is_asked && !has_witness;
  if (is_asked || suspect->text == NULL) {
    outcome = try_alone(isolation, suspect);
    if (outcome == TIDE_OUTCOME_OK)
      return settle(isolation, suspect, FALSE);
    if (outcome != TIDE_OUTCOME_POISON)
      return outcome;
    if (isolation->failure.is_certain)
      return settle(isolation, suspect, TRUE);
  }
  const TideBatchSuspect *known = count_round(isolation, suspect, has_witness);
  gboolean is_verified = known->n_verified >= TIDE_PROOF_LIMIT;
  if (known->n_rounds >= TIDE_LONE_LIMIT && isolation->call->last_ok_us > known->since_us)
    return settle(isolation, suspect, TRUE);
  if (!is_verified && !(has_witness && is_believed(isolation, suspect)))
    return TIDE_OUTCOME_POISON;
  outcome = has_witness ? confirm(isolation, suspect, witness) : TIDE_OUTCOME_OK;
  if (outcome != TIDE_OUTCOME_OK)
    return outcome;
  believe(isolation, suspect);
  return settle(isolation, suspect, TRUE);
}

/* Whether calls of its region were acknowledged since @suspect was refused last. */
static gboolean
region_went_on(const TideRowIsolation *isolation, const Suspect *suspect)
{
  TideBatch *batch = isolation->call->batches[suspect->batch];
  return batch->lane_ok_us > tide_batch_suspect(batch, suspect->row)->counted_us;
}

/* OK: all are marked as poison, or were taken meanwhile. Where a region took nothing, a round counts for one row of a
 * batch only, and the others are not even sent. */
static TideOutcome
judge(TideRowIsolation *isolation)
{
  TideOutcome whole = TIDE_OUTCOME_OK;
  guint32 judged_batch = NO_BATCH;
  add_earlier_suspects(isolation);
  for (guint i = 0; i < isolation->suspects->len; i++) {
    Suspect *suspect = &g_array_index(isolation->suspects, Suspect, i);
    TideBatch *batch = isolation->call->batches[suspect->batch];
    if (tide_batch_is_given_up(batch, suspect->row)) {
      tide_batch_clear_suspect(batch, suspect->row);
      continue;
    }
    guint32 witness = find_acknowledged(isolation, batch->lane);
    gboolean is_next = witness == G_MAXUINT32 && judged_batch == suspect->batch && !region_went_on(isolation, suspect);
    judged_batch = suspect->batch;
    TideOutcome outcome = is_next ? TIDE_OUTCOME_POISON : judge_suspect(isolation, suspect, witness);
    if (outcome != TIDE_OUTCOME_OK && outcome != TIDE_OUTCOME_POISON)
      return outcome;
    if (outcome == TIDE_OUTCOME_POISON)
      whole = outcome;
  }
  return whole;
}

static gboolean
has_suspects(const TideRowIsolation *isolation)
{
  gboolean any = isolation->suspects->len > 0;
  for (guint32 i = 0; i < isolation->call->n_batches && !any; i++)
    any = isolation->call->batches[i]->suspects.len > 0;
  return any;
}

/* ---- a call ---- */

static void
begin(TideRowIsolation *isolation, TideCall *call, guint32 gateway, gint64 now_us)
{
  isolation->call = call;
  isolation->gateway = gateway;
  isolation->now_us = now_us;
  isolation->counts = (TideIsolationCounts){0};
  isolation->has_lost_witness = isolation->is_size_misleading = FALSE;
  isolation->first_rows[0] = 0;
  for (guint32 i = 0; i < call->n_batches; i++) {
    isolation->first_rows[i + 1] = isolation->first_rows[i] + call->batches[i]->n_rows;
    isolation->has_acknowledged[i] = FALSE;
    call->batches[i]->is_left_out = TRUE;
  }
  g_array_set_size(isolation->suspects, 0);
  g_clear_pointer(&isolation->text, g_free);
}

/* Where nothing was acknowledged, those that became suspects for the first time are no suspects: the rest would have
 * fared no better. */
static void
drop_new_suspects(TideRowIsolation *isolation)
{
  for (guint i = 0; i < isolation->suspects->len; i++) {
    const Suspect *suspect = &g_array_index(isolation->suspects, Suspect, i);
    TideBatch *batch = isolation->call->batches[suspect->batch];
    if (i > 0 && tide_batch_suspect(batch, suspect->row)->n_rounds == 0)
      tide_batch_clear_suspect(batch, suspect->row);
  }
  g_array_set_size(isolation->suspects, 1);
}

/* All rows of the call are acknowledged, poison or suspects: none need be sent again with the others. */
static void
note_done(TideRowIsolation *isolation)
{
  for (guint32 i = 0; i < isolation->call->n_batches; i++)
    isolation->call->batches[i]->done_rows = isolation->call->batches[i]->n_rows;
}

/* In calls of @step rows, from @first on; @done_rows: (nullable) is moved on with each. */
static TideOutcome
send_in_steps(TideRowIsolation *isolation, guint32 first, guint32 step, guint32 *done_rows)
{
  guint32 n_rows = isolation->first_rows[isolation->call->n_batches];
  TideOutcome outcome = TIDE_OUTCOME_OK;
  while (first < n_rows && outcome == TIDE_OUTCOME_OK) {
    Range range = {first, first + MIN(step, n_rows - first)};
    outcome = send_range(isolation, range);
    if (outcome == TIDE_OUTCOME_POISON)
      outcome = narrow(isolation, range, 1);
    first = range.end;
    if (outcome == TIDE_OUTCOME_OK && done_rows != NULL)
      *done_rows = first;
  }
  return outcome;
}

/* So many rows of the call are sent at a time, as its gateway is known to take; a batch alone keeps that in mind. */
static guint32
choose_step(const TideRowIsolation *isolation)
{
  const TideCall *call = isolation->call;
  guint32 n_rows = isolation->first_rows[call->n_batches];
  gsize n_bytes = 0, most_bytes = tide_call_sizes_most(&isolation->sizes, isolation->gateway, isolation->now_us);
  for (guint32 i = 0; i < call->n_batches; i++)
    n_bytes += call->batches[i]->wire.len;
  if (n_bytes <= most_bytes)
    return n_rows;
  guint32 step = (guint32)MAX((gdouble)n_rows * (gdouble)most_bytes / (gdouble)n_bytes, 1);
  if (call->n_batches == 1)
    call->batches[0]->slice_rows = step;
  return step;
}

TideFailure
tide_row_isolation_send(TideRowIsolation *isolation, TideCall *call, guint32 gateway, gint64 now_us,
                        TideIsolationCounts *ret_counts, char **ret_text)
{
  begin(isolation, call, gateway, now_us);
  TideBatch *first = call->batches[0];
  guint32 step = call->n_batches == 1 && first->slice_rows > 0 ? first->slice_rows : choose_step(isolation);
  TideOutcome outcome;
  if (first->is_mutations)
    outcome = send_in_steps(isolation, 0, 1, NULL);
  else if (call->n_batches == 1 && first->slice_rows > 0)
    outcome = send_in_steps(isolation, first->done_rows, step, &first->done_rows);
  else
    outcome = send_in_steps(isolation, 0, step, NULL);
  gboolean is_given_up = outcome == TIDE_OUTCOME_POISON;
  if (is_given_up)
    drop_new_suspects(isolation);
  else if (outcome == TIDE_OUTCOME_OK)
    note_done(isolation);
  if ((outcome == TIDE_OUTCOME_OK || is_given_up) && has_suspects(isolation))
    outcome = judge(isolation);
  if (outcome == TIDE_OUTCOME_OK && is_given_up)
    outcome = TIDE_OUTCOME_POISON; /* whatever became of the suspects: other rows were not sent */
  *ret_counts = isolation->counts;
  if (outcome == TIDE_OUTCOME_OK)
    return (TideFailure){.outcome = TIDE_OUTCOME_OK};
  *ret_text = g_steal_pointer(&isolation->text);
  return isolation->failure;
}
