/* Open rows: what one consumer has mapped for one lane and not sent yet, merged (coalesced) by key.
 *
 * Cells are encoded when they arrive. Headers of rows and lists are written when the buffer is sealed. Until then rows
 * of one key merge into one put, and a cell can be replaced: in a data table by a later one of the same column and
 * time, in a latest table by a newer one of the same column. The number of rows is not limited: while a row of the same
 * key is in flight, the buffer continues to coalesce; it is divided into calls when it is sealed.
 *
 * A row may delete everything in its families up to a cell time, whether it is in HBase already or arrives later. Open
 * cells covered by a delete are dropped, and cells that arrive under an open delete are not taken. In a table with
 * latest: replace, each reading deletes up to the millisecond before it, so an open row is exactly the newest reading,
 * whatever the order. A tombstone is a delete without cells. Rows with a delete are sealed into batches of mutations.
 *
 * A buffer of solo rows (TIDE_MERGE_NONE) does not merge: each append is a separate row, so that a refused row has a
 * single message (solo_keys.h).
 *
 * Dependent rows (dependent_rows.h) accompany their row into its batch.
 *
 * Threads: the owning consumer's only. Memory: charged to the budget by content, returned when cleared. */
#pragma once

#include "rows/dependent_rows.h"
#include "thrift/wire/wire.h"
#include "write/batch_pool.h"
#include "write/prefetch.h"

G_BEGIN_DECLS

typedef enum TideMergeRule {
  TIDE_MERGE_ALL,    /* data table: all cells remain; for the same column and time the later one replaces the earlier */
  TIDE_MERGE_NEWEST, /* latest table: one cell per column, with the greatest time; for equal times the later one */
  TIDE_MERGE_NONE, /* solo rows: a row with another value for a cell of an earlier row waits until that one has gone */
} TideMergeRule;

typedef struct TideRowBuffer TideRowBuffer;

struct TideRowBuffer {
  /* set at creation, then read-only */
  TideBudget *budget; /* borrowed */
  TideWireProtocol protocol;
  TideMergeRule rule;
  const GPtrArray
      *families; /* borrowed (element-type TideFamilySettings): families covered by a delete; NULL: rows never delete */
  /* The owner's. */
  TideBuffer bytes;   /* keys and encoded cells */
  TideBuffer rows;    /* of OpenRow */
  TideBuffer cells;   /* of OpenCell */
  TideBuffer sources; /* of TideBatchSource */
  TideBuffer dependents;
  TideBuffer index; /* of guint32: open-addressed, 1 + row, 0 is empty */
  guint32 n_rows;
  guint32 n_cells;     /* entries in cells, used or free */
  guint32 free_cell;   /* 1 + the first free entry in cells; 0: none */
  gsize wasted_bytes;  /* of replaced and dropped cells in bytes */
  gsize encoded_bytes; /* upper bound of the encoded puts */
  gint64 oldest_us;    /* when the buffer's first row arrived; 0 when empty */
  gint64 charged_bytes;
  TideRowBuffer *next; /* link of the list that contains it */
};

void tide_row_buffer_init(TideRowBuffer *buffer, TideBudget *budget, TideWireProtocol protocol, TideMergeRule rule,
                          const GPtrArray *families);
void tide_row_buffer_clear(TideRowBuffer *buffer); /* frees the memory and returns what was charged; remains usable */

/* How the cells of one append merged with open ones. */
typedef struct TideCellsMerged {
  guint32 n_merged; /* with another cell of their column, of which one remains, or with a delete that covers them */
  guint32 n_conflicting;      /* of these: same column and time, other value */
  guint32 n_overwriting;      /* of these: the cell of another reading (mapping/mapping.c) */
  gint64 overwritten_ms;      /* with n_overwriting: the cell time of the first one ... */
  gboolean knows_overwritten; /* ... and whether overwritten is set */
  TideSourceRef overwritten;  /* the message of the overwritten cell */
} TideCellsMerged;

/**
 * tide_row_buffer_append: adds @row, mapped at @mapped_us (monotonic).
 * @ret_merged: (nullable): filled completely
 * Returns: its index, for tide_row_buffer_add_dependent(); valid until the next row or sealing.
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

/* Prefetches what sealing its first rows needs. */
static inline void
tide_row_buffer_prefetch(const TideRowBuffer *buffer)
{
  tide_prefetch(buffer->bytes.data, MIN(buffer->bytes.len, 8 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->rows.data, MIN(buffer->rows.len, 2 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->cells.data, 1);
  tide_prefetch(buffer->sources.data, 1);
  tide_prefetch(buffer->index.data, 1);
}

/* Prefetches the memory for the first row of an empty buffer. */
static inline void
tide_row_buffer_prefetch_room(const TideRowBuffer *buffer)
{
  tide_prefetch(buffer->bytes.data, MIN(buffer->bytes.capacity, 6 * TIDE_CACHE_LINE_BYTES));
  tide_prefetch(buffer->rows.data, 2 * TIDE_CACHE_LINE_BYTES);
  tide_prefetch(buffer->cells.data, 1);
  tide_prefetch(buffer->sources.data, 1);
  tide_prefetch(buffer->index.data, 1);
}

/* TRUE if a row of the buffer may have the same key as a row of @batch. */
gboolean tide_row_buffer_shares_keys(const TideRowBuffer *buffer, const TideBatch *batch);

/* TRUE if a row of the buffer may have that key. Not for solo rows. */
gboolean tide_row_buffer_may_hold_key(const TideRowBuffer *buffer, guint64 key_hash);

typedef struct TideSealRequest {
  guint32 max_rows;           /* per batch */
  guint32 max_bytes;          /* encoded puts per batch */
  TideBatchPool *pool;        /* supplies the batches */
  GPtrArray *suspect_batches; /* (nullable) (element-type TideBatch): merged rows with a key of one of these stay */
  /* For solo rows: those with a key in one of these stay for the next sealing. */
  const TideRowBuffer *merged; /* (nullable), borrowed: of the same lane */
  const TideBatch *in_flight;  /* (nullable), linked by lane_next */
} TideSealRequest;

/**
 * tide_row_buffer_seal: encodes all rows into batches and empties the buffer, whose memory is reused.
 * Returns: (transfer full) (nullable): the batches, linked by next, in the order of rows. Filled in are wire, rows,
 * sources, dependents, key_set, is_mutations, n_rows, oldest_us and charged_bytes; the caller sets the rest. A key is
 * in one batch only: rows divided because one put would exceed the limits stay for the next sealing. Solo rows of one
 * key may share a batch if they write different cells.
 */
TideBatch *tide_row_buffer_seal(TideRowBuffer *buffer, const TideSealRequest *request);

/* The sources of all rows of @buffer. */
static inline const TideBatchSource *
tide_row_buffer_sources(const TideRowBuffer *buffer, gsize *ret_n)
{
  *ret_n = buffer->sources.len / sizeof(TideBatchSource);
  return (const TideBatchSource *)(const void *)buffer->sources.data;
}

guint64 tide_row_buffer_row_key_hash(const TideRowBuffer *buffer, guint32 row);

G_END_DECLS
