/* Shows how a scan would be carried out, without carrying it out. */
#pragma once

#include "commands/cli/output.h"
#include "commands/read/table_scan.h"

G_BEGIN_DECLS

/* A line (or JSON object) for each range of @plan: where it starts and stops, in the order of keys; and what holds for
 * all of them: from which end they are read, and what is asked of HBase besides. */
void tide_print_plan(FILE *stream, TideOutputFormat format, const TideTableScanPlan *plan);

G_END_DECLS
