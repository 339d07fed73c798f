/* Whether the tables and families that the configuration writes to exist. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

/**
 * tide_table_check: ask @client for each table of @config, but for templates of dated tables, which are made when needed.
 * Returns: (transfer full) (element-type utf8): one sentence with the remedy for each thing missing; empty when all is
 *     there. NULL with @error when the gateway could not be asked.
 */
GPtrArray *tide_table_check(const TideConfig *config, TideHBaseClient *client, gint64 timeout_ms, GError **error)
    G_GNUC_WARN_UNUSED_RESULT;

/* Appends such a sentence to @missing for each family of @table that @description has not. */
void tide_table_check_families(const TideTable *table, const TideTableDescription *description, GPtrArray *missing);

G_END_DECLS
