/* A table as the configuration declares it, in the forms that create it: a description for the gateway, and the
 * commands of HBase's shell for gateways that cannot and operators who would rather. Both carry the fingerprint of the
 * key as an attribute: fingerprint_store.h. */
#pragma once

#include "tables/fingerprint_store.h"

G_BEGIN_DECLS

/* With its families, its key fingerprint and the other attributes; @names: the configuration's. (transfer full) */
TideTableDescription *tide_declared_table_describe(const TideTable *table, const TideFieldNames *names);

/* "create 'ns:T', {NAME => 'M', …}, METADATA => {…}, SPLITS => […]", after a line that creates the namespace, for a
 * table in one of its own. (transfer full) */
char *tide_declared_table_create_command(const TideTable *table, const TideFieldNames *names);

/* HBase's setting for how long it keeps deletes through major compactions, in milliseconds. Without it a compaction
 * forgets that a row was deleted, and a reading that comes late would bring back what the delete took away. */
#define TIDE_PURGE_DELETES_ATTRIBUTE "hbase.hstore.time.to.purge.deletes"

/* TRUE when it has split points, or an attribute that its writes depend on: a framed gateway cannot make it then. */
gboolean tide_declared_table_needs_unframed(const TideTable *table);

typedef enum TideTableCreation {
  TIDE_TABLE_WAS_THERE, /* already, or another daemon made it at the same time */
  TIDE_TABLE_CREATED,
  TIDE_TABLE_CREATED_PLAIN, /* over a framed gateway, which spoils split points and attributes: without them */
} TideTableCreation;

typedef struct TideTableRequest {
  const TideTable *table;
  const TideFieldNames *names; /* the configuration's */
  gboolean plain_if_framed;    /* else a framed gateway is refused a table that needs more */
  gint64 deadline_us; /* for each call. A creation that takes longer goes on in HBase: ask again, and it is there */
} TideTableRequest;

/**
 * tide_declared_table_create: create the table in HBase, with its namespace, unless it is there.
 * Several may do it at a time: who comes second finds it there. The key fingerprint becomes an attribute, but of a
 * framed gateway's table; with tide_fingerprint_store_write() it can be kept elsewhere then. Errors: UNAVAILABLE, with
 * the shell's command, for one that needs an unframed gateway, at a framed one; else those of the calls.
 */
gboolean tide_declared_table_create(TideHBaseClient *client, const TideTableRequest *request,
                                    TideTableCreation *ret_creation, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
