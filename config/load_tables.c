/* The tables: names, keys, columns, and how they are created. */
#include "config/load.h"
#include "config/table_language.h"
#include "config/yaml_text.h"
#include "util/error.h"

#include <string.h>

#define TABLE_NAME_MAX_BYTES 255 /* it is the name of a folder */
#define MANY_FAMILIES 100        /* each has files and a memory store of its own in every region */

static gboolean
is_name(const char *name, gsize len, const char *extra)
{
  for (gsize i = 0; i < len; i++) {
    if (!g_ascii_isalnum(name[i]) && strchr(extra, name[i]) == NULL)
      return FALSE;
  }
  return len > 0;
}

gboolean
tide_load_check_table_name(const char *name, GError **error)
{
  const char *colon = strchr(name, ':');
  const char *table = colon != NULL ? colon + 1 : name;
  gsize namespace_len = colon != NULL ? (gsize)(colon - name) : 0;

  if (strlen(name) > TABLE_NAME_MAX_BYTES || (colon != NULL && !is_name(name, namespace_len, "_")) ||
      !is_name(table, strlen(table), "_.-") || table[0] == '.' || table[0] == '-') {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                        "is no table name that HBase accepts: letters, digits, _ . and -, with 'namespace:' in front "
                        "or not");
    return FALSE;
  }
  if (namespace_len == 5 && strncmp(name, "hbase", 5) == 0) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "is in the namespace of HBase's own tables");
    return FALSE;
  }
  return TRUE;
}

/* One table while it is loaded. */
typedef struct TableLoad {
  TideLoad *load;
  TideTable *table;
  const TideYamlNode *node;
  char *path; /* "tables.METRIC" */
  TideTableDraft draft;
} TableLoad;

static TideFamilySettings *
find_family(const TideTable *table, const char *name)
{
  for (guint i = 0; i < table->families->len; i++) {
    TideFamilySettings *family = g_ptr_array_index(table->families, i);
    if (strcmp(family->name, name) == 0)
      return family;
  }
  return NULL;
}

static gboolean
is_used(const TideTable *table, const char *family)
{
  for (guint i = 0; i < table->rules->len; i++) {
    const char *used = g_array_index(table->rules, TideColumnRule, i).family;
    if (used != NULL && strcmp(used, family) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
load_family(TableLoad *it, const TideYamlNode *key, const TideYamlNode *node)
{
  g_autofree char *path = g_strconcat(it->path, ".families.", key->text, NULL);
  g_autofree char *shown = tide_problem_quote(key->text);
  g_autoptr(GError) error = NULL;
  TideFamilySettings *family = tide_family_settings_new(key->text);
  TideConfigTarget target = {.base = family, .problems = it->load->problems};

  g_ptr_array_add(it->table->families, family);
  tide_config_group_set_defaults(&tide_family_options, family);
  tide_config_group_read(&tide_family_options, path, node, key->place, &target);
  if (!tide_load_check_family_name(key->text, &error))
    tide_problems_add_error(it->load->problems, key->place, "'%s' %s", shown, error->message);
  else if (!is_used(it->table, key->text))
    tide_problems_add_warning(it->load->problems, key->place, "the family '%s' is declared, but no columns go to it",
                              shown);
}

/* Those that are declared, then those that columns name beside them. */
static void
load_families(TableLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "families");

  if (!tide_yaml_is_null(node) && node->kind != TIDE_YAML_MAPPING) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(it->load->problems, node->place, "'%s.families' must be a mapping of families, got %s",
                            it->path, got);
    return;
  }
  for (guint i = 0; !tide_yaml_is_null(node) && i < node->keys->len; i++)
    load_family(it, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  for (guint i = 0; i < it->table->rules->len; i++) {
    const char *name = g_array_index(it->table->rules, TideColumnRule, i).family;
    if (name != NULL && find_family(it->table, name) == NULL)
      g_ptr_array_add(it->table->families, tide_family_settings_new(name));
  }
  if (it->table->families->len > MANY_FAMILIES)
    tide_problems_add_warning(it->load->problems, it->node->place,
                              "'%s' has %u families: each has files and memory of its own in every region", it->path,
                              it->table->families->len);
}

/* Appends one declared split point; each must sort after the one before it. */
static void
load_split(TableLoad *it, const TideYamlNode *node, GArray *splits)
{
  g_autofree char *path = g_strconcat(it->path, ".splits", NULL);
  TideBytes point = TIDE_BYTES_EMPTY;

  if (!tide_load_bytes(it->load, path, node, &point))
    return;
  if (point.len == 0 || point.len > TIDE_ROW_KEY_MAX_BYTES) {
    tide_problems_add_error(it->load->problems, node->place, "'%s' has a point of %zu bytes, must be 1..%d", path,
                            point.len, TIDE_ROW_KEY_MAX_BYTES);
    return;
  }
  if (splits->len > 0 && tide_bytes_compare(g_array_index(splits, TideBytes, splits->len - 1), point) >= 0) {
    g_autofree char *shown = tide_bytes_printable(point);
    tide_problems_add_error(it->load->problems, node->place,
                            "'%s': '%s' does not sort after the point before it, by unsigned bytes", path, shown);
    return;
  }
  TideBytes copy = tide_bytes(g_memdup2(point.data, point.len), point.len);
  g_array_append_val(splits, copy);
}

static GArray *
load_declared_splits(TableLoad *it, const TideYamlNode *node)
{
  GArray *splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  gboolean is_list = node->kind == TIDE_YAML_LIST;

  if (!is_list || node->values->len == 0) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(it->load->problems, node->place, "'%s.splits' must be a list of keys, got %s", it->path,
                            is_list ? "an empty one" : got);
    return splits;
  }
  for (guint i = 0; i < node->values->len; i++)
    load_split(it, g_ptr_array_index(node->values, i), splits);
  return splits;
}

static GArray *
compute_splits(TableLoad *it, const TideYamlNode *regions)
{
  GArray *splits = it->table->key != NULL ? tide_row_key_splits(it->table->key, it->draft.regions)
                                          : g_array_new(FALSE, FALSE, sizeof(TideBytes));

  if (it->table->key != NULL && it->draft.regions > 1 && splits->len + 1 != it->draft.regions) {
    if (splits->len == 0)
      tide_problems_add_error(it->load->problems, regions->place,
                              "'%s.regions': where to split cannot be computed, because the key does not begin with a "
                              "salt or a hash: give the points, 'splits: [\"g\", \"n\"]'",
                              it->path);
    else
      tide_problems_add_warning(it->load->problems, regions->place,
                                "'%s.regions' is %u, but the key's beginning has only %u values to split at", it->path,
                                it->draft.regions, splits->len + 1);
  }
  return splits;
}

static void
load_splits(TableLoad *it)
{
  const TideYamlNode *splits = tide_yaml_get(it->node, "splits");
  const TideYamlNode *regions = tide_yaml_get(it->node, "regions");

  if (splits != NULL && regions != NULL)
    tide_problems_add_error(it->load->problems, splits->place,
                            "'%s' has 'regions' and 'splits': give one, the points or how many there are", it->path);
  it->table->splits = splits != NULL ? load_declared_splits(it, splits) : compute_splits(it, regions);
}

static gboolean
key_holds_field(const TideRowKey *key, TideNameId field)
{
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));

  tide_row_key_stored_fields(key, ids);
  for (guint i = 0; i < ids->len; i++) {
    if (g_array_index(ids, TideNameId, i) == field)
      return TRUE;
  }
  return FALSE;
}

/* Schemes that work and are hardly what somebody wants. */
static void
warn_of_key(TableLoad *it, const TideYamlNode *key_node, gboolean leads_with_time)
{
  TideNameId time_field = it->load->config->readings.time.field;
  gboolean has_time = tide_row_key_has_time(it->table->key) ||
                      (time_field != TIDE_NAME_NONE && key_holds_field(it->table->key, time_field));

  if (leads_with_time)
    tide_problems_add_warning(it->load->problems, key_node->place,
                              "'%s' begins with the time: all new rows go to one region, whatever the number of "
                              "servers; put a field, a hash or a salt in front",
                              it->path);
  if (it->table->latest != TIDE_LATEST_NONE && has_time)
    tide_problems_add_warning(it->load->problems, key_node->place,
                              "'%s' is a latest table with the time in its key: each reading makes a row of its own, "
                              "and rows pile up",
                              it->path);
  if (it->table->latest == TIDE_LATEST_NONE && !has_time)
    tide_problems_add_warning(it->load->problems, key_node->place,
                              "'%s' has no time in its key: each reading overwrites the one before; say 'latest: "
                              "merge' if that is meant",
                              it->path);
}

static void
load_key(TableLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "key");
  g_autofree char *path = g_strconcat(it->path, ".key", NULL);
  gboolean leads_with_time = FALSE;

  if (node == NULL)
    return; /* said already: it is required */
  it->table->key = tide_load_key(it->load, path, node, &leads_with_time);
  if (it->table->key != NULL)
    warn_of_key(it, node, leads_with_time);
}

static void
load_options(TableLoad *it)
{
  TideConfigTarget target = {.base = &it->draft, .names = it->load->config->names, .problems = it->load->problems};

  tide_config_group_set_defaults(&tide_table_options, &it->draft);
  tide_config_group_read(&tide_table_options, it->path, it->node, it->node->place, &target);
  it->table->latest = it->draft.latest;
  it->table->ttl_ms = it->draft.ttl_ms;
  it->table->lane_prefix_bytes = it->draft.lane_prefix_bytes;
  if (it->table->latest != TIDE_LATEST_NONE && it->table->ttl_ms > 0)
    tide_problems_add_warning(it->load->problems, tide_yaml_get(it->node, "ttl")->place,
                              "'%s' is a latest table with a time to live: what has not reported for %s vanishes from "
                              "it",
                              it->path, tide_yaml_get(it->node, "ttl")->text);
}

static void
load_table_parts(TableLoad *it)
{
  g_autofree char *columns_path = g_strconcat(it->path, ".columns", NULL);
  const TideYamlNode *columns = tide_yaml_get(it->node, "columns");

  load_options(it);
  load_key(it);
  if (columns != NULL)
    tide_load_columns(it->load, columns_path, columns, it->table->rules);
  load_families(it);
  load_splits(it);
}

static TideTable *
new_table(const TideLoad *load, const TideYamlNode *key)
{
  TideTable *table = g_new0(TideTable, 1);

  table->index = load->config->tables->len;
  table->name = g_strdup(key->text);
  table->line = key->place.line;
  table->index_of = TIDE_TABLE_NONE;
  table->rules = g_array_new(FALSE, FALSE, sizeof(TideColumnRule));
  table->families = g_ptr_array_new_with_free_func((GDestroyNotify)tide_family_settings_free);
  return table;
}

static void
load_table(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node)
{
  g_autofree char *shown = tide_problem_quote(key->text);
  g_autoptr(GError) error = NULL;
  const TideTable *same = tide_config_find_table(load->config, key->text);

  if (!tide_load_check_table_name(key->text, &error))
    tide_problems_add_error(load->problems, key->place, "'%s' %s", shown, error->message);
  else if (same != NULL)
    tide_problems_add_error(load->problems, key->place, "the table '%s' stands here twice, first in line %u", shown,
                            same->line);
  TideTable *table = new_table(load, key);
  g_ptr_array_add(load->config->tables, table);
  if (node->kind != TIDE_YAML_MAPPING) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node->place,
                            "'tables.%s' must be a mapping with 'key' and 'columns', got %s", shown, got);
    return;
  }
  TableLoad it = {.load = load, .table = table, .node = node, .path = g_strconcat("tables.", shown, NULL)};
  load_table_parts(&it);
  g_free(it.path);
}

void
tide_load_tables(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_get(load->root, "tables");

  if (tide_yaml_is_null(node) || node->kind != TIDE_YAML_MAPPING || node->keys->len == 0) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node != NULL ? node->place : TIDE_PLACE_FILE,
                            "'tables' must be a mapping with at least one table, got %s", got);
    return;
  }
  for (guint i = 0; i < node->keys->len; i++)
    load_table(load, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  GString *yaml = g_string_new(NULL);
  tide_yaml_append_node(yaml, node, 2, 2);
  load->config->tables_yaml = g_string_free(yaml, FALSE);
}
