#include "commands/read/range_reader.h"

#include "commands/read/gateway_session.h"
#include "model/scratch.h"
#include "util/error.h"

struct TideRangeReader {
  TideRangeReaderOptions options;
  TideKeyRange range;    /* owned */
  TideBuffer next_start; /* of the next page's request */
  TideBuffer stop;       /* of every request */
  TideBuffer last_key;   /* of the last received row; rows that do not follow it are dropped */
  gboolean has_last_key;
  gboolean at_end;     /* no page follows */
  guint64 sifted_rows; /* minimum number requested by the next page, if rows are sifted */

  TideScratch bytes;       /* owned: memory of the page's keys and cells */
  gsize n_bytes;           /* bytes used there */
  GArray *rows;            /* owned (element-type TideResultRow): cells is set when the row is shown */
  GArray *cells;           /* owned (element-type TideResultCell) */
  TideBuffer received_key; /* of the last row in the reply, dropped or not */
  guint64 n_received;      /* rows in the reply, including dropped ones */
  gsize row_bytes;         /* bytes per row of the previous page; 0 before the first */
  guint next_row;          /* index in rows */
  gsize next_cell;         /* index in cells of its first cell */
};

/* Appended after a decremented last byte, as in HBase's own client: few keys are in between, and those are dropped. */
#define BEFORE_PADDING_BYTES 9

/* Initial page size if pages are limited by bytes, because the size of rows is not yet known, and if rows are
 * sifted. */
#define FIRST_PAGE_ROWS 16

/* A call costs the gateway and HBase as much as some hundred small rows, so pages of small rows are long. For larger
 * rows, pages have MIDDLE_PAGE_ROWS: later rows may be larger still. */
#define MIDDLE_PAGE_ROWS 500
#define LONG_PAGE_BYTES (4u << 20)

void
tide_row_key_append_before(TideBytes start, TideBuffer *out)
{
  if (start.len == 0)
    return;
  guint8 last = start.data[start.len - 1];
  tide_buffer_append(out, start.data, start.len - 1);
  if (last == 0)
    return;
  static const guint8 padding[BEFORE_PADDING_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  tide_buffer_append_byte(out, (guint8)(last - 1));
  tide_buffer_append(out, padding, sizeof padding);
}

GArray *
tide_key_ranges_new(guint n)
{
  GArray *ranges = g_array_new(FALSE, TRUE, sizeof(TideKeyRange));
  g_array_set_clear_func(ranges, (GDestroyNotify)tide_key_range_clear);
  g_array_set_size(ranges, n);
  return ranges;
}

TideRangeReader *
tide_range_reader_new(const TideKeyRange *range, const TideRangeReaderOptions *options)
{
  TideRangeReader *reader = g_new0(TideRangeReader, 1);
  reader->options = *options;
  reader->sifted_rows = FIRST_PAGE_ROWS;
  tide_buffer_append_bytes(&reader->range.start, tide_buffer_bytes(&range->start));
  tide_buffer_append_bytes(&reader->range.stop, tide_buffer_bytes(&range->stop));
  if (options->reversed) {
    tide_buffer_append_bytes(&reader->next_start, tide_buffer_bytes(&range->stop));
    tide_row_key_append_before(tide_buffer_bytes(&range->start), &reader->stop);
  } else {
    tide_buffer_append_bytes(&reader->next_start, tide_buffer_bytes(&range->start));
    tide_buffer_append_bytes(&reader->stop, tide_buffer_bytes(&range->stop));
  }
  reader->rows = g_array_new(FALSE, FALSE, sizeof(TideResultRow));
  reader->cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  return reader;
}

void
tide_range_reader_free(TideRangeReader *reader)
{
  if (reader == NULL)
    return;
  tide_key_range_clear(&reader->range);
  tide_buffer_clear_memory(&reader->next_start);
  tide_buffer_clear_memory(&reader->stop);
  tide_buffer_clear_memory(&reader->last_key);
  tide_buffer_clear_memory(&reader->received_key);
  tide_scratch_clear_memory(&reader->bytes);
  g_array_unref(reader->rows);
  g_array_unref(reader->cells);
  g_free(reader);
}

/* TRUE if @key is in the range and was not read yet. */
static gboolean
is_wanted(const TideRangeReader *reader, TideBytes key)
{
  if (tide_bytes_compare(key, tide_buffer_bytes(&reader->range.start)) < 0)
    return FALSE;
  if (reader->range.stop.len > 0 && tide_bytes_compare(key, tide_buffer_bytes(&reader->range.stop)) >= 0)
    return FALSE;
  if (!reader->has_last_key)
    return TRUE;
  int order = tide_bytes_compare(key, tide_buffer_bytes(&reader->last_key));
  return reader->options.reversed ? order < 0 : order > 0;
}

static gboolean
keep_row(const TideResultRow *row, gpointer data)
{
  TideRangeReader *reader = data;
  reader->n_received++;
  tide_buffer_set(&reader->received_key, row->row);
  if (!is_wanted(reader, row->row))
    return TRUE;
  TideResultRow kept = {.row = tide_scratch_copy(&reader->bytes, row->row), .n_cells = row->n_cells};
  reader->n_bytes += row->row.len;
  for (gsize i = 0; i < row->n_cells; i++) {
    TideResultCell cell = row->cells[i];
    gsize qualifier = cell.family.len, value = qualifier + cell.qualifier.len, n_bytes = value + cell.value.len;
    guint8 *bytes = tide_scratch_take(&reader->bytes, n_bytes);
    tide_memory_copy(bytes, cell.family.data, cell.family.len);
    tide_memory_copy(bytes + qualifier, cell.qualifier.data, cell.qualifier.len);
    tide_memory_copy(bytes + value, cell.value.data, cell.value.len);
    cell.family.data = bytes;
    cell.qualifier.data = bytes + qualifier;
    cell.value.data = bytes + value;
    reader->n_bytes += n_bytes;
    g_array_append_val(reader->cells, cell);
  }
  g_array_append_val(reader->rows, kept);
  return TRUE;
}

static void
reset_page(TideRangeReader *reader)
{
  tide_scratch_reset(&reader->bytes);
  g_array_set_size(reader->rows, 0);
  g_array_set_size(reader->cells, 0);
  reader->n_bytes = 0;
  reader->n_received = 0;
  reader->next_row = 0;
  reader->next_cell = 0;
}

static gboolean
request_page(TideRangeReader *reader, gint64 limit_rows, GError **error)
{
  TideScanRequest request = {
      .start_row = tide_buffer_bytes(&reader->next_start),
      .stop_row = tide_buffer_bytes(&reader->stop),
      .columns = reader->options.columns,
      .n_columns = reader->options.n_columns,
      .min_time_ms = reader->options.min_time_ms,
      .max_time_ms = reader->options.max_time_ms,
      .max_versions = reader->options.max_versions,
      .limit_rows = limit_rows,
      .caching_rows = (guint32)limit_rows,
      .reversed = reader->options.reversed,
      .filter = reader->options.filter,
  };
  reset_page(reader);
  return reader->options.scan(&request, keep_row, reader, reader->options.scan_data, error);
}

static gint64
next_limit_rows(const TideRangeReader *reader)
{
  const TideRangeReaderOptions *options = &reader->options;
  guint64 rows = options->page_rows;
  if (options->page_bytes > 0 && reader->row_bytes == 0)
    rows = MIN(rows, FIRST_PAGE_ROWS);
  else if (options->page_bytes > 0) { /* as many as fit, if they are as large as those of the previous page */
    guint64 in_long_page = LONG_PAGE_BYTES / reader->row_bytes;
    rows = MIN(rows, MIN(options->page_bytes / reader->row_bytes, MAX(in_long_page, MIDDLE_PAGE_ROWS)));
  }
  if (options->rows_wanted != NULL)
    rows = MIN(rows, MAX(*options->rows_wanted, options->is_sifted ? reader->sifted_rows : 0));
  /* One more for the row at which a reversed request continues. */
  return (gint64)MAX(rows, 1) + (options->reversed && reader->has_last_key ? 1 : 0);
}

/* TRUE if a page that failed with @error may be requested once more. A reply above the size limit is a protocol error,
 * and shorter with fewer rows. A filter can make a region server skip rows for longer than a call may last: without it
 * each page advances, and the caller filters the rows. */
static gboolean
may_try_again(TideRangeReader *reader, const GError *error)
{
  if (tide_gateway_error_is_lost(error) || g_error_matches(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL))
    return TRUE;
  gboolean had_filter = reader->options.filter.len > 0;
  reader->options.filter = TIDE_BYTES_EMPTY;
  return had_filter;
}

static gboolean
load_page(TideRangeReader *reader, GError **error)
{
  gint64 limit_rows = next_limit_rows(reader);
  g_autoptr(GError) first_error = NULL;
  if (!request_page(reader, limit_rows, &first_error)) {
    if (!may_try_again(reader, first_error)) {
      reset_page(reader);
      g_propagate_error(error, g_steal_pointer(&first_error));
      return FALSE;
    }
    limit_rows = MIN(limit_rows, FIRST_PAGE_ROWS);
    if (!request_page(reader, limit_rows, error)) {
      reset_page(reader); /* rows received before the error are not shown: the page is requested again */
      return FALSE;
    }
  }
  /* A reversed request's stop row is slightly before the range: the page may extend beyond it. */
  TideBytes last_key = tide_buffer_bytes(&reader->received_key), start = tide_buffer_bytes(&reader->range.start);
  gboolean has_left_range = reader->options.reversed && tide_bytes_compare(last_key, start) < 0;
  reader->at_end = reader->n_received < (guint64)limit_rows || has_left_range;
  if (!reader->at_end) {
    /* The next request starts after the last received row: at that row if reversed (it is then dropped), otherwise at
     * the key right after it. */
    tide_buffer_set(&reader->last_key, last_key);
    reader->has_last_key = TRUE;
    tide_buffer_set(&reader->next_start, last_key);
    if (!reader->options.reversed)
      tide_buffer_append_byte(&reader->next_start, 0);
  }
  reader->sifted_rows = MIN(reader->sifted_rows * 2, reader->options.page_rows);
  if (reader->rows->len > 0)
    reader->row_bytes = MAX(tide_range_reader_buffered_bytes(reader) / reader->rows->len, 1);
  return TRUE;
}

gsize
tide_range_reader_buffered_bytes(const TideRangeReader *reader)
{
  return reader->n_bytes + reader->rows->len * sizeof(TideResultRow) + reader->cells->len * sizeof(TideResultCell);
}

gboolean
tide_range_reader_peek(TideRangeReader *reader, const TideResultRow **ret_row, GError **error)
{
  while (reader->next_row >= reader->rows->len) {
    if (reader->at_end) {
      *ret_row = NULL;
      return TRUE;
    }
    if (!load_page(reader, error))
      return FALSE;
  }
  TideResultRow *row = &g_array_index(reader->rows, TideResultRow, reader->next_row);
  row->cells = &g_array_index(reader->cells, TideResultCell, reader->next_cell);
  *ret_row = row;
  return TRUE;
}

void
tide_range_reader_pass(TideRangeReader *reader)
{
  reader->next_cell += g_array_index(reader->rows, TideResultRow, reader->next_row++).n_cells;
}
