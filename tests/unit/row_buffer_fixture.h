/* Row buffers under test: helpers to add rows and to print the sealed batches. */
#pragma once

#include "rows/row_buffer.h"
#include "thrift/wire/put_encoder.h"
#include "thrift/wire/wire_reader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct Column {
  TideColumn column;
  TideBuffer prefix;
  char qualifier[8];
} Column;

static TideBudget budget;

static inline void
make_column(Column *column, TideWireProtocol protocol, guint number)
{
  g_snprintf(column->qualifier, sizeof column->qualifier, "q%u", number);
  column->prefix = (TideBuffer){0};
  tide_column_prefix_append(protocol, &column->prefix, TIDE_BYTES_LITERAL("M"),
                            tide_bytes_of_string(column->qualifier));
  column->column = (TideColumn){.family = TIDE_BYTES_LITERAL("M"),
                                .qualifier = tide_bytes_of_string(column->qualifier),
                                .prefix = tide_buffer_bytes(&column->prefix),
                                .hash = XXH3_64bits(column->prefix.data, column->prefix.len)};
}

static inline TideSealRequest
request(guint32 max_rows, guint32 max_bytes)
{
  static TideBatchPool pool; /* stays empty */
  return (TideSealRequest){.max_rows = max_rows, .max_bytes = max_bytes, .pool = &pool};
}

static inline void
append(TideRowBuffer *buffer, const char *key, const Column *column, const char *value, gint64 timestamp_ms,
       guint32 sequence)
{
  TideCell cell = {&column->column, tide_bytes_of_string(value), timestamp_ms};
  TideRow row = {.key = tide_bytes_of_string(key), .cells = &cell, .n_cells = 1};
  tide_row_buffer_append(buffer, &row, (TideSourceRef){1, sequence}, 1000, NULL);
}

static inline void
describe_cell(TideWireReader *reader, TideBytes key, gint64 timestamp_ms, GString *text)
{
  TideWireField field = {0};
  TideBytes parts[4] = {TIDE_BYTES_EMPTY};
  while (tide_wire_read_field(reader, &field))
    if (field.id == 4)
      timestamp_ms = tide_wire_read_i64(reader);
    else
      parts[field.id] = tide_wire_read_string(reader);
  g_string_append_printf(text, "%.*s %.*s@%" G_GINT64_FORMAT "=%.*s;", (int)key.len, key.data, (int)parts[2].len,
                         parts[2].data, timestamp_ms, (int)parts[3].len, parts[3].data);
}

static inline void
describe_deleted_family(TideWireReader *reader, TideBytes key, GString *text)
{
  TideWireField field = {0};
  TideBytes family = TIDE_BYTES_EMPTY;
  gint64 to_ms = 0;
  while (tide_wire_read_field(reader, &field))
    if (field.id == 3)
      to_ms = tide_wire_read_i64(reader);
    else
      family = tide_wire_read_string(reader);
  g_string_append_printf(text, "%.*s -%.*s@%" G_GINT64_FORMAT ";", (int)key.len, key.data, (int)family.len, family.data,
                         to_ms);
}

/* The time of a TPut whose cells have no time of their own. */
static inline gint64
time_of_put(TideWireReader put)
{
  TideWireField field = {0};
  while (tide_wire_read_field(&put, &field)) {
    if (field.id == 3)
      return tide_wire_read_i64(&put);
    tide_wire_skip(&put, field.type);
  }
  return 0;
}

/* A TPut or a TDelete: field 1 is the row, field 2 a list of cells or of families. */
static inline void
describe_mutation(TideWireReader *reader, TideBytes key, gboolean deletes, GString *text)
{
  TideWireField field = {0};
  gint64 time_ms = deletes ? 0 : time_of_put(*reader);
  while (tide_wire_read_field(reader, &field)) {
    if (field.id == 1) {
      g_assert_true(tide_bytes_equal(tide_wire_read_string(reader), key));
      continue;
    }
    if (field.id != 2) {
      tide_wire_skip(reader, field.type);
      continue;
    }
    guint32 n;
    g_assert_true(tide_wire_read_list_of(reader, TIDE_WIRE_STRUCT, &n));
    for (guint32 i = 0; i < n; i++)
      if (deletes)
        describe_deleted_family(reader, key, text);
      else
        describe_cell(reader, key, time_ms, text);
  }
}

static inline void
describe_row(const TideBatch *batch, guint32 row, TideWireProtocol protocol, GString *text)
{
  TideWireReader reader;
  TideBytes key = tide_batch_row_key(batch, row);
  tide_wire_reader_init(&reader, protocol, tide_batch_row_wire(batch, row));
  if (!batch->is_mutations)
    describe_mutation(&reader, key, FALSE, text);
  for (guint i = 0; i < tide_batch_rows(batch)[row].n_mutations; i++) {
    TideWireField field = {0};
    while (tide_wire_read_field(&reader, &field))
      describe_mutation(&reader, key, field.id == 2, text);
  }
  g_assert_cmpint(reader.status, ==, TIDE_WIRE_OK);
  g_assert_cmpuint(reader.offset, ==, reader.len);
}

/* "key column@time=value" for every cell of @batches, in order, and "key -family@time" for every delete; frees them. A
 * batch of mutations is in braces. */
static inline char *
describe(TideBatch *batches, TideWireProtocol protocol)
{
  GString *text = g_string_new(NULL);
  for (TideBatch *batch = batches, *next; batch != NULL; batch = next) {
    next = batch->next;
    g_string_append(text, batch->is_mutations ? "{" : "[");
    for (guint32 i = 0; i < batch->n_rows; i++)
      describe_row(batch, i, protocol, text);
    gsize n_sources;
    tide_batch_sources(batch, &n_sources);
    g_string_append_printf(text, "%c%zu ", batch->is_mutations ? '}' : ']', n_sources);
    tide_budget_charge(&budget, -batch->charged_bytes);
    tide_batch_free(batch);
  }
  return g_string_free(text, FALSE);
}
