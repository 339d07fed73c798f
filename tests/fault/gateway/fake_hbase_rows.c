/* Rows of the fake HBase: puts, scans, the write log, and calls in flight. */
#include "fault/gateway/fake_hbase_private.h"
#include "util/clock.h"

/* HConstants.MAX_ROW_LENGTH and hbase.client.keyvalue.maxsize. */
#define MAX_ROW_BYTES G_MAXINT16
#define MAX_CELL_BYTES (10 * 1024 * 1024)

struct TideFakeFlight {
  TideFakeTable *table; /* the HBase's; NULL when there was none */
  GPtrArray *regions;   /* owned (element-type TideFakeLiveRegion), each once; they are the table's */
  GHashTable *rows;     /* owned: GBytes, each once */
};

void
fake_write_free(gpointer data)
{
  TideFakeWrite *write = data;
  g_free(write->table);
  fake_bytes_free(write->row);
  fake_bytes_free(write->family);
  fake_bytes_free(write->qualifier);
  fake_bytes_free(write->value);
  g_free(write);
}

static gpointer
write_copy(gconstpointer source, gpointer unused)
{
  TideFakeWrite *write = g_memdup2(source, sizeof *write);
  write->table = g_strdup(write->table);
  write->row = fake_bytes_copy(write->row);
  write->family = fake_bytes_copy(write->family);
  write->qualifier = fake_bytes_copy(write->qualifier);
  write->value = fake_bytes_copy(write->value);
  return write;
}

/* What the client inside the gateway refuses before it sends anything. */
static gboolean
rows_are_possible(const TideFakeRow *rows, guint n_rows)
{
  for (guint i = 0; i < n_rows; i++) {
    gboolean is_empty = rows[i].has_empty_put || (rows[i].n_cells == 0 && rows[i].n_deletes == 0);
    if (rows[i].row.len == 0 || rows[i].row.len > MAX_ROW_BYTES || is_empty)
      return FALSE;
    for (guint k = 0; k < rows[i].n_cells; k++)
      if (rows[i].cells[k].value.len > MAX_CELL_BYTES)
        return FALSE;
    for (guint k = 0; k < rows[i].n_deletes; k++)
      if (rows[i].deletes[k].to_ms < 0)
        return FALSE;
  }
  return TRUE;
}

static void
log_write_locked(TideFakeHBase *hbase, const char *table, const TideFakeRow *row, const TideFakeCell *cell,
                 gboolean is_delete, TideFakeOrigin origin)
{
  if (hbase->writes->len >= hbase->max_writes)
    return;
  TideFakeWrite write = {.origin = origin,
                         .table = (char *)fake_hbase_plain_name(table),
                         .row = row->row,
                         .ttl_ms = row->ttl_ms,
                         .family = cell->family,
                         .qualifier = cell->qualifier,
                         .value = cell->value,
                         .timestamp_ms = cell->timestamp_ms,
                         .applied_us = tide_now_us(),
                         .is_delete = is_delete};
  g_ptr_array_add(hbase->writes, write_copy(&write, NULL));
}

/* The first family of @row that the table lacks; NULL when it has them all. */
static const TideBytes *
stray_family(const TideFakeTable *table, const TideFakeRow *row)
{
  for (guint i = 0; i < row->n_deletes; i++)
    if (fake_table_family(table, row->deletes[i].family) == NULL)
      return &row->deletes[i].family;
  for (guint i = 0; i < row->n_cells; i++)
    if (fake_table_family(table, row->cells[i].family) == NULL)
      return &row->cells[i].family;
  return NULL;
}

static void
write_row_locked(TideFakeHBase *hbase, TideFakeTable *table, const TideFakeRow *row, TideFakeOrigin origin)
{
  TideFakeStoredRow *stored = fake_table_row(table, row->row);
  for (guint i = 0; i < row->n_deletes; i++) {
    TideFakeCell deleted = {.family = row->deletes[i].family, .timestamp_ms = row->deletes[i].to_ms};
    fake_table_delete(stored, fake_table_family(table, deleted.family), deleted.timestamp_ms);
    log_write_locked(hbase, table->spec->name, row, &deleted, TRUE, origin);
  }
  for (guint i = 0; i < row->n_cells; i++) {
    TideFakeCell cell = row->cells[i];
    if (cell.timestamp_ms == TIDE_FAKE_NO_TIMESTAMP)
      cell.timestamp_ms = tide_wall_clock_epoch_ms();
    fake_table_write(table, stored, fake_table_family(table, cell.family), &cell, row->ttl_ms);
    log_write_locked(hbase, table->spec->name, row, &cell, FALSE, origin);
  }
}

static void
set_family_error(TideFakeError *error, const TideFakeTable *table, TideBytes family, gboolean can_retry)
{
  g_autofree char *name = tide_bytes_printable(family);
  fake_error_set(error, TIDE_FAKE_ERROR_IO, can_retry,
                 "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family %s does not exist "
                 "in region %s,,1.fake. in table '%s'\n"
                 "\tat org.apache.hadoop.hbase.regionserver.HRegion.checkFamily(HRegion.java:7916)\n",
                 name, table->spec->name, table->spec->name);
}

/* The value of @row that is longer than HBase takes; NULL: none is. */
static const TideFakeCell *
oversized_cell(const TideFakeHBase *hbase, const TideFakeRow *row)
{
  for (guint i = 0; hbase->max_cell_bytes > 0 && i < row->n_cells; i++)
    if (row->cells[i].value.len > hbase->max_cell_bytes)
      return &row->cells[i];
  return NULL;
}

/* As RSRpcServices writes it; no retry, whatever the gateway says of that. */
static void
set_size_error(TideFakeError *error, const TideFakeHBase *hbase, const TideFakeCell *cell)
{
  g_autofree char *qualifier = tide_bytes_printable(cell->qualifier);
  fake_error_set(error, TIDE_FAKE_ERROR_IO, TRUE,
                 "org.apache.hadoop.hbase.DoNotRetryIOException: Cell[%s] with size %zu exceeds limit of %zu bytes\n"
                 "\tat org.apache.hadoop.hbase.regionserver.RSRpcServices.checkCellSizeLimit(RSRpcServices.java:862)\n",
                 qualifier, cell->value.len, hbase->max_cell_bytes);
}

/* Writes what can be written; the number of rows that could not. */
static guint
write_rows_locked(TideFakeHBase *hbase, TideFakeTable *table, const TideFakeRow *rows, guint n_rows,
                  TideFakeOrigin origin, TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error)
{
  guint n_failed = 0;
  for (guint i = 0; i < n_rows; i++) {
    const TideBytes *stray = stray_family(table, &rows[i]);
    const TideFakeCell *oversized = oversized_cell(hbase, &rows[i]);
    if (oversized != NULL) {
      if (n_failed++ == 0)
        set_size_error(error, hbase, oversized);
    } else if (stray == NULL) {
      if (filter == NULL || filter(i, rows[i].row, filter_data))
        write_row_locked(hbase, table, &rows[i], origin);
    } else if (n_failed++ == 0) {
      set_family_error(error, table, *stray, TRUE);
    }
  }
  return n_failed;
}

static void
count_failed_actions(TideFakeError *error, guint n_failed)
{
  char *text = g_strdup_printf("Failed %u action%s: %s", n_failed, n_failed == 1 ? "" : "s", error->message);
  g_free(error->message);
  error->message = text;
}

/* What putMultiple and mutateRow have in common, down to the texts of their errors. */
static gboolean
write_rows(TideFakeHBase *hbase, const char *name, const TideFakeRow *rows, guint n_rows, TideFakeOrigin origin,
           TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error)
{
  tide_mutex_lock(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  guint n_failed = n_rows;
  if (table == NULL)
    fake_error_set(error, TIDE_FAKE_ERROR_IO, TRUE, "%s: %u time%s, servers with issues: null",
                   fake_hbase_plain_name(name), n_rows, n_rows == 1 ? "" : "s");
  else if (!table->enabled)
    fake_error_set(error, TIDE_FAKE_ERROR_IO, TRUE,
                   "NotServingRegionException: %u time%s, servers with issues: rs0.example,16020,1", n_rows,
                   n_rows == 1 ? "" : "s");
  else
    n_failed = write_rows_locked(hbase, table, rows, n_rows, origin, filter, filter_data, error);
  tide_cond_broadcast(&hbase->written);
  tide_mutex_unlock(&hbase->mutex);

  if (n_failed > 0)
    count_failed_actions(error, n_failed);
  return n_failed == 0;
}

gboolean
fake_hbase_put(TideFakeHBase *hbase, const char *name, const TideFakeRow *rows, guint n_rows, TideFakeOrigin origin,
               TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error)
{
  if (!rows_are_possible(rows, n_rows)) {
    fake_error_set(error, TIDE_FAKE_ERROR_INTERNAL, FALSE, "Internal error processing putMultiple");
    return FALSE;
  }
  return n_rows == 0 || write_rows(hbase, name, rows, n_rows, origin, filter, filter_data, error);
}

gboolean
fake_hbase_mutate_row(TideFakeHBase *hbase, const char *name, const TideFakeRow *row, TideFakeOrigin origin,
                      TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error)
{
  if (!rows_are_possible(row, 1)) {
    fake_error_set(error, TIDE_FAKE_ERROR_INTERNAL, FALSE, "Internal error processing mutateRow");
    return FALSE;
  }
  return write_rows(hbase, name, row, 1, origin, filter, filter_data, error);
}

void
fake_hbase_set_max_cell_bytes(TideFakeHBase *hbase, gsize max_cell_bytes)
{
  FAKE_HOLD(&hbase->mutex);
  hbase->max_cell_bytes = max_cell_bytes;
}

void
fake_hbase_major_compact(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  gint64 keep_from_ms = G_MAXINT64;
  for (guint i = 0; i < table->spec->attributes->len; i++) {
    const TideFakeAttribute *attribute = &g_array_index(table->spec->attributes, TideFakeAttribute, i);
    if (!tide_bytes_equal(attribute->name, tide_bytes_of_string("hbase.hstore.time.to.purge.deletes")))
      continue;
    g_autofree char *text = g_strndup((const char *)attribute->value.data, attribute->value.len);
    keep_from_ms = tide_wall_clock_epoch_ms() - g_ascii_strtoll(text, NULL, 10);
  }
  fake_table_compact(table, keep_from_ms);
  tide_cond_broadcast(&hbase->written);
}

/* The table that @query can be answered from, NULL with @error. */
static TideFakeTable *
table_for_query_locked(TideFakeHBase *hbase, const char *name, const TideFakeQuery *query, TideFakeError *error)
{
  TideFakeTable *table = fake_hbase_need_table_locked(hbase, name, error);
  if (table == NULL)
    return NULL;
  if (!table->enabled) {
    fake_error_set(error, TIDE_FAKE_ERROR_IO, FALSE, "%s is disabled.", fake_hbase_plain_name(name));
    return NULL;
  }
  for (guint i = 0; i < query->n_columns; i++) {
    if (fake_table_family(table, query->columns[i].family) == NULL) {
      set_family_error(error, table, query->columns[i].family, FALSE);
      return NULL;
    }
  }
  return table;
}

#define FILTER_BEGIN "RowFilter (=, 'substring:"
#define FILTER_END "')"

/* As SubstringComparator does, whatever the case. */
static gboolean
holds_text(TideBytes row, const char *text)
{
  g_autofree char *wanted = g_ascii_strdown(text, -1);
  for (gsize i = 0; i + strlen(wanted) <= row.len; i++)
    if (g_ascii_strncasecmp((const char *)row.data + i, wanted, strlen(wanted)) == 0)
      return TRUE;
  return FALSE;
}

/* @ret_texts: what a row's key must hold, each; FALSE when the filter is another one than it knows. */
static gboolean
parse_filter(TideBytes filter, char ***ret_texts)
{
  g_autofree char *text = g_strndup(filter.len > 0 ? (const char *)filter.data : "", filter.len);
  g_auto(GStrv) parts = g_strsplit(text, " AND ", -1);
  for (guint i = 0; parts[i] != NULL; i++) {
    if (!g_str_has_prefix(parts[i], FILTER_BEGIN) || !g_str_has_suffix(parts[i], FILTER_END))
      return FALSE;
    char *wanted =
        g_strndup(parts[i] + strlen(FILTER_BEGIN), strlen(parts[i]) - strlen(FILTER_BEGIN) - strlen(FILTER_END));
    g_free(parts[i]);
    parts[i] = wanted;
  }
  *ret_texts = g_steal_pointer(&parts);
  return TRUE;
}

static gboolean
passes_filter(TideBytes row, char **texts)
{
  for (; *texts != NULL; texts++)
    if (!holds_text(row, *texts))
      return FALSE;
  return TRUE;
}

guint64
fake_hbase_scan(TideFakeHBase *hbase, const char *name, const TideFakeQuery *query, TideFakeRowFunc func, gpointer data,
                TideFakeError *error)
{
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideFakeCell));
  guint64 n_rows = 0;
  gint64 now_ms = tide_wall_clock_epoch_ms();
  g_auto(GStrv) texts = NULL;
  if (!parse_filter(query->filter, &texts)) {
    fake_error_set(error, TIDE_FAKE_ERROR_ARGUMENT, FALSE, "Incorrect Filter String");
    return 0;
  }
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = table_for_query_locked(hbase, name, query, error);
  GTreeNode *node = table != NULL ? fake_table_scan_first(table, query) : NULL;
  while (node != NULL && (query->limit_rows <= 0 || n_rows < (guint64)query->limit_rows)) {
    const TideFakeStoredRow *row = g_tree_node_value(node);
    g_array_set_size(cells, 0);
    fake_table_visible_cells(table, row, query, now_ms, cells);
    if (cells->len > 0 && passes_filter(row->key, texts)) {
      TideFakeRow seen = {.row = row->key, .cells = (const TideFakeCell *)(void *)cells->data, .n_cells = cells->len};
      func(&seen, data);
      n_rows++;
    }
    node = fake_table_scan_next(node, query);
  }
  return n_rows;
}

void
fake_hbase_log_writes(TideFakeHBase *hbase, guint max_cells)
{
  FAKE_HOLD(&hbase->mutex);
  hbase->max_writes = max_cells;
}

GPtrArray *
fake_hbase_writes(TideFakeHBase *hbase)
{
  FAKE_HOLD(&hbase->mutex);
  return g_ptr_array_copy(hbase->writes, write_copy, NULL);
}

/* One more, or one fewer, call in flight for the row; the new number. */
static guint
count_row_flight(TideFakeTable *table, GBytes *row, int change)
{
  guint flights = GPOINTER_TO_UINT(g_hash_table_lookup(table->row_flights, row));
  flights = change > 0 ? flights + 1 : flights - 1;
  if (flights == 0)
    g_hash_table_remove(table->row_flights, row);
  else
    g_hash_table_insert(table->row_flights, g_bytes_ref(row), GUINT_TO_POINTER(flights));
  return flights;
}

static void
add_to_flight(TideFakeFlight *flight, TideBytes key)
{
  TideFakeTable *table = flight->table;
  GBytes *row = g_bytes_new(key.data, key.len);
  if (g_hash_table_add(flight->rows, row)) {
    guint flights = count_row_flight(table, row, 1); /* not inside of MAX(), which evaluates it twice */
    table->max_row_flights = MAX(table->max_row_flights, flights);
  }
  TideFakeLiveRegion *region = fake_table_region_of(table, key);
  if (g_ptr_array_find(flight->regions, region, NULL))
    return;
  g_ptr_array_add(flight->regions, region);
  region->flights++;
  table->max_region_flights = MAX(table->max_region_flights, region->flights);
}

TideFakeFlight *
fake_hbase_flight_begin(TideFakeHBase *hbase, const char *name, const TideFakeRow *rows, guint n_rows)
{
  TideFakeFlight *flight = g_new0(TideFakeFlight, 1);
  flight->regions = g_ptr_array_new();
  flight->rows = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  FAKE_HOLD(&hbase->mutex);
  flight->table = fake_hbase_find_table_locked(hbase, name);
  for (guint i = 0; flight->table != NULL && i < n_rows; i++)
    add_to_flight(flight, rows[i].row);
  return flight;
}

void
fake_hbase_flight_end(TideFakeHBase *hbase, TideFakeFlight *flight)
{
  if (flight == NULL)
    return;
  GHashTableIter rows;
  gpointer row;
  g_hash_table_iter_init(&rows, flight->rows);
  tide_mutex_lock(&hbase->mutex);
  while (g_hash_table_iter_next(&rows, &row, NULL))
    count_row_flight(flight->table, row, -1);
  for (guint i = 0; i < flight->regions->len; i++)
    ((TideFakeLiveRegion *)flight->regions->pdata[i])->flights--;
  tide_mutex_unlock(&hbase->mutex);
  g_ptr_array_unref(flight->regions);
  g_hash_table_unref(flight->rows);
  g_free(flight);
}

guint
fake_hbase_max_flights_of_a_region(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  return table != NULL ? table->max_region_flights : 0;
}

guint
fake_hbase_max_flights_of_a_row(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  return table != NULL ? table->max_row_flights : 0;
}
