#include "model/table_mapper.h"

#include "model/column_set.h"
#include "thrift/put_encoder.h"

/* What HBase counts for a cell beside row key, family, qualifier and value:
 * KeyValue.KEYVALUE_INFRASTRUCTURE_SIZE. */
#define HBASE_CELL_OVERHEAD_BYTES 20u

/* A column that a field is written to. */
typedef struct Target Target;
struct Target {
  TideColumn column;
  TideNullPolicy nulls;
  gboolean is_contested; /* another field may be written to the same column */
  Target *next;          /* the same field's next column; NULL: no more */
};

struct TideTableMapper {
  const TideTable *table;      /* borrowed */
  const TideFieldNames *names; /* borrowed */
  TideMapperLimits limits;
  GArray *key_fields; /* owned (element-type TideNameId): see tide_table_key_fields() */
  GPtrArray *named;   /* owned (element-type Target, in kept): of the fields that rules name */

  Target **by_name; /* owned; by name id: the field's columns, &skipped: none, NULL: not met yet */
  guint32 n_by_name;
  guint32 n_columns; /* in kept */
  Target skipped;

  TideColumnSet *kept;       /* owned: columns for the mapper's life */
  TideColumnSet *of_message; /* owned: columns until the next message */
};

static const TideColumnRule *
rule_at(const TideTable *table, guint place)
{
  return &g_array_index(table->rules, TideColumnRule, place);
}

static gboolean
contains(const GArray *ids, TideNameId id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index(ids, TideNameId, i) == id)
      return TRUE;
  return FALSE;
}

/* The place of @id in by_name, made when it is not there yet. */
static Target **
place_by_name(TideTableMapper *mapper, TideNameId id)
{
  if (id >= mapper->n_by_name) {
    guint32 n = MAX(id + 1, mapper->n_by_name * 2);
    mapper->by_name = g_renew(Target *, mapper->by_name, n);
    memset(mapper->by_name + mapper->n_by_name, 0, (n - mapper->n_by_name) * sizeof *mapper->by_name);
    mapper->n_by_name = n;
  }
  return &mapper->by_name[id];
}

/* Adds the column that @rule gives to a field to the field's columns, @first, in the order of the rules. Returns the
 * new one; NULL when an earlier rule says the same. */
static Target *
add_target(TideTableMapper *mapper, TideColumnSet *set, Target **first, const TideColumnRule *rule, TideBytes qualifier)
{
  Target *target = tide_column_set_allocate(set, sizeof *target);
  *target = (Target){.nulls = rule->nulls};
  tide_column_set_make(set, tide_bytes_of_string(rule->family), qualifier, &target->column);
  mapper->n_columns += set == mapper->kept ? 1 : 0;

  Target **last = first;
  for (; *last != NULL; last = &(*last)->next)
    if (tide_column_equal(&(*last)->column, &target->column))
      return NULL;
  *last = target;
  for (guint i = 0; i < mapper->named->len; i++) {
    Target *other = g_ptr_array_index(mapper->named, i);
    if (tide_column_equal(&other->column, &target->column))
      other->is_contested = target->is_contested = TRUE;
  }
  return target;
}

static void
add_named_targets(TideTableMapper *mapper, const TideColumnRule *rule)
{
  for (gsize i = 0; i < rule->n_items; i++) {
    const TideColumnItem *item = &rule->items[i];
    TideBytes own_name = tide_field_names_text(mapper->names, item->field);
    TideBytes qualifier = item->qualifier != NULL ? tide_bytes_of_string(item->qualifier) : own_name;
    Target **first = place_by_name(mapper, item->field);
    Target *target = add_target(mapper, mapper->kept, first, rule, qualifier);
    if (target != NULL)
      g_ptr_array_add(mapper->named, target);
  }
}

TideTableMapper *
tide_table_mapper_new(const TideTable *table, const TideFieldNames *names, TideNameId time_field,
                      TideWireProtocol protocol, TideMapperLimits limits)
{
  TideTableMapper *mapper = g_new0(TideTableMapper, 1);
  mapper->table = table;
  mapper->names = names;
  mapper->limits = limits;
  mapper->key_fields = tide_table_key_fields(table, time_field);
  mapper->named = g_ptr_array_new();
  mapper->kept = tide_column_set_new(protocol);
  mapper->of_message = tide_column_set_new(protocol);
  for (guint i = 0; i < table->rules->len; i++)
    if (!rule_at(table, i)->all_remaining)
      add_named_targets(mapper, rule_at(table, i));
  return mapper;
}

void
tide_table_mapper_free(TideTableMapper *mapper)
{
  if (mapper == NULL)
    return;
  tide_column_set_free(mapper->kept);
  tide_column_set_free(mapper->of_message);
  g_ptr_array_unref(mapper->named);
  g_array_unref(mapper->key_fields);
  g_free(mapper->by_name);
  g_free(mapper);
}

void
tide_table_mapper_begin_message(TideTableMapper *mapper)
{
  tide_column_set_reset(mapper->of_message);
}

/* What the rules "*" make of a field that no rule names; &skipped when nothing. */
static Target *
remaining_targets(TideTableMapper *mapper, const TideField *field, TideColumnSet *set)
{
  Target *first = NULL;
  if (tide_field_name_is_of_record(field->name))
    return &mapper->skipped;
  for (guint i = 0; i < mapper->table->rules->len; i++) {
    const TideColumnRule *rule = rule_at(mapper->table, i);
    gboolean is_repeated = !rule->with_key_fields && contains(mapper->key_fields, field->name_id);
    if (rule->all_remaining && !is_repeated)
      add_target(mapper, set, &first, rule, field->name);
  }
  return first != NULL ? first : &mapper->skipped;
}

/* A field that was not met before: its columns are kept for the next time, while there is room. */
static Target *
meet(TideTableMapper *mapper, const TideField *field)
{
  gboolean is_kept = field->name_id != TIDE_NAME_NONE && mapper->n_columns < TIDE_MAPPER_MAX_COLUMNS;
  Target *targets = remaining_targets(mapper, field, is_kept ? mapper->kept : mapper->of_message);
  if (field->name_id != TIDE_NAME_NONE && (is_kept || targets == &mapper->skipped))
    *place_by_name(mapper, field->name_id) = targets;
  return targets;
}

/* One reading on its way to a row. */
typedef struct Attempt {
  const TideReading *reading;
  GArray *cells;       /* (element-type TideCell) */
  guint first_cell;    /* the row's, in cells */
  gsize key_len;       /* bytes */
  guint64 row_bytes;   /* encoded, at the most */
  gint64 timestamp_ms; /* of the cells */
  TideReject *ret_reject;
} Attempt;

static gboolean
reject(const Attempt *attempt, TideRejectReason reason, TideBytes field, const char *detail)
{
  *attempt->ret_reject = (TideReject){.reason = reason,
                                      .field = field,
                                      .byte_position = -1,
                                      .reading_index = attempt->reading->index,
                                      .detail = detail};
  return FALSE;
}

static gboolean
row_has_column(const Attempt *attempt, const TideColumn *column)
{
  for (guint i = attempt->first_cell; i < attempt->cells->len; i++)
    if (tide_column_equal(g_array_index(attempt->cells, TideCell, i).column, column))
      return TRUE;
  return FALSE;
}

static gboolean
add_cell(const TideTableMapper *mapper, Attempt *attempt, const TideField *field, const Target *target)
{
  const TideColumn *column = &target->column;
  if (field->kind == TIDE_VALUE_NULL) {
    switch (target->nulls) {
    case TIDE_NULL_SKIP:
      return TRUE;
    case TIDE_NULL_EMPTY:
      break;
    case TIDE_NULL_REJECT:
      return reject(attempt, TIDE_REJECT_TYPE, field->name, "it is null");
    }
  }
  if (G_UNLIKELY(column->qualifier.len == 0))
    return reject(attempt, TIDE_REJECT_BAD_COLUMN, TIDE_BYTES_EMPTY, "its name is empty");
  if (G_UNLIKELY(target->is_contested && row_has_column(attempt, column)))
    return reject(attempt, TIDE_REJECT_DUPLICATE_FIELD, field->name, "another field is written to the same column");

  gsize hbase_bytes =
      HBASE_CELL_OVERHEAD_BYTES + attempt->key_len + column->family.len + column->qualifier.len + field->text.len;
  if (G_UNLIKELY(hbase_bytes > mapper->limits.max_cell_bytes))
    return reject(attempt, TIDE_REJECT_CELL_TOO_LARGE, field->name, "it is above hbase.max_cell_size");
  attempt->row_bytes += tide_cell_size_max(column->prefix, field->text.len);

  TideCell cell = {.column = column, .value = field->text, .timestamp_ms = attempt->timestamp_ms};
  g_array_append_val(attempt->cells, cell);
  return TRUE;
}

static gboolean
add_cells(TideTableMapper *mapper, Attempt *attempt)
{
  const TideReading *reading = attempt->reading;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    const Target *target = field->name_id < mapper->n_by_name ? mapper->by_name[field->name_id] : NULL;
    if (G_UNLIKELY(target == NULL))
      target = meet(mapper, field);
    if (target == &mapper->skipped)
      continue;
    for (; target != NULL; target = target->next)
      if (!add_cell(mapper, attempt, field, target))
        return FALSE;
  }
  return TRUE;
}

static gboolean
check_row(const TideTableMapper *mapper, const Attempt *attempt)
{
  TideBytes table = tide_bytes_of_string(mapper->table->name);
  if (attempt->cells->len == attempt->first_cell)
    return reject(attempt, TIDE_REJECT_NO_CELLS, table, "no field of the reading is written to the table");
  if (attempt->row_bytes > mapper->limits.max_row_bytes)
    return reject(attempt, TIDE_REJECT_TOO_LARGE, table, "the row does not fit into one call: see batch.max_bytes");
  return TRUE;
}

gboolean
tide_table_mapper_map(TideTableMapper *mapper, const TideReading *reading, TideBuffer *scratch, GArray *cells,
                      TideRow *ret_row, gsize *ret_key_offset, gsize *ret_key_len, TideReject *ret_reject)
{
  Attempt attempt = {.reading = reading, .cells = cells, .first_cell = cells->len, .ret_reject = ret_reject};
  gsize key_offset = scratch->len;
  if (!tide_row_key_append(mapper->table->key, reading, scratch, ret_reject)) {
    tide_reject_resolve_field(ret_reject, mapper->names);
    return FALSE;
  }
  attempt.key_len = scratch->len - key_offset;
  attempt.row_bytes = tide_put_overhead_max(tide_bytes(scratch->data + key_offset, attempt.key_len));
  attempt.timestamp_ms = tide_ns_to_ms(reading->event_time_ns);
  if (!add_cells(mapper, &attempt) || !check_row(mapper, &attempt)) {
    g_array_set_size(cells, attempt.first_cell);
    scratch->len = key_offset;
    return FALSE;
  }
  ret_row->table_index = mapper->table->index;
  ret_row->reading_index = reading->index;
  ret_row->n_cells = cells->len - attempt.first_cell;
  ret_row->ttl_ms = mapper->table->ttl_ms;
  *ret_key_offset = key_offset;
  *ret_key_len = attempt.key_len;
  return TRUE;
}
