/* One table as one consumer has it open: its rows by lane, as regions come and go. What leaves when is decided in
 * accumulator.c, which shares this with rows_in_doubt.c alone.
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
  /* lent by the table (spare_buffers.h), or none of its own */
  TideRowBuffer *buffer;
  TideRowBuffer *solo;   /* rows of solo keys, each of one message */
  TideBatch *on_the_way; /* borrowed, linked by lane_next: the writers have them */
  guint n_on_the_way;
  GPtrArray *predecessors;     /* (element-type TideLaneBuffer) borrowed; NULL: none. Old lanes that overlap this one */
  gboolean shares_key;         /* an open row's key is on its way; looked at again when something completed */
  gboolean solo_freed;         /* something completed since solo rows were sealed last ... */
  guint32 solo_left;           /* ... which left so many that wait for others of their keys ... */
  gint64 solo_sealed_us;       /* ... and that was then */
  gboolean waits_for_suspects; /* rows were left at last_seal_us, whose keys have suspects on their way */
  gboolean is_active;          /* in active */
  gint64 last_seal_us;
  gint64 last_row_us;
} TideLaneBuffer;

/* What the lanes of one consumer have in common. */
typedef struct TideTableAccumulatorContext {
  TideRegions *regions; /* borrowed */
  TideBudget *budgets;  /* borrowed: by table slot */
  TideWireProtocol protocol;
  GPtrArray *active; /* (element-type TideLaneBuffer) borrowed: those with open rows, of all tables */
  TideBudget *doubt; /* borrowed: share for what tables hold of cells in doubt */
  gint64 settle_us;
  TideCounter *doubt_overflow;
  TideCounter *rows_given_up;
} TideTableAccumulatorContext;

typedef struct TideTableAccumulator {
  const TideTableAccumulatorContext *context; /* borrowed */
  const TideTable *table;
  TideBudget *budget;     /* borrowed: its share */
  TideRegionMap *map;     /* ref */
  TideLaneBuffer **lanes; /* owned array of map->n_lanes; NULL until the first row */
  GPtrArray *retired;     /* owned (element-type TideLaneBuffer): of regions that are no more, until they are empty */
  TideCellsInDoubt *in_doubt; /* owned: cells in doubt */
  GHashTable *contested;      /* owned: rows_in_doubt.c: contested cells by what they are found by */
  GSequence *contested_rows;  /* owned: likewise: their rows, by when their doubt is over */
  TideSoloKeys solo_keys;
  TideSpareBuffers spares;
  gint64 last_row_us;       /* as of the last housekeeping */
  TideCounter *rows_mapped; /* those of an instance are its template's */
  TideCounter *cells_coalesced;
  TideCounter *cells_conflicting;
  TideCounter *cells_overwritten;
} TideTableAccumulator;

/* @table: declared, or an instance of a dated table that the consumer has opened: tide_regions_open(). The counters
 * are the caller's to set. */
TideTableAccumulator *tide_table_accumulator_new(const TideTableAccumulatorContext *context, const TideTable *table,
                                                 gint64 now_us);
void tide_table_accumulator_free(TideTableAccumulator *table); /* whatever it holds; NULL ok */

/* The lane of @key's region. */
TideLaneBuffer *tide_table_accumulator_find_lane(TideTableAccumulator *table, TideBytes key);

/* @batch of @lane goes to the writers; it has come back. */
void tide_lane_buffer_add_on_the_way(TideLaneBuffer *lane, TideBatch *batch);
void tide_lane_buffer_remove_on_the_way(TideLaneBuffer *lane, TideBatch *batch);

/* @lane is to have rows: its buffers for them. */
TideRowBuffer *tide_table_accumulator_open_buffer(TideTableAccumulator *table, TideLaneBuffer *lane);
TideRowBuffer *tide_table_accumulator_open_solo(TideTableAccumulator *table, TideLaneBuffer *lane);

/* @lane has no rows. Its buffers go to lanes that have, but for that of a lane that needs much. */
void tide_table_accumulator_close_buffers(TideTableAccumulator *table, TideLaneBuffer *lane);

/* Takes over a new map. Lanes of regions that are no more retire: they take no rows, and new ones that overlap them
 * wait. */
void tide_table_accumulator_refresh_map(TideTableAccumulator *table);

/* Drops retired lanes that are empty, and the memory of lanes that had no row for a while. */
void tide_table_accumulator_keep_house(TideTableAccumulator *table, gint64 now_us);

/* Memory is short: drops that of lanes that had no row lately, however short a while that is. */
void tide_table_accumulator_give_memory_back(TideTableAccumulator *table, gint64 now_us);

/* An instance of a dated table that had no row for an hour (a second where @are_many are open), and of which nothing is
 * left: it can be given up. */
gboolean tide_table_accumulator_is_idle(const TideTableAccumulator *table, gboolean are_many, gint64 now_us);

/* @lane of @table has open rows. */
void tide_table_accumulator_activate(TideTableAccumulator *table, TideLaneBuffer *lane);

static inline gboolean
tide_lane_buffer_has_rows(const TideLaneBuffer *lane)
{
  return !tide_row_buffer_is_empty(lane->buffer) || !tide_row_buffer_is_empty(lane->solo);
}

/* Whether @batch is neither of solo rows nor of suspects that are left alone. Beside those no other row of their keys
 * is sealed, so the rows of other keys need not wait for them, which may be tried for minutes. */
static inline gboolean
tide_batch_holds_its_lane(const TideBatch *batch)
{
  return !batch->is_unmerged && !tide_batch_has_suspects_only(batch);
}

/* TRUE while batches that hold @lane are on their way. */
gboolean tide_lane_buffer_has_merged_on_the_way(const TideLaneBuffer *lane);

/* Merged batches, of @lane and of old lanes that overlap it, of which only suspects are left. Returns: (transfer
 * container) (nullable) (element-type TideBatch): NULL when there are none. */
GPtrArray *tide_lane_buffer_find_suspect_batches(const TideLaneBuffer *lane);

/* TRUE while an old lane that overlaps @lane has rows that must be written before its merged rows, or (@of_solo) before
 * its solo ones: those wait for all that is there, which may be of their keys. */
gboolean tide_lane_buffer_waits_for_predecessor(const TideLaneBuffer *lane, gboolean of_solo);

G_END_DECLS
