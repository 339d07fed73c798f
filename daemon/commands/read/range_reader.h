/* Reads one range of row keys page by page, forwards or backwards, with one page in memory. Each page is a separate
 * scan that starts after the last row read, so a lost connection costs one page but no row. */
#pragma once

#include "model/key/row_key.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

/* Runs one scan. Tests provide rows of their own. */
typedef gboolean (*TideScanFunc)(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                                 GError **error);

/* Settings of the page requests. */
typedef struct TideRangeReaderOptions {
  TideScanFunc scan;
  gpointer scan_data;            /* borrowed */
  gboolean reversed;             /* the last row key first */
  const TideColumnName *columns; /* borrowed; none: all */
  gsize n_columns;
  gint64 min_time_ms; /* of cells, [min, max); both 0: none */
  gint64 max_time_ms;
  gint32 max_versions;        /* of a column, newest first; 0: 1 */
  guint32 page_rows;          /* maximum in memory, at least 1 */
  gsize page_bytes;           /* a page of larger rows has fewer, but at least one; 0: unlimited */
  gboolean is_sifted;         /* the reader uses only some of the rows: pages may exceed the wanted number */
  TideBytes filter;           /* borrowed: for the requests, as in TideScanRequest; dropped when it makes one fail */
  const guint64 *rows_wanted; /* borrowed: the number of rows that the reader still needs; no page requests more. NULL:
                               * all */
} TideRangeReaderOptions;

typedef struct TideRangeReader TideRangeReader;

/* @range: copied. */
TideRangeReader *tide_range_reader_new(const TideKeyRange *range, const TideRangeReaderOptions *options);
void tide_range_reader_free(TideRangeReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRangeReader, tide_range_reader_free)

/**
 * tide_range_reader_peek: the next row, without passing it.
 * @ret_row: NULL at the end; else valid until tide_range_reader_pass()
 * Errors: those of the scan. A page is tried twice, the second time with few rows, if its connection was lost or its
 * reply was invalid. A call after an error requests the same page.
 */
gboolean tide_range_reader_peek(TideRangeReader *reader, const TideResultRow **ret_row,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_range_reader_pass(TideRangeReader *reader);

/* Bytes of the current page. */
gsize tide_range_reader_buffered_bytes(const TideRangeReader *reader);

/* Appends to @out the largest stop row for a reversed scan that omits no row of [start, …). HBase's stop row is
 * exclusive, and there is no key right before @start, so the scan may return rows below @start, which must be dropped.
 * Appends nothing for an empty @start: to the beginning of the table. */
void tide_row_key_append_before(TideBytes start, TideBuffer *out);

/* @n empty ranges, cleared with the array. (transfer full) (element-type TideKeyRange) */
GArray *tide_key_ranges_new(guint n);

G_END_DECLS
