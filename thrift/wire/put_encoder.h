/* Encodes THBaseService.putMultiple directly as wire bytes, without generated structs (those leak, and cost 60 us of
 * CPU for a row of 10 cells; this costs well under 1 us).
 *
 * The unit that is encoded once is the cell (TColumnValue). A put consists of head (row key, number of cells), the
 * cells' bytes, and tail. A call consists of head (message, table, number of puts), the puts' bytes, and tail.
 * tests/unit/thrift/wire/test-put-encoder.c compares all of it with the generated code, byte for byte. */
#pragma once

#include "thrift/wire/wire_writer.h"

G_BEGIN_DECLS

/* Fields family and qualifier of a TColumnValue: constant for a column, so encoded once and copied into each cell. */
void tide_column_prefix_append(TideWireProtocol protocol, TideBuffer *out, TideBytes family, TideBytes qualifier);

/* One TColumnValue: prefix, value, timestamp, stop. @timestamp_ms: event time, milliseconds since the epoch. */
void tide_cell_append(TideWireProtocol protocol, TideBuffer *out, TideBytes column_prefix, TideBytes value,
                      gint64 timestamp_ms);

/* Field header and length; field header and number; stop: for each the larger of the two protocols. */
#define TIDE_CELL_OVERHEAD_MAX                                                                                         \
  (TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_STRING_HEAD_MAX + TIDE_WIRE_FIELD_HEAD_MAX + TIDE_WIRE_I64_MAX + 1)

/* The same without a time of its own: the put's time applies. Inline because it runs for each value received. */
static inline void
tide_timeless_cell_append(TideWireProtocol protocol, TideBuffer *out, TideBytes column_prefix, TideBytes value)
{
  guint8 *at = tide_buffer_reserve(out, column_prefix.len + value.len + TIDE_CELL_OVERHEAD_MAX);
  at = tide_write_bytes(at, column_prefix.data, column_prefix.len);
  at = tide_write_string_field(protocol, at, 3, 1, value);
  *at++ = TIDE_WIRE_STOP;
  out->len = (gsize)(at - out->data);
}

/* Size of the time in a cell. */
gsize tide_cell_time_size(TideWireProtocol protocol, gint64 timestamp_ms);

/* Maximum size of the bytes that tide_cell_append() writes. */
gsize tide_cell_size_max(TideBytes column_prefix, gsize value_len);

/* Appends an encoded cell without its time, which the put has: a gateway then reads an eighth less per cell. */
void tide_cell_append_without_time(TideWireProtocol protocol, TideBuffer *out, TideBytes cell, gint64 timestamp_ms);

/* Each cell of the put has its own time. HBase's Put refuses times below 0, but a cell may have one. */
#define TIDE_PUT_NO_TIME G_GINT64_CONSTANT(-1)

/* If two or more cells share one time, the put carries it once. Call first with the first cell's time, then with each
 * other cell's. */
static inline gint64
tide_put_time(guint32 n_cells, gint64 first_ms)
{
  return n_cells >= 2 && first_ms >= 0 ? first_ms : TIDE_PUT_NO_TIME;
}

static inline gint64
tide_put_time_with(gint64 put_ms, gint64 cell_ms)
{
  return put_ms == cell_ms ? put_ms : TIDE_PUT_NO_TIME;
}

/* A TPut: call head, append @n_cells encoded cells, call tail. @time_ms: of all cells, none of which has its own; or
 * TIDE_PUT_NO_TIME. @ttl_ms: 0 for none, else sent as the attribute `_ttl` (8 bytes big-endian), which HBase counts
 * from the cell's time. */
void tide_put_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_cells);
void tide_put_tail_append(TideWireProtocol protocol, TideBuffer *out, gint64 time_ms, gint64 ttl_ms);

/* Offset of the row key in a put, from the put's first byte. */
gsize tide_put_key_offset(TideWireProtocol protocol, gsize key_len);

/* Maximum size of head and tail, without the cells. */
gsize tide_put_overhead_max(TideBytes row);

/* putMultiple(table, puts): head, @n_puts encoded puts, tail. The transport adds framing. */
void tide_put_multiple_head_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                   guint32 n_puts);
void tide_put_multiple_tail_append(TideWireProtocol protocol, TideBuffer *out);

/* Maximum size of a call's head and tail for a table name of @table_len bytes. */
gsize tide_put_multiple_overhead_max(gsize table_len);

G_END_DECLS
