#include "model/table/shape_columns.h"

#include "thrift/wire/put_encoder.h"

void
tide_shape_columns_clear(TideShapeColumns *shape)
{
  g_free(shape->fields);
  g_free(shape->columns);
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
  shape->fields[shape->n] = field;
  shape->columns[shape->n] = column;
  shape->n++;
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
  shape->fields = g_new(guint32, n);
  shape->columns = g_new(const TideColumn *, n);
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideTarget *target = tide_field_columns_of(columns, &reading->fields[i]);
    for (; target != NULL && target != &columns->none; target = target->next)
      add_cell(shape, i, &target->column->column);
  }
}

static gboolean
are_same(const TideShapeColumns *a, const TideShapeColumns *b)
{
  if (a->n != b->n || memcmp(a->fields, b->fields, a->n * sizeof *a->fields) != 0)
    return FALSE;
  for (guint32 i = 0; i < a->n; i++)
    if (!tide_bytes_equal(a->columns[i]->prefix, b->columns[i]->prefix))
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
