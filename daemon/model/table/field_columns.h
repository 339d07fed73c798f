/* Which columns the fields of a reading go to in one table: what its rules say, worked out once for each field that is
 * met. Of the mapper that owns it: one thread's only. */
#pragma once

#include "model/reading.h"
#include "model/table/column_set.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/* A rule with what follows from the table around it. */
typedef struct TideFieldRule {
  const TideColumnRule *declared; /* borrowed */
  TideBytes family;               /* borrowed */
  gint64 ttl_ms;                  /* a cell older than this could never be read; 0: none */
  TideSetColumn *packed_column;   /* with packing: of the one cell; NULL: made anew for each reading */
} TideFieldRule;

/* One column, or member of a packed cell, that a field or a made value goes to. */
typedef struct TideTarget TideTarget;
struct TideTarget {
  const TideFieldRule *rule;
  TideSetColumn *column;       /* with packing: stands for the member; NULL: made anew for each reading */
  TideBytes name;              /* the qualifier, before the rule's own changes it; of the member */
  const TideKeyText *value;    /* what makes the value; NULL: the field's */
  const TideUnitChange *units; /* borrowed; NULL: the value stays as it is */
  TideEncoding encoding;
  gboolean is_plain; /* a cell of its own, in a column that is always the same, with the text as received */
  TideTarget *next;  /* the same field's next; NULL: no more */
};

typedef struct TideFieldColumns {
  /* set at creation, then read-only */
  const TideTable *table; /* borrowed */
  GArray *key_fields;     /* owned (element-type TideNameId): see tide_table_key_fields() */
  TideFieldRule *rules;   /* owned */
  guint n_rules;
  TideTarget *computed;      /* in set: the values that are made, linked by next; NULL: none */
  gboolean has_packed_cells; /* a rule packs */
  gboolean has_cells;        /* a rule does not */

  TideColumnSet *set;   /* owned */
  TideTarget **by_name; /* owned; by name id: the field's targets, &none: it goes nowhere, NULL: not met yet */
  guint32 n_by_name;
  TideTarget none;
  TideBuffer name;      /* scratch */
  TideBuffer qualifier; /* scratch */
} TideFieldColumns;

/* @time_field: of the table's event time, or TIDE_NAME_NONE. */
TideFieldColumns *tide_field_columns_new(const TideTable *table, TideNameId time_field, TideWireProtocol protocol);
void tide_field_columns_free(TideFieldColumns *columns);

/* Slow path of tide_field_columns_of(): a field that was not met before, or that is not remembered. */
const TideTarget *tide_field_columns_meet(TideFieldColumns *columns, const TideField *field);

/* The first target of @field; &columns->none when it goes nowhere. Valid until the next message. */
static inline const TideTarget *
tide_field_columns_of(TideFieldColumns *columns, const TideField *field)
{
  const TideTarget *first = field->name_id < columns->n_by_name ? columns->by_name[field->name_id] : NULL;
  return G_LIKELY(first != NULL) ? first : tide_field_columns_meet(columns, field);
}

/* ---- of all readings of a shape ----
 *
 * Where each value is a cell of its own in a column that stays, nothing is asked of a field any more. */

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
