/* `tidemark tables`: creating and comparing the chosen tables. */
#pragma once

#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/read/gateway_session.h"
#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

/* ---- create_tables.c ---- */

/* The messages in the topic from which split points are computed. */
typedef struct TideSampleRequest {
  const char *topic;    /* NULL: the configured one */
  guint64 max_messages; /* starting with the earliest */
  gint64 timeout_ms;    /* for reading them */
  guint32 regions;      /* 0: as many as each table declares */
} TideSampleRequest;

typedef struct TideCreateOptions {
  gboolean dry_run;         /* only print the commands of HBase's shell */
  TideSampleRequest sample; /* with max_messages 0: no sample, only declared and computed split points */
} TideCreateOptions;

/* @tables: (element-type TideTable). Prints the result for each on standard output; reports why one was not created,
 * also in the call's failure_code. */
gboolean tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- show_tables.c ---- */

/* @tables: (element-type TideTable). Prints on standard output; the call's exit_code is FINDINGS if one is missing or
 * differs. */
gboolean tide_tables_show(TideCommandCall *call, const GPtrArray *tables, TideOutputFormat format,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Prints, below a listing of tables, the commands of HBase's shell that change them to their declaration. (element-type
 * utf8) */
void tide_tables_print_remedies(const GPtrArray *remedies);

/* ---- table_state.c ---- */

typedef struct TideTableState {
  gboolean exists;
  TideTableDescription *description;  /* owned; NULL when it does not exist */
  GPtrArray *regions;                 /* owned (element-type TideRegion) */
  TideFingerprintFinding fingerprint; /* for an existing table: the stored key compared with the declared one */
  TideFingerprintLocation fingerprint_location; /* where the declared one is, or will be, stored */
  GPtrArray *differences; /* owned (element-type utf8): sentences without full stop; a missing table has none */
  GPtrArray *remedies;    /* owned (element-type utf8): commands of HBase's shell, for some of the differences */
} TideTableState;

/* Errors: those of the calls. */
TideTableState *tide_table_state_read(TideGatewaySession *session, const TideConfig *config, const TideTable *table,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_table_state_free(TideTableState *state); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableState, tide_table_state_free)

/* Fills differences and remedies of @state, whose other parts must be set. Pure. @declared: the description with which
 * @table would be created: see declared_table.h */
void tide_table_state_compare(TideTableState *state, const TideTable *table, const TideTableDescription *declared);

/* @table's declared split points that are not region boundaries of @regions. (transfer container) (element-type
 * TideBytes): borrowed from @table */
GArray *tide_table_state_missing_splits(const TideTable *table, const GPtrArray *regions);

/* Describes the first family whose TTL in HBase is shorter than @table declares, or is not declared. The comparison
 * skips undeclared settings, but this one determines how long "written" cells exist. NULL: none. (transfer full) */
char *tide_table_state_undeclared_ttl(const TideTableState *state, const TideTable *table);

/* The differences, separated by semicolons. (transfer full) */
char *tide_table_state_differences_text(const TideTableState *state);

G_END_DECLS
