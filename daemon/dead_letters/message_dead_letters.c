#include "dead_letters/message_dead_letters.h"

#include "dead_letters/dead_letter_job.h"

typedef struct Entry {
  TideDeadLetterEnd end;
  gboolean is_pending;  /* the dead letter of a refused row is in progress */
  guint32 waiting_acks; /* of rows refused meanwhile, acknowledged together with it */
} Entry;

/* Approximate size of an entry and its place in the hash table, for the budget. */
#define ENTRY_BYTES (sizeof(Entry) + 4 * sizeof(gpointer))

const char *
tide_dead_letter_reason_name(guint reason)
{
  return reason == TIDE_DEAD_LETTER_REFUSED ? TIDE_DEAD_LETTER_REASON_REFUSED
                                            : tide_reject_reason_name((TideRejectReason)reason);
}

static Entry *
find(const TideMessageDeadLetters *dead_letters, guint32 sequence)
{
  return dead_letters->by_sequence != NULL ? g_hash_table_lookup(dead_letters->by_sequence, GUINT_TO_POINTER(sequence))
                                           : NULL;
}

static Entry *
find_or_add(TideMessageDeadLetters *dead_letters, guint32 sequence)
{
  if (dead_letters->by_sequence == NULL)
    dead_letters->by_sequence = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  Entry *entry = find(dead_letters, sequence);
  if (entry != NULL)
    return entry;
  entry = g_new0(Entry, 1);
  g_hash_table_insert(dead_letters->by_sequence, GUINT_TO_POINTER(sequence), entry);
  return entry;
}

void
tide_message_dead_letters_clear(TideMessageDeadLetters *dead_letters)
{
  g_clear_pointer(&dead_letters->by_sequence, g_hash_table_unref);
}

gsize
tide_message_dead_letters_memory_bytes(const TideMessageDeadLetters *dead_letters)
{
  return dead_letters->by_sequence != NULL ? g_hash_table_size(dead_letters->by_sequence) * ENTRY_BYTES : 0;
}

void
tide_message_dead_letters_add_rejected(TideMessageDeadLetters *dead_letters, guint32 sequence, TideRejectReason reason,
                                       guint32 n_readings)
{
  Entry *entry = find_or_add(dead_letters, sequence);
  if (entry->end.reason == TIDE_REJECT_NONE)
    entry->end.reason = reason;
  entry->end.n_readings += n_readings;
}

gboolean
tide_message_dead_letters_has_any(const TideMessageDeadLetters *dead_letters, guint32 sequence)
{
  return find(dead_letters, sequence) != NULL;
}

gboolean
tide_message_dead_letters_add_refused(TideMessageDeadLetters *dead_letters, guint32 sequence, guint32 n_acks,
                                      guint32 *ret_n_acks)
{
  Entry *entry = find_or_add(dead_letters, sequence);
  *ret_n_acks = entry->end.whole ? n_acks : 0;
  if (entry->end.whole)
    return FALSE;
  if (entry->is_pending) {
    entry->waiting_acks += n_acks;
    return FALSE;
  }
  entry->is_pending = TRUE;
  return TRUE;
}

guint32
tide_message_dead_letters_kept(TideMessageDeadLetters *dead_letters, const TideDeadLetterJob *job)
{
  if (!tide_dead_letter_job_is_refused(job))
    return job->n_acks;
  Entry *entry = find(dead_letters, job->source.sequence);
  g_assert(entry != NULL && entry->is_pending);
  entry->is_pending = FALSE;
  entry->end.reason = TIDE_DEAD_LETTER_REFUSED;
  entry->end.whole = TRUE;
  return job->n_acks + entry->waiting_acks;
}

void
tide_message_dead_letters_add_kept(TideMessageDeadLetters *dead_letters, guint32 sequence, gboolean was_counted)
{
  find_or_add(dead_letters, sequence)->end =
      (TideDeadLetterEnd){.reason = TIDE_DEAD_LETTER_REFUSED, .whole = TRUE, .was_counted = was_counted};
}

gboolean
tide_message_dead_letters_end(TideMessageDeadLetters *dead_letters, guint32 sequence, TideDeadLetterEnd *ret_end)
{
  const Entry *entry = find(dead_letters, sequence);
  if (G_LIKELY(entry == NULL))
    return FALSE;
  *ret_end = entry->end;
  g_hash_table_remove(dead_letters->by_sequence, GUINT_TO_POINTER(sequence));
  return ret_end->reason != TIDE_REJECT_NONE;
}
