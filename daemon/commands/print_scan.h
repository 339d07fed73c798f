/* Prints a scan as it comes, with progress where nobody sees the rows scroll by. */
#pragma once

#include "commands/row_printer.h"
#include "commands/table_scan.h"

G_BEGIN_DECLS

/**
 * tide_print_scan: rows of @scan through @printer until the end, @limit_rows (0: none) or a closed output; then how
 * many they were, on standard error if that is a terminal. Errors: those of the scan; what was read before has been
 * printed.
 */
gboolean tide_print_scan(TideTableScan *scan, TideRowPrinter *printer, guint64 limit_rows,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
