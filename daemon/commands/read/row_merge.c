#include "commands/read/row_merge.h"

/* A reader's first row, with its time: that is read out of the key once, however often heads are compared, and
 * in the order of keys not at all. */
typedef struct Head {
  const TideResultRow *row; /* borrowed from the reader; NULL: not yet asked for */
  gint64 time_ns;
} Head;

struct TideRowMerge {
  const TideRowKey *key;  /* borrowed */
  GPtrArray *readers;     /* owned (element-type TideRangeReader); those at their end are removed */
  GArray *heads;          /* owned (element-type Head): of each reader */
  TideDecodedKey decoded; /* owned; reused */
  TideRowOrder order;
  gboolean has_shown; /* a row was returned: readers[shown] is to pass it */
  guint shown;
};

TideRowMerge *
tide_row_merge_new(const TideRowKey *key, GPtrArray *readers, TideRowOrder order)
{
  TideRowMerge *merge = g_new0(TideRowMerge, 1);
  merge->key = key;
  merge->readers = readers;
  merge->heads = g_array_new(FALSE, TRUE, sizeof(Head));
  g_array_set_size(merge->heads, readers->len);
  merge->order = order;
  return merge;
}

void
tide_row_merge_free(TideRowMerge *merge)
{
  if (merge == NULL)
    return;
  g_ptr_array_unref(merge->readers);
  g_array_unref(merge->heads);
  tide_decoded_key_clear(&merge->decoded);
  g_free(merge);
}

gint64
tide_row_time_ns(const TideDecodedKey *decoded, const TideResultRow *row)
{
  if (decoded != NULL && decoded->has_time)
    return decoded->from_ns;
  gint64 newest_ms = G_MININT64;
  for (gsize i = 0; i < row->n_cells; i++)
    newest_ms = MAX(newest_ms, row->cells[i].timestamp_ms);
  return CLAMP(newest_ms, G_MININT64 / TIDE_NS_PER_MS, G_MAXINT64 / TIDE_NS_PER_MS) * TIDE_NS_PER_MS;
}

/* Equal times: by key, so that the order is the same each time. */
static gboolean
is_before(TideRowOrder order, const Head *head, const Head *other)
{
  if (head->time_ns != other->time_ns)
    return order == TIDE_ROW_ORDER_OLDEST ? head->time_ns < other->time_ns : head->time_ns > other->time_ns;
  return tide_bytes_compare(head->row->row, other->row->row) < 0;
}

/* Fills the head of reader @i. @ret_at_end: it had none; the reader is removed. */
static gboolean
look_at(TideRowMerge *merge, guint i, gboolean *ret_at_end, GError **error)
{
  Head *head = &g_array_index(merge->heads, Head, i);
  *ret_at_end = FALSE;
  if (head->row != NULL)
    return TRUE;
  if (!tide_range_reader_peek(merge->readers->pdata[i], &head->row, error))
    return FALSE;
  if (head->row != NULL) {
    if (merge->order != TIDE_ROW_ORDER_KEY) {
      gboolean is_read = tide_row_key_decode(merge->key, head->row->row, &merge->decoded);
      head->time_ns = tide_row_time_ns(is_read ? &merge->decoded : NULL, head->row);
    }
    return TRUE;
  }
  g_ptr_array_remove_index(merge->readers, i);
  g_array_remove_index(merge->heads, i);
  *ret_at_end = TRUE;
  return TRUE;
}

gboolean
tide_row_merge_next(TideRowMerge *merge, const TideResultRow **ret_row, GError **error)
{
  if (merge->has_shown) {
    tide_range_reader_pass(merge->readers->pdata[merge->shown]);
    g_array_index(merge->heads, Head, merge->shown).row = NULL;
  }
  merge->has_shown = FALSE;

  /* A look at every head costs less than the page it came with: ranges are as many as salts, some dozens. */
  for (guint i = 0; i < merge->readers->len;) {
    gboolean at_end = FALSE;
    if (!look_at(merge, i, &at_end, error))
      return FALSE;
    if (at_end)
      continue;
    if (!merge->has_shown || is_before(merge->order, &g_array_index(merge->heads, Head, i),
                                       &g_array_index(merge->heads, Head, merge->shown))) {
      merge->has_shown = TRUE;
      merge->shown = i;
    }
    if (merge->order == TIDE_ROW_ORDER_KEY)
      break;
    i++;
  }
  *ret_row = NULL;
  if (!merge->has_shown)
    return TRUE;
  *ret_row = g_array_index(merge->heads, Head, merge->shown).row;
  return TRUE;
}

gsize
tide_row_merge_buffered_bytes(const TideRowMerge *merge)
{
  gsize n_bytes = 0;
  for (guint i = 0; i < merge->readers->len; i++)
    n_bytes += tide_range_reader_buffered_bytes(merge->readers->pdata[i]);
  return n_bytes;
}
