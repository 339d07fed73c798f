/* A sealed batch: encoded rows of one table and lane on their way to HBase, with the messages they came from. It is
 * either of puts, which go together in one putMultiple, or of mutated rows, each of which is a mutateRow of its own.
 *
 * The life of a batch, and who owns it: a consumer seals it and hands it to the lanes; a writer takes it, sends it, and
 * gives it back to the lanes when the call failed, or to its consumer's completion queue when HBase has acknowledged
 * it. The consumer marks the sources and uses the batch again. One owner at a time, so nothing in it is locked.
 * Wherever it is, its consumer may cancel it: it is not sent any more. */
#pragma once

#include "util/budget.h"
#include "util/lock.h"
#include "write/lane.h"

G_BEGIN_DECLS

/* Which message a row came from, small enough to be kept for each row. */
typedef struct TideSourceRef {
  guint32 assignment; /* of its partition, by its consumer's count: an acknowledgement from before a revoke or a rewind
                       * is recognised by it, and dropped */
  guint32 sequence;   /* in the partition's TideOffsets */
} TideSourceRef;

typedef struct TideBatchRow {
  guint32 start_bytes; /* in wire */
  guint32 key_offset;  /* in wire */
  guint16 key_len;     /* HBase's limit is 32767 */
  guint8 n_mutations;  /* in a batch of mutations */
} TideBatchRow;

/* One reading's part in a row. */
typedef struct TideBatchSource {
  TideSourceRef ref;
  guint32 row; /* index in rows */
} TideBatchSource;

/* A row that HBase refuses whatever is done: found by sending it alone. */
typedef struct TideBatchPoison {
  guint32 row; /* index in rows */
  guint32 attempts;
  char *text; /* owned: what the gateway said */
} TideBatchPoison;

/* What has become of a row. */
typedef enum TideRowState {
  TIDE_ROW_WAITING, /* to be sent with others */
  TIDE_ROW_DONE,    /* acknowledged */
  TIDE_ROW_POISON,  /* can never be written */
  TIDE_ROW_SUSPECT, /* refused alone, or without an answer alone: sent alone, after the others (bisect.h) */
} TideRowState;

typedef struct TideCompletionQueue TideCompletionQueue;
typedef struct TideBatch TideBatch;

/* Where the consumer that sealed a batch keeps it. */
typedef struct TideBatchSealer {
  TideBatch *lane_next;  /* its list of those that are in flight from one lane */
  TideBatch **lane_link; /* what points to it */
  gpointer lane_buffer;  /* borrowed: the consumer's own lane that sealed it */
} TideBatchSealer;

/* Monotonic. */
typedef struct TideBatchTimes {
  gint64 oldest_us;       /* when its oldest row was mapped */
  gint64 sealed_us;       /* nothing of it was sent before */
  gint64 last_unknown_us; /* when a call that carried it last ended without an answer; 0: never */
} TideBatchTimes;

/* What calls have made of a batch so far; bisect.h, which alone changes it, and the lanes. */
typedef struct TideBatchDelivery {
  TideBuffer states;        /* of guint8 (TideRowState), one for each row; empty: no row was treated differently yet */
  TideBuffer poison;        /* of TideBatchPoison, by row: all other rows are acknowledged when the batch completes */
  guint32 attempts;         /* how often a call took it */
  guint32 piece_rows;       /* it is sent by so many rows; 0: by as many as its table accepts */
  guint32 n_silences;       /* calls without an answer, since one of it was acknowledged or it was halved */
  gboolean is_acknowledged; /* a row of it was, by the call that ended last */
  gboolean has_failed;      /* that call found its region failing: nothing of it was accepted */
  guint32 n_refusing;       /* calls that found its region refusing whatever was tried, since a row was accepted */
  gint64 not_before_us;     /* its lane sends others meanwhile; 0: at once */
  gint64 lane_ok_us;        /* as it was taken: when its lane last accepted a row; 0: never, or it has refused since */
  gboolean is_final;        /* as it was taken: no other rows are to be expected */
  /* of suspects, while there are any */
  guint32 suspect_row; /* the one that was tried last ... */
  guint32 n_tries;     /* ... so often */
  gint64 since_us;     /* 0: there are none */
  char *text;          /* owned: what its last try ended with */
  gboolean is_silent;  /* that was no answer */
  gboolean is_stuck;   /* it had all its rounds, and nothing has shown that it is to blame */
  gint32 n_more;       /* suspects than before the last call; those that it accepted apart */
} TideBatchDelivery;

/* Any thread. */
typedef struct TideBatchFlags {
  _Atomic gboolean is_cancelled;      /* set by the consumer that sealed it, at any time */
  _Atomic gboolean has_suspects_only; /* set by its owner: all other rows of it have ended */
} TideBatchFlags;

struct TideBatch {
  TideBatchFlags flags;
  TideBatchSealer sealer; /* that consumer's at any time */
  /* the owner's only (see above); rows, sources and dependent rows stay as they are until it is completed */
  TideBatch *next;                  /* in whichever list holds it */
  TideCompletionQueue *completions; /* borrowed: where it goes when acknowledged */
  TideLane *lane;                   /* ref */
  TideBuffer wire;                  /* encoded puts, or the rows' mutations, one after the other */
  TideBuffer rows;                  /* of TideBatchRow */
  TideBuffer sources;               /* of TideBatchSource */
  TideBuffer key_set;    /* of guint64: while filling, the rows' key hashes (of unmerged rows: of key and time); then an
                          * open-addressed set, 0 is empty */
  TideBuffer dependents; /* dependent_rows.h: rows that may go once this batch is acknowledged */
  gboolean is_mutations;
  gboolean is_unmerged; /* each row is of one message: tide_accumulator_append_unmerged() */
  guint32 n_rows;
  gint64 charged_bytes; /* what the budget holds for it */
  TideBatchTimes times;
  TideBatchDelivery delivery;
};

TideBatch *tide_batch_new(void);
void tide_batch_free(TideBatch *batch); /* gives up the lane; NULL ok */
/* Empties it for the next use; keeps the memory, gives up the lane. */
void tide_batch_reset(TideBatch *batch);

static inline gsize
tide_batch_memory_bytes(const TideBatch *batch)
{
  return sizeof *batch + batch->wire.capacity + batch->rows.capacity + batch->sources.capacity +
         batch->key_set.capacity + batch->dependents.capacity + batch->delivery.poison.capacity +
         batch->delivery.states.capacity;
}

static inline const TideBatchRow *
tide_batch_rows(const TideBatch *batch)
{
  return (const TideBatchRow *)(const void *)batch->rows.data;
}

static inline const TideBatchSource *
tide_batch_sources(const TideBatch *batch, gsize *ret_n)
{
  *ret_n = batch->sources.len / sizeof(TideBatchSource);
  return (const TideBatchSource *)(const void *)batch->sources.data;
}

static inline const TideBatchPoison *
tide_batch_poison(const TideBatch *batch, gsize *ret_n)
{
  *ret_n = batch->delivery.poison.len / sizeof(TideBatchPoison);
  return (const TideBatchPoison *)(const void *)batch->delivery.poison.data;
}

/* What is known of @row; NULL: it is not poison. */
const TideBatchPoison *tide_batch_find_poison(const TideBatch *batch, guint32 row);

static inline TideRowState
tide_batch_row_state(const TideBatch *batch, guint32 row)
{
  return batch->delivery.states.len > 0 ? batch->delivery.states.data[row] : TIDE_ROW_WAITING;
}

void tide_batch_set_row_state(TideBatch *batch, guint32 row, TideRowState state);

/* The first row of [@first, @end) in @state; @end: none. */
guint32 tide_batch_find_state(const TideBatch *batch, TideRowState state, guint32 first, guint32 end);

/* Marks @row, which can never be written, as poison. @text: copied. */
void tide_batch_add_poison(TideBatch *batch, guint32 row, guint32 attempts, const char *text);

/* It is not to be sent any more; a call that carries it already goes on. Threads: the consumer's that sealed it. */
static inline void
tide_batch_cancel(TideBatch *batch)
{
  atomic_store_explicit(&batch->flags.is_cancelled, TRUE, memory_order_relaxed);
}

static inline gboolean
tide_batch_is_cancelled(const TideBatch *batch)
{
  return atomic_load_explicit(&batch->flags.is_cancelled, memory_order_relaxed);
}

/* Its other rows have ended, and what is left may be tried for minutes, or until another row of the region is accepted:
 * rows of other keys need not wait for it. */
static inline gboolean
tide_batch_has_suspects_only(const TideBatch *batch)
{
  return atomic_load_explicit(&batch->flags.has_suspects_only, memory_order_relaxed);
}

/* What becomes of its cells is not known at @now_us: an abandoned call may still be at work. */
static inline void
tide_batch_mark_in_doubt(TideBatch *batch, gint64 now_us)
{
  batch->times.last_unknown_us = now_us;
}

TideBytes tide_batch_row_key(const TideBatch *batch, guint32 row);
TideBytes tide_batch_row_wire(const TideBatch *batch, guint32 row); /* its put, or its mutations */

/* Turns the key hashes that were appended to key_set into the set; once all rows are in. */
void tide_batch_make_key_set(TideBatch *batch);
gboolean tide_batch_may_hold_key(const TideBatch *batch, guint64 key_hash);

/* Hash of a row key, never 0. */
guint64 tide_key_hash(TideBytes key);

/* Where completed batches are queued. Any thread pushes, one takes. */
struct TideCompletionQueue {
  TideMutex lock;
  TideCond arrived;
  /* under lock */
  TideBatch *first;
  TideBatch *last;
  /* set before start, then read-only: wakes the consumer out of its poll; called without the lock */
  void (*wake)(gpointer data);
  gpointer wake_data;
};

void tide_completion_queue_init(TideCompletionQueue *completions, void (*wake)(gpointer data), gpointer wake_data);
void tide_completion_queue_clear(TideCompletionQueue *completions); /* frees what is still in it */
void tide_completion_queue_push(TideCompletionQueue *completions,
                                TideBatch *first); /* transfers @first and all linked behind it */
/* All that arrived, in order, linked by next; NULL when nothing did by @deadline_us (0: does not wait). */
TideBatch *tide_completion_queue_take(TideCompletionQueue *completions, gint64 deadline_us);

G_END_DECLS
