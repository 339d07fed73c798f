/* avro-c on its own, which the daemon does not use: a generic value that is read repeatedly, and its fields by index.
 */
#include "bench/library_walks.h"

#include <avro.h>
#include <math.h>

typedef struct Walk {
  avro_schema_t schema;
  avro_value_iface_t *class;
  avro_value_t record;
  avro_reader_t reader;
} Walk;

static gpointer
begin(const char *schema_path)
{
  Walk *walk = g_new0(Walk, 1);
  g_autofree char *text = NULL;
  if (!g_file_get_contents(schema_path, &text, NULL, NULL) ||
      avro_schema_from_json_length(text, strlen(text), &walk->schema) != 0)
    g_error("'%s' is no Avro schema: %s", schema_path, avro_strerror());
  walk->class = avro_generic_class_from_schema(walk->schema);
  walk->reader = avro_reader_memory("", 0);
  if (avro_generic_value_new(walk->class, &walk->record) != 0)
    g_error("no value of '%s': %s", schema_path, avro_strerror());
  return walk;
}

static double
value_of(const avro_value_t *field)
{
  gint64 integer;
  size_t size;
  double value = NAN;
  switch (avro_value_get_type(field)) {
  case AVRO_DOUBLE:
    return avro_value_get_double(field, &value) == 0 ? value : NAN;
  case AVRO_INT64:
    return avro_value_get_long(field, &integer) == 0 ? (double)integer : NAN;
  default:
    return avro_value_get_string(field, NULL, &size) == 0 ? (double)(size - 1) : NAN; /* without its NUL */
  }
}

static double
sum_of(gpointer state, const guint8 *message, gsize len)
{
  Walk *walk = state;
  avro_value_t field;
  size_t n_fields;
  double sum = 0;
  avro_reader_memory_set_source(walk->reader, (const char *)message, (gint64)len);
  if (avro_value_read(walk->reader, &walk->record) != 0 || avro_value_get_size(&walk->record, &n_fields) != 0)
    return NAN;
  for (size_t i = 0; i < n_fields; i++) {
    if (avro_value_get_by_index(&walk->record, i, &field, NULL) != 0)
      return NAN;
    sum += value_of(&field);
  }
  return sum;
}

static void
end(gpointer state)
{
  Walk *walk = state;
  avro_reader_free(walk->reader);
  avro_value_decref(&walk->record);
  avro_value_iface_decref(walk->class);
  avro_schema_decref(walk->schema);
  g_free(walk);
}

const LibraryWalk avro_library_walk = {begin, sum_of, end};
