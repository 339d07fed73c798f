/* One table of the fake HBase: its rows, cells and regions. Used by fake_hbase.c alone, under its lock. */
#pragma once

#include "fault/gateway/fake_hbase.h"

G_BEGIN_DECLS

typedef struct TideFakeStoredCell {
  const char *family;  /* the table's */
  TideBytes qualifier; /* owned, together with the value */
  TideBytes value;
  gint64 timestamp_ms;
  gint64 ttl_ms; /* 0: none */
} TideFakeStoredCell;

/* What a delete leaves. */
typedef struct TideFakeMarker {
  const char *family; /* the table's */
  gint64 to_ms;
} TideFakeMarker;

typedef struct TideFakeStoredRow {
  TideBytes key;   /* owned */
  GArray *cells;   /* owned (element-type TideFakeStoredCell); by family, qualifier, newest first */
  GArray *markers; /* owned (element-type TideFakeMarker) */
} TideFakeStoredRow;

typedef struct TideFakeLiveRegion {
  TideFakeRegion region;
  guint flights; /* put calls under way that touch it */
} TideFakeLiveRegion;

typedef struct TideFakeTable {
  TideFakeTableSpec *spec; /* owned */
  GTree *rows;             /* owned (element-type TideFakeStoredRow), by key */
  guint64 n_cells;
  gboolean enabled;
  GPtrArray *regions; /* owned (element-type TideFakeLiveRegion); online, by start key */
  GPtrArray *parents; /* owned (element-type TideFakeLiveRegion); split, still counted by flights under way */
  gint32 n_replicas;
  gint64 next_region_id;
  GHashTable *row_flights; /* owned: GBytes -> number of put calls under way that touch the row */
  guint max_region_flights;
  guint max_row_flights;
} TideFakeTable;

TideFakeTable *fake_table_new(TideFakeTableSpec *spec, const TideBytes *splits, guint n_splits); /* takes @spec */
void fake_table_free(TideFakeTable *table);

/* The table's own copy of the family's name; NULL when it has no such family. */
const char *fake_table_family(const TideFakeTable *table, TideBytes name);

/* The row's cells, made when it has none. */
TideFakeStoredRow *fake_table_row(TideFakeTable *table, TideBytes key);
TideFakeStoredRow *fake_table_find_row(const TideFakeTable *table, TideBytes key);
void fake_table_write(TideFakeTable *table, TideFakeStoredRow *row, const char *family, const TideFakeCell *cell,
                      gint64 ttl_ms);

void fake_table_delete(TideFakeStoredRow *row, const char *family, gint64 to_ms);
gboolean fake_table_is_deleted(const TideFakeStoredRow *row, const TideFakeStoredCell *cell);
/* Drops what markers hide, then the markers of before @keep_from_ms, then rows of which nothing is left. */
void fake_table_compact(TideFakeTable *table, gint64 keep_from_ms);

/* Appends the cells of @row that @query sees at @now_ms to @cells (element-type TideFakeCell, borrowed). */
void fake_table_visible_cells(const TideFakeTable *table, const TideFakeStoredRow *row, const TideFakeQuery *query,
                              gint64 now_ms, GArray *cells);

/* The first node of a scan, and the one after @node in its direction; NULL at its end. */
GTreeNode *fake_table_scan_first(const TideFakeTable *table, const TideFakeQuery *query);
GTreeNode *fake_table_scan_next(GTreeNode *node, const TideFakeQuery *query);

TideFakeLiveRegion *fake_table_region_of(const TideFakeTable *table, TideBytes key);
void fake_table_split(TideFakeTable *table, TideBytes key, gboolean list_parent);
void fake_table_merge(TideFakeTable *table, TideBytes key);     /* its region with the next */
GPtrArray *fake_table_list_regions(const TideFakeTable *table); /* (element-type TideFakeRegion), all owned copies */

G_END_DECLS
