/* Reads one range of row keys page by page, forwards or backwards, holding one page in memory. Each page is a scan of
 * its own that begins behind the last row seen, so a lost connection costs one page and never a row. */
#pragma once

#include "model/key/row_key.h"
#include "thrift/client/hbase_client.h"

G_BEGIN_DECLS

/* Carries out one scan. Tests give rows of their own. */
typedef gboolean (*TideScanFunc)(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data,
                                 GError **error);

/* How the pages are asked for. */
typedef struct TideRangeReaderOptions {
  TideScanFunc scan;
  gpointer scan_data;            /* borrowed */
  gboolean reversed;             /* the last row key first */
  const TideColumnName *columns; /* borrowed; none: all */
  gsize n_columns;
  gint64 min_time_ms; /* of cells, [min, max); both 0: none */
  gint64 max_time_ms;
  gint32 max_versions;        /* of a column, newest first; 0: 1 */
  guint32 page_rows;          /* in memory at a time, at least 1 */
  gsize page_bytes;           /* a page of larger rows is of fewer, but one at least; 0: not bounded */
  gboolean is_sifted;         /* whoever reads takes some of the rows only: pages grow beyond what is wanted */
  TideBytes filter;           /* borrowed: of the requests, as in TideScanRequest; given up when it makes one fail */
  const guint64 *rows_wanted; /* borrowed: how many rows whoever reads still takes; no page asks for more. NULL: all */
} TideRangeReaderOptions;

typedef struct TideRangeReader TideRangeReader;

/* @range: copied. */
TideRangeReader *tide_range_reader_new(const TideKeyRange *range, const TideRangeReaderOptions *options);
void tide_range_reader_free(TideRangeReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRangeReader, tide_range_reader_free)

/**
 * tide_range_reader_peek: the next row, without passing it.
 * @ret_row: NULL at the end; else valid until tide_range_reader_pass()
 * Errors: those of the scan; one page is tried twice, the second time of few rows, when its connection was lost or its
 *     reply is none. After an error it may be called again, and
 *     asks for the same page.
 */
gboolean tide_range_reader_peek(TideRangeReader *reader, const TideResultRow **ret_row,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_range_reader_pass(TideRangeReader *reader);

/* What the page takes at the moment. */
gsize tide_range_reader_buffered_bytes(const TideRangeReader *reader);

/* The largest key of a reversed scan's end that leaves no row of [start, …) out: HBase's stop row is exclusive, and no
 * key is the one right before @start, so rows below @start may be met and must be dropped. Appended to @out; nothing
 * for an empty
 * @start: to the beginning of the table. */
void tide_row_key_append_before(TideBytes start, TideBuffer *out);

/* @n empty ranges, cleared with the array. (transfer full) (element-type TideKeyRange) */
GArray *tide_key_ranges_new(guint n);

G_END_DECLS
