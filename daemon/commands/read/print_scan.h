/* Shows a scan as it comes, with progress where nobody sees the rows scroll by. */
#pragma once

#include "commands/read/row_view.h"

G_BEGIN_DECLS

/**
 * tide_print_scan: rows of @scan through @view until its end or a closed output; then how many they were, as
 * tide_print_row_count() does.
 * @limit_rows: the scan's, for the progress; 0: none
 * Errors: those of the scan; what was read before has been printed.
 */
gboolean tide_print_scan(TideTableScan *scan, TideRowView *view, guint64 limit_rows,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "12 rows" on standard error if that is a terminal, "0 rows" always. */
void tide_print_row_count(const TideRowView *view);

G_END_DECLS
