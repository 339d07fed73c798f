/* Columns: which fields of a reading become cells of a table, under which names, and in which encoding. */
#include "config/load/load_table.h"
#include "model/glob.h"
#include "util/error.h"
#include "util/units.h"

#include <string.h>

#define FAMILY_MAX_BYTES 127    /* Byte.MAX_VALUE: HBase stores the length in one byte */
#define LONG_FAMILY_BYTES 16    /* stored with every cell, so a long name deserves a warning */
#define LONG_QUALIFIER_BYTES 32 /* likewise for a qualifier: HBase's guide recommends a few bytes */
#define PACKED_QUALIFIER "r"    /* qualifier of the cell that packs all fields */

/* An entry of `columns` while it is loaded. */
typedef struct EntryLoad {
  TideTableLoad *table;
  TideLoad *load;
  const char *path; /* "tables.METRIC.columns" */
  const TideYamlNode *node;
  GHashTable *seen;    /* borrowed (element-type utf8): "family:qualifier" of the whole table */
  GHashTable *members; /* borrowed (element-type utf8): of the packed cell */
  TideColumnRule rule;
  gboolean is_named_by_parts; /* `qualifier` is set and does not contain the field's name */
} EntryLoad;

gboolean
tide_load_check_family_name(const char *name, GError **error)
{
  gsize len = strlen(name);
  gboolean is_good = len > 0 && len <= FAMILY_MAX_BYTES && name[0] != '.' && strcmp(name, "recovered.edits") != 0;

  for (gsize i = 0; i < len; i++)
    is_good &= !g_ascii_iscntrl(name[i]) && strchr(":/\\", name[i]) == NULL;
  if (!is_good)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "is not a valid HBase family name: use 1 to %d bytes without : / \\ and control characters, not "
                "starting with a dot",
                FAMILY_MAX_BYTES);
  return is_good;
}

static void
check_family(EntryLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "family");
  const char *family = it->rule.family;
  g_autoptr(GError) error = NULL;
  g_autofree char *shown = tide_problem_quote(family);

  if (!tide_load_check_family_name(family, &error))
    tide_load_error(it->load, node, "'%s.family': '%s' %s", it->path, shown, error->message);
  else if (strlen(family) > LONG_FAMILY_BYTES)
    tide_load_warning(it->load, node, "the family name '%s' is stored with every cell: use one or two letters", shown);
}

static gboolean
is_star(const TideYamlNode *node)
{
  return node->kind == TIDE_YAML_SCALAR && strcmp(node->text, "*") == 0;
}

/* Checks a name that is known before any reading: of a member of the packed cell, or of a column. */
static void
note_name(EntryLoad *it, const TideYamlNode *node, const char *name, gboolean is_member)
{
  const char *family = it->rule.family != NULL ? it->rule.family : "";
  g_autofree char *full = is_member ? g_strdup(name) : g_strconcat(family, ":", name, NULL);
  g_autofree char *shown_full = tide_problem_quote(full), *shown = tide_problem_quote(name);

  if (g_hash_table_add(is_member ? it->members : it->seen, g_steal_pointer(&full))) {
    if (strlen(name) > LONG_QUALIFIER_BYTES)
      tide_load_warning(it->load, node,
                        "the name '%s' has %zu bytes and is stored with every cell: use a shorter one, with { field: "
                        "NAME, as: SHORT }",
                        shown, strlen(name));
  } else if (is_member) {
    tide_load_error(it->load, node,
                    "the packed cell contains '%s' twice: rename one of them with { field: NAME, as: OTHER }",
                    shown_full);
  } else {
    tide_load_error(it->load, node,
                    "two fields become the column '%s': rename one of them with { field: NAME, as: QUALIFIER }",
                    shown_full);
  }
}

/* The fields of a pattern, and their names, are only known from readings. */
static void
note_item(EntryLoad *it, const TideYamlNode *node, const TideColumnItem *item)
{
  gboolean is_packed = it->rule.packing != TIDE_PACK_NONE;
  g_auto(TideBuffer) changed = {0};

  if (item->pattern != NULL || (!is_packed && it->rule.qualifier != NULL) ||
      (item->qualifier == NULL && item->field == TIDE_NAME_NONE))
    return;
  if (item->qualifier == NULL)
    tide_column_rule_append_name(&it->rule, tide_field_names_text(it->load->config->names, item->field), &changed);
  g_autofree char *name =
      item->qualifier != NULL ? g_strdup(item->qualifier) : g_strndup((const char *)changed.data, changed.len);
  note_name(it, node, name, is_packed);
}

/* A scalar: a field name or a pattern. */
static gboolean
load_named_item(EntryLoad *it, const char *path, const TideYamlNode *node, TideColumnItem *item)
{
  g_autoptr(GError) error = NULL;

  if (is_star(node)) {
    tide_load_error(it->load, node,
                    "\"*\" must be alone in an entry ('from: \"*\"'): move the named fields to their own entry");
    return FALSE;
  }
  if (tide_yaml_is_null(node) || !tide_config_option_check_field_name(node->text, node->len, &error)) {
    tide_load_got_error(it->load, node, "'%s' %s", path,
                        error != NULL ? error->message : "must be the name of a field");
    return FALSE;
  }
  if (tide_glob_is_pattern(tide_bytes(node->text, node->len)))
    item->pattern = g_strdup(node->text);
  else
    item->field = tide_field_names_intern(it->load->config->names, tide_bytes(node->text, node->len));
  return TRUE;
}

/* { value: PARTS, as: QUALIFIER } */
static gboolean
load_computed_item(EntryLoad *it, const char *path, const TideYamlNode *node, TideColumnItem *item)
{
  const TideYamlNode *value = tide_yaml_get(node, "value");
  g_autofree char *value_path = g_strconcat(path, ".value", NULL);
  TidePartList parts = {0};

  if (!tide_load_parts(it->load, value_path, value, &parts))
    return FALSE;
  item->value = tide_load_key_text(it->load, value_path, &parts, FALSE);
  it->table->has_time_value |=
      parts.n == 1 && parts.specs[0].kind == TIDE_KEY_TIME && it->rule.packing == TIDE_PACK_NONE;
  if (item->qualifier == NULL && (it->rule.packing != TIDE_PACK_NONE || !it->is_named_by_parts) &&
      tide_yaml_get(node, "as") == NULL) {
    tide_load_error(it->load, node,
                    "'%s.as' is missing: a built value has no name of its own; add, for example, 'as: ts'", path);
    return FALSE;
  }
  return item->value != NULL;
}

/* { pattern: PATTERN, as: QUALIFIER } */
static void
check_pattern_item(EntryLoad *it, const char *path, const TideYamlNode *node, const TideColumnItem *item)
{
  if (item->pattern == NULL)
    return;
  guint n_stars = tide_glob_n_stars(tide_bytes_of_string(item->pattern));
  guint n_used = tide_glob_n_stars(tide_bytes_of_string(item->qualifier));

  if (!tide_glob_is_pattern(tide_bytes_of_string(item->pattern)))
    tide_load_error(it->load, tide_yaml_get(node, "pattern"),
                    "'%s.pattern' must contain a * or ?: for a single field write '{ field: NAME, as: QUALIFIER }'",
                    path);
  else if (item->pattern[0] == '$')
    tide_load_error(it->load, tide_yaml_get(node, "pattern"),
                    "'%s.pattern' matches no field of a Kafka record: name the field, '{ field: $key }'", path);
  g_autofree char *stars = tide_count_of(n_used, "star", NULL);
  if (n_used > n_stars || n_used > TIDE_GLOB_MAX_STARS)
    tide_load_error(it->load, tide_yaml_get(node, "as"),
                    "'%s.as' has %s, but 'pattern' has only %u: each * is replaced by the text that the pattern's * "
                    "matched (at most %d)",
                    path, stars, n_stars, TIDE_GLOB_MAX_STARS);
}

/* { field: NAME, as: QUALIFIER, encode: FORM }, or the same with a pattern or a built value. */
static gboolean
load_mapping_item(EntryLoad *it, const char *path, const TideYamlNode *node, TideColumnItem *item)
{
  gboolean is_computed = tide_yaml_get(node, "value") != NULL;
  const TideConfigGroup *options = is_computed                              ? &tide_column_value_options
                                   : tide_yaml_get(node, "pattern") != NULL ? &tide_column_pattern_options
                                                                            : &tide_column_field_options;
  TideColumnDraft draft = {.field = TIDE_NAME_NONE, .encoding = -1};
  TideConfigTarget target = {.base = &draft, .names = it->load->config->names, .problems = it->load->problems};
  guint n_errors = tide_problems_n_errors(it->load->problems);

  tide_config_group_read(options, path, node, node->position, &target);
  item->field = draft.field;
  item->pattern = draft.pattern;
  item->qualifier = draft.qualifier;
  item->encoding = draft.encoding;
  if (draft.units.scale.n_digits > 0 || draft.units.offset.n_digits > 0) {
    item->units = g_memdup2(&draft.units, sizeof draft.units);
    if (draft.units.scale.n_digits == 0)
      (void)!tide_unit_change_read("1", &item->units->scale);
  }
  check_pattern_item(it, path, node, item);
  if (is_computed && !load_computed_item(it, path, node, item))
    return FALSE;
  return tide_problems_n_errors(it->load->problems) == n_errors;
}

static void
load_items(EntryLoad *it, const TideYamlNode *from)
{
  g_autofree char *path = g_strconcat(it->path, ".from", NULL);
  gsize n = tide_yaml_n_items(from);

  if (n == 0)
    tide_load_error(it->load, from, "'%s' names no field: remove the entry", path);
  it->rule.items = g_new0(TideColumnItem, MAX(n, 1));
  for (gsize i = 0; i < n; i++) {
    const TideYamlNode *node = tide_yaml_item(from, i);
    TideColumnItem *item = &it->rule.items[it->rule.n_items++];
    *item = (TideColumnItem){.field = TIDE_NAME_NONE, .encoding = -1};
    if (node->kind == TIDE_YAML_SCALAR ? load_named_item(it, path, node, item)
                                       : load_mapping_item(it, path, node, item))
      note_item(it, node, item);
  }
}

static gboolean
has_name(const TidePartList *parts)
{
  for (gsize i = 0; i < parts->n; i++) {
    if (parts->specs[i].kind == TIDE_KEY_NAME)
      return TRUE;
  }
  return FALSE;
}

/* The declared name, or the packed cell's own. */
static void
load_qualifier(EntryLoad *it)
{
  const TideYamlNode *node = tide_yaml_get(it->node, "qualifier");
  gboolean is_packed = it->rule.packing != TIDE_PACK_NONE;
  const TideKeyPartSpec packed_name = {.kind = TIDE_KEY_LITERAL, .literal = TIDE_BYTES_LITERAL(PACKED_QUALIFIER)};
  TidePartList parts = {.specs = &packed_name, .n = 1, .node = it->node};
  g_autofree char *path = g_strconcat(it->path, ".qualifier", NULL);

  if ((node == NULL && !is_packed) || (node != NULL && !tide_load_parts(it->load, path, node, &parts)))
    return;
  if (is_packed && has_name(&parts)) {
    tide_load_error(it->load, node,
                    "'%s' contains { name: true }, but with 'pack' one cell contains all fields: remove it", path);
    return;
  }
  it->is_named_by_parts = !has_name(&parts);
  it->rule.qualifier = tide_load_key_text(it->load, path, &parts, TRUE);
  if (it->rule.qualifier == NULL)
    return;
  g_autoptr(GString) constant = g_string_new(NULL); /* the text of the parts, if it does not depend on the reading */
  gboolean is_constant = TRUE;
  for (gsize i = 0; i < parts.n; i++) {
    TideBytes literal = parts.specs[i].kind == TIDE_KEY_LITERAL ? parts.specs[i].literal : TIDE_BYTES_EMPTY;
    is_constant &= parts.specs[i].kind == TIDE_KEY_LITERAL;
    g_string_append_len(constant, (const char *)literal.data, (gssize)literal.len);
  }
  if (is_constant)
    note_name(it, parts.node, constant->str, FALSE);
  else
    g_array_append_val(it->table->qualifiers, parts);
}

static gboolean
takes_unnamed_fields(const TideColumnRule *rule)
{
  gboolean found = rule->all_remaining;

  for (gsize i = 0; i < rule->n_items; i++)
    found |= rule->items[i].pattern != NULL;
  return found;
}

/* Checks the options of an entry against each other. */
static void
check_entry(EntryLoad *it)
{
  static const char *const of_names[] = {"case", "strip_spaces", "prefix", "strip_prefix"};
  const TideYamlNode *qualifier = tide_yaml_get(it->node, "qualifier");
  const TideYamlNode *key_fields = tide_yaml_get(it->node, "key_fields");
  gboolean is_packed = it->rule.packing != TIDE_PACK_NONE;
  gboolean takes_several = takes_unnamed_fields(&it->rule) || it->rule.n_items > 1;

  if (key_fields != NULL && !takes_unnamed_fields(&it->rule))
    tide_load_error(it->load, key_fields,
                    "'%s.key_fields' only applies to 'from: \"*\"' and patterns: named fields are always included",
                    it->path);
  if (is_packed)
    tide_load_refuse_option(it->load, it->path, it->node, "encode",
                            "with 'pack', where the packed format distinguishes numbers from texts");
  if (it->rule.qualifier == NULL || !it->is_named_by_parts || is_packed)
    return;
  if (takes_several)
    tide_load_error(it->load, qualifier,
                    "'%s.qualifier' gives several fields the same column: add { name: true } to it, or pack the fields "
                    "into one cell ('pack: json')",
                    it->path);
  for (gsize i = 0; i < G_N_ELEMENTS(of_names); i++)
    tide_load_refuse_option(it->load, it->path, it->node, of_names[i], "on a 'qualifier' without { name: true }");
}

/* The encoding and name of single items, which must not contradict their entry. */
static void
check_items(EntryLoad *it)
{
  const TideYamlNode *from = tide_yaml_get(it->node, "from");
  gboolean is_packed = it->rule.packing != TIDE_PACK_NONE;

  for (gsize i = 0; i < it->rule.n_items; i++) {
    const TideYamlNode *node = from->kind == TIDE_YAML_LIST ? g_ptr_array_index(from->values, i) : from;
    const TideYamlNode *encode = tide_yaml_get(node, "encode");
    const TideYamlNode *as = tide_yaml_get(node, "as");
    if (encode != NULL && is_packed)
      tide_load_error(it->load, encode, "'%s.from.encode' has no effect with 'pack': remove it", it->path);
    if (as != NULL && it->is_named_by_parts && !is_packed)
      tide_load_error(it->load, as,
                      "'%s.from.as' has no effect on a 'qualifier' without { name: true }: remove one of them",
                      it->path);
  }
}

/* In a table that keeps whole readings, every entry is packed. */
static void
load_packing(EntryLoad *it)
{
  const TideYamlNode *pack = tide_yaml_get(it->node, "pack");

  if (it->table->table->latest != TIDE_LATEST_PACKED || it->rule.packing != TIDE_PACK_NONE)
    return;
  if (pack == NULL)
    it->rule.packing = TIDE_PACK_JSON;
  else
    tide_load_error(it->load, pack,
                    "'%s.pack' must be json or msgpack with 'latest: packed': a cell outside the packed one could "
                    "belong to another reading",
                    it->path);
}

/* Adds the rule even if it has errors: the load fails then, and the table frees it. */
static gboolean
load_entry(EntryLoad *it)
{
  const TideYamlNode *from = tide_yaml_get(it->node, "from");
  TideConfigTarget target = {.base = &it->rule, .names = it->load->config->names, .problems = it->load->problems};

  tide_config_group_set_defaults(&tide_columns_options, &it->rule);
  tide_config_group_read(&tide_columns_options, it->path, it->node, it->node->position, &target);
  if (it->rule.family != NULL)
    check_family(it);
  load_packing(it);
  load_qualifier(it);
  it->rule.all_remaining = from != NULL && is_star(from);
  if (from != NULL && !it->rule.all_remaining)
    load_items(it, from);
  if (from != NULL) { /* already reported: it is required */
    check_entry(it);
    check_items(it);
  }
  g_array_append_val(it->table->table->rules, it->rule);
  return it->rule.all_remaining;
}

void
tide_load_columns(TideTableLoad *table, const TideYamlNode *node)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *path = g_strconcat(table->path, ".columns", NULL);
  guint n_stars = 0;

  if (tide_yaml_n_items(node) == 0)
    tide_load_error(table->load, node, "'%s' is empty: a row without cells cannot be written", path);
  for (guint i = 0; i < tide_yaml_n_items(node); i++) {
    const TideYamlNode *entry = tide_yaml_item(node, i);
    g_autoptr(GHashTable) members = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    EntryLoad it = {.table = table, .load = table->load, .path = path, .node = entry, .seen = seen, .members = members};
    gboolean is_second_star = load_entry(&it) && n_stars++ == 1;
    if (is_second_star)
      tide_load_error(table->load, entry, "'%s' contains \"*\" twice: a field can have only one family", path);
  }
}
