#include "consumer/rewind_plan.h"

#include "util/clock.h"

/* Up to this many messages are held one by one; the next one is held with all later messages. */
#define MAX_HELD 4096u

/* A rewind without progress waits one second, doubled with each repetition, at most this often. */
#define MAX_DOUBLED 10u

/* A rewind for refused rows waits at most this long: its purpose is forgotten after ten minutes (rows/solo_keys.c). */
#define MAX_REFUSED_WAIT_US (60 * TIDE_US_PER_S)

const TideRewindKind tide_rewind_kinds[TIDE_REWIND_N_REASONS] = {
    [TIDE_REWIND_CONFLICT] = {"reason=\"conflict\"",
                              "unanswered calls may have overwritten newer values of the same cells and times"},
    [TIDE_REWIND_OVERFLOW] = {"reason=\"overflow\"", "more calls went unanswered than could be remembered"},
    [TIDE_REWIND_REFUSED] =
        {"reason=\"refused\"",
         "HBase refused a row made by several messages, and writing each alone shows which one it refuses"},
    [TIDE_REWIND_CANCELLED] = {"reason=\"cancelled\"", "rows shared with a revoked partition were not sent"},
    [TIDE_REWIND_SCHEMA] = {"reason=\"schema\"", "the schema registry answered about its next message"},
};

void
tide_rewind_init(TideRewind *rewind)
{
  *rewind = (TideRewind){.held = g_array_new(FALSE, FALSE, sizeof(TideHeldMessage)),
                         .kept_letters = g_array_new(FALSE, FALSE, sizeof(TideKeptLetter)),
                         .ended = g_array_new(FALSE, FALSE, sizeof(TideEndedRange)),
                         .read_to_offset = -1,
                         .stale_to_offset = -1,
                         .acked_to_offset = -1,
                         .offset = -1};
}

void
tide_rewind_clear(TideRewind *rewind)
{
  g_array_unref(rewind->held);
  g_array_unref(rewind->kept_letters);
  g_array_unref(rewind->ended);
}

gint64
tide_rewind_due_us(const TideRewind *rewind)
{
  gint64 at_us = rewind->overflows[0].until_us > 0 ? rewind->overflows[0].until_us : G_MAXINT64;
  if (rewind->cancelled_us > 0)
    return MAX(rewind->cancelled_us, rewind->backs_off_until_us);
  if (rewind->refused_us > 0)
    return CLAMP(rewind->backs_off_until_us, rewind->refused_us, rewind->refused_us + MAX_REFUSED_WAIT_US);
  for (guint i = 0; i < rewind->held->len; i++)
    at_us = MIN(at_us, g_array_index(rewind->held, TideHeldMessage, i).until_us);
  return MAX(at_us, MAX(rewind->spaced_until_us, rewind->backs_off_until_us));
}

TideRewindReason
tide_rewind_reason(const TideRewind *rewind)
{
  return rewind->cancelled_us > 0            ? TIDE_REWIND_CANCELLED
         : rewind->refused_us > 0            ? TIDE_REWIND_REFUSED
         : rewind->overflows[0].until_us > 0 ? TIDE_REWIND_OVERFLOW
                                             : TIDE_REWIND_CONFLICT;
}

char *
tide_rewind_describe(const TideRewind *rewind, gint64 offset, gint64 now_us)
{
  if (!tide_rewind_is_pending(rewind) || offset < 0)
    return NULL;
  gint64 remaining_s = rewind->is_due ? 0 : MAX(tide_rewind_due_us(rewind) - now_us, 0) / TIDE_US_PER_S;
  return g_strdup_printf("the committed offset stays at %" G_GINT64_FORMAT
                         " until tidemark reads the partition again from there, in %" G_GINT64_FORMAT " s, because %s",
                         offset, remaining_s, tide_rewind_kinds[tide_rewind_reason(rewind)].text);
}

/* ---- held messages ---- */

/* Index of @sequence in @held, or where it would be inserted. */
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

gboolean
tide_rewind_covers(const TideRewind *rewind, gint64 offset)
{
  for (guint i = 0; i < G_N_ELEMENTS(rewind->overflows); i++)
    if (rewind->overflows[i].until_us > 0 && offset >= rewind->overflows[i].offset)
      return TRUE;
  return FALSE;
}

gboolean
tide_rewind_add_held(TideRewind *rewind, const TideHeldMessage *message)
{
  GArray *held = rewind->held;
  guint at = find_held(held, message->sequence);
  if (tide_rewind_covers(rewind, message->offset))
    return TRUE;
  if (at == held->len || g_array_index(held, TideHeldMessage, at).sequence != message->sequence) {
    if (held->len >= MAX_HELD)
      return FALSE;
    g_array_insert_val(held, at, *message);
  }
  g_array_index(held, TideHeldMessage, at).n_contested++;
  return TRUE;
}

void
tide_rewind_remove_held(TideRewind *rewind, guint32 sequence)
{
  GArray *held = rewind->held;
  guint at = find_held(held, sequence);
  if (at < held->len && g_array_index(held, TideHeldMessage, at).sequence == sequence &&
      --g_array_index(held, TideHeldMessage, at).n_contested == 0)
    g_array_remove_index(held, at);
}

void
tide_rewind_add_overflow(TideRewind *rewind, const TideHeldMessage *message)
{
  GArray *held = rewind->held;
  TideHeldMessage *first = &rewind->overflows[0];
  TideHeldMessage *its = first->until_us == 0 || message->until_us <= first->until_us ? first : &rewind->overflows[1];
  gint64 until_us = MAX(message->until_us, its->until_us);
  if (its->until_us == 0 || message->offset < its->offset)
    *its = *message;
  its->until_us = until_us;
  while (held->len > 0 && g_array_index(held, TideHeldMessage, held->len - 1).offset >= its->offset)
    g_array_set_size(held, held->len - 1);
}

/* A rewind without progress, as with repeated cancellations, is of little use: the next one waits longer each time. */
static void
back_off(TideRewind *rewind, gint64 offset, gint64 now_us, gint64 settle_us)
{
  rewind->n_in_vain = offset == rewind->offset ? rewind->n_in_vain + 1 : 0;
  rewind->offset = offset;
  if (rewind->n_in_vain > 0)
    rewind->backs_off_until_us = now_us + MIN(settle_us, TIDE_US_PER_S << MIN(rewind->n_in_vain - 1, MAX_DOUBLED));
}

void
tide_rewind_restart(TideRewind *rewind, gint64 offset, guint32 shift, gint64 now_us, gint64 settle_us)
{
  if (rewind->cancelled_us == 0 && rewind->refused_us == 0)
    rewind->spaced_until_us = now_us + settle_us;
  back_off(rewind, offset, now_us, settle_us);
  TideHeldMessage *overflows = rewind->overflows;
  while (overflows[0].until_us > 0 && overflows[0].until_us <= now_us) {
    overflows[0] = overflows[1];
    overflows[1].until_us = 0;
  }
  /* Earlier messages are read again too, so the distance to the committed offset is the same. */
  overflows[0].sequence += shift;
  overflows[1].sequence += shift;
  g_array_set_size(rewind->held, 0);
  rewind->cancelled_us = rewind->refused_us = 0;
  rewind->refused_acks = 0;
  rewind->is_due = FALSE;
}

/* ---- kept dead letters ---- */

/* Index of a dead letter in @letters, or where it would be inserted. */
static guint
find_letter(const GArray *letters, gint64 offset, gint32 reading_index)
{
  guint first = 0, end = letters->len;
  while (first < end) {
    guint middle = first + (end - first) / 2;
    const TideKeptLetter *letter = &g_array_index(letters, TideKeptLetter, middle);
    if (letter->offset < offset || (letter->offset == offset && letter->reading_index < reading_index))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static const TideKeptLetter *
letter_at(const GArray *letters, gint64 offset, gint32 reading_index)
{
  guint at = find_letter(letters, offset, reading_index);
  const TideKeptLetter *letter = at < letters->len ? &g_array_index(letters, TideKeptLetter, at) : NULL;
  return letter != NULL && letter->offset == offset && letter->reading_index == reading_index ? letter : NULL;
}

const TideKeptLetter *
tide_rewind_find_letter(const TideRewind *rewind, gint64 offset, gint32 reading_index)
{
  const GArray *letters = rewind->kept_letters;
  if (!tide_rewind_is_reread(rewind, offset))
    return NULL;
  const TideKeptLetter *letter = letter_at(letters, offset, reading_index);
  if (letter == NULL && reading_index != TIDE_LETTER_OF_REFUSED)
    letter = letter_at(letters, offset, TIDE_LETTER_OF_ALL);
  if (letter == NULL && reading_index != TIDE_LETTER_OF_REFUSED)
    letter = letter_at(letters, offset, TIDE_LETTER_OF_REFUSED);
  return letter;
}

gboolean
tide_rewind_has_letter(const TideRewind *rewind, gint64 offset)
{
  const GArray *letters = rewind->kept_letters;
  guint at = find_letter(letters, offset, TIDE_LETTER_CANCELLED);
  return at < letters->len && g_array_index(letters, TideKeptLetter, at).offset == offset;
}

void
tide_rewind_count_letters(TideRewind *rewind, gint64 offset)
{
  GArray *letters = rewind->kept_letters;
  for (guint at = find_letter(letters, offset, G_MININT32);
       at < letters->len && g_array_index(letters, TideKeptLetter, at).offset == offset; at++)
    g_array_index(letters, TideKeptLetter, at).is_counted = TRUE;
}

/* Index of the first range that does not end before @offset. */
static guint
find_ended(const GArray *ended, gint64 offset)
{
  guint first = 0, end = ended->len;
  while (first < end) {
    guint middle = first + (end - first) / 2;
    if (g_array_index(ended, TideEndedRange, middle).end_offset <= offset)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

void
tide_rewind_forget_letters(TideRewind *rewind, gint64 committed_offset)
{
  guint n_committed = find_letter(rewind->kept_letters, committed_offset, G_MININT32);
  if (n_committed > 0)
    g_array_remove_range(rewind->kept_letters, 0, n_committed);
  guint n_ended = find_ended(rewind->ended, committed_offset);
  if (n_ended > 0)
    g_array_remove_range(rewind->ended, 0, n_ended);
}

gboolean
tide_rewind_add_letter(TideRewind *rewind, gint64 offset, gint32 reading_index, gint64 committed_offset)
{
  GArray *letters = rewind->kept_letters;
  TideKeptLetter letter = {.offset = offset, .reading_index = reading_index};
  if (letters->len > 0 && g_array_index(letters, TideKeptLetter, letters->len / 2).offset < committed_offset)
    tide_rewind_forget_letters(rewind, committed_offset);
  if (letter_at(letters, offset, reading_index) != NULL)
    return FALSE;
  g_array_insert_val(letters, find_letter(letters, offset, reading_index), letter);
  return TRUE;
}

/* ---- ended messages ---- */

gboolean
tide_rewind_has_ended(const TideRewind *rewind, gint64 offset)
{
  if (G_LIKELY(rewind->ended->len == 0))
    return FALSE;
  guint at = find_ended(rewind->ended, offset);
  return at < rewind->ended->len && g_array_index(rewind->ended, TideEndedRange, at).first_offset <= offset;
}

void
tide_rewind_set_ended(TideRewind *rewind, GArray *ended, gint64 end_offset)
{
  for (guint i = find_ended(rewind->ended, end_offset); i < rewind->ended->len; i++) {
    TideEndedRange left = g_array_index(rewind->ended, TideEndedRange, i);
    left.first_offset = MAX(left.first_offset, end_offset);
    g_array_append_val(ended, left);
  }
  g_array_unref(rewind->ended);
  rewind->ended = ended;
}

gsize
tide_rewind_memory_bytes(const TideRewind *rewind)
{
  return rewind->kept_letters->len * sizeof(TideKeptLetter) + rewind->ended->len * sizeof(TideEndedRange);
}
