#include "dead_letters/message_letters.h"

#include "dead_letters/letter_job.h"

typedef struct Entry {
  TideLetterEnd end;
  gboolean is_pending;  /* the letter of a refused row is on its way */
  guint32 waiting_acks; /* settled with it: of rows that were refused meanwhile */
} Entry;

/* Of an entry with its place in the hash table, about: for the budget. */
#define ENTRY_BYTES (sizeof(Entry) + 4 * sizeof(gpointer))

const char *
tide_letter_reason_name(guint reason)
{
  return reason == TIDE_LETTER_REFUSED ? TIDE_LETTER_REASON_REFUSED : tide_reject_reason_name((TideRejectReason)reason);
}

static Entry *
find(const TideMessageLetters *letters, guint32 sequence)
{
  return letters->by_sequence != NULL ? g_hash_table_lookup(letters->by_sequence, GUINT_TO_POINTER(sequence)) : NULL;
}

static Entry *
find_or_add(TideMessageLetters *letters, guint32 sequence)
{
  if (letters->by_sequence == NULL)
    letters->by_sequence = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  Entry *entry = find(letters, sequence);
  if (entry != NULL)
    return entry;
  entry = g_new0(Entry, 1);
  g_hash_table_insert(letters->by_sequence, GUINT_TO_POINTER(sequence), entry);
  return entry;
}

void
tide_message_letters_clear(TideMessageLetters *letters)
{
  g_clear_pointer(&letters->by_sequence, g_hash_table_unref);
}

gsize
tide_message_letters_memory_bytes(const TideMessageLetters *letters)
{
  return letters->by_sequence != NULL ? g_hash_table_size(letters->by_sequence) * ENTRY_BYTES : 0;
}

void
tide_message_letters_add_rejected(TideMessageLetters *letters, guint32 sequence, TideRejectReason reason,
                                  guint32 n_readings)
{
  Entry *entry = find_or_add(letters, sequence);
  if (entry->end.reason == TIDE_REJECT_NONE)
    entry->end.reason = reason;
  entry->end.n_readings += n_readings;
}

gboolean
tide_message_letters_has_any(const TideMessageLetters *letters, guint32 sequence)
{
  return find(letters, sequence) != NULL;
}

gboolean
tide_message_letters_is_refused(const TideMessageLetters *letters, guint32 sequence)
{
  const Entry *entry = find(letters, sequence);
  return entry != NULL && (entry->is_pending || entry->end.whole);
}

gboolean
tide_message_letters_add_refused(TideMessageLetters *letters, guint32 sequence, guint32 n_acks, guint32 *ret_n_acks)
{
  Entry *entry = find_or_add(letters, sequence);
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
tide_message_letters_kept(TideMessageLetters *letters, const TideLetterJob *job)
{
  if (!tide_letter_job_is_refused(job))
    return job->n_acks;
  Entry *entry = find(letters, job->source.sequence);
  g_assert(entry != NULL && entry->is_pending);
  entry->is_pending = FALSE;
  entry->end.reason = TIDE_LETTER_REFUSED;
  entry->end.whole = TRUE;
  return job->n_acks + entry->waiting_acks;
}

gboolean
tide_message_letters_end(TideMessageLetters *letters, guint32 sequence, TideLetterEnd *ret_end)
{
  const Entry *entry = find(letters, sequence);
  if (G_LIKELY(entry == NULL))
    return FALSE;
  *ret_end = entry->end;
  g_hash_table_remove(letters->by_sequence, GUINT_TO_POINTER(sequence));
  return ret_end->reason != TIDE_REJECT_NONE;
}
