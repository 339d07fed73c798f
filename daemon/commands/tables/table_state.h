/* What a table is in HBase, compared to what the configuration declares. For `tables` and `check`. */
#pragma once

#include "commands/read/gateway_session.h"
#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

typedef struct TideTableState {
  gboolean exists;
  TideTableDescription *description;  /* owned; NULL when it does not exist */
  GPtrArray *regions;                 /* owned (element-type TideRegion) */
  TideFingerprintFinding fingerprint; /* of a table that exists: what is stored of its key, beside what is declared */
  TideFingerprintLocation fingerprint_location; /* where the declared one is, or will be, kept */
  GPtrArray *differences; /* owned (element-type utf8): sentences without full stop; a missing table has none */
  GPtrArray *remedies;    /* owned (element-type utf8): commands of HBase's shell, for some of the differences */
} TideTableState;

/* Errors: those of the calls. */
TideTableState *tide_table_state_read(TideGatewaySession *session, const TideConfig *config, const TideTable *table,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_table_state_free(TideTableState *state); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableState, tide_table_state_free)

/* Fills differences and remedies of @state, whose other parts are there. Pure.
 * @declared: what @table would be created as: see declared_table.h */
void tide_table_state_compare(TideTableState *state, const TideTable *table, const TideTableDescription *declared);

/* Those of @table's declared split points that are no region boundary of @regions. (transfer container) (element-type
 * TideBytes): borrowed from @table */
GArray *tide_table_state_missing_splits(const TideTable *table, const GPtrArray *regions);

/* Says of the first family that HBase keeps its cells for less long than @table declares, or declares none: the
 * comparison leaves out what is not declared, but this decides what "written" is worth. NULL: none. (transfer full) */
char *tide_table_state_undeclared_ttl(const TideTableState *state, const TideTable *table);

G_END_DECLS
