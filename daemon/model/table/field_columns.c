#include "model/table/field_columns.h"

#include "model/glob.h"

static const TideColumnRule *
rule_at(const TideTable *table, guint index)
{
  return &g_array_index(table->rules, TideColumnRule, index);
}

/* The place of @id in by_name, made when it is not there yet. */
static TideTarget **
index_by_name(TideFieldColumns *columns, TideNameId id)
{
  if (id >= columns->n_by_name) {
    guint32 n = MAX(id + 1, columns->n_by_name * 2);
    columns->by_name = g_renew(TideTarget *, columns->by_name, n);
    memset(columns->by_name + columns->n_by_name, 0, (n - columns->n_by_name) * sizeof(TideTarget *));
    columns->n_by_name = n;
  }
  return &columns->by_name[id];
}

/* ---- names ---- */

/* A field's own name as @rule, or @item of it, writes it. Borrowed: valid until the next call. */
static TideBytes
changed_name(TideFieldColumns *columns, const TideColumnRule *rule, const TideColumnItem *item, TideBytes name)
{
  gboolean is_renamed = item != NULL && item->qualifier != NULL;
  TideGlobStars stars;
  if (is_renamed && item->pattern == NULL)
    return tide_bytes_of_string(item->qualifier);
  tide_buffer_reset(&columns->name);
  if (is_renamed && tide_glob_match_stars(tide_bytes_of_string(item->pattern), name, &stars))
    tide_glob_append_renamed(tide_bytes_of_string(item->qualifier), &stars, &columns->name);
  else
    tide_column_rule_append_name(rule, name, &columns->name);
  return tide_buffer_bytes(&columns->name);
}

/* ---- targets ---- */

/* A family of its own for the members of the cell that @rule packs: they are told apart as columns are, and differ from
 * all columns, since no family's name holds the NUL that is in each address. */
static TideBytes
family_of_members(const TideFieldRule *rule)
{
  return tide_bytes(&rule->declared, sizeof rule->declared);
}

/* The column whose qualifier @rule makes of @name, where that is the same for all readings; else NULL. */
static TideSetColumn *
constant_column(TideFieldColumns *columns, const TideFieldRule *rule, TideBytes name)
{
  static const TideReading no_reading;
  const TideKeyText *text = rule->declared->qualifier;
  TideReject reject;
  if (text == NULL)
    return tide_column_set_find(columns->set, rule->family, name);
  tide_buffer_reset(&columns->qualifier);
  if (!tide_key_text_is_constant(text) || !tide_key_text_append(text, &no_reading, name, &columns->qualifier, &reject))
    return NULL; /* what cannot be made is found again with each reading, which is rejected for it */
  return tide_column_set_find(columns->set, rule->family, tide_buffer_bytes(&columns->qualifier));
}

static gboolean
is_same_rule(const TideTarget *a, const TideTarget *b)
{
  return a->column != NULL && a->column == b->column && a->encoding == b->encoding && a->value == b->value &&
         a->units == b->units;
}

/* Adds what @rule makes of a field of this name, or of the value of @item, behind *@first. */
static void
add_target(TideFieldColumns *columns, TideColumnLife life, const TideFieldRule *rule, const TideColumnItem *item,
           TideBytes own_name, TideTarget **first)
{
  TideBytes name = changed_name(columns, rule->declared, item, own_name);
  gboolean is_member = rule->declared->packing != TIDE_PACK_NONE;
  TideTarget computed = {
      .rule = rule,
      .column = is_member ? tide_column_set_find(columns->set, family_of_members(rule), name)
                          : constant_column(columns, rule, name),
      .value = item != NULL ? item->value : NULL,
      .units = item != NULL ? item->units : NULL,
      .encoding = item != NULL && item->encoding >= 0 ? (TideEncoding)item->encoding : rule->declared->encoding,
  };
  computed.is_plain = computed.column != NULL && computed.value == NULL && computed.units == NULL &&
                      computed.encoding == TIDE_ENCODE_TEXT && !is_member;
  TideTarget **last = first;
  for (; *last != NULL; last = &(*last)->next)
    if (is_same_rule(*last, &computed))
      return;
  computed.name = tide_column_set_copy(columns->set, life, name);
  *last = tide_column_set_allocate(columns->set, life, sizeof computed);
  **last = computed;
}

/* ---- which rules take a field ---- */

/* Those that name it. */
static void
add_named(TideFieldColumns *columns, TideColumnLife life, const TideField *field, TideTarget **first)
{
  if (field->name_id == TIDE_NAME_NONE)
    return; /* the names that rules use have numbers */
  for (guint i = 0; i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    for (gsize k = 0; k < rule->declared->n_items; k++)
      if (rule->declared->items[k].field == field->name_id && rule->declared->items[k].value == NULL)
        add_target(columns, life, rule, &rule->declared->items[k], field->name, first);
  }
}

/* Whether @rule would only repeat what the key says already. */
static gboolean
is_left_out(const TideFieldColumns *columns, const TideFieldRule *rule, const TideField *field)
{
  return !rule->declared->with_key_fields && tide_name_ids_contain(columns->key_fields, field->name_id);
}

/* The first of the patterns. */
static void
add_matching(TideFieldColumns *columns, TideColumnLife life, const TideField *field, TideTarget **first)
{
  for (guint i = 0; i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    for (gsize k = 0; k < rule->declared->n_items && !is_left_out(columns, rule, field); k++) {
      const TideColumnItem *item = &rule->declared->items[k];
      if (item->pattern == NULL || !tide_glob_matches(tide_bytes_of_string(item->pattern), field->name))
        continue;
      add_target(columns, life, rule, item, field->name, first);
      return;
    }
  }
}

static void
add_remaining(TideFieldColumns *columns, TideColumnLife life, const TideField *field, TideTarget **first)
{
  for (guint i = 0; i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    if (rule->declared->all_remaining && !is_left_out(columns, rule, field))
      add_target(columns, life, rule, NULL, field->name, first);
  }
}

static gboolean
are_kept(const TideTarget *first)
{
  for (const TideTarget *target = first; target != NULL; target = target->next)
    if (target->column != NULL && target->column->life != TIDE_COLUMN_KEPT)
      return FALSE;
  return TRUE;
}

const TideTarget *
tide_field_columns_meet(TideFieldColumns *columns, const TideField *field)
{
  TideColumnLife life = field->name_id != TIDE_NAME_NONE ? tide_column_set_life(columns->set) : TIDE_COLUMN_OF_MESSAGE;
  TideTarget *first = NULL;
  add_named(columns, life, field, &first);
  if (first == NULL && !tide_field_name_is_of_record(field->name))
    add_matching(columns, life, field, &first);
  if (first == NULL && !tide_field_name_is_of_record(field->name))
    add_remaining(columns, life, field, &first);
  if (first == NULL)
    first = &columns->none;
  gboolean is_remembered = first == &columns->none || (life == TIDE_COLUMN_KEPT && are_kept(first));
  if (field->name_id != TIDE_NAME_NONE && is_remembered)
    *index_by_name(columns, field->name_id) = first;
  return first;
}

/* ---- life ---- */

static void
init_rule(TideFieldColumns *columns, TideFieldRule *rule, const TideColumnRule *declared)
{
  *rule = (TideFieldRule){.declared = declared, .family = tide_bytes_of_string(declared->family)};
  rule->ttl_ms = tide_table_ttl_ms(columns->table, rule->family);
  if (declared->packing == TIDE_PACK_NONE) {
    columns->has_cells = TRUE;
    return;
  }
  columns->has_packed_cells = TRUE;
  g_assert(declared->qualifier != NULL);
  rule->packed_column = constant_column(columns, rule, TIDE_BYTES_EMPTY);
}

TideFieldColumns *
tide_field_columns_new(const TideTable *table, TideNameId time_field, TideWireProtocol protocol)
{
  TideFieldColumns *columns = g_new0(TideFieldColumns, 1);
  columns->table = table;
  columns->key_fields = tide_table_key_fields(table, time_field);
  columns->set = tide_column_set_new(protocol);
  columns->n_rules = table->rules->len;
  columns->rules = g_new0(TideFieldRule, columns->n_rules);
  for (guint i = 0; i < columns->n_rules; i++) {
    TideFieldRule *rule = &columns->rules[i];
    init_rule(columns, rule, rule_at(table, i));
    for (gsize k = 0; k < rule->declared->n_items; k++)
      if (rule->declared->items[k].value != NULL)
        add_target(columns, TIDE_COLUMN_KEPT, rule, &rule->declared->items[k], TIDE_BYTES_EMPTY, &columns->computed);
  }
  return columns;
}

void
tide_field_columns_free(TideFieldColumns *columns)
{
  if (columns == NULL)
    return;
  tide_column_set_free(columns->set);
  g_array_unref(columns->key_fields);
  g_free(columns->rules);
  g_free(columns->by_name);
  tide_buffer_clear_memory(&columns->name);
  tide_buffer_clear_memory(&columns->qualifier);
  g_free(columns);
}
