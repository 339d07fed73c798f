#include "rows/row_order.h"

/* Length of the prefix common to all keys. */
static gsize
common_len(const TideOrderedRow *rows, guint32 n_rows)
{
  TideBytes first = rows[0].key;
  gsize len = first.len;
  for (guint32 i = 1; i < n_rows; i++) {
    gsize same = 0;
    len = MIN(len, rows[i].key.len);
    while (same < len && rows[i].key.data[same] == first.data[same])
      same++;
    len = same;
  }
  return len;
}

/* The next eight bytes as a number that sorts in the same order. */
static guint64
sort_key_of(TideBytes key, gsize offset)
{
  guint64 number = 0;
  memcpy(&number, key.data + offset, MIN(key.len - offset, sizeof number));
  return GUINT64_FROM_BE(number);
}

/* Whether @a, which came first, precedes @b. */
static inline gboolean
are_in_order(const TideOrderedRow *a, const TideOrderedRow *b)
{
  if (a->sort_key != b->sort_key)
    return a->sort_key < b->sort_key;
  return tide_bytes_compare(a->key, b->key) <= 0;
}

/* Merges two ordered runs; the second is [@middle, @end). */
static void
merge(const TideOrderedRow *runs, guint32 middle, guint32 end, TideOrderedRow *merged)
{
  guint32 left = 0, right = middle;
  for (guint32 i = 0; i < end; i++)
    merged[i] =
        right == end || (left < middle && are_in_order(&runs[left], &runs[right])) ? runs[left++] : runs[right++];
}

/* A merge sort, since qsort() allocates memory. It begins with the runs that are there: devices that report in turn
 * leave few. */
void
tide_row_order_sort(TideOrderedRow *rows, guint32 n_rows)
{
  if (n_rows < 2)
    return;
  TideOrderedRow scratch[TIDE_ROW_ORDER_MAX];
  TideOrderedRow *from = rows, *to = scratch;
  guint32 ends[TIDE_ROW_ORDER_MAX];
  gsize offset = common_len(rows, n_rows);
  guint32 n_runs = 0;
  for (guint32 i = 0; i < n_rows; i++) {
    rows[i].sort_key = sort_key_of(rows[i].key, offset);
    if (i > 0 && !are_in_order(&rows[i - 1], &rows[i]))
      ends[n_runs++] = i;
  }
  ends[n_runs++] = n_rows;
  for (; n_runs > 1; n_runs = (n_runs + 1) / 2) {
    guint32 first = 0;
    for (guint32 run = 0; run < n_runs; run += 2) {
      guint32 middle = ends[run], end = ends[MIN(run + 1, n_runs - 1)];
      merge(from + first, middle - first, end - first, to + first);
      ends[run / 2] = first = end;
    }
    TideOrderedRow *ordered = to;
    to = from;
    from = ordered;
  }
  if (from != rows)
    memcpy(rows, from, n_rows * sizeof *rows);
}
