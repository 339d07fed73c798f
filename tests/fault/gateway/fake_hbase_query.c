/* Queries of the fake HBase for assertions: values, counts, dumps, and waiting for them. */
#include "fault/gateway/fake_hbase_private.h"

/* The newest version of a cell that is not deleted, under the lock; NULL when there is none. */
static const TideFakeStoredCell *
find_cell_locked(TideFakeHBase *hbase, const char *name, const char *row_key, const char *family, const char *qualifier)
{
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  const TideFakeStoredRow *row = table != NULL ? fake_table_find_row(table, tide_bytes_of_string(row_key)) : NULL;
  for (guint i = 0; row != NULL && i < row->cells->len; i++) {
    const TideFakeStoredCell *cell = &g_array_index(row->cells, TideFakeStoredCell, i);
    if (strcmp(cell->family, family) == 0 && tide_bytes_equal(cell->qualifier, tide_bytes_of_string(qualifier)) &&
        !fake_table_is_deleted(row, cell))
      return cell;
  }
  return NULL;
}

GBytes *
fake_hbase_value(TideFakeHBase *hbase, const char *table, const char *row, const char *family, const char *qualifier,
                 gint64 *ret_timestamp_ms)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeStoredCell *cell = find_cell_locked(hbase, table, row, family, qualifier);
  GBytes *value = cell != NULL ? g_bytes_new(cell->value.data, cell->value.len) : NULL;
  if (cell != NULL && ret_timestamp_ms != NULL)
    *ret_timestamp_ms = cell->timestamp_ms;
  return value;
}

static guint64
row_count_locked(TideFakeHBase *hbase, const char *name)
{
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  return table != NULL ? (guint64)g_tree_nnodes(table->rows) : 0;
}

guint64
fake_hbase_row_count(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  return row_count_locked(hbase, name);
}

guint64
fake_hbase_cell_count(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  return table != NULL ? table->n_cells : 0;
}

guint64
fake_hbase_marker_count(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  guint64 n_markers = 0;
  for (GTreeNode *node = table != NULL ? g_tree_node_first(table->rows) : NULL; node != NULL;
       node = g_tree_node_next(node))
    n_markers += ((const TideFakeStoredRow *)g_tree_node_value(node))->markers->len;
  return n_markers;
}

static void
dump_cell(GString *text, TideBytes row, TideBytes family, TideBytes qualifier, gint64 timestamp_ms, TideBytes value)
{
  g_autofree char *printable_row = tide_bytes_printable(row);
  g_autofree char *printable_family_name = tide_bytes_printable(family);
  g_autofree char *printable_qualifier = tide_bytes_printable(qualifier);
  g_autofree char *printable_value = tide_bytes_printable(value);
  g_string_append_printf(text, "%s\t%s:%s\t%" G_GINT64_FORMAT "\t%s\n", printable_row, printable_family_name,
                         printable_qualifier, timestamp_ms, printable_value);
}

static void
dump_visible_row(const TideFakeRow *row, gpointer data)
{
  for (guint i = 0; i < row->n_cells; i++) {
    const TideFakeCell *cell = &row->cells[i];
    dump_cell(data, row->row, cell->family, cell->qualifier, cell->timestamp_ms, cell->value);
  }
}

static void
dump_all_versions(TideFakeHBase *hbase, const char *name, GString *text)
{
  FAKE_HOLD(&hbase->mutex);
  const TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  for (GTreeNode *node = table != NULL ? g_tree_node_first(table->rows) : NULL; node != NULL;
       node = g_tree_node_next(node)) {
    const TideFakeStoredRow *row = g_tree_node_value(node);
    for (guint i = 0; i < row->cells->len; i++) {
      const TideFakeStoredCell *cell = &g_array_index(row->cells, TideFakeStoredCell, i);
      dump_cell(text, row->key, tide_bytes_of_string(cell->family), cell->qualifier, cell->timestamp_ms, cell->value);
    }
  }
}

char *
fake_hbase_dump(TideFakeHBase *hbase, const char *table, gboolean all_versions)
{
  GString *text = g_string_new(NULL);
  TideFakeQuery everything = {.max_versions = 1};
  g_auto(TideFakeError) error = {0}; /* a missing table is an empty dump */
  if (all_versions)
    dump_all_versions(hbase, table, text);
  else
    fake_hbase_scan(hbase, table, &everything, dump_visible_row, text, &error);
  return g_string_free(text, FALSE);
}

gboolean
fake_hbase_wait_rows(TideFakeHBase *hbase, const char *table, guint64 n_rows, gint64 deadline_us)
{
  FAKE_HOLD(&hbase->mutex);
  gboolean in_time = TRUE;
  while (row_count_locked(hbase, table) < n_rows && in_time)
    in_time = tide_cond_wait_until(&hbase->written, &hbase->mutex, deadline_us);
  return row_count_locked(hbase, table) >= n_rows;
}

static gboolean
cell_holds(const TideFakeStoredCell *cell, const char *value)
{
  return cell != NULL && tide_bytes_equal(cell->value, tide_bytes_of_string(value));
}

gboolean
fake_hbase_wait_value(TideFakeHBase *hbase, const char *table, const char *row, const char *family,
                      const char *qualifier, const char *value, gint64 deadline_us)
{
  FAKE_HOLD(&hbase->mutex);
  gboolean in_time = TRUE;
  while (!cell_holds(find_cell_locked(hbase, table, row, family, qualifier), value) && in_time)
    in_time = tide_cond_wait_until(&hbase->written, &hbase->mutex, deadline_us);
  return cell_holds(find_cell_locked(hbase, table, row, family, qualifier), value);
}
