/* Maps the fields of a reading to the columns of one table. The rules are evaluated only once for each field. Belongs
 * to a mapper, so to one thread. */
#pragma once

#include "model/reading.h"
#include "model/table/column_set.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/* A rule with the consequences of its table. */
typedef struct TideFieldRule {
  const TideColumnRule *declared; /* borrowed */
  TideBytes family;               /* borrowed */
  gint64 ttl_ms;                  /* older cells could never be read; 0: none */
  TideSetColumn *packed_column;   /* with packing: the column of the cell; NULL: built for each reading */
} TideFieldRule;

/* The column, or the member of a packed cell, for a field or a computed value. */
typedef struct TideTarget TideTarget;
struct TideTarget {
  const TideFieldRule *rule;
  TideSetColumn *column;       /* with packing: represents the member; NULL: built for each reading */
  TideBytes name;              /* the qualifier before the rule's changes, or the name of the member */
  const TideKeyText *value;    /* computes the value; NULL: the value of the field */
  const TideUnitChange *units; /* borrowed; NULL: the value is not converted */
  TideEncoding encoding;
  gboolean is_plain; /* a separate cell in a constant column, with the text as received */
  TideTarget *next;  /* the field's next target; NULL: none */
};

typedef struct TideFieldColumns {
  /* set at creation, then read-only */
  const TideTable *table; /* borrowed */
  GArray *key_fields;     /* owned (element-type TideNameId): see tide_table_key_fields() */
  TideFieldRule *rules;   /* owned */
  guint n_rules;
  TideTarget *computed;      /* in set: targets of computed values, linked by next; NULL: none */
  gboolean has_packed_cells; /* a rule packs its fields */
  gboolean has_cells;        /* a rule does not pack its fields */

  TideColumnSet *set;   /* owned */
  TideTarget **by_name; /* owned; by name id: the field's first target; &none: no column; NULL: not seen yet */
  guint32 n_by_name;
  TideTarget none;
  TideBuffer name;      /* scratch */
  TideBuffer qualifier; /* scratch */
} TideFieldColumns;

/* @time_field: of the table's event time, or TIDE_NAME_NONE. */
TideFieldColumns *tide_field_columns_new(const TideTable *table, TideNameId time_field, TideWireProtocol protocol);
void tide_field_columns_free(TideFieldColumns *columns);

/* Slow path of tide_field_columns_of(), for a field that is new or not cached. */
const TideTarget *tide_field_columns_meet(TideFieldColumns *columns, const TideField *field);

/* The first target of @field; &columns->none: it has no column. Valid until the next message. */
static inline const TideTarget *
tide_field_columns_of(TideFieldColumns *columns, const TideField *field)
{
  const TideTarget *first = field->name_id < columns->n_by_name ? columns->by_name[field->name_id] : NULL;
  return G_LIKELY(first != NULL) ? first : tide_field_columns_meet(columns, field);
}

/* ---- readings of one shape ----
 *
 * If each value is a separate cell in a permanent column, fields need no lookup. */

/* A cell of a reading with the shape. The data that is read for each cell is contiguous and in order: a hundred
 * scattered columns and names would evict the reading itself from the nearest cache. */
typedef struct TideShapeCell {
  const TideColumn *column; /* borrowed from the mapper's set, which keeps it */
  guint32 field;            /* index in the reading */
  guint32 prefix_len;       /* of the column's prefix, in prefixes */
} TideShapeCell;

/* Zero-initialised is empty and valid. */
typedef struct TideShapeColumns {
  guint64 serial;       /* of the learned shape; 0: none */
  guint32 n;            /* cells; 0: readings of the shape are mapped field by field */
  guint64 id;           /* see TideRow.columns_id */
  guint64 unlike;       /* the id of another table whose columns are known to differ; 0: none */
  TideShapeCell *cells; /* owned */
  TideBuffer prefixes;  /* the cells' columns as wire bytes, in sequence */
  gsize overhead_bytes; /* maximum encoded size of the cells without their values */
  gsize max_name_bytes; /* maximum size of family and qualifier of a cell */
} TideShapeColumns;

void tide_shape_columns_clear(TideShapeColumns *shape);

/**
 * tide_shape_columns_learn: learn the shape of @reading, whose row was built. If not all of its fields are plain, or
 * the table has other cells, the shape is mapped field by field.
 */
void tide_shape_columns_learn(TideShapeColumns *shape, TideFieldColumns *columns, const TideReading *reading);

/* Whether the cells of @shape equal those of @other, a shape of another table. If so, @shape adopts its id. */
gboolean tide_shape_columns_join(TideShapeColumns *shape, const TideShapeColumns *other);

G_END_DECLS
