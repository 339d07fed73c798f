#include "flow/message_letters.h"

#include "flow/letter_job.h"

typedef struct Entry {
  TideLetterEnd end;
  gboolean is_pending;    /* a job of a refused row is on its way */
  TideLetterJob *waiting; /* owned, linked by next: jobs of other refused rows, one for each */
} Entry;

/* Of an entry with its place in the hash table, about: for the budget. */
#define ENTRY_BYTES (sizeof(Entry) + 4 * sizeof(gpointer))

const char *
tide_letter_reason_name(guint reason)
{
  return reason == TIDE_LETTER_REFUSED ? TIDE_LETTER_REASON_REFUSED : tide_reject_reason_name((TideRejectReason)reason);
}

/* Its row is charged by itself. */
static gsize
job_bytes(const TideLetterJob *job)
{
  return sizeof *job + job->memory.capacity;
}

static void
free_entry(gpointer data)
{
  Entry *entry = data;
  for (TideLetterJob *job = entry->waiting, *next; job != NULL; job = next) {
    next = job->next;
    tide_letter_job_free(job);
  }
  g_free(entry);
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
    letters->by_sequence = g_hash_table_new_full(NULL, NULL, NULL, free_entry);
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
  letters->waiting_bytes = 0;
}

gsize
tide_message_letters_memory_bytes(const TideMessageLetters *letters)
{
  gsize n = letters->by_sequence != NULL ? g_hash_table_size(letters->by_sequence) : 0;
  return n * ENTRY_BYTES + letters->waiting_bytes;
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

/* ---- refused rows ---- */

/* @into settles what @job would have, too. */
static void
absorb(TideLetterJob *into, TideLetterJob *job)
{
  into->n_acks += job->n_acks;
  tide_letter_job_free(job);
}

/* A trial writes what the message has in that row, and in no other. */
static gboolean
is_same_row(const TideLetter *a, const TideLetter *b)
{
  return tide_bytes_equal(a->row_key, b->row_key) && tide_bytes_equal(a->table, b->table);
}

/* Keeps @job until the one on its way is home. Of two of one row the one that needs no try is the letter: there the
 * message is guilty by itself. */
static void
let_wait(TideMessageLetters *letters, Entry *entry, TideLetterJob *job)
{
  TideLetterJob **place = &entry->waiting;
  while (*place != NULL && !is_same_row(&(*place)->letter, &job->letter))
    place = &(*place)->next;
  TideLetterJob *other = *place;
  if (other != NULL) {
    letters->waiting_bytes -= job_bytes(other);
    if (other->must_try && !job->must_try) {
      job->next = other->next;
      *place = job;
      absorb(job, other);
    } else
      absorb(other, job);
  } else
    *place = job;
  letters->waiting_bytes += job_bytes(*place);
}

/* The first of those that wait; NULL: none does. */
static TideLetterJob *
take_waiting(TideMessageLetters *letters, Entry *entry)
{
  TideLetterJob *job = entry->waiting;
  if (job == NULL)
    return NULL;
  entry->waiting = job->next;
  job->next = NULL;
  letters->waiting_bytes -= job_bytes(job);
  return job;
}

TideLetterJob *
tide_message_letters_add_refused(TideMessageLetters *letters, TideLetterJob *job, guint32 *ret_n_acks)
{
  Entry *entry = find_or_add(letters, job->source.sequence);
  *ret_n_acks = 0;
  if (entry->end.whole) {
    *ret_n_acks = job->n_acks;
    tide_letter_job_free(job);
    return NULL;
  }
  if (entry->is_pending) {
    let_wait(letters, entry, job);
    return NULL;
  }
  entry->is_pending = TRUE;
  return job;
}

/* The message is dead: nothing of it needs another letter. Returns the acknowledgements that this settles. */
static guint32
end_as_refused(TideMessageLetters *letters, Entry *entry)
{
  entry->end.reason = TIDE_LETTER_REFUSED;
  entry->end.whole = TRUE;
  guint32 n_acks = 0;
  for (TideLetterJob *job; (job = take_waiting(letters, entry)) != NULL;) {
    n_acks += job->n_acks;
    tide_letter_job_free(job);
  }
  return n_acks;
}

TideLetterJob *
tide_message_letters_came_home(TideMessageLetters *letters, const TideLetterJob *job, guint32 *ret_n_acks)
{
  *ret_n_acks = job->n_acks;
  if (!tide_letter_job_is_refused(job))
    return NULL;
  Entry *entry = find(letters, job->source.sequence);
  g_assert(entry != NULL && entry->is_pending);
  entry->is_pending = FALSE;
  if (job->result == TIDE_LETTER_KEPT) {
    *ret_n_acks += end_as_refused(letters, entry);
    return NULL;
  }
  TideLetterJob *next = take_waiting(letters, entry);
  entry->is_pending = next != NULL;
  return next;
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
