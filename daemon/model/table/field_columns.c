#include "model/table/field_columns.h"

#include "model/glob.h"
#include "thrift/wire/put_encoder.h"

/* A field's name as changed by @rule, or by its @item. Borrowed: valid until the next call. */
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

/* A pseudo-family for the members of the cell that @rule packs. Members are thus distinguished like columns, and differ
 * from all columns, because no family name contains the NUL that every address contains. */
static TideBytes
family_of_members(const TideFieldRule *rule)
{
  return tide_bytes(&rule->declared, sizeof rule->declared);
}

/* The column whose qualifier @rule derives from @name; NULL: the qualifier depends on the reading. */
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
    return NULL; /* a qualifier that cannot be built is noticed for each reading, which is then rejected */
  return tide_column_set_find(columns->set, rule->family, tide_buffer_bytes(&columns->qualifier));
}

/* Appends the target of @rule for a field with this name, or for the value of @item, to the list *@first. */
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
    if (computed.column != NULL && (*last)->column == computed.column && (*last)->encoding == computed.encoding &&
        (*last)->value == computed.value && (*last)->units == computed.units)
      return;
  computed.name = tide_column_set_copy(columns->set, life, name);
  *last = tide_column_set_allocate(columns->set, life, sizeof computed);
  **last = computed;
}

/* By the first matching pattern, otherwise by each rule for all remaining fields. */
static void
add_unnamed(TideFieldColumns *columns, TideColumnLife life, const TideField *field, TideTarget **first)
{
  gboolean is_in_key =
      tide_name_ids_contain(columns->key_fields, field->name_id); /* the key already contains its value */
  for (guint i = 0; i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    for (gsize k = 0; k < rule->declared->n_items && (rule->declared->with_key_fields || !is_in_key); k++) {
      const TideColumnItem *item = &rule->declared->items[k];
      if (item->pattern == NULL || !tide_glob_matches(tide_bytes_of_string(item->pattern), field->name))
        continue;
      add_target(columns, life, rule, item, field->name, first);
      return;
    }
  }
  for (guint i = 0; i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    if (rule->declared->all_remaining && (rule->declared->with_key_fields || !is_in_key))
      add_target(columns, life, rule, NULL, field->name, first);
  }
}

const TideTarget *
tide_field_columns_meet(TideFieldColumns *columns, const TideField *field)
{
  TideNameId id = field->name_id; /* names that rules use always have an id */
  TideColumnLife life = id != TIDE_NAME_NONE ? tide_column_set_life(columns->set) : TIDE_COLUMN_OF_MESSAGE;
  TideTarget *first = NULL;
  for (guint i = 0; id != TIDE_NAME_NONE && i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    for (gsize k = 0; k < rule->declared->n_items; k++)
      if (rule->declared->items[k].field == id && rule->declared->items[k].value == NULL)
        add_target(columns, life, rule, &rule->declared->items[k], field->name, &first);
  }
  if (first == NULL && !tide_field_name_is_of_record(field->name))
    add_unnamed(columns, life, field, &first);
  gboolean is_remembered = id != TIDE_NAME_NONE && (first == NULL || life == TIDE_COLUMN_KEPT);
  for (const TideTarget *target = first; target != NULL; target = target->next)
    is_remembered &= target->column == NULL || target->column->life == TIDE_COLUMN_KEPT;
  if (first == NULL)
    first = &columns->none;
  if (!is_remembered)
    return first;
  if (id >= columns->n_by_name) {
    guint32 n = MAX(id + 1, columns->n_by_name * 2);
    columns->by_name = g_renew(TideTarget *, columns->by_name, n);
    memset(columns->by_name + columns->n_by_name, 0, (n - columns->n_by_name) * sizeof(TideTarget *));
    columns->n_by_name = n;
  }
  return columns->by_name[id] = first;
}

/* ---- life ---- */

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
    const TideColumnRule *declared = &g_array_index(table->rules, TideColumnRule, i);
    *rule = (TideFieldRule){.declared = declared, .family = tide_bytes_of_string(declared->family)};
    rule->ttl_ms = tide_table_ttl_ms(table, rule->family);
    columns->has_cells |= declared->packing == TIDE_PACK_NONE;
    if (declared->packing != TIDE_PACK_NONE) {
      columns->has_packed_cells = TRUE;
      g_assert(declared->qualifier != NULL);
      rule->packed_column = constant_column(columns, rule, TIDE_BYTES_EMPTY);
    }
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

/* ---- readings of one shape ---- */

void
tide_shape_columns_clear(TideShapeColumns *shape)
{
  g_free(shape->cells);
  tide_buffer_clear_memory(&shape->prefixes);
  *shape = (TideShapeColumns){0};
}

/* The number of cells of @reading; 0: not all of them are plain. */
static guint32
count_plain_cells(TideFieldColumns *columns, const TideReading *reading)
{
  guint32 n = 0;
  if (columns->computed != NULL || columns->has_packed_cells)
    return 0;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideTarget *target = tide_field_columns_of(columns, &reading->fields[i]);
    if (target == &columns->none)
      continue;
    for (; target != NULL; target = target->next, n++)
      if (!target->is_plain || target->column->life != TIDE_COLUMN_KEPT)
        return 0;
  }
  return n;
}

void
tide_shape_columns_learn(TideShapeColumns *shape, TideFieldColumns *columns, const TideReading *reading)
{
  static guint64 last_id; /* unique for each list of columns in the process */
  guint32 n = count_plain_cells(columns, reading);
  tide_shape_columns_clear(shape);
  shape->serial = reading->shape.serial;
  if (n == 0)
    return;
  shape->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  shape->cells = g_new(TideShapeCell, n);
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideTarget *target = tide_field_columns_of(columns, &reading->fields[i]);
    for (; target != NULL && target != &columns->none; target = target->next) {
      const TideColumn *column = &target->column->column;
      shape->cells[shape->n++] =
          (TideShapeCell){.column = column, .field = i, .prefix_len = (guint32)column->prefix.len};
      tide_buffer_append_bytes(&shape->prefixes, column->prefix);
      shape->overhead_bytes += tide_cell_size_max(column->prefix, 0);
      shape->max_name_bytes = MAX(shape->max_name_bytes, column->family.len + column->qualifier.len);
    }
  }
}

gboolean
tide_shape_columns_join(TideShapeColumns *shape, const TideShapeColumns *other)
{
  if (G_LIKELY(shape->id == other->id))
    return TRUE;
  if (shape->unlike == other->id)
    return FALSE;
  gboolean are_same = shape->serial == other->serial && shape->n == other->n &&
                      tide_bytes_equal(tide_buffer_bytes(&shape->prefixes), tide_buffer_bytes(&other->prefixes));
  for (guint32 i = 0; are_same && i < shape->n; i++)
    are_same =
        shape->cells[i].field == other->cells[i].field && shape->cells[i].prefix_len == other->cells[i].prefix_len;
  if (are_same)
    shape->id = other->id;
  else
    shape->unlike = other->id;
  return are_same;
}
