#include "flow/refusals.h"

#include "flow/lanes.h"

/* What is taken is given up in pieces of so many. */
#define COMPACT_AT 1024u

TideRefusal *
tide_refusal_new(const TideBatch *batch, const TideBatchPoison *poison, gboolean is_shared, TideRefusedRow *row)
{
  TideRefusal *refusal = g_rc_box_new0(TideRefusal);
  TideBytes row_key = tide_batch_row_key(batch, poison->row);
  refusal->row = tide_refused_row_ref(row);
  refusal->table = g_strdup(tide_lane_table(batch->lane)->name);
  refusal->text = g_strdup(poison->text);
  refusal->row_key = tide_bytes(g_memdup2(row_key.data, row_key.len), row_key.len);
  refusal->attempts = poison->attempts;
  refusal->is_shared = is_shared;
  return refusal;
}

static void
clear_refusal(gpointer data)
{
  TideRefusal *refusal = data;
  tide_refused_row_unref(refusal->row);
  g_free(refusal->table);
  g_free(refusal->text);
  g_free((gpointer)refusal->row_key.data);
}

void
tide_refusal_unref(TideRefusal *refusal)
{
  g_rc_box_release_full(refusal, clear_refusal);
}

void
tide_refusals_init(TideRefusals *refusals, TideBudget *budget)
{
  *refusals = (TideRefusals){.budget = budget, .messages = g_array_new(FALSE, FALSE, sizeof(TideRefusedMessage))};
}

void
tide_refusals_clear(TideRefusals *refusals)
{
  TideRefusedMessage message;
  while (tide_refusals_take(refusals, &message))
    tide_refusal_unref(message.refusal);
  g_clear_pointer(&refusals->messages, g_array_unref);
}

void
tide_refusals_add(TideRefusals *refusals, TideRefusal *refusal, TideSourceRef ref, guint32 n_parts)
{
  TideRefusedMessage message = {.refusal = g_rc_box_acquire(refusal), .ref = ref, .n_parts = n_parts};
  g_array_append_val(refusals->messages, message);
  tide_budget_charge(refusals->budget, sizeof message);
}

gboolean
tide_refusals_take(TideRefusals *refusals, TideRefusedMessage *ret_message)
{
  GArray *messages = refusals->messages;
  if (refusals->first == messages->len)
    return FALSE;
  *ret_message = g_array_index(messages, TideRefusedMessage, refusals->first++);
  tide_budget_charge(refusals->budget, -(gint64)sizeof *ret_message);
  if (refusals->first == messages->len || refusals->first == COMPACT_AT) {
    g_array_remove_range(messages, 0, refusals->first);
    refusals->first = 0;
  }
  return TRUE;
}
