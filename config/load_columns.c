/* Columns: which fields of a reading become cells of a table, and under which names. */
#include "config/load.h"
#include "config/table_language.h"
#include "util/error.h"

#include <string.h>

#define FAMILY_MAX_BYTES 127 /* Byte.MAX_VALUE: HBase stores the length in one byte */
#define LONG_FAMILY_BYTES 16 /* stored with every cell, so a long one is worth a warning */

gboolean
tide_load_check_family_name(const char *name, GError **error)
{
  gsize len = strlen(name);
  gboolean is_good = len > 0 && len <= FAMILY_MAX_BYTES && name[0] != '.' && strcmp(name, "recovered.edits") != 0;

  for (gsize i = 0; i < len; i++)
    is_good &= !g_ascii_iscntrl(name[i]) && strchr(":/\\", name[i]) == NULL;
  if (!is_good)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "is no family name that HBase accepts: 1 to %d bytes, without : / \\ and control characters, not "
                "beginning with a dot",
                FAMILY_MAX_BYTES);
  return is_good;
}

static void
check_family(TideLoad *load, const char *path, const TideYamlNode *node, const char *family)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *shown = tide_problem_quote(family);

  if (!tide_load_check_family_name(family, &error))
    tide_problems_add_error(load->problems, node->place, "'%s.family': '%s' %s", path, shown, error->message);
  else if (strlen(family) > LONG_FAMILY_BYTES)
    tide_problems_add_warning(load->problems, node->place,
                              "the family name '%s' is stored with every cell: one or two letters do", shown);
}

/* The fields of one entry while they are collected. */
typedef struct FieldList {
  GArray *items;    /* (element-type TideColumnItem) */
  GHashTable *seen; /* borrowed: "family:qualifier" of the whole table */
} FieldList;

static char *
qualifier_text(const TideLoad *load, const TideColumnDraft *draft)
{
  if (draft->qualifier != NULL)
    return g_strdup(draft->qualifier);
  TideBytes name = tide_field_names_text(load->config->names, draft->field);
  return g_strndup((const char *)name.data, name.len);
}

static void
add_field(TideLoad *load, const TideYamlNode *node, const char *family, TideColumnDraft *draft, FieldList *list)
{
  g_autofree char *qualifier = qualifier_text(load, draft);
  g_autofree char *column = g_strconcat(family, ":", qualifier, NULL);

  if (g_hash_table_contains(list->seen, column)) {
    g_autofree char *shown = tide_problem_quote(column);
    tide_problems_add_error(load->problems, node->place,
                            "the column '%s' is made twice: name one of them otherwise with { field: NAME, as: "
                            "QUALIFIER }",
                            shown);
  }
  g_hash_table_add(list->seen, g_steal_pointer(&column));
  TideColumnItem item = {.field = draft->field, .qualifier = g_steal_pointer(&draft->qualifier), .encoding = -1};
  g_array_append_val(list->items, item);
}

/* "NAME" or { field: NAME, as: QUALIFIER }. */
static void
load_field(TideLoad *load, const char *path, const TideYamlNode *node, const char *family, FieldList *list)
{
  TideColumnDraft draft = {.field = TIDE_NAME_NONE};
  TideConfigTarget target = {.base = &draft, .names = load->config->names, .problems = load->problems};
  g_autoptr(GError) error = NULL;

  if (node->kind == TIDE_YAML_SCALAR) {
    if (tide_yaml_is_null(node) || !tide_config_option_check_field_name(node->text, node->len, &error)) {
      g_autofree char *got = tide_yaml_describe(node);
      tide_problems_add_error(load->problems, node->place, "'%s' %s, got %s", path,
                              error != NULL ? error->message : "must be the name of a field", got);
      return;
    }
    draft.field = tide_field_names_intern(load->config->names, tide_bytes(node->text, node->len));
  } else {
    tide_config_group_read(&tide_column_field_options, path, node, node->place, &target);
  }
  if (draft.field != TIDE_NAME_NONE)
    add_field(load, node, family, &draft, list);
  g_free(draft.qualifier);
}

static gboolean
is_star(const TideYamlNode *node)
{
  return node->kind == TIDE_YAML_SCALAR && strcmp(node->text, "*") == 0;
}

static void
load_fields(TideLoad *load, const char *path, const TideYamlNode *from, TideColumnRule *rule, GHashTable *seen)
{
  gboolean is_list = from->kind == TIDE_YAML_LIST;
  g_autofree char *from_path = g_strconcat(path, ".from", NULL);
  FieldList list = {.items = g_array_new(FALSE, FALSE, sizeof(TideColumnItem)), .seen = seen};

  for (guint i = 0; i < (is_list ? from->values->len : 1); i++) {
    const TideYamlNode *item = is_list ? g_ptr_array_index(from->values, i) : from;
    if (is_star(item))
      tide_problems_add_error(load->problems, item->place,
                              "\"*\" stands alone: 'from: \"*\"'; make the named fields an entry of their own");
    else
      load_field(load, from_path, item, rule->family != NULL ? rule->family : "", &list);
  }
  if (is_list && from->values->len == 0)
    tide_problems_add_error(load->problems, from->place, "'%s' names no field: leave the entry out", from_path);
  rule->n_items = list.items->len;
  rule->items = (TideColumnItem *)(gpointer)g_array_free(list.items, FALSE);
}

static void
load_from(TideLoad *load, const char *path, const TideYamlNode *entry, TideColumnRule *rule, GHashTable *seen)
{
  const TideYamlNode *from = tide_yaml_get(entry, "from");
  const TideYamlNode *key_fields = tide_yaml_get(entry, "key_fields");

  if (from == NULL)
    return; /* said already: it is required */
  rule->all_remaining = is_star(from);
  if (!rule->all_remaining)
    load_fields(load, path, from, rule, seen);
  if (key_fields != NULL && !rule->all_remaining)
    tide_problems_add_error(load->problems, key_fields->place,
                            "'%s.key_fields' goes with 'from: \"*\"' only: named fields are taken anyway", path);
}

/* Adds the rule even where it has errors: the load fails then, and the table frees it. */
static gboolean
load_entry(TideLoad *load, const char *path, const TideYamlNode *entry, GHashTable *seen, GArray *rules)
{
  TideColumnRule rule = {0};
  TideConfigTarget target = {.base = &rule, .names = load->config->names, .problems = load->problems};

  tide_config_group_set_defaults(&tide_columns_options, &rule);
  tide_config_group_read(&tide_columns_options, path, entry, entry->place, &target);
  if (rule.family != NULL)
    check_family(load, path, tide_yaml_get(entry, "family"), rule.family);
  load_from(load, path, entry, &rule, seen);
  g_array_append_val(rules, rule);
  return rule.all_remaining;
}

void
tide_load_columns(TideLoad *load, const char *path, const TideYamlNode *node, GArray *rules)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  gboolean is_list = node->kind == TIDE_YAML_LIST;
  guint n_stars = 0;

  if (is_list && node->values->len == 0)
    tide_problems_add_error(load->problems, node->place, "'%s' is empty: a row without cells cannot be written", path);
  for (guint i = 0; i < (is_list ? node->values->len : 1); i++) {
    const TideYamlNode *entry = is_list ? g_ptr_array_index(node->values, i) : node;
    gboolean is_second_star = load_entry(load, path, entry, seen, rules) && n_stars++ == 1;
    if (is_second_star)
      tide_problems_add_error(load->problems, entry->place, "'%s' has \"*\" twice: which family gets a field?", path);
  }
}
