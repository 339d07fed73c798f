/* The tables: names, keys, columns, times, and creation. */
#include "config/load/load_table.h"
#include "config/yaml/yaml_text.h"

#include <string.h>

#define MANY_FAMILIES 100 /* each family has its own files and memory store in every region */

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
load_family(TideTableLoad *it, const TideYamlNode *key, const TideYamlNode *node)
{
  g_autofree char *path = g_strconcat(it->path, ".families.", key->text, NULL);
  g_autofree char *shown = tide_yaml_quote(key);
  g_autoptr(GError) error = NULL;
  TideFamilySettings *family = tide_family_settings_new(key->text);
  TideConfigTarget target = {.base = family, .problems = it->load->problems};

  g_ptr_array_add(it->table->families, family);
  tide_config_group_set_defaults(&tide_family_options, family);
  tide_config_group_read(&tide_family_options, path, node, key->position, &target);
  if (it->table->latest != TIDE_LATEST_NONE && family->time_to_live_s > 0)
    tide_load_warning(it->load, key,
                      "the family '%s' of a latest table has a time to live: a device that has not reported for this "
                      "long disappears from the table",
                      shown);
  if (!tide_load_check_family_name(key->text, &error))
    tide_load_error(it->load, key, "'%s' %s", shown, error->message);
  else if (!is_used(it->table, key->text))
    tide_load_warning(it->load, key, "the family '%s' is declared, but no columns use it", shown);
}

/* The declared families, followed by those that only columns name. */
static void
load_families(TideTableLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "families");

  if (!tide_yaml_is_null(node) && node->kind != TIDE_YAML_MAPPING) {
    tide_load_got_error(it->load, node, "'%s.families' must be a mapping of families", it->path);
    return;
  }
  for (guint i = 0; !tide_yaml_is_null(node) && i < node->keys->len; i++)
    load_family(it, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  for (guint i = 0; i < it->table->rules->len; i++) {
    const char *name = g_array_index(it->table->rules, TideColumnRule, i).family;
    if (name != NULL && tide_family_settings_find(it->table->families, tide_bytes_of_string(name)) == NULL)
      g_ptr_array_add(it->table->families, tide_family_settings_new(name));
  }
  if (it->table->families->len > MANY_FAMILIES)
    tide_load_warning(it->load, it->node, "'%s' has %u families: each needs its own files and memory in every region",
                      it->path, it->table->families->len);
}

/* Whether the key part @part is an unquoted text that looks like a field name. */
static gboolean
is_bare_word(const TideYamlNode *part)
{
  if (part->kind != TIDE_YAML_SCALAR || part->is_quoted || tide_yaml_is_null(part))
    return FALSE;
  for (gsize i = 0; i < part->len; i++)
    if (g_ascii_isalpha(part->text[i]))
      return TRUE;
  return FALSE;
}

/* The text would be part of every key although its field was probably intended. Returns TRUE if that was reported. */
static gboolean
has_bare_words(TideLoad *load, const TideYamlNode *key)
{
  gboolean any = FALSE;
  for (guint i = 0; i < tide_yaml_n_items(key); i++) {
    const TideYamlNode *part = tide_yaml_item(key, i);
    if (!is_bare_word(part))
      continue;
    g_autofree char *word = tide_yaml_quote(part);
    tide_load_error(load, part,
                    "'%s' without quotes may be a field or a text: write { field: %s } for the field's value, or "
                    "\"%s\" for the text itself",
                    word, word, word);
    any = TRUE;
  }
  return any;
}

static void
load_cell_time(TideTableLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "cell_time");
  g_autofree char *path = g_strconcat(it->path, ".cell_time", NULL);
  const char *text = node != NULL && node->kind == TIDE_YAML_SCALAR ? node->text : "";

  if (node == NULL || strcmp(text, "event") == 0)
    return;
  if (node->kind == TIDE_YAML_MAPPING) {
    it->table->cell_time_spec = tide_load_table_time(it->load, it->table, path, node);
    it->table->cell_time =
        it->table->cell_time_spec->format == TIDE_TIME_RECORD ? TIDE_CELL_TIME_RECORD : TIDE_CELL_TIME_FIELD;
  } else if (strcmp(text, "record") == 0) {
    it->table->cell_time = TIDE_CELL_TIME_RECORD;
  } else if (strcmp(text, "server") == 0) {
    tide_load_error(it->load, node,
                    "'%s' cannot be the server's time: each replay would create other cells, and the last written "
                    "value would replace the newest one; use event, record or { field: NAME, format: epoch_ms }",
                    path);
  } else {
    tide_load_got_error(it->load, node, "'%s' must be event, record or { field: NAME, format: epoch_ms }", path);
  }
}

static void
load_table_parts(TideTableLoad *it)
{
  TideConfigTarget target = {.base = &it->draft, .names = it->load->config->names, .problems = it->load->problems};
  const TideYamlNode *columns = tide_yaml_get(it->node, "columns"), *time = tide_yaml_get(it->node, "time"),
                     *when = tide_yaml_get(it->node, "when"), *key = tide_yaml_get(it->node, "key");
  g_autofree char *time_path = g_strconcat(it->path, ".time", NULL), *when_path = g_strconcat(it->path, ".when", NULL),
                  *key_path = g_strconcat(it->path, ".key", NULL),
                  *sources_path = g_strconcat(it->path, ".sources", NULL);

  tide_config_group_set_defaults(&tide_table_options, &it->draft);
  tide_config_group_read(&tide_table_options, it->path, it->node, it->node->position, &target);
  it->table->latest = it->draft.latest;
  it->table->tombstone = it->draft.tombstone;
  it->table->ttl_ms = it->draft.ttl_ms;
  it->table->creation.purge_deletes_ms = it->draft.purge_deletes_ms;
  it->table->lane_prefix_bytes = it->draft.lane_prefix_bytes;
  it->table->rows_per_second = it->draft.rows_per_second;
  it->table->sources = tide_load_table_sources(it->load, sources_path, it->node);
  tide_load_table_name(it);
  if (when != NULL) {
    it->table->conditions = g_array_new(FALSE, FALSE, sizeof(TideCondition));
    tide_load_conditions(it->load, when_path, when, it->table->conditions);
  }
  if (time != NULL)
    it->table->time = tide_load_table_time(it->load, it->table, time_path, time);
  load_cell_time(it);
  /* A missing key was already reported. */
  if (key != NULL && !has_bare_words(it->load, key) && tide_load_parts(it->load, key_path, key, &it->key))
    it->table->key = tide_load_key(it->load, key_path, &it->key);
  if (columns != NULL)
    tide_load_columns(it, columns);
  load_families(it);
  tide_load_splits(it);
  tide_load_check_table(it);
  if (it->table->key != NULL)
    tide_load_warn_of_table(it);
}

static void
free_table_load(gpointer data)
{
  TideTableLoad *it = data;

  tide_config_group_clear(&tide_table_options, &it->draft);
  g_array_unref(it->qualifiers);
  g_free(it->path);
  g_free(it);
}

static void
load_table(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node, GPtrArray *loads)
{
  g_autofree char *shown = tide_yaml_quote(key);
  const TideTable *same = tide_config_find_table(load->config, key->text);
  TideTable *table = g_new0(TideTable, 1);

  if (same != NULL)
    tide_load_error(load, key, "the table '%s' is declared twice, first in line %u", shown, same->line);
  table->index = load->config->tables->len;
  table->name = g_strdup(key->text);
  table->line = key->position.line;
  table->index_of = TIDE_TABLE_NONE;
  table->rules = g_array_new(FALSE, FALSE, sizeof(TideColumnRule));
  table->families = g_ptr_array_new_with_free_func((GDestroyNotify)tide_family_settings_free);
  g_ptr_array_add(load->config->tables, table);
  if (node->kind != TIDE_YAML_MAPPING) {
    tide_load_got_error(load, node, "'tables.%s' must be a mapping with 'key' and 'columns'", shown);
    return;
  }
  TideTableLoad *it = g_new0(TideTableLoad, 1);
  it->load = load;
  it->table = table;
  it->key_node = key;
  it->node = node;
  it->path = g_strconcat("tables.", shown, NULL);
  it->qualifiers = g_array_new(FALSE, FALSE, sizeof(TidePartList));
  g_ptr_array_add(loads, it);
  load_table_parts(it);
}

void
tide_load_tables(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_get(load->root, "tables");
  g_autoptr(GPtrArray) loads = g_ptr_array_new_with_free_func(free_table_load);

  gboolean is_mapping = !tide_yaml_is_null(node) && node->kind == TIDE_YAML_MAPPING;
  if (!is_mapping || node->keys->len == 0) {
    g_autofree char *got = is_mapping ? g_strdup("none") : tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node != NULL ? node->position : TIDE_SOURCE_POSITION_FILE,
                            "'tables' must contain at least one table ('METRIC: { key: ..., columns: ... }'), got %s",
                            got);
    return;
  }
  for (guint i = 0; i < node->keys->len; i++)
    load_table(load, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i), loads);
  tide_load_indexes(loads);
  GString *yaml = g_string_new(NULL);
  tide_yaml_append_node(yaml, node, 2, 2);
  load->config->tables_yaml = g_string_free(yaml, FALSE);
}
