/* Says that a table without the rows that were looked for was written with another key: they are there, and not found.
 */
#pragma once

#include "commands/read/gateway_session.h"

G_BEGIN_DECLS

/* On standard error, where the key fingerprint that is stored for @table, which has rows, is not the declared one. What
 * cannot be compared is not told of. @command: "scan" */
void tide_report_changed_key(const TideConfig *config, TideGatewaySession *session, const TideTable *table,
                             const char *command);

G_END_DECLS
