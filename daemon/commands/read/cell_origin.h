/* Which field a cell was made of, and of which kind its value was: what a row needs to be read again as the reading
 * that it is of (mapping/scanned_rows.h). Pure. Threads: any. */
#pragma once

#include "model/table/table.h"

G_BEGIN_DECLS

/* How one column of a table is declared. NULL item: by its rule alone. */
typedef struct TideDeclaredColumn {
  const TideColumnRule *rule; /* NULL: no rule makes such a column */
  const TideColumnItem *item;
} TideDeclaredColumn;

/* Of a shown cell, in a table that does not say it by the cell itself: which it is. */
typedef struct TideCellOrigin {
  TideBytes field;  /* the name of the field it was made of; empty: of none that can be told */
  const char *kind; /* of the value; NULL: the table does not keep it */
} TideCellOrigin;

/* Whether names of fields do not say themselves by their qualifiers. */
gboolean tide_table_renames_fields(const TideTable *table);

/* Whether a cell, or what is packed in one, keeps the kind of its value, or need not look as it is declared. */
gboolean tide_table_keeps_kinds(const TideTable *table);

/* The name of the field of which @column made @qualifier; of a packed cell: of which it made the member so called.
 * Empty: of none that can be told. Appended to @scratch, or borrowed from the declarations or @qualifier. */
TideBytes tide_cell_origin_field(TideDeclaredColumn column, const TideFieldNames *names, TideBytes qualifier,
                                 TideBuffer *scratch);

/* Of a cell that does not look as it is declared: nothing else makes it again. */
#define TIDE_KIND_AS_STORED "stored"

/* "string", "number", "bool", "null", "json". */
const char *tide_value_kind_name(TideValueKind kind);

G_END_DECLS
