/* A sealed batch: encoded rows of one table and lane, with the messages they came from. It contains either puts, which
 * share a putMultiple, or mutated rows, each sent by its own mutateRow.
 *
 * Ownership: a consumer seals the batch and submits it to the lanes. A writer takes it, sends it, and returns it to the
 * lanes if the call failed, or to its consumer's completion queue if HBase acknowledged it. The consumer marks the
 * sources and reuses the batch. It has one owner at a time and needs no lock. Its consumer may cancel it at any time;
 * then it is not sent again. */
#pragma once

#include "util/budget.h"
#include "util/lock.h"
#include "write/lane.h"

G_BEGIN_DECLS

/* The message that a row came from, compact enough to be stored for each row. */
typedef struct TideSourceRef {
  guint32 assignment; /* the number of its partition's assignment; it exposes acknowledgements from before a revocation
                         or a rewind, which are dropped */
  guint32 sequence;   /* in the partition's TideOffsets */
} TideSourceRef;

typedef struct TideBatchRow {
  guint32 start_bytes; /* in wire */
  guint32 key_offset;  /* in wire */
  guint16 key_len;     /* HBase's limit is 32767 */
  guint8 n_mutations;  /* in a batch of mutations */
} TideBatchRow;

/* A reading's share of a row. */
typedef struct TideBatchSource {
  TideSourceRef ref;
  guint32 row; /* index in rows */
} TideBatchSource;

/* A row that HBase refuses even when sent alone. */
typedef struct TideBatchPoison {
  guint32 row; /* index in rows */
  guint32 attempts;
  char *text; /* owned: the gateway's answer */
} TideBatchPoison;

typedef enum TideRowState {
  TIDE_ROW_WAITING, /* to be sent with other rows */
  TIDE_ROW_DONE,    /* acknowledged */
  TIDE_ROW_POISON,  /* cannot be written */
  TIDE_ROW_SUSPECT, /* failed when sent alone: retried alone, after the other rows (bisect.h) */
} TideRowState;

typedef struct TideCompletionQueue TideCompletionQueue;
typedef struct TideBatch TideBatch;

/* List links of the consumer that sealed the batch. */
typedef struct TideBatchSealer {
  TideBatch *lane_next;  /* next in its list of batches in flight for one lane */
  TideBatch **lane_link; /* the pointer to this batch */
  gpointer lane_buffer;  /* borrowed: the lane buffer that sealed it */
} TideBatchSealer;

/* Monotonic times. */
typedef struct TideBatchTimes {
  gint64 oldest_us;       /* when its oldest row was mapped */
  gint64 sealed_us;       /* no part of it was sent earlier */
  gint64 last_unknown_us; /* end of the last call with it that got no answer; 0: none */
} TideBatchTimes;

/* The results of a batch's calls so far. Only bisect.h and the lanes change it. */
typedef struct TideBatchDelivery {
  TideBuffer states;  /* of guint8 (TideRowState), one per row; empty: all rows have the same state */
  TideBuffer poison;  /* of TideBatchPoison, sorted by row: all other rows are acknowledged when the batch completes */
  guint32 attempts;   /* calls that carried it */
  guint32 piece_rows; /* rows per call; 0: as many as its table accepts */
  guint32 n_silences; /* unanswered calls since a row was acknowledged or the batch was halved */
  gboolean is_acknowledged; /* the last call acknowledged a row of it */
  gboolean has_failed;      /* the last call found its region failing: no row was accepted */
  guint32 n_refusing;       /* calls since a row was accepted in which its region refused every row */
  gint64 not_before_us;     /* not sent earlier, while its lane sends other batches; 0: at once */
  gint64 lane_ok_us; /* when its lane last accepted a row before the batch was taken; 0: never, or rows were refused
                        since */
  gboolean is_final; /* no other rows were expected when the batch was taken */
  /* State of suspects; unused without any. */
  guint32 suspect_row; /* the last row tried alone ... */
  guint32 n_tries;     /* ... and its number of tries */
  gint64 since_us;     /* 0: no suspects */
  char *text;          /* owned: result of the last try */
  gboolean is_silent;  /* the last try got no answer */
  gboolean is_stuck;   /* all rounds are over, and none has shown that the row is the cause */
  gint32 n_more;       /* change in suspects by the last call, without those it accepted */
} TideBatchDelivery;

/* Shared flags; any thread. */
typedef struct TideBatchFlags {
  _Atomic gboolean is_cancelled;      /* set at any time by the consumer that sealed it */
  _Atomic gboolean has_suspects_only; /* set by its owner: all other rows have ended */
} TideBatchFlags;

struct TideBatch {
  TideBatchFlags flags;
  TideBatchSealer sealer; /* for that consumer, at any time */
  /* For the owner only (see above); rows, sources and dependents do not change until the batch is completed. */
  TideBatch *next;                  /* in the list that contains it */
  TideCompletionQueue *completions; /* borrowed: receives the batch when it is acknowledged */
  TideLane *lane;                   /* ref */
  TideBuffer wire;                  /* encoded puts, or mutations of rows, in sequence */
  TideBuffer rows;                  /* of TideBatchRow */
  TideBuffer sources;               /* of TideBatchSource */
  TideBuffer key_set;    /* of guint64: while filling, the rows' key hashes (for solo rows, of key and time); then an
                            open-addressed set, 0 is empty */
  TideBuffer dependents; /* dependent_rows.h: rows that may be sent once this batch is acknowledged */
  gboolean is_mutations;
  gboolean is_solo; /* each row is of one message: solo_keys.h */
  guint32 n_rows;
  gint64 charged_bytes; /* charged to the budget */
  TideBatchTimes times;
  TideBatchDelivery delivery;
};

TideBatch *tide_batch_new(void);
void tide_batch_free(TideBatch *batch); /* releases the lane; NULL ok */
/* Empties it for reuse: keeps the memory, releases the lane. */
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

/* The entry of @row; NULL: it is not poison. */
const TideBatchPoison *tide_batch_find_poison(const TideBatch *batch, guint32 row);

static inline TideRowState
tide_batch_row_state(const TideBatch *batch, guint32 row)
{
  return batch->delivery.states.len > 0 ? batch->delivery.states.data[row] : TIDE_ROW_WAITING;
}

void tide_batch_set_row_state(TideBatch *batch, guint32 row, TideRowState state);

/* The first row of [@first, @end) in @state, or @end. */
guint32 tide_batch_find_state(const TideBatch *batch, TideRowState state, guint32 first, guint32 end);

/* Marks @row as poison: it cannot be written. @text: copied */
void tide_batch_add_poison(TideBatch *batch, guint32 row, guint32 attempts, const char *text);

/* Prevents further calls with the batch; a call in flight continues. Threads: the consumer's that sealed it. */
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

/* Only suspects are left, which may be retried for minutes or until the region accepts another row. Rows of other keys
 * need not wait for them. */
static inline gboolean
tide_batch_has_suspects_only(const TideBatch *batch)
{
  return atomic_load_explicit(&batch->flags.has_suspects_only, memory_order_relaxed);
}

/* The outcome of a call is uncertain at @now_us: an abandoned call may still write its cells. */
static inline void
tide_batch_mark_in_doubt(TideBatch *batch, gint64 now_us)
{
  batch->times.last_unknown_us = now_us;
}

TideBytes tide_batch_row_key(const TideBatch *batch, guint32 row);
TideBytes tide_batch_row_wire(const TideBatch *batch, guint32 row); /* its put or its mutations */

/* Converts the key hashes appended to key_set into the set, once all rows are added. */
void tide_batch_make_key_set(TideBatch *batch);
gboolean tide_batch_may_hold_key(const TideBatch *batch, guint64 key_hash);

/* Hash of a row key, never 0. */
guint64 tide_key_hash(TideBytes key);

/* Queue of completed batches: any thread pushes, one takes. */
struct TideCompletionQueue {
  TideMutex lock;
  TideCond arrived;
  /* under lock */
  TideBatch *first;
  TideBatch *last;
  /* Set before start, then read-only: wakes the consumer's poll; called without the lock. */
  void (*wake)(gpointer data);
  gpointer wake_data;
};

void tide_completion_queue_init(TideCompletionQueue *completions, void (*wake)(gpointer data), gpointer wake_data);
void tide_completion_queue_clear(TideCompletionQueue *completions); /* frees remaining batches */
void tide_completion_queue_push(TideCompletionQueue *completions,
                                TideBatch *first); /* transfers @first and all batches linked after it */
/* Takes all completed batches, in order, linked by next. Waits until @deadline_us (0: not at all); NULL: none. */
TideBatch *tide_completion_queue_take(TideCompletionQueue *completions, gint64 deadline_us);

G_END_DECLS
