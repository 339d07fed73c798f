/* Rows of several key ranges as one stream. A salted table keeps one machine's interval in as many ranges as there are
 * salts: in time order again by taking the earliest (or latest) head each time; memory is one page a range. */
#pragma once

#include "commands/read/range_reader.h"

G_BEGIN_DECLS

typedef enum TideRowOrder {
  TIDE_ROW_ORDER_KEY = 0,     /* one range after the other */
  TIDE_ROW_ORDER_OLDEST = 1,  /* by time, oldest first */
  TIDE_ROW_ORDER_NEWEST = -1, /* by time, newest first */
} TideRowOrder;

/* The time in @row's key; of one that holds none, that of its newest cell. @decoded: the row's key; NULL: it is not of
 * the declared scheme */
gint64 tide_row_time_ns(const TideDecodedKey *decoded, const TideResultRow *row);

typedef struct TideRowMerge TideRowMerge;

/**
 * tide_row_merge_new:
 * @key: borrowed: of the table
 * @readers: (transfer full) (element-type TideRangeReader, with its free function): each in the order that is asked for
 */
TideRowMerge *tide_row_merge_new(const TideRowKey *key, GPtrArray *readers, TideRowOrder order);
void tide_row_merge_free(TideRowMerge *merge); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRowMerge, tide_row_merge_free)

/**
 * tide_row_merge_next:
 * @ret_row: the next row, valid until the next call; NULL at the end
 * Errors: those of the scans.
 */
gboolean tide_row_merge_next(TideRowMerge *merge, const TideResultRow **ret_row,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What all pages take at the moment. */
gsize tide_row_merge_buffered_bytes(const TideRowMerge *merge);

G_END_DECLS
