#include "commands/row_merge.h"

struct TideRowMerge {
  const TideRowKey *key; /* borrowed */
  GPtrArray *readers;    /* owned (element-type TideRangeReader); those at their end are removed */
  TideRowOrder order;
  TideRangeReader *shown; /* borrowed: whose head was returned last; NULL before the first */
};

TideRowMerge *
tide_row_merge_new(const TideRowKey *key, GPtrArray *readers, TideRowOrder order)
{
  TideRowMerge *merge = g_new0(TideRowMerge, 1);
  merge->key = key;
  merge->readers = readers;
  merge->order = order;
  return merge;
}

void
tide_row_merge_free(TideRowMerge *merge)
{
  if (merge == NULL)
    return;
  g_ptr_array_unref(merge->readers);
  g_free(merge);
}

static gint64
row_time_ns(const TideRowKey *key, const TideResultRow *row)
{
  gint64 time_ns = 0;
  if (tide_row_key_read_time(key, row->row, &time_ns))
    return time_ns;
  gint64 newest_ms = G_MININT64;
  for (gsize i = 0; i < row->n_cells; i++)
    newest_ms = MAX(newest_ms, row->cells[i].timestamp_ms);
  return CLAMP(newest_ms, G_MININT64 / TIDE_NS_PER_MS, G_MAXINT64 / TIDE_NS_PER_MS) * TIDE_NS_PER_MS;
}

/* Whether @row at @time_ns comes before @other. Equal times: by key, so that the order is the same each time. */
static gboolean
is_before(TideRowOrder order, const TideResultRow *row, gint64 time_ns, const TideResultRow *other,
          gint64 other_time_ns)
{
  if (time_ns != other_time_ns)
    return order == TIDE_ROW_ORDER_OLDEST ? time_ns < other_time_ns : time_ns > other_time_ns;
  return tide_bytes_compare(row->row, other->row) < 0;
}

gboolean
tide_row_merge_next(TideRowMerge *merge, const TideResultRow **ret_row, gint64 *ret_time_ns, GError **error)
{
  if (merge->shown != NULL)
    tide_range_reader_pass(merge->shown);
  merge->shown = NULL;

  const TideResultRow *first = NULL;
  gint64 first_time_ns = 0;
  /* A look at every head costs less than the page it came with: ranges are as many as salts, some dozens. */
  for (guint i = 0; i < merge->readers->len;) {
    TideRangeReader *reader = merge->readers->pdata[i];
    const TideResultRow *row = NULL;
    if (!tide_range_reader_peek(reader, &row, error))
      return FALSE;
    if (row == NULL) {
      g_ptr_array_remove_index(merge->readers, i);
      continue;
    }
    gint64 time_ns = row_time_ns(merge->key, row);
    if (first == NULL || is_before(merge->order, row, time_ns, first, first_time_ns)) {
      first = row;
      first_time_ns = time_ns;
      merge->shown = reader;
    }
    if (merge->order == TIDE_ROW_ORDER_KEY)
      break;
    i++;
  }
  *ret_row = first;
  *ret_time_ns = first_time_ns;
  return TRUE;
}
