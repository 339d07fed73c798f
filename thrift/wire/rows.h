/* Rows as they are asked for and answered: what requests are encoded from, and what replies are read into. */
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

/* Return FALSE to stop early. It must not call the same client: that would overwrite the reply it reads. */
typedef gboolean (*TideRowFunc)(const TideResultRow *row, gpointer data);

/* A column that is asked for. */
typedef struct TideColumnName {
  TideBytes family;
  TideBytes qualifier;   /* may be empty: a column's name too */
  gboolean whole_family; /* every column of the family; without qualifier */
} TideColumnName;

typedef struct TideScanRequest {
  TideBytes start_row;           /* inclusive; empty: from the table's start (or end, when reversed) */
  TideBytes stop_row;            /* exclusive; empty: to the end */
  const TideColumnName *columns; /* borrowed; none: all. A row without any of them is left out */
  gsize n_columns;
  gint64 min_time_ms; /* with max_time_ms: cell time range [min, max); both 0: none */
  gint64 max_time_ms;
  gint64 limit_rows;    /* 0: none */
  guint32 caching_rows; /* rows asked for in one call; 0: 500 */
  gint32 max_versions;  /* 0: 1 */
  gboolean reversed;
  TideBytes filter; /* in HBase's filter language, which leaves rows out at the region servers; empty: none. A call may
                     * have to pass over many rows then, until it has one */
} TideScanRequest;

/* Rows by their keys; all else as in TideScanRequest. */
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
