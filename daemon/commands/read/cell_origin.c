#include "commands/read/cell_origin.h"

#include "model/glob.h"

static const TideColumnRule *
rule_at(const TideTable *table, guint index)
{
  return &g_array_index(table->rules, TideColumnRule, index);
}

static gboolean
changes_names(const TideColumnRule *rule)
{
  return rule->prefix != NULL || rule->strip_prefix != NULL || rule->strip_spaces || rule->name_case != TIDE_CASE_AS_IS;
}

gboolean
tide_table_renames_fields(const TideTable *table)
{
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = rule_at(table, i);
    if (changes_names(rule) || (rule->packing == TIDE_PACK_NONE && rule->qualifier != NULL))
      return TRUE;
    for (gsize k = 0; k < rule->n_items; k++)
      if (rule->items[k].qualifier != NULL)
        return TRUE;
  }
  return FALSE;
}

gboolean
tide_table_keeps_kinds(const TideTable *table)
{
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = rule_at(table, i);
    if (rule->packing != TIDE_PACK_NONE || rule->encoding != TIDE_ENCODE_TEXT)
      return TRUE;
    for (gsize k = 0; k < rule->n_items; k++)
      if (rule->items[k].encoding > TIDE_ENCODE_TEXT)
        return TRUE;
  }
  return FALSE;
}

/* ---- names ---- */

/* Whether @rule makes @name of the field called @field. */
static gboolean
makes(const TideColumnRule *rule, TideBytes field, TideBytes name)
{
  g_auto(TideBuffer) made = {0};
  tide_column_rule_append_name(rule, field, &made);
  return tide_bytes_equal(tide_buffer_bytes(&made), name);
}

/* The name that @rule changed to @name, without @stripped or with it in front; empty: it does not make @name. */
static TideBytes
unchanged(const TideColumnRule *rule, TideBytes name, TideBytes stripped, TideBuffer *scratch)
{
  TideBytes prefix = tide_bytes_of_string(rule->prefix);
  gsize start = scratch->len;
  if (name.len < prefix.len || !tide_bytes_equal(tide_bytes(name.data, prefix.len), prefix))
    return TIDE_BYTES_EMPTY;
  tide_buffer_append_bytes(scratch, stripped);
  tide_buffer_append(scratch, name.data + prefix.len, name.len - prefix.len);
  TideBytes field = tide_bytes(scratch->data + start, scratch->len - start);
  return makes(rule, field, name) ? field : TIDE_BYTES_EMPTY;
}

/* What the stars of the declared new name stand for stands in the pattern's place of them. */
static TideBytes
unrenamed(const TideColumnItem *item, TideBytes name, TideBuffer *scratch)
{
  TideGlobStars stars;
  gsize start = scratch->len;
  if (!tide_glob_match_stars(tide_bytes_of_string(item->qualifier), name, &stars))
    return TIDE_BYTES_EMPTY;
  tide_glob_append_renamed(tide_bytes_of_string(item->pattern), &stars, scratch);
  return tide_bytes(scratch->data + start, scratch->len - start);
}

static TideBytes
matching(const TideColumnRule *rule, const TideColumnItem *item, TideBytes name, TideBuffer *scratch)
{
  TideBytes pattern = tide_bytes_of_string(item->pattern);
  TideBytes stripped = tide_bytes_of_string(rule->strip_prefix);
  TideBytes field =
      item->qualifier != NULL ? unrenamed(item, name, scratch) : unchanged(rule, name, TIDE_BYTES_EMPTY, scratch);
  if (item->qualifier == NULL && stripped.len > 0 && (field.len == 0 || !tide_glob_matches(pattern, field)))
    field = unchanged(rule, name, stripped, scratch);
  return field.len > 0 && tide_glob_matches(pattern, field) ? field : TIDE_BYTES_EMPTY;
}

static TideBytes
of_item(const TideColumnRule *rule, const TideColumnItem *item, const TideFieldNames *names, TideBytes name,
        TideBuffer *scratch)
{
  if (item->value != NULL)
    return TIDE_BYTES_EMPTY;
  return item->field != TIDE_NAME_NONE ? tide_field_names_text(names, item->field)
                                       : matching(rule, item, name, scratch);
}

/* Whether @item makes a member called @name. */
static gboolean
makes_member(const TideColumnRule *rule, const TideColumnItem *item, const TideFieldNames *names, TideBytes name)
{
  if (item->pattern == NULL && item->qualifier != NULL)
    return tide_bytes_equal(tide_bytes_of_string(item->qualifier), name);
  return item->pattern == NULL && makes(rule, tide_field_names_text(names, item->field), name);
}

static TideBytes
of_member(const TideColumnRule *rule, const TideFieldNames *names, TideBytes name, TideBuffer *scratch)
{
  for (gsize i = 0; i < rule->n_items; i++)
    if (makes_member(rule, &rule->items[i], names, name))
      return of_item(rule, &rule->items[i], names, name, scratch);
  for (gsize i = 0; i < rule->n_items; i++) {
    TideBytes field =
        rule->items[i].pattern != NULL ? matching(rule, &rule->items[i], name, scratch) : TIDE_BYTES_EMPTY;
    if (field.len > 0)
      return field;
  }
  return rule->all_remaining ? unchanged(rule, name, TIDE_BYTES_EMPTY, scratch) : TIDE_BYTES_EMPTY;
}

TideBytes
tide_cell_origin_field(TideDeclaredColumn column, const TideFieldNames *names, TideBytes qualifier, TideBuffer *scratch)
{
  const TideColumnRule *rule = column.rule;
  if (rule == NULL)
    return qualifier;
  if (rule->packing != TIDE_PACK_NONE)
    return of_member(rule, names, qualifier, scratch);
  if (column.item != NULL && (rule->qualifier == NULL || column.item->field != TIDE_NAME_NONE))
    return of_item(rule, column.item, names, qualifier, scratch);
  return rule->all_remaining && rule->qualifier == NULL ? unchanged(rule, qualifier, TIDE_BYTES_EMPTY, scratch)
                                                        : TIDE_BYTES_EMPTY;
}

const char *
tide_value_kind_name(TideValueKind kind)
{
  static const char *const names[] = {[TIDE_VALUE_STRING] = "string",
                                      [TIDE_VALUE_NUMBER] = "number",
                                      [TIDE_VALUE_BOOL] = "bool",
                                      [TIDE_VALUE_NULL] = "null",
                                      [TIDE_VALUE_JSON] = "json"};
  return names[kind];
}
