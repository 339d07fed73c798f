#include "model/table/table_mapper.h"

#include "model/table/cell_value.h"
#include "thrift/wire/mutation_encoder.h"
#include "thrift/wire/put_encoder.h"

/* Bytes that HBase counts for a cell in addition to row key, family, qualifier and value:
 * KeyValue.KEYVALUE_INFRASTRUCTURE_SIZE. */
#define HBASE_CELL_OVERHEAD_BYTES 20u

/* Bytes around the row key in the header of mutateRow beyond those of putMultiple. */
#define MUTATED_ROW_HEAD_BYTES 16u

/* ---- the rows of one message ---- */

void
tide_row_list_init(TideRowList *list)
{
  *list = (TideRowList){.computed = g_array_new(FALSE, FALSE, sizeof(TideComputedValue))};
}

void
tide_row_list_clear(TideRowList *list)
{
  tide_buffer_clear_memory(&list->bytes);
  tide_buffer_clear_memory(&list->cells);
  tide_buffer_clear_memory(&list->encoded);
  tide_buffer_clear_memory(&list->rows);
  tide_buffer_clear_memory(&list->spans);
  g_clear_pointer(&list->computed, g_array_unref);
}

void
tide_row_list_reset(TideRowList *list)
{
  tide_buffer_reset(&list->bytes);
  tide_buffer_reset(&list->cells);
  tide_buffer_reset(&list->encoded);
  tide_buffer_reset(&list->rows);
  tide_buffer_reset(&list->spans);
  list->uniform.columns = NULL;
  g_array_set_size(list->computed, 0);
}

void
tide_row_list_return(TideRowList *list, TideRowListMark mark)
{
  list->bytes.len = mark.bytes_len;
  list->cells.len = mark.n_cells * sizeof(TideCell);
  list->encoded.len = mark.encoded_len;
  list->uniform.columns = NULL;
  g_array_set_size(list->computed, mark.n_computed);
}

void
tide_row_list_return_rows(TideRowList *list, guint n_rows, TideRowListMark mark)
{
  tide_row_list_return(list, mark);
  list->rows.len = n_rows * sizeof(TideRow);
  list->spans.len = n_rows * sizeof(TideRowSpan);
}

void
tide_row_list_resolve(TideRowList *list)
{
  TideCell *cells = (TideCell *)(gpointer)list->cells.data;
  for (guint i = 0; i < list->computed->len; i++) {
    const TideComputedValue *computed = &g_array_index(list->computed, TideComputedValue, i);
    cells[computed->cell].value.data = list->bytes.data + computed->offset;
  }
  const TideRowSpan *span = (const TideRowSpan *)(gconstpointer)list->spans.data;
  guint n_rows = tide_row_list_n_rows(list);
  for (guint i = 0; i < n_rows; i++, span++) {
    TideRow *row = tide_row_list_row(list, i);
    row->key = tide_bytes(list->bytes.data + span->key_offset, span->key_len);
    if (span->name_len > 0)
      row->table_name = tide_bytes(list->bytes.data + span->name_offset, span->name_len);
    row->cells = cells + span->first_cell;
    if (row->columns_id != 0)
      row->encoded = tide_bytes(list->encoded.data + span->encoded_offset, span->encoded_len);
  }
}

/* ---- life ---- */

struct TideTableMapper {
  const TideTable *table;      /* borrowed */
  const TideFieldNames *names; /* borrowed */
  TideMapperLimits limits;
  TideWireProtocol protocol;
  gint64 shortest_ttl_ms;       /* of the rules; 0: no rule has one */
  gint64 longest_ttl_ms;        /* of the rules; 0: a rule has none */
  gsize deleted_families_bytes; /* maximum encoded size of the deletion of the families in a replacing row */

  TideFieldColumns *columns; /* owned */
  TideShapeColumns shapes[TIDE_MAX_SHAPES];
  guint64 row;           /* number of rows begun */
  gint64 expired_ttl_ms; /* the longest time to live that cells of the last row had exceeded */
  TideBuffer qualifier;  /* scratch */
  TideBuffer value;      /* scratch: a computed member of a packed cell, or a converted number */
};

TideTableMapper *
tide_table_mapper_new(const TideTable *table, const TideFieldNames *names, TideNameId time_field,
                      TideWireProtocol protocol, TideMapperLimits limits)
{
  TideTableMapper *mapper = g_new0(TideTableMapper, 1);
  g_assert(table->tombstone == TIDE_TOMBSTONE_IGNORE || !tide_row_key_has_time(table->key));
  mapper->table = table;
  mapper->names = names;
  mapper->limits = limits;
  mapper->protocol = protocol;
  mapper->columns = tide_field_columns_new(table, time_field, protocol);
  gboolean some_kept = FALSE; /* cells of this rule are kept forever */
  for (guint i = 0; i < mapper->columns->n_rules; i++) {
    gint64 ttl_ms = mapper->columns->rules[i].ttl_ms;
    some_kept |= ttl_ms == 0;
    if (ttl_ms > 0 && (mapper->shortest_ttl_ms == 0 || ttl_ms < mapper->shortest_ttl_ms))
      mapper->shortest_ttl_ms = ttl_ms;
    mapper->longest_ttl_ms = some_kept ? 0 : MAX(mapper->longest_ttl_ms, ttl_ms);
  }
  for (guint i = 0; table->families != NULL && i < table->families->len; i++) {
    const TideFamilySettings *family = g_ptr_array_index(table->families, i);
    TideBytes name = tide_bytes_of_string(family->name);
    mapper->deleted_families_bytes += tide_mutation_delete_size_max(TIDE_BYTES_EMPTY, &name, 1);
  }
  return mapper;
}

void
tide_table_mapper_set_max_row_bytes(TideTableMapper *mapper, guint32 max_row_bytes)
{
  mapper->limits.max_row_bytes = max_row_bytes;
}

void
tide_table_mapper_free(TideTableMapper *mapper)
{
  if (mapper == NULL)
    return;
  tide_field_columns_free(mapper->columns);
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++)
    tide_shape_columns_clear(&mapper->shapes[i]);
  tide_buffer_clear_memory(&mapper->qualifier);
  tide_buffer_clear_memory(&mapper->value);
  g_free(mapper);
}

void
tide_table_mapper_begin_message(TideTableMapper *mapper)
{
  tide_column_set_begin_message(mapper->columns->set);
}

/* One reading being mapped. */
typedef struct Attempt {
  const TideReading *reading;
  TideRowList *list;
  TideRowListMark before;
  TideRowSpan span;
  const TideUniformCells *uniform; /* its cells, if it has a known shape; NULL: those added to list */
  guint64 row_bytes;               /* maximum encoded size */
  gint64 timestamp_ms;             /* of the cells */
  gint64 now_epoch_ms;
  gboolean some_expired; /* cells with the shortest time to live have expired */
  guint32 n_expired;     /* omitted cells */
  gint64 expired_ttl_ms; /* of the omitted cells, the longest */
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
is_expired(const Attempt *attempt, gint64 ttl_ms)
{
  return ttl_ms > 0 && attempt->timestamp_ms <= attempt->now_epoch_ms - ttl_ms;
}

/* Whether a cell has expired; counts it if so. */
static gboolean
leave_out(Attempt *attempt, gint64 ttl_ms)
{
  if (!is_expired(attempt, ttl_ms))
    return FALSE;
  attempt->n_expired++;
  attempt->expired_ttl_ms = MAX(attempt->expired_ttl_ms, ttl_ms);
  return TRUE;
}

/* ---- cells ---- */

/* Rejects two fields or values in one column of a row, and two members of a packed cell with one name. */
static gboolean
claim(const TideTableMapper *mapper, const Attempt *attempt, TideSetColumn *column, TideBytes name)
{
  if (G_UNLIKELY(column->row == mapper->row)) {
    reject(attempt, TIDE_REJECT_DUPLICATE_FIELD, name, "another field has the same column");
    attempt->ret_reject->remedy = "give one of the two another name with 'as' or 'prefix', or another family; check "
                                  "'strip_prefix', 'case' and 'strip_spaces'";
    return FALSE;
  }
  column->row = mapper->row;
  return TRUE;
}

/* @name: for messages. */
static gboolean
append_cell(const TideTableMapper *mapper, Attempt *attempt, TideSetColumn *set_column, TideBytes value, TideBytes name)
{
  const TideColumn *column = &set_column->column;
  if (G_UNLIKELY(column->qualifier.len == 0))
    return reject(attempt, TIDE_REJECT_BAD_COLUMN, name, "its name is empty");
  if (!claim(mapper, attempt, set_column, name))
    return FALSE;
  gsize hbase_bytes =
      HBASE_CELL_OVERHEAD_BYTES + attempt->span.key_len + column->family.len + column->qualifier.len + value.len;
  if (G_UNLIKELY(hbase_bytes > mapper->limits.max_cell_bytes))
    return reject(attempt, TIDE_REJECT_CELL_TOO_LARGE, name, "it is above hbase.max_cell_size");
  attempt->row_bytes += tide_cell_size_max(column->prefix, value.len);

  tide_row_list_add_cell(attempt->list,
                         (TideCell){.column = column, .value = value, .timestamp_ms = attempt->timestamp_ms});
  return TRUE;
}

/* Adds a cell whose value is everything in the list's bytes from @offset. */
static gboolean
append_computed_cell(const TideTableMapper *mapper, Attempt *attempt, TideSetColumn *column, gsize offset,
                     TideBytes name)
{
  TideRowList *list = attempt->list;
  TideComputedValue computed = {.cell = tide_row_list_n_cells(list), .offset = offset};
  TideBytes value = tide_bytes(list->bytes.data + offset, list->bytes.len - offset);
  if (!append_cell(mapper, attempt, column, value, name))
    return FALSE;
  g_array_append_val(list->computed, computed);
  return TRUE;
}

/* Applies a rule's policy to a null field. FALSE: it is rejected. */
static gboolean
apply_null_policy(const Attempt *attempt, const TideTarget *target, const TideField *field, gboolean *ret_skip)
{
  switch (target->rule->declared->nulls) {
  case TIDE_NULL_SKIP:
    *ret_skip = TRUE;
    return TRUE;
  case TIDE_NULL_EMPTY:
    *ret_skip = FALSE;
    return TRUE;
  case TIDE_NULL_REJECT:
    break;
  }
  return reject(attempt, TIDE_REJECT_TYPE, field->name, "it is null");
}

static gboolean
append_text(const Attempt *attempt, const TideTableMapper *mapper, const TideKeyText *text, TideBytes name,
            TideBuffer *out)
{
  if (tide_key_text_append(text, attempt->reading, name, out, attempt->ret_reject))
    return TRUE;
  tide_reject_resolve_field(attempt->ret_reject, mapper->names);
  return FALSE;
}

/* @constant or, if that is NULL, the column whose qualifier @rule builds for this reading. NULL: rejected. */
static TideSetColumn *
column_of_reading(TideTableMapper *mapper, const Attempt *attempt, const TideFieldRule *rule, TideSetColumn *constant,
                  TideBytes name)
{
  if (constant != NULL)
    return constant;
  tide_buffer_reset(&mapper->qualifier);
  if (!append_text(attempt, mapper, rule->declared->qualifier, name, &mapper->qualifier))
    return NULL;
  return tide_column_set_find(mapper->columns->set, rule->family, tide_buffer_bytes(&mapper->qualifier));
}

/* @field, converted to the unit of @target in @mapper's scratch memory if necessary. NULL: rejected. */
static const TideField *
change_units(TideTableMapper *mapper, const Attempt *attempt, const TideField *field, const TideTarget *target,
             TideField *changed)
{
  const char *detail = "not a number, which 'scale' and 'offset' need";
  if (target->units == NULL || field->kind == TIDE_VALUE_NULL)
    return field;
  tide_buffer_reset(&mapper->value);
  gboolean is_text_or_number = field->kind == TIDE_VALUE_STRING || field->kind == TIDE_VALUE_NUMBER;
  if (!is_text_or_number || !tide_unit_change_apply(target->units, field->text, &mapper->value, &detail)) {
    reject(attempt, TIDE_REJECT_NUMBER, field->name, detail);
    attempt->ret_reject->value = field->text;
    attempt->ret_reject->remedy = "make senders write decimal numbers, or remove 'scale' and 'offset' from the field";
    return NULL;
  }
  *changed = *field;
  changed->kind = TIDE_VALUE_NUMBER;
  changed->text = tide_buffer_bytes(&mapper->value);
  return changed;
}

/* Adds a cell that may be omitted, whose column is built for this reading, or whose value is not the received text. */
static gboolean
add_other_cell(TideTableMapper *mapper, Attempt *attempt, const TideField *field, const TideTarget *target)
{
  if (target->rule->declared->packing != TIDE_PACK_NONE)
    return TRUE; /* add_packed_cell() handles it */
  gboolean skip = FALSE;
  if (field->kind == TIDE_VALUE_NULL && (!apply_null_policy(attempt, target, field, &skip) || skip))
    return skip;
  if (leave_out(attempt, target->rule->ttl_ms))
    return TRUE;
  TideRowList *list = attempt->list;
  const char *detail = NULL;
  TideSetColumn *column = column_of_reading(mapper, attempt, target->rule, target->column, target->name);
  if (column == NULL)
    return FALSE;
  TideField changed;
  field = change_units(mapper, attempt, field, target, &changed);
  if (field == NULL)
    return FALSE;
  gboolean is_as_received = target->encoding == TIDE_ENCODE_TEXT && target->units == NULL;
  if (is_as_received || field->kind == TIDE_VALUE_NULL)
    return append_cell(mapper, attempt, column, field->text, field->name);
  gsize offset = list->bytes.len;
  if (!tide_cell_value_append(target->encoding, field, &list->bytes, &detail))
    return reject(attempt, TIDE_REJECT_NUMBER, field->name, detail);
  return append_computed_cell(mapper, attempt, column, offset, field->name);
}

/* ---- cells of a known shape ---- */

/* Whether no cell of @columns would be too large even with the bytes of all values together. */
static gboolean
fit_surely(const TideTableMapper *mapper, const Attempt *attempt, const TideShapeColumns *columns, gsize value_bytes)
{
  return HBASE_CELL_OVERHEAD_BYTES + attempt->span.key_len + columns->max_name_bytes + value_bytes <=
         mapper->limits.max_cell_bytes;
}

/* Adds all cells of @columns at once. If there are several, also encodes them, for reuse by the next table; a single
 * cell is encoded as fast as it is copied. Returns: the bytes of their values. */
static gsize
append_uniform_cells(const TideTableMapper *mapper, const Attempt *attempt, const TideShapeColumns *columns)
{
  TideRowList *list = attempt->list;
  const TideField *fields = attempt->reading->fields;
  TideCell *cells = (TideCell *)(gpointer)tide_buffer_reserve(&list->cells, columns->n * sizeof *cells);
  const guint8 *prefix = columns->prefixes.data;
  gsize value_bytes = 0;
  for (guint32 i = 0; i < columns->n; i++) {
    const TideShapeCell *cell = &columns->cells[i];
    TideBytes value = fields[cell->field].text;
    cells[i] = (TideCell){.column = cell->column, .value = value, .timestamp_ms = attempt->timestamp_ms};
    value_bytes += value.len;
    if (columns->n > 1)
      tide_timeless_cell_append(mapper->protocol, &list->encoded, tide_bytes(prefix, cell->prefix_len), value);
    prefix += cell->prefix_len;
  }
  list->cells.len += columns->n * sizeof *cells;
  return value_bytes;
}

/* FALSE: nothing was added, because a cell may be too large. */
static gboolean
add_uniform_cells(const TideTableMapper *mapper, const Attempt *attempt, const TideShapeColumns *columns)
{
  TideRowList *list = attempt->list;
  TideUniformCells uniform = {.columns = columns,
                              .reading_index = attempt->reading->index,
                              .timestamp_ms = attempt->timestamp_ms,
                              .first_cell = tide_row_list_n_cells(list),
                              .encoded_offset = list->encoded.len};
  uniform.value_bytes = append_uniform_cells(mapper, attempt, columns);
  uniform.encoded_len = list->encoded.len - uniform.encoded_offset;
  if (G_UNLIKELY(!fit_surely(mapper, attempt, columns, uniform.value_bytes))) {
    list->cells.len = uniform.first_cell * sizeof(TideCell);
    list->encoded.len = uniform.encoded_offset;
    return FALSE;
  }
  list->uniform = uniform;
  return TRUE;
}

/* Adds the cells of a reading with a known shape. FALSE: nothing was added, and the caller adds them one by one. */
static gboolean
add_cells_of_shape(TideTableMapper *mapper, Attempt *attempt)
{
  const TideShape *shape = &attempt->reading->shape;
  TideShapeColumns *columns = &mapper->shapes[shape->slot];
  if (shape->serial == 0 || columns->serial != shape->serial || columns->n == 0 || attempt->some_expired)
    return FALSE;
  /* The row of another table may have the same cells, which are then reused unless one is too large with this row's
   * key. */
  const TideUniformCells *uniform = &attempt->list->uniform;
  gboolean are_there = uniform->columns != NULL && uniform->reading_index == attempt->reading->index &&
                       uniform->timestamp_ms == attempt->timestamp_ms &&
                       tide_shape_columns_join(columns, uniform->columns) &&
                       fit_surely(mapper, attempt, columns, uniform->value_bytes);
  if (!are_there && !add_uniform_cells(mapper, attempt, columns))
    return FALSE;
  attempt->uniform = uniform;
  attempt->span.first_cell = uniform->first_cell;
  attempt->span.encoded_offset = uniform->encoded_offset;
  attempt->span.encoded_len = uniform->encoded_len;
  attempt->row_bytes += columns->overhead_bytes + uniform->value_bytes;
  return TRUE;
}

/* ---- cells of any reading ---- */

static gboolean
add_cells(TideTableMapper *mapper, Attempt *attempt)
{
  TideFieldColumns *columns = mapper->columns;
  const TideReading *reading = attempt->reading;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    const TideTarget *target = tide_field_columns_of(columns, field);
    if (target == &columns->none)
      continue;
    gboolean is_simple = field->kind != TIDE_VALUE_NULL && !attempt->some_expired;
    for (; target != NULL; target = target->next)
      if (G_LIKELY(is_simple && target->is_plain)
              ? !append_cell(mapper, attempt, target->column, field->text, field->name)
              : !add_other_cell(mapper, attempt, field, target))
        return FALSE;
  }
  return TRUE;
}

/* Adds the computed values with cells of their own. */
static gboolean
add_computed_cells(TideTableMapper *mapper, Attempt *attempt)
{
  TideRowList *list = attempt->list;
  for (const TideTarget *target = mapper->columns->computed; target != NULL; target = target->next) {
    if (target->rule->declared->packing != TIDE_PACK_NONE)
      continue;
    if (leave_out(attempt, target->rule->ttl_ms))
      continue;
    TideSetColumn *column = column_of_reading(mapper, attempt, target->rule, target->column, target->name);
    gsize offset = list->bytes.len;
    if (column == NULL || !append_text(attempt, mapper, target->value, target->name, &list->bytes) ||
        !append_computed_cell(mapper, attempt, column, offset, target->name))
      return FALSE;
  }
  return TRUE;
}

/* ---- packed cells ---- */

static gboolean
add_member(TideTableMapper *mapper, Attempt *attempt, const TideField *field, const TideTarget *target,
           TidePacker *packer)
{
  gboolean skip = FALSE;
  if (field->kind == TIDE_VALUE_NULL && (!apply_null_policy(attempt, target, field, &skip) || skip))
    return skip;
  TideField changed;
  field = change_units(mapper, attempt, field, target, &changed);
  if (field == NULL || !claim(mapper, attempt, target->column, field->name))
    return FALSE;
  tide_packer_add(packer, target->name, field->kind, field->text);
  return TRUE;
}

/* Adds the cell into which @rule packs its fields. */
static gboolean
add_packed_cell(TideTableMapper *mapper, Attempt *attempt, const TideFieldRule *rule)
{
  TidePacker packer;
  TideBuffer *bytes = &attempt->list->bytes;
  gsize offset = bytes->len;
  tide_packer_begin(&packer, rule->declared->packing, bytes);
  const TideReading *reading = attempt->reading;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideTarget *target = tide_field_columns_of(mapper->columns, &reading->fields[i]);
    for (; target != NULL; target = target->next)
      if (target->rule == rule && !add_member(mapper, attempt, &reading->fields[i], target, &packer))
        return FALSE;
  }
  for (const TideTarget *target = mapper->columns->computed; target != NULL; target = target->next) {
    if (target->rule != rule)
      continue;
    tide_buffer_reset(&mapper->value);
    if (!append_text(attempt, mapper, target->value, target->name, &mapper->value) ||
        !claim(mapper, attempt, target->column, target->name))
      return FALSE;
    tide_packer_add(&packer, target->name, TIDE_VALUE_STRING, tide_buffer_bytes(&mapper->value));
  }
  if (!tide_packer_end(&packer))
    return TRUE;
  if (leave_out(attempt, rule->ttl_ms)) {
    bytes->len = offset;
    return TRUE;
  }
  TideBytes name = tide_bytes_of_string(mapper->table->name);
  TideSetColumn *column = column_of_reading(mapper, attempt, rule, rule->packed_column, TIDE_BYTES_EMPTY);
  return column != NULL && append_computed_cell(mapper, attempt, column, offset, name);
}

/* ---- rows ---- */

/* The key of an index is always built, because it differs from that of the printed row. */
static gboolean
append_key(const TideTableMapper *mapper, Attempt *attempt)
{
  const TideTable *table = mapper->table;
  TideBytes kept = attempt->reading->printed_row;
  if (G_LIKELY(kept.len == 0) || table->index_of != TIDE_TABLE_NONE)
    return tide_row_key_append(table->key, attempt->reading, &attempt->list->bytes, attempt->ret_reject);
  TideDecodedKey decoded = {0};
  gboolean is_of_table = tide_row_key_decode(table->key, kept, &decoded);
  tide_decoded_key_clear(&decoded);
  if (!is_of_table)
    return reject(attempt, TIDE_REJECT_BAD_KEY, tide_bytes_of_string(table->name),
                  "the table's declared key did not produce the row, so its key cannot be kept");
  tide_buffer_append_bytes(&attempt->list->bytes, kept);
  return TRUE;
}

/* Appends the row's key and, if the table is dated, its name. */
static gboolean
begin_row(TideTableMapper *mapper, Attempt *attempt)
{
  const TideTable *table = mapper->table;
  TideBuffer *bytes = &attempt->list->bytes;
  TideRowSpan *span = &attempt->span;
  mapper->row++;
  attempt->before = tide_row_list_mark(attempt->list);
  span->first_cell = attempt->before.n_cells;
  span->key_offset = bytes->len;
  if (!append_key(mapper, attempt)) {
    tide_reject_resolve_field(attempt->ret_reject, mapper->names);
    return FALSE;
  }
  span->key_len = bytes->len - span->key_offset;
  TideBytes key = tide_bytes(bytes->data + span->key_offset, span->key_len);
  attempt->row_bytes = tide_put_overhead_max(key);
  if (table->latest == TIDE_LATEST_REPLACE) /* is sent as a delete and a put, in a mutateRow call */
    attempt->row_bytes = MUTATED_ROW_HEAD_BYTES + key.len + tide_mutation_delete_size_max(key, NULL, 0) +
                         mapper->deleted_families_bytes + tide_mutation_put_overhead_max(key);
  if (table->dated_name == NULL)
    return TRUE;
  span->name_offset = bytes->len;
  if (!append_text(attempt, mapper, table->dated_name, TIDE_BYTES_EMPTY, bytes))
    return FALSE;
  span->name_len = bytes->len - span->name_offset;
  return TRUE;
}

static gboolean
fill_row(TideTableMapper *mapper, Attempt *attempt)
{
  TideFieldColumns *columns = mapper->columns;
  if (add_cells_of_shape(mapper, attempt))
    return TRUE;
  if ((columns->has_cells && !add_cells(mapper, attempt)) ||
      (columns->computed != NULL && !add_computed_cells(mapper, attempt)))
    return FALSE;
  for (guint i = 0; columns->has_packed_cells && i < columns->n_rules; i++) {
    const TideFieldRule *rule = &columns->rules[i];
    if (rule->declared->packing != TIDE_PACK_NONE && !add_packed_cell(mapper, attempt, rule))
      return FALSE;
  }
  return TRUE;
}

static guint32
count_cells(const Attempt *attempt)
{
  return attempt->uniform != NULL ? attempt->uniform->columns->n
                                  : tide_row_list_n_cells(attempt->list) - attempt->before.n_cells;
}

/* A printed row is written with all its cells, or not at all. */
static gboolean
check_printed(const TideTableMapper *mapper, const Attempt *attempt)
{
  const TideReading *reading = attempt->reading;
  gsize n_cells = tide_row_list_n_cells(attempt->list) - attempt->before.n_cells + attempt->n_expired;
  for (guint32 i = 0; i < reading->n_cell_fields; i++)
    if (tide_field_columns_of(mapper->columns, &reading->fields[i]) == &mapper->columns->none)
      return reject(attempt, TIDE_REJECT_BAD_COLUMN, reading->fields[i].name,
                    "the row has a cell of this field, but the table does not produce one");
  if (!mapper->columns->has_packed_cells && n_cells < reading->n_printed_cells)
    return reject(attempt, TIDE_REJECT_BAD_COLUMN, tide_bytes_of_string(mapper->table->name),
                  "the row has cells that the table does not produce from its fields");
  return TRUE;
}

static gboolean
check_row(const TideTableMapper *mapper, const Attempt *attempt)
{
  const char *table = mapper->table->name;
  if (count_cells(attempt) == 0)
    return reject(attempt, TIDE_REJECT_NO_CELLS, tide_bytes_of_string(table),
                  "no field of the reading is written to the table");
  if (attempt->row_bytes > mapper->limits.max_row_bytes)
    return reject(attempt, TIDE_REJECT_TOO_LARGE, tide_bytes_of_string(table),
                  "the row does not fit into one call: see batch.max_bytes");
  if (G_UNLIKELY(attempt->reading->n_printed_cells > 0) && mapper->table->index_of == TIDE_TABLE_NONE)
    return check_printed(mapper, attempt);
  return TRUE;
}

static void
end_row(const TideTableMapper *mapper, const Attempt *attempt, gint64 delete_to_ms)
{
  TideRowList *list = attempt->list;
  *(TideRow *)(gpointer)tide_buffer_reserve(&list->rows, sizeof(TideRow)) =
      (TideRow){.table_index = mapper->table->index,
                .reading_index = attempt->reading->index,
                .n_cells = count_cells(attempt),
                .columns_id = attempt->span.encoded_len > 0 ? attempt->uniform->columns->id : 0,
                .n_expired_cells = attempt->n_expired,
                .ttl_ms = mapper->table->ttl_ms,
                .event_time_ns = attempt->reading->event_time_ns,
                .delete_to_ms = delete_to_ms};
  list->rows.len += sizeof(TideRow);
  *(TideRowSpan *)(gpointer)tide_buffer_reserve(&list->spans, sizeof(TideRowSpan)) = attempt->span;
  list->spans.len += sizeof(TideRowSpan);
}

TideMapOutcome
tide_table_mapper_map(TideTableMapper *mapper, const TideMapRequest *request, TideRowList *list, TideReject *ret_reject)
{
  Attempt attempt = {.reading = request->reading,
                     .list = list,
                     .timestamp_ms = request->cell_time_ms,
                     .now_epoch_ms = request->now_epoch_ms,
                     .ret_reject = ret_reject};
  attempt.some_expired = is_expired(&attempt, mapper->shortest_ttl_ms);
  if (attempt.some_expired && is_expired(&attempt, mapper->longest_ttl_ms)) {
    mapper->expired_ttl_ms = mapper->longest_ttl_ms;
    return TIDE_MAP_EXPIRED;
  }

  gboolean is_computed = begin_row(mapper, &attempt) && fill_row(mapper, &attempt);
  mapper->expired_ttl_ms = attempt.expired_ttl_ms;
  gboolean is_empty = is_computed && attempt.n_expired > 0 && count_cells(&attempt) == 0;
  if (!is_computed || is_empty || !check_row(mapper, &attempt)) {
    tide_row_list_return(list, attempt.before);
    return is_empty ? TIDE_MAP_EXPIRED : TIDE_MAP_REJECTED;
  }
  /* Expired cells were not examined, so two of them may have one column. */
  const TideShape *shape = &attempt.reading->shape;
  if (attempt.uniform == NULL && shape->serial != 0 && mapper->shapes[shape->slot].serial != shape->serial &&
      !attempt.some_expired)
    tide_shape_columns_learn(&mapper->shapes[shape->slot], mapper->columns, attempt.reading);
  end_row(mapper, &attempt, mapper->table->latest == TIDE_LATEST_REPLACE ? MAX(attempt.timestamp_ms - 1, 0) : 0);
  return TIDE_MAP_ROW;
}

gint64
tide_table_mapper_expired_ttl_ms(const TideTableMapper *mapper)
{
  return mapper->expired_ttl_ms;
}

gboolean
tide_table_mapper_delete(TideTableMapper *mapper, const TideReading *reading, TideRowList *list, TideReject *ret_reject)
{
  Attempt attempt = {.reading = reading, .list = list, .ret_reject = ret_reject};
  if (!begin_row(mapper, &attempt)) {
    tide_row_list_return(list, attempt.before);
    return FALSE;
  }
  end_row(mapper, &attempt, tide_ns_to_ms(reading->event_time_ns));
  return TRUE;
}

gboolean
tide_table_mapper_takes(TideTableMapper *mapper, const TideField *field)
{
  return tide_field_columns_of(mapper->columns, field) != &mapper->columns->none;
}
