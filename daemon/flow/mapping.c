#include "flow/mapping.h"

#include "decode/decoder.h"
#include "model/table_mapper.h"
#include "thrift/put_encoder.h"

/* Where a row's key lies in keys, until that has stopped growing. */
typedef struct KeySpan {
  gsize offset;
  gsize len;
} KeySpan;

struct TideMapping {
  /* set before start, then read-only */
  const TideTimeSpec *time; /* borrowed */

  /* reused for each message */
  TideFieldNames *names; /* owned: this thread's copy */
  TideDecoder *decoder;  /* owned */
  GPtrArray *mappers;    /* owned (element-type TideTableMapper), in the order of the tables */
  TideBuffer keys;
  GArray *spans; /* owned (element-type KeySpan), one for each of rows */
  GArray *cells; /* owned (element-type TideCell) */
  GArray *rows;  /* owned (element-type TideRow) */

  /* of the last message */
  TideReading *readings; /* the decoder's */
  guint32 n_readings;
};

/* The mapper of @table, with rows that fit into a call of the largest size alone. */
static TideTableMapper *
mapper_new(const TideConfig *config, const TideFieldNames *names, const TideTable *table, TideWireProtocol protocol)
{
  gsize overhead_bytes = tide_put_multiple_overhead_max(strlen(table->name));
  TideMapperLimits limits = {
      .max_cell_bytes = config->hbase.max_cell_bytes,
      .max_row_bytes = config->batch.max_bytes - (guint32)MIN(overhead_bytes, config->batch.max_bytes),
  };
  return tide_table_mapper_new(table, names, config->readings.time.field, protocol, limits);
}

static void
free_mapper(gpointer mapper)
{
  tide_table_mapper_free(mapper);
}

TideMapping *
tide_mapping_new(const TideConfig *config, TideWireProtocol protocol)
{
  TideMapping *mapping = g_new0(TideMapping, 1);
  mapping->time = &config->readings.time;
  mapping->names = tide_field_names_copy(config->names);
  mapping->decoder = tide_decoder_new(&config->readings.decode, mapping->names, tide_field_names_count(config->names));
  mapping->mappers = g_ptr_array_new_with_free_func(free_mapper);
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = g_ptr_array_index(config->tables, i);
    g_ptr_array_add(mapping->mappers, mapper_new(config, mapping->names, table, protocol));
  }
  mapping->spans = g_array_new(FALSE, FALSE, sizeof(KeySpan));
  mapping->cells = g_array_new(FALSE, FALSE, sizeof(TideCell));
  mapping->rows = g_array_new(FALSE, FALSE, sizeof(TideRow));
  return mapping;
}

void
tide_mapping_free(TideMapping *mapping)
{
  if (mapping == NULL)
    return;
  g_ptr_array_unref(mapping->mappers);
  tide_decoder_free(mapping->decoder);
  tide_field_names_free(mapping->names);
  tide_buffer_clear_memory(&mapping->keys);
  g_array_unref(mapping->spans);
  g_array_unref(mapping->cells);
  g_array_unref(mapping->rows);
  g_free(mapping);
}

static void
begin_message(TideMapping *mapping)
{
  mapping->readings = NULL;
  mapping->n_readings = 0;
  tide_buffer_reset(&mapping->keys);
  g_array_set_size(mapping->spans, 0);
  g_array_set_size(mapping->cells, 0);
  g_array_set_size(mapping->rows, 0);
  for (guint i = 0; i < mapping->mappers->len; i++)
    tide_table_mapper_begin_message(g_ptr_array_index(mapping->mappers, i));
}

/* The row of @reading in each table; keys and cells of the rows are set by resolve_rows(). */
static gboolean
map_reading(TideMapping *mapping, const TideReading *reading, TideReject *ret_reject)
{
  for (guint i = 0; i < mapping->mappers->len; i++) {
    TideTableMapper *mapper = g_ptr_array_index(mapping->mappers, i);
    TideRow row = {0};
    KeySpan span;
    if (!tide_table_mapper_map(mapper, reading, &mapping->keys, mapping->cells, &row, &span.offset, &span.len,
                               ret_reject))
      return FALSE;
    g_array_append_val(mapping->rows, row);
    g_array_append_val(mapping->spans, span);
  }
  return TRUE;
}

static gboolean
map_readings(TideMapping *mapping, const TideMessage *message, TideReject *ret_reject)
{
  for (guint32 i = 0; i < mapping->n_readings; i++) {
    TideReading *reading = &mapping->readings[i];
    if (tide_time_spec_read(mapping->time, reading, message, &reading->event_time_ns, ret_reject) &&
        map_reading(mapping, reading, ret_reject))
      continue;
    tide_reject_resolve_field(ret_reject, mapping->names);
    return FALSE;
  }
  return TRUE;
}

/* Only now have keys and cells stopped growing. */
static void
resolve_rows(TideMapping *mapping)
{
  const TideCell *cells = (const TideCell *)(gconstpointer)mapping->cells->data;
  for (guint i = 0; i < mapping->rows->len; i++) {
    TideRow *row = &g_array_index(mapping->rows, TideRow, i);
    const KeySpan *span = &g_array_index(mapping->spans, KeySpan, i);
    row->key = tide_bytes(mapping->keys.data + span->offset, span->len);
    row->cells = cells;
    cells += row->n_cells;
  }
}

gboolean
tide_mapping_apply(TideMapping *mapping, const TideMessage *message, TideMapped *ret_mapped, TideReject *ret_reject)
{
  begin_message(mapping);
  if (!tide_decoder_decode(mapping->decoder, message, &mapping->readings, &mapping->n_readings, ret_reject) ||
      !map_readings(mapping, message, ret_reject))
    return FALSE;
  resolve_rows(mapping);
  *ret_mapped = (TideMapped){
      .rows = (TideRow *)(gpointer)mapping->rows->data,
      .n_rows = mapping->rows->len,
      .n_readings = mapping->n_readings,
  };
  return TRUE;
}

const TideReading *
tide_mapping_readings(const TideMapping *mapping)
{
  return mapping->readings;
}

const TideFieldNames *
tide_mapping_names(const TideMapping *mapping)
{
  return mapping->names;
}
