/* Whether the tables and families that the configuration writes to exist. */
#pragma once

#include "config/config.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

/**
 * tide_table_check: ask @client for each table of @config, but for templates of dated tables, which are made when
 * needed. When all is there, what can be lost for a table's durability is said in the log. Returns: (transfer full)
 * (element-type utf8): one sentence with the remedy for each thing missing; empty when all is there. NULL with @error
 * when the gateway could not be asked.
 */
GPtrArray *tide_table_check(const TideConfig *config, TideHBaseClient *client, gint64 timeout_ms,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Appends such a sentence to @missing for each family of @table that @description has not. */
void tide_table_check_families(const TideTable *table, const TideTableDescription *description, GPtrArray *missing);

/* What an acknowledgement of HBase is worth decides what a committed offset is worth: a sentence that says what can be
 * lost for @description's durability below SYNC_WAL, and in @ret_remedy the command of the HBase shell that repairs it;
 * NULL when nothing can. (transfer full), both. */
char *tide_table_durability_risk(const char *table, const TideTableDescription *description, char **ret_remedy);

/* Says it in the log, at crit; of a table that HBase does not show, a warning says what is not known. */
void tide_table_warn_of_risks(const char *table, const TideTableDescription *description);

G_END_DECLS
