/* The generated code as a reference: what it writes for a call, and objects to write. For tests only. */
#pragma once

#include "thrift/client/hbase_client.h"
#include "thrift/wire/wire.h"

#include <hbase_t_h_base_service.h>
#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

/* Larger than any call of the tests; the property's limit of 1 MiB is not the buffer's own. */
#define ORACLE_BUFFER_BYTES (64u << 20)

typedef struct Oracle {
  ThriftMemoryBuffer *buffer;
  ThriftProtocol *protocol;
  HbaseTHBaseServiceIf *service;
} Oracle;

/* One for each protocol, for the life of the program. */
static inline Oracle *
oracle_get(TideWireProtocol protocol)
{
  static Oracle oracles[2];
  Oracle *oracle = &oracles[protocol];
  if (oracle->service != NULL)
    return oracle;
  tide_hbase_client_init_types();
  oracle->buffer = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, NULL);
  oracle->buffer->buf_size = ORACLE_BUFFER_BYTES;
  GType type = protocol == TIDE_WIRE_BINARY ? THRIFT_TYPE_BINARY_PROTOCOL : THRIFT_TYPE_COMPACT_PROTOCOL;
  oracle->protocol = g_object_new(type, "transport", oracle->buffer, NULL);
  oracle->service = g_object_new(HBASE_TYPE_T_H_BASE_SERVICE_CLIENT, "input_protocol", oracle->protocol,
                                 "output_protocol", oracle->protocol, NULL);
  return oracle;
}

static inline void
oracle_reset(Oracle *oracle)
{
  g_byte_array_set_size(oracle->buffer->buf, 0);
}

/* What was written since the reset; borrowed. */
static inline TideBytes
oracle_bytes(const Oracle *oracle)
{
  return tide_bytes(oracle->buffer->buf->data, oracle->buffer->buf->len);
}

static inline GByteArray *
oracle_byte_array(TideBytes bytes)
{
  GByteArray *array = g_byte_array_new();
  if (bytes.len > 0)
    g_byte_array_append(array, bytes.data, (guint)bytes.len);
  return array;
}
