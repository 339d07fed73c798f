#include "model/table/shape_columns.h"

#include "thrift/wire/put_encoder.h"

void
tide_shape_columns_clear(TideShapeColumns *shape)
{
  g_free(shape->cells);
  tide_buffer_clear_memory(&shape->prefixes);
  *shape = (TideShapeColumns){0};
}

/* A number that no list of columns of the process has. */
static guint64
next_id(void)
{
  static guint64 last;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* How many cells @reading makes; 0: they are not all plain. */
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

static void
add_cell(TideShapeColumns *shape, guint32 field, const TideColumn *column)
{
  shape->cells[shape->n++] =
      (TideShapeCell){.column = column, .field = field, .prefix_len = (guint32)column->prefix.len};
  tide_buffer_append_bytes(&shape->prefixes, column->prefix);
  shape->overhead_bytes += tide_cell_size_max(column->prefix, 0);
  shape->max_name_bytes = MAX(shape->max_name_bytes, column->family.len + column->qualifier.len);
}

void
tide_shape_columns_learn(TideShapeColumns *shape, TideFieldColumns *columns, const TideReading *reading)
{
  guint32 n = count_plain_cells(columns, reading);
  tide_shape_columns_clear(shape);
  shape->serial = reading->shape.serial;
  if (n == 0)
    return;
  shape->id = next_id();
  shape->cells = g_new(TideShapeCell, n);
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideTarget *target = tide_field_columns_of(columns, &reading->fields[i]);
    for (; target != NULL && target != &columns->none; target = target->next)
      add_cell(shape, i, &target->column->column);
  }
}

static gboolean
are_same(const TideShapeColumns *a, const TideShapeColumns *b)
{
  if (a->n != b->n || !tide_bytes_equal(tide_buffer_bytes(&a->prefixes), tide_buffer_bytes(&b->prefixes)))
    return FALSE;
  for (guint32 i = 0; i < a->n; i++)
    if (a->cells[i].field != b->cells[i].field || a->cells[i].prefix_len != b->cells[i].prefix_len)
      return FALSE;
  return TRUE;
}

gboolean
tide_shape_columns_join(TideShapeColumns *shape, const TideShapeColumns *other)
{
  if (G_LIKELY(shape->id == other->id))
    return TRUE;
  if (shape->unlike == other->id)
    return FALSE;
  if (shape->serial == other->serial && are_same(shape, other)) {
    shape->id = other->id;
    return TRUE;
  }
  shape->unlike = other->id;
  return FALSE;
}
