/* One row as `explain` shows it: where each byte of its key comes from, its cells as they are stored and as they are
 * read back, what it deletes and waits for, its size, its region, and what to know of it. */
#pragma once

#include "commands/explain/row_advice.h"
#include "commands/read/cell_reader.h"
#include "config/config.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

typedef struct TideExplainedRow {
  const TideConfig *config;
  const TideFieldNames *names;
  const TideReading *reading; /* with the row's event time */
  const TideRow *row;
  const TideRow *rows;       /* all of the message: which one this follows */
  gint64 expired_ttl_ms;     /* of the cells that it is written without; 0: it has all */
  TideCellReader *reader;    /* of its table */
  const TideRegion *region;  /* NULL: not asked for, or not known */
  const GPtrArray *warnings; /* (element-type utf8): of the table's declaration */
  const GPtrArray *notes;    /* the same: what may be as it is meant */
  TideWireProtocol protocol; /* of the size */
} TideExplainedRow;

/* Several lines, indented below the message's. (transfer full) */
char *tide_explained_row_text(const TideExplainedRow *explained);

/* The members of a JSON object, which is open at the end of @text. */
void tide_explained_row_json(const TideExplainedRow *explained, TideBuffer *text);

/* The region of @regions (element-type TideRegion, in order) that holds @key; NULL when there is none. */
const TideRegion *tide_region_of_key(const GPtrArray *regions, TideBytes key);

G_END_DECLS
