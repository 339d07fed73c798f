/* `tidemark tables show`: tables as they are in HBase, beside their declaration. */
#pragma once

#include "commands/cli/command.h"
#include "commands/cli/output.h"

G_BEGIN_DECLS

/* @tables: (element-type TideTable). Prints to standard output; the call's exit_code is FINDINGS when one is missing or
 * differs. */
gboolean tide_tables_show(TideCommandCall *call, const GPtrArray *tables, TideOutputFormat format,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
