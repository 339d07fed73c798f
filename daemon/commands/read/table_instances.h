/* The tables in HBase that a configuration means: for a dated table, SENSOR_{yyyyMMdd}, those of its tables that exist.
 */
#pragma once

#include "commands/read/gateway_session.h"

G_BEGIN_DECLS

/**
 * tide_table_instances: @tables with each template replaced by its instances in HBase, in the order of their names. A
 * template without any is left out. HBase is asked for its tables only when there is a template. Returns: (transfer
 * container) (element-type TideTable), borrowed from @config. Errors: those of the call.
 */
GPtrArray *tide_table_instances(TideGatewaySession *session, const TideConfig *config, const GPtrArray *tables,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
