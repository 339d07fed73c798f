#include "commands/table_scan.h"

#include "util/error.h"

struct TideTableScan {
  TideGatewaySession *session; /* borrowed */
  TideBytes table;             /* borrowed */
  TideRowMerge *merge;         /* owned */
};

/* Two moments far apart, both after 2001: where they make the same range, the plan ended before the key's time. */
#define PROBE_EARLY_NS G_GINT64_CONSTANT(1000000000000000000)
#define PROBE_LATE_NS G_GINT64_CONSTANT(2000000000000000000)
#define PROBE_SPAN_NS G_GINT64_CONSTANT(1000000000)

/* Whether @fields fix everything that stands in front of the key's time: only then do the rows of a range sort by it.
 */
static gboolean
reaches_time(const TideTable *table, const TideKeyArguments *fields)
{
  g_autoptr(GArray) early =
      tide_row_key_plan(table->key, &fields->reading, PROBE_EARLY_NS, PROBE_EARLY_NS + PROBE_SPAN_NS, NULL);
  g_autoptr(GArray) late =
      tide_row_key_plan(table->key, &fields->reading, PROBE_LATE_NS, PROBE_LATE_NS + PROBE_SPAN_NS, NULL);
  if (early == NULL || late == NULL || early->len == 0 || late->len == 0)
    return FALSE;
  const TideKeyRange *early_range = &g_array_index(early, TideKeyRange, 0);
  const TideKeyRange *late_range = &g_array_index(late, TideKeyRange, 0);
  return !tide_bytes_equal(tide_buffer_bytes(&early_range->start), tide_buffer_bytes(&late_range->start));
}

static gboolean
fail_order(const TideConfig *config, const TideTable *table, const TideKeyArguments *fields, int time_order,
           GError **error)
{
  g_autofree char *key = tide_row_key_describe(table->key, config->names);
  g_autofree char *missing = tide_key_arguments_missing(fields, config, table);
  if (time_order == 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "the rows of '%s' do not sort by time: its key is %s", table->name,
                key);
  else if (missing != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "the rows of '%s' sort by time only where the fields before it are fixed: give %s too (its key is %s)",
                table->name, missing, key);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "the rows of '%s' do not sort by time with these fields: its key is %s", table->name, key);
  return FALSE;
}

gboolean
tide_table_scan_order(const TideConfig *config, const TideTable *table, const TideKeyArguments *fields,
                      const TideTableScanWish *wish, gsize n_ranges, TideRowOrder *ret_order, gboolean *ret_reversed,
                      GError **error)
{
  int stored = tide_row_key_time_order(table->key);
  gboolean sorted = stored != 0 && reaches_time(table, fields);
  if (wish->newest_first || wish->oldest_first) {
    if (!sorted)
      return fail_order(config, table, fields, stored, error);
    *ret_order = wish->newest_first ? TIDE_ROW_ORDER_NEWEST : TIDE_ROW_ORDER_OLDEST;
    *ret_reversed = (int)*ret_order != stored;
    return TRUE;
  }
  *ret_order = TIDE_ROW_ORDER_KEY;
  if (sorted && n_ranges > 1)
    *ret_order = stored > 0 ? TIDE_ROW_ORDER_OLDEST : TIDE_ROW_ORDER_NEWEST;
  *ret_reversed = FALSE;
  return TRUE;
}

static gboolean
scan_session(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  TideTableScan *scan = data;
  return tide_gateway_session_scan(scan->session, scan->table, request, func, func_data, error);
}

/* Fewer rows a page where many ranges share the memory, and no more than are wanted at all. */
static guint32
page_rows(gsize n_ranges, guint64 limit_rows)
{
  gsize rows = TIDE_TABLE_SCAN_MEMORY_ROWS / MAX(n_ranges, 1);
  rows = CLAMP(rows, TIDE_TABLE_SCAN_MIN_PAGE_ROWS, TIDE_TABLE_SCAN_MAX_PAGE_ROWS);
  return limit_rows > 0 ? (guint32)MIN(rows, limit_rows) : (guint32)rows;
}

TideTableScan *
tide_table_scan_new(TideGatewaySession *session, const TideTable *table, const GArray *ranges, TideRowOrder order,
                    gboolean reversed, const TideTableScanWish *wish)
{
  TideTableScan *scan = g_new0(TideTableScan, 1);
  scan->session = session;
  scan->table = tide_bytes_of_string(table->name);
  TideRangeReaderOptions options = {
      .scan = scan_session,
      .scan_data = scan,
      .reversed = reversed,
      .page_rows = page_rows(ranges->len, wish->limit_rows),
  };
  if (wish->from_ns != 0 || wish->to_ns != G_MAXINT64) {
    options.min_time_ms = MAX(tide_ns_to_ms(wish->from_ns), 0);
    /* The bound is exclusive: a moment within a millisecond takes that millisecond in. */
    options.max_time_ms = wish->to_ns == G_MAXINT64 ? G_MAXINT64 : tide_ns_to_ms(wish->to_ns - 1) + 1;
  }
  GPtrArray *readers = g_ptr_array_new_with_free_func((GDestroyNotify)tide_range_reader_free);
  for (guint i = 0; i < ranges->len; i++)
    g_ptr_array_add(readers, tide_range_reader_new(&g_array_index(ranges, TideKeyRange, i), &options));
  scan->merge = tide_row_merge_new(table->key, readers, order);
  return scan;
}

void
tide_table_scan_free(TideTableScan *scan)
{
  if (scan == NULL)
    return;
  tide_row_merge_free(scan->merge);
  g_free(scan);
}

gboolean
tide_table_scan_next(TideTableScan *scan, const TideResultRow **ret_row, gint64 *ret_time_ns, GError **error)
{
  return tide_row_merge_next(scan->merge, ret_row, ret_time_ns, error);
}
