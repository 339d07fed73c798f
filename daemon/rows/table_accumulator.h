/* One table as a consumer has it open: its rows by lane, while regions change. accumulator.c decides when rows leave;
 * only it and rows_in_doubt.c use this.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/cells_in_doubt.h"
#include "rows/doubt.h"
#include "rows/solo_keys.h"
#include "rows/spare_buffers.h"
#include "write/regions.h"

G_BEGIN_DECLS

typedef struct TideLaneBuffer {
  TideLane *lane; /* ref */
  const TideTable *table;
  /* Lent by the table (spare_buffers.h), or shared and empty. */
  TideRowBuffer *buffer;
  TideRowBuffer *solo;  /* rows of solo keys, each of one message */
  TideBatch *in_flight; /* borrowed, linked by lane_next: held by the writers */
  guint n_in_flight;
  GPtrArray *predecessors;     /* (element-type TideLaneBuffer) borrowed; NULL: none. Old lanes that overlap this one */
  gboolean shares_key;         /* an open row's key is in flight; checked again after a completion */
  gboolean solo_freed;         /* a batch completed since solo rows were last sealed ... */
  guint32 solo_remaining;      /* ... which left this many waiting for others of their keys ... */
  gint64 solo_sealed_us;       /* ... at this time */
  gboolean waits_for_suspects; /* rows stayed at last_seal_us because suspects with their keys are in flight */
  gboolean is_active;          /* in active */
  gint64 last_seal_us;
  gint64 last_row_us;
} TideLaneBuffer;

/* State shared by the lanes of one consumer. */
typedef struct TideTableAccumulatorContext {
  TideRegions *regions; /* borrowed */
  TideBudget *budgets;  /* borrowed: by table slot */
  TideWireProtocol protocol;
  GPtrArray *active; /* (element-type TideLaneBuffer) borrowed: lanes of all tables with open rows */
  TideBudget *doubt; /* borrowed: share for uncertain cells of the tables */
  gint64 settle_us;
  TideCounter *doubt_overflow;
  TideCounter *rows_cancelled;
} TideTableAccumulatorContext;

typedef struct TideTableAccumulator {
  const TideTableAccumulatorContext *context; /* borrowed */
  const TideTable *table;
  TideBudget *budget;         /* borrowed: its share */
  TideRegionMap *map;         /* ref */
  TideLaneBuffer **lanes;     /* owned array of map->n_lanes; NULL until the first row */
  GPtrArray *retired;         /* owned (element-type TideLaneBuffer): lanes of former regions, until they are empty */
  TideCellsInDoubt *in_doubt; /* owned: uncertain cells */
  GHashTable *contested;      /* owned: rows_in_doubt.c: contested cells by key */
  GSequence *contested_rows;  /* owned: likewise: their rows, ordered by expiry */
  TideSoloKeys solo_keys;
  TideSpareBuffers spares;
  gint64 last_row_us;       /* as of the last maintenance */
  TideCounter *rows_mapped; /* an instance uses its template's */
  TideCounter *cells_coalesced;
  TideCounter *cells_conflicting;
  TideCounter *cells_overwritten;
} TideTableAccumulator;

/* @table: declared, or an instance of a dated table opened by the consumer: tide_regions_open(). The caller sets the
 * counters. */
TideTableAccumulator *tide_table_accumulator_new(const TideTableAccumulatorContext *context, const TideTable *table,
                                                 gint64 now_us);
void tide_table_accumulator_free(TideTableAccumulator *table); /* with its contents; NULL ok */

/* The lane of @key's region. */
TideLaneBuffer *tide_table_accumulator_find_lane(TideTableAccumulator *table, TideBytes key);

/* @batch of @lane is passed to the writers, or has come back. */
void tide_lane_buffer_add_in_flight(TideLaneBuffer *lane, TideBatch *batch);
void tide_lane_buffer_remove_in_flight(TideLaneBuffer *lane, TideBatch *batch);

/* Provides @lane with buffers for rows. */
TideRowBuffer *tide_table_accumulator_open_buffer(TideTableAccumulator *table, TideLaneBuffer *lane);
TideRowBuffer *tide_table_accumulator_open_solo(TideTableAccumulator *table, TideLaneBuffer *lane);

/* Returns the buffers of @lane, which has no rows, to the spare ones, unless the lane needs a large one. */
void tide_table_accumulator_close_buffers(TideTableAccumulator *table, TideLaneBuffer *lane);

/* Adopts a new map. Lanes of former regions retire: they take no rows, and new lanes that overlap them wait. */
void tide_table_accumulator_refresh_map(TideTableAccumulator *table);

/* Frees empty retired lanes, and the memory of lanes without recent rows. */
void tide_table_accumulator_run_maintenance(TideTableAccumulator *table, gint64 now_us);

/* While memory is short: frees memory of lanes without very recent rows. */
void tide_table_accumulator_give_memory_back(TideTableAccumulator *table, gint64 now_us);

/* Whether an instance of a dated table can be closed: nothing of it is left, and it had no row for an hour (a second if
 * @are_many are open). */
gboolean tide_table_accumulator_is_idle(const TideTableAccumulator *table, gboolean are_many, gint64 now_us);

/* Marks @lane of @table as having open rows. */
void tide_table_accumulator_activate(TideTableAccumulator *table, TideLaneBuffer *lane);

static inline gboolean
tide_lane_buffer_has_rows(const TideLaneBuffer *lane)
{
  return !tide_row_buffer_is_empty(lane->buffer) || !tide_row_buffer_is_empty(lane->solo);
}

/* Whether @batch blocks rows of other keys. Batches of solo rows, or with only suspects left, do not: other rows of
 * their keys wait for them, and suspects may be retried for minutes. */
static inline gboolean
tide_batch_blocks_its_lane(const TideBatch *batch)
{
  return !batch->is_solo && !tide_batch_has_suspects_only(batch);
}

/* TRUE while batches that block @lane are in flight. */
gboolean tide_lane_buffer_has_merged_in_flight(const TideLaneBuffer *lane);

/* Merged batches with only suspects left, of @lane and of overlapping old lanes. Returns: (transfer container)
 * (nullable) (element-type TideBatch): NULL if none. */
GPtrArray *tide_lane_buffer_find_suspect_batches(const TideLaneBuffer *lane);

/* TRUE while an overlapping old lane has rows that must be written before @lane's merged rows, or (@of_solo) before its
 * solo rows, which wait for all rows there, since these may have their keys. */
gboolean tide_lane_buffer_waits_for_predecessor(const TideLaneBuffer *lane, gboolean of_solo);

G_END_DECLS
