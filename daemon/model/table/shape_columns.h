/* Which columns the fields of a reading go to in one table, worked out once for all readings of a shape: where each
 * value is a cell of its own in a column that stays, nothing is asked of a field any more. Of the mapper that owns it:
 * one thread's only. */
#pragma once

#include "model/table/field_columns.h"

G_BEGIN_DECLS

/* A cell of a reading of the shape. What is read for each of them lies together, in their order: a hundred columns and
 * their names, each where it was met, would drive the reading itself out of the nearest cache. */
typedef struct TideShapeCell {
  const TideColumn *column; /* borrowed from the mapper's set, which keeps it */
  guint32 field;            /* its place in the reading */
  guint32 prefix_len;       /* of the column's prefix, in prefixes */
} TideShapeCell;

/* Zero-initialised is empty and valid. */
typedef struct TideShapeColumns {
  guint64 serial;       /* of the shape that was looked at; 0: none */
  guint32 n;            /* cells; 0: readings of the shape are mapped field by field */
  guint64 id;           /* see TideRow.columns_id */
  guint64 unlike;       /* another table's id, whose columns are known to be others; 0 */
  TideShapeCell *cells; /* owned */
  TideBuffer prefixes;  /* the cells' columns as wire bytes, one behind the other */
  gsize overhead_bytes; /* of the cells, encoded, at the most, without their values */
  gsize max_name_bytes; /* family and qualifier of one of them, at the most */
} TideShapeColumns;

void tide_shape_columns_clear(TideShapeColumns *shape);

/**
 * tide_shape_columns_learn: after the row of @reading was made, which has a shape.
 * Where not all of its fields are plain, or the table has cells besides them, the shape is mapped field by field.
 */
void tide_shape_columns_learn(TideShapeColumns *shape, TideFieldColumns *columns, const TideReading *reading);

/* Whether the cells of @shape are those of @other, which is another table's: then it takes over its id. */
gboolean tide_shape_columns_join(TideShapeColumns *shape, const TideShapeColumns *other);

G_END_DECLS
