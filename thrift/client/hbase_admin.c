/* Tables, namespaces and the gateway's type. These calls are rare: the generated code writes them, and reply_reader.h
 * reads the replies. */
#include "thrift/client/access_denied.h"
#include "thrift/client/client_call.h"
#include "thrift/client/shell_command.h"
#include "util/error.h"

#define PROBE_TABLE "tidemark_probe"               /* need not exist */
#define NAMESPACE_EXISTS "NamespaceExistException" /* part of HBase's error text */
#define NO_CLUSTER "default-cluster"               /* reported by HBase's client when it could not read the id */

/* Copies @bytes for the generated structs. Ownership: (transfer full). */
static GByteArray *
generated_bytes(TideBytes bytes)
{
  GByteArray *array = g_byte_array_sized_new((guint)bytes.len);
  if (bytes.len > 0)
    g_byte_array_append(array, bytes.data, (guint)bytes.len);
  return array;
}

/* Writes "TABLE" or "ns:TABLE" to @to, whose members are unset. */
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

/* The generated send functions of all calls whose only argument is a table name. */
typedef gboolean (*SendTableName)(HbaseTHBaseServiceIf *service, const HbaseTTableName *name, GError **error);

static gboolean
call_with_table(TideHBaseClient *client, const char *method, SendTableName send, const char *table, gint64 deadline_us,
                TideReply *ret_reply, GError **error)
{
  g_autoptr(GObject) name = g_object_new(HBASE_TYPE_T_TABLE_NAME, NULL);
  fill_table_name(HBASE_T_TABLE_NAME(name), table);
  return tide_client_begin_control(client, deadline_us, error) &&
         tide_client_send_control(client, method, send(client->service, HBASE_T_TABLE_NAME(name), NULL), ret_reply,
                                  error);
}

/* ---- calls that older gateways lack ---- */

/* Added by HBASE-21650 (release 2.2) and HBASE-20395 (2.3). The first four query tables, the others create them. */
typedef enum YoungerCall {
  TABLE_EXISTS,
  TABLE_DESCRIPTOR,
  TABLE_ENABLED,
  TABLE_NAMES,
  CREATE_TABLE,
  CREATE_NAMESPACE,
  LIST_NAMESPACES,
} YoungerCall;

static const struct {
  const char *method;
  const char *since; /* the release of HBase */
} younger_calls[] = {
    [TABLE_EXISTS] = {"tableExists", "2.2"},       [TABLE_DESCRIPTOR] = {"getTableDescriptor", "2.2"},
    [TABLE_ENABLED] = {"isTableEnabled", "2.2"},   [TABLE_NAMES] = {"getTableNamesByPattern", "2.2"},
    [CREATE_TABLE] = {"createTable", "2.2"},       [CREATE_NAMESPACE] = {"createNamespace", "2.2"},
    [LIST_NAMESPACES] = {"listNamespaces", "2.3"},
};

static gboolean
is_lacking(const TideHBaseClient *client, YoungerCall call)
{
  return (client->unknown_calls & 1u << call) != 0;
}

/* Call after @call failed with @failure, which is consumed. TRUE: the gateway lacks the call, and the caller needs
 * another way. */
static gboolean
lacks(TideHBaseClient *client, YoungerCall call, GError *failure, GError **error)
{
  if (!tide_client_is_unknown_call(client, failure)) {
    g_propagate_error(error, failure);
    return FALSE;
  }
  client->unknown_calls |= 1u << call;
  g_error_free(failure);
  return TRUE;
}

/* ---- tables ---- */

static gboolean
ask_about_table(TideHBaseClient *client, YoungerCall call, SendTableName send, const char *table, gint64 deadline_us,
                gboolean *ret_answer, GError **error)
{
  TideReply reply;
  return call_with_table(client, younger_calls[call].method, send, table, deadline_us, &reply, error) &&
         tide_client_conclude(client, tide_reply_read_bool(&reply, ret_answer, &client->failure), error);
}

gboolean
tide_hbase_client_table_exists(TideHBaseClient *client, const char *table, gint64 deadline_us, gboolean *ret_exists,
                               GError **error)
{
  GError *failure = NULL;
  if (!is_lacking(client, TABLE_EXISTS)) {
    if (ask_about_table(client, TABLE_EXISTS, hbase_t_h_base_service_client_send_table_exists, table, deadline_us,
                        ret_exists, &failure))
      return TRUE;
    if (!lacks(client, TABLE_EXISTS, failure, error))
      return FALSE;
  }
  g_autoptr(GPtrArray) regions = tide_hbase_client_regions(client, tide_bytes_of_string(table), deadline_us, error);
  *ret_exists = regions != NULL && regions->len > 0;
  return regions != NULL;
}

GPtrArray *
tide_hbase_client_list_tables(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  if (!tide_client_begin_control(client, deadline_us, error))
    return NULL;
  gboolean encoded = hbase_t_h_base_service_client_send_get_table_names_by_pattern(client->service, ".*", FALSE, NULL);
  TideReply reply;
  if (!tide_client_send_control(client, younger_calls[TABLE_NAMES].method, encoded, &reply, error))
    return NULL;
  GError *failure = NULL;
  GPtrArray *names = tide_reply_read_table_names(&reply, &client->failure);
  if (!tide_client_conclude(client, names != NULL, &failure) && lacks(client, TABLE_NAMES, failure, error))
    (void)tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                    "gateway '%s' cannot list tables: this needs a gateway of HBase %s or later",
                    client->endpoint->text, younger_calls[TABLE_NAMES].since);
  return names;
}

/* Describes an existing table by its name only. @why: (transfer full) */
static TideTableDescription *
describe_hidden(const char *table, char *why)
{
  TideTableDescription *description = tide_table_description_new(table);
  description->hidden = why;
  return description;
}

TideTableDescription *
tide_hbase_client_describe(TideHBaseClient *client, const char *table, gint64 deadline_us, GError **error)
{
  /* The error for a missing table differs between versions of HBase, so check for the table first. */
  gboolean exists = FALSE;
  if (!tide_hbase_client_table_exists(client, table, deadline_us, &exists, error))
    return NULL;
  if (!exists) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND, "table '%s' does not exist in HBase (gateway '%s')", table,
                client->endpoint->text);
    return NULL;
  }
  TideReply reply;
  GError *failure = NULL;
  if (!is_lacking(client, TABLE_DESCRIPTOR)) {
    if (!call_with_table(client, younger_calls[TABLE_DESCRIPTOR].method,
                         hbase_t_h_base_service_client_send_get_table_descriptor, table, deadline_us, &reply, error))
      return NULL;
    TideTableDescription *description = tide_reply_read_description(&reply, &client->failure);
    char *denial = description == NULL ? tide_access_denied_remedy(client->failure, NULL) : NULL;
    if (denial != NULL) {
      g_clear_error(&client->failure);
      return describe_hidden(table, denial);
    }
    if (tide_client_conclude(client, description != NULL, &failure))
      return description;
    if (!lacks(client, TABLE_DESCRIPTOR, failure, error))
      return NULL;
  }
  return describe_hidden(
      table, g_strdup_printf("gateway '%s' cannot describe tables: this needs a gateway of HBase %s or later",
                             client->endpoint->text, younger_calls[TABLE_DESCRIPTOR].since));
}

/* ---- rights ---- */

gboolean
tide_hbase_client_try_rights(TideHBaseClient *client, const char *table, const char *family, gint64 deadline_us,
                             GError **error)
{
  if (!tide_client_begin_control(client, deadline_us, error))
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
  gboolean encoded = hbase_t_h_base_service_client_send_check_and_put(client->service, table_name, text, family_name,
                                                                      text, text, HBASE_T_PUT(put), NULL);
  TideReply reply;
  gboolean is_written;
  return tide_client_send_control(client, "checkAndPut", encoded, &reply, error) &&
         tide_client_conclude(client, tide_reply_read_bool(&reply, &is_written, &client->failure), error);
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

  /* The generated code's hash table compares keys as C strings and so confuses different keys. A table that compares
   * addresses is written completely. */
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

gboolean
tide_hbase_client_create_table(TideHBaseClient *client, const TideTableDescription *description, const GArray *splits,
                               gint64 deadline_us, GError **error)
{
  guint n_splits = splits != NULL ? splits->len : 0;
  if (client->mode.framing == TIDE_FRAMING_FRAMED && (n_splits > 0 || description->attributes->len > 0)) {
    g_autofree char *command = tide_shell_create_command(description, splits);
    return tide_fail(
        error, TIDE_ERROR_UNAVAILABLE,
        "gateway '%s' is framed, and a framed gateway cannot create a table with split points or attributes (it "
        "allocates its whole frame buffer for each of them); use an unframed gateway, or the HBase shell: %s",
        client->endpoint->text, command);
  }
  if (!tide_client_begin_control(client, deadline_us, error))
    return FALSE;

  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
  for (guint i = 0; i < n_splits; i++)
    g_ptr_array_add(keys, generated_bytes(g_array_index(splits, TideBytes, i)));
  HbaseTTableDescriptor *descriptor = table_descriptor(description);
  gboolean encoded = hbase_t_h_base_service_client_send_create_table(client->service, descriptor, keys, NULL);
  g_object_unref(descriptor);

  TideReply reply;
  if (!tide_client_send_control(client, younger_calls[CREATE_TABLE].method, encoded, &reply, error))
    return FALSE;
  GError *failure = NULL;
  if (tide_client_conclude(client, tide_reply_read_void(&reply, &client->failure), &failure))
    return TRUE;
  if (!lacks(client, CREATE_TABLE, failure, error))
    return FALSE;
  g_autofree char *command = tide_shell_create_command(description, splits);
  const char *colon = strchr(description->name, ':');
  g_autofree char *namespace_command = colon == NULL
                                           ? g_strdup("")
                                           : g_strdup_printf("create_namespace '%.*s' (unless it exists), then ",
                                                             (int)(colon - description->name), description->name);
  return tide_fail(
      error, TIDE_ERROR_UNAVAILABLE,
      "gateway '%s' cannot create tables: this needs a gateway of HBase %s or later; use the HBase shell: %s%s",
      client->endpoint->text, younger_calls[CREATE_TABLE].since, namespace_command, command);
}

gboolean
tide_hbase_client_table_is_enabled(TideHBaseClient *client, const char *table, gint64 deadline_us,
                                   gboolean *ret_is_enabled, GError **error)
{
  GError *failure = NULL;
  if (!is_lacking(client, TABLE_ENABLED)) {
    if (ask_about_table(client, TABLE_ENABLED, hbase_t_h_base_service_client_send_is_table_enabled, table, deadline_us,
                        ret_is_enabled, &failure))
      return TRUE;
    if (!lacks(client, TABLE_ENABLED, failure, error))
      return FALSE;
  }
  *ret_is_enabled = TRUE;
  return TRUE;
}

/* @ret_exists: FALSE also if the gateway lacks the call. */
static gboolean
namespace_exists(TideHBaseClient *client, const char *name, gint64 deadline_us, gboolean *ret_exists, GError **error)
{
  TideReply reply;
  GError *failure = NULL;
  *ret_exists = FALSE;
  if (is_lacking(client, LIST_NAMESPACES))
    return TRUE;
  if (tide_client_begin_control(client, deadline_us, &failure) &&
      tide_client_send_control(client, younger_calls[LIST_NAMESPACES].method,
                               hbase_t_h_base_service_client_send_list_namespaces(client->service, NULL), &reply,
                               &failure) &&
      tide_client_conclude(client, tide_reply_read_names(&reply, name, ret_exists, &client->failure), &failure))
    return TRUE;
  return lacks(client, LIST_NAMESPACES, failure, error);
}

gboolean
tide_hbase_client_create_namespace(TideHBaseClient *client, const char *name, gint64 deadline_us, GError **error)
{
  gboolean exists;
  if (!namespace_exists(client, name, deadline_us, &exists, error))
    return FALSE;
  if (exists || is_lacking(client, CREATE_NAMESPACE))
    return TRUE;
  if (!tide_client_begin_control(client, deadline_us, error))
    return FALSE;
  HbaseTNamespaceDescriptor *descriptor = g_object_new(HBASE_TYPE_T_NAMESPACE_DESCRIPTOR, NULL);
  descriptor->name = g_strdup(name);
  gboolean encoded = hbase_t_h_base_service_client_send_create_namespace(client->service, descriptor, NULL);
  g_object_unref(descriptor);
  TideReply reply;
  if (!tide_client_send_control(client, younger_calls[CREATE_NAMESPACE].method, encoded, &reply, error))
    return FALSE;
  GError *failure = NULL;
  if (tide_client_conclude(client, tide_reply_read_void(&reply, &client->failure), &failure))
    return TRUE;
  /* Without the call to check, the namespace may exist. */
  if (is_lacking(client, LIST_NAMESPACES) && g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_GATEWAY) &&
      strstr(failure->message, NAMESPACE_EXISTS) != NULL) {
    g_error_free(failure);
    return TRUE;
  }
  return lacks(client, CREATE_NAMESPACE, failure, error);
}

/* ---- the gateway's type ---- */

gboolean
tide_client_server_type(TideHBaseClient *client, gint64 deadline_us, gint32 *ret_type, GError **error)
{
  TideReply reply;
  return tide_client_begin_control(client, deadline_us, error) &&
         tide_client_send_control(client, "getThriftServerType",
                                  hbase_t_h_base_service_client_send_get_thrift_server_type(client->service, NULL),
                                  &reply, error) &&
         tide_client_conclude(client, tide_reply_read_i32(&reply, ret_type, &client->failure), error);
}

gboolean
tide_client_is_unknown_call(const TideHBaseClient *client, const GError *failure)
{
  return g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE) && tide_hbase_client_is_open(client);
}

static gboolean
ask_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster, GError **error)
{
  TideReply reply;
  return tide_client_begin_control(client, deadline_us, error) &&
         tide_client_send_control(client, "getClusterId",
                                  hbase_t_h_base_service_client_send_get_cluster_id(client->service, NULL), &reply,
                                  error) &&
         tide_client_conclude(client, tide_reply_read_text(&reply, ret_cluster, &client->failure), error);
}

gboolean
tide_client_cluster(TideHBaseClient *client, gint64 deadline_us, char **ret_cluster, GError **error)
{
  g_autofree char *cluster = NULL;
  g_autoptr(GError) failure = NULL;
  gboolean is_told = ask_cluster(client, deadline_us, &cluster, &failure);
  if (is_told || tide_client_is_unknown_call(client, failure)) {
    gboolean is_id = is_told && cluster[0] != '\0' && strcmp(cluster, NO_CLUSTER) != 0;
    *ret_cluster = is_id ? g_steal_pointer(&cluster) : NULL;
    return TRUE;
  }
  if (!tide_error_is_cancelled(failure))
    failure->code = TIDE_ERROR_CONNECT; /* the caller's request was not sent */
  g_propagate_prefixed_error(error, g_steal_pointer(&failure),
                             "gateway '%s' did not report its cluster: ", client->endpoint->text);
  return FALSE;
}

gboolean
tide_client_try_exists(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  if (!tide_client_begin_control(client, deadline_us, error))
    return FALSE;
  g_autoptr(GByteArray) table = generated_bytes(TIDE_BYTES_LITERAL(PROBE_TABLE));
  HbaseTGet *get = g_object_new(HBASE_TYPE_T_GET, NULL);
  get->row = generated_bytes(TIDE_BYTES_LITERAL("row"));
  gboolean encoded = hbase_t_h_base_service_client_send_exists(client->service, table, get, NULL);
  g_object_unref(get);
  TideReply reply;
  gboolean exists;
  return tide_client_send_control(client, "exists", encoded, &reply, error) &&
         tide_client_conclude(client, tide_reply_read_bool(&reply, &exists, &client->failure), error);
}

gboolean
tide_hbase_client_ping(TideHBaseClient *client, gint64 deadline_us, GError **error)
{
  gint32 type;
  g_autoptr(GError) local = NULL;
  /* An older gateway that does not know the call has answered, too. */
  if (tide_client_server_type(client, deadline_us, &type, &local) || tide_client_is_unknown_call(client, local))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&local));
  return FALSE;
}
