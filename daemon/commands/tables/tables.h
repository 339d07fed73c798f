/* `tidemark tables`: what it does with the tables that were chosen. */
#pragma once

#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/read/gateway_session.h"
#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

/* ---- create_tables.c ---- */

/* Of messages in the topic, of which split points are made. */
typedef struct TideSampleRequest {
  const char *topic;    /* NULL: the one that the configuration names */
  guint64 max_messages; /* from the earliest on */
  gint64 timeout_ms;    /* for reading them */
  guint32 regions;      /* 0: as many as each table declares */
} TideSampleRequest;

typedef struct TideCreateOptions {
  gboolean dry_run;         /* print the commands of HBase's shell instead */
  TideSampleRequest sample; /* with max_messages 0: no sample, only declared and computed split points */
} TideCreateOptions;

/* @tables: (element-type TideTable). Prints to standard output what became of each; why one was not created is told,
 * and in the call's failure_code. */
gboolean tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- show_tables.c ---- */

/* @tables: (element-type TideTable). Prints to standard output; the call's exit_code is FINDINGS when one is missing or
 * differs. */
gboolean tide_tables_show(TideCommandCall *call, const GPtrArray *tables, TideOutputFormat format,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Below a listing of tables: commands of HBase's shell that make them as declared. (element-type utf8) */
void tide_tables_print_remedies(const GPtrArray *remedies);

/* ---- table_state.c ---- */

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

/* What differs, parted by semicolons. (transfer full) */
char *tide_table_state_differences_text(const TideTableState *state);

G_END_DECLS
