#include "rows/row_order.h"

/* The bytes that all keys begin with. */
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

/* The next eight bytes, as a number that compares as they do. */
static guint64
sort_key_of(TideBytes key, gsize offset)
{
  guint64 number = 0;
  memcpy(&number, key.data + offset, MIN(key.len - offset, sizeof number));
  return GUINT64_FROM_BE(number);
}

static int
compare(gconstpointer left, gconstpointer right)
{
  const TideOrderedRow *a = left, *b = right;
  if (a->sort_key != b->sort_key)
    return a->sort_key < b->sort_key ? -1 : 1;
  int order = tide_bytes_compare(a->key, b->key);
  return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

void
tide_row_order_sort(TideOrderedRow *rows, guint32 n_rows)
{
  if (n_rows < 2)
    return;
  gsize offset = common_len(rows, n_rows);
  for (guint32 i = 0; i < n_rows; i++)
    rows[i].sort_key = sort_key_of(rows[i].key, offset);
  qsort(rows, n_rows, sizeof *rows, compare);
}
