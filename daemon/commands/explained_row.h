/* One row as `explain` shows it: where each byte of its key comes from, its cells, its size in a call, its region. */
#pragma once

#include "config/config.h"
#include "model/row.h"

G_BEGIN_DECLS

typedef struct TideExplainedRow {
  const TideConfig *config;
  const TideFieldNames *names;
  const TideReading *reading;
  const TideRow *row;
  const TideRegion *region;  /* NULL: not asked for, or not known */
  TideWireProtocol protocol; /* of the size */
} TideExplainedRow;

/* Several lines, indented below the message's. (transfer full) */
char *tide_explained_row_text(const TideExplainedRow *explained);

/* One JSON object with its line end. @line: of the message in the input, from 1. (transfer full) */
char *tide_explained_row_json(const TideExplainedRow *explained, guint64 line);

/* The bytes that the row takes in a call. */
gsize tide_explained_row_size(const TideRow *row, TideWireProtocol protocol);

/* The region of @regions (element-type TideRegion, in order) that holds @key; NULL when there is none. */
const TideRegion *tide_region_of_key(const GPtrArray *regions, TideBytes key);

G_END_DECLS
