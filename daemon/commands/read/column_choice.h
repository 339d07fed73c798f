/* The columns chosen for output: each QUALIFIER or FAMILY:QUALIFIER, with bytes as \xHH. A qualifier may contain
 * colons, so a name with a colon can mean both. HBase is asked for the chosen columns only, so it sends no other
 * cells. */
#pragma once

#include "model/table/table.h"
#include "thrift/wire/rows.h"

G_BEGIN_DECLS

typedef struct TideColumnChoice TideColumnChoice;

/**
 * tide_column_choice_new: @texts (element-type utf8), borrowed for the choice's lifetime. If empty, every column is
 * chosen.
 * @table: defines the families and packed columns; borrowed for the call. NULL: no request to HBase is needed
 * @as_stored: names refer to stored cells, not to their packed members
 */
TideColumnChoice *tide_column_choice_new(const TideTable *table, const GPtrArray *texts, gboolean as_stored);
void tide_column_choice_free(TideColumnChoice *choice); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideColumnChoice, tide_column_choice_free)

gsize tide_column_choice_count(const TideColumnChoice *choice);
const char *tide_column_choice_text(const TideColumnChoice *choice, gsize i); /* as given */

/* TRUE if choice @i, or any choice, matches the cell (the latter also without choices). */
gboolean tide_column_choice_is(const TideColumnChoice *choice, gsize i, TideBytes family, TideBytes qualifier);
gboolean tide_column_choice_takes(const TideColumnChoice *choice, TideBytes family, TideBytes qualifier);

/* The columns to request from HBase: each that may match, and each that may contain a match. None: all. Borrowed. */
const TideColumnName *tide_column_choice_asked(const TideColumnChoice *choice, gsize *ret_n_columns);

G_END_DECLS
