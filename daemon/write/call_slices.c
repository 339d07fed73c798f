#include "write/call_slices.h"

/* A row is set aside when it is so many times as large as the others are on average. */
#define ASIDE_FACTOR 4u

void
tide_call_slices_init(TideCallSlices *slices, TideSendRowsFunc send, gpointer data)
{
  *slices = (TideCallSlices){.send = send, .data = data};
  tide_call_sizes_init(&slices->sizes);
}

void
tide_call_slices_clear(TideCallSlices *slices)
{
  tide_call_sizes_clear(&slices->sizes);
  tide_buffer_clear_memory(&slices->parts);
  g_free(slices->text);
}

void
tide_call_slices_begin(TideCallSlices *slices, TideCall *call, guint32 gateway, gint64 now_us)
{
  slices->call = call;
  slices->gateway = gateway;
  slices->now_us = now_us;
  slices->n_poison = slices->cut_rows = 0;
  slices->first_rows[0] = 0;
  for (guint32 i = 0; i < call->n_batches; i++) {
    slices->first_rows[i + 1] = slices->first_rows[i] + call->batches[i]->n_rows;
    call->batches[i]->is_left_out = TRUE;
  }
  g_clear_pointer(&slices->text, g_free);
}

guint32
tide_call_slices_batch_of_row(const TideCallSlices *slices, guint32 row)
{
  guint32 batch = 0;
  while (slices->first_rows[batch + 1] <= row)
    batch++;
  return batch;
}

/* The wire of rows [@first, @end) of @batch. */
static void
add_run(TideCallSlices *slices, TideBatch *batch, guint32 first, guint32 end, TideSentRows *rows)
{
  if (first == end)
    return;
  batch->is_left_out = FALSE;
  gsize start_bytes = tide_batch_rows(batch)[first].start_bytes;
  gsize end_bytes = end < batch->n_rows ? tide_batch_rows(batch)[end].start_bytes : batch->wire.len;
  TideBytes part = tide_bytes(batch->wire.data + start_bytes, end_bytes - start_bytes);
  tide_buffer_append(&slices->parts, &part, sizeof part);
  rows->n_bytes += part.len;
  rows->n_rows += end - first;
  if (rows->batch != NULL)
    return;
  rows->batch = batch;
  rows->row = first;
}

guint32
tide_call_slices_next_left_out(const TideCallSlices *slices, guint32 i, guint32 first, guint32 end)
{
  const TideBatch *batch = slices->call->batches[i];
  if (tide_batch_is_cancelled(batch))
    return first;
  gsize n_poison, n_suspects;
  const TideBatchPoison *poison = tide_batch_poison(batch, &n_poison);
  const TideBatchSuspect *suspects = tide_batch_suspects(batch, &n_suspects);
  for (gsize k = 0; k < n_poison; k++)
    if (poison[k].row >= first && poison[k].row < end)
      end = poison[k].row;
  for (gsize k = 0; k < n_suspects; k++)
    if (suspects[k].row >= first && suspects[k].row < end)
      end = suspects[k].row;
  for (guint32 k = 0; k < slices->n_aside; k++)
    if (slices->aside[k] >= slices->first_rows[i] + first && slices->aside[k] < slices->first_rows[i] + end)
      end = slices->aside[k] - slices->first_rows[i];
  return end;
}

/* Rows [@first, @end) of batch @i, but those that are done or left out. */
static void
add_rows(TideCallSlices *slices, guint32 i, guint32 first, guint32 end, TideSentRows *rows)
{
  TideBatch *batch = slices->call->batches[i];
  first = MAX(first, batch->done_rows);
  while (first < end) {
    guint32 left_out = tide_call_slices_next_left_out(slices, i, first, end);
    add_run(slices, batch, first, left_out, rows);
    first = left_out + 1;
  }
}

void
tide_call_slices_mark_poison(TideCallSlices *slices, guint32 batch, guint32 row, guint32 attempts, const char *text)
{
  tide_batch_add_poison(slices->call->batches[batch], row, attempts, text);
  slices->n_poison++;
}

/* Of a call that is too large those rows are left out, and sent behind all others, that are most of it, and few. FALSE:
 * there are none. */
static gboolean
leave_out_large(TideCallSlices *slices, TideBatch *batch, gsize n_bytes)
{
  gsize large_bytes = 0, least_bytes = G_MAXSIZE;
  if (slices->n_aside > 0)
    return FALSE; /* it is searched already */
  tide_call_slices_set_aside_large(slices, slices->range);
  guint32 n_aside = slices->n_aside;
  slices->n_aside = 0;
  for (guint32 i = 0; i < n_aside; i++) {
    gsize row_bytes = tide_batch_row_wire(batch, slices->aside[i]).len;
    large_bytes += row_bytes;
    least_bytes = MIN(least_bytes, row_bytes);
  }
  if (large_bytes < n_bytes / 2 || least_bytes < TIDE_CUT_LEAST_BYTES)
    return FALSE;
  for (guint32 i = 0; i < n_aside; i++)
    tide_batch_suspect(batch, slices->aside[i])->is_cut = TRUE;
  return n_aside > 0;
}

/* Several rows were cut off together. Those of joined batches are sent batch by batch the next time, without a word. */
static void
note_cut_rows(TideCallSlices *slices, const TideSentRows *sent)
{
  gboolean is_for_size = tide_call_sizes_note_cut(&slices->sizes, slices->gateway, sent->n_bytes, slices->now_us);
  if (slices->call->n_batches == 1) {
    TideBatch *batch = slices->call->batches[0];
    batch->n_cut_calls++;
    is_for_size |= batch->slice_rows > 0 || batch->n_cut_calls >= TIDE_CUT_LIMIT;
    if ((is_for_size || sent->n_bytes >= TIDE_FRAME_LIMIT_LEAST_BYTES) &&
        !leave_out_large(slices, batch, sent->n_bytes))
      batch->slice_rows = sent->n_rows / 2;
  }
  if (is_for_size)
    slices->cut_rows = sent->n_rows;
}

/* What the operator can do, in place of what the transport said alone. */
static void
tell_cut_row(TideCallSlices *slices, const TideSentRows *sent, guint32 n_cuts)
{
  g_autofree char *key = tide_bytes_printable(tide_batch_row_key(sent->batch, sent->row));
  char *text = g_strdup_printf("row '%s' of %" G_GSIZE_FORMAT " bytes was cut off alone %u times, as by a proxy with a "
                               "limit for requests: raise that; others of its batch are written, later rows with "
                               "their keys wait: %s",
                               key, sent->n_bytes, n_cuts, slices->text);
  g_free(slices->text);
  slices->text = text;
}

/* A row was cut off alone: it is left out of what is sent with others from now on. */
static void
note_cut_row(TideCallSlices *slices, const TideSentRows *sent)
{
  TideBatch *batch = slices->call->batches[0];
  TideBatchSuspect *row = tide_batch_suspect(batch, sent->row);
  if (row->n_cuts == 0)
    row->cut_since_us = slices->now_us;
  row->n_cuts++;
  row->is_cut = TRUE;
  batch->slice_rows = 0; /* the others are sent in calls as large as are known to be taken */
  if (row->n_cuts < TIDE_CUT_LIMIT)
    return;
  if (sent->n_bytes < TIDE_FRAME_LIMIT_LEAST_BYTES || slices->call->last_ok_us <= row->cut_since_us) {
    tell_cut_row(slices, sent, row->n_cuts);
    return;
  }
  g_autofree char *text = g_strdup_printf("a row of %" G_GSIZE_FORMAT " bytes is more than the gateway takes: %s",
                                          sent->n_bytes, slices->text);
  tide_batch_clear_suspect(batch, sent->row); /* else it would be sent, and cut off, for ever */
  tide_call_slices_mark_poison(slices, 0, sent->row, batch->attempts + 1, text);
}

/* Remembers that @sent was cut off; see the head of call_slices.h. */
static void
note_cut(TideCallSlices *slices, const TideSentRows *sent)
{
  if (!slices->failure.is_cut || sent->n_bytes < TIDE_CUT_LEAST_BYTES)
    return;
  if (sent->n_rows > 1)
    note_cut_rows(slices, sent);
  else if (slices->call->n_batches == 1)
    note_cut_row(slices, sent);
}

/* One call. What failed stays in slices->failure and text. */
static TideOutcome
send_parts(TideCallSlices *slices, TideSentRows *rows)
{
  rows->parts = (const TideBytes *)(const void *)slices->parts.data;
  rows->n_parts = slices->parts.len / sizeof(TideBytes);
  g_autofree char *text = NULL;
  TideFailure failure = slices->send(rows, slices->data, &text);
  if (failure.outcome == TIDE_OUTCOME_OK) {
    tide_call_sizes_note_taken(&slices->sizes, slices->gateway, rows->n_bytes, slices->now_us);
    return TIDE_OUTCOME_OK;
  }
  slices->failure = failure;
  g_free(slices->text);
  slices->text = g_steal_pointer(&text);
  note_cut(slices, rows);
  return failure.outcome;
}

TideOutcome
tide_call_slices_send(TideCallSlices *slices, TideRowRange range)
{
  TideSentRows rows = {0};
  slices->range = range;
  slices->n_sent_rows = 0;
  tide_buffer_reset(&slices->parts);
  for (guint32 i = tide_call_slices_batch_of_row(slices, range.first);
       i < slices->call->n_batches && slices->first_rows[i] < range.end; i++) {
    guint32 start = slices->first_rows[i];
    add_rows(slices, i, MAX(range.first, start) - start, MIN(range.end, slices->first_rows[i + 1]) - start, &rows);
  }
  if (rows.n_rows == 0)
    return TIDE_OUTCOME_OK;
  slices->n_sent_rows = rows.n_rows;
  return send_parts(slices, &rows);
}

/* Its batch was cancelled in the middle of a round: the next one leaves it out. */
static TideOutcome
end_round(TideCallSlices *slices)
{
  slices->failure = (TideFailure){.outcome = TIDE_OUTCOME_NOT_SENT};
  g_free(slices->text);
  slices->text = g_strdup("its partition was taken away");
  return TIDE_OUTCOME_NOT_SENT;
}

TideOutcome
tide_call_slices_send_alone(TideCallSlices *slices, guint32 at)
{
  guint32 batch = tide_call_slices_batch_of_row(slices, at), row = at - slices->first_rows[batch];
  if (tide_batch_is_cancelled(slices->call->batches[batch]))
    return end_round(slices);
  TideSentRows rows = {0};
  tide_buffer_reset(&slices->parts);
  add_run(slices, slices->call->batches[batch], row, row + 1, &rows);
  return send_parts(slices, &rows);
}

/* The bytes of the call's row @at, which is sent with others; 0: it is not. */
static gsize
sent_bytes(const TideCallSlices *slices, guint32 at)
{
  guint32 i = tide_call_slices_batch_of_row(slices, at), row = at - slices->first_rows[i];
  const TideBatch *batch = slices->call->batches[i];
  gboolean is_left_out = row < batch->done_rows || tide_call_slices_next_left_out(slices, i, row, row + 1) == row;
  return is_left_out ? 0 : tide_batch_row_wire(batch, row).len;
}

void
tide_call_slices_set_aside_above(TideCallSlices *slices, TideRowRange range, gsize limit_bytes)
{
  guint32 n_above = 0;
  for (guint32 at = range.first; at < range.end && n_above <= TIDE_MAX_ASIDE; at++) {
    if (sent_bytes(slices, at) <= limit_bytes)
      continue;
    if (n_above < TIDE_MAX_ASIDE)
      slices->aside[n_above] = at;
    n_above++;
  }
  if (n_above <= TIDE_MAX_ASIDE)
    slices->n_aside = n_above;
}

void
tide_call_slices_set_aside_large(TideCallSlices *slices, TideRowRange range)
{
  gsize largest = 0, other_bytes = 0, n_others = 0, n_large = 0;
  for (guint32 at = range.first; at < range.end; at++)
    largest = MAX(largest, sent_bytes(slices, at));
  for (guint32 at = range.first; at < range.end; at++) {
    gsize n_bytes = sent_bytes(slices, at);
    gboolean is_large = n_bytes > largest / 2;
    n_large += is_large ? 1 : 0;
    n_others += n_bytes > 0 && !is_large ? 1 : 0;
    other_bytes += is_large ? 0 : n_bytes;
  }
  if (n_others >= n_large && largest * n_others >= ASIDE_FACTOR * other_bytes)
    tide_call_slices_set_aside_above(slices, range, largest / 2);
}

guint32
tide_call_slices_choose_step(const TideCallSlices *slices)
{
  const TideCall *call = slices->call;
  if (call->n_batches == 1 && call->batches[0]->slice_rows > 0)
    return call->batches[0]->slice_rows;
  guint32 n_rows = tide_call_slices_n_rows(slices);
  gsize n_bytes = 0, most_bytes = tide_call_sizes_most(&slices->sizes, slices->gateway, slices->now_us);
  for (guint32 i = 0; i < call->n_batches; i++)
    n_bytes += call->batches[i]->wire.len;
  if (n_bytes <= most_bytes)
    return n_rows;
  guint32 step = (guint32)MAX((gdouble)n_rows * (gdouble)most_bytes / (gdouble)n_bytes, 1);
  if (call->n_batches == 1)
    call->batches[0]->slice_rows = step;
  return step;
}
