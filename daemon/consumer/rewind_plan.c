#include "consumer/rewind_plan.h"

#include "util/clock.h"

/* So many messages are held one by one; whatever comes after them is held until the rewind. */
#define MAX_HELD 4096u

const TideRewindKind tide_rewind_kinds[TIDE_REWIND_N_REASONS] = {
    [TIDE_REWIND_CONFLICT] = {"reason=\"conflict\"",
                              "calls without an answer may have overwritten newer values of the same cells and times"},
    [TIDE_REWIND_OVERFLOW] = {"reason=\"overflow\"", "more calls had no answer than could be remembered"},
    [TIDE_REWIND_CANCELLED] = {"reason=\"cancelled\"",
                               "rows that it shared with a partition that was taken away were not sent"},
    [TIDE_REWIND_SCHEMA] = {"reason=\"schema\"", "the question for the schema of its next message was answered"},
};

void
tide_rewind_init(TideRewind *rewind)
{
  *rewind = (TideRewind){.held = g_array_new(FALSE, FALSE, sizeof(TideHeldMessage)),
                         .refused_offsets = g_array_new(FALSE, FALSE, sizeof(gint64)),
                         .last_offset = -1,
                         .read_to_offset = -1,
                         .acked_to_offset = -1};
}

void
tide_rewind_clear(TideRewind *rewind)
{
  g_array_unref(rewind->held);
  g_array_unref(rewind->refused_offsets);
}

void
tide_rewind_reset(TideRewind *rewind)
{
  tide_rewind_clear(rewind);
  tide_rewind_init(rewind);
}

gint64
tide_rewind_due_us(const TideRewind *rewind)
{
  gint64 at_us = G_MAXINT64;
  for (guint i = 0; i < rewind->held->len; i++)
    at_us = MIN(at_us, g_array_index(rewind->held, TideHeldMessage, i).until_us);
  at_us = MAX(MAX(at_us, rewind->overflow_until_us), rewind->spaced_until_us);
  if (rewind->cancelled_us > 0)
    at_us = rewind->cancelled_us;
  return MAX(at_us, rewind->backed_off_us);
}

TideRewindReason
tide_rewind_reason(const TideRewind *rewind)
{
  return rewind->cancelled_us > 0        ? TIDE_REWIND_CANCELLED
         : rewind->overflow_until_us > 0 ? TIDE_REWIND_OVERFLOW
                                         : TIDE_REWIND_CONFLICT;
}

char *
tide_rewind_describe(const TideRewind *rewind, gint64 offset, gint64 now_us)
{
  if (!tide_rewind_is_pending(rewind))
    return NULL;
  gint64 left_s = MAX(tide_rewind_due_us(rewind) - now_us, 0) / TIDE_US_PER_S;
  return g_strdup_printf("nothing behind offset %" G_GINT64_FORMAT
                         " is committed before it is read again from there on, in %" G_GINT64_FORMAT " s, because %s",
                         offset, left_s, tide_rewind_kinds[tide_rewind_reason(rewind)].text);
}

/* The place of @sequence among those that are held, or where it would be. */
static guint
find_held(const GArray *held, guint32 sequence)
{
  guint first = 0, end = held->len;
  while (first < end) {
    guint middle = first + (end - first) / 2;
    if ((gint32)(g_array_index(held, TideHeldMessage, middle).sequence - sequence) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

void
tide_rewind_add_held(TideRewind *rewind, const TideHeldMessage *message)
{
  GArray *held = rewind->held;
  guint at = find_held(held, message->sequence);
  if (at > 0 && g_array_index(held, TideHeldMessage, at - 1).n_contested == TIDE_HELD_IN_ANY_CASE)
    return; /* whatever comes after that one is written once more anyway */
  if (at == held->len || g_array_index(held, TideHeldMessage, at).sequence != message->sequence) {
    TideHeldMessage added = *message;
    added.n_contested = 0;
    g_array_insert_val(held, at, added);
  }
  TideHeldMessage *its = &g_array_index(held, TideHeldMessage, at);
  if (message->n_contested == TIDE_HELD_IN_ANY_CASE || its->n_contested == TIDE_HELD_IN_ANY_CASE || at >= MAX_HELD) {
    its->n_contested = TIDE_HELD_IN_ANY_CASE;
    g_array_set_size(held, at + 1);
  } else
    its->n_contested++;
}

void
tide_rewind_remove_held(TideRewind *rewind, guint32 sequence)
{
  GArray *held = rewind->held;
  guint at = find_held(held, sequence);
  TideHeldMessage *its = at < held->len ? &g_array_index(held, TideHeldMessage, at) : NULL;
  if (its != NULL && its->sequence == sequence && its->n_contested != TIDE_HELD_IN_ANY_CASE && --its->n_contested == 0)
    g_array_remove_index(held, at);
  if (!tide_rewind_is_pending(rewind))
    rewind->is_noted = FALSE;
}
