/* Reads the rows of a table that a set of key fields and a time range names, as one ordered stream: the plan of `scan`
 * and `latest`. */
#pragma once

#include "commands/gateway_session.h"
#include "commands/key_arguments.h"
#include "commands/row_merge.h"

G_BEGIN_DECLS

/* Rows that all ranges of a scan together hold in memory, and the bounds of one range's page. */
#define TIDE_TABLE_SCAN_MEMORY_ROWS 4096
#define TIDE_TABLE_SCAN_MIN_PAGE_ROWS 16
#define TIDE_TABLE_SCAN_MAX_PAGE_ROWS 500

typedef struct TideTableScanWish {
  gboolean newest_first;
  gboolean
      oldest_first; /* neither: as the table stores them; several ranges are still merged by time where they can be */
  gint64 from_ns;   /* cells' event time in [from, to); 0 and G_MAXINT64 when not bounded */
  gint64 to_ns;
  guint64 limit_rows; /* 0: none; bounds the pages only, the caller stops */
} TideTableScanWish;

/**
 * tide_table_scan_order: how the ranges of @table for @fields are read.
 * @n_ranges: of the plan
 * Errors: TIDE_ERROR_USAGE when a time order is wished that the key does not give, with the fields that are missing.
 */
gboolean tide_table_scan_order(const TideConfig *config, const TideTable *table, const TideKeyArguments *fields,
                               const TideTableScanWish *wish, gsize n_ranges, TideRowOrder *ret_order,
                               gboolean *ret_reversed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideTableScan TideTableScan;

/**
 * tide_table_scan_new: plan @ranges (borrowed, element-type TideKeyRange) over @session.
 * @session, @table: borrowed for the scan's life
 */
TideTableScan *tide_table_scan_new(TideGatewaySession *session, const TideTable *table, const GArray *ranges,
                                   TideRowOrder order, gboolean reversed, const TideTableScanWish *wish);
void tide_table_scan_free(TideTableScan *scan); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableScan, tide_table_scan_free)

/* As tide_row_merge_next(). */
gboolean tide_table_scan_next(TideTableScan *scan, const TideResultRow **ret_row, gint64 *ret_time_ns,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
