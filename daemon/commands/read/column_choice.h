/* The columns that somebody wants to see: each QUALIFIER or FAMILY:QUALIFIER, with bytes as \xHH. A qualifier may hold
 * colons itself, so both are meant where both can be. What is chosen is asked of HBase, so that no other cell is sent.
 */
#pragma once

#include "model/table/table.h"
#include "thrift/wire/rows.h"

G_BEGIN_DECLS

typedef struct TideColumnChoice TideColumnChoice;

/**
 * tide_column_choice_new: @texts (element-type utf8), borrowed for the choice's life. None of them: every column is
 * chosen.
 * @table: whose families and packed columns they may be in; borrowed for the call. NULL: nothing is asked of HBase
 * @as_stored: names are those of stored cells, not of what is packed in them
 */
TideColumnChoice *tide_column_choice_new(const TideTable *table, const GPtrArray *texts, gboolean as_stored);
void tide_column_choice_free(TideColumnChoice *choice); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideColumnChoice, tide_column_choice_free)

gsize tide_column_choice_count(const TideColumnChoice *choice);
const char *tide_column_choice_text(const TideColumnChoice *choice, gsize i); /* as it was given */

/* Whether a cell is the one that choice @i means; whether it is any of them (TRUE without choices). */
gboolean tide_column_choice_is(const TideColumnChoice *choice, gsize i, TideBytes family, TideBytes qualifier);
gboolean tide_column_choice_takes(const TideColumnChoice *choice, TideBytes family, TideBytes qualifier);

/* What to ask of HBase: each column that may be meant, and each that may hold one that is meant. None: all. Borrowed.
 */
const TideColumnName *tide_column_choice_asked(const TideColumnChoice *choice, gsize *ret_n_columns);

G_END_DECLS
