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
  guint32 row;           /* index in rows */
  guint32 reading_index; /* in its message */
} TideBatchSource;

/* A row that HBase refuses whatever is done: found by sending it alone. */
typedef struct TideBatchPoison {
  guint32 row; /* index in rows */
  guint32 attempts;
  char *text; /* owned: what the gateway said */
} TideBatchPoison;

/* A row that HBase refuses alone, with a text that does not tell whose fault that is, or whose call is cut off. */
typedef struct TideBatchSuspect {
  guint32 row;         /* index in rows */
  gboolean is_cut;     /* its call was cut off: it is sent behind all others */
  guint32 n_cuts;      /* so often alone ... */
  gint64 cut_since_us; /* ... the first of which was then */
  /* of refusals */
  guint32 text_kind;  /* of what the gateway said; another one begins anew */
  guint32 n_rounds;   /* so often ... */
  guint32 n_verified; /* ... and so often while its region took other rows */
  gint64 since_us;    /* the first round */
  gint64 counted_us;  /* the last one that was counted */
} TideBatchSuspect;

typedef struct TideCompletionQueue TideCompletionQueue;
typedef struct TideBatch TideBatch;

struct TideBatch {
  _Atomic gboolean is_cancelled; /* set by the consumer that sealed it, at any time */
  /* that consumer's at any time: its list of those that are on their way from one lane */
  TideBatch *lane_next;
  TideBatch **lane_link; /* what points to it */
  /* the owner's only (see above); rows, sources and dependent rows stay as they are until it is completed */
  TideBatch *next;                  /* in whichever list holds it */
  TideCompletionQueue *completions; /* borrowed: where it goes when acknowledged */
  gpointer lane_buffer;             /* borrowed: the consumer's own lane that sealed it */
  TideLane *lane;                   /* ref */
  TideBuffer wire;                  /* encoded puts, or the rows' mutations, one after the other */
  TideBuffer rows;                  /* of TideBatchRow */
  TideBuffer sources;               /* of TideBatchSource */
  TideBuffer key_set;    /* of guint64: while filling, the rows' key hashes; then an open-addressed set, 0 is empty */
  TideBuffer dependents; /* dependent_rows.h: rows that may go once this batch is acknowledged */
  TideBuffer poison;     /* of TideBatchPoison, by row: all other rows are acknowledged when the batch completes */
  TideBuffer suspects;   /* of TideBatchSuspect: they are sent alone */
  gboolean is_mutations;
  gboolean is_apart;    /* HBase is likely to refuse each row: sealed with slice_rows of 1 */
  gboolean is_unmerged; /* each row is of one message: tide_accumulator_append_unmerged() */
  guint32 n_rows;
  gint64 oldest_us;     /* when its oldest row was mapped, monotonic */
  gint64 charged_bytes; /* what the budget holds for it */
  guint32 attempts;
  /* row_isolation.h: what is known after calls that failed */
  guint32 done_rows;      /* so many of the first are acknowledged, poison, or suspects */
  guint32 slice_rows;     /* it is to be sent by so many rows; 0: as a whole */
  guint32 n_cut_calls;    /* calls of several of its rows that were cut off */
  gint64 not_before_us;   /* its lane sends others meanwhile; 0: at once */
  gboolean is_left_out;   /* nothing of it was sent in the round that ended last */
  gint64 lane_ok_us;      /* when a call of its lane was last acknowledged, as it was taken; 0: never */
  gint64 sealed_us;       /* nothing of it was sent before */
  gint64 last_unknown_us; /* when a call that carried it last ended without an answer; 0: never */
};

TideBatch *tide_batch_new(void);
void tide_batch_free(TideBatch *batch); /* gives up the lane; NULL ok */
/* Empties it for the next use; keeps the memory, gives up the lane. */
void tide_batch_reset(TideBatch *batch);

static inline gsize
tide_batch_memory_bytes(const TideBatch *batch)
{
  return sizeof *batch + batch->wire.capacity + batch->rows.capacity + batch->sources.capacity +
         batch->key_set.capacity + batch->dependents.capacity + batch->poison.capacity + batch->suspects.capacity;
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
  *ret_n = batch->poison.len / sizeof(TideBatchPoison);
  return (const TideBatchPoison *)(const void *)batch->poison.data;
}

/* What is known of @row; NULL: it is not poison. */
const TideBatchPoison *tide_batch_find_poison(const TideBatch *batch, guint32 row);

static inline const TideBatchSuspect *
tide_batch_suspects(const TideBatch *batch, gsize *ret_n)
{
  *ret_n = batch->suspects.len / sizeof(TideBatchSuspect);
  return (const TideBatchSuspect *)(const void *)batch->suspects.data;
}

/* What is known of @row, begun when nothing is. Valid until the next is begun. */
TideBatchSuspect *tide_batch_suspect(TideBatch *batch, guint32 row);
void tide_batch_clear_suspect(TideBatch *batch, guint32 row);
/* Of rows whose calls are cut off that which was cut off least often; NULL: there is none. */
const TideBatchSuspect *tide_batch_next_cut(const TideBatch *batch);
guint32 tide_batch_count_cuts(const TideBatch *batch); /* of such rows, alone */

/* @row can never be written. @text: copied. */
void tide_batch_add_poison(TideBatch *batch, guint32 row, guint32 attempts, const char *text);

/* It is not to be sent any more; a call that carries it already goes on. Threads: the consumer's that sealed it. */
static inline void
tide_batch_cancel(TideBatch *batch)
{
  atomic_store_explicit(&batch->is_cancelled, TRUE, memory_order_relaxed);
}

static inline gboolean
tide_batch_is_cancelled(const TideBatch *batch)
{
  return atomic_load_explicit(&batch->is_cancelled, memory_order_relaxed);
}

/* What becomes of its cells is not known at @now_us: an abandoned call may still be at work. */
static inline void
tide_batch_mark_in_doubt(TideBatch *batch, gint64 now_us)
{
  batch->last_unknown_us = now_us;
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
