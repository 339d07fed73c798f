/* Registers the types of the generated code and of Thrift's library before threads exist, and repairs them. */
#include "thrift/client/connection.h"
#include "thrift/client/hbase_client.h"

#include <hbase_t_h_base_service.h>
#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/protocol/thrift_compact_protocol.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

typedef void (*Finalize)(GObject *object);

static GHashTable *finalizers; /* GType -> original Finalize; written by init, then read-only */

static void
finalize_whole(GObject *object)
{
  Finalize own = (Finalize)g_hash_table_lookup(finalizers, GSIZE_TO_POINTER(G_OBJECT_TYPE(object)));
  own(object);
  /* Frees GObject's own data. A second call is harmless, in case a later Thrift compiler chains up. */
  GObjectClass *base = g_type_class_peek(G_TYPE_OBJECT);
  base->finalize(object);
}

static void
repair(GType type)
{
  GObjectClass *class = g_type_class_ref(type); /* kept: these types live as long as the process */
  GObjectClass *base = g_type_class_peek(G_TYPE_OBJECT);
  if (class->finalize == finalize_whole || class->finalize == base->finalize)
    return;
  g_hash_table_insert(finalizers, GSIZE_TO_POINTER(type), (gpointer) class->finalize);
  class->finalize = finalize_whole;
}

void
tide_hbase_client_init_types(void)
{
  tide_http_init();
  if (finalizers == NULL)
    finalizers = g_hash_table_new(g_direct_hash, g_direct_equal);
  g_type_ensure(HBASE_TYPE_T_H_BASE_SERVICE_IF);
  const GType types[] = {
      THRIFT_TYPE_BINARY_PROTOCOL,
      THRIFT_TYPE_COMPACT_PROTOCOL,
      THRIFT_TYPE_MEMORY_BUFFER,
      HBASE_TYPE_T_H_BASE_SERVICE_CLIENT,
      HBASE_TYPE_T_TIME_RANGE,
      HBASE_TYPE_T_COLUMN,
      HBASE_TYPE_T_COLUMN_VALUE,
      HBASE_TYPE_T_RESULT,
      HBASE_TYPE_T_GET,
      HBASE_TYPE_T_PUT,
      HBASE_TYPE_T_DELETE,
      HBASE_TYPE_T_MUTATION,
      HBASE_TYPE_T_ROW_MUTATIONS,
      HBASE_TYPE_T_SCAN,
      HBASE_TYPE_T_TABLE_NAME,
      HBASE_TYPE_T_COLUMN_FAMILY_DESCRIPTOR,
      HBASE_TYPE_T_TABLE_DESCRIPTOR,
      HBASE_TYPE_T_NAMESPACE_DESCRIPTOR,
      HBASE_TYPE_T_H_REGION_INFO,
      HBASE_TYPE_T_SERVER_NAME,
      HBASE_TYPE_T_H_REGION_LOCATION,
  };
  for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
    repair(types[i]);
}
