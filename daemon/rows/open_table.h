/* One table as one consumer has it open: its rows by lane, as regions come and go. What leaves when is decided in
 * open_lanes.c, which shares this with open_doubt.c and open_given_up.c alone.
 *
 * Threads: the owning consumer's only. */
#pragma once

#include "rows/heals.h"
#include "rows/row_set.h"
#include "rows/unsettled.h"
#include "write/regions.h"

G_BEGIN_DECLS

typedef struct TideOpenLane {
  TideLane *lane; /* ref */
  const TideTable *table;
  TideRowSet set;
  TideRowSet healing;      /* heals on their way into a batch; empty otherwise */
  TideRowSet unmerged;     /* rows of refused ones, each of one message */
  GPtrArray *on_the_way;   /* (element-type TideBatch) borrowed: the writers have them */
  GPtrArray *predecessors; /* (element-type TideOpenLane) borrowed; NULL: none. Old lanes that overlap this one */
  gboolean shares_key;     /* an open row's key is on its way; looked at again when something came home */
  gboolean unmerged_wait;  /* all unmerged rows wait for others of their keys; likewise */
  gboolean is_active;      /* in active */
  guint32 left_rows;       /* of set, that the last sealing had to leave: they fill no call ... */
  gsize left_bytes;        /* ... and what they take, encoded */
  gint64 last_seal_us;
  gint64 last_row_us;
} TideOpenLane;

/* What the lanes of one consumer have in common. */
typedef struct TideOpenTableContext {
  TideRegions *regions; /* borrowed */
  TideBudget *budgets;  /* borrowed: by table place */
  TideWireProtocol protocol;
  GPtrArray *active;                   /* (element-type TideOpenLane) borrowed: those with open rows, of all tables */
  TideBudget *doubt;                   /* borrowed: share for what tables hold of cells in doubt */
  const TideHealHandler *heal_handler; /* borrowed */
  gint64 settle_us;
  gint64 inherited_until_us; /* nothing inherited counts from then on */
  TideCounter *doubt_overflow;
  TideCounter *rows_given_up;
} TideOpenTableContext;

typedef struct TideOpenTable {
  const TideOpenTableContext *context; /* borrowed */
  const TideTable *table;
  TideBudget *budget;       /* borrowed: its share */
  TideRegionMap *map;       /* ref */
  TideOpenLane **lanes;     /* owned array of map->n_lanes; NULL until the first row */
  GPtrArray *retired;       /* owned (element-type TideOpenLane): of regions that are no more, until they are empty */
  TideUnsettled *unsettled; /* owned: cells in doubt */
  TideHeals *heals;         /* owned */
  GHashTable *held_keys;    /* owned: hash of a refused row's key -> its parts that are not sent again yet; until all
                             * are, no other row of that key is sealed: so offsets keep their order */
  gint64 last_row_us;       /* as of the last housekeeping */
  TideCounter *rows_mapped; /* those of an instance are its template's */
  TideCounter *cells_coalesced;
  TideCounter *cells_conflicting;
} TideOpenTable;

/* @table: declared, or an instance of a dated table that the consumer has opened: tide_regions_open(). The counters are
 * the caller's to set. */
TideOpenTable *tide_open_table_new(const TideOpenTableContext *context, const TideTable *table, gint64 now_us);
void tide_open_table_free(TideOpenTable *table); /* whatever it holds; NULL ok */

/* The lane of @key's region. */
TideOpenLane *tide_open_table_find_lane(TideOpenTable *table, TideBytes key);

/* Takes over a new map. Lanes of regions that are no more retire: they take no rows, and new ones that overlap them
 * wait. */
void tide_open_table_refresh_map(TideOpenTable *table);

/* Drops retired lanes that are empty, and the memory of lanes that had no row for a while. */
void tide_open_table_keep_house(TideOpenTable *table, gint64 now_us);

/* An instance of a dated table that had no row for an hour (where places are short: a second), and of which nothing is
 * left: it can be given up. */
gboolean tide_open_table_is_idle(const TideOpenTable *table, gboolean is_short, gint64 now_us);

/* So many parts more, or less, hold the key with that hash. */
void tide_open_table_hold_key(TideOpenTable *table, guint64 key_hash, gint32 n_parts);

static inline gboolean
tide_open_lane_has_rows(const TideOpenLane *lane)
{
  return !tide_row_set_is_empty(&lane->set) || !tide_row_set_is_empty(&lane->unmerged);
}

/* TRUE while rows of @lane are on their way that are not parts of refused ones. The keys of those parts are held, so
 * nothing else of theirs is sealed beside them: other rows need not wait while they are tried, which may take minutes.
 */
gboolean tide_open_lane_has_merged_on_the_way(const TideOpenLane *lane);

/* TRUE while an old lane that overlaps @lane has rows that must be written first. */
gboolean tide_open_lane_waits_for_predecessor(const TideOpenLane *lane);
/* The same for its unmerged rows: they wait for those of the old lane, and for what is on its way there. */
gboolean tide_open_lane_unmerged_wait_for_predecessor(const TideOpenLane *lane);

/* TRUE while a row with that key may be on its way in @lane, or is anywhere in a lane that has retired: what is sent
 * now could overtake it. */
gboolean tide_open_table_key_is_under_way(const TideOpenTable *table, const TideOpenLane *lane, guint64 key_hash);

G_END_DECLS
