/* `tidemark tables show`: tables as they are in HBase, beside their declaration. */
#pragma once

#include "commands/command_line.h"
#include "commands/output.h"
#include "config/config.h"

G_BEGIN_DECLS

/* @tables: (element-type TideTable). Prints to standard output. Returns: the exit code; FINDINGS when one is missing or
 * differs. */
int tide_tables_show(const TideCommandLine *line, const TideConfig *config, const GPtrArray *tables,
                     TideOutputFormat format);

G_END_DECLS
