/* Checks that the tables and families that the configuration writes to exist. */
#pragma once

#include "config/config.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

/**
 * tide_table_check: asks @client for each table of @config, except templates of dated tables, which are created on
 * demand. If nothing is missing, logs the risks of the tables' durability. Returns: (transfer full) (element-type
 * utf8): one sentence with the remedy for each missing item; empty if there is none. NULL with @error if the gateway
 * could not be asked.
 */
GPtrArray *tide_table_check(const TideConfig *config, TideHBaseClient *client, gint64 timeout_ms,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Appends such a sentence to @missing for each family of @table that @description lacks. */
void tide_table_check_families(const TideTable *table, const TideTableDescription *description, GPtrArray *missing);

/* A committed offset is only as safe as HBase's acknowledgements. Returns a sentence about what can be lost if
 * @description's durability is below SYNC_WAL, and in @ret_remedy the HBase shell command that fixes it; NULL if
 * nothing can. (transfer full), both. */
char *tide_table_durability_risk(const char *table, const TideTableDescription *description, char **ret_remedy);

/* Logs that at crit. For a table that HBase does not show, warns about what is unknown. */
void tide_table_warn_of_risks(const char *table, const TideTableDescription *description);

G_END_DECLS
