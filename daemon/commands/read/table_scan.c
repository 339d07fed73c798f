#include "commands/read/table_scan.h"

#include "util/error.h"
#include "util/units.h"

/* A range that is not at its end, with its first row and that row's time: decoded once, however often heads are
 * compared, and not at all in key order. */
typedef struct Head {
  TideRangeReader *reader;  /* owned */
  const TideResultRow *row; /* borrowed from the reader; NULL: not yet requested */
  gint64 time_ns;
} Head;

struct TideTableScan {
  const TideTableScanPlan *plan; /* borrowed */
  guint64 rows_wanted;           /* G_MAXUINT64: no limit */
  GArray *heads;                 /* owned (element-type Head) */
  gboolean has_shown;            /* a row was returned: the head at shown must pass it */
  guint shown;
  TideKeyReader keys; /* owned */
  TideBuffer hbase_filter;
  guint64 n_foreign;
};

/* ---- a row ---- */

void
tide_key_reader_init(TideKeyReader *reader, const TideTable *table, const TideFieldNames *names)
{
  *reader = (TideKeyReader){.key = table->key, .ids = g_array_new(FALSE, FALSE, sizeof(TideNameId))};
  tide_row_key_stored_fields(table->key, reader->ids);
  reader->names = g_new0(char *, reader->ids->len + 1);
  reader->values = g_new0(TideBytes, MAX(reader->ids->len, 1));
  for (guint i = 0; i < reader->ids->len; i++)
    reader->names[i] = tide_text_printable(tide_field_names_text(names, g_array_index(reader->ids, TideNameId, i)));
}

void
tide_key_reader_clear(TideKeyReader *reader)
{
  tide_decoded_key_clear(&reader->decoded);
  g_clear_pointer(&reader->ids, g_array_unref);
  g_clear_pointer(&reader->names, g_strfreev);
  g_clear_pointer(&reader->values, g_free);
}

TideScannedRow
tide_key_reader_read(TideKeyReader *reader, const TideResultRow *row)
{
  const TideDecodedKey *decoded = &reader->decoded;
  TideScannedRow scanned = {.row = row};
  if (tide_row_key_decode(reader->key, row->row, &reader->decoded)) {
    scanned.fields = reader->values;
    for (guint i = 0; i < reader->ids->len; i++) {
      reader->values[i] = TIDE_BYTES_EMPTY;
      for (gsize k = 0; k < decoded->n_fields; k++)
        if (decoded->fields[k].field == g_array_index(reader->ids, TideNameId, i))
          reader->values[i] = decoded->fields[k].text;
    }
  }
  if (scanned.fields != NULL && decoded->has_time) {
    scanned.time_ns = decoded->from_ns;
    return scanned;
  }
  gint64 newest_ms = G_MININT64;
  for (gsize i = 0; i < row->n_cells; i++)
    newest_ms = MAX(newest_ms, row->cells[i].timestamp_ms);
  scanned.time_ns = CLAMP(newest_ms, G_MININT64 / TIDE_NS_PER_MS, G_MAXINT64 / TIDE_NS_PER_MS) * TIDE_NS_PER_MS;
  return scanned;
}

/* ---- the plan ---- */

void
tide_table_scan_plan_clear(TideTableScanPlan *plan)
{
  g_clear_pointer(&plan->ranges, g_array_unref);
  g_clear_pointer(&plan->filter, tide_key_filter_free);
}

gboolean
tide_table_scan_plan_fields(TideTableScanPlan *plan, const TideKeyArguments *fields, GError **error)
{
  const TideRowKey *key = plan->table->key;
  const TideTableScanRequest *request = &plan->request;
  plan->ranges = tide_row_key_plan(key, &fields->reading, request->from_ns, request->to_ns, error);
  if (plan->ranges == NULL)
    return FALSE;
  plan->filter = tide_row_key_filter(key, &fields->reading, request->from_ns, request->to_ns, error);
  return plan->filter != NULL;
}

void
tide_table_scan_plan_report(const TideTableScanPlan *plan, const char *command, const TideKeyArguments *fields,
                            const TideFieldNames *names)
{
  TideReading nothing = {0};
  g_autoptr(GArray) all = tide_row_key_plan(plan->table->key, &nothing, 0, G_MAXINT64, NULL);
  gboolean is_whole = fields->reading.n_fields > 0 && plan->ranges->len == all->len;
  for (guint i = 0; is_whole && i < all->len; i++) {
    const TideKeyRange *range = &g_array_index(plan->ranges, TideKeyRange, i);
    const TideKeyRange *other = &g_array_index(all, TideKeyRange, i);
    is_whole = tide_bytes_equal(tide_buffer_bytes(&range->start), tide_buffer_bytes(&other->start)) &&
               tide_bytes_equal(tide_buffer_bytes(&range->stop), tide_buffer_bytes(&other->stop));
  }
  if (!is_whole)
    return;
  g_autofree char *key = tide_row_key_describe(plan->table->key, names);
  tide_say("tidemark %s: reading the whole table '%s' for these rows: its key is %s, which does not begin with the "
           "given fields",
           command, plan->table->name, key);
}

/* Two times far apart, both after 2001: if they make the same range, the plan ended before the key's time. */
#define PROBE_EARLY_NS G_GINT64_CONSTANT(1000000000000000000)
#define PROBE_LATE_NS G_GINT64_CONSTANT(2000000000000000000)
#define PROBE_SPAN_NS G_GINT64_CONSTANT(1000000000)

/* TRUE if @fields determine everything before the key's time: only then are the rows of a range sorted by time. */
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
  g_autofree char *missing = fields != NULL ? tide_key_arguments_missing(fields, config, table) : NULL;
  if (fields == NULL)
    tide_fail(error, TIDE_ERROR_USAGE,
              "ranges of keys are read in key order: give '--reverse', or fields instead of '--start'");
  else if (time_order == 0)
    tide_fail(error, TIDE_ERROR_USAGE, "the rows of '%s' are not sorted by time: its key is %s", table->name, key);
  else if (missing != NULL)
    tide_fail(
        error, TIDE_ERROR_USAGE,
        "the rows of '%s' are sorted by time only if the fields before the time are fixed: give %s too (its key is %s)",
        table->name, missing, key);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "the rows of '%s' are not sorted by time with these fields: its key is %s",
              table->name, key);
  return FALSE;
}

gboolean
tide_table_scan_plan_order(TideTableScanPlan *plan, const TideConfig *config, const TideKeyArguments *fields,
                           GError **error)
{
  const TideTableScanRequest *request = &plan->request;
  int time_order = tide_row_key_time_order(plan->table->key);
  gboolean sorted = time_order != 0 && fields != NULL && reaches_time(plan->table, fields);
  if (request->newest_first || request->oldest_first) {
    if (!sorted)
      return fail_order(config, plan->table, fields, time_order, error);
    plan->order = request->newest_first ? TIDE_ROW_ORDER_NEWEST : TIDE_ROW_ORDER_OLDEST;
    plan->reversed = (int)plan->order != time_order;
    return TRUE;
  }
  /* Without a requested order, several ranges are merged by time if the key provides it. */
  TideRowOrder order = !sorted || plan->ranges->len < 2 ? TIDE_ROW_ORDER_KEY
                       : time_order > 0                 ? TIDE_ROW_ORDER_OLDEST
                                                        : TIDE_ROW_ORDER_NEWEST;
  plan->order = request->reversed ? (TideRowOrder)(-(int)order) : order;
  plan->reversed = request->reversed;
  return TRUE;
}

void
tide_table_scan_plan_cell_times(const TideTableScanPlan *plan, gint64 *ret_min_ms, gint64 *ret_max_ms)
{
  const TideTableScanRequest *request = &plan->request;
  *ret_min_ms = 0;
  *ret_max_ms = 0;
  if (plan->table->cell_time != TIDE_CELL_TIME_EVENT || (request->from_ns == 0 && request->to_ns == G_MAXINT64))
    return;
  *ret_min_ms = MAX(tide_ns_to_ms(request->from_ns), 0);
  /* The limit is exclusive: a time within a millisecond includes that millisecond. */
  *ret_max_ms = request->to_ns == G_MAXINT64 ? G_MAXINT64 : tide_ns_to_ms(request->to_ns - 1) + 1;
}

/* HBase compares case-insensitively, anywhere in the row key decoded as UTF-8: ASCII bytes are found whatever surrounds
 * them. */
void
tide_table_scan_plan_append_hbase_filter(const TideTableScanPlan *plan, TideBuffer *out)
{
  gsize start = out->len;
  for (guint i = 0; plan->filter != NULL && i < tide_key_filter_n_open(plan->filter); i++) {
    TideBytes bytes = tide_key_filter_open_bytes(plan->filter, i);
    gboolean is_worth_it = bytes.len >= 2;
    for (gsize k = 0; k < bytes.len; k++) /* characters that need no escape in the filter language */
      is_worth_it = is_worth_it && (g_ascii_isalnum(bytes.data[k]) ||
                                    (bytes.data[k] != 0 && strchr("._-:/#@", bytes.data[k]) != NULL));
    if (!is_worth_it)
      continue;
    if (out->len > start)
      tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL(" AND "));
    tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL("RowFilter (=, 'substring:"));
    tide_buffer_append_bytes(out, bytes);
    tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL("')"));
  }
}

/* ---- the scan ---- */

static void
clear_head(gpointer data)
{
  tide_range_reader_free(((Head *)data)->reader);
}

TideTableScan *
tide_table_scan_new(const TideTableScanPlan *plan, const TideFieldNames *names, TideScanFunc scan_func,
                    gpointer scan_data)
{
  TideTableScan *scan = g_new0(TideTableScan, 1);
  scan->plan = plan;
  scan->rows_wanted = plan->request.limit_rows > 0 ? plan->request.limit_rows : G_MAXUINT64;
  /* Fewer rows per page if many ranges share the memory, and no more than are wanted in total. */
  gsize page_rows = CLAMP(TIDE_TABLE_SCAN_MEMORY_ROWS / MAX(plan->ranges->len, 1), TIDE_TABLE_SCAN_MIN_PAGE_ROWS,
                          TIDE_TABLE_SCAN_MAX_PAGE_ROWS);
  /* Thousands of rows may arrive of which none is shown. */
  gboolean is_sifted = plan->filter != NULL && tide_key_filter_n_open(plan->filter) > 0;
  TideRangeReaderOptions options = {
      .scan = scan_func,
      .scan_data = scan_data,
      .reversed = plan->reversed,
      .page_rows = (guint32)(is_sifted ? page_rows : MIN(page_rows, scan->rows_wanted)),
      .page_bytes = TIDE_TABLE_SCAN_MEMORY_BYTES / MAX(plan->ranges->len, 1),
      .is_sifted = is_sifted,
      .rows_wanted = &scan->rows_wanted,
  };
  tide_table_scan_plan_append_hbase_filter(plan, &scan->hbase_filter);
  options.filter = tide_buffer_bytes(&scan->hbase_filter);
  if (plan->columns != NULL)
    options.columns = tide_column_choice_asked(plan->columns, &options.n_columns);
  tide_table_scan_plan_cell_times(plan, &options.min_time_ms, &options.max_time_ms);
  scan->heads = g_array_new(FALSE, FALSE, sizeof(Head));
  g_array_set_clear_func(scan->heads, clear_head);
  for (guint i = 0; i < plan->ranges->len; i++) {
    /* In key order the ranges follow each other, starting with the last one if reversed. */
    guint index = plan->reversed ? plan->ranges->len - 1 - i : i;
    Head head = {.reader = tide_range_reader_new(&g_array_index(plan->ranges, TideKeyRange, index), &options)};
    g_array_append_val(scan->heads, head);
  }
  tide_key_reader_init(&scan->keys, plan->table, names);
  return scan;
}

void
tide_table_scan_free(TideTableScan *scan)
{
  if (scan == NULL)
    return;
  g_array_unref(scan->heads);
  tide_key_reader_clear(&scan->keys);
  tide_buffer_clear_memory(&scan->hbase_filter);
  g_free(scan);
}

/* Equal times are ordered by key, so that the order is always the same. */
static gboolean
is_before(TideRowOrder order, const Head *head, const Head *other)
{
  if (head->time_ns != other->time_ns)
    return order == TIDE_ROW_ORDER_OLDEST ? head->time_ns < other->time_ns : head->time_ns > other->time_ns;
  return tide_bytes_compare(head->row->row, other->row->row) < 0;
}

/* Returns the next row of all ranges in the plan's order; NULL at the end. */
static gboolean
next_row(TideTableScan *scan, const TideResultRow **ret_row, GError **error)
{
  TideRowOrder order = scan->plan->order;
  if (scan->has_shown) {
    Head *shown = &g_array_index(scan->heads, Head, scan->shown);
    tide_range_reader_pass(shown->reader);
    shown->row = NULL;
  }
  scan->has_shown = FALSE;
  *ret_row = NULL;

  /* Comparing every head costs less than fetching the page: there are as many ranges as salts, some dozens. */
  for (guint i = 0; i < scan->heads->len && !(scan->has_shown && order == TIDE_ROW_ORDER_KEY);) {
    Head *head = &g_array_index(scan->heads, Head, i);
    gboolean is_new = head->row == NULL;
    if (is_new && !tide_range_reader_peek(head->reader, &head->row, error))
      return FALSE;
    if (head->row == NULL) {
      g_array_remove_index(scan->heads, i);
      continue;
    }
    if (is_new && order != TIDE_ROW_ORDER_KEY)
      head->time_ns = tide_key_reader_read(&scan->keys, head->row).time_ns;
    if (!scan->has_shown || is_before(order, head, &g_array_index(scan->heads, Head, scan->shown))) {
      scan->has_shown = TRUE;
      scan->shown = i;
      *ret_row = head->row;
    }
    i++;
  }
  return TRUE;
}

gboolean
tide_table_scan_next(TideTableScan *scan, TideScannedRow *ret_row, GError **error)
{
  *ret_row = (TideScannedRow){0};
  while (scan->rows_wanted > 0) {
    const TideResultRow *row;
    if (!next_row(scan, &row, error))
      return FALSE;
    if (row == NULL)
      return TRUE;
    TideKeyMatch match =
        scan->plan->filter != NULL ? tide_key_filter_match(scan->plan->filter, row->row) : TIDE_KEY_TAKEN;
    scan->n_foreign += match == TIDE_KEY_FOREIGN ? 1 : 0;
    if (match != TIDE_KEY_TAKEN)
      continue;
    const TideTableScanRequest *request = &scan->plan->request;
    const TideDecodedKey *key = &scan->keys.decoded;
    TideScannedRow scanned = tide_key_reader_read(&scan->keys, row);
    /* Rows of a key without times cannot be checked. */
    if (scanned.fields != NULL && key->has_time && (key->from_ns >= request->to_ns || key->to_ns <= request->from_ns))
      continue;
    *ret_row = scanned;
    return TRUE;
  }
  return TRUE;
}

void
tide_table_scan_report_foreign(const TideTableScan *scan, const char *command)
{
  if (scan->n_foreign == 0)
    return;
  g_autofree char *rows = tide_count_of(scan->n_foreign, "row", NULL);
  tide_say("tidemark %s: omitted from '%s': %s with keys that do not match the declared scheme, so that their fields "
           "are unknown",
           command, scan->plan->table->name, rows);
}

void
tide_table_scan_take(TideTableScan *scan)
{
  if (scan->rows_wanted != G_MAXUINT64)
    scan->rows_wanted--;
}

gsize
tide_table_scan_buffered_bytes(const TideTableScan *scan)
{
  gsize n_bytes = 0;
  for (guint i = 0; i < scan->heads->len; i++)
    n_bytes += tide_range_reader_buffered_bytes(g_array_index(scan->heads, Head, i).reader);
  return n_bytes;
}
