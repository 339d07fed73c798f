#include "write/row_isolation.h"

#include "write/named_row.h"

/* When so many rows were refused one by one and none was acknowledged, the rest will fare no better. */
#define HOPELESS_SUSPECTS 3u

#define NO_BATCH G_MAXUINT32
#define NO_ROW G_MAXUINT32

/* Of so many rows one is bad at the most, as a rule: where one is named, the others go as one call. */
#define FEW_ROWS 256u

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
  gint64 round_us;
  GArray *beliefs; /* (element-type Belief) */
  TideCallSlices slices;
  /* of the call that runs */
  guint32 bisections;
  gboolean has_acknowledged[TIDE_CALL_MAX_BATCHES]; /* a row of the batch was, in this round */
  guint32 acknowledged_row[TIDE_CALL_MAX_BATCHES];  /* one of those rows */
  gboolean has_lost_witness;                        /* a row that had been taken was refused */
  gboolean is_size_misleading;                      /* what was set aside was not all that is bad */
  gboolean is_text_misleading;                      /* a row that it named was taken */
  GArray *suspects;                                 /* (element-type Suspect); memory, reused */
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
  tide_call_slices_init(&isolation->slices, send, data);
  isolation->round_us = round_us;
  isolation->beliefs = g_array_new(FALSE, FALSE, sizeof(Belief));
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
  tide_call_slices_clear(&isolation->slices);
  g_free(isolation);
}

/* The first of [@first, @end) that was sent with the others; @end: none. */
static guint32
first_good_row(const TideRowIsolation *isolation, guint32 i, guint32 first, guint32 end)
{
  while (first < end && tide_call_slices_next_left_out(&isolation->slices, i, first, end) == first)
    first++;
  return first;
}

static void
note_acknowledged(TideRowIsolation *isolation, TideRowRange range)
{
  for (guint32 i = tide_call_slices_batch_of_row(&isolation->slices, range.first);
       i < isolation->slices.call->n_batches && isolation->slices.first_rows[i] < range.end; i++) {
    guint32 first = MAX(range.first, isolation->slices.first_rows[i]) - isolation->slices.first_rows[i];
    guint32 end = MIN(range.end, isolation->slices.first_rows[i + 1]) - isolation->slices.first_rows[i];
    guint32 row = first_good_row(isolation, i, first, end);
    if (row == end)
      continue;
    isolation->has_acknowledged[i] = TRUE;
    isolation->acknowledged_row[i] = row;
  }
}

/* All of @range but what is done or left out, as one call. */
static TideOutcome
send_range(TideRowIsolation *isolation, TideRowRange range)
{
  TideOutcome outcome = tide_call_slices_send(&isolation->slices, range);
  if (outcome == TIDE_OUTCOME_OK && isolation->slices.n_sent_rows > 0)
    note_acknowledged(isolation, range);
  return outcome;
}

static TideOutcome
send_alone(TideRowIsolation *isolation, guint32 at)
{
  isolation->bisections++;
  return tide_call_slices_send_alone(&isolation->slices, at);
}

/* ---- finding rows ---- */

/* Not where all rows are parts of refused ones: they may well be rejected, every one. */
static gboolean
is_hopeless(const TideRowIsolation *isolation)
{
  gboolean all_unmerged = TRUE;
  if (isolation->suspects->len < HOPELESS_SUSPECTS)
    return FALSE;
  for (guint32 i = 0; i < isolation->slices.call->n_batches; i++) {
    if (isolation->has_acknowledged[i])
      return FALSE;
    all_unmerged &= isolation->slices.call->batches[i]->is_unmerged;
  }
  return !all_unmerged;
}

/* Row @at of the call was refused alone. @n_sent: calls of this round that carried it. */
static TideOutcome
suspect_row(TideRowIsolation *isolation, guint32 at, guint32 n_sent)
{
  TideCallSlices *slices = &isolation->slices;
  guint32 batch = tide_call_slices_batch_of_row(slices, at), row = at - slices->first_rows[batch];
  guint32 attempts = slices->call->batches[batch]->attempts + n_sent;
  if (slices->failure.is_certain) {
    tide_call_slices_mark_poison(slices, batch, row, attempts, slices->text);
    return TIDE_OUTCOME_OK;
  }
  (void)tide_batch_suspect(slices->call->batches[batch], row); /* whatever ends the round, it is not forgotten */
  Suspect suspect = {.batch = batch,
                     .row = row,
                     .attempts = attempts,
                     .text_kind = slices->failure.kind,
                     .is_for_size = slices->failure.is_for_size,
                     .text = g_strdup(slices->text)};
  g_array_append_val(isolation->suspects, suspect);
  return is_hopeless(isolation) ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK;
}

static TideOutcome search(TideRowIsolation *isolation, TideRowRange range, guint32 n_sent);

/* @range was refused by the last of @n_sent calls that carried it. */
static TideOutcome
narrow(TideRowIsolation *isolation, TideRowRange range, guint32 n_sent)
{
  return range.end - range.first == 1 ? suspect_row(isolation, range.first, n_sent) : search(isolation, range, n_sent);
}

/* Sends @range, and searches it when it is refused. */
static TideOutcome
send_and_search(TideRowIsolation *isolation, TideRowRange range, guint32 n_sent)
{
  isolation->bisections++;
  TideOutcome outcome = send_range(isolation, range);
  return outcome == TIDE_OUTCOME_POISON ? narrow(isolation, range, n_sent + 1) : outcome;
}

/* The row of @range that the last refusal names; NO_ROW: none. Of several, the longest key: others may be its begin. */
static guint32
find_named(const TideRowIsolation *isolation, TideRowRange range)
{
  const TideCallSlices *slices = &isolation->slices;
  guint32 named = NO_ROW;
  gsize longest = 0;
  for (guint32 at = range.first; at < range.end && slices->failure.is_certain && !isolation->is_text_misleading; at++) {
    guint32 i = tide_call_slices_batch_of_row(slices, at), row = at - slices->first_rows[i];
    TideBytes key = tide_batch_row_key(slices->call->batches[i], row);
    if (key.len <= longest || tide_call_slices_next_left_out(slices, i, row, row + 1) == row ||
        !tide_text_names_row(slices->text, key))
      continue;
    named = at;
    longest = key.len;
  }
  return named;
}

/* @range holds @named, which is believed to be bad, and may hold others that are. */
static TideOutcome
search_named(TideRowIsolation *isolation, TideRowRange range, guint32 named, guint32 n_sent)
{
  guint32 n_poison = isolation->slices.n_poison;
  TideOutcome outcome = send_and_search(isolation, (TideRowRange){named, named + 1}, n_sent);
  isolation->is_text_misleading |= isolation->slices.n_poison == n_poison;
  if (outcome != TIDE_OUTCOME_OK)
    return outcome;
  if (range.end - range.first <= FEW_ROWS)
    return send_and_search(isolation, range, n_sent);
  guint32 middle = range.first + (range.end - range.first) / 2;
  outcome = send_and_search(isolation, (TideRowRange){range.first, middle}, n_sent);
  return outcome == TIDE_OUTCOME_OK ? send_and_search(isolation, (TideRowRange){middle, range.end}, n_sent) : outcome;
}

/* What is set aside is believed to be all that is bad of @range: one call shows it, and one each which of it. */
static TideOutcome
search_aside(TideRowIsolation *isolation, TideRowRange range, guint32 n_sent)
{
  guint32 n_aside = isolation->slices.n_aside;
  isolation->bisections++;
  TideOutcome outcome = send_range(isolation, range);
  isolation->slices.n_aside = 0;
  if (outcome == TIDE_OUTCOME_POISON) {
    isolation->is_size_misleading = TRUE;
    return search(isolation, range, n_sent + 1);
  }
  for (guint32 i = 0; i < n_aside && outcome == TIDE_OUTCOME_OK; i++)
    outcome =
        send_and_search(isolation, (TideRowRange){isolation->slices.aside[i], isolation->slices.aside[i] + 1}, n_sent);
  return outcome;
}

/* Writes all rows of @range but the bad ones, of which there is at least one. OK: they are written, and the bad ones
 * suspected. Recursion is as deep as the number of rows has bits, and FEW_ROWS deeper where rows are named. */
static TideOutcome
search(TideRowIsolation *isolation, TideRowRange range, guint32 n_sent)
{
  if (range.end - range.first == 1)
    return send_and_search(isolation, range, n_sent);
  gsize limit_bytes = isolation->is_size_misleading ? 0 : tide_text_cell_limit(isolation->slices.text);
  if (limit_bytes > 0)
    tide_call_slices_set_aside_above(&isolation->slices, range, limit_bytes);
  guint32 named = isolation->slices.n_aside == 0 ? find_named(isolation, range) : NO_ROW;
  if (named != NO_ROW)
    return search_named(isolation, range, named, n_sent);
  if (!isolation->is_size_misleading && isolation->slices.n_aside == 0)
    tide_call_slices_set_aside_large(&isolation->slices, range);
  if (isolation->slices.n_aside > 0)
    return search_aside(isolation, range, n_sent);
  guint32 middle = range.first + (range.end - range.first) / 2;
  TideRowRange left = {range.first, middle}, right = {middle, range.end};
  isolation->bisections++;
  TideOutcome outcome = send_range(isolation, left);
  if (outcome == TIDE_OUTCOME_OK && !isolation->slices.failure.is_for_size)
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
  for (guint32 i = 0; i < isolation->slices.call->n_batches && !isolation->has_lost_witness; i++) {
    const TideBatch *batch = isolation->slices.call->batches[i];
    guint32 row = isolation->has_acknowledged[i] ? isolation->acknowledged_row[i]
                                                 : first_good_row(isolation, i, 0, batch->done_rows);
    if (batch->lane == lane && (isolation->has_acknowledged[i] || row < batch->done_rows))
      return isolation->slices.first_rows[i] + row;
  }
  return G_MAXUINT32;
}

/* ---- texts that were proven to be of rows' faults ---- */

/* What is said of a size is said by one gateway, or a proxy before it. */
static guint32
gateway_of_belief(const TideRowIsolation *isolation, const Suspect *suspect)
{
  return suspect->is_for_size ? isolation->slices.gateway : ANY_GATEWAY;
}

static gboolean
is_believed(const TideRowIsolation *isolation, const Suspect *suspect)
{
  guint32 gateway = gateway_of_belief(isolation, suspect);
  for (guint i = 0; i < isolation->beliefs->len; i++) {
    const Belief *belief = &g_array_index(isolation->beliefs, Belief, i);
    if (belief->text_kind == suspect->text_kind && belief->gateway == gateway &&
        belief->until_us > isolation->slices.now_us)
      return TRUE;
  }
  return FALSE;
}

/* Those that are over make room. */
static void
believe(TideRowIsolation *isolation, const Suspect *suspect)
{
  Belief added = {suspect->text_kind, gateway_of_belief(isolation, suspect), isolation->slices.now_us + TIDE_BELIEF_US};
  for (guint i = isolation->beliefs->len; i-- > 0;) {
    const Belief *belief = &g_array_index(isolation->beliefs, Belief, i);
    gboolean is_same = belief->text_kind == added.text_kind && belief->gateway == added.gateway;
    if (is_same || belief->until_us <= isolation->slices.now_us)
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
  for (guint32 i = 0; i < isolation->slices.call->n_batches; i++) {
    const TideBatch *batch = isolation->slices.call->batches[i];
    gsize n;
    const TideBatchSuspect *suspects = tide_batch_suspects(batch, &n);
    for (gsize s = 0; s < n; s++) {
      Suspect suspect = {.batch = i, .row = suspects[s].row, .attempts = batch->attempts};
      if (!suspects[s].is_cut && !is_new_suspect(isolation, i, suspect.row))
        g_array_append_val(isolation->suspects, suspect);
    }
  }
}

/* @suspect was refused alone in this round. @has_witness: its region took another row between. */
static const TideBatchSuspect *
count_round(TideRowIsolation *isolation, const Suspect *suspect, gboolean has_witness)
{
  TideBatch *batch = isolation->slices.call->batches[suspect->batch];
  TideBatchSuspect *known = tide_batch_suspect(batch, suspect->row);
  known->is_cut = FALSE;
  known->n_cuts = 0;
  gboolean is_first = known->n_rounds == 0;
  if (is_first || known->text_kind != suspect->text_kind)
    *known =
        (TideBatchSuspect){.row = suspect->row, .text_kind = suspect->text_kind, .since_us = isolation->slices.now_us};
  else if (isolation->slices.now_us - known->counted_us < isolation->round_us)
    return known;
  gboolean region_works = has_witness || (!is_first && batch->lane_ok_us > known->counted_us);
  known->n_rounds++;
  known->n_verified += region_works ? 1 : 0;
  known->counted_us = isolation->slices.now_us;
  return known;
}

/* Sends a row that is suspected, and one of its region that was acknowledged, by turns. The turns are uneven (2 and 3
 * calls from one to the next), so that a gateway that fails every so many calls makes no row poison. OK: all ended as
 * for a poison row. POISON: not so. */
static TideOutcome
confirm(TideRowIsolation *isolation, Suspect *suspect, guint32 witness)
{
  static const char turns[] = "SWSWWS";
  guint32 row = isolation->slices.first_rows[suspect->batch] + suspect->row;
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
  tide_batch_clear_suspect(isolation->slices.call->batches[suspect->batch], suspect->row);
  if (is_rejected)
    tide_call_slices_mark_poison(&isolation->slices, suspect->batch, suspect->row, suspect->attempts, suspect->text);
  return TIDE_OUTCOME_OK;
}

/* Sends @suspect alone. OK: it was taken. */
static TideOutcome
try_alone(TideRowIsolation *isolation, Suspect *suspect)
{
  TideOutcome outcome = send_alone(isolation, isolation->slices.first_rows[suspect->batch] + suspect->row);
  suspect->attempts++;
  if (outcome == TIDE_OUTCOME_OK) { /* so its region works */
    isolation->has_acknowledged[suspect->batch] = TRUE;
    isolation->acknowledged_row[suspect->batch] = suspect->row;
  }
  if (outcome != TIDE_OUTCOME_POISON)
    return outcome;
  g_free(suspect->text);
  suspect->text = g_strdup(isolation->slices.text);
  suspect->text_kind = isolation->slices.failure.kind;
  suspect->is_for_size = isolation->slices.failure.is_for_size;
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
    if (isolation->slices.failure.is_certain)
      return settle(isolation, suspect, TRUE);
  }
  const TideBatchSuspect *known = count_round(isolation, suspect, has_witness);
  gboolean is_verified = known->n_verified >= TIDE_PROOF_LIMIT;
  if (known->n_rounds >= TIDE_LONE_LIMIT && isolation->slices.call->last_ok_us > known->since_us)
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
  TideBatch *batch = isolation->slices.call->batches[suspect->batch];
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
    TideBatch *batch = isolation->slices.call->batches[suspect->batch];
    if (tide_batch_is_cancelled(batch)) {
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

/* ---- rows that were cut off ---- */

/* OK: it was taken, or cancelled. POISON: it is suspected from now on. */
static TideOutcome
send_cut_row(TideRowIsolation *isolation, guint32 i, guint32 row)
{
  TideBatch *batch = isolation->slices.call->batches[i];
  TideOutcome outcome = TIDE_OUTCOME_OK;
  if (!tide_batch_is_cancelled(batch))
    outcome = tide_call_slices_send_alone(&isolation->slices, isolation->slices.first_rows[i] + row);
  if (outcome == TIDE_OUTCOME_OK)
    tide_batch_clear_suspect(batch, row);
  else if (outcome == TIDE_OUTCOME_POISON)
    tide_batch_suspect(batch, row)->is_cut = FALSE;
  return outcome;
}

/* Behind all others, for nothing can be sent any more once one is cut off: of several each has its turn to be the
 * first. */
static TideOutcome
send_cut_rows(TideRowIsolation *isolation)
{
  TideOutcome whole = TIDE_OUTCOME_OK;
  for (guint32 i = 0; i < isolation->slices.call->n_batches; i++) {
    const TideBatchSuspect *next;
    while ((next = tide_batch_next_cut(isolation->slices.call->batches[i])) != NULL) {
      TideOutcome outcome = send_cut_row(isolation, i, next->row);
      if (outcome != TIDE_OUTCOME_OK && outcome != TIDE_OUTCOME_POISON)
        return outcome;
      if (outcome == TIDE_OUTCOME_POISON)
        whole = outcome;
    }
  }
  return whole;
}

/* ---- a call ---- */

static gboolean
has_suspects(const TideRowIsolation *isolation)
{
  gboolean any = isolation->suspects->len > 0;
  for (guint32 i = 0; i < isolation->slices.call->n_batches && !any; i++)
    any = isolation->slices.call->batches[i]->suspects.len > 0;
  return any;
}

static void
begin(TideRowIsolation *isolation, TideCall *call, guint32 gateway, gint64 now_us)
{
  tide_call_slices_begin(&isolation->slices, call, gateway, now_us);
  isolation->bisections = 0;
  isolation->has_lost_witness = isolation->is_size_misleading = isolation->is_text_misleading = FALSE;
  memset(isolation->has_acknowledged, FALSE, sizeof isolation->has_acknowledged);
  g_array_set_size(isolation->suspects, 0);
}

/* Where nothing was acknowledged, those that became suspects for the first time are no suspects: the rest would have
 * fared no better. */
static void
drop_new_suspects(TideRowIsolation *isolation)
{
  for (guint i = 0; i < isolation->suspects->len; i++) {
    const Suspect *suspect = &g_array_index(isolation->suspects, Suspect, i);
    TideBatch *batch = isolation->slices.call->batches[suspect->batch];
    if (i == 0 || tide_batch_suspect(batch, suspect->row)->n_rounds > 0)
      continue;
    tide_batch_clear_suspect(batch, suspect->row);
    batch->done_rows = MIN(batch->done_rows, suspect->row); /* an earlier slice counted it as done */
  }
  g_array_set_size(isolation->suspects, 1);
}

/* All rows of the call are acknowledged, poison or suspects: none need be sent again with the others. */
static void
note_done(TideRowIsolation *isolation)
{
  for (guint32 i = 0; i < isolation->slices.call->n_batches; i++)
    isolation->slices.call->batches[i]->done_rows = isolation->slices.call->batches[i]->n_rows;
}

/* In calls of @step rows, from @first on; @done_rows: (nullable) is moved on with each. */
static TideOutcome
send_in_steps(TideRowIsolation *isolation, guint32 first, guint32 step, guint32 *done_rows)
{
  guint32 n_rows = tide_call_slices_n_rows(&isolation->slices);
  TideOutcome outcome = TIDE_OUTCOME_OK;
  while (first < n_rows && outcome == TIDE_OUTCOME_OK) {
    TideRowRange range = {first, first + MIN(step, n_rows - first)};
    outcome = send_range(isolation, range);
    if (outcome == TIDE_OUTCOME_POISON)
      outcome = narrow(isolation, range, 1);
    first = range.end;
    if (outcome == TIDE_OUTCOME_OK && done_rows != NULL)
      *done_rows = first;
  }
  return outcome;
}

TideFailure
tide_row_isolation_send(TideRowIsolation *isolation, TideCall *call, guint32 gateway, gint64 now_us,
                        TideIsolationCounts *ret_counts, char **ret_text)
{
  begin(isolation, call, gateway, now_us);
  TideCallSlices *slices = &isolation->slices;
  TideBatch *first = call->batches[0];
  guint32 step = tide_call_slices_choose_step(slices);
  gboolean is_sliced = call->n_batches == 1 && first->slice_rows > 0;
  TideOutcome outcome;
  if (first->is_mutations)
    outcome = send_in_steps(isolation, 0, 1, NULL);
  else if (is_sliced)
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
  if (!is_given_up && (outcome == TIDE_OUTCOME_OK || outcome == TIDE_OUTCOME_POISON)) {
    TideOutcome last = send_cut_rows(isolation);
    outcome = last != TIDE_OUTCOME_OK ? last : outcome;
  }
  *ret_counts = (TideIsolationCounts){
      .bisections = isolation->bisections, .poison = slices->n_poison, .cut_rows = slices->cut_rows};
  if (outcome == TIDE_OUTCOME_OK)
    return (TideFailure){.outcome = TIDE_OUTCOME_OK};
  *ret_text = g_steal_pointer(&slices->text);
  return slices->failure;
}
