/* What a table is in HBase, compared to what the configuration declares. For `tables` and `check`. */
#pragma once

#include "commands/gateway_session.h"

G_BEGIN_DECLS

typedef struct TideTableState {
  gboolean exists;
  TideTableDescription *description; /* owned; NULL when it does not exist */
  GPtrArray *regions;                /* owned (element-type TideRegion) */
  GPtrArray *differences; /* owned (element-type utf8): sentences without full stop; a missing table has none */
  GPtrArray *remedies;    /* owned (element-type utf8): commands of HBase's shell, for some of the differences */
} TideTableState;

/* Errors: those of the calls. */
TideTableState *tide_table_state_read(TideGatewaySession *session, const TideTable *table,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_table_state_free(TideTableState *state); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableState, tide_table_state_free)

/* Fills differences and remedies of @state, whose other parts are there. Pure. */
void tide_table_state_compare(TideTableState *state, const TideTable *table);

/* Of @table's declared split points, how many are no region boundary of @regions. */
guint tide_table_state_missing_splits(const TideTable *table, const GPtrArray *regions);

/* Settings in the words of HBase's shell: "GZ", "ROW", "FAST_DIFF". NULL for the default, or what is not known. */
const char *tide_compression_name(int compression);
const char *tide_bloom_filter_name(int bloom_filter);
const char *tide_block_encoding_name(int block_encoding);

G_END_DECLS
