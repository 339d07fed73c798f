/* Replies as a gateway sends them, written with Thrift's own library. For tests only. */
#pragma once

#include "generated_oracle.h"
#include "thrift/wire/reply_reader.h"

static inline void
require_written(gint32 written)
{
  g_assert_cmpint(written, >=, 0);
}

/* Begins a reply in @oracle, up to its result struct. */
static inline ThriftProtocol *
reply_begin(Oracle *oracle, const char *method, ThriftMessageType type, gint32 sequence_id)
{
  oracle_reset(oracle);
  require_written(thrift_protocol_write_message_begin(oracle->protocol, method, type, sequence_id, NULL));
  require_written(thrift_protocol_write_struct_begin(oracle->protocol, "result", NULL));
  return oracle->protocol;
}

static inline void
reply_field(ThriftProtocol *to, ThriftType type, gint16 id)
{
  require_written(thrift_protocol_write_field_begin(to, "", type, id, NULL));
}

/* Ends the result struct and the message. Returns: the bytes, borrowed until the next reply of this oracle. */
static inline TideBytes
reply_end(Oracle *oracle)
{
  require_written(thrift_protocol_write_field_stop(oracle->protocol, NULL));
  require_written(thrift_protocol_write_struct_end(oracle->protocol, NULL));
  require_written(thrift_protocol_write_message_end(oracle->protocol, NULL));
  return oracle_bytes(oracle);
}

static inline void
reply_write_object(ThriftProtocol *to, gpointer object)
{
  require_written(thrift_struct_write(THRIFT_STRUCT(object), to, NULL));
  g_object_unref(object);
}

/* An exception as field @id: 1 is TIOError in every call. @can_retry: -1: absent, as in old gateways. */
static inline void
reply_write_exception(ThriftProtocol *to, gint16 id, const char *message, int can_retry)
{
  reply_field(to, T_STRUCT, id);
  require_written(thrift_protocol_write_struct_begin(to, "", NULL));
  if (message != NULL) {
    reply_field(to, T_STRING, 1);
    require_written(thrift_protocol_write_string(to, message, NULL));
  }
  if (can_retry >= 0) {
    reply_field(to, T_BOOL, 2);
    require_written(thrift_protocol_write_bool(to, can_retry != 0, NULL));
  }
  require_written(thrift_protocol_write_field_stop(to, NULL));
  require_written(thrift_protocol_write_struct_end(to, NULL));
}

/* A TApplicationException in place of a result. */
static inline TideBytes
reply_application_exception(Oracle *oracle, const char *method, gint32 sequence_id, const char *message, gint32 type)
{
  ThriftProtocol *to = reply_begin(oracle, method, T_EXCEPTION, sequence_id);
  reply_field(to, T_STRING, 1);
  require_written(thrift_protocol_write_string(to, message, NULL));
  reply_field(to, T_I32, 2);
  require_written(thrift_protocol_write_i32(to, type, NULL));
  return reply_end(oracle);
}

/* A TResult; cells are added with result_add_cell(). @row: NULL: no such row. */
static inline HbaseTResult *
result_new(const char *row)
{
  HbaseTResult *result = g_object_new(HBASE_TYPE_T_RESULT, NULL);
  if (row != NULL) {
    result->row = oracle_byte_array(tide_bytes_of_string(row));
    result->__isset_row = TRUE;
  }
  return result;
}

static inline void
result_add_cell(HbaseTResult *result, const char *qualifier, const char *value, gint64 timestamp_ms)
{
  HbaseTColumnValue *cell = g_object_new(HBASE_TYPE_T_COLUMN_VALUE, NULL);
  cell->family = oracle_byte_array(TIDE_BYTES_LITERAL("M"));
  cell->qualifier = oracle_byte_array(tide_bytes_of_string(qualifier));
  cell->value = oracle_byte_array(tide_bytes_of_string(value));
  cell->timestamp = timestamp_ms;
  cell->__isset_timestamp = TRUE;
  g_ptr_array_add(result->columnValues, cell);
}
