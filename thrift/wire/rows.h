/* Rows as requested and as returned: the input of request encoders and the output of reply readers. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* One cell of a result; the bytes are borrowed from the reply's buffer. */
typedef struct TideResultCell {
  TideBytes family;
  TideBytes qualifier;
  TideBytes value;
  gint64 timestamp_ms;
} TideResultCell;

/* One row of a result, borrowed: valid only inside the callback. */
typedef struct TideResultRow {
  TideBytes row;
  const TideResultCell *cells;
  gsize n_cells;
} TideResultRow;

/* Return FALSE to stop early. The callback must not call the same client: that would overwrite the reply being read. */
typedef gboolean (*TideRowFunc)(const TideResultRow *row, gpointer data);

/* A requested column. */
typedef struct TideColumnName {
  TideBytes family;
  TideBytes qualifier;   /* may be empty, which is a valid column name */
  gboolean whole_family; /* every column of the family; without qualifier */
} TideColumnName;

typedef struct TideScanRequest {
  TideBytes start_row;           /* inclusive; empty: from the table's start (or end, when reversed) */
  TideBytes stop_row;            /* exclusive; empty: to the end */
  const TideColumnName *columns; /* borrowed; none: all. Rows without any of them are omitted */
  gsize n_columns;
  gint64 min_time_ms; /* with max_time_ms: cell time range [min, max); both 0: none */
  gint64 max_time_ms;
  gint64 limit_rows;    /* 0: none */
  guint32 caching_rows; /* rows per call; 0: 500 */
  gint32 max_versions;  /* 0: 1 */
  gboolean reversed;
  TideBytes filter; /* in HBase's filter language, evaluated by the region servers; empty: none. A call may then skip
                     * many rows before it returns one */
} TideScanRequest;

/* Selects rows by their keys; otherwise as TideScanRequest. */
typedef struct TideGetRequest {
  const TideBytes *rows; /* borrowed */
  gsize n_rows;
  const TideColumnName *columns;
  gsize n_columns;
  gint64 min_time_ms;
  gint64 max_time_ms;
  gint32 max_versions; /* 0: 1 */
} TideGetRequest;

G_END_DECLS
