/* Columns in memory of their own, at addresses that stay: made once for each column that a mapper meets. */
#pragma once

#include "model/row.h"
#include "thrift/wire.h"

G_BEGIN_DECLS

typedef struct TideColumnSet TideColumnSet;

TideColumnSet *tide_column_set_new(TideWireProtocol protocol);
void tide_column_set_free(TideColumnSet *set);

/* Fills @ret_column for @family and @qualifier, which are copied; its bytes are valid until the set is reset
 * or freed. */
void tide_column_set_make(TideColumnSet *set, TideBytes family, TideBytes qualifier, TideColumn *ret_column);

/* @n_bytes of the set's memory, aligned for any object; valid as above. */
gpointer tide_column_set_allocate(TideColumnSet *set, gsize n_bytes);

/* Forgets all columns and keeps the memory. */
void tide_column_set_reset(TideColumnSet *set);

G_END_DECLS
