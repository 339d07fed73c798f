/* Tables, namespaces, and what kind of gateway this is. These calls are rare: the generated code writes them, and
 * reply_reader.h reads what comes back. */
#include "thrift/client/access_denied.h"
#include "thrift/client/client_call.h"
#include "thrift/client/shell_command.h"
#include "util/error.h"

#define PROBE_TABLE "tidemark_probe" /* need not exist */
#define NO_CLUSTER "default-cluster" /* what HBase's client says where it could not learn the id */

/* Copies into what the generated structs hold. Ownership: (transfer full). */
static GByteArray *
generated_bytes(TideBytes bytes)
{
  GByteArray *array = g_byte_array_sized_new((guint)bytes.len);
  if (bytes.len > 0)
    g_byte_array_append(array, bytes.data, (guint)bytes.len);
  return array;
}

/* "TABLE" or "ns:TABLE" into @to, whose members are unset. */
static void
fill_table_name(HbaseTTableName *to, const char *table)
{
  const char *colon = strchr(table, ':');
  if (colon != NULL) {
    to->ns = generated_bytes(tide_bytes(table, (gsize)(colon - table)));
    to->__isset_ns = TRUE;
  }
  to->qualifier = generated_bytes(tide_bytes_of_string(colon != NULL ? colon + 1 : table));
}

/* The generated send functions of all calls whose one argument is a table's name. */
typedef gboolean (*SendTableName)(HbaseTHBaseServiceIf *service, const HbaseTTableName *name, GError **error);

static gboolean
call_with_table(TideHBaseClient *client, const char *method, SendTableName send, const char *table, gint64 deadline_us,
                TideReply *ret_reply, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  g_autoptr(GObject) name = g_object_new(HBASE_TYPE_T_TABLE_NAME, NULL);
  fill_table_name(HBASE_T_TABLE_NAME(name), table);
  GError *failure = NULL;
  gboolean sent = send(service, HBASE_T_TABLE_NAME(name), &failure);
  return tide_client_receive_control(client, method, sent, failure, ret_reply, error);
}

static gboolean
ask_about_table(TideHBaseClient *client, const char *method, SendTableName send, const char *table, gint64 deadline_us,
                gboolean *ret_answer, GError **error)
{
  TideReply reply;
  if (!call_with_table(client, method, send, table, deadline_us, &reply, error))
    return FALSE;
  GError *failure = NULL;
  return tide_client_conclude(client, tide_reply_read_bool(&reply, ret_answer, &failure), &failure, error);
}

gboolean
tide_hbase_client_table_exists(TideHBaseClient *client, const char *table, gint64 deadline_us, gboolean *ret_exists,
                               GError **error)
{
  return ask_about_table(client, "tableExists", hbase_t_h_base_service_client_send_table_exists, table, deadline_us,
                         ret_exists, error);
}

GPtrArray *
tide_hbase_client_list_tables(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return NULL;
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_get_table_names_by_pattern(service, ".*", FALSE, &failure);
  TideReply reply;
  if (!tide_client_receive_control(client, "getTableNamesByPattern", sent, failure, &reply, error))
    return NULL;
  failure = NULL;
  GPtrArray *names = tide_reply_read_table_names(&reply, &failure);
  (void)tide_client_conclude(client, names != NULL, &failure, error);
  return names;
}

static gboolean
require_table(TideHBaseClient *client, const char *table, gint64 deadline_us, GError **error)
{
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, table, deadline_us, &exists, error))
    return FALSE;
  if (!exists)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND, "there is no table '%s' behind gateway '%s'", table,
                client->endpoint->text);
  return exists;
}

TideTableDescription *
tide_hbase_client_describe(TideHBaseClient *client, const char *table, gint64 deadline_us, GError **error)
{
  /* A missing table is an error whose text differs between versions of HBase: ask for it first. */
  if (!require_table(client, table, deadline_us, error))
    return NULL;
  TideReply reply;
  if (!call_with_table(client, "getTableDescriptor", hbase_t_h_base_service_client_send_get_table_descriptor, table,
                       deadline_us, &reply, error))
    return NULL;
  GError *failure = NULL;
  TideTableDescription *description = tide_reply_read_description(&reply, &failure);
  char *hidden = description == NULL ? tide_access_denied_remedy(failure, NULL) : NULL;
  if (hidden == NULL) {
    (void)tide_client_conclude(client, description != NULL, &failure, error);
    return description;
  }
  g_error_free(failure);
  description = tide_table_description_new(table);
  description->hidden = hidden;
  return description;
}

/* ---- rights ---- */

gboolean
tide_hbase_client_try_rights(TideHBaseClient *client, const char *table, const char *family, gint64 deadline_us,
                             GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  g_autoptr(GByteArray) table_name = generated_bytes(tide_bytes_of_string(table));
  g_autoptr(GByteArray) text = generated_bytes(TIDE_BYTES_LITERAL(PROBE_TABLE));
  g_autoptr(GByteArray) family_name = generated_bytes(tide_bytes_of_string(family));
  g_autoptr(GObject) put = g_object_new(HBASE_TYPE_T_PUT, NULL);
  HBASE_T_PUT(put)->row = g_byte_array_ref(text);
  HbaseTColumnValue *cell = g_object_new(HBASE_TYPE_T_COLUMN_VALUE, NULL);
  cell->family = g_byte_array_ref(family_name);
  cell->qualifier = g_byte_array_ref(text);
  cell->value = g_byte_array_ref(text);
  g_ptr_array_add(HBASE_T_PUT(put)->columnValues, cell);
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_check_and_put(service, table_name, text, family_name, text, text,
                                                                   HBASE_T_PUT(put), &failure);
  TideReply reply;
  if (!tide_client_receive_control(client, "checkAndPut", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  gboolean is_written;
  return tide_client_conclude(client, tide_reply_read_bool(&reply, &is_written, &failure), &failure, error);
}

/* ---- creating ---- */

static HbaseTColumnFamilyDescriptor *
family_descriptor(const TideFamilySettings *family)
{
  HbaseTColumnFamilyDescriptor *to = g_object_new(HBASE_TYPE_T_COLUMN_FAMILY_DESCRIPTOR, NULL);
  to->name = generated_bytes(tide_bytes_of_string(family->name));
  to->compressionType = (HbaseTCompressionAlgorithm)family->compression;
  to->__isset_compressionType = family->compression >= 0;
  to->bloomnFilterType = (HbaseTBloomFilterType)family->bloom_filter;
  to->__isset_bloomnFilterType = family->bloom_filter >= 0;
  to->dataBlockEncoding = (HbaseTDataBlockEncoding)family->data_block_encoding;
  to->__isset_dataBlockEncoding = family->data_block_encoding >= 0;
  to->blockSize = family->block_size_bytes;
  to->__isset_blockSize = family->block_size_bytes > 0;
  to->maxVersions = family->max_versions;
  to->__isset_maxVersions = family->max_versions > 0;
  to->timeToLive = family->time_to_live_s;
  to->__isset_timeToLive = family->time_to_live_s > 0;
  to->inMemory = family->in_memory > 0;
  to->__isset_inMemory = family->in_memory >= 0;
  return to;
}

static HbaseTTableDescriptor *
table_descriptor(const TideTableDescription *description)
{
  HbaseTTableDescriptor *to = g_object_new(HBASE_TYPE_T_TABLE_DESCRIPTOR, NULL);
  fill_table_name(to->tableName, description->name);
  for (guint i = 0; i < description->families->len; i++)
    g_ptr_array_add(to->columns, family_descriptor(g_ptr_array_index(description->families, i)));
  to->__isset_columns = TRUE;

  /* The table that the generated code makes compares keys as C strings and takes different ones for the same; one that
   * compares their addresses is written completely. */
  g_hash_table_unref(to->attributes);
  to->attributes = g_hash_table_new_full(g_direct_hash, g_direct_equal, (GDestroyNotify)g_byte_array_unref,
                                         (GDestroyNotify)g_byte_array_unref);
  for (guint i = 0; i < description->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(description->attributes, TideAttribute, i);
    g_hash_table_insert(to->attributes, generated_bytes(attribute->name), generated_bytes(attribute->value));
  }
  to->__isset_attributes = description->attributes->len > 0;
  return to;
}

static gboolean
refuse_framed(const TideHBaseClient *client, const TideTableDescription *description, const GArray *splits,
              GError **error)
{
  g_autofree char *command = tide_shell_create_command(description, splits);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_UNAVAILABLE,
              "gateway '%s' is framed, and a framed gateway cannot create a table with split points or attributes (it "
              "takes its whole frame buffer for each of them); use an unframed gateway, or the HBase shell: %s",
              client->endpoint->text, command);
  return FALSE;
}

gboolean
tide_hbase_client_create_table(TideHBaseClient *client, const TideTableDescription *description, const GArray *splits,
                               gint64 deadline_us, GError **error)
{
  guint n_splits = splits != NULL ? splits->len : 0;
  if (client->mode.framing == TIDE_FRAMING_FRAMED && (n_splits > 0 || description->attributes->len > 0))
    return refuse_framed(client, description, splits, error);
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;

  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
  for (guint i = 0; i < n_splits; i++)
    g_ptr_array_add(keys, generated_bytes(g_array_index(splits, TideBytes, i)));
  HbaseTTableDescriptor *descriptor = table_descriptor(description);
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_create_table(service, descriptor, keys, &failure);
  g_object_unref(descriptor);

  TideReply reply;
  if (!tide_client_receive_control(client, "createTable", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  return tide_client_conclude(client, tide_reply_read_void(&reply, &failure), &failure, error);
}

gboolean
tide_hbase_client_table_is_enabled(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                   gboolean *ret_is_enabled, GError **error)
{
  return ask_about_table(client, "isTableEnabled", hbase_t_h_base_service_client_send_is_table_enabled, table,
                         deadline_us, ret_is_enabled, error);
}

static gboolean
namespace_exists(TideHBaseClient *client, const char *name, gint64 deadline_us, gboolean *ret_exists, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_list_namespaces(service, &failure);
  TideReply reply;
  if (!tide_client_receive_control(client, "listNamespaces", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  return tide_client_conclude(client, tide_reply_read_names(&reply, name, ret_exists, &failure), &failure, error);
}

gboolean
tide_hbase_client_create_namespace(TideHBaseClient *client, const char *name, gint64 deadline_us, GError **error)
{
  gboolean exists = FALSE;
  if (!namespace_exists(client, name, deadline_us, &exists, error))
    return FALSE;
  if (exists)
    return TRUE;
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  HbaseTNamespaceDescriptor *descriptor = g_object_new(HBASE_TYPE_T_NAMESPACE_DESCRIPTOR, NULL);
  descriptor->name = g_strdup(name);
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_create_namespace(service, descriptor, &failure);
  g_object_unref(descriptor);
  TideReply reply;
  if (!tide_client_receive_control(client, "createNamespace", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  return tide_client_conclude(client, tide_reply_read_void(&reply, &failure), &failure, error);
}

/* ---- what the gateway is ---- */

gboolean
tide_client_server_type(TideHBaseClient *client, gint64 deadline_us, gint32 *ret_type, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_get_thrift_server_type(service, &failure);
  TideReply reply;
  if (!tide_client_receive_control(client, "getThriftServerType", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  return tide_client_conclude(client, tide_reply_read_i32(&reply, ret_type, &failure), &failure, error);
}

static gboolean
ask_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_get_cluster_id(service, &failure);
  TideReply reply;
  if (!tide_client_receive_control(client, "getClusterId", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  return tide_client_conclude(client, tide_reply_read_text(&reply, ret_cluster, &failure), &failure, error);
}

gboolean
tide_client_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster, GError **error)
{
  g_autofree char *cluster = NULL;
  g_autoptr(GError) failure = NULL;
  gboolean is_told = ask_cluster(client, deadline_us, &cluster, &failure);
  if (is_told ||
      (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE) && tide_hbase_client_is_open(client))) {
    gboolean is_id = is_told && cluster[0] != '\0' && strcmp(cluster, NO_CLUSTER) != 0;
    *ret_cluster = is_id ? g_steal_pointer(&cluster) : NULL;
    return TRUE;
  }
  if (!tide_error_is_cancelled(failure))
    failure->code = TIDE_ERROR_CONNECT; /* what was to be sent was not */
  g_propagate_prefixed_error(error, g_steal_pointer(&failure),
                             "gateway '%s' does not say which cluster it is of: ", client->endpoint->text);
  return FALSE;
}

gboolean
tide_client_try_exists(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  HbaseTHBaseServiceIf *service = tide_client_begin_control(client, deadline_us, error);
  if (service == NULL)
    return FALSE;
  g_autoptr(GByteArray) table = generated_bytes(TIDE_BYTES_LITERAL(PROBE_TABLE));
  HbaseTGet *get = g_object_new(HBASE_TYPE_T_GET, NULL);
  get->row = generated_bytes(TIDE_BYTES_LITERAL("row"));
  GError *failure = NULL;
  gboolean sent = hbase_t_h_base_service_client_send_exists(service, table, get, &failure);
  g_object_unref(get);
  TideReply reply;
  if (!tide_client_receive_control(client, "exists", sent, failure, &reply, error))
    return FALSE;
  failure = NULL;
  gboolean exists;
  return tide_client_conclude(client, tide_reply_read_bool(&reply, &exists, &failure), &failure, error);
}

gboolean
tide_hbase_client_ping(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  gint32 type;
  g_autoptr(GError) local = NULL;
  if (tide_client_server_type(client, deadline_us, &type, &local))
    return TRUE;
  /* An older gateway does not know the call, and says so: it is there. */
  if (g_error_matches(local, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE) && tide_hbase_client_is_open(client))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&local));
  return FALSE;
}
