/* Open rows: what one consumer has mapped for one lane and not sent yet, merged (coalesced) by key.
 *
 * Cells are encoded when they arrive. Row and list headers are written when the buffer is sealed, so until then rows of
 * one key merge into one put, and a cell can be replaced: by a later one of the same column and time in a data table,
 * by a newer one of the same column in a latest table. The buffer is not bounded by rows: while it may not be sealed (a
 * row of the same key is still on its way) it goes on coalescing, and is cut into calls when it is sealed.
 *
 * A row may delete: everything in its families up to a cell time, whether it lies in HBase already or comes later. Open
 * cells that a delete covers are dropped, and cells that come under one that is open are not taken. So in a table with
 * latest: replace, where each reading deletes up to the millisecond before it, an open row is the newest reading and
 * nothing else, whatever the order; a tombstone is a delete without cells. Rows with a delete are sealed into batches
 * of mutations.
 *
 * A buffer of solo rows (TIDE_MERGE_NONE) merges nothing: each append is a row of its own, so that HBase refuses a row
 * for the sake of one message (solo_keys.h).
 *
 * Rows may have dependent rows (dependent_rows.h), which go the way of the row: into its batch.
 *
 * Threads: the owning consumer's only. Memory: charged to the budget by what it holds, given back when cleared. */
#pragma once

#include "rows/dependent_rows.h"
#include "thrift/wire/wire.h"
#include "write/batch_pool.h"
#include "write/prefetch.h"

G_BEGIN_DECLS

typedef enum TideMergeRule {
  TIDE_MERGE_ALL,    /* data table: all cells stay; the same column and time again: the later replaces the earlier */
  TIDE_MERGE_NEWEST, /* latest table: one cell for each column, that of the greatest time; equal times: the later */
  TIDE_MERGE_NONE,   /* solo rows: one that gives a cell of an earlier row another value waits until that has gone */
} TideMergeRule;

typedef struct TideRowBuffer TideRowBuffer;

struct TideRowBuffer {
  /* set at creation, then read-only */
  TideBudget *budget; /* borrowed */
  TideWireProtocol protocol;
  TideMergeRule rule;
  const GPtrArray
      *families; /* borrowed (element-type TideFamilySettings): what a delete deletes; NULL: rows never do */
  /* owner's */
  TideBuffer bytes;   /* keys and encoded cells */
  TideBuffer rows;    /* of OpenRow */
  TideBuffer cells;   /* of OpenCell */
  TideBuffer sources; /* of TideBatchSource */
  TideBuffer dependents;
  TideBuffer index; /* of guint32: open-addressed, 1 + row, 0 is empty */
  guint32 n_rows;
  guint32 n_cells;     /* places in cells, in use or free */
  guint32 free_cell;   /* 1 + the first free place in cells; 0: none */
  gsize wasted_bytes;  /* replaced and dropped cells still in bytes */
  gsize encoded_bytes; /* upper bound of the puts as they stand */
  gint64 oldest_us;    /* when the first row of the buffer came; 0 when empty */
  gint64 charged_bytes;
  TideRowBuffer *next; /* while it is in a list: the list's */
};

void tide_row_buffer_init(TideRowBuffer *buffer, TideBudget *budget, TideWireProtocol protocol, TideMergeRule rule,
                          const GPtrArray *families);
void tide_row_buffer_clear(TideRowBuffer *buffer); /* frees the memory and gives back what was charged; stays usable */

/* Cells of one append that met what is open. */
typedef struct TideCellsMerged {
  guint32 n_merged;           /* another of their column, of which one stays, or a delete that covers them */
  guint32 n_conflicting;      /* of these: another of their column and time, with another value */
  guint32 n_overwriting;      /* of these: that of another reading (mapping/mapping.c) */
  gint64 overwritten_ms;      /* with n_overwriting: the cell time of the first ... */
  gboolean knows_overwritten; /* ... and, if so, */
  TideSourceRef overwritten;  /* the message that it came with */
} TideCellsMerged;

/**
 * tide_row_buffer_append: add @row, which was mapped at @mapped_us (monotonic).
 * @ret_merged: (nullable): filled in whole
 * Returns: its place, for tide_row_buffer_add_dependent(); valid until the next row or sealing.
 */
guint32 tide_row_buffer_append(TideRowBuffer *buffer, const TideRow *row, TideSourceRef source, gint64 mapped_us,
                               TideCellsMerged *ret_merged);

/* Keeps @dependent, of @source, until the row at @row_index is acknowledged. */
void tide_row_buffer_add_dependent(TideRowBuffer *buffer, guint32 row_index, const TideRow *dependent,
                                   TideSourceRef source);

static inline gboolean
tide_row_buffer_is_empty(const TideRowBuffer *buffer)
{
  return buffer->n_rows == 0;
}

/* It is about to be sealed: asks for what its first rows need. */
static inline void
tide_row_buffer_prefetch(const TideRowBuffer *buffer)
{
  tide_prefetch(buffer->bytes.data, MIN(buffer->bytes.len, 8 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->rows.data, MIN(buffer->rows.len, 2 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->cells.data, 1);
  tide_prefetch(buffer->sources.data, 1);
  tide_prefetch(buffer->index.data, 1);
}

/* It is empty and will be filled soon: asks for where its first row goes. */
static inline void
tide_row_buffer_prefetch_room(const TideRowBuffer *buffer)
{
  tide_prefetch(buffer->bytes.data, MIN(buffer->bytes.capacity, 6 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->rows.data, 2 * TIDE_CACHE_LINE_BYTES);
  tide_prefetch(buffer->cells.data, 1);
  tide_prefetch(buffer->sources.data, 1);
  tide_prefetch(buffer->index.data, 1);
}

/* TRUE when a row of the buffer may have a key that @batch holds too. */
gboolean tide_row_buffer_shares_keys(const TideRowBuffer *buffer, const TideBatch *batch);

/* TRUE when a row of the buffer may have that key. Not of solo rows. */
gboolean tide_row_buffer_may_hold_key(const TideRowBuffer *buffer, guint64 key_hash);

typedef struct TideSealRequest {
  guint32 max_rows;           /* in a batch */
  guint32 max_bytes;          /* encoded puts in a batch */
  TideBatchPool *pool;        /* where batches to fill come from */
  GPtrArray *suspect_batches; /* (nullable) (element-type TideBatch): of merged rows, those with one's key stay */
  /* of solo rows: those with a key that is in one of these stay for the next sealing */
  const TideRowBuffer *merged; /* (nullable), borrowed: of the same lane */
  const TideBatch *on_the_way; /* (nullable), linked by lane_next */
} TideSealRequest;

/**
 * tide_row_buffer_seal: encode all rows into batches and empty the buffer (its memory stays for the next rows).
 * Returns: (transfer full) (nullable): the batches, linked by next, in the order the rows came; wire, rows, sources,
 *     dependents, key_set, is_mutations, n_rows, oldest_us and charged_bytes are filled, the rest is the caller's. A
 * key is in one batch only: rows that had to be cut because one put would pass the limits stay in the buffer for the
 *     next sealing. Solo rows of one key may go together, as far as they write different cells.
 */
TideBatch *tide_row_buffer_seal(TideRowBuffer *buffer, const TideSealRequest *request);

/* Of all rows of @buffer. */
static inline const TideBatchSource *
tide_row_buffer_sources(const TideRowBuffer *buffer, gsize *ret_n)
{
  *ret_n = buffer->sources.len / sizeof(TideBatchSource);
  return (const TideBatchSource *)(const void *)buffer->sources.data;
}

guint64 tide_row_buffer_row_key_hash(const TideRowBuffer *buffer, guint32 row);

G_END_DECLS
