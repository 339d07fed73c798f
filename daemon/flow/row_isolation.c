#include "flow/row_isolation.h"

/* When so many rows were refused one by one and none was acknowledged, the rest will fare no better. */
#define HOPELESS_SUSPECTS 3u

/* A row that was refused alone with a text that does not tell whose fault it is. */
typedef struct Suspect {
  guint32 batch; /* index in the call */
  guint32 row;   /* in the batch */
  guint32 attempts;
  char *text; /* owned */
} Suspect;

struct TideRowIsolation {
  /* set at creation, then read-only */
  TideSendRowsFunc send;
  gpointer data;
  /* of the call that runs */
  TideCall *call;
  gint64 now_us;
  TideIsolationCounts counts;
  guint32 first_rows[TIDE_CALL_MAX_BATCHES + 1];    /* a batch's first among all rows of the call; then their number */
  gboolean has_acknowledged[TIDE_CALL_MAX_BATCHES]; /* a row of the batch was, in this round */
  guint32 acknowledged_row[TIDE_CALL_MAX_BATCHES];  /* one of those rows */
  TideFailure failure;                              /* the last */
  char *text;                                       /* owned: of the last failure */
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
tide_row_isolation_new(TideSendRowsFunc send, gpointer data)
{
  TideRowIsolation *isolation = g_new0(TideRowIsolation, 1);
  isolation->send = send;
  isolation->data = data;
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
add_run(TideRowIsolation *isolation, const TideBatch *batch, guint32 first, guint32 end, TideSentRows *rows)
{
  if (first == end)
    return;
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

/* Rows [@first, @end) of @batch, but the poison among them. */
static void
add_rows(TideRowIsolation *isolation, const TideBatch *batch, guint32 first, guint32 end, TideSentRows *rows)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  for (gsize i = 0; i < n_poison && first < end; i++) {
    if (poison[i].row < first || poison[i].row >= end)
      continue;
    add_run(isolation, batch, first, poison[i].row, rows);
    first = poison[i].row + 1;
  }
  add_run(isolation, batch, first, end, rows);
}

/* The first of [@first, @end) that is not poison; @end: none. */
static guint32
first_good_row(const TideBatch *batch, guint32 first, guint32 end)
{
  gsize n_poison;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  for (gsize i = 0; i < n_poison && first < end; i++)
    if (poison[i].row == first)
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
    guint32 row = first_good_row(isolation->call->batches[i], first, end);
    if (row == end)
      continue;
    isolation->has_acknowledged[i] = TRUE;
    isolation->acknowledged_row[i] = row;
  }
}

/* Remembers that @batch, sent from @sent->row on, was cut off; see the head of row_isolation.h. */
static void
note_cut(TideRowIsolation *isolation, const TideSentRows *sent)
{
  TideBatch *batch = isolation->call->batches[0];
  if (!isolation->failure.is_cut || isolation->call->n_batches > 1 || sent->n_bytes < TIDE_FRAME_LIMIT_LEAST_BYTES)
    return;
  if (sent->n_rows > 1) {
    batch->slice_rows = sent->n_rows / 2;
    return;
  }
  if (batch->n_alone++ == 0)
    batch->alone_since_us = isolation->now_us;
  if (batch->n_alone < TIDE_CUT_LIMIT || isolation->call->last_ok_us <= batch->alone_since_us)
    return;
  g_autofree char *text = g_strdup_printf("a row of %" G_GSIZE_FORMAT " bytes is more than the gateway takes: %s",
                                          sent->n_bytes, isolation->text);
  tide_batch_add_poison(batch, sent->row, batch->attempts + 1, text);
  isolation->counts.poison++;
  batch->n_alone = 0;
  batch->slice_rows = 0;
}

/* One call. What failed stays in isolation->failure and text. */
static TideOutcome
send_range(TideRowIsolation *isolation, Range range)
{
  TideSentRows rows = {0};
  tide_buffer_reset(&isolation->parts);
  for (guint32 i = batch_of_row(isolation, range.first);
       i < isolation->call->n_batches && isolation->first_rows[i] < range.end; i++) {
    guint32 start = isolation->first_rows[i];
    add_rows(isolation, isolation->call->batches[i], MAX(range.first, start) - start,
             MIN(range.end, isolation->first_rows[i + 1]) - start, &rows);
  }
  if (rows.n_rows == 0)
    return TIDE_OUTCOME_OK;
  rows.parts = (const TideBytes *)(const void *)isolation->parts.data;
  rows.n_parts = isolation->parts.len / sizeof(TideBytes);
  g_autofree char *text = NULL;
  TideFailure failure = isolation->send(&rows, isolation->data, &text);
  if (failure.outcome == TIDE_OUTCOME_OK) {
    note_acknowledged(isolation, range);
    return TIDE_OUTCOME_OK;
  }
  isolation->failure = failure;
  g_free(isolation->text);
  isolation->text = g_steal_pointer(&text);
  note_cut(isolation, &rows);
  return failure.outcome;
}

/* ---- finding rows ---- */

static void
condemn(TideRowIsolation *isolation, guint32 batch, guint32 row, guint32 attempts, const char *text)
{
  tide_batch_add_poison(isolation->call->batches[batch], row, attempts, text);
  isolation->counts.poison++;
}

static gboolean
is_hopeless(const TideRowIsolation *isolation)
{
  if (isolation->suspects->len < HOPELESS_SUSPECTS)
    return FALSE;
  for (guint32 i = 0; i < isolation->call->n_batches; i++)
    if (isolation->has_acknowledged[i])
      return FALSE;
  return TRUE;
}

/* Row @at of the call was refused alone. @n_sent: calls of this round that carried it. */
static TideOutcome
accuse(TideRowIsolation *isolation, guint32 at, guint32 n_sent)
{
  guint32 batch = batch_of_row(isolation, at);
  guint32 row = at - isolation->first_rows[batch];
  guint32 attempts = isolation->call->batches[batch]->attempts + n_sent;
  if (isolation->failure.is_certain) {
    condemn(isolation, batch, row, attempts, isolation->text);
    return TIDE_OUTCOME_OK;
  }
  Suspect suspect = {batch, row, attempts, g_strdup(isolation->text)};
  g_array_append_val(isolation->suspects, suspect);
  return is_hopeless(isolation) ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK;
}

static TideOutcome search(TideRowIsolation *isolation, Range range, guint32 n_sent);

/* Sends @range, and searches it when it is refused. */
static TideOutcome
send_and_search(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  isolation->counts.bisections++;
  TideOutcome outcome = send_range(isolation, range);
  if (outcome != TIDE_OUTCOME_POISON)
    return outcome;
  return range.end - range.first == 1 ? accuse(isolation, range.first, n_sent + 1)
                                      : search(isolation, range, n_sent + 1);
}

/* Writes all rows of @range but the bad ones, of which there is at least one. OK: they are written, and the bad ones
 * accused. Recursion is as deep as the number of rows has bits. */
static TideOutcome
search(TideRowIsolation *isolation, Range range, guint32 n_sent)
{
  if (range.end - range.first == 1)
    return send_and_search(isolation, range, n_sent);
  guint32 middle = range.first + (range.end - range.first) / 2;
  Range left = {range.first, middle}, right = {middle, range.end};
  isolation->counts.bisections++;
  TideOutcome outcome = send_range(isolation, left);
  if (outcome == TIDE_OUTCOME_OK)
    return search(isolation, right, n_sent); /* so it is there: halving it saves the call that would tell */
  if (outcome != TIDE_OUTCOME_POISON)
    return outcome;
  outcome =
      left.end - left.first == 1 ? accuse(isolation, left.first, n_sent + 1) : search(isolation, left, n_sent + 1);
  return outcome == TIDE_OUTCOME_OK ? send_and_search(isolation, right, n_sent) : outcome;
}

/* ---- suspects ---- */

/* A row of @lane that was acknowledged in this round. G_MAXUINT32: none. */
static guint32
find_acknowledged(const TideRowIsolation *isolation, const TideLane *lane)
{
  for (guint32 i = 0; i < isolation->call->n_batches; i++)
    if (isolation->call->batches[i]->lane == lane && isolation->has_acknowledged[i])
      return isolation->first_rows[i] + isolation->acknowledged_row[i];
  return G_MAXUINT32;
}

/* Of a row of which region nothing was acknowledged. TRUE: it is condemned all the same. */
static gboolean
wait_or_condemn(TideRowIsolation *isolation, const Suspect *suspect)
{
  TideBatch *batch = isolation->call->batches[suspect->batch];
  if (batch->n_alone++ == 0)
    batch->alone_since_us = isolation->now_us;
  if (batch->n_alone < TIDE_ALONE_LIMIT || isolation->call->last_ok_us <= batch->alone_since_us)
    return FALSE;
  batch->n_alone = 0;
  condemn(isolation, suspect->batch, suspect->row, suspect->attempts, suspect->text);
  return TRUE;
}

/* Sends a row that is suspected, and one of its region that was acknowledged, by turns. The turns are
 * uneven (2 and 3 calls from one to the next), so that a gateway that fails every so many calls makes no row guilty.
 * OK: the row is condemned, or was taken. */
static TideOutcome
confirm(TideRowIsolation *isolation, const Suspect *suspect, guint32 witness)
{
  static const char turns[] = "WSWSWWS";
  guint32 row = isolation->first_rows[suspect->batch] + suspect->row;
  guint32 attempts = suspect->attempts;
  for (const char *turn = turns; *turn != '\0'; turn++) {
    gboolean is_suspects = *turn == 'S';
    guint32 sent = is_suspects ? row : witness;
    isolation->counts.bisections++;
    TideOutcome outcome = send_range(isolation, (Range){sent, sent + 1});
    if (is_suspects && outcome == TIDE_OUTCOME_OK)
      return outcome;
    attempts += is_suspects ? 1 : 0;
    if (outcome != (is_suspects ? TIDE_OUTCOME_POISON : TIDE_OUTCOME_OK))
      return outcome;
  }
  condemn(isolation, suspect->batch, suspect->row, attempts, suspect->text);
  return TIDE_OUTCOME_OK;
}

/* OK: all are condemned, or were taken meanwhile. */
static TideOutcome
judge(TideRowIsolation *isolation)
{
  gboolean all = TRUE;
  for (guint i = 0; i < isolation->suspects->len; i++) {
    const Suspect *suspect = &g_array_index(isolation->suspects, Suspect, i);
    guint32 witness = find_acknowledged(isolation, isolation->call->batches[suspect->batch]->lane);
    if (witness == G_MAXUINT32) {
      /* A round counts once for a batch, and condemns one row at the most. */
      gboolean is_next = i > 0 && g_array_index(isolation->suspects, Suspect, i - 1).batch == suspect->batch;
      all = !is_next && wait_or_condemn(isolation, suspect) && all;
      continue;
    }
    TideOutcome outcome = confirm(isolation, suspect, witness);
    if (outcome != TIDE_OUTCOME_OK)
      return outcome;
  }
  return all ? TIDE_OUTCOME_OK : TIDE_OUTCOME_POISON;
}

/* ---- a call ---- */

static void
begin(TideRowIsolation *isolation, TideCall *call, gint64 now_us)
{
  isolation->call = call;
  isolation->now_us = now_us;
  isolation->counts = (TideIsolationCounts){0};
  isolation->first_rows[0] = 0;
  for (guint32 i = 0; i < call->n_batches; i++) {
    isolation->first_rows[i + 1] = isolation->first_rows[i] + call->batches[i]->n_rows;
    isolation->has_acknowledged[i] = FALSE;
  }
  g_array_set_size(isolation->suspects, 0);
  g_clear_pointer(&isolation->text, g_free);
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
      outcome = range.end - range.first == 1 ? accuse(isolation, range.first, 1) : search(isolation, range, 1);
    first = range.end;
    if (outcome == TIDE_OUTCOME_OK && done_rows != NULL && isolation->suspects->len == 0)
      *done_rows = first;
  }
  return outcome;
}

TideFailure
tide_row_isolation_send(TideRowIsolation *isolation, TideCall *call, gint64 now_us, TideIsolationCounts *ret_counts,
                        char **ret_text)
{
  begin(isolation, call, now_us);
  TideBatch *first = call->batches[0];
  TideOutcome outcome;
  if (first->is_mutations)
    outcome = send_in_steps(isolation, 0, 1, NULL);
  else if (call->n_batches == 1 && first->slice_rows > 0)
    outcome = send_in_steps(isolation, first->done_rows, first->slice_rows, &first->done_rows);
  else
    outcome = send_in_steps(isolation, 0, isolation->first_rows[call->n_batches], NULL);
  if ((outcome == TIDE_OUTCOME_OK || outcome == TIDE_OUTCOME_POISON) && isolation->suspects->len > 0)
    outcome = judge(isolation);
  *ret_counts = isolation->counts;
  if (outcome == TIDE_OUTCOME_OK)
    return (TideFailure){.outcome = TIDE_OUTCOME_OK};
  *ret_text = g_steal_pointer(&isolation->text);
  return isolation->failure;
}
