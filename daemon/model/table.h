/* A table as it is declared: key, columns, latest mode, and how tidemark creates it. Compiled when the configuration is
 * loaded, then read-only and shared by all threads. */
#pragma once

#include "model/row_key.h"
#include "thrift/hbase_client.h"

G_BEGIN_DECLS

typedef enum TideLatestMode {
  TIDE_LATEST_NONE,  /* a data table: every row is written */
  TIDE_LATEST_MERGE, /* the newest of each cell; rows of one key are coalesced before they are sent */
} TideLatestMode;

typedef enum TideNullPolicy { TIDE_NULL_SKIP, TIDE_NULL_EMPTY, TIDE_NULL_REJECT } TideNullPolicy;

/* One entry of `columns`: which fields go to which family. */
typedef struct TideColumnRule {
  char *family;      /* owned */
  gboolean all_remaining; /* from: "*": every field that no other rule of the table and (unless with_key_fields) no key or
                           * time part uses */
  gboolean with_key_fields;
  TideNameId *fields;  /* owned; else exactly these ... */
  char **qualifiers;   /* owned, n_fields; ... under these names, NULL: the field's own */
  gsize n_fields;
  TideNullPolicy nulls;
} TideColumnRule;

typedef struct TideTable {
  guint32 index;       /* in TideConfig.tables */
  char *name;          /* owned: "TABLE" or "ns:TABLE" */
  guint line;          /* of its declaration, for messages */
  TideRowKey *key;     /* owned */
  TideLatestMode latest;
  GArray *rules;       /* owned (element-type TideColumnRule) */
  gint64 ttl_ms;       /* 0: none; per row `_ttl` */
  guint32 lane_prefix_bytes; /* rows are laned by this many leading key bytes while the regions are unknown; 0: one lane */
  GPtrArray *families; /* owned (element-type TideFamilySettings): how `tables create` makes them */
  GArray *splits;      /* owned (element-type TideBytes): declared or computed split points */
} TideTable;

void tide_table_free(TideTable *table);

/* The fields whose value stands in the key, and @time_field (or TIDE_NAME_NONE): what a cell would only repeat. A field that
 * is only hashed is not among them: its value would be lost. (element-type TideNameId) (transfer full) */
GArray *tide_table_key_fields(const TideTable *table, TideNameId time_field);

G_END_DECLS
