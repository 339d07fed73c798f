/* A declared table in the forms that create it: a description for the gateway, and HBase shell commands for gateways
 * that cannot create it and operators who prefer them. Both store the key fingerprint as an attribute:
 * fingerprint_store.h. */
#pragma once

#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

/* Includes families, key fingerprint and other attributes; @names: the configuration's. (transfer full) */
TideTableDescription *tide_declared_table_describe(const TideTable *table, const TideFieldNames *names);

/* "create 'ns:T', {NAME => 'M', …}, METADATA => {…}, SPLITS => […]", preceded by a line that creates the namespace if
 * the table has one. (transfer full) */
char *tide_declared_table_create_command(const TideTable *table, const TideFieldNames *names);

/* HBase's setting for how long deletes survive major compactions, in milliseconds. Without it a compaction forgets that
 * a row was deleted, and a late reading would restore it. */
#define TIDE_PURGE_DELETES_ATTRIBUTE "hbase.hstore.time.to.purge.deletes"

/* TRUE if it has split points, or an attribute that its writes depend on; a framed gateway cannot create such a
 * table. */
gboolean tide_declared_table_needs_unframed(const TideTable *table);

typedef enum TideTableCreation {
  TIDE_TABLE_WAS_THERE, /* it existed, or another daemon created it at the same time */
  TIDE_TABLE_CREATED,
  TIDE_TABLE_CREATED_PLAIN, /* over a framed gateway, which corrupts split points and attributes: without them */
} TideTableCreation;

typedef struct TideTableRequest {
  const TideTable *table;
  const TideFieldNames *names; /* the configuration's */
  gboolean plain_if_framed;    /* otherwise a framed gateway does not create a table that needs more */
  gint64 deadline_us;          /* per call; a longer creation continues in HBase, and a retry finds the table */
} TideTableRequest;

/**
 * tide_declared_table_create: creates the table in HBase, with its namespace, unless it exists.
 * Several callers may do so at a time: the later ones find the table. The key fingerprint becomes an attribute, except
 * over a framed gateway; then tide_fingerprint_store_write() can store it elsewhere. Errors: UNAVAILABLE, with the
 * shell's command, if the table needs an unframed gateway and this one is framed; otherwise those of the calls.
 */
gboolean tide_declared_table_create(TideHBaseClient *client, const TideTableRequest *request,
                                    TideTableCreation *ret_creation, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
