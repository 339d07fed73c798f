#include "fault/gateway/fake_table.h"

#include "fault/gateway/fake_hbase_private.h"
#include "util/clock.h"

static int
compare_keys(gconstpointer a, gconstpointer b, gpointer unused)
{
  return tide_bytes_compare(*(const TideBytes *)a, *(const TideBytes *)b);
}

static void
clear_cell(gpointer data)
{
  fake_bytes_free(((TideFakeStoredCell *)data)->qualifier);
}

static void
free_row(gpointer data)
{
  TideFakeStoredRow *row = data;
  fake_bytes_free(row->key);
  g_array_unref(row->cells);
  g_array_unref(row->markers);
  g_free(row);
}

static void
free_region(gpointer data)
{
  TideFakeRegion *region = data;
  fake_bytes_free(region->start_key);
  fake_bytes_free(region->end_key);
  g_free(region);
}

static void
free_live_region(gpointer data)
{
  free_region(&((TideFakeLiveRegion *)data)->region);
}

static TideFakeLiveRegion *
region_new(TideFakeTable *table, TideBytes start_key, TideBytes end_key)
{
  TideFakeLiveRegion *region = g_new0(TideFakeLiveRegion, 1);
  region->region = (TideFakeRegion){.start_key = fake_bytes_copy(start_key),
                                    .end_key = fake_bytes_copy(end_key),
                                    .region_id = table->next_region_id++};
  return region;
}

static int
compare_split_keys(gconstpointer a, gconstpointer b)
{
  return compare_keys(a, b, NULL);
}

TideFakeTable *
fake_table_new(TideFakeTableSpec *spec, const TideBytes *splits, guint n_splits)
{
  TideFakeTable *table = g_new0(TideFakeTable, 1);
  table->spec = spec;
  table->rows = g_tree_new_full(compare_keys, NULL, NULL, free_row);
  table->enabled = TRUE;
  table->n_replicas = 1;
  table->next_region_id = tide_wall_clock_epoch_ms(); /* HBase numbers regions by their time of creation */
  table->regions = g_ptr_array_new_with_free_func(free_live_region);
  table->parents = g_ptr_array_new_with_free_func(free_live_region);
  table->row_flights = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);

  g_autofree TideBytes *sorted = g_memdup2(splits, n_splits * sizeof *splits);
  if (n_splits > 1)
    qsort(sorted, n_splits, sizeof *sorted, compare_split_keys);
  for (guint i = 0; i <= n_splits; i++)
    g_ptr_array_add(table->regions, region_new(table, i > 0 ? sorted[i - 1] : TIDE_BYTES_EMPTY,
                                               i < n_splits ? sorted[i] : TIDE_BYTES_EMPTY));
  return table;
}

void
fake_table_free(TideFakeTable *table)
{
  g_tree_unref(table->rows);
  g_ptr_array_unref(table->regions);
  g_ptr_array_unref(table->parents);
  g_hash_table_unref(table->row_flights);
  fake_table_spec_free(table->spec);
  g_free(table);
}

const char *
fake_table_family(const TideFakeTable *table, TideBytes name)
{
  for (guint i = 0; i < table->spec->families->len; i++) {
    const TideFakeFamily *family = table->spec->families->pdata[i];
    if (tide_bytes_equal(name, tide_bytes_of_string(family->name)))
      return family->name;
  }
  return NULL;
}

TideFakeStoredRow *
fake_table_find_row(const TideFakeTable *table, TideBytes key)
{
  return g_tree_lookup(table->rows, &key);
}

TideFakeStoredRow *
fake_table_row(TideFakeTable *table, TideBytes key)
{
  TideFakeStoredRow *row = fake_table_find_row(table, key);
  if (row != NULL)
    return row;
  row = g_new0(TideFakeStoredRow, 1);
  row->key = fake_bytes_copy(key);
  row->cells = g_array_new(FALSE, FALSE, sizeof(TideFakeStoredCell));
  g_array_set_clear_func(row->cells, clear_cell);
  row->markers = g_array_new(FALSE, FALSE, sizeof(TideFakeMarker));
  g_tree_insert(table->rows, &row->key, row);
  return row;
}

static int
compare_cells(const TideFakeStoredCell *a, const TideFakeStoredCell *b)
{
  int order = a->family == b->family ? 0 : strcmp(a->family, b->family);
  if (order == 0)
    order = tide_bytes_compare(a->qualifier, b->qualifier);
  if (order == 0 && a->timestamp_ms != b->timestamp_ms)
    order = a->timestamp_ms > b->timestamp_ms ? -1 : 1;
  return order;
}

/* The index of the first cell that is not before @cell. */
static guint
cell_position(const GArray *cells, const TideFakeStoredCell *cell)
{
  guint low = 0, high = cells->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (compare_cells(&g_array_index(cells, TideFakeStoredCell, middle), cell) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void
fake_table_write(TideFakeTable *table, TideFakeStoredRow *row, const char *family, const TideFakeCell *cell,
                 gint64 ttl_ms)
{
  gsize qualifier_len = cell->qualifier.len;
  guint8 *bytes = g_malloc(qualifier_len + cell->value.len + 1); /* + 1: never NULL */
  if (qualifier_len > 0)
    memcpy(bytes, cell->qualifier.data, qualifier_len);
  if (cell->value.len > 0)
    memcpy(bytes + qualifier_len, cell->value.data, cell->value.len);
  TideFakeStoredCell stored = {.family = family,
                               .qualifier = tide_bytes(bytes, qualifier_len),
                               .value = tide_bytes(bytes + qualifier_len, cell->value.len),
                               .timestamp_ms = cell->timestamp_ms,
                               .ttl_ms = ttl_ms};

  guint position = cell_position(row->cells, &stored);
  TideFakeStoredCell *there =
      position < row->cells->len ? &g_array_index(row->cells, TideFakeStoredCell, position) : NULL;
  if (there != NULL && compare_cells(there, &stored) == 0) {
    clear_cell(there);
    *there = stored;
    return;
  }
  g_array_insert_val(row->cells, position, stored);
  table->n_cells++;
}

void
fake_table_delete(TideFakeStoredRow *row, const char *family, gint64 to_ms)
{
  TideFakeMarker marker = {family, to_ms};
  g_array_append_val(row->markers, marker);
}

gboolean
fake_table_is_deleted(const TideFakeStoredRow *row, const TideFakeStoredCell *cell)
{
  for (guint i = 0; i < row->markers->len; i++) {
    const TideFakeMarker *marker = &g_array_index(row->markers, TideFakeMarker, i);
    if (marker->family == cell->family && marker->to_ms >= cell->timestamp_ms)
      return TRUE;
  }
  return FALSE;
}

static void
compact_row(TideFakeTable *table, TideFakeStoredRow *row, gint64 keep_from_ms)
{
  for (guint i = row->cells->len; i-- > 0;) {
    if (!fake_table_is_deleted(row, &g_array_index(row->cells, TideFakeStoredCell, i)))
      continue;
    g_array_remove_index(row->cells, i);
    table->n_cells--;
  }
  for (guint i = row->markers->len; i-- > 0;)
    if (g_array_index(row->markers, TideFakeMarker, i).to_ms < keep_from_ms)
      g_array_remove_index(row->markers, i);
}

void
fake_table_compact(TideFakeTable *table, gint64 keep_from_ms)
{
  for (GTreeNode *node = g_tree_node_first(table->rows), *next; node != NULL; node = next) {
    TideFakeStoredRow *row = g_tree_node_value(node);
    next = g_tree_node_next(node);
    compact_row(table, row, keep_from_ms);
    if (row->cells->len > 0 || row->markers->len > 0)
      continue;
    TideBytes next_key = next != NULL ? ((TideFakeStoredRow *)g_tree_node_value(next))->key : TIDE_BYTES_EMPTY;
    g_tree_remove(table->rows, &row->key); /* moves nodes */
    next = next != NULL ? g_tree_lookup_node(table->rows, &next_key) : NULL;
  }
}

static const TideFakeFamily *
family_settings(const TideFakeTable *table, const char *name)
{
  for (guint i = 0; i < table->spec->families->len; i++) {
    const TideFakeFamily *family = table->spec->families->pdata[i];
    if (family->name == name)
      return family;
  }
  g_assert_not_reached();
}

static gboolean
query_wants(const TideFakeQuery *query, const TideFakeStoredCell *cell)
{
  gboolean timed = query->min_time_ms != 0 || query->max_time_ms != 0;
  if (timed && (cell->timestamp_ms < query->min_time_ms || cell->timestamp_ms >= query->max_time_ms))
    return FALSE;
  for (guint i = 0; i < query->n_columns; i++) {
    const TideFakeColumn *column = &query->columns[i];
    if (tide_bytes_equal(column->family, tide_bytes_of_string(cell->family)) &&
        (!column->has_qualifier || tide_bytes_equal(column->qualifier, cell->qualifier)))
      return TRUE;
  }
  return query->n_columns == 0;
}

static gboolean
is_expired(const TideFakeStoredCell *cell, const TideFakeFamily *family, gint64 now_ms)
{
  if (cell->ttl_ms > 0 && now_ms - cell->timestamp_ms > cell->ttl_ms)
    return TRUE;
  return family->time_to_live_s != G_MAXINT32 &&
         now_ms - cell->timestamp_ms > family->time_to_live_s * G_GINT64_CONSTANT(1000);
}

void
fake_table_visible_cells(const TideFakeTable *table, const TideFakeStoredRow *row, const TideFakeQuery *query,
                         gint64 now_ms, GArray *cells)
{
  const TideFakeStoredCell *column = NULL; /* the first cell of the column under way */
  gint32 n_versions = 0;
  for (guint i = 0; i < row->cells->len; i++) {
    const TideFakeStoredCell *cell = &g_array_index(row->cells, TideFakeStoredCell, i);
    if (column == NULL || column->family != cell->family || !tide_bytes_equal(column->qualifier, cell->qualifier)) {
      column = cell;
      n_versions = 0;
    }
    const TideFakeFamily *family = family_settings(table, cell->family);
    gint32 max_versions = MIN(MAX(query->max_versions, 1), family->max_versions);
    if (n_versions == max_versions || !query_wants(query, cell) || is_expired(cell, family, now_ms) ||
        fake_table_is_deleted(row, cell))
      continue;
    n_versions++;
    TideFakeCell seen = {tide_bytes_of_string(cell->family), cell->qualifier, cell->value, cell->timestamp_ms};
    g_array_append_val(cells, seen);
  }
}

static GTreeNode *
stop_at_end(GTreeNode *node, const TideFakeQuery *query)
{
  if (node == NULL || query->stop_row.len == 0)
    return node;
  const TideBytes *key = g_tree_node_key(node);
  int order = tide_bytes_compare(*key, query->stop_row);
  return (query->reversed ? order > 0 : order < 0) ? node : NULL;
}

GTreeNode *
fake_table_scan_first(const TideFakeTable *table, const TideFakeQuery *query)
{
  GTree *rows = table->rows;
  const TideBytes *start = &query->start_row;
  if (start->len == 0 && !query->after_start)
    return stop_at_end(query->reversed ? g_tree_node_last(rows) : g_tree_node_first(rows), query);
  if (!query->reversed)
    return stop_at_end(query->after_start ? g_tree_upper_bound(rows, start) : g_tree_lower_bound(rows, start), query);
  GTreeNode *above = query->after_start ? g_tree_lower_bound(rows, start) : g_tree_upper_bound(rows, start);
  return stop_at_end(above != NULL ? g_tree_node_previous(above) : g_tree_node_last(rows), query);
}

GTreeNode *
fake_table_scan_next(GTreeNode *node, const TideFakeQuery *query)
{
  return stop_at_end(query->reversed ? g_tree_node_previous(node) : g_tree_node_next(node), query);
}

static guint
region_index(const TideFakeTable *table, TideBytes key)
{
  guint low = 0, high = table->regions->len;
  while (high - low > 1) {
    guint middle = low + (high - low) / 2;
    const TideFakeLiveRegion *region = table->regions->pdata[middle];
    if (tide_bytes_compare(region->region.start_key, key) <= 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

TideFakeLiveRegion *
fake_table_region_of(const TideFakeTable *table, TideBytes key)
{
  return table->regions->pdata[region_index(table, key)];
}

void
fake_table_split(TideFakeTable *table, TideBytes key, gboolean list_parent)
{
  guint index = region_index(table, key);
  TideFakeLiveRegion *parent = g_ptr_array_steal_index(table->regions, index);
  g_ptr_array_insert(table->regions, (int)index, region_new(table, parent->region.start_key, key));
  g_ptr_array_insert(table->regions, (int)index + 1, region_new(table, key, parent->region.end_key));
  parent->region.offline = parent->region.split = list_parent;
  g_ptr_array_add(table->parents, parent);
}

void
fake_table_merge(TideFakeTable *table, TideBytes key)
{
  guint index = region_index(table, key);
  g_assert_cmpuint(index + 1, <, table->regions->len);
  TideFakeLiveRegion *left = g_ptr_array_steal_index(table->regions, index);
  TideFakeLiveRegion *right = g_ptr_array_steal_index(table->regions, index);
  g_ptr_array_insert(table->regions, (int)index, region_new(table, left->region.start_key, right->region.end_key));
  g_ptr_array_add(table->parents, left);
  g_ptr_array_add(table->parents, right);
}

static void
list_region(GPtrArray *list, const TideFakeRegion *region, gint32 replica_id)
{
  TideFakeRegion *copy = g_memdup2(region, sizeof *region);
  copy->start_key = fake_bytes_copy(region->start_key);
  copy->end_key = fake_bytes_copy(region->end_key);
  copy->replica_id = replica_id;
  g_ptr_array_add(list, copy);
}

GPtrArray *
fake_table_list_regions(const TideFakeTable *table)
{
  GPtrArray *list = g_ptr_array_new_with_free_func(free_region);
  for (guint i = 0; i < table->parents->len; i++) {
    const TideFakeLiveRegion *parent = table->parents->pdata[i];
    if (parent->region.offline)
      list_region(list, &parent->region, 0);
  }
  for (guint i = 0; i < table->regions->len; i++)
    for (gint32 replica = 0; replica < table->n_replicas; replica++)
      list_region(list, &((const TideFakeLiveRegion *)table->regions->pdata[i])->region, replica);
  return list;
}
